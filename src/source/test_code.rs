//! Compares the tests of two versions of a file: how many would run, and the lost code.
//!
//! Promises: Java is compared by its members, Python, JavaScript, TypeScript and Rust by their outline, everything
//! else by its lines. A version that a grammar cannot read never counts as more than the readable one before it.

use super::java::{adds_initialiser, conditional_tests, enabled_tests, lost_members};
use super::lines::{lost_lines, without_comments};
use super::{SourceOutline, has_outline, is_output, is_source};

/// Line beginnings that mark a test, by file extension, for languages without a parser or grammar here.
const MARKERS: [(&[&[u8]], &[&str]); 9] = [
    (
        &[b"kt", b"kts", b"groovy", b"scala"],
        &["@Test", "@ParameterizedTest", "test(\"", "it(\"", "def \""],
    ),
    (&[b"go"], &["func Test", "func Fuzz", "func Example"]),
    (
        &[b"rb"],
        &["it ", "test ", "specify ", "scenario ", "def test_"],
    ),
    (
        &[b"php"],
        &[
            "public function test",
            "function test",
            "#[Test]",
            "test(",
            "it(",
        ],
    ),
    (&[b"cs"], &["[Test", "[Fact", "[Theory"]),
    (&[b"swift"], &["func test", "@Test"]),
    (
        &[b"c", b"cc", b"cpp"],
        &[
            "TEST(",
            "TEST_F(",
            "TEST_P(",
            "TEST_CASE(",
            "BOOST_AUTO_TEST_CASE(",
            "void test",
        ],
    ),
    (&[b"feature"], &["Scenario", "Example:"]),
    (
        &[
            b"py", b"rs", b"js", b"ts", b"tsx", b"jsx", b"mjs", b"cjs", b"mts", b"cts",
        ],
        &["def test", "async def test", "#[test]", "it(", "test("],
    ),
];

/// Counts the tests of a file that would run.
pub fn count_tests(path: &[u8], source: &[u8]) -> u64 {
    if !is_source(path) {
        return 0;
    }
    if path.ends_with(b".java") {
        return enabled_tests(source);
    }
    SourceOutline::of(path, source)
        .map_or_else(|| marked_tests(path, source), |outline| outline.tests())
}

/// Counts the tests of a file that would run before and after a change.
///
/// A new condition around a test is assumed false.
pub fn tests_before_and_now(path: &[u8], before: Option<&[u8]>, now: Option<&[u8]>) -> [u64; 2] {
    if before.is_none() && !is_collected(path) {
        return [0, 0];
    }
    if path.ends_with(b".java") {
        let [conditional, more] = [before, now].map(|source| source.map_or(0, conditional_tests));
        let [before, now] = count_both(path, before, now);
        return [before, now - more.saturating_sub(conditional)];
    }
    if !has_outline(path) || before.is_none_or(|before| SourceOutline::of(path, before).is_none()) {
        return count_both(path, before, now);
    }
    let [before, now] = [before, now].map(|source| {
        source
            .and_then(|source| SourceOutline::of(path, source))
            .unwrap_or_default()
    });
    [before.tests(), now.tests_since(&before)]
}

fn count_both(path: &[u8], before: Option<&[u8]>, now: Option<&[u8]>) -> [u64; 2] {
    [before, now].map(|source| source.map_or(0, |source| count_tests(path, source)))
}

/// Counts lines that begin like a test; a source without any counts as one.
fn marked_tests(path: &[u8], source: &[u8]) -> u64 {
    let ending = path.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let markers = MARKERS
        .iter()
        .find(|(endings, _)| endings.contains(&ending))
        .map_or(&[][..], |found| found.1);
    let code = without_comments(path, source);
    let tests = code
        .split(|&byte| byte == b'\n')
        .filter(|line| {
            markers
                .iter()
                .any(|marker| line.trim_ascii().starts_with(marker.as_bytes()))
        })
        .count() as u64;
    tests.max(1)
}

