//! Journals of ralph 0.1.0 in which gates ran before their turn, in parallel with the reviewers.
//!
//! They stay readable, and their runs continue.

use super::project::Project;
use ralph::engine::{Fault, FaultKind, Places, Replay, read_journal};
use ralph::machine::state::{Phase, State};
use ralph::machine::stop::StopReason;
use ralph::report::replay::Grade;
use ralph::sys::disk::RealDisk;
use ralph::task::{Grammar, TaskFile};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/journal-0.1.0")
        .join(name)
}

fn journal(name: &str) -> Vec<String> {
    let text = fs_err::read_to_string(fixture(name).join("journal.jsonl")).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn kinds(records: &[String]) -> Vec<String> {
    let kind = |line: &String| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["r"]["e"]["kind"].clone()
    };
    records
        .iter()
        .map(|line| kind(line).as_str().unwrap().to_owned())
        .collect()
}

fn fold(records: &[String]) -> State {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_owned();
    let places = Places {
        spec: workspace.clone(),
        workspace,
    };
    fs_err::create_dir_all(places.state()).unwrap();
    fs_err::write(places.journal(), records.concat()).unwrap();
    read_journal(&RealDisk::new(), &places)
        .unwrap_or_else(|fault| panic!("{fault} {:?}", kinds(records)))
}

/// `pending`: stopped before the gate's turn with a known verdict. `served`: the verdict was used. `meddled`: the
/// gate ticked boxes while reviewers worked, which were restored after a survey.
#[test]
fn a_journal_with_gates_before_their_turn_is_folded_to_the_boxes_of_its_run() {
    for (name, stop) in [
        ("pending", StopReason::Iterations { count: 3 }),
        ("served", StopReason::AllDone),
        (
            "meddled",
            StopReason::GateError {
                gate: "1.PITEST".into(),
                why: String::new(),
                hint: String::new(),
            },
        ),
    ] {
        let records = journal(name);
        let kinds = kinds(&records);
        assert!(
            kinds.iter().any(|kind| kind == "gate-judged-ahead"),
            "{name}"
        );
        let put_back = kinds
            .windows(2)
            .any(|pair| pair == ["surveyed", "tasks-restored"]);
        assert_eq!(put_back, name == "meddled");
        // The run may have been killed at any record.
        for end in 0..records.len() {
            fold(&records[..end]);
        }
        let state = fold(&records);
        let Phase::Stopped(end) = &state.phase else {
            panic!("{name}: {:?}", state.phase)
        };
        assert_eq!(
            std::mem::discriminant(end),
            std::mem::discriminant(&stop),
            "{name}: {end}"
        );
        let tasks = fs_err::read(fixture(name).join("tasks.md")).unwrap();
        let written = TaskFile::parse(tasks, &Grammar::default()).rows();
        let book = state.specs.values().next().unwrap();
        for row in written {
            assert_eq!(
                book.is_done(&row.key),
                row.mark.is_done(),
                "{name}: {}",
                row.key
            );
        }
    }
}

/// Creates the commits of the journal again.
fn commit(project: &Project, path: &str, text: &str, who: (&str, &str), message: &str) {
    project.write(&format!("src/app/{path}"), text);
    project.git("src/app", &["add", "--all"]);
    let mut git = project.program("git");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), who.0)
            .env(format!("GIT_{role}_EMAIL"), who.1);
        git.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    git.args(["commit", "--quiet", "--message", message])
        .current_dir(project.path("src/app"));
    Project::finish(git).code(0);
}

#[test]
fn a_run_that_ended_before_the_gates_turn_goes_on_with_that_gate() {
    let project = Project::empty();
    project.config("");
    project.agent("");
    fs_err::create_dir_all(project.path("src/app")).unwrap();
    project.git("src/app", &["init", "--quiet", "--initial-branch", "main"]);
    commit(
        &project,
        "README.md",
        "a package\n",
        ("Test", "t@example.org"),
        "start",
    );
    commit(
        &project,
        "src/main/1..txt",
        "1. 1\n",
        ("Agent", "a@example.org"),
        "1. 1",
    );
    fs_err::create_dir_all(project.path(".ralph/state")).unwrap();
    for entry in fs_err::read_dir(fixture("pending")).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap().to_owned();
        let to = if name == "tasks.md" {
            name
        } else {
            format!(".ralph/state/{name}")
        };
        fs_err::copy(&from, project.path(to)).unwrap();
    }
    assert!(
        journal("pending").concat().contains(&project.head()),
        "the same commits as in the journal"
    );

    let status = project.ralph(&["status"]).code(0).out;
    assert!(status.contains("1.PITEST"), "{status}");
    project.ralph(&["run"]).code(0);
    let tasks = fs_err::read_to_string(fixture("pending").join("tasks.md")).unwrap();
    assert_eq!(project.read("tasks.md"), tasks.replace("[ ]", "[x]"));
    let entry = project.entry(4);
    assert_eq!(entry.task, "1.PITEST");
    assert!(entry.headline.starts_with("PITEST SKIP"), "{entry:?}");
    assert!(
        project.has(".ralph/state/iter-4/gate"),
        "it ran, in its turn"
    );
}

#[test]
fn journals_of_every_format_are_decided_again_as_they_were() {
    for name in ["pending", "served", "meddled"] {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().to_owned();
        let places = Places {
            spec: workspace.clone(),
            workspace,
        };
        fs_err::create_dir_all(places.state()).unwrap();
        for file in ["journal.jsonl", "tasks.md"] {
            let to = if file == "tasks.md" {
                places.tasks()
            } else {
                places.journal()
            };
            fs_err::copy(fixture(name).join(file), to).unwrap();
        }
        let none = Fault::new(FaultKind::Unknown, "no repository", "");
        let found = Replay::new(
            &RealDisk::new(),
            &places,
            &Grammar::default().into(),
            Err(none),
        )
        .run()
        .unwrap()
        .found;
        let differs = found
            .findings
            .iter()
            .filter(|finding| finding.kind == Grade::Differs);
        // These journals have no progress.txt.
        let others: Vec<String> = differs
            .map(ToString::to_string)
            .filter(|told| !told.contains("is not in progress.txt"))
            .collect();
        assert!(others.is_empty(), "{name}: {others:#?}");
        assert_eq!(found.records, journal(name).len() as u64);
    }
}
