//! `ralph run --lanes`: tasks that are done ahead, merged, and judged by main as any agent's work.

use super::project::{Project, signal};
use ralph::journal::{Journal, replay};
use ralph::machine::event::Event;
use ralph::sys::disk::RealDisk;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

const TASKS: &str = "\
- [ ] 1. [P] One
- [ ] 2.TEST-FIRST t
- [ ] 2. [P] Two
- [ ] 3. (P) Three
- [ ] 4. Four
";

/// The function `meet N`: a lane continues when N agents of lanes have come.
const MEET: &str = r#"esac
meet() {
    mkdir -p "$HOME/meet"
    : > "$HOME/meet/$RALPH_TASK"
    until [ $(ls "$HOME/meet" | wc -l) -ge $1 ]; do sleep 0.02; done
}
case $PWD in */lanes/*) lane=yes ;; *) lane= ;; esac
case ${RALPH_TASK:-$RALPH_STAGE}/$RALPH_ATTEMPT/$lane in
"#;

pub(super) fn lanes(project: &Project) -> PathBuf {
    let all = project.path("../home/.cache/ralph/lanes");
    let mut found = fs_err::read_dir(all).unwrap();
    found.next().unwrap().unwrap().path()
}

pub(super) fn agents(project: &Project) -> Vec<String> {
    let entries = project.entries();
    let lane = |lines: &str| {
        let (_, rest) = lines.split_once("The agent was `")?;
        Some(rest.split('`').next()?.to_owned())
    };
    let who = entries
        .iter()
        .map(|entry| lane(&entry.lines).unwrap_or_default());
    who.collect()
}

/// Waits for a condition.
#[track_caller]
fn wait(is_so: &dyn Fn() -> bool, what: &str) {
    let watch = ralph::sys::clock::Stopwatch::start();
    while !is_so() {
        assert!(watch.elapsed() < Duration::from_secs(50), "{what}");
        std::thread::yield_now();
    }
}

#[track_caller]
pub(super) fn assert_sound(project: &Project, tasks: &str) {
    assert_eq!(project.read("tasks.md"), tasks.replace("[ ]", "[x]"));
    assert_eq!(project.git("src/app", &["status", "--porcelain"]), "");
    project.ralph(&["replay"]).code(0);
}

#[test]
fn marked_tasks_are_done_at_once_and_played_in_order() {
    let project = Project::new(TASKS);
    // Without three lanes at a time no agent ends.
    project.agent(&format!(
        "{MEET}1.*/yes|2.TEST-FIRST*/yes|3.*/yes) meet 3; as_usual ;;"
    ));
    let done = project.ralph(&["run", "--lanes", "3"]).code(0);
    assert!(done.err.contains("lane 2: task 2\n"), "{}", done.err);
    assert_sound(&project, TASKS);
    let lane = |number: u32| format!("lane:{number}");
    let who = [lane(1), lane(2), lane(2), lane(3), String::new()];
    assert_eq!(agents(&project), who);
    let story = project.story();
    assert!(
        story.iter().all(|told| told.ends_with("=ACCEPTED")),
        "{story:?}"
    );
    let merges = project.git("src/app", &["log", "--merges", "--format=%s"]);
    assert_eq!(
        merges,
        "3. from lane 3\n2. from lane 2\n2.TEST-FIRST from lane 2"
    );
    assert_eq!(fs_err::read_dir(lanes(&project)).unwrap().count(), 0);
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn a_run_that_ends_early_returns_after_its_lanes() {
    let project = Project::new(TASKS);
    project.agent(&format!(
        "{MEET}1.*/yes) until [ -e \"$HOME/meet/2.TEST-FIRST\" ]; do sleep 0.02; done; as_usual ;;\n\
         2.TEST-FIRST*/yes) if [ ! -e \"$HOME/meet/2.TEST-FIRST\" ]; then meet 1; sleep 60; fi; as_usual ;;"
    ));
    let done = project.ralph(&["run", "--lanes", "2", "--once"]).code(5);
    let said = "lane 2 stops; the next run continues it";
    assert!(done.err.contains(said), "{}", done.err);
    assert_eq!(project.processes(), [0; 0]);
    assert_eq!(agents(&project), ["lane:1"]);
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, TASKS);
}

