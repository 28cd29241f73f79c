//! `ralph place`: where the boxes of a gate go. The choice is written into the configuration after the lines are in the
//! task file.

mod price;

use super::edit_tasks::{
    EditArgs, GATE, TasksEdit, TasksTarget, note_tests_alone, note_without_id, show_diff,
    unified_diff,
};
use super::{CONFIG, Exit, Fault, FaultKind, Invocation, RealDisk, Workspace, ensure_that, ui};
use crate::config::{self, Placement};
use crate::sys::{Disk, Swap};
use crate::task::{
    EditRefusal, LinesEdited, Refused, Stage, TaskFile, tasks_of_tests_alone, tasks_without_gate,
};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;

/// Flags of `place`.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Place of the gate's boxes (`--check` takes the configured one)
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
    /// The deepest headings that are groups, for `groups`: with 2, `#` and `##`; all when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub level: Option<u8>,
    #[command(flatten)]
    pub edit: EditArgs,
    /// Print rules for an authoring agent, so that it asks where gates go and calls `ralph place`
    #[arg(long, value_enum, value_name = "TOOL", exclusive = true)]
    pub snippet: Option<Snippet>,
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// After every required task without subtasks that is still to be done (recommended: code without TEST-FIRST too)
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
    fn snippet_text(self) -> &'static str {
        match self {
            Self::Kiro => include_str!("../../templates/authoring/kiro-steering.md"),
            Self::SpecKit => include_str!("../../templates/authoring/spec-kit.md"),
            Self::OpenSpec => include_str!("../../templates/authoring/openspec.md"),
            Self::Agents => include_str!("../../templates/authoring/agents.md"),
        }
    }
}

/// `ralph place`: 0 if the file is as chosen, 1 if `--check` found a difference.
pub(super) fn run_place(call: &Invocation, args: &PlaceArgs) -> Result<Exit, Fault> {
    if let Some(snippet) = args.snippet {
        ui::print_line(snippet.snippet_text().trim_end());
        return Ok(Exit::Done);
    }
    let typed = typed_placement(args)?;
    let gate = args.gate.as_deref().unwrap_or(GATE);
    check_name(gate)?;
    let target = TasksTarget::find_target(call, &args.edit, gate)?;
    let known = &target.grammar.gates;
    let what = format!("--gate: There is no gate `{gate}` in .ralph/config.yaml.");
    let hint = format!("configured gates are: {}", known.join(", "));
    ensure_that(known.iter().any(|own| own == gate), what, hint)?;
    let choices = match typed {
        Some(choice) => vec![(gate.to_owned(), choice)],
        None if args.edit.check => configured_placements(&target, args.gate.as_deref())?,
        None => {
            let hint = "`ralph place each` (recommended), or `tested`, `after IDS`, `groups`, `end`, `none`";
            return Err(Fault::setup_fault("No placement was named.", hint));
        }
    };
    let _lock = target.hold_lock()?;
    let target = match &choices[..] {
        [(gate, choice)] => target.with_groups(gate, choice)?,
        _ => target,
    };
    let mut differs = false;
    for (gate, choice) in &choices {
        let plan = GatePlacement {
            target: &target,
            gate,
            choice,
            include_done: args.include_done,
        };
        if target.writes || args.edit.dry_run {
            plan.tell_price(call)?;
        }
        differs |= plan.apply_plan(call, args.edit.check)?;
    }
    Ok(if differs && args.edit.check {
        Exit::WorkLeft
    } else {
        Exit::Done
    })
}

/// Shows the effect of a placement in a new workspace; with `shows` its lines, too.
pub(super) fn preview_placement(
    call: &Invocation,
    target: &TasksTarget,
    choice: &Placement,
    shows: bool,
) -> Result<(), Fault> {
    let plan = GatePlacement {
        target,
        gate: GATE,
        choice,
        include_done: false,
    };
    let change = plan.planned_edit()?;
    if shows {
        plan.show_plan(&change);
    }
    plan.tell_price(call)
}

/// Brings the task file of a new workspace to the placement in its configuration: what was done.
pub(super) fn settle_placement(call: &Invocation, choice: &Placement) -> Result<String, Fault> {
    let target = &TasksTarget::find_target(call, &EditArgs::default(), GATE)?;
    let _lock = target.hold_lock()?;
    let plan = GatePlacement {
        target,
        gate: GATE,
        choice,
        include_done: false,
    };
    let change = plan.planned_edit()?;
    note_without_gate(&plan.without_id(&change));
    Ok(change.summarize_edit())
}

