//! Surefire's settings for the tests: options, properties, environment, excludes, groups.
//!
//! A setting that is not carried over is named; an option with an unresolved placeholder
//! (`@{argLine}`, which other plugins fill late) is left out, and so is the agent of `jacoco`: it adds members to each
//! class, so that the JVM refuses every mutant of it. PIT would leave it out where it can see it.
//!
//! The settings are those of the execution `default-test`, or of the first execution that runs where that one is off. Categories of
//! JUnit 4 count only on classes, because PIT does not see those of methods.

use crate::gate::xml::Node;
use regex_lite::{Captures, Regex};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Settings that change how tests run and that PIT has no equal for.
const NOT_CARRIED: &str = "classpathDependencyExcludes classpathDependencyScopeExclude includesFile excludesFile \
    jdkToolchain properties suiteXmlFiles";

/// Surefire's settings of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Surefire {
    /// Arguments of the JVM (`argLine`), one each.
    pub(crate) jvm_args: Vec<String>,
    /// System properties.
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Test classes that do not run, as path patterns (`**/perf/*Test.java`).
    pub(crate) excludes: Vec<String>,
    /// The only ones that run, in place of Surefire's default names.
    pub(crate) includes: Vec<String>,
    /// Those that Failsafe runs besides its default names.
    pub(crate) failsafe_includes: Vec<String>,
    /// Groups or tags that run.
    pub(crate) groups: Option<String>,
    /// Groups or tags that do not run.
    pub(crate) excluded_groups: Option<String>,
    /// Working directory of the tests.
    pub(crate) working_directory: Option<String>,
    /// More entries of the class path.
    pub(crate) more_classpath: Vec<String>,
    /// The home of the JDK that runs the tests, if a setting, a toolchain or a command names one.
    pub(crate) jdk: Option<PathBuf>,
    /// Names of settings that are not carried over.
    pub(crate) not_passed_to_pit: BTreeSet<String>,
}

/// Reads the settings from an effective `<project>`.
pub(crate) fn read_surefire(project: &Node) -> Surefire {
    let plugin = find_plugins(project, "maven-surefire-plugin").next();
    let failsafe = find_plugins(project, "maven-failsafe-plugin")
        .flat_map(|plugin| plugin.children_at(&["executions"]).iter().chain([plugin]));
    let execution = plugin.and_then(|plugin| {
        let running = plugin
            .children_at(&["executions"])
            .iter()
            .filter(|execution| !is_off(execution));
        // If the default one is off, another runs the tests.
        running.min_by_key(|execution| execution.text_at(&["id"]) != Some("default-test"))
    });
    let empty = Node::default();
    let configuration = execution
        .and_then(|execution| execution.element_at(&["configuration"]))
        .or_else(|| plugin.and_then(|plugin| plugin.element_at(&["configuration"])))
        .unwrap_or(&empty);
    let setting = |name: &str| {
        configuration
            .text_at(&[name])
            .or_else(|| project.text_at(&["properties", name]))
            .map(str::to_owned)
    };
    let mut surefire = Surefire {
        jvm_args: setting("argLine")
            .map(|line| split_arguments(&fill_properties(&line, project)))
            .unwrap_or_default(),
        properties: read_variables(configuration.children_at(&["systemPropertyVariables"])),
        environment: read_variables(configuration.children_at(&["environmentVariables"])),
        excludes: list_texts(configuration.children_at(&["excludes"])),
        includes: list_texts(configuration.children_at(&["includes"])),
        failsafe_includes: failsafe
            .flat_map(|place| list_texts(place.children_at(&["configuration", "includes"])))
            .collect(),
        groups: setting("groups"),
        excluded_groups: setting("excludedGroups"),
        working_directory: configuration
            .text_at(&["workingDirectory"])
            .map(str::to_owned),
        more_classpath: list_texts(configuration.children_at(&["additionalClasspathElements"])),
        jdk: setting("jvm").and_then(|java| Some(Path::new(&java).ancestors().nth(2)?.to_owned())),
        not_passed_to_pit: BTreeSet::new(),
    };
    for property in configuration.children_at(&["systemProperties"]) {
        if let (Some(name), value) = (property.text_at(&["name"]), property.text_at(&["value"])) {
            surefire
                .properties
                .insert(name.to_owned(), value.unwrap_or_default().to_owned());
        }
    }
    let found = NOT_CARRIED
        .split(' ')
        .filter(|name| configuration.element_at(&[name]).is_some());
    surefire.not_passed_to_pit.extend(found.map(str::to_owned));
    if has_odd_pattern(&surefire.excludes) {
        let name = "excludes with %regex[] or !".to_owned();
        surefire.not_passed_to_pit.insert(name);
    }
    if has_odd_pattern(&surefire.includes) {
        let name = "includes with %regex[] or !".to_owned();
        surefire.not_passed_to_pit.insert(name);
        surefire.includes.clear();
    }
    surefire
}

