//! Shapes of task files that were once misread: the result of `ralph check`, and of a run at a `STOP` line.

use super::project::Project;

/// Returns the output of `check --tasks plan.md --explain`, and of `check --tasks plan.md`.
fn read(text: &str, flags: &[&str]) -> String {
    let project = Project::empty();
    project.write("plan.md", text);
    let call = |more: &[&str]| {
        let words = [&["check", "--tasks", "plan.md"], flags, more].concat();
        project.ralph(&words).code(0).out
    };
    format!("{}\n{}", call(&["--explain"]), call(&[]))
}

#[test]
fn what_a_command_holds_is_the_commands() {
    let text = r#"# Tasks

- [ ] 1.1 Write the config
  - **Do**: `cat > app.md <<'EOF'
# Not a heading
- [ ] 9. not a task
```
EOF`
  - **Verify**: the file is there
- [ ] 1.2 Commit it
  - **Commit**: `git commit -m "feat(app): config

## Why
- [x] it is \"needed\"
- [ ] really"`
- [ ] 1.3 Use `<<'EOF'` and "quotes" in words
- [ ] 1.4 A stray ` and an "open one
- [ ] 1.5 The end
"#;
    insta::assert_snapshot!(read(text, &[]), @r#"
    plan.md: 5 tasks
     1  heading #  group 1: Tasks
     3  task [ ]  1.1  Write the config  (IMPLEMENT · group 1)
     6  text of a command  [box-in-command]
    10  task [ ]  1.2  Commit it  (IMPLEMENT · group 1)
    14  text of a command  [box-in-command]
    15  text of a command
    16  task [ ]  1.3  Use `<<'EOF'` and "quotes" in words  (IMPLEMENT · group 1)
    17  task [ ]  1.4  A stray ` and an "open one  (IMPLEMENT · group 1)
    18  task [ ]  1.5  The end  (IMPLEMENT · group 1)

    warning: plan.md:6: The text of a command, begun on a line above, holds 1 box from line 6 on; boxes in it are not tasks. [box-in-command]
      hint: If they are meant to be done, close the heredoc or the quotes above them.
    warning: plan.md:14: The text of a command, begun on a line above, holds 2 boxes from line 14 on; boxes in it are not tasks. [box-in-command]
      hint: If they are meant to be done, close the heredoc or the quotes above them.
    warning: plan.md:3: 5 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    0 errors, 3 warnings
    "#);
}

#[test]
fn nothing_is_placed_inside_of_what_a_command_holds() {
    let body = "  - **Do**: `cat > app.md <<'EOF'\n# Not a heading\n- [ ] 9. not a task\nEOF`\n";
    let text = format!("# Tasks\n\n- [ ] 1.1 Write it\n{body}- [ ] 1.2 Read it\n");
    for args in [
        &["place", "each"][..],
        &["place", "groups"],
        &["place", "end"],
        &["stage", "--all"],
    ] {
        let project = Project::new(&text);
        project.ralph(args).code(0);
        let now = project.read("tasks.md");
        assert!(
            now.contains(body) && now.lines().count() > text.lines().count(),
            "{args:?}: {now}"
        );
    }
}

