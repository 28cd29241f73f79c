//! `ralph init`: looks at what is there, asks what it cannot know, writes `.ralph/`.
//!
//! Owns: what is chosen where several things were found, and which files a new workspace gets.
//!
//! Promises: never overwrites a file; asks only on a terminal and before anything is written; what it cannot
//! choose it leaves out and says so, or refuses with the flag that decides.
//!
//! Refuses to know: where things are looked for, the text of the configuration.

mod placement;
mod survey;
mod text;
mod write;

use super::ask::{Asked, Unanswered, can_ask, one_of};
use super::exit::Exit;
use super::surroundings::unsound;
use super::ui;
use super::workspace::{Place, named};
use crate::config::{self, PRESETS, Preset, Settings};
use crate::engine::{Fault, FaultKind};
use crate::git::Repositories;
use crate::source::Classifier;
use crate::task::{Grammar, Placement};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use survey::{Found, Spec};
use text::{Chosen, config_text};
use write::{next, write};

/// The answers to where stages come from; each fits on a line of 80 columns.
const STAGES: [&str; 2] = [
    "virtual: the file is left alone, each task goes through all stages anyway",
    "file: only what stands in the file is done (`ralph stage` can add lines)",
];

/// Flags of `init`; `--spec` and `--agent` are those of every verb.
#[derive(Debug, Default, Args)]
pub struct InitArgs {
    /// Ask nothing: take what is the only one, and the first agent CLI that was found
    #[arg(long, short)]
    pub yes: bool,
    /// Folders of the packages: `src/*`; may be given more than once
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub packages: Vec<String>,
    /// Where PITEST stands: each, groups, end, none, or after:2,5,7
    #[arg(long, value_name = "WHERE", value_parser = placement::typed)]
    pub placement: Option<Placement>,
    /// Where the stages of a task come from: lines of the file, or nowhere in it
    #[arg(long, value_enum, value_name = "WHERE")]
    pub stages: Option<Stages>,
}

/// Where the stages of a task come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stages {
    /// The lines of the task file
    File,
    /// Nowhere in the file: each task goes through the default stages all the same
    Virtual,
}

