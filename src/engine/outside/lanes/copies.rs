//! Files of main's workspace that a lane gets as copies: those next to the packages, and those of `lanes.copy`.
//!
//! Promises: no copy leaves the lane's folder, and no link of a copy leads into main's workspace.

use super::Outside;
use crate::engine::Fault;
use crate::engine::outside::patterns::compile_setting;
use crate::source::is_output;
use crate::sys::disk::remove;
use crate::sys::walk::{DirEntry, walk};
use globset::GlobSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// Entries and bytes of `lanes.copy`: a folder of installed packages has so many.
const MAX_ENTRIES: usize = 200_000;
const MAX_BYTES: u64 = 2 << 30;
const MAX_DEPTH: usize = 64;

/// The patterns of `lanes.copy`, for the search.
struct CopyPatterns {
    /// Files, and folders with all below them.
    wanted: GlobSet,
    /// Folders on the way to them, by their number of names.
    leading: Vec<GlobSet>,
    /// The least number of names from which a pattern may match at any depth.
    any_depth: Option<usize>,
}

impl CopyPatterns {
    fn compile(patterns: &[String]) -> Result<Self, Fault> {
        let mut leading: Vec<Vec<String>> = Vec::new();
        let mut any_depth = None;
        let mut wanted = patterns.to_vec();
        for pattern in patterns {
            wanted.push(format!("{}/**", pattern.trim_end_matches('/')));
            let names: Vec<&str> = pattern.split('/').collect();
            // `a/**/b` and `{a/b,c}` have no fixed number of names.
            let fixed = names
                .iter()
                .take_while(|name| !name.contains("**") && !name.contains('{'))
                .count();
            if fixed < names.len() {
                any_depth = Some(any_depth.unwrap_or(fixed).min(fixed));
            }
            for depth in 1..=fixed.min(names.len() - 1) {
                if leading.len() < depth {
                    leading.push(Vec::new());
                }
                if let Some(row) = leading.get_mut(depth - 1) {
                    row.push(
                        names
                            .iter()
                            .take(depth)
                            .copied()
                            .collect::<Vec<_>>()
                            .join("/"),
                    );
                }
            }
        }
        let compile = |patterns: &[String]| compile_setting("lanes.copy", patterns);
        Ok(Self {
            wanted: compile(&wanted)?,
            leading: leading
                .iter()
                .map(|row| compile(row))
                .collect::<Result<_, _>>()?,
            any_depth,
        })
    }

    /// True for a folder that is copied, or that may hold something to copy.
    fn may_hold(&self, path: &Path) -> bool {
        let depth = path.components().count();
        let is_leading = |at: usize, path: &Path| {
            self.leading
                .get(at)
                .is_some_and(|globs| globs.is_match(path))
        };
        let is_open = self.any_depth.is_some_and(|fixed| {
            let start: PathBuf = path.components().take(fixed).collect();
            depth > fixed
                && (fixed == 0 || is_leading(fixed - 1, &start))
                && !is_output(path.as_os_str().as_bytes())
        });
        is_open || is_leading(depth.saturating_sub(1), path) || self.wanted.is_match(path)
    }
}

impl Outside {
    /// Copies the files of `lanes.copy` to `new`, which becomes the folder `lane`. A file that is there already stays.
    ///
    /// Errors: more than 200,000 entries or 2 GiB, a link in the clone in the way of a copy, a full disk.
    pub(super) fn copy_named(&self, new: &Path, lane: &Path) -> Result<(), Fault> {
        let patterns = &self.parts.settings.lanes.copy;
        if patterns.is_empty() {
            return Ok(());
        }
        let patterns = CopyPatterns::compile(patterns)?;
        let workspace = &self.parts.places.workspace;
        let state = self.parts.places.state_folder();
        let inside = |path: &Path| path.strip_prefix(workspace).map(Path::to_owned).ok();
        let entries = walk(workspace, MAX_DEPTH, MAX_ENTRIES, |entry| {
            entry.path() != state
                && !is_git(entry)
                && inside(entry.path()).is_some_and(|path| patterns.may_hold(&path))
        });
        let mut copied = 0;
        for entry in entries {
            let entry = entry.map_err(|error| too_much(&error.to_string()))?;
            let Some(path) = inside(entry.path()) else {
                continue;
            };
            if is_git(&entry) || !patterns.wanted.is_match(&path) {
                continue;
            }
            let to = new.join(&path);
            make_folders(new, path.parent())?;
            if to.symlink_metadata().is_err() {
                copied += copy(&entry, &to, workspace, lane)?;
            }
            if copied > MAX_BYTES {
                return Err(too_much(&format!("It has more than {MAX_BYTES} bytes.")));
            }
        }
        Ok(())
    }
}

