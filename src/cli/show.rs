//! `ralph next`, `status` and `diff`: questions that change nothing and take no lock.
//!
//! Owns: the tables and JSON of what is known.
//!
//! Promises: safe beside a run.
//!
//! Refuses to know: how the state came to be.

use super::exit::Exit;
use super::ui;
use super::workspace::{Place, key_of};
use crate::engine::Fault;
use crate::machine::choice::{Choice, choose, is_required_open};
use crate::machine::state::{By, State};
use crate::machine::survey::covered_changes;
use crate::task::{Row, Stage, TaskKey};
use serde_json::json;

/// `ralph next`: 0 when there is a next box, 1 when all is done or nothing can be taken.
pub(super) fn next(place: &Place<'_>, optional: bool) -> Result<Exit, Fault> {
    let workspace = place.open()?;
    let state = workspace.read_boxes()?;
    Ok(choice(place, &state, optional))
}

/// Shows the choice.
pub(super) fn choice(place: &Place<'_>, state: &State, optional: bool) -> Exit {
    let choice = choose(state.book(), optional);
    if place.json {
        ui::json(&match &choice {
            Choice::Take(key) => {
                json!({ "next": key.to_string(), "stage": key.stage, "line": line_of(state, key) })
            }
            Choice::AllDone => json!({ "next": null, "done": true }),
            Choice::Stuck(reasons) => json!({ "next": null, "done": false, "reasons": reasons }),
        });
    } else {
        match &choice {
            Choice::Take(key) => {
                let text = state.book().row(key).map(|row| row.text.clone()).unwrap_or_default();
                ui::line(&format!("{key}  {text}  ({}:{})", state.spec, line_of(state, key)));
            }
            Choice::AllDone => ui::line("All required boxes are ticked."),
            Choice::Stuck(reasons) => reasons.iter().for_each(|reason| ui::line(reason)),
        }
    }
    if matches!(choice, Choice::Take(_)) { Exit::Done } else { Exit::WorkLeft }
}

fn line_of(state: &State, key: &TaskKey) -> u32 {
    state.book().row(key).map_or(0, |row| row.line)
}

/// `ralph status`.
pub(super) fn status(place: &Place<'_>) -> Result<Exit, Fault> {
    let workspace = place.open()?;
    let state = workspace.read_boxes()?;
    let book = state.book();
    if place.json {
        let rows: Vec<_> = book.rows.iter().map(|row| row_facts(&state, row)).collect();
        ui::json(
            &json!({ "spec": state.spec, "iteration": state.iteration, "phase": state.phase.name(), "boxes": rows }),
        );
        return Ok(Exit::Done);
    }
    let done = book.rows.iter().filter(|row| row.mark.is_done()).count();
    ui::line(&format!(
        "{}: {done} of {} boxes ticked, {} iterations, {}",
        state.spec,
        book.rows.len(),
        state.iteration,
        state.phase.name()
    ));
    for row in &book.rows {
        let mut words =
            vec![format!("[{}]", row.mark.0), format!("{:<13}", row.key.to_string()), row.text.clone()];
        let stage = book.stage(&row.key);
        if let Some(verdict) = stage.and_then(|stage| stage.verdict) {
            words.push(format!("— {verdict}"));
        }
        if row.mark.is_done() && stage.and_then(|stage| stage.ticked_by) == Some(By::Person) {
            words.push("(by a person)".to_owned());
        }
        if row.optional {
            words.push("(optional)".to_owned());
        }
        ui::line(words.join(" ").trim_end());
        let reasons = stage.map(|stage| stage.reasons.as_slice()).unwrap_or_default();
        for reason in reasons.iter().filter(|_| is_required_open(row)) {
            ui::line(&format!("      - {reason}"));
        }
        let blocked = book.family(&row.key.family).and_then(|family| family.blocked.as_ref());
        if let Some(why) = blocked.filter(|_| is_work(row)) {
            ui::line(&format!("      blocked: {why}"));
        }
    }
    Ok(Exit::Done)
}

fn is_work(row: &Row) -> bool {
    matches!(row.key.stage, Stage::Implementation | Stage::Integ | Stage::Final)
}

fn row_facts(state: &State, row: &Row) -> serde_json::Value {
    let book = state.book();
    let stage = book.stage(&row.key);
    json!({
        "task": row.key.to_string(),
        "family": row.key.family,
        "stage": row.key.stage,
        "line": row.line,
        "mark": row.mark,
        "optional": row.optional,
        "text": row.text,
        "verdict": stage.and_then(|stage| stage.verdict),
        "attempts": stage.map_or(0, |stage| stage.attempts),
        "by": stage.and_then(|stage| stage.ticked_by).map(|by| match by { By::Ralph => "ralph", By::Person => "person" }),
        "reasons": stage.map(|stage| stage.reasons.clone()).unwrap_or_default(),
        "blocked": book.family(&row.key.family).and_then(|family| family.blocked.clone()),
    })
}

/// `ralph diff`.
pub(super) fn diff(place: &Place<'_>, id: Option<&str>) -> Result<Exit, Fault> {
    let workspace = place.open()?;
    let state = workspace.read_state()?;
    let changes = match id {
        None => state.diff.clone(),
        Some(id) => {
            let key = key_of(&state, id)?;
            workspace.outside()?.changes(&covered_changes(state.book(), &key))?
        }
    };
    for change in &changes {
        if place.json {
            ui::json(change);
        } else {
            ui::line(&change.full_path());
        }
    }
    Ok(Exit::Done)
}
