//! Recognises tasks that only write tests. A gate behind such a task can report FAIL or SKIP, and never PASS.
//!
//! A later task writes the class under test, so the tests do not compile yet (spec-kit's template has such tasks). If
//! the class exists, the task changes no class, and there is nothing to judge.
//!
//! Only plain forms are recognised. Any other task keeps its gate: a missing gate is worse than one that fails.

/// Verbs before the tests: `Write failing tests for …`.
const VERBS: [&str; 5] = ["write", "add", "create", "author", "draft"];

/// Kinds of tests, without a verb before them: `Contract test for …`.
const KINDS: [&str; 20] = [
    "unit",
    "integration",
    "contract",
    "e2e",
    "end-to-end",
    "acceptance",
    "regression",
    "property",
    "property-based",
    "smoke",
    "snapshot",
    "failing",
    "component",
    "functional",
    "api",
    "parametrised",
    "parametrized",
    "focused",
    "new",
    "more",
];

/// Words that may follow the tests. `Add tests and the price` does more than write tests.
const FOLLOWERS: [&str; 15] = [
    "for",
    "of",
    "in",
    "that",
    "covering",
    "verifying",
    "proving",
    "asserting",
    "across",
    "with",
    "on",
    "against",
    "using",
    "case",
    "cases",
];

/// Words between the verb and the tests that begin something else: `Add a page in tests`.
const STOPS: [&str; 8] = ["for", "of", "in", "to", "with", "that", "and", "or"];

/// Beginnings of words for other work than tests: `… and make them pass`.
const WORK: [&str; 6] = ["implement", "refactor", "fix", "pass", "green", "make"];

/// Maximum number of words between a verb and the tests.
const BETWEEN: usize = 4;

/// True if a task's words name only work on tests and only test files.
pub(super) fn only_writes_tests(words: &str) -> bool {
    let tokens: Vec<&str> = words
        .split_whitespace()
        .skip_while(|token| token.starts_with('[') && token.ends_with(']'))
        .collect();
    begins_with_tests(&tokens)
        && !does_other_work(&tokens)
        && tokens
            .iter()
            .all(|token| !is_path(token) || is_test_path(token))
}

fn begins_with_tests(tokens: &[&str]) -> bool {
    let has_verb = word_at(tokens, 0).is_some_and(|word| VERBS.contains(&word.as_str()));
    let first = usize::from(has_verb);
    for at in first..=first + BETWEEN {
        let (Some(token), Some(word)) = (tokens.get(at), word_at(tokens, at)) else {
            return false;
        };
        if is_path(token) {
            return has_verb && is_test_path(token);
        }
        if word == "test" || word == "tests" {
            let ends_here = token.ends_with([':', ',', '.', ';']);
            return ends_here || tokens.get(at + 1).is_none_or(|next| may_follow(next));
        }
        let may_be_between = if has_verb {
            !STOPS.contains(&word.as_str())
        } else {
            KINDS.contains(&word.as_str())
        };
        if !may_be_between {
            return false;
        }
    }
    false
}

fn word_at(tokens: &[&str], at: usize) -> Option<String> {
    tokens
        .get(at)
        .map(|token| plain_token(token).to_lowercase())
}

fn may_follow(token: &str) -> bool {
    FOLLOWERS.contains(&plain_token(token).to_lowercase().as_str())
        || is_test_path(token)
        || !token.starts_with(|c: char| c.is_alphanumeric() || c == '`')
}

/// True if the words mention more than tests. `before implementing it` does not.
fn does_other_work(tokens: &[&str]) -> bool {
    let mut before = String::new();
    for token in tokens.iter().filter(|token| !is_path(token)) {
        let word = plain_token(token).to_lowercase();
        if before != "before" && WORK.iter().any(|work| word.starts_with(work)) {
            return true;
        }
        before = word;
    }
    false
}

/// Returns a token without marks around it.
fn plain_token(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

/// True for a path: `src/Price.java`, `price.py`.
fn is_path(token: &str) -> bool {
    let path = plain_token(token);
    let has_extension = path.rsplit_once('.').is_some_and(|(stem, end)| {
        let is_word = end.len() <= 5 && end.chars().all(char::is_alphanumeric);
        is_word && stem.ends_with(char::is_alphanumeric) && !end.starts_with(char::is_numeric)
    });
    path.contains('/') && !path.contains("//") || has_extension
}

/// True for a path below a test directory, or with the name of a test file.
fn is_test_path(token: &str) -> bool {
    let path = plain_token(token);
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let is_named = ["Test", "Tests", "TestCase", "IT", "Spec", "_test", "_spec"]
        .iter()
        .any(|end| stem.ends_with(end));
    is_path(token)
        && (folders.split('/').any(|part| {
            matches!(
                part,
                "test" | "tests" | "spec" | "specs" | "__tests__" | "e2e"
            )
        }) || is_named
            || stem.starts_with("test_")
            || name.contains(".test.")
            || name.contains(".spec."))
}

#[cfg(test)]
mod tests {
    use super::only_writes_tests;

    #[test]
    fn plain_forms_are_tests_alone_and_all_else_keeps_its_gate() {
        for words in [
            "[P] [US1] Contract test for POST /returns in src/test/java/shop/ReturnsTest.java",
            "[P] [US2] Integration test for [user journey] in tests/integration/test_[name].py",
            "Write failing tests for the shipping cost",
            "Write tests for returns (before implementing them)",
            "Test for the price",
            "Tests: the limits of the price",
            "Unit tests",
            "Create `tests/integration/test_research_workflow.py`",
            "Write `tests/test_handler.lua`: test the residual handler. Must FAIL initially.",
            "Add 4 new tests in `tests/sync/test_diagnose.py`: recognition (WP01)",
        ] {
            assert!(only_writes_tests(words), "{words}");
        }
        for words in [
            "Implement returns in src/main/java/shop/Returns.java",
            "Compute the shipping cost and write tests for it",
            "Write tests and the price",
            "Write tests for the price in src/main/java/shop/Price.java",
            "Write tests for the price and implement it",
            "Write tests for the price until they pass",
            "Add a price class in tests",
            "Add test endpoint for the price",
            "Update the parser so that tests/test_parser.py passes",
            "Make tests/test_parser.py green",
            "Test the whole research workflow",
            "Run the tests",
            "Add the latest.java",
            "Create database connection module in src/lib/db/client.ts with an adapter for tests",
            "",
        ] {
            assert!(!only_writes_tests(words), "{words}");
        }
    }
}
