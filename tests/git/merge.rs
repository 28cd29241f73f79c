//! The work of a lane: copied, merged, refused, and HEAD moved to it.

use super::{Repo, Workspace};
use git2::{Repository, Signature};
use ralph::git::Merge;
use ralph::machine::facts::Oid;
use std::collections::BTreeMap;

/// A package and a clone of it in which an agent commits.
fn lane() -> (Workspace, Repo, Repo) {
    let workspace = Workspace::with(&["a"]);
    let main = workspace.repo("src/a");
    main.git(&["clone", "-q", ".", "../../lane"]);
    let lane = workspace.repo("lane");
    (workspace, main, lane)
}

fn copy(workspace: &Workspace, lane: &Repo) -> Result<Oid, String> {
    let head = Oid(lane.head());
    workspace
        .discover()
        .copy_commits("a", &lane.dir, &head, "refs/ralph/lane/1")
        .map(|()| head)
        .map_err(|error| error.to_string())
}

fn merge(workspace: &Workspace, theirs: &Oid) -> Merge {
    let mut repositories = workspace.discover();
    let ours = repositories.take_snapshot().unwrap().packages[0]
        .head
        .clone();
    repositories
        .merge("a", [&ours, theirs], "2. from lane 1")
        .unwrap()
}

#[test]
fn a_lanes_work_is_copied_merged_and_checked_out_twice() {
    let (workspace, main, lane) = lane();
    lane.write("lane.py", "lane\n");
    lane.commit("lane");
    main.write("main.py", "main\n");
    main.commit("main");
    main.write("notes.txt", "not tracked\n");
    let theirs = copy(&workspace, &lane).unwrap();
    assert_eq!(main.git(&["rev-parse", "refs/ralph/lane/1"]), theirs.0);
    let Merge::Commit(merged) = merge(&workspace, &theirs) else {
        panic!("no merge");
    };
    let before = workspace.discover().take_snapshot().unwrap();
    let heads = BTreeMap::from([("a".to_owned(), merged.clone())]);
    for _ in 0..2 {
        let mut repositories = workspace.discover();
        let reference = "refs/ralph/lane-before/1";
        assert!(repositories.advance(&before, &heads, reference).unwrap());
        assert_eq!(main.head(), merged.0);
        assert_eq!(main.status(), ["?? notes.txt"]);
        assert_eq!(main.read("lane.py"), "lane\n");
        assert_eq!(main.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    }
    assert_eq!(main.git(&["log", "-1", "--format=%s"]), "2. from lane 1");
    assert_eq!(merge(&workspace, &theirs), Merge::Contained);
    // A person's commit after the survey stays.
    main.commit("a person's");
    let head = main.head();
    let mut repositories = workspace.discover();
    assert!(
        !repositories
            .advance(&before, &heads, "refs/ralph/lane-before/2")
            .unwrap()
    );
    assert_eq!(main.head(), head);
}

#[test]
fn commits_are_copied_into_a_repository_without_a_directory_for_packs() {
    let (workspace, main, lane) = lane();
    // Copies of a repository can lack its empty directories.
    fs_err::remove_dir(main.dir.join(".git/objects/pack")).unwrap();
    lane.write("lane.py", "lane\n");
    lane.commit("lane");
    let theirs = copy(&workspace, &lane).unwrap();
    assert_eq!(merge(&workspace, &theirs), Merge::Commit(theirs));
}

/// Returns a zlib stream of these bytes without compression.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    let header = [0x78, 0x01, 0x01];
    let lengths = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
    let sum = (high << 16 | low).to_be_bytes();
    [&header, &lengths[..], bytes, &sum].concat()
}

#[test]
fn a_file_that_says_it_is_huge_is_not_read_into_memory() {
    let (workspace, main, lane) = lane();
    lane.write("large.bin", "small\n");
    lane.commit("large");
    let blob = lane.git(&["rev-parse", "HEAD:large.bin"]);
    let file = lane
        .dir
        .join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    fs_err::remove_file(&file).unwrap();
    fs_err::write(&file, stored(b"blob 9000000000\0small\n")).unwrap();
    let before = main.git(&["for-each-ref"]);
    let refused = copy(&workspace, &lane).unwrap_err();
    assert!(refused.contains("more than 1073741824 bytes"), "{refused}");
    assert_eq!(main.git(&["for-each-ref"]), before);
}

#[test]
fn commits_alone_are_no_merge_if_main_has_not_moved() {
    let (workspace, _main, lane) = lane();
    lane.write("lane.py", "lane\n");
    lane.commit("lane");
    let theirs = copy(&workspace, &lane).unwrap();
    assert_eq!(merge(&workspace, &theirs), Merge::Commit(theirs));
}

