//! Appends ralph's entries to progress.txt, which agents and people write too.
//!
//! There is one entry per iteration after any interruption. Foreign text is never changed.

use super::{Engine, Fault};
use crate::machine::effect::ProgressEntry;
use crate::machine::event::{EarlierEntries, Event};
use crate::report::progress::{entry_heading, render_entry};
use crate::source::text::count as count_of;
use crate::source::{PartsDigest, lost_words};
use std::io::{self, BufRead};
use std::path::PathBuf;

/// A longer progress.txt is kept as a file.
const IN_MEMORY: u64 = 8 << 20;

/// The content of progress.txt before an attempt.
pub(super) enum ProgressBefore {
    /// All bytes of a file of at most [`IN_MEMORY`].
    InMemory(Vec<u8>),
    /// The digest of the copy in the state folder.
    Copied { digest: String, length: u64 },
}

impl Engine<'_> {
    /// Appends what is missing of an entry, without a sync: the journal has it.
    pub(super) fn append_entry(&mut self, entry: &ProgressEntry) -> Result<Event, Fault> {
        let path = self.places.progress_file();
        let (at, tag) = self.fold.decided.clone();
        let text = render_entry(entry, &at, &tag);
        let aside = self
            .places
            .iteration_folder(entry.iteration)
            .join("progress-of-the-agent");
        self.set_aside_odd(&path, &aside)?;
        let owed = if self.decided_here {
            // The entry is new, so no earlier process can have begun it: only the end of the file
            // counts.
            let (last, _) = self.disk.tail(&path, 1)?.unwrap_or_default();
            whole_entry(&last, text.as_bytes())
        } else {
            let existing = self.disk.read(&path)?.unwrap_or_default();
            missing_bytes(
                &existing,
                entry_heading(entry, &at, &tag).as_bytes(),
                text.as_bytes(),
            )
        };
        if !owed.is_empty() {
            self.disk.create_shared(&path)?;
            self.disk.append(&path, &owed)?;
        }
        Ok(Event::ProgressAppended)
    }

    /// Keeps in mind what progress.txt holds before an attempt.
    pub(super) fn remember_progress(&mut self) -> Result<(), Fault> {
        let path = self.places.progress_file();
        self.progress_read = None;
        if self.is_odd(&path)? {
            return Ok(());
        }
        let length = self.disk.len(&path)?.unwrap_or(0);
        if length <= IN_MEMORY {
            self.progress_read = self.disk.read(&path)?.map(ProgressBefore::InMemory);
            return Ok(());
        }
        let copy = self.progress_copy();
        self.disk.copy(&path, &copy)?;
        let digest = self.disk.digest(&copy, u64::MAX)?;
        self.progress_read =
            digest.map(|(digest, length)| ProgressBefore::Copied { digest, length });
        Ok(())
    }

    fn progress_copy(&self) -> PathBuf {
        self.places.state_folder().join("progress-before")
    }

    /// Returns the content of progress.txt before the attempt, if the attempt may have removed some of it.
    fn progress_to_restore(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let (digest, length) = match self.progress_read.take() {
            None => return Ok(None),
            Some(ProgressBefore::InMemory(before)) => return Ok(Some(before)),
            Some(ProgressBefore::Copied { digest, length }) => (digest, length),
        };
        let (path, copy) = (self.places.progress_file(), self.progress_copy());
        let is_whole = !self.is_odd(&path)?
            && self
                .disk
                .digest(&path, length)?
                .is_some_and(|now| now == (digest.clone(), length));
        if is_whole {
            // It has served, and would take as much room as the file.
            self.disk.write(&copy, b"")?;
            return Ok(None);
        }
        let before = if self.disk.is_odd(&copy)? {
            None
        } else {
            self.disk.read(&copy)?
        };
        match before.filter(|before| crate::source::digest(before) == digest) {
            Some(before) => Ok(Some(before)),
            None => Err(Fault::changed_fault(
                "progress.txt lost lines during the attempt, and ralph's copy of it is gone.",
                "restore the file from a copy of your own, then run ralph again",
            )),
        }
    }

    /// Restores the lines that the attempt removed from progress.txt, and keeps its version.
    pub(super) fn restore_progress(&mut self) -> Result<(), Fault> {
        let Some(before) = self.progress_to_restore()? else {
            return Ok(());
        };
        let iteration = self.fold.state.iteration;
        let kept = self
            .places
            .iteration_folder(iteration)
            .join("progress-of-the-agent");
        let shown = self.places.display_path(&kept);
        self.rewrite_file(&self.places.progress_file(), &kept, |now| {
            let now = now.unwrap_or_default();
            if now.starts_with(&before) {
                return None;
            }
            let lines = count_of(lost_words(&before, now)?, "line");
            let note = format!(
                "(Iteration {iteration} took {lines} out of this file. They are restored. Its version is {shown}.)\n"
            );
            Some([before.as_slice(), &whole_entry(&before, note.as_bytes())].concat())
        })
    }
}

