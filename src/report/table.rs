//! The board as text: a table that fits, and the lines around it. A cell is whole, in its short form, or its column
//! is left out and shown as `…`.

use super::board::{Board, BoardRow, BoxStatus, GateCount};
use super::width::{cut_text, pad_text, steady_text, text_width};
use crate::machine::budget::dollars;
use crate::machine::choice::NextStep;
use crate::source::text::{count, duration, line, names};
use crate::task::{Stage, TaskKey, spoken_id, typed_id};
use std::collections::BTreeSet;

/// Columns between two columns of the table.
pub const GAP: u16 = 2;
/// A text that has less room is worth less than whole words in the cells.
const TEXT_LEAST: usize = 12;
/// The longest id that is shown whole.
const ID_MOST: usize = 13;
/// Reasons of one box that are shown; the file progress.txt has them all.
const REASONS_SHOWN: usize = 25;

/// The board's families and stages as cells of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Column headings: the id, the text unless there is no room for it, the stages.
    pub head: Vec<String>,
    /// Columns of the terminal that each takes.
    pub widths: Vec<usize>,
    /// The families.
    pub rows: Vec<Vec<GridCell>>,
}

/// A cell of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridCell {
    /// The text, at most as wide as its column.
    pub text: String,
    /// Text of a box; `None` for ids, texts and stages that the family does not have.
    pub status: Option<BoxStatus>,
}

impl Grid {
    /// The table in so many columns: stages in words, or short where the text would get too little room; at last the
    /// text is left out, and then stages, from the end.
    pub fn fit_columns(board: &Board, columns: usize) -> Self {
        let column = |head: &str, cell: &dyn Fn(&BoardRow) -> GridCell| {
            let cells: Vec<GridCell> = board.families.iter().map(cell).collect();
            let widest = cells
                .iter()
                .map(|cell| text_width(&cell.text))
                .max()
                .unwrap_or(0);
            (head.to_owned(), widest.max(text_width(head)), cells)
        };
        let stage = |stage: &Stage, short: bool| {
            let head = if short {
                short_head(stage)
            } else {
                cut_text(stage.stage_word(), 24)
            };
            column(
                &head,
                &|line| match line.cells.get(stage).map(|cell| cell.status) {
                    Some(status) => GridCell {
                        text: if short {
                            status.short_words()
                        } else {
                            status.status_words()
                        },
                        status: Some(status),
                    },
                    None => plain_cell(String::new()),
                },
            )
        };
        let with_stages = |short: bool| {
            let ids = column("TASK", &|line| {
                plain_cell(cut_text(typed_id(&row_id(line)), ID_MOST))
            });
            std::iter::once(ids)
                .chain(board.stages.iter().map(|name| stage(name, short)))
                .collect::<Vec<_>>()
        };
        let wanted = board
            .families
            .iter()
            .map(|line| text_width(&line.text))
            .max()
            .unwrap_or(0)
            .max(text_width("TEXT"));
        let mut all = with_stages(false);
        if columns.saturating_sub(sum_widths(&all)) < TEXT_LEAST.min(wanted) {
            all = with_stages(true);
        }
        let room = columns.saturating_sub(sum_widths(&all)).min(wanted);
        if room > 3 {
            let (head, _, cells) = column("TEXT", &|line| plain_cell(cut_text(&line.text, room)));
            all.insert(1, (head, room, cells));
        } else if sum_widths(&all) > columns + usize::from(GAP) {
            while all.len() > 1 && sum_widths(&all) + 1 > columns {
                all.pop();
            }
            all.push(column("…", &|_| plain_cell(String::new())));
        }
        Self {
            rows: (0..board.families.len())
                .map(|at| {
                    all.iter()
                        .filter_map(|(_, _, cells)| cells.get(at).cloned())
                        .collect()
                })
                .collect(),
            widths: all.iter().map(|(_, width, _)| *width).collect(),
            head: all.into_iter().map(|(head, ..)| head).collect(),
        }
    }
}

