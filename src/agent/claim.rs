//! The verdict line `RALPH-VERDICT: …`, the only thing that an agent's output can say (docs/design.md "Evidence").

use crate::machine::facts::Claim;
use crate::source::text;
use std::io::{self, BufRead, BufReader, Read};

/// Longest reason of an agent that is kept, characters.
pub const MAX_WHY: usize = 2_000;

/// A longer line is not a verdict, bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// The last line of a standard output that matches `^RALPH-VERDICT: (PASS|FAIL|NOTHING-TO-DO)( .*)?$`;
/// a carriage return at its end is ignored.
///
/// # Errors
/// The output cannot be read.
pub fn read_claim(output: impl Read) -> io::Result<Option<Claim>> {
    let mut output = BufReader::with_capacity(LONGEST_LINE, output);
    let mut claim = None;
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
            claim = claim_of(&line, too_long).or(claim);
            line.clear();
            too_long = false;
        }
    }
    Ok(claim_of(&line, too_long).or(claim))
}

fn claim_of(line: &[u8], too_long: bool) -> Option<Claim> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let rest = line.strip_prefix(b"RALPH-VERDICT: ")?;
    if too_long {
        return None;
    }
    let word = rest.split(|&byte| byte == b' ').next()?;
    let why = || text::line(&String::from_utf8_lossy(&rest[word.len()..]), MAX_WHY);
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

    fn claim(output: &str) -> Option<Claim> {
        read_claim(output.as_bytes()).expect("memory can be read")
    }

    fn fail(why: &str) -> Claim {
        Claim::Fail { why: why.to_owned() }
    }

    #[test]
    fn the_last_matching_line_counts() {
        assert_eq!(claim("text\nRALPH-VERDICT: FAIL a\nRALPH-VERDICT: PASS\nbye\n"), Some(Claim::Pass));
        assert_eq!(
            claim("RALPH-VERDICT: PASS\nRALPH-VERDICT: FAIL no test for R2"),
            Some(fail("no test for R2"))
        );
        assert_eq!(claim("RALPH-VERDICT: PASS\nRALPH-VERDICT: MAYBE\n"), Some(Claim::Pass));
        assert_eq!(
            claim("RALPH-VERDICT: NOTHING-TO-DO all done\r\n"),
            Some(Claim::NothingToDo { why: "all done".to_owned() })
        );
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
        assert!(read_claim(b"RALPH-VERDICT: PASS\n".chain(Broken)).is_err());
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
            let claim = read_claim(&bytes[..]).expect("memory can be read");
            prop_assert_eq!(claim.is_some(), last.is_some(), "{:?}", text);
            if let (Some(claim), Some(line)) = (claim, last) {
                prop_assert_eq!(claim == Claim::Pass, line.starts_with("RALPH-VERDICT: PASS"));
            }
        }
    }
}