#[test]
fn the_tick_of_a_lane_in_the_file_of_main_never_counts() {
    let project = Project::new(TASKS);
    let tasks = project.path("tasks.md");
    project.agent(&format!(
        "{MEET}1.*/yes) until [ -e \"$HOME/meet/2.TEST-FIRST\" ]; do sleep 0.02; done; as_usual ;;
2.TEST-FIRST*/yes) trap \"sed -i 's/\\[ \\] 4/[x] 4/' {}\" TERM INT; meet 1; while :; do sleep 0.01; done ;;",
        tasks.display()
    ));
    let run = ["run", "--lanes", "2", "--once"];
    let done = project.ralph(&run).code(5);
    assert!(done.out.contains("tasks.md was restored"), "{}", done.out);
    let rest = TASKS.replace("[ ] 1", "[x] 1");
    assert_eq!(project.read("tasks.md"), rest);
    project.agent("");
    project.ralph(&["run"]).code(0);
    assert_sound(&project, TASKS);
    assert!(project.story().contains(&"4.=ACCEPTED".to_owned()));
}

#[test]
fn without_the_flag_no_record_names_lanes_and_one_task_gets_none() {
    let project = Project::new(TASKS);
    project.ralph(&["run"]).code(0);
    let journal = project.journal().join("\n");
    assert!(!journal.contains("lane"), "{journal}");
    let project = Project::new("- [ ] 1. [P] One\n- [ ] 2. Two\n");
    project.ralph(&["run", "--lanes", "4"]).code(0);
    assert_eq!(agents(&project), ["", ""]);
    let refused = project.ralph(&["run", "--lanes", "0"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn what_breaks_together_is_reopened_by_mains_own_gate() {
    let tasks = "- [ ] 1. [P] Rename\n- [ ] 2. [P] Call\n- [ ] 2.LINT g\n";
    let project = Project::new(tasks);
    project.config(
        "gates:\n  LINT: {run: [sh, -c, '! { grep -q new src/main/1.txt && grep -q old src/main/2.txt; }']}\n",
    );
    let cases = r"2.*/yes) mkdir -p src/app/src/main; echo old > src/app/src/main/2.txt; commit app other ;;
1.*) mkdir -p src/app/src/main; echo new > src/app/src/main/1.txt; commit app one ;;
2.*) echo new > src/app/src/main/2.txt; commit app other ;;";
    project.agent(&format!("{MEET}{cases}"));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "2.=ACCEPTED",
            "2.LINT=LINT FAIL — The gate LINT fails in package app.",
            "2.=ACCEPTED",
            "2.LINT=LINT PASS"
        ]
    );
    assert_eq!(agents(&project)[..4], ["lane:1", "lane:2", "", ""]);
    assert_eq!(project.read("src/app/src/main/2.txt"), "new\n");
}

#[test]
fn what_main_rejects_is_the_workers_and_no_attempt_is_counted() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    // The merged result is checked, not the lane's.
    project
        .config("checks: {green: [sh, -c, '! { test -e src/main/1.txt && test -e lane.txt; }']}\n");
    project.agent(&format!(
        "{MEET}2.*/yes) commit app lane.txt ;;\n2.*) git -C src/app rm -q lane.txt; as_usual ;;"
    ));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "2.=REJECTED (work of lane 2; the worker is next)",
            "2.=ACCEPTED"
        ]
    );
    let prompt = project.read(".ralph/state/iter-3/prompt.md");
    assert!(prompt.contains("checks.green"), "{prompt}");
}

