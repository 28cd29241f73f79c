//! Every box of a task file, flipped and flipped back.

use super::files::in_parallel;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use ralph::task::{Edit, Grammar, Mark, Row, TaskFile, reconcile_files, with_marks};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Default, Clone, Copy)]
struct Count {
    tasks: usize,
    flips: usize,
    wide_marks: usize,
    markers: usize,
}

impl Count {
    fn sum(self, other: Self) -> Self {
        Self {
            tasks: self.tasks + other.tasks,
            flips: self.flips + other.flips,
            wide_marks: self.wide_marks + other.wide_marks,
            markers: self.markers + other.markers,
        }
    }
}

/// Reads each of these files, flips each box and all of them, and restores every byte.
pub(crate) fn are_read_flipped_and_restored(paths: &[PathBuf]) {
    let count = in_parallel(paths, check)
        .into_iter()
        .fold(Count::default(), Count::sum);
    assert!(count.markers > 0 && count.tasks >= count.markers);
    assert_eq!(count.flips + count.wide_marks, count.tasks);
}

fn check(path: &Path, bytes: &[u8]) -> Count {
    let mut count = Count::default();
    let grammar = Grammar::default();
    let file = TaskFile::parse(bytes, &grammar);
    let rows = file.box_rows();
    count.tasks += rows.len();
    let offsets: HashSet<usize> = file.mark_offsets().collect();
    for marker in markers(bytes) {
        count.markers += 1;
        assert!(
            offsets.contains(&marker),
            "{}: the task at byte {marker} is missed",
            path.display()
        );
    }
    assert_eq!(
        with_marks(&file.text_without_marks(), &rows).as_deref(),
        Some(bytes),
        "{}",
        path.display()
    );
    let mut all_flipped = bytes.to_vec();
    for row in &rows {
        if !row.mark.0.is_ascii() {
            count.wide_marks += 1;
            continue;
        }
        // A duplicate stage has no key of its own. Such files are refused.
        let to = if row.mark.is_done() {
            Mark::OPEN
        } else {
            Mark::DONE
        };
        let flip = file
            .flip_box(&row.key, to)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let Some(edit) = flip else {
            panic!("{}:{}: nothing to flip", path.display(), row.line)
        };
        let after = edit.apply_to(bytes).unwrap();
        let back = Edit {
            expected: edit.replacement,
            replacement: edit.expected,
            ..edit
        };
        assert_eq!(
            back.apply_to(&after).as_deref(),
            Some(bytes),
            "{}:{}",
            path.display(),
            row.line
        );
        all_flipped[edit.offset] = edit.replacement;
        count.flips += 1;
    }
    let keys = |rows: Vec<Row>| rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(
        keys(TaskFile::parse(all_flipped.as_slice(), &grammar).box_rows()),
        keys(rows.clone())
    );
    let result = reconcile_files(bytes, &all_flipped, &grammar);
    assert_eq!(result.bytes, bytes, "{}", path.display());
    assert!(result.added.is_empty(), "{}", path.display());
    assert_eq!(
        result.claims.len(),
        rows.iter().filter(|row| row.mark.0.is_ascii()).count()
    );
    count
}

/// Returns the offsets of pulldown-cmark's task markers, outside block quotes and front matter.
fn markers(bytes: &[u8]) -> Vec<usize> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Vec::new();
    };
    let start = front_matter(text);
    let mut quotes = 0;
    let mut found = Vec::new();
    for (event, range) in
        Parser::new_ext(&text[start..], Options::ENABLE_TASKLISTS).into_offset_iter()
    {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::TaskListMarker(_) if quotes == 0 => found.push(start + range.end - 2),
            _ => {}
        }
    }
    found
}

/// Returns the length of byte-order mark and front matter.
fn front_matter(text: &str) -> usize {
    let bom = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut at = bom;
    for (number, line) in text[bom..].split_inclusive('\n').enumerate() {
        let is_mark = line.trim_end_matches(['\r', '\n']) == "---";
        if number == 0 && !is_mark {
            return bom;
        }
        at += line.len();
        if number > 0 && is_mark {
            return at;
        }
    }
    bom
}
