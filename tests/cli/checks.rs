//! Checks, committers, checkpoints, hooks, and the final gate.

use super::project::{Project, wait_for};

const GREEN: &str = "checks: {green: [sh, -c, 'test -e ok || { echo not ok; exit 1; }']}\n";

#[test]
fn green_must_pass_after_an_implementation_in_each_changed_package() {
    let project = Project::new("- [ ] 1. One\n");
    project.package("src/lib");
    project.config(GREEN);
    project.agent(
        "1./1) commit app a.txt; commit lib a.txt; commit lib ok ;;\n1./2) commit app ok ;;",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=REJECTED (attempt 1 of 3)", "1.=ACCEPTED"]
    );
    let said = project.entry(1).lines;
    assert!(
        said.contains("checks.green in app") && said.contains("not ok"),
        "{said}"
    );
    assert!(!said.contains("in lib"), "{said}");
    assert!(
        project.entry(2).lines.contains("checks.green agreed"),
        "{:?}",
        project.entry(2)
    );
}

#[test]
fn who_accepts_work_by_hand_accepts_that_fewer_tests_pass() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. Three\n");
    let green = "cat tests > report.xml";
    project.config(&format!(
        "checks: {{green: [sh, -c, '{green}'], reports: [report.xml]}}\nlimits: {{attempts: 1}}\n"
    ));
    project.agent(
        "1./1) echo '<testsuite><testcase/><testcase/></testsuite>' > src/app/tests; as_usual ;;\n\
         2./1) echo '<testsuite><testcase/></testsuite>' > src/app/tests; as_usual ;;",
    );
    project.write("src/app/.gitignore", "report.xml\n");
    project.ralph(&["run"]).code(1);
    assert!(
        project
            .entry(2)
            .lines
            .contains("1 test passed by its reports, 2 when"),
        "{:?}",
        project.entry(2)
    );
    project
        .ralph(&["accept", "2.", "--reason", "the second test was wrong"])
        .code(0);
    project.ralph(&["run"]).code(0);
    assert!(
        project.entry(4).lines.contains("agreed, 1 test passed."),
        "{:?}",
        project.entry(4)
    );
}

#[test]
fn red_must_fail_after_test_first() {
    let project = Project::new("- [ ] 1.TEST-FIRST T\n- [ ] 1. One\n");
    project.config("checks: {red: [sh, -c, '! test -e src/test/red']}\n");
    project.agent("1.TEST-FIRST/2) commit app src/test/red ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        [
            "1.TEST-FIRST=REJECTED (attempt 1 of 3)",
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED"
        ]
    );
    assert!(
        project.entry(1).lines.contains("checks.red passed in app"),
        "{:?}",
        project.entry(1)
    );
}

#[test]
fn a_check_that_writes_boxes_does_not_tick_them() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.config(
        "checks: {green: [sh, -c, \"cd ../..; sed 's/. ]/x]/' tasks.md > t; mv t tasks.md\"]}\n",
    );
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [ ] 2. Two\n");
}

#[test]
fn test_writers_that_write_no_test_or_change_production_are_rejected() {
    let project = Project::new("- [ ] 1.TEST-FIRST T\n- [ ] 1. One\n");
    project.write(
        "src/app/src/main/App.java",
        "class App {\n    int one() { return 1; }\n}\n",
    );
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "production"]);
    project.agent(
        "1.TEST-FIRST/1) commit app src/main/new.txt ;;\n\
         1.TEST-FIRST/2) sed 's/1/2/' src/app/src/main/App.java > j && mv j src/app/src/main/App.java; as_usual ;;\n\
         1.TEST-FIRST/3) git -C src/app checkout -q HEAD~1 -- src/main/App.java; as_usual ;;",
    );
    project.ralph(&["run"]).code(0);
    assert!(
        project
            .entry(1)
            .lines
            .contains("No test file was committed.")
    );
    let said = project.entry(2).lines;
    assert!(
        said.contains("app/src/main/App.java") && said.contains("int one()"),
        "{said}"
    );
    assert_eq!(
        project.story()[2..],
        ["1.TEST-FIRST=ACCEPTED", "1.=ACCEPTED"]
    );
}

#[test]
fn a_worker_that_removes_frozen_test_lines_opens_test_first_once() {
    let project = Project::new("- [ ] 1.TEST-FIRST T\n- [ ] 1. One\n");
    project.agent(
        "1./*) if ! [ -e src/app/new-tests ]; then echo other > src/app/src/test/1.txt; fi; as_usual ;;\n\
        1.TEST-FIRST/*) as_usual; if [ $RALPH_ITERATION -gt 1 ]; then commit app new-tests; fi ;;",
    );
    project.config("limits: {attempts: 2}\n");
    project.ralph(&["run"]).code(0);
    let said = project.entry(2).lines;
    assert!(
        said.contains("test code of TEST-FIRST was changed"),
        "{said}"
    );
    assert_eq!(
        project.story(),
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=REJECTED (attempt 1 of 2)",
            "1.=REJECTED (attempt 2 of 2)",
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED"
        ]
    );
}

