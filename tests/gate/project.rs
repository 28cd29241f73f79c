//! Small Maven projects in temporary directories, and the gate over them.

use super::direct_spawn::DirectSpawn;
use super::{main_file, test_file};
use ralph::config::GateSettings;
use ralph::gate::{GatePackage, GatePorts, GateRequest, NoCheckouts, run_gate};
use ralph::machine::facts::{FileChange, FileStatus, Oid};
use ralph::mutation::{GateReport, Verdict};
use ralph::source::{Kind, RepoPath};
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};
use std::time::Duration;
use tempfile::TempDir;

/// JUnit, or `TestNG`, as a project's dependency.
#[derive(Clone, Copy)]
pub(crate) enum JUnit {
    Four,
    Five,
    Six,
    TestNg,
}

impl JUnit {
    fn dependency(self) -> &'static str {
        match self {
            Self::TestNg => {
                "<dependency><groupId>org.testng</groupId><artifactId>testng</artifactId><version>7.10.2</version><scope>test</scope></dependency>"
            }
            Self::Four => {
                "<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>"
            }
            Self::Five => {
                "<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency>"
            }
            Self::Six => {
                "<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>6.0.1</version><scope>test</scope></dependency>"
            }
        }
    }
}

const PLUGINS: &str =
    "<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>";

/// A POM with pinned plugins (Maven 3.8.7 binds old ones).
pub(crate) struct Pom {
    pub(crate) artifact: &'static str,
    pub(crate) junit: JUnit,
    pub(crate) head: &'static str,
    pub(crate) dependencies: &'static str,
    pub(crate) surefire: &'static str,
    pub(crate) plugins: &'static str,
    /// The compiler plugin's settings in addition to its version.
    pub(crate) compiler: &'static str,
}

impl Pom {
    pub(crate) fn new(artifact: &'static str, junit: JUnit) -> Self {
        Self {
            artifact,
            junit,
            head: "",
            dependencies: "",
            surefire: "",
            plugins: "",
            compiler: "",
        }
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
             <groupId>com.acme</groupId><artifactId>{}</artifactId><version>1</version>\
             <properties><maven.compiler.release>17</maven.compiler.release>\
             <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding><late>-Dlate=yes</late></properties>{}\
             <dependencies>{}{}</dependencies><build><plugins>{PLUGINS}\
             <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version>{}</plugin>\
             <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>\
             <configuration>{}</configuration></plugin>{}</plugins></build></project>\n",
            self.artifact,
            self.head,
            self.junit.dependency(),
            self.dependencies,
            self.compiler,
            self.surefire,
            self.plugins
        )
    }
}

/// A package `p` in a workspace of its own.
pub(crate) struct Project {
    folder: TempDir,
    pub(crate) request: GateRequest,
    pub(crate) settings: GateSettings,
}

/// Returns one cache for all tests of this process, as one workspace has one.
fn cache() -> PathBuf {
    static CACHE: OnceLock<TempDir> = OnceLock::new();
    CACHE
        .get_or_init(|| tempfile::tempdir().unwrap())
        .path()
        .to_owned()
}

