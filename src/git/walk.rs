//! Compares the work tree with the index and HEAD, from the files themselves.
//!
//! Promises: agrees with `git status` in repositories that hide nothing. Links are never followed, also not in place of
//! a folder; ignored files, output folders and repositories inside are not entered; bounded.

use super::content;
use super::error::GitError;
use super::index::Tracked;
use super::open::{self, Head, OpenRepo};
use super::tree::{GITLINK, Leaf};
use crate::source::{is_output, is_state_file};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{FileType, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Dirty and untracked paths that are listed at most.
const MAX_ENTRIES: usize = 10_000;

/// A work tree at one moment; paths are relative to the repository's folder.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// Tracked files (in HEAD or in the index) that differ from HEAD in the index or on disk, and what
    /// stands on disk.
    pub(super) dirty: BTreeMap<Vec<u8>, Option<Leaf>>,
    /// Untracked files that are not ignored.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// Untracked repositories inside.
    pub(super) nested: BTreeSet<Vec<u8>>,
}

impl Status {
    fn check_size(&self) -> Result<(), GitError> {
        if self.dirty.len() + self.untracked.len() + self.nested.len() <= MAX_ENTRIES {
            return Ok(());
        }
        Err(GitError::refused(
            format!("More than {MAX_ENTRIES} files are changed or untracked."),
            "Commit them, or name generated files in .gitignore.",
        ))
    }
}

impl OpenRepo {
    /// HEAD, and all that differs from it.
    pub(super) fn status(&mut self) -> Result<(Head, Status), GitError> {
        let head = self.head()?;
        self.refresh_index(head.commit)?;
        let view = std::mem::take(&mut self.index);
        let mut walk = Walk {
            open: self,
            tracked: &view.tracked,
            seen: vec![false; view.tracked.len()],
            todo: vec![(Vec::new(), 0..view.tracked.len())],
            status: Status::default(),
        };
        let walked = walk.run();
        let mut status = std::mem::take(&mut walk.status);
        self.index = view;
        walked?;
        let removed: Vec<Vec<u8>> = self.index.removed.keys().cloned().collect();
        for path in removed {
            let found = self.leaf(&path)?;
            status.untracked.remove(&path);
            status.dirty.insert(path, found);
        }
        status.check_size()?;
        Ok((head, status))
    }

    /// What stands on disk at a path below real folders only.
    pub(super) fn leaf(&mut self, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        match self.lstat(path) {
            Some(meta) => self.content.leaf(&self.root, path, &meta),
            None => Ok(None),
        }
    }

    /// What is at the path, if all that leads to it are real folders.
    pub(super) fn lstat(&self, path: &[u8]) -> Option<Metadata> {
        content::lstat(&self.root, path)
    }

    fn is_ignored(&self, path: &[u8]) -> Result<bool, GitError> {
        self.repo
            .is_path_ignored(Path::new(OsStr::from_bytes(path)))
            .map_err(|error| GitError::unreadable("read the rules of .gitignore", &error))
    }
}

