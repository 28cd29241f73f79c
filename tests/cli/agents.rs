//! Agents of every kind: their effects on git, on processes and on ralph.

use super::project::{Project, signal, wait_for};
use std::os::unix::fs::PermissionsExt as _;

const TWO: &str = "- [ ] 1. One\n- [ ] 2. Two\n";

#[test]
fn commits_of_an_agent_that_exits_1_count_with_the_next_attempt() {
    let project = Project::new(TWO);
    project.agent("1./1) as_usual; exit 1 ;;\n1./2) echo 'it exists already' ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=REJECTED (attempt 1 of 3)", "1.=ACCEPTED", "2.=ACCEPTED"]
    );
    assert!(
        project.entry(1).lines.contains("exit"),
        "{:?}",
        project.entry(1)
    );
}

#[test]
fn leftovers_stay_for_the_same_stage_and_are_named_in_its_prompt() {
    let project = Project::new(TWO);
    project.agent(
        "1./1) change app src/main/half.txt ;;\n1./2) git -C src/app add -A; git -C src/app commit -qm x ;;",
    );
    project.ralph(&["run"]).code(0);
    assert!(
        project.entry(1).lines.contains("app/src/main/half.txt"),
        "{:?}",
        project.entry(1)
    );
    assert!(
        project
            .read(".ralph/state/iter-2/prompt.md")
            .contains("app/src/main/half.txt")
    );
    assert_eq!(
        project.git("src/app", &["for-each-ref", "refs/ralph/leftover"]),
        ""
    );
}

#[test]
fn leftovers_are_kept_under_a_ref_before_another_stage() {
    let project = Project::new("- [ ] 1.TEST-FIRST Tests\n- [ ] 1. One\n");
    project
        .agent("1.TEST-FIRST/1) as_usual; change app src/main/half.txt; change app README.md ;;");
    project.ralph(&["run"]).code(0);
    let listed = project.git(
        "src/app",
        &["ls-tree", "-r", "--name-only", "refs/ralph/leftover/1"],
    );
    assert!(listed.contains("src/main/half.txt"), "{listed}");
    let readme = project.git("src/app", &["show", "refs/ralph/leftover/1:README.md"]);
    assert!(readme.contains("1.TEST-FIRST"), "{readme}");
    assert!(!project.has("src/app/src/main/half.txt"));
    assert_eq!(project.read("src/app/README.md"), "a package\n");
    assert_eq!(project.git("src/app", &["status", "--porcelain"]), "");
}

#[test]
fn rewritten_history_is_put_back_and_kept() {
    let project = Project::new(TWO);
    project.agent(
        "1./1) change app new.txt; git -C src/app add -A; git -C src/app commit -q --amend -m amended ;;",
    );
    let start = project.head();
    project.ralph(&["run"]).code(0);
    assert!(
        project
            .entry(1)
            .lines
            .contains("History was rewritten in app; HEAD was restored")
    );
    assert_eq!(project.git("src/app", &["rev-parse", "HEAD~2"]), start);
    assert_eq!(
        project.git(
            "src/app",
            &["log", "-1", "--format=%s", "refs/ralph/rejected/1"]
        ),
        "amended"
    );
    assert!(
        project
            .git("src/app", &["show", "refs/ralph/rejected/1:new.txt"])
            .starts_with("1. 1")
    );
}

#[test]
fn undone_commits_and_switched_branches_are_put_back() {
    let project = Project::new(TWO);
    project.agent(
        "2./1) git -C src/app reset -q --hard HEAD~1 ;;\n\
         2./2) git -C src/app checkout -q -b other; commit app src/main/other.txt ;;",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "2.=REJECTED (attempt 1 of 3)",
            "2.=REJECTED (attempt 2 of 3)",
            "2.=ACCEPTED"
        ]
    );
    assert!(
        project
            .entry(3)
            .lines
            .contains("The branch was switched in app"),
        "{:?}",
        project.entry(3)
    );
    assert_eq!(
        project.git("src/app", &["symbolic-ref", "--short", "HEAD"]),
        "main"
    );
    assert_eq!(
        project.git("src/app", &["log", "--format=%s"]),
        "2. 4\n1. 1\nstart"
    );
    let kept = project.git("src/app", &["log", "--all", "--format=%s"]);
    assert!(kept.contains("2. 3"), "nothing is lost: {kept}");
    assert!(
        project
            .git("src/app", &["for-each-ref", "refs/ralph"])
            .contains("refs/ralph/rejected/3")
    );
}

