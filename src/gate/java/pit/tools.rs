//! PIT's jars and what the tests' framework needs beside them.
//!
//! Artifacts come from the project's own Maven, once; versions are fixed or the project's own.

use super::super::context::ModuleContext;
use crate::gate::GateAbort;

/// PIT's plugin for the JUnit platform (5 and 6).
const JUNIT_PLUGIN: &str = "org.pitest:pitest-junit5-plugin:1.2.3";
/// PIT's plugin for `TestNG`.
const TESTNG_PLUGIN: &str = "org.pitest:pitest-testng-plugin:1.0.0";

/// The framework in which a module's tests are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Framework {
    /// JUnit 5 or 6: version of the platform, and of Jupiter when its engine must be added.
    Platform {
        /// Version of `junit-platform-*`.
        platform: String,
        /// The launcher is on the class path.
        launcher: bool,
        /// Jupiter's engine is missing (Surefire adds it): its version.
        jupiter: Option<String>,
    },
    /// JUnit 4.
    JUnit4,
    /// JUnit 3, without the classes of JUnit 4 by which PIT runs its tests.
    JUnit3,
    /// TestNG without JUnit.
    TestNg,
    /// None that PIT knows.
    None,
}

/// The jars.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    /// For PIT itself.
    pub(crate) pit: Vec<String>,
    /// For the JVMs in which tests run, after the project's own class path.
    pub(crate) child: Vec<String>,
}

impl Framework {
    /// Finds the framework among the jars of a class path.
    pub(crate) fn of(classpath: &[String]) -> Self {
        let version = |artifact: &str| {
            let mut jars = classpath.iter().filter_map(|entry| jar(entry));
            jars.find(|(name, _)| *name == artifact).map(|(_, version)| version.to_owned())
        };
        let engine = version("junit-platform-engine");
        let api = version("junit-jupiter-api");
        if let Some(platform) = engine {
            let launcher = version("junit-platform-launcher").is_some();
            let has_engine = version("junit-jupiter-engine").is_some();
            return Self::Platform { platform, launcher, jupiter: api.filter(|_| !has_engine) };
        }
        if let Some(jupiter) = api {
            let platform = platform_of(&jupiter);
            return Self::Platform { platform, launcher: false, jupiter: Some(jupiter) };
        }
        match version("junit").or_else(|| version("junit-dep")) {
            Some(junit) if junit.starts_with("3.") => Self::JUnit3,
            Some(_) => Self::JUnit4,
            None if version("testng").is_some() => Self::TestNg,
            None => Self::None,
        }
    }
}

impl Tools {
    /// Gets the jars for a module.
    pub(crate) fn get(module: &ModuleContext<'_>) -> Result<Self, GateAbort> {
        let classpath = &module.built.classpath;
        let version = &module.context.settings.pit_version;
        let mut artifacts = vec![format!("org.pitest:pitest-command-line:{version}")];
        let mut needed = Vec::new();
        match Framework::of(classpath) {
            Framework::Platform { platform, .. } if is_older(&platform) => {
                return Err(GateAbort::setup(
                    format!(
                        "Module {} tests with a JUnit 5 before 5.5, which PIT cannot run.",
                        module.label()
                    ),
                    "Use a newer org.junit.jupiter:junit-jupiter.",
                ));
            }
            Framework::Platform { platform, launcher, jupiter } => {
                artifacts.push(JUNIT_PLUGIN.to_owned());
                if !launcher {
                    needed.push(format!("org.junit.platform:junit-platform-launcher:{platform}"));
                }
                needed.extend(
                    jupiter.map(|version| format!("org.junit.jupiter:junit-jupiter-engine:{version}")),
                );
            }
            Framework::TestNg => artifacts.push(TESTNG_PLUGIN.to_owned()),
            Framework::JUnit3 => {
                return Err(GateAbort::setup(
                    format!("Module {} tests with JUnit 3, which PIT cannot run alone.", module.label()),
                    "Use junit:junit:4.13.2 in its place: it runs tests of JUnit 3 as they are.",
                ));
            }
            Framework::JUnit4 | Framework::None => {}
        }
        let pit = module.maven.resolve(&artifacts)?;
        let mut child = child_of(&pit);
        if !needed.is_empty() {
            let present: Vec<&str> = classpath.iter().filter_map(|entry| artifact_of(entry)).collect();
            let jars = module.maven.resolve(&needed)?;
            child.extend(
                jars.into_iter().filter(|jar| artifact_of(jar).is_none_or(|name| !present.contains(&name))),
            );
        }
        Ok(Self { pit, child })
    }
}

