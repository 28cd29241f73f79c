//! Names of boxes on the command line. Every box has one, and no name has two meanings.

use super::{Fault, State};
use crate::machine::choice::{self, NextStep};
use crate::machine::policy::Policy;
use crate::task::{Row, TaskKey, typed_id};
use std::path::Path;

/// The box that an id means: `2.`, `2`, `2.PITEST`, `FINAL`. A box without a
/// unique id is named by its line or by its family: `tasks.md:12`, `:12`, `:12.PITEST`, `~0123456789abcdef#1`.
pub(super) fn key_of(state: &State, id: &str) -> Result<TaskKey, Fault> {
    let rows = &state.spec_state().rows;
    let found = rows.iter().find(|row| {
        let name = row.key.written_id();
        row.key.has_id() && (name == id || typed_id(&name) == id)
    });
    let found = found
        .or_else(|| {
            rows.iter().find(|row| {
                let Some((file, place)) = id.rsplit_once(':') else {
                    return false;
                };
                let is_file = file.is_empty() || Path::new(&state.spec).ends_with(file);
                is_file && is_stage_of(row, place, &row.line.to_string())
            })
        })
        .or_else(|| {
            rows.iter()
                .find(|row| !row.key.has_id() && is_stage_of(row, id, &row.key.family))
        });
    found.map(|row| row.key.clone()).ok_or_else(|| {
        let near = rows.iter().find(|row| {
            row.key.has_id() && row.key.written_id().eq_ignore_ascii_case(id)
        });
        let hint = near.map_or_else(
            || "`ralph status` lists the boxes; one without an id is named by its line, as in `tasks.md:12`".to_owned(),
            |row| format!("did you mean `{}`?", row.key.typed_name(row.line)),
        );
        Fault::setup_fault(format!("There is no box `{id}` in {}.", state.spec), hint)
    })
}

/// The box that a run would take next.
pub(super) fn next_key(state: &State, policy: &Policy, hint: &str) -> Result<TaskKey, Fault> {
    match choice::next(state.spec_state(), policy) {
        NextStep::Take(key) => Ok(key),
        _ => Err(Fault::setup_fault("There is no next box.", hint)),
    }
}

/// True if the words are this name alone and the row has a line of its own, or the name with a dot and the row's
/// stage.
fn is_stage_of(row: &Row, words: &str, name: &str) -> bool {
    match words.strip_prefix(name) {
        Some("" | ".") => !row.is_virtual || row.approval,
        Some(stage) => stage.strip_prefix('.') == Some(row.key.stage.stage_word()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Placement, Stages, TaskRules};

    fn state() -> State {
        let gates = vec![("LINT".to_owned(), Placement::Each)];
        let rules = TaskRules {
            stages: Stages::Virtual { gates },
            ..TaskRules::default()
        };
        let text = "- [ ] 1. a\n- [ ] words\n- [ ] 7. twice\n- [ ] 7. again\n";
        let mut state = State {
            spec: "specs/a/tasks.md".to_owned(),
            ..State::default()
        };
        state.take_rows(rules.ordered_boxes(&rules.parse(text), &[]), Vec::new());
        state
    }

    #[test]
    fn every_box_has_a_name() {
        let state = state();
        let line_of = |id: &str| {
            let key = key_of(&state, id).unwrap();
            (
                state.spec_state().row(&key).unwrap().line,
                key.stage.stage_word().to_owned(),
            )
        };
        for id in [
            "1",
            "1.",
            ":1",
            "tasks.md:1",
            "a/tasks.md:1",
            "specs/a/tasks.md:1",
            ":1.",
        ] {
            assert_eq!(line_of(id), (1, "IMPLEMENT".to_owned()), "{id}");
        }
        for id in ["1.LINT", ":1.LINT", "tasks.md:1.LINT"] {
            assert_eq!(line_of(id), (1, "LINT".to_owned()), "{id}");
        }
        assert_eq!(line_of(":2"), (2, "IMPLEMENT".to_owned()));
        assert_eq!(line_of("tasks.md:3.LINT"), (3, "LINT".to_owned()));
        assert_eq!(line_of(":4"), (4, "IMPLEMENT".to_owned()));
        let family = state
            .spec_state()
            .rows
            .iter()
            .find(|row| row.line == 2)
            .unwrap()
            .key
            .family
            .clone();
        assert_eq!(line_of(&family), (2, "IMPLEMENT".to_owned()));
        assert_eq!(line_of(&format!("{family}.LINT")), (2, "LINT".to_owned()));
        assert_eq!(line_of("FINAL").1, "FINAL");
    }

    #[test]
    fn a_name_that_means_no_box_is_refused() {
        for id in [
            "7",
            "7.",
            "task.",
            "2",
            ":9",
            ":12",
            "other.md:1",
            ":1.PITEST",
            ":",
            "",
            ":1LINT",
            "~0#1",
        ] {
            let fault = key_of(&state(), id).unwrap_err();
            assert!(fault.to_string().contains(&format!("`{id}`")), "{fault}");
        }
    }
}
