//! The world as the engine needs it, everything but ralph's own files; crash tests put a double behind it.

use super::fault::Fault;
use super::readings::Readings;
use crate::machine::budget::Allowance;
use crate::machine::effect::{AgentOrder, Effect};
use crate::machine::event::{Event, StopRequest};
use crate::machine::facts::{InputDigests, Observation, ObserveRequest, OtherFiles, Snapshot};
use crate::machine::state::State;
use crate::sys::ProcessId;
use std::collections::BTreeMap;

/// Everything outside ralph's own files.
pub trait World {
    /// The time, RFC 3339, UTC.
    fn current_time(&mut self) -> String;
    /// Names the boot of the machine; empty if it is unknown.
    fn boot_id(&self) -> String;
    /// A signal or the wall limit asks for an end.
    fn stop_request(&mut self) -> Option<StopRequest>;
    /// True while a person wants no attempt to begin.
    fn is_paused(&self) -> bool {
        false
    }
    /// Waits while a person wants no attempt to begin; ends early when a stop is requested. No limit counts the time.
    fn wait_while_paused(&mut self) {
        while self.is_paused() && self.stop_request().is_none() {
            self.wait_seconds(1, true);
        }
    }
    /// Removes what was allowed while no run asked.
    fn forget_allowance(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    /// Waits until a person allows more than a budget; returns nothing if a stop is requested before. No limit counts the time.
    fn ask_for_budget(&mut self) -> Result<Allowance, Fault> {
        Ok(Allowance::default())
    }
    /// Keeps the files that no attempt may change, and returns their digests. `None` for a world without such files.
    fn keep_inputs(&mut self) -> Result<Option<InputDigests>, Fault> {
        Ok(None)
    }
    /// Restores these files after an attempt that ralph did not see to its end.
    ///
    /// Errors: one was changed, so what this process read of it may be the agent's.
    fn restore_inputs(&mut self, _iteration: u64, _recorded: &InputDigests) -> Result<(), Fault> {
        Ok(())
    }
    /// The packages now.
    fn take_snapshot(&mut self) -> Result<Snapshot, Fault>;
    /// The untracked files of no kind at the last snapshot.
    fn other_files(&self) -> OtherFiles {
        OtherFiles::new()
    }
    /// The agents whose login is at a limit by the notice of another run, each with the limit's end in seconds since 1970.
    fn shared_limits(&mut self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }
    /// SHA-256 of the spec's other files by their path below its folder; empty for one that is not there.
    fn spec_digests(&mut self) -> Result<BTreeMap<String, String>, Fault> {
        Ok(BTreeMap::new())
    }
    /// Starts the agent. One that could not be started has ended when it is waited for.
    fn start_agent(&mut self, order: &AgentOrder, readings: &Readings) -> Result<ProcessId, Fault>;
    /// Ends the agent that [`World::start_agent`] started, if it was not waited for; nothing of it is left when
    /// this returns.
    fn abandon_agent(&mut self);
    /// Restores files that an attempt may not change, without reading git.
    fn rescue_inputs(&mut self, _: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// Reads git after an attempt.
    fn observe_attempt(&mut self, request: &ObserveRequest) -> Result<Observation, Fault>;
    /// Performs any other effect on git, processes or people, and returns its event.
    ///
    /// `None` if no event follows, or if ralph's end cut it short.
    fn perform_effect(&mut self, effect: Effect) -> Result<Option<Event>, Fault>;
    /// Ends the lanes, and returns after the last of their processes.
    fn end_lanes(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    /// Waits, unless `exact` somewhat longer; ends early when a stop is requested, and with the wall limit.
    fn wait_seconds(&mut self, seconds: u64, exact: bool);
    /// A text from outside without the secrets that are known.
    fn redact_text(&self, text: &str) -> String;
    /// Shows a fact as it happens.
    fn tell_event(&mut self, event: &Event, state: &State);
}
