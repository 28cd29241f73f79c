//! Starts every program, and makes sure that it is gone afterwards (docs/design.md "Processes").
//!
//! For each process ralph executes itself again under a hidden verb, holds a pipe to it (the lifeline) and listens to
//! its reports:
//!
//! ```text
//! ralph ──lifeline, order, "stop", "kill"──► supervisor (own session) ──► process (own group)
//!       ◄──started, ended─────────────────                            ◄── output → capped logs
//! ```
//!
//! Promises: when ralph is gone for any reason, so is every process it started, in any session, group or environment.
//! If the supervisor itself is killed, the process, its descendants and everything with the tag are killed. Only a
//! process that left both its parent and its environment is not reached. macOS shows less of other processes
//! (docs/design.md "On macOS").

mod capture;
mod descendants;
mod reap;
mod supervise;
mod table;
mod tree;
mod watch;
mod wire;

pub use reap::{become_agent, is_inside_agent, reap};
pub use supervise::supervise_main;

use super::clock::{leave_out, monotonic};
use super::itself::is_unchanged;
use super::poll::wait_for;
use super::signals::{Interrupts, Subscription};
use super::{FinishedProcess, ProcessId, ProcessSpec, Running, Spawn};
use crate::machine::facts::ProcessEnd;
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::getpid;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use watch::UNKILLABLE;
use wire::SupervisorReport;
pub(in crate::sys) use wire::os_path;

/// The hidden verb under which ralph is its own supervisor. The tag follows it.
pub const VERB: &str = "__supervise";

/// The variable that marks a process tree.
pub const TAG: &str = "RALPH_TAG";

/// Time beyond its limits after which a supervisor counts as stuck.
const SLACK: Duration = Duration::from_secs(15);

/// Duration of one wait for a supervisor. A much longer wait means that ralph was stopped.
const TICK: Duration = Duration::from_secs(1);

/// Maximum time for a supervisor to start the process.
const START: Duration = Duration::from_secs(60);

/// Maximum time to kill the processes of a dead supervisor.
const REAP: Duration = Duration::from_secs(5);

/// Returns a name of the machine's boot: no other boot has it.
pub fn boot_id() -> io::Result<String> {
    table::boot_id()
}

impl ProcessId {
    /// Returns the current process with this number; `None` without one.
    pub fn of(pid: i32) -> io::Result<Option<Self>> {
        Ok(table::find(pid)?.map(|row| row.id))
    }

    pub fn own() -> io::Result<Self> {
        let pid = getpid().as_raw();
        Self::of(pid)?
            .ok_or_else(|| io::Error::other("The process table does not show this process."))
    }

    /// True while exactly this process exists and is not a zombie.
    pub fn is_alive(&self) -> bool {
        matches!(table::find(self.pid), Ok(Some(row)) if row.id == *self && !row.zombie)
    }

    /// Returns the id of a process that was not started.
    fn none() -> Self {
        Self { pid: 0, started: 0 }
    }
}

/// The error for a process with an owner that the system does not show. The text names the process.
///
/// It may belong to an agent, so ralph neither kills it nor continues.
#[derive(Debug)]
pub struct UnknownOwner(pub String);

impl UnknownOwner {
    /// True if the error is about such a process.
    pub fn is_cause_of(error: &io::Error) -> bool {
        error
            .get_ref()
            .is_some_and(<dyn Error + Send + Sync>::is::<Self>)
    }
}

impl fmt::Display for UnknownOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UnknownOwner {}

/// Builds a `Command`, at the only place where this is allowed.
#[expect(clippy::disallowed_methods, reason = "this is the owner of processes")]
fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Starts processes under supervision.
#[derive(Clone, Debug)]
pub struct Supervisor {
    program: PathBuf,
    interrupts: Option<Interrupts>,
}

impl Supervisor {
    /// Creates a supervisor factory.
    ///
    /// `program` is the ralph binary ([`own_program`]), which must call [`supervise_main`] when its first argument is
    /// [`VERB`]. The first interrupt stops running processes, the second kills them. After the first no process is
    /// started.
    ///
    /// [`own_program`]: crate::sys::itself::own_program
    pub fn new(program: PathBuf, interrupts: Option<Interrupts>) -> Self {
        Self {
            program,
            interrupts,
        }
    }