#[test]
fn paths_that_git_reads_or_runs_are_refused() {
    let (workspace, main, lane) = lane();
    main.git(&["config", "filter.lfs.clean", "cat"]);
    main.write(".gitattributes", "*.bin filter=lfs\n");
    main.commit("attributes");
    lane.git(&["pull", "-q"]);
    for (path, mode, why) in [
        (".gitattributes", "100644", "it tells git how to read files"),
        ("x/.GIT/hooks/pre-commit", "100755", "git reserves its name"),
        ("x/.gitmodules", "100644", "it is a submodule"),
        ("module", "160000", "it is a submodule"),
        ("a.bin", "100644", "a program filters it"),
    ] {
        let repo = Repository::open(&lane.dir).unwrap();
        let head = repo.head().unwrap().peel_to_commit().unwrap();
        let id = if mode == "160000" {
            head.id()
        } else {
            repo.blob(b"x").unwrap()
        };
        // The trees are written by hand: git's own index refuses some of these.
        let mut entry = (i32::from_str_radix(mode, 8).unwrap(), id);
        let mut names = path.rsplit('/');
        let mut name = names.next().unwrap();
        for above in names {
            entry = (0o40_000, raw(&repo, &[(name.to_owned(), entry.0, entry.1)]));
            name = above;
        }
        let top = with_entry(&repo, &head.tree().unwrap(), name, entry);
        let who = Signature::now("a", "a@b").unwrap();
        let made = repo
            .commit(
                None,
                &who,
                &who,
                "x",
                &repo.find_tree(top).unwrap(),
                &[&head],
            )
            .unwrap();
        let theirs = Oid(made.to_string());
        workspace
            .discover()
            .copy_commits("a", &lane.dir, &theirs, "refs/ralph/lane/1")
            .unwrap();
        let Merge::Refused(said) = merge(&workspace, &theirs) else {
            panic!("{path} is merged");
        };
        assert!(said.contains(why), "{path}: {said}");
    }
}

/// A tree with these names, stored without a check.
fn raw(repo: &Repository, entries: &[(String, i32, git2::Oid)]) -> git2::Oid {
    let mut entries = entries.to_vec();
    entries.sort();
    let mut bytes = Vec::new();
    for (name, mode, id) in entries {
        bytes.extend(format!("{mode:o} {name}\0").into_bytes());
        bytes.extend(id.as_bytes());
    }
    let odb = repo.odb().unwrap();
    odb.write(git2::ObjectType::Tree, &bytes).unwrap()
}

/// The tree with this mode and id at a name.
fn with_entry(
    repo: &Repository,
    tree: &git2::Tree<'_>,
    name: &str,
    new: (i32, git2::Oid),
) -> git2::Oid {
    let mut all: Vec<(String, i32, git2::Oid)> = tree
        .iter()
        .filter(|entry| entry.name().ok() != Some(name))
        .map(|entry| {
            (
                entry.name().unwrap().to_owned(),
                entry.filemode(),
                entry.id(),
            )
        })
        .collect();
    all.push((name.to_owned(), new.0, new.1));
    raw(repo, &all)
}

#[test]
fn another_history_is_not_copied_and_a_file_in_the_way_stays() {
    let (workspace, main, lane) = lane();
    lane.write("new.py", "lane\n");
    lane.commit("lane");
    main.write("new.py", "a person's\n");
    let theirs = copy(&workspace, &lane).unwrap();
    let Merge::Refused(why) = merge(&workspace, &theirs) else {
        panic!("merged over a file");
    };
    assert_eq!(why, "An untracked file is where the lane adds new.py.");
    lane.git(&["checkout", "-q", "--orphan", "other"]);
    lane.commit("root");
    let why = copy(&workspace, &lane).unwrap_err();
    assert!(why.contains("begins another history"), "{why}");
}

#[test]
fn both_sides_in_one_line_are_a_conflict_with_its_path() {
    let (workspace, main, lane) = lane();
    lane.write("src/main/java/A.java", "class A {\n  int lane;\n}\n");
    lane.commit("lane");
    main.write("src/main/java/A.java", "class A {\n  int main;\n}\n");
    main.commit("main");
    let theirs = copy(&workspace, &lane).unwrap();
    let Merge::Conflicts(paths) = merge(&workspace, &theirs) else {
        panic!("merged");
    };
    let paths: Vec<String> = paths.iter().map(ralph::source::RepoPath::to_text).collect();
    assert_eq!(paths, ["src/main/java/A.java"]);
}
