//! `ralph report`: the page that a team reads in the morning. It shows agents' words next to facts from git and gates.
//!
//! Both forms are filled from one object. Markdown has at most [`COMMENT`] characters (GitHub's limit for a comment is
//! 65,536). The HTML is one file without scripts that loads nothing. No text of an agent or a repository is markup in
//! either.

mod code;
mod links;
mod summary;
mod timeline;

pub use links::{Forge, commit_pages, is_inside, relative_address, repository_page};
pub use summary::{LegendEntry, OpenEntry, PageFact};

use self::timeline::{TimedTask, Timeline};
use super::board::{self, Board, BoardRow, BoxStatus};
use super::story::{Happened, IterationStory, LinkedReport, Story};
use super::table;
use crate::machine::budget::dollars;
use crate::source::text::{count, duration};
use crate::task::{spoken_id, typed_id};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State as TemplateState, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of the Markdown form.
pub const COMMENT: usize = 60_000;
/// Iterations per task in the Markdown: as many of these as fit.
const TOLD: [usize; 4] = [usize::MAX, 5, 1, 0];
/// Tasks in the Markdown if it is too long without any iteration.
const TASKS: usize = 200;

/// Everything on the page. A field, once released, keeps its name and meaning.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// `Complete: 12 of 12 required boxes (1 optional left)`.
    pub headline: String,
    /// `good`, `bad` or `plain`: how the headline is marked.
    pub class: &'static str,
    /// Workspace, task file, times and iterations in one line.
    pub about: String,
    /// The last stop, the next task, gates, time, cost, weaker evidence.
    pub facts: Vec<PageFact>,
    /// Other facts, one sentence each.
    pub notes: Vec<String>,
    /// Unticked boxes with reasons, and blocked tasks.
    pub open: Vec<OpenEntry>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<PageTask>,
    /// A task has a known cost.
    pub has_costs: bool,
    /// Meaning of each kind of box in the table.
    pub legend: Vec<LegendEntry>,
    /// Changed files that the last gate of their task did not judge.
    pub not_judged: Vec<String>,
    /// Iterations that were too many to be kept.
    pub forgotten: u64,
    /// The page shows an audited history instead of a run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) past: bool,
    /// Iterations by task and time.
    pub timeline: Timeline,
    /// Mutation scores of gates, in order of time.
    pub scores: Vec<ScoreRow>,
}

/// A task with its boxes and its history.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageTask {
    /// Id of the task, or its line.
    pub name: String,
    /// Text of the task.
    pub text: String,
    /// Anchor of the history on the page.
    pub anchor: String,
    /// Boxes of the task.
    pub boxes: Vec<PageBox>,
    /// Agent processes.
    pub attempts: u32,
    /// FAILs that were answered with rework.
    pub reworks: u32,
    /// Time that agents and gates worked on it.
    pub time: String,
    /// Cost by the agents' own reports; empty without any.
    pub cost: String,
    /// The mutation score; empty except in an audit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub score: String,
    /// Reason of the block.
    pub blocked: Option<String>,
    /// Its history needs a look: the HTML shows it unfolded.
    pub is_open: bool,
    /// Commits of the task that its history lists.
    pub commits: u64,
    /// The newest mutation report.
    pub report: Option<LinkedReport>,
    /// Iterations in order. Repeated rejections for the same reason are in `earlier` of the last one.
    pub iterations: Vec<Happened>,
}

/// A box of a task.
#[derive(Clone, Debug, Serialize)]
pub struct PageBox {
    pub stage: String,
    /// State of the box, for people.
    pub words: String,
    /// State of the box, one word for programs.
    pub standing: &'static str,
}

/// A mutation score that a gate measured.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreRow {
    /// The box.
    pub name: String,
    pub iteration: u64,
    /// Per cent, rounded down.
    pub percent: u64,
    /// `good`, `bad` or `plain`.
    pub class: &'static str,
    /// The gate's verdict.
    pub words: String,
}

