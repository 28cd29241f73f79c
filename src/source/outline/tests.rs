use super::SourceOutline;

fn of(name: &str, source: &str) -> SourceOutline {
    SourceOutline::of(name.as_bytes(), source.as_bytes())
        .unwrap_or_else(|| panic!("{name} is not read: {source}"))
}

fn count(name: &str, source: &str) -> u64 {
    of(name, source).tests()
}

fn lost(name: &str, written: &str, now: &str) -> Option<(u64, String)> {
    SourceOutline::lost(None, &of(name, written), &of(name, now))
}

/// Returns the number of tests now, minus the number before.
fn delta(name: &str, before: &str, now: &str) -> i64 {
    let (before, now) = (of(name, before), of(name, now));
    now.tests_since(&before).cast_signed() - before.tests().cast_signed()
}

const PY: &str = "import price\nimport pytest\n\nRATE = 2\n\ndef due():\n    return 6\n\n\nclass TestPrice:\n    def test_adds(self):\n        assert price.of(RATE) == due()\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_many(n):\n    assert price.of(n) == 3 * n\n";

#[test]
fn honest_changes_of_a_python_file_lose_nothing() {
    for (from, to) in [
        ("import price", "from shop import price"),
        ("RATE = 2", "# the rate\nRATE = 2  # fixed"),
        (
            "'n', [1, 2]",
            "\"n\",\n    [\n        1,\n        2,\n    ],\n",
        ),
        (
            "class TestPrice:",
            "def helper():\n    return 1\n\n\nclass TestPrice:",
        ),
        (
            "    def test_adds",
            "    def test_more(self):\n        assert price.of(0) == 0\n\n    def test_adds",
        ),
        (
            "class TestPrice:\n",
            "class TestPrice:\n    \"\"\"Prices.\"\"\"\n",
        ),
        ("def test_many(n):", "def test_many(n):"),
    ] {
        assert_eq!(
            lost("a.py", PY, &PY.replace(from, to)),
            None,
            "{from} → {to}"
        );
        assert!(
            delta("a.py", PY, &PY.replace(from, to)) >= 0,
            "{from} → {to}"
        );
    }
    let main = format!("{PY}\nif __name__ == '__main__':\n    pytest.main()\n");
    assert_eq!(lost("a.py", PY, &main), None);
}

#[test]
fn frozen_python_tests_are_lost_where_they_no_longer_say_the_same() {
    for (from, to) in [
        (
            "import price\nimport pytest\n",
            "import price\nimport pytest\n'''\n",
        ),
        ("class TestPrice:", "if False:\n  class TestPrice:"),
        ("== due()", "== due() or True"),
        (
            "    def test_adds",
            "    @pytest.mark.skip\n    def test_adds",
        ),
        (
            "        assert price.of(RATE)",
            "        return\n        assert price.of(RATE)",
        ),
        ("[1, 2]", "[]"),
        ("return 6", "return price.of(RATE)"),
        ("RATE = 2", "RATE = 0"),
        ("class TestPrice:", "class TestPrice(Off):"),
        ("class TestPrice:", "class TestPrice:\n    __test__ = False"),
        (
            "class TestPrice:",
            "class TestPrice:\n    def __init__(self):\n        pass",
        ),
        (
            "class TestPrice:",
            "class TestPrice:\n    def setup_method(self):\n        pytest.skip('later')",
        ),
        ("RATE = 2", "pytestmark = pytest.mark.skip\nRATE = 2"),
        ("RATE = 2", "raise SystemExit\nRATE = 2"),
        ("RATE = 2", "class price:\n    of = lambda n: 6\nRATE = 2"),
        ("RATE = 2", "RATE = 2\nx = globals().clear()"),
    ] {
        let mut now = PY.replace(from, to);
        if to.ends_with("'''\n") {
            now.push_str("'''\n");
        }
        if to.starts_with("if False") {
            now = PY.replace(
                "class TestPrice:\n    def test_adds(self):\n        assert",
                "if False:\n  class TestPrice:\n    def test_adds(self):\n        assert",
            );
        }
        assert_ne!(now, PY);
        assert!(lost("a.py", PY, &now).is_some(), "{from} → {to}");
    }
    for more in [
        "test_many = lambda: None",
        "def test_many(): pass",
        "del test_many",
        "from fake import test_many",
        "class TestPrice:\n    pass",
        "TestPrice.test_adds = None",
        "TestPrice.__test__ = False",
        "for name in list(globals()):\n    globals()[name] = None",
        "if True:\n    test_many = None",
        "price.of = lambda n: 6",
        "def due():\n    return 0",
        "def load_tests(*a):\n    return []",
    ] {
        assert!(
            lost("a.py", PY, &format!("{PY}\n{more}\n")).is_some(),
            "{more}"
        );
    }
}

