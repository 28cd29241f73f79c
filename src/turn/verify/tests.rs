//! The cases that a verifier of file edits has to get right, one row each.
//!
//! They come from defects of other verifiers, with ralph's behaviour where it differs. Rows are numbered. Each number
//! is a row or is listed with the reason.

mod cases;
mod properties;

use super::*;
use crate::turn::TurnEvent;
use serde_json::{Value, json};

/// Returns the events of a turn, one per line: `edit 1 a.txt`, `run 2 sed -i a.txt`, `done 1`, `fail 1 why`, `deny 1
/// why`, `say text`.
fn events(script: &str) -> Vec<TurnEvent> {
    script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(event)
        .collect()
}

fn event(line: &str) -> TurnEvent {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (call, rest) = if verb == "say" {
        ("", rest)
    } else {
        rest.split_once(' ').unwrap_or((rest, ""))
    };
    let call = call.to_owned();
    let started = |tool: &str, input: Value| TurnEvent::ToolStarted {
        call: call.clone(),
        tool: tool.to_owned(),
        input,
    };
    let ended = |outcome| TurnEvent::ToolEnded {
        call: call.clone(),
        outcome,
        output: rest.to_owned(),
        changed: Vec::new(),
    };
    match verb {
        "edit" => started("Edit", json!({ "file_path": rest })),
        "run" => started("Bash", json!({ "command": rest })),
        "patch" => started(
            "apply_patch",
            json!({ "patchText": rest.replace('|', "\n") }),
        ),
        "use" => started(rest, json!({ "path": "a.txt" })),
        "done" => ended(ToolOutcome::Done),
        "fail" => ended(ToolOutcome::Failed),
        "deny" => ended(ToolOutcome::Denied),
        "say" => TurnEvent::Said {
            text: rest.to_owned(),
        },
        other => panic!("`{other}` is no event of a script"),
    }
}

fn heard(script: &str) -> Calls {
    let mut calls = Calls::default();
    for event in events(script) {
        calls.hear(&event);
    }
    calls
}

