//! The answer of `ralph status --json`. A field, once released, keeps its name and meaning; what is unknown is null.

use super::Board;
use crate::machine::choice::{NextStep, approval};
use crate::machine::state::{SpecState, State, TickedBy};
use crate::report::board::{BoardCell, BoardRow};
use crate::task::{Row, TaskKey};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

pub(super) fn status_facts(state: &State, board: &Board) -> Value {
    let book = state.spec_state();
    let rows: Vec<Value> = book
        .rows
        .iter()
        .map(|row| row_facts(book, board, row))
        .collect();
    let families: Vec<Value> = board
        .families
        .iter()
        .map(|line| family_facts(book, board, line))
        .collect();
    let gates: Map<String, Value> = board
        .gates
        .iter()
        .map(|gate| (gate.name.clone(), gate.says.iter().copied().collect()))
        .collect();
    let used = board.used;
    json!({
        "spec": state.spec,
        "iteration": state.iteration,
        "iterations": board.iterations,
        "phase": board.phase,
        "boxes": rows,
        "stages": board.stages,
        "families": families,
        "current": current_facts(book, board),
        "next": next(book, &board.next),
        "gates": gates,
        "time": {
            "runs_seconds": board.spent.runs,
            "agents_millis": board.spent.agents,
            "gates_millis": board.spent.gates,
        },
        // Null where no attempt reported a cost.
        "cost": (used.priced > 0).then(|| {
            json!({ "usd_micros": used.micros, "reported": used.priced, "attempts": board.spent.iterations.len() })
        }),
        // Null where no attempt reported any.
        "tokens": (used.tokens > 0).then_some(used.tokens),
        // Null with fewer than three finished tasks whose cost is known.
        "estimate": board.estimate,
        "why": board.why,
        "waits_until": board.waits_until.and_then(|second| Timestamp::from_second(second).ok()),
        "out_of_quota": board.out_of_quota,
        "holder": board.holder,
    })
}

fn row_facts(book: &SpecState, board: &Board, row: &Row) -> Value {
    let stage = book.stage(&row.key);
    json!({
        "task": book.written_name(&row.key),
        "family": row.key.family,
        "stage": row.key.stage,
        "line": row.line,
        "mark": row.mark,
        "optional": row.optional,
        "text": row.text,
        "verdict": stage.and_then(|stage| stage.verdict),
        "rejected": stage.map_or(0, |stage| stage.attempts),
        "attempts": board.spent.attempts.get(&row.key).copied().unwrap_or(0),
        "by": stage.and_then(|stage| stage.ticked_by).map(|by| match by { TickedBy::Ralph => "ralph", TickedBy::Person => "person" }),
        "reasons": stage.map(|stage| stage.reasons.clone()).unwrap_or_default(),
        "blocked": book.family(&row.key.family).and_then(|family| family.blocked.clone()),
    })
}

/// A row of the table: `stages` holds a cell for each box of the family.
fn family_facts(book: &SpecState, board: &Board, line: &BoardRow) -> Value {
    let cells: Map<String, Value> = line
        .cells
        .values()
        .map(|cell| {
            (
                cell.key.stage.stage_word().to_owned(),
                cell_facts(book, cell),
            )
        })
        .collect();
    let (agents, gates) = board.spent.millis_of(&line.family);
    json!({
        "family": line.family,
        "text": line.text,
        "line": line.line,
        "parent": line.parent,
        "blocked": line.blocked,
        "reworks": line.reworks,
        "agents_millis": agents,
        "gates_millis": gates,
        "usd_micros": (line.used.priced > 0).then_some(line.used.micros),
        "tokens": (line.used.tokens > 0).then_some(line.used.tokens),
        "stages": cells,
    })
}

fn cell_facts(book: &SpecState, cell: &BoardCell) -> Value {
    json!({
        "task": book.written_name(&cell.key),
        "standing": cell.status.status_name(),
        "shown": cell.status.status_words(),
        "done": cell.done,
        "rejected": cell.rejected,
        "attempts": cell.attempts,
        "reasons": cell.reasons,
    })
}

fn current_facts(book: &SpecState, board: &Board) -> Option<Value> {
    let now = board.current.as_ref()?;
    Some(json!({
        "task": book.written_name(&now.key),
        "stage": now.key.stage,
        "doing": now.doing.activity_word(),
        "iteration": now.iteration,
        "stand_in": now.stand_in,
        "since": Timestamp::from_second(now.since).map(|at| at.to_string()).ok(),
    }))
}

fn next(book: &SpecState, next: &NextStep) -> Value {
    let line = |key: &TaskKey| book.row(key).map(|row| row.line);
    match next {
        NextStep::Take(key) => {
            json!({ "task": book.written_name(key), "stage": key.stage, "line": line(key), "done": false, "reasons": [] })
        }
        NextStep::AllDone => json!({ "task": null, "done": true, "reasons": [] }),
        NextStep::Stuck(reasons) => json!({ "task": null, "done": false, "reasons": reasons }),
        NextStep::Approve(key) => {
            let stop = approval(book, key);
            json!({ "task": null, "done": false, "reasons": [stop.to_string()], "hint": stop.hint() })
        }
    }
}
