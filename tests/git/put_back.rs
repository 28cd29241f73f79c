//! Keeping content, and restoring it.

use super::{Repo, Workspace, observe};
use ralph::git::{Repositories, RestoreExtent};
use ralph::machine::event::KeptWork;
use ralph::machine::facts::{Dirt, PackageChange, Snapshot};
use ralph::source::RepoPath;
use std::collections::BTreeMap;

const MAIN: &str = "src/main/java/A.java";
const TEST: &str = "src/test/java/ATest.java";
const REF: &str = "refs/ralph/rejected/7";

/// Returns everything on disk outside `.git`: path to content (of a link: its target).
fn disk(repo: &Repo) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut todo = vec![repo.dir.clone()];
    while let Some(folder) = todo.pop() {
        for entry in fs_err::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                if entry.file_name() != ".git" {
                    todo.push(path);
                }
                continue;
            }
            let content = if kind.is_symlink() {
                fs_err::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs_err::read(&path).unwrap()
            };
            all.insert(
                path.strip_prefix(&repo.dir)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
                content,
            );
        }
    }
    all
}

/// Returns HEAD, branch, status and disk.
fn state(repo: &Repo) -> (String, String, Vec<String>, BTreeMap<String, Vec<u8>>) {
    let branch = super::run_git(&repo.dir, &["symbolic-ref", "-q", "HEAD"]).1;
    let head = super::run_git(&repo.dir, &["rev-parse", "-q", "--verify", "HEAD"]).1;
    (head, branch, repo.status(), disk(repo))
}

fn put_back(
    repositories: &mut Repositories,
    before: &Snapshot,
    extent: RestoreExtent,
) -> Vec<KeptWork> {
    let seen = observe(repositories, before);
    repositories
        .put_back(before, &seen, extent, 7, REF)
        .unwrap()
}

fn shown(repo: &Repo, commit: &str, path: &str) -> String {
    repo.git(&["show", &format!("{commit}:{path}")])
}

#[test]
fn a_rewritten_history_comes_back_and_what_was_there_is_kept() {
    let workspace = Workspace::with(&["a", "b"]);
    let repo = workspace.repo("src/a");
    repo.write("second.txt", "2");
    repo.commit("second");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);

    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.write(MAIN, "class Committed {}\n");
    let rewritten = repo.commit("rewritten");
    repo.write(TEST, "class Dirty {}\n");
    repo.write("src/main/java/New.java", "new\n");
    repo.write("notes.txt", "a stray");
    workspace
        .repo("src/b")
        .write(MAIN, "untouched by the breach\n");
    let done = put_back(&mut repositories, &before, RestoreExtent::Breaches);

    assert_eq!(done.len(), 1);
    let KeptWork {
        package,
        reference,
        commit,
        unrestored,
    } = &done[0];
    assert_eq!(
        (package.as_str(), reference.as_str()),
        ("a", REF),
        "{done:?}"
    );
    assert_eq!(unrestored, &[]);
    assert_eq!(repo.git(&["rev-parse", REF]), commit.0);
    assert_eq!(repo.git(&["rev-parse", &format!("{REF}^")]), rewritten);
    assert_eq!(shown(&repo, &commit.0, MAIN), "class Committed {}");
    assert_eq!(shown(&repo, &commit.0, TEST), "class Dirty {}");
    assert_eq!(shown(&repo, &commit.0, "src/main/java/New.java"), "new");
    let mut now = state(&repo);
    assert_eq!(now.3.remove("notes.txt").as_deref(), Some(&b"a stray"[..]));
    now.2.retain(|line| line != "?? notes.txt");
    assert_eq!(now, wanted);
    assert_eq!(
        workspace.repo("src/b").read(MAIN),
        "untouched by the breach\n"
    );
    assert!(
        !observe(&mut repositories, &before)
            .packages
            .iter()
            .any(PackageChange::is_breach)
    );
}

