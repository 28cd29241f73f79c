//! Decisions: what the evidence of one attempt is worth (docs/design.md "Evidence").
//!
//! [`decide`] is the one function that can accept an attempt, and a function of its argument alone. Nothing that an
//! agent prints accepts anything but a reviewer's own verdict, and a checkpoint that `checks.green` confirms. BLOCKED, which
//! every agent may say, hands its box to a person.

mod claims;

use super::event::{Check, CheckResult, ReportedTests, Validation};
use super::facts::{Claim, FileStatus, LostLines, Misplaced, ProcessEnd, Shadow, full_path};
use super::state::{Attempt, Findings};
use crate::source::text::{count, names};
use crate::source::{Kind, RepoPath};
use crate::task::{Stage, TaskKey, typed_id};
use crate::turn::verify::footer;
use claims::{only_talked, says_blocked, says_nothing_to_do, unclear};
use std::collections::{BTreeMap, BTreeSet};

/// The directory with the other versions of restored files.
const STATE: &str = ".ralph/state";
/// Files that a reason names.
const NAMED: usize = 10;

/// Everything that a decision may depend on.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The attempt: its box, how the agent ended, what it said.
    pub attempt: &'a Attempt,
    /// Observations of git, tasks.md and the validator's report, and the result of the check.
    pub seen: &'a Findings,
    /// Files that attempts of this stage left uncommitted, `<package>/<path>`.
    pub left: &'a [String],
    /// Tests of each package that passed before, as far as reports counted them.
    pub passed_before: &'a BTreeMap<String, u64>,
    /// The packages in which `checks.red` left a test report for the family.
    pub reported: &'a BTreeSet<String>,
    /// The rules and the family's history.
    pub context: Context,
}

/// The rules and the family's history for a decision, in addition to the evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, enumerated by the table test"
)]
pub struct Context {
    /// The task is a checkpoint and is not on rework.
    pub checkpoint: bool,
    /// A gate follows in the family.
    pub gate_follows: bool,
    /// No gate or reviewer has failed yet: the lines of TEST-FIRST are frozen.
    pub frozen: bool,
    /// `checks.red` is configured and the implementation was not tried yet.
    pub ask_red: bool,
    /// `checks.green` is configured.
    pub ask_green: bool,
    /// Edits that failed and were never repaired reject the attempt.
    pub edits_block: bool,
    /// Enabled tests that earlier, rejected attempts of this stage took away and that are still gone.
    pub tests_owed: i64,
}

/// The decision about an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The stage is done.
    Accept,
    /// A reviewer said FAIL.
    Rework(Vec<String>),
    /// Not accepted; the same stage is tried again.
    Retry {
        /// Whole sentences.
        reasons: Vec<String>,
        /// The frozen test lines were the only reason.
        frozen_only: bool,
    },
    /// A check must run first; in all packages when `everywhere`.
    NeedsCheck {
        /// The check to run.
        check: Check,
        /// In every package, not only in the changed ones.
        everywhere: bool,
    },
    /// Only a person can continue.
    Blocked(String),
    /// Ralph's own end, a usage limit or an outage cut it short: neither progress nor failure.
    Uncounted,
    /// The validator's report is there: the final gate decides.
    Report(Validation),
}

/// Judges one attempt.
pub fn decide(evidence: &Evidence<'_>) -> Decision {
    weighed(by_evidence(evidence), evidence)
}

fn by_evidence(evidence: &Evidence<'_>) -> Decision {
    if evidence.attempt.end.is_nobodys_fault() {
        return Decision::Uncounted;
    }
    let mut breaches = breaches(evidence);
    let inputs = &evidence.seen.observation.inputs;
    if !inputs.is_empty() {
        breaches.push(format!(
            "No task may change {}; they were restored, and the agent's versions are saved in .ralph/state.",
            names(inputs, NAMED)
        ));
    }
    let withheld = &evidence.seen.observation.withheld;
    if !withheld.is_empty() {
        breaches.push(format!(
            "Ralph does not commit a secret: {}; take it out, or leave the file to .gitignore.",
            names(withheld, NAMED)
        ));
    }
    let settings = &evidence.seen.observation.git_settings;
    if must_not_change(&evidence.attempt.key.stage) && !settings.is_empty() {
        breaches.push(format!(
            "A reviewer must change nothing, and settings or hooks of git changed ({}); restored, what was there is kept in {STATE}.",
            names(settings, NAMED)
        ));
    }
    if let (true, Some((check, _))) = (evidence.seen.trespass.rejects(), &evidence.seen.check) {
        breaches.extend(
            evidence
                .seen
                .trespass
                .sentences(&format!("checks.{}", check.word()), STATE),
        );
    }
    if !breaches.is_empty() {
        return retry(breaches);
    }
    if !evidence.attempt.end.is_success() {
        return retry(vec![format!("The agent {}.", evidence.attempt.end)]);
    }
    match evidence.attempt.key.stage {
        _ if let Some(why) = says_blocked(evidence) => Decision::Blocked(why),
        Stage::TestFirst => test_first(evidence),
        Stage::Implementation | Stage::Integ => implementation(evidence),
        Stage::ReqCheck | Stage::PreCr => review(evidence),
        Stage::Final => final_report(evidence),
        Stage::Gate(_) => Decision::Blocked("a gate is never given to an agent.".to_owned()),
    }
}

