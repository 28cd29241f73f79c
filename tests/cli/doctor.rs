//! `ralph doctor`: present, missing, broken or hostile tools, and other programs called ralph.

use super::project::{Done, Project};
use std::os::unix::fs::PermissionsExt as _;

/// Returns a workspace with one Maven package, an open gate, and scripts for all tools that it needs.
fn project() -> Project {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PITEST Mutants\n- [ ]* 2. Two\n");
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: claude}\nchecks: {red: [mvn, test], green: [mvn, test]}\n",
    );
    project.write("src/app/pom.xml", "<project/>");
    project.write("src/app/src/test/java/a/FooTest.java", "class FooTest {}");
    project.tool("git", "echo git version 2.47.1");
    project.tool("java", "echo 'openjdk version \"17.0.12\" 2024-07-16' >&2");
    project.tool("javac", "echo javac 17.0.12");
    project.tool(
        "mvn",
        "echo 'Apache Maven 3.9.9 (8e85)'; pwd > \"$ws/asked\"",
    );
    project.tool("claude", "echo '2.1.330 (Claude Code)'");
    project
}

/// Runs `doctor` with these tools and no others.
fn doctor(project: &Project, args: &[&str]) -> Done {
    let mut command = project.command(&[&["doctor"], args].concat());
    command.env("PATH", project.path("../home/bin"));
    Project::finish(command)
}

/// Returns the output about one tool.
fn about(project: &Project, done: &Done, names: &[&str]) -> String {
    let mut kept = Vec::new();
    let mut keeps = false;
    for line in done.out.lines() {
        let mut words = line.split_whitespace();
        let name = if line.starts_with(' ') {
            None
        } else {
            words.nth(1)
        };
        keeps = name.map_or(keeps, |name| names.contains(&name));
        if keeps {
            kept.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    project.redacted(&kept.join("\n"))
}

#[test]
fn a_machine_with_everything_is_healthy() {
    let project = project();
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &["workspace", "processes", "cache", "git", "java", "javac", "mvn", "claude", "optional"]), @r#"
    ok workspace <ws>
    ok processes what a program leaves behind is ended with it
    ok cache <dir>/home/.cache/ralph can be written
    ok git git version 2.47.1 <ws>/../home/bin/git
    ok java openjdk version "17.0.12" 2024-07-16 <ws>/../home/bin/java
    ok javac javac 17.0.12 <ws>/../home/bin/javac
    ok mvn Apache Maven 3.9.9 (8e85) <ws>/../home/bin/mvn
    ok claude 2.1.330 (Claude Code) <ws>/../home/bin/claude
    skipped optional 1 optional box is left open
    hint: `ralph run --optional` takes them too
    "#);
    assert!(
        done.out
            .ends_with("\nhealthy: nothing that is needed here is missing\n"),
        "{}",
        done.out
    );
    let asked = project.read("asked");
    assert!(
        !asked.starts_with(project.path("").to_str().unwrap()),
        "not in the workspace: {asked}"
    );
    assert!(
        !std::path::Path::new(asked.trim()).exists(),
        "nothing is left of {asked}"
    );
    let facts = doctor(&project, &["--json"]).code(0).json();
    assert_eq!(facts.last().unwrap()["healthy"], true);
    assert!(
        facts
            .iter()
            .any(|fact| fact["name"] == "mvn" && fact["state"] == "ok" && fact["part"] == "tool")
    );
}

#[test]
fn a_package_in_which_git_has_no_name_for_commits_is_named() {
    let project = project();
    project.tool(
        "git",
        "case $1 in -C) echo 'fatal: no email was given' >&2; exit 128 ;; *) echo git version 2.47.1 ;; esac",
    );
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &["identity"]), @r"
    warning identity git cannot commit in package app: it ended with 128: fatal: no email was given
    hint: `git config --global user.name 'Your Name'`, then `git config --global user.email you@example.org`
    ");
}