#[test]
fn amend_branch_switch_detach_orphan_and_undone_commits_all_come_back() {
    let scripts: [&[&[&str]]; 6] = [
        &[&["commit", "-q", "--amend", "-m", "other"]],
        &[
            &["checkout", "-q", "-b", "feature"],
            &["commit", "-q", "--allow-empty", "-m", "f"],
        ],
        &[&["checkout", "-q", "--detach", "HEAD~1"]],
        &[
            &["checkout", "-q", "--orphan", "x"],
            &["rm", "-q", "-rf", "."],
            &["commit", "-q", "--allow-empty", "-m", "o"],
        ],
        &[&["reset", "-q", "--soft", "HEAD~1"]],
        &[&["update-ref", "-d", "HEAD"]],
    ];
    for script in scripts {
        let workspace = Workspace::with(&["a"]);
        let repo = workspace.repo("src/a");
        repo.write("second.txt", "2");
        repo.commit("second");
        let mut repositories = workspace.discover();
        let before = repositories.take_snapshot().unwrap();
        let wanted = state(&repo);
        for args in script {
            repo.git(args);
        }
        let there = super::run_git(&repo.dir, &["rev-parse", "-q", "--verify", "HEAD"]);
        put_back(&mut repositories, &before, RestoreExtent::Breaches);
        assert_eq!(state(&repo), wanted, "{script:?}");
        if there.0 {
            repo.git(&["merge-base", "--is-ancestor", there.1.trim(), REF]);
        }
        assert_eq!(
            repo.git(&["fsck", "--strict", "--no-dangling"]),
            "",
            "{script:?}"
        );
    }
}

#[test]
fn a_branch_that_was_rewritten_before_it_was_left_is_kept_as_well() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    repo.git(&["commit", "-q", "--amend", "-m", "amended"]);
    let amended = repo.head();
    repo.git(&[
        "checkout",
        "-q",
        "-b",
        "feature",
        &before.packages[0].head.0,
    ]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "on feature"]);
    put_back(&mut repositories, &before, RestoreExtent::Breaches);
    assert_eq!(repo.head(), before.packages[0].head.0);
    assert_eq!(repo.git(&["rev-parse", &format!("{REF}-2")]), amended);
}

#[test]
fn a_reviewer_s_commit_and_dirt_are_put_back_and_dirt_from_before_stays() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write(TEST, "class WasDirty {}\n");
    repo.write("src/main/java/WasNew.java", "was new\n");
    repo.write("staged.txt", "staged before\n");
    repo.git(&["add", "staged.txt"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);
    repo.write(MAIN, "class Review {}\n");
    repo.git(&["commit", "-q", "-m", "review", "--", MAIN]);
    repo.write("src/main/java/More.java", "more\n");
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        repositories
            .put_back(&before, &seen, RestoreExtent::Breaches, 7, REF)
            .unwrap(),
        []
    );
    let done = put_back(&mut repositories, &before, RestoreExtent::All);
    assert_eq!(done.len(), 1);
    assert_eq!(state(&repo), wanted);
    let snapshot = repositories.take_snapshot().unwrap();
    assert_eq!(snapshot, before);
}

#[test]
fn an_attempt_that_committed_or_changed_earlier_dirt_is_undone_as_far_as_bytes_are_known() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write(MAIN, "class Dirty {}\n");
    repo.write("src/main/java/New.java", "new\n");
    repo.write(TEST, "class Unknown {}\n");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);
    repo.write(TEST, "class Overwritten {}\n");
    repo.commit("all of it");
    repo.git(&[
        "commit",
        "-q",
        "--amend",
        "--allow-empty",
        "-m",
        "rewritten",
    ]);
    repo.git(&["checkout", "-q", "-b", "away"]);
    let done = put_back(&mut repositories, &before, RestoreExtent::Breaches);
    let unrestored: Vec<&str> = done[0].unrestored.iter().map(RepoPath::as_str).collect();
    assert_eq!(unrestored, [TEST], "its bytes from before are nowhere");
    assert_eq!(repo.read(TEST), "class Overwritten {}\n");
    assert_eq!(repo.read(MAIN), "class Dirty {}\n");
    assert_eq!(repo.read("src/main/java/New.java"), "new\n");
    let now = state(&repo);
    assert_eq!((now.0, now.1, now.2), (wanted.0, wanted.1, wanted.2));
}

#[test]
fn content_that_stood_in_the_index_alone_is_kept_too() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    repo.write(MAIN, "class TaskSelection {}\n");
    repo.git(&["add", MAIN]);
    repo.write(MAIN, "class OnDisk {}\n");
    let done = put_back(&mut repositories, &before, RestoreExtent::All);
    assert_eq!(shown(&repo, &done[0].commit.0, MAIN), "class OnDisk {}");
    assert_eq!(
        shown(&repo, &format!("{REF}^2"), MAIN),
        "class TaskSelection {}"
    );
    assert_eq!(repo.status(), [] as [&str; 0]);
}