/// Facts about the machine on which the page is made.
pub struct PageContext<'a> {
    /// Name of the workspace.
    pub workspace: &'a str,
    /// Zone of the times; UTC without one.
    pub zone: Option<TimeZone>,
    /// Address in front of a commit's id, by package.
    pub commit_pages: &'a BTreeMap<String, String>,
    /// Returns the address of a report by its path from the workspace; `None` if the page cannot link to it.
    pub report_address: &'a dyn Fn(&str) -> Option<String>,
}

impl Page {
    /// Makes the page of the board's task file.
    pub fn new(board: &Board, story: &Story, context: &PageContext<'_>) -> Self {
        let told: Vec<&IterationStory> = story.iterations_of(&board.spec).collect();
        let mut by_family: BTreeMap<&str, Vec<&IterationStory>> = BTreeMap::new();
        for told in &told {
            let of_family = by_family.entry(told.family.as_str()).or_default();
            of_family.push(told);
        }
        let mut tasks = Vec::new();
        let mut told_by_task = Vec::new();
        for line in &board.families {
            let told = by_family.remove(line.family.as_str()).unwrap_or_default();
            tasks.push(task(board, line, &told));
            told_by_task.push(told);
        }
        for told in by_family.into_values() {
            tasks.push(removed_task(&told));
            told_by_task.push(told);
        }
        for (number, (task, told)) in (1..).zip(tasks.iter_mut().zip(&told_by_task)) {
            task.anchor = format!("task-{number}");
            add_history(task, told, context);
        }
        let timed: Vec<TimedTask<'_>> = tasks
            .iter()
            .zip(&told_by_task)
            .map(|(task, told)| TimedTask {
                name: &task.name,
                anchor: &task.anchor,
                told,
            })
            .collect();
        let timeline = Timeline::new(&timed, context.zone.as_ref());
        let anchors: Vec<String> = tasks
            .iter()
            .map(|task| match task.iterations.first() {
                Some(_) => task.anchor.clone(),
                None => String::new(),
            })
            .collect();
        let (headline, class) = summary::headline(board);
        Self {
            headline,
            class,
            about: summary::about(board, &timeline, context.workspace),
            facts: summary::facts(board),
            open: summary::open_entries(board, &anchors),
            has_costs: tasks.iter().any(|task| !task.cost.is_empty()),
            legend: summary::legend(board),
            not_judged: not_judged(&told),
            forgotten: story.forgotten,
            scores: told.iter().filter_map(|told| score(told)).collect(),
            timeline,
            tasks,
            ..Self::default()
        }
    }

    /// Returns one HTML file.
    ///
    /// # Errors
    /// The template cannot be filled: an error in ralph.
    pub fn render_html(&self) -> Result<String, minijinja::Error> {
        let mut environment = page_environment(|_| AutoEscape::Html)?;
        environment.add_filter("code", code::code_spans);
        let template = include_str!("../../../templates/report/report.html");
        environment.render_named_str("report.html", template, Serde(self))
    }

    /// Returns Markdown of at most [`COMMENT`] characters. A longer page shows only the newest iterations of each task,
    /// then none, then not all tasks.
    ///
    /// # Errors
    /// The template cannot be filled: an error in ralph.
    pub fn render_markdown(&self) -> Result<String, minijinja::Error> {
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
        let mut environment = page_environment(|_| AutoEscape::None)?;
        environment.set_formatter(write_literal);
        let template = include_str!("../../../templates/report/report.md");
        environment.render_named_str("report.md", template, Serde(self))
    }
}

/// Writes a value so that Markdown takes it for text, GitHub for no mention, and a table for one cell.
fn write_literal(
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

/// Returns the changed files that the last gate of each box did not judge.
fn not_judged(told: &[&IterationStory]) -> Vec<String> {
    let gates = told.iter().filter(|told| told.is_gate);
    let last: BTreeMap<&str, &[String]> = gates
        .map(|told| (&*told.happened.task, &*told.not_judged))
        .collect();
    let files: BTreeSet<&String> = last.into_values().flatten().collect();
    files.into_iter().cloned().collect()
}

fn score(told: &IterationStory) -> Option<ScoreRow> {
    let happened = &told.happened;
    Some(ScoreRow {
        name: happened.task.clone(),
        iteration: happened.iteration,
        percent: told.percent?,
        class: happened.class,
        words: without_stage(happened),
    })
}

/// Returns the settings of both templates. They differ only in the escaping.
fn page_environment(
    escaping: fn(&str) -> AutoEscape,
) -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(escaping);
    environment.add_filter("typed", |id: &str| typed_id(id).to_owned());
    environment.add_filter("spoken", spoken_id);
    Ok(environment)
}

