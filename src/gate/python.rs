//! mutmut (3.5 and later) over Python, and what it shares with cosmic-ray.
//!
//! Settings are ralph's own, and what counts are the results that mutmut keeps per file, never its exit code, which is 0 with
//! survivors and after an interruption too. Nothing that an earlier run left is reused.
//!
//! mutmut keeps of each file `<file>.meta` (an exit code for each mutant), `<file>.spans` (where its copy of the function is, from
//! 3.8 on), and for all `mutmut-stats.json` (the tests that reach each function). A file without results is an error; so is a
//! mutant that was not checked, or whose check was interrupted.
//!
//! A script of ralph's starts it (`driver.py`): options of pytest that distribute, order or end a run would make mutants look
//! killed, or reached by no test, in any place where they are set. If they have an effect nevertheless, there is no verdict.

mod cosmic_ray;

pub(crate) use cosmic_ray::CosmicRay;

use crate::gate::commands::FinishedCall;
use crate::gate::files::{
    EngineMeasurement, FileEngine, FileLanguage, FileMutant, Work, find_installed,
    installed_version, is_older, source_lines, telling_lines,
};
use crate::gate::{GateAbort, job_count};
use crate::machine::facts::ProcessEnd;
use crate::mutation::MutantStatus;
use crate::source::text;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Prints the version of a package; mutmut's own `--version` fails outside of a project.
const VERSION: &str = "import sys; sys.path[:] = filter(None, sys.path); import importlib.metadata as m; \
    found = [d.version for d in m.distributions(name=sys.argv[1])]; \
    sys.exit(1) if not found else print(sys.argv[1], found[0]); \
    import importlib.util as u; place = u.find_spec(sys.argv[1].replace('-', '_')); \
    print('ralph: at', place.origin if place else '')";
/// Starts mutmut, and prints facts about the tests.
const DRIVER: &str = include_str!("python/driver.py");
/// Lines that the script prints: for tests that ran where mutmut sees nothing, and for tests that started processes.
const ELSEWHERE: &str = "ralph: tests ran in other processes";
const STARTED: &str = "ralph: tests started processes";
/// Versions before this one keep no usable results.
const OLDEST: (u32, u32) = (3, 5);

const PYTHON: FileLanguage = FileLanguage {
    name: "Python",
    extensions: &["py"],
    builds: &["pyproject.toml", "setup.cfg", "setup.py"],
    tests: &["test_{}", "{}_test"],
    installed: &[".venv", "venv"],
    outputs: &["mutants", "__pycache__"],
    hides: &[("no mutate", "no_mutate")],
    tells: &["MUTANT_UNDER_TEST", "__mutmut_"],
};

/// Names that mutmut does not copy.
const NOT_COPIED: [&str; 4] = [".git", "mutants", ".venv", "venv"];

pub(crate) struct Mutmut;

impl FileEngine for Mutmut {
    fn file_language(&self) -> &'static FileLanguage {
        &PYTHON
    }

    fn measure_work(&self, work: &Work<'_>) -> Result<EngineMeasurement, GateAbort> {
        let python = find_python(work)?;
        check_version(work, &python, "mutmut", OLDEST, "'mutmut>=3.8.1' pytest")?;
        write_settings(work)?;
        let jobs = job_count(work.settings).to_string();
        let driver = write_driver(work)?;
        let argv = [&python, driver.as_str(), "run", "--max-children", &jobs];
        let call = run_command(work, "mutmut", &argv, "")?;
        let none_reached = call
            .output
            .contains("could not find any test case for any mutant");
        if call.output.contains(ELSEWHERE) || none_reached && call.output.contains(STARTED) {
            return Err(GateAbort::setup(
                format!(
                    "The tests of {} run its code in other processes than pytest's own (pytest-xdist, pytest-forked, a program that a test starts): there mutmut sees nothing.",
                    work.label
                ),
                "Let the tests call the code themselves, in one process.",
            ));
        }
        if let Some(ended) = not_green(&call) {
            return Ok(ended);
        }
        if call.end != (ProcessEnd::Exited { code: 0 }) && !none_reached {
            // mutmut hides the output of pytest if tests cannot be collected.
            let alone = run_command(
                work,
                "pytest",
                &[&python, "-m", "pytest", "-q", "-x"],
                "src:.",
            )?;
            let told = failed_tests(&alone.output);
            let told = if told.is_empty() {
                last_line(&call)
            } else {
                told
            };
            return Err(work.no_verdict(ENGINE, &call, &told, "python -m mutmut run"));
        }
        read_mutants(work, none_reached).map(EngineMeasurement::Mutants)
    }

    fn engine_name(&self) -> &'static str {
        ENGINE
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let python = find_python(work)?;
        let mut argv = vec![python.as_str(), "-m", "pytest", "-q", "-x"];
        argv.extend(work.tests.iter().map(String::as_str));
        let call = run_command(work, "pytest", &argv, "src:.")?;
        match call.end {
            // There are no tests.
            ProcessEnd::Exited { code: 0 | 5 } => Ok(true),
            ProcessEnd::Exited { code: 1 | 2 } => Ok(false),
            _ => Err(no_verdict(work, &call)),
        }
    }

    fn chooses_tests(&self, _module: &Path, _homes: &[PathBuf]) -> bool {
        true
    }
}

