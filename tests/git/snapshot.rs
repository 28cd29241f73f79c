//! The result of one scan of the packages.

use super::{Workspace, paths};
use ralph::machine::facts::Oid;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

#[test]
fn an_unborn_head_is_zeros_and_keeps_its_branch() {
    let workspace = Workspace::new();
    workspace.init("src/a");
    let snapshot = workspace.discover().take_snapshot().unwrap();
    assert_eq!(snapshot.packages[0].head, Oid::zero());
    assert_eq!(
        snapshot.packages[0].branch.as_deref(),
        Some("refs/heads/main")
    );
}

#[test]
fn a_detached_head_has_no_branch_and_packages_are_sorted_by_name() {
    let workspace = Workspace::with(&["b", "a"]);
    let repo = workspace.repo("src/b");
    repo.git(&["checkout", "-q", "--detach"]);
    let snapshot = workspace.discover().take_snapshot().unwrap();
    assert_eq!(
        snapshot
            .packages
            .iter()
            .map(|p| p.name.as_str())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(snapshot.packages[1].branch, None);
    assert_eq!(snapshot.packages[1].head.0, repo.head());
}

#[test]
fn dirt_is_staged_changed_deleted_and_untracked_files_of_a_kind() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write("notes/x.md", "kept");
    repo.write("src/main/java/B.java", "class B {}\n");
    repo.commit("more");
    let mut repositories = workspace.discover();
    assert_eq!(repositories.take_snapshot().unwrap().packages[0].dirt, []);

    repo.write("src/main/java/A.java", "class A { }\n");
    repo.write("src/main/java/C.java", "class C {}\n");
    repo.write("notes/y.md", "new");
    repo.git(&["add", "notes/y.md"]);
    repo.remove("notes/x.md");
    repo.git(&["rm", "-q", "--cached", "src/main/java/B.java"]);
    repo.write("target/X.java", "ignored");
    repo.write("src/test/java/a.log", "ignored");
    repo.write("stray.txt", "not a kind");
    let snapshot = repositories.take_snapshot().unwrap();
    let package = snapshot.package("a").unwrap();
    assert_eq!(
        paths(&package.dirt),
        [
            "notes/x.md",
            "notes/y.md",
            "src/main/java/A.java",
            "src/main/java/B.java"
        ]
    );
    assert_eq!(paths(&package.untracked), ["src/main/java/C.java"]);
    assert_eq!(package.dirt[0].blob, None);
    let hash = repo.git(&["hash-object", "--no-filters", "src/main/java/A.java"]);
    assert_eq!(package.dirt[2].blob, Some(Oid(hash)));
    assert!(package.untracked[0].untracked);
}

#[test]
fn only_the_workspaces_own_state_files_are_no_dirt() {
    let workspace = Workspace::new();
    let repo = workspace.init("");
    let state = [
        "tasks.md",
        "progress.txt",
        "validation-report.md",
        ".ralph/src/main/java/X.java",
    ];
    let others = [
        "docs/tasks.md",
        "src/main/java/.ralph/X.java",
        "tasks.md.d/x",
    ];
    for file in state.into_iter().chain(others) {
        repo.write(file, "1\n");
    }
    repo.commit("all");
    let mut repositories = workspace.discover();
    let before = repositories.take_snapshot().unwrap();
    for file in state {
        repo.write(file, "2\n");
    }
    assert_eq!(repositories.take_snapshot().unwrap().packages[0].dirt, []);
    repo.commit("state");
    let seen = super::observe(&mut repositories, &before);
    assert_eq!(
        (seen.packages.len(), seen.packages[0].changes.len()),
        (1, 0)
    );
    assert!(seen.packages[0].head_moved);
    for file in others {
        repo.write(file, "2\n");
    }
    assert_eq!(
        paths(&repositories.take_snapshot().unwrap().packages[0].dirt),
        others
    );
}

#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.git(&["config", "core.trustctime", "false"]);
    repo.git(&["config", "core.checkStat", "minimal"]);
    let file = repo.dir.join("src/main/java/A.java");
    let mut repositories = workspace.discover();
    repositories.take_snapshot().unwrap();
    let time = fs_err::metadata(&file).unwrap().modified().unwrap();
    repo.write("src/main/java/A.java", "class A {\n  int b;\n}\n");
    let opened = fs_err::OpenOptions::new().write(true).open(&file).unwrap();
    opened.file().set_modified(time).unwrap();
    assert_eq!(
        paths(&repositories.take_snapshot().unwrap().packages[0].dirt),
        ["src/main/java/A.java"]
    );
}

