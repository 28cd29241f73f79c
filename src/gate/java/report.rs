//! PIT's `mutations.xml`, read as a stream.
//!
//! A report counts only when its root is `mutations` and closed, nothing follows it, every
//! mutant is complete and has a known status; every strict prefix of a report is an error; what is kept of
//! each mutant is bounded; a DOCTYPE and bytes that are not UTF-8 are refused.

mod bounded;
mod control;
mod counted;
mod draft;
#[cfg(test)]
mod tests;

pub(crate) use control::{Control, Controls, FailingTest};
pub(crate) use counted::{Counted, Kill, MOST_KILLS, MutantId, test_class};

use super::coverage_map::Coverage;
use super::xml::character;
use crate::mutation::{Mutant, MutantStatus, Tally};
use crate::source::text;
use bounded::Bounded;
use counted::Identity;
use draft::{Draft, FIELDS, Status, mutator, owner, status};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;

/// The file's name in the folder of a run.
pub(crate) const FILE: &str = "mutations.xml";
/// Largest report that is read.
const MAX_BYTES: u64 = 4 << 30;
/// Deepest nesting; PIT writes 4.
const MAX_DEPTH: usize = 16;
/// Largest piece of markup or text.
const MAX_EVENT: u64 = 1 << 20;

/// What a run of PIT found, or several runs merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct PitReport {
    /// By target class; a target without mutants is absent.
    pub(crate) classes: BTreeMap<String, Counted>,
    /// The status of each mutant that was asked for.
    pub(crate) statuses: HashMap<Identity, MutantStatus>,
    /// The test classes that were asked, if the runs were merged.
    pub(crate) tests: BTreeSet<String>,
    /// The tests that reach what is left.
    pub(crate) reaching: Reaching,
    /// The slowest test without mutation, milliseconds, if PIT names one.
    pub(crate) slowest_test: Option<u64>,
    /// The classes that tests executed, if the run makes a map and the plugin's file is whole.
    pub(crate) seen: Option<Coverage>,
    /// Time of the tests without mutation, milliseconds.
    pub(crate) coverage_millis: u64,
    /// Wall time, milliseconds.
    pub(crate) millis: u64,
    /// Tests that failed in a control of a class with kills; these kills are counted as survivors.
    pub(crate) unfit: BTreeSet<FailingTest>,
    /// Target classes with kills, a control of which gave no verdict.
    pub(crate) uncontrolled: BTreeSet<String>,
    /// A control gave no verdict.
    pub(crate) unclear: bool,
    /// Kills beside a control that passed, or of a search, one by one, as far as they are kept.
    pub(crate) kills: Vec<Kill>,
    /// What the last search detected and no control has met; `classes` count it as living.
    pub(crate) unproven: HashMap<Identity, MutantStatus>,
    /// Failing tests that were left out, as the JVM in which they ran says: good for a remark, not for blame.
    pub(crate) left_out: BTreeSet<FailingTest>,
}

/// What the plugin says about the mutants that were not killed.
pub(crate) type Reaching = BTreeMap<MutantId, Reached>;

/// The test classes that reach a mutant: at most five names, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) names: Vec<String>,
    pub(crate) count: u64,
    /// Its code runs while its class is initialised, and perhaps never again.
    pub(crate) is_initial: bool,
}

