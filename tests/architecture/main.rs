//! Tests the architecture: layers look down, files and functions stay small, the map is true.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot continue")]

mod rust_source;

use fs_err as fs;
use rust_source::{Source, circles, files, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The modules that each module may name with `crate::` in addition to itself. Adapters never name each other.
const MAY_USE: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("task", &["source"]),
    ("mutation", &["source"]),
    ("turn", &["source"]),
    ("machine", &["task", "mutation", "source", "turn"]),
    ("config", &["machine", "mutation", "task", "source", "turn"]),
    ("report", &["machine", "mutation", "task", "source", "turn"]),
    ("sys", &["machine", "source", "turn"]),
    (
        "git",
        &[
            "sys", "machine", "mutation", "task", "source", "config", "report",
        ],
    ),
    (
        "agent",
        &[
            "sys", "machine", "mutation", "task", "source", "config", "report", "turn",
        ],
    ),
    (
        "gate",
        &[
            "sys", "machine", "mutation", "task", "source", "config", "report", "turn",
        ],
    ),
    (
        "journal",
        &[
            "sys", "machine", "mutation", "task", "source", "config", "report",
        ],
    ),
    (
        "engine",
        &[
            "agent", "config", "gate", "git", "journal", "machine", "mutation", "report", "source",
            "sys", "task", "turn",
        ],
    ),
    (
        "cli",
        &[
            "agent", "config", "engine", "gate", "git", "journal", "machine", "mutation", "report",
            "source", "sys", "task", "turn",
        ],
    ),
];

/// Layers that touch nothing.
const PURE: &[&str] = &[
    "source", "task", "mutation", "turn", "machine", "config", "report",
];
/// Paths that a pure layer may not name.
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
const MAX_FILE_LINES: usize = 529;
/// Lines of the longest function, so that none becomes longer. Most functions have fewer than 40.
const MAX_FUNCTION_LINES: usize = 176;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the code without comments, so that prose may name anything.
fn without_comments(code: &str) -> String {
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Maximum production lines of each module: no comments, no blank lines, no tests.
const BUDGET: &[(&str, usize)] = &[
    ("agent", 1_225),
    ("build", 33),
    ("cli", 10_843),
    ("config", 2_028),
    ("engine", 9_470),
    ("gate", 9_767),
    ("git", 6_688),
    ("journal", 432),
    ("lib", 15),
    ("machine", 5_636),
    ("main", 11),
    ("mutation", 650),
    ("source", 3_575),
    ("report", 5_119),
    ("sys", 3_447),
    ("task", 5_285),
    ("turn", 2_555),
];

#[test]
fn each_module_keeps_its_budget() {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        *counted.entry(source.top().to_owned()).or_default() += source.production_lines();
    }
    let budget: BTreeMap<&str, usize> = BUDGET.iter().copied().collect();
    let mut over = Vec::new();
    println!("{:10} {:>6} {:>6}", "module", "lines", "budget");
    for (module, lines) in &counted {
        let may = budget.get(module.as_str()).copied().unwrap_or(0);
        println!("{module:10} {lines:6} {may:6}");
        if *lines > may {
            over.push(format!(
                "{module} has {lines} production lines, its budget is {may}"
            ));
        }
    }
    println!(
        "{:10} {:6} {:6}",
        "sum",
        counted.values().sum::<usize>(),
        budget.values().sum::<usize>()
    );
    assert!(over.is_empty(), "{over:#?}");
}

