//! The results file of a run. Ralph's plugin writes it in PIT's own process.
//!
//! A line per record, fields separated by tabs, in the order of [`ORDER`]; a field escapes backslash, tab and line ends as `\\`, `\t`, `\n` and `\r`:
//!
//! | line | fields |
//! |---|---|
//! | `T` | test class, test, `green` or `red`, milliseconds: a test without mutation |
//! | `X` | class, `0,4,7`: the tests that execute it, by the order in which their top-level classes come first in `T` |
//! | `C` | class, status, class of the test that failed, that test: a control |
//! | `M` | class, method, descriptor, mutator, indexes, file, line, status, killing test, description, `initial` or nothing, number of test classes that reach it, the first five of them: a mutant |
//! | `F` | PIT's own words for why it gave up |
//! | `E` | stage, mutants before PIT's filters, milliseconds of the tests, number of lines before it, seal: the end |
//!
//! A file without its end, with a wrong count, a wrong seal or a line of another form is an error: every strict prefix is one. The seal
//! needs a key that no test can know, so nothing that tests write or print is read. A file with more
//! mutants than are kept is an error too.

use super::counted::MutantId;
use super::{Aim, ControlOutcome, FailingTest, Owners, PitReport, ReachingClasses};
use crate::gate::java::coverage_map::top_level;
use crate::mutation::{Mutant, MutantStatus};
use crate::source::text;
use crate::task;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The file's name in the folder of a run.
pub(crate) const FILE: &str = "results.tsv";
/// The kinds of lines, in their order.
const ORDER: &str = "TXCMFE";
/// Largest file that is read.
const MAX_BYTES: u64 = 4 << 30;
/// Most mutants of one run.
const MAX_MUTANTS: usize = 200_000;
/// Longest line.
const MAX_LINE: u64 = 4 << 20;

/// The progress of PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PitStage {
    /// The tests were running without mutation.
    Tests,
    /// The tests had all run.
    Mutants,
    /// PIT came to its end.
    Done,
}

/// A results file that is whole.
#[derive(Debug)]
pub(crate) struct ResultsFile {
    pub(crate) stage: PitStage,
    /// PIT's own words for why it gave up.
    pub(crate) failure: Option<String>,
    pub(crate) report: PitReport,
}

/// The secret of one run, in hexadecimal digits: the plugin learns it before any test runs.
#[derive(Debug)]
pub(crate) struct SealKey(String);

impl SealKey {
    /// A new key.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        fs_err::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(task::digest(&bytes)))
    }

    pub(crate) fn key_text(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn for_test(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The seal of a file with this content before it.
    fn compute_seal(&self, content: Sha256) -> String {
        let content = content.finalize();
        task::digest(&[self.0.as_bytes(), &content[..]].concat())
    }

    /// A whole file of these lines, as the plugin writes it.
    #[cfg(test)]
    pub(crate) fn seal_lines(&self, lines: &str, stage: &str, found: i64, millis: u64) -> String {
        let count = lines.lines().count();
        let content = format!("{lines}E\t{stage}\t{found}\t{millis}\t{count}");
        let seal = self.compute_seal(Sha256::new_with_prefix(&content));
        format!("{content}\t{seal}\n")
    }
}

/// The context in which mutants are judged.
#[derive(Clone, Copy)]
pub(crate) struct MutantContext<'a> {
    /// Classes to mutate.
    pub(crate) owners: &'a Owners,
    /// True for a line (target class, bare file name, 1-based line) that the family changed.
    pub(crate) is_changed: &'a dyn Fn(&str, &str, u32) -> bool,
    /// The purpose of the run.
    pub(crate) aim: Aim,
}

/// Reads the file in the folder of a run. An error is a phrase that names the first fault.
pub(crate) fn read_file(
    folder: &Path,
    key: &SealKey,
    judging: MutantContext<'_>,
) -> Result<ResultsFile, String> {
    let file = folder.join(FILE);
    let data = fs_err::symlink_metadata(&file).map_err(|_| format!("there is no {FILE}"))?;
    if !data.is_file() || data.len() > MAX_BYTES {
        return Err(format!("{FILE} is no regular file of at most 4 GiB"));
    }
    let file =
        fs_err::File::open(file).map_err(|error: io::Error| text::line(&error.to_string(), 300))?;
    read_results(BufReader::new(file.take(MAX_BYTES)), key, judging)
}

