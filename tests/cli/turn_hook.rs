//! The hook of `templates/hooks` after a user's turn: its output, and the cases without output.

use super::project::Project;
use super::verifier::{NOT_FOUND, Turn};
use assert_cmd::Command as Assert;
use serde_json::{Value, json};

/// A directory with the hook.
struct Session(Project);

impl Session {
    fn new() -> Self {
        let project = Project::empty();
        project.tool(
            "ralph",
            &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_ralph")),
        );
        project.write(
            "hook.sh",
            include_str!("../../templates/hooks/verify-turn.sh"),
        );
        project.write("transcript", "");
        Self(project)
    }

    fn in_git() -> Self {
        let session = Self::new();
        session.0.write("app/a.txt", "old\n");
        session.0.package("app");
        session
    }

    fn hook(&self, verb: &str, env: &[(&str, &str)]) -> String {
        let event =
            json!({"cwd": self.0.path("app"), "transcript_path": self.0.path("transcript")});
        let mut hook = self.0.program("sh");
        hook.arg(self.0.path("hook.sh"))
            .arg(verb)
            .envs(env.iter().copied());
        let output = Assert::from_std(hook)
            .write_stdin(event.to_string())
            .output()
            .unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        let out = String::from_utf8(output.stdout).unwrap();
        match out.as_str() {
            "" => out,
            out => serde_json::from_str::<Value>(out).unwrap()["systemMessage"]
                .as_str()
                .unwrap()
                .to_owned(),
        }
    }

    /// Runs a turn with these changes, and returns the output for the user.
    fn turn(&self, done: impl FnOnce(), turn: Turn, env: &[(&str, &str)]) -> String {
        self.hook("begin", env);
        done();
        let end =
            json!({"type": "assistant", "message": {"content": [], "stop_reason": "end_turn"}});
        let before = self.0.read("transcript");
        self.0.write("transcript", before + &turn.line(&end).0);
        self.hook("claude", env)
    }
}

fn failed(path: &str) -> Turn {
    Turn::default().edit("1", path).ended("1", Some(NOT_FOUND))
}

#[test]
fn an_edit_that_failed_is_shown_where_git_alone_cannot_tell() {
    let session = Session::in_git();
    let project = &session.0;
    // Turn 1 creates a file. Turn 2 cannot edit it.
    let write = || Turn::default().edit("1", "notes.md").ended("1", None);
    assert_eq!(
        session.turn(
            || project.write("app/notes.md", "one\n"),
            write().said("I wrote notes.md."),
            &[]
        ),
        ""
    );
    let shown = session.turn(|| {}, failed("notes.md").said("I edited notes.md."), &[]);
    insta::assert_snapshot!(shown, @r"
    Verifier: 1 file edit failed in this turn and was not repaired:
    - `notes.md` failed (Edit): String to replace not found in file. String: x
    The agent may say otherwise. `git status` and `git diff` show what landed.
    ");
    assert_eq!(
        project.git("app", &["status", "--porcelain"]),
        "?? notes.md",
        "the index is unchanged"
    );
    // A failure after a success on the same file.
    let twice = Turn::default()
        .edit("1", "a.txt")
        .ended("1", None)
        .edit("2", "a.txt")
        .ended("2", Some(NOT_FOUND));
    let shown = session.turn(|| project.write("app/a.txt", "new\n"), twice, &[]);
    assert!(
        shown.contains("`a.txt` changed, but its last edit failed (Edit)"),
        "{shown}"
    );
    // A path outside the repository.
    let outside = project.path("outside.txt");
    let shown = session.turn(|| {}, failed(outside.to_str().unwrap()), &[]);
    assert!(
        shown.contains("outside.txt` failed (Edit) where git cannot tell"),
        "{shown}"
    );
    // A repair by another command, and a refused call.
    let sed = failed("notes.md")
        .call(
            "2",
            "Bash",
            &json!({"command": "sed -i s/one/two/ notes.md"}),
        )
        .ended("2", None);
    assert_eq!(
        session.turn(|| project.write("app/notes.md", "two\n"), sed, &[]),
        ""
    );
    let refused = Turn::default()
        .edit("1", "a.txt")
        .ended("1", Some("InputValidationError: old_string is missing"));
    let shown = session.turn(|| {}, refused, &[]);
    assert!(
        shown.starts_with(
            "Verifier: 1 file edit was refused and reached no file:\n- `a.txt` was not tried"
        ),
        "{shown}"
    );
}

#[test]
fn a_folder_without_git_has_a_footer_too() {
    let session = Session::new();
    fs_err::create_dir_all(session.0.path("app")).unwrap();
    let shown = session.turn(|| {}, failed("a.txt"), &[]);
    assert!(
        shown.contains("- `a.txt` failed (Edit) where git cannot tell: String to replace"),
        "{shown}"
    );
    let good = Turn::default()
        .edit("1", "a.txt")
        .ended("1", None)
        .said("Done.");
    assert_eq!(session.turn(|| {}, good, &[]), "");
}

#[test]
fn the_hook_is_silent_where_the_verifier_is_off() {
    let session = Session::in_git();
    let shown = |env: &[(&str, &str)]| session.turn(|| {}, failed("a.txt"), env);
    assert_eq!(shown(&[("RALPH_VERIFIER", "off")]), "");
    assert_eq!(shown(&[("HERMES_FILE_MUTATION_VERIFIER", " Off ")]), "");
    assert!(shown(&[("HERMES_FILE_MUTATION_VERIFIER", "1")]).contains("a.txt"));
    session.0.write("app/.ralph/config.yaml", "verifier: off\n");
    assert_eq!(shown(&[]), "");
    assert!(
        shown(&[("RALPH_VERIFIER", "block")]).contains("a.txt"),
        "the variable wins over the file"
    );
}
