//! Task files as people write them: the corpus of real ones.
//!
//! The folder lies outside the crate. `RALPH_CORPUS` names it; without that variable it is looked for
//! beside the crate, and where there is none the test says so and shows nothing.

mod dialects;
mod place;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use ralph::task::{Edit, Flip, Grammar, Mark, Row, TaskFile, reconcile, with_marks};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The folder of the corpus, or why there is none.
pub(crate) fn corpus() -> Result<PathBuf, String> {
    let named = std::env::var_os("RALPH_CORPUS").map(PathBuf::from);
    let is_named = named.is_some();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/taskfiles");
    let folder = named.unwrap_or(beside);
    if folder.is_dir() {
        return Ok(folder);
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!(in_ci && is_named), "RALPH_CORPUS is set, but {} is no folder", folder.display());
    Err(format!("{} is no folder; set RALPH_CORPUS to one of task files", folder.display()))
}

/// Reading each file once for each box and direction takes a while in an unoptimised build.
const THREADS: usize = 4;

#[derive(Default, Debug, Clone, Copy)]
struct Count {
    files: usize,
    tasks: usize,
    flips: usize,
    wide_marks: usize,
    markers: usize,
    problems: usize,
    remarks: usize,
}

impl Count {
    fn sum(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            tasks: self.tasks + other.tasks,
            flips: self.flips + other.flips,
            wide_marks: self.wide_marks + other.wide_marks,
            markers: self.markers + other.markers,
            problems: self.problems + other.problems,
            remarks: self.remarks + other.remarks,
        }
    }
}

#[test]
fn every_real_task_file_is_read_flipped_and_restored() {
    let folder = match corpus() {
        Ok(folder) => folder,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let mut paths: Vec<PathBuf> =
        fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let count = std::thread::scope(|scope| {
        let work = |first: usize| {
            let mut count = Count::default();
            for path in paths.iter().skip(first).step_by(THREADS).filter(|path| path.is_file()) {
                check(path, &fs_err::read(path).unwrap(), &mut count);
            }
            count
        };
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || work(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(Count::default(), Count::sum)
    });
    eprintln!("{count:?}");
    assert!(count.files > 0, "{} holds no files", folder.display());
    assert!(count.markers > 0 && count.tasks >= count.markers);
    assert_eq!(count.flips + count.wide_marks, count.tasks);
}

fn check(path: &Path, bytes: &[u8], count: &mut Count) {
    let grammar = Grammar::default();
    let file = TaskFile::parse(bytes, &grammar);
    let rows = file.rows();
    count.files += 1;
    count.tasks += rows.len();
    count.problems += file.problems().len();
    count.remarks += file.remarks().len();
    let offsets: HashSet<usize> = file.mark_offsets().collect();
    for marker in markers(bytes) {
        count.markers += 1;
        assert!(offsets.contains(&marker), "{}: the task at byte {marker} is missed", path.display());
    }
    assert_eq!(with_marks(&file.skeleton(), &rows, &grammar).as_deref(), Ok(bytes), "{}", path.display());
    let mut all_flipped = bytes.to_vec();
    for row in &rows {
        if !row.mark.0.is_ascii() {
            count.wide_marks += 1;
            continue;
        }
        // A stage that stands twice has no key of its own; such files are refused.
        let to = if row.mark.is_done() { Mark::OPEN } else { Mark::DONE };
        let flip = file.flip(&row.key, to).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let Flip::Change(edit) = flip else { panic!("{}:{}: nothing to flip", path.display(), row.line) };
        let after = edit.apply(bytes).unwrap();
        let back = Edit { expected: edit.replacement, replacement: edit.expected, ..edit };
        assert_eq!(back.apply(&after).as_deref(), Ok(bytes), "{}:{}", path.display(), row.line);
        all_flipped[edit.offset] = edit.replacement;
        count.flips += 1;
    }
    let keys = |rows: Vec<Row>| rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(keys(TaskFile::parse(all_flipped.as_slice(), &grammar).rows()), keys(rows.clone()));
    let result = reconcile(bytes, &all_flipped, &grammar);
    assert_eq!(result.bytes, bytes, "{}", path.display());
    assert_eq!((result.added.len(), result.restored.len()), (0, 0), "{}", path.display());
    assert_eq!(result.claims.len(), rows.iter().filter(|row| row.mark.0.is_ascii()).count());
}

/// Offsets of the marks that pulldown-cmark takes for tasks, outside block quotes and front matter.
fn markers(bytes: &[u8]) -> Vec<usize> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
    let start = front_matter(text);
    let mut quotes = 0;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(&text[start..], Options::ENABLE_TASKLISTS).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::TaskListMarker(_) if quotes == 0 => found.push(start + range.end - 2),
            _ => {}
        }
    }
    found
}

/// Length of byte-order mark and front matter.
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