/// False for a path where a runner searches no tests by default.
///
/// These are hidden directories, resources, outputs of tools, and files without the name of a test.
pub fn is_collected(path: &[u8]) -> bool {
    let mut folders: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    let name = String::from_utf8_lossy(folders.pop().unwrap_or_default()).into_owned();
    if is_output(path)
        || folders.iter().any(|folder| {
            folder.starts_with(b".")
                || matches!(
                    *folder,
                    b"resources" | b"node_modules" | b"fixtures" | b"testdata"
                )
        })
    {
        return false;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    match ending {
        "py" => stem.starts_with("test") || stem.ends_with("test") || stem.ends_with("tests"),
        // The names for Surefire and Failsafe, and those of other frameworks.
        "java" => {
            let begins = ["Test", "IT"].iter().any(|word| stem.starts_with(word));
            begins
                || ["Test", "Tests", "TestCase", "IT", "ITCase", "Spec"]
                    .iter()
                    .any(|word| stem.ends_with(word))
        }
        _ => true,
    }
}

/// Returns the test code that `now` lost: its amount, and the first part.
///
/// Code that an addition changes is lost too.
///
/// The code is what `written` has beyond `base`. `None` if nothing is lost.
pub fn lost_test_code(
    path: &[u8],
    base: Option<&[u8]>,
    written: &[u8],
    now: Option<&[u8]>,
) -> Option<(u64, String)> {
    if path.ends_with(b".java") {
        return lost_members(base, written, now);
    }
    let Some(outline) = SourceOutline::of(path, written) else {
        let [base, now] = [base, now].map(|text| text.map(|text| without_comments(path, text)));
        return lost_lines(
            base.as_deref(),
            &without_comments(path, written),
            now.as_deref(),
        );
    };
    let base = base.and_then(|base| SourceOutline::of(path, base));
    match now.map(|now| SourceOutline::of(path, now)) {
        Some(None) => Some(unreadable()),
        now => SourceOutline::lost(base.as_ref(), &outline, &now.flatten().unwrap_or_default()),
    }
}

/// Returns the amount of changed behaviour in a production file, and the first part of it.
///
/// `None` if there are only new declarations. In a language without a parser here each line counts.
pub fn changed_production(path: &[u8], before: &[u8], now: Option<&[u8]>) -> Option<(u64, String)> {
    let Some(now) = now else {
        return lost_lines(None, before, None);
    };
    if path.ends_with(b".java") {
        return lost_members(None, before, Some(now)).or_else(|| adds_initialiser(before, now));
    }
    if let (Some(before), Some(now)) = (
        SourceOutline::of(path, before),
        SourceOutline::of(path, now),
    ) {
        return SourceOutline::lost(None, &before, &now);
    }
    lost_lines(None, before, Some(now)).or_else(|| lost_lines(None, now, Some(before)))
}

fn unreadable() -> (u64, String) {
    (
        1,
        "the file has a syntax error, or is longer than 1 MiB".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(path: &str, before: Option<&str>, now: Option<&str>) -> i64 {
        let [before, now] = tests_before_and_now(
            path.as_bytes(),
            before.map(str::as_bytes),
            now.map(str::as_bytes),
        );
        now.cast_signed() - before.cast_signed()
    }

    #[test]
    fn tests_count_one_by_one_in_each_language() {
        for (path, three, one) in [
            (
                "tests/test_a.py",
                "def test_a():\n    assert a\ndef test_b():\n    assert b\ndef test_c():\n    assert c\n",
                "def test_a():\n    assert a\n",
            ),
            (
                "a_test.go",
                "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc TestC(t *testing.T) {}\n",
                "func TestA(t *testing.T) {}\n// func TestB(t *testing.T) {}\n",
            ),
            (
                "src/test/kotlin/ATest.kt",
                "@Test fun a() {}\n@Test\nfun b() {}\n@Test fun c() {}\n",
                "/*\n@Test fun b() {}\n*/\n@Test fun a() {}\n",
            ),
            (
                "src/test/java/ATest.java",
                "class ATest { @Test void a() {} @Test void b() {} @Test void c() {} }",
                "class ATest { @Test void a() {} }",
            ),
        ] {
            assert_eq!(delta(path, None, Some(three)), 3, "{path}");
            assert_eq!(delta(path, Some(three), Some(one)), -2, "{path}");
            assert_eq!(delta(path, Some(three), None), -3, "{path}");
        }
        assert_eq!(delta("src/test/data.json", None, Some("{}")), 0);
    }

    #[test]
    fn a_version_that_cannot_be_read_has_no_tests_of_a_readable_one() {
        let test = "def test_a():\n    assert a()\n";
        assert_eq!(
            delta("test_a.py", Some(test), Some(&format!("{test}def (:\n"))),
            -1
        );
        let lost = lost_test_code(b"test_a.py", None, test.as_bytes(), Some(b"def ("));
        assert_eq!(lost, Some(unreadable()));
        let broken = "def (:\ndef test_a():\n    assert a()\n";
        assert_eq!(
            lost_test_code(
                b"test_a.py",
                None,
                broken.as_bytes(),
                Some(broken.as_bytes())
            ),
            None
        );
        assert!(lost_test_code(b"test_a.py", None, broken.as_bytes(), Some(b"def (:\n")).is_some());
    }

    #[test]
    fn new_files_where_no_runner_looks_hold_no_tests() {
        let test = "def test_a():\n    assert a()\n";
        for path in [
            "tests/.off/test_a.py",
            "tests/checks.py",
            "build/test_a.py",
            "tests/resources/test_a.py",
        ] {
            assert_eq!(delta(path, None, Some(test)), 0, "{path}");
        }
        assert_eq!(delta("tests/unit/test_a.py", None, Some(test)), 1);
        assert_eq!(
            delta("tests/checks.py", Some(test), Some("")),
            -1,
            "it was there, and something may run it"
        );
    }

    #[test]
    fn production_code_may_get_new_declarations_and_nothing_else() {
        for (path, before, stub, other) in [
            (
                "src/main/java/A.java",
                "class A { int a() { return 1; } }",
                "class A { int a() { return 1; } int b() { return 0; } }",
                "class A { int a() { if (x) return 0; return 1; } }",
            ),
            (
                "src/main/java/A.java",
                "class A { int a() { return 1; } }",
                "import b.C; /** A. */ class A { int a() { return 1; } }",
                "class A { static { B.rate = 0; } int a() { return 1; } }",
            ),
            (
                "a.py",
                "def a():\n    return 1\n",
                "def a():\n    return 1\n\ndef b():\n    raise NotImplementedError\n",
                "def a():\n    return 1\n\na = lambda: 0\n",
            ),
            (
                "a.ts",
                "export function a() { return 1; }\n",
                "export function a() { return 1; }\nexport function b() {}\n",
                "export function a() { log(); return 1; }\n",
            ),
            (
                "src/lib.rs",
                "pub fn a() -> u32 { 1 }\n",
                "pub fn a() -> u32 { 1 }\npub fn b() { todo!() }\n#[cfg(test)]\nmod tests { #[test] fn c() { assert!(x()); } }\n",
                "pub fn a() -> u32 { if x() { return 0; } 1 }\n",
            ),
        ] {
            let changed = |now: &str| {
                changed_production(path.as_bytes(), before.as_bytes(), Some(now.as_bytes()))
            };
            assert_eq!(changed(stub), None, "{path}: {stub}");
            assert!(changed(other).is_some(), "{path}: {other}");
            assert!(
                changed_production(path.as_bytes(), before.as_bytes(), None).is_some(),
                "{path}"
            );
        }
        assert!(changed_production(b"a.properties", b"a=1\n", Some(b"a=1\na=2\n")).is_some());
        assert_eq!(
            changed_production(b"a.go", b"a\nb\n", Some(b"a\n\n  b\n")),
            None
        );
    }
}