fn task(board: &Board, line: &BoardRow, told: &[&IterationStory]) -> PageTask {
    let (agents, gates) = board.spent.millis_of(&line.family);
    PageTask {
        name: table::row_id(line),
        text: line.text.clone(),
        boxes: line
            .cells
            .values()
            .map(|cell| PageBox {
                stage: cell.key.stage.stage_word().to_owned(),
                words: cell.status.status_words(),
                standing: cell.status.status_name(),
            })
            .collect(),
        attempts: line.cells.values().map(|cell| cell.attempts).sum(),
        reworks: line.reworks,
        time: duration((agents + gates) / 1_000),
        cost: if line.used.priced > 0 {
            dollars(line.used.micros)
        } else {
            String::new()
        },
        blocked: line.blocked.clone(),
        is_open: !told.is_empty()
            && !line
                .cells
                .values()
                .all(|cell| cell.done || cell.status == BoxStatus::Optional),
        ..PageTask::default()
    }
}

/// A task with a history that the file no longer has.
fn removed_task(told: &[&IterationStory]) -> PageTask {
    let first = told.first().map(|told| told.happened.task.clone());
    PageTask {
        name: first.unwrap_or_default(),
        text: "is no longer in the file".to_owned(),
        time: duration(told.iter().map(|told| told.iteration_seconds()).sum()),
        ..PageTask::default()
    }
}

fn add_history(task: &mut PageTask, told: &[&IterationStory], context: &PageContext<'_>) {
    for told in told {
        let mut happened = dated(told, context.zone.as_ref());
        for commit in &mut happened.commits {
            let is_id = commit.id.bytes().all(|byte| byte.is_ascii_hexdigit());
            let pages = context.commit_pages.get(&commit.package);
            if let (true, Some(pages)) = (is_id, pages) {
                commit.href = Some(format!("{pages}{}", commit.id));
            }
        }
        for report in &mut happened.reports {
            report.href = (context.report_address)(&report.path);
        }
        task.commits += happened.commits.len() as u64;
        if let Some(report) = happened.reports.last() {
            task.report = Some(report.clone());
        }
        match task.iterations.last_mut() {
            Some(last) if is_repeated(last, &happened) => {
                happened.earlier = std::mem::take(&mut last.earlier);
                let earlier = std::mem::replace(last, happened);
                last.earlier.push(earlier);
            }
            _ => task.iterations.push(happened),
        }
    }
}

/// The iteration with local time, and its headline in two parts.
fn dated(told: &IterationStory, zone: Option<&TimeZone>) -> Happened {
    let mut happened = told.happened.clone();
    let (from, _) = told.span;
    happened.when = format!(
        "{}, {}",
        board::display_time(from, zone),
        duration(told.iteration_seconds())
    );
    happened.began = Timestamp::from_second(from).map_or(String::new(), |at| at.to_string());
    let headline = without_stage(&happened);
    match headline.split_once(" — ") {
        Some((headline, detail)) => {
            headline.clone_into(&mut happened.headline);
            detail.clone_into(&mut happened.detail);
        }
        None => happened.headline = headline,
    }
    happened
}

/// Returns the headline without the name of the stage if the name of the box ends with it.
fn without_stage(happened: &Happened) -> String {
    let Happened { task, headline, .. } = happened;
    let stage = task.rsplit('.').next().unwrap_or_default();
    match headline.strip_prefix(stage) {
        Some(rest) if !stage.is_empty() && rest.starts_with(' ') => rest.trim_start().to_owned(),
        _ => headline.clone(),
    }
}

/// True for two rejections of one box for the same reasons.
fn is_repeated(last: &Happened, next: &Happened) -> bool {
    let mut both = [last, next].into_iter();
    both.all(|it| it.headline.starts_with("REJECTED"))
        && (&last.task, &last.lines) == (&next.task, &next.lines)
}

#[cfg(test)]
mod tests;