/// Heading, width and cells.
type Column = (String, usize, Vec<GridCell>);

fn sum_widths(columns: &[Column]) -> usize {
    let gap = usize::from(GAP);
    columns.iter().map(|(_, width, _)| width + gap).sum()
}

fn plain_cell(text: String) -> GridCell {
    GridCell { text, status: None }
}

/// As the file writes it: `2.`; by its line without an id: `tasks.md:12`.
pub(super) fn row_id(line: &BoardRow) -> String {
    match line.id.as_str() {
        "" => format!("tasks.md:{}", line.line),
        id if line.cells.contains_key(&Stage::Implementation) => format!("{id}."),
        id => id.to_owned(),
    }
}

/// The name of a task in a sentence: `task 2`, `G1`, `tasks.md:12`.
pub fn row_title(line: &BoardRow) -> String {
    spoken_id(&row_id(line))
}

fn short_head(stage: &Stage) -> String {
    match stage {
        Stage::TestFirst => "TEST".to_owned(),
        Stage::Implementation => "IMPL".to_owned(),
        Stage::ReqCheck => "REQ".to_owned(),
        Stage::PreCr => "CR".to_owned(),
        Stage::Integ => "INT".to_owned(),
        Stage::Final => "FIN".to_owned(),
        Stage::Gate(name) => cut_text(name, 6),
    }
}

/// Everything that `ralph status` says, for so many columns; only the table is cut to them.
pub fn status_lines(board: &Board, columns: usize) -> Vec<String> {
    let mut lines = vec![headline_text(board)];
    lines.extend(activity_line(board).map(|now| format!("now: {now}")));
    lines.extend(board.out_of_quota.iter().cloned());
    let grid = Grid::fit_columns(board, columns);
    let gap = " ".repeat(GAP.into());
    let row = |cells: Vec<&str>| {
        let cells = cells
            .iter()
            .zip(&grid.widths)
            .map(|(text, width)| pad_text(text, *width));
        cut_text(cells.collect::<Vec<_>>().join(&gap).trim_end(), columns)
    };
    lines.push(String::new());
    lines.push(row(grid.head.iter().map(String::as_str).collect()));
    lines.extend(
        grid.rows
            .iter()
            .map(|cells| row(cells.iter().map(|cell| cell.text.as_str()).collect())),
    );
    lines.push(String::new());
    lines.extend(open_reasons(board));
    lines.extend(next(board));
    lines.extend(total_lines(board));
    lines
}

/// Returns the meanings of cells that need one, each once, in the words of the table.
pub fn legend_lines(board: &Board, columns: usize) -> Vec<String> {
    let grid = Grid::fit_columns(board, columns);
    let mut told = BTreeSet::new();
    let cells = grid
        .rows
        .iter()
        .flatten()
        .filter_map(|cell| Some((cell, cell.status?)));
    let news = cells.filter(|(_, status)| told.insert(status.status_name()));
    news.filter_map(|(cell, status)| Some(format!("{}: {}", cell.text, status.cell_meaning()?)))
        .collect()
}

/// The first line.
pub fn headline_text(board: &Board) -> String {
    let Board {
        done,
        boxes,
        iterations,
        phase,
        ..
    } = board;
    let (spec, iterations) = (spec_name(board), count(*iterations, "iteration"));
    format!("{spec}: {done} of {boxes} boxes ticked, {iterations}, {phase}")
}

/// The task file, fit to be shown.
pub(super) fn spec_name(board: &Board) -> String {
    steady_text(&line(&board.spec, 200))
}