#[test]
fn python_tests_that_no_runner_would_run_do_not_count() {
    assert_eq!(count("a.py", PY), 2);
    for source in [
        "x = 1\n",
        "def test_a():\n    pass\n",
        "def test_a():\n    '''Later.'''\n",
        "if False:\n    def test_a():\n        assert a()\n",
        "if 0:\n    pass\nelif not True:\n    def test_a():\n        assert a()\n",
        "def test_a():\n    return\n    assert a()\n",
        "def test_a():\n    if True:\n        return\n    assert a()\n",
        "def test_a():\n    if False:\n        assert a()\n",
        "def test_a():\n    pytest.skip('later')\n",
        "'''\ndef test_a():\n    assert a()\n'''\n",
        "def test_a():\n    assert a()\n\ntest_a = None\n",
        "def test_a():\n    assert a()\n\nif x:\n    test_a = None\n",
        "def test_a():\n    assert a()\n\ndel test_a\n",
        "@pytest.mark.skip(reason='x')\ndef test_a():\n    assert a()\n",
        "@unittest.skipIf(True, 'x')\ndef test_a():\n    assert a()\n",
        "@pytest.mark.xfail\ndef test_a():\n    assert a()\n",
        "pytestmark = [pytest.mark.skip]\ndef test_a():\n    assert a()\n",
        "pytest.skip('x', allow_module_level=True)\ndef test_a():\n    assert a()\n",
        "raise unittest.SkipTest\ndef test_a():\n    assert a()\n",
        "class TestA:\n    __test__ = False\n    def test_a(self):\n        assert a()\n",
        "class TestA:\n    def test_a(self):\n        assert a()\nTestA.__test__ = False\n",
        "class TestA:\n    def test_a(self):\n        assert a()\nclass TestA:\n    pass\n",
        "class Helper:\n    def test_a(self):\n        assert a()\n",
        "def outer():\n    def test_a():\n        assert a()\n",
    ] {
        assert_eq!(count("a.py", source), 0, "{source}");
    }
    for source in [
        "class A(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(a())\n",
        "if sys.platform == 'linux':\n    def test_a():\n        assert a()\n",
        "@patch('a.b')\nasync def test_a():\n    assert a()\n",
        "def test_a():\n    if x:\n        return\n    assert a()\n",
        "def test_a():\n    assert a()\n    return\n",
        "try:\n    import x\nexcept ImportError:\n    x = None\n\ndef test_a():\n    assert a()\n",
    ] {
        assert_eq!(count("a.py", source), 1, "{source}");
    }
}

#[test]
fn a_condition_that_is_new_around_an_old_test_takes_it_away() {
    let plain = "def test_a():\n    assert a()\n";
    let guarded =
        "@pytest.mark.skipif(sys.version_info > (3,), reason='x')\ndef test_a():\n    assert a()\n";
    assert_eq!(delta("a.py", plain, guarded), -1);
    assert_eq!(delta("a.py", guarded, guarded), 0);
    assert_eq!(delta("a.py", guarded, plain), 0);
    let branch = "if os.environ.get('X'):\n    def test_a():\n        assert a()\n";
    assert_eq!(delta("a.py", plain, branch), -1);
    let own = "def off(f):\n    return None\n\n@off\ndef test_a():\n    assert a()\n";
    assert_eq!(delta("a.py", plain, own), -1);
    let rust = "#[test]\nfn a() { assert!(x()); }\n";
    assert_eq!(
        delta(
            "a.rs",
            rust,
            &format!("#[cfg(feature = \"never\")]\n{rust}")
        ),
        -1
    );
    let js = "it('a', () => { expect(a()).toBe(1); });\n";
    assert_eq!(
        delta("a.js", js, &format!("if (process.env.X) {{ {js} }}")),
        -1
    );
    assert_eq!(
        delta("a.js", js, &js.replace("it(", "it.skipIf(process.env.CI)(")),
        -1
    );
}

