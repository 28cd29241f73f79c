//! The loop in the demo's workspace.

use super::{Demo, Entry, root};
use crate::support::needs::tests;
use ralph::journal::{JournalEnd, JournalError, replay};
use regex_lite::Regex;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the tags of a journal's records, and its end.
fn journal(bytes: &[u8]) -> Result<(Vec<String>, JournalEnd), JournalError> {
    let mut tags = Vec::new();
    let ending = replay(bytes, |record| -> Result<(), JournalError> {
        tags.push(record.tag().to_owned());
        Ok(())
    })?;
    Ok((tags, ending))
}

/// Returns all records of the journal, after checking its chain.
fn facts(demo: &Demo) -> Vec<Value> {
    let text = demo.text(".ralph/state/journal.jsonl");
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["r"]["e"].clone())
        .collect()
}

/// Returns the records of one kind.
fn of_kind<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    facts.iter().filter(|fact| fact["kind"] == kind).collect()
}

fn entry(entries: &[Entry], iteration: u64) -> &Entry {
    entries
        .iter()
        .find(|entry| entry.iteration == iteration)
        .unwrap()
}

/// Returns `<package>/<path>` of a list of changes.
fn paths(changes: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = changes.as_array().unwrap();
    changes
        .iter()
        .map(|change| format!("{}/{}", text(&change["package"]), text(&change["path"])))
        .collect()
}

const SHIPPING: &str = "orders/src/main/java/org/example/orders/Shipping.java";
const SHIPPING_TEST: &str = "orders/src/test/java/org/example/orders/ShippingTest.java";

