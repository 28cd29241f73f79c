//! `ralph gate`: a gate's box with all its consequences, or a gate alone.
//!
//! Owns: where the changes come from when the family's own are not known.
//!
//! Promises: `ralph gate PITEST` changes nothing; `ralph gate 2.PITEST` keeps the whole contract of the
//! loop: boxes, progress.txt, exit code.
//!
//! Refuses to know: scope, engines, thresholds.

use super::args::GateArgs;
use super::exit::Exit;
use super::ui;
use super::workspace::{Place, Workspace, key_of};
use crate::engine::{Engine, Fault, FaultKind, World as _};
use crate::machine::event::{Event, StopRequest};
use crate::machine::facts::{FileChange, FileStatus, Oid};
use crate::machine::kin;
use crate::mutation::{GateReport, Verdict};
use crate::report::progress::gate_lines;
use crate::source::{Classifier, RepoPath};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// `ralph gate`.
pub(super) fn gate(place: &Place<'_>, args: &GateArgs) -> Result<Exit, Fault> {
    let anywhere = place.open_anywhere()?;
    if anywhere.settings.gates.contains_key(&args.gate) {
        return alone(place, &anywhere, args);
    }
    of_a_task(place, &place.open()?, args)
}

/// Judges and reports, changes nothing.
fn alone(place: &Place<'_>, workspace: &Workspace, args: &GateArgs) -> Result<Exit, Fault> {
    let mut outside = workspace.outside()?;
    let (changes, bases) = match (&args.since, &args.diff) {
        (Some(revision), _) => outside.since(revision)?,
        (None, Some(file)) => match from_list(workspace, file)? {
            changes if changes.is_empty() => {
                let what = format!("{} names no file, so {} can judge nothing.", file.display(), args.gate);
                return Err(Fault::new(FaultKind::Unknown, what, "see how the list was made"));
            }
            changes => (changes, BTreeMap::new()),
        },
        (None, None) => {
            return Err(Fault::new(
                FaultKind::Setup,
                format!("What should {} judge?", args.gate),
                "name a base: `--since HEAD~1`, or a list of files: `--diff FILE`",
            ));
        }
    };
    let folder = outside.folder_alone()?;
    let report = outside.judge_alone(&args.gate, &changes, &bases, folder.clone())?;
    if let Some(StopRequest::Signal { signal }) = outside.stop_request() {
        return Ok(Exit::Signal(u8::try_from(signal).unwrap_or(0)));
    }
    if !place.json {
        ui::note(&format!("logs and reports: {}", folder.display()));
    }
    Ok(shown(place, &args.gate, &report))
}

fn shown(place: &Place<'_>, name: &str, report: &GateReport) -> Exit {
    if place.json {
        ui::json(&json!({ "gate": name, "report": report }));
    } else {
        for class in &report.classes {
            let tally = &class.tally;
            ui::line(&format!(
                "{} {}: {} killed, {} timed out, {} survived, {} not covered",
                class.package, class.class, tally.killed, tally.timed_out, tally.survived, tally.no_coverage
            ));
        }
        for line in gate_lines(name, report) {
            ui::line(&line);
        }
        let seconds = std::time::Duration::from_millis(report.millis).as_secs_f64();
        ui::note(&format!("{name} took {seconds:.1} s"));
    }
    Exit::from(&report.verdict)
}

