//! The files that a module's tests run on: class files, and the files that change what a JVM or a test engine does
//! with them.
//!
//! A class file that comes, goes or changes changes a build's digest; a resource that a test writes
//! beside them does not. Where the folders lie changes nothing. What cannot be read is an error, and nothing
//! is waited for.

use crate::gate::{Build, GateAbort};
use crate::source::PartsDigest;
use crate::sys::disk::read_beginning;
use crate::sys::walk::{MAX_ENTRIES, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

impl Build {
    /// A build that just succeeded.
    pub(crate) fn of_folders(key: String, folders: Vec<PathBuf>) -> Result<Self, GateAbort> {
        let digest = files_digest(&folders, &counts_for_tests)?;
        Ok(Self {
            key,
            folders,
            digest,
        })
    }

    /// True while the class files are those of the build.
    pub fn is_current(&self) -> bool {
        files_digest(&self.folders, &counts_for_tests).is_ok_and(|now| now == self.digest)
    }
}

/// The digest of the files below some folders that count by their path in the folder; a folder that is not
/// there holds none.
pub(crate) fn files_digest<F: AsRef<Path>>(
    folders: &[F],
    counts: &dyn Fn(&Path) -> bool,
) -> Result<String, GateAbort> {
    let mut digest = PartsDigest::default();
    for folder in folders {
        let folder = folder.as_ref();
        let files = counted_files(folder, counts)?;
        digest.add_part(&files.len().to_le_bytes());
        for inside in files {
            digest.add_part(inside.as_os_str().as_bytes());
            digest.add_part(&read_file(&folder.join(&inside))?);
        }
    }
    Ok(digest.finish())
}

/// The paths of the files in a directory that count. A missing directory has no files. No link is followed, and one
/// that counts is an error: its target may change unseen.
pub(crate) fn counted_files(
    folder: &Path,
    counts: &dyn Fn(&Path) -> bool,
) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for entry in walk(folder, usize::MAX, MAX_ENTRIES, |_| true) {
        let entry = match entry {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entry => entry?,
        };
        let inside = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        if entry.file_type().is_dir() || !counts(inside) {
            continue;
        }
        if !entry.file_type().is_file() {
            let path = entry.path().display();
            return Err(io::Error::other(format!("{path} is not a regular file")));
        }
        found.insert(inside.to_owned());
    }
    Ok(found)
}

/// Class files by internal name.
pub(crate) type ClassFiles = BTreeMap<String, Vec<u8>>;

/// Reads the class files below a folder.
pub(crate) fn read_classes(folder: &Path) -> io::Result<ClassFiles> {
    let mut classes = ClassFiles::new();
    for inside in counted_files(folder, &is_class)? {
        let name = inside.with_extension("").to_string_lossy().into_owned();
        classes.insert(name, read_file(&folder.join(inside))?);
    }
    Ok(classes)
}

/// The whole of a regular file.
pub(crate) fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    read_beginning(file, u64::MAX)?
        .ok_or_else(|| io::Error::other(format!("{} does not exist", file.display())))
}

/// True for a Java source.
pub(crate) fn is_java(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "java")
}

/// True for a class file.
pub(crate) fn is_class(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "class")
}

/// Class files, services and manifests, and the settings of the JUnit platform.
pub(crate) fn counts_for_tests(inside: &Path) -> bool {
    is_class(inside)
        || inside
            .file_name()
            .is_some_and(|name| name == "junit-platform.properties")
        || inside.starts_with("META-INF")
}

#[cfg(test)]
mod tests {
    use super::{Build, files_digest};
    use crate::gate::GateAbort;

    #[test]
    fn class_files_and_services_count_and_other_resources_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let classes = folder.path().join("classes");
        fs_err::create_dir_all(classes.join("META-INF/services")).unwrap();
        fs_err::write(classes.join("A.class"), "a").unwrap();
        let build = Build::of_folders(
            "k".to_owned(),
            vec![classes.clone(), folder.path().join("absent")],
        )
        .unwrap();
        fs_err::write(classes.join("written-by-a-test.txt"), "x").unwrap();
        assert!(build.is_current());
        for planted in [
            "B.class",
            "META-INF/services/x.Y",
            "junit-platform.properties",
        ] {
            fs_err::write(classes.join(planted), "x").unwrap();
            assert!(!build.is_current(), "{planted}");
            fs_err::remove_file(classes.join(planted)).unwrap();
        }
        assert!(build.is_current());
        fs_err::write(classes.join("A.class"), "b").unwrap();
        assert!(!build.is_current());
    }

    #[test]
    fn the_same_files_elsewhere_have_the_same_digest_and_every_file_counts_where_it_is_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = home.path().join(name);
            fs_err::create_dir_all(folder.join("deep")).unwrap();
            fs_err::write(folder.join("deep/A.class"), "a").unwrap();
            folder
        };
        let (one, other) = (folder("one"), folder("other"));
        let digest = |folder| files_digest(&[folder], &|_| true).unwrap();
        assert_eq!(digest(&one), digest(&other));
        fs_err::write(other.join("messages.txt"), "").unwrap();
        assert_ne!(digest(&one), digest(&other));
    }

    #[test]
    fn what_cannot_be_read_is_a_stop_and_not_nothing() {
        let home = tempfile::tempdir().unwrap();
        let digest = || files_digest(&[home.path()], &|_| true);
        let odd = home.path().join("odd");
        nix::unistd::mkfifo(&odd, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(matches!(
            digest(),
            Err(GateAbort::Error {
                transient: true,
                ..
            })
        ));
        fs_err::remove_file(&odd).unwrap();
        assert!(digest().is_ok());
        fs_err::os::unix::fs::symlink("/nowhere", &odd).unwrap();
        assert!(matches!(
            digest(),
            Err(GateAbort::Error {
                transient: true,
                ..
            })
        ));
    }
}
