//! Flips of boxes: the one-byte edit, the file without its marks, and the way back.
//!
//! An edit changes the mark of exactly one box or fails; the outcome is parsed again before it is handed out.

use super::family::text_digest;
use super::file::TaskFile;
use super::grammar::Grammar;
use super::outline::{FoundBox, read_outline};
use super::refusal::{EditRefusal, Refused};
use super::row::{Mark, Row};
use super::scan::read_checkbox;
use super::stage::TaskKey;

/// A compare-and-swap of one byte: the mark of one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte offset of the mark in the file.
    pub offset: usize,
    /// The current byte.
    pub expected: u8,
    /// The new byte.
    pub replacement: u8,
}

impl Edit {
    /// Returns the bytes with this one byte changed.
    ///
    /// `None` if the current byte differs from `expected`, or if the parsed result does not differ in exactly one
    /// box.
    pub fn apply_to(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut after = bytes.to_vec();
        let byte = after
            .get_mut(self.offset)
            .filter(|byte| **byte == self.expected)?;
        *byte = self.replacement;
        // Boxes outside the task sections count too: none of them may change as a side effect.
        let everything = Grammar::new(Vec::new(), None);
        let [before, now] = [bytes, &after].map(|bytes| read_outline(bytes, &everything).boxes);
        flips_only(&before, &now, self.offset).then_some(after)
    }
}

/// True when the boxes differ in the mark at `offset` and in nothing else.
fn flips_only(before: &[FoundBox], after: &[FoundBox], offset: usize) -> bool {
    before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| {
            let flipped = old.at == offset && old.mark != new.mark;
            (old == new && old.at != offset)
                || (flipped
                    && FoundBox {
                        mark: old.mark,
                        ..new.clone()
                    } == *old)
        })
        && before
            .binary_search_by_key(&offset, |found| found.at)
            .is_ok()
}

/// True for marks that [`TaskFile::text_without_marks`] removes.
fn is_plain(mark: char) -> bool {
    matches!(mark, ' ' | '\t' | 'x' | 'X')
}

/// Returns the byte of a mark; `None` if a box cannot hold it as one byte.
fn mark_byte(mark: Mark) -> Option<u8> {
    let byte = u8::try_from(mark.0).ok().filter(u8::is_ascii)?;
    let is_line_end = matches!(byte, b'\n' | b'\r');
    (!is_line_end && read_checkbox(&[b'[', byte, b']']).is_some()).then_some(byte)
}

impl TaskFile {
    /// Returns the edit that sets the box of `key` to the state of `to`; `None` if it is in that state.
    ///
    /// A tick is written as `x`, or as `X` if the file ticks only with `X` or `to` is `X`.
    pub fn flip_box(&self, key: &TaskKey, to: Mark) -> Result<Option<Edit>, EditRefusal> {
        let mut boxes = self
            .tasks
            .iter()
            .filter(|task| task.key == *key)
            .map(|task| &task.found);
        let found = boxes.next().ok_or_else(|| {
            flip_refusal(Refused::NoSuchBox, format!("The task file has no {key}."))
        })?;
        if boxes.next().is_some() {
            return Err(flip_refusal(
                Refused::NoFlip,
                format!("The task file has more than one {key}."),
            ));
        }
        let now = Mark(found.mark);
        if now.is_same_state(to) {
            return Ok(None);
        }
        let wanted = if to == Mark::DONE && self.ticks_upper() {
            Mark('X')
        } else {
            to
        };
        let [mark, wrong] = [now, to].map(|mark| mark.0.escape_debug());
        let replacement = mark_byte(wanted).ok_or_else(|| {
            flip_refusal(Refused::NoFlip, format!("`{wrong}` cannot mark a box."))
        })?;
        let expected = mark_byte(now).ok_or_else(|| {
            let why = "which takes more than one byte, and ralph changes single bytes only";
            flip_refusal(
                Refused::NoFlip,
                format!("The box of {key} holds `{mark}`, {why}."),
            )
        })?;
        Ok(Some(Edit {
            offset: found.at,
            expected,
            replacement,
        }))
    }

    /// Returns the bytes with a space in each open or ticked box (space, tab, `x`, `X`).
    ///
    /// This text stays the same while boxes are flipped.
    pub fn text_without_marks(&self) -> Vec<u8> {
        self.with_open(is_plain)
    }

    /// The bytes with a space in each box whose mark is accepted; marks of several bytes stay.
    pub(super) fn with_open(&self, accept: impl Fn(char) -> bool) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let boxes = self.tasks.iter().map(|task| &task.found);
        for found in boxes.filter(|found| found.mark.is_ascii() && accept(found.mark)) {
            if let Some(byte) = bytes.get_mut(found.at) {
                *byte = b' ';
            }
        }
        bytes
    }
}

/// Returns the refusal of a flip.
fn flip_refusal(kind: Refused, what: String) -> EditRefusal {
    EditRefusal::new(kind, what, "fix the line in tasks.md")
}

/// Restores the exact bytes of a file from its [`TaskFile::text_without_marks`] and [`TaskFile::box_rows`].
///
/// Each mark goes into the box on its line, so the grammar by which the rows were read does not matter. `None` if the
/// text of a box does not have the digest of its row.
pub fn with_marks(text_without_marks: &[u8], rows: &[Row]) -> Option<Vec<u8>> {
    let boxes = read_outline(text_without_marks, &Grammar::new(Vec::new(), None)).boxes;
    let mut bytes = text_without_marks.to_vec();
    rows.iter()
        .try_for_each(|row| mark_box(&mut bytes, &boxes, row))?;
    Some(bytes)
}

/// Writes the mark of a row; `None` if the box on its line is a different one.
fn mark_box(bytes: &mut [u8], boxes: &[FoundBox], row: &Row) -> Option<()> {
    let at = boxes
        .binary_search_by_key(&row.line, |found| found.line)
        .ok()?;
    let found = boxes.get(at)?;
    let fits = found.mark == row.mark.0 || (is_plain(found.mark) && is_plain(row.mark.0));
    if !fits || text_digest(bytes.get(found.text.clone())?) != row.digest {
        return None;
    }
    if is_plain(row.mark.0) {
        *bytes.get_mut(found.at)? = mark_byte(row.mark)?;
    }
    Some(())
}
