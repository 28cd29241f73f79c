//! Reads one line of a transcript of any length in pieces.
//!
//! Promises:
//!
//! - Memory is bounded.
//! - A line that is too long stays the same JSON, with its longest texts cut.
//! - The headers of a patch (`*** Update File: …`) stay in a text that is cut.
//! - A line that is too long even so is reported as lost.

/// Maximum length of an unshortened line, in bytes. (Results of tools hold whole files, and images.)
pub(super) const LONGEST_LINE: usize = 4 << 20;
/// Bytes kept of each text in a shortened line. The limit decreases with the length of the line.
const LIMITS: [usize; 3] = [64 << 10, 4 << 10, 256];
/// Maximum length of a patch header that is kept whole, in bytes.
const LONGEST_HEADER: usize = 8 << 10;
/// Number of bytes processed at once.
const PIECE: usize = 64 << 10;
/// The end of a line and the beginning of a header in a text.
const HEADER: &[u8] = b"\\n***";

#[derive(Debug, Default)]
pub(super) struct LongLine {
    bytes: Vec<u8>,
    cutter: Option<Cutter>,
    level: usize,
    is_lost: bool,
}

impl LongLine {
    /// Adds the next bytes, which hold no line end.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            while self.bytes.len() + piece.len() > LONGEST_LINE && !self.is_lost {
                self.shorten();
            }
            match &mut self.cutter {
                _ if self.is_lost => {}
                Some(cutter) => cutter.feed(piece, &mut self.bytes),
                None => self.bytes.extend_from_slice(piece),
            }
        }
    }

    /// Returns the line, and true if its rest is lost. Begins a new line.
    pub(super) fn take(&mut self) -> (Vec<u8>, bool) {
        let Self { bytes, is_lost, .. } = std::mem::take(self);
        (bytes, is_lost)
    }

    fn shorten(&mut self) {
        let is_json = self.bytes.trim_ascii_start().first() == Some(&b'{');
        let Some(&limit) = LIMITS.get(self.level).filter(|_| is_json) else {
            self.is_lost = true;
            self.bytes.truncate(PIECE);
            self.bytes.shrink_to_fit();
            return;
        };
        self.level += 1;
        let mut cutter = Cutter {
            limit,
            ..Cutter::default()
        };
        let mut shorter = Vec::new();
        cutter.feed(&self.bytes, &mut shorter);
        if let Some(Cutter { unit, pending, .. }) = self.cutter.take() {
            (cutter.unit, cutter.pending) = (unit, pending);
        }
        (self.bytes, self.cutter) = (shorter, Some(cutter));
    }
}

/// Copies JSON and leaves out the ends of long texts.
#[derive(Debug, Default)]
struct Cutter {
    limit: usize,
    in_text: bool,
    /// Number of bytes kept of the text.
    kept: usize,
    /// A character or an escape sequence without its last byte.
    unit: Vec<u8>,
    /// The beginning of a possible header after the limit.
    pending: Vec<u8>,
    /// Bytes of the current header; 0 in any other line of the text.
    header: usize,
    is_line_start: bool,
}

impl Cutter {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for &byte in bytes {
            if !self.in_text || (self.unit.is_empty() && byte == b'"') {
                self.in_text = !self.in_text && byte == b'"';
                (self.kept, self.header, self.is_line_start) = (0, 0, true);
                self.pending.clear();
                out.push(byte);
                continue;
            }
            self.unit.push(byte);
            if self.unit.len() == size(&self.unit) {
                let unit = std::mem::take(&mut self.unit);
                self.copy(&unit, out);
            }
        }
    }

    /// Copies one whole character of a text, if it is to be kept.
    fn copy(&mut self, unit: &[u8], out: &mut Vec<u8>) {
        let is_line_end = unit == b"\\n";
        if is_line_end {
            self.header = 0;
        } else if self.header > 0 || (self.is_line_start && unit == b"*" && self.kept < self.limit)
        {
            self.header += unit.len();
        }
        self.is_line_start = is_line_end;
        if self.kept < self.limit || (1..LONGEST_HEADER).contains(&self.header) {
            self.kept += unit.len();
            out.extend_from_slice(unit);
            return;
        }
        if is_line_end {
            self.pending.clear();
        }
        if is_line_end || !self.pending.is_empty() {
            self.pending.extend_from_slice(unit);
        }
        if self.pending == HEADER {
            out.append(&mut self.pending);
            self.header = HEADER.len();
        } else if !HEADER.starts_with(&self.pending) {
            self.pending.clear();
        }
    }
}

