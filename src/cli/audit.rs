//! `ralph audit --past`: a gate on the ticks in a repository's history, by any author.
//!
//! It changes nothing.

use super::environment::{CONFIG, unsound_settings};
use super::gate::unknown_gate;
use super::output::Format;
use super::replay_gates::{PartArgs, read_parts, select_judgements, share_of};
use super::report::show_page;
use super::{Exit, Fault, FaultKind, Invocation, Workspace, ui};
use crate::config;
use crate::engine::{BoxCriterion, Judgement, Outside, Past, Range, World as _, read_past};
use crate::machine::event::StopRequest;
use crate::mutation::{NoCoverage, Verdict};
use crate::report::audit::PastBox;
use crate::report::audit_page::audit_page;
use crate::source::Shard;
use crate::source::text::{duration, line, names};
use crate::sys::clock::{self, Stopwatch};
use crate::task::spoken_id;
use anyhow::bail;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// The gate of each language, which needs no configuration.
const GATE: &str = "MUTATION";
/// The path where none is typed.
const HERE: &str = ".";
/// Boxes that the line of progress names.
const NAMED: usize = 3;

/// Flags of `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// The repository whose history is judged; the current folder, or --root, when left out
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = HERE, required = true)]
    pub past: PathBuf,
    /// What counts as a box
    #[arg(long, value_enum, value_name = "WHAT", default_value = "boxes")]
    pub by: What,
    /// Only what was ticked after this commit
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// The gate; that of each file's language when left out
    #[arg(long, value_name = "NAME", default_value = GATE)]
    pub gate: String,
    /// Run what the repository's own configuration says of the gate: commands, arguments, variables
    #[arg(long)]
    pub trust: bool,
    /// Judge only this part: `1/3`
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub parts: PartArgs,
}

/// Unit that counts as a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Each box of tasks.md that a commit ticked, on the commits since the tick before it
    Boxes,
    /// Each commit, against its first parent
    Commit,
    /// Each tag, against the one before it
    Tag,
}

pub(super) fn run_audit(call: &Invocation, args: &AuditArgs) -> anyhow::Result<Exit> {
    let mut workspace = open_folder(call, &args.past)?;
    let tasks = workspace.places.tasks_file();
    let by = match args.by {
        What::Boxes => BoxCriterion::Boxes,
        What::Commit => BoxCriterion::Commit,
        What::Tag => BoxCriterion::Tag,
    };
    name_gate(&mut workspace, &args.gate)?;
    if !args.trust {
        distrust_settings(call, &mut workspace, &args.gate)?;
    }
    let rules = &workspace.rules;
    let repositories = &mut workspace.open_repositories()?;
    let mut past = read_past(
        repositories,
        rules,
        &tasks,
        by,
        args.since.as_deref(),
        &args.gate,
    )?;
    if past.audit.boxes.is_empty() {
        let hint = "`--by commit` or `--by tag` names other boxes, `--spec DIR` the folder of another task file";
        let what = "This history ticked no box, so there is nothing to audit.";
        bail!(Fault::new(FaultKind::Unknown, what, hint));
    }
    let all: Vec<Judgement> = past
        .ranges
        .iter()
        .map(|range| range.judgement.clone())
        .collect();
    if args.parts.print_parts(&all) {
        return Ok(Exit::Done);
    }
    let ended = if let Some(folder) = &args.parts.merge {
        merge_parts(folder, &all, &mut past).map(|()| None)?
    } else {
        judge_ranges(&workspace, &select_judgements(args.shard, &all), &mut past)?
    };
    let mut audit = past.audit;
    if args.shard.is_some() {
        audit.boxes.retain(|it| it.verdict.is_some());
    } else {
        audit.end_undetermined(
            "It was not judged.",
            "run the audit again, or the part that is missing",
        );
    }
    match call.format {
        Format::Markdown | Format::Html => {
            show_page(call, &audit_page(&audit, clock::zone().as_ref()))?;
        }
        format => {
            let mut facts = audit.audit_facts();
            facts["shard"] = args.shard.map(|shard| shard.to_string()).into();
            ui::print_answer(
                format == Format::Json,
                &facts,
                &audit.audit_lines().join("\n"),
            );
        }
    }
    Ok(ended.unwrap_or_else(
        || match (audit.count_verdict("FAIL"), audit.count_verdict("ERROR")) {
            (0, 0) => Exit::Done,
            (0, _) => Exit::NoVerdict,
            _ => Exit::WorkLeft,
        },
    ))
}

/// The folder that is audited, with its configuration if it has one.
fn open_folder(call: &Invocation, path: &Path) -> Result<Workspace, Fault> {
    let named = call.root.clone().filter(|_| path == Path::new(HERE));
    let root_by = if named.is_some() {
        call.root_by
    } else {
        "--past"
    };
    let root = named.or_else(|| Some(path.to_owned()));
    let call = Invocation {
        root,
        root_by,
        ..call.clone()
    };
    call.read_settings(call.start_folder()?)?.into_sound()
}

