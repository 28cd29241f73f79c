//! `ralph report`: the morning page of a task file, as Markdown, as one HTML file, as JSON. Takes no lock.

use super::bundle::unpacked;
use super::status::Source;
use super::{Exit, Fault, FaultKind, Invocation, ui};
use crate::report::morning::Page;
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
pub(super) fn report(call: &Invocation, args: &ReportArgs) -> Result<Exit, Fault> {
    let folder = tempfile::tempdir()?;
    let workspace = match &args.bundle {
        Some(file) => unpacked(call, file, folder.path())?,
        None => call.find()?,
    };
    let mut source = Source::open_at(call, workspace, true)?;
    let board = source.board()?;
    let page = Page::new(&board, source.story());
    let written = write_page(call, &page, args.html.as_deref(), args.md.as_deref())?;
    if call.json {
        ui::json(&page);
    } else if !written {
        page.markdown().map_err(unfilled)?.lines().for_each(ui::line);
    }
    if let Some(trouble) = source.trouble(&board) {
        ui::note(&format!("note: {trouble}"));
    }
    Ok(Exit::Done)
}

/// Writes a page into the files that were named; true if one was.
pub(super) fn write_page(
    call: &Invocation,
    page: &Page,
    html: Option<&Path>,
    md: Option<&Path>,
) -> Result<bool, Fault> {
    let files = [html.map(|file| Ok((file, page.html()?))), md.map(|file| Ok((file, page.markdown()?)))];
    let files: Vec<(&Path, String)> =
        files.into_iter().flatten().collect::<Result<_, minijinja::Error>>().map_err(unfilled)?;
    for (file, text) in &files {
        fs_err::write(call.folder()?.join(file), text).map_err(|error| {
            Fault::setup(format!("The report cannot be written: {error}."), "name another file")
        })?;
        ui::note(&format!("{} was written.", file.display()));
    }
    Ok(!files.is_empty())
}

/// A template that cannot be filled.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unfilled(error: minijinja::Error) -> Fault {
    Fault::new(FaultKind::Internal, error.to_string(), "please report this")
}
