//! The changes of an attempt.

use super::{Repo, Workspace, change, lines, observe, paths};
use ralph::git::{GitErrorKind, Repositories};
use ralph::machine::facts::{Accumulated, FileStatus, KeptFile, ObserveRequest, Oid, Snapshot};
use ralph::source::{Kind, RepoPath};

const TEST: &str = "src/test/java/ATest.java";
const MAIN: &str = "src/main/java/A.java";

fn start() -> (Workspace, Repositories, Snapshot) {
    let workspace = Workspace::with(&["a", "b"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    (workspace, repositories, before)
}

#[test]
fn nothing_happened() {
    let (_workspace, mut repositories, before) = start();
    let seen = observe(&mut repositories, &before);
    assert_eq!(seen.after, before);
    assert!(seen.packages.is_empty() && seen.family.is_empty() && seen.stage.is_empty());
}

#[test]
fn commits_are_changes_with_kind_status_and_blobs() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    let old = repo.git(&["rev-parse", &format!("HEAD:{MAIN}")]);
    repo.write(MAIN, "class A {\n  int a;\n  int b;\n}\n");
    repo.git(&["mv", TEST, "src/test/java/BTest.java"]);
    repo.write("README.md", "x");
    repo.commit("work");
    let seen = observe(&mut repositories, &before);
    let changed = change(&seen, "a");
    assert_eq!(
        lines(&changed.changes),
        [
            "Added a/README.md",
            "Modified a/src/main/java/A.java",
            "Deleted a/src/test/java/ATest.java",
            "Added a/src/test/java/BTest.java",
        ]
    );
    let kinds: Vec<Kind> = changed.changes.iter().map(|change| change.kind).collect();
    assert_eq!(
        kinds,
        [Kind::Other, Kind::Production, Kind::Test, Kind::Test]
    );
    assert_eq!(changed.changes[1].old, Some(Oid(old)));
    assert_eq!(changed.changes[2].new, None);
    assert_eq!(changed.tests_delta, 0, "a rename moves the tests");
    assert!(!changed.is_breach());
    assert_eq!(seen.stage_tests, 1);
    assert_eq!(
        seen.lost_production,
        [],
        "a pure insertion takes nothing away"
    );
    assert_eq!(seen.packages.len(), 1);
}

#[test]
fn amend_reset_rebase_and_orphans_are_rewritten_history() {
    for script in [
        &[&["commit", "--amend", "-q", "-m", "other"][..]][..],
        &[&["reset", "-q", "--hard", "HEAD~1"]],
        &[
            &["checkout", "-q", "--orphan", "x"],
            &["commit", "-q", "-m", "o"],
            &["branch", "-q", "-M", "main"],
        ],
        &[&["update-ref", "-d", "HEAD"]],
    ] {
        let workspace = Workspace::with(&["a"]);
        let repo = workspace.repo("src/a");
        repo.write(MAIN, "class A {}\n");
        repo.commit("second");
        let mut repositories = workspace.discover();
        let before = repositories.take_snapshot().unwrap();
        for args in script {
            repo.git(args);
        }
        let seen = observe(&mut repositories, &before);
        assert!(change(&seen, "a").rewritten, "{script:?}");
    }
}

#[test]
fn a_commit_descends_from_itself_and_its_ancestors_and_not_from_what_was_amended_or_never_was() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let first = Oid(repo.head());
    repo.write(MAIN, "class A {}\n");
    repo.commit("second");
    let amended = Oid(repo.head());
    repo.git(&["commit", "--amend", "-q", "-m", "other"]);
    let head = Oid(repo.head());
    let mut repositories = workspace.discover();
    let mut descends = |old: &Oid| repositories.is_descendant("a", &head, old).unwrap();
    assert!(descends(&head) && descends(&first));
    assert!(!descends(&amended) && !descends(&Oid::zero()));
    assert!(
        !repositories.is_descendant("a", &first, &head).unwrap(),
        "not the other way round"
    );
    assert!(repositories.is_descendant("gone", &head, &first).is_err());
}

