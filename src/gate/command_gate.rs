//! `gates.<NAME>.run`: any command as a judge.
//!
//! Run in each changed package, no shell; the end of its output is the reason.

use crate::gate::GateAbort;
use crate::gate::GatePackage;
use crate::gate::commands::Commands;
use crate::machine::facts::ProcessEnd;
use crate::source::text;

/// Lines of output that become reasons.
const TAIL: usize = 10;

/// What the command said about one package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandVerdict {
    /// Exit code 0.
    Pass,
    /// Exit code 77: where, and the last line of its output or that it gave no reason.
    Skip(String),
    /// A failure or an error.
    Abort(GateAbort),
}

/// Runs the command in a package.
pub(super) fn run(
    commands: &Commands<'_>,
    name: &str,
    argv: &[String],
    package: &GatePackage,
) -> CommandVerdict {
    let call = match commands.run(
        &format!("{}-{}", slug(name), slug(&package.name)),
        argv.to_vec(),
        &package.root,
        &[],
    ) {
        Ok(call) => call,
        Err(abort) => return CommandVerdict::Abort(abort),
    };
    let tail = tail(&call.output);
    let last = tail.last().cloned().unwrap_or_else(|| "it printed nothing".to_owned());
    match &call.end {
        ProcessEnd::Exited { code: 0 } => CommandVerdict::Pass,
        ProcessEnd::Exited { code: 77 } => {
            let silent =
                || "its command ended with 77, there is nothing to judge, and gave no reason".to_owned();
            CommandVerdict::Skip(format!(
                "In package {}: {}",
                package.name,
                tail.last().cloned().unwrap_or_else(silent)
            ))
        }
        ProcessEnd::Exited { code: 1 } => {
            let mut reasons = vec![format!("The gate {name} fails in package {}.", package.name)];
            reasons.extend(tail);
            CommandVerdict::Abort(GateAbort::Fail { reasons })
        }
        ProcessEnd::TimedOut { .. } => CommandVerdict::Abort(commands.over_limit("")),
        other => CommandVerdict::Abort(GateAbort::setup(
            format!(
                "The command of gate {name} {} in package {}: {last}.",
                text::line(&other.to_string(), 300),
                package.name
            ),
            "Run the command by hand; it must end with 0 (pass), 1 (fail) or 77 (skip).",
        )),
    }
}

fn tail(output: &str) -> Vec<String> {
    let lines: Vec<String> =
        output.lines().map(|line| text::line(line, 300)).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL)..].to_vec()
}

fn slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
