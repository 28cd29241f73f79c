//! The command line of PIT, and the files that it names.
//!
//! Every path and list is ralph's own; what could not stand in an argument goes into a file.

use super::super::jvm;
use super::super::report::{SealKey, top_level};
use super::tools::artifact_of;
use super::{Aim, PitRun, PitSession, plugin};
use crate::gate::GateAbort;
use crate::gate::leftovers::TestPlace;
use std::collections::BTreeSet;
use std::path::PathBuf;

const MAIN: &str = "org.pitest.mutationtest.commandline.MutationCoverageReport";
/// Options of PIT's own JVM, which lives for seconds.
const OWN_JVM: [&str; 3] = [
    "-XX:TieredStopAtLevel=1",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
];
/// PIT's filters that may hide written code, and have no place in Java; the plugin sees to what of them is right.
const FEATURES: &str = "-FANN,-FRECORD,-FLOGCALL,-FSTATI,-FKOTLIN,-FGROOVY";
/// Milliseconds from which on tests without mutation are long.
const LONG: u64 = 60_000;

impl PitSession<'_> {
    pub(super) fn pit_arguments(
        &self,
        run: &PitRun,
        key: &SealKey,
        place: &TestPlace,
    ) -> Result<Vec<String>, GateAbort> {
        let project = &self.module.built.project;
        let launch = format!("{}:{}", self.tools.pit.join(":"), self.plugin.display());
        let classpath = self.write_file(
            &format!("{}.classpath", run.name),
            &self.test_classpath().join("\n"),
        )?;
        let mut argv = vec![self.java.display().to_string()];
        argv.extend(OWN_JVM.map(str::to_owned));
        let input = plugin::plugin_input(
            run,
            key,
            &self.accountable_tests,
            &self.owners,
            &self.module.module.targets,
        )?;
        // The plugin removes it before any test runs.
        let input = self.write_file(&format!("{}.input", run.name), &input)?;
        argv.push(format!("-Dralph.input={}", input.display()));
        argv.extend(["-cp".to_owned(), launch, MAIN.to_owned()]);
        let mut option =
            |name: &str, value: &str| argv.extend([format!("--{name}"), value.to_owned()]);
        option(
            "reportDir",
            &self.report_folder(run.name).display().to_string(),
        );
        for class in self.seen_classes(run) {
            option("targetClasses", &format!("{class},{class}$*"));
        }
        // One each: Linux refuses an argument of 128 KiB.
        for test in &run.tests {
            option("targetTests", test);
        }
        if run.tests.is_empty() {
            option("targetTests", "ralph.no.test");
        }
        option(
            "sourceDirs",
            &format!("{},{}", project.sources, project.test_sources),
        );
        option("classPathFile", &classpath.display().to_string());
        option("includeLaunchClasspath", "false");
        option("mutableCodePaths", &project.classes);
        option("outputFormats", "HTML");
        option("timestampedReports", "false");
        option("verbosity", "VERBOSE_NO_SPINNER");
        option(
            "threads",
            &if run.alone { 1 } else { self.thread_count() }.to_string(),
        );
        option("skipFailingTests", "true");
        option("timeoutConst", &run.timeout.to_string());
        option("mutationEngine", plugin::ENGINE);
        // The plugin decides otherwise, once PIT has found the mutants.
        option("mutationUnitSize", if run.alone { "1" } else { "0" });
        option("features", FEATURES);
        option("failWhenNoMutations", "false");
        if run.aim == Aim::Count {
            option("dryRun", "true");
        }
        let surefire = &project.surefire;
        for (name, groups) in [
            ("includedGroups", &surefire.groups),
            ("excludedGroups", &surefire.excluded_groups),
        ] {
            if let Some(groups) = groups {
                // Each part between commas may be an expression: `fast & !db`.
                option(name, &groups.split_whitespace().collect::<String>());
            }
        }
        let arguments = jvm::argument_file(&self.jvm_arguments(run, place));
        let file = self.write_file(&format!("{}.jvm-args", run.name), &arguments)?;
        let file = file.display().to_string();
        // PIT splits one of the options at commas, the other at white space.
        let name = if file.contains(char::is_whitespace) {
            "jvmArgs"
        } else {
            "argLine"
        };
        option(name, &format!("@{file}"));
        Ok(argv)
    }

    /// The classes whose coverage is taken: the mutated ones; for a map all of the module.
    fn seen_classes(&self, run: &PitRun) -> BTreeSet<String> {
        let mut seen: BTreeSet<String> = self.owners.keys().cloned().collect();
        if run.makes_map {
            let all = self.module.production().keys();
            seen.extend(all.map(|name| top_level(name).replace('/', ".")));
        }
        seen
    }

    pub(super) fn thread_count(&self) -> usize {
        if self.single_jvm {
            1
        } else {
            self.module.context.threads.max(1)
        }
    }

    /// Test classes, classes, dependencies but another PIT, then what of PIT the tests' JVM needs, and ralph's engine.
    fn test_classpath(&self) -> Vec<String> {
        let project = &self.module.built.project;
        let mut entries = vec![project.test_classes.clone(), project.classes.clone()];
        let own: BTreeSet<_> = self
            .tools
            .child
            .iter()
            .map(|jar| artifact_of(jar))
            .collect();
        let others = self.module.built.classpath.iter().filter(|jar| {
            let artifact = artifact_of(jar);
            artifact.is_none() || !own.contains(&artifact)
        });
        entries.extend(others.cloned());
        entries.extend(project.surefire.more_classpath.iter().cloned());
        entries.extend(self.tools.child.iter().cloned());
        entries.push(self.plugin.display().to_string());
        entries
    }

    /// The arguments of the JVMs of the tests.
    fn jvm_arguments(&self, run: &PitRun, place: &TestPlace) -> Vec<String> {
        let surefire = &self.module.built.project.surefire;
        let settings = self.module.context.settings;
        let mut all = Vec::new();
        // A mutant undoes what the compiler knows of its class, so quick code pays more than good code, but not where tests
        // compute for longer than a minute (measured: docs/measured.md).
        let is_long = self.known_millis(&run.tests).is_some_and(|all| all > LONG);
        if !is_long {
            let own = surefire.jvm_args.iter().chain(&settings.jvm_args);
            all.extend(jvm::quick_option(own.map(String::as_str)).map(str::to_owned));
        }
        all.extend([
            format!("-Dbasedir={}", self.module.maven.home.display()),
            "-Dfile.encoding=UTF-8".to_owned(),
        ]);
        // The project's own settings come later and override these.
        all.extend(place.jvm_arguments());
        all.extend(surefire.jvm_args.iter().cloned());
        all.extend(
            surefire
                .properties
                .iter()
                .map(|(name, value)| format!("-D{name}={value}")),
        );
        all.extend(settings.jvm_args.iter().cloned());
        all
    }

    fn write_file(&self, name: &str, text: &str) -> Result<PathBuf, GateAbort> {
        let folder = self.module.gate_folder("work");
        fs_err::create_dir_all(&folder)?;
        let file = folder.join(name);
        fs_err::write(&file, text)?;
        Ok(file)
    }
}