/// Weighs the unresolved edits of the attempt into the decision.
///
/// Work that over-claims is not accepted, and the next attempt gets the reason. Reviewers and the
/// validator must not change anything, so no edit rejects them. An agent that reports BLOCKED
/// claims nothing.
fn weighed(decision: Decision, evidence: &Evidence<'_>) -> Decision {
    let edits = &evidence.seen.observation.edits;
    if edits.is_empty() || must_not_change(&evidence.attempt.key.stage) {
        return decision;
    }
    let blocks =
        evidence.context.edits_block && edits.iter().any(|finding| finding.verdict.blocks());
    match decision {
        Decision::Retry {
            mut reasons,
            frozen_only,
        } => {
            reasons.extend(footer(edits));
            Decision::Retry {
                reasons,
                frozen_only: frozen_only && !blocks,
            }
        }
        Decision::Accept | Decision::NeedsCheck { .. } if blocks => retry(footer(edits)),
        decision => decision,
    }
}

/// True for a stage whose attempts may leave nothing behind: reviewers and the validator.
pub fn must_not_change(stage: &Stage) -> bool {
    stage.is_review() || *stage == Stage::Final
}

fn retry(reasons: Vec<String>) -> Decision {
    Decision::Retry {
        reasons,
        frozen_only: false,
    }
}

fn accept_unless(reasons: Vec<String>) -> Decision {
    if reasons.is_empty() {
        Decision::Accept
    } else {
        retry(reasons)
    }
}

fn breaches(evidence: &Evidence<'_>) -> Vec<String> {
    let kept = kept_words(&evidence.seen.kept);
    let mut breaches = Vec::new();
    for package in &evidence.seen.observation.packages {
        if !package.is_breach() {
            continue;
        }
        let what = if !package.secret.is_empty() {
            format!(
                "The name of a file or a branch holds the value of {}",
                package.secret
            )
        } else if package.vanished {
            "The repository vanished".to_owned()
        } else if package.rewritten {
            "History was rewritten".to_owned()
        } else if package.branch_switched {
            "The branch was switched".to_owned()
        } else {
            let files = names(package.protected.iter().map(RepoPath::as_str), NAMED);
            format!("Protected files were changed ({files})")
        };
        breaches.push(format!(
            "{what} in {}; HEAD was restored{kept}.",
            package.name
        ));
    }
    breaches
}

fn kept_words(kept: &[String]) -> String {
    if kept.is_empty() {
        String::new()
    } else {
        format!(", what was there is kept ({})", kept.join(", "))
    }
}

fn test_first(evidence: &Evidence<'_>) -> Decision {
    if let Some(why) = says_nothing_to_do(evidence) {
        return if evidence.context.gate_follows {
            Decision::Accept
        } else {
            Decision::Blocked(format!(
                "the agent says that there is nothing to test: {why}"
            ))
        };
    }
    let observation = &evidence.seen.observation;
    let mut reasons = Vec::new();
    let has_tests = observation
        .stage
        .iter()
        .any(|change| change.kind == Kind::Test && change.status != FileStatus::Deleted);
    if !has_tests {
        reasons.push("No test file was committed.".to_owned());
        reasons.extend(only_talked(evidence).into_iter().chain(unclear(evidence)));
    }
    reasons.extend(fewer_tests(evidence));
    reasons.extend(embedded(evidence));
    let words = "existing production code or build files were changed by the test writer";
    reasons.extend(
        observation
            .lost_production
            .iter()
            .map(|lost| lost_words(lost, words, "place")),
    );
    reasons.extend(observation.shadows.iter().map(shadow_words));
    reasons.extend(observation.misplaced.iter().flatten().map(misplaced_words));
    if !reasons.is_empty() {
        return retry(reasons);
    }
    match &evidence.seen.check {
        None if evidence.context.ask_red => Decision::NeedsCheck {
            check: Check::Red,
            everywhere: false,
        },
        Some((Check::Red, results)) => red(results),
        _ => Decision::Accept,
    }
}