fn note_without_gate(lines: &[u32]) {
    let hint = "`ralph place groups` and `ralph place end` need no ids; or begin each with one, as in `- [ ] 1. …`";
    note_without_id(lines, "no gate", hint);
}

/// Place of a gate in a task file.
#[derive(Clone, Copy)]
struct GatePlacement<'t> {
    target: &'t TasksTarget,
    gate: &'t str,
    choice: &'t Placement,
    /// Behind tasks that are done, too.
    include_done: bool,
}

impl<'t> GatePlacement<'t> {
    /// Returns the effect on the lines of the file.
    ///
    /// Virtual gates have no lines: the configuration alone gives their place, but the tasks that
    /// it names must exist.
    fn place_in(&self, file: &TaskFile) -> Result<LinesEdited, EditRefusal> {
        match file.place_gates(self.gate, self.choice, self.include_done) {
            Err(refusal) if refusal.kind == Refused::UnknownIds => Err(refusal),
            _ if self.target.is_virtual() => file.place_gates(self.gate, &Placement::None, false),
            placed => placed,
        }
    }

    fn planned_edit(&self) -> Result<TasksEdit<'t>, Fault> {
        self.target.change_file(|file| self.place_in(file))
    }

    /// The lines of the tasks that get no gate for want of an id. A virtual gate needs none.
    fn without_id(&self, change: &TasksEdit<'_>) -> Vec<u32> {
        let needs_ids = *self.choice == Placement::Each && !self.target.is_virtual();
        if needs_ids {
            tasks_without_gate(&change.now)
        } else {
            Vec::new()
        }
    }

    /// Brings the file (or its diff) to it; true if the file differs, or differed.
    fn apply_plan(&self, call: &Invocation, checks: bool) -> Result<bool, Fault> {
        let Self {
            target,
            gate,
            choice,
            ..
        } = *self;
        // Nothing starts unless the choice can be stored. `placement:` belongs to the spec that the
        // configuration names. Virtual gates have no other place.
        let own = target
            .workspace
            .as_ref()
            .filter(|workspace| target.is_virtual() || !workspace.has_other_spec());
        let settled = own.filter(|_| !checks || target.is_virtual());
        let config = settled
            .map(|workspace| EditedConfig::with_placement(workspace, gate, choice))
            .transpose()?;
        let config = config.filter(|config| !config.diff.is_empty());
        let change = self.planned_edit()?;
        // Without lines the configuration alone says where a gate is, and a gate that it does not name is after each task.
        let is_other =
            target.is_virtual() && !target.gates.contains(&(gate.to_owned(), choice.clone()));
        let configured = config.as_ref().filter(|_| target.writes);
        configured.map_or(Ok(()), EditedConfig::write_config)?;
        let without_id = self.without_id(&change);
        if call.json {
            let mut facts = change.edit_facts(&without_id);
            facts["gate"] = json!(gate);
            facts["placement"] = json!(choice);
            facts["configured"] = json!(configured.is_some());
            ui::print_json(&facts);
            return Ok(change.is_any() || is_other);
        }
        self.show_plan(&change);
        match &config {
            Some(_) if target.writes => {
                ui::print_line(&format!("{CONFIG}: the placement of {gate} was written."));
            }
            Some(config) => show_diff(&config.diff),
            None if target.writes || change.is_any() => {}
            None => ui::print_line(&format!("{}: {gate} is where it was placed.", target.shown)),
        }
        if target.workspace.is_some() && own.is_none() {
            let spec = &target.shown;
            ui::print_note(&format!(
                "note: `placement:` in {CONFIG} is that of another spec and stays; {spec} has the lines."
            ));
        }
        note_without_gate(&without_id);
        if *self.choice == Placement::Each {
            note_tests_alone(gate, &tasks_of_tests_alone(&change.now));
        }
        Ok(change.is_any() || is_other)
    }

    fn show_plan(&self, change: &TasksEdit<'_>) {
        if self.target.is_virtual() && !change.is_any() {
            let (shown, when) = (&self.target.shown, gate_time(self.gate, self.choice));
            ui::print_line(&format!("{shown}: the file gets no line: {when}."));
        } else {
            change.show_edit();
        }
    }
}

