//! The end of what an agent, a check or a gate printed: bounded, without escape sequences and control characters.

use crate::report::width::steady_text;
use crate::source::text::line;
use crate::sys::Disk;
use crate::sys::log;
use crate::sys::walk::walk;
use crate::turn::{EventRenderer, TranscriptFormat, TranscriptReader, guess};
use anstream::adapter::strip_str;
use std::path::Path;

/// Bytes that are read of a log.
const BYTES: u64 = 256 << 10;
/// Lines that are kept, and characters of each.
const LINES: usize = 200;
const CHARS: usize = 1_000;
/// Bounds of the search: the folder of an iteration may hold reports of thousands of files.
const ENTRIES: usize = 500;
const DEPTH: usize = 3;

/// The end of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentLog {
    /// Its path in the iteration's folder; empty without a log.
    pub(super) name: String,
    /// Its last lines.
    pub(super) lines: Vec<String>,
}

/// The log in an iteration's folder that was written to last; paths in a transcript are shown from `workspace`.
pub(super) fn newest_log(folder: &Path, workspace: &Path, disk: &dyn Disk) -> AgentLog {
    let logs = walk(folder, DEPTH, ENTRIES, |_| true)
        .flatten()
        .filter_map(|entry| {
            let metadata = entry
                .metadata()
                .ok()
                .filter(|metadata| metadata.is_file() && metadata.len() > 0)?;
            Some((metadata.modified().ok()?, entry.into_path())).filter(|(_, path)| is_log(path))
        });
    let Some((_, path)) = logs.max() else {
        return AgentLog::default();
    };
    let Ok(Some((bytes, before))) = disk.tail(&path, BYTES) else {
        return AgentLog::default();
    };
    let name = path
        .strip_prefix(folder)
        .unwrap_or(&path)
        .display()
        .to_string();
    AgentLog {
        name: line(&name, 100),
        lines: last_lines(&bytes, before > 0, workspace),
    }
}

fn is_log(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    // ralph writes its own log all the time, which would hide the output of agents and gates.
    if name == log::NAME {
        return false;
    }
    matches!(name, "agent.out" | "agent.err")
        || path.extension().is_some_and(|ending| ending == "log")
}

/// The last lines, fit to be shown; of a transcript what a person wants to know. A first line whose beginning was not
/// read is left out.
fn last_lines(bytes: &[u8], is_cut: bool, workspace: &Path) -> Vec<String> {
    let begins = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(bytes.len(), |end| end + 1);
    let bytes = &bytes[if is_cut { begins } else { 0 }..];
    let format = guess(bytes);
    let mut all = Vec::new();
    if format == TranscriptFormat::Text {
        all.extend(String::from_utf8_lossy(bytes).lines().map(str::to_owned));
    } else {
        let mut reader = TranscriptReader::new(format);
        let mut person = EventRenderer::from(&workspace.to_string_lossy());
        // Text after the last line end is still being written.
        all.extend(
            reader
                .read(bytes)
                .iter()
                .flat_map(|event| person.lines(event)),
        );
    }
    let last = all
        .get(all.len().saturating_sub(LINES)..)
        .unwrap_or_default();
    last.iter().map(|row| display_row(row)).collect()
}

