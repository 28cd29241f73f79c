//! Reads a task's text: its id, its stage, and its mark for "optional".
//!
//! Accepts any bytes. A text that cannot be parsed has no id.

use super::plan::{DEEPEST, Placement};
use super::scan::is_blank;
use super::sections::Sections;
use super::stage::Stage;
use regex_lite::Regex;
use std::sync::LazyLock;

/// The default pattern of `checkpoints:`.
const CHECKPOINT: &str = r"(?i)\bcheckpoint\b|\[verify\]";

/// Maximum length of an id, in bytes.
const MAX_ID: usize = 64;

/// The additions of a workspace's configuration to the grammar of its task file.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// Names of gates that are stage words, for example `PITEST` in `2.PITEST`.
    pub gates: Vec<String>,
    /// Tasks whose text matches may have nothing to commit (`checkpoints:`). `None` if no task may.
    pub checkpoint: Option<Regex>,
    /// The sections whose boxes are tasks (`tasks.sections`).
    pub sections: Sections,
    /// The deepest headings that begin a group of their own (`##` is 2).
    pub group_level: u8,
}

impl Grammar {
    /// Builds a grammar with these gates and this pattern, in which every section has tasks.
    pub fn new(gates: Vec<String>, checkpoint: Option<Regex>) -> Self {
        Self {
            gates,
            checkpoint,
            sections: Sections::default(),
            group_level: DEEPEST,
        }
    }

    /// Replaces the sections.
    #[must_use]
    pub fn with_sections(self, sections: Sections) -> Self {
        Self { sections, ..self }
    }

    /// Sets the group level that these placements share.
    #[must_use]
    pub fn with_groups<'p>(self, placements: impl IntoIterator<Item = &'p Placement>) -> Self {
        let level = placements.into_iter().find_map(Placement::group_level);
        Self {
            group_level: level.unwrap_or(self.group_level),
            ..self
        }
    }

    /// True when the text of a task matches the pattern for checkpoints.
    pub(super) fn is_checkpoint(&self, text: &str) -> bool {
        let Some(pattern) = &self.checkpoint else {
            return false;
        };
        // The default pattern is by far the most frequent, and a search for its words is 20 times faster.
        if pattern.as_str() == CHECKPOINT {
            let lower = text.to_ascii_lowercase();
            if !lower.contains("checkpoint") && !lower.contains("[verify]") {
                return false;
            }
        }
        pattern.is_match(text)
    }

    /// Returns the stage of a word, if it is in the closed set.
    fn find_stage(&self, word: &[u8]) -> Option<Stage> {
        match Stage::from(String::from_utf8_lossy(word).into_owned()) {
            Stage::Implementation => None,
            Stage::Gate(_) => self.find_gate(word),
            stage => Some(stage),
        }
    }

    fn find_gate(&self, word: &[u8]) -> Option<Stage> {
        self.gates
            .iter()
            .find(|gate| gate.as_bytes() == word)
            .map(|gate| Stage::Gate(gate.clone()))
    }
}

impl Default for Grammar {
    /// Returns the grammar with the gate `PITEST` and the pattern `(?i)\bcheckpoint\b|\[verify\]`.
    fn default() -> Self {
        static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CHECKPOINT).ok());
        Self::new(vec!["PITEST".to_owned()], PATTERN.clone())
    }
}

/// The reason why a text names no task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoName {
    /// Neither a stage nor a blank follows the dot of this id: `2.REVIEW`, `1.Register`.
    UnknownStage { id: String, word: String },
    /// Only words.
    Plain,
}

/// An id with its stage.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// The id without its trailing dot; `FINAL` for a FINAL without an id.
    pub(super) family: String,
    pub(super) stage: Stage,
    /// True for `1.2*`.
    pub(super) optional: bool,
    /// Offset of the words, in bytes from the start of the text.
    pub(super) rest: usize,
    /// Wrappers that were opened before the id and are closed in the words.
    pub(super) prefix: &'static str,
}

/// Returns the ids above an id, nearest first: `1.1`, `1` for `1.1.4`, and `7.3`, `7` for `7.3a`.
pub(super) fn ancestor_ids(id: &str) -> impl Iterator<Item = &str> {
    let is_number = id.starts_with(|c: char| c.is_ascii_digit());
    let whole = if is_number {
        id.trim_end_matches(|c: char| c.is_ascii_lowercase())
    } else {
        id
    };
    let all = std::iter::successors(Some(whole), |id| {
        id.rsplit_once('.').map(|(above, _)| above)
    });
    all.skip(usize::from(whole == id))
}

/// Returns the id at the start of a heading, or of the text of a task.
pub(super) fn leading_id(text: &[u8], grammar: &Grammar) -> Option<String> {
    read_head(text, grammar).ok().map(|name| name.family)
}

