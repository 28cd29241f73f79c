//! Which tool's habits a task file follows.
//!
//! Owns: the signs of Kiro, cc-sdd, spec-kit, spec-kitty, `OpenSpec`, smart-ralph and ralph's own files
//! (docs/design.md "Task files").
//!
//! Promises: the answer is told with its reasons; it changes nothing about how a file is read.
//!
//! Refuses to know: the file system; a path is a text that may hint.

use super::detail::{Label, details};
use super::family::Task;
use super::grammar::leading_id;
use super::{Stage, TaskFile};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// Whose habits a task file follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// `.kiro/specs/*/tasks.md`: `1.`, `1.1`, `[ ]*`, `_Requirements: 1.1_`.
    Kiro,
    /// cc-sdd: Kiro's form with `(P)`, `7.9*`, `_Boundary:_`.
    CcSdd,
    /// `specs/*/tasks.md`: `T012 [P] [US1]` in phases.
    SpecKit,
    /// `kitty-specs/*/tasks.md`: spec-kit's ids in work packages.
    SpecKitty,
    /// `openspec/changes/*/tasks.md`: `## 1.` headings, `1.1` below them.
    OpenSpec,
    /// smart-ralph: `1.1` with Do, Files, Done when, Verify, Commit.
    SmartRalph,
    /// ralph's own stages: `2.TEST-FIRST`, `2.`, `2.PITEST`, and none of the above.
    Stages,
    /// Any other list of boxes, or none.
    Plain,
}

