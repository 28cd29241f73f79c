//! The world as the engine needs it, everything but ralph's own files; crash tests put a double behind it.

use super::fault::Fault;
use super::readings::Readings;
use crate::machine::effect::{AgentOrder, GateOrder};
use crate::machine::event::{AgentEnd, Check, CheckResult, Event, Kept, StopRequest};
use crate::machine::facts::{Dirt, FileChange, Observation, ObserveRequest, Oid, Snapshot};
use crate::machine::state::State;
use crate::mutation::GateReport;
use crate::sys::ProcessId;
use std::collections::BTreeMap;

/// A gate's verdict with what it judged; `None` from [`World::run_gate`] when ralph's end cut it short.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Its report.
    pub report: GateReport,
    /// The commits.
    pub heads: BTreeMap<String, Oid>,
    /// The changes.
    pub changes: Vec<FileChange>,
    /// Digest of what it left in its folder; empty if that is nothing, or more than a gate may leave.
    pub left: String,
}

/// Everything outside ralph's own files.
pub trait World {
    /// The time, RFC 3339, UTC.
    fn now(&mut self) -> String;
    /// A signal or the wall limit asks for an end.
    fn stop_request(&mut self) -> Option<StopRequest>;
    /// True while a person wants no attempt to begin.
    fn is_paused(&self) -> bool {
        false
    }
    /// The packages now.
    fn snapshot(&mut self) -> Result<Snapshot, Fault>;
    /// Keeps what an attempt left, by package, and restores HEAD's state of it.
    fn keep_leftovers(
        &mut self,
        iteration: u64,
        leftovers: &BTreeMap<String, Vec<Dirt>>,
    ) -> Result<Vec<Kept>, Fault>;
    /// Starts the agent. One that could not be started has ended when it is waited for.
    fn start_agent(&mut self, order: &AgentOrder, readings: &Readings) -> Result<ProcessId, Fault>;
    /// Waits for the agent that [`World::start_agent`] started.
    fn await_agent(&mut self) -> Result<AgentEnd, Fault>;
    /// Ends the agent that [`World::start_agent`] started, if it was not waited for; nothing of it is left when
    /// this returns.
    fn abandon_agent(&mut self);
    /// Finds and kills what an earlier attempt left running.
    fn reap_agent(&mut self, iteration: u64, process: Option<(i32, u64)>) -> Result<u32, Fault>;
    /// Commits what the agent left.
    fn commit_left(&mut self, before: &Snapshot, message: &str) -> Result<BTreeMap<String, Oid>, Fault>;
    /// Reads git after an attempt.
    fn observe(&mut self, request: &ObserveRequest) -> Result<Observation, Fault>;
    /// Keeps what is there and puts it back.
    fn put_back(
        &mut self,
        iteration: u64,
        before: &Snapshot,
        observation: &Observation,
        everything: bool,
    ) -> Result<Vec<Kept>, Fault>;
    /// Runs a check in these packages; in all when there are none.
    fn run_check(
        &mut self,
        iteration: u64,
        check: Check,
        packages: &[String],
    ) -> Result<Option<Vec<CheckResult>>, Fault>;
    /// Runs a gate.
    fn run_gate(&mut self, order: &GateOrder) -> Result<Option<Judged>, Fault>;
    /// Waits, unless `exact` somewhat longer; ends early when a stop is requested, and with the wall limit.
    fn wait(&mut self, seconds: u64, exact: bool);
    /// Notifies people through the `hooks:` commands.
    fn notify(&mut self, event: &str, task: &str, why: &str);
    /// A text from outside without the secrets that are known.
    fn redact(&self, text: &str) -> String;
    /// Shows a fact as it happens.
    fn tell(&mut self, event: &Event, state: &State);
}
