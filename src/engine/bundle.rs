//! A run as one file that needs nothing else: a tar archive.
//!
//! It holds the journal, the spec, the configuration, the files that gates left, and a git bundle
//! of each repository with every commit that a record names.
//!
//! Promises: the same run gives the same bytes; no known secret goes in; reads stay inside each
//! folder for any file names, take regular files only, and are bounded.

use super::{Fault, FaultKind, Places};
use crate::git::{Repositories, read_bundle};
use crate::machine::facts::Oid;
use crate::source::Secrets;
use crate::sys::disk::{in_path, make_parents, open_regular, read_beginning};
use crate::sys::walk::walk;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Seek as _};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes and files of one bundle.
const MAX_BYTES: u64 = 2 << 30;
const MAX_FILES: usize = 100_000;
const MAX_DEPTH: usize = 16;
/// Directory of the git bundles in the archive.
///
/// Each is below it at the repository's path.
const GIT: &str = "git";
const REPOSITORY: &str = "repository.bundle";
const FILES: &str = "workspace";
const CHANGE_SECRET: &str =
    "replace the secret where it is used, then remove the variable that names it";
/// The files of a spec.
const SPEC: [&str; 5] = [
    "tasks.md",
    "progress.txt",
    "requirements.md",
    "design.md",
    "validation-report.md",
];

/// An archive on its way into a file.
struct Archive {
    tar: tar::Builder<NamedTempFile>,
    /// Bytes and files that it may still take.
    left: (u64, usize),
}

impl Archive {
    fn add_file(&mut self, path: &Path, size: u64, content: impl Read) -> Result<(), Fault> {
        let left = self
            .left
            .0
            .checked_sub(size)
            .zip(self.left.1.checked_sub(1));
        self.left = left.ok_or_else(|| {
            let most = MAX_BYTES >> 20;
            let what = format!(
                "The run is too large for a bundle: more than {most} MiB or {MAX_FILES} files."
            );
            Fault::setup_fault(
                what,
                "remove old folders `.ralph/state/iter-N/gate`; replay works without them",
            )
        })?;
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o644);
        Ok(self.tar.append_data(&mut header, path, content)?)
    }
}

/// Contents of a bundle in addition to the spec and the configuration.
#[derive(Clone, Copy, Debug)]
pub struct BundleContents<'a> {
    /// The commits that the journal names, by package.
    pub commits: &'a BTreeMap<String, BTreeSet<Oid>>,
    /// The iterations of gates, whose folders go in.
    pub iterations: &'a [u64],
    /// Files that records know by their digest, relative to the workspace.
    pub digested: &'a BTreeSet<PathBuf>,
}

/// Packs a workspace into a file, and returns the size of the archive in bytes.
///
/// At most one file of the run is in memory at a time.
///
/// Errors: a known secret in a file (with its place), a commit that is missing, a run of more than
/// 2 GiB. The target file is then unchanged.
pub fn pack_workspace(
    places: &Places,
    repositories: &mut Repositories,
    contents: BundleContents<'_>,
    secrets: &Secrets,
    to: &Path,
) -> Result<u64, Fault> {
    let BundleContents {
        commits,
        iterations,
        digested,
    } = contents;
    let mut by_repository: BTreeMap<PathBuf, (String, BTreeSet<Oid>)> = BTreeMap::new();
    for (package, commits) in commits {
        let folder = repositories.repository_folder(package).ok_or_else(|| {
            let what = format!("The package {package}, which the journal names, is not there.");
            Fault::new(
                FaultKind::Unknown,
                what,
                "restore its directory; `ralph replay` names the missing files",
            )
        })?;
        by_repository
            .entry(folder.to_owned())
            .or_insert_with(|| (package.clone(), BTreeSet::new()))
            .1
            .extend(commits.iter().cloned());
    }
    make_parents(to)?;
    let folder = to.parent().unwrap_or(Path::new("/"));
    let tar = tar::Builder::new(
        tempfile::Builder::new()
            .prefix(".ralph-")
            .tempfile_in(folder)?,
    );
    let mut archive = Archive {
        tar,
        left: (MAX_BYTES, MAX_FILES),
    };
    for (root, (package, commits)) in by_repository {
        let shown = places.display_path(&root);
        no_commit_holds_a_secret(&shown, &package, repositories, &commits, secrets)?;
        let mut bundle = tempfile::tempfile_in(folder)?;
        repositories.write_bundle(&package, &commits, &mut bundle)?;
        bundle.rewind()?;
        let place = commits_place(&path_inside(places, &root)?);
        archive.add_file(&place, bundle.metadata()?.len(), bundle)?;
    }
    for (place, path) in wanted_files(places, repositories, iterations, digested)? {
        let Some(bytes) = read_beginning(&path, MAX_BYTES)? else {
            continue;
        };
        holds_no_secret(&places.display_path(&path), &bytes, secrets)?;
        archive.add_file(&place, bytes.len() as u64, bytes.as_slice())?;
    }
    let file = archive.tar.into_inner()?;
    file.as_file().sync_all()?;
    let size = file.as_file().metadata()?.len();
    file.persist(to)
        .map_err(|error| in_path(error.error, "replace", to))?;
    Ok(size)
}

