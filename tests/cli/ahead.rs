//! Gates ahead of need, from outside: what is used, what is left running, whose word tasks.md is.

use super::journal::assert_chain;
use super::project::{Project, signal, wait_for};

const TASKS: &str = "\
- [ ] 1. One
- [ ] 1.REQ-CHECK Look
- [ ] 1.PRE-CR Look again
- [ ] 1.PITEST Judge
- [ ] 2. Two
";
/// The worker writes Java, so that the gate calls Maven.
const JAVA: &str =
    "1./*) commit app src/test/java/a/ATest.java; commit app pom.xml; commit app src/main/java/a/A.java ;;\n";
/// A Maven that runs until it is killed; after that one that cannot work.
const HANGS: &str = "[ -e $ws/../started ] && { echo '[ERROR] The JAVA_HOME is not there'; exit 1; }
setsid sleep 1000 &
echo $$ > $ws/../mvn.pid; touch $ws/../started; trap '' TERM; while :; do sleep 1000; done";

/// The facts of one kind.
fn facts(project: &Project, kind: &str) -> Vec<serde_json::Value> {
    let records = project.journal();
    let events = records.iter().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["r"]["e"].clone()
    });
    events.filter(|event| event["kind"] == kind).collect()
}

fn hanging() -> Project {
    let project = Project::new(TASKS);
    project.tool("mvn", HANGS);
    project.agent(JAVA);
    project
}

fn is_done(project: &Project, tasks: &str) {
    assert_eq!(project.read("tasks.md"), tasks.replace("[ ]", "[x]"));
    let numbers: Vec<u64> = project.entries().iter().map(|entry| entry.iteration).collect();
    assert_eq!(numbers, (1..=u64::try_from(numbers.len()).unwrap()).collect::<Vec<_>>());
    assert_chain(project);
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn the_verdict_that_was_found_beside_the_reviewers_is_used() {
    let project = Project::new(TASKS);
    let done = project.ralph(&["run"]).code(0);
    is_done(&project, TASKS);
    let told = facts(&project, "gate-judged-ahead");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["heads"], facts(&project, "gate-ended")[0]["heads"]);
    for field in ["scope", "settings"] {
        assert_eq!(told[0][field].as_str().unwrap().len(), 64, "{field}");
    }
    let engine = told[0]["engine"].as_str().unwrap();
    assert!(engine.starts_with("pitest ") && engine.contains(", ralph "), "{engine}");
    let entry = project.entry(4);
    assert_eq!(entry.task, "1.PITEST");
    assert!(entry.headline.starts_with("PITEST SKIP"), "{entry:?}");
    assert!(entry.lines.contains("found ahead of need, beside iteration 2."), "{entry:?}");
    assert!(done.err.contains("[2] 1.REQ-CHECK req-reviewer (1.PITEST runs ahead of need)"), "{}", done.err);
    assert!(done.err.contains("1.PITEST ahead of need: PITEST SKIP"), "{}", done.err);
    assert!(project.has(".ralph/state/iter-4-before.txt"));
}

#[test]
fn what_may_not_run_ahead_runs_in_its_turn() {
    for gates in [
        "  PITEST: {ahead: false}\n",
        "  PITEST: {where: in-place}\n",
        "  PITEST: {run: [sh, -c, 'exit 77']}\n",
    ] {
        let project = Project::new(TASKS);
        project.config(&format!("gates:\n{gates}"));
        project.ralph(&["run"]).code(0);
        is_done(&project, TASKS);
        assert!(facts(&project, "gate-judged-ahead").is_empty(), "{gates}");
        assert!(!project.read("progress.txt").contains("ahead of need"), "{gates}");
    }
}

#[test]
fn the_rest_is_waited_for_and_an_error_ahead_is_no_verdict() {
    let project = Project::new(TASKS);
    // Until its own iteration has begun.
    project.tool(
        "mvn",
        "echo called >> $ws/../calls
        until [ -e $ws/.ralph/state/iter-4-before.txt ]; do sleep 0.05; done
        echo '[ERROR] The JAVA_HOME is not there'; exit 1",
    );
    project.agent(JAVA);
    let done = project.ralph(&["run"]).code(3);
    assert!(done.err.contains("[4] 1.PITEST gate: waiting for the rest"), "{}", done.err);
    assert_eq!(facts(&project, "gate-judged-ahead")[0]["verdict"], serde_json::Value::Null);
    assert_eq!(facts(&project, "gate-judged-ahead")[0]["report"]["verdict"], "error");
    let entry = project.entry(4);
    assert!(entry.headline.starts_with("PITEST ERROR"), "{entry:?}");
    assert!(!entry.lines.contains("ahead of need"), "{entry:?}");
    assert_eq!(project.read("../calls"), "called\ncalled\n", "it ran again, alone");
    assert!(project.has(".ralph/state/iter-2/gate-ahead") && project.has(".ralph/state/iter-4/gate"));
}

