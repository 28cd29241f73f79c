//! Every setting with its value and where it came from (`ralph check --config`).
//!
//! Owns: the walk over the table of keys beside the file's tree.
//!
//! Promises: each key that counts is listed once, in the order of the table; values of an agent's
//! environment, which may be secrets, are not shown.
//!
//! Refuses to know: how it is printed.

use super::document::{Node, Part, line_of};
use super::given::{Given, Source, Sources};
use super::keys::{Key, Kind, ROOT};
use super::schema::plain;
use super::{ConfigError, Settings, document};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Dotted.
    pub key: String,
    /// As the file would hold it; `null` where there is none.
    pub value: Value,
    /// Where it came from.
    pub from: Source,
    /// What is wrong with it, a whole sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Explains a configuration under what was given beside it: every setting, and behind them what is wrong and
/// belongs to no setting that is known. Of a file that cannot be read only what was given is told, and why.
/// `text` is the file's, or why there is none.
pub fn explain(text: Result<&str, ConfigError>, workspace: &Path, given: &[Given]) -> Vec<Explained> {
    let (text, unread) = match text.and_then(|text| super::file_tree(text).map(|_| text)) {
        Ok(text) => (text, None),
        Err(error) => ("", Some(error)),
    };
    let mut errors: Vec<ConfigError> = unread.iter().cloned().collect();
    let mut known = given.to_vec();
    let (tree, sources) = match super::tree(text, given) {
        Ok(read) => read,
        Err(stray) => {
            // What was given and gets no place in the tree: an agent that nobody knows.
            errors.extend(stray);
            known.retain(|given| given.setting.key != "roles");
            super::tree(text, &known).unwrap_or((Node::Null, Sources::default()))
        }
    };
    errors.extend(super::parse_what_can_be(text, workspace, &known).1);
    let defaults = document::parse(super::TEMPLATE).unwrap_or(Node::Null);
    let mut walk = Walk { text, sources: &sources, told: Vec::new() };
    walk.map(ROOT, &At::root(&tree, &defaults));
    walk.fill_in(&Settings::defaults(workspace));
    let mut told = walk.told;
    if unread.is_some() {
        told.retain(|told| told.from != Source::Default);
    }
    for error in errors {
        note(&mut told, error, given);
    }
    told
}

/// Puts a mistake to its setting, or behind all where it has none.
fn note(told: &mut Vec<Explained>, error: ConfigError, given: &[Given]) {
    let is_of = |told: &&mut Explained| {
        let rest = error.key.strip_prefix(&told.key);
        told.problem.is_none() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let (problem, hint) = (Some(error.shown()), Some(error.hint.clone()));
    if let Some(told) = told.iter_mut().find(is_of) {
        (told.problem, told.hint) = (problem, hint);
        return;
    }
    let giver = given.iter().find(|given| error.message.starts_with(&format!("{}: ", given.name())));
    let from = match giver {
        Some(given) if !error.is_in_file() => given.source.clone(),
        _ => Source::File { line: error.line },
    };
    told.push(Explained { key: error.key, value: Value::Null, from, problem, hint });
}

/// A place in the tree and in that of the defaults.
#[derive(Clone)]
struct At<'n> {
    name: String,
    /// The ordinals of the entries on the way, for the line.
    steps: Vec<usize>,
    /// What the file or a giver says; `None` where they say nothing.
    node: Option<&'n Node>,
    default: Option<&'n Node>,
}

impl<'n> At<'n> {
    fn root(node: &'n Node, defaults: &'n Node) -> Self {
        Self { name: String::new(), steps: Vec::new(), node: Some(node), default: Some(defaults) }
    }

    fn below(&self, key: &str) -> Self {
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        let found = match self.node {
            Some(Node::Map(entries)) => entries.iter().enumerate().find(|(_, (name, _))| name == key),
            _ => None,
        };
        let default = match self.default {
            Some(Node::Map(entries)) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        };
        let mut steps = self.steps.clone();
        steps.extend(found.map(|(at, _)| at));
        Self { name, steps, node: found.map(|(_, (_, node))| node), default }
    }

    /// The names of the entries.
    fn names(&self) -> Vec<&'n str> {
        match self.node {
            Some(Node::Map(entries)) => entries.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

struct Walk<'t> {
    text: &'t str,
    sources: &'t Sources,
    told: Vec<Explained>,
}

impl Walk<'_> {
    fn map(&mut self, keys: &[Key], at: &At) {
        for key in keys {
            self.value(&key.kind, &at.below(key.name));
        }
    }

    fn value(&mut self, kind: &Kind, at: &At) {
        match kind {
            Kind::Map(keys) => self.map(keys, at),
            Kind::Named(_, kind) => {
                for name in at.names() {
                    self.value(kind, &at.below(name));
                }
            }
            Kind::OneOf(maps) => {
                let there = at.names();
                let form =
                    maps.iter().find(|keys| keys.iter().all(|key| !key.needed || there.contains(&key.name)));
                for key in form.into_iter().flat_map(|keys| keys.iter()) {
                    if there.contains(&key.name) {
                        self.value(&key.kind, &at.below(key.name));
                    }
                }
            }
            Kind::Gates(mutation, command) => self.gates(mutation, command, at),
            Kind::Variable => self.tell(at, Some(Value::from("(not shown)"))),
            _ => self.tell(at, None),
        }
    }

