//! Prompts: templates filled with facts.
//!
//! Promises: a variable that does not exist is an error with file and line; text from outside is between marks; no line
//! of a prompt matches `^RALPH-VERDICT` or would be taken for a verdict; the same facts give the same bytes.

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
/// What is left of that for a file to be begun, bytes.
const MIN_SPEC: usize = 1024;
/// Cap of `progress`, bytes.
const PROGRESS_CAP: usize = 16 * 1024;
/// Cap of `reasons`, bytes, and of one reason.
const REASONS_CAP: usize = 32 * 1024;
const REASON_CAP: usize = 8 * 1024;
/// Cap of `task_text` and of `implementation`, bytes each.
const TASK_CAP: usize = 16 * 1024;
/// The most changed files, and the most leftovers, that are listed.
const CHANGES: usize = 200;
const LEFTOVERS: usize = 50;
/// Cap of a name or path, characters.
const NAME_CHARS: usize = 400;

/// What a prompt is made of, as found; this module bounds and cleans it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFacts {
    /// The box as `tasks.md` names it (`2.`, `2.TEST-FIRST`, `FINAL`); empty without an id.
    pub task: String,
    /// The family's id (`2`); empty without one.
    pub id: String,
    /// The text of the task's line and what stands under it, as found.
    pub task_text: String,
    /// The same of the implementation, for a stage with words of its own; empty otherwise.
    pub implementation: String,
    /// The heading above the task and the titles of its parents, outermost first.
    pub parents: Vec<String>,
    /// The word of the stage, `IMPLEMENT` for the implementation.
    pub stage: String,
    /// The iteration.
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
    /// What this reviewer found when it last said FAIL.
    pub findings: Vec<String>,
    /// A gate or reviewer has said FAIL, so that lines of TEST-FIRST may change.
    pub may_change_tests: bool,
    /// Why the last attempt was rejected, or a gate or reviewer said FAIL.
    pub reasons: Vec<String>,
    /// `progress.txt` or its end.
    pub progress: String,
    /// Bytes of `progress.txt` before that end.
    pub progress_before: u64,
    /// Paths that an earlier attempt of this stage left uncommitted, from the workspace.
    pub leftovers: Vec<String>,
    /// The packages.
    pub packages: Vec<PromptPackage>,
    /// True when ralph commits what the attempt leaves.
    pub commit_by_ralph: bool,
    /// The file that lists the family's changes, absolute; empty if there is none.
    pub diff_file: String,
    /// The family's changed files, from the workspace.
    pub changes: Vec<String>,
    /// Build files and settings of test runners among them.
    pub build_settings: Vec<String>,
    /// True for a reviewer: a verdict line must end its output.
    pub verdict_wanted: bool,
    /// The token of the attempt's verdict line.
    pub verdict_token: String,
    /// The report that the validator writes, absolute; empty for all others.
    pub validation_report: String,
    /// Percentage of mutants that must be killed.
    pub threshold: u32,
    /// Names of test classes that the mutation gate looks for, `{}` for the class.
    pub test_names: Vec<String>,
}

/// A package as a prompt names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPackage {
    /// The folder's base name.
    pub name: String,
    /// The folder, relative to the workspace.
    pub path: String,
    /// The commit before the family's first attempt; empty if the family changed nothing here.
    pub base: String,
}

/// A template that cannot be filled; the place is its path from the workspace (`.ralph/prompts/worker.md`).
pub type PromptError = Problem<()>;

/// A template: what all roles share, so that it is the same text for all of them, then what is the role's own.
macro_rules! whole {
    ($role:literal) => {
        concat!(
            include_str!("../../../templates/prompts/shared.md"),
            include_str!(concat!("../../../templates/prompts/", $role, ".md"))
        )
    };
}

/// The template that comes with ralph for a role.
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

/// True if a template tells the agent the token of its verdict line.
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