#[test]
fn a_conflict_is_the_workers_with_the_paths_as_reason() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    project.agent(&format!("{MEET}1.*|2.*) commit app same.txt ;;"));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", ""]);
    let prompt = project.read(".ralph/state/iter-2/prompt.md");
    let why = "Lane 2 did this on an older base. Its commits (refs/ralph/lane/2) conflict in app/same.txt";
    assert!(prompt.contains(why), "{prompt}");
    project.git("src/app", &["cat-file", "-e", "refs/ralph/lane/2:same.txt"]);
}

/// Writes a lane's journal again, with a commit in place of another.
pub(super) fn forge(lane: &std::path::Path, was: &str, is: &str) {
    let file = lane.join(".ralph/state/journal.jsonl");
    let bytes = fs_err::read(&file).unwrap();
    let mut events = Vec::new();
    replay(
        &bytes,
        |record| -> Result<(), ralph::journal::JournalError> {
            let text = serde_json::to_string(&record.event).unwrap();
            events.push((record.at, text.replace(was, is)));
            Ok(())
        },
    )
    .unwrap();
    fs_err::remove_file(&file).unwrap();
    let mut disk = RealDisk::new();
    let mut journal = Journal::open(&mut disk, &file, |_| {
        Ok::<(), ralph::journal::JournalError>(())
    })
    .unwrap();
    for (at, text) in events {
        let event: Event = serde_json::from_str(&text).unwrap();
        journal.append(&mut disk, &at, &event).unwrap();
    }
    journal.sync(&mut disk).unwrap();
}

#[test]
fn forged_lanes_are_not_taken_and_two_honest_ones_are() {
    let mut tasks = String::new();
    for id in 1..=8 {
        writeln!(tasks, "- [ ] {id}. [P] Task {id}").unwrap();
    }
    let project = Project::new(&tasks);
    // Main takes the work of the first lane when all have ended, and stops.
    project.agent(&format!(
        "{MEET}1.*/yes) until [ $(grep -l 'has_ended\":true' ../*.json | wc -l) -ge 7 ]; do sleep 0.02; done; as_usual ;;"
    ));
    project
        .ralph(&["run", "--lanes", "8", "--max-iterations", "1"])
        .code(5);
    assert_eq!(agents(&project), ["lane:1"]);
    let lane = |number: u32| lanes(&project).join(number.to_string());
    let git = |number: u32, args: &[&str]| {
        let mut git = project.program("git");
        git.args(args).current_dir(lane(number).join("src/app"));
        let done = Project::finish(git);
        assert_eq!(done.code, 0, "git {args:?}: {}", done.err);
        done.out.trim().to_owned()
    };
    let head = |number: u32| git(number, &["rev-parse", "HEAD"]);
    // Another history, a commit that is not there, a protected file.
    let was = head(2);
    git(2, &["checkout", "-q", "--orphan", "other"]);
    git(2, &["commit", "-q", "-m", "root"]);
    forge(&lane(2), &was, &head(2));
    forge(&lane(3), &head(3), &"1".repeat(40));
    let was = head(4);
    fs_err::write(lane(4).join("src/app/CLAUDE.md"), "obey").unwrap();
    git(4, &["add", "-A"]);
    git(4, &["commit", "-q", "-m", "instructions"]);
    forge(&lane(4), &was, &head(4));
    // No journal, a false journal, a journal with a changed byte.
    let journal = |number: u32| lane(number).join(".ralph/state/journal.jsonl");
    fs_err::remove_file(journal(5)).unwrap();
    fs_err::write(journal(6), "{\"kind\":\"resumed\"}\n").unwrap();
    let text = fs_err::read_to_string(journal(7)).unwrap();
    fs_err::write(journal(7), text.replacen("app", "apq", 1)).unwrap();
    project.ralph(&["run", "--lanes", "8"]).code(0);
    assert_sound(&project, &tasks);
    assert_eq!(
        agents(&project),
        ["lane:1", "", "", "", "", "", "", "lane:8"]
    );
    let reasons =
        |iteration: u32| project.read(&format!(".ralph/state/iter-{iteration}/prompt.md"));
    assert!(
        reasons(2).contains("begins another history"),
        "{}",
        reasons(2)
    );
    assert!(
        reasons(4).contains("protected files: CLAUDE.md"),
        "{}",
        reasons(4)
    );
}

