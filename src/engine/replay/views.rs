//! Compares the files that are made from the journal with it.
//!
//! They are the entries of progress.txt, the boxes of tasks.md, and the heads and diffs below
//! `.ralph/state`.
//!
//! Promise: decisions are compared for any build that wrote them, their words only for this build.

use super::{FindingGrade, JOURNAL, ReplayFinding};
use crate::engine::Places;
use crate::engine::outside::digest_of_file;
use crate::engine::progress::{heading_lines, is_heading, sum_of_entries};
use crate::engine::views::effect_views;
use crate::machine::effect::{Effect, ProgressEntry};
use crate::machine::state::SpecState;
use crate::report::progress::{BOXES, entry_heading, render_entry};
use crate::report::replay::Replayed;
use crate::sys::Disk;
use crate::task::{self, TaskRules, digest, reconcile_files};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Expected contents of progress.txt.
#[derive(Debug, Default)]
pub(super) struct Views {
    /// When the journal began.
    pub(super) began: String,
    /// This build of ralph makes the entries that follow.
    pub(super) is_ours: bool,
    /// By task file.
    entries: BTreeMap<String, Vec<Expected>>,
    /// Files that this build wrote below `.ralph/state`, each with the record that caused it.
    state: BTreeMap<PathBuf, (u64, String)>,
}

#[derive(Debug)]
struct Expected {
    /// The record that says that it was written; 0 if that is still owed.
    record: u64,
    iteration: u64,
    heading: String,
    text: String,
    /// This build made it: each word must be there.
    is_ours: bool,
}

impl Expected {
    /// True if the beginning of this text holds the same headline, up to its reason, and the same boxes.
    fn decides_as(&self, is: &[u8]) -> bool {
        let section = is
            .split(|byte| *byte == b'\n')
            .skip(1)
            .take_while(|line| !is_heading(line));
        let mut section = section.map(String::from_utf8_lossy);
        let own = self.text.lines().nth(1).map(before_reason);
        let is_same = own == section.next().as_deref().map(before_reason);
        let boxes = self
            .text
            .lines()
            .next_back()
            .filter(|line| line.starts_with(BOXES));
        is_same && section.find(|line| line.starts_with(BOXES)).as_deref() == boxes
    }

    fn missing_text(&self, shown: &str) -> String {
        let iteration = self.iteration;
        format!("The entry of iteration {iteration} is not in {shown}.")
    }
}

fn before_reason(line: &str) -> &str {
    line.split(" — ").next().unwrap_or_default()
}

/// True for a path that stays in the workspace.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

impl Views {
    /// An entry was written; with a record of 0 it may have been.
    pub(super) fn note_entry(
        &mut self,
        spec: &str,
        record: u64,
        entry: &ProgressEntry,
        (at, tag): &(String, String),
    ) {
        let (heading, text) = (entry_heading(entry, at, tag), render_entry(entry, at, tag));
        let expected = Expected {
            record,
            iteration: entry.iteration,
            heading,
            text,
            is_ours: self.is_ours,
        };
        self.entries
            .entry(spec.to_owned())
            .or_default()
            .push(expected);
    }

    /// A record asked for these effects.
    pub(super) fn note_effects(&mut self, record: u64, effects: &[Effect], places: &Places) {
        let views = effects
            .iter()
            .filter(|_| self.is_ours)
            .flat_map(|effect| effect_views(places, effect));
        self.state
            .extend(views.map(|(path, text)| (path, (record, text))));
    }

    /// Ralph ended behind this record, perhaps before it did what that asked for.
    pub(super) fn ended_behind(&mut self, record: u64) {
        self.state.retain(|_, (asked, _)| *asked < record);
    }

    /// Compares the existing files below `.ralph/state`.
    pub(super) fn compare_state(
        &self,
        places: &Places,
        disk: &dyn Disk,
        found: &mut Replayed,
    ) -> io::Result<()> {
        for (path, (record, text)) in &self.state {
            let Some(is) = disk.read(path)?.filter(|is| is != text.as_bytes()) else {
                continue;
            };
            let line = first_other_line(text.as_bytes(), &is);
            let what =
                format!("The view differs from here on from what record {record} asked for.");
            let finding = ReplayFinding::new(
                FindingGrade::Differs,
                what,
                "no run reads it: remove it, or leave it",
            );
            found
                .findings
                .push(finding.at(places.display_path(path), Some(line)));
        }
        Ok(())
    }

