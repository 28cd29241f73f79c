//! The configuration: text in, settings out, with the place of every mistake.

mod defaults;
mod edit;
mod error;
mod explain;
mod formats;
mod overrides;
mod presets;
mod roles;
mod rules;
mod schema;
mod settings;
mod time;
mod yaml_tree;

pub use defaults::{CHECKPOINTS, DEFAULT_AGENT, PIT_VERSION, TEST_NAMES};
pub use edit::{NotEdited, placement_line, with_placement};
pub use error::ConfigError;
pub use explain::{Explained, explain};
pub use overrides::{Override, ROOT_VARIABLE, SETTINGS, Setting, Source};
pub use presets::{PRESETS, Preset};
pub use roles::{Role, role_of};
pub use settings::*;

use error::Mistake;
use overrides::Sources;
use serde::Deserialize as _;
use serde_yaml::Value;
use std::path::{Component, Path, PathBuf};

/// The text that `ralph init` writes: every key with its default, commented. It reads as the defaults.
pub const TEMPLATE: &str = include_str!("../../templates/config.yaml");

/// The file beside it that its first line names for editors: the schema.
pub const SCHEMA_FILE: &str = "config.schema.json";

/// The longest text that is read, in bytes.
pub const LONGEST_TEXT: usize = 1024 * 1024;

/// So many lists and maps in brackets are read. The library's time grows with the square of their nesting.
const MOST_BRACKETS: usize = 2_000;

/// So many mistakes are named; each costs two readings.
const MOST_MISTAKES: usize = 20;

/// The JSON Schema of the file. It allows everything that is read; it is looser where a schema cannot say it (lengths
/// of time in several units, regular expressions in Rust's syntax, names of agents that `roles:` uses).
pub fn schema() -> serde_json::Value {
    schema::document::<Settings>()
}

/// Reads the text of `.ralph/config.yaml`; the empty text means the defaults. `workspace` is the absolute
/// folder that holds `.ralph/`.
///
/// # Errors
/// What is wrong, in the order of the lines.
pub fn parse(text: &str, workspace: &Path) -> Result<Settings, Vec<ConfigError>> {
    let (settings, errors) = parse_what_can_be(text, workspace, &[]);
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// As [`parse`], for a look at the rest of a workspace whose configuration is wrong: the settings, with the
/// defaults for what is wrong, and the mistakes, those of overrides first.
pub fn parse_what_can_be(
    text: &str,
    workspace: &Path,
    overrides: &[Override],
) -> (Settings, Vec<ConfigError>) {
    let reading = Reading::of(Ok(text), workspace, overrides);
    (reading.settings, reading.errors)
}

/// A configuration with everything that was found out about it.
struct Reading<'t> {
    /// Empty if it cannot be read.
    text: &'t str,
    is_readable: bool,
    /// What the file and the overrides say.
    tree: Value,
    sources: Sources,
    /// The settings, with the defaults for what is wrong.
    settings: Settings,
    errors: Vec<ConfigError>,
}

impl<'t> Reading<'t> {
    fn of(text: Result<&'t str, ConfigError>, workspace: &Path, overrides: &[Override]) -> Self {
        let read = text.and_then(|text| Ok((text, file_tree(text)?)));
        let is_readable = read.is_ok();
        let (text, mut tree, unreadable) = match read {
            Ok((text, tree)) => (text, tree, None),
            Err(error) => ("", Value::Null, Some(error)),
        };
        let (sources, mut errors) = overrides::apply(&mut tree, overrides);
        errors.extend(unreadable);
        // What is wrong is taken out of a copy, until the rest can be read.
        let mut sound = tree.clone();
        let mut count = 0;
        let settings = loop {
            match settings_of(&sound, &tree, workspace) {
                Ok(settings) => break settings,
                Err(_) if count == MOST_MISTAKES => {
                    errors.push(ConfigError::of_file(None, "There are more mistakes.", "Fix these first."));
                    break Settings::defaults(workspace);
                }
                Err(mistake) => {
                    yaml_tree::remove(&mut sound, part_with(&mistake.path));
                    errors.push(located(&mistake, text, &sources));
                    count += 1;
                }
            }
        };
        errors.sort_by_key(|error| (error.line.is_none() && error.is_in_file(), error.line));
        Self { text, is_readable, tree, sources, settings, errors }
    }
}

