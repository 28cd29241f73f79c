//! `ralph report`: what a team reads in the morning. What agents said stands beside what git and gates saw; nothing that
//! they wrote is markup in it.
//!
//! Both forms are filled from one object: Markdown of at most [`COMMENT`] characters (GitHub's limit for a comment is
//! 65,536), and HTML that needs no other file, runs no script and loads nothing.

use super::board::{Board, Cell, Line};
use super::story::{Happened, Story, Told};
use super::table;
use crate::machine::budget::dollars;
use crate::source::text::{count, duration};
use jiff::Timestamp;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State as TemplateState, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of the Markdown form.
pub const COMMENT: usize = 60_000;
/// Iterations of a task that the Markdown tells in full; fewer where it would get too long.
const TOLD: [usize; 4] = [usize::MAX, 5, 1, 0];
/// Tasks that the Markdown lists where it would be too long all the same.
const TASKS: usize = 200;
/// Width of the drawings, in units of SVG.
const WIDTH: i64 = 960;
/// Height of a row of the timeline.
const ROW: i64 = 18;
/// The least width of a bar.
const THIN: i64 = 2;
/// Left edge of the bars.
const LEFT: i64 = 120;
/// Height of the plot of scores.
const PLOT: i64 = 120;

/// All that is shown. A field, once released, keeps its name and meaning.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// `tasks.md: 8 of 12 boxes ticked, 14 iterations, stopped`.
    pub headline: String,
    /// Why the last run stopped, and what is next.
    pub next: Vec<String>,
    /// Gates, time, cost, and what to look at.
    pub totals: Vec<String>,
    /// Boxes that are open again, and what is blocked.
    pub open: Vec<String>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// Changed files that no gate judged, the last time that one looked.
    pub not_judged: Vec<String>,
    /// Iterations that were too many to be kept.
    pub forgotten: u64,
    /// It tells of a history that was audited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) past: bool,
    /// The bars of the timeline, and its height.
    pub(super) timeline: Drawing,
    /// The scores of gates, over time.
    pub(super) scores: Drawing,
}

/// A family.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Task {
    /// Its id, or its first words.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its boxes.
    pub boxes: Vec<Shown>,
    /// Agent processes.
    pub attempts: u32,
    /// FAILs that were answered with rework.
    pub reworks: u32,
    /// How long agents and gates worked on it.
    pub time: String,
    /// What its agents say that they cost; empty where none does.
    pub cost: String,
    /// Why it is blocked.
    pub blocked: Option<String>,
    /// What happened, in order.
    pub iterations: Vec<Happened>,
}

/// A box.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Its stage.
    pub stage: String,
    /// What it is said to be.
    pub words: String,
    /// The same as one word.
    pub standing: &'static str,
}

/// A drawing: rectangles, points and words at their places.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Drawing {
    width: i64,
    height: i64,
    bars: Vec<Bar>,
    words: Vec<Word>,
}

#[derive(Clone, Debug, Serialize)]
struct Bar {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
    class: &'static str,
    title: String,
}

#[derive(Clone, Debug, Serialize)]
struct Word {
    x: i64,
    y: i64,
    text: String,
}

impl Page {
    /// The page of the board's task file.
    pub fn new(board: &Board, story: &Story) -> Self {
        let told: Vec<&Told> = story.of(&board.spec).collect();
        let mut by_family: BTreeMap<&str, Vec<&Told>> = BTreeMap::new();
        for told in &told {
            by_family
                .entry(told.family.as_str())
                .or_default()
                .push(told);
        }
        let gates = told.iter().filter(|told| told.is_gate);
        let last: BTreeMap<&str, &[String]> = gates
            .map(|told| (&*told.happened.task, &*told.not_judged))
            .collect();
        let not_judged: BTreeSet<&String> = last.into_values().flatten().collect();
        let measured = told
            .iter()
            .filter_map(|told| Some((told.percent?, title(told), told.happened.class)));
        let timeline = timeline(board, &told, &by_family);
        let tasks = board.families.iter().map(|line| {
            let told = by_family.remove(line.family.as_str());
            task(board, line, &told.unwrap_or_default())
        });
        let mut tasks: Vec<Task> = tasks.collect();
        tasks.extend(by_family.into_values().map(|told| no_longer_there(&told)));
        Self {
            headline: table::headline(board),
            next: table::next(board),
            totals: table::totals(board),
            open: table::open_reasons(board),
            tasks,
            not_judged: not_judged.into_iter().cloned().collect(),
            forgotten: story.forgotten,
            timeline,
            scores: scores(measured.collect()),
            ..Self::default()
        }
    }

