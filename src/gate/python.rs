//! mutmut (3.5 and later) over Python, and what it shares with cosmic-ray.
//!
//! Settings are ralph's own, and what counts are the results that mutmut keeps per file, never its exit code, which is 0 with
//! survivors and after an interruption too. Nothing that an earlier run left is reused.

mod cosmic_ray;
mod results;

pub(crate) use cosmic_ray::CosmicRay;

use crate::gate::GateAbort;
use crate::gate::commands::Call;
use crate::gate::files::{FileEngine, Language, Measured, Work, installed_version, is_older, told};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Prints the version of a package; mutmut's own `--version` fails outside of a project.
const VERSION: &str = "import importlib.metadata as m, sys; print(sys.argv[1], m.version(sys.argv[1]))";
/// Versions before this one keep no usable results.
const OLDEST: (u32, u32) = (3, 5);

const PYTHON: Language = Language {
    name: "Python",
    extensions: &["py"],
    builds: &["pyproject.toml", "setup.cfg", "setup.py"],
    tests: &["test_{}", "{}_test"],
    installed: &[".venv", "venv"],
    outputs: &["mutants", "__pycache__"],
    hides: &[("no mutate", "no_mutate")],
    tells: &["MUTANT_UNDER_TEST", "__mutmut_"],
};

/// mutmut.
pub(crate) struct Mutmut;

impl FileEngine for Mutmut {
    fn gate(&self) -> Option<&'static str> {
        Some("MUTMUT")
    }

    fn language(&self) -> &'static Language {
        &PYTHON
    }

    fn measure(&self, work: &Work<'_>) -> Result<Measured, GateAbort> {
        let python = python(work)?;
        check_version(work, &python, "mutmut", OLDEST, "3.8.1' (pytest 9.2 needs that one)")?;
        write_settings(work)?;
        let jobs = work.jobs().to_string();
        let argv = [&python, "-m", "mutmut", "run", "--max-children", &jobs];
        let call = run(work, "mutmut", &argv, "")?;
        if let Some(ended) = not_green(work, &call)? {
            return Ok(ended);
        }
        let none_reached = call.output.contains("could not find any test case for any mutant");
        if call.end != (ProcessEnd::Exited { code: 0 }) && !none_reached {
            return Err(no_verdict(work, &call));
        }
        results::read(work, none_reached).map(Measured::Mutants)
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let call = run(work, "pytest", &[&python(work)?, "-m", "pytest", "-q", "-x"], "src:.")?;
        match call.end {
            // There are no tests.
            ProcessEnd::Exited { code: 0 | 5 } => Ok(true),
            ProcessEnd::Exited { code: 1 | 2 } => Ok(false),
            ProcessEnd::TimedOut { .. } => Err(work.commands.over_limit()),
            _ => Err(no_verdict(work, &call)),
        }
    }

    fn chooses_tests(&self, _module: &Path, _homes: &[PathBuf]) -> bool {
        true
    }
}