/// Reads the lines of a file.
pub(super) fn read_results(
    mut source: impl BufRead,
    key: &SealKey,
    judging: MutantContext<'_>,
) -> Result<ResultsFile, String> {
    let mut reader = ResultsReader {
        judging,
        place: 0,
        lines: 0,
        tests: Vec::new(),
        controls: BTreeMap::new(),
        ids: HashMap::new(),
        failure: None,
        report: PitReport::default(),
    };
    let mut content = Sha256::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut source)
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|error| text::line(&error.to_string(), 200))?;
        let text = str::from_utf8(&line).map_err(|_| "it is not UTF-8".to_owned())?;
        let Some(text) = text.strip_suffix('\n') else {
            return Err("it has no end, or a line that is longer than 4 MiB".to_owned());
        };
        if let Some((sealed, seal)) = text.rsplit_once('\t').filter(|_| text.starts_with("E\t")) {
            content.update(sealed);
            if key.compute_seal(content) != seal {
                return Err("PIT's own process did not write it".to_owned());
            }
            if !source.fill_buf().is_ok_and(<[u8]>::is_empty) {
                return Err("something follows its end".to_owned());
            }
            return reader.finish_file(&split_fields(sealed)?);
        }
        content.update(&line);
        split_fields(text)
            .and_then(|fields| {
                let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
                reader.read_line(&fields)
            })
            .map_err(|why| format!("{why} (line {})", reader.lines + 1))?;
        reader.lines += 1;
    }
}

/// The fields of a line.
fn split_fields(line: &str) -> Result<Vec<String>, String> {
    line.split('\t').map(unescape_field).collect()
}

fn unescape_field(field: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('\\') => '\\',
                _ => return Err("it has an unknown escape".to_owned()),
            },
            plain => plain,
        });
    }
    Ok(text)
}

struct ResultsReader<'a> {
    judging: MutantContext<'a>,
    /// The place of the last line's kind in [`ORDER`].
    place: usize,
    lines: u64,
    /// The test classes in the order of their first `T`.
    tests: Vec<String>,
    /// By the dotted name of the mutated class; of several controls the worst.
    controls: BTreeMap<String, ControlOutcome>,
    ids: HashMap<MutantId, Option<MutantStatus>>,
    failure: Option<String>,
    report: PitReport,
}

