//! Gates of a replay, run again: all of them here, or shared out over jobs of CI by what they took, and joined again.

use super::{Fault, FaultKind, Workspace, ui};
use crate::engine::{JOURNAL, Judgement, Run, standard_report};
use crate::report::replay::{FindingGrade, ReplayFinding, Replayed, judged_otherwise};
use crate::report::standard::other_fate;
use crate::source::text::line;
use crate::source::{MAX_SHARDS, Shard};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bytes of one job's result.
const MAX_RESULT: u64 = 256 << 20;
/// Characters of a verdict that a part claims.
const SHOWN: usize = 60;

/// The share of a part.
pub(super) fn share_of(shard: Shard, all: &[Judgement]) -> Vec<&Judgement> {
    split_judgements(all, shard.part_count()).swap_remove(shard.index())
}

/// The share of a part, or all, in the order of their records.
pub(super) fn select_judgements(part: Option<Shard>, all: &[Judgement]) -> Vec<&Judgement> {
    let mut chosen = share_of(part.unwrap_or(Shard::WHOLE), all);
    chosen.sort_by_key(|judgement| judgement.record);
    chosen
}

/// The CI system that a list of jobs is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Matrix {
    /// An object for `strategy.matrix` with `fromJSON`
    Github,
    /// A list for `parallel: matrix:`
    Gitlab,
    /// Each job as an object with its details
    Json,
}

/// Flags of the verbs whose gates are shared out over jobs of CI.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// Join the results of all parts, as `--json` printed them into files `*.json` of this folder
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    pub merge: Option<PathBuf>,
    /// Print the parts for a CI system, and do nothing else
    #[arg(long, value_enum, value_name = "FOR")]
    pub matrix: Option<Matrix>,
    /// How many parts --matrix makes
    #[arg(long, value_name = "N", default_value_t = 4, requires = "matrix")]
    pub shards: usize,
}

impl PartArgs {
    /// Prints the parts if the call requests nothing else; true if it did.
    pub(super) fn print_parts(&self, all: &[Judgement]) -> bool {
        self.matrix.is_some_and(|matrix| {
            print_matrix(all, self.shards, matrix);
            true
        })
    }
}

