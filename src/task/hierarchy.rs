//! Relations between the families of a task file: who is above whom, and which families a gate covers.
//!
//! Any rows are accepted: a circle in them cannot hang anything here.

use super::row::Row;
use super::stage::{Stage, TaskKey};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The rows of a task file by family.
#[derive(Clone, Debug)]
pub struct Families<'a> {
    rows: &'a [Row],
    /// The indices of each family's rows.
    at: HashMap<&'a str, Vec<usize>>,
    above: HashMap<&'a str, &'a str>,
    below: HashMap<&'a str, Vec<&'a str>>,
    parents: HashSet<&'a str>,
}

/// The families that are ticked with the last of others and have no attempt of their own: those with
/// required work below them, at any depth. A task whose children are all optional is work of its own.
pub fn parents(rows: &[Row]) -> HashSet<&str> {
    Families::new(rows).parents
}

impl<'a> Families<'a> {
    /// Reads the rows once.
    pub fn new(rows: &'a [Row]) -> Self {
        let mut at: HashMap<&str, Vec<usize>> = HashMap::with_capacity(rows.len());
        let mut above: HashMap<&str, &str> = HashMap::new();
        let mut below: HashMap<&str, Vec<&str>> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            at.entry(&row.key.family).or_default().push(index);
            if let Some(parent) = row.parent.as_deref().filter(|parent| *parent != row.key.family) {
                above.entry(&row.key.family).or_insert_with(|| {
                    below.entry(parent).or_default().push(&row.key.family);
                    parent
                });
            }
        }
        let mut parents = HashSet::new();
        for row in rows.iter().filter(|row| row.key.stage.is_work() && !row.optional) {
            let mut next = above.get(row.key.family.as_str()).copied();
            while let Some(parent) = next.filter(|parent| parents.insert(*parent)) {
                next = above.get(parent).copied();
            }
        }
        Self { rows, at, above, below, parents }
    }

    /// The rows, in document order.
    pub fn rows(&self) -> &'a [Row] {
        self.rows
    }

    /// The boxes of a family and their indices, in document order.
    pub fn boxes(&self, family: &str) -> impl Iterator<Item = (usize, &'a Row)> {
        let at = self.at.get(family).map(Vec::as_slice).unwrap_or_default();
        at.iter().filter_map(|at| Some((*at, self.rows.get(*at)?)))
    }

    /// True for a family that is ticked with the last required work below it; see [`parents`].
    pub fn is_parent(&self, family: &str) -> bool {
        self.parents.contains(family)
    }

    /// The families above, nearest first.
    pub fn above(&self, family: &str) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut next = self.above.get(family).copied();
        while let Some(parent) = next.filter(|parent| *parent != family && !found.contains(parent)) {
            found.push(parent);
            next = self.above.get(parent).copied();
        }
        found
    }

    /// The families below, at any depth.
    pub fn below(&self, family: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut open = vec![family];
        while let Some(parent) = open.pop() {
            for child in self.below.get(parent).into_iter().flatten() {
                if *child != family && found.insert(*child) {
                    open.push(child);
                }
            }
        }
        found
    }

    /// The families whose changes a box covers: its own and those below it; for a gate of wider reach
    /// those of its heading, or all.
    pub fn covered(&self, key: &TaskKey) -> BTreeSet<&'a str> {
        if !key.is_wider_gate() {
            let own = self.at.get_key_value(key.family.as_str()).map(|(family, _)| *family);
            return self.below(&key.family).into_iter().chain(own).collect();
        }
        let group = self.boxes(&key.family).find(|(_, row)| row.key == *key).map(|(_, row)| row.group);
        let group = group.filter(|_| key.family != "END");
        let tasks = self.rows.iter().filter(|row| !row.key.is_wider_gate() && row.key.stage != Stage::Final);
        let covered = tasks.filter(|row| group.is_none_or(|group| row.group == group));
        covered.map(|row| row.key.family.as_str()).collect()
    }
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
        assert_eq!(of("- [ ] 1. a\n  - [ ]* 1.1 b\n  - [ ] 1.1.PITEST\n"), [""; 0], "a gate is not work");
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
