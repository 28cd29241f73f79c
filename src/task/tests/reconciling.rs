//! Tests of an agent's changes to the file, and of the parts that are kept.

use crate::task::{Grammar, Reconciled, reconcile_files};

const PLAN: &str = "# Plan\n\n- [x] 1. one\n  - detail\n- [ ] 2.TEST-FIRST t\n- [ ] 2. two\n  - detail\n\n## Later\n- [-] 3. three\n  - [ ] loose child\n- [ ] FINAL\n";

fn run(after: &str) -> Reconciled {
    reconcile_files(PLAN.as_bytes(), after.as_bytes(), &Grammar::default())
}

fn text(result: &Reconciled) -> &str {
    std::str::from_utf8(&result.bytes).unwrap()
}

fn claims(result: &Reconciled) -> Vec<String> {
    result
        .claims
        .iter()
        .map(|c| format!("{} {:?} {:?}", c.key.written_id(), c.from.0, c.to.0))
        .collect()
}

#[test]
fn boxes_are_put_back_and_claimed() {
    let result = run(&PLAN
        .replace("[ ] 2. two", "[x] 2. two")
        .replace("[x] 1.", "[ ] 1.")
        .replace("[-]", "[x]"));
    assert_eq!(text(&result), PLAN);
    assert_eq!(claims(&result), ["1. 'x' ' '", "2. ' ' 'x'", "3. '-' 'x'"]);
    assert!(result.added.is_empty());
}

#[test]
fn another_way_to_write_the_same_state_is_no_claim() {
    let result = run(&PLAN.replace("[x]", "[X]").replace("[ ] 2. ", "[\t] 2. "));
    assert_eq!(text(&result), PLAN);
    assert_eq!(
        result,
        Reconciled {
            bytes: PLAN.into(),
            claims: vec![],
            added: vec![],
            reworded: None
        }
    );
}

#[test]
fn a_new_task_stays_open_where_it_was_put() {
    let after = PLAN
        .replace("## Later\n", "## Later\n- [x] 7. new\n")
        .replace("[ ] 2. two", "[x] 2. two");
    let result = run(&after);
    assert_eq!(
        text(&result),
        PLAN.replace("## Later\n", "## Later\n- [ ] 7. new\n")
    );
    assert_eq!(result.added, ["- [ ] 7. new"]);
    assert_eq!(claims(&result), ["2. ' ' 'x'"]);
}

#[test]
fn a_new_family_with_its_stages_stays_and_a_broken_one_does_not() {
    let family = "- [ ] 7.TEST-FIRST t\n- [ ] 7. new\n- [✅] 7.PITEST g\n";
    let result = run(&PLAN.replace("- [ ] FINAL", &format!("{family}- [ ] FINAL")));
    assert_eq!(
        text(&result),
        PLAN.replace(
            "- [ ] FINAL",
            &format!("{}- [ ] FINAL", family.replace('✅', " "))
        )
    );
    for broken in [
        "- [ ] 7.PITEST g\n",
        "- [ ] 7. a\n- [ ] 7.PITEST g\n- [ ] 7.PITEST h\n",
        "- [ ] 7. a\n- [ ] 7. b\n",
    ] {
        let result = run(&format!("{PLAN}{broken}"));
        assert_eq!(text(&result), PLAN, "{broken}");
    }
}

