//! Where the mutation gate stands, as it is typed when a workspace is made.
//!
//! Owns: the words of `--placement`.
//!
//! Promises: a word that is none is refused with the words that are.
//!
//! Refuses to know: which boxes a choice leads to, how they come into the task file.

use crate::cli::place::tidy;
use crate::task::Placement;

/// `each`, `groups`, `end`, `none` or `after:2,5,7`.
pub(super) fn typed(word: &str) -> Result<Placement, String> {
    match word {
        "each" => Ok(Placement::Each),
        "groups" => Ok(Placement::Groups),
        "end" => Ok(Placement::End),
        "none" => Ok(Placement::None),
        _ => {
            let ids = word.strip_prefix("after:").map(ids).filter(|ids| !ids.is_empty());
            ids.map(Placement::After).ok_or_else(|| "write each, groups, end, none or after:2,5,7".to_owned())
        }
    }
}

/// The choice as the arguments of `ralph place`.
pub(super) fn words(placement: &Placement) -> String {
    match placement {
        Placement::Each => "each".to_owned(),
        Placement::Groups => "groups".to_owned(),
        Placement::End => "end".to_owned(),
        Placement::None => "none".to_owned(),
        Placement::After(ids) => format!("after {}", ids.join(",")),
    }
}

fn ids(text: &str) -> Vec<String> {
    text.split([',', ' ']).filter_map(tidy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_flag_are_those_of_the_configuration() {
        let after = |ids: &[&str]| Placement::After(ids.iter().map(|id| (*id).to_owned()).collect());
        for (word, choice) in [
            ("each", Placement::Each),
            ("groups", Placement::Groups),
            ("end", Placement::End),
            ("none", Placement::None),
            ("after:2,5.,T07", after(&["2", "5", "T07"])),
        ] {
            assert_eq!(typed(word), Ok(choice.clone()));
            assert_eq!(words(&choice).replace(' ', ":"), word.replace('.', ""));
        }
        for word in ["", "after", "after:", "after:,", "Each", "all"] {
            assert!(typed(word).is_err(), "{word}");
        }
    }
}