/// The reason to reject a commit of a repository inside of a package.
fn embedded(evidence: &Evidence<'_>) -> Option<String> {
    let paths = &evidence.seen.observation.embedded;
    (!paths.is_empty()).then(|| {
        format!(
            "A repository inside of the package was committed, and none of its files: {}. Remove its .git and commit the files, or describe it in .gitmodules.",
            names(paths, NAMED)
        )
    })
}

fn red(results: &[CheckResult]) -> Decision {
    let mut reasons = Vec::new();
    for result in results {
        match &result.end {
            ProcessEnd::Exited { code: 0 } => reasons.push(format!(
                "checks.red passed in {}: the new tests must fail before the implementation.",
                result.package
            )),
            ProcessEnd::Exited { .. } => {}
            end => reasons.push(format!("checks.red in {} {end}.", result.package)),
        }
    }
    accept_unless(reasons)
}

fn implementation(evidence: &Evidence<'_>) -> Decision {
    if let Some(why) = says_nothing_to_do(evidence) {
        return nothing_to_do(evidence, why);
    }
    let observation = &evidence.seen.observation;
    let mut reasons = Vec::new();
    if observation.stage.is_empty() {
        reasons.push("Nothing was committed.".to_owned());
        reasons.extend(only_talked(evidence).into_iter().chain(unclear(evidence)));
    }
    if !evidence.left.is_empty() {
        reasons.push(format!(
            "Changes were left uncommitted: {}.",
            names(evidence.left, NAMED)
        ));
    }
    reasons.extend(fewer_tests(evidence));
    reasons.extend(observation.shadows.iter().map(shadow_words));
    reasons.extend(observation.misplaced.iter().flatten().map(misplaced_words));
    reasons.extend(embedded(evidence));
    let words = "test code of TEST-FIRST was changed";
    let frozen = observation
        .lost_frozen
        .iter()
        .filter(|_| evidence.context.frozen);
    let frozen_only = reasons.is_empty();
    reasons.extend(frozen.map(|lost| lost_words(lost, words, "place")));
    if !reasons.is_empty() {
        return Decision::Retry {
            reasons,
            frozen_only,
        };
    }
    match &evidence.seen.check {
        None if evidence.context.ask_green => Decision::NeedsCheck {
            check: Check::Green,
            everywhere: false,
        },
        Some((Check::Green, results)) => accept_unless(not_green(results, evidence)),
        _ => Decision::Accept,
    }
}

/// Tests that are gone, switched off, or that no runner would run any more.
fn fewer_tests(evidence: &Evidence<'_>) -> Option<String> {
    let owed = evidence.context.tests_owed;
    (owed > 0).then(|| format!("There are {owed} fewer enabled tests than before the attempt."))
}

fn shadow_words(shadow: &Shadow) -> String {
    format!(
        "{} takes the place of {}, which the tests would run no more; give it another name.",
        full_path(&shadow.package, &shadow.path),
        full_path(&shadow.package, &shadow.production)
    )
}

fn misplaced_words(misplaced: &Misplaced) -> String {
    format!(
        "{} is the code that {} tests, and it is among the tests, where no gate judges it; move it to the production code.",
        full_path(&misplaced.package, &misplaced.path),
        full_path(&misplaced.package, &misplaced.test)
    )
}

fn nothing_to_do(evidence: &Evidence<'_>, why: &str) -> Decision {
    if evidence.attempt.key.stage != Stage::Implementation || !evidence.context.checkpoint {
        return unconfirmed(why, "the task is not a checkpoint.");
    }
    match &evidence.seen.check {
        _ if !evidence.context.ask_green => {
            unconfirmed(why, "no checks.green is configured to confirm it.")
        }
        Some((Check::Green, results)) => match not_green(results, evidence).first() {
            None => Decision::Accept,
            Some(reason) => unconfirmed(why, reason),
        },
        _ => Decision::NeedsCheck {
            check: Check::Green,
            everywhere: true,
        },
    }
}

/// Blocks a task whose agent claims that there is nothing to do.
fn unconfirmed(why: &str, because: &str) -> Decision {
    Decision::Blocked(format!(
        "the agent says that there is nothing to do ({why}), and {because}"
    ))
}

