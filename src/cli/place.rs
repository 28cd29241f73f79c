//! `ralph place`: where the boxes of a gate go. Asks only on a terminal; the choice is written into the configuration
//! after the lines are in the task file.

use super::ask::{can_ask, one_of, words};
use super::diff::unified;
use super::edit_tasks::{Change, EditArgs, GATE, Target, note_without_id, show_diff};
use super::environment::CONFIG;
use super::exit::Exit;
use super::status::Source;
use super::ui;
use super::workspace::{Invocation, Workspace};
use crate::config::{self, Placement};
use crate::engine::{Fault, FaultKind};
use crate::machine::choice::is_required_open;
use crate::report::width::cut;
use crate::source::text::{count, duration};
use crate::sys::disk::RealDisk;
use crate::sys::{Disk, Swap};
use crate::task::{Families, Row, Stage, TaskFile, tasks_without_gate};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;

/// Flags of `place`.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Where the gate's boxes go; asked for when left out on a terminal
    #[arg(value_enum, value_name = "WHERE")]
    pub at: Option<Where>,
    /// The tasks for `after`: `2,5,7`
    #[arg(value_name = "IDS", value_delimiter = ',')]
    pub ids: Vec<String>,
    /// The gate; PITEST when left out
    #[arg(long, value_name = "NAME")]
    pub gate: Option<String>,
    /// Place gates behind tasks that are done, too; a person judges those: `ralph gate 2.PITEST --since REV`
    #[arg(long)]
    pub include_done: bool,
    #[command(flatten)]
    pub edit: EditArgs,
    /// Print rules for an authoring agent, so that it asks where gates go and calls `ralph place`
    #[arg(long, value_enum, value_name = "TOOL", exclusive = true)]
    pub snippet: Option<Snippet>,
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// After every required task without subtasks that is still to be done (recommended)
    Each,
    /// The same, only those that have TEST-FIRST
    Tested,
    /// After the named tasks
    After,
    /// At the end of each heading's tasks: `G1.PITEST`
    Groups,
    /// Once, after the last task: `END.PITEST`
    End,
    /// Nowhere; open gates that ralph wrote are removed
    None,
}

/// The tool whose rules are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Snippet {
    /// Kiro: save as `.kiro/steering/ralph-gates.md`
    Kiro,
    /// spec-kit: add to `.specify/memory/constitution.md`
    SpecKit,
    /// `OpenSpec`: add to the context or rules of `openspec/config.yaml`, or to AGENTS.md
    #[value(name = "openspec")]
    OpenSpec,
    /// Any agent that reads AGENTS.md
    Agents,
}

impl Snippet {
    fn text(self) -> &'static str {
        match self {
            Self::Kiro => include_str!("../../templates/authoring/kiro-steering.md"),
            Self::SpecKit => include_str!("../../templates/authoring/spec-kit.md"),
            Self::OpenSpec => include_str!("../../templates/authoring/openspec.md"),
            Self::Agents => include_str!("../../templates/authoring/agents.md"),
        }
    }
}

/// `ralph place`: 0 if the file is as chosen, 1 if `--check` found a difference.
pub(super) fn place(call: &Invocation, args: &PlaceArgs) -> anyhow::Result<Exit> {
    if let Some(snippet) = args.snippet {
        ui::line(snippet.text().trim_end());
        return Ok(Exit::Done);
    }
    let typed = typed(args)?;
    let gate = args.gate.as_deref().unwrap_or(GATE);
    check_name(gate)?;
    let target = Target::find(call, &args.edit, gate)?;
    check_gate(&target, gate)?;
    let choices = match typed {
        Some(choice) => vec![(gate.to_owned(), choice)],
        None if args.edit.check => configured(&target, args.gate.as_deref())?,
        None if !call.json && can_ask() => return ask(call, args, &target, gate),
        None => {
            let hint = "`ralph place each` (recommended), or `after IDS`, `groups`, `end`, `none`";
            bail!(Fault::setup("No placement was named, and there is no terminal to ask on.", hint));
        }
    };
    let _lock = target.hold()?;
    let mut differs = false;
    for (gate, choice) in &choices {
        if target.writes || args.edit.dry_run {
            tell_price(call, &target, args, gate, choice)?;
        }
        differs |= apply(call, &target, args, gate, choice)?;
    }
    Ok(if differs && args.edit.check { Exit::WorkLeft } else { Exit::Done })
}

