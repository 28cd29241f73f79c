//! `ralph place` and `ralph stage`: lines for gates and stages, inserted and removed.

use super::project::{Project, signal, wait_for};

const PLAN: &str =
    "# Plan\n\n## Core\n- [ ] 1. One\n  - a detail\n- [x] 2. Two\n\n## Shell\n- [ ] 3. Three\n";

const EACH: &str = "# Plan\n\n## Core\n- [ ] 1. One\n  - a detail\n- [ ] 1.PITEST\n- [x] 2. Two\n- [ ] 2.PITEST\n\n\
    ## Shell\n- [ ] 3. Three\n- [ ] 3.PITEST\n";

#[test]
fn a_placement_is_written_into_the_task_file_and_remembered_beside_its_comments() {
    let project = Project::new(PLAN);
    let before = "# mine\nspec: .   # here\n";
    project.write(".ralph/config.yaml", before);
    let done = project.ralph(&["place", "each", "--include-done"]).code(0);
    assert_eq!(
        done.out,
        "tasks.md: 3 lines inserted (1.PITEST, 2.PITEST, 3.PITEST), none removed.\n\
         .ralph/config.yaml: the placement of PITEST was written.\n"
    );
    assert_eq!(project.read("tasks.md"), EACH);
    let after_each = project.read(".ralph/config.yaml");
    assert_eq!(after_each, format!("{before}placement: {{PITEST: each}}\n"));
    let again = project.ralph(&["place", "each"]).code(0);
    assert_eq!(again.out, "tasks.md: none inserted, none removed.\n");
    assert_eq!(
        (project.read("tasks.md"), project.read(".ralph/config.yaml")),
        (EACH.to_owned(), after_each)
    );

    project.ralph(&["place", "after", "3.,1"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        EACH.replace("- [ ] 2.PITEST\n", "")
    );
    let config = project.read(".ralph/config.yaml");
    assert_eq!(
        config,
        format!("{before}placement: {{PITEST: {{after: [\"3\", \"1\"]}}}}\n")
    );
    project.ralph(&["place", "none"]).code(0);
    assert_eq!(project.read("tasks.md"), PLAN);
}

/// Returns the output of a dry run, which changes nothing.
fn dry(args: &[&str]) -> String {
    let project = Project::new(PLAN);
    let before = project.files();
    let done = project
        .ralph(&[&["place", "--dry-run"], args].concat())
        .code(0);
    assert!(project.files() == before, "nothing changes");
    done.out
}

#[test]
fn gates_beside_tasks_are_shown_as_diffs() {
    insta::assert_snapshot!(dry(&["each", "--include-done"]), @r"
    --- tasks.md
    +++ tasks.md
    @@ -3,7 +3,10 @@
     ## Core
     - [ ] 1. One
       - a detail
    +- [ ] 1.PITEST
     - [x] 2. Two
    +- [ ] 2.PITEST
     
     ## Shell
     - [ ] 3. Three
    +- [ ] 3.PITEST
    --- .ralph/config.yaml
    +++ .ralph/config.yaml
    @@ -1,2 +1,3 @@
     agents:
       default: {command: [sh, agent.sh]}
    +placement: {PITEST: each}
    ");
    insta::assert_snapshot!(dry(&["after", "2"]), @r#"
    --- tasks.md
    +++ tasks.md
    @@ -4,6 +4,7 @@
     - [ ] 1. One
       - a detail
     - [x] 2. Two
    +- [ ] 2.PITEST
     
     ## Shell
     - [ ] 3. Three
    --- .ralph/config.yaml
    +++ .ralph/config.yaml
    @@ -1,2 +1,3 @@
     agents:
       default: {command: [sh, agent.sh]}
    +placement: {PITEST: {after: ["2"]}}
    "#);
}

#[test]
fn gates_of_wider_reach_and_none_are_shown_as_diffs() {
    insta::assert_snapshot!(dry(&["groups"]), @r"
    --- tasks.md
    +++ tasks.md
    @@ -4,6 +4,8 @@
     - [ ] 1. One
       - a detail
     - [x] 2. Two
    +- [ ] G2.PITEST
     
     ## Shell
     - [ ] 3. Three
    +- [ ] G3.PITEST
    --- .ralph/config.yaml
    +++ .ralph/config.yaml
    @@ -1,2 +1,3 @@
     agents:
       default: {command: [sh, agent.sh]}
    +placement: {PITEST: groups}
    ");
    insta::assert_snapshot!(dry(&["end"]), @r"
    --- tasks.md
    +++ tasks.md
    @@ -7,3 +7,4 @@
     
     ## Shell
     - [ ] 3. Three
    +- [ ] END.PITEST
    --- .ralph/config.yaml
    +++ .ralph/config.yaml
    @@ -1,2 +1,3 @@
     agents:
       default: {command: [sh, agent.sh]}
    +placement: {PITEST: end}
    ");
    insta::assert_snapshot!(dry(&["none"]), @r"
    --- .ralph/config.yaml
    +++ .ralph/config.yaml
    @@ -1,2 +1,3 @@
     agents:
       default: {command: [sh, agent.sh]}
    +placement: {PITEST: none}
    ");
}

#[test]
fn check_says_whether_the_file_is_as_chosen_and_writes_nothing() {
    let project = Project::new(PLAN);
    let nothing = project.ralph(&["place", "--check"]).code(2);
    assert!(
        nothing.err.contains("none is configured") && nothing.err.contains("hint:"),
        "{}",
        nothing.err
    );
    let differs = project.ralph(&["place", "each", "--check"]).code(1);
    assert!(differs.out.contains("+- [ ] 1.PITEST\n"), "{}", differs.out);
    assert_eq!(project.read("tasks.md"), PLAN);
    assert!(!project.read(".ralph/config.yaml").contains("placement"));
    project.config("gates: {LINT: {run: ['true']}}\nplacement: {LINT: end, PITEST: each}\n");
    project.ralph(&["place", "each"]).code(0);
    let differs = project.ralph(&["place", "--check"]).code(1);
    assert!(
        differs.out.contains("+- [ ] END.LINT\n") && !differs.out.contains("+- [ ] 1.PITEST"),
        "{}",
        differs.out
    );
    project.ralph(&["place", "end", "--gate", "LINT"]).code(0);
    let same = project.ralph(&["place", "--check", "--json"]).code(0);
    let facts: Vec<_> = same
        .json()
        .iter()
        .map(|fact| (fact["gate"].clone(), fact["changed"].clone()))
        .collect();
    assert_eq!(
        facts,
        [
            ("LINT".into(), false.into()),
            ("PITEST".into(), false.into())
        ]
    );
}

#[test]
fn a_file_outside_any_workspace_takes_gates_of_any_name() {
    let project = Project::empty();
    project.write("specs/tasks.md", PLAN.replace('\n', "\r\n"));
    let done = project
        .ralph(&[
            "place",
            "groups",
            "--gate",
            "STRYKER",
            "--tasks",
            "specs/tasks.md",
            "--json",
        ])
        .code(0);
    let fact = &done.json()[0];
    assert_eq!(
        fact["inserted"],
        serde_json::json!([{"task": "G2.STRYKER", "line": 7}, {"task": "G3.STRYKER", "line": 11}])
    );
    assert_eq!(
        (&fact["written"], &fact["configured"]),
        (&true.into(), &false.into())
    );
    let text = PLAN
        .replace("Two\n", "Two\n- [ ] G2.STRYKER\n")
        .replace("Three\n", "Three\n- [ ] G3.STRYKER\n");
    assert_eq!(project.read("specs/tasks.md"), text.replace('\n', "\r\n"));
    assert!(!project.has(".ralph"));
    project
        .ralph(&["stage", "--all", "--tasks", "specs/tasks.md"])
        .code(0);
    assert!(
        project
            .read("specs/tasks.md")
            .ends_with("- [ ] 3.PRE-CR\r\n- [ ] G3.STRYKER\r\n- [ ] FINAL\r\n")
    );
}

#[test]
fn gates_of_wider_reach_follow_tasks_that_are_added_later() {
    let project = Project::new("- [ ] 1. a\n");
    project.ralph(&["place", "end"]).code(0);
    let added = format!("{}- [ ] 2. new\n", project.read("tasks.md"));
    project.write("tasks.md", &added);
    let differs = project.ralph(&["place", "--check"]).code(1);
    assert!(
        differs
            .out
            .contains("+- [ ] 2. new\n - [ ] END.PITEST\n-- [ ] 2. new\n"),
        "{}",
        differs.out
    );
    project.ralph(&["place", "end"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        "- [ ] 1. a\n- [ ] 2. new\n- [ ] END.PITEST\n"
    );
    project.ralph(&["place", "--check"]).code(0);
    project.write("tasks.md", added.replace("[ ] END", "[x] END"));
    project.ralph(&["place", "--check"]).code(0);
}

#[test]
fn a_gate_of_wider_reach_is_below_its_tasks_and_is_taken_before_a_final_above_them() {
    let project = Project::new("- [x] 1. a\n- [ ] FINAL\n## Later\n- [x] 2. b\n- [ ] 3. c\n");
    for placement in ["groups", "end"] {
        project.ralph(&["place", placement]).code(0);
        let placed = project.read("tasks.md");
        project.ralph(&["place", placement]).code(0);
        assert_eq!(project.read("tasks.md"), placed, "placing twice");
        let done = placed.replace("[ ] 3.", "[x] 3.");
        project.write("tasks.md", &done);
        let gate = placed.lines().last().unwrap().replace("- [ ] ", "");
        assert!(gate.ends_with(".PITEST"), "{placed}");
        let next = project.ralph(&["next", "--json"]).code(0).json();
        assert_eq!(next[0]["next"], gate.as_str(), "{placement}: {next:?}");
        project.write(
            "tasks.md",
            done.replace(&format!("[ ] {gate}"), &format!("[x] {gate}")),
        );
        let next = project.ralph(&["next", "--json"]).code(0).json();
        assert_eq!(next[0]["next"], "FINAL", "{placement}: {next:?}");
        project.write("tasks.md", &placed);
        project.ralph(&["place", "none"]).code(0);
    }
}

#[test]
fn the_gates_and_sections_of_a_workspace_hold_for_other_task_files_in_it() {
    let project = Project::new(PLAN);
    let section = "tasks: {sections: {exclude: [Definition of Done]}}\n";
    project.config(&format!(
        "{section}stages: virtual\ngates: {{LINT: {{run: ['true']}}}}\n"
    ));
    let other = "## W\n- [ ] 1. a\n- [ ] 1.LINT\n## Definition of Done\n- [ ] ok\n";
    project.write("specs/b/tasks.md", other);
    let before = project.read(".ralph/config.yaml");
    let place = |args: &[&str]| {
        project.ralph(&[&["place"], args, &["--tasks", "specs/b/tasks.md"]].concat())
    };
    let refused = place(&["each", "--gate", "NOSUCH"]).code(2);
    assert!(refused.err.contains("no gate `NOSUCH`"), "{}", refused.err);
    let placed = other.replace("LINT\n", "LINT\n- [ ] G1.PITEST\n");
    place(&["groups"]).code(0);
    assert_eq!(project.read("specs/b/tasks.md"), placed);
    let mut from_here = project.command(&["place", "groups", "--tasks"]);
    let elsewhere = Project::empty();
    elsewhere.write("tasks.md", other);
    from_here.arg(elsewhere.path("tasks.md"));
    Project::finish(from_here).code(0);
    assert_eq!(
        elsewhere.read("tasks.md"),
        placed,
        "as `ralph check --tasks` reads it"
    );
    place(&["none"]).code(0);
    project
        .ralph(&["stage", "--all", "--tasks", "specs/b/tasks.md"])
        .code(0);
    let staged = "## W\n- [ ] 1.TEST-FIRST\n- [ ] 1. a\n- [ ] 1.REQ-CHECK\n- [ ] 1.LINT\n- [ ] 1.PITEST\n- [ ] 1.PRE-CR\n- [ ] FINAL\n";
    assert_eq!(
        project.read("specs/b/tasks.md"),
        format!("{staged}## Definition of Done\n- [ ] ok\n")
    );
    assert_eq!(
        project.read(".ralph/config.yaml"),
        before,
        "the choice of the workspace's own file stays"
    );
}

#[test]
fn tasks_that_get_no_line_for_want_of_an_id_are_named() {
    let project = Project::new("- [ ] one\n- [ ] two\n");
    for (args, out, note) in [
        (
            &["place", "each"][..],
            "tasks.md: none inserted, none removed.\n",
            "note: no gate for 2 tasks without an id, or with one that is used twice (the first is on line 1).\n\
             hint: `ralph place groups` and `ralph place end` need no ids; or begin each with one, as in `- [ ] 1. …`\n",
        ),
        (
            &["stage", "--all"],
            "tasks.md: All other tasks have their stages, or get none (parents, checkpoints).\n",
            "note: no stages for 2 tasks without an id, or with one that is used twice (the first is on line 1).\n\
             hint: begin each with an id of its own, as in `- [ ] 1. …`; `stages: virtual` needs none\n",
        ),
    ] {
        let done = project.ralph(args).code(0);
        assert!(done.out.starts_with(out), "{}", done.out);
        assert_eq!(done.err, note);
    }
    let fact = project.ralph(&["place", "each", "--json"]).code(0);
    assert_eq!(
        fact.json()[0]["without_id"],
        serde_json::json!({"count": 2, "first_line": 1})
    );
    project.write("tasks.md", "- [ ] 1. one\n- [ ] two\n");
    let done = project.ralph(&["place", "each"]).code(0);
    assert_eq!(
        done.err,
        "1 gate of PITEST to run; 1 open task without one.\n\
         note: no gate for 1 task without an id, or with one that is used twice (the first is on line 3).\n\
         hint: `ralph place groups` and `ralph place end` need no ids; or begin each with one, as in `- [ ] 1. …`\n"
    );
    let groups = project.ralph(&["place", "groups"]).code(0);
    assert_eq!(
        groups.err,
        "1 gate of PITEST to run; 0 open tasks without one.\n"
    );
}

#[test]
fn what_cannot_be_placed_is_a_usage_error_and_nothing_is_written() {
    let project = Project::new(PLAN);
    project.write("flow/.ralph/config.yaml", "{spec: .}");
    project.write("flow/tasks.md", PLAN);
    let texts = || {
        [
            "tasks.md",
            ".ralph/config.yaml",
            "flow/tasks.md",
            "flow/.ralph/config.yaml",
        ]
        .map(|path| project.read(path))
    };
    let before = texts();
    for (args, says) in [
        (
            &["place"][..],
            "No placement was named.\nhint: `ralph place each` (recommended), or `tested`",
        ),
        (&["place", "after"], "names no tasks"),
        (&["place", "each", "2"], "with `after` only"),
        (
            &["place", "after", "1,9"],
            "no task, or more than one, with the id `9`",
        ),
        (
            &["place", "each", "--gate", "LINT"],
            "no gate `LINT` in .ralph/config.yaml",
        ),
        (
            &["place", "each", "--gate", "REQ-CHECK"],
            "no name for a gate",
        ),
        (&["place", "each", "--gate", "a b"], "no name for a gate"),
        (
            &["place", "each", "--tasks", "absent.md"],
            "absent.md cannot be read",
        ),
        (&["place", "some"], "invalid value 'some'"),
        (
            &["--root", "flow", "place", "each"],
            "No single key can be set",
        ),
        (
            &["stage"],
            "No task was named.\nhint: `ralph stage --all`, `ralph stage 2,5`",
        ),
        (&["stage", "--none", "--all"], "cannot be used with"),
        (
            &["stage", "--all", "--only", "LINT"],
            "`LINT` is no stage and no configured gate",
        ),
        (&["stage", "--all", "1"], "cannot be used with"),
        (
            &["stage", "9"],
            "no task, or more than one, with the id `9`",
        ),
    ] {
        let done = project.ralph(args).code(2);
        assert!(done.err.contains(says), "{args:?}: {}", done.err);
    }
    for verb in ["place", "stage"] {
        let shown = project.at_terminal(verb, "\r\r\r");
        assert!(shown.contains(" was named."), "{verb} asks: {shown}");
    }
    assert_eq!(texts(), before);
}

#[test]
fn nothing_is_placed_beside_a_run() {
    let project = Project::new("- [ ] 1. One\n");
    project.agent("1./*) test -e started && as_usual || { touch started; exec sleep 1000; } ;;");
    let mut run = project.start(&["run"]);
    wait_for("the agent", || project.has("started"));
    for args in [
        &["place", "each"][..],
        &["place", "each", "--tasks", "tasks.md"],
        &["stage", "--all"],
    ] {
        project.ralph(args).code(75);
    }
    project.ralph(&["place", "each", "--dry-run"]).code(0);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n");
    signal(i32::try_from(run.id()).unwrap(), "KILL");
    run.wait().unwrap();

    // An interrupted attempt is settled first: otherwise the next run treats the line as a user's.
    wait_for("the agent's end", || project.processes().is_empty());
    project.ralph(&["place", "each"]).code(0);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n- [ ] 1.PITEST\n");
    project.config("gates:\n  PITEST: {run: ['true']}\n");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [x] 1.PITEST\n");
}

#[test]
fn an_agent_of_ralphs_cannot_place_gates() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PITEST\n");
    project.config("gates:\n  PITEST: {run: ['true']}\n");
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.agent(&format!(
        "1./1) {ralph} place none > said 2>&1 || echo \"code $?\" >> said; as_usual ;;"
    ));
    project.ralph(&["run"]).code(0);
    let said = project.read("said");
    assert!(
        said.contains("An agent that ralph runs asked") && said.ends_with("code 2\n"),
        "{said}"
    );
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [x] 1.PITEST\n");
}

#[test]
fn staged_tasks_run_to_the_end() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.config("gates:\n  PITEST: {run: ['true']}\n");
    let missing = project.ralph(&["stage", "2", "--check"]).code(1);
    assert!(
        missing.out.contains("+- [ ] 2.TEST-FIRST"),
        "{}",
        missing.out
    );
    project.ralph(&["stage", "--all"]).code(0);
    let task = |id: &str, text: &str| {
        format!(
            "- [ ] {id}.TEST-FIRST\n- [ ] {id}. {text}\n- [ ] {id}.REQ-CHECK\n- [ ] {id}.PITEST\n- [ ] {id}.PRE-CR\n"
        )
    };
    let staged = format!("{}{}- [ ] FINAL\n", task("1", "One"), task("2", "Two"));
    assert_eq!(project.read("tasks.md"), staged);
    let again = project.ralph(&["stage", "1,2", "--check"]).code(0);
    assert!(again.out.contains("have their stages"), "{}", again.out);
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), staged.replace("[ ]", "[x]"));
}

#[test]
fn the_rules_for_authoring_agents_name_every_option() {
    let project = Project::empty();
    for tool in ["kiro", "spec-kit", "openspec", "agents"] {
        let done = project.ralph(&["place", "--snippet", tool]).code(0);
        assert!(done.out.contains("`stages: virtual`"), "{tool}");
        for option in ["each", "tested", "after", "groups", "end", "none"] {
            assert!(
                done.out.contains(&format!("**{option}**")),
                "{tool}: {option}"
            );
        }
        assert!(
            done.out.contains("(recommended: ") && done.out.contains("ralph place each --tasks"),
            "{tool}"
        );
    }
    project
        .ralph(&["place", "each", "--snippet", "kiro"])
        .code(2);
}

#[test]
fn placed_group_and_end_gates_judge_fail_and_are_judged_again() {
    let project = Project::new("# Plan\n## A\n- [ ] 1. One\n- [ ] 2. Two\n## B\n- [ ] 3. Three\n");
    let lines = |id: u8| {
        format!("test $(grep -c . src/main/{id}.txt) -ge 2 || {{ echo too few; exit 1; }}")
    };
    project.config(&format!(
        "gates:\n  LINT: {{run: [sh, -c, '{}']}}\n  DEEP: {{run: [sh, -c, '{}']}}\n",
        lines(2),
        lines(3)
    ));
    project
        .ralph(&["place", "groups", "--gate", "LINT"])
        .code(0);
    project.ralph(&["place", "end", "--gate", "DEEP"]).code(0);
    assert!(
        project
            .read(".ralph/config.yaml")
            .ends_with("\nplacement: {DEEP: end, LINT: groups}\n")
    );
    let placed = project.read("tasks.md");
    assert_eq!(
        placed,
        "# Plan\n## A\n- [ ] 1. One\n- [ ] 2. Two\n- [ ] G2.LINT\n## B\n- [ ] 3. Three\n- [ ] G3.LINT\n- [ ] END.DEEP\n"
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), placed.replace("[ ]", "[x]"));
    // A command names no class: every task that changed production files of the package is reworked.
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "2.=ACCEPTED",
            "G2.LINT=LINT FAIL — The gate LINT fails in package app.",
            "1.=ACCEPTED",
            "2.=ACCEPTED",
            "G2.LINT=LINT PASS",
            "3.=ACCEPTED",
            "G3.LINT=LINT PASS",
            "END.DEEP=DEEP FAIL — The gate DEEP fails in package app.",
            "1.=ACCEPTED",
            "2.=ACCEPTED",
            "G2.LINT=LINT PASS",
            "3.=ACCEPTED",
            "G3.LINT=LINT PASS",
            "END.DEEP=DEEP PASS",
        ]
    );
}

