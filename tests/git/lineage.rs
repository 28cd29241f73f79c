//! Removed and rewritten files.

use super::{Repo, Workspace};
use ralph::git::{GitErrorKind, Repositories};
use ralph::machine::facts::FileChange;
use ralph::source::ChangedLines;

const MAIN: &str = "src/main/java/a/Price.java";
const PRICE: &str = "package a;\nclass Price {\n  int net(int a) { return a / 2; }\n  int gross(int a) { return a * 3; }\n}\n";
const TEST: &str = "src/test/java/a/PriceTest.java";
const TESTS: &str = "package a;\nclass PriceTest {\n  @Test void net() { assertEquals(1, new Price().net(2)); }\n}\n";

/// Returns a class with its test, committed.
fn start() -> (Workspace, Repo, Repositories) {
    let workspace = Workspace::with(&["p"]);
    let repo = workspace.repo("src/p");
    repo.write(MAIN, PRICE);
    repo.write(TEST, TESTS);
    repo.commit("base");
    let repositories = workspace.discover();
    (workspace, repo, repositories)
}

/// Returns the kind of the error for a revision, and its text with the hint.
fn refused_revision(repositories: &mut Repositories, revision: &str) -> (GitErrorKind, String) {
    let error = repositories.commit_of("p", revision).unwrap_err();
    (error.kind, format!("{error} {}", error.hint))
}

#[test]
fn a_name_with_two_meanings_is_no_revision() {
    let (_workspace, repo, mut repositories) = start();
    let base = repo.git(&["rev-parse", "HEAD~1"]);
    repo.git(&["update-ref", "refs/remotes/origin/main", &base]);
    let others = [
        "refs/tags/origin/main",
        "refs/heads/origin/main",
        "refs/origin/main",
    ];
    for other in others {
        repo.git(&["update-ref", other, "HEAD"]);
        for suffix in ["", "~1", "^{commit}", "@{0}"] {
            let revision = format!("origin/main{suffix}");
            let (kind, text) = refused_revision(&mut repositories, &revision);
            assert_eq!(kind, GitErrorKind::Refused, "{text}");
            for part in [other, "refs/remotes/origin/main", "`origin/main`"] {
                assert!(text.contains(part), "{text}");
            }
        }
        repo.git(&["update-ref", "-d", other]);
    }
    let short = &base[..8];
    repo.git(&["tag", short, "HEAD"]);
    let (kind, text) = refused_revision(&mut repositories, short);
    assert_eq!(kind, GitErrorKind::Refused, "{text}");
}

#[test]
fn whole_names_and_ids_have_one_meaning() {
    let (_workspace, repo, mut repositories) = start();
    let base = repo.git(&["rev-parse", "HEAD~1"]);
    let nowhere = "1234567890123456789012345678901234567890";
    repo.git(&["update-ref", "refs/remotes/origin/main", &base]);
    for name in [
        "refs/heads/HEAD",
        "refs/heads/refs/remotes/origin/main",
        "refs/heads/refs/remotes/origin/gone",
        &format!("refs/heads/{base}"),
        &format!("refs/heads/{nowhere}"),
    ] {
        repo.git(&["update-ref", name, "HEAD"]);
    }
    for revision in [
        "origin/main",
        "refs/remotes/origin/main",
        "HEAD~1",
        "@~1",
        "main^",
        &base,
        &base[..9],
    ] {
        let commit = repositories.commit_of("p", revision).unwrap();
        assert_eq!(commit.to_string(), base, "{revision}");
    }
    for revision in ["refs/remotes/origin/gone", nowhere] {
        let (kind, text) = refused_revision(&mut repositories, revision);
        assert_eq!(kind, GitErrorKind::NotFound, "{text}");
    }
}

fn changes(repo: &Repo, repositories: &mut Repositories) -> Vec<FileChange> {
    repo.commit("work");
    repositories.changes_since("HEAD~1").unwrap().0
}

#[test]
fn a_class_is_found_again_under_another_name_and_another_one_is_not_taken_for_it() {
    let (_workspace, repo, mut repositories) = start();
    repo.remove(MAIN);
    repo.remove("src/main/java/A.java");
    let cost = PRICE
        .replace("package a", "package b")
        .replace("Price", "Cost")
        .replace("a * 3", "a * 4");
    repo.write("src/main/java/b/Cost.java", cost);
    repo.write(
        "src/main/java/b/Other.java",
        "package b;\nclass Other { void say() { print(); } }\n",
    );
    let changes = changes(&repo, &mut repositories);
    let moved = repositories.find_moved(&changes).unwrap();
    let named: Vec<(&str, &str)> = moved
        .iter()
        .map(|(now, old)| (now.path.as_str(), old.path.as_str()))
        .collect();
    assert_eq!(named, [("src/main/java/b/Cost.java", MAIN)]);
    assert_eq!(repositories.find_moved(&changes[..1]).unwrap(), []);
}

#[test]
fn tests_that_check_less_or_went_are_told_and_those_that_moved_are_not() {
    for (write, weakened) in [
        (
            Some((
                TEST,
                TESTS.replace("assertEquals(1, new Price().net(2));", ""),
            )),
            true,
        ),
        (
            Some((TEST, TESTS.replace("@Test", "// more\n  @Test"))),
            false,
        ),
        (
            Some((
                "src/test/java/b/PriceTest.java",
                TESTS.replace("package a", "package b"),
            )),
            false,
        ),
        (
            Some(("src/test/java/b/OtherTest.java", TESTS.to_owned())),
            true,
        ),
        (None, true),
    ] {
        let (_workspace, repo, mut repositories) = start();
        repo.remove(TEST);
        if let Some((path, text)) = &write {
            repo.write(path, text);
        }
        let changes = changes(&repo, &mut repositories);
        let change = changes
            .iter()
            .find(|change| change.path.as_str() == TEST)
            .unwrap();
        assert_eq!(
            repositories.is_weakened(change, &changes).unwrap(),
            weakened,
            "{write:?}"
        );
    }
}

#[test]
fn lines_of_java_are_changed_where_their_code_is() {
    let (_workspace, repo, mut repositories) = start();
    let now = PRICE
        .replace("  int net", "      // why\n      int net")
        .replace("a * 3", "a * 4");
    repo.write(MAIN, now);
    repo.write("notes.txt", "a\n");
    let changes = changes(&repo, &mut repositories);
    let lines = |repositories: &mut Repositories, end: &str| {
        let change = changes
            .iter()
            .find(|change| change.path.as_str().ends_with(end))
            .unwrap();
        repositories.changed_lines(change).unwrap().unwrap()
    };
    assert_eq!(
        lines(&mut repositories, ".java"),
        ChangedLines::Ranges(vec![(3, 3), (5, 5)]),
        "3 is a comment"
    );
    assert_eq!(lines(&mut repositories, ".txt"), ChangedLines::Whole);
    repo.write("notes.txt", "  a\n");
    let change = self::changes(&repo, &mut repositories).remove(0);
    assert_eq!(
        repositories.changed_lines(&change).unwrap(),
        Some(ChangedLines::Ranges(vec![(1, 1)]))
    );
}