/// Asks where the gate goes, shows what that would write, and writes it if a person says so.
fn ask(call: &Invocation, args: &PlaceArgs, target: &Target, gate: &str) -> anyhow::Result<Exit> {
    let file = target.file()?;
    for row in file.rows().iter().filter(|row| row.key.has_id() && row.key.stage == Stage::Implementation) {
        let done = if row.mark.is_done() { "x" } else { " " };
        ui::line(&format!("[{done}] {:<8} {}", row.key.to_string(), cut(&row.text, 60)));
    }
    let now = target.workspace.as_ref().and_then(|known| known.settings.placement.get(gate));
    let choice = ask_placement(gate, now)?;
    let shown = EditArgs { dry_run: true, tasks: args.edit.tasks.clone(), check: false };
    apply(call, &Target::find(call, &shown, gate)?, args, gate, &choice)?;
    tell_price(call, target, args, gate, &choice)?;
    if target.writes && one_of("Write this?", &["yes".to_owned(), "no".to_owned()], 0)? == 0 {
        let _lock = target.hold()?;
        apply(call, target, args, gate, &choice)?;
    }
    Ok(Exit::Done)
}

/// Brings the task file of a new workspace to the placement in its configuration: what was done.
pub(super) fn settle(call: &Invocation, choice: &Placement) -> Result<String, Fault> {
    let target = Target::find(call, &EditArgs::default(), GATE)?;
    let _lock = target.hold()?;
    let change = target.change(|file| target.placed(file, GATE, choice, false))?;
    note_without_gate(&without_id(&target, &change, choice));
    Ok(change.summary())
}

/// The lines of the tasks that get no gate for want of an id. A virtual gate needs none.
fn without_id(target: &Target, change: &Change<'_>, choice: &Placement) -> Vec<u32> {
    let needs_ids = *choice == Placement::Each && !target.is_virtual();
    if needs_ids { tasks_without_gate(&change.now) } else { Vec::new() }
}

fn note_without_gate(lines: &[u32]) {
    let hint =
        "`ralph place groups` and `ralph place end` need no ids; or begin each with one, as in `- [ ] 1. …`";
    note_without_id(lines, "no gate", hint);
}

/// Brings the file (or its diff) to a placement; true if it differs, or differed, from it.
fn apply(
    call: &Invocation,
    target: &Target,
    args: &PlaceArgs,
    gate: &str,
    choice: &Placement,
) -> Result<bool, Fault> {
    // What cannot be remembered is not begun.
    let settled = target.workspace.as_ref().filter(|_| !args.edit.check);
    let config = settled.map(|workspace| EditedConfig::with(workspace, gate, choice)).transpose()?;
    let config = config.filter(|config| !config.diff.is_empty());
    let change = target.change(|file| target.placed(file, gate, choice, args.include_done))?;
    let configured = config.as_ref().filter(|_| target.writes);
    configured.map_or(Ok(()), EditedConfig::write)?;
    let without_id = without_id(target, &change, choice);
    if call.json {
        let mut facts = change.facts(&without_id);
        facts["gate"] = json!(gate);
        facts["placement"] = json!(choice);
        facts["configured"] = json!(configured.is_some());
        ui::json(&facts);
        return Ok(change.is_any());
    }
    if target.is_virtual() && !change.is_any() {
        ui::line(&format!("{}: the file gets no line: {}.", target.shown, when(gate, choice)));
    } else {
        change.show();
    }
    match &config {
        Some(_) if target.writes => {
            ui::line(&format!("{CONFIG}: the placement of {gate} was written."));
        }
        Some(config) => show_diff(&config.diff),
        None if target.writes || change.is_any() => {}
        None => ui::line(&format!("{}: {gate} is where it was placed.", target.shown)),
    }
    note_without_gate(&without_id);
    Ok(change.is_any())
}

