//! `ralph stage`: gives plain tasks their stages, and the gates that the configuration places.

use super::edit_tasks::{EditArgs, GATE, Target, note_without_id};
use super::exit::Exit;
use super::ui;
use super::workspace::Invocation;
use crate::engine::Fault;
use crate::task::{TaskSelection, tasks_without_stages};
use clap::Args;

/// Flags of `stage`.
#[derive(Debug, Args)]
pub struct StageArgs {
    /// The tasks: `2,5` or `2 5`; each gets the stages that it lacks
    #[arg(
        value_name = "IDS",
        value_delimiter = ',',
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub ids: Vec<String>,
    /// Every open required task that has no stages yet
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub edit: EditArgs,
}

/// `ralph stage`: 0 if the tasks have their stages, 1 if `--check` found one that lacks some.
pub(super) fn stage(call: &Invocation, args: &StageArgs) -> Result<Exit, Fault> {
    let target = Target::find(call, &args.edit, GATE)?;
    if target.is_virtual() {
        let what = "The configuration says `stages: virtual`: each task goes through its stages without lines for them.";
        let hint = "write `stages: file` in .ralph/config.yaml to get lines";
        return Err(Fault::setup(what, hint));
    }
    let _lock = target.hold()?;
    let selection = if args.all { TaskSelection::Plain } else { TaskSelection::Named(&args.ids) };
    let change = target.change(|file| file.staged(selection, &target.gates_of(file)))?;
    let without_id = if args.all { tasks_without_stages(&change.now) } else { Vec::new() };
    if call.json {
        ui::json(&change.facts(&without_id));
    } else {
        if change.is_any() {
            change.show();
        } else {
            let these = if without_id.is_empty() { "These" } else { "All other" };
            let shown = &target.shown;
            ui::line(&format!(
                "{shown}: {these} tasks have their stages, or get none (parents, checkpoints)."
            ));
        }
        let hint = "begin each with an id of its own, as in `- [ ] 1. …`; `stages: virtual` needs none";
        note_without_id(&without_id, "no stages", hint);
    }
    Ok(if change.is_any() && args.edit.check { Exit::WorkLeft } else { Exit::Done })
}
