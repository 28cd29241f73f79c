//! Engines that mutate files, over small packages in temporary folders: real mutmut, real `StrykerJS`, real cargo-mutants.

use super::project::{Project, error, reasons};
use crate::support::needs::tests;
use crate::support::tools::{installed, installed_from_pypi};
use assert_cmd::Command;
use ralph::config::{NoCoverage, ScopeKind, TestTiers};
use ralph::mutation::{GateReport, Verdict};
use ralph::source::{ChangedLines, RepoPath};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

tests! {
    scripts: [
        mutants_of_python_are_killed_or_named_with_line_and_change,
        mutants_of_typescript_are_killed_or_named_with_line_and_change,
    ]
    scripts deep: [
        python_that_is_red_or_hidden_or_untested_is_no_pass,
        own_tests_are_asked_first_and_all_where_these_do_not_suffice,
        python_in_a_package_src_is_judged_whatever_distributes_its_tests,
        a_run_of_pytest_that_fails_without_a_test_kills_nothing,
        typescript_that_is_red_or_asks_whether_it_is_mutated_is_no_pass,
        each_language_is_judged_by_its_engine_and_the_worst_verdict_stands,
    ]
    nothing: [
        what_is_not_installed_is_an_error_that_says_how,
        a_crash_of_stryker_is_named,
        a_rust_engine_that_is_absent_or_old_or_leaves_no_results_gives_no_verdict,
    ]
    cargo_mutants: [
        mutants_of_rust_are_killed_or_named_with_line_and_change,
    ]
    cargo_mutants deep: [
        rust_that_approves_what_it_finds_kills_nothing,
        rust_that_is_red_or_hidden_or_without_mutants_is_no_pass,
    ]
}

pub(super) fn done(command: &mut Command) {
    command.assert().success();
}

/// Returns a virtual environment with mutmut and cosmic-ray.
pub(crate) fn python() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let packages = ["mutmut==3.8.1", "cosmic-ray==8.7.0", "pytest==8.4.2"];
        installed_from_pypi("python-mutmut-3.8.1", &packages)
    })
}

/// Returns `node_modules` with `StrykerJS` and vitest. `RALPH_STRYKER` names another version (10 needs Node 22).
pub(crate) fn node() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let version = std::env::var_os("RALPH_STRYKER").unwrap_or_else(|| "9.6.1".into());
        let version = version.into_string().unwrap();
        let folder = installed(&format!("node-stryker-{version}"), |folder| {
            fs_err::write(folder.join("package.json"), "{}").unwrap();
            let stryker =
                ["core", "vitest-runner"].map(|part| format!("@stryker-mutator/{part}@{version}"));
            done(
                Command::new("npm")
                    .args(["install", "--no-audit", "--no-fund", "vitest@3.2.4"])
                    .args(stryker)
                    .current_dir(folder),
            );
        });
        folder.join("node_modules")
    })
}

/// The directory of cargo-mutants.
pub(crate) const CARGO_MUTANTS: &str = "cargo-mutants-27.1.0";

/// Returns the PATH with cargo-mutants.
pub(super) fn rust() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = installed(CARGO_MUTANTS, |folder| {
            let version = [
                "install",
                "cargo-mutants@27.1.0",
                "--locked",
                "--debug",
                "--quiet",
                "--root",
            ];
            let mut cargo = Command::new("cargo");
            cargo.env("CARGO_PROFILE_DEV_DEBUG", "false");
            done(cargo.args(version).arg(folder));
        });
        format!(
            "{}:{}",
            folder.join("bin").display(),
            std::env::var_os("PATH").unwrap().display()
        )
    })
}

const PRICE: &str = "def net(gross, rate):\n    return gross - rate\n\n\nclass Cart:\n    def total(self):\n        return 40 + 2\n";

