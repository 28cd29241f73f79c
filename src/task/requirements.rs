//! The requirements that a task names: `_Requirements: 1.1_` below it, `[US1]` and `FR-018` in its words.

mod unknown;

use super::file::TaskFile;
use super::scan::item;
use super::text::clean;

/// Most references that are kept of one task.
const MAX_KEPT: usize = 64;
/// Longest reference, bytes.
const MAX_REFERENCE: usize = 80;
/// Longest label, bytes.
const MAX_LABEL: usize = 48;

/// The words before a colon that name requirements, lower case: English and the languages in which Kiro
/// and cc-sdd write their files.
const LABELS: &str = "requirements, requirement, requirement refs, requirements refs, validates, requisitos, 需求, 要求, \
    要件, 요구사항, 요구 사항, anforderungen, exigences, requisiti, требования, вимоги, wymagania, gereksinimler, yêu cầu, \
    المتطلبات";

/// The words before a colon that name requirements only when one of [`LABELS`] follows
/// (`**Verifies**: Requirement 3`); otherwise they name commands.
const VERIFIES: &[&str] = &["verifies", "验证"];

/// What begins a requirement's number in running text.
const PREFIXES: &[&str] = &["FR-", "NFR-", "SC-", "AC-", "REQ-", "US-"];

impl TaskFile {
    /// The requirements that each task names, as they are written (`1.1`, `2.1-2.4`, `FR-018`, `US1`), each
    /// once; words where a label has no number (`All backend requirements`).
    pub fn requirements(&self) -> Vec<Vec<String>> {
        self.task_lines().iter().map(|lines| requirements(lines)).collect()
    }
}

fn requirements(lines: &[&[u8]]) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((words, below)) = lines.split_first() {
        in_words(&String::from_utf8_lossy(words), &mut found);
        for value in below.iter().filter_map(|line| labelled(line)) {
            in_list(&value, &mut found);
        }
    }
    found
}

fn keep(found: &mut Vec<String>, reference: &str) {
    if !reference.is_empty() && found.len() < MAX_KEPT && !found.iter().any(|known| known == reference) {
        found.push(reference.to_owned());
    }
}

/// What follows a label for requirements: `1.1` of `- _Requirements: 1.1_`.
fn labelled(line: &[u8]) -> Option<String> {
    let text = item(line).map_or(line, |item| line.get(item.content..).unwrap_or_default());
    let text = String::from_utf8_lossy(text);
    let at = text.find([':', '：']).filter(|at| *at <= MAX_LABEL)?;
    let (label, value) = text.split_at_checked(at)?;
    let value = value.trim_start_matches([':', '：']);
    let label = label.trim_matches(is_emphasis).to_lowercase();
    let is_named = LABELS.split(", ").any(|known| known == label)
        || (VERIFIES.contains(&label.as_str()) && begins_with_label(&value.to_lowercase()));
    is_named.then(|| clean("", value.as_bytes()).trim_matches(is_emphasis).to_owned())
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '_' | '*' | '\\') || c.is_whitespace()
}

fn begins_with_label(value: &str) -> bool {
    let value = value.trim_start_matches(is_emphasis);
    let rests = LABELS.split(", ").filter_map(|label| value.strip_prefix(label));
    rests.filter_map(|rest| rest.chars().next()).any(|next| !next.is_ascii_alphabetic())
}

/// The references in what follows a label; the words themselves where there is none.
fn in_list(value: &str, found: &mut Vec<String>) {
    let ends = |c: char| c.is_whitespace() || ",;、，；()[]/".contains(c);
    let words = value.split(ends).map(|word| word.trim_matches(['.', '*', '_', '`']));
    let references: Vec<&str> = words.filter(|word| is_reference(word)).collect();
    for reference in &references {
        keep(found, reference);
    }
    if references.is_empty() {
        let end = (0..=value.len().min(MAX_REFERENCE)).rev().find(|at| value.is_char_boundary(*at));
        keep(found, value.get(..end.unwrap_or(0)).unwrap_or_default().trim_end());
    }
}

/// `1`, `1.2`, `FR-018`, `R1.2`, `1.1-1.5`.
fn is_reference(word: &str) -> bool {
    word.len() <= MAX_REFERENCE && !ends(word).is_empty()
}

/// The letters and the number of a reference, or of both ends of a range; empty for any other word.
fn ends(word: &str) -> Vec<(&str, &str)> {
    let range = || {
        ['-', '–', '~'].iter().find_map(|dash| {
            let (from, to) = word.rsplit_once(*dash)?;
            Some(vec![single(from)?, single(to)?])
        })
    };
    single(word).map(|one| vec![one]).or_else(range).unwrap_or_default()
}

/// `("FR", "018")` of `FR-018`.
fn single(word: &str) -> Option<(&str, &str)> {
    let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let (letters, _) = word.split_at_checked(word.len() - number.len())?;
    let number = if letters.is_empty() { number } else { number.strip_prefix('-').unwrap_or(number) };
    (letters.len() <= 8 && is_number(number)).then_some((letters, number))
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// The references in a task's words: `[US1]`, and `FR-018` and the like as words of their own.
fn in_words(words: &str, found: &mut Vec<String>) {
    let is_inside = |c: char| c.is_alphanumeric() || "-_./$".contains(c);
    for word in words.split_inclusive(|c| !is_inside(c)) {
        let (word, end) = match word.char_indices().next_back().filter(|(_, c)| !is_inside(*c)) {
            Some((at, end)) => (word.get(..at).unwrap_or_default(), end),
            None => (word, ' '),
        };
        let word = word.trim_end_matches('.');
        let is_prefixed = PREFIXES.iter().any(|prefix| word.strip_prefix(prefix).is_some_and(is_number));
        let is_story = matches!(end, ']' | ')') && word.strip_prefix("US").is_some_and(is_number);
        if word.len() <= MAX_REFERENCE && (is_prefixed || is_story) {
            keep(found, word);
        }
    }
}
