//! A checkout's folder: brought to what should stand there, and looked at again.
//!
//! Owns: the comparison of a folder with a checkout, by the hash of the bytes that are there, and the
//! writing of what differs.
//!
//! Promises: a file whose content is right is not touched, so that its time stays and a build goes on from
//! where it was; what does not belong there goes, except build outputs (a `target` folder beside a POM that
//! no commit holds). No link is followed.
//!
//! Refuses to know: what the files mean, beyond `pom.xml` and `target`.

use super::{Checkout, HINT, Leaf, MAX_BLOB, Repos, names};
use crate::git::content::{EXECUTABLE, LINK, mode_of, on_disk};
use crate::git::error::GitError;
use crate::source::RepoPath;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use git2::{ObjectType, Oid};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Entries that a folder may hold at most.
const MAX_ENTRIES: usize = 1_000_000;

/// What [`Checkout::write`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that were written, or whose mode was set.
    pub changed: Vec<Vec<u8>>,
    /// Files and whole folders that went.
    pub removed: Vec<Vec<u8>>,
    /// Folders of build outputs that stand there, absolute.
    pub outputs: Vec<PathBuf>,
}

/// What [`Checkout::inspect`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Files of other content or mode, or gone, and files that a build would read (sources, POMs, `.mvn`)
    /// but no commit holds; no more than were asked for.
    pub differences: Vec<RepoPath>,
    /// Folders of build outputs that stand there, absolute.
    pub outputs: Vec<PathBuf>,
}

/// What a folder holds beside, or instead of, what belongs there.
#[derive(Default)]
struct Look {
    /// Files with the right bytes and mode.
    right: BTreeSet<Vec<u8>>,
    /// Files with the right bytes and a wrong mode.
    mode: Vec<Vec<u8>>,
    /// Anything else that stands in the place of a file.
    wrong: Vec<Vec<u8>>,
    /// What does not belong there.
    extra: Vec<Vec<u8>>,
    outputs: Vec<PathBuf>,
    seen: usize,
}

impl Checkout {
    /// Brings a folder to exactly what should stand there, build outputs aside.
    pub fn write(&self, folder: &Path) -> Result<Written, GitError> {
        self.check_tree()?;
        let failed = |error: std::io::Error| GitError::io("write a checkout", &error);
        fs_err::create_dir_all(folder).map_err(failed)?;
        let look = self.look(folder)?;
        for path in look.extra.iter().chain(&look.wrong) {
            remove(&on_disk(folder, path)).map_err(failed)?;
        }
        let mut written = Written { removed: look.extra, outputs: look.outputs, changed: Vec::new() };
        for path in look.mode {
            let mode = self.leaves.get(&path).map_or(0, |leaf| leaf.mode);
            fs_err::set_permissions(on_disk(folder, &path), Permissions::from_mode(bits(mode)))
                .map_err(failed)?;
            written.changed.push(path.clone());
        }
        let done: BTreeSet<Vec<u8>> = written.changed.iter().cloned().chain(look.right).collect();
        let mut repos = Repos::default();
        for (path, leaf) in self.leaves.iter().filter(|(path, _)| !done.contains(*path)) {
            put(folder, path, leaf, &mut repos)?;
            written.changed.push(path.clone());
        }
        Ok(written)
    }

    /// How a folder differs from what should stand there.
    pub fn inspect(&self, folder: &Path, limit: usize) -> Result<Inspected, GitError> {
        let look = self.look(folder)?;
        let lacking = self.leaves.keys().filter(|path| !look.right.contains(*path));
        let extra = look.extra.iter().filter(|path| is_read_by_builds(path));
        let differences = lacking.chain(extra).take(limit).map(|path| RepoPath::from_bytes(path)).collect();
        Ok(Inspected { differences, outputs: look.outputs })
    }

    /// A file cannot stand where another path has a folder, and links are checked before any is written.
    fn check_tree(&self) -> Result<(), GitError> {
        let mut repos = Repos::default();
        for (path, leaf) in &self.leaves {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            if let Some((at, _)) = slashes.into_iter().find(|(at, _)| self.leaves.contains_key(&path[..*at]))
            {
                let what = format!("{} is a file and a folder.", RepoPath::from_bytes(&path[..at]));
                return Err(GitError::refused(what, HINT));
            }
            if leaf.mode == LINK {
                let target = leaf.bytes(&mut repos, 1 << 16)?.unwrap_or_default();
                names::check_link(path, &target)?;
            }
        }
        Ok(())
    }

