//! `gates.<NAME>.classpath_command`: a command that compiles a package and names what its modules consist of.
//!
//! It runs without a shell and answers with one line of JSON. All that this names must be there, class folders and sources
//! in the package that is judged, and nothing in the package's own folder, where things are that no commit holds. What cannot
//! be believed is no verdict.
//!
//! Paths are absolute or relative to the package. Jars of the class path lie outside of the package's own folder, and those of PIT
//! outside of the package. No folder of classes lies in another. An unknown key, control characters, a second answer or none are
//! an ERROR. The command's words for a fault of the code (`Foo.java:4: error: …`, `e: …`) are a FAIL, as with Maven. Gradle starts
//! without a daemon, which would build out of sight.

use super::super::jvm;
use super::super::surefire::Surefire;
use super::build::{BuildPhase, Built, build_key};
use super::{Maven, Project, digest_parts};
use crate::gate::GateAbort;
use crate::gate::commands::FinishedCall;
use crate::source::text;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The content of the file that replaces `{init_script}`.
const INIT_SCRIPT: &str = include_str!("../../../../templates/gradle/ralph-classpath.init.gradle");
/// The setting for packages of Gradle.
pub const GRADLE_COMMAND: &str =
    r#"classpath_command: [./gradlew, --init-script, "{init_script}", --quiet, ralphClasspath]"#;
/// The beginning of the line with the answer.
const MARK: &str = "ralph-classpath: ";

/// A kind of place that the answer may name: its words, and a condition on its real path and on whether that is in the package.
type PlaceRule = (&'static str, fn(&Path, bool) -> bool);
const FOLDER: PlaceRule = ("folder of the package", |place, inside| {
    place.is_dir() && inside
});
const ENTRY: PlaceRule = ("jar or folder of the package", |place, inside| {
    place.is_file() || place.is_dir() && inside
});
const TOOL: PlaceRule = ("jar outside of the package", |place, inside| {
    place.is_file() && !inside
});

/// The answer of the command.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CommandAnswer {
    modules: Vec<NamedModule>,
    artifacts: Vec<String>,
}

/// A module; paths are absolute or relative to the package's folder.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NamedModule {
    path: String,
    classes: String,
    test_classes: String,
    sources: Option<String>,
    test_sources: Option<String>,
    classpath: Vec<String>,
    tests: Surefire,
}

