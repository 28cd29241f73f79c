//! Inserts lines for gates and stages into a task file, and removes them.
//!
//! Only whole lines are inserted or removed, and the result is parsed again: every other row, fence, comment and
//! heading is the same, or the edit is refused. Placing lines and removing them again restores the original bytes.

use super::exclude::bom_length;
use super::file::TaskFile;
use super::plan::{
    Placement, PlannedBox, RowPosition, TaskSelection, overtaken_gates, plan_gate, plan_stages,
};
use super::refusal::{EditRefusal, Refused};
use super::row::{Mark, Row};
use super::scan::{is_blank, read_item, with_lines};
use super::stage::{Stage, TaskKey};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Maximum number of lines tried one by one after a refusal, to name the wrong one.
const MAX_TRIED: usize = 200;

/// Boxes with their 1-based lines, in document order.
type Boxes = Vec<(TaskKey, u32)>;

/// A task file with inserted or removed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesEdited {
    /// The new bytes of the file, unchanged if no line changed.
    pub bytes: Vec<u8>,
    /// The inserted boxes with their 1-based lines in `bytes`, in document order.
    pub inserted: Vec<(TaskKey, u32)>,
    /// The removed boxes with their 1-based lines in the file before, in document order.
    pub removed: Vec<(TaskKey, u32)>,
}

impl TaskFile {
    /// Returns the file with this gate's boxes at the positions of the placement.
    ///
    /// An open box in ralph's own form is removed if the placement does not want it, or if it is of wider reach and
    /// one of its tasks follows it. All other boxes stay. With `done`, gates also go behind finished tasks, for a
    /// user who judges them.
    pub fn place_gates(
        &self,
        gate: &str,
        placement: &Placement,
        done: bool,
    ) -> Result<LinesEdited, EditRefusal> {
        let plan = |file: &Self| {
            let mut rows = file.box_rows();
            if done {
                for row in rows.iter_mut().filter(|row| row.mark.is_done()) {
                    row.mark = Mark::OPEN;
                }
            }
            plan_gate(&rows, gate, placement)
        };
        let wanted: HashSet<TaskKey> = plan(self)?.into_iter().map(|wanted| wanted.key).collect();
        let stage = Stage::Gate(gate.to_owned());
        let overtaken = overtaken_gates(&self.box_rows(), gate);
        let (cleared, removed) = self.without_boxes(|key| {
            key.stage == stage && (!wanted.contains(key) || overtaken.contains(key))
        })?;
        let (bytes, inserted) = cleared.with_boxes(&plan(&cleared)?)?;
        let new: HashSet<&TaskKey> = inserted.iter().map(|(key, _)| key).collect();
        let back = Self::parse(bytes.clone(), &self.grammar).without_boxes(|key| new.contains(key));
        if !new.is_empty() && !back.is_ok_and(|(back, _)| back.bytes == cleared.bytes) {
            return Err(does_not_fit("The lines do not fit"));
        }
        Ok(LinesEdited {
            bytes,
            inserted,
            removed,
        })
    }

    /// Returns the file with the missing stages and gates of these tasks.
    pub fn add_stages(
        &self,
        staged: TaskSelection<'_>,
        gates: &[(String, Placement)],
        is_meant: impl Fn(&Stage) -> bool,
    ) -> Result<LinesEdited, EditRefusal> {
        let mut wanted = plan_stages(&self.box_rows(), staged, gates)?;
        wanted.retain(|planned| is_meant(&planned.key.stage));
        let (bytes, inserted) = self.with_boxes(&wanted)?;
        Ok(LinesEdited {
            bytes,
            inserted,
            removed: Vec::new(),
        })
    }

    /// Returns the file without these boxes, if they are open and in ralph's form.
    pub fn remove_stages(
        &self,
        goes: impl Fn(&TaskKey) -> bool,
    ) -> Result<LinesEdited, EditRefusal> {
        let (file, removed) = self.without_boxes(goes)?;
        Ok(LinesEdited {
            bytes: file.bytes,
            inserted: Vec::new(),
            removed,
        })
    }

