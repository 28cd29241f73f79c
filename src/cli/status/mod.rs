//! `ralph status`: what is ticked and why, what runs, what is next; once, as JSON, or live. Takes no lock.

mod agent_log;
mod facts;
mod frame;
mod screen;
mod source;
mod watch;

use super::{Exit, Fault, Invocation, Opened, Workspace, ensure_that, ui};
use crate::engine::LaneStatus;
use crate::report::board::{Board, display_time};
use crate::report::table;
use crate::source::text::line;
use crate::sys::clock;
use crate::task::{TaskKey, spoken_ids};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};
pub(super) use source::ViewedWorkspace;
use std::io::IsTerminal as _;
pub(super) use watch::show_film;

/// Columns if standard output is not a terminal.
const COLUMNS: usize = 100;

/// Flags of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Show it live until `q` is pressed: table, what runs, the end of the agent's log, gates
    #[arg(long)]
    pub watch: bool,
}

pub(super) fn run_status(call: &Invocation, args: &StatusArgs) -> Result<Exit, Fault> {
    if args.watch {
        let hint = "`ralph status` says the same once, `ralph status --json` as JSON";
        ensure_that(
            !call.json,
            "--watch draws on a terminal and prints no JSON.",
            hint,
        )?;
        let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        ensure_that(
            is_terminal,
            "--watch needs a terminal, and standard input or output is not one.",
            hint,
        )?;
        return watch::watch_board(call, ViewedWorkspace::open_workspace(call)?);
    }
    let mut source = ViewedWorkspace::open_workspace(call)?;
    let (board, facts) = source.look_at_state(|state, board| {
        let facts = call.json.then(|| facts::status_facts(state, &board));
        (board, facts)
    })?;
    let older = source.older_gates();
    let lanes = source.lanes()?;
    if let Some(mut facts) = facts {
        facts["older_gates"] = json!(older);
        facts["lanes"] = lanes.iter().map(lane_facts).collect();
        ui::print_json(&facts);
    } else {
        let lanes: Vec<String> = lanes.iter().map(lane_line).collect();
        // Only these lines hold commands; all others may hold words of the task file.
        for line in board_lines(&board).iter().chain(&lanes).chain(&older) {
            let is_next = line.starts_with("next: ");
            ui::print_line(&if is_next {
                ui::with_spec(line)
            } else {
                line.clone()
            });
        }
    }
    if let Some(trouble) = source.find_trouble(&board) {
        ui::print_note(&format!("note: {trouble}"));
    }
    Ok(Exit::Done)
}

fn lane_facts((lane, wait): &(LaneStatus, Option<i64>)) -> Value {
    json!({
        "number": lane.number,
        "task": lane.tasks.join(", "),
        "standing": lane.standing,
        "iteration": lane.iteration,
        "waits_until": wait.and_then(|second| Timestamp::from_second(second).ok()),
        "folder": lane.folder.to_string_lossy(),
    })
}

fn lane_line((lane, wait): &(LaneStatus, Option<i64>)) -> String {
    let LaneStatus {
        number,
        standing,
        iteration,
        ..
    } = lane;
    let tasks = spoken_ids(&lane.tasks);
    let folder = lane.folder.display();
    let wait = wait.map_or_else(String::new, |until| {
        format!(
            ", waiting until {}",
            display_time(until, clock::zone().as_ref())
        )
    });
    line(
        &format!("lane {number}: {tasks} {standing}, iteration {iteration}{wait} ({folder})"),
        1_000,
    )
}

/// The board; for a person at a terminal with what its cells mean.
fn board_lines(board: &Board) -> Vec<String> {
    let mut lines = table::status_lines(board, terminal_columns());
    if std::io::stdout().is_terminal() {
        lines.extend(table::legend_lines(board, terminal_columns()));
    }
    lines
}

/// Returns the output of `ralph status --json`, with the box that a run works on.
pub(super) fn current_status(call: &Invocation) -> Result<(Value, Option<TaskKey>), Fault> {
    ViewedWorkspace::open_workspace(call)?.look_at_state(|state, board| {
        let current = board.current.as_ref().map(|now| now.key.clone());
        (facts::status_facts(state, &board), current)
    })
}

/// Returns the summary at the end of a run; empty if no agent ran.
pub(super) fn end_summary(call: &Invocation) -> Result<Vec<String>, Fault> {
    let board = ViewedWorkspace::open_workspace(call)?.read_board()?;
    Ok(if board.spent.iterations.is_empty() {
        Vec::new()
    } else {
        table::end_summary(&board)
    })
}

/// Columns of the terminal that is written to.
fn terminal_columns() -> usize {
    let size = std::io::stdout()
        .is_terminal()
        .then(ratatui::crossterm::terminal::size)
        .and_then(Result::ok);
    size.map(|(columns, _)| usize::from(columns))
        .filter(|columns| *columns > 0)
        .unwrap_or(COLUMNS)
}
