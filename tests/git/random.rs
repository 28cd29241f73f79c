//! Dirty files compared with `git status`, over random work trees.

use super::{Repo, Workspace};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ralph::git::RestoreExtent;
use ralph::source::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    Remove(usize),
    Link(usize),
    Mode(usize),
    Add(usize),
    RemoveCached(usize),
    IntentToAdd(usize),
    Ignore(usize),
    Commit,
    Amend,
    Branch,
    Reset,
    Snapshot,
}

const PATHS: [&str; 9] = [
    "a.py",
    "b.py",
    "dir/c.py",
    "dir/d.py",
    "dir/sub/e.py",
    "dir.py",
    "odd \"na\nme\".py",
    "z/y/x.py",
    "ignored/k.py",
];

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), any::<u8>()).prop_map(|(at, text)| Step::Write(at, text)),
        2 => path().prop_map(Step::Remove),
        1 => path().prop_map(Step::Link),
        1 => path().prop_map(Step::Mode),
        3 => path().prop_map(Step::Add),
        1 => path().prop_map(Step::RemoveCached),
        1 => path().prop_map(Step::IntentToAdd),
        1 => path().prop_map(Step::Ignore),
        1 => Just(Step::Commit),
        1 => Just(Step::Reset),
        1 => Just(Step::Amend),
        1 => Just(Step::Branch),
        2 => Just(Step::Snapshot),
    ]
}

fn perform(repo: &Repo, step: &Step) {
    let try_git = |args: &[&str]| drop(super::run_git(&repo.dir, args));
    match step {
        Step::Write(at, text) => {
            if !repo.dir.join(PATHS[*at]).is_symlink() {
                repo.write(PATHS[*at], format!("line {}\n", text % 4));
            }
        }
        Step::Remove(at) => drop(fs_err::remove_file(repo.dir.join(PATHS[*at]))),
        Step::Link(at) => {
            let file = repo.dir.join(PATHS[*at]);
            if fs_err::remove_file(&file).is_ok() {
                std::os::unix::fs::symlink("a.py", file).unwrap();
            }
        }
        Step::Mode(at) => {
            let file = repo.dir.join(PATHS[*at]);
            if file.is_file() && !file.is_symlink() {
                fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Step::Add(at) => try_git(&["add", "-f", "--", PATHS[*at]]),
        Step::RemoveCached(at) => try_git(&["rm", "-q", "-f", "--cached", "--", PATHS[*at]]),
        Step::IntentToAdd(at) => try_git(&["add", "-N", "--", PATHS[*at]]),
        Step::Ignore(at) => {
            repo.write(
                ".gitignore",
                format!("ignored/\n{}\n", PATHS[*at].lines().next().unwrap()),
            );
            // Only committed rules count.
            try_git(&["commit", "-q", "-m", "ignore", "--", ".gitignore"]);
        }
        Step::Commit => try_git(&["commit", "-q", "-m", "x"]),
        Step::Amend => try_git(&["commit", "-q", "--amend", "-m", "y"]),
        Step::Branch => try_git(&["checkout", "-q", "-b", "other", "HEAD~1"]),
        Step::Reset => try_git(&["reset", "-q", "--hard"]),
        Step::Snapshot => {}
    }
}

/// Returns git's dirty and untracked paths, without `.gitignore`.
fn git_says(repo: &Repo) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut dirty = BTreeSet::new();
    let mut untracked = BTreeSet::new();
    for line in repo
        .git(&["status", "--porcelain", "-uall", "--no-renames"])
        .lines()
    {
        let path = RepoPath::parse(&line[3..]).as_str().to_owned();
        if !path.ends_with(".gitignore") {
            if line.starts_with("??") {
                untracked.insert(path)
            } else {
                dirty.insert(path)
            };
        }
    }
    // `git rm --cached` shows a path twice: deleted from the index, and untracked. It is tracked in HEAD.
    (
        dirty.clone(),
        untracked.difference(&dirty).cloned().collect(),
    )
}

/// Returns regular files and links of the test's paths on disk.
fn on_disk(repo: &Repo) -> BTreeMap<&'static str, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in PATHS {
        let file = repo.dir.join(path);
        if let Ok(target) = std::fs::read_link(&file) {
            all.insert(path, target.into_os_string().into_encoded_bytes());
        } else if let Ok(bytes) = fs_err::read(&file) {
            all.insert(path, bytes);
        }
    }
    all
}

