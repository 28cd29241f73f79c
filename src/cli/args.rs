//! The verbs and flags that can be typed, and their help.

use super::audit::AuditArgs;
use super::check::CheckArgs;
use super::gate::GateArgs;
use super::init::InitArgs;
use super::manual_verbs::{ByHand, SnapshotArgs};
use super::mutation_test::MutationTestArgs;
use super::place::PlaceArgs;
use super::prompt::PromptArgs;
use super::replay::ReplayArgs;
use super::report::ReportArgs;
use super::run::RunArgs;
use super::settings::GlobalFlags;
use super::stage::StageArgs;
use super::status::StatusArgs;
use super::verify::VerifyArgs;
use clap::{Command, CommandFactory as _, Parser, Subcommand};
use std::path::PathBuf;

/// The codes of the verbs that run the loop.
const EXITS: &str = "Exit codes: 0 done · 1 work left · \
2 usage or configuration · 3 a gate gave no verdict · 4 state changed under the run · 5 a limit · \
6 no progress · 70 internal · 74 disk · 75 workspace busy · 129/130/143 signal";
/// The codes of the other verbs, unless their help names its own.
const EXITS_OF_OTHERS: &str = "Exit codes: 0 done, or yes · 1 no · 2 usage or configuration · 3 could not tell · \
4 state was changed by others · 70 internal · 74 disk · 75 workspace busy";

/// The command with its verbs; the help of each ends with exit codes.
pub(super) fn command() -> Command {
    Cli::command().mut_subcommands(|verb| {
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        let codes = if matches!(verb.get_name(), "run" | "demo") { EXITS } else { EXITS_OF_OTHERS };
        if help.contains("Exit codes: ") { verb } else { verb.after_help(format!("{help}\n\n{codes}")) }
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
    pub flags: GlobalFlags,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Take open boxes one by one until there is a reason to stop
    #[command(
        after_help = "Examples:\n  ralph run\n  ralph run --once\n  ralph run --retry 2. --max-iterations 10\n  ralph run --dry-run"
    )]
    Run(RunArgs),
    /// Show which box is next, and why the others are not
    #[command(after_help = "Examples:\n  ralph next\n  ralph next --json")]
    Next {
        /// Optional boxes count too
        #[arg(long)]
        optional: bool,
    },
    /// Show families, stages, verdicts and what is blocked
    #[command(after_help = "Examples:\n  ralph status\n  ralph status --watch\n  ralph status --json")]
    Status(StatusArgs),
    /// Show what happened: for each task, what the agent said beside what git and the gates saw
    #[command(
        after_help = "Examples:\n  ralph report --html morning.html\n  ralph report | gh pr comment --body-file -\n  \
ralph report --md report.md\n  ralph report --bundle run.tar --html morning.html\n  ralph report --json\n\n\
The Markdown fits a comment on a pull request (60,000 characters); the HTML needs no other file and runs no script."
    )]
    Report(ReportArgs),
    /// Tick a box by hand, with a reason, for the commits of this moment
    #[command(after_help = "Example:\n  ralph accept 2.PITEST --reason 'the last mutant is equivalent'")]
    Accept(ByHand),
    /// Open a box by hand, with a reason
    #[command(after_help = "Example:\n  ralph reopen 2. --reason 'the rounding is wrong'")]
    Reopen(ByHand),
    /// Start no new attempt until `resume`, so that tasks.md can be edited in peace; what is running is left to finish
    #[command(after_help = "Example:\n  ralph pause && $EDITOR tasks.md && ralph resume")]
    Pause,
    /// End a pause
    #[command(after_help = "Example:\n  ralph resume")]
    Resume,
    /// Run a gate: `2.PITEST` with all its consequences, or `PITEST` alone to judge and report
    #[command(after_help = "Examples:\n  ralph gate 2.PITEST\n  ralph gate 2.PITEST --since HEAD~3\n  \
ralph gate PITEST --since main --explain\n  ralph gate PITEST --diff changed-files.txt --json\n  \
ralph gate PITEST --since origin/main --format github --fail-on-skip\n  \
ralph gate PITEST --since origin/main --format sarif > ralph.sarif\n\n\
Exit codes: 0 PASS or SKIP · 1 FAIL, or SKIP with --fail-on-skip · 2 usage or configuration · 3 no verdict\n\n\
A command gate (`gates.<NAME>.run`) finds RALPH_GATE, RALPH_TASK, RALPH_PACKAGES, RALPH_CHANGED_FILES (a file), \
RALPH_BASE and RALPH_HEAD in its environment.\n\n\
Places in annotations are relative to the git repository that holds the workspace, else to the workspace. \
Only the verdict in the chosen format goes to standard output, everything else to standard error.")]
    Gate(GateArgs),
    /// Measure the tests of a file, folder or class by mutation, uncommitted work included, in a private copy
    #[command(after_help = "Examples:\n  ralph mutation-test src/shop/price.py\n  \
