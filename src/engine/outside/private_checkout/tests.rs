//! Cache folders and private checkouts over real folders and repositories.

use super::cache_folder::KEPT;
use super::contents::Which;
use super::outputs::{Marks, Outputs};
use super::{
    CacheFolder, CheckoutSources, CheckoutState, CheckoutTree, InPlace, PrivateCheckout,
    SourcePackage,
};
use crate::engine::FaultKind;
use crate::gate::{Build, ChangedJava, Checkouts, OutputState};
use crate::machine::facts::Oid;
use crate::source::RepoPath;
use git2::{IndexAddOption, Repository, Signature};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn changed(main: &[&str], tests: &[&str]) -> ChangedJava {
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
    ChangedJava {
        main: paths(main),
        tests: paths(tests),
    }
}

#[test]
fn a_workspace_finds_its_folder_again_and_a_second_gate_gets_one_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let (cache, workspace) = (home.path().join("cache"), home.path().join("ws"));
    fs_err::create_dir(&workspace).unwrap();
    let first = CacheFolder::take_folder(&cache, &workspace).unwrap();
    let second = CacheFolder::take_folder(&cache, &workspace).unwrap();
    assert!(!first.is_temporary() && second.is_temporary());
    assert_ne!(first.path_of(""), second.path_of(""));
    let [one, two] =
        [&first, &second].map(|folder| folder.path_of("x").parent().unwrap().to_owned());
    let run = first.run_folder().unwrap().keep();
    drop((first, second));
    assert!(one.is_dir() && !two.exists());
    // A process that another test is just starting may hold the lock for a moment.
    let again = (0..1_000)
        .map(|_| CacheFolder::take_folder(&cache, &workspace).unwrap())
        .find(|site| !site.is_temporary());
    let again = again.unwrap();
    assert_eq!(again.path_of(""), one);
    again.run_folder().unwrap();
    assert!(!run.exists(), "what a killed run left goes");

    // A folder that others may enter, or a link, is not trusted.
    drop(again);
    let planted = one.join("tree/planted");
    write(&planted, "");
    fs_err::set_permissions(&one, std::fs::Permissions::from_mode(0o755)).unwrap();
    let is_new = |folder: &Path| {
        let mode = fs_err::symlink_metadata(folder)
            .unwrap()
            .permissions()
            .mode();
        mode & 0o777 == 0o700
            && fs_err::symlink_metadata(folder).unwrap().is_dir()
            && !folder.join("tree").exists()
    };
    let is_gone = |_| {
        is_new(
            &CacheFolder::take_folder(&cache, &workspace)
                .unwrap()
                .path_of(""),
        ) && !planted.exists()
    };
    assert!((0..1_000).any(is_gone));
    let elsewhere = home.path().join("elsewhere");
    write(&elsewhere.join("tree/kept"), "");
    if fs_err::remove_dir_all(&one).is_ok() {
        fs_err::os::unix::fs::symlink(&elsewhere, &one).unwrap();
        assert!(is_new(
            &CacheFolder::take_folder(&cache, &workspace)
                .unwrap()
                .path_of("")
        ));
        assert!(elsewhere.join("tree/kept").exists());
    }
}

