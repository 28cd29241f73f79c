//! The top of a page: headline, facts, open work and the meaning of its boxes.

use super::timeline::Timeline;
use crate::machine::choice::NextStep;
use crate::machine::stop::StopReason;
use crate::report::board::{Board, BoxStatus};
use crate::report::table;
use crate::source::text::{count, duration, names};
use serde::Serialize;

/// Boxes that one line names.
const NAMED: usize = 20;

/// A fact with its label.
#[derive(Clone, Debug, Serialize)]
pub struct PageFact {
    /// One or two words.
    pub label: String,
    /// The fact.
    pub words: String,
}

/// Work that is left, and why.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OpenEntry {
    /// The box or task, and its state.
    pub what: String,
    /// Anchor of its history; empty without one.
    pub anchor: String,
    /// Reasons, whole sentences.
    pub reasons: Vec<String>,
}

/// A kind of box and its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LegendEntry {
    /// A box as the table shows it.
    pub sample: String,
    /// State of such a box, one word for programs.
    pub standing: &'static str,
    /// Meaning in words.
    pub words: &'static str,
}

/// Returns the headline, and how it is marked. Only boxes that the journal has recorded make it `good`.
pub(super) fn headline(board: &Board) -> (String, &'static str) {
    let is_complete = board.next == NextStep::AllDone;
    let word = if is_complete {
        "Complete"
    } else if board.current.is_some() {
        "Running"
    } else {
        match board.phase {
            "idle" => "Not running",
            "interrupted" => "Interrupted",
            "paused" => "Paused",
            "waiting" => "Waiting",
            _ if board.holder.is_some() => "Running",
            _ => "Stopped",
        }
    };
    let [optional, unrecorded] = [BoxStatus::Optional, BoxStatus::Unrecorded].map(|status| {
        let cells = board.families.iter().flat_map(|line| line.cells.values());
        cells.filter(|cell| cell.status == status).count()
    });
    let more = [
        (optional, "optional left"),
        (unrecorded, "ticked without a record"),
    ];
    let more = more.iter().filter(|(many, _)| *many > 0);
    let more: Vec<String> = more.map(|(many, what)| format!("{many} {what}")).collect();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(" ({})", more.join(", "))
    };
    let (done, required) = board.required;
    let class = match word {
        "Complete" if unrecorded == 0 => "good",
        "Stopped" | "Interrupted" => "bad",
        _ => "plain",
    };
    let headline = format!("{word}: {done} of {required} required boxes{more}");
    (headline, class)
}

/// Returns workspace, task file, times and iterations in one line.
pub(super) fn about(board: &Board, timeline: &Timeline, workspace: &str) -> String {
    let mut parts = vec![workspace.to_owned(), table::spec_name(board)];
    if !timeline.rows.is_empty() {
        parts.push(format!("{} to {}", timeline.from, timeline.to));
        parts.push(format!("{} in runs", duration(board.spent.runs)));
    }
    parts.push(count(board.iterations, "iteration"));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// Returns the last stop, the next task, gates, time, cost and weaker evidence.
pub(super) fn facts(board: &Board) -> Vec<PageFact> {
    let mut facts = Vec::new();
    let mut add = |label: &str, words: String| {
        let label = label.to_owned();
        facts.push(PageFact { label, words });
    };
    // The title already reports a complete run.
    let complete = StopReason::AllDone.to_string();
    if let Some(why) = board.why.as_ref().filter(|why| **why != complete) {
        let label = if board.phase == "stopped" {
            "Last stop"
        } else {
            "Now"
        };
        add(label, why.clone());
    }
    if let Some(now) = table::activity_line(board) {
        add("Now", now);
    }
    match &board.next {
        NextStep::Take(key) => {
            add("Next", board.name_and_text(key));
        }
        NextStep::Approve(key) => {
            let command = format!("`ralph accept {} --reason …`", board.typed_name(key));
            add("Next", format!("you: {command}: {}", board.text_of(key)));
        }
        NextStep::AllDone | NextStep::Stuck(_) => {}
    }
    for gate in &board.gates {
        add(
            &format!("Gate {}", gate.name),
            table::gate_counts_text(gate),
        );
    }
    let spent = &board.spent;
    add(
        "Time",
        format!(
            "{} in runs, {} in agents, {} in gates",
            duration(spent.runs),
            duration(spent.agents / 1_000),
            duration(spent.gates / 1_000)
        ),
    );
    add("Cost", table::cost_line(board));
    let dearest = table::dearest_tasks(board);
    if dearest.len() > 1 {
        add("Most expensive", dearest.join("; "));
    }
    if let Some(estimate) = board.estimate {
        let line = estimate.estimate_line(None);
        let words = line.strip_prefix("estimate: ").unwrap_or(&line);
        add("Expected cost", words.to_owned());
    }
    if !spent.iterations.is_empty() {
        add("Attempts", table::attempts(board));
    }
    let weak = table::weak_evidence(board);
    if !weak.is_empty() {
        add("Weaker evidence", names(&weak, NAMED));
    }
    if let Some(holder) = &board.holder {
        add("Run", format!("active ({holder})"));
    }
    facts
}

/// Returns the boxes with reasons and the blocked tasks. `anchors` has the anchor of each task's history, empty without one.
pub(super) fn open_entries(board: &Board, anchors: &[String]) -> Vec<OpenEntry> {
    let mut entries = Vec::new();
    if let NextStep::Stuck(reasons) = &board.next {
        entries.push(OpenEntry {
            what: "No task can be taken".to_owned(),
            reasons: reasons.clone(),
            ..OpenEntry::default()
        });
    }
    for (line, anchor) in board.families.iter().zip(anchors) {
        let cells = line.cells.values();
        for cell in cells.filter(|cell| !cell.reasons.is_empty()) {
            let attempts = match cell.attempts {
                0 => String::new(),
                some => format!(" after {}", count(some.into(), "attempt")),
            };
            entries.push(OpenEntry {
                what: format!(
                    "{} is not ticked{attempts}",
                    table::box_name(&cell.key, line)
                ),
                anchor: anchor.clone(),
                reasons: cell.reasons.clone(),
            });
        }
        if let Some(why) = &line.blocked {
            entries.push(OpenEntry {
                what: format!("{} is blocked", table::row_title(line)),
                anchor: anchor.clone(),
                reasons: vec![why.clone()],
            });
        }
    }
    entries
}

/// Returns the kinds of boxes on the board, each once, in the order of the table.
pub(super) fn legend(board: &Board) -> Vec<LegendEntry> {
    let mut legend: Vec<LegendEntry> = Vec::new();
    for cell in board.families.iter().flat_map(|line| line.cells.values()) {
        let entry = LegendEntry {
            sample: cell.status.status_words(),
            standing: cell.status.status_name(),
            words: meaning(cell.status),
        };
        if !entry.words.is_empty() && legend.iter().all(|known| known.words != entry.words) {
            legend.push(entry);
        }
    }
    legend
}

fn meaning(status: BoxStatus) -> &'static str {
    match status {
        BoxStatus::Passed("SKIP") => "ticked, and there was nothing to judge",
        BoxStatus::Passed(_) => "ticked after a gate or a reviewer passed it",
        BoxStatus::Done => "ticked by ralph",
        BoxStatus::Failed("FAIL") => "not ticked: a gate or a reviewer failed it",
        BoxStatus::Failed(_) => "not ticked: the gate has no verdict",
        BoxStatus::Open => "not ticked",
        _ => status.cell_meaning().unwrap_or_default(),
    }
}
