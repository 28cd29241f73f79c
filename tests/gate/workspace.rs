//! A workspace with one package in git, and the program over it.

use super::project::{JUnit, JVM_ARGS, Pom, copy_tools};
use super::scripted::script_file;
use super::{main_file, test_file};
use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(super) const TESTS: &str = "import static org.junit.Assert.*; import org.junit.Test;";

/// A workspace with the package `src/p`, and a cache of its own, in which only PIT and its plugin are known.
pub(super) struct Workspace {
    folder: TempDir,
}

impl Workspace {
    /// Returns the class `Calc` with two methods. Its committed test kills only one's mutants (2 of 4).
    pub(super) fn new() -> Self {
        let pom = Pom::new("clean", JUnit::Four).text();
        Self::with_build("pom.xml", &pom, |workspace| workspace.set_gate(""))
    }

    /// Returns the same workspace, whose package a script builds instead of Maven.
    pub(super) fn scripted() -> Self {
        Self::with_build("build.gradle", "", |workspace| workspace.set_scripted(""))
    }

    fn with_build(file: &str, text: &str, configure: impl Fn(&Self) -> &Self) -> Self {
        let workspace = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        copy_tools(&workspace.path("cache/ralph"));
        configure(&workspace).git(&["init", "--quiet", "--initial-branch", "main"]);
        workspace
            .write("ws/src/p/.gitignore", "target/\n*.local\nlocal/\n")
            .write(&format!("ws/src/p/{file}"), text)
            .class(
                &main_file("Base"),
                "public class Base { public int a() { return 1; } }",
            );
        workspace.commit();
        workspace.class(&main_file("Calc"), "public class Calc { public int add(int a, int b) { return a + b; }\npublic int sub(int a, int b) { return a - b; } }")
            .class(&test_file("CalcTest"), &weak());
        workspace.commit();
        workspace
    }

    /// Sets these keys of PITEST in addition to the command that builds.
    pub(super) fn set_scripted(&self, settings: &str) -> &Self {
        let script = script_file(JUnit::Four);
        self.set_gate(&format!(
            "classpath_command: [sh, {}], {settings}",
            script.display()
        ))
    }

    /// Sets these keys of PITEST.
    pub(super) fn set_gate(&self, settings: &str) -> &Self {
        let quick = JVM_ARGS.join(", ");
        self.write(
            "ws/.ralph/config.yaml",
            &format!("gates:\n  PITEST: {{jvm_args: [{quick}], {settings}}}\n"),
        )
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) -> &Self {
        let file = self.path(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
        self
    }

    pub(super) fn class(&self, path: &str, body: &str) -> &Self {
        self.write(
            &format!("ws/src/p/{path}"),
            &format!("package com.acme;\n{body}\n"),
        )
    }

    pub(super) fn git(&self, args: &[&str]) -> String {
        let package = self.path("ws/src/p");
        fs_err::create_dir_all(&package).unwrap();
        let mut git = Command::new("git");
        git.args(args)
            .current_dir(package)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Test")
                .env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        let output = git.output().unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    /// Returns the report of `ralph gate PITEST --since <rev> --json`.
    pub(super) fn gate(&self, since: &str) -> Value {
        self.judge("--since", since)
    }

    pub(super) fn judge(&self, flag: &str, value: &str) -> Value {
        self.judge_with(flag, value, &[])
    }

    /// Runs the same with these variables.
    pub(super) fn judge_with(&self, flag: &str, value: &str, env: &[(&str, &str)]) -> Value {
        let report = self.answer(&[flag, value], env)["report"].clone();
        let text = report.to_string();
        assert!(
            !text.contains("/sites/"),
            "the private folder is named: {text}"
        );
        report
    }

    /// Returns what `ralph gate PITEST --json` prints with these arguments and variables.
    pub(super) fn answer(&self, args: &[&str], env: &[(&str, &str)]) -> Value {
        let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
        ralph
            .args(["gate", "PITEST", "--json"])
            .args(args)
            .current_dir(self.path("ws"));
        ralph.envs(env.iter().copied());
        let output = ralph
            .env("XDG_CACHE_HOME", self.path("cache"))
            .write_stdin("")
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}\n{err}"))
    }

    /// Returns the kept site of this workspace.
    pub(super) fn site(&self) -> PathBuf {
        let sites = self.path("cache/ralph/sites");
        let folders: Vec<PathBuf> = fs_err::read_dir(&sites)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        let [one] = folders.as_slice() else {
            panic!("{folders:?}")
        };
        one.clone()
    }

    /// Returns the logs of the last gate by name.
    pub(super) fn logs(&self) -> BTreeMap<String, String> {
        let reports = self.path("cache/ralph/reports");
        let mut folders: Vec<_> = fs_err::read_dir(&reports)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.metadata().unwrap().modified().unwrap(), entry.path()))
            .collect();
        folders.sort();
        let logs = folders.pop().unwrap().1.join("logs/0");
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        fs_err::read_dir(logs)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .map(|path| (name(&path), fs_err::read_to_string(path).unwrap()))
            .collect()
    }
}

fn weak() -> String {
    format!(
        "{TESTS} public class CalcTest {{ @Test public void adds() {{ assertEquals(5, new Calc().add(2, 3)); }} }}"
    )
}

pub(super) fn strong() -> String {
    format!(
        "{TESTS} public class CalcTest {{ @Test public void all() {{ assertEquals(5, new Calc().add(2, 3)); assertEquals(1, new Calc().sub(3, 2)); }} }}"
    )
}

/// Returns the verdict and the score: `fail 2/4`.
pub(super) fn verdict(report: &Value) -> String {
    format!(
        "{} {}/{}",
        report["verdict"].as_str().unwrap(),
        report["coverage"]["killed"],
        report["coverage"]["total"]
    )
}

pub(super) fn phases(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    report["trace"]["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| (text(&phase["name"]), text(&phase["note"])))
        .collect()
}
