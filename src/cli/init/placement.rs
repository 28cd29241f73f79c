//! Where the mutation gate is placed when a workspace is made.

use super::below;
use super::text::{Chosen, words};
use crate::cli::place::tidy;
use crate::cli::workspace::Place;
use crate::engine::Fault;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{Grammar, Placement, TaskFile};
use std::path::Path;

/// `each`, `groups`, `end`, `none` or `after:2,5,7`.
pub(super) fn typed(word: &str) -> Result<Placement, String> {
    let mut plain = [Placement::Each, Placement::Groups, Placement::End, Placement::None].into_iter();
    let ids = |text: &str| text.split([',', ' ']).filter_map(tidy).collect::<Vec<_>>();
    let after = || word.strip_prefix("after:").map(ids).filter(|ids| !ids.is_empty()).map(Placement::After);
    let known = plain.find(|placement| words(placement) == word).or_else(after);
    known.ok_or_else(|| "write each, groups, end, none or after:2,5,7".to_owned())
}

/// Refuses a placement that the task file cannot have, before anything is written.
pub(super) fn can_be_placed(root: &Path, chosen: &Chosen, grammar: &Grammar) -> Result<(), Fault> {
    let Some(placement) = &chosen.placement else { return Ok(()) };
    let path = root.join(&chosen.spec).join("tasks.md");
    let Some(bytes) = RealDisk::new().read(&path)? else { return Ok(()) };
    let file = TaskFile::parse(bytes, grammar);
    // Without lines for stages the choice is only in the configuration, but names tasks all the same.
    file.placed("PITEST", placement).map(drop).map_err(|error| {
        let what = format!("--placement: {}: {error}", below(root, &path));
        Fault::setup(what, "name tasks by ids that are unique; nothing was written")
    })
}

/// Places the gate if there is a task file; says what was done.
pub(super) fn placed(root: &Path, chosen: &Chosen) -> Result<Option<String>, Fault> {
    let Some(placement) = &chosen.placement else { return Ok(None) };
    if !root.join(&chosen.spec).join("tasks.md").exists() {
        let later = format!("when there is a tasks.md: `ralph place {}`", words(placement));
        return Ok(Some(later));
    }
    let place = Place { root: Some(root), root_by: "--root", json: false, given: &[] };
    crate::cli::place::settle(&place, placement).map(Some)
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
