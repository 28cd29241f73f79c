//! Gates in any loop: `snapshot`, `gate <ID>`, `gate NAME`, `diff`.

use super::project::{Project, signal, wait_for};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

const TASKS: &str = "- [ ] 1. One\n- [ ] 1.LINT Judge\n- [ ] 2. Two\n- [ ] 2.LINT Judge\n";
const LINT: &str =
    "gates:\n  LINT: {run: [sh, -c, 'test -e good || { echo bad line; exit 1; }']}\n";

fn project() -> Project {
    let project = Project::new(TASKS);
    project.config(LINT);
    project
}

fn commit(project: &Project, file: &str) {
    project.write(&format!("src/app/{file}"), file);
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", file]);
}

#[test]
fn snapshot_work_gate_is_the_whole_contract() {
    let project = project();
    let base = project.head();
    let done = project.ralph(&["snapshot", "1."]).code(0);
    assert_eq!(done.out, "[1] task 1 is pinned in 1 package.\n");
    assert_eq!(
        project.read(".ralph/state/iter-1-before.txt"),
        format!("app:{base}\n")
    );
    commit(&project, "src/main/a.txt");
    project.write("tasks.md", TASKS.replace("[ ] 1. ", "[x] 1. "));

    let done = project.ralph(&["gate", "1.LINT"]).code(1);
    assert!(
        done.out.contains("LINT FAIL") && done.out.contains("bad line"),
        "{}",
        done.out
    );
    assert_eq!(project.read("tasks.md"), TASKS, "the work is open again");
    let entry = project.entries().pop().unwrap();
    assert_eq!(
        entry.headline,
        "LINT FAIL — The gate LINT fails in package app."
    );
    assert_eq!(
        project.ralph(&["diff", "1."]).code(0).out,
        "app/src/main/a.txt\n"
    );

    project.ralph(&["snapshot", "1."]).code(0);
    commit(&project, "good");
    project.write("tasks.md", TASKS.replace("[ ] 1. ", "[x] 1. "));
    let done = project.ralph(&["gate", "1.LINT"]).code(0);
    assert!(done.out.contains("LINT PASS"), "{}", done.out);
    assert_eq!(project.read("tasks.md"), TASKS.replace("[ ] 1.", "[x] 1."));
    assert_eq!(
        project.ralph(&["diff", "1."]).code(0).out,
        "app/good\napp/src/main/a.txt\n"
    );

    commit(&project, "src/main/more.txt");
    project.ralph(&["snapshot", "1."]).code(0);
    assert!(
        project.read("tasks.md").contains("- [ ] 1.LINT"),
        "it judged another commit"
    );
}

#[test]
fn without_known_changes_a_gate_gives_no_verdict_and_says_what_to_do() {
    let project = project();
    let done = project.ralph(&["gate", "1.LINT"]).code(3);
    assert!(
        done.err.contains("hint: ") && done.err.contains("--since REV"),
        "{}",
        done.err
    );
    assert_eq!(project.read("tasks.md"), TASKS);
    project.ralph(&["snapshot", "2."]).code(0);
    project.ralph(&["gate", "2.LINT"]).code(3);
    assert_eq!(project.read("tasks.md"), TASKS);
}

#[test]
fn since_and_diff_and_an_existing_list_name_the_changes() {
    let project = project();
    commit(&project, "good");
    project
        .ralph(&["gate", "1.LINT", "--since", "HEAD~1"])
        .code(0);
    project.write("list.txt", "app/good\r\n\n");
    project
        .ralph(&["gate", "2.LINT", "--diff", "list.txt"])
        .code(0);
    assert_eq!(
        project.read("tasks.md"),
        TASKS
            .replace("[ ] 1.LINT", "[x] 1.LINT")
            .replace("[ ] 2.LINT", "[x] 2.LINT")
    );

    let project = self::project();
    commit(&project, "good");
    project.write(".ralph/state/latest-task-diff.txt", "app/good\n");
    project.ralph(&["gate", "1.LINT"]).code(0);
    project.write(".ralph/state/latest-task-diff.txt", "");
    project.ralph(&["gate", "2.LINT"]).code(3);
}

