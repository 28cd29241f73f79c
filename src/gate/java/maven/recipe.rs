//! Maven's calls of its compiler, read from the log of a build.
//!
//! An answer only where each side was compiled exactly once; what the log does not say is not guessed.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Options that make Maven name its goals, and its compiler plugin the arguments, even under `-q`.
pub(super) const LOGGERS: &str = "-Dorg.slf4j.simpleLogger.log.org.apache.maven.plugin.compiler=debug \
    -Dorg.slf4j.simpleLogger.log.org.apache.maven.cli.event.ExecutionEventLogger=info";

/// The beginning of the line on which the compiler plugin names the home of a JDK: `JDK[/opt/jdk-21]`.
const TOOLCHAIN: &str = "[INFO] Toolchain in maven-compiler-plugin: JDK[";
/// Goals, by the beginning of their names, that read no Java source and neither make nor change a class: they copy resources (a
/// proof refuses others), compile, name the class path and the effective POM (ralph's own calls), check the JDK, dependencies,
/// plugins and the POM, write a POM, write a manifest from classes (a proof refuses one among them), set properties, or add a
/// folder (javac is not used if it holds Java files).
const READ_NO_JAVA: [&str; 20] = [
    "resources:resources",
    "resources:testResources",
    "remote-resources:process",
    "compiler:",
    "dependency:build-classpath",
    "help:effective-pom",
    "artifact:check-buildplan",
    "enforcer:enforce",
    "flatten:flatten",
    "buildnumber:create",
    "build-helper:add-",
    "build-helper:parse-version",
    "build-helper:regex-property",
    "build-helper:reserve-network-port",
    "build-helper:timestamp-property",
    "bundle:manifest",
    "dependency:properties",
    "git-commit-id:revision",
    "jacoco:prepare-agent",
    "properties:read-project-properties",
];
/// Goals that may read sources, each with the property that switches it off.
const SWITCHED_OFF_BY: [(&str, &str); 5] = [
    ("antrun:run", "maven.antrun.skip"),
    ("apache-rat:check", "rat.skip"),
    ("checkstyle:check", "checkstyle.skip"),
    ("license:check", "license.skip"),
    ("spotless:check", "spotless.check.skip"),
];

/// The calls of the compiler in one build of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recipe {
    /// The goals that ran, `plugin:goal` each, in order.
    pub(super) goals: Vec<String>,
    /// The arguments of the one for the production side, without the source files.
    pub(super) main: Vec<String>,
    /// The same of the one for the tests.
    pub(super) tests: Vec<String>,
}

impl Recipe {
    /// True if no goal of the build, which got these arguments, read a Java source but to compile it.
    pub(super) fn reads_no_other_java(&self, arguments: &[String]) -> bool {
        self.goals.iter().all(|goal| {
            READ_NO_JAVA.iter().any(|known| goal.starts_with(known))
                || is_switched_off(goal, arguments)
        })
    }
}

/// True for a goal of [`SWITCHED_OFF_BY`] whose property one of the arguments sets.
fn is_switched_off(goal: &str, arguments: &[String]) -> bool {
    SWITCHED_OFF_BY.iter().any(|(known, property)| {
        let option = format!("-D{property}");
        goal == *known
            && arguments
                .iter()
                .any(|one| one.trim_end_matches("=true") == option)
    })
}

/// Reads the log of a call that ended well.
pub(super) fn read_log(log: &str) -> Option<Recipe> {
    let mut goals: Vec<String> = Vec::new();
    let mut calls: Vec<(String, Vec<String>)> = Vec::new();
    for line in log.lines() {
        let arguments = line.strip_prefix("[DEBUG] ");
        if let Some(goal) = read_goal(line) {
            goals.push(goal);
        } else if let Some(arguments) = arguments.filter(|text| text.starts_with("-d ")) {
            let words = arguments.split(' ').filter(|word| !word.is_empty());
            calls.push((goals.last()?.clone(), words.map(str::to_owned).collect()));
        }
    }
    let [(compile, main), (test_compile, tests)] = <[_; 2]>::try_from(calls).ok()?;
    let is_each_once = compile == "compiler:compile" && test_compile == "compiler:testCompile";
    is_each_once.then_some(Recipe { goals, main, tests })
}

/// The home of the JDK that Maven's toolchains chose for a module. The module is built last, so the last line counts.
pub(super) fn find_toolchain(log: &str) -> Option<PathBuf> {
    log.lines()
        .rev()
        .find_map(|line| Some(line.strip_prefix(TOOLCHAIN)?.strip_suffix(']')?.into()))
}

