//! The real world: git, processes, gates, the clock, people. Adapters meet only here.
//!
//! Every process runs under supervision and carries the tag of its iteration.

mod allowance;
mod artifacts;
mod attempt;
mod beside;
mod commit;
mod edits;
mod gate_log;
mod guard;
mod hooks;
mod input_copies;
mod inputs;
mod judge;
mod lanes;
mod logins;
mod patterns;
mod private_checkout;
mod scripts;
mod secrets;
mod spec_files;
mod template;
mod test_reports;
mod transcript;
mod turn_gate;

pub(super) use artifacts::digest_of_folder;
pub use edits::{JudgedTranscript, verify_without_git};
pub use judge::AloneChoice;
pub use lanes::{LaneStatus, LaneView, TakenLane, lanes_of, taken_families};
pub use private_checkout::CacheFolder;
pub(super) use spec_files::digest_of_file;
pub use template::own_template;
pub use turn_gate::CommitRange;

use super::{Fault, FaultKind, Places, Readings, World, older_gates};
use crate::config::Settings;
use crate::git::{GitError, GitErrorKind, Repositories, RestoreExtent};
use crate::machine::budget::Allowance;
use crate::machine::effect::{AgentOrder, Effect};
use crate::machine::event::{AgentEnd, Event, KeptWork, StopRequest};
use crate::machine::facts::{
    FileChange, InputDigests, Observation, ObserveRequest, Oid, OtherFiles, ProcessEnd, Snapshot,
};
use crate::machine::state::State;
use crate::source::{Secrets, environment_for};
use crate::sys::ProcessId;
use crate::sys::clock::{self, Stopwatch};
use crate::sys::disk::remove;
use crate::sys::log;
use crate::sys::process::{Supervisor, UnknownOwner, boot_id, reap};
use crate::sys::signals::Interrupts;
use attempt::RunningAgent;
use edits::TurnLog;
use inputs::Inputs;
use patterns::Patterns;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Time that a supervisor of an earlier run may take to end its processes.
const REAP_PATIENCE: Duration = Duration::from_secs(15);
/// Time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(10);
/// Time that an agent's CLI has to exit after its transcript's last word: what its own background work may still need.
const AFTER_RESULT: Duration = Duration::from_secs(15);
/// Bytes kept of each log of a process.
const LOG_CAP: u64 = 64 << 20;

/// Callback for every recorded event.
type Listener = Box<dyn FnMut(&Event, &State)>;
/// Callback for the progress of a gate.
type Progress = Box<dyn Fn(&str) + Send + Sync>;

/// The real world.
pub struct Outside {
    parts: OutsideParts,
    since: Stopwatch,
    /// Time of the run that a person paused.
    paused: Duration,
    running: Option<RunningAgent>,
    /// The lanes that this process started.
    lanes: lanes::Lanes,
    /// Names of the variables that this workspace has as a lane; none in main.
    lane_variables: Vec<String>,
    /// The transcript of the last attempt, until it was held against git.
    turn_log: Option<TurnLog>,
    /// Files that the running attempt may not write.
    ///
    /// `None` if this process did not start it.
    inputs: Option<Inputs>,
    tag: String,
    /// Texts that no event may hold.
    secrets: Secrets,
    /// Files of the attempt that ralph did not commit.
    withheld: Vec<String>,
    patterns: OnceCell<Patterns>,
    logins: logins::Logins,
}

/// Parts of the real world.
pub struct OutsideParts {
    /// The folders.
    pub places: Places,
    /// The configuration.
    pub settings: Settings,
    /// The packages.
    pub repositories: Repositories,
    /// Starts processes.
    pub supervisor: Supervisor,
    /// Signals.
    pub interrupts: Interrupts,
    /// Ralph's own environment.
    pub environment: Vec<(String, String)>,
    /// Callback for every recorded event.
    pub listener: Listener,
    /// Callback for the progress of a gate.
    pub progress: Progress,
    /// Callback for the agent's words and actions.
    pub said: Progress,
    /// Ralph's cache folder.
    pub cache: PathBuf,
}

