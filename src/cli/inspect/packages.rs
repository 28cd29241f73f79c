//! Build inputs of a package: its files, languages and build tools.

use crate::config::GateSettings;
use crate::gate::GRADLE_COMMAND;
use crate::git::is_repository;
use crate::source::{Classifier, Kind};
use crate::sys::programs::is_program;
use crate::sys::walk::{DirEntry, walk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A build file, the language that it means, and the tool that reads it.
type BuildFile = (&'static str, &'static str, &'static str);
const BUILD_FILES: [BuildFile; 10] = [
    ("pom.xml", "Java", "mvn"),
    ("build.gradle", "Java", "gradle"),
    ("build.gradle.kts", "Java", "gradle"),
    ("pyproject.toml", "Python", "python3"),
    ("setup.py", "Python", "python3"),
    ("requirements.txt", "Python", "python3"),
    ("package.json", "JavaScript", "npm"),
    ("tsconfig.json", "TypeScript", "npm"),
    ("Cargo.toml", "Rust", "cargo"),
    ("go.mod", "Go", "go"),
];
/// Build files further down belong to examples and test data.
const BUILD_DEPTH: usize = 4;
/// Folders that hold nothing of the project's own.
const OUTPUTS: [&str; 6] = [
    "node_modules",
    "target",
    "build",
    "dist",
    "venv",
    "__pycache__",
];
/// Maximum depth and number of files and folders that are read in one package.
const DEPTH: usize = 60;
const MAX_ENTRIES: usize = 100_000;
/// Extensions of sources that are compiled to classes.
const CLASSES: [&str; 4] = ["java", "kt", "scala", "groovy"];

/// A git repository of the workspace, or a folder of one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    /// Its files, relative to `root`, without outputs and hidden folders.
    pub(crate) files: Vec<String>,
    /// There are files that were not read.
    pub(crate) is_cut: bool,
}

impl Package {
    /// Reads a folder. Links are not followed; repositories inside are packages of their own.
    pub(crate) fn read_folder(name: String, root: PathBuf) -> Self {
        let (mut files, mut is_cut) = (Vec::new(), false);
        for entry in walk(&root, DEPTH, MAX_ENTRIES, |folder| {
            is_own(folder) && !is_repository(folder.path())
        }) {
            let Ok(entry) = entry else {
                is_cut = true;
                continue;
            };
            let path = entry.path().strip_prefix(&root).ok().and_then(Path::to_str);
            files.extend(
                path.filter(|_| entry.file_type().is_file())
                    .map(str::to_owned),
            );
        }
        Self {
            name,
            root,
            files,
            is_cut,
        }
    }

    pub(super) fn build_files(&self) -> impl Iterator<Item = (&str, &BuildFile)> {
        let near = self
            .files
            .iter()
            .filter(|path| path.matches('/').count() < BUILD_DEPTH);
        near.filter_map(|path| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            Some((folder, BUILD_FILES.iter().find(|(file, ..)| *file == name)?))
        })
    }

    pub(crate) fn found_languages(&self) -> BTreeSet<&'static str> {
        self.build_files()
            .map(|(_, (_, language, _))| *language)
            .collect()
    }

    /// The build tools; the project's own start script if it has one.
    pub(crate) fn build_tools(&self) -> BTreeSet<&'static str> {
        self.build_files()
            .map(|(folder, (_, _, tool)): (&str, &BuildFile)| {
                let script = match *tool {
                    "mvn" => "mvnw",
                    "gradle" => "gradlew",
                    other => return other,
                };
                if is_program(&self.root.join(folder).join(script)) {
                    script
                } else {
                    *tool
                }
            })
            .collect()
    }

    pub(crate) fn builds_with(&self, tool: &str) -> bool {
        self.build_files().any(|(_, (_, _, own))| *own == tool)
    }

    /// The command of the gate builds it, not Maven.
    pub(super) fn is_built_by(&self, gate: &GateSettings) -> bool {
        let is_command = self.builds_with("gradle") || !self.builds_with("mvn") && self.has_java();
        gate.classpath_command.is_some() && is_command
    }

    /// The setting by which gates measure a package of Gradle's.
    pub(crate) fn gradle_command(&self) -> Option<String> {
        let program = if self.build_tools().contains("gradlew") {
            "./gradlew"
        } else {
            "gradle"
        };
        self.builds_with("gradle")
            .then(|| GRADLE_COMMAND.replace("./gradlew", program))
    }

    /// The package's own Maven can be started.
    pub(crate) fn has_mvnw(&self) -> bool {
        is_program(&self.root.join("mvnw"))
    }

    /// It has a source that is compiled to classes, or a build file that promises one.
    pub(crate) fn has_java(&self) -> bool {
        self.found_languages().contains("Java")
            || self.files.iter().any(|file| {
                let ending = file.rsplit('.').next().unwrap_or_default();
                CLASSES.contains(&ending.to_ascii_lowercase().as_str())
            })
    }

    /// The Java sources without a build file in their folder or above.
    pub(crate) fn unbuilt_sources(&self, classifier: &Classifier) -> Vec<&String> {
        let java: Vec<&BuildFile> = BUILD_FILES
            .iter()
            .filter(|(_, language, _)| *language == "Java")
            .collect();
        let files = self.files.iter().filter(|file| {
            file.rsplit('.').next() == Some("java")
                && classifier.kind_of(file.as_bytes()) == Kind::Production
        });
        files
            .filter(|file| {
                !Path::new(file).ancestors().skip(1).any(|folder| {
                    java.iter()
                        .any(|(name, ..)| self.root.join(folder).join(name).is_file())
                })
            })
            .collect()
    }

    pub(crate) fn has_kind(&self, classifier: &Classifier, kind: Kind) -> bool {
        self.files
            .iter()
            .any(|file| classifier.kind_of(file.as_bytes()) == kind)
    }
}

/// True for a folder that may hold sources.
pub(crate) fn is_own(folder: &DirEntry) -> bool {
    let name = folder
        .file_name()
        .to_str()
        .filter(|name| !name.contains(char::is_control));
    name.is_some_and(|name| !name.starts_with('.') && !OUTPUTS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_its_own_sources_without_outputs_links_and_other_repositories() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        };
        for name in [
            "core/pom.xml",
            "web/tsconfig.json",
            "node_modules/x/Cargo.toml",
            "src/lib/.git/HEAD",
        ] {
            write(name);
        }
        write("src/lib/go.mod");
        write("a/b/c/d/e/setup.py");
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        let read = || Package::read_folder("app".to_owned(), folder.path().to_owned());
        assert_eq!(
            read().files,
            ["a/b/c/d/e/setup.py", "core/pom.xml", "web/tsconfig.json"]
        );
        assert_eq!(
            read().found_languages(),
            BTreeSet::from(["Java", "TypeScript"])
        );
        assert_eq!(read().build_tools(), BTreeSet::from(["mvn", "npm"]));
        write("core/mvnw");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(folder.path().join("core/mvnw"), mode).unwrap();
        assert_eq!(read().build_tools(), BTreeSet::from(["mvnw", "npm"]));
        assert!(!read().is_cut);
    }
}
