//! Compares the generated parts of reference pages with the program. `RALPH_WRITE_DOCS=1` writes them.
//!
//! A generated part is between `<!-- generated -->` and `<!-- /generated -->`.

use super::{is_page, root, texts};
use fs_err as fs;
use regex_lite::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const BEGIN: &str = "<!-- generated -->\n";
const END: &str = "<!-- /generated -->";

/// Compares the generated part of a page, or writes it.
fn check_page(page: &str, generated: &str) {
    let path = root().join("docs").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (part, after) = rest.split_once(END).unwrap();
    let generated = format!("\n{}\n\n", generated.trim());
    if std::env::var_os("RALPH_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{generated}{END}{after}")).unwrap();
        return;
    }
    assert!(
        part == generated,
        "docs/{page} is out of date: run this test with RALPH_WRITE_DOCS=1 and read the difference"
    );
}

fn printed(args: &[&str]) -> String {
    let output = assert_cmd::Command::cargo_bin("ralph")
        .unwrap()
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the verbs, in the order of `ralph --help`.
pub(super) fn verbs() -> Vec<String> {
    let help = printed(&["--help"]);
    let (_, list) = help.split_once("Start here:\n").unwrap();
    list.lines()
        .take_while(|line| *line != "Options:")
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Options of every verb, which the page shows once.
const COMMON: [&str; 7] = [
    "--root",
    "--json",
    "--verbose",
    "--help",
    "--spec",
    "--agent",
    "--set",
];

/// Returns the help of a verb without the options of every verb.
fn own_help(help: &str) -> String {
    let (mut kept, mut is_skipped) = (String::new(), false);
    for line in help.lines() {
        let is_option = line.trim_start().starts_with('-') && line.starts_with("  ");
        let is_section = !line.starts_with(' ');
        if is_option {
            is_skipped = COMMON
                .iter()
                .any(|name| line.split([' ', ',', '.']).any(|word| word == *name));
        } else if is_section {
            is_skipped = false;
        }
        if !is_skipped {
            writeln!(kept, "{line}").unwrap();
        }
    }
    kept.replace("Settings:\n\n", "")
        .replace("Options:\n\n", "")
        .trim_end()
        .to_owned()
}

#[test]
fn the_page_of_commands_is_the_help() {
    let mut page = String::new();
    for verb in verbs() {
        let help = printed(&[&verb, "-h"]);
        let (about, rest) = help.split_once("\n\n").unwrap();
        let about = about.replace('\n', " ");
        write!(
            page,
            "## ralph {verb}\n\n{about}.\n\n```text\n{}\n```\n\n",
            own_help(rest)
        )
        .unwrap();
    }
    let help = printed(&["--help"]);
    let (_, options) = help.split_once("\nOptions:\n").unwrap();
    let (options, _) = options.split_once("\nExit codes").unwrap();
    write!(
        page,
        "## Options of every command\n\n```text\n{}\n```\n",
        options.trim_end()
    )
    .unwrap();
    check_page("commands.md", &page);
}

/// Returns the words that a value may be, with their meanings.
fn choices(value: &Value) -> Vec<String> {
    let list = value["oneOf"].as_array().into_iter().flatten();
    list.filter_map(|choice| {
        let word = choice["const"].as_str()?;
        let meaning = choice["description"].as_str().unwrap_or_default();
        Some(format!("`{word}`: {meaning}"))
    })
    .collect()
}

/// Returns a cell of a table: one line, no bar.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn default_of(value: &Value) -> String {
    match &value["default"] {
        Value::Null => String::new(),
        Value::Array(list) if list.len() > 6 => format!("{} patterns", list.len()),
        other => format!("`{}`", cell(&other.to_string())),
    }
}

/// Adds a row for each key below `path`. The keys of a group replace the group.
fn rows(path: &str, keys: &Value, table: &mut String) {
    for (name, value) in keys.as_object().into_iter().flatten() {
        let path = format!("{path}{name}");
        let below = &value["properties"];
        if below.is_object() {
            rows(&format!("{path}."), below, table);
            continue;
        }
        let mut meaning = value["description"].as_str().unwrap_or_default().to_owned();
        for choice in choices(value) {
            write!(meaning, " {choice}").unwrap();
        }
        if let Some(example) = value["examples"].as_array().and_then(|list| list.first()) {
            write!(meaning, " Example: `{example}`.").unwrap();
        }
        let default = default_of(value);
        writeln!(table, "| `{path}` | {default} | {} |", cell(&meaning)).unwrap();
    }
}

fn table(path: &str, keys: &Value) -> String {
    let mut table = "| key | default | meaning |\n|---|---|---|\n".to_owned();
    rows(path, keys, &mut table);
    table
}

#[test]
fn the_page_of_the_configuration_is_the_schema() {
    let schema: Value = serde_json::from_str(&printed(&["generate", "schema"])).unwrap();
    let mut page = String::new();
    let (mut single, mut groups) = (serde_json::Map::new(), Vec::new());
    for (name, value) in schema["properties"].as_object().unwrap() {
        if value["properties"].is_object() || value["additionalProperties"].is_object() {
            groups.push((name, value));
        } else {
            single.insert(name.clone(), value.clone());
        }
    }
    write!(
        page,
        "## Single keys\n\n{}\n",
        table("", &Value::Object(single))
    )
    .unwrap();
    for (name, value) in groups {
        let about = value["description"].as_str().unwrap_or_default();
        write!(page, "## {name}\n\n{about}\n\n").unwrap();
        match name.as_str() {
            "gates" => gates(value, &mut page),
            "placement" => {
                for choice in choices(&value["additionalProperties"]) {
                    writeln!(page, "- {choice}").unwrap();
                }
                page.push('\n');
            }
            _ if value["additionalProperties"].is_object() => {
                let keys = &value["additionalProperties"]["properties"];
                writeln!(page, "{}", table(&format!("{name}.NAME."), keys)).unwrap();
            }
            _ => writeln!(page, "{}", table(&format!("{name}."), &value["properties"])).unwrap(),
        }
    }
    let template = fs::read_to_string(root().join("templates/config.yaml")).unwrap();
    write!(
        page,
        "## The file that `ralph init` writes\n\n```yaml\n{template}```\n"
    )
    .unwrap();
    check_page("configuration.md", &page);
}

/// Adds the gates: PITEST in full, the keys of the others, and a gate that is a command.
fn gates(value: &Value, page: &mut String) {
    let names = value["properties"].as_object().unwrap();
    let engine = |name: &str| names[name]["oneOf"][0]["properties"].clone();
    writeln!(page, "{}", table("gates.PITEST.", &engine("PITEST"))).unwrap();
    for name in names.keys().filter(|name| *name != "PITEST") {
        let keys = engine(name);
        let keys: Vec<String> = keys
            .as_object()
            .unwrap()
            .keys()
            .map(|key| format!("`{key}`"))
            .collect();
        writeln!(page, "- `{name}` has the keys {}.", keys.join(", ")).unwrap();
    }
    let command = &value["additionalProperties"]["properties"];
    write!(
        page,
        "\nA gate that is a command:\n\n{}\n",
        table("gates.NAME.", command)
    )
    .unwrap();
}

/// Each key of the schema is in the file that `ralph init` writes, set or in a comment.
#[test]
fn the_written_configuration_names_every_key_of_the_schema() {
    let schema: Value = serde_json::from_str(&printed(&["generate", "schema"])).unwrap();
    let template = fs::read_to_string(root().join("templates/config.yaml")).unwrap();
    for name in schema["properties"].as_object().unwrap().keys() {
        let is_there = template.lines().any(|line| {
            line.trim_start_matches("# ")
                .starts_with(&format!("{name}:"))
        });
        assert!(is_there, "templates/config.yaml does not show {name}");
    }
}

/// The meanings are the doc comments of `src/cli/exit.rs`: `/// 5: a limit was reached (iterations, time).`
#[test]
fn the_page_of_exit_codes_is_the_code() {
    let source = fs::read_to_string(root().join("src/cli/exit.rs")).unwrap();
    let mut page = "| code | meaning |\n|---|---|\n".to_owned();
    let mut count = 0;
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
        count += 1;
        let (run, other) = meaning
            .trim_end_matches('.')
            .split_once("; for questions: ")
            .unwrap_or((meaning.trim_end_matches('.'), ""));
        let other = if other.is_empty() {
            String::new()
        } else {
            format!(" (other commands: {other})")
        };
        writeln!(page, "| {code} | {run}{other} |").unwrap();
    }
    assert_eq!(count, 10, "one meaning for each code that is no signal");
    writeln!(page, "| 129, 130, 143 | interrupted (HUP, INT, TERM) |").unwrap();
    check_page("exit-codes.md", &page);
}