#[test]
fn folders_of_workspaces_that_are_gone_and_the_oldest_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    let folders = || {
        let all = fs_err::read_dir(cache.join("sites"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        all.filter(|path| path.is_dir()).count()
    };
    let gone = home.path().join("gone");
    fs_err::create_dir(&gone).unwrap();
    drop(CacheFolder::take_folder(&cache, &gone).unwrap());
    fs_err::remove_dir(&gone).unwrap();
    for number in 0..KEPT + 3 {
        let workspace = home.path().join(number.to_string());
        fs_err::create_dir(&workspace).unwrap();
        drop(CacheFolder::take_folder(&cache, &workspace).unwrap());
    }
    // A process that another test is just starting may hold a lock for a moment: the next sweep is due then.
    let last = home.path().join((KEPT + 2).to_string());
    for _ in 0..100 {
        if folders() > KEPT {
            drop(CacheFolder::take_folder(&cache, &last).unwrap());
        }
    }
    assert_eq!(folders(), KEPT);
}

#[test]
fn outputs_are_used_as_far_as_the_changes_leave_them_right() {
    let home = tempfile::tempdir().unwrap();
    let (target, file) = (home.path().join("target"), home.path().join("tree.json"));
    let outputs = vec![target.clone()];
    let classes = ["classes", "test-classes"].map(|name| target.join(name));
    let marks = |list: &[(&str, &str)]| -> Marks {
        list.iter()
            .map(|(path, mark)| ((*path).to_owned(), (*mark).to_owned()))
            .collect()
    };
    let old = [
        ("pom.xml", "1"),
        ("src/main/java/A.java", "1"),
        ("src/test/java/ATest.java", "1"),
        ("src/test/resources/r", "1"),
        ("src/test/resources/src/main/java/R.java", "1"),
    ];
    let take = |new: &Marks, module| {
        Outputs::take_outputs(file.clone(), outputs.clone(), new, module).unwrap()
    };
    let keep = || {
        let mut left = take(&marks(&old), Some(""));
        for class in ["classes/A.class", "test-classes/ATest.class"] {
            write(&target.join(class), "x");
        }
        left.note_build(&Build::of_folders("k".to_owned(), classes.to_vec()).unwrap());
        left.keep_outputs(&outputs, marks(&old)).unwrap();
    };
    keep();
    assert_eq!(
        take(&marks(&old), Some("")).output_state("k"),
        OutputState::Current
    );
    assert_eq!(
        take(&marks(&old), Some("")).output_state("k"),
        OutputState::Nothing,
        "while a gate works there is none"
    );

    let set = |paths: &[&str]| {
        let mut new = marks(&old);
        new.extend(
            paths
                .iter()
                .map(|path| ((*path).to_owned(), "2".to_owned())),
        );
        new
    };
    let without = |path: &str| {
        let mut new = marks(&old);
        new.remove(path);
        new
    };
    let java = |main: &[&str], tests: &[&str]| OutputState::Java(changed(main, tests));
    let table = [
        (set(&[]), Some(""), OutputState::Current),
        (set(&[]), None, OutputState::Current),
        (
            set(&["src/test/java/ATest.java"]),
            Some(""),
            java(&[], &["ATest.java"]),
        ),
        (
            set(&["src/test/java/New.java"]),
            Some(""),
            java(&[], &["New.java"]),
        ),
        (
            without("src/test/java/ATest.java"),
            Some(""),
            java(&[], &["ATest.java"]),
        ),
        (
            set(&["src/main/java/A.java"]),
            Some(""),
            java(&["A.java"], &[]),
        ),
        (
            without("src/main/java/A.java"),
            Some(""),
            java(&["A.java"], &[]),
        ),
        (
            set(&["src/main/java/A.java", "src/test/java/ATest.java"]),
            Some(""),
            java(&["A.java"], &["ATest.java"]),
        ),
        (
            set(&["src/main/java/package-info.java"]),
            Some(""),
            java(&["package-info.java"], &[]),
        ),
        (
            set(&["src/test/java/ATest.java"]),
            None,
            OutputState::Nothing,
        ),
        (
            set(&["src/main/java/A.java"]),
            Some("m/"),
            OutputState::Nothing,
        ),
        (set(&["src/main/java/A.kt"]), Some(""), OutputState::Nothing),
        (
            set(&["src/test/resources/r"]),
            Some(""),
            OutputState::Nothing,
        ),
        (
            set(&["src/test/resources/src/main/java/R.java"]),
            Some(""),
            OutputState::Nothing,
        ),
        (
            set(&["src/main/java/A.java", "pom.xml"]),
            Some(""),
            OutputState::Nothing,
        ),
    ];
    for (new, module, expected) in table {
        keep();
        assert_eq!(
            take(&new, module).output_state("k"),
            expected,
            "{new:?} {module:?}"
        );
        assert_eq!(
            target.exists(),
            expected != OutputState::Nothing,
            "{new:?} {module:?}"
        );
    }
    keep();
    fs_err::write(target.join("classes/Planted.class"), "x").unwrap();
    assert_eq!(
        take(&marks(&old), Some("")).output_state("k"),
        OutputState::Nothing
    );
    assert!(!target.exists());
}

/// Commits everything below a folder as its own repository.
fn commit(folder: &Path) -> Oid {
    let repo = Repository::init(folder).unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    index.write().unwrap();
    let who = Signature::now("a", "a@b").unwrap();
    let parent = repo.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = parent.iter().collect();
    Oid(repo
        .commit(Some("HEAD"), &who, &who, "x", &tree, &parents)
        .unwrap()
        .to_string())
}

fn sources(
    workspace: &Path,
    units: &[(&str, Oid)],
    judged: &str,
    keep: &[&str],
) -> CheckoutSources {
    let unit = |(name, head): &(&str, Oid)| {
        let root = workspace.join("src").join(name);
        (
            (*name).to_owned(),
            SourcePackage {
                repository: root.clone(),
                root,
                head: head.clone(),
                base: Some(Oid::zero()),
            },
        )
    };
    CheckoutSources {
        workspace: workspace.to_owned(),
        packages: units.iter().map(unit).collect(),
        judged: BTreeSet::from([judged.to_owned()]),
        keep: keep.iter().map(|glob| (*glob).to_owned()).collect(),
    }
}

/// A checkout of `src/p`, whose outputs of the last gate are those of the build `k`.
struct Kept {
    home: tempfile::TempDir,
    cache: CacheFolder,
}

impl Kept {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let cache = CacheFolder::take_folder(&home.path().join("cache"), home.path()).unwrap();
        let kept = Self { home, cache };
        write(&kept.at("ws/src/p/pom.xml"), "<project/>");
        write(&kept.at("ws/src/p/src/main/java/A.java"), "class A { }");
        write(
            &kept.at("ws/src/p/src/test/java/ATest.java"),
            "class ATest { }",
        );
        let first = kept.tree();
        assert_eq!(first.outputs.output_state("k"), OutputState::Nothing);
        for class in ["classes/A.class", "test-classes/ATest.class"] {
            write(&kept.output(class), "x");
        }
        kept.leave(first);
        kept
    }

    fn at(&self, path: &str) -> PathBuf {
        fs_err::canonicalize(self.home.path()).unwrap().join(path)
    }

    fn output(&self, path: &str) -> PathBuf {
        self.cache.path_of("tree/src/p/target").join(path)
    }

    fn build(&self) -> Build {
        let folders = ["classes", "test-classes"]
            .map(|name| self.output(name))
            .to_vec();
        Build::of_folders("k".to_owned(), folders).unwrap()
    }

    /// A gate on what is in the workspace now.
    fn tree(&self) -> CheckoutTree {
        let workspace = self.at("ws");
        let sources = sources(
            &workspace,
            &[("p", commit(&workspace.join("src/p")))],
            "p",
            &[],
        );
        CheckoutTree::check_out(&sources, Which::Head, &self.cache)
            .unwrap()
            .0
    }

    fn leave(&self, mut tree: CheckoutTree) {
        tree.outputs.note_build(&self.build());
        tree.close_tree(true).unwrap();
    }

    /// True if outputs are left when a build is about to begin.
    fn is_left(&self, tree: &mut CheckoutTree) -> bool {
        tree.outputs
            .clear_outputs(&self.cache.path_of("tree/src/p"))
            .unwrap();
        let mut classes = ["classes/A.class", "test-classes/ATest.class"].iter();
        classes.any(|class| self.output(class).exists())
    }
}