#[test]
fn an_interrupted_run_leaves_no_process_and_the_next_one_continues_its_lanes() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    project.agent(&format!("{MEET}*/yes) meet 3; as_usual ;;"));
    let mut run = project.start(&["run", "--lanes", "2"]);
    wait(
        &|| project.has("../home/meet/1.") && project.has("../home/meet/2."),
        "agents",
    );
    signal(i32::try_from(run.id()).unwrap(), "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(project.processes(), [0; 0]);
    let status = project.ralph(&["status"]).code(0);
    assert!(
        status.out.contains("lane 2: task 2 stopped, iteration 1 ("),
        "{}",
        status.out
    );
    project.write("../home/meet/go", "");
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
}

#[test]
fn a_lane_has_what_setup_copy_and_env_give_it() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    project.write("src/app/.git/info/exclude", "deps\nlocal/\n.env\n");
    project.write("src/app/.env", "A=1\n");
    project.write("src/app/local/x/y", "y\n");
    let workspace = project.path("").canonicalize().unwrap();
    let link = project.path("src/app/local/link");
    std::os::unix::fs::symlink(workspace.join("src/app/.env"), link).unwrap();
    let green = r#"case $PWD in
        */lanes/*) test "$PORT" = "80${RALPH_LANE}0" && test -s deps ;;
        *) test -z "${PORT-}${RALPH_LANE-}" ;;
        esac"#;
    let setup = r#"test -f src/app/.env && echo "$PORT $RALPH_LANE" >> src/app/deps"#;
    let config = serde_json::json!({
        "checks": { "green": ["sh", "-c", green] },
        "lanes": {
            "setup": ["sh", "-c", setup],
            "copy": [".env", "src/*/.env", "src/app/local"],
            "env": { "PORT": "80{lane}0", "AT": "{workspace}/x" },
        },
    });
    project.config(&serde_yaml::to_string(&config).unwrap());
    let lane = r#"
        n=$RALPH_LANE
        test "$(cat src/app/deps)" = "80${n}0 $n" && test "$AT" = "$PWD/x"
        test "$(cat src/app/local/x/y)" = y
        case $(readlink src/app/local/link) in "$PWD"/*) ;; *) exit 1 ;; esac
        meet 2; as_usual ;;"#;
    project.agent(&format!("{MEET}*/yes) {lane}"));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
    assert!(!project.has("src/app/deps"));
}

#[test]
fn a_setup_that_fails_is_an_error_and_no_agent_works_without_it() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    let lanes = |script: &str| {
        let setup = serde_json::json!({ "lanes": { "setup": ["sh", "-c", script] } });
        project.config(&serde_yaml::to_string(&setup).unwrap());
    };
    project.agent(&format!(
        "{MEET}*/yes) : > ../../../../../called; as_usual ;;"
    ));
    lanes("test $RALPH_LANE = 1 && sleep 60; echo first; echo no such package; exit 3");
    let failed = project.ralph(&["run", "--lanes", "2"]).code(2);
    for part in [
        "lanes.setup: `sh -c ",
        "exited with code 3 in lane 2. Its last lines: first | no such package",
        "2.log",
    ] {
        assert!(failed.err.contains(part), "{part}: {}", failed.err);
    }
    assert_eq!(project.read("tasks.md"), tasks);
    assert_eq!(project.entries().len(), 0);
    // The setup of lane 1 ended before ralph.
    assert_eq!(project.processes(), [0; 0]);
    // A lane whose setup was cut short is made again.
    lanes(": > src/app/.git/ready");
    project.agent(&format!(
        "{MEET}*/yes) test -e src/app/.git/ready; meet 2; as_usual ;;"
    ));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
}

