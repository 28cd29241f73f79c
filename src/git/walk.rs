//! Compares the work tree with the index and HEAD, from the files themselves.
//!
//! Promises: agrees with `git status` in repositories that hide nothing. Links are never followed, even in place of a
//! directory. Ignored files, output directories and repositories inside are not entered. Bounded.

use super::content::{self, ContentCache, on_disk};
use super::error::{DescribeFailure as _, GitError};
use super::index::{self, CommittedRules, Tracked};
use super::open::{self, HeadPosition, OpenRepo};
use super::package_folders::is_repository;
use super::special_files;
use super::tree::{self, GITLINK, Leaf};
use crate::source::{RepoPath, is_output, is_source};
use git2::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{FileType, Metadata};
use std::path::Path;

/// Maximum number of listed dirty and untracked paths.
const MAX_ENTRIES: usize = 10_000;
/// The directory of production sources of any language in the usual layout of builds.
const MAIN: &[u8] = b"src/main/";
/// Maximum number of untracked files that only uncommitted rules ignore.
const MAX_HIDDEN: usize = 100_000;

/// A work tree at one moment. Paths are relative to the repository's directory.
#[derive(Debug, Default)]
pub(super) struct WorkTreeStatus {
    /// Tracked files that differ from HEAD, with their content on disk.
    ///
    /// Files in HEAD or in the index are tracked. They differ in the index or on disk.
    pub(super) dirty: BTreeMap<Vec<u8>, Option<Leaf>>,
    /// Untracked files that no committed rule ignores.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// Those of them that other rules ignore.
    pub(super) hidden: BTreeSet<Vec<u8>>,
    /// Untracked repositories inside.
    pub(super) nested: BTreeSet<Vec<u8>>,
}

impl WorkTreeStatus {
    fn check_size(&self) -> Result<(), GitError> {
        let hidden = self.hidden.len();
        let seen = self.dirty.len() + self.untracked.len() - hidden + self.nested.len();
        if seen <= MAX_ENTRIES && hidden <= MAX_HIDDEN {
            return Ok(());
        }
        Err(GitError::refused_error(
            format!("More than {MAX_ENTRIES} files are changed or untracked."),
            "Commit them, or name generated files in .gitignore.",
        ))
    }
}

impl OpenRepo {
    /// Returns HEAD, and everything that differs from it.
    pub(super) fn read_status(&mut self) -> Result<(HeadPosition, WorkTreeStatus), GitError> {
        let head = self.read_head()?;
        self.check_objects()?;
        index::refresh_view(&mut self.index, &self.repo, head.commit)?;
        if self.ignores.is_none() {
            self.ignores = Some(CommittedRules::read_ignores(
                &self.repo,
                &self.index.ignore_files,
            )?);
        }
        let Self {
            repo,
            root,
            modes,
            state,
            index,
            ignores,
            content,
            modules,
            ..
        } = self;
        let mut walk = Walk {
            repo,
            root,
            modes: modes.as_mut(),
            state,
            ignores: ignores.as_ref(),
            lfs: &index.lfs,
            content,
            tracked: &index.tracked,
            unseen: index.tracked.keys().map(Vec::as_slice).collect(),
            todo: vec![Vec::new()],
            modules,
            status: WorkTreeStatus::default(),
        };
        walk.walk_all()?;
        let mut status = walk.status;
        for path in index.removed.keys() {
            status.untracked.remove(path);
            status
                .dirty
                .insert(path.clone(), content.find_leaf(root, path)?);
        }
        status.check_size()?;
        Ok((head, status))
    }

    /// Returns HEAD of a submodule, and an id of the tracked files and sources that differ from it; `None` without
    /// any.
    fn find_differences(&mut self) -> Result<(Option<git2::Oid>, Option<git2::Oid>), GitError> {
        let (head, status) = self.read_status()?;
        let mut text = String::new();
        for (path, leaf) in &status.dirty {
            let _ = writeln!(text, "{} {leaf:?}", RepoPath::from_bytes(path));
        }
        // Outputs of builds are no sources.
        for path in status
            .untracked
            .iter()
            .filter(|path| is_source(path) || path.windows(MAIN.len()).any(|part| part == MAIN))
        {
            let _ = writeln!(
                text,
                "{} {:?}",
                RepoPath::from_bytes(path),
                self.read_leaf(path)?
            );
        }
        for path in &status.nested {
            let _ = writeln!(text, "{}", RepoPath::from_bytes(path));
        }
        if text.is_empty() {
            return Ok((head.commit, None));
        }
        let _ = write!(text, "{:?}", head.commit);
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes());
        Ok((head.commit, Some(id.with_action("read a submodule")?)))
    }

    /// Returns the content on disk of a path below real directories.
    pub(super) fn read_leaf(&mut self, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        self.content.find_leaf(&self.root, path)
    }

    /// Returns the metadata of a path, if its parents are real directories.
    pub(super) fn lstat_path(&self, path: &[u8]) -> Option<Metadata> {
        content::lstat_path(&self.root, path)
    }
}

struct Walk<'a> {
    repo: &'a Repository,
    root: &'a Path,
    modes: Option<&'a mut BTreeMap<Vec<u8>, Leaf>>,
    state: &'a [Vec<u8>],
    ignores: Option<&'a CommittedRules>,
    lfs: &'a CommittedRules,
    content: &'a mut ContentCache,
    tracked: &'a BTreeMap<Vec<u8>, Tracked>,
    /// Tracked paths that the walk has not reached.
    unseen: BTreeSet<&'a [u8]>,
    /// Directories to list, each with a `/` at its end.
    todo: Vec<Vec<u8>>,
    /// The submodules' repositories, by their directory.
    modules: &'a mut BTreeMap<Vec<u8>, Option<Box<OpenRepo>>>,
    status: WorkTreeStatus,
}

