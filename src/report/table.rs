//! The board as text: a table that fits, and the lines around it.
//!
//! Owns: widths, which columns are shortened when there is little room, the order of the lines.
//!
//! Promises: no line of the table is wider than asked; a cell is never cut so that it says another thing: it
//! is whole, or its short form, or its column is left out and `…` stands for it.
//!
//! Refuses to know: terminals, colours.

use super::board::{Board, Cell, GateCount, Line, Standing};
use super::spent::duration;
use super::width::{cut, pad, steady, width};
use crate::machine::choice::Choice;
use crate::source::text::line;
use crate::task::{Stage, TaskKey};

/// Columns between two columns of the table.
pub const GAP: usize = 2;
/// A text that has less room is worth less than whole words in the cells.
const TEXT_LEAST: usize = 12;
/// The longest id that is shown whole.
const ID_MOST: usize = 12;
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
    /// What stands there, at most as wide as its column.
    pub text: String,
    /// What it says of a box; `None` for ids, texts and stages that the family does not have.
    pub standing: Option<Standing>,
}

impl Grid {
    /// The grid for so many columns of the terminal: whole words when they fit beside some text, else short
    /// ones, else without texts.
    pub fn fit(board: &Board, columns: usize) -> Self {
        let whole = Self::with(board, columns, false);
        if whole.text_width() >= TEXT_LEAST.min(text_wanted(board)) {
            return whole;
        }
        Self::with(board, columns, true).within(columns)
    }

    /// Without the last stages, as many as have no room: a column `…` stands for them.
    fn within(mut self, columns: usize) -> Self {
        let used = |widths: &[usize]| widths.iter().map(|width| width + GAP).sum::<usize>();
        if used(&self.widths) <= columns + GAP {
            return self;
        }
        while self.widths.len() > 1 && used(&self.widths) + 1 > columns {
            self.widths.pop();
        }
        let kept = self.widths.len();
        self.head.truncate(kept);
        self.rows.iter_mut().for_each(|row| row.truncate(kept));
        self.widths.push(1);
        self.head.push("…".to_owned());
        self.rows.iter_mut().for_each(|row| row.push(plain(String::new())));
        self
    }

    fn with(board: &Board, columns: usize, short: bool) -> Self {
        let say = |cell: &Cell| if short { cell.standing.short() } else { cell.standing.words() };
        let stage_head = |stage: &Stage| if short { short_head(stage) } else { cut(stage.word(), 24) };
        let ids = board.families.iter().map(|line| width(&id(line)));
        let id_width = ids.chain([width("TASK")]).max().unwrap_or(0).min(ID_MOST);
        let mut head = vec!["TASK".to_owned()];
        let mut widths = vec![id_width];
        for stage in &board.stages {
            let title = stage_head(stage);
            let cells = board.families.iter().filter_map(|line| line.cells.get(stage));
            widths.push(cells.map(|cell| width(&say(cell))).chain([width(&title)]).max().unwrap_or(0));
            head.push(title);
        }
        let used: usize = widths.iter().sum::<usize>() + GAP * widths.len();
        let text_width = columns.saturating_sub(used).min(text_wanted(board));
        let texts = text_width > 3;
        if texts {
            head.insert(1, "TEXT".to_owned());
            widths.insert(1, text_width);
        }
        let row = |line: &Line| {
            let mut row = vec![plain(cut(&id(line), id_width))];
            row.extend(texts.then(|| plain(cut(&line.text, text_width))));
            row.extend(board.stages.iter().map(|stage| match line.cells.get(stage) {
                Some(cell) => GridCell { text: say(cell), standing: Some(cell.standing) },
                None => plain(String::new()),
            }));
            row
        };
        Self { head, widths, rows: board.families.iter().map(row).collect() }
    }

    fn text_width(&self) -> usize {
        let at = self.head.iter().position(|head| head == "TEXT");
        at.and_then(|at| self.widths.get(at)).copied().unwrap_or(0)
    }
}

fn plain(text: String) -> GridCell {
    GridCell { text, standing: None }
}

fn text_wanted(board: &Board) -> usize {
    board.families.iter().map(|line| width(&line.text)).max().unwrap_or(0).max(width("TEXT"))
}

/// As the file writes it: `2.`; `-` for a line without an id.
fn id(line: &Line) -> String {
    match line.id.as_str() {
        "" => "-".to_owned(),
        id if line.cells.contains_key(&Stage::Implementation) => format!("{id}."),
        id => id.to_owned(),
    }
}

fn short_head(stage: &Stage) -> String {
    match stage {
        Stage::TestFirst => "TEST".to_owned(),
        Stage::Implementation => "IMPL".to_owned(),
        Stage::ReqCheck => "REQ".to_owned(),
        Stage::PreCr => "CR".to_owned(),
        Stage::Integ => "INT".to_owned(),
        Stage::Final => "FIN".to_owned(),
        Stage::Gate(name) => cut(name, 6),
    }
}

