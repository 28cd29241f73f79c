//! Sites and mirrors over real folders and repositories.

use super::mirror::{Sources, Unit, Which};
use super::outputs::{Manifest, Serves, Wipe, wipe};
use super::room::Room;
use super::{KEPT, Site};
use crate::gate::{Build, Stale, Standing};
use crate::machine::facts::Oid;
use git2::{IndexAddOption, Repository, Signature};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

#[test]
fn a_workspace_finds_its_site_again_and_who_comes_second_gets_one_of_his_own() {
    let home = tempfile::tempdir().unwrap();
    let (cache, workspace) = (home.path().join("cache"), home.path().join("ws"));
    fs_err::create_dir(&workspace).unwrap();
    let first = Site::take(&cache, &workspace).unwrap();
    let second = Site::take(&cache, &workspace).unwrap();
    assert!(!first.is_temporary() && second.is_temporary());
    assert_ne!(first.at(""), second.at(""));
    let (one, two) = (first.at(""), second.at(""));
    let run = first.run().unwrap().keep();
    drop((first, second));
    assert!(one.is_dir() && !two.exists());
    // A process that another test is just starting may hold the lock for a moment.
    let again = (0..1_000).map(|_| Site::take(&cache, &workspace).unwrap()).find(|site| !site.is_temporary());
    let again = again.unwrap();
    assert_eq!(again.at(""), one);
    again.run().unwrap();
    assert!(!run.exists(), "what a killed run left goes");

    // A site that others may enter is not trusted.
    drop(again);
    fs_err::set_permissions(&one, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(Site::take(&cache, &workspace).unwrap().at(""), one);
}

#[test]
fn sites_of_workspaces_that_are_gone_and_the_oldest_go() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    let folders = || {
        let all = fs_err::read_dir(cache.join("sites")).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.is_dir()).count()
    };
    let gone = home.path().join("gone");
    fs_err::create_dir(&gone).unwrap();
    drop(Site::take(&cache, &gone).unwrap());
    fs_err::remove_dir(&gone).unwrap();
    for number in 0..KEPT + 3 {
        let workspace = home.path().join(number.to_string());
        fs_err::create_dir(&workspace).unwrap();
        drop(Site::take(&cache, &workspace).unwrap());
    }
    // A process that another test is just starting may hold a lock for a moment: the next sweep is due then.
    let last = home.path().join((KEPT + 2).to_string());
    for _ in 0..100 {
        if folders() > KEPT {
            drop(Site::take(&cache, &last).unwrap());
        }
    }
    assert_eq!(folders(), KEPT);
}

