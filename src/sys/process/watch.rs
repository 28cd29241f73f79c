//! The supervisor's one loop: output, limits, orders, and the end of the whole tree (docs/design.md "Processes").
//!
//! Promises: no process of the tree is left when it returns, as the system confirms ([`Descendants`]). A process that
//! survives KILL for [`UNKILLABLE`], or that may belong to the tree, is an error. Nothing that the process does with its
//! output can block the loop. While ralph is stopped, so is the tree, and limits do not advance.

use super::capture::Stream;
use super::descendants::{CHILDREN, Descendants, Lineage as _};
use super::wire::{KILL, STOP, SupervisorLink};
use super::{UnknownOwner, table, tree};
use crate::machine::facts::ProcessEnd;
use crate::sys::clock::{leave_out, monotonic};
use crate::sys::poll::wait_for;
use crate::sys::{FinishedProcess, ProcessId, ProcessSpec};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getppid};
use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time for descendants to live after the process ended by itself, before they count as leftovers.
const SETTLE: Duration = Duration::from_millis(100);
/// Time for descendants to live after a TERM ended the process.
const SETTLE_TERMINATED: Duration = Duration::from_secs(1);
/// Maximum grace after ralph itself is gone.
const GRACE_ABANDONED: Duration = Duration::from_millis(300);
/// Time to read output after the end of the process: a process outside the tree may hold the pipe.
const DRAIN: Duration = Duration::from_secs(2);
/// Maximum time for killed processes to vanish.
pub(super) const UNKILLABLE: Duration = Duration::from_secs(30);
/// Interval of checks that ralph is neither stopped nor dead.
///
/// The lifeline alone does not show its death, because a hostile process may hold it open.
const LOOK_AT_PARENT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
enum WatchStage {
    Running,
    /// It was sent TERM, and has until this time.
    Terminating(Instant),
    /// It ended by itself. Its descendants have until this time.
    Settling(Instant),
    /// The tree is empty. Output may arrive until this time.
    Draining(Instant),
}

/// A process that was just started.
#[derive(Debug)]
pub(super) struct LaunchedProcess {
    /// Its process id, which is also that of its group.
    pub(super) leader: i32,
    pub(super) streams: Vec<Stream>,
    pub(super) began: Instant,
}

/// A process tree under supervision.
#[derive(Debug)]
pub(super) struct Watch {
    spec: ProcessSpec,
    leader: i32,
    parent: Pid,
    descendants: Descendants,
    /// `None` after the lifeline ended.
    control: Option<SupervisorLink>,
    children: UnixStream,
    streams: Vec<Stream>,
    began: Instant,
    last_output: Instant,
    /// Time of the last check of ralph.
    looked: Instant,
    /// Start of the current stop of ralph and the tree, and the processes stopped then.
    paused: Option<(Instant, BTreeSet<ProcessId>)>,
    stage: WatchStage,
    /// The reason for which ralph ended the process, if it did.
    cause: Option<ProcessEnd>,
    /// The end of the process, and its time.
    end: Option<(ProcessEnd, Instant)>,
    /// True once no child is left.
    alone: bool,
    /// The first failure of the supervision, which ends the tree.
    fault: Option<io::Error>,
    leftovers: BTreeSet<ProcessId>,
    /// Actions in the transcript so far, and the size of standard error after the last one.
    acts: u64,
    errors_before: u64,
}

impl Watch {
    pub(super) fn new(
        spec: ProcessSpec,
        launched: LaunchedProcess,
        parent: Pid,
        control: SupervisorLink,
        children: UnixStream,
        descendants: Descendants,
    ) -> Self {
        let LaunchedProcess {
            leader,
            streams,
            began,
        } = launched;
        Self {
            spec,
            leader,
            parent,
            descendants,
            control: Some(control),
            children,
            streams,
            began,
            last_output: began,
            looked: began,
            paused: None,
            stage: WatchStage::Running,
            cause: None,
            end: None,
            alone: false,
            fault: None,
            leftovers: BTreeSet::new(),
            acts: 0,
            errors_before: 0,
        }
    }

