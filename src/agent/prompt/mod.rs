//! Fills templates of prompts with facts.
//!
//! Promises: a variable that does not exist is an error with file and line. Outside text is between marks. No line of
//! a prompt matches `^RALPH-VERDICT` or would count as a verdict. The same facts give the same bytes.

mod data;
mod sample;

pub use sample::try_out;

use crate::agent::claim::VerdictLine;
use crate::config::Role;
use crate::source::Problem;
use crate::source::text;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value, context};
use std::collections::BTreeSet;

/// Cap of a file of the spec, and of all together, bytes.
const SPEC_CAP: usize = 64 * 1024;
const SPECS_CAP: usize = 96 * 1024;
/// Minimum remaining space for the next file of the spec, in bytes.
const MIN_SPEC: usize = 1024;
/// Cap of `progress`, bytes.
const PROGRESS_CAP: usize = 16 * 1024;
/// Cap of `reasons`, bytes, and of one reason.
const REASONS_CAP: usize = 32 * 1024;
const REASON_CAP: usize = 8 * 1024;
/// Cap of `task_text` and of `implementation`, bytes each.
const TASK_CAP: usize = 16 * 1024;
/// Maximum number of listed changed files, and of listed leftovers.
const CHANGES: usize = 200;
const LEFTOVERS: usize = 50;
/// Cap of a name or path, characters.
const NAME_CHARS: usize = 400;
/// The advice at the cut of a file of the spec.
const IN_SPEC: &str = "the whole file is in the spec folder";

/// The raw facts of a prompt. This module bounds and cleans them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFacts {
    /// The box as `tasks.md` names it (`2.`, `2.TEST-FIRST`, `FINAL`); empty without an id.
    pub task: String,
    /// The family's id (`2`); empty without one.
    pub id: String,
    /// The raw text of the task's line and of the lines below it.
    pub task_text: String,
    /// The same for the implementation, for a stage with words of its own; empty otherwise.
    pub implementation: String,
    /// The heading above the task and the titles of its parents, outermost first.
    pub parents: Vec<String>,
    /// The word of the stage, `IMPLEMENT` for the implementation.
    pub stage: String,
    pub iteration: u64,
    /// The attempt in a row for this stage, from 1.
    pub attempt: u32,
    /// The workspace, absolute.
    pub workspace: String,
    /// The spec folder, absolute.
    pub spec: String,
    /// The task file, from the workspace.
    pub tasks_file: String,
    /// progress.txt, from the workspace.
    pub progress_file: String,
    /// The files of the spec: path below its folder, and text as found.
    pub spec_files: Vec<(String, String)>,
    /// The findings of this reviewer's last FAIL.
    pub findings: Vec<String>,
    /// True if a gate or reviewer reported FAIL, so that lines of TEST-FIRST may change.
    pub may_change_tests: bool,
    /// The reasons for which the last attempt was rejected, or a gate or reviewer reported FAIL.
    pub reasons: Vec<String>,
    /// `progress.txt` or its end.
    pub progress: String,
    /// Bytes of `progress.txt` before that end.
    pub progress_before: u64,
    /// Paths that an earlier attempt of this stage did not commit, from the workspace.
    pub leftovers: Vec<String>,
    pub packages: Vec<PromptPackage>,
    /// True if ralph commits the changes of the attempt.
    pub commit_by_ralph: bool,
    /// The file that lists the task's changes, absolute; empty without one.
    pub diff_file: String,
    /// The task's changed files, from the workspace.
    pub changes: Vec<String>,
    /// Build files and settings of test runners among them.
    pub build_settings: Vec<String>,
    /// True for a reviewer, whose output must end with a verdict line.
    pub verdict_wanted: bool,
    /// The token of the attempt's verdict line.
    pub verdict_token: String,
    /// The report that the validator writes, absolute; empty for all others.
    pub validation_report: String,
    /// Percentage of mutants that must be killed.
    pub threshold: u32,
    /// Names of test classes for the mutation gate, `{}` for the class.
    pub test_names: Vec<String>,
}

/// A package in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPackage {
    /// The directory's base name.
    pub name: String,
    /// The directory, relative to the workspace.
    pub path: String,
    /// The commit before the task's first attempt; empty if the task changed nothing here.
    pub base: String,
}

/// A template that cannot be filled. The location is its path from the workspace (`.ralph/prompts/worker.md`).
pub type PromptError = Problem<()>;

