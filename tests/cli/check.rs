//! `ralph check`: errors before a run, in all formats.

use super::project::Project;
use serde_json::Value;

/// Returns the rules of the findings with their places, in the order of the output.
///
/// The rule that applies to every short file is omitted.
fn rules(project: &Project, args: &[&str], code: i32) -> Vec<String> {
    let found = project
        .ralph(&[&["check", "--json"], args].concat())
        .code(code)
        .json();
    let place = |finding: &Value| match finding["line"].as_u64() {
        Some(line) => format!("{}:{line}", finding["file"].as_str().unwrap()),
        None => finding["file"].as_str().unwrap().to_owned(),
    };
    let found = found
        .iter()
        .filter(|finding| finding["rule"] != "no-reviews-or-gates");
    found
        .map(|finding| format!("{} {}", finding["rule"].as_str().unwrap(), place(finding)))
        .collect()
}

#[test]
fn everything_is_found_at_once() {
    let project =
        Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR A\n- [ ] 1.PRE-CR B\n- [ ] 5.REQ-CHECK C\n");
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {command: [no-such-agent]}\n",
    );
    project.write("src/app/README.md", "changed\n");
    let mut check = project.command(&["check"]);
    check.env("PATH", "");
    let done = Project::finish(check).code(1);
    insta::assert_snapshot!(done.out, @r"
    error: tasks.md:3: `1.PRE-CR` is on line 2 and again on line 3. [doubled-stage]
      hint: Remove one of the two lines, or give one of them another id.
    error: tasks.md:4: `5.REQ-CHECK` is a stage of task 5, which has no box in this file. [orphan-stage]
      hint: Add a line `- [ ] 5. …` before it, or remove the stage.
    error: app/README.md: There are uncommitted changes that no attempt left. [uncommitted-changes]
      hint: commit, stash or remove them
    error: .ralph/config.yaml:2: The program `no-such-agent` of the agent `default` was not found. [missing-agent]
      hint: name one under `agents:` in .ralph/config.yaml (no agent CLI that ralph knows is on PATH)
    4 errors, 0 warnings
    ");
    let before = project.files();
    project.ralph(&["check"]).code(1);
    assert!(project.files() == before, "it changes nothing");
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR\n");
    assert_eq!(
        project.ralph(&["check"]).code(0).out,
        "0 errors, 0 warnings\n"
    );
    let done = Project::new("# Nothing yet\n").ralph(&["check"]).code(1);
    insta::assert_snapshot!(done.out, @r"
    error: tasks.md: The file has no box `- [ ] …`, so there is nothing to do. [no-tasks]
      hint: Write each task as a list item with a box: `- [ ] 1. …`.
    1 error, 0 warnings
    ");
    let project = Project::new("- [ ] 1. One\n");
    fs_err::remove_file(project.path("tasks.md")).unwrap();
    assert_eq!(rules(&project, &[], 1), ["no-task-file tasks.md"]);
}

#[test]
fn beside_a_wrong_configuration_only_the_task_file_is_looked_at() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR A\n- [ ] 1.PRE-CR B\n");
    project.write("src/app/README.md", "changed\n");
    project.config("limits: {attempts: many}\n");
    assert_eq!(
        rules(&project, &[], 1),
        [
            "config-error .ralph/config.yaml:3",
            "doubled-stage tasks.md:3"
        ]
    );
    let found = project.ralph(&["check", "--json"]).code(1).json();
    assert_eq!(found[0]["key"], "limits.attempts");
    project.write(".ralph/config.yaml", "a: [\n");
    assert_eq!(
        rules(&project, &[], 1),
        [
            "config-error .ralph/config.yaml:2",
            "doubled-stage tasks.md:3"
        ]
    );
    project.write(".ralph/config.yaml", "agents: {default: {command: no}}\n");
    assert_eq!(
        rules(&project, &[], 1),
        [
            "config-error .ralph/config.yaml:1",
            "doubled-stage tasks.md:3"
        ]
    );
}