    /// Runs until the tree is empty and its output is in the logs. First reports the started process.
    pub(super) fn run(
        mut self,
        started: impl FnOnce(ProcessId) -> io::Result<()>,
    ) -> io::Result<FinishedProcess> {
        // It was not waited for yet, so it is in the table even after its end.
        let lived = ProcessId::of(self.leader)
            .and_then(|id| {
                id.ok_or_else(|| io::Error::other("A child is missing in the process table."))
            })
            .and_then(started)
            .and_then(|()| self.live());
        if let Err(error) = lived {
            self.kill_all()?;
            return Err(error);
        }
        self.conclude()
    }

    fn live(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.descendants.look()?;
            self.reap()?;
            self.advance()?;
            if self.is_over() {
                return Ok(());
            }
            self.wait()?;
            self.listen();
            self.keep_step()?;
            for stream in &mut self.streams {
                match stream.pump(&mut buffer) {
                    Ok(true) => self.last_output = monotonic(),
                    Ok(false) => {}
                    // The log cannot be written: the process is ended, and the error is the result.
                    Err(error) => {
                        stream.pipe = None;
                        self.fault.get_or_insert(error);
                    }
                }
            }
            let told = self.streams.iter().map(Stream::acts).sum();
            if std::mem::replace(&mut self.acts, told) != told {
                self.errors_before = self.streams.iter().map(Stream::errors).sum();
            }
        }
    }

    fn conclude(self) -> io::Result<FinishedProcess> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        for stream in self.streams {
            stream.log.finish()?;
        }
        let Some((end, at)) = self.end else {
            return Err(io::Error::other("The end of the process was not seen."));
        };
        Ok(FinishedProcess {
            end: self.cause.unwrap_or(end),
            leftover_processes: u32::try_from(self.leftovers.len()).unwrap_or(u32::MAX),
            millis: u64::try_from(at.saturating_duration_since(self.began).as_millis())
                .unwrap_or(u64::MAX),
            errors_before: self.errors_before,
        })
    }

    /// Collects every child that has ended.
    fn reap(&mut self) -> io::Result<()> {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG | CHILDREN)) {
                Ok(WaitStatus::Exited(pid, code)) => {
                    self.note_end(pid, ProcessEnd::Exited { code });
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) => {
                    self.note_end(
                        pid,
                        ProcessEnd::Signalled {
                            signal: signal as i32,
                        },
                    );
                }
                Ok(WaitStatus::StillAlive) => return Ok(()),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::ECHILD) => {
                    self.alone = self.alone || self.descendants.are_gone()?;
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn note_end(&mut self, pid: Pid, end: ProcessEnd) {
        if pid.as_raw() == self.leader && self.end.is_none() {
            self.end = Some((end, monotonic()));
        }
    }

    /// Moves to the next stage at its time.
    fn advance(&mut self) -> io::Result<()> {
        let now = monotonic();
        match self.stage {
            WatchStage::Running if self.end.is_some() => {
                self.stage = WatchStage::Settling(now + SETTLE);
                self.advance()
            }
            WatchStage::Running if self.paused.is_some() => Ok(()),
            WatchStage::Running => {
                if self.hang().is_some_and(|until| now >= until) {
                    self.terminate(ProcessEnd::Exited { code: 0 }, self.spec.grace);
                } else if let Some(cause) = self.limit_reached(now) {
                    self.terminate(cause, self.spec.grace);
                } else if self.fault.is_some() {
                    self.terminate(ProcessEnd::Interrupted, self.spec.grace);
                }
                Ok(())
            }
            WatchStage::Terminating(until) => {
                let until = self
                    .end
                    .as_ref()
                    .map_or(until, |(_, at)| until.min(*at + SETTLE_TERMINATED));
                self.stage = WatchStage::Terminating(until);
                if self.alone || now >= until {
                    self.kill_all()
                } else {
                    Ok(())
                }
            }
            WatchStage::Settling(until) if self.alone || now >= until => self.kill_all(),
            WatchStage::Settling(_) | WatchStage::Draining(_) => Ok(()),
        }
    }

    fn limit_reached(&self, now: Instant) -> Option<ProcessEnd> {
        let wall = now.saturating_duration_since(self.began);
        let idle = now.saturating_duration_since(self.last_output);
        reached(self.spec.wall, wall)
            .map(|seconds| ProcessEnd::TimedOut { seconds })
            .or_else(|| reached(self.idle(), idle).map(|seconds| ProcessEnd::Idle { seconds }))
            .or_else(|| {
                self.streams
                    .iter()
                    .find_map(|stream| stream.excess(self.spec.most))
            })
    }

    /// Returns the time from which a process with a finished transcript counts as hanging.
    fn hang(&self) -> Option<Instant> {
        let finished = self.streams.iter().find_map(Stream::finished)?;
        finished.checked_add(self.spec.after_result?)
    }

    /// Returns the limit of silence; none while a tool runs.
    fn idle(&self) -> Option<Duration> {
        self.spec
            .idle
            .filter(|_| !self.streams.iter().any(Stream::is_tool_running))
    }

    /// Sends TERM to the process's group, and CONT, because a stopped process gets no TERM.
    fn terminate(&mut self, cause: ProcessEnd, grace: Duration) {
        self.go_on();
        if self.end.is_none() && self.cause.is_none() {
            self.cause = Some(cause);
            // The leader has not been waited for, so the group's number is still its own.
            for signal in [Signal::SIGTERM, Signal::SIGCONT] {
                let _ = killpg(Pid::from_raw(self.leader), signal);
            }
        }
        self.hurry(grace);
    }

    /// Shortens the remaining time to end.
    fn hurry(&mut self, grace: Duration) {
        // A grace that overflows the clock: a year is enough.
        let year = Duration::from_secs(31_536_000);
        let latest = monotonic() + grace.min(year);
        match &mut self.stage {
            WatchStage::Running => self.stage = WatchStage::Terminating(latest),
            WatchStage::Terminating(until) | WatchStage::Settling(until) => {
                *until = latest.min(*until);
            }
            WatchStage::Draining(_) => {}
        }
    }

    /// Reads ralph's orders, and notices its death.
    fn listen(&mut self) {
        if getppid() != self.parent {
            self.control = None;
        }
        while let Some(control) = self.control.as_mut().filter(|control| control.has_news()) {
            match control.line().ok().flatten().as_deref() {
                Some(STOP) => self.terminate(ProcessEnd::Interrupted, self.spec.grace),
                Some(KILL) => self.terminate(ProcessEnd::Interrupted, Duration::ZERO),
                Some(_) => {}
                None => self.control = None,
            }
        }
        if self.control.is_none() {
            self.terminate(
                ProcessEnd::Interrupted,
                GRACE_ABANDONED.min(self.spec.grace),
            );
        }
    }

    /// Stops the tree when ralph is stopped, and continues it with ralph.
    fn keep_step(&mut self) -> io::Result<()> {
        let now = monotonic();
        if now.saturating_duration_since(self.looked) < LOOK_AT_PARENT {
            return Ok(());
        }
        self.looked = now;
        let ralph = table::find(self.parent.as_raw())?;
        let is_stopped =
            matches!(self.stage, WatchStage::Running) && ralph.is_some_and(|row| row.stopped);
        if !is_stopped {
            self.go_on();
        } else if self.paused.is_none() {
            // Processes that another program stopped stay stopped.
            self.paused = Some((
                now,
                tree::stop(|| {
                    let mut rows = self.descendants.living()?;
                    rows.retain(|row| !row.stopped);
                    Ok(rows)
                })?,
            ));
        }
        Ok(())
    }

    /// Ends the pause of the tree, and excludes its time from all limits.
    fn go_on(&mut self) {
        if let Some((since, stopped)) = self.paused.take() {
            leave_out(since);
            self.looked = since;
            for id in stopped {
                tree::send(&id, Signal::SIGCONT);
            }
        }
    }

    /// Kills the rest of the tree, and returns when the kernel reports that it is empty.
    fn kill_all(&mut self) -> io::Result<()> {
        let give_up = monotonic() + UNKILLABLE;
        while !self.alone {
            match tree::stop_and_kill(|| self.descendants.living()) {
                Ok(killed) => self.leftovers.extend(killed),
                Err(error) => {
                    if self.end.is_none() {
                        let _ = killpg(Pid::from_raw(self.leader), Signal::SIGKILL);
                    }
                    self.fault.get_or_insert(error);
                }
            }
            self.await_children(Duration::from_millis(20))?;
            if !self.alone && monotonic() >= give_up {
                return Err(io::Error::other(format!(
                    "Processes of `{}` survive KILL for {} s; their supervisor gives up.",
                    self.spec.argv.first().map_or("", String::as_str),
                    UNKILLABLE.as_secs()
                )));
            }
        }
        if let Some(id) = self.descendants.undetermined()?.first() {
            let program = self.spec.argv.first().map_or("", String::as_str);
            let why = format!(
                "The system does not show if process {} belongs to `{program}`. The process that started it ended unseen.",
                id.pid
            );
            self.fault
                .get_or_insert(io::Error::other(UnknownOwner(why)));
        }
        let leader = self.leader;
        self.leftovers.retain(|id| id.pid != leader);
        let ended = self.end.as_ref().map_or_else(monotonic, |(_, at)| *at);
        // Remaining data in the pipes is still read, even if the time is up.
        self.stage = WatchStage::Draining((ended + DRAIN).max(monotonic() + SETTLE));
        Ok(())
    }

    /// Collects children until none is left or the time is over.
    fn await_children(&mut self, patience: Duration) -> io::Result<()> {
        let until = monotonic() + patience;
        loop {
            self.reap()?;
            let left = until.saturating_duration_since(monotonic());
            if self.alone || left.is_zero() {
                return Ok(());
            }
            let mut bell = [PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
            wait_for(&mut bell, Some(left))?;
            self.silence();
        }
    }

    /// True if the tree is empty, and its output is complete or out of time.
    fn is_over(&self) -> bool {
        let is_read = self.streams.iter().all(|stream| stream.pipe.is_none());
        matches!(self.stage, WatchStage::Draining(until) if is_read || monotonic() >= until)
    }

    /// Waits until an event or the next deadline.
    fn wait(&mut self) -> io::Result<()> {
        let now = monotonic();
        let deadline = match self.stage {
            WatchStage::Running if self.paused.is_some() => None,
            WatchStage::Running => [
                (self.spec.wall, self.began),
                (self.idle(), self.last_output),
            ]
            .into_iter()
            .filter_map(|(limit, since)| since.checked_add(limit?))
            .chain(self.hang())
            .min(),
            WatchStage::Terminating(until)
            | WatchStage::Settling(until)
            | WatchStage::Draining(until) => Some(until),
        };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        let mut fds = vec![PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
        fds.extend(
            self.control
                .iter()
                .map(|control| PollFd::new(control.as_fd(), PollFlags::POLLIN)),
        );
        let pipes = self
            .streams
            .iter()
            .filter_map(|stream| stream.pipe.as_ref());
        fds.extend(pipes.map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        wait_for(
            &mut fds,
            Some(
                left.unwrap_or(LOOK_AT_PARENT)
                    .min(LOOK_AT_PARENT)
                    .min(Descendants::INTERVAL),
            ),
        )?;
        self.silence();
        Ok(())
    }

    /// Empties the socket that announces ended children. `waitpid` counts them.
    fn silence(&self) {
        let mut bell = &self.children;
        while matches!(bell.read(&mut [0; 256]), Ok(count) if count > 0) {}
    }
}

/// Returns the seconds of a limit that this time reaches.
fn reached(limit: Option<Duration>, time: Duration) -> Option<u64> {
    limit
        .filter(|limit| time >= *limit)
        .map(|limit| limit.as_secs())
}
