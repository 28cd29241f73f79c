//! The decisions of a Stop gate: when a hook may keep an agent at work after it wanted to end its turn.
//!
//! Promises: at most three blocks in a row, and only while the files change between two blocks. Anything that is not
//! understood lets the agent end.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Blocks in a row.
pub const MOST_BLOCKS: u32 = 3;

/// The input of a hook. Claude Code and Codex send it as JSON on standard input; other fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookEvent {
    pub session_id: String,
    /// `UserPromptSubmit` begins a turn, `Stop` ends it.
    pub hook_event_name: String,
    /// True if the agent works on because a Stop hook blocked.
    pub stop_hook_active: bool,
    /// The folder of the session.
    pub cwd: String,
}

/// The known facts about the turn of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// HEAD of each package when the turn began.
    pub begin: BTreeMap<String, String>,
    /// Blocks in a row.
    pub blocks: u32,
    /// The id of all files when the gate last ran.
    pub files: String,
    /// The verdict of that run, for people; empty if it did not run yet.
    pub verdict: String,
}

/// The next step when an agent wants to end its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopStep {
    /// Run the gates.
    Judge,
    /// Let the agent end, with this footer for people.
    LetGo(String),
}

/// Decides before a gate runs: `record` is what an earlier call stored, `files` the id of the files now.
pub fn next_step(record: Option<&TurnRecord>, is_active: bool, files: &str) -> StopStep {
    match record {
        // The count of blocks was lost. Without it the session might never end.
        None if is_active => {
            StopStep::LetGo("ralph gate: no record of this turn, so it was not judged.".to_owned())
        }
        Some(record) if is_active && record.files == files => {
            StopStep::LetGo(format!("{}\nNo file changed since then.", record.verdict))
        }
        _ => StopStep::Judge,
    }
}

/// Returns true if a FAIL blocks, after so many blocks in a row.
pub fn may_block(blocks: u32) -> bool {
    blocks < MOST_BLOCKS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(blocks: u32) -> TurnRecord {
        TurnRecord {
            blocks,
            files: "a".to_owned(),
            verdict: "LINT FAIL".to_owned(),
            ..TurnRecord::default()
        }
    }

    #[test]
    fn an_agent_that_wants_to_end_is_judged_once_for_each_state_of_its_files() {
        assert_eq!(next_step(None, false, "a"), StopStep::Judge);
        assert_eq!(next_step(Some(&record(0)), false, "a"), StopStep::Judge);
        assert_eq!(next_step(Some(&record(1)), true, "b"), StopStep::Judge);
        let same = next_step(Some(&record(1)), true, "a");
        assert!(
            matches!(&same, StopStep::LetGo(footer) if footer.starts_with("LINT FAIL\nNo file")),
            "{same:?}"
        );
        assert!(matches!(next_step(None, true, "a"), StopStep::LetGo(_)));
    }

    #[test]
    fn three_blocks_are_the_most() {
        let blocks: Vec<bool> = (0..5).map(may_block).collect();
        assert_eq!(blocks, [true, true, true, false, false]);
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_let_go() {
        let event: HookEvent =
            serde_json::from_str(r#"{"session_id":"s","stop_hook_active":true,"x":[1]}"#).unwrap();
        assert!(event.stop_hook_active && event.hook_event_name.is_empty());
    }
}
