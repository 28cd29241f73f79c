//! Programs that the configured gates, checks and hooks need.
//!
//! Owns: which programs each of them needs, and the look for them.
//!
//! Promises: starts nothing; a gate that no open box names is not asked about.
//!
//! Refuses to know: versions (see `doctor`).

use super::finding::{Finding, Level};
use super::packages::Package;
use crate::cli::workspace::{CONFIG, Workspace};
use crate::config::GateEngine;
use crate::sys::programs::{is_program, on_path};
use crate::task::Row;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What the engines of the gates of open boxes lack.
pub(super) fn engines(workspace: &Workspace, packages: &[Package], rows: &[Row]) -> Vec<Finding> {
    let open = rows.iter().filter(|row| row.key.stage.is_gate() && !row.mark.is_done());
    let names: BTreeSet<&str> = open.map(|row| row.key.stage.word()).collect();
    let mut findings = Vec::new();
    for name in names {
        match workspace.settings.gates.get(name).map(|gate| &gate.engine) {
            Some(GateEngine::Command(argv)) => {
                findings.extend(command(&format!("gates.{name}.run"), "missing-engine", argv, packages));
            }
            Some(GateEngine::Direct | GateEngine::Maven) => findings.extend(java(name, packages)),
            None => {}
        }
    }
    findings
}

/// What the checks and hooks lack.
pub(super) fn commands(workspace: &Workspace, packages: &[Package]) -> Vec<Finding> {
    let checks = &workspace.settings.checks;
    let mut findings = Vec::new();
    for (key, argv) in [("checks.red", &checks.red), ("checks.green", &checks.green)] {
        findings.extend(argv.iter().flat_map(|argv| command(key, "missing-program", argv, packages)));
    }
    let own = Package { name: String::new(), root: workspace.places.workspace.clone(), files: Vec::new() };
    for (event, argv) in &workspace.settings.on {
        let missing = command(&format!("on.{event}"), "missing-program", argv, std::slice::from_ref(&own));
        findings.extend(missing.into_iter().map(|found| Finding { level: Level::Warning, ..found }));
    }
    findings
}

/// What a command needs that runs in packages: its program, and what that hands on to.
fn command(key: &str, rule: &'static str, argv: &[String], packages: &[Package]) -> Vec<Finding> {
    let Some(program) = argv.first() else { return Vec::new() };
    let lacks = |what: String, hint: &str| {
        let found = Finding::new(Level::Error, rule, CONFIG, what, hint);
        vec![Finding { key: Some(key.to_owned()), ..found }]
    };
    if program.contains('/') {
        let without: Vec<&str> = packages
            .iter()
            .filter(|package| !is_program(&package.root.join(program)))
            .map(|package| if package.name.is_empty() { "the workspace" } else { package.name.as_str() })
            .collect();
        if without.is_empty() {
            return Vec::new();
        }
        let what = format!("`{key}` starts `{program}`, which is no program in {}.", without.join(", "));
        return lacks(what, "Make it executable there (`chmod +x`), or name another program.");
    }
    if find(program).is_none() {
        let what = format!("`{key}` starts `{program}`, which is not on the PATH.");
        return lacks(what, "Install it, or name it with its path.");
    }
    match (program.as_str(), argv.get(1).map(String::as_str)) {
        ("cargo", Some("mutants")) if find("cargo-mutants").is_none() && !in_cargo_home("cargo-mutants") => {
            lacks(
                format!("`{key}` starts `cargo mutants`, and cargo-mutants is not installed."),
                "`cargo install cargo-mutants --locked` installs it.",
            )
        }
        ("npx", Some(tool)) if !tool.starts_with('-') => {
            let local = |package: &&Package| package.root.join("node_modules/.bin").join(tool).exists();
            if packages.iter().any(|package| local(&package)) {
                return Vec::new();
            }
            let what = format!("`{key}` starts `npx {tool}`, and no package has it in its node_modules.");
            lacks(what, "Install the packages' dependencies: `npm ci`.")
        }
        _ => Vec::new(),
    }
}

/// What the gate lacks that measures Java.
fn java(gate: &str, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let key = Some(format!("gates.{gate}"));
    let lacks = |what: String, hint: &str| {
        let found = Finding::new(Level::Error, "missing-engine", CONFIG, what, hint);
        Finding { key: key.clone(), ..found }
    };
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    if !home.is_some_and(|home| is_program(&home.join("bin/java"))) && find("java").is_none() {
        let what = format!("Gate {gate} needs Java, and neither JAVA_HOME nor the PATH leads to it.");
        findings.push(lacks(what, "Install a JDK and set JAVA_HOME."));
    }
    let has = |package: &Package, name: &str| {
        let is_it = |path: &str| path.rsplit('/').next() == Some(name);
        package.files.iter().any(|file| is_it(file.as_str()))
    };
    for package in packages {
        let maven = has(package, "pom.xml");
        let wrapper = is_program(&package.root.join("mvnw"));
        if maven && !wrapper && find("mvn").is_none() {
            let what = format!(
                "Gate {gate} needs Maven: package {} has no executable mvnw, and mvn is not on the PATH.",
                package.name
            );
            findings.push(lacks(
                what,
                "Install Maven, or add the Maven wrapper to the package and make mvnw executable.",
            ));
        }
        let gradle = has(package, "build.gradle") || has(package, "build.gradle.kts");
        if gradle && !maven {
            let what =
                format!("Package {} is built by Gradle, which gate {gate} cannot measure.", package.name);
            let hint = "Give the package a pom.xml, or judge it with a command: `gates.<NAME>.run`.";
            findings.push(Finding { level: Level::Warning, ..lacks(what, hint) });
        }
    }
    findings
}

fn find(program: &str) -> Option<PathBuf> {
    on_path(&std::env::var_os("PATH")?, program).next()
}

fn in_cargo_home(program: &str) -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    home.is_some_and(|home| is_program(&home.join("bin").join(program)))
}