#[test]
fn lanes_do_what_names_its_needs_while_main_does_another_task() {
    let tasks = "\
- [ ] 1. One
- [ ] 2. Two (depends on 1)
- [ ] 3. Three
  - Depends on: none
";
    let project = Project::new(tasks);
    // Main's own agent waits for the lane of task 3.
    project.agent(&format!(
        "{MEET}1.*/) meet 2; as_usual ;;\n3.*/yes) meet 2; as_usual ;;"
    ));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project)[2], "lane:1");
    let explained = project.ralph(&["check", "--explain"]).code(0);
    for part in [
        "(IMPLEMENT · needs task 1)",
        "needs no other task",
        "the longest chain has 2",
    ] {
        assert!(explained.out.contains(part), "{part}: {}", explained.out);
    }
}

#[test]
fn one_lane_does_the_tasks_under_a_heading() {
    let tasks = "## A\n- [ ] 1. One\n- [ ] 2. Two\n## B\n- [ ] 3. Three\n- [ ] 4. Four\n";
    let project = Project::new(tasks);
    project.config("lanes: {take: groups}\n");
    project.agent(&format!("{MEET}1.*/yes|3.*/yes) meet 2; as_usual ;;"));
    let done = project.ralph(&["run", "--lanes", "2"]).code(0);
    assert!(done.err.contains("lane 2: task 3, task 4"), "{}", done.err);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:1", "lane:2", "lane:2"]);
}

#[test]
fn checks_of_main_and_its_lanes_run_one_at_a_time_or_as_many_as_are_allowed() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. [P] Three\n";
    let project = Project::new(tasks);
    // A directory can be made once. Calls of `ls` take the time in which another check could begin.
    let alone = r#"mkdir "$HOME/busy" || exit 1
        for n in 1 2 3 4 5 6 7 8 9; do ls / > "$HOME/busy/ls"; done
        rm -r "$HOME/busy""#;
    let green = |heavy: u32, script: &str| {
        let green = ["sh", "-c", script];
        let config =
            serde_json::json!({ "checks": { "green": green }, "lanes": { "heavy": heavy } });
        serde_yaml::to_string(&config).unwrap()
    };
    project.config(&green(1, alone));
    project.agent(&format!("{MEET}*/yes) meet 3; as_usual ;;"));
    project.ralph(&["run", "--lanes", "3"]).code(0);
    assert_eq!(agents(&project), ["lane:1", "lane:2", "lane:3"]);
    assert_sound(&project, tasks);
    // Two checks meet, so two slots are there.
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    let both = r#"case $PWD in */lanes/*) ;; *) exit 0 ;; esac
        : > "$HOME/$RALPH_LANE"
        until test -e "$HOME/1" && test -e "$HOME/2"; do :; done"#;
    project.config(&green(2, both));
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
}

/// Settings with this script as `lanes.command`; its arguments are ralph, the workspace, the tasks and the number.
fn command(script: &str) -> String {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let words = ["{workspace}", "{ids}", "{lane}"];
    let argv = [&["sh", "-euc", script, "sh", ralph], &words[..]].concat();
    serde_yaml::to_string(&serde_json::json!({ "lanes": { "command": argv } })).unwrap()
}

