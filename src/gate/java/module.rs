//! One module, judged: build, run, second runs.
//!
//! A module whose tests did not compile, whose targets made no class files or whose report is
//! not whole has no score; a test that fails or ends its JVM is the family's fault only when it is a target's own or the
//! family changed it.

use super::base_score::{Base, build_base, set_base_scores};
use super::changed_tests;
use super::class_file::{ClassFile, source_of};
use super::classes::{is_java, read_file};
use super::context::ModuleContext;
use super::jvm;
use super::maven::{GRADLE_COMMAND, Maven};
use super::package::PackageContext;
use super::report::{PitReport, top_level};
use crate::config;
use crate::gate::files::is_older;
use crate::gate::scope::{BuildTool, Module, TargetClass};
use crate::gate::verdict::ModuleResult;
use crate::gate::{Build, GateAbort};
use crate::mutation::TracePhase;
use crate::source::{text, top_types};
use crate::sys::clock::Stopwatch;
use memchr::memmem;
use std::collections::BTreeMap;
use std::path::Path;

/// Beginnings of the names of PIT's classes and of those of ralph's plugin.
const PIT: [&str; 4] = ["org/pitest", "org.pitest", "ralph/pit", "ralph.pit"];

/// Builds a module and judges it. An error ended the judging of its targets.
pub(crate) fn judge_module(
    context: &PackageContext<'_>,
    module: &Module,
    result: &mut ModuleResult,
) -> Result<(), GateAbort> {
    let name = context.module_label(&module.dir);
    if module.tool == BuildTool::Gradle && context.settings.classpath_command.is_none() {
        let gate = &context.request.name;
        return Err(GateAbort::setup(
            format!(
                "{} is built by Gradle, and gates.{gate}.classpath_command does not say how.",
                text::module_subject(&context.package.name, &module.dir)
            ),
            format!(
                "Write `{GRADLE_COMMAND}` below gates.{gate} (gradle where there is no wrapper)."
            ),
        ));
    }
    module.check_committed(context.package)?;
    let maven = &Maven::find_command(context, module)?;
    result.remarks.extend(maven.ignored_wrapper());
    (context.ports.progress)(&format!("Compiling {name}"));
    let watch = Stopwatch::start();
    let built = maven.build_module();
    let phase = built.as_ref().map(|(_, phase)| *phase);
    let (phase, note) = phase.unwrap_or(("compile", ""));
    result.trace.phases.push(TracePhase {
        module: text::module_path(&context.package.name, &module.dir),
        name: phase.to_owned(),
        millis: watch.millis(),
        note: note.to_owned(),
    });
    let (built, _) = &built.map_err(|abort| blame_build_failure(context, module, abort))?;
    let folders = built
        .class_folders()
        .into_iter()
        .map(Path::to_owned)
        .collect();
    let build = Build::of_folders(built.key.clone(), folders)?;
    context.ports.checkouts.note_build(&build);
    let of_code = built.for_module(module, &context.package.root);
    let Some(built) = &of_code else {
        return judge_in_own_module(context, module, result);
    };
    let judged = ModuleContext::new(maven, built)?.score_module(result);
    if !matches!(judged, Err(GateAbort::Error { .. })) {
        context
            .ports
            .checkouts
            .written_files(&context.package.root, true)?;
    }
    if !build.is_current() {
        let why = format!("Class files of {name} were changed while they were judged.");
        let hint = "See that no test writes there and nothing else builds in this package meanwhile, then run the gate again.";
        return Err(GateAbort::setup(why, hint));
    }
    judged
}

