//! `ralph init`: looks at what is there, asks what it cannot know, writes `.ralph/`. It never overwrites a file, and
//! asks only on a terminal and before anything is written.

mod ask_placement;
mod files;

use super::ask::{Unanswered, ask_agreement, can_ask, one_of};
use super::edit_tasks::TasksTarget;
use super::environment::unsound_settings;
use super::inspect::engines::of_package;
use super::inspect::{Package, Spec, find_packages, find_specs, read_spec, task_file};
use super::output::Format;
use super::place::preview_placement;
use super::{CONFIG, Exit, Fault, Invocation, Workspace, base_environment, ensure_that, ui};
use crate::agent::detect;
use crate::cli::inspect::{as_root, lacks_as_root};
use crate::config::{self, PRESETS, Preset};
use crate::source::text::count;
use crate::task::{Grammar, Placement};
use anyhow::bail;
use ask_placement::{ask_placement, list_tasks};
use clap::Args;
use files::{ChosenSettings, config_text, place_gate, write_files};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The answers to where stages come from; each fits on a line of 80 columns.
const STAGES: [&str; 2] = [
    "virtual: the file is left alone, each task goes through all stages anyway",
    "file: only what is in the file is done (`ralph stage` can add lines)",
];

/// Next steps after `ralph init`.
const NEXT: &str = "`ralph check`, then `ralph run`";

/// Flags of `init`; `--spec` and `--agent` are those of every verb.
#[derive(Debug, Default, Args)]
pub struct InitArgs {
    /// Ask nothing: take what is the only one, and the first agent CLI that was found
    #[arg(long, short)]
    pub yes: bool,
    /// Folders of the packages: `src/*`; may be given more than once
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub packages: Vec<String>,
    /// The placement of PITEST: each, tested, groups, groups:2 (down to ##), end, none, or after:2,5,7
    #[arg(long, value_name = "WHERE", value_parser = files::parse_placement)]
    pub placement: Option<Placement>,
    /// Where the stages of a task come from: lines of the file, or the default stages without any line
    #[arg(long, value_name = "WHERE", value_parser = ["file", "virtual"])]
    pub stages: Option<String>,
}

/// Contents of a folder: task files, packages, agent CLIs on PATH.
struct FoundTools {
    specs: Vec<Spec>,
    packages: Vec<Package>,
    agents: Vec<&'static str>,
    /// There are files that were not read.
    is_cut: bool,
}

impl FoundTools {
    fn look_around(root: &Path, grammar: &Grammar) -> Self {
        let (packages, is_cut) = find_packages(root);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_cut = is_cut || packages.iter().any(|package| package.is_cut);
        Self {
            specs: find_specs(root, grammar),
            packages,
            agents: detect(&path.to_string_lossy()),
            is_cut,
        }
    }

    fn found_facts(&self) -> Value {
        let mut packages = Vec::new();
        for package in &self.packages {
            packages.push(json!({
                "folder": package.name, "languages": package.found_languages(),
                "tools": package.build_tools(), "engines": of_package(package),
            }));
        }
        json!({ "specs": self.specs, "packages": packages, "agents": self.agents, "cut": self.is_cut })
    }

    fn show_found(&self) {
        print_list("specs", self.specs.iter().map(describe_spec).collect());
        let packages = self.packages.iter().map(describe_package);
        print_list("packages", packages.collect());
        let engines = self.packages.iter().flat_map(|package| {
            of_package(package).into_iter().map(|needed| {
                let hint = if needed.found {
                    String::new()
                } else {
                    format!(". {}", needed.hint)
                };
                let (name, gate) = (needed.engine.caller_name(), needed.gate);
                format!(
                    "{name} for {} ({gate}): {}{hint}",
                    package.name, needed.what
                )
            })
        });
        let not_mavens = self
            .packages
            .iter()
            .filter(|package| !package.builds_with("mvn"));
        let by_gradle = not_mavens.filter_map(|package| {
            let (name, line) = (&package.name, package.gradle_command()?);
            Some(format!(
                "pit for {name} (PITEST): built by Gradle. Write `{line}` below gates.PITEST."
            ))
        });
        let engines: Vec<String> = by_gradle.chain(engines).collect();
        if !engines.is_empty() {
            print_list("engines", engines);
        }
        let languages: BTreeSet<&str> = self
            .packages
            .iter()
            .flat_map(|package| of_package(package).into_iter().map(|needed| needed.gate))
            .collect();
        let has_java = self
            .packages
            .iter()
            .any(|package| package.found_languages().contains("Java"));
        if languages.len() + usize::from(has_java) > 1 {
            print_list("gate", vec![MIXED.to_owned()]);
        }
        let agents = self.agents.iter().map(|name| (*name).to_owned());
        print_list("agents", agents.collect());
        if self.is_cut {
            ui::print_line("There are more files than ralph read.");
        }
    }
}

