//! Reads the verdict line `RALPH-VERDICT <token>: …`, the only part of an agent's output with a meaning
//! (docs/design.md "Evidence").
//!
//! The token is the attempt's own, so a line by another author that the agent shows does not count. A line with the
//! token may have the markup that models add. The rest of its message is its reason. A line without a token, which
//! only a user's own template requests, must have the exact form.

use crate::machine::facts::Claim;
use crate::source::text;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, Read};
use std::mem::discriminant;

/// Maximum length of a kept reason, in characters.
pub const MAX_WHY: usize = 2_000;

/// Maximum length of a verdict line, in bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// Maximum number of lines with other tokens. An output with more tries all possible tokens.
const MOST_GUESSES: usize = 16;

/// Maximum length of a quoted line, in characters.
const QUOTED: usize = 200;

/// The start of a verdict line.
pub(super) const NAME: &str = "RALPH-VERDICT";

/// Returns the line by which an agent reports that it cannot do its work.
pub fn blocked_line(token: &str, why: &str) -> String {
    format!("{NAME} {token}: BLOCKED {}", text::line(why, MAX_WHY))
}

/// The form of a verdict line in the output of one attempt.
#[derive(Clone, Debug, Default)]
pub struct VerdictLine {
    /// Four hex digits that this attempt's prompt and environment hold.
    pub token: String,
    /// True if the attempt's template does not name the token, so lines without one count too.
    pub or_bare: bool,
}

impl VerdictLine {
    /// Draws a new token, which cannot be guessed from earlier ones.
    pub fn draw(or_bare: bool) -> Self {
        // The hasher's keys are random numbers of the system.
        let drawn = RandomState::new().build_hasher().finish();
        Self {
            token: format!("{:04x}", drawn & 0xffff),
            or_bare,
        }
    }

    /// Returns the claim of a plain output: its last verdict line, unless another one contradicts it, with the rest.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn read(&self, output: impl Read) -> io::Result<Option<Claim>> {
        let mut heard = self.listen();
        for line in BufReader::new(output).split(b'\n') {
            heard.line(&String::from_utf8_lossy(&line?));
        }
        Ok(heard.claim())
    }

    /// Starts to read an agent's own words, message by message.
    pub fn listen(&self) -> Heard {
        Heard {
            verdict: self.clone(),
            ..Heard::default()
        }
    }

    /// True if the line would count as a verdict.
    pub(super) fn reads(&self, line: &str) -> bool {
        matches!(self.said(line), Some(LineMeaning::Claim(..)))
    }

    /// Reads a line; `None` if it is not a verdict line.
    fn said(&self, line: &str) -> Option<LineMeaning> {
        if self.or_bare
            && let Some(rest) = line
                .strip_prefix(NAME)
                .and_then(|rest| rest.strip_prefix(": "))
            && let Some(claim) = claim_of(rest.split(' ').next()?)
        {
            return Some(LineMeaning::Claim(
                claim,
                text::line(rest.split_once(' ').map_or("", |rest| rest.1), MAX_WHY),
            ));
        }
        let line = text::line(line, LONGEST_LINE);
        let (_, shown) = line.split_once(NAME)?;
        // Without quote and list marks, emphasis, backticks, blanks.
        let bare = line
            .trim_start_matches(|c: char| is_markup(c) || c.is_ascii_digit() || ".)".contains(c));
        let Some(rest) = bare.strip_prefix(NAME) else {
            return Some(LineMeaning::Odd {
                own: false,
                line: text::line(&line, QUOTED),
            });
        };
        let rest = rest.trim_start_matches(|c| is_markup(c) || "<([".contains(c));
        let (token, rest) = rest.split_at(
            rest.find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(rest.len()),
        );
        let own = token.eq_ignore_ascii_case(&self.token);
        if token.len() == 4 && !own {
            return Some(LineMeaning::Guess);
        }
        let rest = rest.trim_start_matches(|c| is_markup(c) || ">)]:".contains(c));
        let (word, why) = rest.split_at(
            rest.find(|c: char| !(c.is_ascii_alphabetic() || c == '-'))
                .unwrap_or(rest.len()),
        );
        let why = why.trim_start_matches(|c| is_markup(c) || ".:;,!–—".contains(c));
        let is_choice =
            why.starts_with(['/', '|', '?']) || why.starts_with("or ") || shown.contains(NAME);
        match claim_of(word.trim_end_matches('-')).filter(|_| own && !is_choice) {
            Some(claim) => {
                let closing =
                    &line[..line.len() - bare.len()].trim_start_matches(|c| !"*_`\"'".contains(c));
                Some(LineMeaning::Claim(
                    claim,
                    why.strip_suffix(closing).unwrap_or(why).to_owned(),
                ))
            }
            None => Some(LineMeaning::Odd {
                own,
                line: text::line(&line, QUOTED),
            }),
        }
    }
}

