//! Maven, or `classpath_command` in its place: compiles a module and names its class path.
//!
//! No shell; the project's own switches for skipping are countered where Maven lets them be;
//! code that does not compile is distinguished from a network that is not there and from anything else.

mod build;
mod command;
mod javac;
mod poms;
mod project;
mod recipe;
mod trouble;

pub(crate) use crate::source::digest_parts;
pub(crate) use build::Built;
pub use command::GRADLE_COMMAND;
pub use poms::{PomLinks, follow_link, pom_links};
pub(crate) use project::Project;
pub(crate) use trouble::NETWORK_OR_DISK;

use super::jvm;
use super::package::PackageContext;
use crate::gate::GateAbort;
use crate::gate::commands::{FinishedCall, read_text};
use crate::gate::scope::{BuildTool, Module};
use crate::machine::facts::ProcessEnd;
use crate::source::text::{self, of_package};
use crate::sys::programs::is_program;
use memchr::memmem;
use quick_xml::escape::partial_escape;
use std::path::{Path, PathBuf};

/// Names the class path of a module.
const BUILD_CLASSPATH: &str =
    "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
/// Arguments against a project that skips its own tests.
const NO_SKIP: [&str; 6] = [
    "-Dmaven.compiler.failOnError=true",
    "-Dmaven.main.skip=false",
    "-Dmaven.test.skip=false",
    "-DskipTests=false",
    "-Dmdep.skip=false",
    "-Dmaven.test.failure.ignore=false",
];

/// Maven, or the command in its place, as one module uses it, here or in another checkout.
pub(crate) struct Maven<'a> {
    pub(crate) context: &'a PackageContext<'a>,
    pub(crate) module: &'a Module,
    /// It builds the module, not Maven.
    command: Option<&'a [String]>,
    /// The package's folder.
    root: &'a Path,
    /// The module's folder.
    pub(crate) home: PathBuf,
    /// The folder from which Maven builds the module.
    reactor: PathBuf,
    program: PathBuf,
    options: String,
}

impl<'a> Maven<'a> {
    /// The command if the module is one of Gradle's, else the package's own `mvnw`, else `mvn`.
    pub(crate) fn find_command(
        context: &'a PackageContext<'a>,
        module: &'a Module,
    ) -> Result<Self, GateAbort> {
        let root = context.package.root.as_path();
        let command = context.settings.classpath_command.as_deref();
        let command = command.filter(|_| module.tool == BuildTool::Gradle);
        let wrapper = Some(root.join("mvnw")).filter(|wrapper| is_program(wrapper));
        let program = wrapper.or_else(|| context.commands.find_program("mvn"));
        if program.is_none() && command.is_none() {
            let package = of_package(&context.package.name);
            return Err(GateAbort::setup(
                format!(
                    "Maven was not found: mvn is not on the PATH, and there is no mvnw{package} that is executable."
                ),
                "Install Maven, or commit the Maven wrapper with `git update-index --add --chmod=+x mvnw`.",
            ));
        }
        // Its words are read as UTF-8.
        let more = format!("-Dfile.encoding=UTF-8 {}", recipe::LOGGERS);
        let options = jvm::quick_options(context.commands, "MAVEN_OPTS", &more);
        Ok(Self {
            context,
            module,
            command,
            root,
            home: module_home(root, &module.dir),
            reactor: module_home(root, poms::locate_reactor(root, Path::new(&module.dir))),
            program: program.unwrap_or_default(),
            options,
        })
    }

    /// A note that the package has a wrapper which cannot run, if `mvn` builds in its place.
    pub(crate) fn ignored_wrapper(&self) -> Option<String> {
        let (wrapper, package) = (
            self.root.join("mvnw"),
            of_package(&self.context.package.name),
        );
        (self.program != wrapper && wrapper.is_file()).then(|| format!(
            "mvnw{package} is not executable, so `mvn` from PATH was used: commit `git update-index --chmod=+x mvnw`, or delete it."
        ))
    }

    /// Runs test classes (dotted names) of the module; the call's output is not quiet.
    pub(crate) fn run_tests(&self, classes: &[String]) -> Result<FinishedCall, GateAbort> {
        if let Some(argv) = self.command {
            let classes = classes.join(" ");
            return self.run_command(
                argv,
                "tests",
                &[
                    ("RALPH_TESTS", &classes),
                    ("RALPH_MODULE", &self.module.dir),
                ],
            );
        }
        let tests = format!("-Dtest={}", classes.join(",").replace('.', "/"));
        let arguments = [
            "test",
            &tests,
            "-DfailIfNoSpecifiedTests=false",
            "-Dsurefire.failIfNoSpecifiedTests=false",
            "-DfailIfNoTests=false",
        ];
        self.call_for_module("test", &arguments)
    }

    /// Resolves artifacts (`group:artifact:version`) with their dependencies, once into ralph's cache.
    pub(crate) fn resolve_artifacts(&self, artifacts: &[String]) -> Result<Vec<String>, GateAbort> {
        let key = digest_parts(artifacts);
        let known = self.context.disk_cache("tools");
        if let Some(jars) = known.recall::<Vec<String>>(&key)
            && jars.iter().all(|jar| is_whole(jar))
        {
            return Ok(jars);
        }
        let jars = match self.command {
            Some(argv) => self.named_artifacts(argv, artifacts)?,
            None => self.resolve_uncached(artifacts)?,
        };
        if let Some(cut) = jars.iter().find(|jar| !is_whole(jar)) {
            let cut = text::line(cut, 300);
            return Err(GateAbort::setup(
                format!("The jar {cut} cannot be read to its end."),
                format!(
                    "Remove it (`rm {cut}`), then run the gate again: the build gets it again."
                ),
            ));
        }
        known.remember(&key, &jars)?;
        Ok(jars)
    }

