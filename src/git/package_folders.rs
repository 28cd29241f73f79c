//! Finds the current packages and their directories by the globs of `packages:`.
//!
//! The layouts are those of docs/design.md "Words". Two directories with one base name are an error. Promises: real
//! directories only (a symbolic link may lead out of the workspace), each once, in order. Hidden directories only if
//! a pattern names them. A bounded number of directories is read.

use super::error::{DescribeFailure as _, GitError};
use crate::source::{Classifier, Kind, RepoPath};
use fs_err::DirEntry;
use globset::{GlobBuilder, GlobMatcher, escape};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The location of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageFolder {
    pub(super) root: PathBuf,
    /// The directory of its repository: the same, or the workspace.
    pub(super) repo: PathBuf,
    /// The package's directory in its repository: empty, or with a `/` at its end.
    pub(super) prefix: Vec<u8>,
}

impl PackageFolder {
    pub(super) fn whole_folder(root: PathBuf) -> Self {
        Self {
            repo: root.clone(),
            root,
            prefix: Vec::new(),
        }
    }

    /// Returns the path in the package of a path in the repository; `None` outside the package.
    pub(super) fn path_inside<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.prefix.as_slice())
            .filter(|rest| !rest.is_empty())
    }

    /// Returns the path in the repository of a path in the package.
    pub(super) fn in_repo(&self, path: &[u8]) -> Vec<u8> {
        [&self.prefix, path].concat()
    }
}

/// The layout of the workspace, determined once and kept for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each matching directory with a repository of its own is a package.
    Separate,
    /// The workspace's repository is the package `.`. Matching repositories that appear are further packages.
    Workspace,
    /// Matching directories of the workspace's repository that hold a build file are packages.
    Folders,
}

impl Layout {
    /// Determines the layout from the disk.
    pub(super) fn find_layout(
        workspace: &Path,
        patterns: &[PackageGlob],
        patterns_given: bool,
        classifier: &Classifier,
    ) -> Result<Self, GitError> {
        let folders = matching_folders(workspace, patterns)?;
        if folders.iter().any(|folder| is_repository(folder)) {
            return Ok(Self::Separate);
        }
        if !is_repository(workspace) {
            return Err(GitError::not_found(
                format!(
                    "No folder that packages: names in {} holds a git repository.",
                    workspace.display()
                ),
                "Set packages: in .ralph/config.yaml, run `git init` in a package, or give --root.",
            ));
        }
        let has_folders = patterns_given
            && folders
                .iter()
                .any(|folder| has_build_file(folder, classifier));
        Ok(if has_folders {
            Self::Folders
        } else {
            Self::Workspace
        })
    }
}

/// Returns the packages by name.
///
/// `known` are those of the last scan: a directory of the workspace's repository stays a package when its build file
/// is removed.
pub(super) fn find(
    workspace: &Path,
    patterns: &[PackageGlob],
    layout: Layout,
    classifier: &Classifier,
    known: &BTreeMap<String, PackageFolder>,
) -> Result<BTreeMap<String, PackageFolder>, GitError> {
    let mut found = known.clone();
    found.retain(|_, folder| layout == Layout::Folders && !folder.prefix.is_empty());
    if layout == Layout::Workspace {
        add_package(
            &mut found,
            workspace,
            PackageFolder::whole_folder(workspace.to_owned()),
        )?;
    }
    for folder in matching_folders(workspace, patterns)? {
        if is_repository(&folder) {
            add_package(&mut found, workspace, PackageFolder::whole_folder(folder))?;
        } else if layout == Layout::Folders && has_build_file(&folder, classifier) {
            let Ok(relative) = folder.strip_prefix(workspace) else {
                continue;
            };
            let mut prefix = relative.as_os_str().as_bytes().to_vec();
            if !prefix.is_empty() {
                prefix.push(b'/');
            }
            add_package(
                &mut found,
                workspace,
                PackageFolder {
                    root: folder,
                    repo: workspace.to_owned(),
                    prefix,
                },
            )?;
        }
    }
    Ok(found)
}

