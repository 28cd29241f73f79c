//! The verifier of file edits compares an agent's transcript with git, in `ralph verify` and in the loop.

use super::project::{Done, Project};
use assert_cmd::Command as Assert;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A transcript in Claude's format.
#[derive(Default)]
pub(super) struct Turn(pub(super) String);

impl Turn {
    pub(super) fn line(mut self, line: &Value) -> Self {
        writeln!(self.0, "{line}").unwrap();
        self
    }

    pub(super) fn call(self, id: &str, tool: &str, input: &Value) -> Self {
        let part = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        self.line(
            &json!({"type": "assistant", "message": {"role": "assistant", "content": [part]}}),
        )
    }

    pub(super) fn edit(self, id: &str, path: &str) -> Self {
        self.call(
            id,
            "Edit",
            &json!({"file_path": path, "old_string": "x", "new_string": "y"}),
        )
    }

    pub(super) fn ended(self, id: &str, error: Option<&str>) -> Self {
        let mut part =
            json!({"type": "tool_result", "tool_use_id": id, "content": error.unwrap_or("ok")});
        if error.is_some() {
            part["is_error"] = true.into();
        }
        self.line(&json!({"type": "user", "message": {"role": "user", "content": [part]}}))
    }

    /// Prints the end of the turn.
    pub(super) fn finished(self) -> Self {
        self.line(&json!({"type": "result", "subtype": "success", "is_error": false}))
    }

    pub(super) fn said(self, text: &str) -> Self {
        let part = json!({"type": "text", "text": text});
        self.line(
            &json!({"type": "assistant", "message": {"role": "assistant", "content": [part]}}),
        )
    }
}

pub(super) const NOT_FOUND: &str =
    "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>";