#[test]
fn a_link_in_place_of_a_folder_is_not_followed() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);
    let outside = workspace.path("outside");
    fs_err::rename(repo.dir.join("src/main"), &outside).unwrap();
    fs_err::write(outside.join("java/A.java"), "outside").unwrap();
    std::os::unix::fs::symlink(&outside, repo.dir.join("src/main")).unwrap();
    repo.remove(TEST);
    repo.write(&format!("{TEST}/X.java"), "in the way");
    repo.write(&format!("{TEST}/deep/notes.txt"), "in the way, of no kind");
    put_back(&mut repositories, &before, RestoreExtent::All);
    assert_eq!(state(&repo), wanted);
    assert_eq!(
        fs_err::read_to_string(outside.join("java/A.java")).unwrap(),
        "outside"
    );
    assert_eq!(
        shown(&repo, REF, &format!("{TEST}/deep/notes.txt")),
        "in the way, of no kind"
    );
}

#[test]
fn doing_it_again_at_any_point_ends_the_same_and_loses_nothing() {
    // Each cut is the state after a crash: some of the steps are done.
    let cuts: [&[&[&str]]; 5] = [
        &[],
        &[&["update-ref", REF, "KEPT"]],
        &[
            &["update-ref", REF, "KEPT"],
            &["update-ref", "refs/heads/main", "BEFORE"],
        ],
        &[
            &["update-ref", REF, "KEPT"],
            &["update-ref", "refs/heads/main", "BEFORE"],
            &["rm", "-q", "-f", "--", "src/main/java/New.java"],
        ],
        &[
            &["update-ref", REF, "KEPT"],
            &["reset", "-q", "--hard", "BEFORE"],
        ],
    ];
    for cut in cuts {
        let workspace = Workspace::with(&["a"]);
        let repo = workspace.repo("src/a");
        repo.write("second.txt", "2");
        repo.commit("second");
        let mut repositories = workspace.discover();
        let before = repositories.take_snapshot().unwrap();
        let wanted = state(&repo);
        repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        repo.write("src/main/java/New.java", "new\n");
        repo.commit("instead");
        repo.write(MAIN, "class Dirty {}\n");
        let seen = observe(&mut repositories, &before);
        // The commit of a complete call, made by hand.
        repo.git(&["commit", "-q", "-a", "-m", "kept"]);
        let kept = repo.head();
        repo.git(&["reset", "-q", "--soft", "HEAD~1"]);
        repo.git(&["reset", "-q"]);
        for args in cut {
            let args: Vec<&str> = args
                .iter()
                .map(|arg| match *arg {
                    "KEPT" => kept.as_str(),
                    "BEFORE" => before.packages[0].head.0.as_str(),
                    other => other,
                })
                .collect();
            repo.git(&args);
        }
        let mut later = workspace.discover();
        let done = later
            .put_back(&before, &seen, RestoreExtent::Breaches, 7, REF)
            .unwrap();
        assert_eq!(done[0].reference, REF, "{cut:?}");
        assert_eq!(state(&repo), wanted, "{cut:?}");
        assert_eq!(shown(&repo, REF, MAIN), "class Dirty {}");
        assert_eq!(shown(&repo, REF, "src/main/java/New.java"), "new");
        assert_eq!(
            repo.git(&["for-each-ref", "--format=%(refname)", "refs/ralph"]),
            REF,
            "{cut:?}"
        );
        let again = later
            .put_back(&before, &seen, RestoreExtent::Breaches, 7, REF)
            .unwrap();
        assert_eq!(again.len(), 1);
        assert_eq!(state(&repo), wanted);
    }
}

#[test]
fn another_kept_commit_is_never_overwritten() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    for (text, expected) in [
        ("one\n", REF.to_owned()),
        ("two\n", format!("{REF}-2")),
        ("one\n", REF.to_owned()),
    ] {
        repo.write(MAIN, text);
        let done = put_back(&mut repositories, &before, RestoreExtent::All);
        assert_eq!(done[0].reference, expected);
        assert_eq!(shown(&repo, &expected, MAIN), text.trim());
    }
    let seen = observe(&mut repositories, &before);
    assert!(
        repositories
            .put_back(&before, &seen, RestoreExtent::All, 7, "refs/heads/main")
            .is_err()
    );
}

