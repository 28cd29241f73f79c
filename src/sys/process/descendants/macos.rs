//! Descendants on macOS, which has no subreaper: `launchd` becomes the parent of each orphan.
//!
//! The kernel numbers processes and keeps the number of the one that forked each. A look at the table ten times a
//! second follows these numbers through any session and group. A process that began and ended between two looks
//! breaks the line. Its children are then found by their session or their tag, or reported as undetermined.

use super::Lineage;
use super::ledger::{Ledger, Sign};
use crate::sys::ProcessId;
use crate::sys::clock::monotonic;
use crate::sys::process::TAG;
use crate::sys::process::table::{self, Birth, Process, TableRow, entries};
use nix::errno::Errno;
use nix::sys::wait::WaitPidFlag;
use nix::unistd::{Pid, getpgid, getpid, getsid, getuid};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

/// No further flag: each child is waited for.
pub(in crate::sys::process) const CHILDREN: WaitPidFlag = WaitPidFlag::empty();

/// The process that becomes the parent of orphans.
const LAUNCHD: i32 = 1;

/// Minimum time between two looks at the table, which a chatty process would otherwise cause without end.
const PAUSE: Duration = Duration::from_millis(50);

/// Number of looks at the table in a row without a descendant after which the tree counts as ended.
///
/// A table is read row by row, so a process that forks and ends meanwhile can be missing with its child.
const EMPTY_LOOKS: u32 = 3;

/// Time for undetermined processes to end by themselves, as most do.
const PATIENCE: Duration = Duration::from_secs(1);

/// See [`Lineage`].
#[derive(Debug)]
pub(in crate::sys::process) struct Descendants {
    me: i32,
    mark: Vec<u8>,
    ledger: Ledger,
    /// The numbers of the processes of the last look.
    births: BTreeMap<ProcessId, Birth>,
    undetermined: Vec<ProcessId>,
    looked: Instant,
}

impl Lineage for Descendants {
    const INTERVAL: Duration = Duration::from_millis(100);

    fn begin(tag: &str) -> io::Result<Self> {
        let me = getpid().as_raw();
        let own = table::birth(me)?
            .ok_or_else(|| io::Error::other("The process table does not show this process."))?;
        let births = births_of(&table::rows()?, &BTreeMap::new())?;
        Ok(Self {
            me,
            mark: format!("{TAG}={tag}").into_bytes(),
            ledger: Ledger::new(own.unique, births.values().map(|birth| birth.unique)),
            births,
            undetermined: Vec::new(),
            looked: monotonic(),
        })
    }

    fn look(&mut self) -> io::Result<()> {
        if monotonic().saturating_duration_since(self.looked) >= PAUSE {
            self.living()?;
        }
        Ok(())
    }

    fn living(&mut self) -> io::Result<Vec<Process>> {
        self.looked = monotonic();
        let rows = table::rows()?;
        self.births = births_of(&rows, &self.births)?;
        let born = rows
            .iter()
            .filter_map(|row| Some((*self.births.get(&row.process.id)?, row)))
            .collect();
        let (me, mark) = (self.me, &self.mark);
        let seen = self
            .ledger
            .survey(born, |row, members| sign_of(row, me, members, mark));
        self.undetermined = seen.undetermined;
        Ok(seen.members)
    }

