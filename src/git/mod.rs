//! The packages' repositories: what is in them, what an attempt changed, and how it is undone.
//!
//! Promises: everything goes through git2, git itself is never started. Nothing that a repository holds (settings,
//! attributes, replace references, index flags, forged commit graphs, links) runs a program or hides a change. What
//! cannot be read faithfully is an error in words. What is undone is first kept under a reference below `refs/ralph/`.

mod apply;
mod backup_refs;
mod changes;
mod checkout;
mod commit;
mod content;
mod error;
mod file_stat;
mod find;
mod history;
mod index;
mod init_repository;
mod lines;
mod locks;
mod observe;
mod open;
mod places;
mod plan;
mod restore;
mod revision;
mod survey;
mod tree;
mod underway;
mod walk;

pub use checkout::{Checkout, Differences, is_repository};
pub use error::{GitError, GitErrorKind};
pub use init_repository::init_repository;
pub use restore::{Extent, PutBack};
pub use survey::Surveyed;
pub use underway::Underway;

use crate::machine::facts::{Dirt, Oid, PackageState, Snapshot};
use crate::source::{Classifier, Kind, RepoPath};
use find::Pattern;
use open::{Head, OpenRepo};
use places::{Layout, Place};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use walk::Status;

/// The packages of a workspace. Repositories stay open between calls; packages that appear or vanish are
/// noticed at each look.
pub struct Repositories {
    workspace: PathBuf,
    patterns: Vec<Pattern>,
    layout: Layout,
    classifier: Classifier,
    places: BTreeMap<String, Place>,
    open: BTreeMap<PathBuf, OpenRepo>,
    /// Untracked files of no kind at the last [`Repositories::snapshot`], by package.
    others: BTreeMap<String, BTreeSet<Vec<u8>>>,
}

/// Untracked files that are neither test, production nor build files, by package.
type Others = BTreeMap<String, BTreeSet<Vec<u8>>>;

impl Repositories {
    /// Finds the packages (docs/design.md "Words"): repositories among the folders that match `patterns`; where there
    /// is none, the workspace's own repository as package `.`, or, when `patterns_given`, those matching
    /// folders of it that hold a build file. Every repository is opened and checked.
    ///
    /// Errors: no repository (`NotFound`), two packages with one name (`NameClash`), a repository that
    /// cannot be read faithfully (`Refused`), one that is damaged (`Unreadable`).
    pub fn discover(
        workspace: &Path,
        patterns: &[String],
        patterns_given: bool,
        classifier: Classifier,
    ) -> Result<Self, GitError> {
        let mut found = Self::find(workspace, patterns, patterns_given, classifier)?;
        for name in found.names() {
            let (_, open) = found.package(&name)?;
            let head = open.head().map_err(|error| error.in_package(&name))?;
            open.refresh_index(head.commit).map_err(|error| error.in_package(&name))?;
        }
        Ok(found)
    }

    /// The packages, where they are; none was looked at.
    fn find(
        workspace: &Path,
        patterns: &[String],
        patterns_given: bool,
        classifier: Classifier,
    ) -> Result<Self, GitError> {
        let patterns = patterns.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>()?;
        let layout = Layout::find(workspace, &patterns, patterns_given, &classifier)?;
        let mut found = Self {
            workspace: workspace.to_owned(),
            patterns,
            layout,
            classifier,
            places: BTreeMap::new(),
            open: BTreeMap::new(),
            others: BTreeMap::new(),
        };
        found.refresh()?;
        Ok(found)
    }

    /// The names of the packages at the last look, sorted.
    pub fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    /// The folder of a package; `None` when there is none of that name.
    pub fn root(&self, package: &str) -> Option<&Path> {
        self.places.get(package).map(|place| place.root.as_path())
    }

    /// All packages at this moment: HEAD, branch, what differs from HEAD, untracked files that count.
    pub fn snapshot(&mut self) -> Result<Snapshot, GitError> {
        self.refresh()?;
        let (snapshot, others) = self.look()?;
        self.others = others;
        Ok(snapshot)
    }

    /// The bytes of a blob in the package's repository. More than `cap` bytes are an error (`Refused`).
    pub fn blob(&self, package: &str, blob: &Oid, cap: u64) -> Result<Vec<u8>, GitError> {
        let place = self.places.get(package).ok_or_else(|| no_package(package))?;
        let open = self.open.get(&place.repo).ok_or_else(|| no_package(package))?;
        let id = tree::oid_of(blob).map_err(|error| error.in_package(package))?.ok_or_else(|| {
            GitError::not_found("Forty zeros name no file.", "Name a file's blob.").in_package(package)
        })?;
        let bytes = tree::blob(&open.repo, id, cap).map_err(|error| error.in_package(package))?;
        bytes.ok_or_else(|| {
            GitError::refused(format!("The file {blob} has more than {cap} bytes."), "Look at it with git.")
                .in_package(package)
        })
    }