/// Names that no user sets or reads: the build, completions of shells, tests of the project.
const INTERNAL: [&str; 5] = [
    "RALPH_SOURCE",
    "RALPH_COMPLETE",
    "RALPH_STOPS",
    "RALPH_WRITE_DOCS",
    "RALPH_TAG",
];

#[test]
fn the_page_of_variables_has_every_variable_of_the_code() {
    let help = printed(&["check", "--help"]);
    let (_, list) = help.split_once("Settings from the environment").unwrap();
    let setting = Regex::new(r"(RALPH_[A-Z_]+) \(([^)]+)\)").unwrap();
    let mut page = "| variable | the flag that wins over it |\n|---|---|\n".to_owned();
    for found in setting.captures_iter(list) {
        writeln!(page, "| `{}` | `{}` |", &found[1], &found[2]).unwrap();
    }
    check_page("environment-variables.md", &page);

    let text = fs::read_to_string(root().join("docs/environment-variables.md")).unwrap();
    let name = Regex::new("\"(RALPH_[A-Z_]*[A-Z])\"").unwrap();
    let mut there = BTreeSet::new();
    for (path, code) in texts() {
        if path.starts_with("src/") && !path.contains("tests") {
            there.extend(name.captures_iter(&code).map(|found| found[1].to_owned()));
        }
    }
    assert!(there.len() > 30, "{there:?}");
    for variable in there
        .iter()
        .filter(|name| !INTERNAL.contains(&name.as_str()))
    {
        assert!(
            text.contains(&format!("`{variable}`")),
            "{variable} is not on the page"
        );
    }
}