fn is_markup(c: char) -> bool {
    c.is_whitespace() || ">*_`~#+-•\"'".contains(c)
}

/// The content of one line.
enum LineMeaning {
    /// A verdict, and the reason on its own line.
    Claim(Claim, String),
    /// A line with another token.
    Guess,
    /// The verdict line in another form. `own` if it is a whole line with the token.
    Odd { own: bool, line: String },
}

/// The lines of an output so far.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    verdict: VerdictLine,
    last: Option<Claim>,
    /// True if the message continues after a verdict line.
    open: bool,
    /// The words since that line.
    why: String,
    /// The last reason that was not empty.
    reason: String,
    /// The end of the text before the first verdict line.
    before: String,
    contradicts: bool,
    guesses: usize,
    /// The line most similar to a verdict, and true if it has the token.
    odd: Option<(bool, String)>,
}

impl Heard {
    /// Reads the lines of one message of the agent, from its beginning to its end.
    pub fn message(&mut self, message: &str) {
        message.lines().for_each(|line| self.line(line));
        self.close();
        self.open = false;
    }

    fn line(&mut self, line: &str) {
        if line.len() > LONGEST_LINE {
            return;
        }
        match self.verdict.said(line.strip_suffix('\r').unwrap_or(line)) {
            Some(LineMeaning::Claim(claim, why)) => {
                self.close();
                self.contradicts |= !self
                    .last
                    .as_ref()
                    .is_none_or(|last| discriminant(last) == discriminant(&claim));
                (self.last, self.why, self.open) = (Some(claim), why, true);
                return;
            }
            Some(LineMeaning::Guess) => self.guesses += 1,
            Some(LineMeaning::Odd { own, line }) if own || !self.verdict.or_bare => {
                if own || self.odd.as_ref().is_none_or(|(own, _)| !own) {
                    self.odd = Some((own, line));
                }
            }
            Some(LineMeaning::Odd { .. }) | None => {}
        }
        let words = if self.open {
            &mut self.why
        } else {
            &mut self.before
        };
        if !self.open || words.len() < 4 * MAX_WHY {
            words.push('\n');
            words.push_str(line);
        }
        if self.before.len() > 4 * LONGEST_LINE {
            self.before = last_characters(&self.before, MAX_WHY);
        }
    }

    /// Completes the reason of the last verdict line.
    fn close(&mut self) {
        let why = tidy(&std::mem::take(&mut self.why));
        if !why.is_empty() {
            self.reason = why;
        }
    }