/// `[INFO] --- maven-compiler-plugin:3.14.0:compile (default-compile) @ x ---`; Maven 3.9 writes `compiler`.
fn read_goal(line: &str) -> Option<String> {
    let name = line.strip_prefix("[INFO] --- ")?.split(' ').next()?;
    let mut parts = name.split(':');
    let (plugin, _version, goal) = (parts.next()?, parts.next()?, parts.next()?);
    let plugin = plugin.strip_prefix("maven-").unwrap_or(plugin);
    let plugin = plugin.strip_suffix("-plugin").unwrap_or(plugin);
    let plugin = plugin.strip_suffix("-maven").unwrap_or(plugin);
    Some(format!("{plugin}:{goal}"))
}

#[cfg(test)]
mod tests {
    use super::{find_toolchain, read_log};
    use std::path::Path;

    const PLAIN: &str = "\
[INFO] --- maven-resources-plugin:3.3.1:resources (default-resources) @ p ---
[INFO] --- compiler:3.14.0:compile (default-compile) @ p ---
[DEBUG] Command line options:
[DEBUG] -d /w/target/classes -classpath /w/target/classes:/m/a.jar: -g --release 8
[INFO] --- jacoco-maven-plugin:0.8.12:prepare-agent (default) @ p ---
[INFO] --- maven-compiler-plugin:3.14.0:testCompile (default-testCompile) @ p ---
[DEBUG] -d /w/target/test-classes -g";

    #[test]
    fn each_side_is_read_from_the_line_of_its_goal() {
        let recipe = read_log(PLAIN).unwrap();
        assert_eq!(
            recipe.goals,
            [
                "resources:resources",
                "compiler:compile",
                "jacoco:prepare-agent",
                "compiler:testCompile"
            ]
        );
        assert_eq!(recipe.main[..2], ["-d", "/w/target/classes"]);
        assert_eq!(recipe.tests, ["-d", "/w/target/test-classes", "-g"]);
    }

    #[test]
    fn a_goal_that_may_read_sources_must_be_switched_off_by_an_argument() {
        for (goal, argument, expected) in [
            ("jacoco-maven-plugin:0.8.12:prepare-agent", "", true),
            ("buildnumber-maven-plugin:3.2.1:create-timestamp", "", true),
            ("build-helper-maven-plugin:3.6.1:add-source", "", true),
            ("build-helper-maven-plugin:3.6.1:bsh-property", "", false),
            ("exec-maven-plugin:3.1.0:java", "-Dexec.skip", false),
            ("resources:3.3.1:copy-resources", "", false),
            ("maven-antrun-plugin:3.1.0:run", "", false),
            (
                "maven-antrun-plugin:3.1.0:run",
                "-Dmaven.antrun.skip=true",
                true,
            ),
            ("apache-rat-plugin:0.16.1:check", "-Drat.skip", true),
            ("apache-rat-plugin:0.16.1:check", "-Drat.skip=false", false),
            ("apache-rat-plugin:0.16.1:check", "-Drat.skipped", false),
            ("apache-rat-plugin:0.16.1:check", "-Dpmd.skip", false),
        ] {
            let log = PLAIN.replace("jacoco-maven-plugin:0.8.12:prepare-agent", goal);
            assert_eq!(
                read_log(&log)
                    .unwrap()
                    .reads_no_other_java(&[argument.to_owned()]),
                expected,
                "{goal} {argument}"
            );
        }
    }

    #[test]
    fn the_toolchain_of_a_module_is_told_last() {
        assert_eq!(find_toolchain(PLAIN), None);
        let told = |home: &str| {
            format!("[INFO] Toolchain in maven-compiler-plugin: JDK[{home}]\n{PLAIN}\n")
        };
        assert_eq!(
            find_toolchain(&(told("/jdk-8") + &told("/jdk 21"))).as_deref(),
            Some(Path::new("/jdk 21"))
        );
        assert_eq!(find_toolchain(&told("/jdk").replace(']', "")), None);
    }

    #[test]
    fn what_is_not_said_once_is_nothing() {
        let untested = PLAIN.replace(
            "[DEBUG] -d /w/target/test-classes -g",
            "[INFO] No sources to compile",
        );
        for broken in [
            String::new(),
            untested,
            format!("{PLAIN}\n{PLAIN}"),
            PLAIN.replace("[DEBUG] -d /w/target/classes", "[DEBUG] "),
            PLAIN.replace("compile (default-compile)", "other (default-compile)"),
            format!("{PLAIN}\n[DEBUG] -d /w/target/test-classes -g"),
            format!("[DEBUG] -d /elsewhere\n{PLAIN}"),
        ] {
            assert_eq!(read_log(&broken), None, "{broken}");
        }
    }
}
