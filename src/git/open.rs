//! Opens a repository, and refuses one that cannot be read faithfully with words and a hint.

use super::content::ContentCache;
use super::error::{DescribeFailure as _, GitError, GitErrorKind, if_found};
use super::index::{CommittedRules, IndexView};
use super::special_files::{self, ObjectFolders, refuse_special};
use super::tree::Leaf;
use crate::sys::file_stat::FileStat;
use git2::{Config, ErrorCode, Oid, Reference, Repository};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic references to a commit. Git follows five.
const MAX_SYMBOLIC: usize = 6;

/// An open repository and its cache between two scans.
pub(super) struct OpenRepo {
    pub(super) repo: Repository,
    /// The directory that holds `.git`.
    pub(super) root: PathBuf,
    /// Each tracked file with its first mode for its content, if `core.fileMode` ignores modes.
    ///
    /// `None` if modes count.
    pub(super) modes: Option<BTreeMap<Vec<u8>, Leaf>>,
    /// The paths of ralph's own files and directories in it.
    pub(super) state: Vec<Vec<u8>>,
    identity: RepositoryIdentity,
    pub(super) index: IndexView,
    /// The rules of the commit at the last [`super::Repositories::snapshot`]; `None` if they must be read.
    pub(super) ignores: Option<CommittedRules>,
    pub(super) content: ContentCache,
    objects: ObjectFolders,
    /// Other references before the running attempt.
    pub(super) tips_before: Option<BTreeMap<String, Oid>>,
    /// The repositories of its submodules, by their directory.
    pub(super) modules: BTreeMap<Vec<u8>, Option<Box<OpenRepo>>>,
}

/// The state that must stay the same for a repository to stay open.
#[derive(Debug, PartialEq, Eq)]
struct RepositoryIdentity {
    dot_git: Option<(u64, u64)>,
    files: [Option<FileStat>; 5],
}

impl RepositoryIdentity {
    fn of(root: &Path, repo: &Repository) -> Self {
        let found = std::fs::symlink_metadata(root.join(".git")).ok();
        let gitlink = found
            .as_ref()
            .filter(|meta| !meta.is_dir())
            .map(FileStat::of);
        Self {
            dot_git: found.as_ref().map(|meta| FileStat::of(meta).identity()),
            files: [
                gitlink,
                FileStat::at(&repo.commondir().join("config")),
                FileStat::at(&repo.path().join("config.worktree")),
                FileStat::at(&repo.commondir().join("info/grafts")),
                // The library reads it only when it opens the repository.
                FileStat::at(&repo.path().join("shallow")),
            ],
        }
    }
}

/// The commit and branch of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeadPosition {
    /// The commit; `None` when unborn.
    pub(super) commit: Option<Oid>,
    /// The branch's whole name; `None` when detached.
    pub(super) branch: Option<String>,
}

impl OpenRepo {
    /// Opens the repository of a directory, or reports why it cannot be read faithfully.
    pub(super) fn open_repository(root: &Path) -> Result<Self, GitError> {
        let dot_git = root.join(".git");
        for name in ["", "HEAD", "config"] {
            refuse_special(&if name.is_empty() {
                dot_git.clone()
            } else {
                dot_git.join(name)
            })?;
        }
        special_files::check_closed(root)?;
        let repo = Repository::open(root).map_err(|error| why_not(root, error))?;
        check_place(root, &repo)?;
        check_config(&repo)?;
        let identity = RepositoryIdentity::of(root, &repo);
        let filemode = repo
            .config()
            .and_then(|config| config.get_bool("core.filemode"))
            .unwrap_or(true);
        let mut objects = ObjectFolders::default();
        objects.check_objects(repo.commondir())?;
        Ok(Self {
            repo,
            root: root.to_owned(),
            modes: (!filemode).then(BTreeMap::new),
            state: Vec::new(),
            identity,
            index: IndexView::default(),
            ignores: None,
            content: ContentCache::default(),
            objects,
            tips_before: None,
            modules: BTreeMap::new(),
        })
    }

    /// True while the directory holds the same repository with the same settings.
    pub(super) fn is_current(&self) -> bool {
        self.identity == RepositoryIdentity::of(&self.root, &self.repo)
    }

    /// True for ralph's own file: never dirt, change or evidence (docs/design.md "Words").
    pub(super) fn is_state(&self, path: &[u8]) -> bool {
        is_below(&self.state, path)
    }

    /// Refuses pipes in place of objects.
    pub(super) fn check_objects(&mut self) -> Result<(), GitError> {
        self.objects.check_objects(self.repo.commondir())
    }

    fn refuse_pipes(&self) -> Result<(), GitError> {
        for name in ["HEAD", "index", "shallow"] {
            refuse_special(&self.repo.path().join(name))?;
        }
        for name in [
            "packed-refs",
            "info/exclude",
            "info/attributes",
            "logs/refs/stash",
        ] {
            refuse_special(&self.repo.commondir().join(name))?;
        }
        special_files::check_settings(self.repo.path(), self.repo.commondir())
    }

