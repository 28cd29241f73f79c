//! A private checkout, inspected by the real git: HEAD, status, tags, history.

use super::{Repo, Workspace};
use ralph::git::{Checkout, CheckoutPart};
use ralph::machine::facts::Oid;
use ralph::source::RepoPath;
use std::path::Path;

/// Returns a checkout of the package's HEAD, and the repository in it.
fn checked_out(package: &Repo, tree: &Path) -> (Checkout, Repo) {
    let mut checkout = Checkout::default();
    checkout
        .add_commit(&package.dir, &Oid(package.head()), b"p")
        .unwrap();
    checkout.write_folder(tree).unwrap();
    (
        checkout,
        Repo {
            dir: tree.join("p"),
        },
    )
}

#[test]
fn builds_that_ask_git_get_the_judged_commit_and_a_clean_work_tree() {
    let workspace = Workspace::with(&["p"]);
    let package = workspace.repo("src/p");
    package.git(&["tag", "v1"]);
    package.git(&["tag", "-a", "-m", "two", "v2"]);
    package.write(
        ".gitattributes",
        "* text=auto eol=crlf\n*.java ident filter=evil\n",
    );
    package.write("windows.txt", "a\r\nb\r\n");
    package.write("src/main/java/A.java", "// $Id$\nclass A { }\n");
    package.commit("second");
    package.git(&["config", "filter.evil.smudge", "touch smudged"]);
    package.git(&[
        "remote",
        "add",
        "origin",
        "https://me:secret@example.org/x.git",
    ]);
    package.git(&["remote", "add", "mirror", "git@example.org:x@y.git"]);
    package.write("src/main/java/A.java", "not committed");
    let (_, private) = checked_out(&package, &workspace.path("tree"));
    assert_eq!(private.head(), package.head());
    assert_eq!(private.status(), [""; 0]);
    assert_eq!(
        private.git(&["describe", "--tags", "--dirty"]),
        package.git(&["describe", "--tags"])
    );
    assert_eq!(
        private.git(&["diff-index", "HEAD"]),
        "",
        "without a refresh of the index"
    );
    assert_eq!(private.git(&["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(
        private
            .git(&["config", "--local", "--list"])
            .lines()
            .count(),
        3 + 2 * 2
    );
    assert_eq!(
        private.git(&["remote", "get-url", "origin"]),
        "https://example.org/x.git"
    );
    assert_eq!(
        private.git(&["remote", "get-url", "mirror"]),
        "git@example.org:x@y.git"
    );
    assert_eq!(private.git(&["fsck"]), "");
    for file in ["windows.txt", "src/main/java/A.java", ".gitattributes"] {
        let blob = private.git(&["rev-parse", &format!("HEAD:{file}")]);
        assert_eq!(
            private.git(&["hash-object", "--no-filters", file]),
            blob,
            "{file}"
        );
    }
}

#[test]
fn objects_are_found_through_worktrees_alternates_and_odd_paths() {
    let workspace = Workspace::with(&["p"]);
    let origin = workspace.repo("src/p");
    origin.git(&["worktree", "add", "-q", "../../linked", "-b", "other"]);
    let odd = "odd \"#\n\\ path";
    let clone = workspace.path(odd);
    origin.git(&["clone", "-q", "--shared", ".", clone.to_str().unwrap()]);
    // An alternate with a path relative to the objects.
    let relative = workspace.repo("src/p");
    relative.git(&[
        "clone",
        "-q",
        "--shared",
        ".",
        workspace.path("relative").to_str().unwrap(),
    ]);
    workspace.repo("relative").write(
        ".git/objects/info/alternates",
        "../../../src/p/.git/objects\n",
    );
    for name in ["linked", odd, "relative"] {
        let package = workspace.repo(name);
        package.write("New.java", "class New { }\n");
        package.commit("in the clone");
        let (checkout, private) = checked_out(&package, &workspace.path(&format!("{name} tree")));
        assert_eq!(private.head(), package.head(), "{name:?}");
        assert_eq!(private.status(), [""; 0], "{name:?}");
        assert_eq!(
            private.git(&["log", "--format=%s"]),
            "in the clone\nfirst",
            "{name:?}"
        );
        assert_eq!(
            checkout
                .read_by_builds(
                    &checkout
                        .inspect_part(
                            &workspace.path(&format!("{name} tree")),
                            &CheckoutPart::default()
                        )
                        .unwrap()
                )
                .count(),
            0
        );
    }
}

#[test]
fn history_of_a_shallow_clone_ends_where_the_clone_ends() {
    let workspace = Workspace::with(&["p"]);
    let origin = workspace.repo("src/p");
    origin.commit("second");
    let (from, to) = (
        format!("file://{}", origin.dir.display()),
        workspace.path("shallow"),
    );
    origin.git(&["clone", "-q", "--depth", "1", &from, to.to_str().unwrap()]);
    let (_, private) = checked_out(&workspace.repo("shallow"), &workspace.path("tree"));
    assert_eq!(private.git(&["log", "--format=%s"]), "second");
}

#[test]
fn what_a_build_did_to_its_repository_is_undone_and_hides_nothing() {
    let workspace = Workspace::with(&["p"]);
    let package = workspace.repo("src/p");
    let head = package.head();
    let tree = workspace.path("tree");
    let (mut checkout, private) = checked_out(&package, &tree);
    private.write("src/main/java/A.java", "class A { int other; }\n");
    private.commit("by a test");
    private.git(&["tag", "mine"]);
    private.git(&["update-index", "--assume-unchanged", "src/main/java/A.java"]);
    private.git(&["config", "core.worktree", "/"]);
    private.write(".git/info/exclude", "*\n");
    private.write(".git/info/attributes", "* text eol=crlf\n");
    private.write(".git/index.lock", "");
    private.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
    private.write("src/main/java/New.java", "class New { }\n");
    // A repository that a test created above files of the commit.
    workspace
        .init("tree/p/src/main")
        .write("java/.git/HEAD", "ref: refs/heads/x\n");
    let seen: Vec<RepoPath> = checkout
        .read_by_builds(
            &checkout
                .inspect_part(&tree, &CheckoutPart::default())
                .unwrap(),
        )
        .collect();
    let seen: Vec<&str> = seen.iter().map(RepoPath::as_str).collect();
    assert_eq!(seen, ["p/src/main/java/A.java", "p/src/main/java/New.java"]);

    checkout.write_folder(&tree).unwrap();
    assert_eq!((private.head(), private.status()), (head, Vec::new()));
    assert_eq!(private.git(&["tag", "--list"]), "");
    assert!(
        !private.exists("src/main/.git")
            && !private.exists("src/main/java/.git")
            && !private.exists("hooked")
    );
    assert_eq!(
        (package.head(), package.status()),
        (private.head(), Vec::new()),
        "the package saw none of it"
    );
}

#[test]
fn a_repository_inside_another_is_a_repository_of_its_own() {
    let workspace = Workspace::with(&["p"]);
    let outer = workspace.init("");
    outer.write(".gitignore", "/src/p/\n/tree/\n/tree.git/\n");
    outer.write("pom.xml", "<project/>");
    outer.commit("outer");
    let package = workspace.repo("src/p");
    let tree = workspace.path("tree");
    let mut checkout = Checkout::default();
    checkout
        .add_commit(&outer.dir, &Oid(outer.head()), b"")
        .unwrap();
    checkout
        .add_commit(&package.dir, &Oid(package.head()), b"src/p")
        .unwrap();
    for _ in 0..2 {
        checkout.write_folder(&tree).unwrap();
        for (at, repo) in [("", &outer), ("src/p", &package)] {
            let private = Repo { dir: tree.join(at) };
            assert_eq!(
                (private.head(), private.status()),
                (repo.head(), Vec::new()),
                "{at}"
            );
        }
        assert_eq!(
            checkout
                .read_by_builds(
                    &checkout
                        .inspect_part(&tree, &CheckoutPart::default())
                        .unwrap()
                )
                .count(),
            0
        );
    }
}

#[test]
fn names_that_git_refuses_are_an_error_before_anything_is_written() {
    let workspace = Workspace::with(&["p"]);
    let package = workspace.repo("src/p");
    let repo = git2::Repository::open(&package.dir).unwrap();
    let blob = repo.blob(b"x").unwrap();
    for name in ["git~1", ".git "] {
        let entries = [name, "good"]
            .map(|name| [b"100644 ", name.as_bytes(), b"\0", blob.as_bytes()].concat());
        let id = repo
            .odb()
            .unwrap()
            .write(git2::ObjectType::Tree, &entries.concat())
            .unwrap();
        let commit = package.git(&["commit-tree", "-m", "odd", &id.to_string()]);
        let mut checkout = Checkout::default();
        let folder = workspace.path("tree");
        let added = checkout.add_commit(&package.dir, &Oid(commit), b"");
        let error = added
            .and_then(|_| checkout.write_folder(&folder))
            .unwrap_err();
        assert!(
            error.what.contains("cannot be written to a folder") && error.hint.contains("in-place"),
            "{error}"
        );
        assert!(
            !folder.join("good").exists(),
            "{name}: a part of it was written"
        );
    }
}

#[test]
fn pipes_links_and_locked_folders_in_the_way_are_no_obstacle() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = Workspace::with(&["p"]);
    let tree = workspace.path("tree");
    let (mut checkout, private) = checked_out(&workspace.repo("src/p"), &tree);
    let outside = workspace.init("outside");
    outside.write("java/A.java", "kept");
    private.remove("src/main/java/A.java");
    nix::unistd::mkfifo(
        &private.dir.join("src/main/java/A.java"),
        nix::sys::stat::Mode::S_IRWXU,
    )
    .unwrap();
    fs_err::remove_dir_all(private.dir.join("src/test")).unwrap();
    fs_err::os::unix::fs::symlink(&outside.dir, private.dir.join("src/test")).unwrap();
    private.write("locked/x", "");
    fs_err::set_permissions(
        private.dir.join("locked"),
        std::fs::Permissions::from_mode(0o500),
    )
    .unwrap();
    private.write("unreadable.txt", "");
    fs_err::set_permissions(
        private.dir.join("unreadable.txt"),
        std::fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    let again = checkout.write_folder(&tree);
    fs_err::set_permissions(
        private.dir.join("locked"),
        std::fs::Permissions::from_mode(0o700),
    )
    .ok();
    if let Err(error) = again {
        assert!(error.hint.contains("permissions"), "{error}");
        checkout.write_folder(&tree).unwrap();
    }
    assert_eq!(private.status(), [""; 0]);
    assert_eq!(
        checkout
            .read_by_builds(
                &checkout
                    .inspect_part(&tree, &CheckoutPart::default())
                    .unwrap()
            )
            .count(),
        0
    );
    assert_eq!(outside.read("java/A.java"), "kept");

    // The directory itself became a link.
    fs_err::remove_dir_all(&tree).unwrap();
    fs_err::os::unix::fs::symlink(&outside.dir, &tree).unwrap();
    checkout.write_folder(&tree).unwrap();
    assert!(fs_err::symlink_metadata(&tree).unwrap().is_dir());
    assert_eq!(outside.read("java/A.java"), "kept");
}