impl Walk<'_> {
    fn walk_all(&mut self) -> Result<(), GitError> {
        while let Some(folder) = self.todo.pop() {
            self.walk_folder(&folder)?;
            self.status.check_size()?;
        }
        let gone = self.unseen.iter().map(|path| (path.to_vec(), None));
        self.status.dirty.extend(gone);
        Ok(())
    }

    fn walk_folder(&mut self, folder: &[u8]) -> Result<(), GitError> {
        let names = self.content.folder_names(&on_disk(self.root, folder));
        for (name, kind) in names.with_action("list a folder of the work tree")?.iter() {
            let (path, kind) = ([folder, name].concat(), *kind);
            if !kind.is_dir() && matches!(name.as_slice(), b".gitignore" | b".gitattributes") {
                special_files::refuse_special(&on_disk(self.root, &path))?;
            }
            if *name != b".git" {
                self.visit_entry(path, kind)?;
            }
        }
        Ok(())
    }

    fn visit_entry(&mut self, path: Vec<u8>, kind: FileType) -> Result<(), GitError> {
        let tracked = self.tracked.get(&path);
        if kind.is_dir() {
            if let Some(module) = tracked.filter(|tracked| tracked.leaf.1 == GITLINK) {
                return self.visit_submodule(path, module);
            }
            self.visit_subfolder(&path);
            return Ok(());
        }
        if let Some(tracked) = tracked {
            return self.tracked_file(path, tracked);
        }
        // Git ignores pipes, sockets and devices.
        let is_seen = (kind.is_file() || kind.is_symlink()) && !open::is_below(self.state, &path);
        if is_seen && !self.is_left_out(&path) {
            let ignored = self.repo.is_path_ignored(tree::relative_path(&path));
            if ignored.with_action("read the rules of .gitignore")? {
                self.status.hidden.insert(path.clone());
            }
            self.status.untracked.insert(path);
        }
        Ok(())
    }

    fn visit_subfolder(&mut self, bare: &[u8]) {
        let path = [bare, b"/"].concat();
        let next = self.tracked.range(path.clone()..).next();
        if next.is_none_or(|(next, _)| !next.starts_with(&path)) {
            if is_output(bare) || open::is_below(self.state, bare) || self.is_left_out(&path) {
                return;
            }
            if is_repository(&on_disk(self.root, &path)) {
                self.status.nested.insert(path);
                return;
            }
        }
        self.todo.push(path);
    }

    fn is_left_out(&self, path: &[u8]) -> bool {
        self.ignores
            .is_some_and(|ignores| ignores.matches_path(path))
    }

    fn tracked_file(&mut self, path: Vec<u8>, tracked: &Tracked) -> Result<(), GitError> {
        self.unseen.remove(path.as_slice());
        let meta = fs_err::symlink_metadata(on_disk(self.root, &path));
        let meta = meta.with_action("look at a file")?;
        let leaf = self.content.hash_leaf(self.root, &path, &meta)?;
        let clean = match leaf {
            Some(found) if !tracked.staged && self.is_mode(&path, tracked.leaf.1, found) => self
                .content
                .is_like(self.repo, self.root, &path, found, tracked.leaf.0, self.lfs)?,
            _ => false,
        };
        if !clean {
            self.status.dirty.insert(path, leaf);
        }
        Ok(())
    }

    /// True if the mode counts as unchanged. If modes do not count, a file must keep its mode while its content
    /// stays.
    fn is_mode(&mut self, path: &[u8], tracked: u32, found: Leaf) -> bool {
        let Some(modes) = self
            .modes
            .as_mut()
            .filter(|_| is_file_mode(tracked) && is_file_mode(found.1))
        else {
            return tracked == found.1;
        };
        let first = modes.entry(path.to_vec()).or_insert(found);
        *first = if first.0 == found.0 { *first } else { found };
        tracked == found.1 || *first == found
    }

    /// Compares a submodule.
    ///
    /// It is dirty if its HEAD is another commit than the index names, or if tracked files or sources in it differ
    /// from that. Its id then covers all differences, so that a further edit gives another id.
    fn visit_submodule(&mut self, path: Vec<u8>, tracked: &Tracked) -> Result<(), GitError> {
        self.unseen.remove(path.as_slice());
        let folder = on_disk(self.root, &path);
        let mut found = tracked.leaf.0;
        let mut clean = !tracked.staged;
        if is_repository(&folder) {
            let module = self.modules.entry(path.clone()).or_default();
            let open = match module.take().filter(|open| open.is_current()) {
                Some(open) => open,
                None => Box::new(OpenRepo::open_repository(&folder)?),
            };
            let open = module.insert(open);
            let (head, edits) = open.find_differences()?;
            found = head.unwrap_or(found);
            clean &= found == tracked.leaf.0 && edits.is_none();
            found = edits.unwrap_or(found);
        }
        if !clean {
            self.status.dirty.insert(path, Some((found, GITLINK)));
        }
        Ok(())
    }
}

/// True for the mode of a regular file.
fn is_file_mode(mode: u32) -> bool {
    matches!(mode, content::REGULAR | content::EXECUTABLE)
}
