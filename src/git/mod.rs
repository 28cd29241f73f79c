//! The packages' repositories: their content, the changes of an attempt, and their restoration.
//!
//! Promises: everything goes through git2, git itself is never started. Nothing that a repository holds (settings,
//! attributes, replace references, index flags, forged commit graphs, links) runs a program or hides a change. Data
//! that cannot be read faithfully is an error in words. Undone content is first kept under a reference below
//! `refs/ralph/`.

mod apply;
mod backup_refs;
mod bundle;
mod changes;
mod checkout;
mod clone;
mod commit;
mod content;
mod error;
mod history;
mod index;
mod lane_commits;
mod lines;
mod locks;
mod merge;
mod new_objects;
mod observe;
mod open;
mod package_folders;
mod plan;
mod restore;
mod revision;
mod special_files;
mod test_code;
mod tips;
mod tree;
mod walk;
mod work_tree;

pub use bundle::read_bundle;
pub use changes::{AtBase, at_base};
pub use checkout::{Checkout, CheckoutPart, Differences, PushRemote, add_to_copy, is_branch_name};
pub use commit::init_repository;
pub use error::{GitError, GitErrorKind};
pub use history::{PastCommit, PastLine};
pub use locks::Underway;
pub use merge::Merge;
pub use package_folders::is_repository;
pub use restore::RestoreExtent;
pub use work_tree::WorkTree;

use crate::machine::facts::{Dirt, Oid, OtherFiles, PackageState, Snapshot};
use crate::source::{Classifier, Kind, RepoPath, digest};
use error::DescribeFailure as _;
use git2::{Status as GitStatus, StatusOptions};
use open::{HeadPosition, OpenRepo};
use package_folders::{Layout, PackageFolder, PackageGlob};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use walk::WorkTreeStatus;

/// A package and its state, or why it cannot be read.
pub type Surveyed = (String, Result<PackageState, GitError>);

/// The packages of a workspace.
///
/// Repositories stay open between calls. Each scan notices packages that appear or vanish.
pub struct Repositories {
    workspace: PathBuf,
    spec: PathBuf,
    patterns: Vec<PackageGlob>,
    layout: Layout,
    classifier: Classifier,
    folders: BTreeMap<String, PackageFolder>,
    open: BTreeMap<PathBuf, OpenRepo>,
    /// HEAD of each repository at the last scan.
    heads: BTreeMap<PathBuf, Option<git2::Oid>>,
    /// The files at the last [`Repositories::snapshot`].
    others: Others,
}

/// Untracked files that are neither test, production nor build files, by package.
type Others = BTreeMap<String, BTreeSet<Vec<u8>>>;