#[test]
fn lists_and_revisions_that_cannot_be_used_give_no_verdict() {
    let project = project();
    for (list, word) in [
        ("nowhere/a\n", "list.txt:1"),
        ("app/../../etc/passwd\n", "leaves its package"),
        ("app/a\n\u{0}\n", "list.txt:2"),
    ] {
        project.write("list.txt", list);
        for gate in ["LINT", "1.LINT"] {
            let done = project.ralph(&["gate", gate, "--diff", "list.txt"]).code(3);
            assert!(
                done.err.contains(word) && done.err.contains("hint: "),
                "{}",
                done.err
            );
        }
    }
    let missing = project
        .ralph(&["gate", "LINT", "--diff", "no-such-list"])
        .code(2);
    assert!(
        missing.err.contains("hint: name another file"),
        "{}",
        missing.err
    );
    project.write("list.txt", "\n\n");
    for gate in ["LINT", "1.LINT"] {
        let done = project.ralph(&["gate", gate, "--diff", "list.txt"]).code(3);
        assert!(
            done.err.contains("hint: "),
            "nothing judged is nothing passed: {}",
            done.err
        );
    }
    let done = project.ralph(&["gate", "LINT", "--since", "no-such-rev"]);
    assert!(
        [2, 3].contains(&done.code) && done.err.contains("hint: "),
        "{}: {}",
        done.code,
        done.err
    );
    let done = project
        .ralph(&["gate", "1.LINT", "--since", "HEAD"])
        .code(3);
    assert!(!done.err.is_empty());
}

#[test]
fn a_tag_with_the_name_of_the_base_is_not_the_base() {
    let project = project();
    let git = |args: &[&str]| project.git("src/app", args);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    commit(&project, "src/main/a.txt");
    git(&["tag", "origin/main"]);
    let done = project
        .ralph(&["gate", "LINT", "--since", "origin/main"])
        .code(2);
    assert!(
        done.err.contains("refs/tags/origin/main")
            && done
                .err
                .contains("hint: Write the full name of the reference"),
        "{}",
        done.err
    );
    let whole = ["gate", "LINT", "--since", "refs/remotes/origin/main"];
    let done = project.ralph(&whole);
    assert!(done.out.contains("LINT"), "{}{}", done.out, done.err);
    assert!([0, 1].contains(&done.code), "{}", done.code);
}

#[test]
fn a_gate_alone_judges_and_changes_nothing() {
    let project = project();
    commit(&project, "src/main/a.txt");
    let without_git = |project: &Project| {
        let mut files = project.files();
        files.retain(|path, _| !path.components().any(|part| part.as_os_str() == ".git"));
        files
    };
    let before = (
        without_git(&project),
        project.git("src/app", &["status", "--porcelain=v2", "--branch"]),
    );
    project.write("../list.txt", "app/src/main/a.txt\n");
    let done = project
        .ralph(&["gate", "LINT", "--since", "HEAD~1"])
        .code(1);
    assert!(done.out.contains("LINT FAIL — "), "{}", done.out);
    project
        .ralph(&["gate", "LINT", "--diff", "../list.txt"])
        .code(1);
    let json = project
        .ralph(&["gate", "LINT", "--since", "HEAD~1", "--json"])
        .code(1)
        .json();
    assert_eq!(json.len(), 1);
    assert_eq!(json[0]["gate"], "LINT");
    assert!(
        before
            == (
                without_git(&project),
                project.git("src/app", &["status", "--porcelain=v2", "--branch"])
            )
    );
    assert!(!project.has(".ralph/state"));
}

