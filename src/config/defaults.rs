//! The value of each key that the file does not have.

use super::{
    CommitBy, FileGlobs, GateEngine, GateSettings, Limits, NoCoverage, OnBlocked, Per, Place, Recompile,
    ReworkReviews, Roles, ScopeKind, Settings, StagesFrom, TestTiers,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The agent of a role that is not listed.
pub const DEFAULT_AGENT: &str = "default";

/// The pattern of tasks that may have nothing to commit.
pub const CHECKPOINTS: &str = r"(?i)\bcheckpoint\b";

/// PIT's version.
pub const PIT_VERSION: &str = "1.25.9";

/// Names of the test classes of `Foo` in Surefire's default includes (maven-surefire-plugin 3, `includes`).
pub const TEST_NAMES: &[&str] = &["{}Test", "{}Tests", "{}TestCase", "Test{}"];

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

impl Settings {
    /// The settings of a workspace without a configuration.
    pub fn defaults(workspace: &Path) -> Self {
        Self { workspace: workspace.to_path_buf(), spec: workspace.to_path_buf(), ..Self::default() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspace: PathBuf::new(),
            spec: PathBuf::from("."),
            packages: vec!["src/*".to_owned()],
            packages_given: false,
            files: FileGlobs::default(),
            agents: BTreeMap::new(),
            roles: Roles::default(),
            gates: BTreeMap::from([("PITEST".to_owned(), GateSettings::default())]),
            checks: super::Checks::default(),
            limits: Limits::default(),
            hooks: super::Hooks::default(),
            commit: CommitBy::Agent,
            checkpoints: CHECKPOINTS.to_owned(),
            rework: ReworkReviews::ReopenReviews,
            on_blocked: OnBlocked::Stop,
            stages: StagesFrom::File,
            placement: BTreeMap::new(),
            tasks: super::TaskSettings::default(),
        }
    }
}

impl Default for Roles {
    fn default() -> Self {
        let agent = || DEFAULT_AGENT.to_owned();
        Self {
            test_writer: agent(),
            worker: agent(),
            req_reviewer: agent(),
            quality_reviewer: agent(),
            integration_tester: agent(),
            validator: agent(),
        }
    }
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            run: None,
            engine: GateEngine::Direct,
            threshold: 70,
            per: Per::Class,
            no_coverage: NoCoverage::Survived,
            jobs: 0,
            maven_args: Vec::new(),
            limit: HOUR,
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
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iterations: None,
            attempts: 3,
            rework: 5,
            wall: 24 * HOUR,
            attempt: HOUR,
            idle: None,
            check: 10 * MINUTE,
        }
    }
}

/// Maven's and Gradle's layout and the usual ones of Python, JavaScript and TypeScript, Rust and Go.
impl Default for FileGlobs {
    fn default() -> Self {
        Self { test: owned(TEST_GLOBS), production: owned(PRODUCTION_GLOBS), build: owned(BUILD_GLOBS) }
    }
}

/// A folder named `test` below `src/main` is a Java package, not a folder of tests: hence the endings.
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
