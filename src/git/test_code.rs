//! Effects of changes on tests: fewer tests, lost code of frozen tests, test files that replace production code.
//!
//! Promise: only changed files are read.

use super::error::{GitError, GitErrorKind};
use super::{Repositories, tree};
use crate::machine::facts::{
    FileChange, FileStatus, KeptFile, LostLines, Misplaced, Oid, Shadow, Snapshot,
};
use crate::source::{self, Kind, RepoPath};
use std::collections::BTreeMap;

/// Maximum size of a file that is compared line by line. Of a larger one only the change is reported.
const MAX_TEXT: u64 = 16 << 20;
/// Maximum number of listed files.
const MAX_NAMED: usize = 20;

/// A version of a file.
enum Version {
    Absent,
    TooLarge,
    Text(Vec<u8>),
}

impl Version {
    /// Returns `None` for a file that is too large: its tests cannot be counted, so they do not count.
    fn known_text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::TooLarge => None,
        }
    }
}

impl Repositories {
    /// Returns the number of enabled tests after minus before. In production code only Rust has tests.
    pub(super) fn tests_delta(&mut self, changes: &[FileChange]) -> Result<i64, GitError> {
        let mut delta = 0_i64;
        for change in changes
            .iter()
            .filter(|change| may_hold_tests(change) && !is_moved(change, changes))
        {
            let path = change.path.to_bytes();
            let before = self.read_version(&change.package, change.old.as_ref())?;
            let now = self.read_version(&change.package, change.new.as_ref())?;
            let [before, now] =
                source::tests_before_and_now(&path, before.known_text(), now.known_text());
            delta = delta
                .saturating_add_unsigned(now)
                .saturating_sub_unsigned(before);
        }
        Ok(delta.saturating_sub_unsigned(self.tests_out_of_tree(changes)?))
    }

    /// Counts by how many tests the packages shrank through all these changes.
    pub(super) fn tests_owed(&mut self, changes: &[FileChange]) -> Result<u64, GitError> {
        let mut owed = 0_u64;
        for changes in changes.chunk_by(|a, b| a.package == b.package) {
            let delta = self.tests_delta(changes)?;
            owed = owed.saturating_add(u64::try_from(delta.saturating_neg()).unwrap_or_default());
        }
        Ok(owed)
    }

    /// Counts the tests that a changed file holds now.
    pub(super) fn tests_now(&mut self, change: &FileChange) -> Result<u64, GitError> {
        let now = self.read_version(&change.package, change.new.as_ref())?;
        Ok(now
            .known_text()
            .map_or(0, |text| source::count_tests(&change.path.to_bytes(), text)))
    }

    /// Counts the tests of unchanged Rust modules that no file declares any more.
    ///
    /// Tests of modules that are declared again are subtracted.
    fn tests_out_of_tree(&mut self, changes: &[FileChange]) -> Result<u64, GitError> {
        let mut lost = 0_i64;
        for change in changes
            .iter()
            .filter(|change| change.path.to_bytes().ends_with(b".rs"))
        {
            let path = change.path.to_bytes();
            let mut outlines = Vec::new();
            for blob in [&change.old, &change.new] {
                let version = self.read_version(&change.package, blob.as_ref())?;
                let outline = version
                    .known_text()
                    .and_then(|text| source::SourceOutline::of(&path, text));
                outlines.push(outline.unwrap_or_default());
            }
            for module in outlines[0].modules_beyond(&outlines[1]) {
                lost =
                    lost.saturating_add_unsigned(self.tests_of_module(change, &module, changes)?);
            }
            for module in outlines[1].modules_beyond(&outlines[0]) {
                lost =
                    lost.saturating_sub_unsigned(self.tests_of_module(change, &module, changes)?);
            }
        }
        Ok(u64::try_from(lost).unwrap_or_default())
    }

    /// Returns the tests of an unchanged module in a file of its own.
    fn tests_of_module(
        &mut self,
        change: &FileChange,
        module: &str,
        changes: &[FileChange],
    ) -> Result<u64, GitError> {
        let path = change.path.to_bytes();
        let folder = path
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or(&[][..], |at| &path[..=at]);
        let own = [path.strip_suffix(b".rs").unwrap_or(&path), b"/"].concat();
        let name = module.trim_start_matches('/').as_bytes();
        for folder in [folder, &own] {
            for ending in [&b".rs"[..], b"/mod.rs"] {
                let file = [folder, name, ending].concat();
                if changes.iter().any(|change| change.path.to_bytes() == file) {
                    continue;
                }
                if let Some(text) = self.text_at_head(&change.package, &file)? {
                    return Ok(source::count_tests(&file, &text));
                }
            }
        }
        Ok(0)
    }

    fn text_at_head(&mut self, package: &str, path: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
        let blob = self.in_package(package, |folder, open, _| {
            let head = open.read_head()?.commit;
            Ok(tree::leaf_in(&open.repo, head, &folder.in_repo(path))?
                .map(|(id, _)| tree::fact_of(id)))
        })?;
        match self.read_version(package, blob.as_ref())? {
            Version::Text(text) => Ok(Some(text)),
            Version::Absent | Version::TooLarge => Ok(None),
        }
    }

