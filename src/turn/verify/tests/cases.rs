//! The ninety-three cases.

use super::*;

/// Each case as one check.
type Check = fn();

fn one(path: &str) -> Vec<String> {
    vec![path.to_owned()]
}

fn patch(text: &str) -> Vec<String> {
    in_patch(text)
}

const SAME: Files<'_> = &[
    ("a", "old", "old"),
    ("b", "old", "old"),
    ("c", "old", "old"),
];
const CHANGED: Files<'_> = &[
    ("a", "old", "new"),
    ("b", "old", "new"),
    ("c", "old", "new"),
];

const TARGETS: &[(u8, Check)] = &[
    (1, || {
        assert_eq!(targets("write_file", &json!({"path": "a.md"})), one("a.md"));
    }),
    (2, || {
        // Counted, not shown as a file.
        assert_eq!(
            targets("write_file", &json!({"path": ""})),
            one("").split_off(1)
        );
        let none = TurnEvent::ToolStarted {
            call: "1".into(),
            tool: "write_file".into(),
            input: json!({}),
        };
        let mut calls = Calls::default();
        calls.hear(&none);
        calls.hear(&event("fail 1 no path"));
        let found = calls.judge(&BTreeMap::new());
        assert_eq!(
            (found[0].verdict, found[0].tries, found.len()),
            (EditOutcome::WithoutPath, 1, 1)
        );
    }),
    (3, || {
        assert_eq!(
            targets("write_file", &json!({"mode": "patch", "path": "a"})),
            one("a")
        );
    }),
    (4, || {
        assert_eq!(
            targets(
                "patch",
                &json!({"path": "a", "old_string": "x", "new_string": "y"})
            ),
            one("a")
        );
    }),
    (5, || {
        assert_eq!(
            targets("patch", &json!({"mode": "replace", "path": 7})),
            one("7")
        );
    }),
    (6, || {
        let text = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: n\n+z\n*** Delete File: o\n*** End Patch";
        assert_eq!(patch(text), ["a", "n", "o"]);
    }),
    (7, || assert_eq!(patch("***Update File: x"), ["x"])),
    // In the patch's order, on which nothing depends.
    (8, || {
        assert_eq!(
            patch("*** Move File: a -> b\n*** Update File: c"),
            ["a", "b", "c"]
        );
    }),
    (9, || {
        assert_eq!(patch("*** Update File: a\n*** Move to: b"), ["a", "b"]);
    }),
    (10, || {
        assert_eq!(
            patch("*** Update File: a\r\n@@\r\n*** Add File: b\r\n"),
            ["a", "b"]
        );
    }),
    (11, || assert_eq!(patch("*** update file: x"), ["x"])),
    (12, || {
        assert!(patch("+*** Update File: fake\n *** Update File: fake").is_empty());
    }),
    (13, || assert!(patch("*** Update File: \nnext").is_empty())),
    (14, || {
        let found = findings(
            "patch 1 *** Update File: a|*** Update File: a\nfail 1 no",
            SAME,
        );
        assert_eq!((found.len(), found[0].tries), (1, 1));
    }),
    (15, || {
        let input = json!({"mode": "patch", "path": "z", "patch": "*** Update File: a"});
        assert_eq!(targets("patch", &input), one("a"));
    }),
    (16, || {
        assert!(targets("patch", &json!({"mode": "patch", "patch": ""})).is_empty());
        assert!(targets("patch", &json!({"mode": "patch", "patch": 7})).is_empty());
    }),
    (17, || {
        assert!(targets("patch", &json!({"mode": "diff", "path": "a"})).is_empty());
    }),
    (18, || {
        for tool in ["execute_code", "mcp__files__write_file", "read_file"] {
            assert_eq!(
                task(tool, &json!({"path": "a"})),
                CallPurpose::Other,
                "{tool}"
            );
        }
        assert_eq!(
            task("terminal", &json!({"command": "ls", "path": "a"})),
            CallPurpose::Command("ls".into())
        );
    }),
];