impl Outside {
    /// Composes the world.
    pub fn new(mut parts: OutsideParts) -> Self {
        let own = lanes::own_variables(&parts);
        parts
            .environment
            .retain(|(name, _)| own.iter().all(|(variable, _)| variable != name));
        parts.environment.extend(own.iter().cloned());
        let mut tag = crate::task::digest(parts.places.workspace.as_os_str().as_encoded_bytes());
        tag.truncate(16);
        let agents = parts.settings.agents.values().flat_map(|agent| &agent.env);
        let in_lanes = parts.settings.lanes.variables_of(0, "");
        let in_lanes = in_lanes.iter().map(|(name, value)| (name, value));
        let secrets = Secrets::of(
            parts
                .environment
                .iter()
                .map(|(name, value)| (name, value))
                .chain(agents)
                .chain(in_lanes),
        );
        let logins = logins::Logins::new(&parts.environment);
        log::replace_secrets(secrets.clone());
        let (since, paused) = (Stopwatch::start(), Duration::ZERO);
        Self {
            parts,
            since,
            paused,
            running: None,
            lanes: lanes::Lanes::default(),
            lane_variables: own.into_iter().map(|(name, _)| name).collect(),
            turn_log: None,
            inputs: None,
            tag,
            secrets,
            withheld: Vec::new(),
            patterns: OnceCell::new(),
            logins,
        }
    }

    /// The environment of what is no agent: the usual variables, those that the configuration names for it, and those
    /// of the lane.
    fn command_environment(&self, named: &[String]) -> Vec<(String, String)> {
        let named = [named, &self.lane_variables].concat();
        environment_for(&self.parts.environment, &named)
    }

    /// Returns the changes and commits of all packages since HEAD diverged from a revision.
    pub fn changes_since(
        &mut self,
        revision: &str,
    ) -> Result<(Vec<FileChange>, BTreeMap<String, Oid>), Fault> {
        Ok(self.parts.repositories.changes_since(revision)?)
    }

    /// The time that `limits.wall` leaves this run.
    fn wall_left(&self) -> Duration {
        (self.parts.settings.limits.wall + self.paused).saturating_sub(self.since.elapsed())
    }

    /// The gates whose tick describes another commit than HEAD, a sentence each.
    pub fn older_gates(&mut self, state: &State) -> Vec<String> {
        older_gates(
            state.spec_state(),
            &state.heads,
            Some(&mut self.parts.repositories),
        )
    }

    /// The tag of everything that an iteration starts.
    fn iteration_tag(&self, iteration: u64) -> String {
        format!("{}-{iteration}", self.tag)
    }

    /// Creates `iter-N/` with mode 0700, and logs into it from now on.
    fn iteration_folder(&self, iteration: u64) -> io::Result<PathBuf> {
        let folder = self.own_folder(self.parts.places.iteration_folder(iteration))?;
        if let Err(error) = log::enter_iteration(&folder) {
            // No decision depends on the log, so the run continues without one.
            let path = self.parts.places.display_path(&folder.join(log::NAME));
            (self.parts.progress)(&format!("{path} is not written: {error}"));
        }
        Ok(folder)
    }

    /// Makes a folder of ralph's own below the state folder. A link or a file in its place, which an agent may have
    /// left there, is set aside: ralph writes into no folder that it was led to.
    fn own_folder(&self, folder: PathBuf) -> io::Result<PathBuf> {
        if fs_err::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir()) {
            let aside = new_folder(&self.parts.places.state_folder(), "set-aside-")?.keep();
            fs_err::rename(&folder, aside.join(folder.file_name().unwrap_or_default()))?;
            let [was, aside] = [&folder, &aside].map(|path| self.parts.places.display_path(path));
            (self.parts.progress)(&format!("{was} was no folder and was set aside in {aside}"));
        }
        private_folder(&folder)?;
        Ok(folder)
    }
}

/// Makes a folder that only its owner can read.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder)
}

/// A new folder with a random name that only its owner can read.
fn new_folder(parent: &Path, prefix: &str) -> io::Result<TempDir> {
    use std::os::unix::fs::PermissionsExt as _;
    let private = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new()
        .prefix(prefix)
        .rand_bytes(20)
        .permissions(private)
        .tempdir_in(parent)
}

impl From<GitError> for Fault {
    fn from(error: GitError) -> Self {
        let kind = match error.kind {
            GitErrorKind::Refused | GitErrorKind::NotFound => FaultKind::Setup,
            GitErrorKind::Unreadable => FaultKind::Unknown,
            GitErrorKind::Io => FaultKind::Io,
        };
        Self::new(kind, error.to_string(), error.hint.clone()).caused_by(error)
    }
}