    /// Removes these boxes if they are open and in ralph's form.
    ///
    /// A box that holds others is removed only with all of them.
    fn without_boxes(
        &self,
        unwanted: impl Fn(&TaskKey) -> bool,
    ) -> Result<(Self, Boxes), EditRefusal> {
        let mut gone: HashSet<u32> = HashSet::new();
        let mut removed = Vec::new();
        // From the end, so that the boxes inside a box are handled before it.
        for task in self.tasks.iter().rev().filter(|task| unwanted(&task.key)) {
            let number = task.found.line;
            let own = self.read_line(number).map_or(&b""[..], |line| line.text);
            let is_own = read_form(own).is_some_and(|form| form.box_line(&task.key) == own);
            let mut inside = number + 1..=task.found.last;
            if is_own
                && inside.all(|number| {
                    let line = self.read_line(number);
                    gone.contains(&number)
                        || line.is_none_or(|line| line.text.trim_ascii().is_empty())
                })
            {
                gone.insert(number);
                removed.push((task.key.clone(), number));
            }
        }
        removed.reverse();
        let mut bytes = self
            .bytes
            .get(..bom_length(&self.bytes))
            .unwrap_or_default()
            .to_vec();
        let mut last = 0..0;
        for read in self
            .read_lines()
            .filter(|read| !gone.contains(&read.number))
        {
            last = read.line.end..read.line.next;
            bytes.extend_from_slice(
                self.bytes
                    .get(read.line.start..read.line.next)
                    .unwrap_or_default(),
            );
        }
        // A file that does not end with a line end must still not end with one.
        if self
            .lines
            .last()
            .is_some_and(|(line, _)| line.end == line.next)
        {
            bytes.truncate(bytes.len() - last.len());
        }
        let file = Self::parse(bytes, &self.grammar);
        let rest = self
            .box_rows()
            .into_iter()
            .filter(|row| !gone.contains(&row.line));
        if self.reads_the_same(&file, &rest.collect::<Vec<_>>(), &file.box_rows()) {
            return Ok((file, removed));
        }
        Err(does_not_fit("The lines do not fit"))
    }

    /// Returns the file with these boxes added.
    fn with_boxes(&self, wanted: &[PlannedBox]) -> Result<(Vec<u8>, Boxes), EditRefusal> {
        let rows = self.box_rows();
        let missing: Vec<&PlannedBox> = wanted
            .iter()
            .filter(|wanted| wanted.position != RowPosition::Exists)
            .collect();
        if let Some(done) = self.try_with(&rows, &missing) {
            return Ok(done);
        }
        let alone = missing
            .iter()
            .take(MAX_TRIED)
            .find(|wanted| self.try_with(&rows, &[wanted]).is_none());
        let cause = alone.and_then(|wanted| Some((&wanted.key, rows.get(wanted.beside)?.line)));
        Err(cause.map_or_else(
            || does_not_fit("The lines do not fit"),
            |(key, line)| {
                does_not_fit(&format!(
                    "A line for {key} does not fit next to the task on line {line}"
                ))
            },
        ))
    }

    fn try_with(&self, rows: &[Row], missing: &[&PlannedBox]) -> Option<(Vec<u8>, Boxes)> {
        let mut added = missing
            .iter()
            .map(|wanted| self.plan_addition(wanted))
            .collect::<Option<Vec<_>>>()?;
        // At one offset, the end of a deeper list comes first, and the beginning of the next task comes last.
        added.sort_by_key(|added| (added.offset, added.leads, Reverse(added.column)));
        let texts = added
            .iter()
            .map(|added| (added.offset, &*added.text, &*added.end));
        let expected: HashMap<&TaskKey, &Row> = missing
            .iter()
            .filter_map(|wanted| Some((&wanted.key, rows.get(wanted.beside)?)))
            .collect();
        let (file, new) = self.with_added(rows, texts, |key| expected.contains_key(key))?;
        let optional: HashSet<&str> = rows
            .iter()
            .filter(|row| row.optional && row.key.stage == Stage::Implementation)
            .map(|row| row.key.family.as_str())
            .collect();
        let sound = new.len() == missing.len()
            && new.iter().all(|row| {
                let beside = expected.get(&row.key);
                let alone = row.key.stage == Stage::Final || row.key.is_wider_gate();
                let fits = if alone {
                    row.parent.is_none()
                } else {
                    beside.is_some_and(|beside| row.parent == beside.parent)
                };
                let same_group = beside.is_some_and(|beside| beside.group == row.group);
                fits && same_group
                    && row.mark.is_open()
                    && row.optional == optional.contains(row.key.family.as_str())
            });
        let inserted = new.into_iter().map(|row| (row.key, row.line)).collect();
        sound.then_some((file.bytes, inserted))
    }

