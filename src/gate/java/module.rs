//! One module, judged: build, run, second runs.
//!
//! A module whose tests did not compile, whose targets made no class files or whose report is
//! not whole has no score; a test that fails or ends its JVM is the family's fault only when it is a target's own or the
//! family changed it.

use super::base_score::{Base, build_base};
use super::changed_tests;
use super::class_file::{self, Origin};
use super::classes::{class_files, class_names, read_class};
use super::context::ModuleContext;
use super::coverage_map::top_level;
use super::jvm;
use super::maven::{GRADLE_COMMAND, Maven, MavenTrouble};
use super::package::PackageContext;
use crate::config;
use crate::gate::files::is_older;
use crate::gate::scope::{BuildTool, Module, MutationExtent, TargetClass};
use crate::gate::verdict::ModuleResult;
use crate::gate::{Build, GateAbort};
use crate::mutation::TracePhase;
use crate::source::text;
use crate::sys::clock::Stopwatch;
use std::collections::BTreeSet;
use std::path::Path;

/// Beginnings of the names of PIT's classes and of those of ralph's plugin.
const PIT: [&[u8]; 4] = [b"org/pitest", b"org.pitest", b"ralph/pit", b"ralph.pit"];
/// On each method that Lombok made, if the project asks for it.
const LOMBOK: &[u8] = b"Llombok/Generated;";

pub(crate) fn judge_module(context: &PackageContext<'_>, module: &Module) -> ModuleResult {
    let mut result = ModuleResult::default();
    if let Err(abort) = build_and_score(context, module, &mut result) {
        result.stop_targets(abort, &module.targets);
    }
    result
}