#[test]
fn a_replace_reference_does_not_hide_a_rewrite_or_a_change() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    let old = repo.head();
    repo.write(MAIN, "class A { int evil; }\n");
    repo.git(&["commit", "-q", "-a", "--amend", "-m", "other"]);
    let new = repo.head();
    repo.git(&["replace", &old, &new]);
    let seen = observe(&mut repositories, &before);
    assert!(change(&seen, "a").rewritten);
    assert_eq!(
        lines(&change(&seen, "a").changes),
        ["Modified a/src/main/java/A.java"]
    );
}

#[test]
fn a_forged_commit_graph_does_not_hide_a_rewrite() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    let old = repo.head();
    repo.write("x.txt", "x");
    let next = repo.commit("on top");
    repo.git(&["commit-graph", "write", "--reachable"]);
    // The same commit without its parent: the graph still records that it descends from `old`.
    repo.git(&["checkout", "-q", "--orphan", "side"]);
    repo.git(&["commit", "-q", "-m", "rootless"]);
    repo.git(&["branch", "-q", "-M", "main"]);
    assert_ne!(repo.head(), next);
    assert_ne!(repo.head(), old);
    assert!(change(&observe(&mut repositories, &before), "a").rewritten);
}

#[test]
fn a_switched_branch_is_seen_even_when_the_commit_is_the_same() {
    let (workspace, mut repositories, before) = start();
    workspace
        .repo("src/a")
        .git(&["checkout", "-q", "-b", "other"]);
    workspace.repo("src/b").git(&["checkout", "-q", "--detach"]);
    let seen = observe(&mut repositories, &before);
    for name in ["a", "b"] {
        let changed = change(&seen, name);
        assert!(changed.branch_switched && !changed.rewritten && changed.is_breach());
    }
}

#[test]
fn dirt_is_what_differs_now_and_did_not_before() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write(TEST, "class ATest {}\n");
    repo.write("src/main/java/Old.java", "x");
    repo.write("old.txt", "x");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    repo.write(MAIN, "class A {}\n");
    repo.write("src/main/java/New.java", "x");
    repo.write("new.txt", "x");
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        paths(&change(&seen, "a").dirt),
        [MAIN, "src/main/java/New.java"]
    );
    assert_eq!(
        change(&seen, "a").strays,
        [RepoPath::from_bytes(b"new.txt")]
    );
    assert_eq!(paths(&seen.after.packages[0].dirt), [MAIN, TEST]);
    repo.write(TEST, "class ATest { }\n");
    assert_eq!(
        paths(&change(&observe(&mut repositories, &before), "a").dirt),
        [MAIN, "src/main/java/New.java", TEST]
    );
}

#[test]
fn a_family_accumulates_over_its_attempts_and_forgets_what_was_taken_back() {
    let (workspace, mut repositories, first) = start();
    let repo = workspace.repo("src/a");
    repo.write("src/main/java/X.java", "x");
    repo.write("src/main/java/Y.java", "y");
    repo.commit("attempt 1");
    let one = observe(&mut repositories, &first);
    let mut sum = Accumulated::default();
    sum.add(
        &first,
        one.packages.iter().flat_map(|package| &package.changes),
    );

    repo.write("src/main/java/Person.java", "p");
    repo.commit("a person's");
    let second = repositories.take_snapshot().unwrap();
    repo.remove("src/main/java/Y.java");
    repo.write(MAIN, "class A {\n}\n");
    repo.commit("attempt 2");
    let request = ObserveRequest {
        iteration: 2,
        before: second,
        family: sum.clone(),
        stage: Accumulated::default(),
        ..ObserveRequest::default()
    };
    let two = repositories.observe_attempt(&request).unwrap();
    assert_eq!(
        lines(&two.family),
        [
            "Modified a/src/main/java/A.java",
            "Added a/src/main/java/X.java"
        ]
    );
    assert_eq!(
        lines(&two.stage),
        [
            "Modified a/src/main/java/A.java",
            "Deleted a/src/main/java/Y.java"
        ]
    );
    assert_eq!(two.lost_production.len(), 2);
    assert_eq!(
        (
            two.lost_production[0].count,
            two.lost_production[0].first.as_str()
        ),
        (1, "int a")
    );

    assert_eq!(
        lines(&repositories.sum_changes(&sum).unwrap()),
        ["Added a/src/main/java/X.java"]
    );
    sum.everything = true;
    assert_eq!(repositories.sum_changes(&sum).unwrap().len(), 3);
    let since = repositories.changes_since("HEAD~1").unwrap_err();
    assert_eq!(
        (since.kind, since.place.as_str()),
        (GitErrorKind::NotFound, "Package b")
    );
    for name in ["a", "b"] {
        workspace
            .repo(&format!("src/{name}"))
            .git(&["tag", "base", "HEAD"]);
    }
    repo.write("z.txt", "z");
    repo.commit("later");
    assert_eq!(
        lines(&repositories.changes_since("base").unwrap().0),
        ["Added a/z.txt"]
    );

    // Changes by others on their branch meanwhile are not HEAD's.
    repo.git(&["checkout", "-q", "-b", "others", "base"]);
    repo.write("theirs.txt", "t");
    repo.commit("theirs");
    repo.git(&["checkout", "-q", "-"]);
    repo.git(&["tag", "-f", "base", "others"]);
    assert_eq!(
        lines(&repositories.changes_since("base").unwrap().0),
        ["Added a/z.txt"]
    );
    repo.git(&["checkout", "-q", "--orphan", "stranger"]);
    repo.commit("nothing in common");
    let stranger = repositories.changes_since("base").unwrap_err();
    assert_eq!(
        (stranger.kind, stranger.place.as_str()),
        (GitErrorKind::NotFound, "Package a")
    );
    assert!(
        stranger.what.contains("no commit in common"),
        "{stranger:?}"
    );
}

