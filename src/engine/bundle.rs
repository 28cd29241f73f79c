//! A run as one file that needs nothing else: a tar archive of the journal, the spec, the configuration, what gates
//! left, and a git bundle of each repository with every commit that a record names; a thin one has the addresses of the
//! repositories in place of their commits, and needs clones of them.
//!
//! Promises: the same run gives the same bytes; no secret that is known goes in; what is read stays in its folder,
//! whatever the names in it, holds regular files only, and is bounded.

use super::{Fault, FaultKind, Places};
use crate::git::{Repositories, borrow, unbundle};
use crate::machine::facts::Oid;
use crate::source::Secrets;
use crate::source::text::line;
use crate::sys::disk::read_beginning;
use crate::sys::walk::walk;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Bytes and files of one bundle.
const MAX_BYTES: u64 = 2 << 30;
const MAX_FILES: usize = 100_000;
const MAX_DEPTH: usize = 16;
/// Where the git bundle of a repository stands in the archive: below this, at the repository's path.
const GIT: &str = "git";
const REPOSITORY: &str = "repository.bundle";
/// In a thin bundle: the address of the repository's remote, one line; empty if it has none.
const REMOTE: &str = "remote.txt";
/// Characters of an address.
const ADDRESS: usize = 2_000;
const FILES: &str = "workspace";
const CHANGE_SECRET: &str =
    "change the secret where it is used; then it may be told, and the variable that names it removed";
/// The files of a spec.
const SPEC: [&str; 5] = ["tasks.md", "progress.txt", "requirements.md", "design.md", "validation-report.md"];

/// Packs a workspace; `commits` are those that its journal names, by package, `iterations` those of gates. A thin one
/// holds no commits.
///
/// Errors: a known secret in a file (with its place), a commit that is missing, a run of more than 2 GiB.
pub fn pack(
    places: &Places,
    repositories: &mut Repositories,
    commits: &BTreeMap<String, BTreeSet<Oid>>,
    iterations: &[u64],
    secrets: &Secrets,
    is_thin: bool,
) -> Result<Vec<u8>, Fault> {
    let mut found: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut wanted = vec![places.journal(), places.workspace.join(".ralph/config.yaml")];
    wanted.extend(SPEC.map(|name| places.spec.join(name)));
    for iteration in iterations {
        let folder = places.iteration(*iteration).join("gate");
        let entries = walk(&folder, MAX_DEPTH, MAX_FILES, |_| true).filter_map(Result::ok);
        wanted.extend(entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path));
    }
    for package in repositories.names() {
        wanted.extend(repositories.build_files(&package)?);
    }
    for path in wanted {
        let Some(bytes) = read_beginning(&path, MAX_BYTES)? else { continue };
        holds_no_secret(&places.shown(&path), &bytes, secrets)?;
        found.insert(Path::new(FILES).join(inside(places, &path)?), bytes);
    }
    let mut by_repository: BTreeMap<PathBuf, (String, BTreeSet<Oid>)> = BTreeMap::new();
    for (package, commits) in commits {
        let Some(folder) = repositories.repository(package).map(Path::to_owned) else {
            let what = format!("The package {package}, which the journal names, is not there.");
            return Err(Fault::new(
                FaultKind::Unknown,
                what,
                "put its folder back; `ralph replay` tells what is missing",
            ));
        };
        by_repository
            .entry(folder)
            .or_insert_with(|| (package.clone(), BTreeSet::new()))
            .1
            .extend(commits.iter().cloned());
    }
    for (folder, (package, commits)) in by_repository {
        let place = Path::new(GIT).join(inside(places, &folder)?);
        if is_thin {
            let address = repositories.remote(&package)?.unwrap_or_default();
            holds_no_secret(&places.shown(&folder), address.as_bytes(), secrets)?;
            found.insert(place.join(REMOTE), (line(&address, ADDRESS) + "\n").into_bytes());
        } else {
            no_commit_holds_a_secret(&places.shown(&folder), &package, repositories, &commits, secrets)?;
            found.insert(place.join(REPOSITORY), repositories.bundle(&package, &commits)?);
        }
    }
    archive(&found)
}