#[test]
fn each_repository_that_cannot_be_read_is_named() {
    let project = Project::new("- [ ] 1. One\n");
    for name in ["src/bad", "src/good", "src/worse"] {
        project.package(name);
    }
    for name in ["bad", "worse"] {
        project.write(&format!("src/{name}/.git/HEAD"), "nonsense\n");
    }
    project.write("src/good/README.md", "changed\n");
    assert_eq!(
        rules(&project, &[], 1),
        [
            "unreadable-repository bad",
            "uncommitted-changes good/README.md",
            "unreadable-repository worse"
        ]
    );
    let project = Project::empty();
    project.write("tasks.md", "- [ ] 1. One\n");
    project.config("");
    project.agent("");
    assert_eq!(rules(&project, &[], 1), ["no-packages .ralph/config.yaml"]);
}

#[test]
fn missing_engines_and_programs_are_named() {
    let project = Project::new(
        "- [ ] 1. One\n- [ ] 1.PITEST\n- [ ] 1.LINT\n- [ ] 1.MUTANTS\n- [x] 2. Two\n- [x] 2.DONE\n",
    );
    project.write("src/app/pom.xml", "<project/>");
    project.write("src/app/src/main/java/a/A.java", "class A {}");
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "more"]);
    project.config(
        "gates:\n  LINT: {run: [no-such-linter]}\n  MUTANTS: {run: [./mutants.sh]}\n  DONE: {run: [gone]}\nchecks: {green: [no-such-check]}\nhooks: {done: [no-such-bell]}\n",
    );
    let mut check = project.command(&["check", "--json"]);
    let bin = project.path("bin");
    fs_err::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    check.env("PATH", &bin);
    let found = Project::finish(check).code(1).json();
    let shown: Vec<String> = found
        .iter()
        .map(|f| {
            format!(
                "{} {}: {}",
                f["level"].as_str().unwrap(),
                f["rule"].as_str().unwrap(),
                f["what"].as_str().unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    warning no-tests: This package has production files and no test: `1.PITEST` and gates like it leave classes without tests out, so they would judge nothing.
    error missing-engine: `gates.LINT.run` starts `no-such-linter`, which is not on the PATH.
    error missing-engine: `gates.MUTANTS.run` starts `./mutants.sh`, which is not a program in app.
    error missing-engine: Gate PITEST needs a JDK, and neither JAVA_HOME nor the PATH leads to Java.
    error missing-engine: Gate PITEST needs Maven: package app has no executable mvnw, and mvn is not on the PATH.
    error missing-program: `checks.green` starts `no-such-check`, which is not on the PATH.
    warning missing-program: `hooks.done` starts `no-such-bell`, which is not on the PATH.
    ");

    std::os::unix::fs::symlink("/bin/sh", bin.join("mvn")).unwrap();
    fs_err::write(project.path("src/app/mvnw"), "#!/bin/sh\n").unwrap();
    let mut check = project.command(&["check"]);
    check.env("PATH", &bin);
    let told = Project::finish(check).code(1).out;
    assert!(
        told.contains("mvnw of package app may not be executed, so gate PITEST builds with mvn"),
        "{told}"
    );
}

#[test]
fn a_gate_over_work_that_was_done_before_ralph_ran_is_told() {
    let project =
        Project::new("- [x] 1. One\n- [ ] 1.LINT\n- [ ] 2. Two\n- [ ] 2.LINT\n- [ ] END.LINT\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    let told = |project: &Project| {
        let all = project.ralph(&["check", "--json"]).code(0).json();
        let old = all
            .into_iter()
            .filter(|finding| finding["rule"] == "gate-of-old-work");
        old.map(|finding| finding["line"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&project), ["2"]);
    project.ralph(&["run"]).code(3);
    project
        .ralph(&["accept", "1.LINT", "--reason", "it was reviewed"])
        .code(0);
    assert_eq!(told(&project), [""; 0]);
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_task_file_outside_of_any_workspace_is_checked() {
    let project = Project::empty();
    project.write("plan.md", "- [ ] 1. One\n- [ ] 3.PITEST\n- \\[ ] 2. Two\n");
    assert_eq!(
        rules(&project, &["--tasks", "plan.md"], 1),
        ["orphan-stage plan.md:2", "escaped-box plan.md:3"]
    );
    assert_eq!(
        rules(&project, &["--tasks", "gone.md"], 1),
        ["no-task-file gone.md"]
    );
    let before = project.files();
    let done = project
        .ralph(&["check", "--tasks", "plan.md", "--explain"])
        .code(1);
    insta::assert_snapshot!(done.out, @r"
    plan.md: 2 tasks
    1  task [ ]  1  One  (IMPLEMENT)
    2  task [ ]  3.PITEST  (PITEST)  [orphan-stage]
    3  text  [escaped-box]
    ");
    assert!(project.files() == before);
    project.ralph(&["check"]).code(2);
    // In a workspace its words apply.
    project.write(
        ".ralph/config.yaml",
        "gates: {LINT: {run: [sh]}}\ntasks: {sections: {exclude: [Later, Never]}}\n",
    );
    project.write(
        "plan.md",
        "- [ ] 1. One\n- [ ] 1.LINT\n# Later\n- [ ] 9.PITEST\n",
    );
    assert_eq!(
        rules(&project, &["--tasks", "plan.md"], 0),
        ["unknown-section .ralph/config.yaml:2"]
    );
}

#[test]
fn every_line_is_explained() {
    let project = Project::new(
        "# Plan\n\n- [x] 1. One\n  - [ ]* 1.1 Two [P] [US1]\n    - _Requirements: 2.1, FR-3_\n- [ ] FINAL\n\n## Done when\n- [ ] tests pass\n",
    );
    project.config("tasks: {sections: {exclude: [done*]}}\n");
    let done = project.ralph(&["check", "--explain"]).code(0);
    insta::assert_snapshot!(done.out, @r"
    tasks.md: 3 tasks
    1  heading #  group 1: Plan
    3  task [x]  1  One  (IMPLEMENT · group 1)
    4  task [ ]  1.1  Two [P] [US1]  (IMPLEMENT · optional · part of task 1 (line 3) · group 1 · requirements US1, 2.1, FR-3)
    6  task [ ]  FINAL  (FINAL · group 1)
    9  not a task  - [ ] tests pass (left out: tasks.sections.exclude `done*`)
    ");
    let all = project
        .ralph(&["check", "--explain", "--all-lines"])
        .code(0)
        .out;
    assert!(
        all.contains("\n5  text\n") && all.contains("\n8  heading ##  group 2: Done when\n"),
        "{all}"
    );
    let lines = project
        .ralph(&["check", "--explain", "--json"])
        .code(0)
        .json();
    assert_eq!(lines[0]["tasks"], 3);
    assert_eq!(
        lines.len(),
        10,
        "one object for the file, one for each line"
    );
    assert_eq!(
        lines[4]["requirements"],
        serde_json::json!(["US1", "2.1", "FR-3"])
    );
}

#[test]
fn explained_lines_that_stop_for_a_person_say_so() {
    let project = Project::new(
        "# Plan\n- [ ] 1. One\n\n**STOP**: wait for approval\n\n- [ ] APPROVE the design\n- [ ] 2. Two\n",
    );
    let lines = project
        .ralph(&["check", "--explain", "--json"])
        .code(0)
        .json();
    let stops = lines
        .iter()
        .filter(|line| line["approval"] == true)
        .map(|line| line["line"].as_u64().unwrap());
    assert_eq!(stops.collect::<Vec<_>>(), [4, 6]);
    assert!(lines[2].get("approval").is_none(), "{}", lines[2]);
}

#[test]
fn sections_that_hold_no_tasks_are_never_taken_or_ticked() {
    let project = Project::new(
        "# Plan\n- [ ] 1. One\n\n# Success criteria\n- [ ] all is well\n- [ ] 2. Not a task\n",
    );
    project.config("tasks: {sections: {exclude: [success criteria]}}\n");
    project.agent("1./1) tick_all; commit app src/main/1.txt ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        "# Plan\n- [x] 1. One\n\n# Success criteria\n- [ ] all is well\n- [ ] 2. Not a task\n",
        "the agent's tick outside is restored"
    );
    // A user may tick there at any time.
    let ticked =
        project.read("tasks.md").replace("- [ ] all", "- [x] all") + "- [ ] 3. more of them\n";
    project.write("tasks.md", &ticked);
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), ticked);
    // A user may also change the sections: the same bytes are other tasks then.
    project.config("tasks: {sections: {exclude: [nothing]}}\n");
    let next = project.ralph(&["next"]).code(0).out;
    assert!(
        next.contains("task 2 ") && next.contains("Not a task"),
        "{next}"
    );
    project.ralph(&["run"]).code(0);
    assert!(
        !project.read("tasks.md").contains("[ ]"),
        "{}",
        project.read("tasks.md")
    );
}

#[test]
fn odd_names_of_files_are_told_as_they_are() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR\n");
    let names: [&[u8]; 3] = ["Übung ä.java".as_bytes(), b"a\x1b[31m\"b", b"\xff.txt"];
    for name in names {
        fs_err::write(
            project
                .path("src/app")
                .join(std::ffi::OsStr::from_bytes(name)),
            "x",
        )
        .unwrap();
    }
    project.git("src/app", &["add", "--all"]);
    let mut told = rules(&project, &[], 1);
    told.sort();
    assert_eq!(
        told,
        [
            r#"uncommitted-changes "app/\377.txt""#,
            "uncommitted-changes app/a\u{1b}[31m\"b",
            "uncommitted-changes app/Übung ä.java"
        ]
    );
    let human = project.ralph(&["check"]).code(1).out;
    assert!(
        human.contains("error: app/Übung ä.java: There are uncommitted"),
        "{human}"
    );
    assert!(
        human.contains(r#"error: "app/a\033[31m\"b": There are uncommitted"#),
        "{human}"
    );
}

#[test]
fn findings_about_the_configuration_stand_on_the_line_of_their_key() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT\n- [ ] 1.PRE-CR\n");
    project.write(
        ".ralph/config.yaml",
        "roles: {quality-reviewer: second.one}\nagents:\n  default:\n    command: [sh, agent.sh]\n  second.one:\n    env: {A: b}\n    command: [gone]\n\
         gates:\n  LINT:\n    limit: 5m\n    run: [gone]\nchecks: {green: [gone]}\nhooks:\n\n  done: [gone]\n",
    );
    assert_eq!(
        rules(&project, &[], 1),
        [
            "missing-agent .ralph/config.yaml:7",
            "missing-engine .ralph/config.yaml:11",
            "missing-program .ralph/config.yaml:12",
            "missing-program .ralph/config.yaml:15"
        ]
    );
    // Stages without a line have no place in the file, so errors in their placement are errors of the configuration.
    project.config("stages: virtual\nplacement:\n  PITEST: {after: ['9']}\n");
    assert!(
        rules(&project, &[], 1).contains(&"placed-after-no-task .ralph/config.yaml:4".to_owned())
    );
}

#[test]
fn a_changed_journal_is_told_with_its_line() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.ralph(&["run", "--once"]).code(5);
    let journal = ".ralph/state/journal.jsonl";
    let text = project.read(journal).replacen("surveyed", "Surveyed", 1);
    let line = text
        .lines()
        .position(|line| line.contains("Surveyed"))
        .unwrap()
        + 1;
    project.write(journal, &text);
    let found = project.ralph(&["check", "--json"]).code(1).json();
    let found = found
        .iter()
        .find(|finding| finding["rule"] == "journal")
        .unwrap();
    assert_eq!(
        (found["file"].as_str(), found["line"].as_u64()),
        (Some(journal), Some(line as u64))
    );
    assert!(
        found["what"]
            .as_str()
            .unwrap()
            .starts_with("The journal was changed"),
        "{found}"
    );
}

/// Returns the findings of a task file alone.
fn in_tasks(project: &Project, text: impl AsRef<[u8]>, code: i32) -> Vec<String> {
    project.write("t.md", text);
    rules(project, &["--tasks", "t.md"], code)
}

#[test]
fn boxes_in_tables_are_found_with_words_behind_them_and_below_a_list() {
    let project = Project::empty();
    for gap in ["", "\n"] {
        let table =
            format!("- [ ] 1. x\n{gap}| a | b |\n|---|---|\n| [ ] 7. table | x |\n| y | [x] |\n");
        let line = 4 + gap.len();
        assert_eq!(
            in_tasks(&project, table, 0),
            [format!("box-without-bullet t.md:{line}")]
        );
    }
    assert_eq!(
        in_tasks(&project, "- [ ] 1. x\n\n| a[ ]b | [x](y) | `[ ]` |\n", 0),
        [""; 0]
    );
}

#[test]
fn tasks_that_other_tools_read_as_code_or_text_are_told() {
    let project = Project::empty();
    for (text, line) in [
        ("    - [ ] 1. x\n", Some(1)),
        ("---\na: b\n---\n\t- [ ] 1. x\n", Some(4)),
        (
            "\u{feff}words\n\n\t- [ ] 1. x\n\t- [ ] 2. x\n- [ ] 3. y\n",
            Some(3),
        ),
        ("words\n    - [ ] 1. x\n", Some(2)),
        ("- [ ] 1. x\n      - [ ] 1.1 y\n", Some(2)),
        ("<details>\n- [ ] 1. x\n</details>\n", Some(2)),
        ("<details>\n\n- [ ] 1. x\n\n</details>\n", None),
        ("- [ ] 1. x\n    - [ ] 1.1 y\n\t- [ ] 1.2 z\n", None),
        (
            "- [ ] 1. x\n\t- [ ] 1.1 y\n\t\t- [ ] 1.1.1 z\n\t-\t[ ] 1.2 z\n",
            None,
        ),
        ("- [ ] 1. x\n\n    - [ ] 1.1 y\n\n\t- [ ] 1.2 z\n", None),
        (
            "1. a\n   - [ ] 1.1 y\n\n     words\n\n     - [ ] 1.1.1 z\n",
            None,
        ),
        ("words\n- [ ] 1. x\n* [x] 2. y\n  1) [ ] 3. z\n", None),
    ] {
        let told = in_tasks(&project, text, 0);
        let told: Vec<_> = told
            .into_iter()
            .filter(|rule| rule.starts_with("unlisted"))
            .collect();
        assert_eq!(
            told,
            line.map(|line| format!("unlisted-box t.md:{line}"))
                .into_iter()
                .collect::<Vec<_>>(),
            "{text}"
        );
    }
}

#[test]
fn a_file_in_another_encoding_is_told_by_its_name() {
    let project = Project::empty();
    let text = "- [ ] 1. x\n";
    let wide = |order: fn(u16) -> [u8; 2]| {
        "\u{feff}"
            .chars()
            .chain(text.chars())
            .flat_map(|c| order(c as u16))
            .collect::<Vec<u8>>()
    };
    for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        assert_eq!(in_tasks(&project, bytes, 1), ["no-tasks t.md"]);
        let told = project.ralph(&["check", "--tasks", "t.md"]).code(1).out;
        assert!(
            told.contains("encoded as UTF-16") && told.contains("Save it as UTF-8"),
            "{told}"
        );
    }
}

#[test]
fn what_a_run_will_do_is_told_once_a_file() {
    let project = Project::new("");
    let told = |text: &str, config: &str| {
        project.write("tasks.md", text);
        project.config(config);
        let found = project.ralph(&["check", "--json"]).code(0).json();
        let shown = found.iter().map(|f| {
            format!(
                "{} {}",
                f["rule"].as_str().unwrap(),
                f["what"].as_str().unwrap().split(':').next().unwrap()
            )
        });
        shown.collect::<Vec<_>>()
    };
    let plain = "- [x] 1. a\n- [ ] 2. b\n- [ ] 3. c\n";
    let (commits, id) = ("no-reviews-or-gates", "no-id");
    let (virtual_stages, green) = ("stages: virtual\n", "checks: {green: [\"true\"]}\n");
    let checkpoint = "- [ ] 2. Checkpoint\n- [ ]* 3. Checkpoint\n- [ ] 4. b\n- [ ] 4.PRE-CR\n";
    for (text, config, expected) in [
        (plain, "", vec![format!("{commits} 2 open tasks without review and gate")]),
        (plain, virtual_stages, vec![]),
        ("- [x] a\n- [x] 2. b\n- [ ] ~~c~~\n- [ ]* d\n", "", vec!["struck-out The task on line 3 is struck out and not ticked; it is not taken.".to_owned()]),
        ("- [ ] a\n- [ ] 2. b\n- [ ] 2.PRE-CR\n- [x] c\n- [ ] d\n", "", vec![format!("{id} 2 open tasks without an id")]),
        ("- [ ] a\n", virtual_stages, vec![]),
        ("- [ ] 1. a\n- [ ] 1. b\n- [ ] 2. c\n- [ ] 2.PRE-CR\n", "", vec!["duplicate-id The id `1` is on line 1 and again on line 2; both tasks are identified by their text.".to_owned()]),
        (checkpoint, "", vec!["unconfirmed-checkpoint 1 open task that may have nothing to commit, as a checkpoint".to_owned()]),
        (checkpoint, green, vec![]),
        ("- [ ] APPROVE a\n- [ ] 2. b\n- [ ] 2.PRE-CR\n", "", vec![]),
        ("- [ ] 2. b\n- [ ] 2.PRE-CR\n## Definition of Done\n- [x] it is used\n## Acceptance\n- [ ] A-1 it works\n", "", vec!["checklist Sections that look like checklists hold boxes, and each is a task".to_owned()]),
    ] {
        assert_eq!(told(text, config), expected, "{text}{config}");
    }
}

#[test]
fn a_task_file_that_is_a_link_is_refused_as_a_run_refuses_it() {
    let project = Project::new("- [ ] 1. One\n");
    fs_err::rename(project.path("tasks.md"), project.path("plan.md")).unwrap();
    std::os::unix::fs::symlink("plan.md", project.path("tasks.md")).unwrap();
    assert_eq!(rules(&project, &[], 1), ["no-task-file tasks.md"]);
    project.ralph(&["run"]).code(2);
}

#[test]
fn java_that_no_build_file_stands_above_is_told() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.TEST-FIRST\n- [ ] 1.PITEST\n");
    for file in [
        "a/pom.xml",
        "a/src/main/java/p/A.java",
        "b/src/main/java/p/B.java",
        "c/build.gradle",
        "c/src/main/java/p/C.java",
    ] {
        project.write(&format!("src/app/{file}"), "x");
    }
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "more"]);
    let found = project.ralph(&["check", "--json"]).json();
    let found = found
        .iter()
        .find(|finding| finding["rule"] == "no-build-file")
        .unwrap();
    assert_eq!(
        found["what"],
        "No build file (pom.xml) is above 1 Java file of this package, such as b/src/main/java/p/B.java: `1.PITEST` and gates like it cannot judge them."
    );
}
