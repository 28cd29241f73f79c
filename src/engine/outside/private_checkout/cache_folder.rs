//! A workspace's folder below ralph's cache, in which gates work.
//!
//! Promises: mode 0700; two gates never share one: the second gets a folder of its own, which is removed when it
//! ends. Folders of workspaces that are gone, and the ones used longest ago, are removed.

use super::super::{new_folder, private_folder};
use crate::sys::lock::Lock;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Folders kept for workspaces.
pub(super) const KEPT: usize = 12;
/// A folder that names no workspace is left alone for this time: another process may just be making it.
const GRACE: Duration = Duration::from_secs(3_600);
/// The file that names the workspace; its time says when the folder was last used.
const WORKSPACE: &str = "workspace";

/// A folder that one gate, or one mutation test, alone works in.
pub struct CacheFolder {
    folder: PathBuf,
    _lock: Lock,
    /// Removed when dropped; `None` for a folder that is kept.
    temporary: Option<TempDir>,
}

impl CacheFolder {
    /// The workspace's folder, or a temporary one while another gate holds that.
    pub(in super::super) fn take_folder(cache: &Path, workspace: &Path) -> io::Result<Self> {
        let sites = cache.join("sites");
        private_folder(&sites)?;
        let folder = sites.join(crate::source::digest(workspace.as_os_str().as_bytes()));
        let is_trusted = is_private(&folder) || remove_folder(&folder);
        let lock = if is_trusted {
            Lock::try_take(&folder.join("lock"))?
        } else {
            None
        };
        let Some(lock) = lock else {
            return Self::temporary_folder(cache);
        };
        fs_err::write(folder.join(WORKSPACE), workspace.as_os_str().as_bytes())?;
        sweep_folders(&sites, &folder);
        Ok(Self {
            folder,
            _lock: lock,
            temporary: None,
        })
    }

    /// A folder that is removed when it is dropped.
    pub fn temporary_folder(cache: &Path) -> io::Result<Self> {
        let sites = cache.join("sites");
        private_folder(&sites)?;
        let made = new_folder(&sites, "")?;
        sweep_folders(&sites, made.path());
        let folder = made.path().to_owned();
        let lock = Lock::try_take(&folder.join("lock"))?.ok_or_else(|| {
            io::Error::other("another process took the folder that was just made")
        })?;
        Ok(Self {
            folder,
            _lock: lock,
            temporary: Some(made),
        })
    }

    /// The path of something in it.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new folder in it, for what one run leaves; those of killed runs are removed.
    pub(in super::super) fn run_folder(&self) -> io::Result<TempDir> {
        for entry in fs_err::read_dir(&self.folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("run-") {
                fs_err::remove_dir_all(entry.path())?;
            }
        }
        new_folder(&self.folder, "run-")
    }

    /// True for a folder that is not kept.
    pub(in super::super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// Returns true for a real folder that no other user can enter.
fn is_private(folder: &Path) -> bool {
    fs_err::symlink_metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.permissions().mode() & 0o777 == 0o700)
}

/// Removes the folders of workspaces that are gone, and the oldest beyond the number kept.
fn sweep_folders(sites: &Path, own: &Path) {
    let Ok(entries) = fs_err::read_dir(sites) else {
        return;
    };
    let mut used = Vec::new();
    for folder in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| folder != own)
    {
        match fs_err::read(folder.join(WORKSPACE)) {
            Ok(workspace) if Path::new(OsStr::from_bytes(&workspace)).is_dir() => {
                used.push((modified_at(&folder.join(WORKSPACE)), folder));
            }
            Ok(_) => _ = remove_folder(&folder),
            Err(_) => {
                let now = SystemTime::from(crate::sys::clock::now());
                let age = modified_at(&folder).and_then(|then| now.duration_since(then).ok());
                if age.is_some_and(|age| age > GRACE) {
                    remove_folder(&folder);
                }
            }
        }
    }
    used.sort();
    for (_, folder) in used.iter().rev().skip(KEPT - 1) {
        remove_folder(folder);
    }
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    fs_err::symlink_metadata(path).ok()?.modified().ok()
}

/// Removes a folder (or what is in its place) that no gate holds; true if it is gone.
fn remove_folder(folder: &Path) -> bool {
    match fs_err::symlink_metadata(folder) {
        Ok(data) if data.is_dir() => match Lock::try_take(&folder.join("lock")) {
            Ok(Some(_lock)) => fs_err::remove_dir_all(folder).is_ok(),
            _ => false,
        },
        Ok(_) => fs_err::remove_file(folder).is_ok(),
        Err(_) => true,
    }
}
