//! A mutation test outside of a gate: one target, by its language's engine, in any state of git (docs/mutation-test.md).
//!
//! Promises: an engine works in a private copy of the folder and never in the folder itself; uncommitted changes are judged too;
//! a target that is another one afterwards, a time-out, a module without a verdict and tests that fail by themselves give no score;
//! nothing outlives the call.

mod environment;
mod scores;
mod target;
mod window;

pub use super::engine::MutationEngine;
pub use environment::{FORWARD, engine_environment, withheld_variables};
pub use scores::{keep_score, kept_scores};

use super::files;
use super::java::JAVA;
use super::scope::GateScope;
use super::verdict::{EngineResult, ModuleResult};
use super::{GateAbort, GatePackage, GatePorts, GateRequest, NoCheckouts, standard_report};
use crate::config::{GateEngine, GateFolder, GateSettings, NoCoverage, Per, ScopeKind, TestTiers};
use crate::machine::facts::{FileChange, FileStatus, ProcessEnd};
use crate::mutation::Tally;
use crate::report::mutation_test::{TargetMeasurement, ToolRefusal};
use crate::source::{Classifier, Kind, RepoPath, Secrets, text};
use crate::sys::Spawn;
use crate::sys::clock::Stopwatch;
use crate::sys::poison::ignore_poison;
use crate::sys::walk::{MAX_DEPTH, MAX_ENTRIES, walk};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use target::TestedPath;
use window::{ProcessOutput, Window};

/// Request to measure one target.
pub struct TestRequest<'a> {
    /// The folder that holds the target: a real path.
    pub folder: &'a Path,
    /// The engine; `None` selects that of the target's language.
    pub target: &'a str,
    /// The engine; that of the target's language if `None`.
    pub engine: Option<MutationEngine>,
    /// All processes together are ended past it.
    pub timeout: Duration,
    /// Settings of Java's build and of PIT.
    pub settings: &'a GateSettings,
    /// Separates tests from production code.
    pub classifier: &'a Classifier,
    /// Folder for `mutation.json` and `mutation.html`, if they are wanted.
    pub report: Option<&'a Path>,
    /// An empty private folder for the copy, the logs and the reports.
    pub work: &'a Path,
    /// Ralph's cache folder.
    pub cache: &'a Path,
    /// Marks the processes.
    pub tag: &'a str,
    /// From [`engine_environment`].
    pub env: &'a [(String, String)],
    /// From [`withheld_variables`].
    pub withheld: &'a [String],
    /// Texts that never leave the process.
    pub secrets: &'a Secrets,
}

