//! The schema, its defaults and what is said when a file is wrong.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

fn sound(text: &str) -> Settings {
    parse(text, Path::new("/w")).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Every error as `line|key|message → hint`.
fn wrong(text: &str) -> String {
    let errors = parse(text, Path::new("/w")).expect_err("this text is wrong");
    let told = errors.iter().map(|error| {
        let line = error.line.map_or("-".to_owned(), |line| line.to_string());
        format!("{line}|{}|{} → {}", error.key, error.message, error.hint)
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_absent_file_and_the_template_mean_the_defaults() {
    let defaults = Settings::defaults(Path::new("/w"));
    assert_eq!(sound(""), defaults);
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
    assert_eq!((gate.threshold, gate.per, gate.no_coverage), (70, Per::Class, NoCoverage::Survived));
    assert_eq!((gate.engine, gate.jobs, gate.limit.as_secs()), (GateEngine::Direct, 0, 3600));
    assert_eq!(gate.pit_version, "1.25.9");
    assert_eq!(settings.checks, Checks { red: None, green: None });
    let limits = &settings.limits;
    assert_eq!((limits.iterations, limits.attempts, limits.rework, limits.idle), (None, 3, 5, None));
    let seconds = [limits.wall, limits.attempt, limits.check].map(|limit| limit.as_secs());
    assert_eq!(seconds, [24 * 3600, 3600, 600]);
    assert_eq!(settings.commit, CommitBy::Agent);
    assert_eq!(settings.checkpoints, r"(?i)\bcheckpoint\b");
    assert_eq!(settings.rework, ReworkReviews::ReopenReviews);
    assert_eq!(settings.on_blocked, OnBlocked::Stop);
    assert!(settings.agents.is_empty() && settings.hooks == Hooks::default());
    assert_eq!(settings.agent_for(Role::Worker), None);
}

#[test]
fn the_default_patterns_know_the_usual_layouts() {
    let files = Settings::defaults(Path::new("/w")).files;
    let any = |globs: &[String], path: &str| {
        globs.iter().any(|glob| {
            globset::GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .expect("a pattern")
                .compile_matcher()
                .is_match(path)
        })
    };
    for (path, kind) in [
        ("src/main/java/a/Foo.java", "production"),
        ("core/src/main/resources/a.xml", "production"),
        ("src/main/java/a/test/Foo.java", "production"),
        ("src/commonMain/kotlin/A.kt", "production"),
        ("core/src/test/java/a/FooTest.java", "test"),
        ("src/test/resources/a.json", "test"),
        ("src/integrationTest/java/AIT.java", "test"),
        ("pom.xml", "build"),
        ("core/build.gradle.kts", "build"),
        ("app/models.py", "production"),
        ("app/tests/helper.py", "test"),
        ("app/test_models.py", "test"),
        ("pyproject.toml", "build"),
        ("src/index.ts", "production"),
        ("src/index.test.ts", "test"),
        ("src/__tests__/a.js", "test"),
        ("test/fixtures/a.json", "test"),
        ("package.json", "build"),
        ("src/lib.rs", "production"),
        ("crates/a/tests/all.rs", "test"),
        ("build.rs", "build"),
        ("Cargo.toml", "build"),
        ("pkg/a.go", "production"),
        ("pkg/a_test.go", "test"),
        ("go.mod", "build"),
        ("README.md", "other"),
        ("docs/test/plan.md", "other"),
    ] {
        let found = if any(&files.test, path) {
            "test"
        } else if any(&files.build, path) {
            "build"
        } else if any(&files.production, path) {
            "production"
        } else {
            "other"
        };
        assert_eq!(found, kind, "{path}");
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
    let text = shown.collect::<Vec<_>>().join("\n").replace("  # LINT:", "  LINT:");
    let settings = sound(&text);
    assert!(settings.packages_given && settings.gates.contains_key("LINT"));
    assert_eq!(settings.files.build, ["**/pom.xml"]);
    assert_eq!(settings.placement["PITEST"], Placement::Each);
    assert_eq!(
        settings.agent_for(Role::Worker).and_then(|(_, agent)| agent.preset.as_deref()),
        Some("claude")
    );
}

#[test]
fn what_the_file_says_is_what_is_set() {
    let settings = sound(
        "spec: ./docs/spec\npackages: [./services/*/, .]\n\
         agents:\n  default: {command: [sh, agent.sh, '']}\n  boss: {preset: claude, args: [--model, opus], env: {IS_SANDBOX: 1}}\n\
         roles: {validator: boss}\n\
         gates:\n  PITEST: {threshold: 80, per: task, no_coverage: ignore, engine: direct, jobs: 4, maven_args: [-o], limit: 1h 30m, pit_version: 1.20.0, tests: reachable, test_names: ['{}Spec'], scope: auto, where: in-place, recompile: javac, keep: [lib/*.jar], jvm_args: [-Xmx1g]}\n  LINT: {run: [sh, lint.sh], limit: 90s}\n\
         checks: {red: [mvn, test]}\n\
         limits: {iterations: 7, attempts: 1, rework: 0, wall: 2h, attempt: 5m, idle: 30s, check: 1m}\n\
         hooks: {done: [notify-send, done], stop: null}\n\
         files: {test: ['t/**'], build: []}\n\
         commit: ralph\ncheckpoints: '^Checkpoint'\nrework: keep-reviews\non_blocked: next\nstages: virtual\n",
    );
    assert_eq!(settings.spec, PathBuf::from("/w/docs/spec"));
    assert_eq!(settings.packages, ["services/*", "."]);
    assert!(settings.packages_given);
    assert_eq!(settings.agents["default"].command, ["sh", "agent.sh", ""]);
    let (name, boss) = settings.agent_for(Role::Validator).expect("boss");
    assert_eq!((name, boss.preset.as_deref()), ("boss", Some("claude")));
    assert_eq!(boss.command.last().map(String::as_str), Some("opus"));
    assert_eq!(boss.env["IS_SANDBOX"], "1");
    assert_eq!(boss.env["DISABLE_AUTOUPDATER"], "1");
    assert_eq!(settings.agent_for(Role::Worker).map(|(name, _)| name), Some("default"));
    let gate = &settings.gates["PITEST"];
    assert_eq!((gate.threshold, gate.per, gate.no_coverage), (80, Per::Task, NoCoverage::Ignore));
    assert_eq!((gate.engine, gate.jobs, gate.limit.as_secs()), (GateEngine::Direct, 4, 5400));
    assert_eq!((gate.pit_version.as_str(), &gate.test_names[..]), ("1.20.0", &["{}Spec".to_owned()][..]));
    assert_eq!(
        (&gate.maven_args[..], &gate.jvm_args[..]),
        (&["-o".to_owned()][..], &["-Xmx1g".to_owned()][..])
    );
    assert_eq!((gate.tests, gate.scope, gate.place), (TestTiers::Reachable, ScopeKind::Auto, Place::InPlace));
    assert_eq!(gate.recompile, Recompile::Javac);
    assert_eq!(&gate.keep[..], ["lib/*.jar".to_owned()]);
    let lint = &settings.gates["LINT"];
    assert_eq!(lint.run.as_deref(), Some(&["sh".to_owned(), "lint.sh".to_owned()][..]));
    assert_eq!(lint.limit, Duration::from_secs(90));
    assert_eq!(settings.checks.red, Some(vec!["mvn".to_owned(), "test".to_owned()]));
    assert_eq!((settings.limits.iterations, settings.limits.rework), (Some(7), 0));
    assert_eq!(settings.limits.idle, Some(Duration::from_secs(30)));
    assert_eq!(settings.hooks.commands().map(|(event, _)| event).collect::<Vec<_>>(), ["done"]);
    assert_eq!((&settings.files.test[..], settings.files.build.len()), (&["t/**".to_owned()][..], 0));
    assert_eq!(settings.files.production, Settings::defaults(Path::new("/w")).files.production);
    assert_eq!((settings.commit, settings.on_blocked), (CommitBy::Ralph, OnBlocked::Next));
    assert_eq!(settings.stages, StagesFrom::Virtual);
    assert_eq!((settings.rework, settings.checkpoints.as_str()), (ReworkReviews::KeepReviews, "^Checkpoint"));
}

#[test]
fn what_only_ralphs_own_engine_can_do_is_refused_beside_another() {
    let settings = sound("gates: {PITEST: {engine: maven}}");
    assert_eq!(settings.gates["PITEST"].engine, GateEngine::Maven);
    insta::assert_snapshot!(wrong("gates:\n  PITEST:\n    engine: maven\n    scope: lines\n    tests: own\n"), @r"
    4|gates.PITEST.scope|config.yaml:4: `gates.PITEST.scope` needs `engine: direct`. → Leave the key out, or use ralph's own engine.
    5|gates.PITEST.tests|config.yaml:5: `gates.PITEST.tests` needs `engine: direct`. → Leave the key out, or use ralph's own engine.
    ");
}

#[test]
fn presets_put_arguments_before_the_dash_that_means_standard_input() {
    let settings = sound("agents: {default: {preset: codex, args: [-m, gpt-5.5]}}");
    assert_eq!(
        settings.agents["default"].command.join(" "),
        "codex exec --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -m gpt-5.5 -"
    );
    let settings = sound("agents: {default: {preset: claude}}");
    assert_eq!(
        settings.agents["default"].command.join(" "),
        "claude -p --dangerously-skip-permissions --setting-sources user --strict-mcp-config"
    );
    assert!(!settings.agents["default"].env.contains_key("IS_SANDBOX"));
}

#[test]
fn unknown_and_doubled_keys_are_named_with_their_line_at_any_depth() {
    insta::assert_snapshot!(wrong(
        "spec: .\nthreshold: 70\ngates:\n  PITEST:\n    treshold: 80\n    limit: 5m\nlimits: {attempts: 2,\n  wal: 1h}\nagents:\n  a: {preset: claude, model: opus}\nchecks:\n\n  # note\n  Red: null\nhooks:\n  finished: null\n\"on\": {}\n"
    ), @r"
    2|threshold|config.yaml:2: `threshold` is not a known key. → Known here: `spec`, `packages`, `files`, `agents`, `roles`, `gates`, `checks`, `limits`, `hooks`, `commit`, `checkpoints`, `rework`, `on_blocked`, `stages`, `placement`, `tasks`.
    5|gates.PITEST.treshold|config.yaml:5: `gates.PITEST.treshold` is not a known key. → Did you mean `threshold`?
    8|limits.wal|config.yaml:8: `limits.wal` is not a known key. → Did you mean `wall`?
    10|agents.a.model|config.yaml:10: `agents.a.model` is not a known key. → Known here: `command`, `preset`, `args`, `env`.
    14|checks.Red|config.yaml:14: `checks.Red` is not a known key. → Did you mean `red`?
    16|hooks.finished|config.yaml:16: `hooks.finished` is not a known key. → Known here: `blocked`, `done`, `gate-fail`, `stop`.
    17|on|config.yaml:17: `on` is not a known key. → It is called `hooks` now, because YAML 1.1 reads `on` as `true`: rename the key.
    ");
    for (text, key, line) in [
        ("spec: .\ncommit: agent\n'spec': docs\n", "spec", 3),
        ("agents:\n  a:\n    command: [x]\n    command: [y]\n", "command", 4),
        ("agents: {a: {preset: claude},\n a: {preset: codex}}\n", "a", 2),
        ("checks:\n  red: [{a: 1,\n   a: 2}]\n", "a", 3),
    ] {
        let errors = parse(text, Path::new("/w")).expect_err(text);
        let what = format!("the key \"{key}\" is written twice.");
        assert!(errors.len() == 1 && errors[0].message.ends_with(&what), "{errors:?}");
        assert_eq!(errors[0].line, Some(line), "{text}");
    }
}

#[test]
fn wrong_values_are_named_with_their_line_and_what_would_be_right() {
    insta::assert_snapshot!(wrong(
        "spec: [a]\npackages: []\ngates:\n  PITEST:\n    threshold: 70%\n    per: klass\n    no_coverage: no\n    engine: gradle\n    jobs: -1\n    maven_args: -o\n    limit: 60\n    pit_version: \"1.2 3\"\n    test_names: [FooTest]\n    tests: [FooTest]\n    where: tmp\n    ahead: 1\n    jvm_args: [1]\nlimits:\n  iterations: 0\n  attempts: 2.5\n  rework: yes\n  wall: null\n  attempt: 1d\n  idle: 0s\n  check: soon\n"
    ), @r#"
    1|spec|config.yaml:1: `spec` must be text, not a list. → Put the value in quotes.
    2|packages|config.yaml:2: `packages` must not be empty. → Write something into the list, or leave the key out for its default.
    5|gates.PITEST.threshold|config.yaml:5: `gates.PITEST.threshold` must be a whole number from 0 to 100, not "70%". → Write the number alone, without quotes or a unit.
    6|gates.PITEST.per|config.yaml:6: `gates.PITEST.per` must be `class`, `package` or `task`, not "klass". → Did you mean `class`?
    7|gates.PITEST.no_coverage|config.yaml:7: `gates.PITEST.no_coverage` must be `survived` or `ignore`, not "no". → Write one of these words, or leave the key out for its default.
    8|gates.PITEST.engine|config.yaml:8: `gates.PITEST.engine` must be `direct` or `maven`, not "gradle". → Write one of these words, or leave the key out for its default.
    9|gates.PITEST.jobs|config.yaml:9: `gates.PITEST.jobs` must be a whole number from 0 to 1024, not -1. → Write the number alone, without quotes or a unit.
    10|gates.PITEST.maven_args|config.yaml:10: `gates.PITEST.maven_args` must be a list, not "-o". → Write it as `["a", "b"]`.
    11|gates.PITEST.limit|config.yaml:11: `gates.PITEST.limit` must be a length of time, not 60. → Write a number with a unit: `90s`, `60m`, `1h 30m` or `24h`.
    12|gates.PITEST.pit_version|config.yaml:12: `gates.PITEST.pit_version` must be a version, not "1.2 3". → Write it as `"1.25.9"`.
    13|gates.PITEST.test_names|config.yaml:13: `gates.PITEST.test_names` (item 1) is not the name of a test class: "FooTest". → Write names such as `"{}Test"`, where `{}` stands for the name of the class under test.
    14|gates.PITEST.tests|config.yaml:14: `gates.PITEST.tests` must be `own-first`, `all`, `reachable` or `own`, not a list. → Write one of these words, or leave the key out for its default.
    15|gates.PITEST.where|config.yaml:15: `gates.PITEST.where` must be `clean` or `in-place`, not "tmp". → Write one of these words, or leave the key out for its default.
    16|gates.PITEST.ahead|config.yaml:16: `gates.PITEST.ahead` is not a known key. → Remove it: a gate begins when its turn has come, no longer while reviewers work.
    17|gates.PITEST.jvm_args|config.yaml:17: `gates.PITEST.jvm_args` (item 1) must be text, not 1. → Put the value in quotes.
    19|limits.iterations|config.yaml:19: `limits.iterations` must be a whole number, 1 or more, not 0. → Write the number alone, without quotes or a unit.
    20|limits.attempts|config.yaml:20: `limits.attempts` must be a whole number from 1 to 1000, not 2.5. → Write the number alone, without quotes or a unit.
    21|limits.rework|config.yaml:21: `limits.rework` must be a whole number from 0 to 1000, not "yes". → Write the number alone, without quotes or a unit.
    22|limits.wall|config.yaml:22: `limits.wall` must be a length of time, not null. → Write a number with a unit: `90s`, `60m`, `1h 30m` or `24h`.
    23|limits.attempt|config.yaml:23: `limits.attempt` must be a length of time, not "1d". → Write a number with a unit: `90s`, `60m`, `1h 30m` or `24h`.
    -||config.yaml: There are more mistakes. → Fix these first.
    "#);
}

#[test]
fn wrong_agents_roles_gates_and_commands_are_named() {
    insta::assert_snapshot!(wrong(
        "agents:\n  a: sh agent.sh\n  b: {}\n  c: {preset: claud}\n  d: {preset: codex, command: [x]}\n  e: {command: [x], args: [y]}\n  f: {command: []}\n  g h: {command: [x]}\n  i: {command: [x], env: {1A: x, RALPH_TASK: y, RATE: 1.5}}\n  j: {command: sh agent.sh}\nroles:\n  worker: z\n  tester: a\ngates:\n  pitest: {}\n  FINAL: {run: [x]}\n  MUTMUT: {threshold: 3}\n  LINT: {run: lint, limit: 1m}\n  TIDY: {run: [a], threshold: 70}\n  PITEST: {run: [], threshold: 70}\nchecks: {red: make test}\nhooks: {done: [\"\"]}\n"
    ), @r#"
    2|agents.a|config.yaml:2: `agents.a` must be keys with values, not "sh agent.sh". → Write `key: value` lines below it.
    3|agents.b|config.yaml:3: `agents.b` does not say how to start the agent. → Write `{command: ["sh", "agent.sh"]}` or `{preset: claude}`.
    4|agents.c.preset|config.yaml:4: `agents.c.preset` must be `claude` or `codex`, not "claud". → Did you mean `claude`?
    5|agents.d.preset|config.yaml:5: `agents.d.preset` is not used with `command`. → Keep one of the two.
    6|agents.e.args|config.yaml:6: `agents.e.args` is not used with `command`. → Put the arguments into `command` itself.
    7|agents.f.command|config.yaml:7: `agents.f.command` does not name a program. → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    8|agents.g h|config.yaml:8: `agents.g h` is not a name for an agent. → Use letters, digits, `-`, `_` and `.`.
    9|agents.i.env.RATE|config.yaml:9: `agents.i.env.RATE` must be text, not 1.5. → Put the value in quotes.
    10|agents.j.command|config.yaml:10: `agents.j.command` must be a list of program and arguments, not "sh agent.sh". → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    12|roles.worker|config.yaml:12: `roles.worker` names the agent "z", which `agents:` does not. → Named there: `a`, `b`, `c`, `d`, `e`, `f`, `g h`, `i` or `j`.
    13|roles.tester|config.yaml:13: `roles.tester` is not a known key. → Known here: `test-writer`, `worker`, `req-reviewer`, `quality-reviewer`, `integration-tester`, `validator`.
    15|gates.pitest|config.yaml:15: `gates.pitest` is not a name for a gate. → Use capital letters, digits and `-`, a letter first, as in `N.PITEST`.
    16|gates.FINAL|config.yaml:16: `gates.FINAL` is the word of a stage that is not a gate. → Choose another name for the gate.
    17|gates.MUTMUT.threshold|config.yaml:17: `gates.MUTMUT.threshold` is for the gate that measures mutants (`PITEST` without `run`). → A gate with `run` takes `run` and `limit` only.
    18|gates.LINT.run|config.yaml:18: `gates.LINT.run` must be a list of program and arguments, not "lint". → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    19|gates.TIDY.threshold|config.yaml:19: `gates.TIDY.threshold` is for the gate that measures mutants (`PITEST` without `run`). → A gate with `run` takes `run` and `limit` only.
    20|gates.PITEST.run|config.yaml:20: `gates.PITEST.run` does not name a program. → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    21|checks.red|config.yaml:21: `checks.red` must be a list of program and arguments, not "make test". → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    22|hooks.done|config.yaml:22: `hooks.done` does not name a program. → Write program and arguments as a list: `["sh", "-c", "…"]`; there is no shell.
    "#);
}

#[test]
fn wrong_choices_patterns_and_files_are_named() {
    insta::assert_snapshot!(wrong(
        "commit: me\ncheckpoints: '('\nrework: reopen_reviews\non_blocked: continue\npackages: [/abs, ../up, 'a[']\nfiles: {test: [], production: x}\n"
    ), @r#"
    1|commit|config.yaml:1: `commit` must be `agent` or `ralph`, not "me". → Write one of these words, or leave the key out for its default.
    2|checkpoints|config.yaml:2: `checkpoints` is not a regular expression: found open group without closing ')'. → Fix the pattern, such as `(?i)\bcheckpoint\b`.
    3|rework|config.yaml:3: `rework` must be `reopen-reviews` or `keep-reviews`, not "reopen_reviews". → Did you mean `reopen-reviews`?
    4|on_blocked|config.yaml:4: `on_blocked` must be `stop` or `next`, not "continue". → Write one of these words, or leave the key out for its default.
    5|packages|config.yaml:5: `packages` (item 1) leaves the folder that it is relative to: "/abs". → Write a path without a leading `/` and without `..`.
    6|files.test|config.yaml:6: `files.test` must not be empty. → Write something into the list, or leave the key out for its default.
    6|files.production|config.yaml:6: `files.production` must be a list, not "x". → Write it as `["a", "b"]`.
    "#);
    insta::assert_snapshot!(wrong("checkpoints: 'checkpoint|'\n"), @r"
    1|checkpoints|config.yaml:1: `checkpoints` matches every text, so that every task could be ticked without a change. → Write a pattern that matches only the texts of checkpoints.
    ");
}

#[test]
fn a_text_that_is_no_yaml_or_no_map_is_one_error() {
    insta::assert_snapshot!(wrong("spec: .\n\tgates: x\n"), @r"
    2||config.yaml:2: The file cannot be read as YAML: found a tab character that violates indentation. → Fix the line; `ralph schema` and README.md show what may be written there.
    ");
    insta::assert_snapshot!(wrong("spec: [a\ngates: x\n"), @r"
    2||config.yaml:2: The file cannot be read as YAML: did not find expected ',' or ']'. → Fix the line; `ralph schema` and README.md show what may be written there.
    ");
    insta::assert_snapshot!(wrong("\n- a\n"), @r"
    2||config.yaml:2: The file must be keys with values, not a list. → Write `key: value` lines below it.
    ");
    insta::assert_snapshot!(wrong("a: 1\n---\nb: 2\n"), @r"
    2||config.yaml:2: The file cannot be read as YAML: deserializing from YAML containing more than one document is not supported. → Fix the line; `ralph schema` and README.md show what may be written there.
    ");
    insta::assert_snapshot!(wrong("? [a, b]\n: c\n"), @r"
    1||config.yaml:1: The file cannot be read as YAML: invalid type: sequence, expected a key that is plain text. → Fix the line; `ralph schema` and README.md show what may be written there.
    ");
    insta::assert_snapshot!(wrong("spec: !env HOME\n"), @r"
    1||config.yaml:1: The file cannot be read as YAML: spec: invalid type: enum, expected text, a number, true, false, null, a list or keys with values. → Fix the line; `ralph schema` and README.md show what may be written there.
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
        let errors = parse(text, Path::new("/w")).expect_err(text);
        assert_eq!((errors.len(), errors[0].line, errors[0].key.as_str()), (1, Some(line), "x"), "{text:?}");
    }
}

#[test]
fn hostile_text_reaches_no_message() {
    let errors = parse("\"a\\e[31m\\u202e\": 1\nspec: .\n", Path::new("/w")).expect_err("an unknown key");
    assert!(!errors[0].message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", errors[0].message);
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
    assert!(parse(bomb, Path::new("/w")).is_err());
    let errors = parse(&"#".repeat(LONGEST_TEXT + 1), Path::new("/w")).expect_err("too long");
    assert_eq!(errors.len(), 1);
}

#[test]
fn placements_are_words_or_named_tasks_of_configured_gates() {
    let settings = sound(
        "gates: {LINT: {run: [lint]}, SLOW: {run: [slow]}}\nplacement:\n  PITEST: {after: [\"2\", T01]}\n  LINT: end\n  SLOW: none\n",
    );
    let after = Placement::After(vec!["2".to_owned(), "T01".to_owned()]);
    let expected = [("LINT", Placement::End), ("PITEST", after), ("SLOW", Placement::None)];
    let expected = expected.map(|(gate, choice)| (gate.to_owned(), choice));
    assert_eq!(settings.placement, expected.into());
    insta::assert_snapshot!(
        wrong("placement:\n  STRYKER: each\n  PITEST: group\n") + "\n"
            + &wrong("placement: {PITEST: {after: 2}}") + "\n"
            + &wrong("placement: {PITEST: {after: []}}") + "\n"
            + &wrong("placement: {PITEST: {}}") + "\n"
            + &wrong("placement: each"), @r#"
    2|placement.STRYKER|config.yaml:2: `placement.STRYKER` is not a known key. → Known here: `PITEST`.
    3|placement.PITEST|config.yaml:3: `placement.PITEST` must be `each`, `after`, `groups`, `end` or `none`, not "group". → Did you mean `groups`?
    1|placement.PITEST.after|config.yaml:1: `placement.PITEST.after` must be a list, not integer `2`. → `ralph schema` shows what may be written there.
    1|placement.PITEST|config.yaml:1: `placement.PITEST` must be `each`, `after`, `groups`, `end` or `none`, not keys with values. → Write one of these words, or leave the key out for its default.
    1|placement.PITEST|config.yaml:1: `placement.PITEST` does not name a task. → Write `{after: ["2", "5"]}`.
    1|placement.PITEST|config.yaml:1: `placement.PITEST` must be `each`, `after`, `groups`, `end` or `none`, not keys with values. → Write one of these words, or leave the key out for its default.
    1|placement|config.yaml:1: `placement` must be keys with values, not "each". → Write `key: value` lines below it.
    "#);
}

#[test]
fn every_stage_but_a_gate_has_a_role() {
    use crate::task::Stage;
    let roles: Vec<_> =
        [Stage::TestFirst, Stage::Implementation, Stage::ReqCheck, Stage::PreCr, Stage::Integ, Stage::Final]
            .iter()
            .map(|stage| role_of(stage).expect("a role"))
            .collect();
    assert_eq!(roles, Role::ALL);
    assert_eq!(role_of(&Stage::Gate("PITEST".to_owned())), None);
}

proptest! {
    #[test]
    fn any_text_gives_settings_or_whole_sentences(text in "[a-z:{}\\[\\],\"'\n \t&*!|>-]{0,80}") {
        if let Err(errors) = parse(&text, Path::new("/w")) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.message.starts_with("config.yaml") && error.message.ends_with('.'), "{}", error.message);
                prop_assert!(!error.message.contains(char::is_control) && !error.hint.is_empty());
            }
        }
    }

    #[test]
    fn any_slip_in_a_known_key_is_an_error_on_its_line(at in 0usize..15, letter in "[a-z]", blank in 0usize..5) {
        let keys = ["spec", "packages", "files", "agents", "roles", "gates", "checks", "limits", "hooks", "commit",
            "checkpoints", "rework", "on_blocked", "stages", "placement"];
        let key = format!("{}{letter}q", keys[at]);
        let text = format!("{}{key}: x\n", "# c\n".repeat(blank));
        let errors = parse(&text, Path::new("/w")).expect_err("unknown");
        prop_assert_eq!(errors.len(), 1);
        prop_assert_eq!(errors[0].line, Some(blank as u64 + 1));
        prop_assert_eq!(&errors[0].key, &key);
    }
}

#[test]
fn sections_of_the_task_file_are_patterns_for_headings() {
    let settings =
        sound("tasks: {sections: {include: [Plan*], exclude: ['Definition of Done', '{a,b}?']}}\n");
    assert_eq!(settings.tasks.sections.include, ["Plan*"]);
    assert_eq!(settings.tasks.sections.exclude, ["Definition of Done", "{a,b}?"]);
    assert_eq!(sound("tasks: {sections: {}}\n").tasks.sections, TaskSections::default());
    insta::assert_snapshot!(wrong("tasks:\n  sections:\n    exclud: [a]\n    include: ['[a']\n    exclude: done\n"), @r#"
    3|tasks.sections.exclud|config.yaml:3: `tasks.sections.exclud` is not a known key. → Did you mean `exclude`?
    4|tasks.sections.include|config.yaml:4: `tasks.sections.include` (item 1) is not a pattern for headings: "[a": unclosed character class; missing ']'. → Fix the pattern; `*`, `?`, `[ab]` and `{a,b}` may be used, `\` takes the next character as it is.
    5|tasks.sections.exclude|config.yaml:5: `tasks.sections.exclude` must be a list, not "done". → Write it as `["a", "b"]`.
    "#);
    insta::assert_snapshot!(wrong("tasks: {sections: {exclude: ['']}}\ncommit: x\n"), @r#"
    1|tasks.sections.exclude|config.yaml:1: `tasks.sections.exclude` (item 1) must not be empty. → Write a value, or leave the key out for its default.
    2|commit|config.yaml:2: `commit` must be `agent` or `ralph`, not "x". → Write one of these words, or leave the key out for its default.
    "#);
}

#[test]
fn a_flood_of_brackets_is_refused_with_its_line_before_it_is_read() {
    let deep = format!("spec: .\nlimits: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let errors = parse(&deep, Path::new("/w")).unwrap_err();
    assert_eq!((errors.len(), errors[0].line), (1, Some(2)), "{errors:?}");
    assert_eq!(errors[0].message, "config.yaml:2: The file opens more than 2000 brackets.");
}

#[test]
fn a_flood_of_mistakes_is_counted_and_not_named_one_by_one() {
    let lines: Vec<String> = (0..2_000).map(|at| format!("a{at}: 1")).collect();
    let text = lines.join("\n");
    let errors = parse(&text, Path::new("/w")).unwrap_err();
    assert_eq!(errors.len(), 21);
    assert_eq!((errors[19].line, errors[20].line), (Some(20), None));
    assert_eq!(errors[20].message, "config.yaml: There are more mistakes.");
}
