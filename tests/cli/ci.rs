//! The files of `templates/ci`: their YAML fits the published schemas, and their steps do as their comments say.

use super::project::{Done, Project};
use crate::support::needs::tests;
use crate::support::tools;
use assert_cmd::Command;
use serde_yaml::Value;
use std::path::{Path, PathBuf};

tests! {
    nothing: [
        inputs_are_variables_of_a_step_and_never_its_code,
        the_gate_of_a_pull_request_shows_its_verdict_as_an_annotation,
        a_merge_queue_and_a_merge_train_judge_what_they_add,
        an_action_that_is_named_by_reference_brings_its_ralph,
        a_comment_shows_the_newest_result_and_no_markup_of_a_fork,
        a_wave_of_lanes_is_planned_done_and_joined,
        the_same_wave_of_gitlab_ends_alike,
        a_bundle_is_replayed_in_parts_that_are_joined_and_reported,
        the_same_steps_of_gitlab_end_alike,
    ]
    scripts: [
        the_files_fit_the_published_schemas,
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/ci")
}

pub(super) fn text(path: &str) -> String {
    fs_err::read_to_string(folder().join(path)).unwrap()
}

/// Returns the component's description, and its jobs with the inputs' defaults inserted as GitLab does.
fn component(name: &str) -> (String, String) {
    let file = text(&format!("gitlab/{name}.yml"));
    let (head, jobs) = file.split_once("\n---\n").unwrap();
    let inputs: Value = serde_yaml::from_str(head).unwrap();
    let mut jobs = jobs.to_owned();
    for (name, input) in inputs["spec"]["inputs"].as_mapping().unwrap() {
        let default = match &input["default"] {
            Value::Number(number) => number.to_string(),
            Value::String(text) if !text.is_empty() => text.clone(),
            _ => "\"\"".to_owned(),
        };
        let default = if name == "image" {
            "example/ralph"
        } else {
            &default
        };
        jobs = jobs.replace(
            &format!("$[[ inputs.{} ]]", name.as_str().unwrap()),
            default,
        );
    }
    assert!(!jobs.contains("$[["), "{jobs}");
    (head.to_owned(), jobs)
}

/// Returns the step of an action with this name.
fn step(action: &str, name: &str) -> Value {
    let action: Value = serde_yaml::from_str(&text(action)).unwrap();
    let steps = action["runs"]["steps"].as_sequence().unwrap().clone();
    steps.into_iter().find(|step| step["name"] == name).unwrap()
}

/// Runs a step as the runner does, with these variables.
fn run(project: &Project, step: &Value, given: &[(&str, &str)]) -> Done {
    let script = step["run"].as_str().unwrap();
    let mut bash = shell(project, script, given);
    for (name, _) in step["env"].as_mapping().unwrap() {
        let name = name.as_str().unwrap();
        let value = given
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value);
        bash.env(name, value);
    }
    Project::finish(bash)
}