#[test]
fn a_command_gate_is_told_the_task_the_files_and_the_commits_in_place_and_in_a_clean_checkout() {
    for place in ["in-place", "clean"] {
        let project = Project::new(TASKS);
        let script = "printf '%s ' $RALPH_GATE $RALPH_TASK $RALPH_PACKAGES $RALPH_BASE $RALPH_HEAD; \
                      cat $RALPH_CHANGED_FILES; test -e untracked && echo seen; exit 1";
        project.config(&format!(
            "gates:\n  LINT: {{run: [sh, -c, {script:?}], where: {place}}}\n"
        ));
        commit(&project, "gone");
        let base = project.head();
        fs_err::remove_file(project.path("src/app/gone")).unwrap();
        commit(&project, "src/main/a.txt");
        project.write("src/app/untracked", "");
        let told = format!("app {base} {} src/main/a.txt", project.head());
        let alone = project
            .ralph(&["gate", "LINT", "--since", "HEAD~1"])
            .code(1);
        assert!(alone.out.contains(&format!("LINT {told}")), "{}", alone.out);
        // No attempt of this task is recorded, so it has no base.
        project
            .ralph(&["gate", "1.LINT", "--since", "HEAD~1"])
            .code(1);
        let said = project.entry(1).lines;
        assert!(
            said.contains(&format!(
                "LINT 1.LINT {}",
                told.replace(&format!("{base} "), "")
            )),
            "{said}"
        );
        assert_eq!(said.contains("seen"), place == "in-place", "{said}");
        assert_eq!(
            said.contains("that no commit holds: app/untracked;"),
            place == "in-place",
            "{said}"
        );
    }
}

#[test]
fn exit_77_skips_and_anything_else_is_no_verdict() {
    for (code, exit, headline) in [
        (77, 0, "LINT SKIP — "),
        (0, 0, "LINT PASS"),
        (1, 1, "LINT FAIL — "),
        (2, 3, "LINT ERROR — "),
    ] {
        let project = project();
        project.config(&format!(
            "gates:\n  LINT: {{run: [sh, -c, 'echo why; exit {code}']}}\n"
        ));
        commit(&project, "good");
        project
            .ralph(&["gate", "1.LINT", "--since", "HEAD~1"])
            .code(exit);
        assert!(
            project.entry(1).headline.starts_with(headline),
            "{:?}",
            project.entry(1)
        );
        assert_eq!(project.read("tasks.md").contains("[x] 1.LINT"), exit == 0);
    }
    let project = project();
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 77']}\n");
    commit(&project, "good");
    let done = project
        .ralph(&["gate", "LINT", "--since", "HEAD~1"])
        .code(0);
    assert_eq!(
        done.out,
        "LINT SKIP — In package app: its command ended with 77, there is nothing to judge, and gave no reason.\n"
    );
}

#[test]
fn a_skip_fails_where_it_was_asked_to_and_says_so() {
    let project = project();
    project.config("gates:\n  LINT: {run: [sh, -c, 'echo no sources; exit 77']}\n");
    commit(&project, "good");
    for gate in ["LINT", "1.LINT"] {
        let done = project
            .ralph(&["gate", gate, "--since", "HEAD~1", "--fail-on-skip"])
            .code(1);
        assert!(
            done.err
                .contains("LINT judged nothing, which --fail-on-skip counts as a failure."),
            "{}",
            done.err
        );
    }
    assert!(
        project.read("tasks.md").contains("[x] 1.LINT"),
        "the box does not depend on who asks"
    );
    project.config(LINT);
    project
        .ralph(&["gate", "LINT", "--since", "HEAD~1", "--fail-on-skip"])
        .code(0);
}

