//! The classes of before, while others are made in their place.
//!
//! Owns: the folder beside the classes that holds them, and what is carried over from it.
//!
//! Promises: they lie on the same disk and are gone at the end, unless they were put back. What stands beside
//! classes is carried over only where it is known whence it came.
//!
//! Refuses to know: who makes the new ones.

use super::side::{Side, files, interfaces, is_class, is_package_info, read};
use std::io;
use std::path::{Path, PathBuf};

/// Classes of before, on the same disk.
pub(super) struct Aside {
    pub(super) folder: tempfile::TempDir,
}

impl Aside {
    /// Leaves an empty folder in the classes' place.
    pub(super) fn take(classes: &Path) -> io::Result<Self> {
        let beside = classes.parent().ok_or_else(|| io::Error::other("classes have no folder"))?;
        fs_err::create_dir_all(classes)?;
        let folder = tempfile::Builder::new().prefix(".aside-").tempdir_in(beside)?;
        let aside = Self { folder };
        fs_err::rename(classes, aside.classes())?;
        fs_err::create_dir(classes)?;
        Ok(aside)
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    pub(super) fn restore(&self, classes: &Path) -> io::Result<()> {
        fs_err::remove_dir_all(classes)?;
        fs_err::rename(self.classes(), classes)
    }

    /// True when every class stands there again, and what does not has nothing to do with the compiler.
    pub(super) fn is_made_again(&self, side: &Side<'_>) -> io::Result<bool> {
        let made = files(side.classes)?;
        for file in &made {
            let before = self.classes().join(file);
            // A processor that writes other files might have read what Maven had put there before.
            if !is_class(file) || !before.is_file() || read(&before)? != read(&side.classes.join(file))? {
                return Ok(false);
            }
        }
        let mut others = files(&self.classes())?.into_iter().filter(|file| !made.contains(file));
        Ok(others.all(|file| is_package_info(&file) || side.is_resource(&file)))
    }

    /// Brings what the compiler does not make to the new classes; false when something there is unknown.
    pub(super) fn carry(&self, side: &Side<'_>) -> io::Result<bool> {
        let made = files(side.classes)?;
        if !made.iter().all(|file| is_class(file)) {
            return Ok(false);
        }
        for file in files(&self.classes())?.into_iter().filter(|file| !made.contains(file)) {
            if is_package_info(&file) || side.is_resource(&file) {
                let to = side.classes.join(&file);
                fs_err::create_dir_all(to.parent().unwrap_or(side.classes))?;
                fs_err::copy(self.classes().join(&file), to)?;
            } else if !is_class(&file) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True when a compiler sees the same in both.
    pub(super) fn looks_like(&self, classes: &Path) -> bool {
        let of = |folder: &Path| {
            let all = files(folder).ok()?;
            interfaces(folder, all.into_iter().filter(|file| is_class(file)))
        };
        let before = of(&self.classes());
        before.is_some() && before == of(classes)
    }
}
