//! Findings for people, for programs and for code scanning: the same in each form.

use crate::cli::inspect::{InspectionFinding, Level};
use crate::cli::output::Format;
use crate::cli::{CONFIG, Exit, ui};
use crate::git::is_repository;
use crate::report::sarif::{SarifLevel, SarifResult, SarifRule, sarif_log};
use crate::source::RepoPath;
use crate::source::text::count;
use crate::task::digest;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Shows all findings; places are relative to `base`. 0 without errors, else 1.
pub(super) fn show_findings(findings: &[InspectionFinding], format: Format, base: &Path) -> Exit {
    let errors = findings
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .count();
    match format {
        Format::Json => findings.iter().for_each(ui::print_json),
        Format::Sarif => {
            let results: Vec<SarifResult> = findings
                .iter()
                .map(|finding| sarif_result(finding, base))
                .collect();
            ui::print_line(&sarif_log("check", true, &[], &results));
        }
        _ => print_findings(findings, errors),
    }
    if errors > 0 {
        Exit::WorkLeft
    } else {
        Exit::Done
    }
}

fn print_findings(findings: &[InspectionFinding], errors: usize) {
    for finding in findings {
        let level = if finding.level == Level::Error {
            "error"
        } else {
            "warning"
        };
        ui::print_line(&format!(
            "{level}: {}: {} [{}]",
            finding.place_text(),
            finding.what,
            finding.rule
        ));
        ui::print_line(&format!("  hint: {}", finding.hint));
    }
    let warnings = findings.len() - errors;
    ui::print_line(&format!(
        "{}, {}",
        count(errors as u64, "error"),
        count(warnings as u64, "warning")
    ));
}

fn sarif_result(finding: &InspectionFinding, base: &Path) -> SarifResult {
    let (id, title) = (&finding.rule, finding.rule.replace('-', " "));
    let file = finding
        .path
        .clone()
        .unwrap_or_else(|| PathBuf::from(&finding.file));
    let file = if file.as_os_str().is_empty() {
        Path::new(CONFIG)
    } else {
        &file
    };
    // A finding stays the same if the lines above it change.
    let core = if finding.source.is_empty() {
        &finding.what
    } else {
        &finding.source
    };
    SarifResult {
        rule: SarifRule {
            id: id.clone(),
            name: id.clone(),
            full: format!("{title}."),
            short: title,
        },
        grade: if finding.level == Level::Error {
            SarifLevel::Error
        } else {
            SarifLevel::Warning
        },
        text: format!("{}\nhint: {}", finding.what, finding.hint),
        file: RepoPath::from_bytes(in_checkout(file, base).as_os_str().as_bytes()),
        line: finding
            .line
            .and_then(|line| u32::try_from(line).ok())
            .unwrap_or(1),
        source: finding.source.clone(),
        fingerprint: digest(
            [id.as_str(), "\n", &finding.file, "\n", core]
                .concat()
                .as_bytes(),
        ),
    }
}

/// The place that a path leads to, from the root of what is checked out: the repository around `base`, else around
/// the file itself; without any, from `base`.
fn in_checkout(file: &Path, base: &Path) -> PathBuf {
    let named = base.join(file);
    let folder = named
        .parent()
        .and_then(|folder| fs_err::canonicalize(folder).ok());
    let real = folder
        .zip(named.file_name())
        .map_or(named.clone(), |(folder, name)| folder.join(name));
    let roots = [find_checkout(base).or(Some(base)), find_checkout(&real)];
    let inside = roots
        .into_iter()
        .flatten()
        .find_map(|root| real.strip_prefix(root).ok())
        .unwrap_or(&real);
    inside.strip_prefix("/").unwrap_or(inside).to_owned()
}

/// Returns the base of the paths of a file's findings.
///
/// It is the file's own folder when that is in a checkout, else `here`.
pub(super) fn base_of(file: &Path, here: &Path) -> PathBuf {
    let folder = here
        .join(file)
        .parent()
        .and_then(|folder| fs_err::canonicalize(folder).ok());
    folder
        .filter(|folder| find_checkout(folder).is_some())
        .unwrap_or_else(|| here.to_owned())
}

fn find_checkout(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| is_repository(folder))
}