#[test]
fn lines_of_frozen_and_reviewed_tests_that_are_gone_are_named() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    let kept = |base: Option<String>, blob: String| KeptFile {
        package: "a".into(),
        path: RepoPath::from_bytes(TEST.as_bytes()),
        base: base.map(Oid),
        blob: Oid(blob),
    };
    let base = repo.git(&["rev-parse", &format!("HEAD:{TEST}")]);
    repo.write(
        TEST,
        "import x;\nclass ATest {\n  @Test void a() {}\n  @Test void b() {}\n  @Test void c() {}\n}\n",
    );
    repo.commit("tests");
    let written = repo.git(&["rev-parse", &format!("HEAD:{TEST}")]);
    let request = |frozen: Vec<KeptFile>, reviewed: Vec<KeptFile>| ObserveRequest {
        iteration: 1,
        before: before.clone(),
        frozen,
        reviewed,
        ..ObserveRequest::default()
    };
    let frozen = kept(Some(base), written.clone());
    let reviewed = kept(None, written);
    let same = repositories
        .observe_attempt(&request(vec![frozen.clone()], vec![reviewed.clone()]))
        .unwrap();
    assert!(same.lost_frozen.is_empty() && same.lost_reviewed.is_empty());
    assert_eq!((change(&same, "a").tests_delta, same.stage_tests), (2, 3));

    repo.write(TEST, "class ATest {\n    @Test void b()  {}\n}\n");
    repo.commit("weaker");
    let seen = repositories
        .observe_attempt(&request(vec![frozen.clone()], vec![reviewed.clone()]))
        .unwrap();
    assert_eq!(
        (
            seen.lost_frozen[0].count,
            seen.lost_frozen[0].first.as_str()
        ),
        (1, "@Test void c(){}")
    );
    assert_eq!(seen.lost_reviewed[0].count, 2);

    repo.remove(TEST);
    repo.commit("gone");
    let seen = repositories
        .observe_attempt(&request(vec![frozen], vec![reviewed]))
        .unwrap();
    assert_eq!(seen.lost_frozen[0].count, 3, "two tests and the class");
    assert_eq!(change(&seen, "a").tests_delta, -1);
}

#[test]
fn tests_of_other_languages_count_and_their_data_does_not() {
    let (workspace, mut repositories, _) = start();
    let repo = workspace.repo("src/b");
    repo.write("tests/test_a.py", "def test_a(): assert a()\n");
    repo.write("tests/data.json", "{}");
    let empty = repositories.take_snapshot().unwrap();
    repo.commit("python");
    assert_eq!(observe(&mut repositories, &empty).stage_tests, 1);
    let before = repositories.take_snapshot().unwrap();
    repo.remove("tests/test_a.py");
    repo.remove("tests/data.json");
    repo.commit("gone");
    assert_eq!(
        change(&observe(&mut repositories, &before), "b").tests_delta,
        -1
    );
}

