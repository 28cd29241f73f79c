//! The boxes that a history ticked, and what a gate has to judge for each.
//!
//! Promises: nothing but git's objects is read. The commits behind a tick are those since the tick before it, the first
//! since the task file came; what the file had ticked when it came has no commits behind it, and is never judged.

use super::{Fault, FaultKind, Judgement};
use crate::git::{PastCommit, PastLine, Repositories};
use crate::machine::effect::GateOrder;
use crate::machine::facts::{Accumulated, Oid, PackageState, Snapshot};
use crate::mutation::{GateReport, Verdict};
use crate::report::audit::{Audit, PastBox};
use crate::source::Kind;
use crate::source::text::{count, line, names};
use crate::task::{TaskFile, TaskRules, ticked_since};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Boxes of one audit.
const MAX_BOXES: usize = 10_000;
/// Bytes of a version of a task file.
const MAX_TASKS: u64 = 16 << 20;
/// Tags that a remark names, and characters of a box's text that are shown.
const NAMED: usize = 5;
const TEXT: usize = 200;

/// Unit that counts as a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxCriterion {
    /// Each box of the task file that a commit ticked.
    Boxes,
    /// Each commit, against its first parent.
    Commit,
    /// Each tag, against the one before it.
    Tag,
}

impl BoxCriterion {
    fn criterion_word(self) -> &'static str {
        match self {
            Self::Boxes => "boxes",
            Self::Commit => "commit",
            Self::Tag => "tag",
        }
    }
}

/// Boxes that share the commits behind them.
#[derive(Clone, Debug)]
pub struct Range {
    /// Indexes of the boxes among all boxes.
    pub boxes: Vec<usize>,
    /// The order for the gate.
    ///
    /// Its report is an empty one, and its time is the amount to judge.
    pub judgement: Judgement,
}

/// All that an audit has to judge.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The boxes; those that need no gate are judged.
    pub audit: Audit,
    /// The ranges that still have to be judged.
    pub ranges: Vec<Range>,
}

/// A step of the history: the boxes that its last commit ticked.
struct HistoryStep<'a> {
    base: &'a PastCommit,
    head: &'a PastCommit,
    commits: u64,
    boxes: Vec<PastBox>,
}

/// Reads what the first parents of HEAD ticked, after `since` if that is given, for this gate to judge.
///
/// Errors: packages in several repositories; no task file in the history; more boxes than an audit takes.
pub fn read_past(
    repositories: &mut Repositories,
    rules: &TaskRules,
    tasks: &Path,
    by: BoxCriterion,
    since: Option<&str>,
    gate: &str,
) -> Result<Past, Fault> {
    let package = only_repository(repositories)?;
    let line = repositories.first_parents(&package, tasks, since)?;
    let mut past = Past::default();
    by.criterion_word().clone_into(&mut past.audit.by);
    gate.clone_into(&mut past.audit.gate);
    past.audit.head = line
        .commits
        .last()
        .map(|head| head.id.to_string())
        .unwrap_or_default();
    let steps = match by {
        BoxCriterion::Boxes => tick_steps(repositories, rules, &package, &line, &mut past.audit)?,
        BoxCriterion::Commit => pair_commits(&line, |_, _| true, |commit| short_id(&commit.id)),
        BoxCriterion::Tag => tag_steps(&line, since.is_some(), &mut past.audit),
    };
    if steps.iter().map(|step| step.boxes.len()).sum::<usize>() + past.audit.boxes.len() > MAX_BOXES
    {
        let what = format!("This history ticked more than {MAX_BOXES} boxes.");
        return Err(Fault::setup_fault(
            what,
            "name the commit to begin behind: `--since REV`",
        ));
    }
    for step in steps {
        add_step(repositories, &mut past, step)?;
    }
    Ok(past)
}

/// Returns a package of the only repository.
///
/// With several repositories, the commits of one give no order for those of another.
fn only_repository(repositories: &Repositories) -> Result<String, Fault> {
    let all = repositories.package_names();
    let roots: BTreeSet<_> = all
        .iter()
        .map(|name| repositories.repository_folder(name))
        .collect();
    if roots.len() > 1 {
        let what = format!(
            "The packages here are {} repositories: {}.",
            roots.len(),
            names(&all, NAMED)
        );
        return Err(Fault::setup_fault(
            what,
            "audit one at a time, by its own folder: `ralph audit --past src/app --by commit`",
        ));
    }
    all.into_iter().next().ok_or_else(|| {
        Fault::setup_fault(
            "There is no package here.",
            "name the folder of a repository",
        )
    })
}

