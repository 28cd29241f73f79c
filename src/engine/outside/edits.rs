//! Compares the edits in an attempt's transcript with git (`turn::verify`).
//!
//! Promises: two spellings of one file are one; a file outside of the packages is never an error; a
//! file that the family changed before is no false claim of this attempt.

use super::Outside;
use super::scripts::plain_path;
use crate::engine::{Fault, FaultKind};
use crate::git::Repositories;
use crate::machine::facts::{FileChange, Observation, Oid, PackageState, Snapshot, full_path};
use crate::source::RepoPath;
use crate::sys::disk::if_there;
use crate::turn::verify::EditOutcome::Claimed;
use crate::turn::verify::{Blobs, Calls, EditFinding, EditedFile, codex_errors, redacted};
use crate::turn::{TranscriptFormat, read};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes of standard error that are read.
const ERRORS: u64 = 4 << 20;

/// Files and format of the running attempt's transcript.
pub(super) struct TurnLog {
    pub(super) format: TranscriptFormat,
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    /// The session that the CLI exported after its end, where its standard output is no transcript.
    pub(super) session: Option<PathBuf>,
}

/// A transcript from outside, compared with git.
pub struct JudgedTranscript {
    pub findings: Vec<EditFinding>,
    /// Number of editing calls.
    pub edits: usize,
    pub files: usize,
    /// True if the end of the turn is missing.
    pub is_cut: bool,
}

impl Outside {
    /// Returns the verifier's findings on the attempt that just ended.
    pub(super) fn verify_attempt(
        &mut self,
        before: &Snapshot,
        seen: &Observation,
    ) -> Result<Vec<EditFinding>, Fault> {
        let Some(transcript) = self.turn_log.take() else {
            return Ok(Vec::new());
        };
        let TurnLog {
            format,
            stdout,
            stderr,
            session,
        } = &transcript;
        let calls = match session {
            Some(session) => {
                let mut calls = read_calls(*format, open_file(session)?, io::empty())?;
                calls.add_summary(read_calls(*format, open_file(stdout)?, io::empty())?);
                calls
            }
            None => read_calls(*format, open_file(stdout)?, open_file(stderr)?)?,
        };
        let workspace = self.parts.places.workspace.clone();
        let (mut found, _) = self.judge_edits(&calls, before, &workspace)?;
        let earlier: Vec<String> = seen.family.iter().map(FileChange::full_path).collect();
        found.retain(|finding| finding.verdict != Claimed || !earlier.contains(&finding.path));
        Ok(found)
    }

    /// Compares calls with git: the packages before the attempt, and the work tree now.
    ///
    /// Relative paths are resolved in `folder` first. Returns the findings, and the number of
    /// files.
    fn judge_edits(
        &mut self,
        calls: &Calls,
        before: &Snapshot,
        folder: &Path,
    ) -> Result<(Vec<EditFinding>, usize), Fault> {
        let repositories = &mut self.parts.repositories;
        let roots: Vec<Root> = before
            .packages
            .iter()
            .filter_map(|package| {
                Some((
                    package.clone(),
                    real_path(repositories.package_root(&package.name)?),
                ))
            })
            .collect();
        let mut places = BTreeMap::new();
        for spelled in calls
            .targets()
            .map(ToOwned::to_owned)
            .chain(calls.claimed())
        {
            if let Entry::Vacant(entry) = places.entry(spelled) {
                let folders = [folder, &self.parts.places.workspace];
                let place = find_file(&folders, repositories, &roots, entry.key())?;
                entry.insert(place);
            }
        }
        let found = redacted(calls.judge(&places), |text| self.secrets.redact(text));
        let files: BTreeSet<&str> = calls
            .targets()
            .filter_map(|path| Some(places.get(path)?.name.as_str()))
            .collect();
        Ok((found, files.len()))
    }

    /// Compares a transcript from outside with a revision.
    ///
    /// Paths are relative to `folder`, the agent's working directory.
    pub fn verify_transcript(
        &mut self,
        (format, transcript, errors): (TranscriptFormat, impl Read, impl Read),
        revision: &str,
        folder: &Path,
    ) -> Result<JudgedTranscript, Fault> {
        let calls = heard_outside(format, transcript, errors)?;
        let repositories = &mut self.parts.repositories;
        let mut before = repositories.take_snapshot()?;
        for package in &mut before.packages {
            package.head = repositories.commit_of(&package.name, revision)?;
            package.dirt.clear();
            package.untracked.clear();
        }
        let (mut findings, files) = self.judge_edits(&calls, &before, folder)?;
        for finding in &mut findings {
            if let Some(path) = finding.path.strip_prefix("./") {
                finding.path = path.to_owned();
            }
        }
        Ok(JudgedTranscript {
            findings,
            edits: calls.size().0,
            files,
            is_cut: calls.is_cut(format),
        })
    }
}