    fn look(&self, folder: &Path) -> Result<Look, GitError> {
        let failed = |error: std::io::Error| GitError::io("look through a checkout", &error);
        let mut look = Look::default();
        let mut todo: Vec<Vec<u8>> = vec![Vec::new()];
        while let Some(at) = todo.pop() {
            for entry in fs_err::read_dir(on_disk(folder, &at)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = names::join(&at, &entry.file_name().into_vec());
                look.seen += 1;
                if look.seen > MAX_ENTRIES {
                    let what = format!("More than {MAX_ENTRIES} files stand in {}.", folder.display());
                    return Err(GitError::refused(what, "Remove the folder; it is made anew."));
                }
                let data = fs_err::symlink_metadata(entry.path()).map_err(failed)?;
                if !data.is_dir() {
                    self.look_at(folder, path, &data, &mut look)?;
                } else if self.is_output(&path) {
                    look.outputs.push(entry.path());
                } else if self.holds_folder(&path) {
                    todo.push(path);
                } else {
                    look.extra.push(path);
                }
            }
        }
        look.outputs.sort();
        Ok(look)
    }

    fn look_at(
        &self,
        folder: &Path,
        path: Vec<u8>,
        data: &std::fs::Metadata,
        look: &mut Look,
    ) -> Result<(), GitError> {
        let Some(leaf) = self.leaves.get(&path) else {
            look.extra.push(path);
            return Ok(());
        };
        let is = mode_of(data);
        let same_kind = is.is_some_and(|mode| (mode == LINK) == (leaf.mode == LINK));
        let file = on_disk(folder, &path);
        if !same_kind || hash(&file, leaf.mode)? != Some(leaf.id) {
            look.wrong.push(path);
        } else if is == Some(leaf.mode) {
            look.right.insert(path);
        } else {
            look.mode.push(path);
        }
        Ok(())
    }

    /// A `target` folder beside a POM, in which no file belongs.
    fn is_output(&self, path: &[u8]) -> bool {
        let Some(at) = path.strip_suffix(b"target") else { return false };
        (at.is_empty() || at.ends_with(b"/"))
            && self.leaves.contains_key(&[at, b"pom.xml"].concat())
            && !self.holds_folder(path)
    }
}

/// Files that a Maven build reads without being told.
fn is_read_by_builds(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    let first = parts.clone().find(|part| [b"src".as_slice(), b".mvn", b"target"].contains(part));
    first.is_some_and(|part| part != b"target") || first.is_none() && parts.next_back() == Some(b"pom.xml")
}

/// The hash of a file's bytes, or of where a link leads; `None` when it is gone.
fn hash(file: &Path, mode: u32) -> Result<Option<Oid>, GitError> {
    let hashed = if mode == LINK {
        let target = fs_err::read_link(file).map_err(|error| GitError::io("read a link", &error))?;
        Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes())
    } else {
        Oid::hash_file(ObjectType::Blob, file)
    };
    match hashed {
        Ok(id) => Ok(Some(id)),
        Err(_) if !file.exists() => Ok(None),
        Err(error) => Err(GitError::unreadable("hash a file of a checkout", &error)),
    }
}

fn bits(mode: u32) -> u32 {
    if mode == EXECUTABLE { 0o755 } else { 0o644 }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes one file that is not there.
fn put(folder: &Path, path: &[u8], leaf: &Leaf, repos: &mut Repos) -> Result<(), GitError> {
    let failed = |error: std::io::Error| GitError::io("write a checkout", &error);
    let bytes = leaf.bytes(repos, MAX_BLOB)?.ok_or_else(|| {
        GitError::refused(format!("The file {} is larger than 1 GiB.", RepoPath::from_bytes(path)), HINT)
    })?;
    let file = on_disk(folder, path);
    if let Some(parent) = file.parent() {
        fs_err::create_dir_all(parent).map_err(failed)?;
    }
    if leaf.mode == LINK {
        let target = Path::new(std::ffi::OsStr::from_bytes(&bytes));
        return fs_err::os::unix::fs::symlink(target, file).map_err(failed);
    }
    let mut new = fs_err::OpenOptions::new();
    let mut new = new.write(true).create_new(true).mode(bits(leaf.mode)).open(&file).map_err(failed)?;
    new.write_all(&bytes).map_err(failed)
}
