//! Names and links that a commit may bring into a checkout.
//!
//! Owns: the refusal of what leads out of the folder.
//!
//! Promises: a path is made of plain names, none of them `.git`; a link climbs only at its start, so that
//! its way can be told without asking the disk, and never out of the folder.
//!
//! Refuses to know: what stands on the disk.

use super::HINT;
use crate::git::error::GitError;
use crate::source::RepoPath;

/// Longest path, bytes.
const MAX_PATH: usize = 4_000;

/// A path below a folder; an empty folder is the top.
pub(super) fn join(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if folder.is_empty() { path.to_vec() } else { [folder, b"/", path].concat() }
}

/// Refuses a path that is not plain names.
pub(super) fn check(path: &[u8]) -> Result<(), GitError> {
    let odd = |name: &[u8]| {
        name.is_empty()
            || name == b"."
            || name == b".."
            || name.eq_ignore_ascii_case(b".git")
            || name.contains(&0)
    };
    if path.len() <= MAX_PATH && !path.split(|&byte| byte == b'/').any(odd) {
        return Ok(());
    }
    let shown = RepoPath::from_bytes(path.get(..200).unwrap_or(path));
    Err(GitError::refused(
        format!("The commit holds a path that cannot be written to a folder: {shown}."),
        HINT,
    ))
}

/// Refuses a link that leads out of the folder, or might.
pub(super) fn check_link(path: &[u8], target: &[u8]) -> Result<(), GitError> {
    let depth = path.split(|&byte| byte == b'/').count() - 1;
    let parts: Vec<&[u8]> =
        target.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    let climbs = parts.iter().take_while(|part| **part == b"..").count();
    let turns = parts.iter().skip(climbs).any(|part| *part == b".." || part.eq_ignore_ascii_case(b".git"));
    let absolute = target.first() == Some(&b'/');
    if !(absolute
        || turns
        || climbs > depth
        || target.is_empty()
        || target.contains(&0)
        || target.len() > MAX_PATH)
    {
        return Ok(());
    }
    let (path, target) =
        (RepoPath::from_bytes(path), RepoPath::from_bytes(target.get(..200).unwrap_or(target)));
    Err(GitError::refused(
        format!("The link {path} of the commit leads out of its checkout, to {target}."),
        HINT,
    ))
}

#[cfg(test)]
mod tests {
    use super::{check, check_link};

    #[test]
    fn plain_names_pass_and_others_are_refused() {
        for path in ["a", "a/b.java", "...", ".gitignore", "a/.mvn/x", "ä b"] {
            assert!(check(path.as_bytes()).is_ok(), "{path}");
        }
        for path in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", ".git", "a/.GIT/hooks/x", "a\0b"] {
            assert!(check(path.as_bytes()).is_err(), "{path:?}");
        }
        assert!(check(&vec![b'a'; 4_001]).is_err());
    }

    #[test]
    fn links_stay_inside() {
        for (path, target) in
            [("a", "b"), ("a/b", "../c"), ("a/b/c", "../../d/e"), ("a", "./b"), ("a/b", "..")]
        {
            assert!(check_link(path.as_bytes(), target.as_bytes()).is_ok(), "{path} {target}");
        }
        // The last one may climb further than it seems, through a link in the middle.
        let out = [
            ("a", "/etc"),
            ("a", "../b"),
            ("a/b", "../../c"),
            ("a", ""),
            ("a", ".git/hooks"),
            ("a/b", "c/../d"),
        ];
        for (path, target) in out {
            assert!(check_link(path.as_bytes(), target.as_bytes()).is_err(), "{path} {target}");
        }
    }
}
