//! `ralph check` and `ralph run`: problems that would stop an iteration are reported before it begins.

use super::project::Project;
use std::os::unix::fs::PermissionsExt;

/// Returns the findings of a rule: level, place, message.
fn told(project: &Project, rule: &str, code: i32) -> Vec<String> {
    let found = project.ralph(&["check", "--json"]).code(code).json();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of_rule = found.iter().filter(|finding| finding["rule"] == rule);
    of_rule
        .map(|f| {
            format!(
                "{} {}:{} {}",
                word(&f["level"]),
                word(&f["file"]),
                f["line"],
                word(&f["what"])
            )
        })
        .collect()
}

#[test]
fn a_template_that_cannot_be_filled_stops_a_run_before_it_begins() {
    let project = Project::new("- [ ] 1. One\n");
    project.write(".ralph/prompts/worker.md", "Hello\n{{ nope }}\n");
    project.write(".ralph/prompts/validator.md", "{{ task | shell }}\n");
    insta::assert_snapshot!(told(&project, "prompt-template", 1).join("\n"), @r"
    error .ralph/prompts/worker.md:2 The template asks for something that does not exist: `{{ nope }}`.
    warning .ralph/prompts/validator.md:1 The template cannot be filled (filter shell is unknown): `{{ task | shell }}`.
    ");
    for args in [["run", "--once"], ["run", "--dry-run"]] {
        let done = project.ralph(&args).code(2);
        assert!(
            done.err.contains(".ralph/prompts/worker.md:2: "),
            "{}",
            done.err
        );
        assert!(
            done.err.contains("hint: Templates may use: "),
            "{}",
            done.err
        );
    }
    assert!(
        !project.has(".ralph/state/iter-1") && project.story().is_empty(),
        "no iteration began"
    );
    project.write(
        ".ralph/prompts/worker.md",
        "{% if reasons %}{{ reasons }}{% endif %} {{ task_text }}\n",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(project.story(), ["1.=ACCEPTED"]);
}

#[test]
fn a_reviewers_template_that_does_not_name_the_token_is_a_warning() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR Look\n");
    project.write(".ralph/prompts/worker.md", "{{ task_text }}\n");
    project.write(
        ".ralph/prompts/req-reviewer.md",
        "End with RALPH-VERDICT {{ verdict_token }}: PASS\n",
    );
    project.write(".ralph/prompts/quality-reviewer.md", "Be kind.\n");
    insta::assert_snapshot!(told(&project, "verdict-token", 0).join("\n"), @"warning .ralph/prompts/quality-reviewer.md:null The template does not name the token of the verdict line. A verdict that a file or commit message holds, and that the reviewer shows, counts as the reviewer's own.");
}

#[test]
fn a_template_that_is_no_text_file_is_named_and_never_waited_for() {
    let project = Project::new("- [ ] 1. One\n");
    let path = project.path(".ralph/prompts/worker.md");
    project.write(".ralph/prompts/worker.md", b"\xff\xfe");
    assert_eq!(
        told(&project, "prompt-template", 1),
        ["error .ralph/prompts/worker.md:null The template is not UTF-8 text."]
    );
    project.write(".ralph/prompts/worker.md", vec![b'a'; (1 << 20) + 1]);
    assert_eq!(
        told(&project, "prompt-template", 1),
        ["error .ralph/prompts/worker.md:null The template is longer than 1 MiB."]
    );
    fs_err::remove_file(&path).unwrap();
    let mut fifo = project.program("mkfifo");
    fifo.arg(&path);
    Project::finish(fifo).code(0);
    assert_eq!(
        told(&project, "prompt-template", 1),
        ["error .ralph/prompts/worker.md:null The template is not a regular file."]
    );
    let done = project.ralph(&["run"]).code(2);
    assert!(
        done.err
            .contains(".ralph/prompts/worker.md: The template is not a regular file."),
        "{}",
        done.err
    );
}

#[test]
fn an_agent_that_is_no_program_is_missing() {
    let project = Project::new("- [ ] 1. One\n");
    project.write("notes.txt", "no program\n");
    for program in ["/etc/passwd", "./notes.txt", "/etc"] {
        project.write(
            ".ralph/config.yaml",
            format!("agents: {{default: {{command: [{program}]}}}}\n"),
        );
        let found = told(&project, "missing-agent", 1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].ends_with("is not a file that may be executed."),
            "{found:?}"
        );
        let done = project.ralph(&["run", "--once"]).code(2);
        assert!(
            done.err.contains("is not a file that may be executed"),
            "{}",
            done.err
        );
    }
    assert!(!project.has(".ralph/state/iter-1"), "no iteration began");
    project.write(
        ".ralph/config.yaml",
        "agents: {default: {command: [./gone.sh]}}\n",
    );
    assert!(told(&project, "missing-agent", 1)[0].ends_with("was not found."));
}

