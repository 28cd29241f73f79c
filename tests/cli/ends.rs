//! Ends of agents that are not their fault, or that need an action of the user.

use super::project::{Project, signal, wait_for};
use std::process::Stdio;

const ONE: &str = "- [ ] 1. One\n";

/// Starts a run that waits for a limit, printed as a time of day in this zone. Returns the entry's lines too.
fn waiting(zone: &str, printed: &str) -> (Project, String) {
    let project = Project::new(ONE);
    project.config("hooks: {waiting: [\"cp\", \"/dev/stdin\", \"told\"]}\n");
    project.agent(&format!(
        "1./1) at=$(date -d '+2 hours' '+%I:%M %p'); echo \"{printed}\"; exit 1 ;;"
    ));
    let mut command = project.command(&["run"]);
    command
        .env("TZ", zone)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    wait_for("the run waits", || project.has("told"));
    let status = project.ralph(&["status"]).out;
    assert!(status.contains("waiting: until "), "{status}");
    assert!(signal(i32::try_from(run.id()).unwrap(), "TERM"));
    assert_eq!(run.wait().unwrap().code(), Some(143));
    let lines = project.entry(1).lines;
    (project, lines)
}

#[test]
fn a_reset_time_is_read_in_the_machines_zone_and_waited_for_exactly() {
    for (zone, printed) in [
        (
            "ABC-05:30",
            "You've hit your usage limit, try again at $at.",
        ),
        (
            "Asia/Kolkata",
            "You've hit your limit · resets $at (Asia/Kolkata)",
        ),
    ] {
        let (project, lines) = waiting(zone, printed);
        // The printed time has no seconds, so it is at most one minute less than two hours away.
        let waits = lines.contains("begins in 2 h") || lines.contains("begins in 1 h 59 min");
        assert!(waits, "{zone}: {lines}");
        assert!(
            project.read("told").contains("\"event\":\"waiting\""),
            "{}",
            project.read("told")
        );
    }
}

#[test]
fn a_network_that_is_lost_in_the_middle_of_the_work_is_not_the_agents_fault() {
    let worked = r#"tell '{"type":"tool_use","tool_id":"a","tool_name":"t","parameters":{}}'
tell '{"type":"tool_result","tool_id":"a","status":"success","output":"x"}'
tell '{"type":"message","role":"user","content":"y"}'"#;
    let lost = "echo 'Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request' >&2";
    for (acts, headline) in [
        ([worked, lost], "WAITING"),
        ([lost, worked], "REJECTED (attempt 1 of 1)"),
    ] {
        let project = Project::new(ONE);
        project.write(
            ".ralph/config.yaml",
            "agents: {default: {command: [sh, agent.sh], format: gemini}}\nlimits: {attempt: 3s, attempts: 1}\n",
        );
        // Each line is in the log before the next one is printed.
        let tell = "tell() { echo \"$1\"; until grep -qF \"$1\" .ralph/state/iter-1/agent.out; do :; done; }";
        project.agent(&format!(
            "1./1) {tell}\n{}\nexec sleep 1000 ;;",
            acts.join("\n")
        ));
        let mut run = project.start(&["run"]);
        wait_for("the attempt is over", || !project.entries().is_empty());
        signal(i32::try_from(run.id()).unwrap(), "TERM");
        run.wait().unwrap();
        let entry = project.entry(1);
        assert_eq!(entry.headline, headline, "{}", entry.lines);
    }
}

#[test]
fn a_missing_login_stops_the_run_after_one_more_try_and_says_what_to_type() {
    let project = Project::new(ONE);
    project.agent("1./*) echo 'Not logged in · Please run /login'; exit 1 ;;");
    let done = project.ralph(&["run"]).code(2);
    assert!(
        done.err.contains("Not logged in") && done.err.contains("hint: log in: `claude /login`"),
        "{}",
        done.err
    );
    assert_eq!(project.story(), ["1.=NOT SET UP", "1.=NOT SET UP"]);
    assert_eq!(project.read("tasks.md"), ONE);
}

