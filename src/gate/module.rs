//! One module, judged: build, run, second looks.
//!
//! Owns: the order of the steps for a module and whose fault each trouble is (docs/design.md "Verdict").
//!
//! Promises: a module whose tests did not compile, whose targets made no class files or whose report is
//! not whole has no score; a red or deadly test is the family's fault only when it is a target's own or the
//! family changed it.
//!
//! Refuses to know: how Maven and PIT are called, the order of verdicts.

use super::base::{Base, base};
use super::calls::Calls;
use super::changed_tests;
use super::maven::{Built, How, Maven, Trouble, Unbuilt, shown};
use super::outcome::Outcome;
use super::pit::RedTest;
use super::report::Owners;
use super::scope::{BuildTool, JavaPath, Module, Target};
use super::{Build, GatePackage, GateRequest, Hands, Stop, maven_engine, test_classes, words};
use crate::config::{self, GateEngine, GateSettings};
use crate::mutation::TracePhase;
use crate::sys::clock::Stopwatch;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes that are read of a source file.
const MAX_SOURCE: u64 = 4 << 20;

/// What a lane needs to judge a module.
pub(crate) struct Bench<'a> {
    /// The request.
    pub(crate) request: &'a GateRequest,
    /// The gate's settings.
    pub(crate) settings: &'a GateSettings,
    /// The package.
    pub(crate) package: &'a GatePackage,
    /// Test sources of the package.
    pub(crate) tests: &'a BTreeSet<String>,
    /// The lane's calls.
    pub(crate) calls: &'a Calls<'a>,
    /// PIT's threads.
    pub(crate) threads: usize,
    /// No other module has targets.
    pub(crate) sole_module: bool,
    /// What it may use of the outside.
    pub(crate) hands: &'a Hands<'a>,
}

impl<'a> Bench<'a> {
    /// Maven in the package's folder, here or in another checkout.
    pub(crate) fn maven(&self, root: &Path) -> Result<Maven<'a>, Stop> {
        Maven::find(self.calls, &self.package.name, root, self.settings, &self.request.cache)
    }
}

/// Judges a module.
pub(crate) fn judge(bench: &Bench<'_>, module: &Module) -> Outcome {
    let mut outcome = Outcome::default();
    if let Err(stop) = steps(bench, module, &mut outcome) {
        if matches!(stop, Stop::Fail { .. }) {
            outcome.failing.extend(module.targets.iter().map(Target::full_path));
        }
        outcome.stops.push(stop);
    }
    outcome
}

fn steps(bench: &Bench<'_>, module: &Module, outcome: &mut Outcome) -> Result<(), Stop> {
    let name = format!("{}/{}", bench.package.name, shown(&module.dir));
    if module.tool == BuildTool::Gradle {
        return Err(Stop::setup(
            format!("Module {name} is built by Gradle, which this gate cannot measure."),
            "Configure gates.<NAME>.run with the command that judges it.",
        ));
    }
    clean(bench, module)?;
    let maven = bench.maven(&bench.package.root)?;
    (bench.hands.progress)(&format!("Compiling {name}"));
    let (built, build) = compile(bench, module, &maven, outcome)?;
    let judged = score(bench, module, &maven, &built, outcome);
    if !build.stands() {
        return Err(Stop::passing(
            format!("Class files of {name} were changed while they were judged."),
            "See that nothing else builds or writes in this package meanwhile, then run the gate again.",
        ));
    }
    judged
}

/// Compiles the module, unless its outputs stand there already.
fn compile(
    bench: &Bench<'_>,
    module: &Module,
    maven: &Maven<'_>,
    outcome: &mut Outcome,
) -> Result<(Built, Build), Stop> {
    let watch = Stopwatch::start();
    let trees = bench.hands.trees;
    let built = maven.build(bench.calls, &module.dir, trees);
    let (name, note) = built.as_ref().map_or(("compile", ""), |(_, how)| how.told());
    outcome.trace.phases.push(TracePhase {
        module: format!("{}/{}", bench.package.name, shown(&module.dir)),
        name: name.to_owned(),
        millis: watch.millis(),
        note: note.to_owned(),
    });
    let (built, how) = match built {
        Ok(done) => done,
        Err(Unbuilt::Stop(stop)) => return Err(stop),
        Err(Unbuilt::Trouble(trouble)) => return Err(unbuilt(bench, module, trouble)),
    };
    let folders = built.class_folders().into_iter().map(Path::to_owned).collect();
    let build = Build::of(built.key.clone(), folders, how == How::Recompiled)?;
    trees.built(&build);
    Ok((built, build))
}