#[test]
fn what_stage_wrote_it_takes_away_again_and_nothing_else() {
    let plain = "# Plan\n- [ ] 1. One\n- [ ] 2. Two\n";
    let project = Project::new(plain);
    let stage = |args: &[&str]| project.ralph(&[&["stage"], args].concat()).code(0).out;
    stage(&["--all"]);
    stage(&["--none", "2"]);
    assert!(
        !project.read("tasks.md").contains("2.PITEST")
            && project.read("tasks.md").contains("1.PITEST")
    );
    stage(&["--none"]);
    assert_eq!(project.read("tasks.md"), plain);
    assert!(stage(&["--none"]).contains("no open line of a stage"));
    // Lines and ticks of users stay, and so do placed gates.
    project.ralph(&["place", "each"]).code(0);
    let placed = project.read("tasks.md");
    stage(&["--all"]);
    assert_eq!(
        project.read("tasks.md").matches("PITEST").count(),
        2,
        "no second gate"
    );
    let staged = project.read("tasks.md");
    project.write(
        "tasks.md",
        staged.replace("[ ] 1.TEST-FIRST", "[x] 1.TEST-FIRST"),
    );
    stage(&["--none"]);
    assert_eq!(
        project.read("tasks.md"),
        placed.replace("- [ ] 1. One", "- [x] 1.TEST-FIRST\n- [ ] 1. One")
    );
    // Only some of them.
    project.write("tasks.md", plain);
    stage(&["1", "--only", "PRE-CR,TEST-FIRST"]);
    assert_eq!(
        project.read("tasks.md"),
        "# Plan\n- [ ] 1.TEST-FIRST\n- [ ] 1. One\n- [ ] 1.PRE-CR\n- [ ] 2. Two\n"
    );
    stage(&["--none", "--only", "PRE-CR"]);
    assert_eq!(
        project.read("tasks.md"),
        "# Plan\n- [ ] 1.TEST-FIRST\n- [ ] 1. One\n- [ ] 2. Two\n"
    );
}