#[test]
fn a_section_ends_with_its_heading_or_with_the_list_item_that_it_is_in() {
    let text = r"# Plan

- [ ] 1. Build it
  ## Acceptance
  - [ ] it builds
- [ ] 2. Ship it

## Acceptance
- [ ] all is well

### More of it
- [ ] and well

## Next
- [ ] 3. Go on
";
    insta::assert_snapshot!(read(text, &["--exclude", "acceptance"]), @r"
    plan.md: 3 tasks
     1  heading #  group 1: Plan
     3  task [ ]  1  Build it  (IMPLEMENT · group 1)
     4  heading ##  group 2: Acceptance
     5  not a task  - [ ] it builds (left out: tasks.sections.exclude `acceptance`)
     6  task [ ]  2  Ship it  (IMPLEMENT · group 2)
     9  not a task  - [ ] all is well (left out: tasks.sections.exclude `acceptance`)
    12  not a task  - [ ] and well (left out: tasks.sections.exclude `acceptance`)
    14  heading ##  group 5: Next
    15  task [ ]  3  Go on  (IMPLEMENT · group 5)

    warning: plan.md:3: 3 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    0 errors, 1 warning
    ");
}

#[test]
fn ids_of_more_shapes_are_read_and_headings_give_theirs() {
    let text = r"# Plan
- [ ] T003A Add the table
- [ ] V4 Create the request
- [ ] VE1 End to end
- [ ] TIDY-1a Remove the old one
- [ ] 7.3.5 Measure
- [ ] 7.3.5a Measure again
- [ ] 8.1 - Write the docs
- [ ] 2.1–2.5 All of them
- [ ] AC-1..10 hold

### Task 1.1: Parse the dates
Steps to take.
- [ ] done

### Task 1.2: Print them
1. First this
2. Then that
";
    insta::assert_snapshot!(read(text, &[]), @r"
    plan.md: 10 tasks
     1  heading #  group 1: Plan
     2  task [ ]  T003A  Add the table  (IMPLEMENT · group 1)
     3  task [ ]  V4  Create the request  (IMPLEMENT · group 1)
     4  task [ ]  VE1  End to end  (IMPLEMENT · group 1)
     5  task [ ]  TIDY-1a  Remove the old one  (IMPLEMENT · group 1)
     6  task [ ]  7.3.5  Measure  (IMPLEMENT · group 1)
     7  task [ ]  7.3.5a  Measure again  (IMPLEMENT · part of task 7.3.5 (line 6) · group 1)
     8  task [ ]  8.1  Write the docs  (IMPLEMENT · group 1)
     9  task [ ]  (no id)  2.1–2.5 All of them  (IMPLEMENT · group 1)
    10  task [ ]  (no id)  AC-1..10 hold  (IMPLEMENT · group 1 · requirements AC-1..10)
    12  heading ###  group 2: Task 1.1: Parse the dates
    14  task [ ]  1.1  done  (IMPLEMENT · group 2)
    16  heading ###  group 3: Task 1.2: Print them  [heading-without-box]

    warning: plan.md:16: Named like a task and without a box below, so no task: 1 heading, from line 16 on. [heading-without-box]
      hint: Write a box below each of them that is to be done: `- [ ] Task 1: …`.
    warning: plan.md:2: 10 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    warning: plan.md:9: 2 open tasks without an id: each is named by its line, and the file can hold no gate or stage of it. [no-id]
      hint: Write ids (`- [ ] 1. …`), or use `stages: virtual`.
    0 errors, 3 warnings
    ");
}

#[test]
fn words_for_optional_struck_out_and_nothing_to_commit_are_understood() {
    let text = r"# Plan
- [ ] 1. Parse
  - **Commit**: None
- [ ] 2. [VERIFY] All checks pass
- [ ] 3. Cache (optional)
- [ ] ~~4. Colours~~ [removed]
- [ ] 5. Print
";
    insta::assert_snapshot!(read(text, &[]), @r"
    plan.md: 5 tasks
    1  heading #  group 1: Plan
    2  task [ ]  1  Parse  (IMPLEMENT · checkpoint · group 1)
    4  task [ ]  2  [VERIFY] All checks pass  (IMPLEMENT · checkpoint · group 1)
    5  task [ ]  3  Cache (optional)  (IMPLEMENT · group 1)  [optional-in-words]
    6  task [ ]  4  ~~Colours~~ [removed]  (IMPLEMENT · optional · struck out · group 1)  [struck-out]
    7  task [ ]  5  Print  (IMPLEMENT · group 1)

    warning: plan.md:5: The task on line 5 says that it is optional, but its box is required. [optional-in-words]
      hint: Write `- [ ]* 3. Cache (optional)`.
    warning: plan.md:6: The task on line 6 is struck out and not ticked; it is not taken. [struck-out]
      hint: Write `- [x] ~~4. Colours~~ [removed]`, or remove the line.
    warning: plan.md:2: 4 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    warning: plan.md:2: 2 open tasks that may have nothing to commit, as a checkpoint: without `checks.green` a run then stops for a person. [unconfirmed-checkpoint]
      hint: Set `checks.green` to the command that has to pass.
    0 errors, 4 warnings
    ");
}

#[test]
fn stops_for_people_are_read() {
    let text = r"# Plan
STOP and wait for approval between phases.

- [ ] 1. Schema
  - STOP and ask the team if it is large

**STOP**: wait for approval of the schema

- [ ] 2. Data
- [ ] APPROVE the data
- [ ] 3. Views

4. **STOP and VALIDATE**: look at the views
";
    insta::assert_snapshot!(read(text, &[]), @r"
    plan.md: 4 tasks
     1  heading #  group 1: Plan
     4  task [ ]  1  Schema  (IMPLEMENT · group 1)
     7  stops for a person  **STOP**: wait for approval of the schema
     9  task [ ]  2  Data  (IMPLEMENT · group 1)
    10  task [ ]  (no id)  APPROVE the data  (IMPLEMENT · stops for a person · group 1)
    11  task [ ]  3  Views  (IMPLEMENT · group 1)

    warning: plan.md:4: 3 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    0 errors, 1 warning
    ");
}

#[test]
fn odd_words_mean_what_their_author_meant() {
    let text = include_str!("../fixtures/tasks/plain/odd-words.md");
    insta::assert_snapshot!(read(text, &[]), @r#"
    plan.md: 17 tasks
     1  heading #  group 1: 🚀 Plan
     3  task [ ]  (no id)  🔥 1. Emoji before the id  (IMPLEMENT · group 1)
     4  task [ ]  2  🎉 Emoji behind it  (IMPLEMENT · group 1)
     5  task [ ]  (no id)  3.1 to 3.5 All of them  (IMPLEMENT · group 1)
     6  task [ ]  (no id)  T004 – T006 Three of them  (IMPLEMENT · group 1)
     7  task [ ]  7.1  Title behind a dash  (IMPLEMENT · group 1)
     8  task [ ]  8  ~~An epic that was dropped~~  (IMPLEMENT · optional · struck out · group 1)  [struck-out]
     9  task [ ]  8.1  A part that was not  (IMPLEMENT · part of task 8 (line 8) · group 1)
    10  task [ ]  9  An epic  (IMPLEMENT · group 1)
    11  task [ ]  9.1  ~~A part that was dropped~~  (IMPLEMENT · optional · struck out · part of task 9 (line 10) · group 1)  [struck-out]
    12  task [ ]  9.2  A part that was not  (IMPLEMENT · part of task 9 (line 10) · group 1)
    13  task [ ]  10  Only its number is struck out  (IMPLEMENT · group 1)
    14  task [ ]  11  (Optional) In words  (IMPLEMENT · group 1)  [optional-in-words]
    15  task [ ]  12  With a star  (IMPLEMENT · optional · group 1)
    17  stops for a person  ⏸️ STOP: ask the team to confirm
    19  stops for a person  > **STOP**: wait for a sign-off
    21  task [ ]  13  Go on  (IMPLEMENT · group 1)
    22  stops for a person  - STOP and wait for approval
    23  task [ ]  14  APPROVE the rollout  (IMPLEMENT · stops for a person · group 1)
    25  heading ##  group 2: ✅ 2. Definition of Done:
    26  task [ ]  (no id)  it is used  (IMPLEMENT · group 2)
    28  heading ###  group 3: Acceptance Criteria
    29  task [ ]  AC-1  it works  (IMPLEMENT · group 3)

    warning: plan.md:8: The task on line 8 is struck out and not ticked; it is not taken. [struck-out]
      hint: Write `- [x] ~~8. An epic that was dropped~~`, or remove the line.
    warning: plan.md:11: The task on line 11 is struck out and not ticked; it is not taken. [struck-out]
      hint: Write `- [x] ~~9.1 A part that was dropped~~`, or remove the line.
    warning: plan.md:14: The task on line 14 says that it is optional, but its box is required. [optional-in-words]
      hint: Write `- [ ]* 11. (Optional) In words`.
    warning: plan.md:3: 13 open tasks without review and gate: a run believes commits alone. [no-reviews-or-gates]
      hint: `ralph stage --all` gives them both; with `stages: virtual` they need no lines.
    warning: plan.md:3: 4 open tasks without an id: each is named by its line, and the file can hold no gate or stage of it. [no-id]
      hint: Write ids (`- [ ] 1. …`), or use `stages: virtual`.
    warning: plan.md:26: Sections that look like checklists hold boxes, and each is a task: "Acceptance Criteria", "✅ 2. Definition of Done:". [checklist]
      hint: If they are not tasks: `tasks: {sections: {exclude: ["Acceptance Criteria", "✅ 2. Definition of Done:"]}}` in .ralph/config.yaml.
    0 errors, 6 warnings
    "#);
}

#[test]
fn a_run_ends_at_each_stop_until_a_person_says_go_on() {
    let text = "# Plan\n- [ ] 1. One\n\n**STOP**: wait for approval\n\n- [ ] 2. Two\n- [ ] APPROVE the data\n- [ ] Write the docs\n";
    let project = Project::new(text);
    project.agent("");
    let done = project.ralph(&["run"]).code(1);
    assert!(
        done.err
            .contains("The run waits for a person at tasks.md:4: **STOP**: wait for approval"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains(
            "hint: if it is so, `ralph accept tasks.md:4 --reason …`; then `ralph run` continues"
        ),
        "{}",
        done.err
    );
    assert_eq!(
        project.ralph(&["next"]).code(1).out,
        "The run waits for a person at tasks.md:4: **STOP**: wait for approval\n"
    );
    assert!(
        project
            .ralph(&["status"])
            .code(0)
            .out
            .contains("next: a person, who says `ralph accept tasks.md:4 --reason …`")
    );
    project
        .ralph(&["accept", "tasks.md:4", "--reason", "seen"])
        .code(0);
    assert_eq!(
        project.read("tasks.md"),
        text.replace("[ ] 1.", "[x] 1."),
        "the stop has no mark in the file"
    );
    let done = project.ralph(&["run"]).code(1);
    assert!(
        done.err
            .contains("The run waits for a person at tasks.md:7: APPROVE the data"),
        "{}",
        done.err
    );
    project
        .ralph(&["accept", "tasks.md:7", "--reason", "fine"])
        .code(0);
    let done = project.ralph(&["run"]).code(0);
    assert!(
        done.out.contains("tasks.md:8 “Write the docs”"),
        "{}",
        done.out
    );
    assert_eq!(project.read("tasks.md"), text.replace("[ ]", "[x]"));
    assert!(
        project
            .git("src/app", &["log", "--format=%s"])
            .starts_with("tasks.md:8 "),
        "as RALPH_TASK says"
    );
    let status = project.ralph(&["status"]).out;
    let row = status
        .lines()
        .find(|line| line.starts_with("tasks.md:8 "))
        .unwrap_or_else(|| panic!("{status}"));
    assert!(
        row.contains("Write the docs") && row.ends_with("commit only"),
        "{row}"
    );
    let report = project.ralph(&["report"]).code(0).out;
    assert!(
        report.contains("| tasks.md:8 | Write the docs | IMPLEMENT commit only |"),
        "{report}"
    );
    assert!(
        project
            .ralph(&["prompt", "tasks.md:8"])
            .code(0)
            .out
            .contains("`tasks.md:8`")
    );
    project.ralph(&["replay"]).code(0);
    assert!(
        project
            .read("progress.txt")
            .contains(" · tasks.md:8 “Write the docs” · ")
    );
}
