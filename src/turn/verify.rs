//! The verifier of a turn, which detects false claims of file edits.
//!
//! It compares the reports of an agent's tools, file by file, with git's two blobs of the file: before the turn and
//! now. A failed edit that was never repaired is a [`EditFinding`]. It runs no model. A change of the file alone excuses
//! nothing, and nothing that git cannot show is held against an agent. The caller knows the file system and git: it
//! passes the [`EditedFile`] of each spelling.

mod calls;
mod claims;
mod codex_errors;
mod footer;
mod targets;

pub use calls::{Calls, PREVIEW, preview};
pub use codex_errors::codex_errors;
pub use footer::{footer, footer_for_people, redacted};
pub use targets::{CallPurpose, in_patch, task};

use super::ToolOutcome;
use calls::TurnCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of findings of one turn.
const MOST: usize = 200;

/// The file of a spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    /// Its one name for users, equal for two spellings of one file.
    pub name: String,
    /// Its blobs in git; `None` where git does not track files: outside the packages, or ignored.
    pub blobs: Option<Blobs>,
}

/// A file's content before the turn and now; `None` while it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blobs {
    pub before: Option<String>,
    pub after: Option<String>,
}

/// An unresolved or noteworthy edit of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditFinding {
    /// The file. Empty for calls that named none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    pub verdict: EditOutcome,
    /// The tool of the last call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Number of calls that did not make the edit.
    pub tries: u32,
    /// The first error, one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first: String,
    /// The last error, if it differs from the first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last: String,
    /// A command that may have changed the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
}

/// The results of an edit, most severe first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditOutcome {
    /// It failed, and the file is unchanged.
    #[default]
    Failed,
    /// It was not allowed, and the file is unchanged.
    Denied,
    /// Its call has no end.
    Unfinished,
    /// Only the agent claims it: no tool made it, and the file is unchanged.
    Claimed,
    /// A line of the transcript is too long to be read, so its content is lost.
    Unreadable,
    /// It failed after another one had succeeded.
    FailedAfterSuccess,
    /// It failed, and the file changed by other means.
    ChangedOtherwise,
    /// It failed, and the file is gone.
    DeletedAfterwards,
    /// It failed on a file outside git.
    OutsideGit,
    /// It failed because there is no such file: an edit of a wrong path.
    WrongPath,
    /// Its call named no file and failed.
    WithoutPath,
    /// Its call was refused before it did anything.
    NeverRan,
    /// The agent claims it, and there is no such file.
    NoSuchFile,
    /// It succeeded, and the file is unchanged.
    NoNetChange,
}

impl EditOutcome {
    /// True for an edit that was intended and that no known means made.
    pub fn is_unrepaired(self) -> bool {
        use EditOutcome::{FailedAfterSuccess, NoSuchFile, OutsideGit, Unreadable, WrongPath};
        self.blocks()
            || matches!(
                self,
                Unreadable | FailedAfterSuccess | OutsideGit | WrongPath | NoSuchFile
            )
    }

    /// True for calls that never reached the disk.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::NeverRan | Self::WithoutPath)
    }

    /// True for a verdict with which an edit must not be reported as done.
    pub fn blocks(self) -> bool {
        self <= Self::Claimed
    }
}

/// The calls on one file.
struct OnFile<'a> {
    blobs: Option<&'a Blobs>,
    calls: Vec<(usize, &'a TurnCall)>,
}

impl Calls {
    /// Returns the paths that the agent's last words claim, in addition to [`Calls::targets`].
    pub fn claimed(&self) -> Vec<String> {
        claims::claimed(&self.words)
    }

    /// Returns the number of editing calls, and of spellings of files.
    pub fn size(&self) -> (usize, usize) {
        (self.edits().count(), self.targets().count())
    }

    /// Returns the findings, most severe first. Skips a spelling without a place.
    pub fn judge(&self, places: &BTreeMap<String, EditedFile>) -> Vec<EditFinding> {
        let mut files: BTreeMap<&str, OnFile<'_>> = BTreeMap::new();
        let mut found = Vec::new();
        for (at, call, paths) in self.edits() {
            for place in paths.iter().filter_map(|path| places.get(path)) {
                let file = files.entry(&place.name);
                let file = file.or_insert_with(|| OnFile {
                    blobs: place.blobs.as_ref(),
                    calls: Vec::new(),
                });
                if file.calls.last().is_none_or(|(last, _)| *last != at) {
                    file.calls.push((at, call));
                }
            }
        }
        for (name, file) in &files {
            found.extend(self.of_file(name, file));
        }
        let reported = self
            .reported
            .iter()
            .filter_map(|path| Some(places.get(path)?.name.as_str()));
        // A call that did nothing supports no claim.
        files.retain(|_, file| file.calls.iter().any(|(_, call)| !call.never_ran));
        let touched: Vec<&str> = files.into_keys().chain(reported).collect();
        found.extend(self.without_path());
        if self.lost > 0 {
            found.push(EditFinding {
                verdict: EditOutcome::Unreadable,
                tries: self.lost,
                ..EditFinding::default()
            });
        }
        found.extend(self.claims(places, &touched));
        found.sort_by(|a, b| (a.verdict, &a.path).cmp(&(b.verdict, &b.path)));
        found.truncate(MOST);
        found
    }

