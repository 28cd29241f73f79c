//! Where texts from outside become facts: what is secret stays out of them.

use crate::agent::MAX_WHY;
use crate::machine::facts::{Claim, ProcessEnd};
use crate::mutation::{GateReport, Verdict};
use crate::source::Secrets;

/// Stands between lines that are searched together; no text that was made fit to be shown holds it.
const BETWEEN: &str = "\u{1}";

impl Secrets {
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
        let survivors = survivors.flat_map(|known| [&mut known.source, &mut known.mutant.description]);
        let phases = report.trace.phases.iter_mut().map(|phase| &mut phase.note);
        let tiers = report.trace.tiers.iter_mut().map(|tier| &mut tier.note);
        for text in report.remarks.iter_mut().chain(left_out).chain(survivors).chain(phases).chain(tiers) {
            *text = self.redact(text);
        }
        report
    }
}
