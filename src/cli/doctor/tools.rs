//! The tools, agents and other programs called ralph on PATH, with their versions. A package's own `mvnw` is not asked:
//! it may load Maven from the network.

use super::probe::major_version;
use super::{Inspection, InspectionFinding, Level, Package, Probe};
use crate::cli::inspect::engines::{Needed, of_package};
use crate::cli::inspect::{needed_roles, needs_maven};
use crate::config::{PRESETS, Preset};
use crate::sys::itself::own_program;
use crate::sys::programs::on_path;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The oldest Java that PIT 1.25 and its Maven plugin run on.
const OLDEST_JAVA: u32 = 11;

/// A program, the argument that makes it tell its version, why it is needed if it is, and what to do without it.
type DoctorTool<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

/// The tools that ralph or its gates start, and the packages' own Maven.
pub(super) fn check_tools(
    probe: &Probe,
    inspection: Option<&Inspection<'_>>,
) -> Vec<InspectionFinding> {
    let packages = inspection
        .and_then(|inspection| inspection.packages.as_deref())
        .unwrap_or_default();
    let (java, maven) = inspection.map_or((false, false), |inspection| {
        needs_maven(&inspection.opened.workspace, &inspection.rows, packages)
    });
    let agents = "agents commit with it";
    let gate = "the mutation gate of the open tasks needs it";
    let tools = [
        (
            "git",
            "--version",
            inspection.is_some().then_some(agents),
            "install git",
        ),
        (
            "java",
            "-version",
            java.then_some(gate),
            "install a JDK, 11 or newer (17 is well tried)",
        ),
        (
            "javac",
            "-version",
            java.then_some(gate),
            "install a JDK: a JRE does not compile",
        ),
        (
            "mvn",
            "-v",
            maven.then_some(gate),
            "install Maven, or add the Maven wrapper to the package",
        ),
    ];
    at_once(tools, |tool| of_tool(probe, "tool", tool))
}

/// Warns if git has no name and address for commits in a package. An agent may bring its own.
pub(super) fn check_identity(
    probe: &Probe,
    inspection: Option<&Inspection<'_>>,
) -> Option<InspectionFinding> {
    let git = probe.find_program("git")?.display().to_string();
    let packages = inspection?.packages.as_deref()?;
    let (name, why) = packages.iter().find_map(|package| {
        let root = package.root.display().to_string();
        let asked = probe.ask_version(&[&git, "-C", &root, "var", "GIT_AUTHOR_IDENT"]);
        Some((package.name.as_str(), asked.err()?))
    })?;
    let what = format!("git cannot commit in package {name}: {why}");
    let hint = "`git config --global user.name 'Your Name'`, then `git config --global user.email you@example.org`";
    Some(InspectionFinding::new_error("tool", "identity", what, hint).into_warning())
}

/// The engines for the files of a package. What a gate of an open task lacks is a finding of the inspection.
pub(super) fn check_engines(package: &Package) -> Vec<InspectionFinding> {
    of_package(package)
        .into_iter()
        .map(|needed: Needed| {
            let name = format!("{} ({})", needed.engine.caller_name(), package.name);
            let what = format!("{}; gate {} uses it", needed.what, needed.gate);
            let level = if needed.found {
                Level::Ok
            } else {
                Level::Absent
            };
            InspectionFinding::new_error("engine", name, what, needed.hint).with_level(level)
        })
        .collect()
}

/// The known agent CLIs that are installed.
pub(super) fn check_agents(
    probe: &Probe,
    inspection: Option<&Inspection<'_>>,
) -> Vec<InspectionFinding> {
    let state =
        inspection.and_then(|inspection| Some((inspection, inspection.state.as_ref().ok()?)));
    let needed: BTreeSet<&String> = (state.iter())
        .flat_map(|(inspection, state)| {
            let settings = &inspection.opened.workspace.settings;
            let agents = needed_roles(state)
                .into_iter()
                .flat_map(|role| settings.agents_for(role));
            agents.filter_map(|(_, agent)| agent.command.first())
        })
        .collect();
    let found = at_once(PRESETS.iter(), |preset| {
        check_agent(probe, preset, needed.contains(&preset.name))
    });
    found.into_iter().flatten().collect()
}

