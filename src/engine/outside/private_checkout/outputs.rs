//! Outputs of builds in a checkout, used again by the next gate.
//!
//! Promises: outputs are used again only if every file in them is as the last gate left it, and
//! only for sources that differ from theirs in nothing or in Java files (Maven does not remove the
//! classes of removed sources). The manifest is removed while a gate works, so a killed gate leaves
//! nothing that is trusted.

use crate::gate::{Build, ChangedJava, OutputState};
use crate::source::{self, RepoPath, digest_of, digest_parts};
use crate::sys::cache_file;
use crate::sys::disk::if_there;
use crate::sys::walk::walk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Raised when a manifest changes its meaning.
const VERSION: u32 = 5;
/// Files and bytes of outputs that are kept; larger outputs are built again each time.
const MAX_FILES: usize = 300_000;
const MAX_BYTES: u64 = 4 << 30;

/// The files of a checkout with their modes and objects.
pub(super) type Marks = BTreeMap<String, String>;

/// Record of the outputs that a gate left in a checkout.
#[derive(Serialize, Deserialize)]
struct Manifest {
    sources: Marks,
    /// The digest of all outputs.
    digest: String,
    /// The keys of the builds that made them.
    builds: BTreeSet<String>,
}

/// The outputs in a checkout while a gate works there.
#[derive(Default)]
pub(super) struct Outputs {
    manifest: PathBuf,
    /// Folders that were there before.
    folders: Vec<PathBuf>,
    /// All sources are one module's.
    pub(super) of_one_module: bool,
    /// The builds that made them; none if they are not to be used.
    known: BTreeSet<String>,
    /// Java files that differ from those that they were made of.
    stale: Option<ChangedJava>,
    /// Builds of this gate, and earlier ones that it used.
    builds: Vec<Build>,
    /// Folders below which Maven builds, or has built.
    cleared: BTreeSet<PathBuf>,
}

impl Outputs {
    /// Takes over the folders that the last gate left, as described by its manifest, for these sources. `module` is
    /// the path of their only module (empty, or with a slash at its end), `None` if there are several.
    pub(super) fn take_outputs(
        manifest: PathBuf,
        folders: Vec<PathBuf>,
        sources: &Marks,
        module: Option<&str>,
    ) -> io::Result<Self> {
        let last = take_manifest(&manifest)?
            .filter(|last| digest_folders(&folders).as_ref() == Some(&last.digest));
        let last =
            last.and_then(|last| Some((stale_sources(&last.sources, sources, module)?, last)));
        let mut outputs = Self {
            manifest,
            folders,
            of_one_module: module.is_some(),
            ..Self::default()
        };
        match last {
            Some((stale, last)) => {
                outputs.known = last.builds;
                outputs.stale = Some(stale).filter(|stale| *stale != ChangedJava::default());
            }
            None => std::mem::take(&mut outputs.folders)
                .iter()
                .try_for_each(|folder| remove_folder(folder))?,
        }
        Ok(outputs)
    }

    /// Describes the reuse of the outputs, for people.
    pub(super) fn reuse_note(&self) -> &'static str {
        match self.stale {
            _ if self.known.is_empty() => "no outputs of an earlier gate",
            None => "the outputs of the last gate are used",
            Some(_) => "the outputs of the last gate are used, but for Java files",
        }
    }

    /// Returns the relation of the outputs to the build of this key.
    pub(super) fn output_state(&self, key: &str) -> OutputState {
        match &self.stale {
            _ if !self.known.contains(key) => OutputState::Nothing,
            None => OutputState::Current,
            Some(stale) => OutputState::Java(stale.clone()),
        }
    }

    /// Removes the outputs below `root`, where a build begins: it must find nothing of another.
    pub(super) fn clear_outputs(&mut self, root: &Path) -> io::Result<()> {
        // A reactor that Maven has begun to build: its outputs are of now.
        if !self.cleared.insert(root.to_owned()) {
            return Ok(());
        }
        self.builds
            .retain(|build| !build.folders.iter().any(|folder| folder.starts_with(root)));
        // The state of the other builds is unknown.
        self.known.clear();
        for folder in self
            .folders
            .extract_if(.., |folder| folder.starts_with(root))
        {
            remove_folder(&folder)?;
        }
        Ok(())
    }

    /// A build came to its end well.
    pub(super) fn note_build(&mut self, build: &Build) {
        self.builds.push(build.clone());
    }

    /// Keeps the outputs in these folders for the next gate. Anything that changes after the digest is taken is
    /// found by the next gate, anything that changed before by the builds' own digests.
    pub(super) fn keep_outputs(self, folders: &[PathBuf], sources: Marks) -> io::Result<()> {
        let Some(digest) = digest_folders(folders).filter(|_| !self.builds.is_empty()) else {
            return Ok(());
        };
        for build in &self.builds {
            // Class files elsewhere are not kept, and no digest here covers them.
            let mut own = build.folders.iter();
            let are_kept = own.all(|own| folders.iter().any(|kept| own.starts_with(kept)));
            if !are_kept || !build.is_current() {
                return Ok(());
            }
        }
        let builds = self.builds.into_iter().map(|build| build.key).collect();
        cache_file::store(
            &self.manifest,
            VERSION,
            Manifest {
                sources,
                digest,
                builds,
            },
        )
    }
}

/// Reads the manifest and removes it: from now on the outputs change.
fn take_manifest(file: &Path) -> io::Result<Option<Manifest>> {
    let manifest = cache_file::load(file, VERSION);
    Ok(if_there(fs_err::remove_file(file))?.and(manifest))
}

/// Returns the Java files of the module that differ; `None` if other files do.
fn stale_sources(old: &Marks, new: &Marks, module: Option<&str>) -> Option<ChangedJava> {
    let mut stale = ChangedJava::default();
    for path in old
        .keys()
        .chain(new.keys())
        .filter(|path| old.get(*path) != new.get(*path))
    {
        let path = RepoPath::parse(path).to_text();
        let inside = Path::new(path.strip_prefix(module?)?);
        let (main, tests) = (
            inside.strip_prefix("src/main/java"),
            inside.strip_prefix("src/test/java"),
        );
        let (set, below) = (
            if main.is_ok() {
                &mut stale.main
            } else {
                &mut stale.tests
            },
            main.or(tests).ok()?,
        );
        if below
            .extension()
            .is_none_or(|extension| extension != "java")
        {
            return None;
        }
        set.insert(below.to_owned());
    }
    Some(stale)
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    if_there(fs_err::remove_dir_all(folder)).map(drop)
}

/// The digest of everything in these folders: path, mode, bytes. `None` if there is too much, or anything that
/// is neither file, folder nor link.
fn digest_folders(folders: &[PathBuf]) -> Option<String> {
    let (mut all, mut bytes) = (Vec::new(), 0);
    for entry in folders
        .iter()
        .flat_map(|folder| walk(folder, usize::MAX, MAX_FILES, |_| true))
    {
        let entry = entry.ok()?;
        let (path, data) = (entry.path(), entry.metadata().ok()?);
        bytes += data.len();
        let content = match () {
            () if data.is_symlink() => {
                source::digest(fs_err::read_link(path).ok()?.as_os_str().as_bytes())
            }
            () if data.is_file() && bytes <= MAX_BYTES => {
                digest_of(fs_err::File::open(path).ok()?).ok()?
            }
            () if data.is_dir() => String::new(),
            () => return None,
        };
        let mode = data.permissions().mode().to_le_bytes();
        all.extend([
            path.as_os_str().as_bytes().to_vec(),
            mode.to_vec(),
            content.into_bytes(),
        ]);
    }
    Some(digest_parts(all))
}