/// Returns the size of the character or escape sequence with this beginning. Half of a surrogate pair is no
/// character.
fn size(unit: &[u8]) -> usize {
    match unit {
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B',
            ..,
        ] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\' | 0xC0..=0xDF, ..] => 2,
        [0xE0..=0xEF, ..] => 3,
        [0xF0..=0xFF, ..] => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn through(line: &str, piece: usize) -> (Vec<u8>, bool) {
        let mut long = LongLine::default();
        line.as_bytes()
            .chunks(piece)
            .for_each(|piece| long.extend(piece));
        assert!(long.bytes.capacity() <= 3 * LONGEST_LINE);
        long.take()
    }

    #[test]
    fn a_long_text_is_cut_and_all_else_is_as_it_was() {
        let huge = "aé\u{1F600}\"\\\n".repeat(1_000_000);
        for escaped in [false, true] {
            let whole =
                json!({"id": 7, "text": huge, "path": "src/a b.txt", "list": [1, {"more": "x"}]});
            let mut text = whole.to_string();
            if escaped {
                text = text
                    .replace('é', "\\u00e9")
                    .replace('\u{1F600}', "\\ud83d\\ude00");
            }
            let (line, is_lost) = through(&text, 65_537);
            assert!(!is_lost && line.len() < 80_000, "{}", line.len());
            let mut cut: Value = serde_json::from_slice(&line).unwrap();
            let text = cut["text"].take();
            assert!(huge.starts_with(text.as_str().unwrap()), "{text}");
            assert!(text.as_str().unwrap().len() > 10_000);
            cut["text"] = huge.clone().into();
            assert_eq!(cut, whole);
        }
    }

    #[test]
    fn the_headers_of_a_patch_stay_however_long_it_is() {
        let files: Vec<String> = (0..12).map(|at| format!("src/f{at}.txt")).collect();
        let hunks: Vec<String> = files
            .iter()
            .map(|file| {
                let removed = "x".repeat(900_000);
                format!("*** Update File: {file}\n@@\n-{removed}\n+new * **\n")
            })
            .collect();
        let patch = hunks.concat();
        let line =
            json!({"mode": "patch", "patch": format!("*** Begin Patch\n{patch}*** End Patch\n")});
        let (line, is_lost) = through(&line.to_string(), 1 << 20);
        let cut: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(
            super::super::verify::in_patch(cut["patch"].as_str().unwrap()),
            files
        );
        assert!(!is_lost && line.len() < LONGEST_LINE);
    }

    #[test]
    fn a_line_of_many_texts_is_cut_more_and_one_of_numbers_is_lost() {
        let texts: Vec<String> = vec!["y".repeat(5_000); 4_000];
        let (line, is_lost) = through(&json!({ "texts": texts }).to_string(), 4_096);
        let cut: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(
            (cut["texts"].as_array().unwrap().len(), is_lost),
            (4_000, false)
        );
        let numbers: Vec<u32> = vec![7; 3_000_000];
        for lost in [
            json!({ "numbers": numbers }).to_string(),
            "no JSON ".repeat(1_000_000),
        ] {
            let (line, is_lost) = through(&lost, 10_000);
            assert!(is_lost && line.len() <= PIECE);
        }
    }

    proptest! {
        #[test]
        fn whatever_a_text_holds_the_rest_of_the_line_stays(text in "(\\PC|\n|\\*){0,400}", limit in 8..300_usize) {
            let whole = json!({"a": text, "b": "end"}).to_string();
            let mut cutter = Cutter { limit, ..Cutter::default() };
            let mut out = Vec::new();
            cutter.feed(whole.as_bytes(), &mut out);
            let cut: Value = serde_json::from_slice(&out).unwrap();
            prop_assert_eq!(&cut["b"], "end");
            if whole.len() < limit { prop_assert_eq!(&cut["a"], text.as_str()) }
        }
    }
}
