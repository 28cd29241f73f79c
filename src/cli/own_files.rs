//! The files of a workspace that no answer may replace: `.ralph/`, and the files of its specs.

use super::output::named_file;
use super::workspace::is_workspace;
use super::{Fault, Invocation, Workspace, ensure_that, ui};
use crate::source::compile_globs;
use clap::ArgMatches;
use std::path::{Path, PathBuf};

/// The files of a spec that `spec_files:` does not name.
const SPEC: [&str; 3] = ["tasks.md", "progress.txt", "validation-report.md"];
/// Links that are followed to a file that does not exist.
const MAX_LINKS: usize = 8;

/// Sends the answer to the file that the command line names.
pub(super) fn open_output(call: &Invocation, typed: &ArgMatches) -> Result<(), Fault> {
    let Some(file) = named_file(typed) else {
        return Ok(());
    };
    ensure_is_not_own(call, file)?;
    ui::answer_into(file)
}

/// Returns an error for a file that a workspace needs.
///
/// The file that a write reaches counts, through links and `..`. The workspaces are that of the call, and each one
/// around the file.
pub(super) fn ensure_is_not_own(call: &Invocation, file: &Path) -> Result<(), Fault> {
    let reached = reached_path(std::path::absolute(file)?);
    let around = reached.ancestors().filter(|folder| is_workspace(folder));
    let roots = call.find_workspace().into_iter();
    for root in roots.chain(around.map(Path::to_owned)) {
        let workspace = call.read_settings(root)?.workspace;
        let what = format!(
            "{} is a file of the spec or in .ralph/, and the answer would replace it.",
            file.display()
        );
        ensure_that(
            !is_own(&workspace, &reached),
            what,
            "name another file, outside of .ralph/",
        )?;
    }
    Ok(())
}

fn is_own(workspace: &Workspace, file: &Path) -> bool {
    let Workspace {
        places, settings, ..
    } = workspace;
    // A workspace may have other specs than the one of this call.
    let neighbour = file
        .parent()
        .filter(|folder| folder.join("tasks.md").exists());
    let mut specs = std::iter::once(places.spec.as_path()).chain(neighbour);
    file.starts_with(reached_path(places.workspace.join(".ralph")))
        || specs.any(|spec| is_of_spec(spec, &settings.spec_files, file))
}

fn is_of_spec(spec: &Path, patterns: &[String], file: &Path) -> bool {
    let mut names = SPEC.into_iter().chain(patterns.iter().map(String::as_str));
    if names.any(|name| reached_path(spec.join(name)) == file) {
        return true;
    }
    let Ok(inside) = file.strip_prefix(reached_path(spec.to_owned())) else {
        return false;
    };
    compile_globs(patterns).is_ok_and(|patterns| patterns.is_match(inside))
}

/// Returns the path that a write reaches. The file, and directories above it, may be missing.
fn reached_path(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs_err::canonicalize(&path) {
            return real;
        }
        let (Ok(target), Some(folder)) = (fs_err::read_link(&path), path.parent()) else {
            break;
        };
        path = folder.join(target);
    }
    let there = path.ancestors().skip(1).find_map(|folder| {
        let real = fs_err::canonicalize(folder).ok()?;
        Some(real.join(path.strip_prefix(folder).ok()?))
    });
    there.unwrap_or(path)
}