    /// Returns the file with these lines added, and the rows of the new boxes; `None` if other lines are read
    /// differently.
    pub(super) fn with_added<'a>(
        &self,
        rows: &[Row],
        lines: impl IntoIterator<Item = (usize, &'a [u8], &'a [u8])>,
        is_new: impl Fn(&TaskKey) -> bool,
    ) -> Option<(Self, Vec<Row>)> {
        let file = Self::parse(with_lines(&self.bytes, lines), &self.grammar);
        let (new, rest): (Vec<Row>, Vec<Row>) = file
            .box_rows()
            .into_iter()
            .partition(|row| is_new(&row.key));
        self.reads_the_same(&file, rows, &rest)
            .then_some((file, new))
    }

    /// True if these rows and everything that is not a task are the same.
    fn reads_the_same(&self, after: &Self, then: &[Row], now: &[Row]) -> bool {
        then.len() == now.len()
            && now.iter().zip(then).all(|(now, then)| {
                Row {
                    line: then.line,
                    ..now.clone()
                } == *then
            })
            && self.skipped_parts() == after.skipped_parts()
            && after.find_problems().len() <= self.find_problems().len()
    }

    /// Returns the offset and the line of a wanted box.
    fn plan_addition(&self, wanted: &PlannedBox) -> Option<Addition> {
        let mut task = self.tasks.get(wanted.beside)?;
        while let Some(holder) = task
            .found
            .enclosing
            .filter(|_| wanted.position == RowPosition::End)
        {
            task = self.tasks.get(holder as usize)?;
        }
        let own = self.read_line(task.found.line)?;
        let form = read_form(own.text)?;
        let leads = wanted.position == RowPosition::Before;
        let model = if leads {
            own.line
        } else {
            self.read_line(task.found.last)?.line
        };
        let offset = if leads { model.start } else { model.next };
        let end = self.bytes.get(model.end..model.next)?.to_vec();
        Some(Addition {
            offset,
            leads,
            column: form.column,
            text: form.box_line(&wanted.key),
            end,
        })
    }
}

fn does_not_fit(what: &str) -> EditRefusal {
    let hint = "write the line by hand, or give the list a simpler form";
    EditRefusal::new(
        Refused::DoesNotFit,
        format!("{what}: other lines would be read differently."),
        hint,
    )
}

/// A line to insert.
struct Addition {
    /// Offset of the line before which it goes, or the length of the file for its end.
    offset: usize,
    /// True if it belongs to the text after it.
    leads: bool,
    column: u32,
    text: Vec<u8>,
    /// The line end of the line that it follows (or leads). Empty if that line has none.
    end: Vec<u8>,
}

/// The form of the list item on a line: indentation, bullet, gap.
struct Form {
    column: u32,
    prefix: Vec<u8>,
}

impl Form {
    /// Returns the line of a box in this form, without line end.
    fn box_line(&self, key: &TaskKey) -> Vec<u8> {
        [
            &self.prefix,
            b"[ ] ".as_slice(),
            key.written_id().as_bytes(),
        ]
        .concat()
    }
}

/// Returns the form of the item that a line begins.
///
/// Of several items on one line (`- - [ ] a`) it is that of the innermost, which is alone on a line of its own
/// after as much white space.
fn read_form(text: &[u8]) -> Option<Form> {
    let item = read_item(text)?;
    let mut prefix = text.get(..item.content)?.to_vec();
    let bullet_end = prefix.trim_ascii_end().len();
    let bullet = prefix
        .get(..bullet_end)?
        .iter()
        .rposition(|byte| is_blank(*byte))
        .map_or(0, |blank| blank + 1);
    for byte in prefix
        .iter_mut()
        .take(bullet)
        .filter(|byte| !is_blank(**byte))
    {
        *byte = b' ';
    }
    Some(Form {
        column: item.column,
        prefix,
    })
}
