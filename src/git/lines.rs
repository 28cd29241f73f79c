//! Which lines of a file a change touched.

use super::Repositories;
use super::error::GitError;
use crate::machine::facts::{FileChange, Oid};
use crate::source::{ChangedLines, code_lines};
use git2::{DiffOptions, Patch};

/// Files up to this size are compared.
pub(super) const MAX_BYTES: u64 = 16 << 20;

impl Repositories {
    /// The lines of a changed file, as it is now, of Java those whose code changed; `None` for a deleted file and where
    /// the change does not say which blobs it is between.
    ///
    /// Errors: a blob that the repository no longer has (`Unreadable`), or of more than 16 MiB (`Refused`).
    pub fn changed_lines(&mut self, change: &FileChange) -> Result<Option<ChangedLines>, GitError> {
        let known = |oid: &&Oid| **oid != Oid::zero();
        let Some(new) = change.new.as_ref().filter(known) else { return Ok(None) };
        let Some(old) = &change.old else { return Ok(Some(ChangedLines::Whole)) };
        if *old == Oid::zero() {
            return Ok(None);
        }
        let old = self.blob(&change.package, old, MAX_BYTES)?;
        let new = self.blob(&change.package, new, MAX_BYTES)?;
        let is_java = change.path.to_bytes().ends_with(b".java");
        let [old, new] = [&old, &new].map(|text| if is_java { code_lines(text) } else { text.into() });
        Ok(Some(ChangedLines::Ranges(ranges(&old, &new)?)))
    }
}

/// The ranges of lines in `new` that `old` does not have, 1-based, first and last.
fn ranges(old: &[u8], new: &[u8]) -> Result<Vec<(u32, u32)>, GitError> {
    let failed = |error: git2::Error| GitError::unreadable("compare two versions of a file", &error);
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(failed)?;
    let mut ranges = Vec::new();
    for index in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(index).map_err(failed)?;
        if hunk.new_lines() > 0 {
            ranges.push((hunk.new_start(), hunk.new_start() + hunk.new_lines() - 1));
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::ranges;
    use proptest::prelude::*;

    #[test]
    fn added_and_changed_lines_are_told_and_removed_ones_leave_none() {
        let of = |old: &str, new: &str| ranges(old.as_bytes(), new.as_bytes()).unwrap();
        assert_eq!(of("a\nb\nc\n", "a\nB\nc\nd\n"), [(2, 2), (4, 4)]);
        assert_eq!(of("a\nb\nc\n", "a\nc\n"), []);
        assert_eq!(of("", "a\nb\n"), [(1, 2)]);
        assert_eq!(of("a\n", "a\n"), []);
        assert_eq!(of("a\n", "a\r\n"), [(1, 1)]);
        assert_eq!(of("a\0\n", "b\0\n"), [(1, 1)]);
    }

    proptest! {
        #[test]
        fn what_stands_outside_the_ranges_stood_there_before(
            old in proptest::collection::vec("[abc]", 0..20),
            new in proptest::collection::vec("[abc]", 0..20),
        ) {
            let text = |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let found = ranges(text(&old).as_bytes(), text(&new).as_bytes()).unwrap();
            let changed = |line: usize| found.iter().any(|(a, b)| (*a as usize..=*b as usize).contains(&line));
            let kept: Vec<&String> =
                new.iter().enumerate().filter(|(at, _)| !changed(at + 1)).map(|(_, line)| line).collect();
            let mut rest = old.iter();
            prop_assert!(kept.iter().all(|line| rest.any(|other| other == *line)), "{found:?}");
        }
    }
}
