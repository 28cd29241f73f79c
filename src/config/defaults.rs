//! What holds where the file says nothing.
//!
//! Owns: every default of the configuration, and the file patterns.
//!
//! Promises: an absent or empty file means exactly this.
//!
//! Refuses to know: the text of a configuration.

use super::{
    Checks, CommitBy, FileGlobs, GateEngine, GateSettings, Limits, NoCoverage, OnBlocked, Per, Place,
    Recompile, ReworkReviews, Role, ScopeKind, Settings, StagesFrom, TaskSections, TestTiers,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The agent of a role that is not listed.
pub const DEFAULT_AGENT: &str = "default";

/// The pattern of tasks that may have nothing to commit.
pub const CHECKPOINTS: &str = r"(?i)\bcheckpoint\b";

/// PIT's version.
pub const PIT_VERSION: &str = "1.25.9";

/// Names of the test classes of `Foo` in Surefire's default includes (maven-surefire-plugin 3, `includes`).
pub const TEST_NAMES: &[&str] = &["{}Test", "{}Tests", "{}TestCase", "Test{}"];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

impl Settings {
    /// The settings of a workspace without a configuration.
    pub fn defaults(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_path_buf(),
            spec: workspace.to_path_buf(),
            packages: vec!["src/*".to_owned()],
            packages_given: false,
            files: file_globs(),
            agents: BTreeMap::new(),
            roles: Role::ALL.into_iter().map(|role| (role, DEFAULT_AGENT.to_owned())).collect(),
            gates: BTreeMap::from([("PITEST".to_owned(), gate(GateEngine::Direct))]),
            checks: Checks::default(),
            limits: limits(),
            on: BTreeMap::new(),
            commit: CommitBy::Agent,
            checkpoints: CHECKPOINTS.to_owned(),
            rework: ReworkReviews::ReopenReviews,
            on_blocked: OnBlocked::Stop,
            stages: StagesFrom::File,
            placement: BTreeMap::new(),
            sections: TaskSections::default(),
        }
    }
}

/// A gate of that engine with every default.
pub(super) fn gate(engine: GateEngine) -> GateSettings {
    GateSettings {
        engine,
        threshold: 70,
        per: Per::Class,
        no_coverage: NoCoverage::Survived,
        jobs: 0,
        maven_args: Vec::new(),
        limit: Duration::from_secs(HOUR),
        pit_version: PIT_VERSION.to_owned(),
        tests: TestTiers::OwnFirst,
        scope: ScopeKind::Class,
        place: Place::Clean,
        recompile: Recompile::Auto,
        keep: Vec::new(),
        test_names: owned(TEST_NAMES),
        jvm_args: Vec::new(),
    }
}

fn limits() -> Limits {
    Limits {
        iterations: None,
        attempts: 3,
        rework: 5,
        wall: Duration::from_secs(24 * HOUR),
        attempt: Duration::from_secs(HOUR),
        idle: None,
        check: Duration::from_secs(10 * MINUTE),
    }
}

/// The file patterns: Maven's and Gradle's layout and the usual ones of Python, JavaScript and
/// TypeScript, Rust and Go.
pub(super) fn file_globs() -> FileGlobs {
    FileGlobs { test: owned(TEST_GLOBS), production: owned(PRODUCTION_GLOBS), build: owned(BUILD_GLOBS) }
}

/// A folder named `test` below `src/main` is a Java package and no folder of tests: hence the endings.
const TEST_GLOBS: &[&str] = &[
    "**/src/test/**",
    "**/src/*Test/**",
    "**/src/{it,integration-test,testFixtures}/**",
    "{test,tests}/**",
    "**/{test,tests,__tests__}/**/*.{py,rs,js,jsx,ts,tsx,mjs,cjs,mts,cts,snap}",
    "**/test_*.py",
    "**/*_test.py",
    "**/conftest.py",
    "**/*.{test,spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}",
    "**/*_test.go",
];

const PRODUCTION_GLOBS: &[&str] = &[
    "**/src/main/**",
    "**/src/*Main/**",
    "**/*.{py,pyi}",
    "**/*.{js,jsx,ts,tsx,mjs,cjs,mts,cts}",
    "**/*.rs",
    "**/*.go",
];

const BUILD_GLOBS: &[&str] = &[
    "**/pom.xml",
    "**/build.gradle*",
    "**/settings.gradle*",
    "**/gradle.properties",
    "**/.mvn/**",
    "**/package.json",
    "**/package-lock.json",
    "**/pnpm-lock.yaml",
    "**/yarn.lock",
    "**/tsconfig*.json",
    "**/{vite,vitest,jest,webpack,rollup,babel}.config.*",
    "**/Cargo.toml",
    "**/Cargo.lock",
    "**/build.rs",
    "**/pyproject.toml",
    "**/setup.{py,cfg}",
    "**/requirements*.txt",
    "**/tox.ini",
    "**/pytest.ini",
    "**/go.{mod,sum,work}",
    "**/Makefile",
];

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
