//! Rules for journals of ralph 0.1.0.
//!
//! They lead to the state that the run reached.
//!
//! In 0.1.0 a gate could run while reviewers worked. Edits of tasks.md that a survey found
//! meanwhile could be the work of a reviewer, so ralph restored the file: `TasksRestored` follows
//! on `Surveyed`, or comes at the end of the run.

use super::event::Event;
use super::state::{Phase, State};
use super::{Impossible, step};

/// Undoes the survey before an event when its edits were restored.
pub(super) fn undo_survey(state: &mut State, event: &Event) -> Result<(), Impossible> {
    let before_edits = state.before_edits.take();
    match event {
        Event::Surveyed { tasks, .. }
            if tasks.skeleton != state.spec_state().skeleton || !tasks.marks.is_empty() =>
        {
            state.before_edits = Some(Box::new(state.clone()));
        }
        // The run may have been killed before the edits were restored.
        Event::RunStarted { .. }
        | Event::Resumed
        | Event::StopRequested { .. }
        | Event::GateJudgedAhead => {
            state.before_edits = before_edits
                .map(|known| step(*known, event))
                .transpose()?
                .map(|known| Box::new(known.0));
        }
        Event::TasksRestored { kept, .. } => {
            // A gate that was cut short asks for the same, in the iteration after the survey.
            let is_asked = matches!(
                state.phase,
                Phase::RestoringTasks { .. } | Phase::Restoring { .. }
            );
            if let Some(known) = before_edits
                && (!is_asked || kept.contains(&format!("/iter-{}/", known.iteration)))
            {
                *state = *known;
            }
        }
        _ => {}
    }
    Ok(())
}