/// The facts as a template sees them (docs/prompts.md lists them). Texts from outside are blocks of marked data, empty
/// when there is nothing.
fn shown(role: Role, facts: &PromptFacts) -> Value {
    let name = |text: &str| text::line(text, NAME_CHARS);
    let in_spec = "the whole file is in the spec folder";
    let spec = |file: &str| {
        let found = facts.spec_files.iter().find(|(name, _)| name == file);
        found
            .map(|(name, text)| data::marked(name, &data::head(text, SPEC_CAP, in_spec)))
            .unwrap_or_default()
    };
    let in_tasks = "it stands in the task file";
    let task = |what: &str, text: &str| data::marked(what, &data::head(text, TASK_CAP, in_tasks));
    let list = |what: &str, items: &[String], most: usize| {
        data::marked(what, &data::lines(items, most, NAME_CHARS))
    };
    let told = without_survivors(&facts.progress, &facts.reasons);
    let progress = data::tail(&told, PROGRESS_CAP, facts.progress_before, in_spec);
    let package = |package: &PromptPackage| {
        context! {
            name => name(&package.name), path => name(&package.path), base => name(&package.base), diff => diff(package),
        }
    };
    let test_names: Vec<String> = facts
        .test_names
        .iter()
        .map(|test| format!("`{}`", name(&test.replace("{}", "Foo"))))
        .collect();
    context! {
        role => role.word(),
        task => name(&facts.task),
        id => name(&facts.id),
        task_text => task("task", &facts.task_text),
        implementation => task("implementation", &facts.implementation),
        parents => list("parents", &facts.parents, CHANGES),
        stage => name(&facts.stage),
        iteration => facts.iteration,
        attempt => facts.attempt,
        workspace => name(&facts.workspace),
        spec => name(&facts.spec),
        tasks_file => name(&facts.tasks_file),
        progress_file => name(&facts.progress_file),
        spec_files => spec_files(&facts.spec_files),
        requirements => spec("requirements.md"),
        design => spec("design.md"),
        reasons => data::marked("reasons", &reasons(&facts.reasons)),
        findings => data::marked("findings", &reasons(&facts.findings)),
        may_change_tests => facts.may_change_tests,
        progress => data::marked("progress.txt", &progress),
        leftovers => list("leftovers", &facts.leftovers, LEFTOVERS),
        packages => facts.packages.iter().map(package).collect::<Value>(),
        commit_by_ralph => facts.commit_by_ralph,
        diff_file => name(&facts.diff_file),
        changes => list("changed files", &facts.changes, CHANGES),
        build_settings => list("changed build files", &facts.build_settings, CHANGES),
        verdict_wanted => facts.verdict_wanted,
        verdict_token => name(&facts.verdict_token),
        validation_report => name(&facts.validation_report),
        threshold => facts.threshold,
        test_names => test_names.join(", "),
    }
}

/// progress.txt without the survivors that the reasons list, which have their folders there.
fn without_survivors(progress: &str, reasons: &[String]) -> String {
    let place = |line: &str| {
        let mut words = line.strip_prefix("survivor ")?.split(' ');
        let (file, mutator) = (words.next()?, words.next()?);
        Some(format!("{} {mutator}", file.rsplit('/').next()?))
    };
    let listed: BTreeSet<String> = reasons.iter().filter_map(|reason| place(reason)).collect();
    let is_other = |line: &&str| {
        line.strip_prefix("- ")
            .and_then(|line| place(line.trim_end()))
            .is_none_or(|place| !listed.contains(&place))
    };
    progress.split_inclusive('\n').filter(is_other).collect()
}

/// The files of the spec, each a block, as many as fit; the names of the others.
fn spec_files(files: &[(String, String)]) -> String {
    let mut left = SPECS_CAP;
    let mut blocks = Vec::new();
    let mut others = Vec::new();
    for (name, text) in files.iter().filter(|(_, text)| !text.trim().is_empty()) {
        if left < MIN_SPEC {
            others.push(name.clone());
            continue;
        }
        let text = data::head(
            text,
            SPEC_CAP.min(left),
            "the whole file is in the spec folder",
        );
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

/// The command that shows what was changed in a package; empty if nothing was.
fn diff(package: &PromptPackage) -> String {
    if package.base.is_empty() {
        return String::new();
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let path = text::line(&package.path, NAME_CHARS);
    let path = if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    format!(
        "git -C {path} diff {}..HEAD",
        text::line(&package.base, NAME_CHARS)
    )
}

/// The reasons as a list; the first ones when they are too long together.
fn reasons(reasons: &[String]) -> String {
    let one = |reason: &String| {
        let text = data::head(reason, REASON_CAP, "this reason goes on in progress.txt");
        format!("- {}", text.trim().replace('\n', "\n  "))
    };
    let all: Vec<String> = reasons
        .iter()
        .filter(|reason| !reason.trim().is_empty())
        .map(one)
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