#[test]
fn classes_outside_of_the_kept_folders_are_no_outputs_of_the_next_gate() {
    let kept = Kept::new();
    let mut tree = kept.tree();
    assert_eq!(tree.outputs.output_state("k"), OutputState::Current);
    let elsewhere = kept.cache.path_of("tree/src/p/build");
    write(&elsewhere.join("A.class"), "x");
    let build = Build::of_folders("k".to_owned(), vec![elsewhere]).unwrap();
    tree.outputs.note_build(&build);
    tree.close_tree(true).unwrap();
    assert_eq!(kept.tree().outputs.output_state("k"), OutputState::Nothing);
}

#[test]
fn a_build_finds_no_outputs_but_those_of_its_own_gate() {
    let java = |main: &[&str], tests: &[&str]| OutputState::Java(changed(main, tests));
    for (changed, key, standing) in [
        ("", "k", OutputState::Current),
        ("", "other", OutputState::Nothing),
        ("src/test/java/ATest.java", "k", java(&[], &["ATest.java"])),
        ("src/main/java/A.java", "k", java(&["A.java"], &[])),
        ("src/main/resources/a.txt", "k", OutputState::Nothing),
    ] {
        let kept = Kept::new();
        if !changed.is_empty() {
            write(&kept.at("ws/src/p").join(changed), "// changed");
        }
        let mut tree = kept.tree();
        assert_eq!(tree.outputs.output_state(key), standing, "{changed} {key}");
        assert!(!kept.is_left(&mut tree), "{changed} {key}");
        assert_eq!(tree.outputs.output_state("k"), OutputState::Nothing);
    }
    // A module that was judged before Maven started again in its reactor is not kept, nor are its
    // outputs.
    let kept = Kept::new();
    let mut state = CheckoutState {
        head: kept.tree(),
        base: None,
        phases: Vec::new(),
    };
    state.head.outputs.note_build(&kept.build());
    assert!(
        state.tree_of(&kept.cache.path_of("base/src/p")).is_none(),
        "another checkout's outputs are left alone"
    );
    let tree = state.tree_of(&kept.cache.path_of("tree/src/p")).unwrap();
    assert_eq!(tree.outputs.output_state("k"), OutputState::Current);
    assert!(!kept.is_left(tree));
    write(&kept.output("classes/B.class"), "by Maven");
    tree.outputs
        .clear_outputs(&kept.cache.path_of("tree/src/p"))
        .unwrap();
    assert!(
        kept.output("classes/B.class").exists(),
        "what Maven makes in this gate stays"
    );
    state.head.close_tree(true).unwrap();
    assert!(
        !kept.cache.path_of("tree.json").exists(),
        "no known build is whole"
    );
}

