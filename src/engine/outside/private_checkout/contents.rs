//! Files of a private checkout: the part of the workspace's layout that builds read.
//!
//! Promises: a package is at the path that it has in the workspace, at one commit. Parent POMs,
//! modules and `.mvn` folders come from the commits of the repository that tracks them, or from the
//! disk if none does. Nothing outside of the workspace is read.

use crate::engine::Fault;
use crate::gate::{follow_link, pom_links};
use crate::git::{Checkout, CheckoutPart, is_repository};
use crate::machine::facts::Oid;
use crate::sys::walk::walk;
use globset::{GlobBuilder, GlobSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// POMs that are followed, and bytes of one.
const MAX_POMS: usize = 2_000;
const MAX_POM: u64 = 4 << 20;
/// Entries that the search for kept files looks at, and bytes that it brings along.
const MAX_ENTRIES: usize = 500_000;
const MAX_KEPT: u64 = 2 << 30;

/// A package, as far as a checkout asks.
#[derive(Clone, Debug)]
pub(in super::super) struct SourcePackage {
    /// Its folder, absolute.
    pub(in super::super) root: PathBuf,
    /// The folder of its repository, absolute.
    pub(in super::super) repository: PathBuf,
    /// The commit that is judged.
    pub(in super::super) head: Oid,
    /// The commit before the family's first attempt.
    pub(in super::super) base: Option<Oid>,
}

/// All that a checkout is made from.
#[derive(Clone, Debug)]
pub(in super::super) struct CheckoutSources {
    pub(in super::super) workspace: PathBuf,
    /// All packages by name.
    pub(in super::super) packages: BTreeMap<String, SourcePackage>,
    /// The names of those that are judged.
    pub(in super::super) judged: BTreeSet<String>,
    /// Files that git ignores and the build needs, as globs in each package.
    pub(in super::super) keep: Vec<String>,
}

/// Selects the commits of a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Head,
    Base,
}

impl CheckoutSources {
    /// A path's place in the workspace.
    pub(super) fn path_inside(&self, path: &Path) -> Result<Vec<u8>, Fault> {
        let inside = path.strip_prefix(&self.workspace).map_err(|_| {
            let what = format!(
                "The folder {} lies outside of the workspace.",
                path.display()
            );
            Fault::setup_fault(what, "set gates.<NAME>.where: in-place")
        })?;
        Ok(inside.as_os_str().as_bytes().to_vec())
    }

    fn judged_packages(&self) -> impl Iterator<Item = &SourcePackage> {
        self.judged
            .iter()
            .filter_map(|name| self.packages.get(name))
    }

    /// Returns the part of a checkout that belongs to each judged package alone.
    ///
    /// A single package owns all of it.
    pub(super) fn judged_parts(&self) -> Vec<CheckoutPart> {
        let folders: Vec<Vec<u8>> = self
            .judged_packages()
            .filter_map(|package| self.path_inside(&package.root).ok())
            .collect();
        if folders.len() < 2 {
            return vec![CheckoutPart::default()];
        }
        folders
            .iter()
            .map(|folder| CheckoutPart {
                folder: folder.clone(),
                without: folders
                    .iter()
                    .filter(|other| other.len() > folder.len() && other.starts_with(folder))
                    .cloned()
                    .collect(),
            })
            .collect()
    }

    /// The POMs of the judged packages, package by package.
    pub(super) fn read_poms(&self, checkout: &Checkout) -> Result<Vec<Vec<u8>>, Fault> {
        let mut poms = Vec::new();
        for package in self.judged_packages() {
            let below = self.path_inside(&package.root)?;
            poms.extend(
                checkout
                    .file_paths()
                    .filter(|path| {
                        let mut names = path
                            .strip_prefix(below.as_slice())
                            .unwrap_or_default()
                            .split(|&byte| byte == b'/');
                        names.next_back() == Some(b"pom.xml")
                            && (below.is_empty() || names.next() == Some(b""))
                    })
                    .map(<[u8]>::to_vec),
            );
        }
        Ok(poms)
    }

    /// The files of these commits and what their builds look at.
    pub(super) fn make_checkout(&self, which: Which) -> Result<Checkout, Fault> {
        let mut contents = CheckoutContents {
            sources: self,
            which,
            checkout: Checkout::default(),
            done: BTreeSet::new(),
        };
        for package in self.judged_packages() {
            contents.add_package(package)?;
        }
        contents.follow_poms()?;
        for package in self.judged_packages() {
            contents.add_dot_mvn(package)?;
            contents.add_kept(package)?;
        }
        Ok(contents.checkout)
    }
}

struct CheckoutContents<'a> {
    sources: &'a CheckoutSources,
    which: Which,
    checkout: Checkout,
    /// Repositories that are in it.
    done: BTreeSet<PathBuf>,
}

