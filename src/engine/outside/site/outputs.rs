//! What a build left, kept for the next gate.
//!
//! Owns: the manifest of a checkout's outputs, and the decision which of them still serve.
//!
//! Promises: outputs are used again only when every file in them is as the last gate left it; which Java files
//! differ from those that they were made of is told, anything else that differs makes them worthless (Maven
//! does not remove the classes of sources that went). The manifest is gone while a gate works, so that a killed
//! one leaves nothing to be trusted.
//!
//! Refuses to know: how outputs are made, beyond Maven's names for the folders of sources and tests.

use crate::gate::Stale;
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
const VERSION: u32 = 2;
/// Files and bytes of outputs that are kept; more are built anew each time.
const MAX_FILES: usize = 300_000;
const MAX_BYTES: u64 = 4 << 30;

/// What Maven makes of tests.
const TEST_OUTPUTS: [&str; 3] =
    ["test-classes", "generated-test-sources", "maven-status/maven-compiler-plugin/testCompile"];

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
    /// The last of them was not Maven's.
    pub(super) recompiled: bool,
}

/// What of the outputs serves again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    /// Everything: the sources are the same.
    All,
    /// As far as they were not made of the Java files that differ, all of them of a single module.
    ButJava(Stale),
    /// Nothing.
    Nothing,
}

/// What is removed of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wipe {
    /// The tests' classes.
    Tests,
    /// All.
    All,
}

impl Manifest {
    pub(super) fn new(
        marks: BTreeMap<String, String>,
        outputs: &[PathBuf],
        builds: BTreeSet<String>,
        recompiled: bool,
    ) -> Option<Self> {
        Some(Self { version: VERSION, marks, outputs: digest(outputs)?, builds, recompiled })
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

    /// What serves again for sources with these marks. `module` is the path of their only module (empty, or
    /// with a slash at its end), nothing when they are several.
    pub(super) fn serves(
        &self,
        marks: &BTreeMap<String, String>,
        outputs: &[PathBuf],
        module: Option<&str>,
    ) -> Serves {
        if digest(outputs).as_ref() != Some(&self.outputs) {
            return Serves::Nothing;
        }
        let differ = |path: &&String| self.marks.get(*path) != marks.get(*path);
        let changed: Vec<&String> = self.marks.keys().chain(marks.keys()).filter(differ).collect();
        if changed.is_empty() {
            return Serves::All;
        }
        module.and_then(|module| stale(&changed, module)).map_or(Serves::Nothing, Serves::ButJava)
    }
}

/// Which Java files of the module differ; nothing when other files do.
fn stale(changed: &[&String], module: &str) -> Option<Stale> {
    let mut stale = Stale::default();
    for path in changed {
        let path = RepoPath::parse(path).to_text();
        let inside = path.strip_prefix(module)?;
        let (main, tests) = (inside.starts_with("src/main/java/"), inside.starts_with("src/test/java/"));
        let name = inside.rsplit('/').next()?;
        if !(main || tests) || Path::new(name).extension().is_none_or(|extension| extension != "java") {
            return None;
        }
        stale.main |= main;
        stale.tests |= tests;
        stale.infos |= matches!(name, "package-info.java" | "module-info.java");
    }
    Some(stale)
}

/// Removes outputs.
pub(super) fn wipe(outputs: &[PathBuf], wipe: Wipe) -> io::Result<()> {
    for output in outputs {
        let gone = match wipe {
            Wipe::Tests => TEST_OUTPUTS.map(|name| output.join(name)).to_vec(),
            Wipe::All => vec![output.clone()],
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
