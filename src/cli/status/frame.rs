//! One frame of the live view, for any size of the terminal, and its keys.

use super::Board;
use super::agent_log::AgentLog;
use crate::report::board::BoxStatus;
use crate::report::table::{
    GAP, Grid, activity_line, gate_counts_text, headline_text, open_reasons, row_title,
    time_and_cost,
};
use crate::report::width::cut_text;
use crate::source::text::duration;
use crate::source::text::line;
use ratatui::Frame;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};
use std::fmt::Display;

/// Rows of a window that has room for lanes, and the lanes that it shows.
const TALL: u16 = 20;
const MOST_LANES: usize = 6;

/// Everything that a frame shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// Families, stages, totals.
    pub(super) board: Board,
    /// The end of the agent's log.
    pub(super) log: AgentLog,
    /// Seconds since 1970.
    pub(super) now: i64,
    /// The row that a person chose; the one that runs when `None`.
    pub(super) chosen: Option<usize>,
    /// A line for each lane.
    pub(super) lanes: Vec<String>,
    /// Parts that could not be read.
    pub(super) trouble: Option<String>,
    /// Colours are wanted.
    pub(super) color: bool,
    /// In place of the log, and of its title and keys: a frame of a film.
    pub(super) film: Option<FilmFrame>,
}

/// A frame of a film.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FilmFrame {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    /// The keys, or what is being typed.
    pub(super) keys: String,
}

impl View {
    /// Nothing chosen, no log.
    pub(super) fn new(board: Board, color: bool) -> Self {
        Self {
            board,
            log: AgentLog::default(),
            now: 0,
            chosen: None,
            lanes: Vec::new(),
            trouble: None,
            color,
            film: None,
        }
    }

    /// Does what a key asks for.
    pub(super) fn take_action(&mut self, act: KeyAction) {
        let last = self.board.families.len().saturating_sub(1);
        match act {
            KeyAction::Move(by) => {
                self.chosen = Some(self.marked_row().saturating_add_signed(by).min(last));
            }
            KeyAction::End(is_last) => self.chosen = Some(if is_last { last } else { 0 }),
            KeyAction::Follow => self.chosen = None,
            KeyAction::Quit | KeyAction::Redraw => {}
        }
    }

    /// The iteration whose log is shown.
    pub(super) fn log_iteration(&self) -> u64 {
        self.board
            .current
            .as_ref()
            .map_or(self.board.iteration, |now| now.iteration)
    }

    /// The row that is marked: the chosen one, else that which runs, else that which is next.
    fn marked_row(&self) -> usize {
        let board = &self.board;
        let family = match (&board.current, &board.next) {
            (Some(now), _) => Some(&now.key.family),
            (None, crate::machine::choice::NextStep::Take(key)) => Some(&key.family),
            _ => None,
        };
        let found = self
            .chosen
            .or_else(|| {
                family.and_then(|name: &String| {
                    board.families.iter().position(|line| line.family == *name)
                })
            })
            .unwrap_or(0);
        found.min(board.families.len().saturating_sub(1))
    }

    fn color_style(&self, color: Color) -> Style {
        if self.color {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    }
}

/// Action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAction {
    /// End the view.
    Quit,
    /// So many rows down, or up.
    Move(isize),
    /// The first row, or the last.
    End(bool),
    /// Follow what runs again.
    Follow,
    /// Draw everything again: the window has another size, or another program wrote over it.
    Redraw,
}

/// Returns the action of a terminal event.
pub(super) fn read_action(event: &Event) -> Option<KeyAction> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_action(key),
        Event::Resize(..) => Some(KeyAction::Redraw),
        _ => None,
    }
}

fn key_action(key: &KeyEvent) -> Option<KeyAction> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(KeyAction::Quit),
        KeyCode::Char('l') if control => Some(KeyAction::Redraw),
        _ if control => None,
        KeyCode::Char('q') | KeyCode::Esc => Some(KeyAction::Quit),
        KeyCode::Char('j') | KeyCode::Down => Some(KeyAction::Move(1)),
        KeyCode::Char('k') | KeyCode::Up => Some(KeyAction::Move(-1)),
        KeyCode::PageDown => Some(KeyAction::Move(10)),
        KeyCode::PageUp => Some(KeyAction::Move(-10)),
        KeyCode::Char('g') | KeyCode::Home => Some(KeyAction::End(false)),
        KeyCode::Char('G') | KeyCode::End => Some(KeyAction::End(true)),
        KeyCode::Char('f') => Some(KeyAction::Follow),
        _ => None,
    }
}

