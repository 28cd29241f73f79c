//! The POMs that a POM links to, and the folder from which a module is built.
//!
//! What cannot be read leads nowhere; bounded. A build stays inside the package; a module that no POM above lists is built by
//! itself.

use crate::gate::commands::read_text;
use crate::gate::xml;
use std::path::{Component, Path, PathBuf};

/// Modules that are read of one POM.
const MAX_MODULES: usize = 1_000;

/// The paths that a POM names, relative to its own folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PomLinks {
    /// Its parent: a file or a folder; `None` when it has none or takes it from a repository.
    pub parent: Option<String>,
    /// Its modules: files or folders.
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
    let Some(project) = xml::parse_xml(&String::from_utf8_lossy(pom)) else {
        return PomLinks::default();
    };
    let parent = project.element_at(&["parent"]).and_then(|parent| {
        match parent.element_at(&["relativePath"]) {
            None => Some("../pom.xml".to_owned()),
            Some(path) => Some(path.text.clone()).filter(|path| !path.is_empty()),
        }
    });
    let modules = project.children_at(&["modules"]).iter().take(MAX_MODULES);
    let modules = modules.map(|module| module.text.clone()).collect();
    PomLinks { parent, modules }
}

/// The outermost folder of the package from which the module is built: its POM lists the module, or one that does so in turn.
pub(super) fn locate_reactor<'d>(package: &Path, module: &'d Path) -> &'d Path {
    let above = module.ancestors().skip(1);
    let listing = above.filter(|above| lists_module(package, above, module));
    listing
        .last()
        .map_or(module, |listing| locate_reactor(package, listing))
}

fn lists_module(package: &Path, folder: &Path, module: &Path) -> bool {
    let pom = package.join(folder).join("pom.xml");
    let links = pom_links(read_text(&pom, xml::MAX_BYTES).as_bytes());
    links.modules.iter().any(|link| {
        let link = link.strip_suffix("/pom.xml").unwrap_or(link);
        follow_link(folder, link).as_deref() == Some(module)
    })
}

#[cfg(test)]
mod tests {
    use super::{PomLinks, locate_reactor, pom_links};
    use std::path::Path;

    #[test]
    fn parents_and_modules_are_read() {
        let of = |text: &str| pom_links(format!("<project>{text}</project>").as_bytes());
        assert_eq!(of(""), PomLinks::default());
        assert_eq!(of("<parent/>").parent.as_deref(), Some("../pom.xml"));
        assert_eq!(of("<parent><relativePath/></parent>").parent, None);
        assert_eq!(
            of("<parent><relativePath>../up</relativePath></parent>")
                .parent
                .as_deref(),
            Some("../up")
        );
        let modules = "<modules><module>a</module><module>../b</module></modules>";
        assert_eq!(of(modules).modules, ["a", "../b"]);
        assert_eq!(pom_links(b"<project"), PomLinks::default());
    }

    #[test]
    fn a_listed_module_is_built_from_the_outermost_pom_that_lists_it() {
        let folder = tempfile::tempdir().unwrap();
        let pom = |dir: &str, modules: &str| {
            let place = folder.path().join(dir);
            fs_err::create_dir_all(&place).unwrap();
            fs_err::write(
                place.join("pom.xml"),
                format!("<project>{modules}</project>"),
            )
            .unwrap();
        };
        pom(
            "",
            "<modules><module>a</module><module>./x/../loop</module><module>../out</module></modules>",
        );
        pom(
            "a",
            "<modules><module>b</module><module>..</module></modules>",
        );
        pom("a/b", "");
        pom("c", "<modules><module>d</module></modules>");
        pom("c/d", "");
        pom("e", "");
        for (dir, outer) in [
            ("", ""),
            ("a/b", ""),
            ("loop", ""),
            ("c/d", "c"),
            ("e", "e"),
            ("c", "c"),
        ] {
            let found = locate_reactor(folder.path(), Path::new(dir));
            assert_eq!(found, Path::new(outer), "{dir}");
        }
    }
}
