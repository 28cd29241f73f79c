//! `ralph check --explain`: what each line of the task file is read as.

use super::Read;
use crate::cli::ui;
use crate::machine::lanes::{LongestChain, longest_chain};
use crate::machine::policy::LaneTasks;
use crate::source::text::{self, count};
use crate::task::{ReadAs, ReadLine, Row, SectionExclusion, Stage, TaskFile, spoken_id, typed_id};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longest text in the table, characters.
const TEXT: usize = 60;

/// Shows every line as an object; or in a table the tasks with their headings and what was passed over, or every line
/// that is not blank.
pub(super) fn show_lines(read: &Read, take: LaneTasks, as_json: bool, all_lines: bool) {
    let mut rules: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for finding in super::tasks::task_findings(read) {
        rules
            .entry(finding.line.unwrap_or_default())
            .or_default()
            .push(finding.rule);
    }
    let stops = read
        .boxes
        .iter()
        .filter(|row| row.is_virtual && row.approval)
        .map(|row| row.line);
    let (stops, rows) = (stops.collect(), read.file.box_rows());
    let with_tasks: BTreeSet<u32> = rows.iter().map(|row| row.group).collect();
    let (requirements, groups) = (read.file.named_requirements(), read.file.group_numbers());
    let file = ExplainedBox {
        file: &read.file,
        rows,
        requirements,
        groups,
        stops,
    };
    let (name, tasks) = (&read.shown, read.file.len());
    let words = format!("{name}: {}", count(tasks as u64, "task"));
    let counted = longest_chain(&read.boxes.clone().into(), take);
    let facts = json!({ "file": name, "tasks": tasks, "longest_chain": counted.chain });
    ui::print_answer(as_json, &facts, &words);
    let width = read.file.lines().count().max(1).to_string().len();
    for line in read.file.read_lines() {
        let rules = rules.remove(&(line.number as usize)).unwrap_or_default();
        if as_json {
            let mut facts = file.line_facts(&line);
            if file.stops.contains(&line.number) {
                facts["approval"] = json!(true);
            }
            if !rules.is_empty() {
                facts["rules"] = json!(rules);
            }
            ui::print_json(&facts);
        } else if line.read != ReadAs::Blank
            && (all_lines || !rules.is_empty() || file.is_listed(&line, &with_tasks))
        {
            let odd = if rules.is_empty() {
                String::new()
            } else {
                format!("  [{}]", rules.join(", "))
            };
            ui::print_line(&format!(
                "{:>width$}  {}{odd}",
                line.number,
                file.describe_line(&line)
            ));
        }
    }
    if !as_json && let Some(saved) = describe_savings(counted) {
        ui::print_line(&saved);
    }
}

/// The most that lanes can save; `None` if each task must wait for the one above.
fn describe_savings(LongestChain { tasks, chain }: LongestChain) -> Option<String> {
    let all = count(tasks as u64, "required task");
    let saved = (tasks - chain) * 100 / tasks.max(1);
    (saved > 0).then(|| {
        format!(
            "lanes: {all}, the longest chain has {chain}; `--lanes` saves at most {saved} % of the agents' time"
        )
    })
}

struct ExplainedBox<'a> {
    file: &'a TaskFile,
    rows: Vec<Row>,
    requirements: Vec<Vec<String>>,
    /// For each heading the `<n>` of its `G<n>`, after the one of what is above them all.
    groups: Vec<u32>,
    /// The lines of text that stop for a person.
    stops: BTreeSet<u32>,
}

