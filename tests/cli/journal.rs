//! The journal: its chain, and ralph's behaviour when another program changed it.

use super::project::Project;
use sha2::{Digest as _, Sha256};

const JOURNAL: &str = ".ralph/state/journal.jsonl";
const TWO: &str = "- [ ] 1. One\n- [ ] 2. Two\n";

fn hash(previous: &str, body: &str) -> String {
    ralph::source::hex(&Sha256::digest(format!("{previous}{body}")))
}

/// Checks the chain: each `h` is SHA-256 of `p` and the bytes of `r`.
///
/// Each `p` is the `h` before.
#[track_caller]
pub(super) fn assert_chain(project: &Project) {
    assert!(project.bytes(JOURNAL).ends_with(b"\n"));
    let mut previous = "0".repeat(64);
    for line in project.journal() {
        let (own, rest) = line
            .strip_prefix("{\"h\":\"")
            .unwrap()
            .split_once("\",\"p\":\"")
            .unwrap();
        let (before, rest) = rest.split_once("\",\"r\":").unwrap();
        let body = rest.strip_suffix('}').unwrap();
        assert_eq!(before, previous, "{line}");
        assert_eq!(own, hash(before, body), "{line}");
        serde_json::from_str::<serde_json::Value>(&line).unwrap();
        own.clone_into(&mut previous);
    }
    assert_ne!(previous, "0".repeat(64), "the journal is empty");
}

#[test]
fn every_line_is_json_and_the_chain_holds() {
    let project = Project::new(TWO);
    project.ralph(&["run"]).code(0);
    project
        .ralph(&["reopen", "1.", "--reason", "x\u{1b}[31m \u{202e}"])
        .code(0);
    assert_chain(&project);
}

#[test]
fn a_flipped_byte_in_the_middle_is_noticed_by_every_verb() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    let mut bytes = project.bytes(JOURNAL);
    let at = bytes
        .windows(8)
        .position(|window| window == b"surveyed")
        .unwrap();
    bytes[at] = b'S';
    project.write(JOURNAL, &bytes);
    for verb in [
        &["run"][..],
        &["status"],
        &["next"],
        &["diff"],
        &["accept", "2.", "--reason", "x"],
        &["snapshot", "1."],
    ] {
        let done = project.ralph(verb).code(4);
        assert!(
            done.err.contains("error: ") && done.err.contains("hint: "),
            "{verb:?}: {}",
            done.err
        );
        assert!(
            done.err.contains("journal.jsonl:3: "),
            "{verb:?} names the place: {}",
            done.err
        );
    }
    assert_eq!(project.bytes(JOURNAL), bytes, "no process wrote to it");
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ] 1.", "[x] 1."));
}

#[test]
fn a_torn_tail_is_dropped_and_the_run_goes_on() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    let mut bytes = project.bytes(JOURNAL);
    bytes.extend_from_slice(b"{\"h\":\"0123");
    project.write(JOURNAL, &bytes);
    project.ralph(&["status"]).code(0);
    assert_eq!(project.bytes(JOURNAL), bytes, "a question repairs nothing");
    project.ralph(&["run"]).code(0);
    assert_chain(&project);
    assert_eq!(project.story(), ["1.=ACCEPTED", "2.=ACCEPTED"]);
}

#[test]
fn a_journal_cut_anywhere_in_its_last_line_still_leads_to_the_end() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    let bytes = project.bytes(JOURNAL);
    project.write(JOURNAL, &bytes[..bytes.len() - 40]);
    project.ralph(&["run"]).code(0);
    assert_chain(&project);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ]", "[x]"));
}

#[test]
fn without_its_state_folder_a_run_starts_anew_from_the_boxes() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    fs_err::remove_dir_all(project.path(".ralph/state")).unwrap();
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ]", "[x]"));
    let tasks: Vec<_> = project
        .entries()
        .into_iter()
        .map(|entry| entry.task)
        .collect();
    assert_eq!(tasks, ["1.", "2."], "a ticked box stands");
}

#[test]
fn a_journal_of_a_newer_version_is_read_by_no_one_who_would_write() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    let last = project.journal().last().unwrap().clone();
    let (previous, seq) = (&last[6..70], project.journal().len() + 1);
    let body = format!(
        "{{\"v\":99,\"seq\":{seq},\"at\":\"2030-01-01T00:00:00Z\",\"e\":{{\"kind\":\"dream\"}}}}"
    );
    let line = format!(
        "{{\"h\":\"{}\",\"p\":\"{previous}\",\"r\":{body}}}\n",
        hash(previous, &body)
    );
    let text = project.read(JOURNAL) + &line;
    project.write(JOURNAL, &text);
    for verb in [&["run"][..], &["accept", "2.", "--reason", "x"]] {
        let done = project.ralph(verb).code(2);
        assert!(
            done.err.contains("newer") && done.err.contains("hint: "),
            "{}",
            done.err
        );
    }
    let status = project.ralph(&["status"]);
    assert_eq!(status.code, 0, "reading works: {}", status.err);
    assert!(status.out.contains("1 of 2 boxes ticked"), "{}", status.out);
    assert_eq!(project.read(JOURNAL), text);
}