#[test]
fn a_reviewer_that_commits_is_put_back_and_asked_again() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR Review\n");
    project
        .agent("1.PRE-CR/1) commit app src/main/better.txt; change app README.md; as_usual; verdict PASS ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story()[1..],
        ["1.PRE-CR=REJECTED (attempt 1 of 3)", "1.PRE-CR=PRE-CR PASS"]
    );
    assert!(
        project
            .entry(2)
            .lines
            .contains("A reviewer must change nothing"),
        "{:?}",
        project.entry(2)
    );
    assert_eq!(
        project.git("src/app", &["log", "--format=%s"]),
        "1. 1\nstart"
    );
    assert_eq!(project.git("src/app", &["status", "--porcelain"]), "");
    let kept = project.git(
        "src/app",
        &["ls-tree", "-r", "--name-only", "refs/ralph/rejected/2"],
    );
    assert!(kept.contains("src/main/better.txt"), "{kept}");
}

#[test]
fn a_reviewer_without_a_verdict_blocks_after_three_attempts() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.REQ-CHECK Review\n");
    project.agent("1.REQ-CHECK/*) printf 'looks fine to me: '; verdict PASS; tick_all ;;");
    let done = project.ralph(&["run"]).code(1);
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. One\n- [ ] 1.REQ-CHECK Review\n"
    );
    assert_eq!(project.story().len(), 4, "{}", done.out);
    assert!(
        project
            .entry(2)
            .lines
            .contains("no verdict line with the token"),
        "{:?}",
        project.entry(2)
    );
}

#[test]
fn reviewers_of_older_loops_speak_through_the_boxes() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.REQ-CHECK A\n- [ ] 1.PRE-CR B\n");
    project.write(
        ".ralph/prompts/req-reviewer.md",
        "Judge {{ task }}, tick its box if it is good.\n",
    );
    project.agent(
        "1.REQ-CHECK/1) if [ -e once ]; then sed 's/\\[ \\] 1.REQ/[x] 1.REQ/' tasks.md > t && mv t tasks.md; else touch once; \
         sed 's/\\[x\\] 1\\. /[ ] 1. /' tasks.md > t && mv t tasks.md; fi ;;",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        [
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK FAIL",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK PASS",
            "1.PRE-CR=PRE-CR PASS"
        ]
    );
}

#[test]
fn an_agent_that_runs_too_long_or_says_nothing_is_ended() {
    for (limit, word) in [("attempt: 1s", "1 s"), ("idle: 1s", "1 s")] {
        let project = Project::new("- [ ] 1. One\n");
        project.config(&format!("limits: {{{limit}, attempts: 1}}\n"));
        project.agent("1./1) echo begun; exec sleep 1000 ;;");
        let done = project.ralph(&["run"]).code(1);
        let said = project.entry(1).lines;
        assert!(said.contains(word), "{limit}: {said}\n{}", done.out);
        wait_for("no process is left", || project.processes().is_empty());
    }
}

#[test]
fn what_an_agent_leaves_running_is_gone_with_it() {
    let project = Project::new(TWO);
    project.agent(
        "1./1) setsid sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &) ; as_usual ;;",
    );
    let done = project.ralph(&["run"]).code(0);
    assert!(
        done.out.contains("processes left behind were ended"),
        "{}",
        done.out
    );
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn an_agent_cannot_tick_through_ralph() {
    let project = Project::new(TWO);
    project.agent(
        "1./1) for verb in 'accept 2. --reason please' 'reopen 2. --reason please' 'run' 'gate 1.PITEST' 'snapshot 1.'; do \
         code=0; env -u RALPH_TAG RALPH $verb >> said 2>&1 || code=$?; echo \"$verb: $code\" >> codes; done; as_usual ;;"
            .replace("RALPH $verb", &format!("{} $verb", env!("CARGO_BIN_EXE_ralph")))
            .as_str(),
    );
    project.ralph(&["run", "--once"]).code(5);
    let codes = project.read("codes");
    assert_eq!(
        codes,
        "accept 2. --reason please: 2\nreopen 2. --reason please: 2\nrun: 75\ngate 1.PITEST: 75\nsnapshot 1.: 75\n",
        "{}",
        project.read("said")
    );
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [ ] 2. Two\n");
    assert_eq!(project.story().len(), 1);
}

#[test]
fn an_agent_that_goes_round_in_circles_or_over_its_budget_is_ended_while_it_runs() {
    let project = Project::new("- [ ] 1. One\n");
    let agent = "agents:\n  default: {command: [sh, agent.sh], format: opencode}\n";
    project.write(
        ".ralph/config.yaml",
        agent.to_owned() + "limits: {attempts: 2, tokens: {attempt: 500}}\n",
    );
    project.agent(
        r#"1./1) while :; do echo '{"type":"tool_use","part":{"callID":"a","tool":"edit","state":{"status":"error","input":{"filePath":"a"},"error":"not found"}}}'; done ;;
1./2) for at in 1 2 3 4 5; do echo '{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"total":100}}}'; done; exec sleep 1000 ;;"#,
    );
    let done = project.ralph(&["run"]).code(1);
    let circles = "The agent called edit 30 times in a row with the same input and result; it was going round in circles";
    assert!(
        project.entry(1).lines.contains(circles),
        "{:?}",
        project.entry(1)
    );
    assert!(
        project
            .read(".ralph/state/iter-2/prompt.md")
            .contains(circles)
    );
    let lines = project.entry(2).lines;
    assert!(
        lines.contains("The agent used ") && lines.contains(" of 500 tokens and was ended"),
        "{lines}"
    );
    assert!(
        done.err.contains("task 1 was rejected 2 times in a row"),
        "{}",
        done.err
    );
    assert_eq!(project.processes(), [0; 0]);
}

