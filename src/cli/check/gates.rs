//! Gates that will have nothing to judge, as far as the words of the spec tell.
//!
//! Owns: the guess from the files that a task names, and which gates come too late.
//!
//! Promises: a warning only where a task names files and none of them is Java; a task that names none, or
//! a class, is not guessed about.
//!
//! Refuses to know: what a task will change.

use super::finding::{Finding, Level};
use crate::cli::workspace::Workspace;
use crate::config::GateEngine;
use crate::machine::choice::is_required_open;
use crate::machine::kin;
use crate::machine::state::State;
use crate::report::plain;
use crate::task::{Detail, Row, TaskFile, TaskKey};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Files that are named in a message.
const NAMED: usize = 4;

/// Gates that judge Java, on tasks that seem to change none.
pub(super) fn findings(workspace: &Workspace, file: &TaskFile, rows: &[Row], shown: &str) -> Vec<Finding> {
    let judges_java = |row: &&Row| {
        let gate = workspace.settings.gates.get(row.key.stage.word());
        row.key.stage.is_gate()
            && !row.mark.is_done()
            && gate.is_some_and(|gate| !matches!(gate.engine, GateEngine::Command(_)))
    };
    if !rows.iter().any(|row| judges_java(&row)) {
        return Vec::new();
    }
    let details = file.details();
    let spec = Spec::new(rows, &details);
    let gates = rows.iter().filter(judges_java);
    gates
        .filter_map(|row| {
            let files = spec.files_without_java(&row.key.family)?;
            let named: Vec<String> =
                files.iter().take(NAMED).map(|file| format!("`{}`", plain::line(file, 80))).collect();
            let what = format!(
                "`{}` measures Java, and its task names files of other kinds only ({}): it will be skipped.",
                row.key,
                named.join(", ")
            );
            let hint =
                "Take the gate out (`ralph place` can do that), or name the classes that the task changes.";
            Some(Finding::new(Level::Warning, "gate-without-java", shown, what, hint).at(row.line.into()))
        })
        .collect()
}

/// Open gates over work that was done before ralph ran: what it changed is known to nobody.
pub(super) fn of_old_work(state: &State, shown: &str) -> Vec<Finding> {
    let book = state.book();
    let is_old = |(family, work): &(String, TaskKey)| {
        book.is_done(work) && book.family(family).is_none_or(|known| known.changes.is_empty())
    };
    let works = |gate: &Row| -> Vec<(String, TaskKey)> {
        let families = kin::covered(book, &gate.key).into_iter();
        families.filter_map(|family| Some((family.clone(), kin::work_box(book, &family)?))).collect()
    };
    let gates = book.rows.iter().filter(|row| row.key.stage.is_gate() && is_required_open(row));
    let of_old = gates.filter(|row| {
        let works = works(row);
        !works.is_empty() && works.iter().all(is_old)
    });
    of_old
        .map(|row| {
            let gate = &row.key;
            let what = format!(
                "`{gate}` judges work that was done before ralph ran: what it changed is not known, and a run \
                 stops there without a verdict."
            );
            let hint = format!(
                "`ralph gate {gate} --since REV` judges it, REV being the commit before the work; \
                 `ralph accept {gate} --reason …` ticks it."
            );
            Finding::new(Level::Warning, "gate-of-old-work", shown, what, hint).at(row.line.into())
        })
        .collect()
}

/// What the tasks of each family say.
struct Spec<'a> {
    families: HashMap<&'a str, Vec<(&'a Row, &'a Detail)>>,
    children: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Spec<'a> {
    fn new(rows: &'a [Row], details: &'a [Detail]) -> Self {
        let (mut families, mut children) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (row, detail) in rows.iter().zip(details) {
            families.entry(row.key.family.as_str()).or_default().push((row, detail));
            if let Some(parent) = &row.parent {
                children.entry(parent.as_str()).or_default().push(row.key.family.as_str());
            }
        }
        Self { families, children }
    }

    /// The files that a family and those below it name, when there are some and Java is not meant.
    fn files_without_java(&self, family: &'a str) -> Option<BTreeSet<&'a str>> {
        let mut files = BTreeSet::new();
        let (mut open, mut seen) = (vec![family], HashSet::new());
        while let Some(family) = open.pop() {
            if !seen.insert(family) {
                continue;
            }
            for (row, detail) in self.families.get(family).into_iter().flatten() {
                if is_about_classes(&row.text) {
                    return None;
                }
                files.extend(detail.files.iter().map(String::as_str));
            }
            open.extend(self.children.get(family).into_iter().flatten());
        }
        let java =
            |file: &&str| file.rsplit_once('.').is_some_and(|(_, kind)| kind.eq_ignore_ascii_case("java"));
        (!files.is_empty() && !files.iter().any(java)).then_some(files)
    }
}

/// `java`, `class`, or a word like `OrderService`.
fn is_about_classes(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let humps = word.char_indices().filter(|(at, c)| c.is_uppercase() && *at > 0).count();
        let is_name =
            word.starts_with(char::is_uppercase) && humps > 0 && word.chars().any(char::is_lowercase);
        is_name || ["java", "class", "classes"].iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}
