//! What stands in a folder before ralph does: specs, packages, languages, build tools, agents.
//!
//! Owns: where each is looked for, and how far.
//!
//! Promises: starts nothing, changes nothing, follows no link out of the folder; reads a bounded number of
//! folders and files of bounded length, and says so when there was more.
//!
//! Refuses to know: what is chosen.

use crate::agent::detect;
use crate::config::Preset;
use crate::git::is_repository;
use crate::task::{Dialect, Grammar, Stage, TaskFile, dialect};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where task files stand: folders, of which one part may be any folder.
const SPECS: [&str; 8] =
    [".", "spec", "docs", ".ralph", ".kiro/specs/*", "specs/*", "openspec/changes/*", "kitty-specs/*"];
/// A longer task file is no task file.
const LONGEST: u64 = 4 << 20;
/// Folders that one look reads at most.
const MOST: usize = 2_000;
/// So far below the workspace repositories and build files are looked for.
const DEPTH: usize = 3;
/// Folders that hold nothing of the project's own.
const OUTPUTS: [&str; 6] = ["node_modules", "target", "build", "dist", "venv", "__pycache__"];

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// Task files.
    pub(super) specs: Vec<Spec>,
    /// Git repositories and what they are made of.
    pub(super) packages: Vec<Package>,
    /// Agent CLIs on PATH.
    pub(super) agents: Vec<&'static str>,
    /// Folders were left out: there are too many.
    pub(super) cut: bool,
}

/// A task file.
#[derive(Debug, Serialize)]
pub(super) struct Spec {
    /// Its folder, relative to the workspace.
    pub(super) folder: String,
    /// Whose habits it follows.
    pub(super) dialect: Dialect,
    /// Why so.
    pub(super) reasons: Vec<String>,
    /// Boxes, and how many of them are ticked.
    pub(super) boxes: usize,
    /// Ticked ones.
    pub(super) done: usize,
    /// Some task has stages of its own (TEST-FIRST, PITEST …).
    pub(super) has_stages: bool,
}

/// A git repository.
#[derive(Debug, Serialize)]
pub(super) struct Package {
    /// Its folder, relative to the workspace; `.` for the workspace itself.
    pub(super) folder: String,
    /// Languages by their build files.
    pub(super) languages: BTreeSet<&'static str>,
    /// Build tools, the project's own start script where it has one.
    pub(super) tools: BTreeSet<&'static str>,
}

impl Found {
    /// Some package is written in Java, which the mutation gate can judge.
    pub(super) fn has_java(&self) -> bool {
        self.packages.iter().any(|package| package.languages.contains("Java"))
    }

    /// Agents that ralph has a preset for.
    pub(super) fn presets(&self) -> Vec<&'static str> {
        self.agents.iter().copied().filter(|name| Preset::named(name).is_some()).collect()
    }
}

/// Looks around.
pub(super) fn survey(root: &Path, path: &str, grammar: &Grammar) -> Found {
    let mut look = Look { root, left: MOST };
    let mut specs = Vec::new();
    for pattern in SPECS {
        specs
            .extend(look.spec_folders(pattern).into_iter().filter_map(|folder| spec(root, &folder, grammar)));
    }
    let mut repositories = Vec::new();
    look.repositories(Path::new(""), 0, &mut repositories);
    // As `packages: ["src/*"]` is read: else a workspace that is a repository is the one package.
    if is_repository(root) && !repositories.iter().any(|folder| folder.parent() == Some(Path::new("src"))) {
        repositories = vec![PathBuf::new()];
    }
    let packages = repositories.iter().map(|folder| look.package(folder)).collect();
    Found { specs, packages, agents: detect(path), cut: look.left == 0 }
}

/// The task file of a folder; `None` when there is none.
pub(super) fn spec(root: &Path, folder: &str, grammar: &Grammar) -> Option<Spec> {
    let shown = if folder == "." { "tasks.md".to_owned() } else { format!("{folder}/tasks.md") };
    let path = root.join(&shown);
    let meta = fs_err::symlink_metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() <= LONGEST)?;
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    fs_err::File::open(&path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
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

struct Look<'a> {
    root: &'a Path,
    /// Folders that may still be read.
    left: usize,
}

impl Look<'_> {
    /// The names of real folders in a folder, sorted; none when too many were read already.
    fn folders(&mut self, folder: &Path) -> Vec<String> {
        if self.left == 0 {
            return Vec::new();
        }
        self.left -= 1;
        let Ok(entries) = fs_err::read_dir(self.root.join(folder)) else { return Vec::new() };
        let is_folder = |entry: &fs_err::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut names: Vec<String> = entries
            .flatten()
            .filter(is_folder)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.contains(char::is_control))
            .take(MOST)
            .collect();
        names.sort();
        names
    }

    fn spec_folders(&mut self, pattern: &str) -> Vec<String> {
        match pattern.strip_suffix("/*") {
            None => vec![pattern.to_owned()],
            Some(parent) => {
                self.folders(Path::new(parent)).into_iter().map(|name| format!("{parent}/{name}")).collect()
            }
        }
    }

    /// Repositories below a folder, outermost first; hidden folders and outputs are passed by.
    fn repositories(&mut self, below: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        for name in self.folders(below) {
            let folder = below.join(&name);
            if name.starts_with('.') || OUTPUTS.contains(&name.as_str()) {
                continue;
            }
            if is_repository(&self.root.join(&folder)) {
                found.push(folder);
            } else if depth + 1 < DEPTH {
                self.repositories(&folder, depth + 1, found);
            }
        }
    }

    fn package(&mut self, folder: &Path) -> Package {
        let mut package = Package {
            folder: if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() },
            languages: BTreeSet::new(),
            tools: BTreeSet::new(),
        };
        self.build_files(folder, 0, &mut package);
        package
    }

    fn build_files(&mut self, folder: &Path, depth: usize, package: &mut Package) {
        let at = self.root.join(folder);
        for (file, language, tool) in BUILDS {
            if is_file(&at.join(file)) {
                package.languages.insert(language);
                package.tools.insert(own_script(&at, tool).unwrap_or(tool));
            }
        }
        if is_file(&at.join("tsconfig.json")) {
            package.languages.insert("TypeScript");
        }
        for name in self.folders(folder) {
            let inner = folder.join(&name);
            let other = name.starts_with('.') || OUTPUTS.contains(&name.as_str());
            if depth + 1 < DEPTH && !other && !is_repository(&self.root.join(&inner)) {
                self.build_files(&inner, depth + 1, package);
            }
        }
    }
}

