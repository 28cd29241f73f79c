//! What the committed `.gitignore` files leave out. Rules that are not committed (`.git/info/exclude`,
//! `core.excludesFile`, edits of `.gitignore`) could hide a file from everybody but the compiler: they do not count here.

use super::error::GitError;
use super::tree::{self, Leaf};
use git2::Repository;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

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
