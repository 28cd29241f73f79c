//! The report that viewers of mutation tests share, next to those of the engines.
//!
//! It is `mutation.json`, and for people `mutation.html`, one file with the sources that needs no
//! network.

use super::verdict::ModuleResult;
use crate::report::standard::{ReportedFile, render_html, report_facts};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Its name in the folder of a gate.
pub const FILE: &str = "mutation.json";
/// Bytes of all sources together; more make a page that no browser shows.
const MAX_SOURCES: usize = 32 << 20;

/// Takes the files with their mutants from what was judged.
pub(crate) fn files_of(results: &mut [ModuleResult]) -> Vec<ReportedFile> {
    let judged = results.iter_mut().flat_map(|result| &mut result.judged);
    let mut files: Vec<ReportedFile> = judged
        .map(|judged| std::mem::take(&mut judged.file))
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Writes the report into a folder, and a page if it has a title. Returns the path of the page.
pub(crate) fn write_report(
    folder: &Path,
    files: &[ReportedFile],
    threshold: u32,
    title: Option<&str>,
) -> io::Result<Option<PathBuf>> {
    if files.is_empty() {
        return Ok(None);
    }
    if files.iter().map(|file| file.source.len()).sum::<usize>() > MAX_SOURCES {
        return Err(io::Error::other("the sources are larger than 32 MiB"));
    }
    let facts: Value = report_facts(files, threshold);
    fs_err::create_dir_all(folder)?;
    fs_err::write(folder.join(FILE), facts.to_string() + "\n")?;
    let Some(title) = title else {
        return Ok(None);
    };
    let page = folder.join("mutation.html");
    fs_err::write(&page, render_html(&facts, title))?;
    Ok(Some(page))
}
