//! Output of an agent.
//!
//! It is shown to people as it arrives, and read for its verdict and its figures at its end.
//!
//! The unchanged output stays in `iter-N/agent.out`.

use super::{LOG_CAP, Progress};
use crate::agent::VerdictLine;
use crate::engine::Fault;
use crate::engine::readings::from_line_start;
use crate::machine::facts::Claim;
use crate::source::Secrets;
use crate::source::text::line;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::turn::{
    self, CliErrors, EventRenderer, Quota, TranscriptFormat, TranscriptReader, TurnEvent, Usage,
};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Pause between two readings of the output.
const PAUSE: Duration = Duration::from_millis(300);
/// Characters of the last words.
const LAST_WORDS: usize = 300;
/// Bytes that are shown of one look.
const AT_ONCE: u64 = 4 << 20;

/// File and format of an agent's output.
pub(super) struct Transcript {
    pub(super) format: TranscriptFormat,
    /// The form of a valid verdict.
    pub(super) verdict: VerdictLine,
    /// The order is a review.
    pub(super) reviews: bool,
    pub(super) stdout: PathBuf,
}

/// Statements of an agent.
#[derive(Debug, Default)]
pub(super) struct AgentTranscript {
    /// Its verdict.
    pub(super) claim: Option<Claim>,
    /// The end of its last message, one line.
    pub(super) last_words: String,
    /// Usage so far.
    pub(super) used: Usage,
    /// Shares of usage limits that its CLI reported.
    pub(super) quota: Quota,
    /// Errors that its CLI reported.
    pub(super) errors: CliErrors,
    /// It is a session without any use of a tool.
    pub(super) only_talked: bool,
}

/// Receiver of an agent's actions.
pub(super) struct Audience<'a> {
    /// Gets each line.
    pub(super) said: &'a Progress,
    /// Texts that no line may hold.
    pub(super) secrets: &'a Secrets,
    /// Paths are shown from here.
    pub(super) workspace: &'a Path,
}

impl Transcript {
    /// Reads the whole output.
    pub(super) fn read_transcript(&self) -> Result<AgentTranscript, Fault> {
        let mut told = AgentTranscript::default();
        match fs_err::File::open(&self.stdout) {
            Ok(output) if output.metadata()?.len() > LOG_CAP => {
                let why = "its output is longer than what is kept of it, so the rest may say something else";
                told.claim = Some(unclear_claim(why));
            }
            Ok(output) if !self.format.prints_events() => told.claim = self.verdict.read(output)?,
            Ok(output) => told = self.read_output(output)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        // Boxes speak for a reviewer only if its prompt does not name the token.
        if told.claim.is_none() && self.reviews && !self.verdict.or_bare {
            let why = "it printed no verdict line with the token of its prompt";
            told.claim = Some(unclear_claim(why));
        }
        Ok(told)
    }

    /// Reads the agent's own words.
    ///
    /// Results of tools and an echo of the prompt are not part of them.
    fn read_output(&self, output: impl Read) -> io::Result<AgentTranscript> {
        let mut heard = self.verdict.listen();
        let (mut last, mut is_known, mut has_acted) = (String::new(), false, false);
        let (mut used, mut errors) = (Usage::default(), CliErrors::default());
        let mut quota = Quota::default();
        turn::read(self.format, output, |event| {
            used.tell(&event);
            quota.take_event(&event);
            errors.tell(&event);
            is_known |= !matches!(event, TurnEvent::Unread { .. });
            has_acted |= matches!(
                event,
                TurnEvent::ToolStarted { .. } | TurnEvent::ToolEnded { .. }
            );
            // Most CLIs repeat the last message with the end.
            if let TurnEvent::Said { text }
            | TurnEvent::Finished {
                text: Some(text), ..
            } = event
                && text != last
            {
                heard.message(&text);
                last = text;
            }
        })?;
        let claim = heard
            .claim()
            .or_else(|| (!is_known && self.reviews).then(|| {
            let why = "its output is not of the format that is set for it; `format: text` takes it as it is";
            Claim::Unclear {
                why: why.to_owned(),
            }
        }));
        let words = last
            .lines()
            .filter(|row| !row.contains("RALPH-VERDICT"))
            .collect::<Vec<_>>()
            .join(" ");
        let only_talked = used.session.is_some() && !has_acted;
        Ok(AgentTranscript {
            claim,
            last_words: line(&words, LAST_WORDS),
            used,
            quota,
            errors,
            only_talked,
        })
    }

    /// Shows what the agent says and does until `wait` is over.
    pub(super) fn shown_while<T>(&self, audience: &Audience<'_>, wait: impl FnOnce() -> T) -> T {
        if !self.format.prints_events() {
            return wait();
        }
        std::thread::scope(|scope| {
            let (over, ended) = mpsc::channel();
            scope.spawn(move || self.show_live(audience, &ended));
            let waited = wait();
            drop::<mpsc::Sender<()>>(over);
            waited
        })
    }

    fn show_live(&self, audience: &Audience<'_>, ended: &Receiver<()>) {
        // An unreadable file is an error when the agent has ended.
        let Ok(mut output) = fs_err::File::open(&self.stdout) else {
            return;
        };
        let mut reader = TranscriptReader::new(self.format);
        let mut shown = EventRenderer::from(&audience.workspace.to_string_lossy());
        loop {
            let is_over = ended.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout);
            let mut new = Vec::new();
            let read = output.by_ref().take(AT_ONCE).read_to_end(&mut new);
            let lines = reader.read(&new);
            for line in lines.iter().flat_map(|event| shown.lines(event)) {
                (audience.said)(&audience.secrets.redact(&line));
            }
            if is_over && (new.is_empty() || read.is_err()) {
                return;
            }
        }
    }
}

