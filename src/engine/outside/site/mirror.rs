//! Which files a clean checkout holds: the workspace's layout, as far as builds look.
//!
//! Owns: the way from the judged packages to what their POMs name: parents above them, modules beside them,
//! `.mvn` folders above them; and the files that `keep:` brings along.
//!
//! Promises: a package at the path that it has in the workspace, at one commit; what another repository
//! tracks comes from its commits, only what none tracks comes from the disk. Nothing outside of the
//! workspace is looked at. Bounded.
//!
//! Refuses to know: where the checkout stands, builds.

use crate::engine::{Fault, FaultKind};
use crate::gate::pom_links;
use crate::git::{Checkout, is_repository};
use crate::machine::facts::Oid;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// POMs that are followed.
const MAX_POMS: usize = 2_000;
const MAX_POM: u64 = 4 << 20;
/// Entries that the search for kept files looks at, and bytes that it brings along.
const MAX_ENTRIES: usize = 500_000;
const MAX_KEPT: u64 = 2 << 30;

/// A package, as far as a checkout asks.
#[derive(Clone, Debug)]
pub(in super::super) struct Unit {
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
pub(in super::super) struct Sources {
    /// The workspace's folder.
    pub(in super::super) workspace: PathBuf,
    /// All packages by name.
    pub(in super::super) units: BTreeMap<String, Unit>,
    /// Those that are judged.
    pub(in super::super) judged: BTreeSet<String>,
    /// Files that git ignores and the build needs, as globs in each package.
    pub(in super::super) keep: Vec<String>,
}

/// Which commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Head,
    Base,
}

impl Sources {
    /// A path's place in the workspace.
    pub(super) fn inside(&self, path: &Path) -> Result<Vec<u8>, Fault> {
        let inside = path.strip_prefix(&self.workspace).map_err(|_| {
            let what = format!("The folder {} lies outside of the workspace.", path.display());
            Fault::new(FaultKind::Setup, what, "set gates.<NAME>.where: in-place")
        })?;
        Ok(inside.as_os_str().as_bytes().to_vec())
    }

    /// The POMs of the judged packages, package by package.
    pub(super) fn poms<'c>(&self, checkout: &'c Checkout) -> Result<Vec<&'c [u8]>, Fault> {
        let mut poms = Vec::new();
        for unit in self.judged.iter().filter_map(|name| self.units.get(name)) {
            let below = self.inside(&unit.root)?;
            let is_pom = |path: &&[u8]| {
                (below.is_empty()
                    || path.strip_prefix(below.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/')))
                    && (*path == b"pom.xml" || path.ends_with(b"/pom.xml"))
            };
            poms.extend(checkout.paths().filter(is_pom));
        }
        Ok(poms)
    }

    /// The files of these commits and what their builds look at.
    pub(super) fn checkout(&self, which: Which) -> Result<Checkout, Fault> {
        let mut plan = Plan { sources: self, which, checkout: Checkout::default(), done: BTreeSet::new() };
        for unit in self.judged.iter().filter_map(|name| self.units.get(name)) {
            plan.add(unit)?;
        }
        plan.follow_poms()?;
        for unit in self.judged.iter().filter_map(|name| self.units.get(name)) {
            plan.add_dot_mvn(unit)?;
            plan.keep(unit)?;
        }
        Ok(plan.checkout)
    }
}

struct Plan<'a> {
    sources: &'a Sources,
    which: Which,
    checkout: Checkout,
    /// Repositories that are in it.
    done: BTreeSet<PathBuf>,
}

