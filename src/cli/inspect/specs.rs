//! Task files and packages of a folder that is not a workspace yet. Starts nothing, follows no links.

use super::Package;
use super::packages::is_own;
use crate::git::is_repository;
use crate::sys::disk::read_beginning;
use crate::sys::walk::{DirEntry, walk};
use crate::task::{Grammar, Stage, TaskFile};
use serde::Serialize;
use std::path::Path;

/// Usual folders of task files; `*` is any folder.
const SPECS: [&str; 8] = [
    ".",
    "spec",
    "docs",
    ".ralph",
    ".kiro/specs/*",
    "specs/*",
    "openspec/changes/*",
    "kitty-specs/*",
];
/// Larger files are ignored.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of files and folders read, and depth of the search for repositories.
const MAX_ENTRIES: usize = 20_000;
const DEPTH: usize = 3;

/// A task file.
#[derive(Debug, Serialize)]
pub(crate) struct Spec {
    /// Its folder, relative to the workspace.
    pub(crate) folder: String,
    pub(crate) boxes: usize,
    /// Ticked boxes.
    pub(crate) done: usize,
    /// Some task has stages of its own (TEST-FIRST, PITEST …).
    pub(crate) has_stages: bool,
    /// Headings whose boxes look like a checklist.
    #[serde(skip)]
    pub(crate) checklists: Vec<String>,
}

/// The task file of a folder, if it has one.
pub(crate) fn task_file(root: &Path, folder: &str, grammar: &Grammar) -> Option<TaskFile> {
    let bytes = read_beginning(&root.join(folder).join("tasks.md"), MAX_BYTES + 1)
        .ok()
        .flatten()?;
    Some(TaskFile::parse(
        Some(bytes).filter(|bytes| bytes.len() as u64 <= MAX_BYTES)?,
        grammar,
    ))
}

/// Returns the summary of a spec.
pub(crate) fn read_spec(root: &Path, folder: &str, grammar: &Grammar) -> Option<Spec> {
    let file = task_file(root, folder, grammar)?;
    let rows = file.box_rows();
    Some(Spec {
        folder: folder.to_owned(),
        boxes: rows.len(),
        done: rows.iter().filter(|row| row.mark.is_done()).count(),
        checklists: file.checklist_headings().into_keys().collect(),
        has_stages: rows
            .iter()
            .any(|row| row.key.stage != Stage::Implementation),
    })
}

/// The task files of a folder.
pub(crate) fn find_specs(root: &Path, grammar: &Grammar) -> Vec<Spec> {
    let mut folders = Vec::new();
    for pattern in SPECS {
        let Some(parent) = pattern.strip_suffix("/*") else {
            folders.push(pattern.to_owned());
            continue;
        };
        let parent_folder = root.join(parent);
        let inside = walk(&parent_folder, 1, MAX_ENTRIES, |_| true).flatten();
        let names = inside.filter_map(|entry| entry.file_name().to_str().map(str::to_owned));
        let plain = names.filter(|name| !name.contains(char::is_control));
        folders.extend(plain.map(|name| format!("{parent}/{name}")));
    }
    folders
        .iter()
        .filter_map(|folder| read_spec(root, folder, grammar))
        .collect()
}

/// The git repositories of a folder, and whether there may be more: as `packages: ["src/*"]` is read, a workspace
/// that is a repository without any in `src` is the only package.
pub(crate) fn find_packages(root: &Path) -> (Vec<Package>, bool) {
    let mut folders: Vec<String> = Vec::new();
    let is_cut = walk(root, DEPTH, MAX_ENTRIES, |folder: &DirEntry| {
        let is_package = is_own(folder) && is_repository(folder.path());
        let inside = folder.path().strip_prefix(root).ok().and_then(Path::to_str);
        folders.extend(inside.filter(|_| is_package).map(str::to_owned));
        is_own(folder) && !is_package
    })
    .filter(Result::is_err)
    .count()
        > 0;
    if is_repository(root)
        && !folders.iter().any(|folder| {
            folder
                .strip_prefix("src/")
                .is_some_and(|rest| !rest.contains('/'))
        })
    {
        return (
            vec![Package::read_folder(".".to_owned(), root.to_owned())],
            is_cut,
        );
    }
    (
        folders
            .into_iter()
            .map(|folder: String| Package::read_folder(folder.clone(), root.join(folder)))
            .collect(),
        is_cut,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    #[test]
    fn task_files_and_packages_are_found_where_tools_put_them() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        for (file, text) in [
            (
                ".kiro/specs/login/tasks.md",
                "- [x] 1. One\n- [ ]* 1.1 Two\n",
            ),
            (
                "openspec/changes/add-x/tasks.md",
                "## 1. Work\n- [ ] 1.1 One\n",
            ),
            ("openspec/changes/archive/old/tasks.md", "- [x] 1.1 One\n"),
            ("tasks.md", "- [ ] 1. A\n- [ ] 1.PITEST B\n"),
            ("services/web/.git/HEAD", ""),
            ("services/web/inner/.git/HEAD", ""),
            (".hidden/.git/HEAD", ""),
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::os::unix::fs::symlink(root.join("services/web"), root.join("link")).unwrap();
        let found = find_specs(root, &Grammar::default());
        let found: Vec<_> = found
            .iter()
            .map(|spec| (spec.folder.as_str(), spec.done, spec.boxes, spec.has_stages))
            .collect();
        let login = (".kiro/specs/login", 1, 2, false);
        assert_eq!(
            found,
            [
                (".", 0, 2, true),
                login,
                ("openspec/changes/add-x", 0, 1, false)
            ]
        );
        let names = || {
            find_packages(root)
                .0
                .into_iter()
                .map(|package| package.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(), ["services/web"]);
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "").unwrap();
        assert_eq!(names(), ["."]);
    }
}
