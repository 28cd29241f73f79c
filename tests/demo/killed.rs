//! `kill -9` while a gate runs: the next run goes on, and says nothing that did not happen.

use super::text::journal;
use super::{entries, ralph};
use assert_cmd::Command;
use tempfile::TempDir;

/// A gate that kills the ralph that runs it, once.
const CONFIG: &str = r#"
agents:
  default: {command: ["sh", "-c", "cd src/p && echo x > x.txt && git add x.txt && git commit -q -m x"]}
gates:
  LINT: {run: ["sh", "LINT_SH"]}
"#;

const LINT: &str = r#"
cd "${0%/*}"
echo run >> lint.log
[ "$(wc -l < lint.log)" -gt 1 ] || kill -9 "$(sed 's/^process \([0-9]*\) .*/\1/' .ralph/state/lock)"
"#;

#[test]
fn a_run_that_was_killed_in_a_gate_goes_on_and_claims_no_edit_of_tasks() {
    let folder = TempDir::new().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    write(".ralph/config.yaml", &CONFIG.replace("LINT_SH", root.join("lint.sh").to_str().unwrap()));
    write("lint.sh", LINT);
    write("tasks.md", "- [ ] 1. Do it\n- [ ] 1.LINT Is it tidy?\n");
    write("src/p/start.txt", "start\n");
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "start"]] {
        let mut git = Command::new("git");
        isolated(&mut git).args(args).current_dir(root.join("src/p")).assert().success();
    }
    let run = || isolated(&mut ralph()).arg("run").current_dir(&root).output().unwrap();
    let first = run();
    assert_eq!(first.status.code(), None, "killed: {}", String::from_utf8_lossy(&first.stderr));
    let second = run();
    let told = String::from_utf8(second.stdout).unwrap();
    assert_eq!(second.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&second.stderr));
    assert!(told.contains("LINT        INTERRUPTED") && told.contains("LINT PASS"), "{told}");
    assert!(!told.contains("put back"), "nobody changed tasks.md: {told}");

    let text = |path: &str| fs_err::read_to_string(root.join(path)).unwrap();
    assert_eq!(text("tasks.md"), "- [x] 1. Do it\n- [x] 1.LINT Is it tidy?\n");
    assert_eq!(text("lint.log"), "run\nrun\n");
    let headlines: Vec<String> =
        entries(&text("progress.txt")).into_iter().map(|entry| entry.headline).collect();
    assert_eq!(headlines, ["ACCEPTED", "INTERRUPTED", "LINT PASS"]);
    let (_, ending) = journal(text(".ralph/state/journal.jsonl").as_bytes()).unwrap();
    assert_eq!((ending.torn, ending.newer), (0, None));
}

/// Without the settings of whoever runs the tests.
fn isolated(command: &mut Command) -> &mut Command {
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Test").env(format!("GIT_{who}_EMAIL"), "test@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1")
}