/// Returns the current activity without its start.
pub fn activity_line(board: &Board) -> Option<String> {
    let now = board.current.as_ref()?;
    let family = board
        .families
        .iter()
        .find(|line| line.family == now.key.family);
    let cell = family.and_then(|line| line.cells.get(&now.key.stage));
    let rejected = cell.filter(|cell| cell.rejected > 0);
    let rejected = rejected
        .map(|cell| format!(", after {} rejected", cell.rejected))
        .unwrap_or_default();
    let agent = now
        .stand_in
        .as_ref()
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    let name = family.map_or_else(|| now.key.to_string(), |family| box_name(&now.key, family));
    let doing = now.doing.activity_word();
    Some(format!(
        "{name} {doing}{agent}, iteration {}{rejected}",
        now.iteration
    ))
}

/// Returns the reasons of reopened boxes and of blocks.
pub fn open_reasons(board: &Board) -> Vec<String> {
    let mut lines = Vec::new();
    for family in &board.families {
        for cell in family
            .cells
            .values()
            .filter(|cell| !cell.reasons.is_empty())
        {
            let attempts = match cell.attempts {
                0 => String::new(),
                some => format!(" after {}", count(some.into(), "attempt")),
            };
            lines.push(format!(
                "{} is open{attempts}:",
                box_name(&cell.key, family)
            ));
            add_list(&cell.reasons, &mut lines);
        }
        let blocked = family.blocked.iter();
        let blocked = blocked.map(|why| format!("{} is blocked: {why}", row_title(family)));
        lines.extend(blocked.filter(|sentence| !is_in_why(board, sentence)));
    }
    lines
}

/// True for a sentence that the reason for the last stop contains: it is shown once.
fn is_in_why(board: &Board, sentence: &str) -> bool {
    board.why.iter().any(|why| why.contains(sentence))
}

fn add_list(reasons: &[String], lines: &mut Vec<String>) {
    lines.extend(
        reasons
            .iter()
            .take(REASONS_SHOWN)
            .map(|reason| format!("  - {}", line(reason, 1_000))),
    );
    let more = reasons.len().saturating_sub(REASONS_SHOWN);
    lines.extend((more > 0).then(|| format!("  - … and {more} more")));
}

/// A box as people know it: a line without an id by its text.
pub(super) fn box_name(key: &TaskKey, family: &BoardRow) -> String {
    if key.has_id() {
        key.to_string()
    } else {
        format!(
            "{} “{}”",
            key.typed_name(family.line),
            cut_text(&family.text, 40)
        )
    }
}

/// Returns the next box and the reason of the last stop.
pub fn next(board: &Board) -> Vec<String> {
    let mut lines: Vec<String> = board
        .why
        .iter()
        .map(|why| format!("{}: {why}", board.phase))
        .collect();
    match &board.next {
        NextStep::Take(key) => {
            let text = cut_text(&board.name_and_text(key), 120);
            lines.push(format!("next: {text}"));
        }
        NextStep::Approve(key) => {
            let name = board.typed_name(key);
            let text = cut_text(board.text_of(key), 100);
            lines.push(format!(
                "next: a person, who says `ralph accept {name} --reason …`: {text}"
            ));
        }
        NextStep::AllDone => lines.push("next: nothing, all required boxes are ticked".to_owned()),
        NextStep::Stuck(reasons) => {
            lines.push("next: nothing can be taken".to_owned());
            let rest: Vec<String> = reasons
                .iter()
                .filter(|reason| !is_in_why(board, reason))
                .cloned()
                .collect();
            add_list(&rest, &mut lines);
        }
    }
    lines
}

/// Gates, time, cost, what to look at, and who holds the workspace.
pub fn total_lines(board: &Board) -> Vec<String> {
    let gates = board
        .gates
        .iter()
        .map(|gate| format!("gate {}: {}", gate.name, gate_counts_text(gate)));
    let run = board
        .holder
        .as_ref()
        .map_or("none is active".to_owned(), |holder| {
            format!("active ({holder})")
        });
    let worked = if board.spent.iterations.is_empty() {
        Vec::new()
    } else {
        end_summary(board).split_off(1)
    };
    gates
        .chain([time_and_cost(board)])
        .chain(worked)
        .chain(board.estimate.map(|estimate| estimate.estimate_line(None)))
        .chain([format!("run: {run}")])
        .collect()
}