/// Copies from the shared cache which jars are PIT's and where ralph's plugin was compiled, for a cache of its own.
///
/// To find both out costs as much as a gate.
pub(crate) fn copy_tools(to: &Path) {
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        let mut project = Project::scripted(JUnit::Four);
        project.changed(&[&main_file("One")]);
        project
            .class(&main_file("One"), "class One { int one() { return 1; } }")
            .class(&test_file("OneTest"), "class OneTest { }")
            .run();
    });
    for kind in ["facts/tools", "facts/plugins"] {
        let to = to.join(kind);
        fs_err::create_dir_all(&to).unwrap();
        for entry in fs_err::read_dir(cache().join(kind)).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|end| end == "json") {
                fs_err::copy(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
    }
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("src/p");
        fs_err::create_dir_all(&root).unwrap();
        let package = GatePackage {
            name: "p".to_owned(),
            home: root.clone(),
            root,
            head: Some(Oid::zero()),
            ..GatePackage::default()
        };
        let request = GateRequest {
            name: "PITEST".to_owned(),
            packages: vec![package],
            folder: folder.path().join(".ralph/state/iter-1/gate"),
            cache: cache(),
            tag: "test".to_owned(),
            env: std::env::vars().collect(),
            ..GateRequest::default()
        };
        Self {
            folder,
            request,
            settings: settings(),
        }
    }

    pub(crate) fn workspace(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.request.packages[0].root.clone()
    }

    /// Writes a file of the package.
    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let file = self.root().join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
        self
    }

    /// Writes a class of package `com.acme` with its imports.
    pub(crate) fn class(&self, path: &str, body: &str) -> &Self {
        self.write(path, &format!("package com.acme;\n{body}\n"))
    }

    /// Sets the PATH of the gate.
    pub(crate) fn set_path(&mut self, path: &str) {
        self.request.env.retain(|(name, _)| name != "PATH");
        self.request.env.push(("PATH".to_owned(), path.to_owned()));
    }

    /// Sets the files that the task changed.
    pub(crate) fn changed(&mut self, paths: &[&str]) -> &mut Self {
        self.request.packages[0].changes = paths.iter().map(|path| change(path)).collect();
        self
    }

    pub(crate) fn run(&self) -> GateReport {
        let ports = GatePorts {
            spawn: &DirectSpawn,
            progress: &|_| {},
            checkouts: &NoCheckouts,
        };
        let mut report = run_gate(&self.request, &self.settings, &ports);
        for path in &mut report.reports {
            // The gate names absolute paths. The loop makes them relative.
            let inside = Path::new(path).strip_prefix(self.workspace()).unwrap();
            *path = inside.display().to_string();
        }
        assert!(
            serde_json::to_string(&report)
                .unwrap()
                .chars()
                .all(|c| !c.is_control()),
            "control characters in {report:?}"
        );
        report
    }

    /// Returns the logs of all calls, for the message of a failed test.
    pub(crate) fn logs(&self) -> String {
        let mut all = String::new();
        let folder = self.request.folder.join("logs/0");
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let text = fs_err::read_to_string(entry.path()).unwrap_or_default();
            let text: String = text.chars().take(6_000).collect();
            all.extend([
                "--- ",
                &entry.path().display().to_string(),
                "\n",
                &text,
                "\n",
            ]);
        }
        all
    }
}

fn change(path: &str) -> FileChange {
    let kind = match path {
        p if p.contains("src/test/") => Kind::Test,
        p if p.ends_with("pom.xml") || p.ends_with("build.gradle") => Kind::Build,
        p if p.contains("src/main/") => Kind::Production,
        p if p.starts_with("test") => Kind::Test,
        p if ["py", "ts", "rs"].contains(&p.rsplit('.').next().unwrap()) => Kind::Production,
        _ => Kind::Other,
    };
    let blob = Some(Oid("1".repeat(40)));
    FileChange {
        package: "p".to_owned(),
        path: RepoPath::parse(path),
        status: FileStatus::Modified,
        kind,
        old: blob.clone(),
        new: blob,
    }
}

/// Options for JVMs that live for seconds: they start in three quarters of the processor time.
pub(crate) const JVM_ARGS: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Returns the default settings of PITEST, with quick JVMs.
pub(crate) fn settings() -> GateSettings {
    let gate = ralph::config::parse("", Path::new("/w"), &[])
        .expect("the defaults")
        .gates
        .remove("PITEST")
        .expect("PITEST has defaults");
    GateSettings {
        jobs: 1,
        limit: Duration::from_secs(900),
        jvm_args: JVM_ARGS.map(str::to_owned).to_vec(),
        ..gate
    }
}

/// Returns the reasons of a FAIL, joined.
pub(crate) fn reasons(report: &GateReport) -> String {
    match &report.verdict {
        Verdict::Fail { reasons } => reasons.join("\n"),
        other => panic!("no FAIL: {other:?}"),
    }
}

/// Returns the reason and the transience of an ERROR.
pub(crate) fn error(report: &GateReport) -> (String, bool) {
    match &report.verdict {
        Verdict::Error { why, transient, .. } => (why.clone(), *transient),
        other => panic!("no ERROR: {other:?}"),
    }
}
