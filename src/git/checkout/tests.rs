//! Tests checkouts over real repositories: exactly the commit, and no change to the repository.

use super::{Checkout, CheckoutPart, Differences, add_to_copy, check_link};
use crate::machine::facts;
use git2::{Oid, Repository, Signature};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FILE: i32 = 0o100_644;
const EXEC: i32 = 0o100_755;
const LINK: i32 = 0o120_000;

/// Mode and bytes of each path.
type Files = BTreeMap<String, (i32, Vec<u8>)>;

fn repository() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repository::init(folder.path()).unwrap();
    (folder, repo)
}

/// Writes a tree and a commit of these files without any index.
fn commit(repo: &Repository, files: &Files) -> facts::Oid {
    let tree = tree(repo, "", files);
    let who = Signature::now("a", "a@b").unwrap();
    let id = repo
        .commit(None, &who, &who, "x", &repo.find_tree(tree).unwrap(), &[])
        .unwrap();
    facts::Oid(id.to_string())
}

fn tree(repo: &Repository, prefix: &str, files: &Files) -> Oid {
    let mut builder = repo.treebuilder(None).unwrap();
    let mut folders = BTreeSet::new();
    for (path, (mode, bytes)) in files {
        let Some(rest) = path.strip_prefix(prefix) else {
            continue;
        };
        if let Some((folder, _)) = rest.split_once('/') {
            folders.insert(folder.to_owned());
        } else {
            builder
                .insert(rest, repo.blob(bytes).unwrap(), *mode)
                .unwrap();
        }
    }
    for folder in folders {
        let id = tree(repo, &format!("{prefix}{folder}/"), files);
        builder.insert(&folder, id, 0o040_000).unwrap();
    }
    builder.write().unwrap()
}

fn files(list: &[(&str, i32, &str)]) -> Files {
    list.iter()
        .map(|(path, mode, text)| ((*path).to_owned(), (*mode, text.as_bytes().to_vec())))
        .collect()
}

fn checkout(repo: &Path, commit: &facts::Oid) -> Checkout {
    let mut checkout = Checkout::default();
    assert_eq!(
        checkout.add_commit(repo, commit, b"").unwrap(),
        Vec::<Vec<u8>>::new()
    );
    checkout
}

/// Returns everything in a directory except directories and repositories.
fn found(folder: &Path) -> Files {
    let mut all = Files::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(at) = todo.pop() {
        for entry in fs_err::read_dir(folder.join(&at)).unwrap() {
            let entry = entry.unwrap();
            let path = at.join(entry.file_name());
            let data = fs_err::symlink_metadata(entry.path()).unwrap();
            let text = path.to_str().unwrap().to_owned();
            if data.is_dir() {
                todo.extend((entry.file_name() != ".git").then_some(path));
            } else if data.is_symlink() {
                let target = fs_err::read_link(entry.path()).unwrap();
                all.insert(text, (LINK, target.into_os_string().into_encoded_bytes()));
            } else {
                let mode = if data.permissions().mode() & 0o100 == 0 {
                    FILE
                } else {
                    EXEC
                };
                all.insert(text, (mode, fs_err::read(entry.path()).unwrap()));
            }
        }
    }
    all
}

/// Returns every file of a repository's directory with its bytes and its time.
fn trace(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64)> {
    let mut all = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs_err::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let data = fs_err::symlink_metadata(&path).unwrap();
            if data.is_dir() {
                all.insert(path.clone(), (Vec::new(), data.mtime(), data.mtime_nsec()));
                todo.push(path);
            } else {
                all.insert(
                    path.clone(),
                    (
                        fs_err::read(&path).unwrap(),
                        data.mtime(),
                        data.mtime_nsec(),
                    ),
                );
            }
        }
    }
    all
}

