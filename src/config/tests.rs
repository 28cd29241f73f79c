//! Tests the schema, its defaults and the messages for errors in a file.

use super::*;
use crate::source::{Classifier, Kind};
use crate::turn::TranscriptFormat;
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

fn sound(text: &str) -> Settings {
    parse(text, Path::new("/w"), &[]).unwrap_or_else(|error| panic!("{error:#?}"))
}

fn mistake(text: &str) -> ConfigError {
    parse(text, Path::new("/w"), &[]).expect_err(text)
}

/// Returns the error in each of these texts as `key|message → hint`.
fn wrong<const N: usize>(texts: [&str; N]) -> String {
    let told = texts
        .map(mistake)
        .map(|error| format!("{}|{error} → {}", error.kind, error.hint));
    told.join("\n")
}

/// Returns the error in each of these lines below a line of its own.
fn wrong_below(above: &str, lines: &str) -> String {
    let told = lines
        .lines()
        .map(|line| wrong([&format!("{above}{line}\n")]));
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_absent_file_and_the_template_mean_the_defaults() {
    let defaults = sound("");
    assert_eq!(sound("# nothing yet\n"), defaults);
    assert_eq!(sound("gates:\nlimits:\n  # attempts: 2\n"), defaults);
    assert_eq!(sound(TEMPLATE), defaults);
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let settings = sound("");
    assert_eq!(settings.spec, PathBuf::from("/w"));
    assert_eq!(settings.packages, ["src/*"]);
    assert!(!settings.packages_given);
    let gate = &settings.gates["PITEST"];
    assert_eq!(
        (gate.threshold, gate.per, gate.no_coverage),
        (70, Per::Class, NoCoverage::Survived)
    );
    assert_eq!(
        (gate.engine, gate.jobs, gate.limit.as_secs()),
        (GateEngine::Direct, 0, 3600)
    );
    assert_eq!(gate.pit_version, "1.25.9");
    let reports =
        ["surefire", "failsafe"].map(|plugin| format!("**/target/{plugin}-reports/TEST-*.xml"));
    assert_eq!(
        settings.checks,
        Checks {
            reports: reports.into(),
            ..Checks::default()
        }
    );
    let limits = &settings.limits;
    assert_eq!(
        (
            limits.iterations,
            limits.attempts,
            limits.rework,
            limits.idle
        ),
        (None, 3, 5, None)
    );
    let seconds = [limits.wall, limits.attempt, limits.check].map(|limit| limit.as_secs());
    assert_eq!(seconds, [24 * 3600, 3600, 600]);
    assert_eq!(settings.commit, CommitBy::Agent);
    assert_eq!(settings.checkpoints, r"(?i)\bcheckpoint\b|\[verify\]");
    assert_eq!(settings.rework, ReworkReviews::ReopenReviews);
    assert_eq!(settings.on_blocked, OnBlocked::Stop);
    assert!(settings.agents.is_empty() && settings.hooks == Hooks::default());
    assert_eq!(settings.agents_for(Role::Worker).next(), None);
}

#[test]
fn the_default_patterns_know_the_usual_layouts() {
    let files = sound("").files;
    let all = Classifier::new(&files.test, &files.production, &files.build).expect("patterns");
    for (path, kind) in [
        ("src/main/java/a/Foo.java", Kind::Production),
        ("core/src/main/resources/a.xml", Kind::Production),
        ("src/main/java/a/test/Foo.java", Kind::Production),
        ("src/commonMain/kotlin/A.kt", Kind::Production),
        ("core/src/test/java/a/FooTest.java", Kind::Test),
        ("src/test/resources/a.json", Kind::Test),
        ("src/integrationTest/java/AIT.java", Kind::Test),
        ("pom.xml", Kind::Build),
        ("core/build.gradle.kts", Kind::Build),
        ("gradle/libs.versions.toml", Kind::Build),
        ("gradle/wrapper/gradle-wrapper.properties", Kind::Build),
        ("app/models.py", Kind::Production),
        ("app/tests/helper.py", Kind::Test),
        ("app/test_models.py", Kind::Test),
        ("pyproject.toml", Kind::Build),
        ("src/index.ts", Kind::Production),
        ("src/index.test.ts", Kind::Test),
        ("src/__tests__/a.js", Kind::Test),
        ("test/fixtures/a.json", Kind::Test),
        ("package.json", Kind::Build),
        ("src/lib.rs", Kind::Production),
        ("crates/a/tests/all.rs", Kind::Test),
        ("build.rs", Kind::Build),
        ("Cargo.toml", Kind::Build),
        ("pkg/a.go", Kind::Production),
        ("pkg/a_test.go", Kind::Test),
        ("go.mod", Kind::Build),
        ("README.md", Kind::Other),
        ("docs/test/plan.md", Kind::Other),
        ("src/main/java/a/tests/Foo.java", Kind::Production),
        (".mvn/jvm.config", Kind::Build),
        ("src/test/resources/pom.xml", Kind::Test),
        ("src/main/java/.ralph/Foo.java", Kind::Production),
        ("src/main/java/tasks.md", Kind::Production),
        ("src/main/window.test.ts", Kind::Test),
        ("src/main/java/src/test/java/Foo.java", Kind::Production),
        ("src/main/java/p/PriceTest.java", Kind::Production),
        ("src/main/resources/pom.xml", Kind::Production),
        ("src/test/java/src/main/java/FooTest.java", Kind::Test),
        ("tests/src/main/java/a.py", Kind::Test),
        ("xsrc/main/java/test_a.py", Kind::Test),
    ] {
        assert_eq!(all.kind_of(path.as_bytes()), kind, "{path}");
    }
}

/// Instructions and settings that each CLI with a preset reads in a project, from its documentation.
const INSTRUCTIONS: [(&str, &[&str]); 14] = [
    (
        "claude",
        &[
            "CLAUDE.md",
            "a/CLAUDE.local.md",
            ".claude/settings.json",
            "a/.claude/skills/x/SKILL.md",
            ".mcp.json",
        ],
    ),
    (
        "codex",
        &["AGENTS.md", "AGENTS.override.md", ".codex/config.toml"],
    ),
    (
        "gemini",
        &["GEMINI.md", ".gemini/settings.json", ".geminiignore"],
    ),
    (
        "opencode",
        &["opencode.json", "opencode.jsonc", ".opencode/agent/x.md"],
    ),
    (
        "kiro-cli",
        &[
            ".kiro/steering/a.md",
            ".kiro/hooks/a.json",
            ".amazonq/rules/a.md",
        ],
    ),
    (
        "copilot",
        &[
            ".github/copilot-instructions.md",
            ".github/instructions/a.instructions.md",
            ".github/agents/a.md",
        ],
    ),
    (
        "amp",
        &[
            "AGENT.md",
            ".amp/settings.json",
            ".agents/skills/x/SKILL.md",
        ],
    ),
    (
        "goose",
        &[".goosehints", ".goosehints.local", ".gooseignore"],
    ),
    (
        "aider",
        &[
            ".aider.conf.yml",
            ".aider.model.settings.yml",
            ".aiderignore",
        ],
    ),
    ("qwen", &["QWEN.md", ".qwen/settings.json", ".qwenignore"]),
    ("hermes", &["HERMES.md", ".hermes.md"]),
    (
        "cursor-agent",
        &[".cursorrules", ".cursor/rules/a.mdc", ".cursorignore"],
    ),
    ("pi", &[".pi/SYSTEM.md"]),
    (
        "others",
        &[
            ".windsurfrules",
            ".clinerules/a.md",
            ".roo/rules/a",
            ".junie/guidelines.md",
            "WARP.md",
            ".vscode/mcp.json",
        ],
    ),
];

#[test]
fn what_instructs_each_cli_with_a_preset_and_what_starts_programs_is_protected() {
    let policy = sound("").policy;
    let [instructions, protected] = [&policy.instructions, &policy.protected]
        .map(|globs| crate::source::compile_globs(globs).unwrap());
    for (preset, names) in INSTRUCTIONS {
        for name in names {
            assert!(instructions.is_match(name), "{preset} reads {name}");
        }
    }
    for preset in PRESETS.iter() {
        assert!(
            INSTRUCTIONS.iter().any(|(name, _)| *name == preset.name),
            "{}",
            preset.name
        );
    }
    for name in [
        ".github/workflows/ci.yml",
        ".github/actions/build/action.yml",
        ".gitea/workflows/a.yml",
        ".gitlab-ci.yml",
        ".gitlab/ci/a.yml",
        ".circleci/config.yml",
        ".buildkite/pipeline.yml",
        ".travis.yml",
        "azure-pipelines-pr.yml",
        ".azure-pipelines/a.yml",
        "bitbucket-pipelines.yml",
        "Jenkinsfile",
        "ci/Jenkinsfile.release",
        ".drone.yml",
        ".woodpecker.yml",
        ".woodpecker/a.yml",
        "appveyor.yml",
        ".cirrus.star",
        ".semaphore/semaphore.yml",
        ".teamcity/settings.kts",
        ".tekton/a.yaml",
        ".builds/a.yml",
        ".zuul.yaml",
        "cloudbuild.yaml",
        "buildspec.yml",
        ".cargo/config.toml",
        "a/.cargo/config",
        "sitecustomize.py",
        "a/usercustomize.py",
        ".npmrc",
        ".yarnrc.yml",
        ".pnpmfile.cjs",
        ".envrc",
        ".bazelrc",
        ".husky/pre-commit",
        ".githooks/pre-push",
        ".yarn/releases/yarn.cjs",
    ] {
        assert!(protected.is_match(name), "{name}");
    }
    for name in [
        "README.md",
        "src/agents.md.rs",
        "docs/ci.md",
        "src/main/java/Jenkins.java",
        "config.toml",
        "a/build.yml",
        ".aider.chat.history.md",
        "src/claude/a.rs",
        ".kiro/specs/a/tasks.md",
        "action.yml",
    ] {
        assert!(
            !protected.is_match(name) && !instructions.is_match(name),
            "{name}"
        );
    }
}

#[test]
fn the_template_names_every_key() {
    for key in [
        "spec:",
        "packages:",
        "files:",
        "agents:",
        "roles:",
        "gates:",
        "checks:",
        "limits:",
        "hooks:",
        "commit:",
        "checkpoints:",
        "rework:",
        "on_blocked:",
        "on_budget:",
        "stages:",
        "placement:",
        "threshold:",
        "per:",
        "no_coverage:",
        "engine:",
        "jobs:",
        "maven_args:",
        "limit:",
        "pit_version:",
        "tests:",
        "jvm_args:",
        "run:",
        "preset:",
        "command:",
        "args:",
        "env:",
        "iterations:",
        "attempts:",
        "wall:",
        "attempt:",
        "idle:",
        "check:",
        "red:",
        "green:",
        "blocked:",
        "done:",
        "gate-fail:",
        "stop:",
        "test:",
        "production:",
        "build:",
    ] {
        assert!(TEMPLATE.contains(key), "{key}");
    }
}

#[test]
fn what_the_template_shows_in_comments_can_be_used() {
    let examples = [
        "packages:",
        "placement:",
        "agents:",
        "  default: {preset: claude}",
        "files:",
        "  test:",
        "  production:",
        "  build:",
    ];
    let shown = TEMPLATE.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if examples.iter().any(|example| rest.starts_with(example)) => rest,
        _ => line,
    });
    let text = shown
        .collect::<Vec<_>>()
        .join("\n")
        .replace("  # LINT:", "  LINT:");
    let settings = sound(&text);
    assert!(settings.packages_given && settings.gates.contains_key("LINT"));
    assert_eq!(settings.files.build, ["**/pom.xml"]);
    assert_eq!(settings.placement["PITEST"], Placement::Each);
    assert_eq!(
        settings
            .agents_for(Role::Worker)
            .next()
            .and_then(|(_, agent)| agent.preset.as_deref()),
        Some("claude")
    );
}