    /// Reads HEAD. If its branch is a symbolic reference, returns the target, where a commit would go.
    pub(super) fn read_head(&self) -> Result<HeadPosition, GitError> {
        self.refuse_pipes()?;
        let hint =
            "Run `git symbolic-ref HEAD refs/heads/<branch>` with the branch that was checked out.";
        let mut found = Some(self.repo.find_reference("HEAD").with_action("read HEAD")?);
        let mut branch = None;
        for _ in 0..MAX_SYMBOLIC {
            let Some(next) = found.as_ref().and_then(Reference::symbolic_target_bytes) else {
                return Ok(HeadPosition {
                    commit: found.and_then(|found| found.target()),
                    branch,
                });
            };
            let next = String::from_utf8_lossy(next).into_owned();
            if !Reference::is_valid_name(&next) {
                let what = "HEAD names a branch whose name git does not allow.";
                return Err(GitError::damaged_error(what, hint));
            }
            found = self.find_reference(&next)?;
            branch = Some(next);
        }
        Err(GitError::damaged_error(
            "HEAD leads from one symbolic reference to the next without an end.",
            hint,
        ))
    }

    /// Returns a reference itself, not its target; `None` without one of that name.
    pub(super) fn find_reference(&self, name: &str) -> Result<Option<Reference<'_>>, GitError> {
        refuse_special(&self.repo.commondir().join(name))?;
        if_found(self.repo.find_reference(name)).with_action(format_args!("read {name}"))
    }
}

/// True for a path that is one of these, or below one.
pub(super) fn is_below(folders: &[Vec<u8>], path: &[u8]) -> bool {
    let rest = folders
        .iter()
        .find_map(|folder| path.strip_prefix(folder.as_slice()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Refuses `core.worktree`, `core.bare` and moved worktrees, which would show another directory's files.
fn check_place(root: &Path, repo: &Repository) -> Result<(), GitError> {
    let shown = repo
        .workdir()
        .and_then(|dir| fs_err::canonicalize(dir).ok());
    let here = fs_err::canonicalize(root).with_action("find the package's folder")?;
    if shown.as_deref() != Some(&*here) {
        return Err(GitError::refused_error(
            format!(
                "The repository in {} shows the files of another folder, or none.",
                root.display()
            ),
            "Remove core.worktree and core.bare from its configuration, or run `git worktree repair`.",
        ));
    }
    let grafts = repo.commondir().join("info/grafts");
    if fs_err::metadata(grafts).is_ok_and(|meta| meta.len() > 0) {
        return Err(GitError::refused_error(
            format!(
                "The repository in {} has grafts, which show another history.",
                root.display()
            ),
            "Remove `.git/info/grafts`.",
        ));
    }
    Ok(())
}

fn check_config(repo: &Repository) -> Result<(), GitError> {
    let config = repo
        .config()
        .and_then(|mut config| config.snapshot())
        .with_action("read the repository's configuration")?;
    // config.worktree is read here too: the library excludes it from the snapshot of a main work tree.
    let own = Config::open(&repo.path().join("config.worktree")).ok();
    if is_sparse(&config) || own.as_ref().is_some_and(is_sparse) {
        return Err(GitError::refused_error(
            "The work tree is a sparse checkout: excluded files cannot be distinguished from deleted ones.",
            "Run `git sparse-checkout disable`.",
        ));
    }
    let mut promised = config.get_string("extensions.partialClone").is_ok();
    if let Ok(entries) = config.entries(Some("remote\\..*\\.promisor")) {
        let _ =
            entries.for_each(|entry| promised |= entry.value().is_ok_and(|value| value != "false"));
    }
    if promised {
        Err(partial_clone())
    } else {
        Ok(())
    }
}

/// True if the settings enable sparse checkouts.
fn is_sparse(config: &Config) -> bool {
    config.get_bool("core.sparseCheckout").unwrap_or(false)
}

fn partial_clone() -> GitError {
    GitError::refused_error(
        "The repository is a partial clone: objects are missing and would be fetched on demand.",
        "Clone it again without --filter.",
    )
}

/// Returns the error for a repository that the library does not open.
fn why_not(root: &Path, error: git2::Error) -> GitError {
    let at = root.display();
    if error.code() == ErrorCode::Owner {
        return GitError::refused_error(
            format!("The repository in {at} belongs to another user."),
            "Change its owner, or add the folder to safe.directory of your git configuration.",
        );
    }
    let config = Config::open(&root.join(".git/config")).ok();
    let config = config.as_ref();
    if read_setting(config, "extensions.objectformat").is_some_and(|format| format != "sha1") {
        return GitError::refused_error(
            format!(
                "The repository in {at} names its objects by SHA-256, which ralph cannot read."
            ),
            "Use a repository with SHA-1 object names (`git init --object-format=sha1`).",
        );
    }
    if read_setting(config, "extensions.refstorage").is_some_and(|format| format != "files") {
        return GitError::refused_error(
            format!(
                "The repository in {at} keeps its references in a reftable, which ralph cannot read."
            ),
            "Run `git refs migrate --ref-format=files`.",
        );
    }
    if read_setting(config, "extensions.partialclone").is_some() {
        return partial_clone();
    }
    let is_extension = error.message().contains("extension");
    let mut trouble = GitError::library_error(format!("open the repository in {at}"), error);
    if is_extension {
        trouble.kind = GitErrorKind::Refused;
        "Remove the extension from the repository's configuration, or clone it again."
            .clone_into(&mut trouble.hint);
    }
    trouble
}

fn read_setting(config: Option<&Config>, key: &str) -> Option<String> {
    config?.get_string(key).ok()
}
