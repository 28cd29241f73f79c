//! Finds files that an agent's last words claim to have edited.
//!
//! A claim is a verb in the past tense with paths as its objects ("edited `a.txt` and b.txt"), or a path followed by
//! such a verb ("a.txt was written", "- `a.txt`: added a test"). Only these direct forms count, and a sentence that
//! denies, supposes or refers to the past holds none. An honest summary that mentions a file accuses no one.

use super::targets::is_among;

/// Verbs of a claim.
const VERBS: &str = "added adjusted changed corrected created deleted edited extended fixed implemented modified moved \
    overwritten overwrote patched refactored removed renamed replaced rewritten rewrote updated \
    written wrote";
/// Words allowed between a verb and its object, or between a path and its verb.
const BETWEEN: &str =
    "the a file files and both also new test tests class & was were been has have";
/// Words that exclude a sentence from the claims about this turn.
const DENIALS: &str = "not no never none nothing neither nor without cannot unable failed tried try instead if unless \
    would should could must may might will when where which that before earlier previous previously \
    already last prior once need needs by to-do";

/// Returns the path-like words that a text claims were edited, in text order.
pub(super) fn claimed(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut sentence = Vec::new();
        for word in line.split(|c: char| c.is_whitespace() || "`*()[]<>\"|,".contains(c)) {
            sentence.push(
                word.trim_end_matches(['.', ':', '!', '?', ';', '\''])
                    .trim_start_matches('\''),
            );
            if word.ends_with(['.', '!', '?', ';']) {
                in_sentence(&sentence, &mut found);
                sentence.clear();
            }
        }
        in_sentence(&sentence, &mut found);
    }
    found
}

fn in_sentence(words: &[&str], found: &mut Vec<String>) {
    let words = words
        .iter()
        .filter(|word| !word.is_empty() && **word != "-");
    let words: Vec<(String, &str)> = words.map(|word| (word.to_lowercase(), *word)).collect();
    if words
        .iter()
        .any(|(word, _)| is_among(DENIALS, word) || word.ends_with("n't") || word.ends_with("n’t"))
    {
        return;
    }
    let (mut claims, mut named) = (false, Vec::new());
    for (word, spelled) in &words {
        if is_among(VERBS, word) {
            claims = true;
            found.append(&mut named);
        } else if let Some(path) = path_like(spelled) {
            if claims {
                found.push(path);
            } else {
                named.push(path);
            }
        } else if !is_among(BETWEEN, word) {
            claims = false;
            named.clear();
        }
    }
}

/// Returns the path in a word such as `src/A.java:12`.
fn path_like(word: &str) -> Option<String> {
    let path = match word.rsplit_once(':') {
        Some((path, line)) if line.starts_with(|c: char| c.is_ascii_digit()) => path,
        _ => word,
    };
    (path
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '@' | '~' | '$'))
        && (has_extension(path) || path.contains('/')))
    .then(|| path.to_owned())
}

/// True for `a.txt` and `.env`, not for `1.2`.
pub(super) fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension)
        .unwrap_or_default();
    extension.starts_with(|c: char| c.is_ascii_alphabetic()) && extension.len() <= 10
}