    /// Returns the claim of the whole output.
    pub fn claim(mut self) -> Option<Claim> {
        self.close();
        if self.guesses > MOST_GUESSES {
            let why = "its output holds verdict lines with many other tokens".to_owned();
            return Some(Claim::Unclear { why });
        }
        if self.contradicts {
            let why = "its verdict lines contradict each other".to_owned();
            return Some(Claim::Unclear { why });
        }
        let words = "behind the token comes PASS, FAIL, NOTHING-TO-DO or BLOCKED";
        match (self.last, self.odd) {
            (None, Some((false, line))) => Some(Claim::Unclear {
                why: format!(
                    "it printed no verdict line with the token of its prompt; the nearest is `{line}`"
                ),
            }),
            (None | Some(Claim::Pass), Some((true, line))) => Some(Claim::Unclear {
                why: format!("its line `{line}` is not understood: {words}"),
            }),
            // Findings often come first, and the line alone at the end.
            (Some(Claim::Fail { .. }), _) if self.reason.is_empty() => Some(Claim::Fail {
                why: tidy(&last_characters(&self.before, MAX_WHY)),
            }),
            (Some(Claim::Fail { .. }), _) => Some(Claim::Fail { why: self.reason }),
            (Some(Claim::NothingToDo { .. }), _) => Some(Claim::NothingToDo { why: self.reason }),
            (Some(Claim::Blocked { .. }), _) => Some(Claim::Blocked { why: self.reason }),
            (last, _) => last,
        }
    }
}

/// Removes unsafe characters and the end of a fence from a reason, and cuts a long one.
fn tidy(why: &str) -> String {
    let why = text::block(why);
    let why = why.trim();
    let why = why
        .strip_suffix("```")
        .filter(|rest| rest.matches("```").count() % 2 == 0)
        .unwrap_or(why)
        .trim_end();
    match why.char_indices().nth(MAX_WHY) {
        None => why.to_owned(),
        Some(_) => why.chars().take(MAX_WHY - 1).chain(['…']).collect(),
    }
}