fn python_project(test: &str) -> Project {
    let mut project = Project::new();
    project.request.name = "MUTMUT".to_owned();
    symlink(python(), project.root().join(".venv")).unwrap();
    project.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\npythonpath = [\"src\"]\n[tool.mutmut]\ndo_not_mutate = [\"*\"]\n",
    );
    project
        .write("src/shop/__init__.py", "")
        .write("src/shop/price.py", PRICE);
    project.write(
        "tests/test_price.py",
        &format!("from shop.price import Cart, net\n\n\ndef test_price():\n{test}"),
    );
    project.changed(&["src/shop/price.py", "tests/test_price.py"]);
    project
}

fn mutants_of_python_are_killed_or_named_with_line_and_change() {
    let mut project = python_project("    assert net(100, 10) == 90\n    Cart().total()\n");
    let weak = project.run();
    let said = reasons(&weak);
    assert!(
        said.starts_with("The mutation score of file src/shop/price.py of package p is "),
        "{said}"
    );
    assert_eq!(weak.failing, ["p/src/shop/price.py"]);
    let survivor = weak
        .survivors
        .iter()
        .find(|survivor| survivor.mutant.line == 7)
        .unwrap();
    assert_eq!(survivor.mutant.method, "Cart.total");
    assert!(
        survivor
            .mutant
            .description
            .starts_with("replaced `return 40 + 2` by `return "),
        "{survivor:?}"
    );
    assert_eq!(survivor.tests, ["tests/test_price.py::test_price"]);

    project.write("tests/test_price.py", "from shop.price import Cart, net\n\n\ndef test_price():\n    assert net(100, 10) == 90\n    assert Cart().total() == 42\n");
    let strong = project.run();
    assert_eq!(strong.verdict, Verdict::Pass, "{strong:?}");
    assert_eq!(strong.coverage.killed, strong.coverage.total);

    project.write("src/shop/größe.py", "def one():\n    return 1\n");
    project.changed(&["src/shop/größe.py"]);
    assert_eq!(
        project.run().left_out.len(),
        1,
        "a name that git quotes is one of the language, too"
    );

    project.changed(&["tests/test_price.py"]);
    let tests_only = project.run();
    assert!(
        matches!(tests_only.verdict, Verdict::Skip { .. }),
        "{tests_only:?}"
    );
}

fn python_that_is_red_or_hidden_or_untested_is_no_pass() {
    let mut project = python_project("    assert net(100, 10) == 91\n");
    let said = reasons(&project.run());
    assert!(
        said.contains("fail without any mutation: FAILED tests/test_price.py::test_price"),
        "{said}"
    );
    project.changed(&["tests/test_price.py"]);
    assert!(
        reasons(&project.run()).contains("fail without any mutation"),
        "red tests are no SKIP either"
    );

    let hidden = PRICE.replace(
        "return gross - rate",
        "return gross - rate  # pragma: no mutate",
    );
    let project = python_project("    net(100, 10)\n    assert Cart().total() == 42\n");
    project.write("src/shop/price.py", &hidden);
    let report = project.run();
    assert_eq!(report.coverage.to_string(), "75% (3/4)", "{report:?}");
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.contains("were not obeyed: src/shop/price.py")),
        "{report:?}"
    );

    let mut project = python_project("    pass\n");
    let said = reasons(&project.run());
    assert!(said.starts_with("No test reaches any of the "), "{said}");
    fs_err::remove_file(project.root().join("tests/test_price.py")).unwrap();
    project.changed(&["src/shop/price.py"]);
    let left = project.run();
    assert!(matches!(left.verdict, Verdict::Skip { .. }), "{left:?}");
    assert_eq!(
        left.left_out[0].why,
        "no test file belongs to it (test_price.py, price_test.py)"
    );
    project
        .request
        .former_targets
        .insert("p/src/shop/price.py".to_owned());
    assert_eq!(
        reasons(&project.run()),
        "No test of p ran, so no mutant was killed."
    );
}

/// Options as pytest-xdist and others define them: with `--numprocesses` tests run elsewhere.
const DISTRIBUTES: &str = "import pytest
def pytest_addoption(parser):
    parser.addoption('--numprocesses', type=int)
    parser.addoption('--timeout', type=float)
