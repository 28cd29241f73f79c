//! Effects of changes on the content of files: changed lines, moved classes, and weakened tests.

use super::Repositories;
use super::error::{DescribeFailure as _, GitError};
use crate::machine::facts::{FileChange, Oid};
use crate::source::{ChangedLines, Kind, Statements, code_lines, is_source, is_weakened};
use git2::{DiffOptions, Patch};

/// Maximum size of compared files.
pub(super) const MAX_BYTES: u64 = 16 << 20;

impl Repositories {
    /// Returns the lines of a changed file in its current version, for Java those whose code changed.
    ///
    /// `None` for a deleted file, and if the change does not name its blobs.
    ///
    /// Errors: a blob that the repository no longer has (`Unreadable`), or of more than 16 MiB (`Refused`).
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn changed_lines(&mut self, change: &FileChange) -> Result<Option<ChangedLines>, GitError> {
        let Some(new) = change.new.as_ref().filter(|oid| **oid != Oid::zero()) else {
            return Ok(None);
        };
        let Some(old) = &change.old else {
            return Ok(Some(ChangedLines::Whole));
        };
        if *old == Oid::zero() {
            return Ok(None);
        }
        let old = self.read_blob(&change.package, old, MAX_BYTES)?;
        let new = self.read_blob(&change.package, new, MAX_BYTES)?;
        let is_java = change.path.to_bytes().ends_with(b".java");
        let [old, new] = [&old, &new].map(|text| {
            if is_java {
                code_lines(text)
            } else {
                text.into()
            }
        });
        Ok(Some(ChangedLines::Ranges(changed_ranges(&old, &new)?)))
    }

    /// Returns new Java classes of production code, each with the deleted class it replaces.
    ///
    /// Both are in one package.
    ///
    /// At least half of its code was there, and no other class had more of it.
    ///
    /// Errors: a blob that the repository no longer has (`Unreadable`), or of more than 16 MiB (`Refused`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn find_moved(
        &mut self,
        changes: &[FileChange],
    ) -> Result<Vec<(FileChange, FileChange)>, GitError> {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for change in changes
            .iter()
            .filter(|change| change.kind == Kind::Production)
        {
            let Some(class) = display_name(change)
                .strip_suffix(".java")
                .map(str::to_owned)
            else {
                continue;
            };
            let (side, blob) = match (&change.old, &change.new) {
                (old, None) => (&mut gone, old),
                (None, new_blob) => (&mut new, new_blob),
                _ => continue,
            };
            side.push((
                change,
                Statements::of_class(&class, &self.read_text(change, blob.as_ref())?),
            ));
        }
        Ok(new
            .iter()
            .filter_map(|(now, code)| {
                let here = gone.iter().filter(|(old, _)| old.package == now.package);
                let alike =
                    here.filter_map(|(old, before)| Some((code.mostly_from(before)?, *old)));
                Some((
                    (*now).clone(),
                    alike.max_by_key(|(shared, _)| *shared)?.1.clone(),
                ))
            })
            .collect())
    }

    /// True if the tests of a changed or deleted file check less.
    ///
    /// A deleted one may be elsewhere under its name among the `changes`.
    ///
    /// Errors: as those of [`Repositories::find_moved`].
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn is_weakened(
        &mut self,
        change: &FileChange,
        changes: &[FileChange],
    ) -> Result<bool, GitError> {
        if !is_test_source(change) || change.old.is_none() {
            return Ok(false);
        }
        let now = if change.new.is_some() {
            Some(change)
        } else {
            changes.iter().find(|other| {
                other.old.is_none()
                    && is_test_source(other)
                    && display_name(other) == display_name(change)
            })
        };
        let now = now.map_or(Ok(Vec::new()), |now| self.read_text(now, now.new.as_ref()))?;
        Ok(is_weakened(
            &self.read_text(change, change.old.as_ref())?,
            &now,
        ))
    }

    fn read_text(&mut self, change: &FileChange, blob: Option<&Oid>) -> Result<Vec<u8>, GitError> {
        blob.map_or(Ok(Vec::new()), |blob| {
            self.read_blob(&change.package, blob, MAX_BYTES)
        })
    }
}

/// True for a source file of tests.
fn is_test_source(change: &FileChange) -> bool {
    change.kind == Kind::Test && is_source(&change.path.to_bytes())
}

fn display_name(change: &FileChange) -> String {
    change
        .path
        .to_text()
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Returns the ranges of lines in `new` that `old` does not have, 1-based, first and last.
fn changed_ranges(old: &[u8], new: &[u8]) -> Result<Vec<(u32, u32)>, GitError> {
    let doing = "compare two versions of a file";
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).with_action(doing)?;
    let mut ranges = Vec::new();
    for index in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(index).with_action(doing)?;
        if hunk.new_lines() > 0 {
            ranges.push((hunk.new_start(), hunk.new_start() + hunk.new_lines() - 1));
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::changed_ranges;
    use proptest::prelude::*;

    #[test]
    fn added_and_changed_lines_are_told_and_removed_ones_leave_none() {
        let of = |old: &str, new: &str| changed_ranges(old.as_bytes(), new.as_bytes()).unwrap();
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
            let found = changed_ranges(text(&old).as_bytes(), text(&new).as_bytes()).unwrap();
            let mut kept: Vec<&String> = Vec::new();
            for (number, line) in (1..).zip(&new) {
                if !found.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
                    kept.push(line);
                }
            }
            let mut rest = old.iter();
            prop_assert!(kept.iter().all(|line| rest.any(|other| other == *line)), "{found:?}");
        }
    }
}