/// Builds `bash --noprofile --norc -eo pipefail`, as runners call it.
fn shell(project: &Project, script: &str, given: &[(&str, &str)]) -> std::process::Command {
    project.tool(
        "ralph",
        &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_ralph")),
    );
    let mut bash = project.program("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(project.path(""));
    bash.env("GIT_CONFIG_GLOBAL", project.path("../home/gitconfig"));
    bash.env("GITHUB_STEP_SUMMARY", project.path("../home/summary"));
    bash.env("GITHUB_ACTION_PATH", folder().join("github/gate"));
    bash.envs(given.iter().copied());
    bash
}

fn inputs_are_variables_of_a_step_and_never_its_code() {
    let mut seen = 0;
    for file in [
        "gate/action.yml",
        "gate/comment/action.yml",
        "replay/action.yml",
        "gate.yml",
        "gate-comment.yml",
        "replay.yml",
        "lanes.yml",
        "../../../.github/workflows/release.yml",
        "../../../.github/workflows/macos.yml",
    ] {
        let file: Value = serde_yaml::from_str(&text(&format!("github/{file}"))).unwrap();
        let jobs = file["jobs"]
            .as_mapping()
            .into_iter()
            .flat_map(|jobs| jobs.values());
        for steps in jobs
            .map(|job| &job["steps"])
            .chain([&file["runs"]["steps"]])
        {
            for script in steps
                .as_sequence()
                .into_iter()
                .flatten()
                .filter_map(|step| step["run"].as_str())
            {
                assert!(!script.contains("${{"), "{script}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 28);
}

/// Returns a package with a gate that needs a second line in its file.
fn judged() -> Project {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT g\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'test $(grep -c . src/main/1.txt) -gt 1']}\n");
    project.ralph(&["run"]).code(0);
    project
}

fn the_gate_of_a_pull_request_shows_its_verdict_as_an_annotation() {
    let project = judged();
    let gate = step("github/gate/action.yml", "Gate");
    let given = |since| {
        [
            ("GATE", "LINT"),
            ("SINCE", since),
            ("ROOT", "."),
            ("FAIL_ON_SKIP", "true"),
            ("RESULT", "ralph-gate.txt"),
        ]
    };
    let passed = run(&project, &gate, &given("HEAD~1")).code(0);
    assert!(
        passed.out.starts_with("::notice title=LINT PASS::"),
        "{}",
        passed.out
    );
    let nothing = run(&project, &gate, &given("HEAD")).code(1);
    assert!(
        nothing.out.starts_with("::error title=LINT SKIP::"),
        "{}",
        nothing.out
    );
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 1']}\n");
    let failed = run(&project, &gate, &given("HEAD~1")).code(1);
    assert!(
        failed
            .out
            .starts_with("::error file=src/app/src/main/1.txt,line=1,title=LINT FAIL::"),
        "{}",
        failed.out
    );
    let summary = fs_err::read_to_string(project.path("../home/summary")).unwrap();
    assert!(
        summary.starts_with("```text\nLINT PASS: ")
            && summary.contains("\nsrc/app/src/main/1.txt:1: LINT FAIL: "),
        "{summary}"
    );
    run(&project, &gate, &given("$(touch hit)")).code(2);
    assert!(!project.has("hit"), "a revision is no code");
}

fn an_action_that_is_named_by_reference_brings_its_ralph() {
    let project = Project::empty();
    let steps =
        ["github/gate/action.yml", "github/replay/action.yml"].map(|file| step(file, "Install"));
    assert_eq!(steps[0], steps[1]);
    let given = [
        ("ACTION_REPOSITORY", "octo/ralph"),
        ("ACTION_REF", "v0.2.0"),
        ("GITHUB_SERVER_URL", "https://github.com"),
    ];
    project.tool(
        "curl",
        "echo \"echo $2 > $ws/asked; mkdir -p \\$RALPH_INSTALL_DIR\"",
    );
    let install = |given: &[(&str, &str)]| {
        let mut bash = project.program("bash");
        bash.args(["-eo", "pipefail", "-c", steps[0]["run"].as_str().unwrap()]);
        bash.envs(given.iter().copied())
            .env("GITHUB_PATH", project.path("path"));
        Project::finish(bash)
    };
    install(&given).code(0);
    let address = "https://github.com/octo/ralph/releases/download/v0.2.0/install.sh\n";
    assert_eq!(project.read("asked"), address);
    assert!(project.read("path").ends_with("/home/.local/bin\n"));
    fs_err::remove_file(project.path("asked")).unwrap();
    let copied = install(&[("ACTION_REPOSITORY", "")]).code(2);
    assert!(
        copied.out.contains("ralph is not on the PATH."),
        "{}",
        copied.out
    );
    project.tool("curl", "exit 22");
    install(&given).code(22);
    project.tool("ralph", "");
    install(&given).code(0);
    assert!(!project.has("asked"));
}

fn a_comment_shows_the_newest_result_and_no_markup_of_a_fork() {
    let project = Project::empty();
    // Answers with the file of the same kind, and records its arguments.
    let gh = "printf '%s\\n' \"$*\" >> $ws/calls\n\
        for word; do case $word in body=@*) cp \"${word#body=@}\" $ws/body ;; esac; done\n\
        case $* in *PATCH*|*POST*) ;; */pulls*) cat $ws/pulls ;; *) cat $ws/comments ;; esac";
    project.tool("gh", gh);
    project.write("pulls", "7\n");
    project.write("comments", "");
    let comment = step("github/gate/comment/action.yml", "Comment");
    let path = folder().join("github/gate/comment");
    let given = [
        ("REPOSITORY", "octo/app"),
        ("HEAD_OWNER", "fork"),
        ("HEAD_BRANCH", "x&state=closed"),
        ("HEAD_SHA", "abc"),
        ("CONCLUSION", "failure"),
        ("RUN_URL", "https://example.org/run"),
        ("RESULT", "ralph-gate.txt"),
        ("GITHUB_ACTION_PATH", path.to_str().unwrap()),
    ];
    project.write(
        "ralph-gate.txt",
        "::error file=a,line=1,title=LINT FAIL::```%0A@team <img src=x>\u{1b}[1m\n",
    );
    run(&project, &comment, &given).code(0);
    let body = project.read("body");
    assert_eq!(
        body,
        "<!-- ralph gate -->\n**ralph gate: failure** for abc ([run](https://example.org/run))\n\n\
         ```text\na:1: LINT FAIL: '''\n    @team <img src=x>[1m\n```\n"
    );
    let calls = project.read("calls");
    assert!(calls.contains("head=fork:x&state=closed --jq"), "{calls}");
    assert!(
        calls.contains("--method POST repos/octo/app/issues/7/comments -F body=@"),
        "{calls}"
    );

    project.write("comments", "42\n43\n");
    fs_err::remove_file(project.path("ralph-gate.txt")).unwrap();
    run(&project, &comment, &given).code(0);
    let calls = project.read("calls");
    assert!(
        calls.contains("--method PATCH repos/octo/app/issues/comments/42 -F body=@"),
        "{calls}"
    );
    assert!(project.read("body").ends_with("The gate left no result.\n"));

    let workflow: Value = serde_yaml::from_str(&text("github/gate-comment.yml")).unwrap();
    let steps = workflow["jobs"]["comment"]["steps"].as_sequence().unwrap();
    let folder = steps[1]["with"]["path"].as_str().unwrap();
    assert!(!folder.is_empty() && !folder.starts_with('.'), "{folder}");
    let result = steps[2]["with"]["result"].as_str().unwrap();
    assert_eq!(result, format!("{folder}/ralph-gate.txt"));

    // A newer commit was pushed, or the pull request is closed.
    project.write("pulls", "");
    project.write("calls", "");
    run(&project, &comment, &given).code(0);
    assert_eq!(project.read("calls").lines().count(), 1);
}

/// Three commits: the base, what others merged into the target branch, and the merge of this branch.
fn a_merge_queue_and_a_merge_train_judge_what_they_add() {
    let project = judged();
    let git = |args: &[&str]| project.git("src/app", args);
    let base = git(&["rev-parse", "HEAD"]);
    // The target branch fails the gate already; this branch adds a note.
    project.write("src/app/src/main/1.txt", "one line\n");
    git(&["commit", "--quiet", "--all", "--message", "of others"]);
    let target = git(&["rev-parse", "HEAD"]);
    git(&["checkout", "--quiet", "-b", "branch", &base]);
    project.write("src/app/note.txt", "note\n");
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "note"]);
    git(&["checkout", "--quiet", "main"]);
    git(&["merge", "--quiet", "--no-edit", "branch"]);
    project.config("gates:\n  LINT: {run: [sh, -c, 'cat $RALPH_CHANGED_FILES >&2; exit 1']}\n");

    let workflow: Value = serde_yaml::from_str(&text("github/gate.yml")).unwrap();
    let events = workflow["on"].as_mapping().unwrap();
    assert!(events.contains_key("merge_group") && events.contains_key("pull_request"));
    let gate = step("github/gate/action.yml", "Gate");
    let since = gate["env"]["SINCE"].as_str().unwrap();
    assert!(
        since.contains("|| github.event.merge_group.base_sha ||"),
        "{since}"
    );
    let given = [
        ("GATE", "LINT"),
        ("SINCE", &*target),
        ("ROOT", "."),
        ("FAIL_ON_SKIP", "true"),
        ("RESULT", "ralph-gate.txt"),
    ];
    let queue = run(&project, &gate, &given).code(1);
    assert!(
        queue.out.contains("note.txt") && !queue.out.contains("1.txt"),
        "{}",
        queue.out
    );

    let jobs: Value = serde_yaml::from_str(&component("ralph").1).unwrap();
    let script = jobs["ralph-gate"]["script"][0].as_str().unwrap();
    let train = [
        ("GATE", "LINT"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*base),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &*target),
    ];
    Project::finish(shell(&project, script, &train)).code(1);
    let quality = project.read("gl-code-quality-report.json");
    assert!(
        quality.contains("note.txt") && !quality.contains("1.txt"),
        "{quality}"
    );
}

