//! `ralph lanes`: the lanes of a workspace, and the tasks that jobs elsewhere can do for it.

use super::replay_gates::Matrix;
use super::status::ViewedWorkspace;
use super::{Exit, Fault, FaultKind, Invocation, Workspace, ensure_that, ui};
use crate::engine::LaneView;
use crate::machine::effect::LaneTask;
use crate::machine::lanes::lane_tasks;
use crate::machine::state::State;
use crate::report::table::activity_line;
use crate::source::text::line;
use crate::sys::process::is_inside_agent;
use crate::task::spoken_ids;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Characters of a line.
const MAX_LINE: usize = 1_000;

/// Flags of `lanes`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LanesArgs {
    /// Print the tasks that are ready as jobs for a CI system
    #[arg(long, value_enum, value_name = "FOR")]
    pub matrix: Option<Matrix>,
    #[command(subcommand)]
    pub action: Option<LaneAction>,
}

/// Changes of the list.
#[derive(Debug, Subcommand)]
pub enum LaneAction {
    /// Make lanes of bundles that `ralph bundle` wrote elsewhere
    ///
    /// `ralph run` merges their work and judges it.
    Take {
        /// The bundles
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Remove a lane, and keep its commits as refs/ralph/lane/N
    Drop {
        /// The number of the lane
        #[arg(value_name = "N")]
        number: u32,
    },
}

pub(super) fn run_lanes(call: &Invocation, args: &LanesArgs) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    match &args.action {
        Some(LaneAction::Drop { number }) => return drop_lane(call, &workspace, *number),
        Some(LaneAction::Take { files }) => return take_bundles(call, &workspace, files),
        None => {}
    }
    let state = workspace.read_boxes()?;
    let open = lane_tasks(&state, workspace.settings.lanes.take);
    let lanes = workspace.open_outside()?.list_lanes(&open, &state)?;
    let has_lane = |task: &&LaneTask| {
        let mut families = lanes.iter().flat_map(|lane| &lane.families);
        families.any(|family| task.families.contains(family))
    };
    let free = open.iter().filter(|task| !has_lane(task));
    let (ready, waiting): (Vec<&LaneTask>, Vec<&LaneTask>) = free.partition(|task| task.is_ready);
    if let Some(matrix) = args.matrix {
        print_jobs(&state, &ready, matrix);
    } else {
        let shown = lanes.iter().map(|lane| ShownLane::of(call, &state, lane));
        show_lanes(call, &shown.collect::<Vec<_>>(), &ready, &waiting);
    }
    Ok(Exit::Done)
}

/// Prints a job for each task that is ready: one wave, in document order.
fn print_jobs(state: &State, ready: &[&LaneTask], matrix: Matrix) {
    let ids: Vec<String> = ready.iter().map(|task| task.names.join(",")).collect();
    match matrix {
        Matrix::Github => ui::print_json(&json!({ "lane": ids })),
        Matrix::Gitlab => ui::print_json(&json!([{ "LANE": ids }])),
        Matrix::Json => {
            for (ids, task) in ids.iter().zip(ready) {
                let titles = task.families.iter().filter_map(|family| {
                    let mut rows = state.spec_state().family_rows(family);
                    Some(rows.next()?.text.clone())
                });
                let titles: Vec<String> = titles.collect();
                ui::print_json(&json!({ "lane": ids, "tasks": task.names, "texts": titles }));
            }
        }
    }
}

/// A lane with the names of its boxes.
struct ShownLane<'a> {
    lane: &'a LaneView,
    /// Its activity, if it runs.
    does: Option<String>,
    offers: Vec<String>,
}

impl<'a> ShownLane<'a> {
    fn of(call: &Invocation, state: &State, lane: &'a LaneView) -> Self {
        let offers = lane.offers.iter();
        Self {
            lane,
            does: activity_of(call, lane),
            offers: offers
                .map(|key| state.spec_state().written_name(key))
                .collect(),
        }
    }

    fn facts(&self) -> Value {
        let LaneView { status, .. } = self.lane;
        json!({
            "number": status.number,
            "task": status.tasks.join(", "),
            "standing": status.standing,
            "iteration": status.iteration,
            "does": self.does,
            "offers": self.offers,
            "conflicts": self.lane.conflicts,
            "refused": self.lane.refused,
            "folder": status.folder.to_string_lossy(),
        })
    }

