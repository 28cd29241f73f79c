//! Ends processes that an earlier run, or a killed supervisor, left running.
//!
//! They are found by the tag in the environment, or by a recorded process id with its start time.

use super::descendants::{Descendants, Lineage as _};
use super::table::{self, Process, entries};
use super::{TAG, UnknownOwner, VERB, tree};
use crate::sys::{ProcessId, clock};
use nix::unistd::getpid;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::time::Duration;

/// Interval of looks at the process table while waiting.
const PAUSE: Duration = Duration::from_millis(10);

/// Ends every process whose environment holds the tag, the recorded one, and the descendants of both.
///
/// Returns the number of killed processes. A supervisor that is just ending them first gets half of the patience.
/// Fails with `TimedOut` if some are alive after it.
#[tracing::instrument(target = "process", skip_all, fields(tag = tag), err(level = "info"))]
pub fn reap(id: Option<&ProcessId>, tag: &str, patience: Duration) -> io::Result<u32> {
    let watch = clock::Stopwatch::start();
    while watch.elapsed() < patience / 2 && !supervisors(&table::all()?, tag).is_empty() {
        std::thread::sleep(PAUSE);
    }
    let mut killed: BTreeSet<ProcessId> = BTreeSet::new();
    loop {
        let mut pending = tree::stop_and_kill(|| left_behind(id, tag))?;
        // A child may end later than the process by which it was found.
        let living = table::all()?
            .into_iter()
            .filter(|row| !row.zombie)
            .map(|row| row.id);
        pending.extend(living.filter(|id| killed.contains(id)));
        if pending.is_empty() {
            refuse_possible(id)?;
            return Ok(u32::try_from(killed.len()).unwrap_or(u32::MAX));
        }
        let pids = listed(pending.iter().map(|id| id.pid));
        killed.extend(pending);
        if watch.elapsed() >= patience {
            let why = format!("Processes of an earlier run are still alive: {pids}.");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Fails if living processes may belong to the recorded one.
fn refuse_possible(id: Option<&ProcessId>) -> io::Result<()> {
    let Some(id) = id else { return Ok(()) };
    let possible = Descendants::possible(id, &table::all()?)?;
    if possible.is_empty() {
        return Ok(());
    }
    let why = format!(
        "The system does not show if these processes belong to an earlier run: {}.",
        listed(possible)
    );
    Err(io::Error::other(UnknownOwner(why)))
}

fn listed(pids: impl IntoIterator<Item = i32>) -> String {
    let pids: Vec<String> = pids.into_iter().map(|pid| pid.to_string()).collect();
    pids.join(", ")
}

/// The environment entry by which another loop than ralph's marks its processes as agents.
///
/// Any other value of the variable names the agent that `ralph run` starts.
const AGENT: &[u8] = b"RALPH_AGENT=1";

/// True inside an agent, a gate or a check.
///
/// ralph started this process or an ancestor for one of them.
///
/// Also true for `RALPH_AGENT=1` in their environment.
pub fn is_inside_agent() -> io::Result<bool> {
    let rows = table::all()?;
    let tag = format!("{TAG}=");
    let mut pid = getpid().as_raw();
    let mut seen = BTreeSet::new();
    while seen.insert(pid) {
        let environment = table::environment(pid).unwrap_or_default();
        if entries(&environment).any(|entry: &[u8]| {
            let tag = entry.strip_prefix(tag.as_bytes());
            entry == AGENT || tag.is_some_and(|tag| !is_lane(tag))
        }) || is_supervisor(pid, None) && !is_lane_supervisor(pid)
        {
            return Ok(true);
        }
        let Some(row) = rows.iter().find(|row| row.id.pid == pid) else {
            break;
        };
        if Descendants::is_origin_hidden(row)? {
            let why = format!(
                "The system does not show if process {pid}, from which this one descends, belongs to an agent."
            );
            return Err(io::Error::other(UnknownOwner(why)));
        }
        if row.parent <= 0 {
            break;
        }
        pid = row.parent;
    }
    Ok(false)
}

/// True for the tag of a lane (`ralph run --lanes`): it is a loop of ralph's own, and what it starts has other tags.
fn is_lane(tag: &[u8]) -> bool {
    let mut parts = tag.rsplit(|byte| *byte == b'-');
    let number = parts.next().unwrap_or_default();
    !number.is_empty() && number.iter().all(u8::is_ascii_digit) && parts.next() == Some(b"lane")
}

fn is_lane_supervisor(pid: i32) -> bool {
    let arguments = table::arguments(pid);
    let tag = entries(&arguments).nth(2);
    tag.is_some_and(is_lane)
}

/// Replaces this process by an agent of another loop than ralph's. Returns why the program cannot be started.
pub fn become_agent(program: &str, arguments: &[String]) -> io::Error {
    super::command(program)
        .args(arguments)
        .env("RALPH_AGENT", "1")
        .exec()
}

/// Returns the living processes with the tag, the recorded one, and the descendants of both; never this one.
fn left_behind(id: Option<&ProcessId>, tag: &str) -> io::Result<Vec<Process>> {
    let rows = table::all()?;
    let mark = format!("{TAG}={tag}");
    let me = getpid().as_raw();
    let mut roots: BTreeSet<i32> = supervisors(&rows, tag);
    roots.extend(
        rows.iter()
            .filter(|row| id == Some(&row.id))
            .map(|row| row.id.pid),
    );
    let tagged = rows.iter().filter(|row| {
        let environment = table::environment(row.id.pid).unwrap_or_default();
        entries(&environment).any(|entry| entry == mark.as_bytes())
    });
    roots.extend(tagged.map(|row| row.id.pid));
    if let Some(id) = id {
        roots.extend(Descendants::companions(id, &rows)?);
    }
    roots.remove(&me);
    let mut found = tree::descendants(&rows, &roots);
    found.extend(
        rows.into_iter()
            .filter(|row| roots.contains(&row.id.pid) && !row.zombie),
    );
    found.retain(|row| row.id.pid != me);
    Ok(found)
}

fn supervisors(rows: &[Process], tag: &str) -> BTreeSet<i32> {
    let living = rows.iter().filter(|row| !row.zombie).map(|row| row.id.pid);
    living
        .filter(|pid| is_supervisor(*pid, Some(tag)))
        .collect()
}

/// True for a supervisor, by its verb and tag as arguments: its environment is empty, and closed to others.
fn is_supervisor(pid: i32, tag: Option<&str>) -> bool {
    let arguments = table::arguments(pid);
    let mut entries = entries(&arguments).skip(1);
    entries.next() == Some(VERB.as_bytes())
        && tag.is_none_or(|tag| entries.next() == Some(tag.as_bytes()))
}