/// A template: the part that is the same for all roles, then the role's own part.
macro_rules! whole {
    ($role:literal) => {
        concat!(
            include_str!("../../../templates/prompts/shared.md"),
            include_str!(concat!("../../../templates/prompts/", $role, ".md"))
        )
    };
}

/// Returns ralph's own template for a role.
pub fn builtin(role: Role) -> &'static str {
    match role {
        Role::TestWriter => whole!("test-writer"),
        Role::Worker => whole!("worker"),
        Role::ReqReviewer => whole!("req-reviewer"),
        Role::QualityReviewer => whole!("quality-reviewer"),
        Role::IntegrationTester => whole!("integration-tester"),
        Role::Validator => whole!("validator"),
    }
}

/// True if a template includes the token of the verdict line.
pub fn names_token(template: &str) -> bool {
    template.contains("verdict_token")
}

/// Fills the template of a role: `given` (the text of `.ralph/prompts/<role>.md`) or [`builtin`].
///
/// # Errors
/// The template is malformed, or uses a variable that does not exist.
pub fn render(given: Option<&str>, role: Role, facts: &PromptFacts) -> Result<String, PromptError> {
    let folder = if given.is_some() {
        ".ralph/prompts"
    } else {
        "templates/prompts"
    };
    let file = format!("{folder}/{}.md", role.word());
    let source = given.unwrap_or_else(|| builtin(role));
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    let shown = shown(role, facts);
    let failed = |error: minijinja::Error| prompt_error(&file, source, &shown, &error);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_syntax(syntax.map_err(failed)?);
    let rendered = environment.render_named_str(&file, source, shown.clone());
    let verdict = VerdictLine {
        token: facts.verdict_token.clone(),
        or_bare: true,
    };
    rendered
        .map(|prompt| data::disarmed(&prompt, &verdict))
        .map_err(failed)
}

fn prompt_error(file: &str, source: &str, shown: &Value, error: &minijinja::Error) -> PromptError {
    let line = error.line();
    let written = line
        .and_then(|line| source.lines().nth(line.saturating_sub(1)))
        .unwrap_or_default();
    let written = text::line(written, 120);
    let (what, hint) = if error.kind() == ErrorKind::UndefinedError {
        let variables: Vec<String> = shown
            .try_iter()
            .into_iter()
            .flatten()
            .map(|name| name.to_string())
            .collect();
        let hint = format!("Templates may use: {}.", variables.join(", "));
        (
            "The template asks for something that does not exist".to_owned(),
            hint,
        )
    } else {
        let detail = error
            .detail()
            .map_or_else(|| error.kind().to_string(), str::to_owned);
        let what = format!(
            "The template cannot be filled ({})",
            text::line(&detail, 200)
        );
        (
            what,
            "Fix the line, or remove the file to use the template that comes with ralph."
                .to_owned(),
        )
    };
    Problem::new((), format!("{what}: `{written}`."), hint).at(file, line)
}

/// Returns the facts for a template (docs/prompts.md lists them).
///
/// Outside texts are blocks of marked data, empty without content.
fn shown(role: Role, facts: &PromptFacts) -> Value {
    let told = without_survivors(&facts.progress, &facts.reasons);
    let progress = data::tail(&told, PROGRESS_CAP, facts.progress_before, IN_SPEC);
    let test_names: Vec<String> = facts
        .test_names
        .iter()
        .map(|test| format!("`{}`", safe_name(&test.replace("{}", "Foo"))))
        .collect();
    let packages: Value = facts
        .packages
        .iter()
        .map(|package| {
            context! {
                name => safe_name(&package.name), path => safe_name(&package.path), base => safe_name(&package.base), diff => diff(package),
            }
        })
        .collect();
    context! {
        role => role.word(),
        task => safe_name(&facts.task),
        id => safe_name(&facts.id),
        task_text => mark_task("task", &facts.task_text),
        implementation => mark_task("implementation", &facts.implementation),
        parents => marked_list("parents", &facts.parents, CHANGES),
        stage => safe_name(&facts.stage),
        iteration => facts.iteration,
        attempt => facts.attempt,
        workspace => safe_name(&facts.workspace),
        spec => safe_name(&facts.spec),
        tasks_file => safe_name(&facts.tasks_file),
        progress_file => safe_name(&facts.progress_file),
        spec_files => spec_files(&facts.spec_files),
        requirements => mark_spec(&facts.spec_files, "requirements.md"),
        design => mark_spec(&facts.spec_files, "design.md"),
        reasons => data::marked("reasons", &reasons(&facts.reasons)),
        findings => data::marked("findings", &reasons(&facts.findings)),
        may_change_tests => facts.may_change_tests,
        progress => data::marked("progress.txt", &progress),
        leftovers => marked_list("leftovers", &facts.leftovers, LEFTOVERS),
        packages => packages,
        commit_by_ralph => facts.commit_by_ralph,
        diff_file => safe_name(&facts.diff_file),
        changes => marked_list("changed files", &facts.changes, CHANGES),
        build_settings => marked_list("changed build files", &facts.build_settings, CHANGES),
        verdict_wanted => facts.verdict_wanted,
        verdict_token => safe_name(&facts.verdict_token),
        validation_report => safe_name(&facts.validation_report),
        threshold => facts.threshold,
        test_names => test_names.join(", "),
    }
}

