//! `ralph audit --past`: boxes that a history ticked, judged by a gate.

use super::project::Project;

const LINT: &str =
    "gates:\n  LINT: {run: [sh, -c, 'test ! -e src/main/bad.txt || { echo bad line; exit 1; }']}\n";
const TASKS: &str = "- [x] 0. Before\n- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. Three\n- [ ] 4. Four\n";

/// Returns a repository with ticks: 1. true, 2. untrue, 3. true again, 4. without work, 0. before all.
fn history() -> Project {
    let project = Project::empty();
    project.write(".ralph/config.yaml", LINT);
    project.write(".gitignore", ".ralph/\n");
    project.write("src/main/start.txt", "start\n");
    project.write("tasks.md", TASKS);
    project.git("", &["init", "--quiet", "--initial-branch", "main"]);
    commit(&project, "plan");
    project.write("src/main/one.txt", "one\n");
    commit(&project, "work for one");
    tick(&project, "1.");
    commit(&project, "one is done");
    project.git("", &["tag", "v1"]);
    project.write("src/main/bad.txt", "bad\n");
    tick(&project, "2.");
    commit(&project, "two is done \u{1b}[31m");
    project.git("", &["tag", "v2"]);
    fs_err::remove_file(project.path("src/main/bad.txt")).unwrap();
    commit(&project, "clean up");
    tick(&project, "3.");
    commit(&project, "three is done");
    project.git("", &["tag", "-a", "v3", "-m", "three"]);
    tick(&project, "4.");
    commit(&project, "four is done");
    project
}

fn commit(project: &Project, message: &str) {
    project.git("", &["add", "--all"]);
    project.git("", &["commit", "--quiet", "--message", message]);
}

fn tick(project: &Project, id: &str) {
    let text = project
        .read("tasks.md")
        .replace(&format!("[ ] {id}"), &format!("[x] {id}"));
    project.write("tasks.md", text);
}