#[test]
fn java_files_alone_can_leave_outputs_right_only_where_one_pom_is_judged() {
    let kept = Kept::new();
    assert!(kept.tree().outputs.of_one_module);
    write(&kept.at("ws/src/p/tools/pom.xml"), "<project/>");
    assert!(!kept.tree().outputs.of_one_module);
}

fn paths(sources: &CheckoutSources, which: Which) -> Vec<String> {
    let checkout = sources.make_checkout(which).unwrap();
    checkout
        .file_paths()
        .map(|path| String::from_utf8(path.to_vec()).unwrap())
        .collect()
}

const PARENT: &str = "<project><parent><artifactId>x</artifactId></parent></project>";

#[test]
fn the_layout_is_mirrored_as_far_as_builds_look() {
    let home = tempfile::tempdir().unwrap();
    let workspace = fs_err::canonicalize(home.path()).unwrap();
    let at = |path: &str| -> PathBuf { workspace.join(path) };
    write(
        &at("src/p/pom.xml"),
        "<project><parent/><modules><module>../q</module><module>m</module><module>../../../out</module></modules></project>",
    );
    write(&at("src/p/m/pom.xml"), PARENT);
    write(&at("src/p/.gitignore"), "local/\n*.key\n");
    write(
        &at("src/q/pom.xml"),
        "<project><parent><relativePath>../r/parent</relativePath></parent></project>",
    );
    write(&at("src/r/parent/pom.xml"), "<project/>");
    write(&at("src/unrelated/pom.xml"), "<project/>");
    let units = ["p", "q", "r", "unrelated"].map(|name| (name, commit(&at("src").join(name))));
    // Outside of the packages: a parent that no repository tracks, one above it, the workspace's
    // `.mvn`.
    write(&at("src/pom.xml"), PARENT);
    write(&at("pom.xml"), "<project/>");
    write(&at(".mvn/maven.config"), "-Dx");
    write(&at("src/p/local/deep/a.txt"), "kept");
    write(&at("src/p/b.key"), "not kept");
    write(&at("src/p/m/pom.xml"), "changed, not committed");
    write(&at("src/p/untracked.java"), "");

    let all = sources(&workspace, &units, "p", &["local/**", "m/**"]);
    let expected = [
        ".mvn/maven.config",
        "pom.xml",
        "src/p/.gitignore",
        "src/p/local/deep/a.txt",
        "src/p/m/pom.xml",
        "src/p/pom.xml",
        "src/pom.xml",
        "src/q/pom.xml",
        "src/r/parent/pom.xml",
    ];
    assert_eq!(paths(&all, Which::Head), expected);
    assert_eq!(
        all.make_checkout(Which::Head)
            .unwrap()
            .read_file(b"src/p/m/pom.xml", 999)
            .unwrap()
            .unwrap(),
        PARENT.as_bytes()
    );
    assert!(
        !paths(&all, Which::Base)
            .iter()
            .any(|path| path == "src/p/pom.xml"),
        "before, there was nothing"
    );
}