/// Returns a file of the spec between marks; empty if it does not exist.
fn mark_spec(files: &[(String, String)], file: &str) -> String {
    let found = files.iter().find(|(name, _)| name == file);
    found
        .map(|(name, text)| data::marked(name, &data::head(text, SPEC_CAP, IN_SPEC)))
        .unwrap_or_default()
}

fn mark_task(what: &str, text: &str) -> String {
    data::marked(what, &data::head(text, TASK_CAP, "it is in the task file"))
}

/// Returns a list between marks.
fn marked_list(what: &str, items: &[String], most: usize) -> String {
    data::marked(what, &data::lines(items, most, NAME_CHARS))
}

/// Returns a name or path as one bounded line.
fn safe_name(text: &str) -> String {
    text::line(text, NAME_CHARS)
}

/// Removes from progress.txt the survivors that the reasons list with their directories.
fn without_survivors(progress: &str, reasons: &[String]) -> String {
    let listed: BTreeSet<String> = reasons
        .iter()
        .filter_map(|reason| survivor_place(reason))
        .collect();
    progress
        .split_inclusive('\n')
        .filter(|line| {
            line.strip_prefix("- ")
                .and_then(|line| survivor_place(line.trim_end()))
                .is_none_or(|place| !listed.contains(&place))
        })
        .collect()
}

/// Returns the file and the mutator of a survivor's line.
fn survivor_place(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("survivor ")?.split(' ');
    let (file, mutator) = (words.next()?, words.next()?);
    Some(format!("{} {mutator}", file.rsplit('/').next()?))
}

/// Returns as many files of the spec as fit, and the names of the others.
fn spec_files(files: &[(String, String)]) -> String {
    let mut left = SPECS_CAP;
    let mut blocks = Vec::new();
    let mut others = Vec::new();
    for (name, text) in files.iter().filter(|(_, text)| !text.trim().is_empty()) {
        if left < MIN_SPEC {
            others.push(name.clone());
            continue;
        }
        let text = data::head(text, SPEC_CAP.min(left), IN_SPEC);
        left = left.saturating_sub(text.len());
        blocks.push(data::marked(&text::line(name, NAME_CHARS), &text));
    }
    if !others.is_empty() {
        blocks.push(data::marked(
            "more files of the spec",
            &data::lines(&others, CHANGES, NAME_CHARS),
        ));
    }
    blocks.join("\n\n")
}

/// Returns the command that shows a package's changes; empty without changes.
fn diff(package: &PromptPackage) -> String {
    if package.base.is_empty() {
        return String::new();
    }
    let path = text::line(&package.path, NAME_CHARS);
    let path = if path
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    format!(
        "git -C {path} diff {}..HEAD",
        text::line(&package.base, NAME_CHARS)
    )
}

/// Returns the reasons as a list, shortened to the first ones if they are too long together.
fn reasons(reasons: &[String]) -> String {
    let all: Vec<String> = reasons
        .iter()
        .filter(|reason| !reason.trim().is_empty())
        .map(|reason| {
            let text = data::head(reason, REASON_CAP, "this reason continues in progress.txt");
            format!("- {}", text.trim().replace('\n', "\n  "))
        })
        .collect();
    data::head(
        &all.join("\n"),
        REASONS_CAP,
        "more reasons are in progress.txt",
    )
}

#[cfg(test)]
#[path = "tests/roles.rs"]
mod roles;
#[cfg(test)]
mod tests;
