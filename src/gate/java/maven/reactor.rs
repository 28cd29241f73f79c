//! From which folder a module is built.
//!
//! Stays inside the package; a module that no POM above lists is built by itself.

use super::super::xml;
use super::{follow_link, home};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where Maven is called and for which module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BuildFolder {
    /// Working directory of the call.
    pub(super) root: PathBuf,
    /// The module's folder relative to it, when it is not the root itself.
    pub(super) module: Option<String>,
}

/// The outermost folder of the package whose POM lists (through others, too) the module.
pub(super) fn locate(package: &Path, dir: &str) -> BuildFolder {
    let mut outer = String::new();
    loop {
        if outer == dir {
            return BuildFolder { root: home(package, dir), module: None };
        }
        if let Some(module) = lists(package, &outer, dir) {
            return BuildFolder { root: home(package, &outer), module: Some(module) };
        }
        let start = if outer.is_empty() { 0 } else { outer.len() + 1 };
        let rest = dir.get(start..).unwrap_or_default();
        let end = rest.find('/').map_or(dir.len(), |at| start + at);
        dir[..end].clone_into(&mut outer);
    }
}

fn lists(package: &Path, root: &str, wanted: &str) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        if folder == wanted {
            let prefix = if root.is_empty() { String::new() } else { format!("{root}/") };
            return folder.strip_prefix(&prefix).map(str::to_owned);
        }
        if seen.len() > 1_000 || !seen.insert(folder.clone()) {
            continue;
        }
        let Some(pom) = xml::read_file(&home(package, &folder).join("pom.xml")) else {
            continue;
        };
        let modules = pom.all(&["modules"]).iter().filter_map(|module| {
            let module = module.text.strip_suffix("/pom.xml").unwrap_or(&module.text);
            follow_link(Path::new(&folder), module)?.to_str().map(str::to_owned)
        });
        open.extend(modules);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::locate;

    #[test]
    fn a_listed_module_is_built_from_the_outermost_pom_that_lists_it() {
        let folder = tempfile::tempdir().unwrap();
        let pom = |dir: &str, modules: &str| {
            let place = folder.path().join(dir);
            fs_err::create_dir_all(&place).unwrap();
            fs_err::write(place.join("pom.xml"), format!("<project>{modules}</project>")).unwrap();
        };
        pom("", "<modules><module>a</module><module>./x/../loop</module><module>../out</module></modules>");
        pom("a", "<modules><module>b</module><module>..</module></modules>");
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
            let place = locate(folder.path(), dir);
            let expected = if root.is_empty() { folder.path().to_owned() } else { folder.path().join(root) };
            assert_eq!((place.root, place.module.as_deref()), (expected, module), "{dir}");
        }
    }
}
