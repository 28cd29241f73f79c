//! Findings for people, for programs and for code scanning.
//!
//! Owns: the three forms, and the exit code that follows.
//!
//! Promises: what is shown is the same in all of them.
//!
//! Refuses to know: how something was found.

use super::finding::{Finding, Level};
use super::{CheckFormat, is_error, rules};
use crate::cli::exit::Exit;
use crate::cli::ui;
use crate::cli::workspace::CONFIG;
use crate::machine::decide::count;
use crate::report::sarif::{Grade, SarifResult, SarifRule, log};
use crate::source::RepoPath;
use crate::task::digest;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Shows all findings; places are relative to `base`. 0 without errors, else 1.
pub(super) fn all(findings: &[Finding], format: CheckFormat, base: &Path) -> Exit {
    match format {
        CheckFormat::Human => human(findings),
        CheckFormat::Json => findings.iter().for_each(ui::json),
        CheckFormat::Sarif => ui::line(&sarif(findings, base)),
    }
    if findings.iter().any(|finding| is_error(&finding)) { Exit::WorkLeft } else { Exit::Done }
}

fn human(findings: &[Finding]) {
    for finding in findings {
        ui::line(&format!(
            "{}: {}: {} [{}]",
            finding.level.word(),
            finding.place(),
            finding.what,
            finding.rule
        ));
        ui::line(&format!("  hint: {}", finding.hint));
    }
    let errors = findings.iter().filter(is_error).count();
    let warnings = findings.len() - errors;
    ui::line(&format!("{}, {}", count(errors as u64, "error"), count(warnings as u64, "warning")));
}

fn sarif(findings: &[Finding], base: &Path) -> String {
    let checkout = base.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(base);
    let inside = base.strip_prefix(checkout).unwrap_or(Path::new(""));
    let results: Vec<SarifResult> = findings.iter().map(|finding| result(finding, inside)).collect();
    log("check", true, &[], &results)
}

fn result(finding: &Finding, inside: &Path) -> SarifResult {
    let (short, full) = rules::about(finding.rule);
    let file = finding.path.as_deref().unwrap_or(&finding.file);
    let file = if file.is_empty() { CONFIG } else { file };
    let file = if Path::new(file).is_absolute() { file.trim_start_matches('/') } else { file };
    let path = inside.join(file);
    let parts: Vec<&[u8]> = path
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .map(|part| part.as_os_str().as_bytes())
        .collect();
    // What moves with the lines above it is no part of what a finding is.
    let core = if finding.source.is_empty() { &finding.what } else { &finding.source };
    SarifResult {
        rule: SarifRule {
            id: finding.rule.to_owned(),
            name: finding.rule.to_owned(),
            short: short.to_owned(),
            full: full.to_owned(),
        },
        grade: if finding.level == Level::Error { Grade::Error } else { Grade::Warning },
        text: format!("{}\nhint: {}", finding.what, finding.hint),
        file: RepoPath::from_bytes(&parts.join(&b'/')),
        line: finding.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(1),
        source: finding.source.clone(),
        fingerprint: digest([finding.rule, "\n", &finding.file, "\n", core].concat().as_bytes()),
    }
}
