//! Every `ralph` on PATH: other tools have a program of that name. None is started: some begin to work whatever
//! they are asked.

use crate::cli::inspect::{Finding, Level, Rule};
use crate::sys::programs::on_path;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

const RALPH: Rule = Rule::warning("ralph", "Another program called ralph is on PATH");

/// This program, and each `ralph` on PATH.
pub(super) fn ralphs(path: &str) -> Vec<Finding> {
    let identity = |file: &Path| fs_err::metadata(file).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = identity(Path::new("/proc/self/exe"));
    let version = env!("CARGO_PKG_VERSION");
    let mut findings: Vec<Finding> = Vec::new();
    for file in on_path(path, "ralph") {
        let shown = file.display();
        let is_own = own.is_some() && identity(&file) == own;
        let found = match (findings.is_empty(), is_own) {
            (true, true) => RALPH.found("ralph", format!("{version}  {shown}"), ""),
            (false, true) => RALPH.found("ralph", format!("{shown} is also this one"), ""),
            (true, false) => {
                let what = format!("{version}; but first on PATH is {shown}, and this one is not it");
                RALPH.found("ralph", what, "put this one's folder first on PATH, or call it by its path")
            }
            (false, false) => {
                RALPH.found("ralph", format!("{shown} is a different program, hidden by the first"), "")
            }
        };
        findings.push(if is_own { found.level(Level::Ok) } else { found });
    }
    if findings.is_empty() {
        let what = format!("{version}; not on PATH");
        findings.push(RALPH.found("ralph", what, "put its folder on PATH"));
    }
    findings
}