#[test]
fn a_question_and_the_clis_own_error_reach_the_person() {
    let project = Project::new(ONE);
    project.agent(
        "1./1) echo; echo 'Shall I use tabs?' ;;\n\
         1./2) printf '\\033[91m\\033[1mError: \\033[0mno such flag --x\\n' >&2; exit 7 ;;\n\
         1./3) echo 'Shall I use spaces?' ;;",
    );
    let done = project.ralph(&["run"]).code(1);
    assert!(
        project
            .entry(1)
            .lines
            .contains("The agent asked: \"Shall I use tabs?\""),
        "{:?}",
        project.entry(1)
    );
    assert!(
        project
            .read(".ralph/state/iter-2/prompt.md")
            .contains("Shall I use tabs?")
    );
    assert!(
        project
            .entry(2)
            .lines
            .contains("Its last words: \"Error: no such flag --x\" (.ralph/state/iter-2/).")
    );
    assert!(done.err.contains("Shall I use spaces?"), "{}", done.err);
    assert!(
        project
            .ralph(&["status"])
            .out
            .contains("Shall I use spaces?")
    );
}

#[test]
fn a_prompt_that_is_too_long_for_an_argument_is_said_with_what_to_do() {
    let project = Project::new(ONE);
    project.write("requirements.md", "x".repeat(60_000));
    project.write(
        ".ralph/config.yaml",
        "agents: {default: {command: [echo, '{prompt} {prompt} {prompt}']}}\n",
    );
    let done = project.ralph(&["run"]).code(2);
    assert!(
        done.err.contains("128 KiB") && done.err.contains("{prompt_file}"),
        "{}",
        done.err
    );
}

#[test]
fn a_budget_that_is_used_up_ends_the_run_and_its_end_says_what_it_took() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.config("limits: {cost: {run: 0.5}}\n");
    project.agent(
        "*) as_usual; echo '{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":0.75}' ;;",
    );
    let done = project.ralph(&["run"]).code(5);
    assert!(
        done.err.contains("The run used $0.75 of $0.50"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains("1 attempt, 0 reworks") && done.err.contains("task 1: $0.75"),
        "{}",
        done.err
    );
    assert!(
        done.err
            .contains("weakly verified: task 1 (a commit alone)"),
        "{}",
        done.err
    );
    assert!(
        project
            .ralph(&["status"])
            .out
            .contains("cost: $0.75 as 1 of 1 attempt reported")
    );
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_run_over_its_budget_asks_and_continues_when_a_person_allows_more() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. Three\n");
    project.config(
        "limits: {cost: {run: 0.5}}\non_budget: pause\nhooks: {waiting: [\"cp\", \"/dev/stdin\", \"told\"]}\n",
    );
    // An agent that writes the answer itself has no effect.
    project.agent(
        "*) as_usual; echo '{\"micros\":9000000,\"tokens\":0}' > $WORKSPACE/.ralph/state/allowed.json; ralph resume --cost 9 && touch $WORKSPACE/refused; echo '{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":0.75}' ;;"
            .replace("ralph resume", &format!("{} resume", env!("CARGO_BIN_EXE_ralph")))
            .replace("$WORKSPACE", &project.path("").display().to_string())
            .as_str(),
    );
    let refused = project.ralph(&["resume", "--cost", "1"]).code(2);
    assert!(
        refused.err.contains("No run waits for a larger budget."),
        "{}",
        refused.err
    );
    for wrong in ["-1", "nan", "1e9", "five"] {
        project
            .ralph(&["resume", &format!("--cost={wrong}")])
            .code(2);
    }
    let mut run = project.command(&["run"]);
    let out = fs_err::File::create(project.path("out.txt")).unwrap();
    run.stdin(Stdio::null()).stdout(out.into_parts().0);
    let mut run = run.spawn().unwrap();
    let asks = |task: &str| {
        wait_for("the run asks", || {
            let facts = project.ralph(&["status", "--json"]).json()[0].clone();
            facts["phase"] == "over-budget" && facts["next"]["task"] == task
        });
    };
    asks("2.");
    let status = project.ralph(&["status"]).out;
    assert!(
        status.contains("The run used $0.75 of $0.50 (limits.*.run). `ralph resume --cost USD` or `--tokens N` allows more"),
        "{status}"
    );
    // The hook is started after the record.
    wait_for("the hook tells the command", || {
        project.has("told") && project.read("told").contains("ralph resume --cost USD")
    });
    // Not enough, so it pauses again.
    project.ralph(&["resume", "--cost", "0.2"]).code(0);
    wait_for("it asks again", || {
        project.read("out.txt").matches("paused: ").count() == 2
    });
    project.ralph(&["resume", "--cost", "0.1"]).code(0);
    asks("3.");
    assert!(signal(run.id().try_into().unwrap(), "TERM"));
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert!(!project.has("refused"), "an agent allows nothing");
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n"
    );
    project.ralph(&["replay"]).code(0);
    project.ralph(&["run"]).code(0);
    assert!(
        project.read("out.txt").contains("$0.20 more is allowed"),
        "{}",
        project.read("out.txt")
    );
    let families = project.ralph(&["status", "--json"]).json()[0]["families"].clone();
    assert_eq!(families[1]["usd_micros"], 750_000);
}

