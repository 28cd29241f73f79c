//! Tests of planned gates and stages.

use super::rows;
use crate::task::{
    Families, Grammar, Placement, PlannedBox, RowPosition, TaskFile, TaskKey, TaskSelection,
};
use crate::task::{plan_gate, plan_stages};

/// Lists each box as its key, the side, and the key of its neighbour.
fn shown(text: &str, wanted: &[PlannedBox]) -> Vec<String> {
    let rows = rows(text);
    let name = |key: &TaskKey| key.written_id();
    wanted
        .iter()
        .map(|wanted| match wanted.position {
            RowPosition::Exists => format!("{} exists", name(&rows[wanted.beside].key)),
            side => format!(
                "{} {side:?} {}",
                name(&wanted.key),
                name(&rows[wanted.beside].key)
            ),
        })
        .collect()
}

fn gates(text: &str, placement: &Placement) -> Vec<String> {
    shown(text, &plan_gate(&rows(text), "PITEST", placement).unwrap())
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn stages(text: &str, staged: TaskSelection<'_>, placement: &Placement) -> Vec<String> {
    let gates = [("PITEST".to_owned(), placement.clone())];
    shown(text, &plan_stages(&rows(text), staged, &gates).unwrap())
}

const STAGED: &str = "# Plan\n\n## Core\n- [x] 1.TEST-FIRST\n- [x] 1. a\n- [ ] 1.REQ-CHECK\n- [ ] 1.PRE-CR\n\
    ## Shell\n- [ ] 2.TEST-FIRST\n- [ ] 2. b\n- [ ] 3. docs\n- [ ] FINAL\n";

const PLAIN: &str = "- [x] 1. a\n- [ ] 2. parent\n  - [ ] 2.1 b\n  - [ ]* 2.2 c\n- [ ] 3. Checkpoint\n\
    - [ ] 4. d\n- [ ] 4. e\n- [ ] no id\n";

#[test]
fn each_is_every_required_leaf_and_tested_every_task_with_test_first() {
    assert_eq!(
        gates(STAGED, &Placement::Each),
        ["2.PITEST After 2.", "3.PITEST After 3."]
    );
    assert_eq!(gates(STAGED, &Placement::Tested), ["2.PITEST After 2."]);
    assert_eq!(gates(PLAIN, &Placement::Tested), [""; 0]);
    assert_eq!(
        gates(PLAIN, &Placement::Each),
        ["2.1.PITEST After 2.1."],
        "what is done, parents, checkpoints, optional tasks, doubled ids and tasks without id get none"
    );
    assert_eq!(
        gates(
            "- [ ] 2.TEST-FIRST\n- [ ] 2. a\n- [ ] 2. b\n- [ ] 3. c\n",
            &Placement::Tested
        ),
        [""; 0]
    );
}

#[test]
fn a_task_whose_children_are_all_optional_is_a_task_like_any_other() {
    let text = "- [ ] 1. a\n  - [ ]* 1.1 tests\n- [ ] 2. b\n";
    assert_eq!(
        gates(text, &Placement::Each),
        ["1.PITEST After 1.", "2.PITEST After 2."]
    );
    let plain = stages(text, TaskSelection::Plain, &Placement::Each);
    assert_eq!(
        plain[..4],
        [
            "1.TEST-FIRST Before 1.",
            "1.REQ-CHECK After 1.",
            "1.PITEST After 1.",
            "1.PRE-CR After 1."
        ]
    );
    assert_eq!(stages(text, TaskSelection::Every, &Placement::Each), plain);
    let deeper = "- [ ] 1. a\n  - [ ]* 1.1 b\n    - [ ] 1.1.1 c\n";
    assert_eq!(
        gates(deeper, &Placement::Each),
        ["1.1.1.PITEST After 1.1.1."],
        "required work at any depth"
    );
}

#[test]
fn a_gate_stands_between_the_reviews_however_many_of_them_there_are() {
    for (stages, expected) in [
        ("", "2.PITEST After 2."),
        ("- [ ] 2.REQ-CHECK\n", "2.PITEST After 2.REQ-CHECK"),
        ("- [ ] 2.PRE-CR\n", "2.PITEST Before 2.PRE-CR"),
        (
            "- [ ] 2.PRE-CR\n- [ ] 2.REQ-CHECK\n",
            "2.PITEST Before 2.PRE-CR",
        ),
        (
            "- [ ] 2.REQ-CHECK\n- [ ] 2.INTEG\n- [ ] 2.PRE-CR\n",
            "2.PITEST After 2.REQ-CHECK",
        ),
        ("- [ ] 2.PRE-CR\n- [x] 2.PITEST\n", "2.PITEST exists"),
    ] {
        let text = format!("- [ ] 2. a\n{stages}- [ ] 3. b\n");
        assert_eq!(
            gates(&text, &Placement::After(ids(&["2"]))),
            [expected],
            "{stages}"
        );
    }
    assert_eq!(
        gates("- [ ] 2.REQ-CHECK\n- [ ] 2. a\n", &Placement::Each),
        ["2.PITEST After 2."]
    );
}

#[test]
fn named_tasks_are_found_by_id_in_any_spelling_and_missing_ones_are_listed() {
    let after = Placement::After(ids(&["3.", " 1 ", "1"]));
    assert_eq!(
        gates(PLAIN, &after),
        ["1.PITEST After 1.", "3.PITEST After 3."]
    );
    assert_eq!(
        gates(PLAIN, &Placement::After(ids(&["2", "2.2"]))).len(),
        2,
        "a parent, an optional task"
    );
    let after = Placement::After(ids(&["1", "9", "4", "~x", ""]));
    let error = plan_gate(&rows(PLAIN), "PITEST", &after).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The task file has no task, or more than one, with the id `9`, `4`, `~x`, ``."
    );
}