#[test]
fn what_would_touch_an_existing_task_is_not_kept() {
    for line in [
        "- [ ] 2. again",
        "- [ ] 2.PITEST",
        "- [ ] 2.1 child",
        "- [ ] G1.PITEST",
        "- [ ] END.PITEST",
        "- [ ] FINAL too",
        "- [ ] 8.FINAL",
        "- [ ] without an id",
        "- [ ] loose child",
        "plain text",
        "- [ ] 7. esc \u{1b}[2J",
        "> - [ ] 7. quoted",
    ] {
        let result = run(&format!("{PLAN}{line}\n"));
        assert_eq!(text(&result), PLAN, "{line}");
        assert!(result.added.is_empty(), "{line}");
    }
    let parent = reconcile_files(
        b"- [ ] 1.1 a\n",
        b"- [ ] 1.1 a\n- [x] 1. b\n",
        &Grammar::default(),
    );
    assert_eq!(parent.bytes, b"- [ ] 1.1 a\n");
    let both = reconcile_files(
        b"- [ ] 1.1 a\n",
        b"- [ ] 1.1 a\n- [x] 1. b\n- [x] 9. c\n",
        &Grammar::default(),
    );
    assert_eq!(
        both.bytes, b"- [ ] 1.1 a\n- [ ] 9. c\n",
        "one that may not stay does not take others with it"
    );
    let below = reconcile_files(
        b"- [ ] 29.INTEG a\n",
        b"- [ ] 29.INTEG a\n- [ ] 29.1 b\n",
        &Grammar::default(),
    );
    assert_eq!(
        below.bytes, b"- [ ] 29.INTEG a\n",
        "29 has no box of its own, and yet this is its child"
    );
    let long = format!("{PLAN}- [ ] 7. {}\n", "x".repeat(5000));
    assert_eq!(text(&run(&long)), PLAN);
}

#[test]
fn a_new_task_stays_with_the_lines_and_tasks_below_it() {
    let added =
        "- [ ] 7. new\n  - do this\n\n    and `that`\n  - [x] 7.1 part\n    _Requirements: 1.2_\n";
    let result = run(&PLAN
        .replace("- [ ] FINAL", &format!("{added}- [ ] FINAL"))
        .replace("[ ] 2. two", "[x] 2. too"));
    assert_eq!(
        text(&result),
        PLAN.replace(
            "- [ ] FINAL",
            &format!("{}- [ ] FINAL", added.replace("[x]", "[ ]"))
        )
    );
    // Anything below it other than text is dropped.
    for below in [
        "  ```\n  x\n  ```\n",
        "  - [ ] without an id\n",
        "  - esc \u{1b}[2J\n",
        "  # heading\n",
        "  <!-- comment -->\n",
        "words at the margin\n",
        "  - [ ] 2.PITEST\n",
        "  - [ ] 3.1 child of another\n",
    ] {
        let result = run(&format!("{PLAN}- [ ] 7. new\n{below}"));
        assert_eq!(text(&result), format!("{PLAN}- [ ] 7. new\n"), "{below}");
    }
    // A new line below an old task is dropped, and so is one below the task above the new one.
    let result = run(&PLAN.replace(
        "  - detail\n\n",
        "  - detail\n  - skip the tests\n- [ ] 7. new\n  - more\n\n",
    ));
    assert_eq!(
        text(&result),
        PLAN.replace("  - detail\n\n", "  - detail\n- [ ] 7. new\n  - more\n\n")
    );
    let many = "  - x\n".repeat(101);
    assert_eq!(
        text(&run(&format!("{PLAN}- [ ] 7. new\n{many}"))),
        format!("{PLAN}- [ ] 7. new\n")
    );
    // A parent that is dropped takes its children with it.
    let result = run(&format!(
        "{PLAN}- [ ] 7. a\n- [ ] 7. b\n  - [ ] 7.1 c\n- [ ] 8. d\n"
    ));
    assert_eq!(text(&result), format!("{PLAN}- [ ] 8. d\n"));
}

#[test]
fn a_child_is_not_kept_and_a_line_that_would_take_children_goes_to_the_end() {
    let result = run(&PLAN.replace("- [-] 3. three\n", "- [-] 3. three\n  - [ ] 7. child\n"));
    assert_eq!(text(&result), PLAN);
    let result = run(&PLAN.replace("- [-] 3. three\n", "- [-] 3. three\n- [ ] 7. between\n"));
    assert_eq!(text(&result), format!("{PLAN}- [ ] 7. between\n"));
}

