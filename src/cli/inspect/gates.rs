//! Open gates that will have nothing to judge.

use super::Inspection;
use super::finding::{Finding, Rule};
use super::packages::{CLASSES, Package, has_extension};
use crate::cli::workspace::Workspace;
use crate::config::GateSettings;
use crate::machine::choice::is_required_open;
use crate::machine::hierarchy;
use crate::machine::state::{SpecState, State};
use crate::source::text;
use crate::source::{Kind, is_source};
use crate::task::{Row, Stage, TaskFile, TaskKey};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Files and gates that are named in a message.
const NAMED: usize = 4;
/// Extensions, besides those of sources, by which a word without a folder is a file.
const DOCUMENTS: &str =
    "adoc css csv gradle html json kts md properties rst scss sql svg toml txt xml yaml yml";

const WITHOUT_JAVA: Rule = Rule::warning("gate-without-java", "A gate for Java covers a task without Java");
const OF_OLD_WORK: Rule =
    Rule::warning("gate-of-old-work", "A gate judges work that was done before ralph ran");
const NO_JAVA: Rule = Rule::warning("no-java", "A package has no Java");
const NO_TESTS: Rule = Rule::warning("no-tests", "A package has no tests");

/// The settings of the gate of an open box that measures Java.
pub(super) fn open_java_gate<'w>(workspace: &'w Workspace, row: &Row) -> Option<&'w GateSettings> {
    let is_open = row.key.stage.is_gate() && !row.mark.is_done();
    let gate = workspace.settings.gates.get(row.key.stage.word()).filter(|_| is_open)?;
    gate.run.is_none().then_some(gate)
}

/// Gates that measure Java, over tasks that name files of other kinds only. One finding for all of them: it
/// is a guess.
pub(super) fn without_java(
    workspace: &Workspace,
    file: &TaskFile,
    rows: &[Row],
    shown: &str,
) -> Option<Finding> {
    let book = SpecState { rows: rows.to_vec(), ..SpecState::default() };
    let named = files_by_family(file);
    let mut all = BTreeSet::new();
    let mut gates: Vec<&Row> = Vec::new();
    for row in rows.iter().filter(|row| open_java_gate(workspace, row).is_some()) {
        if let Some(files) = files_without_java(&book, &named, &hierarchy::covered(&book, &row.key)) {
            all.extend(files);
            gates.push(row);
        }
    }
    let line = gates.first()?.line;
    let quoted = |name: String| format!("`{}`", text::line(&name, 80));
    let gates: Vec<String> = gates.iter().map(|row| quoted(row.key.to_string())).collect();
    let files: Vec<String> = all.into_iter().map(|file| quoted(file.to_owned())).collect();
    let list = |all: &[String]| text::names(all.iter().map(String::as_str), NAMED);
    let what = format!(
        "Java is measured by {}, over tasks that only name other files ({}): it would judge nothing.",
        list(&gates),
        list(&files),
    );
    let hint = "Place the gates elsewhere (`ralph place`), or name the classes that the tasks change.";
    Some(WITHOUT_JAVA.found(shown, what, hint).at(line.into()))
}

/// The files that covered families name: `None` unless each family names some, itself or in its parts, and
/// none of them is compiled to classes.
fn files_without_java<'a>(
    book: &SpecState,
    named: &HashMap<String, BTreeSet<&'a str>>,
    covered: &BTreeSet<String>,
) -> Option<BTreeSet<&'a str>> {
    let parents: HashMap<&str, &str> = (book.rows.iter())
        .filter_map(|row| Some((row.key.family.as_str(), row.parent.as_deref()?)))
        .filter(|(_, parent)| covered.contains(*parent))
        .collect();
    let mut of_tops: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for family in covered {
        let above = |family: &&str| parents.get(*family).copied();
        let top = std::iter::successors(Some(family.as_str()), above).take(covered.len()).last()?;
        of_tops.entry(top).or_default().extend(named.get(family).into_iter().flatten());
    }
    if of_tops.values().any(BTreeSet::is_empty) {
        return None;
    }
    let files: BTreeSet<&str> = of_tops.into_values().flatten().collect();
    (!files.iter().any(|file| has_extension(file, CLASSES))).then_some(files)
}

/// The files that the lines of each family name.
fn files_by_family(file: &TaskFile) -> HashMap<String, BTreeSet<&str>> {
    let rows: HashMap<usize, String> =
        file.rows().into_iter().map(|row| (row.line as usize, row.key.family)).collect();
    let mut named: HashMap<String, BTreeSet<&str>> = HashMap::new();
    let mut current = None;
    for (at, line) in file.lines().enumerate() {
        match rows.get(&(at + 1)) {
            Some(family) => current = Some(family),
            None if line.starts_with(b"#") => current = None,
            None => {}
        }
        if let (Some(family), Ok(text)) = (current, std::str::from_utf8(line)) {
            named.entry(family.clone()).or_default().extend(files_in(text));
        }
    }
    named
}