#[test]
fn headings_below_the_level_are_part_of_the_group_above_them() {
    let text =
        "# Plan\n## A\n- [ ] 1. a\n### A1\n- [ ] 2. b\n# More\n- [ ] 3. c\n### C1\n- [ ] 4. d\n";
    let at = |level| {
        let groups = Placement::GroupsOf { groups: level };
        let file = TaskFile::parse(text, &Grammar::default().with_groups([&groups]));
        let placed = file.place_gates("PITEST", &groups, false).unwrap();
        let placed = TaskFile::parse(placed.bytes, &Grammar::default().with_groups([&groups]));
        let rows = placed.box_rows();
        let families = Families::new(&rows);
        let gates = rows.iter().filter(|row| row.key.is_wider_gate());
        let covered = |key: &TaskKey| {
            families
                .covered_families(key)
                .into_iter()
                .collect::<Vec<_>>()
                .join(" ")
        };
        gates
            .map(|row| format!("{} {}: {}", row.line, row.key, covered(&row.key)))
            .collect::<Vec<_>>()
    };
    assert_eq!(at(1), ["6 G1.PITEST: 1 2", "11 G2.PITEST: 3 4"]);
    assert_eq!(at(2), ["6 G2.PITEST: 1 2", "11 G3.PITEST: 3 4"]);
    assert_eq!(at(3).len(), 4);
    assert_eq!(at(3), at(6));
}

#[test]
fn each_heading_with_required_tasks_has_one_group_gate_with_a_number_of_its_own() {
    let text = "# Plan\n- words\n## A\n- [ ] 1. a\n  - [ ] 1.1 b\n## Notes\n- [ ]* 5. later\n## B\n- [ ] 2. c\n- [ ] FINAL\n";
    assert_eq!(
        gates(text, &Placement::Groups),
        ["G2.PITEST End 1.1.", "G4.PITEST End 2."]
    );
    assert_eq!(
        gates("- [ ] 1. a\n", &Placement::Groups),
        ["G0.PITEST End 1."],
        "no heading is a group too"
    );
    let text =
        "## A\n- [ ] 1. a\n## B\n- [ ] 2. b\n- [x] G1.PITEST\n- [ ] G7.OTHER\n## C\n- [ ] 3. c\n";
    assert_eq!(
        gates(text, &Placement::Groups),
        ["G4.PITEST End 1.", "G1.PITEST exists", "G3.PITEST End 3."],
        "an existing gate keeps its number, which is not used again"
    );
}

