//! Files that tests leave behind, in which a test can keep what the code said and later compare with it.
//!
//! Promises: tests under mutation have a temporary folder of their own, and a home whose new files are not the user's. No file
//! but one that a test made is changed. The user's home is neither copied nor written: its entries are links.

use crate::source::text;
use crate::sys::walk::{MAX_DEPTH, MAX_ENTRIES, walk};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Folders of a home into which programs put theirs: new entries of these are not the user's either.
const SHARED: [&str; 4] = [".cache", ".config", ".local", ".local/share"];
/// The text that replaces a test's own. A test that compares with it fails.
const OTHER: &[u8] = b"changed by ralph: not what a test wrote\n";
/// Files that are named to people.
const NAMED: usize = 5;

/// A temporary folder and a home for the runs of tests on one copy.
#[derive(Debug)]
pub(crate) struct TestPlace {
    folder: TempDir,
    has_home: bool,
}

impl TestPlace {
    /// Makes both in the folder for temporary files of this environment.
    pub(crate) fn new(env: &BTreeMap<String, String>) -> io::Result<Self> {
        let base = env
            .get("TMPDIR")
            .map(PathBuf::from)
            .filter(|folder| folder.is_dir())
            .unwrap_or_else(std::env::temp_dir);
        // Short: the address of a socket has 107 bytes.
        let folder = tempfile::Builder::new().prefix("ralph-").tempdir_in(base)?;
        fs_err::create_dir(folder.path().join("tmp"))?;
        let home = env.get("HOME").map(Path::new).filter(|home| home.is_dir());
        let place = Self {
            has_home: home.is_some(),
            folder,
        };
        if let Some(home) = home {
            link_entries(home, &place.home_folder(), "")?;
        }
        Ok(place)
    }

    pub(crate) fn temp_folder(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    fn home_folder(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The variables that lead there. Under `CI` tools for snapshots write none that no commit holds.
    pub(crate) fn test_variables(&self) -> Vec<(String, String)> {
        let temp = self.temp_folder().display().to_string();
        let mut all = vec![("CI".to_owned(), "true".to_owned())];
        all.extend(["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), temp.clone())));
        if self.has_home {
            all.push(("HOME".to_owned(), self.home_folder().display().to_string()));
        }
        all
    }

    /// The same for a JVM, as its options.
    pub(crate) fn jvm_arguments(&self) -> Vec<String> {
        let mut all = vec![format!("-Djava.io.tmpdir={}", self.temp_folder().display())];
        if self.has_home {
            all.push(format!("-Duser.home={}", self.home_folder().display()));
        }
        all
    }

    /// The files that are there: tests made them.
    pub(crate) fn left_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for entry in walk(self.folder.path(), MAX_DEPTH, MAX_ENTRIES, |_| true) {
            let entry = entry?;
            if entry.file_type().is_file() {
                all.push(entry.into_path());
            }
        }
        Ok(all)
    }

    /// A file's name for people, without the folder that is made for one run.
    pub(crate) fn display_name(&self, file: &Path) -> String {
        let inside = file.strip_prefix(self.folder.path()).ok();
        let home = inside.and_then(|inside| inside.strip_prefix("home").ok());
        match (home, inside) {
            (Some(home), _) => format!("~/{}", home.display()),
            (None, Some(inside)) => format!("/{}", inside.display()),
            (None, None) => file.display().to_string(),
        }
    }
}

/// A folder in which each entry of another one is a link.
fn link_entries(from: &Path, to: &Path, inside: &str) -> io::Result<()> {
    fs_err::create_dir(to)?;
    for entry in fs_err::read_dir(from)? {
        let name = entry?.file_name();
        let (source, place) = (from.join(&name), to.join(&name));
        let below = Path::new(inside).join(&name);
        let is_shared = SHARED.iter().any(|shared| Path::new(shared) == below);
        let is_folder = fs_err::symlink_metadata(&source).is_ok_and(|data| data.is_dir());
        if is_shared && is_folder {
            link_entries(&source, &place, &below.to_string_lossy())?;
        } else {
            fs_err::os::unix::fs::symlink(&source, &place)?;
        }
    }
    Ok(())
}

/// Puts other text into these files.
pub(crate) fn spoil_files<'f>(files: impl IntoIterator<Item = &'f PathBuf>) -> io::Result<()> {
    for file in files {
        if let Some(folder) = file.parent() {
            fs_err::create_dir_all(folder)?;
        }
        crate::sys::disk::remove(file)?;
        fs_err::write(file, OTHER)?;
    }
    Ok(())
}

/// The reason against tests that fail where these files, which they made, have another text.
pub(crate) fn reason(label: &str, files: impl Iterator<Item = String>) -> String {
    format!(
        "Tests of {label} compare with what an earlier run of them wrote, so they kill mutants without an expectation of their own: they fail where these files have another text: {}.",
        text::names(files, NAMED)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_of_a_home_are_seen_and_the_users_stay() {
        let user = tempfile::tempdir().unwrap();
        for name in [".gitconfig", ".cache/models/one", "work/a"] {
            let file = user.path().join(name);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, name).unwrap();
        }
        let env = BTreeMap::from([("HOME".to_owned(), user.path().display().to_string())]);
        let place = TestPlace::new(&env).unwrap();
        let home = place.home_folder();
        assert_eq!(place.left_files().unwrap(), Vec::<PathBuf>::new());
        assert_eq!(
            fs_err::read_to_string(home.join(".cache/models/one")).unwrap(),
            ".cache/models/one"
        );
        fs_err::write(home.join(".approved"), "4").unwrap();
        fs_err::write(home.join(".cache/approved"), "5").unwrap();
        fs_err::write(place.temp_folder().join("approved"), "6").unwrap();
        let files = place.left_files().unwrap();
        let shown: Vec<String> = files.iter().map(|file| place.display_name(file)).collect();
        assert_eq!(shown, ["~/.approved", "~/.cache/approved", "/tmp/approved"]);
        spoil_files(&files).unwrap();
        assert!(!user.path().join(".approved").exists());
        assert_eq!(fs_err::read(home.join(".approved")).unwrap(), OTHER);
    }

    #[test]
    fn variables_lead_to_the_place_and_stop_tools_for_snapshots() {
        let place = TestPlace::new(&BTreeMap::new()).unwrap();
        let variables: BTreeMap<_, _> = place.test_variables().into_iter().collect();
        assert_eq!(variables["CI"], "true");
        assert_eq!(
            variables["TMPDIR"],
            place.temp_folder().display().to_string()
        );
        assert!(!variables.contains_key("HOME"));
        assert!(place.temp_folder().display().to_string().len() < 60);
    }
}
