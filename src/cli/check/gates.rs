//! Gates that will have nothing to judge, as far as the words of the spec tell.
//!
//! Owns: the guess from the files that a task names, and which gates come too late.
//!
//! Promises: a warning only where a task names files and none of them is a source of classes; a task that
//! names none, or a class, is not guessed about, nor is a wider gate over such a task.
//!
//! Refuses to know: what a task will change.

use super::finding::{Finding, Level};
use crate::cli::workspace::Workspace;
use crate::config::{GateEngine, GateSettings};
use crate::machine::choice::is_required_open;
use crate::machine::kin;
use crate::machine::state::{Book, State};
use crate::report::plain;
use crate::source::is_source;
use crate::task::{Detail, Row, TaskFile, TaskKey};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Files that are named in a message.
const NAMED: usize = 4;
/// Extensions of sources that are compiled to classes.
pub(super) const CLASSES: &[&str] = &["java", "kt", "scala", "groovy"];
/// Words that are written like names of classes and are none.
const PRODUCTS: &[&str] = &[
    "AsyncAPI",
    "BitBucket",
    "CircleCI",
    "CloudFormation",
    "CloudWatch",
    "CoffeeScript",
    "DevOps",
    "DynamoDB",
    "ESLint",
    "FastAPI",
    "GitHub",
    "GitLab",
    "GitOps",
    "GraphQL",
    "IntelliJ",
    "JavaScript",
    "LaTeX",
    "LinkedIn",
    "MariaDB",
    "MkDocs",
    "MongoDB",
    "MySQL",
    "NextJS",
    "NodeJS",
    "NumPy",
    "OAuth",
    "OAuth2",
    "OpenAI",
    "OpenAPI",
    "OpenShift",
    "OpenTelemetry",
    "PostgreSQL",
    "PowerShell",
    "PyPI",
    "PyTorch",
    "RabbitMQ",
    "ReadMe",
    "SonarQube",
    "SwiftUI",
    "TailwindCSS",
    "TypeScript",
    "VSCode",
    "WebAssembly",
    "WebSocket",
    "WordPress",
    "YouTube",
];

/// Gates that judge Java, on tasks that seem to change none. `boxes` are those of the file and the stages
/// that have no line in it.
pub(super) fn findings(workspace: &Workspace, file: &TaskFile, boxes: &[Row], shown: &str) -> Vec<Finding> {
    let judges_java = |row: &&Row| open_java_gate(workspace, row).is_some();
    if !boxes.iter().any(|row| judges_java(&row)) {
        return Vec::new();
    }
    let book = Book { rows: boxes.to_vec(), ..Book::default() };
    let (rows, details) = (file.rows(), file.details());
    let spec = Spec::new(&rows, &details);
    let gates = boxes.iter().filter(judges_java);
    gates
        .filter_map(|row| {
            let files = if kin::is_wider(&row.key) {
                spec.files_without_java_of_all(&kin::covered(&book, &row.key))?
            } else {
                spec.files_without_java(&row.key.family)?
            };
            Some(without_java(row, &files, shown))
        })
        .collect()
}

/// The settings of the gate of an open box, when it measures Java.
pub(super) fn open_java_gate<'w>(workspace: &'w Workspace, row: &Row) -> Option<&'w GateSettings> {
    let is_open = row.key.stage.is_gate() && !row.mark.is_done();
    let gate = workspace.settings.gates.get(row.key.stage.word()).filter(|_| is_open)?;
    (!matches!(gate.engine, GateEngine::Command(_))).then_some(gate)
}