/// Files of a repository at `/r`: name, content before, content now. Empty means absent.
type Files<'a> = &'a [(&'a str, &'a str, &'a str)];

fn places(calls: &Calls, files: Files<'_>) -> BTreeMap<String, EditedFile> {
    let spelled = calls
        .targets()
        .map(ToOwned::to_owned)
        .chain(calls.claimed());
    let place = |spelled: String| {
        let name = spelled
            .strip_prefix("/r/")
            .or_else(|| spelled.strip_prefix("./"))
            .unwrap_or(&spelled)
            .to_owned();
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let found = files.iter().find(|(path, ..)| *path == name);
        let blobs = found.map_or_else(Blobs::default, |(_, before, after)| Blobs {
            before: some(before),
            after: some(after),
        });
        (
            spelled,
            EditedFile {
                blobs: (!name.starts_with('/')).then_some(blobs),
                name,
            },
        )
    };
    spelled.map(place).collect()
}

fn findings(script: &str, files: Files<'_>) -> Vec<EditFinding> {
    let calls = heard(script);
    calls.judge(&places(&calls, files))
}

/// Returns the findings, each as `path: verdict`.
fn judged(script: &str, files: Files<'_>) -> Vec<String> {
    findings(script, files)
        .iter()
        .map(|finding| format!("{}: {:?}", finding.path, finding.verdict))
        .collect()
}

fn targets(tool: &str, input: &Value) -> Vec<String> {
    match task(tool, input) {
        CallPurpose::Edit(paths) => paths,
        other => panic!("{tool} edits nothing: {other:?}"),
    }
}

#[test]
fn a_batch_of_which_half_failed_is_not_all_done() {
    let mut script: Vec<String> = (0..8)
        .map(|call| format!("edit {call} f{call}.txt"))
        .collect();
    // Results arrive in any order.
    for call in [3, 0, 6, 1, 7, 2, 5, 4] {
        let end = if call % 2 == 0 { "done" } else { "fail" };
        script.push(format!("{end} {call} String to replace not found in file."));
    }
    script.push(
        "run 9 git commit -am done\ndone 9\nsay All done: edited all eight files.".to_owned(),
    );
    let names: Vec<String> = (0..8).map(|call| format!("f{call}.txt")).collect();
    let content = |call: usize| if call.is_multiple_of(2) { "new" } else { "old" };
    let files: Vec<(&str, &str, &str)> = names
        .iter()
        .enumerate()
        .map(|(call, name)| (name.as_str(), "old", content(call)))
        .collect();
    let found = findings(&script.join("\n"), &files);
    assert!(found.iter().all(|finding| finding.verdict.blocks()));
    insta::assert_snapshot!(footer(&found).join("\n"), @r"
    Verifier: 4 file edits are unresolved. Do not report them as done.
    `f1.txt` failed (Edit): String to replace not found in file.
    `f3.txt` failed (Edit): String to replace not found in file.
    `f5.txt` failed (Edit): String to replace not found in file.
    `f7.txt` failed (Edit): String to replace not found in file.
    Look at `git status` and `git diff`; make each of these edits, or report that you leave it out.
    ");
}

#[test]
fn what_each_cli_calls_an_edit_has_its_files() {
    for (tool, input, paths) in [
        (
            "Write",
            json!({"file_path": "/r/a", "content": ""}),
            vec!["/r/a"],
        ),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": []}),
            vec!["a"],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb"}),
            vec!["n.ipynb"],
        ),
        ("write_file", json!({"file_path": "a"}), vec!["a"]),
        (
            "replace",
            json!({"file_path": "a", "old_string": "x"}),
            vec!["a"],
        ),
        (
            "edit",
            json!({"filePath": "a", "oldString": "x"}),
            vec!["a"],
        ),
        (
            "apply_patch",
            json!({"patchText": "*** Begin Patch\n*** Add File: a\n*** End Patch"}),
            vec!["a"],
        ),
        ("apply_patch", json!("*** Delete File: a"), vec!["a"]),
        ("apply_patch", json!({"path": "a"}), vec!["a"]),
        ("create", json!({"path": "a", "file_text": ""}), vec!["a"]),
        ("create_file", json!({"path": "a"}), vec!["a"]),
        (
            "writeToolCall",
            json!({"path": "a", "fileText": ""}),
            vec!["a"],
        ),
        ("searchReplaceToolCall", json!({"path": "a"}), vec!["a"]),
        ("deleteToolCall", json!({"path": "a"}), vec!["a"]),
        ("search_replace", json!({"target_file": "a"}), vec!["a"]),
        (
            "developer__text_editor",
            json!({"command": "str_replace", "path": "a"}),
            vec!["a"],
        ),
        (
            "fs_write",
            json!({"command": "create", "path": "a"}),
            vec!["a"],
        ),
        (
            "file_change",
            json!({"changes": [{"path": "/r/a", "kind": "add"}, {"path": "/r/b", "kind": "delete"}]}),
            vec!["/r/a", "/r/b"],
        ),
    ] {
        assert_eq!(targets(tool, &input), paths, "{tool}");
    }
    for (tool, input) in [
        ("Read", json!({"file_path": "a"})),
        ("view", json!({"path": "a"})),
        ("text_editor", json!({"command": "view", "path": "a"})),
        ("TodoWrite", json!({"todos": []})),
        ("write_todos", json!({"path": "a"})),
    ] {
        assert_eq!(task(tool, &input), CallPurpose::Other, "{tool}");
    }
    assert_eq!(
        task("shell", &json!({"command": ["ls", "-l"]})),
        CallPurpose::Command("ls -l".to_owned())
    );
    assert_eq!(
        task("exec_command", &json!({"cmd": "ls"})),
        CallPurpose::Command("ls".to_owned())
    );
}

#[test]
fn only_what_stands_directly_is_a_claim() {
    for (text, paths) in [
        (
            "Done. I edited `hello.txt` and it now says hello new world.",
            vec!["hello.txt"],
        ),
        (
            "Done: wrote one.txt, two.txt and edited hello.txt.",
            vec!["one.txt", "two.txt", "hello.txt"],
        ),
        (
            "Done: docs/plan.md was written and committed.",
            vec!["docs/plan.md"],
        ),
        (
            "- `src/A.java`: added discount()\n- **src/B.java** – fixed",
            vec!["src/A.java"],
        ),
        (
            "Updated the files [A.java](src/A.java:12), and src/B.java:3-5.",
            vec!["A.java", "src/A.java", "src/B.java"],
        ),
        (
            "I fixed the bug that `a.txt` had by changing `b.txt`.",
            vec![],
        ),
        ("I did not touch a.txt; edited b.txt.", vec!["b.txt"]),
        ("I haven't changed `a.txt`.", vec![]),
        ("The previous attempt updated `a.txt`.", vec![]),
        ("`a.txt` should be updated.", vec![]),
        ("Ran the tests in src/FooTest.java: 12 passed.", vec![]),
        (
            "Added tests to make sure 1.2 works, e.g. for and/or.",
            vec![],
        ),
        ("The build reads `pom.xml`.", vec![]),
    ] {
        assert_eq!(claims::claimed(text), paths, "{text}");
    }
}