fn not_green(results: &[CheckResult], evidence: &Evidence<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for result in results {
        let why = if result.end.is_success() {
            too_few_passed(result, evidence)
        } else if result.tail.is_empty() {
            Some(format!("{}.", result.end))
        } else {
            Some(format!("{}. {}", result.end, result.tail))
        };
        reasons.extend(why.map(|why| format!("checks.green in {} {why}", result.package)));
    }
    reasons
}

/// Returns why the test reports contradict a check that exited with 0.
fn too_few_passed(result: &CheckResult, evidence: &Evidence<'_>) -> Option<String> {
    if let Some(ReportedTests::Unreadable(file)) = &result.tests {
        return Some(format!(
            "left a test report that cannot be read: {file} is not a whole JUnit report of at most 32 MiB."
        ));
    }
    let before = evidence.passed_before.get(&result.package);
    if result.tests.is_none() && before.is_none() {
        let is_silent = evidence.reported.contains(&result.package);
        return is_silent
            .then(|| "left no test report, and checks.red did: no test ran.".to_owned());
    }
    let (passed, due) = (result.passed().unwrap_or(0), before.copied().unwrap_or(1));
    let last = before
        .map(|before| format!(", {before} when it was last green"))
        .unwrap_or_default();
    (passed < due).then(|| {
        format!(
            "shows too few tests: {} passed by its reports{last}. If fewer are right, a person says so: `ralph \
             accept {}`.",
            count(passed, "test"),
            typed_id(&evidence.attempt.key.written_id())
        )
    })
}

fn review(evidence: &Evidence<'_>) -> Decision {
    if let Some(reason) = touched(evidence, "A reviewer must change nothing") {
        return retry(vec![reason]);
    }
    match &evidence.attempt.claim {
        Some(Claim::Pass) if evidence.attempt.only_talked => retry(vec![
            "The reviewer said PASS and had looked at nothing: its transcript holds no use of a tool."
                .to_owned(),
        ]),
        Some(Claim::Pass) => Decision::Accept,
        Some(Claim::Fail { why }) if why.is_empty() => {
            Decision::Rework(vec!["The reviewer said FAIL and gave no reason.".to_owned()])
        }
        Some(Claim::Fail { why }) => Decision::Rework(vec![why.clone()]),
        Some(Claim::NothingToDo { .. } | Claim::Blocked { .. }) => {
            retry(vec!["The reviewer gave no verdict: NOTHING-TO-DO is not one.".to_owned()])
        }
        Some(Claim::Unclear { why }) => retry(vec![format!("The reviewer gave no verdict: {why}.")]),
        None => verdict_by_boxes(evidence),
    }
}

/// Prompts of older loops, which do not name the token, let the reviewer change one box instead of printing a verdict.
fn verdict_by_boxes(evidence: &Evidence<'_>) -> Decision {
    let key = &evidence.attempt.key;
    let work = TaskKey {
        family: key.family.clone(),
        stage: Stage::Implementation,
    };
    let without_line = "The reviewer printed no line that gives its verdict";
    match evidence.seen.claims.as_slice() {
        [claim] if claim.key == work && claim.from.is_done() && !claim.to.is_done() => {
            Decision::Rework(vec![format!(
                "The reviewer unticked {work} and printed no reason."
            )])
        }
        [claim] if claim.key == *key && claim.to.is_done() => Decision::Accept,
        [_, _, ..] => retry(vec![format!(
            "{without_line}, and changed more boxes than one."
        )]),
        _ => retry(vec![format!("{without_line}.")]),
    }
}

fn final_report(evidence: &Evidence<'_>) -> Decision {
    if let Some(reason) = touched(
        evidence,
        "The validator may write validation-report.md and nothing else",
    ) {
        return retry(vec![reason]);
    }
    match &evidence.seen.validation {
        Some(validation) => Decision::Report(validation.clone()),
        None => retry(vec!["validation-report.md was not written.".to_owned()]),
    }
}

fn touched(evidence: &Evidence<'_>, rule: &str) -> Option<String> {
    let packages = evidence
        .seen
        .observation
        .packages
        .iter()
        .filter(|package| !package.is_untouched());
    let names: Vec<&str> = packages.map(|package| package.name.as_str()).collect();
    let kept = kept_words(&evidence.seen.kept);
    (!names.is_empty()).then(|| {
        format!(
            "{rule}, and {} changed; it was restored{kept}.",
            names.join(", ")
        )
    })
}

fn lost_words(lost: &LostLines, what: &str, unit: &str) -> String {
    let place = full_path(&lost.package, &lost.path);
    format!(
        "{place}: {what} ({}; the first: `{}`).",
        count(lost.count, unit),
        lost.first
    )
}

#[cfg(test)]
mod tests;
