//! Resolves the revisions that a user names.
//!
//! Promises: a name with more than one meaning is an error. git takes the first meaning and warns, so a tag
//! `origin/main` could replace the branch of the remote.

use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use git2::{ErrorCode, Oid, Reference};

/// The beginnings that git adds to the name of a reference, in its order (`man gitrevisions`).
const BEGINNINGS: [&str; 5] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/// Lengths of an object id in hexadecimal digits: the shortest that git takes, and the whole.
const SHORTEST_ID: usize = 4;
const WHOLE_ID: usize = 40;

/// Returns the commit of a revision.
///
/// Errors: an unknown revision (`NotFound`), a name with more than one meaning (`Refused`).
pub(super) fn commit_at(open: &OpenRepo, rev: &str) -> Result<Oid, GitError> {
    let unknown = || {
        let what = format!("The revision `{rev}` is not known here.");
        GitError::not_found(what, "Name a commit, branch or tag of every package.")
    };
    if !has_one_meaning(open, base_name(rev))? {
        return Err(unknown());
    }
    let object = open.repo.revparse_single(rev).map_err(|_| unknown())?;
    Ok(object.peel_to_commit().map_err(|_| unknown())?.id())
}

/// Returns a revision without its suffixes (`~2`, `^{commit}`, `@{1}`, `:path`).
fn base_name(rev: &str) -> &str {
    let ends = ["~", "^", ":", "@{"].map(|suffix| rev.find(suffix));
    let end = ends.into_iter().flatten().min();
    &rev[..end.unwrap_or(rev.len())]
}

/// False if a whole name or a whole id does not exist: the library would try it as the name of a branch.
fn has_one_meaning(open: &OpenRepo, name: &str) -> Result<bool, GitError> {
    let digits = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let odb = open.repo.odb().with_action("open the object store")?;
    if digits && name.len() == WHOLE_ID {
        let id = Oid::from_str(name).with_action("read an object id")?;
        return Ok(odb.exists(id));
    }
    if name == "HEAD" {
        return Ok(true);
    }
    if name.starts_with("refs/") {
        return reference_exists(open, name);
    }
    let mut meanings = Vec::new();
    if digits && (SHORTEST_ID..WHOLE_ID).contains(&name.len()) {
        let id = Oid::from_str(name).with_action("read an object id")?;
        let found = odb.exists_prefix(id, name.len());
        if !found.is_err_and(|error| error.code() == ErrorCode::NotFound) {
            meanings.push(format!("an object id that begins with {name}"));
        }
    }
    let names = BEGINNINGS.map(|beginning| format!("{beginning}{name}"));
    for name in names
        .into_iter()
        .chain([format!("refs/remotes/{name}/HEAD")])
    {
        if reference_exists(open, &name)? {
            meanings.push(name);
        }
    }
    match meanings.as_slice() {
        [] | [_] => Ok(true),
        [.., last] => Err(GitError::refused_error(
            format!("The name `{name}` is ambiguous: {}.", meanings.join(", ")),
            format!("Write the full name of the reference, for example {last}."),
        )),
    }
}

fn reference_exists(open: &OpenRepo, name: &str) -> Result<bool, GitError> {
    Ok(Reference::is_valid_name(name) && open.find_reference(name)?.is_some())
}
