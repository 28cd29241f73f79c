//! The child processes of a gate.
//!
//! No shell; each call has a log of its own; together they stay within the gate's limit; options
//! that the caller's environment slips into every JVM are dropped.

use crate::gate::{GateAbort, GatePorts, GateRequest};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use crate::sys::ProcessSpec;
use crate::sys::disk::{read_beginning, remove};
use crate::sys::programs::on_path;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes kept of each log.
const LOG_CAP: u64 = 16 << 20;
/// Variables that change every JVM or Maven: they are not passed on.
const DROPPED: &str =
    "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH MAVEN_BASEDIR MAVEN_PROJECTBASEDIR";

/// The commands of one package, one after the other.
#[derive(Clone)]
pub(crate) struct Commands<'a> {
    ports: &'a GatePorts<'a>,
    env: BTreeMap<String, String>,
    logs: PathBuf,
    tag: String,
    limit: Duration,
    used: Cell<Duration>,
    number: Cell<u32>,
}

/// One call that ended.
pub(crate) struct FinishedCall {
    /// The end of the process.
    pub(crate) end: ProcessEnd,
    /// Output of both streams; bounded.
    pub(crate) output: String,
    /// Wall time, milliseconds.
    pub(crate) millis: u64,
}

impl<'a> Commands<'a> {
    /// Commands that may take `limit` together and keep their logs in a folder below the request's, `logs`.
    pub(crate) fn new(
        ports: &'a GatePorts<'a>,
        request: &GateRequest,
        logs: impl AsRef<Path>,
        limit: Duration,
    ) -> Self {
        let mut env: BTreeMap<String, String> = request.env.iter().cloned().collect();
        env.retain(|name, _| DROPPED.split(' ').all(|dropped| dropped != name));
        env.insert("LC_ALL".to_owned(), "C.UTF-8".to_owned());
        Self {
            ports,
            env,
            logs: request.folder.join(logs),
            tag: request.tag.clone(),
            limit,
            used: Cell::default(),
            number: Cell::default(),
        }
    }

    pub(crate) fn child_environment(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The value of a variable of the children's environment.
    pub(crate) fn variable_value(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str)
    }

    /// Time used so far.
    pub(crate) fn time_used(&self) -> Duration {
        self.used.get()
    }

    /// Runs a program to its end, which is not that of the gate's time. `extra` variables replace those of the environment.
    pub(crate) fn run_program(
        &self,
        name: &str,
        argv: Vec<String>,
        cwd: &Path,
        extra: &[(&str, &str)],
    ) -> Result<FinishedCall, GateAbort> {
        let extra: Vec<_> = extra
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let call = self.run_into(&self.next_log(name)?, name, argv, cwd, &extra, None)?;
        if matches!(call.end, ProcessEnd::TimedOut { .. }) {
            Err(self.over_limit())
        } else {
            Ok(call)
        }
    }

    /// Runs a program like [`Commands::run_program`], and returns every end of it.
    ///
    /// The log comes from [`Commands::next_log`]. The program may print nothing for as long as
    /// `idle`.
    pub(crate) fn run_into(
        &self,
        log: &Path,
        name: &str,
        argv: Vec<String>,
        cwd: &Path,
        extra: &[(String, String)],
        idle: Option<Duration>,
    ) -> Result<FinishedCall, GateAbort> {
        let left = self.limit.saturating_sub(self.used.get());
        if left.is_zero() {
            return Err(self.over_limit());
        }
        let mut env = self.env.clone();
        env.extend(extra.iter().cloned());
        let spec = ProcessSpec {
            argv,
            env: env.into_iter().collect(),
            cwd: cwd.to_owned(),
            stdout: log.to_owned(),
            stderr: log.to_owned(),
            log_cap: LOG_CAP,
            wall: Some(left),
            idle,
            grace: Duration::from_secs(5),
            tag: self.tag.clone(),
            ..ProcessSpec::default()
        };
        let ended = self.ports.spawn.run(&spec).map_err(|error| {
            let why = text::line(&error.to_string(), 300);
            GateAbort::transient(
                format!("The program {name} could not be supervised: {why}."),
                "Run the gate again.",
            )
        })?;
        self.used
            .set(self.used.get() + Duration::from_millis(ended.millis));
        if ended.end == ProcessEnd::Interrupted {
            return Err(GateAbort::transient(
                "The gate was interrupted.".to_owned(),
                "Run the gate again.",
            ));
        }
        Ok(FinishedCall {
            end: ended.end,
            output: read_text(log, 2 * LOG_CAP),
            millis: ended.millis,
        })
    }

    /// The abort of a gate that ran over its limit.
    pub(crate) fn over_limit(&self) -> GateAbort {
        GateAbort::transient(
            format!("The gate ran over its limit of {} s.", self.limit.as_secs()),
            "Raise gates.<NAME>.limit, or look for a test that hangs.",
        )
    }

    /// The program of that name on the children's PATH.
    pub(crate) fn find_program(&self, program: &str) -> Option<PathBuf> {
        on_path(self.variable_value("PATH")?, program).next()
    }

    /// The file for the log of the next call.
    pub(crate) fn next_log(&self, name: &str) -> Result<PathBuf, GateAbort> {
        let number = self.number.get() + 1;
        self.number.set(number);
        fs_err::create_dir_all(&self.logs)?;
        Ok(self.logs.join(format!("{number:02}-{name}.log")))
    }
}

/// A name as a part of a file's name.
pub(crate) fn file_name(name: &str) -> String {
    name.replace(
        |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'),
        "_",
    )
}

/// Creates an empty folder in place of any former content.
pub(crate) fn fresh_folder(folder: &Path) -> Result<(), GateAbort> {
    remove(folder)?;
    Ok(fs_err::create_dir_all(folder)?)
}

/// The beginning of a regular file as text, wrong bytes replaced; empty if it cannot be read.
pub(crate) fn read_text(file: &Path, most: u64) -> String {
    let bytes = read_beginning(file, most)
        .ok()
        .flatten()
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