#[test]
fn what_an_enclosing_repository_tracks_comes_from_its_head() {
    let home = tempfile::tempdir().unwrap();
    let workspace = fs_err::canonicalize(home.path()).unwrap();
    let at = |path: &str| -> PathBuf { workspace.join(path) };
    write(&at("src/p/pom.xml"), PARENT);
    let unit = ("p", commit(&at("src/p")));
    write(&at(".gitignore"), "src/p/\n");
    write(&at("src/pom.xml"), "<project/>");
    write(&at(".mvn/jvm.config"), "-Xmx1g");
    commit(&workspace);
    write(&at("src/pom.xml"), "changed by somebody");
    write(&at(".mvn/maven.config"), "-DskipTests");
    let sources = sources(&workspace, &[unit], "p", &[]);
    assert_eq!(
        paths(&sources, Which::Head),
        [".mvn/jvm.config", "src/p/pom.xml", "src/pom.xml"]
    );
    let parent = sources
        .make_checkout(Which::Head)
        .unwrap()
        .read_file(b"src/pom.xml", 999)
        .unwrap()
        .unwrap();
    assert_eq!(parent, b"<project/>");
}

#[test]
fn a_submodule_is_refused_unless_it_is_a_package() {
    let home = tempfile::tempdir().unwrap();
    let workspace = fs_err::canonicalize(home.path()).unwrap();
    write(&workspace.join("src/p/sub/a"), "x");
    let inner = commit(&workspace.join("src/p/sub"));
    let repo = Repository::init(workspace.join("src/p")).unwrap();
    let mut tree = repo.treebuilder(None).unwrap();
    tree.insert("pom.xml", repo.blob(b"<project/>").unwrap(), 0o100_644)
        .unwrap();
    tree.insert("sub", git2::Oid::from_str(&inner.0).unwrap(), 0o160_000)
        .unwrap();
    let (tree, who) = (tree.write().unwrap(), Signature::now("a", "a@b").unwrap());
    let head = repo
        .commit(None, &who, &who, "x", &repo.find_tree(tree).unwrap(), &[])
        .unwrap();
    let head = Oid(head.to_string());
    let mut sources = sources(&workspace, &[("p", head)], "p", &[]);
    let fault = sources.make_checkout(Which::Head).map(|_| ()).unwrap_err();
    assert!(
        fault.what.contains("src/p/sub is a submodule") && fault.hint.contains("in-place"),
        "{fault}"
    );
    let root = workspace.join("src/p/sub");
    sources.packages.insert(
        "sub".to_owned(),
        SourcePackage {
            repository: root.clone(),
            root,
            head: inner,
            base: None,
        },
    );
    assert_eq!(
        paths(&sources, Which::Head),
        ["src/p/pom.xml", "src/p/sub/a"]
    );
}