fn a_bundle_is_replayed_in_parts_that_are_joined_and_reported() {
    let project = judged();
    let head = project.ralph(&["replay", "--json"]).json()[0]["head"]
        .as_str()
        .unwrap()
        .to_owned();
    project.ralph(&["bundle", "ralph-run.tar"]).code(0);
    let plan: Value = serde_yaml::from_str(&text("github/replay.yml")).unwrap();
    let plan = plan["jobs"]["plan"]["steps"][1]["run"].as_str().unwrap();
    let output = project.path("../home/output");
    let of_plan = [("GITHUB_OUTPUT", output.to_str().unwrap())];
    Project::finish(shell(&project, plan, &of_plan)).code(0);
    let matrix = fs_err::read_to_string(&output).unwrap();
    let matrix: Value = serde_yaml::from_str(matrix.strip_prefix("matrix=").unwrap()).unwrap();
    let shards: Vec<&str> = matrix["shard"]
        .as_sequence()
        .unwrap()
        .iter()
        .map(|shard| shard.as_str().unwrap())
        .collect();
    assert_eq!(shards, ["1/2", "2/2"], "one for each verdict");

    let replay = step("github/replay/action.yml", "Replay");
    let bundle = ("BUNDLE", "ralph-run.tar");
    fs_err::create_dir(project.path("parts")).unwrap();
    run(
        &project,
        &replay,
        &[bundle, ("SHARD", shards[0]), ("RESULT", "parts/1.json")],
    )
    .code(0);
    let joined = [
        bundle,
        ("PARTS", "parts"),
        ("ANCHOR", &*head),
        ("RESULT", "ralph-replay.json"),
    ];
    let missing = run(&project, &replay, &joined).code(3);
    assert!(
        missing
            .out
            .contains("::warning title=ralph replay::No part holds"),
        "{}",
        missing.out
    );
    run(
        &project,
        &replay,
        &[bundle, ("SHARD", shards[1]), ("RESULT", "parts/2.json")],
    )
    .code(0);
    let equal = run(&project, &replay, &joined).code(0);
    assert!(
        equal.out.ends_with(
            "::notice title=ralph replay::Equal: every decision was made again from its evidence.\n"
        ),
        "{}",
        equal.out
    );
    let summary = fs_err::read_to_string(project.path("../home/summary")).unwrap();
    assert!(
        summary.starts_with("### Complete: 2 of 2 required boxes") && summary.contains("1.LINT"),
        "{summary}"
    );
    let another = [
        bundle,
        ("ANCHOR", &*"0".repeat(64)),
        ("RESULT", "ralph-replay.json"),
    ];
    let cut = run(&project, &replay, &another).code(1);
    assert!(
        cut.out.contains("::error title=ralph replay::None of the"),
        "{}",
        cut.out
    );
}