/// The judgements by part, each part about as long as the others: the longest goes first, to the shortest part.
fn split_judgements(all: &[Judgement], of: usize) -> Vec<Vec<&Judgement>> {
    let mut parts: Vec<(u64, Vec<&Judgement>)> = vec![(0, Vec::new()); of];
    let mut sorted: Vec<&Judgement> = all.iter().collect();
    sorted.sort_by_key(|judgement| (std::cmp::Reverse(judgement.report.millis), judgement.record));
    for judgement in sorted {
        if let Some((millis, part)) = parts
            .iter_mut()
            .min_by_key(|(millis, part)| (*millis, part.len()))
        {
            *millis += judgement.report.millis.max(1);
            part.push(judgement);
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Prints the parts for a CI system.
fn print_matrix(all: &[Judgement], of: usize, matrix: Matrix) {
    let of = of.clamp(1, MAX_SHARDS).min(all.len().max(1));
    let names: Vec<String> = Shard::all_of(of).map(|shard| shard.to_string()).collect();
    match matrix {
        Matrix::Github => ui::print_json(&json!({ "shard": names })),
        Matrix::Gitlab => ui::print_json(&json!([{ "SHARD": names }])),
        Matrix::Json => {
            for (name, part) in names.iter().zip(split_judgements(all, of)) {
                let records: Vec<u64> = part.iter().map(|judgement| judgement.record).collect();
                let millis: u64 = part.iter().map(|judgement| judgement.report.millis).sum();
                ui::print_json(&json!({ "shard": name, "records": records, "millis": millis }));
            }
        }
    }
}

/// Runs gates again, and compares.
pub(super) fn rerun_gates(
    workspace: &Workspace,
    run: &mut Run,
    shard: Option<Shard>,
) -> Result<(), Fault> {
    let mut outside = workspace.open_outside()?;
    for Judgement {
        record,
        order,
        changes,
        report,
        left,
    } in select_judgements(shard, &run.judgements)
    {
        let finding = match outside.judge_again(order, changes) {
            Ok((again, folder)) => {
                run.found.measured_again(*record, &again.engines());
                let Some((grade, what)) = judged_otherwise(report, &again, || {
                    other_fate(
                        &standard_report(left.as_ref()?)?,
                        &standard_report(&folder)?,
                    )
                }) else {
                    run.found.judged_again(*record, again.verdict.word());
                    continue;
                };
                let hint = "read both reports; another engine, JDK or tool can judge otherwise";
                ReplayFinding::new(grade, format!("{}: {what}", order.key), hint)
            }
            Err(fault) => ReplayFinding::new(
                FindingGrade::Unknown,
                format!("{}: {fault}", order.key),
                fault.hint,
            ),
        };
        run.found
            .findings
            .push(finding.at(JOURNAL, (*record).try_into().ok()));
    }
    Ok(())
}

/// A sentence for each part that no file of the folder holds.
pub(super) fn missing_parts(results: &BTreeMap<Shard, Value>, folder: &Path) -> Vec<String> {
    let folder = folder.display();
    let Some(any) = results.keys().next() else {
        return vec![format!("No part is in {folder}.")];
    };
    Shard::all_of(any.part_count())
        .filter(|shard| !results.contains_key(shard))
        .map(|shard| format!("Part {shard} is missing in {folder}."))
        .collect()
}

type ShardResults = (BTreeMap<Shard, Value>, Vec<String>);

/// The results in the files `*.json` of a folder, by part; for each other file why it is left out, a whole sentence.
pub(super) fn read_parts(folder: &Path, head: &str, whole: &str) -> Result<ShardResults, Fault> {
    let entries = fs_err::read_dir(folder).map_err(|error| {
        let what = format!("The folder of --merge cannot be read: {error}.");
        Fault::new(FaultKind::Unknown, what, "name the folder with the parts").caused_by(error)
    })?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    let (mut results, mut left_out) = (BTreeMap::<Shard, Value>::new(), Vec::new());
    for path in paths {
        let bytes = crate::sys::disk::read_beginning(&path, MAX_RESULT)?.unwrap_or_default();
        let result: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let of_this = result["shard"].as_str().filter(|_| result["head"] == head);
        let why = match of_this.and_then(|name| name.parse::<Shard>().ok()) {
            None => format!("is no part of this {whole}"),
            Some(shard) if results.contains_key(&shard) => format!("is part {shard} again"),
            Some(shard)
                if results
                    .keys()
                    .any(|other| other.part_count() != shard.part_count()) =>
            {
                format!("is part {shard}, of another split than the files before it")
            }
            Some(shard) => {
                results.insert(shard, result);
                continue;
            }
        };
        left_out.push(format!("{} {why}.", path.display()));
    }
    Ok((results, left_out))
}

/// Joins the results of all parts, which `ralph replay --shard k/n --json` printed into files of this folder. A part is
/// believed for the records of its share alone.
pub(super) fn merge_parts(
    folder: &Path,
    judgements: &[Judgement],
    found: &mut Replayed,
) -> Result<(), Fault> {
    let (results, left_out) = read_parts(folder, &found.head, "replay")?;
    found
        .findings
        .extend(left_out.into_iter().map(unknown_part));
    let mut left: BTreeSet<u64> = judgements
        .iter()
        .map(|judgement| judgement.record)
        .collect();
    for (shard, result) in &results {
        let share: BTreeMap<u64, &Judgement> = share_of(*shard, judgements)
            .into_iter()
            .map(|judgement| (judgement.record, judgement))
            .collect();
        for gate in result["gates"].as_array().into_iter().flatten() {
            let judgement = gate["record"]
                .as_u64()
                .and_then(|record| share.get(&record));
            let Some(Judgement {
                record,
                order,
                report,
                ..
            }) = judgement
            else {
                continue;
            };
            if let Some(engine) = gate["engine_again"].as_str() {
                found.measured_again(*record, engine);
            }
            let word = report.verdict.word();
            match gate["again"].as_str() {
                None => continue,
                Some(again) if again == word => found.judged_again(*record, word),
                Some(again) => {
                    let what = format!("{}: {word} then, {} now.", order.key, line(again, SHOWN));
                    let finding = ReplayFinding::new(
                        FindingGrade::Differs,
                        what,
                        "read that part's file and its log",
                    );
                    found
                        .findings
                        .push(finding.at(JOURNAL, (*record).try_into().ok()));
                }
            }
            left.remove(record);
        }
        for told in result["findings"].as_array().into_iter().flatten() {
            let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
            let grade = if told["grade"] == "unknown" {
                FindingGrade::Unknown
            } else {
                FindingGrade::Differs
            };
            let record = told["line"].as_u64();
            let at = record.and_then(|record| usize::try_from(record).ok());
            let finding =
                ReplayFinding::new(grade, text("what"), text("hint")).at(text("place"), at);
            if let Some(record) =
                record.filter(|record| share.contains_key(record) && told["place"] == JOURNAL)
            {
                left.remove(&record);
            }
            if !found.findings.contains(&finding) {
                found.findings.push(finding);
            }
        }
    }
    let missing = missing_parts(&results, folder);
    found.findings.extend(missing.into_iter().map(unknown_part));
    if !left.is_empty() {
        let records: Vec<String> = left.iter().map(u64::to_string).collect();
        let what = format!(
            "No part holds the gates of the records {}.",
            records.join(", ")
        );
        found.findings.push(unknown_part(what));
    }
    Ok(())
}

fn unknown_part(what: String) -> ReplayFinding {
    let hint = "run that part again, and merge again";
    ReplayFinding::new(FindingGrade::Unknown, what, hint)
}
