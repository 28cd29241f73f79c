//! The engine: append the fact, `step`, perform the effects; the file to read second.
//!
//! A fact is appended before its effects are performed, and is on the disk before an effect that touches the outside.
//! A restart is a fold and a `Resumed`, nothing else.

mod bundle;
mod fault;
mod film;
mod follow;
mod older_gates;
mod outside;
mod past;
mod perform;
mod places;
mod power_failure;
mod progress;
mod readings;
mod replay;
mod tasks;
mod views;
mod world;

pub use bundle::{BundleContents, pack_workspace, unpack_bundle};
pub use fault::{Fault, FaultKind};
pub use film::Film;
pub use follow::{Follow, standard_report};
pub use older_gates::{older_gates, stale_gates};
pub use outside::{
    AloneChoice, CacheFolder, CommitRange, JudgedTranscript, LaneStatus, LaneView, Outside,
    OutsideParts, TakenLane, lanes_of, own_template, private_folder, taken_families,
    verify_without_git,
};
pub use past::{BoxCriterion, Past, Range, read_past};
pub use places::Places;
pub use readings::{Readings, read_for_prompt};
pub use replay::{JOURNAL, Judgement, Replay, Run, first_other_line};
pub use world::World;

use crate::journal::{self, Journal, JournalError, Record};
use crate::machine::effect::Effect;
use crate::machine::event::{Event, Mode};
use crate::machine::state::{Phase, State};
use crate::machine::step;
use crate::mutation::GateReport;
use crate::report::history::History;
use crate::sys::Disk;
use crate::task::{TaskFile, TaskRules};
use progress::ProgressBefore;
use std::collections::{BTreeSet, VecDeque};

/// The fold of the journal with the tag of the record that the current entry belongs to.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    pub state: State,
    /// Time and tag of the record that led to what is being applied.
    pub decided: (String, String),
}

impl Fold {
    /// Takes one record; the effects that it leads to.
    pub fn take_record(&mut self, record: &Record) -> Result<Vec<Effect>, Fault> {
        let was_applying = matches!(self.state.phase, Phase::Applying { .. });
        let (state, effects) = step(std::mem::take(&mut self.state), &record.event)?;
        self.state = state;
        if !was_applying && matches!(self.state.phase, Phase::Applying { .. }) {
            self.decided = (record.at.clone(), record.tag().to_owned());
        }
        Ok(effects)
    }
}

/// A workspace whose journal is open for writing.
pub struct Engine<'a> {
    disk: &'a mut dyn Disk,
    world: &'a mut dyn World,
    places: Places,
    rules: TaskRules,
    journal: Journal,
    fold: Fold,
    must_sync: bool,
    /// The record behind the current entry was written by this process, not found by it.
    decided_here: bool,
    /// The bytes of tasks.md at the last reading, until ralph writes the file.
    tasks_read: Option<Vec<u8>>,
    /// progress.txt before the attempt that runs.
    progress_read: Option<ProgressBefore>,
    last_report: Option<GateReport>,
}

impl<'a> Engine<'a> {
    /// Opens the journal, repairs a torn tail, folds, and restores the files of a run that lost its power.
    pub fn open_journal(
        disk: &'a mut dyn Disk,
        world: &'a mut dyn World,
        places: Places,
        rules: TaskRules,
    ) -> Result<Self, Fault> {
        let mut fold = Fold::default();
        let journal = Journal::open(disk, &places.journal_file(), |record| {
            fold.take_record(&record).map(drop)
        })?;
        let state = &fold.state;
        if state.spec != places.spec_name()
            && !matches!(state.phase, Phase::Idle | Phase::Stopped(_))
        {
            return Err(interrupted_elsewhere(state));
        }
        if let Some(inputs) = state
            .inputs
            .as_ref()
            .filter(|_| state.has_unobserved_agent())
        {
            world.restore_inputs(state.iteration, inputs)?;
        }
        let mut engine = Self {
            disk,
            world,
            places,
            rules,
            journal,
            fold,
            must_sync: false,
            decided_here: false,
            tasks_read: None,
            progress_read: None,
            last_report: None,
        };
        engine.restore_lost_writes()?;
        Ok(engine)
    }

    /// Reads tasks.md and the packages, for a verb.
    pub fn look_around(&mut self) -> Result<(), Fault> {
        let seen = self.perform(Effect::Survey)?;
        self.drive_effects(seen.into_iter().collect())
    }

    /// The report of the gate that ended last in this process.
    pub fn last_report(&self) -> Option<&GateReport> {
        self.last_report.as_ref()
    }

    /// The state as folded so far.
    pub fn current_state(&self) -> &State {
        &self.fold.state
    }

    /// The chain's head: the hash of the last record.
    pub fn chain_head(&self) -> &str {
        self.journal.head()
    }

    /// Returns the world, for verbs outside of the loop.
    pub fn world_port(&mut self) -> &mut dyn World {
        self.world
    }

