//! The work that a lane offers for a box, read as hostile input: its journal names commits, and main merges them itself.

use super::Outside;
use super::records::LaneRecord;
use crate::engine::outside::patterns::Patterns;
use crate::engine::{Fault, Fold};
use crate::git::{GitError, GitErrorKind, Merge};
use crate::journal;
use crate::machine::effect::LaneOrder;
use crate::machine::event::{Event, Offer};
use crate::machine::facts::{Oid, Snapshot};
use crate::machine::lanes::is_done_ahead;
use crate::machine::state::{Phase, State};
use crate::source::RepoPath;
use crate::source::text::{line, names};
use crate::sys::disk::open_regular;
use crate::task::TaskKey;
use crate::turn::Usage;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a lane's journal that are read.
const MAX_JOURNAL: u64 = 256 << 20;
/// Paths that a sentence names.
const NAMED: usize = 10;

/// Accepted work of a lane.
pub(super) struct Step {
    pub(super) key: TaskKey,
    /// HEAD of each package then.
    pub(super) heads: BTreeMap<String, Oid>,
    /// Usage of the attempts since the last step.
    used: Usage,
}

/// Work, or the reason why it cannot be taken.
type Found = (Option<Offer>, Option<String>);

impl Outside {
    /// The first accepted work of this box that HEAD does not have, merged with it.
    pub(super) fn offer(
        &mut self,
        number: u32,
        record: &LaneRecord,
        order: &LaneOrder,
        snapshot: &Snapshot,
    ) -> Result<Found, Fault> {
        if !record.is_wanted(&order.open, &order.taken) {
            return Ok((None, None));
        }
        let folder = self.lanes_folder().join(number.to_string());
        let steps = match read_steps(&folder, &self.parts.places.spec_name()) {
            Ok(steps) => steps,
            Err(why) => return Ok((None, Some(format!("Lane {number} offers nothing: {why}")))),
        };
        for step in steps.into_iter().filter(|step| step.key == order.key) {
            let title = format!("{} from lane {number}", order.key.written_id());
            match self.merge_step(number, &folder, &step, &title, snapshot, Commits::Copied) {
                Ok(Some(heads)) if heads.is_empty() => {}
                Ok(Some(heads)) => {
                    // A run elsewhere can claim any usage, and its budget is its own.
                    let used = Some(step.used)
                        .filter(|used| *used != Usage::default() && !record.is_taken());
                    let offer = Offer {
                        lane: number,
                        heads,
                        used,
                    };
                    return Ok((Some(offer), None));
                }
                Ok(None) => return Ok((None, None)),
                Err(Trouble::Work(why)) => return Ok((None, Some(why))),
                Err(Trouble::Conflicts(paths)) => {
                    let why = format!(
                        "Lane {number} did this on an older base. Its commits ({}) conflict in {paths}: merge them and \
                         resolve, or do the work again.",
                        reference(number)
                    );
                    return Ok((None, Some(why)));
                }
                Err(Trouble::Disk(fault)) => return Err(fault),
            }
        }
        Ok((None, None))
    }

    /// The commits to which the packages move; none if HEAD has the step.
    pub(super) fn merge_step(
        &mut self,
        number: u32,
        folder: &Path,
        step: &Step,
        title: &str,
        snapshot: &Snapshot,
        commits: Commits,
    ) -> Result<Option<BTreeMap<String, Oid>>, Trouble> {
        let mut heads = BTreeMap::new();
        for package in &snapshot.packages {
            let name = &package.name;
            let Some(theirs) = step.heads.get(name).filter(|head| **head != package.head) else {
                continue;
            };
            let Some(inside) = self.place_of(name) else {
                continue;
            };
            let from = folder.join(inside);
            let reference = reference(number);
            let repositories = &mut self.parts.repositories;
            match commits {
                Commits::Copied => repositories.copy_commits(name, &from, theirs, &reference)?,
                Commits::Borrowed => repositories.borrow_commits(name, &from, theirs)?,
            }
            let message = format!("{title}\n\nRalph-Lane: {theirs}\n");
            let merged = repositories.merge(name, [&package.head, theirs], &message)?;
            match merged {
                Merge::Contained => {}
                Merge::Commit(commit) => {
                    let paths = repositories.paths_between(name, [&package.head, &commit])?;
                    let Patterns {
                        protected,
                        instructions,
                        allowed,
                        ..
                    } = self.compiled_patterns().map_err(Trouble::Disk)?;
                    let paths = paths.iter().map(RepoPath::to_text);
                    let refused: Vec<String> = paths
                        .filter(|path| {
                            (protected.is_match(path) || instructions.is_match(path))
                                && !allowed.is_match(path)
                        })
                        .collect();
                    if !refused.is_empty() {
                        return Err(Trouble::Work(format!(
                            "Lane {number} did this and changed protected files: {}.",
                            names(&refused, NAMED)
                        )));
                    }
                    heads.insert(name.clone(), commit);
                }
                Merge::Conflicts(paths) => {
                    let paths = paths
                        .iter()
                        .map(|path| format!("{name}/{}", path.to_text()));
                    return Err(Trouble::Conflicts(names(paths, NAMED)));
                }
                Merge::Refused(why) => {
                    return Err(Trouble::Work(format!(
                        "The work of lane {number} ({reference}) is not taken. {why}"
                    )));
                }
            }
        }
        Ok(Some(heads))
    }

