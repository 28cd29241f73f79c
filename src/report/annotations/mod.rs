//! A gate's report as annotations, which CI shows next to the code: the verdict first, then every survivor with a
//! fingerprint that it keeps while its line moves.

pub mod github;
pub mod gitlab;
pub mod junit;
pub mod sarif;

use super::progress::gate_headline;
use crate::mutation::{GateReport, MutantStatus, Survivor, Verdict};
use crate::source::RepoPath;
use crate::source::text::{line, some_names};
use crate::task::digest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file that configures the gate: the place of a verdict without a source file.
const CONFIG: &str = ".ralph/config.yaml";

/// The longest text of one annotation, in characters.
const TEXT_CHARS: usize = 4_000;

/// Test classes that are named in an annotation.
const TESTS_NAMED: usize = 5;

/// The folder of each package, relative to what CI checks out; empty for the checkout itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(pub BTreeMap<String, RepoPath>);

impl Folders {
    /// The path of a package's file in the checkout; `None` when the package is not known.
    fn checkout_path(&self, package: &str, path: &RepoPath) -> Option<RepoPath> {
        let [folder, path] = [self.0.get(package)?, path].map(RepoPath::to_bytes);
        let whole = if folder.is_empty() {
            path
        } else {
            [folder, path].join(&b'/')
        };
        Some(RepoPath::from_bytes(&whole))
    }

    /// The same for `<package>/<path>`; the longest name of a package that fits is meant.
    fn full_path(&self, full: &str) -> Option<RepoPath> {
        let bytes = RepoPath::parse(full).to_bytes();
        let package = self
            .0
            .keys()
            .filter(|name| {
                let rest = bytes.strip_prefix(name.as_bytes());
                rest.is_some_and(|rest| rest.first() == Some(&b'/'))
            })
            .max_by_key(|name| name.len())?;
        self.checkout_path(package, &RepoPath::from_bytes(&bytes[package.len() + 1..]))
    }
}

/// A gate's report and what must be known to show it.
#[derive(Clone, Copy, Debug)]
pub struct ReportView<'a> {
    /// The gate: `PITEST`.
    pub gate: &'a str,
    pub report: &'a GateReport,
    /// The directories of its packages.
    pub folders: &'a Folders,
    /// A SKIP is shown as a failure.
    pub fail_on_skip: bool,
}

/// The level of an annotation, in the words of SARIF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum SarifLevel {
    /// It must be fixed.
    Error,
    /// It is worth a look.
    Warning,
    /// For information.
    Note,
}

/// Subject of an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    /// The verdict as a whole, in its word.
    Verdict(&'static str),
    /// A mutant that lived, made by this mutator.
    Survivor(String),
}

/// One annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note {
    level: SarifLevel,
    about: About,
    /// In the checkout; `None` when the place is not known.
    file: Option<RepoPath>,
    /// 1-based; 1 where only the file is known.
    line: u32,
    /// The source line, when it is known.
    source: String,
    /// One line.
    title: String,
    /// The facts, several lines.
    text: String,
    /// 64 hex digits, the same as long as the finding is.
    fingerprint: String,
}

impl Note {
    /// A file for formats that cannot do without one.
    fn some_file(&self) -> RepoPath {
        self.file.clone().unwrap_or_else(|| RepoPath::parse(CONFIG))
    }
}

