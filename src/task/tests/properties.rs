//! Properties of every file.

use crate::task::exclude::excluded_parts;
use crate::task::scan::scan_lines;
use crate::task::{Grammar, Mark, Row, TaskFile, TaskKey, reconcile_files, with_marks};
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Pieces of task files and of their usual mistakes.
const PIECES: &[&str] = &[
    "- [ ] ",
    "- [x] ",
    "- [X] ",
    "- [-] ",
    "- [\t] ",
    "- [✅] ",
    "* [ ]* ",
    "1. [x]\\* ",
    "- - [ ] ",
    "- [P] ",
    "- ",
    "1. ",
    "1.1 ",
    "1.",
    "2.",
    "2.PITEST ",
    "2.TEST-FIRST ",
    "2.1 ",
    "2.1.PITEST ",
    "3.INTEG ",
    "FINAL ",
    "G1.PITEST ",
    "T001 ",
    "**T002** ",
    "[3.1] ",
    "~~4~~ ",
    "5\\. ",
    "7* ",
    "A-1 ",
    "# ",
    "## 2. H",
    "---\n",
    "===\n",
    "```\n",
    "~~~\n",
    "<!-- ",
    "-->",
    "<div>\n",
    "</div>\n",
    "> ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "a",
    "b c",
    "é",
    "[a]: /u\n",
    "| [ ] |",
    "`",
    "*",
    "_",
    "\\",
    "[",
    "]",
    "<a",
    "<?",
    "<script>",
    "\u{b}",
    "\0",
    "checkpoint",
];

pub(super) fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        20 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Generates files that are mostly lists of tasks.
pub(super) fn plan() -> impl Strategy<Value = Vec<u8>> {
    let line = (0..4_usize, 0..6_usize, 0..12_usize, "[a-c]{0,2}");
    proptest::collection::vec(line, 0..14).prop_map(|lines| {
        let line = |(indent, mark, id, text): (usize, usize, usize, String)| {
            let mark = ["[ ]", "[x]", "[X]", "[-]", "[ ]*", "-"][mark];
            let id = [
                "1.",
                "2.",
                "1.1",
                "2.1",
                "3.",
                "2.PITEST",
                "2.TEST-FIRST",
                "9.",
                "9.1",
                "",
                "FINAL",
                "8.INTEG",
            ][id];
            format!("{}- {mark} {id} {text}\n", " ".repeat([0, 0, 2, 4][indent]))
        };
        lines.into_iter().map(line).collect::<String>().into_bytes()
    })
}

/// Generates lists at all depths with fences and comments between.
pub(super) fn fenced() -> impl Strategy<Value = Vec<u8>> {
    const LINES: &[&str] = &[
        "- [ ] a",
        "- [ ] a",
        "- [ ] b c",
        "- [ ]",
        "- b",
        "1. [ ] a",
        "2. [ ] a",
        "* [-] a",
        "- - [ ] a",
        "-     [ ] a",
        "- [x]* a",
        "```",
        "~~~",
        "```sh",
        "<!--",
        "-->",
        "<!-- x -->",
        "a -->",
        "- [ ] a -->",
        "text ```",
        "",
        "",
        "text",
        "# H",
        "> - [ ] a",
        "> ```",
        "<div>",
        "<pre>",
        "---",
        "- ```",
        "[a]: /u",
        "- [ ] ```",
        "- [ ] <!--",
        "===",
        "    ",
    ];
    let line = (0..8_usize, proptest::sample::select(LINES));
    proptest::collection::vec(line, 0..30).prop_map(|lines| {
        let line = |(indent, text): (usize, &str)| {
            format!("{}{text}\n", " ".repeat([0, 0, 0, 1, 2, 3, 4, 6][indent]))
        };
        lines.into_iter().map(line).collect::<String>().into_bytes()
    })
}

fn parse(bytes: &[u8]) -> TaskFile {
    TaskFile::parse(bytes, &Grammar::default())
}

fn unique(rows: &[Row]) -> Vec<&TaskKey> {
    let mut counts: HashMap<&TaskKey, u32> = HashMap::new();
    for row in rows {
        *counts.entry(&row.key).or_default() += 1;
    }
    rows.iter()
        .map(|row| &row.key)
        .filter(|key| counts[key] == 1)
        .collect()
}

/// Returns the offsets of pulldown-cmark's task markers, outside block quotes and front matter.
fn markers(text: &str) -> Vec<usize> {
    let mut quotes = 0;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::TaskListMarker(_) if quotes == 0 => found.push(range.end - 2),
            _ => {}
        }
    }
    found
}

