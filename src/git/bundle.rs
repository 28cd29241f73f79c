//! Git bundles: commits with everything they reach as a byte stream, and repositories created from one.
//!
//! Promises: the same commits give the same bytes. Reading runs no program, is bounded, and writes objects only.

use super::Repositories;
use super::error::{DescribeFailure as _, GitError};
use super::{package_folders, tree};
use crate::machine::facts::Oid;
use crate::sys::clock::Stopwatch;
use crate::sys::memory::with_memory_limit;
use git2::{ObjectType, Repository, RepositoryInitOptions, Sort};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIGNATURE: &str = "# v2 git bundle\n";
/// Bytes of memory, and the time, that the objects of a bundle may take.
const MAX_MEMORY: u64 = 4 << 30;
const MAX_TIME: Duration = Duration::from_secs(15 * 60);
/// Bytes that are read at a time.
const BUFFER: usize = 16 << 10;
/// Maximum size of a header, which holds a line for each commit, in bytes.
const MAX_HEADER: u64 = 64 << 20;

impl Repositories {
    /// Writes a git bundle of these commits of a package's repository, each under `refs/recorded/`.
    ///
    /// Errors: a commit that the repository does not have (`Unreadable`).
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn write_bundle(
        &mut self,
        package: &str,
        commits: &BTreeSet<Oid>,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        self.in_package(package, |_, open, _| {
            let doing = "pack the recorded commits";
            let mut header = SIGNATURE.to_owned();
            let mut walk = open.repo.revwalk().with_action(doing)?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)
                .with_action(doing)?;
            for commit in commits {
                let _ = writeln!(header, "{commit} refs/recorded/{commit}");
                if let Some(id) = tree::oid_of(commit)? {
                    walk.push(id).with_action(doing)?;
                }
            }
            header.push('\n');
            let mut pack = open.repo.packbuilder().with_action(doing)?;
            // With more threads the bytes depend on their timing.
            pack.set_threads(1);
            pack.insert_walk(&mut walk).with_action(doing)?;
            let mut written = to.write_all(header.as_bytes());
            let packed = pack.foreach(|part| {
                if written.is_ok() {
                    written = to.write_all(part);
                }
                written.is_ok()
            });
            written.with_action("write a git bundle")?;
            packed.with_action(doing)
        })
    }

    /// Returns the first location in a bundle of these commits where `is_wanted` is true.
    ///
    /// It has the form `1a2b3c4d5e:src/Price.java`, or the commit alone for its message. Each file's content is read
    /// once.
    ///
    /// Errors: a commit or an object that the repository does not have (`Unreadable`).
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn find_recorded(
        &mut self,
        package: &str,
        commits: &BTreeSet<Oid>,
        mut is_wanted: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<String>, GitError> {
        self.in_package(package, |_, open, _| {
            let doing = "read the recorded commits";
            let mut walk = open.repo.revwalk().with_action(doing)?;
            for id in commits
                .iter()
                .filter_map(|commit| tree::oid_of(commit).transpose())
            {
                walk.push(id?).with_action(doing)?;
            }
            let mut seen = BTreeSet::new();
            for id in walk {
                let commit = id
                    .and_then(|id| open.repo.find_commit(id))
                    .with_action(doing)?;
                let name = commit.id().to_string()[..10].to_owned();
                if is_wanted(commit.raw_header_bytes()) || is_wanted(commit.message_raw_bytes()) {
                    return Ok(Some(name));
                }
                let mut todo = vec![(String::new(), commit.tree_id(), Some(ObjectType::Tree))];
                while let Some((path, id, kind)) = todo.pop() {
                    if !seen.insert(id) {
                        continue;
                    }
                    if kind == Some(ObjectType::Tree) {
                        for entry in &open.repo.find_tree(id).with_action(doing)? {
                            let path =
                                format!("{path}/{}", String::from_utf8_lossy(entry.name_bytes()));
                            todo.push((path, entry.id(), entry.kind()));
                        }
                    } else if kind == Some(ObjectType::Blob)
                        && is_wanted(open.repo.find_blob(id).with_action(doing)?.content())
                    {
                        return Ok(Some(format!(
                            "{name}:{}",
                            super::error::clean_text(path.trim_start_matches('/'))
                        )));
                    }
                }
            }
            Ok(None)
        })
    }

    /// Returns the build files that make a directory of the workspace's repository a package.
    #[tracing::instrument(target = "git", level = "debug", skip_all, fields(package = package), err(level = "debug"))]
    pub fn build_files(&self, package: &str) -> Result<Vec<PathBuf>, GitError> {
        let folder = self
            .folders
            .get(package)
            .ok_or_else(|| super::no_package(package))?;
        if folder.root == folder.repo {
            return Ok(Vec::new());
        }
        package_folders::build_files(&folder.root, &self.classifier).with_action("list a package")
    }
}

/// Creates a repository with only the objects of a bundle: no branch, no file.
///
/// Errors: bytes that are not a bundle (`Unreadable`).
#[tracing::instrument(target = "git", skip_all, err(level = "info"))]
pub fn read_bundle(folder: &Path, from: &mut dyn BufRead) -> Result<(), GitError> {
    let doing = "read a git bundle";
    let (mut header, mut left) = (Vec::new(), from.take(MAX_HEADER));
    while !header.ends_with(b"\n\n") {
        if left.read_until(b'\n', &mut header).with_action(doing)? == 0
            || !header.starts_with(SIGNATURE.as_bytes())
        {
            return Err(GitError::damaged_error(
                "A git bundle in the file cannot be read: its header is invalid.",
                "Make the bundle again.",
            ));
        }
    }
    let mut options = RepositoryInitOptions::new();
    options
        .no_reinit(true)
        .external_template(false)
        .initial_head("main");
    let repository = Repository::init_opts(folder, &options).with_action(doing)?;
    let odb = repository.odb().with_action(doing)?;
    // libgit2 reads an object and the one that it is a delta of into memory, and a short pack can name huge ones.
    let read = with_memory_limit(MAX_MEMORY, || {
        let mut writer = odb.packwriter().with_action(doing)?;
        copy_within(left.get_mut(), &mut writer, MAX_TIME)
            .with_action("write a git bundle's objects")?;
        writer.commit().map(drop).with_action(doing)
    });
    read.with_action(doing)?
}

/// Copies all bytes within a time. The objects of a short pack can be huge.
fn copy_within(from: &mut dyn Read, to: &mut dyn Write, limit: Duration) -> io::Result<()> {
    let watch = Stopwatch::start();
    let mut buffer = [0; BUFFER];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            return Ok(());
        };
        to.write_all(part)?;
        if watch.elapsed() > limit {
            return Err(io::Error::other("it takes too long"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BUFFER, copy_within};
    use std::time::Duration;

    #[test]
    fn a_copy_ends_with_its_bytes_or_its_time() {
        let copy = |limit| {
            let mut to = Vec::new();
            let copied = copy_within(&mut &vec![7; 100_000][..], &mut to, limit);
            (copied.is_ok(), to.len())
        };
        assert_eq!(copy(Duration::from_secs(60)), (true, 100_000));
        assert_eq!(copy(Duration::ZERO), (false, BUFFER));
    }
}
