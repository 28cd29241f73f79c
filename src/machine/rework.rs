//! Rework: a gate or reviewer failed, and work is opened again with the reasons.

use super::boxes::Flips;
use super::conclusion::{Outcome, block};
use super::hierarchy;
use super::state::{Phase, SpecState, State};
use super::stop::StopReason;
use crate::source::text::count;
use crate::task::{Row, TaskKey};
use std::collections::BTreeSet;

/// Opens the work of these families after a FAIL of `by`, and blocks those whose reworks are used up. `fruitless`: why all
/// of them are blocked.
pub(super) fn rework(
    state: &mut State,
    by: &TaskKey,
    families: &BTreeSet<String>,
    reasons: &[String],
    fruitless: Option<&str>,
) -> Outcome {
    let (limit, name) = (state.policy.rework, state.spec_state().title(by));
    let mut flips = Flips::default();
    let mut notify = by.stage.is_gate().then_some("gate-fail");
    let mut stopping = Vec::new();
    for work in work_to_open(state.spec_state(), &by.family, families) {
        let spec = state.spec_state_mut();
        flips.open(spec, &work);
        spec.stage_mut(&work).reasons = reasons.to_vec();
        let family = spec.family_mut(&work.family);
        family.failed_once = true;
        family.opened_by = Some(by.clone());
        family.reworks += 1;
        let is_used_up = family.reworks > limit;
        let used_up = is_used_up
            .then(|| format!("{name} failed after {}.", count(u64::from(limit), "rework")));
        if let Some(why) = used_up.or_else(|| fruitless.map(str::to_owned)) {
            match block(state, &work, &why) {
                Some(reason) => stopping.push(reason),
                None => notify = Some("blocked"),
            }
        }
    }
    let next =
        (!stopping.is_empty()).then_some(Phase::Stopped(StopReason::Blocked { reasons: stopping }));
    Outcome {
        flips,
        next,
        notify,
    }
}

/// The boxes of the work of these families. A parent's box opens with those of its children: by itself only where
/// none of them is among the families.
fn work_to_open(spec: &SpecState, own: &str, families: &BTreeSet<String>) -> Vec<TaskKey> {
    let all = spec.rows.families();
    let is_above_another = |family: &str| {
        families
            .iter()
            .any(|other| all.above(other).contains(&family))
    };
    let opens_with_children = |work: &TaskKey| {
        all.is_parent(&work.family) && (work.family == own || is_above_another(&work.family))
    };
    let works: Vec<TaskKey> = families
        .iter()
        .filter_map(|family| hierarchy::work_box(spec, family))
        .collect();
    let by_itself: Vec<TaskKey> = works
        .iter()
        .filter(|work| !opens_with_children(work))
        .cloned()
        .collect();
    if by_itself.is_empty() {
        works
    } else {
        by_itself
    }
}

/// The families that work again when a gate failed on these classes (`<package>/<path>`). A gate of one family:
/// that. Of a parent, or of wider reach: for each class the last family that changed it; if no family did, the last
/// that changed anything; if none did that either (another loop or a person worked), the one begun last, or the
/// last in the file.
pub(super) fn responsible(spec: &SpecState, key: &TaskKey, failing: &[String]) -> BTreeSet<String> {
    let covered = hierarchy::covered(spec, key);
    if covered.len() == 1 {
        return covered;
    }
    let last = |path: Option<&String>| {
        let touched = |name: &String| {
            let touch = &spec.family(name)?.last_touch;
            path.map_or_else(|| touch.values().max(), |path| touch.get(path))
                .copied()
        };
        covered
            .iter()
            .filter_map(|name| Some((touched(name)?, name)))
            .max()
            .map(|(_, name)| name.clone())
    };
    let mut families: BTreeSet<String> =
        failing.iter().filter_map(|path| last(Some(path))).collect();
    if families.is_empty() {
        families.extend(last(None).or_else(|| begun_last(spec, &covered)));
    }
    families
}

/// Returns the family of `covered` with work of its own that began last.
///
/// If none has begun, returns the last required one in the file.
fn begun_last(spec: &SpecState, covered: &BTreeSet<String>) -> Option<String> {
    let begun = |name: &str| spec.family(name).map_or(0, |family| family.first_iteration);
    let works = |row: &&Row| hierarchy::work_box(spec, &row.key.family).as_ref() == Some(&row.key);
    let families = spec.rows.families();
    let is_own =
        |row: &&Row| covered.contains(&row.key.family) && !families.is_parent(&row.key.family);
    let rows = spec.rows.iter().filter(works).filter(is_own);
    let last = rows.max_by_key(|row| (begun(&row.key.family), !row.optional, row.line))?;
    Some(last.key.family.clone())
}
