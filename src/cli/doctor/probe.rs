//! Asks programs for their versions: under the supervisor, with limits on time and output, without input, in an
//! empty folder.

use super::{Fault, FaultKind, base_environment};
use crate::machine::facts::ProcessEnd;
use crate::source::environment_for;
use crate::source::text::line;
use crate::sys::itself::own_program;
use crate::sys::process::Supervisor;
use crate::sys::programs::on_path;
use crate::sys::signals::Interrupts;
use crate::sys::{FinishedProcess, ProcessSpec, Spawn as _};
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// Timeout for `--version`.
const LIMIT: Duration = Duration::from_secs(20);
/// Bytes of an answer that are kept.
const CAP: u64 = 64 << 10;
/// Characters of an answer that are shown.
const SHOWN: usize = 80;

/// Starts programs to ask them.
pub(super) struct Probe {
    path: String,
    supervisor: Supervisor,
    env: Vec<(String, String)>,
    folder: TempDir,
}

impl Probe {
    /// A probe for the programs of a `PATH` value.
    pub(super) fn new(path: &str) -> Result<Self, Fault> {
        let mut env = environment_for(&base_environment(), &[]);
        env.retain(|(name, _)| {
            !matches!(
                name.as_str(),
                "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS"
            )
        });
        env.push(("LC_ALL".to_owned(), "C.UTF-8".to_owned()));
        env.push(("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned()));
        Ok(Self {
            path: path.to_owned(),
            supervisor: Supervisor::new(own_program(), Some(Interrupts::install()?)),
            env,
            folder: tempfile::Builder::new().prefix("ralph-doctor-").tempdir()?,
        })
    }

    /// The first program of that name on `PATH`.
    pub(super) fn find_program(&self, program: &str) -> Option<PathBuf> {
        on_path(&self.path, program).next()
    }

    /// The version in the program's own words, or why it does not work; `argv[0]` is a path.
    pub(super) fn ask_version(&self, argv: &[&str]) -> Result<String, String> {
        let (ended, text) = self.run_program(argv).map_err(|fault| fault.what)?;
        match ended.end {
            ProcessEnd::Exited { code: 0 } => {
                telling_line(&text).ok_or_else(|| "it printed nothing".to_owned())
            }
            ProcessEnd::Exited { code } => {
                let why = telling_line(&text)
                    .map(|line| format!(": {line}"))
                    .unwrap_or_default();
                Err(format!("it ended with {code}{why}"))
            }
            end => Err(format!("it {end}")),
        }
    }

    /// Runs a program to its end; what it printed.
    pub(super) fn run_program(&self, argv: &[&str]) -> Result<(FinishedProcess, String), Fault> {
        let log = tempfile::Builder::new()
            .tempfile_in(self.folder.path())?
            .into_temp_path();
        let empty = tempfile::Builder::new().tempdir_in(self.folder.path())?;
        let spec = ProcessSpec {
            argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
            env: self.env.clone(),
            cwd: empty.path().to_owned(),
            stdout: log.to_path_buf(),
            stderr: log.to_path_buf(),
            log_cap: CAP,
            wall: Some(LIMIT),
            grace: Duration::from_secs(1),
            tag: format!("doctor-{}", std::process::id()),
            ..ProcessSpec::default()
        };
        let ended = self.supervisor.run(&spec)?;
        if ended.end == ProcessEnd::Interrupted {
            return Err(Fault::new(
                FaultKind::Unknown,
                "it was interrupted",
                "run `ralph doctor` again",
            ));
        }
        let mut bytes = Vec::new();
        fs_err::File::open(&log)?
            .take(2 * CAP)
            .read_to_end(&mut bytes)?;
        Ok((ended, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The first line with a digit, else the first that says anything: fit to be shown.
fn telling_line(text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .map(|row| line(row, SHOWN))
        .filter(|line| line.contains(char::is_alphanumeric));
    let first = lines.clone().next();
    lines
        .find(|line| line.contains(|c: char| c.is_ascii_digit()))
        .or(first)
}

/// The first number of a version: 17 of `openjdk version "17.0.12"`.
pub(super) fn major_version(version: &str) -> Option<u32> {
    let from = version.find(|c: char| c.is_ascii_digit())?;
    let rest = version.get(from..)?;
    let mut numbers = rest
        .split(|c: char| !c.is_ascii_digit())
        .map_while(|number| number.parse::<u32>().ok());
    match numbers.next()? {
        // Java 8 called itself 1.8.
        1 => numbers.next(),
        first => Some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_version_is_shown_without_colours() {
        assert_eq!(
            telling_line("\n\u{1b}[1mApache Maven 3.9.9 (8e8579a)\u{1b}[m\nMaven home: /x\n")
                .as_deref(),
            Some("Apache Maven 3.9.9 (8e8579a)")
        );
        assert_eq!(
            telling_line("------\nGradle 8.10\n------\n").as_deref(),
            Some("Gradle 8.10")
        );
        assert_eq!(telling_line("no version\n").as_deref(), Some("no version"));
        assert_eq!(telling_line(" \n--\n"), None);
        assert_eq!(
            telling_line(&"9".repeat(500)).map(|line| line.chars().count()),
            Some(SHOWN)
        );
    }

    #[test]
    fn the_major_version_of_java_is_read() {
        assert_eq!(
            major_version("openjdk version \"17.0.12\" 2024-07-16"),
            Some(17)
        );
        assert_eq!(major_version("java version \"1.8.0_292\""), Some(8));
        assert_eq!(major_version("javac 21"), Some(21));
        assert_eq!(major_version("none"), None);
    }
}
