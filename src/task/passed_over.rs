//! Tasks that would have lines of their own, had they an id.
//!
//! Owns: which tasks `place each` and `stage --all` mean and cannot give a line.
//!
//! Promises: the answer depends on the rows alone; a task that takes no line anyway is never named.
//!
//! Refuses to know: how people are told.

use super::place::Families;
use super::{Stage, Staged, TaskFile, stages_wanted};

impl TaskFile {
    /// The lines (1-based, ascending) of the tasks after which [`super::Placement::Each`] means a gate, and
    /// that get none: they have no id, or one that stands twice.
    pub fn without_gate(&self) -> Vec<u32> {
        let rows = self.rows();
        if rows.iter().any(|row| row.key.stage == Stage::TestFirst) {
            // There the gate goes with TEST-FIRST, which needs an id itself.
            return Vec::new();
        }
        let families = Families::new(&rows);
        let means = |row: &super::Row| !row.key.has_id() && !row.optional && families.is_leaf(row);
        families.implementations().filter(|(_, row)| means(row)).map(|(_, row)| row.line).collect()
    }

    /// The lines (1-based, ascending) of the open tasks that [`Staged::Plain`] passes over because they have
    /// no id, or one that stands twice.
    pub fn without_stages(&self) -> Vec<u32> {
        let rows = self.rows();
        let every = stages_wanted(&rows, Staged::Every, &[]).unwrap_or_default();
        let first =
            every.iter().filter(|wanted| wanted.key.stage == Stage::TestFirst && !wanted.key.has_id());
        let tasks = first.filter_map(|wanted| rows.get(wanted.beside));
        tasks.filter(|row| !row.mark.is_done()).map(|row| row.line).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::task::{Grammar, TaskFile};

    fn lines(text: &str) -> (Vec<u32>, Vec<u32>) {
        let file = TaskFile::parse(text, &Grammar::default());
        (file.without_gate(), file.without_stages())
    }

    #[test]
    fn tasks_without_an_own_id_are_found_where_a_line_is_meant() {
        assert_eq!(
            lines("- [ ] one\n- [x] two\n- [ ] 3. c\n"),
            (vec![1, 2], vec![1]),
            "done tasks get gates"
        );
        assert_eq!(lines("- [ ] 1. a\n- [ ] 1. b\n- [ ]* c\n"), (vec![1, 2], vec![1, 2]));
        assert_eq!(lines("- [ ] all\n  - [ ] part\n- [ ] Checkpoint\n"), (vec![2, 3], vec![2]));
        assert_eq!(lines("- [ ] 1.TEST-FIRST\n- [ ] 1. a\n- [ ] two\n"), (vec![], vec![3]));
        assert_eq!(lines("- [ ] 1. a\n- [ ] 2. b\n"), (vec![], vec![]));
    }
}