    /// Returns the code of frozen files that the packages' HEADs lack. A file may be elsewhere under its name.
    pub(super) fn lost_of_frozen(
        &mut self,
        files: &[KeptFile],
        changes: &[FileChange],
        after: &Snapshot,
    ) -> Result<Vec<LostLines>, GitError> {
        let mut all = Vec::new();
        for file in files {
            let Some(head) = after
                .package(&file.package)
                .map(|package| package.head.clone())
            else {
                continue;
            };
            let now = self
                .blob_at(&file.package, &file.path, &head)?
                .or_else(|| moved_to(file, changes));
            if now.as_ref() == Some(&file.blob) {
                continue;
            }
            let base = self.read_version(&file.package, file.base.as_ref())?;
            let written = self.read_version(&file.package, Some(&file.blob))?;
            let now = self.read_version(&file.package, now.as_ref())?;
            let lost = match (&written, &now) {
                (Version::Text(written), Version::Text(_) | Version::Absent) => {
                    source::lost_test_code(
                        &file.path.to_bytes(),
                        base.known_text(),
                        written,
                        now.known_text(),
                    )
                }
                _ => Some(too_large()),
            };
            all.extend(name_lost(&file.package, &file.path, lost));
        }
        all.sort();
        Ok(all)
    }

    /// Returns lines of reviewed files that the packages' HEADs lack.
    pub(super) fn lost_of_reviewed(
        &mut self,
        files: &[KeptFile],
        after: &Snapshot,
    ) -> Result<Vec<LostLines>, GitError> {
        let mut all = Vec::new();
        for file in files {
            let Some(head) = after
                .package(&file.package)
                .map(|package| package.head.clone())
            else {
                continue;
            };
            let now = self.blob_at(&file.package, &file.path, &head)?;
            let lost =
                self.lost_lines(&file.package, file.base.as_ref(), &file.blob, now.as_ref())?;
            all.extend(name_lost(&file.package, &file.path, lost));
        }
        all.sort();
        Ok(all)
    }

    /// Returns the effects of a change on existing production code and build files. New lines of build files are
    /// free.
    pub(super) fn lost_production(
        &mut self,
        change: &FileChange,
    ) -> Result<Option<LostLines>, GitError> {
        let Some(old) = change
            .old
            .as_ref()
            .filter(|old| change.new.as_ref() != Some(*old))
        else {
            return Ok(None);
        };
        let lost = if change.kind == Kind::Build {
            self.lost_lines(&change.package, None, old, change.new.as_ref())?
        } else {
            let before = self.read_version(&change.package, Some(old))?;
            match (
                before,
                self.read_version(&change.package, change.new.as_ref())?,
            ) {
                (Version::Text(before), now @ (Version::Text(_) | Version::Absent)) => {
                    source::changed_production(&change.path.to_bytes(), &before, now.known_text())
                }
                _ => Some(too_large()),
            }
        };
        Ok(name_lost(&change.package, &change.path, lost))
    }

    fn lost_lines(
        &mut self,
        package: &str,
        base: Option<&Oid>,
        written: &Oid,
        now: Option<&Oid>,
    ) -> Result<Option<(u64, String)>, GitError> {
        if now == Some(written) {
            return Ok(None);
        }
        let base = self.read_version(package, base)?;
        Ok(
            match (
                self.read_version(package, Some(written))?,
                self.read_version(package, now)?,
            ) {
                (Version::Text(written), now @ (Version::Text(_) | Version::Absent)) => {
                    source::lost_lines(base.known_text(), &written, now.known_text())
                }
                _ => Some(too_large()),
            },
        )
    }

    /// Returns test files with new declarations that production code of their package also has, and new ones that are code with
    /// a test of its own. The other files are those of `after`.
    pub(super) fn find_misused_tests(
        &mut self,
        changes: &[FileChange],
        after: &Snapshot,
    ) -> Result<(Vec<Shadow>, Vec<Misplaced>), GitError> {
        let (mut shadows, mut misplaced) = (Vec::new(), Vec::new());
        let mut known = BTreeMap::new();
        for change in changes.iter().filter(|change| change.kind == Kind::Test) {
            let package = &change.package;
            let Some(head) = after.package(package).map(|now| &now.head) else {
                continue;
            };
            if !known.contains_key(package) {
                known.insert(package.clone(), self.files_at(package, head)?);
            }
            let files = &known[package];
            if let Some(test) = self.find_own_test(change, files, head)? {
                misplaced.push(Misplaced {
                    package: package.clone(),
                    path: change.path.clone(),
                    test,
                });
            }
            if let Some(production) = self.find_shadowed(change, files)? {
                shadows.push(Shadow {
                    package: package.clone(),
                    path: change.path.clone(),
                    production: RepoPath::from_bytes(production.as_bytes()),
                });
            }
        }
        shadows.truncate(MAX_NAMED);
        misplaced.truncate(MAX_NAMED);
        Ok((shadows, misplaced))
    }