    /// Starts a supervisor for a process with this tag before the process is known.
    ///
    /// It becomes ready while the caller writes the process's input, and starts nothing by itself. The signals of a
    /// terminal are blocked, so that none can end it before it catches them.
    pub fn ready(&self, tag: &str) -> io::Result<Ready> {
        if !is_unchanged(&self.program) {
            return Err(io::Error::other(format!(
                "{} was replaced while it ran; start ralph again.",
                self.program.display()
            )));
        }
        let mut command = command(&self.program);
        // No environment: the process could read it in /proc, including ralph's secrets.
        command.args([VERB, tag]).env_clear();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let blocked = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let child = command.spawn();
        before.thread_set_mask()?;
        let doing = "execute the supervisor";
        let child = child.map_err(|error| super::disk::in_path(error, doing, &self.program))?;
        Ok(Ready {
            lifeline: Lifeline(child),
            tag: tag.to_owned(),
        })
    }

    /// Starts a process as [`Spawn::start`] does, by a ready supervisor with the tag of `spec`. After an interrupt
    /// nothing is started.
    pub fn start_by(&self, ready: Ready, spec: &ProcessSpec) -> io::Result<Box<dyn Running>> {
        if self
            .interrupts
            .as_ref()
            .is_some_and(|interrupts| interrupts.first().is_some())
        {
            return Ok(Box::new(NotRunning(Ok(FinishedProcess::at_once(
                ProcessEnd::Interrupted,
            )))));
        }
        tracing::info!(target: "process", cwd = %spec.cwd.display(), argv = %spec.argv.join(" "), "start");
        let interrupts = self
            .interrupts
            .as_ref()
            .map(Interrupts::subscribe)
            .transpose()?;
        let order = serde_json::to_vec(spec)?;
        let Ready { mut lifeline, tag } = ready;
        if tag != spec.tag {
            return Err(io::Error::other(
                "The supervisor carries another tag than its process.",
            ));
        }
        let Some(reports) = lifeline.0.stdout.take() else {
            return Err(io::Error::other("The supervisor has no pipes."));
        };
        let mut supervised = Supervised {
            lifeline,
            reports: BufReader::new(reports),
            interrupts,
            passed_on: 0,
            id: ProcessId::none(),
            spec: spec.clone(),
        };
        supervised.say(&order);
        let limit = monotonic().checked_add(START);
        match supervised.next_report(limit)? {
            Some(SupervisorReport::Started(id)) => supervised.id = id,
            Some(SupervisorReport::Ended(ended)) => return Ok(Box::new(NotRunning(Ok(ended)))),
            Some(SupervisorReport::Failed {
                why,
                errno,
                unknown_owner,
            }) => return Err(wire::failure(why, errno, unknown_owner)),
            None => {
                // A fast process can kill its supervisor before that reports the start: this is how the process
                // ended, not a process that could not be started.
                let gone = limit.is_none_or(|limit| monotonic() < limit);
                let killed = gone && supervised.lifeline.0.wait()?.signal().is_some();
                let why = supervised.lost();
                return if killed {
                    Ok(Box::new(NotRunning(Err(why))))
                } else {
                    Err(why)
                };
            }
        }
        Ok(Box::new(supervised))
    }
}

impl Spawn for Supervisor {
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>> {
        self.start_by(self.ready(&spec.tag)?, spec)
    }
}

/// A supervisor. Its standard input is the lifeline, which ends when this is dropped.
///
/// The supervisor and all its processes then end too.
#[derive(Debug)]
struct Lifeline(Child);

impl Drop for Lifeline {
    fn drop(&mut self) {
        // Waiting closes the child's standard input first.
        let _ = self.0.wait();
    }
}

/// A supervisor without an order.
#[derive(Debug)]
pub struct Ready {
    lifeline: Lifeline,
    tag: String,
}

/// A process that never ran under supervision, with its result.
struct NotRunning(io::Result<FinishedProcess>);

impl Running for NotRunning {
    fn id(&self) -> ProcessId {
        ProcessId::none()
    }

    fn wait(self: Box<Self>) -> io::Result<FinishedProcess> {
        self.0
    }
}

/// A process under supervision, killed if it is dropped without a wait.
struct Supervised {
    lifeline: Lifeline,
    reports: BufReader<ChildStdout>,
    interrupts: Option<Subscription>,
    /// Number of interrupts passed on.
    passed_on: usize,
    id: ProcessId,
    spec: ProcessSpec,
}

