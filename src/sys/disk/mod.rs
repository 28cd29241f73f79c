//! The real disk: the order of write, fsync and rename that keeps ralph's files whole.
//!
//! They survive kill -9, a power failure and a full disk (docs/design.md "Crash rule").
//!
//! Promises: readers see the old bytes or the new ones. After a failed fsync a file is not written again. A FIFO, a
//! device or a directory in place of a file is an error, and ralph does not block on it.

mod swap;
mod volume;

pub use volume::{NAMES_MAY_IGNORE_CASE, sync_volume};

use super::{Disk, Swap};
use crate::source::digest_of;
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use nix::fcntl::OFlag;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::fs::{File, Permissions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The mode of a file that ralph creates.
const PRIVATE: u32 = 0o600;

/// Flags that refuse a link and do not block on a pipe.
pub(super) const CAREFUL: i32 = OFlag::O_NOFOLLOW.union(OFlag::O_NONBLOCK).bits();

/// The mode of a file that users share, before the umask.
const SHARED: u32 = 0o666;

#[derive(Debug, Default)]
pub struct RealDisk {
    /// Handles of files for appending: the journal is opened once, not once per record.
    open: BTreeMap<PathBuf, Appended>,
    /// Files whose fsync failed. This process does not write them again.
    broken: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Appended {
    file: File,
    /// Device and inode: the handle is valid only while the path names the same file.
    identity: (u64, u64),
    /// True if this handle created the file and its directory does not hold it durably yet.
    fresh: bool,
}

impl RealDisk {
    /// Returns the disk, with no file open.
    pub fn new() -> Self {
        Self::default()
    }

    fn refuse_broken(&self, path: &Path) -> io::Result<()> {
        if self.broken.contains(path) {
            let why = format!(
                "An earlier fsync of {} failed; it is not written again.",
                path.display()
            );
            return Err(io::Error::other(why));
        }
        Ok(())
    }

    /// Returns the handle for appending, reopened if the path names another file than before.
    fn handle(&mut self, path: &Path) -> io::Result<&mut Appended> {
        let identity =
            if_there(fs::symlink_metadata(path))?.map(|found| (found.dev(), found.ino()));
        let known = self.open.get(path).map(|appended| appended.identity);
        if known.is_none() || known != identity {
            make_parents(path)?;
            let file = fs::OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .mode(PRIVATE)
                .custom_flags(CAREFUL)
                .open(path)
                .map_err(|error| name_link(error, path))?
                .into_parts()
                .0;
            let found = only_regular(file.metadata()?, path)?;
            let fresh = identity.is_none();
            let identity = (found.dev(), found.ino());
            self.open.insert(
                path.to_owned(),
                Appended {
                    file,
                    identity,
                    fresh,
                },
            );
        }
        self.open
            .get_mut(path)
            .ok_or_else(|| io::Error::other("the handle was just put in"))
    }
}

impl Disk for RealDisk {
    #[tracing::instrument(target = "disk", level = "trace", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let Some((mut file, length)) = open_regular(path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(1 << 26));
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn is_odd(&self, path: &Path) -> io::Result<bool> {
        Ok(if_there(fs::symlink_metadata(path))?.is_some_and(|found| !found.is_file()))
    }

    #[tracing::instrument(target = "disk", level = "trace", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn tail(&self, path: &Path, cap: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        let Some((mut file, length)) = open_regular(path)? else {
            return Ok(None);
        };
        let before = length.saturating_sub(cap);
        file.seek(SeekFrom::Start(before))?;
        let mut bytes = Vec::new();
        // At most `cap` bytes, even if the file grows meanwhile.
        file.take(cap).read_to_end(&mut bytes)?;
        Ok(Some((bytes, before)))
    }

    #[tracing::instrument(target = "disk", level = "trace", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn BufRead>>> {
        let file = open_regular(path)?;
        Ok(file.map(|(file, _)| Box::new(BufReader::new(file)) as Box<dyn BufRead>))
    }

    #[tracing::instrument(target = "disk", level = "trace", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn digest(&self, path: &Path, most: u64) -> io::Result<Option<(String, u64)>> {
        let Some((file, length)) = open_regular(path)? else {
            return Ok(None);
        };
        let most = most.min(length);
        let mut counted = CountingReader {
            from: file.take(most),
            bytes: 0,
        };
        let digest = digest_of(&mut counted)?;
        Ok(Some((digest, counted.bytes)))
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(from = %from.display(), to = %to.display()), err(level = "debug"))]
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let Some((mut file, _)) = open_regular(from)? else {
            return Ok(());
        };
        let mut staged = stage(to, b"", PRIVATE)?;
        // A file that is read in parts needs no memory of its size.
        io::copy(&mut file, staged.as_file_mut())?;
        staged
            .persist(to)
            .map_err(|error| in_path(error.error, "replace", to))?;
        Ok(())
    }

    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        let Some(found) = if_there(fs::metadata(path))? else {
            return Ok(None);
        };
        only_regular(found, path).map(|found| Some(found.len()))
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), bytes = bytes.len()), err(level = "debug"))]
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.refuse_broken(path)?;
        let file = &mut self.handle(path)?.file;
        let before = file.metadata()?.len();
        let written = loop {
            match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other.map_err(|error| in_path(error, "append to", path))?,
            }
        };
        if written < bytes.len() {
            file.set_len(before)?;
            let why = format!(
                "Only {written} of {} bytes fit into {}.",
                bytes.len(),
                path.display()
            );
            return Err(io::Error::new(ErrorKind::StorageFull, why));
        }
        Ok(())
    }

    fn appended(&mut self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let Some(Appended { file, .. }) = self.open.get_mut(path) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn create_shared(&mut self, path: &Path) -> io::Result<()> {
        make_parents(path)?;
        match fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(SHARED)
            .open(path)
        {
            Ok(_) => sync_folder(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display()), err(level = "debug"))]
    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.refuse_broken(path)?;
        let result = sync_appended(self.handle(path)?, path);
        if result.is_err() {
            self.open.remove(path);
            self.broken.insert(path.to_owned());
        }
        result
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), len = len), err(level = "debug"))]
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()> {
        self.refuse_broken(path)?;
        let file = fs::OpenOptions::new()
            .write(true)
            .custom_flags(CAREFUL)
            .open(path)?;
        only_regular(file.metadata()?, path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), bytes = bytes.len()), err(level = "debug"))]
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let staged = stage(path, bytes, existing_mode(path)?)?;
        staged.as_file().sync_all()?;
        staged
            .persist(path)
            .map_err(|error| in_path(error.error, "replace", path))?;
        sync_folder(path)
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), bytes = bytes.len()), err(level = "debug"))]
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let staged = stage(path, bytes, existing_mode(path)?)?;
        staged
            .persist(path)
            .map_err(|error| in_path(error.error, "replace", path))?;
        Ok(())
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), bytes = new.len()), err(level = "debug"))]
    fn swap(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap> {
        swap::swap(self, path, expected, new, true)
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(path = %path.display(), bytes = new.len()), err(level = "debug"))]
    fn swap_unsynced(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap> {
        swap::swap(self, path, expected, new, false)
    }

    fn changed_at(&self, path: &Path) -> io::Result<Option<i64>> {
        Ok(if_there(fs::metadata(path))?.map(|found| found.mtime()))
    }

    #[tracing::instrument(target = "disk", level = "debug", skip_all, fields(from = %from.display(), to = %to.display()), err(level = "debug"))]
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if if_there(fs::symlink_metadata(from))?.is_none() {
            return Ok(());
        }
        make_parents(to)?;
        match fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                let bytes = self.read(from)?.unwrap_or_default();
                self.replace(to, &bytes)?;
                fs::remove_file(from)?;
            }
            other => other?,
        }
        sync_folder(to)?;
        sync_folder(from)
    }
}