/// Says what the open gates will take, by those that the journal knows, and how many open tasks have none. A file whose lines
/// stay as they are has no news.
fn tell_price(
    call: &Invocation,
    target: &Target,
    args: &PlaceArgs,
    gate: &str,
    choice: &Placement,
) -> Result<(), Fault> {
    let refused = |refusal| target.refused(refusal);
    let edited = target.placed(&target.file()?, gate, choice, args.include_done).map_err(refused)?;
    let is_news = !call.json && !edited.inserted.is_empty();
    let rows = TaskFile::parse(edited.bytes, &target.grammar).rows();
    if let Some(price) = price(call, target, gate, &rows).filter(|_| is_news) {
        ui::note(&price);
    }
    Ok(())
}

/// `3 gates of PITEST to run, about 6m together (2m each, the middle of 4); 1 open task without one.`; `None` if no gate is open.
fn price(call: &Invocation, target: &Target, gate: &str, rows: &[Row]) -> Option<String> {
    let open: Vec<&Row> =
        rows.iter().filter(|row| row.key.stage.word() == gate && !row.mark.is_done()).collect();
    let judged: HashSet<&str> = open.iter().map(|row| row.key.family.as_str()).collect();
    let is_wide = open.iter().any(|row| row.key.is_wider_gate());
    let families = Families::new(rows);
    let is_work = |row: &&Row| {
        row.key.stage == Stage::Implementation
            && is_required_open(row)
            && !row.checkpoint
            && !families.is_parent(&row.key.family)
    };
    let is_without = |row: &&Row| !is_wide && !judged.contains(row.key.family.as_str());
    let without = rows.iter().filter(is_work).filter(is_without).count() as u64;
    let gates = Some(open.len() as u64).filter(|gates| *gates > 0)?;
    let source = target.workspace.as_ref().and_then(|_| Source::open(call).ok());
    let spent = source.and_then(|mut source| source.board().ok()).map(|board| board.spent);
    let time = match spent.as_ref().and_then(|spent| spent.median(gate)) {
        Some((millis, known)) => format!(
            ", about {} together ({} each, the middle of {known})",
            duration(millis * gates / 1000),
            duration(millis / 1000)
        ),
        None => String::new(),
    };
    let [gates, without] = [count(gates, "gate"), count(without, "open task")];
    Some(format!("{gates} of {gate} to run{time}; {without} without one."))
}

/// When a gate runs that has no line.
fn when(gate: &str, choice: &Placement) -> String {
    match choice {
        Placement::Each | Placement::Tested => {
            format!("{gate} runs after each task that is still to be done")
        }
        Placement::After(ids) => format!("{gate} runs after {}", ids.join(", ")),
        Placement::Groups => format!("G<n>.{gate} runs after the last task of each heading"),
        Placement::End => format!("END.{gate} runs after the last task"),
        Placement::None => format!("{gate} does not run"),
    }
}

/// Asks for the placement of a gate, with the choice of now as the default.
pub(super) fn ask_placement(gate: &str, now: Option<&Placement>) -> anyhow::Result<Placement> {
    let options = [
        "each    after every task that is still to be done (recommended)".to_owned(),
        "tested  the same, only those with TEST-FIRST".to_owned(),
        "after   after the tasks that I name".to_owned(),
        format!("groups  at the end of each heading: G1.{gate}, G2.{gate}, …"),
        format!("end     once, after the last task: END.{gate}"),
        "none    nowhere".to_owned(),
    ];
    let known = if let Some(Placement::After(ids)) = now { ids.clone() } else { Vec::new() };
    let choices = [
        Placement::Each,
        Placement::Tested,
        Placement::After(known),
        Placement::Groups,
        Placement::End,
        Placement::None,
    ];
    let default = choices.iter().position(|choice| now == Some(choice)).unwrap_or(0);
    let at = one_of(&format!("Where {gate} goes"), &options, default)?;
    match choices.into_iter().nth(at) {
        Some(Placement::After(known)) => {
            let ids = words("After which tasks (as in 2,5,7)", &known)?;
            Ok(Placement::After(ids.iter().filter_map(|id| tidy(id)).collect()))
        }
        chosen => Ok(chosen.unwrap_or(Placement::None)),
    }
}

