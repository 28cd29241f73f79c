//! A lane is made: clones of the packages, and copies of what is next to them.

use super::Outside;
use super::copies::copy;
use crate::engine::Fault;
use crate::engine::outside::private_folder;
use crate::machine::facts::Snapshot;
use crate::source::is_output;
use crate::sys::walk::walk;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Entries that are copied, folders deep, and their bytes.
const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 40;
const MAX_BYTES: u64 = 256 << 20;

impl Outside {
    /// Makes the workspace of a lane at `folder`: whole, or not at all.
    ///
    /// Errors: a repository that cannot be cloned, more than 20,000 files or 256 MiB next to the packages, a full disk.
    pub(super) fn make_lane(&mut self, folder: &Path, snapshot: &Snapshot) -> Result<(), Fault> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let new = folder.with_file_name(format!(".new-{name}"));
        for old in [&new, folder] {
            if old.symlink_metadata().is_ok() {
                fs_err::remove_dir_all(old)?;
            }
        }
        private_folder(&new)?;
        self.parts.repositories.clone_to(&new, &snapshot.heads())?;
        self.copy_beside(&new, folder)?;
        self.copy_named(&new, folder)?;
        fs_err::rename(&new, folder)?;
        Ok(())
    }

    /// Copies the settings, the spec, and where packages have repositories of their own all that is next to them.
    fn copy_beside(&self, new: &Path, lane: &Path) -> Result<(), Fault> {
        let places = &self.parts.places;
        let workspace = &places.workspace;
        let names = self.parts.repositories.package_names();
        let roots: Vec<&Path> = names
            .iter()
            .filter_map(|name| self.parts.repositories.package_root(name))
            .collect();
        let is_package = workspace.join(".git").symlink_metadata().is_ok();
        let state = places.state_folder();
        let folders: Vec<PathBuf> = if is_package {
            vec![workspace.join(".ralph"), places.spec.clone()]
        } else {
            vec![workspace.clone()]
        };
        let mut copied = 0;
        for folder in folders {
            let entries = walk(&folder, MAX_DEPTH, MAX_ENTRIES, |entry| {
                let path = entry.path();
                let inside = path.strip_prefix(workspace).unwrap_or(path);
                path == folder
                    || path != state
                        && !roots.contains(&path)
                        && entry.file_name() != ".git"
                        && !is_output(inside.as_os_str().as_bytes())
            });
            for entry in entries {
                let entry = entry?;
                let Ok(inside) = entry.path().strip_prefix(workspace) else {
                    continue;
                };
                // A spec outside of the workspace's own folders is in the clone already.
                copied += copy(&entry, &new.join(inside), workspace, lane)?;
                if copied > MAX_BYTES {
                    return Err(Fault::setup_fault(
                        format!("More than {MAX_BYTES} bytes are next to the packages."),
                        "run without --lanes",
                    ));
                }
            }
        }
        Ok(())
    }
}