/// Reads the beginning of a task's text.
pub(super) fn read_head(text: &[u8], grammar: &Grammar) -> Result<Name, NoName> {
    let mut cursor = TextCursor { text, at: 0 };
    let mut wraps = cursor.open_wrappers();
    let (family, stage) = cursor.read_name(grammar)?;
    let optional = cursor.close_wrappers(&mut wraps);
    let [_, _, bracket] = wraps;
    if bracket || !cursor.at_terminator() {
        return Err(NoName::Plain);
    }
    for _ in 0..3 {
        cursor.skip_blanks();
        if cursor.eat_separator() {
            cursor.close_wrappers(&mut wraps);
        }
    }
    if let Some(after) = cursor.after_dash() {
        if after.begins_with_id_like(&family) {
            return Err(NoName::Plain);
        }
        if !cursor.next_is(|b| b == b't') {
            cursor = after;
        }
    }
    let prefix = match wraps {
        [false, false, _] => "",
        [true, false, _] => "**",
        [false, true, _] => "~~",
        [true, true, _] => "~~**",
    };
    Ok(Name {
        family,
        stage,
        optional,
        rest: cursor.at,
        prefix,
    })
}

/// Wrappers around an id: the opening and the closing mark.
const WRAPPERS: [(&[u8], &[u8]); 3] = [(b"**", b"**"), (b"~~", b"~~"), (b"[", b"]")];

/// True for each wrapper that is open.
type Wraps = [bool; WRAPPERS.len()];