    /// Records these facts and does everything that follows, until nothing is owed.
    pub fn drive_effects(&mut self, facts: Vec<Event>) -> Result<(), Fault> {
        for fact in facts {
            let mut queue = VecDeque::from(self.record_event(&fact)?);
            while let Some(effect) = queue.pop_front() {
                self.listen_for_stop(&effect)?;
                if self.must_sync && !effect.is_read_only() {
                    self.journal.sync(self.disk)?;
                    self.must_sync = false;
                }
                if let Some(event) = self.perform(effect)? {
                    queue.extend(self.record_event(&event)?);
                }
            }
        }
        Ok(self.journal.sync(self.disk)?)
    }

    fn record_event(&mut self, event: &Event) -> Result<Vec<Effect>, Fault> {
        let at = self.world.current_time();
        let record = match self.journal.append(self.disk, &at, event) {
            Ok(record) => record,
            Err(error) => {
                let others_ran = !matches!(self.fold.state.phase, Phase::Idle | Phase::Stopped(_));
                if others_ran && matches!(error, JournalError::Changed) {
                    // A process that still runs would continue to write after the boxes were
                    // restored.
                    self.world.abandon_agent();
                    if self.rescue_journal() {
                        let journal = self.places.display_path(&self.places.journal_file());
                        let what = format!("{journal} was changed while ralph ran.");
                        let hint = "it was removed, and is back; so are tasks.md, progress.txt, the configuration and the \
                                    spec as far as they were gone; look at what else is missing, then run ralph again";
                        return Err(Fault::changed_fault(what, hint));
                    }
                }
                return Err(error.into());
            }
        };
        self.must_sync |= !event.is_lazy();
        if let Event::GateEnded { report, .. } = &record.event {
            self.last_report = Some((**report).clone());
        }
        let effects = self.fold.take_record(&record)?;
        self.decided_here |= self.fold.decided.1 == record.tag();
        self.world.tell_event(&record.event, &self.fold.state);
        Ok(effects)
    }

    /// Handles a request to pause or to stop the run, between iterations.
    fn listen_for_stop(&mut self, effect: &Effect) -> Result<(), Fault> {
        if self.fold.state.stopping.is_some()
            || !matches!(
                effect,
                Effect::Survey | Effect::Wait { .. } | Effect::AskForBudget
            )
        {
            return Ok(());
        }
        if self.fold.state.mode == Mode::Loop && self.world.is_paused() {
            self.record_event(&Event::Paused { begins: true })?;
            self.world.wait_while_paused();
            if !self.world.is_paused() {
                self.record_event(&Event::Paused { begins: false })?;
            }
        }
        self.take_stop_request()
    }

    /// Records that a signal or the wall limit asks for an end.
    fn take_stop_request(&mut self) -> Result<(), Fault> {
        if let Some(why) = self.world.stop_request() {
            self.record_event(&Event::StopRequested { why })?;
        }
        Ok(())
    }
}

/// The run on another task file was cut short: its verdicts must not reach the boxes of this one.
fn interrupted_elsewhere(state: &State) -> Fault {
    let (iteration, spec) = (state.iteration, &state.spec);
    let folder = spec.rsplit_once('/').map_or(".", |(folder, _)| folder);
    Fault::setup_fault(
        format!("Iteration {iteration} on {spec} was cut short, and ralph has to finish it first."),
        format!("`ralph --spec {folder} run`; then repeat this command"),
    )
}

/// Reads the state from the journal and tasks.md without a change on disk.
///
/// Verbs use it while a run holds the lock.
pub fn read_state(disk: &dyn Disk, places: &Places, rules: &TaskRules) -> Result<State, Fault> {
    let state = read_journal(disk, places)?;
    let file = tasks::read_bounded(disk, &places.tasks_file())?.map(|bytes| rules.parse(bytes));
    Ok(with_tasks(state, places, rules, file.as_ref()))
}

/// The state with the boxes as the task file has them, if there is one.
fn with_tasks(
    mut state: State,
    places: &Places,
    rules: &TaskRules,
    file: Option<&TaskFile>,
) -> State {
    state.look_at(places.spec_name());
    if let Some(file) = file {
        let rows = rules.ordered_boxes(file, &state.spec_state().rows);
        state.take_rows(
            rows,
            tasks::unread_lines(&places.display_path(&places.tasks_file()), file),
        );
    }
    state
}

/// The state as the journal alone tells it.
pub fn read_journal(disk: &dyn Disk, places: &Places) -> Result<State, Fault> {
    let mut fold = Fold::default();
    let bytes = disk.read(&places.journal_file())?.unwrap_or_default();
    journal::replay(&bytes, |record| fold.take_record(&record).map(drop))?;
    let mut state = fold.state;
    state.look_at(places.spec_name());
    Ok(state)
}

/// Returns the scores that gates measured; empty without a journal.
///
/// `by_lines` are the gates whose scope is changed lines.
///
/// Errors: a broken chain, a record that cannot follow.
pub fn read_history(
    disk: &dyn Disk,
    places: &Places,
    by_lines: &BTreeSet<String>,
) -> Result<History, Fault> {
    let bytes = disk.read(&places.journal_file())?.unwrap_or_default();
    let (mut history, mut fold) = (History::default(), Fold::default());
    journal::replay(&bytes, |record: Record| {
        history.note_record(&record.at, &record.event, &fold.state, by_lines);
        fold.take_record(&record).map(drop)
    })?;
    Ok(history)
}

#[cfg(test)]
mod tests;
