//! `limits.quota`, and limits that the runs of a user share.

use super::project::{Project, signal, use_memory, wait_for};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Stdio};

/// A workspace of two tasks whose agent is Claude Code, as a script with these lines for its end.
fn workspace(limits: &str, end: &str) -> Project {
    use_memory();
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.write(
        ".ralph/config.yaml",
        format!("{limits}agents: {{default: {{preset: claude}}}}\n"),
    );
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
    project.tool(
        "claude",
        &format!(
            "cat >/dev/null\necho x >>$ws/attempts\nat=$(($(date +%s) + 3600))\necho '{init}'\n{end}"
        ),
    );
    project
}

/// The end of an attempt that commits its work, with this share of the five-hour window.
fn reports(share: &str) -> String {
    let event = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":SHARE,"resetsAt":'$at'}}},"session_id":"s"}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}"#;
    format!(
        "cd $ws/src/app && echo x >>a.txt && git add -A && git -c user.name=T -c user.email=t@example.org commit -qm work\necho '{}'\necho '{result}'",
        event.replace("SHARE", share)
    )
}

/// The end of an attempt at a usage limit.
fn limited() -> String {
    let event = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$at'},"session_id":"s"}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit","session_id":"s"}"#;
    format!("echo '{event}'\necho '{result}'\nexit 1")
}

/// Starts a run of the user with this home, and waits until it waits.
fn waiting(project: &Project, home: &Path) -> (Child, Value) {
    let mut command = project.command(&["run"]);
    command
        .env("HOME", home)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stdout(
            fs_err::File::create(project.path("out.txt"))
                .unwrap()
                .into_parts()
                .0,
        )
        .stderr(Stdio::null());
    let run = command.spawn().unwrap();
    wait_for("the run waits", || {
        project.has("out.txt") && project.read("out.txt").contains("waiting until ")
    });
    let json = project.ralph(&["status", "--json"]).json().remove(0);
    (run, json)
}

fn end_run(mut run: Child) {
    assert!(signal(i32::try_from(run.id()).unwrap(), "TERM"));
    assert_eq!(run.wait().unwrap().code(), Some(143));
}

fn seconds(json: &Value) -> i64 {
    let until = json["waits_until"].as_str().unwrap();
    until.parse::<jiff::Timestamp>().unwrap().as_second()
}

#[test]
fn a_run_stops_at_the_share_of_the_quota_that_is_set_and_every_view_says_until_when() {
    let home = tempfile::tempdir().unwrap();
    let project = workspace("limits: {quota: {stop_at: 90%}}\n", &reports("0.93"));
    let (run, json) = waiting(&project, home.path());
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [ ] 2. Two\n");
    assert_eq!(json["phase"], "waiting", "{json}");
    let until = jiff::Timestamp::from_second(seconds(&json)).unwrap();
    let until = until.strftime("until %F %H:%M UTC: ").to_string();
    let why = "`default` reported that 93% of its five_hour limit is used (`limits.quota`).";
    let mut status = project.command(&["status"]);
    status.env("TZ", "UTC");
    let mut report = project.command(&["report"]);
    report.env("TZ", "UTC");
    for shown in [
        Project::finish(status).out,
        Project::finish(report).out.replace('\\', ""),
        project.read("out.txt"),
    ] {
        assert!(shown.contains(&until) && shown.contains(why), "{shown}");
    }
    let entry = project.entry(1).lines;
    assert!(entry.contains(why), "{entry}");
    end_run(run);
    let replayed = project.ralph(&["replay"]).code(0).out;
    assert!(replayed.contains("Equal"), "{replayed}");
    // Another workspace of the same user begins no attempt, and starts after the first; one without the setting works.
    let other = workspace("limits: {quota: {stop_at: 90%}}\n", &reports("0.93"));
    let (run, json_of_other) = waiting(&other, home.path());
    assert!(!other.has("attempts"));
    let later = seconds(&json_of_other) - seconds(&json);
    assert!((14..=17).contains(&later), "{later}");
    end_run(run);
    let without = workspace("", &reports("0.93"));
    let mut command = without.command(&["run"]);
    command.env("HOME", home.path());
    Project::finish(command).code(0);
}

#[test]
fn a_limit_holds_every_run_with_the_login_and_their_starts_are_staggered() {
    let home = tempfile::tempdir().unwrap();
    let first = workspace("", &limited());
    let (run, json) = waiting(&first, home.path());
    end_run(run);
    let mut starts = Vec::new();
    for _ in 0..2 {
        let other = workspace("", &limited());
        let (run, json) = waiting(&other, home.path());
        assert!(!other.has("attempts"), "no attempt finds the limit again");
        let out = other.read("out.txt");
        assert!(
            out.contains("Another agent with the login of `default` reached a usage limit."),
            "{out}"
        );
        starts.push(seconds(&json));
        end_run(run);
    }
    let until = seconds(&json);
    let near = |start: i64, expected: i64| (start - until - expected).abs() <= 2;
    assert!(
        near(starts[0], 15) && near(starts[1], 30),
        "{until} {starts:?}"
    );
    // Another account of the same user.
    let other = workspace("", &reports("0.1"));
    let mut command = other.command(&["run"]);
    command
        .env("HOME", home.path())
        .env("CLAUDE_CONFIG_DIR", home.path().join("other"));
    Project::finish(command).code(0);
}

#[test]
fn lanes_of_a_login_wait_for_one_limit_and_start_one_after_another() {
    let end = format!(
        "mkdir -p $HOME/came && : >$HOME/came/$RALPH_LANE\n\
         until [ $(ls $HOME/came | wc -l) -ge 2 ]; do sleep 0.02; done\n\
         mkdir $HOME/first || until ls $HOME/.local/state/ralph/logins/*.json; do sleep 0.02; done\n{}",
        limited()
    );
    let project = workspace("", &end);
    project.write("tasks.md", "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n");
    let run = project.start(&["run", "--lanes", "2"]);
    let lanes = project.path("../home/.cache/ralph/lanes");
    let waits = || -> Option<Vec<i64>> {
        let all = fs_err::read_dir(&lanes).ok()?.next()?.unwrap().path();
        let wait_of = |lane: &str| {
            let lane = all.join(lane);
            lane.join(".ralph/state/journal.jsonl")
                .is_file()
                .then_some(())?;
            let lane = lane.to_str().unwrap();
            let status = project
                .ralph(&["--root", lane, "status", "--json"])
                .json()
                .remove(0);
            status["waits_until"].is_string().then(|| seconds(&status))
        };
        Some(vec![wait_of("1")?, wait_of("2")?])
    };
    wait_for("both lanes wait", || waits().is_some());
    let mut waits = waits().unwrap();
    let status = project.ralph(&["status", "--json"]).json().remove(0);
    let of_lanes = status["lanes"].as_array().unwrap().iter().map(seconds);
    assert_eq!(
        of_lanes.collect::<Vec<_>>(),
        waits,
        "main shows them: {status}"
    );
    let lines = project.ralph(&["status"]).out;
    assert_eq!(
        lines.matches(", iteration 1, waiting until ").count(),
        2,
        "{lines}"
    );
    waits.sort_unstable();
    assert!((waits[1] - waits[0] - 15).abs() <= 2, "{waits:?}");
    assert_eq!(project.read("attempts"), "x\nx\n");
    end_run(run);
    wait_for("no process is left", || project.processes().is_empty());
}
