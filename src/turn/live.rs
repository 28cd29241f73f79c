//! Follows a transcript while it is printed: running tools, usage, and progress of the agent and its model.
//!
//! Promises: a poll that waits is no loop, nor is a call that changed a file or had a different result than the one
//! before. Memory is bounded for any output.

use super::event::{Span, TranscriptFormat, TurnEvent};
use super::reader::TranscriptReader;
use super::usage::Usage;
use crate::source::text::line;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

/// Number of repetitions that count as a loop: equal calls with equal results, or answers without a call.
///
/// CLIs that detect loops themselves stop at 5. Observed loops had hundreds of rounds.
const ROUNDS: u32 = 30;
/// Maximum number of calls that alternate in a loop.
const TURNS: usize = 3;
/// A call that takes this long is waiting for something.
const WAITS: Duration = Duration::from_secs(2);
/// Maximum number of open calls to track.
const CALLS: usize = 1_000;

/// The state of a transcript up to now.
#[derive(Debug, Default)]
pub struct Live {
    reader: TranscriptReader,
    usage: Usage,
    /// The calls that have begun: the tool, and a hash of its input.
    calls: BTreeMap<String, (String, DefaultHasher)>,
    /// Time of the last event.
    told: Duration,
    /// The last calls, newest first: a hash of input and output, and the tool.
    last: [(Option<u64>, String); TURNS],
    /// For each distance, the number of successive calls equal to the call that many positions before.
    repeated: [u32; TURNS],
    /// Answers of the model since the last tool call, and since the last words.
    answers: u32,
    empty: u32,
    acts: u64,
    /// Time of the transcript's end, if no work followed.
    finished: Option<Duration>,
}

impl Live {
    /// Begins a transcript.
    pub fn new(format: TranscriptFormat) -> Self {
        Self {
            reader: TranscriptReader::new(format),
            ..Self::default()
        }
    }

    /// Reads the bytes that arrived at `now`, counted from any fixed moment.
    pub fn read(&mut self, bytes: &[u8], now: Duration) {
        for event in self.reader.read(bytes) {
            self.usage.tell(&event);
            self.tell(&event, now);
            self.told = now;
        }
    }

    /// True if a tool was started and has not ended.
    pub fn is_tool_running(&self) -> bool {
        self.reader.is_tool_running()
    }

    /// Returns the usage so far.
    pub fn used(&self) -> &Usage {
        &self.usage
    }

    /// Returns the time of the transcript's end, counted as for [`Live::read`]; `None` before it, and if work
    /// followed.
    pub fn finished(&self) -> Option<Duration> {
        self.finished
    }

    /// Returns the number of messages and tool uses of the agent.
    pub fn acts(&self) -> u64 {
        self.acts
    }

    /// Returns a phrase if its model gives only empty answers; `None` otherwise.
    pub fn unanswered(&self) -> Option<String> {
        (self.empty >= ROUNDS).then(|| format!("{ROUNDS} answers in a row were empty"))
    }

    /// Returns a phrase about the action that the agent repeats; `None` if it makes progress.
    pub fn loops(&self) -> Option<String> {
        let calls = (1..)
            .zip(self.repeated)
            .find(|(turns, repeated)| repeated + turns >= ROUNDS * turns);
        calls
            .map(|(turns, _)| {
                let tools: Vec<&str> = self
                    .last
                    .iter()
                    .take(turns as usize)
                    .rev()
                    .map(|(_, tool)| tool.as_str())
                    .collect();
                let how = if turns == 1 { "in a row" } else { "in turn" };
                format!(
                    "called {} {ROUNDS} times {how} with the same input and result",
                    tools.join(", ")
                )
            })
            .or_else(|| {
                (self.answers >= ROUNDS)
                    .then(|| format!("asked its model {ROUNDS} times in a row and used no tool"))
            })
    }

