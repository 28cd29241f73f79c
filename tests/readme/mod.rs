//! The README says nothing that the binary does not do.

mod code;

use assert_cmd::Command;
use code::{code, commands};
use ralph::cli::Exit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The folder of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn ralph() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ralph"))
}

fn readme() -> String {
    fs_err::read_to_string(root().join("README.md")).unwrap()
}

/// What `ralph <verb> --help` prints, when there is such a verb.
fn help(verb: &str) -> Option<String> {
    let output = ralph().args([verb, "--help"]).output().unwrap();
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_command_that_is_named_exists_with_its_flags() {
    let mut verbs = BTreeSet::new();
    for piece in code(&readme()) {
        for words in commands(&piece) {
            let Some(verb) = words.first().filter(|word| !word.starts_with('-')) else {
                continue;
            };
            let help = help(verb).unwrap_or_else(|| panic!("`{piece}`: there is no verb {verb}"));
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                assert!(
                    help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
                    "`{piece}`: {verb} has no {flag}"
                );
            }
            verbs.insert(verb.clone());
        }
    }
    assert!(verbs.len() >= 8, "the README names only {verbs:?}");
    assert!(
        help("replay-nothing").is_none(),
        "a verb that does not exist is seen"
    );
}

#[test]
fn every_verb_is_named() {
    let help = ralph().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let list = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    // What a verb does may go on below it, farther in.
    let own = list.lines().filter(|line| !line.starts_with("   "));
    let verbs: Vec<&str> = own
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        verbs.contains(&"run") && verbs.contains(&"demo"),
        "{verbs:?}"
    );
    let readme = readme();
    let named: BTreeSet<String> = code(&readme)
        .iter()
        .flat_map(|piece| commands(piece))
        .filter_map(|words| words.into_iter().next())
        .collect();
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        assert!(
            named.contains(verb),
            "the README never names `ralph {verb}`"
        );
    }
}

/// Every end, with its number; a new one does not compile until it stands here.
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
    let number = |exit: &Exit| match exit {
        Exit::Done
        | Exit::WorkLeft
        | Exit::Usage
        | Exit::NoVerdict
        | Exit::Changed
        | Exit::Limit => 0,
        Exit::NoProgress | Exit::Internal | Exit::Io | Exit::Busy => 1,
        Exit::Signal(_) => 2,
    };
    assert_eq!(all.iter().filter(|exit| number(exit) == 2).count(), 3);
    all.to_vec()
}

#[test]
fn the_exit_codes_are_those_of_the_code() {
    let readme = readme();
    let section = readme
        .split("## Exit codes")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let mut table = BTreeMap::new();
    for line in section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
    {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        for code in cells[0].split(", ") {
            assert!(
                table
                    .insert(code.parse::<u8>().unwrap(), cells[1].to_owned())
                    .is_none(),
                "{code} twice"
            );
        }
    }
    let codes: Vec<u8> = exits().iter().map(|exit| exit.code()).collect();
    assert_eq!(table.keys().copied().collect::<Vec<u8>>(), codes);

    // The words of src/cli/exit.rs: `/// 5: a limit was reached (iterations, wall).`
    let source = fs_err::read_to_string(root().join("src/cli/exit.rs")).unwrap();
    let mut meant = 0;
    for line in source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/// "))
    {
        let Some((Ok(code), meaning)) = line
            .split_once(": ")
            .map(|(code, text)| (code.parse::<u8>(), text))
        else {
            continue;
        };
        let meaning = meaning
            .split("; for questions")
            .next()
            .unwrap()
            .trim_end_matches('.');
        assert_eq!(
            table
                .get(&code)
                .map(|text| text.replace('`', ""))
                .as_deref(),
            Some(meaning),
            "code {code}"
        );
        meant += 1;
    }
    assert_eq!(meant, 10, "one meaning for each code that is no signal");
}

#[test]
fn every_file_that_is_linked_exists() {
    for link in readme()
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let is_outside = link.contains("://") || link.starts_with('#');
        assert!(
            is_outside || root().join(link).exists(),
            "{link} does not exist"
        );
    }
}