/// Returns the fences and comments that pulldown-cmark finds in the text itself.
fn hidden(text: &str) -> Vec<Range<usize>> {
    let is_hidden = |event: &Event<'_>, range: &Range<usize>| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => true,
        Event::Start(Tag::HtmlBlock) => text[range.clone()].trim_start().starts_with("<!--"),
        _ => false,
    };
    let events = Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter();
    events
        .filter(|(event, range)| is_hidden(event, range))
        .map(|(_, range)| range)
        .collect()
}

fn is_subsequence(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|other| other == byte))
}

proptest! {
    #[test]
    fn any_bytes_are_read_and_every_reading_of_them_ends(bytes in file()) {
        let file = parse(&bytes);
        prop_assert_eq!(file.file_bytes(), &bytes);
        prop_assert_eq!(file.box_rows().len(), file.len());
        let lines = u32::try_from(bytes.len() + 1).unwrap();
        prop_assert!(file.box_rows().iter().all(|row| row.line >= 1 && row.line <= lines));
        let clear = |text: &str| text.chars().all(|c| !c.is_control());
        prop_assert!(file.find_problems().iter().all(|p| clear(&p.message) && clear(&p.hint) && p.line <= lines));
        prop_assert!(file.find_remarks().iter().all(|r| clear(&r.message) && clear(&r.hint) && r.line <= lines));
        prop_assert!(file.box_rows().iter().all(|row| clear(&row.text) && row.text.len() <= 500));
    }

    #[test]
    fn a_file_without_problems_has_one_box_for_each_key(bytes in plan()) {
        let file = parse(&bytes);
        let rows = file.box_rows();
        if file.find_problems().is_empty() {
            prop_assert_eq!(unique(&rows).len(), rows.len());
        }
    }

    #[test]
    fn what_markdown_takes_for_a_task_is_one(bytes in file()) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let text = text.trim_start_matches('\u{feff}');
        prop_assume!(!text.starts_with("---"));
        // A box without a text begins a paragraph only with some marks. ralph reads every box as an open one.
        let text = String::from_utf8(parse(text.as_bytes()).with_open(|_| true)).unwrap();
        let ours: HashSet<usize> = parse(text.as_bytes()).mark_offsets().collect();
        for at in markers(&text) {
            prop_assert!(ours.contains(&at), "marker at {at} of {text:?}");
        }
    }

    #[test]
    fn what_is_left_out_is_what_markdown_says(bytes in prop_oneof![file(), fenced()]) {
        let text: String = bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { 'a' }).collect();
        prop_assume!(!text.starts_with("---"));
        let text = String::from_utf8(parse(text.as_bytes()).with_open(|_| true)).unwrap();
        let ours = excluded_parts(text.as_bytes());
        let theirs = hidden(&text);
        for line in scan_lines(text.as_bytes(), 0) {
            let in_ours = ours.iter().any(|part| part.range.contains(&line.start));
            let in_theirs = theirs.iter().any(|part| part.contains(&line.start));
            prop_assert_eq!(in_ours, in_theirs, "line at {} of {:?}", line.start, text);
        }
    }

    #[test]
    fn parents_exist_and_nobody_is_an_ancestor_of_itself(bytes in plan()) {
        let rows = parse(&bytes).box_rows();
        let parents: HashMap<&str, Option<&str>> =
            rows.iter().map(|row| (row.key.family.as_str(), row.parent.as_deref())).collect();
        for row in &rows {
            let mut above = row.parent.as_deref();
            for _ in 0..=rows.len() {
                prop_assert!(above != Some(&row.key.family));
                above = above.and_then(|family| parents[family]);
            }
            prop_assert!(above.is_none());
        }
    }

    #[test]
    fn a_flip_changes_one_byte_and_a_second_none(bytes in prop_oneof![file(), plan()], pick in any::<prop::sample::Index>()) {
        let file = parse(&bytes);
        let rows = file.box_rows();
        let keys = unique(&rows);
        if keys.is_empty() {
            return Ok(());
        }
        let key = keys[pick.index(keys.len())];
        let at = rows.iter().position(|row| row.key == *key).unwrap();
        let to = if rows[at].mark.is_done() { Mark::OPEN } else { Mark::DONE };
        let Ok(flip) = file.flip_box(key, to) else {
            prop_assert!(!rows[at].mark.0.is_ascii());
            return Ok(());
        };
        let after = flip.unwrap().apply_to(&bytes).unwrap();
        prop_assert_eq!(after.len(), bytes.len());
        prop_assert_eq!(after.iter().zip(&bytes).filter(|(new, old)| new != old).count(), 1);
        let read = parse(&after);
        let mut expected = rows.clone();
        expected[at].mark = read.box_rows()[at].mark;
        prop_assert_eq!(expected[at].mark.is_done(), to.is_done());
        prop_assert_eq!(read.box_rows(), expected);
        prop_assert_eq!(read.flip_box(key, to), Ok(None));
        let back = read.flip_box(key, rows[at].mark).unwrap().unwrap().apply_to(&after).unwrap();
        if rows[at].mark != Mark::DONE || !back.contains(&b'X') {
            prop_assert_eq!(back, bytes);
        }
    }

    #[test]
    fn the_text_without_marks_and_the_rows_give_the_bytes_back(bytes in prop_oneof![file(), plan()]) {
        let file = parse(&bytes);
        let skeleton = file.text_without_marks();
        prop_assert_eq!(with_marks(&skeleton, &file.box_rows()), Some(bytes));
        prop_assert_eq!(parse(&skeleton).text_without_marks(), skeleton);
    }

    #[test]
    fn of_flips_alone_nothing_remains(bytes in prop_oneof![file(), plan()], marks in proptest::collection::vec(0..5_usize, 1..20)) {
        let file = parse(&bytes);
        let mut after = bytes.clone();
        let rows = file.box_rows();
        for ((at, row), mark) in file.mark_offsets().zip(&rows).zip(marks.iter().cycle()) {
            if row.mark.0.is_ascii() {
                after[at] = b" xX-~"[*mark];
            }
        }
        let result = reconcile_files(&bytes, &after, &Grammar::default());
        prop_assert_eq!(&result.bytes, &bytes);
        prop_assert!(result.added.is_empty());
        let changed = parse(&after).box_rows();
        let state = |mark: Mark| if mark.is_open() { ' ' } else if mark.is_done() { 'x' } else { mark.0 };
        let keys = unique(&rows);
        let flipped = rows.iter().zip(&changed).filter(|(old, _)| keys.contains(&&old.key));
        let expected = flipped.filter(|(old, new)| state(old.mark) != state(new.mark)).count();
        prop_assert_eq!(result.claims.len(), expected);
    }

    #[test]
    fn whatever_an_agent_writes_the_file_before_stays_whole(
        before in prop_oneof![file(), plan()],
        after in prop_oneof![file(), plan()],
    ) {
        check(&before, &after)?;
    }

    #[test]
    fn whatever_an_agent_changes_in_a_plan_the_plan_stays_whole(
        before in plan(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), plan()), 1..4),
    ) {
        let mut after = before.clone();
        for (place, added) in cuts {
            let ends: Vec<usize> = std::iter::once(0)
                .chain(after.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1))
                .collect();
            let at = ends[place.index(ends.len())];
            after.splice(at..at, added);
        }
        check(&before, &after)?;
    }
}