    /// Returns the test of a new file that is among the tests, and not in production code.
    fn find_own_test(
        &mut self,
        change: &FileChange,
        files: &[(String, Kind)],
        head: &Oid,
    ) -> Result<Option<RepoPath>, GitError> {
        let name = source::own_test_beside(change.path.as_str(), files);
        let Some(test) = name.filter(|_| change.old.is_none()) else {
            return Ok(None);
        };
        let path = RepoPath::from_bytes(test.as_bytes());
        let blob = self.blob_at(&change.package, &path, head)?;
        let text = self.read_version(&change.package, blob.as_ref())?;
        let text = text.known_text().unwrap_or_default();
        // `TestUtils` may be for tests itself.
        Ok((source::count_tests(test.as_bytes(), text) > 0).then_some(path))
    }

    /// Returns the production file that has a declaration which is new in a test file.
    fn find_shadowed<'f>(
        &mut self,
        change: &FileChange,
        files: &'f [(String, Kind)],
    ) -> Result<Option<&'f str>, GitError> {
        let path = change.path.as_str();
        if !path.as_bytes().ends_with(b".java") && !path.as_bytes().ends_with(b".py") {
            return Ok(None);
        }
        let before = self.read_version(&change.package, change.old.as_ref())?;
        let now = self.read_version(&change.package, change.new.as_ref())?;
        Ok(now
            .known_text()
            .and_then(|now| source::shadowed(path, before.known_text(), now, files)))
    }

    fn files_at(&mut self, package: &str, head: &Oid) -> Result<Vec<(String, Kind)>, GitError> {
        self.in_package(package, |folder, open, classifier| {
            let head = tree::oid_of(head)?;
            let tree = tree::tree_of(&open.repo, head, &folder.prefix)?;
            let all = tree::diff_trees(&open.repo, None, tree.as_ref())?;
            let named = all.into_iter().filter_map(|delta| {
                Some((
                    String::from_utf8(delta.path.clone()).ok()?,
                    classifier.kind_of(&delta.path),
                ))
            });
            Ok(named.collect())
        })
    }

    fn blob_at(
        &mut self,
        package: &str,
        path: &RepoPath,
        head: &Oid,
    ) -> Result<Option<Oid>, GitError> {
        let leaf = self.in_package(package, |folder, open, _| {
            let path = folder.in_repo(&path.to_bytes());
            tree::leaf_in(&open.repo, tree::oid_of(head)?, &path)
        })?;
        Ok(leaf.map(|(id, _)| tree::fact_of(id)))
    }

    fn read_version(&mut self, package: &str, blob: Option<&Oid>) -> Result<Version, GitError> {
        let Some(blob) = blob else {
            return Ok(Version::Absent);
        };
        match self.read_blob(package, blob, MAX_TEXT) {
            Ok(text) => Ok(Version::Text(text)),
            Err(error) if error.kind == GitErrorKind::Refused => Ok(Version::TooLarge),
            Err(error) => Err(error),
        }
    }
}

fn may_hold_tests(change: &FileChange) -> bool {
    change.kind == Kind::Test
        || (change.kind == Kind::Production && change.path.to_bytes().ends_with(b".rs"))
}

/// True for both sides of a moved test file.
///
/// It is the same under its name elsewhere, where a runner still finds it.
///
/// Cargo finds tests by their directory.
fn is_moved(change: &FileChange, changes: &[FileChange]) -> bool {
    let other = match change.status {
        FileStatus::Deleted => find_moved(change, changes),
        FileStatus::Added => changes.iter().find(|old| {
            old.status == FileStatus::Deleted && find_moved(old, changes) == Some(change)
        }),
        FileStatus::Modified => None,
    };
    other.is_some()
}

/// Returns the new file of a deleted one.
fn find_moved<'c>(old: &FileChange, changes: &'c [FileChange]) -> Option<&'c FileChange> {
    changes.iter().find(|new| {
        new.old.is_none() && new.new == old.old && is_twin(&old.package, &old.path, new)
    })
}

/// Returns the new content of a frozen file that moved.
///
/// There is one new test file of its name.
fn moved_to(file: &KeptFile, changes: &[FileChange]) -> Option<Oid> {
    let mut twins = changes
        .iter()
        .filter(|new| new.old.is_none() && is_twin(&file.package, &file.path, new));
    twins.next().and_then(|twin| twin.new.clone())
}

fn is_twin(package: &str, path: &RepoPath, new: &FileChange) -> bool {
    let [old, path] = [path, &new.path].map(RepoPath::to_bytes);
    new.kind == Kind::Test
        && new.package == package
        && file_name(&old) == file_name(&path)
        && source::is_collected(&path)
        && !path.ends_with(b".rs")
}

/// Returns the last part of a path.
fn file_name(path: &[u8]) -> Option<Vec<u8>> {
    path.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec)
}

fn too_large() -> (u64, String) {
    (
        1,
        format!("(a file of more than {} MiB was changed)", MAX_TEXT >> 20),
    )
}

fn name_lost(package: &str, path: &RepoPath, lost: Option<(u64, String)>) -> Option<LostLines> {
    let (count, first) = lost?;
    Some(LostLines {
        package: package.to_owned(),
        path: path.clone(),
        count,
        first,
    })
}
