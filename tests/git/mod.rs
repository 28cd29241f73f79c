//! The git adapter against real git, in temporary directories, without the user's configuration.

mod checkout;
mod command;
mod commit;
mod layout;
mod lineage;
mod merge;
mod observe;
mod put_back;
mod random;
mod refusals;
mod snapshot;

use command::run_git_with;
use ralph::git::{GitError, Repositories};
use ralph::machine::facts::{Observation, ObserveRequest, PackageChange, Snapshot};
use ralph::source::Classifier;
use std::path::{Path, PathBuf};

/// A workspace in a temporary directory.
struct Workspace {
    dir: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        crate::cli::project::use_memory();
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Returns a workspace with packages `src/<name>`, each a repository with one commit.
    fn with(names: &[&str]) -> Self {
        let workspace = Self::new();
        for name in names {
            workspace.package(&format!("src/{name}"));
        }
        workspace
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Creates a repository with `A.java`, `ATest.java` and a `.gitignore`, committed.
    fn package(&self, relative: &str) -> Repo {
        let repo = self.init(relative);
        repo.write("src/main/java/A.java", "class A {\n  int a;\n}\n");
        repo.write(
            "src/test/java/ATest.java",
            "class ATest {\n  @Test void a() {}\n}\n",
        );
        repo.write(".gitignore", "/target/\n*.log\n");
        repo.commit("first");
        repo
    }

    fn init(&self, relative: &str) -> Repo {
        let dir = self.path(relative);
        fs_err::create_dir_all(&dir).unwrap();
        let repo = Repo { dir };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    fn repo(&self, relative: &str) -> Repo {
        Repo {
            dir: self.path(relative),
        }
    }

    fn discover(&self) -> Repositories {
        self.try_discover(&["src/*"], false).unwrap()
    }

    fn try_discover(&self, patterns: &[&str], given: bool) -> Result<Repositories, GitError> {
        let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
        Repositories::discover_packages(
            self.dir.path(),
            self.dir.path(),
            &patterns,
            given,
            classifier(),
        )
    }
}

fn classifier() -> Classifier {
    let files = ralph::config::parse("", Path::new("/"), &[]).unwrap().files;
    Classifier::new(&files.test, &files.production, &files.build).unwrap()
}

/// A directory in which git runs.
struct Repo {
    dir: PathBuf,
}

impl Repo {
    /// Runs git, which must succeed. Returns its output without the last line end.
    fn git(&self, args: &[&str]) -> String {
        let (ok, out) = run_git(&self.dir, args);
        assert!(ok, "git {args:?}: {out}");
        out.trim_end_matches('\n').to_owned()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.dir.join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.dir.join(path)).unwrap()
    }

    fn exists(&self, path: &str) -> bool {
        self.dir.join(path).symlink_metadata().is_ok()
    }

    fn remove(&self, path: &str) {
        fs_err::remove_file(self.dir.join(path)).unwrap();
    }

    /// Commits everything.
    fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Returns the lines of `git status --porcelain`, sorted.
    fn status(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .git(&["status", "--porcelain", "-uall"])
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    }
}

/// Runs git without an input.
fn run_git(dir: &Path, args: &[&str]) -> (bool, String) {
    run_git_with(dir, args, b"")
}

/// Observes an attempt that began with `before`.
fn observe(repositories: &mut Repositories, before: &Snapshot) -> Observation {
    let request = ObserveRequest {
        iteration: 7,
        before: before.clone(),
        ..ObserveRequest::default()
    };
    repositories.observe_attempt(&request).unwrap()
}

fn change<'o>(observation: &'o Observation, name: &str) -> &'o PackageChange {
    observation
        .packages
        .iter()
        .find(|change| change.name == name)
        .unwrap()
}

/// Returns `A path` lines of the changes.
fn lines(changes: &[ralph::machine::facts::FileChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| format!("{:?} {}", change.status, change.full_path()))
        .collect()
}

fn paths(dirt: &[ralph::machine::facts::Dirt]) -> Vec<&str> {
    dirt.iter().map(|dirt| dirt.path.as_str()).collect()
}
