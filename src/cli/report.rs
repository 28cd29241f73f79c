//! `ralph report`: the morning page of a task file, as Markdown, as one HTML file, as JSON; or the scores by week. Takes no lock.

use super::mutation_test::scores_may_be_told;
use super::output::Format;
use super::status::ViewedWorkspace;
use super::{Exit, Fault, Invocation, Opened, RealDisk, cache_folder, ensure_that, ui};
use crate::config::ScopeKind;
use crate::engine::{read_history, unpack_bundle};
use crate::gate::mutation_test::kept_scores;
use crate::report::board::Board;
use crate::report::morning::{Page, PageContext, is_inside, relative_address};
use crate::source::text::line;
use crate::sys::clock;
use crate::sys::process::is_inside_agent;
use clap::Args;
use std::path::{Path, PathBuf};

/// Flags of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The page of a file that `ralph bundle` made
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Show the mutation scores of classes week by week, or only those whose name contains NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "bundle")]
    pub weeks: Option<String>,
}

pub(super) fn run_report(call: &Invocation, args: &ReportArgs) -> anyhow::Result<Exit> {
    if let Some(name) = &args.weeks {
        return Ok(show_weeks(call, name)?);
    }
    let folder = tempfile::tempdir()?;
    let workspace = match &args.bundle {
        Some(file) => unpack_bundle(file, folder.path())?,
        None => call.find_workspace()?,
    };
    let mut source = ViewedWorkspace::open_at(call, workspace, true)?;
    let board = source.read_board()?;
    let root = source.root();
    let name = args.bundle.as_deref().unwrap_or(&root).file_name();
    let page = make_page(&source, &board, &name.unwrap_or_default().to_string_lossy());
    show_page(call, &page)?;
    if let Some(trouble) = source.find_trouble(&board) {
        ui::print_note(&format!("note: {trouble}"));
    }
    Ok(Exit::Done)
}

/// Makes the page of a board whose source keeps the story.
pub(super) fn make_page(source: &ViewedWorkspace, board: &Board, workspace: &str) -> Page {
    let root = source.root();
    // Links lead from the page to reports, so a page on standard output has none.
    let own_path = ui::answer_path();
    let mut page = Page::new(
        board,
        source.follow.story_so_far(),
        &PageContext {
            workspace: &line(workspace, 100),
            zone: clock::zone(),
            commit_pages: &source.commit_pages(),
            report_address: &|path| report_address(&root, own_path.as_deref()?, path),
        },
    );
    page.notes.extend(source.older_gates());
    page
}

/// Returns the address of a report in the workspace, as seen from the page; `None` if there is no such file.
fn report_address(root: &Path, page: &Path, report: &str) -> Option<String> {
    let report = Path::new(report);
    if !is_inside(report) {
        return None;
    }
    let file = fs_err::canonicalize(root.join(report)).ok()?;
    let page = fs_err::canonicalize(page).ok()?;
    Some(relative_address(page.parent()?, &file))
}

/// Shows a page in the format that was named.
pub(super) fn show_page(call: &Invocation, page: &Page) -> anyhow::Result<()> {
    match call.format {
        Format::Json => ui::print_json(page),
        Format::Html => page.render_html()?.lines().for_each(ui::print_line),
        _ => page.render_markdown()?.lines().for_each(ui::print_line),
    }
    Ok(())
}

/// Shows the mutation scores over the weeks of classes and targets whose name contains `name`.
fn show_weeks(call: &Invocation, name: &str) -> Result<Exit, Fault> {
    let workspace = call
        .read_settings(call.find_anywhere()?)
        .and_then(Opened::into_sound)?;
    scores_may_be_told(is_inside_agent()?, &workspace)?;
    let gates = workspace.settings.gates.iter();
    let by_lines = gates
        .filter(|(_, gate)| gate.scope == ScopeKind::Lines)
        .map(|(name, _)| name.clone());
    let mut all = read_history(&RealDisk::new(), &workspace.places, &by_lines.collect())?;
    for measured in kept_scores(&cache_folder()?, &workspace.places.workspace) {
        all.add_measurement(measured);
    }
    ensure_that(
        call.format != Format::Html,
        "The scores by week have no HTML page.",
        "leave --format out, or take `--format json`",
    )?;
    let all = if name.is_empty() {
        all
    } else {
        all.of_name(name)
    };
    if call.json {
        ui::print_json(&all.history_facts());
    } else if all.is_empty() {
        ui::print_note(match name {
            "" => {
                "No score was recorded yet: a gate that measures one, or `ralph mutation-test`, records the first."
            }
            _ => "No score was recorded for a class or target whose name contains that.",
        });
    } else {
        all.history_lines()
            .iter()
            .for_each(|line| ui::print_line(line));
    }
    Ok(Exit::Done)
}