impl Running for Supervised {
    fn id(&self) -> ProcessId {
        self.id.clone()
    }

    #[tracing::instrument(target = "process", skip_all, fields(pid = self.id.pid), err(level = "info"))]
    fn wait(mut self: Box<Self>) -> io::Result<FinishedProcess> {
        let limit = self
            .spec
            .wall
            .and_then(|wall| monotonic().checked_add(wall)?.checked_add(self.slack()));
        match self.next_report(limit)? {
            Some(SupervisorReport::Ended(ended)) => {
                tracing::info!(target: "process", end = ?ended.end, leftover_processes = ended.leftover_processes, "end");
                Ok(ended)
            }
            Some(SupervisorReport::Failed {
                why,
                errno,
                unknown_owner,
            }) => Err(wire::failure(why, errno, unknown_owner)),
            Some(SupervisorReport::Started(_)) | None => Err(self.lost()),
        }
    }
}

impl Supervised {
    /// Returns the next report, and passes on interrupts meanwhile.
    ///
    /// `None` if the supervisor is gone, or silent beyond the limit.
    fn next_report(&mut self, mut limit: Option<Instant>) -> io::Result<Option<SupervisorReport>> {
        loop {
            let left = limit.map(|limit| limit.saturating_duration_since(monotonic()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let (speaks, interrupted) = self.wait_for_news(left)?;
            if interrupted {
                let count = self.interrupts.as_mut().map_or(Ok(0), Subscription::take)?;
                for _ in 0..count {
                    self.passed_on += 1;
                    self.say(if self.passed_on == 1 {
                        wire::STOP
                    } else {
                        wire::KILL
                    });
                }
                let latest = monotonic().checked_add(self.slack());
                limit = limit.into_iter().chain(latest).min();
            }
            if speaks {
                let mut line = Vec::new();
                self.reports.read_until(b'\n', &mut line)?;
                return Ok(serde_json::from_slice(&line).ok());
            }
        }
    }

    /// Waits. Returns true for a report to read, and true for an interrupt to read.
    fn wait_for_news(&self, left: Option<Duration>) -> io::Result<(bool, bool)> {
        if !self.reports.buffer().is_empty() {
            return Ok((true, false));
        }
        let mut fds = vec![PollFd::new(
            self.reports.get_ref().as_fd(),
            PollFlags::POLLIN,
        )];
        fds.extend(
            self.interrupts
                .iter()
                .map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)),
        );
        let (asked, since) = (left.map_or(TICK, |left| left.min(TICK)), monotonic());
        wait_for(&mut fds, Some(asked))?;
        if monotonic() > since + asked + TICK {
            // A STOP cannot be caught, so only the duration of the wait shows it.
            leave_out(since + asked);
        }
        Ok((is_ready(fds.first()), is_ready(fds.get(1))))
    }

    /// Sends an order to the supervisor. If it is gone, its report will be missing.
    fn say(&mut self, word: &[u8]) {
        if let Some(lifeline) = &mut self.lifeline.0.stdin {
            let _ = lifeline.write_all(&[word, b"\n"].concat());
        }
    }

    /// Returns the maximum time from the order to end until everything is gone.
    fn slack(&self) -> Duration {
        self.spec
            .grace
            .saturating_add(UNKILLABLE)
            .saturating_add(SLACK)
    }

    /// Kills the processes of a supervisor that is gone without a report, or stuck.
    fn lost(&mut self) -> io::Error {
        // Both fail only after a wait for it.
        let _ = self.lifeline.0.kill();
        let status = self.lifeline.0.wait();
        let died = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let id = (self.id.pid != 0).then(|| self.id.clone());
        let rest = match reap(id.as_ref(), &self.spec.tag, REAP) {
            Ok(count) => format!("{count} processes were killed in its place."),
            Err(error) => error.to_string(),
        };
        let program = self.spec.argv.first().map_or("", String::as_str);
        io::Error::other(format!(
            "The supervisor of `{program}` ended without a report ({died}). {rest}"
        ))
    }
}

fn is_ready(fd: Option<&PollFd<'_>>) -> bool {
    fd.and_then(PollFd::any).unwrap_or(false)
}