#[test]
fn other_edits_are_restored() {
    let changed = PLAN
        .replace("2. two", "2. too")
        .replace("  - detail\n", "")
        .replace("# Plan", "# Plan B");
    let moved = "- [ ] FINAL\n".to_owned() + &PLAN.replace("- [ ] FINAL\n", "");
    for after in [
        &changed,
        &moved,
        &PLAN.replace('\n', "\r\n"),
        PLAN.trim_end(),
        "",
    ] {
        assert_eq!(text(&run(after)), PLAN, "{after}");
    }
    let garbage: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    assert_eq!(
        reconcile_files(PLAN.as_bytes(), &garbage, &Grammar::default()).bytes,
        PLAN.as_bytes()
    );
}

#[test]
fn what_text_was_restored_is_said() {
    let put_back = |from: &str, to: &str| run(&PLAN.replace(from, to)).reworded;
    let said = |words: &str| Some(words.to_owned());
    assert_eq!(put_back("2. two", "2. too"), said("task 2"));
    assert_eq!(put_back("  - detail\n- ", "  - other\n- "), said("task 1"));
    assert_eq!(put_back("- [ ] 2. two\n  - detail\n", ""), said("task 2"));
    assert_eq!(
        put_back("2.TEST-FIRST t", "2.TEST-FIRST u"),
        said("2.TEST-FIRST")
    );
    assert_eq!(
        put_back("loose child", "child"),
        said("tasks.md:11 “loose child”")
    );
    assert_eq!(put_back("# Plan\n", "# Plan B\n"), said(""));
    assert_eq!(put_back("# Plan\n", "# Plan\n\nrules\n"), said(""));
    let six =
        "- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 5. e\n- [ ] 6. f\n- [ ] 7. g\n";
    let gone = reconcile_files(six.as_bytes(), b"", &Grammar::default()).reworded;
    assert_eq!(
        gone,
        said("task 1, task 2, task 3, task 4, task 5 and 2 more")
    );
    // Boxes, line ends and kept lines do not count as restored text.
    for after in [
        PLAN.replace("[ ]", "[x]"),
        PLAN.replace('\n', "\r\n"),
        PLAN.trim_end().to_owned(),
        PLAN.replace("- [ ] FINAL", "- [x] 7. new\n  - how\n- [ ] FINAL"),
    ] {
        assert_eq!(run(&after).reworded, None, "{after}");
    }
}

#[test]
fn an_added_line_takes_the_line_ends_of_the_file() {
    let grammar = Grammar::default();
    let result = reconcile_files(
        b"- [ ] 1. a\r\n- [ ] 2. b",
        b"- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n",
        &grammar,
    );
    assert_eq!(
        result.bytes,
        b"- [ ] 1. a\r\n- [ ] 2. b\r\n- [ ] 3. c\r\n- [ ] 4. d"
    );
    let result = reconcile_files(b"", b"- [ ] 1. a", &grammar);
    assert_eq!(result.bytes, b"- [ ] 1. a\n");
    let result = reconcile_files(
        "\u{feff}---\nx: y\n---\n".as_bytes(),
        "\u{feff}- [x] 1. a\n---\nx: y\n---\n".as_bytes(),
        &grammar,
    );
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "\u{feff}---\nx: y\n---\n- [ ] 1. a\n"
    );
}

#[test]
fn nothing_is_added_where_it_would_not_be_seen() {
    let before = b"- [ ] 1. a\n\n```\nunclosed\n";
    let result = reconcile_files(
        before,
        b"- [ ] 9. replaced everything\n",
        &Grammar::default(),
    );
    assert_eq!(
        result.bytes,
        b"- [ ] 9. replaced everything\n- [ ] 1. a\n\n```\nunclosed\n"
    );
    let result = reconcile_files(
        b"```\nunclosed\n",
        b"```\nx\n```\n- [ ] 9. a\n",
        &Grammar::default(),
    );
    assert_eq!(result.bytes, b"```\nunclosed\n");
}