#[test]
fn an_unborn_branch_comes_back_and_files_of_a_person_stay() {
    let workspace = Workspace::new();
    let repo = workspace.init("src/a");
    repo.write("README.md", "a person's\n");
    repo.write(MAIN, "class Before {}\n");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);
    repo.write("src/main/java/B.java", "class B {}\n");
    repo.write("agent.txt", "an agent's\n");
    let head = repo.commit("all");
    let done = put_back(&mut repositories, &before, RestoreExtent::All);
    assert_eq!(done[0].commit.0, head);
    assert_eq!(state(&repo), wanted);
}

#[test]
fn leftovers_go_aside_and_everything_else_stays() {
    let workspace = Workspace::with(&["a", "b"]);
    let repo = workspace.repo("src/a");
    repo.write(MAIN, "class Person {}\n");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let wanted = state(&repo);
    repo.write(TEST, "class Left {}\n");
    repo.remove(".gitignore");
    repo.write("src/main/java/New.java", "new\n");
    workspace.repo("src/b").write("added.txt", "staged\n");
    workspace.repo("src/b").git(&["add", "added.txt"]);
    let seen = observe(&mut repositories, &before);
    let left: BTreeMap<String, Vec<Dirt>> = seen
        .packages
        .iter()
        .map(|package| (package.name.clone(), package.dirt.clone()))
        .collect();
    let reference = "refs/ralph/leftover/7";
    let done = repositories.keep_aside(&left, reference).unwrap();
    let names: Vec<&str> = done.iter().map(|done| done.package.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(state(&repo), wanted);
    assert_eq!(shown(&repo, reference, TEST), "class Left {}");
    assert_eq!(shown(&repo, reference, "src/main/java/New.java"), "new");
    assert_eq!(
        repo.git(&["rev-parse", &format!("{reference}^")]),
        repo.head()
    );
    assert_eq!(
        shown(&workspace.repo("src/b"), reference, "added.txt"),
        "staged"
    );
    assert!(!workspace.repo("src/b").exists("added.txt"));
    assert_eq!(repositories.take_snapshot().unwrap(), before);
    repositories.keep_aside(&left, reference).unwrap();
    assert_eq!(state(&repo), wanted);
}

#[test]
fn folders_of_one_repository_are_put_back_together_and_state_files_stay() {
    let workspace = Workspace::new();
    let repo = workspace.init("");
    for file in ["svc/a/pom.xml", "svc/b/pom.xml", "tasks.md", "root.txt"] {
        repo.write(file, "1\n");
    }
    let head = repo.commit("first");
    let mut repositories = workspace.try_discover(&["svc/*"], true).unwrap();
    let before = repositories.take_snapshot().unwrap();
    for file in ["svc/a/pom.xml", "tasks.md", "root.txt"] {
        repo.write(file, "2\n");
    }
    repo.commit("agent");
    let done = put_back(&mut repositories, &before, RestoreExtent::All);
    let names: Vec<&str> = done.iter().map(|done| done.package.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(
        (
            repo.head(),
            repo.read("svc/a/pom.xml"),
            repo.read("root.txt")
        ),
        (head, "1\n".into(), "1\n".into())
    );
    assert_eq!(
        repo.read("tasks.md"),
        "2\n",
        "git does not restore the task file"
    );
    assert_eq!(repo.status(), [" M tasks.md"]);
}

#[test]
fn a_merge_and_a_rebase_that_stopped_leave_no_state_behind() {
    for stop in [&["merge", "-q", "other"][..], &["rebase", "-q", "other"]] {
        let workspace = Workspace::with(&["a"]);
        let repo = workspace.repo("src/a");
        repo.git(&["checkout", "-q", "-b", "other"]);
        repo.write(MAIN, "theirs\n");
        repo.commit("theirs");
        repo.git(&["checkout", "-q", "main"]);
        repo.write(MAIN, "ours\n");
        repo.commit("ours");
        let mut repositories = workspace.discover();
        let before = repositories.take_snapshot().unwrap();
        let wanted = state(&repo);
        assert!(
            !super::run_git(&repo.dir, stop).0,
            "has to stop at a conflict"
        );
        put_back(&mut repositories, &before, RestoreExtent::All);
        assert_eq!(state(&repo), wanted, "{stop:?}");
        assert!(!repo.exists(".git/MERGE_HEAD"));
        assert!(!repo.exists(".git/rebase-merge"));
    }
}