/// Writes `.ralph/config.yaml` and what belongs to it.
pub(super) fn run_init(call: &Invocation, args: &InitArgs) -> anyhow::Result<Exit> {
    let root = call.start_folder()?;
    is_no_part_of_another(call, &root)?;
    let grammar = Grammar::new(vec!["PITEST".to_owned()], None);
    let found = FoundTools::look_around(&root, &grammar);
    let is_new = fs_err::symlink_metadata(root.join(CONFIG)).is_err();
    let [spec, agent] = read_flags(call, args, is_new)?;
    if !call.json {
        found.show_found();
    }
    let asks = !args.yes && !call.json && can_ask();
    let chosen = if is_new {
        SettingChoice {
            root: &root,
            grammar: &grammar,
            found: &found,
            args,
            asks,
        }
        .choose_settings(spec.as_deref(), agent)?
    } else {
        ChosenSettings {
            spec: ".".to_owned(),
            ..ChosenSettings::default()
        }
    };
    let text = config_text(&chosen);
    let settings = config::parse(&text, &root, &[]).map_err(|error| unsound_settings(&error))?;
    let workspace = Workspace::with_settings(root.clone(), settings, call.json);
    let places = workspace.places.clone();
    // Before anything is written, ralph shows the time that the placement takes, or why the task
    // file cannot have it.
    if let Some(placement) = chosen
        .placement
        .as_ref()
        .filter(|_| is_new && places.tasks_file().exists())
    {
        preview_placement(
            call,
            &TasksTarget::of_workspace(workspace, false),
            placement,
            asks,
        )
        .map_err(|Fault { what, hint, .. }| {
            let what = format!("--placement: {what}");
            Fault::setup_fault(what, format!("{hint}; nothing was written"))
        })?;
        if asks && !ask_agreement()? {
            bail!(Unanswered(Exit::WorkLeft));
        }
    }
    let wrote = write_files(&root.join(".ralph"), &text)?;
    let own = Invocation {
        root: Some(root),
        root_by: "--root",
        format: Format::Human,
        json: false,
        given: Vec::new(),
    };
    let placed = place_gate(&own, &places, &chosen)?;
    let [new, kept] = [true, false].map(|is_new| {
        let files = wrote.iter().filter(|wrote| wrote.1 == is_new);
        files.map(|wrote| &wrote.0).collect::<Vec<_>>()
    });
    let facts = json!({
        "found": found.found_facts(), "wrote": new, "kept": kept, "placed": placed, "next": NEXT,
        "chosen": is_new.then_some(&chosen),
    });
    let mut lines = Vec::new();
    for (path, is_new) in &wrote {
        let verb = if *is_new { "wrote" } else { "kept " };
        lines.push(format!("{verb} {path}"));
    }
    let preset = chosen.agent.as_deref().and_then(Preset::named);
    let lacks =
        preset.and_then(|preset| Some((preset, lacks_as_root(preset, &base_environment())?)));
    lines.extend(lacks.map(|(preset, variable)| as_root(&preset.name, variable)));
    lines.extend(placed);
    let has_tasks = places.tasks_file().exists();
    lines.extend(missing_parts(
        &found,
        has_tasks,
        !is_new || chosen.agent.is_some(),
    ));
    lines.push(format!("next: {NEXT}"));
    ui::print_answer(call.json, &facts, &lines.join("\n"));
    Ok(Exit::Done)
}

/// The parts of a workspace that a run needs and that are not here, each with the place to add it.
fn missing_parts(found: &FoundTools, has_tasks: bool, has_agent: bool) -> Vec<String> {
    let parts = [
        (has_tasks, "no task file: write tasks.md, or set `spec:`"),
        (
            !found.packages.is_empty(),
            "no package: run `git init` in your project, or set `packages:`",
        ),
        (has_agent, "no agent: name one under `agents:`"),
    ];
    let missing = parts.into_iter().filter(|(is_there, _)| !is_there);
    missing
        .map(|(_, what)| format!("missing: {what} in {CONFIG}"))
        .collect()
}

/// Refuses a workspace inside another one unless `--root` names it.
fn is_no_part_of_another(call: &Invocation, root: &Path) -> Result<(), Fault> {
    let Ok(outer) = call.find_workspace() else {
        return Ok(());
    };
    let what = format!("This folder is inside the workspace {}.", outer.display());
    let hint = "call `ralph init` there; `ralph --root . init` makes a workspace of its own here";
    ensure_that(call.root.is_some() || outer == root, what, hint)
}

