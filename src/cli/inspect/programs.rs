//! Programs that the configured gates, checks, hooks and lanes need. Starts nothing.

use super::engines::{self, Needed, is_on_path, measures_with};
use super::gates::open_java_gate;
use super::{CONFIG, Inspection, InspectionFinding, Level, Package, Workspace};
use crate::config::GateSettings;
use crate::gate::mutation_test::MutationEngine;
use crate::sys::programs::is_program;
use crate::task::Row;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MISSING_ENGINE: &str = "missing-engine";
const MISSING_PROGRAM: &str = "missing-program";

/// Returns the missing programs of the engines that gates of open boxes use.
pub(super) fn of_gates(
    inspection: &Inspection<'_>,
    packages: &[Package],
) -> Vec<InspectionFinding> {
    let workspace = &inspection.opened.workspace;
    let open = inspection
        .rows
        .iter()
        .filter(|row| row.key.stage.is_gate() && !row.mark.is_done());
    let names: BTreeSet<&str> = open.map(|row| row.key.stage.stage_word()).collect();
    let roots = package_roots(packages);
    let mut findings = Vec::new();
    for name in names {
        let Some(gate) = workspace.settings.gates.get(name) else {
            continue;
        };
        if let Some(argv) = &gate.run {
            findings.extend(command_finding(
                MISSING_ENGINE,
                &format!("gates.{name}.run"),
                argv,
                &roots,
            ));
            continue;
        }
        if Some(name) == MutationEngine::Pit.gate_name()
            || measures_with(name, MutationEngine::Pit) && packages.iter().any(Package::has_java)
        {
            java_findings(name, gate, packages, &mut findings);
        }
        findings.extend(packages.iter().flat_map(|package| of_files(name, package)));
    }
    findings
}

/// The engines of a package's files that a gate uses and that are not there. `MUTATION` needs one only for files that a task
/// changes.
fn of_files(gate: &str, package: &Package) -> Vec<InspectionFinding> {
    let lacks = engines::of_package(package)
        .into_iter()
        .filter(|needed| !needed.found && measures_with(gate, needed.engine));
    lacks
        .map(|needed: Needed| {
            let (engine, name) = (needed.engine.caller_name(), &package.name);
            let what = format!(
                "Gate {gate} needs {engine} for package {name}: {}.",
                needed.what
            );
            let level = if gate == needed.gate {
                Level::Error
            } else {
                Level::Warning
            };
            InspectionFinding::new_error(MISSING_ENGINE, CONFIG, what, needed.hint)
                .with_key(format!("gates.{gate}"))
                .with_level(level)
        })
        .collect()
}

/// Returns the missing programs of the checks, hooks and lanes.
pub(super) fn command_findings(
    workspace: &Workspace,
    packages: &[Package],
) -> Vec<InspectionFinding> {
    let checks = &workspace.settings.checks;
    let roots = package_roots(packages);
    let mut findings = Vec::new();
    for (key, argv) in [("checks.red", &checks.red), ("checks.green", &checks.green)] {
        findings.extend(
            argv.iter()
                .filter_map(|argv| command_finding(MISSING_PROGRAM, key, argv, &roots)),
        );
    }
    let own = [("the workspace", workspace.places.workspace.as_path())];
    let hooks = workspace.settings.hooks.commands();
    let hooks = hooks.map(|(event, argv)| (format!("hooks.{event}"), argv));
    let lanes = &workspace.settings.lanes;
    let lanes = [("command", &lanes.command), ("setup", &lanes.setup)]
        .into_iter()
        .filter_map(|(key, argv)| Some((format!("lanes.{key}"), argv.as_deref()?)));
    for (key, argv) in hooks.chain(lanes) {
        let missing = command_finding(MISSING_PROGRAM, &key, argv, &own);
        findings.extend(missing.map(InspectionFinding::into_warning));
    }
    findings
}