impl Repositories {
    /// Finds the packages of a workspace whose `tasks.md` is in the directory `spec` (docs/design.md "Words").
    ///
    /// They are repositories among the directories that match `patterns`. Without any, the package is the workspace's
    /// own repository as `.`, or with `patterns_given` its matching directories that hold a build file. Every
    /// repository is opened and checked.
    ///
    /// Errors: no repository (`NotFound`), two packages with one name, a repository that cannot be read faithfully
    /// (`Refused`), one that is damaged (`Unreadable`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn discover_packages(
        workspace: &Path,
        spec: &Path,
        patterns: &[String],
        patterns_given: bool,
        classifier: Classifier,
    ) -> Result<Self, GitError> {
        Self::find_packages(workspace, spec, patterns, patterns_given, classifier)?.checked()
    }

    /// Opens and checks every repository; see [`Repositories::discover_packages`] for the errors.
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn checked(mut self) -> Result<Self, GitError> {
        for (_, state) in self.survey_packages() {
            state?;
        }
        Ok(self)
    }

    /// Returns the state of each package, or the error if its repository cannot be read.
    #[tracing::instrument(target = "git", skip_all)]
    pub fn survey_packages(&mut self) -> Vec<Surveyed> {
        let mut states = Vec::new();
        for name in self.package_names() {
            let state = self.in_package(&name, |folder, open, classifier| {
                let (head, status) = open.read_status()?;
                Ok(package_state(&name, folder, open, &head, &status, classifier)?.0)
            });
            states.push((name, state));
        }
        states
    }

    /// Finds the packages as [`Repositories::discover_packages`] does, but opens and checks no repository before it is needed.
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn find_packages(
        workspace: &Path,
        spec: &Path,
        patterns: &[String],
        patterns_given: bool,
        classifier: Classifier,
    ) -> Result<Self, GitError> {
        let patterns = patterns
            .iter()
            .map(|text| PackageGlob::new(text))
            .collect::<Result<Vec<_>, _>>()?;
        let layout = Layout::find_layout(workspace, &patterns, patterns_given, &classifier)?;
        let mut found = Self {
            workspace: workspace.to_owned(),
            spec: spec.to_owned(),
            patterns,
            layout,
            classifier,
            folders: BTreeMap::new(),
            open: BTreeMap::new(),
            heads: BTreeMap::new(),
            others: Others::new(),
        };
        found.refresh_packages()?;
        Ok(found)
    }

    /// Returns HEAD of each readable package, without reading its files.
    #[tracing::instrument(target = "git", skip_all)]
    pub fn current_heads(&mut self) -> BTreeMap<String, Oid> {
        let names = self.package_names().into_iter();
        let heads = names.filter_map(|name| {
            let head = self
                .in_package(&name, |_, open, _| Ok(open.read_head()?.commit))
                .ok()?;
            Some((name, head.map_or_else(Oid::zero, tree::fact_of)))
        });
        heads.collect()
    }

    /// Returns the patterns that give each file its kind.
    pub fn file_classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// Replaces the patterns for kinds of files.
    pub fn replace_classifier(&mut self, classifier: Classifier) {
        self.classifier = classifier;
    }

    /// Returns the names of the packages at the last scan, sorted.
    pub fn package_names(&self) -> Vec<String> {
        self.folders.keys().cloned().collect()
    }

    /// Returns the directory of a package; `None` without a package of that name.
    pub fn package_root(&self, package: &str) -> Option<&Path> {
        self.folders
            .get(package)
            .map(|folder| folder.root.as_path())
    }

    /// Returns the directory of the repository that a package is in.
    pub fn repository_of(&self, package: &str) -> Option<PathBuf> {
        self.folders.get(package).map(|folder| folder.repo.clone())
    }

    /// Returns the current state of all packages: HEAD, branch, differences from HEAD, untracked files that count.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn take_snapshot(&mut self) -> Result<Snapshot, GitError> {
        self.refresh_packages()?;
        self.open.values_mut().for_each(|open| open.ignores = None);
        let (snapshot, others) = self.look_at_all()?;
        self.others = others;
        Ok(snapshot)
    }

    /// Returns the digests of the untracked files of no kind at the last [`Repositories::take_snapshot`].
    pub fn other_files(&self) -> OtherFiles {
        let digests = |paths: &BTreeSet<Vec<u8>>| paths.iter().map(|path| digest(path)).collect();
        let all = self.others.iter();
        all.map(|(package, paths)| (package.clone(), digests(paths)))
            .collect()
    }

    /// Returns the current HEAD and branch of each package, without reading its files.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn read_heads(&mut self) -> Result<BTreeMap<String, (Oid, Option<String>)>, GitError> {
        self.refresh_packages()?;
        let mut heads = BTreeMap::new();
        for name in self.package_names() {
            let HeadPosition { commit, branch } =
                self.in_package(&name, |_, open, _| open.read_head())?;
            heads.insert(name, (commit.map_or_else(Oid::zero, tree::fact_of), branch));
        }
        Ok(heads)
    }

    /// Returns the directories of the packages' git settings and hooks at the last scan.
    ///
    /// Submodules are included.
    pub fn git_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let mut todo: Vec<&OpenRepo> = self.open.values().collect();
        while let Some(open) = todo.pop() {
            folders.extend([open.repo.commondir(), open.repo.path()].map(Path::to_owned));
            todo.extend(open.modules.values().flatten().map(|open| &**open));
        }
        folders.sort();
        folders.dedup();
        folders
    }

    /// True for a path in a package that was not in the index at the last scan.
    pub fn is_untracked(&self, path: &Path) -> bool {
        !self.open.iter().any(|(root, open)| {
            path.strip_prefix(root).is_ok_and(|inside| {
                open.index
                    .tracked
                    .contains_key(inside.as_os_str().as_bytes())
            })
        })
    }

    /// Returns the bytes of a blob in the package's repository. More than `cap` bytes are an error (`Refused`).
    #[tracing::instrument(target = "git", level = "debug", skip_all, fields(package = package), err(level = "debug"))]
    pub fn read_blob(&mut self, package: &str, blob: &Oid, cap: u64) -> Result<Vec<u8>, GitError> {
        self.in_package(package, |_, open, _| {
            let id = tree::oid_of(blob)?.ok_or_else(|| {
                GitError::not_found("Forty zeros name no file.", "Name a file's blob.")
            })?;
            tree::read_blob(&open.repo, id, cap)?.ok_or_else(|| {
                GitError::refused_error(
                    format!("The file {blob} has more than {cap} bytes."),
                    "Look at it with git.",
                )
            })
        })
    }

    /// Returns all test files in a commit's tree; none for zeros.
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn test_paths_at(
        &mut self,
        package: &str,
        commit: &Oid,
    ) -> Result<Vec<RepoPath>, GitError> {
        self.in_package(package, |folder, open, classifier| {
            let tree = tree::tree_of(&open.repo, tree::oid_of(commit)?, &folder.prefix)?;
            let mut files = tree::diff_trees(&open.repo, None, tree.as_ref())?;
            files.retain(|file| file.new.is_some_and(|(_, mode)| mode != tree::GITLINK));
            let paths = files.iter().map(|file| &*file.path);
            let tests = paths.filter(|path| classifier.kind_of(path) == Kind::Test);
            Ok(tests.map(RepoPath::from_bytes).collect())
        })
    }

    /// Returns untracked and ignored files of a package. A directory of them is one entry with a `/` at its end.
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn beside_commits(&mut self, package: &str) -> Result<Vec<RepoPath>, GitError> {
        self.in_package(package, |folder, open, _| {
            let mut options = StatusOptions::new();
            options.include_untracked(true).include_ignored(true);
            let all = open
                .repo
                .statuses(Some(&mut options))
                .with_action("list what is not committed")?;
            let beside = all.iter().filter(|entry| {
                entry
                    .status()
                    .intersects(GitStatus::WT_NEW | GitStatus::IGNORED)
            });
            let paths = beside.filter(|entry| !open.is_state(entry.path_bytes()));
            Ok(paths
                .filter_map(|entry| {
                    folder
                        .path_inside(entry.path_bytes())
                        .map(RepoPath::from_bytes)
                })
                .collect())
        })
    }

    /// True if `old` is the commit `new` of a package, or an ancestor of it.
    #[tracing::instrument(target = "git", level = "debug", skip_all, fields(package = package), err(level = "debug"))]
    pub fn is_descendant(&mut self, package: &str, new: &Oid, old: &Oid) -> Result<bool, GitError> {
        self.in_package(package, |_, open, _| {
            match (tree::oid_of(new)?, tree::oid_of(old)?) {
                (Some(new), Some(old)) => history::is_descendant(&open.repo, new, old),
                _ => Ok(false),
            }
        })
    }

    /// Finds the packages again and closes removed repositories.
    fn refresh_packages(&mut self) -> Result<(), GitError> {
        self.folders = package_folders::find(
            &self.workspace,
            &self.patterns,
            self.layout,
            &self.classifier,
            &self.folders,
        )?;
        let used: BTreeSet<&PathBuf> = self.folders.values().map(|folder| &folder.repo).collect();
        self.open.retain(|root, _| used.contains(root));
        Ok(())
    }

    /// Runs a function on a package with its repository, which is reopened if it was replaced.
    ///
    /// Every error names the package.
    fn in_package<T>(
        &mut self,
        name: &str,
        act: impl FnOnce(&PackageFolder, &mut OpenRepo, &Classifier) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let folder = self.folders.get(name).ok_or_else(|| no_package(name))?;
        if !self
            .open
            .get(&folder.repo)
            .is_some_and(OpenRepo::is_current)
        {
            let mut open =
                OpenRepo::open_repository(&folder.repo).map_err(|error| error.in_package(name))?;
            open.state = self.state_files(&folder.repo);
            // A change of the setting during a run has no effect.
            if let Some(before) = self.open.remove(&folder.repo) {
                open.modes = before.modes;
                open.tips_before = before.tips_before;
            }
            self.open.insert(folder.repo.clone(), open);
        }
        let open = self
            .open
            .get_mut(&folder.repo)
            .ok_or_else(|| no_package(name))?;
        act(folder, open, &self.classifier).map_err(|error| error.in_package(name))
    }

    /// Returns the paths of ralph's own files in a repository: the workspace's `.ralph/`, and three files of the
    /// spec.
    fn state_files(&self, repo: &Path) -> Vec<Vec<u8>> {
        let spec =
            ["tasks.md", "progress.txt", "validation-report.md"].map(|name| self.spec.join(name));
        spec.into_iter()
            .chain([self.workspace.join(".ralph")])
            .filter_map(|path| {
                Some(
                    path.strip_prefix(repo)
                        .ok()?
                        .as_os_str()
                        .as_bytes()
                        .to_vec(),
                )
            })
            .collect()
    }

    /// Groups the packages by repository.
    fn by_repository(&self) -> BTreeMap<PathBuf, Vec<String>> {
        let mut all: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for (name, folder) in &self.folders {
            all.entry(folder.repo.clone())
                .or_default()
                .push(name.clone());
        }
        all
    }

    /// Scans the packages that [`Repositories::refresh`] found.
    fn look_at_all(&mut self) -> Result<(Snapshot, Others), GitError> {
        let (mut packages, mut others) = (Vec::new(), Others::new());
        for (repo, names) in self.by_repository() {
            let Some(first) = names.first() else { continue };
            let (head, status) = self.in_package(first, |_, open, _| open.read_status())?;
            self.heads.insert(repo, head.commit);
            for name in names {
                let (state, rest) = self.in_package(&name, |folder, open, classifier| {
                    package_state(&name, folder, open, &head, &status, classifier)
                })?;
                packages.push(state);
                others.insert(name, rest);
            }
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((Snapshot { packages }, others))
    }
}

