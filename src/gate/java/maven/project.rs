//! What an effective POM says about one module.
//!
//! A module that the effective POM does not show is `None`, never a guess.

use super::super::surefire::{self, Surefire};
use super::super::xml::Node;
use super::compiling::{self, Compiling};
use serde::{Deserialize, Serialize};
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
    /// Test sources.
    pub(crate) test_sources: String,
    /// How it is compiled.
    pub(crate) compiling: Compiling,
    /// How Surefire runs the tests.
    pub(crate) surefire: Surefire,
    /// The mutators of the POM's pitest-maven (none are PIT's own choice), if the POM declares it.
    pub(crate) pitest: Option<Vec<String>>,
}

/// Finds the project whose folder is `home`.
pub(super) fn read(root: &Node, home: &Path) -> Option<Project> {
    let one = std::slice::from_ref(root);
    let projects = if root.name == "projects" { root.children.as_slice() } else { one };
    let home = home.display().to_string();
    let standard = |node: &&Node| {
        let is = |way: &[&str], end: &str| node.text_at(way) == Some(&format!("{home}/{end}"));
        is(&["build", "sourceDirectory"], "src/main/java")
            || is(&["build", "testSourceDirectory"], "src/test/java")
            || is(&["build", "directory"], "target")
    };
    let project = projects.iter().find(standard).or_else(|| (projects.len() == 1).then_some(&projects[0]))?;
    let text = |name: &str| project.text_at(&["build", name]).map(str::to_owned);
    let pitest = project.all(&["build", "plugins"]).iter().find(|plugin| {
        let is = |name, value| plugin.text_at(&[name]) == Some(value);
        is("groupId", "org.pitest") && is("artifactId", "pitest-maven")
    });
    let property = project.at(&["properties", "mutators"]).map(std::slice::from_ref).unwrap_or_default();
    let mutators = |plugin: &Node| {
        let own = plugin.all(&["configuration", "mutators"]);
        surefire::texts(if own.is_empty() { property } else { own })
    };
    let (sources, test_sources) = (text("sourceDirectory")?, text("testSourceDirectory")?);
    let compiling = compiling::read(project, [&sources, &test_sources]);
    Some(Project {
        classes: text("outputDirectory")?,
        test_classes: text("testOutputDirectory")?,
        sources,
        test_sources,
        compiling,
        surefire: surefire::read(project),
        pitest: pitest.map(mutators),
    })
}

#[cfg(test)]
mod tests {
    use super::read;
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
        let all = format!("<projects>{}{}</projects>", project("/w/p"), project("/w/p/a"));
        let root = xml::read(&all).unwrap();
        assert_eq!(read(&root, Path::new("/w/p/a")).unwrap().classes, "/w/p/a/target/classes");
        assert_eq!(read(&root, Path::new("/w/p")).unwrap().classes, "/w/p/target/classes");
        assert_eq!(read(&root, Path::new("/w/p/b")), None);
    }
}