pub(super) fn draw_view(view: &View, frame: &mut Frame<'_>) {
    let columns = usize::from(frame.area().width);
    let (mut head, reasons) = (head_lines(view, columns), reason_lines(view));
    if frame.area().height >= TALL {
        let lanes = view.lanes.iter().take(MOST_LANES);
        head.extend(lanes.map(|lane| Line::raw(cut_text(lane, columns))));
    }
    let rows = row_heights(view, frame.area(), head.len(), reasons.len());
    let lengths = rows.map(fixed_length);
    let [of_head, of_table, of_reasons, of_log, of_keys] =
        Layout::vertical(lengths).areas(frame.area());
    frame.render_widget(Paragraph::new(head), of_head);
    draw_table(view, frame, of_table);
    let marked = view.board.families.get(view.marked_row());
    let name = marked.map(row_title).unwrap_or_default();
    let reasons = reasons
        .iter()
        .map(|reason| Line::raw(cut_text(reason, columns)))
        .collect();
    draw_titled(frame, of_reasons, format!("why {name}"), reasons);
    draw_log(view, frame, of_log);
    let keys = match &view.film {
        Some(film) => &film.keys,
        None => "q quit · j/k or arrows scroll · g/G first/last · f follow what runs",
    };
    frame.render_widget(
        Paragraph::new(keys).style(Style::new().add_modifier(Modifier::DIM)),
        of_keys,
    );
}

/// Returns the heights of head, table, reasons, log and keys.
///
/// The table gets its full height while three tenths remain for the log. The log gets the rest.
fn row_heights(view: &View, area: Rect, head: usize, reasons: usize) -> [usize; 5] {
    let height = usize::from(area.height);
    if height < 12 {
        let head = 2.min(height.saturating_sub(2));
        return [head, height.saturating_sub(head), 0, 0, 0];
    }
    let reasons = if height >= 20 && reasons > 0 {
        reasons.min(5) + 1
    } else {
        0
    };
    let left = height.saturating_sub(head + reasons + 1);
    let table = left
        .saturating_sub(height * 3 / 10)
        .min(view.board.families.len() + 2);
    [head, table, reasons, left - table, 1]
}

/// Returns the head: current and next task, gates, time.
fn head_lines(view: &View, columns: usize) -> Vec<Line<'static>> {
    let board = &view.board;
    let plain = Style::new();
    let runs = if board.holder.is_some() {
        Color::Yellow
    } else {
        Color::Reset
    };
    let mut lines = vec![
        (headline_text(board), plain.add_modifier(Modifier::BOLD)),
        (running_line(view), view.color_style(runs)),
    ];
    let trouble = view
        .trouble
        .as_ref()
        .map(|trouble| line(&format!("trouble: {trouble}"), 500));
    // Above what runs: a small window shows two lines.
    if let Some(trouble) = trouble {
        lines.insert(1, (trouble, view.color_style(Color::Red)));
    }
    let next = crate::report::table::next(board)
        .into_iter()
        .find(|line| line.starts_with("next: "));
    let gates: Vec<String> = board
        .gates
        .iter()
        .map(|gate| format!("{}: {}", gate.name, gate_counts_text(gate)))
        .collect();
    let gates = (!gates.is_empty()).then(|| format!("gates: {}", gates.join(" · ")));
    lines.extend(
        next.into_iter()
            .chain(gates)
            .chain([time_and_cost(board)])
            .map(|text| (text, plain)),
    );
    lines
        .into_iter()
        .map(|(text, style)| Line::styled(cut_text(&text, columns), style))
        .collect()
}

fn running_line(view: &View) -> String {
    let board = &view.board;
    let phase = match &board.why {
        Some(why) => format!("{}: {why}", board.phase),
        None => board.phase.to_string(),
    };
    match (activity_line(board), &board.current, &board.holder) {
        (Some(what), Some(current), _) => {
            let seconds = u64::try_from(view.now.saturating_sub(current.since)).unwrap_or(0);
            format!("now: {what}, for {}", duration(seconds))
        }
        (_, _, Some(_)) => match board
            .waits_until
            .map(|until| u64::try_from(until - view.now))
        {
            Some(Ok(left)) => format!("now: {} left, {phase}", duration(left)),
            _ => format!("now: {phase}"),
        },
        _ if board.why.is_some() => format!("no run is active; {phase}"),
        _ => "no run is active".to_owned(),
    }
}

