//! Files of a package that a check could read, that no commit holds and that changed during the task.
//!
//! Promise: the change time decides, which no program sets back, and folders of installed packages are looked through as well.

use super::Outside;
use crate::engine::Fault;
use crate::source::RepoPath;
use crate::sys::walk::walk;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Paths of one package that are named.
const NAMED: usize = 20;
/// Entries of one directory that are compared, and their depth. A larger directory may have changed.
const MAX_ENTRIES: usize = 100_000;
const MAX_DEPTH: usize = 40;

impl Outside {
    /// Untracked and ignored paths of a package that changed since a time (seconds since 1970); none if that is 0.
    pub(super) fn changed_beside(
        &mut self,
        package: &str,
        since: u64,
    ) -> Result<Vec<RepoPath>, Fault> {
        let Some(root) = self
            .parts
            .repositories
            .package_root(package)
            .map(Path::to_owned)
            .filter(|_| since > 0)
        else {
            return Ok(Vec::new());
        };
        let mut paths = self.parts.repositories.beside_commits(package)?;
        paths.retain(|path| has_changed(&root.join(OsStr::from_bytes(&path.to_bytes())), since));
        paths.truncate(NAMED);
        Ok(paths)
    }
}

/// True if a file, or one of those below a folder, changed since then.
fn has_changed(path: &Path, since: u64) -> bool {
    let Ok(found) = path.symlink_metadata() else {
        return false;
    };
    if !found.is_dir() {
        return is_newer(&found, since);
    }
    walk(path, MAX_DEPTH, MAX_ENTRIES, |_| true).any(|entry| {
        match entry.map(|entry| entry.metadata()) {
            Ok(Ok(found)) => !found.is_dir() && is_newer(&found, since),
            // More entries than the bound, or one that cannot be read.
            _ => true,
        }
    })
}

fn is_newer(found: &Metadata, since: u64) -> bool {
    u64::try_from(found.ctime()).is_ok_and(|ctime| ctime >= since)
}

#[cfg(test)]
mod tests {
    use super::has_changed;

    #[test]
    fn a_folder_changed_when_a_file_in_it_did_whatever_its_modification_time_says() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a/b/c.pyc");
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        assert!(!has_changed(home.path(), 1));
        fs_err::write(&file, "").unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(9);
        fs_err::OpenOptions::new()
            .write(true)
            .open(&file)
            .unwrap()
            .file()
            .set_modified(old)
            .unwrap();
        assert!(has_changed(home.path(), 10) && has_changed(&file, 10));
        assert!(!has_changed(home.path(), u64::MAX) && !has_changed(&home.path().join("none"), 1));
    }
}
