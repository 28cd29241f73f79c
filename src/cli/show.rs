//! `ralph next` and `ralph diff`: questions that change nothing and take no lock.

use super::exit::Exit;
use super::task_ids::key_of;
use super::ui;
use super::workspace::Invocation;
use crate::engine::Fault;
use crate::machine::choice;
use crate::machine::choice::Choice;
use crate::machine::hierarchy::covered_changes;
use crate::machine::policy::Policy;
use crate::machine::state::State;
use crate::task::TaskKey;
use serde_json::json;

/// `ralph next`: 0 when there is a next box, 1 when all is done or nothing can be taken.
pub(super) fn next(call: &Invocation, optional: bool) -> Result<Exit, Fault> {
    let workspace = call.open()?;
    let state = workspace.read_boxes()?;
    let policy = Policy { optional, ..workspace.policy() };
    Ok(choice(call, &state, &policy))
}

/// Shows what a run under these rules takes next.
pub(super) fn choice(call: &Invocation, state: &State, policy: &Policy) -> Exit {
    let choice = choice::next(state.spec_state(), policy.optional, policy.go_on_when_blocked);
    if call.json {
        ui::json(&match &choice {
            Choice::Take(key) => {
                json!({ "next": key.to_string(), "stage": key.stage, "line": line_of(state, key) })
            }
            Choice::AllDone => json!({ "next": null, "done": true }),
            Choice::Stuck(reasons) => {
                json!({ "next": null, "done": false, "reasons": reasons, "hint": hint(state, reasons) })
            }
        });
    } else {
        match &choice {
            Choice::Take(key) => {
                let text = state.spec_state().row(key).map(|row| row.text.clone()).unwrap_or_default();
                ui::line(&format!("{key}  {text}  ({}:{})", state.spec, line_of(state, key)));
            }
            Choice::AllDone => ui::line("All required boxes are ticked."),
            Choice::Stuck(reasons) => {
                for reason in reasons {
                    ui::line(reason);
                }
                ui::note(&format!("hint: {}", hint(state, reasons)));
            }
        }
    }
    if matches!(choice, Choice::Take(_)) { Exit::Done } else { Exit::WorkLeft }
}

/// What a run that stops for these reasons says to do.
fn hint(state: &State, reasons: &[String]) -> String {
    choice::stuck(state.spec_state(), reasons.to_vec()).hint().to_owned()
}

fn line_of(state: &State, key: &TaskKey) -> u32 {
    state.spec_state().row(key).map_or(0, |row| row.line)
}

/// `ralph diff`.
pub(super) fn diff(call: &Invocation, id: Option<&str>) -> Result<Exit, Fault> {
    let workspace = call.open()?;
    let state = workspace.read_state()?;
    let changes = match id {
        None => state.diff.clone(),
        Some(id) => {
            let key = key_of(&state, id)?;
            workspace.outside()?.changes(&covered_changes(state.spec_state(), &key))?
        }
    };
    for change in &changes {
        if call.json {
            ui::json(change);
        } else {
            ui::line(&change.full_path());
        }
    }
    Ok(Exit::Done)
}