    /// All test files in a commit's tree; none for zeros.
    pub fn test_paths_at(&mut self, package: &str, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let classifier = self.classifier.clone();
        let mut paths = self.paths_at(package, commit)?;
        paths.retain(|path| classifier.kind_of(&path.to_bytes()) == Kind::Test);
        Ok(paths)
    }

    /// All files in a commit's tree; none for zeros.
    pub fn paths_at(&mut self, package: &str, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let (place, open) = self.package(package)?;
        let all = tree::oid_of(commit)
            .and_then(|id| tree::tree_of(&open.repo, id, &place.prefix))
            .and_then(|found| tree::diff(&open.repo, None, found.as_ref()))
            .map_err(|error| error.in_package(package))?;
        let files = all.into_iter().filter(|delta| delta.new.is_some_and(|(_, mode)| mode != tree::GITLINK));
        Ok(files.map(|delta| RepoPath::from_bytes(&delta.path)).collect())
    }

    /// Finds the packages again and closes repositories that went or were replaced.
    fn refresh(&mut self) -> Result<(), GitError> {
        self.places =
            places::places(&self.workspace, &self.patterns, self.layout, &self.classifier, &self.places)?;
        let used: BTreeSet<&PathBuf> = self.places.values().map(|place| &place.repo).collect();
        self.open.retain(|root, open| used.contains(root) && open.is_current());
        Ok(())
    }

    /// The package with its repository open.
    fn package(&mut self, name: &str) -> Result<(Place, &mut OpenRepo), GitError> {
        let place = self.places.get(name).cloned().ok_or_else(|| no_package(name))?;
        let open = match self.open.entry(place.repo.clone()) {
            Entry::Occupied(slot) => slot.into_mut(),
            Entry::Vacant(slot) => {
                slot.insert(OpenRepo::open(&place.repo).map_err(|error| error.in_package(name))?)
            }
        };
        Ok((place, open))
    }

    /// The packages by repository.
    fn by_repository(&self) -> BTreeMap<PathBuf, Vec<String>> {
        let mut all: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for (name, place) in &self.places {
            all.entry(place.repo.clone()).or_default().push(name.clone());
        }
        all
    }

    /// Looks at everything in the packages that [`Repositories::refresh`] found.
    fn look(&mut self) -> Result<(Snapshot, Others), GitError> {
        let classifier = self.classifier.clone();
        let mut packages = BTreeMap::new();
        let mut others = BTreeMap::new();
        for names in self.by_repository().into_values() {
            let Some(first) = names.first() else { continue };
            let (_, open) = self.package(first)?;
            let (head, status) = open.status().map_err(|error| error.in_package(first))?;
            for name in names {
                let (place, open) = self.package(&name)?;
                let (state, rest) = package_state(&name, &place, open, &head, &status, &classifier)
                    .map_err(|error| error.in_package(&name))?;
                packages.insert(name.clone(), state);
                others.insert(name, rest);
            }
        }
        Ok((Snapshot { packages: packages.into_values().collect() }, others))
    }
}

fn no_package(name: &str) -> GitError {
    GitError::not_found(
        format!("There is no package called {}.", error::clean(name)),
        "Run `ralph check` to see the packages.",
    )
}

fn package_state(
    name: &str,
    place: &Place,
    open: &mut OpenRepo,
    head: &Head,
    status: &Status,
    classifier: &Classifier,
) -> Result<(PackageState, BTreeSet<Vec<u8>>), GitError> {
    let mut state = PackageState {
        name: name.to_owned(),
        head: head.commit.map_or_else(Oid::zero, tree::fact_of),
        branch: head.branch.clone(),
        dirt: Vec::new(),
        untracked: Vec::new(),
    };
    for (path, leaf) in &status.dirty {
        let Some(inside) = place.inside(path).filter(|path| !crate::source::is_state_file(path)) else {
            continue;
        };
        let blob = leaf.map(|(id, _)| tree::fact_of(id));
        state.dirt.push(Dirt { path: RepoPath::from_bytes(inside), blob, untracked: false });
    }
    let mut others = BTreeSet::new();
    for path in &status.untracked {
        let Some(inside) = place.inside(path) else { continue };
        if classifier.kind_of(inside) == Kind::Other {
            others.insert(inside.to_vec());
        } else if let Some((id, _)) = open.leaf(path)? {
            let path = RepoPath::from_bytes(inside);
            state.untracked.push(Dirt { path, blob: Some(tree::fact_of(id)), untracked: true });
        }
    }
    others.extend(status.nested.iter().filter_map(|path| place.inside(path)).map(<[u8]>::to_vec));
    state.dirt.sort_by(|a, b| a.path.cmp(&b.path));
    state.untracked.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((state, others))
}