    /// The place of a package's repository in the workspace, and in each lane.
    pub(super) fn place_of(&self, package: &str) -> Option<PathBuf> {
        let root = self.parts.repositories.repository_of(package)?;
        let inside = root.strip_prefix(&self.parts.places.workspace).ok()?;
        Some(inside.to_owned())
    }
}

/// The reference to the last commits that main read of a lane.
pub(super) fn reference(number: u32) -> String {
    format!("refs/ralph/lane/{number}")
}

/// Treatment of a lane's commits before a merge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Commits {
    /// They are copied into the packages of main.
    Copied,
    /// They are read where they are, and nothing is written.
    Borrowed,
}

/// The reason why a step is no offer.
pub(super) enum Trouble {
    /// Both sides changed these paths (a list).
    Conflicts(String),
    /// The work is to blame: the worker reads this sentence.
    Work(String),
    /// Main's own disk or settings are.
    Disk(Fault),
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Self {
        match error.kind {
            GitErrorKind::Io => Self::Disk(error.into()),
            _ => Self::Work(format!(
                "The work of a lane is not taken: {}",
                line(&error.to_string(), 400)
            )),
        }
    }
}

/// The accepted work in a lane's journal, in its order. The journal may say anything.
pub(super) fn read_steps(folder: &Path, spec: &str) -> Result<Vec<Step>, String> {
    read_lane(folder, spec).map(|(steps, _)| steps)
}

/// The same, with the state that the journal ends with.
pub(super) fn read_lane(folder: &Path, spec: &str) -> Result<(Vec<Step>, State), String> {
    let bytes = read_journal(folder)?;
    let mut fold = Fold::default();
    let mut steps = Vec::new();
    let mut last: Option<(TaskKey, BTreeMap<String, Oid>)> = None;
    let mut used = Usage::default();
    let read = journal::replay(&bytes, |record| -> Result<(), Fault> {
        match &record.event {
            Event::Observed { observation, .. } => {
                if let Phase::Observing(attempt) = &fold.state.phase {
                    last = Some((attempt.key.clone(), observation.after.heads()));
                }
            }
            Event::AgentEnded(agent) => add(&mut used, agent.used.as_ref()),
            Event::BoxesFlipped { flips } if fold.state.spec == spec => {
                let mut done = flips.iter().filter(|(_, mark)| mark.is_done());
                if let Some((key, heads)) =
                    last.take_if(|(key, _)| done.any(|(flip, _)| flip == key))
                    && is_done_ahead(&key.stage)
                {
                    let used = std::mem::take(&mut used);
                    steps.push(Step { key, heads, used });
                }
            }
            _ => {}
        }
        fold.take_record(&record).map(drop)
    });
    match read {
        Ok(_) => Ok((steps, fold.state)),
        Err(fault) => Err(line(&fault.what, 400)),
    }
}

/// True if a lane's journal names accepted work.
pub(super) fn has_work(folder: &Path, spec: &str) -> bool {
    read_steps(folder, spec).is_ok_and(|steps| !steps.is_empty())
}

fn read_journal(folder: &Path) -> Result<Vec<u8>, String> {
    let shorten = |error: std::io::Error| line(&error.to_string(), 400);
    let file = folder.join(".ralph/state/journal.jsonl");
    let Some((file, size)) = open_regular(&file).map_err(shorten)? else {
        return Err("it has no journal.".to_owned());
    };
    if size > MAX_JOURNAL {
        return Err("its journal is too large.".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_JOURNAL).read_to_end(&mut bytes);
    read.map_err(shorten)?;
    Ok(bytes)
}

/// Adds what an attempt used. Sums of a whole session are left out: they would count twice.
fn add(sum: &mut Usage, more: Option<&Usage>) {
    let Some(more) = more else { return };
    let tokens = more.tokens.filter(|_| !more.tokens_of_session);
    let micros = more.micros.filter(|_| !more.micros_of_session);
    for (sum, more) in [(&mut sum.tokens, tokens), (&mut sum.micros, micros)] {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    }
}