/// The plugins of this name in an effective `<project>`.
pub(crate) fn find_plugins<'p>(project: &'p Node, name: &str) -> impl Iterator<Item = &'p Node> {
    let plugins = project.children_at(&["build", "plugins"]).iter();
    plugins.filter(move |plugin| plugin.text_at(&["artifactId"]) == Some(name))
}

/// True if a pattern is a regular expression or a negation.
fn has_odd_pattern(patterns: &[String]) -> bool {
    patterns
        .iter()
        .any(|pattern| pattern.starts_with(['%', '!']))
}

/// True for an execution that runs no tests.
fn is_off(execution: &Node) -> bool {
    let mut switches = ["skip", "skipTests"].iter();
    execution.text_at(&["phase"]) == Some("none")
        || switches.any(|name| execution.text_at(&["configuration", name]) == Some("true"))
}

/// The texts of these nodes, each a list with commas between.
pub(crate) fn list_texts(nodes: &[Node]) -> Vec<String> {
    let texts = nodes.iter().flat_map(|node| node.text.split(','));
    texts
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

fn read_variables(nodes: &[Node]) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for node in nodes {
        let value = node.text.replace("${surefire.forkNumber}", "1");
        variables.insert(node.name.clone(), value);
    }
    variables
}

/// Replaces each `@{name}` (Surefire's late placeholders) and `${name}` that is a property of the project once its
/// goals have run (`dependency:properties` sets the paths of agents).
fn fill_properties(line: &str, project: &Node) -> String {
    let Ok(placeholder) = Regex::new(r"[@$]\{([^}]*)\}") else {
        return line.to_owned();
    };
    let filled = placeholder.replace_all(line, |found: &Captures<'_>| {
        let property = project.element_at(&["properties", &found[1]]);
        property.map_or(found[0].to_owned(), |property| property.text.clone())
    });
    filled.into_owned()
}

/// Splits a line of arguments at white space outside quotes; drops those that PIT's JVMs may not have.
fn split_arguments(line: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => arguments.extend(current.take()),
            (_, c) => current.get_or_insert_default().push(c),
        }
    }
    arguments.extend(current);
    arguments.retain(|argument| {
        let is_jacoco = argument.starts_with("-javaagent:") && argument.contains("jacoco");
        !argument.contains("@{") && !argument.contains("${") && !is_jacoco
    });
    arguments
}

#[cfg(test)]
mod tests {
    use super::{fill_properties, read_surefire, split_arguments};
    use crate::gate::xml;
    use std::path::Path;

    #[test]
    fn late_placeholders_are_filled_from_the_projects_properties() {
        let project = xml::parse_xml(
            "<project><properties><known>-Xa -Xb</known><void/></properties></project>",
        )
        .unwrap();
        assert_eq!(
            fill_properties("-x @{known} @{void}@{other} @{open", &project),
            "-x -Xa -Xb @{other} @{open"
        );
        assert_eq!(
            fill_properties("${other}@{other} ${known}", &project),
            "${other}@{other} -Xa -Xb"
        );
    }