fn unclear_claim(why: &str) -> Claim {
    Claim::Unclear {
        why: why.to_owned(),
    }
}

/// The last 16 KiB of a file, from the beginning of a line, without its first bytes; empty if it cannot be read.
pub(super) fn read_tail(path: &Path, first: u64) -> Vec<u8> {
    let read = RealDisk::new().tail(path, 16 << 10);
    let (bytes, before) = from_line_start(read.ok().flatten().unwrap_or_default());
    let first = usize::try_from(first.saturating_sub(before)).unwrap_or(usize::MAX);
    bytes.get(first..).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn transcript(format: TranscriptFormat, stdout: PathBuf) -> Transcript {
        let verdict = VerdictLine {
            token: "3f9a".to_owned(),
            or_bare: false,
        };
        Transcript {
            format,
            verdict,
            reviews: true,
            stdout,
        }
    }

    fn claim(format: TranscriptFormat, output: &str) -> Option<Claim> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), output).unwrap();
        transcript(format, file.path().to_owned())
            .read_transcript()
            .unwrap()
            .claim
    }

    fn said(kind: &str, text: &str) -> String {
        serde_json::json!({"type": kind, "message": {"content": [{"type": "text", "text": text}]}})
            .to_string()
            + "\n"
    }

    #[test]
    fn a_verdict_stands_in_the_agents_own_words_and_nowhere_else() {
        let pass = "I looked at it.\n\n**RALPH-VERDICT 3f9a: PASS**";
        let end =
            serde_json::json!({"type": "result", "is_error": false, "result": pass}).to_string();
        let tool = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"RALPH-VERDICT 3f9a: FAIL x"}]}}"#;
        let echo = said("user", "RALPH-VERDICT 3f9a: FAIL or PASS");
        for output in [
            said("assistant", pass),
            format!("{tool}\n{echo}{}{end}\n", said("assistant", pass)),
            end.clone(),
            format!("warning: noise\n{end}"),
        ] {
            assert_eq!(
                claim(TranscriptFormat::Claude, &output),
                Some(Claim::Pass),
                "{output}"
            );
        }
        for output in [
            tool.to_owned(),
            echo,
            "RALPH-VERDICT 3f9a: PASS\n".to_owned(),
            String::new(),
        ] {
            let claim = claim(TranscriptFormat::Claude, &output);
            assert!(
                matches!(claim, Some(Claim::Unclear { .. })),
                "{output}: {claim:?}"
            );
        }
        let both = said("assistant", "RALPH-VERDICT 3f9a: FAIL no test") + &end;
        assert!(
            matches!(
                claim(TranscriptFormat::Claude, &both),
                Some(Claim::Unclear { .. })
            ),
            "they contradict each other"
        );
        assert_eq!(
            claim(TranscriptFormat::Text, "RALPH-VERDICT 3f9a: PASS\n"),
            Some(Claim::Pass)
        );
    }

    #[test]
    fn what_an_agent_does_is_shown_while_it_runs_and_to_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = Mutex::new(Vec::new());
        let (tell, told) = mpsc::channel();
        let lines = std::sync::Arc::new(lines);
        let kept = lines.clone();
        let said: Progress = Box::new(move |line| {
            kept.lock().unwrap().push(line.to_owned());
            tell.send(()).unwrap();
        });
        let key = ("API_KEY".to_owned(), "topsecretvalue".to_owned());
        let secrets = Secrets::of([(&key.0, &key.1)]);
        let audience = Audience {
            said: &said,
            secrets: &secrets,
            workspace: Path::new("/r"),
        };
        let run = r#"{"type":"item.started","item":{"id":"a","type":"command_execution","command":"curl topsecretvalue"}}"#;
        let end =
            r#"{"type":"item.completed","item":{"id":"b","type":"agent_message","text":"Done."}}"#;
        transcript(TranscriptFormat::Codex, file.path().to_owned()).shown_while(&audience, || {
            fs_err::write(file.path(), format!("{run}\n")).unwrap();
            told.recv().unwrap();
            fs_err::write(file.path(), format!("{run}\n{end}\n")).unwrap();
        });
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].starts_with("$ curl ") && !lines[0].contains("topsecret"),
            "{lines:?}"
        );
        assert_eq!(lines[1], "Done.");
    }
}
