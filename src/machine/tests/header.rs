//! Compares the header of `machine/mod.rs` on phases and ticks with the code.

use std::collections::BTreeSet;

const HEADER_OF: &str = include_str!("../mod.rs");

fn header() -> String {
    let lines: Vec<&str> = HEADER_OF
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    lines.join("\n")
}

/// The quoted words of a match with one word an arm, `Self::Variant => "word"`.
fn arms(source: &str, of: &str) -> BTreeSet<String> {
    let body = source.split_once(of).unwrap().1;
    let body = &body[..body.find("\n    }\n").unwrap()];
    let word = |line: &str| Some(line.split_once("=> \"")?.1.split_once('"')?.0.to_owned());
    body.lines().filter_map(word).collect()
}

#[test]
fn the_diagram_shows_every_phase_and_nothing_else_as_one() {
    let header = header();
    let diagram = header
        .split("```")
        .nth(1)
        .unwrap()
        .strip_prefix("text")
        .unwrap();
    let words = diagram
        .split(|c: char| !c.is_ascii_alphabetic() && c != '-')
        .filter(|word| !word.is_empty())
        .map(str::to_owned);
    let (events, phases): (BTreeSet<String>, BTreeSet<String>) =
        words.partition(|word| word.starts_with(char::is_uppercase));
    assert_eq!(phases, arms(HEADER_OF, "impl Phase {"));
    let vocabulary = include_str!("../event.rs");
    for event in events {
        let is_known = [" {\n", ",\n", "("]
            .iter()
            .any(|end| vocabulary.contains(&format!("\n    {event}{end}")));
        assert!(is_known, "{event} is no event");
    }
}

#[test]
fn the_table_names_everybody_who_ticks_a_box() {
    let header = header();
    let named: BTreeSet<&str> = header
        .lines()
        .filter_map(|line| line.trim().strip_prefix("| `")?.split('`').next())
        .collect();
    let mut found = BTreeSet::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/machine");
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let text = fs_err::read_to_string(&path).unwrap();
        let file = path.file_stem().unwrap().to_str().unwrap();
        let mut function = "";
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("fn ").filter(|_| !line.starts_with("//")) {
                function = rest.split(['(', '<']).next().unwrap();
            }
            if line.contains(".tick(") && !line.trim_start().starts_with("//") {
                found.insert(format!("{file}::{function}"));
            }
        }
    }
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(named, found);
}