/// Judges a transcript where there is no git, so that only its own results count.
pub fn verify_without_git(
    (format, transcript, errors): (TranscriptFormat, impl Read, impl Read),
    folder: &Path,
    redact: impl Fn(&str) -> String,
) -> Result<JudgedTranscript, Fault> {
    let calls = heard_outside(format, transcript, errors)?;
    let mut places = BTreeMap::new();
    for path in calls.targets() {
        let full = real_path(&folder.join(path));
        let name = full
            .strip_prefix(real_path(folder))
            .unwrap_or(&full)
            .display()
            .to_string();
        places.insert(path.to_owned(), EditedFile { name, blobs: None });
    }
    let files: BTreeSet<&str> = places.values().map(|place| place.name.as_str()).collect();
    Ok(JudgedTranscript {
        findings: redacted(calls.judge(&places), redact),
        edits: calls.size().0,
        files: files.len(),
        is_cut: calls.is_cut(format),
    })
}

/// A transcript of which something is understood.
fn heard_outside(
    format: TranscriptFormat,
    transcript: impl Read,
    errors: impl Read,
) -> Result<Calls, Fault> {
    let calls = read_calls(format, transcript, errors)?;
    let (what, hint) = if calls.is_empty() {
        (
            "No line of the transcript is understood.",
            "name the CLI that printed it with --from",
        )
    } else if !format.prints_events() && calls.is_words_alone() {
        (
            "The output holds neither a session nor a footer about edits that failed.",
            "pipe what `hermes sessions export --format jsonl --session-id ID -` prints",
        )
    } else {
        return Ok(calls);
    };
    Err(Fault::new(FaultKind::Unknown, what, hint))
}

fn open_file(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(match if_there(fs_err::File::open(path))? {
        Some(file) => Box::new(file),
        None => Box::new(io::empty()),
    })
}

/// Reads the calls of a transcript.
///
/// Errors on standard error come first, because their time is unknown: a later success resolves
/// them.
fn read_calls(format: TranscriptFormat, stdout: impl Read, stderr: impl Read) -> io::Result<Calls> {
    let mut calls = Calls::default();
    if format == TranscriptFormat::Codex {
        let mut errors = Vec::new();
        stderr.take(ERRORS).read_to_end(&mut errors)?;
        for event in codex_errors(&String::from_utf8_lossy(&errors)) {
            calls.hear(&event);
        }
    }
    read(format, stdout, |event| calls.hear(&event))?;
    Ok(calls)
}

/// A package before, and the real path of its folder.
type Root = (PackageState, PathBuf);

/// Finds the file that a spelling names.
///
/// The folders are searched first, then the packages.
fn find_file(
    folders: &[&Path; 2],
    repositories: &mut Repositories,
    roots: &[Root],
    spelled: &str,
) -> Result<EditedFile, Fault> {
    let own = folders.iter().map(|folder| folder.join(spelled));
    let others = roots.iter().map(|(_, root)| root.join(spelled));
    let path = own
        .chain(others)
        .find(|path| path.symlink_metadata().is_ok())
        .unwrap_or_else(|| folders[0].join(spelled));
    let path = real_path(&path);
    // A package may lie in another one.
    let found = roots
        .iter()
        .filter_map(|(package, root)| {
            let inside = path.strip_prefix(root).ok()?.as_os_str().as_bytes();
            (!inside.is_empty()).then_some((root, package, RepoPath::from_bytes(inside)))
        })
        .max_by_key(|(root, ..)| root.as_os_str().len());
    let Some((_, package, inside)) = found else {
        return Ok(EditedFile {
            name: path.display().to_string(),
            blobs: None,
        });
    };
    let blobs = repositories.before_and_now(package, &inside)?;
    let blobs = blobs.map(|blobs| {
        let [before, after] = blobs.map(|blob| blob.map(|Oid(blob)| blob));
        Blobs { before, after }
    });
    Ok(EditedFile {
        name: full_path(&package.name, &inside),
        blobs,
    })
}

/// The real path of the deepest folder that is there, and the rest as it is written.
fn real_path(path: &Path) -> PathBuf {
    let plain = plain_path(path);
    let there = plain
        .ancestors()
        .find_map(|folder| Some((folder, fs_err::canonicalize(folder).ok()?)));
    match there {
        Some((folder, real)) => match plain.strip_prefix(folder) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => plain,
    }
}
