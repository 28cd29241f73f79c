//! The engines that mutate the files of a package: which a gate would use, whether it is there, what to install. Starts nothing,
//! so of a program on the PATH the version is not known; that of a mutmut in a virtual environment is, by the name of its folder.

use super::Package;
use crate::gate::mutation_test::MutationEngine;
use crate::gate::reads_mutmut;
use crate::sys::programs::on_path;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An engine that files of a package call for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Needed {
    pub(crate) engine: MutationEngine,
    /// The gate that uses it.
    pub(crate) gate: &'static str,
    pub(crate) found: bool,
    /// Description of the installed version, or of the lack.
    pub(crate) what: String,
    /// Command or package to install.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) hint: &'static str,
}

/// True for a gate that measures with this engine.
pub(crate) fn measures_with(gate: &str, engine: MutationEngine) -> bool {
    engine
        .gate_name()
        .is_some_and(|own| gate == "MUTATION" || gate == own)
}

/// The engines for all languages of a package but Java, whose build has tools of its own.
pub(crate) fn of_package(package: &Package) -> Vec<Needed> {
    let folders = engine_folders(package);
    let engines = MutationEngine::ALL.into_iter().filter(|engine| {
        *engine != MutationEngine::Pit && package.files.iter().any(|file| engine.mutates_file(file))
    });
    let needed = engines.filter_map(|engine| {
        let gate = engine.gate_name()?;
        let looked = match engine {
            MutationEngine::Mutmut | MutationEngine::CosmicRay => look_for_mutmut(&folders),
            MutationEngine::Stryker => look_for_stryker(&folders),
            MutationEngine::CargoMutants | MutationEngine::Pit => cargo_mutants(),
        };
        let found = looked.is_ok();
        let (what, hint) = looked.map_or_else(|lack| lack, |what| (what, ""));
        Some(Needed {
            engine,
            gate,
            found,
            what,
            hint,
        })
    });
    needed.collect()
}

/// The package's own folder, and those of its build files.
fn engine_folders(package: &Package) -> BTreeSet<PathBuf> {
    let build = package
        .build_files()
        .map(|(folder, _)| package.root.join(folder));
    build.chain([package.root.clone()]).collect()
}

type Looked = Result<String, (String, &'static str)>;

fn look_for_mutmut(folders: &BTreeSet<PathBuf>) -> Looked {
    let hint = "Run `python3 -m venv .venv` and `.venv/bin/pip install 'mutmut>=3.8.1' pytest`.";
    match virtual_environments(folders).find(|folder| folder.join("bin/python").exists()) {
        None if is_on_path("mutmut") => Ok("on the PATH; there is no .venv".to_owned()),
        None => Err((
            "not installed: there is no .venv, and none on the PATH".to_owned(),
            hint,
        )),
        Some(environment) => match version_in(&environment, "mutmut") {
            Some(version) if reads_mutmut(&version) => {
                Ok(format!("{version} in a virtual environment"))
            }
            Some(version) => Err((
                format!("{version} in a virtual environment is too old for a verdict"),
                hint,
            )),
            None => Err(("not installed in the virtual environment".to_owned(), hint)),
        },
    }
}

/// Returns the possible folders of virtual environments.
pub(crate) fn virtual_environments<'f>(
    folders: impl IntoIterator<Item = &'f PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    folders
        .into_iter()
        .flat_map(|folder| [".venv", "venv"].map(|name| folder.join(name)))
}

/// The version of a package (by its name in folders) that is installed in a virtual environment.
pub(crate) fn version_in(environment: &Path, package: &str) -> Option<String> {
    let versions = read_entries(environment.join("lib"));
    let libraries = versions.map(|found| found.path().join("site-packages"));
    let mut installed = libraries
        .flat_map(read_entries)
        .map(|found| found.file_name());
    installed.find_map(|name| {
        let version = name
            .to_str()?
            .strip_prefix(package)?
            .strip_prefix('-')?
            .strip_suffix(".dist-info")?;
        let is_plain = version
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+'));
        is_plain.then(|| version.to_owned())
    })
}

/// Nothing of a folder that cannot be read.
fn read_entries(folder: PathBuf) -> impl Iterator<Item = fs_err::DirEntry> {
    fs_err::read_dir(folder).into_iter().flatten().flatten()
}

fn look_for_stryker(folders: &BTreeSet<PathBuf>) -> Looked {
    let hint = "Run `npm install --save-dev @stryker-mutator/core`, with the plugin of the test runner (`@stryker-mutator/vitest-runner`).";
    let is_there = folders
        .iter()
        .any(|folder| folder.join("node_modules/.bin/stryker").exists());
    match (is_there, is_on_path("node")) {
        (true, true) => Ok("in node_modules".to_owned()),
        (true, false) => Err((
            "in node_modules, but node is not on the PATH".to_owned(),
            "Install Node.js.",
        )),
        (false, _) => Err(("not in node_modules".to_owned(), hint)),
    }
}

fn cargo_mutants() -> Looked {
    let hint = "Run `cargo install cargo-mutants --locked`.";
    match ["cargo", "cargo-mutants"]
        .into_iter()
        .find(|program| !is_on_path(program))
    {
        None => Ok("on the PATH".to_owned()),
        Some("cargo") => Err((
            "cargo is not on the PATH".to_owned(),
            "Install Rust (https://rustup.rs).",
        )),
        Some(_) => Err(("not on the PATH".to_owned(), hint)),
    }
}

pub(crate) fn is_on_path(program: &str) -> bool {
    on_path(&std::env::var_os("PATH").unwrap_or_default(), program)
        .next()
        .is_some()
}
