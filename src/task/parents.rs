//! Which tasks are work of their own, and which are ticked with others.
//!
//! Owns: the one meaning of "parent" where something follows from it (docs/design.md "Choice").
//!
//! Promises: linear in the number of rows; no circle in rows of any origin can hang it.
//!
//! Refuses to know: how a row came to its parent, what is ticked.

use super::{Row, Stage};
use std::collections::{HashMap, HashSet};

/// The families that are ticked with the last of others and have no attempt of their own: those with
/// required work below them, at any depth. A task whose children are all optional is work of its own.
pub fn parents(rows: &[Row]) -> HashSet<&str> {
    let mut above: HashMap<&str, &str> = HashMap::new();
    for row in rows {
        if let Some(parent) = row.parent.as_deref().filter(|parent| *parent != row.key.family) {
            above.entry(&row.key.family).or_insert(parent);
        }
    }
    let is_work = |row: &&Row| matches!(row.key.stage, Stage::Implementation | Stage::Integ);
    let mut found = HashSet::new();
    for row in rows.iter().filter(is_work).filter(|row| !row.optional) {
        let mut at = above.get(row.key.family.as_str()).copied();
        while let Some(parent) = at.filter(|parent| found.insert(*parent)) {
            at = above.get(parent).copied();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::parents;
    use crate::task::{Grammar, TaskFile};

    fn of(text: &str) -> Vec<String> {
        let rows = TaskFile::parse(text, &Grammar::default()).rows();
        let mut found: Vec<String> = parents(&rows).into_iter().map(str::to_owned).collect();
        found.sort();
        found
    }

    #[test]
    fn a_parent_is_a_task_with_required_work_below_it() {
        assert_eq!(of("- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2. d\n"), ["1"]);
        assert_eq!(of("- [ ] 1. a\n  - [ ]* 1.1 b\n- [ ] 2. c\n- [ ] 2.9* d\n"), [""; 0]);
        assert_eq!(of("- [ ] 1. a\n  - [ ]* 1.1 b\n    - [ ] 1.1.1 c\n"), ["1", "1.1"], "at any depth");
        assert_eq!(of("- [ ] 1. a\n  - [ ]* 1.1 b\n  - [ ] 1.1.PITEST\n"), [""; 0], "a gate is no work");
        assert_eq!(of("- [ ] 1. a\n- [ ] 1.1.INTEG b\n"), ["1"]);
        assert_eq!(of("- [x] 1. a\n- [ ] 1.TEST-FIRST\n- [ ] 1.PITEST\n"), [""; 0]);
    }

    #[test]
    fn rows_in_a_circle_end() {
        let mut rows = TaskFile::parse("- [ ] 1. a\n- [ ] 2. b\n", &Grammar::default()).rows();
        rows[0].parent = Some("2".to_owned());
        rows[1].parent = Some("1".to_owned());
        assert_eq!(parents(&rows).len(), 2);
    }
}
