//! The tools: which are asked for, and when one is needed.
//!
//! Owns: the table of tools with the arguments that make them tell their version.
//!
//! Promises: all are asked at once; a start script of a repository (mvnw, gradlew) is looked at and not
//! started.
//!
//! Refuses to know: how a program is asked.

use super::needs::Needs;
use super::probe::{Answer, Probe, major, short_file};
use super::{Finding, State};
use crate::agent::KNOWN_AGENTS;
use crate::config::Preset;
use crate::sys::programs::is_program;

/// PIT 1.25 and its Maven plugin want this Java or a newer one.
const OLDEST_JAVA: u32 = 11;

/// A program and how it tells its version.
struct Tool {
    name: &'static str,
    args: &'static [&'static str],
    /// Why it is needed here; `None` when it is not.
    need: Option<String>,
    hint: &'static str,
}

/// All tools, then all agents that are installed.
pub(super) fn tools(probe: &Probe, needs: &Needs) -> Vec<Finding> {
    let tools = table(needs);
    std::thread::scope(|scope| {
        let asked: Vec<_> = tools.iter().map(|tool| scope.spawn(|| of_tool(probe, tool))).collect();
        let agents: Vec<_> =
            KNOWN_AGENTS.iter().map(|name| scope.spawn(|| of_agent(probe, name, needs))).collect();
        let mut findings: Vec<Finding> = asked.into_iter().map(answered).collect();
        findings.extend(scripts(needs));
        findings.extend(strykers(needs));
        findings.extend(agents.into_iter().filter_map(answered));
        findings
    })
}

/// What a thread came to; its panic is ralph's own.
fn answered<T>(asked: std::thread::ScopedJoinHandle<'_, T>) -> T {
    asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn table(needs: &Needs) -> Vec<Tool> {
    let need = |yes: bool, why: &str| yes.then(|| why.to_owned());
    let maven = needs.pit && needs.builds_with(&["pom.xml"]);
    let bare = needs
        .packages
        .values()
        .any(|package| package.has(&["pom.xml"]) && !is_program(&package.root.join("mvnw")));
    let pit = "the mutation gate of the open tasks compiles and tests with it";
    let tool = |name, args, need, hint| Tool { name, args, need, hint };
    vec![
        tool("git", &["--version"], need(needs.git, "agents commit with it"), "install git"),
        tool("java", &["-version"], need(maven, pit), "install a JDK, 11 or newer (17 is well tried)"),
        tool("javac", &["-version"], need(maven, pit), "install a JDK: a JRE does not compile"),
        tool(
            "mvn",
            &["-v"],
            need(maven && bare, "a package has a pom.xml and no mvnw"),
            "install Maven, or add the Maven wrapper to the package",
        ),
        tool("gradle", &["--version"], None, ""),
        tool("python3", &["--version"], None, ""),
        tool("mutmut", &["--version"], None, ""),
        tool("node", &["--version"], None, ""),
        tool("cargo", &["--version"], None, ""),
        tool("cargo-mutants", &["mutants", "--version"], None, ""),
    ]
}

fn of_tool(probe: &Probe, tool: &Tool) -> Finding {
    let Some(file) = probe.find(tool.name) else {
        return match &tool.need {
            Some(why) => {
                Finding::new("tool", tool.name, State::Missing, format!("not on PATH; {why}")).hint(tool.hint)
            }
            None => Finding::new("tool", tool.name, State::Absent, "not on PATH, not needed here"),
        };
    };
    let shown = file.display().to_string();
    let argv: Vec<&str> = std::iter::once(shown.as_str()).chain(tool.args.iter().copied()).collect();
    let ill = |why: &str| match &tool.need {
        Some(need) => {
            Finding::new("tool", tool.name, State::Missing, format!("{shown}: {why}; {need}")).hint(tool.hint)
        }
        None => Finding::new("tool", tool.name, State::Warning, format!("{shown}: {why}; not needed here")),
    };
    match probe.ask(&argv) {
        Answer::Ill(why) => ill(&why),
        Answer::Version(version) => {
            let old =
                tool.name.starts_with("java") && major(&version).is_some_and(|major| major < OLDEST_JAVA);
            if old {
                ill(&format!("{version} is older than {OLDEST_JAVA}"))
            } else {
                Finding::new("tool", tool.name, State::Ok, format!("{version}  {shown}"))
            }
        }
    }
}

/// Start scripts of the packages: they may load their tool from the network, so they are only looked at.
fn scripts(needs: &Needs) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, package) in &needs.packages {
        for script in ["mvnw", "gradlew"] {
            let file = package.root.join(script);
            if is_program(&file) {
                let what = "stands there; it is not started by this verb";
                findings.push(Finding::new("tool", format!("{name}/{script}"), State::Ok, what));
            } else if file.is_file() {
                let what = "may not be executed, so it is passed by";
                let hint = format!("chmod +x {}", file.display());
                findings
                    .push(Finding::new("tool", format!("{name}/{script}"), State::Warning, what).hint(hint));
            }
        }
    }
    findings
}

/// Stryker is a dependency of a package; its version stands in a file.
fn strykers(needs: &Needs) -> Vec<Finding> {
    let packages = needs.packages.iter().filter(|(_, package)| package.has(&["package.json"]));
    packages
        .map(|(name, package)| {
            let file = package.root.join("node_modules/@stryker-mutator/core/package.json");
            let version = short_file(&file)
                .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
                .and_then(|json| {
                    json["version"].as_str().map(|version| version.chars().take(40).collect::<String>())
                });
            match version {
                Some(version) => Finding::new("tool", format!("{name}/stryker"), State::Ok, version),
                None => Finding::new(
                    "tool",
                    format!("{name}/stryker"),
                    State::Absent,
                    "not among the package's node_modules, not needed here",
                ),
            }
        })
        .collect()
}

/// An agent CLI that is installed; those without a preset are started by `command:`.
fn of_agent(probe: &Probe, name: &str, needs: &Needs) -> Option<Finding> {
    let file = probe.find(name)?;
    let shown = file.display().to_string();
    let preset = if Preset::named(name).is_some() { "" } else { "  (no preset: write `command:`)" };
    Some(match probe.ask(&[&shown, "--version"]) {
        Answer::Version(version) => {
            Finding::new("agent", name, State::Ok, format!("{version}  {shown}{preset}"))
        }
        Answer::Ill(why) if needs.agents.contains(name) => {
            Finding::new("agent", name, State::Missing, format!("{shown}: {why}; open tasks need it"))
                .hint(format!("look at what `{name} --version` says"))
        }
        Answer::Ill(why) => Finding::new("agent", name, State::Warning, format!("{shown}: {why}")),
    })
}
