//! The log of calls to the outside: git, processes, the disk and gates.
//!
//! Lines go to standard error (`-v`, `RALPH_LOG`) and, during an iteration, to its `ralph.log`.
//!
//! Promises: nothing is written to standard output. No line holds the value of a secret variable or a control
//! character. A `ralph.log` has at most 4 MiB. A log that cannot be written stops no run.

use super::disk::CAREFUL;
use super::poison::ignore_poison;
use crate::source::Secrets;
use crate::source::text::is_hidden;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FmtSpan, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Layer as _, Registry};

/// The name of the log in the directory of an iteration.
pub const NAME: &str = "ralph.log";

/// The variable that chooses the lines on standard error.
pub const VARIABLE: &str = "RALPH_LOG";

/// Maximum size of one `ralph.log`.
const MAX_BYTES: u64 = 4 << 20;

/// The last line of a log that has no space for more.
const FULL: &str = "The log is full.\n";

/// Maximum length of one line, in characters.
const MAX_CHARS: usize = 4_000;

/// The kinds of calls, as `RALPH_LOG` names them.
const TARGETS: [&str; 4] = ["disk", "gate", "git", "process"];

/// Callback that prints a line on standard error.
pub type Print = fn(&str);

static PRINT: OnceLock<Print> = OnceLock::new();

static LOG: Mutex<Log> = Mutex::new(Log {
    secrets: None,
    iteration: None,
});

/// The part of the log that changes during a run.
struct Log {
    secrets: Option<Secrets>,
    iteration: Option<IterationLog>,
}

/// An open `ralph.log`.
struct IterationLog {
    path: PathBuf,
    file: File,
    bytes: u64,
}

/// Returns the filter for standard error; `None` if nothing is logged there.
///
/// `verbose` is the number of `-v`. `directives` is the value of `RALPH_LOG`, which wins: a level, or a comma-separated
/// list of targets with levels (`git=debug,process=info`).
///
/// Errors: an unknown level or target, with its text.
pub fn terminal_filter(verbose: u8, directives: Option<&str>) -> Result<Option<Targets>, String> {
    let mut levels = [LevelFilter::OFF; TARGETS.len()];
    if let Some(directives) = directives {
        for directive in directives.split(',') {
            apply_directive(directive.trim(), &mut levels)?;
        }
    } else {
        levels.fill(match verbose {
            0 => LevelFilter::OFF,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        });
    }
    let is_on = levels.iter().any(|level| *level != LevelFilter::OFF);
    Ok(is_on.then(|| Targets::new().with_targets(TARGETS.into_iter().zip(levels))))
}

fn apply_directive(
    directive: &str,
    levels: &mut [LevelFilter; TARGETS.len()],
) -> Result<(), String> {
    let (target, level) = match directive.split_once('=') {
        Some((target, level)) => (Some(target), level),
        None => (None, directive),
    };
    let level = match level {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return Err(directive.to_owned()),
    };
    let Some(target) = target else {
        levels.fill(level);
        return Ok(());
    };
    let index = TARGETS
        .iter()
        .position(|known| *known == target)
        .ok_or_else(|| directive.to_owned())?;
    levels[index] = level;
    Ok(())
}

/// Starts logging in this process. Only the first call has an effect. Without it, a call to the outside costs one
/// comparison.
///
/// `has_iterations` is true for commands that begin iterations.
pub fn start(on_terminal: Option<Targets>, has_iterations: bool, secrets: Secrets, print: Print) {
    replace_secrets(secrets);
    if on_terminal.is_some() {
        PRINT.get_or_init(|| print);
    }
    let terminal = on_terminal.map(|filter| lines_to(Destination::Terminal).with_filter(filter));
    let everything = TARGETS.map(|target| (target, LevelFilter::DEBUG));
    let iteration = has_iterations.then(|| {
        lines_to(Destination::Iteration).with_filter(Targets::new().with_targets(everything))
    });
    let subscriber = Registry::default().with(terminal).with(iteration);
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// True if lines are printed on standard error: a status line would be mixed with them.
pub fn is_printed() -> bool {
    PRINT.get().is_some()
}

/// Masks these secrets from now on, in place of those before.
pub fn replace_secrets(secrets: Secrets) {
    ignore_poison(LOG.lock()).secrets = Some(secrets);
}

/// Writes further lines into the `ralph.log` of this directory, after those of an earlier process.
///
/// Does nothing in a process that has no log.
///
/// Errors: the file cannot be opened, or a link or another kind of file is in its place. No file gets lines then.
pub fn enter_iteration(folder: &Path) -> io::Result<()> {
    let mut log = ignore_poison(LOG.lock());
    if log.secrets.is_none() {
        return Ok(());
    }
    let path = folder.join(NAME);
    if log.iteration.as_ref().is_some_and(|open| open.path == path) {
        return Ok(());
    }
    log.iteration = None;
    log.iteration = Some(IterationLog::open(path)?);
    Ok(())
}

/// Returns a layer that writes each event, and each span at its end, as one line.
fn lines_to<S>(destination: Destination) -> impl tracing_subscriber::Layer<S>
where
    S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
{
    layer()
        .with_ansi(false)
        .with_timer(Milliseconds)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(destination)
}

impl IterationLog {
    fn open(path: PathBuf) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).append(true).create(true).mode(0o600);
        options.custom_flags(CAREFUL);
        let (file, _) = fs_err::OpenOptions::from_options(options)
            .open(&path)?
            .into_parts();
        let found = file.metadata()?;
        // An agent can make a hard link to a file that it may not write, and let ralph write it.
        if !found.is_file() || found.nlink() > 1 {
            return Err(io::Error::other(format!(
                "{} is a link or not a regular file",
                path.display()
            )));
        }
        let mut bytes = found.len();
        let mut end = [0; FULL.len()];
        let end_offset = bytes.saturating_sub(end.len() as u64);
        if file.read_at(&mut end, end_offset)? == end.len() && end == *FULL.as_bytes() {
            bytes = MAX_BYTES;
        }
        Ok(Self { path, file, bytes })
    }

    /// Appends a line. The last line of a full log is [`FULL`].
    fn append(&mut self, line: &str) {
        let limit = MAX_BYTES - FULL.len() as u64;
        if self.bytes > limit {
            return;
        }
        let mut text = format!("{line}\n");
        self.bytes += text.len() as u64;
        if self.bytes > limit {
            FULL.clone_into(&mut text);
            self.bytes = MAX_BYTES;
        }
        // A full disk must not end a run because of its log.
        let _ = self.file.write_all(text.as_bytes());
    }
}

