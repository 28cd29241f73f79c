//! The verdict line `RALPH-VERDICT <token>: …`, the only thing that an agent's output can say (docs/design.md
//! "Evidence"). The token is the attempt's own, so a line that somebody else wrote and the agent shows is none.

use crate::machine::facts::Claim;
use crate::source::text;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufRead, BufReader, Read};

/// Longest reason of an agent that is kept, characters.
pub const MAX_WHY: usize = 2_000;

/// A longer line is not a verdict, bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// Lines with other tokens that an output may hold; more of them try all tokens there are.
const MOST_GUESSES: usize = 16;

/// What makes a line a verdict in the output of one attempt.
#[derive(Clone, Debug)]
pub struct VerdictLine {
    /// Four hex digits that this attempt's prompt and environment hold.
    pub token: String,
    /// The attempt's template does not name the token, so lines without one count too.
    pub or_bare: bool,
}

impl VerdictLine {
    /// With a new token, which nothing that was seen before tells.
    pub fn draw(or_bare: bool) -> Self {
        // The hasher's keys are random numbers of the system.
        let drawn = RandomState::new().build_hasher().finish();
        Self { token: format!("{:04x}", drawn & 0xffff), or_bare }
    }

    /// What a standard output claims: its last line that matches
    /// `^RALPH-VERDICT <token>: (PASS|FAIL|NOTHING-TO-DO)( .*)?$`, unless another such line contradicts it. A carriage
    /// return at the end of a line is ignored.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn read(&self, output: impl Read) -> io::Result<Option<Claim>> {
        let mut output = BufReader::with_capacity(LONGEST_LINE, output);
        let mut said = Said::default();
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let chunk = output.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            too_long |= line.len() + part.len() > LONGEST_LINE;
            if !too_long {
                line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            output.consume(used);
            if end.is_some() {
                self.hear(&line, too_long, &mut said);
                line.clear();
                too_long = false;
            }
        }
        self.hear(&line, too_long, &mut said);
        Ok(said.in_all())
    }

    fn hear(&self, line: &[u8], too_long: bool, said: &mut Said) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(rest) = line.strip_prefix(b"RALPH-VERDICT").filter(|_| !too_long) else { return };
        let claim = if let Some(bare) = rest.strip_prefix(b": ") {
            claim_of(bare).filter(|_| self.or_bare)
        } else if let [b' ', token @ .., b':', b' '] = &rest[..rest.len().min(7)] {
            let is_own = token == self.token.as_bytes();
            said.guesses += usize::from(!is_own);
            claim_of(&rest[7..]).filter(|_| is_own)
        } else {
            None
        };
        let Some(claim) = claim else { return };
        let same = |last: &Claim| std::mem::discriminant(last) == std::mem::discriminant(&claim);
        said.contradicts |= !said.last.as_ref().is_none_or(same);
        said.last = Some(claim);
    }
}

/// What the lines of an output said so far.
#[derive(Default)]
struct Said {
    last: Option<Claim>,
    contradicts: bool,
    guesses: usize,
}

impl Said {
    fn in_all(self) -> Option<Claim> {
        let unclear = |why: &str| Some(Claim::Unclear { why: why.to_owned() });
        if self.guesses > MOST_GUESSES {
            return unclear("its output holds verdict lines with many other tokens");
        }
        if self.contradicts { unclear("its verdict lines contradict each other") } else { self.last }
    }
}

