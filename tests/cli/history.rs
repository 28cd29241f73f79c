//! `ralph report --weeks`: the scores that a journal records.

use super::project::Project;
use serde_json::json;

/// Returns the workspace of the demo's bundle.
fn demo() -> Project {
    let project = Project::empty();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/demo.tar");
    let mut archive = tar::Archive::new(fs_err::File::open(file).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if let Ok(path) = path.strip_prefix("workspace") {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
            project.write(path.to_str().unwrap(), bytes);
        }
    }
    project
}

#[test]
fn the_scores_of_gates_come_from_the_journal() {
    let project = demo();
    let text = project.ralph(&["report", "--weeks"]).code(0).out;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Week 20"), "{text}");
    assert!(
        lines[1].starts_with("orders org.example.orders.LineTotal  █  100% ("),
        "{text}"
    );
    assert!(
        lines[2]
            .starts_with("orders org.example.orders.Shipping   █  100% (18/18), 2 measurements"),
        "{text}"
    );
    assert_eq!(lines.len(), 3, "a score that rose is no fall: {text}");
    let facts = project
        .ralph(&["report", "--weeks", "Shipping", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(facts["classes"].as_array().unwrap().len(), 1);
    let measured = facts["classes"][0]["measurements"].as_array().unwrap();
    let told: Vec<_> = measured
        .iter()
        .map(|one| (&one["percent"], &one["by"], &one["changed_lines"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(55), &json!("2.PITEST"), &json!(false)),
            (&json!(100), &json!("2.PITEST"), &json!(false))
        ]
    );
    assert!(
        measured[1]["commit"].as_str().unwrap().len() == 40,
        "{facts}"
    );
    assert_eq!(
        project.ralph(&["report", "--weeks", "Nothing"]).code(0).out,
        ""
    );
}

#[test]
fn a_broken_journal_is_named_and_an_agent_is_not_told() {
    let project = demo();
    let journal = project.read(".ralph/state/journal.jsonl");
    project.write(
        ".ralph/state/journal.jsonl",
        journal
            .replacen("RunStarted", "RunStartet", 1)
            .replacen("run-started", "run-startet", 1),
    );
    let done = project.ralph(&["report", "--weeks"]);
    assert!(
        done.code != 0 && done.err.contains("journal"),
        "{}",
        done.err
    );
    let project = demo();
    let mut command = project.command(&["report", "--weeks"]);
    command.env("RALPH_AGENT", "1");
    let done = Project::finish(command).code(2);
    assert!(
        done.err.contains("not told inside an attempt"),
        "{}",
        done.err
    );
    assert_eq!(done.out, "");
}

#[test]
fn where_nothing_was_measured_that_is_said() {
    let done = Project::empty().ralph(&["report", "--weeks"]).code(0);
    assert!(
        done.err.contains("No score was recorded yet"),
        "{}",
        done.err
    );
}