fn it_ends_well_and_says_each_iteration() {
    let demo = Demo::get();
    assert_eq!(demo.code, Some(0), "{}\n{}", demo.stdout, demo.stderr);
    let bad = |line: &&str| {
        ["error:", "hint:", "stopped:", "waiting"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    assert_eq!(demo.stderr.lines().find(bad), None, "{}", demo.stderr);
    assert!(
        demo.stdout.contains("\nAll required boxes are ticked.\n"),
        "{}",
        demo.stdout
    );
}

/// The workspace in the page's session.
const SHOWN: &str = "/tmp/ralph-demo";

fn its_output_is_the_session_in_the_page_of_the_demo() {
    let demo = Demo::get();
    let page = fs_err::read_to_string(root().join("docs/demo.md")).unwrap();
    let block = page
        .split("<!-- session -->\n")
        .nth(1)
        .unwrap()
        .split("\n<!-- /session -->")
        .next()
        .unwrap();
    let printed = demo.stdout.replace(demo.path().to_str().unwrap(), SHOWN);
    let expected = format!("```console\n$ ralph demo --into {SHOWN}\n{printed}```");
    if std::env::var_os("RALPH_WRITE_DOCS").is_some() {
        fs_err::write(
            root().join("docs/demo.md"),
            page.replacen(block, &expected, 1),
        )
        .unwrap();
        return;
    }
    assert_eq!(
        block, expected,
        "put the output of `ralph demo --into {SHOWN}` there (RALPH_WRITE_DOCS=1)"
    );
}

/// The lines of README's excerpt, in the order of the page that has all of them.
fn the_excerpt_in_the_readme_has_lines_of_the_session() {
    let read = |path: &str| fs_err::read_to_string(root().join(path)).unwrap();
    let readme = read("README.md");
    let (_, excerpt) = readme
        .split_once("<!-- excerpt of the demo -->\n```text\n")
        .unwrap();
    let (excerpt, _) = excerpt.split_once("\n```").unwrap();
    let page = read("docs/demo.md");
    let mut session = page.lines();
    for line in excerpt.lines() {
        assert!(
            session.any(|printed| printed == line),
            "docs/demo.md does not show this line, or not in this order: {line}"
        );
    }
    assert!((5..=9).contains(&excerpt.lines().count()), "{excerpt}");
}

fn it_ticks_every_required_box_and_changes_no_other_byte() {
    let demo = Demo::get();
    let template = fs_err::read_to_string(root().join(".ralph-example/tasks.md")).unwrap();
    let mut in_fence = false;
    let ticked = |line: &str| {
        in_fence ^= line.starts_with("```");
        if in_fence {
            line.to_owned()
        } else {
            line.replacen("- [ ] ", "- [x] ", 1)
        }
    };
    let expected: String = template.split_inclusive('\n').map(ticked).collect();
    let done = demo.text("tasks.md");
    assert_eq!(done, expected);
    assert_eq!(done.matches("- [x] ").count(), 12);
    assert!(done.contains("- [ ]* 4."), "the optional box stays open");
    for path in [
        "agent.sh",
        "design.md",
        "requirements.md",
        ".ralph/config.yaml",
        "src/orders/pom.xml",
    ] {
        let before = fs_err::read_to_string(root().join(".ralph-example").join(path)).unwrap();
        assert_eq!(demo.text(path), before, "{path} was changed");
    }
}

/// The gate judges task 2 although a rework changed only tests.
///
/// A reviewer and the rework come between the production change of task 2 and the gate that passes it (docs/design.md
/// "Snapshots and changes").
fn each_iteration_has_its_verdict() {
    let demo = Demo::get();
    let entries = demo.entries();
    let told: Vec<String> = entries
        .iter()
        .map(|entry| {
            let verdict = entry.headline.split(" — ").next().unwrap();
            format!("{} {} {verdict}", entry.iteration, entry.task)
        })
        .collect();
    let expected = [
        "1 1.TEST-FIRST ACCEPTED",
        "2 1. ACCEPTED",
        "3 1.REQ-CHECK REQ-CHECK FAIL",
        "4 1. ACCEPTED",
        "5 1.REQ-CHECK REQ-CHECK PASS",
        "6 1.PITEST PITEST PASS",
        "7 1.PRE-CR PRE-CR PASS",
        "8 2.TEST-FIRST ACCEPTED",
        "9 2. ACCEPTED",
        "10 2.REQ-CHECK REQ-CHECK PASS",
        "11 2.PITEST PITEST FAIL",
        "12 2. ACCEPTED",
        "13 2.PITEST PITEST PASS",
        "14 3. ACCEPTED",
        "15 3.PITEST PITEST SKIP",
        "16 FINAL COMPLETE",
    ];
    assert_eq!(told, expected);
}

fn the_gate_fails_once_with_named_survivors_then_passes_and_skips_what_has_no_java() {
    let demo = Demo::get();
    let entries = demo.entries();
    let headlines: Vec<&str> = entries
        .iter()
        .map(|entry| entry.headline.as_str())
        .collect();
    let gate: Vec<&str> = headlines
        .into_iter()
        .filter(|line| line.starts_with("PITEST "))
        .collect();
    let [first, fail, pass, skip] = gate[..] else {
        panic!("four verdicts are due: {gate:?}")
    };
    let score = Regex::new(r"^PITEST PASS — \d+% \(\d+/\d+\)$").unwrap();
    assert_eq!(
        (first, pass),
        ("PITEST PASS — 100% (5/5)", "PITEST PASS — 100% (18/18)")
    );
    assert!(score.is_match(first) && score.is_match(pass));
    assert!(
        fail.starts_with("PITEST FAIL — ")
            && fail.contains("Shipping")
            && fail.contains("55% (10/18)")
    );
    assert_eq!(
        skip,
        "PITEST SKIP — No production code that this gate judges was changed."
    );

    let fail = entry(&entries, 11);
    let survivors: Vec<&String> = fail
        .lines
        .iter()
        .filter(|line| line.starts_with("- survivor "))
        .collect();
    let named = "- survivor Shipping.java:13 ConditionalsBoundary — changed conditional boundary";
    assert!(
        survivors.iter().any(|line| line.starts_with(named)),
        "{survivors:#?}"
    );
    let more = "- … and 3 more".to_owned();
    assert_eq!(
        survivors.len(),
        5,
        "18 mutants, 10 killed, one of each line is reported: {survivors:#?}"
    );
    assert!(fail.lines.contains(&more), "{:?}", fail.lines);
    assert!(
        fail.lines.contains(&"- boxes: opened 2.".to_owned()),
        "{:?}",
        fail.lines
    );
    for line in entries.iter().flat_map(|entry| &entry.lines) {
        if let Some(report) = line.strip_prefix("- report: ") {
            let page = demo.path().join(report);
            assert!(
                page.extension() == Some("html".as_ref()) && page.is_file(),
                "{} does not exist",
                page.display()
            );
        }
    }
    let reports: Vec<&String> = fail
        .lines
        .iter()
        .filter(|line| line.starts_with("- report: "))
        .collect();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].ends_with("/gate/mutation.html"), "{reports:?}");
    let prompt = demo.text(".ralph/state/iter-12/prompt.md");
    assert!(
        prompt.contains("Shipping.java:13"),
        "the next prompt lists the survivors"
    );
}

