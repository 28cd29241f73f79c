//! Tests of problems and remarks.

use super::parse;
use crate::task::{ProblemKind, RemarkKind};

fn problems(text: &str) -> Vec<(u32, ProblemKind)> {
    parse(text)
        .find_problems()
        .iter()
        .map(|problem| (problem.line, problem.kind))
        .collect()
}

fn remarks(text: &str) -> Vec<(u32, RemarkKind)> {
    parse(text)
        .find_remarks()
        .iter()
        .map(|remark| (remark.line, remark.kind))
        .collect()
}

#[test]
fn a_doubled_stage_and_a_stage_without_its_task_are_refused() {
    use ProblemKind::{DoubledStage, OrphanStage, StageOfDoubledTask};
    assert_eq!(
        problems("- [ ] 2.TEST-FIRST a\n- [ ] 2. b\n- [ ] 2.PITEST c\n- [ ] FINAL\n"),
        []
    );
    assert_eq!(
        problems("- [ ] 2. b\n- [ ] 2.PITEST c\n- [ ] 2.PITEST d\n"),
        [(3, DoubledStage)]
    );
    assert_eq!(
        problems("- [ ] 2.PRE-CR c\n- [ ] 3. x\n"),
        [(1, OrphanStage)]
    );
    assert_eq!(
        problems("- [ ] 2. a\n- [ ] 2 b\n- [ ] 2.PITEST\n"),
        [(3, StageOfDoubledTask)]
    );
    assert_eq!(
        problems("- [ ] FINAL a\n- [ ] FINAL b\n"),
        [(2, DoubledStage)]
    );
    assert_eq!(
        problems("- [ ] 29.INTEG\n- [ ] 3.FINAL\n- [ ] G2.PITEST\n- [ ] END.PITEST\n"),
        []
    );
    assert_eq!(
        problems("- [ ] END.PITEST\n- [ ] END.PITEST\n"),
        [(2, DoubledStage)]
    );
    assert_eq!(
        problems("- [ ] same\n- [ ] same\n- [ ] 1. a\n- [ ] 1. a\n"),
        []
    );
}

