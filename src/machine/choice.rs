//! The choice of the next box, or every reason why no box can be taken.

use super::hierarchy;
use super::policy::Policy;
use super::state::SpecState;
use super::stop::StopReason;
use crate::task::{Row, Stage, TaskKey};
use std::collections::BTreeSet;

/// The next step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Try this box.
    Take(TaskKey),
    /// No required box is open.
    AllDone,
    /// Boxes are open and none can be taken; one sentence each.
    Stuck(Vec<String>),
    /// A person has to say that this box is done before anything below it is taken.
    Approve(TaskKey),
}

/// The next box under these rules.
pub fn choose(spec: &SpecState, policy: &Policy) -> NextStep {
    let families = spec.rows.by_family();
    let mut named = BTreeSet::new();
    for family in &policy.only {
        named.insert(family.as_str());
        named.extend(families.families_below(family));
    }
    // Each open box, and true if the run may take it.
    let mut open: Vec<(&Row, bool)> = Vec::new();
    for row in &spec.rows {
        if !row.mark.is_done() && (policy.optional || !row.optional) && !row.struck {
            let is_chosen = policy.only.is_empty() || named.contains(row.key.family.as_str());
            open.push((row, is_chosen));
        }
    }
    let last = open.iter().rposition(|(_, is_chosen)| *is_chosen);
    open.truncate(last.map_or(0, |last| last + 1));
    let mut reasons = Vec::new();
    for (row, is_chosen) in open {
        // No box below one that a person has to approve is taken, chosen or not.
        if row.approval {
            return NextStep::Approve(row.key.clone());
        }
        if !is_chosen {
            continue;
        }
        match obstacle(spec, row) {
            None => return NextStep::Take(row.key.clone()),
            Some(reason) => reasons.push(reason),
        }
    }
    // A person who wrote them takes them for tasks, so a run that leaves them has left work.
    if policy.only.is_empty() {
        reasons.extend(spec.unread.iter().cloned());
    }
    if reasons.is_empty() {
        NextStep::AllDone
    } else {
        NextStep::Stuck(reasons)
    }
}

/// The end of a run in which nothing that it may take is open.
pub fn all_done(spec: &SpecState, policy: &Policy) -> StopReason {
    let open = spec.rows.iter().filter(|row| is_required_open(row)).count();
    if !policy.only.is_empty() && open > 0 {
        let mut tasks = Vec::new();
        for family in &policy.only {
            tasks.push(match hierarchy::work_box(spec, family) {
                Some(key) => spec.written_name(&key),
                None => family.clone(),
            });
        }
        return StopReason::OnlyDone { tasks, open };
    }
    if spec.gaps.is_empty() {
        return StopReason::AllDone;
    }
    StopReason::Gaps {
        gaps: spec.gaps.clone(),
    }
}

/// Returns why an open box cannot be taken now, or `None` if it can.
///
/// Each reason is a whole sentence that names the line.
pub fn obstacle(spec: &SpecState, row: &Row) -> Option<String> {
    let at = hierarchy::named(row);
    if !row.mark.is_open() {
        return Some(format!(
            "{at} holds `[{}]`, which is not ralph's to change.",
            row.mark.0
        ));
    }
    if let Some(why) = spec
        .family(&row.key.family)
        .and_then(|family| family.blocked.as_ref())
    {
        return Some(format!("{at} is blocked: {why}"));
    }
    for earlier in hierarchy::earlier(spec, row) {
        if !earlier.mark.is_done() && (row.optional || !earlier.optional) {
            return Some(format!("{at} waits for {}.", placed(earlier)));
        }
    }
    let waits_for = match row.key.stage {
        Stage::Implementation => spec
            .rows
            .by_family()
            .first_below(&row.key.family, is_required_open),
        Stage::Final => first_open(spec, |other| other.key != row.key),
        Stage::Gate(_) if row.key.is_wider_gate() => {
            spec.rows.by_family().first_covered(&row.key, |other| {
                is_required_open(other) && other.key != row.key
            })
        }
        _ => None,
    };
    waits_for.map(|open| format!("{at} waits for {}.", placed(open)))
}

/// A box, and where it is.
fn placed(row: &Row) -> String {
    if row.key.has_id() {
        format!("{} (tasks.md:{})", row.key, row.line)
    } else {
        row.row_title()
    }
}

/// The end of a run at a box that a person has to tick.
pub fn approval(spec: &SpecState, key: &TaskKey) -> StopReason {
    let words = spec
        .row(key)
        .map(|row| row.text.clone())
        .unwrap_or_default();
    let hint = format!(
        "if it is so, `ralph accept {} --reason …`; then `ralph run` continues",
        spec.typed_name(key)
    );
    StopReason::Approval {
        task: spec.written_name(key),
        words,
        hint,
    }
}

/// True for a box that must be ticked and is not (an unknown mark is not done).
pub fn is_required_open(row: &Row) -> bool {
    !row.optional && !row.mark.is_done()
}

fn first_open(spec: &SpecState, wanted: impl Fn(&Row) -> bool) -> Option<&Row> {
    spec.rows
        .iter()
        .find(|row| is_required_open(row) && wanted(row))
}

/// Returns the box that a run takes next.
///
/// This is [`choose`], unless a block stops the run (`on_blocked: stop`). All output that names the
/// next box uses it.
pub fn next(spec: &SpecState, policy: &Policy) -> NextStep {
    // A run of named tasks does not stop because another one is blocked.
    let goes_on = policy.go_on_when_blocked || !policy.only.is_empty();
    match blocked(spec) {
        Some(reasons) if !goes_on => NextStep::Stuck(reasons),
        _ => choose(spec, policy),
    }
}

/// Returns the end of a run in which no box can be taken.
pub fn stuck(spec: &SpecState, reasons: Vec<String>) -> StopReason {
    if blocked(spec).is_some() {
        StopReason::Blocked { reasons }
    } else {
        StopReason::Stuck { reasons }
    }
}

/// Returns the next step for a person after a run stopped for this reason.
///
/// It names the first blocked box, or the next box if none is blocked.
pub fn hint(spec: &SpecState, stop: &StopReason) -> String {
    let mut named = blocked_families(spec)
        .next()
        .and_then(|(family, _)| hierarchy::work_box(spec, family));
    if named.is_none() {
        let all = Policy {
            optional: true,
            ..Policy::default()
        };
        if let NextStep::Take(key) = choose(spec, &all) {
            named = Some(key);
        }
    }
    named.map_or(stop.hint().to_owned(), |key| {
        stop.hint().replace("<ID>", &spec.typed_name(&key))
    })
}

/// Returns the reasons of all blocked tasks that are not done.
fn blocked(spec: &SpecState) -> Option<Vec<String>> {
    let reasons: Vec<String> = blocked_families(spec)
        .map(|(name, why)| hierarchy::blocked_by(spec, name, why))
        .collect();
    (!reasons.is_empty()).then_some(reasons)
}

fn blocked_families(spec: &SpecState) -> impl Iterator<Item = (&str, &str)> {
    let blocked = spec
        .families
        .iter()
        .filter_map(|(name, family)| Some((name.as_str(), family.blocked.as_deref()?)));
    blocked.filter(|(name, _)| spec.family_rows(name).any(is_required_open))
}
