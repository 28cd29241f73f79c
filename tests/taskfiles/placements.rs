//! Gates and stages inserted into task files, and removed again.

use super::files::in_parallel;
use ralph::task::{Grammar, LinesEdited, Placement, Row, TaskFile, TaskKey, TaskSelection};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Number of inserted lines.
#[derive(Default)]
struct Count {
    gates: usize,
    stages: usize,
}

/// Inserts gates and stages into each of these files in every way, and removes them.
pub(crate) fn are_taken_away_to_the_byte(paths: &[PathBuf]) {
    let counts = in_parallel(paths, check);
    let gates: usize = counts.iter().map(|count| count.gates).sum();
    let stages: usize = counts.iter().map(|count| count.stages).sum();
    assert!(
        gates > paths.len() && stages > paths.len(),
        "{gates} gates and {stages} stages were put in"
    );
}

fn parse(bytes: &[u8]) -> TaskFile {
    TaskFile::parse(bytes, &Grammar::default())
}

fn check(path: &Path, bytes: &[u8]) -> Count {
    let mut count = Count::default();
    let name = path.display();
    let file = parse(bytes);
    assert_eq!(
        file.place_gates("PITEST", &Placement::None, false)
            .unwrap()
            .bytes,
        bytes,
        "{name}: has gates of its own"
    );
    let rows = file.box_rows();
    let implementations = rows
        .iter()
        .filter(|row| row.key.stage.stage_word() == "IMPLEMENT" && row.key.has_id());
    let every_other = implementations
        .step_by(2)
        .map(|row| row.key.family.clone())
        .collect();
    for placement in [
        Placement::Each,
        Placement::Tested,
        Placement::After(every_other),
        Placement::Groups,
        Placement::End,
    ] {
        let there = file
            .place_gates("PITEST", &placement, false)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        count.gates += there.inserted.len();
        let read = others_are_the_same(path, &rows, &there);
        assert_eq!(
            read.place_gates("PITEST", &placement, false).unwrap().bytes,
            there.bytes,
            "{name}: twice"
        );
        let back = read.place_gates("PITEST", &Placement::None, false).unwrap();
        assert_eq!(back.bytes, bytes, "{name}: {placement:?} and back");
    }
    let gates = [("PITEST".to_owned(), Placement::Each)];
    let there = file
        .add_stages(TaskSelection::Plain, &gates, |_| true)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    count.stages += there.inserted.len();
    let read = others_are_the_same(path, &rows, &there);
    assert_eq!(
        read.add_stages(TaskSelection::Plain, &gates, |_| true)
            .unwrap()
            .bytes,
        there.bytes,
        "{name}: staged twice"
    );
    count
}

fn others_are_the_same(path: &Path, before: &[Row], after: &LinesEdited) -> TaskFile {
    let read = parse(&after.bytes);
    let new: HashSet<&TaskKey> = after.inserted.iter().map(|(key, _)| key).collect();
    let rest: Vec<Row> = read
        .box_rows()
        .into_iter()
        .filter(|row| !new.contains(&row.key))
        .collect();
    assert_eq!(rest.len(), before.len(), "{}", path.display());
    for (now, then) in rest.iter().zip(before) {
        assert_eq!(
            Row {
                line: then.line,
                ..now.clone()
            },
            *then,
            "{}",
            path.display()
        );
    }
    read
}