    fn tell(&mut self, event: &TurnEvent, now: Duration) {
        if event.is_work() {
            self.acts += 1;
            self.empty = 0;
            self.finished = None;
        }
        match event {
            TurnEvent::Finished { .. } => self.finished = Some(now),
            TurnEvent::ToolStarted { call, tool, input } if self.calls.len() < CALLS => {
                let mut hash = DefaultHasher::new();
                (tool, without_id(input)).hash(&mut hash);
                self.calls.insert(call.clone(), (tool.clone(), hash));
            }
            TurnEvent::ToolEnded {
                call,
                outcome,
                output,
                changed,
            } => {
                self.answers = 0;
                let waited = now.saturating_sub(self.told) >= WAITS;
                let known = self
                    .calls
                    .remove(call)
                    .filter(|_| changed.is_empty() && !waited);
                let (same, tool) = known.map_or((None, String::new()), |(tool, mut hash)| {
                    (*outcome as u8, output).hash(&mut hash);
                    (Some(hash.finish()), line(&tool, 60))
                });
                for (repeated, (last, _)) in self.repeated.iter_mut().zip(&self.last) {
                    *repeated = if same.is_some() && same == *last {
                        *repeated + 1
                    } else {
                        0
                    };
                }
                self.last.rotate_right(1);
                self.last[0] = (same, tool);
            }
            TurnEvent::Used {
                span: Span::Step, ..
            } => {
                self.answers += 1;
                self.empty += 1;
            }
            _ => {}
        }
    }
}

