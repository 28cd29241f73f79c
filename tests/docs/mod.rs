//! Checks every reference to a page of this repository.
//!
//! Code must refer to no other page.

mod llms;
mod prose;
mod reference;

use fs_err as fs;
use regex_lite::Regex;
use std::path::{Path, PathBuf};

const FOLDERS: &[&str] = &[
    "src",
    "tests",
    "benches",
    "templates",
    "docs",
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
];

/// Texts of other authors, which tests read unchanged.
const FOREIGN: &[&str] = &["tests/fixtures", "tests/taskfiles/files"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// True for a Markdown file.
fn is_page(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "md")
}

/// Returns the searched texts with their paths from the root.
fn texts() -> Vec<(String, String)> {
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    let mut texts = Vec::new();
    while let Some(path) = open.pop() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        if FOREIGN.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push((name, text));
        }
    }
    texts.sort();
    assert!(texts.len() > 300, "only {} files were found", texts.len());
    texts
}

fn headings(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap_or_default();
    let heading = Regex::new(r"(?m)^#{1,4} (.+)$").unwrap();
    heading
        .captures_iter(&text)
        .map(|found| found[1].trim().to_owned())
        .collect()
}

/// Returns GitHub's anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn a_reference_by_heading_leads_to_that_heading() {
    let reference = Regex::new(r#"docs/([a-z-]+\.md) "([^"\n]*)""#).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in texts() {
        for found in reference.captures_iter(&text) {
            count += 1;
            if !headings(&root().join("docs").join(&found[1])).contains(&found[2].to_owned()) {
                wrong.push(format!("{name}: {}", &found[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 20, "only {count} references were found");
}

#[test]
fn a_link_in_a_page_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^)\s:]*)\)").unwrap();
    let mut wrong = Vec::new();
    for (name, text) in texts()
        .into_iter()
        .filter(|(name, _)| is_page(name))
        .filter(|(name, _)| !name.contains('/') || name.starts_with("docs/"))
    {
        for found in link.captures_iter(&text) {
            let (file, part) = found[1].split_once('#').unwrap_or((&found[1], ""));
            let folder = root().join(&name).parent().unwrap().to_owned();
            let target = if file.is_empty() {
                root().join(&name)
            } else {
                folder.join(file)
            };
            let leads = target.exists()
                && (part.is_empty()
                    || headings(&target)
                        .iter()
                        .any(|heading| anchor(heading) == part));
            if !leads {
                wrong.push(format!("{name}: {}", &found[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the file of a path such as `machine::accept` (`src/machine/accept.rs`), or of a type in it.
fn file_of(modules: &[&str]) -> Option<PathBuf> {
    let path = root().join("src").join(modules.join("/"));
    [path.with_extension("rs"), path.join("mod.rs")]
        .into_iter()
        .find(|file| file.is_file())
}

#[test]
fn the_functions_that_the_architecture_names_are_in_the_code() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    assert!(
        page.lines().count() <= 120,
        "the page has {} lines",
        page.lines().count()
    );
    let name = Regex::new(r"`([a-z_]+(?:::[A-Za-z_]+)+)`").unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for found in name.captures_iter(&page) {
        let mut parts: Vec<&str> = found[1].split("::").collect();
        let function = parts.pop().unwrap();
        parts.retain(|part| part.starts_with(|c: char| c.is_ascii_lowercase()));
        count += 1;
        let text = file_of(&parts)
            .map(|file| fs::read_to_string(file).unwrap())
            .unwrap_or_default();
        let signature = Regex::new(&format!(r"\bfn {function}\b")).unwrap();
        if !signature.is_match(&text) {
            wrong.push(found[1].to_owned());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 30, "only {count} functions are named");
}

#[test]
fn the_tests_that_hold_the_rows_of_reliability_are_there() {
    let page = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let code: String = texts().into_iter().map(|(_, text)| text).collect();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
    let name = Regex::new(r"`([a-z0-9_]{20,}|[a-z]+/[a-z-]+)`").unwrap();
    let mut number = 0;
    for row in rows {
        number += 1;
        assert!(row.starts_with(&format!("| {number} | ")), "{row}");
        let held = row.rsplit(" | ").next().unwrap();
        assert!(name.is_match(held), "{row}");
        for found in name.captures_iter(held).map(|found| found[1].to_owned()) {
            let attack = root().join(format!("tests/lies/{found}.yaml"));
            assert!(
                attack.is_file() || code.contains(&format!("fn {found}(")),
                "{found}"
            );
        }
    }
    assert_eq!(number, 40);
}

#[test]
fn the_tests_and_attacks_that_a_page_names_are_there() {
    let code: String = texts()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("docs/"))
        .map(|(_, t)| t)
        .collect();
    let test = Regex::new(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`").unwrap();
    let attack = Regex::new(r"`([a-z]+/[a-z0-9-]+\.yaml)`").unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (page, text) in texts()
        .into_iter()
        .filter(|(name, _)| name.starts_with("docs/"))
    {
        let tests = test
            .captures_iter(&text)
            .map(|found| (found[1].to_owned(), format!("fn {}(", &found[1])));
        let gone = tests
            .inspect(|_| count += 1)
            .filter(|(_, signature)| !code.contains(signature.as_str()));
        wrong.extend(gone.map(|(name, _)| format!("{page}: {name}")));
        let attacks = attack.captures_iter(&text).map(|found| found[1].to_owned());
        let gone = attacks.filter(|name| !root().join("tests/lies").join(name).is_file());
        wrong.extend(gone.map(|name| format!("{page}: {name}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 50, "only {count} tests are named");
}

#[test]
fn the_design_names_each_verb_and_each_module() {
    let design = fs::read_to_string(root().join("docs/design.md")).unwrap();
    let section = |heading: &str| {
        let (_, rest) = design.split_once(&format!("\n## {heading}\n")).unwrap();
        rest.split("\n## ").next().unwrap().to_owned()
    };
    let verbs = reference::verbs();
    assert!(verbs.len() > 20, "{verbs:?}");
    let line = section("Command line");
    for verb in verbs {
        assert!(
            line.contains(&format!("`{verb}`")) || line.contains(&format!("`{verb} ")),
            "{verb}"
        );
    }
    let map = section("Architecture");
    for folder in fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap())
    {
        let name = folder.file_name().into_string().unwrap();
        assert!(
            !folder.path().is_dir() || map.contains(&format!("`{name}`")),
            "{name}"
        );
    }
}

/// Specifications of others that a file may cite by section.
const OUTSIDE: &[&str] = &[
    "JVMS",
    "Machine Specification",
    "Java Language",
    "JLS",
    "RFC",
    "ECMA",
];

#[test]
fn code_refers_to_no_page_that_is_not_here() {
    let section = Regex::new(r"§ ?\d").unwrap();
    let page = Regex::new(
        r"\bhand[b]ook\b|\b(?:design|reliability|taskfiles|gates|style|agents)(?:\.md)?`?,? §|(?:^|[ `(])(?:taskfiles|gates|review)\.md\b",
    )
    .unwrap();
    let mut wrong = Vec::new();
    for (name, text) in texts()
        .into_iter()
        .filter(|(name, _)| name != "tests/docs/mod.rs")
    {
        let cites_others = name.starts_with("src/gate/") && name.contains("class_file")
            || OUTSIDE.iter().any(|outside| text.contains(outside));
        // The expressions are slow, and almost no line can match.
        let may_match = |line: &str| ["§", ".md", "book"].iter().any(|part| line.contains(part));
        for (number, line) in text.lines().enumerate().filter(|(_, line)| may_match(line)) {
            if page.is_match(line) || section.is_match(line) && !cites_others {
                wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines: {wrong:#?}", wrong.len());
}
