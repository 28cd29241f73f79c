//! The state as other processes see it while ralph runs.
//!
//! It folds the journal as it grows, without a lock and without writing.

use super::outside::digest_of_folder;
use super::{Fault, Fold, Places, with_tasks};
use crate::gate::STANDARD_REPORT;
use crate::journal::{Follower, JournalChange, Unread};
use crate::machine::state::State;
use crate::report::spent::Spent;
use crate::report::story::Story;
use crate::sys::Disk;
use crate::sys::disk::{RealDisk, read_beginning};
use crate::task::{TaskFile, TaskRules};
use serde_json::Value;
use std::path::Path;

/// Bytes of a report that are read.
const MAX_REPORT: u64 = 256 << 20;

/// A workspace that is observed from outside.
#[derive(Debug)]
pub struct Follow {
    places: Places,
    rules: TaskRules,
    follower: Follower,
    fold: Fold,
    spent: Spent,
    story: Story,
    /// It keeps what happened in each iteration, which few ask for.
    pub keeps_story: bool,
    /// Content of tasks.md at the last reading; `None` without such a file.
    tasks: Option<TaskFile>,
    /// The reason why the current journal cannot be folded.
    broken: Option<Fault>,
    /// A journal was seen once, and is there now.
    was_there: bool,
    is_there: bool,
}

impl Follow {
    /// Nothing was read yet.
    pub fn new(places: Places, rules: TaskRules) -> Self {
        let follower = Follower::new(&places.journal_file());
        Self {
            places,
            rules,
            follower,
            fold: Fold::default(),
            spent: Spent::default(),
            story: Story::default(),
            keeps_story: false,
            tasks: None,
            broken: None,
            was_there: false,
            is_there: false,
        }
    }

    /// Takes what the journal has gained and what tasks.md holds; false when neither has changed. A journal
    /// that cannot be folded is an error until it is another.
    pub fn read_news(&mut self, disk: &dyn Disk) -> Result<bool, Fault> {
        let has_grown = self
            .read_journal(disk)
            .inspect_err(|fault| self.broken = Some(fault.clone()))?;
        if has_grown {
            self.broken = None;
        }
        match &self.broken {
            Some(fault) => Err(fault.clone()),
            None => Ok(self.read_tasks(disk)? || has_grown),
        }
    }

    fn read_journal(&mut self, disk: &dyn Disk) -> Result<bool, Fault> {
        self.is_there = disk.len(&self.places.journal_file())?.is_some();
        self.was_there |= self.is_there;
        let Self {
            follower,
            fold,
            spent,
            story,
            keeps_story,
            places,
            ..
        } = self;
        follower.read(disk, |change| {
            match change {
                JournalChange::Restarted => (*fold, *spent, *story) = Default::default(),
                JournalChange::Record(record) => {
                    fold.take_record(&record)?;
                    spent.note_record(&record.at, &record.event, &fold.state);
                    if *keeps_story {
                        story.note_record(
                            &record.at,
                            &record.event,
                            &fold.state,
                            &|n, left: &str| {
                                kept_report(&places.iteration_folder(n).join("gate"), left)
                            },
                        );
                    }
                }
            }
            Ok(())
        })
    }

    fn read_tasks(&mut self, disk: &dyn Disk) -> Result<bool, Fault> {
        let bytes = disk.read(&self.places.tasks_file())?;
        if bytes.as_deref() == self.tasks.as_ref().map(TaskFile::file_bytes) {
            return Ok(false);
        }
        self.tasks = bytes.map(|bytes| self.rules.parse(bytes));
        Ok(true)
    }

    /// Returns the reason why this build cannot read the next record.
    pub fn unread_record(&self) -> Option<&Unread> {
        self.follower.unread()
    }

    /// True when a journal was read that is there no more.
    pub fn is_lost(&self) -> bool {
        self.was_there && !self.is_there
    }

    /// Returns the second since 1970 at which the wait of a loop ends; `None` without a wait.
    pub fn wait_of_loop(places: Places) -> Option<i64> {
        let mut follow = Self::new(places, TaskRules::default());
        follow.read_journal(&RealDisk::new()).ok()?;
        follow.spent.wait_end()
    }