fn no_package(name: &str) -> GitError {
    GitError::not_found(
        format!("There is no package called {}.", error::clean_text(name)),
        "Run `ralph check` to see the packages.",
    )
}

fn package_state(
    name: &str,
    folder: &PackageFolder,
    open: &mut OpenRepo,
    head: &HeadPosition,
    status: &WorkTreeStatus,
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
        let Some(inside) = folder.path_inside(path).filter(|_| !open.is_state(path)) else {
            continue;
        };
        let blob = leaf.map(|(id, _)| tree::fact_of(id));
        state.dirt.push(Dirt {
            path: RepoPath::from_bytes(inside),
            blob,
            untracked: false,
        });
    }
    let mut others = BTreeSet::new();
    for path in &status.untracked {
        let Some(inside) = folder.path_inside(path) else {
            continue;
        };
        if classifier.kind_of(inside) == Kind::Other {
            if !status.hidden.contains(path) {
                others.insert(inside.to_vec());
            }
        } else if let Some((id, _)) = open.read_leaf(path)? {
            let path = RepoPath::from_bytes(inside);
            state.untracked.push(Dirt {
                path,
                blob: Some(tree::fact_of(id)),
                untracked: true,
            });
        }
    }
    others.extend(
        status
            .nested
            .iter()
            .filter_map(|path| folder.path_inside(path))
            .map(<[u8]>::to_vec),
    );
    state.dirt.sort_by(|a, b| a.path.cmp(&b.path));
    state.untracked.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((state, others))
}