/// Counts the bytes read.
struct CountingReader<R> {
    from: R,
    bytes: u64,
}

impl<R: io::Read> io::Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Returns `None` for a missing file.
pub(crate) fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Creates the missing directories above a path, mode 0700.
pub(crate) fn make_parents(path: &Path) -> io::Result<()> {
    let parent = folder_of(path);
    if parent.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)
        .map_err(|error| in_path(error, "make the folder", parent))
}

/// A failed operation on a file, with the system's error as its source.
#[derive(Debug)]
struct PathError {
    operation: String,
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, path, source) = (&self.operation, self.path.display(), &self.source);
        write!(f, "failed to {operation} `{path}`: {source}")
    }
}

impl Error for PathError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Returns an error of the same kind with the operation and the file.
pub(crate) fn in_path(source: io::Error, operation: &str, path: &Path) -> io::Error {
    let kind = source.kind();
    let error = PathError {
        operation: operation.to_owned(),
        path: path.to_owned(),
        source,
    };
    io::Error::new(kind, error)
}

/// Creates a temporary file in the directory of `path` with these bytes and this mode. It is unlinked when dropped.
fn stage(path: &Path, bytes: &[u8], mode: u32) -> io::Result<NamedTempFile> {
    make_parents(path)?;
    let mut staged = tempfile::Builder::new()
        .prefix(".ralph-")
        .tempfile_in(folder_of(path))?;
    staged
        .write_all(bytes)
        .map_err(|error| in_path(error, "write the new", path))?;
    // Set on the open file: the umask restricts a mode given at creation.
    staged
        .as_file()
        .set_permissions(Permissions::from_mode(mode))?;
    Ok(staged)
}

/// Returns the mode of the regular file at the path.
///
/// A missing file has the mode of a private one.
fn existing_mode(path: &Path) -> io::Result<u32> {
    let found = if_there(fs::symlink_metadata(path))?.filter(std::fs::Metadata::is_file);
    Ok(found.map_or(PRIVATE, |found| found.mode() & 0o7777))
}

/// Opens a regular file for reading without blocking on a FIFO; `None` if it does not exist.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, u64)>> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path);
    let Some(file) = if_there(opened)?.map(|file| file.into_parts().0) else {
        return Ok(None);
    };
    let length = only_regular(file.metadata()?, path)?.len();
    Ok(Some((file, length)))
}

/// Returns the first `cap` bytes of a regular file from a user; `None` if it does not exist.
pub fn read_beginning(path: &Path, cap: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, _)) = open_regular(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(cap).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Removes a file, a link or a whole directory. A missing one is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs_err::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        other => other,
    }
}

fn only_regular(found: std::fs::Metadata, path: &Path) -> io::Result<std::fs::Metadata> {
    if found.is_file() {
        return Ok(found);
    }
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        format!("{} is not a regular file.", path.display()),
    ))
}

fn sync_appended(appended: &mut Appended, path: &Path) -> io::Result<()> {
    appended
        .file
        .sync_data()
        .map_err(|error| in_path(error, "fsync", path))?;
    if appended.fresh {
        sync_folder(path)?;
        appended.fresh = false;
    }
    Ok(())
}

/// Waits until the directory of `path` holds its entries durably.
fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn name_link(error: io::Error, path: &Path) -> io::Error {
    if error.raw_os_error() == Some(nix::libc::ELOOP) {
        let why = format!(
            "{} is a symbolic link; ralph does not write through it.",
            path.display()
        );
        return io::Error::new(ErrorKind::InvalidInput, why);
    }
    error
}