def pytest_runtestloop(session):
    return True if session.config.option.numprocesses or session.config.option.timeout else None
";

fn python_in_a_package_src_is_judged_whatever_distributes_its_tests() {
    let project =
        python_project("    assert net(100, 10) == 90\n    assert Cart().total() == 42\n");
    let settings = "[tool.pytest.ini_options]\npythonpath = [\".\"]\naddopts = \"--numprocesses=2 --timeout=1\"\n";
    project
        .write("pyproject.toml", settings)
        .write("conftest.py", DISTRIBUTES);
    project.write("src/__init__.py", "");
    let test = fs_err::read_to_string(project.root().join("tests/test_price.py")).unwrap();
    project.write(
        "tests/test_price.py",
        &test.replace("from shop", "from src.shop"),
    );
    // No file of the package is loaded instead of a module of the engine.
    project
        .write("mutmut/__init__.py", "")
        .write("mutmut/__main__.py", "raise SystemExit(0)\n");
    project.write("pytest.py", "raise SystemExit(0)\n");
    let report = project.run();
    assert_eq!(
        (&report.verdict, report.coverage.to_string()),
        (&Verdict::Pass, "100% (4/4)".to_owned()),
        "{report:?}"
    );
}

/// Fails a run of fewer than two tests, as a coverage threshold does.
const THRESHOLD: &str = "def pytest_sessionfinish(session):
    if session.testscollected < 2:
        session.exitstatus = 1
";

fn a_run_of_pytest_that_fails_without_a_test_kills_nothing() {
    let project = python_project("    net(100, 10)\ndef test_cart():\n    Cart().total()\n");
    project.write("conftest.py", THRESHOLD);
    let (why, _) = error(&project.run());
    assert!(
        why.contains("Most mutants of file src/shop/price.py of package p have no verdict"),
        "{why}"
    );
}

/// Returns the names of the runs, each with its number of tests.
fn tiers(report: &GateReport) -> Vec<(&str, u64)> {
    report
        .trace
        .tiers
        .iter()
        .map(|tier| (tier.name.as_str(), tier.tests_total))
        .collect()
}

fn own_tests_are_asked_first_and_all_where_these_do_not_suffice() {
    let strong = "    assert net(100, 10) == 90\n    assert Cart().total() == 42\n";
    let mut project = python_project(strong);
    // Unrelated tests neither delay nor decide it.
    project.write(
        "tests/test_other.py",
        "def test_other():\n    assert False\n",
    );
    let report = project.run();
    assert_eq!(
        (&report.verdict, tiers(&report)),
        (&Verdict::Pass, vec![("own", 1)]),
        "{report:?}"
    );
    project.settings.tests = TestTiers::All;
    assert!(
        reasons(&project.run()).contains("fail without any mutation: FAILED tests/test_other.py")
    );
    project.settings.tests = TestTiers::OwnFirst;
    project.settings.no_coverage = NoCoverage::Ignore;
    assert!(
        reasons(&project.run()).contains("tests/test_other.py"),
        "more tests could lower such a score"
    );

    let mut project = python_project("    net(100, 10)\n");
    project.write(
        "tests/test_shop.py",
        &format!("from shop.price import Cart, net\n\n\ndef test_shop():\n{strong}"),
    );
    let report = project.run();
    assert_eq!(
        (&report.verdict, tiers(&report)),
        (&Verdict::Pass, vec![("all", 0)]),
        "{report:?}"
    );
    project.settings.tests = TestTiers::Own;
    let said = reasons(&project.run());
    assert!(
        said.starts_with("The mutation score of file src/shop/price.py of package p is 0% (0/4)"),
        "{said}"
    );

    let mut project = node_project(CALC, "expect(add(1, 2)).toBe(3);");
    let red = "import { expect, test } from 'vitest';\nimport { add } from '../src/calc';\ntest('other', () => { expect(add(1, 2)).toBe(4); });\n";
    project.write("test/other.test.ts", red);
    project.settings.tests = TestTiers::OwnFirst;
    let report = project.run();
    assert_eq!(
        (&report.verdict, tiers(&report)),
        (&Verdict::Pass, vec![("own", 1)]),
        "{report:?}"
    );
    assert_eq!(report.coverage.to_string(), "100% (2/2)");
}