/// Measures the target.
///
/// # Errors
/// Why there is no answer.
pub fn measure_target(
    request: &TestRequest<'_>,
    spawn: &dyn Spawn,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<TargetMeasurement, ToolRefusal> {
    let target = TestedPath::find_target(request.folder, request.target)?;
    let (engine, files) = request.choose_engine(&target)?;
    let watch = Stopwatch::start();
    let env: Vec<(String, String)> = environment::python_path(request.env, request.folder)
        .into_iter()
        .collect();
    let is_joined = engine == MutationEngine::Pit;
    let window = Window {
        inner: spawn,
        is_joined,
        env: &env,
        last: Mutex::default(),
        version: Mutex::default(),
    };
    let ports = GatePorts {
        spawn: &window,
        progress,
        checkouts: &NoCheckouts,
    };
    let mut judging = request.judge_files(engine, &files, &ports);
    let printed = ignore_poison(window.last.into_inner());
    let version = ignore_poison(window.version.into_inner());
    if !target.is_there() {
        return Err(ToolRefusal::unknown_refusal(
            "The target was replaced while it was measured, so the result was discarded.",
            "See that nothing writes there meanwhile, then try again.",
        ));
    }
    let files = standard_report::files_of(&mut judging.results);
    let answer = EngineResultContext {
        request,
        target,
        engine,
        version,
        printed,
        millis: watch.millis(),
    };
    let measured = answer.read_result(judging)?;
    if let Some(folder) = request.report {
        let title = format!("Mutation test of {}", answer.target.path);
        standard_report::write_report(folder, &files, 100, Some(&title)).map_err(|error| {
            let why = format!("The report cannot be written: {error}.");
            answer.refuse_with(&why, "Name another folder.")
        })?;
    }
    Ok(measured)
}

impl TestRequest<'_> {
    /// The engine, and the production files of the target that it mutates.
    fn choose_engine(
        &self,
        target: &TestedPath,
    ) -> Result<(MutationEngine, Vec<String>), ToolRefusal> {
        let files = target.target_files()?;
        let mut found: Vec<(MutationEngine, Vec<String>)> = Vec::new();
        let mut languages = Vec::new();
        for engine in MutationEngine::ALL {
            let is_selected = match self.engine {
                Some(only) => only == engine,
                None => engine.gate_name().is_some(),
            };
            if !is_selected {
                continue;
            }
            let language = engine.file_language();
            languages.push(language.name);
            let mut sources = files.clone();
            sources.retain(|file| {
                language.is_source(file)
                    && self.classifier.kind_of(file.as_bytes()) == Kind::Production
            });
            if !sources.is_empty() {
                found.push((engine, sources));
            }
        }
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(_), false) => Err(ToolRefusal::usage_refusal(
                "The target holds files of several languages.",
                "Name a smaller target, or an engine: mutmut, pit, stryker or cargo-mutants.",
            )),
            (None, _) => {
                let path = text::line(&target.path, 300);
                let languages = languages.join(", ");
                Err(ToolRefusal::usage_refusal(
                    format!(
                        "There is no production code in {path} that can be mutated ({languages})."
                    ),
                    "Name a source file, or a folder that holds some; tests are not mutated.",
                ))
            }
        }
    }

    fn judge_files(
        &self,
        engine: MutationEngine,
        files: &[String],
        ports: &GatePorts<'_>,
    ) -> EngineResult {
        let settings = GateSettings {
            threshold: 100,
            per: Per::Class,
            no_coverage: NoCoverage::Survived,
            engine: GateEngine::Direct,
            limit: self.timeout,
            scope: ScopeKind::Class,
            folder: GateFolder::InPlace,
            keep: Vec::new(),
            ..self.settings.clone()
        };
        let mut package = self.target_package(files);
        if engine != MutationEngine::Pit {
            // The score is that of all tests.
            let settings = GateSettings {
                tests: TestTiers::All,
                ..settings
            };
            return engine.judge_changes(&self.gate_request(package), &settings, ports);
        }
        let copy = self.work.join("copy").join(&package.name);
        (ports.progress)("Copying the folder");
        let copied = files::copy_package(&package, "", &JAVA, &copy);
        if let Err(abort) = copied.and_then(|_| without_outputs(&copy)) {
            return EngineResult {
                scope: GateScope::refuse_all(abort),
                ..EngineResult::default()
            };
        }
        package.root = copy;
        engine.judge_changes(&self.gate_request(package), &settings, ports)
    }

    /// Returns the folder as a package with the target's files as changes.
    fn target_package(&self, files: &[String]) -> GatePackage {
        let name = self
            .folder
            .file_name()
            .map_or_else(|| "folder".into(), |name| name.to_string_lossy());
        let mut changes = Vec::new();
        for file in files {
            changes.push(FileChange {
                package: name.clone().into_owned(),
                path: RepoPath::from_bytes(file.as_bytes()),
                status: FileStatus::Modified,
                kind: Kind::Production,
                old: None,
                new: None,
            });
        }
        GatePackage {
            name: name.into_owned(),
            root: self.folder.to_owned(),
            home: self.folder.to_owned(),
            changes,
            ..GatePackage::default()
        }
    }

    fn gate_request(&self, package: GatePackage) -> GateRequest {
        GateRequest {
            name: "mutation-test".to_owned(),
            packages: vec![package],
            // A file without a test of its own is measured too.
            no_tests_written: true,
            confirms: true,
            folder: self.work.join("run"),
            cache: self.cache.to_owned(),
            tag: self.tag.to_owned(),
            env: self.env.to_vec(),
            ..GateRequest::default()
        }
    }
}

/// Knowledge after an engine has ended.
struct EngineResultContext<'a> {
    request: &'a TestRequest<'a>,
    target: TestedPath,
    engine: MutationEngine,
    version: String,
    printed: Option<ProcessOutput>,
    millis: u64,
}