/// The whole contract, in anybody's loop.
fn of_a_task(place: &Place<'_>, workspace: &Workspace, args: &GateArgs) -> Result<Exit, Fault> {
    let since = match &args.since {
        Some(revision) => Some(workspace.outside()?.since(revision)?.0),
        None => match &args.diff {
            Some(file) => Some(from_list(workspace, file)?),
            None => None,
        },
    };
    workspace.as_a_verb(|engine| {
        let key = key_of(engine.state(), &args.gate)?;
        if !key.stage.is_gate() {
            return Err(Fault::new(
                FaultKind::Setup,
                format!("{key} is no gate."),
                "name a gate's box such as `2.PITEST`, or a gate such as `PITEST`",
            ));
        }
        let changes = match since {
            Some(changes) => Some(changes),
            None if knows_changes(engine, &key) => None,
            None => Some(from_list_if_any(workspace)?),
        };
        let snapshot = engine.world().snapshot()?;
        engine.drive(vec![Event::GateRequested { key: key.clone(), snapshot, changes }])?;
        // What stands in the book may be the verdict of an earlier call: only this call's counts.
        let Some(report) = engine.last_report() else { return Ok(cut_short(engine)) };
        if !place.json
            && let Verdict::Error { hint, .. } = &report.verdict
        {
            ui::note(&format!("hint: {hint}"));
        }
        Ok(Exit::from(&report.verdict))
    })
}

/// The exit of a gate that ralph's own end cut short.
fn cut_short(engine: &Engine<'_>) -> Exit {
    match engine.state().stopping {
        Some(StopRequest::Signal { signal }) => Exit::Signal(u8::try_from(signal).unwrap_or(0)),
        _ => Exit::NoVerdict,
    }
}

fn knows_changes(engine: &Engine<'_>, key: &crate::task::TaskKey) -> bool {
    let book = engine.state().book();
    kin::covered(book, key)
        .iter()
        .filter_map(|family| book.family(family))
        .any(|family| !family.changes.is_empty())
}

fn from_list_if_any(workspace: &Workspace) -> Result<Vec<FileChange>, Fault> {
    let path = workspace.places.diff();
    if path.is_file() { from_list(workspace, &path) } else { Ok(Vec::new()) }
}

/// The changes that a list of `<package>/<path>` lines names.
fn from_list(workspace: &Workspace, file: &Path) -> Result<Vec<FileChange>, Fault> {
    let text = fs_err::read(file).map_err(|error| {
        Fault::new(
            FaultKind::Unknown,
            format!("The list of changed files cannot be read: {error}."),
            "name another file",
        )
    })?;
    let text = String::from_utf8(text).map_err(|_| {
        Fault::new(FaultKind::Unknown, format!("{} is not UTF-8.", file.display()), "write one path a line")
    })?;
    let files = &workspace.settings.files;
    let classifier = Classifier::new(&files.test, &files.production, &files.build).map_err(|error| {
        Fault::new(FaultKind::Setup, error.to_string(), "mend files: in .ralph/config.yaml")
    })?;
    let repositories = workspace.repositories()?;
    let mut changes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() {
            continue;
        }
        let bad = |why: &str| {
            let what = format!("{}:{}: {why}.", file.display(), number + 1);
            Fault::new(FaultKind::Unknown, what, "a line is `<package>/<path in package>`, as git quotes it")
        };
        let whole = RepoPath::parse(line).to_bytes();
        let names = repositories.names();
        let (package, path) = names
            .iter()
            .find_map(|name| {
                let prefix = if name == "." { String::new() } else { format!("{name}/") };
                let rest = whole.strip_prefix(prefix.as_bytes())?;
                Some((name.clone(), rest.strip_prefix(b"./").unwrap_or(rest).to_vec()))
            })
            .ok_or_else(|| bad("no package of that name is known"))?;
        let escapes = path.split(|b| *b == b'/').any(|part| part == b"..") || path.first() == Some(&b'/');
        if escapes || path.is_empty() || path.contains(&0) {
            return Err(bad("the path leaves its package"));
        }
        let path = RepoPath::from_bytes(&path);
        let kind = classifier.kind(&path);
        let there = repositories.root(&package).is_some_and(|root| root.join(path.to_text()).is_file());
        let status = if there { FileStatus::Modified } else { FileStatus::Deleted };
        let new = there.then(Oid::zero);
        changes.push(FileChange { package, path, status, kind, old: Some(Oid::zero()), new });
    }
    Ok(changes)
}
