//! `ralph report`: the morning page of a task file, as Markdown, as one HTML file, as JSON. Takes no lock.

use super::bundle::unpacked;
use super::status::Source;
use super::{Exit, Fault, Invocation, ui};
use crate::report::morning::{Page, PageContext, is_inside, relative_address};
use crate::source::text::line;
use crate::sys::clock;
use clap::Args;
use std::path::{Path, PathBuf};

/// Flags of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Write it as one HTML file that needs no other; a file that is there is replaced
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the Markdown to a file; without --html and --md it goes to standard output
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// The page of a file that `ralph bundle` made
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
}

/// `ralph report`.
pub(super) fn report(call: &Invocation, args: &ReportArgs) -> anyhow::Result<Exit> {
    let folder = tempfile::tempdir()?;
    let workspace = match &args.bundle {
        Some(file) => unpacked(call, file, folder.path())?,
        None => call.find()?,
    };
    let mut source = Source::open_at(call, workspace, true)?;
    let board = source.board()?;
    let html = args
        .html
        .as_deref()
        .map(|file| absolute(call, file))
        .transpose()?;
    let root = source.root();
    let name = args.bundle.as_deref().unwrap_or(&root).file_name();
    let name = line(&name.unwrap_or_default().to_string_lossy(), 100);
    let mut page = Page::new(
        &board,
        source.follow.story(),
        &PageContext {
            workspace: &name,
            zone: clock::zone(),
            commit_pages: &source.commit_pages(),
            report_address: &|path| report_address(&root, html.as_deref()?, path),
        },
    );
    page.notes.extend(source.older_gates());
    let written = write_page(call, &page, [args.html.as_deref(), args.md.as_deref()])?;
    if call.json {
        ui::json(&page);
    } else if !written {
        page.markdown()?.lines().for_each(ui::line);
    }
    if let Some(trouble) = source.trouble(&board) {
        ui::note(&format!("note: {trouble}"));
    }
    Ok(Exit::Done)
}

fn absolute(call: &Invocation, file: &Path) -> Result<PathBuf, Fault> {
    Ok(call.folder()?.join(file))
}

/// Returns the address of a report in the workspace, as seen from the page; `None` if there is no such file.
fn report_address(root: &Path, page: &Path, report: &str) -> Option<String> {
    let report = Path::new(report);
    if !is_inside(report) {
        return None;
    }
    let file = fs_err::canonicalize(root.join(report)).ok()?;
    let folder = fs_err::canonicalize(page.parent()?).ok()?;
    Some(relative_address(&folder, &file))
}

/// Writes a page into the files that were named; true if one was.
pub(super) fn write_page(
    call: &Invocation,
    page: &Page,
    [html, md]: [Option<&Path>; 2],
) -> anyhow::Result<bool> {
    let files = [
        html.map(|file| (file, page.html())),
        md.map(|file| (file, page.markdown())),
    ];
    for (file, text) in files.into_iter().flatten() {
        fs_err::write(call.folder()?.join(file), text?).map_err(|error| {
            Fault::setup(
                format!("The report cannot be written: {error}."),
                "name another file",
            )
        })?;
        ui::note(&format!("{} was written.", file.display()));
    }
    Ok(html.is_some() || md.is_some())
}