/// When a gate runs that has no line.
fn gate_time(gate: &str, choice: &Placement) -> String {
    match choice {
        Placement::Each | Placement::Tested => {
            format!("{gate} runs after each task that is still to be done")
        }
        Placement::After(ids) => format!("{gate} runs after task {}", ids.join(", task ")),
        Placement::Groups => format!("G<n>.{gate} runs after the last task of each heading"),
        Placement::GroupsOf { groups } => {
            format!("G<n>.{gate} runs after the last task of each heading down to level {groups}")
        }
        Placement::End => format!("END.{gate} runs after the last task"),
        Placement::None => format!("{gate} does not run"),
    }
}

/// Returns the typed placement; `None` without arguments.
fn typed_placement(args: &PlaceArgs) -> Result<Option<Placement>, Fault> {
    let ids: Vec<String> = args.ids.iter().filter_map(|id| tidy_id(id)).collect();
    let has_groups = args.level.is_none() || args.at == Some(Where::Groups);
    let what = "A level is named with `groups` only.";
    ensure_that(has_groups, what, "`ralph place groups --level 2`")?;
    let is_after = args.at == Some(Where::After);
    let hint = "`ralph place after 2,5,7`";
    let what = "`place after` names no tasks.";
    ensure_that(!is_after || !ids.is_empty(), what, hint)?;
    let what = "Tasks are named with `after` only.";
    ensure_that(is_after || args.ids.is_empty(), what, hint)?;
    Ok(Some(match args.at {
        Some(Where::After) => Placement::After(ids),
        Some(Where::Each) => Placement::Each,
        Some(Where::Tested) => Placement::Tested,
        Some(Where::Groups) => args
            .level
            .map_or(Placement::Groups, |groups| Placement::GroupsOf { groups }),
        Some(Where::End) => Placement::End,
        Some(Where::None) => Placement::None,
        None => return Ok(None),
    }))
}

/// An id as it is kept: without blanks around it and without a trailing dot.
pub(super) fn tidy_id(id: &str) -> Option<String> {
    let id = id.trim().trim_end_matches('.');
    (!id.is_empty()).then(|| id.to_owned())
}

/// `[A-Z][A-Z0-9-]*`, and no word of another stage.
fn check_name(gate: &str) -> Result<(), Fault> {
    let well_formed = gate.starts_with(|c: char| c.is_ascii_uppercase())
        && gate
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    let what = format!("--gate: `{}` is no name for a gate.", gate.escape_debug());
    let hint = "a gate is named as in `2.PITEST`: capitals, digits and `-`";
    ensure_that(
        well_formed && Stage::from(gate.to_owned()).is_gate(),
        what,
        hint,
    )
}

/// The configured choices: of one gate, or of all that have one.
fn configured_placements(
    target: &TasksTarget,
    gate: Option<&str>,
) -> Result<Vec<(String, Placement)>, Fault> {
    let placement = target
        .workspace
        .iter()
        .flat_map(|workspace| workspace.settings.placement.clone());
    let chosen: Vec<_> = placement
        .filter(|(name, _)| gate.is_none_or(|gate| gate == name))
        .collect();
    let hint = "`ralph place --check each`, or `ralph place each` first";
    ensure_that(
        !chosen.is_empty(),
        "No placement was named, and none is configured.",
        hint,
    )?;
    Ok(chosen)
}

/// The configuration with a choice in it.
struct EditedConfig {
    path: PathBuf,
    before: Vec<u8>,
    after: String,
    /// The change as a unified diff; empty without a change.
    diff: String,
}

impl EditedConfig {
    fn with_placement(
        workspace: &Workspace,
        gate: &str,
        choice: &Placement,
    ) -> Result<Self, Fault> {
        let root = &workspace.places.workspace;
        let path = root.join(CONFIG);
        let before = RealDisk::new().read(&path)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&before);
        let mut placement = workspace.settings.placement.clone();
        placement.insert(gate.to_owned(), choice.clone());
        let after = config::with_placement(&text, &placement, root)
            .map_err(|error| Fault::setup_fault(error.to_string(), error.hint))?;
        let diff = unified_diff(CONFIG, &text, &after);
        Ok(Self {
            path,
            before,
            after,
            diff,
        })
    }

    fn write_config(&self) -> Result<(), Fault> {
        let mut disk = RealDisk::new();
        disk.create_shared(&self.path)?;
        if disk.swap(&self.path, &self.before, self.after.as_bytes())? == Swap::Done {
            return Ok(());
        }
        let what = format!(
            "{CONFIG}: Another program wrote to it; the task file was edited, the choice was not written."
        );
        Err(Fault::new(
            FaultKind::Changed,
            what,
            "run the command again",
        ))
    }
}