/// Writes `.ralph/config.yaml` and `.ralph/prompts/`.
pub(super) fn init(place: &Place<'_>, args: &InitArgs) -> Result<Exit, Fault> {
    let root = named(place.root.unwrap_or(Path::new(".")), place.root_by)?;
    if place.root.is_none() {
        stands_alone(place, &root)?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let grammar = Grammar::new(vec!["PITEST".to_owned()], None);
    let found = survey::survey(&root, &path.to_string_lossy(), &grammar);
    let folder = root.join(".ralph");
    let flags = Flags::of(place, args)?;
    let is_new = fs_err::symlink_metadata(folder.join("config.yaml")).is_err();
    if let (false, Some(flag)) =
        (is_new, args.placement.as_ref().map(|_| "--placement").or(args.stages.map(|_| "--stages")))
    {
        let what =
            format!("{flag}: There is a .ralph/config.yaml already, and `ralph init` never overwrites it.");
        return Err(Fault::new(FaultKind::Setup, what, "change it by hand, or with `ralph place`"));
    }
    let asks = is_new && !args.yes && !place.json && can_ask();
    if !place.json {
        told(&found);
    }
    let asked = if is_new {
        choose(&root, &found, args, &flags, asks, &grammar)
    } else {
        Ok(Chosen { spec: ".".to_owned(), ..Chosen::default() })
    };
    let chosen = match asked {
        Ok(chosen) => chosen,
        Err(Unanswered::Failed(fault)) => return Err(fault),
        Err(Unanswered::Left(exit)) => {
            ui::note("Nothing was chosen; nothing was written.");
            return Ok(exit);
        }
    };
    let text = config_text(&chosen);
    let settings = config::parse(&text, &root).map_err(|errors| unsound(&errors))?;
    if is_new {
        placement::can_be_placed(&root, &chosen, &grammar)?;
    }
    let wrote = write(&folder, &text)?;
    let unmatched = if is_new { unmatched(&root, &settings) } else { None };
    let next = next(&root, is_new, &found, flags.agent.as_deref());
    let placed = placement::placed(&root, &chosen)?;
    if place.json {
        let names = |new: bool| -> Vec<String> {
            wrote.iter().filter(|(_, is_new)| *is_new == new).map(|(path, _)| below(&root, path)).collect()
        };
        ui::json(&json!({
            "found": found, "wrote": names(true), "kept": names(false), "placed": placed, "next": next,
            "warning": unmatched,
            "chosen": is_new.then(|| json!({ "spec": chosen.spec, "packages": chosen.packages, "agent": chosen.agent, "placement": chosen.placement, "stages": chosen.stages.map(Stages::word) })),
        }));
        return Ok(Exit::Done);
    }
    for (path, is_new) in &wrote {
        ui::line(&format!("{} {}", if *is_new { "wrote" } else { "kept " }, below(&root, path)));
    }
    if let Some(line) = &placed {
        ui::line(line);
    }
    if let Some(warning) = &unmatched {
        ui::note(&format!("warning: {warning}"));
    }
    ui::line(&format!("next: {next}"));
    Ok(Exit::Done)
}

/// What is to be said of patterns that name no package.
fn unmatched(root: &Path, settings: &Settings) -> Option<String> {
    if !settings.packages_given {
        return None;
    }
    let files = &settings.files;
    let classifier = Classifier::new(&files.test, &files.production, &files.build).ok()?;
    let found = Repositories::discover(root, &settings.packages, true, classifier);
    let names = found.map(|found| found.names());
    let patterns = settings.packages.join(", ");
    match names {
        Ok(names) if !names.is_empty() => None,
        Ok(_) => Some(format!("No git repository fits `packages: {patterns}` now.")),
        Err(error) => Some(format!("`packages: {patterns}`: {error}")),
    }
}

/// Refuses a workspace inside of another one that nobody named.
fn stands_alone(place: &Place<'_>, root: &Path) -> Result<(), Fault> {
    match place.find() {
        Ok(outer) if outer != root => {
            let what = format!("This folder is inside of the workspace {}.", outer.display());
            let hint = "call `ralph init` there; `ralph --root . init` makes a workspace of its own here";
            Err(Fault::new(FaultKind::Setup, what, hint))
        }
        _ => Ok(()),
    }
}

/// What a new configuration says: what flags name, what a person answers, what is the only one.
fn choose(
    root: &Path,
    found: &Found,
    args: &InitArgs,
    flags: &Flags,
    asks: bool,
    grammar: &Grammar,
) -> Asked<Chosen> {
    let spec = choose_spec(root, found, flags.spec.as_deref(), asks, grammar)?;
    let packages = choose_packages(found, args);
    let agent = choose_agent(found, flags.agent.as_deref(), args.yes, asks)?;
    let placement = match &args.placement {
        None if asks && found.has_java() => Some(super::place::ask::placement("PITEST", None)?),
        named => named.clone(),
    };
    let stages = choose_stages(found, &spec, args.stages, asks)?;
    Ok(Chosen { spec, packages, agent, placement, stages })
}

/// What flags said.
struct Flags {
    spec: Option<String>,
    agent: Option<String>,
}

impl Flags {
    fn of(place: &Place<'_>, args: &InitArgs) -> Result<Self, Fault> {
        let flag = |key: &str| {
            let said = place.given.iter().rev().find(|given| given.setting.key == key && given.is_flag());
            said.map(|given| given.value.clone())
        };
        if let Some(set) = place.given.iter().find(|given| given.name() == "--set") {
            let what =
                format!("--set: `{}` is not written into a configuration by `ralph init`.", set.setting.key);
            return Err(Fault::new(FaultKind::Setup, what, "write it into .ralph/config.yaml afterwards"));
        }
        let agent = flag("roles");
        if let Some(name) = agent.as_deref().filter(|name| Preset::named(name).is_none()) {
            let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let what = format!("There is no preset `{name}`.");
            return Err(Fault::new(FaultKind::Setup, what, format!("presets are: {}", known.join(", "))));
        }
        if args.packages.iter().any(|glob| glob.trim().is_empty()) {
            return Err(Fault::new(
                FaultKind::Setup,
                "--packages: A pattern is empty.",
                "write folders: --packages 'src/*'",
            ));
        }
        Ok(Self { spec: flag("spec"), agent })
    }
}

/// The folder of the task file: the named one, the only one, or one of several that a person chooses.
fn choose_spec(
    root: &Path,
    found: &Found,
    flag: Option<&str>,
    asks: bool,
    grammar: &Grammar,
) -> Asked<String> {
    if let Some(flag) = flag {
        let folder = flag.strip_suffix("tasks.md").unwrap_or(flag).trim_end_matches('/');
        let folder = folder.strip_prefix("./").unwrap_or(folder);
        let folder = if folder.is_empty() { "." } else { folder };
        if survey::spec(root, folder, grammar).is_none() {
            let what = format!("--spec: There is no tasks.md in `{folder}`.");
            return Err(Fault::new(
                FaultKind::Setup,
                what,
                "name the folder of a tasks.md, relative to the workspace",
            )
            .into());
        }
        return Ok(folder.to_owned());
    }
    match found.specs.as_slice() {
        [] => Ok(".".to_owned()),
        [only] => Ok(only.folder.clone()),
        several if asks => {
            let at = one_of("Which task file?", &several.iter().map(shown).collect::<Vec<_>>(), 0)?;
            Ok(several.get(at).map_or_else(|| ".".to_owned(), |spec| spec.folder.clone()))
        }
        several => {
            let list: Vec<String> = several.iter().map(|spec| format!("  --spec {}", spec.folder)).collect();
            let what = format!(
                "There are {} task files, and nothing says which:\n{}",
                several.len(),
                list.join("\n")
            );
            Err(Fault::new(FaultKind::Setup, what, "name one with --spec").into())
        }
    }
}

/// Patterns, where `src/*` and the workspace itself are not it.
fn choose_packages(found: &Found, args: &InitArgs) -> Option<Vec<String>> {
    if !args.packages.is_empty() {
        return Some(args.packages.clone());
    }
    let by_default = |folder: &str| folder == "." || is_in_src(folder);
    if found.packages.is_empty() || found.packages.iter().any(|package| by_default(&package.folder)) {
        return None;
    }
    let mut parents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &found.packages {
        let (parent, _) = package.folder.rsplit_once('/').unwrap_or(("", &package.folder));
        parents.entry(parent).or_default().push(&package.folder);
    }
    let glob = |(parent, folders): (&str, Vec<&str>)| match folders.as_slice() {
        several if several.len() > 1 && !parent.is_empty() => vec![format!("{parent}/*")],
        several => several.iter().map(|folder| escaped(folder)).collect(),
    };
    Some(parents.into_iter().flat_map(glob).collect())
}

fn is_in_src(folder: &str) -> bool {
    folder.strip_prefix("src/").is_some_and(|rest| !rest.contains('/'))
}

/// The folder as a pattern that matches it alone.
fn escaped(folder: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!');
    folder.chars().map(|c| if special(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

/// A preset: the named one, one that a person chooses, or with `--yes` the first that is installed.
fn choose_agent(found: &Found, flag: Option<&str>, yes: bool, asks: bool) -> Asked<Option<String>> {
    let installed = found.presets();
    if let Some(flag) = flag {
        return Ok(Some(flag.to_owned()));
    }
    if asks && !installed.is_empty() {
        let mut choices: Vec<String> = installed.iter().map(|name| (*name).to_owned()).collect();
        choices.push("none: I name one in .ralph/config.yaml".to_owned());
        let at = one_of("Which agent? It works without asking back, with your rights.", &choices, 0)?;
        return Ok(installed.get(at).map(|name| (*name).to_owned()));
    }
    Ok(installed.first().filter(|_| yes).map(|name| (*name).to_owned()))
}

/// Plain tasks may go through stages that stand nowhere in the file; asked for where the file has none.
fn choose_stages(found: &Found, spec: &str, flag: Option<Stages>, asks: bool) -> Asked<Option<Stages>> {
    let plain = found.specs.iter().any(|known| known.folder == spec && !known.has_stages && known.boxes > 0);
    if flag.is_some() || !asks || !plain {
        return Ok(flag);
    }
    let question = "The tasks have no stages. Where shall they come from?";
    let at = one_of(question, &STAGES.map(str::to_owned), 0)?;
    Ok(Some(if at == 0 { Stages::Virtual } else { Stages::File }))
}

impl Stages {
    /// The word in the configuration.
    fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Virtual => "virtual",
        }
    }
}

/// Shows what was found.
fn told(found: &Found) {
    let list = |title: &str, lines: Vec<String>| {
        let lines = if lines.is_empty() { vec!["none".to_owned()] } else { lines };
        for (at, line) in lines.iter().enumerate() {
            ui::line(&format!("{:<11}{line}", if at == 0 { title } else { "" }));
        }
    };
    list("specs", found.specs.iter().map(shown).collect());
    let package = |package: &survey::Package| {
        let words = |set: &BTreeSet<&str>| set.iter().copied().collect::<Vec<_>>().join(", ");
        let made = [words(&package.languages), words(&package.tools)].join("; ");
        let made = if package.languages.is_empty() { "no build file".to_owned() } else { made };
        format!("{} ({made})", package.folder)
    };
    list("packages", found.packages.iter().map(package).collect());
    list("agents", found.agents.iter().map(|name| (*name).to_owned()).collect());
    if found.cut {
        ui::line("There are more folders than were looked at.");
    }
}

fn shown(spec: &Spec) -> String {
    let folder = if spec.folder == "." { String::new() } else { format!("{}/", spec.folder) };
    let boxes = if spec.boxes == 1 { "1 box".to_owned() } else { format!("{} boxes", spec.boxes) };
    format!("{folder}tasks.md ({}; {boxes}, {} ticked)", spec.dialect, spec.done)
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::width::width;

    #[test]
    fn each_answer_fits_on_a_line_of_80_columns() {
        for answer in STAGES {
            assert!(width(answer) <= 76, "{answer}");
        }
    }
}
