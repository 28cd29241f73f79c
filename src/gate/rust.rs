//! cargo-mutants (27 and later) over Rust.
//!
//! Settings are ralph's own: neither .cargo/mutants.toml nor an attribute leaves code out, and no lint of the project refuses a
//! mutant. What counts are the outcomes that it keeps, never its exit code alone, which is 0 without any mutant too. Nothing that
//! an earlier build left is reused.
//!
//! cargo-mutants keeps `mutants.json`, all that it means to test, then `outcomes.json`, the result of each. Results that are absent, cut,
//! too large or of another shape are an error; so is a mutant that was not tested.

use crate::gate::commands::{FinishedCall, read_text};
use crate::gate::files::{
    EngineMeasurement, FileEngine, FileLanguage, FileMutant, SourceSpan, Work, installed_version,
    literal_pattern, source_lines, telling_lines,
};
use crate::gate::{GateAbort, GatePackage, job_count};
use crate::machine::facts::ProcessEnd;
use crate::mutation::MutantStatus;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes that are read of a log.
const MAX_LOG: u64 = 16 << 20;
/// Lines of a file that are named to it.
const MOST_LINES: usize = 2_000;
/// Arguments of each run; a number of jobs follows.
const ARGUMENTS: &str = "mutants --in-place --no-config --cap-lints=true --colors=never --annotations=none \
    --minimum-test-timeout=20 --jobserver-tasks";
/// Files of cargo's settings.
const SETTINGS: [&str; 2] = [".cargo/config.toml", ".cargo/config"];
/// Keys in them that name programs, and the escape that can spell them in another way.
const PROGRAMS: [&str; 7] = [
    "runner", "wrapper", "alias", "rustc", "rustdoc", "linker", "\\",
];
const INSTALL: &str = "Run `cargo install cargo-mutants --locked`.";
/// Older versions were never tried.
const OLDEST: (u32, u32) = (27, 0);

const RUST: FileLanguage = FileLanguage {
    name: "Rust",
    extensions: &["rs"],
    builds: &["Cargo.toml"],
    tests: &[],
    installed: &[],
    outputs: &["mutants.out", "mutants.out.old"],
    // An attribute's path may have blanks and comments between its tokens.
    hides: &[(
        r"\bmutants((?:\s|/\*(?s:.*?)\*/|//[^\n]*\n)*::(?:\s|/\*(?s:.*?)\*/|//[^\n]*\n)*(?:skip|exclude_re)\b)",
        "rustfmt$1",
    )],
    // In two parts, so that this file is not one that names it.
    tells: &[concat!("changed by ", "cargo-mutants")],
};

pub(crate) struct CargoMutants;

impl FileEngine for CargoMutants {
    fn file_language(&self) -> &'static FileLanguage {
        &RUST
    }

    fn measure_work(&self, work: &Work<'_>) -> Result<EngineMeasurement, GateAbort> {
        check_version(work)?;
        let above = workspace_path(work)?;
        let results = work.output.join("mutants.out");
        let engine = find_engine(work)?;
        let call = start_engine(
            work,
            "cargo-mutants",
            engine,
            &engine_arguments(work, &above),
        )?;
        match call.end {
            ProcessEnd::Exited { code: 0 | 2 | 3 } => {}
            ProcessEnd::Exited { code: 4 } => {
                let log = read_text(&results.join("log/baseline.log"), MAX_LOG);
                return failure_causes(&log)
                    .map(EngineMeasurement::Red)
                    .ok_or_else(|| no_verdict(work, &call, &log));
            }
            _ => return Err(no_verdict(work, &call, &call.output)),
        }
        let files = read_outcomes(&results, work, &above)?;
        // Without a mutant it runs no test.
        if files.is_empty() {
            work.tests_alone(self)
        } else {
            Ok(EngineMeasurement::Mutants(files))
        }
    }

    fn engine_name(&self) -> &'static str {
        ENGINE
    }

    /// Cargo's own settings can name programs that replace the tests and decide which mutants die.
    fn refuse_package(&self, package: &GatePackage) -> Option<GateAbort> {
        let mut changed = package.changes.iter().filter(|change| {
            let path = change.path.to_text();
            SETTINGS.iter().any(|name| Path::new(&path).ends_with(name))
        });
        changed.find_map(|change| {
            let text = read_text(&package.root.join(change.path.to_text()), MAX_LOG);
            let key = PROGRAMS.iter().find(|key| text.contains(**key))?;
            Some(GateAbort::fail(format!(
                "{} was changed and holds `{key}`: settings of cargo that name programs can make mutants look killed.",
                change.full_path()
            )))
        })
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let call = run_cargo(work, "cargo-test", &["test".to_owned()])?;
        match call.end {
            ProcessEnd::Exited { code: 0 } => Ok(true),
            ProcessEnd::Exited { .. } if failure_causes(&call.output).is_some() => Ok(false),
            _ => Err(no_verdict(work, &call, &call.output)),
        }
    }
}