#[test]
fn what_is_needed_and_missing_or_ill_is_said_with_the_reason() {
    let project = project();
    let bin = project.path("../home/bin");
    fs_err::remove_file(bin.join("mvn")).unwrap();
    project.tool("java", "echo 'java version \"1.8.0_292\"' >&2");
    project.tool("claude", "echo no licence; exit 3");
    project.tool("codex", "exit 1");
    let done = doctor(&project, &[]).code(1);
    insta::assert_snapshot!(about(&project, &done, &["java", "mvn", "codex", "claude", "gates.PITEST", "checks.red", "checks.green"]), @r#"
    missing java <ws>/../home/bin/java: java version "1.8.0_292" is older than 11; the mutation gate of the open tasks needs it
    hint: install a JDK, 11 or newer (17 is well tried)
    absent mvn not on PATH
    missing claude <ws>/../home/bin/claude: it ended with 3: no licence; open tasks need it
    hint: look at what `claude --version` says
    warning codex <ws>/../home/bin/codex: it ended with 1; not needed here
    missing gates.PITEST Gate PITEST needs Maven: package app has no executable mvnw, and mvn is not on the PATH.
    hint: Install Maven, or add the Maven wrapper to the package and make mvnw executable.
    missing checks.red `checks.red` starts `mvn`, which is not on the PATH.
    hint: Install it, or name it with its path.
    missing checks.green `checks.green` starts `mvn`, which is not on the PATH.
    hint: Install it, or name it with its path.
    "#);
    assert!(
        done.out
            .ends_with("\n5 things that are needed here are missing\n"),
        "{}",
        done.out
    );

    // The package's own Maven is sufficient, and is not started.
    project.write("src/app/mvnw", "#!/bin/sh\ntouch started\n");
    fs_err::set_permissions(
        project.path("src/app/mvnw"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let done = doctor(&project, &[]).code(1);
    insta::assert_snapshot!(about(&project, &done, &["mvn", "gates.PITEST", "checks.red", "checks.green"]), @r#"
    absent mvn not on PATH
    missing checks.red `checks.red` starts `mvn`, which is not on the PATH.
    hint: Install it, or name it with its path.
    missing checks.green `checks.green` starts `mvn`, which is not on the PATH.
    hint: Install it, or name it with its path.
    "#);
    assert!(!project.has("src/app/started"));
}

#[test]
fn a_preset_whose_flags_the_installed_version_does_not_know_is_missing() {
    let project = project();
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: hermes}\n",
    );
    let help = |flags: &str| {
        let help = format!("usage: hermes chat [-h, --help] [-Q] [--yolo] [--model MODEL] {flags}");
        project.tool(
            "hermes",
            &format!("case $1 in chat) echo '{help}' ;; *) echo 'Hermes Agent v0.25' ;; esac"),
        );
        about(&project, &doctor(&project, &[]), &["hermes"])
    };
    insta::assert_snapshot!(help("[--query-file FILE]"), @r"
    missing hermes Hermes Agent v0.25 <ws>/../home/bin/hermes; its help does not know -q, which the preset uses
    hint: install hermes 0.19.0, or write a `command:` in place of the preset
    ");
    insta::assert_snapshot!(help("[-q QUERY]"), @"ok hermes Hermes Agent v0.25 <ws>/../home/bin/hermes");
}

#[test]
fn variables_that_the_build_reads_and_does_not_get_are_named_with_the_key_that_adds_them() {
    let project = project();
    let server = "<username>${env.NEXUS_USER}</username><password>${env.NEXUS_TOKEN}</password>";
    project.write(
        "../home/.m2/settings.xml",
        format!("{server}${{env.HOME}}${{project.version}}"),
    );
    project.write(
        "src/app/modules/a/pom.xml",
        "<project>${env.BUILD_NUMBER}${env.NEXUS_USER}</project>",
    );
    project.write("../home/.npmrc", "//registry/:_authToken=${NPM_TOKEN}\n");
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &["gates.PITEST.env", "checks.env"]), @r"
    warning gates.PITEST.env the build's settings read variables that are not passed: BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER
    hint: `gates.PITEST.env: [BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER]` passes them
    warning checks.env the build's settings read variables that are not passed: BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER
    hint: `checks.env: [BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER]` passes them
    ");
    let gate = "gates: {PITEST: {env: ['NEXUS_*']}, LINT: {run: [npm, test]}}\n";
    project.write(
        ".ralph/config.yaml",
        format!("agents:\n  default: {{preset: claude}}\n{gate}"),
    );
    project.write("src/app/.npmrc", "always-auth=true\n");
    let done = doctor(&project, &[]);
    insta::assert_snapshot!(about(&project, &done, &["gates.PITEST.env", "gates.LINT.env", "checks.env"]), @r"
    warning gates.LINT.env the build's settings read variables that are not passed: BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER, NPM_TOKEN
    hint: `gates.LINT.env: [BUILD_NUMBER, NEXUS_TOKEN, NEXUS_USER, NPM_TOKEN]` passes them
    warning gates.PITEST.env the build's settings read variables that are not passed: BUILD_NUMBER, NPM_TOKEN
    hint: `gates.PITEST.env: [BUILD_NUMBER, NPM_TOKEN]` passes them
    ");
}

#[test]
fn without_an_open_gate_no_build_tool_is_needed() {
    let project = project();
    project.write("tasks.md", "- [ ] 1. One\n- [x] 1.PITEST Mutants\n");
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: claude}\n",
    );
    for tool in ["mvn", "java", "javac"] {
        fs_err::remove_file(project.path("../home/bin").join(tool)).unwrap();
    }
    let done = doctor(&project, &[]).code(0);
    assert_eq!(about(&project, &done, &["java"]), "absent java not on PATH");
}

#[test]
fn an_answer_reaches_the_terminal_bounded_and_without_control_characters() {
    let project = project();
    project.tool("codex", "printf '\\033]0;evil\\007v20.1.0 \\033[31mred'; i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done");
    let done = doctor(&project, &[]).code(0);
    assert!(
        !done.out.contains('\u{1b}') && !done.out.contains('\u{7}'),
        "{:?}",
        done.out
    );
    assert!(
        about(&project, &done, &["codex"]).starts_with("ok codex"),
        "{}",
        done.out
    );
    assert!(
        done.out.lines().all(|line| line.chars().count() < 400),
        "{}",
        done.out
    );
}

#[test]
fn another_ralph_before_this_one_is_named_and_never_started() {
    let project = project();
    project.tool("ralph", "touch \"$ws/begun\"; exec ./ralph_loop.sh \"$@\"");
    let first = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &first, &["ralph"]).replace(env!("CARGO_PKG_VERSION"), "<version>"), @r#"
    warning ralph <version>; but first on PATH is <ws>/../home/bin/ralph, and this one is not it
    hint: put this one's folder first on PATH, or call it by its path
    "#);
    assert!(!project.has("begun"));
    fs_err::remove_file(project.path("../home/bin/ralph")).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_ralph"),
        project.path("../home/bin/ralph"),
    )
    .unwrap();
    let own = about(&project, &doctor(&project, &[]).code(0), &["ralph"]);
    assert!(own.starts_with("ok ralph "), "{own}");
}

