//! Tests of stages without a line: the added rows, and their state in the boxes of the file.

use super::super::{
    Grammar, Mark, Placement, Row, Stages, TaskFile, TaskKey, TaskRules, on_file, with_marks,
    written_rows,
};
use proptest::prelude::*;

fn rules(placement: Placement) -> TaskRules {
    let stages = Stages::Virtual {
        gates: vec![("PITEST".to_owned(), placement)],
    };
    TaskRules {
        stages,
        ..TaskRules::default()
    }
}

fn boxes(text: &str, placement: Placement, known: &[Row]) -> Vec<Row> {
    let rules = rules(placement);
    rules.ordered_boxes(&rules.parse(text), known)
}

/// Returns the boxes with a gate after each task.
fn read(text: &str, known: &[Row]) -> Vec<Row> {
    boxes(text, Placement::Each, known)
}

fn parse(text: &str) -> TaskFile {
    rules(Placement::Each).parse(text)
}

fn shown(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let name = if row.key.has_id() {
            row.key.written_id()
        } else {
            format!("-{}", row.key.stage.stage_word())
        };
        format!(
            "{name}{}{}",
            if row.is_virtual { "~" } else { "" },
            if row.mark.is_done() { "x" } else { "" }
        )
    };
    rows.iter().map(line).collect()
}

/// Applies flips as ralph writes them, and returns the file and its rows.
fn flipped(text: &str, rows: &[Row], flips: &[(TaskKey, Mark)]) -> (String, Vec<Row>) {
    let mut bytes = text.as_bytes().to_vec();
    let mut told = flips.to_vec();
    for (key, mark) in on_file(rows, flips) {
        let edit = parse(std::str::from_utf8(&bytes).unwrap())
            .flip_box(&key, mark)
            .unwrap();
        bytes = edit.map_or(bytes.clone(), |edit| edit.apply_to(&bytes).unwrap());
        if mark.is_done() {
            let file = TaskFile::parse(bytes.clone(), &Grammar::default());
            let stands = file
                .box_rows()
                .iter()
                .find(|row| row.key == key)
                .unwrap()
                .mark;
            told.push((key, stands));
        }
    }
    let mut rows = rows.to_vec();
    for (key, mark) in told {
        rows.iter_mut().find(|row| row.key == key).unwrap().mark = mark;
    }
    (String::from_utf8(bytes).unwrap(), rows)
}

const SPEC: &str = "# Plan\n\n- [ ] 1. Parent\n  - [ ] 1.1 Leaf\n  - [ ]* 1.2 Optional\n- [ ] 2. Checkpoint\n- [ ] words\n";

#[test]
fn required_leaves_get_stages_parents_checkpoints_and_optional_tasks_none() {
    assert_eq!(
        shown(&read(SPEC, &[])),
        [
            "1.",
            "1.1.TEST-FIRST~",
            "1.1.",
            "1.1.REQ-CHECK~",
            "1.1.PITEST~",
            "1.1.PRE-CR~",
            "1.2.",
            "2.",
            "-TEST-FIRST~",
            "-IMPLEMENT",
            "-REQ-CHECK~",
            "-PITEST~",
            "-PRE-CR~",
            "FINAL~",
        ]
    );
}

#[test]
fn a_file_with_stages_in_the_default_mode_is_read_as_it_stands() {
    let rules = TaskRules::default();
    let file = rules.parse(SPEC);
    assert_eq!(rules.ordered_boxes(&file, &[]), file.box_rows());
}

#[test]
fn gates_of_wider_reach_stand_at_their_headings_and_at_the_end() {
    let text = "## A\n- [ ] 1. a\n## B\n- [ ] 2. b\n";
    let file = |placement| boxes(text, placement, &[]);
    let wide = |rows: Vec<Row>| -> Vec<String> {
        rows.iter()
            .filter(|row| row.key.stage.is_gate())
            .map(|row| format!("{} in {}", row.key, row.group))
            .collect()
    };
    assert_eq!(
        wide(file(Placement::Groups)),
        ["G1.PITEST in 1", "G2.PITEST in 2"]
    );
    assert_eq!(wide(file(Placement::End)), ["END.PITEST in 2"]);
    assert_eq!(
        wide(file(Placement::After(vec!["2".into()]))),
        ["2.PITEST in 2"]
    );
    assert_eq!(wide(file(Placement::None)), Vec::<String>::new());
}

#[test]
fn a_gate_stands_wherever_its_author_named_a_task() {
    let after = Placement::After(["1", "1.2", "2"].map(str::to_owned).to_vec());
    let rows = boxes(SPEC, after.clone(), &[]);
    let gates: Vec<String> = shown(&rows)
        .into_iter()
        .filter(|name| name.contains("PITEST"))
        .collect();
    assert_eq!(
        gates,
        ["1.PITEST~", "1.2.PITEST~", "2.PITEST~"],
        "parent, optional task, checkpoint"
    );
    let optional: Vec<String> = rows
        .iter()
        .filter(|row| row.optional)
        .map(|row| row.key.written_id())
        .collect();
    assert_eq!(optional, ["1.2.", "1.2.PITEST"]);
    let all_done = SPEC.replace("[ ]", "[x]");
    let rows = boxes(&all_done, after, &[]);
    assert!(
        rows.iter().all(|row| row.mark.is_done()),
        "{:?}",
        shown(&rows)
    );
}