fn add_package(
    found: &mut BTreeMap<String, PackageFolder>,
    workspace: &Path,
    folder: PackageFolder,
) -> Result<(), GitError> {
    let name = match folder.root.file_name() {
        Some(base) if folder.root != workspace => {
            RepoPath::from_bytes(base.as_bytes()).as_str().to_owned()
        }
        _ => ".".to_owned(),
    };
    match found.get(&name) {
        Some(other) if other.root != folder.root => Err(GitError::refused_error(
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
    build_files(folder, classifier).is_ok_and(|files| !files.is_empty())
}

/// Returns the build files directly in a directory.
pub(super) fn build_files(folder: &Path, classifier: &Classifier) -> io::Result<Vec<PathBuf>> {
    Ok(fs_err::read_dir(folder)?
        .flatten()
        .filter(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_file())
                && classifier.kind_of(entry.file_name().as_bytes()) == Kind::Build
        })
        .map(|entry| entry.path())
        .collect())
}

/// Maximum number of directories read by one call.
const MAX_FOLDERS: usize = 20_000;

/// One glob of `packages:`, part by part.
#[derive(Clone, Debug)]
pub(super) struct PackageGlob(Vec<GlobPart>);

#[derive(Clone, Debug)]
enum GlobPart {
    /// Names that match; hidden ones only if the part begins with a dot.
    Glob(GlobMatcher, bool),
    Deep,
}

impl PackageGlob {
    /// Refuses a pattern that is not a glob, is absolute or leads upward.
    pub(super) fn new(pattern: &str) -> Result<Self, GitError> {
        if pattern.starts_with('/') {
            return Err(refuse_pattern(pattern, "is absolute"));
        }
        let mut parts = Vec::new();
        for part in pattern
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            parts.push(match part {
                ".." => return Err(refuse_pattern(pattern, "leads out of the workspace")),
                "**" => GlobPart::Deep,
                _ => {
                    let is_glob = part.contains(['*', '?', '[', '{']);
                    let glob = if is_glob {
                        part.to_owned()
                    } else {
                        escape(part)
                    };
                    let glob = GlobBuilder::new(&glob).backslash_escape(is_glob).build();
                    let glob = glob.map_err(|_| refuse_pattern(pattern, "is no glob"))?;
                    GlobPart::Glob(glob.compile_matcher(), part.starts_with('.'))
                }
            });
        }
        Ok(Self(parts))
    }
}

fn refuse_pattern(pattern: &str, why: &str) -> GitError {
    GitError::refused_error(
        format!("The pattern `{pattern}` of packages: {why}."),
        "Write folders relative to the workspace, as in `src/*`.",
    )
}

/// Returns the directories below `workspace` that match one of the patterns.
pub(super) fn matching_folders(
    workspace: &Path,
    patterns: &[PackageGlob],
) -> Result<BTreeSet<PathBuf>, GitError> {
    let mut found = BTreeSet::new();
    let mut read = 0;
    for PackageGlob(parts) in patterns {
        let mut todo = vec![(workspace.to_owned(), 0)];
        while let Some((folder, at)) = todo.pop() {
            let Some(part) = parts.get(at) else {
                found.insert(folder);
                continue;
            };
            read += 1;
            if read > MAX_FOLDERS {
                return Err(GitError::refused_error(
                    format!(
                        "The patterns of packages: match within more than {MAX_FOLDERS} folders."
                    ),
                    "Write narrower patterns, as in `src/*`.",
                ));
            }
            if matches!(part, GlobPart::Deep) {
                todo.push((folder.clone(), at + 1));
            }
            for name in list_subfolders(&folder)? {
                let next = folder.join(&name);
                match part {
                    GlobPart::Deep
                        if !is_hidden(&name)
                            && name != *"node_modules"
                            && !is_repository(&folder) =>
                    {
                        todo.push((next, at));
                    }
                    GlobPart::Glob(glob, dotted)
                        if (*dotted || !is_hidden(&name)) && glob.is_match(&name) =>
                    {
                        todo.push((next, at + 1));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(found)
}

/// True if the directory holds a `.git`: a directory, or the file of a linked worktree or of a submodule.
pub fn is_repository(folder: &Path) -> bool {
    fs_err::symlink_metadata(folder.join(".git")).is_ok()
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn list_subfolders(folder: &Path) -> Result<Vec<OsString>, GitError> {
    let entries = match fs_err::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let mut entries = entries.with_action("list the folders of packages")?;
    entries.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(entries.iter().map(DirEntry::file_name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(workspace: &Path, patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<_> = patterns
            .iter()
            .map(|p| PackageGlob::new(p).unwrap())
            .collect();
        matching_folders(workspace, &patterns)
            .unwrap()
            .into_iter()
            .map(|path| {
                path.strip_prefix(workspace)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    }

    #[test]
    fn globs_match_folders_part_by_part_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        for path in [
            "src/a",
            "src/b/inner",
            "src/.hidden",
            "lib/x/core",
            "lib/y/core",
            "outside",
        ] {
            fs_err::create_dir_all(dir.path().join(path)).unwrap();
        }
        fs_err::File::create(dir.path().join("src/file")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("src/link"))
            .unwrap();
        assert_eq!(found(dir.path(), &["src/*"]), ["src/a", "src/b"]);
        assert_eq!(
            found(dir.path(), &["src/*", "./src/a/", "absent/*"]),
            ["src/a", "src/b"]
        );
        assert_eq!(
            found(dir.path(), &["lib/*/core"]),
            ["lib/x/core", "lib/y/core"]
        );
        assert_eq!(
            found(dir.path(), &["**/core"]),
            ["lib/x/core", "lib/y/core"]
        );
        assert_eq!(found(dir.path(), &["."]), [""]);
    }

    #[test]
    fn a_pattern_that_leads_out_is_refused() {
        for pattern in ["/etc/*", "../*", "src/../..", "src/[a"] {
            assert!(PackageGlob::new(pattern).is_err(), "{pattern}");
        }
    }
}
