//! Names of Java classes and their tests.
//!
//! Total; a name that could mean something else to PIT or Maven (wild cards, commas) is not a class.

/// A `.java` path below `src/main/java` or `src/test/java`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JavaPath {
    /// Below `src/test/java`, not `src/main/java`.
    pub(crate) test: bool,
    /// The folders below the source root, `/`-separated; empty for the default package.
    pub(crate) folder: String,
    /// The file's name without `.java`.
    pub(crate) stem: String,
}

impl JavaPath {
    /// Reads a path; `None` when it is not `…/src/main/java/….java` or `…/src/test/java/….java`.
    pub(crate) fn read(path: &str) -> Option<Self> {
        let (at, test) = [("src/main/java/", false), ("src/test/java/", true)]
            .into_iter()
            .filter_map(|(root, test)| Some((root_end(path, root)?, test)))
            .min()?;
        if !test && root_end(path, "src/test/").is_some_and(|other| other < at) {
            return None;
        }
        let inside = path[at..].strip_suffix(".java")?;
        let (folder, stem) = inside.rsplit_once('/').unwrap_or(("", inside));
        Some(Self { test, folder: folder.to_owned(), stem: stem.to_owned() })
    }

    /// `package-info.java` or `module-info.java`.
    pub(crate) fn is_info(&self) -> bool {
        matches!(self.stem.as_str(), "package-info" | "module-info")
    }

    /// The dotted name of the class; `None` when a part is no Java identifier.
    pub(crate) fn class(&self) -> Option<String> {
        let folders = self.folder.split('/').filter(|part| !part.is_empty());
        let parts: Vec<&str> = folders.chain([self.stem.as_str()]).collect();
        parts.iter().all(|part| is_identifier(part)).then(|| parts.join("."))
    }
}

/// Where the first such source root ends in the path.
fn root_end(path: &str, root: &str) -> Option<usize> {
    if path.starts_with(root) {
        return Some(root.len());
    }
    path.find(&format!("/{root}")).map(|at| at + 1 + root.len())
}

/// A Java identifier, as far as PIT's globs and Maven's patterns allow (JLS §3.8).
fn is_identifier(part: &str) -> bool {
    let mut chars = part.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
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
    /// What comes before and after the class's name.
    patterns: Vec<(String, String)>,
}

impl TestNames {
    /// Reads patterns such as `{}Test`; one without `{}` means nothing and is passed over.
    pub(crate) fn new(patterns: &[String]) -> Self {
        let split = |pattern: &String| {
            pattern.split_once("{}").map(|(before, after)| (before.to_owned(), after.to_owned()))
        };
        Self { patterns: patterns.iter().filter_map(split).collect() }
    }

    /// True when `test` is one of the test classes' names of `class`.
    pub(crate) fn is_test_of(&self, test: &str, class: &str) -> bool {
        self.patterns.iter().any(|(before, after)| {
            test.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()))
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
    pub(crate) fn of(&self, class: &str) -> String {
        let all: Vec<String> =
            self.patterns.iter().map(|(before, after)| format!("{before}{class}{after}")).collect();
        crate::source::text::line(&all.join(", "), 300)
    }
}
