//! What the verifier found of an attempt's edits, beside its evidence: an attempt of work that over-claims is not
//! accepted, and the next one is told why.

use super::{Decision, Evidence, must_not_change, retry};
use crate::turn::verify::footer;

/// The decision with the edits weighed in. Reviewers and the validator are to change nothing: no edit rejects them. Who
/// says BLOCKED claims nothing.
pub(super) fn weighed(decision: Decision, evidence: &Evidence<'_>) -> Decision {
    let edits = &evidence.seen.observation.edits;
    if edits.is_empty() || must_not_change(&evidence.attempt.key.stage) {
        return decision;
    }
    let blocks = evidence.context.edits_block && edits.iter().any(|finding| finding.verdict.blocks());
    match decision {
        Decision::Retry { mut reasons, frozen_only } => {
            reasons.extend(footer(edits));
            Decision::Retry { reasons, frozen_only: frozen_only && !blocks }
        }
        Decision::Accept | Decision::NeedsCheck { .. } if blocks => retry(footer(edits)),
        decision => decision,
    }
}
