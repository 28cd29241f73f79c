//! Merges in memory against `git merge-tree`, over random pairs of histories.

use super::command::run_git_with;
use crate::support::needs::tests;
use git2::{Repository, Signature};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ralph::git::{Merge, Repositories};
use ralph::machine::facts::Oid;
use ralph::source::Classifier;
use std::collections::BTreeMap;
use std::path::Path;

tests! {
    nothing: [
        a_hundred_merges_have_the_trees_that_git_makes,
    ]
    nothing deep: [
        a_thousand_merges_have_the_trees_that_git_makes,
    ]
}

fn a_hundred_merges_have_the_trees_that_git_makes() {
    compare(100);
}

fn a_thousand_merges_have_the_trees_that_git_makes() {
    compare(1_000);
}

/// The entry at a path: mode and lines.
type Tree = BTreeMap<String, (i32, Vec<String>)>;

const FILE: i32 = 0o100_644;
const EXEC: i32 = 0o100_755;
const LINK: i32 = 0o120_000;

#[derive(Clone, Debug)]
enum Edit {
    Line(usize, usize, u8),
    Insert(usize, usize, u8),
    Cut(usize, usize),
    Delete(usize),
    Add(u8, u8),
    Rename(usize, u8),
    Mode(usize),
    Link(usize),
    MoveFolder(u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let (file, line, text) = (|| 0..12_usize, || 0..20_usize, || 0..4_u8);
    prop_oneof![
        6 => (file(), line(), text()).prop_map(|(at, line, text)| Edit::Line(at, line, text)),
        4 => (file(), line(), text()).prop_map(|(at, line, text)| Edit::Insert(at, line, text)),
        2 => (file(), line()).prop_map(|(at, line)| Edit::Cut(at, line)),
        1 => file().prop_map(Edit::Delete),
        2 => (text(), text()).prop_map(|(name, text)| Edit::Add(name, text)),
        2 => (file(), text()).prop_map(|(at, name)| Edit::Rename(at, name)),
        1 => file().prop_map(Edit::Mode),
        1 => file().prop_map(Edit::Link),
        1 => text().prop_map(Edit::MoveFolder),
    ]
}

fn first_tree() -> Tree {
    let file = |number: usize| {
        let folder = ["", "a/", "a/b/", "c/"][number % 4];
        let lines = (0..15).map(|line| format!("line {line} of file {number}"));
        (format!("{folder}{number}.py"), (FILE, lines.collect()))
    };
    (0..9).map(file).collect()
}

fn perform(tree: &mut Tree, edit: &Edit) {
    let name = |at: usize, tree: &Tree| tree.keys().nth(at % tree.len().max(1)).cloned();
    let lines = |at: usize, tree: &mut Tree, act: &dyn Fn(&mut Vec<String>)| {
        if let Some(name) = name(at, tree)
            && let Some((mode, lines)) = tree.get_mut(&name)
            && *mode != LINK
        {
            act(lines);
        }
    };
    match edit {
        Edit::Line(at, line, text) => lines(*at, tree, &|all| {
            if let Some(found) = all.get_mut(*line) {
                *found = format!("text {text}");
            }
        }),
        Edit::Insert(at, line, text) => lines(*at, tree, &|all| {
            let line = (*line).min(all.len());
            all.insert(line, format!("new {text}"));
        }),
        Edit::Cut(at, line) => lines(*at, tree, &|all| {
            if *line < all.len() {
                all.remove(*line);
            }
        }),
        Edit::Delete(at) => drop(name(*at, tree).and_then(|name| tree.remove(&name))),
        Edit::Add(new, text) => {
            let all = (0..6).map(|line| format!("added {text} {line}"));
            tree.insert(format!("new/{new}.py"), (FILE, all.collect()));
        }
        Edit::Rename(at, new) => {
            if let Some(file) = name(*at, tree).and_then(|name| tree.remove(&name)) {
                tree.insert(format!("moved/{new}.py"), file);
            }
        }
        Edit::Mode(at) => {
            if let Some((mode @ FILE, _)) = name(*at, tree).and_then(|name| tree.get_mut(&name)) {
                *mode = EXEC;
            }
        }
        Edit::Link(at) => {
            if let Some(found) = name(*at, tree).and_then(|name| tree.get_mut(&name)) {
                *found = (LINK, vec!["0.py".to_owned()]);
            }
        }
        Edit::MoveFolder(new) => {
            let moved: Vec<String> = tree
                .keys()
                .filter(|path| path.starts_with("a/"))
                .cloned()
                .collect();
            for path in moved {
                let file = tree.remove(&path).unwrap();
                tree.insert(format!("d{new}{}", &path[1..]), file);
            }
        }
    }
}

fn commit(repo: &Repository, files: &Tree, parents: &[&str]) -> String {
    let mut index = git2::Index::new().unwrap();
    for (path, (mode, lines)) in files {
        let end = if *mode == LINK { "" } else { "\n" };
        let id = repo.blob((lines.join("\n") + end).as_bytes()).unwrap();
        let zero = git2::IndexTime::new(0, 0);
        let entry = git2::IndexEntry {
            ctime: zero,
            mtime: zero,
            dev: 0,
            ino: 0,
            mode: u32::try_from(*mode).unwrap(),
            uid: 0,
            gid: 0,
            file_size: 0,
            id,
            flags: 0,
            flags_extended: 0,
            path: path.clone().into_bytes(),
        };
        index.add(&entry).unwrap();
    }
    let tree = repo.find_tree(index.write_tree_to(repo).unwrap()).unwrap();
    let who = Signature::now("a", "a@b").unwrap();
    let parents: Vec<_> = parents
        .iter()
        .map(|id| repo.find_commit(id.parse().unwrap()).unwrap())
        .collect();
    repo.commit(
        None,
        &who,
        &who,
        "x",
        &tree,
        &parents.iter().collect::<Vec<_>>(),
    )
    .unwrap()
    .to_string()
}

/// The results of git for these pairs, in order: the tree if it merges.
fn merge_trees(folder: &Path, pairs: &[[String; 2]]) -> Vec<Option<String>> {
    let lines: Vec<String> = pairs.iter().map(|pair| pair.join(" ")).collect();
    let input = lines.join("\n") + "\n";
    let args = [
        "merge-tree",
        "--write-tree",
        "--no-messages",
        "--name-only",
        "--stdin",
    ];
    // Git takes a file into a folder that the other side moved; the worker of the lane does that.
    let args = [&["-c", "merge.directoryRenames=false"][..], &args].concat();
    let (_, printed) = run_git_with(folder, &args, input.as_bytes());
    let words: Vec<&str> = printed.split('\0').collect();
    let is_tree = |word: &str| word.len() == 40 && word.bytes().all(|c| c.is_ascii_hexdigit());
    let merges = words.windows(2).filter(|pair| is_tree(pair[1]));
    merges
        .map(|pair| (pair[0].trim() == "1").then(|| pair[1].to_owned()))
        .collect()
}

fn tree_of(repo: &Repository, commit: &Oid) -> String {
    let commit = repo.find_commit(commit.0.parse().unwrap()).unwrap();
    commit.tree_id().to_string()
}

/// So many random pairs of histories, merged by ralph and by git.
fn compare(cases: usize) {
    let workspace = tempfile::tempdir().unwrap();
    let folder = workspace.path().join("src/a");
    let repo = Repository::init(&folder).unwrap();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let edits = || proptest::collection::vec(edit(), 1..7);
    let strategy = (edits(), edits(), edits());
    let mut pairs = Vec::new();
    for _ in 0..cases {
        let (first, ours, theirs) = strategy.new_tree(&mut runner).unwrap().current();
        let mut base = first_tree();
        for edit in &first {
            perform(&mut base, edit);
        }
        let root = commit(&repo, &base, &[]);
        let sides = [ours, theirs].map(|edits| {
            let mut side = base.clone();
            for edit in &edits {
                perform(&mut side, edit);
            }
            commit(&repo, &side, &[&root])
        });
        if sides[0] != sides[1] {
            pairs.push(sides);
        }
    }
    let git = merge_trees(&folder, &pairs);
    assert_eq!(git.len(), pairs.len());
    let kinds = Classifier::new(&[], &[], &[]).unwrap();
    let patterns = ["src/*".to_owned()];
    let root = workspace.path();
    let mut repositories =
        Repositories::discover_packages(root, root, &patterns, false, kinds).unwrap();
    let (mut same, mut conflicts, mut stricter, mut laxer) = (0, 0, 0, 0);
    for ([ours, theirs], git) in pairs.iter().zip(git) {
        let ids = [ours, theirs].map(|id| Oid(id.clone()));
        let merge = |repositories: &mut Repositories| {
            repositories.merge("a", [&ids[0], &ids[1]], "m").unwrap()
        };
        let ralph = match merge(&mut repositories) {
            Merge::Commit(commit) => {
                // A second try makes the same commit.
                assert_eq!(merge(&mut repositories), Merge::Commit(commit.clone()));
                Some(tree_of(&repo, &commit))
            }
            Merge::Contained => Some(tree_of(&repo, &ids[0])),
            Merge::Conflicts(paths) => {
                assert!(!paths.is_empty());
                None
            }
            Merge::Refused(why) => panic!("{why}"),
        };
        match (ralph, git) {
            (Some(ralph), Some(git)) => {
                assert_eq!(ralph, git, "{ours} {theirs}");
                same += 1;
            }
            (None, None) => conflicts += 1,
            (None, Some(_)) => stricter += 1,
            (Some(_), None) => laxer += 1,
        }
    }
    println!("{same} same, {conflicts} conflicts, {stricter} stricter, {laxer} laxer");
    assert!(same > cases / 4 && conflicts > cases / 20);
    assert!(laxer * 50 <= cases, "{laxer} conflicts of git were merged");
    assert!(
        stricter * 20 <= cases,
        "{stricter} merges of git were conflicts"
    );
}
