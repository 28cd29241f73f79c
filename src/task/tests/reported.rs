//! Defects reported for other tools that read task files. ralph must have none of them.

use super::{boxes, key, parse, rows};
use crate::task::{Grammar, Mark, RemarkKind, Sections, TaskFile, reconcile_files};

/// Fission-AI/OpenSpec #1761: unknown marks were dropped, and a change with 17 of them read as complete.
#[test]
fn unknown_marks_are_open_tasks_never_dropped() {
    let text: String = (0..42)
        .map(|n| format!("- [x] 1.{n} done\n"))
        .chain((0..17).map(|n| format!("- [~] 2.{n} deferred\n")))
        .collect();
    let rows = rows(text);
    assert_eq!(rows.len(), 59);
    assert_eq!(rows.iter().filter(|row| !row.mark.is_done()).count(), 17);
}

/// Fission-AI/OpenSpec #1861, #1862, #1485: numbered and plus bullets and indented boxes were not counted.
#[test]
fn every_bullet_and_depth_counts() {
    let text = "1. [ ] a\n2) [x] b\n+ [ ] c\n* [ ] d\n- [ ] e\n  - [ ] f\n\t- [x] g\n      - [ ] h\n- - [ ] i\n";
    assert_eq!(rows(text).len(), 9);
}

/// MrLesk/Backlog.md #1033, imdone #131: the wrong line after a `[~]` was ticked.
#[test]
fn the_line_behind_an_unknown_mark_is_the_one_that_is_ticked() {
    let text = "- [~] 1. a\n- [ ] 2. b\n- [-]* 3. c\n- [ ] 4. d\n";
    let ticked = parse(text)
        .flip_box(&key("4."), Mark::DONE)
        .unwrap()
        .unwrap()
        .apply_to(text.as_bytes())
        .unwrap();
    assert_eq!(
        String::from_utf8(ticked).unwrap(),
        "- [~] 1. a\n- [ ] 2. b\n- [-]* 3. c\n- [x] 4. d\n"
    );
}

/// frankbria/ralph-claude-code #144: `- [2026-01-29]` counted as an open task, so that the loop never ended.
#[test]
fn a_date_in_brackets_is_no_task() {
    for text in [
        "- [2026-01-29] Started",
        "- [ref] note",
        "- [P] tasks = different files",
        "- [F-1] cli/create.py",
    ] {
        assert_eq!(boxes(text), [""; 0], "{text}");
        assert!(
            parse(text)
                .find_remarks()
                .iter()
                .all(|remark| remark.kind == RemarkKind::NoTasks),
            "{text}"
        );
    }
}

/// umputun/ralphex #221, #222: boxes under "Success criteria" kept the loop alive.
#[test]
fn boxes_under_success_criteria_can_be_left_out() {
    let sections = Sections::new(&[], &["success criteria".to_owned()]).unwrap();
    let file = TaskFile::parse(
        "- [x] 1. a\n\n## Success criteria\n\n- [ ] b\n",
        &Grammar::default().with_sections(sections),
    );
    assert!(file.box_rows().iter().all(|row| row.mark.is_done()));
}

/// almogdepaz/wolfpack #46: the plan was cut short when the agent died.
#[test]
fn a_plan_that_was_cut_short_comes_back_whole() {
    let plan = "# Plan\n- [x] 1. a\n- [ ] 2. b\n- [ ] 3. c\n";
    for end in 0..plan.len() {
        let result = reconcile_files(
            plan.as_bytes(),
            &plan.as_bytes()[..end],
            &Grammar::default(),
        );
        assert_eq!(result.bytes, plan.as_bytes(), "cut at {end}");
    }
}

/// kirodotdev/Kiro #8859: a box that an editor had set to `[-]` was never run again.
#[test]
fn a_task_in_progress_can_be_ticked() {
    let text = "- [-] 1. a\n";
    let flip = parse(text)
        .flip_box(&key("1."), Mark::DONE)
        .unwrap()
        .unwrap();
    assert_eq!(flip.apply_to(text.as_bytes()).unwrap(), b"- [x] 1. a\n");
}

/// Shapes of other tools' patterns that missed up to four of five tasks.
#[test]
fn ids_of_every_dialect_are_read() {
    let text = "- [ ] T001 a\n- [X] T002 [P] [US1] b\n- [ ] **T003** c\n- [ ] T004a d\n- [ ] T040: e\n- [ ] 1. f\n- [ ]* 1.1 g\n- [x]\\* 1.2 h\n- [ ] 7.9* (P) i\n- [ ] 10.2: j\n- [ ] **3.2** k\n- [ ] **11.5 L**: l\n- [ ] ~~7.3 [PBT] m~~ [removed]\n- [ ] Task 12: n\n- [ ] **CORE-3: o**\n- [ ] FR-018 (p)\n- [ ] 1\\.4 q\n- [ ] [8.1] r\n- [ ] WP03 s\n";
    let shown: Vec<String> = rows(text)
        .iter()
        .map(|row| format!("{}{}", row.key.family, if row.optional { "*" } else { "" }))
        .collect();
    assert_eq!(
        shown.join(" "),
        "T001 T002 T003 T004a T040 1 1.1* 1.2* 7.9* 10.2 3.2 11.5 7.3* 12 CORE-3 FR-018 1.4 8.1 WP03"
    );
}
