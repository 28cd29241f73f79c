//! PIT's jars and what the tests' framework needs beside them.
//!
//! Artifacts come from the project's own Maven, once; versions are fixed or the project's own.

use super::super::context::ModuleContext;
use crate::gate::GateAbort;
use crate::gate::files::is_older;
use crate::source::text;

/// PIT's plugin for the JUnit platform (5 and 6).
const JUNIT_PLUGIN: &str = "org.pitest:pitest-junit5-plugin:1.2.3";
/// PIT's plugin for `TestNG`.
const TESTNG_PLUGIN: &str = "org.pitest:pitest-testng-plugin:1.0.0";

/// A framework of tests that PIT cannot run, and the next action.
type PitRefusal = (&'static str, &'static str);

/// The jars.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    /// For PIT itself.
    pub(crate) pit: Vec<String>,
    /// For the JVMs in which tests run, after the project's own class path.
    pub(crate) child: Vec<String>,
}

impl Tools {
    /// Gets the jars for a module.
    pub(crate) fn resolve_tools(module: &ModuleContext<'_>) -> Result<Self, GateAbort> {
        let classpath = &module.built.classpath;
        let version = &module.context.settings.pit_version;
        let (plugin, needed) = choose_plugins(classpath).map_err(|(why, hint)| {
            GateAbort::setup(
                format!(
                    "{} tests with {why}.",
                    text::module_subject(&module.context.package.name, &module.module.dir)
                ),
                hint,
            )
        })?;
        let mut artifacts = vec![format!("org.pitest:pitest-command-line:{version}")];
        artifacts.extend(plugin.map(str::to_owned));
        let pit = module.maven.resolve_artifacts(&artifacts)?;
        let mut child = child_of(&pit);
        if !needed.is_empty() {
            child.extend(module.maven.resolve_artifacts(&needed)?);
        }
        Ok(Self { pit, child })
    }
}

/// PIT's plugin for the framework in which a module's tests are written, and artifacts that this lacks on the class path
/// (Surefire adds Jupiter's engine). None for JUnit 4, and for frameworks that PIT does not know. An error says what
/// they are written in, and what to do.
fn choose_plugins(classpath: &[String]) -> Result<(Option<&'static str>, Vec<String>), PitRefusal> {
    let jupiter = find_version(classpath, "junit-jupiter-api");
    let platform = find_version(classpath, "junit-platform-engine")
        .or_else(|| jupiter.as_deref().map(platform_of));
    if let Some(platform) = platform {
        // With them PIT's plugin ends the JVM of the tests.
        if is_older(&platform, (1, 5)) {
            let hint = "Use a newer org.junit.jupiter:junit-jupiter.";
            return Err(("a JUnit 5 before 5.5, which PIT cannot run", hint));
        }
        let mut lacking = Vec::new();
        if find_version(classpath, "junit-platform-launcher").is_none() {
            lacking.push(format!(
                "org.junit.platform:junit-platform-launcher:{platform}"
            ));
        }
        if let Some(jupiter) = jupiter
            && find_version(classpath, "junit-jupiter-engine").is_none()
        {
            lacking.push(format!("org.junit.jupiter:junit-jupiter-engine:{jupiter}"));
        }
        return Ok((Some(JUNIT_PLUGIN), lacking));
    }
    match find_version(classpath, "junit").or_else(|| find_version(classpath, "junit-dep")) {
        Some(junit) if junit.starts_with("3.") => Err((
            "JUnit 3, which PIT cannot run alone",
            "Use junit:junit:4.13.2 in its place: it runs tests of JUnit 3 as they are.",
        )),
        Some(_) => Ok((None, Vec::new())),
        None => Ok((
            find_version(classpath, "testng").map(|_| TESTNG_PLUGIN),
            Vec::new(),
        )),
    }
}

/// Returns the version of an artifact on a class path.
fn find_version(classpath: &[String], artifact: &str) -> Option<String> {
    let mut jars = classpath.iter().filter_map(|entry| parse_jar(entry));
    jars.find(|(name, _)| *name == artifact)
        .map(|(_, version)| version.to_owned())
}

/// The jars of PIT that the tests' JVM needs: its core and the test plugin, none of its libraries.
fn child_of(pit: &[String]) -> Vec<String> {
    let names = [
        "pitest",
        "pitest-entry",
        "pitest-junit5-plugin",
        "pitest-testng-plugin",
    ];
    pit.iter()
        .filter(|jar| artifact_of(jar).is_some_and(|name| names.contains(&name)))
        .cloned()
        .collect()
}

