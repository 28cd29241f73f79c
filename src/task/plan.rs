//! Plans the boxes of gates and stages of a task file, and their positions.
//!
//! The plan depends on the rows alone and takes linear time. A box that is in the file is never planned twice.

use super::hierarchy::Families;
use super::refusal::{EditRefusal, Refused};
use super::row::Row;
use super::stage::{Stage, TaskKey};
use super::test_task::only_writes_tests;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The positions of one gate's boxes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = one_of, extend("examples" = ["each", {"after": ["2", "5"]}, {"groups": 2}]))]
pub enum Placement {
    /// After every required leaf task whose id is used once, except checkpoints and tasks that only write tests.
    Each,
    /// After every task with TEST-FIRST.
    Tested,
    /// After the tasks with these ids (`2`, `2.`).
    After(#[schemars(length(min = 1), inner(length(min = 1)))] Vec<String>),
    /// One for each heading that has required tasks: `G1.PITEST`.
    Groups,
    /// One after the last task: `END.PITEST`.
    End,
    /// No boxes.
    None,
    /// One for each heading up to this level (`##` is 2) with required tasks. Deeper headings belong to it.
    #[serde(untagged)]
    GroupsOf {
        /// 1 to 6.
        #[schemars(range(min = 1, max = 6))]
        groups: u8,
    },
}

impl Placement {
    /// Returns the deepest heading level that begins a group; `None` if gates do not go by headings.
    pub fn group_level(&self) -> Option<u8> {
        match self {
            Self::Groups => Some(DEEPEST),
            Self::GroupsOf { groups } => Some(*groups),
            _ => None,
        }
    }
}

/// Declares in the schema that the forms of a placement exclude each other.
fn one_of(schema: &mut schemars::Schema) {
    let forms = schema.remove("anyOf");
    schema.insert("oneOf".to_owned(), forms.unwrap_or_default());
}

/// The level of `######`.
pub(super) const DEEPEST: u8 = 6;

/// The tasks that get stages.
#[derive(Clone, Copy, Debug)]
pub enum TaskSelection<'a> {
    /// Those with these ids (`2`, `2.`), done or not. Each gets the stages that it lacks.
    Named(&'a [String]),
    /// Required leaf tasks without stages that are not done and whose id is used once.
    ///
    /// A file can hold stages only for a task with an id of its own.
    Plain,
    /// Required leaf tasks without stages, done or not, with or without an id: for virtual stages.
    Every,
}

/// The position of a planned box in relation to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowPosition {
    /// The row is the planned box.
    Exists,
    /// Right before the row, as its sibling.
    Before,
    /// After the row and everything that belongs to it, as its sibling.
    After,
    /// After the outermost task that contains the row, as the sibling of that task.
    End,
}

/// A planned box. Of several with the same row and position, the first comes first in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedBox {
    pub key: TaskKey,
    /// Index of the row next to which it goes.
    pub beside: usize,
    /// Its position in relation to that row.
    pub position: RowPosition,
}

/// Plans every box of a gate for this placement, including existing ones.
///
/// Finished work is not judged: a new gate goes behind the named tasks, behind tasks with work to do, or nowhere.
pub fn plan_gate(
    rows: &[Row],
    gate: &str,
    placement: &Placement,
) -> Result<Vec<PlannedBox>, EditRefusal> {
    let families = Families::new(rows);
    let stage = Stage::Gate(gate.to_owned());
    let plan = PlanInput {
        staged: BTreeSet::new(),
        each: tasks_for_each(&families, &stage, *placement == Placement::Tested).collect(),
        judged: implementation_rows(rows)
            .filter(|(_, row)| has_work(row) && can_be_judged(&families, row))
            .map(|(at, _)| at)
            .collect(),
        only_staged: false,
        families,
    };
    plan.planned_boxes(&[(gate.to_owned(), placement.clone())])
}

/// Plans the missing stages of these tasks, the gates at their places, and one FINAL.
///
/// Parents and checkpoints get no stages, and optional tasks only if they are named. A gate placed after a named task
/// goes there, for any kind of task.
pub fn plan_stages(
    rows: &[Row],
    selection: TaskSelection<'_>,
    gates: &[(String, Placement)],
) -> Result<Vec<PlannedBox>, EditRefusal> {
    let families = Families::new(rows);
    let staged = selected_tasks(&families, selection)?;
    let judged: BTreeSet<usize> = staged
        .iter()
        .copied()
        .filter(|at| {
            rows.get(*at)
                .is_some_and(|row| can_be_judged(&families, row))
        })
        .collect();
    let plan = PlanInput {
        each: judged.clone(),
        judged,
        only_staged: matches!(selection, TaskSelection::Named(_)),
        staged,
        families,
    };
    let mut planned = plan.planned_boxes(gates)?;
    let [has_test_first, has_final] =
        [Stage::TestFirst, Stage::Final].map(|stage| rows.iter().any(|row| row.key.stage == stage));
    if (!plan.staged.is_empty() || has_test_first) && !has_final {
        let key = TaskKey {
            family: "FINAL".to_owned(),
            stage: Stage::Final,
        };
        planned.push(PlannedBox {
            key,
            beside: rows.len().saturating_sub(1),
            position: RowPosition::End,
        });
    }
    planned.retain(|planned| planned.position != RowPosition::Exists);
    Ok(planned)
}