/// A heading in progress.txt that has the form of ralph's.
pub(super) struct HeadingLine<'a> {
    /// Its line, from 1.
    pub(super) number: u64,
    /// Its offset in bytes.
    pub(super) offset: usize,
    pub(super) text: &'a [u8],
    /// The line below it.
    pub(super) headline: &'a [u8],
}

/// The lines of a file that look like the heading of an entry.
pub(super) fn heading_lines(bytes: &[u8]) -> impl Iterator<Item = HeadingLine<'_>> {
    let mut offset = 0;
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(move |(at, text)| {
            let begins = offset;
            offset += text.len() + 1;
            let below = bytes.get(offset..).unwrap_or_default();
            let headline = below
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            HeadingLine {
                number: at as u64 + 1,
                offset: begins,
                text,
                headline,
            }
        });
    lines.filter(|line| is_heading(line.text))
}

/// `## <time> iteration <N> · <ID> · <8 hex digits>`.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let parts = text
        .strip_prefix("## ")
        .and_then(|rest| rest.split_once(" iteration "));
    let tag = parts
        .and_then(|(_, rest)| rest.rsplit_once(" · "))
        .map(|(_, tag)| tag.trim_end());
    tag.is_some_and(|tag| tag.len() == 8 && tag.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Sums up entries that no record of a journal made.
pub(super) fn sum_of_entries<'a>(
    entries: impl IntoIterator<Item = HeadingLine<'a>>,
) -> EarlierEntries {
    let mut sum = EntriesSum::default();
    for entry in entries {
        sum.add_heading(entry.text);
        sum.digest.add_part(entry.headline);
    }
    sum.finish()
}

/// Sums up the entries of a file as [`sum_of_entries`] does, with one line in memory.
pub(super) fn sum_of_file(mut file: impl BufRead) -> io::Result<EarlierEntries> {
    let mut sum = EntriesSum::default();
    let (mut line, mut owes_headline) = (Vec::new(), false);
    while file.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if owes_headline {
            sum.digest.add_part(text);
        }
        owes_headline = is_heading(text);
        if owes_headline {
            sum.add_heading(text);
        }
        line.clear();
    }
    if owes_headline {
        sum.digest.add_part(b"");
    }
    Ok(sum.finish())
}

/// The sum of entries that come one by one: of each its heading, then its headline.
#[derive(Default)]
struct EntriesSum {
    count: u64,
    digest: PartsDigest,
}

impl EntriesSum {
    fn add_heading(&mut self, heading: &[u8]) {
        self.count += 1;
        self.digest.add_part(heading);
    }

    fn finish(self) -> EarlierEntries {
        EarlierEntries {
            count: self.count,
            digest: self.digest.finish(),
        }
    }
}