/// A build file, the language and the tool that it speaks for.
const BUILDS: [(&str, &str, &str); 9] = [
    ("pom.xml", "Java", "mvn"),
    ("build.gradle", "Java", "gradle"),
    ("build.gradle.kts", "Java", "gradle"),
    ("pyproject.toml", "Python", "python3"),
    ("setup.py", "Python", "python3"),
    ("requirements.txt", "Python", "python3"),
    ("package.json", "JavaScript", "npm"),
    ("Cargo.toml", "Rust", "cargo"),
    ("go.mod", "Go", "go"),
];

/// The project's own start script for a tool.
fn own_script(folder: &Path, tool: &str) -> Option<&'static str> {
    let script = match tool {
        "mvn" => "mvnw",
        "gradle" => "gradlew",
        _ => return None,
    };
    let may_run = |meta: &std::fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    fs_err::symlink_metadata(folder.join(script)).is_ok_and(|meta| may_run(&meta)).then_some(script)
}

fn is_file(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(files: &[(&str, &str)]) -> (tempfile::TempDir, Found) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        let found = survey(folder.path(), "", &Grammar::default());
        (folder, found)
    }

    #[test]
    fn specs_are_found_where_each_tool_puts_them() {
        let (_folder, found) = at(&[
            (
                ".kiro/specs/login/tasks.md",
                "# Implementation Plan\n\n- [x] 1. One\n  - _Requirements: 1.1_\n- [ ]* 1.1 Two\n",
            ),
            (
                "specs/001-shop/tasks.md",
                "## Phase 1: Setup\n\n- [ ] T001 [P] [US1] Make it in src/a\n- [X] T002 [US1] Do it\n",
            ),
            ("openspec/changes/add-x/tasks.md", "## 1. Work\n- [ ] 1.1 One\n"),
            ("openspec/changes/archive/old/tasks.md", "- [x] 1.1 One\n"),
            ("tasks.md", "- [ ] 1. A\n- [ ] 1.PITEST B\n"),
        ]);
        let told: Vec<String> = found
            .specs
            .iter()
            .map(|spec| {
                format!("{} {} {}/{} {}", spec.folder, spec.dialect, spec.done, spec.boxes, spec.has_stages)
            })
            .collect();
        assert_eq!(
            told,
            [
                ". ralph stages 0/2 true",
                ".kiro/specs/login Kiro 1/2 false",
                "specs/001-shop spec-kit 1/2 false",
                "openspec/changes/add-x OpenSpec 0/1 false",
            ]
        );
    }

    #[test]
    fn packages_are_repositories_with_languages_and_tools() {
        let (folder, found) = at(&[
            ("src/orders/.git/HEAD", ""),
            ("src/orders/core/pom.xml", ""),
            ("src/web/.git", "gitdir: elsewhere"),
            ("src/web/package.json", "{}"),
            ("src/web/tsconfig.json", "{}"),
            ("src/web/node_modules/x/Cargo.toml", ""),
            ("plain/setup.py", ""),
        ]);
        let told = |found: &Found| -> Vec<String> {
            found.packages.iter().map(|p| format!("{}: {:?} {:?}", p.folder, p.languages, p.tools)).collect()
        };
        assert_eq!(
            told(&found),
            [r#"src/orders: {"Java"} {"mvn"}"#, r#"src/web: {"JavaScript", "TypeScript"} {"npm"}"#]
        );
        fs_err::write(folder.path().join("src/orders/core/mvnw"), "").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(folder.path().join("src/orders/core/mvnw"), mode).unwrap();
        let again = survey(folder.path(), "", &Grammar::default());
        assert_eq!(told(&again)[0], r#"src/orders: {"Java"} {"mvnw"}"#);

        let (_folder, whole) = at(&[(".git/HEAD", ""), ("Cargo.toml", ""), ("src/lib.rs", "")]);
        assert_eq!(told(&whole), [r#".: {"Rust"} {"cargo"}"#]);
    }

    #[test]
    fn a_folder_without_end_is_cut_and_links_are_not_followed() {
        let (folder, _) = at(&[("real/.git/HEAD", "")]);
        std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("tasks.md")).unwrap();
        for number in 0..MOST {
            fs_err::create_dir(folder.path().join(format!("d{number}"))).unwrap();
        }
        let found = survey(folder.path(), "", &Grammar::default());
        assert!(found.cut && found.specs.is_empty());
        assert!(found.packages.iter().all(|package| package.folder == "real"), "{:?}", found.packages);
    }
}
