//! Carries a plan out: HEAD, files, index.
//!
//! Promises: writes go below real folders only, never through a link. A file leaves the disk only if the kept commit or
//! the wanted HEAD has its bytes. Each step can be done twice.

use super::backup_refs;
use super::content::{self, EXECUTABLE, LINK};
use super::error::GitError;
use super::open::{Head, OpenRepo};
use super::plan::{Act, Plan};
use super::tree::{self, GITLINK, Leaf};
use git2::build::CheckoutBuilder;
use git2::{ErrorCode, Oid};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// What came of a plan.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Paths whose state on disk changed.
    pub(super) restored: BTreeSet<Vec<u8>>,
    /// Paths that had to stay as they are.
    pub(super) unrestored: BTreeSet<Vec<u8>>,
}

/// Waits until what was kept is on the disk: only then may anything be taken away.
pub(super) fn sync(open: &OpenRepo) -> Result<(), GitError> {
    let failed = |error: std::io::Error| GitError::io("wait for the disk", &error);
    let folder = fs_err::File::open(open.repo.commondir()).map_err(failed)?;
    #[cfg(target_os = "linux")]
    nix::unistd::syncfs(&folder).map_err(|errno| failed(errno.into()))?;
    #[cfg(not(target_os = "linux"))]
    folder.sync_all().map_err(failed)?;
    Ok(())
}

/// Moves the branch and HEAD; an unborn branch loses its reference.
pub(super) fn move_head(open: &OpenRepo, head: &Head) -> Result<(), GitError> {
    let failed = |error: git2::Error| GitError::unreadable("put HEAD back", &error);
    let repo = &open.repo;
    let Some(branch) = &head.branch else {
        return head.commit.map_or(Ok(()), |commit| repo.set_head_detached(commit)).map_err(failed);
    };
    match (head.commit, open.reference(branch)?) {
        (Some(commit), _) => repo.reference(branch, commit, true, "ralph: put back").map(drop),
        (None, known) => known.map_or(Ok(()), |mut known| known.delete()),
    }
    .map_err(failed)?;
    // An alias of the branch may stay checked out.
    if open.head()?.branch == head.branch { Ok(()) } else { repo.set_head(branch).map_err(failed) }
}

/// Ends a merge, rebase, revert or cherry-pick that stopped half-way: the next commit would be part of it.
pub(super) fn end_half_done(open: &OpenRepo) -> Result<(), GitError> {
    use git2::RepositoryState::{Bisect, Clean};
    if matches!(open.repo.state(), Clean | Bisect) {
        return Ok(());
    }
    open.repo.cleanup_state().map_err(|error| GitError::unreadable("end a merge or rebase", &error))
}

/// Carries a plan out. `kept` is the commit that has everything which may be taken away.
pub(super) fn apply_plan(
    open: &mut OpenRepo,
    head: &Head,
    plan: &Plan,
    kept: Oid,
) -> Result<Outcome, GitError> {
    let mut work =
        Work { open, head, kept, outcome: Outcome::default(), checkout: Vec::new(), bare: Vec::new() };
    let mut ready = Vec::new();
    for (path, act) in plan {
        let wanted = work.in_head(path)?;
        if work.clear(path, *act, wanted)? {
            ready.push((path, *act, wanted));
        } else {
            work.bare.push((path.clone(), wanted));
        }
    }
    for (path, act, wanted) in ready {
        work.fill(path, act, wanted)?;
    }
    work.write_index()?;
    work.check_out()?;
    Ok(work.outcome)
}

struct Work<'a> {
    open: &'a mut OpenRepo,
    head: &'a Head,
    kept: Oid,
    outcome: Outcome,
    /// Paths that the library checks out.
    checkout: Vec<Vec<u8>>,
    /// Paths whose index entry alone is set (or taken away).
    bare: Vec<(Vec<u8>, Option<Leaf>)>,
}

