//! Rework: a gate or reviewer failed, and work is opened again with the reasons.

use super::boxes::Flips;
use super::conclusion::{IterationOutcome, block};
use super::hierarchy;
use super::state::{Phase, SpecState, State};
use super::stop::StopReason;
use crate::source::text::count;
use crate::task::TaskKey;
use std::collections::BTreeSet;

/// Opens the work of these families after a FAIL of `by`, and blocks those whose reworks are used up. `fruitless`: why all
/// of them are blocked.
pub(super) fn rework(
    state: &mut State,
    by: &TaskKey,
    families: &BTreeSet<String>,
    reasons: &[String],
    fruitless: Option<&str>,
) -> IterationOutcome {
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
    IterationOutcome {
        flips,
        next,
        notify,
    }
}

/// The boxes of the work of these families. A parent's box opens with those of its children: by itself only where
/// none of them is among the families.
fn work_to_open(spec: &SpecState, own: &str, families: &BTreeSet<String>) -> Vec<TaskKey> {
    let all = spec.rows.by_family();
    let works: Vec<TaskKey> = families
        .iter()
        .filter_map(|family| hierarchy::work_box(spec, family))
        .collect();
    let mut by_itself = Vec::new();
    for work in &works {
        let opens_with_children = all.is_parent(&work.family)
            && (work.family == own
                || families
                    .iter()
                    .any(|other| all.families_above(other).contains(&work.family.as_str())));
        if !opens_with_children {
            by_itself.push(work.clone());
        }
    }
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
    let mut families: BTreeSet<String> = failing
        .iter()
        .filter_map(|path| last_changed_by(spec, &covered, Some(path)))
        .collect();
    if families.is_empty() {
        let last = last_changed_by(spec, &covered, None);
        families.extend(last.or_else(|| begun_last(spec, &covered)));
    }
    families
}

/// Returns the family that last changed this path, or any path.
fn last_changed_by(
    spec: &SpecState,
    covered: &BTreeSet<String>,
    path: Option<&String>,
) -> Option<String> {
    let mut touches = Vec::new();
    for name in covered {
        let Some(family) = spec.family(name) else {
            continue;
        };
        let iteration = match path {
            Some(path) => family.last_touch.get(path),
            None => family.last_touch.values().max(),
        };
        touches.extend(iteration.map(|iteration| (*iteration, name)));
    }
    touches.into_iter().max().map(|(_, name)| name.clone())
}

/// Returns the family of `covered` with work of its own that began last.
///
/// If none has begun, returns the last required one in the file.
fn begun_last(spec: &SpecState, covered: &BTreeSet<String>) -> Option<String> {
    let families = spec.rows.by_family();
    let rows = spec.rows.iter().filter(|row| {
        let family = &row.key.family;
        hierarchy::work_box(spec, family).as_ref() == Some(&row.key)
            && covered.contains(family)
            && !families.is_parent(family)
    });
    let last = rows.max_by_key(|row| {
        let family = spec.family(&row.key.family);
        let begun = family.map_or(0, |family| family.first_iteration);
        (begun, !row.optional, row.line)
    })?;
    Some(last.key.family.clone())
}