#[test]
fn a_source_that_was_exchanged_and_put_back_before_the_build_came_to_its_end_gives_no_verdict() {
    let kept = Kept::new();
    let workspace = kept.at("ws");
    let sources = sources(
        &workspace,
        &[("p", commit(&workspace.join("src/p")))],
        "p",
        &[],
    );
    for (path, is_built, is_touched) in [
        ("src/main/java/A.java", true, true),
        ("src/test/java/ATest.java", true, true),
        ("src/main/java/A.java", false, true),
        ("src/test/java/ATest.java", false, false),
    ] {
        let checkout = PrivateCheckout::enter_checkout(&kept.cache, &sources).unwrap();
        let file = kept.cache.path_of("tree/src/p").join(path);
        let text = fs_err::read(&file).unwrap();
        // The old file stays as long as the new one is written, so that its number is another.
        fs_err::rename(&file, file.with_extension("old")).unwrap();
        fs_err::write(&file, text).unwrap();
        fs_err::remove_file(file.with_extension("old")).unwrap();
        if is_built {
            checkout.note_build(&kept.build());
        }
        let closed = checkout.state.into_inner().unwrap().head.close_tree(true);
        let why = closed.err().map(|fault| fault.what).unwrap_or_default();
        let who = if is_built { " (by a build)" } else { "" };
        assert_eq!(
            why.contains(&format!("{path}{who}")),
            is_touched,
            "{path} {is_built}: {why}"
        );
    }
}

#[test]
fn what_tests_wrote_is_put_right_and_named_once_it_was_judged_but_no_source_is_theirs_to_write() {
    let kept = Kept::new();
    let workspace = kept.at("ws");
    for tracked in [
        "src/main/resources/b.txt",
        "src/test/java/src/main/java/B.java",
    ] {
        write(&kept.at("ws/src/p").join(tracked), "b");
    }
    let sources = sources(
        &workspace,
        &[("p", commit(&workspace.join("src/p")))],
        "p",
        &[],
    );
    let root = kept.cache.path_of("tree/src/p");
    let texts = |paths: Vec<RepoPath>| paths.iter().map(RepoPath::to_text).collect::<Vec<_>>();
    for (path, may_be) in [
        ("pom.xml", true),
        ("src/test/java/ATest.java", true),
        ("src/test/java/src/main/java/A.java", true),
        ("src/main/resources/a.txt", true),
        ("src/main/java/A.java", false),
        ("src/main/java/B.java", false),
    ] {
        let inside = format!("src/p/{path}");
        let judged = |is_judged| {
            let checkout = PrivateCheckout::enter_checkout(&kept.cache, &sources).unwrap();
            checkout.note_build(&kept.build());
            let before = fs_err::read(root.join(path)).ok();
            write(&root.join(path), "by a test");
            let told = texts(checkout.written_files(&root, false).unwrap());
            assert_eq!(
                told,
                if may_be {
                    vec![inside.clone()]
                } else {
                    Vec::new()
                }
            );
            if is_judged {
                checkout.written_files(&root, true).unwrap();
                assert_eq!(fs_err::read(root.join(path)).ok(), before, "{path}");
                assert_eq!(checkout.written_files(&root, false).unwrap(), []);
                checkout.note_build(&kept.build());
            }
            checkout.state.into_inner().unwrap().head.close_tree(true)
        };
        let fault = judged(false).unwrap_err();
        assert_eq!(
            (fault.what.contains(&inside), fault.kind),
            (true, FaultKind::Setup),
            "{fault}"
        );
        match judged(true) {
            Ok(written) => assert_eq!(
                (texts(written.into_iter().collect()), may_be),
                (vec![inside], true)
            ),
            // A new file touches its folder.
            Err(fault) => {
                assert_eq!(
                    (fault.what.contains("src/p/src/main/java"), may_be),
                    (true, false),
                    "{fault}"
                );
                assert!(fault.what.contains(" (by tests or mutants)"), "{fault}");
            }
        }
    }
}

