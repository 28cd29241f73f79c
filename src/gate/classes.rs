//! What a module's tests run on: the class files, and the files that change what a JVM or a test engine does
//! with them.
//!
//! Owns: their digest.
//!
//! Promises: a class file that comes, goes or changes changes the digest; a resource that a test writes
//! beside them does not. What cannot be read is an error.
//!
//! Refuses to know: what the classes are.

use super::calls::disk;
use super::{Build, Stop};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Entries that the folders may hold.
const MAX_ENTRIES: usize = 500_000;

impl Build {
    /// A build that has just come to its end well.
    pub(crate) fn of(key: String, folders: Vec<PathBuf>) -> Result<Self, Stop> {
        let digest = digest(&folders).map_err(|error| disk(&error))?;
        Ok(Self { key, folders, digest })
    }

    /// True while the class files are those of the build.
    pub fn stands(&self) -> bool {
        digest(&self.folders).is_ok_and(|now| now == self.digest)
    }
}

fn digest(folders: &[PathBuf]) -> std::io::Result<String> {
    let mut files = Vec::new();
    for folder in folders {
        let mut open = vec![folder.clone()];
        while let Some(at) = open.pop() {
            let entries = match fs_err::read_dir(&at) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    open.push(entry.path());
                } else if counts(folder, &entry.path()) {
                    files.push(entry.path());
                }
            }
            if files.len() + open.len() > MAX_ENTRIES {
                return Err(std::io::Error::other("the build makes too many class files"));
            }
        }
    }
    files.sort();
    let mut all = Sha256::new();
    for file in files {
        let bytes = fs_err::read(&file)?;
        all.update(file.as_os_str().as_bytes());
        all.update([0]);
        all.update(bytes.len().to_le_bytes());
        all.update(Sha256::digest(&bytes));
    }
    Ok(all.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Class files, services and manifests, and the settings of the JUnit platform.
fn counts(folder: &Path, file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "class")
        || file.file_name().is_some_and(|name| name == "junit-platform.properties")
        || file.strip_prefix(folder).is_ok_and(|inside| inside.starts_with("META-INF"))
}

#[cfg(test)]
mod tests {
    use super::Build;

    #[test]
    fn class_files_and_services_count_and_other_resources_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let classes = folder.path().join("classes");
        fs_err::create_dir_all(classes.join("META-INF/services")).unwrap();
        fs_err::write(classes.join("A.class"), "a").unwrap();
        let build = Build::of("k".to_owned(), vec![classes.clone(), folder.path().join("absent")]).unwrap();
        fs_err::write(classes.join("written-by-a-test.txt"), "x").unwrap();
        assert!(build.stands());
        for planted in ["B.class", "META-INF/services/x.Y", "junit-platform.properties"] {
            fs_err::write(classes.join(planted), "x").unwrap();
            assert!(!build.stands(), "{planted}");
            fs_err::remove_file(classes.join(planted)).unwrap();
        }
        assert!(build.stands());
        fs_err::write(classes.join("A.class"), "b").unwrap();
        assert!(!build.stands());
    }
}