#[test]
fn a_pause_lets_no_attempt_begin_and_outlives_the_run() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent(
        "1./1) ralph resume || touch refused; commit app src/main/1.txt ;;"
            .replace(
                "ralph resume",
                &format!("{} resume", env!("CARGO_BIN_EXE_ralph")),
            )
            .as_str(),
    );
    project.ralph(&["run", "--max-iterations", "1"]).code(5);
    assert!(project.has("refused"), "an agent pauses nothing");
    project.ralph(&["pause"]).code(0);
    let phase = |project: &Project| project.ralph(&["status", "--json"]).json()[0]["phase"].clone();
    assert_eq!(phase(&project), "paused");
    let mut run = project.start(&["run"]);
    wait_for("the run", || {
        project.ralph(&["status"]).out.contains("run: active")
    });
    assert!(
        project
            .ralph(&["status"])
            .out
            .contains("paused: no attempt begins until `ralph resume`")
    );
    project.write("tasks.md", "- [x] 1. One\n- [ ] 3. Three\n- [ ] 2. Two\n");
    assert!(signal(run.id().try_into().unwrap(), "KILL"));
    run.wait().unwrap();
    assert_eq!(phase(&project), "paused", "it outlives the run");
    let mut run = project.command(&["run"]);
    let out = fs_err::File::create(project.path("out.txt")).unwrap();
    run.stdin(Stdio::null()).stdout(out.into_parts().0);
    let mut run = run.spawn().unwrap();
    wait_for("its word", || {
        project.read("out.txt") == "paused: no attempt begins until `ralph resume`\n"
    });
    project.ralph(&["resume"]).code(0);
    assert!(run.wait().unwrap().success());
    assert_eq!(
        project.read("out.txt").lines().nth(1),
        Some("the pause is over")
    );
    let pauses = project
        .journal()
        .into_iter()
        .filter(|record| record.contains("paused"));
    assert_eq!(
        pauses.count(),
        3,
        "the killed run began to wait, the other one began and ended"
    );
    project.ralph(&["replay"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. One\n- [x] 3. Three\n- [x] 2. Two\n"
    );
}

#[test]
fn another_agent_stands_in_for_one_that_is_out_of_quota_and_the_run_does_not_wait() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent("");
    fs_err::copy(
        project.path(".ralph/config.yaml"),
        project.path("usual.yaml"),
    )
    .unwrap();
    let usual: serde_yaml::Value = serde_yaml::from_str(&project.read("usual.yaml")).unwrap();
    let second = serde_json::to_string(&usual["agents"]["default"]["command"]).unwrap();
    let first = "[sh, -c, 'echo \"Usage limit reached, try again in 3 hours.\"; exit 1']";
    project.write(
        ".ralph/config.yaml",
        format!(
            "agents:\n  default: {{command: {first}, fallback: [second]}}\n  second: {{command: {second}}}\n"
        ),
    );
    let run = project.ralph(&["run", "--json"]).code(0);
    let spawned: Vec<String> = (run.json().iter())
        .filter(|line| line["event"]["kind"] == "agent-spawned")
        .map(|line| line["event"]["agent"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(spawned, ["default", "second", "second"]);
    assert_eq!(
        project.story(),
        ["1.=OUT OF QUOTA", "1.=ACCEPTED", "2.=ACCEPTED"]
    );
    let (out, stood_in) = (project.entry(1).lines, project.entry(2).lines);
    assert!(
        out.contains("`second` makes the next attempt; `default` is tried again in 3 h."),
        "{out}"
    );
    assert!(
        stood_in.contains("The agent was `second`, in place of `default`."),
        "{stood_in}"
    );
    // The machine makes the same decisions. A name of another agent differs.
    project.ralph(&["replay"]).code(0);
    // A new run starts with the first agent again.
    project.write("tasks.md", "- [x] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n");
    assert_eq!(
        project.ralph(&["prompt", "3.", "--json"]).json()[0]["agent"],
        "default"
    );
    let config = project.ralph(&["check", "--config"]).out;
    assert!(
        config.contains("agents.default.fallback") && config.contains("second"),
        "{config}"
    );
}