impl Dialect {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kiro => "Kiro",
            Self::CcSdd => "cc-sdd",
            Self::SpecKit => "spec-kit",
            Self::SpecKitty => "spec-kitty",
            Self::OpenSpec => "OpenSpec",
            Self::SmartRalph => "smart-ralph",
            Self::Stages => "ralph stages",
            Self::Plain => "plain Markdown",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A dialect and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DialectFound {
    /// The dialect.
    pub dialect: Dialect,
    /// What was seen, a few words each.
    pub reasons: Vec<String>,
}

/// Below this a file follows nobody's habits.
const ENOUGH: u32 = 3;

/// A sign: whose, how much it says, in words.
struct Sign(Dialect, u32, String);

/// The dialect of a task file. `path` is where it stands, as far as that is known; it hints, and what the
/// file holds decides.
pub fn dialect(file: &TaskFile, path: &str) -> DialectFound {
    let mut signs = of_path(path);
    signs.extend(of_tasks(file));
    signs.extend(of_labels(file));
    // Of equals the first is meant: cc-sdd and spec-kitty show all that Kiro and spec-kit show, and more.
    let order = [
        Dialect::SmartRalph,
        Dialect::Kiro,
        Dialect::CcSdd,
        Dialect::SpecKit,
        Dialect::SpecKitty,
        Dialect::OpenSpec,
        Dialect::Stages,
    ];
    let points =
        |dialect: Dialect| -> u32 { signs.iter().filter(|sign| sign.0 == dialect).map(|sign| sign.1).sum() };
    let best = order.into_iter().rev().max_by_key(|dialect| points(*dialect));
    let dialect = best.filter(|best| points(*best) >= ENOUGH && !file.is_empty()).unwrap_or(Dialect::Plain);
    let reasons = signs.into_iter().filter(|sign| sign.0 == dialect).map(|sign| sign.2).collect();
    DialectFound { dialect, reasons }
}

fn of_path(path: &str) -> Vec<Sign> {
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path.split('/').collect();
    let has = |name: &str| parts.contains(&name);
    let mut signs = Vec::new();
    let mut add = |there: bool, folder: &str, of: &[(Dialect, u32)]| {
        let why = || format!("it stands in `{folder}/`");
        signs.extend(of.iter().filter(|_| there).map(|(dialect, points)| Sign(*dialect, *points, why())));
    };
    add(has(".kiro"), ".kiro", &[(Dialect::Kiro, 2), (Dialect::CcSdd, 2)]);
    add(has("openspec"), "openspec", &[(Dialect::OpenSpec, 4)]);
    add(has("kitty-specs"), "kitty-specs", &[(Dialect::SpecKitty, 4)]);
    let in_specs = has("specs") && !has(".kiro") && !has("openspec");
    add(in_specs || has(".specify"), "specs", &[(Dialect::SpecKit, 1), (Dialect::SmartRalph, 1)]);
    signs
}

/// How many tasks show what.
#[derive(Default)]
struct Shapes {
    all: u32,
    /// `T012`.
    numbered_t: u32,
    /// `1.`, `2.` at the top.
    top: u32,
    /// `1.1` whose `1.` is a box.
    below_box: u32,
    /// `1.1` whose `1.` is a heading.
    below_heading: u32,
    /// `[ ]*`.
    starred: u32,
    /// `7.9*`.
    optional_id: u32,
    /// Stages behind an id.
    stages: u32,
}

impl Shapes {
    fn of(file: &TaskFile) -> Self {
        let title = |range: &std::ops::Range<usize>| file.bytes.get(range.clone()).unwrap_or_default();
        let headings: HashSet<String> = file
            .headings
            .iter()
            .filter_map(|heading| leading_id(title(&heading.title), &file.grammar))
            .collect();
        let boxes: HashSet<&str> =
            file.tasks.iter().filter(|task| task.is_implementation()).filter_map(Task::id).collect();
        let mut shapes = Self::default();
        for task in &file.tasks {
            shapes.all += 1;
            shapes.starred += u32::from(task.found.starred);
            shapes.optional_id += u32::from(task.is_implementation() && task.optional && !task.found.starred);
            shapes.stages += u32::from(!matches!(task.key.stage, Stage::Implementation));
            let Some(id) = task.id().filter(|_| task.is_implementation()) else { continue };
            let is_t = id.strip_prefix('T').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
            shapes.numbered_t += u32::from(is_t);
            match id.split_once('.') {
                Some((top, _)) => {
                    shapes.below_box += u32::from(boxes.contains(top));
                    shapes.below_heading += u32::from(!boxes.contains(top) && headings.contains(top));
                }
                None => shapes.top += u32::from(id.bytes().all(|b| b.is_ascii_digit())),
            }
        }
        shapes
    }
}

fn of_tasks(file: &TaskFile) -> Vec<Sign> {
    use Dialect::{CcSdd, Kiro, OpenSpec, SpecKit, SpecKitty, Stages};
    let shapes = Shapes::of(file);
    let details = details(file).of;
    let most = |count: u32| count * 2 > shapes.all;
    let mut signs = Vec::new();
    let mut add = |there: bool, of: &[(Dialect, u32)], why: &str| {
        signs.extend(
            of.iter().filter(|_| there).map(|(dialect, points)| Sign(*dialect, *points, why.to_owned())),
        );
    };
    add(most(shapes.numbered_t), &[(SpecKit, 4), (SpecKitty, 4)], "most ids are like `T012`");
    let stories = details.iter().any(|detail| detail.requirements.iter().any(|r| r.starts_with("US")));
    add(stories && shapes.numbered_t > 0, &[(SpecKit, 3)], "tasks name their story: `[US1]`");
    let is_package =
        |tag: &String| tag.strip_prefix("WP").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let packages = details.iter().any(|detail| detail.tags.iter().any(is_package));
    add(packages, &[(SpecKitty, 3)], "tasks name their work package: `(WP01)`");
    add(most(shapes.below_heading), &[(OpenSpec, 4)], "most tasks are `1.1` under headings like `## 1.`");
    add(shapes.below_box > 0, &[(Kiro, 2), (CcSdd, 2)], "tasks like `1.1` belong to a box `1.`");
    let kiro = shapes.top > 0 && most(shapes.top + shapes.below_box);
    add(kiro, &[(Kiro, 1), (CcSdd, 1)], "most ids are like `1.` and `1.1`");
    add(shapes.starred > 0, &[(Kiro, 2)], "optional tasks have a star: `[ ]*`");
    add(shapes.optional_id > 0, &[(CcSdd, 3)], "optional tasks have a star at the id: `7.9*`");
    let marked = |needle: &[u8]| {
        let text = |task: &Task| file.bytes.get(task.found.text.clone()).unwrap_or_default();
        file.tasks.iter().any(|task| text(task).windows(needle.len()).any(|window| window == needle))
    };
    add(shapes.numbered_t == 0 && marked(b" (P)"), &[(CcSdd, 3)], "tasks may run side by side: `(P)`");
    add(shapes.stages > 0, &[(Stages, ENOUGH)], "tasks have stages: `2.TEST-FIRST`, `2.PITEST`");
    signs
}

fn of_labels(file: &TaskFile) -> Vec<Sign> {
    use Dialect::{CcSdd, Kiro, SmartRalph};
    let labels = details(file).labels;
    let has = |label: Label| labels.contains_key(&label);
    let mut signs = Vec::new();
    let mut add = |there: bool, of: &[(Dialect, u32)], why: &str| {
        signs.extend(
            of.iter().filter(|_| there).map(|(dialect, points)| Sign(*dialect, *points, why.to_owned())),
        );
    };
    // Many write so; it speaks for Kiro beside another sign.
    add(has(Label::Requirements), &[(Kiro, 2), (CcSdd, 2)], "tasks name requirements: `_Requirements: 1.1_`");
    add(
        has(Label::Boundary) || has(Label::Depends),
        &[(CcSdd, 3)],
        "tasks have `_Boundary:_` or `_Depends:_`",
    );
    let steps = [Label::Do, Label::Files, Label::DoneWhen, Label::Verify, Label::Commit];
    let steps = steps.into_iter().filter(|step| has(*step)).count();
    add(steps >= 3, &[(SmartRalph, 9)], "tasks have Do, Files, Done when, Verify, Commit");
    signs
}