    fn gates(&mut self, mutation: &[Key], command: &[Key], at: &At) {
        let pitest = at.below("PITEST");
        if pitest.names().contains(&"run") {
            self.map(command, &pitest);
        } else {
            self.map(mutation, &pitest);
        }
        for name in at.names().into_iter().filter(|name| *name != "PITEST") {
            // A command's limit has the default of the mutation gate.
            self.map(command, &At { default: pitest.default, ..at.below(name) });
        }
    }

    fn tell(&mut self, at: &At, instead: Option<Value>) {
        let value = instead.or_else(|| at.node.or(at.default).map(plain)).unwrap_or(Value::Null);
        let from = match (self.sources.of(&at.name), at.node) {
            (Some(source), _) => source.clone(),
            (None, Some(_)) => Source::File { line: line_of(self.text, &at.steps, Part::Key) },
            (None, None) => Source::Default,
        };
        self.told.push(Explained { key: at.name.clone(), value, from, problem: None, hint: None });
    }

    /// The defaults that the template shows as comments only.
    fn fill_in(&mut self, defaults: &Settings) {
        let files = &defaults.files;
        for told in self.told.iter_mut().filter(|told| told.from == Source::Default && told.value.is_null()) {
            let list = match told.key.as_str() {
                "packages" => &defaults.packages,
                "files.test" => &files.test,
                "files.production" => &files.production,
                "files.build" => &files.build,
                "tasks.sections.include" => &defaults.sections.include,
                "tasks.sections.exclude" => &defaults.sections.exclude,
                _ => continue,
            };
            told.value = Value::from(list.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SETTINGS, Setting};

    fn told(text: &str, given: &[Given]) -> String {
        let lines = explain(Ok(text), Path::new("/w"), given);
        assert!(lines.iter().all(|line| line.problem.is_none()), "{lines:#?}");
        let from = |source: &Source| match source {
            Source::Default => "default".to_owned(),
            Source::File { line } => format!("line {}", line.expect("a line")),
            Source::Environment { name } | Source::Flag { name } => (*name).to_owned(),
        };
        let kept = lines.iter().filter(|line| line.from != Source::Default || line.key.contains("limit"));
        kept.map(|line| format!("{}={} ({})", line.key, line.value, from(&line.from)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn each_setting_is_told_with_its_origin() {
        let text = "limits:\n  wall: 1h\n  attempts: 2\nagents:\n  default:\n    command: [x]\n    env: {KEY: secret}\ngates:\n  LINT: {run: [lint]}\n";
        let given = [
            Given::variable(Setting::of("limits.attempts").expect("one"), "4".to_owned()),
            Given::flag(Setting::of("gates.PITEST.threshold").expect("one"), "80".to_owned()),
        ];
        insta::assert_snapshot!(told(text, &given), @r#"
        agents.default.command=["x"] (line 6)
        agents.default.env.KEY="(not shown)" (line 7)
        gates.PITEST.threshold=80 (--set)
        gates.PITEST.limit="60m" (default)
        gates.LINT.run=["lint"] (line 9)
        gates.LINT.limit="60m" (default)
        limits.iterations=null (default)
        limits.attempts=4 (RALPH_LIMITS_ATTEMPTS)
        limits.rework=5 (default)
        limits.wall="1h" (line 2)
        limits.attempt="60m" (default)
        limits.idle=null (default)
        limits.check="10m" (default)
        "#);
    }

    #[test]
    fn every_setting_that_can_be_given_is_listed_with_its_giver() {
        let plain: Vec<String> =
            explain(Ok(""), Path::new("/w"), &[]).into_iter().map(|line| line.key).collect();
        for setting in SETTINGS {
            let listed =
                plain.iter().any(|key| key == setting.key || key.starts_with(&format!("{}.", setting.key)));
            assert!(listed, "{}", setting.key);
        }
        let agent = Given::variable(Setting::of("roles").expect("one"), "codex".to_owned());
        let lines = explain(Ok(""), Path::new("/w"), &[agent]);
        let by_variable: Vec<&str> =
            lines.iter().filter(|line| line.from != Source::Default).map(|line| line.key.as_str()).collect();
        assert_eq!(by_variable.len(), 7, "{by_variable:?}");
        assert_eq!(by_variable[0], "agents.codex.preset");
    }

    #[test]
    fn nothing_is_missing_without_a_default() {
        let lines = explain(Ok(""), Path::new("/w"), &[]);
        let empty: Vec<&str> =
            lines.iter().filter(|line| line.value.is_null()).map(|line| line.key.as_str()).collect();
        assert_eq!(
            empty,
            [
                "checks.red",
                "checks.green",
                "limits.iterations",
                "limits.idle",
                "on.blocked",
                "on.done",
                "on.gate-fail",
                "on.stop"
            ]
        );
    }
}
