//! A parsed task file: its bytes, and the boxes found in them.
//!
//! Any bytes can be parsed, and each byte is kept. Keys, parents and order do not depend on the marks.

use super::exclude::Excluded;
use super::family::{NamedBox, name_tasks};
use super::grammar::Grammar;
use super::meaning::{is_approval, is_checklist, is_optional_section};
use super::outline::{FoundBox, OutlineHeading, TaskFileOutline, heading_title, read_outline};
use super::row::{Mark, Row};
use super::scan::{FileLine, ReadAs, clean_line, read_box};
use super::sections::{SectionExclusion, Title};
use std::collections::{BTreeMap, HashSet};

/// A line of a task file.
#[derive(Clone, Copy, Debug)]
pub struct ReadLine<'a> {
    /// 1-based.
    pub number: u32,
    /// Its bytes without the line end.
    pub text: &'a [u8],
    /// The reading of the line.
    pub read: ReadAs,
    pub(super) line: FileLine,
}

impl ReadLine<'_> {
    /// True for a list item that begins with a box, however the line is read.
    pub fn has_box(&self) -> bool {
        read_box(self.text).is_some()
    }
}

/// The content of a `tasks.md`.
#[derive(Clone, Debug)]
pub struct TaskFile {
    pub(super) bytes: Vec<u8>,
    pub(super) grammar: Grammar,
    /// The parts without tasks, ascending.
    pub(super) excluded: Vec<Excluded>,
    /// The headings in document order.
    pub(super) headings: Vec<OutlineHeading>,
    /// The reason for each box in a section that holds no tasks.
    pub(super) left_out: Vec<SectionExclusion>,
    /// The lines in document order, each with its reading.
    pub(super) lines: Vec<(FileLine, ReadAs)>,
    pub(super) tasks: Vec<NamedBox>,
}

impl TaskFile {
    /// Reads a task file. Any bytes can be parsed; [`TaskFile::find_problems`] and [`TaskFile::find_remarks`] report errors.
    pub fn parse(bytes: impl Into<Vec<u8>>, grammar: &Grammar) -> Self {
        let bytes = bytes.into();
        let TaskFileOutline {
            lines,
            excluded,
            boxes,
            headings,
            left_out,
        } = read_outline(&bytes, grammar);
        let tasks = name_tasks(&bytes, boxes, &headings, grammar);
        let grammar = grammar.clone();
        Self {
            bytes,
            grammar,
            excluded,
            headings,
            left_out,
            lines,
            tasks,
        }
    }

