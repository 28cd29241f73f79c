//! Names of Java classes and their tests.
//!
//! Total; a name that could mean something else to PIT or Maven (wild cards, commas) is not a class.

use super::super::listing::LANGUAGES;

/// The path of production code in Java or of a test in any of these languages, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JavaPath {
    /// Below `src/test/`, not `src/main/`.
    pub(crate) test: bool,
    /// The folders below the source root, `/`-separated; empty for the default package.
    pub(crate) folder: String,
    /// The file's name without its end.
    pub(crate) stem: String,
}

impl JavaPath {
    /// Reads a path; `None` if it is not `…/src/main/java/….java` or `…/src/test/<language>/….<end>`. The leftmost
    /// folder of this kind is the root (Maven's standard directory layout): to build tools all below it is alike.
    pub(crate) fn parse_path(path: &str) -> Option<Self> {
        let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
        let (test, root, inside) = starts.into_iter().find_map(|at| {
            let (side, below) = path[at..].strip_prefix("src/")?.split_once('/')?;
            let (root, inside) = below.split_once('/')?;
            let is_main =
                side == "main" && (root == "resources" || LANGUAGES.iter().any(|l| l.0 == root));
            (is_main || side == "test").then_some((!is_main, root, inside))
        })?;
        let (inside, end) = inside.rsplit_once('.')?;
        let known = if test {
            &LANGUAGES[..]
        } else {
            &LANGUAGES[..1]
        };
        let is_known = known.iter().any(|l| l.0 == root) && known.iter().any(|l| l.1 == end);
        let (folder, stem) = inside.rsplit_once('/').unwrap_or(("", inside));
        is_known.then(|| Self {
            test,
            folder: folder.to_owned(),
            stem: stem.to_owned(),
        })
    }

    /// `package-info.java` or `module-info.java`.
    pub(crate) fn is_info(&self) -> bool {
        matches!(self.stem.as_str(), "package-info" | "module-info")
    }

    /// The dotted name of the class; `None` when a part is no Java identifier.
    pub(crate) fn class_name(&self) -> Option<String> {
        let folders = self.folder.split('/').filter(|part| !part.is_empty());
        let parts: Vec<&str> = folders.chain([self.stem.as_str()]).collect();
        parts
            .iter()
            .all(|part| is_identifier(part))
            .then(|| parts.join("."))
    }
}

/// A Java identifier, as far as PIT's globs and Maven's patterns allow (JLS §3.8).
pub(crate) fn is_identifier(part: &str) -> bool {
    let mut chars = part.chars();
    chars
        .next()
        .is_some_and(|c| c.is_alphabetic() || is_sign(c))
        && chars.all(|c| c.is_alphanumeric() || is_sign(c))
}

/// Connectors and signs of currencies, which names may hold.
fn is_sign(c: char) -> bool {
    matches!(c, '_' | '$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '\u{203f}' | '\u{2040}')
}

/// The language of a production source that PIT does not measure.
pub(super) fn other_language(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "kt" | "kts" if !path.ends_with(".gradle.kts") => Some("kotlin"),
        "groovy" => Some("groovy"),
        "scala" => Some("scala"),
        "clj" => Some("clojure"),
        _ => None,
    }
}

/// The names of test classes, from the configuration.
#[derive(Clone, Debug)]
pub(crate) struct TestNames {
    /// The parts before and after the class's name.
    patterns: Vec<(String, String)>,
}

impl TestNames {
    /// Reads patterns such as `{}Test`; one without `{}` means nothing and is passed over.
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self {
            patterns: patterns
                .iter()
                .filter_map(|pattern| {
                    pattern
                        .split_once("{}")
                        .map(|(before, after)| (before.to_owned(), after.to_owned()))
                })
                .collect(),
        }
    }

    /// True when `test` is one of the test classes' names of `class`.
    pub(crate) fn is_test_of(&self, test: &str, class: &str) -> bool {
        self.patterns.iter().any(|(before, after)| {
            test.strip_prefix(before.as_str())
                .and_then(|rest| rest.strip_suffix(after.as_str()))
                == Some(class)
        })
    }

    /// True when `test` is named like the test class of anything.
    pub(crate) fn is_test(&self, test: &str) -> bool {
        self.patterns.iter().any(|(before, after)| {
            test.len() > before.len() + after.len()
                && test.starts_with(before.as_str())
                && test.ends_with(after.as_str())
        })
    }

    /// The names for a message: `FooTest, TestFoo`.
    pub(crate) fn names_of(&self, class: &str) -> String {
        let all: Vec<String> = self
            .patterns
            .iter()
            .map(|(before, after)| format!("{before}{class}{after}"))
            .collect();
        crate::source::text::line(&all.join(", "), 300)
    }
}