    /// Compares the entries of a task file with those in progress.txt.
    pub(super) fn compare_entries(
        &self,
        (spec, book): (&str, &SpecState),
        shown: &str,
        bytes: &[u8],
        found: &mut Replayed,
    ) {
        let none = Vec::new();
        let mut expected = self.entries.get(spec).unwrap_or(&none).iter().peekable();
        let (mut earlier, mut reworded) = (Vec::new(), 0);
        let mut differs = |place: &str, line: u64, what: String| {
            let hint = "the journal alone is state; put the file back from a copy, or leave it: no run reads it";
            found.findings.push(
                ReplayFinding::new(FindingGrade::Differs, what, hint)
                    .at(place, line.try_into().ok()),
            );
        };
        for line in heading_lines(bytes) {
            let (number, offset) = (line.number, line.offset);
            let known = expected
                .clone()
                .position(|entry| entry.heading.as_bytes() == line.text);
            let Some(skipped) = known else {
                // The entries of an earlier journal stay if that journal was moved away.
                let time = line
                    .text
                    .get(3..)
                    .and_then(|rest| rest.get(..self.began.len()));
                if time.is_some_and(|time| time < self.began.as_bytes()) {
                    earlier.push(line);
                } else {
                    differs(shown, number, "No record matches this entry.".to_owned());
                }
                continue;
            };
            for entry in expected.by_ref().take(skipped) {
                differs(JOURNAL, entry.record, entry.missing_text(shown));
            }
            let Some(entry) = expected.next() else { break };
            let is = &bytes[offset..];
            if is.starts_with(entry.text.as_bytes()) || entry.record == 0 {
                continue;
            }
            if !entry.is_ours && entry.decides_as(is) {
                reworded += 1;
            } else {
                let lines = entry.text.lines().zip(is.split(|byte| *byte == b'\n'));
                let before = lines
                    .take_while(|(should, is)| should.as_bytes() == *is)
                    .count();
                let should = entry.text.lines().nth(before).unwrap_or_default();
                let what = format!(
                    "The entry of iteration {} was changed; here it says: {should}",
                    entry.iteration
                );
                differs(shown, number + before as u64, what);
            }
        }
        for entry in expected.filter(|entry| entry.record > 0) {
            differs(JOURNAL, entry.record, entry.missing_text(shown));
        }
        if reworded > 0 {
            found.unchecked.push(format!(
                "Entries of {shown} with other words than this build of ralph writes: {reworded}; what they decided is the same."
            ));
        }
        let (first, count) = (earlier.first().map(|line| line.number), earlier.len());
        match &book.earlier {
            Some(recorded) if sum_of_entries(earlier) != *recorded => {
                let what = format!(
                    "No record stands behind all entries that are older than the journal: it found {}, and there are {count}, or \
                     others.",
                    recorded.count
                );
                differs(shown, first.unwrap_or(1), what);
            }
            _ if count == 0 => {}
            Some(_) => found.unchecked.push(format!("Entries of an earlier journal in {shown}: {count}.")),
            None => found.unchecked.push(format!(
                "Entries of {shown} that are older than the journal, which does not record those that it found: {count}."
            )),
        }
    }
}

/// The number of the first line, from 1, in which two texts differ.
pub fn first_other_line(was: &[u8], is: &[u8]) -> usize {
    let lines = was.split(|byte| *byte == b'\n');
    let both = lines.zip(is.split(|byte| *byte == b'\n'));
    both.take_while(|(was, is)| was == is).count() + 1
}

/// Compares the lines of a task file with those that ralph read last, of which `copy` is kept.
fn compare_lines(
    (spec, book): (&str, &SpecState),
    (bytes, copy): (&[u8], Option<&[u8]>),
    rules: &TaskRules,
    found: &mut Replayed,
) {
    let hint = "what is written there counts once `ralph run` has read it; `git log -p` shows who wrote it";
    let Some(copy) = copy.filter(|copy| digest(copy) == book.skeleton) else {
        let now = rules.parse(bytes.to_vec()).box_rows();
        let other = task::written_rows(&book.rows).into_iter().find(|row| {
            let mut now = now.iter();
            !now.any(|now| now.key == row.key && now.text == row.text)
        });
        let unknown =
            "The lines are not those that ralph read last, and its copy of them is not there.";
        let (grade, what) = other.map_or((FindingGrade::Unknown, unknown.to_owned()), |row| {
            (
                FindingGrade::Differs,
                format!(
                    "{} has another text than in the run, or is gone.",
                    row.row_title()
                ),
            )
        });
        found
            .findings
            .push(ReplayFinding::new(grade, what, hint).at(spec, None));
        return;
    };
    match reconcile_files(copy, bytes, &rules.grammar).reworded {
        None => found
            .unchecked
            .push(format!("{spec} has tasks that ralph has not read yet.")),
        Some(tasks) => {
            let of = if tasks.is_empty() {
                String::new()
            } else {
                format!(" of {tasks}")
            };
            let what = format!("The text{of} is not the one that ralph read last.");
            let emptied = rules.parse(bytes.to_vec()).text_without_marks();
            let line = first_other_line(copy, &emptied);
            found
                .findings
                .push(ReplayFinding::new(FindingGrade::Differs, what, hint).at(spec, Some(line)));
        }
    }
}

