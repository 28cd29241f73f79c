//! Calls of git, `gh` and `glab`: without a shell, without questions, with limits on time and output.

use super::super::{Fault, base_environment};
use crate::machine::facts::ProcessEnd;
use crate::source::text::{beginning, line};
use crate::sys::itself::own_program;
use crate::sys::process::Supervisor;
use crate::sys::programs::on_path;
use crate::sys::signals::Interrupts;
use crate::sys::{ProcessSpec, Spawn as _};
use clap::ValueEnum;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Limit for one call. A push may run hooks.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// Bytes of output that are kept.
const CAP: u64 = 64 << 10;
/// Bytes of a body that is an argument. The system allows 128 KiB for one.
const LONGEST_ARGUMENT: usize = 100_000;
/// Characters of an argument, and of a message, that are shown.
const SHOWN: usize = 300;

/// A program that opens pull requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ForgeTool {
    /// GitHub
    Gh,
    /// GitLab
    Glab,
}

/// A requested pull request.
pub(super) struct PullRequest<'a> {
    pub(super) page: &'a str,
    pub(super) branch: &'a str,
    pub(super) base: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) body_file: &'a Path,
}

impl ForgeTool {
    /// The name of the program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Glab => "glab",
        }
    }

    /// Returns the call that opens a pull request. A value is never an argument of its own, which might begin with `-`.
    pub(super) fn open_call(self, request: &PullRequest<'_>) -> Vec<String> {
        let PullRequest {
            page,
            branch,
            base,
            title,
            ..
        } = request;
        match self {
            Self::Gh => vec![
                "gh".to_owned(),
                "pr".to_owned(),
                "create".to_owned(),
                format!("--repo={page}"),
                format!("--head={branch}"),
                format!("--base={base}"),
                format!("--title={title}"),
                format!("--body-file={}", request.body_file.display()),
            ],
            // glab reads no description from a file.
            Self::Glab => vec![
                "glab".to_owned(),
                "mr".to_owned(),
                "create".to_owned(),
                format!("--repo={page}"),
                format!("--source-branch={branch}"),
                format!("--target-branch={base}"),
                format!("--title={title}"),
                format!(
                    "--description={}",
                    beginning(request.body, LONGEST_ARGUMENT)
                ),
                "--yes".to_owned(),
            ],
        }
    }
}

/// Returns a call as it is shown: arguments in quotation marks where a shell needs them, and cut.
pub(super) fn shown(argv: &[String]) -> String {
    let mut words = Vec::new();
    for word in argv {
        let word = line(word, SHOWN);
        let mut letters = word.chars();
        let is_plain = letters.all(|c| c.is_ascii_alphanumeric() || "-_=./:@+".contains(c));
        words.push(if is_plain {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        });
    }
    words.join(" ")
}

/// Starts programs of the user with the user's environment.
pub(super) struct ForgeCaller {
    supervisor: Supervisor,
    env: Vec<(String, String)>,
    folder: TempDir,
}

impl ForgeCaller {
    /// Makes a folder for bodies and output that only its owner can read.
    pub(super) fn new() -> Result<Self, Fault> {
        let mut env = base_environment();
        let quiet = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GH_PROMPT_DISABLED", "1"),
            ("NO_COLOR", "1"),
        ];
        env.retain(|(name, _)| quiet.iter().all(|(other, _)| name != other));
        env.extend(quiet.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Ok(Self {
            supervisor: Supervisor::new(own_program(), Some(Interrupts::install()?)),
            env,
            folder: tempfile::Builder::new()
                .prefix("ralph-deliver-")
                .tempdir()?,
        })
    }

    /// Writes a body into a file of its own.
    pub(super) fn write_body(&self, body: &str) -> Result<PathBuf, Fault> {
        let mut file = tempfile::Builder::new()
            .prefix("body-")
            .suffix(".md")
            .tempfile_in(self.folder.path())?;
        file.write_all(body.as_bytes())?;
        let (_, path) = file.keep().map_err(|error| error.error)?;
        Ok(path)
    }

    /// Runs a program. Returns the address that it printed last, or why it failed.
    pub(super) fn run(
        &self,
        argv: &[String],
        cwd: &Path,
    ) -> Result<Result<Option<String>, String>, Fault> {
        let program = argv.first().map_or("", String::as_str);
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        let path = path.map_or("", |(_, value)| value.as_str());
        let Some(file) = on_path(path, program).next() else {
            return Ok(Err(format!("{program} is not on the PATH.")));
        };
        let mut argv = argv.to_vec();
        if let Some(first) = argv.first_mut() {
            *first = file.to_string_lossy().into_owned();
        }
        let log = tempfile::Builder::new()
            .tempfile_in(self.folder.path())?
            .into_temp_path();
        let ended = self.supervisor.run(&ProcessSpec {
            argv,
            env: self.env.clone(),
            cwd: cwd.to_owned(),
            stdout: log.to_path_buf(),
            stderr: log.to_path_buf(),
            log_cap: CAP,
            wall: Some(LIMIT),
            grace: Duration::from_secs(2),
            tag: format!("deliver-{}", std::process::id()),
            ..ProcessSpec::default()
        })?;
        let mut bytes = Vec::new();
        fs_err::File::open(&log)?
            .take(2 * CAP)
            .read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rfind(|row| !row.trim().is_empty());
        if let ProcessEnd::Exited { code: 0 } = ended.end {
            let address = text.lines().rfind(|row| row.starts_with("https://"));
            return Ok(Ok(address.map(|row| line(row, SHOWN))));
        }
        let last = line(last.unwrap_or("it printed nothing"), SHOWN);
        let ended = match ended.end {
            ProcessEnd::Exited { code } => format!("ended with {code}"),
            end => end.to_string(),
        };
        Ok(Err(format!("{program} {ended}: {last}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_for_an_argument_is_cut_between_characters() {
        assert_eq!(beginning("aé", 2), "a");
        assert_eq!(beginning("aé", 3), "aé");
        let body = "é".repeat(LONGEST_ARGUMENT);
        let call = ForgeTool::Glab.open_call(&PullRequest {
            page: "https://gitlab.com/a/b",
            branch: "x",
            base: "main",
            title: "-t",
            body: &body,
            body_file: Path::new("/b"),
        });
        assert!(call.iter().all(|word| word.len() < 128 << 10));
        assert!(call.contains(&"--title=-t".to_owned()), "{:?}", &call[..6]);
    }

    #[test]
    fn a_shown_call_is_one_line_that_a_shell_reads_alike() {
        let call = ["gh", "--title=it's\u{1b}[1m $(x)\ny"].map(ToOwned::to_owned);
        let shown = shown(&call);
        assert!(
            shown.starts_with(r"gh '--title=it'\''s") && shown.lines().count() == 1,
            "{shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
