//! `ralph gate --stop-hook`: the gates at the end of an agent's turn, for sessions without a loop.
//!
//! Promises: the exit code is always 0, because hosts take exit code 2 as a block. Only a FAIL blocks, and
//! `crate::turn::stop_gate` bounds how often. A set-up that does not work lets the agent end and reports why.

use super::gate::{GateArgs, package_folders, refuse_unknown_gate};
use super::{Exit, Fault, Invocation, Workspace, cache_folder, ui};
use crate::engine::{CommitRange, Outside};
use crate::machine::facts::Oid;
use crate::mutation::{GateReport, Verdict};
use crate::report::annotations::ReportView;
use crate::report::human;
use crate::source::digest_parts;
use crate::sys::cache_file;
use crate::sys::process::is_inside_agent;
use crate::turn::stop_gate::{HookEvent, StopStep, TurnRecord, may_block, next_step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a hook's input that are read.
const LONGEST_INPUT: u64 = 1 << 20;
/// Characters of a reason. An agent reads it as a message.
const LONGEST_REASON: usize = 8_000;
/// Version of the stored [`TurnRecord`].
const VERSION: u32 = 1;
/// Records of sessions that are kept.
const KEPT: usize = 100;

/// `ralph gate --stop-hook`.
pub(super) fn answer_hook(call: Result<Invocation, Fault>, args: &GateArgs) -> Exit {
    match call.and_then(|call| answer(&call, args)) {
        Ok(Some(answer)) => ui::print_json(&answer),
        Ok(None) => {}
        Err(fault) => ui::print_json(&footer(&format!(
            "ralph gate gave no verdict on this turn: {fault}\nhint: {}",
            fault.hint
        ))),
    }
    Exit::Done
}

fn footer(text: &str) -> Value {
    json!({ "systemMessage": text })
}

/// Returns the JSON for the host; `None` if there is nothing to say.
fn answer(call: &Invocation, args: &GateArgs) -> Result<Option<Value>, Fault> {
    let event = read_event()?;
    // The gates of a loop judge its attempts.
    if is_inside_agent()? {
        return Ok(None);
    }
    let call = in_session(call, &event);
    // A host may call the hook in any project.
    let Ok(root) = call.find_workspace() else {
        return Ok(None);
    };
    let record_file = record_file(&root, &event.session_id)?;
    match event.hook_event_name.as_str() {
        "UserPromptSubmit" => {
            let workspace = call.read_settings(root)?.into_sound()?;
            let begin = heads_of(&mut workspace.open_outside()?);
            store(
                &record_file,
                &TurnRecord {
                    begin,
                    ..TurnRecord::default()
                },
            )?;
            Ok(None)
        }
        "Stop" => end_turn(&call, args, &event, &root, &record_file),
        _ => Ok(None),
    }
}

fn read_event() -> Result<HookEvent, Fault> {
    let mut input = Vec::new();
    io::stdin()
        .lock()
        .take(LONGEST_INPUT)
        .read_to_end(&mut input)?;
    serde_json::from_slice(&input).map_err(|error| {
        Fault::setup_fault(
            format!("The hook's input cannot be read: {error}."),
            "see docs/own-loop.md for the hooks that ralph understands",
        )
        .caused_by(error)
    })
}

/// Returns the call as from the session's folder, unless the workspace was named.
fn in_session(call: &Invocation, event: &HookEvent) -> Invocation {
    let mut call = call.clone();
    let folder = Path::new(&event.cwd);
    if call.root.is_none() && folder.is_absolute() {
        call.root = folder
            .ancestors()
            .find(|folder| folder.join(".ralph/config.yaml").is_file())
            .map(Path::to_owned);
    }
    call
}

/// Judges what the turn left, and blocks its end on a FAIL.
fn end_turn(
    call: &Invocation,
    args: &GateArgs,
    event: &HookEvent,
    root: &Path,
    record_file: &Path,
) -> Result<Option<Value>, Fault> {
    let record: Option<TurnRecord> = cache_file::load(record_file, VERSION);
    let workspace = at_begin(call, args, root, record.as_ref())?;
    let mut outside = workspace.open_outside()?;
    let work_trees = outside.commit_work_trees()?;
    let files = digest_parts(
        work_trees
            .iter()
            .flat_map(|(name, tree)| [name.as_str(), tree.files.0.as_str()]),
    );
    let known = record.as_ref().filter(|record| !record.files.is_empty());
    if let StopStep::LetGo(text) = next_step(known, event.stop_hook_active, &files) {
        return Ok(Some(footer(&text)));
    }
    let begin = match &record {
        Some(record) => record.begin.clone(),
        None => heads_of(&mut outside),
    };
    let range = CommitRange {
        bases: bases(&mut outside, args, &begin)?,
        heads: work_trees
            .into_iter()
            .map(|(name, tree)| (name, tree.commit))
            .collect(),
    };
    let judged = judge(&workspace, &mut outside, args, &range, false)?;
    let blocks = known
        .filter(|_| event.stop_hook_active)
        .map_or(0, |record| record.blocks);
    let is_blocked = judged.fails && may_block(blocks);
    // A block that is not counted could be repeated for ever, so an error here lets the agent end.
    store(
        record_file,
        &TurnRecord {
            begin,
            blocks: blocks + u32::from(is_blocked),
            files,
            verdict: judged.text.clone(),
        },
    )?;
    Ok(match judged {
        Judged { text, .. } if is_blocked => Some(json!({
            "decision": "block",
            "reason": format!("{text}\n{NEXT}"),
        })),
        Judged {
            is_silent: true, ..
        } => None,
        Judged { text, .. } => Some(footer(&text)),
    })
}

/// The instruction below the verdict of a block.
const NEXT: &str = "The gate ran on the files of this turn. Fix what it reports and check it. If you cannot, change \
nothing, and say what is wrong.";

/// Returns the workspace with the configuration that it had when the turn began: an agent does not change its judge.
fn at_begin(
    call: &Invocation,
    args: &GateArgs,
    root: &Path,
    record: Option<&TurnRecord>,
) -> Result<Workspace, Fault> {
    let begin = match (&args.since, record) {
        (Some(revision), _) => revision.clone(),
        (None, Some(record)) => begin_of_root(call, root, record)?,
        (None, None) => "HEAD".to_owned(),
    };
    call.read_at_base(root.to_owned(), &begin)
}

/// Returns HEAD of the repository that holds the workspace when the turn began.
fn begin_of_root(call: &Invocation, root: &Path, record: &TurnRecord) -> Result<String, Fault> {
    // The agent may have broken the configuration. The defaults find the packages then.
    let workspace = call.read_settings(root.to_owned())?.workspace;
    let repositories = workspace.open_repositories()?;
    let name = record.begin.keys().find(|name| {
        let folder = repositories.repository_folder(name);
        folder.is_some_and(|folder| root.starts_with(folder))
    });
    let head = name.and_then(|name| record.begin.get(name));
    Ok(head.cloned().unwrap_or_else(|| "HEAD".to_owned()))
}

fn heads_of(outside: &mut Outside) -> BTreeMap<String, String> {
    let heads = outside.current_heads().into_iter();
    heads.map(|(name, head)| (name, head.to_string())).collect()
}

/// Returns the commits before the work: those of `--since`, else HEAD of each package when the turn began.
fn bases(
    outside: &mut Outside,
    args: &GateArgs,
    begin: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Oid>, Fault> {
    if let Some(revision) = &args.since {
        return Ok(outside.changes_since(revision)?.1);
    }
    let bases = begin.iter();
    Ok(bases
        .map(|(name, head)| (name.clone(), Oid(head.clone())))
        .collect())
}

/// The verdicts of all gates that ran.
pub(super) struct Judged {
    /// A gate failed.
    pub(super) fails: bool,
    /// A gate gave no verdict.
    pub(super) has_error: bool,
    /// No gate had anything to judge.
    pub(super) is_silent: bool,
    /// The verdicts, for people and agents.
    pub(super) text: String,
}

/// Runs the named gate, or all gates of the configuration up to the first FAIL.
pub(super) fn judge(
    workspace: &Workspace,
    outside: &mut Outside,
    args: &GateArgs,
    range: &CommitRange,
    always_private: bool,
) -> Result<Judged, Fault> {
    let gates: Vec<String> = match &args.gate {
        Some(gate) => vec![gate.clone()],
        None => workspace.settings.gates.keys().cloned().collect(),
    };
    let folders = package_folders(workspace)?;
    let mut judged = Judged {
        fails: false,
        has_error: false,
        is_silent: true,
        text: String::new(),
    };
    for gate in &gates {
        if !workspace.settings.gates.contains_key(gate) {
            refuse_unknown_gate(workspace, gate)?;
        }
        let folder = outside.folder_alone()?;
        let report = outside.judge_range(gate, range, folder, always_private)?;
        judged.has_error |= matches!(report.verdict, Verdict::Error { .. });
        if matches!(report.verdict, Verdict::Skip { .. }) {
            continue;
        }
        judged.is_silent = false;
        judged.text += &verdict_text(gate, &report, &folders);
        if matches!(report.verdict, Verdict::Fail { .. }) {
            judged.fails = true;
            break;
        }
    }
    judged.text = match judged.text.trim_end() {
        "" => "ralph gate: nothing to judge.".to_owned(),
        text => shorten(text),
    };
    Ok(judged)
}

fn verdict_text(
    gate: &str,
    report: &GateReport,
    folders: &crate::report::annotations::Folders,
) -> String {
    let shown = ReportView {
        gate,
        report,
        folders,
        fail_on_skip: false,
    };
    human::report_lines(&shown).join("\n") + "\n"
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REASON) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

/// The file with the record of a session in a workspace.
fn record_file(root: &Path, session: &str) -> Result<PathBuf, Fault> {
    let name = digest_parts([root.as_os_str().as_encoded_bytes(), session.as_bytes()]);
    Ok(cache_folder()?.join("turns").join(format!("{name}.json")))
}

/// Stores the record, and removes the oldest of too many.
fn store(file: &Path, record: &TurnRecord) -> Result<(), Fault> {
    cache_file::store(file, VERSION, record)?;
    let folder = file.parent().unwrap_or(file);
    let mut all: Vec<_> = fs_err::read_dir(folder)?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    for (_, old) in all.iter().take(all.len().saturating_sub(KEPT)) {
        // Another session may remove it at the same time.
        let _ = fs_err::remove_file(old);
    }
    Ok(())
}
