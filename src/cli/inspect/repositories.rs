//! The state of the packages' repositories: what a run could not begin with, or should not.

use super::{CONFIG, InspectionFinding, Package, State, Workspace};
use crate::git::{GitError, GitErrorKind, Underway};
use crate::machine::facts::{Oid, PackageState, full_path};
use crate::source::RepoPath;
use std::collections::HashSet;

/// Looks at all packages: the readable ones, `None` if not even their names are known; and what is wrong.
pub(super) fn inspect_repositories(
    workspace: &Workspace,
    state: Option<&State>,
) -> (Option<Vec<Package>>, Vec<InspectionFinding>) {
    let mut repositories = match workspace.find_repositories() {
        Ok(found) => found,
        Err(fault) => {
            return (
                None,
                vec![InspectionFinding::new_error(
                    "no-packages",
                    CONFIG,
                    fault.what,
                    fault.hint,
                )],
            );
        }
    };
    let (mut packages, mut findings) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for (name, surveyed) in repositories.survey_packages() {
        let root = repositories
            .package_root(&name)
            .unwrap_or(&workspace.places.workspace)
            .to_owned();
        let folder = workspace.places.display_path(&root);
        match surveyed.and_then(|now| Ok((now, repositories.find_underway(&name)?))) {
            Ok((now, underway)) => {
                findings.extend(uncommitted_findings(&now, state));
                if seen.insert(underway.repository.clone()) {
                    findings.extend(in_progress(&folder, &now, &underway));
                }
                packages.push(Package::read_folder(name, root));
            }
            Err(error) => findings.push(unreadable_finding(&name, &error)),
        }
    }
    (Some(packages), findings)
}

fn unreadable_finding(name: &str, error: &GitError) -> InspectionFinding {
    let rule = if error.kind == GitErrorKind::Refused {
        "refused"
    } else {
        "unreadable"
    };
    let what = format!(
        "This package cannot be read: {} No run begins with it.",
        error.what
    );
    InspectionFinding::new_error(
        &format!("{rule}-repository"),
        name,
        what,
        error.hint.clone(),
    )
}

/// Changes that no attempt left.
fn uncommitted_findings(now: &PackageState, state: Option<&State>) -> Vec<InspectionFinding> {
    let known = state
        .and_then(|state| state.last_after.as_ref())
        .and_then(|after| after.package(&now.name));
    let new = now
        .dirt
        .iter()
        .filter(|dirt| known.is_none_or(|known| !known.dirt.contains(dirt)));
    new.map(|dirt| {
        let what = "There are uncommitted changes that no attempt left.";
        let file = display_path(&now.name, &dirt.path);
        let hint = "commit, stash or remove them";
        InspectionFinding::new_error("uncommitted-changes", file, what, hint)
    })
    .collect()
}

/// `<package>/<path>`; quoted as git quotes it if the path is not UTF-8.
fn display_path(package: &str, path: &RepoPath) -> String {
    match String::from_utf8(path.to_bytes()) {
        Ok(path) => format!("{package}/{path}"),
        Err(_) => full_path(package, path),
    }
}

/// Returns unfinished git operations in the repository of a package.
fn in_progress(folder: &str, now: &PackageState, underway: &Underway) -> Vec<InspectionFinding> {
    let mut findings = Vec::new();
    let mut add = |rule: &str, what: String, hint: String| {
        findings.push(InspectionFinding::new_error(rule, &now.name, what, hint).into_warning());
    };
    if let Some(operation) = underway.operation {
        let end = match operation {
            "bisect" => "`git bisect reset` ends it".to_owned(),
            _ => format!("`git {operation} --continue` or `git {operation} --abort` ends it"),
        };
        let what = format!(
            "A `git {operation}` is unfinished here: an agent's commits would become part of it."
        );
        add("unfinished-operation", what, format!("In {folder}, {end}."));
    } else if now.branch.is_none() && now.head != Oid::zero() {
        let what = "HEAD is detached here: an agent's commits would be on no branch.".to_owned();
        let hint =
            "`git switch BRANCH` checks one out, `git switch --create BRANCH` makes one here.";
        add("detached-head", what, format!("In {folder}, {hint}"));
    }
    if underway.is_locked {
        let what = "The index is locked (index.lock): git is running here, or died; no agent could commit.";
        let hint =
            format!("Wait for git to end; if none is running, remove index.lock in {folder}/.git.");
        add("locked-index", what.to_owned(), hint);
    }
    findings
}
