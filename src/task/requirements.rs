//! Finds the requirements that a task names.
//!
//! A task names them below its line (`_Requirements: 1.1_`) or in its words (`[US1]`, `FR-018`).

use super::file::TaskFile;
use super::scan::{clean_line, read_item};
use crate::source::text::beginning;

/// Maximum number of references kept for one task.
const MAX_KEPT: usize = 64;
/// Maximum length of a reference, in bytes.
const MAX_REFERENCE: usize = 80;
/// Maximum length of a label, in bytes.
const MAX_LABEL: usize = 48;

/// The words before a colon that name requirements, in lower case.
///
/// They are English, and the languages in which Kiro and cc-sdd write their files.
const LABELS: &str = "requirements, requirement, requirement refs, requirements refs, validates, requisitos, 需求, 要求, \
    要件, 요구사항, 요구 사항, anforderungen, exigences, requisiti, требования, вимоги, wymagania, gereksinimler, yêu cầu, \
    المتطلبات";

/// Words before a colon that name requirements only if one of [`LABELS`] follows (`**Verifies**: Requirement 3`).
/// Otherwise they name commands.
const VERIFIES: &[&str] = &["verifies", "验证"];

/// Prefixes of a requirement's number in running text.
const PREFIXES: &[&str] = &["FR-", "NFR-", "SC-", "AC-", "REQ-", "US-"];

impl TaskFile {
    /// Returns the requirements of each task as written (`1.1`, `2.1-2.4`, `FR-018`, `US1`), each once.
    ///
    /// A label without a number gives its words (`All backend requirements`).
    pub fn named_requirements(&self) -> Vec<Vec<String>> {
        self.task_lines()
            .iter()
            .map(|lines| read_requirements(lines))
            .collect()
    }
}

fn read_requirements(lines: &[&[u8]]) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((words, below)) = lines.split_first() {
        let words = String::from_utf8_lossy(words);
        in_words(&words, &mut found);
        // Every second part is emphasised: `Ship free **Validates: Requirements 1.1**`.
        for mark in ["**", "_"] {
            for value in words
                .split(mark)
                .skip(1)
                .step_by(2)
                .filter_map(|part| after_label(part.as_bytes()))
            {
                in_list(&value, &mut found);
            }
        }
        for value in below.iter().filter_map(|line| after_label(line)) {
            in_list(&value, &mut found);
        }
    }
    found
}

fn keep_reference(found: &mut Vec<String>, reference: &str) {
    if !reference.is_empty()
        && found.len() < MAX_KEPT
        && !found.iter().any(|known| known == reference)
    {
        found.push(reference.to_owned());
    }
}

/// Returns the text after a label for requirements: `1.1` of `- _Requirements: 1.1_`.
fn after_label(line: &[u8]) -> Option<String> {
    let text = read_item(line).map_or(line, |item| line.get(item.content..).unwrap_or_default());
    let text = String::from_utf8_lossy(text);
    let at = text.find([':', '：']).filter(|at| *at <= MAX_LABEL)?;
    let (label, value) = text.split_at_checked(at)?;
    let value = value.trim_start_matches([':', '：']);
    let label = label.trim_matches(is_emphasis).to_lowercase();
    let is_named = LABELS.split(", ").any(|known| known == label)
        || (VERIFIES.contains(&label.as_str()) && begins_with_label(&value.to_lowercase()));
    is_named.then(|| {
        clean_line("", value.as_bytes())
            .trim_matches(is_emphasis)
            .to_owned()
    })
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '_' | '*' | '\\') || c.is_whitespace()
}

fn begins_with_label(value: &str) -> bool {
    let value = value.trim_start_matches(is_emphasis);
    let rests = LABELS
        .split(", ")
        .filter_map(|label| value.strip_prefix(label));
    rests
        .filter_map(|rest| rest.chars().next())
        .any(|next| !next.is_ascii_alphabetic())
}

/// Adds the references in the text after a label, or the words if there is no reference.
fn in_list(value: &str, found: &mut Vec<String>) {
    let words = value
        .split(|c: char| c.is_whitespace() || ",;、，；()[]/".contains(c))
        .map(|word| word.trim_matches(['.', '*', '_', '`']));
    let references: Vec<&str> = words.filter(|word| is_reference(word)).collect();
    for reference in &references {
        keep_reference(found, reference);
    }
    if references.is_empty() {
        keep_reference(found, beginning(value, MAX_REFERENCE).trim_end());
    }
}

/// True for `1`, `1.2`, `FR-018`, `R1.2` and `1.1-1.5`.
fn is_reference(word: &str) -> bool {
    let is_range = ['-', '–', '~'].iter().any(|dash| {
        word.rsplit_once(*dash)
            .is_some_and(|(from, to)| is_single_reference(from) && is_single_reference(to))
    });
    word.len() <= MAX_REFERENCE && (is_range || is_single_reference(word))
}

/// True for a number that may follow up to eight capitals: `1.2`, `FR-018`.
fn is_single_reference(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - number.len();
    let number = if letters == 0 {
        number
    } else {
        number.strip_prefix('-').unwrap_or(number)
    };
    letters <= 8 && is_number(number)
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Adds the references in a task's words: `[US1]`, and words of the form `FR-018`.
fn in_words(words: &str, found: &mut Vec<String>) {
    for word in words.split_inclusive(|c| !is_word_character(c)) {
        let (word, end) = match word
            .char_indices()
            .next_back()
            .filter(|(_, c)| !is_word_character(*c))
        {
            Some((at, end)) => (word.get(..at).unwrap_or_default(), end),
            None => (word, ' '),
        };
        let word = word.trim_end_matches('.');
        let is_prefixed = PREFIXES
            .iter()
            .any(|prefix| word.strip_prefix(prefix).is_some_and(is_number));
        let is_story = matches!(end, ']' | ')') && word.strip_prefix("US").is_some_and(is_number);
        if word.len() <= MAX_REFERENCE && (is_prefixed || is_story) {
            keep_reference(found, word);
        }
    }
}

/// True for a character inside a word or a path.
fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || "-_./$".contains(c)
}
