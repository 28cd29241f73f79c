//! Task files and packages of a folder that is not a workspace yet. Starts nothing, follows no links.

use super::packages::{Package, is_own};
use crate::git::is_repository;
use crate::task::{Dialect, Grammar, Stage, TaskFile, dialect};
use serde::Serialize;
use std::io::Read as _;
use std::path::Path;

/// Where tools put task files; `*` is any folder.
const SPECS: [&str; 8] =
    [".", "spec", "docs", ".ralph", ".kiro/specs/*", "specs/*", "openspec/changes/*", "kitty-specs/*"];
/// Larger files are ignored.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of folders read, and depth of the search for repositories.
const MAX_FOLDERS: usize = 2_000;
const DEPTH: usize = 3;

/// A task file.
#[derive(Debug, Serialize)]
pub(crate) struct Spec {
    /// Its folder, relative to the workspace.
    pub(crate) folder: String,
    /// The tool that files like this come from, and why it seems so.
    pub(crate) dialect: Dialect,
    pub(crate) reasons: Vec<String>,
    pub(crate) boxes: usize,
    /// Ticked boxes.
    pub(crate) done: usize,
    /// Some task has stages of its own (TEST-FIRST, PITEST …).
    pub(crate) has_stages: bool,
}

/// The task file of a folder, if it has one.
pub(crate) fn spec(root: &Path, folder: &str, grammar: &Grammar) -> Option<Spec> {
    let shown = if folder == "." { "tasks.md".to_owned() } else { format!("{folder}/tasks.md") };
    let path = root.join(&shown);
    fs_err::symlink_metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() <= MAX_BYTES)?;
    let mut bytes = Vec::new();
    fs_err::File::open(&path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let file = TaskFile::parse(bytes, grammar);
    let found = dialect(&file, &shown);
    let rows = file.rows();
    Some(Spec {
        folder: folder.to_owned(),
        dialect: found.dialect,
        reasons: found.reasons,
        boxes: rows.len(),
        done: rows.iter().filter(|row| row.mark.is_done()).count(),
        has_stages: rows.iter().any(|row| row.key.stage != Stage::Implementation),
    })
}

/// Looks into a folder.
pub(crate) struct Look<'a> {
    root: &'a Path,
    /// Folders that may still be read.
    left: usize,
}

impl<'a> Look<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, left: MAX_FOLDERS }
    }

    /// There are more folders than were read.
    pub(crate) fn is_cut(&self) -> bool {
        self.left == 0
    }

    /// The task files.
    pub(crate) fn specs(&mut self, grammar: &Grammar) -> Vec<Spec> {
        let mut folders = Vec::new();
        for pattern in SPECS {
            match pattern.strip_suffix("/*") {
                None => folders.push(pattern.to_owned()),
                Some(parent) => {
                    folders.extend(self.folders(parent).into_iter().map(|name| format!("{parent}/{name}")));
                }
            }
        }
        folders.iter().filter_map(|folder| spec(self.root, folder, grammar)).collect()
    }

    /// The git repositories: as `packages: ["src/*"]` is read, a workspace that is a repository without any in
    /// `src` is the only package.
    pub(crate) fn packages(&mut self) -> Vec<Package> {
        let mut folders = Vec::new();
        self.repositories("", 0, &mut folders);
        let is_in_src = |folder: &String| folder.strip_prefix("src/").is_some_and(|rest| !rest.contains('/'));
        if is_repository(self.root) && !folders.iter().any(is_in_src) {
            folders = vec![".".to_owned()];
        }
        let root =
            |folder: &String| if folder == "." { self.root.to_owned() } else { self.root.join(folder) };
        folders.into_iter().map(|folder| Package::read(folder.clone(), root(&folder))).collect()
    }

    fn repositories(&mut self, folder: &str, depth: usize, found: &mut Vec<String>) {
        for name in self.folders(folder).into_iter().filter(|name| is_own(name)) {
            let inner = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if is_repository(&self.root.join(&inner)) {
                found.push(inner);
            } else if depth + 1 < DEPTH {
                self.repositories(&inner, depth + 1, found);
            }
        }
    }

    /// The names of the folders in a folder, sorted; none if too many were read already.
    fn folders(&mut self, folder: &str) -> Vec<String> {
        if self.left == 0 {
            return Vec::new();
        }
        self.left -= 1;
        let Ok(entries) = fs_err::read_dir(self.root.join(folder)) else { return Vec::new() };
        let is_folder = |entry: &fs_err::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let names =
            entries.flatten().filter(is_folder).filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| !name.contains(char::is_control)).take(MAX_FOLDERS).collect();
        names.sort();
        names
    }
}