ralph mutation-test com.acme.Calc --json\n  ralph mutation-test com.acme.Calc --report survivors && xdg-open survivors/mutation.html\n  ralph mutation-test web/src --engine stryker --timeout 3600\n\n\
Exit codes: 0 measured, whatever the score · 2 usage · 3 no score: a time-out, red tests, an engine that is missing\n\n\
The folder (the current one, or --root) is trusted: its code, tests and build run. They run in a copy; ralph writes nothing \
into the folder. Engines get a short list of variables; MUTATION_RUNNER_FORWARD_ENV=A,B names more. docs/mutation-test.md \
describes the JSON.")]
    MutationTest(MutationTestArgs),
    /// Show the mutation scores of classes week by week, and where one fell
    #[command(
        after_help = "Examples:\n  ralph history\n  ralph history Shipping\n  ralph history --json\n\n\
Exit codes: 0 shown · 2 usage or configuration · 4 the journal is broken\n\n\
The scores are those of gates, from the journal, and of `ralph mutation-test` in this folder, from ralph's cache. A bar is \
the last score of a week: ▁ none killed, █ all. Scores of changed lines only (`scope: lines`) are shown but not compared."
    )]
    History {
        /// Only classes and targets whose name holds this
        name: Option<String>,
    },
    /// Serve tools to agents over standard input and output (Model Context Protocol)
    #[command(
        after_help = "Examples:\n  ralph mcp --root ~/work/shop\n  claude mcp add ralph -- ralph mcp\n  codex mcp add ralph -- ralph mcp\n\n\
Tools: mutation_test (where an engine is installed), gate_preview, status, task and blocked (in a workspace). None of them \
writes into the workspace. Inside an attempt of a loop mutation_test is there only with `mcp: {scores: true}`."
    )]
    Mcp,
    /// Compare the file edits in an agent's transcript (standard input) with what git shows
    #[command(
        after_help = "Examples:\n  my-agent --output-format stream-json < prompt.md | ralph verify --format claude\n  \
before=$(git stash create); codex exec --json - < prompt.md > out.jsonl 2> err.txt\n  \
ralph verify --format codex --before \"${before:-HEAD}\" --errors err.txt < out.jsonl\n\n\
Exit codes: 0 nothing unresolved · 1 edits unresolved · 2 usage · 3 could not tell\n\n\
An edit that failed is made good by one that succeeds on the same file, if git shows that the file changed. \
Nothing is printed when there is nothing to say."
    )]
    Verify(VerifyArgs),
    /// Make every recorded decision again from the journal and git alone, and compare
    #[command(
        after_help = "Examples:\n  ralph replay\n  ralph replay --json\n  ralph replay --junit replay.xml\n  \
ralph replay --bundle run.tar --rerun-gates\n  ralph replay --step --bundle run.tar\n  \
ralph replay --rerun-gates --shard 1/3 --json > parts/1.json; ralph replay --merge parts\n  \
ralph replay --since journal-of-yesterday.jsonl --require-anchor \"$(git notes --ref=ralph show)\"\n\n\
Exit codes: 0 equal · 1 something differs, its record or line is named · 2 usage · 3 could not tell: something is missing\n\n\
No model or network is used, and nothing is written; --rerun-gates runs what the configuration says. Each box says what was \
believed as recorded."
    )]
    Replay(ReplayArgs),
    /// Judge the boxes that were ticked in a repository's history, by ralph or not: a gate on the commits behind each
    #[command(
        after_help = "Examples:\n  ralph audit --past\n  ralph audit --past ../shop --html audit.html\n  \
ralph audit --past --by tag --since v1.0\n  ralph audit --past --by commit --since HEAD~20 --json\n  \
ralph audit --past --shard 1/3 --json > parts/1.json; ralph audit --past --merge parts --md audit.md\n\n\
Exit codes: 0 none untrue · 1 a box is untrue · 2 usage · 3 none untrue, and not all could be told\n\n\
Nothing is written to the repository, and it needs no .ralph/. Its code, build and tests run in private checkouts. docs/audit.md says \
which commits are behind a box."
    )]
    Audit(AuditArgs),
    /// Pack a run into one file: journal, spec, configuration, gate reports, and the commits that records name
    #[command(
        after_help = "Examples:\n  ralph bundle run.tar\n  ralph replay --bundle run.tar\n  ralph bundle --thin run.tar\n\n\
The same run gives the same bytes. If a known secret would go in, ralph refuses and names the place."
    )]
    Bundle {
        /// The file to write
        file: PathBuf,
        /// Leave the commits out: the file names the repositories' addresses instead, and `replay --bundle` looks for
        /// clones of them below its folder
        #[arg(long)]
        thin: bool,
    },
    /// Pin the base of a task before an agent works on it (for loops that are not ralph's)
    #[command(
        after_help = "Example:\n  ralph snapshot 2. --exec -- my-agent -p < prompt.md && ralph gate 2.PITEST"
    )]
    Snapshot(SnapshotArgs),
    /// Show what a task has changed: `<package>/<path>`, one line each
    #[command(after_help = "Examples:\n  ralph diff\n  ralph diff 2. --json")]
    Diff {
        /// The task: `2.`; the last one that was tried if left out
        id: Option<String>,
    },
    /// Show the prompt that the agent of a box would get now, or the built-in template of a role
    #[command(after_help = "Examples:\n  ralph prompt 2.\n  ralph prompt 2.REQ-CHECK --json\n  \