fn run(work: &Work<'_>, name: &str, argv: &[&str], path: &str) -> Result<Call, GateAbort> {
    let argv = argv.iter().map(|part| (*part).to_owned()).collect();
    let variables = [
        ("PYTHONUTF8", "1"),
        ("PYTHONIOENCODING", "utf-8"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        // A file that mutmut cannot read it would pass over, and print the warning nowhere.
        ("PYTHONWARNINGS", "error:Unsupported syntax in:SyntaxWarning"),
        ("PYTHONPATH", path),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    work.commands.run(name, argv, &work.folder, &variables)
}

/// The interpreter of the package's virtual environment, else that of the PATH.
fn python(work: &Work<'_>) -> Result<String, GateAbort> {
    let own = work.installed(&[".venv/bin/python", "venv/bin/python"]);
    let found = own.or_else(|| work.commands.find("python3"));
    found.map(|path| path.display().to_string()).ok_or_else(|| {
        GateAbort::setup(
            format!("No Python was found for {}: there is no .venv, and no python3 on the PATH.", work.label),
            "Make a virtual environment in the package: `python3 -m venv .venv`, then `.venv/bin/pip install mutmut pytest`.",
        )
    })
}

/// An error unless the interpreter has this package in a version that is not older; `better` is one to install.
fn check_version(
    work: &Work<'_>,
    python: &str,
    package: &str,
    oldest: (u32, u32),
    better: &str,
) -> Result<(), GateAbort> {
    let call = run(work, "version", &[python, "-c", VERSION, package], "")?;
    let hint = format!("Run `{python} -m pip install '{package}>={better}`.");
    installed_version(&call, package, &format!(" for {python}"), oldest, &hint)
}

/// True for a version of mutmut that keeps usable results.
pub fn reads_mutmut(version: &str) -> bool {
    !is_older(version, OLDEST)
}

/// mutmut reads its settings in the current folder alone: the project's are replaced.
fn write_settings(work: &Work<'_>) -> Result<(), GateAbort> {
    let file = work.folder.join("pyproject.toml");
    let old = if file.exists() { fs_err::read_to_string(&file)? } else { String::new() };
    let header = |line: &str| line.trim_start().starts_with("[tool.mutmut");
    let mut lines: Vec<&str> = Vec::new();
    let mut is_own = false;
    for line in old.lines() {
        is_own = header(line) || is_own && !line.trim_start().starts_with('[');
        if !is_own {
            lines.push(line);
        }
    }
    let sources: BTreeSet<&str> = work
        .files
        .iter()
        .map(|file| file.split_once('/').map_or(file.as_str(), |(first, _)| first))
        .collect();
    let others =
        fs_err::read_dir(&work.folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let others = others.collect::<std::io::Result<BTreeSet<String>>>()?;
    let is_copied =
        |name: &&String| !sources.contains(name.as_str()) && !PYTHON.installed.contains(&name.as_str());
    // A JSON string is a TOML one.
    let list = |names: Vec<&str>| Value::from(names).to_string();
    let own = format!(
        "{}\n[tool.mutmut]\nsource_paths = {}\nonly_mutate = {}\nalso_copy = {}\npytest_add_cli_args_test_selection = {}\n",
        lines.join("\n"),
        list(sources.iter().copied().collect()),
        Value::from(work.files.iter().map(|file| file_pattern(file)).collect::<Vec<_>>()),
        list(others.iter().filter(is_copied).map(String::as_str).collect()),
        list(work.tests.iter().map(String::as_str).collect()),
    );
    Ok(fs_err::write(&file, own)?)
}

/// A path as a pattern of Python's fnmatch that matches it alone.
fn file_pattern(path: &str) -> String {
    let one = |c: char| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() };
    path.chars().map(one).collect()
}

/// Where tests failed, or were not there, before anything was mutated.
fn not_green(work: &Work<'_>, call: &Call) -> Result<Option<Measured>, GateAbort> {
    if matches!(call.end, ProcessEnd::TimedOut { .. }) {
        return Err(work.commands.over_limit());
    }
    let red = [
        "failed to collect stats. runner returned",
        "Failed to run clean test",
        "Failed to collect list of tests",
    ];
    Ok(match () {
        () if call.output.contains("failed to collect stats. runner returned 5") => Some(Measured::NoTests),
        () if red.iter().any(|words| call.output.contains(words)) => {
            Some(Measured::Red(failed(&call.output)))
        }
        () => None,
    })
}

/// The tests that pytest names as failed.
fn failed(output: &str) -> Vec<String> {
    told(output, |line| line.starts_with("FAILED ") || line.starts_with("ERROR "))
}

fn no_verdict(work: &Work<'_>, call: &Call) -> GateAbort {
    work.no_verdict("mutmut", call, &last_line(call), "python -m mutmut run")
}

/// The last line of an output that is not empty.
fn last_line(call: &Call) -> Vec<String> {
    let mut last = call.output.lines().rev().map(|line| text::line(line, 300));
    last.find(|line| !line.is_empty()).into_iter().collect()
}