/// Returns one line of a log for the screen.
///
/// Escape sequences end at the line end, so that none can hide the text after it. A carriage return
/// overwrites the text before it, as progress bars do.
fn display_row(row: &str) -> String {
    let painted = row
        .trim_end_matches('\r')
        .rsplit('\r')
        .next()
        .unwrap_or_default();
    steady_text(&line(&strip_str(painted).to_string(), CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::disk::RealDisk;
    use proptest::prelude::*;
    use std::time::SystemTime;

    #[test]
    fn escape_sequences_and_control_characters_go_and_progress_bars_keep_their_last_word() {
        let bytes = b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x08y\r\n 10%\r 90%\r100%\n\x1b[2J\x1b[Hhome\n\xff\xfe end\ttab\n";
        assert_eq!(
            last_lines(bytes, false, Path::new("/r")),
            ["red xy", "100%", "home", "\u{fffd}\u{fffd} end tab"]
        );
        assert_eq!(
            last_lines(b"\x1b]0;never ended\nseen\n", false, Path::new("/r")),
            ["", "seen"],
            "nothing hides what follows"
        );
        assert_eq!(
            last_lines(b"half a line\nwhole\n", true, Path::new("/r")),
            ["whole"]
        );
        assert_eq!(last_lines(b"", false, Path::new("/r")), [""; 0]);
        let many = "x\n".repeat(1_000);
        assert_eq!(
            last_lines(many.as_bytes(), false, Path::new("/r")).len(),
            LINES
        );
        assert_eq!(
            last_lines("y".repeat(50_000).as_bytes(), false, Path::new("/r"))[0]
                .chars()
                .count(),
            CHARS
        );
    }

    #[test]
    fn a_transcript_reads_like_a_log() {
        let transcript =
            include_bytes!("../../../tests/fixtures/transcripts/claude-parallel.jsonl");
        let whole = last_lines(transcript, false, Path::new("/r"));
        insta::assert_snapshot!(whole.join("\n"), @"
        Read hello.txt
        Write one.txt
        Edit hello.txt
        Write two.txt
        ✗ Edit hello.txt: String to replace not found in file. String: this text is not in the file
        $ git add -A && git commit -q -m 'change greeting' && git log --oneline | head -2
        Done: wrote one.txt, two.txt and edited hello.txt.
        ");
        let at = transcript.len() / 3;
        let end = last_lines(&transcript[at..], true, Path::new("/r"));
        assert_eq!(end.last(), whole.last(), "the beginning is not needed");
        assert!(end.iter().all(|row| !row.contains('{')), "{end:?}");
        let written = [transcript, &b"{\"type\":\"assis"[..]].concat();
        assert_eq!(
            last_lines(&written, false, Path::new("/r")),
            whole,
            "a line that is being written is left out"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_bounded_lines_without_control_characters(bytes in proptest::collection::vec(any::<u8>(), 0..3_000)) {
            let lines = last_lines(&bytes, false, Path::new("/r"));
            prop_assert!(lines.len() <= LINES);
            prop_assert!(lines.iter().all(|line| !line.contains(|c: char| c.is_control()) && line.chars().count() <= CHARS));
        }
    }

    #[test]
    fn the_log_that_was_written_to_last_is_shown_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let disk = RealDisk::new();
        assert_eq!(
            newest_log(&at("none"), Path::new("/r"), &disk),
            AgentLog::default()
        );
        fs_err::create_dir_all(at("iter-1/gate/logs")).unwrap();
        let write = |path: &str, text: &str, seconds: u64| {
            fs_err::write(at(path), text).unwrap();
            let file = fs_err::OpenOptions::new()
                .write(true)
                .open(at(path))
                .unwrap()
                .into_parts()
                .0;
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
                .unwrap();
        };
        write("iter-1/agent.out", "out\n", 10);
        write("iter-1/agent.err", "", 30);
        write("iter-1/prompt.md", "prompt\n", 40);
        write("secret", "secret\n", 50);
        fs_err::os::unix::fs::symlink(at("secret"), at("iter-1/planted.log")).unwrap();
        let log = newest_log(&at("iter-1"), Path::new("/r"), &disk);
        assert_eq!(
            (log.name.as_str(), log.lines),
            ("agent.out", vec!["out".to_owned()])
        );
        write("iter-1/gate/logs/01-mvn.log", "[INFO] here\n", 20);
        let log = newest_log(&at("iter-1"), Path::new("/r"), &disk);
        assert_eq!(
            (log.name.as_str(), log.lines),
            ("gate/logs/01-mvn.log", vec!["[INFO] here".to_owned()])
        );
    }
}
