//! Relations between the tasks of a file: parents, children, and the tasks that a gate covers.
//!
//! Any rows are accepted: a circle in them cannot hang this code.

use super::row::{Mark, Row};
use super::stage::{Stage, TaskKey};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The rows of a task file. Their relations are computed on first use.
#[derive(Clone, Default)]
pub struct Rows {
    rows: Vec<Row>,
    relations: OnceLock<Arc<Relations>>,
}

impl Rows {
    /// Returns the rows grouped by family.
    pub fn by_family(&self) -> Families<'_> {
        let relations = self
            .relations
            .get_or_init(|| Arc::new(Relations::new(&self.rows)));
        Families {
            rows: &self.rows,
            relations: Arc::clone(relations),
        }
    }

    /// Sets the mark of a box. No relation depends on a mark.
    pub fn set_mark(&mut self, key: &TaskKey, mark: Mark) {
        let found = self
            .by_family()
            .family_boxes(&key.family)
            .find(|(_, row)| row.key == *key)
            .map(|(at, _)| at);
        if let Some(row) = found.and_then(|at| self.rows.get_mut(at)) {
            row.mark = mark;
        }
    }
}

impl From<Vec<Row>> for Rows {
    fn from(rows: Vec<Row>) -> Self {
        Self {
            rows,
            relations: OnceLock::new(),
        }
    }
}

impl Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        &self.rows
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a Row;
    type IntoIter = std::slice::Iter<'a, Row>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

/// The relations between the families of some rows, by number. They own no row and stay valid when marks change.
#[derive(Debug, Default)]
struct Relations {
    numbers: HashMap<String, usize>,
    families: Vec<Links>,
    /// The number of each row's family.
    of_row: Vec<usize>,
    /// The rows below each heading that are neither wider gates nor FINAL.
    groups: HashMap<u32, Vec<usize>>,
    /// The rows of wider gates.
    wider_gates: Vec<usize>,
}

/// A family among the others.
#[derive(Debug)]
struct Links {
    /// A row that names it as its own family or as that of its parent.
    named_by: usize,
    /// The indices of its rows, in document order.
    rows: Vec<usize>,
    above: Option<usize>,
    below: Vec<usize>,
    is_parent: bool,
}

impl Relations {
    fn new(rows: &[Row]) -> Self {
        let mut all = Self::default();
        for (at, row) in rows.iter().enumerate() {
            let own = all.family_number(&row.key.family, at);
            all.of_row.push(own);
            all.families[own].rows.push(at);
            if row.key.is_wider_gate() {
                all.wider_gates.push(at);
            } else if row.key.stage != Stage::Final {
                all.groups.entry(row.group).or_default().push(at);
            }
            let parent = row
                .parent
                .as_deref()
                .filter(|parent| *parent != row.key.family);
            if let Some(parent) = parent.filter(|_| all.families[own].above.is_none()) {
                let above = all.family_number(parent, at);
                all.families[own].above = Some(above);
                all.families[above].below.push(own);
            }
        }
        for (row, own) in rows.iter().zip(&all.of_row) {
            let mut next = all.families[*own]
                .above
                .filter(|_| row.key.stage.is_work() && !row.optional);
            while let Some(parent) = next.filter(|parent| !all.families[*parent].is_parent) {
                all.families[parent].is_parent = true;
                next = all.families[parent].above;
            }
        }
        all
    }

    /// Returns the number of a family, and assigns one if it is new. `at` is the row that names it.
    fn family_number(&mut self, family: &str, at: usize) -> usize {
        if let Some(number) = self.numbers.get(family) {
            return *number;
        }
        let number = self.families.len();
        self.numbers.insert(family.to_owned(), number);
        let (rows, below) = (Vec::new(), Vec::new());
        self.families.push(Links {
            named_by: at,
            rows,
            above: None,
            below,
            is_parent: false,
        });
        number
    }

    fn family_links(&self, family: &str) -> Option<&Links> {
        self.families.get(*self.numbers.get(family)?)
    }
}

