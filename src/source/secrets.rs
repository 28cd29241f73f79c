//! Removes secrets from outside text before it is recorded.
//!
//! The journal, progress.txt, prompts, reports and the terminal never hold them.

use super::environment::{is_passed, looks_secret};
use super::text::line;
use regex_lite::Regex;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// Minimum length of a secret value that can be distinguished from other text, in characters.
const SHORTEST: usize = 8;
/// Minimum length of a value that is searched in names and in ralph's commits, in characters.
const SHORTEST_RANDOM: usize = 12;
/// Minimum length of a value's beginning before a `…` to count as a truncated secret, in characters.
const SHORTEST_CUT: usize = 4;
/// Maximum length of a variable's name in output, in characters.
const LONGEST_NAME: usize = 60;

/// Forms of common secrets.
///
/// These are keys with the prefixes of model providers, GitHub, GitLab, AWS and Slack, private keys, JSON Web Tokens,
/// and passwords in URLs.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?s:-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$))|\bsk-(?:ant-[\w-]{8,}|[\w-]{20,})|\bgh[opsur]_\w{8,}|\bgithub_pat_\w{8,}|\bglpat-[\w-]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bxox[abeprs]-[\w-]{8,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?|\b[a-z][a-z+.-]*://[^\s/:@]*:[^\s/@]+@").ok()
});

/// Substrings of which every such text has one: searching for them is much faster.
const PARTS: &str =
    "-----BEGIN sk- ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- AKIA ASIA xox eyJ ://";

/// The known secrets: values of variables, and texts in the form of a secret.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// Each value in the forms in which a line may hold it, with its variable, longest first.
    values: Vec<(String, String)>,
}

impl Secrets {
    /// Collects the secrets of an environment.
    ///
    /// These are values of variables that programs do not receive by default and whose name marks a secret.
    pub fn of(environment: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in environment {
            let (name, value) = (name.as_ref(), value.as_ref());
            if is_passed(name) || !looks_secret(name) {
                continue;
            }
            for row in value.lines() {
                // Unchanged, and in the form of a line that was cleaned for display.
                let forms = [row.trim().to_owned(), line(row, usize::MAX)];
                let long = forms
                    .into_iter()
                    .filter(|form| form.chars().count() >= SHORTEST);
                values.extend(long.map(|form| (form, line(name, LONGEST_NAME))));
            }
        }
        values.sort_by_key(|(value, _)| Reverse(value.len()));
        Self { values }
    }

    /// Returns the text with `[redacted: NAME]` for each value and `[redacted]` for each text in the form of a
    /// secret.
    pub fn redact(&self, text: &str) -> String {
        let mut told = self.without_cut_values(text);
        for (value, name) in &self.values {
            told = told.replace(value, &marker(name));
        }
        match &*SHAPES {
            Some(shapes) if PARTS.split(' ').any(|part| told.contains(part)) => {
                shapes.replace_all(&told, "[redacted]").into_owned()
            }
            _ => told,
        }
    }

    /// Returns the variable whose value is in these bytes. Forms of secrets are not searched.
    pub fn variable_in(&self, bytes: &[u8]) -> Option<&str> {
        let text = String::from_utf8_lossy(bytes);
        self.values
            .iter()
            .find(|(value, _)| text.contains(value))
            .map(|(_, name)| name.as_str())
    }

    /// Returns the variable whose value is in the name of a file or branch.
    ///
    /// A value that may be a word, as a password often is, is not searched for: many names hold `postgres`.
    pub fn in_name(&self, name: &str) -> Option<&str> {
        let found = self
            .values
            .iter()
            .find(|(value, _)| is_no_word(value) && name.contains(value));
        found.map(|(_, name)| name.as_str())
    }

    /// Returns the name with `[redacted: NAME]` in place of each such value.
    pub fn redact_name(&self, name: &str) -> String {
        let known = self.values.iter().filter(|(value, _)| is_no_word(value));
        known.fold(name.to_owned(), |told, (value, name)| {
            told.replace(value, &marker(name))
        })
    }

