//! Maven: compiles a module and names its class path.
//!
//! No shell; the project's own switches for skipping are countered where Maven lets them be;
//! a failed build is distinguished from a missing tool and from a missing network.

mod build;
mod cache;
mod compiling;
mod goals;
mod javac;
mod links;
mod project;
mod reactor;
mod recipe;
mod source_selection;
mod trouble;

pub(crate) use build::{BuildError, BuildKind, Built};
pub(crate) use cache::digest;
pub use links::{PomLinks, pom_links};
pub(crate) use project::Project;
pub(crate) use trouble::{NETWORK_OR_DISK, Trouble};

use super::jvm;
use crate::config::{GateSettings, Recompile};
use crate::gate::GateAbort;
use crate::gate::commands::{Call, Commands, disk, is_executable, make_folder};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use std::path::{Path, PathBuf};

/// Names the class path of a module.
const BUILD_CLASSPATH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
/// What Maven gets besides the options of [`jvm::quick`]: its words are read as UTF-8.
const MAVEN_OPTS: &str = "-Dfile.encoding=UTF-8";
/// What counters a project that skips its own tests.
const NO_SKIP: [&str; 5] = [
    "-Dmaven.main.skip=false",
    "-Dmaven.test.skip=false",
    "-DskipTests=false",
    "-Dmdep.skip=false",
    "-Dmaven.test.failure.ignore=false",
];

/// Maven as one package uses it.
pub(crate) struct Maven<'a> {
    program: PathBuf,
    args: &'a [String],
    package: &'a str,
    root: PathBuf,
    cache: &'a Path,
    options: String,
    recompile: Recompile,
}

impl<'a> Maven<'a> {
    /// The package's own `mvnw`, else `mvn`.
    pub(crate) fn find(
        commands: &Commands<'_>,
        package: &'a str,
        root: &Path,
        settings: &'a GateSettings,
        cache: &'a Path,
    ) -> Result<Self, GateAbort> {
        let wrapper = root.join("mvnw");
        let program = if is_executable(&wrapper) { Some(wrapper) } else { commands.find("mvn") };
        let Some(program) = program else {
            return Err(GateAbort::setup(
                format!(
                    "Maven was not found: package {package} has no executable mvnw, and mvn is not on the PATH."
                ),
                "Install Maven, or add the Maven wrapper to the package and make mvnw executable.",
            ));
        };
        let own = commands.variable("MAVEN_OPTS").unwrap_or_default();
        // Maven's start script adds the options of this file to those of the variable.
        let file = fs_err::read_to_string(root.join(".mvn/jvm.config")).unwrap_or_default();
        let quick = jvm::quick(own.split_whitespace().chain(file.split_whitespace()));
        let options = [&[own][..], &quick, &[MAVEN_OPTS, recipe::LOGGERS]].concat().join(" ");
        let (args, recompile) = (settings.maven_args.as_slice(), settings.recompile);
        Ok(Self { program, args, package, root: root.to_owned(), cache, options, recompile })
    }

    /// Runs test classes (dotted names) of a module; the call's output is not quiet.
    pub(crate) fn test(
        &self,
        commands: &Commands<'_>,
        dir: &str,
        classes: &[String],
    ) -> Result<Call, GateAbort> {
        let folder = reactor::locate(&self.root, dir);
        let tests = format!("-Dtest={}", classes.join(",").replace('.', "/"));
        let quiet = ["-DfailIfNoSpecifiedTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"];
        let goals = ["test", &tests, quiet[0], quiet[1], "-DfailIfNoTests=false"];
        Ok(self.call_offline_first(commands, "test", &folder, &goals)?.0)
    }

    /// Runs goals of the module with nothing but these arguments added.
    pub(crate) fn goals(
        &self,
        commands: &Commands<'_>,
        name: &str,
        dir: &str,
        args: &[&str],
    ) -> Result<Call, GateAbort> {
        Ok(self.call_offline_first(commands, name, &reactor::locate(&self.root, dir), args)?.0)
    }

