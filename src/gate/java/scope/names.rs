//! Names of Java classes and their tests.
//!
//! Total; a name that could mean something else to PIT or Maven (wild cards, commas) is not a class.

use crate::source::text;

/// Languages of the JVM: the folder of their sources, and how the name of a source file ends.
pub(crate) const LANGUAGES: [(&str, &str); 4] = [
    ("java", "java"),
    ("kotlin", "kt"),
    ("groovy", "groovy"),
    ("scala", "scala"),
];

/// A path taken apart at the leftmost folder of sources.
struct SourceRoot<'p> {
    /// The folder with the `src/`.
    module: &'p str,
    /// `src/test/`, not `src/main/`.
    test: bool,
    /// `java`, `kotlin` …
    root: &'p str,
    inside: &'p str,
}

impl<'p> SourceRoot<'p> {
    fn find_root(path: &'p str) -> Option<Self> {
        let mut starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
        starts.find_map(|at| {
            let (side, below) = path[at..].strip_prefix("src/")?.split_once('/')?;
            let (root, inside) = below.split_once('/')?;
            let is_main =
                side == "main" && (root == "resources" || LANGUAGES.iter().any(|l| l.0 == root));
            (is_main || side == "test").then_some(Self {
                module: path[..at].trim_end_matches('/'),
                test: !is_main,
                root,
                inside,
            })
        })
    }
}

/// The folder with the `src/` of a file, if it is in one.
pub(super) fn source_folder(path: &str) -> Option<&str> {
    SourceRoot::find_root(path).map(|root| root.module)
}

/// The path of production code in Java or of a test in any of these languages, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
        let SourceRoot {
            test, root, inside, ..
        } = SourceRoot::find_root(path)?;
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

/// The names of test classes, from the configuration: patterns such as `{}Test`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestNames<'a>(pub(crate) &'a [String]);

impl TestNames<'_> {
    /// The names of the classes to which a test class of this name would belong.
    fn tested_classes<'t>(&self, test: &'t str) -> impl Iterator<Item = &'t str> {
        self.0.iter().filter_map(move |pattern| {
            let (before, after) = pattern.split_once("{}")?;
            test.strip_prefix(before)?.strip_suffix(after)
        })
    }

    /// True when `test` is one of the test classes' names of `class`.
    pub(crate) fn is_test_of(&self, test: &str, class: &str) -> bool {
        self.tested_classes(test).any(|tested| tested == class)
    }

    /// True when `test` is named like the test class of anything.
    pub(crate) fn is_test(&self, test: &str) -> bool {
        self.tested_classes(test).any(|tested| !tested.is_empty())
    }

    /// The names for a message: `FooTest, TestFoo`.
    pub(crate) fn names_of(&self, class: &str) -> String {
        let all = self.0.iter().map(|pattern| pattern.replace("{}", class));
        text::names(all, 10)
    }
}
