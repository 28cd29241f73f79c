//! Finds the folders that are packages: the globs of `packages:` against the disk.
//!
//! Promises: real folders only (a symbolic link may lead out of the workspace), each once, in order; hidden folders only
//! if a pattern names them; a bounded number of folders is read.

use super::error::GitError;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that one call reads at most.
const MAX_FOLDERS: usize = 20_000;

/// One glob of `packages:`, part by part.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Glob(GlobMatcher, bool),
    Deep,
}

impl Pattern {
    /// Refuses what is no glob, is absolute or leads upward.
    pub(super) fn new(pattern: &str) -> Result<Self, GitError> {
        let refuse = |why: &str| {
            GitError::refused(
                format!("The pattern `{pattern}` of packages: {why}."),
                "Write folders relative to the workspace, as in `src/*`.",
            )
        };
        if pattern.starts_with('/') {
            return Err(refuse("is absolute"));
        }
        let mut parts = Vec::new();
        for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
            parts.push(match part {
                ".." => return Err(refuse("leads out of the workspace")),
                "**" => Part::Deep,
                _ if part.contains(['*', '?', '[', '{']) => {
                    let glob = GlobBuilder::new(part).build().map_err(|_| refuse("is no glob"))?;
                    Part::Glob(glob.compile_matcher(), part.starts_with('.'))
                }
                _ => Part::Literal(part.to_owned()),
            });
        }
        Ok(Self(parts))
    }
}

/// The folders below `workspace` that match one of the patterns.
pub(super) fn folders(workspace: &Path, patterns: &[Pattern]) -> Result<BTreeSet<PathBuf>, GitError> {
    let mut found = BTreeSet::new();
    let mut read = 0;
    for Pattern(parts) in patterns {
        let mut todo = vec![(workspace.to_owned(), 0)];
        while let Some((folder, at)) = todo.pop() {
            let Some(part) = parts.get(at) else {
                found.insert(folder);
                continue;
            };
            if let Part::Literal(name) = part {
                let next = folder.join(name);
                if is_folder(&next) {
                    todo.push((next, at + 1));
                }
                continue;
            }
            read += 1;
            if read > MAX_FOLDERS {
                return Err(GitError::refused(
                    format!("The patterns of packages: match within more than {MAX_FOLDERS} folders."),
                    "Write narrower patterns, as in `src/*`.",
                ));
            }
            if matches!(part, Part::Deep) {
                todo.push((folder.clone(), at + 1));
            }
            for name in subfolders(&folder)? {
                let next = folder.join(&name);
                match part {
                    Part::Deep if !hidden(&name) && name != *"node_modules" && !is_repository(&folder) => {
                        todo.push((next, at));
                    }
                    Part::Glob(glob, dotted) if (*dotted || !hidden(&name)) && glob.is_match(&name) => {
                        todo.push((next, at + 1));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(found)
}

/// True when the folder holds a `.git`, whatever it is: a folder, or the file of a linked worktree or of
/// a submodule.
pub fn is_repository(folder: &Path) -> bool {
    fs_err::symlink_metadata(folder.join(".git")).is_ok()
}

fn hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn subfolders(folder: &Path) -> Result<Vec<std::ffi::OsString>, GitError> {
    let failed = |error: &io::Error| GitError::io("list the folders of packages", error);
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(&error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(entry.file_name());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(workspace: &Path, patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<_> = patterns.iter().map(|p| Pattern::new(p).unwrap()).collect();
        let relative = |path: PathBuf| path.strip_prefix(workspace).unwrap().to_string_lossy().into_owned();
        folders(workspace, &patterns).unwrap().into_iter().map(relative).collect()
    }

    #[test]
    fn globs_match_folders_part_by_part_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/a", "src/b/inner", "src/.hidden", "lib/x/core", "lib/y/core", "outside"] {
            fs_err::create_dir_all(dir.path().join(path)).unwrap();
        }
        fs_err::File::create(dir.path().join("src/file")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("src/link")).unwrap();
        assert_eq!(found(dir.path(), &["src/*"]), ["src/a", "src/b"]);
        assert_eq!(found(dir.path(), &["src/*", "./src/a/", "absent/*"]), ["src/a", "src/b"]);
        assert_eq!(found(dir.path(), &["lib/*/core"]), ["lib/x/core", "lib/y/core"]);
        assert_eq!(found(dir.path(), &["**/core"]), ["lib/x/core", "lib/y/core"]);
        assert_eq!(found(dir.path(), &["."]), [""]);
    }

    #[test]
    fn a_pattern_that_leads_out_is_refused() {
        for pattern in ["/etc/*", "../*", "src/../..", "src/[a"] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }
}