/// Returns the lines of tasks that [`Placement::Each`] skips because they have no own id.
pub fn tasks_without_gate(rows: &[Row]) -> Vec<u32> {
    let families = Families::new(rows);
    implementation_rows(rows)
        .filter(|(_, row)| {
            !row.key.has_id()
                && has_work(row)
                && !row.optional
                && !families.is_parent(&row.key.family)
                && can_be_judged(&families, row)
        })
        .map(|(_, row)| row.line)
        .collect()
}

/// Returns the titles of the tasks that [`Placement::Each`] skips because they only write tests.
pub fn tasks_of_tests_alone(rows: &[Row]) -> Vec<String> {
    let families = Families::new(rows);
    implementation_rows(rows)
        .filter(|(_, row)| {
            has_work(row)
                && !row.optional
                && !families.is_parent(&row.key.family)
                && !can_be_judged(&families, row)
        })
        .map(|(_, row)| row.row_title())
        .collect()
}

/// Returns the lines of open tasks that [`TaskSelection::Plain`] skips because they have no own id.
pub fn tasks_without_stages(rows: &[Row]) -> Vec<u32> {
    let every = selected_tasks(&Families::new(rows), TaskSelection::Every).unwrap_or_default();
    let tasks = every.into_iter().filter_map(|at| rows.get(at));
    tasks
        .filter(|row| !row.key.has_id() && !row.mark.is_done())
        .map(|row| row.line)
        .collect()
}

/// Returns the wider gates that now precede some of their tasks, because those were added after them.
pub(super) fn overtaken_gates(rows: &[Row], gate: &str) -> HashSet<TaskKey> {
    let mut found = HashSet::new();
    let mut groups: HashSet<u32> = HashSet::new();
    for row in rows
        .iter()
        .rev()
        .filter(|row| row.key.stage != Stage::Final)
    {
        if !row.key.is_wider_gate() {
            groups.insert(row.group);
            continue;
        }
        let covers_all = row.key.family == "END";
        let followed = if covers_all {
            !groups.is_empty()
        } else {
            groups.contains(&row.group)
        };
        if row.key.stage.stage_word() == gate && followed {
            found.insert(row.key.clone());
        }
    }
    found
}

/// Returns the implementation tasks in document order.
fn implementation_rows(rows: &[Row]) -> impl Iterator<Item = (usize, &Row)> {
    rows.iter()
        .enumerate()
        .filter(|(_, row)| row.key.stage == Stage::Implementation)
}

/// True for an unfinished task that can change something.
fn has_work(row: &Row) -> bool {
    !row.mark.is_done() && !row.checkpoint
}

/// False for a task that only writes tests. With TEST-FIRST the tests are a stage, and the task is the code.
pub(super) fn can_be_judged(families: &Families<'_>, row: &Row) -> bool {
    has_stage(families, row, &Stage::TestFirst) || !only_writes_tests(&row.text)
}

/// Returns the implementation tasks that [`Placement::Each`] or [`Placement::Tested`] selects.
fn tasks_for_each(
    families: &Families<'_>,
    gate: &Stage,
    tested: bool,
) -> impl Iterator<Item = usize> {
    implementation_rows(families.all_rows())
        .filter(move |(_, row)| {
            let is_meant = if tested {
                has_stage(families, row, &Stage::TestFirst)
            } else {
                !row.optional && !families.is_parent(&row.key.family)
            };
            let is_due = has_work(row) || has_stage(families, row, gate);
            row.key.has_id() && is_meant && is_due && can_be_judged(families, row)
        })
        .map(|(at, _)| at)
}