#[test]
fn a_word_in_capitals_after_the_id_of_a_task_is_a_stage_or_refused() {
    use ProblemKind::NoSuchStage;
    let meant = "- [ ] 1. a\n- [ ] 1.PITST\n- [x] 1.MUTMUT b\n- [ ] **1.LINT2** c\n";
    let refused = [(2, NoSuchStage), (3, NoSuchStage), (4, NoSuchStage)];
    assert_eq!(problems(meant), refused);
    let tasks = "- [ ] 1. a\n- [ ] 1.Register\n- [ ] 1.UI b\n- [ ] 2.API c\n- [ ] 1. PITST\n";
    assert_eq!(problems(tasks), []);
    let shown = parse(meant).find_problems().remove(0);
    insta::assert_snapshot!(format!("{}\n{}", shown.message, shown.hint), @r"
    `1.PITST` follows task 1, and PITST is neither a stage nor a configured gate.
    Correct the word, or name the gate under `gates:` in .ralph/config.yaml (`MUTMUT: {}`). For a task, put a space after the dot.
    ");
}

#[test]
fn problems_are_whole_sentences_with_a_next_action() {
    let text = "- [ ] 2. a\n- [ ] 2.PITEST\n- [ ] 2.PITEST\n- [ ] 3.PRE-CR\n- [ ] 4. a\n- [ ] 4. b\n- [ ] 4.PITEST\n";
    let shown: Vec<_> = parse(text)
        .find_problems()
        .iter()
        .map(|p| {
            format!(
                "{}: {} ({})\n{}",
                p.line,
                p.message,
                serde_json::to_string(&p.kind).unwrap(),
                p.hint
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    3: `2.PITEST` is on line 2 and again on line 3. ("doubled-stage")
    Remove one of the two lines, or give one of them another id.
    4: `3.PRE-CR` is a stage of task 3, which has no box in this file. ("orphan-stage")
    Add a line `- [ ] 3. …` before it, or remove the stage.
    7: `4.PITEST` is a stage of task 4, which this file has more than once. ("stage-of-doubled-task")
    Give each task an id of its own, so that it is clear which one is meant.
    "#);
}

#[test]
fn what_a_person_might_take_for_a_task_is_remarked() {
    use RemarkKind::*;
    for (text, expected) in [
        ("text\n", vec![(1, NoTasks)]),
        ("\u{feff}- [ ] a\r- [ ] b\r\n- [ ] c\n", vec![]),
        ("- [ ] a\n\n```\n- [ ] b\n", vec![(3, UnclosedFence)]),
        ("- [ ] a\n\n```\n- [ ] b\n```\n", vec![(4, BoxInFence)]),
        ("- [ ] a\n  ```\n  x\n- [ ] b\n", vec![]),
        ("- [ ] a\n\n<!--\n- [ ] b\n", vec![(3, UnclosedComment)]),
        ("---\n- [ ] b\n---\n- [ ] a\n", vec![(2, BoxInFrontMatter)]),
        ("- [-] a\n", vec![(1, UnknownMark)]),
        (
            "- [✅] a\n- [-] b\n- [✅] c\n",
            vec![(1, UnknownMark), (2, UnknownMark)],
        ),
        (
            "- [ ] a\n- \\[ ] b\n- \\[-] c\n- \\[ \\]\\* d\n",
            vec![(2, EscapedBox), (3, EscapedBox), (4, EscapedBox)],
        ),
        ("- [ ] a\n- \\[link\\](x)\n", vec![]),
        (
            "- [ ] a\n- []\n- [ x ] b\n- [ ]c\n-[ ] d\n",
            vec![
                (2, MalformedBox),
                (3, MalformedBox),
                (4, MalformedBox),
                (5, MalformedBox),
            ],
        ),
        (
            "- [ ] a\n- **[ ] b**\n- [✔\u{fe0f}] c\n",
            vec![(2, MalformedBox), (3, MalformedBox)],
        ),
        (
            "- [ ] a\n- [ ](1.md)\n- [ ][1]\n",
            vec![(2, MalformedBox), (3, MalformedBox)],
        ),
        (
            "- [ ] a\n- [x](url)\n- [x][ref]\n- [x]: url\n- [1] note\n- [link]\n",
            vec![],
        ),
        (
            "- [ ] a\n- [P] T001 b\n- [P] words\n- [blocked] 2.1 c\n",
            vec![(2, MissingBox), (4, MissingBox)],
        ),
        (
            "- [ ] a\n\n| a |\n| [ ] |\n| [x] |\n",
            vec![(4, BoxWithoutBullet)],
        ),
        ("- [ ] a\n## [ ] b\n", vec![(2, BoxWithoutBullet)]),
        ("- [ ] a\n\n[ ] b\n• [x] c\n", vec![(3, BoxWithoutBullet)]),
        (
            "- [ ] a\n\n2.2 [ ] b\n- 3.1 [x] c\n### 1.1 [ ] d\na. [ ] e\n(1) [ ] f\n- ~~[ ] g~~ h\n– [ ] i\n### Task 2: [ ] j\n",
            (3..11).map(|line| (line, BoxBehindLabel)).collect(),
        ),
        (
            "- [ ] a\n- ☐ b\n- ☐ c\n1. ✅ d\n## ✅ e\n## ⬜ f\n",
            vec![(2, BoxSymbol), (4, BoxSymbol), (6, BoxSymbol)],
        ),
        (
            "- [ ] a\n\nA word [ ] b\n- **Status**: ✅\n- use [ ] c\n> [ ] d\n- `☐` e\n* * *\n- 2026-01-02 [1] f\n",
            vec![],
        ),
        (
            "- [x] T015 · [ ] T016\n- [ ] use `- [ ] x` here\n- [ ] [x](y)\n",
            vec![(1, TwoBoxes)],
        ),
        (
            "- [ ] 1. a\n- [ ] 1. b\n- [ ] 1 c\n",
            vec![(2, DuplicateId), (3, DuplicateId)],
        ),
        (
            "- [ ] 1.Register\n- [ ] 2.pitest x\n- [ ] 1.5x y\n",
            vec![(1, UnknownStage), (2, UnknownStage)],
        ),
        ("```\n- [P] T001 b\n| [ ] |\n```\n- [ ] a\n", vec![]),
    ] {
        assert_eq!(remarks(text), expected, "{text:?}");
        let has_texts = |kind: RemarkKind| {
            let shown = parse(text).find_remarks();
            shown
                .iter()
                .filter(|remark| remark.kind == kind)
                .all(|remark| !remark.message.is_empty())
        };
        assert!(
            expected.iter().all(|(_, kind)| has_texts(*kind)),
            "{text:?}"
        );
    }
}

#[test]
fn remarks_are_whole_sentences_with_a_next_action() {
    let text = "\u{feff}- [-] 1. a\r\n- [\u{7}] 1. b [ ] c\n- \\[ ] d\n- [x ] e\n- [P] T001 f\n## [ ] g\n| [ ] |\n[ ] h\n\n- [ ] 1.R h\n\n<!--\n";
    let shown: Vec<_> = parse(text)
        .find_remarks()
        .iter()
        .map(|r| format!("{}: {}\n   {}", r.line, r.message, r.hint))
        .collect();
    assert!(!shown.concat().contains('\u{7}'));
    insta::assert_snapshot!(shown.join("\n"), @r"
    1: The mark `-` (1 box, from line 1 on) counts as not done and is not ralph's to change: a run ends at a required one.
       Write a space for an open task or `x` for one that is done.
    2: The mark `\u{7}` (1 box, from line 2 on) counts as not done and is not ralph's to change: a run ends at a required one.
       Write a space for an open task or `x` for one that is done.
    2: Line 2 has more than one box; only the first is a task.
       Give each task a line of its own.
    2: The id `1` is on line 1 and again on line 2; both tasks are identified by their text.
       Give each task an id of its own; without one it can have no stages and is not found by its id.
    3: Line 3 has a box whose bracket a formatter has escaped, so it is not a task.
       Remove the backslashes: `- [ ] …`.
    4: Line 4 has what is almost a box, so it is not a task.
       Write a bullet, a space, `[ ]` or `[x]`, a space, then the text.
    5: Line 5 names a task but has no box, so it is not a task.
       Put the box first: `- [ ] T001 [P] …`.
    6: Line 6 has a box that does not begin a list item, so it is not a task.
       Make it a list item: `- [ ] …`.
    10: Line 10 has a word right after the dot of its id that is not a stage, so its id is not used.
       Put a space after the dot, or write TEST-FIRST, REQ-CHECK, PRE-CR, INTEG, FINAL or the name of a configured gate, in capitals.
    12: The comment `<!--` that opens on line 12 is never closed; no box in it is a task.
       Close it with `-->`.
    ");
    insta::assert_snapshot!(serde_json::to_string(&parse("x").find_remarks()).unwrap(), @r#"[{"line":1,"kind":"no-tasks","message":"The file has no box `- [ ] …`, so there is nothing to do.","hint":"Write each task as a list item with a box: `- [ ] 1. …`."}]"#);
}

#[test]
fn boxes_in_a_fence_are_told_once_a_fence() {
    use RemarkKind::BoxInFence;
    let text = "- [ ] a\n```\n- [ ] b\n- [x] c\n```\n```\n- [ ] d\n```\n~~~\nno box\n~~~\n<!--\n- [ ] e\n-->\n";
    assert_eq!(remarks(text), [(3, BoxInFence), (7, BoxInFence)]);
    let shown = parse(text).find_remarks();
    assert_eq!(
        shown[0].message,
        "A code fence holds 2 boxes from line 3 on; boxes in a fence are not tasks."
    );
    assert_eq!(
        shown[1].message,
        "A code fence holds 1 box from line 7 on; boxes in a fence are not tasks."
    );
    assert_eq!(
        remarks("- [ ] a\n```\n- [ ] b\n```").last(),
        Some(&(3, BoxInFence))
    );
}

#[test]
fn gates_that_cover_no_work_are_told() {
    use RemarkKind::GateWithoutWork;
    assert_eq!(
        remarks("## A\n- [ ] 1. a\n- [ ] G1.PITEST\n## B\n- [ ] G2.PITEST\n- [ ] END.PITEST\n"),
        [(5, GateWithoutWork)]
    );
    assert_eq!(remarks("- [ ] END.PITEST\n"), [(1, GateWithoutWork)]);
    assert_eq!(
        remarks("- [ ] 1. Checkpoint: all tests pass\n- [ ] 1.PITEST\n"),
        [(2, GateWithoutWork)]
    );
    assert_eq!(
        remarks("- [ ] 1. Checkpoint of the parts\n- [ ] 1.1 a part\n- [ ] 1.PITEST\n"),
        []
    );
    assert_eq!(
        remarks("## A\n- [ ] 1. Checkpoint\n- [ ] G1.PITEST\n"),
        [(3, GateWithoutWork)]
    );
    assert_eq!(remarks("- [ ] 9.PITEST\n"), [], "a problem, not a remark");
}

#[test]
fn gates_behind_tasks_of_tests_alone_are_named() {
    use RemarkKind::GateBeforeCode;
    let text = "- [ ] 1. Write tests for the price\n- [ ] 1.PITEST\n- [ ] 2. Compute the price\n- [ ] 2.PITEST\n";
    assert_eq!(remarks(text), [(2, GateBeforeCode)]);
    assert_eq!(remarks(&text.replace("[ ] 1.", "[x] 1.")), []);
}

#[test]
fn a_parent_below_its_children_under_another_heading_is_told() {
    use RemarkKind::ParentBelow;
    let text = "### 1. Build\n- [x] 1.1 a\n- [x] 1.2 b\n- [ ]* 1.3 c\n## Status\n- [x] 1. Done\n- [x] 2. Ready\n";
    assert_eq!(remarks(text), [(6, ParentBelow)]);
    insta::assert_snapshot!(parse(text).find_remarks()[0].message, @"By its id the task on line 6 is the parent of 2 tasks above it (line 2), under another heading, so it is ticked without an attempt.");
    assert_eq!(
        remarks("## A\n- [ ] 1.1 a\n- [ ] 1. parent\n"),
        [],
        "under one heading"
    );
    assert_eq!(
        remarks("## A\n- [ ] 1. parent\n## B\n- [ ] 1.1 a\n"),
        [],
        "above them"
    );
    assert_eq!(
        remarks("## A\n- [ ]* 1.1 a\n## B\n- [ ] 1. no parent\n"),
        [],
        "it is work of its own"
    );
}

#[test]
fn what_looks_like_an_open_task_and_is_none_is_unread() {
    let unread = |text: &str| {
        parse(text)
            .unread_lines()
            .iter()
            .map(|remark| remark.line)
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        (
            "- [ ] a\n\n2.2 [ ] b\n2.3 [x] c\n- ☐ d\n- ✅ e\n",
            vec![3, 5],
        ),
        (
            "- [ ] a\n- \\[ ] b\n- \\[x] c\n- [] d\n- [ x ] e\n- [P] T001 f\n- **[ ] g**\n- **[x] h**\n",
            vec![2, 4, 6, 7],
        ),
        (
            "- [ ] a\n## [ ] b\n## [x] c\n\n| [ ] |\n\n[ ] d\n",
            vec![2, 7],
        ),
        ("- [ ] a\n```\n- [ ] b\n```\n<!--\n- [ ] c\n-->\n", vec![]),
        ("- [ ] a\n```\n- [ ] b\n", vec![2]),
        ("- [ ] a\n```\n- [x] b\n", vec![]),
        ("- [ ] a\n<!--\n- [ ] b\n", vec![2]),
        ("---\n- [ ] b\n---\n- [ ] a\n", vec![]),
    ] {
        assert_eq!(unread(text), expected, "{text:?}");
    }
}
