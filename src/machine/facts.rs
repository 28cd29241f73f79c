//! Facts that adapters report: plain data that can be stored, compared and judged again on any machine.

pub use super::process_end::ProcessEnd;

use crate::source::{Kind, RepoPath, is_build_setting};
use crate::turn::verify::EditFinding;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A git object id: 40 lower-case hex digits; forty zeros for "nothing" (an unborn HEAD, the empty tree).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Oid(pub String);

impl Oid {
    /// Forty zeros.
    pub fn zero() -> Self {
        Self("0".repeat(40))
    }

    /// True for forty zeros.
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file in a work tree that differs from HEAD.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dirt {
    /// The path in the package.
    pub path: RepoPath,
    /// Hash of the content on disk (as a blob, no filters); `None` when the file is gone.
    pub blob: Option<Oid>,
    /// True for a file that git does not track.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untracked: bool,
}

/// `<package>/<path>` of each.
pub fn dirt_names(dirt: &BTreeMap<String, Vec<Dirt>>) -> Vec<String> {
    let all = dirt
        .iter()
        .flat_map(|(package, dirt)| dirt.iter().map(move |dirt| (package, dirt)));
    all.map(|(package, dirt)| full_path(package, &dirt.path))
        .collect()
}

/// State of one package at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageState {
    /// Base name of the package's folder.
    pub name: String,
    /// The commit at HEAD; zeros for an unborn HEAD.
    pub head: Oid,
    /// The branch that HEAD names (`refs/heads/…`); `None` when detached.
    pub branch: Option<String>,
    /// Tracked files that differ from HEAD (staged or not), sorted by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirt: Vec<Dirt>,
    /// Untracked production, test and build files, sorted by path, with their content's hash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<Dirt>,
}

/// The files that no attempt may change, at the beginning of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDigests {
    /// Digest of the rules that choose these files: by other rules, a file that is not listed is not a new one.
    pub rules: String,
    /// Path from the workspace → `<octal mode> <SHA-256>`; empty for a link or a large file, which ralph cannot restore.
    pub files: BTreeMap<String, String>,
}

/// Untracked files that are neither test, production nor build files, by package: the SHA-256 of each path in the package.
///
/// A name may hold a secret, and such a file is not taken back.
pub type OtherFiles = BTreeMap<String, BTreeSet<String>>;

/// All packages at one moment, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Snapshot {
    pub packages: Vec<PackageState>,
}

impl Snapshot {
    /// The package of that name.
    pub fn package(&self, name: &str) -> Option<&PackageState> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// HEAD of each package.
    pub fn heads(&self) -> BTreeMap<String, Oid> {
        self.packages
            .iter()
            .map(|package| (package.name.clone(), package.head.clone()))
            .collect()
    }
}

/// Kind of change of a path between two commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FileStatus {
    /// Absent before.
    #[serde(rename = "A")]
    Added,
    /// Another content or mode.
    #[serde(rename = "M")]
    Modified,
    /// Absent after.
    #[serde(rename = "D")]
    Deleted,
}

/// One changed path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileChange {
    pub package: String,
    /// The path in the package.
    pub path: RepoPath,
    /// The kind of change.
    pub status: FileStatus,
    /// The class of the file (test, production, build or other).
    pub kind: Kind,
    /// The blob before; `None` when added.
    pub old: Option<Oid>,
    /// The blob after; `None` when deleted.
    pub new: Option<Oid>,
}

impl FileChange {
    /// `<package>/<path>`, odd names quoted as git quotes them: a line of `latest-task-diff.txt`.
    pub fn full_path(&self) -> String {
        full_path(&self.package, &self.path)
    }

    /// True for a file by which the project is built or its tests are run.
    pub fn is_build_setting(&self) -> bool {
        is_build_setting(self.kind, &self.path)
    }
}

/// `<package>/<path>`, quoted as a whole when the path needs quotes.
pub fn full_path(package: &str, path: &RepoPath) -> String {
    let mut bytes = package.as_bytes().to_vec();
    bytes.push(b'/');
    bytes.extend(path.to_bytes());
    RepoPath::from_bytes(&bytes).as_str().to_owned()
}