/// Removes the id: Codex numbers its calls in their input.
fn without_id(input: &Value) -> String {
    let mut input = input.clone();
    input.as_object_mut().map(|keys| keys.remove("id"));
    input.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn call(at: u32, input: &str, output: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"Again {at}.\"}},\
             {{\"type\":\"tool_use\",\"id\":\"c{at}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{input}\"}}}}]}}}}\n\
             {{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"c{at}\",\"content\":\"{output}\"}}]}}}}\n"
        )
    }

    /// Returns the phrase about `calls` calls, each of which takes this long.
    fn said(calls: u32, takes: Duration, one: impl Fn(u32) -> String) -> Option<String> {
        let mut live = Live::new(TranscriptFormat::Claude);
        let mut now = Duration::ZERO;
        for at in 0..calls {
            let lines = one(at);
            let (start, end) = lines.split_at(lines.find('\n').unwrap() + 1);
            live.read(start.as_bytes(), now + SECOND * 5);
            now += SECOND * 5 + takes;
            live.read(end.as_bytes(), now);
        }
        live.loops()
    }

    #[test]
    fn the_same_call_again_and_again_is_a_loop_and_a_poll_is_none() {
        let same = |at| call(at, "make", "no rule");
        let quick = Duration::from_millis(10);
        assert_eq!(said(ROUNDS - 1, quick, same), None);
        let words = "called Bash 30 times in a row with the same input and result";
        assert_eq!(said(ROUNDS, quick, same).as_deref(), Some(words));
        assert_eq!(said(500, WAITS, same), None, "it waits");
        assert_eq!(
            said(500, quick, |at| call(at, "make", &at.to_string())),
            None,
            "its result is new"
        );
        assert_eq!(
            said(500, quick, |at| call(at, &at.to_string(), "no rule")),
            None,
            "its input is new"
        );
        assert_eq!(
            said(500, quick, |at| call(at, &(at / 29).to_string(), "no rule")),
            None
        );
    }

    #[test]
    fn calls_that_take_turns_are_a_loop_unless_one_of_them_does_something_new() {
        let quick = Duration::from_millis(10);
        let turns = |turns: u32| move |at: u32| call(at, &(at % turns).to_string(), "no rule");
        assert_eq!(said(2 * ROUNDS - 1, quick, turns(2)), None);
        let two = "called Bash, Bash 30 times in turn with the same input and result";
        assert_eq!(said(2 * ROUNDS, quick, turns(2)).as_deref(), Some(two));
        assert_eq!(said(3 * ROUNDS - 1, quick, turns(3)), None);
        assert!(said(3 * ROUNDS, quick, turns(3)).is_some());
        assert_eq!(said(500, quick, turns(4)), None);
        // An edit of its own content, then the same test with the same result.
        assert_eq!(
            said(500, quick, |at| call(
                at,
                &(at % 2 * at).to_string(),
                "no rule"
            )),
            None
        );
        // The same edit and test, but the test has a new result.
        assert_eq!(
            said(500, quick, |at| call(
                at,
                &(at % 2).to_string(),
                &(at / 2).to_string()
            )),
            None
        );
    }

    #[test]
    fn answers_without_a_tool_are_a_loop() {
        let step = r#"{"type":"step_finish","part":{"reason":"unknown","cost":0.5,"tokens":{"total":10}}}"#;
        let tool = r#"{"type":"tool_use","part":{"callID":"a","tool":"bash","state":{"status":"completed","input":{},"output":"x"}}}"#;
        let mut live = Live::new(TranscriptFormat::Opencode);
        let mut told = |line: &str| {
            live.read(format!("{line}\n").as_bytes(), Duration::ZERO);
            (live.loops(), live.used().tokens)
        };
        (1..ROUNDS).for_each(|_| _ = told(step));
        assert_eq!(told(tool), (None, Some(290)));
        (1..ROUNDS).for_each(|_| _ = told(step));
        let (loops, used) = told(step);
        assert_eq!(
            loops.as_deref(),
            Some("asked its model 30 times in a row and used no tool")
        );
        assert_eq!(used, Some(590));
    }

    #[test]
    fn answers_without_a_word_are_the_models_trouble_and_not_the_agents() {
        let step = r#"{"type":"step_finish","part":{"reason":"unknown","tokens":{"total":10}}}"#;
        let said = r#"{"type":"text","part":{"text":"I think."}}"#;
        let told = |lines: &[&str]| {
            let mut live = Live::new(TranscriptFormat::Opencode);
            live.read((lines.join("\n") + "\n").as_bytes(), Duration::ZERO);
            (live.unanswered(), live.loops().is_some(), live.acts())
        };
        let steps = |count: u32| vec![step; count as usize];
        assert_eq!(told(&steps(ROUNDS - 1)), (None, false, 0));
        assert_eq!(
            told(&steps(ROUNDS)).0.as_deref(),
            Some("30 answers in a row were empty")
        );
        assert_eq!(
            told(&[&steps(ROUNDS - 1)[..], &[said, step]].concat()),
            (None, true, 1)
        );
    }

    #[test]
    fn the_last_word_is_the_end_unless_work_follows() {
        let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;
        let mut live = Live::new(TranscriptFormat::Claude);
        live.read(call(1, "a", "b").as_bytes(), SECOND);
        assert_eq!(live.finished(), None);
        live.read(format!("{result}\n").as_bytes(), SECOND * 2);
        assert_eq!(live.finished(), Some(SECOND * 2));
        live.read(
            b"{\"type\":\"system\",\"subtype\":\"status\"}\n",
            SECOND * 3,
        );
        assert_eq!(live.finished(), Some(SECOND * 2));
        live.read(call(2, "a", "b").as_bytes(), SECOND * 4);
        assert_eq!(live.finished(), None);
    }

    #[test]
    fn codex_calls_differ_in_more_than_their_number_and_a_changed_file_is_something_new() {
        let lines = |kind: &str, rest: &str| {
            let mut live = Live::new(TranscriptFormat::Codex);
            for at in 0..100 {
                let item = |status| {
                    format!(
                        "{{\"id\":\"item_{at}\",\"type\":\"{kind}\",{rest},\"status\":\"{status}\"}}"
                    )
                };
                let line = format!(
                    "{{\"type\":\"item.started\",\"item\":{}}}\n{{\"type\":\"item.completed\",\"item\":{}}}\n",
                    item("in_progress"),
                    item("completed")
                );
                live.read(line.as_bytes(), Duration::ZERO);
            }
            live.loops().is_some()
        };
        assert!(lines(
            "command_execution",
            r#""command":"ls","aggregated_output":"a","exit_code":0"#
        ));
        assert!(!lines(
            "file_change",
            r#""changes":[{"path":"a","kind":"update"}]"#
        ));
    }
}