#[test]
fn the_end_gate_stands_after_the_last_task_and_before_final() {
    assert_eq!(gates(STAGED, &Placement::End), ["END.PITEST End 3."]);
    assert_eq!(
        gates("- [ ] FINAL\n- [ ] 1. a\n", &Placement::End),
        ["END.PITEST End 1."]
    );
    assert_eq!(
        gates("- [ ] 1. a\n- [x] END.PITEST\n", &Placement::End),
        ["END.PITEST exists"]
    );
    assert_eq!(
        gates("- [ ] 1. a\n- [ ] G1.PITEST\n", &Placement::End),
        ["END.PITEST End G1.PITEST"]
    );
    assert_eq!(
        gates("- [ ] FINAL\n- [ ]* 1. a\n", &Placement::End),
        [""; 0]
    );
    assert_eq!(gates(STAGED, &Placement::None), [""; 0]);
}

#[test]
fn plain_tasks_get_all_stages_and_one_final() {
    assert_eq!(
        stages(PLAIN, TaskSelection::Plain, &Placement::Each),
        [
            "2.1.TEST-FIRST Before 2.1.",
            "2.1.REQ-CHECK After 2.1.",
            "2.1.PITEST After 2.1.",
            "2.1.PRE-CR After 2.1.",
            "FINAL End task.",
        ],
        "what is done, optional, a parent, a checkpoint or without an own id stays as it is"
    );
    let every = stages(PLAIN, TaskSelection::Every, &Placement::End);
    assert_eq!(
        every.iter().filter(|line| line.contains("PRE-CR")).count(),
        5,
        "{every:?}"
    );
    assert_eq!(
        every.iter().filter(|line| line.contains("PITEST")).count(),
        1,
        "{every:?}"
    );
}

#[test]
fn a_gate_comes_wherever_it_is_placed_by_name() {
    let after = Placement::After(ids(&["1", "2", "2.2", "3"]));
    let gates_of = |staged| {
        let all = stages(PLAIN, staged, &after);
        all.into_iter()
            .filter(|line| line.contains("PITEST"))
            .collect::<Vec<_>>()
    };
    let named = [
        "1.PITEST After 1.",
        "2.PITEST After 2.",
        "2.2.PITEST After 2.2.",
        "3.PITEST After 3.",
    ];
    assert_eq!(
        gates_of(TaskSelection::Plain),
        named,
        "as `place after` does"
    );
    assert_eq!(gates_of(TaskSelection::Every), named);
    let two = ids(&["2.1", "1"]);
    assert_eq!(
        gates_of(TaskSelection::Named(&two)),
        ["1.PITEST After 1."],
        "only what is to be staged"
    );
}

#[test]
fn tasks_with_stages_are_left_alone_unless_they_are_named() {
    assert_eq!(
        stages(STAGED, TaskSelection::Plain, &Placement::Groups),
        [
            "3.TEST-FIRST Before 3.",
            "3.REQ-CHECK After 3.",
            "3.PRE-CR After 3.",
            "G3.PITEST End 3."
        ],
        "only the group of a staged task gets its gate"
    );
    assert_eq!(
        stages(
            STAGED,
            TaskSelection::Named(&ids(&["1", "2."])),
            &Placement::After(ids(&["1", "3"]))
        ),
        [
            "1.PITEST After 1.REQ-CHECK",
            "2.REQ-CHECK After 2.",
            "2.PRE-CR After 2."
        ]
    );
    let gated = "- [ ] 1. a\n- [ ] 1.PITEST\n";
    assert_eq!(
        stages(gated, TaskSelection::Plain, &Placement::Each),
        [
            "1.TEST-FIRST Before 1.",
            "1.REQ-CHECK Before 1.PITEST",
            "1.PRE-CR After 1.PITEST",
            "FINAL End 1.PITEST"
        ],
        "a gate alone makes no staged task"
    );
    assert!(plan_stages(&rows(STAGED), TaskSelection::Named(&ids(&["9"])), &[]).is_err());
    assert_eq!(
        stages("- [x] 1. a\n", TaskSelection::Plain, &Placement::End),
        [""; 0],
        "nothing to stage, no FINAL"
    );
    assert_eq!(stages("", TaskSelection::Every, &Placement::End), [""; 0]);
}