/// Each page is in the book once, and the book has no other page.
#[test]
fn the_summary_names_every_page_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let link = Regex::new(r"\]\(([a-z0-9/-]+\.md)\)").unwrap();
    let listed: Vec<String> = link
        .captures_iter(&summary)
        .map(|found| found[1].to_owned())
        .collect();
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(
        once.len(),
        listed.len(),
        "a page is listed twice: {listed:?}"
    );
    let mut pages = BTreeSet::new();
    for folder in ["docs", "docs/examples"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(root().join("docs"))
                .unwrap()
                .display()
                .to_string();
            if is_page(&name) && name != "SUMMARY.md" {
                pages.insert(name);
            }
        }
    }
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), pages);
}

/// The headings of the page are texts that the program, git or a gate prints.
#[test]
fn troubleshooting_quotes_texts_that_ralph_prints() {
    let page = fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    let code: String = texts()
        .into_iter()
        .filter(|(path, _)| path.starts_with("src/"))
        .map(|(_, text)| text)
        .collect();
    // git's own words, and a composed headline.
    let others = ["unable to auto-detect email address", "PITEST SKIP"];
    let quote = Regex::new("`([^`]+)`").unwrap();
    let mut count = 0;
    for heading in page.lines().filter(|line| line.starts_with("### ")) {
        for found in quote.captures_iter(heading) {
            count += 1;
            let text = &found[1];
            assert!(
                others.contains(&text) || code.contains(text),
                "no source prints `{text}`"
            );
        }
    }
    assert!(count > 20, "only {count} texts are quoted");
}