fn without_java(row: &Row, files: &BTreeSet<&str>, shown: &str) -> Finding {
    let named: Vec<String> =
        files.iter().take(NAMED).map(|file| format!("`{}`", plain::line(file, 80))).collect();
    let whose = if kin::is_wider(&row.key) { "all its tasks name" } else { "its task names" };
    let what = format!(
        "`{}` measures Java, and {whose} files of other kinds only ({}): it will be skipped.",
        row.key,
        named.join(", ")
    );
    let hint = if row.unwritten {
        "Place the gate elsewhere (`placement:` in .ralph/config.yaml), or name the classes that the task changes."
    } else {
        "Take the gate out (`ralph place` can do that), or name the classes that the task changes."
    };
    Finding::new(Level::Warning, "gate-without-java", shown, what, hint).at(row.line.into())
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
    fn files_without_java(&self, family: &str) -> Option<BTreeSet<&'a str>> {
        let mut files = BTreeSet::new();
        let mut texts = Vec::new();
        let (mut open, mut seen) = (vec![family], HashSet::new());
        while let Some(family) = open.pop() {
            if !seen.insert(family) {
                continue;
            }
            for (row, detail) in self.families.get(family).into_iter().flatten() {
                texts.push(row.text.as_str());
                files.extend(detail.files.iter().map(String::as_str));
            }
            open.extend(self.children.get(family).into_iter().flatten());
        }
        if files.is_empty() || files.iter().any(|file| has_extension(file, CLASSES)) {
            return None;
        }
        // Words like `OrderForm` are names in most languages: beside sources of another one they are its own.
        let names_count = !files.iter().any(|file| is_source(file.as_bytes()));
        let is_meant = |text: &&str| is_about_classes(text, names_count, &files);
        (!texts.iter().any(is_meant)).then_some(files)
    }

    /// The same of several families, each of which must name some.
    fn files_without_java_of_all(&self, families: &BTreeSet<String>) -> Option<BTreeSet<&'a str>> {
        let is_below = |family: &str| {
            let rows = self.families.get(family).into_iter().flatten();
            rows.filter_map(|(row, _)| row.parent.as_ref()).any(|parent| families.contains(parent))
        };
        let mut files = BTreeSet::new();
        for family in families.iter().filter(|family| !is_below(family)) {
            files.extend(self.files_without_java(family)?);
        }
        (!files.is_empty()).then_some(files)
    }
}

/// True for one of these extensions, whatever their case.
pub(super) fn has_extension(file: &str, extensions: &[&str]) -> bool {
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|own| extensions.iter().any(|known| own.eq_ignore_ascii_case(known)))
}

/// `java`, `class`, or, when names count, a word like `OrderService` that is no product's and no file's.
fn is_about_classes(text: &str, names_count: bool, files: &BTreeSet<&str>) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || c == '`').filter(|word| !is_file(word, files));
    words.flat_map(|word| word.split(|c: char| !c.is_alphanumeric())).any(|word| {
        let humps = word.char_indices().filter(|(at, c)| c.is_uppercase() && *at > 0).count();
        let is_name =
            word.starts_with(char::is_uppercase) && humps > 0 && word.chars().any(char::is_lowercase);
        (names_count && is_name && !PRODUCTS.contains(&word))
            || ["java", "class", "classes"].iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}

/// True for a word that is one of the files, perhaps with marks around it.
fn is_file(word: &str, files: &BTreeSet<&str>) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    files.iter().any(|file| file.trim_matches(|c: char| !c.is_alphanumeric()) == bare)
}

#[cfg(test)]
mod tests {
    use super::is_about_classes;
    use std::collections::BTreeSet;

    #[test]
    fn names_of_classes_are_told_from_products_and_files() {
        let files = BTreeSet::from(["docs/UserGuide.md", ".github/ReleaseNotes.yml"]);
        for (text, with_names, without) in [
            ("Describe OrderService in docs/UserGuide.md", true, false),
            ("Write `docs/UserGuide.md`, (.github/ReleaseNotes.yml).", false, false),
            ("Update the GitHub workflow and the OpenAPI file", false, false),
            ("A TypeScript client for JavaScript and README", false, false),
            ("Add a class", true, true),
            ("Port it from JAVA", true, true),
            ("", false, false),
        ] {
            assert_eq!(is_about_classes(text, true, &files), with_names, "{text}");
            assert_eq!(is_about_classes(text, false, &files), without, "{text}");
        }
    }
}