/// `3 PASS, 1 FAIL`.
pub fn gate_counts_text(gate: &GateCount) -> String {
    let says: Vec<String> = gate
        .says
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    says.join(", ")
}

/// Time and cost so far.
pub fn time_and_cost(board: &Board) -> String {
    let spent = &board.spent;
    let (runs, agents, gates) = (
        duration(spent.runs),
        duration(spent.agents / 1_000),
        duration(spent.gates / 1_000),
    );
    format!(
        "time: runs {runs}, agents {agents}, gates {gates}; cost: {}",
        cost_line(board)
    )
}

/// Returns the cost by the agents' own reports.
pub(super) fn cost_line(board: &Board) -> String {
    let used = board.used;
    if used.priced == 0 {
        return "not reported".to_owned();
    }
    let attempts = count(board.spent.iterations.len() as u64, "attempt");
    format!(
        "{} as {} of {attempts} reported",
        dollars(used.micros),
        used.priced
    )
}

/// Returns what the dearest tasks took, the dearest first: `2.: $0.75, 1200 tokens`.
pub(super) fn dearest_tasks(board: &Board) -> Vec<String> {
    let mut dearest: Vec<&BoardRow> = board
        .families
        .iter()
        .filter(|family| family.used.tokens.saturating_add(family.used.micros) > 0)
        .collect();
    dearest.sort_by_key(|family| std::cmp::Reverse((family.used.micros, family.used.tokens)));
    dearest
        .iter()
        .take(REASONS_SHOWN)
        .map(|family| {
            let used = family.used;
            let tokens = (used.tokens > 0).then(|| count(used.tokens, "token"));
            let cost = (used.priced > 0).then(|| dollars(used.micros));
            let amounts: Vec<String> = cost.into_iter().chain(tokens).collect();
            format!("{}: {}", row_title(family), amounts.join(", "))
        })
        .collect()
}

/// Returns time, cost, attempts, the most expensive tasks and weaker evidence, for the end of a run.
pub fn end_summary(board: &Board) -> Vec<String> {
    let mut lines = vec![time_and_cost(board), attempts(board)];
    lines.extend(dearest_tasks(board).iter().map(|cost| format!("  {cost}")));
    let weak = weak_evidence(board);
    if !weak.is_empty() {
        let weak = names(&weak, 20);
        lines.push(format!("weakly verified: {weak}"));
    }
    lines
}

/// Attempts, reworks and waits: `12 attempts, 2 reworks, 1 wait (5 min)`.
pub(super) fn attempts(board: &Board) -> String {
    let spent = &board.spent;
    let reworks: u32 = board.families.iter().map(|family| family.reworks).sum();
    let waits = match spent.waits {
        0 => String::new(),
        waits => format!(", {} ({})", count(waits, "wait"), duration(spent.waited)),
    };
    format!(
        "{}, {}{waits}",
        count(spent.iterations.len() as u64, "attempt"),
        count(reworks.into(), "rework")
    )
}

/// Returns the ticked boxes whose evidence is weaker than a verdict on all changes, each with the reason.
pub(super) fn weak_evidence(board: &Board) -> Vec<String> {
    let mut weak = Vec::new();
    for family in &board.families {
        for cell in family.cells.values() {
            let left_out = board.spent.left_out.get(&cell.key);
            let left_out = left_out.filter(|files| !files.is_empty());
            let why = match (&cell.status, left_out) {
                (BoxStatus::CommitOnly, _) => "a commit alone".to_owned(),
                (BoxStatus::ByPerson, _) => "a person".to_owned(),
                (BoxStatus::Passed("SKIP"), _) => "SKIP: nothing was judged".to_owned(),
                (BoxStatus::Passed(_), Some(files)) => format!("not judged: {}", names(files, 3)),
                _ => continue,
            };
            weak.push(format!("{} ({why})", box_name(&cell.key, family)));
        }
    }
    weak
}