const JS: &str = "import { of } from './price';\nconst RATE = 2;\ndescribe('price', () => {\n  beforeEach(() => { open(); });\n  it('adds', () => {\n    expect(of(RATE)).toBe(6);\n  });\n});\ntest.each([[1], [2]])('many %i', (n) => { expect(of(n)).toBe(3 * n) });\n";

#[test]
fn honest_changes_of_a_javascript_file_lose_nothing() {
    for (from, to) in [
        ("'./price'", "\"../src/price.js\""),
        ("'adds'", "\"adds\""),
        ("const RATE = 2;", "// why\nconst RATE = 2\n"),
        ("(n) =>", "n =>"),
        ("toBe(3 * n) }", "toBe(3 * n);\n}"),
        ("[[1], [2]]", "[\n  [1],\n  [2],\n]"),
        (
            "  it('adds'",
            "  it('more', () => { expect(of(0)).toBe(0); });\n  it('adds'",
        ),
        (
            "describe('price'",
            "describe('other', () => {\n  const RATE = 1;\n  it('is', () => { expect(RATE).toBe(1); });\n});\ndescribe('price'",
        ),
        (
            "  beforeEach",
            "  afterEach(() => { close(); });\n  beforeEach",
        ),
    ] {
        for name in ["a.test.js", "a.test.ts", "a.test.tsx"] {
            let now = JS.replace(from, to);
            assert_ne!(now, JS);
            assert_eq!(lost(name, JS, &now), None, "{from} → {to}");
            assert!(delta(name, JS, &now) >= 0, "{from} → {to}");
        }
    }
}

#[test]
fn frozen_javascript_tests_are_lost_where_they_no_longer_say_the_same() {
    for (from, to) in [
        ("it('adds'", "it.skip('adds'"),
        (
            "it('adds'",
            "it('more', () => { expect(1).toBe(1) });\n  if (false) it('adds'",
        ),
        (
            "describe('price', () => {",
            "describe('price', () => {\n  return;",
        ),
        ("describe('price'", "describe.skip('price'"),
        ("expect(of(RATE))", "return; expect(of(RATE))"),
        ("toBe(6)", "toBe(7)"),
        (
            "const RATE = 2;",
            "const RATE = 2;\nconst expect = () => ({ toBe() {} });",
        ),
        ("const RATE = 2;", "const RATE = 2;\nfunction it() {}"),
        (
            "const RATE = 2;",
            "const RATE = 2;\nglobalThis.it = () => {};",
        ),
        (
            "const RATE = 2;",
            "const RATE = 2;\njest.mock('./price', () => ({ of: () => 6 }));",
        ),
        ("const RATE = 2;", "const RATE = 2;\nprocess.exit(0);"),
        (
            "  beforeEach",
            "  beforeEach(function () { this.skip(); });\n  beforeEach",
        ),
        ("open();", ""),
        ("[[1], [2]]", "[]"),
        ("const RATE = 2;", "const RATE = 2;\n/*"),
    ] {
        let mut now = JS.replace(from, to);
        if to.ends_with("/*") {
            now.push_str("*/");
        }
        assert_ne!(now, JS);
        assert!(lost("a.test.js", JS, &now).is_some(), "{from} → {to}");
    }
}

