//! Every `ralph` on PATH: other tools ship a program of that name.
//!
//! Owns: which one is this program, and by which signs the others are told.
//!
//! Promises: no other `ralph` is started: some begin to work whatever they are asked.
//!
//! Refuses to know: what they do.

use super::probe::short_file;
use super::{Finding, State};
use crate::sys::programs::on_path;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Signs of other tools in the real path or in the text of a script, and their names.
const SIGNS: [(&str, &str); 7] = [
    ("ralph-orchestrator", "ralph-orchestrator"),
    ("@ralph-orchestrator", "ralph-orchestrator"),
    ("ralph_loop.sh", "frankbria/ralph-claude-code"),
    ("ralph-claude-code", "frankbria/ralph-claude-code"),
    ("ralph-wiggum", "open-ralph-wiggum"),
    ("ralph_workflow", "Ralph-Workflow"),
    ("cueloop", "CueLoop"),
];

/// A `ralph` on PATH.
struct Namesake {
    file: PathBuf,
    /// It is this program.
    own: bool,
}

/// This program, where it stands on PATH, and the others.
pub(super) fn namesakes(path: &str) -> Vec<Finding> {
    let own = fs_err::metadata("/proc/self/exe").ok().map(|meta| (meta.dev(), meta.ino()));
    let mut all: Vec<Namesake> = Vec::new();
    for file in on_path(path, "ralph") {
        if !all.iter().any(|other| other.file == file) {
            let identity = fs_err::metadata(&file).ok().map(|meta| (meta.dev(), meta.ino()));
            all.push(Namesake { file, own: identity.is_some() && identity == own });
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut findings = vec![match all.first() {
        Some(first) if first.own => {
            Finding::new("ralph", "ralph", State::Ok, format!("{version}  {}", first.file.display()))
        }
        Some(first) => {
            let what =
                format!("{version}; but first on PATH is {}, {}", first.file.display(), kind(&first.file));
            Finding::new("ralph", "ralph", State::Warning, what)
                .hint("put this one's folder first on PATH, or call it by its path")
        }
        None => Finding::new("ralph", "ralph", State::Warning, format!("{version}; none is on PATH"))
            .hint("put its folder on PATH"),
    }];
    for other in all.iter().skip(1) {
        let what = if other.own {
            format!("{} is this one, too", other.file.display())
        } else {
            format!("{} is hidden by the first: {}", other.file.display(), kind(&other.file))
        };
        findings.push(Finding::new(
            "ralph",
            "ralph",
            if other.own { State::Ok } else { State::Warning },
            what,
        ));
    }
    findings
}

/// What a file looks like, without starting it.
fn kind(file: &Path) -> String {
    let real = fs_err::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let script = short_file(&real).filter(|text| text.starts_with("#!"));
    let place = real.to_string_lossy();
    let known = SIGNS
        .iter()
        .find(|(sign, _)| place.contains(sign) || script.as_ref().is_some_and(|text| text.contains(sign)));
    let form = match script.as_ref().and_then(|text| text.lines().next()) {
        Some(line) if line.contains("node") || line.contains("bun") => "a script for Node",
        Some(line) if line.contains("python") => "a script for Python",
        Some(_) => "a shell script",
        None => "a compiled program",
    };
    match known {
        Some((_, name)) => format!("{form}, {name} by its looks"),
        None => format!("{form} that is not this one"),
    }
}