fn a_review_and_a_rework_of_tests_alone_do_not_empty_what_the_gate_judges() {
    let demo = Demo::get();
    let facts = facts(demo);
    let observed = of_kind(&facts, "observed");
    // Attempts in order: iterations without a gate are 1 2 3 4 5 7 8 9 10 12 14 16.
    let review = &observed[8]["observation"];
    assert_eq!(
        review["packages"].as_array().map_or(0, Vec::len),
        0,
        "the reviewer changed nothing"
    );
    let rework = &observed[9]["observation"];
    assert_eq!(paths(&rework["packages"][0]["changes"]), [SHIPPING_TEST]);
    let gates = of_kind(&facts, "gate-ended");
    let verdicts: Vec<&str> = gates
        .iter()
        .map(|gate| gate["report"]["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["pass", "fail", "pass", "skip"]);
    for gate in &gates[1..3] {
        assert_eq!(paths(&gate["changes"]), [SHIPPING, SHIPPING_TEST]);
        let judged = &gate["report"]["classes"][0];
        assert_eq!(judged["class"], "org.example.orders.Shipping");
    }
    assert_eq!(gates[2]["report"]["coverage"]["killed"], 18);
}

fn a_tick_that_the_agent_forged_is_put_back_and_said() {
    let demo = Demo::get();
    let kept = demo.text(".ralph/state/iter-9/tasks-of-the-agent.md");
    assert!(
        kept.contains("- [x] 2.PITEST"),
        "what the agent wrote is kept"
    );
    let said = "- The agent wrote `[x]` for 2.PITEST; it was restored.";
    assert!(
        entry(&demo.entries(), 9)
            .lines
            .iter()
            .any(|line| line == said)
    );
    let claim = demo.text(".ralph/state/iter-9/agent.out");
    assert!(
        claim.contains("PITEST PASS — 100% (18/18)"),
        "a verdict that an agent printed"
    );

    let facts = facts(demo);
    let box_of_gate = serde_json::json!({"family": "2", "stage": "PITEST"});
    let flips = |fact: &Value| {
        fact["flips"]
            .as_array()
            .is_some_and(|all| all.iter().any(|flip| flip[0] == box_of_gate))
    };
    let flipped: Vec<usize> = (0..facts.len()).filter(|at| flips(&facts[*at])).collect();
    let [at] = flipped[..] else {
        panic!("the box was flipped once: {flipped:?}")
    };
    let before = &facts[at - 1];
    assert_eq!(
        (&before["kind"], &before["report"]["verdict"]),
        (&"gate-ended".into(), &"pass".into())
    );
}

fn the_journal_holds_a_whole_chain_and_progress_points_into_it() {
    let demo = Demo::get();
    let bytes = fs_err::read(demo.path().join(".ralph/state/journal.jsonl")).unwrap();
    let (tags, ending) = journal(&bytes).unwrap();
    assert_eq!((ending.torn, ending.unread), (0, None));
    assert_eq!(ending.valid_len, bytes.len() as u64);
    let tags: BTreeSet<String> = tags.into_iter().collect();
    for entry in demo.entries() {
        assert!(tags.contains(&entry.tag), "no record for {entry:?}");
    }
    let mut forged = String::from_utf8(bytes).unwrap();
    assert!(forged.contains("\"verdict\":\"fail\""));
    forged = forged.replacen("\"verdict\":\"fail\"", "\"verdict\":\"pass\"", 1);
    assert!(
        journal(forged.as_bytes()).is_err(),
        "a changed verdict breaks the chain"
    );
}

fn questions_about_the_finished_workspace_have_answers() {
    let demo = Demo::get();
    let ask = |args: &[&str]| {
        let output = super::ralph()
            .args(args)
            .current_dir(demo.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, status) = ask(&["status"]);
    assert_eq!(code, Some(0));
    assert!(
        status.starts_with("tasks.md: 12 of 13 boxes ticked, 16 iterations"),
        "{status}"
    );
    assert_eq!(
        ask(&["next"]),
        (Some(1), "All required boxes are ticked.\n".to_owned())
    );
    assert_eq!(
        ask(&["diff", "2."]),
        (Some(0), format!("{SHIPPING}\n{SHIPPING_TEST}\n"))
    );
    let (code, found) = ask(&["check"]);
    assert_eq!(code, Some(0), "{found}");
}

tests! {
    maven: [
        it_ends_well_and_says_each_iteration,
        its_output_is_the_session_in_the_page_of_the_demo,
        it_ticks_every_required_box_and_changes_no_other_byte,
        each_iteration_has_its_verdict,
        the_gate_fails_once_with_named_survivors_then_passes_and_skips_what_has_no_java,
        a_review_and_a_rework_of_tests_alone_do_not_empty_what_the_gate_judges,
        a_tick_that_the_agent_forged_is_put_back_and_said,
        the_journal_holds_a_whole_chain_and_progress_points_into_it,
        questions_about_the_finished_workspace_have_answers,
    ]
    nothing: [
        the_excerpt_in_the_readme_has_lines_of_the_session,
    ]
}