/// Judges classes in the module that has them, since the tests of this one do not run for them. What these tests killed at the
/// base is part of the score to keep.
fn judge_in_own_module(
    context: &PackageContext<'_>,
    module: &Module,
    result: &mut ModuleResult,
) -> Result<(), GateAbort> {
    result.remarks.push(format!(
        "The tests of {} are in another module ({}) and do not run for it.",
        text::names(module.targets.iter().map(|target| target.class.as_str()), 3),
        context.module_label(&module.dir)
    ));
    let packages = context.request.packages.iter();
    let mut changes = packages.flat_map(|package| &package.changes);
    // Changes of Java files alone do not change the class path.
    if changes.any(|change| !is_java(Path::new(&change.path.to_text()))) {
        set_base_scores(context, module, result)?;
    }
    let mut own = Module {
        dir: module.code.clone(),
        targets: Vec::new(),
        ..module.clone()
    };
    for target in &module.targets {
        let findings = context.findings(module, &target.class).clone();
        if !findings.is_judged {
            own.targets.push(target.clone());
            continue;
        }
        if !findings.mutants.is_empty() {
            // The score to keep may have grown since.
            let report = PitReport {
                classes: BTreeMap::from([(target.class.clone(), findings)]),
                ..PitReport::default()
            };
            result.add_scores(std::slice::from_ref(target), &report, context.package);
        }
    }
    if own.targets.is_empty() {
        return Ok(());
    }
    judge_module(context, &own, result)
}

/// Whose fault it is that a module does not compile: in a clean checkout also that of files which git does
/// not hold, and then what was there before the family's work does not compile there either.
fn blame_build_failure(
    context: &PackageContext<'_>,
    module: &Module,
    abort: GateAbort,
) -> GateAbort {
    let is_clean = context.settings.folder == config::GateFolder::Clean;
    let in_place = format!(
        "If the build needs files that git does not hold, name them under gates.{0}.keep, or set gates.{0}.where: in-place.",
        context.request.name
    );
    match abort {
        GateAbort::Error {
            why,
            hint,
            transient: false,
        } if is_clean => GateAbort::setup(why, format!("{hint} {in_place}")),
        GateAbort::Fail { reasons } => match build_base(context, module) {
            Ok(Base::Absent | Base::Built(_)) => GateAbort::Fail { reasons },
            Ok(Base::Unusable(why)) => GateAbort::setup(
                format!(
                    "{} In a clean checkout the commit before the task's first attempt does not build either: {why}",
                    text::line(&reasons.join(" "), 1_500)
                ),
                in_place,
            ),
            Err(abort) => abort,
        },
        abort @ GateAbort::Error { .. } => abort,
    }
}