impl CheckoutContents<'_> {
    /// The whole repository of a package, and packages that are its submodules.
    fn add_package(&mut self, package: &SourcePackage) -> Result<(), Fault> {
        if !self.done.insert(package.repository.clone()) {
            return Ok(());
        }
        let at = self.sources.path_inside(&package.repository)?;
        let base = package.base.as_ref().filter(|_| self.which == Which::Base);
        for path in
            self.checkout
                .add_commit(&package.repository, base.unwrap_or(&package.head), &at)?
        {
            let folder = self.sources.workspace.join(OsStr::from_bytes(&path));
            let Some(other) = self
                .sources
                .packages
                .values()
                .find(|package| package.root == folder)
            else {
                return Err(Fault::setup_fault(
                    format!(
                        "{} is a submodule, which a clean checkout does not hold.",
                        folder.display()
                    ),
                    "set gates.<NAME>.where: in-place, or make the submodule a package (packages:)",
                ));
            };
            self.add_package(other)?;
        }
        Ok(())
    }

    /// Follows parents upward and modules sideways, from every POM of the judged packages.
    fn follow_poms(&mut self) -> Result<(), Fault> {
        let mut todo = self.sources.read_poms(&self.checkout)?;
        let mut seen = BTreeSet::new();
        while let Some(pom) = todo.pop() {
            if seen.len() >= MAX_POMS || !seen.insert(pom.clone()) {
                continue;
            }
            let Some(text) = self.checkout.read_file(&pom, MAX_POM)? else {
                continue;
            };
            let links = pom_links(&text);
            let named = links.parent.into_iter().chain(links.modules);
            let folder = Path::new(OsStr::from_bytes(&pom))
                .parent()
                .unwrap_or(Path::new(""));
            for path in named.filter_map(|link| follow_link(folder, &link)) {
                let path = path.into_os_string().into_vec();
                for file in [path.clone(), join_paths(&path, b"pom.xml")] {
                    if !file.is_empty() && self.bring_pom(&file)? {
                        todo.push(file);
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings a POM; false if it does not exist.
    fn bring_pom(&mut self, path: &[u8]) -> Result<bool, Fault> {
        let file = self.sources.workspace.join(OsStr::from_bytes(path));
        let holders = self
            .sources
            .packages
            .values()
            .filter(|package| file.starts_with(&package.root));
        if let Some(package) = holders.max_by_key(|package| package.root.as_os_str().len()) {
            self.add_package(package)?;
        } else if !self.checkout.holds_file(path) && !self.add_tracked(&file, path)? {
            return Ok(self.checkout.add_file(&file, path)?);
        }
        Ok(self.checkout.holds_file(path))
    }

    /// Adds what the enclosing repository tracks at that path; false if it has to come from the disk.
    fn add_tracked(&mut self, file: &Path, at: &[u8]) -> Result<bool, Fault> {
        let mut above = file
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.sources.workspace));
        let Some(repository) = above.find(|folder| is_repository(folder)) else {
            return Ok(false);
        };
        let Ok(inside) = file.strip_prefix(repository) else {
            return Ok(false);
        };
        // A repository that is here as a whole does not track what is not here.
        Ok(self.done.contains(repository)
            || self
                .checkout
                .add_from_head(repository, inside.as_os_str().as_bytes(), at)?)
    }

    /// The `.mvn` folders above a package.
    fn add_dot_mvn(&mut self, package: &SourcePackage) -> Result<(), Fault> {
        let workspace = &self.sources.workspace;
        for above in package
            .root
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(workspace))
        {
            let (folder, at) = (
                above.join(".mvn"),
                join_paths(&self.sources.path_inside(above)?, b".mvn"),
            );
            let is_folder = fs_err::symlink_metadata(&folder).is_ok_and(|data| data.is_dir());
            if !is_folder || self.checkout.holds_folder(&at) || self.add_tracked(&folder, &at)? {
                continue;
            }
            for (file, inside) in files_below(&folder) {
                self.checkout.add_file(&file, &join_paths(&at, &inside))?;
            }
        }
        Ok(())
    }

    /// Brings along what `keep:` names and no commit holds.
    fn add_kept(&mut self, package: &SourcePackage) -> Result<(), Fault> {
        let globs = compile_globs(&self.sources.keep)?;
        if globs.is_empty() {
            return Ok(());
        }
        let at = self.sources.path_inside(&package.root)?;
        let mut bytes = 0;
        for (file, inside) in files_below(&package.root)
            .filter(|(_, inside)| globs.is_match(OsStr::from_bytes(inside)))
        {
            bytes += fs_err::symlink_metadata(&file).map_or(0, |data| data.len());
            if bytes > MAX_KEPT {
                let what = format!(
                    "keep: names more than 2 GiB of files in {}.",
                    package.root.display()
                );
                let hint = "name fewer files, or set gates.<NAME>.where: in-place";
                return Err(Fault::setup_fault(what, hint));
            }
            self.checkout.add_file(&file, &join_paths(&at, &inside))?;
        }
        Ok(())
    }
}

fn compile_globs(keep: &[String]) -> Result<GlobSet, Fault> {
    let globs = keep
        .iter()
        .map(|text| GlobBuilder::new(text).literal_separator(true).build())
        .collect::<Result<Vec<_>, _>>()
        .and_then(GlobSet::new);
    globs.map_err(|error| {
        Fault::setup_fault(format!("keep: {error}."), "fix it in .ralph/config.yaml")
    })
}

/// The regular files below a folder with their paths in it; repositories' own files are left out.
fn files_below(folder: &Path) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let all = walk(folder, usize::MAX, MAX_ENTRIES, |entry| {
        entry.file_name() != ".git"
    });
    let files = all
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file());
    files.filter_map(move |entry| {
        let inside = entry
            .path()
            .strip_prefix(folder)
            .ok()?
            .as_os_str()
            .as_bytes()
            .to_vec();
        Some((entry.into_path(), inside))
    })
}

fn join_paths(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if folder.is_empty() || path.is_empty() {
        [folder, path].concat()
    } else {
        [folder, b"/", path].concat()
    }
}