impl ExplainedBox<'_> {
    /// Returns true for a task, its heading, and any box that is no task.
    fn is_listed(&self, line: &ReadLine<'_>, with_tasks: &BTreeSet<u32>) -> bool {
        match line.read {
            ReadAs::Heading(at) => with_tasks.contains(&self.group_number(at)),
            ReadAs::Task(_) => true,
            _ => line.has_box() || self.stops.contains(&line.number),
        }
    }

    /// The number of the group in which a heading is.
    fn group_number(&self, heading: usize) -> u32 {
        self.groups.get(heading + 1).copied().unwrap_or_default()
    }

    /// A line for programs; facts that do not apply are left out.
    fn line_facts(&self, line: &ReadLine<'_>) -> Value {
        match line.read {
            ReadAs::Task(at) => self.task_facts(line, at),
            ReadAs::Heading(at) => {
                let (level, text) = self.file.heading_words(at).unwrap_or_default();
                json!({ "line": line.number, "read": "heading", "level": level, "group": self.group_number(at), "text": text })
            }
            ReadAs::LeftOut(_) => json!({ "line": line.number, "read": "left-out" }),
            plain => json!({ "line": line.number, "read": plain }),
        }
    }

    fn task_facts(&self, line: &ReadLine<'_>, at: usize) -> Value {
        let Some(row) = self.rows.get(at) else {
            return Value::Null;
        };
        let id = self.file.shown_id(at);
        let facts = json!({
            "line": line.number, "read": "task", "id": id.map(|(id, _)| id),
            "id_is_used_twice": id.is_some_and(|(_, twice)| twice), "stage": row.key.stage, "mark": row.mark,
            "optional": row.optional, "checkpoint": row.checkpoint, "struck": row.struck, "approval": row.approval,
            "parent": self.file.parent_of(at).and_then(|parent| Some(self.rows.get(parent)?.line)),
            "group": row.group, "text": row.text, "requirements": self.requirements.get(at),
            "needs": row.needs,
        });
        let Value::Object(mut facts) = facts else {
            return Value::Null;
        };
        facts.retain(|_, fact| !matches!(fact, Value::Null | Value::Bool(false)));
        Value::Object(facts)
    }

    /// A line for people.
    fn describe_line(&self, line: &ReadLine<'_>) -> String {
        match line.read {
            _ if self.stops.contains(&line.number) => {
                format!(
                    "stops for a person  {}",
                    text::line(&String::from_utf8_lossy(line.text), TEXT)
                )
            }
            ReadAs::Task(at) => self.described_task(at),
            ReadAs::Heading(at) => {
                let (level, words) = self.file.heading_words(at).unwrap_or_default();
                let marks = "#".repeat(usize::from(level));
                format!(
                    "heading {marks}  group {}: {}",
                    self.group_number(at),
                    text::line(&words, TEXT)
                )
            }
            ReadAs::LeftOut(at) => {
                let why = match self.file.left_out(at) {
                    Some(SectionExclusion::Excluded(pattern)) => {
                        format!("tasks.sections.exclude `{}`", text::line(pattern, TEXT))
                    }
                    _ => "its section is not in tasks.sections.include".to_owned(),
                };
                let words = text::line(&String::from_utf8_lossy(line.text), TEXT);
                format!("not a task  {words} (left out: {why})")
            }
            ReadAs::FrontMatter => "front matter".to_owned(),
            ReadAs::Fence => "code".to_owned(),
            ReadAs::Comment => "comment".to_owned(),
            ReadAs::Command => "text of a command".to_owned(),
            ReadAs::Text | ReadAs::Blank => "text".to_owned(),
        }
    }

    fn described_task(&self, at: usize) -> String {
        let Some(row) = self.rows.get(at) else {
            return String::new();
        };
        let mut facts = vec![row.key.stage.stage_word().to_owned()];
        let id = self.file.shown_id(at);
        let also = [
            (
                id.is_some_and(|(_, twice)| twice),
                "its id is used twice: identified by its text",
            ),
            (row.optional, "optional"),
            (row.struck, "struck out"),
            (row.approval, "stops for a person"),
            (row.checkpoint && !row.approval, "checkpoint"),
        ];
        facts.extend(
            also.iter()
                .filter(|(is, _)| *is)
                .map(|(_, what)| (*what).to_owned()),
        );
        if let Some((parent, above)) = self
            .file
            .parent_of(at)
            .and_then(|at| Some((at, self.rows.get(at)?)))
        {
            let name = self.box_name(parent, above);
            facts.push(format!(
                "part of {} (line {})",
                spoken_id(&name),
                above.line
            ));
        }
        facts.extend((row.group > 0).then(|| format!("group {}", row.group)));
        let requirements = self.requirements.get(at).filter(|own| !own.is_empty());
        facts.extend(requirements.map(|own| format!("requirements {}", own.join(", "))));
        facts.extend(row.needs.as_ref().map(|needs| match needs.as_slice() {
            [] => "needs no other task".to_owned(),
            needs => text::line(&format!("needs task {}", needs.join(", task ")), TEXT),
        }));
        let words = text::line(&row.text, TEXT);
        let gap = if words.is_empty() { "" } else { "  " };
        let (mark, name) = (row.mark.0.escape_debug(), self.box_name(at, row));
        let name = typed_id(&name);
        format!("task [{mark}]  {name}  {words}{gap}({})", facts.join(" · "))
    }

    /// The name of a box by the id that its line shows, as the line writes it.
    fn box_name(&self, at: usize, row: &Row) -> String {
        match (self.file.shown_id(at), &row.key.stage) {
            (None, _) => "(no id)".to_owned(),
            (Some((id, _)), Stage::Implementation) => format!("{id}."),
            _ => row.key.written_id(),
        }
    }
}
