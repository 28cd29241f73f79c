//! `ralph lanes take`: bundles of runs elsewhere, honest and hostile.

use super::lanes::{agents, assert_sound, forge, lanes};
use super::project::{Done, Project};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Copies the workspace to `../NAME`, as a job of CI would check it out.
fn copy(project: &Project, name: &str) -> PathBuf {
    let to = project.path("..").join(name);
    run(
        project,
        "cp",
        &["-a", ".", to.to_str().unwrap()],
        &project.path(""),
    );
    to
}

#[track_caller]
fn run(project: &Project, program: &str, args: &[&str], folder: &Path) -> String {
    let mut command = project.program(program);
    command.args(args).current_dir(folder);
    let done = Project::finish(command);
    assert_eq!(done.code, 0, "{program} {args:?}: {}{}", done.out, done.err);
    done.out.trim().to_owned()
}

fn ralph(project: &Project, folder: &Path, args: &[&str]) -> Done {
    let mut command = project.command(args);
    command.current_dir(folder);
    Project::finish(command)
}

/// Does these tasks in a copy, and returns the bundle of that run.
fn elsewhere(project: &Project, name: &str, ids: &str) -> PathBuf {
    let folder = copy(project, name);
    ralph(project, &folder, &["run", "--only", ids]).code(0);
    pack(project, &folder)
}

/// Writes the bundle of the run in a folder next to it.
fn pack(project: &Project, folder: &Path) -> PathBuf {
    let file = folder.with_extension("tar");
    ralph(project, folder, &["bundle", file.to_str().unwrap()]).code(0);
    file
}

#[track_caller]
fn take(project: &Project, files: &[&Path]) -> Done {
    let files = files.iter().map(|file| file.to_str().unwrap());
    let args: Vec<&str> = ["lanes", "take"].into_iter().chain(files).collect();
    project.ralph(&args)
}