fn check(before: &[u8], after: &[u8]) -> Result<(), TestCaseError> {
    let grammar = Grammar::default();
    let result = reconcile_files(before, after, &grammar);
    let (old, new) = (parse(before), parse(&result.bytes));
    prop_assert!(is_subsequence(before, &result.bytes));
    let is_added = |line: u32| {
        result
            .added
            .iter()
            .any(|text| line_is(&result.bytes, line, text))
    };
    let (added, rest): (Vec<Row>, Vec<Row>) = new
        .box_rows()
        .into_iter()
        .partition(|row| is_added(row.line));
    prop_assert!(added.len() <= result.added.len());
    for row in &added {
        let is_own = |parent: &String| added.iter().any(|above| above.key.family == *parent);
        prop_assert!(
            row.mark.is_open() && row.parent.as_ref().is_none_or(is_own) && row.key.has_id()
        );
        prop_assert!(
            old.box_rows()
                .iter()
                .all(|old| old.key.family != row.key.family)
        );
    }
    prop_assert_eq!(rest.len(), old.len());
    for (now, then) in rest.iter().zip(old.box_rows()) {
        prop_assert_eq!(
            Row {
                line: then.line,
                ..now.clone()
            },
            then
        );
    }
    prop_assert_eq!(new.find_problems().len(), old.find_problems().len());
    let length: usize = result.added.iter().map(String::len).sum();
    let ends = result.bytes.len() - before.len() - length;
    prop_assert!(ends >= result.added.len() && ends <= 2 * result.added.len());
    // A second run changes nothing.
    prop_assert_eq!(
        reconcile_files(&result.bytes, &result.bytes, &grammar).bytes,
        result.bytes
    );
    Ok(())
}

fn line_is(bytes: &[u8], number: u32, text: &str) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let unified = String::from_utf8_lossy(bytes)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    unified.split('\n').nth(number as usize - 1) == Some(text)
}
