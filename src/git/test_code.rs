//! Effects of changes on tests: fewer tests, lost code of frozen tests, test files that replace production code.
//!
//! Promise: only changed files are read.

use super::error::{GitError, GitErrorKind};
use super::{Repositories, tree};
use crate::machine::facts::{FileChange, FileStatus, KeptFile, LostLines, Oid, Shadow, Snapshot};
use crate::source::{self, Kind, RepoPath};

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
                .blob_at(file, &head)?
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
            let now = self.blob_at(file, &head)?;
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

    /// Returns test files with new declarations that production code of their package also has.
    pub(super) fn find_shadows(&mut self, changes: &[FileChange]) -> Result<Vec<Shadow>, GitError> {
        let mut found = Vec::new();
        let mut files = None;
        for change in changes.iter().filter(|change| {
            let path = change.path.to_bytes();
            change.kind == Kind::Test && (path.ends_with(b".java") || path.ends_with(b".py"))
        }) {
            let before = self.read_version(&change.package, change.old.as_ref())?;
            let Version::Text(now) = self.read_version(&change.package, change.new.as_ref())?
            else {
                continue;
            };
            if files
                .as_ref()
                .is_none_or(|(package, _)| *package != change.package)
            {
                files = Some((change.package.clone(), self.files_at_head(&change.package)?));
            }
            let Some((_, files)) = &files else { continue };
            if let Some(production) =
                source::shadowed(change.path.as_str(), before.known_text(), &now, files)
            {
                let production = RepoPath::from_bytes(production.as_bytes());
                found.push(Shadow {
                    package: change.package.clone(),
                    path: change.path.clone(),
                    production,
                });
            }
        }
        found.truncate(MAX_NAMED);
        Ok(found)
    }

    fn files_at_head(&mut self, package: &str) -> Result<Vec<(String, Kind)>, GitError> {
        self.in_package(package, |folder, open, classifier| {
            let head = open.read_head()?.commit;
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

    fn blob_at(&mut self, file: &KeptFile, head: &Oid) -> Result<Option<Oid>, GitError> {
        let leaf = self.in_package(&file.package, |folder, open, _| {
            let path = folder.in_repo(&file.path.to_bytes());
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
