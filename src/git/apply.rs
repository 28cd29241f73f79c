//! Executes a plan: HEAD, files, index.
//!
//! Promises: writes go below real directories only, never through a link. A file leaves the disk only if the kept
//! commit or the wanted HEAD has its bytes. Each step can be done twice.

use super::backup_refs;
use super::content::{self, EXECUTABLE, LINK, on_disk};
use super::error::{DescribeFailure as _, GitError, if_found};
use super::open::{HeadPosition, OpenRepo};
use super::package_folders::is_repository;
use super::plan::{PathAction, RestorePlan};
use super::tree::{self, GITLINK, Leaf};
use crate::sys::disk::sync_volume;
use crate::sys::walk::walk;
use git2::Oid;
use git2::build::CheckoutBuilder;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The result of a plan.
#[derive(Debug, Default)]
pub(super) struct AppliedPlan {
    /// Paths whose state on disk changed.
    pub(super) restored: BTreeSet<Vec<u8>>,
    /// Paths that could not be restored.
    pub(super) unrestored: BTreeSet<Vec<u8>>,
}

/// Waits until the kept commit is on the disk. Nothing may be removed before.
pub(super) fn sync_objects(open: &OpenRepo) -> Result<(), GitError> {
    sync_volume(open.repo.commondir()).with_action("wait for the disk")
}

/// Moves the branch and HEAD. An unborn branch loses its reference.
pub(super) fn move_head(open: &OpenRepo, head: &HeadPosition) -> Result<(), GitError> {
    let doing = "put HEAD back";
    let repo = &open.repo;
    let Some(branch) = &head.branch else {
        return head
            .commit
            .map_or(Ok(()), |commit| repo.set_head_detached(commit))
            .with_action(doing);
    };
    match (head.commit, open.find_reference(branch)?) {
        (Some(commit), _) => repo
            .reference(branch, commit, true, "ralph: restore")
            .map(drop),
        (None, known) => known.map_or(Ok(()), |mut known| known.delete()),
    }
    .with_action(doing)?;
    // An alias of the branch may stay checked out.
    if open.read_head()?.branch == head.branch {
        Ok(())
    } else {
        repo.set_head(branch).with_action(doing)
    }
}

/// Ends an unfinished merge, rebase, revert or cherry-pick, because the next commit would be part of it.
pub(super) fn end_half_done(open: &OpenRepo) -> Result<(), GitError> {
    use git2::RepositoryState::{Bisect, Clean};
    if matches!(open.repo.state(), Clean | Bisect) {
        return Ok(());
    }
    open.repo
        .cleanup_state()
        .with_action("end a merge or rebase")
}

/// Executes a plan. `kept` is the commit that has everything which may be removed.
pub(super) fn apply_plan(
    open: &mut OpenRepo,
    head: &HeadPosition,
    plan: &RestorePlan,
    kept: Oid,
) -> Result<AppliedPlan, GitError> {
    let mut work = ApplyWork {
        open,
        head,
        kept,
        outcome: AppliedPlan::default(),
        checkout: Vec::new(),
        bare: Vec::new(),
    };
    let mut ready = Vec::new();
    for (path, act) in plan {
        let wanted = tree::leaf_in(&work.open.repo, head.commit, path)?;
        if work.clear_path(path, *act, wanted)? {
            ready.push((path, *act, wanted));
        } else {
            work.bare.push((path.clone(), wanted));
        }
    }
    for (path, act, wanted) in ready {
        work.fill_path(path, act, wanted)?;
    }
    work.write_index()?;
    work.check_out()?;
    Ok(work.outcome)
}

struct ApplyWork<'a> {
    open: &'a mut OpenRepo,
    head: &'a HeadPosition,
    kept: Oid,
    outcome: AppliedPlan,
    /// Paths that the library checks out.
    checkout: Vec<Vec<u8>>,
    /// Paths of which only the index entry is set or removed.
    bare: Vec<(Vec<u8>, Option<Leaf>)>,
}

