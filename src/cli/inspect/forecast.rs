//! Effects of a task file on a run that its author may not expect.
//!
//! There is at most one warning of each kind, on the first line that has it.

use super::tasks::Read;
use super::{InspectionFinding, Workspace};
use crate::machine::choice::is_required_open;
use crate::source::text::count;
use crate::task::{Row, Stage, Stages};
use serde_json::json;

/// Maximum number of headings that a warning names.
const SHOWN: usize = 5;

/// Returns warnings on effects that are not obvious.
pub(super) fn forecast_findings(read: &Read, workspace: &Workspace) -> Vec<InspectionFinding> {
    let rows = read.file.box_rows();
    let work: Vec<(usize, &Row)> = (rows.iter().enumerate())
        .filter(|(_, row)| {
            row.key.stage == Stage::Implementation
                && is_required_open(row)
                && !row.struck
                && !row.approval
        })
        .collect();
    let lines = |is_meant: &dyn Fn(usize, &Row) -> bool| -> Vec<u32> {
        let meant = work.iter().filter(|(at, row)| is_meant(*at, row));
        meant.map(|(_, row)| row.line).collect()
    };
    let is_judged = read
        .boxes
        .iter()
        .any(|row| row.key.stage != Stage::Implementation);
    let is_virtual = !matches!(workspace.rules.stages, Stages::File);
    let has_green = workspace.settings.checks.green.is_some();
    let rules = [
        (
            "no-reviews-or-gates",
            lines(&|_, _| !is_judged),
            "without review and gate: a run believes commits alone",
            "`ralph stage --all` gives them both; with `stages: virtual` they need no lines.",
        ),
        (
            "no-id",
            lines(&|at, _| !is_virtual && read.file.shown_id(at).is_none()),
            "without an id: each is named by its line, and the file can hold no gate or stage of it",
            "Write ids (`- [ ] 1. …`), or use `stages: virtual`.",
        ),
        (
            "unconfirmed-checkpoint",
            lines(&|_, row| row.checkpoint && !has_green),
            "that may have nothing to commit, as a checkpoint: without `checks.green` a run then stops for a person",
            "Set `checks.green` to the command that has to pass.",
        ),
    ];
    let told = rules.into_iter().filter_map(|(rule, lines, what, hint)| {
        let what = format!("{} {what}.", count(lines.len() as u64, "open task"));
        Some(
            read.on_line(rule, *lines.first()?, what, hint)
                .into_warning(),
        )
    });
    told.chain(section_findings(read)).collect()
}

/// Sections that look like checklists, and those that look optional.
fn section_findings(read: &Read) -> Vec<InspectionFinding> {
    let kinds = [
        (
            "checklist",
            "Sections that look like checklists hold boxes, and each is a task",
            "",
            read.file.checklist_headings(),
        ),
        (
            "optional-section",
            "Sections that look optional hold open boxes, and each is a required task",
            " Or mark single tasks with `[ ]*`.",
            read.file.optional_sections(),
        ),
    ];
    let mut findings = Vec::new();
    for (rule, what, more, found) in kinds {
        let Some(first) = found.values().min() else {
            continue;
        };
        let titles: Vec<String> = found
            .keys()
            .take(SHOWN)
            .map(|title| json!(title).to_string())
            .collect();
        let titles = titles.join(", ");
        let hint = format!(
            "If they are not tasks: `tasks: {{sections: {{exclude: [{titles}]}}}}` in \
             .ralph/config.yaml.{more}"
        );
        let finding = read.on_line(rule, *first, format!("{what}: {titles}."), hint);
        findings.push(finding.into_warning());
    }
    findings
}
