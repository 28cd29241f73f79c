//! Code with a test of its own that is among the tests, and not in production code: no gate judges it there.

use super::Kind;

/// Names of tests by the endings of their languages; `{}` is the name of the code.
const TESTS: [(&[&str], &[&str]); 3] = [
    (
        &["java", "kt", "groovy", "scala"],
        &["{}Test", "{}Tests", "{}TestCase", "Test{}", "{}Spec"],
    ),
    (&["py"], &["test_{}", "{}_test"]),
    (
        &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"],
        &["{}.test", "{}.spec"],
    ),
];

/// Returns the test of a file that is among the tests, if no production code has the file's name. `files` are those of the commit.
pub fn own_test_beside<'f>(path: &str, files: &'f [(String, Kind)]) -> Option<&'f str> {
    let (name, ending) = split_name(path)?;
    let (endings, patterns) = TESTS
        .iter()
        .find(|(endings, _)| endings.contains(&ending))?;
    let tests: Vec<String> = patterns
        .iter()
        .map(|pattern| pattern.replace("{}", name))
        .collect();
    // The first pattern that has a file counts.
    let mut own: Option<(usize, &str)> = None;
    for (file, kind) in files {
        let Some((stem, end)) = split_name(file) else {
            continue;
        };
        if !endings.contains(&end) {
            continue;
        }
        if *kind == Kind::Production && stem == name {
            return None;
        }
        if *kind == Kind::Test
            && let Some(rank) = tests.iter().position(|test| test == stem)
            && own.is_none_or(|(known, _)| rank < known)
        {
            own = Some((rank, file));
        }
    }
    own.map(|(_, file)| file)
}

/// The name of a file without its ending, and the ending.
fn split_name(path: &str) -> Option<(&str, &str)> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_with_a_test_of_its_own_is_misplaced_among_the_tests_unless_production_has_it() {
        let found = |path: &str, tests: &[&str], production: &[&str]| {
            let of = |kind| move |path: &&str| ((*path).to_owned(), kind);
            let mut files: Vec<_> = tests.iter().map(of(Kind::Test)).collect();
            files.extend(production.iter().map(of(Kind::Production)));
            own_test_beside(path, &files).map(str::to_owned)
        };
        for (path, test) in [
            (
                "src/test/java/p/Price.java",
                "src/test/java/q/PriceTest.java",
            ),
            (
                "src/test/java/p/Price.java",
                "it/src/test/groovy/PriceSpec.groovy",
            ),
            ("tests/price.py", "tests/test_price.py"),
            ("tests/price.ts", "tests/unit/price.spec.ts"),
        ] {
            assert_eq!(found(path, &[path, test], &[]).as_deref(), Some(test));
            assert_eq!(found(test, &[path, test], &[]), None, "a test itself");
            assert_eq!(found(path, &[path], &[test]), None, "no test");
        }
        let [helper, test] = ["tests/price.py", "tests/test_price.py"];
        assert_eq!(found(helper, &[helper, test], &["src/price.py"]), None);
        assert_eq!(found(helper, &[helper, "tests/test_prices.py"], &[]), None);
        assert_eq!(found("tests/data.csv", &["tests/test_data.csv"], &[]), None);
        assert_eq!(found("tests/Makefile", &["tests/test_Makefile"], &[]), None);
    }
}