fn too_much(why: &str) -> Fault {
    Fault::setup_fault(
        format!("lanes.copy: {why}"),
        "name fewer files in lanes.copy; lanes.setup can make the others",
    )
}

fn is_git(entry: &DirEntry) -> bool {
    entry.file_name().eq_ignore_ascii_case(".git")
}

/// Makes the folders down to `path` below `root`. A link in their place could lead out of the lane.
fn make_folders(root: &Path, path: Option<&Path>) -> Result<(), Fault> {
    let mut folder = root.to_owned();
    for name in path.into_iter().flat_map(Path::components) {
        folder.push(name);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let shown = folder.strip_prefix(root).unwrap_or(&folder).display();
                return Err(Fault::setup_fault(
                    format!("lanes.copy: {shown} is no folder in the commits of the lane."),
                    "commit the folder, or remove the pattern",
                ));
            }
            Err(_) => fs_err::create_dir(&folder)?,
        }
    }
    Ok(())
}

/// Copies a file or a link, and returns the size of the file in bytes. A link into main's workspace leads to the same
/// place in the lane.
pub(super) fn copy(entry: &DirEntry, to: &Path, workspace: &Path, lane: &Path) -> io::Result<u64> {
    let kind = entry.file_type();
    if kind.is_dir() {
        fs_err::create_dir_all(to)?;
        return Ok(0);
    }
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    if kind.is_symlink() {
        remove(to)?;
        let target = fs_err::read_link(entry.path())?;
        std::os::unix::fs::symlink(link_target(entry.path(), target, workspace, lane), to)?;
        return Ok(0);
    }
    if !kind.is_file() {
        return Ok(0);
    }
    fs_err::copy(entry.path(), to)
}

/// The target of a copied link.
fn link_target(link: &Path, target: PathBuf, workspace: &Path, lane: &Path) -> PathBuf {
    let folder = link.parent().unwrap_or(workspace);
    let mut absolute = PathBuf::new();
    for part in folder.join(&target).components() {
        match part {
            Component::ParentDir => drop(absolute.pop()),
            Component::CurDir => {}
            _ => absolute.push(part),
        }
    }
    match absolute.strip_prefix(workspace) {
        // A relative link inside leads to the lane by itself.
        Ok(_) if target.is_relative() => target,
        Ok(inside) => lane.join(inside),
        Err(_) => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::{CopyPatterns, link_target};
    use std::path::Path;

    #[test]
    fn only_folders_that_may_hold_a_copy_are_entered() {
        let patterns = [".env", "src/*/.env", "lib", "conf/**/*.key"].map(str::to_owned);
        let patterns = CopyPatterns::compile(&patterns).unwrap();
        for (path, is_entered) in [
            ("src", true),
            ("src/app", true),
            ("src/app/main", false),
            ("lib", true),
            ("lib/a/b", true),
            ("node_modules", false),
            ("conf", true),
            ("conf/a/b", true),
            ("conf/a/node_modules", false),
            ("other", false),
        ] {
            assert_eq!(patterns.may_hold(Path::new(path)), is_entered, "{path}");
        }
        for (path, is_wanted) in [
            (".env", true),
            ("src/app/.env", true),
            ("src/.env", false),
            ("lib/a/b.jar", true),
            ("conf/x.key", true),
            ("conf/a/x.key", true),
            ("conf/x.txt", false),
        ] {
            assert_eq!(patterns.wanted.is_match(path), is_wanted, "{path}");
        }
        let patterns = CopyPatterns::compile(&["**/.env".to_owned()]).unwrap();
        assert!(patterns.may_hold(Path::new("a/b")) && !patterns.may_hold(Path::new("a/target")));
    }

    #[test]
    fn no_copied_link_leads_into_main() {
        let target = |link: &str, target: &str| {
            let [link, workspace, lane] = [link, "/ws", "/lane"].map(Path::new);
            link_target(link, target.into(), workspace, lane)
        };
        for (link, is, becomes) in [
            ("/ws/a/b", "../c", "../c"),
            ("/ws/a/b", "/ws/c/d", "/lane/c/d"),
            ("/ws/a/b", "/ws", "/lane"),
            ("/ws/b", "x/../../ws/c", "x/../../ws/c"),
            ("/ws/a/b", "/usr/bin/python", "/usr/bin/python"),
            ("/ws/a/b", "../../shared/x", "/shared/x"),
            ("/ws/a/b", "/ws/../ws/c", "/lane/c"),
        ] {
            assert_eq!(target(link, is), Path::new(becomes), "{link} {is}");
        }
    }
}