fn the_same_steps_of_gitlab_end_alike() {
    let project = judged();
    project.ralph(&["bundle", "ralph-run.tar"]).code(0);
    let jobs: Value = serde_yaml::from_str(&component("ralph").1).unwrap();
    let call = |job: &str, given: &[(&str, &str)]| {
        let lines = jobs[job]["script"]
            .as_sequence()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap());
        let script = lines.collect::<Vec<_>>().join("\n");
        let mut bash = shell(&project, &script, given);
        for (name, value) in jobs[job]["variables"].as_mapping().unwrap() {
            let (name, value) = (name.as_str().unwrap(), value.as_str().unwrap());
            if !given.iter().any(|(key, _)| *key == name) {
                bash.env(name, value);
            }
        }
        Project::finish(bash)
    };
    call(
        "ralph-gate",
        &[
            ("GATE", "LINT"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD~1"),
        ],
    )
    .code(0);
    let quality: Value =
        serde_yaml::from_str(&project.read("gl-code-quality-report.json")).unwrap();
    assert!(quality.as_sequence().is_some(), "{quality:?}");
    let total = jobs["ralph-again"]["parallel"].as_u64().unwrap();
    for index in 1..=total {
        let (index, total) = (index.to_string(), total.to_string());
        call(
            "ralph-again",
            &[("CI_NODE_INDEX", &*index), ("CI_NODE_TOTAL", &*total)],
        )
        .code(0);
    }
    call("ralph-replay", &[]).code(0);
    assert!(project.read("ralph-report.md").contains("LINT"));
    fs_err::remove_file(project.path("parts/1.json")).unwrap();
    call("ralph-replay", &[]).code(3);
}