fn build_and_score(
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
    let maven = &Maven::find_command(context, &context.package.root, module)?;
    result.remarks.extend(maven.ignored_wrapper());
    if module.tool == BuildTool::Maven && context.settings.classpath_command.is_some() {
        let gate = &context.request.name;
        result.remarks.push(format!(
            "{} has a pom.xml, so Maven builds it and gates.{gate}.classpath_command is not used.",
            text::module_subject(&context.package.name, &module.dir)
        ));
    }
    (context.ports.progress)(&format!("Compiling {name}"));
    let watch = Stopwatch::start();
    let built = maven.build_module();
    let (phase, note) = match &built {
        Ok(Ok((_, phase))) => *phase,
        _ => ("compile", ""),
    };
    result.trace.phases.push(TracePhase {
        module: text::module_path(&context.package.name, &module.dir),
        name: phase.to_owned(),
        millis: watch.millis(),
        note: note.to_owned(),
    });
    let (built, _) = &built?.map_err(|trouble| blame_build_failure(context, module, trouble))?;
    let folders = built
        .class_folders()
        .into_iter()
        .map(Path::to_owned)
        .collect();
    let build = Build::of_folders(built.key.clone(), folders)?;
    context.ports.checkouts.note_build(&build);
    let of_code = built.for_module(module, &context.package.root);
    let Some(built) = &of_code else {
        let classes = text::names(module.targets.iter().map(|target| target.class.as_str()), 3);
        result.remarks.push(format!(
            "The tests of {classes} are in another module ({name}) and do not run for it."
        ));
        return build_and_score(
            context,
            &Module {
                dir: module.code.clone(),
                ..module.clone()
            },
            result,
        );
    };
    let judged = ModuleContext {
        context,
        module,
        maven,
        built,
    }
    .score_module(result);
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

/// Whose fault it is that a module does not compile: in a clean checkout also that of files which git does
/// not hold, and then what was there before the family's work does not compile there either.
fn blame_build_failure(
    context: &PackageContext<'_>,
    module: &Module,
    trouble: MavenTrouble,
) -> GateAbort {
    let clean = context.settings.folder == config::GateFolder::Clean;
    let abort = trouble.into_abort(&context.package.name, &module.dir, module.build_changed);
    let in_place = format!(
        "If the build needs files that git does not hold, name them under gates.{0}.keep, or set gates.{0}.where: in-place.",
        context.request.name
    );
    match abort {
        GateAbort::Error {
            why,
            hint,
            transient: false,
        } if clean => GateAbort::Error {
            why,
            hint: format!("{hint} {in_place}"),
            transient: false,
        },
        GateAbort::Fail { reasons } if clean => match build_base(context, module) {
            Ok(Base::Absent | Base::Built(_)) => GateAbort::Fail { reasons },
            Ok(Base::Broken) => GateAbort::setup(
                format!(
                    "{} In a clean checkout the commit before the task's first attempt does not build either.",
                    text::line(&reasons.join(" "), 1_500)
                ),
                in_place,
            ),
            Ok(Base::Unreachable(why)) => GateAbort::setup(
                format!(
                    "The state before the task could not be checked out, so it is unknown whether it compiled: {why}"
                ),
                "Fix this, or set gates.<NAME>.where: in-place.",
            ),
            Err(abort) => abort,
        },
        abort => abort,
    }
}

impl ModuleContext<'_> {
    /// Targets to their scores; tests alone if there is nothing to mutate.
    fn score_module(&self, result: &mut ModuleResult) -> Result<(), GateAbort> {
        self.check_doubles()?;
        self.check_who_names_pit()?;
        self.check_unjudged_production()?;
        let targets = &self.module.targets;
        if !targets.is_empty() {
            self.check_classes()?;
            let report = self.measure_targets(result)?;
            let empty = result.add_scores(targets, &report, self.context.package);
            result
                .nothing
                .extend(empty.iter().map(|target| self.without_mutants(target)));
        }
        if result.judged.is_empty() && result.aborts.is_empty() {
            (self.context.ports.progress)(&format!(
                "Running the changed tests of {}",
                self.module_label()
            ));
            changed_tests::run_changed_tests(self)?;
        }
        Ok(())
    }

    /// The name of a target that has nothing to mutate, and why if that is known.
    fn without_mutants(&self, target: &TargetClass) -> String {
        let class = read_class(Path::new(&self.built.project.classes), &target.class);
        let is_of_lombok = class.windows(LOMBOK.len()).any(|part| part == LOMBOK);
        match target.extent {
            MutationExtent::Lines(_) => format!("the changed lines of {}", target.class),
            _ if is_of_lombok => {
                format!("{} (all its methods are generated by Lombok)", target.class)
            }
            _ => target.class.clone(),
        }
    }

    /// No class may stand beside the tests under the name of a production class: it would be judged in its place.
    fn check_doubles(&self) -> Result<(), GateAbort> {
        let project = &self.built.project;
        let production: BTreeSet<String> = class_names(Path::new(&project.classes)).collect();
        let doubles: BTreeSet<String> = class_names(Path::new(&project.test_classes))
            .filter(|class| production.contains(class) && !class.ends_with("-info"))
            .map(|class| {
                format!(
                    "{} and {} both make a class {}.",
                    self.find_file_of(&project.sources, &project.classes, &class),
                    self.find_file_of(&project.test_sources, &project.test_classes, &class),
                    class.replace('/', ".")
                )
            })
            .collect();
        if doubles.is_empty() {
            return Ok(());
        }
        let reason = "A class of the tests stands in the place of a production class, so that nothing can be judged:";
        Err(GateAbort::Fail {
            reasons: std::iter::once(reason.to_owned()).chain(doubles).collect(),
        })
    }

    /// Returns the source file of a class, else its class file, relative to the module.
    fn find_file_of(&self, sources: &str, classes: &str, class: &str) -> String {
        let source = Path::new(sources).join(format!("{}.java", top_level(class)));
        let file = if source.is_file() {
            source
        } else {
            Path::new(classes).join(format!("{class}.class"))
        };
        file.strip_prefix(&self.maven.home)
            .unwrap_or(&file)
            .display()
            .to_string()
    }

    /// No changed file may be production code for the build and not for the gate: its mutants would never be made.
    ///
    /// The build knows its source directories. A class file names its source file and its package, so it belongs to a
    /// changed file in a directory that ends with the package.
    fn check_unjudged_production(&self) -> Result<(), GateAbort> {
        let Module {
            unplaced,
            changed_tests,
            ..
        } = self.module;
        let changed: Vec<&Path> = unplaced
            .iter()
            .chain(changed_tests)
            .map(Path::new)
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let classes = Path::new(&self.built.project.classes);
        let sources = Path::new(&self.built.project.sources);
        let mut made = BTreeSet::new();
        for file in class_files(classes) {
            let (class, bytes) = file?;
            let source = class_file::source_of(Path::new(&class), &bytes)
                .unwrap_or_else(|| Path::new(top_level(&class)).with_extension("java"));
            for path in changed.iter().filter(|path| path.ends_with(&source)) {
                // The same name below the known sources explains the class file.
                let known = fs_err::canonicalize(sources.join(&source)).ok();
                let own = fs_err::canonicalize(self.context.package.root.join(path)).ok();
                if known.is_none() || known == own {
                    made.insert(path.display().to_string());
                }
            }
        }
        if made.is_empty() {
            return Ok(());
        }
        let made: Vec<String> = made.into_iter().collect();
        Err(self.blame_build(
            format!(
                "The build of {} makes production classes from {}, and this gate judges only what is below src/main/java.",
                self.module_label(),
                text::names(&made, 5)
            ),
            "Move this code below src/main/java, or judge it by a command of your own (gates.<NAME>.run).",
        ))
    }

    /// No class may name PIT or ralph's plugin for it: it could ask which mutant runs.
    fn check_who_names_pit(&self) -> Result<(), GateAbort> {
        let mut asking = BTreeSet::new();
        for folder in self.built.class_folders() {
            for file in class_files(folder) {
                let (class, bytes) = file?;
                if PIT
                    .iter()
                    .any(|name| bytes.windows(name.len()).any(|part| part == *name))
                {
                    asking.insert(top_level(&class).replace('/', "."));
                }
            }
        }
        let accountable_tests = self.accountable_tests();
        let Some(class) = asking
            .intersection(&accountable_tests)
            .chain(&asking)
            .next()
        else {
            return Ok(());
        };
        let why =
            format!("{class} names PIT (org.pitest): it could ask whether it is being mutated.");
        let hint = "Take it out of the code and its tests, or judge them by a command of your own (gates.<NAME>.run).";
        Err(if accountable_tests.contains(class) {
            GateAbort::fail(why)
        } else {
            GateAbort::setup(why, hint)
        })
    }

    /// Each target must have a class file that was made from the target's own source.
    fn check_classes(&self) -> Result<(), GateAbort> {
        let classes = Path::new(&self.built.project.classes);
        let jdk = jvm::jdk_version(&self.find_java()?);
        let (mut missing, mut foreign) = (Vec::new(), Vec::new());
        for target in &self.module.targets {
            let name = target.class.replace('.', "/");
            let path = target.path.to_text();
            let bytes = read_class(classes, &target.class);
            let compiled = Path::new(&self.built.project.sources).join(format!("{name}.java"));
            let [real, own] = [&compiled, &self.context.package.root.join(&path)]
                .map(|file| fs_err::canonicalize(file).ok());
            let origin = class_file::read_origin(&bytes);
            if let Some(Origin { java, .. }) = origin
                && let Some(jdk) = jdk.as_ref().filter(|jdk| is_older(jdk, (java, 0)))
            {
                let why = format!(
                    "{} is compiled for Java {java}, and PIT runs on JDK {jdk}.",
                    target.class
                );
                return Err(self.blame_build(why, "Set JAVA_HOME to the JDK that the build uses."));
            }
            match origin {
                _ if real.is_some() && real != own => foreign.push(format!(
                    "The class file of {} was made from {}, not from {}.",
                    target.class,
                    compiled
                        .strip_prefix(&self.maven.home)
                        .unwrap_or(&compiled)
                        .display(),
                    target.full_path()
                )),
                None => missing.push(target.class.clone()),
                Some(Origin { source: None, .. }) => {
                    missing.push(format!("{} that names its source file", target.class));
                }
                Some(Origin {
                    class,
                    source: Some(source),
                    ..
                }) if class == name && path.rsplit('/').next() == Some(&source) => {}
                Some(Origin {
                    class,
                    source: Some(source),
                    ..
                }) => foreign.push(format!(
                    "The class file of {} was made from the class {} in {}, not from {}.",
                    target.class,
                    text::line(&class.replace('/', "."), 300),
                    text::line(&source, 300),
                    target.full_path()
                )),
            }
        }
        if !foreign.is_empty() {
            return Err(GateAbort::Fail { reasons: foreign });
        }
        if missing.is_empty() {
            return Ok(());
        }
        let missing = text::names(&missing, 5);
        Err(self.blame_build(
            format!(
                "The build of {} makes no class file for {missing}.",
                self.module_label()
            ),
            "Look in the build file for other source folders, excluded sources, or -g:none.",
        ))
    }
}
