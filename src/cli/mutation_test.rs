//! `ralph mutation-test`: how good the tests of a target are, without a loop and without git. It changes nothing.

use super::inspect::engines::{is_on_path, version_in, virtual_environments};
use super::own_files::ensure_is_not_own;
use super::ui::StatusLine;
use super::{
    Exit, Fault, FaultKind, Invocation, Workspace, base_environment, cache_folder, ensure_that, ui,
};
use crate::engine::{CacheFolder, private_folder};
use crate::gate::mutation_test::{
    MutationEngine, TestRequest, engine_environment, keep_score, measure_target, withheld_variables,
};
use crate::gate::reads_mutmut;
use crate::report::mutation_test::{Envelope, Options, TargetMeasurement, ToolRefusal};
use crate::source::Secrets;
use crate::sys::clock;
use crate::sys::itself::{close_to_others, own_program};
use crate::sys::process::{Supervisor, is_inside_agent};
use crate::sys::signals::Interrupts;
use crate::sys::walk::{DirEntry, walk};
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Depth of the search for engines below the folder, and most files and folders read.
const DEPTH: usize = 3;
const MOST: usize = 20_000;

/// Flags of `mutation-test`.
#[derive(Clone, Debug, Default, Args)]
pub struct MutationTestArgs {
    /// A file or folder inside the current folder, or the dotted name of a class
    #[arg(default_value = "", hide_default_value = true)]
    pub target: String,
    /// Seconds after which all is ended, 10 to 14400 [default: 600]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = parse_number)]
    pub timeout: Option<Value>,
    /// Survivors that are listed, 1 to 500 [default: 20]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_number)]
    pub max_survivors: Option<Value>,
    /// mutmut, pit, stryker, cargo-mutants or cosmic-ray; by the target's language when left out
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// Write mutation.html, which a browser shows, and mutation.json (mutation-testing-report-schema) into this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Do not keep the score for `ralph report --weeks`
    #[arg(long)]
    pub no_history: bool,
    /// Measure nothing: 0 if an engine is installed here and its scores may be told, else 1
    #[arg(long)]
    pub can_run: bool,
    /// End when standard input is closed, as when the caller dies
    #[arg(long)]
    pub while_open: bool,
}

/// Accepts text that is no number.
///
/// The answer refuses it like a number out of range.
fn parse_number(text: &str) -> Result<Value, std::convert::Infallible> {
    text.parse::<u64>()
        .map(Value::from)
        .or_else(|_| Ok(text.into()))
}

/// Caller of a mutation test, and its wait for the answer.
pub(super) struct Caller<'a> {
    pub(super) call: &'a Invocation,
    pub(super) inside_agent: bool,
    pub(super) interrupts: Interrupts,
    pub(super) progress: &'a (dyn Fn(&str) + Sync),
}

pub(super) fn mutation_test(call: &Invocation, args: &MutationTestArgs) -> Result<Exit, Fault> {
    let inside_agent = is_inside_agent()?;
    close_to_others()?;
    let interrupts = Interrupts::install()?;
    if args.can_run {
        return can_run(call, inside_agent);
    }
    if args.while_open {
        let interrupts = interrupts.clone();
        std::thread::spawn(move || {
            // Closed or broken: either way the caller is gone.
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            interrupts.interrupt();
        });
    }
    let report = args
        .report
        .as_deref()
        .map(std::path::absolute)
        .transpose()?;
    if let Some(folder) = &report {
        ensure_is_not_own(call, &folder.join("mutation.json"))?;
    }
    let asked = MutationTestArgs {
        report,
        ..args.clone()
    };
    let status = StatusLine::new(call.json);
    let caller = Caller {
        call,
        inside_agent,
        interrupts,
        progress: &|text| status.set_text(text),
    };
    let (answer, most) = asked.answer_request(&caller);
    status.set_text("");
    if let Some(signal) = caller.interrupts.first() {
        return Ok(Exit::Signal(signal));
    }
    let envelope = Envelope::of(&answer, most);
    match (&envelope, call.json) {
        (_, true) => ui::print_json(&envelope),
        (Envelope::Success(success), false) => {
            success
                .answer_lines()
                .iter()
                .for_each(|line| ui::print_line(line));
        }
        (Envelope::Failure(failure), false) => {
            let tails = [&failure.partial_stdout_tail, &failure.partial_stderr_tail];
            tails
                .into_iter()
                .flatten()
                .for_each(|tail| ui::print_note(tail));
            ui::print_error(&failure.error, &failure.remediation);
        }
    }
    Ok(answer.map_or_else(
        |why| {
            if why.is_usage {
                Exit::Usage
            } else {
                Exit::NoVerdict
            }
        },
        |_| Exit::Done,
    ))
}

/// Answers a host that is about to offer the tool.
fn can_run(call: &Invocation, inside_agent: bool) -> Result<Exit, Fault> {
    let workspace = call.read_settings(call.find_anywhere()?)?.into_sound()?;
    let is_told = scores_may_be_told(inside_agent, &workspace).is_ok();
    Ok(
        if is_told && !installed_engines(&call.start_folder()?).is_empty() {
            Exit::Done
        } else {
            Exit::WorkLeft
        },
    )
}

impl MutationTestArgs {
    /// The answer, and how many survivors it lists.
    pub(super) fn answer_request(
        &self,
        caller: &Caller<'_>,
    ) -> (Result<TargetMeasurement, ToolRefusal>, usize) {
        match Options::read_options(self.timeout.as_ref(), self.max_survivors.as_ref()) {
            Ok(options) => (
                self.measure_target(caller, options.timeout),
                options.survivors,
            ),
            Err(refusal) => (Err(refusal), 1),
        }
    }