/// Returns the implementation tasks of a selection.
fn selected_tasks(
    families: &Families<'_>,
    selection: TaskSelection<'_>,
) -> Result<BTreeSet<usize>, EditRefusal> {
    if let TaskSelection::Named(ids) = selection {
        let mut named = tasks_by_id(families, ids)?;
        let rows = families.all_rows();
        named.retain(|at| rows.get(*at).is_some_and(|row| takes_stages(families, row)));
        return Ok(named);
    }
    let every = matches!(selection, TaskSelection::Every);
    let agents = [
        Stage::TestFirst,
        Stage::ReqCheck,
        Stage::PreCr,
        Stage::Integ,
    ];
    Ok(implementation_rows(families.all_rows())
        .filter(|(_, row)| {
            !row.optional
                && takes_stages(families, row)
                && !agents.iter().any(|stage| has_stage(families, row, stage))
                && (every || row.key.has_id() && !row.mark.is_done())
        })
        .map(|(at, _)| at)
        .collect())
}

fn takes_stages(families: &Families<'_>, row: &Row) -> bool {
    !families.is_parent(&row.key.family) && !row.checkpoint
}

/// Returns the implementation tasks with these ids.
fn tasks_by_id(families: &Families<'_>, ids: &[String]) -> Result<BTreeSet<usize>, EditRefusal> {
    let mut tasks = BTreeSet::new();
    let mut unknown = Vec::new();
    for id in ids {
        let mut boxes = families.family_boxes(id.trim().trim_end_matches('.'));
        match boxes.find(|(_, row)| row.key.has_id() && row.key.stage == Stage::Implementation) {
            Some((at, _)) => {
                tasks.insert(at);
            }
            None => unknown.push(format!("`{}`", id.escape_debug())),
        }
    }
    if !unknown.is_empty() {
        let ids = unknown.join(", ");
        let what = format!("The task file has no task, or more than one, with the id {ids}.");
        let hint = "name tasks by ids that are used once, as in `2` or `T012`";
        return Err(EditRefusal::new(Refused::UnknownIds, what, hint));
    }
    Ok(tasks)
}

fn has_stage(families: &Families<'_>, row: &Row, stage: &Stage) -> bool {
    families
        .family_boxes(&row.key.family)
        .any(|(_, sibling)| sibling.key.stage == *stage)
}

/// The common input of both plans. Tasks are indices of rows.
struct PlanInput<'a> {
    families: Families<'a>,
    /// The tasks that get the agents' stages.
    staged: BTreeSet<usize>,
    /// The tasks that [`Placement::Each`] selects.
    each: BTreeSet<usize>,
    /// The tasks for which wider gates exist.
    judged: BTreeSet<usize>,
    /// Leaves out gates placed after other tasks.
    only_staged: bool,
}

