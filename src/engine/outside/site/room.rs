//! One checkout while a gate works in it.
//!
//! Owns: its files, what is known of the builds in it, and its end.
//!
//! Promises: what stands there when the gate begins is the commits' files and outputs that were made of
//! them; at the end it is looked at again, and only what stood the look is kept for the next gate.
//!
//! Refuses to know: gates, verdicts.

use super::mirror::{Sources, Which};
use super::outputs::{Manifest, Serves, wipe};
use crate::engine::Fault;
use crate::gate::Build;
use crate::git::Checkout;
use crate::source::RepoPath;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Differences that are named.
const NAMED: usize = 5;

/// A checkout, ready.
pub(super) struct Room {
    /// The folder that stands for the workspace.
    pub(super) folder: PathBuf,
    manifest: PathBuf,
    checkout: Checkout,
    /// Builds that stood there before.
    kept: BTreeSet<String>,
    /// Builds of this gate, and those of before that it used.
    builds: Vec<Build>,
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
        let single = sources.poms(&checkout)?.len() == 1;
        let marks = checkout.marks();
        let serves =
            last.as_ref().map_or(Serves::Nothing, |last| last.serves(&marks, &written.outputs, single));
        wipe(&written.outputs, serves)?;
        let changes = written.changed.len() + written.removed.len();
        let note = format!(
            "{} files, {changes} of them written or removed; {}",
            marks.len(),
            match serves {
                Serves::All => "the outputs of the last gate serve",
                Serves::ButTests => "the outputs of the last gate serve, but for the tests",
                Serves::Nothing => "no outputs of an earlier gate",
            }
        );
        let kept = last.filter(|_| serves == Serves::All).map(|last| last.builds).unwrap_or_default();
        Ok(Self { folder, manifest, checkout, kept, builds: Vec::new(), note })
    }

    pub(super) fn is_built(&self, key: &str) -> bool {
        self.kept.contains(key)
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
        let manifest = Manifest::new(self.checkout.marks(), &found.outputs, builds);
        // After the digest was taken: what was changed before is found here, what is changed later then.
        if let Some(manifest) = manifest.filter(|_| self.builds.iter().all(Build::stands)) {
            manifest.store(&self.manifest)?;
        }
        Ok(None)
    }
}