#[test]
fn putting_back_restores_the_disk_and_loses_nothing() {
    let mut runner = runner(40);
    let steps = || proptest::collection::vec(step(), 0..12);
    runner
        .run(&(steps(), steps()), |(before, attempt)| {
            let workspace = Workspace::with(&["a"]);
            let repo = workspace.repo("src/a");
            for path in &PATHS[..7] {
                repo.write(path, "line 0\n");
            }
            repo.commit("all");
            let is_ignore = |step: &&Step| !matches!(step, Step::Ignore(_));
            before
                .iter()
                .filter(is_ignore)
                .for_each(|step| perform(&repo, step));
            let mut repositories = workspace.discover();
            let snapshot = repositories.take_snapshot().unwrap();
            let wanted = on_disk(&repo);
            attempt
                .iter()
                .filter(is_ignore)
                .for_each(|step| perform(&repo, step));
            let left = on_disk(&repo);
            let head = repo.head();
            let seen = super::observe(&mut repositories, &snapshot);
            let reference = "refs/ralph/rejected/1";
            let done = repositories
                .put_back(&snapshot, &seen, RestoreExtent::All, 1, reference)
                .unwrap();

            let unrestored: Vec<String> = done
                .iter()
                .flat_map(|done| &done.unrestored)
                .map(RepoPath::to_text)
                .collect();
            let mut now = on_disk(&repo);
            for path in PATHS {
                if let Some(kept) = left.get(path).filter(|kept| now.get(path) != Some(kept)) {
                    let object = format!("{reference}:{path}");
                    let shown = super::run_git(&repo.dir, &["cat-file", "blob", &object]);
                    prop_assert_eq!(
                        shown,
                        (true, String::from_utf8_lossy(kept).into_owned()),
                        "{}",
                        path
                    );
                }
            }
            let mut wanted = wanted;
            for path in &unrestored {
                now.remove(path.as_str());
                wanted.remove(path.as_str());
            }
            prop_assert_eq!(now, wanted);
            prop_assert_eq!(&repo.head(), &snapshot.packages[0].head.0);
            if head != repo.head() {
                repo.git(&["merge-base", "--is-ancestor", &head, reference]);
            }
            let after = repositories.take_snapshot().unwrap();
            prop_assert_eq!(&after.packages[0].branch, &snapshot.packages[0].branch);
            Ok(())
        })
        .unwrap();
}

fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(
        Config {
            cases,
            failure_persistence: None,
            ..Config::default()
        },
        rng,
    )
}

#[test]
fn dirt_equals_what_git_status_says() {
    let mut runner = runner(30);
    runner
        .run(&proptest::collection::vec(step(), 1..25), |steps| {
            let workspace = Workspace::with(&["a"]);
            let repo = workspace.repo("src/a");
            for path in &PATHS[..7] {
                repo.write(path, "line 0\n");
            }
            repo.commit("all");
            let mut repositories = workspace.discover();
            for step in &steps {
                perform(&repo, step);
                if !matches!(step, Step::Snapshot) {
                    continue;
                }
                compare(&repo, &mut repositories)?;
            }
            compare(&repo, &mut repositories)
        })
        .unwrap();
}

fn compare(repo: &Repo, repositories: &mut ralph::git::Repositories) -> Result<(), TestCaseError> {
    let (dirty, untracked) = git_says(repo);
    let snapshot = repositories.take_snapshot().unwrap();
    let package = &snapshot.packages[0];
    let of = |dirt: &[ralph::machine::facts::Dirt]| -> BTreeSet<String> {
        let paths = dirt.iter().map(|dirt| dirt.path.as_str().to_owned());
        paths.filter(|path| !path.ends_with(".gitignore")).collect()
    };
    prop_assert_eq!(of(&package.dirt), dirty);
    prop_assert_eq!(of(&package.untracked), untracked);
    Ok(())
}
