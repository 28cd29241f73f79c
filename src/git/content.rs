//! Hashes unchanged files, and decides if git would consider a file equal to a blob.
//!
//! Promises: no filter of the repository runs. Bytes that differ from the blob are equal only if the differences are
//! line ends or `$Id$` that git's own settings ignore, or if they are the object of a Git LFS pointer, which the
//! repository's LFS store has too.

use super::error::{DescribeFailure as _, GitError};
use super::index::CommittedRules;
use super::tree::{self, Leaf};
use crate::source::digest_of;
use crate::sys::file_stat::{self, FileStat};
use git2::{ObjectType, Oid, Repository};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) const REGULAR: u32 = 0o100_644;
pub(super) const EXECUTABLE: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;
/// Maximum size of a hashed file: git's own formats end there.
///
/// Holes use no disk, only time, so fewer of them are hashed.
const MAX_HASHED: u64 = 4 << 30;
const MAX_HOLES: u64 = 64 << 20;
/// Maximum size of files that are compared beyond their hash.
const MAX_COMPARED: u64 = 64 << 20;

/// The names in a directory.
type EntryNames = Rc<[(Vec<u8>, FileType)]>;

/// A cache for files and directories that did not change.
#[derive(Default)]
pub(super) struct ContentCache {
    /// Hashes of files, by path.
    seen: HashMap<Vec<u8>, Hashed>,
    /// The names in directories.
    listed: HashMap<PathBuf, (FileStat, EntryNames)>,
}

struct Hashed {
    stamp: FileStat,
    id: Oid,
    /// A blob that counts as equal to this content, though its bytes differ.
    like: Option<Oid>,
}

/// Returns the path on disk of a path in a repository.
pub(super) fn on_disk(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

/// Returns the metadata of a path, if its parents are real directories.
pub(super) fn lstat_path(root: &Path, path: &[u8]) -> Option<Metadata> {
    let mut at = root.to_owned();
    let mut parts = path.split(|&byte| byte == b'/').peekable();
    while let Some(part) = parts.next() {
        at.push(OsStr::from_bytes(part));
        let meta = std::fs::symlink_metadata(&at).ok()?;
        match parts.peek() {
            None => return Some(meta),
            Some(_) if meta.is_dir() => {}
            Some(_) => return None,
        }
    }
    None
}

/// Returns git's mode of such a file; `None` for one that git does not track.
pub(super) fn mode_of(meta: &Metadata) -> Option<u32> {
    let kind = meta.file_type();
    match () {
        () if kind.is_symlink() => Some(LINK),
        () if !kind.is_file() => None,
        () if meta.permissions().mode() & 0o100 != 0 => Some(EXECUTABLE),
        () => Some(REGULAR),
    }
}

impl ContentCache {
    /// Returns the names in a directory. Any change of them or of their types sets its change time.
    pub(super) fn folder_names(&mut self, folder: &Path) -> io::Result<EntryNames> {
        let (now, stat) = (file_stat::now(), FileStat::at(folder));
        if let Some((known, names)) = self.listed.get(folder)
            && Some(*known) == stat
        {
            return Ok(Rc::clone(names));
        }
        let names: EntryNames = fs_err::read_dir(folder)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.file_name().into_vec(), entry.file_type()?))
            })
            .collect::<io::Result<_>>()?;
        match stat.filter(|stat| stat.is_settled(now)) {
            Some(stat) => {
                _ = self
                    .listed
                    .insert(folder.to_owned(), (stat, Rc::clone(&names)));
            }
            None => _ = self.listed.remove(folder),
        }
        Ok(names)
    }

    /// Returns the content on disk of a path below real directories.
    pub(super) fn find_leaf(&mut self, root: &Path, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        lstat_path(root, path).map_or(Ok(None), |meta| self.hash_leaf(root, path, &meta))
    }

    /// Returns the blob hash of the bytes on disk (of a link: of its target) and the mode.
    pub(super) fn hash_leaf(
        &mut self,
        root: &Path,
        path: &[u8],
        meta: &Metadata,
    ) -> Result<Option<Leaf>, GitError> {
        let Some(mode) = mode_of(meta) else {
            return Ok(None);
        };
        let stamp = FileStat::of(meta);
        if let Some(seen) = self.seen.get(path)
            && seen.stamp == stamp
        {
            return Ok(Some((seen.id, mode)));
        }
        let now = file_stat::now();
        let file = on_disk(root, path);
        let holes = meta.len().saturating_sub(meta.blocks().saturating_mul(512));
        if meta.len() > MAX_HASHED || holes > MAX_HOLES {
            return Err(GitError::refused_error(
                format!(
                    "The file {} has {} MiB, {} of them holes.",
                    file.display(),
                    meta.len() >> 20,
                    holes >> 20
                ),
                "Move it out of the package, then run ralph again.",
            ));
        }
        let id = if mode == LINK {
            let target = fs_err::read_link(&file).with_action("read a link")?;
            Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes())
        } else {
            Oid::hash_file(ObjectType::Blob, &file)
        };
        let id = id.with_action(format_args!("hash {}", String::from_utf8_lossy(path)))?;
        if stamp.is_settled(now) {
            self.seen.insert(
                path.to_vec(),
                Hashed {
                    stamp,
                    id,
                    like: None,
                },
            );
        } else {
            self.seen.remove(path);
        }
        Ok(Some((id, mode)))
    }

    /// True if git's rules for line ends and LFS make the file equal to `blob`.
    ///
    /// `lfs` matches the files whose content Git LFS keeps.
    pub(super) fn is_like(
        &mut self,
        repo: &Repository,
        root: &Path,
        path: &[u8],
        (id, mode): Leaf,
        blob: Oid,
        lfs: &CommittedRules,
    ) -> Result<bool, GitError> {
        if id == blob {
            return Ok(true);
        }
        if mode == LINK {
            return Ok(false);
        }
        if let Some(seen) = self.seen.get(path)
            && seen.like == Some(blob)
        {
            return Ok(true);
        }
        let file = on_disk(root, path);
        // A pointer that no committed rule assigns to Git LFS is normal text: builds elsewhere would read it.
        let same = lfs.matches_path(path) && is_lfs_object(repo, &file, blob)?
            || is_same_but_for_line_ends(repo, &file, path, blob)?;
        if same && let Some(seen) = self.seen.get_mut(path) {
            seen.like = Some(blob);
        }
        Ok(same)
    }
}

