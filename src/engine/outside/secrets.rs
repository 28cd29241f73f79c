//! Keeps secrets out of texts from outside before they become events.

use super::transcript::read_tail;
use crate::agent::MAX_WHY;
use crate::machine::facts::{Claim, Observation, ProcessEnd};
use crate::mutation::{GateReport, Verdict};
use crate::source::text::block;
use crate::source::{RepoPath, Secrets};
use std::path::Path;

/// Separator of texts that are searched together.
///
/// No text that is fit for display holds it.
const BETWEEN: &str = "\u{1}";

impl Secrets {
    /// The last lines of a log in one line, without secrets.
    pub(super) fn last_lines(&self, log: &Path, most: usize) -> String {
        let last = block(&String::from_utf8_lossy(&read_tail(log, 0)));
        let lines: Vec<&str> = last.lines().rev().take(most).collect();
        let tail = lines.into_iter().rev().collect::<Vec<_>>().join(" | ");
        self.redact(&tail)
    }

    pub(super) fn of_end(&self, mut end: ProcessEnd) -> ProcessEnd {
        if let ProcessEnd::NotStarted { why }
        | ProcessEnd::Unsupervised { why }
        | ProcessEnd::Limited { why, .. }
        | ProcessEnd::Outage { why }
        | ProcessEnd::NotSetUp { why, .. }
        | ProcessEnd::Refused { why } = &mut end
        {
            *why = self.redact(why);
        }
        end
    }

    pub(super) fn of_claim(&self, mut claim: Claim) -> Claim {
        match &mut claim {
            Claim::Pass => {}
            Claim::Fail { why }
            | Claim::NothingToDo { why }
            | Claim::Blocked { why }
            | Claim::Unclear { why } => *why = self.redact(why).chars().take(MAX_WHY).collect(),
        }
        claim
    }

    /// Redacts an observation. Git is read again by the names of files and branches, so a name with a secret makes its
    /// package a breach, which is restored. Everything else is text for people.
    pub(super) fn of_observation(&self, mut seen: Observation) -> Observation {
        for package in &mut seen.packages {
            let files = package.changes.iter().map(|change| &change.path);
            let files = files.chain(package.dirt.iter().map(|dirt| &dirt.path));
            let branch = seen
                .after
                .package(&package.name)
                .and_then(|after| after.branch.as_deref());
            let mut names = files
                .map(RepoPath::to_text)
                .chain(branch.map(ToOwned::to_owned));
            let secret = names.find_map(|name| self.in_name(&name).map(ToOwned::to_owned));
            package.secret = secret.unwrap_or_default();
            for path in package.strays.iter_mut().chain(&mut package.gone) {
                *path = RepoPath::from_bytes(self.redact(&path.to_text()).as_bytes());
            }
            let lost = package.lost.iter_mut().flat_map(|lost| &mut lost.names);
            for text in lost.chain(&mut package.locks_removed) {
                *text = self.redact(text);
            }
        }
        for text in &mut seen.inputs {
            *text = self.redact(text);
        }
        if seen
            .packages
            .iter()
            .any(|package| !package.secret.is_empty())
        {
            return self.without_names(seen);
        }
        seen
    }

    /// Takes secrets out of each name of an observation whose package is restored.
    fn without_names(&self, mut seen: Observation) -> Observation {
        let hide = |path: &mut RepoPath| {
            *path = RepoPath::from_bytes(self.redact_name(&path.to_text()).as_bytes());
        };
        let packages = seen.packages.iter_mut();
        for package in packages {
            package
                .changes
                .iter_mut()
                .for_each(|change| hide(&mut change.path));
            package
                .dirt
                .iter_mut()
                .for_each(|dirt| hide(&mut dirt.path));
            package.protected.iter_mut().for_each(hide);
        }
        for package in &mut seen.after.packages {
            package.branch = package
                .branch
                .as_ref()
                .map(|branch| self.redact_name(branch));
            package
                .dirt
                .iter_mut()
                .chain(&mut package.untracked)
                .for_each(|dirt| hide(&mut dirt.path));
        }
        let changes = seen.family.iter_mut().chain(&mut seen.stage);
        changes.for_each(|change| hide(&mut change.path));
        let lost = seen
            .lost_production
            .iter_mut()
            .chain(&mut seen.lost_frozen)
            .chain(&mut seen.lost_reviewed);
        lost.for_each(|lost| hide(&mut lost.path));
        seen
    }

    pub(super) fn of_report(&self, mut report: GateReport) -> GateReport {
        match &mut report.verdict {
            Verdict::Pass => {}
            // A private key goes over several lines.
            Verdict::Fail { reasons } if reasons.is_empty() => {}
            Verdict::Fail { reasons } => {
                let whole = self.redact(&reasons.join(BETWEEN));
                *reasons = whole.split(BETWEEN).map(ToOwned::to_owned).collect();
            }
            Verdict::Skip { why } => *why = self.redact(why),
            Verdict::Error { why, hint, .. } => {
                *why = self.redact(why);
                *hint = self.redact(hint);
            }
        }
        let left_out = report.left_out.iter_mut().map(|left| &mut left.why);
        let survivors = report.survivors.iter_mut();
        let survivors =
            survivors.flat_map(|known| [&mut known.source, &mut known.mutant.description]);
        let phases = report.trace.phases.iter_mut().map(|phase| &mut phase.note);
        let tiers = report.trace.tiers.iter_mut().map(|tier| &mut tier.note);
        for text in report
            .remarks
            .iter_mut()
            .chain(left_out)
            .chain(survivors)
            .chain(phases)
            .chain(tiers)
        {
            *text = self.redact(text);
        }
        report
    }
}
