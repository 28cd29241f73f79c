//! Production code and kills, as gates count them: real mutmut, real `StrykerJS`, real PIT.

use super::files::{node, python};
use super::project::{JUnit, Pom, Project, reasons};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use ralph::mutation::Verdict;
use ralph::source::Classifier;
use std::os::unix::fs::symlink;
use std::path::Path;

tests! {
    maven deep: [
        java_that_approves_what_it_finds_kills_nothing,
    ]
    nothing: [
        settings_of_cargo_that_name_programs_and_engines_of_the_package_are_no_evidence,
    ]
    scripts deep: [
        python_that_production_imports_is_judged_whatever_its_name,
        javascript_that_production_imports_is_judged_whatever_its_name,
        python_that_approves_what_it_finds_kills_nothing,
        javascript_that_approves_what_it_finds_kills_nothing,
    ]
}

/// Returns the kinds of files by the default patterns.
fn classifier() -> Classifier {
    let files = ralph::config::parse("", Path::new("/w"), &[])
        .unwrap()
        .files;
    Classifier::new(&files.test, &files.production, &files.build).unwrap()
}

/// Sets the files that the task changed, with their kinds by name.
fn changed(project: &mut Project, paths: &[&str]) {
    project.changed(paths);
    let classifier = classifier();
    let package = &mut project.request.packages[0];
    for change in &mut package.changes {
        change.kind = classifier.kind(&change.path);
    }
    package.classifier = Some(classifier);
}

const LOGIC: &str = "def cents(q):\n    c = q * 100\n    if q > 10:\n        c -= 50\n    if q > 100:\n        c -= 500\n    return c\n";

fn python_project() -> Project {
    let mut project = Project::new();
    project.request.name = "MUTMUT".to_owned();
    project.settings.tests = TestTiers::All;
    symlink(python(), project.root().join(".venv")).unwrap();
    project
        .write(
            "pyproject.toml",
            "[project]\nname = \"shop\"\nversion = \"1\"\n",
        )
        .write("shop/__init__.py", "");
    project
}

fn node_project() -> Project {
    let mut project = Project::new();
    project.request.name = "STRYKER".to_owned();
    project.settings.tests = TestTiers::All;
    symlink(node(), project.root().join("node_modules")).unwrap();
    let package = r#"{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "3"}}"#;
    project.write("package.json", package);
    project
}

fn python_that_production_imports_is_judged_whatever_its_name() {
    let mut project = python_project();
    project.write("shop/price_test.py", LOGIC);
    project.write(
        "shop/price.py",
        "from shop.price_test import cents\n\n\ndef eight():\n    return 8\n",
    );
    let test = "from shop.price import cents, eight\n\n\ndef test_runs():\n    cents(5), cents(50), cents(500)\n    assert eight() == 8\n";
    project.write("tests/test_price.py", test);
    let all = ["shop/price_test.py", "shop/price.py", "tests/test_price.py"];
    changed(&mut project, &all);
    let weak = project.run();
    assert_eq!(weak.failing, ["p/shop/price_test.py"], "{weak:?}");
    let remark = "p/shop/price_test.py is judged as production code, since shop/price.py loads it.";
    assert!(weak.remarks.iter().any(|said| said == remark), "{weak:?}");
    // On its own it is no SKIP either.
    changed(&mut project, &["shop/price_test.py"]);
    assert_eq!(project.run().failing, ["p/shop/price_test.py"]);

    // Honest: code that only tests import counts as tests, and a name that only resembles a test's is production
    // code.
    project.write(
        "tests/cases.py",
        "CASES = [(5, 500), (11, 1050)]\n\n\ndef of(n):\n    return CASES[n]\n",
    );
    project.write("shop/contest.py", LOGIC);
    let test = "from shop.contest import cents\nfrom tests.cases import CASES, of\n\n\ndef test_all():\n    assert of(0) == CASES[0]\n    for q, c in [*CASES, (10, 1000), (100, 9950), (101, 9550)]:\n        assert cents(q) == c\n";
    project
        .write("tests/__init__.py", "")
        .write("tests/test_contest.py", test);
    changed(
        &mut project,
        &["shop/contest.py", "tests/test_contest.py", "tests/cases.py"],
    );
    let honest = project.run();
    assert_eq!(honest.verdict, Verdict::Pass, "{honest:?}");
    assert_eq!(honest.remarks, Vec::<String>::new(), "{honest:?}");
}