    /// Time and attempts so far.
    pub fn time_spent(&self) -> &Spent {
        &self.spent
    }

    /// Returns the events so far; empty if they are not kept.
    pub fn story_so_far(&self) -> &Story {
        &self.story
    }

    /// Looks at the state with the boxes as tasks.md has them; where there is no such file, as the journal has
    /// them.
    pub fn look_at_state<T>(&self, look: impl FnOnce(&State, &Spent) -> T) -> T {
        let state = with_tasks(
            self.fold.state.clone(),
            &self.places,
            &self.rules,
            self.tasks.as_ref(),
        );
        look(&state, &self.spent)
    }
}

/// The report that viewers of mutation tests share, of a gate that left what has this digest.
fn kept_report(folder: &Path, digest: &str) -> Option<Value> {
    let is_as_left = !digest.is_empty() && digest_of_folder(folder).is_ok_and(|now| now == digest);
    if is_as_left {
        standard_report(folder)
    } else {
        None
    }
}

/// Reads the report that viewers of mutation tests share from the folder of a gate.
///
/// `None` if there is no readable report.
pub fn standard_report(folder: &Path) -> Option<Value> {
    let bytes = read_beginning(&folder.join(STANDARD_REPORT), MAX_REPORT)
        .ok()
        .flatten()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use crate::machine::event::{Event, Mode};
    use crate::machine::policy::Policy;
    use crate::sys::disk::RealDisk;

    fn started() -> Event {
        let (spec, version) = ("tasks.md".to_owned(), String::new());
        Event::RunStarted {
            spec,
            policy: Policy::default(),
            mode: Mode::Loop,
            retry: Vec::new(),
            version,
        }
    }

    fn append(disk: &mut RealDisk, places: &Places, event: &Event) {
        let mut journal =
            Journal::open(disk, &places.journal_file(), |_| Ok::<(), Fault>(())).unwrap();
        journal.append(disk, "2026-11-22T00:00:00Z", event).unwrap();
    }

    #[test]
    fn what_is_new_is_taken_once_and_a_broken_journal_stays_an_error_until_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().to_owned();
        let places = Places {
            spec: workspace.clone(),
            workspace,
        };
        let mut disk = RealDisk::new();
        let mut follow = Follow::new(places.clone(), TaskRules::default());
        assert!(!follow.read_news(&disk).unwrap(), "there is nothing");
        disk.replace(&places.tasks_file(), b"- [ ] 1. A\n").unwrap();
        assert!(follow.read_news(&disk).unwrap());
        append(&mut disk, &places, &started());
        assert!(follow.read_news(&disk).unwrap());
        assert!(!follow.read_news(&disk).unwrap());
        let boxes =
            |follow: &mut Follow| follow.look_at_state(|state, _| state.spec_state().rows.len());
        assert_eq!(boxes(&mut follow), 1);
        let (own, spec) = (
            follow.fold.state.spec_state().rows.len(),
            follow.fold.state.spec.clone(),
        );
        assert_eq!(
            (own, spec.as_str()),
            (0, "tasks.md"),
            "a look changes nothing: {spec}"
        );

        // An event that cannot follow.
        append(&mut disk, &places, &Event::ProgressAppended);
        let what = follow.read_news(&disk).unwrap_err().what;
        disk.replace(&places.tasks_file(), b"- [ ] 1. A\n- [ ] 2. B\n")
            .unwrap();
        assert_eq!(follow.read_news(&disk).unwrap_err().what, what);
        disk.truncate(&places.journal_file(), 0).unwrap();
        append(&mut disk, &places, &started());
        assert!(follow.read_news(&disk).unwrap());
        assert_eq!(boxes(&mut follow), 2);
        fs_err::remove_file(places.tasks_file()).unwrap();
        assert!(follow.read_news(&disk).unwrap());
        assert_eq!(boxes(&mut follow), 0, "as the journal has them");
    }
}