    fn text(&self) -> String {
        let LaneView { status, .. } = self.lane;
        let mut text = format!(
            "lane {}: {} {}",
            status.number,
            spoken_ids(&status.tasks),
            status.standing
        );
        if let Some(does) = &self.does {
            text = format!("{text}: {does}");
        }
        if status.standing != "runs" {
            let offers = if self.offers.is_empty() {
                "nothing".to_owned()
            } else {
                spoken_ids(&self.offers)
            };
            text = format!("{text}, offers {offers}");
        }
        if let Some(paths) = &self.lane.conflicts {
            text = format!("{text}, conflicts in {paths}");
        }
        if let Some(why) = &self.lane.refused {
            text = format!("{text}. {why}");
        }
        text
    }
}

fn show_lanes(
    call: &Invocation,
    lanes: &[ShownLane<'_>],
    ready: &[&LaneTask],
    waiting: &[&LaneTask],
) {
    if call.json {
        let [ready, waiting] = [ready, waiting].map(|tasks| {
            let ids = tasks.iter().map(|task| task.names.join(","));
            ids.collect::<Vec<String>>()
        });
        let facts: Vec<Value> = lanes.iter().map(ShownLane::facts).collect();
        ui::print_json(&json!({ "lanes": facts, "ready": ready, "waiting": waiting }));
        return;
    }
    if lanes.is_empty() {
        ui::print_line("no lanes");
    }
    for lane in lanes {
        ui::print_line(&line(&lane.text(), MAX_LINE));
    }
    for (what, tasks) in [("ready for a lane", ready), ("waiting", waiting)] {
        let names: Vec<String> = tasks.iter().map(|task| spoken_ids(&task.names)).collect();
        if !names.is_empty() {
            let text = format!("{what}: {}", names.join(", "));
            ui::print_line(&line(&text, MAX_LINE));
        }
    }
}

/// The activity of a lane that runs.
fn activity_of(call: &Invocation, lane: &LaneView) -> Option<String> {
    if lane.status.standing != "runs" {
        return None;
    }
    // A lane that is being prepared, or is gone meanwhile, has nothing to show.
    let mut source = ViewedWorkspace::open_at(call, lane.status.folder.clone(), false).ok()?;
    activity_line(&source.read_board().ok()?)
}

fn drop_lane(call: &Invocation, workspace: &Workspace, number: u32) -> Result<Exit, Fault> {
    only_for_people()?;
    let _lock = workspace.take_lock()?;
    let reference = workspace.open_outside()?.drop_lane(number)?;
    let facts = json!({ "dropped": number, "reference": reference });
    let words = format!("Lane {number} is removed. Its commits stay as {reference}.");
    ui::print_answer(call.json, &facts, &words);
    Ok(Exit::Done)
}

/// Takes each bundle. One that is refused does not keep the others out.
fn take_bundles(
    call: &Invocation,
    workspace: &Workspace,
    files: &[PathBuf],
) -> Result<Exit, Fault> {
    only_for_people()?;
    if let Some(file) = files.iter().find(|file| !file.exists()) {
        return Err(Fault::setup_fault(
            format!("There is no file {}.", file.display()),
            "name bundles; `ralph bundle run.tar` writes one",
        ));
    }
    let _lock = workspace.take_lock()?;
    let state = workspace.read_boxes()?;
    let mut outside = workspace.open_outside()?;
    let mut exit = Exit::Done;
    for file in files {
        let shown = file.display();
        let taken = match outside.take_bundle(file, &state) {
            Ok(taken) => taken,
            Err(fault) if matches!(fault.kind, FaultKind::Io | FaultKind::Internal) => {
                return Err(fault);
            }
            Err(fault) => {
                ui::print_error(&fault.to_string(), &fault.hint);
                exit = Exit::WorkLeft;
                continue;
            }
        };
        for why in &taken.left_out {
            ui::print_note(&line(&format!("note: {shown}: {why}"), MAX_LINE));
        }
        let facts = json!({
            "file": file.to_string_lossy(), "lane": taken.number, "tasks": taken.tasks, "left_out": taken.left_out,
        });
        let tasks = spoken_ids(&taken.tasks);
        let words = taken.number.map_or_else(
            || format!("{shown}: nothing to take"),
            |number| format!("lane {number}: {tasks} ({shown})"),
        );
        ui::print_answer(call.json, &facts, &line(&words, MAX_LINE));
    }
    Ok(exit)
}

fn only_for_people() -> Result<(), Fault> {
    ensure_that(
        !is_inside_agent()?,
        "An agent asked for a change of lanes; only a person may.",
        "an agent commits; ralph takes its work",
    )
}
