//! Which packages there are at this moment, and where.
//!
//! The layouts are those of docs/design.md "Words". Two folders with one base name are an error.

use super::error::GitError;
use super::find::{self, Pattern};
use crate::source::{Classifier, Kind, RepoPath};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where a package is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageFolder {
    /// The package's folder.
    pub(super) root: PathBuf,
    /// The folder of its repository: the same, or the workspace.
    pub(super) repo: PathBuf,
    /// The package's folder in its repository: empty, or with a `/` at its end.
    pub(super) prefix: Vec<u8>,
}

impl PackageFolder {
    fn whole(root: PathBuf) -> Self {
        Self { repo: root.clone(), root, prefix: Vec::new() }
    }

    /// The path in the package of a path in the repository; `None` outside of the package.
    pub(super) fn inside<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.prefix.as_slice()).filter(|rest| !rest.is_empty())
    }

    /// The path in the repository of a path in the package.
    pub(super) fn in_repo(&self, path: &[u8]) -> Vec<u8> {
        [&self.prefix, path].concat()
    }
}

/// How the workspace is laid out; found once, kept for the life of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each matching folder with a repository of its own is a package.
    Separate,
    /// The workspace's repository is the package `.`; matching repositories that appear are more.
    Workspace,
    /// Matching folders of the workspace's repository that hold a build file are packages.
    Folders,
}

impl Layout {
    /// Looks at the disk and decides.
    pub(super) fn find(
        workspace: &Path,
        patterns: &[Pattern],
        patterns_given: bool,
        classifier: &Classifier,
    ) -> Result<Self, GitError> {
        let folders = find::folders(workspace, patterns)?;
        if folders.iter().any(|folder| find::is_repository(folder)) {
            return Ok(Self::Separate);
        }
        if !find::is_repository(workspace) {
            return Err(GitError::not_found(
                format!("No folder that packages: names in {} holds a git repository.", workspace.display()),
                "Set packages: in .ralph/config.yaml, run `git init` in a package, or give --root.",
            ));
        }
        let has_folders = patterns_given && folders.iter().any(|folder| has_build_file(folder, classifier));
        Ok(if has_folders { Self::Folders } else { Self::Workspace })
    }
}

/// The packages by name. `known` are those of the last look: a folder of the workspace's repository stays
/// a package when its build file goes.
pub(super) fn find(
    workspace: &Path,
    patterns: &[Pattern],
    layout: Layout,
    classifier: &Classifier,
    known: &BTreeMap<String, PackageFolder>,
) -> Result<BTreeMap<String, PackageFolder>, GitError> {
    let mut found = BTreeMap::new();
    if layout == Layout::Workspace {
        add(&mut found, workspace, PackageFolder::whole(workspace.to_owned()))?;
    }
    if layout == Layout::Folders {
        found.extend(
            known.iter().filter(|(_, folder)| !folder.prefix.is_empty()).map(|(n, p)| (n.clone(), p.clone())),
        );
    }
    for folder in find::folders(workspace, patterns)? {
        if find::is_repository(&folder) {
            add(&mut found, workspace, PackageFolder::whole(folder))?;
        } else if layout == Layout::Folders && has_build_file(&folder, classifier) {
            let Ok(relative) = folder.strip_prefix(workspace) else { continue };
            let mut prefix = relative.as_os_str().as_bytes().to_vec();
            if !prefix.is_empty() {
                prefix.push(b'/');
            }
            add(&mut found, workspace, PackageFolder { root: folder, repo: workspace.to_owned(), prefix })?;
        }
    }
    Ok(found)
}

fn add(
    found: &mut BTreeMap<String, PackageFolder>,
    workspace: &Path,
    folder: PackageFolder,
) -> Result<(), GitError> {
    let name = match folder.root.file_name() {
        Some(base) if folder.root != workspace => RepoPath::from_bytes(base.as_bytes()).as_str().to_owned(),
        _ => ".".to_owned(),
    };
    match found.get(&name) {
        Some(other) if other.root != folder.root => Err(GitError::refused(
            format!(
                "Two packages are called {name}: {} and {}.",
                other.root.display(),
                folder.root.display()
            ),
            "Rename one of the folders, or narrow packages: in .ralph/config.yaml.",
        )),
        _ => {
            found.insert(name, folder);
            Ok(())
        }
    }
}

fn has_build_file(folder: &Path, classifier: &Classifier) -> bool {
    fs_err::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_file())
                && classifier.kind_of(entry.file_name().as_bytes()) == Kind::Build
        })
    })
}
