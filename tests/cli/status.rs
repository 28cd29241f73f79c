//! `ralph status`: the table, the JSON, and the report on other runs.

use super::project::{Project, wait_for};

/// Returns the output of status, without the line of times.
fn status(project: &Project) -> String {
    let out = project.ralph(&["status"]).code(0).out;
    let lines: Vec<&str> = out
        .lines()
        .filter(|line| !line.starts_with("time: "))
        .collect();
    lines.join("\n")
}

#[test]
fn verdicts_attempts_reasons_and_blocks_stand_in_one_table() {
    let project = Project::new(
        "- [ ] 1. One\n- [ ] 1.LINT L\n- [ ]* 2. Two\n- [ ] 3. Three\n- [ ] 3.REQ-CHECK R\n- [ ] 3.LINT L\n",
    );
    let lint = "gates:\n  LINT: {run: [sh, -c, 'test -e ../../ok || { echo the line is long; exit 1; }']}\n";
    project.config(&format!("{lint}limits: {{rework: 0, attempts: 3}}\n"));
    project.ralph(&["run"]).code(1);
    insta::assert_snapshot!(status(&project), @r#"
    tasks.md: 0 of 6 boxes ticked, 2 iterations, stopped

    TASK  TEXT   IMPLEMENT  REQ-CHECK  LINT
    1     One    blocked               FAIL
    2     Two    optional
    3     Three  open       open       open

    task 1 is open after 1 attempt:
      - The gate LINT fails in package app.
      - the line is long
    stopped: Work is left and blocked. tasks.md:1: task 1 is blocked: 1.LINT failed after 0 reworks.
    next: nothing can be taken
    gate LINT: 1 FAIL, 1 open
    1 attempt, 0 reworks
    run: none is active
    "#);
    project.write("ok", "");
    project.agent("3./1) true ;;\n3./2) true ;;");
    project
        .ralph(&["run", "--retry", "1.", "--max-iterations", "4"])
        .code(5);
    insta::assert_snapshot!(status(&project), @r#"
    tasks.md: 2 of 6 boxes ticked, 6 iterations, stopped

    TASK  TEXT   IMPLEMENT   REQ-CHECK  LINT
    1     One    done                   PASS
    2     Two    optional
    3     Three  rejected 2  open       open

    task 3 is open after 2 attempts:
      - Nothing was committed.
    stopped: The limit of 4 iterations was reached.
    next: task 3: Three
    gate LINT: 1 PASS, 1 open
    4 attempts, 0 reworks
    run: none is active
    "#);
    project.ralph(&["accept", "3.", "--reason", "x"]).code(0);
    project.ralph(&["run"]).code(0);
    insta::assert_snapshot!(status(&project), @r#"
    tasks.md: 5 of 6 boxes ticked, 9 iterations, stopped

    TASK  TEXT   IMPLEMENT  REQ-CHECK  LINT
    1     One    done                  PASS
    2     Two    optional
    3     Three  person     PASS       SKIP

    stopped: All required boxes are ticked.
    next: nothing, all required boxes are ticked
    gate LINT: 1 PASS, 1 SKIP
    5 attempts, 0 reworks
    weakly verified: task 3 (a person), 3.LINT (SKIP: nothing was judged)
    run: none is active
    "#);
}

#[test]
fn commit_only_is_said_where_nothing_but_a_commit_stood_behind_a_tick() {
    let tasks = "- [ ] 1. One\n- [ ] Plain\n- [x] 3. There before\n";
    let project = Project::new(tasks);
    project.ralph(&["run"]).code(0);
    let said = status(&project);
    assert_eq!(said.matches("commit only").count(), 2, "{said}");
    assert!(
        said.contains("\n3           There before  person"),
        "{said}"
    );

    let checked = Project::new(tasks);
    checked.config("checks: {green: [sh, -c, 'exit 0']}\n");
    checked.ralph(&["run"]).code(0);
    let said = status(&checked);
    assert!(
        !said.contains("commit only") && said.contains("\n1           One           done"),
        "{said}"
    );
}

#[test]
fn json_has_the_table_too() {
    let project =
        Project::new("# Plan\n- [ ] 1. One\n- [ ] 1.LINT L\n- [ ] 2. Two\n  - [ ] 2.1 Below\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    let fresh = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(
        (&fresh["next"]["task"], &fresh["time"]["runs_seconds"]),
        (&"1.".into(), &0.into())
    );
    assert!(fresh["cost"].is_null() && fresh["current"].is_null() && fresh["holder"].is_null());
    project.ralph(&["run", "--max-iterations", "2"]).code(5);
    let now = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(now["stages"], serde_json::json!(["IMPLEMENT", "LINT"]));
    assert_eq!(now["families"][0]["stages"]["LINT"]["standing"], "passed");
    assert_eq!(now["families"][0]["stages"]["LINT"]["shown"], "PASS");
    assert_eq!(now["families"][0]["stages"]["IMPLEMENT"]["attempts"], 1);
    assert_eq!(now["families"][2]["parent"], "2");
    assert_eq!(
        now["next"],
        serde_json::json!({"task": "2.1.", "stage": "IMPLEMENT", "line": 5, "done": false, "reasons": []})
    );
    assert_eq!(now["gates"]["LINT"], serde_json::json!({"PASS": 1}));
    assert!(now["time"]["agents_millis"].as_u64().unwrap() > 0, "{now}");
    assert!(
        now["why"]
            .as_str()
            .unwrap()
            .contains("limit of 2 iterations"),
        "{now}"
    );
}

#[test]
fn a_cost_is_what_transcripts_say() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. Three\n");
    project.agent(
        "1./1) as_usual; echo '{\"type\":\"result\",\"total_cost_usd\":0.25}' ;;\n\
         2./1) as_usual; echo '{\"type\":\"result\",\"total_cost_usd\":0.5}' ;;",
    );
    assert!(
        project
            .ralph(&["status"])
            .out
            .contains("; cost: not reported\n")
    );
    project.ralph(&["run"]).code(0);
    let out = project.ralph(&["status"]).out;
    assert!(
        out.contains("; cost: $0.75 as 2 of 3 attempts reported\n"),
        "{out}"
    );
    let json = project.ralph(&["status", "--json"]).json().remove(0);
    assert_eq!(
        json["cost"],
        serde_json::json!({"usd_micros": 750_000, "reported": 2, "attempts": 3})
    );
}

#[test]
fn beside_a_run_status_says_what_runs_and_after_a_kill_that_nothing_does() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent("2./1) touch started; exec sleep 1000 ;;");
    let mut run = project.start(&["run"]);
    wait_for("the agent started", || project.has("started"));
    wait_for("the spawn is recorded", || {
        project
            .journal()
            .last()
            .is_some_and(|line| line.contains("agent-spawned"))
    });
    let before = project.files();
    let said = status(&project);
    assert!(
        said.contains("\nnow: task 2 agent, iteration 2\n"),
        "{said}"
    );
    assert!(said.contains("\n2     Two   running\n"), "{said}");
    assert!(
        said.contains(&format!("\nrun: active (process {} ", run.id())),
        "{said}"
    );
    let json = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(
        (&json["current"]["task"], &json["current"]["doing"]),
        (&"2.".into(), &"agent".into())
    );
    assert!(project.files() == before, "nothing is written");
    run.kill().unwrap();
    run.wait().unwrap();
    let said = status(&project);
    assert!(
        said.ends_with("run: none is active") && !said.contains("running"),
        "{said}"
    );
    assert!(
        said.starts_with("tasks.md: 1 of 2 boxes ticked, 2 iterations, interrupted\n"),
        "{said}"
    );
    let json = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(
        (&json["phase"], &json["holder"]),
        (&"interrupted".into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_live_view_without_a_terminal_is_refused_with_a_hint() {
    let project = Project::new("- [ ] 1. One\n");
    for args in [&["status", "--watch"][..], &["status", "--watch", "--json"]] {
        let done = project.ralph(args).code(2);
        assert!(
            done.out.is_empty() && done.err.contains("hint: `ralph status` says the same once"),
            "{}",
            done.err
        );
    }
}

#[test]
fn what_is_next_is_what_a_run_would_take() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT L\n- [ ] 2. Two\n");
    let lint = "gates:\n  LINT: {run: [sh, -c, 'exit 1']}\nlimits: {rework: 0}\n";
    project.config(lint);
    project.ralph(&["run"]).code(1);
    let why = "tasks.md:1: task 1 is blocked: 1.LINT failed after 0 reworks.";
    for asked in [&["next"][..], &["run", "--dry-run"]] {
        let done = project.ralph(asked).code(1);
        assert_eq!(done.out, format!("{why}\n"));
        assert!(
            done.err.contains(
                "hint: see progress.txt; then `ralph run --retry 1`, or `ralph accept 1 --reason"
            ),
            "{}",
            done.err
        );
    }
    let json = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(
        json["next"],
        serde_json::json!({"task": null, "done": false, "reasons": [why]})
    );
    assert!(
        project.ralph(&["run"]).code(1).err.contains(why),
        "a run stops with the same words"
    );

    let retried = project
        .ralph(&["run", "--dry-run", "--retry", "1."])
        .code(0);
    assert!(retried.out.starts_with("task 1  One"), "{}", retried.out);
    project.config(&format!("{lint}on_blocked: next\n"));
    for asked in [&["next"][..], &["run", "--dry-run"]] {
        assert!(project.ralph(asked).code(0).out.starts_with("task 2  Two"));
    }
    assert!(status(&project).contains("\nnext: task 2: Two\n"));
}

#[test]
fn json_tells_the_same_in_all_its_places() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT L\n- [ ] Plain words\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 1']}\nlimits: {rework: 1}\n");
    project.agent("1./1) true ;;");
    project.ralph(&["run"]).code(1);
    let now = project
        .ralph(&["status", "--json"])
        .code(0)
        .json()
        .remove(0);
    let (one, cell) = (&now["boxes"][0], &now["families"][0]["stages"]["IMPLEMENT"]);
    assert_eq!(
        (&one["attempts"], &one["rejected"]),
        (&cell["attempts"], &cell["rejected"])
    );
    assert!(one["attempts"].as_u64().unwrap() > 1, "{now}");
    assert_eq!(
        now["families"][0]["reworks"], 1,
        "as its words say: {}",
        one["blocked"]
    );
    assert_eq!(one["blocked"], "1.LINT failed after 1 rework.");
    assert_eq!(now["boxes"][2]["task"], "tasks.md:3");
    assert_eq!(
        now["families"][1]["stages"]["IMPLEMENT"]["task"],
        "tasks.md:3"
    );
}

#[test]
fn who_ticked_a_box_is_in_the_table_also_before_ralph_has_recorded_it() {
    let project = Project::new("- [x] 1. One\n- [ ] 2. Two\n");
    let shown = |line: &str| project.ralph(&["status"]).code(0).out.contains(line);
    assert!(shown("\n1     One   unrecorded"));
    project.ralph(&["run"]).code(0);
    assert!(shown("\n1     One   person") && shown("\n2     Two   commit only"));
}