fn archive(files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Vec<u8>, Fault> {
    let size: u64 = files.values().map(|bytes| bytes.len() as u64).sum();
    if size > MAX_BYTES || files.len() > MAX_FILES {
        let what = format!("The run is too large for a bundle: {} MiB in {} files.", size >> 20, files.len());
        return Err(Fault::setup(
            what,
            "remove old folders `.ralph/state/iter-N/gate`; replay works without them",
        ));
    }
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

/// The path in the workspace.
fn inside(places: &Places, path: &Path) -> Result<PathBuf, Fault> {
    path.strip_prefix(&places.workspace).map(Path::to_owned).map_err(|_| {
        let what =
            format!("{} lies outside of the workspace, and a bundle holds the workspace.", path.display());
        Fault::setup(what, "move it into the workspace")
    })
}

fn holds_no_secret(shown: &str, bytes: &[u8], secrets: &Secrets) -> Result<(), Fault> {
    let text = String::from_utf8_lossy(bytes);
    let redacted = secrets.redact(&text);
    if redacted == text {
        return Ok(());
    }
    let number = text.lines().zip(redacted.lines()).take_while(|(was, is)| was == is).count() + 1;
    let what = "A known secret, or what looks like one, stands here; without it the chain would be another.";
    Err(Fault::setup(what, CHANGE_SECRET).at(shown, Some(number)))
}

fn no_commit_holds_a_secret(
    shown: &str,
    package: &str,
    repositories: &mut Repositories,
    commits: &BTreeSet<Oid>,
    secrets: &Secrets,
) -> Result<(), Fault> {
    let mut variable = None;
    let has_secret = |bytes: &[u8]| {
        variable = secrets.variable_in(bytes).map(str::to_owned);
        variable.is_some()
    };
    let Some(place) = repositories.find_recorded(package, commits, has_secret)? else { return Ok(()) };
    let name = variable.unwrap_or_default();
    let what = format!("The value of {name} stands in a commit that goes into the bundle.");
    Err(Fault::setup(what, CHANGE_SECRET).at(format!("{shown} {place}"), None))
}

/// A bundle that was unpacked.
#[derive(Debug)]
pub struct Unpacked {
    /// The workspace.
    pub workspace: PathBuf,
    /// Repositories of a thin bundle that are not below the folder of the clones: path, and address if it is known.
    pub missing: Vec<(String, String)>,
}

/// Unpacks a bundle into an empty folder; a thin one reads the commits of the repositories that stand below `clones`, each
/// where the workspace of the run had it.
///
/// Errors: what is no bundle, names that lead out of the folder, links, more than 2 GiB.
pub fn unpack(file: &Path, into: &Path, clones: &Path) -> Result<Unpacked, Fault> {
    let refused = |what: &str| {
        let what = format!("This is no bundle that can be read: {what}.");
        Fault::new(FaultKind::Unknown, what, "make it again: `ralph bundle FILE`")
            .at(file.display().to_string(), None)
    };
    let (opened, _) = crate::sys::disk::open_regular(file)?
        .ok_or_else(|| Fault::setup(format!("There is no file {}.", file.display()), "name a bundle"))?;
    let mut archive = tar::Archive::new(opened);
    let workspace = into.join(FILES);
    let (mut left, mut repositories, mut missing) = (MAX_BYTES, Vec::new(), Vec::new());
    fs_err::create_dir_all(&workspace)?;
    for (number, entry) in archive.entries().map_err(|error| refused(&error.to_string()))?.enumerate() {
        let mut entry = entry.map_err(|error| refused(&error.to_string()))?;
        let path = entry.path().map_err(|error| refused(&error.to_string()))?.into_owned();
        if !entry.header().entry_type().is_file() || !is_plain(&path) {
            return Err(refused("it holds a link, or a name that leads elsewhere"));
        }
        if number >= MAX_FILES || entry.size() > left {
            return Err(refused("it is larger than ralph makes them"));
        }
        left -= entry.size();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| refused(&error.to_string()))?;
        if let Ok(below) = path.strip_prefix(GIT) {
            repositories.push((below.to_owned(), bytes));
            continue;
        }
        let target = into.join(&path);
        fs_err::create_dir_all(target.parent().unwrap_or(into))?;
        fs_err::write(target, bytes)?;
    }
    for (path, bytes) in repositories {
        let below = path.parent().unwrap_or(&path);
        let folder = workspace.join(below);
        fs_err::create_dir_all(&folder)?;
        if path.file_name() != Some(OsStr::new(REMOTE)) {
            unbundle(&folder, &bytes)?;
        } else if !borrow(&folder, &clones.join(below))? {
            let address = line(&String::from_utf8_lossy(&bytes), ADDRESS);
            missing.push((below.display().to_string(), address));
        }
    }
    Ok(Unpacked { workspace: fs_err::canonicalize(workspace)?, missing })
}

/// True for a path below one of the two folders of an archive, of plain names, none of them git's own.
fn is_plain(path: &Path) -> bool {
    let mut parts = path.components();
    let is_known = matches!(parts.next(), Some(Component::Normal(first)) if first == FILES || first == GIT);
    is_known
        && parts.all(|part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")))
}