/// Words with a path and an extension, or with a known extension.
fn files_in(words: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "`\"'()[],;<>|*".contains(c);
    words.split(ends).filter_map(|word| {
        // `a.md:12` is a place in the file.
        let name = word.trim_end_matches(['.', ':', '!', '?']).split(':').next()?;
        let (stem, extension) = name.rsplit_once('.')?;
        let is_name = !stem.is_empty() && !stem.ends_with('/') && !word.contains("://");
        let has_path = stem.contains('/') && extension.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_known = is_source(name.as_bytes()) || has_extension(name, DOCUMENTS.split(' '));
        (is_name && (is_known || has_path && !extension.contains('/'))).then_some(name)
    })
}

/// Open gates over work that was done before ralph ran: what it changed is not known.
pub(super) fn of_old_work(state: &State, shown: &str) -> Vec<Finding> {
    let book = state.spec_state();
    let is_old = |work: TaskKey| {
        book.is_done(&work) && book.family(&work.family).is_none_or(|known| known.changes.is_empty())
    };
    let has_only_old = |row: &&Row| {
        let families = hierarchy::covered(book, &row.key);
        let mut works = families.iter().filter_map(|family| hierarchy::work_box(book, family)).peekable();
        works.peek().is_some() && works.all(is_old)
    };
    let gates = book.rows.iter().filter(|row| row.key.stage.is_gate() && is_required_open(row));
    gates
        .filter(has_only_old)
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
            OF_OLD_WORK.found(shown, what, hint).at(row.line.into())
        })
        .collect()
}

/// Packages in which a gate that measures Java will find nothing to judge: all, if none has any Java; those
/// with production files and no test, if the gate's task does not write tests first.
pub(super) fn with_nothing_to_judge(inspection: &Inspection<'_>, packages: &[Package]) -> Vec<Finding> {
    let workspace = &inspection.opened.workspace;
    let gates: Vec<&Row> =
        inspection.rows.iter().filter(|row| open_java_gate(workspace, row).is_some()).collect();
    let (Some(gate), Ok(classifier)) = (gates.first(), workspace.classifier()) else { return Vec::new() };
    if packages.iter().any(|package| package.is_cut) {
        return Vec::new();
    }
    let productive = packages.iter().filter(|package| package.has(&classifier, Kind::Production));
    let finding = |rule: Rule, package: &Package, what: String, hint: &str| {
        rule.found(package.name.clone(), what, hint).path(package.root.clone())
    };
    if !packages.iter().any(Package::has_java) {
        let what = format!(
            "Nothing in this package is Java, and `{}` measures nothing else: it will be skipped.",
            gate.key
        );
        let hint = "Take the gate out (`ralph place none`), or judge with a command: `gates.<NAME>.run`.";
        return productive.map(|package| finding(NO_JAVA, package, what.clone(), hint)).collect();
    }
    let test_first = inspection.rows.iter().filter(|row| row.key.stage == Stage::TestFirst);
    let tested: HashSet<&str> = test_first.map(|row| row.key.family.as_str()).collect();
    let Some(gate) = gates.iter().find(|row| !tested.contains(row.key.family.as_str())) else {
        return Vec::new();
    };
    let bare = productive.filter(|package| package.has_java() && !package.has(&classifier, Kind::Test));
    bare.map(|package| {
        let what = format!(
            "This package has production files and no test: `{}` and gates like it leave classes without tests out, \
             so they would judge nothing.",
            gate.key
        );
        let hint = "Begin with tests: `ralph stage` gives tasks a TEST-FIRST stage.";
        finding(NO_TESTS, package, what, hint)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::files_in;

    #[test]
    fn files_are_words_with_a_path_or_a_known_extension() {
        for (text, files) in [
            (
                "Write `docs/UserGuide.md`, (.github/ReleaseNotes.yml).",
                vec!["docs/UserGuide.md", ".github/ReleaseNotes.yml"],
            ),
            ("Fix a/Foo.java:12 and README.md!", vec!["a/Foo.java", "README.md"]),
            ("Set bin/tool.xyz2, not tool.xyz2", vec!["bin/tool.xyz2"]),
            ("See https://example.com/a.md, e.g. Node.exe v1.2 and 3/4.5", vec![]),
            ("Update the GitHub workflow of OrderService", vec![]),
        ] {
            assert_eq!(files_in(text).collect::<Vec<_>>(), files, "{text}");
        }
    }
}