/// Whose fault it is that a module does not compile: in a clean checkout also that of files which git does
/// not hold, and then what was there before the family's work does not compile there either.
fn unbuilt(bench: &Bench<'_>, module: &Module, trouble: Trouble) -> Stop {
    let clean = bench.settings.place == config::Place::Clean;
    let stop = trouble.stop(&bench.package.name, &module.dir, module.build_changed);
    let in_place = format!(
        "If the build needs files that git does not hold, name them under gates.{0}.keep, or set gates.{0}.where: in-place.",
        bench.request.name
    );
    match stop {
        Stop::Error { why, hint, transient: false } if clean => {
            Stop::Error { why, hint: format!("{hint} {in_place}"), transient: false }
        }
        Stop::Fail { reasons } if clean => match base_builds(bench, module) {
            Ok(true) => Stop::Fail { reasons },
            Ok(false) => Stop::setup(
                format!(
                    "{} In a clean checkout the commit before the task's first attempt does not build either.",
                    words::line(&reasons.join(" "), 1_500)
                ),
                in_place,
            ),
            Err(stop) => stop,
        },
        stop => stop,
    }
}

/// True when the module compiled before the family's first attempt, or was not there.
fn base_builds(bench: &Bench<'_>, module: &Module) -> Result<bool, Stop> {
    match base(bench, &module.dir)? {
        Base::Absent | Base::Built(_) => Ok(true),
        Base::Broken => Ok(false),
        Base::Unreachable(why) => Err(Stop::setup(
            format!(
                "The state before the task could not be checked out, so nobody knows whether it compiled: {why}"
            ),
            "Mend this, or set gates.<NAME>.where: in-place.",
        )),
    }
}

/// Targets to their scores; tests alone where there is nothing to mutate.
fn score(
    bench: &Bench<'_>,
    module: &Module,
    maven: &Maven<'_>,
    built: &Built,
    outcome: &mut Outcome,
) -> Result<(), Stop> {
    let name = format!("{}/{}", bench.package.name, shown(&module.dir));
    if !module.targets.is_empty() {
        let place = Place { bench, module, maven, built, home: home(&bench.package.root, &module.dir) };
        place.check_classes()?;
        let parsed = match bench.settings.engine {
            GateEngine::Maven => maven_engine::measure(&place, outcome)?,
            GateEngine::Direct | GateEngine::Command(_) => place.measure(outcome)?,
        };
        let empty = outcome.take(&module.targets, &parsed);
        outcome.tell_sources(&place.sources());
        if parsed.is_bare {
            outcome.nothing.extend(empty.iter().map(|target| target.without_mutants()));
        } else {
            place.second_look(&empty, outcome)?;
        }
    }
    if outcome.judged.is_empty() && outcome.stops.is_empty() {
        (bench.hands.progress)(&format!("Running the changed tests of {name}"));
        changed_tests::pass(bench, module, maven)?;
    }
    Ok(())
}

/// Target files, and the tests that judge them, must be as committed.
fn clean(bench: &Bench<'_>, module: &Module) -> Result<(), Stop> {
    let dirt: BTreeSet<String> = bench.package.dirt.iter().map(crate::source::RepoPath::to_text).collect();
    let judged = module
        .targets
        .iter()
        .flat_map(|target| std::iter::once(target.path.to_text()).chain(target.tests.iter().cloned()));
    let dirty: BTreeSet<String> = judged.filter(|path| dirt.contains(path)).collect();
    if dirty.is_empty() {
        return Ok(());
    }
    Err(Stop::setup(
        format!(
            "Files of package {} that are to be judged differ from HEAD: {}.",
            bench.package.name,
            words::names(dirty.iter().map(String::as_str), 5)
        ),
        "Commit or undo these changes, then run the gate again.",
    ))
}

/// A module's folder in its package's.
pub(crate) fn home(root: &Path, dir: &str) -> PathBuf {
    if dir.is_empty() { root.to_owned() } else { root.join(dir) }
}

/// A module that compiled, on its way to a score.
pub(crate) struct Place<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) module: &'a Module,
    pub(crate) maven: &'a Maven<'a>,
    pub(crate) built: &'a Built,
    pub(crate) home: PathBuf,
}

