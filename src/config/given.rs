//! Settings from outside of the file: environment variables and flags (flags > environment > file).
//!
//! Owns: the closed table of what can be given so, and how a value gets into the tree before it is read.
//!
//! Promises: a given value is read by the same rules as one of the file, and what is wrong with it is said
//! with the name of the variable or flag. No name of the table is one that ralph sets for an agent
//! (`RALPH_TASK`, `RALPH_STAGE` …): those are never read back.
//!
//! Refuses to know: the environment, the command line; who may give what.

use super::document::Node;
use super::error::{ConfigError, either, quoted};
use super::keys::{Key, Kind, ROOT};
use super::{PRESETS, Preset, Role};
use serde::Serialize;
use std::collections::BTreeMap;

/// A setting that can be given outside of the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, dotted; `roles` stands for all roles at once.
    pub key: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The flag.
    pub flag: &'static str,
    /// It decides how work is done or judged, not only where it is: nothing that an agent may choose.
    pub judges: bool,
}

/// The variable for `--root`, which is no key.
pub const ROOT_VARIABLE: &str = "RALPH_ROOT";

/// The table.
pub const SETTINGS: &[Setting] = &[
    Setting { key: "spec", variable: "RALPH_SPEC", flag: "--spec", judges: false },
    Setting { key: "roles", variable: "RALPH_AGENT", flag: "--agent", judges: true },
    judging("gates.PITEST.threshold", "RALPH_THRESHOLD"),
    judging("gates.PITEST.jobs", "RALPH_JOBS"),
    judging("gates.PITEST.limit", "RALPH_GATE_LIMIT"),
    judging("limits.iterations", "RALPH_LIMITS_ITERATIONS"),
    judging("limits.attempts", "RALPH_LIMITS_ATTEMPTS"),
    judging("limits.rework", "RALPH_LIMITS_REWORK"),
    judging("limits.wall", "RALPH_LIMITS_WALL"),
    judging("limits.attempt", "RALPH_LIMITS_ATTEMPT"),
    judging("limits.idle", "RALPH_LIMITS_IDLE"),
    judging("limits.check", "RALPH_LIMITS_CHECK"),
    judging("commit", "RALPH_COMMIT"),
    judging("on_blocked", "RALPH_ON_BLOCKED"),
    judging("stages", "RALPH_STAGES"),
];

const fn judging(key: &'static str, variable: &'static str) -> Setting {
    Setting { key, variable, flag: "--set", judges: true }
}

impl Setting {
    /// The setting of that key.
    pub fn of(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// `.ralph/config.yaml`.
    File {
        /// 1-based.
        line: Option<u64>,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        name: &'static str,
    },
    /// A flag.
    Flag {
        /// Its name.
        name: &'static str,
    },
}

/// A value that was given outside of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Which.
    pub setting: &'static Setting,
    /// The value, as it was typed.
    pub value: String,
    /// A variable or a flag.
    pub source: Source,
}

impl Given {
    /// A value of the environment.
    pub fn variable(setting: &'static Setting, value: String) -> Self {
        Self { setting, value, source: Source::Environment { name: setting.variable } }
    }

    /// A value of a flag.
    pub fn flag(setting: &'static Setting, value: String) -> Self {
        Self { setting, value, source: Source::Flag { name: setting.flag } }
    }

    /// Typed for this very call.
    pub fn is_flag(&self) -> bool {
        matches!(self.source, Source::Flag { .. })
    }

    /// The name of the variable or flag.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Environment { name } | Source::Flag { name } => name,
            Source::Default | Source::File { .. } => self.setting.key,
        }
    }
}

/// Which keys of the tree were given, and by whom; a key stands for all below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources(BTreeMap<String, Source>);

impl Sources {
    /// Who gave this key; `None` for what the file says.
    pub(super) fn of(&self, key: &str) -> Option<&Source> {
        let covers = |given: &str| {
            key.strip_prefix(given).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.0.iter().find(|(given, _)| covers(given)).map(|(_, source)| source)
    }
}

/// Puts what was given into the tree; of two values for one key the later stands.
pub(super) fn apply(tree: &mut Node, given: &[Given]) -> Result<Sources, ConfigError> {
    let mut sources = Sources::default();
    for given in given {
        if given.setting.key == "roles" {
            all_roles(tree, given, &mut sources)?;
            continue;
        }
        let path: Vec<&str> = given.setting.key.split('.').collect();
        put(tree, &path, node_of(kind_of(&path), &given.value));
        sources.0.insert(given.setting.key.to_owned(), given.source.clone());
    }
    Ok(sources)
}

/// One agent for every role: one of `agents:`, else a preset.
fn all_roles(tree: &mut Node, given: &Given, sources: &mut Sources) -> Result<(), ConfigError> {
    let name = given.value.as_str();
    let agents: Vec<&str> = match child(tree, "agents") {
        Some(Node::Map(agents)) => agents.iter().map(|(name, _)| name.as_str()).collect(),
        _ => Vec::new(),
    };
    if !agents.contains(&name) {
        if Preset::named(name).is_none() {
            let mut known = agents;
            known.extend(PRESETS.iter().map(|preset| preset.name));
            known.dedup();
            let what = format!("{} is no agent of `agents:` and no preset.", quoted(name));
            let hint = format!("Name {}.", either(&known));
            return Err(ConfigError::given(given.name(), "roles", &what, hint));
        }
        put(tree, &["agents", name, "preset"], Node::Text(name.to_owned()));
        sources.0.insert(format!("agents.{name}"), given.source.clone());
    }
    for role in Role::ALL {
        put(tree, &["roles", role.word()], Node::Text(name.to_owned()));
    }
    sources.0.insert("roles".to_owned(), given.source.clone());
    Ok(())
}

fn child<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Node::Map(entries) = node else { return None };
    entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
}

/// Sets a value; new keys come last, so that the places of the others stay what they are. Where the file has
/// something else than a map on the way, nothing is set: that is told as the file's mistake.
fn put(tree: &mut Node, path: &[&str], value: Node) {
    let Some((first, rest)) = path.split_first() else {
        *tree = value;
        return;
    };
    if *tree == Node::Null {
        *tree = Node::Map(Vec::new());
    }
    let Node::Map(entries) = tree else { return };
    let at = entries.iter().position(|(name, _)| name == first).unwrap_or_else(|| {
        entries.push(((*first).to_owned(), Node::Null));
        entries.len() - 1
    });
    if let Some((_, below)) = entries.get_mut(at) {
        put(below, rest, value);
    }
}

/// What may stand at a path of the table of keys.
fn kind_of(path: &[&str]) -> Kind {
    let mut keys: &[Key] = ROOT;
    let mut kind = Kind::Text;
    let mut rest = path.iter();
    while let Some(name) = rest.next() {
        match keys.iter().find(|key| key.name == *name).map(|key| key.kind) {
            Some(Kind::Map(below)) => keys = below,
            Some(Kind::Gates(mutation, _)) => {
                rest.next();
                keys = mutation;
            }
            Some(found) => kind = found,
            None => {}
        }
    }
    kind
}

/// The text as the file would hold it; what is no value of that kind stays text, and the reader says so.
fn node_of(kind: Kind, text: &str) -> Node {
    let text = text.trim();
    match kind {
        Kind::Whole(..) => text.parse().map_or_else(|_| Node::Text(text.to_owned()), Node::Whole),
        Kind::OrNull(_) if text == "null" => Node::Null,
        Kind::OrNull(kind) => node_of(*kind, text),
        _ => Node::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests;