impl ResultsReader<'_> {
    fn read_line(&mut self, fields: &[&str]) -> Result<(), String> {
        let kind = fields.first().filter(|kind| kind.len() == 1);
        self.place = kind
            .and_then(|kind| ORDER.find(kind))
            .filter(|place| *place >= self.place)
            .ok_or("it has a line of an unknown kind or out of order")?;
        match *fields {
            ["T", class, test, color @ ("green" | "red"), millis] => {
                self.add_test(class, test, color == "green", parse_number(millis)?);
            }
            ["X", class, tests] => {
                let mut executing = BTreeSet::new();
                for index in tests.split(',') {
                    let test = self.tests.get(parse_number::<usize>(index)?);
                    executing.insert(test.ok_or("it names an unknown test")?.clone());
                }
                let classes = &mut self.report.executed.classes;
                classes.insert(class.to_owned(), executing);
            }
            ["C", class, status, test_class, test] => {
                let control = match (status, test_class) {
                    ("SURVIVED", "") => ControlOutcome::Passed,
                    ("KILLED", class) if !class.is_empty() => {
                        ControlOutcome::Failed(FailingTest::new(class, test))
                    }
                    _ => ControlOutcome::Unclear,
                };
                self.report.unclear |= control == ControlOutcome::Unclear;
                let worst = self
                    .controls
                    .entry(class.to_owned())
                    .or_insert(ControlOutcome::Passed);
                *worst = control.max(worst.clone());
            }
            ["M", ref mutant @ ..] => {
                let mutant = mutant.try_into().map_err(|_| "a mutant is not whole")?;
                self.add_mutant(mutant)?;
            }
            ["F", words] => self.failure = Some(text::line(words, 300)),
            _ => return Err("it has a line of an unknown form".to_owned()),
        }
        Ok(())
    }

    fn add_test(&mut self, class: &str, test: &str, is_green: bool, millis: u64) {
        let report = &mut self.report;
        report.slowest_test = report.slowest_test.max(Some(millis));
        if !is_green {
            report.left_out.insert(FailingTest::new(class, test));
        }
        let class = top_level(class).to_owned();
        if !report.executed.tests.contains_key(&class) {
            self.tests.push(class.clone());
        }
        *report.executed.tests.entry(class).or_insert(true) &= is_green;
    }

    fn add_mutant(&mut self, fields: &[&str; 13]) -> Result<(), String> {
        let &[
            class,
            method,
            descriptor,
            mutator,
            indexes,
            file,
            line,
            status,
            killer,
            description,
            initial,
            tests,
            names,
        ] = fields;
        let id = MutantId {
            class: class.to_owned(),
            method: method.to_owned(),
            descriptor: descriptor.to_owned(),
            mutator: mutator.to_owned(),
            indexes: indexes.split(',').map(str::to_owned).collect(),
        };
        let line = parse_number(line)?;
        let status = status_of(status)?;
        if let Some(before) = self.ids.insert(id.clone(), status) {
            return if before == status {
                Ok(())
            } else {
                Err("it gives one mutant two different statuses".to_owned())
            };
        }
        if self.ids.len() > MAX_MUTANTS {
            return Err(format!("it has more than {MAX_MUTANTS} mutants"));
        }
        let Some(owner) = find_owner(self.judging.owners, class) else {
            return Ok(());
        };
        let Some(status) = status else {
            return if self.judging.aim == Aim::Count {
                Ok(())
            } else {
                Err("it has a mutant that was not started".to_owned())
            };
        };
        let control = self.controls.get(class);
        let needs_control = self.judging.aim == Aim::Judge;
        if status == MutantStatus::Killed && self.judging.aim == Aim::Search {
            self.report.killers.insert(id.clone(), killer.to_owned());
        }
        let status = if needs_control {
            self.report.believed_status(status, control, owner)
        } else {
            status
        };
        self.report.statuses.insert(id.clone(), status);
        let names = names.split(',').filter(|name| !name.is_empty()).take(5);
        let reached = ReachingClasses {
            names: names.map(|name| text::line(name, 200)).collect(),
            count: parse_number(tests)?,
            is_initial: initial == "initial",
        };
        if reached.count > 0 || reached.is_initial {
            self.report.reaching.insert(id.clone(), reached);
        }
        let is_changed = (self.judging.is_changed)(owner, file, line);
        let mutant = Mutant {
            class: text::line(class, 300),
            file: text::line(file, 200),
            line,
            method: text::line(method, 200),
            mutator: mutator_name(mutator),
            description: text::line(description, 300),
            status,
            id: String::new(),
        };
        let counted = self.report.classes.entry(owner.to_owned()).or_default();
        counted.count_mutant(id, mutant, is_changed);
        Ok(())
    }

    fn finish_file(self, fields: &[String]) -> Result<ResultsFile, String> {
        let [_, stage, found, millis, lines] = fields else {
            return Err("its end is not whole".to_owned());
        };
        if parse_number::<u64>(lines)? != self.lines {
            return Err(format!(
                "it has {} lines and should have {lines}",
                self.lines
            ));
        }
        let stage = match stage.as_str() {
            "tests" => PitStage::Tests,
            "mutants" => PitStage::Mutants,
            // PIT's filters may hide every mutant, but the plugin must have seen them.
            "done" if parse_number::<i64>(found)? >= 0 => PitStage::Done,
            _ => return Err("its end is of an unknown stage".to_owned()),
        };
        let report = PitReport {
            coverage_millis: parse_number(millis)?,
            ..self.report
        };
        Ok(ResultsFile {
            stage,
            failure: self.failure,
            report,
        })
    }
}

fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{} is not a number", text::line(text, 60)))
}

/// The status of a mutant by PIT's name; `None` for one that was not started.
fn status_of(name: &str) -> Result<Option<MutantStatus>, String> {
    Ok(Some(match name {
        "KILLED" => MutantStatus::Killed,
        "SURVIVED" => MutantStatus::Survived,
        "NO_COVERAGE" => MutantStatus::NoCoverage,
        "TIMED_OUT" => MutantStatus::TimedOut,
        "MEMORY_ERROR" => MutantStatus::MemoryError,
        // A mutant that the JVM refuses never ran, and a test can have it refused.
        "RUN_ERROR" | "NON_VIABLE" => MutantStatus::RunError,
        "EQUIVALENT" => MutantStatus::Equivalent,
        "NOT_STARTED" => return Ok(None),
        other => {
            return Err(format!(
                "it names the unknown status {}",
                text::line(other, 60)
            ));
        }
    }))
}

/// The target that a class belongs to: by its own name, or that of the classes around it.
fn find_owner<'a>(owners: &'a Owners, class: &str) -> Option<&'a str> {
    let mut name = class;
    loop {
        if let Some(target) = owners.get(name) {
            return Some(target);
        }
        name = &name[..name.rfind('$')?];
    }
}

fn mutator_name(class: &str) -> String {
    let last = class.rsplit(['.', '$']).next().unwrap_or(class);
    text::line(last.strip_suffix("Mutator").unwrap_or(last), 100)
}