#[test]
fn two_honest_bundles_are_merged_and_judged_in_order() {
    let tasks = "\
- [ ] 1.TEST-FIRST t
- [ ] 1. One
- [ ] 2. Two
- [ ] 2.REQ-CHECK r
- [ ] 2.LINT g
- [ ] 3. Three
";
    let project = Project::new(tasks);
    project.config("gates:\n  LINT: {run: ['true']}\n");
    let one = elsewhere(&project, "one", "1");
    let two = copy(&project, "two");
    // Its settings and template judge nothing here.
    let config =
        "agents:\n  default: {command: [sh, agent.sh]}\ngates:\n  LINT: {run: ['false']}\n";
    fs_err::write(two.join(".ralph/config.yaml"), config).unwrap();
    ralph(
        &project,
        &two,
        &["run", "--only", "2", "--max-iterations", "2"],
    )
    .code(5);
    let two = pack(&project, &two);
    let done = take(&project, &[&one, &two]).code(0);
    assert!(done.out.contains("lane 1: task 1 ("), "{}", done.out);
    let lane = lanes(&project).join("2");
    let mut there = Vec::new();
    for folder in ["", ".ralph", ".ralph/state", "src", "src/app"] {
        let entries = fs_err::read_dir(lane.join(folder)).unwrap();
        there.extend(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()));
    }
    there.sort();
    assert_eq!(
        there,
        [".git", ".ralph", "app", "journal.jsonl", "src", "state"]
    );
    let list = project.ralph(&["lanes"]).code(0);
    assert!(
        list.out
            .contains("lane 1: task 1 taken, offers 1.TEST-FIRST, task 1\n"),
        "{}",
        list.out
    );
    assert!(
        list.out.contains("lane 2: task 2 taken, offers task 2\n"),
        "{}",
        list.out
    );
    project.ralph(&["run"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:1", "lane:2", "", "", ""]);
    let log = project.git("src/app", &["log", "--first-parent", "--format=%s"]);
    assert!(log.contains("2. from lane 2"), "{log}");
    assert_eq!(fs_err::read_dir(lanes(&project)).unwrap().count(), 0);
    // Work of a task that is done is not taken.
    let done = take(&project, &[&one]).code(0);
    assert!(done.err.contains("task 1 is done."), "{}", done.err);
    assert!(done.out.contains("nothing to take"), "{}", done.out);
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_bundle_and_lanes_here_do_not_do_one_task_twice() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n- [ ] 3. [P] Three\n- [ ] 4. [P] Four\n";
    let project = Project::new(tasks);
    let both = elsewhere(&project, "both", "2,3");
    let taken = take(&project, &[&both]).code(0);
    assert!(
        taken.out.contains("lane 1: task 2, task 3 ("),
        "{}",
        taken.out
    );
    // A later bundle replaces an earlier one, family by family.
    let two = elsewhere(&project, "two", "2");
    take(&project, &[&two]).code(0);
    let list = project.ralph(&["lanes"]).code(0);
    assert!(list.out.contains("lane 1: task 3 taken"), "{}", list.out);
    assert!(list.out.contains("lane 2: task 2 taken"), "{}", list.out);
    take(&project, &[&both]).code(0);
    let list = project.ralph(&["lanes"]).code(0);
    assert!(
        list.out.starts_with("lane 3: task 2, task 3 taken"),
        "{}",
        list.out
    );
    let matrix = project.ralph(&["lanes", "--matrix", "github"]).code(0);
    assert_eq!(matrix.out, "{\"lane\":[\"1.\",\"4.\"]}\n");
    let done = project.ralph(&["run", "--lanes", "2"]).code(0);
    assert!(done.err.contains("lane 2: task 4"), "{}", done.err);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:3", "lane:3", "lane:2"]);
}

#[test]
fn a_task_that_a_lane_here_does_is_not_taken() {
    let tasks = "- [ ] 1. [P] One\n- [ ] 2. [P] Two\n";
    let project = Project::new(tasks);
    let two = elsewhere(&project, "two", "2");
    let args = ["run", "--lanes", "2", "--max-iterations", "1"];
    project.ralph(&args).code(5);
    let taken = take(&project, &[&two]).code(0);
    assert!(
        taken.err.contains("task 2 is in lane 2 already."),
        "{}",
        taken.err
    );
    project.ralph(&["run", "--lanes", "2"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", "lane:2"]);
}

#[test]
fn a_bundle_of_another_text_or_without_work_or_commits_is_not_taken() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    let one = elsewhere(&project, "one", "1");
    let idle = copy(&project, "idle");
    fs_err::write(idle.join("agent.sh"), "cat > /dev/null\n").unwrap();
    ralph(
        &project,
        &idle,
        &["run", "--only", "2", "--max-iterations", "1"],
    )
    .code(5);
    let idle = pack(&project, &idle);
    let bare = project.path("../bare.tar");
    copy_parts(&one, &bare, |part| !part.starts_with("git"))
        .finish()
        .unwrap();
    let done = take(&project, &[&idle, &bare]).code(1);
    assert!(
        done.err.contains("It has no accepted work for tasks.md."),
        "{}",
        done.err
    );
    assert!(
        done.err.contains("It has no commits of the package app."),
        "{}",
        done.err
    );
    project.write("tasks.md", "- [ ] 1. One more\n- [ ] 2. Two\n");
    let done = take(&project, &[&one]).code(0);
    assert!(
        done.err.contains("task 1 had another text there."),
        "{}",
        done.err
    );
    // A text that changes later has the same result, and only for its task.
    let both = elsewhere(&project, "both", "1,2");
    take(&project, &[&both]).code(0);
    let tasks = "- [ ] 1. One more\n- [ ] 2. Two more\n";
    project.write("tasks.md", tasks);
    let list = project.ralph(&["lanes"]).code(0);
    assert!(list.out.contains("taken, offers task 1\n"), "{}", list.out);
    project.ralph(&["run"]).code(0);
    assert_sound(&project, tasks);
    assert_eq!(agents(&project), ["lane:1", ""]);
}

/// Copies parts of a bundle into a new archive.
fn copy_parts(bundle: &Path, to: &Path, is_copied: impl Fn(&Path) -> bool) -> tar::Builder<File> {
    let mut from = tar::Archive::new(fs_err::File::open(bundle).unwrap());
    let mut tar = tar::Builder::new(File::create(to).unwrap());
    for entry in from.entries().unwrap() {
        let entry = entry.unwrap();
        if is_copied(&entry.path().unwrap()) {
            tar.append(&entry.header().clone(), entry).unwrap();
        }
    }
    tar
}

/// Writes a copy of a bundle, with one more part.
fn with_part(bundle: &Path, to: &Path, add: impl FnOnce(&mut tar::Builder<File>)) {
    let mut tar = copy_parts(bundle, to, |_| true);
    add(&mut tar);
    tar.finish().unwrap();
}

/// Appends a part with this name as it is, which the library would refuse.
fn append(tar: &mut tar::Builder<File>, name: &str, kind: tar::EntryType, size: u64, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    if kind == tar::EntryType::Symlink {
        header.set_link_name("/etc").unwrap();
    }
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

#[test]
fn a_hostile_archive_is_refused_and_leaves_nothing() {
    let project = Project::new("- [ ] 1. One\n");
    let one = elsewhere(&project, "one", "1");
    let folder = project.path("../files");
    fs_err::create_dir_all(&folder).unwrap();
    let (file, link) = (tar::EntryType::Regular, tar::EntryType::Symlink);
    for (name, kind, size) in [
        ("workspace/../../../escaped", file, 1),
        ("/tmp/escaped", file, 1),
        ("workspace/src/app/.git/hooks/post-checkout", file, 1),
        ("workspace/src/app/.GIT/config", file, 1),
        ("git/src/app/.git/repository.bundle", file, 1),
        ("workspace/link", link, 0),
        ("workspace/hard", tar::EntryType::Link, 0),
        ("workspace/pipe", tar::EntryType::Fifo, 0),
        ("workspace/disk", tar::EntryType::Block, 0),
        ("workspace/sparse", tar::EntryType::GNUSparse, 0),
        ("git/../escaped", file, 1),
        ("workspace/./../../escaped", file, 1),
        ("", file, 1),
        ("elsewhere/file", file, 1),
        ("git/src/app/remote.txt", file, 1),
        ("workspace/large", file, 3 << 30),
    ] {
        let hostile = folder.join("hostile.tar");
        let bytes = vec![b'x'; usize::try_from(size.min(1)).unwrap()];
        with_part(&one, &hostile, |tar| append(tar, name, kind, size, &bytes));
        let done = take(&project, &[&hostile]).code(1);
        assert!(
            done.err.contains("This is not a bundle"),
            "{name}: {}",
            done.err
        );
        assert!(done.err.contains("hostile.tar"), "{name}: {}", done.err);
        let left = fs_err::read_dir(lanes(&project)).unwrap().count();
        assert_eq!(left, 0, "{name}");
    }
    fs_err::write(folder.join("text.tar"), "no archive").unwrap();
    run(&project, "mkfifo", &["pipe.tar"], &folder);
    for (name, words) in [
        ("text.tar", "it is not a tar archive"),
        ("none.tar", "There is no file"),
        ("pipe.tar", "pipe.tar"),
    ] {
        let done = take(&project, &[&folder.join(name)]);
        assert!(
            done.code != 0 && done.err.contains(words),
            "{name}: {} {}",
            done.code,
            done.err
        );
    }
    assert!(!project.has("../escaped") && !project.has("../../escaped"));
    // A killed process left the parts of a lane without a record.
    let there = lanes(&project);
    for part in ["1/src", ".new-1/workspace"] {
        fs_err::create_dir_all(there.join(part)).unwrap();
    }
    let taken = take(&project, &[&one]).code(0);
    assert!(taken.out.contains("lane 1: task 1 ("), "{}", taken.out);
    assert!(!there.join(".new-1").exists());
    // An agent cannot take one.
    let mut agent = project.command(&["lanes", "take", one.to_str().unwrap()]);
    agent.env("RALPH_AGENT", "1");
    let refused = Project::finish(agent).code(2);
    assert!(refused.err.contains("only a person may"), "{}", refused.err);
}

#[test]
fn no_commit_of_a_forged_bundle_is_accepted() {
    use std::fmt::Write as _;
    let mut tasks = String::new();
    for id in 1..=7 {
        writeln!(tasks, "- [ ] {id}. Task {id}").unwrap();
    }
    let project = Project::new(&tasks);
    let work = |id: u32| {
        let folder = copy(&project, &format!("lane{id}"));
        ralph(&project, &folder, &["run", "--only", &id.to_string()]).code(0);
        folder
    };
    let app = |folder: &Path| folder.join("src/app");
    let git = |folder: &Path, args: &[&str]| run(&project, "git", args, &app(folder));
    let head = |folder: &Path| git(folder, &["rev-parse", "HEAD"]);
    // A bundle in whose journal HEAD is another commit.
    let forged = |folder: &Path, was: &str| {
        forge(folder, was, &head(folder));
        pack(&project, folder)
    };
    // 1: a history of its own.
    let folder = work(1);
    let was = head(&folder);
    git(&folder, &["checkout", "-q", "--orphan", "other"]);
    git(&folder, &["commit", "-q", "-m", "root"]);
    let orphan = forged(&folder, &was);
    // 2: a protected file.
    let folder = work(2);
    let was = head(&folder);
    fs_err::write(app(&folder).join("CLAUDE.md"), "obey").unwrap();
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "instructions"]);
    let protected = forged(&folder, &was);
    // 3: a file of git's own.
    let folder = work(3);
    let was = head(&folder);
    let blob = git(&folder, &["hash-object", "-w", "README.md"]);
    let config = tree(&project, &app(&folder), &[("100644", "config", &blob)]);
    let hostile = tree(&project, &app(&folder), &[("40000", ".git", &config)]);
    let commit = git(&folder, &["commit-tree", "-m", "x", "-p", "HEAD", &hostile]);
    git(&folder, &["update-ref", "HEAD", &commit]);
    let reserved = forged(&folder, &was);
    // 4: a text in place of a journal. 5: one with a changed byte.
    let folder = work(4);
    let garbage = pack(&project, &folder);
    let garbage = replace_journal(&garbage, &folder.with_extension("new.tar"), |bytes| {
        [&b"{\"kind\":\"resumed\"}\n"[..], &bytes].concat()
    });
    let changed = pack(&project, &work(5));
    let changed = replace_journal(&changed, &project.path("../changed.tar"), |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        text.replacen("app", "apq", 1).into_bytes()
    });
    // 6: a journal that names a commit of another bundle.
    let folder = work(6);
    let missing = pack(&project, &folder);
    let was = head(&folder);
    let lie = copy(&project, "lie");
    fs_err::create_dir_all(lie.join(".ralph/state")).unwrap();
    fs_err::copy(
        folder.join(".ralph/state/journal.jsonl"),
        lie.join(".ralph/state/journal.jsonl"),
    )
    .unwrap();
    forge(&lie, &was, &"1".repeat(40));
    let lie = fs_err::read(lie.join(".ralph/state/journal.jsonl")).unwrap();
    let missing = replace_journal(&missing, &project.path("../missing.tar"), |_| lie);
    // 7: an honest one.
    let honest = elsewhere(&project, "honest", "7");

    let before = project.git("src/app", &["for-each-ref"]);
    for (bundle, words) in [
        (&orphan, "begins another history"),
        (&garbage, "Its journal is not used"),
        (&changed, "Its journal is not used"),
        (&missing, "read the commit 1111111111"),
    ] {
        let done = take(&project, &[bundle]).code(1);
        assert!(done.err.contains(words), "{words}: {}", done.err);
        assert_eq!(project.git("src/app", &["for-each-ref"]), before);
    }
    // Main sees these when it merges.
    let done = take(&project, &[&protected, &reserved, &honest]).code(0);
    assert!(done.out.contains("lane 3: task 7 ("), "{}", done.out);
    let list = project.ralph(&["lanes"]).code(0);
    assert!(
        list.out.contains("changed protected files: CLAUDE.md"),
        "{}",
        list.out
    );
    assert!(list.out.contains("git reserves its name"), "{}", list.out);
    project.ralph(&["run"]).code(0);
    assert_sound(&project, &tasks);
    assert_eq!(agents(&project), ["", "", "", "", "", "", "lane:3"]);
    assert!(!project.has("src/app/CLAUDE.md"));
}

/// Writes a tree that git itself would refuse to make.
fn tree(project: &Project, repository: &Path, entries: &[(&str, &str, &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend(format!("{mode} {name}\0").into_bytes());
        let digits = id.as_bytes().chunks(2);
        bytes.extend(
            digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()),
        );
    }
    let file = repository.join(".git/tree");
    fs_err::write(&file, bytes).unwrap();
    let args = [
        "hash-object",
        "-w",
        "-t",
        "tree",
        "--literally",
        ".git/tree",
    ];
    run(project, "git", &args, repository)
}

/// Writes a copy of a bundle with another journal.
fn replace_journal(bundle: &Path, to: &Path, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> PathBuf {
    use std::io::Read as _;
    let mut from = tar::Archive::new(fs_err::File::open(bundle).unwrap());
    let mut tar = tar::Builder::new(File::create(to).unwrap());
    let mut change = Some(change);
    for entry in from.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut header = entry.header().clone();
        let is_journal = entry.path().unwrap().ends_with("journal.jsonl");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if is_journal && let Some(change) = change.take() {
            bytes = change(bytes);
        }
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        tar.append(&header, &bytes[..]).unwrap();
    }
    tar.finish().unwrap();
    to.to_owned()
}
