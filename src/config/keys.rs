//! The table of keys: every key of the configuration, and what may stand there.
//!
//! Owns: names, words, ranges and one line of explanation for each key; the reader takes the names and words
//! from here, the schema and the settings of the environment everything.
//!
//! Promises: what the reader accepts and what the schema allows is one set of keys (the reader can name no
//! other); the ranges agree (a test asks the reader for each).
//!
//! Refuses to know: how a value is read, where it came from.

use super::{
    CommitBy, NoCoverage, OnBlocked, PRESETS, Per, Place, Recompile, ReworkReviews, Role, ScopeKind,
    StagesFrom, TestTiers,
};

/// A key of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Its name.
    pub(super) name: &'static str,
    /// One line for people.
    pub(super) about: &'static str,
    /// What may stand there.
    pub(super) kind: Kind,
    /// The map is nothing without it.
    pub(super) needed: bool,
}

/// What may stand at a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Text that is not empty.
    Text,
    /// A version, as Maven writes it.
    Version,
    /// A regular expression.
    Regex,
    /// A length of time.
    Time,
    /// A whole number in a range.
    Whole(u64, u64),
    /// One of a few words.
    Word(fn() -> Vec<&'static str>),
    /// A list of texts.
    Texts,
    /// A list of texts, at least one.
    Ids,
    /// A list of names with `{}` in them, at least one.
    TestNames,
    /// A list of patterns for paths; `true` when it may be empty.
    Globs(bool),
    /// A program with its arguments.
    Argv,
    /// The value of an environment variable.
    Variable,
    /// `null`, or this.
    OrNull(&'static Kind),
    /// A map with these keys.
    Map(&'static [Key]),
    /// A map whose keys people choose.
    Named(Names, &'static Kind),
    /// The gates: `PITEST` may be either map, other names hold a command.
    Gates(&'static [Key], &'static [Key]),
    /// One of a few words, or a map.
    WordOr(fn() -> Vec<&'static str>, &'static [Key]),
    /// One of several maps, told apart by their needed keys.
    OneOf(&'static [&'static [Key]]),
}

/// What people may choose as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Agents: letters, digits, `-`, `_`, `.`.
    Agent,
    /// Environment variables that are not ralph's.
    Variable,
    /// Gates: capital letters, digits, `-`; no word of a stage.
    Gate,
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, about, kind, needed: false }
}

const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, about, kind, needed: true }
}

/// The words of a table of words and values.
fn words<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}

/// `per:`.
pub(super) const PER: &[(&str, Per)] =
    &[("class", Per::Class), ("package", Per::Package), ("task", Per::Task)];
/// `no_coverage:`.
pub(super) const NO_COVERAGE: &[(&str, NoCoverage)] =
    &[("survived", NoCoverage::Survived), ("ignore", NoCoverage::Ignore)];
/// `tests:`.
pub(super) const TESTS: &[(&str, TestTiers)] = &[
    ("own-first", TestTiers::OwnFirst),
    ("all", TestTiers::All),
    ("reachable", TestTiers::Reachable),
    ("own", TestTiers::Own),
];
/// `scope:`.
pub(super) const SCOPE: &[(&str, ScopeKind)] =
    &[("class", ScopeKind::Class), ("lines", ScopeKind::Lines), ("auto", ScopeKind::Auto)];
/// `where:`.
pub(super) const WHERE: &[(&str, Place)] = &[("clean", Place::Clean), ("in-place", Place::InPlace)];
/// `recompile:`.
pub(super) const RECOMPILE: &[(&str, Recompile)] =
    &[("auto", Recompile::Auto), ("javac", Recompile::Javac), ("maven", Recompile::Maven)];
/// `engine:`; true for the POM's own.
pub(super) const ENGINE: &[(&str, bool)] = &[("direct", false), ("maven", true)];
/// `commit:`.
pub(super) const COMMIT: &[(&str, CommitBy)] = &[("agent", CommitBy::Agent), ("ralph", CommitBy::Ralph)];
/// `rework:`.
pub(super) const REWORK: &[(&str, ReworkReviews)] =
    &[("reopen-reviews", ReworkReviews::ReopenReviews), ("keep-reviews", ReworkReviews::KeepReviews)];
