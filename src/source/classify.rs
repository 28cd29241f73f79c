//! Classifies files as test, build or production files, in this order, by glob and never by content.

use super::{Kind, RepoPath};
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use std::sync::Arc;

/// Compiled patterns.
///
/// A pattern without `/` matches a name in any directory, one that ends in `/` everything below that directory. `*`
/// does not cross a `/`, `**` does.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// In order of precedence. Shared, because a cloned set loses its filled caches.
    sets: Arc<[(Kind, GlobSet); 3]>,
}

impl Classifier {
    /// Compiles the patterns. The error names the invalid pattern.
    pub fn new(
        test: &[String],
        production: &[String],
        build: &[String],
    ) -> Result<Self, globset::Error> {
        let sets = [
            (Kind::Test, compile_globs(test)?),
            (Kind::Build, compile_globs(build)?),
            (Kind::Production, compile_globs(production)?),
        ];
        Ok(Self {
            sets: Arc::new(sets),
        })
    }

    /// Returns the kind of the file at this path (relative to its package).
    pub fn kind(&self, path: &RepoPath) -> Kind {
        self.kind_of(&path.to_bytes())
    }

    /// Returns the kind for the bytes of a path; see [`Classifier::kind`].
    pub fn kind_of(&self, path: &[u8]) -> Kind {
        let whole = Candidate::from_bytes(path);
        // Build tools treat everything below these directories as production, with any name.
        let above = main_folder(path).map(Candidate::from_bytes);
        self.sets
            .iter()
            .find(|(kind, set)| {
                let candidate = above
                    .as_ref()
                    .filter(|_| *kind != Kind::Production)
                    .unwrap_or(&whole);
                set.is_match_candidate(candidate)
            })
            .map_or(Kind::Other, |(kind, _)| *kind)
    }
}

/// Compiles patterns in the syntax of [`Classifier`].
pub fn compile_globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    compile(patterns, false)
}

/// Compiles such patterns for a file system that may ignore the case of names.
pub fn compile_folded_globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    compile(patterns, true)
}

fn compile(patterns: &[String], is_folded: bool) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let mut whole = pattern.strip_prefix("./").unwrap_or(pattern).to_owned();
        if whole.ends_with('/') {
            whole.push_str("**");
        } else if !whole.contains('/') {
            whole.insert_str(0, "**/");
        }
        set.add(
            GlobBuilder::new(&whole)
                .literal_separator(true)
                .empty_alternates(true)
                .case_insensitive(is_folded)
                .build()?,
        );
    }
    set.build()
}

/// Maven's and Gradle's directories of production sources (Maven's standard directory layout).
const MAIN: [&[u8]; 5] = [
    b"src/main/java",
    b"src/main/kotlin",
    b"src/main/groovy",
    b"src/main/scala",
    b"src/main/resources",
];

/// Returns the leftmost such directory of a path, with the directories above it.
fn main_folder(path: &[u8]) -> Option<&[u8]> {
    let ends = path
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| at);
    ends.map(|end| &path[..end]).find(|above| {
        let left = MAIN.iter().find_map(|main| above.strip_suffix(*main));
        left.is_some_and(|left| left.is_empty() || left.ends_with(b"/"))
    })
}

/// True for a path at or below a directory into which tools write.
///
/// These are `target/`, `build/`, `dist/` and similar ones, unless a directory above is called `src` (a Java package
/// may be called `build`), and the caches of package managers and interpreters anywhere.
pub fn is_output(path: &[u8]) -> bool {
    let mut in_source = false;
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"node_modules" | b"__pycache__" | b".venv" | b".tox" | b".nox" | b".gradle"
            | b".pytest_cache" | b".mypy_cache" | b".ruff_cache" | b".stryker-tmp" => return true,
            b"target" | b"build" | b"dist" | b"out" | b"venv" | b"coverage" if !in_source => {
                return true;
            }
            b"src" => in_source = true,
            _ => {}
        }
    }
    false
}

/// Extensions of source files.
const SOURCES: [&[u8]; 24] = [
    b"java", b"kt", b"kts", b"scala", b"groovy", b"py", b"js", b"ts", b"tsx", b"jsx", b"mjs",
    b"cjs", b"mts", b"cts", b"rs", b"go", b"rb", b"php", b"cs", b"swift", b"c", b"cc", b"cpp",
    b"feature",
];

/// True for a file whose name is that of a source file: data next to the tests is not a test.
pub fn is_source(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let mut parts = name.rsplit(|&byte| byte == b'.');
    let extension = parts.next().unwrap_or_default();
    parts.next().is_some() && SOURCES.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_pattern_counts_in_any_folder_and_a_pattern_that_is_no_glob_is_named() {
        let own = Classifier::new(&["*.feature".into(), "spec/".into()], &[], &[]).unwrap();
        assert_eq!(own.kind_of(b"a/b.feature"), Kind::Test);
        assert_eq!(own.kind_of(b"spec/x/y"), Kind::Test);
        assert_eq!(own.kind_of(b"a/spec/x"), Kind::Other);
        let error = Classifier::new(&["a[".into()], &[], &[]).unwrap_err();
        assert_eq!(error.glob(), Some("**/a["));
    }

    #[test]
    fn folded_patterns_match_names_in_any_case() {
        let patterns = ["CLAUDE.md".to_owned(), ".github/".to_owned()];
        let [exact, folded] = [compile_globs(&patterns), compile_folded_globs(&patterns)];
        let (exact, folded) = (exact.unwrap(), folded.unwrap());
        for (path, is_exact) in [
            ("a/CLAUDE.md", true),
            ("a/claude.MD", false),
            (".github/workflows/x.yml", true),
            (".GitHub/workflows/x.yml", false),
        ] {
            assert_eq!(exact.is_match(path), is_exact, "{path}");
            assert!(folded.is_match(path), "{path}");
        }
        assert!(!folded.is_match("github/x"));
    }

    #[test]
    fn names_that_are_not_utf8_have_a_kind_too() {
        let all = Classifier::new(&[], &["**/src/main/**".into()], &[]).unwrap();
        assert_eq!(all.kind_of(b"src/main/java/\xff.java"), Kind::Production);
    }

    #[test]
    fn an_output_folder_is_one_only_outside_of_source_folders() {
        for (path, expected) in [
            (&b"target/classes/A.class"[..], true),
            (b"core/build/x", true),
            (b"src/main/java/com/acme/build/A.java", false),
            (b"src/node_modules/a.js", true),
            (b"src/a/__pycache__/a.pyc", true),
            (b"targets/a", false),
            (b"dist", true),
        ] {
            assert_eq!(
                is_output(path),
                expected,
                "{}",
                String::from_utf8_lossy(path)
            );
        }
    }
}