const PREVIEWS: &[(u8, Check)] = &[
    (19, || {
        let output = r#"{"success":false,"error":"Could not find old_string"}"#;
        assert_eq!(preview(output), "Could not find old_string");
    }),
    (20, || {
        assert_eq!(
            preview("Error executing tool: boom"),
            "Error executing tool: boom"
        );
    }),
    (21, || {
        assert_eq!(preview(r#"{"error":{"message":"m"}}"#), "m");
    }),
    (22, || {
        assert_eq!(preview(r#"{"error":""}"#), "");
        assert_eq!(
            footer(&findings("edit 1 a\nfail 1", SAME))[1],
            "`a` failed (Edit)."
        );
    }),
    (23, || assert_eq!(preview("a\n  b\t c"), "a b c")),
    (24, || {
        assert_eq!(preview(&"x".repeat(180)), "x".repeat(180));
        assert_eq!(preview(&"x".repeat(181)), format!("{}…", "x".repeat(179)));
    }),
    (25, || assert_eq!(preview(""), "")),
    (26, || {
        assert_eq!(preview(r#"{bad json "error""#), r#"{bad json "error""#);
    }),
    (27, || {
        assert_eq!(preview(r#"[{"error":"z"}]"#), r#"[{"error":"z"}]"#);
    }),
];

const TRANSITIONS: &[(u8, Check)] = &[
    (36, || {
        // A plain `ok` is accepted only as far as git shows it.
        assert!(judged("edit 1 a\ndone 1 ok", CHANGED).is_empty());
        assert_eq!(judged("edit 1 a\ndone 1 ok", SAME), ["a: NoNetChange"]);
    }),
    (37, || {
        let found = findings("edit 1 a\nfail 1 why", SAME);
        let expected = EditFinding {
            path: "a".into(),
            tool: "Edit".into(),
            tries: 1,
            first: "why".into(),
            ..EditFinding::default()
        };
        assert_eq!(found, [expected]);
    }),
    (38, || {
        let found = findings("edit 1 a\nfail 1 first\nedit 2 a\nfail 2 second", SAME);
        assert_eq!(
            (found[0].tries, &*found[0].first, &*found[0].last),
            (2, "first", "second")
        );
    }),
    (39, || {
        assert!(judged("edit 1 a\nfail 1 no\nedit 2 a\ndone 2", CHANGED).is_empty());
    }),
    (40, || {
        let script = "edit 1 a\nfail 1 first\nedit 2 a\ndone 2\nedit 3 a\nfail 3 third";
        assert_eq!(judged(script, CHANGED), ["a: FailedAfterSuccess"]);
        assert_eq!(findings(script, CHANGED)[0].last, "third");
    }),
    (41, || {
        let found = findings("edit 1 a\ndone 1\nedit 2 a\nfail 2 no-op", CHANGED);
        assert!(found[0].verdict == EditOutcome::FailedAfterSuccess && !found[0].verdict.blocks());
    }),
    (42, || {
        assert!(judged("edit 1 a\nfail 1 no\nedit 2 /r/a\ndone 2", CHANGED).is_empty());
    }),
    (43, || {
        let found = findings("edit 1 ./a\nfail 1 no\nedit 2 a\nfail 2 no", SAME);
        assert_eq!((found.len(), found[0].tries), (1, 2));
    }),
    (44, || {
        let files: Files<'_> = &[("a", "old", "old"), ("b", "old", "new")];
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nedit 2 b\ndone 2", files),
            ["a: Failed"]
        );
    }),
    (46, || {
        let files: Files<'_> = &[
            ("a", "old", "new"),
            ("b", "old", "old"),
            ("c", "old", "new"),
        ];
        for order in [
            ["done 1", "fail 2", "done 3"],
            ["fail 2", "done 3", "done 1"],
            ["done 3", "done 1", "fail 2"],
        ] {
            let script = format!("edit 1 a\nedit 2 b\nedit 3 c\n{}", order.join("\n"));
            assert_eq!(judged(&script, files), ["b: Failed"]);
        }
    }),
    (47, || {
        // The result that arrives last counts, in any order of the calls' starts.
        assert_eq!(
            judged("edit 1 a\nedit 2 a\ndone 2\nfail 1 no", CHANGED),
            ["a: FailedAfterSuccess"]
        );
        assert!(judged("edit 1 a\nedit 2 a\nfail 2 no\ndone 1", CHANGED).is_empty());
    }),
    (48, || {
        assert_eq!(judged("edit 1 a\ndeny 1 not granted", SAME), ["a: Denied"]);
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nedit 2 a\ndeny 2 no", SAME),
            ["a: Denied"]
        );
        assert!(judged("edit 1 a\ndeny 1 no\nedit 2 a\ndone 2", CHANGED).is_empty());
        assert!(EditOutcome::Denied.blocks());
    }),
    (49, || {
        // A call without its arguments did not edit either. The error of a later call is the last error.
        let found = findings(
            "edit 1 a\nfail 1 old_string is missing\nedit 2 a\nfail 2 not found",
            SAME,
        );
        assert_eq!(
            (found[0].verdict, &*found[0].last),
            (EditOutcome::Failed, "not found")
        );
    }),
    (50, || assert!(judged("done 1\nfail 2 no", SAME).is_empty())),
    (51, || {
        let script =
            "edit 1 a\nfail 1 no\nrun 2 sed -i s/x/y/ a\ndone 2\nrun 3 git commit -am x\ndone 3";
        let found = findings(script, CHANGED);
        assert_eq!(
            (found[0].verdict, &*found[0].command),
            (EditOutcome::ChangedOtherwise, "sed -i s/x/y/ a")
        );
        assert!(!found[0].verdict.blocks());
    }),
    (52, || {
        let files: Files<'_> = &[("a", "", "new")];
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nrun 2 echo > a\ndone 2", files),
            ["a: ChangedOtherwise"]
        );
    }),
    (53, || {
        let files: Files<'_> = &[("a", "old", "")];
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nrun 2 rm a\ndone 2", files),
            ["a: DeletedAfterwards"]
        );
    }),
    // Content is compared, so neither size nor times matter.
    (54, || {
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nrun 2 ./rewrite\ndone 2", CHANGED),
            ["a: ChangedOtherwise"]
        );
    }),
    (55, || {
        assert_eq!(
            judged("edit 1 a\nfail 1 no\nrun 2 touch a\ndone 2", SAME),
            ["a: Failed"]
        );
    }),
    (56, || {
        assert_eq!(
            judged("edit 1 a\nfail 1 no", CHANGED),
            ["a: ChangedOtherwise"]
        );
    }),
    // A call that wrote a part of the file: the baseline is that of the turn's start.
    (57, || {
        assert_eq!(
            judged("edit 1 a\nfail 1 disk full", CHANGED),
            ["a: ChangedOtherwise"]
        );
    }),
    (58, || {
        // A new file that was not written is missing. An edit of a wrong path concerns no file of this project.
        assert_eq!(
            judged("patch 1 *** Add File: a\nfail 1 no", &[]),
            ["a: Failed"]
        );
        assert_eq!(
            judged("edit 1 a\nfail 1 no such file", &[]),
            ["a: WrongPath"]
        );
        assert!(!EditOutcome::WrongPath.blocks());
    }),
    (59, || {
        let files: Files<'_> = &[("a", "old", "new"), ("b", "old", "old")];
        let found = judged(
            "patch 1 *** Update File: a|*** Update File: b\nfail 1 no",
            files,
        );
        assert_eq!(found, ["b: Failed", "a: ChangedOtherwise"]);
    }),
    (61, || {
        let files: Files<'_> = &[("a", "old", ""), ("n", "", "old")];
        assert!(judged("patch 1 *** Move File: a -> n\ndone 1", files).is_empty());
    }),
    (62, || {
        let found = judged(
            "patch 1 *** Update File: a|*** Update File: b\nfail 1 no",
            SAME,
        );
        assert_eq!(found, ["a: Failed", "b: Failed"]);
    }),
    (64, || {
        assert_eq!(
            judged("edit 1 /tmp/x\nfail 1 no", SAME),
            ["/tmp/x: OutsideGit"]
        );
        assert!(!EditOutcome::OutsideGit.blocks());
        assert!(judged("edit 1 /tmp/x\ndone 1", SAME).is_empty());
    }),
];

fn failed(number: usize) -> Vec<EditFinding> {
    (0..number)
        .map(|at| EditFinding {
            path: format!("f{at:02}"),
            tool: "Edit".into(),
            tries: 1,
            ..EditFinding::default()
        })
        .collect()
}

const FOOTER: &[(u8, Check)] = &[
    (66, || assert!(footer(&[]).is_empty())),
    (67, || {
        let twice = "edit 1 src/a.rs\nfail 1 not found\nedit 2 src/a.rs\nfail 2 String to replace not found in file.";
        insta::assert_snapshot!(footer(&findings(twice, &[("src/a.rs", "old", "old")])).join("\n"), @r"
        Verifier: 1 file edit is unresolved. Do not report it as done.
        `src/a.rs` failed (Edit, 2 tries): String to replace not found in file.
        Look at `git status` and `git diff`; make each of these edits, or report that you leave it out.
        ");
    }),
    (68, || {
        let lines = footer(&failed(15));
        assert!(lines[0].contains("15 file edits are unresolved"));
        assert_eq!((lines.len(), &*lines[11]), (13, "… and 5 more"));
    }),
    (69, || {
        assert_eq!(footer(&failed(10)).len(), 12);
        assert_eq!(footer(&failed(11))[11], "… and 1 more");
    }),
    // The text of an error is shown unchanged. No file is created from it.
    (70, || {
        assert!(
            footer(&findings(
                "edit 1 a\nfail 1 see /x/b.yaml and `/c/d.yaml`",
                SAME
            ))[1]
                .ends_with("see /x/b.yaml and `/c/d.yaml`")
        );
    }),
];

const GIT: &[(u8, Check)] = &[
    (81, || {
        assert_eq!(
            judged(
                "edit 1 a\nfail 1 <tool_use_error>not found</tool_use_error>",
                SAME
            ),
            ["a: Failed"]
        );
    }),
    (82, || {
        let found = findings(
            "edit 1 a\nfail 1 no\nrun 2 python3 fix.py a\ndone 2",
            CHANGED,
        );
        assert_eq!(
            (found[0].verdict, &*found[0].command),
            (EditOutcome::ChangedOtherwise, "python3 fix.py a")
        );
    }),
    (83, || {
        assert_eq!(judged("edit 1 a", SAME), ["a: Unfinished"]);
        assert_eq!(judged("edit 1 a", CHANGED), ["a: Unfinished"]);
        // A later call repaired it.
        assert!(judged("edit 1 a\nedit 2 a\ndone 2", CHANGED).is_empty());
        assert_eq!(
            judged("edit 2 a\ndone 2\nedit 1 a", CHANGED),
            ["a: Unfinished"]
        );
    }),
    (84, || {
        let files: Files<'_> = &[("a.rs", "old", "old"), ("b.rs", "old", "new")];
        assert_eq!(
            judged("say Done: edited a.rs and b.rs.", files),
            ["a.rs: Claimed"]
        );
        assert_eq!(
            judged("say Done: wrote docs/plan.md.", files),
            ["docs/plan.md: NoSuchFile"]
        );
        assert!(EditOutcome::Claimed.blocks() && !EditOutcome::NoSuchFile.blocks());
        assert!(
            judged(
                "say Edited a.rs.\nrun 1 mvn test\ndone 1\nsay The tests pass.",
                files
            )
            .is_empty()
        );
    }),
    (85, || {
        let files: Files<'_> = &[("a", "old", ""), ("n", "", "old")];
        assert!(judged("edit 1 a\ndone 1", files).is_empty());
    }),
    (86, || {
        assert_eq!(
            judged("edit 1 a\ndone 1 cancelled", SAME),
            ["a: NoNetChange"]
        );
    }),
    (87, || {
        assert_eq!(
            judged("edit 1 a\ndone 1\nedit 2 a\ndone 2", SAME),
            ["a: NoNetChange"]
        );
    }),
    (88, || {
        assert_eq!(judged("edit 1 a\ndone 1", SAME), ["a: NoNetChange"]);
    }),
];

/// Cases outside the verifier, or tested elsewhere.
const ELSEWHERE: &[(u8, &str)] = &[
    (
        28,
        "results of several parts are one text when they come from the reader (turn::read)",
    ),
    (
        29,
        "receipts of Hermes (`bytes_written`): its format has no events; the blobs decide",
    ),
    (30, "as 29"),
    (31, "as 29"),
    (32, "as 29"),
    (33, "as 29"),
    (34, "as 29"),
    (35, "as 29"),
    (
        45,
        "the identity is the real path; ralph runs on Linux, where names have one case",
    ),
    (
        60,
        "receipts with ambiguous suffixes are not read: the blobs of each target decide, see 59",
    ),
    (
        63,
        "tests/cli/verifier.rs: a_linked_folder_is_no_second_file",
    ),
    (
        65,
        "a tool that does not exist edits nothing; that the agent claims the edit is case 84",
    ),
    (71, "as 70"),
    (
        72,
        "the finding is in the journal for any words of the agent: tests/cli/verifier.rs",
    ),
    (
        73,
        "the footer is lines of its own; nothing is added to an agent's answer",
    ),
    (74, "rendering cannot fail"),
    (75, "as 73"),
    (
        76,
        "config: RALPH_VERIFIER is strict, its words are block, warn and off",
    ),
    (77, "as 76: an unknown word is an error"),
    (78, "as 76: a boolean is an error"),
    (79, "config: the environment wins over the file"),
    (80, "config: an unreadable configuration is an error"),
    (
        89,
        "the engine lists all changed files in the journal, whichever tool changed them",
    ),
    (90, "tests/git: index flags hide nothing from the blobs"),
    (
        91,
        "tests/git: rules of .gitignore that are not committed hide nothing",
    ),
    (
        92,
        "tests/cli/verifier.rs: what_was_made_good_is_at_most_a_remark",
    ),
    (
        93,
        "turn::read: a cut line is kept as Unread; a call without its end is case 83",
    ),
];

#[test]
fn each_case_is_a_row_or_is_named() {
    let rows = [TARGETS, PREVIEWS, TRANSITIONS, FOOTER, GIT];
    for (number, check) in rows.into_iter().flatten() {
        println!("case {number}");
        check();
    }
    let mut all: Vec<u8> = rows
        .into_iter()
        .flatten()
        .map(|(number, _)| *number)
        .collect();
    all.extend(
        ELSEWHERE
            .iter()
            .map(|(number, why)| if why.is_empty() { 0 } else { *number }),
    );
    all.sort_unstable();
    assert_eq!(all, (1..=93).collect::<Vec<u8>>());
}
