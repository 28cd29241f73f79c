//! Detection of packages.

use super::{Workspace, change, lines, observe};
use ralph::git::GitErrorKind;
use ralph::machine::facts::{Accumulated, Oid};
use ralph::source::RepoPath;

#[test]
fn linked_worktrees_and_submodules_are_packages() {
    let workspace = Workspace::new();
    let main = workspace.package("elsewhere/main");
    fs_err::create_dir_all(workspace.path("src")).unwrap();
    main.git(&[
        "worktree",
        "add",
        "-q",
        workspace.path("src/tree").to_str().unwrap(),
        "-b",
        "side",
    ]);
    let outer = workspace.init("outer");
    outer.git(&[
        "submodule",
        "add",
        "-q",
        main.dir.to_str().unwrap(),
        "src/module",
    ]);
    let trees = workspace.discover().take_snapshot().unwrap();
    assert_eq!(trees.packages[0].branch.as_deref(), Some("refs/heads/side"));
    let modules = ralph::git::Repositories::discover_packages(
        &outer.dir,
        &outer.dir,
        &["src/*".into()],
        false,
        super::classifier(),
    );
    let snapshot = modules.unwrap().take_snapshot().unwrap();
    assert_eq!(snapshot.packages[0].name, "module");
    assert_eq!(snapshot.packages[0].head.0, main.head());
}

#[test]
fn a_submodule_inside_a_package_is_dirty_when_its_head_or_its_files_are_others() {
    let workspace = Workspace::new();
    let library = workspace.package("elsewhere/library");
    let outer = workspace.package("src/a");
    outer.git(&[
        "submodule",
        "add",
        "-q",
        library.dir.to_str().unwrap(),
        "lib",
    ]);
    outer.commit("module");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    assert_eq!(before.packages[0].dirt, []);
    let inner = workspace.repo("src/a/lib");
    inner.write("src/main/java/A.java", "other");
    assert_eq!(
        super::paths(&repositories.take_snapshot().unwrap().packages[0].dirt),
        ["lib"]
    );
    let head = inner.commit("moved");
    assert_eq!(
        repositories.take_snapshot().unwrap().packages[0].dirt[0].blob,
        Some(Oid(head))
    );
    outer.commit("follow");
    let seen = observe(&mut repositories, &before);
    assert_eq!(lines(&seen.family), ["Modified a/lib"]);
    assert_eq!(seen.lost_production, []);
}

#[test]
fn two_packages_with_one_name_are_refused_at_the_start_and_later() {
    let workspace = Workspace::with(&["a"]);
    workspace.package("lib/b");
    let mut repositories = workspace.try_discover(&["src/*", "lib/*"], true).unwrap();
    assert_eq!(repositories.package_names(), ["a", "b"]);
    workspace.package("lib/a");
    assert_eq!(
        repositories.take_snapshot().unwrap_err().kind,
        GitErrorKind::Refused
    );
    let error = workspace
        .try_discover(&["src/*", "lib/*"], true)
        .err()
        .unwrap();
    assert_eq!(error.kind, GitErrorKind::Refused);
    assert!(
        error.to_string().contains("lib/a") && error.to_string().contains("src/a"),
        "{error}"
    );
}

#[test]
fn a_workspace_without_a_repository_is_an_error_that_says_what_to_do() {
    let workspace = Workspace::new();
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert_eq!(error.kind, GitErrorKind::NotFound);
    assert!(error.hint.contains("git init"));
}

#[test]
fn a_workspace_that_is_a_repository_is_one_package() {
    let workspace = Workspace::new();
    workspace.package("");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    assert_eq!(repositories.package_names(), ["."]);
    assert_eq!(repositories.package_root("."), Some(workspace.dir.path()));
    let repo = workspace.repo("");
    repo.write("src/main/java/B.java", "class B {}\n");
    repo.commit("more");
    assert_eq!(
        lines(&observe(&mut repositories, &before).family),
        ["Added ./src/main/java/B.java"]
    );
}

#[test]
fn folders_of_one_repository_see_their_own_paths() {
    let workspace = Workspace::new();
    let repo = workspace.init("");
    for (file, text) in [
        ("svc/a/pom.xml", "a"),
        ("svc/b/pom.xml", "b"),
        ("svc/c/notes.md", "c"),
        ("pom.xml", "p"),
    ] {
        repo.write(file, text);
    }
    repo.commit("first");
    let mut repositories = workspace.try_discover(&["svc/*"], true).unwrap();
    assert_eq!(repositories.package_names(), ["a", "b"]);
    let before = repositories.take_snapshot().unwrap();
    assert_eq!(before.packages[0].head, before.packages[1].head);
    repo.write("svc/a/src/main/java/A.java", "class A {}\n");
    repo.write("pom.xml", "changed");
    repo.write("svc/d/pom.xml", "d");
    let head = repo.commit("a and d");
    repo.write("svc/b/src/test/java/BTest.java", "x");
    repo.write("svc/b/pom.xml", "dirty");
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        lines(&seen.family),
        ["Added a/src/main/java/A.java", "Added d/pom.xml"]
    );
    assert_eq!(
        super::paths(&change(&seen, "b").dirt),
        ["pom.xml", "src/test/java/BTest.java"]
    );
    assert!(change(&seen, "d").appeared);
    assert_eq!(repositories.test_paths_at("b", &Oid(head)).unwrap(), []);
    repo.remove("svc/d/pom.xml");
    assert!(
        repositories.take_snapshot().unwrap().package("d").is_some(),
        "it stays a package without its build file"
    );
}

