//! Tests that an override takes precedence, follows the rules of the file, and is named in errors.

use super::*;
use crate::config::{Settings, parse};
use std::path::Path;

fn by_variable(key: &str, value: &str) -> Override {
    Override {
        is_flag: false,
        ..by_flag(key, value)
    }
}

fn by_flag(key: &str, value: &str) -> Override {
    Override {
        setting: Setting::of(key).expect("a setting"),
        value: value.to_owned(),
        is_flag: true,
    }
}

fn sound(text: &str, given: &[Override]) -> Settings {
    parse(text, Path::new("/w"), given).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn wrong(text: &str, given: &[Override]) -> String {
    let error = parse(text, Path::new("/w"), given).expect_err(text);
    format!("{error} → {}", error.hint)
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let text = "limits: {attempts: 2, wall: 1h}\ngates:\n  PITEST: {threshold: 60}\n";
    let environment = [
        by_variable("limits.attempts", "4"),
        by_variable("gates.PITEST.threshold", "80"),
    ];
    let settings = sound(text, &environment);
    assert_eq!(
        (settings.limits.attempts, settings.gates["PITEST"].threshold),
        (4, 80)
    );
    assert_eq!(settings.limits.wall.as_secs(), 3600);
    let both = [&environment[..], &[by_flag("limits.attempts", "9")]].concat();
    assert_eq!(sound(text, &both).limits.attempts, 9);
    let empty = sound(
        "",
        &[
            by_variable("limits.idle", "5m"),
            by_variable("spec", "docs"),
        ],
    );
    assert_eq!(empty.limits.idle.map(|idle| idle.as_secs()), Some(300));
    assert_eq!(empty.spec, Path::new("/w/docs"));
    assert_eq!(
        sound("limits: {idle: 1m}", &[by_flag("limits.idle", "null")])
            .limits
            .idle,
        None
    );
    let cost = |value| {
        sound(
            "limits: {cost: {run: 9}}",
            &[by_flag("limits.cost.run", value)],
        )
        .limits
        .cost
        .run
    };
    assert_eq!(
        (cost("2.5").map(|amount| amount.0), cost("null")),
        (Some(2_500_000), None)
    );
    for value in ["-1", "0", "inf", "much"] {
        let said = wrong("", &[by_flag("limits.tokens.task", value)]);
        assert!(
            said.contains("`limits.tokens.task` must be a number greater than 0"),
            "{said}"
        );
    }
}

#[test]
fn every_setting_is_a_key_and_changes_what_it_names() {
    let values = |setting: &Setting| match setting.key {
        "spec" => "elsewhere",
        "roles" => "codex",
        "commit" => "ralph",
        "on_blocked" => "next",
        "on_budget" => "pause",
        "stages" => "virtual",
        "limits.quota.stop_at" => "70%",
        "verifier" => "warn",
        key if key.ends_with("limit")
            || matches!(
                key,
                "limits.wall" | "limits.attempt" | "limits.idle" | "limits.check"
            ) =>
        {
            "7m"
        }
        _ => "7",
    };
    let plain = sound("", &[]);
    for setting in SETTINGS {
        let changed = sound("", &[by_variable(setting.key, values(setting))]);
        assert_ne!(changed, plain, "{}", setting.key);
        assert!(setting.variable.starts_with("RALPH_"));
    }
}

/// Only the exact words are accepted.
#[test]
fn the_verifier_is_one_of_three_words_and_the_environment_wins() {
    for word in ["block", "warn", "off"] {
        let given = sound("verifier: warn\n", &[by_variable("verifier", word)]);
        assert_eq!(
            given.verifier,
            sound(&format!("verifier: {word}\n"), &[]).verifier
        );
    }
    for word in ["", "0", "false", "OFF", "maybe"] {
        assert!(
            parse("", Path::new("/w"), &[by_variable("verifier", word)]).is_err(),
            "{word}"
        );
    }
    assert!(parse("verifier: false\n", Path::new("/w"), &[]).is_err());
}

#[test]
fn no_setting_has_a_name_that_ralph_gives_to_agents() {
    let facts = [
        "WORKSPACE",
        "TASK",
        "TASK_TEXT",
        "STAGE",
        "ROLE",
        "ITERATION",
        "ATTEMPT",
        "PROMPT_FILE",
        "TAG",
    ];
    for fact in facts {
        let name = format!("RALPH_{fact}");
        assert!(
            name != ROOT_VARIABLE && SETTINGS.iter().all(|setting| setting.variable != name),
            "{name}"
        );
    }
}

#[test]
fn an_agent_for_all_roles_is_one_of_the_file_or_a_preset() {
    let text =
        "agents:\n  default: {preset: claude}\n  mine: {command: [x]}\nroles: {validator: mine}\n";
    let agent = |settings: &Settings, role| {
        settings
            .agents_for(role)
            .next()
            .map(|(name, _)| name.to_owned())
    };
    let mine = sound(text, &[by_variable("roles", "mine")]);
    assert!(
        Role::all()
            .into_iter()
            .all(|role| agent(&mine, role).as_deref() == Some("mine"))
    );
    let codex = sound(text, &[by_flag("roles", "codex")]);
    assert_eq!(codex.agents["codex"].preset.as_deref(), Some("codex"));
    assert_eq!(agent(&codex, Role::Validator).as_deref(), Some("codex"));
    assert_eq!(
        agent(&sound("", &[by_flag("roles", "claude")]), Role::Worker).as_deref(),
        Some("claude")
    );
}

#[test]
fn what_is_wrong_is_said_with_the_name_of_its_giver() {
    let given = [
        by_variable("gates.PITEST.threshold", "70%"),
        by_variable("limits.wall", "soon"),
        by_flag("limits.attempts", "0"),
        by_flag("commit", "me\u{1b}[31m"),
        by_variable("spec", ""),
    ];
    let each = given.map(|given| wrong("", &[given])).join("\n");
    insta::assert_snapshot!(each, @r#"
    RALPH_THRESHOLD: `gates.PITEST.threshold` must be a whole number from 0 to 100, not "70%". → Write the number alone, without quotes or a unit.
    RALPH_LIMITS_WALL: `limits.wall` must be a length of time of at most a year, not "soon". → Write it as `"90s"` or `"60m"` or `"1h 30m"` or `"24h"`.
    --set: `limits.attempts` must be a whole number from 1 to 1000, not 0. → Write the number alone, without quotes or a unit.
    --set: `commit` must be `agent` or `ralph`, not "me\u{1b}[31m". → Write one of these words, or leave the key out for its default.
    RALPH_SPEC: `spec` must not be empty. → Write a value in quotes, or leave the key out for its default.
    "#);
    insta::assert_snapshot!(wrong("agents: {mine: {command: [x]}}", &[by_variable("roles", "claud")]), @r#"
    RALPH_AGENT: "claud" is neither an agent of `agents:` nor a preset. → Name `mine`, `claude`, `codex`, `gemini`, `opencode`, `kiro-cli`, `copilot`, `amp`, `goose`, `aider`, `qwen`, `hermes`, `cursor-agent` or `pi`.
    "#);
    insta::assert_snapshot!(wrong("gates: {PITEST: {run: [x]}}", &[by_variable("gates.PITEST.threshold", "80")]), @r"
    RALPH_THRESHOLD: `gates.PITEST.threshold` is for a gate that measures mutants (`PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS`, `MUTATION` without `run`). → This gate takes `run`, `limit`, `where`, `keep`, `env` only.
    ");
    insta::assert_snapshot!(wrong("limits: 3", &[by_variable("limits.wall", "1h")]), @r"
    .ralph/config.yaml:1: `limits` must be keys with values, not 3. → Write `key: value` lines below it.
    ");
}