impl EngineResultContext<'_> {
    fn read_result(&self, judging: EngineResult) -> Result<TargetMeasurement, ToolRefusal> {
        let EngineResult {
            mut scope,
            results,
            used,
        } = judging;
        let is_late = self
            .printed
            .as_ref()
            .is_some_and(|last| matches!(last.end, ProcessEnd::TimedOut { .. }));
        let mut all = ModuleResult {
            aborts: std::mem::take(&mut scope.aborts),
            ..ModuleResult::default()
        };
        for result in results {
            all.join_result(result);
        }
        if let Some(abort) = all.aborts.first() {
            let late = is_late || used >= self.request.timeout;
            return Err(if late {
                self.over_time()
            } else {
                self.of_abort(abort)
            });
        }
        if let Some(left) = scope.left_out.first() {
            let why = format!("{} is not measured: {}.", left.file, left.why);
            return Err(self.refuse_with(&why, "Name another target."));
        }
        let java = all
            .trace
            .tiers
            .iter()
            .map(|tier| tier.engine.as_str())
            .find(|engine| !engine.is_empty());
        let version = java.unwrap_or(&self.version).to_owned();
        let mut tally = Tally::default();
        all.judged
            .iter()
            .for_each(|judged| tally.join(&judged.score.tally));
        let mut living: Vec<_> = all
            .judged
            .into_iter()
            .flat_map(|judged| judged.survivors)
            .collect();
        living.sort_by_cached_key(|alive| {
            let name = alive.mutant.name();
            (alive.path.clone(), alive.mutant.line, name.len(), name)
        });
        for survivor in &mut living {
            survivor.source = self.redact_text(&survivor.source);
            survivor.mutant.description = self.redact_text(&survivor.mutant.description);
        }
        let exit_code = self.printed.as_ref().and_then(|last| match last.end {
            ProcessEnd::Exited { code } => Some(code),
            _ => None,
        });
        Ok(TargetMeasurement {
            target: self.target.path.clone(),
            engine: self.engine.caller_name(),
            version,
            exit_code,
            tally,
            living,
            remarks: all
                .remarks
                .iter()
                .map(|remark| self.redact_text(remark))
                .collect(),
            stdout: self
                .printed
                .as_ref()
                .map_or_else(String::new, |last| self.redact_text(&last.stdout)),
            millis: self.millis,
        })
    }

    fn over_time(&self) -> ToolRefusal {
        let seconds = self.request.timeout.as_secs();
        let why = format!(
            "The engine ran over the time-out of {seconds} s, and was ended with all that it had started."
        );
        self.refuse_with(
            &why,
            "Name a smaller target, or a longer timeout (at most 14400).",
        )
    }

    fn of_abort(&self, abort: &GateAbort) -> ToolRefusal {
        match abort {
            GateAbort::Fail { reasons } => self.refuse_with(
                &reasons.join(" "),
                "Fix what is named, so that the tests pass without any mutation, then try again.",
            ),
            GateAbort::Error { why, hint, .. } => self.refuse_with(why, hint),
        }
    }

    fn refuse_with(&self, why: &str, hint: &str) -> ToolRefusal {
        let streams = self.printed.as_ref();
        let all = streams.map_or_else(String::new, |last| {
            [why, &last.stdout, &last.stderr].join("\n")
        });
        let TestRequest {
            env,
            withheld,
            folder,
            ..
        } = *self.request;
        let advice = environment::missing_variable_advice(&all, withheld);
        let advice = advice.or_else(|| environment::python_path_advice(&all, env, folder));
        let hint = advice.unwrap_or_else(|| hint.to_owned());
        let printed = streams.map(|last| {
            (
                self.redact_text(&last.stdout),
                self.redact_text(&last.stderr),
            )
        });
        ToolRefusal {
            printed,
            ..ToolRefusal::unknown_refusal(self.without_work(why), self.without_work(&hint))
        }
    }

    /// Returns a text without the path of the private folder and without secrets.
    fn without_work(&self, text: &str) -> String {
        let work = self.request.work.display().to_string();
        self.redact_text(&text.replace(&work, "…"))
    }

    fn redact_text(&self, text: &str) -> String {
        self.request.secrets.redact(text)
    }
}

/// Removes what Maven made before.
fn without_outputs(copy: &Path) -> Result<(), GateAbort> {
    for found in walk(copy, MAX_DEPTH, MAX_ENTRIES, |folder| {
        folder.file_name() != "target"
    }) {
        let found = found?;
        let target = found.path().with_file_name("target");
        if found.file_name() == "pom.xml" && target.is_dir() {
            fs_err::remove_dir_all(target)?;
        }
    }
    Ok(())
}
