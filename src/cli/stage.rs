//! `ralph stage`: plain tasks get their stages.
//!
//! Owns: which tasks are named, which gates go with them.
//!
//! Promises: what the configuration says about the placement of gates holds; a gate of which it says nothing
//! stands after each task.
//!
//! Refuses to know: where lines go, which tasks are plain.

use super::exit::Exit;
use super::surgery::{How, Target, facts, passed_over, show_diff, tell_passed_over, told};
use super::ui;
use super::workspace::Place;
use crate::engine::{Fault, FaultKind};
use crate::task::Staged;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

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
    /// A task file, in a workspace or not
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Show the change as a unified diff, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// End with 1 and show the diff when stages are missing; write nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

/// `ralph stage`: 0 when the tasks have their stages, 1 when `--check` found one that lacks some.
pub(super) fn stage(place: &Place<'_>, args: &StageArgs) -> Result<Exit, Fault> {
    let target = Target::find(place, args.tasks.as_deref(), vec!["PITEST".to_owned()])?;
    if target.is_virtual() {
        let what = "The configuration says `stages: virtual`: each task goes through its stages without lines for them.";
        return Err(Fault::new(
            FaultKind::Setup,
            what,
            "write `stages: file` in .ralph/config.yaml for lines",
        ));
    }
    let how = How::of(args.check, args.dry_run);
    let _lock = target.hold(how)?;
    let staged = if args.all { Staged::Plain } else { Staged::Named(&args.ids) };
    let change = target.change(how, |file| file.staged(staged, &target.gates))?;
    let changed = !change.diff.is_empty();
    let without_id = if args.all { change.now.without_stages() } else { Vec::new() };
    if place.json {
        ui::json(&json!({
            "file": target.shown, "changed": changed, "written": changed && how == How::Write,
            "inserted": facts(&change.surgery.inserted), "diff": change.diff,
            "without_id": passed_over(&without_id),
        }));
        return Ok(if changed && how == How::Check { Exit::WorkLeft } else { Exit::Done });
    }
    if !changed {
        let these = if without_id.is_empty() { "These" } else { "All other" };
        ui::line(&format!(
            "{}: {these} tasks have their stages, or take none (parents, checkpoints).",
            target.shown
        ));
    } else if how == How::Write {
        ui::line(&told(&target.shown, &change.surgery));
    } else {
        show_diff(&change.diff);
    }
    let hint = "begin each with an id of its own, as in `- [ ] 1. …`; `stages: virtual` needs none";
    tell_passed_over(&without_id, "get no stages", hint);
    Ok(if changed && how == How::Check { Exit::WorkLeft } else { Exit::Done })
}