#[test]
fn after_place_stage_adds_no_second_gate() {
    for place in [
        &["each"][..],
        &["tested"],
        &["after", "2"],
        &["groups"],
        &["end"],
        &["none"],
    ] {
        let project = Project::new("# A\n- [ ] 1. One\n# B\n- [ ] 2. Two\n");
        project.ralph(&[&["place"], place].concat()).code(0);
        let gates = |project: &Project| project.read("tasks.md").matches("PITEST").count();
        let before = gates(&project);
        project.ralph(&["stage", "--all"]).code(0);
        let wanted = if place[0] == "tested" { 2 } else { before };
        assert_eq!(
            gates(&project),
            wanted,
            "{place:?}: {}",
            project.read("tasks.md")
        );
        project.ralph(&["place", "--check"]).code(0);
    }
}

#[test]
fn a_task_file_that_is_read_only_is_not_written() {
    let project = Project::new("- [ ] 1. One\n- [x] 2. Two\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
    fs_err::set_permissions(project.path("tasks.md"), mode).unwrap();
    let before = project.read("tasks.md");
    for args in [
        &["run"][..],
        &["place", "each"],
        &["place", "each", "--tasks", "tasks.md"],
        &["stage", "--all"],
        &["accept", "1.", "--reason", "x"],
    ] {
        let done = project.ralph(args).code(2);
        assert!(
            done.err.contains("tasks.md: The file is read-only") && done.err.contains("chmod u+w"),
            "{}",
            done.err
        );
    }
    project.ralph(&["place", "each", "--dry-run"]).code(0);
    project.ralph(&["status"]).code(0);
    assert_eq!(project.read("tasks.md"), before);
    assert!(!project.has("progress.txt"));
}

#[test]
fn with_virtual_stages_the_words_are_about_the_configuration_and_the_file_stays() {
    let text = "- [ ] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n";
    let project = Project::new(text);
    project.config("stages: virtual\n");
    project.ralph(&["place", "--check", "each"]).code(0);
    let differs = project.ralph(&["place", "end", "--check"]).code(1);
    assert!(
        differs.out.ends_with("+placement: {PITEST: end}\n"),
        "{}",
        differs.out
    );
    for args in [
        &["place", "end"][..],
        &["place", "end", "--tasks", "tasks.md"],
    ] {
        let done = project.ralph(args).code(0);
        assert!(
            done.out.starts_with(
                "tasks.md: the file gets no line: END.PITEST runs after the last task.\n"
            ),
            "{}",
            done.out
        );
        project.ralph(&["place", "--check"]).code(0);
    }
    assert_eq!(project.read("tasks.md"), text);
    let said = project.ralph(&["status"]).code(0).out;
    assert!(
        said.starts_with("tasks.md: 1 of 3 boxes ticked, "),
        "{said}"
    );
    let columns: Vec<&str> = said.lines().nth(2).unwrap().split_whitespace().collect();
    assert!(columns.contains(&"REQ-CHECK"), "{said}");
    assert!(!said.contains("no run has recorded"), "{said}");
    let shown = project.at_terminal("status", "");
    assert!(
        shown.contains("unrecorded: ticked in the file, which no run has recorded yet"),
        "{shown}"
    );
}

#[test]
fn groups_go_down_to_a_level_that_all_gates_of_groups_share() {
    let text = "# Plan\n## A\n- [ ] 1. One\n### A1\n- [ ] 2. Two\n## B\n- [ ] 3. Three\n";
    let project = Project::new(text);
    project.config("gates:\n  PITEST: {run: ['true']}\n  LINT: {run: ['true']}\n");
    project.ralph(&["place", "groups", "--level", "2"]).code(0);
    let placed = "# Plan\n## A\n- [ ] 1. One\n### A1\n- [ ] 2. Two\n- [ ] G2.PITEST\n## B\n- [ ] 3. Three\n- [ ] G3.PITEST\n";
    assert_eq!(project.read("tasks.md"), placed);
    assert!(
        project
            .read(".ralph/config.yaml")
            .contains("placement: {PITEST: {groups: 2}}\n")
    );
    project.ralph(&["place", "--check"]).code(0);
    let explained = project.ralph(&["check", "--explain"]).code(0).out;
    for words in [
        "heading ###  group 2: A1",
        "Two  (IMPLEMENT · group 2)",
        "heading ##  group 3: B",
        "G3.PITEST  (PITEST · group 3)",
    ] {
        assert!(explained.contains(words), "{words}: {explained}");
    }
    let refused = project
        .ralph(&["place", "groups", "--gate", "LINT"])
        .code(2);
    assert!(
        refused.err.starts_with(
            "error: LINT: The groups of PITEST are others, and a task is in one group.\nhint: "
        ),
        "{}",
        refused.err
    );
    project
        .ralph(&["place", "groups", "--level", "2", "--gate", "LINT"])
        .code(0);
    project.ralph(&["place", "none", "--gate", "LINT"]).code(0);
    assert_eq!(project.read("tasks.md"), placed);
    project.ralph(&["place", "groups"]).code(0);
    let every = project.read("tasks.md");
    assert!(
        every.contains("- [ ] 1. One\n- [ ] G5.PITEST\n### A1\n"),
        "{every}"
    );
    project.ralph(&["place", "none"]).code(0);
    assert_eq!(project.read("tasks.md"), text);
    let refused = project.ralph(&["place", "end", "--level", "2"]).code(2);
    assert!(
        refused.err.contains("A level is named with `groups` only."),
        "{}",
        refused.err
    );
}

#[test]
fn what_gates_will_take_is_said_before_they_are_written() {
    let project =
        Project::new("# A\n- [ ] 1. One\n- [ ] 2. Two\n# B\n- [ ] 3. Three\n- [ ] 4. Checkpoint\n");
    project.config("gates:\n  PITEST: {run: ['true']}\n");
    let said = |args: &[&str]| project.ralph(&[&["place"], args].concat()).code(0).err;
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        first(said(&["each", "--dry-run"])),
        "3 gates of PITEST to run; 0 open tasks without one."
    );
    assert_eq!(
        first(said(&["after", "2", "--dry-run"])),
        "1 gate of PITEST to run; 2 open tasks without one."
    );
    assert_eq!(
        first(said(&["groups", "--dry-run"])),
        "2 gates of PITEST to run; 0 open tasks without one."
    );
    assert_eq!(said(&["none", "--dry-run"]), "");
    let gates = "gates:\n  PITEST: {run: ['true']}\n";
    project.config(&format!("{gates}stages: virtual\n"));
    assert_eq!(
        first(said(&["each", "--dry-run"])),
        "3 gates of PITEST to run; 0 open tasks without one."
    );
    assert_eq!(
        first(said(&["end", "--dry-run"])),
        "1 gate of PITEST to run; 0 open tasks without one."
    );
    assert_eq!(
        first(said(&["after", "2", "--dry-run"])),
        "1 gate of PITEST to run; 2 open tasks without one."
    );
    project.config(gates);
    said(&["after", "1"]);
    project.ralph(&["run", "--max-iterations", "2"]).code(5);
    let told = said(&["each", "--dry-run"]);
    assert!(
        told.starts_with("2 gates of PITEST to run, about ")
            && told.contains(" each, the middle of 1); 0 open"),
        "{told}"
    );
}
