//! ralph's own repositories. They have no objects and read those of the packages' repositories.

use crate::git::Repositories;
use crate::git::content::on_disk;
use crate::git::error::{DescribeFailure as _, GitError};
use crate::git::open::OpenRepo;
use crate::git::tree;
use crate::machine::facts;
use crate::sys::walk::{DirEntry, walk};
use git2::{Index, IndexTime, Oid, Repository};
use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Every file has the bytes of its blob: nothing is converted when files are written or compared.
const ATTRIBUTES: &str = "* -text -crlf -eol -ident -filter -working-tree-encoding\n";
/// Maximum number of copied tags and remotes.
const MAX_TAGS: usize = 10_000;
const MAX_REMOTES: usize = 100;
/// Limits for copied objects of a repository: depth, number and bytes. Each checkout copies them.
const OBJECT_DEPTH: usize = 2;
const MAX_OBJECTS: usize = 10_000;
const MAX_OBJECT_BYTES: u64 = 256 << 20;
/// The operation, for errors.
const DOING: &str = "make a private repository";

/// Creates the bare repository `<folder>.git` with `folder` as its work tree. Builds do not find it.
pub(super) fn make_repository(folder: &Path, sources: &[OpenRepo]) -> Result<Repository, GitError> {
    let git_dir = folder.with_extension("git");
    init_repository(&git_dir, Oid::ZERO_SHA1, true, sources).with_action(DOING)?;
    let repo = Repository::open_bare(git_dir).with_action(DOING)?;
    repo.set_workdir(folder, false).with_action(DOING)?;
    Ok(repo)
}

/// Removes the repository of [`beside`]: it names the packages' repositories, and tests run next to it.
pub(super) fn remove_repository(folder: &Path) -> Result<(), GitError> {
    crate::sys::disk::remove(&folder.with_extension("git")).with_action(DOING)
}

/// Creates the `.git` that a build finds in its directory.
///
/// HEAD is the commit, the index is its tree, and the tags and URLs of the remotes are those of `source`. There are
/// no branches, hooks or settings. It does not name `source` unless that has too many objects to copy.
pub(super) fn make_visible(folder: &Path, source: &OpenRepo, commit: Oid) -> Result<(), GitError> {
    let git_dir = folder.join(".git");
    init_repository(&git_dir, commit, false, std::slice::from_ref(source)).with_action(DOING)?;
    let mut tags = String::new();
    let found = source
        .repo
        .references_glob("refs/tags/*")
        .with_action(DOING)?;
    for tag in found.take(MAX_TAGS).filter_map(Result::ok) {
        if let (Ok(name), Some(target)) = (tag.name(), tag.target()) {
            let _ = writeln!(tags, "{target} {name}");
        }
    }
    write_tags(&git_dir, tags, &source.repo).with_action(DOING)?;
    let repo = Repository::open(folder).with_action(DOING)?;
    add_remotes(&repo, &source.repo).with_action(DOING)?;
    write_index(folder, &git_dir.join("index"), source, commit).with_action(DOING)?;
    copy_objects(&source.repo.commondir().join("objects"), &git_dir).with_action(DOING)
}