/// Returns the values of `--spec` and `--agent`, and refuses flags that `init` cannot follow.
fn read_flags(
    call: &Invocation,
    args: &InitArgs,
    is_new: bool,
) -> Result<[Option<String>; 2], Fault> {
    let [spec, agent] = ["spec", "roles"].map(|key| {
        let mut given = call.given.iter();
        let given = given.rfind(|given| given.is_flag && given.setting.key == key)?;
        Some(given.value.clone())
    });
    if let Some(set) = call.given.iter().find(|given| given.name() == "--set") {
        let what = format!(
            "--set: `ralph init` does not write `{}` into a configuration.",
            set.setting.key
        );
        return Err(Fault::setup_fault(
            what,
            "write it into .ralph/config.yaml afterwards",
        ));
    }
    if let Some(name) = agent
        .as_deref()
        .filter(|name| Preset::named(name).is_none())
    {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name.as_str()).collect();
        let hint = format!("presets are: {}", known.join(", "));
        return Err(Fault::setup_fault(
            format!("There is no preset `{name}`."),
            hint,
        ));
    }
    let has_all = args.packages.iter().all(|glob| !glob.trim().is_empty());
    ensure_that(
        has_all,
        "--packages: A pattern is empty.",
        "write folders: --packages 'src/*'",
    )?;
    let only_new = [
        ("--agent", agent.is_some()),
        ("--placement", args.placement.is_some()),
        ("--stages", args.stages.is_some()),
    ];
    if let Some((flag, _)) = only_new.iter().find(|(_, is_given)| *is_given && !is_new) {
        let what = format!(
            "{flag}: There is a .ralph/config.yaml already, and `ralph init` never overwrites it."
        );
        return Err(Fault::setup_fault(
            what,
            "change it by hand, or with `ralph place`",
        ));
    }
    Ok([spec, agent])
}

/// Proposal for a workspace of several languages.
const MIXED: &str = "one gate judges all these languages: `gates: {MUTATION: {}}` in .ralph/config.yaml, `ralph place each --gate MUTATION`";

/// Selection of the settings of a new configuration.
///
/// A value comes from flags, from a person's answer, or from the only candidate.
struct SettingChoice<'a> {
    root: &'a Path,
    grammar: &'a Grammar,
    found: &'a FoundTools,
    args: &'a InitArgs,
    asks: bool,
}

