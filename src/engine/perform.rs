//! Effects, performed: one arm each.
//!
//! Each may be performed again after a crash with the same outcome for the files; no agent is started twice for one
//! iteration.

use super::{AgentEnd, Engine, Fault, Readings, Started};
use crate::machine::effect::Effect;
use crate::machine::event::Event;
use crate::machine::facts::ProcessEnd;
use crate::task::TaskKey;

impl Engine<'_> {
    /// Performs one effect; the fact that it leads to, if it leads to one.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        match effect {
            Effect::Survey | Effect::Observe { .. } | Effect::AwaitAgent => self.read_world(effect).map(Some),
            Effect::WriteBefore { .. } | Effect::WriteDiff { .. } | Effect::SetReportAside { .. } => {
                self.write_view(effect)
            }
            Effect::FlipBoxes { .. } | Effect::RestoreTasks { .. } | Effect::AppendProgress { .. } => {
                self.write_state(effect).map(Some)
            }
            Effect::Wait { seconds, why } => {
                self.world.wait(seconds, &why);
                Ok(Some(Event::Waited))
            }
            Effect::Notify { event, task, why } => {
                self.world.notify(event, &task, &why);
                Ok(None)
            }
            Effect::Finish(stop) => Ok(Some(Event::RunStopped { stop })),
            Effect::StartAgent(order) => {
                let readings = self.readings(&order.key)?;
                Ok(Some(match self.world.start_agent(&order, &readings)? {
                    Started::Running(pid, started) => Event::AgentSpawned { pid, started },
                    Started::Ended(end) => ended(end),
                }))
            }
            Effect::KeepLeftovers { .. }
            | Effect::ReapAgent { .. }
            | Effect::CommitLeft { .. }
            | Effect::PutBack { .. }
            | Effect::RunCheck { .. }
            | Effect::RunGate(_) => self.act(effect),
        }
    }

    /// Effects that only read.
    fn read_world(&mut self, effect: Effect) -> Result<Event, Fault> {
        match effect {
            Effect::AwaitAgent => Ok(ended(self.world.await_agent()?)),
            Effect::Observe { request, validation } => {
                let observation = Box::new(self.world.observe(&request)?);
                let (claims, tasks_changed) = self.agents_edits()?;
                let validation = if validation { self.validation()? } else { None };
                Ok(Event::Observed { observation, claims, tasks_changed, validation })
            }
            _ => {
                let tasks = self.read_tasks()?;
                Ok(Event::Surveyed { tasks, snapshot: self.world.snapshot()? })
            }
        }
    }

    /// Effects on git and processes.
    fn act(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(match effect {
            Effect::KeepLeftovers { iteration, leftovers } => {
                let kept = self.world.keep_leftovers(iteration, &leftovers)?;
                Some(Event::LeftoversKept { kept, snapshot: self.world.snapshot()? })
            }
            Effect::ReapAgent { iteration, process } => {
                let leftover_processes = self.world.reap_agent(iteration, process)?;
                let end = ProcessEnd::Interrupted;
                Some(Event::AgentEnded { end, claim: None, leftover_processes, millis: 0 })
            }
            Effect::CommitLeft { before, message } => {
                Some(Event::LeftCommitted { commits: self.world.commit_left(&before, &message)? })
            }
            Effect::PutBack { iteration, before, observation, everything } => {
                let kept = self.world.put_back(iteration, &before, &observation, everything)?;
                Some(Event::WorkPutBack { kept, snapshot: self.world.snapshot()? })
            }
            Effect::RunCheck { iteration, check, packages } => {
                let results = self.world.run_check(iteration, check, &packages)?;
                match results {
                    Some(results) => {
                        let tasks_changed = self.agents_edits()?.1;
                        Some(Event::Checked { check, results, tasks_changed })
                    }
                    None => self.cut_short()?,
                }
            }
            Effect::RunGate(order) => match self.world.run_gate(&order)? {
                Some(judged) => Some(Event::GateEnded {
                    report: Box::new(judged.report),
                    heads: judged.heads,
                    changes: judged.changes,
                    tasks_changed: self.agents_edits()?.1,
                }),
                None => self.cut_short()?,
            },
            _ => None,
        })
    }

    /// A check or gate was cut short by a signal: the run ends here, the phase stays, and the next run
    /// does it again.
    fn cut_short(&mut self) -> Result<Option<Event>, Fault> {
        if let Some(why) = self.world.stop_request() {
            self.record(&Event::StopRequested { why })?;
        }
        Ok(None)
    }

    fn readings(&mut self, key: &TaskKey) -> Result<Readings, Fault> {
        let (progress, progress_before) = self.progress_tail()?;
        Ok(Readings {
            requirements: self.disk.read(&self.places.spec.join("requirements.md"))?,
            design: self.disk.read(&self.places.spec.join("design.md"))?,
            progress,
            progress_before,
            refers_to: self.refers_to(key)?,
        })
    }
}

fn ended(end: AgentEnd) -> Event {
    Event::AgentEnded {
        end: end.end,
        claim: end.claim,
        leftover_processes: end.leftover_processes,
        millis: end.millis,
    }
}
