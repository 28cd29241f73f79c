//! `ralph check --explain`: what each line of the task file was read as.
//!
//! Owns: the table for people and the objects for programs.
//!
//! Promises: every line that is not blank in the table, every line in the objects.
//!
//! Refuses to know: the grammar.

use super::Read;
use crate::cli::ui;
use crate::machine::decide::count;
use crate::report::plain;
use crate::task::{DialectFound, Explained, ExplainedTask, ReadAs, Stage, dialect};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Longest text in the table, characters.
const TEXT: usize = 60;

/// Shows the explanation of a file.
pub(super) fn show(read: &Read, as_json: bool) {
    let found = dialect(&read.file, &read.path.to_string_lossy());
    let lines = read.file.explain();
    let rules = rules(read);
    if as_json {
        ui::json(&json!({
            "file": read.shown,
            "dialect": found.dialect,
            "reasons": found.reasons,
            "tasks": read.file.len(),
        }));
        for line in &lines {
            ui::json(&Line { explained: line, rules: rules.get(&line.line).map_or(&[], Vec::as_slice) });
        }
        return;
    }
    ui::line(&format!("{}: {}, {}", read.shown, spoken(&found), count(read.file.len() as u64, "task")));
    let width = lines.last().map_or(1, |line| line.line.to_string().len());
    for line in lines.iter().filter(|line| line.read != ReadAs::Blank) {
        let odd = rules.get(&line.line).map(|rules| format!("  [{}]", rules.join(", "))).unwrap_or_default();
        ui::line(&format!("{:>width$}  {}{odd}", line.line, told(line)));
    }
}

/// A line, and the rules that it breaks.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    explained: &'a Explained,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    rules: &'a [&'static str],
}

/// The rules that lines break: what is almost a task is told why it is none.
fn rules(read: &Read) -> BTreeMap<u32, Vec<&'static str>> {
    let mut rules: BTreeMap<u32, Vec<&'static str>> = BTreeMap::new();
    for finding in super::tasks::findings(read) {
        if let Some(line) = finding.line.and_then(|line| u32::try_from(line).ok()) {
            rules.entry(line).or_default().push(finding.rule.id);
        }
    }
    rules
}

fn spoken(found: &DialectFound) -> String {
    if found.reasons.is_empty() {
        return found.dialect.to_string();
    }
    format!("{} ({})", found.dialect, found.reasons.join("; "))
}

fn told(line: &Explained) -> String {
    match &line.read {
        ReadAs::Task(task) => told_task(task),
        ReadAs::Heading { level, group, text } => {
            format!("heading {}  group {group}: {}", "#".repeat(usize::from(*level)), plain::line(text, TEXT))
        }
        ReadAs::LeftOut { pattern: Some(pattern), text } => {
            format!("no task   {} (left out: tasks.sections.exclude `{pattern}`)", plain::line(text, TEXT))
        }
        ReadAs::LeftOut { pattern: None, text } => {
            format!(
                "no task   {} (left out: its section is not in tasks.sections.include)",
                plain::line(text, TEXT)
            )
        }
        ReadAs::FrontMatter => "front matter".to_owned(),
        ReadAs::Fence => "code".to_owned(),
        ReadAs::Comment => "comment".to_owned(),
        ReadAs::Text { requirements_of: Some(line) } => {
            format!("text      requirements of the task on line {line}")
        }
        ReadAs::Text { requirements_of: None } | ReadAs::Blank => "text".to_owned(),
    }
}

fn told_task(task: &ExplainedTask) -> String {
    let id = task.id.as_deref().unwrap_or("(no id)");
    let name = match &task.stage {
        Stage::Implementation if task.id.is_some() => format!("{id}."),
        Stage::Implementation => id.to_owned(),
        Stage::Final if id == "FINAL" => id.to_owned(),
        stage => format!("{id}.{}", stage.word()),
    };
    let mut facts = vec![task.stage.word().to_owned()];
    let mut add = |there: bool, fact: String| {
        if there {
            facts.push(fact);
        }
    };
    add(task.id_stands_twice, "its id stands twice: known by its text".to_owned());
    add(task.optional, "optional".to_owned());
    add(task.checkpoint, "checkpoint".to_owned());
    if let (Some(parent), Some(line)) = (&task.parent_name, task.parent) {
        add(true, format!("part of {parent} (line {line})"));
    }
    add(task.group > 0, format!("group {}", task.group));
    let detail = &task.detail;
    add(!detail.requirements.is_empty(), format!("requirements {}", detail.requirements.join(", ")));
    if let Some(priority) = detail.priority {
        add(true, format!("priority P{priority}"));
    }
    add(detail.parallel, "parallel".to_owned());
    add(!detail.tags.is_empty(), format!("tags {}", detail.tags.join(", ")));
    let mark = task.mark.0.escape_debug().to_string();
    let text = plain::line(&task.text, TEXT);
    format!("task [{mark}]  {name}  {text}{}({})", if text.is_empty() { "" } else { "  " }, facts.join(" · "))
}