/// `on_blocked:`.
pub(super) const ON_BLOCKED: &[(&str, OnBlocked)] = &[("stop", OnBlocked::Stop), ("next", OnBlocked::Next)];

/// `stages:`.
pub(super) const STAGES: &[(&str, StagesFrom)] =
    &[("file", StagesFrom::File), ("virtual", StagesFrom::Virtual)];
/// The choices of `placement:` that are a word, with their place in the reader's list.
pub(super) const PLACEMENT: &[(&str, usize)] = &[("each", 0), ("groups", 1), ("end", 2), ("none", 3)];

/// The root.
pub(super) const ROOT: &[Key] = &[
    key("spec", Kind::Text, "The folder of requirements.md, design.md, tasks.md and progress.txt."),
    key("packages", Kind::Globs(false), "Folders of the packages (git repositories) in the workspace."),
    key("files", Kind::Map(FILES), "Patterns that tell test, production and build files apart."),
    key("agents", Kind::Named(Names::Agent, &AGENT_KIND), "How each agent is started, by its name."),
    key("roles", Kind::Map(ROLES), "Which agent does which role."),
    key("gates", Kind::Gates(MUTATION, COMMAND_GATE), "Judges that ralph runs itself, by their name."),
    key("checks", Kind::Map(CHECKS), "Commands that are run in every changed package."),
    key("limits", Kind::Map(LIMITS), "Where ralph stops."),
    key("on", Kind::Map(EVENTS), "Commands that tell people: they find the event as JSON on standard input."),
    key("commit", Kind::Word(|| words(COMMIT)), "Who commits what an attempt left."),
    key("checkpoints", Kind::Regex, "Tasks whose text matches may have nothing to commit."),
    key("rework", Kind::Word(|| words(REWORK)), "What happens to reviews when the code under them changes."),
    key("on_blocked", Kind::Word(|| words(ON_BLOCKED)), "What a blocked family does to the run."),
    key("stages", Kind::Word(|| words(STAGES)), "Where the stages of a task come from."),
    key("placement", Kind::Named(Names::Gate, &CHOICE), "Where the boxes of each gate stand."),
    key("tasks", Kind::Map(TASKS), "How the task file is read."),
];

/// `placement: {PITEST: …}`.
const CHOICE: Kind = Kind::WordOr(|| words(PLACEMENT), AFTER);

/// `{after: [ids]}`.
pub(super) const AFTER: &[Key] = &[needed("after", Kind::Ids, "After these tasks, by their ids.")];

/// `tasks:`.
pub(super) const TASKS: &[Key] =
    &[key("sections", Kind::Map(SECTIONS), "Which sections hold tasks, by the text of their heading.")];

/// `tasks: {sections: …}`.
pub(super) const SECTIONS: &[Key] = &[
    key("include", Kind::Texts, "Only these hold tasks, where any is named."),
    key("exclude", Kind::Texts, "These hold none."),
];

/// `files:`.
pub(super) const FILES: &[Key] = &[
    key("test", Kind::Globs(false), "Test files; a path is a test file first."),
    key("production", Kind::Globs(false), "Production files."),
    key("build", Kind::Globs(true), "Build files; these come before production files."),
];

const COMMAND: Key =
    needed("command", Kind::Argv, "Program and arguments; the prompt is its standard input.");
const PRESET: Key = needed("preset", Kind::Word(presets), "A known agent CLI.");
const ARGS: Key = key("args", Kind::Texts, "Arguments added to those of the preset.");
const ENV: Key = key("env", Kind::Named(Names::Variable, &Kind::Variable), "Variables of its environment.");

fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// One agent: everything that may stand there, in either form.
pub(super) const AGENT: &[Key] = &[COMMAND, PRESET, ARGS, ENV];
const AGENT_KIND: Kind = Kind::OneOf(&[&[COMMAND, ENV], &[PRESET, ARGS, ENV]]);

