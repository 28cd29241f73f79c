//! What became of files that went or were rewritten: which class a new one was, and whether tests check less.

use super::Repositories;
use super::error::GitError;
use super::lines::MAX_BYTES;
use crate::machine::facts::{FileChange, Oid};
use crate::source::{Kind, Statements, is_source, is_weakened};

impl Repositories {
    /// The new Java classes of production code with the deleted one of their package that each was: half of its code stood
    /// there at least, and in no other more of it.
    ///
    /// Errors: a blob that the repository no longer has (`Unreadable`), or of more than 16 MiB (`Refused`).
    pub fn moved(&mut self, changes: &[FileChange]) -> Result<Vec<(FileChange, FileChange)>, GitError> {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for change in changes.iter().filter(|change| change.kind == Kind::Production) {
            let Some(class) = name(change).strip_suffix(".java").map(str::to_owned) else { continue };
            let (side, blob) = match (&change.old, &change.new) {
                (old, None) => (&mut gone, old),
                (None, new_blob) => (&mut new, new_blob),
                _ => continue,
            };
            side.push((change, Statements::of_class(&class, &self.text(change, blob.as_ref())?)));
        }
        let was = |(now, code): &(&FileChange, Statements)| {
            let here = gone.iter().filter(|(old, _)| old.package == now.package);
            let alike = here.filter_map(|(old, before)| Some((code.mostly_from(before)?, *old)));
            Some(((*now).clone(), alike.max_by_key(|(shared, _)| *shared)?.1.clone()))
        };
        Ok(new.iter().filter_map(was).collect())
    }

    /// True if the tests of a changed or deleted file check less; a deleted one may stand elsewhere under its name among the
    /// `changes`.
    ///
    /// Errors: as those of [`Repositories::moved`].
    pub fn is_weakened(&mut self, change: &FileChange, changes: &[FileChange]) -> Result<bool, GitError> {
        let is_test = |change: &FileChange| change.kind == Kind::Test && is_source(&change.path.to_bytes());
        if !is_test(change) || change.old.is_none() {
            return Ok(false);
        }
        let is_twin =
            |other: &&FileChange| other.old.is_none() && is_test(other) && name(other) == name(change);
        let now = if change.new.is_some() { Some(change) } else { changes.iter().find(is_twin) };
        let now = now.map_or(Ok(Vec::new()), |now| self.text(now, now.new.as_ref()))?;
        Ok(is_weakened(&self.text(change, change.old.as_ref())?, &now))
    }

    fn text(&mut self, change: &FileChange, blob: Option<&Oid>) -> Result<Vec<u8>, GitError> {
        blob.map_or(Ok(Vec::new()), |blob| self.blob(&change.package, blob, MAX_BYTES))
    }
}

fn name(change: &FileChange) -> String {
    change.path.to_text().rsplit('/').next().unwrap_or_default().to_owned()
}
