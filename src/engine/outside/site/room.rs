//! One checkout while a gate works in it.
//!
//! Owns: its files, what is known of the builds in it, and its end.
//!
//! Promises: what stands there when the gate begins is the commits' files, and outputs of which is known what
//! they were made of; Maven never finds any that were made of something else. At the end it is looked at
//! again, and only what stood the look is kept for the next gate.
//!
//! Refuses to know: gates, verdicts.

use super::mirror::{Sources, Which};
use super::outputs::{Manifest, Serves, Wipe, wipe};
use crate::engine::Fault;
use crate::gate::{Build, Stale, Standing};
use crate::git::Checkout;
use crate::source::RepoPath;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Differences that are named.
const NAMED: usize = 5;

/// A checkout, ready.
pub(super) struct Room {
    /// The folder that stands for the workspace.
    pub(super) folder: PathBuf,
    manifest: PathBuf,
    checkout: Checkout,
    /// Folders of outputs that stood there before.
    outputs: Vec<PathBuf>,
    /// The builds that they are of.
    kept: BTreeSet<String>,
    /// Java files that differ from those that they were made of.
    stale: Option<Stale>,
    /// They are not Maven's own.
    recompiled: bool,
    /// Builds of this gate, and those of before that it used.
    builds: Vec<Build>,
    /// Folders below which Maven builds, or has built.
    cleared: BTreeSet<PathBuf>,
    /// What became of the files and outputs, for people.
    pub(super) note: String,
}

impl Room {
    /// Makes the checkout.
    pub(super) fn make(
        sources: &Sources,
        which: Which,
        folder: PathBuf,
        manifest: PathBuf,
    ) -> Result<Self, Fault> {
        let checkout = sources.checkout(which)?;
        let last = Manifest::take(&manifest)?;
        let written = checkout.write(&folder)?;
        let marks = checkout.marks();
        let module = module(&sources.poms(&checkout)?);
        let serves = last
            .as_ref()
            .map_or(Serves::Nothing, |last| last.serves(&marks, &written.outputs, module.as_deref()));
        let changes = written.changed.len() + written.removed.len();
        let (stale, told) = match &serves {
            Serves::All => (None, "the outputs of the last gate serve"),
            Serves::ButJava(stale) => {
                (Some(*stale), "the outputs of the last gate serve, but for Java files")
            }
            Serves::Nothing => (None, "no outputs of an earlier gate"),
        };
        let note = format!("{} files, {changes} of them written or removed; {told}", marks.len());
        if serves == Serves::Nothing {
            wipe(&written.outputs, Wipe::All)?;
        }
        let last = last.filter(|_| serves != Serves::Nothing);
        let recompiled = last.as_ref().is_some_and(|last| last.recompiled);
        let kept = last.map(|last| last.builds).unwrap_or_default();
        let outputs = written.outputs;
        Ok(Self {
            folder,
            manifest,
            checkout,
            outputs,
            kept,
            stale,
            recompiled,
            builds: Vec::new(),
            cleared: BTreeSet::new(),
            note,
        })
    }

    pub(super) fn standing(&self, key: &str) -> Standing {
        match &self.stale {
            _ if !self.kept.contains(key) => Standing::Nothing,
            None => Standing::Whole,
            Some(stale) => Standing::Java(*stale),
        }
    }

    /// Maven is going to build below that folder.
    pub(super) fn clear(&mut self, root: &Path, key: Option<&str>) -> io::Result<()> {
        // Of another checkout, or a reactor that Maven has begun to build: what stands there is of now.
        if !root.starts_with(&self.folder) || !self.cleared.insert(root.to_owned()) {
            return Ok(());
        }
        let known = key.is_some_and(|key| self.kept.contains(key)) && !self.recompiled;
        let what = match &self.stale {
            Some(stale) if known && !stale.main => Wipe::Tests,
            None if known => return Ok(()),
            _ => Wipe::All,
        };
        self.recompiled &= what != Wipe::All;
        self.builds.retain(|build| !build.folders.iter().any(|folder| folder.starts_with(root)));
        // Nobody knows any more which of the builds still stands whole.
        self.kept.clear();
        let (below, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.outputs).into_iter().partition(|at| at.starts_with(root));
        self.outputs = others;
        wipe(&below, what)
    }

    pub(super) fn built(&mut self, build: &Build) {
        if build.folders.iter().all(|folder| folder.starts_with(&self.folder)) {
            self.builds.push(build.clone());
        }
    }

    /// Where a package stands in it.
    pub(super) fn place(&self, sources: &Sources, root: &Path) -> Result<PathBuf, Fault> {
        use std::os::unix::ffi::OsStrExt as _;
        let inside = sources.inside(root)?;
        Ok(if inside.is_empty() {
            self.folder.clone()
        } else {
            self.folder.join(std::ffi::OsStr::from_bytes(&inside))
        })
    }

    /// True when the commits hold that path of a package.
    pub(super) fn holds(&self, sources: &Sources, root: &Path, path: &RepoPath) -> Result<bool, Fault> {
        let inside = sources.inside(root)?;
        let slash: &[u8] = if inside.is_empty() { b"" } else { b"/" };
        let path = [inside.as_slice(), slash, &path.to_bytes()].concat();
        Ok(self.checkout.holds(&path) || self.checkout.holds_folder(&path))
    }

    /// What differs from the commits now, in words; nothing when all is as it was. Outputs are kept for
    /// the next gate when `keep` and nothing differs.
    pub(super) fn close(&self, keep: bool) -> Result<Option<String>, Fault> {
        let found = self.checkout.inspect(&self.folder, NAMED)?;
        if !found.differences.is_empty() {
            let names: Vec<String> = found.differences.iter().map(ToString::to_string).collect();
            return Ok(Some(names.join(", ")));
        }
        if !keep || self.builds.is_empty() {
            return Ok(None);
        }
        let builds = self.builds.iter().map(|build| build.key.clone()).collect();
        let recompiled = self.recompiled || self.builds.iter().any(|build| build.recompiled);
        let manifest = Manifest::new(self.checkout.marks(), &found.outputs, builds, recompiled);
        // After the digest was taken: what was changed before is found here, what is changed later then.
        if let Some(manifest) = manifest.filter(|_| self.builds.iter().all(Build::stands)) {
            manifest.store(&self.manifest)?;
        }
        Ok(None)
    }
}

/// The path of the only module: empty, or with a slash at its end; nothing when there are several.
fn module(poms: &[&[u8]]) -> Option<String> {
    let [pom] = poms else { return None };
    String::from_utf8(pom.strip_suffix(b"pom.xml")?.to_vec()).ok()
}