#[test]
fn a_command_runs_the_loop_of_each_lane() {
    let tasks = "## A\n- [ ] 1. One\n- [ ] 2. Two\n## B\n- [ ] 3. Three\n";
    let project = Project::new(tasks);
    // It needs no `--root`, and none of main's leads it back.
    let script =
        r#"test "$PWD" = "$2" && echo "$3 $4" >> "$HOME/calls"; exec "$1" run --only "$3""#;
    project.config(&command(script).replace("lanes:\n", "lanes:\n  take: groups\n"));
    project.agent(&format!("{MEET}1.*/yes|3.*/yes) meet 2; as_usual ;;"));
    let mut run = project.command(&["run", "--lanes", "2"]);
    run.env("RALPH_ROOT", project.path(""));
    Project::finish(run).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:1", "lane:2"]);
    let mut calls: Vec<String> = project
        .read("../home/calls")
        .lines()
        .map(str::to_owned)
        .collect();
    calls.sort();
    assert_eq!(calls, ["1.,2. 1", "3. 2"]);
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn a_command_that_does_no_work_is_named_and_main_does_the_tasks() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. [P] Three\n";
    let project = Project::new(tasks);
    // The second one is killed each time, the third one claims success.
    project.config(&command(
        "case $4 in 1) echo no such partition >&2; exit 1 ;; 2) echo x >> $HOME/tries; kill -9 $$ ;; esac",
    ));
    let done = project.ralph(&["run", "--lanes", "3"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["", "", ""]);
    for part in [
        "lane 1 has no accepted work: lanes.command: `sh -euc",
        "exited with code 1. Its last lines: no such partition",
        "lane 2 has no accepted work: lanes.command: `sh -euc",
        "lane 3 has no accepted work: lanes.command: `sh -euc",
    ] {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
    assert_eq!(project.read("../home/tries"), "x\nx\nx\n");
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    project.config("lanes: {command: [no-such-program, '{ids}'], setup: [no-such-setup]}\n");
    let checked = project.ralph(&["check"]);
    for key in [
        "command` starts `no-such-program`",
        "setup` starts `no-such-setup`",
    ] {
        let warning = format!(": `lanes.{key}, which is not on the PATH. [missing-program]");
        assert!(checked.out.contains(&warning), "{}", checked.out);
    }
    project.config("lanes: {command: [no-such-program, '{ids}']}\n");
    let failed = project.ralph(&["run", "--lanes", "2"]).code(2);
    for part in [
        "lanes.command: `no-such-program ",
        "does not start",
        "hint: fix lanes.command",
    ] {
        assert!(failed.err.contains(part), "{part}: {}", failed.err);
    }
    assert_eq!(project.read("tasks.md"), tasks);
}

/// Stops a run in which the lanes of tasks 1 to 3 have ended, and task 3 conflicts with task 2.
fn stopped_with_three_lanes() -> (Project, String) {
    let tasks =
        "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. [P] Three\n## Later\n- [ ] 4. [P] Four\n"
            .to_owned();
    let project = Project::new(&tasks);
    project.agent(&format!(
        "{MEET}1.*/yes) until [ $(grep -l 'has_ended\":true' ../*.json | wc -l) -ge 2 ]; do sleep 0.02; done; as_usual ;;
2.*/yes|3.*/yes) commit app same.txt ;;
2.*) as_usual ;;"
    ));
    project
        .ralph(&["run", "--lanes", "3", "--max-iterations", "1"])
        .code(5);
    (project, tasks)
}

#[test]
fn a_list_shows_what_each_lane_does_and_offers_and_writes_nothing() {
    let (project, _) = stopped_with_three_lanes();
    project
        .ralph(&["run", "--lanes", "3", "--max-iterations", "1"])
        .code(5);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
    let before = project.files();
    let list = project.ralph(&["lanes"]).code(0);
    let told = "lane 3: task 3 ended, offers task 3, conflicts in app/same.txt\n";
    assert!(
        list.out.ends_with(&format!("{told}waiting: task 4\n")),
        "{}",
        list.out
    );
    let facts = project.ralph(&["lanes", "--json"]).code(0).json().remove(0);
    assert_eq!(
        facts["lanes"][0]["offers"],
        serde_json::json!(["3."]),
        "{facts}"
    );
    assert_eq!(facts["lanes"][0]["conflicts"], "app/same.txt");
    assert_eq!(facts["waiting"], serde_json::json!(["4."]));
    assert_eq!(project.files(), before);
    project.write(
        "tasks.md",
        project.read("tasks.md").replace("Three", "Three again"),
    );
    let list = project.ralph(&["lanes"]).code(0);
    assert!(list.out.contains("their text has changed"), "{}", list.out);
}