/// It mutates the copy itself, one mutant after the other, so that each build reuses the one before.
fn engine_arguments(work: &Work<'_>, above: &str) -> Vec<String> {
    let mut all: Vec<String> = ARGUMENTS.split(' ').map(str::to_owned).collect();
    all.extend([
        job_count(work.settings).to_string(),
        "--output".to_owned(),
        work.output.display().to_string(),
    ]);
    for file in &work.files {
        all.extend([
            "--file".to_owned(),
            literal_pattern(&format!("{above}{file}")),
        ]);
        // Its names of mutants begin with file and line.
        if !work.lines.is_empty() {
            all.extend(["--re".to_owned(), mutants_of(work, file, above)]);
        }
    }
    all
}

/// A pattern for the names of the mutants of a file that count: on its lines, unless they are very many.
fn mutants_of(work: &Work<'_>, file: &str, above: &str) -> String {
    let path: Vec<String> = format!("{above}{file}")
        .chars()
        .map(|c| format!("\\x{{{:x}}}", u32::from(c)))
        .collect();
    let path = path.concat();
    let ranges = work.lines.get(file).map_or(&[][..], Vec::as_slice);
    let lines = ranges
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .map(|line| format!("{line}:"));
    let lines: Vec<String> = lines.take(MOST_LINES + 1).collect();
    let lines = if lines.len() > MOST_LINES {
        String::new()
    } else {
        lines.join("|")
    };
    format!("^{path}:(?:{lines})")
}

/// The program cargo-mutants itself: `cargo mutants` may be an alias in the package.
fn find_engine(work: &Work<'_>) -> Result<String, GateAbort> {
    let homes = [("CARGO_HOME", "bin"), ("HOME", ".cargo/bin")];
    let installed = homes.iter().filter_map(|(home, inside)| {
        let home = work.commands.variable_value(home)?;
        Some(Path::new(home).join(inside).join(ENGINE)).filter(|file| file.is_file())
    });
    let engine = work
        .commands
        .find_program(ENGINE)
        .into_iter()
        .chain(installed)
        .next();
    let Some(engine) = engine else {
        return Err(GateAbort::setup(
            format!("{ENGINE} is not installed."),
            INSTALL,
        ));
    };
    work.check_place(ENGINE, &engine)?;
    Ok(engine.display().to_string())
}

/// Runs cargo in the module, with a target folder next to the copy.
fn run_cargo(work: &Work<'_>, name: &str, arguments: &[String]) -> Result<FinishedCall, GateAbort> {
    start_engine(work, name, "cargo".to_owned(), arguments)
}

fn start_engine(
    work: &Work<'_>,
    name: &str,
    program: String,
    arguments: &[String],
) -> Result<FinishedCall, GateAbort> {
    let argv = std::iter::once(program)
        .chain(arguments.iter().cloned())
        .collect();
    let target = work.output.join("target");
    // Cargo gives tests `<target>/tmp` as `CARGO_TARGET_TMPDIR`. The gate checks the files that tests leave there.
    let temporary = target.join("tmp");
    if fs_err::symlink_metadata(&temporary).is_err() {
        fs_err::create_dir_all(&target)?;
        fs_err::os::unix::fs::symlink(work.place.temp_folder(), temporary)?;
    }
    let target = target.display().to_string();
    let variables = [
        ("CARGO_TARGET_DIR", target.as_str()),
        ("CARGO_TERM_COLOR", "never"),
    ];
    work.run_in_module(name, argv, &variables)
}

fn check_version(work: &Work<'_>) -> Result<(), GateAbort> {
    if work.commands.find_program("cargo").is_none() {
        let why = format!(
            "No cargo is on the PATH, so {} cannot be built.",
            work.label
        );
        return Err(GateAbort::setup(why, "Install Rust (https://rustup.rs)."));
    }
    let arguments = ["mutants", "--version"].map(str::to_owned);
    let call = start_engine(work, "version", find_engine(work)?, &arguments)?;
    installed_version(&call, ENGINE, "", OLDEST, INSTALL)
}