    #[test]
    fn the_settings_of_the_test_goal_are_read_and_what_is_not_carried_is_named() {
        let pom = "<project><properties><argLine>-ea</argLine><groups>fast</groups></properties><build><plugins><plugin>\
            <artifactId>maven-surefire-plugin</artifactId><executions><execution><id>default-test</id><configuration>\
            <systemPropertyVariables><a.b>c d</a.b><n>${surefire.forkNumber}</n></systemPropertyVariables>\
            <systemProperties><property><name>old</name><value>v</value></property></systemProperties>\
            <environmentVariables><E>1</E></environmentVariables><excludes><exclude>**/perf/*.java</exclude></excludes>\
            <includes><include>**/*Test.java</include><include>%regex[x]</include></includes>\
            <excludesFile>x</excludesFile><properties><configurationParameters>x</configurationParameters></properties><jvm>/jdk 21/bin/java</jvm></configuration></execution></executions></plugin><plugin><artifactId>maven-failsafe-plugin</artifactId>\
            <configuration><includes><include>**/Live*, **/e2e/**</include></includes></configuration></plugin></plugins></build></project>";
        let surefire = read_surefire(&xml::parse_xml(pom).unwrap());
        assert_eq!(surefire.jvm_args, ["-ea"]);
        assert_eq!(surefire.properties["a.b"], "c d");
        assert_eq!(
            (
                surefire.properties["old"].as_str(),
                surefire.properties["n"].as_str()
            ),
            ("v", "1")
        );
        assert_eq!(surefire.environment["E"], "1");
        assert_eq!(surefire.excludes, ["**/perf/*.java"]);
        assert_eq!(surefire.groups.as_deref(), Some("fast"));
        for name in ["excludesFile", "properties"] {
            assert!(surefire.not_passed_to_pit.contains(name), "{name}");
        }
        assert_eq!(surefire.jdk.as_deref(), Some(Path::new("/jdk 21")));
        assert_eq!(surefire.failsafe_includes, ["**/Live*", "**/e2e/**"]);
        assert!(
            surefire.includes.is_empty(),
            "one that cannot be read would leave out what it names"
        );
        assert!(
            surefire
                .not_passed_to_pit
                .contains("includes with %regex[] or !")
        );
    }

    #[test]
    fn where_the_default_execution_is_off_the_next_runs_the_tests() {
        let groups = |off: &str| {
            let execution = |id: &str, off: &str, more: &str| {
                format!(
                    "<execution><id>{id}</id>{more}<configuration>{off}<groups>{id}</groups></configuration></execution>"
                )
            };
            let executions = [
                execution("slow", "<skip>true</skip>", ""),
                execution("ours", "", ""),
                execution(
                    "default-test",
                    off,
                    if off.is_empty() {
                        "<phase>none</phase>"
                    } else {
                        ""
                    },
                ),
            ];
            let pom = format!(
                "<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><executions>{}</executions>\
                 <configuration><groups>all</groups></configuration></plugin></plugins></build></project>",
                executions.concat()
            );
            read_surefire(&xml::parse_xml(&pom).unwrap())
                .groups
                .unwrap()
        };
        assert_eq!(groups(""), "ours");
        assert_eq!(groups("<skipTests>true</skipTests>"), "ours");
        assert_eq!(groups("<skipTests>false</skipTests>"), "default-test");
    }

    #[test]
    fn arguments_split_at_white_space_outside_quotes_and_placeholders_and_jacoco_go() {
        assert_eq!(
            split_arguments(" -Xmx1g  \"-Da=b c\" -Dd='e f' @{argLine} ${late} "),
            ["-Xmx1g", "-Da=b c", "-Dd=e f"]
        );
        assert_eq!(split_arguments("\"\" x"), ["", "x"]);
        let agents = "-javaagent:/m2/org.jacoco.agent-0.8.12-runtime.jar=destfile=/t/jacoco.exec -javaagent:/m2/mockito.jar";
        assert_eq!(split_arguments(agents), ["-javaagent:/m2/mockito.jar"]);
    }
}