impl Maven<'_> {
    /// As [`Maven::build_module`].
    pub(super) fn build_by_command(
        &self,
        argv: &[String],
    ) -> Result<(Built, BuildPhase), GateAbort> {
        self.context.ports.checkouts.clear_outputs(self.root)?;
        let call = self.run_command(argv, "classpath", &[])?;
        self.check_end(&call)?;
        let built =
            read_answer(&call.output).and_then(|answer| self.validate_answer(&answer, argv));
        let phase = (
            "compile",
            "classpath_command compiled it and named its class path",
        );
        Ok((built.map_err(|why| self.invalid_answer(&why))?, phase))
    }

    /// As [`Maven::resolve_artifacts`].
    pub(super) fn named_artifacts(
        &self,
        argv: &[String],
        artifacts: &[String],
    ) -> Result<Vec<String>, GateAbort> {
        let call = self.run_command(
            argv,
            "artifacts",
            &[("RALPH_ARTIFACTS", &artifacts.join(" "))],
        )?;
        if !call.end.is_success() {
            return Err(self.lack_artifacts(artifacts, &call));
        }
        let jars = read_answer(&call.output)
            .and_then(|answer| self.resolve_jars(artifacts, &answer.artifacts));
        jars.map_err(|why| self.invalid_answer(&why))
    }

    fn resolve_jars(&self, artifacts: &[String], named: &[String]) -> Result<Vec<String>, String> {
        let jars = self.resolve_places(named, TOOL)?;
        for artifact in artifacts {
            let (_, name) = artifact.split_once(':').unwrap_or_default();
            let end = format!("/{}.jar", name.replace(':', "-"));
            if !jars.iter().any(|jar| jar.ends_with(&end)) {
                return Err(format!("names no jar of {artifact}"));
            }
        }
        Ok(jars)
    }

    /// Calls the command with what these variables tell it.
    pub(super) fn run_command(
        &self,
        argv: &[String],
        name: &str,
        variables: &[(&str, &str)],
    ) -> Result<FinishedCall, GateAbort> {
        let folder = &self.context.request.folder;
        let script = folder.join("ralph-classpath.init.gradle");
        fs_err::create_dir_all(folder)?;
        RealDisk::new().write(&script, INIT_SCRIPT.as_bytes())?;
        let script = script.display().to_string();
        let argv = argv
            .iter()
            .map(|argument| argument.replace("{init_script}", &script))
            .collect();
        // A daemon of Gradle's that is there already would build out of sight.
        let gradle = jvm::quick_options(
            self.context.commands,
            "GRADLE_OPTS",
            "-Dorg.gradle.daemon=false",
        );
        let variables = [variables, &[("GRADLE_OPTS", &gradle)]].concat();
        self.start_program(&format!("command-{name}"), argv, self.root, &variables)
    }

    fn invalid_answer(&self, why: &str) -> GateAbort {
        let (gate, module) = (
            &self.context.request.name,
            self.context.module_label(&self.module.dir),
        );
        GateAbort::setup(
            format!("gates.{gate}.classpath_command for {module} {why}."),
            "Run the command by hand in the package; docs/gate.md tells what it must print.",
        )
    }

    /// The module as the answer describes it, if that can be.
    fn validate_answer(&self, answer: &CommandAnswer, argv: &[String]) -> Result<Built, String> {
        let mut found = answer
            .modules
            .iter()
            .filter(|module| module.path == self.module.dir);
        let (Some(module), None) = (found.next(), found.next()) else {
            return Err(format!(
                "names {} modules, and not once this one",
                answer.modules.len()
            ));
        };
        let project = Project {
            classes: self.resolve_place(&module.classes, FOLDER)?,
            test_classes: self.resolve_place(&module.test_classes, FOLDER)?,
            sources: self.resolve_sources(module.sources.as_deref(), "src/main/java")?,
            test_sources: self.resolve_sources(module.test_sources.as_deref(), "src/test/java")?,
            surefire: Surefire {
                more_classpath: Vec::new(),
                ..module.tests.clone()
            },
            ..Project::default()
        };
        let [classes, tests] = [&project.classes, &project.test_classes].map(Path::new);
        if classes.starts_with(tests) || tests.starts_with(classes) {
            return Err("names one folder of classes in the other".to_owned());
        }
        let classpath = self.resolve_places(&module.classpath, ENTRY)?;
        let key = digest_parts([
            self.root.display().to_string(),
            argv.join("\0"),
            format!("{module:?}"),
            self.jdk_state(),
        ]);
        Ok(Built {
            key: build_key(&key, &project, &classpath),
            classpath,
            project,
            recipe: None,
        })
    }

    fn resolve_sources(&self, named: Option<&str>, usual: &str) -> Result<String, String> {
        match named {
            Some(named) => self.resolve_place(named, FOLDER),
            None => Ok(self.home.join(usual).display().to_string()),
        }
    }

    fn resolve_places(&self, named: &[String], rule: PlaceRule) -> Result<Vec<String>, String> {
        let places = named.iter().map(|named| self.resolve_place(named, rule));
        places.collect()
    }

    /// Returns the place that a path names.
    fn resolve_place(&self, named: &str, (what, fits): PlaceRule) -> Result<String, String> {
        let wrong = || format!("names `{}`, which is no {what}", text::line(named, 300));
        let real = |path: &Path| fs_err::canonicalize(path).map_err(|_| wrong());
        let (place, home) = (
            real(&self.root.join(named))?,
            real(&self.context.package.home)?,
        );
        let inside = place.strip_prefix(real(self.root)?).ok();
        // A jar is known by its name, which may be that of a link.
        let found = inside.map_or_else(|| PathBuf::from(named), |inside| self.root.join(inside));
        let is_usable = found.is_absolute()
            && !named.is_empty()
            && !named.contains(|c: char| c == ':' || text::is_hidden(c));
        let is_kept = inside.is_some() || !place.starts_with(home);
        if is_usable && is_kept && fits(&place, inside.is_some()) {
            Ok(found.display().to_string())
        } else {
            Err(wrong())
        }
    }
}