    fn are_gone(&mut self) -> io::Result<bool> {
        for _ in 0..EMPTY_LOOKS {
            if !self.living()?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn undetermined(&mut self) -> io::Result<Vec<ProcessId>> {
        let until = monotonic() + PATIENCE;
        loop {
            self.living()?;
            if self.undetermined.is_empty() || monotonic() >= until {
                return Ok(self.undetermined.clone());
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn companions(id: &ProcessId, rows: &[Process]) -> io::Result<Vec<i32>> {
        // A group with another leader, or without one, may be a later one of the same number.
        let is_leader_there = rows.iter().any(|row| row.id == *id && !row.zombie);
        if is_leader_there {
            group(id.pid, rows)
        } else {
            Ok(Vec::new())
        }
    }

    fn possible(id: &ProcessId, rows: &[Process]) -> io::Result<Vec<i32>> {
        let mut possible = hidden_orphans(id, rows)?;
        // No process gets the number of a group that exists, so a group with a leader is a later one.
        if !rows.iter().any(|row| row.id.pid == id.pid) {
            possible.extend(group(id.pid, rows)?);
        }
        possible.sort_unstable();
        possible.dedup();
        Ok(possible)
    }

    fn is_origin_hidden(row: &Process) -> io::Result<bool> {
        if row.parent != LAUNCHD || table::environment(row.id.pid).is_some() {
            return Ok(false);
        }
        let launchd = table::birth(LAUNCHD)?.map(|birth| birth.unique);
        let origin = table::birth(row.id.pid)?.map(|birth| birth.origin);
        Ok(origin.is_none() || origin != launchd)
    }
}

/// Returns the orphans of this user that hide their environment and began after a recorded process.
///
/// Each may be its descendant. If the machine started since, none is.
fn hidden_orphans(id: &ProcessId, rows: &[Process]) -> io::Result<Vec<i32>> {
    if id.started < table::boot_time()? {
        return Ok(Vec::new());
    }
    let user = getuid().as_raw();
    let mine: BTreeSet<ProcessId> = table::rows()?
        .into_iter()
        .filter(|row| row.owner == user)
        .map(|row| row.process.id)
        .collect();
    let mut orphans = Vec::new();
    for row in rows {
        let is_later = row.id.started >= id.started && !row.zombie;
        if is_later && mine.contains(&row.id) && Descendants::is_origin_hidden(row)? {
            orphans.push(row.id.pid);
        }
    }
    Ok(orphans)
}

/// Returns the numbers of these processes, asking the kernel only for new ones. Processes that just ended have none.
fn births_of(
    rows: &[TableRow],
    known: &BTreeMap<ProcessId, Birth>,
) -> io::Result<BTreeMap<ProcessId, Birth>> {
    let mut births = BTreeMap::new();
    // Process 0 is the kernel.
    for row in rows.iter().filter(|row| row.process.id.pid > 0) {
        let id = &row.process.id;
        let birth = match known.get(id) {
            Some(birth) => Some(*birth),
            None => table::birth(id.pid)?,
        };
        births.extend(birth.map(|birth| (id.clone(), birth)));
    }
    Ok(births)
}

/// Returns the sign of membership of a process whose origin was never seen.
///
/// A stranger cannot enter a session. Processes of other users are strangers: they cannot be signalled.
fn sign_of(row: &TableRow, me: i32, members: &[Process], mark: &[u8]) -> Sign {
    let pid = row.process.id.pid;
    let session = session_of(pid);
    let is_in_session = session.is_some_and(|session| {
        session == me
            || members
                .iter()
                .any(|member| session_of(member.id.pid) == Some(session))
    });
    if is_in_session {
        return Sign::Present;
    }
    if row.process.parent != LAUNCHD {
        // Its parent lives, and the table was read while it forked. The next look shows both.
        return Sign::Hidden;
    }
    if row.owner != getuid().as_raw() {
        return Sign::Absent;
    }
    match table::environment(pid) {
        Some(environment) if entries(&environment).any(|entry| entry == mark) => Sign::Present,
        Some(_) => Sign::Absent,
        None => Sign::Hidden,
    }
}

fn session_of(pid: i32) -> Option<i32> {
    getsid(Some(Pid::from_raw(pid))).ok().map(Pid::as_raw)
}

/// Returns the living processes of a group.
fn group(number: i32, rows: &[Process]) -> io::Result<Vec<i32>> {
    let mut group = Vec::new();
    for row in rows.iter().filter(|row| !row.zombie) {
        match getpgid(Some(Pid::from_raw(row.id.pid))) {
            Ok(found) if found.as_raw() == number => group.push(row.id.pid),
            // ESRCH: it has just ended.
            Ok(_) | Err(Errno::ESRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(group)
}
