//! Each verb: its help, its JSON, its exit code; `init`, `check`, `next`.

use super::project::Project;

/// Returns each verb with the first line of its help.
fn verbs(project: &Project) -> Vec<(String, String)> {
    let all = project.ralph(&["--help"]).code(0).out;
    assert!(all.contains("Exit codes: 0 done"), "{all}");
    let listed = all
        .lines()
        .skip_while(|line| *line != "Start here:")
        .take_while(|line| *line != "Options:");
    let own = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let split = |line: &str| {
        line.trim()
            .split_once("  ")
            .map(|(verb, about)| (verb.to_owned(), about.trim().to_owned()))
    };
    own.filter_map(split)
        .filter(|(verb, _)| verb != "help")
        .collect()
}

#[test]
fn the_help_of_each_verb_has_an_example() {
    let project = Project::empty();
    for (verb, _) in verbs(&project) {
        let help = project.ralph(&[&verb, "--help"]).code(0).out;
        let examples = help.split("Example").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("  ralph {verb}")), "{help}");
    }
}

#[test]
fn the_verbs_are_these() {
    let listed: Vec<String> = verbs(&Project::empty())
        .into_iter()
        .map(|(verb, about)| format!("{verb}: {about}"))
        .collect();
    insta::assert_snapshot!(listed.join("\n"), @r"
    init: Write `.ralph/` with a configuration for this project
    place: Choose where a gate's boxes are in the task file
    check: Find errors in spec, configuration and repositories
    run: Take open boxes one by one until there is a reason to stop
    status: Show tasks, stages, verdicts and what is blocked
    report: Compare what agents said with what git and the gates saw
    next: Show which box is next, and why the others are not
    pause: Start no new attempt until `ralph resume`
    resume: End a pause, or allow more than a used-up budget
    lanes: List lanes, take or remove one, print jobs for CI
    accept: Tick a box by hand, with a reason
    reopen: Untick a box by hand, with a reason
    deliver: Push a finished run and open pull requests
    demo: Run the example with Maven, PIT and a scripted agent
    diff: Show the files that a task has changed
    prompt: Show the prompt for a box, or the template of a role
    stage: Add the boxes of stages to the task file
    gate: Run a gate for a task, or for the commits since a revision
    mutation-test: Measure the tests of a file, directory or class by mutation
    mcp: Serve tools to agents (Model Context Protocol)
    verify: Compare the edits in an agent's transcript with git
    snapshot: Record the base of a task in a loop of your own
    replay: Repeat every recorded decision from the journal and git
    bundle: Pack a run into one file for `ralph replay`
    audit: Judge the boxes that a repository's history ticked
    doctor: Check this machine's tools, agents and settings
    generate: Print the schema, a manual page or shell completions
    ");
}

#[test]
fn the_version_is_that_of_the_package() {
    let project = Project::empty();
    assert_eq!(
        project.ralph(&["--version"]).code(0).out,
        concat!("ralph ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn json_is_one_object_a_line_on_every_verb() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT L\n- [ ] 2. Two\n- [ ] FINAL V\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    let first = |args: &[&str], code: i32| {
        let done = project.ralph(args).code(code);
        let lines = done.json();
        assert!(
            !lines.is_empty() && lines.iter().all(serde_json::Value::is_object),
            "{args:?}: {}",
            done.out
        );
        lines
    };
    assert_eq!(first(&["next", "--json"], 0)[0]["next"], "1.");
    first(&["lanes", "--json"], 0);
    assert_eq!(
        first(&["status", "--json"], 0)[0]["boxes"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(first(&["run", "--dry-run", "--json"], 0)[0]["next"], "1.");
    let run = first(&["run", "--max-iterations", "2", "--json"], 5);
    assert_eq!(run.last().unwrap()["exit"], 5);
    assert!(
        run.iter().any(|line| line["event"]["kind"] == "gate-ended"),
        "{run:?}"
    );
    assert_eq!(first(&["diff", "--json"], 0)[0]["path"], "src/main/1.txt");
    assert_eq!(first(&["diff", "1.", "--json"], 0)[0]["package"], "app");
    first(&["--json", "gate", "1.LINT"], 0);
    first(&["--json", "snapshot", "2."], 0);
    first(&["run", "--json"], 0);
    assert_eq!(first(&["next", "--json"], 1)[0]["done"], true);
    project.write("tasks.md", "- [ ] 1. One\n- [ ] 1. One\n- [ ] 3.PRE-CR R\n");
    assert!(
        first(&["check", "--json"], 1)
            .iter()
            .any(|finding| finding["level"] == "error")
    );
}

#[test]
fn next_names_the_box_its_line_and_why_others_wait() {
    let project = Project::new("# Plan\n\n- [x] 1. One\n- [ ] 2. Two [-]\n");
    assert_eq!(
        project.ralph(&["next"]).code(0).out,
        "task 2  Two [-]  (tasks.md:4)\n"
    );
    project.write("tasks.md", "- [ ] 1. P\n  - [-] 1.1 C\n");
    let done = project.ralph(&["next"]).code(1);
    assert_eq!(
        done.out,
        "tasks.md:1: task 1 waits for task 1.1 (tasks.md:2).\ntasks.md:2: task 1.1 holds `[-]`, which is not ralph's to change.\n"
    );
}

#[test]
fn questions_about_a_file_that_is_not_there_are_not_answered_with_all_done() {
    let project = Project::new("x");
    for tasks in [None, Some("# words\n")] {
        fs_err::remove_file(project.path("tasks.md")).unwrap();
        if let Some(text) = tasks {
            project.write("tasks.md", text);
        }
        for args in [&["next"][..], &["status"], &["run", "--dry-run"]] {
            let done = project.ralph(args).code(2);
            assert!(
                done.out.is_empty() && done.err.contains("error: tasks.md: There "),
                "{args:?}: {}{}",
                done.out,
                done.err
            );
            assert!(done.err.contains("hint: "), "{}", done.err);
        }
        project.write("tasks.md", "");
    }
}

#[test]
fn init_writes_a_workspace_that_works_and_never_overwrites() {
    let project = Project::empty();
    project.package("src/app");
    project.write("tasks.md", "- [ ] 1. One\n");
    let done = project.ralph(&["init"]).code(0);
    assert!(
        done.out.contains("wrote") && done.out.contains("next:"),
        "{}",
        done.out
    );
    let first = project.read(".ralph/config.yaml");
    let check = project.ralph(&["check"]).code(1);
    assert!(
        check
            .out
            .contains("No agent is configured for the role worker."),
        "{}",
        check.out
    );
    assert_eq!(check.out.matches("error:").count(), 1, "{}", check.out);
    assert_eq!(project.read(".ralph/.gitignore"), "state/\n");

    project.config("");
    project.agent("");
    project.ralph(&["run"]).code(0);
    project.write(".ralph/prompts/worker.md", "own words {{ task_text }}\n");
    let before = project.files();
    assert!(!project.ralph(&["init"]).code(0).out.contains("wrote"));
    let refused = project.ralph(&["init", "--agent", "claude"]).code(2).err;
    assert!(
        refused.contains("--agent: There is a .ralph/config.yaml already"),
        "{refused}"
    );
    assert!(project.files() == before);

    fs_err::remove_file(project.path(".ralph/config.yaml")).unwrap();
    project.ralph(&["init", "--agent", "claude"]).code(0);
    assert!(
        project
            .read(".ralph/config.yaml")
            .contains("default: {preset: claude}")
    );
    let without_agent = project.read(".ralph/config.yaml").replacen(
        "agents:\n  default: {preset: claude}\n\n",
        "",
        1,
    );
    assert_eq!(without_agent, first);
    project.ralph(&["reopen", "1.", "--reason", "x"]).code(0);
    let mut check = project.command(&["check"]);
    check.env("PATH", project.path("../home/bin")); // the machine may have a `claude`
    let check = Project::finish(check).code(1);
    assert!(
        check
            .out
            .contains("The program `claude` of the agent `default` was not found."),
        "{}",
        check.out
    );
    let done = project.ralph(&["init", "--agent", "nobody"]).code(2);
    assert!(done.err.contains("hint: presets are: "), "{}", done.err);
}

#[test]
fn the_workspace_is_found_upward_and_by_root() {
    let project = Project::new("- [ ] 1. One\n");
    let mut below = project.command(&["next"]);
    below.current_dir(project.path("src/app"));
    assert_eq!(
        Project::finish(below).code(0).out,
        "task 1  One  (tasks.md:1)\n"
    );
    let mut beside = project.command(&["--root", "ws", "run"]);
    beside.current_dir(project.path(".."));
    Project::finish(beside).code(0);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n");
}

#[test]
fn a_stray_folder_named_ralph_is_no_workspace() {
    let project = Project::new("- [ ] 1. One\n");
    project.write("src/app/.ralph/notes.txt", "somebody's\n");
    fs_err::create_dir_all(project.path("src/app/below/.ralph/config.yaml")).unwrap();
    fs_err::create_dir_all(project.path("src/app/below/deeper")).unwrap();
    let mut below = project.command(&["next"]);
    below.current_dir(project.path("src/app/below/deeper"));
    assert_eq!(
        Project::finish(below).code(0).out,
        "task 1  One  (tasks.md:1)\n"
    );

    let stray = Project::empty();
    stray.write(".ralph/prompts/worker.md", "x\n");
    fs_err::create_dir_all(stray.path("below")).unwrap();
    let mut below = stray.command(&["next"]);
    below.current_dir(stray.path("below"));
    let done = Project::finish(below).code(2);
    assert!(done.err.contains("There is no .ralph/ in "), "{}", done.err);
    let done = stray.ralph(&["next"]).code(2);
    assert!(
        done.err.contains("tasks.md: There is no such file."),
        "its own folder is meant: {}",
        done.err
    );
    fs_err::create_dir(stray.path(".ralph/state")).unwrap();
    let done = stray.ralph(&["next"]).code(2);
    assert!(
        done.err.contains("tasks.md: There is no such file."),
        "{}",
        done.err
    );
}

#[test]
fn progress_is_as_readable_as_any_other_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new("- [ ] 1. One\n");
    project.ralph(&["run"]).code(0);
    let mode = |path: &str| project.path(path).metadata().unwrap().permissions().mode();
    assert_eq!(mode("progress.txt"), mode("tasks.md"), "the umask decides");
    assert_eq!(mode(".ralph/state/journal.jsonl") & 0o777, 0o600);
}

#[test]
fn a_spec_folder_of_its_own_holds_tasks_and_progress() {
    let project = Project::new("- [ ] 9. Not this one\n");
    project.config("spec: specs/one\n");
    project.write("specs/one/tasks.md", "- [ ] 1. One\n");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("specs/one/tasks.md"), "- [x] 1. One\n");
    assert!(project.has("specs/one/progress.txt") && !project.has("progress.txt"));
    assert!(
        project
            .ralph(&["status"])
            .out
            .starts_with("specs/one/tasks.md: 1 of 1")
    );
}
