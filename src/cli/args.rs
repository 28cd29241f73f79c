//! The verbs and flags that can be typed, and their help.

use super::{
    audit, check, deliver, gate, init, lanes, manual_verbs, mutation_test, output, place, prompt,
    replay, report, run, settings, stage, status, verify,
};
use clap::{Command, CommandFactory as _, Parser, Subcommand};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The codes of the verbs that run the loop.
const EXITS: &str = "Exit codes: 0 done · 1 work left · \
2 usage or configuration · 3 a gate gave no verdict · 4 state changed under the run · 5 a limit · \
6 no progress · 70 internal · 74 disk · 75 workspace busy · 129/130/143 signal";
/// The codes of the other verbs, unless their help names its own.
const EXITS_OF_OTHERS: &str = "Exit codes: 0 done, or yes · 1 no · 2 usage or configuration · 3 could not tell · \
4 state was changed by others · 70 internal · 74 disk · 75 workspace busy";

/// Help of each verb below its flags: `[verb]`, then the text.
const HELP: &str = include_str!("../../templates/help.txt");

/// The groups of the list of commands; each command is in one. The first has what a newcomer needs.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Start here",
        &["init", "place", "check", "run", "status", "report"],
    ),
    (
        "Run",
        &[
            "next", "pause", "resume", "lanes", "accept", "reopen", "deliver", "demo",
        ],
    ),
    ("Look", &["diff", "prompt"]),
    ("Task file", &["stage"]),
    (
        "Gates",
        &["gate", "mutation-test", "mcp", "verify", "snapshot"],
    ),
    ("Prove", &["replay", "bundle", "audit"]),
    ("Set up", &["doctor", "generate"]),
];

/// The command with its verbs; the help of each ends with exit codes.
pub(super) fn build_command() -> Command {
    let command = with_help(Cli::command());
    let list = group_commands(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

/// The commands by group, a line each.
fn group_commands(command: &Command) -> String {
    let mut list = String::new();
    for (title, verbs) in GROUPS {
        let _ = writeln!(list, "{title}:");
        for verb in verbs {
            let about = command
                .find_subcommand(verb)
                .and_then(Command::get_about)
                .map(ToString::to_string);
            let _ = writeln!(list, "  {verb:14} {}", about.unwrap_or_default());
        }
        list.push('\n');
    }
    list
}

fn with_help(command: Command) -> Command {
    command.mut_subcommands(|verb| {
        let verb = output::with_output(verb);
        let section = HELP
            .split_once(&format!("[{}]\n", verb.get_name()))
            .map_or("", |(_, after)| after);
        let help = section.split("\n[").next().unwrap_or_default().trim_end();
        let more = match verb.get_name() {
            "check" => &settings::settings_help(),
            "run" | "demo" => EXITS,
            _ if help.contains("Exit codes: ") => return verb.after_help(help),
            _ => EXITS_OF_OTHERS,
        };
        verb.after_help(format!("{help}\n\n{more}"))
    })
}

/// Run coding agents in a loop that trusts only git and deterministic gates
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
    /// Show tasks, stages, verdicts and what is blocked
    Status(status::StatusArgs),
    /// Compare what agents said with what git and the gates saw
    Report(report::ReportArgs),
    /// Tick a box by hand, with a reason
    ///
    /// The tick holds for the commits of this moment.
    Accept(manual_verbs::ByHand),
    /// Untick a box by hand, with a reason
    Reopen(manual_verbs::ByHand),
    /// Start no new attempt until `ralph resume`
    ///
    /// A running attempt ends as usual. Then you can edit tasks.md.
    Pause,
    /// End a pause, or allow more than a used-up budget
    Resume(manual_verbs::ResumeArgs),
    /// List lanes, take or remove one, print jobs for CI
    ///
    /// A lane is a workspace in which `ralph run --lanes N` does a task ahead.
    Lanes(lanes::LanesArgs),
    /// Run a gate for a task, or for the commits since a revision
    ///
    /// `2.PITEST` ticks or unticks boxes as in a run. `PITEST` alone only judges and reports.
    Gate(gate::GateArgs),
    /// Measure the tests of a file, directory or class by mutation
    ///
    /// It works in a private copy that includes uncommitted work.
    MutationTest(mutation_test::MutationTestArgs),
    /// Serve tools to agents (Model Context Protocol)
    ///
    /// It speaks over standard input and output.
    Mcp,
    /// Compare the edits in an agent's transcript with git
    ///
    /// The transcript is read from standard input.
    Verify(verify::VerifyArgs),
    /// Repeat every recorded decision from the journal and git
    ///
    /// It compares the results with the record, and needs no model and no network.
    Replay(replay::ReplayArgs),
    /// Judge the boxes that a repository's history ticked
    ///
    /// A gate judges the commits of each box, whether ralph ticked it or not.
    Audit(audit::AuditArgs),
    /// Pack a run into one file for `ralph replay`
    ///
    /// It contains the journal, the spec, the configuration, gate reports, and the commits that records name.
    Bundle {
        /// The file to write
        file: PathBuf,
    },
    /// Push a finished run and open pull requests
    ///
    /// It calls git, and the `gh` or `glab` that you are logged in with. Without `--yes` it only prints the calls.
    Deliver(deliver::DeliverArgs),
    /// Record the base of a task in a loop of your own
    Snapshot(manual_verbs::SnapshotArgs),
    /// Show the files that a task has changed
    ///
    /// Each line is `<package>/<path>`.
    Diff {
        /// The task: `2.`; the last one that was tried if left out
        id: Option<String>,
    },
    /// Show the prompt for a box, or the template of a role
    Prompt(prompt::PromptArgs),
    /// Choose where a gate's boxes are in the task file
    Place(place::PlaceArgs),
    /// Add the boxes of stages to the task file
    ///
    /// The stages are TEST-FIRST, REQ-CHECK, gates, PRE-CR, and one FINAL.
    Stage(stage::StageArgs),
    /// Find errors in spec, configuration and repositories
    Check(check::CheckArgs),
    /// Write `.ralph/` with a configuration for this project
    Init(init::InitArgs),
    /// Run the example with Maven, PIT and a scripted agent
    Demo {
        /// Keep the workspace in this folder, which must be empty or absent
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Check this machine's tools, agents and settings
    Doctor,
    /// Print the schema, a manual page or shell completions
    #[command(subcommand)]
    Generate(Generated),
}

/// Files for other programs.
#[derive(Debug, Subcommand)]
pub enum Generated {
    /// Print the JSON Schema of `.ralph/config.yaml`
    Schema,
    /// Print the manual page, or write one for each command
    Man {
        /// Write ralph.1 and a page for each verb into this directory
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_is_in_one_group_and_its_line_fits_in_80_columns() {
        let command = build_command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        let list = group_commands(&command);
        let long: Vec<&str> = list.lines().filter(|line| line.len() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn each_verb_has_examples_and_exit_codes_in_its_help() {
        let command = build_command();
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

    #[test]
    fn each_command_that_answers_has_format_and_output() {
        let command = build_command();
        let has = |verb: &&Command, name: &str| {
            verb.get_arguments()
                .any(|argument| argument.get_id() == name)
        };
        let with_format: Vec<&str> = command
            .get_subcommands()
            .filter(|verb| has(verb, "format") && has(verb, "output"))
            .map(Command::get_name)
            .collect();
        assert_eq!(
            with_format.join(" "),
            "next status report gate mutation-test verify replay audit diff prompt check doctor"
        );
    }
}