#[test]
fn of_what_tests_wrote_only_their_own_packages_files_are_put_right_beside_another_package() {
    let kept = Kept::new();
    let workspace = kept.at("ws");
    for (file, text) in [
        ("p/inner/pom.xml", PARENT),
        ("q/pom.xml", PARENT),
        ("q/data.txt", "x"),
        ("pom.xml", "<project/>"),
    ] {
        write(&workspace.join("src").join(file), text);
    }
    let units = ["p", "q"].map(|name| (name, commit(&workspace.join("src").join(name))));
    let mut sources = sources(&workspace, &units, "p", &[]);
    let inner = SourcePackage {
        root: workspace.join("src/p/inner"),
        ..sources.packages["p"].clone()
    };
    sources.packages.insert("inner".to_owned(), inner);
    sources.judged.extend(["inner", "q"].map(str::to_owned));
    let tree = kept.cache.path_of("tree");
    let texts = |paths: Vec<RepoPath>| paths.iter().map(RepoPath::to_text).collect::<Vec<_>>();
    let own = [
        ("src/p", "src/p/src/test/java/ATest.java"),
        ("src/p/inner", "src/p/inner/pom.xml"),
        ("src/q", "src/q/data.txt"),
    ];
    // A parent's POM belongs to no single package. Production code stays forbidden to tests.
    for (more, who) in [
        ("", ""),
        ("src/pom.xml", ""),
        ("src/p/src/main/java/A.java", " (by tests or mutants)"),
    ] {
        let checkout = PrivateCheckout::enter_checkout(&kept.cache, &sources).unwrap();
        let before = own.map(|(_, file)| fs_err::read(tree.join(file)).unwrap());
        // The build of the last one ends while the tests of the others run.
        let build = Build {
            folders: vec![tree.join("src/q/target/classes")],
            ..kept.build()
        };
        for (root, file) in own {
            if root == "src/q" {
                checkout.note_build(&build);
            }
            write(&tree.join(file), "by a test");
        }
        if !more.is_empty() {
            write(&tree.join(more), "by a test");
        }
        for (at, (root, file)) in own.iter().enumerate() {
            let root = tree.join(root);
            assert_eq!(
                texts(checkout.written_files(&root, false).unwrap()),
                [*file]
            );
            checkout.written_files(&root, true).unwrap();
            for (other, (_, file)) in own.iter().enumerate() {
                let is_right = fs_err::read(tree.join(file)).unwrap() == before[other];
                assert_eq!(is_right, other <= at, "{file} after {root:?}");
            }
        }
        match checkout.state.into_inner().unwrap().head.close_tree(true) {
            Ok(written) => assert_eq!((more, written.len()), ("", 3)),
            Err(fault) => {
                assert!(
                    !more.is_empty() && fault.what.contains(&format!(": {more}{who}.")),
                    "{fault}"
                );
            }
        }
    }
}

#[test]
fn a_copy_of_a_package_becomes_a_repository_at_the_commit_that_its_folder_is_at() {
    let home = tempfile::tempdir().unwrap();
    let workspace = fs_err::canonicalize(home.path()).unwrap().join("ws");
    write(&workspace.join("apps/p/a.py"), "old");
    let base = commit(&workspace);
    write(&workspace.join("apps/p/a.py"), "new");
    let head = commit(&workspace);
    let root = workspace.join("apps/p");
    let package = SourcePackage {
        root: root.clone(),
        repository: workspace.clone(),
        head: head.clone(),
        base: Some(base.clone()),
    };
    let sources = CheckoutSources {
        workspace,
        packages: [("p".to_owned(), package)].into(),
        judged: ["p".to_owned()].into(),
        keep: Vec::new(),
    };
    let head_of = |checkouts: &dyn Checkouts, root: &Path| {
        assert_eq!(checkouts.in_repository(root), Path::new("apps/p"));
        let copy = tempfile::tempdir().unwrap();
        checkouts.add_repository(root, copy.path()).unwrap();
        Repository::open(copy.path())
            .unwrap()
            .head()
            .unwrap()
            .target()
            .unwrap()
            .to_string()
    };
    assert_eq!(head_of(&InPlace(&sources), &root), head.0);
    let cache = CacheFolder::temporary_folder(&home.path().join("cache")).unwrap();
    let checkout = PrivateCheckout::enter_checkout(&cache, &sources).unwrap();
    assert_eq!(head_of(&checkout, &cache.path_of("tree/apps/p")), head.0);
    let before = checkout.check_out_base("p").unwrap().unwrap();
    assert_eq!(head_of(&checkout, &before), base.0);
}
