//! `ralph replay`: a run made again from its journal and git's objects, and compared. It changes nothing.

use super::output::Format;
use super::replay_gates::{PartArgs, merge_parts, rerun_gates};
use super::status::show_film;
use super::{Exit, Fault, Invocation, RealDisk, Workspace, ui};
use crate::engine::{JOURNAL, Replay, Run, first_other_line, unpack_bundle};
use crate::report::replay::{FindingGrade, ReplayFinding, Replayed};
use crate::source::Shard;
use crate::source::text::count;
use crate::sys::Disk as _;
use clap::Args;
use std::path::{Path, PathBuf};

/// Flags of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// An earlier copy of the journal: the journal must begin with it
    #[arg(long, value_name = "JOURNAL")]
    pub since: Option<PathBuf>,
    /// The chain's head that a run printed: one of the records must have this hash
    #[arg(long, value_name = "HASH", value_parser = parse_anchor)]
    pub require_anchor: Option<String>,
    /// Replay a file that `ralph bundle` made, and nothing else
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Go through the run record by record: what ralph saw, wrote and decided; as text where there is no terminal
    #[arg(long, conflicts_with_all = ["rerun_gates", "merge", "matrix"])]
    pub step: bool,
    /// Run each gate again on the commits that it judged, in a clean checkout
    #[arg(long, conflicts_with = "merge")]
    pub rerun_gates: bool,
    /// Run only this part of the gates: `1/3`
    #[arg(long, value_name = "K/N", requires = "rerun_gates")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub parts: PartArgs,
}

pub(super) fn run_replay(call: &Invocation, args: &ReplayArgs) -> Result<Exit, Fault> {
    let folder = tempfile::tempdir()?;
    let workspace = match &args.bundle {
        Some(file) => call
            .read_settings(unpack_bundle(file, folder.path())?)?
            .into_sound()?,
        None => call.open_workspace()?,
    };
    if args.step {
        return show_film(&workspace, call.json);
    }
    let mut repositories = workspace.open_repositories();
    let git = repositories.as_mut().map_err(|fault| fault.clone());
    let mut run =
        Replay::new(&RealDisk::new(), &workspace.places, &workspace.rules, git).run_replay()?;
    if args.parts.print_parts(&run.judgements) {
        return Ok(Exit::Done);
    }
    if args.rerun_gates {
        rerun_gates(&workspace, &mut run, args.shard)?;
    }
    let Run {
        mut found,
        judgements,
        ..
    } = run;
    if let Some(folder) = &args.parts.merge {
        merge_parts(folder, &judgements, &mut found)?;
    }
    check_anchors(&workspace, args, &mut found)?;
    show(call.format, &found, args.shard)?;
    Ok(match found.worst_grade() {
        None => Exit::Done,
        Some(FindingGrade::Differs) => Exit::WorkLeft,
        Some(FindingGrade::Unknown) => Exit::NoVerdict,
    })
}

/// Shows the result. Errors are also on standard error, unless the answer is JSON.
fn show(format: Format, found: &Replayed, shard: Option<Shard>) -> Result<(), Fault> {
    if format == Format::Json {
        let mut facts = found.replay_facts();
        facts["shard"] = shard.map(|shard| shard.to_string()).into();
        ui::print_json(&facts);
        return Ok(());
    }
    for finding in &found.findings {
        ui::print_error(&finding.to_string(), &finding.hint);
    }
    if format == Format::Junit {
        ui::print_line(&found.junit_report()?);
        return Ok(());
    }
    found
        .replay_lines()
        .iter()
        .for_each(|line| ui::print_line(line));
    if format == Format::Github {
        found
            .github_commands()
            .iter()
            .for_each(|line| ui::print_line(line));
    }
    Ok(())
}

fn parse_anchor(typed: &str) -> Result<String, String> {
    let hash = typed.trim();
    if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(hash.to_owned())
    } else {
        Err("it is not a hash of 64 hex digits".to_owned())
    }
}

/// Holds the journal against what was kept of it elsewhere.
fn check_anchors(
    workspace: &Workspace,
    args: &ReplayArgs,
    found: &mut Replayed,
) -> Result<(), Fault> {
    let journal = RealDisk::new()
        .read(&workspace.places.journal_file())?
        .unwrap_or_default();
    if let Some(file) = &args.since {
        let earlier = fs_err::read(file).map_err(|error| {
            Fault::setup_fault(
                format!("{error}."),
                "name a copy of .ralph/state/journal.jsonl",
            )
            .caused_by(error)
        })?;
        if !earlier.contains(&b'\n') {
            let what = format!(
                "{} holds no whole record, so it is no copy of a journal.",
                file.display()
            );
            return Err(Fault::setup_fault(
                what,
                "name an earlier copy of .ralph/state/journal.jsonl",
            ));
        }
        found
            .unchecked
            .extend(records_after(&earlier, found.records));
        found
            .findings
            .extend(not_a_prefix(&earlier, &journal, file));
    }
    match &args.require_anchor {
        Some(anchor) => found
            .findings
            .extend(no_anchor(anchor, &journal, found.records)),
        None if args.since.is_none() => found.unchecked.push(
            "Nothing says that no record was cut off at the end (`--require-anchor`, `--since`)."
                .to_owned(),
        ),
        None => {}
    }
    Ok(())
}

/// Returns a sentence about the records that an earlier copy does not reach.
fn records_after(earlier: &[u8], records: u64) -> Option<String> {
    let known = earlier
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .count() as u64;
    (known < records).then(|| {
        format!(
            "The earlier copy ends with record {known} of {records}; it does not show a cut behind these."
        )
    })
}

/// Returns the first difference of a journal from an earlier copy.
///
/// The copy's last line may be incomplete.
fn not_a_prefix(earlier: &[u8], journal: &[u8], file: &Path) -> Option<ReplayFinding> {
    if journal.starts_with(earlier) {
        return None;
    }
    let record = first_other_line(earlier, journal);
    let what = format!(
        "The journal does not begin with {}: this record is another one, or gone.",
        file.display()
    );
    let hint = "records that once were written never change: find out who wrote to the journal";
    Some(ReplayFinding::new(FindingGrade::Differs, what, hint).at(JOURNAL, Some(record)))
}

fn no_anchor(anchor: &str, journal: &[u8], records: u64) -> Option<ReplayFinding> {
    let start = format!("{{\"h\":\"{anchor}\"");
    if journal
        .split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(start.as_bytes()))
    {
        return None;
    }
    let what = format!(
        "None of the {} has the anchored hash {anchor}.",
        count(records, "record")
    );
    let hint = "records were removed or rewritten since `ralph run` printed this head, or it is another run's";
    Some(ReplayFinding::new(FindingGrade::Differs, what, hint))
}