impl Outside {
    /// Finds and kills what an earlier attempt left running.
    fn reap_agent(
        &mut self,
        iteration: u64,
        process: Option<(i32, u64)>,
    ) -> Result<AgentEnd, Fault> {
        let id = process.map(|(pid, started)| ProcessId { pid, started });
        let reaped =
            reap(id.as_ref(), &self.iteration_tag(iteration), REAP_PATIENCE).map_err(|error| {
                if UnknownOwner::is_cause_of(&error) {
                    return Fault::from(error);
                }
                Fault::new(
                    FaultKind::Busy,
                    format!("A process of iteration {iteration} still lives: {error}."),
                    "end it by hand, then run ralph again",
                )
                .caused_by(error)
            });
        Ok(AgentEnd {
            leftover_processes: reaped?,
            ..ProcessEnd::Interrupted.into()
        })
    }

    /// Looks at what programs left.
    fn look_at_packages(&mut self, request: &ObserveRequest) -> Result<Observation, Fault> {
        self.parts
            .repositories
            .observe_attempt(request)
            .map_err(|error| {
                let fault = Fault::from(error);
                // It could be read before the programs ran: they made it so, and only a person can undo it.
                match fault.kind {
                    FaultKind::Setup => Fault {
                        kind: FaultKind::Changed,
                        ..fault
                    },
                    FaultKind::Unknown => Fault::changed_fault(
                        format!(
                            "{} Before iteration {} it could be read.",
                            fault.what, request.iteration
                        ),
                        "restore the repository from another clone or a copy, then run ralph again",
                    ),
                    _ => fault,
                }
            })
    }

    /// Keeps what is there and puts it back.
    fn put_back(
        &mut self,
        iteration: u64,
        before: &Snapshot,
        observation: &Observation,
        extent: RestoreExtent,
    ) -> Result<(Vec<KeptWork>, Snapshot), Fault> {
        let repositories = &mut self.parts.repositories;
        if let Some(gone) = observation.packages.iter().find(|package| package.vanished)
            && repositories.take_snapshot()?.package(&gone.name).is_none()
        {
            let head = before
                .package(&gone.name)
                .map(|package| package.head.to_string());
            let (name, head) = (&gone.name, head.unwrap_or_default());
            return Err(Fault::changed_fault(
                format!(
                    "The repository {name} vanished during the attempt and cannot be restored."
                ),
                format!("clone it again to the same folder at {head}, then run ralph again"),
            ));
        }
        let reference = format!("refs/ralph/rejected/{iteration}");
        let kept = repositories.put_back(before, observation, extent, iteration, &reference)?;
        Ok((kept, repositories.take_snapshot()?))
    }
}

impl World for Outside {
    fn current_time(&mut self) -> String {
        clock::stamp()
    }

    fn boot_id(&self) -> String {
        boot_id().unwrap_or_default()
    }

    fn stop_request(&mut self) -> Option<StopRequest> {
        if let Some(signal) = self.parts.interrupts.first() {
            return Some(StopRequest::Signal { signal });
        }
        self.wall_left().is_zero().then_some(StopRequest::Wall)
    }

    fn is_paused(&self) -> bool {
        self.parts.places.pause_file().is_file() || self.is_paused_by_main()
    }

    fn wait_while_paused(&mut self) {
        let began = Stopwatch::start();
        while self.is_paused() && self.parts.interrupts.first().is_none() {
            self.parts
                .interrupts
                .wait_until(clock::monotonic() + Duration::from_secs(1));
        }
        self.paused += began.elapsed();
    }

    fn forget_allowance(&mut self) -> Result<(), Fault> {
        Ok(remove(&self.parts.places.allowance_file())?)
    }

    fn ask_for_budget(&mut self) -> Result<Allowance, Fault> {
        self.wait_for_allowance()
    }

    fn keep_inputs(&mut self) -> Result<Option<InputDigests>, Fault> {
        Self::keep_inputs(self).map(Some)
    }

    fn restore_inputs(&mut self, iteration: u64, recorded: &InputDigests) -> Result<(), Fault> {
        Self::restore_inputs(self, iteration, recorded)
    }

