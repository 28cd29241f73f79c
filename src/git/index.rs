//! The index, its differences from HEAD, and the committed ignore rules.
//!
//! The index is read again only if it or HEAD changed. Rules that are not committed (`.git/info/exclude`,
//! `core.excludesFile`, edits of `.gitignore`) could hide a file from everyone but the compiler, and do not count
//! here.

use super::error::GitError;
use super::tree::{self, Leaf};
use crate::sys::file_stat::{self, FileStat};
use git2::{IndexEntryExtendedFlag, Oid, Repository};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The library has no name for this flag of an entry.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// An index entry at a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracked {
    pub(super) leaf: Leaf,
    /// True if it differs from HEAD, is in conflict, or is only marked to be added.
    pub(super) staged: bool,
}

/// The cached comparison of the index with HEAD's tree.
#[derive(Default)]
pub(super) struct IndexView {
    pub(super) tracked: BTreeMap<Vec<u8>, Tracked>,
    /// Files in HEAD that are not in the index.
    pub(super) removed: BTreeMap<Vec<u8>, Leaf>,
    /// The `.gitignore` files in HEAD.
    pub(super) ignore_files: BTreeMap<Vec<u8>, Leaf>,
    /// The files whose content Git LFS keeps, by the `.gitattributes` files in HEAD.
    pub(super) lfs: CommittedRules,
    of: Option<(Option<FileStat>, Option<Oid>)>,
}

impl IndexView {
    /// Marks the view as outdated, even if the stamps are unchanged.
    pub(super) fn forget_stamps(&mut self) {
        self.of = None;
    }
}

/// Brings the view up to date with the index file and with HEAD.
pub(super) fn refresh_view(
    view: &mut IndexView,
    repo: &Repository,
    head: Option<Oid>,
) -> Result<(), GitError> {
    let mut index = repo.index().map_err(why_not)?;
    let stamp = index.path().and_then(FileStat::at);
    if view.of == Some((stamp, head)) {
        return Ok(());
    }
    let now = file_stat::now();
    index.read(true).map_err(why_not)?;
    let tree = tree::tree_of(repo, head, b"")?;
    let mut in_head: BTreeMap<Vec<u8>, Leaf> = tree::diff_trees(repo, None, tree.as_ref())?
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
        tracked
            .entry(entry.path)
            .and_modify(|first: &mut Tracked| first.staged = true)
            .or_insert(Tracked { leaf, staged });
    }
    let ignore_files = files_named(&in_head, b".gitignore");
    let lfs = CommittedRules::read_lfs(repo, &files_named(&in_head, b".gitattributes"))?;
    in_head.retain(|path, _| !tracked.contains_key(path));
    let settled = stamp.is_none_or(|stamp| stamp.is_settled(now));
    let of = settled.then_some((stamp, head));
    *view = IndexView {
        tracked,
        removed: in_head,
        ignore_files,
        lfs,
        of,
    };
    Ok(())
}

/// Returns the files of this name in any directory.
fn files_named(files: &BTreeMap<Vec<u8>, Leaf>, name: &[u8]) -> BTreeMap<Vec<u8>, Leaf> {
    files
        .iter()
        .filter(|(path, _)| {
            path.strip_suffix(name)
                .is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
        })
        .map(|(path, leaf)| (path.clone(), *leaf))
        .collect()
}

/// Returns the directories of submodules in a `.gitmodules` file; empty without one.
pub(super) fn submodule_folders(
    repo: &Repository,
    file: Option<Leaf>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let Some((id, _)) = file else {
        return Ok(BTreeSet::new());
    };
    let bytes = tree::read_blob(repo, id, MAX_FILE)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let paths = lines.filter(|(key, _)| key.trim() == "path");
    Ok(paths
        .map(|(_, path)| {
            path.trim()
                .trim_matches('"')
                .trim_end_matches('/')
                .as_bytes()
                .to_vec()
        })
        .collect())
}

fn refuse_hidden(entry: &git2::IndexEntry) -> Result<(), GitError> {
    let mark = match () {
        () if entry.flags & ASSUME_UNCHANGED != 0 => "assume-unchanged",
        () if entry.flags_extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0 => {
            "skip-worktree"
        }
        () => return Ok(()),
    };
    let path = String::from_utf8_lossy(&entry.path);
    let what = format!("The index marks {path} as {mark}, which hides what happens to it.");
    Err(GitError::refused_error(
        what,
        format!("Run `git update-index --no-{mark} -- {path}`."),
    ))
}

