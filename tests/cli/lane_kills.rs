//! Main, killed at its own writes while it takes the work of a lane: before, in the middle of and after each of them,
//! between two packages, inside recovery too. The lane's work is taken once, and the end is the same.

use super::kill_matrix::{Kill, asked, life_of};
use super::project::Project;
use crate::support::needs::tests;
use std::path::PathBuf;
use std::sync::OnceLock;

tests! {
    compiler: [
        killed_while_it_takes_the_work_of_a_lane_main_takes_it_once,
    ]
    compiler deep: [
        killed_at_any_write_of_a_play_main_takes_it_once,
    ]
}

const TASKS: &str = "- [ ] 1. [P] One\n- [ ] 2.TEST-FIRST t\n- [ ] 2. [P] Two\n";

const AGENT: &str = r#"*)
    case $RALPH_TASK in
    1.) until grep -q 'has_ended":true' ../2.json; do sleep 0.02; done ;;
    esac
    case $RALPH_STAGE in
    TEST-FIRST) file=src/test/2.txt ;;
    *) file=src/main/${RALPH_TASK}txt ;;
    esac
    for package in app lib; do commit $package $file; done ;;"#;

/// The folder of a project's lanes.
fn lanes(project: &Project) -> PathBuf {
    let workspace = project.path("").canonicalize().unwrap();
    let name = ralph::source::digest(workspace.as_os_str().as_encoded_bytes());
    project.path("../home/.cache/ralph/lanes").join(name)
}

/// A workspace in which lane 2 has ended and task 1 is done.
fn project() -> Project {
    static FIRST: OnceLock<Project> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let project = Project::new(TASKS);
        project.package("src/lib");
        project.agent(AGENT);
        project.ralph(&["run", "--lanes", "2", "--once"]).code(5);
        assert!(lanes(&project).join("2/tasks.md").is_file());
        project
    });
    let project = Project::empty();
    for folder in ["", "../home"] {
        let mut copy = project.program("cp");
        copy.arg("-a")
            .arg(first.path(folder).join("."))
            .arg(project.path(folder));
        assert_eq!(Project::finish(copy).code, 0);
    }
    let was = lanes(first).file_name().unwrap().to_owned();
    fs_err::rename(lanes(&project).with_file_name(was), lanes(&project)).unwrap();
    project
}

const RUN: [&str; 3] = ["run", "--lanes", "2"];

fn assert_complete(project: &Project, what: &str) {
    project.ralph(&RUN).code(0);
    assert_eq!(
        project.read("tasks.md"),
        TASKS.replace("[ ]", "[x]"),
        "{what}"
    );
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "2.TEST-FIRST=ACCEPTED", "2.=ACCEPTED"],
        "{what}"
    );
    let entries = project.entries();
    for entry in &entries[1..] {
        assert!(
            entry.lines.contains("The agent was `lane:2`"),
            "{what}: {entry:?}"
        );
    }
    for package in ["src/app", "src/lib"] {
        assert_eq!(
            project.git(package, &["status", "--porcelain"]),
            "",
            "{what}"
        );
        let merges = project.git(package, &["log", "--first-parent", "--format=%s"]);
        assert_eq!(
            merges, "2. from lane 2\n2.TEST-FIRST from lane 2\n1. 1\nstart",
            "{what}"
        );
    }
    assert_eq!(project.processes(), [0; 0], "{what}");
    project.ralph(&["replay"]).code(0);
}

fn killed_while_it_takes_the_work_of_a_lane_main_takes_it_once() {
    kill_everywhere(16);
}

fn killed_at_any_write_of_a_play_main_takes_it_once() {
    kill_everywhere(asked("RALPH_KILLS", 100));
}

/// Kills runs and their recovery so many times, spread over all writes.
fn kill_everywhere(wanted: u64) {
    let undisturbed = project();
    assert!(life_of(&undisturbed, &RUN, Kill { at: 0, how: 0 }));
    let writes: u64 = undisturbed.read("../count").parse().unwrap();
    assert!(writes > 100, "{writes} writes");
    assert_complete(&undisturbed, "undisturbed");
    let points = writes * 3;
    let (mut made, mut row) = (0, 0);
    while made < wanted {
        // A prime step meets all points in the end.
        let point = row * 61 % points;
        let kill = Kill {
            at: 1 + point / 3,
            how: point % 3,
        };
        let again = Kill {
            at: 1 + row * 7 % 40,
            how: row % 3,
        };
        let project = project();
        assert!(
            !life_of(&project, &RUN, kill),
            "{kill:?} of {writes} writes"
        );
        made += 1 + u64::from(!life_of(&project, &RUN, again));
        assert_complete(&project, &format!("{kill:?}, {again:?}"));
        row += 1;
    }
}