#[test]
fn outputs_serve_as_far_as_the_changes_leave_them_right() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("target");
    let outputs = vec![target.clone()];
    for file in
        ["classes/A.class", "test-classes/ATest.class", "maven-status/maven-compiler-plugin/testCompile/x"]
    {
        write(&target.join(file), "x");
    }
    let marks = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
        list.iter().map(|(path, mark)| ((*path).to_owned(), (*mark).to_owned())).collect()
    };
    let old = [
        ("pom.xml", "1"),
        ("src/main/java/A.java", "1"),
        ("src/test/java/ATest.java", "1"),
        ("src/test/resources/r", "1"),
        ("src/test/resources/src/main/java/R.java", "1"),
    ];
    let manifest = Manifest::new(marks(&old), &outputs, BTreeSet::new(), false).unwrap();
    let file = home.path().join("tree.json");
    manifest.store(&file).unwrap();
    assert_eq!(Manifest::take(&file).unwrap(), Some(manifest.clone()));
    assert_eq!(Manifest::take(&file).unwrap(), None, "while a gate works there is none");

    let set = |paths: &[&str]| {
        let mut new = marks(&old);
        new.extend(paths.iter().map(|path| ((*path).to_owned(), "2".to_owned())));
        new
    };
    let without = |path: &str| {
        let mut new = marks(&old);
        new.remove(path);
        new
    };
    let java = |main, tests, infos| Serves::ButJava(Stale { main, tests, infos });
    let table = [
        (set(&[]), Some(""), Serves::All),
        (set(&[]), None, Serves::All),
        (set(&["src/test/java/ATest.java"]), Some(""), java(false, true, false)),
        (set(&["src/test/java/New.java"]), Some(""), java(false, true, false)),
        (without("src/test/java/ATest.java"), Some(""), java(false, true, false)),
        (set(&["src/main/java/A.java"]), Some(""), java(true, false, false)),
        (without("src/main/java/A.java"), Some(""), java(true, false, false)),
        (set(&["src/main/java/A.java", "src/test/java/ATest.java"]), Some(""), java(true, true, false)),
        (set(&["src/main/java/package-info.java"]), Some(""), java(true, false, true)),
        (set(&["src/test/java/ATest.java"]), None, Serves::Nothing),
        (set(&["src/main/java/A.java"]), Some("m/"), Serves::Nothing),
        (set(&["src/main/java/A.kt"]), Some(""), Serves::Nothing),
        (set(&["src/test/resources/r"]), Some(""), Serves::Nothing),
        (set(&["src/test/resources/src/main/java/R.java"]), Some(""), Serves::Nothing),
        (set(&["src/main/java/A.java", "pom.xml"]), Some(""), Serves::Nothing),
    ];
    for (new, module, expected) in table {
        assert_eq!(manifest.serves(&new, &outputs, module), expected, "{new:?} {module:?}");
    }
    fs_err::write(target.join("classes/Planted.class"), "x").unwrap();
    assert_eq!(manifest.serves(&marks(&old), &outputs, Some("")), Serves::Nothing);
    wipe(&outputs, Wipe::Tests).unwrap();
    assert!(target.join("classes/A.class").exists() && !target.join("test-classes").exists());
    wipe(&outputs, Wipe::All).unwrap();
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
    Oid(repo.commit(Some("HEAD"), &who, &who, "x", &tree, &parents).unwrap().to_string())
}

fn sources(workspace: &Path, units: &[(&str, Oid)], judged: &str, keep: &[&str]) -> Sources {
    let unit = |(name, head): &(&str, Oid)| {
        let root = workspace.join("src").join(name);
        (
            (*name).to_owned(),
            Unit { repository: root.clone(), root, head: head.clone(), base: Some(Oid::zero()) },
        )
    };
    Sources {
        workspace: workspace.to_owned(),
        units: units.iter().map(unit).collect(),
        judged: BTreeSet::from([judged.to_owned()]),
        keep: keep.iter().map(|glob| (*glob).to_owned()).collect(),
    }
}

/// A checkout of `src/p`, whose outputs of the last gate are those of the build `k`.
struct Kept {
    home: tempfile::TempDir,
    recompiled: bool,
}

impl Kept {
    fn new(recompiled: bool) -> Self {
        let kept = Self { home: tempfile::tempdir().unwrap(), recompiled };
        write(&kept.at("ws/src/p/pom.xml"), "<project/>");
        write(&kept.at("ws/src/p/src/main/java/A.java"), "class A { }");
        write(&kept.at("ws/src/p/src/test/java/ATest.java"), "class ATest { }");
        let first = kept.room();
        assert_eq!(first.standing("k"), Standing::Nothing);
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
        self.at("tree/src/p/target").join(path)
    }

    /// A gate on what stands in the workspace now.
    fn room(&self) -> Room {
        let workspace = self.at("ws");
        let sources = sources(&workspace, &[("p", commit(&workspace.join("src/p")))], "p", &[]);
        Room::make(&sources, Which::Head, self.at("tree"), self.at("tree.json")).unwrap()
    }

    fn leave(&self, mut room: Room) {
        let folders = ["classes", "test-classes"].map(|name| self.output(name)).to_vec();
        room.built(&Build::of("k".to_owned(), folders, self.recompiled).unwrap());
        assert_eq!(room.close(true).unwrap(), None);
    }

    /// Which outputs are left when Maven is going to make the build of that key.
    fn left(&self, room: &mut Room, key: &str) -> (bool, bool) {
        room.clear(&self.at("tree/src/p"), Some(key)).unwrap();
        (self.output("classes/A.class").exists(), self.output("test-classes/ATest.class").exists())
    }
}

