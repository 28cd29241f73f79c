//! Remarks on unusual lines of a task file that a run accepts.
//!
//! Above all they name lines that a reader takes for a task and ralph does not, and the reverse.

mod relations;

use super::exclude::{Excluded, list_items};
use super::file::{ReadLine, TaskFile};
use super::grammar::{NoName, leading_id, read_head};
use super::meaning::says_optional;
use super::odd_line::{has_box, odd_line};
use super::outline::heading_title;
use super::remark_kind::{Remark, RemarkKind};
use super::row::Mark;
use super::scan::{ReadAs, clean_line, read_box};
use super::sections::HeadingsAbove;
use crate::source::text::count;
use std::collections::{BTreeMap, HashSet};

impl TaskFile {
    /// Returns the remarks on this file, by line.
    pub fn find_remarks(&self) -> Vec<Remark> {
        let pass = self.pass_over_lines(&list_items(&self.bytes, &self.excluded));
        let mut remarks = pass.remarks;
        self.whole_file(&mut remarks);
        for ((kind, run), (first, found)) in pass.runs {
            let what = match kind {
                RemarkKind::HeadingWithoutBox => "heading",
                RemarkKind::BoxSymbol => "line",
                _ => "box",
            };
            let mark = u32::try_from(run)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or(' ')
                .escape_debug();
            remarks.push(Remark::new(
                first,
                kind,
                &[&count(found.into(), what), &mark.to_string()],
            ));
        }
        relations::add_remarks(self, &mut remarks);
        self.remark_needs(&mut remarks);
        self.remark_headings(&mut remarks);
        self.remark_waves(&mut remarks);
        remarks.sort_by_key(|remark| (remark.line, remark.kind));
        remarks
    }

    /// Returns lines that look like open tasks, and unclosed parts that hide open boxes.
    ///
    /// A run that ignored them would report unfinished work as done.
    pub fn unread_lines(&self) -> Vec<Remark> {
        let mut unread = self.pass_over_lines(&HashSet::new()).unread;
        unread.extend(
            self.excluded
                .iter()
                .filter(|part| {
                    let hidden = self
                        .read_lines()
                        .filter(|line| part.range.contains(&line.line.start));
                    !part.closed
                        && hidden
                            .filter_map(|line| read_box(line.text))
                            .any(|(found, _)| Mark(found.mark).is_open())
                })
                .map(|part| self.without_end(part)),
        );
        unread.sort_by_key(|remark| remark.line);
        unread
    }

    /// Reads the lines. `items` are the offsets of those that other tools read as list items.
    fn pass_over_lines(&self, items: &HashSet<usize>) -> RemarkPass {
        let mut pass = RemarkPass::default();
        for line in self.read_lines() {
            pass.remark_line(self, &line, items.contains(&line.line.start));
        }
        pass.end_heading(u8::MIN);
        pass
    }

    /// Reports a part that is open to the end of the file.
    fn without_end(&self, part: &Excluded) -> Remark {
        let line = self.line_at(part.range.start);
        let is_comment = part.read == ReadAs::Comment;
        let kind = if is_comment {
            RemarkKind::UnclosedComment
        } else {
            RemarkKind::UnclosedFence
        };
        Remark::new(line, kind, &[])
    }

    fn whole_file(&self, remarks: &mut Vec<Remark>) {
        if self.is_empty() {
            remarks.push(match self.bytes.as_slice() {
                [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
                    Remark::new(1, RemarkKind::NotUtf8, &["UTF-32"])
                }
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                    Remark::new(1, RemarkKind::NotUtf8, &["UTF-16"])
                }
                _ if self.left_out.is_empty() => Remark::new(1, RemarkKind::NoTasks, &[]),
                _ => Remark::new(1, RemarkKind::OnlyLeftOut, &[]),
            });
        }
        let open = self.excluded.iter().filter(|part| !part.closed);
        remarks.extend(open.map(|part| self.without_end(part)));
    }
}

/// The state of the pass over the lines.
#[derive(Default)]
struct RemarkPass {
    remarks: Vec<Remark>,
    /// Remarks on lines that look like open tasks.
    unread: Vec<Remark>,
    /// The headings above, which decide if the section has tasks.
    sections: HeadingsAbove,
    /// True if the line above has a box that does not begin a list item. Only the first of a series is reported.
    has_box_above: bool,
    /// Number of tasks so far that other tools also read as tasks.
    listed: usize,
    /// The heading of a task without a box so far: its line and level, and true if text follows.
    heading: Option<(u32, u8, bool)>,
    /// Boxes that share a remark, by kind and fence (or mark, or tasks above): the first line, and their number.
    runs: BTreeMap<(RemarkKind, usize), (u32, u32)>,
}