#[test]
fn filters_attributes_and_monitors_hide_nothing_and_run_nothing() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let before = workspace.discover().take_snapshot().unwrap();
    let ran = workspace.path("ran");
    let program = format!("touch {}; cat", ran.display());
    repo.git(&[
        "config",
        "filter.evil.clean",
        &format!("{program} >/dev/null; git show HEAD:src/main/java/A.java"),
    ]);
    repo.git(&["config", "core.fsmonitor", &program]);
    repo.git(&["config", "diff.evil.textconv", &program]);
    repo.git(&["config", "diff.external", &program]);
    fs_err::create_dir_all(repo.dir.join(".git/info")).unwrap();
    fs_err::write(
        repo.dir.join(".git/info/attributes"),
        "*.java filter=evil diff=evil -text\n*.java -diff\n",
    )
    .unwrap();
    repo.write("src/main/java/A.java", "class Evil {}\n");
    let mut repositories = workspace.discover();
    let snapshot = repositories.take_snapshot().unwrap();
    assert_eq!(paths(&snapshot.packages[0].dirt), ["src/main/java/A.java"]);
    super::observe(&mut repositories, &before);
    assert!(!ran.exists());
}

/// The SHA-256 of `abc`.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn pointer(oid: &str, size: &str) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
}

#[test]
fn a_file_whose_object_is_not_in_the_lfs_store_is_dirt() {
    let store = format!("lfs/objects/ba/78/{ABC}");
    let in_git = format!(".git/{store}");
    // The pointer, an object in the store, the setting of the store.
    for (text, object, setting, is_clean) in [
        (pointer(ABC, "3"), None, None, false),
        (pointer(ABC, "3"), Some((&*in_git, "abc")), None, true),
        (pointer(ABC, "3"), Some((&*in_git, "abd")), None, false),
        (pointer(ABC, "4"), Some((&*in_git, "abc")), None, false),
        (
            pointer(&ABC.to_uppercase(), "3"),
            Some((&*in_git, "abc")),
            None,
            false,
        ),
        (
            pointer("../../../../A", "3"),
            Some((&*in_git, "abc")),
            None,
            false,
        ),
        (
            pointer(ABC, "3"),
            Some((&*store, "abc")),
            Some("../lfs"),
            true,
        ),
        (
            pointer(ABC, "3"),
            Some((&*in_git, "abc")),
            Some("../lfs"),
            false,
        ),
    ] {
        let workspace = Workspace::with(&["a"]);
        let repo = workspace.repo("src/a");
        repo.write(".gitattributes", "*.java filter=lfs\n");
        repo.write(".gitignore", "/lfs/\n");
        repo.write("B.java", &text);
        repo.commit("lfs");
        repo.write("B.java", "abc");
        if let Some((path, bytes)) = object {
            repo.write(path, bytes);
        }
        if let Some(folder) = setting {
            repo.git(&["config", "lfs.storage", folder]);
        }
        let mut repositories = workspace.discover();
        let dirt = &repositories.take_snapshot().unwrap().packages[0].dirt;
        let clean = !paths(dirt).contains(&"B.java");
        assert_eq!(clean, is_clean, "{text} {object:?} {setting:?}");
    }
}

#[test]
fn an_object_of_lfs_is_no_link() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write(".gitattributes", "*.java filter=lfs\n");
    repo.write("B.java", pointer(ABC, "3"));
    repo.commit("lfs");
    repo.write("B.java", "abc");
    let folder = repo.dir.join(".git/lfs/objects/ba/78");
    fs_err::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(repo.dir.join("B.java"), folder.join(ABC)).unwrap();
    let dirt = &workspace.discover().take_snapshot().unwrap().packages[0].dirt;
    assert_eq!(paths(dirt), ["B.java"]);
}