const CALC: &str = "export function add(a: number, b: number): number {\n  return a + b;\n}\n";

fn node_project(code: &str, test: &str) -> Project {
    let project = uninstalled_node_project(code, test);
    symlink(node(), project.root().join("node_modules")).unwrap();
    project
}

fn uninstalled_node_project(code: &str, test: &str) -> Project {
    let mut project = Project::new();
    project.request.name = "STRYKER".to_owned();
    // One run of Stryker for each verdict, since each takes seconds.
    project.settings.tests = TestTiers::All;
    project.write(
        "package.json",
        r#"{"name": "calc", "type": "module", "devDependencies": {"vitest": "3"}}"#,
    );
    project.write(
        "stryker.config.json",
        r#"{"mutate": ["!**/*"], "thresholds": {"break": 101}}"#,
    );
    project.write("src/calc.ts", code);
    project.write("test/calc.test.ts", &format!("import {{ expect, test }} from 'vitest';\nimport {{ add }} from '../src/calc';\ntest('adds', () => {{ {test} }});\n"));
    project.changed(&["src/calc.ts", "test/calc.test.ts"]);
    project
}

fn mutants_of_typescript_are_killed_or_named_with_line_and_change() {
    let project = node_project(CALC, "expect(add(0, 0)).toBe(0);");
    let weak = project.run();
    let said = reasons(&weak);
    assert!(
        said.starts_with("The mutation score of file src/calc.ts of package p is 50% (1/2)"),
        "{said}"
    );
    let survivor = &weak.survivors[0];
    assert_eq!(
        (survivor.mutant.line, survivor.source.as_str()),
        (2, "return a + b;")
    );
    assert_eq!(survivor.mutant.description, "replaced `a + b` by `a - b`");
    assert_eq!(survivor.tests, ["adds"]);
    // ralph's own page and Stryker's, each with the mutants as JSON next to it.
    for (page, file) in weak.reports.iter().zip(["p/src/calc.ts", "src/calc.ts"]) {
        let page = project.workspace().join(page);
        assert!(page.is_file());
        let standard = fs_err::read_to_string(page.with_file_name("mutation.json")).unwrap();
        let standard: serde_json::Value = serde_json::from_str(&standard).unwrap();
        assert_eq!(
            standard["files"][file]["mutants"].as_array().unwrap().len(),
            2
        );
    }
    assert_eq!(weak.reports.len(), 2);
    assert_eq!(
        fs_err::read_dir(project.request.folder.join("work"))
            .unwrap()
            .count(),
        0,
        "no copy is kept"
    );

    let more = format!(
        "export function sub(a: number, b: number): number {{\n  return a - b;\n}}\n{CALC}"
    );
    let mut lines = node_project(&more, "expect(add(0, 0)).toBe(0);");
    lines.settings.scope = ScopeKind::Lines;
    lines.request.packages[0].lines = [(
        RepoPath::from_bytes(b"src/calc.ts"),
        ChangedLines::Ranges(vec![(5, 5)]),
    )]
    .into();
    let report = lines.run();
    assert!(reasons(&report).contains("0% (0/1)"), "{report:?}");
    let own = lines
        .workspace()
        .join(report.reports.last().unwrap())
        .with_file_name("mutation.json");
    let own: serde_json::Value =
        serde_json::from_str(&fs_err::read_to_string(own).unwrap()).unwrap();
    let made = own["files"]["src/calc.ts"]["mutants"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(made, 1, "nothing above the changed line is mutated: {own}");
}

fn typescript_that_is_red_or_asks_whether_it_is_mutated_is_no_pass() {
    let red = node_project(CALC, "expect(add(1, 2)).toBe(4);").run();
    assert!(
        reasons(&red).contains("The tests of p fail without any mutation: adds"),
        "{red:?}"
    );

    let asks = node_project(
        CALC,
        "if ((globalThis as any).__stryker__?.activeMutant) throw new Error();",
    );
    let said = reasons(&asks.run());
    assert!(
        said.starts_with("test/calc.test.ts names `__stryker__`"),
        "{said}"
    );
}

const RATE: &str = "pub fn net(gross: i64, rate: i64) -> i64 {\n    gross - rate\n}\n";

/// Returns Rust code with a test.
pub(super) fn with_test(code: &str, test: &str) -> String {
    format!("{code}\n#[{}]\nfn nets() {{\n    {test}\n}}\n", "test")
}

/// Returns a member of a Cargo workspace, whose own settings would exclude everything.
fn rust_project(code: &str, test: &str, path: &str) -> Project {
    let mut project = Project::new();
    project.request.name = "CARGO-MUTANTS".to_owned();
    project.set_path(path);
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"rate\"]\nresolver = \"3\"\n",
    );
    project.write(".cargo/mutants.toml", "exclude_globs = [\"**\"]\n");
    project.write(
        "rate/Cargo.toml",
        "[package]\nname = \"rate\"\nedition = \"2024\"\n",
    );
    project.write(
        "rate/src/lib.rs",
        "#![deny(warnings)]\npub mod a;\npub mod b;\n",
    );
    project.write("rate/src/b.rs", "pub const B: i64 = 1;\n");
    project.write("rate/src/a.rs", &with_test(code, test));
    project.changed(&["rate/src/a.rs"]);
    project
}