/// The rows of a task file by family.
#[derive(Clone, Debug)]
pub struct Families<'a> {
    rows: &'a [Row],
    relations: Arc<Relations>,
}

/// Returns the families that have required work below them, at any depth.
///
/// They are ticked with the last of that work and have no attempt of their own. A task whose children are all
/// optional is work of its own.
pub fn parent_families(rows: &[Row]) -> HashSet<&str> {
    let families = Families::new(rows);
    let all = families.relations.families.iter().enumerate();
    all.filter(|(_, links)| links.is_parent)
        .map(|(number, _)| families.family_name(number))
        .collect()
}

impl<'a> Families<'a> {
    /// Groups rows by family.
    pub fn new(rows: &'a [Row]) -> Self {
        Self {
            rows,
            relations: Arc::new(Relations::new(rows)),
        }
    }

    pub fn all_rows(&self) -> &'a [Row] {
        self.rows
    }

    /// Returns the boxes of a family with their indices, in document order.
    pub fn family_boxes(&self, family: &str) -> impl Iterator<Item = (usize, &'a Row)> + use<'a> {
        let found: Vec<usize> = self
            .relations
            .family_links(family)
            .map(|links| links.rows.clone())
            .unwrap_or_default();
        let rows = self.rows;
        found
            .into_iter()
            .filter_map(move |at| Some((at, rows.get(at)?)))
    }

    /// True for a family that is ticked with the last required work below it; see [`parent_families`].
    pub fn is_parent(&self, family: &str) -> bool {
        self.relations
            .family_links(family)
            .is_some_and(|links| links.is_parent)
    }

    /// Returns the families above, nearest first.
    pub fn families_above(&self, family: &str) -> Vec<&'a str> {
        let all = &self.relations;
        let Some(own) = all.numbers.get(family).copied() else {
            return Vec::new();
        };
        let (mut found, mut seen) = (Vec::new(), HashSet::from([own]));
        let mut next = all.families[own].above;
        while let Some(parent) = next.filter(|parent| seen.insert(*parent)) {
            found.push(self.family_name(parent));
            next = all.families[parent].above;
        }
        found
    }

    /// Returns the families below, at any depth.
    pub fn families_below(&self, family: &str) -> BTreeSet<&'a str> {
        self.numbers_below(family)
            .into_iter()
            .map(|number| self.family_name(number))
            .collect()
    }

    /// Returns the first wanted row of the families below, at any depth, in document order.
    pub fn first_below(&self, family: &str, wanted: impl Fn(&Row) -> bool) -> Option<&'a Row> {
        let has_children = self
            .relations
            .family_links(family)
            .is_some_and(|links| !links.below.is_empty());
        let below = if has_children {
            self.numbers_below(family)
        } else {
            HashSet::new()
        };
        self.first_of(below.into_iter(), wanted)
    }

    /// Returns the first wanted row of the families that a box covers; see [`Families::covered_families`].
    pub fn first_covered(&self, key: &TaskKey, wanted: impl Fn(&Row) -> bool) -> Option<&'a Row> {
        self.first_of(self.numbers_covered(key).into_iter(), wanted)
    }

    fn first_of(
        &self,
        families: impl Iterator<Item = usize>,
        wanted: impl Fn(&Row) -> bool,
    ) -> Option<&'a Row> {
        let rows = families.flat_map(|number| self.relations.families[number].rows.iter().copied());
        rows.filter(|at| self.rows.get(*at).is_some_and(&wanted))
            .min()
            .and_then(|at| self.rows.get(at))
    }

    /// Returns the families whose changes a box covers: its own and those below it.
    ///
    /// A gate of wider reach covers those of its heading, or all.
    pub fn covered_families(&self, key: &TaskKey) -> BTreeSet<&'a str> {
        self.numbers_covered(key)
            .into_iter()
            .map(|number| self.family_name(number))
            .collect()
    }

    /// Returns the rows of the wider gates that cover a family, in document order.
    pub fn wider_gates(&self, family: &str) -> Vec<&'a Row> {
        let groups: BTreeSet<u32> = self
            .family_boxes(family)
            .filter(|(_, row)| is_covered(row))
            .map(|(_, row)| row.group)
            .collect();
        let gates = self
            .relations
            .wider_gates
            .iter()
            .filter_map(|at| self.rows.get(*at));
        gates
            .filter(|row| {
                !groups.is_empty() && (row.key.family == "END" || groups.contains(&row.group))
            })
            .collect()
    }

    fn numbers_below(&self, family: &str) -> HashSet<usize> {
        let all = &self.relations;
        let Some(own) = all.numbers.get(family).copied() else {
            return HashSet::new();
        };
        let (mut found, mut open) = (HashSet::new(), vec![own]);
        while let Some(parent) = open.pop() {
            for child in &all.families[parent].below {
                if *child != own && found.insert(*child) {
                    open.push(*child);
                }
            }
        }
        found
    }

    fn numbers_covered(&self, key: &TaskKey) -> HashSet<usize> {
        let all = &self.relations;
        if !key.is_wider_gate() {
            let own = all
                .family_links(&key.family)
                .filter(|links| !links.rows.is_empty());
            let own = own.and_then(|_| all.numbers.get(&key.family).copied());
            return self
                .numbers_below(&key.family)
                .into_iter()
                .chain(own)
                .collect();
        }
        let group = self
            .family_boxes(&key.family)
            .find(|(_, row)| row.key == *key)
            .map(|(_, row)| row.group);
        if let Some(group) = group.filter(|_| key.family != "END") {
            let rows = all.groups.get(&group).into_iter().flatten();
            return rows.filter_map(|at| all.of_row.get(*at).copied()).collect();
        }
        let rows = self.rows.iter().zip(&all.of_row);
        rows.filter(|(row, _)| is_covered(row))
            .map(|(_, number)| *number)
            .collect()
    }

    fn family_name(&self, number: usize) -> &'a str {
        let links = &self.relations.families[number];
        let row = &self.rows[links.named_by];
        match &row.parent {
            Some(parent) if self.relations.of_row.get(links.named_by) != Some(&number) => parent,
            _ => &row.key.family,
        }
    }
}

