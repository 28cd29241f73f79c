//! What is wrong with the packages.
//!
//! Owns: repositories that cannot be read, changes that nobody committed, packages with nothing to judge.
//!
//! Promises: each repository that cannot be read is named, and stops no other.
//!
//! Refuses to know: git.

use super::finding::{Finding, Level};
use super::gates::{CLASSES, has_extension, open_java_gate};
use super::underway;
use crate::cli::workspace::{CONFIG, Opened, Workspace};
use crate::engine::Fault;
use crate::git::{GitError, GitErrorKind, Repositories};
use crate::machine::facts::{PackageState, full_path};
use crate::machine::state::State;
use crate::source::{Classifier, Kind, RepoPath};
use crate::task::{Row, Stage};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Files by which Java is built.
const BUILDS: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts"];

/// A package that could be read.
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its folder.
    pub(super) root: PathBuf,
    /// What its commit holds.
    pub(super) files: Vec<RepoPath>,
}

/// Looks at all packages. No list where it cannot even be told which there are.
pub(super) fn survey(opened: &Opened, state: Option<&State>) -> (Option<Vec<Package>>, Vec<Finding>) {
    let workspace = &opened.workspace;
    let found = workspace.classifier().and_then(|classifier| look(workspace, classifier));
    let (mut repositories, states) = match found {
        Ok(found) => found,
        Err(fault) => return (None, vec![Finding::of_fault("no-packages", CONFIG, fault)]),
    };
    let mut findings = Vec::new();
    let mut packages = Vec::new();
    let mut seen = HashSet::new();
    for (name, surveyed) in states {
        let root = repositories.root(&name).unwrap_or(&workspace.places.workspace).to_owned();
        let folder = workspace.places.shown(&root);
        let readable = surveyed.and_then(|state| {
            let files = repositories.paths_at(&name, &state.head)?;
            Ok((files, state, repositories.underway(&name)?))
        });
        match readable {
            Ok((files, now, underway)) => {
                findings.extend(dirt(&folder, &now, state));
                if seen.insert(underway.repository.clone()) {
                    findings.extend(underway::findings(&folder, &now, &underway));
                }
                packages.push(Package { name, root, files });
            }
            Err(error) => findings.push(unreadable(&name, &folder, &error)),
        }
    }
    (Some(packages), findings)
}

type Looked = (Repositories, Vec<crate::git::Surveyed>);

fn look(workspace: &Workspace, classifier: Classifier) -> Result<Looked, Fault> {
    let settings = &workspace.settings;
    let root = &workspace.places.workspace;
    Ok(Repositories::survey(root, &settings.packages, settings.packages_given, classifier)?)
}

fn unreadable(name: &str, folder: &str, error: &GitError) -> Finding {
    let rule = match error.kind {
        GitErrorKind::Refused => "refused-repository",
        _ => "unreadable-repository",
    };
    let found = Finding::new(
        Level::Error,
        rule,
        name,
        format!("This package cannot be read: {} No run begins with it.", error.what),
        error.hint.clone(),
    );
    Finding { path: Some(PathBuf::from(folder)), ..found }
}

/// Changes that no attempt left.
fn dirt(folder: &str, now: &PackageState, state: Option<&State>) -> Vec<Finding> {
    let known = state.and_then(|state| state.last_after.as_ref()).and_then(|after| after.package(&now.name));
    let news = now.dirt.iter().filter(|dirt| known.is_none_or(|known| !known.dirt.contains(dirt)));
    news.map(|dirt| {
        let found = Finding::new(
            Level::Error,
            "uncommitted-changes",
            shown(&now.name, &dirt.path),
            "There are uncommitted changes that no attempt left.",
            "commit, stash or remove them",
        );
        Finding { path: Some(Path::new(folder).join(OsStr::from_bytes(&dirt.path.to_bytes()))), ..found }
    })
    .collect()
}

/// `<package>/<path>` as the name is; as git quotes it where it is no UTF-8.
fn shown(package: &str, path: &RepoPath) -> String {
    match String::from_utf8(path.to_bytes()) {
        Ok(path) => format!("{package}/{path}"),
        Err(_) => full_path(package, path),
    }
}

/// Packages in which a gate that measures Java will find nothing to judge: those with production files and
/// not one test, when the gate stands on a task that writes none first; and all, when none has any Java.
pub(super) fn with_nothing_to_judge(
    workspace: &Workspace,
    packages: &[Package],
    rows: &[Row],
) -> Vec<Finding> {
    let Ok(classifier) = workspace.classifier() else { return Vec::new() };
    let mut gates = rows.iter().filter(|row| open_java_gate(workspace, row).is_some()).peekable();
    let has = |package: &Package, kind: Kind| {
        package.files.iter().any(|file| classifier.kind_of(&file.to_bytes()) == kind)
    };
    let productive: Vec<&Package> =
        packages.iter().filter(|package| has(package, Kind::Production)).collect();
    let finding = |package: &Package, rule: &'static str, what: String, hint: &str| {
        let found = Finding::new(Level::Warning, rule, package.name.clone(), what, hint);
        Finding { path: Some(package.root.clone()), ..found }
    };
    // What a command makes of a package without Java or tests, it alone knows.
    if let Some(gate) = gates.peek()
        && !packages.iter().any(has_java)
    {
        let told = productive.iter().map(|package| {
            let what = format!(
                "Nothing in this package is Java, and `{}` measures nothing else: it will be skipped.",
                gate.key
            );
            let hint = "Take the gate out (`ralph place none`), or judge with a command: `gates.<NAME>.run`.";
            finding(package, "no-java", what, hint)
        });
        return told.collect();
    }
    let tested: HashSet<&str> = rows
        .iter()
        .filter(|row| row.key.stage == Stage::TestFirst)
        .map(|row| row.key.family.as_str())
        .collect();
    let Some(gate) = gates.find(|row| !tested.contains(row.key.family.as_str())) else { return Vec::new() };
    let bare =
        productive.iter().filter(|package| has_java(package)).filter(|package| !has(package, Kind::Test));
    bare.map(|package| {
        let what = format!(
            "This package has production files and no test: `{}` and gates like it leave classes without tests out, \
             so they would judge nothing.",
            gate.key
        );
        let hint = "Begin with tests: `ralph stage` gives tasks a TEST-FIRST stage.";
        finding(package, "no-tests", what, hint)
    })
    .collect()
}

/// A source that is compiled to classes, or a build file that says that there will be one.
fn has_java(package: &Package) -> bool {
    package.files.iter().any(|file| {
        let name = file.as_str().trim_end_matches('"').rsplit('/').next().unwrap_or_default();
        BUILDS.contains(&name) || has_extension(name, CLASSES)
    })
}
