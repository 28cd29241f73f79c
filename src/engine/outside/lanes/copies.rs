//! Files of main's workspace that a lane gets as copies: those next to the packages, and those of `lanes.copy`.
//!
//! Promises: no copy leaves the lane's folder, and no link of a copy leads into main's workspace.

use super::Outside;
use crate::engine::Fault;
use crate::engine::outside::patterns::compile_setting;
use crate::engine::outside::scripts::plain_path;
use crate::source::is_output;
use crate::sys::disk::remove;
use crate::sys::walk::{DirEntry, walk};
use globset::GlobSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Entries and bytes of `lanes.copy`: a folder of installed packages has so many.
const MAX_ENTRIES: usize = 200_000;
const MAX_BYTES: u64 = 2 << 30;
const MAX_DEPTH: usize = 64;

/// The patterns of `lanes.copy`, for the search.
struct CopyPatterns {
    /// Files, and folders with all below them.
    wanted: GlobSet,
    /// The ways to them.
    ways: Vec<CopyWay>,
}

/// The folders on the way to what one pattern names.
struct CopyWay {
    /// By their number of names, from 1.
    leading: Vec<GlobSet>,
    /// True if all folders below the last one may hold it.
    is_deep: bool,
}

impl CopyPatterns {
    fn compile(patterns: &[String]) -> Result<Self, Fault> {
        let mut wanted = Vec::new();
        let mut ways = Vec::new();
        for pattern in patterns {
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            // As in all patterns of the settings, a name alone is one in any folder.
            let anywhere = if pattern.contains('/') { "" } else { "**/" };
            let pattern = format!("{anywhere}{pattern}");
            wanted.extend([pattern.clone(), format!("{pattern}/**")]);
            let names: Vec<&str> = pattern.split('/').collect();
            // `a/**/b` and `{a/b,c}` have no fixed number of names.
            let fixed = names
                .iter()
                .take_while(|name| !name.contains("**") && !name.contains('{'))
                .count();
            let leading = (1..=fixed.min(names.len() - 1)).map(|depth| {
                let start = names.iter().take(depth).copied().collect::<Vec<_>>();
                compile_setting("lanes.copy", &[start.join("/")])
            });
            ways.push(CopyWay {
                leading: leading.collect::<Result<_, _>>()?,
                is_deep: fixed < names.len(),
            });
        }
        Ok(Self {
            wanted: compile_setting("lanes.copy", &wanted)?,
            ways,
        })
    }

    /// True for a folder that is copied, or that may hold something to copy.
    fn may_hold(&self, path: &Path) -> bool {
        let depth = path.components().count();
        let is_output = is_output(path.as_os_str().as_bytes());
        let mut ways = self.ways.iter();
        self.wanted.is_match(path) || ways.any(|way| way.leads_through(path, depth, is_output))
    }
}

impl CopyWay {
    fn leads_through(&self, path: &Path, depth: usize, is_output: bool) -> bool {
        if depth <= self.leading.len() {
            return self
                .leading
                .get(depth - 1)
                .is_some_and(|globs| globs.is_match(path));
        }
        let start: PathBuf = path.components().take(self.leading.len()).collect();
        let starts_so = self
            .leading
            .last()
            .is_none_or(|globs| globs.is_match(&start));
        self.is_deep && starts_so && !is_output
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
    let absolute = plain_path(&folder.join(&target));
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
        let patterns = ["src/*/.env", "lib/jars/", "conf/**/*.key", "./a/lib/x"].map(str::to_owned);
        let patterns = CopyPatterns::compile(&patterns).unwrap();
        for (path, is_entered) in [
            ("src", true),
            ("src/app", true),
            ("src/app/main", false),
            ("lib", true),
            ("lib/jars/b", true),
            ("lib/other", false),
            ("node_modules", false),
            ("conf", true),
            ("conf/a/b", true),
            ("conf/a/node_modules", false),
            ("a/lib", true),
            ("a/other", false),
        ] {
            assert_eq!(patterns.may_hold(Path::new(path)), is_entered, "{path}");
        }
        for (path, is_wanted) in [
            ("src/app/.env", true),
            ("src/.env", false),
            ("lib/jars/b.jar", true),
            ("lib/b.jar", false),
            ("conf/x.key", true),
            ("conf/a/x.key", true),
            ("conf/x.txt", false),
        ] {
            assert_eq!(patterns.wanted.is_match(path), is_wanted, "{path}");
        }
        let patterns = CopyPatterns::compile(&["src/*/.env".to_owned()]).unwrap();
        let entered = ["src", "src/app", "src/app/main", "other"];
        let entered = entered.map(|path| patterns.may_hold(Path::new(path)));
        assert_eq!(entered, [true, true, false, false]);
        let patterns = CopyPatterns::compile(&["node_modules".to_owned()]).unwrap();
        for path in [
            "node_modules",
            "a/node_modules",
            "a/node_modules/b/c",
            "a/b",
        ] {
            assert!(patterns.may_hold(Path::new(path)), "{path}");
        }
        assert!(!patterns.may_hold(Path::new("a/target")));
        assert!(patterns.wanted.is_match("a/node_modules/b/c.js"));
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
