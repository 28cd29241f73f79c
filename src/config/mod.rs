//! The configuration: text in, settings out.
//!
//! Owns: the schema of `.ralph/config.yaml` (docs/design.md "Configuration"), its defaults and what is said when it is wrong.
//!
//! Promises: every mistake is found in one reading and named with its line and key; nothing unknown is
//! passed over; an absent file means the defaults.
//!
//! Refuses to know: where the text came from, the file system, environment and flags (their values are
//! handed in).

mod agents;
mod defaults;
mod document;
mod edit;
mod error;
mod explain;
mod gates;
mod given;
mod keys;
mod placement;
mod presets;
mod read;
mod schema;
mod sections;
mod settings;
mod tasks;

pub use defaults::{CHECKPOINTS, DEFAULT_AGENT, PIT_VERSION, TEST_NAMES};
pub use edit::{NotEdited, placement_line, with_placement};
pub use error::ConfigError;
pub use explain::{Explained, explain};
pub use given::{Given, ROOT_VARIABLE, SETTINGS, Setting, Source};
pub use presets::{PRESETS, Preset};
pub use schema::schema;
pub use settings::*;

use crate::task::Stage;
use document::Node;
use given::Sources;
use std::path::Path;

/// The text that `ralph init` writes: every key with its default, commented. It reads as the defaults.
pub const TEMPLATE: &str = include_str!("../../templates/config.yaml");

/// The longest text that is read, in bytes.
pub const LONGEST_TEXT: usize = 1024 * 1024;

/// So many lists and maps in brackets are read. The library's time grows with the square of their nesting.
const MOST_BRACKETS: usize = 2_000;

/// Reads the text of `.ralph/config.yaml`; the empty text means the defaults. `workspace` is the absolute
/// folder that holds `.ralph/`.
///
/// # Errors
/// Everything that is wrong, in the order of the lines.
pub fn parse(text: &str, workspace: &Path) -> Result<Settings, Vec<ConfigError>> {
    parse_with(text, workspace, &[])
}

/// The same, under settings that were given outside of the file; the later of two for one key stands.
///
/// # Errors
/// Everything that is wrong; what was given stands first, with the name of its variable or flag.
pub fn parse_with(text: &str, workspace: &Path, given: &[Given]) -> Result<Settings, Vec<ConfigError>> {
    let (settings, errors) = parse_what_can_be(text, workspace, given);
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// As [`parse_with`], for a look at the rest of a workspace whose configuration is wrong: the settings with
/// the defaults where nothing sound is said, and what is wrong, in the order of the lines.
pub fn parse_what_can_be(text: &str, workspace: &Path, given: &[Given]) -> (Settings, Vec<ConfigError>) {
    let mut settings = Settings::defaults(workspace);
    let errors = apply(text, given, &mut settings).err().unwrap_or_default();
    (settings, errors)
}

fn apply(text: &str, given: &[Given], settings: &mut Settings) -> Result<(), Vec<ConfigError>> {
    let (tree, sources) = tree(text, given)?;
    let mut reader = read::Reader::new(text, &sources);
    let root = read::Field::root(&tree);
    if matches!(tree, Node::Map(_) | Node::Null) {
        sections::apply(&mut reader, &root, settings);
    } else {
        reader.wrong(&root, "must hold keys with values", "Write lines such as `spec: docs`.");
    }
    let errors = reader.into_errors();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The text as a tree, with what was given in it.
fn tree(text: &str, given: &[Given]) -> Result<(Node, Sources), Vec<ConfigError>> {
    let mut tree = file_tree(text).map_err(|error| vec![error])?;
    let sources = given::apply(&mut tree, given).map_err(|error| vec![error])?;
    Ok((tree, sources))
}

/// Where the first bracket too many stands: the library takes quadratic time for nests.
fn brackets_beyond(text: &str) -> Option<usize> {
    text.match_indices(['[', '{']).nth(MOST_BRACKETS).map(|(at, _)| at)
}

/// The text as a tree.
fn file_tree(text: &str) -> Result<Node, ConfigError> {
    let anew = "Start again from what `ralph init` writes.";
    if text.len() > LONGEST_TEXT {
        let what = format!("The file is longer than {LONGEST_TEXT} bytes.");
        return Err(ConfigError::new(None, "", &what, anew));
    }
    if let Some(at) = brackets_beyond(text) {
        let line = text.get(..at).map(|before| before.split('\n').count() as u64);
        let what = format!("The file opens more than {MOST_BRACKETS} brackets.");
        return Err(ConfigError::new(line, "", &what, anew));
    }
    document::parse(text).map_err(|error| {
        let what = format!("The file cannot be read as YAML: {}.", error.why.trim_end_matches('.'));
        let hint = "Mend the line; `ralph schema` and README.md show what may stand there.";
        ConfigError::new(error.line, "", &what, hint)
    })
}

/// The line on which the file writes a key (`gates.PITEST.threshold`); `None` where it does not.
pub fn key_line(text: &str, key: &str) -> Option<u64> {
    let is_bounded = text.len() <= LONGEST_TEXT && brackets_beyond(text).is_none();
    if is_bounded && !key.is_empty() { document::line_of_key(text, key) } else { None }
}

/// The role of the agent that does a stage (docs/design.md "Configuration"); `None` for a gate, which has no agent.
pub fn role_of(stage: &Stage) -> Option<Role> {
    match stage {
        Stage::TestFirst => Some(Role::TestWriter),
        Stage::Implementation => Some(Role::Worker),
        Stage::ReqCheck => Some(Role::ReqReviewer),
        Stage::PreCr => Some(Role::QualityReviewer),
        Stage::Integ => Some(Role::IntegrationTester),
        Stage::Final => Some(Role::Validator),
        Stage::Gate(_) => None,
    }
}

impl Role {
    /// All roles, in the order of the stages.
    pub const ALL: [Self; 6] = [
        Self::TestWriter,
        Self::Worker,
        Self::ReqReviewer,
        Self::QualityReviewer,
        Self::IntegrationTester,
        Self::Validator,
    ];

    /// The role's name in `roles:`, in `RALPH_ROLE` and of its prompt template.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TestWriter => "test-writer",
            Self::Worker => "worker",
            Self::ReqReviewer => "req-reviewer",
            Self::QualityReviewer => "quality-reviewer",
            Self::IntegrationTester => "integration-tester",
            Self::Validator => "validator",
        }
    }
}

impl Settings {
    /// The agent that does a role, with its name; `None` when no agent of that name is configured.
    pub fn agent_for(&self, role: Role) -> Option<(&str, &AgentSettings)> {
        let name = self.roles.get(&role).map_or(DEFAULT_AGENT, String::as_str);
        self.agents.get_key_value(name).map(|(name, agent)| (name.as_str(), agent))
    }
}

#[cfg(test)]
mod tests;
