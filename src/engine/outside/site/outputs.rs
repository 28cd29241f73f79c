//! What a build left, kept for the next gate.
//!
//! Owns: the manifest of a checkout's outputs, and the decision which of them still serve.
//!
//! Promises: outputs are used again only when every file in them is as the last gate left it; and of those
//! only what the changes since then cannot have touched (Maven does not remove the classes of sources that
//! went). The manifest is gone while a gate works, so that a killed one leaves nothing to be trusted.
//!
//! Refuses to know: how outputs are made, beyond Maven's names for the folders of tests.

use crate::source::RepoPath;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Raised when a manifest changes its meaning.
const VERSION: u32 = 1;
/// Files and bytes of outputs that are kept; more are built anew each time.
const MAX_FILES: usize = 300_000;
const MAX_BYTES: u64 = 4 << 30;

/// What stood in a checkout when a gate left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    version: u32,
    /// The sources.
    marks: BTreeMap<String, String>,
    /// The digest of all outputs.
    outputs: String,
    /// The keys of the builds that stand in them.
    pub(super) builds: BTreeSet<String>,
}

/// What of the outputs serves again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    /// Everything: the sources are the same.
    All,
    /// All but the tests' classes: only Java tests of a single module changed.
    ButTests,
    /// Nothing.
    Nothing,
}

impl Manifest {
    pub(super) fn new(
        marks: BTreeMap<String, String>,
        outputs: &[PathBuf],
        builds: BTreeSet<String>,
    ) -> Option<Self> {
        Some(Self { version: VERSION, marks, outputs: digest(outputs)?, builds })
    }

    /// Reads the manifest and removes it: what comes now changes what it stands for.
    pub(super) fn take(file: &Path) -> io::Result<Option<Self>> {
        let bytes = match fs_err::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        fs_err::remove_file(file)?;
        let manifest: Option<Self> = serde_json::from_slice(&bytes).ok();
        Ok(manifest.filter(|manifest| manifest.version == VERSION))
    }

    pub(super) fn store(&self, file: &Path) -> io::Result<()> {
        RealDisk::new().write(file, &serde_json::to_vec(self)?)
    }

    /// What serves again for sources with these marks; `single`: they are one module, not a reactor.
    pub(super) fn serves(
        &self,
        marks: &BTreeMap<String, String>,
        outputs: &[PathBuf],
        single: bool,
    ) -> Serves {
        if digest(outputs).as_ref() != Some(&self.outputs) {
            return Serves::Nothing;
        }
        let differ = |path: &&String| self.marks.get(*path) != marks.get(*path);
        let mut changed = self.marks.keys().chain(marks.keys()).filter(differ).peekable();
        if changed.peek().is_none() {
            return Serves::All;
        }
        if single && changed.all(|path| is_java_test(path)) { Serves::ButTests } else { Serves::Nothing }
    }
}

fn is_java_test(path: &str) -> bool {
    let path = RepoPath::parse(path).to_text();
    let java = Path::new(&path).extension().is_some_and(|extension| extension == "java");
    java && (path.starts_with("src/test/java/") || path.contains("/src/test/java/"))
}

/// Removes of the outputs what does not serve.
pub(super) fn wipe(outputs: &[PathBuf], serves: Serves) -> io::Result<()> {
    for output in outputs {
        let gone = match serves {
            Serves::All => continue,
            Serves::ButTests => ["test-classes", "maven-status/maven-compiler-plugin/testCompile"]
                .map(|name| output.join(name))
                .to_vec(),
            Serves::Nothing => vec![output.clone()],
        };
        for folder in gone {
            match fs_err::remove_dir_all(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done?,
            }
        }
    }
    Ok(())
}

/// The digest over every file of these folders: path, mode, bytes. `None` when there is too much, or what
/// is neither file, folder nor link.
fn digest(outputs: &[PathBuf]) -> Option<String> {
    let mut all = BTreeMap::new();
    let mut bytes = 0;
    let mut todo: Vec<PathBuf> = outputs.to_vec();
    while let Some(folder) = todo.pop() {
        for entry in fs_err::read_dir(&folder).ok()? {
            let path = entry.ok()?.path();
            let data = fs_err::symlink_metadata(&path).ok()?;
            bytes += data.len();
            let (mode, content) = if data.is_dir() {
                todo.push(path.clone());
                (0, Sha256::digest(b""))
            } else if data.is_symlink() {
                (1, Sha256::digest(fs_err::read_link(&path).ok()?.as_os_str().as_bytes()))
            } else if data.is_file() && bytes <= MAX_BYTES {
                (data.permissions().mode(), hash(&path)?)
            } else {
                return None;
            };
            all.insert(path, (mode, content));
            if all.len() > MAX_FILES {
                return None;
            }
        }
    }
    let mut whole = Vec::new();
    for (path, (mode, content)) in all {
        whole.extend(path.as_os_str().len().to_le_bytes());
        whole.extend(path.as_os_str().as_bytes());
        whole.extend(mode.to_le_bytes());
        whole.extend(content);
    }
    Some(crate::task::digest(&whole))
}

fn hash(file: &Path) -> Option<sha2::digest::Output<Sha256>> {
    let mut hash = Sha256::new();
    io::copy(&mut fs_err::File::open(file).ok()?, &mut hash).ok()?;
    Some(hash.finalize())
}