/// The module's folder in its Cargo workspace, from which cargo-mutants names files: empty, or with a `/` at its end.
fn workspace_path(work: &Work<'_>) -> Result<String, GateAbort> {
    let arguments =
        ["locate-project", "--workspace", "--message-format", "plain"].map(str::to_owned);
    let call = run_cargo(work, "locate-project", &arguments)?;
    let manifest = call
        .output
        .lines()
        .map(PathBuf::from)
        .find(|path| path.is_absolute());
    let Some(manifest) = manifest.filter(|_| call.end == ProcessEnd::Exited { code: 0 }) else {
        return Err(no_verdict(work, &call, &call.output));
    };
    let (root, own) = (
        fs_err::canonicalize(manifest)?,
        fs_err::canonicalize(&work.folder)?,
    );
    let inside = root.parent().and_then(|root| own.strip_prefix(root).ok());
    let inside = inside.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    Ok(if inside.is_empty() {
        inside
    } else {
        inside + "/"
    })
}

/// Returns the failures of the project itself.
///
/// `None` if its code and its tests passed.
fn failure_causes(log: &str) -> Option<Vec<String>> {
    let is_red = log.lines().any(|line| {
        line.starts_with("error: test failed") || line.starts_with("error: could not compile")
    });
    if !is_red {
        return None;
    }
    Some(telling_lines(log, |line| {
        line.starts_with("test ") && line.ends_with(" FAILED")
            || line.starts_with("error[")
            || line.starts_with("error: ")
    }))
}

fn no_verdict(work: &Work<'_>, call: &FinishedCall, log: &str) -> GateAbort {
    let errors = telling_lines(log, |line| {
        ["error", "ERROR", "Error"]
            .iter()
            .any(|word| line.starts_with(word))
    });
    work.no_verdict("cargo", call, &errors, "cargo mutants")
}

const ENGINE: &str = "cargo-mutants";

const NOT_TESTED: &str = "some mutants were not tested";

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<CargoOutcome>,
}

#[derive(Deserialize)]
struct CargoOutcome {
    scenario: Scenario,
    summary: CargoSummary,
}

#[derive(Deserialize)]
enum Scenario {
    Baseline,
    Mutant(CargoMutant),
}

#[derive(Deserialize)]
enum CargoSummary {
    Success,
    CaughtMutant,
    MissedMutant,
    Unviable,
    Failure,
    Timeout,
}

#[derive(Deserialize)]
struct CargoMutant {
    name: String,
    /// From the root of the Cargo workspace.
    file: String,
    function: Option<Function>,
    span: SourceSpan,
    replacement: String,
    genre: String,
}

#[derive(Deserialize)]
struct Function {
    function_name: String,
}

/// The mutants of each file of the module that has some; `above` is its folder in the Cargo workspace.
pub(super) fn read_outcomes(
    folder: &Path,
    work: &Work<'_>,
    above: &str,
) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let all: Vec<IgnoredAny> = read_json(&folder.join("mutants.json"), work)?;
    let mut files: BTreeMap<String, Vec<FileMutant>> = BTreeMap::new();
    if all.is_empty() {
        return Ok(files);
    }
    let Outcomes { outcomes } = read_json(&folder.join("outcomes.json"), work)?;
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for CargoOutcome { scenario, summary } in outcomes {
        let Scenario::Mutant(mutant) = scenario else {
            continue;
        };
        let status =
            mutant_status(&summary).ok_or_else(|| work.unclear_result(ENGINE, NOT_TESTED))?;
        let Some(file) = mutant.file.strip_prefix(above).map(str::to_owned) else {
            continue;
        };
        let lines = sources
            .entry(file.clone())
            .or_insert_with(|| source_lines(&work.folder.join(&file)));
        let found = mutant.into_file_mutant(status, lines);
        files.entry(file).or_default().push(found);
    }
    let tested: usize = files.values().map(Vec::len).sum();
    if tested == all.len() {
        Ok(files)
    } else {
        Err(work.unclear_result(ENGINE, NOT_TESTED))
    }
}

fn mutant_status(summary: &CargoSummary) -> Option<MutantStatus> {
    match summary {
        CargoSummary::CaughtMutant => Some(MutantStatus::Killed),
        CargoSummary::MissedMutant => Some(MutantStatus::Survived),
        CargoSummary::Timeout => Some(MutantStatus::TimedOut),
        CargoSummary::Unviable => Some(MutantStatus::NonViable),
        CargoSummary::Success | CargoSummary::Failure => None,
    }
}

fn read_json<T: DeserializeOwned>(path: &Path, work: &Work<'_>) -> Result<T, GateAbort> {
    work.read_json_results(ENGINE, path)?
        .ok_or_else(|| work.unclear_result(ENGINE, "it left no results"))
}

impl CargoMutant {
    fn into_file_mutant(self, status: MutantStatus, lines: &[String]) -> FileMutant {
        FileMutant {
            line: self.span.start.line,
            function: self
                .function
                .map_or_else(String::new, |function| function.function_name),
            mutator: self.genre,
            description: self.span.describe_change(lines, &self.replacement),
            id: self.name,
            status,
            tests: Vec::new(),
        }
    }
}
