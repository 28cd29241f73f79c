//! Finds words of a task that mean more than its box: optional, struck out, nothing to commit, wait for approval.
//!
//! Only plain forms are recognised. No other words have an effect.

/// True for `(optional)` anywhere, or `Optional:` at the beginning.
pub(super) fn says_optional(words: &str) -> bool {
    let words = words.to_lowercase();
    words.contains("(optional)") || bare_words(&words).starts_with("optional:")
}

/// True if all words are struck out, or `[removed]` is next to them.
pub(super) fn is_struck(words: &str) -> bool {
    let parts: Vec<&str> = words.split("~~").collect();
    let lower = words.to_lowercase();
    let is_removed =
        lower.trim_end().ends_with("[removed]") || bare_words(&lower).starts_with("[removed]");
    is_removed || parts.len() % 2 == 1 && has_words(&parts, 1) && !has_words(&parts, 0)
}

/// True if every second part from an index on has words.
fn has_words(parts: &[&str], from: usize) -> bool {
    let mut parts = parts.iter().skip(from).step_by(2);
    parts.any(|part| part.chars().any(char::is_alphanumeric))
}

/// True for a task that waits for approval: `APPROVE the schema`.
pub(super) fn is_approval(words: &str) -> bool {
    bare_words(words)
        .strip_prefix("APPROVE")
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// True for a line between tasks that stops the run for approval: `**STOP**: wait for approval`.
pub(super) fn is_stop(line: &str) -> bool {
    let start = line.find(char::is_alphanumeric).unwrap_or(line.len());
    let words = line.get(start..).unwrap_or_default();
    let end = words
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(words.len());
    let waits = [
        "approv", "sign-off", "sign off", "signoff", "confirm", "wait for", "ask the ",
    ];
    let lower = words.to_lowercase();
    matches!(words.get(..end), Some("STOP" | "PAUSE" | "HALT"))
        && waits.iter().any(|wait| lower.contains(wait))
}

/// True for the words of a heading over conditions rather than over work.
pub(super) fn is_checklist(title: &str) -> bool {
    let title = title.to_lowercase();
    let words = [
        "acceptance",
        "definition of done",
        "done when",
        "success criteria",
        "prerequisites",
    ];
    // Numbers, emoji and emphasis may precede the words.
    let start = title.trim_start_matches(|c: char| !c.is_alphabetic());
    words.iter().any(|word| start.starts_with(word))
        && !title.contains(['*', '?', '[', ']', '{', '}', '!', '\\'])
}

/// True for the words of a heading over work that is optional or for later.
pub(super) fn is_optional_section(title: &str) -> bool {
    let title = title.to_lowercase();
    let words = [
        "optional",
        "future",
        "nice to have",
        "nice-to-have",
        "stretch",
        "out of scope",
        "out-of-scope",
        "backlog",
        "icebox",
        "deferred",
        "not required",
        "someday",
    ];
    // The words begin a part: `Phase 5: Future work`, `Reports (optional)`.
    let mut parts = title.split([':', '：', '—', '–', '(', '[']);
    parts.any(|part| {
        let start = part.trim_start_matches(|c: char| !c.is_alphabetic());
        let rest = words.iter().find_map(|word| start.strip_prefix(word));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// True for a line below a task that declares an empty commit: `**Commit**: None`.
pub(super) fn commits_nothing(line: &str) -> bool {
    let lower = line.to_lowercase();
    let value = bare_words(&lower)
        .strip_prefix("commit")
        .map(|rest| rest.trim_start_matches(is_markup));
    let Some(value) = value.and_then(|rest| rest.strip_prefix(':')) else {
        return false;
    };
    let value = bare_words(value);
    let end = value
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(value.len());
    matches!(value.get(..end), Some("none" | "nothing" | "no"))
}

/// Returns the words without leading marks of lists and emphasis.
fn bare_words(words: &str) -> &str {
    words.trim_start_matches(|c| is_markup(c) || matches!(c, '-' | '+'))
}

fn is_markup(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_say_that_what_is_below_them_is_optional() {
        for title in [
            "Optional",
            "Future Enhancements (not required)",
            "Phase 5: Future work",
            "Reports (optional)",
            "6. Nice to have",
            "🚀 Stretch goals",
            "Out of Scope",
        ] {
            assert!(is_optional_section(title), "{title}");
        }
        for title in [
            "Optionality of fields",
            "Make the field optional",
            "Futures and streams",
            "Required",
        ] {
            assert!(!is_optional_section(title), "{title}");
        }
    }

    #[test]
    fn words_mean_what_their_author_meant() {
        type Asks = fn(&str) -> bool;
        let cases: [(Asks, &[&str], &[&str]); 6] = [
            (
                says_optional,
                &[
                    "Add docs (optional)",
                    "Optional: add docs",
                    "**Optional:** docs",
                    "(OPTIONAL) docs",
                ],
                &[
                    "make the field optional",
                    "optional chaining",
                    "Handle optional: values",
                ],
            ),
            (
                is_checklist,
                &[
                    "Acceptance Criteria",
                    "Definition of Done:",
                    "Done when",
                    "Success criteria",
                    "Prerequisites",
                    "8. Definition of Done",
                    "✅ Acceptance Criteria",
                ],
                &[
                    "Phase 2: Foundational (Blocking Prerequisites)",
                    "Accept it",
                    "Done when [x]",
                    "Tasks",
                ],
            ),
            (
                is_struck,
                &[
                    "~~Add docs~~",
                    "~~Add docs~~ [removed]",
                    "Add docs [REMOVED]",
                    "**~~a~~** ~~b~~ ✗",
                ],
                &[
                    "~~Sign-off~~ **Operational**: post it",
                    "remove the [removed] marker",
                    "~~a",
                    "~~~~",
                    "a",
                ],
            ),
            (
                is_approval,
                &["APPROVE", "APPROVE the schema", "**APPROVE**: the schema"],
                &["Approve the schema", "APPROVED", "implement APPROVE"],
            ),
            (
                is_stop,
                &[
                    "STOP: wait for approval",
                    "🛑 **STOP HERE** - get sign-off from the team",
                    "> PAUSE. Ask the user.",
                    "## HALT until a person confirms",
                ],
                &[
                    "4. **STOP and VALIDATE**: test story 1",
                    "Stop and wait for approval",
                    "STOPPED: confirm",
                    "",
                ],
            ),
            (
                commits_nothing,
                &[
                    "- **Commit**: None",
                    "  - Commit: nothing",
                    "*Commit:* `No commit`",
                    "- _Commit_: none (research)",
                ],
                &[
                    "- **Commit**: `fix: none left`",
                    "Commit none of the secrets",
                    "- Commit: nonempty",
                    "Committed: none",
                ],
            ),
        ];
        for (asks, meant, not_meant) in cases {
            for words in meant {
                assert!(asks(words), "{words}");
            }
            for words in not_meant {
                assert!(!asks(words), "{words}");
            }
        }
    }
}