#[test]
fn each_format_is_the_whole_of_standard_output() {
    for gate in ["LINT", "1.LINT"] {
        let project = project();
        commit(&project, "src/main/a.txt");
        let ask = |format: &str| {
            project
                .ralph(&[
                    "gate",
                    gate,
                    "--since",
                    "HEAD~1",
                    "--explain",
                    "--format",
                    format,
                ])
                .code(1)
        };
        let github = ask("github");
        assert_eq!(
            github.out,
            "::error file=src/app/src/main/a.txt,line=1,title=LINT FAIL::The gate LINT fails in package app.%0Abad line\n"
        );
        assert!(
            github.err.contains("How LINT came to its verdict\n"),
            "{}",
            github.err
        );
        let gitlab: Value = serde_json::from_str(&ask("gitlab").out).unwrap();
        assert_eq!(gitlab[0]["location"]["path"], "src/app/src/main/a.txt");
        let sarif: Value = serde_json::from_str(&ask("sarif").out).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "LINT/FAIL");
        let junit = ask("junit").out;
        assert!(
            junit.starts_with("<?xml ") && junit.contains("failures=\"1\""),
            "{junit}"
        );
        let human = ask("human");
        assert!(
            human.out.contains("LINT FAIL — ")
                && human.out.contains("How LINT came to its verdict\n")
        );
        assert!(
            ask("json")
                .json()
                .iter()
                .any(|fact| fact.to_string().contains("bad line"))
        );
    }
    let project = project();
    commit(&project, "good");
    project
        .ralph(&[
            "gate", "LINT", "--since", "HEAD~1", "--json", "--format", "json",
        ])
        .code(0);
    let done = project
        .ralph(&[
            "gate", "LINT", "--since", "HEAD~1", "--json", "--format", "sarif",
        ])
        .code(2);
    assert!(done.err.contains("hint: "), "{}", done.err);
}

#[test]
fn an_error_shows_in_each_format() {
    let project = project();
    project.config("gates:\n  LINT: {run: [no-such-program-anywhere]}\n");
    commit(&project, "good");
    for (format, part) in [
        ("github", "::error title=LINT ERROR::"),
        ("gitlab", "LINT ERROR: "),
        ("junit", "<error message="),
        ("sarif", "\"executionSuccessful\": false"),
    ] {
        for gate in ["LINT", "1.LINT"] {
            let done = project
                .ralph(&["gate", gate, "--since", "HEAD~1", "--format", format])
                .code(3);
            assert!(done.out.contains(part), "{}", done.out);
        }
    }
}

#[test]
fn places_are_those_of_the_repository_that_holds_the_workspace() {
    let project = Project::empty();
    project.write("part/src/main/a.txt", "a\n");
    project.write(
        "part/.ralph/config.yaml",
        format!("packages: [lib]\n{LINT}"),
    );
    project.package("part/lib");
    project.write("README.md", "the whole\n");
    project.git("", &["init", "--quiet", "--initial-branch", "main"]);
    project.write("part/lib/src/main/b.txt", "b\n");
    project.git("part/lib", &["add", "--all"]);
    project.git("part/lib", &["commit", "--quiet", "--message", "b"]);
    let done = project
        .ralph(&[
            "--root", "part", "gate", "LINT", "--since", "HEAD~1", "--format", "github",
        ])
        .code(1);
    assert!(
        done.out
            .starts_with("::error file=part/lib/src/main/b.txt,line=1,"),
        "{}",
        done.out
    );
}

#[test]
fn an_error_of_a_gate_stops_the_run_with_3() {
    let project = project();
    project.config("gates:\n  LINT: {run: [no-such-program-anywhere]}\n");
    let done = project.ralph(&["run"]).code(3);
    assert!(
        done.err.contains("1.LINT gave no verdict") && done.err.contains("hint: "),
        "{}",
        done.err
    );
    assert_eq!(
        project.read("tasks.md"),
        TASKS.replace("[ ] 1. ", "[x] 1. ")
    );
}

#[test]
fn a_gate_that_moves_head_or_writes_boxes_gives_no_false_verdict() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT Judge\n- [ ] 2. Two\n");
    project.config(
        "gates:\n  LINT: {run: [sh, -c, \"cd ../..; sed 's/. ]/x]/' tasks.md > t; mv t tasks.md\"]}\n",
    );
    project.ralph(&["run", "--max-iterations", "2"]).code(5);
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. One\n- [x] 1.LINT Judge\n- [ ] 2. Two\n"
    );
}