ralph prompt --template worker > .ralph/prompts/worker.md\n\n\
Nothing is started or changed. The verdict token shown, 0000, belongs to no attempt.")]
    Prompt(PromptArgs),
    /// Choose where the boxes of a gate stand in the task file, when the spec is written or at any later time
    #[command(after_help = "Examples:\n  ralph place each\n  ralph place after 2,5,7 --dry-run\n  \
ralph place groups --level 2 --gate LINT\n  ralph place end --tasks .kiro/specs/login/tasks.md\n  ralph place --check\n  \
ralph place --snippet kiro > .kiro/steering/ralph-gates.md\n\n\
Only whole lines are added and removed. Without arguments on a terminal it asks; the choice is written to .ralph/config.yaml.")]
    Place(PlaceArgs),
    /// Give plain tasks their stages: TEST-FIRST, REQ-CHECK, gates, PRE-CR, one FINAL
    #[command(
        after_help = "Examples:\n  ralph stage --all --dry-run\n  ralph stage 2,5\n  ralph stage --all --only TEST-FIRST,PRE-CR\n  \
ralph stage --none --tasks tasks.md\n\nExit codes: 0 done · 1 --check found a difference · 2 usage"
    )]
    Stage(StageArgs),
    /// Find everything that is wrong with the spec, the configuration and the repositories
    #[command(after_help = format!("Examples:\n  ralph check\n  ralph check --json\n  ralph check --explain\n  \
ralph check --tasks specs/001/tasks.md --explain\n  ralph check --format sarif > ralph.sarif\n  ralph check --config\n  \
RALPH_THRESHOLD=80 ralph check --config --set limits.attempts=5\n\n\
Exit codes: 0 no errors · 1 errors · 2 usage\n\n{}", super::settings::help()))]
    Check(CheckArgs),
    /// Look at what is here, and write `.ralph/` with a commented configuration
    #[command(after_help = "Examples:\n  ralph init\n  ralph init --agent claude\n  \
ralph init --yes --spec .kiro/specs/login --packages 'src/*' --placement each\n  ralph init --json --yes\n\n\
It asks only on a terminal, and never overwrites a file. --spec and --agent (the name of a preset) are written into \
the configuration; --set is for a workspace that has one.")]
    Init(InitArgs),
    /// Run the built-in example on real Maven and PIT with a scripted agent
    #[command(after_help = "Examples:\n  ralph demo\n  ralph demo --into /tmp/ralph-demo\n\n\
It runs with the example's own agent and settings: --root, --spec, --agent and --set are refused.")]
    Demo {
        /// Keep the workspace in this folder, which must be empty or absent
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Look at the machine: tools and their versions, agents, which `ralph` is first on PATH, what is skipped
    #[command(after_help = "Examples:\n  ralph doctor\n  ralph doctor --json\n\n\
Exit codes: 0 healthy · 1 something that this workspace needs is missing")]
    Doctor,
    /// Print the JSON Schema of `.ralph/config.yaml`, for editors
    #[command(after_help = "Example:\n  ralph schema > .ralph/config.schema.json\n\n\
Editors with the YAML language server read it when config.yaml begins with\n  \
# yaml-language-server: $schema=config.schema.json")]
    Schema,
    /// Print the completions of a shell
    #[command(
        after_help = "Examples:\n  ralph completions bash > ~/.local/share/bash-completion/completions/ralph\n  \
ralph completions zsh > ~/.zfunc/_ralph\n  ralph completions fish > ~/.config/fish/completions/ralph.fish"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each verb
    #[command(after_help = "Examples:\n  ralph man | man -l -\n  ralph man --into ~/.local/share/man/man1")]
    Man {
        /// Write ralph.1 and a page for each verb into this folder
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}
