//! Tests of inserted and removed lines.

use super::properties::{fenced, file, plan};
use super::{boxes, key, parse};
use crate::task::{
    LinesEdited, Placement, Refused, Row, TaskFile, TaskKey, TaskSelection, plan_gate,
    tasks_of_tests_alone,
};
use proptest::prelude::*;

fn placed(text: impl Into<Vec<u8>>, placement: &Placement) -> LinesEdited {
    parse(text).place_gates("PITEST", placement, false).unwrap()
}

fn after(ids: &[&str]) -> Placement {
    Placement::After(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn text(surgery: &LinesEdited) -> String {
    String::from_utf8(surgery.bytes.clone()).unwrap()
}

/// Places a gate and removes it, checks both ways, and returns the text with the gate.
fn there_and_back(before: &str, placement: &Placement) -> String {
    let there = placed(before, placement);
    assert_eq!(
        placed(there.bytes.clone(), placement).bytes,
        there.bytes,
        "twice is once"
    );
    let back = placed(there.bytes.clone(), &Placement::None);
    assert_eq!(text(&back), before);
    assert_eq!(back.removed, there.inserted);
    text(&there)
}

const SPEC: &str = "\
# Implementation Plan

## Core

- [x] 1. Read the file
  - reads it at once
  - _Requirements: 1.1_
- [ ] 2.TEST-FIRST
- [ ] 2. Sum the numbers
  of the file

  ```java
  - [ ] 9. not a task
  ```
- [ ] 2.REQ-CHECK
- [ ] 2.PRE-CR

## Shell

- [ ] 3. Print
  - [ ] 3.TEST-FIRST
  - [ ] 3.1 Plain
  - [ ]* 3.2 Coloured

- [ ] FINAL
";

#[test]
fn gates_beside_tasks_on_one_spec() {
    insta::assert_snapshot!(there_and_back(SPEC, &Placement::Tested), @r"
    # Implementation Plan

    ## Core

    - [x] 1. Read the file
      - reads it at once
      - _Requirements: 1.1_
    - [ ] 2.TEST-FIRST
    - [ ] 2. Sum the numbers
      of the file

      ```java
      - [ ] 9. not a task
      ```
    - [ ] 2.REQ-CHECK
    - [ ] 2.PITEST
    - [ ] 2.PRE-CR

    ## Shell

    - [ ] 3. Print
      - [ ] 3.TEST-FIRST
      - [ ] 3.1 Plain
      - [ ]* 3.2 Coloured
    - [ ] 3.PITEST

    - [ ] FINAL
    ");
    insta::assert_snapshot!(there_and_back(SPEC, &after(&["1", "3", "3.1"])), @r"
    # Implementation Plan

    ## Core

    - [x] 1. Read the file
      - reads it at once
      - _Requirements: 1.1_
    - [ ] 1.PITEST
    - [ ] 2.TEST-FIRST
    - [ ] 2. Sum the numbers
      of the file

      ```java
      - [ ] 9. not a task
      ```
    - [ ] 2.REQ-CHECK
    - [ ] 2.PRE-CR

    ## Shell

    - [ ] 3. Print
      - [ ] 3.TEST-FIRST
      - [ ] 3.1 Plain
      - [ ] 3.1.PITEST
      - [ ]* 3.2 Coloured
    - [ ] 3.PITEST

    - [ ] FINAL
    ");
    assert_eq!(there_and_back(SPEC, &Placement::None), SPEC);
}

#[test]
fn a_gate_stands_behind_the_optional_children_of_its_task() {
    insta::assert_snapshot!(there_and_back("- [ ] 1. Build parser\n  - [ ]* 1.1 property tests\n- [ ] 2. b\n", &Placement::Each), @r"
    - [ ] 1. Build parser
      - [ ]* 1.1 property tests
    - [ ] 1.PITEST
    - [ ] 2. b
    - [ ] 2.PITEST
    ");
}

#[test]
fn gates_of_wider_reach_on_the_same_spec() {
    insta::assert_snapshot!(there_and_back(SPEC, &Placement::Groups), @r"
    # Implementation Plan

    ## Core

    - [x] 1. Read the file
      - reads it at once
      - _Requirements: 1.1_
    - [ ] 2.TEST-FIRST
    - [ ] 2. Sum the numbers
      of the file

      ```java
      - [ ] 9. not a task
      ```
    - [ ] 2.REQ-CHECK
    - [ ] 2.PRE-CR
    - [ ] G2.PITEST

    ## Shell

    - [ ] 3. Print
      - [ ] 3.TEST-FIRST
      - [ ] 3.1 Plain
      - [ ]* 3.2 Coloured
    - [ ] G3.PITEST

    - [ ] FINAL
    ");
    insta::assert_snapshot!(there_and_back(SPEC, &Placement::End), @r"
    # Implementation Plan

    ## Core

    - [x] 1. Read the file
      - reads it at once
      - _Requirements: 1.1_
    - [ ] 2.TEST-FIRST
    - [ ] 2. Sum the numbers
      of the file

      ```java
      - [ ] 9. not a task
      ```
    - [ ] 2.REQ-CHECK
    - [ ] 2.PRE-CR

    ## Shell

    - [ ] 3. Print
      - [ ] 3.TEST-FIRST
      - [ ] 3.1 Plain
      - [ ]* 3.2 Coloured
    - [ ] END.PITEST

    - [ ] FINAL
    ");
}

#[test]
fn a_staged_spec_has_all_stages_in_their_order() {
    let gates = [
        ("PITEST".to_owned(), Placement::Each),
        ("SPOTLESS".to_owned(), Placement::End),
    ];
    let grammar = crate::task::Grammar::new(vec!["PITEST".to_owned(), "SPOTLESS".to_owned()], None);
    let file = TaskFile::parse(
        "# Tasks\n- [ ] 1. Parent\n- [ ] 1.1 a\n  - why\n- [ ] 1.2 b\n\n## Two\n\n1. [ ] T3: c",
        &grammar,
    );
    let staged = file
        .add_stages(TaskSelection::Plain, &gates, |_| true)
        .unwrap();
    insta::assert_snapshot!(text(&staged), @r"
    # Tasks
    - [ ] 1. Parent
    - [ ] 1.1.TEST-FIRST
    - [ ] 1.1 a
      - why
    - [ ] 1.1.REQ-CHECK
    - [ ] 1.1.PITEST
    - [ ] 1.1.PRE-CR
    - [ ] 1.2.TEST-FIRST
    - [ ] 1.2 b
    - [ ] 1.2.REQ-CHECK
    - [ ] 1.2.PITEST
    - [ ] 1.2.PRE-CR

    ## Two

    1. [ ] T3.TEST-FIRST
    1. [ ] T3: c
    1. [ ] T3.REQ-CHECK
    1. [ ] T3.PITEST
    1. [ ] T3.PRE-CR
    1. [ ] END.SPOTLESS
    1. [ ] FINAL
    ");
    let again = TaskFile::parse(staged.bytes.clone(), &grammar);
    assert_eq!(
        again
            .add_stages(TaskSelection::Plain, &gates, |_| true)
            .unwrap()
            .bytes,
        staged.bytes,
        "twice is once"
    );
    assert_eq!(staged.inserted.first(), Some(&(key("1.1.TEST-FIRST"), 3)));
}

#[test]
fn bullets_indentation_line_ends_and_the_last_line_are_those_of_the_file() {
    let each = &Placement::Each;
    for (before, expected) in [
        ("- [ ] 1. a", "- [ ] 1. a\n- [ ] 1.PITEST"),
        ("- [ ] 1. a\r\n", "- [ ] 1. a\r\n- [ ] 1.PITEST\r\n"),
        ("x\r\n- [ ] 1. a", "x\r\n- [ ] 1. a\r\n- [ ] 1.PITEST"),
        (
            "- [ ] 1. a\r- [ ] 2. b\r",
            "- [ ] 1. a\r- [ ] 1.PITEST\r- [ ] 2. b\r- [ ] 2.PITEST\r",
        ),
        (
            "\u{feff}- [ ] 1. a\n",
            "\u{feff}- [ ] 1. a\n- [ ] 1.PITEST\n",
        ),
        ("*   [ ] 1. a\n", "*   [ ] 1. a\n*   [ ] 1.PITEST\n"),
        ("5. [ ] 1. a\n", "5. [ ] 1. a\n5. [ ] 1.PITEST\n"),
        (
            " -\t[ ] **Task 1:** a\n",
            " -\t[ ] **Task 1:** a\n -\t[ ] 1.PITEST\n",
        ),
        ("1. - [ ] 1. a\n", "1. - [ ] 1. a\n   - [ ] 1.PITEST\n"),
        (
            "- [ ] T012 [P] a\nlazy\n\n  deep\nnot\n",
            "- [ ] T012 [P] a\nlazy\n\n  deep\nnot\n- [ ] T012.PITEST\n",
        ),
        (
            "- [ ] 1. a\n---\n- [ ] 2. b\n> q\n",
            "- [ ] 1. a\n- [ ] 1.PITEST\n---\n- [ ] 2. b\n- [ ] 2.PITEST\n> q\n",
        ),
        (
            "- [ ] 1. a\n```\n- x\n```\n",
            "- [ ] 1. a\n- [ ] 1.PITEST\n```\n- x\n```\n",
        ),
        (
            "- [ ] 1. a\n  <!-- x\n\n  y -->\n- z\n",
            "- [ ] 1. a\n  <!-- x\n\n  y -->\n- [ ] 1.PITEST\n- z\n",
        ),
        (
            "- [ ] 1. a\n  ```\n  open\n\n- z\n",
            "- [ ] 1. a\n  ```\n  open\n\n- [ ] 1.PITEST\n- z\n",
        ),
        (
            "- p\n  - [ ] 1.1 a\n    - s\n\n    t\n\n  u\n",
            "- p\n  - [ ] 1.1 a\n    - s\n\n    t\n  - [ ] 1.1.PITEST\n\n  u\n",
        ),
    ] {
        assert_eq!(there_and_back(before, each), expected, "{before:?}");
    }
}

#[test]
fn only_open_gates_in_ralphs_own_form_are_taken_away() {
    for stays in [
        "- [x] 1.PITEST\n",
        "- [-] 1.PITEST\n",
        "- [ ]* 1.PITEST\n",
        "- [ ] 1.PITEST → the gate\n",
        "- [ ] 1.PITEST \n",
        "- [ ]  1.PITEST\n",
        "- [ ] **1.PITEST**\n",
        "- - [ ] 1.PITEST\n",
        "- [ ] 1.PITEST\n  - a note\n",
        "- [ ] 1.PITEST\nlazy\n",
        "- [ ] 1.OTHER\n",
        "```\n- [ ] 1.PITEST\n```\n",
    ] {
        let text = format!("- [ ] 1. a\n{stays}");
        assert_eq!(self::text(&placed(text.clone(), &Placement::None)), text);
    }
    for goes in [
        "- [ ] 1.PITEST\n",
        "  - [ ] 1.PITEST\n",
        "* [ ] 1.PITEST\n\n",
        "3) [ ] G9.PITEST\n",
        "- [ ] END.PITEST",
    ] {
        let text = format!("- [ ] 1. a\n{goes}");
        let left = placed(text, &Placement::None);
        assert_eq!(boxes(left.bytes), ["1. ' '"], "{goes:?}");
        assert_eq!(left.removed.len(), 1);
    }
}

#[test]
fn another_placement_takes_the_place_of_the_one_before() {
    let each = placed(SPEC, &Placement::Tested);
    assert_eq!(
        placed(each.bytes.clone(), &Placement::Groups).bytes,
        placed(SPEC, &Placement::Groups).bytes
    );
    let ticked = text(&each).replace("- [ ] 2.PITEST", "- [x] 2.PITEST");
    let end = placed(ticked, &Placement::End);
    assert_eq!(end.removed, [(key("3.PITEST"), 25)]);
    assert_eq!(end.inserted, [(key("END.PITEST"), 25)]);
    assert!(
        text(&end).contains("- [x] 2.PITEST\n"),
        "what was judged stays"
    );
}

#[test]
fn open_gates_of_wider_reach_follow_the_tasks_that_are_added_behind_them() {
    for (before, placement, after) in [
        (
            "- [ ] 1. a\n- [ ] END.PITEST\n- [ ] 2. b\n",
            Placement::End,
            "- [ ] 1. a\n- [ ] 2. b\n- [ ] END.PITEST\n",
        ),
        (
            "## A\n- [ ] 1. a\n- [ ] G1.PITEST\n- [ ] 2. b\n  - [ ] 2.1 c\n\n## B\n- [ ] 3. d\n- [ ] G2.PITEST\n- [ ] FINAL\n",
            Placement::Groups,
            "## A\n- [ ] 1. a\n- [ ] 2. b\n  - [ ] 2.1 c\n- [ ] G1.PITEST\n\n## B\n- [ ] 3. d\n- [ ] G2.PITEST\n- [ ] FINAL\n",
        ),
        (
            "## A\n- [ ] G1.PITEST\n- [ ] 1. a\n",
            Placement::Groups,
            "## A\n- [ ] 1. a\n- [ ] G1.PITEST\n",
        ),
        (
            "- [ ] 1. a\n- [ ] END.PITEST\n- [ ] FINAL\n- [ ] G1.PITEST\n",
            Placement::End,
            "- [ ] 1. a\n- [ ] END.PITEST\n- [ ] FINAL\n",
        ),
    ] {
        let moved = placed(before, &placement);
        assert_eq!(text(&moved), after);
        assert_eq!(
            placed(after, &placement).bytes,
            moved.bytes,
            "twice is once"
        );
        let bare = |text: &str| placed(text, &Placement::None).bytes;
        assert_eq!(bare(before), bare(after));
    }
    for stays in [
        "- [x] END.PITEST",
        "- [ ] END.PITEST by hand",
        "- [ ] END.PITEST\n  - why",
        "- [-] END.PITEST",
        "- [ ] END.OTHER\n- [x] END.PITEST",
    ] {
        let before = format!("- [ ] 1. a\n{stays}\n- [ ] 2. b\n");
        assert_eq!(text(&placed(before.clone(), &Placement::End)), before);
    }
    let between = "- [ ] 1. a\n\n- [ ] END.PITEST\n\n- [ ] FINAL\n";
    assert_eq!(
        text(&placed(between, &Placement::End)),
        between,
        "FINAL may follow"
    );
}

#[test]
fn ids_that_are_not_one_task_are_listed() {
    let file = parse("- [ ] 1. a\n- [ ] 4. b\n- [ ] 4. c\n");
    let error = file
        .place_gates("PITEST", &after(&["1", "9", "4.", "x\u{1b}"]), false)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "The task file has no task, or more than one, with the id `9`, `4.`, `x\\u{1b}`."
    );
}

#[test]
fn a_line_that_would_change_how_others_are_read_is_refused() {
    // The grammar has no such gate, so the line would be a task of its own.
    let error = parse("- [ ] 1. a\n- [ ] 2. b\n")
        .place_gates("STRYKER", &after(&["2"]), false)
        .unwrap_err();
    assert_eq!(error.kind, Refused::DoesNotFit);
    assert!(
        error
            .to_string()
            .starts_with("A line for 2.STRYKER does not fit next to the task on line 2")
    );
}

fn placement() -> impl Strategy<Value = Placement> {
    prop_oneof![
        Just(Placement::Each),
        Just(Placement::Tested),
        Just(Placement::Groups),
        Just(Placement::End),
        proptest::collection::vec(
            proptest::sample::select(vec!["1", "2", "1.1", "2.1", "3", "9"]),
            0..3
        )
        .prop_map(|ids| after(&ids)),
    ]
}

fn without_lines(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().map(|row| Row { line: 0, ..row }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn placing_and_taking_away_gives_the_bytes_of_the_start(bytes in prop_oneof![file(), plan(), fenced()], placement in placement()) {
        let Ok(start) = parse(bytes).place_gates("PITEST", &Placement::None, false) else { return Ok(()) };
        let file = parse(start.bytes);
        let Ok(there) = file.place_gates("PITEST", &placement, false) else { return Ok(()) };
        let read = parse(there.bytes.clone());
        let new: Vec<_> = there.inserted.iter().map(|(key, _)| key.clone()).collect();
        let rest: Vec<Row> = read.box_rows().into_iter().filter(|row| !new.contains(&row.key)).collect();
        prop_assert_eq!(without_lines(rest), without_lines(file.box_rows()));
        prop_assert_eq!(&read.place_gates("PITEST", &placement, false).unwrap().bytes, &there.bytes);
        let back = read.place_gates("PITEST", &Placement::None, false).unwrap();
        prop_assert_eq!(back.bytes, file.file_bytes());
        prop_assert_eq!(back.removed, there.inserted);
    }

    #[test]
    fn placing_after_later_edits_is_placing_anew(
        bytes in plan(),
        placement in placement(),
        at in 0..20_usize,
        new in proptest::sample::select(vec!["- [ ] 7. new\n", "  - [ ] 7. new\n", "## New\n", "- [ ] G1.PITEST\n", "- [ ] END.PITEST\n"]),
    ) {
        let Ok(there) = parse(bytes).place_gates("PITEST", &placement, false) else { return Ok(()) };
        let text = text(&there);
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.insert(at.min(lines.len()), new);
        let edited = lines.concat();
        let Ok(once) = parse(edited.clone()).place_gates("PITEST", &placement, false) else { return Ok(()) };
        let read = parse(once.bytes.clone());
        prop_assert_eq!(&read.place_gates("PITEST", &placement, false).unwrap().bytes, &once.bytes, "{}", edited);
        let bare = |text: Vec<u8>| parse(text).place_gates("PITEST", &Placement::None, false).map(|bare| bare.bytes);
        prop_assert_eq!(bare(once.bytes.clone()), bare(edited.clone().into_bytes()), "{}", edited);
        let rows = read.box_rows();
        for (key, line) in once.inserted.iter().filter(|(key, _)| key.family == "END") {
            let mut after = rows.iter().filter(|row| row.line > *line);
            let is_work = |row: &Row| row.key.stage.stage_word() == "IMPLEMENT";
            prop_assert!(!after.any(is_work), "{} is followed in {}", key, edited);
        }
    }

    #[test]
    fn a_plain_list_of_tasks_takes_every_placement(bytes in plan(), placement in placement()) {
        let placed = parse(bytes).place_gates("PITEST", &placement, false);
        let fits = placed.as_ref().map_or_else(|refusal| refusal.kind != Refused::DoesNotFit, |_| true);
        prop_assert!(fits, "{:?}", placed);
    }

    #[test]
    fn staging_twice_is_staging_once(bytes in prop_oneof![file(), plan(), fenced()], placement in placement()) {
        let gates = [("PITEST".to_owned(), placement)];
        let Ok(staged) = parse(bytes.clone()).add_stages(TaskSelection::Plain, &gates, |_| true) else { return Ok(()) };
        let again = parse(staged.bytes.clone());
        prop_assert_eq!(&again.add_stages(TaskSelection::Plain, &gates, |_| true).unwrap().bytes, &staged.bytes);
        let new: Vec<_> = staged.inserted.iter().map(|(key, _)| key.clone()).collect();
        let rest: Vec<Row> = again.box_rows().into_iter().filter(|row| !new.contains(&row.key)).collect();
        prop_assert_eq!(without_lines(rest), without_lines(parse(bytes).box_rows()));
    }
}

#[test]
fn a_gate_that_holds_only_gates_goes_with_them_at_once() {
    let text = "- [x] 9. a\n- [ ] 1.PITEST\n\n - [ ] 2.PITEST\n- [ ] 3.PITEST\n  words\n";
    let bare = placed(text, &Placement::None);
    let lines: Vec<u32> = bare.removed.iter().map(|(_, line)| *line).collect();
    assert_eq!(
        (lines, self::text(&bare)),
        (
            vec![2, 4],
            "- [x] 9. a\n\n- [ ] 3.PITEST\n  words\n".to_owned()
        )
    );
    let again = placed(bare.bytes.clone(), &Placement::None);
    assert_eq!(again.removed, [], "all went at once");
}

#[test]
fn no_gate_goes_behind_what_is_done_unless_it_is_asked_for() {
    let text =
        "# A\n- [x] 1. a\n# B\n- [x] 2. b\n- [ ] 2.PITEST\n- [ ] 3. c\n- [ ] 4. Checkpoint\n";
    let keys = |placement, done| {
        let placed = parse(text).place_gates("PITEST", &placement, done).unwrap();
        let names = |boxes: &[(TaskKey, u32)]| {
            boxes
                .iter()
                .map(|(key, _)| key.written_id())
                .collect::<Vec<_>>()
        };
        (
            names(&placed.inserted).join(" "),
            names(&placed.removed).join(" "),
        )
    };
    let of = |inserted: &str, removed: &str| (inserted.to_owned(), removed.to_owned());
    assert_eq!(
        keys(Placement::Each, false),
        of("3.PITEST", ""),
        "the gate that is there stays"
    );
    assert_eq!(keys(Placement::Each, true), of("1.PITEST 3.PITEST", ""));
    assert_eq!(keys(Placement::Groups, false), of("G2.PITEST", "2.PITEST"));
    assert_eq!(
        keys(Placement::Groups, true),
        of("G1.PITEST G2.PITEST", "2.PITEST")
    );
    assert_eq!(
        keys(after(&["1"]), false),
        of("1.PITEST", "2.PITEST"),
        "a named task gets its gate"
    );
    let done = parse("- [x] 1. a\n");
    assert_eq!(
        done.place_gates("PITEST", &Placement::End, false)
            .unwrap()
            .inserted,
        []
    );
    let open = parse("- [x] 1. a\n- [ ] END.PITEST\n")
        .place_gates("PITEST", &Placement::End, false)
        .unwrap();
    assert_eq!(open.removed, []);
}

/// spec-kit's template: tests are tasks of their own, before the code that they are for.
#[test]
fn a_task_that_only_writes_tests_gets_no_gate() {
    let text = "\
- [ ] T010 [P] [US1] Contract test for returns in src/test/java/shop/ReturnsTest.java
- [ ] T011 [US1] Implement returns in src/main/java/shop/Returns.java
- [ ] T012 Write tests for the price
- [ ] T013.TEST-FIRST Write tests for the stock
- [ ] T013 Write tests for the stock
";
    let file = parse(text);
    let gates = |placement: &Placement| {
        let planned = plan_gate(&file.box_rows(), "PITEST", placement).unwrap();
        planned
            .into_iter()
            .map(|planned| planned.key.written_id())
            .collect::<Vec<_>>()
    };
    assert_eq!(gates(&Placement::Each), ["T011.PITEST", "T013.PITEST"]);
    let named = Placement::After(vec!["T010".to_owned()]);
    assert_eq!(gates(&named), ["T010.PITEST"], "a named task gets its gate");
    assert_eq!(
        tasks_of_tests_alone(&file.box_rows()),
        ["task T010", "task T012"]
    );

    let only_tests = parse("## A\n- [ ] 1. Unit tests\n## B\n- [ ] 2. Price\n");
    let groups = plan_gate(&only_tests.box_rows(), "PITEST", &Placement::Groups).unwrap();
    let groups: Vec<String> = groups
        .into_iter()
        .map(|planned| planned.key.written_id())
        .collect();
    assert_eq!(groups, ["G2.PITEST"]);

    // An existing open gate is removed, and a ticked one stays.
    let gated = "- [ ] T012 Write tests for the price\n- [ ] T012.PITEST\n";
    let placed = |text: &str| {
        let file = parse(text);
        let edited = file.place_gates("PITEST", &Placement::Each, false).unwrap();
        (edited.inserted.len(), edited.removed.len())
    };
    assert_eq!(placed(gated), (0, 1));
    assert_eq!(placed(&gated.replace("[ ]", "[x]")), (0, 0));
}