#[test]
fn an_agent_is_looked_for_where_it_is_started() {
    let project = Project::new("- [ ] 1. One\n");
    let agent = format!("#!/bin/sh\n{}", project.read("agent.sh"));
    project.write("tools/worker.sh", agent);
    fs_err::set_permissions(
        project.path("tools/worker.sh"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    for command in [
        "{command: [tools/worker.sh]}".to_owned(),
        "{command: ['{workspace}/tools/worker.sh']}".to_owned(),
        "{command: ['tools/{role}.sh']}".to_owned(),
        format!("{{command: [worker.sh], env: {{PATH: 'tools:{path}'}}}}"),
    ] {
        project.write(
            ".ralph/config.yaml",
            format!("agents: {{default: {command}}}\n"),
        );
        project.write("tasks.md", "- [ ] 1. One\n");
        let mut check = project.command(&["--root", "../..", "check", "--json"]);
        check.current_dir(project.path("src/app"));
        let found = Project::finish(check).code(0).json();
        let rules: Vec<_> = found
            .iter()
            .map(|found| found["rule"].as_str().unwrap())
            .collect();
        assert_eq!(rules, ["no-reviews-or-gates"], "{command}");
        project.ralph(&["run", "--once"]).code(0);
    }
}

#[test]
fn what_is_under_way_in_a_repository_is_told() {
    let project = Project::new("- [ ] 1. One\n");
    project.package("src/lib");
    let git = |args: &[&str]| project.git("src/app", args);
    let rules = ["unfinished-operation", "detached-head", "locked-index"];
    let all = || {
        rules
            .iter()
            .flat_map(|rule| told(&project, rule, 0))
            .collect::<Vec<_>>()
    };
    assert_eq!(all(), [""; 0]);
    git(&["switch", "--quiet", "--detach"]);
    assert_eq!(
        all(),
        ["warning app:null HEAD is detached here: an agent's commits would be on no branch."]
    );
    git(&["switch", "--quiet", "main"]);
    project.write("src/app/.git/index.lock", "");
    let locked = all();
    assert!(
        locked.len() == 1 && locked[0].starts_with("warning app:null The index is locked"),
        "{locked:?}"
    );
    fs_err::remove_file(project.path("src/app/.git/index.lock")).unwrap();
    git(&["bisect", "start"]);
    assert_eq!(
        all(),
        [
            "warning app:null A `git bisect` is unfinished here: an agent's commits would become part of it."
        ]
    );
    let shown = project.ralph(&["check"]).code(0).out;
    assert!(
        shown.contains("hint: In src/app, `git bisect reset` ends it."),
        "{shown}"
    );
    git(&["bisect", "reset"]);
    // A rebase that stopped between two commits, with no changes.
    git(&["commit", "--quiet", "--allow-empty", "--message", "two"]);
    let mut rebase = project.program("git");
    rebase
        .args([
            "rebase",
            "--quiet",
            "--interactive",
            "--keep-empty",
            "HEAD~1",
        ])
        .env("GIT_SEQUENCE_EDITOR", "sed -i 1ibreak");
    rebase.current_dir(project.path("src/app"));
    Project::finish(rebase).code(0);
    let found = all();
    assert!(
        found.len() == 1 && found[0].contains("A `git rebase` is unfinished here"),
        "{found:?}"
    );
}

#[test]
fn packages_without_java_are_not_asked_for_tests_of_classes() {
    let project = Project::new("- [ ] 1. Repair the parser\n- [ ] 1.PITEST\n");
    let add = |file: &str| {
        project.write(&format!("src/app/{file}"), "x = 1\n");
        project.git("src/app", &["add", "--all"]);
        project.git("src/app", &["commit", "--quiet", "--message", file]);
    };
    let all = || {
        let found = project.ralph(&["check", "--json"]).json();
        let rules = found.iter().filter_map(|finding| finding["rule"].as_str());
        rules
            .filter(|rule| matches!(*rule, "no-java" | "no-tests"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(all(), [""; 0], "nothing exists there yet");
    add("src/parser.py");
    assert_eq!(all(), ["no-java"]);
    // A gate that is a command may judge anything, with tests or without.
    project.config("gates: {PITEST: {run: [sh, -c, 'true']}}\n");
    assert_eq!(all(), [""; 0]);
    project.config("");
    add("src/main/java/a/A.java");
    assert_eq!(all(), ["no-tests"]);
    project.config("gates: {PITEST: {run: [sh, -c, 'true']}}\n");
    assert_eq!(
        all(),
        [""; 0],
        "classes without tests are nothing to a command"
    );
    project.config("");
    add("src/test/java/a/ATest.java");
    assert_eq!(all(), [""; 0]);
}

#[test]
fn a_share_of_the_quota_that_no_program_reports_is_said_to_have_no_effect() {
    let project = Project::new("- [ ] 1. One\n");
    project.tool("claude", "exit 0");
    project.tool("codex", "exit 0");
    let warned = |verb: &str, agent: &str, variables: &[(&str, &str)]| {
        project.write(
            ".ralph/config.yaml",
            format!("limits: {{quota: {{stop_at: 90%}}}}\nagents: {{default: {agent}}}\n"),
        );
        let mut command = project.command(&[verb, "--json"]);
        command.envs(variables.to_vec());
        let out = Project::finish(command).out;
        let line = out
            .lines()
            .find(|line| line.contains("`limits.quota` has no effect"));
        let line: Option<serde_json::Value> = line.map(|line| serde_json::from_str(line).unwrap());
        line.map(|line| line["what"].as_str().unwrap().to_owned())
    };
    let root = "env: {IS_SANDBOX: '1'}";
    let claude = format!("{{preset: claude, {root}}}");
    let silent = "`limits.quota` has no effect on the agent `default`: ";
    for verb in ["check", "doctor"] {
        assert_eq!(warned(verb, &claude, &[]), None);
        for (agent, variables, why) in [
            (
                "{preset: codex}",
                &[][..],
                "`codex` does not report its share of a usage limit.",
            ),
            (
                "{command: [sh, agent.sh]}",
                &[],
                "ralph reads a share only from `format: claude`.",
            ),
            (
                claude.as_str(),
                &[("ANTHROPIC_API_KEY", "k")],
                "with ANTHROPIC_API_KEY `claude` reports no share; a subscription login does.",
            ),
        ] {
            let found = warned(verb, agent, variables);
            assert_eq!(found, Some(format!("{silent}{why}")), "{verb} {agent}");
        }
        assert_eq!(
            warned(verb, "{command: [sh, agent.sh], format: claude}", &[]),
            None
        );
    }
}
