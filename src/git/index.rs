//! What the index holds, and how it differs from HEAD; read again only if it or HEAD changed. What the committed `.gitignore`
//! files leave out: rules that are not committed (`.git/info/exclude`, `core.excludesFile`, edits of `.gitignore`) could hide a
//! file from everybody but the compiler, and do not count here.

use super::error::GitError;
use super::tree::{self, Leaf};
use crate::sys::file_stat::{self, FileStat};
use git2::{IndexEntryExtendedFlag, Oid, Repository};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The library has no name for this flag of an entry.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// What the index has at a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracked {
    pub(super) leaf: Leaf,
    /// Differs from HEAD, is in conflict, or is only meant to be added.
    pub(super) staged: bool,
}

/// The index against HEAD's tree, remembered.
#[derive(Default)]
pub(super) struct IndexView {
    pub(super) tracked: BTreeMap<Vec<u8>, Tracked>,
    /// In HEAD and not in the index.
    pub(super) removed: BTreeMap<Vec<u8>, Leaf>,
    /// The `.gitignore` files in HEAD.
    pub(super) ignore_files: BTreeMap<Vec<u8>, Leaf>,
    of: Option<(Option<FileStat>, Option<Oid>)>,
}

impl IndexView {
    /// Must be read again, whatever the stamps say.
    pub(super) fn forget(&mut self) {
        self.of = None;
    }
}

/// Brings the view up to date with the index file and with HEAD.
pub(super) fn refresh(view: &mut IndexView, repo: &Repository, head: Option<Oid>) -> Result<(), GitError> {
    let mut index = repo.index().map_err(|error| why_not(&error))?;
    let stamp = index.path().and_then(FileStat::at);
    if view.of == Some((stamp, head)) {
        return Ok(());
    }
    let now = file_stat::now();
    index.read(true).map_err(|error| why_not(&error))?;
    let tree = tree::tree_of(repo, head, b"")?;
    let mut in_head: BTreeMap<Vec<u8>, Leaf> = tree::diff(repo, None, tree.as_ref())?
        .into_iter()
        .filter_map(|delta| Some((delta.path, delta.new?)))
        .collect();
    let mut tracked = BTreeMap::new();
    for entry in index.iter() {
        refuse_hidden(&entry)?;
        let leaf = (entry.id, entry.mode);
        let conflict = entry.flags & 0x3000 != 0;
        let intent = entry.flags_extended & IndexEntryExtendedFlag::INTENT_TO_ADD.bits() != 0;
        let staged = conflict || intent || in_head.get(&entry.path) != Some(&leaf);
        let again = |first: &mut Tracked| first.staged = true;
        tracked.entry(entry.path).and_modify(again).or_insert(Tracked { leaf, staged });
    }
    let is_ignore_file = |path: &[u8]| {
        path.strip_suffix(b".gitignore").is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
    };
    let ignore_files = in_head
        .iter()
        .filter(|(path, _)| is_ignore_file(path))
        .map(|(path, leaf)| (path.clone(), *leaf))
        .collect();
    in_head.retain(|path, _| !tracked.contains_key(path));
    let settled = stamp.is_none_or(|stamp| stamp.is_settled(now));
    *view = IndexView { tracked, removed: in_head, ignore_files, of: settled.then_some((stamp, head)) };
    Ok(())
}

fn refuse_hidden(entry: &git2::IndexEntry) -> Result<(), GitError> {
    let mark = match () {
        () if entry.flags & ASSUME_UNCHANGED != 0 => "assume-unchanged",
        () if entry.flags_extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0 => "skip-worktree",
        () => return Ok(()),
    };
    let path = String::from_utf8_lossy(&entry.path);
    let what = format!("The index marks {path} as {mark}, which hides what happens to it.");
    Err(GitError::refused(what, format!("Run `git update-index --no-{mark} -- {path}`.")))
}

fn why_not(error: &git2::Error) -> GitError {
    let text = error.message();
    if text.contains("'link'") {
        return GitError::refused(
            "The index is split into two files, which ralph cannot read.",
            "Run `git update-index --no-split-index` and unset core.splitIndex.",
        );
    }
    if text.contains("'sdir'") {
        return GitError::refused(
            "The index is sparse, which ralph cannot read.",
            "Run `git sparse-checkout disable`.",
        );
    }
    GitError::unreadable("read the index", error)
}

/// Bytes of one such file.
const MAX_FILE: u64 = 1 << 20;

/// The rules of a commit, by the folder that they are in: empty, or with a `/` at its end.
#[derive(Default)]
pub(super) struct Ignores(BTreeMap<Vec<u8>, Gitignore>);

impl Ignores {
    /// Reads these `.gitignore` files. A line that is no pattern leaves nothing out, as in git.
    pub(super) fn read(repo: &Repository, files: &BTreeMap<Vec<u8>, Leaf>) -> Result<Self, GitError> {
        let mut all = BTreeMap::new();
        for (path, (id, _)) in files {
            let folder = path.strip_suffix(b".gitignore").unwrap_or_default();
            let bytes = tree::blob(repo, *id, MAX_FILE)?.unwrap_or_default();
            let mut rules = GitignoreBuilder::new(Path::new(OsStr::from_bytes(folder)));
            for line in String::from_utf8_lossy(&bytes).lines() {
                let _ = rules.add_line(None, line);
            }
            all.extend(rules.build().ok().map(|rules| (folder.to_owned(), rules)));
        }
        Ok(Self(all))
    }

    /// True if the rules leave the path out, and no folder above it; a folder has a `/` at its end.
    pub(super) fn leave_out(&self, path: &[u8]) -> bool {
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        let ends = bare.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        let is_folder = bare.len() < path.len();
        for end in ends.chain([0]) {
            if let Some(rules) = self.0.get(&bare[..end]) {
                let found = rules.matched(OsStr::from_bytes(bare), is_folder);
                if !found.is_none() {
                    return found.is_ignore();
                }
            }
        }
        false
    }
}