const SCRIPT: &str = "export function cents(q) {\n  let c = q * 100\n  if (q > 10) c -= 50\n  if (q > 100) c -= 500\n  return c\n}\n";

fn javascript_that_production_imports_is_judged_whatever_its_name() {
    let mut project = node_project();
    let logic = "if (process.env.VITEST) { const { test } = await import('vitest'); test('loads', () => {}) }\n";
    project.write("src/impl.spec.js", &format!("{SCRIPT}{logic}"));
    project.write(
        "src/price.js",
        "export { cents } from './impl.spec.js'\nexport const eight = () => 8\n",
    );
    let test = "import { test, expect } from 'vitest'\nimport { cents, eight } from './price.js'\ntest('runs', () => { cents(5); cents(50); cents(500); expect(eight()).toBe(8) })\n";
    project.write("src/price.test.js", test);
    changed(
        &mut project,
        &["src/impl.spec.js", "src/price.js", "src/price.test.js"],
    );
    let weak = project.run();
    assert!(reasons(&weak).contains("src/impl.spec.js"), "{weak:?}");
    assert_eq!(weak.failing, ["p/src/impl.spec.js"], "{weak:?}");
}

/// Returns a test that writes its expectation to `path`, if it is missing.
fn approving(path: &str) -> String {
    format!(
        "import os, tempfile\nfrom shop import price\n\nGOLDEN = {path}\n\n\ndef test_is_as_approved():\n    now = str([price.cents(q) for q in (5, 10, 11, 50, 100, 101, 500)])\n    if not os.path.exists(GOLDEN):\n        open(GOLDEN, 'w').write(now)\n    assert open(GOLDEN).read() == now\n"
    )
}

fn python_that_approves_what_it_finds_kills_nothing() {
    let mut project = python_project();
    project.write("shop/price.py", LOGIC);
    changed(&mut project, &["shop/price.py", "tests/test_price.py"]);
    for (path, named) in [
        (
            "os.path.join(tempfile.gettempdir(), 'price.approved')",
            "/tmp/price.approved",
        ),
        ("os.path.expanduser('~/price.approved')", "~/price.approved"),
        (
            "os.path.join(os.path.dirname(__file__), 'price.approved')",
            "tests/price.approved",
        ),
    ] {
        project.write("tests/test_price.py", &approving(path));
        let said = reasons(&project.run());
        assert!(
            said.contains("compare with what an earlier run of them wrote"),
            "{said}"
        );
        assert!(said.contains(named), "{said}");
    }
    // Honest: the committed content is an expectation, and a log that no test reads is not.
    let committed = "[500, 1000, 1050, 4950, 9950, 9550, 49450]";
    project.write("tests/price.approved", committed);
    let last = "    open(os.path.join(tempfile.gettempdir(), 'log'), 'a').write(now)\n";
    project.write(
        "tests/test_price.py",
        &(approving("os.path.join(os.path.dirname(__file__), 'price.approved')") + last),
    );
    let honest = project.run();
    assert_eq!(honest.verdict, Verdict::Pass, "{honest:?}");
}

fn javascript_that_approves_what_it_finds_kills_nothing() {
    let mut project = node_project();
    project.write("src/price.js", SCRIPT);
    changed(&mut project, &["src/price.js", "src/price.test.js"]);
    let snapshot = "import { test, expect } from 'vitest'\nimport { cents } from './price.js'\ntest('all', () => { expect([5, 10, 11, 50, 100, 101, 500].map(cents)).toMatchSnapshot() })\n";
    project.write("src/price.test.js", snapshot);
    let said = reasons(&project.run());
    assert!(said.contains("fail without any mutation"), "{said}");

    let own = "import { test, expect } from 'vitest'\nimport { existsSync, readFileSync, writeFileSync } from 'node:fs'\nimport { tmpdir } from 'node:os'\nimport { cents } from './price.js'\ntest('all', () => {\n  const file = tmpdir() + '/price.approved', now = JSON.stringify([5, 10, 11, 50, 100, 101, 500].map(cents))\n  if (!existsSync(file)) writeFileSync(file, now)\n  expect(readFileSync(file, 'utf8')).toBe(now)\n})\n";
    project.write("src/price.test.js", own);
    let said = reasons(&project.run());
    assert!(
        said.contains("compare with what an earlier run of them wrote"),
        "{said}"
    );

    // Honest: a snapshot that the commit holds.
    project.write("src/price.test.js", snapshot);
    let committed = "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`all 1`] = `\n[\n  500,\n  1000,\n  1050,\n  4950,\n  9950,\n  9550,\n  49450,\n]\n`;\n";
    project.write("src/__snapshots__/price.test.js.snap", committed);
    let honest = project.run();
    assert_eq!(honest.verdict, Verdict::Pass, "{honest:?}");
}