/// A position in a text. Punctuation behind a backslash reads as the punctuation.
#[derive(Clone, Copy)]
struct TextCursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl TextCursor<'_> {
    /// Returns the next byte and its width in bytes.
    fn peek_byte(&self) -> Option<(u8, usize)> {
        match (self.text.get(self.at)?, self.text.get(self.at + 1)) {
            (b'\\', Some(next)) if next.is_ascii_punctuation() => Some((*next, 2)),
            (byte, _) => Some((*byte, 1)),
        }
    }

    fn next_is(&self, accept: impl Fn(u8) -> bool) -> bool {
        self.peek_byte().is_some_and(|(byte, _)| accept(byte))
    }

    fn eat_if(&mut self, accept: impl Fn(u8) -> bool) -> Option<u8> {
        let (byte, width) = self.peek_byte().filter(|(byte, _)| accept(*byte))?;
        self.at += width;
        Some(byte)
    }

    fn eat_word(&mut self, word: &[u8]) -> bool {
        let save = self.at;
        let whole = word
            .iter()
            .all(|byte| self.eat_if(|b| b == *byte).is_some());
        if !whole {
            self.at = save;
        }
        whole
    }

    fn eat_while(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.eat_if(&accept).is_some() {}
        self.at - start
    }

    fn skip_blanks(&mut self) {
        self.eat_while(is_blank);
    }

    /// Skips the wrappers and `Task `, each at most once.
    fn open_wrappers(&mut self) -> Wraps {
        let (mut wraps, mut task) = (Wraps::default(), false);
        loop {
            let mut closed = wraps
                .iter_mut()
                .zip(WRAPPERS)
                .filter(|(is_open, _)| !**is_open);
            if let Some((is_open, _)) = closed.find(|(_, (opening, _))| self.eat_word(opening)) {
                *is_open = true;
            } else if !task && self.eat_word(b"Task ") {
                task = true;
                self.skip_blanks();
            } else {
                return wraps;
            }
        }
    }

    /// Closes the open wrappers; true if there is also a `*` for "optional".
    fn close_wrappers(&mut self, wraps: &mut Wraps) -> bool {
        let mut optional = false;
        loop {
            let mut open = wraps
                .iter_mut()
                .zip(WRAPPERS)
                .filter(|(is_open, _)| **is_open);
            if let Some((is_open, _)) = open.find(|(_, (_, closing))| self.eat_word(closing)) {
                *is_open = false;
            } else if !optional && self.next_is(|b| b == b'*') && !{ *self }.eat_word(b"**") {
                optional = self.eat_word(b"*");
            } else {
                return optional;
            }
        }
    }

    /// True before a terminator of a name: a blank, a colon (not of `16:9`), an arrow, or the end.
    fn at_terminator(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest {
            [] => true,
            [b':', next, ..] => !next.is_ascii_digit(),
            [byte, ..] => is_blank(*byte) || separator_length(rest).is_some(),
        }
    }

    /// Skips a dash or `to` between blanks; a title or the end of a range follows.
    fn after_dash(mut self) -> Option<Self> {
        let rest = self.text.get(self.at..)?;
        let width = ["-", "–", "—", "to"]
            .iter()
            .find(|dash| rest.starts_with(dash.as_bytes()))?
            .len();
        self.at += width;
        let is_between =
            is_blank(*self.text.get((self.at - width).checked_sub(1)?)?) && self.next_is(is_blank);
        self.skip_blanks();
        is_between.then_some(self)
    }

    /// True for the id that ends a range: it has the same form, apart from its numbers.
    fn begins_with_id_like(mut self, first: &str) -> bool {
        self.read_id()
            .is_some_and(|id| without_digits(&id) == without_digits(first))
            && self.at_terminator()
    }

    fn eat_separator(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let width = separator_length(rest);
        self.at += width.unwrap_or(0);
        width.is_some()
    }

    fn read_name(&mut self, grammar: &Grammar) -> Result<(String, Stage), NoName> {
        let start = *self;
        if self.eat_word(b"FINAL") {
            self.eat_word(b".");
            if { *self }.close_and_end() {
                return Ok(("FINAL".to_owned(), Stage::Final));
            }
            *self = start;
        }
        if let Some(gate) = self.wide_gate(grammar) {
            return Ok(gate);
        }
        *self = start;
        let family = self.read_id().ok_or(NoName::Plain)?;
        if !self.eat_word(b".") {
            return Ok((family, Stage::Implementation));
        }
        let is_word = self.next_is(|b| b.is_ascii_alphabetic());
        let word = self.read_word();
        let stage = if word.is_empty() {
            Some(Stage::Implementation)
        } else {
            grammar.find_stage(word)
        };
        match stage {
            Some(stage) => Ok((family, stage)),
            None if is_word => Err(NoName::UnknownStage {
                id: family,
                word: String::from_utf8_lossy(word).into_owned(),
            }),
            None => Err(NoName::Plain),
        }
    }

    /// True if a terminator follows the closing wrappers.
    fn close_and_end(mut self) -> bool {
        self.close_wrappers(&mut [true; WRAPPERS.len()]);
        self.at_terminator()
    }

    /// Reads `G2.PITEST` or `END.PITEST`.
    fn wide_gate(&mut self, grammar: &Grammar) -> Option<(String, Stage)> {
        let start = self.at;
        if !(self.eat_word(b"END")
            || (self.eat_word(b"G") && self.eat_while(|b| b.is_ascii_digit()) > 0))
        {
            return None;
        }
        let family = ascii_id(self.text.get(start..self.at)?);
        let known = family.len() <= MAX_ID && self.eat_word(b".");
        known
            .then(|| grammar.find_gate(self.read_word()))
            .flatten()
            .map(|stage| (family, stage))
    }

    /// Returns the run of letters, digits, `-` and `_` that begins here.
    fn read_word(&mut self) -> &[u8] {
        let start = self.at;
        self.eat_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads `1.2.3a`, `T012b`, `T012B`, `ABC-1.2a`, `WP03`, `V4` or `VE1`, without a trailing dot.
    fn read_id(&mut self) -> Option<String> {
        let start = self.at;
        self.eat_while(|b| b.is_ascii_uppercase());
        let letters = self.text.get(start..self.at)?;
        let has_dash = !letters.is_empty() && self.eat_word(b"-");
        if !self.next_is(is_digit) {
            return None;
        }
        match letters {
            _ if has_dash || letters.is_empty() => {
                self.eat_numbers();
                self.eat_if(|b| b.is_ascii_lowercase());
            }
            b"T" | b"WP" | b"V" | b"VE" => {
                self.eat_while(is_digit);
                self.eat_if(|b| letters == b"T" && b.is_ascii_alphabetic());
            }
            _ => return None,
        }
        let written = self.text.get(start..self.at)?;
        (written.len() <= MAX_ID).then(|| ascii_id(written))
    }

    /// Skips `\d+(\.\d+)*`.
    fn eat_numbers(&mut self) {
        self.eat_while(|b| b.is_ascii_digit());
        loop {
            let save = self.at;
            if !self.eat_word(b".") || self.eat_while(|b| b.is_ascii_digit()) == 0 {
                self.at = save;
                return;
            }
        }
    }
}

/// True for an ASCII digit.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Returns the form of an id: its text without digits.
fn without_digits(id: &str) -> String {
    id.replace(|c: char| c.is_ascii_digit(), "")
}

/// Returns the length of a colon or an arrow.
fn separator_length(rest: &[u8]) -> Option<usize> {
    [":", "→", "："]
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))
        .map(|mark| mark.len())
}

/// Returns the text of an id: ASCII by the grammar, without the backslashes of formatters.
fn ascii_id(bytes: &[u8]) -> String {
    bytes
        .iter()
        .filter(|b| **b != b'\\')
        .map(|b| char::from(*b))
        .collect()
}