/// Cargo gives integration tests a directory that lives as long as the compiled files.
fn rust_that_approves_what_it_finds_kills_nothing() {
    let project = rust_project(RATE, "net(2, 0);", rust());
    project.write(
        "rate/tests/approve.rs",
        &"@test\nfn approves() {\n    let file = std::path::Path::new(env!(\"CARGO_TARGET_TMPDIR\")).join(\"approved\");\n\
        \x20   let now = rate::a::net(7, 3).to_string();\n\
        \x20   if !file.exists() {\n        std::fs::write(&file, &now).unwrap();\n    }\n\
        \x20   assert_eq!(std::fs::read_to_string(&file).unwrap(), now);\n}\n"
            .replace("@test", &format!("#[{}]", "test")),
    );
    let said = reasons(&project.run());
    assert!(
        said.contains("compare with what an earlier run of them wrote"),
        "{said}"
    );
    assert!(said.contains("/tmp/approved"), "{said}");
}

fn mutants_of_rust_are_killed_or_named_with_line_and_change() {
    let mut project = rust_project(RATE, "assert_eq!(net(2, 0), 2);", rust());
    project
        .write("rate/target/CACHEDIR.TAG", "")
        .write("rate/target/rust.rs", "broken");
    project.settings.threshold = 90;
    let weak = project.run();
    let said = reasons(&weak);
    assert!(
        said.starts_with("The mutation score of file rate/src/a.rs of package p is 80% (4/5)"),
        "{said} {weak:?}"
    );
    let survivor = &weak.survivors[0];
    assert_eq!(
        (survivor.mutant.line, survivor.source.as_str()),
        (2, "gross - rate")
    );
    assert_eq!(
        (
            survivor.mutant.method.as_str(),
            survivor.mutant.description.as_str()
        ),
        ("net", "replaced `-` by `+`")
    );
    assert_eq!(weak.failing, ["p/rate/src/a.rs"]);

    project.write(
        "rate/src/a.rs",
        &with_test(RATE, "assert_eq!(net(7, 3), 4);"),
    );
    let strong = project.run();
    assert_eq!(
        (strong.verdict, strong.coverage.to_string()),
        (Verdict::Pass, "100% (5/5)".to_owned())
    );
    assert_eq!(
        fs_err::read_dir(project.request.folder.join("work"))
            .unwrap()
            .count(),
        0,
        "no copy is kept"
    );
}