    /// One HTML file.
    ///
    /// # Errors
    /// The template cannot be filled: a fault of ralph's own.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let template = include_str!("../../templates/report/report.html");
        environment.render_named_str("report.html", template, Serde(self))
    }

    /// Markdown, at most [`COMMENT`] characters: where the whole is longer, the newest iterations of each task; then
    /// none; then not all tasks.
    ///
    /// # Errors
    /// The template cannot be filled: a fault of ralph's own.
    pub fn markdown(&self) -> Result<String, minijinja::Error> {
        let mut shorter = self.clone();
        for most in TOLD {
            for task in &mut shorter.tasks {
                let first = task.iterations.len().saturating_sub(most);
                task.iterations.drain(..first);
            }
            let text = shorter.fill_markdown()?;
            if text.chars().count() <= COMMENT {
                return Ok(text);
            }
        }
        let more = shorter.tasks.len().saturating_sub(TASKS);
        shorter.tasks.truncate(TASKS);
        shorter.open.truncate(TASKS);
        shorter.not_judged.truncate(TASKS);
        let text = shorter.fill_markdown()?;
        let cut: String = text.chars().take(COMMENT).collect();
        Ok(format!(
            "{cut}\n\n… and {}. The HTML form has all.\n",
            count(more as u64, "more task")
        ))
    }

    fn fill_markdown(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build();
        environment.set_syntax(syntax?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_formatter(literal);
        let template = include_str!("../../templates/report/report.md");
        environment.render_named_str("report.md", template, Serde(self))
    }
}

/// Writes a value so that Markdown takes it for text, GitHub for no mention, and a table for one cell.
fn literal(
    out: &mut Output<'_>,
    _: &mut TemplateState<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if "\\`*_[]<>|#~&$".contains(c) {
            text.push('\\');
        }
        text.push(c);
        if c == '@' {
            text.push('\u{200b}');
        }
    }
    Ok(out.write_str(&text)?)
}

fn task(board: &Board, line: &Line, told: &[&Told]) -> Task {
    let (agents, gates) = board
        .spent
        .families
        .get(&line.family)
        .copied()
        .unwrap_or_default();
    let shown = |cell: &Cell| Shown {
        stage: cell.key.stage.word().to_owned(),
        words: cell.status.words(),
        standing: cell.status.name(),
    };
    Task {
        name: table::id(line),
        text: line.text.clone(),
        boxes: line.cells.values().map(shown).collect(),
        attempts: line.cells.values().map(|cell| cell.attempts).sum(),
        reworks: line.reworks,
        time: duration((agents + gates) / 1_000),
        cost: if line.used.priced > 0 {
            dollars(line.used.micros)
        } else {
            String::new()
        },
        blocked: line.blocked.clone(),
        iterations: told.iter().map(|told| told.happened.clone()).collect(),
    }
}

/// What happened for a task that the file does not have any more.
fn no_longer_there(told: &[&Told]) -> Task {
    Task {
        name: told
            .first()
            .map(|told| told.happened.task.clone())
            .unwrap_or_default(),
        text: "is not in the file any more".to_owned(),
        time: duration(told.iter().map(|told| told.seconds()).sum()),
        iterations: told.iter().map(|told| told.happened.clone()).collect(),
        ..Task::default()
    }
}

/// A row for each task that something was done for; a bar is an iteration.
fn timeline(board: &Board, told: &[&Told], by_family: &BTreeMap<&str, Vec<&Told>>) -> Drawing {
    let (began, ended) = (
        told.iter().map(|told| told.span.0),
        told.iter().map(|told| told.span.1),
    );
    let (Some(from), Some(to)) = (began.min(), ended.max()) else {
        return Drawing::default();
    };
    let to = to.max(from + 1);
    let place = |at: i64| {
        let part = i128::from(at - from) * i128::from(WIDTH - LEFT - THIN) / i128::from(to - from);
        LEFT + i64::try_from(part).unwrap_or(0)
    };
    let mut drawing = Drawing {
        width: WIDTH,
        ..Drawing::default()
    };
    for line in &board.families {
        let Some(told) = by_family.get(line.family.as_str()) else {
            continue;
        };
        let y = drawing.height;
        drawing.words.push(Word {
            x: 0,
            y: y + ROW - 5,
            text: super::width::cut(&table::id(line), 14),
        });
        for told in told {
            let (x, end) = (place(told.span.0), place(told.span.1));
            let title = format!("{} ({})", title(told), duration(told.seconds()));
            let width = (end - x).max(THIN);
            drawing.bars.push(Bar {
                x,
                y: y + 3,
                width,
                height: ROW - 6,
                class: told.happened.class,
                title,
            });
        }
        drawing.height += ROW;
    }
    drawing.height += ROW;
    let y = drawing.height - 5;
    let shown = |at: i64| {
        Timestamp::from_second(at)
            .map(|at| at.to_string())
            .unwrap_or_default()
    };
    drawing
        .words
        .extend([(LEFT, from), (WIDTH - 150, to)].map(|(x, at)| Word {
            x,
            y,
            text: shown(at),
        }));
    drawing
}