/// Returns name and verdict of each box.
fn verdicts(facts: &serde_json::Value) -> Vec<(String, String)> {
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
    facts["boxes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(it, "task"), text(it, "verdict")))
        .collect()
}

fn expected(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter()
        .map(|(task, verdict)| ((*task).to_owned(), (*verdict).to_owned()))
        .collect()
}

const OF_BOXES: &[(&str, &str)] = &[
    ("0.", "SKIP"),
    ("1.", "PASS"),
    ("2.", "FAIL"),
    ("3.", "PASS"),
    ("4.", "SKIP"),
];

#[test]
fn each_tick_of_a_history_is_judged_on_the_commits_behind_it_and_nothing_is_written() {
    let project = history();
    let before = project.files();
    let done = project
        .ralph(&["audit", "--trust", "--past", "--gate", "LINT"])
        .code(1);
    assert!(
        done.out
            .ends_with("5 boxes ticked, 1 untrue; 2 had nothing to judge\n"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("untrue ") && done.out.contains("task 2 Two: LINT FAIL"),
        "{}",
        done.out
    );
    assert!(!done.out.contains('\u{1b}'), "{}", done.out);
    assert!(
        done.err.contains("[1/3] task 1\n") && done.err.contains("[3/3] task 3, about "),
        "{}",
        done.err
    );
    assert_eq!(project.files(), before, "nothing is written");

    let facts = project
        .ralph(&["audit", "--trust", "--past", "--gate", "LINT", "--json"])
        .code(1)
        .json()
        .remove(0);
    assert_eq!(verdicts(&facts), expected(OF_BOXES));
    assert_eq!(facts["audit"], "untrue");
    assert_eq!(facts["boxes"][1]["changed"], "1 file changed in 2 commits");
    let since = [
        "audit", "--trust", "--past", "--gate", "LINT", "--since", "v2", "--json",
    ];
    let facts = project.ralph(&since).code(0).json().remove(0);
    assert_eq!(
        verdicts(&facts)[3..],
        expected(&[("3.", "PASS"), ("4.", "SKIP")])
    );
}

#[test]
fn commits_and_tags_are_boxes_where_it_is_asked_for() {
    let project = history();
    let by = |what: &str, code: i32| {
        let args = [
            "audit", "--trust", "--past", "--by", what, "--gate", "LINT", "--json",
        ];
        verdicts(&project.ralph(&args).code(code).json()[0])
    };
    assert_eq!(by("tag", 1), expected(&[("v2", "FAIL"), ("v3", "PASS")]));
    let verdicts: Vec<String> = by("commit", 1)
        .into_iter()
        .map(|(_, verdict)| verdict)
        .collect();
    assert_eq!(verdicts, ["PASS", "SKIP", "FAIL", "PASS", "SKIP", "SKIP"]);
}

#[test]
fn parts_are_joined_and_a_missing_one_could_not_be_told() {
    let project = history();
    let audit = |more: &[&str], code: i32| {
        let args = [
            &["audit", "--trust", "--past", "--gate", "LINT", "--json"],
            more,
        ]
        .concat();
        let mut facts = project.ralph(&args).code(code).json().remove(0);
        // Durations differ.
        facts["boxes"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|it| it["millis"] = 0.into());
        facts
    };
    let whole = audit(&[], 1);
    for (part, file, code) in [("1/2", "parts/1.json", 0), ("2/2", "parts/2.json", 1)] {
        project.write(
            &format!(".ralph/{file}"),
            audit(&["--shard", part], code).to_string(),
        );
    }
    let parts = ".ralph/parts";
    assert_eq!(audit(&["--merge", parts], 1), whole);
    let second = project.read(".ralph/parts/2.json");
    for (from, to, remark) in [
        (
            "\"gate\":\"LINT\"",
            "\"gate\":\"OTHER\"",
            "Part 2/2 is of an audit with another --gate or --by.",
        ),
        (
            "\"boxes\":[",
            "\"boxes\":[7,",
            "The boxes of part 2/2 cannot be read.",
        ),
    ] {
        assert!(second.contains(from), "{second}");
        project.write(".ralph/parts/2.json", second.replace(from, to));
        let facts = audit(&["--merge", parts], 3);
        assert_eq!(
            (facts["remarks"][0].as_str(), &facts["untrue"]),
            (Some(remark), &0.into())
        );
    }
    // A part's verdict about a box in the other's share is ignored.
    let (first, fails) = (
        project.read(".ralph/parts/1.json"),
        second.replace("2/2", "1/2"),
    );
    project.write(".ralph/parts/1.json", fails);
    fs_err::remove_file(project.path(".ralph/parts/2.json")).unwrap();
    assert_eq!(audit(&["--merge", parts], 3)["untrue"], 0);
    project.write(".ralph/parts/1.json", first);
    project.write(
        ".ralph/parts/2.json",
        second.replace("\"head\":\"", "\"head\":\"0"),
    );
    let facts = audit(&["--merge", parts], 3);
    assert_eq!(facts["untrue"], 0);
    assert_eq!(
        facts["remarks"][0],
        ".ralph/parts/2.json is no part of this audit."
    );
    let matrix = project.ralph(&[
        "audit", "--trust", "--past", "--gate", "LINT", "--matrix", "github", "--shards", "2",
    ]);
    assert_eq!(
        matrix.code(0).json()[0]["shard"],
        serde_json::json!(["1/2", "2/2"])
    );
}

#[test]
fn the_report_is_a_page_in_which_nothing_of_the_history_is_markup() {
    let project = history();
    tick(&project, "5.");
    project.write(
        "tasks.md",
        project.read("tasks.md") + "- [x] 5. <script>alert(1)</script> | @team\n",
    );
    commit(&project, "<b>bold</b>");
    for file in ["audit.html", "audit.md"] {
        let audit = [
            "audit", "--trust", "--past", "--gate", "LINT", "--output", file,
        ];
        project.ralph(&audit).code(1);
    }
    let (html, md) = (project.read("audit.html"), project.read("audit.md"));
    assert!(
        html.contains("6 boxes ticked, 1 untrue") && html.contains("Untrue"),
        "{html}"
    );
    assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
    assert!(
        md.starts_with("### 6 boxes ticked, 1 untrue; 3 had nothing to judge\n"),
        "{md}"
    );
    assert!(
        md.contains("\n| 2 | Two | LINT FAIL |  |\n") && !md.contains("@team"),
        "{md}"
    );
}

#[test]
fn what_cannot_be_audited_says_why() {
    let project = history();
    let fails = |args: &[&str], code: i32, says: &str| {
        let done = project.ralph(&[&["audit"], args].concat()).code(code);
        assert!(
            done.err.contains(says) && done.err.contains("hint: "),
            "{args:?}: {}",
            done.err
        );
    };
    fails(&["--past", "elsewhere"], 2, "no folder `elsewhere`");
    fails(
        &["--past", "--gate", "NONE"],
        2,
        "The gate `NONE` is not configured.",
    );
    fails(
        &["--past", "--gate", "LINTT"],
        2,
        "hint: did you mean `LINT`?",
    );
    fails(
        &["--past", "--since", "nothing"],
        2,
        "The revision `nothing` is not known here.",
    );
    fails(
        &["--past", "--spec", "docs"],
        3,
        "No commit on the way to HEAD holds the task file.",
    );
    let done = project.ralph(&["audit"]).code(2);
    assert!(done.err.contains("--past"), "{}", done.err);
    // A gate that cannot be run gives no verdict.
    project.write(
        ".ralph/config.yaml",
        "gates:\n  LINT: {run: [no-such-program]}\n",
    );
    let facts = project
        .ralph(&["audit", "--trust", "--past", "--gate", "LINT", "--json"])
        .code(3)
        .json()
        .remove(0);
    assert_eq!(
        (&facts["untrue"], &facts["unknown"]),
        (&0.into(), &3.into())
    );
}

#[test]
fn what_the_audited_repository_configures_runs_only_when_it_is_trusted() {
    let project = history();
    let done = project
        .ralph(&["audit", "--past", "--gate", "LINT"])
        .code(2);
    assert!(
        done.err
            .contains("The gate LINT is a command of this repository's .ralph/config.yaml: sh -c"),
        "{}",
        done.err
    );
    // A gate of ralph takes nothing from there either: no command, no arguments, no variables, no threshold.
    let own = "gates:\n  PITEST: {classpath_command: [touch, ran], threshold: 0, env: ['*']}\n";
    project.write(".ralph/config.yaml", own);
    for gate in ["PITEST", "MUTATION"] {
        let done = project.ralph(&["audit", "--past", "--gate", gate]);
        assert!(
            done.err
                .contains(&format!("note: {gate} judges with the defaults")),
            "{}",
            done.err
        );
        let trusted = project.ralph(&["audit", "--trust", "--past", "--gate", gate]);
        assert!(
            !trusted.err.contains("judges with the defaults"),
            "{}",
            trusted.err
        );
    }
}
