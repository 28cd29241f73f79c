//! One module of an effective POM: its folders, its compiler and its tests.
//!
//! A module that the effective POM does not show is `None`, never a guess. A compiler that is not the one of Maven's own JVM, or
//! that leaves files out, is not plain; settings in executions and profiles count like any other.

use super::super::surefire::{self, Surefire, find_plugins};
use crate::gate::xml::Node;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A module as its effective POM describes it; paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Project {
    /// Compiled production classes.
    pub(crate) classes: String,
    /// Compiled test classes.
    pub(crate) test_classes: String,
    /// Production sources.
    pub(crate) sources: String,
    pub(crate) test_sources: String,
    /// The compiler of Maven's JVM compiles all files of these folders.
    pub(crate) compiles_plainly: bool,
    /// Code that does not compile is no failure of the build.
    pub(crate) hides_errors: bool,
    /// The folders of resources of production code, each with its place below that of classes (mostly empty).
    pub(crate) resources: Vec<(String, String)>,
    pub(crate) test_resources: Vec<(String, String)>,
    /// Surefire's settings for its tests.
    pub(crate) surefire: Surefire,
}

/// Finds the project whose folder is `home`.
pub(super) fn read_project(root: &Node, home: &Path) -> Option<Project> {
    let projects = if root.name == "projects" {
        root.children.as_slice()
    } else {
        std::slice::from_ref(root)
    };
    let home = home.display().to_string();
    let project = projects
        .iter()
        .find(|node| {
            [
                ("sourceDirectory", "src/main/java"),
                ("directory", "target"),
            ]
            .iter()
            .any(|(name, end)| node.text_at(&["build", name]) == Some(&format!("{home}/{end}")))
        })
        .or_else(|| (projects.len() == 1).then_some(&projects[0]))?;
    let text = |name: &str| project.text_at(&["build", name]).map(str::to_owned);
    Some(Project {
        classes: text("outputDirectory")?,
        test_classes: text("testOutputDirectory")?,
        sources: text("sourceDirectory")?,
        test_sources: text("testSourceDirectory")?,
        compiles_plainly: compiles_plainly(project),
        hides_errors: hides_errors(project),
        resources: read_resources(project, "resources"),
        test_resources: read_resources(project, "testResources"),
        surefire: surefire::read_surefire(project),
    })
}

fn read_resources(project: &Node, name: &str) -> Vec<(String, String)> {
    let listed = project.children_at(&["build", name]).iter();
    let resources = listed.filter_map(|resource| {
        let target = resource.text_at(&["targetPath"]).unwrap_or_default();
        let folder = resource.text_at(&["directory"])?;
        Some((folder.to_owned(), target.to_owned()))
    });
    resources.collect()
}

/// Settings by which the plugin starts another compiler than that of Maven's own JVM, or picks source files: a new file may be
/// one that it leaves out. `false` is the default of those that are switches.
const UNUSUAL: [&str; 8] = [
    "fork",
    "jdkToolchain",
    "compilerId",
    "forceJavacCompilerUse",
    "includes",
    "excludes",
    "testIncludes",
    "testExcludes",
];

/// True when this name of a property, or argument of Maven's, sets one of [`UNUSUAL`].
pub(super) fn is_unusual(argument: &str) -> bool {
    let mut settings = UNUSUAL.iter();
    settings.any(|setting| argument.contains(&format!("maven.compiler.{setting}")))
}

/// True if the module's settings are such that the compiler of Maven's JVM compiles all files of its folders.
fn compiles_plainly(project: &Node) -> bool {
    let mut compilers = find_plugins(project, "maven-compiler-plugin");
    let mut properties = project.children_at(&["properties"]).iter();
    !compilers.any(|plugin| {
        plugin.any_below(&|node| UNUSUAL.contains(&node.name.as_str()) && node.text != "false")
    }) && !properties.any(|property| is_unusual(&property.name))
}

/// True if the POM sets the parameter to a word that Maven reads as false; ralph's argument replaces a property.
fn hides_errors(project: &Node) -> bool {
    find_plugins(project, "maven-compiler-plugin").any(|plugin| {
        plugin.any_below(&|node| {
            node.name == "failOnError" && !node.text.eq_ignore_ascii_case("true")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{compiles_plainly, hides_errors, is_unusual, read_project};
    use crate::gate::xml;
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

    #[test]
    fn errors_are_hidden_by_every_word_but_true() {
        for (word, hides) in [("false", true), ("no", true), ("True", false)] {
            let plugin = format!(
                "<project><build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration>\
                 <failOnError>{word}</failOnError></configuration></plugin></plugins></build></project>"
            );
            assert_eq!(
                hides_errors(&xml::parse_xml(&plugin).unwrap()),
                hides,
                "{word}"
            );
        }
    }

    #[test]
    fn another_compiler_and_a_choice_of_files_are_told_wherever_they_stand() {
        let is_plain = |build: &str, more: &str| {
            let text = format!("<project><build>{build}</build>{more}</project>");
            compiles_plainly(&xml::parse_xml(&text).unwrap())
        };
        let compiler = |settings: &str| {
            format!(
                "<plugins><plugin><artifactId>maven-compiler-plugin</artifactId>{settings}</plugin></plugins>"
            )
        };
        for (settings, plain) in [
            ("<release>17</release><parameters>true</parameters>", true),
            ("<fork>true</fork>", false),
            ("<fork>false</fork>", true),
            ("<jdkToolchain><version>11</version></jdkToolchain>", false),
            (
                "<testExcludes><testExclude>x</testExclude></testExcludes>",
                false,
            ),
            ("<excludes><exclude>x</exclude></excludes>", false),
        ] {
            let settings = compiler(&format!("<configuration>{settings}</configuration>"));
            assert_eq!(is_plain(&settings, ""), plain, "{settings}");
        }
        let execution = "<executions><execution><configuration><compilerId>eclipse</compilerId></configuration></execution></executions>";
        assert!(!is_plain(&compiler(execution), ""));
        let property = |name: &str| format!("<properties><{name}>true</{name}></properties>");
        assert!(is_plain("", &property("maven.compiler.release")));
        assert!(!is_plain("", &property("maven.compiler.fork")));
        for (argument, unusual) in [
            ("-Dmaven.compiler.fork=true", true),
            ("-Dmaven.compiler.fork", true),
            ("-Dmaven.compiler.release=17", false),
        ] {
            assert_eq!(is_unusual(argument), unusual, "{argument}");
        }
    }
}
