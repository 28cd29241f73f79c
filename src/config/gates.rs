//! `gates:`: how each gate judges.
//!
//! Owns: the reading of one gate and the rule for its name.
//!
//! Promises: `PITEST` is always among the gates; another name is a command gate.
//!
//! Refuses to know: how a gate is run.

use super::defaults;
use super::document::Node;
use super::error::quoted;
use super::read::{Field, Fields, Reader};
use super::{GateEngine, GateSettings, keys};
use crate::task::Stage;
use std::collections::BTreeMap;

/// Sets the gates in a map that holds `PITEST` with its defaults.
pub(super) fn gates(read: &mut Reader, field: &Field, gates: &mut BTreeMap<String, GateSettings>) {
    for (name, field) in read.entries(field) {
        let Some(()) = check_name(read, name, &field) else { continue };
        let gate = if is_command(&field) || name != "PITEST" {
            command_gate(read, &field, name == "PITEST")
        } else {
            Some(mutation_gate(read, &field))
        };
        if let Some(gate) = gate {
            gates.insert(name.to_owned(), gate);
        }
    }
}

/// `[A-Z][A-Z0-9-]*`, and no word of a stage.
fn check_name(read: &mut Reader, name: &str, field: &Field) -> Option<()> {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_uppercase());
    if !first || !chars.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-') {
        let hint = "Use capital letters, digits and `-`, a letter first, as in `N.PITEST`.";
        read.wrong_key(field, "is no name for a gate", hint);
        return None;
    }
    if !Stage::from(name.to_owned()).is_gate() {
        read.wrong_key(field, "is the word of a stage that is no gate", "Choose another name for the gate.");
        return None;
    }
    Some(())
}

fn is_command(field: &Field) -> bool {
    matches!(field.node, Node::Map(entries) if entries.iter().any(|(key, _)| key == "run"))
}

fn command_gate(read: &mut Reader, field: &Field, is_pitest: bool) -> Option<GateSettings> {
    let fields = read.fields(field, keys::COMMAND_GATE);
    let Some(run) = fields.get("run") else {
        let hint = "Write `{run: [program, argument, …]}`; only `PITEST` has an engine of its own.";
        read.wrong_key(field, "does not say what to run", hint);
        return None;
    };
    let argv = read.argv(run);
    if is_pitest && argv.is_none() {
        return None;
    }
    let mut gate = defaults::gate(GateEngine::Command(argv?));
    if let Some(limit) = fields.get("limit").and_then(|field| read.duration(field)) {
        gate.limit = limit;
    }
    Some(gate)
}

fn mutation_gate(read: &mut Reader, field: &Field) -> GateSettings {
    let mut gate = defaults::gate(GateEngine::Direct);
    let fields = read.fields(field, keys::MUTATION);
    if let Some(value) = fields.get("threshold").and_then(|field| read.small(field, 0..=100)) {
        gate.threshold = value;
    }
    if let Some(value) = fields.get("jobs").and_then(|field| read.small(field, 0..=1024)) {
        gate.jobs = usize::try_from(value).unwrap_or(0);
    }
    if let Some(value) = fields.get("limit").and_then(|field| read.duration(field)) {
        gate.limit = value;
    }
    if let Some(value) = fields.get("maven_args").and_then(|field| read.texts(field)) {
        gate.maven_args = value;
    }
    if let Some(value) = fields.get("jvm_args").and_then(|field| read.texts(field)) {
        gate.jvm_args = value;
    }
    if let Some(value) = fields.get("pit_version").and_then(|field| version(read, field)) {
        gate.pit_version = value;
    }
    if let Some(value) = fields.get("keep").and_then(|field| read.globs(field, true)) {
        gate.keep = value;
    }
    if let Some(value) = fields.get("test_names").and_then(|field| test_names(read, field)) {
        gate.test_names = value;
    }
    words(read, &fields, &mut gate);
    if gate.engine == GateEngine::Maven {
        for key in ["tests", "scope"] {
            if let Some(field) = fields.get(key) {
                read.wrong(field, "needs `engine: direct`", "Leave the key out, or use ralph's own engine.");
            }
        }
    }
    gate
}

fn words(read: &mut Reader, fields: &Fields, gate: &mut GateSettings) {
    if let Some(field) = fields.get("per") {
        gate.per = read.word(field, keys::PER).unwrap_or(gate.per);
    }
    if let Some(field) = fields.get("no_coverage") {
        gate.no_coverage = read.word(field, keys::NO_COVERAGE).unwrap_or(gate.no_coverage);
    }
    if let Some(field) = fields.get("tests").filter(|field| !is_list(read, field)) {
        gate.tests = read.word(field, keys::TESTS).unwrap_or(gate.tests);
    }
    if let Some(field) = fields.get("scope") {
        gate.scope = read.word(field, keys::SCOPE).unwrap_or(gate.scope);
    }
    if let Some(field) = fields.get("where") {
        gate.place = read.word(field, keys::WHERE).unwrap_or(gate.place);
    }
    if let Some(field) = fields.get("recompile") {
        gate.recompile = read.word(field, keys::RECOMPILE).unwrap_or(gate.recompile);
    }
    if let Some(field) = fields.get("engine")
        && let Some(maven) = read.word(field, keys::ENGINE)
    {
        gate.engine = if maven { GateEngine::Maven } else { GateEngine::Direct };
    }
}

/// True for a list, which once stood here and is told where it stands now.
fn is_list(read: &mut Reader, field: &Field) -> bool {
    let list = matches!(field.node, Node::List(_));
    if list {
        read.wrong(field, "must be one word, not a list", "Names of test classes stand under `test_names`.");
    }
    list
}

/// A version as Maven coordinates hold it: it becomes part of an artifact's name.
fn version(read: &mut Reader, field: &Field) -> Option<String> {
    let text = read.text(field)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if text.len() > 40 || !text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(plain) {
        let what = format!("must be a version, not {}", quoted(text));
        read.wrong(field, &what, format!("Write it as `\"{}\"`.", defaults::PIT_VERSION));
        return None;
    }
    Some(text.to_owned())
}

/// Names of test classes, each with one `{}` where the class's own name stands.
fn test_names(read: &mut Reader, field: &Field) -> Option<Vec<String>> {
    let names = read.texts(field)?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let wrong = names.iter().find(|name| match name.split_once("{}") {
        Some((before, after)) => !(before.chars().chain(after.chars()).all(plain) && name.len() > 2),
        None => true,
    });
    let hint = "Write names such as `\"{}Test\"`, where `{}` stands for the name of the class under test.";
    if let Some(name) = wrong {
        read.wrong(field, &format!("holds {}, which is no name of a test class", quoted(name)), hint);
        return None;
    }
    if names.is_empty() {
        read.wrong(field, "must not be empty", hint);
        return None;
    }
    Some(names)
}