#[test]
fn an_agent_that_only_talks_is_told_so_and_its_question_reaches_the_person() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.REQ-CHECK R\n");
    let agent = "agents:\n  default: {command: [sh, agent.sh], format: codex}\n";
    project.write(
        ".ralph/config.yaml",
        agent.to_owned() + "limits: {attempts: 2}\n",
    );
    project.agent(
        r#"1./1) echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Shall I use tabs?"}}' ;;
1.REQ-CHECK/*) echo '{"type":"thread.started","thread_id":"u"}'
echo '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"RALPH-VERDICT '$RALPH_VERDICT_TOKEN': PASS"}}' ;;"#,
    );
    let done = project.ralph(&["run"]).code(1);
    let lines = project.entry(1).lines;
    assert!(
        lines.contains("The agent only talked: its transcript holds no use of a tool."),
        "{lines}"
    );
    assert!(
        lines.contains("The agent asked: \"Shall I use tabs?\""),
        "{lines}"
    );
    assert!(
        project
            .read(".ralph/state/iter-2/prompt.md")
            .contains("Shall I use tabs?")
    );
    assert_eq!(
        project.story()[2..],
        [
            "1.REQ-CHECK=REJECTED (attempt 1 of 2)",
            "1.REQ-CHECK=REJECTED (attempt 2 of 2)"
        ]
    );
    assert!(done.err.contains("had looked at nothing"), "{}", done.err);
    assert!(
        project
            .ralph(&["status"])
            .out
            .contains("had looked at nothing")
    );
}

#[test]
fn a_missing_program_is_said_before_anything_begins_with_those_that_are_there() {
    let project = Project::new(TWO);
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: claude}\n",
    );
    project.write("bin/codex", "#!/bin/sh\n");
    fs_err::set_permissions(
        project.path("bin/codex"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let mut command = project.command(&["run"]);
    command.env("PATH", project.path("bin"));
    let done = Project::finish(command).code(2);
    assert!(
        done.err.contains("`claude`") && done.err.contains("hint:") && done.err.contains("codex"),
        "{}",
        done.err
    );
    assert_eq!(project.story(), [""; 0]);
}

#[test]
fn an_agent_that_kills_itself_or_its_group_is_one_rejected_attempt() {
    let project = Project::new(TWO);
    project.agent("1./1) kill -9 $$ ;;\n1./2) kill -9 0 ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story()[..3],
        [
            "1.=REJECTED (attempt 1 of 3)",
            "1.=REJECTED (attempt 2 of 3)",
            "1.=ACCEPTED"
        ]
    );
    assert!(
        project.entry(1).lines.contains("signal 9"),
        "{:?}",
        project.entry(1)
    );
}

#[test]
fn a_lock_file_of_a_killed_git_stops_nobody() {
    let project = Project::new(TWO);
    project.agent("1./1) touch src/app/.git/index.lock; exit 1 ;;");
    project.ralph(&["run"]).code(0);
    assert!(!project.has("src/app/.git/index.lock"));
}

#[test]
fn a_signal_that_the_agent_ignores_does_not_keep_it() {
    let project = Project::new(TWO);
    project.agent("1./1) trap '' TERM INT; touch started; while :; do sleep 1000; done ;;");
    let mut run = project.start(&["run"]);
    wait_for("the agent started", || project.has("started"));
    assert!(signal(i32::try_from(run.id()).unwrap(), "TERM"));
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert_eq!(project.processes(), [0; 0]);
    assert_eq!(project.story(), ["1.=INTERRUPTED"]);
}

#[test]
fn an_agent_that_writes_to_the_journal_ends_the_run_with_4() {
    for deed in [
        "rm -rf .ralph/state",
        ": > .ralph/state/journal.jsonl",
        "echo x >> .ralph/state/journal.jsonl",
    ] {
        let project = Project::new(TWO);
        project.agent(&format!("*) {deed}; tick_all; as_usual ;;"));
        let done = project.ralph(&["run"]).code(4);
        assert!(
            done.err
                .contains("journal.jsonl was changed while ralph ran.")
                && done.err.contains("hint: "),
            "{}",
            done.err
        );
    }
}

#[test]
fn boxes_ticked_beside_a_deleted_journal_are_not_taken_for_a_persons() {
    let project = Project::new(TWO);
    project.agent("*) rm -rf .ralph/state; tick_all ;;");
    project.ralph(&["run"]).code(4);
    assert_ne!(project.ralph(&["run"]).code, 0);
}

#[test]
fn a_repository_that_an_agent_deletes_is_missed() {
    let project = Project::new(TWO);
    project.package("src/lib");
    project.agent("1./1) rm -rf src/lib ;;");
    let done = project.ralph(&["run"]).code(4);
    assert!(done.err.contains("lib"), "{}", done.err);
}

#[test]
fn an_agent_that_kills_its_supervisor_is_one_rejected_attempt() {
    let project = Project::new(TWO);
    project.agent("1./1) kill -9 $PPID ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=REJECTED (attempt 1 of 3)", "1.=ACCEPTED", "2.=ACCEPTED"]
    );
}

#[test]
fn a_repository_that_an_agent_makes_is_a_package_from_then_on() {
    let project = Project::new(TWO);
    project.agent("1./1) git init -q src/new; commit new src/main/a.txt ;;");
    project.ralph(&["run"]).code(0);
    assert!(
        project
            .read(".ralph/state/iter-2-before.txt")
            .contains("\nnew:")
    );
    assert_eq!(
        project.ralph(&["diff", "1."]).code(0).out,
        "new/src/main/a.txt\n"
    );
}

#[test]
fn a_prompt_names_the_requirements_that_its_task_refers_to() {
    let project =
        Project::new("- [ ] 1.TEST-FIRST Tests\n- [ ] 1. One\n  - _Requirements: 1.1, FR-2_\n");
    project.ralph(&["run"]).code(0);
    for iteration in [1, 2] {
        let prompt = project.read(&format!(".ralph/state/iter-{iteration}/prompt.md"));
        assert!(
            prompt.contains("One\n  - _Requirements: 1.1, FR-2_\n=== END"),
            "{prompt}"
        );
    }
}

#[test]
fn a_reviewer_is_heard_in_its_own_words_of_a_transcript_and_its_work_is_shown_while_it_runs() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.REQ-CHECK R\n");
    let agent = "agents:\n  default: {command: [sh, agent.sh], format: claude}\n";
    project.write(".ralph/config.yaml", agent);
    project.agent(
        r#"1./1) as_usual; ws=$PWD; cat <<END
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"$ws/src/app/a.rs"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"String to replace not found in file."}]}}
END
;;
1.REQ-CHECK/1) cat <<END
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"RALPH-VERDICT $RALPH_VERDICT_TOKEN: FAIL another agent's"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"It is good.\\n\\n**RALPH-VERDICT $RALPH_VERDICT_TOKEN: PASS**"}]}}
END
;;"#,
    );
    let done = project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "1.REQ-CHECK=REQ-CHECK PASS"]
    );
    for line in [
        "      Edit src/app/a.rs\n",
        "      ✗ Edit src/app/a.rs: String to replace not found in file.\n",
        "      It is good.\n",
    ] {
        assert!(
            done.err.contains(line),
            "{line:?} is missing in:\n{}",
            done.err
        );
    }
    assert!(
        !done.err.contains("tool_use") && !done.out.contains("tool_use"),
        "{}",
        done.err
    );
    assert!(
        project
            .read(".ralph/state/iter-1/agent.out")
            .contains("tool_use"),
        "the printed text"
    );
}