/// Returns a workspace that is one repository, with two tasks that need nothing and one that needs both.
pub(super) fn workspace_of_one_repository() -> Project {
    let project = Project::new("- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. Three\n");
    fs_err::remove_dir_all(project.path("src")).unwrap();
    let agent = "set -eu\ncat > /dev/null\ncd \"$RALPH_WORKSPACE\"\necho x > \"${RALPH_TASK}txt\"\n\
        git add \"${RALPH_TASK}txt\"\n\
        git -c user.name=A -c user.email=a@example.org commit --quiet --message \"$RALPH_TASK\"\n";
    project.write("agent.sh", agent);
    project.write(".gitignore", "/.ralph/state/\n");
    project.write("README.md", "a package\n");
    project.git("", &["init", "--quiet", "--initial-branch", "main"]);
    project.git("", &["add", "--all"]);
    project.git("", &["commit", "--quiet", "--message", "start"]);
    project
}

/// Clones the workspace next to it, as a job does.
pub(super) fn check_out(project: &Project, name: &str) -> PathBuf {
    let folder = project.path("..").join(name);
    project.git("", &["clone", "--quiet", ".", folder.to_str().unwrap()]);
    folder
}

/// Checks a job that merged the work of tasks 1 and 2 and did task 3 itself.
#[track_caller]
fn assert_joined(project: &Project, folder: &Path) {
    let progress = fs_err::read_to_string(folder.join("progress.txt")).unwrap();
    assert!(
        progress.contains("lane:1") && progress.contains("lane:2"),
        "{progress}"
    );
    let tasks = fs_err::read_to_string(folder.join("tasks.md")).unwrap();
    assert!(!tasks.contains("[ ]"), "{tasks}");
    let mut replay = project.command(&["replay", "--bundle", "ralph-run.tar"]);
    replay.current_dir(folder);
    Project::finish(replay).code(0);
}

