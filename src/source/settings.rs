//! Settings of builds and test runs, by name. They decide which programs a build executes and which tests run.

use super::{Kind, RepoPath, compile_globs};
use globset::{Candidate, GlobSet};
use std::sync::LazyLock;

/// Their names, in any directory. `policy.protected` lists CI files and files that a shell or an interpreter loads.
const SETTINGS: [&str; 25] = [
    // Test runners.
    "junit-platform.properties",
    "**/META-INF/services/org.junit.*",
    "testng*.xml",
    "conftest.py",
    "{pytest,tox,.pytest}.{ini,toml}",
    "{mutmut_config.py,.coveragerc,noxfile.py,nextest.toml}",
    ".mocharc.*",
    "{jest,vitest,stryker,karma,playwright,cypress}{,.config,.conf}.{js,cjs,mjs,ts,cts,mts,json}",
    "jest-*.json",
    "vitest.workspace.*",
    "phpunit.xml{,.dist}",
    // Set-up files of test runners.
    "{jest,vitest,mocha,test,tests}{.,-,_}{setup,global-setup,env,environment}.{js,cjs,mjs,ts,cts,mts,tsx,jsx}",
    "{setupTests,setup-tests,setupJest,setup-jest,globalSetup,globalTeardown,global-setup}.{js,cjs,mjs,ts,cts,mts,tsx,jsx}",
    "{spec_helper,rails_helper,test_helper}.rb",
    ".rspec",
    // Wrappers, and builds of builds.
    "{gradlew,mvnw}{,.bat,.cmd}",
    "**/{buildSrc,build-logic}/**",
    // Toolchains.
    "{rust-toolchain,rust-toolchain.toml,toolchains.xml,global.json,.tool-versions,.sdkmanrc}",
    ".{nvmrc,node-version,python-version,java-version,ruby-version}",
    "{.mise,mise}.toml",
    // Command runners.
    "{justfile,Justfile,.justfile,GNUmakefile,makefile,Rakefile}",
    "Taskfile.{yml,yaml}",
    "{turbo,nx,lerna,deno}.json",
    "{bunfig.toml,pnpm-workspace.yaml}",
    "{lefthook.yml,.pre-commit-config.yaml}",
];

/// True for a build file, or one of these settings.
pub fn is_build_setting(kind: Kind, path: &RepoPath) -> bool {
    static NAMES: LazyLock<GlobSet> =
        LazyLock::new(|| compile_globs(&SETTINGS.map(str::to_owned)).unwrap_or_default());
    kind == Kind::Build || NAMES.is_match_candidate(&Candidate::from_bytes(&path.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_setting(kind: Kind, path: &str) -> bool {
        is_build_setting(kind, &RepoPath::from_bytes(path.as_bytes()))
    }

    #[test]
    fn settings_of_test_runners_are_known_by_name_and_build_files_by_their_kind() {
        for (text, kind, expected) in [
            (
                "src/test/resources/junit-platform.properties",
                Kind::Test,
                true,
            ),
            (
                "src/main/resources/META-INF/services/org.junit.platform.X",
                Kind::Production,
                true,
            ),
            ("pytest.ini", Kind::Other, true),
            ("web/stryker.config.mjs", Kind::Production, true),
            ("test/jest-e2e.json", Kind::Test, true),
            ("jest.config.ts", Kind::Build, true),
            ("any", Kind::Build, true),
            ("src/test/resources/pom.xml", Kind::Test, false),
            ("src/jest.ts.txt", Kind::Other, false),
            ("tests/test_a.py", Kind::Test, false),
        ] {
            assert_eq!(is_setting(kind, text), expected, "{text}");
        }
    }

    #[test]
    fn wrappers_toolchains_set_up_files_and_names_of_commands_are_settings() {
        for path in [
            "gradlew",
            "mvnw.cmd",
            "a/gradlew.bat",
            "buildSrc/src/main/groovy/a.gradle",
            "build-logic/b.kt",
            "rust-toolchain.toml",
            ".nvmrc",
            ".python-version",
            "mise.toml",
            "justfile",
            "Taskfile.yml",
            "nx.json",
            "jest.setup.ts",
            "vitest-setup.js",
            "src/setupTests.ts",
            "global-setup.mjs",
            "spec/spec_helper.rb",
            "vitest.workspace.ts",
            ".pre-commit-config.yaml",
            "tests/conftest.py",
        ] {
            assert!(is_setting(Kind::Other, path), "{path}");
        }
        for path in [
            "src/setup.ts",
            "src/test.ts",
            "docs/justfile.md",
            "src/mise.rs",
            "app/environment.ts",
        ] {
            assert!(!is_setting(Kind::Production, path), "{path}");
        }
    }
}