fn rust_that_is_red_or_hidden_or_without_mutants_is_no_pass() {
    let mut red = rust_project(RATE, "assert_eq!(net(7, 3), 5);", rust());
    let fails = "fail without any mutation: test a::nets ... FAILED";
    assert!(reasons(&red.run()).contains(fails), "{:?}", red.run());
    red.changed(&["rate/src/b.rs"]);
    assert!(
        reasons(&red.run()).contains("fail without any mutation"),
        "red tests are no SKIP either"
    );
    let broken = rust_project(RATE, "assert_eq!(net(7, 3), x);", rust()).run();
    assert!(
        reasons(&broken).contains("error[E0425]: cannot find value `x`"),
        "{broken:?}"
    );

    let hidden = format!("#[cfg_attr(never, mutants /* no */ :: skip)]\n{RATE}");
    let report = rust_project(&hidden, "net(7, 3);", rust()).run();
    assert!(reasons(&report).contains("0% (0/5)"), "{report:?}");
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.ends_with("were not obeyed: rate/src/a.rs.")),
        "{report:?}"
    );

    let mut nothing = rust_project(RATE, "net(7, 3);", rust());
    nothing.changed(&["rate/src/b.rs"]);
    let why = "There is nothing to mutate in rate/src/b.rs.".to_owned();
    assert_eq!(nothing.run().verdict, Verdict::Skip { why });
    let odd = "pub struct Odd(());\npub fn odd() -> Odd {\n    Odd(())\n}\n";
    let unviable = rust_project(odd, "odd();", rust()).run();
    assert!(
        matches!(unviable.verdict, Verdict::Skip { .. }),
        "{unviable:?}"
    );
    assert_eq!(
        unviable.remarks,
        ["No mutant of rate/src/a.rs compiles (1)."]
    );

    let loops =
        "pub fn down(mut n: u8) -> u8 {\n    while n > 9 {\n        n -= 1;\n    }\n    n\n}\n";
    let mut endless = rust_project(
        loops,
        "assert_eq!((down(10), down(9), down(3)), (9, 9, 3));",
        rust(),
    );
    endless.settings.scope = ScopeKind::Lines;
    endless.request.packages[0].lines = [(
        RepoPath::from_bytes(b"rate/src/a.rs"),
        ChangedLines::Ranges(vec![(3, 3)]),
    )]
    .into();
    let report = endless.run();
    let tally = report.classes[0].tally;
    assert_eq!(
        (tally.killed, tally.timed_out, tally.survived),
        (1, 1, 0),
        "{report:?}"
    );
    let logs = fs_err::read_dir(endless.request.folder.join("logs")).unwrap();
    let logs: String = logs
        .map(|log| fs_err::read_to_string(log.unwrap().path()).unwrap())
        .collect();
    assert!(
        logs.contains("Found 2 mutants to test"),
        "only those on the line are made: {logs}"
    );
}