    /// Returns the original bytes.
    pub fn file_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the lines without their line ends and without a byte-order mark.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.read_lines().map(|line| line.text)
    }

    /// Returns the lines in document order, each with its reading.
    pub fn read_lines(&self) -> impl Iterator<Item = ReadLine<'_>> {
        (1..).map_while(|number| self.read_line(number))
    }

    /// Returns the line of this number, 1-based.
    pub(super) fn read_line(&self, number: u32) -> Option<ReadLine<'_>> {
        let (line, read) = *self.lines.get((number as usize).checked_sub(1)?)?;
        Some(ReadLine {
            number,
            text: self.bytes.get(line.start..line.end)?,
            read,
            line,
        })
    }

    /// Returns the number of the line at an offset in the file, 1-based.
    pub(super) fn line_at(&self, offset: usize) -> u32 {
        let above = self.lines.partition_point(|(line, _)| line.next <= offset);
        u32::try_from(above + 1).unwrap_or(u32::MAX)
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True if there is no box, as in files of tables and prose.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns the level (1 to 6) and words of a heading, by its index as in [`super::ReadAs::Heading`].
    pub fn heading_words(&self, at: usize) -> Option<(u8, String)> {
        let heading = self.headings.get(at)?;
        Some((
            heading.level,
            clean_line("", self.bytes.get(heading.title.clone())?),
        ))
    }

    /// Returns the headings of checklists, each with the line of its first box.
    ///
    /// The words of the heading decide, and no box below it may have an id.
    pub fn checklist_headings(&self) -> BTreeMap<String, u32> {
        // `AC-1` and `SC-1` name conditions, not work.
        let with_id = self.tasks.iter().filter(|task| {
            task.shown_id()
                .is_some_and(|id| !id.starts_with("AC-") && !id.starts_with("SC-"))
        });
        let with_id: HashSet<u32> = with_id.map(|task| task.found.group).collect();
        let mut found = BTreeMap::new();
        for FoundBox { group, line, .. } in self.tasks.iter().map(|task| &task.found) {
            let heading = (*group as usize)
                .checked_sub(1)
                .and_then(|at| self.heading_words(at));
            if let Some((_, title)) =
                heading.filter(|(_, title)| !with_id.contains(group) && is_checklist(title))
            {
                found.entry(title).or_insert(*line);
            }
        }
        found
    }

    /// Returns headings whose words say "optional" or "later" and that have open required tasks below.
    ///
    /// Each has the line of the first such task.
    pub fn optional_sections(&self) -> BTreeMap<String, u32> {
        let mut above: Vec<(u8, Option<String>)> = Vec::new();
        // Indexed by the number of headings above a task.
        let mut sections = vec![None];
        for (level, title) in (0..self.headings.len()).filter_map(|at| self.heading_words(at)) {
            above.retain(|(own, _)| *own < level);
            above.push((
                level,
                Some(title).filter(|title| is_optional_section(title)),
            ));
            sections.push(above.iter().find_map(|(_, title)| title.clone()));
        }
        let mut found = BTreeMap::new();
        for task in self
            .tasks
            .iter()
            .filter(|task| Mark(task.found.mark).is_open() && !task.optional && !task.struck)
        {
            if let Some(Some(title)) = sections.get(task.found.group as usize) {
                found.entry(title.clone()).or_insert(task.found.line);
            }
        }
        found
    }

    /// Returns why a box is not a task, by its index as in [`super::ReadAs::LeftOut`].
    pub fn left_out(&self, at: usize) -> Option<&SectionExclusion> {
        self.left_out.get(at)
    }

    /// Returns the id on a task's line, and true if other tasks show it too; `None` without an id.
    pub fn shown_id(&self, at: usize) -> Option<(&str, bool)> {
        let task = self.tasks.get(at)?;
        task.shown_id().map(|id| (id, task.doubled.is_some()))
    }

    /// Returns the index of a task's parent.
    pub fn parent_of(&self, at: usize) -> Option<usize> {
        self.tasks.get(at)?.parent.map(|parent| parent as usize)
    }

    /// Returns the patterns of `tasks.sections` that match no heading of this file.
    ///
    /// Each is the key (`include` or `exclude`) and the pattern as written.
    pub fn unused_sections(&self) -> Vec<(&'static str, String)> {
        let titles: Vec<Title> = self
            .headings
            .iter()
            .map(|heading| heading_title(&self.bytes, heading, &self.grammar))
            .collect();
        self.grammar.sections.unused_patterns(&titles)
    }

    /// Returns the byte offsets of the marks, in document order.
    pub fn mark_offsets(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.found.at)
    }

    /// Returns the boxes in document order, in the form that the machine and the journal use.
    pub fn box_rows(&self) -> Vec<Row> {
        let groups = self.group_numbers();
        let mut rows = Vec::with_capacity(self.tasks.len());
        let notes = self.notes_under().into_iter().zip(self.task_needs());
        for (task, (note, needs)) in self.tasks.iter().zip(notes) {
            let group = groups.get(task.found.group as usize).copied();
            rows.push(Row {
                needs: needs.ids,
                work_package: needs.work_package,
                ..self.box_row(task, group.unwrap_or_default(), note)
            });
        }
        rows
    }

    /// Returns the number of groups begun before the first heading, and at each heading: the `<n>` of `G<n>`.
    pub fn group_numbers(&self) -> Vec<u32> {
        let numbers = self.headings.iter().scan(0, |groups, heading| {
            *groups += u32::from(heading.level <= self.grammar.group_level);
            Some(*groups)
        });
        std::iter::once(0).chain(numbers).collect()
    }

    fn box_row(
        &self,
        task: &NamedBox,
        group: u32,
        (under, commits_nothing): (String, bool),
    ) -> Row {
        let text = clean_line(task.prefix, task.task_words(&self.bytes));
        let may_be = self.grammar.checkpoint.is_some() && commits_nothing;
        let approval = task.is_implementation() && is_approval(&text);
        Row {
            key: task.key.clone(),
            line: task.found.line,
            mark: Mark(task.found.mark),
            optional: task.optional,
            parent: self
                .parent_task(task)
                .map(|parent| parent.key.family.clone()),
            group,
            digest: task.digest.clone(),
            under: Some(under),
            struck: task.struck,
            approval,
            checkpoint: approval || may_be || self.grammar.is_checkpoint(&text),
            text,
            needs: None,
            work_package: None,
            is_virtual: false,
        }
    }

    pub(super) fn parent_task(&self, task: &NamedBox) -> Option<&NamedBox> {
        self.tasks.get(task.parent? as usize)
    }

    /// Returns the text of the headings and of the parts without tasks.
    pub(super) fn skipped_parts(&self) -> Vec<&[u8]> {
        let excluded = self.excluded.iter().map(|part| &part.range);
        let ranges = excluded.chain(self.headings.iter().map(|heading| &heading.title));
        ranges
            .map(|range| self.bytes.get(range.clone()).unwrap_or_default())
            .collect()
    }

    /// True if the file ticks only with `X`.
    pub(super) fn ticks_upper(&self) -> bool {
        let [upper, lower] =
            ['X', 'x'].map(|mark| self.tasks.iter().any(|task| task.found.mark == mark));
        upper && !lower
    }
}