#[test]
fn javascript_tests_that_no_runner_would_run_do_not_count() {
    assert_eq!(count("a.js", JS), 2);
    for source in [
        "it('a');",
        "it.todo('a');",
        "it('a', () => {});",
        "xit('a', () => { expect(1).toBe(2); });",
        "it.skip('a', () => { expect(1).toBe(2); });",
        "test('a', { skip: true }, () => { expect(1).toBe(2); });",
        "it('a', () => { return; expect(1).toBe(2); });",
        "it('a', () => { if (true) return; expect(1).toBe(2); });",
        "it('a', () => { if (false) { expect(1).toBe(2); } });",
        "it('a', function () { this.skip(); expect(1).toBe(2); });",
        "describe.skip('b', () => { it('a', () => { expect(1).toBe(2); }); });",
        "describe('b', () => { return; it('a', () => { expect(1).toBe(2); }); });",
        "if (false) { it('a', () => { expect(1).toBe(2); }); }",
        "if (true) {} else { it('a', () => { expect(1).toBe(2); }); }",
        "for (const x of []) { it('a', () => { expect(1).toBe(2); }); }",
        "[].forEach((x) => { it('a', () => { expect(1).toBe(2); }); });",
        "const it = () => {};\nit('a', () => { expect(1).toBe(2); });",
        "const text = `it('a', () => { expect(1).toBe(2); });`;",
        "function never() { it('a', () => { expect(1).toBe(2); }); }",
        "process.exit(0);\nit('a', () => { expect(1).toBe(2); });",
        "// it('a', () => { expect(1).toBe(2); });",
    ] {
        assert_eq!(count("a.js", source), 0, "{source}");
    }
    for source in [
        "it('a', async () => { await expect(a()).resolves.toBe(2); });",
        "it('a', check);",
        "test.only('a', () => { ok(); });\ntest('b', () => { ok(); });",
        "describe.only('x', () => { it('a', () => { ok(); }); });\nit('b', () => { ok(); });",
        "for (const x of [1, 2]) { it(`a ${x}`, () => { ok(x); }); }",
        "cases.forEach((x) => it(`a ${x}`, () => { ok(x); }));",
        "Deno.test('a', () => { ok(); });",
        "test.describe('x', () => { test('a', async ({ page }) => { await ok(page); }); });",
        "it.each`a | b\n${1} | ${2}`('a', ({ a }) => { ok(a); });",
        "it.concurrent.each([1])('a', (x) => { ok(x); });",
        "const test = base.extend({});\ntest('a', () => { ok(); });",
        "test(function () { ok(); });",
    ] {
        assert_eq!(count("a.js", source), 1, "{source}");
    }
}

const RS: &str = "use shop::*;\n\nfn due() -> u32 {\n    6\n}\n\n#[test]\nfn adds() {\n    assert_eq!(of(2), due());\n}\n\nmod deep {\n    use super::*;\n    #[test]\n    fn none() {\n        assert_eq!(of(0), 0);\n    }\n}\n";

#[test]
fn honest_changes_of_a_rust_file_lose_nothing() {
    for (from, to) in [
        ("use shop::*;", "use shop::price::of;"),
        ("of(2), due()", "of(2), // twice\n        due(),\n    "),
        (
            "#[test]\nfn adds",
            "/// Adds.\n#[test]\nfn more() { assert_eq!(of(3), 9); }\n\n#[test]\nfn adds",
        ),
        ("mod deep", "fn helper() {}\n\nmod deep"),
    ] {
        let now = RS.replace(from, to);
        assert_ne!(now, RS);
        assert_eq!(lost("a.rs", RS, &now), None, "{from} → {to}");
        assert!(delta("a.rs", RS, &now) >= 0, "{from} → {to}");
    }
}

#[test]
fn frozen_rust_tests_are_lost_where_they_no_longer_say_the_same() {
    for (from, to) in [
        ("#[test]\nfn adds", "#[test]\n#[ignore]\nfn adds"),
        ("#[test]\nfn adds", "fn adds"),
        ("#[test]\nfn adds", "#[cfg(any())]\n#[test]\nfn adds"),
        ("use shop::*;", "#![cfg(any())]\nuse shop::*;"),
        ("mod deep", "#[cfg(not(test))]\nmod deep"),
        ("    assert_eq!(of(2)", "    return;\n    assert_eq!(of(2)"),
        (
            "use shop::*;",
            "use shop::*;\nmacro_rules! assert_eq { ($($t:tt)*) => {} }",
        ),
        ("use shop::*;", "use shop::*;\nfn of(_: u32) -> u32 { 6 }"),
        (
            "#[test]\nfn adds() {\n    assert_eq!(of(2), due());\n}",
            "macro_rules! never { () => { #[test] fn adds() { assert_eq!(of(2), due()); } } }",
        ),
        ("    6\n", "    of(2)\n"),
    ] {
        let now = RS.replace(from, to);
        assert_ne!(now, RS);
        assert!(lost("a.rs", RS, &now).is_some(), "{from} → {to}");
    }
}

