//! What each key of `.ralph/config.yaml` sets.
//!
//! Owns: the reading of the root and of the small sections.
//!
//! Promises: an unknown key, a doubled key and a wrong value are errors, each with its line.
//!
//! Refuses to know: YAML, defaults (they stand in the settings before this module sets anything).

use super::error::{either, quoted};
use super::placement::placement;
use super::read::{Field, Fields, Reader};
use super::{FileGlobs, Limits, Role, Settings, agents, gates, keys, tasks};
use std::path::{Component, Path, PathBuf};

/// Sets what the tree says in settings that hold the defaults.
pub(super) fn apply(read: &mut Reader, root: &Field, settings: &mut Settings) {
    let fields = read.fields(root, keys::ROOT);
    if let Some(spec) = fields.get("spec").and_then(|field| read.text(field)) {
        settings.spec = below(&settings.workspace, spec);
    }
    if let Some(packages) = fields.get("packages").and_then(|field| read.globs(field, false)) {
        settings.packages = packages.iter().map(|glob| tidy(glob)).collect();
        settings.packages_given = true;
    }
    if let Some(field) = fields.get("files") {
        files(read, field, &mut settings.files);
    }
    if let Some(field) = fields.get("agents") {
        settings.agents = agents::agents(read, field);
    }
    if let Some(field) = fields.get("roles") {
        let agents = fields.get("agents").map(Field::keys).unwrap_or_default();
        roles(read, field, &agents, settings);
    }
    if let Some(field) = fields.get("gates") {
        gates::gates(read, field, &mut settings.gates);
    }
    if let Some(field) = fields.get("placement") {
        let gates: Vec<&str> = settings.gates.keys().map(String::as_str).collect();
        settings.placement = placement(read, field, &gates);
    }
    if let Some(field) = fields.get("limits") {
        limits(read, field, &mut settings.limits);
    }
    if let Some(field) = fields.get("tasks") {
        tasks::tasks(read, field, &mut settings.sections);
    }
    commands(read, &fields, settings);
    choices(read, &fields, settings);
}

/// `null` or a program: the keys under `checks:` and `on:`.
fn commands(read: &mut Reader, fields: &Fields, settings: &mut Settings) {
    if let Some(field) = fields.get("checks") {
        let checks = read.fields(field, keys::CHECKS);
        settings.checks.red = command(read, checks.get("red"));
        settings.checks.green = command(read, checks.get("green"));
    }
    if let Some(field) = fields.get("on") {
        for (event, field) in read.fields(field, keys::EVENTS) {
            if let Some(argv) = command(read, Some(&field)) {
                settings.on.insert(event.to_owned(), argv);
            }
        }
    }
}

fn command(read: &mut Reader, field: Option<&Field>) -> Option<Vec<String>> {
    field.and_then(|field| read.unless_null(field, |read, field| read.argv(field)))
}

fn choices(read: &mut Reader, fields: &Fields, settings: &mut Settings) {
    if let Some(field) = fields.get("commit") {
        settings.commit = read.word(field, keys::COMMIT).unwrap_or(settings.commit);
    }
    if let Some(field) = fields.get("rework") {
        settings.rework = read.word(field, keys::REWORK).unwrap_or(settings.rework);
    }
    if let Some(field) = fields.get("on_blocked") {
        settings.on_blocked = read.word(field, keys::ON_BLOCKED).unwrap_or(settings.on_blocked);
    }
    if let Some(field) = fields.get("stages") {
        settings.stages = read.word(field, keys::STAGES).unwrap_or(settings.stages);
    }
    if let Some(pattern) = fields.get("checkpoints").and_then(|field| checkpoints(read, field)) {
        settings.checkpoints = pattern;
    }
}

fn checkpoints(read: &mut Reader, field: &Field) -> Option<String> {
    let pattern = read.text(field)?;
    match regex_lite::Regex::new(pattern) {
        Err(error) => {
            let why = crate::source::text::line(&error.to_string(), 1_000);
            let what = format!("is no regular expression: {}", why.trim_end_matches('.'));
            read.wrong(field, &what, "Mend the pattern, or leave the key out for its default.");
            None
        }
        Ok(regex) if regex.is_match("") => {
            let hint = "Write a pattern that only the texts of checkpoints match.";
            read.wrong(
                field,
                "matches every text, so that every task could be ticked without a change",
                hint,
            );
            None
        }
        Ok(_) => Some(pattern.to_owned()),
    }
}

fn files(read: &mut Reader, field: &Field, globs: &mut FileGlobs) {
    let fields = read.fields(field, keys::FILES);
    let mut list = |key: &str, may_be_empty: bool, target: &mut Vec<String>| {
        if let Some(given) = fields.get(key).and_then(|field| read.globs(field, may_be_empty)) {
            *target = given;
        }
    };
    list("test", false, &mut globs.test);
    list("production", false, &mut globs.production);
    list("build", true, &mut globs.build);
}

/// `agents` are the names under `agents:`, sound or not, so that one mistake is told once.
fn roles(read: &mut Reader, field: &Field, agents: &[&str], settings: &mut Settings) {
    let fields = read.fields(field, keys::ROLES);
    for role in Role::ALL {
        let Some(field) = fields.get(role.word()) else { continue };
        let Some(name) = read.text(field) else { continue };
        if agents.contains(&name) || (name == super::defaults::DEFAULT_AGENT && agents.is_empty()) {
            settings.roles.insert(role, name.to_owned());
            continue;
        }
        let hint = if agents.is_empty() {
            "Name the agent under `agents:` first.".to_owned()
        } else {
            format!("Named there: {}.", either(agents))
        };
        read.wrong(field, &format!("names the agent {}, which `agents:` does not", quoted(name)), hint);
    }
}

fn limits(read: &mut Reader, field: &Field, limits: &mut Limits) {
    let fields = read.fields(field, keys::LIMITS);
    if let Some(field) = fields.get("iterations") {
        limits.iterations = read.unless_null(field, |read, field| read.whole(field, 1..=u64::MAX));
    }
    if let Some(field) = fields.get("idle") {
        limits.idle = read.unless_null(field, |read, field| read.duration(field));
    }
    if let Some(value) = fields.get("attempts").and_then(|field| read.small(field, 1..=1000)) {
        limits.attempts = value;
    }
    if let Some(value) = fields.get("rework").and_then(|field| read.small(field, 0..=1000)) {
        limits.rework = value;
    }
    let mut time = |key: &str, target: &mut std::time::Duration| {
        if let Some(value) = fields.get(key).and_then(|field| read.duration(field)) {
            *target = value;
        }
    };
    time("wall", &mut limits.wall);
    time("attempt", &mut limits.attempt);
    time("check", &mut limits.check);
}

/// The path below the workspace, `.` parts left out; an absolute one stays what it is.
fn below(workspace: &Path, path: &str) -> PathBuf {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    let tidy: PathBuf = parts.collect();
    if tidy.as_os_str().is_empty() { workspace.to_path_buf() } else { workspace.join(tidy) }
}

/// A pattern of folders without `./` before and `/` behind; `.` stays.
fn tidy(glob: &str) -> String {
    let short = glob.trim_start_matches("./").trim_end_matches('/');
    if short.is_empty() { ".".to_owned() } else { short.to_owned() }
}