#[test]
fn a_list_shows_what_runs() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    project.agent(&format!("{MEET}*/yes) meet 3; as_usual ;;"));
    let mut run = project.start(&["run", "--lanes", "2"]);
    wait(
        &|| project.has("../home/meet/1.") && project.has("../home/meet/2."),
        "agents",
    );
    let list = project.ralph(&["lanes"]).code(0);
    assert!(
        list.out
            .contains("lane 2: task 2 runs: task 2 agent, iteration 1\n"),
        "{}",
        list.out
    );
    let busy = project.ralph(&["lanes", "drop", "2"]).code(75);
    assert!(
        busy.err.contains("Another ralph holds this workspace"),
        "{}",
        busy.err
    );
    project.write("../home/meet/go", "");
    assert!(run.wait().unwrap().success());
    assert_sound(&project, tasks);
}

#[test]
fn a_dropped_lane_leaves_its_commits_and_main_does_the_task() {
    let (project, tasks) = stopped_with_three_lanes();
    let there = lanes(&project);
    let head = || {
        let mut git = project.program("git");
        git.args(["rev-parse", "HEAD"])
            .current_dir(there.join("2/src/app"));
        Project::finish(git).out.trim().to_owned()
    };
    let work = head();
    // A process that runs in it, also on another machine, has its lock.
    let lock = ralph::sys::lock::Lock::try_take(&there.join("2/.ralph/state/lock")).unwrap();
    let busy = project.ralph(&["lanes", "drop", "2"]).code(75);
    assert!(busy.err.contains("Lane 2 runs."), "{}", busy.err);
    drop(lock);
    let dropped = project.ralph(&["lanes", "drop", "2"]).code(0);
    assert!(dropped.out.contains("refs/ralph/lane/2"), "{}", dropped.out);
    assert!(!there.join("2").exists());
    assert_eq!(
        project.git("src/app", &["rev-parse", "refs/ralph/lane/2"]),
        work
    );
    project.ralph(&["lanes", "drop", "2"]).code(2);
    project.ralph(&["run", "--lanes", "1"]).code(0);
    assert_sound(&project, &tasks);
    assert_eq!(agents(&project), ["lane:1", "", "lane:3", ""]);
}

#[test]
fn a_matrix_has_a_job_for_each_task_that_is_ready() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. Three\n";
    let project = Project::new(tasks);
    let matrix = |form: &str| project.ralph(&["lanes", "--matrix", form]).code(0).out;
    assert_eq!(matrix("github"), "{\"lane\":[\"1.\",\"2.\"]}\n");
    assert_eq!(matrix("gitlab"), "[{\"LANE\":[\"1.\",\"2.\"]}]\n");
    let jobs = project.ralph(&["lanes", "--matrix", "json"]).code(0).json();
    assert_eq!(jobs[1]["lane"], "2.");
    assert_eq!(jobs[1]["texts"], serde_json::json!(["[P] Two"]));
    assert_eq!(jobs.len(), 2);
    assert!(!project.has(".ralph/state"), "nothing is written");
    // The next wave is another one.
    project.ralph(&["run", "--only", "1,2"]).code(0);
    assert_eq!(matrix("github"), "{\"lane\":[]}\n");
    project.config("lanes: {take: all}\n");
    assert_eq!(matrix("github"), "{\"lane\":[\"3.\"]}\n");
    let project = Project::new("## A\n- [ ] 1. One\n- [ ] 2. Two\n");
    project.config("lanes: {take: groups}\n");
    let matrix = |form: &str| project.ralph(&["lanes", "--matrix", form]).code(0).out;
    assert_eq!(matrix("github"), "{\"lane\":[\"1.,2.\"]}\n");
}