/// Everything that `ralph status` says, for so many columns; only the table is cut to them.
pub fn lines(board: &Board, columns: usize) -> Vec<String> {
    let mut lines = vec![headline(board)];
    lines.extend(now(board).map(|now| format!("now: {now}")));
    let grid = Grid::fit(board, columns);
    let gap = " ".repeat(GAP);
    let row = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&grid.widths).map(|(text, width)| pad(text, *width));
        cut(cells.collect::<Vec<_>>().join(&gap).trim_end(), columns)
    };
    lines.push(String::new());
    lines.push(row(grid.head.iter().map(String::as_str).collect()));
    lines.extend(grid.rows.iter().map(|cells| row(cells.iter().map(|cell| cell.text.as_str()).collect())));
    lines.push(String::new());
    lines.extend(open_reasons(board));
    lines.extend(next(board));
    lines.extend(totals(board));
    lines
}

/// The first line.
pub fn headline(board: &Board) -> String {
    let Board { done, boxes, iteration, phase, .. } = board;
    let spec = steady(&line(&board.spec, 200));
    let iterations = if *iteration == 1 { "iteration" } else { "iterations" };
    format!("{spec}: {done} of {boxes} boxes ticked, {iteration} {iterations}, {phase}")
}

/// What is done now, without since when.
pub fn now(board: &Board) -> Option<String> {
    let now = board.current.as_ref()?;
    let family = board.families.iter().find(|line| line.family == now.key.family);
    let cell = family.and_then(|line| line.cells.get(&now.key.stage));
    let rejected = cell.filter(|cell| cell.rejected > 0);
    let rejected = rejected.map(|cell| format!(", after {} rejected", cell.rejected)).unwrap_or_default();
    Some(format!("{} {}, iteration {}{rejected}", now.key, now.doing.word(), now.iteration))
}

/// Why boxes are open again, and what is blocked.
pub fn open_reasons(board: &Board) -> Vec<String> {
    let mut lines = Vec::new();
    for family in &board.families {
        for cell in family.cells.values().filter(|cell| !cell.reasons.is_empty()) {
            let attempts = match cell.attempts {
                0 => String::new(),
                1 => " after 1 attempt".to_owned(),
                count => format!(" after {count} attempts"),
            };
            lines.push(format!("{} is open{attempts}:", name(&cell.key, family)));
            lines.extend(cell.reasons.iter().take(REASONS_SHOWN).map(|reason| format!("  - {reason}")));
            let more = cell.reasons.len().saturating_sub(REASONS_SHOWN);
            lines.extend((more > 0).then(|| format!("  - … and {more} more")));
        }
        lines.extend(family.blocked.iter().map(|why| format!("{} is blocked: {why}", id(family))));
    }
    lines
}

/// A box as people know it: a line without an id by its text.
fn name(key: &TaskKey, family: &Line) -> String {
    if key.has_id() { key.to_string() } else { format!("“{}”", cut(&family.text, 40)) }
}

/// What is next, and why the last run stopped.
pub fn next(board: &Board) -> Vec<String> {
    let mut lines: Vec<String> = board.why.iter().map(|why| format!("{}: {why}", board.phase)).collect();
    match &board.next {
        Choice::Take(key) => {
            lines.push(format!("next: {key} {}", cut(board.text_of(key), 100)).trim_end().to_owned());
        }
        Choice::AllDone => lines.push("next: nothing, all required boxes are ticked".to_owned()),
        Choice::Stuck(reasons) => {
            lines.push("next: nothing can be taken".to_owned());
            let shown = reasons.iter().take(REASONS_SHOWN);
            lines.extend(shown.map(|reason| format!("  - {}", line(reason, 1_000))));
            let more = reasons.len().saturating_sub(REASONS_SHOWN);
            lines.extend((more > 0).then(|| format!("  - … and {more} more")));
        }
    }
    lines
}

/// Gates, time, cost, and who holds the workspace.
pub fn totals(board: &Board) -> Vec<String> {
    let mut lines: Vec<String> =
        board.gates.iter().map(|gate| format!("gate {}: {}", gate.name, says(gate))).collect();
    lines.push(time_and_cost(board));
    lines.push(match &board.holder {
        Some(holder) => format!("run: active ({holder})"),
        None => "run: none is active".to_owned(),
    });
    lines
}

/// `3 PASS, 1 FAIL`.
pub fn says(gate: &GateCount) -> String {
    let says: Vec<String> = gate.says.iter().map(|(word, count)| format!("{count} {word}")).collect();
    says.join(", ")
}

/// Time and cost so far.
pub fn time_and_cost(board: &Board) -> String {
    let spent = &board.spent;
    let (runs, agents, gates) =
        (duration(spent.runs), duration(spent.agents / 1_000), duration(spent.gates / 1_000));
    format!("time: runs {runs}, agents {agents}, gates {gates}; cost: {}", board.cost.words())
}