const JAVA: &str = "public class Price { public int cents(int q) { int c = q * 100; if (q > 10) c -= 50; if (q > 100) c -= 500; return c; } }";

/// Returns a test that writes its expectation to `path`, if it is missing.
fn approving_class(path: &str) -> String {
    format!(
        "import java.nio.file.*;\nclass PriceTest {{ @org.junit.jupiter.api.Test void approved() throws Exception {{\n Path file = {path};\n StringBuilder now = new StringBuilder();\n for (int q : new int[] {{5, 10, 11, 50, 100, 101, 500}}) now.append(new Price().cents(q)).append(' ');\n if (!Files.exists(file)) Files.writeString(file, now);\n Files.writeString(Files.createTempFile(\"seen\", \".log\"), now);\n org.junit.jupiter.api.Assertions.assertEquals(Files.readString(file), now.toString());\n}} }}"
    )
}

fn java_that_approves_what_it_finds_kills_nothing() {
    let mut project = Project::new();
    project.write("pom.xml", &Pom::new("approved", JUnit::Five).text());
    project.class("src/main/java/com/acme/Price.java", JAVA);
    let test = "src/test/java/com/acme/PriceTest.java";
    project.changed(&["src/main/java/com/acme/Price.java", test]);
    for (path, named) in [
        (
            "Paths.get(System.getProperty(\"java.io.tmpdir\"), \"price.approved\")",
            "/tmp/price.approved",
        ),
        (
            "Paths.get(\"target\", \"price.approved\")",
            "target/price.approved",
        ),
    ] {
        project.class(test, &approving_class(path));
        let said = reasons(&project.run());
        assert!(
            said.contains("compare with what an earlier run of them wrote"),
            "{said}"
        );
        assert!(said.contains(named), "{said}");
    }
    // Honest: the committed content is an expectation, and a log that no test reads is not.
    project.write(
        "src/test/resources/price.approved",
        "500 1000 1050 4950 9950 9550 49450 ",
    );
    project.class(
        test,
        &approving_class("Paths.get(\"src/test/resources/price.approved\")"),
    );
    let honest = project.run();
    assert_eq!(honest.verdict, Verdict::Pass, "{honest:?}");
}

fn settings_of_cargo_that_name_programs_and_engines_of_the_package_are_no_evidence() {
    let mut project = Project::new();
    project.request.name = "CARGO-MUTANTS".to_owned();
    project
        .write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nedition = \"2024\"\n",
        )
        .write("src/lib.rs", "pub fn seven() -> u32 { 7 }\n");
    for text in [
        "[target.'cfg(all())']\nrunner = [\"sh\", \"run.sh\"]\n",
        "[alias]\nmutants = \"run --bin mine\"\n",
        "[build]\n\"rustc-wr\\u0061pper\" = \"sh\"\n",
    ] {
        project.write(".cargo/config.toml", text);
        changed(&mut project, &["src/lib.rs", ".cargo/config.toml"]);
        let said = reasons(&project.run());
        assert!(
            said.starts_with("p/.cargo/config.toml was changed and holds `"),
            "{said}"
        );
    }

    // The installed program is a link to a directory of the package itself.
    let mut project = Project::new();
    project.request.name = "STRYKER".to_owned();
    let engine = "#!/bin/sh\nexit 0\n";
    project
        .write("package.json", "{}")
        .write("tools/stryker/stryker.js", engine)
        .write("src/price.js", SCRIPT)
        .write("src/price.test.js", "");
    fs_err::create_dir_all(project.root().join("node_modules/.bin")).unwrap();
    symlink(
        "../../tools/stryker/stryker.js",
        project.root().join("node_modules/.bin/stryker"),
    )
    .unwrap();
    changed(&mut project, &["src/price.js", "src/price.test.js"]);
    let said = reasons(&project.run());
    assert_eq!(
        said,
        "StrykerJS would be tools/stryker/stryker.js of p: a file of the package is no engine."
    );
}
