//! `ralph gate --push`: the gates on the commits of a push, in git's pre-push hook.
//!
//! Promises: each commit is judged in a private checkout, by the configuration before it. A push that could not be
//! judged is refused.

use super::gate::GateArgs;
use super::stop_hook::judge;
use super::{Exit, Fault, FaultKind, Invocation, ensure_that, ui};
use crate::engine::{CommitRange, Outside};
use crate::machine::facts::Oid;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

/// Bytes of the list of references that are read.
const LONGEST_LIST: u64 = 1 << 20;
/// The base of a new branch, unless `--since` names it.
const DEFAULT_BASE: &str = "refs/remotes/origin/HEAD";

/// An update of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RefUpdate {
    local: String,
    commit: Oid,
    remote_commit: Oid,
}

/// `ralph gate --push`.
pub(super) fn judge_push(call: &Invocation, args: &GateArgs) -> Result<Exit, Fault> {
    let updates = read_updates(io::stdin().lock())?;
    let root = call.find_workspace()?;
    let here = std::env::current_dir()?;
    let mut exit = Exit::Done;
    for update in updates.iter().filter(|update| !update.commit.is_zero()) {
        let judged = judge_update(call, args, &root, &here, update)?;
        if judged != Exit::Done {
            ui::print_note(&format!(
                "The push of {} is refused. `git push --no-verify` skips the gate.",
                update.local
            ));
        }
        exit = if exit == Exit::WorkLeft { exit } else { judged };
        if exit == Exit::WorkLeft {
            break;
        }
    }
    Ok(exit)
}

/// Reads lines of `<local ref> <local commit> <remote ref> <remote commit>`, as git's pre-push hook gets them.
fn read_updates(list: impl io::Read) -> Result<Vec<RefUpdate>, Fault> {
    let mut text = String::new();
    list.take(LONGEST_LIST + 1).read_to_string(&mut text)?;
    // git pushes all references of the list, so none may be left unjudged.
    let what = "The list of pushed references is longer than 1 MiB.";
    ensure_that(
        text.len() as u64 <= LONGEST_LIST,
        what,
        "push fewer at once",
    )?;
    let mut updates = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [local, commit, _, remote_commit] = words[..] else {
            return Err(unreadable(line));
        };
        let are_ids = [commit, remote_commit].iter().all(|id| {
            matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if !are_ids {
            return Err(unreadable(line));
        }
        updates.push(RefUpdate {
            local: local.to_owned(),
            commit: Oid(commit.to_owned()),
            remote_commit: Oid(remote_commit.to_owned()),
        });
    }
    Ok(updates)
}

fn unreadable(line: &str) -> Fault {
    Fault::new(
        FaultKind::Unknown,
        format!("This line does not come from git's pre-push hook: {line}"),
        "call it from the hook: see docs/own-loop.md",
    )
}

/// Judges what a reference adds to the remote.
fn judge_update(
    call: &Invocation,
    args: &GateArgs,
    root: &Path,
    here: &Path,
    update: &RefUpdate,
) -> Result<Exit, Fault> {
    let workspace = call.read_settings(root.to_owned())?.into_sound()?;
    let mut outside = workspace.open_outside()?;
    let pushed: Vec<String> = outside
        .repositories_of_packages()
        .into_iter()
        .filter(|(_, folder)| here.starts_with(folder))
        .map(|(name, _)| name)
        .collect();
    let what = format!("{} is in no package of {}.", here.display(), root.display());
    ensure_that(!pushed.is_empty(), what, "push from a package")?;
    let range = range_of(&mut outside, args, &pushed, update)?;
    // The judge is that of the base, unless `.ralph/` is in another repository.
    let base = range
        .bases
        .values()
        .next()
        .cloned()
        .unwrap_or_else(Oid::zero);
    let workspace = if args.trust || base.is_zero() {
        workspace
    } else {
        call.read_at_base(root.to_owned(), &base.0)?
    };
    let mut outside = workspace.open_outside()?;
    let judged = judge(&workspace, &mut outside, args, &range, true)?;
    for line in judged.text.lines() {
        ui::print_line(line);
    }
    Ok(match judged {
        judged if judged.fails => Exit::WorkLeft,
        judged if judged.has_error => Exit::NoVerdict,
        _ => Exit::Done,
    })
}

/// Returns the commits before and after, for the packages that are pushed.
fn range_of(
    outside: &mut Outside,
    args: &GateArgs,
    pushed: &[String],
    update: &RefUpdate,
) -> Result<CommitRange, Fault> {
    let (mut bases, mut heads) = (BTreeMap::new(), BTreeMap::new());
    for package in pushed {
        let revision = match &args.since {
            Some(revision) => revision.clone(),
            None if update.remote_commit.is_zero() => DEFAULT_BASE.to_owned(),
            None => update.remote_commit.to_string(),
        };
        let base = outside.merge_base(package, &update.commit, &revision);
        let base = base.map_err(|fault| Fault {
            kind: FaultKind::Unknown,
            hint: "fetch from the remote, or name the base with `--since REV` in the hook"
                .to_owned(),
            ..fault
        })?;
        bases.insert(package.clone(), base);
        heads.insert(package.clone(), update.commit.clone());
    }
    Ok(CommitRange { bases, heads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_hook_are_read() {
        let (a, b) = ("a".repeat(40), "0".repeat(40));
        let read = |text: &str| read_updates(text.as_bytes());
        let updates = read(&format!("refs/heads/x {a} refs/heads/x {b}\n")).unwrap();
        assert_eq!(updates[0].local, "refs/heads/x");
        assert!(updates[0].remote_commit.is_zero());
        for line in ["", "x", "x y z"] {
            assert!(read(&format!("{line}\n")).is_err(), "{line}");
        }
        assert!(read(&format!("x {a} y HEAD\n")).is_err());
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn a_list_whose_end_would_not_be_read_is_refused() {
        let (a, b) = ("a".repeat(40), "0".repeat(40));
        let line = format!("{:022} {a} {:022} {b}\n", 1, 1);
        let lines = 8_192;
        assert_eq!(line.repeat(lines).len() as u64, LONGEST_LIST);
        assert_eq!(
            read_updates(line.repeat(lines).as_bytes()).unwrap().len(),
            lines
        );
        assert!(read_updates(line.repeat(lines + 1).as_bytes()).is_err());
    }
}