/// A writer of whole lines.
#[derive(Clone, Copy)]
enum Destination {
    Terminal,
    Iteration,
}

impl<'a> MakeWriter<'a> for Destination {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

impl Write for Destination {
    /// Takes one event with its line end, as the layer hands it over.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut log = ignore_poison(LOG.lock());
        let Log { secrets, iteration } = &mut *log;
        let Some(secrets) = secrets else {
            return Ok(event.len());
        };
        let text = String::from_utf8_lossy(event);
        let text = text.trim_end_matches('\n');
        match self {
            Self::Iteration => {
                if let Some(iteration) = iteration {
                    iteration.append(&clean_line(text, secrets));
                }
            }
            Self::Terminal => {
                let line = clean_line(text, secrets);
                drop(log);
                if let Some(print) = PRINT.get() {
                    print(&line);
                }
            }
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the text as one line: secrets masked, hidden characters escaped, cut to [`MAX_CHARS`].
fn clean_line(text: &str, secrets: &Secrets) -> String {
    let masked = secrets.redact(text);
    let mut line = String::new();
    for c in masked.chars().take(MAX_CHARS) {
        if is_hidden(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if masked.chars().nth(MAX_CHARS).is_some() {
        line.push('…');
    }
    line
}

/// The time of a line, in UTC.
struct Milliseconds;

impl FormatTime for Milliseconds {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", super::clock::precise_stamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_line_has_no_secret_and_no_control_character() {
        let secrets = Secrets::of([("NEXUS_TOKEN", "s3cr3t-value-of-nexus")]);
        let line = clean_line(
            "push s3cr3t-value-of-nexus\u{1b}[2J\r\nnext\u{202e}",
            &secrets,
        );
        assert_eq!(
            line,
            r"push [redacted: NEXUS_TOKEN]\u{1b}[2J\r\nnext\u{202e}"
        );
        let long = clean_line(&"x".repeat(MAX_CHARS * 2), &secrets);
        assert_eq!(long.chars().count(), MAX_CHARS + 1);
    }

    #[test]
    fn a_log_is_bounded_and_ends_with_a_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let mut log = IterationLog::open(path.clone()).unwrap();
        for _ in 0..1_100 {
            log.append(&"y".repeat(MAX_CHARS));
        }
        drop(log);
        // A process that continues the iteration keeps the bound.
        IterationLog::open(path.clone()).unwrap().append("late");
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.len() as u64 <= MAX_BYTES, "{}", text.len());
        assert!(text.len() as u64 > MAX_BYTES - 2 * MAX_CHARS as u64);
        assert!(text.ends_with("y\nThe log is full.\n"));
        assert_eq!(text.matches("full").count(), 1);
    }

    #[test]
    fn a_link_in_place_of_a_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [target, hard, soft] = ["target", "hard", "soft"].map(|name| folder.path().join(name));
        fs_err::write(&target, "mine").unwrap();
        fs_err::hard_link(&target, &hard).unwrap();
        fs_err::os::unix::fs::symlink(&target, &soft).unwrap();
        for link in [hard, soft] {
            assert!(IterationLog::open(link).is_err());
        }
        assert_eq!(fs_err::read_to_string(&target).unwrap(), "mine");
    }

    #[test]
    fn the_variable_wins_over_the_flag_and_unknown_words_are_errors() {
        for (verbose, directives, target, level, expected) in [
            (1, None, "git", Level::INFO, true),
            (1, None, "git", Level::DEBUG, false),
            (2, None, "disk", Level::DEBUG, true),
            (3, None, "disk", Level::TRACE, true),
            (3, None, "tokio", Level::ERROR, false),
            (0, Some("git=trace"), "git", Level::TRACE, true),
            (2, Some("git=trace"), "disk", Level::ERROR, false),
            (0, Some("debug, disk=off"), "gate", Level::DEBUG, true),
            (0, Some("debug, disk=off"), "disk", Level::ERROR, false),
        ] {
            let filter = terminal_filter(verbose, directives).unwrap().unwrap();
            let is_enabled = filter.would_enable(target, &level);
            assert_eq!(is_enabled, expected, "{verbose} {directives:?} {target}");
        }
        for (verbose, directives) in [(0, None), (3, Some("off"))] {
            assert!(terminal_filter(verbose, directives).unwrap().is_none());
        }
        for unknown in ["loud", "git", "gti=debug", "git=", "info,"] {
            assert!(terminal_filter(1, Some(unknown)).is_err(), "{unknown}");
        }
    }
}