#[test]
fn ralph_commits_for_agents_that_may_not() {
    let project = Project::new("- [ ] 1.TEST-FIRST Tests\n- [ ] 1. One word\n- [ ] 1.PRE-CR R\n");
    project.config("commit: ralph\n");
    project.agent(
        "1.TEST-FIRST/1) change app src/test/1.txt ;;\n\
         1./1) change app new.txt; change app src/main/1.txt; change app target/out.bin; change app README.md ;;\n\
         1.PRE-CR/1) change app src/main/review.txt; as_usual; verdict PASS ;;",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.git("src/app", &["log", "--format=%s"]),
        "1. One word\n1.TEST-FIRST Tests\nstart"
    );
    let files = project.git("src/app", &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(files, "README.md\nnew.txt\nsrc/main/1.txt\nsrc/test/1.txt");
    assert!(
        project.has("src/app/target/out.bin"),
        "output stays where it is"
    );
    assert_eq!(
        project.story()[2..],
        ["1.PRE-CR=REJECTED (attempt 1 of 3)", "1.PRE-CR=PRE-CR PASS"]
    );
}

/// A first attempt of task 1 that leaves new files and a changed one, and does not count because it ends with `end`; a second
/// one that adds nothing of these. A person's files were there before.
fn left_by_an_attempt_that_does_not_count(end: &str) -> Project {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT Judge\n");
    project.config(
        "commit: ralph\ngates:\n  LINT: {run: [sh, -c, 'grep -q table schema.sql'], where: clean}\n",
    );
    project.write("src/app/person.txt", "was there");
    project.write("src/app/src/main/person.txt", "was there");
    project.agent(&format!(
        "1./*) if ! [ -e src/app/schema.sql ]; then echo table > src/app/schema.sql; echo new > src/app/src/main/new.txt;\n\
         echo more >> src/app/README.md; touch started; {end}; fi; change app src/main/1.txt ;;"
    ));
    project
}

fn assert_left_is_committed(project: &Project, story: &[&str], untracked: &str) {
    assert_eq!(project.story(), story);
    assert_eq!(
        project.git("src/app", &["ls-tree", "-r", "--name-only", "HEAD"]),
        "README.md\nschema.sql\nsrc/main/1.txt\nsrc/main/new.txt"
    );
    assert_eq!(
        project.git("src/app", &["status", "--porcelain"]),
        untracked
    );
    project.ralph(&["replay"]).code(0);
}

#[test]
fn ralph_commits_what_an_attempt_left_that_did_not_count() {
    let project = left_by_an_attempt_that_does_not_count("exit 1");
    project.ralph(&["run", "--max-iterations", "1"]).code(5);
    project.write("src/app/between.txt", "a person's");
    project.ralph(&["run"]).code(0);
    assert_left_is_committed(
        &project,
        &[
            "1.=REJECTED (attempt 1 of 3)",
            "1.=ACCEPTED",
            "1.LINT=LINT PASS",
        ],
        "?? between.txt\n?? person.txt\n?? src/main/person.txt",
    );
}

#[test]
fn ralph_commits_what_an_attempt_left_when_ralph_was_killed() {
    let project = left_by_an_attempt_that_does_not_count("sleep 1000");
    let mut run = project.start(&["run"]);
    wait_for("the agent started", || project.has("started"));
    run.kill().unwrap();
    run.wait().unwrap();
    project.ralph(&["run"]).code(0);
    assert_left_is_committed(
        &project,
        &["1.=INTERRUPTED", "1.=ACCEPTED", "1.LINT=LINT PASS"],
        "?? person.txt\n?? src/main/person.txt",
    );
}

#[test]
fn a_file_that_needs_a_filter_is_not_left_out_by_the_next_run() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("commit: ralph\n");
    project.git("src/app", &["config", "filter.up.clean", "cat"]);
    project.write("src/app/.git/info/attributes", "*.up filter=up\n");
    project.agent(
        "1./1) change app src/main/1.txt; echo new > src/app/x.up; echo new > src/app/y.txt ;;",
    );
    for _ in 0..2 {
        let said = project.ralph(&["run"]).code(2).err;
        assert!(said.contains("x.up needs the filter `up`"), "{said}");
    }
    project.git("src/app", &["add", "x.up"]);
    project.git("src/app", &["commit", "-qm", "by hand"]);
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.git("src/app", &["ls-tree", "-r", "--name-only", "HEAD"]),
        "README.md\nsrc/main/1.txt\nx.up\ny.txt"
    );
}

#[test]
fn a_checkpoint_may_have_nothing_to_do_when_green_confirms_it() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Checkpoint: all tests pass\n");
    project.config("checks: {green: [sh, -c, 'exit 0']}\n");
    project.agent("2./1) verdict NOTHING-TO-DO all is green ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.story(), ["1.=ACCEPTED", "2.=ACCEPTED"]);
}