struct Walk<'a> {
    open: &'a mut OpenRepo,
    tracked: &'a [Tracked],
    seen: Vec<bool>,
    todo: Vec<(Vec<u8>, Range<usize>)>,
    status: Status,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), GitError> {
        while let Some((folder, range)) = self.todo.pop() {
            self.folder(&folder, &range)?;
            self.status.check_size()?;
        }
        for (entry, seen) in self.tracked.iter().zip(&self.seen) {
            if !seen {
                self.status.dirty.insert(entry.path.clone(), None);
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: &[u8], range: &Range<usize>) -> Result<(), GitError> {
        let failed = |error: io::Error| GitError::io("list a folder of the work tree", &error);
        for entry in fs_err::read_dir(content::on_disk(&self.open.root, folder)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, kind) = (entry.file_name().into_vec(), entry.file_type().map_err(failed)?);
            let path = [folder, &name].concat();
            if !kind.is_dir() && matches!(name.as_slice(), b".gitignore" | b".gitattributes") {
                open::refuse_special(&content::on_disk(&self.open.root, &path))?;
            }
            if name != b".git" {
                self.entry(path, kind, range)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: Vec<u8>, kind: FileType, range: &Range<usize>) -> Result<(), GitError> {
        if kind.is_dir() {
            return self.subfolder(path, range);
        }
        if let Some(at) = self.find(&path, range) {
            let meta = fs_err::symlink_metadata(content::on_disk(&self.open.root, &path));
            return self.tracked_file(at, &meta.map_err(|error| GitError::io("look at a file", &error))?);
        }
        // Git does not see pipes, sockets and devices.
        if (kind.is_file() || kind.is_symlink()) && !is_state_file(&path) && !self.open.is_ignored(&path)? {
            self.status.untracked.insert(path);
        }
        Ok(())
    }

    fn subfolder(&mut self, mut path: Vec<u8>, range: &Range<usize>) -> Result<(), GitError> {
        if let Some(at) = self.find(&path, range)
            && self.tracked[at].leaf.1 == GITLINK
        {
            return self.submodule(at);
        }
        path.push(b'/');
        let within = self.below(&path, range);
        if within.is_empty() {
            let bare = &path[..path.len() - 1];
            if is_output(bare) || is_state_file(bare) || self.open.is_ignored(&path)? {
                return Ok(());
            }
            if content::on_disk(&self.open.root, &path).join(".git").symlink_metadata().is_ok() {
                self.status.nested.insert(path);
                return Ok(());
            }
        }
        self.todo.push((path, within));
        Ok(())
    }

    fn find(&self, path: &[u8], range: &Range<usize>) -> Option<usize> {
        let part = &self.tracked[range.clone()];
        part.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok().map(|at| range.start + at)
    }

    /// The tracked paths that begin with `prefix`.
    fn below(&self, prefix: &[u8], range: &Range<usize>) -> Range<usize> {
        let part = &self.tracked[range.clone()];
        let start = part.partition_point(|entry| entry.path.as_slice() < prefix);
        let count = part[start..].partition_point(|entry| entry.path.starts_with(prefix));
        range.start + start..range.start + start + count
    }

    fn tracked_file(&mut self, at: usize, meta: &Metadata) -> Result<(), GitError> {
        let entry = &self.tracked[at];
        self.seen[at] = true;
        let leaf = self.open.content.leaf(&self.open.root, &entry.path, meta)?;
        let clean = match leaf {
            Some(found) if !entry.staged && self.is_mode(entry.leaf.1, found.1) => {
                let OpenRepo { repo, root, content, .. } = &mut *self.open;
                content.is_like(repo, root, &entry.path, found, entry.leaf.0)?
            }
            _ => false,
        };
        if !clean {
            self.status.dirty.insert(entry.path.clone(), leaf);
        }
        Ok(())
    }

    fn is_mode(&self, tracked: u32, found: u32) -> bool {
        tracked == found
            || (!self.open.filemode
                && [tracked, found]
                    .iter()
                    .all(|mode| matches!(*mode, content::REGULAR | content::EXECUTABLE)))
    }

    /// A submodule is dirty when its HEAD is another commit than the index names, or when tracked files in
    /// it are.
    fn submodule(&mut self, at: usize) -> Result<(), GitError> {
        let entry = &self.tracked[at];
        self.seen[at] = true;
        let folder = content::on_disk(&self.open.root, &entry.path);
        let mut found = entry.leaf.0;
        let mut clean = !entry.staged;
        if folder.join(".git").symlink_metadata().is_ok() {
            let failed = |error: git2::Error| GitError::unreadable("read a submodule", &error);
            let module = git2::Repository::open(&folder).map_err(failed)?;
            if let Ok(head) = module.refname_to_id("HEAD") {
                found = head;
            }
            let mut options = git2::StatusOptions::new();
            options.include_untracked(false).exclude_submodules(true);
            clean &= found == entry.leaf.0 && module.statuses(Some(&mut options)).map_err(failed)?.is_empty();
        }
        if !clean {
            self.status.dirty.insert(entry.path.clone(), Some((found, GITLINK)));
        }
        Ok(())
    }
}