fn run_command(
    work: &Work<'_>,
    name: &str,
    argv: &[&str],
    path: &str,
) -> Result<FinishedCall, GateAbort> {
    let argv = argv.iter().map(|part| (*part).to_owned()).collect();
    let variables = [
        ("PYTHONUTF8", "1"),
        ("PYTHONIOENCODING", "utf-8"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        // A file that mutmut cannot read it would pass over, and print the warning nowhere.
        (
            "PYTHONWARNINGS",
            "error:Unsupported syntax in:SyntaxWarning",
        ),
        ("PYTHONPATH", path),
    ];
    work.run_in_module(name, argv, &variables)
}

/// The interpreter of the package's virtual environment, else that of the PATH.
fn find_python(work: &Work<'_>) -> Result<String, GateAbort> {
    let own = find_installed(&work.homes, &[".venv/bin/python", "venv/bin/python"]);
    let found = own.or_else(|| work.commands.find_program("python3"));
    found.map(|path| path.display().to_string()).ok_or_else(|| {
        GateAbort::setup(
            format!("No Python was found for {}: there is no .venv, and no python3 on the PATH.", work.label),
            "Make a virtual environment in the package: `python3 -m venv .venv`, then `.venv/bin/pip install mutmut pytest`.",
        )
    })
}

/// An error unless the interpreter has this package in a version that is not older; `better` is what to install.
fn check_version(
    work: &Work<'_>,
    python: &str,
    package: &str,
    oldest: (u32, u32),
    better: &str,
) -> Result<(), GateAbort> {
    let call = run_command(work, "version", &[python, "-c", VERSION, package], "")?;
    // A package may be installed by a link to a folder of the one that is judged.
    let place = call
        .output
        .lines()
        .find_map(|line| line.strip_prefix("ralph: at "));
    if let Some(place) = place.map(Path::new).filter(|place| place.is_absolute()) {
        work.check_place(package, place)?;
    }
    let mut hint = format!("Run `{python} -m pip install {better}`.");
    let other = work
        .commands
        .find_program(package)
        .filter(|other| other.parent() != Path::new(python).parent());
    if let Some(other) = other {
        let other = other.display();
        hint = format!(
            "{hint} `{other}` belongs to another interpreter, which the tests do not run with; a `.venv` in the package with both works too."
        );
    }
    installed_version(&call, package, &format!(" for {python}"), oldest, &hint)
}

/// True for a version of mutmut that keeps usable results.
pub fn reads_mutmut(version: &str) -> bool {
    !is_older(version, OLDEST)
}

/// Writes the script that starts mutmut, and returns its path.
fn write_driver(work: &Work<'_>) -> Result<String, GateAbort> {
    let driver = work.output.join("driver.py");
    fs_err::write(&driver, DRIVER)?;
    Ok(driver.display().to_string())
}

/// mutmut reads its settings in the current folder alone: the project's are replaced.
fn write_settings(work: &Work<'_>) -> Result<(), GateAbort> {
    // Tests run in a folder of mutmut's, which git would take for untracked files.
    if work.folder.join(".git").is_dir() {
        fs_err::create_dir(work.folder.join("mutants"))?;
        fs_err::write(work.folder.join("mutants/.git"), "gitdir: ../.git\n")?;
    }
    let file = work.folder.join("pyproject.toml");
    let old = if file.exists() {
        fs_err::read_to_string(&file)?
    } else {
        String::new()
    };
    let mut lines: Vec<&str> = Vec::new();
    let mut is_own = false;
    for line in old.lines() {
        let line_start = line.trim_start();
        is_own = line_start.starts_with("[tool.mutmut") || is_own && !line_start.starts_with('[');
        if !is_own {
            lines.push(line);
        }
    }
    let sources: BTreeSet<&str> = work
        .files
        .iter()
        .map(|file| {
            file.split_once('/')
                .map_or(file.as_str(), |(first, _)| first)
        })
        .collect();
    let others = fs_err::read_dir(&work.folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let others = others.collect::<std::io::Result<BTreeSet<String>>>()?;
    let copied: Value = others
        .iter()
        .map(String::as_str)
        .filter(|name| !sources.contains(name) && !NOT_COPIED.contains(name))
        .collect();
    let sources: Value = sources.iter().copied().collect();
    // A pattern that matches the path alone, for Python's fnmatch too.
    let patterns: Value = work
        .files
        .iter()
        .map(|file| globset::escape(file))
        .collect();
    // A JSON string is a TOML one.
    let own = format!(
        "{}\n[tool.mutmut]\nsource_paths = {sources}\nonly_mutate = {patterns}\nalso_copy = {copied}\npytest_add_cli_args_test_selection = {}\n",
        lines.join("\n"),
        Value::from(work.tests.clone()),
    );
    Ok(fs_err::write(&file, own)?)
}

/// Returns the result if tests failed, or did not exist, before anything was mutated.
fn not_green(call: &FinishedCall) -> Option<EngineMeasurement> {
    let output = &call.output;
    let red = [
        "failed to collect stats. runner returned",
        "Failed to run clean test",
        "Failed to collect list of tests",
    ];
    if output.contains("failed to collect stats. runner returned 5") {
        return Some(EngineMeasurement::NoTests);
    }
    if !red.iter().any(|words| output.contains(words)) {
        return None;
    }
    let mut names = failed_tests(output);
    if names.is_empty() {
        names = last_line(call);
    }
    Some(EngineMeasurement::Red(names))
}

/// The tests that pytest names as failed.
fn failed_tests(output: &str) -> Vec<String> {
    telling_lines(output, |line| {
        line.starts_with("FAILED ") || line.starts_with("ERROR ")
    })
}

fn no_verdict(work: &Work<'_>, call: &FinishedCall) -> GateAbort {
    work.no_verdict(ENGINE, call, &last_line(call), "python -m mutmut run")
}

/// The last line of an output that is not empty.
fn last_line(call: &FinishedCall) -> Vec<String> {
    let mut last = call.output.lines().rev().map(|line| text::line(line, 300));
    last.find(|line| !line.is_empty()).into_iter().collect()
}

const ENGINE: &str = "mutmut";

#[derive(Deserialize)]
struct Meta {
    exit_code_by_key: BTreeMap<String, Option<i64>>,
}

#[derive(Default, Deserialize)]
struct Spans {
    /// First and last line in mutmut's copy, from 1.
    spans: BTreeMap<String, (usize, usize)>,
}

#[derive(Default, Deserialize)]
struct MutmutStats {
    tests_by_mangled_function_name: BTreeMap<String, Vec<String>>,
}

/// The mutants of each file; where no test reaches any, none of them was checked.
pub(super) fn read_mutants(
    work: &Work<'_>,
    none_reached: bool,
) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let folder = work.folder.join("mutants");
    let stats: MutmutStats = work
        .read_json_results(ENGINE, &folder.join("mutmut-stats.json"))?
        .unwrap_or_default();
    let mut files = BTreeMap::new();
    for file in &work.files {
        let Some(Meta { exit_code_by_key }) =
            work.read_json_results(ENGINE, &folder.join(format!("{file}.meta")))?
        else {
            return Err(work.unclear_result(
                ENGINE,
                &format!("it left no results of {}", text::line(file, 300)),
            ));
        };
        let copies = Copies {
            source: source_lines(&work.folder.join(file)),
            copy: source_lines(&folder.join(file)),
            spans: work
                .read_json_results::<Spans>(ENGINE, &folder.join(format!("{file}.spans")))?
                .unwrap_or_default(),
        };
        let mut found = Vec::new();
        for (key, code) in exit_code_by_key {
            let status = if none_reached {
                Some(MutantStatus::NoCoverage)
            } else {
                code.and_then(exit_status)
            };
            let Some(status) = status else {
                return Err(work.unclear_result(ENGINE, "some mutants were not checked"));
            };
            let function = key
                .rsplit_once("__mutmut_")
                .map_or(key.as_str(), |(function, _)| function);
            let tests = stats
                .tests_by_mangled_function_name
                .get(function)
                .cloned()
                .unwrap_or_default();
            found.push(copies.read_mutant(&key, status, tests));
        }
        files.insert(file.clone(), found);
    }
    Ok(files)
}

/// Returns the status for an exit code of mutmut's child.
///
/// `None` if its check was interrupted.
fn exit_status(code: i64) -> Option<MutantStatus> {
    Some(match code {
        1 | 3 => MutantStatus::Killed,
        0 => MutantStatus::Survived,
        5 | 33 => MutantStatus::NoCoverage,
        36 | 24 | -24 | 152 | 255 => MutantStatus::TimedOut,
        37 => MutantStatus::NonViable,
        34 => MutantStatus::Unjudged,
        2 => return None,
        _ => MutantStatus::RunError,
    })
}

/// A file, and mutmut's copy of it, in which each mutant of a function is a function.
struct Copies {
    source: Vec<String>,
    copy: Vec<String>,
    spans: Spans,
}

impl Copies {
    /// `key`: `shop.price.x_net__mutmut_1`, of a method `shop.price.xǁCartǁtotal__mutmut_1`.
    fn read_mutant(&self, key: &str, status: MutantStatus, tests: Vec<String>) -> FileMutant {
        let name = key.rsplit('.').next().unwrap_or(key);
        let mangled = name
            .rsplit_once("__mutmut_")
            .map_or(name, |(function, _)| function);
        let function = match mangled.strip_prefix("xǁ") {
            Some(method) => method.replacen('ǁ', ".", 1),
            None => mangled.strip_prefix("x_").unwrap_or(mangled).to_owned(),
        };
        let own = function.rsplit('.').next().unwrap_or(&function);
        let original = format!("{mangled}__mutmut_orig");
        let before: Vec<String> = self
            .function_body(&original)
            .iter()
            .map(|line| line.replace(&original, own))
            .collect();
        let after: Vec<String> = self
            .function_body(name)
            .iter()
            .map(|line| line.replace(name, own))
            .collect();
        let differs = before
            .iter()
            .zip(&after)
            .position(|(before, after)| before != after);
        let at = differs.unwrap_or_else(|| before.len().min(after.len()).saturating_sub(1));
        // Blank lines and decorators above a function belong to its copy.
        let head = before
            .iter()
            .position(|line| defines_name(line, "def ", own))
            .unwrap_or(0);
        let class = function.rsplit_once('.').map(|(class, _)| class);
        let old = before.get(at).map_or("nothing", |line| line.trim());
        let new = after.get(at).map_or("nothing", |line| line.trim());
        FileMutant {
            id: key.to_owned(),
            line: u32::try_from((self.line_of(class, own) + at).saturating_sub(head))
                .unwrap_or(u32::MAX),
            function,
            mutator: "mutmut".to_owned(),
            description: format!("replaced `{old}` by `{new}`"),
            status,
            tests,
        }
    }

    /// The lines of a function in the copy.
    fn function_body(&self, name: &str) -> &[String] {
        let span = self.spans.spans.get(name).copied();
        let lines = span.and_then(|(first, last)| self.copy.get(first.checked_sub(1)?..last));
        lines.unwrap_or_default()
    }

    /// The line in the file on which a function begins, from 1; with several of its name the first of its class.
    fn line_of(&self, class: Option<&str>, function: &str) -> usize {
        let class = class.map_or(Some(0), |class| {
            self.source
                .iter()
                .position(|line| defines_name(line, "class ", class))
        });
        let from = class.unwrap_or(0);
        let below = self
            .source
            .iter()
            .skip(from)
            .position(|line| defines_name(line, "def ", function));
        from + below.unwrap_or(0) + 1
    }
}

/// True for a line that defines this function or class.
fn defines_name(line: &str, what: &str, name: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line
        .strip_prefix(what)
        .and_then(|rest| rest.trim_start().strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
