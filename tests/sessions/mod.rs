//! Runs the commands that README and the tutorials show, and compares their output with the page.
//!
//! A page is a list of steps in the order of its fences:
//!
//! - `<!-- file: PATH -->` before a fence writes the fence to that file.
//! - A fence of `sh` runs as one script, which must exit with 0.
//! - A fence of `console` has commands behind `$ `, each with its output. A line `…` matches any lines.
//! - `<!-- run: COMMAND -->` runs a command that the page does not show.
//! - `<!-- not run: REASON -->` before a fence skips it.
//!
//! `RALPH_WRITE_DOCS=1` writes the output into the page instead, except where an output has a `…`.

use crate::support::needs::tests;
use assert_cmd::Command;
use regex_lite::Regex;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Commands of README that other tests run, or that no test can run, each with the reason.
const ELSEWHERE: [(&str, &str); 3] = [
    (
        "cargo install --path . --locked",
        "a release build takes minutes; the tests build the same program",
    ),
    ("cargo run -- demo", "tests/demo runs it"),
    ("cargo test --locked", "it runs this test"),
];

enum Step {
    File(String, String),
    Script(String),
    /// A command and the lines that it prints.
    Shown(String, Vec<String>),
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn is_elsewhere(line: &str) -> bool {
    ELSEWHERE
        .iter()
        .any(|(command, _)| line.split(" #").next().unwrap().trim() == *command)
}

/// Returns the steps of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    let (mut file, mut is_skipped) = (None, false);
    while let Some(line) = lines.next() {
        let comment = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"))
            .and_then(|comment| comment.split_once(": "));
        match comment {
            Some(("file", path)) => file = Some(path.to_owned()),
            Some(("run", command)) => steps.push(Step::Script(command.to_owned())),
            Some(("not run", _)) => is_skipped = true,
            _ => {}
        }
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let name = file.take();
        if std::mem::take(&mut is_skipped) {
            continue;
        }
        match (name, language) {
            (Some(path), _) => steps.push(Step::File(path, body.join("\n") + "\n")),
            (None, "sh") => {
                let script: Vec<&str> = body
                    .into_iter()
                    .filter(|line| !is_elsewhere(line))
                    .collect();
                steps.push(Step::Script(script.join("\n")));
            }
            (None, "console") => steps.extend(shown(&body)),
            _ => {}
        }
    }
    steps
}

fn shown(body: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    for line in body {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step::Shown(command.to_owned(), Vec::new()));
        } else if let Some(Step::Shown(_, output)) = steps.last_mut() {
            output.push((*line).to_owned());
        }
    }
    steps
}

/// A workspace of a page, with the program under test first on the PATH.
struct Workspace {
    home: TempDir,
}

impl Workspace {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs_err::create_dir(home.path().join("shop")).unwrap();
        Self { home }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("shop")
    }

    /// Returns the script's standard output, otherwise its standard error, without parts that differ from run to run.
    fn run(&self, script: &str) -> Vec<String> {
        let binary = Path::new(env!("CARGO_BIN_EXE_ralph")).parent().unwrap();
        let path = path_without_agents();
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", script]).current_dir(self.folder());
        shell
            .env("PATH", format!("{}:{path}", binary.display()))
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("NO_COLOR", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{role}_NAME"), "You");
            shell.env(format!("GIT_{role}_EMAIL"), "you@example.org");
        }
        let output = shell.write_stdin("").output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{script}\n{out}\n{err}");
        let printed = if out.is_empty() { err } else { out };
        printed.lines().map(str::to_owned).collect()
    }

    fn write_files(&self, page: &str) {
        for step in steps(page) {
            if let Step::File(path, text) = step {
                fs_err::write(self.folder().join(path), text).unwrap();
            }
        }
    }

    /// Runs a page from its beginning. Returns the page with the printed outputs.
    fn follow(&self, page: &str) -> String {
        let mut written = page.to_owned();
        for step in steps(page) {
            match step {
                Step::File(path, text) => {
                    fs_err::write(self.folder().join(path), text).unwrap();
                }
                Step::Script(script) => {
                    self.run(&script);
                }
                Step::Shown(command, expected) => {
                    let printed = self.run(&command);
                    if !is_writing() {
                        assert!(
                            matches(&expected, &printed),
                            "$ {command}\n{}\n\nthe page has\n{}",
                            printed.join("\n"),
                            expected.join("\n")
                        );
                    } else if !expected.iter().any(|line| line.trim() == "…") {
                        let block = |lines: &[String]| {
                            let mut text = format!("$ {command}\n");
                            for line in lines {
                                text.push_str(line);
                                text.push('\n');
                            }
                            text
                        };
                        written = written.replacen(&block(&expected), &block(&printed), 1);
                    }
                }
            }
        }
        written
    }
}