/// Sees that the gate is there: that of each file's language judges as PITEST where nothing is written of it.
fn name_gate(workspace: &mut Workspace, gate: &str) -> Result<(), Fault> {
    let gates = &mut workspace.settings.gates;
    if gate == GATE
        && !gates.contains_key(GATE)
        && let Some(settings) = gates.get("PITEST").cloned()
    {
        gates.insert(GATE.to_owned(), settings);
    }
    if !gates.contains_key(gate) {
        return Err(unknown_gate(workspace, gate));
    }
    Ok(())
}

/// Replaces the repository's settings of a gate by the defaults. An auditor may not know the people behind it.
///
/// Errors: the gate is a command.
fn distrust_settings(
    call: &Invocation,
    workspace: &mut Workspace,
    gate: &str,
) -> Result<(), Fault> {
    let defaults = config::parse("", &workspace.places.workspace, &call.given)
        .map_err(|error| unsound_settings(&error))?;
    let Some(own) = workspace.settings.gates.get_mut(gate) else {
        return Ok(());
    };
    if let Some(command) = &own.run {
        let what = format!(
            "The gate {gate} is a command of this repository's {CONFIG}: {}.",
            line(&command.join(" "), 200)
        );
        return Err(Fault::setup_fault(what, "read it; `--trust` runs it"));
    }
    let Some(default) = defaults.gates.get("PITEST") else {
        return Ok(());
    };
    if own != default {
        ui::print_note(&format!(
            "note: {gate} judges with the defaults, not with what {CONFIG} of this repository says.\n  hint: read it; `--trust` takes it"
        ));
        own.clone_from(default);
    }
    Ok(())
}

/// Returns the indexes of a judgement's boxes; its record is the number of its range.
fn judged_boxes<'r>(ranges: &'r [Range], judgement: &Judgement) -> &'r [usize] {
    let range = usize::try_from(judgement.record)
        .ok()
        .and_then(|at| ranges.get(at));
    range.map_or(&[], |range| &range.boxes)
}

/// Runs the gate and shows the progress.
///
/// Returns the exit of an early end.
fn judge_ranges(
    workspace: &Workspace,
    chosen: &[&Judgement],
    past: &mut Past,
) -> Result<Option<Exit>, Fault> {
    let Past { audit, ranges } = past;
    let no_coverage = workspace
        .settings
        .gates
        .get(&audit.gate)
        .map(|gate| gate.no_coverage);
    let no_coverage = no_coverage.unwrap_or(NoCoverage::Survived);
    let mut outside: Outside = workspace.open_outside()?;
    let watch = Stopwatch::start();
    for (at, judgement) in chosen.iter().enumerate() {
        let (done, left) = chosen.split_at(at);
        let rest = match sum_millis(done) {
            0 => String::new(),
            known => {
                let millis =
                    u128::from(watch.millis()) * u128::from(sum_millis(left)) / u128::from(known);
                format!(
                    ", about {} left",
                    duration(u64::try_from(millis / 1_000).unwrap_or(u64::MAX))
                )
            }
        };
        let own = judged_boxes(ranges, judgement);
        let tasks = own
            .iter()
            .filter_map(|at| audit.boxes.get(*at))
            .map(|it| spoken_id(&it.task));
        ui::print_note(&format!(
            "[{}/{}] {}{rest}",
            at + 1,
            chosen.len(),
            names(tasks, NAMED)
        ));
        let report = match outside.judge_again(&judgement.order, &judgement.changes) {
            Ok((report, _)) => report,
            Err(fault) => Verdict::Error {
                why: fault.to_string(),
                hint: fault.hint,
                transient: false,
            }
            .into(),
        };
        if let Some(StopRequest::Signal { signal }) = outside.stop_request() {
            return Ok(Some(Exit::Signal(signal)));
        }
        audit.take_judgement(own, &report, &judgement.changes, no_coverage);
    }
    Ok(None)
}

fn sum_millis(part: &[&Judgement]) -> u64 {
    part.iter().map(|judgement| judgement.report.millis).sum()
}

/// Joins what `ralph audit --shard k/n --json` printed into files of this folder. A part is believed for the boxes of its
/// share alone.
fn merge_parts(folder: &Path, all: &[Judgement], past: &mut Past) -> Result<(), Fault> {
    let Past { audit, ranges } = past;
    let (results, left_out) = read_parts(folder, &audit.head, "audit")?;
    audit.remarks.extend(left_out);
    for (shard, result) in results {
        if result["gate"] != audit.gate.as_str() || result["by"] != audit.by.as_str() {
            audit.remarks.push(format!(
                "Part {shard} is of an audit with another --gate or --by."
            ));
            continue;
        }
        let Ok(part) = serde_json::from_value::<Vec<PastBox>>(result["boxes"].clone()) else {
            audit
                .remarks
                .push(format!("The boxes of part {shard} cannot be read."));
            continue;
        };
        let share = share_of(shard, all);
        audit.join_part(
            share
                .iter()
                .flat_map(|judgement| judged_boxes(ranges, judgement)),
            part,
        );
    }
    Ok(())
}