#[test]
fn pitest_skips_what_is_no_java() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PITEST Mutants\n");
    project.ralph(&["run"]).code(0);
    assert!(
        project.entry(2).headline.starts_with("PITEST SKIP — "),
        "{:?}",
        project.entry(2)
    );
    let mode = fs_err::metadata(project.path(".ralph/state/iter-2/gate"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700, "what a gate leaves is private");
}

#[test]
fn parts_are_joined_only_if_each_is_there_once_and_of_these_changes() {
    let project = Project::new("- [ ] 1. One\n");
    commit(&project, "notes.txt");
    let since = ["gate", "PITEST", "--since", "HEAD~1"];
    let call = |more: &[&str]| project.ralph(&[&since[..], more].concat());
    let part = |shard: &str| call(&["--shard", shard, "--json"]).code(0).json().remove(0);
    let [mut first, mut second] = ["1/2", "2/2"].map(part);
    assert_eq!(first["report"]["verdict"], "skip");
    first["report"]["verdict"] = "pass".into();
    project.write("empty/note.txt", "");
    let done = call(&["--merge", "empty"]).code(3);
    assert!(
        done.out.contains("PITEST ERROR — No part is in empty."),
        "{}",
        done.out
    );
    let write = |name: &str, part: &Value| {
        project.write(&format!("parts/{name}.json"), part.to_string());
    };
    let folder = project.path("parts");
    let merge = ["--merge", folder.to_str().unwrap()];
    write("a", &first);
    let done = call(&["--merge", "none"]).code(3);
    assert!(
        done.err.contains("The folder of --merge cannot be read: ")
            && done.err.contains("name the folder"),
        "{}",
        done.err
    );
    let done = call(&merge).code(3);
    assert!(
        done.out.contains("PITEST ERROR — Part 2/2 is missing in "),
        "{}",
        done.out
    );
    write("b", &first);
    assert!(
        call(&merge)
            .code(3)
            .out
            .contains("b.json is part 1/2 again.")
    );
    write("b", &second);
    assert!(call(&merge).code(0).out.contains("PITEST PASS"));
    second["report"]["verdict"] = "fail".into();
    second["report"]["reasons"] = ["too low\u{1b}[2J"].as_slice().into();
    write("b", &second);
    let done = call(&merge).code(1);
    assert!(
        done.out.contains("PITEST FAIL")
            && done.out.contains("too low")
            && !done.out.contains('\u{1b}'),
        "{}",
        done.out
    );
    second["report"]["classes"] = "none".into();
    write("b", &second);
    assert!(
        call(&merge)
            .code(3)
            .out
            .contains("The report of part 2/2 cannot be read: ")
    );
    write("b", &part("2/2"));
    commit(&project, "more.txt");
    let done = call(&merge).code(3);
    assert!(
        done.out.contains("a.json is no part of this gate."),
        "{}",
        done.out
    );

    // A gate that cannot be split is refused.
    project.config(LINT);
    let lint = [
        "gate", "LINT", "--since", "HEAD~1", "--trust", "--shard", "1/2",
    ];
    let done = project.ralph(&lint).code(2);
    assert!(
        done.err
            .contains("The gate LINT cannot be judged in parts: it is a command."),
        "{}",
        done.err
    );
    project.config("gates: {PITEST: {per: task}}\n");
    let done = call(&["--trust", "--shard", "1/2"]).code(2);
    assert!(
        done.err
            .contains("its threshold counts for several classes together"),
        "{}",
        done.err
    );
    call(&["--shard", "3/2"]).code(2);
}

