//! The shapes of messages about usage limits, for any plan, model and provider.
//!
//! Promise: a sentence about limits is not a message. A message begins with its shape, and only what a CLI appends may follow.

use regex_lite::Regex;
use std::sync::LazyLock;

/// A message about a usage limit, and its meaning for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitText {
    /// The limit ends by itself.
    Passes,
    /// An administrator removed the allowance, so waiting does not help.
    Disabled,
}

/// `You've hit your org's monthly usage limit`, `Weekly limit reached`, `You're out of extra usage`.
const PASSES: &str = r"(?:you've|you have) (?:hit|reached|exceeded|exhausted) (?:your|the) (?:[\w'-]+ ){0,5}(?:limits?|quota)(?: on this model)?|(?:claude (?:ai |code )?|the |your )?(?:[\w'-]+ ){0,3}(?:[\w'-]+ usage|usage|spend|spending|session|weekly|monthly|daily|hourly|\d+-hour|opus|sonnet|haiku) limit (?:has been )?(?:reached|exceeded|hit)|you're out of extra usage|your credit balance is too low(?: to access the api)?|resource has been exhausted";

/// `Your usage allocation has been disabled by your admin`.
const DISABLED: &str = r"your (?:[\w'-]+ ){1,4}(?:has been|have been|was|were|is|are) (?:disabled|suspended|revoked|turned off|blocked) by (?:your|the|an) (?:[\w'-]+ ){0,2}admin(?:istrator)?";

/// The beginning of a message: marks, and the words with which CLIs begin an error.
const BEFORE: &str = r"^[^a-z0-9]*(?:(?:(?:api )?[a-z_.]*error|warning|attempt \d+ failed)(?: \d{3})?[\])]?: *|\d{3} )*";

/// The end of the line, or the words that CLIs append: the time at which it ends, and the next action.
const AFTER: &str = r"(?:[.!\])\s]*$|\|\d|[.!,;\])]*\s*[·∙•|(—–-]?\s*(?:\(?e\.g\.|resets?\b|it resets|try again|please|upgrade|run `?/|/|visit|to |contact|ask |add |enable |wait|your limit|you can|you will|access )|for [\w.-]+[.,] )";

/// Compiles the pattern of a shape.
fn shape(words: &str) -> Option<Regex> {
    Regex::new(&format!("{BEFORE}(?:{words}){AFTER}")).ok()
}

/// Returns the usage limit that a line reports; `None` for every other line, including prose about limits.
pub fn limit_text(line: &str) -> Option<LimitText> {
    static SHAPES: LazyLock<[(LimitText, Option<Regex>); 2]> = LazyLock::new(|| {
        [
            (LimitText::Disabled, shape(DISABLED)),
            (LimitText::Passes, shape(PASSES)),
        ]
    });
    let line = line.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'");
    SHAPES
        .iter()
        .find(|(_, shape)| shape.as_ref().is_some_and(|shape| shape.is_match(&line)))
        .map(|(text, _)| *text)
}