impl ApplyWork<'_> {
    /// Removes the path from the disk, if that is allowed; false if the disk is unchanged.
    fn clear_path(
        &mut self,
        path: &[u8],
        act: PathAction,
        wanted: Option<Leaf>,
    ) -> Result<bool, GitError> {
        let available = match act {
            PathAction::Index => return Ok(false),
            PathAction::Content(Some(blob)) => self.open.repo.find_blob(blob).is_ok(),
            PathAction::Content(None) => true,
            PathAction::Head => wanted.is_none_or(|(_, mode)| mode != GITLINK),
        };
        let is_safe = match self.open.read_leaf(path)? {
            Some(leaf) => {
                wanted.is_some_and(|(id, _)| id == leaf.0)
                    || backup_refs::holds_content(self.open, self.kept, path, leaf)?
            }
            None => self.open.lstat_path(path).is_none_or(|meta| meta.is_dir()),
        };
        if !available
            || !is_safe
            || self.open.lstat_path(path).is_some_and(|meta| meta.is_dir())
                && is_repository(&on_disk(&self.open.root, path))
        {
            self.outcome.unrestored.insert(path.to_vec());
            return Ok(false);
        }
        if self
            .open
            .lstat_path(path)
            .is_some_and(|meta| !meta.is_dir())
        {
            let file = on_disk(&self.open.root, path);
            fs_err::remove_file(&file).with_action("put a file back")?;
            self.remove_empty_folders(path);
        }
        Ok(true)
    }

    /// Removes directories above a path that are now empty.
    fn remove_empty_folders(&self, path: &[u8]) {
        let above: Vec<&[u8]> = tree::folders_above(path).collect();
        let removed = above
            .iter()
            .rev()
            .map(|folder| std::fs::remove_dir(on_disk(&self.open.root, folder)));
        removed.take_while(Result::is_ok).for_each(drop);
    }

    /// Writes the wanted content to the cleared path.
    fn fill_path(
        &mut self,
        path: &[u8],
        act: PathAction,
        wanted: Option<Leaf>,
    ) -> Result<(), GitError> {
        let content = if let PathAction::Content(content) = act {
            content
        } else {
            None
        };
        let is_checkout = act == PathAction::Head && wanted.is_some();
        let has_way = !(is_checkout || content.is_some()) || self.make_way(path)?;
        if has_way && is_checkout {
            self.checkout.push(path.to_vec());
        } else {
            self.bare.push((path.to_vec(), wanted));
        }
        if let Some(blob) = content.filter(|_| has_way) {
            self.write_blob(
                path,
                blob,
                wanted.map_or(content::REGULAR, |(_, mode)| mode),
            )?;
        }
        let to = if has_way {
            &mut self.outcome.restored
        } else {
            &mut self.outcome.unrestored
        };
        to.insert(path.to_vec());
        Ok(())
    }

    /// Creates the directories above a path, and removes an empty directory in its place.
    ///
    /// False if something that is not kept is there.
    fn make_way(&mut self, path: &[u8]) -> Result<bool, GitError> {
        let mut at = self.open.root.clone();
        let mut parts = path.split(|&byte| byte == b'/').peekable();
        while let Some(part) = parts.next() {
            at.push(OsStr::from_bytes(part));
            let found = std::fs::symlink_metadata(&at).ok();
            match (parts.peek().is_some(), found) {
                (true, Some(meta)) if meta.is_dir() => {}
                (true, None) => {
                    fs_err::create_dir(&at).with_action("put a folder back")?;
                }
                (false, None) => return Ok(true),
                (false, Some(meta)) if meta.is_dir() => return Ok(remove_empty_tree(&at)),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    fn write_blob(&self, path: &[u8], blob: Oid, mode: u32) -> Result<(), GitError> {
        let doing = "put a file back";
        let found = self.open.repo.find_blob(blob);
        let found = found.with_action("read a file to restore")?;
        let file = on_disk(&self.open.root, path);
        if mode == LINK {
            let target = PathBuf::from(OsStr::from_bytes(found.content()));
            return fs_err::os::unix::fs::symlink(target, &file).with_action(doing);
        }
        let bits = if mode == EXECUTABLE { 0o777 } else { 0o666 };
        let mut options = fs_err::OpenOptions::new();
        options.options_mut().mode(bits);
        let mut out = options
            .write(true)
            .create_new(true)
            .open(&file)
            .with_action(doing)?;
        out.write_all(found.content()).with_action(doing)
    }

    fn write_index(&mut self) -> Result<(), GitError> {
        self.restore_entries().with_action("restore the index")
    }

    fn restore_entries(&self) -> Result<(), git2::Error> {
        let mut index = self.open.repo.index()?;
        index.read(true)?;
        let checkout = self.checkout.iter().map(|path| (path, None));
        for (path, wanted) in self
            .bare
            .iter()
            .map(|(path, wanted)| (path, *wanted))
            .chain(checkout)
        {
            let relative = tree::relative_path(path);
            for stage in 0..=3 {
                if_found(index.remove(&relative, stage))?;
            }
            if let Some(leaf) = wanted {
                index.add(&backup_refs::bare_entry(path, leaf))?;
            }
        }
        index.write()
    }

    fn check_out(&mut self) -> Result<(), GitError> {
        let (false, Some(commit)) = (self.checkout.is_empty(), self.head.commit) else {
            return Ok(());
        };
        let mut options = CheckoutBuilder::new();
        options.force().disable_pathspec_match(true);
        for path in &self.checkout {
            options.path(tree::relative_path(path));
        }
        let repo = &self.open.repo;
        repo.find_commit(commit)
            .and_then(|commit| repo.checkout_tree(commit.as_object(), Some(&mut options)))
            .with_action("check files out")
    }
}

/// Removes a directory that contains only directories; false if it contains anything else.
fn remove_empty_tree(folder: &Path) -> bool {
    let below = walk(folder, usize::MAX, usize::MAX, |_| true);
    let mut folders = Vec::new();
    for entry in below {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => folders.push(entry.into_path()),
            _ => return false,
        }
    }
    folders
        .iter()
        .rev()
        .all(|folder| std::fs::remove_dir(folder).is_ok())
        && std::fs::remove_dir(folder).is_ok()
}