#[test]
fn nothing_to_do_is_believed_nowhere_else() {
    for (task, config, because) in [
        (
            "Two",
            "checks: {green: [sh, -c, 'exit 0']}\n",
            "the task is not a checkpoint",
        ),
        ("A checkpoint", "", "no checks.green is configured"),
        (
            "A checkpoint",
            "checks: {green: [sh, -c, 'cat ../../fails 2>&1']}\n",
            "checks.green in app",
        ),
    ] {
        let project = Project::new(format!("- [ ] 1. {task}\n"));
        project.config(config);
        project.agent("1./1) verdict NOTHING-TO-DO trust me ;;");
        let done = project.ralph(&["run"]).code(1);
        assert_eq!(project.story(), ["1.=BLOCKED"]);
        assert!(
            project.entry(1).lines.contains(because),
            "{because}: {:?}",
            project.entry(1)
        );
        assert!(done.err.contains("ralph accept"), "{}", done.err);
        project
            .ralph(&["accept", "1.", "--reason", "so it is"])
            .code(0);
        project.ralph(&["run"]).code(0);
    }
}

#[test]
fn people_are_told_through_commands_with_the_event_as_json() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT J\n");
    let tell = |event: &str| format!("{event}: [sh, -c, 'cat >> told']");
    let on = ["blocked", "done", "gate-fail", "stop"]
        .map(tell)
        .join(", ");
    project.config(&format!(
        "hooks: {{{on}}}\ngates:\n  LINT: {{run: [sh, -c, 'test -e good']}}\nlimits: {{rework: 1}}\n"
    ));
    project.ralph(&["run", "--once"]).code(5);
    project.ralph(&["run"]).code(1);
    project.agent("1./*) commit app good ;;");
    project.ralph(&["run", "--retry", "1."]).code(0);
    let told: Vec<serde_json::Value> = project
        .read("told")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<String> = told
        .iter()
        .map(|event| {
            format!(
                "{} {}",
                event["event"].as_str().unwrap(),
                event["task"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        events,
        [
            "stop ",
            "gate-fail 1.LINT",
            "gate-fail 1.LINT",
            "blocked ",
            "done "
        ],
        "{told:?}"
    );
    assert!(
        told.iter()
            .all(|event| !event["why"].as_str().unwrap().is_empty())
    );
}

#[test]
fn a_command_that_fails_or_hangs_ends_no_run() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("hooks: {done: [no-such-program-anywhere]}\n");
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_report_with_gaps_completes_with_gaps() {
    let project = Project::new("- [ ] 1. One\n- [ ] FINAL V\n");
    project.write("validation-report.md", "an old one\n");
    project.agent("FINAL/1) printf '| Req | Status |\\n|---|---|\\n| R1 | PASS |\\n| R2 | perhaps |\\n| R3 | FAIL |\\n' > validation-report.md ;;");
    let done = project.ralph(&["run"]).code(1);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [x] FINAL V\n");
    let entry = project.entry(2);
    assert_eq!(entry.headline, "COMPLETE-WITH-GAPS");
    assert!(
        entry.lines.contains("1 PASS, 1 FAIL, 1 UNKNOWN") && entry.lines.contains("R2"),
        "{entry:?}"
    );
    assert!(
        done.err.contains("2 gaps") && done.err.contains("hint:"),
        "{}",
        done.err
    );
    assert_eq!(
        project.read(".ralph/state/iter-2/validation-report-before.md"),
        "an old one\n"
    );
    project.ralph(&["run"]).code(1);
    assert_eq!(project.story().len(), 2);
}

#[test]
fn a_validator_that_writes_no_report_or_other_files_is_asked_again() {
    let project = Project::new("- [ ] 1. One\n- [ ] FINAL V\n");
    project.write(
        "validation-report.md",
        "| R | Status |\n|---|---|\n| 1 | PASS |\n",
    );
    project.agent("FINAL/1) : ;;\nFINAL/2) commit app README.md; as_usual ;;");
    project.ralph(&["run"]).code(0);
    assert!(
        project
            .entry(2)
            .lines
            .contains("validation-report.md was not written."),
        "an old report counts for nothing"
    );
    let said = project.entry(3).lines;
    assert!(
        said.contains("The validator may write validation-report.md and nothing else"),
        "{said}"
    );
    assert_eq!(project.entry(4).headline, "COMPLETE");
    assert_eq!(project.read("src/app/README.md"), "a package\n");
}

#[test]
fn a_validator_that_adds_a_task_keeps_the_loop_going() {
    let project = Project::new("- [ ] 1. One\n- [ ] FINAL V\n");
    project.agent("FINAL/1) as_usual; if ! [ -e added ]; then touch added; printf -- '- [ ] 2. A gap\\n' >> tasks.md; fi ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "FINAL=FINAL WAITS",
            "2.=ACCEPTED",
            "FINAL=COMPLETE"
        ]
    );
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. One\n- [x] FINAL V\n- [x] 2. A gap\n"
    );
}
