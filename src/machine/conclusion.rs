//! The end of an iteration: boxes with their parents, the entry in progress.txt, the counters, what comes next.

use super::boxes::Flips;
use super::effect::{BoxChange, Effect, EntryBody, ProgressEntry};
use super::event::Mode;
use super::facts::{FileChange, full_path};
use super::state::{Findings, Phase, SpecState, State};
use super::{fallback, hierarchy};
use crate::source::text::names;
use crate::task::TaskKey;

/// Files that a note names.
const NAMED: usize = 10;

/// Result of an iteration in addition to its entry.
#[derive(Default)]
pub(super) struct IterationOutcome {
    /// Boxes that it changes.
    pub(super) flips: Flips,
    /// The next phase; `None` starts the next iteration.
    pub(super) next: Option<Phase>,
    /// The hook to call.
    pub(super) notify: Option<&'static str>,
}

/// An entry's body without a gate's report.
pub(super) fn text(headline: impl Into<String>, lines: Vec<String>) -> EntryBody {
    EntryBody::Text {
        headline: headline.into(),
        lines,
    }
}

/// Returns notes on observations that are reported but never judged.
pub(super) fn notes(spec: &SpecState, seen: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    for claim in &seen.claims {
        let (mark, title) = (claim.to.0, spec.title(&claim.key));
        notes.push(format!(
            "The agent wrote `[{mark}]` for {title}; it was restored."
        ));
    }
    if let Some(tasks) = &seen.reworded {
        let of = if tasks.is_empty() {
            String::new()
        } else {
            format!(" of {tasks}")
        };
        notes.push(format!(
            "Text{of} in tasks.md was changed during the attempt and restored, because ralph cannot tell who changed it. Edit it \
             between attempts (`ralph pause`)."
        ));
    }
    let settings = seen
        .observation
        .stage
        .iter()
        .filter(|change| change.is_build_setting());
    let settings = names(settings.map(FileChange::full_path), NAMED);
    if !settings.is_empty() {
        notes.push(format!(
            "Changed how the project is built or its tests run: {settings}."
        ));
    }
    if let Some((check, results)) = &seen.check {
        let paths = results.iter().flat_map(|result| {
            result
                .beside
                .iter()
                .map(|path| full_path(&result.package, path))
        });
        let paths = names(paths, NAMED);
        if !paths.is_empty() {
            let check = check.word();
            notes.push(format!(
                "checks.{check} could read files that no commit holds and that changed during the task: {paths}."
            ));
        }
    }
    let settings = names(&seen.observation.git_settings, NAMED);
    if !settings.is_empty() {
        notes.push(format!(
            "Settings or hooks of git were changed, and restored: {settings}."
        ));
    }
    if let (false, Some((check, _))) = (seen.trespass.rejects(), &seen.check) {
        notes.extend(
            seen.trespass
                .sentences(&format!("checks.{}", check.word()), ".ralph/state"),
        );
    }
    for package in &seen.observation.packages {
        let strays = names(
            package
                .strays
                .iter()
                .map(|path| full_path(&package.name, path)),
            NAMED,
        );
        if !strays.is_empty() {
            notes.push(format!(
                "Untracked files appeared and were left alone: {strays}."
            ));
        }
        let gone = names(
            package
                .gone
                .iter()
                .map(|path| full_path(&package.name, path)),
            NAMED,
        );
        if !gone.is_empty() {
            notes.push(format!(
                "Untracked files are gone, and git does not have them: {gone}."
            ));
        }
        if let Some(lost) = &package.lost {
            let kept = if lost.kept.is_empty() {
                "git does not have them any more".to_owned()
            } else {
                format!("they are kept under {}", lost.kept)
            };
            let lost = names(&lost.names, NAMED);
            notes.push(format!(
                "Branches, tags or stashes of {} lost their commits ({kept}): {lost}.",
                package.name
            ));
        }
        let left = format!(
            "A lock file that a dead process had left in {} was removed",
            package.name
        );
        notes.extend(
            package
                .locks_removed
                .iter()
                .map(|lock| format!("{left}: {lock}.")),
        );
    }
    notes
}

/// Ends an iteration. `moved`: a HEAD or a verdict changed, which is progress even when no box did.
pub(super) fn conclude(
    state: &mut State,
    key: &TaskKey,
    outcome: IterationOutcome,
    mut body: EntryBody,
    moved: bool,
) -> Vec<Effect> {
    if let EntryBody::Text { lines, .. } = &mut body {
        lines.extend(fallback::remark(state, key));
        lines.extend(fallback::describe_rest(state));
    }
    let heads = state.last_heads();
    let flips = outcome.flips.with_parents(state.spec_state_mut(), &heads);
    state.run.iterations += 1;
    state.run.idle = if moved || !flips.is_empty() {
        0
    } else {
        state.run.idle + 1
    };
    let spec = state.spec_state();
    let mut boxes = Vec::new();
    for (key, mark) in &flips {
        boxes.push(BoxChange {
            ticked: mark.is_done(),
            task: spec.written_name(key),
        });
    }
    let name = spec.written_name(key);
    let task = if key.has_id() {
        name.clone()
    } else {
        spec.title(key)
    };
    let entry = ProgressEntry {
        iteration: state.iteration,
        task,
        boxes,
        body,
    };
    let then = outcome
        .next
        .filter(|_| state.mode != Mode::Verb)
        .map(Box::new)
        .unwrap_or_default();
    let why = match &entry.body {
        EntryBody::Text { headline, lines } => format!("{headline} {}", lines.join(" ")),
        EntryBody::Gate { name, .. } => format!("{name} failed."),
    };
    // A hook may send the end of progress.txt, so the entry comes first.
    let notify = outcome.notify.map(|event| Effect::Notify {
        event,
        task: name,
        why,
    });
    state.phase = Phase::Applying {
        flips,
        entry: Some(entry),
        notify,
        then,
    };
    super::owed(state)
}

/// Blocks the family of a box.
///
/// Returns the sentence with which the run stops, or `None` if it continues with other families.
pub(super) fn block(state: &mut State, key: &TaskKey, why: &str) -> Option<String> {
    state.spec_state_mut().family_mut(&key.family).blocked = Some(why.to_owned());
    let stops = !state.policy.go_on_when_blocked;
    stops.then(|| hierarchy::blocked_by(state.spec_state(), &key.family, why))
}

/// Remembers the verdict of a gate or reviewer; true if it is another than before.
pub(super) fn set_verdict(state: &mut State, key: &TaskKey, verdict: &'static str) -> bool {
    let stage = state.spec_state_mut().stage_mut(key);
    stage.verdict.replace(verdict) != Some(verdict)
}
