//! POMs with an own entry of pitest-maven: which of its settings the gate does not use.

use super::Inspection;
use super::finding::{Finding, Rule};
use super::gates::open_java_gate;
use super::packages::Package;
use super::programs::MISSING_ENGINE;
use crate::cli::environment::CONFIG;
use crate::config::GateEngine;
use crate::gate::{PitEntry, PomPit, pom_pit};
use crate::sys::disk::read_beginning;
use std::path::Path;

/// Maximum size of a POM in bytes, and number of POMs of a package.
const MAX_BYTES: u64 = 1 << 20;
const MAX_POMS: usize = 200;

const PIT_IN_POM: Rule = Rule::warning("pit-in-pom", "A gate does not use a POM's settings of pitest-maven");

/// Settings without effect on the open gates, and a missing plugin if the gate needs it.
pub(super) fn findings(inspection: &Inspection<'_>, packages: &[Package]) -> Vec<Finding> {
    let workspace = &inspection.opened.workspace;
    let gate = |row| Some((row, open_java_gate(workspace, row)?));
    let Some((row, gate)) = inspection.rows.iter().find_map(gate) else { return Vec::new() };
    let (name, is_maven) = (row.key.stage.word(), gate.engine == GateEngine::Maven);
    let mut findings = Vec::new();
    for package in packages {
        let named: Vec<&String> =
            package.files.iter().filter(|path| path.rsplit('/').next() == Some("pom.xml")).collect();
        let read = |path: &'_ String| pom_pit(&text(&package.root.join(path))?);
        let poms: Vec<(&str, PomPit)> =
            named.iter().take(MAX_POMS).filter_map(|path| Some((path.as_str(), read(path)?))).collect();
        if is_maven && !package.is_cut && named.len() == poms.len() && is_undeclared(&poms) {
            let what = format!(
                "Gate {name} runs the POM's own pitest-maven (`engine: maven`), and no POM of package {} declares it: \
                 the gate would end with ERROR.",
                package.name
            );
            let hint = "Add org.pitest:pitest-maven to build/plugins of the POM, or use `engine: direct`, which needs no entry.";
            findings.push(MISSING_ENGINE.found(CONFIG, what, hint).key(format!("gates.{name}.engine")));
        }
        for (path, pom) in &poms {
            let unused =
                pom.entries.iter().filter_map(|entry| Some((entry.line, unused(name, entry, is_maven)?)));
            findings.extend(unused.map(|(line, (what, hint))| {
                let found = PIT_IN_POM.found(format!("{}/{path}", package.name), what, hint);
                found.path(package.root.join(path)).at(line.into())
            }));
        }
    }
    findings
}

/// The text of a regular file; `None` if it is something else or too long.
fn text(path: &Path) -> Option<String> {
    let bytes = read_beginning(path, MAX_BYTES + 1).ok().flatten()?;
    (bytes.len() as u64 <= MAX_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// True if no POM names the plugin and none has a parent elsewhere, which might.
fn is_undeclared(poms: &[(&str, PomPit)]) -> bool {
    let is_here = |parent: &String| poms.iter().any(|(_, pom)| pom.artifact == *parent);
    !poms.is_empty()
        && poms.iter().all(|(_, pom)| pom.entries.is_empty() && pom.parent.as_ref().is_none_or(is_here))
}

/// Which settings of an entry have no effect on the gate, and what to do. Maven prefers an argument to a list
/// of elements, and a text element to an argument; only the threshold is always the gate's.
fn unused(gate: &str, entry: &PitEntry, is_maven: bool) -> Option<(String, &'static str)> {
    let is_unused = |name: &str, is_list: bool| match name {
        "mutationThreshold" => true,
        "targetClasses" | "excludedClasses" | "mutators" => is_list,
        _ => false,
    };
    let unused = entry.settings.iter().filter(|set| !is_maven || is_unused(&set.name, set.is_list));
    let names: Vec<String> = unused.map(|setting| format!("`{}`", setting.name)).collect();
    let (begin, hint) = if is_maven {
        (
            "runs this plugin with arguments of its own (`engine: maven`)",
            "Set under `gates.PITEST` what the gate should use; `engine: direct` uses nothing of the entry.",
        )
    } else {
        (
            "runs PIT itself",
            "Set under `gates.PITEST` what the gate should use; `engine: maven` runs the POM's own plugin.",
        )
    };
    let what =
        format!("Gate {gate} {begin} and does not use these settings of the entry: {}.", names.join(", "));
    (!names.is_empty()).then_some((what, hint))
}
