//! Gates of a replay, run again: all of them here, or shared out over jobs of CI by what they took, and joined again.

use super::ui;
use super::workspace::Workspace;
use crate::engine::{Fault, JOURNAL, Judgement, Run};
use crate::report::replay::{Finding, Grade, Replayed, judged_otherwise};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Jobs that gates are shared out over at most.
const MAX_SHARDS: usize = 256;
/// Bytes of one job's result.
const MAX_RESULT: u64 = 256 << 20;

/// The k-th of n parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// Its share of these.
    pub(super) fn of(self, all: &[Judgement]) -> Vec<&Judgement> {
        shares(all, self.of).swap_remove(self.number - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= MAX_SHARDS => Ok(Self { number, of }),
            _ => Err(format!("a part is `k/n`, from 1/n to n/n, n at most {MAX_SHARDS}")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The CI system that a list of jobs is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Matrix {
    /// An object for `strategy.matrix` with `fromJSON`
    Github,
    /// A list for `parallel: matrix:`
    Gitlab,
    /// Each part with its records and what they took
    Json,
}

/// The judgements by part, each part about as long as the others: the longest goes first, to the shortest part.
fn shares(all: &[Judgement], of: usize) -> Vec<Vec<&Judgement>> {
    let mut parts: Vec<(u64, Vec<&Judgement>)> = vec![(0, Vec::new()); of];
    let mut sorted: Vec<&Judgement> = all.iter().collect();
    sorted.sort_by_key(|judgement| (std::cmp::Reverse(judgement.report.millis), judgement.record));
    for judgement in sorted {
        if let Some((millis, part)) = parts.iter_mut().min_by_key(|(millis, part)| (*millis, part.len())) {
            *millis += judgement.report.millis.max(1);
            part.push(judgement);
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Prints the parts for a CI system.
pub(super) fn print_matrix(all: &[Judgement], of: usize, matrix: Matrix) {
    let of = of.clamp(1, MAX_SHARDS).min(all.len().max(1));
    let names: Vec<String> = (1..=of).map(|number| format!("{number}/{of}")).collect();
    match matrix {
        Matrix::Github => ui::json(&json!({ "shard": names })),
        Matrix::Gitlab => ui::json(&json!([{ "SHARD": names }])),
        Matrix::Json => {
            for (name, part) in names.iter().zip(shares(all, of)) {
                let records: Vec<u64> = part.iter().map(|judgement| judgement.record).collect();
                let millis: u64 = part.iter().map(|judgement| judgement.report.millis).sum();
                ui::json(&json!({ "shard": name, "records": records, "millis": millis }));
            }
        }
    }
}

/// Runs gates again, and compares.
pub(super) fn rerun(workspace: &Workspace, run: &mut Run, shard: Option<Shard>) -> Result<(), Fault> {
    let mut chosen = shard.unwrap_or(Shard { number: 1, of: 1 }).of(&run.judgements);
    chosen.sort_by_key(|judgement| judgement.record);
    let mut outside = workspace.outside()?;
    for Judgement { record, order, changes, report } in chosen {
        let finding = match outside.judge_again(order, changes) {
            Ok(again) => {
                run.found.measured_again(*record, &again.engines());
                let Some((grade, what)) = judged_otherwise(report, &again) else {
                    run.found.judged_again(*record, again.verdict.word());
                    continue;
                };
                let hint = "read both reports; another engine, JDK or tool can judge otherwise";
                Finding::new(grade, format!("{}: {what}", order.key), hint)
            }
            Err(fault) => Finding::new(Grade::Unknown, format!("{}: {fault}", order.key), fault.hint),
        };
        run.found.findings.push(finding.at(JOURNAL, (*record).try_into().ok()));
    }
    Ok(())
}

/// The results in the files `*.json` of a folder, by part; and those that are no part of what has this head.
pub(super) fn parts(folder: &Path, head: &str) -> Result<(BTreeMap<String, Value>, Vec<PathBuf>), Fault> {
    let (mut shards, mut wrong) = (BTreeMap::new(), Vec::new());
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = crate::sys::disk::read_beginning(&path, MAX_RESULT)?.unwrap_or_default();
        let result: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match result["shard"].as_str().map(str::to_owned) {
            Some(name) if result["head"] == head => drop(shards.insert(name, result)),
            _ => wrong.push(path),
        }
    }
    Ok((shards, wrong))
}

/// Joins the results of all parts, which `ralph replay --shard k/n --json` printed into files of this folder.
pub(super) fn merge(folder: &Path, judgements: &[Judgement], found: &mut Replayed) -> Result<(), Fault> {
    let unknown = |what: String| Finding::new(Grade::Unknown, what, "run that part again, and merge again");
    let (shards, wrong) = parts(folder, &found.head)?;
    for path in wrong {
        found.findings.push(unknown(format!("{} is no part of this replay.", path.display())));
    }
    let mut left: BTreeSet<u64> = judgements.iter().map(|judgement| judgement.record).collect();
    for result in shards.values() {
        for gate in result["gates"].as_array().into_iter().flatten() {
            let Some(record) = gate["record"].as_u64() else { continue };
            if let Some(engine) = gate["engine_again"].as_str() {
                found.measured_again(record, engine);
            }
            if let Some(verdict) = gate["again"].as_str() {
                left.remove(&record);
                found.judged_again(record, verdict);
            }
        }
        for told in result["findings"].as_array().into_iter().flatten() {
            let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
            let grade = if told["grade"] == "unknown" { Grade::Unknown } else { Grade::Differs };
            let line = told["line"].as_u64().and_then(|line| usize::try_from(line).ok());
            let finding = Finding::new(grade, text("what"), text("hint")).at(text("place"), line);
            left.retain(|record| told["place"] != JOURNAL || line.map(|line| line as u64) != Some(*record));
            if !found.findings.contains(&finding) {
                found.findings.push(finding);
            }
        }
    }
    let of =
        shards.keys().filter_map(|name| name.parse::<Shard>().ok()).map(|shard| shard.of).max().unwrap_or(1);
    let names = (1..=of).map(|number| Shard { number, of }.to_string());
    for missing in names.filter(|name| !shards.contains_key(name)) {
        found.findings.push(unknown(format!("Part {missing} is missing in {}.", folder.display())));
    }
    if !left.is_empty() {
        let records: Vec<String> = left.iter().map(u64::to_string).collect();
        let what = format!("No part holds the gates of the records {}.", records.join(", "));
        found.findings.push(unknown(what));
    }
    Ok(())
}
