//! The classes of before, kept in a temporary folder on the same disk while new ones are compiled.

use super::source_set::{SourceSet, files, is_class, is_package_info};
use crate::gate::java::class_file;
use crate::gate::java::classes::read;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Classes of before; they are removed at the end unless they were put back.
pub(super) struct PreviousClasses {
    folder: tempfile::TempDir,
}

impl PreviousClasses {
    /// Moves the classes away and leaves an empty folder in their place.
    pub(super) fn move_away(classes: &Path) -> io::Result<Self> {
        let beside = classes.parent().ok_or_else(|| io::Error::other("classes have no folder"))?;
        fs_err::create_dir_all(classes)?;
        let previous = Self { folder: tempfile::Builder::new().prefix(".previous-").tempdir_in(beside)? };
        fs_err::rename(classes, previous.classes())?;
        fs_err::create_dir(classes)?;
        Ok(previous)
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    pub(super) fn put_back(&self, classes: &Path) -> io::Result<()> {
        fs_err::remove_dir_all(classes)?;
        fs_err::rename(self.classes(), classes)
    }

    /// True if the compiler made every class again, and the other files are not the compiler's.
    pub(super) fn equal_those_in(&self, set: &SourceSet<'_>) -> io::Result<bool> {
        let made = files(set.classes)?;
        for file in &made {
            let before = self.classes().join(file);
            // A processor that writes other files might have read what Maven had put there before.
            if !is_class(file) || !before.is_file() || read(&before)? != read(&set.classes.join(file))? {
                return Ok(false);
            }
        }
        let mut others = files(&self.classes())?.into_iter().filter(|file| !made.contains(file));
        Ok(others.all(|file| is_package_info(&file) || set.is_resource(&file)))
    }

    /// Copies what the compiler does not make to the new classes; false if there is a file of unknown origin.
    pub(super) fn carry_over(&self, set: &SourceSet<'_>) -> io::Result<bool> {
        let made = files(set.classes)?;
        if !made.iter().all(|file| is_class(file)) {
            return Ok(false);
        }
        for file in files(&self.classes())?.into_iter().filter(|file| !made.contains(file)) {
            if is_package_info(&file) || set.is_resource(&file) {
                let to = set.classes.join(&file);
                fs_err::create_dir_all(to.parent().unwrap_or(set.classes))?;
                fs_err::copy(self.classes().join(&file), to)?;
            } else if !is_class(&file) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a compiler of other classes sees the same in both.
    pub(super) fn look_like_those_in(&self, classes: &Path) -> bool {
        let before = interfaces(&self.classes());
        before.is_some() && before == interfaces(classes)
    }
}

/// What a compiler sees of each class in a folder; `None` if that is not known of one.
fn interfaces(folder: &Path) -> Option<BTreeMap<PathBuf, String>> {
    let interface = |file: PathBuf| {
        let interface = class_file::interface(&read(&folder.join(&file)).ok()?)?;
        Some((file, interface))
    };
    files(folder).ok()?.into_iter().filter(|file| is_class(file)).map(interface).collect()
}