/// Returns the need for Maven: by any open gate, and by one that uses `mvn` on PATH.
pub(crate) fn needs_maven(
    workspace: &Workspace,
    rows: &[Row],
    packages: &[Package],
) -> (bool, bool) {
    let gates: Vec<_> = rows
        .iter()
        .filter_map(|row| open_java_gate(workspace, row))
        .collect();
    let mut built = packages
        .iter()
        .filter(|package| {
            package.builds_with("mvn") && gates.iter().any(|gate| !package.is_built_by(gate))
        })
        .peekable();
    (
        built.peek().is_some(),
        built.any(|package| !package.has_mvnw()),
    )
}

fn package_roots<'p>(packages: impl IntoIterator<Item = &'p Package>) -> Vec<(&'p str, &'p Path)> {
    packages
        .into_iter()
        .map(|package| (package.name.as_str(), package.root.as_path()))
        .collect()
}

/// A command that is started in each of these folders, whose program is missing.
fn command_finding(
    rule: &str,
    key: &str,
    argv: &[String],
    folders: &[(&str, &Path)],
) -> Option<InspectionFinding> {
    let program = argv.first()?;
    let (what, hint) = if program.contains('/') {
        let lacks = folders
            .iter()
            .filter(|(_, root)| !is_program(&root.join(program)));
        let names: Vec<&str> = lacks.map(|(name, _)| *name).collect();
        if names.is_empty() {
            return None;
        }
        let what = format!(
            "`{key}` starts `{program}`, which is not a program in {}.",
            names.join(", ")
        );
        (
            what,
            "Make it executable there (`chmod +x`), or name another program.",
        )
    } else if !is_on_path(program) {
        let what = format!("`{key}` starts `{program}`, which is not on the PATH.");
        (what, "Install it, or name it with its path.")
    } else {
        return None;
    };
    Some(InspectionFinding::new_error(rule, CONFIG, what, hint).with_key(key))
}

/// Returns the missing programs of a gate that measures Java.
fn java_findings(
    gate: &str,
    settings: &GateSettings,
    packages: &[Package],
    findings: &mut Vec<InspectionFinding>,
) {
    if let Some(argv) = &settings.classpath_command {
        let (key, built) = (format!("gates.{gate}.classpath_command"), packages.iter());
        let built = package_roots(built.filter(|package| package.is_built_by(settings)));
        findings.extend(command_finding(MISSING_ENGINE, &key, argv, &built));
    }
    let mut lacks = |level: Level, what: String, hint: &str| {
        let found = InspectionFinding::new_error(MISSING_ENGINE, CONFIG, what, hint)
            .with_key(format!("gates.{gate}"));
        findings.push(found.with_level(level));
    };
    let home = std::env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute());
    let [has_java, has_compiler] = ["java", "javac"].map(|program| {
        home.as_ref()
            .is_some_and(|home| is_program(&home.join("bin").join(program)))
            || is_on_path(program)
    });
    if !has_java || !has_compiler {
        let lack = if has_java {
            "javac: a JRE does not compile"
        } else {
            "Java"
        };
        let what =
            format!("Gate {gate} needs a JDK, and neither JAVA_HOME nor the PATH leads to {lack}.");
        lacks(Level::Error, what, "Install a JDK and set JAVA_HOME.");
    }
    for package in packages
        .iter()
        .filter(|package| !package.is_built_by(settings))
    {
        let name = &package.name;
        if package.builds_with("mvn") {
            if !package.has_mvnw() && !is_on_path("mvn") {
                let what = format!(
                    "Gate {gate} needs Maven: package {name} has no executable mvnw, and mvn is not on the PATH."
                );
                let hint = "Install Maven, or add the Maven wrapper to the package and make mvnw executable.";
                lacks(Level::Error, what, hint);
            } else if !package.has_mvnw() && package.root.join("mvnw").is_file() {
                let what = format!(
                    "mvnw of package {name} may not be executed, so gate {gate} builds with mvn of the PATH."
                );
                let hint = "Commit `git update-index --chmod=+x mvnw`, or take it away.";
                lacks(Level::Warning, what, hint);
            }
        } else if let Some(line) = package.gradle_command() {
            let what = format!(
                "Package {name} is built by Gradle, and gates.{gate}.classpath_command is not set: there will be no verdict."
            );
            lacks(
                Level::Warning,
                what,
                &format!("Write `{line}` below gates.{gate}."),
            );
        }
    }
}
