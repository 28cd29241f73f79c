//! The test reports that a check wrote.
//!
//! Promises: an existing report counts only if it was written again, even if its modification
//! time was set; none is removed.

use super::patterns::compile_setting;
use crate::engine::Fault;
use crate::gate::passed_tests;
use crate::machine::event::ReportedTests;
use crate::source::text;
use crate::sys::file_stat::FileStat;
use crate::sys::walk::{MAX_ENTRIES, walk};
use globset::GlobSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The reports of a package before a check.
pub(super) struct TestReports<'a> {
    package: &'a Path,
    globs: GlobSet,
    before: BTreeMap<PathBuf, FileStat>,
}

impl<'a> TestReports<'a> {
    /// Lists the existing reports. Errors: an invalid pattern.
    pub(super) fn look_before(package: &'a Path, patterns: &[String]) -> Result<Self, Fault> {
        let globs = compile_setting("checks.reports", patterns)?;
        let before = find_reports(package, &globs);
        Ok(Self {
            package,
            globs,
            before,
        })
    }

    /// Returns the sum of the reports written since; `None` if none was.
    pub(super) fn read_written(self) -> Option<ReportedTests> {
        let mut now = find_reports(self.package, &self.globs);
        now.retain(|path, stamp| self.before.get(path) != Some(stamp));
        let mut sum = None;
        for path in now.into_keys() {
            let Some(passed) = passed_tests(&self.package.join(&path)) else {
                return Some(ReportedTests::Unreadable(text::line(
                    &path.to_string_lossy(),
                    300,
                )));
            };
            sum = Some(sum.unwrap_or(0) + passed);
        }
        sum.map(ReportedTests::Passed)
    }
}

/// Returns the reports with their paths in the package.
///
/// An unreadable file is left out: fewer tests never help.
fn find_reports(package: &Path, globs: &GlobSet) -> BTreeMap<PathBuf, FileStat> {
    if globs.is_empty() {
        return BTreeMap::new();
    }
    let all = walk(package, usize::MAX, MAX_ENTRIES, |entry| {
        let name = entry.file_name();
        name != ".git" && name != "node_modules"
    });
    let stamped = all.filter_map(Result::ok).filter_map(|entry| {
        let path = entry
            .path()
            .strip_prefix(package)
            .ok()
            .filter(|path| globs.is_match(path))?;
        let data = entry.metadata().ok().filter(|data| !data.is_dir())?;
        Some((path.to_owned(), FileStat::of(&data)))
    });
    stamped.collect()
}