fn claim_of(verdict: &[u8]) -> Option<Claim> {
    let word = verdict.split(|&byte| byte == b' ').next()?;
    let why = || text::line(&String::from_utf8_lossy(&verdict[word.len()..]), MAX_WHY);
    match word {
        b"PASS" => Some(Claim::Pass),
        b"FAIL" => Some(Claim::Fail { why: why() }),
        b"NOTHING-TO-DO" => Some(Claim::NothingToDo { why: why() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bare() -> VerdictLine {
        VerdictLine { token: "3f9a".to_owned(), or_bare: true }
    }

    fn own(output: &str) -> Option<Claim> {
        let own = VerdictLine { or_bare: false, ..bare() };
        own.read(output.as_bytes()).expect("memory can be read")
    }

    fn is_unclear(claim: Option<&Claim>) -> bool {
        matches!(claim, Some(Claim::Unclear { .. }))
    }

    fn claim(output: &str) -> Option<Claim> {
        bare().read(output.as_bytes()).expect("memory can be read")
    }

    fn fail(why: &str) -> Claim {
        Claim::Fail { why: why.to_owned() }
    }

    #[test]
    fn the_last_matching_line_counts() {
        assert_eq!(claim("text\nRALPH-VERDICT: PASS\nRALPH-VERDICT: PASS\nbye\n"), Some(Claim::Pass));
        assert_eq!(
            claim("RALPH-VERDICT: FAIL a\nRALPH-VERDICT: FAIL no test for R2"),
            Some(fail("no test for R2"))
        );
        assert_eq!(claim("RALPH-VERDICT: PASS\nRALPH-VERDICT: MAYBE\n"), Some(Claim::Pass));
        assert_eq!(
            claim("RALPH-VERDICT: NOTHING-TO-DO all done\r\n"),
            Some(Claim::NothingToDo { why: "all done".to_owned() })
        );
    }

    #[test]
    fn where_the_template_names_the_token_only_lines_with_it_count() {
        assert_eq!(own("RALPH-VERDICT 3f9a: FAIL a b\nRALPH-VERDICT: PASS\n"), Some(fail("a b")));
        assert_eq!(own("RALPH-VERDICT 0000: PASS\nRALPH-VERDICT 3f9a: PASS"), Some(Claim::Pass));
        for none in
            ["", ":", " 3f9a", " 3f9a :", " 0000:", " 3F9A:", " 3f9:", " 3f9ab:", "  3f9a:", " <3f9a>:"]
        {
            assert_eq!(own(&format!("RALPH-VERDICT{none} PASS")), None, "{none:?}");
        }
        assert_eq!(
            claim("RALPH-VERDICT 3f9a: PASS"),
            Some(Claim::Pass),
            "the variable of the environment is always there"
        );
        assert_eq!(claim("RALPH-VERDICT 3f9b: PASS"), None);
    }

    #[test]
    fn lines_that_contradict_each_other_are_no_verdict() {
        assert!(is_unclear(own("RALPH-VERDICT 3f9a: FAIL a\nRALPH-VERDICT 3f9a: PASS\n").as_ref()));
        assert!(is_unclear(
            own("RALPH-VERDICT 3f9a: PASS\nRALPH-VERDICT 3f9a: FAIL\nRALPH-VERDICT 3f9a: PASS\n").as_ref()
        ));
        assert!(is_unclear(claim("RALPH-VERDICT: FAIL a\nRALPH-VERDICT 3f9a: PASS\n").as_ref()));
        assert!(is_unclear(claim("RALPH-VERDICT: NOTHING-TO-DO\nRALPH-VERDICT: PASS\n").as_ref()));
    }

    #[test]
    fn an_output_that_holds_many_tokens_is_no_verdict() {
        let guesses = |count: u32| {
            (0..count).map(|token| format!("RALPH-VERDICT {token:04x}: PASS\n")).collect::<Vec<_>>().concat()
        };
        assert!(is_unclear(own(&guesses(0x1_0000)).as_ref()));
        assert_eq!(own(&format!("{}RALPH-VERDICT 3f9a: PASS", guesses(16))), Some(Claim::Pass));
    }

    #[test]
    fn each_attempt_has_a_token_of_its_own() {
        let tokens: Vec<String> = (0..64).map(|_| VerdictLine::draw(false).token).collect();
        assert!(
            tokens
                .iter()
                .all(|token| token.len() == 4 && token.bytes().all(|digit| digit.is_ascii_hexdigit()))
        );
        assert!(tokens.iter().collect::<std::collections::BTreeSet<_>>().len() > 32, "{tokens:?}");
    }

    #[test]
    fn only_a_whole_line_of_that_form_matches() {
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
        for pass in ["RALPH-VERDICT: PASS", "RALPH-VERDICT: PASS \n", "RALPH-VERDICT: PASS all of it\r\n"] {
            assert_eq!(claim(pass), Some(Claim::Pass), "{pass:?}");
        }
    }

    #[test]
    fn the_reason_is_one_bounded_line_without_control_characters() {
        assert_eq!(claim("RALPH-VERDICT: FAIL a\u{1b}[31mb\u{202e}c\td\r\n"), Some(fail("abc d")));
        assert_eq!(claim("RALPH-VERDICT: FAIL"), Some(fail("")));
        let Some(Claim::Fail { why }) = claim(&format!("RALPH-VERDICT: FAIL {}", "ä".repeat(9_000))) else {
            panic!("a claim")
        };
        assert_eq!(why.chars().count(), MAX_WHY);
    }

    #[test]
    fn a_line_that_is_too_long_is_no_verdict_and_hides_none() {
        let long = format!("RALPH-VERDICT: FAIL {}\n", "x".repeat(LONGEST_LINE));
        assert_eq!(claim(&long), None);
        assert_eq!(claim(&format!("RALPH-VERDICT: PASS\n{long}")), Some(Claim::Pass));
        assert_eq!(claim(&format!("{long}RALPH-VERDICT: PASS\n")), Some(Claim::Pass));
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
            let regex = regex_lite::Regex::new(r"^RALPH-VERDICT: (PASS|FAIL|NOTHING-TO-DO)( .*)?$").expect("a pattern");
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