impl ModuleContext<'_> {
    /// Targets to their scores; tests alone if there is nothing to mutate.
    fn score_module(&self, result: &mut ModuleResult) -> Result<(), GateAbort> {
        if self.built.project.hides_errors {
            let module = self.module_label();
            return Err(self.blame_build(
                format!("The POM of {module} lets code pass that does not compile."),
                "Take failOnError out of the configuration of maven-compiler-plugin.",
            ));
        }
        self.check_doubles()?;
        self.check_who_names_pit()?;
        self.check_unjudged_production()?;
        let targets = &self.module.targets;
        if !targets.is_empty() {
            let jdk = jvm::jdk_version(&self.find_java()?);
            for target in targets {
                self.check_class_file(target, jdk.as_deref())?;
            }
            let report = self.measure_targets(result)?;
            result.add_scores(targets, &report, self.context.package);
        }
        if result.judged.is_empty() {
            (self.context.ports.progress)(&format!(
                "Running the changed tests of {}",
                self.module_label()
            ));
            changed_tests::run_changed_tests(self)?;
        }
        Ok(())
    }

    /// No class of the tests may have the name of a production class: it would be judged in its place.
    fn check_doubles(&self) -> Result<(), GateAbort> {
        let mut tests = self.tests().keys();
        let double =
            tests.find(|class| self.production().contains_key(*class) && !class.ends_with("-info"));
        let Some(double) = double else {
            return Ok(());
        };
        Err(GateAbort::fail(format!(
            "The tests of {} have classes with the names of production classes, so that nothing can be judged: {}.",
            self.module_label(),
            double.replace('/', ".")
        )))
    }

    /// No changed file may be production code for the build and not for the gate: its mutants would never be made.
    ///
    /// The build knows its source directories. A class file names its source file and its package, so it belongs to a
    /// changed file in a directory that ends with the package.
    fn check_unjudged_production(&self) -> Result<(), GateAbort> {
        let sources = Path::new(&self.built.project.sources);
        for (class, bytes) in self.production() {
            let source = source_of(Path::new(class), bytes)
                .unwrap_or_else(|| Path::new(top_level(class)).with_extension("java"));
            let changed = self.module.unplaced.iter().map(Path::new);
            for path in changed.filter(|path| path.ends_with(&source)) {
                // The same name below the known sources explains the class file.
                let known = fs_err::canonicalize(sources.join(&source)).ok();
                let own = fs_err::canonicalize(self.context.package.root.join(path)).ok();
                if known.is_none() || known == own {
                    return Err(self.blame_build(
                        format!(
                            "The build of {} makes production classes from {}, and this gate judges only what is below src/main/java.",
                            self.module_label(),
                            text::line(&path.display().to_string(), 400)
                        ),
                        "Move this code below src/main/java, or judge it by a command of your own (gates.<NAME>.run).",
                    ));
                }
            }
        }
        Ok(())
    }

    /// No class may name PIT or ralph's plugin for it: it could ask which mutant runs.
    fn check_who_names_pit(&self) -> Result<(), GateAbort> {
        let accountable_tests = self.accountable_tests();
        let all = self.classes.iter().flatten();
        let asking = all
            .filter(|(_, bytes)| {
                PIT.iter()
                    .any(|name| memmem::find(bytes, name.as_bytes()).is_some())
            })
            .map(|(class, _)| top_level(class).replace('/', "."));
        let Some(class) = asking.min_by_key(|class| !accountable_tests.contains(class)) else {
            return Ok(());
        };
        let why =
            format!("{class} names PIT (org.pitest): it could ask whether it is being mutated.");
        let hint = "Take it out of the code and its tests, or judge them by a command of your own (gates.<NAME>.run).";
        Err(if accountable_tests.contains(&class) {
            GateAbort::fail(why)
        } else {
            GateAbort::setup(why, hint)
        })
    }

    /// A target must have a class file that was made from the target's own source.
    fn check_class_file(&self, target: &TargetClass, jdk: Option<&str>) -> Result<(), GateAbort> {
        let name = target.class.replace('.', "/");
        let bytes = self.production().get(&name);
        let Some(ClassFile {
            java,
            class,
            source: Some(source),
            ..
        }) = bytes.and_then(|bytes| ClassFile::parse(bytes))
        else {
            return Err(self.blame_build(
                format!(
                    "The build of {} makes no class file for {} that names its source file.",
                    self.module_label(),
                    target.class
                ),
                "Look in the build file for other source folders, excluded sources, or -g:none.",
            ));
        };
        if let Some(jdk) = jdk.filter(|jdk| is_older(jdk, (java, 0))) {
            let why = format!(
                "{} is compiled for Java {java}, and PIT runs on JDK {jdk}.",
                target.class
            );
            return Err(self.blame_build(why, "Set JAVA_HOME to the JDK that the build uses."));
        }
        let file = self.context.package.root.join(target.path.to_text());
        let compiled = Path::new(&self.built.project.sources).join(format!("{name}.java"));
        // The language lets a file declare types of any package.
        let is_own = class == name && top_types(&read_file(&file)?).contains(&name);
        let made_from = if !is_own || file.file_name().is_none_or(|own| own != source.as_str()) {
            format!("the class {} in {source}", class.replace('/', "."))
        } else if let Ok(real) = fs_err::canonicalize(&compiled)
            && fs_err::canonicalize(&file).ok() != Some(real)
        {
            let inside = compiled.strip_prefix(&self.maven.home);
            inside.unwrap_or(&compiled).display().to_string()
        } else {
            return Ok(());
        };
        Err(GateAbort::fail(format!(
            "The class file of {} was made from {}, not from {}.",
            target.class,
            text::line(&made_from, 600),
            target.full_path()
        )))
    }
}