impl ReportView<'_> {
    /// The verdict, then the survivors in the order of the report.
    fn report_notes(&self) -> Vec<Note> {
        let mut notes = vec![self.verdict_note()];
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for survivor in &self.report.survivors {
            let identity = survivor_identity(self.gate, survivor);
            let times = seen.entry(identity.clone()).or_default();
            *times += 1;
            notes.push(self.survivor_note(survivor, &format!("{identity}\0{times}")));
        }
        notes
    }

    fn verdict_note(&self) -> Note {
        let word = self.report.verdict.word();
        let hidden = self.report.survivors_hidden();
        let (mut text, level) = match &self.report.verdict {
            Verdict::Pass => (
                shorten_text(&gate_headline(self.gate, self.report)),
                SarifLevel::Note,
            ),
            Verdict::Fail { reasons } => (
                reasons
                    .iter()
                    .map(|reason| shorten_text(reason))
                    .collect::<Vec<_>>()
                    .join("\n"),
                SarifLevel::Error,
            ),
            Verdict::Skip { why } if self.fail_on_skip => (
                shorten_text(why) + "\nNothing was judged, which counts as a failure here.",
                SarifLevel::Error,
            ),
            Verdict::Skip { why } => (shorten_text(why), SarifLevel::Note),
            Verdict::Error { why, hint, .. } => (
                format!("{}\nhint: {}", shorten_text(why), shorten_text(hint)),
                SarifLevel::Error,
            ),
        };
        if hidden > 0 {
            let _ = write!(
                text,
                "\nIn addition to those shown, {hidden} mutants survived."
            );
        }
        Note {
            level,
            about: About::Verdict(word),
            file: self
                .report
                .failing
                .iter()
                .find_map(|full| self.folders.full_path(full)),
            line: 1,
            source: String::new(),
            title: format!("{} {word}", self.gate),
            text: match text.char_indices().nth(TEXT_CHARS) {
                _ if text.is_empty() => "No reason was given.".to_owned(),
                Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                None => text,
            },
            fingerprint: digest(format!("{}\0{word}", self.gate).as_bytes()),
        }
    }

    fn survivor_note(&self, survivor: &Survivor, identity: &str) -> Note {
        let mutant = &survivor.mutant;
        Note {
            level: match self.report.verdict {
                Verdict::Fail { .. } => SarifLevel::Error,
                Verdict::Error { .. } => SarifLevel::Warning,
                Verdict::Pass | Verdict::Skip { .. } => SarifLevel::Note,
            },
            about: About::Survivor(line(&mutant.mutator, 200)),
            file: self.survivor_file(survivor),
            line: mutant.line.max(1),
            source: line(&survivor.source, 500),
            title: format!(
                "{}: a mutant survived ({})",
                self.gate,
                line(&mutant.mutator, 200)
            ),
            text: describe_survivor(survivor),
            fingerprint: digest(identity.as_bytes()),
        }
    }

    /// The file of a survivor in the checkout.
    fn survivor_file(&self, survivor: &Survivor) -> Option<RepoPath> {
        self.folders
            .checkout_path(&survivor.package, survivor.path.as_ref()?)
    }

    /// The file and line of a survivor, as a person opens it.
    pub(super) fn survivor_place(&self, survivor: &Survivor) -> String {
        let mutant = &survivor.mutant;
        let file = match self.survivor_file(survivor) {
            Some(file) => file.to_text(),
            None => line(&mutant.file, 300),
        };
        format!("{file}:{}", mutant.line)
    }
}

/// Describes the mutation and the tests that ran it and passed.
fn describe_survivor(survivor: &Survivor) -> String {
    let mutant = &survivor.mutant;
    let mut text = line(&mutant.description, 1_000);
    if text.is_empty() {
        "The mutation is not described.".clone_into(&mut text);
    }
    if !mutant.method.is_empty() {
        let _ = write!(
            text,
            "\nin {}.{}",
            line(&mutant.class, 300),
            line(&mutant.method, 300)
        );
    }
    if let Some(reach) = reach_text(survivor) {
        let _ = write!(text, "\n{reach}");
    }
    text
}

/// `reached by a.FooTest and 2 more`, or `no test reaches it`; `None` when it is not known.
pub(super) fn reach_text(survivor: &Survivor) -> Option<String> {
    if survivor.mutant.status == MutantStatus::NoCoverage {
        return Some("no test reaches it".to_owned());
    }
    reached_by(&survivor.tests, survivor.tests_total)
}

fn shorten_text(text: &str) -> String {
    line(text, TEXT_CHARS)
}

/// `reached by a.FooTest and 2 more`; `None` when none is known.
pub(super) fn reached_by(tests: &[String], all: u64) -> Option<String> {
    (!tests.is_empty()).then(|| format!("reached by {}", some_names(tests, TESTS_NAMED, all)))
}

/// Returns an identity that stays while the code around it moves: no line number if the source line is known.
fn survivor_identity(gate: &str, survivor: &Survivor) -> String {
    let mutant = &survivor.mutant;
    let at = if survivor.source.is_empty() {
        mutant.line.to_string()
    } else {
        survivor.source.clone()
    };
    [
        gate,
        &survivor.package,
        &mutant.class,
        &mutant.method,
        &mutant.mutator,
        &mutant.description,
        &at,
    ]
    .join("\0")
}

#[cfg(test)]
pub(super) mod tests;