    /// Describes the secret in a file that ralph is to commit: a value as in names, or a text in the form of a key.
    ///
    /// URLs with a password do not count: examples and tests are full of them.
    pub fn in_file(&self, bytes: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        if let Some(name) = self.in_name(&text) {
            return Some(format!("the value of {name}"));
        }
        let shapes = SHAPES
            .as_ref()
            .filter(|_| PARTS.split(' ').any(|part| text.contains(part)))?;
        let is_key = shapes
            .find_iter(&text)
            .any(|found| !found.as_str().contains("://"));
        is_key.then(|| "what looks like a key".to_owned())
    }

    /// Redacts values that a cut (`…`) shortened.
    fn without_cut_values(&self, text: &str) -> String {
        text.split_inclusive('…')
            .map(|part| self.redact_cut(part).unwrap_or_else(|| part.to_owned()))
            .collect()
    }

    /// Redacts the value whose beginning is before the `…` at the end of a text, if there is one.
    fn redact_cut(&self, part: &str) -> Option<String> {
        let cut = part.strip_suffix('…')?;
        let left = self
            .values
            .iter()
            .filter_map(|(value, name)| Some((left_of(value, cut)?, name)));
        let (length, name) = left.max_by_key(|(length, _)| *length)?;
        Some(format!("{}{}…", &cut[..cut.len() - length], marker(name)))
    }
}

/// True for a value that does not occur by chance: many letters and digits.
fn is_no_word(value: &str) -> bool {
    value.chars().count() >= SHORTEST_RANDOM
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(char::is_alphabetic)
}

fn marker(name: &str) -> String {
    format!("[redacted: {name}]")
}

