//! Runs that reach the end, and all their files.

use super::project::Project;
use std::os::unix::fs::PermissionsExt as _;

const STAGES: &str = "\
# Plan

- [ ] 1.TEST-FIRST Tests of one
- [ ] 1. One
- [ ] 1.REQ-CHECK Look at one
- [ ] 1.LINT Judge one
- [ ] 1.PRE-CR Review one
- [ ] FINAL Validate
";

const LINT: &str = "gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n";

#[test]
fn plain_tasks_run_to_the_end_and_only_boxes_change() {
    let project = Project::new("# Plan\n\n- [ ] 1. One\n  - a note\n* [ ] 2. Two\n");
    let done = project.ralph(&["run"]).code(0);
    assert!(
        done.out.ends_with("All required boxes are ticked.\n"),
        "{}",
        done.out
    );
    assert_eq!(
        project.read("tasks.md"),
        "# Plan\n\n- [x] 1. One\n  - a note\n* [x] 2. Two\n"
    );
    assert_eq!(project.story(), ["1.=ACCEPTED", "2.=ACCEPTED"]);
    assert_eq!(
        project.git("src/app", &["log", "--format=%s"]),
        "2. 2\n1. 1\nstart"
    );
}

#[test]
fn a_second_run_after_the_end_has_nothing_to_do() {
    let project = Project::new("- [ ] 1. One\n");
    project.ralph(&["run"]).code(0);
    let before = project.head();
    project.ralph(&["run"]).code(0);
    assert_eq!((project.head(), project.story().len()), (before, 1));
}

#[test]
fn all_stages_run_in_order_and_each_is_one_iteration() {
    let project = Project::new(STAGES);
    project.config(LINT);
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), STAGES.replace("[ ]", "[x]"));
    assert_eq!(
        project.story(),
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK PASS",
            "1.LINT=LINT PASS",
            "1.PRE-CR=PRE-CR PASS",
            "FINAL=COMPLETE"
        ]
    );
    let numbers: Vec<u64> = project
        .entries()
        .iter()
        .map(|entry| entry.iteration)
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn every_encoding_and_line_end_survives_byte_for_byte() {
    let variants: [(&str, &[u8]); 4] = [
        ("CRLF", b"# Plan\r\n\r\n- [ ] 1. One\r\n- [ ] 2. Two\r\n"),
        (
            "a byte order mark",
            b"\xef\xbb\xbf- [ ] 1. One\n- [ ] 2. Two\n",
        ),
        ("no final line end", b"- [ ] 1. One\n- [ ] 2. Two"),
        (
            "bytes that are no UTF-8",
            b"caf\xe9\n\n- [ ] 1. One\n- [ ] 2. Tw\xf6\n\n\n  ",
        ),
    ];
    for (what, before) in variants {
        let project = Project::new(before);
        project.ralph(&["run"]).code(0);
        let expected = before
            .to_vec()
            .windows(3)
            .enumerate()
            .filter(|(_, three)| *three == b"[ ]")
            .fold(before.to_vec(), |mut bytes, (at, _)| {
                bytes[at + 1] = b'x';
                bytes
            });
        assert_eq!(project.bytes("tasks.md"), expected, "{what}");
    }
}

#[test]
fn the_mode_of_tasks_md_stays() {
    let project = Project::new("- [ ] 1. One\n");
    let mode = std::fs::Permissions::from_mode(0o664);
    fs_err::set_permissions(project.path("tasks.md"), mode).unwrap();
    project.ralph(&["run"]).code(0);
    let after = project
        .path("tasks.md")
        .metadata()
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(after, 0o664, "{after:o}");
}

