//! The goals of Maven that read no Java source: javac may compile a change of Java files without them.

use super::super::xml::Node;
use std::collections::BTreeSet;

/// Goals that read no Java source and neither make nor change a class, by plugin.
const READ_NO_JAVA: [(&str, &str); 15] = [
    // Copy resources, the second those that jars hold.
    ("resources", "resources testResources"),
    ("remote-resources", "process"),
    // The compiler itself: javac is called as it was.
    ("compiler", "compile testCompile"),
    // Copies files that are not Java: this is checked for each project.
    ("antrun", "run"),
    // Checks the versions of plugins.
    ("artifact", "check-buildplan"),
    // Set properties, or add a folder: javac is not used if there are Java files in it.
    (
        "build-helper",
        "add-resource add-source add-test-resource add-test-source maven-version parse-version regex-properties \
         regex-property reserve-network-port rootlocation timestamp-property",
    ),
    // Set properties from the version control.
    ("buildnumber", "create create-timestamp"),
    ("git-commit-id", "revision"),
    // Writes a manifest for the jar; one among the classes is refused by the proof.
    ("bundle", "manifest"),
    // Name the class path and the effective POM (ralph's own calls), copy jars, set properties.
    (
        "dependency",
        "build-classpath copy copy-dependencies properties",
    ),
    ("help", "effective-pom"),
    // Checks the JDK, Maven, dependencies and the POM.
    ("enforcer", "enforce"),
    // Writes a POM.
    ("flatten", "flatten"),
    // Set properties.
    ("jacoco", "prepare-agent"),
    ("properties", "read-project-properties"),
];
/// Checks of sources and classes, which may fail the build, each with the property that switches it off.
const CHECKS: [(&str, &str); 7] = [
    ("animal-sniffer:check", "animal.sniffer.skip"),
    ("apache-rat:check", "rat.skip"),
    ("checkstyle:check", "checkstyle.skip"),
    ("license:check", "license.skip"),
    ("pmd:check", "pmd.skip"),
    ("pmd:cpd-check", "cpd.skip"),
    ("spotless:check", "spotless.check.skip"),
];
/// Phases that come after `test-compile`, or belong to another lifecycle.
const LATER: &str = "process-test-classes test prepare-package package pre-integration-test integration-test \
    post-integration-test verify install deploy pre-site site post-site site-deploy pre-clean clean post-clean";
/// Elements of antrun's configuration that do nothing but copy.
const COPYING: [&str; 7] = [
    "target", "tasks", "copy", "fileset", "include", "exclude", "mkdir",
];

/// True for a goal (`plugin:goal`) that reads no Java source in a build with these arguments; `plugins` are those
/// of [`configured_otherwise`].
pub(super) fn reads_no_java(goal: &str, arguments: &[String], plugins: &BTreeSet<String>) -> bool {
    let (plugin, name) = goal.split_once(':').unwrap_or((goal, ""));
    let reads_none = READ_NO_JAVA.iter().any(|(of, goals): &(&str, &str)| {
        *of == plugin && goals.split(' ').any(|known| known == name)
    });
    !plugins.contains(plugin)
        && (reads_none
            || CHECKS.iter().any(|(name, property): &(&str, &str)| {
                *name == goal && is_set(property, arguments)
            }))
}

/// True if the arguments set the property to true, and nothing else.
fn is_set(property: &str, arguments: &[String]) -> bool {
    let values: Vec<&str> = arguments
        .iter()
        .filter_map(|argument| {
            let option = argument.strip_prefix("-D")?;
            let (name, value) = option.split_once('=').unwrap_or((option, "true"));
            (name == property).then_some(value)
        })
        .collect();
    !values.is_empty() && values.iter().all(|value| *value == "true")
}

/// The plugins (short names) of an effective POM whose configuration belies the tables above: antrun that does more
/// than copying files that are not Java, and a check that no argument can skip.
pub(super) fn configured_otherwise(project: &Node) -> BTreeSet<String> {
    let plugins = project.children_at(&["build", "plugins"]).iter();
    let named =
        plugins.filter_map(|plugin| Some((short_name(plugin.text_at(&["artifactId"])?), plugin)));
    let otherwise = named.filter(|(name, plugin)| {
        let executions = plugin
            .children_at(&["executions"])
            .iter()
            .filter(|execution| {
                execution
                    .text_at(&["phase"])
                    .is_none_or(|phase| !LATER.split(' ').any(|later| later == phase))
            });
        let mut parts = executions.chain(plugin.first_child("configuration"));
        *name == "antrun"
            && parts.any(|part| {
                part.any_below(&|node: &Node| {
                    matches!(&node.name[..], "target" | "tasks") && !only_copies(node)
                })
            })
            || plugin
                .any_below(&|node: &Node| node.name.starts_with("skip") && node.text == "false")
    });
    otherwise.map(|(name, _)| name.to_owned()).collect()
}

