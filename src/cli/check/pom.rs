//! POMs whose own entry of pitest-maven says otherwise than the gate does.
//!
//! Owns: what the gate does with each setting of such an entry, by engine.
//!
//! Promises: nothing is said while no open gate measures Java; a setting that says what the gate does
//! anyway is passed over; an entry that may come from elsewhere (a parent, a profile) is never missed.
//!
//! Refuses to know: XML, Maven.

use super::finding::{Finding, Level};
use super::gates::open_java_gate;
use super::packages::Package;
use crate::cli::workspace::{CONFIG, Workspace};
use crate::config::{GateEngine, GateSettings};
use crate::gate::{PitEntry, PitSetting, PomPit, pom_pit};
use crate::report::plain;
use crate::source::RepoPath;
use crate::sys::disk::read_beginning;
use crate::task::Row;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The longest POM that is read, bytes, and the most POMs of a package.
const LONGEST: u64 = 1 << 20;
const POMS: usize = 200;
/// Characters of a value that are shown.
const VALUE: usize = 60;
/// What pitest-maven is given as its `timeoutConstant`, milliseconds.
const TIMEOUT: &str = "4000";

/// A POM of a package that could be read.
struct Pom<'a> {
    /// From the package.
    path: &'a RepoPath,
    says: PomPit,
}

/// What the POMs say otherwise than the open gates do, and the plugin where the gate needs it and it is
/// declared nowhere.
pub(super) fn findings(workspace: &Workspace, packages: &[Package], rows: &[Row]) -> Vec<Finding> {
    let judges = |row: &Row| Some((row.key.stage.word().to_owned(), open_java_gate(workspace, row)?));
    let Some((name, gate)) = rows.iter().find_map(judges) else { return Vec::new() };
    let mut findings = Vec::new();
    for package in packages {
        let poms = poms(package);
        if gate.engine == GateEngine::Maven && is_declared_nowhere(package, &poms) {
            findings.push(undeclared(&name, package));
        }
        for pom in &poms {
            findings.extend(
                pom.says.entries.iter().filter_map(|entry| otherwise(&name, gate, package, pom, entry)),
            );
        }
    }
    findings
}

/// The POMs of a package that stand in its commit.
fn poms(package: &Package) -> Vec<Pom<'_>> {
    let is_pom = |path: &&RepoPath| path.as_str().rsplit('/').next() == Some("pom.xml");
    let named = package.files.iter().filter(is_pom).take(POMS);
    named.filter_map(|path| Some(Pom { path, says: pom_pit(&text(&file(package, path))?)? })).collect()
}

fn file(package: &Package, path: &RepoPath) -> PathBuf {
    package.root.join(OsStr::from_bytes(&path.to_bytes()))
}

