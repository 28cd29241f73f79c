//! `commit: ralph`.

use super::{Workspace, change, lines, observe};
use ralph::git::GitErrorKind;

#[test]
fn what_an_attempt_left_is_committed_and_nothing_else() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.git(&["config", "user.name", "Someone"]);
    repo.git(&["config", "user.email", "someone@localhost"]);
    repo.write("person.txt", "was there");
    repo.write("src/main/java/Person.java", "was there");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let others = repositories.other_files();
    assert_eq!(
        repositories
            .commit_all("a", &before, Some(&others), "nothing", |_| None)
            .unwrap()
            .0,
        None
    );

    repo.write("src/main/java/A.java", "class A {}\n");
    repo.write("new/notes.txt", "new");
    repo.write("build", "a file of that name is no output folder");
    repo.write("src/main/java/B.java", "class B {}\n");
    repo.remove(".gitignore");
    for left_out in ["target/a.txt", "node_modules/x.js", "sub/build/out.txt"] {
        repo.write(left_out, "x");
    }
    let commit = repositories
        .commit_all("a", &before, Some(&others), "2. Do it", |_| None)
        .unwrap()
        .0
        .unwrap();
    assert_eq!(commit.0, repo.head());
    assert_eq!(
        repo.git(&["log", "-1", "--format=%an <%ae> %s"]),
        "Someone <someone@localhost> 2. Do it"
    );
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        lines(&seen.family),
        [
            "Deleted a/.gitignore",
            "Added a/build",
            "Added a/new/notes.txt",
            "Modified a/src/main/java/A.java",
            "Added a/src/main/java/B.java",
        ]
    );
    assert_eq!(change(&seen, "a").dirt, []);
    assert_eq!(repo.git(&["diff", "--cached", "--name-only"]), "");
    assert_eq!(
        repositories
            .commit_all("a", &before, Some(&others), "again", |_| None)
            .unwrap()
            .0,
        None
    );
    assert!(repo.exists("person.txt") && repo.git(&["fsck", "--strict"]).is_empty());
}

#[test]
fn no_untracked_file_of_no_kind_is_committed_where_those_before_are_unknown() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let before = workspace.discover().take_snapshot().unwrap();
    repo.write("notes.txt", "whose is it?");
    repo.write("src/main/java/B.java", "class B {}\n");
    let mut later = workspace.discover();
    later
        .commit_all("a", &before, None, "2. Do it", |_| None)
        .unwrap();
    assert_eq!(
        repo.git(&["show", "--name-only", "--format="]),
        "src/main/java/B.java"
    );
}

#[test]
fn a_first_commit_and_staged_or_deleted_files() {
    let workspace = Workspace::new();
    let repo = workspace.init("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let others = repositories.other_files();
    repo.write("src/main/java/A.java", "class A {}\n");
    repo.write("b.txt", "b");
    repo.git(&["add", "b.txt"]);
    let first = repositories
        .commit_all("a", &before, Some(&others), "first", |_| None)
        .unwrap()
        .0
        .unwrap();
    assert_eq!(
        repo.git(&["ls-tree", "-r", "--name-only", &first.0]),
        "b.txt\nsrc/main/java/A.java"
    );
    repo.git(&["rm", "-q", "b.txt"]);
    let before = ralph::machine::facts::Snapshot::default();
    repositories
        .commit_all("a", &before, Some(&others), "second", |_| None)
        .unwrap()
        .0
        .unwrap();
    assert_eq!(
        repo.git(&["ls-tree", "-r", "--name-only", "HEAD"]),
        "src/main/java/A.java"
    );
    assert_eq!(repo.status(), [] as [&str; 0]);
}

#[test]
fn a_file_that_needs_a_filter_program_is_refused() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let others = repositories.other_files();
    repo.git(&["config", "filter.lfs.clean", "touch ran"]);
    repo.write(".gitattributes", "*.bin filter=lfs\n");
    repo.write("big.bin", "x");
    let error = repositories
        .commit_all("a", &before, Some(&others), "big", |_| None)
        .unwrap_err();
    assert_eq!(error.kind, GitErrorKind::Refused);
    assert!(
        error.to_string().contains("big.bin") && error.to_string().contains("lfs"),
        "{error}"
    );
    assert!(!repo.exists("ran"));
}

#[test]
fn hooks_do_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
    ] {
        repo.write(
            &format!(".git/hooks/{hook}"),
            "#!/bin/sh\ntouch ran\nexit 1\n",
        );
        let file = repo.dir.join(".git/hooks").join(hook);
        fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let others = repositories.other_files();
    repo.write("src/main/java/A.java", "class A {}\n");
    repositories
        .commit_all("a", &before, Some(&others), "x", |_| None)
        .unwrap()
        .0
        .unwrap();
    assert!(!repo.exists("ran"));
}