fn read_answer(output: &str) -> Result<CommandAnswer, String> {
    let mut lines = output.lines().filter_map(|line| line.strip_prefix(MARK));
    match (lines.next(), lines.next()) {
        (Some(line), None) => serde_json::from_str(line).map_err(|error| {
            format!(
                "answers with JSON that cannot be used ({})",
                text::line(&error.to_string(), 300)
            )
        }),
        _ => Err(format!(
            "did not print one line that begins with `{}`",
            MARK.trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trouble::read_abort;
    use super::read_answer;
    use crate::gate::GateAbort;
    use std::path::Path;

    #[test]
    fn the_answer_is_one_line_of_json_in_whatever_is_printed() {
        let noise = "x\n".repeat(600_000);
        let good = r#"ralph-classpath: {"modules": [{"path": "core", "sources": null, "tests": {"jdk": "/jdk-21"}}], "artifacts": ["/a.jar"]}"#;
        let read =
            read_answer(&format!("{noise}{good}\n{noise}")).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(
            (read.modules[0].path.as_str(), read.artifacts.len()),
            ("core", 1)
        );
        assert_eq!(
            read.modules[0].tests.jdk.as_deref(),
            Some(Path::new("/jdk-21"))
        );
        for (output, why) in [
            (
                "",
                "did not print one line that begins with `ralph-classpath:`",
            ),
            (" ralph-classpath: {}", "did not print one line"),
            (&format!("{good}\n{good}"), "did not print one line"),
            ("ralph-classpath: {", "cannot be used (EOF"),
            ("ralph-classpath: [1]", "cannot be used"),
            (
                r#"ralph-classpath: {"modules": [{"path": "a", "klasses": "b"}]}"#,
                "unknown field `klasses`",
            ),
            (
                r#"ralph-classpath: {"modules": [{"path": "a", "path": "b"}]}"#,
                "duplicate field `path`",
            ),
            (
                r#"ralph-classpath: {"modules": [{"path": 1}]}"#,
                "invalid type",
            ),
            (
                r#"ralph-classpath: {"modules": [{"tests": {"jvm": []}}]}"#,
                "unknown field `jvm`",
            ),
            (
                &format!("ralph-classpath: {}", "[".repeat(100_000)),
                "cannot be used",
            ),
        ] {
            let found = read_answer(output).err().unwrap_or_default();
            assert!(found.contains(why) && found.len() < 500, "{found}");
        }
    }

    #[test]
    fn each_end_of_the_command_has_its_outcome() {
        let gradle = "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n";
        let javac =
            "/w/p/src/main/java/Foo.java:4: error: ';' expected\n  int x\n       ^\n1 error\n";
        let module = "Module core of package p";
        let told = |output: &str, build_changed| match read_abort(
            output,
            Path::new("/w/p"),
            module,
            build_changed,
        ) {
            GateAbort::Fail { reasons } => format!("fail {}", reasons.join("|")),
            GateAbort::Error { why, transient, .. } => format!("{transient} {why}"),
        };
        let broken = "fail Module core of package p does not compile.|src/main/java/Foo.java:4: error: ';' expected";
        assert_eq!(
            told(
                &format!("{javac}{gradle}Execution failed for task ':compileJava'.\n  {javac}"),
                false
            ),
            broken
        );
        let kotlin = told(
            "e: file:///w/p/Foo.kt:3:1 Unresolved reference 'x'.\n",
            true,
        );
        assert_eq!(
            kotlin,
            "fail Module core of package p does not compile.|e: file://Foo.kt:3:1 Unresolved reference 'x'."
        );
        let odd = format!(
            "noise\n{gradle}A problem occurred in /w/p/x.\n> \u{1b}[31mNo such property\n\n* Try:\n--info\n"
        );
        let why = "A problem occurred in x.";
        assert_eq!(
            told(&odd, false),
            format!("false Module core of package p does not build: {why}")
        );
        assert_eq!(
            told(&odd, true),
            format!(
                "fail Module core of package p does not build after a build file was changed: {why}"
            )
        );
        assert!(
            told("x\nsh: 1: ant: not found\n\n", false)
                .ends_with("does not build: sh: 1: ant: not found.")
        );
        assert!(told("", false).ends_with("does not build: it printed nothing."));
        let lacking = format!(
            "{gradle}Could not resolve all files for configuration ':testCompileClasspath'.\n> x\n"
        );
        assert!(
            told(&lacking, false).starts_with("true Module core of package p lacks dependencies")
        );
        assert!(
            told(&format!("{lacking}java.net.UnknownHostException: x"), true)
                .starts_with("true Module core")
        );
    }
}
