//! The verbs and flags that can be typed, and their help.

use super::{
    audit, check, gate, init, manual_verbs, mutation_test, place, prompt, replay, report, run,
    settings, stage, status, verify,
};
use clap::{Command, CommandFactory as _, Parser, Subcommand};
use std::path::PathBuf;

/// The codes of the verbs that run the loop.
const EXITS: &str = "Exit codes: 0 done · 1 work left · \
2 usage or configuration · 3 a gate gave no verdict · 4 state changed under the run · 5 a limit · \
6 no progress · 70 internal · 74 disk · 75 workspace busy · 129/130/143 signal";
/// The codes of the other verbs, unless their help names its own.
const EXITS_OF_OTHERS: &str = "Exit codes: 0 done, or yes · 1 no · 2 usage or configuration · 3 could not tell · \
4 state was changed by others · 70 internal · 74 disk · 75 workspace busy";

/// What the help of each verb says below its flags: `[verb]`, then the text.
const HELP: &str = include_str!("../../templates/help.txt");

/// The command with its verbs; the help of each ends with exit codes.
pub(super) fn command() -> Command {
    Cli::command().mut_subcommands(|verb| {
        let section = HELP
            .split_once(&format!("[{}]\n", verb.get_name()))
            .map_or("", |(_, after)| after);
        let help = section.split("\n[").next().unwrap_or_default().trim_end();
        let more = match verb.get_name() {
            "check" => &settings::help(),
            "run" | "demo" => EXITS,
            _ if help.contains("Exit codes: ") => return verb.after_help(help),
            _ => EXITS_OF_OTHERS,
        };
        verb.after_help(format!("{help}\n\n{more}"))
    })
}

/// Run coding agents in a loop that believes only git and deterministic gates
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    max_term_width = 100,
    after_help = format!("{EXITS}\n\n\
Settings: a flag wins over the environment (RALPH_ROOT, RALPH_SPEC, RALPH_AGENT, RALPH_THRESHOLD, …), that \
over .ralph/config.yaml; `ralph check --config` lists each with its origin, `ralph check --help` all variables.")
)]
pub struct Cli {
    /// The flags of every verb
    #[command(flatten)]
    pub flags: settings::GlobalFlags,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Take open boxes one by one until there is a reason to stop
    Run(run::RunArgs),
    /// Show which box is next, and why the others are not
    Next {
        /// Optional boxes count too
        #[arg(long)]
        optional: bool,
    },
    /// Show families, stages, verdicts and what is blocked
    Status(status::StatusArgs),
    /// Show what happened: for each task, what the agent said beside what git and the gates saw
    Report(report::ReportArgs),
    /// Tick a box by hand, with a reason, for the commits of this moment
    Accept(manual_verbs::ByHand),
    /// Open a box by hand, with a reason
    Reopen(manual_verbs::ByHand),
    /// Start no new attempt until `resume`, so that tasks.md can be edited in peace; what is running is left to finish
    Pause,
    /// End a pause, or allow more than a used-up budget (`on_budget: pause`)
    Resume(manual_verbs::ResumeArgs),
    /// Run a gate: `2.PITEST` with all its consequences, or `PITEST` alone to judge and report
    Gate(gate::GateArgs),
    /// Measure the tests of a file, folder or class by mutation, uncommitted work included, in a private copy
    MutationTest(mutation_test::MutationTestArgs),
    /// Show the mutation scores of classes week by week, and where one fell
    History {
        /// Only classes and targets whose name holds this
        name: Option<String>,
    },
    /// Serve tools to agents over standard input and output (Model Context Protocol)
    Mcp,
    /// Compare the file edits in an agent's transcript (standard input) with what git shows
    Verify(verify::VerifyArgs),
    /// Make every recorded decision again from the journal and git alone, and compare
    Replay(replay::ReplayArgs),
    /// Judge the boxes that were ticked in a repository's history, by ralph or not: a gate on the commits behind each
    Audit(audit::AuditArgs),
    /// Pack a run into one file: journal, spec, configuration, gate reports, and the commits that records name
    Bundle {
        /// The file to write
        file: PathBuf,
        /// Leave the commits out: the file names the repositories' addresses instead, and `replay --bundle` looks for
        /// clones of them below its folder
        #[arg(long)]
        thin: bool,
    },
    /// Pin the base of a task before an agent works on it (for loops that are not ralph's)
    Snapshot(manual_verbs::SnapshotArgs),
    /// Show what a task has changed: `<package>/<path>`, one line each
    Diff {
        /// The task: `2.`; the last one that was tried if left out
        id: Option<String>,
    },
    /// Show the prompt that the agent of a box would get now, or the built-in template of a role
    Prompt(prompt::PromptArgs),
    /// Choose where the boxes of a gate stand in the task file, when the spec is written or at any later time
    Place(place::PlaceArgs),
    /// Give plain tasks their stages: TEST-FIRST, REQ-CHECK, gates, PRE-CR, one FINAL
    Stage(stage::StageArgs),
    /// Find everything that is wrong with the spec, the configuration and the repositories
    Check(check::CheckArgs),
    /// Look at what is here, and write `.ralph/` with a commented configuration
    Init(init::InitArgs),
    /// Run the built-in example on real Maven and PIT with a scripted agent
    Demo {
        /// Keep the workspace in this folder, which must be empty or absent
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Look at the machine: tools and their versions, agents, which `ralph` is first on PATH, what is skipped
    Doctor,
    /// Print the JSON Schema of `.ralph/config.yaml`, for editors
    Schema,
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each verb
    Man {
        /// Write ralph.1 and a page for each verb into this folder
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_examples_and_exit_codes_in_its_help() {
        let command = command();
        for verb in command.get_subcommands() {
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let name = verb.get_name();
            assert!(
                help.starts_with("Example") && help.contains(&format!("ralph {name}")),
                "{name}: {help}"
            );
            assert_eq!(help.matches("Exit codes: ").count(), 1, "{name}: {help}");
        }
        let sections = HELP.lines().filter(|line| line.starts_with('[')).count();
        assert_eq!(sections, command.get_subcommands().count());
    }
}