    fn of_file(&self, name: &str, file: &OnFile<'_>) -> Option<EditFinding> {
        let has_run = file.calls.iter().any(|(_, call)| !call.never_ran);
        let last_success = file
            .calls
            .iter()
            .filter(|(_, call)| call.is_done())
            .map(|(at, _)| *at)
            .max();
        // A call that began before a later one succeeded is repaired by it.
        let open = file
            .calls
            .iter()
            .rfind(|(at, call)| call.end.is_none() && last_success < Some(*at));
        let last = file
            .calls
            .iter()
            .filter(|(_, call)| call.end.is_some() && call.never_ran != has_run)
            .max_by_key(|(_, call)| call.end.map(|(_, place)| place));
        let (_, call) = open.or(last)?;
        let is_same = file.blobs.map(|blobs| blobs.before == blobs.after);
        let is_absent = file.blobs.is_some_and(|blobs| *blobs == Blobs::default());
        let verdict = match (call.end, is_same) {
            (Some((ToolOutcome::Done, _)), Some(true)) => EditOutcome::NoNetChange,
            (Some((ToolOutcome::Done, _)), _) => return None,
            _ if !has_run => EditOutcome::NeverRan,
            (_, None) => EditOutcome::OutsideGit,
            (None, _) => EditOutcome::Unfinished,
            (_, Some(true)) if is_absent && targets::edits_only(&call.tool) => {
                EditOutcome::WrongPath
            }
            (Some((ToolOutcome::Denied, _)), Some(true)) => EditOutcome::Denied,
            (_, Some(true)) => EditOutcome::Failed,
            _ if file.blobs.is_some_and(|blobs| blobs.after.is_none()) => {
                EditOutcome::DeletedAfterwards
            }
            _ if last_success.is_some() => EditOutcome::FailedAfterSuccess,
            _ => EditOutcome::ChangedOtherwise,
        };
        let mut failed: Vec<&(usize, &TurnCall)> = file
            .calls
            .iter()
            .filter(|(_, call)| !call.is_done() && call.never_ran != has_run)
            .collect();
        failed.sort_by_key(|(at, call)| (call.end.map_or(usize::MAX, |(_, place)| place), *at));
        let mut errors = failed
            .iter()
            .filter(|(_, call)| call.end.is_some())
            .map(|(_, call)| &call.error);
        let (first, last) = (errors.next(), errors.next_back());
        Some(EditFinding {
            verdict,
            tool: call.tool.clone(),
            tries: u32::try_from(failed.len()).unwrap_or(u32::MAX),
            first: first.cloned().unwrap_or_default(),
            last: last
                .filter(|last| first != Some(last))
                .cloned()
                .unwrap_or_default(),
            command: if is_same == Some(false) {
                self.other_means(name, &failed)
            } else {
                String::new()
            },
            path: name.to_owned(),
        })
    }

    /// Returns the command that may have changed a file after its edit failed.
    ///
    /// It is the last command that names the file, otherwise the last one that is not git's.
    fn other_means(&self, name: &str, failed: &[&(usize, &TurnCall)]) -> String {
        let since = failed
            .iter()
            .filter_map(|(_, call)| call.end)
            .map(|(_, place)| place)
            .min();
        let base = name.rsplit('/').next().unwrap_or(name);
        let done = self
            .all
            .iter()
            .filter(|call| call.is_done() && call.end.map(|(_, place)| place) > since);
        let ran = done.filter_map(|call| match &call.task {
            CallPurpose::Command(command) if !command.starts_with("git ") => Some(command),
            _ => None,
        });
        let ran: Vec<&String> = ran.collect();
        let named = ran
            .iter()
            .rfind(|command| command.contains(base))
            .or(ran.last());
        named.map(|command| (*command).clone()).unwrap_or_default()
    }

    /// Returns failed calls of editing tools that named no file, unless the tool succeeded later.
    fn without_path(&self) -> Option<EditFinding> {
        let edits: Vec<(usize, &TurnCall, &[String])> = self.edits().collect();
        let failed: Vec<&TurnCall> = edits
            .iter()
            .filter(|(at, call, paths)| {
                paths.is_empty()
                    && call.end.is_some()
                    && !call.is_done()
                    && !edits.iter().any(|(later, other, _)| {
                        later > at && other.tool == call.tool && other.is_done()
                    })
            })
            .map(|(_, call, _)| *call)
            .collect();
        let last = failed.last()?;
        Some(EditFinding {
            verdict: EditOutcome::WithoutPath,
            tool: last.tool.clone(),
            tries: u32::try_from(failed.len()).unwrap_or(u32::MAX),
            first: last.error.clone(),
            ..EditFinding::default()
        })
    }

    /// Returns the findings for files that the last words claim and that nothing touched.
    fn claims(&self, places: &BTreeMap<String, EditedFile>, touched: &[&str]) -> Vec<EditFinding> {
        let mut found: Vec<EditFinding> = Vec::new();
        for spelled in self.claimed() {
            let Some(EditedFile {
                name,
                blobs: Some(blobs),
            }) = places.get(&spelled)
            else {
                continue;
            };
            let is_known =
                touched.contains(&name.as_str()) || found.iter().any(|known| known.path == *name);
            let verdict = match (&blobs.before, &blobs.after) {
                (Some(before), Some(after)) if before == after => EditOutcome::Claimed,
                (None, None) if spelled.contains('/') && claims::has_extension(&spelled) => {
                    EditOutcome::NoSuchFile
                }
                _ => continue,
            };
            if !is_known {
                found.push(EditFinding {
                    path: name.clone(),
                    verdict,
                    ..EditFinding::default()
                });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
