//! Which other POMs a POM leads to.
//!
//! What cannot be read leads nowhere; bounded.

use super::super::xml;
use std::path::{Component, Path, PathBuf};

/// Modules that are read of one POM.
const MAX_MODULES: usize = 1_000;

/// The paths that a POM names, relative to its own folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PomLinks {
    /// Its parent: a file or a folder; `None` when it has none or takes it from a repository.
    pub parent: Option<String>,
    /// Its modules, those of its profiles too: files or folders.
    pub modules: Vec<String>,
}

/// Where a link of a POM in this folder leads; `None` if it leaves the folder that this one's path begins at.
pub fn follow_link(folder: &Path, link: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for component in Path::new(link.trim()).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

/// Reads the links of a POM.
pub fn pom_links(pom: &[u8]) -> PomLinks {
    let Some(project) = xml::read(&String::from_utf8_lossy(pom)) else { return PomLinks::default() };
    let parent = project.child("parent").and_then(|parent| match parent.child("relativePath") {
        None => Some("../pom.xml".to_owned()),
        Some(path) => Some(path.text.clone()).filter(|path| !path.is_empty()),
    });
    let profiles = project.all(&["profiles"]).iter().flat_map(|profile| profile.all(&["modules"]));
    let modules = project.all(&["modules"]).iter().chain(profiles).take(MAX_MODULES);
    PomLinks { parent, modules: modules.map(|module| module.text.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::{PomLinks, pom_links};

    #[test]
    fn parents_and_modules_are_read() {
        let of = |text: &str| pom_links(format!("<project>{text}</project>").as_bytes());
        assert_eq!(of(""), PomLinks::default());
        assert_eq!(of("<parent/>").parent.as_deref(), Some("../pom.xml"));
        assert_eq!(of("<parent><relativePath/></parent>").parent, None);
        assert_eq!(
            of("<parent><relativePath>../up</relativePath></parent>").parent.as_deref(),
            Some("../up")
        );
        let modules = "<modules><module>a</module></modules><profiles><profile><modules><module>../b</module></modules></profile></profiles>";
        assert_eq!(of(modules).modules, ["a", "../b"]);
        assert_eq!(pom_links(b"<project"), PomLinks::default());
    }
}