#[test]
fn rust_tests_that_no_runner_would_run_do_not_count() {
    assert_eq!(count("a.rs", RS), 2);
    for source in [
        "fn a() { assert!(x()); }",
        "#[test] #[ignore = \"later\"] fn a() { assert!(x()); }",
        "#[test] fn a() {}",
        "#[test] fn a() { return; assert!(x()); }",
        "#[test] fn a() { if true { return; } assert!(x()); }",
        "#[test] fn a() { if false { assert!(x()); } }",
        "#[cfg(any())] #[test] fn a() { assert!(x()); }",
        "#[cfg_attr(all(), ignore)] #[test] fn a() { assert!(x()); }",
        "#![cfg(not(test))]\n#[test] fn a() { assert!(x()); }",
        "#[cfg(any())] mod b { #[test] fn a() { assert!(x()); } }",
        "macro_rules! m { () => { #[test] fn a() { assert!(x()); } } }",
        "fn outer() { #[test] fn a() { assert!(x()); } }",
        "/* #[test] fn a() { assert!(x()); } */",
        "const T: &str = r#\"#[test] fn a() { assert!(x()); }\"#;",
        "#[test] fn a() { std::process::exit(0); }",
    ] {
        assert_eq!(count("a.rs", source), 0, "{source}");
    }
    for source in [
        "#[tokio::test(flavor = \"multi_thread\")] async fn a() { assert!(x()); }",
        "#[test] #[should_panic] fn a() { x(); }",
        "#[cfg(unix)] #[test] fn a() { assert!(x()); }",
        "#[cfg(test)] mod tests { #[test] fn a() { assert!(x()); } }",
        "#[rstest] #[case(1)] fn a(#[case] n: u32) { assert!(x(n)); }",
        "proptest! { #[test] fn a(n in 0..9) { prop_assert!(x(n)); } }",
        "#[test] fn a() -> Result<(), E> { x()?; Ok(()) }",
    ] {
        assert_eq!(count("a.rs", source), 1, "{source}");
    }
}

#[test]
fn a_rust_module_whose_declaration_goes_is_named() {
    let before = of("src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests;\n");
    let now = of("src/lib.rs", "mod a;\n#[cfg(any())]\nmod tests;\n");
    assert_eq!(before.modules_beyond(&now), ["tests"]);
    assert!(before.modules_beyond(&before).is_empty());
}

#[test]
fn what_is_written_by_another_language_or_with_errors_has_no_outline() {
    for (name, source) in [
        ("a.go", "x"),
        ("a.py", "def ("),
        ("a.rs", "fn {"),
        ("a.js", "it(("),
        ("py", "x = 1"),
    ] {
        assert!(
            SourceOutline::of(name.as_bytes(), source.as_bytes()).is_none(),
            "{name}"
        );
    }
    let long = "x = 1\n".repeat(200_000);
    assert!(SourceOutline::of(b"a.py", long.as_bytes()).is_none());
    let deep = format!("{}x{}", "(".repeat(100_000), ")".repeat(100_000));
    for name in ["a.py", "a.js", "a.ts"] {
        SourceOutline::of(name.as_bytes(), deep.as_bytes());
    }
    let classes: String = (0..300)
        .map(|depth| format!("{}class A:\n", " ".repeat(depth)))
        .chain([" ".repeat(300) + "x = 1\n"])
        .collect();
    assert!(SourceOutline::of(b"a.py", classes.as_bytes()).is_none());
}