impl SettingChoice<'_> {
    fn choose_settings(
        &self,
        spec: Option<&str>,
        agent: Option<String>,
    ) -> anyhow::Result<ChosenSettings> {
        let spec = self.choose_spec(spec)?;
        let packages = self.choose_packages();
        let agent = self.choose_agent(agent)?;
        let has_java = self
            .found
            .packages
            .iter()
            .any(|package| package.found_languages().contains("Java"));
        let placement = match &self.args.placement {
            None if self.asks && has_java => {
                task_file(self.root, &spec, self.grammar)
                    .iter()
                    .for_each(list_tasks);
                Some(ask_placement()?)
            }
            named => named.clone(),
        };
        let stages = self.choose_stages(&spec)?;
        let exclude = self.choose_excluded(&spec)?;
        Ok(ChosenSettings {
            spec,
            packages,
            agent,
            placement,
            stages,
            exclude,
        })
    }

    /// Sections that look like checklists, if a person says that they are.
    fn choose_excluded(&self, spec: &str) -> anyhow::Result<Vec<String>> {
        let known = self.found.specs.iter().find(|known| known.folder == spec);
        let found = known
            .map(|known| known.checklists.clone())
            .unwrap_or_default();
        if !self.asks || found.is_empty() {
            return Ok(Vec::new());
        }
        let question = format!("Checklists rather than tasks? {}", found.join(", "));
        let answers = [
            "leave them out: their boxes are no tasks",
            "each box is a task",
        ];
        let at = one_of(&question, &answers.map(str::to_owned), 0)?;
        Ok(if at == 0 { found } else { Vec::new() })
    }

    /// The folder of the task file: the named one, the only one, or one of several that a person chooses.
    fn choose_spec(&self, flag: Option<&str>) -> anyhow::Result<String> {
        if let Some(flag) = flag {
            let folder = flag
                .strip_suffix("tasks.md")
                .unwrap_or(flag)
                .trim_end_matches('/');
            let folder = match folder.strip_prefix("./").unwrap_or(folder) {
                "" => ".",
                folder => folder,
            };
            let what = format!("--spec: There is no tasks.md in `{folder}`.");
            let hint = "name the folder of a tasks.md, relative to the workspace";
            ensure_that(
                read_spec(self.root, folder, self.grammar).is_some(),
                what,
                hint,
            )?;
            return Ok(folder.to_owned());
        }
        match self.found.specs.as_slice() {
            [] => Ok(".".to_owned()),
            [only] => Ok(only.folder.clone()),
            several if self.asks => {
                let at = one_of(
                    "Which task file?",
                    &several.iter().map(describe_spec).collect::<Vec<_>>(),
                    0,
                )?;
                Ok(several
                    .get(at)
                    .map_or_else(|| ".".to_owned(), |spec| spec.folder.clone()))
            }
            several => {
                let folders: Vec<&str> = several.iter().map(|spec| spec.folder.as_str()).collect();
                let (many, list) = (folders.len(), folders.join("\n  --spec "));
                let what =
                    format!("There are {many} task files. Which task file?\n  --spec {list}");
                bail!(Fault::setup_fault(what, "name one with --spec"))
            }
        }
    }

    /// Patterns, unless the default (`src/*`, or the workspace itself) does.
    fn choose_packages(&self) -> Option<Vec<String>> {
        if !self.args.packages.is_empty() {
            return Some(self.args.packages.clone());
        }
        let mut parents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for Package { name, .. } in &self.found.packages {
            let (parent, _) = name.rsplit_once('/').unwrap_or(("", name));
            parents.entry(parent).or_default().push(name);
        }
        if parents.is_empty() || parents.contains_key("src") || parents.get("") == Some(&vec!["."])
        {
            return None;
        }
        let mut patterns = Vec::new();
        for (parent, folders) in parents {
            if folders.len() > 1 && !parent.is_empty() {
                patterns.push(format!("{parent}/*"));
            } else {
                patterns.extend(folders.into_iter().map(escape_folder));
            }
        }
        Some(patterns)
    }

    /// A preset: the named one, one that a person chooses, or with `--yes` the first that is installed.
    fn choose_agent(&self, flag: Option<String>) -> anyhow::Result<Option<String>> {
        if flag.is_some() {
            return Ok(flag);
        }
        let known = self
            .found
            .agents
            .iter()
            .filter(|name| Preset::named(name).is_some());
        let installed: Vec<String> = known.map(|name| (*name).to_owned()).collect();
        if !self.asks || installed.is_empty() {
            return Ok(installed.into_iter().next().filter(|_| self.args.yes));
        }
        let none = "none: I name one in .ralph/config.yaml".to_owned();
        let choices: Vec<String> = installed.iter().cloned().chain([none]).collect();
        let at = one_of(
            "Which agent? It works without asking, with your permissions.",
            &choices,
            0,
        )?;
        Ok(installed.get(at).cloned())
    }

    /// Returns the source of stages; asks if the task file has none.
    fn choose_stages(&self, spec: &str) -> anyhow::Result<Option<String>> {
        let mut specs = self.found.specs.iter();
        let has_plain_tasks =
            specs.any(|known| known.folder == spec && !known.has_stages && known.boxes > 0);
        if self.args.stages.is_some() || !self.asks || !has_plain_tasks {
            return Ok(self.args.stages.clone());
        }
        let question = "The tasks have no stages. Where should they come from?";
        let at = one_of(question, &STAGES.map(str::to_owned), 0)?;
        Ok(Some(if at == 0 { "virtual" } else { "file" }.to_owned()))
    }
}

/// The folder as a pattern that matches only it.
fn escape_folder(folder: &str) -> String {
    let mut pattern = String::new();
    for c in folder.chars() {
        if "*?[]{}!".contains(c) {
            pattern.extend(['[', c, ']']);
        } else {
            pattern.push(c);
        }
    }
    pattern
}

fn print_list(title: &str, mut lines: Vec<String>) {
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    for (at, line) in lines.iter().enumerate() {
        ui::print_line(&format!("{:<11}{line}", if at == 0 { title } else { "" }));
    }
}

fn describe_package(package: &Package) -> String {
    let name = &package.name;
    let [languages, tools] = [package.found_languages(), package.build_tools()]
        .map(|words| words.into_iter().collect::<Vec<_>>().join(", "));
    if languages.is_empty() {
        format!("{name} (no build file)")
    } else {
        format!("{name} ({languages}; {tools})")
    }
}

fn describe_spec(spec: &Spec) -> String {
    let folder = if spec.folder == "." {
        String::new()
    } else {
        format!("{}/", spec.folder)
    };
    format!(
        "{folder}tasks.md ({}, {} ticked)",
        count(spec.boxes as u64, "box"),
        spec.done
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::width::text_width;

    #[test]
    fn each_answer_fits_on_a_line_of_80_columns() {
        for answer in STAGES {
            assert!(text_width(answer) <= 76, "{answer}");
        }
    }
}