/// Returns why the marked family is open or blocked.
fn reason_lines(view: &View) -> Vec<String> {
    let Some(family) = view.board.families.get(view.marked_row()) else {
        return Vec::new();
    };
    let alone = Board {
        families: vec![family.clone()],
        ..view.board.clone()
    };
    open_reasons(&alone)
}

/// Lines under a rule with a title.
fn draw_titled(frame: &mut Frame<'_>, area: Rect, title: impl Display, lines: Vec<Line<'static>>) {
    frame.render_widget(Paragraph::new(lines).block(ruled_block(title)), area);
}

fn ruled_block(title: impl Display) -> Block<'static> {
    Block::new()
        .borders(Borders::TOP)
        .title(format!(" {title} "))
}

fn fixed_length(cells: usize) -> Constraint {
    Constraint::Length(u16::try_from(cells).unwrap_or(u16::MAX))
}

/// The families around the marked one.
fn draw_table(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let board = &view.board;
    let framed = area.height >= 5;
    let rows = usize::from(area.height).saturating_sub(if framed { 2 } else { 1 });
    let grid = Grid::fit_columns(board, usize::from(area.width));
    let first = view
        .marked_row()
        .saturating_sub(rows / 2)
        .min(grid.rows.len().saturating_sub(rows));
    let last = (first + rows).min(grid.rows.len());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let marked = Style::new().add_modifier(Modifier::REVERSED);
    let shown = grid.rows.get(first..last).unwrap_or_default();
    let shown = shown.iter().map(|cells| {
        Row::new(cells.iter().map(|cell| {
            let style = cell
                .status
                .map_or(Style::new(), |status| status_style(view, status));
            Cell::new(cell.text.clone()).style(style)
        }))
    });
    let mut table = Table::new(shown, grid.widths.iter().map(|width| fixed_length(*width)))
        .header(Row::new(grid.head).style(bold))
        .column_spacing(GAP)
        .row_highlight_style(marked);
    if framed {
        let title = format!(
            "tasks {}-{last} of {}",
            (first + 1).min(last),
            grid.rows.len()
        );
        table = table.block(ruled_block(title));
    }
    let mut state = TableState::new().with_selected(view.marked_row().checked_sub(first));
    frame.render_stateful_widget(table, area, &mut state);
}

fn status_style(view: &View, status: BoxStatus) -> Style {
    match status {
        BoxStatus::Running => view.color_style(Color::Yellow).add_modifier(Modifier::BOLD),
        BoxStatus::Passed(_) | BoxStatus::Done => view.color_style(Color::Green),
        BoxStatus::ByPerson => view.color_style(Color::Cyan),
        BoxStatus::CommitOnly | BoxStatus::Rejected(_) | BoxStatus::Rework(_) => {
            view.color_style(Color::Magenta)
        }
        BoxStatus::Blocked | BoxStatus::Failed(_) => view.color_style(Color::Red),
        BoxStatus::Optional => Style::new().add_modifier(Modifier::DIM),
        BoxStatus::Marked(_) | BoxStatus::Open | BoxStatus::Unrecorded => Style::new(),
    }
}

/// The last lines of the log that fit, or the first ones of a film's frame.
fn draw_log(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let lines = |lines: &[String]| {
        lines
            .iter()
            .map(|line| Line::raw(cut_text(line, usize::from(area.width))))
            .collect()
    };
    if let Some(film) = &view.film {
        return draw_titled(frame, area, &film.title, lines(&film.lines));
    }
    let rows = usize::from(area.height).saturating_sub(1);
    let all = &view.log.lines;
    let shown = all
        .get(all.len().saturating_sub(rows)..)
        .unwrap_or_default();
    let name = if view.log.name.is_empty() {
        "nothing yet"
    } else {
        &view.log.name
    };
    let title = format!("log of iteration {}: {name}", view.log_iteration());
    draw_titled(frame, area, title, lines(shown));
}

#[cfg(test)]
mod tests;