/// Writes the tags, and the list of missing parents of a shallow source.
fn write_tags(git_dir: &Path, tags: String, source: &Repository) -> io::Result<()> {
    fs_err::write(git_dir.join("packed-refs"), tags)?;
    match fs_err::read(source.commondir().join("shallow")) {
        Ok(bytes) => fs_err::write(git_dir.join("shallow"), bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a directory with a commit's files a repository with that HEAD.
///
/// It has its own objects.
///
/// It does not name the repository from which it is made. Zeros create nothing.
pub fn add_to_copy(copy: &Path, repository: &Path, commit: &facts::Oid) -> Result<(), GitError> {
    let Some(commit) = tree::oid_of(commit)? else {
        return Ok(());
    };
    let source = OpenRepo::open_repository(repository)?;
    make_visible(copy, &source, commit)
}

/// Replaces the link to the objects by a copy. The link stays if there are too many, or they are in other
/// repositories.
fn copy_objects(from: &Path, git_dir: &Path) -> io::Result<()> {
    let entries = walk(from, OBJECT_DEPTH, MAX_OBJECTS, |_| true).collect::<io::Result<Vec<_>>>();
    let Ok(entries) = entries else { return Ok(()) };
    let files: Vec<&DirEntry> = entries
        .iter()
        .filter(|entry| entry.file_type().is_file())
        .collect();
    let bytes: u64 = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|data| data.len())
        .sum();
    if bytes > MAX_OBJECT_BYTES || from.join("info/alternates").exists() {
        return Ok(());
    }
    let objects = git_dir.join("objects");
    for file in files {
        let place = objects.join(file.path().strip_prefix(from).map_err(io::Error::other)?);
        place.parent().map_or(Ok(()), fs_err::create_dir_all)?;
        match fs_err::copy(file.path(), &place) {
            // Another process packs them: the link leads to the packs.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            copied => copied?,
        };
    }
    fs_err::remove_file(objects.join("info/alternates"))?;
    fs_err::remove_dir_all(git_dir.join("shared"))
}

/// Adds the remotes of `source` without user and password in their URLs.
fn add_remotes(repo: &Repository, source: &Repository) -> Result<(), git2::Error> {
    for name in source
        .remotes()?
        .iter()
        .filter_map(|name| name.ok().flatten())
        .take(MAX_REMOTES)
    {
        let remote = source.find_remote(name)?;
        let Ok(url) = remote.url() else { continue };
        repo.remote(name, &public_address(url))?;
    }
    Ok(())
}

/// Returns a URL without user and password.
fn public_address(url: &str) -> String {
    let known = url
        .split_once("://")
        .filter(|(scheme, _)| scheme.starts_with("http"));
    let stripped = known.and_then(|(scheme, rest)| {
        let host = rest.find('/').unwrap_or(rest.len());
        Some(format!(
            "{scheme}://{}",
            &rest[rest[..host].rfind('@')? + 1..]
        ))
    });
    stripped.unwrap_or_else(|| url.to_owned())
}

/// A remote to which a package's commits are pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRemote {
    pub name: String,
    /// URL that it is fetched from, without user and password.
    pub address: String,
    /// URL that it is pushed to, without user and password.
    pub push_address: String,
    /// Its default branch at the last fetch, without `refs/heads/`.
    pub default_branch: Option<String>,
}

impl Repositories {
    /// Returns the URL from which a package was cloned, without user and password.
    ///
    /// It is that of `origin`, otherwise of any other remote.
    pub fn remote_address(&mut self, package: &str) -> Result<Option<String>, GitError> {
        self.in_package(package, |_, open, _| {
            Ok(first_remote(&open.repo)?
                .and_then(|(_, remote)| remote.url().ok().map(public_address)))
        })
    }

    /// Returns the same remote as a target of pushes; `None` without a remote that has a URL.
    pub fn push_remote(&mut self, package: &str) -> Result<Option<PushRemote>, GitError> {
        self.in_package(package, |_, open, _| {
            let Some((name, remote)) = first_remote(&open.repo)? else {
                return Ok(None);
            };
            let Ok(url) = remote.url() else {
                return Ok(None);
            };
            let push_address = match remote.pushurl() {
                Ok(Some(url)) => public_address(url),
                _ => public_address(url),
            };
            let below = format!("refs/remotes/{name}/");
            let head = open.find_reference(&format!("{below}HEAD"))?;
            let target = head
                .as_ref()
                .and_then(git2::Reference::symbolic_target_bytes);
            let target = target.and_then(|target| std::str::from_utf8(target).ok());
            let default_branch = target.and_then(|target| target.strip_prefix(&below));
            Ok(Some(PushRemote {
                address: public_address(url),
                push_address,
                default_branch: default_branch.map(ToOwned::to_owned),
                name,
            }))
        })
    }
}

/// Returns `origin`, otherwise the first other remote.
fn first_remote(repo: &Repository) -> Result<Option<(String, git2::Remote<'_>)>, GitError> {
    let names = repo.remotes().with_action(DOING)?;
    let names = names.iter().filter_map(|name| name.ok().flatten());
    let first = names.min_by_key(|name| (*name != "origin", (*name).to_owned()));
    Ok(first.and_then(|name| Some((name.to_owned(), repo.find_remote(name).ok()?))))
}

/// True for a name that git allows for a branch.
pub fn is_branch_name(name: &str) -> bool {
    git2::Branch::name_is_valid(name).unwrap_or(false)
}

/// Creates a repository with a detached HEAD. Git's own command would use templates and settings of the user.
fn init_repository(
    git_dir: &Path,
    head: Oid,
    is_bare: bool,
    sources: &[OpenRepo],
) -> io::Result<()> {
    // Git and its libraries do not agree on the quoting of paths in this file. Links need none. They have a directory
    // of their own, because JGit treats the directory of an alternate as a repository if it looks like one.
    let alternates: Vec<String> = (0..sources.len())
        .map(|number| format!("../shared/{number}\n"))
        .collect();
    let config =
        format!("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = {is_bare}\n");
    crate::sys::disk::remove(git_dir)?;
    for folder in ["objects/info", "refs", "info", "shared"] {
        fs_err::create_dir_all(git_dir.join(folder))?;
    }
    for (number, source) in sources.iter().enumerate() {
        let link = git_dir.join(format!("shared/{number}"));
        fs_err::os::unix::fs::symlink(source.repo.commondir().join("objects"), link)?;
    }
    fs_err::write(git_dir.join("objects/info/alternates"), alternates.concat())?;
    fs_err::write(git_dir.join("info/attributes"), ATTRIBUTES)?;
    fs_err::write(git_dir.join("config"), config)?;
    fs_err::write(git_dir.join("HEAD"), format!("{head}\n"))
}

/// Writes an index of the commit's tree with the stat data of the files.
///
/// `git status` then need not read them.
fn write_index(
    folder: &Path,
    file: &Path,
    source: &OpenRepo,
    commit: Oid,
) -> Result<(), git2::Error> {
    let mut index = Index::open(file)?;
    index.read_tree(&source.repo.find_commit(commit)?.tree()?)?;
    for mut entry in index.iter().collect::<Vec<_>>() {
        let Ok(meta) = fs_err::symlink_metadata(on_disk(folder, &entry.path)) else {
            continue;
        };
        entry.ctime = index_time(meta.ctime(), meta.ctime_nsec());
        entry.mtime = index_time(meta.mtime(), meta.mtime_nsec());
        (entry.dev, entry.ino) = (low_bits(meta.dev()), low_bits(meta.ino()));
        (entry.uid, entry.gid) = (meta.uid(), meta.gid());
        entry.file_size = low_bits(meta.size());
        index.add(&entry)?;
    }
    index.write()
}

/// Returns a time in the form of git's index.
fn index_time(seconds: i64, nanos: i64) -> IndexTime {
    IndexTime::new(
        i32::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanos).unwrap_or_default(),
    )
}

/// Returns the low 32 bits, as in git's index.
fn low_bits(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}