#[test]
fn stale_locks_are_removed_and_named_by_observe_alone() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    repo.write("src/main/java/New.java", "x");
    for lock in [
        "index.lock",
        "HEAD.lock",
        "refs/heads/main.lock",
        "packed-refs.lock",
    ] {
        repo.write(&format!(".git/{lock}"), "");
    }
    repositories.take_snapshot().unwrap();
    assert!(repo.exists(".git/index.lock"));
    let seen = observe(&mut repositories, &before);
    assert_eq!(
        change(&seen, "a").locks_removed,
        [
            "HEAD.lock",
            "index.lock",
            "packed-refs.lock",
            "refs/heads/main.lock"
        ]
    );
    assert!(!repo.exists(".git/index.lock"));
    repo.commit("works again");
}

#[test]
fn a_base_that_was_pruned_is_an_error_and_no_answer() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    repo.git(&["checkout", "-q", "--orphan", "x"]);
    repo.git(&["commit", "-q", "-m", "orphan"]);
    repo.git(&["branch", "-q", "-M", "main"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let request = ObserveRequest {
        iteration: 1,
        before,
        ..ObserveRequest::default()
    };
    let error = repositories.observe_attempt(&request).unwrap_err();
    assert_eq!(
        (error.kind, error.place.as_str()),
        (GitErrorKind::Unreadable, "Package a"),
        "{error}"
    );
}

/// Observes an attempt that must fail, and returns the error.
fn unreadable(repositories: &mut Repositories, before: &Snapshot) -> String {
    let request = ObserveRequest {
        iteration: 1,
        before: before.clone(),
        ..ObserveRequest::default()
    };
    let error = repositories.observe_attempt(&request).unwrap_err();
    assert_eq!(error.kind, GitErrorKind::Unreadable, "{error}");
    error.to_string()
}

/// Commits a tree on HEAD and on further parents, without a look at the objects.
fn commit_unseen(repo: &Repo, tree: &str, parents: &[&str]) {
    let file = repo.dir.join(".git/unseen");
    let parents: String = ["HEAD"]
        .iter()
        .chain(parents)
        .map(|parent| match *parent {
            "HEAD" => format!("parent {}\n", repo.head()),
            id => format!("parent {id}\n"),
        })
        .collect();
    let who = "a <a@b> 1800000000 +0000";
    let text = format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\nwork\n");
    fs_err::write(&file, text).unwrap();
    let file = file.display().to_string();
    let commit = repo.git(&["hash-object", "-w", "-t", "commit", "--literally", &file]);
    repo.git(&["update-ref", "refs/heads/main", &commit]);
}

const NOWHERE: &str = "1234567890123456789012345678901234567890";

#[test]
fn a_new_file_of_any_kind_must_be_in_an_object() {
    for path in ["main.c", "README", "deep/er/data.bin"] {
        let (workspace, mut repositories, before) = start();
        let repo = workspace.repo("src/a");
        repo.write(path, "int main(void){return 0;}\n");
        let blob = repo.git(&["hash-object", path]);
        let entry = format!("100644,{blob},{path}");
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
        let tree = repo.git(&["write-tree", "--missing-ok"]);
        commit_unseen(&repo, &tree, &[]);
        // A later commit that is complete in itself hides nothing.
        repo.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
        let error = unreadable(&mut repositories, &before);
        assert!(
            error.contains(&format!("The object {blob} is not")),
            "{error}"
        );
        repo.git(&["hash-object", "-w", path]);
        let seen = observe(&mut repositories, &before);
        assert_eq!(lines(&seen.family), [format!("Added a/{path}")]);
    }
}

#[test]
fn new_trees_and_all_parents_must_be_objects() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    commit_unseen(&repo, &tree, &[NOWHERE]);
    let error = unreadable(&mut repositories, &before);
    assert!(error.contains(NOWHERE), "{error}");
    commit_unseen(&workspace.repo("src/b"), NOWHERE, &[]);
    let before = Snapshot {
        packages: vec![before.package("b").unwrap().clone()],
    };
    assert!(unreadable(&mut repositories, &before).contains(NOWHERE));
}