#[test]
fn what_the_file_says_is_what_is_set() {
    let settings = sound(
        "spec: ./docs/spec\npackages: [./services/*/, .]\n\
         agents:\n  default: {command: [sh, agent.sh, '']}\n  boss: {preset: claude, args: [--model, opus], env: {IS_SANDBOX: 1}}\n\
         roles: {validator: boss}\n\
         gates:\n  PITEST: {threshold: 80, per: task, no_coverage: ignore, engine: direct, jobs: 4, maven_args: [-o], classpath_command: [./gradlew, x], limit: 1h 30m, pit_version: 1.30.2, tests: own, test_names: ['{}Spec'], tests_include: [FooIT], scope: auto, where: in-place, recompile: javac, keep: [lib/*.jar], jvm_args: [-Xmx1g], env: [A_B, _c1*]}\n  LINT: {run: [sh, lint.sh], limit: 90s, env: ['*']}\n\
         checks: {red: [mvn, test], env: [D]}\n\
         limits: {iterations: 7, attempts: 1, rework: 0, wall: 2h, attempt: 5m, idle: 30s, check: 1m}\n\
         hooks: {done: [notify-send, done], stop: null, env: [E]}\n\
         lanes: {take: groups, heavy: 3, command: [srun, ralph, '--root={workspace}', 'n{lane}', '{ids}', '{', '{}'], setup: [npm, ci], copy: [src/*/.env], env: {PORT: 80, AT: '{workspace}/{lane}'}}\n\
         files: {test: ['t/**'], build: []}\n\
         commit: ralph\ncheckpoints: '^Checkpoint'\nrework: keep-reviews\non_blocked: next\nstages: virtual\n",
    );
    assert_eq!(settings.spec, PathBuf::from("/w/docs/spec"));
    let lanes = &settings.lanes;
    assert_eq!((lanes.take, lanes.heavy), (LaneTasks::Groups, 3));
    assert_eq!(lanes.setup, Some(vec!["npm".to_owned(), "ci".to_owned()]));
    let command = lanes.command_of(2, "/l/{ids}", "2.,3.").unwrap();
    let filled = ["srun", "ralph", "--root=/l/{ids}", "n2", "2.,3.", "{", "{}"];
    assert_eq!(command, filled);
    assert_eq!(lanes.copy, ["src/*/.env"]);
    let variables = [("AT", "/l/2"), ("PORT", "80")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(lanes.variables_of(2, "/l"), variables);
    assert_eq!(settings.packages, ["services/*", "."]);
    assert!(settings.packages_given);
    assert_eq!(settings.agents["default"].command, ["sh", "agent.sh", ""]);
    let (name, boss) = settings.agents_for(Role::Validator).next().expect("boss");
    assert_eq!((name, boss.preset.as_deref()), ("boss", Some("claude")));
    assert_eq!(boss.command.last().map(String::as_str), Some("opus"));
    assert_eq!(boss.env["IS_SANDBOX"], "1");
    assert_eq!(boss.env["DISABLE_AUTOUPDATER"], "1");
    assert_eq!(
        settings
            .agents_for(Role::Worker)
            .next()
            .map(|(name, _)| name),
        Some("default")
    );
    let gate = &settings.gates["PITEST"];
    assert_eq!(
        (gate.threshold, gate.per, gate.no_coverage),
        (80, Per::Task, NoCoverage::Ignore)
    );
    assert_eq!(
        (gate.engine, gate.jobs, gate.limit.as_secs()),
        (GateEngine::Direct, 4, 5400)
    );
    assert_eq!(
        (gate.pit_version.as_str(), &gate.test_names[..]),
        ("1.30.2", &["{}Spec".to_owned()][..])
    );
    assert_eq!(
        (&gate.maven_args[..], &gate.jvm_args[..]),
        (&["-o".to_owned()][..], &["-Xmx1g".to_owned()][..])
    );
    assert_eq!(
        (gate.tests, gate.scope, gate.folder),
        (TestTiers::Own, ScopeKind::Auto, GateFolder::InPlace)
    );
    assert_eq!(gate.recompile, Recompile::Javac);
    assert_eq!(
        gate.classpath_command,
        Some(vec!["./gradlew".to_owned(), "x".to_owned()])
    );
    assert_eq!(&gate.keep[..], ["lib/*.jar".to_owned()]);
    assert_eq!(&gate.tests_include[..], ["FooIT".to_owned()]);
    let lint = &settings.gates["LINT"];
    let named = [
        &gate.env,
        &lint.env,
        &settings.checks.env,
        &settings.hooks.env,
    ]
    .map(|names| names.join(" "));
    assert_eq!(named, ["A_B _c1*", "*", "D", "E"]);
    assert_eq!(
        lint.run.as_deref(),
        Some(&["sh".to_owned(), "lint.sh".to_owned()][..])
    );
    assert_eq!(lint.limit, Duration::from_secs(90));
    assert_eq!(
        settings.checks.red,
        Some(vec!["mvn".to_owned(), "test".to_owned()])
    );
    assert_eq!(
        (settings.limits.iterations, settings.limits.rework),
        (Some(7), 0)
    );
    assert_eq!(settings.limits.idle, Some(Duration::from_secs(30)));
    assert_eq!(
        settings
            .hooks
            .commands()
            .map(|(event, _)| event)
            .collect::<Vec<_>>(),
        ["done"]
    );
    assert_eq!(
        (&settings.files.test[..], settings.files.build.len()),
        (&["t/**".to_owned()][..], 0)
    );
    assert_eq!(settings.files.production, sound("").files.production);
    assert_eq!(
        (settings.commit, settings.on_blocked),
        (CommitBy::Ralph, OnBlocked::Next)
    );
    assert_eq!(settings.stages, StagesFrom::Virtual);
    assert_eq!(
        (settings.rework, settings.checkpoints.as_str()),
        (ReworkReviews::KeepReviews, "^Checkpoint")
    );
}

#[test]
fn the_engine_of_the_pom_is_refused_with_the_way_out() {
    insta::assert_snapshot!(wrong_below("gates:\n  PITEST:\n", "    engine: maven"), @r#"gates.PITEST.engine|.ralph/config.yaml:3: `gates.PITEST.engine` must be `direct`, not "maven". → ralph runs PIT itself: leave the key out. To run the POM's own pitest-maven, write a gate that is a command (`gates.<NAME>.run`)."#);
}

#[test]
fn presets_put_arguments_before_the_dash_that_means_standard_input() {
    let settings = sound("agents: {default: {preset: codex, args: [-m, gpt-5.5]}}");
    let command = settings.agents["default"].command.join(" ");
    assert!(
        command.starts_with("codex exec --dangerously-bypass-approvals-and-sandbox "),
        "{command}"
    );
    assert!(
        command.contains(" -c tools.experimental_request_user_input.enabled=false "),
        "{command}"
    );
    assert!(command.ends_with(" --json -m gpt-5.5 -"), "{command}");
    let settings = sound("agents: {default: {preset: claude, model: opus}}");
    let command = settings.agents["default"].command.join(" ");
    assert!(
        command.starts_with("claude -p --dangerously-skip-permissions --strict-mcp-config "),
        "{command}"
    );
    assert!(
        command.ends_with(" --model opus") && !command.contains("setting-sources"),
        "{command}"
    );
    assert!(
        command.contains(" --output-format stream-json --verbose "),
        "{command}"
    );
    assert!(!settings.agents["default"].env.contains_key("IS_SANDBOX"));
    let settings = sound(
        "agents: {default: {preset: claude, format: text}, own: {command: [x], format: claude}, plain: {command: [x]}}",
    );
    let agent = |name: &str| &settings.agents[name];
    assert_eq!(agent("default").format, TranscriptFormat::Text);
    assert!(!agent("default").command.join(" ").contains("stream-json"));
    assert_eq!(
        (agent("own").format, agent("plain").format),
        (TranscriptFormat::Claude, TranscriptFormat::Text)
    );
}

#[test]
fn unknown_and_doubled_keys_are_named_with_their_line_at_any_depth() {
    insta::assert_snapshot!(wrong([
        "spec: .\nthreshold: 70\n",
        "gates:\n  PITEST:\n    treshold: 80\n    limit: 5m\n",
        "limits: {attempts: 2,\n  wal: 1h}\n",
        "agents:\n  a: {preset: claude, temperature: 1}\n",
        "checks:\n\n  # note\n  Red: null\n",
        "hooks:\n  finished: null\n",
        "\"on\": {}\n",
    ]), @r"
    threshold|.ralph/config.yaml:2: `threshold` is not a known key. → Known here: `agents`, `checkpoints`, `checks`, `commit`, `files`, `gates`, `hooks`, `lanes`, `limits`, `mcp`, `on_blocked`, `on_budget`, `packages`, `placement`, `policy`, `rework`, `roles`, `spec`, `spec_files`, `stages`, `tasks`, `verifier`.
    gates.PITEST.treshold|.ralph/config.yaml:3: `gates.PITEST.treshold` is not a known key. → Did you mean `threshold`?
    limits.wal|.ralph/config.yaml:2: `limits.wal` is not a known key. → Did you mean `wall`?
    agents.a.temperature|.ralph/config.yaml:2: `agents.a.temperature` is not a known key. → Known here: `args`, `command`, `env`, `fallback`, `format`, `model`, `preset`.
    checks.Red|.ralph/config.yaml:4: `checks.Red` is not a known key. → Did you mean `red`?
    hooks.finished|.ralph/config.yaml:2: `hooks.finished` is not a known key. → Known here: `anchor`, `blocked`, `done`, `env`, `gate-fail`, `stop`, `waiting`.
    on|.ralph/config.yaml:1: `on` is not a known key. → It is called `hooks` now, because YAML 1.1 reads `on` as `true`: rename the key.
    ");
    for (text, key, line) in [
        ("spec: .\ncommit: agent\n'spec': docs\n", "spec", 3),
        (
            "agents:\n  a:\n    command: [x]\n    command: [y]\n",
            "command",
            4,
        ),
        (
            "agents: {a: {preset: claude},\n a: {preset: codex}}\n",
            "a",
            2,
        ),
        ("checks:\n  red: [{a: 1,\n   a: 2}]\n", "a", 3),
    ] {
        let error = mistake(text);
        assert!(
            error
                .what
                .ends_with(&format!("the key \"{key}\" is written twice.")),
            "{error:?}"
        );
        assert_eq!(error.line, Some(line), "{text}");
    }
}

#[test]
fn wrong_values_are_named_with_their_line_and_what_would_be_right() {
    insta::assert_snapshot!(wrong_below("", "spec: [a]\npackages: []"), @r#"
    spec|.ralph/config.yaml:1: `spec` must be text, not a list. → Write a value in quotes, or leave the key out for its default.
    packages|.ralph/config.yaml:1: `packages` must not be empty. → Write it as `["a", "b"]`, or leave the key out for its default.
    "#);
    insta::assert_snapshot!(wrong_below("gates:\n  PITEST:\n", "    threshold: 70%\n    per: klass\n    no_coverage: no\n    engine: gradle\n    jobs: -1\n    maven_args: -o\n    limit: 60\n    pit_version: \"1.2 3\"\n    test_names: [FooTest]\n    tests: [FooTest]\n    where: tmp\n    ahead: 1\n    jvm_args: [-o, 1]"), @r#"
    gates.PITEST.threshold|.ralph/config.yaml:3: `gates.PITEST.threshold` must be a whole number from 0 to 100, not "70%". → Write the number alone, without quotes or a unit.
    gates.PITEST.per|.ralph/config.yaml:3: `gates.PITEST.per` must be `class`, `package` or `task`, not "klass". → Did you mean `class`?
    gates.PITEST.no_coverage|.ralph/config.yaml:3: `gates.PITEST.no_coverage` must be `survived` or `ignore`, not "no". → Write one of these words, or leave the key out for its default.
    gates.PITEST.engine|.ralph/config.yaml:3: `gates.PITEST.engine` must be `direct`, not "gradle". → ralph runs PIT itself: leave the key out. To run the POM's own pitest-maven, write a gate that is a command (`gates.<NAME>.run`).
    gates.PITEST.jobs|.ralph/config.yaml:3: `gates.PITEST.jobs` must be a whole number from 0 to 1024, not -1. → Write the number alone, without quotes or a unit.
    gates.PITEST.maven_args|.ralph/config.yaml:3: `gates.PITEST.maven_args` must be a list, not "-o". → Write it as `["a", "b"]`, or leave the key out for its default.
    gates.PITEST.limit|.ralph/config.yaml:3: `gates.PITEST.limit` must be a length of time of at most a year, not 60. → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    gates.PITEST.pit_version|.ralph/config.yaml:3: `gates.PITEST.pit_version` must be 1.25.5 or newer, not "1.2 3". → Write it as `"1.25.9"`.
    gates.PITEST.test_names|.ralph/config.yaml:3: `gates.PITEST.test_names` (item 1) must be the name of a test class, with `{}` for the name of the class under test, not "FooTest". → Write it as `"{}Test"` or `"Test{}"`.
    gates.PITEST.tests|.ralph/config.yaml:3: `gates.PITEST.tests` must be `own-first`, `all` or `own`, not a list. → Write one of these words, or leave the key out for its default.
    gates.PITEST.where|.ralph/config.yaml:3: `gates.PITEST.where` must be `clean` or `in-place`, not "tmp". → Write one of these words, or leave the key out for its default.
    gates.PITEST.ahead|.ralph/config.yaml:3: `gates.PITEST.ahead` is not a known key. → Known here: `classpath_command`, `engine`, `env`, `jobs`, `jvm_args`, `keep`, `limit`, `maven_args`, `no_coverage`, `per`, `pit_version`, `recompile`, `run`, `scope`, `test_names`, `tests`, `tests_include`, `threshold`, `where`.
    gates.PITEST.jvm_args|.ralph/config.yaml:3: `gates.PITEST.jvm_args` (item 2) must be text, not 1. → Write a value in quotes, or leave the key out for its default.
    "#);
    insta::assert_snapshot!(wrong_below("limits:\n", "  iterations: 0\n  attempts: 2.5\n  rework: yes\n  attempt: 1d\n  idle: 0s\n  check: soon\n  wall: 1 year"), @r#"
    limits.iterations|.ralph/config.yaml:2: `limits.iterations` must be a whole number from 1 to 1000000, not 0. → Write the number alone, without quotes or a unit.
    limits.attempts|.ralph/config.yaml:2: `limits.attempts` must be a whole number from 1 to 1000, not 2.5. → Write the number alone, without quotes or a unit.
    limits.rework|.ralph/config.yaml:2: `limits.rework` must be a whole number from 0 to 1000, not "yes". → Write the number alone, without quotes or a unit.
    limits.attempt|.ralph/config.yaml:2: `limits.attempt` must be a length of time of at most a year, not "1d". → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    limits.idle|.ralph/config.yaml:2: `limits.idle` must be a length of time of at most a year, not "0s". → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    limits.check|.ralph/config.yaml:2: `limits.check` must be a length of time of at most a year, not "soon". → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    limits.wall|.ralph/config.yaml:2: `limits.wall` must be a length of time of at most a year, not "1 year". → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    "#);
    insta::assert_snapshot!(wrong(["limits: [1]\n", "spec: \"a\\0b\"\n"]), @r#"
    limits|.ralph/config.yaml:1: `limits` must be keys with values, not a list. → Write `key: value` lines below it.
    spec|.ralph/config.yaml:1: `spec` must be text, not "a\0b". → Write a value in quotes, or leave the key out for its default.
    "#);
}

#[test]
fn wrong_agents_roles_gates_and_commands_are_named() {
    insta::assert_snapshot!(wrong_below("agents:\n", "  a: sh agent.sh\n  b: {}\n  c: {preset: claud}\n  d: {preset: codex, command: [x]}\n  e: {command: [x], args: [y]}\n  f: {command: []}\n  g h: {command: [x]}\n  i: {command: [x], env: {1A: x}}\n  j: {command: [x], env: {RALPH_TASK: x}}\n  k: {command: [x], env: {RATE: 1.5}}\n  l: {command: sh agent.sh}\n  m: {preset: claude, format: codex}\n  n: {command: [x], format: json}"), @r#"
    agents.a|.ralph/config.yaml:2: `agents.a` must be keys with values, not "sh agent.sh". → Write `key: value` lines below it.
    agents.b|.ralph/config.yaml:2: `agents.b` has neither `command` nor `preset`. → Write `{command: ["sh", "agent.sh"]}` or `{preset: claude}`.
    agents.c.preset|.ralph/config.yaml:2: `agents.c.preset` must be `claude`, `codex`, `gemini`, `opencode`, `kiro-cli`, `copilot`, `amp`, `goose`, `aider`, `qwen`, `hermes`, `cursor-agent` or `pi`, not "claud". → Did you mean `claude`?
    agents.d.preset|.ralph/config.yaml:2: `agents.d.preset` is not used with `command`. → Keep one of the two.
    agents.e.args|.ralph/config.yaml:2: `agents.e.args` is not used with `command`. → Put the arguments into `command` itself.
    agents.f.command|.ralph/config.yaml:2: `agents.f.command` must not be empty. → Write it as `["sh","lint.sh"]`.
    agents.g h|.ralph/config.yaml:2: `agents.g h` is not a valid name here. → Use letters, digits, `-`, `_` and `.`.
    agents.i.env.1A|.ralph/config.yaml:2: `agents.i.env.1A` is not a valid name here. → Use letters, digits and `_`, no digit first, and not `RALPH_` at the start: ralph sets those.
    agents.j.env.RALPH_TASK|.ralph/config.yaml:2: `agents.j.env.RALPH_TASK` is not a valid name here. → Use letters, digits and `_`, no digit first, and not `RALPH_` at the start: ralph sets those.
    agents.k.env.RATE|.ralph/config.yaml:2: `agents.k.env.RATE` must be text, not 1.5. → Write a value in quotes, or leave the key out for its default.
    agents.l.command|.ralph/config.yaml:2: `agents.l.command` must be a list of program and arguments (there is no shell), not "sh agent.sh". → Write it as `["sh", "agent.sh"]`.
    agents.m.format|.ralph/config.yaml:2: `agents.m.format` is not what this preset prints. → Leave the key out, or write `text`.
    agents.n.format|.ralph/config.yaml:2: `agents.n.format` must be `text`, `claude`, `codex`, `gemini`, `opencode`, `copilot`, `cursor`, `goose`, `pi` or `hermes`, not "json". → Write one of these words, or leave the key out for its default.
    "#);
    insta::assert_snapshot!(wrong_below("agents:\n", "  a: {preset: codex, fallback: [c]}\n  b: {preset: codex, fallback: [b]}\n  d: {preset: codex, fallback: a}"), @r#"
    agents.a.fallback|.ralph/config.yaml:2: `agents.a.fallback` names "c", which is no other agent of `agents:`. → Name the agent under `agents:` first.
    agents.b.fallback|.ralph/config.yaml:2: `agents.b.fallback` names "b", which is no other agent of `agents:`. → Name the agent under `agents:` first.
    agents.d.fallback|.ralph/config.yaml:2: `agents.d.fallback` must be a list, not "a". → Write it as `["a", "b"]`, or leave the key out for its default.
    "#);
    insta::assert_snapshot!(wrong(["lanes: {command: [srun, ralph]}\n", "lanes: {command: [srun, '{ids}', '{number}']}\n", "lanes: {command: []}\n"]), @r#"
    lanes.command|.ralph/config.yaml:1: `lanes.command` does not name the tasks. → Write `{ids}` after `--only`: `[srun, ralph, --root, "{workspace}", run, --only, "{ids}"]`.
    lanes.command|.ralph/config.yaml:1: `lanes.command` has the unknown placeholder "{number}". → Use `{ids}`, `{workspace}` or `{lane}`.
    lanes.command|.ralph/config.yaml:1: `lanes.command` must not be empty. → Write it as `["sh","lint.sh"]`.
    "#);
    let itself = "agents: {a: {preset: pi, fallback: [b, a]}, b: {preset: codex}}\n";
    insta::assert_snapshot!(parse(itself, Path::new("/w"), &[]).unwrap_err(), @r#".ralph/config.yaml:1: `agents.a.fallback` names "a", which is no other agent of `agents:`."#);
    insta::assert_snapshot!(wrong_below("agents: {a: {preset: codex}, b: {command: [x]}}\nroles:\n", "  worker: z\n  tester: a"), @r#"
    roles.worker|.ralph/config.yaml:3: `roles.worker` names the agent "z", which `agents:` does not. → Named there: `a` or `b`.
    roles.tester|.ralph/config.yaml:3: `roles.tester` is not a known key. → Known here: `integration-tester`, `quality-reviewer`, `req-reviewer`, `test-writer`, `validator`, `worker`.
    "#);
    insta::assert_snapshot!(wrong_below("gates:\n", "  pitest: {}\n  FINAL: {run: [x]}\n  SPELL: {threshold: 3}\n  MUTMUT: {pit_version: 1.30.2}\n  STRYKER: {scope: auto}\n  LINT: {run: lint, limit: 1m}\n  TIDY: {run: [a], threshold: 70}\n  PITEST: {run: [], limit: 1m}\n  EMPTY:"), @r#"
    gates.pitest|.ralph/config.yaml:2: `gates.pitest` is not a valid name here. → Use capital letters, digits and `-`, a letter first, as in `N.PITEST`, and no word of another stage.
    gates.FINAL|.ralph/config.yaml:2: `gates.FINAL` is not a valid name here. → Use capital letters, digits and `-`, a letter first, as in `N.PITEST`, and no word of another stage.
    gates.SPELL.threshold|.ralph/config.yaml:2: `gates.SPELL.threshold` is for a gate that measures mutants (`PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS`, `MUTATION` without `run`). → This gate takes `run`, `limit`, `where`, `keep`, `env` only.
    gates.MUTMUT.pit_version|.ralph/config.yaml:2: `gates.MUTMUT.pit_version` is for `PITEST`. → This gate takes `threshold`, `per`, `no_coverage`, `scope`, `jobs`, `limit`, `where`, `keep`, `env` only.
    gates.STRYKER.scope|.ralph/config.yaml:2: `gates.STRYKER.scope` is `auto`, which needs the score of a class before the task. → Write `class` or `lines`.
    gates.LINT.run|.ralph/config.yaml:2: `gates.LINT.run` must be a list of program and arguments (there is no shell), not "lint". → Write it as `["lint"]`.
    gates.TIDY.threshold|.ralph/config.yaml:2: `gates.TIDY.threshold` is for a gate that measures mutants (`PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS`, `MUTATION` without `run`). → This gate takes `run`, `limit`, `where`, `keep`, `env` only.
    gates.PITEST.run|.ralph/config.yaml:2: `gates.PITEST.run` must not be empty. → Write it as `["sh","lint.sh"]`.
    gates.EMPTY|.ralph/config.yaml:2: `gates.EMPTY` has no command to run. → Write `{run: [program, argument, …]}`; only `PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS` and `MUTATION` have engines of their own.
    "#);
    insta::assert_snapshot!(wrong_below("", "checks: {red: make test}\nhooks: {done: [\"\"]}"), @r#"
    checks.red|.ralph/config.yaml:1: `checks.red` must be a list of program and arguments (there is no shell), not "make test". → Write it as `["make", "test"]`.
    hooks.done|.ralph/config.yaml:1: `hooks.done` (item 1) must not be empty. → Write a value in quotes, or leave the key out for its default.
    "#);
}

#[test]
fn wrong_choices_patterns_and_files_are_named() {
    insta::assert_snapshot!(wrong_below("", "commit: me\ncheckpoints: '('\nrework: reopen_reviews\non_blocked: continue\npackages: [/abs]\npackages: [a, ../up]\npackages: ['a[']\nfiles: {test: []}\nfiles: {production: x}\ncheckpoints: 'checkpoint|'"), @r#"
    commit|.ralph/config.yaml:1: `commit` must be `agent` or `ralph`, not "me". → Write one of these words, or leave the key out for its default.
    checkpoints|.ralph/config.yaml:1: `checkpoints` must be a regular expression that does not match every text, not "(": found open group without closing ')'. → Write it as `"(?i)\\bcheckpoint\\b|\\[verify\\]"`.
    rework|.ralph/config.yaml:1: `rework` must be `reopen-reviews` or `keep-reviews`, not "reopen_reviews". → Did you mean `reopen-reviews`?
    on_blocked|.ralph/config.yaml:1: `on_blocked` must be `stop` or `next`, not "continue". → Write one of these words, or leave the key out for its default.
    packages|.ralph/config.yaml:1: `packages` (item 1) must be a pattern for paths below the folder, without a leading `/` and without `..`, not "/abs". → Write it as `"services/*"` or `"**/*.java"`.
    packages|.ralph/config.yaml:1: `packages` (item 2) must be a pattern for paths below the folder, without a leading `/` and without `..`, not "../up". → Write it as `"services/*"` or `"**/*.java"`.
    packages|.ralph/config.yaml:1: `packages` (item 1) must be a pattern for paths below the folder, without a leading `/` and without `..`, not "a[": unclosed character class; missing ']'. → Write it as `"services/*"` or `"**/*.java"`.
    files.test|.ralph/config.yaml:1: `files.test` must not be empty. → Write it as `["a", "b"]`, or leave the key out for its default.
    files.production|.ralph/config.yaml:1: `files.production` must be a list, not "x". → Write it as `["a", "b"]`, or leave the key out for its default.
    checkpoints|.ralph/config.yaml:1: `checkpoints` must be a regular expression that does not match every text, not "checkpoint|": every task could be ticked without a change. → Write it as `"(?i)\\bcheckpoint\\b|\\[verify\\]"`.
    "#);
}

#[test]
fn a_version_of_pit_without_what_the_plugin_uses_is_an_error() {
    for (version, is_known) in [
        ("1.9.11", false),
        ("1.23.1", false),
        ("1.25.4", false),
        ("1.25.5", true),
        ("1.25.10", true),
        ("1.30.2", true),
        ("2.0.0-RC1", true),
        ("10.0", true),
    ] {
        let text = format!("gates: {{PITEST: {{pit_version: '{version}'}}}}");
        assert_eq!(
            parse(&text, Path::new("/w"), &[]).is_ok(),
            is_known,
            "{version}"
        );
    }
}

#[test]
fn a_text_that_is_no_yaml_or_no_map_is_one_error() {
    insta::assert_snapshot!(wrong(["spec: .\n\tgates: x\n"]), @r"
    |.ralph/config.yaml:2: The file cannot be read as YAML: found a tab character that violates indentation. → Fix the line; docs/configuration.md and `ralph generate schema` list all keys.
    ");
    insta::assert_snapshot!(wrong(["spec: [a\ngates: x\n"]), @r"
    |.ralph/config.yaml:2: The file cannot be read as YAML: did not find expected ',' or ']'. → Fix the line; docs/configuration.md and `ralph generate schema` list all keys.
    ");
    insta::assert_snapshot!(wrong(["\n- a\n"]), @r"
    |.ralph/config.yaml:2: The file must be keys with values, not a list. → Write `key: value` lines below it.
    ");
    insta::assert_snapshot!(wrong(["a: 1\n---\nb: 2\n"]), @r"
    |.ralph/config.yaml:2: The file cannot be read as YAML: deserializing from YAML containing more than one document is not supported. → Fix the line; docs/configuration.md and `ralph generate schema` list all keys.
    ");
    insta::assert_snapshot!(wrong(["? [a, b]\n: c\n"]), @r"
    |.ralph/config.yaml:1: The file cannot be read as YAML: invalid type: sequence, expected a key that is plain text. → Fix the line; docs/configuration.md and `ralph generate schema` list all keys.
    ");
    insta::assert_snapshot!(wrong(["spec: !env HOME\n"]), @r"
    |.ralph/config.yaml:1: The file cannot be read as YAML: spec: invalid type: enum, expected text, a number, true, false, null, a list or keys with values. → Fix the line; docs/configuration.md and `ralph generate schema` list all keys.
    ");
}

#[test]
fn a_line_is_found_however_the_key_is_written() {
    for (text, line) in [
        ("x: 1\n", 1),
        ("# c\n\n\"x\": 1\n", 3),
        ("spec: >\n  x: 1\n  y\nx: 2\n", 4),
        ("{spec: a,\n commit: agent,\n x: 1}\n", 3),
        ("spec: |\n  a\n\n  b\n? x\n: 1\n", 5),
        ("commit: agent\r\nspec: a\r\nx: 1\r\n", 3),
        ("---\nspec: ä\nx: 1\n", 3),
    ] {
        let error = mistake(text);
        assert_eq!(
            (error.line, error.kind.as_str()),
            (Some(line), "x"),
            "{text:?}"
        );
    }
}

#[test]
fn hostile_text_reaches_no_message() {
    let error = mistake("\"a\\e[31m\\u202e\": 1\nspec: .\n").to_string();
    assert!(
        !error.chars().any(|c| c.is_control() || c == '\u{202e}'),
        "{error:?}"
    );
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
    mistake(bomb);
    assert!(
        mistake(&"#".repeat(LONGEST_TEXT + 1))
            .what
            .starts_with("The file is longer")
    );
}

#[test]
fn placements_are_words_or_named_tasks_of_configured_gates() {
    let groups = sound(
        "gates: {LINT: {run: [lint]}}\nplacement: {PITEST: {groups: 2}, LINT: {groups: 2}}\n",
    );
    assert!(
        groups
            .placement
            .values()
            .all(|choice| *choice == Placement::GroupsOf { groups: 2 })
    );
    let settings = sound(
        "gates: {LINT: {run: [lint]}, SLOW: {run: [slow]}}\nplacement:\n  PITEST: {after: [\"2\", T01]}\n  LINT: end\n  SLOW: none\n",
    );
    let after = Placement::After(vec!["2".to_owned(), "T01".to_owned()]);
    let expected = [
        ("LINT", Placement::End),
        ("PITEST", after),
        ("SLOW", Placement::None),
    ];
    let expected = expected.map(|(gate, choice)| (gate.to_owned(), choice));
    assert_eq!(settings.placement, expected.into());
    insta::assert_snapshot!(wrong([
        "placement:\n  STRYKER: each\n",
        "placement:\n  PITEST: group\n",
        "placement: {PITEST: {after: 2}}",
        "placement: {PITEST: {after: []}}",
        "placement: {PITEST: {after: ['']}}",
        "placement: {PITEST: {}}",
        "placement: each",
        "placement: {PITEST: {groups: 7}}",
        "placement: {PITEST: {groups: two}}",
        "placement: {PITEST: {group: 2}}",
        "gates: {LINT: {run: [lint]}}\nplacement:\n  PITEST: groups\n  LINT: {groups: 2}\n",
    ]), @r#"
    placement.STRYKER|.ralph/config.yaml:2: `placement.STRYKER` is not a known key. → Known here: `PITEST`.
    placement.PITEST|.ralph/config.yaml:2: `placement.PITEST` must be `each`, `tested`, `groups`, `end` or `none`, not "group". → Did you mean `groups`?
    placement.PITEST.after|.ralph/config.yaml:1: `placement.PITEST.after` must be a list, not 2. → Write it as `["a", "b"]`, or leave the key out for its default.
    placement.PITEST.after|.ralph/config.yaml:1: `placement.PITEST.after` must not be empty. → Write it as `["a", "b"]`, or leave the key out for its default.
    placement.PITEST.after|.ralph/config.yaml:1: `placement.PITEST.after` (item 1) must not be empty. → Write a value in quotes, or leave the key out for its default.
    placement.PITEST|.ralph/config.yaml:1: `placement.PITEST` must be `each`, `tested`, `groups`, `end` or `none`, not keys with values. → Write it as `"each"` or `{"after":["2","5"]}` or `{"groups":2}`.
    placement|.ralph/config.yaml:1: `placement` must be keys with values, not "each". → Write `key: value` lines below it.
    placement.PITEST.groups|.ralph/config.yaml:1: `placement.PITEST.groups` must be a whole number from 1 to 6, not 7. → Write the number alone, without quotes or a unit.
    placement.PITEST.groups|.ralph/config.yaml:1: `placement.PITEST.groups` must be a whole number from 1 to 6, not "two". → Write the number alone, without quotes or a unit.
    placement.PITEST.group|.ralph/config.yaml:1: `placement.PITEST.group` is not a known key. → Did you mean `groups`?
    placement.LINT|.ralph/config.yaml:4: `placement.LINT` has other groups than the gates above it. → Write the same level for all gates of groups: `{PITEST: {groups: 2}, LINT: {groups: 2}}`.
    "#);
}

#[test]
fn the_agents_of_a_role_are_its_own_and_those_that_stand_in() {
    let settings = sound(
        "agents:\n  default: {preset: claude, fallback: [codex, local]}\n  codex: {preset: codex, fallback: [local]}\n  local: {command: [sh, a.sh]}\nroles: {worker: codex}\n",
    );
    let of = |role| {
        settings
            .agents_for(role)
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(of(Role::Validator), "default codex local");
    assert_eq!(of(Role::Worker), "codex local");
    for role in Role::all() {
        assert_eq!(role_of(&role.stage()), Some(role));
    }
}

#[test]
fn every_stage_but_a_gate_has_a_role() {
    use crate::task::Stage;
    let roles: Vec<_> = [
        Stage::TestFirst,
        Stage::Implementation,
        Stage::ReqCheck,
        Stage::PreCr,
        Stage::Integ,
        Stage::Final,
    ]
    .iter()
    .map(|stage| role_of(stage).expect("a role"))
    .collect();
    assert_eq!(roles, Role::all());
    assert_eq!(role_of(&Stage::Gate("PITEST".to_owned())), None);
}

proptest! {
    #[test]
    fn any_text_gives_settings_or_whole_sentences(text in "[a-z:{}\\[\\],\"'\n \t&*!|>-]{0,80}") {
        if let Err(error) = parse(&text, Path::new("/w"), &[]) {
            prop_assert!(error.place == FILE && error.what.ends_with('.'), "{}", error.what);
            prop_assert!(!error.what.contains(char::is_control) && !error.hint.is_empty());
        }
    }

    #[test]
    fn any_slip_in_a_known_key_is_an_error_on_its_line(at in 0usize..15, letter in "[a-z]", blank in 0usize..5) {
        let keys = ["spec", "packages", "files", "agents", "roles", "gates", "checks", "limits", "hooks", "commit",
            "checkpoints", "rework", "on_blocked", "stages", "placement"];
        let key = format!("{}{letter}q", keys[at]);
        let text = format!("{}{key}: x\n", "# c\n".repeat(blank));
        let error = mistake(&text);
        prop_assert_eq!(error.line, Some(blank + 1));
        prop_assert_eq!(&error.kind, &key);
    }
}

#[test]
fn sections_of_the_task_file_are_patterns_for_headings() {
    let settings =
        sound("tasks: {sections: {include: [Plan*], exclude: ['Definition of Done', '{a,b}?']}}\n");
    assert_eq!(settings.tasks.sections.include, ["Plan*"]);
    assert_eq!(
        settings.tasks.sections.exclude,
        ["Definition of Done", "{a,b}?"]
    );
    assert_eq!(
        sound("tasks: {sections: {}}\n").tasks.sections,
        TaskSections::default()
    );
    insta::assert_snapshot!(wrong_below("tasks:\n  sections:\n", "    exclud: [a]\n    include: ['[a']\n    exclude: done\n    exclude: ['']"), @r#"
    tasks.sections.exclud|.ralph/config.yaml:3: `tasks.sections.exclud` is not a known key. → Did you mean `exclude`?
    tasks.sections.include|.ralph/config.yaml:3: `tasks.sections.include` (item 1) must be a pattern for headings, not "[a": unclosed character class; missing ']'. → Write it as `"Definition of Done"` or `"Notes*"`.
    tasks.sections.exclude|.ralph/config.yaml:3: `tasks.sections.exclude` must be a list, not "done". → Write it as `["a", "b"]`, or leave the key out for its default.
    tasks.sections.exclude|.ralph/config.yaml:3: `tasks.sections.exclude` (item 1) must not be empty. → Write it as `"Definition of Done"` or `"Notes*"`.
    "#);
}

#[test]
fn a_flood_of_brackets_is_refused_with_its_line_before_it_is_read() {
    let deep = format!(
        "spec: .\nlimits: {}{}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let error = mistake(&deep);
    assert_eq!(
        error.to_string(),
        ".ralph/config.yaml:2: The file opens more than 2000 brackets."
    );
}

#[test]
fn a_key_without_a_value_has_its_default() {
    let text = "limits: {wall: , idle: null}\ngates:\n  PITEST: {threshold: }\npackages:\nfiles:\n  test:\n";
    assert_eq!(
        Settings {
            packages_given: false,
            ..sound(text)
        },
        sound("")
    );
}
