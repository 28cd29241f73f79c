//! Gates and stages put into real task files, and taken away again.

use super::corpus;
use ralph::task::{Grammar, Placement, Row, Staged, Surgery, SurgeryError, TaskFile, TaskKey};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Default, Debug, Clone, Copy)]
struct Count {
    files: usize,
    placed: usize,
    lines: usize,
    staged: usize,
    stage_lines: usize,
    refused: usize,
}

const THREADS: usize = 4;

#[test]
fn every_real_task_file_takes_every_placement_and_gives_the_bytes_of_the_start_back() {
    let folder = match corpus() {
        Ok(folder) => folder,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let entries = fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    paths.sort();
    let work = |first: usize| {
        let mut count = Count::default();
        for path in paths.iter().skip(first).step_by(THREADS) {
            check(path, &fs_err::read(path).unwrap(), &mut count);
        }
        count
    };
    let count = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || work(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(Count::default(), |a, b| Count {
            files: a.files + b.files,
            placed: a.placed + b.placed,
            lines: a.lines + b.lines,
            staged: a.staged + b.staged,
            stage_lines: a.stage_lines + b.stage_lines,
            refused: a.refused + b.refused,
        })
    });
    eprintln!("{count:?}");
    assert!(count.files > 0, "{} holds no files", folder.display());
    assert!(count.lines > count.files && count.stage_lines > count.files);
    assert_eq!(count.refused, 0);
}

fn parse(bytes: &[u8]) -> TaskFile {
    TaskFile::parse(bytes, &Grammar::default())
}

fn check(path: &Path, bytes: &[u8], count: &mut Count) {
    let name = path.display();
    let file = parse(bytes);
    assert_eq!(file.placed("PITEST", &Placement::None).unwrap().bytes, bytes, "{name}: has gates of its own");
    count.files += 1;
    let rows = file.rows();
    let implementations = rows.iter().filter(|row| row.key.stage.word() == "IMPLEMENT" && row.key.has_id());
    let every_other = implementations.step_by(2).map(|row| row.key.family.clone()).collect();
    for placement in [Placement::Each, Placement::After(every_other), Placement::Groups, Placement::End] {
        let there = match file.placed("PITEST", &placement) {
            Ok(there) => there,
            Err(error @ SurgeryError::DoesNotFit { .. }) => {
                eprintln!("{name}: {placement:?}: {error}");
                count.refused += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        count.placed += 1;
        count.lines += there.inserted.len();
        let read = others_are_the_same(path, &rows, &there);
        assert_eq!(read.placed("PITEST", &placement).unwrap().bytes, there.bytes, "{name}: twice");
        let back = read.placed("PITEST", &Placement::None).unwrap();
        assert_eq!(back.bytes, bytes, "{name}: {placement:?} and back");
    }
    let gates = [("PITEST".to_owned(), Placement::Each)];
    match file.staged(Staged::Plain, &gates) {
        Ok(there) => {
            count.staged += 1;
            count.stage_lines += there.inserted.len();
            let read = others_are_the_same(path, &rows, &there);
            assert_eq!(
                read.staged(Staged::Plain, &gates).unwrap().bytes,
                there.bytes,
                "{name}: staged twice"
            );
        }
        Err(error) => {
            eprintln!("{name}: stage: {error}");
            count.refused += 1;
        }
    }
}

fn others_are_the_same(path: &Path, before: &[Row], after: &Surgery) -> TaskFile {
    let read = parse(&after.bytes);
    let new: HashSet<&TaskKey> = after.inserted.iter().map(|(key, _)| key).collect();
    let rest: Vec<Row> = read.rows().into_iter().filter(|row| !new.contains(&row.key)).collect();
    assert_eq!(rest.len(), before.len(), "{}", path.display());
    for (now, then) in rest.iter().zip(before) {
        assert_eq!(Row { line: then.line, ..now.clone() }, *then, "{}", path.display());
    }
    read
}
