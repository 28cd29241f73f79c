//! One module of an effective POM: its folders, its compiler and its tests.
//!
//! A module that the effective POM does not show is `None`, never a guess. A compiler that is not the one of Maven's own JVM,
//! and resources that Java files could be, are told; settings in executions and profiles count like any other.

use super::super::surefire::{self, Surefire};
use super::super::xml::Node;
use super::goals::{configured_otherwise, is_not_java};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// A module as its effective POM describes it; paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Project {
    /// Compiled production classes.
    pub(crate) classes: String,
    /// Compiled test classes.
    pub(crate) test_classes: String,
    /// Production sources.
    pub(crate) sources: String,
    pub(crate) test_sources: String,
    /// The settings of its compiler.
    pub(crate) compiling: Compiling,
    /// Surefire's settings for its tests.
    pub(crate) surefire: Surefire,
}

/// Finds the project whose folder is `home`.
pub(super) fn read_project(root: &Node, home: &Path) -> Option<Project> {
    let one = std::slice::from_ref(root);
    let projects = if root.name == "projects" {
        root.children.as_slice()
    } else {
        one
    };
    let home = home.display().to_string();
    let project = projects
        .iter()
        .find(|node| {
            [
                ("sourceDirectory", "src/main/java"),
                ("testSourceDirectory", "src/test/java"),
                ("directory", "target"),
            ]
            .iter()
            .any(|(name, end)| node.text_at(&["build", name]) == Some(&format!("{home}/{end}")))
        })
        .or_else(|| (projects.len() == 1).then_some(&projects[0]))?;
    let text = |name: &str| project.text_at(&["build", name]).map(str::to_owned);
    let (sources, test_sources) = (text("sourceDirectory")?, text("testSourceDirectory")?);
    let compiling = read_compiling(project, [&sources, &test_sources]);
    Some(Project {
        classes: text("outputDirectory")?,
        test_classes: text("testOutputDirectory")?,
        sources,
        test_sources,
        compiling,
        surefire: surefire::read_surefire(project),
    })
}

/// Settings by which the plugin starts another compiler than that of Maven's own JVM, each with the value that
/// leaves it at that, if there is one (`executable` has a say only with `fork`).
const FOREIGN: [(&str, Option<&str>); 4] = [
    ("fork", Some("false")),
    ("jdkToolchain", None),
    ("compilerId", Some("javac")),
    ("forceJavacCompilerUse", Some("false")),
];
/// Settings by which it picks source files.
const PICKS: [&str; 4] = ["includes", "excludes", "testIncludes", "testExcludes"];

/// A module's ways of compiling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compiling {
    /// The compiler is that of Maven's JVM, and no Java file is a resource.
    pub(crate) is_usual: bool,
    /// Only some of the source files are compiled.
    pub(crate) picks_sources: bool,
    /// Plugins that are configured to do more than their goals usually do.
    pub(crate) configured_otherwise: BTreeSet<String>,
    /// The folders of resources of production code.
    pub(crate) resources: Vec<Resource>,
    /// The same of the tests.
    pub(crate) test_resources: Vec<Resource>,
}

/// A folder of resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resource {
    /// Absolute.
    pub(crate) folder: String,
    /// Their folder below that of classes; mostly empty.
    pub(crate) target: String,
    may_be_java: bool,
}

impl Resource {
    /// Resources that no pattern picks.
    #[cfg(test)]
    pub(super) fn new(folder: String, target: &str) -> Self {
        Self {
            folder,
            target: target.to_owned(),
            may_be_java: true,
        }
    }

    /// True when Java files below `sources` might be among them.
    fn overlaps_sources(&self, sources: &str) -> bool {
        let (folder, sources) = (Path::new(&self.folder), Path::new(sources));
        self.may_be_java && (folder.starts_with(sources) || sources.starts_with(folder))
    }
}

/// True when this (`name=value`, or an argument of Maven's with `-D`) sets a property of [`FOREIGN`].
pub(super) fn is_foreign(argument: &str) -> bool {
    argument
        .split_once("maven.compiler.")
        .is_some_and(|(_, set)| {
            let (name, value) = set.split_once('=').unwrap_or((set, "true"));
            sets_foreign(name, value)
        })
}

fn sets_foreign(name: &str, value: &str) -> bool {
    FOREIGN
        .iter()
        .any(|(setting, usual)| name == *setting && Some(value) != *usual)
}

/// Reads the project of a module; `sources` are its folders of Java files.
fn read_compiling(project: &Node, sources: [&str; 2]) -> Compiling {
    let plugins = project.children_at(&["build", "plugins"]).iter();
    let compiler: Vec<&Node> = plugins
        .filter(|plugin| plugin.text_at(&["artifactId"]) == Some("maven-compiler-plugin"))
        .collect();
    let foreign = compiler
        .iter()
        .any(|plugin| plugin.any_below(&|node| sets_foreign(&node.name, &node.text)));
    let picks_sources = compiler
        .iter()
        .any(|plugin| plugin.any_below(&|node| PICKS.contains(&node.name.as_str())));
    let properties = project.children_at(&["properties"]).iter();
    let set = properties
        .map(|one| format!("{}={}", one.name, one.text))
        .any(|one| is_foreign(&one));
    let [main, tests] = ["resources", "testResources"].map(|list| read_resources(project, list));
    let is_usual = !foreign
        && !set
        && !main.iter().chain(&tests).any(|resource| {
            sources
                .iter()
                .any(|folder| resource.overlaps_sources(folder))
        });
    let configured_otherwise = configured_otherwise(project);
    Compiling {
        is_usual,
        picks_sources,
        configured_otherwise,
        resources: main,
        test_resources: tests,
    }
}

