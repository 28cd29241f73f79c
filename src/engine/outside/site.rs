//! The folder in which gates work, outside of the workspace.
//!
//! Owns: one folder for each workspace below ralph's cache, found again by later gates; its lock; the
//! sweeping of those that nobody needs.
//!
//! Promises: mode 0700 and a name that cannot be guessed; two gates never share one: who comes second gets
//! a folder of its own, which goes when he does. What cannot be swept is left.
//!
//! Refuses to know: what a gate does there.

pub(super) mod clean;
pub(super) mod keeping;
mod mirror;
mod outputs;
mod room;
#[cfg(test)]
mod tests;

pub(super) use mirror::{Sources, Unit};

use super::private_folder;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::sys::lock::Lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Folders kept for workspaces; beyond that the one used longest ago goes.
const KEPT: usize = 12;
/// A folder that no workspace claims is left alone so long: somebody may just be making it.
const GRACE: Duration = Duration::from_secs(3_600);

/// A folder that this gate alone works in.
pub(super) struct Site {
    folder: PathBuf,
    /// Held as long as the site is used.
    lock: Lock,
    /// Removed with the site; `None` for one that is kept.
    temporary: Option<TempDir>,
}

/// Which folder belongs to a workspace.
#[derive(Serialize, Deserialize)]
struct Claim {
    workspace: PathBuf,
    site: String,
}

impl Site {
    /// The workspace's folder, or a temporary one while another gate holds that.
    pub(super) fn take(cache: &Path, workspace: &Path) -> io::Result<Self> {
        let sites = cache.join("sites");
        private_folder(&sites)?;
        let claim = sites.join(format!("{}.json", super::workspace_tag(workspace)));
        let known = read(&claim).filter(|claim| claim.workspace == workspace);
        if let Some(folder) = known.map(|claim| sites.join(claim.site)).filter(|folder| is_private(folder)) {
            let Some(lock) = Lock::try_take(&folder.join("lock"))? else { return Self::temporary(cache) };
            write(&claim, workspace, &folder)?;
            sweep(&sites, Some(&claim));
            return Ok(Self { folder, lock, temporary: None });
        }
        let Self { folder, lock, temporary } = Self::temporary(cache)?;
        write(&claim, workspace, &folder)?;
        if let Some(made) = temporary {
            let _ = made.keep();
        }
        sweep(&sites, Some(&claim));
        Ok(Self { folder, lock, temporary: None })
    }

    /// A folder that goes with the site.
    pub(super) fn temporary(cache: &Path) -> io::Result<Self> {
        let sites = cache.join("sites");
        private_folder(&sites)?;
        sweep(&sites, None);
        let made = fresh(&sites, "")?;
        let folder = made.path().to_owned();
        let lock = Lock::try_take(&folder.join("lock"))?
            .ok_or_else(|| io::Error::other("another process took the folder that was just made"))?;
        Ok(Self { folder, lock, temporary: Some(made) })
    }

    /// The path of something in it.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new folder in it, for what one run leaves; what killed runs left goes.
    pub(super) fn run(&self) -> io::Result<TempDir> {
        for entry in fs_err::read_dir(&self.folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("run-") {
                fs_err::remove_dir_all(entry.path())?;
            }
        }
        fresh(&self.folder, "run-")
    }

    /// True for a site that goes when it is let go.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// A new folder with a random name that only its owner can read.
fn fresh(parent: &Path, prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).rand_bytes(20).permissions(Permissions::from_mode(0o700)).tempdir_in(parent)
}

/// A real folder that nobody else can enter.
fn is_private(folder: &Path) -> bool {
    fs_err::symlink_metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.permissions().mode() & 0o777 == 0o700)
}

fn read(claim: &Path) -> Option<Claim> {
    let claim: Claim = serde_json::from_slice(&fs_err::read(claim).ok()?).ok()?;
    let plain = claim.site.len() >= 20 && claim.site.chars().all(|c| c.is_ascii_alphanumeric());
    plain.then_some(claim)
}

fn write(claim: &Path, workspace: &Path, folder: &Path) -> io::Result<()> {
    let site = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = serde_json::to_vec(&Claim { workspace: workspace.to_owned(), site })?;
    RealDisk::new().write(claim, &bytes)
}

/// Removes what belongs to no workspace any more, and the oldest beyond the number kept; never one's own.
fn sweep(sites: &Path, own: Option<&Path>) {
    let Ok(entries) = fs_err::read_dir(sites) else { return };
    let (mut claims, mut folders) = (Vec::new(), Vec::new());
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.extension() {
            Some(extension) if extension == "json" => {
                let used = fs_err::symlink_metadata(&path).and_then(|data| data.modified()).ok();
                claims.push((Some(path.as_path()) == own, used, path));
            }
            _ => folders.push(path),
        }
    }
    claims.sort_by(|a, b| b.cmp(a));
    let mut claimed = BTreeSet::new();
    for (at, (_, _, path)) in claims.iter().enumerate() {
        let Some(claim) = read(path) else { continue };
        let folder = sites.join(&claim.site);
        if at < KEPT && claim.workspace.is_dir() || !clear(&folder) {
            claimed.insert(folder);
        } else {
            let _ = fs_err::remove_file(path);
        }
    }
    for folder in folders.iter().filter(|folder| !claimed.contains(*folder) && age(folder) > GRACE) {
        clear(folder);
    }
}

fn age(path: &Path) -> Duration {
    let changed = fs_err::symlink_metadata(path).and_then(|data| data.modified());
    let now = SystemTime::from(crate::sys::clock::now());
    changed.ok().and_then(|changed| now.duration_since(changed).ok()).unwrap_or_default()
}

/// Removes a site that nobody holds; true when it is gone.
fn clear(folder: &Path) -> bool {
    if !folder.is_dir() {
        return true;
    }
    match Lock::try_take(&folder.join("lock")) {
        Ok(Some(_lock)) => fs_err::remove_dir_all(folder).is_ok(),
        _ => false,
    }
}