fn arbitrary_files() -> impl Strategy<Value = Files> {
    let name = prop_oneof![
        "[abc]",
        "[abc]/[abc]",
        "[abc]/[de]/[abc]",
        "src/[a-c][.]java"
    ];
    let content = (
        prop_oneof![Just(FILE), Just(EXEC)],
        prop::collection::vec(any::<u8>(), 0..6),
    );
    prop::collection::btree_map(name, content, 0..12).prop_map(|files: Files| {
        // A path cannot be a file and a directory.
        let is_folder = |path: &str| {
            files
                .keys()
                .any(|other| other.starts_with(&format!("{path}/")))
        };
        files
            .iter()
            .filter(|(path, _)| !is_folder(path))
            .map(|(p, f)| (p.clone(), f.clone()))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any earlier content, the directory becomes the commit. Right files are not written, and any later change
    /// is detected.
    #[test]
    fn a_folder_becomes_exactly_the_commit(first in arbitrary_files(), second in arbitrary_files(), planted in arbitrary_files(), pick in any::<prop::sample::Index>()) {
        let (home, repo) = repository();
        let (one, two) = (commit(&repo, &first), commit(&repo, &second));
        let before = trace(home.path());
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("site");
        checkout(home.path(), &one).write_folder(&root).unwrap();
        prop_assert_eq!(&found(&root), &first);

        for (path, (_, bytes)) in &planted {
            let file = root.join(path);
            if fs_err::create_dir_all(file.parent().unwrap()).is_ok() && !file.is_dir() {
                fs_err::write(file, bytes).unwrap();
            }
        }
        let stood = found(&root);
        let inode = |path: &str| fs_err::symlink_metadata(root.join(path)).map(|data| data.ino()).ok();
        let same: Vec<(String, Option<u64>)> = second.iter().filter(|(path, file)| stood.get(*path) == Some(file)).map(|(path, _)| (path.clone(), inode(path))).collect();
        let mut plan = checkout(home.path(), &two);
        let written = plan.write_folder(&root).unwrap();
        prop_assert_eq!(&found(&root), &second);
        for (path, id) in same {
            prop_assert_eq!(inode(&path), id, "{} was written without need", path);
            prop_assert!(!written.wrong.contains(&path.into_bytes()));
        }
        prop_assert_eq!(plan.inspect_part(&root, &CheckoutPart::default()).unwrap(), Differences::default());
        prop_assert_eq!(plan.write_folder(&root).unwrap(), Differences::default());
        prop_assert_eq!(trace(home.path()), before, "the repository was touched");

        if !second.is_empty() {
            let (path, (mode, bytes)) = pick.get(&second.iter().collect::<Vec<_>>()).to_owned();
            let file = root.join(path);
            if bytes.is_empty() {
                fs_err::remove_file(&file).unwrap();
            } else if *mode == FILE {
                fs_err::write(&file, "other").unwrap();
            } else {
                fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
            }
            prop_assert_eq!(plan.read_by_builds(&plan.inspect_part(&root, &CheckoutPart::default()).unwrap()).count(), 1);
        }
    }
}

#[test]
fn what_plugins_leave_beside_a_pom_is_read_by_no_build_wherever_the_project_lies() {
    for project in ["src/p/", ""] {
        let (home, repo) = repository();
        let paths = ["pom.xml", "core/pom.xml", "src/test/resources/it/pom.xml"]
            .map(|at| format!("{project}{at}"));
        let mut plan = checkout(
            home.path(),
            &commit(
                &repo,
                &files(&paths.each_ref().map(|at| (at.as_str(), FILE, ""))),
            ),
        );
        let folder = tempfile::tempdir().unwrap();
        plan.write_folder(folder.path()).unwrap();
        for path in [
            ".flattened-pom.xml",
            "core/jacoco.exec",
            "src/test/resources/it/x",
            ".mvn/extensions.xml",
        ] {
            let file = folder.path().join(format!("{project}{path}"));
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        let found = plan
            .inspect_part(folder.path(), &CheckoutPart::default())
            .unwrap();
        let read = plan.read_by_builds(&found);
        let expected = [".mvn", "src/test/resources/it/x"].map(|path| format!("{project}{path}"));
        assert_eq!(
            read.map(|path| path.to_string()).collect::<Vec<_>>(),
            expected,
            "{project}"
        );
    }
}

#[test]
fn outputs_beside_a_pom_stay_and_others_go() {
    let (home, repo) = repository();
    let own = [
        ("pom.xml", FILE, ""),
        ("m/pom.xml", FILE, ""),
        ("held/pom.xml", FILE, ""),
        ("held/target/x", FILE, "1"),
        ("n/a", FILE, ""),
    ];
    let mut plan = checkout(home.path(), &commit(&repo, &files(&own)));
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "target/classes/A.class",
        "m/target/B.class",
        "held/target/planted",
        "n/target/C.class",
        "src/New.java",
        "log.txt",
        "mytarget/x",
    ] {
        let file = folder.path().join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, "").unwrap();
    }
    let seen: Vec<String> = plan
        .read_by_builds(
            &plan
                .inspect_part(folder.path(), &CheckoutPart::default())
                .unwrap(),
        )
        .map(|path| path.to_string())
        .collect();
    assert!(
        seen.contains(&"src".to_owned()) && !seen.contains(&"log.txt".to_owned()),
        "{seen:?}"
    );
    let written = plan.write_folder(folder.path()).unwrap();
    assert_eq!(
        written.outputs,
        [folder.path().join("m/target"), folder.path().join("target")]
    );
    let there: Vec<String> = found(folder.path()).into_keys().collect();
    assert_eq!(
        there,
        [
            "held/pom.xml",
            "held/target/x",
            "m/pom.xml",
            "m/target/B.class",
            "n/a",
            "pom.xml",
            "target/classes/A.class"
        ]
    );
}

#[test]
fn links_stay_inside_and_are_not_followed() {
    let (home, repo) = repository();
    let good = files(&[
        ("a/b", LINK, "../c"),
        ("c", FILE, "text"),
        ("d", LINK, "no/such"),
    ]);
    let mut plan = checkout(home.path(), &commit(&repo, &good));
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    fs_err::create_dir_all(&outside).unwrap();
    fs_err::write(outside.join("b"), "kept").unwrap();
    fs_err::create_dir(&root).unwrap();
    // Links that lead out replace the directory `a` and the file `c`.
    fs_err::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
    fs_err::os::unix::fs::symlink(outside.join("b"), root.join("c")).unwrap();
    plan.write_folder(&root).unwrap();
    assert_eq!(found(&root), good);
    assert_eq!(fs_err::read_to_string(outside.join("b")).unwrap(), "kept");

    for (path, target) in [
        ("a/l", "../../x"),
        ("l", "/etc/passwd"),
        ("a/l", "x/../../../y"),
    ] {
        let id = commit(&repo, &files(&[(path, LINK, target)]));
        let error = Checkout::default()
            .add_commit(home.path(), &id, b"")
            .unwrap_err();
        assert!(
            error.what.contains("leads out of its checkout") && error.hint.contains("in-place"),
            "{error}"
        );
    }
}

#[test]
fn hostile_trees_are_refused_and_zeros_are_nothing() {
    let (home, repo) = repository();
    let raw = |name: &str, mode: &str| {
        let id = if mode == "40000" {
            tree(&repo, "", &files(&[("x", FILE, "")]))
        } else {
            repo.blob(b"x").unwrap()
        };
        let bytes = [mode.as_bytes(), b" ", name.as_bytes(), b"\0", id.as_bytes()].concat();
        let tree = repo
            .odb()
            .unwrap()
            .write(git2::ObjectType::Tree, &bytes)
            .unwrap();
        let text = format!("tree {tree}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n");
        facts::Oid(
            repo.odb()
                .unwrap()
                .write(git2::ObjectType::Commit, text.as_bytes())
                .unwrap()
                .to_string(),
        )
    };
    for (name, mode) in [
        ("..", "40000"),
        (".git", "40000"),
        (".GIT", "100644"),
        ("a/../b", "100644"),
        ("/etc", "100644"),
    ] {
        let added = Checkout::default().add_commit(home.path(), &raw(name, mode), b"p");
        let Err(error) = added else { panic!("{name}") };
        assert!(!error.hint.is_empty(), "{name}: {error}");
    }
    let mut none = Checkout::default();
    none.add_commit(home.path(), &facts::Oid::zero(), b"")
        .unwrap();
    assert_eq!(none.file_paths().count(), 0);
    let submodule = Checkout::default()
        .add_commit(home.path(), &raw("sub", "160000"), b"p")
        .unwrap();
    assert_eq!(submodule, [b"p/sub".to_vec()]);
    assert!(
        Checkout::default()
            .add_commit(home.path(), &facts::Oid("1".repeat(40)), b"")
            .is_err()
    );
}

#[test]
fn no_filter_attribute_or_hook_has_a_part_in_it() {
    let (home, repo) = repository();
    let own = files(&[
        (
            ".gitattributes",
            FILE,
            "* text=auto eol=crlf ident filter=evil\n",
        ),
        ("a.java", FILE, "// $Id$\nclass A {}\n"),
    ]);
    let mut config = repo.config().unwrap();
    config
        .set_str("filter.evil.smudge", "touch smudged")
        .unwrap();
    config.set_str("core.autocrlf", "true").unwrap();
    let hook = home.path().join(".git/hooks/post-checkout");
    fs_err::create_dir_all(hook.parent().unwrap()).unwrap();
    fs_err::write(&hook, "#!/bin/sh\ntouch hooked\n").unwrap();
    fs_err::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut plan = checkout(home.path(), &commit(&repo, &own));
    let before = trace(home.path());
    let folder = tempfile::tempdir().unwrap();
    plan.write_folder(folder.path()).unwrap();
    assert_eq!(found(folder.path()), own);
    assert_eq!(trace(home.path()), before);
}

#[test]
fn a_copy_is_a_repository_at_its_commit_that_names_no_other() {
    let (home, repo) = repository();
    let judged = commit(&repo, &files(&[("a", FILE, "1"), ("sub/b", FILE, "2")]));
    let copy = tempfile::tempdir().unwrap();
    fs_err::write(copy.path().join("a"), "1").unwrap();
    add_to_copy(copy.path(), home.path(), &facts::Oid::zero()).unwrap();
    assert!(!copy.path().join(".git").exists(), "there is no commit");
    add_to_copy(copy.path(), home.path(), &judged).unwrap();
    let made = Repository::open(copy.path()).unwrap();
    assert_eq!(made.head().unwrap().target().unwrap().to_string(), judged.0);
    assert_eq!(
        made.status_file(Path::new("a")).unwrap(),
        git2::Status::CURRENT
    );
    assert_eq!(
        made.status_file(Path::new("sub/b")).unwrap(),
        git2::Status::WT_DELETED
    );
    let name = home.path().as_os_str().as_encoded_bytes();
    for (path, (bytes, ..)) in trace(&copy.path().join(".git")) {
        assert!(
            !bytes.windows(name.len()).any(|part| part == name),
            "{} names it",
            path.display()
        );
    }
    // A test that removes an object removes it only there.
    let blob = repo
        .find_commit(Oid::from_str(&judged.0).unwrap())
        .unwrap()
        .tree()
        .unwrap();
    let id = blob.get_name("a").unwrap().id().to_string();
    let object = Path::new("objects").join(&id[..2]).join(&id[2..]);
    fs_err::remove_file(copy.path().join(".git").join(&object)).unwrap();
    assert!(repo.path().join(object).is_file());
}

#[test]
fn files_beside_the_commits_join_them_but_never_replace_one() {
    let (home, repo) = repository();
    let mut plan = checkout(
        home.path(),
        &commit(&repo, &files(&[("pom.xml", FILE, "committed")])),
    );
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    fs_err::write(&kept, "kept").unwrap();
    fs_err::os::unix::fs::symlink(&kept, folder.path().join("link")).unwrap();
    assert!(plan.add_file(&kept, b"local/.env").unwrap());
    assert!(!plan.add_file(&kept, b"pom.xml").unwrap());
    assert!(!plan.add_file(&folder.path().join("link"), b"l").unwrap());
    assert!(plan.add_file(&kept, b"../x").is_err());
    let root = folder.path().join("root");
    plan.write_folder(&root).unwrap();
    assert_eq!(
        found(&root),
        files(&[("local/.env", FILE, "kept"), ("pom.xml", FILE, "committed")])
    );
    assert_eq!(
        plan.read_file(b"pom.xml", 99).unwrap().unwrap(),
        b"committed"
    );
    assert_eq!(plan.read_file(b"pom.xml", 3).unwrap(), None);
}

#[test]
fn the_way_of_a_link_is_known_without_asking_the_disk() {
    for (path, target) in [
        ("a", "b"),
        ("a/b", "../c"),
        ("a/b/c", "../../d/e"),
        ("a", "./b"),
        ("a/b", ".."),
    ] {
        assert!(
            check_link(path.as_bytes(), target.as_bytes()).is_ok(),
            "{path} {target}"
        );
    }
    // The last one may climb further than it appears, through a link in the middle.
    let out = [
        ("a", "/etc"),
        ("a", "../b"),
        ("a/b", "../../c"),
        ("a", ""),
        ("a", ".git/hooks"),
        ("a/b", "c/../d"),
    ];
    for (path, target) in out {
        assert!(
            check_link(path.as_bytes(), target.as_bytes()).is_err(),
            "{path} {target}"
        );
    }
}

/// Returns when the clock of the file system has advanced.
fn let_the_clock_tick(file: &Path) {
    let changed = |path: &Path| {
        let data = fs_err::symlink_metadata(path).unwrap();
        (data.ctime(), data.ctime_nsec())
    };
    let (probe, before) = (file.with_extension("probe"), changed(file));
    while !probe.exists() || changed(&probe) == before {
        fs_err::write(&probe, "").unwrap();
    }
}

#[test]
fn what_was_exchanged_and_put_back_was_touched() {
    let (home, repo) = repository();
    let all = files(&[
        ("pom.xml", FILE, ""),
        ("src/main/A.java", FILE, "a"),
        ("src/main/b/B.java", FILE, "b"),
    ]);
    let mut checkout = checkout(home.path(), &commit(&repo, &all));
    let place = tempfile::tempdir().unwrap();
    let (folder, aside) = (place.path().join("tree"), place.path().join("aside"));
    for (path, touched) in [
        ("src/main/A.java", vec!["src/main", "src/main/A.java"]),
        ("src/main/b", vec!["src/main", "src/main/b"]),
        ("src", vec!["src"]),
        ("target", vec![]),
    ] {
        checkout.write_folder(&folder).unwrap();
        fs_err::create_dir_all(folder.join("target")).unwrap();
        fs_err::write(&aside, "").unwrap();
        let_the_clock_tick(&aside);
        fs_err::remove_file(&aside).unwrap();
        fs_err::rename(folder.join(path), &aside).unwrap();
        fs_err::write(folder.join(path), "another").unwrap();
        fs_err::remove_file(folder.join(path)).unwrap();
        fs_err::rename(&aside, folder.join(path)).unwrap();
        assert_eq!(
            checkout
                .inspect_part(&folder, &CheckoutPart::default())
                .unwrap()
                .wrong,
            Vec::<Vec<u8>>::new()
        );
        let found: Vec<String> = checkout
            .touched_files(&folder)
            .iter()
            .map(|path| path.as_str().to_owned())
            .collect();
        assert_eq!(found, touched, "{path}");
    }
}
