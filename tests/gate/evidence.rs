//! What counts as production code and as a kill where an engine mutates files: real mutmut, real `StrykerJS`.

use super::files::{node, python};
use super::project::{Project, reasons};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use ralph::mutation::Verdict;
use ralph::source::Classifier;
use std::os::unix::fs::symlink;
use std::path::Path;

tests! {
    scripts deep: [
        python_that_production_imports_is_judged_whatever_its_name,
        javascript_that_production_imports_is_judged_whatever_its_name,
    ]
}

/// The kinds that files have by the default patterns.
fn classifier() -> Classifier {
    let files = ralph::config::parse("", Path::new("/w"), &[])
        .unwrap()
        .files;
    Classifier::new(&files.test, &files.production, &files.build).unwrap()
}

/// Says which files the family changed, and what each is by its name.
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
    let remark = "p/shop/price_test.py is judged as production code: shop/price.py loads it, whatever its name.";
    assert!(weak.remarks.iter().any(|said| said == remark), "{weak:?}");
    // Alone it is no SKIP either.
    changed(&mut project, &["shop/price_test.py"]);
    assert_eq!(project.run().failing, ["p/shop/price_test.py"]);

    // Honest: what tests alone import stays theirs, and a name that only sounds like a test's is production code.
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