#[test]
fn what_is_neither_open_nor_done_is_so_for_every_stage_that_is_left() {
    let marks = |rows: &[Row]| rows.iter().map(|row| row.mark.0).collect::<String>();
    let held = read("- [~] 1. a\n", &[]);
    assert_eq!(marks(&held), "~~~~~ ");
    let open = read("- [ ] 1. a\n", &held);
    assert_eq!(marks(&open), "      ", "opened again");
    let (_, begun) = flipped("- [ ] 1. a\n", &open, &[(open[0].key.clone(), Mark::DONE)]);
    let held = read("- [~] 1. a\n", &begun);
    assert_eq!(marks(&held), "x~~~~ ");
    assert_eq!(marks(&read("- [ ] 1. a\n", &held)), "x     ");
}

#[test]
fn a_placement_after_a_task_that_is_not_there_refuses_the_file() {
    let rules = rules(Placement::After(vec!["7".into()]));
    let file = rules.parse("- [ ] 1. a\n");
    let problems = rules.find_problems(&file);
    assert_eq!((problems.len(), file.find_problems().len()), (1, 0));
    assert!(
        problems[0].message.contains("`7`"),
        "{}",
        problems[0].message
    );
}

#[test]
fn a_box_that_a_person_changed_speaks_for_all_stages_of_its_task() {
    let open = "- [ ] 1. a\n- [ ] 2. b\n";
    let rows = read(open, &[]);
    let tests = rows[0].key.clone();
    let (text, rows) = flipped(open, &rows, &[(tests, Mark::DONE)]);
    assert_eq!(text, open, "one stage of five");
    let ticked = read("- [x] 1. a\n- [ ] 2. b\n", &rows);
    assert_eq!(
        shown(&ticked)[..6],
        [
            "1.TEST-FIRST~x",
            "1.x",
            "1.REQ-CHECK~x",
            "1.PITEST~x",
            "1.PRE-CR~x",
            "2.TEST-FIRST~"
        ]
    );
    let opened = read(open, &ticked);
    assert_eq!(
        shown(&opened)[..5],
        [
            "1.TEST-FIRST~",
            "1.",
            "1.REQ-CHECK~",
            "1.PITEST~",
            "1.PRE-CR~"
        ]
    );
}

#[test]
fn a_mark_that_is_not_ralphs_stays_and_a_text_that_changed_begins_anew() {
    let open = "- [ ] 1. a\n";
    let rows = read(open, &[]);
    let (_, rows) = flipped(
        open,
        &rows,
        &[
            (rows[0].key.clone(), Mark::DONE),
            (rows[1].key.clone(), Mark::DONE),
        ],
    );
    assert_eq!(shown(&rows)[..3], ["1.TEST-FIRST~x", "1.x", "1.REQ-CHECK~"]);
    let held = read("- [-] 1. a\n", &rows);
    assert_eq!((held[1].mark, held[0].mark), (Mark('-'), Mark::DONE));
    let reworded = read("- [ ] 1. another\n", &rows);
    assert_eq!(
        shown(&reworded)[..3],
        ["1.TEST-FIRST~", "1.", "1.REQ-CHECK~"]
    );
}

#[test]
fn a_file_that_was_ticked_before_has_nothing_open() {
    let rows = read("- [x] 1. a\n- [X] 2. b\n", &[]);
    assert!(
        rows.iter().all(|row| row.mark.is_done()),
        "{:?}",
        shown(&rows)
    );
}

proptest! {
    #[test]
    fn what_ralph_writes_never_looks_like_a_persons_doing(
        texts in prop::collection::vec("(- \\[[ xX]\\]|  - \\[ \\]|- \\[ \\]\\*|## ) ?([1-4]\\.([1-2])? )?[ab]{1,2}", 1..9),
        flips in prop::collection::vec((0usize..40, any::<bool>()), 0..30),
        placement in prop_oneof![
            Just(Placement::Each), Just(Placement::Groups), Just(Placement::End), Just(Placement::None)
        ],
    ) {
        let rules = rules(placement);
        let mut text = texts.join("\n");
        let mut rows = rules.ordered_boxes(&rules.parse(text.as_str()), &[]);
        prop_assume!(!rows.is_empty());
        for (at, done) in flips {
            let key = rows[at % rows.len()].key.clone();
            let (after, expected) =
                flipped(&text, &rows, &[(key, if done { Mark::DONE } else { Mark::OPEN })]);
            text = after;
            let file = rules.parse(text.as_str());
            let read = rules.ordered_boxes(&file, &expected);
            prop_assert_eq!(&read, &expected, "{}", text);
            let back = with_marks(&file.text_without_marks(), &written_rows(&expected));
            prop_assert_eq!(back.map(|bytes| String::from_utf8(bytes).unwrap()), Some(text.clone()));
            rows = read;
        }
    }

    #[test]
    fn a_box_is_ticked_in_the_file_exactly_when_all_its_stages_are(
        flips in prop::collection::vec((0usize..12, any::<bool>()), 0..40),
    ) {
        let mut text = "- [ ] 1. a\n- [ ] 2. b\n".to_owned();
        let mut rows = read(&text, &[]);
        for (at, done) in flips {
            let key = rows[at % rows.len()].key.clone();
            let mark = if done { Mark::DONE } else { Mark::OPEN };
            (text, rows) = flipped(&text, &rows, &[(key, mark)]);
            for row in TaskFile::parse(text.as_str(), &Grammar::default()).box_rows() {
                let mut all = rows.iter().filter(|other| other.key.family == row.key.family);
                prop_assert_eq!(row.mark.is_done(), all.all(|row| row.mark.is_done()));
            }
        }
    }
}
