//! An agent's claims about its own attempt, and the check that it did anything.

use super::Evidence;
use crate::machine::facts::Claim;
use crate::source::text::line;

/// Characters of an agent's words in a reason.
const MAX_SAID: usize = 2_000;

/// Returns the agent's own reason why it cannot do its work.
pub(super) fn says_blocked(evidence: &Evidence<'_>) -> Option<String> {
    let Some(Claim::Blocked { why }) = &evidence.attempt.claim else {
        return None;
    };
    let why = line(why, MAX_SAID);
    Some(if why.is_empty() {
        "the agent says that it cannot continue, and gives no reason.".to_owned()
    } else {
        format!("the agent says: {why}")
    })
}

pub(super) fn says_nothing_to_do<'a>(evidence: &Evidence<'a>) -> Option<&'a str> {
    match &evidence.attempt.claim {
        Some(Claim::NothingToDo { why })
            if evidence.seen.observation.stage.is_empty() && evidence.left.is_empty() =>
        {
            Some(why)
        }
        _ => None,
    }
}

/// Returns the defect of the verdict line of an agent that did nothing else.
pub(super) fn unclear(evidence: &Evidence<'_>) -> Option<String> {
    let Some(Claim::Unclear { why }) = &evidence.attempt.claim else {
        return None;
    };
    Some(format!("Its verdict does not count: {why}."))
}

/// Returns a rejection if the agent used no tool and no edit is known.
///
/// Codex reports an edit that failed on standard error alone.
pub(super) fn only_talked(evidence: &Evidence<'_>) -> Option<String> {
    let words = "The agent only talked: its transcript holds no use of a tool.";
    (evidence.attempt.only_talked && evidence.seen.observation.edits.is_empty())
        .then(|| words.to_owned())
}