/// The steps in which boxes of the task file were ticked. What the file had ticked when it came goes to the audit.
fn tick_steps<'a>(
    repositories: &mut Repositories,
    rules: &TaskRules,
    package: &str,
    line: &'a PastLine,
    audit: &mut Audit,
) -> Result<Vec<HistoryStep<'a>>, Fault> {
    let mut steps = Vec::new();
    let mut before: Option<(&PastCommit, TaskFile)> = None;
    // The commit of the last tick, and the commits since.
    let (mut base, mut since) = (None, 0);
    for commit in &line.commits {
        since += 1;
        let blob = before.as_ref().and_then(|(commit, _)| commit.file.as_ref());
        let Some(now) = commit.file.as_ref().filter(|now| blob != Some(*now)) else {
            continue;
        };
        let file = rules.parse(repositories.read_blob(package, now, MAX_TASKS)?);
        let was = before
            .take()
            .map_or_else(|| rules.parse(""), |(_, was)| was);
        let ticked = ticked_since(&was, &file).into_iter();
        let mut boxes: Vec<_> = ticked
            .map(|row| a_box(commit, &row.key.written_name(row.line), &row.text))
            .collect();
        if base.is_none() {
            let why = "It was ticked when the file came: no commits are known behind it.";
            skip_boxes(&mut boxes, &audit.gate, why);
            audit.boxes.append(&mut boxes);
            (base, since) = (Some(commit), 0);
        }
        if let (Some(from), false) = (base, boxes.is_empty()) {
            steps.push(HistoryStep {
                base: from,
                head: commit,
                commits: since,
                boxes,
            });
            (base, since) = (Some(commit), 0);
        }
        before = Some((commit, file));
    }
    if before.is_none() {
        let what = "No commit on the way to HEAD holds the task file.";
        let hint =
            "name its folder (`--spec DIR`), or what counts as a box: `--by commit`, `--by tag`";
        return Err(Fault::new(FaultKind::Unknown, what, hint));
    }
    Ok(steps)
}

/// The tagged commits, one against the one before it. With a revision its commit counts as the first.
fn tag_steps<'a>(line: &'a PastLine, has_first: bool, audit: &mut Audit) -> Vec<HistoryStep<'a>> {
    if !line.other_tags.is_empty() {
        let named = names(&line.other_tags, NAMED);
        audit.remarks.push(format!(
            "Tags that are not on the way to HEAD by first parents: {named}."
        ));
    }
    pair_commits(
        line,
        |at, commit: &PastCommit| !commit.tags.is_empty() || has_first && at == 0,
        |commit| commit.tags.join(", "),
    )
}

/// Each of these commits, with a name, against the one of them before it. The first has none that is known.
fn pair_commits(
    line: &PastLine,
    counts: impl Fn(usize, &PastCommit) -> bool,
    name: impl Fn(&PastCommit) -> String,
) -> Vec<HistoryStep<'_>> {
    let counted: Vec<_> = line
        .commits
        .iter()
        .enumerate()
        .filter(|(at, commit)| counts(*at, commit))
        .collect();
    let pairs = counted.iter().zip(counted.iter().skip(1));
    pairs
        .map(|((from, base), (at, head))| HistoryStep {
            base,
            head,
            commits: (at - from) as u64,
            boxes: vec![a_box(head, &name(head), &head.subject)],
        })
        .collect()
}

/// Adds the boxes of a step, and what a gate has to judge for them.
fn add_step(
    repositories: &mut Repositories,
    past: &mut Past,
    step: HistoryStep<'_>,
) -> Result<(), Fault> {
    let snapshot = Snapshot {
        packages: repositories
            .package_names()
            .into_iter()
            .map(|name: String| PackageState {
                name,
                head: step.head.id.clone(),
                branch: None,
                dirt: Vec::new(),
                untracked: Vec::new(),
            })
            .collect(),
    };
    let bases: BTreeMap<String, Oid> = repositories
        .package_names()
        .into_iter()
        .map(|name| (name, step.base.id.clone()))
        .collect();
    let accumulated = Accumulated {
        bases,
        everything: true,
        ..Accumulated::default()
    };
    let changes = repositories.changes_at(&accumulated, &snapshot)?;
    let first = past.audit.boxes.len();
    let changed = format!(
        "{} changed in {}",
        count(changes.len() as u64, "file"),
        count(step.commits, "commit")
    );
    let base = step.base.id.to_string();
    let boxes = step.boxes.into_iter();
    past.audit.boxes.extend(boxes.map(|it| PastBox {
        changed: changed.clone(),
        base: base.clone(),
        ..it
    }));
    if changes.is_empty() {
        let boxes = past.audit.boxes.get_mut(first..).unwrap_or_default();
        skip_boxes(boxes, &past.audit.gate, "No file of a package differs.");
        return Ok(());
    }
    let mut report = GateReport::from(Verdict::Skip { why: String::new() });
    report.millis = 1 + changes
        .iter()
        .filter(|change| change.kind == Kind::Production)
        .count() as u64;
    // A box is called untrue only after all tests ran, as for a FAIL that blocks.
    let order = GateOrder {
        is_last: true,
        ..GateOrder::alone(&past.audit.gate, snapshot, accumulated)
    };
    let judgement = Judgement {
        record: past.ranges.len() as u64,
        order,
        changes,
        report,
        left: None,
    };
    past.ranges.push(Range {
        boxes: (first..past.audit.boxes.len()).collect(),
        judgement,
    });
    Ok(())
}

/// A box that this commit ticked.
fn a_box(commit: &PastCommit, task: &str, text: &str) -> PastBox {
    PastBox {
        task: line(task, TEXT),
        text: line(text, TEXT),
        commit: commit.id.to_string(),
        at: commit.at,
        subject: line(&commit.subject, TEXT),
        ..PastBox::default()
    }
}

fn short_id(id: &Oid) -> String {
    id.0.get(..10).unwrap_or(&id.0).to_owned()
}

/// The boxes that are not judged have nothing to be judged on.
fn skip_boxes(boxes: &mut [PastBox], gate: &str, why: &str) {
    let report = GateReport::from(Verdict::Skip {
        why: why.to_owned(),
    });
    for it in boxes {
        it.take_report(gate, &report);
    }
}
