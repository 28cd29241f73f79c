//! The POMs that a POM links to, and the folder from which a module is built.
//!
//! What cannot be read leads nowhere; bounded. A build stays inside the package; a module that no POM above lists is built by
//! itself.

use super::super::xml;
use super::module_home;
use crate::gate::commands::read_text;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Modules that are read of one POM, and of all that lie below it.
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
    let parent =
        project
            .first_child("parent")
            .and_then(|parent| match parent.first_child("relativePath") {
                None => Some("../pom.xml".to_owned()),
                Some(path) => Some(path.text.clone()).filter(|path| !path.is_empty()),
            });
    let modules = project.children_at(&["modules"]).iter().take(MAX_MODULES);
    let modules = modules.map(|module| module.text.clone()).collect();
    PomLinks { parent, modules }
}

/// The working directory of a call of Maven, and its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BuildFolder {
    /// Working directory of the call.
    pub(super) root: PathBuf,
    /// The module's folder relative to it, when it is not the root itself.
    pub(super) module: Option<String>,
}

/// The outermost folder of the package whose POM lists (through others, too) the module.
pub(super) fn locate_reactor(package: &Path, dir: &str) -> BuildFolder {
    let above: Vec<&str> = Path::new(dir)
        .ancestors()
        .skip(1)
        .filter_map(Path::to_str)
        .collect();
    let listed = above
        .iter()
        .rev()
        .find_map(|outer| Some((*outer, listing_pom(package, outer, dir)?)));
    let (outer, module) = listed.map_or((dir, None), |(outer, module)| (outer, Some(module)));
    BuildFolder {
        root: module_home(package, outer),
        module,
    }
}

fn listing_pom(package: &Path, root: &str, wanted: &str) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        if folder == wanted {
            let prefix = if root.is_empty() {
                String::new()
            } else {
                format!("{root}/")
            };
            return folder.strip_prefix(&prefix).map(str::to_owned);
        }
        if seen.len() > MAX_MODULES || !seen.insert(folder.clone()) {
            continue;
        }
        let pom = read_text(
            &module_home(package, &folder).join("pom.xml"),
            xml::MAX_BYTES,
        );
        for module in pom_links(pom.as_bytes()).modules {
            let module = module.strip_suffix("/pom.xml").unwrap_or(&module);
            let place = follow_link(Path::new(&folder), module);
            open.extend(place.and_then(|place| place.to_str().map(str::to_owned)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{PomLinks, locate_reactor, pom_links};

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
        for (dir, root, module) in [
            ("", "", None),
            ("a/b", "", Some("a/b")),
            ("loop", "", Some("loop")),
            ("c/d", "c", Some("d")),
            ("e", "e", None),
            ("c", "c", None),
        ] {
            let place = locate_reactor(folder.path(), dir);
            let expected = if root.is_empty() {
                folder.path().to_owned()
            } else {
                folder.path().join(root)
            };
            assert_eq!(
                (place.root, place.module.as_deref()),
                (expected, module),
                "{dir}"
            );
        }
    }
}