/// Base and paths of a sum of changes: a family's, or a stage's own.
///
/// A path counts when one of the attempts changed it and it now differs from its content before the
/// first of them (docs/design.md "Snapshots and changes").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Accumulated {
    /// HEAD of each package before the first attempt.
    pub bases: BTreeMap<String, Oid>,
    /// The paths that the attempts changed, by package.
    pub touched: BTreeMap<String, BTreeSet<RepoPath>>,
    /// True for a family pinned by `ralph snapshot`: every path between base and HEAD counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub everything: bool,
}

impl Accumulated {
    /// No attempt yet.
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty() && self.touched.is_empty()
    }

    /// Adds one attempt: the HEADs before it and the paths that it changed.
    pub fn add<'a>(
        &mut self,
        before: &Snapshot,
        changes: impl IntoIterator<Item = &'a FileChange>,
    ) {
        for package in &before.packages {
            self.bases
                .entry(package.name.clone())
                .or_insert_with(|| package.head.clone());
        }
        for change in changes {
            self.bases
                .entry(change.package.clone())
                .or_insert_with(Oid::zero);
            self.touched
                .entry(change.package.clone())
                .or_default()
                .insert(change.path.clone());
        }
    }

    /// The union of two sums; where both have a base, that of `self` (the earlier one) counts.
    pub fn join(&mut self, later: &Self) {
        for (package, base) in &later.bases {
            self.bases
                .entry(package.clone())
                .or_insert_with(|| base.clone());
        }
        for (package, paths) in &later.touched {
            self.touched
                .entry(package.clone())
                .or_default()
                .extend(paths.iter().cloned());
        }
        self.everything |= later.everything;
    }
}

/// A file whose lines must stay.
///
/// It is a test file as TEST-FIRST left it, or as a reviewer saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeptFile {
    pub package: String,
    /// The path in the package.
    pub path: RepoPath,
    /// The blob before the lines were written; `None` when the file was new, or when all lines count.
    pub base: Option<Oid>,
    /// The blob that holds the lines.
    pub blob: Oid,
}

/// Request of the machine to the git adapter after an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObserveRequest {
    /// The iteration, for names of refs.
    pub iteration: u64,
    /// The packages before the attempt.
    pub before: Snapshot,
    /// The untracked files of no kind before the attempt, if ralph commits and the journal has them.
    pub others: Option<OtherFiles>,
    /// The text of the task.
    pub task: String,
    /// It is an attempt of the worker.
    pub worker: bool,
    /// The family's changes so far.
    pub family: Accumulated,
    /// The stage's own changes since its box was last opened.
    pub stage: Accumulated,
    /// Test files as TEST-FIRST left them.
    pub frozen: Vec<KeptFile>,
    /// Test files as reviewers saw them.
    pub reviewed: Vec<KeptFile>,
}

/// A file that lost lines which had to stay, or existing lines that were to be left alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LostLines {
    pub package: String,
    /// The path in the package.
    pub path: RepoPath,
    /// The number of lines that are gone.
    pub count: u64,
    /// The first of them, at most 120 characters, control characters removed.
    pub first: String,
}

/// A test file that takes the place of production code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shadow {
    pub package: String,
    /// The test file.
    pub path: RepoPath,
    /// The production file that has the same class or module.
    pub production: RepoPath,
}

/// A new file among the tests that has a test of its own, and that production code does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Misplaced {
    pub package: String,
    pub path: RepoPath,
    /// Its test.
    pub test: RepoPath,
}

