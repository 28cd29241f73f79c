//! Footers for the next prompt and for users: one line for each file, then the next step.

use super::{EditFinding, EditOutcome, PREVIEW};
use crate::source::text::{count, line};

/// Maximum number of files in a footer.
const NAMED: usize = 10;
/// Maximum length of a path, in characters.
const PATH: usize = 200;

/// Returns whole lines without control characters: unresolved edits, notes, and the next step.
///
/// Empty without a finding. They end with `git status`, because it shows the edits that landed.
pub fn footer(findings: &[EditFinding]) -> Vec<String> {
    let unresolved = findings
        .iter()
        .filter(|finding| finding.verdict.blocks())
        .count();
    let mut lines = match (findings.len(), unresolved) {
        (0, _) => return Vec::new(),
        (all, 0) => vec![format!(
            "Verifier: no edit is unresolved, {}.",
            count(all as u64, "remark")
        )],
        (_, 1) => vec!["Verifier: 1 file edit is unresolved. Do not report it as done.".to_owned()],
        _ => {
            vec![format!(
                "Verifier: {unresolved} file edits are unresolved. Do not report them as done."
            )]
        }
    };
    lines.extend(findings.iter().take(NAMED).map(entry));
    if findings.len() > NAMED {
        lines.push(format!("… and {} more", findings.len() - NAMED));
    }
    let advice = match unresolved {
        0 => "`git status` and `git diff` show what landed.",
        _ => {
            "Look at `git status` and `git diff`; make each of these edits, or report that you leave it out."
        }
    };
    lines.push(advice.to_owned());
    lines
}

/// Returns the footer for a user at a prompt: unrepaired failed edits, and separately calls that never reached the
/// disk.
///
/// Empty without either.
pub fn footer_for_people(findings: &[EditFinding]) -> Vec<String> {
    let failed: Vec<&EditFinding> = findings
        .iter()
        .filter(|finding| finding.verdict.is_unrepaired())
        .collect();
    let refused: Vec<&EditFinding> = findings
        .iter()
        .filter(|finding| finding.verdict.is_refused())
        .collect();
    let mut lines = Vec::new();
    for (group, is_refusal) in [(&failed, false), (&refused, true)] {
        if group.is_empty() {
            continue;
        }
        let edits = count(group.len() as u64, "file edit");
        let were = if group.len() == 1 { "was" } else { "were" };
        lines.push(if is_refusal {
            format!("Verifier: {edits} {were} refused and reached no file:")
        } else {
            format!("Verifier: {edits} failed in this turn and {were} not repaired:")
        });
        lines.extend(
            group
                .iter()
                .take(NAMED)
                .map(|finding| format!("- {}", entry(finding))),
        );
        if group.len() > NAMED {
            lines.push(format!("… and {} more", group.len() - NAMED));
        }
    }
    if !failed.is_empty() {
        lines.push(
            "The agent may say otherwise. `git status` and `git diff` show what landed.".to_owned(),
        );
    }
    lines
}

/// Removes secrets from the findings.
pub fn redacted(
    mut findings: Vec<EditFinding>,
    redact: impl Fn(&str) -> String,
) -> Vec<EditFinding> {
    for finding in &mut findings {
        let EditFinding {
            path,
            tool,
            first,
            last,
            command,
            ..
        } = finding;
        for text in [path, tool, first, last, command] {
            *text = line(&redact(text), PREVIEW.max(PATH));
        }
    }
    findings
}

/// Returns a text in backticks that its content cannot close.
fn quoted(text: &str, max: usize) -> String {
    format!("`{}`", line(text, max).replace('`', "'"))
}

fn entry(finding: &EditFinding) -> String {
    let tries = if finding.tries > 1 {
        format!(", {} tries", finding.tries)
    } else {
        String::new()
    };
    let tool = match line(&finding.tool, 40) {
        none if none.is_empty() => none,
        tool => format!(" ({tool}{tries})"),
    };
    let error = if finding.last.is_empty() {
        &finding.first
    } else {
        &finding.last
    };
    let error = line(error, PREVIEW);
    let told = if error.is_empty() {
        ".".to_owned()
    } else {
        format!(": {error}")
    };
    let by = Some(&finding.command).filter(|command| !command.is_empty());
    let by = by
        .map(|command| format!(", perhaps by {}", quoted(command, 80)))
        .unwrap_or_default();
    let path = quoted(
        finding.path.strip_prefix("./").unwrap_or(&finding.path),
        PATH,
    );
    match finding.verdict {
        EditOutcome::Failed => format!("{path} failed{tool}{told}"),
        EditOutcome::Denied => format!("{path} was not allowed{tool}{told}"),
        EditOutcome::Unfinished => format!("{path} has a call without an end{tool}."),
        EditOutcome::Claimed => {
            format!("{path} was claimed as edited, but no tool edited it and it is unchanged.")
        }
        EditOutcome::FailedAfterSuccess => {
            format!("{path} changed, but its last edit failed{tool}{told}")
        }
        EditOutcome::ChangedOtherwise => {
            format!("{path} changed by other means{by}; its edit failed{tool}{told}")
        }
        EditOutcome::DeletedAfterwards => {
            format!("{path} is gone{by}; its edit failed{tool}{told}")
        }
        EditOutcome::OutsideGit => format!("{path} failed{tool} where git cannot tell{told}"),
        EditOutcome::WrongPath => format!("{path} is no file; its edit failed{tool}{told}"),
        EditOutcome::WithoutPath => format!("An edit that named no file failed{tool}{told}"),
        EditOutcome::NoSuchFile => {
            format!("{path} was claimed as edited, but there is no such file.")
        }
        EditOutcome::NeverRan => format!("{path} was not tried: its call was refused{tool}{told}"),
        EditOutcome::Unreadable => {
            "A line of the transcript is too long to be read, so its content is unknown.".to_owned()
        }
        EditOutcome::NoNetChange => {
            format!("{path} was reported as edited{tool} but is unchanged.")
        }
    }
}