/// Of PIT's jars those that the tests' JVM needs: its core and the test plugin, none of its libraries.
fn child_of(pit: &[String]) -> Vec<String> {
    let names = ["pitest", "pitest-entry", "pitest-junit5-plugin", "pitest-testng-plugin"];
    pit.iter().filter(|jar| artifact_of(jar).is_some_and(|name| names.contains(&name))).cloned().collect()
}

/// The platform that belongs to a Jupiter version: 5.x to 1.x, the same from 6 on.
fn platform_of(jupiter: &str) -> String {
    jupiter.strip_prefix("5.").map_or_else(|| jupiter.to_owned(), |rest| format!("1.{rest}"))
}

/// True for the platforms 1.0 to 1.4, with which PIT's plugin ends the JVM of the tests.
fn is_older(platform: &str) -> bool {
    (0..5).any(|minor| platform.starts_with(&format!("1.{minor}.")))
}

/// Artifact and version of `…/<artifact>/<version>/<artifact>-<version>.jar`, as a Maven repository lays it out.
fn jar(entry: &str) -> Option<(&str, &str)> {
    let name = entry.rsplit('/').next()?.strip_suffix(".jar")?;
    let is_version = |at: &usize| name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let at = name.match_indices('-').map(|(at, _)| at).find(is_version)?;
    Some((&name[..at], &name[at + 1..]))
}

pub(super) fn artifact_of(entry: &str) -> Option<&str> {
    jar(entry).map(|(artifact, _)| artifact)
}

#[cfg(test)]
mod tests {
    use super::{Framework, artifact_of, is_older};

    fn of(jars: &[&str]) -> Framework {
        Framework::of(&jars.iter().map(|jar| format!("/m2/{jar}.jar")).collect::<Vec<_>>())
    }

    #[test]
    fn the_framework_is_told_by_the_jars_as_surefire_tells_it() {
        let platform = |platform: &str, launcher, jupiter: Option<&str>| Framework::Platform {
            platform: platform.to_owned(),
            launcher,
            jupiter: jupiter.map(str::to_owned),
        };
        let table = [
            (&["junit-4.13.2", "hamcrest-core-1.3"][..], Framework::JUnit4),
            (
                &["junit-jupiter-api-5.10.2", "junit-jupiter-engine-5.10.2", "junit-platform-engine-1.10.2"],
                platform("1.10.2", false, None),
            ),
            (
                &[
                    "junit-jupiter-api-6.0.1",
                    "junit-jupiter-engine-6.0.1",
                    "junit-platform-engine-6.0.1",
                    "junit-platform-launcher-6.0.1",
                ],
                platform("6.0.1", true, None),
            ),
            (&["junit-jupiter-api-5.10.2", "junit-4.13.2"], platform("1.10.2", false, Some("5.10.2"))),
            (&["junit-jupiter-api-6.0.1"], platform("6.0.1", false, Some("6.0.1"))),
            (
                &["junit-4.13.2", "junit-vintage-engine-5.10.2", "junit-platform-engine-1.10.2"],
                platform("1.10.2", false, None),
            ),
            (&["junit-3.8.2"], Framework::JUnit3),
            (&["testng-7.10.2"], Framework::TestNg),
            (&["junit-platform-commons-1.10.2", "guava-33.0-jre"], Framework::None),
        ];
        for (jars, expected) in table {
            assert_eq!(of(jars), expected, "{jars:?}");
        }
    }

    #[test]
    fn platforms_before_1_5_are_too_old() {
        let old = ["1.0.3", "1.4.2", "1.5.0", "1.10.2", "1.41.0", "6.0.1"].map(is_older);
        assert_eq!(old, [true, true, false, false, false, false]);
    }

    #[test]
    fn the_artifact_is_what_stands_before_its_version() {
        assert_eq!(artifact_of("/x/pitest-junit5-plugin-1.2.3.jar"), Some("pitest-junit5-plugin"));
        assert_eq!(artifact_of("/x/pitest-1.25.9.jar"), Some("pitest"));
        assert_eq!(artifact_of("/x/classes"), None);
    }
}