/// The platform that belongs to a Jupiter version: 5.x to 1.x, the same from 6 on.
fn platform_of(jupiter: &str) -> String {
    jupiter
        .strip_prefix("5.")
        .map_or_else(|| jupiter.to_owned(), |rest| format!("1.{rest}"))
}

/// Artifact and version of `…/<artifact>/<version>/<artifact>-<version>.jar`, as a Maven repository lays it out.
fn parse_jar(entry: &str) -> Option<(&str, &str)> {
    let name = entry.rsplit('/').next()?.strip_suffix(".jar")?;
    let at = name
        .match_indices('-')
        .map(|(at, _)| at)
        .find(|at| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?;
    Some((&name[..at], &name[at + 1..]))
}

pub(super) fn artifact_of(entry: &str) -> Option<&str> {
    parse_jar(entry).map(|(artifact, _)| artifact)
}

#[cfg(test)]
mod tests {
    use super::{JUNIT_PLUGIN, PitRefusal, TESTNG_PLUGIN, artifact_of, choose_plugins};

    type Plugins = Result<(Option<&'static str>, Vec<String>), PitRefusal>;

    fn of(jars: &[&str]) -> Plugins {
        choose_plugins(
            &jars
                .iter()
                .map(|jar| format!("/m2/{jar}.jar"))
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn the_framework_is_told_by_the_jars_as_surefire_tells_it() {
        let needs = |plugin: Option<&'static str>, needed: &[&str]| {
            Ok((
                plugin,
                needed
                    .iter()
                    .map(|artifact| (*artifact).to_owned())
                    .collect(),
            ))
        };
        let platform = |needed: &[&str]| needs(Some(JUNIT_PLUGIN), needed);
        let launcher = "org.junit.platform:junit-platform-launcher:1.10.2";
        let table: [(&[&str], Plugins); 8] = [
            (&["junit-4.13.2", "hamcrest-core-1.3"], needs(None, &[])),
            (
                &[
                    "junit-jupiter-api-5.10.2",
                    "junit-jupiter-engine-5.10.2",
                    "junit-platform-engine-1.10.2",
                ],
                platform(&[launcher]),
            ),
            (
                &[
                    "junit-jupiter-api-6.0.1",
                    "junit-jupiter-engine-6.0.1",
                    "junit-platform-engine-6.0.1",
                    "junit-platform-launcher-6.0.1",
                ],
                platform(&[]),
            ),
            (
                &["junit-jupiter-api-5.10.2", "junit-4.13.2"],
                platform(&[launcher, "org.junit.jupiter:junit-jupiter-engine:5.10.2"]),
            ),
            (
                &["junit-jupiter-api-6.0.1"],
                platform(&[
                    "org.junit.platform:junit-platform-launcher:6.0.1",
                    "org.junit.jupiter:junit-jupiter-engine:6.0.1",
                ]),
            ),
            (
                &[
                    "junit-4.13.2",
                    "junit-vintage-engine-5.10.2",
                    "junit-platform-engine-1.10.2",
                ],
                platform(&[launcher]),
            ),
            (&["testng-7.10.2"], needs(Some(TESTNG_PLUGIN), &[])),
            (
                &["junit-platform-commons-1.10.2", "guava-33.0-jre"],
                needs(None, &[]),
            ),
        ];
        for (jars, expected) in table {
            assert_eq!(of(jars), expected, "{jars:?}");
        }
        assert_eq!(
            of(&["junit-3.8.2"]).unwrap_err().0,
            "JUnit 3, which PIT cannot run alone"
        );
    }

    #[test]
    fn platforms_before_1_5_are_too_old() {
        let old = ["1.0.3", "1.4.2", "1.5.0", "1.10.2", "1.41.0", "6.0.1"]
            .map(|version| of(&[&format!("junit-platform-engine-{version}")]).is_err());
        assert_eq!(old, [true, true, false, false, false, false]);
    }

    #[test]
    fn the_artifact_is_what_stands_before_its_version() {
        assert_eq!(
            artifact_of("/x/pitest-junit5-plugin-1.2.3.jar"),
            Some("pitest-junit5-plugin")
        );
        assert_eq!(artifact_of("/x/pitest-1.25.9.jar"), Some("pitest"));
        assert_eq!(artifact_of("/x/classes"), None);
    }
}
