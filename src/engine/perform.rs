//! Effects, performed: one arm each.
//!
//! Each may be performed again after a crash with the same outcome for the files; no agent is started twice for one
//! iteration.

use super::{Engine, Fault, Judged, readings};
use crate::machine::effect::Effect;
use crate::machine::event::{AgentEnd, Event};
use crate::machine::facts::ProcessEnd;
use crate::sys::ProcessId;

impl Engine<'_> {
    /// Performs one effect; the fact that it leads to, if it leads to one.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(Some(match effect {
            Effect::Survey => {
                let tasks = self.read_tasks()?;
                let snapshot = self.world.snapshot()?;
                // Times before 1970 are a clock that is not set.
                let now = self.world.now().parse::<jiff::Timestamp>().ok();
                let now = now.and_then(|now| u64::try_from(now.as_second()).ok()).unwrap_or_default();
                Event::Surveyed { tasks, snapshot, now }
            }
            Effect::Observe { mut request, validation } => {
                self.restore_progress()?;
                request.task.push_str(&self.task_before());
                let observation = Box::new(self.world.observe(&request)?);
                let (claims, tasks_changed) = self.agents_edits()?;
                let validation = if validation { self.validation()? } else { None };
                Event::Observed { observation, claims, tasks_changed, validation }
            }
            Effect::StartAgent(order) => {
                let tasks = self.tasks_read.clone();
                let readings = readings(&*self.disk, &self.places, &self.rules, tasks, &order.key)?;
                self.remember_progress()?;
                let ProcessId { pid, started } = self.world.start_agent(&order, &readings)?;
                Event::AgentSpawned { pid, started, agent: order.agent }
            }
            Effect::AwaitAgent => {
                let ended = self.world.await_agent()?;
                self.keep_validation()?;
                Event::AgentEnded(ended)
            }
            Effect::ReapAgent { iteration, process } => {
                let leftover_processes = self.world.reap_agent(iteration, process)?;
                Event::AgentEnded(AgentEnd { leftover_processes, ..ProcessEnd::Interrupted.into() })
            }
            Effect::KeepLeftovers { iteration, leftovers } => {
                let kept = self.world.keep_leftovers(iteration, &leftovers)?;
                Event::LeftoversKept { kept, snapshot: self.world.snapshot()? }
            }
            Effect::CommitLeft { before, message } => {
                Event::LeftCommitted { commits: self.world.commit_left(&before, &message)? }
            }
            Effect::PutBack { iteration, before, observation, everything } => {
                let kept = self.world.put_back(iteration, &before, &observation, everything)?;
                Event::WorkPutBack { kept, snapshot: self.world.snapshot()? }
            }
            Effect::RunCheck { iteration, check, packages } => {
                let Some(results) = self.world.run_check(iteration, check, &packages)? else {
                    return self.cut_short();
                };
                Event::Checked { check, results, tasks_changed: self.agents_edits()?.1 }
            }
            Effect::RunGate(order) => {
                let Some(judged) = self.world.run_gate(&order)? else { return self.cut_short() };
                let Judged { report, heads, changes, left } = judged;
                let tasks_changed = self.agents_edits()?.1;
                Event::GateEnded { report: Box::new(report), heads, changes, left, tasks_changed }
            }
            Effect::FlipBoxes { flips } => self.flip(&flips)?,
            Effect::RestoreTasks { iteration } => self.restore_tasks(iteration)?,
            Effect::AppendProgress { entry } => self.append_entry(&entry)?,
            Effect::Finish(stop) => Event::RunStopped { stop },
            Effect::Wait { seconds, exact } => {
                self.world.wait(seconds, exact);
                Event::Waited
            }
            other => {
                self.perform_without_fact(other)?;
                return Ok(None);
            }
        }))
    }

    /// Effects that lead to no fact: hooks, and the views under `.ralph/state`.
    fn perform_without_fact(&mut self, effect: Effect) -> Result<(), Fault> {
        match effect {
            Effect::Notify { event, task, why } => self.world.notify(event, &task, &why),
            Effect::WriteBefore { .. } | Effect::WriteDiff { .. } => self.write_views(&effect)?,
            Effect::SetReportAside { iteration } => {
                let aside = self.places.iteration(iteration).join("validation-report-before.md");
                self.disk.rename(&self.places.validation(), &aside)?;
            }
            other => return Err(Fault::internal(format!("This effect leads to a fact: {other:?}."))),
        }
        Ok(())
    }

    /// A check or gate was cut short by a signal: the run ends here, the phase stays, and the next run
    /// does it again.
    fn cut_short(&mut self) -> Result<Option<Event>, Fault> {
        if let Some(why) = self.world.stop_request() {
            self.record(&Event::StopRequested { why })?;
        }
        Ok(None)
    }
}
