//! The tasks that a task needs: `(depends on T012, T013)` in its words, `_Depends: 2.1_` or `Depends on: 2` below it.
//!
//! Else those of its heading, else those of its wave. A list counts if it begins with an id, or is the word `none`. Words that follow and are no ids stay in the list. A need
//! that is no task of the file is never done.

use super::file::TaskFile;
use super::remark_kind::{Remark, RemarkKind};
use std::collections::HashSet;

/// Bytes of a line that are read.
const LONGEST: usize = 2_000;
/// Labels in lower case. The flag is true if a colon must follow.
const LABELS: [(&str, bool); 3] = [
    ("depends on", false),
    ("depends", true),
    ("dependencies", true),
];

/// The needs of a task.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskNeeds {
    /// `None` for a task that has its place in the order of the file.
    pub(super) ids: Option<Vec<String>>,
    /// The id of the heading whose needs these are.
    pub(super) work_package: Option<String>,
}

impl TaskFile {
    /// Returns the needs of each task, in document order.
    pub(super) fn task_needs(&self) -> Vec<TaskNeeds> {
        // `remark_headings` reports needs above the limit.
        let mut by_heading = self.needs_by_heading().unwrap_or_default();
        let mut by_wave = self.needs_by_wave();
        let named = self.tasks.iter().zip(self.named_needs());
        named
            .map(|(task, named)| {
                let family = task.key.family.as_str();
                let mut needs = TaskNeeds {
                    ids: named,
                    work_package: None,
                };
                if needs.ids.is_none() && task.is_implementation() {
                    needs = by_heading.remove(family).unwrap_or_default();
                    needs.ids = needs.ids.or_else(|| by_wave.remove(family));
                }
                needs
            })
            .collect()
    }

    /// Returns the needs that each task names, in document order; `None` for a task that names none.
    fn named_needs(&self) -> Vec<Option<Vec<String>>> {
        let tasks = self.tasks.iter().zip(self.task_lines());
        tasks
            .map(|(task, lines)| {
                let mut lines = lines.into_iter();
                let words = lines.next().unwrap_or_default();
                let own = task.is_implementation().then(|| in_words(words))?;
                own.or_else(|| lines.find_map(on_line))
            })
            .collect()
    }

    /// Adds a remark for each task, or heading, with a need that is no task of the file.
    pub(super) fn remark_needs(&self, remarks: &mut Vec<Remark>) {
        let known: HashSet<&str> = self
            .tasks
            .iter()
            .map(|task| task.key.family.as_str())
            .collect();
        let mut headings = HashSet::new();
        for (task, needs) in self.tasks.iter().zip(self.task_needs()) {
            let mut unknown = needs.ids.into_iter().flatten();
            let Some(need) = unknown.find(|need| !known.contains(need.as_str())) else {
                continue;
            };
            if needs.work_package.is_none_or(|id| headings.insert(id)) {
                let need = crate::source::text::line(&need, 40);
                remarks.push(Remark::new(
                    task.found.line,
                    RemarkKind::UnknownNeed,
                    &[&need],
                ));
            }
        }
    }
}

/// The needs in parentheses in a task's words.
fn in_words(words: &[u8]) -> Option<Vec<String>> {
    let words = readable(words);
    let lower = words.to_ascii_lowercase();
    lower.match_indices('(').find_map(|(at, _)| {
        let length = label_length(lower.get(at + 1..)?)?;
        let list = words.get(at + 1 + length..)?;
        let mut depth = 1_u32;
        let end = list.find(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        read_list(list.get(..end?)?)
    })
}

/// The needs on a line below a task.
pub(super) fn on_line(line: &[u8]) -> Option<Vec<String>> {
    let line = readable(line);
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*+_>".contains(c));
    let length = label_length(&line.to_ascii_lowercase())?;
    read_list(line.get(length..)?)
}

fn readable(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(..LONGEST).unwrap_or(line)).into_owned()
}

/// The length of the label at the start of a text in lower case, with its marks and its colon.
fn label_length(lower: &str) -> Option<usize> {
    LABELS.into_iter().find_map(|(label, wants_colon)| {
        let rest = lower.strip_prefix(label)?;
        let list = rest.trim_start_matches(|c: char| c.is_whitespace() || "*_:".contains(c));
        let between = rest.get(..rest.len() - list.len())?;
        let is_label = !between.is_empty() && (!wants_colon || between.contains(':'));
        is_label.then_some(lower.len() - list.len())
    })
}

/// The ids of a list; `None` if it begins with anything else.
fn read_list(list: &str) -> Option<Vec<String>> {
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | '—' | '–' if depth == 0 => break,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let sentence = plain.split(". ").next().unwrap_or_default();
    let words = sentence.split(|c: char| c.is_whitespace() || ",&+".contains(c));
    let mut words = words
        .map(|word| word.trim_matches(|c: char| "*_`'\"[].:".contains(c)))
        .filter(|word| {
            !matches!(
                word.to_ascii_lowercase().as_str(),
                "" | "and" | "task" | "tasks"
            )
        })
        .map(str::to_owned);
    let first = words.next()?;
    if first.eq_ignore_ascii_case("none") {
        return Some(Vec::new());
    }
    is_id(&first).then(|| std::iter::once(first).chain(words).collect())
}

pub(super) fn is_id(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::{in_words, on_line};

    #[test]
    fn real_forms_of_needs_are_read() {
        let all = |text: &str| in_words(text.as_bytes()).map(|ids| ids.join(" "));
        for (words, ids) in [
            (
                "Implement [Service] in src/x.py (depends on T012, T013)",
                Some("T012 T013"),
            ),
            ("Add (depends on T008 + T009)", Some("T008 T009")),
            ("Add (depends on T005 (same file), T006)", Some("T005 T006")),
            ("Add (Depends on: 2.1 and 3.)", Some("2.1 3")),
            ("Add (depends on Phase 2)", None),
            ("Add (depends on T056's binding)", None),
            ("Install core dependencies: `zod`, `pg`", None),
            ("No story depends on 2", None),
            ("(depends on T1", None),
        ] {
            assert_eq!(all(words).as_deref(), ids, "{words}");
        }
        let all = |text: &str| on_line(text.as_bytes()).map(|ids| ids.join(" "));
        for (line, ids) in [
            ("  - _Depends: 2.1, 2.2_", Some("2.1 2.2")),
            ("  _Dependencies: 1.1_", Some("1.1")),
            ("**Depends on**: none", Some("")),
            ("**Dependencies**: none (standalone)", Some("")),
            ("- Depends on: 2, 3.1", Some("2 3.1")),
            ("Dependencies: none. Risks: other fields 3", Some("")),
            (
                "- **Dependencies**: WP01, WP03 (ratchet chain).",
                Some("WP01 WP03"),
            ),
            ("Depends on WP01 through WP06", Some("WP01 through WP06")),
            ("Dependencies: zod, pg", None),
            ("dependencies 3", None),
            ("Depends on completion of T3", None),
            ("- Depends on", None),
            ("Dependson: 3", None),
        ] {
            assert_eq!(all(line).as_deref(), ids, "{line}");
        }
    }
}
