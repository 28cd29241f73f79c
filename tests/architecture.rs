//! The architecture, held by tests: layers look down, files and functions stay small, the map is true.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each module may name with `crate::`, besides itself. Adapters never name each other.
const MAY_USE: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("task", &[]),
    ("mutation", &["source"]),
    ("machine", &["task", "mutation", "source"]),
    ("config", &["machine", "mutation", "task", "source"]),
    ("report", &["machine", "mutation", "task", "source"]),
    ("sys", &["machine"]),
    ("git", &["sys", "machine", "mutation", "task", "source", "config", "report"]),
    ("agent", &["sys", "machine", "mutation", "task", "source", "config", "report"]),
    ("gate", &["sys", "machine", "mutation", "task", "source", "config", "report"]),
    ("journal", &["sys", "machine", "mutation", "task", "source", "config", "report"]),
    (
        "engine",
        &[
            "agent", "config", "gate", "git", "journal", "machine", "mutation", "report", "source", "sys",
            "task",
        ],
    ),
    (
        "cli",
        &[
            "agent", "config", "engine", "gate", "git", "journal", "machine", "mutation", "report", "source",
            "sys", "task",
        ],
    ),
];

/// Layers that touch nothing.
const PURE: &[&str] = &["source", "task", "mutation", "machine", "config", "report"];
/// What a pure layer may not name.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "fs_err",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::env::",
    "git2",
    "std::net",
    "std::thread",
];
const MAX_FILE_LINES: usize = 400;
const MAX_FUNCTION_LINES: usize = 80;

struct Source {
    path: PathBuf,
    /// The first part of the path below `src`: the module.
    module: String,
    /// The text without test modules.
    code: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// All files of the program; tests (files and inline modules) left out.
fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut paths = Vec::new();
    files(&src, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter(|path| !is_test(path))
        .map(|path| {
            let below = path.strip_prefix(&src).unwrap();
            let module = below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap().to_owned();
            Source { path, module, code }
        })
        .collect()
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// The code without comments, so that prose may name anything.
fn without_comments(code: &str) -> String {
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules that a text names as `crate::x` or `crate::{x, y}`.
fn named_modules(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let list = rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or(list));
        let parts: Vec<&str> = if rest.starts_with('{') { list.split(',').collect() } else { vec![rest] };
        for part in parts {
            let name: String =
                part.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            names.insert(name);
        }
    }
    names
}

#[test]
fn imports_only_look_down() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for source in sources() {
        if source.module == "lib" || source.module == "main" {
            continue;
        }
        let may = allowed.get(source.module.as_str()).unwrap_or_else(|| {
            panic!("{}: the module `{}` stands in no layer", source.path.display(), source.module)
        });
        for name in named_modules(&without_comments(&source.code)) {
            if name != source.module && !may.contains(&name.as_str()) {
                wrong.push(format!("{} names crate::{name}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pure_layers_name_nothing_outside() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| PURE.contains(&source.module.as_str())) {
        let code = without_comments(&source.code);
        for name in OUTSIDE.iter().filter(|name| code.contains(**name)) {
            wrong.push(format!("{} names {name}", source.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_open_with_a_promise_and_stay_small() {
    let mut wrong = Vec::new();
    for source in sources() {
        let lines = source.code.lines().count();
        if lines > MAX_FILE_LINES {
            wrong.push(format!("{} has {lines} lines", source.path.display()));
        }
        if !source.code.starts_with("//!") {
            wrong.push(format!("{} does not say what it is for", source.path.display()));
        }
        let says = |word: &str| source.code.contains(&format!("//! {word}"));
        let is_thin = matches!(source.module.as_str(), "lib" | "main");
        let says_all = says("Owns:") && says("Promises:") && says("Refuses to know:");
        if !(is_thin || says_all) {
            wrong.push(format!(
                "{} does not say what it owns, promises, refuses to know",
                source.path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn functions_stay_small() {
    let mut wrong = Vec::new();
    for source in sources() {
        let mut start: Option<(usize, usize, String)> = None;
        for (number, line) in source.code.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let opens = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn ", "pub(in"]
                .iter()
                .any(|word| line.trim_start().starts_with(word));
            let is_signature = line.trim_end().ends_with(';');
            if opens && line.contains("fn ") && !is_signature && start.is_none() {
                start = Some((number, indent, line.trim().to_owned()));
            }
            if let Some((from, at, name)) = &start
                && indent == *at
                && line.trim() == "}"
            {
                let length = number - from + 1;
                if length > MAX_FUNCTION_LINES {
                    wrong.push(format!("{}:{}: {length} lines: {name}", source.path.display(), from + 1));
                }
                start = None;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_module_is_named_after_nothing() {
    for source in sources() {
        let name = source.path.file_stem().unwrap().to_str().unwrap();
        assert!(
            !matches!(name, "utils" | "util" | "common" | "helpers" | "helper" | "misc" | "types"),
            "{name}"
        );
        assert!(!source.code.contains("Manager"), "{}: Manager", source.path.display());
    }
}

#[test]
fn the_map_in_lib_names_exactly_the_modules_that_exist() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mapped: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//!   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.ends_with('/') || *name == "main.rs")
        .map(|name| name.trim_end_matches('/').trim_end_matches(".rs").to_owned())
        .collect();
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        there.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    there.remove("lib");
    assert_eq!(mapped, there);
}

#[test]
fn no_test_file_is_forgotten() {
    let tests = root().join("tests");
    let all = fs::read_to_string(tests.join("all.rs")).unwrap();
    for entry in fs::read_dir(&tests).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if matches!(name.as_str(), "all" | "architecture" | "fixtures" | "shell-loop" | "support") {
            continue;
        }
        assert!(all.contains(&format!("mod {name};")), "tests/{name} is not in tests/all.rs");
    }
}