fn is_same_but_for_line_ends(
    repo: &Repository,
    file: &Path,
    path: &[u8],
    blob: Oid,
) -> Result<bool, GitError> {
    let doing = "read a changed file";
    if fs_err::metadata(file).with_action(doing)?.len() > MAX_COMPARED {
        return Ok(false);
    }
    let bytes = fs_err::read(file).with_action(doing)?;
    let Some(stored) = tree::read_blob(repo, blob, MAX_COMPARED)? else {
        return Ok(false);
    };
    if strip_expansions(&bytes) != strip_expansions(&stored) {
        return Ok(false);
    }
    let hidden = git2::Status::WT_MODIFIED | git2::Status::WT_TYPECHANGE | git2::Status::WT_DELETED;
    Ok(repo
        .status_file(&tree::relative_path(path))
        .is_ok_and(|status| !status.intersects(hidden)))
}

/// Returns the bytes without carriage returns before line feeds and without `ident`'s id between `$Id` and `$`.
///
/// Other text there may be code.
fn strip_expansions(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'\r' && tail.first() == Some(&b'\n') {
            continue;
        }
        out.push(byte);
        if out.ends_with(b"$Id:") {
            let line = tail.iter().position(|&b| b == b'\n').unwrap_or(tail.len());
            if let Some(end) = tail[..line]
                .iter()
                .position(|&b| b == b'$')
                .filter(|end| is_expansion(&tail[..*end]))
            {
                out.pop();
                rest = &tail[end..];
            }
        }
    }
    out
}

/// True for ` <40 hexadecimal digits> `, as git writes it.
fn is_expansion(text: &[u8]) -> bool {
    let id = text
        .strip_prefix(b" ")
        .and_then(|text| text.strip_suffix(b" "));
    id.is_some_and(|id| id.len() == 40 && id.iter().all(u8::is_ascii_hexdigit))
}

/// True if a blob is a Git LFS pointer, and the file and an object in the repository's LFS store have its content.
///
/// A pointer has `version`, `oid sha256:…` and `size`. The format is that of the Git LFS specification.
fn is_lfs_object(repo: &Repository, file: &Path, blob: Oid) -> Result<bool, GitError> {
    let Ok(Some(pointer)) = tree::read_blob(repo, blob, 1024) else {
        return Ok(false);
    };
    if !pointer.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Ok(false);
    }
    let pointer = String::from_utf8_lossy(&pointer).into_owned();
    let value_of = |key| pointer.lines().find_map(|line| line.strip_prefix(key));
    let (Some(oid), Some(size)) = (value_of("oid sha256:"), value_of("size ")) else {
        return Ok(false);
    };
    let is_digest = oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(size) = size.parse().ok().filter(|_| is_digest) else {
        return Ok(false);
    };
    let store = lfs_store(repo).join("objects");
    // A push sends the objects of the store. A file that is only in the work tree is in no clone.
    let object = store.join(&oid[..2]).join(&oid[2..4]).join(oid);
    Ok(has_digest(file, oid, size)? && has_digest(&object, oid, size)?)
}

/// Returns the directory in which Git LFS keeps its objects.
fn lfs_store(repo: &Repository) -> PathBuf {
    let setting = repo
        .config()
        .and_then(|config| config.get_path("lfs.storage"));
    let folder = setting.unwrap_or_else(|_| PathBuf::from("lfs"));
    repo.commondir().join(folder)
}

/// True for a regular file of this size and SHA-256.
fn has_digest(file: &Path, digest: &str, size: u64) -> Result<bool, GitError> {
    if !std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() == size) {
        return Ok(false);
    }
    let found = fs_err::File::open(file)
        .and_then(digest_of)
        .with_action("read a file of Git LFS")?;
    Ok(found == digest)
}

#[cfg(test)]
mod tests {
    use super::strip_expansions;

    #[test]
    fn line_ends_and_the_ident_keyword_are_not_content() {
        assert_eq!(strip_expansions(b"a\r\nb\rc\r"), b"a\nb\rc\r");
        let expanded = format!("x $Id: {} $ y\n", "0a".repeat(20));
        assert_eq!(strip_expansions(expanded.as_bytes()), b"x $Id$ y\n");
        assert_eq!(strip_expansions(b"x $Id: abc $ y\n"), b"x $Id: abc $ y\n");
        assert_eq!(strip_expansions(b"$Id: no end\n$"), b"$Id: no end\n$");
    }
}
