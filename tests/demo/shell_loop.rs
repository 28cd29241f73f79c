//! The gate in another loop than ralph's: `tests/shell-loop/loop.sh`.

use super::{cache, entries, root};
use crate::support::needs::tests;
use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

const TASKS: &str = "# Tasks\n\n- [ ] 2. Compute the shipping cost (R2)\n- [ ] 2.PITEST Do the tests kill the mutants?\n";

/// Returns the example with two boxes. It configures no agent, since the loop calls its own.
fn workspace() -> TempDir {
    let folder = TempDir::new().unwrap();
    let example = root().join(".ralph-example");
    for path in [
        "agent.sh",
        "requirements.md",
        "src/orders/.gitignore",
        "src/orders/pom.xml",
    ] {
        let target = folder.path().join(path);
        fs_err::create_dir_all(target.parent().unwrap()).unwrap();
        fs_err::copy(example.join(path), target).unwrap();
    }
    fs_err::create_dir_all(folder.path().join(".ralph")).unwrap();
    fs_err::write(folder.path().join("tasks.md"), TASKS).unwrap();
    let package = folder.path().join("src/orders");
    for args in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "start"],
    ] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
            .args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git.current_dir(&package).assert().success();
    }
    folder
}

fn a_shell_loop_gets_a_fail_that_opens_the_box_then_a_pass() {
    let folder = workspace();
    let scripts = root().join("tests/shell-loop");
    let binary = Path::new(env!("CARGO_BIN_EXE_ralph")).parent().unwrap();
    let (_, path) = std::env::vars().find(|(name, _)| name == "PATH").unwrap();
    let mut shell = Command::new("sh");
    shell
        .arg(scripts.join("loop.sh"))
        .arg("2.")
        .arg("sh")
        .arg(scripts.join("agent.sh"));
    shell
        .env("PATH", format!("{}:{path}", binary.display()))
        .env("XDG_CACHE_HOME", cache());
    let output = shell
        .current_dir(folder.path())
        .write_stdin("")
        .output()
        .unwrap();
    let told = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0), "{told}");
    let rounds: Vec<&str> = told
        .lines()
        .filter(|line| line.starts_with("round "))
        .collect();
    assert_eq!(
        rounds,
        [
            "round 1: the gate's exit code is 1",
            "round 2: the gate's exit code is 0"
        ]
    );

    let text = |path: &str| fs_err::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!(text("tasks.md"), TASKS.replace("[ ]", "[x]"));
    // The agent ticked `2.` and, wrongly, `2.PITEST` in round 1; in round 2 it found both open.
    let open = TASKS.split_once("\n\n").unwrap().1;
    assert_eq!(
        text("boxes.log"),
        format!("{open}---\n{open}---\n"),
        "{told}"
    );

    let verdicts: Vec<_> = entries(&text("progress.txt"))
        .into_iter()
        .filter(|entry| entry.headline.starts_with("PITEST"))
        .collect();
    let [fail, pass] = &verdicts[..] else {
        panic!("two verdicts are due: {verdicts:#?}")
    };
    assert_eq!(
        (fail.task.as_str(), pass.headline.as_str()),
        ("2.PITEST", "PITEST PASS — 100% (18/18)")
    );
    assert!(
        fail.headline.starts_with("PITEST FAIL — "),
        "{}",
        fail.headline
    );
    assert!(
        fail.lines
            .iter()
            .any(|line| line.starts_with("- survivor Shipping.java:13 ")),
        "{:?}",
        fail.lines
    );
}

tests! {
    maven deep: [
        a_shell_loop_gets_a_fail_that_opens_the_box_then_a_pass,
    ]
}