/// True if an Ant target copies nothing but files that are named and are not Java.
fn only_copies(target: &Node) -> bool {
    !target.any_below(&may_copy_java)
}

/// True for an element that does more than copying, or that may copy Java.
fn may_copy_java(node: &Node) -> bool {
    let has_include = node.children.iter().any(|child| child.name == "include");
    !COPYING.contains(&&node.name[..])
        || node.name == "fileset" && !has_include
        || !node
            .attributes
            .iter()
            .all(
                |(name, value): &(String, String)| match (&node.name[..], &name[..]) {
                    ("include", "name") | ("copy", "file") => is_not_java(value),
                    ("fileset" | "mkdir", "dir")
                    | ("copy", "todir" | "tofile")
                    | ("exclude", "name") => true,
                    (_, name) => name == "xmlns" || name == "combine.self",
                },
            )
}

/// `compiler` of `maven-compiler-plugin`, `jacoco` of `jacoco-maven-plugin`.
pub(super) fn short_name(plugin: &str) -> &str {
    let plugin = plugin.strip_prefix("maven-").unwrap_or(plugin);
    let plugin = plugin.strip_suffix("-plugin").unwrap_or(plugin);
    plugin.strip_suffix("-maven").unwrap_or(plugin)
}

/// True for a pattern of Maven's or Ant's that no Java file matches.
pub(super) fn is_not_java(pattern: &str) -> bool {
    let name = pattern.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, kind) = name.rsplit_once('.').unwrap_or(("", name));
    !kind.is_empty() && !kind.contains(['*', '?']) && (kind != "java" || stem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{configured_otherwise, reads_no_java};
    use crate::gate::java::xml;
    use std::collections::BTreeSet;

    #[test]
    fn a_check_of_sources_counts_as_left_out_only_when_an_argument_skips_it() {
        let none = BTreeSet::new();
        let reads_none = |goal: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
            reads_no_java(goal, &arguments, &none)
        };
        for (goal, arguments, expected) in [
            ("buildnumber:create", &[][..], true),
            ("exec:java", &[], false),
            ("aspectj:compile", &[], false),
            ("resources:copy-resources", &[], false),
            ("apache-rat:check", &[], false),
            ("apache-rat:check", &["-Drat.skip"], true),
            (
                "apache-rat:check",
                &["-Drat.skip=true", "-Dcheckstyle.skip"],
                true,
            ),
            (
                "apache-rat:check",
                &["-Drat.skip", "-Drat.skip=false"],
                false,
            ),
            ("apache-rat:check", &["-Drat.skipped", "-o"], false),
            ("checkstyle:check", &["-Drat.skip"], false),
        ] {
            assert_eq!(
                reads_none(goal, arguments),
                expected,
                "{goal} {arguments:?}"
            );
        }
        assert!(!reads_no_java(
            "antrun:run",
            &[],
            &BTreeSet::from(["antrun".to_owned()])
        ));
    }

    #[test]
    fn ant_must_do_nothing_but_copy_files_that_are_named_and_a_check_must_be_one_that_can_be_skipped()
     {
        let plugin = |name: &str, inside: &str| {
            let text = format!(
                "<project><build><plugins><plugin><artifactId>{name}</artifactId>{inside}</plugin></plugins></build></project>"
            );
            configured_otherwise(&xml::parse_xml(&text).unwrap())
                .into_iter()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let ant = |tasks: &str| {
            let target = format!("<configuration><target>{tasks}</target></configuration>");
            plugin(
                "maven-antrun-plugin",
                &format!("<executions><execution>{target}</execution></executions>"),
            )
        };
        let copied = |include: &str| {
            format!("<copy todir='/w/target/x'><fileset dir='/w'>{include}</fileset></copy>")
        };
        for (tasks, harmless) in [
            (String::new(), true),
            (
                copied("<include name='LICENSE.txt'/><include name='NOTICE.txt'/>"),
                true,
            ),
            (copied("<include name='**/*.java'/>"), false),
            (copied("<include name='**'/>"), false),
            (copied(""), false),
            ("<copy todir='/w' file='/w/A.java'/>".to_owned(), false),
            (
                "<fileset dir='/w' includes='**/*.java'><include name='a.txt'/></fileset>"
                    .to_owned(),
                false,
            ),
            ("<exec executable='sh'/>".to_owned(), false),
            (
                "<copy todir='/w'><filterset refid='x'/></copy>".to_owned(),
                false,
            ),
        ] {
            assert_eq!(ant(&tasks), if harmless { "" } else { "antrun" }, "{tasks}");
        }
        assert_eq!(
            plugin(
                "apache-rat-plugin",
                "<configuration><skip>false</skip></configuration>"
            ),
            "apache-rat"
        );
        assert_eq!(
            plugin(
                "apache-rat-plugin",
                "<configuration><skip>true</skip></configuration>"
            ),
            ""
        );
    }
}