#[test]
fn maven_finds_no_outputs_but_those_of_its_own_build_of_what_did_not_change() {
    let java = |main, tests| Standing::Java(Stale { main, tests, infos: false });
    for (changed, recompiled, key, standing, left) in [
        ("", false, "k", Standing::Whole, (true, true)),
        ("", false, "other", Standing::Nothing, (false, false)),
        ("src/test/java/ATest.java", false, "k", java(false, true), (true, false)),
        ("src/test/java/ATest.java", true, "k", java(false, true), (false, false)),
        ("src/main/java/A.java", false, "k", java(true, false), (false, false)),
        ("src/main/resources/a.txt", false, "k", Standing::Nothing, (false, false)),
    ] {
        let kept = Kept::new(recompiled);
        if !changed.is_empty() {
            write(&kept.at("ws/src/p").join(changed), "// changed");
        }
        let mut room = kept.room();
        assert_eq!(room.standing(key), standing, "{changed} {key}");
        assert_eq!(kept.left(&mut room, key), left, "{changed} {recompiled} {key}");
        let stands = if left == (true, true) { Standing::Whole } else { Standing::Nothing };
        assert_eq!(room.standing("k"), stands, "{changed} {key}");
    }
    // A module that was judged before Maven began anew in its reactor is not kept, nor are its outputs.
    let kept = Kept::new(false);
    let mut room = kept.room();
    let folders = ["classes", "test-classes"].map(|name| kept.output(name)).to_vec();
    room.built(&Build::of("k".to_owned(), folders, false).unwrap());
    room.clear(&kept.at("base/src/p"), Some("other")).unwrap();
    assert_eq!(room.standing("k"), Standing::Whole, "another checkout is none of its business");
    assert_eq!(kept.left(&mut room, "other"), (false, false));
    write(&kept.output("classes/B.class"), "by Maven");
    room.clear(&kept.at("tree/src/p"), Some("third")).unwrap();
    assert!(kept.output("classes/B.class").exists(), "what Maven makes in this gate stays");
    assert_eq!(room.close(true).unwrap(), None);
    assert!(!kept.at("tree.json").exists(), "no build stands that anybody knows");
    // A build that was not Maven's stays one for as long as it is kept.
    let kept = Kept::new(true);
    let again = kept.room();
    assert_eq!(again.standing("k"), Standing::Whole);
    kept.leave(again);
    write(&kept.at("ws/src/p/src/test/java/ATest.java"), "// changed");
    assert_eq!(kept.left(&mut kept.room(), "k"), (false, false));
}

fn paths(sources: &Sources, which: Which) -> Vec<String> {
    let checkout = sources.checkout(which).unwrap();
    checkout.paths().map(|path| String::from_utf8(path.to_vec()).unwrap()).collect()
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
    // Beside the packages: a parent that nobody tracks, one above it, `.mvn` of the workspace.
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
        all.checkout(Which::Head).unwrap().read(b"src/p/m/pom.xml", 999).unwrap().unwrap(),
        PARENT.as_bytes()
    );
    assert!(
        !paths(&all, Which::Base).iter().any(|path| path == "src/p/pom.xml"),
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
    assert_eq!(paths(&sources, Which::Head), [".mvn/jvm.config", "src/p/pom.xml", "src/pom.xml"]);
    let parent = sources.checkout(Which::Head).unwrap().read(b"src/pom.xml", 999).unwrap().unwrap();
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
    tree.insert("pom.xml", repo.blob(b"<project/>").unwrap(), 0o100_644).unwrap();
    tree.insert("sub", git2::Oid::from_str(&inner.0).unwrap(), 0o160_000).unwrap();
    let (tree, who) = (tree.write().unwrap(), Signature::now("a", "a@b").unwrap());
    let head = repo.commit(None, &who, &who, "x", &repo.find_tree(tree).unwrap(), &[]).unwrap();
    let head = Oid(head.to_string());
    let mut sources = sources(&workspace, &[("p", head)], "p", &[]);
    let fault = sources.checkout(Which::Head).map(|_| ()).unwrap_err();
    assert!(fault.what.contains("src/p/sub is a submodule") && fault.hint.contains("in-place"), "{fault}");
    let root = workspace.join("src/p/sub");
    sources.units.insert("sub".to_owned(), Unit { repository: root.clone(), root, head: inner, base: None });
    assert_eq!(paths(&sources, Which::Head), ["src/p/pom.xml", "src/p/sub/a"]);
}
