//! The example project that `ralph demo` copies.
//!
//! Owns: the promises of its files before any of them runs under ralph: valid keys, the shapes of tasks that the demo
//! shows, and an agent that keeps the rules of each stage (docs/design.md "Evidence").
//!
//! Promises: needs `sh` and `git`, no Java, no network.
//!
//! Refuses to know: ralph's reading of these files, the gate's verdict on the tests.

mod agent;

use regex_lite::Regex;
use serde_yaml::Value;
use std::path::{Path, PathBuf};

/// Returns the directory `.ralph-example`.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".ralph-example")
}

fn text(path: &str) -> String {
    fs_err::read_to_string(root().join(path)).unwrap()
}

/// Returns all files below `folder` as relative paths, sorted, without outputs of builds.
fn files_below(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs_err::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
                open.push(path);
            } else if path.is_file() {
                found.push(
                    path.strip_prefix(folder)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found.sort();
    found
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_mapping()
        .unwrap()
        .keys()
        .map(|key| key.as_str().unwrap())
        .collect()
}

fn assert_known(value: &Value, known: &[&str]) {
    for key in keys(value) {
        assert!(
            known.contains(&key),
            "`{key}` is no key of the design; known here: {known:?}"
        );
    }
}

#[test]
fn the_example_is_these_files() {
    let expected = [
        ".ralph/config.schema.json",
        ".ralph/config.yaml",
        ".ralph/prompts/validator.md",
        "agent.sh",
        "design.md",
        "requirements.md",
        "src/manual/README.md",
        "src/orders/.gitignore",
        "src/orders/pom.xml",
        "tasks.md",
    ];
    assert_eq!(files_below(&root()), expected);
}

#[test]
fn every_file_is_plain_text_with_unix_line_ends() {
    for path in files_below(&root()) {
        let content = text(&path);
        assert!(!content.contains('\r'), "{path} has a carriage return");
        assert!(
            !content.starts_with('\u{feff}'),
            "{path} starts with a byte order mark"
        );
        assert!(
            content.ends_with('\n'),
            "{path} does not end with a line end"
        );
    }
}

#[test]
fn the_configuration_uses_keys_of_the_design() {
    let config: Value = serde_yaml::from_str(&text(".ralph/config.yaml")).unwrap();
    let top = "spec packages files agents roles gates checks limits on commit checkpoints rework on_blocked";
    assert_known(&config, &top.split(' ').collect::<Vec<_>>());
    let gate = "threshold per no_coverage engine jobs maven_args limit";
    assert_known(
        &config["gates"]["PITEST"],
        &gate.split(' ').collect::<Vec<_>>(),
    );
    assert_known(
        &config["limits"],
        &[
            "iterations",
            "attempts",
            "rework",
            "wall",
            "attempt",
            "idle",
        ],
    );
    assert_eq!(keys(&config["agents"]), ["default"]);
    let command = config["agents"]["default"]["command"]
        .as_sequence()
        .unwrap();
    assert_eq!(command, &[Value::from("sh"), Value::from("agent.sh")]);
    assert_eq!(config["gates"]["PITEST"]["threshold"], Value::from(70));
}

#[test]
fn an_overriding_prompt_needs_no_fact_and_holds_no_verdict_line() {
    let prompt = text(".ralph/prompts/validator.md");
    assert!(
        !prompt.contains("{{") && !prompt.contains("{%"),
        "a template would need names of facts"
    );
    assert!(prompt.contains("validation-report.md") && prompt.contains("Status"));
    assert!(!prompt.lines().any(|line| line.starts_with("RALPH-VERDICT")));
}

/// Returns the boxes outside the fence: marks after the bullet, and the first word.
fn boxes(tasks: &str) -> Vec<(String, String)> {
    let form = Regex::new(r"^- (\[.\]\*?) +(\S+) +\S").unwrap();
    let mut in_fence = false;
    let mut found = Vec::new();
    for line in tasks.lines() {
        in_fence ^= line.starts_with("```");
        if let (false, Some(parts)) = (in_fence, form.captures(line)) {
            found.push((parts[1].to_owned(), parts[2].to_owned()));
        }
    }
    found
}

#[test]
fn the_tasks_show_each_shape_once() {
    let tasks = text("tasks.md");
    let required: Vec<_> = boxes(&tasks)
        .into_iter()
        .filter(|(mark, _)| mark == "[ ]")
        .map(|(_, id)| id)
        .collect();
    let expected = "1.TEST-FIRST 1. 1.REQ-CHECK 1.PITEST 1.PRE-CR 2.TEST-FIRST 2. 2.REQ-CHECK 2.PITEST \
                    3. 3.PITEST FINAL";
    assert_eq!(required, expected.split_whitespace().collect::<Vec<_>>());

    let optional = boxes(&tasks)
        .into_iter()
        .filter(|(mark, _)| mark == "[ ]*")
        .count();
    assert_eq!(optional, 1, "one optional task");
    assert_eq!(
        tasks.lines().filter(|line| line.starts_with("## ")).count(),
        4,
        "a heading a group"
    );
    let fence = tasks.split("```").nth(1).unwrap();
    assert_eq!(
        fence.matches("- [ ] 9.").count(),
        2,
        "boxes in a fence, never taken"
    );
    assert!(
        !Regex::new("(?i)checkpoint").unwrap().is_match(&tasks),
        "no task may pass without commits"
    );
}

#[test]
fn the_pom_pins_what_it_uses_and_knows_no_pit() {
    let pom = text("src/orders/pom.xml");
    assert!(
        !pom.to_lowercase().contains("pitest"),
        "the gate needs no entry in the POM"
    );
    for plugin in ["resources", "compiler", "surefire", "dependency"] {
        let pinned =
            format!(r"<artifactId>maven-{plugin}-plugin</artifactId>\s*<version>[0-9.]+</version>");
        assert!(
            Regex::new(&pinned).unwrap().is_match(&pom),
            "maven-{plugin}-plugin has no version"
        );
    }
    assert!(
        pom.contains("<maven.compiler.release>17<") && pom.contains("<artifactId>junit-jupiter<")
    );
}