/// True for a row that a gate of wider reach can cover.
fn is_covered(row: &Row) -> bool {
    !row.key.is_wider_gate() && row.key.stage != Stage::Final
}

#[cfg(test)]
mod tests {
    use super::parent_families;
    use crate::task::{Grammar, TaskFile};

    fn of(text: &str) -> Vec<String> {
        let rows = TaskFile::parse(text, &Grammar::default()).box_rows();
        let mut found: Vec<String> = parent_families(&rows)
            .into_iter()
            .map(str::to_owned)
            .collect();
        found.sort();
        found
    }

    #[test]
    fn a_parent_is_a_task_with_required_work_below_it() {
        assert_eq!(
            of("- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2. d\n"),
            ["1"]
        );
        assert_eq!(
            of("- [ ] 1. a\n  - [ ]* 1.1 b\n- [ ] 2. c\n- [ ] 2.9* d\n"),
            [""; 0]
        );
        assert_eq!(
            of("- [ ] 1. a\n  - [ ]* 1.1 b\n    - [ ] 1.1.1 c\n"),
            ["1", "1.1"],
            "at any depth"
        );
        assert_eq!(
            of("- [ ] 1. a\n  - [ ]* 1.1 b\n  - [ ] 1.1.PITEST\n"),
            [""; 0],
            "a gate is not work"
        );
        assert_eq!(of("- [ ] 1. a\n- [ ] 1.1.INTEG b\n"), ["1"]);
        assert_eq!(
            of("- [x] 1. a\n- [ ] 1.TEST-FIRST\n- [ ] 1.PITEST\n"),
            [""; 0]
        );
    }

    #[test]
    fn rows_in_a_circle_end() {
        let mut rows = TaskFile::parse("- [ ] 1. a\n- [ ] 2. b\n", &Grammar::default()).box_rows();
        rows[0].parent = Some("2".to_owned());
        rows[1].parent = Some("1".to_owned());
        assert_eq!(parent_families(&rows).len(), 2);
    }
}