/// Changes of one package during an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own meaning"
)]
pub struct PackageChange {
    /// The package.
    pub name: String,
    /// HEAD before is no ancestor of HEAD after, or the repository vanished.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
    /// HEAD is another commit than before, also if the content is the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub head_moved: bool,
    /// HEAD names another branch than before (or none).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub branch_switched: bool,
    /// The package was not there before the attempt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub appeared: bool,
    /// The package is no longer there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vanished: bool,
    /// The variable whose value the name of a file or branch holds; the names in this record are without it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub secret: String,
    /// Files that it changed although no task may, unless it names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<RepoPath>,
    /// Committed changes of this attempt.
    pub changes: Vec<FileChange>,
    /// Tracked files that differ from HEAD now and did not, in this way, before; and untracked
    /// production, test and build files that were absent before.
    pub dirt: Vec<Dirt>,
    /// Other untracked files that appeared: named, never touched (at most 20).
    pub strays: Vec<RepoPath>,
    /// All of them as in [`OtherFiles`], if ralph commits.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub appeared_others: BTreeSet<String>,
    /// Enabled tests after minus before, over the changed test files.
    pub tests_delta: i64,
    /// Untracked files that were there before and are gone (at most 20).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<RepoPath>,
    /// Branches, tags and stashes whose commits no reference has any more, and where these are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostTips>,
    /// Git lock files that a dead process had left and that were removed.
    pub locks_removed: Vec<String>,
}

impl PackageChange {
    /// Nothing was committed, left or moved.
    pub fn is_untouched(&self) -> bool {
        let has_nothing = self.changes.is_empty() && self.dirt.is_empty();
        has_nothing && !self.is_breach() && !self.head_moved && !self.appeared
    }

    /// History was rewritten, commits undone, the branch switched or a protected file changed.
    pub fn is_breach(&self) -> bool {
        let names = !self.protected.is_empty() || !self.secret.is_empty();
        self.rewritten || self.branch_switched || self.vanished || names
    }
}

/// References that an attempt took away, or moved back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostTips {
    /// Each with its commit: `feature 1a2b3c4d5e` (at most 20).
    pub names: Vec<String>,
    /// The reference that keeps their commits; empty if they are gone.
    pub kept: String,
}

/// State of git after an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observation {
    /// The packages after the attempt, before anything is restored.
    pub after: Snapshot,
    /// The packages that differ, by name.
    pub packages: Vec<PackageChange>,
    /// Files outside of the packages that it changed although no task may; ralph restored them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Files that ralph was to commit and did not, as they hold a secret: each with what it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Settings and hooks of git that it changed, and that ralph restored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub git_settings: Vec<String>,
    /// Unresolved edits of the attempt, as the verifier reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditFinding>,
    /// The family's changes with this attempt in.
    pub family: Vec<FileChange>,
    /// The stage's own changes since its box was last opened, with this attempt in.
    pub stage: Vec<FileChange>,
    /// Repositories inside of packages, `<package>/<path>`, that the stage's own commits hold a name of and nothing else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub embedded: Vec<String>,
    /// Changes of the stage's own attempts to production code and of lines of build files that were there.
    pub lost_production: Vec<LostLines>,
    /// Lines of TEST-FIRST that are gone.
    pub lost_frozen: Vec<LostLines>,
    /// Lines of reviewed test files that are gone.
    pub lost_reviewed: Vec<LostLines>,
    /// Enabled tests in the test files among the stage's own changes.
    pub stage_tests: u64,
    /// The number of enabled tests that are missing after the stage's own changes; older records have only the sums of attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_owed: Option<u64>,
    /// Test files among them that take the place of production code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Shadow>,
    /// New files among them that a test of their own names as code; older records do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misplaced: Option<Vec<Misplaced>>,
}

/// Meaning of the lines `RALPH-VERDICT <token>: …` in an agent's standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "kebab-case")]
pub enum Claim {
    /// `RALPH-VERDICT <token>: PASS`.
    Pass,
    /// `RALPH-VERDICT <token>: FAIL <why>`.
    Fail {
        /// The agent's words, control characters removed, at most 2,000 characters.
        why: String,
    },
    /// `RALPH-VERDICT <token>: NOTHING-TO-DO <why>`.
    NothingToDo {
        /// The agent's words, control characters removed, at most 2,000 characters.
        why: String,
    },
    /// `RALPH-VERDICT <token>: BLOCKED <why>`: the agent cannot do its work.
    Blocked {
        /// The agent's words, as above.
        why: String,
    },
    /// No verdict, and nothing else may speak for it.
    Unclear {
        /// Ralph's words, without a full stop.
        why: String,
    },
}