/// None if its program is not on PATH.
fn check_agent(probe: &Probe, preset: &Preset, is_needed: bool) -> Option<InspectionFinding> {
    let name = &preset.name;
    probe.find_program(name)?;
    let need = is_needed.then_some("open tasks need it");
    let hint = format!("look at what `{name} --version` says");
    let mut found = of_tool(probe, "agent", (name, "--version", need, &hint));
    if found.level == Level::Ok
        && let Some(unknown) = unknown_flags(probe, preset)
    {
        found.what = format!(
            "{}; its help does not know {unknown}, which the preset uses",
            found.what
        );
        found.hint = format!(
            "install {name} {}, or write a `command:` in place of the preset",
            preset.versions.join(" or ")
        );
        found.level = if is_needed {
            Level::Error
        } else {
            Level::Warning
        };
    }
    if preset.versions.is_empty() {
        found.what += "  (its preset is not tried)";
    }
    Some(found)
}

/// The flags of a preset that its program's help does not hold; `None` if it holds all, or the help is not known.
fn unknown_flags(probe: &Probe, preset: &Preset) -> Option<String> {
    let file = probe
        .find_program(&preset.name)
        .filter(|_| !preset.help.is_empty())?
        .display()
        .to_string();
    let argv: Vec<&str> = std::iter::once(file.as_str())
        .chain(preset.help.iter().map(String::as_str))
        .collect();
    let (ended, help) = probe.run_program(&argv).ok()?;
    let words: BTreeSet<&str> = help
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .collect();
    let unknown: Vec<&str> = preset
        .flags()
        .filter(|flag| !words.contains(flag))
        .collect();
    let is_help = ended.end.is_success() && words.contains("--help");
    (is_help && !unknown.is_empty()).then(|| unknown.join(", "))
}

/// Does the same for all items, each in a thread of its own.
fn at_once<I: IntoIterator<Item: Send>, T: Send>(
    items: I,
    act: impl Fn(I::Item) -> T + Sync,
) -> Vec<T> {
    let act = &act;
    std::thread::scope(|scope| {
        let threads: Vec<_> = items
            .into_iter()
            .map(|item| scope.spawn(move || act(item)))
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    })
}

/// Returns the finding on a tool.
///
/// The inspection reports the tools of gates that are not on PATH.
fn of_tool(
    probe: &Probe,
    part: &str,
    (name, arg, need, hint): DoctorTool<'_>,
) -> InspectionFinding {
    let found = |what: String, hint: &str| InspectionFinding::new_error(part, name, what, hint);
    let lack = |what: String| match need {
        Some(need) => found(format!("{what}; {need}"), hint),
        None => found(format!("{what}; not needed here"), "").into_warning(),
    };
    let Some(file) = probe.find_program(name) else {
        let absent = "not on PATH".to_owned();
        let is_missed = name == "git" && need.is_some();
        return if is_missed {
            lack(absent)
        } else {
            found(absent, "").with_level(Level::Absent)
        };
    };
    let file = file.display().to_string();
    match probe.ask_version(&[&file, arg]) {
        Err(why) => lack(format!("{file}: {why}")),
        Ok(version)
            if name.starts_with("java")
                && major_version(&version).is_some_and(|major| major < OLDEST_JAVA) =>
        {
            lack(format!("{file}: {version} is older than {OLDEST_JAVA}"))
        }
        Ok(version) => found(format!("{version}  {file}"), "").with_level(Level::Ok),
    }
}

/// Returns this program, and each `ralph` on PATH: other tools have a program of that name.
///
/// None is started: some begin to work with any arguments.
pub(super) fn list_ralphs(path: &str) -> Vec<InspectionFinding> {
    let own = file_identity(&own_program());
    let version = env!("CARGO_PKG_VERSION");
    let mut findings = Vec::new();
    for (place, file) in on_path(path, "ralph").enumerate() {
        let is_own = own.is_some() && file_identity(&file) == own;
        let shown = file.display();
        let (what, hint) = match (place, is_own) {
            (0, true) => (format!("{version}  {shown}"), ""),
            (_, true) => (format!("{shown} is also this one"), ""),
            (0, false) => (
                format!("{version}; but first on PATH is {shown}, and this one is not it"),
                "put this one's folder first on PATH, or call it by its path",
            ),
            (_, false) => (
                format!("{shown} is a different program, hidden by the first"),
                "",
            ),
        };
        let found = InspectionFinding::new_error("ralph", "ralph", what, hint);
        findings.push(found.with_level(if is_own { Level::Ok } else { Level::Warning }));
    }
    if findings.is_empty() {
        let what = format!("{version}; not on PATH");
        findings.push(
            InspectionFinding::new_error("ralph", "ralph", what, "put its folder on PATH")
                .into_warning(),
        );
    }
    findings
}

/// Its device and inode.
fn file_identity(file: &Path) -> Option<(u64, u64)> {
    let data = fs_err::metadata(file).ok()?;
    Some((data.dev(), data.ino()))
}