impl RemarkPass {
    fn remark_line(&mut self, file: &TaskFile, line: &ReadLine<'_>, is_listed: bool) {
        self.remark_heading(file, line);
        let kind = match line.read {
            ReadAs::Task(at) => {
                self.remark_task(file, line.number, at);
                self.listed += usize::from(is_listed);
                (!is_listed)
                    .then(|| self.count_remark(RemarkKind::UnlistedBox, self.listed, line.number));
                None
            }
            ReadAs::Fence | ReadAs::Command => {
                let kind = if line.read == ReadAs::Fence {
                    RemarkKind::BoxInFence
                } else {
                    RemarkKind::BoxInCommand
                };
                let at = file
                    .excluded
                    .partition_point(|part| part.range.end <= line.line.start);
                let is_closed = file.excluded.get(at).is_some_and(|part| part.closed);
                (is_closed && line.has_box()).then(|| self.count_remark(kind, at, line.number));
                None
            }
            ReadAs::FrontMatter => line.has_box().then_some(RemarkKind::BoxInFrontMatter),
            ReadAs::Heading(_) | ReadAs::Text => self.odd_line(file, line),
            ReadAs::Comment | ReadAs::LeftOut(_) | ReadAs::Blank => None,
        };
        let has_box = kind == Some(RemarkKind::BoxWithoutBullet);
        if let Some(kind) = kind.filter(|_| !(has_box && self.has_box_above)) {
            self.remarks.push(Remark::new(line.number, kind, &[]));
        }
        self.has_box_above = has_box;
    }

    /// Checks a line of text. Sections without tasks may hold anything.
    fn odd_line(&mut self, file: &TaskFile, line: &ReadLine<'_>) -> Option<RemarkKind> {
        let found = odd_line(line.text, &file.grammar)?;
        if self.sections.left_out(&file.grammar.sections).is_some() {
            return None;
        }
        let symbol = found.symbol.unwrap_or(' ');
        if found.is_open {
            self.unread.push(Remark::new(
                line.number,
                found.kind,
                &["1 line", &symbol.to_string()],
            ));
        }
        if found.kind == RemarkKind::BoxSymbol {
            self.count_remark(found.kind, symbol as usize, line.number);
            return None;
        }
        Some(found.kind)
    }

    fn count_remark(&mut self, kind: RemarkKind, run: usize, line: u32) {
        self.runs.entry((kind, run)).or_insert((line, 0)).1 += 1;
    }

    /// Notes a heading. A heading named like a task is reported if no box is below it.
    fn remark_heading(&mut self, file: &TaskFile, line: &ReadLine<'_>) {
        match line.read {
            ReadAs::Heading(at) => {
                let Some((level, text)) = file.heading_words(at) else {
                    return;
                };
                self.end_heading(level);
                if let Some(heading) = file.headings.get(at) {
                    let title = heading_title(&file.bytes, heading, &file.grammar);
                    self.sections
                        .enter_heading(level, 0, &title, &file.grammar.sections);
                }
                let bare = text.trim_start_matches(['*', '_', '~']);
                if bare.starts_with("Task ") && leading_id(bare.as_bytes(), &file.grammar).is_some()
                {
                    self.heading = Some((line.number, level, false));
                }
            }
            ReadAs::Task(_) | ReadAs::LeftOut(_) => self.heading = None,
            ReadAs::Blank => {}
            _ => self.heading = self.heading.map(|(at, level, _)| (at, level, true)),
        }
    }

    fn end_heading(&mut self, level: u8) {
        if let Some((at, _, has_text)) = self.heading.take_if(|(_, own, _)| level <= *own)
            && has_text
        {
            self.count_remark(RemarkKind::HeadingWithoutBox, 0, at);
        }
    }

    fn remark_task(&mut self, file: &TaskFile, line: u32, at: usize) {
        let Some(task) = file.tasks.get(at) else {
            return;
        };
        let mark = Mark(task.found.mark);
        let text = file.bytes.get(task.found.text.clone()).unwrap_or_default();
        if !mark.is_open() && !mark.is_done() {
            self.count_remark(RemarkKind::UnknownMark, mark.0 as usize, line);
        }
        if has_box(text) {
            self.remarks
                .push(Remark::new(line, RemarkKind::TwoBoxes, &[]));
        }
        if mark.is_open() && task.is_implementation() {
            let words = String::from_utf8_lossy(task.task_words(&file.bytes));
            let advice = if task.struck {
                Some((RemarkKind::StruckOut, "[x]"))
            } else if !task.optional && says_optional(&words) {
                Some((RemarkKind::OptionalInWords, "[ ]*"))
            } else {
                None
            };
            if let Some((kind, mark)) = advice {
                let line_text = format!("- {mark} {}", clean_line("", text));
                self.remarks.push(Remark::new(line, kind, &[&line_text]));
            }
        }
        let head = read_head(text, &file.grammar);
        if task.shown_id().is_none() && matches!(head, Err(NoName::UnknownStage { .. })) {
            self.remarks
                .push(Remark::new(line, RemarkKind::UnknownStage, &[]));
        }
    }
}