/// The part of the tree that cannot be read with this mistake in it: agents, placements and gates that are
/// commands mean nothing without one of their keys.
fn part_with(path: &[String]) -> &[String] {
    match path {
        [first, name, _, ..]
            if ["agents", "gates", "placement"].contains(&first.as_str()) && name != "PITEST" =>
        {
            &path[..2]
        }
        _ => path,
    }
}

/// The mistake with its line, or with the name of the variable or flag.
fn located(mistake: &Mistake, text: &str, sources: &Sources) -> ConfigError {
    let (key, what) = (error::dotted(&mistake.path), mistake.sentence());
    let path: Vec<&str> = mistake.path.iter().map(String::as_str).collect();
    let hint = match path.as_slice() {
        ["on"] => "It is called `hooks` now, because YAML 1.1 reads `on` as `true`: rename the key.",
        ["gates", _, "ahead"] => {
            "Remove it: a gate begins when its turn has come, no longer while reviewers work."
        }
        _ => &mistake.hint,
    };
    match sources.of(&mistake.path) {
        Some(given) => ConfigError::of_override(given.name(), &key, &what, hint),
        None => ConfigError::new(yaml_tree::line_of(text, &mistake.path), &key, &what, hint),
    }
}

/// Reads the settings from a tree; `written` is the tree before anything wrong was taken out of it.
fn settings_of(tree: &Value, written: &Value, workspace: &Path) -> Result<Settings, Mistake> {
    let mut settings = Settings::deserialize(yaml_tree::Node(tree))?;
    rules::check(&settings, tree, written)?;
    settings.gates.entry("PITEST".to_owned()).or_default();
    settings.packages_given = tree.get("packages").is_some();
    for glob in &mut settings.packages {
        let short = glob.trim_start_matches("./").trim_end_matches('/');
        *glob = if short.is_empty() { ".".to_owned() } else { short.to_owned() };
    }
    let parts = settings.spec.components().filter(|part| *part != Component::CurDir);
    let spec: PathBuf =
        std::iter::once(workspace.as_os_str()).chain(parts.map(Component::as_os_str)).collect();
    Ok(Settings { workspace: workspace.to_path_buf(), spec, ..settings })
}

/// Where the first bracket too many is: the library takes quadratic time for nests.
fn brackets_beyond(text: &str) -> Option<usize> {
    text.match_indices(['[', '{']).nth(MOST_BRACKETS).map(|(at, _)| at)
}

/// The text as a tree.
fn file_tree(text: &str) -> Result<Value, ConfigError> {
    let anew = "Start again from the file that `ralph init` writes.";
    if text.len() > LONGEST_TEXT {
        let what = format!("The file is longer than {LONGEST_TEXT} bytes.");
        return Err(ConfigError::new(None, "", &what, anew));
    }
    if let Some(at) = brackets_beyond(text) {
        let line = text.get(..at).map(|before| before.split('\n').count() as u64);
        let what = format!("The file opens more than {MOST_BRACKETS} brackets.");
        return Err(ConfigError::new(line, "", &what, anew));
    }
    yaml_tree::parse(text).map_err(|error| {
        let what = format!("The file cannot be read as YAML: {}.", error.why.trim_end_matches('.'));
        let hint = "Fix the line; `ralph schema` and README.md show what may be written there.";
        ConfigError::new(error.line, "", &what, hint)
    })
}

/// The line on which the file writes a key (`gates.PITEST.threshold`); `None` if it does not.
pub fn key_line(text: &str, key: &str) -> Option<u64> {
    let tree = file_tree(text).ok()?;
    let path = yaml_tree::path_of(&tree, key).filter(|path| !path.is_empty())?;
    yaml_tree::line_of(text, &path)
}

impl Settings {
    /// Where each gate's boxes go; those of a gate without a choice go after every task.
    pub fn placed(&self) -> Vec<(String, Placement)> {
        let choice = |gate: &String| self.placement.get(gate).cloned().unwrap_or(Placement::Each);
        self.gates.keys().map(|gate| (gate.clone(), choice(gate))).collect()
    }

    /// The default of every key, as the file would hold it.
    fn default_tree() -> Value {
        serde_yaml::to_value(Self::default()).unwrap_or_default()
    }
}

impl Hooks {
    /// The commands with the events that they are for.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let all = [
            ("blocked", &self.blocked),
            ("done", &self.done),
            ("gate-fail", &self.gate_fail),
            ("stop", &self.stop),
        ];
        all.into_iter().filter_map(|(event, argv)| Some((event, argv.as_deref()?)))
    }
}

#[cfg(test)]
mod tests;