/// The files of the workspace that go in, by their paths in the archive; some may not be there.
fn wanted_files(
    places: &Places,
    repositories: &Repositories,
    iterations: &[u64],
    digested: &BTreeSet<PathBuf>,
) -> Result<BTreeMap<PathBuf, PathBuf>, Fault> {
    let mut wanted = vec![
        places.journal_file(),
        places.workspace.join(".ralph/config.yaml"),
    ];
    wanted.extend(SPEC.map(|name| places.spec.join(name)));
    wanted.extend(digested.iter().map(|path| places.workspace.join(path)));
    for iteration in iterations {
        let folder = places.iteration_folder(*iteration).join("gate");
        let entries = walk(&folder, MAX_DEPTH, MAX_FILES, |_| true).filter_map(Result::ok);
        wanted.extend(
            entries
                .filter(|entry| entry.file_type().is_file())
                .map(walkdir::DirEntry::into_path),
        );
    }
    for package in repositories.package_names() {
        wanted.extend(repositories.build_files(&package)?);
    }
    wanted
        .into_iter()
        .map(|path| Ok((Path::new(FILES).join(path_inside(places, &path)?), path)))
        .collect()
}

/// The path in the workspace.
fn path_inside(places: &Places, path: &Path) -> Result<PathBuf, Fault> {
    path.strip_prefix(&places.workspace)
        .map(Path::to_owned)
        .map_err(|_| {
            let what = format!(
                "{} lies outside of the workspace, and a bundle holds the workspace.",
                path.display()
            );
            Fault::setup_fault(what, "move it into the workspace")
        })
}

fn holds_no_secret(shown: &str, bytes: &[u8], secrets: &Secrets) -> Result<(), Fault> {
    let text = String::from_utf8_lossy(bytes);
    let redacted = secrets.redact(&text);
    if redacted == text {
        return Ok(());
    }
    let number = text
        .lines()
        .zip(redacted.lines())
        .take_while(|(was, is)| was == is)
        .count()
        + 1;
    let what = "This line contains a known secret, or a text in the form of one. It cannot be masked without a change of the chain.";
    Err(Fault::setup_fault(what, CHANGE_SECRET).at(shown, Some(number)))
}

fn no_commit_holds_a_secret(
    shown: &str,
    package: &str,
    repositories: &mut Repositories,
    commits: &BTreeSet<Oid>,
    secrets: &Secrets,
) -> Result<(), Fault> {
    let mut variable = None;
    let Some(place) = repositories.find_recorded(package, commits, |bytes: &[u8]| {
        variable = secrets.variable_in(bytes).map(str::to_owned);
        variable.is_some()
    })?
    else {
        return Ok(());
    };
    let name = variable.unwrap_or_default();
    let what = format!("A commit of the bundle contains the value of {name}.");
    Err(Fault::setup_fault(what, CHANGE_SECRET).at(format!("{shown} {place}"), None))
}

/// The place of a repository's commits in an archive.
pub(super) fn commits_place(repository: &Path) -> PathBuf {
    Path::new(GIT).join(repository).join(REPOSITORY)
}

/// The place of a file of the workspace in an archive, and below the folder of an unpacked one.
pub(super) fn file_place(path: impl AsRef<Path>) -> PathBuf {
    Path::new(FILES).join(path)
}

/// Unpacks a bundle into an empty folder, and returns its workspace.
///
/// Errors: a file that is no bundle, names that lead out of the folder, links, more than 2 GiB.
pub fn unpack_bundle(file: &Path, into: &Path) -> Result<PathBuf, Fault> {
    unpack_parts(file, into, |_| true)
}

/// Unpacks the parts of a bundle at these places; see [`unpack_bundle`]. All parts are checked.
pub(super) fn unpack_parts(
    file: &Path,
    into: &Path,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<PathBuf, Fault> {
    let refused = |what: &str| {
        let what = format!("This is not a bundle that `ralph bundle` wrote: {what}.");
        let hint = "in the workspace of the run, `ralph bundle run.tar` writes one";
        Fault::new(FaultKind::Unknown, what, hint).at(file.display().to_string(), None)
    };
    let (opened, _) = open_regular(file)?.ok_or_else(|| {
        Fault::setup_fault(
            format!("There is no file {}.", file.display()),
            "name a bundle; `ralph bundle run.tar` writes one",
        )
    })?;
    let mut archive = tar::Archive::new(opened);
    let workspace = into.join(FILES);
    let mut left = MAX_BYTES;
    fs_err::create_dir_all(&workspace)?;
    for (number, entry) in archive
        .entries()
        .map_err(|error| refused(&error.to_string()))?
        .enumerate()
    {
        let mut entry = entry.map_err(|error| match number {
            0 => refused("it is not a tar archive"),
            _ => refused(&error.to_string()),
        })?;
        let path = entry
            .path()
            .map_err(|error| refused(&error.to_string()))?
            .into_owned();
        if !entry.header().entry_type().is_file() || !is_expected(&path) {
            return Err(refused("it holds a link, or an unexpected name"));
        }
        if number >= MAX_FILES || entry.size() > left {
            return Err(refused("it is larger than ralph makes them"));
        }
        left -= entry.size();
        if !is_wanted(&path) {
            continue;
        }
        let Ok(below) = path.strip_prefix(GIT) else {
            let target = into.join(&path);
            fs_err::create_dir_all(target.parent().unwrap_or(into))?;
            let mut target = fs_err::File::create(target)?;
            std::io::copy(&mut entry, &mut target).map_err(|error| refused(&error.to_string()))?;
            continue;
        };
        let folder = workspace.join(below.parent().unwrap_or(below));
        fs_err::create_dir_all(&folder)?;
        read_bundle(&folder, &mut BufReader::new(entry))?;
    }
    Ok(fs_err::canonicalize(workspace)?)
}

/// True for a file of the workspace or a git bundle, with plain names that are not git's own.
fn is_expected(path: &Path) -> bool {
    let is_known = path.starts_with(FILES) || path.starts_with(GIT) && path.ends_with(REPOSITORY);
    is_known
        && path.components().all(
            |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")),
        )
}
