//! What a workspace needs: from its configuration, its open tasks, its packages.
//!
//! Owns: the rule by which a tool is needed, and the programs that the configuration names.
//!
//! Promises: what the configuration names is needed; a build tool is needed where an open gate of the task
//! file would use it; everything else is only good to have.
//!
//! Refuses to know: whether it is there.

use super::super::run::missing_agents;
use super::super::workspace::Workspace;
use super::{Finding, State};
use crate::config::{GateEngine, Role, Settings, role_of};
use crate::machine::choice::is_required_open;
use crate::source::{Classifier, Kind};
use crate::sys::programs::{is_program, on_path};
use crate::task::Stage;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// So far below a package build files are looked for.
const DEPTH: usize = 4;
/// Folders of a package that are read at most.
const MOST: usize = 500;

/// What a package is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Package {
    /// Its folder.
    pub(super) root: PathBuf,
    /// Names of its build files (`pom.xml`, `mvnw` …).
    pub(super) files: BTreeSet<String>,
    /// It holds a test class of Java.
    pub(super) java_tests: bool,
}

impl Package {
    /// It holds one of these files.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.files.contains(*name))
    }
}

/// What a workspace needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// The packages by name.
    pub(super) packages: BTreeMap<String, Package>,
    /// Gates with an open box that is required.
    pub(super) gates: BTreeSet<String>,
    /// Roles of open boxes.
    pub(super) roles: BTreeSet<Role>,
    /// Programs of the agents of those roles.
    pub(super) agents: BTreeSet<String>,
    /// Agents are to commit with git.
    pub(super) git: bool,
    /// The mutation gate is open, by one of ralph's own engines.
    pub(super) pit: bool,
}

impl Needs {
    /// What can be seen of a workspace; what cannot be read needs nothing (`ralph check` says what is wrong
    /// with it).
    pub(super) fn of(workspace: &Workspace) -> Self {
        let mut needs = Self { git: true, ..Self::default() };
        if let Ok(state) = workspace.read_state() {
            for row in state.book().rows.iter().filter(|row| is_required_open(row)) {
                match &row.key.stage {
                    Stage::Gate(name) => drop(needs.gates.insert(name.clone())),
                    stage => needs.roles.extend(role_of(stage)),
                }
            }
        }
        let agents = needs.roles.iter().filter_map(|role| workspace.settings.agent_for(*role));
        needs.agents = agents.filter_map(|(_, agent)| agent.command.first().cloned()).collect();
        let is_own = |gate: &str| {
            let engine = workspace.settings.gates.get(gate).map(|gate| &gate.engine);
            matches!(engine, Some(GateEngine::Direct | GateEngine::Maven))
        };
        needs.pit = needs.gates.iter().any(|gate| is_own(gate));
        if let Ok(repositories) = workspace.repositories() {
            for name in repositories.names() {
                if let Some(root) = repositories.root(&name) {
                    needs.packages.insert(name, package(root));
                }
            }
        }
        needs
    }

    /// A package holds one of these build files.
    pub(super) fn builds_with(&self, names: &[&str]) -> bool {
        self.packages.values().any(|package| package.has(names))
    }

    /// The programs that the configuration names: agents, gates, checks, hooks.
    pub(super) fn programs(&self, workspace: &Workspace, path: &str) -> Vec<Finding> {
        let mut findings: Vec<Finding> = missing_agents(workspace, &self.roles)
            .into_iter()
            .map(|missing| missing.fault)
            .map(|fault| Finding::new("program", "agent", State::Missing, fault.what).hint(fault.hint))
            .collect();
        for (key, program) in named(&workspace.settings) {
            // A relative path is one of the package or folder in which it is started.
            if (program.contains('/') && !program.starts_with('/')) || is_there(&program, path) {
                continue;
            }
            let what = format!("The program `{program}` of `{key}` was not found.");
            let hint = format!("install it, or change {key} in .ralph/config.yaml");
            findings.push(Finding::new("program", program, State::Missing, what).hint(hint));
        }
        findings
    }
}

fn named(settings: &Settings) -> Vec<(String, String)> {
    let mut named = Vec::new();
    let mut add = |key: String, argv: &[String]| {
        if let Some(program) = argv.first() {
            named.push((key, program.clone()));
        }
    };
    for (name, gate) in &settings.gates {
        if let GateEngine::Command(argv) = &gate.engine {
            add(format!("gates.{name}.run"), argv);
        }
    }
    for (key, argv) in [("checks.red", &settings.checks.red), ("checks.green", &settings.checks.green)] {
        add(key.to_owned(), argv.as_deref().unwrap_or_default());
    }
    for (event, argv) in &settings.on {
        add(format!("on.{event}"), argv);
    }
    named
}

fn is_there(program: &str, path: &str) -> bool {
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    on_path(path, program).next().is_some()
}

/// Build files and start scripts, and whether there are tests; links are not followed.
fn package(root: &Path) -> Package {
    let mut package = Package { root: root.to_owned(), ..Package::default() };
    let kinds = Settings::defaults(root).files;
    let classifier = Classifier::new(&kinds.test, &kinds.production, &kinds.build).ok();
    let mut open = vec![(root.to_owned(), 0)];
    let mut left = MOST;
    while let Some((folder, depth)) = open.pop() {
        let Some(rest) = left.checked_sub(1) else { break };
        left = rest;
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            if kind.is_dir() {
                let output = matches!(name.as_str(), "node_modules" | "target" | "build" | "dist");
                if !name.starts_with('.') && !output && (depth < DEPTH || below_tests(&folder)) {
                    open.push((folder.join(&name), depth + 1));
                }
            } else if kind.is_file() {
                let is_build = classifier.as_ref().is_some_and(|c| c.kind_of(name.as_bytes()) == Kind::Build);
                let has_suffix = |suffix: &str| Path::new(&name).extension().is_some_and(|e| e == suffix);
                package.java_tests |= has_suffix("java") && below_tests(&folder);
                if is_build || matches!(name.as_str(), "mvnw" | "gradlew") {
                    package.files.insert(name);
                }
            }
        }
    }
    package
}

fn below_tests(folder: &Path) -> bool {
    folder.to_string_lossy().contains("/src/test/java")
}
