//! Effects, performed: one arm each for those on ralph's own files; all others are the world's.
//!
//! Each may be performed again after a crash with the same outcome for the files; no agent is started twice for one
//! iteration.

use super::views::effect_views;
use super::{Engine, Fault, read_for_prompt};
use crate::machine::effect::{AgentOrder, Effect};
use crate::machine::event::{Event, Mode};
use crate::machine::facts::ProcessEnd;
use crate::sys::ProcessId;
use std::collections::BTreeMap;

impl Engine<'_> {
    /// Performs one effect; the fact that it leads to, if it leads to one.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(Some(match effect {
            Effect::Survey => {
                // Only what a person allows while the run asks counts, and no agent runs then.
                self.world.forget_allowance()?;
                let mut tasks = self.read_tasks()?;
                self.note_files(&mut tasks)?;
                let snapshot = self.world.take_snapshot()?;
                // Times before 1970 are a clock that is not set.
                let now = self.world.current_time().parse::<jiff::Timestamp>().ok();
                let now = now
                    .and_then(|now| u64::try_from(now.as_second()).ok())
                    .unwrap_or_default();
                let inputs = self
                    .world
                    .keep_inputs()?
                    .filter(|now| self.fold.state.inputs.as_ref() != Some(now));
                let state = &self.fold.state;
                let others = state.policy.ralph_commits.then(|| self.world.other_files());
                let others = others.filter(|now| state.others.as_ref() != Some(now));
                let shared_limits = match self.fold.state.mode {
                    Mode::Loop => self.world.shared_limits(),
                    Mode::Verb => BTreeMap::new(),
                };
                Event::Surveyed {
                    tasks,
                    snapshot,
                    now,
                    inputs,
                    others,
                    shared_limits,
                }
            }
            Effect::Observe {
                mut request,
                validation,
            } => {
                self.restore_progress()?;
                request.task.push_str(&self.task_before());
                let observation = Box::new(self.world.observe_attempt(&request)?);
                let (claims, tasks_changed) = self.agents_edits()?;
                let validation = if validation {
                    self.read_validation()?
                } else {
                    None
                };
                Event::Observed {
                    observation,
                    claims,
                    tasks_changed,
                    validation,
                }
            }
            Effect::StartAgent(order) => self.start_agent(*order)?,
            Effect::AwaitAgent => {
                let ended = self.world.perform_effect(effect)?;
                self.keep_validation()?;
                return Ok(ended);
            }
            Effect::RunCheck { .. } | Effect::RunGate(_) => {
                self.remember_progress()?;
                let mut ended = self.world.perform_effect(effect)?;
                self.restore_progress()?;
                match &mut ended {
                    Some(
                        Event::Checked { tasks_changed, .. }
                        | Event::GateEnded { tasks_changed, .. },
                    ) => {
                        *tasks_changed = self.agents_edits()?.1;
                    }
                    // A signal cut it short: the run ends here, the phase stays, and the next run does it again.
                    _ => self.take_stop_request()?,
                }
                return Ok(ended);
            }
            Effect::AskForBudget => Event::BudgetAllowed {
                more: self.world.ask_for_budget()?,
            },
            Effect::FlipBoxes { flips } => self.flip_boxes(&flips)?,
            Effect::RestoreTasks { iteration } => self.restore_tasks(iteration)?,
            Effect::AppendProgress { entry } => self.append_entry(&entry)?,
            Effect::Finish(stop) => {
                self.sync_files()?;
                Event::RunStopped { stop }
            }
            Effect::WriteBefore { .. } | Effect::WriteDiff { .. } => {
                for (path, text) in effect_views(&self.places, &effect) {
                    self.disk.write(&path, text.as_bytes())?;
                }
                return Ok(None);
            }
            Effect::SetReportAside { iteration } => {
                let aside = self
                    .places
                    .iteration_folder(iteration)
                    .join("validation-report-before.md");
                self.disk.rename(&self.places.validation_file(), &aside)?;
                return Ok(None);
            }
            Effect::Play(_) => {
                self.remember_progress()?;
                return self.world.perform_effect(effect);
            }
            Effect::KeepLeftovers { .. }
            | Effect::LookAtLane(_)
            | Effect::ReapAgent { .. }
            | Effect::CommitLeft { .. }
            | Effect::PutBack { .. }
            | Effect::Wait { .. }
            | Effect::Notify { .. } => return self.world.perform_effect(effect),
        }))
    }

    /// Starts the agent. A failure is recorded before it ends the run: a person may repair the configuration next, and
    /// a restart must not take that for the agent's work.
    fn start_agent(&mut self, order: AgentOrder) -> Result<Event, Fault> {
        match self.try_to_start(&order) {
            Ok(ProcessId { pid, started }) => Ok(Event::AgentSpawned {
                pid,
                started,
                agent: order.agent,
            }),
            Err(fault) => {
                // If this fails too, the fault that comes first is the one to report.
                drop(self.record_event(&Event::AgentEnded(ProcessEnd::Interrupted.into())));
                drop(self.journal.sync(self.disk));
                Err(fault)
            }
        }
    }

    fn try_to_start(&mut self, order: &AgentOrder) -> Result<ProcessId, Fault> {
        let tasks = self.tasks_read.clone();
        let readings = read_for_prompt(&*self.disk, &self.places, &self.rules, tasks, &order.key)?;
        self.remember_progress()?;
        self.world.start_agent(order, &readings)
    }
}