impl PlanInput<'_> {
    fn planned_boxes(&self, gates: &[(String, Placement)]) -> Result<Vec<PlannedBox>, EditRefusal> {
        let mut stages: BTreeMap<usize, Vec<Stage>> = self
            .staged
            .iter()
            .map(|at| (*at, vec![Stage::TestFirst, Stage::ReqCheck]))
            .collect();
        let mut wider = Vec::new();
        for (gate, placement) in gates {
            let stage = Stage::Gate(gate.clone());
            let tasks = match placement {
                Placement::Each | Placement::Tested => self.each.clone(),
                Placement::After(ids) => tasks_by_id(&self.families, ids)?,
                Placement::Groups | Placement::GroupsOf { .. } => {
                    wider.extend(self.group_gates(&stage));
                    continue;
                }
                Placement::End => {
                    wider.extend(self.end_gate(&stage));
                    continue;
                }
                Placement::None => continue,
            };
            for task in tasks
                .into_iter()
                .filter(|at| !self.only_staged || self.staged.contains(at))
            {
                stages.entry(task).or_default().push(stage.clone());
            }
        }
        for task in &self.staged {
            stages.entry(*task).or_default().push(Stage::PreCr);
        }
        let own = stages.into_iter().flat_map(|(task, stages)| {
            stages
                .into_iter()
                .filter_map(move |stage| self.planned_box(task, stage))
                .collect::<Vec<_>>()
        });
        Ok(own.chain(wider).collect())
    }

    /// Returns a stage of a task with its current or future position.
    fn planned_box(&self, task: usize, stage: Stage) -> Option<PlannedBox> {
        let row = self.families.all_rows().get(task)?;
        let (beside, position) = self.box_position(task, row, &stage);
        let key = TaskKey {
            family: row.key.family.clone(),
            stage,
        };
        Some(PlannedBox {
            key,
            beside,
            position,
        })
    }

    fn box_position(&self, task: usize, row: &Row, stage: &Stage) -> (usize, RowPosition) {
        let mut siblings = self.families.family_boxes(&row.key.family);
        if let Some((at, _)) = siblings.find(|(_, sibling)| sibling.key.stage == *stage) {
            return (at, RowPosition::Exists);
        }
        if *stage == Stage::TestFirst {
            return (task, RowPosition::Before);
        }
        // INTEG may be at any position.
        let mut after = None;
        for (at, sibling) in self
            .families
            .family_boxes(&row.key.family)
            .filter(|(at, row)| {
                *at > task && (row.key.stage.is_gate() || row.key.stage.is_review())
            })
        {
            if sibling.key.stage.stage_rank() > stage.stage_rank() {
                return after.map_or((at, RowPosition::Before), |at| (at, RowPosition::After));
            }
            after = Some(at);
        }
        (after.unwrap_or(task), RowPosition::After)
    }

    /// Returns the gates of the headings with required tasks, if one of those is judged.
    fn group_gates(&self, stage: &Stage) -> Vec<PlannedBox> {
        let rows = self.families.all_rows();
        // For each heading with required tasks, true if one of them is judged.
        let mut groups: BTreeMap<u32, bool> = BTreeMap::new();
        for (at, row) in implementation_rows(rows).filter(|(_, row)| !row.optional) {
            *groups.entry(row.group).or_default() |= self.judged.contains(&at);
        }
        let (mut gates, mut last): (HashMap<u32, usize>, HashMap<u32, usize>) = Default::default();
        let mut taken: HashSet<&str> = HashSet::new();
        for (at, row) in rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.key.stage != Stage::Final)
        {
            if !row.key.is_wider_gate() {
                last.insert(row.group, at);
            } else if row.key.stage == *stage && row.key.family != "END" {
                gates.entry(row.group).or_insert(at);
                taken.insert(&row.key.family);
            }
        }
        let mut planned = Vec::new();
        let mut beyond = groups.last_key_value().map_or(0, |(group, _)| *group);
        for (group, is_judged) in groups {
            if let Some((at, row)) = gates.get(&group).and_then(|at| Some((*at, rows.get(*at)?))) {
                planned.push(PlannedBox {
                    key: row.key.clone(),
                    beside: at,
                    position: RowPosition::Exists,
                });
            } else if is_judged {
                let mut family = format!("G{group}");
                while taken.contains(family.as_str()) {
                    beyond += 1;
                    family = format!("G{beyond}");
                }
                let key = TaskKey {
                    family,
                    stage: stage.clone(),
                };
                let beside = last.get(&group).copied().unwrap_or_default();
                planned.push(PlannedBox {
                    key,
                    beside,
                    position: RowPosition::End,
                });
            }
        }
        planned
    }

    /// Returns the gate over everything; `None` in a file without required tasks.
    fn end_gate(&self, stage: &Stage) -> Option<PlannedBox> {
        let rows = self.families.all_rows();
        let key = TaskKey {
            family: "END".to_owned(),
            stage: stage.clone(),
        };
        let known = rows.iter().position(|row| row.key == key);
        implementation_rows(rows)
            .find(|(at, row)| !row.optional && (known.is_some() || self.judged.contains(at)))?;
        if let Some(at) = known {
            return Some(PlannedBox {
                key,
                beside: at,
                position: RowPosition::Exists,
            });
        }
        let beside = rows
            .iter()
            .rposition(|row| !(row.key.stage == Stage::Final || row.key.family == "END"))?;
        Some(PlannedBox {
            key,
            beside,
            position: RowPosition::End,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{tasks_without_gate, tasks_without_stages};
    use crate::task::{Grammar, TaskFile};

    fn lines(text: &str) -> (Vec<u32>, Vec<u32>) {
        let rows = TaskFile::parse(text, &Grammar::default()).box_rows();
        (tasks_without_gate(&rows), tasks_without_stages(&rows))
    }

    #[test]
    fn tasks_without_an_own_id_are_found_where_a_line_is_meant() {
        assert_eq!(
            lines("- [ ] one\n- [x] two\n- [ ] 3. c\n"),
            (vec![1], vec![1]),
            "no gate goes behind what is done"
        );
        assert_eq!(
            lines("- [ ] 1. a\n- [ ] 1. b\n- [ ]* c\n"),
            (vec![1, 2], vec![1, 2])
        );
        assert_eq!(
            lines("- [ ] all\n  - [ ] part\n- [ ] Checkpoint\n"),
            (vec![2], vec![2])
        );
        assert_eq!(
            lines("- [ ] 1.TEST-FIRST\n- [ ] 1. a\n- [ ] two\n"),
            (vec![3], vec![3])
        );
        assert_eq!(lines("- [ ] 1. a\n- [ ] 2. b\n"), (vec![], vec![]));
    }
}