    /// Resolves artifacts (`group:artifact:version`) with what they need, once, into ralph's cache.
    pub(crate) fn resolve(
        &self,
        commands: &Commands<'_>,
        artifacts: &[String],
    ) -> Result<Vec<String>, GateAbort> {
        let key = digest(artifacts.iter().map(String::as_bytes));
        let file = self.cache.join(format!("tools-{key}.json"));
        if let Some(jars) = cache::load_paths(&file) {
            return Ok(jars);
        }
        let work = self.work("tools-")?;
        let pom = work.path().join("pom.xml");
        fs_err::write(&pom, tools_pom(artifacts)).map_err(|error| disk(&error))?;
        let output = work.path().join("classpath");
        let argument = format!("-Dmdep.outputFile={}", output.display());
        let folder = reactor::BuildFolder { root: self.root.clone(), module: None };
        let file_argument = pom.display().to_string();
        let goals = ["-q", "-f", &file_argument, BUILD_CLASSPATH, &argument];
        let (call, _) = self.call_offline_first(commands, "tools", &folder, &goals)?;
        if let Some(trouble) = self.trouble(&call) {
            return Err(GateAbort::passing(
                format!(
                    "Maven could not get {}: {}",
                    text::names(artifacts.iter().map(String::as_str), 4),
                    trouble.sentence()
                ),
                "Check the network and gates.<NAME>.pit_version, then run the gate again.",
            ));
        }
        let jars = read_paths(&output);
        if jars.is_empty() {
            return Err(GateAbort::setup(
                format!("Maven named no jars for {}.", text::names(artifacts.iter().map(String::as_str), 4)),
                "Look at the log of the call in the gate's folder.",
            ));
        }
        cache::store_paths(&file, &jars)?;
        Ok(jars)
    }

    /// A folder of this call alone: several gates may ask for the same thing at the same time.
    fn work(&self, prefix: &str) -> Result<tempfile::TempDir, GateAbort> {
        make_folder(self.cache)?;
        let made = tempfile::Builder::new().prefix(prefix).tempdir_in(self.cache);
        made.map_err(|error| disk(&error))
    }

    /// What went wrong with a call, if anything did.
    pub(crate) fn trouble(&self, call: &Call) -> Option<Trouble> {
        (!call.end.is_success()).then(|| trouble::read(&call.output, &self.root))
    }

    /// Commands Maven without the network, and again with it only when something was not there; true when
    /// the network was asked for.
    fn call_offline_first(
        &self,
        commands: &Commands<'_>,
        name: &str,
        folder: &reactor::BuildFolder,
        goals: &[&str],
    ) -> Result<(Call, bool), GateAbort> {
        let offline: Vec<&str> = std::iter::once("-o").chain(goals.iter().copied()).collect();
        let call = self.call(commands, name, folder, &offline)?;
        if call.end.is_success() || !trouble::lacks_network(&call.output) {
            return Ok((call, false));
        }
        Ok((self.call(commands, &format!("{name}-online"), folder, goals)?, true))
    }

    fn call(
        &self,
        commands: &Commands<'_>,
        name: &str,
        folder: &reactor::BuildFolder,
        goals: &[&str],
    ) -> Result<Call, GateAbort> {
        make_folder(self.cache)?;
        let mut command =
            vec![self.program.display().to_string(), "-B".to_owned(), "-Dstyle.color=never".to_owned()];
        command.extend_from_slice(self.args);
        if let Some(module) = &folder.module {
            command.extend(["-pl".to_owned(), module.clone(), "-am".to_owned()]);
        }
        command.extend(goals.iter().map(|arg| (*arg).to_owned()));
        command.extend(NO_SKIP.map(str::to_owned));
        let extra = [("MAVEN_OPTS".to_owned(), self.options.clone())];
        let call = commands.run(&format!("maven-{name}"), command, &folder.root, &extra)?;
        match &call.end {
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => Err(commands.over_limit("")),
            ProcessEnd::NotStarted { why } => Err(GateAbort::setup(
                format!("Maven could not be started: {}.", text::line(why, 300)),
                "Check mvnw of the package, or mvn on the PATH.",
            )),
            ProcessEnd::Signalled { signal } => Err(GateAbort::passing(
                format!("Maven was ended by signal {signal} in package {}.", self.package),
                "Look for a lack of memory, then run the gate again.",
            )),
            _ => Ok(call),
        }
    }
}

/// A module's folder in its package's.
pub(crate) fn home(root: &Path, dir: &str) -> PathBuf {
    if dir.is_empty() { root.to_owned() } else { root.join(dir) }
}

/// A module's folder for a message; the package's own folder is `.`.
pub(crate) fn display_dir(dir: &str) -> String {
    if dir.is_empty() { ".".to_owned() } else { text::line(dir, 200) }
}

/// The entries of a class path file.
fn read_paths(file: &Path) -> Vec<String> {
    let text =
        fs_err::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.trim().split(':').filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

fn tools_pom(artifacts: &[String]) -> String {
    let dependency = |artifact: &String| {
        let mut parts = artifact.splitn(3, ':').map(escape);
        let mut next = || parts.next().unwrap_or_default();
        format!(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>",
            next(),
            next(),
            next()
        )
    };
    let dependencies: String = artifacts.iter().map(dependency).collect();
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>ralph</groupId><artifactId>tools</artifactId><version>1</version><packaging>pom</packaging>\
         <dependencies>{dependencies}</dependencies></project>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