impl Work<'_> {
    fn in_head(&self, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        tree::leaf_in(&self.open.repo, self.head.commit, path)
    }

    /// Takes what is at the path off the disk, when that may be done. False: the disk stays as it is.
    fn clear(&mut self, path: &[u8], act: Act, wanted: Option<Leaf>) -> Result<bool, GitError> {
        let available = match act {
            Act::Index => return Ok(false),
            Act::Content(Some(blob)) => self.open.repo.find_blob(blob).is_ok(),
            Act::Content(None) => true,
            Act::Head => wanted.is_none_or(|(_, mode)| mode != GITLINK),
        };
        let is_safe = match self.open.leaf(path)? {
            Some(leaf) => {
                wanted.is_some_and(|(id, _)| id == leaf.0)
                    || backup_refs::holds(self.open, self.kept, path, leaf)?
            }
            None => self.open.lstat(path).is_none_or(|meta| meta.is_dir()),
        };
        if !available
            || !is_safe
            || self.open.lstat(path).is_some_and(|meta| meta.is_dir() && is_repository(self, path))
        {
            self.outcome.unrestored.insert(path.to_vec());
            return Ok(false);
        }
        if self.open.lstat(path).is_some_and(|meta| !meta.is_dir()) {
            let file = content::on_disk(&self.open.root, path);
            fs_err::remove_file(&file).map_err(|error| GitError::io("put a file back", &error))?;
            self.remove_empty_folders(path);
        }
        Ok(true)
    }

    /// Folders that are empty now, upward.
    fn remove_empty_folders(&self, path: &[u8]) {
        let mut folder = path;
        while let Some(end) = folder.iter().rposition(|&byte| byte == b'/') {
            folder = &folder[..end];
            if std::fs::remove_dir(content::on_disk(&self.open.root, folder)).is_err() {
                return;
            }
        }
    }

    /// Puts the wanted content in the place that was cleared.
    fn fill(&mut self, path: &[u8], act: Act, wanted: Option<Leaf>) -> Result<(), GitError> {
        let content = if let Act::Content(content) = act { content } else { None };
        let is_checkout = act == Act::Head && wanted.is_some();
        let has_way = !(is_checkout || content.is_some()) || self.make_way(path)?;
        if has_way && is_checkout {
            self.checkout.push(path.to_vec());
        } else {
            self.bare.push((path.to_vec(), wanted));
        }
        if let Some(blob) = content.filter(|_| has_way) {
            self.write(path, blob, wanted.map_or(content::REGULAR, |(_, mode)| mode))?;
        }
        let to = if has_way { &mut self.outcome.restored } else { &mut self.outcome.unrestored };
        to.insert(path.to_vec());
        Ok(())
    }

    /// Makes the folders above a path, and removes an empty folder in its place. False when something that
    /// is not kept stands there.
    fn make_way(&mut self, path: &[u8]) -> Result<bool, GitError> {
        let mut at = self.open.root.clone();
        let mut parts = path.split(|&byte| byte == b'/').peekable();
        while let Some(part) = parts.next() {
            at.push(OsStr::from_bytes(part));
            let found = std::fs::symlink_metadata(&at).ok();
            match (parts.peek().is_some(), found) {
                (true, Some(meta)) if meta.is_dir() => {}
                (true, None) => {
                    fs_err::create_dir(&at).map_err(|error| GitError::io("put a folder back", &error))?;
                }
                (false, None) => return Ok(true),
                (false, Some(meta)) if meta.is_dir() => return Ok(remove_empty_tree(at)),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    fn write(&self, path: &[u8], blob: Oid, mode: u32) -> Result<(), GitError> {
        let failed = |error| GitError::io("put a file back", &error);
        let found = self.open.repo.find_blob(blob);
        let found = found.map_err(|error| GitError::unreadable("read a file that is put back", &error))?;
        let file = content::on_disk(&self.open.root, path);
        if mode == LINK {
            let target = PathBuf::from(OsStr::from_bytes(found.content()));
            return fs_err::os::unix::fs::symlink(target, &file).map_err(failed);
        }
        let bits = if mode == EXECUTABLE { 0o777 } else { 0o666 };
        let mut options = fs_err::OpenOptions::new();
        options.options_mut().mode(bits);
        let mut out = options.write(true).create_new(true).open(&file).map_err(failed)?;
        out.write_all(found.content()).map_err(failed)
    }

    fn write_index(&mut self) -> Result<(), GitError> {
        let repo = &self.open.repo;
        let written = || {
            let mut index = repo.index()?;
            index.read(true)?;
            let checkout = self.checkout.iter().map(|path| (path, None));
            for (path, wanted) in self.bare.iter().map(|(path, wanted)| (path, *wanted)).chain(checkout) {
                let relative = tree::relative(path);
                for stage in 0..=3 {
                    match index.remove(&relative, stage) {
                        Err(error) if error.code() != ErrorCode::NotFound => return Err(error),
                        _ => {}
                    }
                }
                if let Some(leaf) = wanted {
                    index.add(&backup_refs::bare_entry(path, leaf))?;
                }
            }
            index.write()
        };
        written().map_err(|error| GitError::unreadable("put the index back", &error))
    }

    fn check_out(&mut self) -> Result<(), GitError> {
        let (false, Some(commit)) = (self.checkout.is_empty(), self.head.commit) else { return Ok(()) };
        let mut options = CheckoutBuilder::new();
        options.force().disable_pathspec_match(true);
        for path in &self.checkout {
            options.path(tree::relative(path));
        }
        let repo = &self.open.repo;
        repo.find_commit(commit)
            .and_then(|commit| repo.checkout_tree(commit.as_object(), Some(&mut options)))
            .map_err(|error| GitError::unreadable("check files out", &error))
    }
}

fn is_repository(work: &Work<'_>, path: &[u8]) -> bool {
    content::on_disk(&work.open.root, path).join(".git").symlink_metadata().is_ok()
}

/// Removes a folder that holds nothing but folders; false when it holds something.
fn remove_empty_tree(folder: PathBuf) -> bool {
    let mut todo = vec![folder];
    let mut all = Vec::new();
    while let Some(folder) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { return false };
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_dir()) => todo.push(entry.path()),
                _ => return false,
            }
        }
        all.push(folder);
    }
    all.iter().rev().all(|folder| std::fs::remove_dir(folder).is_ok())
}