    fn take_snapshot(&mut self) -> Result<Snapshot, Fault> {
        Ok(self.parts.repositories.take_snapshot()?)
    }

    fn other_files(&self) -> OtherFiles {
        self.parts.repositories.other_files()
    }

    fn shared_limits(&mut self) -> BTreeMap<String, u64> {
        self.noticed_limits()
    }

    fn spec_digests(&mut self) -> Result<BTreeMap<String, String>, Fault> {
        Self::spec_digests(self)
    }

    fn start_agent(&mut self, order: &AgentOrder, readings: &Readings) -> Result<ProcessId, Fault> {
        Self::start_agent(self, order, readings)
    }

    fn abandon_agent(&mut self) {
        self.running = None;
    }

    fn rescue_inputs(&mut self, iteration: u64) -> Result<(), Fault> {
        self.put_inputs_back(iteration).map(drop)
    }

    fn observe_attempt(&mut self, request: &ObserveRequest) -> Result<Observation, Fault> {
        let changed = self.inputs_changed_in(request.iteration)?;
        let (git_settings, inputs) = changed
            .into_iter()
            .partition(|path| self.is_git_setting(path));
        let mut observation = Observation {
            inputs,
            git_settings,
            ..self.look_at_packages(request)?
        };
        self.note_protected(&mut observation, request)?;
        observation.edits = self.verify_attempt(&request.before, &observation)?;
        observation.withheld = std::mem::take(&mut self.withheld);
        Ok(self.secrets.of_observation(observation))
    }

    fn perform_effect(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(Some(match effect {
            Effect::KeepLeftovers {
                iteration,
                leftovers,
            } => {
                let reference = format!("refs/ralph/leftover/{iteration}");
                let kept = self.parts.repositories.keep_aside(&leftovers, &reference)?;
                Event::LeftoversKept {
                    kept,
                    snapshot: self.take_snapshot()?,
                }
            }
            Effect::LookAtLane(order) => self.look_at_lane(&order)?,
            Effect::Play(play) => Event::AgentEnded(self.play(&play)?),
            Effect::AwaitAgent => Event::AgentEnded(self.await_agent()?),
            Effect::ReapAgent { iteration, process } => {
                Event::AgentEnded(self.reap_agent(iteration, process)?)
            }
            Effect::CommitLeft {
                before,
                others,
                message,
            } => Event::LeftCommitted {
                commits: self.commit_left(&before, others.as_ref(), &message)?,
            },
            Effect::PutBack {
                iteration,
                before,
                observation,
                everything,
            } => {
                let extent = if everything {
                    RestoreExtent::All
                } else {
                    RestoreExtent::Breaches
                };
                let (kept, snapshot) = self.put_back(iteration, &before, &observation, extent)?;
                Event::WorkPutBack { kept, snapshot }
            }
            Effect::RunCheck {
                iteration,
                check,
                packages,
                since,
            } => {
                return self.run_check(iteration, check, &packages, since);
            }
            Effect::RunGate(order) => return self.run_gate(&order),
            Effect::Wait { seconds, exact } => {
                self.wait_seconds(seconds, exact);
                Event::Waited
            }
            Effect::Notify { event, task, why } => {
                let message = serde_json::json!({ "event": event, "task": task, "why": why });
                // No decision depends on it: the hook's log holds its result.
                drop(self.guard_hook(event, |world| {
                    world.call_hook(event, &message, String::clone)
                })?);
                return Ok(None);
            }
            own => {
                return Err(Fault::internal_fault(format!(
                    "This effect is on files of ralph's own: {own:?}."
                )));
            }
        }))
    }

    fn wait_seconds(&mut self, seconds: u64, exact: bool) {
        let jitter = if exact {
            0
        } else {
            u64::from(std::process::id()) % (seconds / 10 + 1)
        };
        let wait = Duration::from_secs(seconds + jitter).min(self.wall_left());
        self.parts.interrupts.wait_until(clock::monotonic() + wait);
    }

    fn end_lanes(&mut self) -> Result<(), Fault> {
        self.stop_lanes()
    }

    fn redact_text(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    fn tell_event(&mut self, event: &Event, state: &State) {
        (self.parts.listener)(event, state);
    }
}
