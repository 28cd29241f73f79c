//! Tests of the task file, by subject.

mod edits;
mod explaining;
mod inserting;
mod names;
mod odd;
mod planning;
mod properties;
mod reconciling;
mod reported;
mod requirements;
mod sections;
mod ticks;
mod tree;
mod under;
mod virtual_stages;

use super::{Grammar, Row, TaskFile, TaskKey};

fn parse(text: impl Into<Vec<u8>>) -> TaskFile {
    TaskFile::parse(text, &Grammar::default())
}

fn rows(text: impl Into<Vec<u8>>) -> Vec<Row> {
    parse(text).box_rows()
}

/// Returns the key of an id's box, written as in the file.
fn key(name: &str) -> TaskKey {
    let (family, word) = match name {
        "FINAL" => ("FINAL", "FINAL"),
        _ => name
            .strip_suffix('.')
            .map_or_else(|| name.rsplit_once('.').unwrap(), |id| (id, "IMPLEMENT")),
    };
    TaskKey {
        family: family.to_owned(),
        stage: word.to_owned().into(),
    }
}

/// Lists each row as `key mark`. A key without an id shows as `-`.
fn boxes(text: impl Into<Vec<u8>>) -> Vec<String> {
    let name = |row: &Row| {
        if row.key.has_id() {
            row.key.written_id()
        } else {
            "-".to_owned()
        }
    };
    rows(text)
        .iter()
        .map(|row| format!("{} {:?}", name(row), row.mark.0))
        .collect()
}
