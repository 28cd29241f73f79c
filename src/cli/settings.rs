//! Settings from flags and from the environment: flags win over variables, those over `.ralph/config.yaml`. Inside an
//! agent's process tree only the workspace and the spec may be named this way.

use super::Fault;
use crate::agent::{CallFacts, agent_call};
use crate::config::{AgentSettings, Override, ROOT_VARIABLE, SETTINGS, Setting};
use crate::sys::log;
use crate::sys::process::{TAG, is_inside_agent};
use clap::{ArgAction, Args};
use std::fmt::Write as _;
use std::path::PathBuf;

// A doc comment would replace that of the command.
#[derive(Debug, Default, Args)]
pub struct GlobalFlags {
    /// The folder that holds `.ralph/` (found upward from the current one; for `init` the current one)
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print facts as JSON, one object per line (`--format json`)
    #[arg(long, global = true)]
    pub json: bool,
    /// Log calls to the outside on standard error (-vv, -vvv: more)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// The folder of tasks.md, relative to the workspace (instead of `spec:`)
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub spec: Option<String>,
    /// One agent for all roles: one of `agents:`, or a preset
    #[arg(long, global = true, value_name = "NAME", help_heading = "Settings")]
    pub agent: Option<String>,
    /// Another value for a key that may be given here: `--set limits.attempts=5`
    #[arg(
        long,
        global = true,
        value_name = "KEY=VALUE",
        help_heading = "Settings"
    )]
    pub set: Vec<String>,
}

/// Returns the settings of variables and flags, flags last.
pub(super) fn given_overrides(flags: &GlobalFlags) -> Result<Vec<Override>, Fault> {
    let mut given = Vec::new();
    for setting in SETTINGS {
        given.extend(variable_value(setting.variable)?.map(|value| Override {
            setting,
            value,
            is_flag: false,
        }));
    }
    for (key, value) in [("spec", &flags.spec), ("roles", &flags.agent)] {
        let named = Setting::of(key).zip(value.clone());
        given.extend(named.map(|(setting, value)| Override {
            setting,
            value,
            is_flag: true,
        }));
    }
    for pair in &flags.set {
        given.push(parse_set(pair)?);
    }
    Ok(given)
}

/// Refuses, inside the process tree of an agent, what only a person may decide.
pub(super) fn may_be_given(given: &[Override]) -> Result<(), Fault> {
    let Some(judging) = given.iter().find(|given| given.setting.judges) else {
        return Ok(());
    };
    if !is_inside_agent()? {
        return Ok(());
    }
    let name = judging.name();
    let what = format!(
        "{name} is set inside an agent's process tree; it decides how work is done or judged."
    );
    Err(Fault::setup_fault(
        what,
        "leave it to the person who started the loop",
    ))
}

/// A variable's value; an empty one is absent.
pub(super) fn variable_value(name: &str) -> Result<Option<String>, Fault> {
    let given = std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(value) = given else { return Ok(None) };
    // `RALPH_AGENT=1` is no agent's name: it marks the agents of other loops.
    if name == "RALPH_AGENT" && value == "1" {
        return Ok(None);
    }
    value.into_string().map(Some).map_err(|_| {
        Fault::setup_fault(
            format!("{name} is not UTF-8 text."),
            format!("set {name} again, or unset it"),
        )
    })
}

/// One `--set KEY=VALUE`.
fn parse_set(pair: &str) -> Result<Override, Fault> {
    let Some((key, value)) = pair.split_once('=') else {
        let what = format!("--set: `{pair}` is not KEY=VALUE.");
        return Err(Fault::setup_fault(what, list_keys()));
    };
    let (what, hint) = match Setting::of(key) {
        Some(setting) if setting.flag == "--set" => {
            return Ok(Override {
                setting,
                value: value.to_owned(),
                is_flag: true,
            });
        }
        Some(setting) => (
            "has a flag of its own",
            format!("write {} {value}", setting.flag),
        ),
        None => ("is not a key that can be given here", list_keys()),
    };
    Err(Fault::setup_fault(format!("--set: `{key}` {what}."), hint))
}

fn list_keys() -> String {
    let settings = SETTINGS.iter().filter(|setting| setting.flag == "--set");
    let keys: Vec<&str> = settings.map(|setting| setting.key).collect();
    format!("what can be set so: {}", keys.join(", "))
}

/// True for a variable that is a setting of ralph.
pub(super) fn is_setting(name: &str) -> bool {
    name == ROOT_VARIABLE
        || name == log::VARIABLE
        || SETTINGS.iter().any(|setting| setting.variable == name)
}

/// The variables and the flags that win over them, for the help.
pub(super) fn settings_help() -> String {
    let mut text = format!(
        "Settings from the environment, each with the flag that wins over it:\n  {ROOT_VARIABLE} (--root)"
    );
    for setting in SETTINGS {
        let key = if setting.flag == "--set" {
            format!(" {}", setting.key)
        } else {
            String::new()
        };
        let _ = write!(text, "\n  {} ({}{key})", setting.variable, setting.flag);
    }
    text
}

/// Variables that look like ralph's and are not (other tools called ralph have theirs).
pub(super) fn stray_variables() -> Vec<String> {
    // Variables that ralph sets for an agent, or marks its processes with, are never settings of
    // ralph.
    let told = agent_call(&AgentSettings::default(), &CallFacts::default(), &[]).env;
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    names.retain(|name| {
        let is_fact = name == TAG || told.iter().any(|(known, _)| known == name);
        name.starts_with("RALPH_") && !is_setting(name) && !is_fact
    });
    names.sort();
    names
        .iter()
        .map(|name| format!("note: {name} is set, but is not a setting of this ralph."))
        .collect()
}
