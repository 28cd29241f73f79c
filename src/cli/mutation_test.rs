//! `ralph mutation-test`: how good the tests of a target are, without a loop and without git. It changes nothing.

use super::inspect::engines::{environments, is_on_path, version_in};
use super::ui::StatusLine;
use super::{Exit, Fault, FaultKind, Invocation, Workspace, cache_folder, environment, ui};
use crate::engine::{CacheFolder, private_folder};
use crate::gate::mutation_test::{Engine, TestRequest, engine_environment, keep_score, test};
use crate::gate::reads_mutmut;
use crate::report::mutation_test::{Envelope, Measured, Options, Refusal};
use crate::source::Secrets;
use crate::sys::clock;
use crate::sys::process::{Supervisor, close_to_others, is_inside_agent};
use crate::sys::signals::Interrupts;
use crate::sys::walk::{DirEntry, walk};
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Folders below the folder in which engines are looked for, and files and folders that are looked at.
const DEPTH: usize = 3;
const MOST: usize = 20_000;

/// Flags of `mutation-test`.
#[derive(Debug, Args)]
pub struct MutationTestArgs {
    /// A file or folder inside the current folder, or the dotted name of a class
    pub target: String,
    /// Seconds after which all is ended, 10 to 14400 [default: 600]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// Survivors that are listed, 1 to 500 [default: 20]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_survivors: Option<String>,
    /// mutmut, pit, stryker, cargo-mutants or cosmic-ray; by the target's language when left out
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// Write mutation.html, which a browser shows, and mutation.json (mutation-testing-report-schema) into this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Do not keep the score for `ralph history`
    #[arg(long)]
    pub no_history: bool,
}

/// What is asked, as it was typed or as a tool's caller wrote it.
pub(super) struct Question {
    pub(super) target: String,
    pub(super) timeout: Option<Value>,
    pub(super) survivors: Option<Value>,
    pub(super) engine: Option<String>,
    pub(super) report: Option<PathBuf>,
    /// The score is kept for `ralph history`.
    pub(super) is_kept: bool,
}

/// `ralph mutation-test`.
pub(super) fn mutation_test(call: &Invocation, args: &MutationTestArgs) -> Result<Exit, Fault> {
    let inside = is_inside_agent()?;
    close_to_others()?;
    let interrupts = Interrupts::install()?;
    let number = |text: &String| text.parse::<u64>().map_or_else(|_| text.as_str().into(), Value::from);
    let question = Question {
        target: args.target.clone(),
        timeout: args.timeout.as_ref().map(number),
        survivors: args.max_survivors.as_ref().map(number),
        engine: args.engine.clone(),
        report: args.report.as_deref().map(std::path::absolute).transpose()?,
        is_kept: !args.no_history,
    };
    let status = StatusLine::new(call.json);
    let (answer, most) = question.answer(call, inside, &interrupts, &|text| status.set(text));
    status.set("");
    if let Some(signal) = interrupts.first() {
        return Ok(Exit::Signal(signal));
    }
    let envelope = Envelope::of(&answer, most);
    match (&envelope, call.json) {
        (_, true) => ui::json(&envelope),
        (Envelope::Success(success), false) => success.lines().iter().for_each(|line| ui::line(line)),
        (Envelope::Failure(failure), false) => {
            let tails = [&failure.partial_stdout_tail, &failure.partial_stderr_tail];
            tails.into_iter().flatten().for_each(|tail| ui::note(tail));
            ui::error(&failure.error, &failure.remediation);
        }
    }
    Ok(answer.map_or_else(|why| if why.is_usage { Exit::Usage } else { Exit::NoVerdict }, |_| Exit::Done))
}

impl Question {
    /// The answer, and how many survivors it lists.
    pub(super) fn answer(
        &self,
        call: &Invocation,
        inside_agent: bool,
        interrupts: &Interrupts,
        progress: &(dyn Fn(&str) + Sync),
    ) -> (Result<Measured, Refusal>, usize) {
        let options = match Options::read(self.timeout.as_ref(), self.survivors.as_ref()) {
            Ok(options) => options,
            Err(refusal) => return (Err(refusal), 1),
        };
        let answer = self.measure(call, &options, inside_agent, interrupts, progress);
        (answer, options.survivors)
    }