#[test]
fn before_files_and_diff_views_hold_what_the_design_says() {
    let project = Project::new("- [ ] 1. One\n");
    project.package("src/lib");
    let heads = [
        project.head(),
        project.git("src/lib", &["rev-parse", "HEAD"]),
    ];
    project.agent(
        "1./1) commit lib src/main/b.txt; commit app 'src/main/ä b.txt'; commit app a.txt ;;",
    );
    project.ralph(&["run"]).code(0);
    let before = project.read(".ralph/state/iter-1-before.txt");
    assert_eq!(before, format!("app:{}\nlib:{}\n", heads[0], heads[1]));
    let list = project.read(".ralph/state/latest-task-diff.txt");
    assert_eq!(
        list,
        "\"app/src/main/\\303\\244 b.txt\"\napp/a.txt\nlib/src/main/b.txt\n"
    );
    let json: serde_json::Value =
        serde_json::from_str(&project.read(".ralph/state/latest-task-diff.json")).unwrap();
    let statuses: Vec<_> = json["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["status"].clone())
        .collect();
    assert_eq!(statuses, ["A", "A", "A"]);
    let blob = project.git("src/lib", &["rev-parse", "HEAD:src/main/b.txt"]);
    assert!(json.to_string().contains(&blob), "{json}");
}

#[test]
fn what_ralph_keeps_of_an_iteration_is_for_its_owner_alone() {
    let project = Project::new(STAGES);
    project.config(LINT);
    project.agent("1./1) echo said; echo moaned >&2; as_usual ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read(".ralph/state/iter-2/agent.out"), "said\n");
    assert_eq!(project.read(".ralph/state/iter-2/agent.err"), "moaned\n");
    assert!(
        project
            .read(".ralph/state/iter-2/prompt.md")
            .contains("One")
    );
    let mut open = vec![project.path(".ralph/state")];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            // Deeper paths are behind this directory.
            let is_iteration = path.parent().unwrap().ends_with("state") || path.ends_with("state");
            assert!(
                mode == 0o700 || !is_iteration,
                "{}: {mode:o}",
                path.display()
            );
            open.extend(
                fs_err::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            assert_eq!(mode, 0o600, "{}: {mode:o}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn the_agent_finds_prompt_environment_and_folder() {
    let project =
        Project::new("- [ ] 7.TEST-FIRST Tests\n- [ ] 7. Seven words\n- [ ] FINAL Check\n");
    project.write(
        "agent.sh",
        "pwd > seen.$RALPH_ITERATION\nenv | grep ^RALPH_ | sort >> seen.$RALPH_ITERATION\n\
         cat > stdin.$RALPH_ITERATION\nwc -c < \"$RALPH_PROMPT_FILE\" >> seen.$RALPH_ITERATION\n\
         echo $# \"$@\" >> seen.$RALPH_ITERATION\n. ./work.sh < /dev/null\n",
    );
    let work = project.read("agent.sh");
    project.agent("");
    fs_err::rename(project.path("agent.sh"), project.path("work.sh")).unwrap();
    project.write("agent.sh", work);
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {command: [sh, agent.sh, '{task}', '{stage}', '{role}', '{workspace}']}\n",
    );
    project.ralph(&["run"]).code(0);
    let ws = project.path("");
    let ws = ws.to_str().unwrap().trim_end_matches('/');
    let seen = project.read("seen.2");
    for expected in [
        format!("{ws}\n"),
        format!("RALPH_WORKSPACE={ws}\n"),
        "RALPH_TASK=7.\n".to_owned(),
        "RALPH_TASK_TEXT=Seven words\n".to_owned(),
        "RALPH_STAGE=IMPLEMENT\n".to_owned(),
        "RALPH_ROLE=worker\n".to_owned(),
        "RALPH_ITERATION=2\n".to_owned(),
        "RALPH_ATTEMPT=1\n".to_owned(),
        format!("RALPH_PROMPT_FILE={ws}/.ralph/state/iter-2/prompt.md\n"),
        format!("4 7. IMPLEMENT worker {ws}\n"),
    ] {
        assert!(seen.contains(&expected), "{expected} is not in\n{seen}");
    }
    assert!(
        seen.starts_with(&format!("{ws}\n")),
        "the working directory: {seen}"
    );
    let token = |n: u32| {
        let seen = project.read(&format!("seen.{n}"));
        let mut named = seen
            .lines()
            .filter_map(|line| line.strip_prefix("RALPH_VERDICT_TOKEN="));
        named.next().unwrap().to_owned()
    };
    assert!(
        project
            .read("stdin.2")
            .ends_with(&format!("verdict line is `{}`.\n", token(2))),
        "{}",
        token(2)
    );
    assert!(
        token(1) != token(2) || token(2) != token(3),
        "each attempt has a token of its own"
    );
    assert!(
        !project
            .read(".ralph/state/journal.jsonl")
            .contains("VERDICT")
    );
    assert_eq!(
        project.bytes("stdin.2"),
        project.bytes(".ralph/state/iter-2/prompt.md")
    );
    let roles: Vec<bool> = [(1, "test-writer"), (3, "validator")]
        .iter()
        .map(|(n, role)| {
            project
                .read(&format!("seen.{n}"))
                .contains(&format!("RALPH_ROLE={role}\n"))
        })
        .collect();
    assert_eq!(roles, [true, true]);
}

#[test]
fn a_fail_of_reviewer_and_gate_leads_to_rework_and_the_reasons_reach_the_prompt() {
    let project = Project::new(STAGES);
    project.config(
        "gates:\n  LINT: {run: [sh, -c, 'test -e good || { echo the line is bad; exit 1; }']}\n",
    );
    project.agent(
        "1./1) if [ -e src/app/asked ]; then commit app good; else commit app src/main/1.txt; fi ;;\n\
         1.REQ-CHECK/1) if [ -e reviewed ]; then as_usual; else touch reviewed; \
         verdict FAIL a test is missing; fi ;;\n",
    );
    let done = project.ralph(&["run", "--max-iterations", "5"]).code(5);
    assert!(
        done.out.contains("the line is bad") || done.out.contains("a test is missing"),
        "{}",
        done.out
    );
    assert_eq!(
        project.story()[..4],
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK FAIL",
            "1.=ACCEPTED"
        ]
    );
    assert!(
        project
            .entry(3)
            .lines
            .contains("- a test is missing\n- boxes: opened 1.\n")
    );
    assert!(
        project
            .read(".ralph/state/iter-4/prompt.md")
            .contains("a test is missing")
    );
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(
        project.story()[5],
        "1.LINT=LINT FAIL — The gate LINT fails in package app."
    );
    assert!(project.read("tasks.md").contains("- [ ] 1. One"));
    project.write("src/app/asked", "");
    project.git("src/app", &["add", "asked"]);
    project.git("src/app", &["commit", "--quiet", "--message", "a person's"]);
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), STAGES.replace("[ ]", "[x]"));
    assert!(
        project
            .read(".ralph/state/iter-7/prompt.md")
            .contains("the line is bad")
    );
}

#[test]
fn the_json_view_of_the_changes_names_base_and_head() {
    let project = Project::new("- [ ] 1. One\n");
    let base = project.head();
    project.ralph(&["run"]).code(0);
    let json = project.read(".ralph/state/latest-task-diff.json");
    assert!(
        json.contains(&base) && json.contains(&project.head()),
        "{json}"
    );
}
