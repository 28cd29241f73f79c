//! `ralph stage`: gives plain tasks their stages, and the gates that the configuration places; takes them away again.

use super::edit_tasks::{EditArgs, GATE, TasksTarget, note_without_id};
use super::place::tidy_id;
use super::{Exit, Fault, Invocation, ensure_that, ui};
use crate::task::{Stage, TaskKey, TaskSelection, tasks_without_stages};
use clap::Args;

/// Flags of `stage`.
#[derive(Debug, Args)]
pub struct StageArgs {
    /// The tasks: `2,5` or `2 5`; each gets the stages that it lacks
    #[arg(value_name = "IDS", value_delimiter = ',', conflicts_with = "all")]
    pub ids: Vec<String>,
    /// Every open required task that has no stages yet
    #[arg(long)]
    pub all: bool,
    /// Take open lines of stages away again, of all tasks or the named ones; gates of `ralph place` stay
    #[arg(long, conflicts_with = "all")]
    pub none: bool,
    /// These stages and gates alone: `TEST-FIRST,PRE-CR`
    #[arg(long, value_name = "STAGES", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub edit: EditArgs,
}

/// `ralph stage`: 0 if the tasks have their stages, 1 if `--check` found one that lacks some.
pub(super) fn run_stage(call: &Invocation, args: &StageArgs) -> Result<Exit, Fault> {
    let target = TasksTarget::find_target(call, &args.edit, GATE)?;
    let what = "The configuration says `stages: virtual`: each task goes through its stages without lines for them.";
    ensure_that(
        !target.is_virtual() || args.none,
        what,
        "write `stages: file` in .ralph/config.yaml to get lines",
    )?;
    let hint = "`ralph stage --all`, `ralph stage 2,5`, or `ralph stage --none`";
    ensure_that(
        args.all || args.none || !args.ids.is_empty(),
        "No task was named.",
        hint,
    )?;
    apply_stages(call, &target, args)
}

fn apply_stages(call: &Invocation, target: &TasksTarget, args: &StageArgs) -> Result<Exit, Fault> {
    let only = named_stages(target, &args.only)?;
    let _lock = target.hold_lock()?;
    let is_meant = |stage: &Stage| only.is_empty() || only.contains(stage);
    let ids: Vec<String> = args.ids.iter().filter_map(|id| tidy_id(id)).collect();
    let goes = |key: &TaskKey| {
        let stays = match &key.stage {
            Stage::Implementation => true,
            // `stage` never moves a wider gate, or one that a person placed.
            Stage::Gate(name) => key.is_wider_gate() || target.is_chosen(name),
            _ => false,
        };
        !stays && is_meant(&key.stage) && (ids.is_empty() || ids.contains(&key.family))
    };
    let selection = if args.all {
        TaskSelection::Plain
    } else {
        TaskSelection::Named(&args.ids)
    };
    let change = target.change_file(|file| {
        if args.none {
            return file.remove_stages(goes);
        }
        file.add_stages(selection, &target.gates_of(file), is_meant)
    })?;
    let without_id = if args.all {
        tasks_without_stages(&change.now)
    } else {
        Vec::new()
    };
    if call.json {
        ui::print_json(&change.edit_facts(&without_id));
    } else {
        if change.is_any() {
            change.show_edit();
        } else {
            let these = if without_id.is_empty() {
                "These"
            } else {
                "All other"
            };
            let why = if args.none {
                "no open line of a stage"
            } else {
                "their stages, or get none (parents, checkpoints)"
            };
            ui::print_line(&format!("{}: {these} tasks have {why}.", target.shown));
        }
        let hint =
            "begin each with an id of its own, as in `- [ ] 1. …`; `stages: virtual` needs none";
        note_without_id(&without_id, "no stages", hint);
    }
    Ok(if change.is_any() && args.edit.check {
        Exit::WorkLeft
    } else {
        Exit::Done
    })
}

/// The stages that `--only` names.
fn named_stages(target: &TasksTarget, words: &[String]) -> Result<Vec<Stage>, Fault> {
    words
        .iter()
        .map(|word| match Stage::from(word.trim().to_owned()) {
            Stage::Gate(name) if !target.grammar.gates.contains(&name) => {
                let what = format!(
                    "--only: `{}` is no stage and no configured gate.",
                    name.escape_debug()
                );
                let gates = target.grammar.gates.join(", ");
                let hint =
                    format!("stages are TEST-FIRST, REQ-CHECK, PRE-CR and FINAL; gates: {gates}");
                Err(Fault::setup_fault(what, hint))
            }
            stage => Ok(stage),
        })
        .collect()
}
