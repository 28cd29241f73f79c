//! Lists the ticked boxes whose only evidence is a commit.

use super::hierarchy::{self, with_ancestors};
use super::state::{SpecState, TickedBy};
use crate::task::{Stage, TaskKey};

/// True for work that ralph ticked for its commits alone: `checks.green` did not run, and the task file has no
/// TEST-FIRST in its family and no gate or review over it (its own, of a family above, of wider reach). A parent is
/// ticked for its children.
pub fn is_commit_only(spec: &SpecState, key: &TaskKey) -> bool {
    let by_commit = spec
        .stage(key)
        .is_some_and(|stage| stage.ticked_by == Some(TickedBy::Ralph) && !stage.green);
    key.stage.is_work()
        && by_commit
        && spec.is_done(key)
        && !spec.rows.by_family().is_parent(&key.family)
        && !is_judged(spec, key)
}

fn is_judged(spec: &SpecState, key: &TaskKey) -> bool {
    let families = with_ancestors(spec, &key.family);
    spec.family_rows(&key.family)
        .any(|row| row.key.stage == Stage::TestFirst)
        || families
            .iter()
            .flat_map(|family| spec.family_rows(family))
            .any(|row| row.key.stage.is_gate() || row.key.stage.is_review())
        || !hierarchy::wider_gates(spec, &key.family).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Grammar, TaskFile};

    fn spec(tasks: &str, id: &str, by: Option<TickedBy>, green: bool) -> (SpecState, TaskKey) {
        let grammar = Grammar::new(vec!["PITEST".into()], None);
        let rows = TaskFile::parse(tasks, &grammar).box_rows();
        let mut spec = SpecState {
            rows: rows.into(),
            ..SpecState::default()
        };
        let key = spec
            .rows
            .iter()
            .find(|row| row.key.written_id() == id)
            .unwrap()
            .key
            .clone();
        let stage = spec.stage_mut(&key);
        stage.ticked_by = by;
        stage.green = green;
        (spec, key)
    }

    #[test]
    fn commit_only_is_work_without_any_other_evidence() {
        let ralph = Some(TickedBy::Ralph);
        for (tasks, id, by, green, expected) in [
            ("- [x] 1. A\n", "1.", ralph, false, true),
            ("- [x] 1. A\n  - [ ]* 1.1 B\n", "1.", ralph, false, true),
            ("- [x] Plain\n", "task.", ralph, false, true),
            ("- [x] 1. A\n- [x] 1.INTEG I\n", "1.", ralph, false, true),
            (
                "- [x] 1. A\n- [x] 1.INTEG I\n",
                "1.INTEG",
                ralph,
                false,
                true,
            ),
            ("- [x] 1. A\n- [x] FINAL F\n", "1.", ralph, false, true),
            (
                "- [x] 1. A\n  - [ ]* 1.1 Optional child\n",
                "1.",
                ralph,
                false,
                true,
            ),
            (
                "- [x] 1. A\n  - [x] 1.1 Child\n  - [x] 1.PITEST G\n",
                "1.1.",
                ralph,
                false,
                false,
            ),
            (
                "- [x] 1. A\n- [x] 2. B\n- [x] 2.PITEST G\n",
                "1.",
                ralph,
                false,
                true,
            ),
            // not ticked, not by ralph, or of unknown origin
            ("- [ ] 1. A\n", "1.", ralph, false, false),
            ("- [-] 1. A\n", "1.", ralph, false, false),
            ("- [x] 1. A\n", "1.", Some(TickedBy::Person), false, false),
            ("- [x] 1. A\n", "1.", None, false, false),
            // there is other evidence
            ("- [x] 1. A\n", "1.", ralph, true, false),
            (
                "- [x] 1.TEST-FIRST T\n- [x] 1. A\n",
                "1.",
                ralph,
                false,
                false,
            ),
            (
                "- [x] 1. A\n- [ ] 1.REQ-CHECK R\n",
                "1.",
                ralph,
                false,
                false,
            ),
            ("- [x] 1. A\n- [ ] 1.PRE-CR R\n", "1.", ralph, false, false),
            ("- [x] 1. A\n- [ ] 1.PITEST G\n", "1.", ralph, false, false),
            (
                "# 1\n- [x] 1. A\n- [ ] G1.PITEST G\n",
                "1.",
                ralph,
                false,
                false,
            ),
            (
                "# 1\n- [x] 1. A\n# 2\n- [x] 2. B\n- [ ] G2.PITEST G\n",
                "1.",
                ralph,
                false,
                true,
            ),
            (
                "- [x] 1. A\n- [ ] END.PITEST G\n",
                "1.",
                ralph,
                false,
                false,
            ),
            ("- [x] 1. A\n  - [x] 1.1 Child\n", "1.", ralph, false, false),
            // not work
            (
                "- [x] 1.TEST-FIRST T\n- [ ] 1. A\n",
                "1.TEST-FIRST",
                ralph,
                false,
                false,
            ),
            (
                "- [x] 1. A\n- [x] 1.PITEST G\n",
                "1.PITEST",
                ralph,
                false,
                false,
            ),
            ("- [x] FINAL F\n", "FINAL", ralph, false, false),
        ] {
            let (spec, key) = spec(tasks, id, by, green);
            assert_eq!(
                is_commit_only(&spec, &key),
                expected,
                "{tasks}{id} {by:?} {green}"
            );
        }
    }
}