/// The text of a regular file; `None` for what is none or too long.
fn text(path: &Path) -> Option<String> {
    let bytes = read_beginning(path, LONGEST + 1).ok().flatten()?;
    (bytes.len() as u64 <= LONGEST).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// True when every POM was read, none names the plugin, and none has a parent that stands elsewhere.
fn is_declared_nowhere(package: &Package, poms: &[Pom<'_>]) -> bool {
    let named = package.files.iter().filter(|path| path.as_str().rsplit('/').next() == Some("pom.xml"));
    let is_here = |parent: &String| poms.iter().any(|pom| pom.says.artifact == *parent);
    !poms.is_empty()
        && named.count() == poms.len()
        && poms.iter().all(|pom| pom.says.entries.is_empty() && pom.says.parent.as_ref().is_none_or(is_here))
}

fn undeclared(gate: &str, package: &Package) -> Finding {
    let what = format!(
        "Gate {gate} runs the POM's own pitest-maven (`engine: maven`), and no POM of package {} declares it: \
         the gate would end with ERROR.",
        package.name
    );
    let hint = "Add org.pitest:pitest-maven to build/plugins of the POM, or use `engine: direct`, which needs no entry.";
    let found = Finding::new(Level::Error, "missing-engine", CONFIG, what, hint);
    Finding { key: Some(format!("gates.{gate}.engine")), ..found }
}

fn otherwise(
    name: &str,
    gate: &GateSettings,
    package: &Package,
    pom: &Pom<'_>,
    entry: &PitEntry,
) -> Option<Finding> {
    let is_maven = gate.engine == GateEngine::Maven;
    let told = |setting: &PitSetting| {
        let instead = if is_maven { by_maven(gate, setting) } else { directly(gate, setting) }?;
        Some(format!("`{}` is `{}`: {instead}", setting.name, plain::line(&setting.value, VALUE)))
    };
    let told: Vec<String> = entry.settings.iter().filter_map(told).collect();
    if told.is_empty() {
        return None;
    }
    let (begin, hint) = if is_maven {
        (
            format!("Gate {name} runs this plugin with arguments of its own (`engine: maven`)."),
            "Take out of the entry what shall not hold for the gate, or use `engine: direct`, which uses nothing of it.",
        )
    } else {
        (
            format!("Gate {name} runs PIT itself and uses nothing of this entry."),
            "Set under `gates.PITEST` what shall hold for the gate; `engine: maven` runs the POM's own plugin.",
        )
    };
    let what = format!("{begin} {}.", told.join("; "));
    let path = pom.path.to_text();
    let found = Finding::new(Level::Warning, "pit-in-pom", format!("{}/{path}", package.name), what, hint);
    Some(Finding { path: Some(file(package, pom.path)), ..found.at(entry.line.into()) })
}

/// What `engine: direct` does instead; `None` where it does the same.
fn directly(gate: &GateSettings, setting: &PitSetting) -> Option<String> {
    let same = |own: &str| setting.value == own;
    let text = match setting.name.as_str() {
        "version" if !same(&gate.pit_version) => {
            format!("PIT {} is run (`gates.PITEST.pit_version`)", gate.pit_version)
        }
        "mutationThreshold" if !same(&gate.threshold.to_string()) => threshold(gate),
        "excludedClasses" | "excludedMethods" => "nothing is left out".to_owned(),
        "excludedTestClasses" | "targetTests" => "the tests are chosen by `gates.PITEST.tests`".to_owned(),
        "targetClasses" => "the classes are those that a task changed".to_owned(),
        "mutators" if !same("DEFAULTS") => "the mutators are PIT's defaults".to_owned(),
        "timeoutConstant" => "ralph sets the time-out itself".to_owned(),
        "skip" if !same("false") => "the gate runs".to_owned(),
        "skipFailingTests" if !same("false") => {
            "a failing test of the changed classes is a FAIL, any other is left out".to_owned()
        }
        _ => return None,
    };
    Some(text)
}

/// What `engine: maven` does with it: the POM wins over an argument, except for lists (handbook `gates.md`
/// §0); what it gives no argument for is the POM's.
fn by_maven(gate: &GateSettings, setting: &PitSetting) -> Option<String> {
    let same = |own: &str| setting.value == own;
    let text = match setting.name.as_str() {
        "mutationThreshold" if !same(&gate.threshold.to_string()) => threshold(gate),
        "targetClasses" if setting.is_list => "the classes that a task changed are measured".to_owned(),
        "excludedClasses" if setting.is_list => "no class is left out".to_owned(),
        "mutators" if setting.is_list && !same("DEFAULTS") => "the mutators are PIT's defaults".to_owned(),
        "skip" if same("true") => "the gate would end with ERROR".to_owned(),
        "mutators" if !same("DEFAULTS") => "it holds for the gate too".to_owned(),
        "timeoutConstant" if !same(TIMEOUT) => "it holds for the gate too".to_owned(),
        "skipFailingTests" if !same("false") => "it holds for the gate too".to_owned(),
        "targetClasses" | "excludedClasses" | "excludedMethods" | "excludedTestClasses" | "targetTests" => {
            "it holds for the gate too".to_owned()
        }
        _ => return None,
    };
    Some(text)
}

fn threshold(gate: &GateSettings) -> String {
    format!("the threshold is {} (`gates.PITEST.threshold`)", gate.threshold)
}