fn why_not(error: git2::Error) -> GitError {
    let text = error.message();
    if text.contains("'link'") {
        return GitError::refused_error(
            "The index is split into two files, which ralph cannot read.",
            "Run `git update-index --no-split-index` and unset core.splitIndex.",
        );
    }
    if text.contains("'sdir'") {
        return GitError::refused_error(
            "The index is sparse, which ralph cannot read.",
            "Run `git sparse-checkout disable`.",
        );
    }
    GitError::library_error("read the index", error)
}

/// Maximum size of one such file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The patterns of a commit, by their directory: empty, or with a `/` at its end.
#[derive(Default)]
pub(super) struct CommittedRules(BTreeMap<Vec<u8>, Gitignore>);

impl CommittedRules {
    /// Reads these `.gitignore` files. An invalid pattern excludes nothing, as in git.
    pub(super) fn read_ignores(
        repo: &Repository,
        files: &BTreeMap<Vec<u8>, Leaf>,
    ) -> Result<Self, GitError> {
        Self::read_selection(repo, files, |text| {
            text.lines().map(str::to_owned).collect()
        })
    }

    /// Reads the files that these `.gitattributes` files assign to Git LFS.
    fn read_lfs(repo: &Repository, files: &BTreeMap<Vec<u8>, Leaf>) -> Result<Self, GitError> {
        Self::read_selection(repo, files, lfs_patterns)
    }

    fn read_selection(
        repo: &Repository,
        files: &BTreeMap<Vec<u8>, Leaf>,
        patterns: impl Fn(&str) -> Vec<String>,
    ) -> Result<Self, GitError> {
        let mut all = BTreeMap::new();
        for (path, (id, _)) in files {
            let end = path
                .iter()
                .rposition(|byte| *byte == b'/')
                .map_or(0, |at| at + 1);
            let folder = &path[..end];
            let bytes = tree::read_blob(repo, *id, MAX_FILE)?.unwrap_or_default();
            let mut rules = GitignoreBuilder::new(Path::new(OsStr::from_bytes(folder)));
            for pattern in patterns(&String::from_utf8_lossy(&bytes)) {
                let _ = rules.add_line(None, &pattern);
            }
            all.extend(rules.build().ok().map(|rules| (folder.to_owned(), rules)));
        }
        Ok(Self(all))
    }

    /// True if the rules match the path, and no directory above it. A directory has a `/` at its end.
    pub(super) fn matches_path(&self, path: &[u8]) -> bool {
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        let ends = bare
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(at, _)| at + 1);
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

/// Returns the patterns of a `.gitattributes` file that set the attribute `filter`, in order.
///
/// Patterns with a `!` set it to something else than `lfs`. As with ignore rules, the last one that matches a path
/// decides.
fn lfs_patterns(text: &str) -> Vec<String> {
    let mut macros = vec!["filter=lfs".to_owned()];
    let mut patterns = Vec::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
    {
        let (pattern, rest) = match line.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some(quoted) => quoted,
            None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
        };
        let sets = rest.split_whitespace().rev().find_map(|attribute| {
            let is_lfs = macros.iter().any(|known| known == attribute);
            let bare = attribute.trim_start_matches(['-', '!']);
            (is_lfs || bare.split('=').next() == Some("filter")).then_some(is_lfs)
        });
        match (pattern.strip_prefix("[attr]"), sets) {
            (Some(name), Some(true)) => macros.push(name.to_owned()),
            (None, Some(true)) => patterns.push(pattern.to_owned()),
            (None, Some(false)) => patterns.push(format!("!{pattern}")),
            _ => {}
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::lfs_patterns;

    #[test]
    fn the_last_line_that_sets_the_filter_decides_and_macros_are_known() {
        let text = "# *.c filter=lfs\n*.bin filter=lfs diff=lfs -text\n[attr]big filter=lfs\n\"a b\" big\n*.txt text\nx.bin -filter\ny.bin filter=lfs filter=crypt\n";
        assert_eq!(lfs_patterns(text), ["*.bin", "a b", "!x.bin", "!y.bin"]);
    }
}