#[test]
fn programs_that_the_configuration_names_are_looked_for() {
    let project = project();
    let more = "gates: {LINT: {run: [no-such-linter]}}\nhooks: {done: [/no/such/hook]}\n";
    project.write(
        ".ralph/config.yaml",
        format!("agents:\n  default: {{command: [no-such-agent]}}\n{more}"),
    );
    project.write("tasks.md", "- [ ] 1. One\n- [ ] 1.LINT L\n");
    let done = doctor(&project, &["--json"]).code(1);
    let missing: Vec<String> = done
        .json()
        .iter()
        .filter(|fact| fact["part"] == "program")
        .map(|fact| fact["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        missing,
        [
            "The program `no-such-agent` of the agent `default` was not found.",
            "`gates.LINT.run` starts `no-such-linter`, which is not on the PATH.",
            "`hooks.done` starts `/no/such/hook`, which is not a program in the workspace."
        ]
    );
}

#[test]
fn what_would_be_skipped_is_said_with_its_reason() {
    let project = project();
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {preset: claude}\n",
    );
    fs_err::remove_dir_all(project.path("src/app/src")).unwrap();
    project.write("src/app/src/main/java/a/Foo.java", "class Foo {}");
    fs_err::remove_file(project.path("../home/bin/git")).unwrap();
    for (package, file) in [("src/old", "build.gradle"), ("src/web", "package.json")] {
        project.package(package);
        project.write(&format!("{package}/{file}"), "{}");
    }
    project.tool("git", "echo git version 2.47.1");
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &["app", "web", "gates.PITEST", "checks.red", "checks.green", "optional"]), @r#"
    warning gates.PITEST Package old is built by Gradle, and gates.PITEST.classpath_command is not set: there will be no verdict.
    hint: Write `classpath_command: [gradle, --init-script, "{init_script}", --quiet, ralphClasspath]` below gates.PITEST.
    skipped app This package has production files and no test: `1.PITEST` and gates like it leave classes without tests out, so they would judge nothing.
    hint: Begin with tests: `ralph stage` gives tasks a TEST-FIRST stage.
    skipped checks.red whether the tests of TEST-FIRST fail at first is not checked
    hint: set checks.red to a command that fails if a test fails
    skipped checks.green a checkpoint with nothing to commit waits for `ralph accept`
    hint: set checks.green to the command that runs the tests
    skipped optional 1 optional box is left open
    hint: `ralph run --optional` takes them too
    "#);
}