impl Plan<'_> {
    /// The whole repository of a package, and packages that are its submodules.
    fn add(&mut self, unit: &Unit) -> Result<(), Fault> {
        let mut todo = vec![unit];
        while let Some(unit) = todo.pop() {
            if !self.done.insert(unit.repository.clone()) {
                continue;
            }
            let at = self.sources.inside(&unit.repository)?;
            let commit = match self.which {
                Which::Base => unit.base.as_ref().unwrap_or(&unit.head),
                Which::Head => &unit.head,
            };
            for path in self.checkout.add_commit(&unit.repository, commit, &at)? {
                let folder = self.sources.workspace.join(OsStr::from_bytes(&path));
                let Some(other) = self.sources.units.values().find(|unit| unit.root == folder) else {
                    return Err(Fault::new(
                        FaultKind::Setup,
                        format!("{} is a submodule, which a clean checkout does not hold.", folder.display()),
                        "set gates.<NAME>.where: in-place, or make the submodule a package (packages:)",
                    ));
                };
                todo.push(other);
            }
        }
        Ok(())
    }

    /// Follows parents upward and modules sideways, from every POM of the judged packages.
    fn follow_poms(&mut self) -> Result<(), Fault> {
        let mut todo: Vec<Vec<u8>> = Vec::new();
        todo.extend(self.sources.poms(&self.checkout)?.into_iter().map(<[u8]>::to_vec));
        let mut seen = BTreeSet::new();
        while let Some(pom) = todo.pop() {
            if seen.len() >= MAX_POMS || !seen.insert(pom.clone()) {
                continue;
            }
            let Some(text) = self.checkout.read(&pom, MAX_POM)? else { continue };
            let links = pom_links(&text);
            let named = links.parent.into_iter().chain(links.modules);
            for path in named.filter_map(|link| resolve(&pom, &link)) {
                for file in [path.clone(), join(&path, b"pom.xml")] {
                    if !file.is_empty() && self.bring(&file)? {
                        todo.push(file);
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings a POM; false where none stands.
    fn bring(&mut self, path: &[u8]) -> Result<bool, Fault> {
        if self.checkout.holds(path) {
            return Ok(true);
        }
        let file = self.sources.workspace.join(OsStr::from_bytes(path));
        let holder = self.sources.units.values().filter(|unit| file.starts_with(&unit.root));
        if let Some(unit) = holder.max_by_key(|unit| unit.root.as_os_str().len()) {
            self.add(unit)?;
            return Ok(self.checkout.holds(path));
        }
        if self.done.iter().any(|repository| {
            file.starts_with(repository) && self.enclosing(&file).as_ref() == Some(repository)
        }) {
            // Its repository is here, and does not track it.
            return Ok(false);
        }
        if self.tracked(&file, path)? {
            return Ok(self.checkout.holds(path));
        }
        Ok(self.checkout.add_file(&file, path)?)
    }

    /// Adds what HEAD of the enclosing repository holds at that path; false when it holds nothing.
    fn tracked(&mut self, file: &Path, at: &[u8]) -> Result<bool, Fault> {
        let Some(repository) = self.enclosing(file) else { return Ok(false) };
        let Ok(inside) = file.strip_prefix(&repository) else { return Ok(false) };
        Ok(self.checkout.add_from_head(&repository, inside.as_os_str().as_bytes(), at)?)
    }

    /// The repository within the workspace that a file lies in.
    fn enclosing(&self, file: &Path) -> Option<PathBuf> {
        let above = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.sources.workspace));
        above.into_iter().find(|folder| is_repository(folder)).map(Path::to_owned)
    }

    /// The `.mvn` folders above a package.
    fn add_dot_mvn(&mut self, unit: &Unit) -> Result<(), Fault> {
        let above =
            unit.root.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.sources.workspace));
        for folder in above {
            let (folder, at) = (folder.join(".mvn"), join(&self.sources.inside(folder)?, b".mvn"));
            if !is_folder(&folder) || self.checkout.holds_folder(&at) || self.tracked(&folder, &at)? {
                continue;
            }
            for (file, inside) in files(&folder, &|_| true) {
                self.checkout.add_file(&file, &join(&at, &inside))?;
            }
        }
        Ok(())
    }

    /// Brings along what `keep:` names and no commit holds.
    fn keep(&mut self, unit: &Unit) -> Result<(), Fault> {
        if self.sources.keep.is_empty() {
            return Ok(());
        }
        let globs = globs(&self.sources.keep)?;
        let at = self.sources.inside(&unit.root)?;
        let mut bytes = 0;
        for (file, inside) in files(&unit.root, &|inside| globs.is_match(OsStr::from_bytes(inside))) {
            bytes += fs_err::symlink_metadata(&file).map_or(0, |data| data.len());
            if bytes > MAX_KEPT {
                let what = format!("keep: names more than 2 GiB of files in {}.", unit.root.display());
                return Err(Fault::new(
                    FaultKind::Setup,
                    what,
                    "name fewer files, or set gates.<NAME>.where: in-place",
                ));
            }
            self.checkout.add_file(&file, &join(&at, &inside))?;
        }
        Ok(())
    }
}

fn globs(keep: &[String]) -> Result<GlobSet, Fault> {
    let bad = |error: globset::Error| {
        Fault::new(FaultKind::Setup, format!("keep: {error}."), "mend .ralph/config.yaml")
    };
    let mut globs = GlobSetBuilder::new();
    for text in keep {
        globs.add(GlobBuilder::new(text).literal_separator(true).build().map_err(bad)?);
    }
    globs.build().map_err(bad)
}

/// The regular files below a folder with their paths in it; repositories' own files are left out, no link
/// is followed.
fn files(folder: &Path, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![(folder.to_owned(), Vec::new())];
    let mut seen = 0;
    while let Some((at, inside)) = todo.pop() {
        let Ok(entries) = fs_err::read_dir(&at) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let name = entry.file_name();
            let path = join(&inside, name.as_bytes());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != ".git" && seen < MAX_ENTRIES => {
                    todo.push((entry.path(), path));
                }
                Ok(kind) if kind.is_file() && wanted(&path) => found.push((entry.path(), path)),
                _ => {}
            }
        }
    }
    found
}

fn is_folder(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

fn join(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if folder.is_empty() || path.is_empty() { [folder, path].concat() } else { [folder, b"/", path].concat() }
}

/// Where a link of a POM leads, in the workspace; `None` when it leaves that.
fn resolve(pom: &[u8], link: &str) -> Option<Vec<u8>> {
    let mut parts: Vec<&OsStr> = Path::new(OsStr::from_bytes(pom)).iter().collect();
    parts.pop();
    for component in Path::new(link.trim()).components() {
        match component {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            _ => return None,
        }
    }
    Some(parts.iter().collect::<PathBuf>().as_os_str().as_bytes().to_vec())
}