/// Returns the PATH without the directories of agents, which `ralph init` would find.
fn path_without_agents() -> String {
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let has_agent = |folder: &&str| {
        ["claude", "codex", "gemini", "opencode"]
            .iter()
            .any(|agent| Path::new(folder).join(agent).exists())
    };
    let folders: Vec<&str> = path
        .split(':')
        .filter(|folder| !has_agent(folder))
        .collect();
    folders.join(":")
}

fn is_writing() -> bool {
    std::env::var_os("RALPH_WRITE_DOCS").is_some()
}

/// Returns a line without times, hashes and names of temporary files.
fn plain(line: &str) -> String {
    let time = Regex::new(r"\b\d+ (ms|s|min|h)\b").unwrap();
    let hash = Regex::new(r"\b[0-9a-f]{10,64}\b").unwrap();
    let line = time.replace_all(line, "T");
    hash.replace_all(&line, "HASH").trim_end().to_owned()
}

/// True if the lines are the expected ones. `…` matches any number of lines.
fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| plain(line) == plain(first) && matches(rest, others)),
    }
}

fn read(path: &str) -> String {
    fs_err::read_to_string(root().join(path)).unwrap()
}

fn follow_page(workspace: &Workspace, path: &str) {
    let page = read(path);
    assert!(steps(&page).len() > 5, "{path} shows no session");
    let written = workspace.follow(&page);
    if is_writing() {
        fs_err::write(root().join(path), written).unwrap();
    }
}

const TUTORIAL: &str = "docs/first-gated-task.md";

fn the_tutorial_prints_what_it_shows() {
    follow_page(&Workspace::new(), TUTORIAL);
}

/// README begins with the project of the tutorial.
fn the_readme_prints_what_it_shows() {
    let workspace = Workspace::new();
    fs_err::create_dir_all(workspace.folder().join("src/main/java/shop")).unwrap();
    fs_err::create_dir_all(workspace.folder().join("src/test/java/shop")).unwrap();
    workspace.write_files(&read(TUTORIAL));
    workspace
        .run("git init -q && echo target/ > .gitignore && git add --all && git commit -qm Start");
    follow_page(&workspace, "README.md");
}

fn every_exception_is_in_the_readme_and_a_wrong_output_does_not_match() {
    let readme = read("README.md");
    for (command, reason) in ELSEWHERE {
        let line = readme
            .lines()
            .find(|line| is_elsewhere(line) && line.contains(command));
        assert!(line.is_some(), "{command} ({reason}) is not in README");
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a 3 s\n…\nd"), &lines("a 4 s\nb\nc\nd")));
    assert!(!matches(&lines("a\n…\nd"), &lines("a\nb")));
    assert!(!matches(&lines("a"), &lines("a\nb")));
}

tests! {
    maven deep: [
        the_readme_prints_what_it_shows,
        the_tutorial_prints_what_it_shows,
    ]
    nothing: [
        every_exception_is_in_the_readme_and_a_wrong_output_does_not_match,
    ]
}
