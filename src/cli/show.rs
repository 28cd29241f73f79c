//! `ralph next` and `ralph diff`: questions that change nothing and take no lock.

use super::task_ids::key_of;
use super::{Exit, Fault, Invocation, State, ui};
use crate::machine::choice::{self, NextStep};
use crate::machine::hierarchy::covered_changes;
use crate::machine::policy::Policy;
use crate::machine::stop::StopReason;
use serde_json::json;

/// `ralph next`: 0 when there is a next box, 1 when all is done or nothing can be taken.
pub(super) fn next(call: &Invocation, optional: bool) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    let state = workspace.read_boxes()?;
    let policy = Policy {
        optional,
        ..workspace.run_policy()
    };
    Ok(show_choice(call, &state, &policy))
}

/// Shows what a run under these rules takes next.
pub(super) fn show_choice(call: &Invocation, state: &State, policy: &Policy) -> Exit {
    let book = state.spec_state();
    let choice = choice::next(book, policy);
    let (stop, reasons) = match &choice {
        NextStep::Take(key) => {
            let row = book.row(key);
            let (line, text) = row.map_or((0, ""), |row| (row.line, row.text.as_str()));
            let name = key.spoken_name(line);
            let facts = json!({ "next": book.written_name(key), "stage": key.stage, "line": line });
            ui::print_answer(
                call.json,
                &facts,
                &format!("{name}  {text}  ({}:{line})", state.spec),
            );
            return Exit::Done;
        }
        NextStep::AllDone => {
            let stop = choice::all_done(book, policy);
            let is_all = !matches!(stop, StopReason::OnlyDone { .. });
            let facts = json!({ "next": null, "done": is_all });
            ui::print_answer(call.json, &facts, &stop.to_string());
            return Exit::WorkLeft;
        }
        NextStep::Stuck(reasons) => (choice::stuck(book, reasons.clone()), reasons.clone()),
        NextStep::Approve(key) => {
            let stop = choice::approval(book, key);
            let words = stop.to_string();
            (stop, vec![words])
        }
    };
    // The hint of a run that stops for these reasons.
    let hint = choice::hint(book, &stop);
    let facts = json!({ "next": null, "done": false, "reasons": reasons, "hint": hint });
    ui::print_answer(call.json, &facts, &reasons.join("\n"));
    if !call.json {
        ui::print_note(&format!("hint: {hint}"));
    }
    Exit::WorkLeft
}

pub(super) fn show_diff(call: &Invocation, id: Option<&str>) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    let state = workspace.read_state()?;
    let changes = match id {
        None => state.diff.clone(),
        Some(id) => {
            let key = key_of(&state, id)?;
            workspace
                .open_outside()?
                .current_changes(&covered_changes(state.spec_state(), &key))?
        }
    };
    for change in &changes {
        ui::print_answer(call.json, change, &change.full_path());
    }
    Ok(Exit::Done)
}