impl Place<'_> {
    /// Each target must have a class file.
    fn check_classes(&self) -> Result<(), Stop> {
        let classes = PathBuf::from(&self.built.project.classes);
        let file = |target: &&Target| classes.join(format!("{}.class", target.class.replace('.', "/")));
        let missing: Vec<&str> = self
            .module
            .targets
            .iter()
            .filter(|target| !file(target).is_file())
            .map(|target| target.class.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        self.fault(
            format!(
                "The build of module {} makes no class file for {}.",
                self.label(),
                words::names(missing, 5)
            ),
            "Look in the POM for other source folders or excluded sources.",
        )
    }

    /// Compiled test classes; none where sources exist is a build that skips its tests.
    pub(crate) fn test_classes(&self) -> Result<BTreeSet<String>, Stop> {
        let tests = test_classes::find(&self.built.project, &self.home);
        let root = if self.module.dir.is_empty() { String::new() } else { format!("{}/", self.module.dir) };
        let below = format!("{root}src/test/java/");
        let has_sources = self.bench.tests.iter().any(|test| test.starts_with(&below));
        if tests.is_empty() && has_sources {
            self.fault(
                format!(
                    "The build of module {} makes no test classes although it has test sources.",
                    self.label()
                ),
                "Look in the POM and in .mvn for maven.test.skip or a skipped testCompile.",
            )?;
        }
        Ok(tests)
    }

    /// The family's fault when it changed a build file, else a wrong set-up.
    fn fault(&self, why: String, hint: &str) -> Result<(), Stop> {
        Err(if self.module.build_changed { Stop::fail(why) } else { Stop::setup(why, hint) })
    }

    /// The lines of the targets' source files, by `<package>/<path>`.
    fn sources(&self) -> BTreeMap<String, Vec<String>> {
        let read = |target: &Target| {
            let file = fs_err::File::open(self.bench.package.root.join(target.path.to_text())).ok()?;
            let mut bytes = Vec::new();
            file.take(MAX_SOURCE).read_to_end(&mut bytes).ok()?;
            let lines = String::from_utf8_lossy(&bytes).lines().map(|line| words::line(line, 160)).collect();
            Some((target.full_path(), lines))
        };
        self.module.targets.iter().filter_map(read).collect()
    }

    /// `<package>/<folder>` for messages.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.bench.package.name, shown(&self.module.dir))
    }

    /// The classes to mutate: targets, and other classes of their source files.
    pub(crate) fn owners(&self) -> Owners {
        let mut owners = Owners::new();
        for target in &self.module.targets {
            owners.insert(target.class.clone(), target.class.clone());
            if let Some(java) = JavaPath::read(&target.path.to_text()) {
                for class in test_classes::second_classes(&self.built.project, &java.folder, &java.stem) {
                    owners.entry(class).or_insert_with(|| target.class.clone());
                }
            }
        }
        owners
    }

    /// Dotted names of the targets' own tests and of the tests that the family changed.
    pub(crate) fn answerable(&self) -> BTreeSet<String> {
        let own = self.module.targets.iter().flat_map(|target| target.tests.iter().cloned());
        let changed = self.bench.package.changes.iter().map(|change| change.path.to_text());
        own.chain(changed)
            .filter_map(|path| JavaPath::read(&path).filter(|java| java.test)?.class())
            .collect()
    }

    /// A folder of this module below the gate's folder: `<what>/<package>[/<module>]`.
    pub(crate) fn folder(&self, what: &str) -> PathBuf {
        let folder = self.bench.request.folder.join(what).join(folder_name(&self.bench.package.name));
        if self.module.dir.is_empty() { folder } else { folder.join(folder_name(&self.module.dir)) }
    }
}

/// A failure when a red test is among those that are answered for.
pub(crate) fn blame(answerable: &BTreeSet<String>, red: &[RedTest]) -> Result<(), Stop> {
    let guilty: Vec<&RedTest> = red.iter().filter(|test| answerable.contains(&test.class)).collect();
    if guilty.is_empty() {
        return Ok(());
    }
    let told =
        guilty.iter().take(10).map(|test| format!("The test {} fails without any mutation.", test.name));
    Err(Stop::Fail { reasons: told.collect() })
}

/// A name as one path component.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    name.chars().map(plain).collect()
}