    /// Asks Maven for the class path of a project with these dependencies.
    fn resolve_uncached(&self, artifacts: &[String]) -> Result<Vec<String>, GateAbort> {
        let work = self.context.call_folder("tools-")?;
        let pom = work.path().join("pom.xml");
        let classpath = work.path().join("classpath");
        fs_err::write(&pom, tools_pom(artifacts))?;
        let pom = pom.display().to_string();
        let output = format!("-Dmdep.outputFile={}", classpath.display());
        let goals = ["-q", "-f", &pom, BUILD_CLASSPATH, &output];
        let call = self.call_offline_first("tools", &goals)?;
        let jars = read_paths(&classpath);
        if !call.end.is_success() || jars.is_empty() {
            return Err(self.lack_artifacts(artifacts, &call));
        }
        Ok(jars)
    }

    /// The abort where a call did not get these artifacts.
    fn lack_artifacts(&self, artifacts: &[String], call: &FinishedCall) -> GateAbort {
        let names = text::names(artifacts, 4);
        let reason = trouble::find_reason(&call.output, self.root);
        GateAbort::transient(
            format!("The build could not get {names}: {reason}"),
            "Check the network and gates.<NAME>.pit_version, then run the gate again.",
        )
    }

    /// Returns the abort that a call which failed means.
    pub(crate) fn check_end(&self, call: &FinishedCall) -> Result<(), GateAbort> {
        if call.end.is_success() {
            return Ok(());
        }
        let Module {
            dir, build_changed, ..
        } = self.module;
        let module = text::module_subject(&self.context.package.name, dir);
        Err(trouble::read_abort(
            &call.output,
            self.root,
            &module,
            *build_changed,
        ))
    }

    /// Calls Maven for the module and those of the reactor that it needs.
    fn call_for_module(&self, name: &str, goals: &[&str]) -> Result<FinishedCall, GateAbort> {
        let module = self.home.strip_prefix(&self.reactor).unwrap_or(&self.home);
        let module = module.display().to_string();
        if module.is_empty() {
            return self.call_offline_first(name, goals);
        }
        self.call_offline_first(name, &[&["-pl", &module, "-am"], goals].concat())
    }

    /// Calls Maven without the network, and again with it only if something was not there.
    fn call_offline_first(&self, name: &str, goals: &[&str]) -> Result<FinishedCall, GateAbort> {
        let call = self.call_maven(name, &[&["-o"], goals].concat())?;
        if call.end.is_success() || !trouble::lacks_network(&call.output) {
            return Ok(call);
        }
        self.call_maven(&format!("{name}-online"), goals)
    }

    fn call_maven(&self, name: &str, goals: &[&str]) -> Result<FinishedCall, GateAbort> {
        let mut command = vec![
            self.program.display().to_string(),
            "-B".to_owned(),
            "-Dstyle.color=never".to_owned(),
        ];
        command.extend_from_slice(&self.context.settings.maven_args);
        command.extend(goals.iter().chain(&NO_SKIP).map(|arg| (*arg).to_owned()));
        self.start_program(
            &format!("maven-{name}"),
            command,
            &self.reactor,
            &[("MAVEN_OPTS", &self.options)],
        )
    }

    /// Starts what builds the module, with these variables.
    fn start_program(
        &self,
        name: &str,
        argv: Vec<String>,
        cwd: &Path,
        variables: &[(&str, &str)],
    ) -> Result<FinishedCall, GateAbort> {
        let call = self
            .context
            .commands
            .run_program(name, argv, cwd, variables)?;
        let package = &self.context.package.name;
        match &call.end {
            ProcessEnd::NotStarted { why } => Err(GateAbort::setup(
                format!("The build could not be started: {}.", text::line(why, 300)),
                "Check mvnw of the package (its lines must end in LF alone), mvn on the PATH, or gates.<NAME>.classpath_command.",
            )),
            ProcessEnd::Signalled { signal } => Err(GateAbort::transient(
                format!("The build was ended by signal {signal} in package {package}."),
                "Look for a lack of memory, then run the gate again.",
            )),
            _ => Ok(call),
        }
    }
}

/// A module's folder in its package's.
pub(crate) fn module_home(root: &Path, dir: impl AsRef<Path>) -> PathBuf {
    // An empty folder would leave a slash at the end.
    root.join(dir).components().collect()
}

/// The mark at the end of a jar (APPNOTE 4.3.16).
const END_OF_JAR: &[u8] = b"PK\x05\x06";

/// True unless the entry is a jar whose end is missing: a download or a disk may have cut it off.
fn is_whole(jar: &str) -> bool {
    let jar = Path::new(jar);
    jar.extension().is_none_or(|extension| extension != "jar")
        || fs_err::read(jar).is_ok_and(|bytes| memmem::rfind(&bytes, END_OF_JAR).is_some())
}

/// The entries of a class path file.
fn read_paths(file: &Path) -> Vec<String> {
    let text = read_text(file, u64::MAX);
    text.trim()
        .split(':')
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The POM of a project that depends on these artifacts (`group:artifact:version`).
fn tools_pom(artifacts: &[String]) -> String {
    let mut dependencies = String::new();
    for artifact in artifacts {
        let mut parts = artifact.splitn(3, ':').map(partial_escape);
        let [group, name, version] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let dependency = format!(
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        );
        dependencies.push_str(&dependency);
    }
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>ralph</groupId><artifactId>tools</artifactId><version>1</version><packaging>pom</packaging>\
         <dependencies>{dependencies}</dependencies></project>\n"
    )
}