#[test]
fn line_ends_by_git_attributes_and_lfs_objects_are_clean() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write(
        ".gitattributes",
        "*.bat text eol=crlf\n*.txt text\n*.bin filter=lfs -text\n",
    );
    repo.write("run.bat", "one\r\ntwo\r\n");
    repo.write("big.bin", pointer(ABC, "3"));
    repo.commit("line ends");
    repo.write("big.bin", "abc");
    repo.write(&format!(".git/lfs/objects/ba/78/{ABC}"), "abc");
    let mut repositories = workspace.discover();
    assert_eq!(repositories.take_snapshot().unwrap().packages[0].dirt, []);
    repo.write("big.bin", "abd");
    repo.write("src/main/java/A.java", "class A {\r\n  int a;\r\n}\r\n");
    repo.write("run.bat", "one\r\n2\r\n");
    assert_eq!(
        paths(&repositories.take_snapshot().unwrap().packages[0].dirt),
        ["big.bin", "run.bat", "src/main/java/A.java"]
    );
}

#[test]
fn modes_links_and_files_that_became_folders_are_dirt() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write("run.sh", "x");
    repo.write("one", "x");
    repo.write("dir/two", "x");
    std::os::unix::fs::symlink("one", repo.dir.join("link")).unwrap();
    repo.commit("more");
    let mut repositories = workspace.discover();
    assert_eq!(repositories.take_snapshot().unwrap().packages[0].dirt, []);
    fs_err::set_permissions(
        repo.dir.join("run.sh"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    repo.remove("one");
    repo.write("one/A.java", "x");
    repo.remove("link");
    std::os::unix::fs::symlink("two", repo.dir.join("link")).unwrap();
    fs_err::rename(repo.dir.join("dir"), workspace.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(workspace.path("elsewhere"), repo.dir.join("dir")).unwrap();
    let snapshot = repositories.take_snapshot().unwrap();
    let package = &snapshot.packages[0];
    assert_eq!(paths(&package.dirt), ["dir/two", "link", "one", "run.sh"]);
    assert_eq!(package.dirt[0].blob, None, "a file behind a link is gone");
    assert_eq!(package.dirt[2].blob, None);
    assert_eq!(paths(&package.untracked), [] as [&str; 0]);
}

#[test]
fn odd_names_have_git_s_own_form() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let dir = repo.dir.join("src/main/java");
    for name in [
        &b"new\nline.java"[..],
        b"quo\"te.java",
        b"b\\s.java",
        b"\xff\xfe.java",
        "ä.java".as_bytes(),
    ] {
        fs_err::write(dir.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let mut repositories = workspace.discover();
    let snapshot = repositories.take_snapshot().unwrap();
    let shown: Vec<String> = repo
        .status()
        .iter()
        .map(|line| line[3..].to_owned())
        .collect();
    let mut ours = paths(&snapshot.packages[0].untracked);
    ours.sort_unstable();
    assert_eq!(ours, shown);
    repo.commit("odd");
    let seen = super::observe(&mut repositories, &snapshot);
    assert_eq!(seen.family.len(), 5);
    assert_eq!(
        repositories.take_snapshot().unwrap().packages[0].untracked,
        []
    );
    assert_eq!(
        repositories
            .test_paths_at("a", &seen.after.packages[0].head)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn too_many_files_are_an_error_in_words() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    fs_err::create_dir(repo.dir.join("many")).unwrap();
    for number in 0..10_001 {
        fs_err::File::create(repo.dir.join(format!("many/{number}"))).unwrap();
    }
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert!(error.to_string().contains("10000 files"), "{error}");
    assert_eq!(error.place.as_str(), "Package a");
}

#[test]
fn blobs_are_read_whole_or_not_at_all() {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    let mut repositories = workspace.discover();
    let blob = Oid(repo.git(&["rev-parse", "HEAD:src/main/java/A.java"]));
    assert_eq!(
        repositories.read_blob("a", &blob, 100).unwrap(),
        b"class A {\n  int a;\n}\n"
    );
    assert!(
        repositories
            .read_blob("a", &blob, 3)
            .unwrap_err()
            .to_string()
            .contains("more than 3 bytes")
    );
    assert!(
        repositories.read_blob("a", &Oid(repo.head()), 100).is_err(),
        "a commit is no file"
    );
    assert!(repositories.read_blob("b", &blob, 100).is_err());
    assert!(
        repositories
            .read_blob("a", &Oid("12".repeat(20)), 100)
            .is_err()
    );
    assert!(repositories.read_blob("a", &Oid("12".into()), 100).is_err());
}
