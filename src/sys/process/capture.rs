//! Captures output of any length in a log of bounded length.
//!
//! The log holds the first and the last half of the limit, with the number of omitted bytes between them. Memory use
//! is constant.

use crate::machine::budget::Most;
use crate::machine::facts::ProcessEnd;
use crate::sys::clock::monotonic;
use crate::sys::disk::{if_there, in_path, make_parents};
use crate::turn::{Live, TranscriptFormat};
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One stream of output and its log.
#[derive(Debug)]
pub(super) struct Stream {
    /// Open until the end of the output was seen. After it is closed, the process gets an error when it writes.
    pub(super) pipe: Option<File>,
    pub(super) log: CappedLog,
    /// Its events and their start, if it is a transcript.
    transcript: Option<(Live, Instant)>,
}

impl Stream {
    /// Begins to capture. Reading never waits: another process may have emptied the pipe (through `/proc`) since it
    /// was announced as readable.
    pub(super) fn new(
        pipe: PipeReader,
        log: CappedLog,
        transcript: Option<TranscriptFormat>,
    ) -> io::Result<Self> {
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let transcript = transcript.map(|format| (Live::new(format), monotonic()));
        Ok(Self {
            pipe: Some(File::from(OwnedFd::from(pipe))),
            log,
            transcript,
        })
    }

    /// True while a tool runs, as far as the transcript shows.
    pub(super) fn is_tool_running(&self) -> bool {
        self.transcript
            .as_ref()
            .is_some_and(|(told, _)| told.is_tool_running())
    }

    /// Returns the time of the transcript's end, if it ended.
    pub(super) fn finished(&self) -> Option<Instant> {
        let (told, began) = self.transcript.as_ref()?;
        began.checked_add(told.finished()?)
    }

    /// Returns the number of the agent's actions in the transcript.
    pub(super) fn acts(&self) -> u64 {
        self.transcript.as_ref().map_or(0, |(told, _)| told.acts())
    }

    /// Returns the number of bytes of a stream that is not a transcript.
    pub(super) fn errors(&self) -> u64 {
        if self.transcript.is_some() {
            0
        } else {
            self.log.total
        }
    }

    /// Returns the reason in the transcript for which the process must be stopped.
    pub(super) fn excess(&self, most: Most) -> Option<ProcessEnd> {
        let (told, _) = self.transcript.as_ref()?;
        let unanswered = told.unanswered().map(|why| ProcessEnd::Outage { why });
        unanswered
            .or_else(|| told.loops().map(|what| ProcessEnd::Looping { what }))
            .or_else(|| {
                Some(ProcessEnd::OverBudget {
                    used: most.over_while_it_runs(told.used())?,
                })
            })
    }

    /// Moves available output into the log; true if there was any.
    pub(super) fn pump(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(false);
        };
        match pipe.read(buffer) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                if let Some((told, began)) = &mut self.transcript {
                    told.read(
                        &buffer[..count],
                        monotonic().saturating_duration_since(*began),
                    );
                }
                return self.log.add(&buffer[..count]).map(|()| true);
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(false)
    }
}

/// The log of one stream.
#[derive(Debug)]
pub(super) struct CappedLog {
    path: PathBuf,
    file: File,
    /// Maximum bytes of the beginning.
    head: u64,
    /// Maximum bytes of both parts.
    cap: u64,
    /// Number of bytes received.
    total: u64,
}

impl CappedLog {
    /// Creates the file, mode 0600. An existing path (for example a planted link) is unlinked, not followed.
    pub(super) fn create(path: &Path, cap: u64) -> io::Result<Self> {
        make_parents(path)?;
        if_there(fs::remove_file(path))?;
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(path)?
            .into_parts()
            .0;
        let cap = cap.max(2);
        Ok(Self {
            path: path.to_owned(),
            file,
            head: cap / 2,
            cap,
            total: 0,
        })
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let offset = self.offset();
            let room = usize::try_from(self.cap - offset).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.file
                .write_all_at(now, offset)
                .map_err(|error| in_path(error, "write to", &self.path))?;
            self.total += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Orders the last part, after a line with the number of omitted bytes.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.total <= self.cap {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut whole = tempfile::Builder::new()
            .prefix(".ralph-")
            .tempfile_in(folder)?;
        let oldest = self.offset();
        self.copy(0, self.head, whole.as_file_mut())?;
        writeln!(whole, "\n[ralph: {} bytes left out]", self.total - self.cap)?;
        self.copy(oldest, self.cap - oldest, whole.as_file_mut())?;
        self.copy(self.head, oldest - self.head, whole.as_file_mut())?;
        whole
            .persist(&self.path)
            .map_err(|error| in_path(error.error, "replace", &self.path))?;
        Ok(())
    }

    /// Returns the offset for the next byte: a ring after the head once the limit is reached.
    fn offset(&self) -> u64 {
        match self.total.checked_sub(self.head) {
            Some(behind) if self.total >= self.cap => self.head + behind % (self.cap - self.head),
            _ => self.total,
        }
    }

    fn copy(&mut self, from: u64, count: u64, to: &mut File) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut (&self.file).take(count), to)?;
        if copied == count {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} was cut while it was being written.",
            self.path.display()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::CappedLog;
    use proptest::prelude::*;

    fn logged(cap: u64, pieces: &[Vec<u8>]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = CappedLog::create(&path, cap).unwrap();
        for piece in pieces {
            log.add(piece).unwrap();
            assert!(path.metadata().unwrap().len() <= cap);
        }
        log.finish().unwrap();
        fs_err::read(&path).unwrap()
    }

    #[test]
    fn the_first_and_the_last_bytes_of_a_long_output_are_kept_with_the_exact_number_between() {
        let bytes: Vec<u8> = (b'a'..=b'z').collect();
        assert_eq!(
            logged(8, &[bytes]),
            b"abcd\n[ralph: 18 bytes left out]\nwxyz"
        );
        assert_eq!(logged(8, &[b"abcdefgh".to_vec()]), b"abcdefgh");
    }

    #[test]
    fn a_link_planted_in_place_of_a_log_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("log"), folder.path().join("target"));
        fs_err::write(&target, "kept").unwrap();
        fs_err::os::unix::fs::symlink(&target, &path).unwrap();
        CappedLog::create(&path, 100).unwrap().add(b"new").unwrap();
        assert_eq!(fs_err::read(&target).unwrap(), b"kept");
        assert_eq!(fs_err::read(&path).unwrap(), b"new");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_pieces_give_the_same_log_as_the_rule_over_all_bytes(
            cap in 2u64..40,
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..6),
        ) {
            let all: Vec<u8> = pieces.concat();
            let kept = usize::try_from(cap).unwrap();
            let expected = if all.len() <= kept { all } else {
                let (head, tail) = (kept / 2, all.len() - (kept - kept / 2));
                let gap = format!("\n[ralph: {} bytes left out]\n", all.len() - kept);
                [&all[..head], gap.as_bytes(), &all[tail..]].concat()
            };
            prop_assert_eq!(logged(cap, &pieces), expected);
        }
    }
}