#[test]
fn a_package_that_appears_begins_with_the_empty_tree() {
    let workspace = Workspace::with(&["a"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    workspace.package("src/b");
    let seen = observe(&mut repositories, &before);
    let new = change(&seen, "b");
    assert!(new.appeared && !new.is_breach());
    assert_eq!(lines(&new.changes).len(), 3);
    assert_eq!(new.tests_delta, 1);
    assert_eq!(seen.family, new.changes);
}

#[test]
fn a_clone_begins_with_what_the_remote_had() {
    let workspace = Workspace::with(&["a"]);
    let origin = workspace.package("elsewhere/origin");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    workspace
        .repo("src")
        .git(&["clone", "-q", origin.dir.to_str().unwrap(), "b"]);
    let clone = workspace.repo("src/b");
    clone.write("src/main/java/B.java", "class B {}\n");
    clone.commit("own");
    origin.git(&["checkout", "-q", "--detach"]);
    clone.git(&["push", "-q", "origin", "main"]);
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        lines(&change(&seen, "b").changes),
        ["Added b/src/main/java/B.java"]
    );
    // The sum of a later attempt, whose base is zeros, gives the same.
    let mut sum = Accumulated::default();
    sum.add(&before, &change(&seen, "b").changes);
    assert_eq!(sum.bases["b"], Oid::zero());
    assert_eq!(repositories.sum_changes(&sum).unwrap(), seen.family);
}

#[test]
fn a_new_repository_that_is_pushed_does_not_become_a_clone() {
    let workspace = Workspace::with(&["a"]);
    workspace.init("src/u");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    fs_err::create_dir_all(workspace.path("bare")).unwrap();
    workspace
        .repo("bare")
        .git(&["init", "-q", "--bare", "-b", "main"]);
    for name in ["src/u", "src/v"] {
        let repo = workspace.package(name);
        repo.git(&[
            "remote",
            "add",
            "origin",
            workspace.path("bare").to_str().unwrap(),
        ]);
        repo.git(&["push", "-q", "origin", &format!("main:{}", &name[4..])]);
    }
    let seen = observe(&mut repositories, &before);
    assert_eq!(change(&seen, "u").changes.len(), 3);
    assert_eq!(change(&seen, "v").changes.len(), 3);
    assert!(!change(&seen, "u").is_breach());
}

#[test]
fn a_package_that_vanishes_is_rewritten_history() {
    let workspace = Workspace::with(&["a", "b"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    fs_err::rename(workspace.path("src/b"), workspace.path("gone")).unwrap();
    let seen = observe(&mut repositories, &before);
    let gone = change(&seen, "b");
    assert!(gone.vanished && gone.rewritten && gone.is_breach());
    assert!(seen.after.package("b").is_none());
    let mut sum = Accumulated::default();
    sum.touched.entry("b".into()).or_default();
    assert_eq!(
        repositories.sum_changes(&sum).unwrap_err().kind,
        GitErrorKind::NotFound
    );
}

#[test]
fn a_repository_that_was_replaced_is_opened_again() {
    let workspace = Workspace::with(&["a"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    fs_err::remove_dir_all(workspace.path("src/a/.git")).unwrap();
    let head = workspace.init("src/a").commit("anew");
    let after = repositories.take_snapshot().unwrap();
    assert_eq!(after.packages[0].head.0, head);
    assert_ne!(after, before);
}

#[test]
fn a_repository_inside_a_package_is_named_and_not_entered() {
    let workspace = Workspace::with(&["a"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    workspace.package("src/a/vendor/x");
    workspace.repo("src/a").write("notes.txt", "x");
    let seen = observe(&mut repositories, &before);
    let strays: Vec<&str> = change(&seen, "a")
        .strays
        .iter()
        .map(RepoPath::as_str)
        .collect();
    assert_eq!(strays, ["notes.txt", "vendor/x/"]);
    assert!(change(&seen, "a").is_untouched());
}

#[test]
fn what_work_trees_share_stays_and_each_has_its_own_pins() {
    let (one, other) = (Workspace::with(&["a"]), Workspace::new());
    let (main, linked) = (one.repo("src/a"), other.repo("src/a"));
    let folder = linked.dir.to_str().unwrap();
    main.git(&["worktree", "add", "-q", folder, "-b", "two"]);
    let first = main.head();
    linked.write("src/main/java/B.java", "class B {}\n");
    let second = linked.commit("second");
    let mut runs = [one.discover(), other.discover()];
    let before = runs.each_mut().map(|run| {
        let before = run.take_snapshot().unwrap();
        run.pin_heads().unwrap();
        before
    });
    let pinned = |name: &str| main.git(&["rev-parse", name]);
    assert_eq!(pinned("refs/ralph/before/a"), first);
    assert_eq!(pinned("refs/ralph/worktrees/a/before/a"), second);

    let shared = ["packed-refs", "config", "refs/heads/third"];
    let own = [
        "index",
        "refs/heads/main",
        "worktrees/a/index",
        "refs/heads/two",
    ];
    let lock = |name: &&str| format!(".git/{name}.lock");
    shared
        .iter()
        .chain(&own)
        .for_each(|name| main.write(&lock(name), ""));
    let removed = [0, 1].map(|number| {
        let seen = observe(&mut runs[number], &before[number]);
        change(&seen, "a").locks_removed.clone()
    });
    assert_eq!(removed[0], ["index.lock", "refs/heads/main.lock"]);
    assert_eq!(removed[1], ["index.lock", "refs/heads/two.lock"]);
    assert!(shared.iter().all(|name| main.exists(&lock(name))));
    assert!(!own.iter().any(|name| main.exists(&lock(name))));
}