    fn measure_target(
        &self,
        caller: &Caller<'_>,
        timeout: Duration,
    ) -> Result<TargetMeasurement, ToolRefusal> {
        let Caller {
            call,
            inside_agent,
            interrupts,
            progress,
        } = caller;
        let engine = self
            .engine
            .as_deref()
            .map(MutationEngine::find_by_name)
            .transpose()?;
        let folder = call.start_folder()?;
        let workspace = call.read_settings(call.find_anywhere()?)?.into_sound()?;
        scores_may_be_told(*inside_agent, &workspace)
            .map_err(|fault: Fault| ToolRefusal::unknown_refusal(fault.what, fault.hint))?;
        let settings = workspace.settings.gates.get("PITEST").cloned();
        let settings =
            settings.ok_or_else(|| Fault::setup_fault("There is no gate PITEST.", "add it"))?;
        let classifier = workspace.file_classifier()?;
        let cache = cache_folder()?;
        private_folder(&cache).map_err(Fault::from)?;
        let own = CacheFolder::temporary_folder(&cache).map_err(Fault::from)?;
        let all = base_environment();
        let spawn = Supervisor::new(own_program(), Some(interrupts.clone()));
        let work = own.path_of("mutation-test");
        let mut measured = measure_target(
            &TestRequest {
                folder: &folder,
                target: &self.target,
                engine,
                timeout,
                report: self.report.as_deref(),
                settings: &settings,
                classifier: &classifier,
                work: &work,
                cache: &cache,
                tag: &own.path_of("").display().to_string(),
                env: &engine_environment(&all),
                withheld: &withheld_variables(&all),
                secrets: &Secrets::of(all.iter().map(|(name, value)| (name, value))),
            },
            &spawn,
            progress,
        )?;
        if !self.no_history {
            let kept = keep_score(
                &cache,
                &workspace.places.workspace,
                &measured,
                clock::now().as_second(),
            );
            let why = kept
                .err()
                .map(|why| format!("The score was not kept for `ralph report --weeks`: {why}."));
            measured.remarks.extend(why);
        }
        Ok(measured)
    }
}

/// Inside an attempt of a loop only where a person allowed it.
pub(super) fn scores_may_be_told(inside_agent: bool, workspace: &Workspace) -> Result<(), Fault> {
    ensure_that(
        !inside_agent || workspace.settings.mcp.scores,
        "Scores and survivors are not told inside an attempt of a loop: tests written for a score are not better tests.",
        "Continue with the task. Its gate judges the commit. A maintainer allows it with `mcp: {scores: true}` in .ralph/config.yaml.",
    )
}

impl From<Fault> for ToolRefusal {
    fn from(fault: Fault) -> Self {
        let is_usage = fault.kind == FaultKind::Setup;
        Self {
            is_usage,
            ..Self::unknown_refusal(fault.to_string(), fault.hint)
        }
    }
}

/// The engines that are installed for the folder, or for one of those near it.
pub(super) fn installed_engines(folder: &Path) -> Vec<MutationEngine> {
    let below = walk(folder, DEPTH, MOST, |found: &DirEntry| {
        let name = found.file_name().to_string_lossy();
        !name.starts_with('.') && name != "node_modules" && name != "target"
    })
    .flatten()
    .filter(|found| found.file_type().is_dir());
    let folders: Vec<PathBuf> = std::iter::once(folder.to_owned())
        .chain(below.map(DirEntry::into_path))
        .collect();
    let any = |name: &str| folders.iter().any(|folder| folder.join(name).exists());
    // Only a version that ralph can read counts.
    let has_installed = |program: &str, package: &str, reads: &dyn Fn(&str) -> bool| {
        virtual_environments(&folders).any(|environment| {
            let is_there = environment.join("bin").join(program).exists();
            is_there && version_in(&environment, package).is_some_and(|version| reads(&version))
        })
    };
    MutationEngine::ALL
        .into_iter()
        .filter(|engine| match engine {
            MutationEngine::Mutmut => {
                is_on_path("mutmut") || has_installed("mutmut", "mutmut", &reads_mutmut)
            }
            MutationEngine::CosmicRay => has_installed("cosmic-ray", "cosmic_ray", &|_| true),
            MutationEngine::Pit => {
                any("pom.xml") && is_on_path("java") && (is_on_path("mvn") || any("mvnw"))
            }
            MutationEngine::Stryker => any("node_modules/.bin/stryker") && is_on_path("node"),
            MutationEngine::CargoMutants => {
                any("Cargo.toml") && is_on_path("cargo") && is_on_path("cargo-mutants")
            }
        })
        .collect()
}

/// True for `ralph mutation-test --json …`, which answers wrong flags in JSON too.
pub(super) fn is_asked_for_json() -> bool {
    let typed: Vec<_> = std::env::args_os().skip(1).collect();
    let has = |word: &str| typed.iter().any(|typed| typed == word);
    let names_format = typed
        .windows(2)
        .any(|pair| pair[0] == "--format" && pair[1] == "json");
    has("mutation-test") && (has("--json") || has("--format=json") || names_format)
}

/// The answer to a command line that could not be read.
pub(super) fn print_usage_error(error: &str) {
    let first = error
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let refusal = ToolRefusal::usage_refusal(
        format!("{first}."),
        "`ralph mutation-test --help` lists what it takes.",
    );
    ui::print_json(&Envelope::of(&Err(refusal), 1));
}