#[test]
fn a_package_that_a_command_builds_needs_that_and_no_maven() {
    let project = project();
    let config = "agents:\n  default: {preset: claude}\ngates:\n  PITEST: {classpath_command: [./gradlew, ralphClasspath]}\n";
    project.write(".ralph/config.yaml", config);
    fs_err::rename(
        project.path("src/app/pom.xml"),
        project.path("src/app/build.gradle.kts"),
    )
    .unwrap();
    fs_err::remove_file(project.path("../home/bin/mvn")).unwrap();
    project.package("src/scripts");
    project.write("src/scripts/setup.py", "");
    let names = ["gates.PITEST.classpath_command", "gates.PITEST", "mvn"];
    insta::assert_snapshot!(about(&project, &doctor(&project, &[]).code(1), &names), @r"
    absent mvn not on PATH
    missing gates.PITEST.classpath_command `gates.PITEST.classpath_command` starts `./gradlew`, which is not a program in app.
    hint: Make it executable there (`chmod +x`), or name another program.
    ");
    project.write("src/app/gradlew", "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(project.path("src/app/gradlew"), mode).unwrap();
    assert_eq!(
        about(&project, &doctor(&project, &[]).code(0), &names),
        "absent mvn not on PATH"
    );
}

#[test]
fn without_a_workspace_nothing_is_needed_and_a_broken_one_is_said() {
    let project = project();
    let mut elsewhere = project.command(&["doctor"]);
    elsewhere
        .current_dir(project.path(".."))
        .env("PATH", "/nowhere");
    let done = Project::finish(elsewhere).code(0);
    assert_eq!(
        about(&project, &done, &["workspace", "git"]),
        "absent workspace there is no workspace here, so nothing is needed\nhint: `ralph init` makes one\nabsent git not on PATH"
    );
    project.write(".ralph/config.yaml", "nonsense: 1\n");
    let done = doctor(&project, &[]).code(1);
    assert!(
        about(&project, &done, &["workspace"])
            .contains(".ralph/config.yaml:1: `nonsense` is not a known key."),
        "{}",
        done.out
    );
    doctor(&project, &["--root", "/nowhere"]).code(2);
}

#[test]
fn a_cache_that_cannot_be_written_is_missing() {
    let project = project();
    let mut command = project.command(&["doctor"]);
    command
        .env("PATH", project.path("../home/bin"))
        .env("XDG_CACHE_HOME", "/proc/none");
    let done = Project::finish(command).code(1);
    assert!(
        about(&project, &done, &["cache"]).starts_with("missing cache"),
        "{}",
        done.out
    );
}

#[test]
fn the_engine_of_each_language_is_named_and_what_an_open_gate_lacks_is_missing() {
    let project = project();
    project.write("src/app/tool.py", "");
    project.write("src/app/.venv/bin/python", "");
    fs_err::remove_file(project.path("../home/bin/git")).unwrap();
    let mutmut = |version: &str| {
        let _ = fs_err::remove_dir_all(project.path("src/app/.venv/lib"));
        project.write(
            &format!(
                "src/app/.venv/lib/python3.11/site-packages/mutmut-{version}.dist-info/METADATA"
            ),
            "",
        );
    };
    for (package, files) in [
        ("src/web", ["package.json", "a.ts"]),
        ("src/core", ["Cargo.toml", "src/lib.rs"]),
    ] {
        project.package(package);
        for file in files {
            project.write(&format!("{package}/{file}"), "");
        }
    }
    project.tool("git", "echo git version 2.47.1");
    let gates = "gates: {MUTMUT: {}, MUTATION: {}}\n";
    project.write(
        ".ralph/config.yaml",
        format!("agents:\n  default: {{preset: claude}}\n{gates}"),
    );
    mutmut("2.4.4");
    let names = [
        "mutmut",
        "stryker",
        "cargo-mutants",
        "gates.MUTMUT",
        "gates.MUTATION",
        "java",
        "app",
        "web",
    ];
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &names), @r#"
    ok java openjdk version "17.0.12" 2024-07-16 <ws>/../home/bin/java
    absent mutmut (app) 2.4.4 in a virtual environment is too old for a verdict; gate MUTMUT uses it
    hint: Run `python3 -m venv .venv` and `.venv/bin/pip install 'mutmut>=3.8.1' pytest`.
    absent cargo-mutants (core) cargo is not on the PATH; gate CARGO-MUTANTS uses it
    hint: Install Rust (https://rustup.rs).
    absent stryker (web) not in node_modules; gate STRYKER uses it
    hint: Run `npm install --save-dev @stryker-mutator/core`, with the plugin of the test runner (`@stryker-mutator/vitest-runner`).
    "#);
    project.write(
        "tasks.md",
        "- [ ] 1. One\n- [ ] 1.MUTMUT M\n- [ ] 1.MUTATION M\n",
    );
    fs_err::remove_file(project.path("../home/bin/javac")).unwrap();
    let done = doctor(&project, &[]).code(1);
    insta::assert_snapshot!(about(&project, &done, &names), @r#"
    ok java openjdk version "17.0.12" 2024-07-16 <ws>/../home/bin/java
    absent mutmut (app) 2.4.4 in a virtual environment is too old for a verdict; gate MUTMUT uses it
    hint: Run `python3 -m venv .venv` and `.venv/bin/pip install 'mutmut>=3.8.1' pytest`.
    absent cargo-mutants (core) cargo is not on the PATH; gate CARGO-MUTANTS uses it
    hint: Install Rust (https://rustup.rs).
    absent stryker (web) not in node_modules; gate STRYKER uses it
    hint: Run `npm install --save-dev @stryker-mutator/core`, with the plugin of the test runner (`@stryker-mutator/vitest-runner`).
    missing gates.MUTATION Gate MUTATION needs a JDK, and neither JAVA_HOME nor the PATH leads to javac: a JRE does not compile.
    hint: Install a JDK and set JAVA_HOME.
    warning gates.MUTATION Gate MUTATION needs mutmut for package app: 2.4.4 in a virtual environment is too old for a verdict.
    hint: Run `python3 -m venv .venv` and `.venv/bin/pip install 'mutmut>=3.8.1' pytest`.
    warning gates.MUTATION Gate MUTATION needs cargo-mutants for package core: cargo is not on the PATH.
    hint: Install Rust (https://rustup.rs).
    warning gates.MUTATION Gate MUTATION needs stryker for package web: not in node_modules.
    hint: Run `npm install --save-dev @stryker-mutator/core`, with the plugin of the test runner (`@stryker-mutator/vitest-runner`).
    missing gates.MUTMUT Gate MUTMUT needs mutmut for package app: 2.4.4 in a virtual environment is too old for a verdict.
    hint: Run `python3 -m venv .venv` and `.venv/bin/pip install 'mutmut>=3.8.1' pytest`.
    "#);

    mutmut("3.8.1");
    project.write("tasks.md", "- [ ] 1. One\n- [ ] 1.MUTMUT M\n");
    project.tool("cargo", "exit 1");
    project.tool("cargo-mutants", "exit 1");
    project.tool("node", "exit 1");
    project.write("src/web/node_modules/.bin/stryker", "");
    let done = doctor(&project, &[]).code(0);
    insta::assert_snapshot!(about(&project, &done, &names), @r#"
    ok java openjdk version "17.0.12" 2024-07-16 <ws>/../home/bin/java
    ok mutmut (app) 3.8.1 in a virtual environment; gate MUTMUT uses it
    ok cargo-mutants (core) on the PATH; gate CARGO-MUTANTS uses it
    ok stryker (web) in node_modules; gate STRYKER uses it
    "#);
}