/// The bytes that are still to be appended: all of the entry, the rest of one that was torn, or nothing.
pub(super) fn missing_bytes(existing: &[u8], heading: &[u8], entry: &[u8]) -> Vec<u8> {
    let longest = entry.len().min(existing.len());
    let torn = (1..=longest).rev().find(|len| {
        existing.ends_with(&entry[..*len]) && starts_line(existing, existing.len() - len)
    });
    // A part of a heading may be that of another entry.
    let has_heading = torn.is_some_and(|len| len >= heading.len());
    let mut headings = memchr::memmem::find_iter(existing, heading);
    if !has_heading && headings.any(|at| starts_line(existing, at)) {
        return Vec::new();
    }
    if let Some(len) = torn {
        return entry[len..].to_vec();
    }
    whole_entry(existing, entry)
}

/// All of the entry, on a line of its own behind what is there.
pub(super) fn whole_entry(existing: &[u8], entry: &[u8]) -> Vec<u8> {
    let mut owed = Vec::new();
    if !existing.is_empty() && !existing.ends_with(b"\n") {
        owed.push(b'\n');
    }
    owed.extend_from_slice(entry);
    owed
}

fn starts_line(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes[at - 1] == b'\n'
}

#[cfg(test)]
mod tests {
    use super::{heading_lines, missing_bytes, sum_of_entries, sum_of_file, whole_entry};

    const HEADING: &[u8] = b"## t iteration 1";
    const ENTRY: &[u8] = b"## t iteration 1\nACCEPTED\n";

    fn appended(existing: &[u8]) -> Vec<u8> {
        let mut all = existing.to_vec();
        all.extend(missing_bytes(existing, HEADING, ENTRY));
        all
    }

    #[test]
    fn an_entry_cut_at_any_byte_is_finished_and_never_doubled() {
        for cut in 0..=ENTRY.len() {
            let existing = [b"notes\n", &ENTRY[..cut]].concat();
            assert_eq!(
                appended(&existing),
                [b"notes\n", ENTRY].concat(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn an_entry_is_not_doubled_where_the_file_ends_with_a_part_of_a_heading() {
        let existing = [ENTRY, b"## t iter"].concat();
        assert_eq!(appended(&existing), existing);
    }

    #[test]
    fn a_file_read_in_parts_has_the_sum_of_its_entries() {
        let heading = "## 2026-11-24T02:00:00Z iteration 1 · 2. · 0a1b2c3d";
        let texts = [
            String::new(),
            "notes\n\n".to_owned(),
            heading.to_owned(),
            format!("{heading}\n"),
            format!("notes\n{heading}\nACCEPTED\nmore\n"),
            format!("{heading}\n{heading}\nREJECTED"),
            format!("{heading}\r\n\nwords\n{heading}\nFAIL\n"),
        ];
        let sums: Vec<_> = texts
            .iter()
            .map(|text| {
                let sum = sum_of_file(text.as_bytes()).unwrap();
                assert_eq!(
                    sum,
                    sum_of_entries(heading_lines(text.as_bytes())),
                    "{text:?}"
                );
                sum.count
            })
            .collect();
        assert_eq!(sums, [0, 0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn foreign_text_without_a_final_newline_gets_one_and_text_behind_the_entry_stays() {
        assert_eq!(appended(b"notes"), [b"notes\n", ENTRY].concat());
        let behind = [ENTRY, b"more\n"].concat();
        assert_eq!(appended(&behind), behind);
    }

    #[test]
    fn what_begins_like_an_entry_and_is_not_one_is_not_finished_by_a_new_entry() {
        // The last byte of the file is all that the process which decided looks at.
        assert_eq!(whole_entry(b"#", ENTRY), [b"\n", ENTRY].concat());
        assert_eq!(whole_entry(b"\n", ENTRY), ENTRY);
        assert_eq!(whole_entry(b"", ENTRY), ENTRY);
    }
}