/// Compares the spec's other files and the validator's report with their recorded digests.
pub(super) fn compare_spec_files(
    (spec, book): (&str, &SpecState),
    places: &Places,
    found: &mut Replayed,
) {
    if book.skeleton.is_empty() {
        return;
    }
    let folder = Path::new(spec).parent().unwrap_or(Path::new(""));
    let mut recorded: Vec<(PathBuf, &str)> = Vec::new();
    match &book.files {
        Some(files) => {
            recorded.extend(files.iter().map(|(path, digest)| (folder.join(path), digest.as_str())));
        }
        None => found.unchecked.push(format!(
            "The requirements and other files of {spec}: the ralph that wrote the journal did not record them."
        )),
    }
    let report = folder.join("validation-report.md");
    match book.report.as_deref() {
        Some("") => found.unchecked.push(format!(
            "{}: the ralph that wrote the journal did not record what it held.",
            report.display()
        )),
        Some(digest) => recorded.push((report, digest)),
        None => {}
    }
    for (path, digest) in recorded {
        let shown = path.display().to_string();
        if !is_inside(&shown) {
            found
                .unchecked
                .push(format!("{shown} lies outside of the workspace."));
            continue;
        }
        let now = digest_of_file(&places.workspace.join(&path));
        if now == digest {
            continue;
        }
        let what = match (now.is_empty(), digest.is_empty()) {
            (true, _) => "The file is not there; the run had it.",
            (_, true) => "The run did not have this file.",
            _ => "The file is not the one that the run had last.",
        };
        let hint = "restore it from a copy; your edit counts once `ralph run` has read it";
        found
            .findings
            .push(ReplayFinding::new(FindingGrade::Differs, what, hint).at(shown, None));
    }
}

/// Compares a task file with what the journal knows of it: its boxes, and its lines, of which `copy` is kept.
pub(super) fn compare_tasks(
    (spec, book): (&str, &SpecState),
    (bytes, copy): (Option<Vec<u8>>, Option<Vec<u8>>),
    rules: &TaskRules,
    found: &mut Replayed,
) {
    if book.skeleton.is_empty() {
        return;
    }
    let Some(bytes) = bytes else {
        let what = "The file is not there; the journal knows its boxes.";
        let hint = "restore it from its repository or a bundle";
        found
            .findings
            .push(ReplayFinding::new(FindingGrade::Differs, what, hint).at(spec, None));
        return;
    };
    let file = rules.parse(bytes.clone());
    let has_same_lines = digest(&file.text_without_marks()) == book.skeleton;
    if !has_same_lines {
        compare_lines((spec, book), (&bytes, copy.as_deref()), rules, found);
    }
    let known = task::written_rows(&book.rows);
    for row in file.box_rows() {
        // The same lines may have other names under another configuration.
        let was = known.iter().find(|known| {
            if has_same_lines {
                known.line == row.line
            } else {
                known.key == row.key
            }
        });
        let should = was.map_or(has_same_lines && row.mark.is_done(), |was| {
            was.mark.is_done()
        });
        if should == row.mark.is_done() {
            continue;
        }
        let (is, ticks) = if should {
            ("open", "a record ticks it")
        } else {
            ("ticked", "no record ticks it")
        };
        let what = format!("{} is {is}, and {ticks}.", row.row_title());
        let hint =
            "a person's edit counts once `ralph run` has read it; `git log -p` tells who made it";
        let finding = ReplayFinding::new(FindingGrade::Differs, what, hint)
            .at(spec, usize::try_from(row.line).ok());
        found.findings.push(finding);
    }
}