impl PitReport {
    /// The mutants of all classes.
    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.classes
            .values()
            .for_each(|counted| tally.join(&counted.tally));
        tally
    }

    /// Takes the verdict from mutants of code that only initialises a class: one that lived may not have run.
    pub(crate) fn except_initial(&mut self) {
        let initial = self
            .reaching
            .iter()
            .filter(|(_, reached)| reached.is_initial)
            .map(|(id, _)| id);
        let statuses: HashMap<Identity, MutantStatus> = initial
            .map(|id| (id.identity(), MutantStatus::Unjudged))
            .collect();
        for counted in self.classes.values_mut() {
            counted.improve(&statuses);
        }
        self.statuses.extend(statuses);
    }

    /// Merges what a later run found out about the mutants that are left.
    pub(crate) fn improve(&mut self, later: &Self) {
        for counted in self.classes.values_mut() {
            counted.improve(&later.statuses);
        }
        self.uncontrolled.extend(later.uncontrolled.iter().cloned());
        self.kills.extend(later.kills.iter().cloned());
    }

    /// Takes the kills and time-outs out of a search.
    pub(crate) fn take_detected(&mut self) -> HashMap<Identity, MutantStatus> {
        let is_detected =
            |_: &_, status: &mut _| matches!(status, MutantStatus::Killed | MutantStatus::TimedOut);
        self.statuses.extract_if(is_detected).collect()
    }

    /// Counts what no control has met.
    pub(crate) fn with_unproven(mut self) -> Self {
        let unproven = std::mem::take(&mut self.unproven);
        self.classes
            .values_mut()
            .for_each(|counted| counted.improve(&unproven));
        self
    }

    /// The mutants of these classes of which no kill is believed.
    pub(crate) fn living(&self, classes: &BTreeSet<String>) -> impl Iterator<Item = &MutantId> {
        let wanted = self
            .classes
            .iter()
            .filter(|(class, _)| classes.contains(*class));
        wanted.flat_map(|(_, counted)| counted.left.keys())
    }

    /// The mutants of these classes that are left with one of these statuses.
    pub(crate) fn with(
        &self,
        classes: &BTreeSet<String>,
        statuses: &[MutantStatus],
    ) -> Vec<MutantId> {
        let wanted = self
            .classes
            .iter()
            .filter(|(class, _)| classes.contains(*class));
        wanted
            .flat_map(|(_, counted)| counted.with(statuses))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Notes the tests that reach what is left; those of different tiers add up, unless all were asked `again`.
    pub(crate) fn note_tests(&mut self, reaching: &Reaching, again: bool) {
        for (id, left) in self
            .classes
            .values_mut()
            .flat_map(|counted| &mut counted.left)
        {
            if again {
                left.tests.clear();
                left.tests_total = 0;
            }
            if let Some(reached) = reaching.get(id) {
                left.tests.extend(reached.names.iter().cloned());
                left.tests_total += reached.count;
            }
        }
    }
}

/// The target to which each class belongs: `Foo` to itself, a second top-level class of `Foo.java` to
/// `Foo`. Nested classes follow their outermost class.
pub(crate) type Owners = BTreeMap<String, String>;

/// True for a line (target class, bare file name, 1-based line) that the family changed.
pub(crate) type IsChanged<'a> = &'a dyn Fn(&str, &str, u32) -> bool;

/// Whether mutants have been run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode<'a> {
    /// Each mutant must have a verdict, and kills need a control.
    Controlled(&'a Controls),
    /// The same, and which tests kill is all that counts: controls come later.
    Search,
    /// A dry run: each mutant is `NOT_STARTED`.
    Dry,
}

/// Reads a report file; an error is a phrase.
pub(crate) fn read_file(
    file: &Path,
    owners: &Owners,
    is_changed: IsChanged<'_>,
    mode: Mode<'_>,
) -> Result<PitReport, String> {
    let data =
        fs_err::symlink_metadata(file).map_err(|_| "there is no mutations.xml".to_owned())?;
    if !data.is_file() {
        return Err("mutations.xml is not a regular file".to_owned());
    }
    if data.len() > MAX_BYTES {
        return Err("mutations.xml is larger than 4 GiB".to_owned());
    }
    let file = fs_err::File::open(file).map_err(|error| text::line(&error.to_string(), 300))?;
    read(file, owners, is_changed, mode)
}

/// Reads a report; an error is a phrase that says what is wrong with it.
fn read(
    source: impl Read,
    owners: &Owners,
    is_changed: IsChanged<'_>,
    mode: Mode<'_>,
) -> Result<PitReport, String> {
    let mut reader = Reader::from_reader(Bounded::new(source.take(MAX_BYTES)));
    reader.config_mut().expand_empty_elements = true;
    let mut walk = Walk {
        owners,
        is_changed,
        mode,
        path: Vec::new(),
        seen: false,
        draft: None,
        text: String::new(),
        ids: HashMap::new(),
        report: PitReport::default(),
    };
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        reader.get_mut().next_event();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|error| text::line(&error.to_string(), 200))?;
        match event {
            Event::Start(tag) => walk.open(&tag)?,
            Event::End(_) => walk.close()?,
            Event::Text(text) => walk.characters(&text)?,
            Event::CData(text) => walk.characters(&text)?,
            Event::GeneralRef(entity) => walk.entity(&entity)?,
            Event::DocType(_) => return Err("it has a DOCTYPE, which PIT never writes".to_owned()),
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::Empty(_) => {}
            Event::Eof => return walk.finish(),
        }
    }
}

struct Walk<'a> {
    owners: &'a Owners,
    is_changed: IsChanged<'a>,
    mode: Mode<'a>,
    path: Vec<String>,
    seen: bool,
    draft: Option<Draft>,
    text: String,
    ids: HashMap<Identity, Status>,
    report: PitReport,
}