    fn measure(
        &self,
        call: &Invocation,
        options: &Options,
        inside_agent: bool,
        interrupts: &Interrupts,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Measured, Refusal> {
        let engine = self.engine.as_deref().map(Engine::named).transpose()?;
        let folder = call.folder()?;
        let workspace = call.read(call.find_anywhere()?)?.sound()?;
        scores_may_be_told(inside_agent, &workspace).map_err(|(what, hint)| Refusal::unknown(what, hint))?;
        let settings = workspace.settings.gates.get("PITEST").cloned();
        let settings = settings.ok_or_else(|| Fault::setup("There is no gate PITEST.", "add it"))?;
        let classifier = workspace.classifier()?;
        let cache = cache_folder()?;
        private_folder(&cache).map_err(Fault::from)?;
        let own = CacheFolder::temporary(&cache).map_err(Fault::from)?;
        let all = environment();
        let spawn = Supervisor::new(PathBuf::from("/proc/self/exe"), Some(interrupts.clone()));
        let work = own.at("mutation-test");
        let mut measured = test(
            &TestRequest {
                folder: &folder,
                target: &self.target,
                engine,
                timeout: options.timeout,
                report: self.report.as_deref(),
                settings: &settings,
                classifier: &classifier,
                work: &work,
                cache: &cache,
                tag: &own.at("").display().to_string(),
                env: &engine_environment(&all),
                secrets: &Secrets::of(all.iter().map(|(name, value)| (name, value))),
            },
            &spawn,
            progress,
        )?;
        if self.is_kept {
            let kept = keep_score(&cache, &workspace.places.workspace, &measured, clock::now().as_second());
            let why = kept.err().map(|why| format!("The score was not kept for `ralph history`: {why}."));
            measured.remarks.extend(why);
        }
        Ok(measured)
    }
}

/// Inside an attempt of a loop only where a person allowed it; else what to say, and what to do.
pub(super) fn scores_may_be_told(
    inside_agent: bool,
    workspace: &Workspace,
) -> Result<(), (&'static str, &'static str)> {
    if !inside_agent || workspace.settings.mcp.scores {
        return Ok(());
    }
    Err((
        "Scores and survivors are not told inside an attempt of a loop: tests written for a score are not better tests.",
        "Go on with the task; its gate judges the commit. A person allows it with `mcp: {scores: true}` in .ralph/config.yaml.",
    ))
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let is_usage = fault.kind == FaultKind::Setup;
        Self { is_usage, ..Self::unknown(fault.to_string(), fault.hint) }
    }
}

/// The engines that are installed for the folder, or for one of those near it.
pub(super) fn engines(folder: &Path) -> Vec<Engine> {
    let enter = |found: &DirEntry| {
        let name = found.file_name().to_string_lossy();
        !name.starts_with('.') && name != "node_modules" && name != "target"
    };
    let below = walk(folder, DEPTH, MOST, enter).flatten().filter(|found| found.file_type().is_dir());
    let folders: Vec<PathBuf> =
        std::iter::once(folder.to_owned()).chain(below.map(DirEntry::into_path)).collect();
    let any = |name: &str| folders.iter().any(|folder| folder.join(name).exists());
    // Of a version that is known to be of use.
    let has_installed = |program: &str, package: &str, reads: &dyn Fn(&str) -> bool| {
        environments(&folders).any(|environment| {
            let is_there = environment.join("bin").join(program).exists();
            is_there && version_in(&environment, package).is_some_and(|version| reads(&version))
        })
    };
    let is_there = |engine: &Engine| match engine {
        Engine::Mutmut => is_on_path("mutmut") || has_installed("mutmut", "mutmut", &reads_mutmut),
        Engine::CosmicRay => has_installed("cosmic-ray", "cosmic_ray", &|_| true),
        Engine::Pit => any("pom.xml") && is_on_path("java") && (is_on_path("mvn") || any("mvnw")),
        Engine::Stryker => any("node_modules/.bin/stryker") && is_on_path("node"),
        Engine::CargoMutants => any("Cargo.toml") && is_on_path("cargo") && is_on_path("cargo-mutants"),
    };
    Engine::ALL.into_iter().filter(is_there).collect()
}
