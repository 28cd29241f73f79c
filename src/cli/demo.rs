//! `ralph demo`: the built-in example on real git, Maven and PIT. Needs no key and no model; writes nothing outside its
//! folder and the caches of ralph and Maven.

use super::run::{RunArgs, run_in, show_stop};
use super::{Exit, Fault, Invocation, ensure_that, ui};
use crate::config::Override;
use crate::git::init_repository;
use std::path::{Path, PathBuf};

/// The example, file by file.
const FILES: &[(&str, &str)] = &[
    (
        ".ralph/config.yaml",
        include_str!("../../.ralph-example/.ralph/config.yaml"),
    ),
    (
        ".ralph/config.schema.json",
        include_str!("../../.ralph-example/.ralph/config.schema.json"),
    ),
    (
        ".ralph/prompts/validator.md",
        include_str!("../../.ralph-example/.ralph/prompts/validator.md"),
    ),
    ("agent.sh", include_str!("../../.ralph-example/agent.sh")),
    ("design.md", include_str!("../../.ralph-example/design.md")),
    (
        "requirements.md",
        include_str!("../../.ralph-example/requirements.md"),
    ),
    ("tasks.md", include_str!("../../.ralph-example/tasks.md")),
    (
        "src/manual/README.md",
        include_str!("../../.ralph-example/src/manual/README.md"),
    ),
    (
        "src/orders/.gitignore",
        include_str!("../../.ralph-example/src/orders/.gitignore"),
    ),
    (
        "src/orders/pom.xml",
        include_str!("../../.ralph-example/src/orders/pom.xml"),
    ),
];

/// Copies the example, makes its repositories, runs the loop there. Flags that mean a workspace are refused: the
/// demo would run without what they ask for.
pub(super) fn run_demo(outside: &Invocation, into: Option<&Path>) -> Result<Exit, Fault> {
    let flags = outside.given.iter().filter(|given| given.is_flag);
    let root = outside
        .root
        .as_ref()
        .map(|_| outside.root_by)
        .filter(|name| name.starts_with("--"));
    if let Some(name) = flags.map(Override::name).chain(root).next() {
        return Err(Fault::setup_fault(
            format!("{name}: The demo runs its own example with its own agent and settings."),
            format!("leave {name} out; `--into DIR` says where the example goes"),
        ));
    }
    let json = outside.json;
    let (folder, temporary) = if let Some(folder) = into {
        (make_empty(folder)?, None)
    } else {
        let temporary = tempfile::Builder::new().prefix("ralph-demo-").tempdir()?;
        (temporary.path().to_owned(), Some(temporary))
    };
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, text)?;
    }
    for package in ["src/orders", "src/manual"] {
        init_repository(&folder.join(package), "the example's start")?;
    }
    if !json {
        ui::print_line(&format!(
            "The example is in {}: ralph run",
            folder.display()
        ));
    }
    // Variables for another workspace must not change the example.
    let call = Invocation {
        root: Some(folder.clone()),
        root_by: "--into",
        given: Vec::new(),
        format: outside.format,
        json,
    };
    let workspace = call.open_workspace()?;
    let end = run_in(&workspace, &RunArgs::default())?;
    let exit = show_stop(&call, &end);
    if !json {
        report_result(&folder, temporary, exit);
    }
    Ok(exit)
}

/// Prints the place of the result, and keeps a failed demo for an inspection.
fn report_result(folder: &Path, temporary: Option<tempfile::TempDir>, exit: Exit) {
    match temporary {
        Some(temporary) if exit == Exit::Done => {
            drop(temporary);
            ui::print_line("`ralph demo --into DIR` keeps tasks.md, progress.txt and the journal.");
        }
        Some(temporary) => {
            ui::print_line(&format!(
                "The workspace is kept: {}",
                temporary.keep().display()
            ));
        }
        None => ui::print_line(&format!(
            "Look at {0}/tasks.md and {0}/progress.txt.",
            folder.display()
        )),
    }
}

fn make_empty(folder: &Path) -> Result<PathBuf, Fault> {
    fs_err::create_dir_all(folder)?;
    let what = format!("{} is not empty.", folder.display());
    ensure_that(
        fs_err::read_dir(folder)?.next().is_none(),
        what,
        "name a folder that is empty or does not exist",
    )?;
    Ok(fs_err::canonicalize(folder)?)
}

#[cfg(test)]
mod tests {
    use super::FILES;
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The files of a folder and their text, without build outputs.
    fn files_below(folder: &Path) -> BTreeMap<String, String> {
        let mut open = vec![folder.to_path_buf()];
        let mut found = BTreeMap::new();
        while let Some(next) = open.pop() {
            for entry in fs_err::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.extend((!path.ends_with("target")).then_some(path));
                    continue;
                }
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, fs_err::read_to_string(&path).unwrap());
            }
        }
        found
    }

    #[test]
    fn the_binary_holds_exactly_the_files_of_the_example() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ralph-example");
        let held: BTreeMap<String, String> = FILES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        assert_eq!(held.len(), FILES.len(), "a file is in the list twice");
        assert_eq!(held, files_below(&folder));
    }
}
