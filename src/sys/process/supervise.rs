//! The supervisor: `ralph` executed again under a hidden verb, one for each process.
//!
//! Promises: no descendant of the process can leave its tree, as far as the system shows ([`super::descendants`]). Its
//! own environment is empty. When its lifeline ends, it kills the tree and ends.

use super::capture::{CappedLog, Stream};
use super::descendants::{Descendants, Lineage as _};
use super::watch::{LaunchedProcess, Watch};
use super::wire::{SupervisorLink, SupervisorReport};
use super::{TAG, command};
use crate::machine::facts::ProcessEnd;
use crate::sys::disk::open_regular;
use crate::sys::itself::{OPEN_FILES, close_to_others};
use crate::sys::signals::{catch_and_forget, endings, survive_file_limits};
use crate::sys::{FinishedProcess, ProcessSpec, clock};
use nix::libc::SIGCHLD;
use nix::sys::signal::SigSet;
use nix::unistd::{getppid, setsid};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;

/// The exit code of a supervisor that failed itself.
const FAULT: i32 = 70;

/// Runs the hidden verb: reads the order from standard input, reports on standard output. Returns the exit code of
/// this process.
pub fn supervise_main() -> i32 {
    if close_inherited().is_err() {
        return FAULT;
    }
    let stdout = io::stdout();
    let Ok(status) = stdout.as_fd().try_clone_to_owned() else {
        return FAULT;
    };
    let mut status = File::from(status);
    let (report, code) = match supervise(&mut status) {
        Ok(Some(ended)) => (SupervisorReport::Ended(ended), 0),
        Ok(None) => return 0,
        Err(error) => (SupervisorReport::failed(&error), FAULT),
    };
    // The reader may be gone.
    let _ = report.line().and_then(|line| status.write_all(&line));
    code
}

/// Closes every file but the standard three.
///
/// Files that ralph inherited (a lock, a log, a socket of the caller) must not reach the process. Call it before any
/// file is opened.
fn close_inherited() -> io::Result<()> {
    let names = fs_err::read_dir(OPEN_FILES)?.map(|entry| entry.map(|entry| entry.file_name()));
    for name in names.collect::<io::Result<Vec<_>>>()? {
        if let Some(number) = name
            .to_str()
            .and_then(|name| name.parse::<i32>().ok())
            .filter(|fd| *fd > 2)
        {
            // One of them was the directory itself, which is already closed.
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

/// Supervises one process; `None` if no order came.
fn supervise(status: &mut File) -> io::Result<Option<FinishedProcess>> {
    let parent = getppid();
    let children = become_supervisor()?;
    let mut control = SupervisorLink::new(io::stdin().as_fd())?;
    let Some(line) = control.line()? else {
        return Ok(None);
    };
    let spec: ProcessSpec = serde_json::from_slice(&line)?;
    let began = clock::monotonic();
    let descendants = Descendants::begin(&spec.tag)?;
    let mut streams = Vec::new();
    let leader = match launch(&spec, &mut streams)? {
        Ok(pid) => pid,
        Err(why) => {
            return Ok(Some(FinishedProcess::at_once(ProcessEnd::NotStarted {
                why,
            })));
        }
    };
    let launched = LaunchedProcess {
        leader,
        streams,
        began,
    };
    Watch::new(spec, launched, parent, control, children, descendants)
        .run(|id| {
            // If ralph has died meanwhile, the lifeline shows it next.
            let _ = status.write_all(&SupervisorReport::Started(id).line()?);
            Ok(())
        })
        .map(Some)
}

/// Gives this process its own session and makes it ignore a terminal's signals.
///
/// Returns a socket that is readable after each child's end.
fn become_supervisor() -> io::Result<UnixStream> {
    survive_file_limits()?;
    endings().try_for_each(catch_and_forget)?;
    let (children, bell) = UnixStream::pair()?;
    children.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, bell)?;
    // ralph starts the supervisor with these blocked, so that none can arrive before they are caught.
    SigSet::all().thread_unblock()?;
    setsid()?;
    // The process may not read the supervisor's pipes or memory (root may).
    close_to_others()?;
    Ok(children)
}

/// Starts the process. The outer error is the supervisor's, the inner one is why the program cannot run.
fn launch(spec: &ProcessSpec, streams: &mut Vec<Stream>) -> io::Result<Result<i32, String>> {
    let stdin = match &spec.stdin {
        Some(path) => match open_regular(Path::new(path))? {
            Some((file, _)) => Stdio::from(file),
            None => {
                return Ok(Err(format!(
                    "its standard input {} is not there",
                    path.display()
                )));
            }
        },
        None => Stdio::null(),
    };
    let (stdout, stderr) = outputs(spec, streams)?;
    let Some((program, arguments)) = spec.argv.split_first() else {
        return Ok(Err("no program is named".to_owned()));
    };
    if !spec.cwd.is_dir() {
        return Ok(Err(format!(
            "its working folder {} is not there",
            spec.cwd.display()
        )));
    }
    let mut command = command(program);
    command
        .args(arguments)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(TAG, &spec.tag)
        .current_dir(&spec.cwd)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0);
    let started = command.spawn();
    // The command holds the writing ends of the pipes: with them open, the output would have no end.
    drop(command);
    Ok(match started {
        Ok(child) => Ok(i32::try_from(child.id()).map_err(io::Error::other)?),
        Err(error) => Err(format!("{program}: {error}")),
    })
}

/// Returns the writing ends for the process. Adds the reading ends to `streams` with their logs.
///
/// There is one pipe if both go to the same log.
fn outputs(spec: &ProcessSpec, streams: &mut Vec<Stream>) -> io::Result<(PipeWriter, PipeWriter)> {
    let mut open = |path: &Path, transcript| -> io::Result<PipeWriter> {
        let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
        streams.push(Stream::new(
            reader,
            CappedLog::create(path, spec.log_cap)?,
            transcript,
        )?);
        Ok(writer)
    };
    let told = Some(spec.transcript).filter(|format| format.prints_events());
    let stdout = open(&spec.stdout, told)?;
    let stderr = if spec.stderr == spec.stdout {
        stdout.try_clone()?
    } else {
        open(&spec.stderr, None)?
    };
    Ok((stdout, stderr))
}
