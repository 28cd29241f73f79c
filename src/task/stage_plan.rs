//! Which stages plain tasks are given: the planner of `ralph stage` and of `stages: virtual`.
//!
//! Owns: which tasks get stages, which they lack, and in which order they stand.
//!
//! Promises: the answer depends on the rows alone; what stands in the file already is never wanted again;
//! a checkpoint and a parent get no stages, an optional task only when it is named; a gate stands wherever
//! its author named the task, whatever kind of task that is.
//!
//! Refuses to know: bytes, lines, bullets; whether the stages reach a file.

use super::place::{Families, NoSuchTasks, Placement, Side, Wanted};
use super::{Row, Stage, TaskKey};
use std::collections::{BTreeSet, HashSet};

/// Which tasks are given stages.
#[derive(Clone, Copy, Debug)]
pub enum Staged<'a> {
    /// Those with these ids (`2`, `2.`), done or not; each gets the stages that it lacks.
    Named(&'a [String]),
    /// Those that are plain, required, leaves, not done, and whose id stands once: a file can be given them.
    Plain,
    /// Those that are plain, required and leaves, done or not, with or without an id: for stages that stand
    /// in no file.
    Every,
}

/// The stages that these tasks lack, with the gates at their places, and one FINAL. Of a parent or
/// checkpoint that is to be staged nothing is wanted; a gate that is placed after it by name stands there
/// whenever all tasks are staged.
pub fn stages_wanted(
    rows: &[Row],
    staged: Staged<'_>,
    gates: &[(String, Placement)],
) -> Result<Vec<Wanted>, NoSuchTasks> {
    let families = Families::new(rows);
    let tasks = tasks(&families, staged)?;
    let chosen: HashSet<usize> = tasks.iter().copied().collect();
    let placed = placed(&families, gates)?;
    let mut wanted = Vec::new();
    for task in with_named(&tasks, staged, &placed) {
        let is_chosen = chosen.contains(&task);
        let own = placed.iter().filter(|(_, at)| at.as_ref().map_or(is_chosen, |at| at.contains(&task)));
        let agents = |stages: &[Stage]| if is_chosen { stages.to_vec() } else { Vec::new() };
        let stages = agents(&[Stage::TestFirst, Stage::ReqCheck]).into_iter();
        let stages = stages.chain(own.map(|(gate, _)| gate.clone())).chain(agents(&[Stage::PreCr]));
        wanted.extend(stages.map(|stage| families.wanted(task, &stage)));
    }
    for (gate, placement) in gates {
        let stage = Stage::Gate(gate.clone());
        match placement {
            Placement::Groups => wanted.extend(families.groups(&stage, |at| chosen.contains(&at))),
            Placement::End if !tasks.is_empty() => wanted.extend(families.end(&stage)),
            _ => {}
        }
    }
    let has = |stage: &Stage| rows.iter().any(|row| row.key.stage == *stage);
    if (!tasks.is_empty() || has(&Stage::TestFirst)) && !has(&Stage::Final) {
        let key = TaskKey { family: "FINAL".to_owned(), stage: Stage::Final };
        wanted.push(Wanted { key, beside: rows.len().saturating_sub(1), side: Side::End });
    }
    wanted.retain(|wanted| wanted.side != Side::Stands);
    Ok(wanted)
}

/// The implementation tasks that get stages, in document order.
fn tasks(families: &Families<'_>, staged: Staged<'_>) -> Result<Vec<usize>, NoSuchTasks> {
    let can = |row: &Row| families.is_leaf(row) && !row.checkpoint;
    if let Staged::Named(ids) = staged {
        let mut named = families.named(ids)?;
        named.retain(|at| families.rows.get(*at).is_some_and(can));
        return Ok(named);
    }
    let every = matches!(staged, Staged::Every);
    let is_plain = |row: &Row| {
        let agents = [Stage::TestFirst, Stage::ReqCheck, Stage::PreCr, Stage::Integ];
        !row.optional && can(row) && !agents.iter().any(|stage| families.has(row, stage))
    };
    let means = |row: &Row| is_plain(row) && (every || row.key.has_id() && !row.mark.is_done());
    Ok(families.implementations().filter(|(_, row)| means(row)).map(|(at, _)| at).collect())
}

/// The tasks that get stages, and those that get no more than the gates for which the author named them.
fn with_named(tasks: &[usize], staged: Staged<'_>, placed: &Placed) -> BTreeSet<usize> {
    let named = placed.iter().filter_map(|(_, at)| at.as_ref()).flatten();
    let named = named.filter(|_| !matches!(staged, Staged::Named(_)));
    tasks.iter().chain(named).copied().collect()
}

/// The gates that stand beside tasks, and beside which of them; `None` for all that get stages.
type Placed = Vec<(Stage, Option<HashSet<usize>>)>;

fn placed(families: &Families<'_>, gates: &[(String, Placement)]) -> Result<Placed, NoSuchTasks> {
    let mut placed = Vec::new();
    for (gate, placement) in gates {
        let at = match placement {
            Placement::Each => None,
            Placement::After(ids) => Some(families.named(ids)?.into_iter().collect()),
            Placement::Groups | Placement::End | Placement::None => continue,
        };
        placed.push((Stage::Gate(gate.clone()), at));
    }
    Ok(placed)
}