/// A score that a gate measured, per cent; what it is of, and how it is marked.
pub(super) type Score = (u64, String, &'static str);

fn title(Told { happened, .. }: &Told) -> String {
    format!(
        "{} {}: {}",
        happened.iteration, happened.task, happened.headline
    )
}

/// A bar for each score, as high as its per cent.
pub(super) fn scores(measured: Vec<Score>) -> Drawing {
    if measured.is_empty() {
        return Drawing::default();
    }
    let many = i64::try_from(measured.len()).unwrap_or(i64::MAX);
    let step = ((WIDTH - LEFT) / many).clamp(1, 40);
    let bars = measured
        .into_iter()
        .zip(0..)
        .map(|((percent, title, class), at)| {
            let height = (PLOT * i64::try_from(percent.min(100)).unwrap_or(100) / 100).max(1);
            Bar {
                x: LEFT + at * step,
                y: PLOT - height,
                width: (step - 2).max(1),
                height,
                class,
                title,
            }
        });
    let words = [(100, 10), (50, PLOT / 2 + 4), (0, PLOT)].map(|(percent, y)| Word {
        x: LEFT - 45,
        y,
        text: format!("{percent}%"),
    });
    Drawing {
        width: WIDTH,
        height: PLOT + 4,
        bars: bars.collect(),
        words: words.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::board::Beside;
    use crate::report::spent::Spent;
    use proptest::prelude::*;

    const HOSTILE: &str =
        "<script>alert(1)</script> | @team `x` [a](b) *c* </details> &amp; \u{202e}";

    fn told(iteration: u64) -> Told {
        let happened = Happened {
            iteration,
            task: "1.PITEST".into(),
            said: HOSTILE.into(),
            headline: HOSTILE.into(),
            lines: vec![HOSTILE.into()],
            boxes: "opened 1.".into(),
            ..Happened::default()
        };
        Told {
            happened,
            family: "1".into(),
            span: (
                1_000 + 9 * i64::try_from(iteration).unwrap(),
                1_004 + 9 * i64::try_from(iteration).unwrap(),
            ),
            percent: Some(iteration % 101),
            ..Told::default()
        }
    }

    fn page(iterations: u64) -> Page {
        let state = crate::machine::state::State::default();
        let board = Board::new(&state, &Spent::default(), Beside::default());
        let line = Line {
            id: "1".into(),
            family: "1".into(),
            text: HOSTILE.into(),
            line: 1,
            parent: None,
            cells: BTreeMap::new(),
            blocked: Some(HOSTILE.into()),
            reworks: 0,
            used: crate::machine::state::Used::default(),
        };
        let board = Board {
            families: vec![line],
            ..board
        };
        let told = (1..=iterations).map(told);
        Page::new(&board, &Story::from(told.collect::<Vec<_>>()))
    }

    #[test]
    fn nothing_that_an_agent_wrote_is_markup() {
        let html = page(2).html().unwrap();
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
        assert_eq!(html.matches("<article").count(), 2);
        let text = page(2).markdown().unwrap();
        assert!(
            text.contains(r"\<script\>alert(1)\</script\> \| @"),
            "{text}"
        );
        assert!(!text.contains("@team"), "no mention: {text}");
        assert_eq!(
            text.matches("</details>").count(),
            1,
            "its own alone: {text}"
        );
    }

    #[test]
    fn the_markdown_fits_a_comment_and_tells_the_newest() {
        let text = page(3_000).markdown().unwrap();
        assert!(text.chars().count() <= COMMENT);
        assert!(
            text.contains("iteration 3000,") && !text.contains("iteration 1,"),
            "{text}"
        );
        assert_eq!(
            page(3_000).html().unwrap().matches("<article").count(),
            3_000
        );
    }

    proptest! {
        #[test]
        fn every_bar_is_inside_of_its_drawing(count in 1u64..400) {
            let page = page(count);
            for drawing in [page.timeline, page.scores] {
                for bar in drawing.bars {
                    prop_assert!(bar.x >= 0 && bar.x + bar.width <= drawing.width, "{bar:?}");
                    prop_assert!(bar.y >= 0 && bar.y + bar.height <= drawing.height, "{bar:?}");
                }
            }
        }
    }
}
