//! Repositories in which somebody is in the middle of something.
//!
//! Owns: what that means for a run.
//!
//! Promises: warnings only, each repository once; what the loop's own agents began is told too.
//!
//! Refuses to know: git.

use super::finding::{Finding, Level};
use crate::git::Underway;
use crate::machine::facts::{Oid, PackageState};

/// What is under way in the repository of a package, which stands in this folder.
pub(super) fn findings(folder: &str, now: &PackageState, underway: &Underway) -> Vec<Finding> {
    let warning = |rule: &'static str, what: String, hint: String| {
        let found = Finding::new(Level::Warning, rule, now.name.clone(), what, hint);
        Finding { path: Some(folder.into()), ..found }
    };
    let mut findings = Vec::new();
    if let Some(operation) = underway.operation {
        let end = match operation {
            "bisect" => "`git bisect reset` ends it".to_owned(),
            _ => format!("`git {operation} --continue` or `git {operation} --abort` ends it"),
        };
        let what =
            format!("A `git {operation}` is not ended here: an agent's commits would become part of it.");
        findings.push(warning("unfinished-operation", what, format!("In {folder}, {end}.")));
    } else if now.branch.is_none() && now.head != Oid::zero() {
        let what = "HEAD is detached here: an agent's commits would stand on no branch.".to_owned();
        let hint = format!(
            "In {folder}, `git switch BRANCH` checks one out, `git switch --create BRANCH` makes one here."
        );
        findings.push(warning("detached-head", what, hint));
    }
    if underway.is_locked {
        let what =
            "The index is locked (index.lock): a git is at work here, or one died; no agent could commit.";
        let hint = format!("Wait for that git; when there is none, remove the index.lock in {folder}/.git.");
        findings.push(warning("locked-index", what.to_owned(), hint));
    }
    findings
}