fn a_wave_of_lanes_is_planned_done_and_joined() {
    let project = workspace_of_one_repository();
    let workflow: Value = serde_yaml::from_str(&text("github/lanes.yml")).unwrap();
    // Runs the scripts of a job in a checkout.
    let job = |name: &str, folder: &Path, given: &[(&str, &str)]| {
        for step in workflow["jobs"][name]["steps"].as_sequence().unwrap() {
            if let Some(script) = step["run"].as_str() {
                let mut bash = shell(&project, script, given);
                bash.current_dir(folder);
                Project::finish(bash).code(0);
            }
        }
    };
    let output = project.path("../home/output");
    let plan = check_out(&project, "plan");
    job(
        "plan",
        &plan,
        &[("GITHUB_OUTPUT", output.to_str().unwrap())],
    );
    let matrix = fs_err::read_to_string(&output).unwrap();
    let matrix: Value = serde_yaml::from_str(matrix.strip_prefix("matrix=").unwrap()).unwrap();
    let join = check_out(&project, "join");
    for (index, lane) in matrix["lane"].as_sequence().unwrap().iter().enumerate() {
        let folder = check_out(&project, &format!("job{index}"));
        job("lane", &folder, &[("LANE", lane.as_str().unwrap())]);
        let artifact = join.join(format!("lanes/lane-{index}"));
        fs_err::create_dir_all(&artifact).unwrap();
        fs_err::copy(folder.join("lane.tar"), artifact.join("lane.tar")).unwrap();
    }
    let run = [("GITHUB_RUN_ID", "7"), ("GITHUB_RUN_ATTEMPT", "1")];
    job("join", &join, &run);
    assert_joined(&project, &join);
    let pushed = project.git("", &["show", "ralph/7-1:tasks.md"]);
    assert!(pushed.contains("[x] 3."), "{pushed}");
}

fn the_same_wave_of_gitlab_ends_alike() {
    let project = workspace_of_one_repository();
    let jobs: Value = serde_yaml::from_str(&component("lanes").1).unwrap();
    let run = |job: &str, folder: &Path, given: &[(&str, &str)]| {
        let lines = jobs[job]["script"].as_sequence().unwrap().iter();
        let lines: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
        let mut bash = shell(&project, &lines.join("\n"), given);
        bash.current_dir(folder);
        Project::finish(bash).code(0);
    };
    let join = check_out(&project, "join");
    fs_err::create_dir(join.join("lanes")).unwrap();
    // The last two jobs find no task.
    for index in 1..=jobs["ralph-lane"]["parallel"].as_u64().unwrap() {
        let folder = check_out(&project, &format!("job{index}"));
        run(
            "ralph-lane",
            &folder,
            &[("CI_NODE_INDEX", &*index.to_string())],
        );
        let bundle = format!("lanes/{index}.tar");
        assert_eq!(folder.join(&bundle).is_file(), index <= 2);
        if index <= 2 {
            fs_err::copy(folder.join(&bundle), join.join(&bundle)).unwrap();
        }
    }
    run("ralph-join", &join, &[]);
    assert_joined(&project, &join);
}

fn the_files_fit_the_published_schemas() {
    let packages = ["check-jsonschema==0.39.0"];
    let tools = tools::installed_from_pypi("check-jsonschema-0.39.0", &packages);
    let checker = tools.join("bin/check-jsonschema");
    let check = |schema: &str, files: &[PathBuf]| {
        let mut command = Command::new(&checker);
        command.args(["--builtin-schema", &format!("vendor.{schema}")]);
        if schema == "gitlab-ci" {
            command.args(["--data-transform", schema]);
        }
        command.args(files).assert()
    };
    let actions = ["gate", "gate/comment", "replay"];
    let actions = actions.map(|action| folder().join(format!("github/{action}/action.yml")));
    check("github-actions", &actions).success();
    let mut workflows = ["gate", "gate-comment", "lanes", "replay"]
        .map(|name| folder().join(format!("github/{name}.yml")))
        .to_vec();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows");
    workflows.extend(["release.yml", "macos.yml"].map(|name| own.join(name)));
    check("github-workflows", &workflows).success();
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("gitlab.yml");
    let (_, jobs) = component("ralph");
    for name in ["ralph", "lanes"] {
        let (head, jobs) = component(name);
        for part in [&head, &jobs] {
            fs_err::write(&file, part).unwrap();
            check("gitlab-ci", std::slice::from_ref(&file)).success();
        }
    }
    fs_err::write(&file, jobs.replace("script:", "skript:")).unwrap();
    check("gitlab-ci", std::slice::from_ref(&file)).failure();
}