/// What was typed; `None` when nothing was.
fn typed(args: &PlaceArgs) -> Result<Option<Placement>, Fault> {
    let usage = |what: &str| Err(Fault::setup(what, "`ralph place after 2,5,7`"));
    let ids: Vec<String> = args.ids.iter().filter_map(|id| tidy(id)).collect();
    Ok(Some(match args.at {
        Some(Where::After) if ids.is_empty() => return usage("`place after` names no tasks."),
        Some(Where::After) => Placement::After(ids),
        _ if !args.ids.is_empty() => return usage("Tasks are named with `after` only."),
        Some(Where::Each) => Placement::Each,
        Some(Where::Tested) => Placement::Tested,
        Some(Where::Groups) => Placement::Groups,
        Some(Where::End) => Placement::End,
        Some(Where::None) => Placement::None,
        None => return Ok(None),
    }))
}

/// An id as it is kept: without blanks around it and without a trailing dot.
pub(super) fn tidy(id: &str) -> Option<String> {
    let id = id.trim().trim_end_matches('.');
    (!id.is_empty()).then(|| id.to_owned())
}

/// `[A-Z][A-Z0-9-]*`, and no word of another stage.
fn check_name(gate: &str) -> Result<(), Fault> {
    let well_formed = gate.starts_with(|c: char| c.is_ascii_uppercase())
        && gate.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    if well_formed && Stage::from(gate.to_owned()).is_gate() {
        return Ok(());
    }
    let what = format!("--gate: `{}` is no name for a gate.", gate.escape_debug());
    Err(Fault::setup(what, "a gate is named as in `2.PITEST`: capitals, digits and `-`"))
}

fn check_gate(target: &Target, gate: &str) -> Result<(), Fault> {
    if target.grammar.gates.iter().any(|known| known == gate) {
        return Ok(());
    }
    let what = format!("--gate: There is no gate `{gate}` in .ralph/config.yaml.");
    let hint = format!("configured gates are: {}", target.grammar.gates.join(", "));
    Err(Fault::setup(what, hint))
}

/// The configured choices: of one gate, or of all that have one.
fn configured(target: &Target, gate: Option<&str>) -> Result<Vec<(String, Placement)>, Fault> {
    let placement = target.workspace.iter().flat_map(|workspace| workspace.settings.placement.clone());
    let chosen: Vec<_> = placement.filter(|(name, _)| gate.is_none_or(|gate| gate == name)).collect();
    if chosen.is_empty() {
        let hint = "`ralph place --check each`, or `ralph place each` first";
        return Err(Fault::setup("No placement was named, and none is configured.", hint));
    }
    Ok(chosen)
}

/// The configuration with a choice in it.
struct EditedConfig {
    path: PathBuf,
    before: Vec<u8>,
    after: String,
    /// The change as a unified diff; empty if there is none.
    diff: String,
}

impl EditedConfig {
    fn with(workspace: &Workspace, gate: &str, choice: &Placement) -> Result<Self, Fault> {
        let root = &workspace.places.workspace;
        let path = root.join(CONFIG);
        let before = RealDisk::new().read(&path)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&before);
        let mut placement = workspace.settings.placement.clone();
        placement.insert(gate.to_owned(), choice.clone());
        let after = config::with_placement(&text, &placement, root)
            .map_err(|error| Fault::setup(error.to_string(), error.hint))?;
        let diff = unified(CONFIG, &text, &after);
        Ok(Self { path, before, after, diff })
    }

    fn write(&self) -> Result<(), Fault> {
        let mut disk = RealDisk::new();
        disk.create_shared(&self.path)?;
        if disk.swap(&self.path, &self.before, self.after.as_bytes())? == Swap::Done {
            return Ok(());
        }
        let what = format!(
            "{CONFIG}: Another program wrote to it; the task file was edited, the choice was not written."
        );
        Err(Fault::new(FaultKind::Changed, what, "run the command again"))
    }
}