fn read_resources(project: &Node, name: &str) -> Vec<Resource> {
    let mut resources = Vec::new();
    for resource in project.children_at(&["build", name]) {
        let Some(folder) = resource.text_at(&["directory"]) else {
            continue;
        };
        let target = resource.text_at(&["targetPath"]).unwrap_or_default();
        resources.push(Resource {
            folder: folder.to_owned(),
            target: target.to_owned(),
            may_be_java: may_be_java(resource),
        });
    }
    resources
}

/// True unless its patterns name files of other kinds alone.
fn may_be_java(resource: &Node) -> bool {
    let includes = resource.children_at(&["includes"]);
    let only_others = !includes.is_empty() && includes.iter().all(|node| is_not_java(&node.text));
    let mut excludes = resource.children_at(&["excludes"]).iter();
    !only_others && !excludes.any(|node| node.text == "**/*.java")
}

#[cfg(test)]
mod tests {
    use super::{is_foreign, read_compiling, read_project};
    use crate::gate::java::xml;
    use std::path::Path;

    fn project(home: &str) -> String {
        format!(
            "<project><build><sourceDirectory>{home}/src/main/java</sourceDirectory>\
             <testSourceDirectory>{home}/src/test/java</testSourceDirectory><outputDirectory>{home}/target/classes</outputDirectory>\
             <testOutputDirectory>{home}/target/test-classes</testOutputDirectory></build></project>"
        )
    }

    #[test]
    fn the_module_is_found_among_those_of_its_reactor() {
        let all = format!(
            "<projects>{}{}</projects>",
            project("/w/p"),
            project("/w/p/a")
        );
        let root = xml::parse_xml(&all).unwrap();
        assert_eq!(
            read_project(&root, Path::new("/w/p/a")).unwrap().classes,
            "/w/p/a/target/classes"
        );
        assert_eq!(
            read_project(&root, Path::new("/w/p")).unwrap().classes,
            "/w/p/target/classes"
        );
        assert_eq!(read_project(&root, Path::new("/w/p/b")), None);
    }

    fn usual(build: &str, more: &str) -> (bool, bool) {
        let text = format!("<project><build>{build}</build>{more}</project>");
        let compiling = read_compiling(
            &xml::parse_xml(&text).unwrap(),
            ["/p/src/main/java", "/p/src/test/java"],
        );
        (compiling.is_usual, compiling.picks_sources)
    }

    fn compiler(settings: &str) -> String {
        format!(
            "<plugins><plugin><artifactId>maven-compiler-plugin</artifactId>{settings}</plugin></plugins>"
        )
    }

    #[test]
    fn another_compiler_and_a_choice_of_files_are_told_wherever_they_stand() {
        let configured = |settings: &str| {
            usual(
                &compiler(&format!("<configuration>{settings}</configuration>")),
                "",
            )
        };
        assert_eq!(
            configured("<release>17</release><parameters>true</parameters>"),
            (true, false)
        );
        assert_eq!(configured("<fork>true</fork>"), (false, false));
        assert_eq!(
            configured("<fork>false</fork><executable>javac</executable>"),
            (true, false)
        );
        assert_eq!(
            configured("<jdkToolchain><version>11</version></jdkToolchain>"),
            (false, false)
        );
        assert_eq!(
            configured("<testExcludes><testExclude>x</testExclude></testExcludes>"),
            (true, true)
        );
        let execution = "<executions><execution><configuration><compilerId>eclipse</compilerId></configuration></execution></executions>";
        assert_eq!(usual(&compiler(execution), ""), (false, false));
        let property = "<properties><maven.compiler.fork>true</maven.compiler.fork></properties>";
        assert_eq!(usual("", property), (false, false));
        for (argument, foreign) in [
            ("-Dmaven.compiler.fork=true", true),
            ("-Dmaven.compiler.fork", true),
            ("-Dmaven.compiler.fork=false", false),
            ("-Dmaven.compiler.release=17", false),
        ] {
            assert_eq!(is_foreign(argument), foreign, "{argument}");
        }
    }

    #[test]
    fn resources_beside_java_files_must_be_of_another_kind() {
        for (resource, is_usual) in [
            ("<directory>/p/src/main/resources</directory>", true),
            ("<directory>/p/src/main/java</directory>", false),
            ("<directory>/p/src/main/java/com</directory>", false),
            ("<directory>/p</directory>", false),
            (
                "<directory>/p</directory><includes><include>NOTICE.txt</include></includes>",
                true,
            ),
            (
                "<directory>/p/src/main/java</directory><includes><include>**/*.xml</include></includes>",
                true,
            ),
            (
                "<directory>/p/src/main/java</directory><includes><include>**/*Template.java</include></includes>",
                false,
            ),
            (
                "<directory>/p/src/main/java</directory><includes><include>**/*.*</include></includes>",
                false,
            ),
            (
                "<directory>/p/src/test/java</directory><includes><include>data/</include></includes>",
                false,
            ),
            (
                "<directory>/p</directory><includes><include>LICENSE</include><include>NOTICE.txt</include></includes>",
                true,
            ),
            (
                "<directory>/p</directory><includes><include>LICENSE</include><include>**</include></includes>",
                false,
            ),
            (
                "<directory>/p/src/main/java</directory><excludes><exclude>**/*.java</exclude></excludes>",
                true,
            ),
        ] {
            for list in ["resources", "testResources"] {
                let build = format!("<{list}><resource>{resource}</resource></{list}>");
                assert_eq!(usual(&build, "").0, is_usual, "{build}");
            }
        }
    }
}