#[test]
fn imports_only_look_down() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for source in sources() {
        let module = source.top();
        if matches!(module, "build" | "lib" | "main") {
            continue;
        }
        let may = allowed.get(module).unwrap_or_else(|| {
            panic!(
                "{}: the module `{module}` is in no layer",
                source.path.display()
            )
        });
        for name in source.names.iter().filter_map(|path| path.first()) {
            if name != module && !may.contains(&name.as_str()) {
                wrong.push(format!("{} names crate::{name}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_of_one_module_form_no_circle() {
    let circles = circles(&sources());
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn the_guards_see_what_comes_after_a_declaration_of_tests() {
    let parse = |name: &str, text: &str| {
        Source::parse(
            PathBuf::from(name),
            vec!["git".to_owned(), name.to_owned()],
            text,
        )
    };
    let walk = parse(
        "walk",
        "//! Walks.\n#[cfg(test)]\nmod tests;\nuse super::tree::{Tree as Oak, leaf};\n\n// why\nfn all() {\n    crate::cli::run();\n}\n",
    );
    assert_eq!(walk.production_lines(), 4);
    assert_eq!(walk.functions.len(), 1);
    assert_eq!(walk.functions[0].lines, 3);
    assert!(
        walk.names
            .contains(&vec!["cli".to_owned(), "run".to_owned()])
    );
    let tree = parse(
        "tree",
        "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\nuse super::walk::all;\n",
    );
    assert_eq!(tree.production_lines(), 1);
    assert_eq!(circles(&[walk, tree]), ["git/tree <-> git/walk"]);
}

#[test]
fn pure_layers_name_nothing_outside() {
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| PURE.contains(&source.top()))
    {
        let code = without_comments(&source.code);
        for name in OUTSIDE.iter().filter(|name| code.contains(**name)) {
            wrong.push(format!("{} names {name}", source.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The standard library, system calls, tokio or a crate for a protocol could open a connection.
#[test]
fn ralph_speaks_to_no_network_itself() {
    let sockets = [
        "std::net",
        "core::net",
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "tokio::net",
        "nix::sys::socket",
        "libc::socket",
    ];
    let mut wrong = Vec::new();
    for source in sources() {
        let code = without_comments(&source.code);
        let named = sockets.iter().filter(|name| code.contains(**name));
        wrong.extend(named.map(|name| format!("{} names {name}", source.path.display())));
    }
    let locked = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let crates: Vec<&str> = locked
        .lines()
        .filter_map(|line| line.strip_prefix("name = \""))
        .collect();
    assert!(
        crates.len() > 100,
        "only {} crates are locked",
        crates.len()
    );
    let protocols = [
        "reqwest",
        "hyper",
        "ureq",
        "curl",
        "isahc",
        "attohttpc",
        "h2",
        "rustls",
        "native-tls",
        "openssl-sys",
        "libssh2-sys",
    ];
    let speaking = crates
        .iter()
        .map(|name| name.trim_end_matches('"'))
        .filter(|name| protocols.contains(name));
    wrong.extend(speaking.map(|name| format!("Cargo.lock names {name}")));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_say_what_they_are_for_and_stay_small() {
    let mut wrong = Vec::new();
    for source in sources() {
        let lines = source.code.trim_end().lines().count();
        if lines > MAX_FILE_LINES {
            wrong.push(format!("{} has {lines} lines", source.path.display()));
        }
        if !source.code.starts_with("//!") {
            wrong.push(format!("{} has no description", source.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn functions_stay_small() {
    let mut wrong = Vec::new();
    for source in sources() {
        for function in source
            .functions
            .iter()
            .filter(|function| function.lines > MAX_FUNCTION_LINES)
        {
            let place = format!("{}:{}", source.path.display(), function.line);
            wrong.push(format!(
                "{place}: {} has {} lines",
                function.name, function.lines
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_module_is_named_after_nothing() {
    for source in sources() {
        let name = source.path.file_stem().unwrap().to_str().unwrap();
        assert!(
            !matches!(
                name,
                "utils" | "util" | "common" | "helpers" | "helper" | "misc" | "types"
            ),
            "{name}"
        );
        assert!(
            !source.code.contains("Manager"),
            "{}: Manager",
            source.path.display()
        );
    }
}

#[test]
fn the_map_in_lib_names_exactly_the_modules_that_exist() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mapped: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//!   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.ends_with('/') || matches!(*name, "build.rs" | "main.rs"))
        .map(|name| {
            name.trim_end_matches('/')
                .trim_end_matches(".rs")
                .to_owned()
        })
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
    let all = ["all.rs", "e2e.rs"]
        .map(|binary| fs::read_to_string(tests.join(binary)).unwrap())
        .concat();
    for entry in fs::read_dir(&tests).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_known = matches!(
            name.as_str(),
            "all" | "e2e" | "fixtures" | "reports" | "shell-loop" | "support"
        );
        if is_known || path.join("main.rs").is_file() {
            continue;
        }
        assert!(
            all.contains(&format!("mod {name};")),
            "tests/{name} is in no test binary"
        );
    }
}

/// The second binary runs the list in `tests!`. `#[test]` would remove a function from the program there.
#[test]
fn each_test_is_run_by_its_binary() {
    let tests = root().join("tests");
    let mut paths = Vec::new();
    files(&tests, &mut paths);
    for path in paths
        .iter()
        .filter(|path| !path.starts_with(tests.join("architecture")))
    {
        let text = fs::read_to_string(path).unwrap();
        let is_listed = text.contains("\ntests! {")
            || ["demo", "gate"]
                .iter()
                .any(|folder| path.starts_with(tests.join(folder)));
        assert!(
            !(is_listed && text.contains("#[test]")),
            "{}: #[test] beside tests!",
            path.display()
        );
        assert!(
            !text.contains("#[ignore"),
            "{}: a test that cannot run here is listed in tests!",
            path.display()
        );
    }
}
