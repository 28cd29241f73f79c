//! Gates for sessions without a loop: the Stop hook of an agent's turn, and the hooks of a push.

use super::project::{Done, Project};
use assert_cmd::Command as Assert;
use regex_lite::Regex;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const LINT: &str = "gates:\n  LINT: {where: clean, run: [sh, -c, 'test -e good || test -e src/app/good || { echo bad line; exit 1; }']}\n";

/// A workspace in a session of an agent's CLI.
struct Session(Project);

impl Session {
    fn new() -> Self {
        let project = Project::new("- [ ] 1. One\n");
        project.config(LINT);
        Self(project)
    }

    /// The whole workspace is one repository, so commits hold the configuration.
    fn of_one_repository() -> Self {
        let session = Self::new();
        let project = &session.0;
        fs_err::remove_dir_all(project.path("src/app/.git")).unwrap();
        for args in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "start"],
        ] {
            project.git("", args);
        }
        session
    }

    /// Calls the hook with this input.
    fn call(&self, input: &str, env: &[(&str, &str)]) -> Done {
        let mut command = self.0.command(&["gate", "LINT", "--stop-hook"]);
        command.envs(env.iter().copied());
        let output = Assert::from_std(command)
            .write_stdin(input)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The answer to an event; `Null` if the hook is silent.
    #[track_caller]
    fn event(&self, name: &str, is_active: bool) -> Value {
        let input = json!({"session_id": "s", "cwd": self.0.path("src/app"), "hook_event_name": name,
            "stop_hook_active": is_active, "transcript_path": "/nowhere"});
        let done = self.call(&input.to_string(), &[]).code(0);
        match done.out.as_str() {
            "" => Value::Null,
            out => serde_json::from_str(out).unwrap(),
        }
    }

    /// The reason of a block.
    #[track_caller]
    fn blocked(&self, is_active: bool) -> String {
        let answer = self.event("Stop", is_active);
        assert_eq!(answer["decision"], "block", "{answer}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// The footer of a turn that may end.
    #[track_caller]
    fn let_go(&self, is_active: bool) -> String {
        let answer = self.event("Stop", is_active);
        assert_eq!(answer["decision"], Value::Null, "{answer}");
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

#[test]
fn the_end_of_a_turn_is_blocked_until_the_gate_passes_on_uncommitted_work() {
    let session = Session::new();
    let project = &session.0;
    assert_eq!(session.event("UserPromptSubmit", false), Value::Null);
    assert_eq!(session.let_go(false), "", "nothing changed");
    project.write("src/app/src/main/a.txt", "work\n");
    project.git("src/app", &["add", "src/main/a.txt"]);
    let before = project.git("src/app", &["status", "--porcelain"]);
    let reason = session.blocked(false);
    assert!(
        reason.starts_with("LINT FAIL — The gate LINT fails in package app.")
            && reason.contains("bad line"),
        "{reason}"
    );
    let footer = session.let_go(true);
    assert!(
        footer.starts_with("LINT FAIL") && footer.ends_with("No file changed since then."),
        "{footer}"
    );
    project.write("src/app/good", "");
    assert_eq!(session.let_go(true), "LINT PASS");
    fs_err::remove_file(project.path("src/app/good")).unwrap();
    assert_eq!(project.git("src/app", &["status", "--porcelain"]), before);
    assert_eq!(project.git("src/app", &["for-each-ref", "refs/ralph"]), "");
    assert!(!project.has(".ralph/state/journal.jsonl"));
}

#[test]
fn commits_of_the_turn_are_judged_and_those_before_it_are_not() {
    let session = Session::new();
    let project = &session.0;
    let commit = |file: &str| {
        project.write(&format!("src/app/src/main/{file}"), "work\n");
        project.git("src/app", &["add", "--all"]);
        project.git("src/app", &["commit", "--quiet", "--message", file]);
    };
    commit("before.txt");
    session.event("UserPromptSubmit", false);
    assert_eq!(session.let_go(false), "");
    commit("turn.txt");
    assert!(session.blocked(false).contains("LINT FAIL"));
}

#[test]
fn three_blocks_in_a_row_are_the_most() {
    let session = Session::new();
    session.event("UserPromptSubmit", false);
    let change = |number: usize| {
        let text = number.to_string();
        session.0.write("src/app/src/main/a.txt", text);
    };
    change(0);
    session.blocked(false);
    for number in 1..3 {
        change(number);
        session.blocked(true);
    }
    change(3);
    assert!(session.let_go(true).starts_with("LINT FAIL"));
    change(4);
    assert!(session.let_go(true).starts_with("LINT FAIL"));
    session.event("UserPromptSubmit", false);
    session.blocked(false);
}

#[test]
fn a_set_up_that_does_not_work_never_blocks() {
    let session = Session::new();
    let project = &session.0;
    project.write("src/app/src/main/a.txt", "work\n");
    let stop = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
    let quiet = |input: &str, env: &[(&str, &str)]| {
        let done = session.call(input, env).code(0);
        let answer: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(answer["decision"], Value::Null, "{answer}");
        answer["systemMessage"].as_str().unwrap().to_owned()
    };
    for input in ["", "no JSON", "7"] {
        assert!(
            quiet(input, &[]).contains("input cannot be read"),
            "{input}"
        );
    }
    assert!(quiet(stop, &[("RALPH_THRESHOLD", "much")]).contains("RALPH_THRESHOLD"));
    project.config("gates:\n  LINT: {where: clean, run: [no-such-program]}\n");
    assert!(quiet(stop, &[]).starts_with("LINT ERROR"));
    project.write(".ralph/config.yaml", "gates: [");
    assert!(quiet(stop, &[]).contains("config.yaml"));
    fs_err::remove_dir_all(project.path(".ralph")).unwrap();
    assert_eq!(session.call(stop, &[]).code(0).out, "", "no workspace");
    let active = r#"{"session_id":"other","hook_event_name":"Stop","stop_hook_active":true}"#;
    project.config(LINT);
    assert!(quiet(active, &[]).contains("no record of this turn"));
}

#[test]
fn an_agent_does_not_change_its_judge() {
    let session = Session::of_one_repository();
    let project = &session.0;
    session.event("UserPromptSubmit", false);
    project.write("src/app/src/main/a.txt", "work\n");
    project.config("gates:\n  LINT: {run: ['true']}\n");
    assert!(session.blocked(false).contains("LINT FAIL"));
    project.git("", &["add", "--all"]);
    project.git("", &["commit", "--quiet", "--message", "work"]);
    // The tree is another one: its configuration is now part of HEAD.
    project.write("src/app/src/main/a.txt", "more\n");
    assert!(session.blocked(true).contains("LINT FAIL"));
    project.write(".ralph/config.yaml", "gates: [");
    project.git("", &["commit", "--quiet", "--all", "--message", "broken"]);
    assert!(session.blocked(true).contains("LINT FAIL"));
}

#[test]
fn the_plugin_has_the_scripts_of_the_hooks() {
    for script in ["verify-turn.sh", "stop-gate.sh"] {
        let read = |folder: &str| {
            let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates");
            fs_err::read_to_string(root.join(folder).join(script)).unwrap()
        };
        assert_eq!(read("hooks"), read("claude-plugin/scripts"), "{script}");
    }
}

#[test]
fn the_skills_name_commands_that_exist() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/claude-plugin/skills");
    let project = Project::empty();
    let command = Regex::new("`ralph ([^`]*)`").unwrap();
    for skill in ["write-a-spec-with-gates", "kill-survivors-honestly"] {
        let text = fs_err::read_to_string(skills.join(skill).join("SKILL.md")).unwrap();
        assert!(command.is_match(&text), "{text}");
        for line in command.captures_iter(&text) {
            // clap reads the arguments before `--help` first, and refuses values that do not exist.
            let args: Vec<&str> = line[1].split(' ').chain(["--help"]).collect();
            project.ralph(&args).code(0);
        }
    }
}

#[test]
fn the_hook_for_hosts_is_silent_without_ralph() {
    let session = Session::new();
    let project = &session.0;
    let hook = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/hooks/stop-gate.sh");
    let call = |path: Option<&str>| {
        let mut sh = project.program("sh");
        sh.arg(hook).current_dir(project.path(""));
        if let Some(path) = path {
            sh.env("PATH", path);
        }
        let stop = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
        let output = Assert::from_std(sh).write_stdin(stop).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    project.write("src/app/src/main/a.txt", "work\n");
    assert_eq!(call(Some("/nowhere:/bin:/usr/bin")), "");
    project.tool("ralph", "echo usage >&2; exit 2");
    assert_eq!(call(None), "", "an old ralph knows no --stop-hook");
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.tool("ralph", &format!("exec {ralph} \"$@\""));
    assert!(call(None).contains(r#""decision":"block""#));
}

/// A repository with its workspace, and a bare one that is its remote.
fn with_remote() -> Session {
    let session = Session::of_one_repository();
    let project = &session.0;
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.tool("ralph", &format!("exec {ralph} \"$@\""));
    project.git("", &["clone", "--quiet", "--bare", ".", "../remote.git"]);
    project.git("", &["remote", "add", "origin", "../remote.git"]);
    project.git("", &["fetch", "--quiet", "origin"]);
    session
}

fn install(project: &Project, hook: &str, into: &str) {
    let templates = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/hooks");
    let to = project.path(into).join(hook);
    fs_err::copy(PathBuf::from(templates).join(hook), &to).unwrap();
    fs_err::set_permissions(to, PermissionsExt::from_mode(0o755)).unwrap();
}

fn push(project: &Project, args: &[&str]) -> Done {
    let mut git = project.program("git");
    git.arg("push").args(args).current_dir(project.path(""));
    Project::finish(git)
}

fn commit(project: &Project, file: &str) {
    project.write(&format!("src/app/{file}"), file);
    project.git("", &["add", "src"]);
    project.git("", &["commit", "--quiet", "--message", file]);
}

#[test]
fn a_push_goes_out_only_after_its_commits_passed() {
    let session = with_remote();
    let project = &session.0;
    install(project, "pre-push", ".git/hooks");
    let before = project.git("", &["ls-remote", "origin"]);
    commit(project, "src/main/a.txt");
    // An uncommitted file does not help.
    project.write("src/app/good", "");
    let done = push(project, &["origin", "main"]).code(1);
    assert!(
        done.out.contains("LINT FAIL") || done.err.contains("LINT FAIL"),
        "{} {}",
        done.out,
        done.err
    );
    assert!(
        done.err.contains("The push of refs/heads/main is refused."),
        "{}",
        done.err
    );
    assert_eq!(project.git("", &["ls-remote", "origin"]), before);
    let new = push(project, &["origin", "HEAD:refs/heads/new"]).code(1);
    assert!(
        new.err.contains("name the base with `--since REV`"),
        "{}",
        new.err
    );
    commit(project, "good");
    push(project, &["origin", "main"]).code(0);
    assert_ne!(project.git("", &["ls-remote", "origin"]), before);
    project.git("", &["remote", "set-head", "origin", "main"]);
    push(project, &["origin", "HEAD:refs/heads/new"]).code(0);
    push(project, &["origin", ":refs/heads/new"]).code(0);
}

#[test]
fn a_bare_repository_forwards_only_what_passed() {
    let session = with_remote();
    let project = &session.0;
    project.git(
        "",
        &["clone", "--quiet", "--bare", "../remote.git", "../gate.git"],
    );
    project.git(
        "../gate.git",
        &[
            "remote",
            "set-url",
            "origin",
            project.path("../remote.git").to_str().unwrap(),
        ],
    );
    install(project, "pre-receive", "../gate.git/hooks");
    project.git("", &["remote", "add", "gate", "../gate.git"]);
    let heads = || {
        ["../remote.git", "../gate.git"].map(|folder| project.git(folder, &["rev-parse", "main"]))
    };
    let before = heads();
    commit(project, "src/main/a.txt");
    let done = push(project, &["gate", "main"]).code(1);
    assert!(done.err.contains("LINT FAIL"), "{}", done.err);
    assert_eq!(heads(), before);
    commit(project, "good");
    push(project, &["gate", "main"]).code(0);
    let head = project.git("", &["rev-parse", "HEAD"]);
    assert_eq!(heads(), [head.clone(), head]);
    push(project, &["gate", "HEAD:refs/heads/new"]).code(0);
    assert!(project.git("../remote.git", &["branch"]).contains("new"));
    push(project, &["gate", ":refs/heads/new"]).code(1);
}