fn last_characters(text: &str, most: usize) -> String {
    let from = text
        .char_indices()
        .rev()
        .nth(most.saturating_sub(1))
        .map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

fn claim_of(word: &str) -> Option<Claim> {
    let why = String::new();
    match word {
        "PASS" => Some(Claim::Pass),
        "FAIL" => Some(Claim::Fail { why }),
        "NOTHING-TO-DO" => Some(Claim::NothingToDo { why }),
        "BLOCKED" => Some(Claim::Blocked { why }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bare() -> VerdictLine {
        VerdictLine {
            token: "3f9a".to_owned(),
            or_bare: true,
        }
    }

    fn own(output: &str) -> Option<Claim> {
        let own = VerdictLine {
            or_bare: false,
            ..bare()
        };
        own.read(output.as_bytes()).expect("memory can be read")
    }

    fn is_unclear(claim: Option<&Claim>) -> bool {
        matches!(claim, Some(Claim::Unclear { .. }))
    }

    fn claim(output: &str) -> Option<Claim> {
        bare().read(output.as_bytes()).expect("memory can be read")
    }

    fn fail(why: &str) -> Claim {
        Claim::Fail {
            why: why.to_owned(),
        }
    }

    fn unclear(claim: Option<Claim>) -> String {
        let Some(Claim::Unclear { why }) = claim else {
            panic!("{claim:?}")
        };
        why
    }

    #[test]
    fn the_last_matching_line_counts() {
        assert_eq!(
            claim("text\nRALPH-VERDICT: PASS\nRALPH-VERDICT: PASS\nbye\n"),
            Some(Claim::Pass)
        );
        assert_eq!(
            claim("RALPH-VERDICT: FAIL a\nRALPH-VERDICT: FAIL no test for R2"),
            Some(fail("no test for R2"))
        );
        assert_eq!(
            claim("RALPH-VERDICT: PASS\nRALPH-VERDICT: MAYBE\n"),
            Some(Claim::Pass)
        );
        assert_eq!(
            claim("RALPH-VERDICT: NOTHING-TO-DO all done\r\n"),
            Some(Claim::NothingToDo {
                why: "all done".to_owned()
            })
        );
    }

    #[test]
    fn where_the_template_names_the_token_only_lines_with_it_count() {
        assert_eq!(
            own("RALPH-VERDICT: PASS\nRALPH-VERDICT 3f9a: FAIL a b"),
            Some(fail("a b"))
        );
        assert_eq!(
            own("RALPH-VERDICT 0000: PASS\nRALPH-VERDICT 3f9a: PASS"),
            Some(Claim::Pass)
        );
        for none in ["", ":", " 3f9:", " 3f9ab:", " <token>:", ": 3f9a:"] {
            let said = unclear(own(&format!("RALPH-VERDICT{none} PASS")));
            assert!(
                said.contains(&format!(
                    "no verdict line with the token of its prompt; the nearest is `RALPH-VERDICT{none} PASS`"
                )),
                "{said}"
            );
        }
        assert_eq!(own("RALPH-VERDICT 0000: PASS"), None);
        assert_eq!(
            claim("RALPH-VERDICT 3f9a: PASS"),
            Some(Claim::Pass),
            "the variable of the environment is always there"
        );
        assert_eq!(claim("RALPH-VERDICT 3f9b: PASS"), None);
    }

    #[test]
    fn lines_that_contradict_each_other_are_no_verdict() {
        assert!(is_unclear(
            own("RALPH-VERDICT 3f9a: FAIL a\nRALPH-VERDICT 3f9a: PASS\n").as_ref()
        ));
        assert!(is_unclear(
            own("RALPH-VERDICT 3f9a: PASS\nRALPH-VERDICT 3f9a: FAIL\nRALPH-VERDICT 3f9a: PASS\n")
                .as_ref()
        ));
        assert!(is_unclear(
            claim("RALPH-VERDICT: FAIL a\nRALPH-VERDICT 3f9a: PASS\n").as_ref()
        ));
        assert!(is_unclear(
            claim("RALPH-VERDICT: NOTHING-TO-DO\nRALPH-VERDICT: PASS\n").as_ref()
        ));
    }

    #[test]
    fn an_output_that_holds_many_tokens_is_no_verdict() {
        let guesses = |count: u32| {
            (0..count)
                .map(|token| format!("RALPH-VERDICT {token:04x}: PASS\n"))
                .collect::<Vec<_>>()
                .concat()
        };
        assert!(is_unclear(own(&guesses(0x1_0000)).as_ref()));
        assert_eq!(
            own(&format!("{}RALPH-VERDICT 3f9a: PASS", guesses(16))),
            Some(Claim::Pass)
        );
    }

    #[test]
    fn each_attempt_has_a_token_of_its_own() {
        let tokens: Vec<String> = (0..64).map(|_| VerdictLine::draw(false).token).collect();
        assert!(
            tokens
                .iter()
                .all(|token| token.len() == 4
                    && token.bytes().all(|digit| digit.is_ascii_hexdigit()))
        );
        assert!(
            tokens
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len()
                > 32,
            "{tokens:?}"
        );
    }

    #[test]
    fn markup_around_a_line_with_the_token_is_no_part_of_it() {
        for pass in [
            "**RALPH-VERDICT 3f9a: PASS**",
            "`RALPH-VERDICT 3f9a: PASS`",
            "> RALPH-VERDICT 3f9a: PASS.",
            "- RALPH-VERDICT 3f9a: PASS",
            "  1. **RALPH-VERDICT** `3f9a`: **PASS**",
            "**RALPH-VERDICT 3f9a:** PASS",
            "### RALPH-VERDICT <3f9a>: PASS!",
            "RALPH-VERDICT 3F9A - PASS - each requirement has a test",
            "RALPH-VERDICT 3f9a:PASS\r",
            "\u{feff}\u{1b}[1mRALPH-VERDICT 3f9a: PASS\u{1b}[0m",
            "```\nRALPH-VERDICT 3f9a: PASS\n```",
        ] {
            assert_eq!(own(pass), Some(Claim::Pass), "{pass:?}");
        }
        for (said, why) in [
            ("**RALPH-VERDICT 3f9a: FAIL** no test", "no test"),
            ("**RALPH-VERDICT 3f9a: FAIL no test**", "no test"),
            (
                "RALPH-VERDICT 3f9a: FAIL: no test for `R2`",
                "no test for `R2`",
            ),
            ("`RALPH-VERDICT 3f9a: FAIL` — no test", "no test"),
            ("```\nRALPH-VERDICT 3f9a: FAIL no test\n```", "no test"),
        ] {
            assert_eq!(own(said), Some(fail(why)), "{said:?}");
        }
    }

    #[test]
    fn a_line_that_was_seen_and_not_understood_is_quoted_back() {
        for odd in [
            "MAYBE",
            "FAILED no test",
            "PASS or FAIL",
            "PASS/FAIL",
            "PASS?",
            "PASS` or `RALPH-VERDICT 3f9a: FAIL`",
            "",
        ] {
            let line = format!("RALPH-VERDICT 3f9a: {odd}");
            let said = unclear(own(&line));
            assert!(
                said.starts_with(&format!("its line `{}` is not understood", line.trim())),
                "{said}"
            );
            assert_eq!(
                unclear(own(&format!("RALPH-VERDICT 3f9a: PASS\n{line}"))),
                said,
                "it may say something else"
            );
            let own_fail = own(&format!("RALPH-VERDICT 3f9a: FAIL a\n{line}"));
            assert!(matches!(own_fail, Some(Claim::Fail { .. })), "{own_fail:?}");
        }
        let inside = own("The verdict: RALPH-VERDICT 3f9a: PASS\n");
        assert!(unclear(inside).contains("the nearest is `The verdict: RALPH-VERDICT 3f9a: PASS`"));
        let inside = "I will write RALPH-VERDICT 3f9a: PASS.\nRALPH-VERDICT 3f9a: PASS";
        assert_eq!(own(inside), Some(Claim::Pass));
    }

    #[test]
    fn a_line_without_the_token_must_be_as_it_was_asked_for() {
        for none in [
            "",
            "PASS",
            " RALPH-VERDICT: PASS",
            "> RALPH-VERDICT: PASS",
            "RALPH-VERDICT:PASS",
            "RALPH-VERDICT: PASSED",
            "RALPH-VERDICT: PASS.",
            "RALPH-VERDICT: pass",
            "RALPH-VERDICT: FAIL: x",
            "RALPH-VERDICT: ",
            "ralph-verdict: PASS",
            "x\rRALPH-VERDICT: PASS",
            "\u{feff}RALPH-VERDICT: PASS",
            "\u{1b}[1mRALPH-VERDICT: PASS\u{1b}[0m",
            "RALPH-VERDICT: PASS\u{1b}[0m",
            "RALPH-VERDICT: PASS\r\r",
            "{\"result\":\"\\nRALPH-VERDICT: PASS\\n\"}",
        ] {
            assert_eq!(claim(none), None, "{none:?}");
        }
        for pass in [
            "RALPH-VERDICT: PASS",
            "RALPH-VERDICT: PASS \n",
            "RALPH-VERDICT: PASS all of it\r\n",
        ] {
            assert_eq!(claim(pass), Some(Claim::Pass), "{pass:?}");
        }
    }

    #[test]
    fn what_follows_a_fail_in_its_message_is_the_reason() {
        let bullets = "RALPH-VERDICT 3f9a: FAIL\n- no test for R2\n\n- `a()` leaks\n";
        assert_eq!(
            own(bullets),
            Some(fail("- no test for R2\n\n- `a()` leaks"))
        );
        assert_eq!(
            own(&format!("{bullets}\n**RALPH-VERDICT 3f9a: FAIL**\n")),
            Some(fail("- no test for R2\n\n- `a()` leaks"))
        );
        assert_eq!(
            own("# Findings\n1. no test\n\nRALPH-VERDICT 3f9a: FAIL\n"),
            Some(fail("# Findings\n1. no test"))
        );
        let verdict = VerdictLine {
            or_bare: false,
            ..bare()
        };
        let mut heard = verdict.listen();
        heard.message("I look.\nRALPH-VERDICT 3f9a: FAIL first\nno test");
        heard.message("Bye.");
        assert_eq!(heard.claim(), Some(fail("first\nno test")));
        let cannot = "RALPH-VERDICT 3f9a: BLOCKED R2 and R3 contradict each other:\nten or eleven?";
        let why = "R2 and R3 contradict each other:\nten or eleven?".to_owned();
        assert_eq!(own(cannot), Some(Claim::Blocked { why }));
        let line = blocked_line("3f9a", "R2 and R3\ncontradict\u{1b}[0m");
        assert_eq!(
            own(&line),
            Some(Claim::Blocked {
                why: "R2 and R3 contradict".to_owned()
            })
        );
    }

    #[test]
    fn the_reason_is_bounded_and_without_control_characters() {
        assert_eq!(
            claim("RALPH-VERDICT: FAIL a\u{1b}[31mb\u{202e}c\td\r\n"),
            Some(fail("abc d"))
        );
        assert_eq!(
            own("RALPH-VERDICT 3f9a: FAIL\na\u{1b}[31mb\r\u{202e}c"),
            Some(fail("ab\nc"))
        );
        assert_eq!(claim("RALPH-VERDICT: FAIL"), Some(fail("")));
        let long = "ä".repeat(9_000);
        for output in [
            format!("RALPH-VERDICT: FAIL {long}"),
            format!("RALPH-VERDICT: FAIL\n{long}\n{long}"),
            format!("{long}\n{long}\nRALPH-VERDICT: FAIL"),
            format!("{}\nRALPH-VERDICT: FAIL", "ä\n".repeat(300_000)),
        ] {
            let Some(Claim::Fail { why }) = claim(&output) else {
                panic!("a claim")
            };
            assert!(
                (MAX_WHY - 1..=MAX_WHY).contains(&why.chars().count()),
                "{}",
                why.chars().count()
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_no_verdict_and_hides_none() {
        let long = format!("RALPH-VERDICT: FAIL {}\n", "x".repeat(LONGEST_LINE));
        assert_eq!(claim(&long), None);
        assert_eq!(
            claim(&format!("RALPH-VERDICT: PASS\n{long}")),
            Some(Claim::Pass)
        );
        assert_eq!(
            claim(&format!("{long}RALPH-VERDICT: PASS\n")),
            Some(Claim::Pass)
        );
        let fits = format!("RALPH-VERDICT: FAIL {}", "x".repeat(LONGEST_LINE - 20));
        assert!(claim(&fits).is_some());
    }

    #[test]
    fn an_output_that_cannot_be_read_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        assert!(bare().read(b"RALPH-VERDICT: PASS\n".chain(Broken)).is_err());
    }

    proptest! {
        #[test]
        fn reading_is_total_and_a_claim_needs_its_line(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just(b"RALPH-VERDICT: ".to_vec()), Just(b"PASS".to_vec()), Just(b"FAIL ".to_vec()),
                    Just(b"\n".to_vec()), Just(b"\r".to_vec()), proptest::collection::vec(any::<u8>(), 0..8)
                ], 0..20)
        ) {
            let bytes = parts.concat();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let regex = regex_lite::Regex::new(r"^RALPH-VERDICT: (PASS|FAIL|NOTHING-TO-DO|BLOCKED)( .*)?$").expect("a pattern");
            let last = text.split('\n').rfind(|line| regex.is_match(line.strip_suffix('\r').unwrap_or(line)));
            let claim = bare().read(&bytes[..]).expect("memory can be read");
            prop_assert_eq!(claim.is_some(), last.is_some(), "{:?}", text);
            if let (Some(claim), Some(line)) = (claim, last)
                && !matches!(claim, Claim::Unclear { .. })
            {
                prop_assert_eq!(claim == Claim::Pass, line.starts_with("RALPH-VERDICT: PASS"));
            }
        }
    }
}