/// Runs `ralph verify` in the package `app`, which is a repository without a workspace of its own.
fn verify(project: &Project, args: &[&str], transcript: &str) -> Done {
    let mut command = project.command(&[&["verify"], args].concat());
    command.current_dir(project.path("src/app"));
    let output = Assert::from_std(command)
        .write_stdin(transcript)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done {
        code: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Returns a repository with four files, two of which were changed since.
fn repository() -> Project {
    let project = Project::empty();
    for file in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        project.write(&format!("src/app/{file}"), "old\n");
    }
    project.write("src/app/.gitignore", "ignored/\n");
    project.package("src/app");
    for file in ["a.txt", "c.txt"] {
        project.write(&format!("src/app/{file}"), "new\n");
    }
    project
}

fn batch(project: &Project) -> Turn {
    let mut turn = Turn::default();
    for file in ["a", "b", "c", "d"] {
        turn = turn.edit(
            file,
            project
                .path(format!("src/app/{file}.txt"))
                .to_str()
                .unwrap(),
        );
    }
    turn.ended("d", Some(NOT_FOUND))
        .ended("a", None)
        .ended("c", None)
        .ended("b", Some(NOT_FOUND))
}

#[test]
fn a_batch_of_which_half_failed_is_unresolved() {
    let project = repository();
    let turn = batch(&project)
        .said("All done: edited a.txt, b.txt, c.txt and d.txt.")
        .0;
    let done = verify(&project, &["--from", "claude"], &turn).code(1);
    insta::assert_snapshot!(done.out, @r"
    Verifier: 2 file edits are unresolved. Do not report them as done.
    - `b.txt` failed (Edit): String to replace not found in file. String: x
    - `d.txt` failed (Edit): String to replace not found in file. String: x
    Look at `git status` and `git diff`; make each of these edits, or report that you leave it out.
    ");
    let facts = &verify(&project, &["--from", "amp", "--json"], &turn)
        .code(1)
        .json()[0];
    assert_eq!(
        (&facts["edits"], &facts["unresolved"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(facts["findings"][0]["verdict"], "failed");
}

#[test]
fn what_was_made_good_is_at_most_a_remark() {
    let project = repository();
    let again = batch(&project)
        .edit("5", "b.txt")
        .ended("5", None)
        .call("6", "Bash", &json!({"command": "sed -i s/old/new/ d.txt"}))
        .ended("6", None)
        .said("Edited all files.")
        .finished();
    project.write("src/app/b.txt", "new\n");
    project.write("src/app/d.txt", "new\n");
    let done = verify(&project, &["--from", "claude"], &again.0).code(0);
    assert!(
        done.out
            .contains("`d.txt` changed by other means, perhaps by `sed -i s/old/new/ d.txt`"),
        "{}",
        done.out
    );
    assert!(!done.out.contains("b.txt"), "{}", done.out);
    // Commits change nothing: the turn's start is compared with the work tree.
    project.git(
        "src/app",
        &["commit", "--quiet", "--all", "--message", "all"],
    );
    assert_eq!(
        verify(
            &project,
            &["--from", "claude", "--before", "HEAD~1"],
            &again.0
        )
        .code(0)
        .out,
        done.out
    );
}

#[test]
fn nobody_is_accused_of_what_git_cannot_tell() {
    let project = repository();
    let turn = Turn::default()
        .edit("1", "/tmp/ralph-no-such-file")
        .ended("1", Some(NOT_FOUND))
        .edit("2", "ignored/x")
        .ended("2", Some(NOT_FOUND))
        .edit("3", "a.txt")
        .ended("3", None)
        .said("I read `b.txt`; b.txt was not changed. The build needs `c.txt`.")
        .finished();
    let done = verify(&project, &["--from", "claude"], &turn.0).code(0);
    assert!(
        done.out
            .starts_with("Verifier: no edit is unresolved, 2 remarks."),
        "{}",
        done.out
    );
    let clean = Turn::default()
        .edit("3", "a.txt")
        .ended("3", None)
        .said("Edited a.txt.")
        .finished();
    let done = verify(&project, &["--from", "claude"], &clean.0).code(0);
    assert_eq!(
        (&*done.out, &*done.err),
        ("", "Verifier: 1 edit of 1 file, nothing unresolved.\n")
    );
}

#[test]
fn a_linked_folder_is_no_second_file() {
    let project = repository();
    std::os::unix::fs::symlink(".", project.path("src/app/link")).unwrap();
    let failed = Turn::default()
        .edit("1", "link/a.txt")
        .ended("1", Some(NOT_FOUND));
    let good = failed.edit("2", "a.txt").ended("2", None).finished().0;
    let done = verify(&project, &["--from", "claude"], &good).code(0);
    assert_eq!(
        (&*done.out, &*done.err),
        ("", "Verifier: 2 edits of 1 file, nothing unresolved.\n")
    );
}

#[test]
fn a_claim_without_any_edit_is_unresolved() {
    let project = repository();
    let turn = Turn::default()
        .call("1", "Bash", &json!({"command": "ls"}))
        .ended("1", None);
    let done = verify(
        &project,
        &["--from", "claude"],
        &turn.said("Done: I updated `b.txt`.").0,
    )
    .code(1);
    assert!(
        done.out
            .contains("`b.txt` was claimed as edited, but no tool edited it and it is unchanged."),
        "{}",
        done.out
    );
}

#[test]
fn codex_tells_of_patches_that_do_not_fit_on_standard_error_only() {
    let project = repository();
    let path = project.path("src/app/b.txt");
    let errors = format!(
        "2026-11-21T21:46:05Z ERROR codex_core::tools::router: error=apply_patch verification failed: Failed to \
         find expected lines in {}:\nno such text\n",
        path.display()
    );
    project.write("err.txt", errors);
    let turn = r#"{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"All is done."}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
"#;
    verify(&project, &["--from", "codex"], turn).code(0);
    let errors = project.path("err.txt");
    let done = verify(
        &project,
        &["--from", "codex", "--errors", errors.to_str().unwrap()],
        turn,
    )
    .code(1);
    assert!(
        done.out
            .contains("- `b.txt` failed (apply_patch): apply_patch verification failed"),
        "{}",
        done.out
    );
}

#[test]
fn a_cut_transcript_is_no_yes_and_hides_no_edit_that_failed() {
    let project = repository();
    let cut = || Turn::default().edit("1", "a.txt").ended("1", None);
    let done = verify(&project, &["--from", "claude"], &cut().0).code(3);
    insta::assert_snapshot!(done.err, @r"
    error: The transcript has no end, so later edits are unknown.
    hint: pipe all that the agent printed, up to its exit
    ");
    assert_eq!(done.out, "");
    verify(&project, &["--from", "claude"], &cut().finished().0).code(0);
    let again = cut().finished().edit("2", "c.txt").ended("2", None);
    verify(&project, &["--from", "claude"], &again.0).code(3);
    let failed = cut().edit("2", "b.txt").ended("2", Some(NOT_FOUND));
    let done = verify(&project, &["--from", "claude"], &failed.0).code(1);
    assert!(done.out.contains("`b.txt` failed (Edit)"), "{}", done.out);
    // Hooks print what is known.
    let done = verify(&project, &["--from", "claude", "--for", "people"], &cut().0).code(3);
    assert_eq!((&*done.out, &*done.err), ("", ""));
}

#[test]
fn the_transcript_of_another_cli_is_no_yes() {
    let project = repository();
    let turn = batch(&project).finished().0;
    for other in [
        "codex", "gemini", "copilot", "opencode", "goose", "pi", "hermes",
    ] {
        let done = verify(&project, &["--from", other], &turn).code(3);
        let what = "No line of the transcript is understood.";
        assert!(done.err.contains(what), "{other}: {}", done.err);
    }
}

#[test]
fn what_cannot_be_told_is_no_yes() {
    let project = repository();
    verify(&project, &["--from", "claude"], "").code(3);
    verify(&project, &["--from", "claude"], "no JSON\n{\"half\": ").code(3);
    verify(&project, &["--from", "text"], "").code(2);
    verify(
        &project,
        &["--from", "claude", "--before", "no-such-revision"],
        &batch(&project).0,
    )
    .code(2);
    fs_err::remove_dir_all(project.path("src/app/.git")).unwrap();
    verify(&project, &["--from", "claude"], &batch(&project).0).code(3);
}

/// A session of the real Hermes: patches of f1 and f3 landed, those of f2 and f4 failed, and all four are claimed.
const SESSION: &str = include_str!("../fixtures/transcripts/hermes-batch.jsonl");
/// Its output.
const PRINTED: &str = include_str!("../fixtures/transcripts/hermes-footer.jsonl");

/// Writes the four files, two of them in their final state.
fn after_the_batch(project: &Project) {
    for (file, text) in [
        ("f1.md", "new\n"),
        ("f2.md", "old\n"),
        ("f3.md", "new\n"),
        ("f4.md", "old\n"),
    ] {
        project.write(&format!("src/app/{file}"), text);
    }
}

#[test]
fn hermes_is_verified_by_its_session_or_by_its_footer() {
    let project = Project::empty();
    for file in ["f1.md", "f2.md", "f3.md", "f4.md"] {
        project.write(&format!("src/app/{file}"), "old\n");
    }
    project.package("src/app");
    after_the_batch(&project);
    let done = verify(&project, &["--from", "hermes"], SESSION).code(1);
    insta::assert_snapshot!(done.out, @r"
    Verifier: 2 file edits are unresolved. Do not report them as done.
    - `f2.md` failed (patch): Could not find a match for old_string in the file
    - `f4.md` failed (patch): Could not find a match for old_string in the file
    - An edit that named no file failed (patch): path required
    - `nodir/f1.md/x` was reported as edited (write_file) but is unchanged.
    Look at `git status` and `git diff`; make each of these edits, or report that you leave it out.
    ");
    let done = verify(&project, &["--from", "hermes"], PRINTED).code(1);
    assert!(
        done.out
            .starts_with("Verifier: 2 file edits are unresolved."),
        "{}",
        done.out
    );
    let done = verify(
        &project,
        &["--from", "hermes"],
        "Done. I patched all files.\n",
    )
    .code(3);
    assert!(done.err.contains("hermes sessions export"), "{}", done.err);
}

/// Returns a workspace whose Hermes answers with that session and output, and does half of its work.
fn hermes(session: &str, printed: &str) -> Project {
    let project = Project::new("- [ ] 1. One\n");
    for file in ["f1.md", "f2.md", "f3.md", "f4.md"] {
        project.write(&format!("src/app/{file}"), "old\n");
    }
    project.git("src/app", &["add", "-A"]);
    project.git("src/app", &["commit", "--quiet", "--message", "files"]);
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: hermes}\nlimits: {attempts: 2}\n",
    );
    project.write(
        "session.jsonl",
        session.replace("\\\"path\\\": \\\"f", "\\\"path\\\": \\\"src/app/f"),
    );
    project.write("printed.txt", printed.replace("`f", "`src/app/f"));
    project.tool(
        "hermes",
        "if [ \"$1\" = sessions ]; then echo \"$*\" >> $ws/asked; cat $ws/session.jsonl; exit; fi
         cd $ws/src/app
         for file in f1 f3; do echo $RALPH_ATTEMPT > $file.md; done
         git -c user.name=A -c user.email=a@example.org commit -qam work
         cat $ws/printed.txt; echo; echo 'session_id: 20261126_172159_2624b1' >&2",
    );
    project
}

#[test]
fn hermes_that_over_claims_is_rejected_by_what_it_exports_and_by_what_it_prints() {
    let (_, footer) = PRINTED.split_once("⚠️ ").unwrap();
    let words = PRINTED.replace(footer, "").replace("⚠️ ", "");
    let footer = format!("Done.\n\n⚠️ {footer}");
    for (session, printed, asked) in [
        (SESSION, words.as_str(), true),
        ("Session 'x' not found.\n", &footer, false),
    ] {
        let project = hermes(session, printed);
        project.ralph(&["run"]).code(1);
        assert_eq!(project.story()[0], "1.=REJECTED (attempt 1 of 2)");
        let entry = project.entry(1).lines;
        for file in ["f2.md", "f4.md"] {
            let told = format!(
                "`app/{file}` failed (patch): Could not find a match for old_string in the file"
            );
            assert!(entry.contains(&told), "{entry}");
            assert!(
                project
                    .read(".ralph/state/iter-2/prompt.md")
                    .contains(&told)
            );
        }
        assert!(!entry.contains("`app/f1.md`"), "{entry}");
        let export = "sessions export --format jsonl --session-id 20261126_172159_2624b1 -";
        assert_eq!(project.read("asked").lines().next(), Some(export));
        assert_eq!(
            project.journal().join("\n").contains("\"tokens\":750"),
            asked,
            "what the session used"
        );
    }
}

#[test]
fn a_call_that_was_refused_for_its_arguments_is_named_and_backs_no_claim() {
    let project = repository();
    let refused = "<tool_use_error>InputValidationError: Edit failed due to the following issue: old_string is missing</tool_use_error>";
    let turn = || Turn::default().edit("1", "b.txt").ended("1", Some(refused));
    let done = verify(
        &project,
        &["--from", "claude"],
        &turn().said("I could not do it.").finished().0,
    )
    .code(0);
    assert!(
        done.out
            .contains("- `b.txt` was not tried: its call was refused (Edit)"),
        "{}",
        done.out
    );
    let done = verify(
        &project,
        &["--from", "claude"],
        &turn().said("I edited b.txt.").0,
    )
    .code(1);
    assert!(
        done.out.contains("`b.txt` was claimed as edited"),
        "{}",
        done.out
    );
    let failed = turn().edit("2", "b.txt").ended("2", Some(NOT_FOUND)).0;
    let done = verify(&project, &["--from", "claude"], &failed).code(1);
    assert!(
        done.out
            .contains("`b.txt` failed (Edit): String to replace"),
        "{}",
        done.out
    );
}

#[test]
fn a_path_is_relative_to_where_the_agent_stood() {
    let project = repository();
    project.write("src/app/inner/b.txt", "old\n");
    project.git("src/app", &["add", "-A"]);
    project.git("src/app", &["commit", "--quiet", "--message", "inner"]);
    let turn = Turn::default()
        .edit("1", "b.txt")
        .ended("1", Some(NOT_FOUND))
        .0;
    let mut command = project.command(&["verify", "--from", "claude", "--json"]);
    command.current_dir(project.path("src/app/inner"));
    let output = Assert::from_std(command)
        .write_stdin(turn)
        .output()
        .unwrap();
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["findings"][0]["path"], "inner/b.txt");
}

/// Returns a workspace whose agent prints Claude's events.
///
/// Its first attempt commits one file and claims edits of two. One of them failed.
fn loop_with(config: &str) -> Project {
    let project = Project::new("- [ ] 1. One\n");
    let agent = "agents:\n  default: {command: [sh, agent.sh], format: claude}\n";
    project.write(".ralph/config.yaml", format!("{agent}{config}"));
    let failed = Turn::default()
        .edit("1", "src/app/src/main/new.txt")
        .edit("2", "src/app/README.md")
        .ended("2", Some(NOT_FOUND))
        .ended("1", None)
        .said("All done: edited src/app/src/main/new.txt and src/app/README.md.");
    project.write("failed.jsonl", failed.0);
    let good = Turn::default()
        .edit("1", "src/app/README.md")
        .ended("1", None)
        .said("Done.");
    project.write("good.jsonl", good.0);
    project.agent(
        "1./1) commit app src/main/new.txt; cat failed.jsonl ;;\n1./2) commit app README.md; cat good.jsonl ;;",
    );
    project
}

#[test]
fn an_attempt_that_over_claims_is_rejected_and_the_next_one_is_told() {
    let project = loop_with("");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=REJECTED (attempt 1 of 3)", "1.=ACCEPTED"]
    );
    let told = "`app/README.md` failed (Edit): String to replace not found in file.";
    let entry = project.entry(1).lines;
    assert!(
        entry.contains("Verifier: 1 file edit is unresolved.") && entry.contains(told),
        "{entry}"
    );
    assert!(project.read(".ralph/state/iter-2/prompt.md").contains(told));
    let journal = project.journal().join("\n");
    assert!(
        journal.contains(r#""edits":[{"path":"app/README.md","verdict":"failed""#),
        "{journal}"
    );
    assert!(
        !project.entry(2).lines.contains("Verifier"),
        "{}",
        project.entry(2).lines
    );
}

#[test]
fn warn_names_what_block_rejects_and_off_looks_at_nothing() {
    let project = loop_with("verifier: warn\n");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.story(), ["1.=ACCEPTED"]);
    assert!(
        project.entry(1).lines.contains("`app/README.md` failed"),
        "{}",
        project.entry(1).lines
    );
    let project = loop_with("");
    let mut off = project.command(&["run"]);
    off.env("RALPH_VERIFIER", "off");
    Project::finish(off).code(0);
    assert_eq!(project.story(), ["1.=ACCEPTED"]);
    assert!(!project.journal().join("\n").contains("\"edits\""));
    let project = loop_with("");
    let mut unknown = project.command(&["run"]);
    unknown.env("RALPH_VERIFIER", "maybe");
    Project::finish(unknown).code(2);
}
