//! The real Hermes Agent against a scripted model: its preset, its transcript, and its plugin, in one session.

use super::model::{Model, Step};
use super::{CLAUDE, CODEX, Cli, modules};
use crate::cli::project::Project;
use crate::gate::files::python;
use crate::support::needs::tests;
use crate::support::tools;
use assert_cmd::Command;
use std::path::{Path, PathBuf};

tests! {
    scripts deep: [
        hermes_is_a_preset_a_transcript_and_a_host_of_the_plugin,
    ]
    npm deep: [
        the_help_of_the_real_programs_holds_the_flags_of_their_presets,
    ]
}

const VERSION: &str = "0.19.0";

/// Returns a virtual environment without pip that compiles modules on use, in half the usual time.
fn hermes() -> PathBuf {
    tools::installed(&format!("hermes-{VERSION}"), |folder| {
        Command::new("python3")
            .args(["-m", "venv", "--without-pip"])
            .arg(folder)
            .assert()
            .success();
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--python"])
            .arg(folder.join("bin/python"));
        pip.args([
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
        ]);
        pip.arg(format!("hermes-agent=={VERSION}"))
            .assert()
            .success();
    })
}

/// No installations and downloads at its start. The model's window is set, because it would query the network for it.
const SETTINGS: &str = "model: {provider: custom, default: mock-model, base_url: '@MODEL@/v1', api_key: sk-test, context_length: 256000}
security: {allow_lazy_installs: false, tirith_enabled: false}
plugins: {enabled: [hermes-mutation-runner]}
";

/// Half of the edits name a missing line.
const STEPS: [Step; 4] = [
    Step::Batch(&[
        (
            "patch",
            r#"{"path": "src/app/f1.md", "old_string": "old", "new_string": "new"}"#,
        ),
        (
            "patch",
            r#"{"path": "src/app/f2.md", "old_string": "no such line", "new_string": "new"}"#,
        ),
        (
            "patch",
            r#"{"path": "src/app/f3.md", "old_string": "old", "new_string": "new"}"#,
        ),
        (
            "patch",
            r#"{"path": "src/app/f4.md", "old_string": "no such line", "new_string": "new"}"#,
        ),
        (
            "write_file",
            r#"{"path": "src/app/f5.md", "content": "new\n"}"#,
        ),
        (
            "patch",
            r#"{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: src/app/f6.md\n@@\n-no such line\n+new\n*** End Patch"}"#,
        ),
        (
            "mutation_test",
            r#"{"target_module": "price.py", "timeout": 120}"#,
        ),
    ]),
    Step::Shell(
        "cd src/app && git -c user.name=A -c user.email=a@example.org commit -qam work < /dev/null",
    ),
    Step::Say(
        "I patched all 6 files: src/app/f1.md, src/app/f2.md, src/app/f3.md, src/app/f4.md, src/app/f5.md and src/app/f6.md.",
    ),
    Step::Say("That is all."),
];

fn project(model: &str) -> Project {
    let project = Project::new("- [ ] 1. One\n");
    for number in 1..=6 {
        project.write(&format!("src/app/f{number}.md"), "old\n");
    }
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "files"]);
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: hermes}\nmcp: {scores: true}\n",
    );
    project.write(
        "../home/.hermes/config.yaml",
        SETTINGS.replace("@MODEL@", model),
    );
    let plugin = "hermes-mutation-runner";
    for file in ["__init__.py", "plugin.yaml"] {
        let text = fs_err::read(Path::new("templates/hermes").join(plugin).join(file)).unwrap();
        project.write(&format!("../home/.hermes/plugins/{plugin}/{file}"), text);
    }
    project.tool(
        "hermes",
        &format!("exec {} \"$@\"", hermes().join("bin/hermes").display()),
    );
    project.tool(
        "ralph",
        &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_ralph")),
    );
    std::os::unix::fs::symlink(python(), project.path(".venv")).unwrap();
    project.write("price.py", "def net(gross):\n    return gross - 1\n");
    project.write(
        "tests/test_price.py",
        "from price import net\n\n\ndef test_net():\n    assert net(3) == 2\n",
    );
    project.write("tests/conftest.py", "");
    project
}

/// Checks all promises for Hermes in one test, which costs one start of it.
fn hermes_is_a_preset_a_transcript_and_a_host_of_the_plugin() {
    let model = Model::start(&STEPS);
    let project = project(&model.url());
    let done = Project::finish(project.command(&["doctor"]));
    let line = done
        .out
        .lines()
        .find(|line| line.contains(" hermes "))
        .unwrap();
    assert!(line.starts_with("ok ") && line.contains(VERSION), "{line}");

    Project::finish_within(project.command(&["run", "--once"]), 240);
    let entry = project.entry(1);
    let out = || {
        project.read(".ralph/state/iter-1/agent.out")
            + &project.read(".ralph/state/iter-1/agent.err")
    };
    assert_eq!(
        project.story(),
        ["1.=REJECTED (attempt 1 of 3)"],
        "{}\n{}",
        entry.lines,
        out()
    );
    println!("{}", entry.lines);
    let prompt = project.ralph(&["prompt", "1."]).code(0).out;
    let session = project.read(".ralph/state/iter-1/agent.session");
    let mut verify = project.command(&["verify", "--from", "hermes", "--before", "HEAD~1"]);
    verify.current_dir(project.path(""));
    let verified = Command::from_std(verify)
        .write_stdin(session)
        .output()
        .unwrap();
    let verified = String::from_utf8(verified.stdout).unwrap();
    println!("{verified}");
    for (file, is_made) in [
        ("f1", true),
        ("f2", false),
        ("f3", true),
        ("f4", false),
        ("f5", true),
        ("f6", false),
    ] {
        for told in [&entry.lines, &prompt, &verified] {
            assert_eq!(
                told.contains(&format!("`app/{file}.md` failed (patch): ")),
                !is_made,
                "{file}: {told}"
            );
        }
        assert_eq!(
            project.read(&format!("src/app/{file}.md")) == "new\n",
            is_made,
            "{file}"
        );
        // Hermes's own footer names the same files.
        let footer = out()
            .lines()
            .any(|line| line.starts_with("  • ") && line.contains(file));
        assert_eq!(footer, !is_made, "{}", out());
    }

    let asked = model.asked();
    let offered = |tool: &str| {
        asked
            .iter()
            .all(|body| body.contains(&format!("\"name\":\"{tool}\"")))
    };
    assert!(offered("patch") && offered("mutation_test"), "{}", asked[0]);
    let last = asked.last().unwrap().replace('\\', "");
    for part in [
        r#""success":true"#,
        r#""target_module":"price.py""#,
        r#""engine":"mutmut""#,
        r#""killed":2"#,
    ] {
        assert!(
            last.replace("\": ", "\":").contains(part),
            "{part} is missing in {last}"
        );
    }
}

/// The others are in the table of `benches/agents.sh`.
fn the_help_of_the_real_programs_holds_the_flags_of_their_presets() {
    for cli in [&CLAUDE, &CODEX] {
        let Cli { name, program, .. } = cli;
        let project = Project::new("- [ ] 1. One\n");
        project.write(
            ".ralph/config.yaml",
            format!("agents:\n  default: {{preset: {name}}}\n"),
        );
        project.tool(
            name,
            &format!(
                "modules={}\nexec $modules/{program} \"$@\"",
                modules(cli).display()
            ),
        );
        let done = Project::finish(project.command(&["doctor"]));
        let line = done
            .out
            .lines()
            .find(|line| line.contains(&format!(" {name} ")))
            .unwrap();
        assert!(line.starts_with("ok "), "{line}");
    }
}