#[test]
fn an_object_with_other_bytes_is_no_object_of_that_name() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    repo.write("main.c", "one\n");
    repo.write("other.c", "two\n");
    repo.commit("work");
    let object = |path: &str| {
        let id = repo.git(&["rev-parse", &format!("HEAD:{path}")]);
        (
            repo.dir.join(".git/objects").join(&id[..2]).join(&id[2..]),
            id,
        )
    };
    let (file, id) = object("main.c");
    fs_err::remove_file(&file).unwrap();
    fs_err::copy(object("other.c").0, &file).unwrap();
    let error = unreadable(&mut repositories, &before);
    assert!(error.contains(&id), "{error}");
}

#[test]
fn merges_renames_and_submodules_have_all_their_objects() {
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    repo.git(&["checkout", "-q", "-b", "side", "HEAD"]);
    repo.write("side/x.c", "x\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["mv", "src", "code"]);
    let link = format!("160000,{NOWHERE},module");
    repo.git(&["update-index", "--add", "--cacheinfo", &link]);
    repo.git(&["commit", "-q", "-m", "move"]);
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    let seen = observe(&mut repositories, &before);
    assert!(!change(&seen, "a").rewritten);
    assert!(lines(&seen.family).contains(&"Added a/side/x.c".to_owned()));
}

#[test]
fn a_shallow_branch_may_be_merged_into_a_shallow_clone() {
    let workspace = Workspace::new();
    let origin = workspace.package("elsewhere/origin");
    origin.git(&["branch", "side"]);
    for name in ["one", "two"] {
        origin.write(name, name);
        origin.commit(name);
    }
    origin.git(&["checkout", "-q", "side"]);
    for name in ["three", "four"] {
        origin.write(name, name);
        origin.commit(name);
    }
    origin.git(&["checkout", "-q", "main"]);
    let url = format!("file://{}", origin.dir.display());
    fs_err::create_dir_all(workspace.path("src")).unwrap();
    workspace
        .repo("src")
        .git(&["clone", "-q", "--depth", "1", &url, "a"]);
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    let repo = workspace.repo("src/a");
    repo.git(&["fetch", "-q", "--depth", "1", "origin", "side:side"]);
    let merge = [
        "merge",
        "-q",
        "--no-edit",
        "--allow-unrelated-histories",
        "side",
    ];
    repo.git(&merge);
    let seen = observe(&mut repositories, &before);
    assert!(!change(&seen, "a").rewritten);
    assert!(lines(&seen.family).contains(&"Added a/three".to_owned()));
}

#[test]
fn a_shallow_clone_answers_within_its_depth_and_says_so_beyond_it() {
    let workspace = Workspace::new();
    let origin = workspace.package("elsewhere/origin");
    let root = origin.head();
    origin.write("x.txt", "x");
    origin.commit("second");
    let url = format!("file://{}", origin.dir.display());
    fs_err::create_dir_all(workspace.path("src")).unwrap();
    workspace
        .repo("src")
        .git(&["clone", "-q", "--depth", "1", &url, "a"]);
    let mut repositories = workspace.discover();
    let mut before = repositories.take_snapshot().unwrap();
    let repo = workspace.repo("src/a");
    repo.write(MAIN, "class A {}\n");
    repo.commit("third");
    let seen = observe(&mut repositories, &before);
    assert!(!change(&seen, "a").rewritten);
    assert_eq!(lines(&seen.family), ["Modified a/src/main/java/A.java"]);
    before.packages[0].head = Oid(root);
    let request = ObserveRequest {
        iteration: 1,
        before,
        ..ObserveRequest::default()
    };
    assert_eq!(
        repositories.observe_attempt(&request).unwrap_err().kind,
        GitErrorKind::Unreadable
    );
}

#[test]
fn modes_alone_are_a_change_without_lost_lines() {
    use std::os::unix::fs::PermissionsExt;
    let (workspace, mut repositories, before) = start();
    let repo = workspace.repo("src/a");
    fs_err::set_permissions(repo.dir.join(MAIN), std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.commit("mode");
    let seen = observe(&mut repositories, &before);
    assert_eq!(seen.family[0].status, FileStatus::Modified);
    assert_eq!(seen.family[0].old, seen.family[0].new);
    assert_eq!(seen.lost_production, []);
}