/// `StrykerJS` ends like this if `ps` is missing.
fn a_crash_of_stryker_is_named() {
    let project = uninstalled_node_project(CALC, "expect(add(1, 2)).toBe(3);");
    let stryker = project.root().join("node_modules/.bin/stryker");
    fs_err::create_dir_all(stryker.parent().unwrap()).unwrap();
    let crash = "node:events:487\n      throw er;\n\nError: spawn ps ENOENT\n    at onErrorNT";
    fs_err::write(&stryker, format!("#!/bin/sh\necho '{crash}'\nexit 1\n")).unwrap();
    fs_err::set_permissions(stryker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (reason, _) = error(&project.run());
    assert!(reason.ends_with(": Error: spawn ps ENOENT."), "{reason}");
}

fn a_rust_engine_that_is_absent_or_old_or_leaves_no_results_gives_no_verdict() {
    let mut project = rust_project(RATE, "net(7, 3);", "/nowhere");
    assert_eq!(
        error(&project.run()),
        (
            "No cargo is on the PATH, so p/rate cannot be built.".to_owned(),
            false
        )
    );
    let bin = project.workspace().join("bin");
    fs_err::create_dir_all(&bin).unwrap();
    project.set_path(&format!("{}:/usr/bin:/bin", bin.display()));
    let said = |version: &str, results: &str| {
        let script = format!(
            "#!/bin/sh\ncase \"$1 $2\" in\n'mutants --version') {version} ;;\nlocate*) echo \"$PWD/Cargo.toml\" ;;\n\
             mutants*) out=${{CARGO_TARGET_DIR%target}}mutants.out; mkdir \"$out\"; {results} ;;\nesac\n"
        );
        for program in ["cargo", "cargo-mutants"] {
            let file = bin.join(program);
            fs_err::write(&file, &script).unwrap();
            fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        error(&project.run()).0
    };
    assert_eq!(said("exit 101", ""), "cargo-mutants is not installed.");
    assert_eq!(
        said("echo cargo-mutants 26.2.0", ""),
        "cargo-mutants 26.2.0 is too old for a verdict; 27.0 is the oldest."
    );
    let now = "echo cargo-mutants 27.1.0";
    let none = "cargo-mutants ended without a verdict on p/rate: ";
    assert_eq!(said(now, "exit 0"), format!("{none}it left no results."));
    let cut = said(now, "echo '[{' > \"$out/mutants.json\"");
    assert!(
        cut.starts_with(&format!(
            "{none}its results cannot be read (EOF while parsing "
        )),
        "{cut}"
    );
    let cut =
        "echo '[1]' > \"$out/mutants.json\"; echo '{\"outcomes\": []}' > \"$out/outcomes.json\"";
    assert_eq!(
        said(now, cut),
        format!("{none}some mutants were not tested.")
    );
    assert_eq!(
        said(now, "echo 'error: \u{1b}[1mno'; exit 70"),
        "cargo gave no verdict on p/rate (exited with code 70): error: no."
    );
}

fn each_language_is_judged_by_its_engine_and_the_worst_verdict_stands() {
    // Comments that hide mutants of TypeScript are ignored.
    let hidden = format!("// Stryker disable all\n{CALC}");
    let mut project = node_project(&hidden, "expect(add(1, 2)).toBe(3);");
    project.request.name = "MUTATION".to_owned();
    symlink(python(), project.root().join(".venv")).unwrap();
    project
        .write("pyproject.toml", "")
        .write("price.py", "def net(gross):\n    return gross - 1\n");
    project.write(
        "tests/test_price.py",
        "from price import net\n\n\ndef test_net():\n    net(2)\n",
    );
    project.write("tests/conftest.py", "");
    project.changed(&["src/calc.ts", "price.py", "notes.txt"]);
    let report = project.run();
    assert!(
        reasons(&report).starts_with("The mutation score of file price.py of package p is 0% "),
        "{report:?}"
    );
    let judged: Vec<&str> = report
        .classes
        .iter()
        .map(|class| class.class.as_str())
        .collect();
    assert_eq!(judged, ["price.py", "src/calc.ts"]);
    let tally = report.classes[1].tally;
    assert_eq!((tally.killed, tally.survived), (2, 0), "{report:?}");
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.contains("were not obeyed: src/calc.ts")),
        "{report:?}"
    );
    assert_eq!(report.failing, ["p/price.py"]);

    project.changed(&["notes.txt"]);
    let why = "No file of a language that has a mutation engine was changed.".to_owned();
    assert_eq!(project.run().verdict, Verdict::Skip { why });
}

fn what_is_not_installed_is_an_error_that_says_how() {
    let project = uninstalled_node_project(CALC, "expect(add(1, 2)).toBe(3);");
    assert_eq!(
        error(&project.run()),
        ("StrykerJS is not installed in p.".to_owned(), false)
    );
}