/// Returns the length in bytes of the value's beginning at the end of the text.
///
/// The longest such beginning counts.
fn left_of(value: &str, text: &str) -> Option<usize> {
    let ends = value.char_indices().skip(SHORTEST_CUT).map(|(end, _)| end);
    ends.filter(|end| text.ends_with(&value[..*end])).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets(environment: &[(&str, &str)]) -> Secrets {
        let owned: Vec<(String, String)> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Secrets::of(owned.iter().map(|(name, value)| (name, value)))
    }

    #[test]
    fn values_of_variables_whose_name_looks_secret_go() {
        let known = secrets(&[
            ("API_KEY", "abcdefgh"),
            ("LONGER_TOKEN", "abcdefgh-ijkl"),
            ("SHORT_TOKEN", "1234567"),
            ("PATH", "/usr/bin:/bin"),
            ("STAGE", "production"),
            ("WIDE_SECRET", " one  two\tthree "),
            ("TLS_KEY", "-----first line\nsecond line\r\nshort\n"),
        ]);
        for (text, told) in [
            (
                "x=abcdefgh, y=abcdefgh-ijklm",
                "x=[redacted: API_KEY], y=[redacted: LONGER_TOKEN]m",
            ),
            (
                "1234567 /usr/bin:/bin production",
                "1234567 /usr/bin:/bin production",
            ),
            (
                "one two three; one  two\tthree",
                "[redacted: WIDE_SECRET]; [redacted: WIDE_SECRET]",
            ),
            ("second line | short", "[redacted: TLS_KEY] | short"),
            (
                "it is abcdefg… and abc…",
                "it is [redacted: API_KEY]… and abc…",
            ),
            (
                "abcdefgh-ij… or …abcd…",
                "[redacted: LONGER_TOKEN]… or …[redacted: API_KEY]…",
            ),
            ("", ""),
        ] {
            assert_eq!(known.redact(text), told);
        }
    }

    #[test]
    fn names_and_commits_are_searched_for_what_nobody_writes_by_chance() {
        let known = secrets(&[
            ("DB_PASSWORD", "postgresql-server"),
            ("API_KEY", "canary-0123456789"),
        ]);
        assert_eq!(known.in_name("src/postgresql-server.py"), None);
        assert_eq!(
            known.in_name("notes-canary-0123456789.txt"),
            Some("API_KEY")
        );
        assert_eq!(
            known.redact_name("a/canary-0123456789/postgresql-server"),
            "a/[redacted: API_KEY]/postgresql-server"
        );
        assert_eq!(
            known.in_file(b"k = 'canary-0123456789'").as_deref(),
            Some("the value of API_KEY")
        );
        assert_eq!(
            known.in_file(b"ghp_0123456789abcdef").as_deref(),
            Some("what looks like a key")
        );
        assert_eq!(
            known.in_file(b"postgres://user:password@localhost, postgresql-server"),
            None
        );
    }

    #[test]
    fn shapes_of_secrets_go() {
        let none = secrets(&[]);
        for secret in [
            "sk-ant-api03-AbCd_efgh-0123",
            "sk-proj-0123456789abcdefghijkl",
            "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
            "gho_0123456789abcdefghijklmnopqrstuvwxyz",
            "github_pat_11AAAAAAA0123456789_abcdef",
            "glpat-0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-123456789012-abcdefghijkl",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
            "https://oauth2:password@",
            "-----BEGIN RSA PRIVATE KEY----- MIIE | 0123 | -----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
        ] {
            assert_eq!(
                none.redact(&format!("a '{secret}' b")),
                "a '[redacted]' b",
                "{secret}"
            );
        }
        assert_eq!(
            none.redact("-----BEGIN PRIVATE KEY----- MIIE | 0123…"),
            "[redacted]"
        );
    }

    #[test]
    fn what_builds_say_stays() {
        let none = secrets(&[]);
        for text in [
            "[ERROR] Tests run: 12, Failures: 1 in org.example.TaskTest (src/test/java/TaskTest.java:12)",
            "task-sk-1, disk-usage-of-the-whole-machine, risk-free-implementation-of-it",
            "5b85a6681f0cbb0eed1c1a0fd8a8e3f9f1d9c7f2 refs/ralph/rejected/3",
            "https://repo.maven.apache.org/maven2/a:b:jar:1.0 user@example.org scm:git:ssh://git@example.org:22/a",
            "-----BEGIN CERTIFICATE----- MIIE -----END CERTIFICATE-----",
            "AKIA is a prefix… and so is ghp_ and eyJ.",
        ] {
            assert_eq!(none.redact(text), text);
        }
    }

    #[test]
    fn a_very_long_value_is_found() {
        let value = "0123456789".repeat(10_000);
        assert_eq!(
            secrets(&[("A_TOKEN", &value)]).redact(&format!("a {value} b")),
            "a [redacted: A_TOKEN] b"
        );
    }

    proptest! {
        #[test]
        fn no_value_survives_clean_text_stays_and_the_length_is_bounded(
            values in prop::collection::vec("[!-Z^-~ä]{8,20}", 0..5),
            parts in prop::collection::vec(("[a-z …\n]{0,9}", any::<prop::sample::Index>(), 0usize..30), 0..8),
        ) {
            let environment: Vec<(String, String)> =
                values.iter().enumerate().map(|(at, value)| (format!("K{at}_TOKEN"), value.clone())).collect();
            let known = Secrets::of(environment.iter().map(|(name, value)| (name, value)));
            let text: String = parts.iter().map(|(text, which, length)| {
                let value = if values.is_empty() { "" } else { which.get(&values) };
                let cut = value.chars().take(*length).collect::<String>();
                if cut.len() < value.len() { format!("{text}{cut}…") } else { format!("{text}{cut}") }
            }).collect();
            let told = known.redact(&text);
            prop_assert!(!values.iter().any(|value| told.contains(value.as_str())), "{told:?}");
            for value in &values {
                let half: String = value.chars().take(SHORTEST_CUT).collect();
                let is_left = told.contains(&format!("{half}…"));
                prop_assert!(!is_left, "{told:?}");
            }
            prop_assert!(told.chars().count() <= 6 * text.chars().count(), "{told:?}");
            if values.is_empty() {
                prop_assert_eq!(told, text);
            }
        }

        #[test]
        fn any_text_can_be_searched(value in any::<String>(), text in any::<String>()) {
            let known = secrets(&[("A_SECRET", &value)]);
            let told = known.redact(&format!("{text}{value}{text}"));
            let row = value.lines().map(str::trim).find(|row| row.chars().count() >= SHORTEST);
            prop_assert!(row.is_none_or(|row| !told.contains(row)) , "{told:?}");
        }
    }
}