#[test]
fn a_gate_that_was_interrupted_or_killed_gives_its_verdict_the_next_time() {
    for (name, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let project = project();
        commit(&project, "good");
        project
            .ralph(&["gate", "1.LINT", "--since", "HEAD~1"])
            .code(0);
        let wait = "cd ../..; [ -e started ] || { touch started; exec sleep 1000; }";
        project.config(&format!("gates:\n  LINT: {{run: [sh, -c, '{wait}']}}\n"));
        let mut gate = project.start(&["gate", "1.LINT", "--since", "HEAD~1"]);
        wait_for("the gate started", || project.has("started"));
        assert!(signal(i32::try_from(gate.id()).unwrap(), name));
        assert_eq!(
            gate.wait().unwrap().code(),
            code,
            "{name}: the earlier PASS is not this call's"
        );
        wait_for("nothing is left", || project.processes().is_empty());
        project
            .ralph(&["gate", "1.LINT", "--since", "HEAD~1"])
            .code(0);
        assert_eq!(
            project.story(),
            ["1.LINT=LINT PASS", "1.LINT=INTERRUPTED", "1.LINT=LINT PASS"],
            "{name}"
        );
        project.ralph(&["check"]).code(0);
    }
}

#[test]
fn a_gate_alone_ends_with_its_signal() {
    let project = project();
    project.config("gates:\n  LINT: {run: [sh, -c, 'touch ../../started; exec sleep 1000']}\n");
    commit(&project, "good");
    let mut gate = project.start(&["gate", "LINT", "--since", "HEAD~1"]);
    wait_for("the gate started", || project.has("started"));
    assert!(signal(i32::try_from(gate.id()).unwrap(), "INT"));
    assert_eq!(gate.wait().unwrap().code(), Some(130));
    assert_eq!(project.processes(), [0; 0]);
}

/// Returns a workspace with a configuration on `main` and bad work on a branch.
///
/// The workspace is its package's repository.
fn pull_request(on_main: Option<&str>, on_branch: &str) -> Project {
    let project = Project::empty();
    let commit = |message: &str| {
        project.git("", &["add", "--all"]);
        project.git("", &["commit", "--quiet", "--message", message]);
    };
    project.git("", &["init", "--quiet", "--initial-branch", "main"]);
    project.write("src/x", "ok\n");
    project.write(".gitignore", "home/\n");
    if let Some(text) = on_main {
        project.write(".ralph/config.yaml", text);
    }
    commit("start");
    project.git("", &["checkout", "--quiet", "-b", "branch"]);
    project.write("src/y", "bad\n");
    project.write("ci/lint.sh", "exit 0\n");
    project.write(".ralph/config.yaml", on_branch);
    commit("work");
    project
}

#[test]
fn a_branch_does_not_bring_the_configuration_that_judges_it() {
    let honest = "gates: {LINT: {run: [sh, -c, '! grep -rq bad src']}}\n";
    let lie = "gates: {LINT: {run: [sh, -c, 'exit 0']}}\n";
    let since = ["gate", "LINT", "--since", "main", "--fail-on-skip"];
    let project = pull_request(Some(honest), lie);
    let done = project.ralph(&since).code(1);
    let note = "note: .ralph/config.yaml is not the one that main has: its version there judges.";
    assert!(done.err.contains(note), "{}", done.err);
    project.ralph(&[&since[..], &["--trust"]].concat()).code(0);
    // Removal without a commit gives the same.
    fs_err::remove_file(project.path(".ralph/config.yaml")).unwrap();
    assert!(project.ralph(&since).code(1).err.contains(note));
    // A branch that adds the first configuration is judged with the defaults, which have no LINT.
    let done = pull_request(None, lie).ralph(&since).code(2);
    assert!(done.err.contains("the defaults judge"), "{}", done.err);
    // A file in no commit is not part of a branch.
    let project = pull_request(None, lie);
    project.git("", &["rm", "--quiet", "--cached", ".ralph/config.yaml"]);
    project.git("", &["commit", "--quiet", "--message", "no longer tracked"]);
    assert!(!project.ralph(&since).code(0).err.contains("note: .ralph"));
}

#[test]
fn a_script_of_the_gate_that_the_branch_changed_is_named() {
    let config = "gates: {LINT: {run: [sh, -c, 'sh ./ci/lint.sh']}}\n";
    let done = pull_request(Some(config), config)
        .ralph(&["gate", "LINT", "--since", "main"])
        .code(0);
    assert!(
        done.out
            .contains("The branch changed what the command of LINT runs: ./ci/lint.sh."),
        "{}",
        done.out
    );
}