/// `roles:`, in the order of [`Role::ALL`].
pub(super) const ROLES: &[Key] = &[
    key(Role::TestWriter.word(), Kind::Text, "The agent of N.TEST-FIRST."),
    key(Role::Worker.word(), Kind::Text, "The agent of the implementation, N."),
    key(Role::ReqReviewer.word(), Kind::Text, "The agent of N.REQ-CHECK."),
    key(Role::QualityReviewer.word(), Kind::Text, "The agent of N.PRE-CR."),
    key(Role::IntegrationTester.word(), Kind::Text, "The agent of N.INTEG."),
    key(Role::Validator.word(), Kind::Text, "The agent of FINAL."),
];

const RUN: Key =
    needed("run", Kind::Argv, "Program and arguments: exit 0 PASS, 1 FAIL, 77 SKIP, else ERROR.");
const LIMIT: Key = key("limit", Kind::Time, "Wall limit of the whole gate.");

/// A gate that is a command.
pub(super) const COMMAND_GATE: &[Key] = &[RUN, LIMIT];

/// The mutation gate.
pub(super) const MUTATION: &[Key] = &[
    key("threshold", Kind::Whole(0, 100), "Per cent of mutants that must be killed."),
    key("per", Kind::Word(|| words(PER)), "What must reach the threshold."),
    key("no_coverage", Kind::Word(|| words(NO_COVERAGE)), "What a mutant is that no test reaches."),
    key("engine", Kind::Word(|| words(ENGINE)), "direct, or the POM's own pitest-maven."),
    key("jobs", Kind::Whole(0, 1024), "Threads; 0 is one per processor."),
    key("maven_args", Kind::Texts, "Arguments added to each call of Maven."),
    LIMIT,
    key("pit_version", Kind::Version, "PIT's version."),
    key("tests", Kind::Word(|| words(TESTS)), "Which tests must kill the mutants, in which order."),
    key("test_names", Kind::TestNames, "Names of the test classes of a class, which is {} in them."),
    key("scope", Kind::Word(|| words(SCOPE)), "Which mutants of a class count."),
    key(
        "where",
        Kind::Word(|| words(WHERE)),
        "A private checkout of the commit, or the package's own folder.",
    ),
    key("recompile", Kind::Word(|| words(RECOMPILE)), "Who compiles when only Java files changed."),
    key("keep", Kind::Globs(true), "Files that git ignores and a clean checkout needs."),
    key("jvm_args", Kind::Texts, "Arguments added to the JVMs that run tests."),
];

/// `checks:`.
pub(super) const CHECKS: &[Key] = &[
    key("red", COMMAND_OR_NULL, "Must fail after TEST-FIRST."),
    key("green", COMMAND_OR_NULL, "Must pass after an implementation, and for a checkpoint."),
];

/// `limits:`.
pub(super) const LIMITS: &[Key] = &[
    key("iterations", Kind::OrNull(&Kind::Whole(1, u64::MAX)), "Iterations of one run."),
    key("attempts", Kind::Whole(1, 1000), "Attempts in a row for one stage."),
    key("rework", Kind::Whole(0, 1000), "Reworks of one family."),
    key("wall", Kind::Time, "Wall time of one run."),
    key("attempt", Kind::Time, "Wall time of one attempt."),
    key("idle", Kind::OrNull(&Kind::Time), "Time of an attempt without a byte of output."),
    key("check", Kind::Time, "Wall time of one check."),
];

const COMMAND_OR_NULL: Kind = Kind::OrNull(&Kind::Argv);

/// `on:`.
pub(super) const EVENTS: &[Key] = &[
    key("blocked", COMMAND_OR_NULL, "A family is blocked."),
    key("done", COMMAND_OR_NULL, "All required boxes are ticked."),
    key("gate-fail", COMMAND_OR_NULL, "A gate said FAIL."),
    key("stop", COMMAND_OR_NULL, "The run stopped, for whatever reason."),
];
