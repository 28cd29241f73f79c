//! `ralph deliver`: what git, `gh` and `glab` are called with, and when nothing is sent.

use super::project::{Done, Project};
use serde_json::Value;

/// A finished run of one package on a branch, with a remote whose pushes go to a bare repository.
fn finished(tasks: &str, address: &str) -> Project {
    let project = Project::new(tasks);
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    let git = |args: &[&str]| project.git("src/app", args);
    project.git("", &["init", "--quiet", "--bare", "remote.git"]);
    let bare = project.path("remote.git");
    git(&["remote", "add", "origin", address]);
    git(&["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
    git(&["push", "--quiet", "origin", "main"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(&[
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/main",
    ]);
    git(&["checkout", "--quiet", "-b", "work"]);
    project.ralph(&["run"]).code(0);
    for tool in ["gh", "glab"] {
        project.tool(
            tool,
            &format!(
                "for word; do printf '%s\\n' \"$word\"; done > $ws/{tool}.args\n\
                 for word; do case $word in --body-file=*) cp \"${{word#*=}}\" $ws/body ;; esac; done\n\
                 echo 'Creating…' >&2\necho https://example.org/pull/1"
            ),
        );
    }
    project
}

const GITHUB: &str = "https://user:word@github.com/octo/app.git";

fn branches(project: &Project) -> String {
    project.git(
        "remote.git",
        &["for-each-ref", "--format=%(refname) %(objectname)"],
    )
}

/// Checks that a call sends nothing, and its exit code and reason.
#[track_caller]
fn refused(project: &Project, args: &[&str], code: i32, reason: &str) -> Done {
    let before = branches(project);
    let done = project
        .ralph(&[&["deliver", "--yes"], args].concat())
        .code(code);
    assert!(done.err.contains(reason), "{}", done.err);
    assert_eq!(branches(project), before);
    assert!(!project.has("gh.args") && !project.has("glab.args"));
    done
}

#[test]
fn a_finished_run_is_pushed_and_its_report_is_the_body_of_a_pull_request() {
    let task = "$(touch hit) `x` <b> @team \u{1b}[31m'\"";
    let project = finished(
        &format!("- [ ] 1. {task}\n- [ ] 1.LINT g\n- [ ] 2. Two\n- [ ] 2.LINT g\n"),
        GITHUB,
    );
    let before = (
        branches(&project),
        project.journal(),
        project.read("tasks.md"),
    );
    let dry = project.ralph(&["deliver"]).code(0);
    assert!(
        dry.out.contains("git push -- origin ") && dry.out.contains("gh pr create "),
        "{}",
        dry.out
    );
    assert!(
        dry.out
            .ends_with("Nothing was sent. `ralph deliver --yes` sends it.\n"),
        "{}",
        dry.out
    );
    assert!(
        !dry.out.contains('\u{1b}') && !dry.out.contains("word"),
        "{}",
        dry.out
    );
    assert_eq!(
        (
            branches(&project),
            project.journal(),
            project.read("tasks.md")
        ),
        before
    );

    let done = project.ralph(&["deliver", "--yes"]).code(0);
    assert!(
        done.out.contains("https://example.org/pull/1"),
        "{}",
        done.out
    );
    assert!(branches(&project).contains(&format!("refs/heads/work {}", project.head())));
    let args = project.read("gh.args");
    let args: Vec<&str> = args.lines().collect();
    assert_eq!(
        args[..5],
        [
            "pr",
            "create",
            "--repo=https://github.com/octo/app",
            "--head=work",
            "--base=main"
        ]
    );
    assert!(
        args[5].starts_with("--title=$(touch hit) `x` <b> @team")
            && args[5].ends_with(" (and 1 more)"),
        "{}",
        args[5]
    );
    assert!(
        args[6].starts_with("--body-file=/") && args.len() == 7,
        "{args:?}"
    );
    let body = project.read("body");
    assert!(
        body.starts_with("### Complete: 4 of 4 required boxes"),
        "{body}"
    );
    assert!(
        !body.contains("@team") && !body.contains("<b>") && !body.contains('\u{1b}'),
        "{body}"
    );
    let head = project.ralph(&["replay", "--json"]).json()[0]["head"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        body.contains(&format!("ralph replay --require-anchor {head}")),
        "{body}"
    );
    assert!(!project.has("hit") && !project.has("src/app/hit"));

    let json = project
        .ralph(&["deliver", "--with", "glab", "--branch", "other", "--json"])
        .code(0)
        .json();
    assert_eq!(
        (&json[0]["program"], &json[0]["branch"]),
        (&Value::from("glab"), &Value::from("other"))
    );
    assert_eq!(
        (&json[0]["sent"], &json[0]["pull_request"]),
        (&Value::Bool(false), &Value::Null)
    );
    assert!(
        json[0]["body"]
            .as_str()
            .unwrap()
            .starts_with("### Complete")
    );
}

#[test]
fn gitlab_gets_the_body_as_one_argument() {
    let project = finished("- [ ] 1. One\n", "git@gitlab.com:octo/app.git");
    project.ralph(&["deliver", "--yes"]).code(0);
    let args = project.read("glab.args");
    assert!(
        args.starts_with(
            "mr\ncreate\n--repo=https://gitlab.com/octo/app\n--source-branch=work\n--target-branch=main\n--title=One\n--description=### Complete: 1 of 1"
        ) && args.ends_with("\n--yes\n"),
        "{args}"
    );
}

#[test]
fn what_is_not_finished_or_not_judged_is_not_delivered() {
    let project = finished("- [ ] 1. One\n- [ ] 1.LINT g\n", GITHUB);
    let tasks = project.read("tasks.md");
    project.write("tasks.md", format!("{tasks}- [ ] 2. Two\n"));
    refused(
        &project,
        &[],
        1,
        "The run is not finished: 2 of 3 required boxes are ticked.",
    );
    project.write("tasks.md", format!("{tasks}- [x] 2. Two\n"));
    refused(&project, &[], 1, "Ticked without a record: ");
    project.write("tasks.md", &tasks);

    project.write("src/app/late.txt", "late\n");
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "late"]);
    refused(&project, &[], 1, "1.LINT judged ");
    project.git("src/app", &["reset", "--quiet", "--hard", "HEAD~1"]);

    let journal = project.read(".ralph/state/journal.jsonl");
    project.write(
        ".ralph/state/journal.jsonl",
        journal.replacen("One", "Two", 1),
    );
    let changed = project.ralph(&["deliver", "--yes"]);
    assert!(
        changed.code != 0 && !project.has("gh.args"),
        "{}",
        changed.out
    );
    project.write(".ralph/state/journal.jsonl", journal);

    refused(
        &project,
        &["--branch", "main"],
        2,
        "would be pushed to main itself",
    );
    refused(
        &project,
        &["--branch", "a..b"],
        2,
        "a..b is not a name of a branch.",
    );
    refused(&project, &["--base", "gone"], 2, "gone");
    project.git("src/app", &["checkout", "--quiet", "--detach"]);
    refused(&project, &[], 2, "is on no branch");
    project.git("src/app", &["checkout", "--quiet", "work"]);
    project.git(
        "src/app",
        &[
            "remote",
            "set-url",
            "origin",
            "https://forge.example.org/octo/app",
        ],
    );
    refused(&project, &[], 2, "does not tell its forge");
    project.git("src/app", &["remote", "set-url", "origin", "/somewhere"]);
    refused(
        &project,
        &["--with", "gh"],
        2,
        "/somewhere is not the address of a forge.",
    );
}

#[test]
fn commits_of_a_task_without_a_gate_are_delivered_only_if_ralph_saw_them() {
    let project = finished("- [ ] 1. One\n", GITHUB);
    project.write("src/app/late.txt", "late\n");
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "late"]);
    refused(&project, &[], 1, "No ticked box is about ");
    project.ralph(&["run"]).code(0);
    refused(&project, &[], 1, "No ticked box is about ");
    project.ralph(&["reopen", "1.", "--reason", "late"]).code(0);
    project
        .ralph(&["accept", "1.", "--reason", "looked at it"])
        .code(0);
    project.ralph(&["deliver", "--yes"]).code(0);
    project.git(
        "src/app",
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
    );
    let done = project.ralph(&["deliver", "--yes"]).code(0);
    assert!(
        done.err.contains("No repository has commits"),
        "{}",
        done.err
    );
}

#[test]
fn a_failure_of_a_program_is_shown_and_ends_with_its_own_code() {
    let project = finished("- [ ] 1. One\n", GITHUB);
    project.tool("gh", "printf 'already \\033[31mexists\\n' >&2\nexit 1");
    let failed = project.ralph(&["deliver", "--yes", "--json"]).code(3);
    let facts = &failed.json()[0];
    assert_eq!(facts["sent"], false);
    assert!(
        facts["failure"]
            .as_str()
            .unwrap()
            .starts_with("gh ended with 1: already"),
        "{facts}"
    );
    assert!(!failed.err.contains('\u{1b}'), "{}", failed.err);
    assert!(
        branches(&project).contains("refs/heads/work"),
        "the push came first"
    );
    project.git("src/app", &["config", "remote.origin.pushurl", "/nowhere"]);
    project.tool("gh", "touch $ws/gh.args");
    refused(&project, &[], 3, "git ended with 128");
}