impl Walk<'_> {
    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        let name = tag.name().into_inner().to_owned();
        if self.path.len() == MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} elements"));
        }
        match self.path.len() {
            0 if self.seen => return Err("a second element follows its root".to_owned()),
            0 if name != "mutations" => {
                return Err(format!(
                    "its root element is {}, not mutations",
                    text::line(&name, 60)
                ));
            }
            1 if name != "mutation" => {
                return Err(format!(
                    "it holds an element {} where a mutation was due",
                    text::line(&name, 60)
                ));
            }
            1 => {
                let status = status(tag)?;
                self.draft = Some(Draft {
                    status,
                    fields: BTreeMap::new(),
                    indexes: Vec::new(),
                });
            }
            _ => {}
        }
        self.seen = true;
        self.text.clear();
        self.path.push(name);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(name) = self.path.pop() else {
            return Err("an end tag has no start tag".to_owned());
        };
        let text = std::mem::take(&mut self.text);
        match self.path.len() {
            1 => {
                let draft = self.draft.take();
                return draft.map_or(Ok(()), |draft| self.count(draft));
            }
            2 => {
                if let (Some(draft), Some(field)) =
                    (&mut self.draft, FIELDS.iter().find(|f| **f == name))
                {
                    draft.fields.insert(field, text);
                }
            }
            3 if name == "index" => {
                if let Some(draft) = &mut self.draft {
                    draft.indexes.push(text);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn characters(&mut self, text: &str) -> Result<(), String> {
        if self.path.len() <= 2
            && !text
                .trim_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
                .is_empty()
        {
            return Err("it holds text outside its elements".to_owned());
        }
        if self.text.len() as u64 + text.len() as u64 > MAX_EVENT {
            return Err("one of its texts is longer than 1 MiB".to_owned());
        }
        self.text.push_str(text);
        Ok(())
    }

    fn entity(&mut self, entity: &BytesRef<'_>) -> Result<(), String> {
        let unknown = || format!("it names the unknown entity {}", text::line(entity, 60));
        let character = character(entity).ok_or_else(unknown)?;
        self.characters(character.encode_utf8(&mut [0; 4]))
    }

    fn count(&mut self, draft: Draft) -> Result<(), String> {
        let field = |name: &str| {
            let missing = || format!("a mutation has no {name}");
            draft
                .fields
                .get(name)
                .filter(|text| !text.is_empty())
                .ok_or_else(missing)
        };
        let id = MutantId {
            class: field("mutatedClass")?.clone(),
            method: field("mutatedMethod")?.clone(),
            descriptor: field("methodDescription")?.clone(),
            mutator: field("mutator")?.clone(),
            indexes: draft.indexes,
        };
        if let Some(before) = self.ids.insert(id.identity(), draft.status) {
            let same = before == draft.status;
            return if same {
                Ok(())
            } else {
                Err("it gives one mutant two different statuses".to_owned())
            };
        }
        let line = field("lineNumber")?
            .trim()
            .parse()
            .map_err(|_| "a line number is not a number".to_owned())?;
        let Some(owner) = owner(self.owners, &id.class) else {
            return Ok(());
        };
        let Some(status) = draft.status else {
            self.report
                .classes
                .entry(owner.to_owned())
                .or_default()
                .pending += 1;
            return if self.mode == Mode::Dry {
                Ok(())
            } else {
                Err("it has a mutant that was not started".to_owned())
            };
        };
        let status = match self.mode {
            Mode::Controlled(controls) => {
                let control = controls.get(&id.class);
                if control == Some(&Control::Passed) {
                    self.report.note_kill(status, &id, &draft.fields);
                }
                self.report.believed(status, control, owner)
            }
            Mode::Search => {
                self.report.note_kill(status, &id, &draft.fields);
                status
            }
            Mode::Dry => status,
        };
        self.report.statuses.insert(id.identity(), status);
        let file = field("sourceFile")?;
        let mutant = Mutant {
            class: text::line(&id.class, 300),
            file: text::line(file, 200),
            line,
            method: text::line(&id.method, 200),
            mutator: mutator(&id.mutator),
            description: text::line(
                draft.fields.get("description").map_or("", String::as_str),
                300,
            ),
            status,
            id: String::new(),
        };
        let counted = self.report.classes.entry(owner.to_owned()).or_default();
        counted.count(id, mutant, (self.is_changed)(owner, file, line));
        Ok(())
    }

    fn finish(self) -> Result<PitReport, String> {
        if !self.seen {
            return Err("it is empty".to_owned());
        }
        if !self.path.is_empty() {
            return Err("it ends before its root element is closed".to_owned());
        }
        Ok(self.report)
    }
}
