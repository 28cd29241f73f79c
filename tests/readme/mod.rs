//! README and the pages show no command that the binary does not have.

mod code;

use assert_cmd::Command;
use code::{code, commands};
use ralph::cli::Exit;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the directory of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn ralph() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ralph"))
}

fn readme() -> String {
    fs_err::read_to_string(root().join("README.md")).unwrap()
}

/// Returns the output of `ralph <verb> --help`, if the verb exists.
fn help(verb: &str) -> Option<String> {
    let output = ralph().args([verb, "--help"]).output().unwrap();
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).unwrap())
}

/// Returns README and the pages, with their names.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![("README.md".to_owned(), readme())];
    for entry in fs_err::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // measured.md is data of many versions, and commands.md is the help itself.
        let is_other = ["measured.md", "commands.md"].contains(&name.as_str());
        if path.extension().is_some_and(|end| end == "md") && !is_other {
            pages.push((name, fs_err::read_to_string(&path).unwrap()));
        }
    }
    pages
}

#[test]
fn every_command_that_is_named_exists_with_its_flags() {
    let mut verbs = BTreeMap::new();
    for (page, text) in pages() {
        for piece in code(&text) {
            for words in commands(&piece) {
                let is_verb = |word: &&String| word.starts_with(|c: char| c.is_ascii_lowercase());
                let Some(verb) = words.first().filter(is_verb) else {
                    continue;
                };
                let help = verbs.entry(verb.clone()).or_insert_with(|| help(verb));
                let Some(help) = help else {
                    panic!("{page}: `{piece}`: there is no verb {verb}");
                };
                for flag in own_flags(&words) {
                    assert!(
                        [' ', '\n', ',']
                            .iter()
                            .any(|end| help.contains(&format!("{flag}{end}"))),
                        "{page}: `{piece}`: {verb} has no {flag}"
                    );
                }
            }
        }
    }
    assert!(verbs.len() >= 20, "the pages name only {verbs:?}");
    assert!(help("replay-nothing").is_none());
}

/// Returns the flags of a command, up to the `--` before another program's.
fn own_flags(words: &[String]) -> Vec<&str> {
    let own = words
        .iter()
        .take_while(|word| *word != "--" && !word.contains("$("));
    let flag = |word: &'_ String| word.starts_with("--");
    own.filter(|word| flag(word))
        .map(|word| {
            word.split(['=', ')', ']', ',', '"'])
                .next()
                .unwrap_or_default()
        })
        .collect()
}

/// Returns every exit code. A new one does not compile until it is listed here.
fn exits() -> Vec<Exit> {
    let all = [
        Exit::Done,
        Exit::WorkLeft,
        Exit::Usage,
        Exit::NoVerdict,
        Exit::Changed,
        Exit::Limit,
        Exit::NoProgress,
        Exit::Internal,
        Exit::Io,
        Exit::Busy,
        Exit::Signal(1),
        Exit::Signal(2),
        Exit::Signal(15),
    ];
    for exit in &all {
        match exit {
            Exit::Done
            | Exit::WorkLeft
            | Exit::Usage
            | Exit::NoVerdict
            | Exit::Changed
            | Exit::Limit
            | Exit::NoProgress
            | Exit::Internal
            | Exit::Io
            | Exit::Busy
            | Exit::Signal(_) => {}
        }
    }
    all.to_vec()
}

#[test]
fn the_exit_codes_of_the_page_are_those_of_the_code() {
    let page = fs_err::read_to_string(root().join("docs/exit-codes.md")).unwrap();
    let mut codes: Vec<u8> = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cell = line.split(" | ").next().unwrap().trim_start_matches("| ");
        codes.extend(cell.split(", ").filter_map(|code| code.parse::<u8>().ok()));
    }
    let expected: Vec<u8> = exits().iter().map(|exit| exit.exit_code()).collect();
    assert_eq!(codes, expected);
}

#[test]
fn the_readme_has_the_length_of_a_first_page() {
    let words = readme().split_whitespace().count();
    assert!((900..=1_100).contains(&words), "README has {words} words");
}