#[test]
fn killed_with_a_gate_in_the_background_nothing_is_left_and_the_next_run_goes_on() {
    let project = hanging();
    project.agent(&format!(
        "{JAVA}1.REQ-CHECK/*) if ! [ -e beside ]; then touch beside; sleep 1000; fi; as_usual ;;"
    ));
    let mut run = project.start(&["run"]);
    wait_for("reviewer and gate run", || project.has("beside") && project.has("../started"));
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("all that ralph started is gone with it", || project.processes().is_empty());
    assert!(facts(&project, "gate-judged-ahead").is_empty());
    project.ralph(&["run"]).code(3);
    assert!(project.entry(2).headline.starts_with("INTERRUPTED"));
    project.ralph(&["accept", "1.PITEST", "--reason", "no Maven here"]).code(0);
    project.ralph(&["run"]).code(0);
    is_done(&project, TASKS);
    let judged = project.entries().iter().filter(|entry| entry.headline.starts_with("PITEST ")).count();
    assert_eq!(judged, 1, "{:?}", project.story());
}

#[test]
fn a_signal_ends_the_gate_in_the_background_too() {
    let project = hanging();
    project.agent(&format!("{JAVA}1.REQ-CHECK/*) touch beside; sleep 1000 ;;"));
    let mut run = project.start(&["run"]);
    wait_for("reviewer and gate run", || project.has("beside") && project.has("../started"));
    assert!(signal(i32::try_from(run.id()).unwrap(), "INT"));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(project.processes(), [0; 0]);
    assert!(facts(&project, "gate-judged-ahead").is_empty());
    assert_chain(&project);
}

#[test]
fn it_outlives_a_reviewer_and_is_gone_before_the_worker_begins() {
    let project = hanging();
    project.agent(&format!(
        "{}{}{}{JAVA}",
        "1.REQ-CHECK/1) until [ -e ../started ]; do sleep 0.05; done; as_usual ;;\n",
        "1.PRE-CR/1) kill -0 $(cat ../mvn.pid) && touch ../lived; echo 'RALPH-VERDICT: FAIL too long' ;;\n",
        "1./1) if [ -e ../started ] && kill -0 $(cat ../mvn.pid); then touch ../lives-on; fi
            commit app src/test/java/a/ATest.java; commit app pom.xml; commit app src/main/java/a/A.java ;;\n",
    ));
    project.ralph(&["run", "--max-iterations", "4"]).code(5);
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "1.REQ-CHECK=REQ-CHECK PASS", "1.PRE-CR=PRE-CR FAIL", "1.=ACCEPTED"]
    );
    assert!(project.has("../lived"), "what an agent leaves is killed, the gate is not");
    assert!(!project.has("../lives-on"), "cancelled, tree and all");
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn what_the_gate_writes_to_tasks_md_is_nobodys_word() {
    let project = Project::new(TASKS);
    project.tool(
        "mvn",
        "touch $ws/../started; trap '' TERM
        until [ -e $ws/.ralph/state/iter-4-before.txt ]; do
            sed 's/\\[ \\]/[x]/' $ws/tasks.md > $ws/../new && cp $ws/../new $ws/tasks.md
        done
        echo '[ERROR] The JAVA_HOME is not there'; exit 1",
    );
    project
        .agent(&format!("1.REQ-CHECK/1) until [ -e ../started ]; do sleep 0.05; done; as_usual ;;\n{JAVA}"));
    project.ralph(&["run"]).code(3);
    assert_eq!(
        project.read("tasks.md"),
        TASKS.replacen("[ ]", "[x]", 3),
        "ticked after evidence alone: {:?}",
        project.story()
    );
    assert!(!facts(&project, "tasks-restored").is_empty());
    assert_chain(&project);
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn a_stop_of_its_own_accord_leaves_no_gate_and_no_doubt_about_tasks_md() {
    let project = hanging();
    project.agent(&format!(
        "1.REQ-CHECK/1) until [ -e ../started ]; do sleep 0.05; done; echo 'RALPH-VERDICT: FAIL no' ;;\n{JAVA}"
    ));
    project.config("limits: {rework: 0}\n");
    project.ralph(&["run"]).code(1);
    assert_eq!(project.processes(), [0; 0]);
    // What a person ticks after that is theirs.
    let tasks = "- [x] 1. One\n- [x] 1.REQ-CHECK Look\n- [x] 1.PRE-CR Look again\n- [x] 1.PITEST Judge\n- [ ] 2. Two\n";
    project.write("tasks.md", tasks);
    project.ralph(&["run"]).code(0);
    is_done(&project, TASKS);
}
