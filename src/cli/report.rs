//! `ralph report`: the morning page of a task file, as Markdown, as one HTML file, as JSON. Takes no lock.

use super::bundle::unpacked;
use super::status::Source;
use super::{Exit, Fault, Invocation, ui};
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

pub(super) fn report(call: &Invocation, args: &ReportArgs) -> anyhow::Result<Exit> {
    let folder = tempfile::tempdir()?;
    let workspace = match &args.bundle {
        Some(file) => unpacked(call, file, folder.path())?,
        None => call.find()?,
    };
    let mut source = Source::open_at(call, workspace, true)?;
    let board = source.board()?;
    let mut page = Page::new(&board, source.follow.story());
    page.totals.extend(source.older_gates());
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
