//! `ralph replay`: runs equal their journals from any directory, and changes are named.

use super::chain::{self, rechained};
use super::project::{Project, signal, wait_for};
use ralph::config;
use ralph::engine::{Places, Replay};
use ralph::git::Repositories;
use ralph::machine::event::BUILD;
use ralph::report::replay::{FindingGrade, Replayed};
use ralph::source::Classifier;
use ralph::sys::disk::RealDisk;
use ralph::task::{Grammar, TaskRules};
use serde_json::Value;

pub(super) const JOURNAL: &str = ".ralph/state/journal.jsonl";
const STAGED: &str = "- [ ] 1.TEST-FIRST t\n- [ ] 1. One\n- [ ] 1.REQ-CHECK r\n- [ ] 1.LINT g\n- [ ] 2. Two\n- [ ] FINAL f\n";
/// A gate that fails until the second attempt of `1.` was made.
const GATE: &str = "checks: {green: [sh, -c, 'exit 0']}\ngates:\n  LINT: {run: [sh, -c, 'test $(grep -c . src/main/1.txt) -gt 1']}\n";

/// Returns a run with rework, reviews, a check, a restored tick, and the final report.
pub(super) fn ran() -> Project {
    let project = Project::new(STAGED);
    project.config(GATE);
    project.agent("1./1) tick_all; as_usual ;;");
    project.ralph(&["run"]).code(0);
    project
}

/// Replays without a process.
pub(super) struct Player {
    places: Places,
    rules: TaskRules,
    repositories: Repositories,
}

impl Player {
    pub(super) fn of(project: &Project) -> Self {
        let workspace = project.path("");
        let text = project.read(".ralph/config.yaml");
        let settings = config::parse(&text, &workspace, &[]).unwrap();
        let files = &settings.files;
        let classifier = Classifier::new(&files.test, &files.production, &files.build).unwrap();
        let repositories = Repositories::discover_packages(
            &workspace,
            &workspace,
            &settings.packages,
            settings.packages_given,
            classifier,
        )
        .unwrap();
        let rules = Grammar::new(settings.gates.keys().cloned().collect(), None).into();
        Self {
            places: Places {
                spec: workspace.clone(),
                workspace,
            },
            rules,
            repositories,
        }
    }

    fn play(&mut self) -> Replayed {
        Replay::new(
            &RealDisk::new(),
            &self.places,
            &self.rules,
            Ok(&mut self.repositories),
        )
        .run_replay()
        .unwrap()
        .found
    }

    /// Returns the grade and the places of the findings.
    pub(super) fn told(&mut self) -> (Option<FindingGrade>, Vec<String>) {
        let found = self.play();
        (
            found.worst_grade(),
            found.findings.iter().map(ToString::to_string).collect(),
        )
    }
}

/// Writes a journal of these records, and the matching progress.txt.
pub(super) fn rechain(project: &Project, records: &[Value]) {
    let (journal, progress) = rechained(records, &project.read("progress.txt"));
    project.write(JOURNAL, journal);
    project.write("progress.txt", progress);
}

pub(super) fn records(project: &Project) -> Vec<Value> {
    chain::records(&project.read(JOURNAL))
}

pub(super) fn find(records: &[Value], kind: &str) -> usize {
    records
        .iter()
        .position(|record| record["e"]["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn a_run_with_rework_is_equal_and_each_box_tells_what_was_found_again() {
    let project = ran();
    let before = project.files();
    let junit = ["replay", "--format", "junit", "--output", "/dev/null"];
    assert_eq!(project.ralph(&junit).code(0).out, "");
    let done = project.ralph(&["replay"]).code(0);
    assert!(done.out.contains("Equal"), "{}", done.out);
    let of = |task: &str| {
        done.out
            .lines()
            .find(|line| line.starts_with(&format!("[x] {task} ")))
            .unwrap()
            .to_owned()
    };
    assert!(
        of("task 1").contains("re-checked: commits, decision; as recorded: checks.green"),
        "{}",
        done.out
    );
    assert!(
        of("1.LINT").contains("PASS") && of("1.LINT").ends_with("as recorded: verdict"),
        "{}",
        done.out
    );
    let facts = project
        .ralph(&["replay", "--json"])
        .code(0)
        .json()
        .remove(0);
    assert_eq!(facts["replay"], "equal");
    assert_eq!(facts["records"], project.journal().len());
    assert_eq!(
        facts["gates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|gate| &gate["verdict"])
            .collect::<Vec<_>>(),
        ["FAIL", "PASS"]
    );
    assert_eq!(project.files(), before, "a replay writes nothing");
}

#[test]
fn a_byte_flipped_a_record_cut_or_swapped_is_found_at_its_record() {
    let project = ran();
    let (mut player, whole) = (Player::of(&project), project.read(JOURNAL));
    assert_eq!(player.told(), (None, Vec::new()));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        for place in [0, 6, 80, 147, line.len() - 1] {
            let mut bytes = whole.clone().into_bytes();
            bytes[start + place] ^= 1;
            project.write(JOURNAL, &bytes);
            let (grade, told) = player.told();
            assert!(
                grade.is_some() && told[0].starts_with(&format!("{JOURNAL}:{}: ", at + 1)),
                "{at} {place}: {told:?}"
            );
        }
        start += line.len();
        if at + 1 < lines.len() {
            let mut cut = lines.clone();
            cut.remove(at);
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            for forged in [cut, swapped] {
                project.write(JOURNAL, forged.concat());
                let (grade, told) = player.told();
                assert_eq!(grade, Some(FindingGrade::Differs));
                assert!(
                    told[0].starts_with(&format!("{JOURNAL}:{}: ", at + 1)),
                    "{told:?}"
                );
            }
        }
    }
}

#[test]
fn a_record_cut_out_of_a_chain_made_anew_is_missed() {
    let project = ran();
    let (mut player, all, progress) = (
        Player::of(&project),
        records(&project),
        project.read("progress.txt"),
    );
    for at in 0..all.len() - 1 {
        let mut cut = all.clone();
        cut.remove(at);
        rechain(&project, &cut);
        let (grade, told) = player.told();
        project.write("progress.txt", &progress);
        assert_eq!(grade, Some(FindingGrade::Differs), "{}", all[at]);
        assert!(
            told[0].starts_with(&format!("{JOURNAL}:{}: ", at + 1)),
            "{} {told:?}",
            all[at]["e"]["kind"]
        );
    }
}

/// A change of a record, by its kind, and the text of the finding.
type Forgery = (&'static str, fn(&mut Value), &'static str);

const FORGERIES: &[Forgery] = &[
    (
        "observed",
        |e| e["observation"]["packages"][0]["changes"] = Value::Array(vec![]),
        "packages[0].changes",
    ),
    (
        "observed",
        |e| e["observation"]["packages"][0]["changes"][0]["kind"] = "other".into(),
        "changes[0].kind",
    ),
    (
        "observed",
        |e| e["observation"]["stage_tests"] = 9.into(),
        "stage_tests",
    ),
    (
        "observed",
        |e| e["observation"]["packages"][0]["tests_delta"] = 9.into(),
        "tests_delta",
    ),
    (
        "observed",
        |e| e["observation"]["packages"][0]["head_moved"] = false.into(),
        "head_moved",
    ),
    (
        "observed",
        |e| e["observation"]["family"] = Value::Array(vec![]),
        "family",
    ),
    (
        "gate-ended",
        |e| {
            *e["report"].as_object_mut().unwrap() = serde_json::json!({"verdict": "pass"})
                .as_object()
                .unwrap()
                .clone();
        },
        "should be",
    ),
    (
        "gate-ended",
        |e| e["changes"] = Value::Array(vec![]),
        "the changes",
    ),
    (
        "gate-ended",
        |e| e["left"] = "0".repeat(64).into(),
        "were changed",
    ),
    (
        "gate-ended",
        |e| e["heads"]["app"] = "1".repeat(40).into(),
        "a verdict on app",
    ),
    (
        "checked",
        |e| e["check"] = "red".into(),
        "checks.green in app",
    ),
    (
        "checked",
        |e| e["results"] = Value::Array(vec![]),
        "checks.green in app",
    ),
    (
        "checked",
        |e| e["results"][0]["code"] = 1.into(),
        "should be",
    ),
    (
        "boxes-flipped",
        |e| e["flips"][0][1] = " ".into(),
        "should be 1.TEST-FIRST [x]",
    ),
    (
        "tasks-restored",
        |e| e["tasks"]["marks"] = serde_json::json!([[{"family": "2", "stage": ""}, "x"]]),
        "task 2 open",
    ),
    (
        "run-stopped",
        |e| e["stop"] = serde_json::json!({"stop": "wall"}),
        "the end: All required",
    ),
];

#[test]
fn evidence_and_decisions_that_were_changed_in_a_chain_made_anew_are_named() {
    let project = ran();
    let (mut player, all, progress) = (
        Player::of(&project),
        records(&project),
        project.read("progress.txt"),
    );
    for (kind, forge, says) in FORGERIES {
        let at = find(&all, kind);
        let mut forged = all.clone();
        forge(&mut forged[at]["e"]);
        rechain(&project, &forged);
        let (grade, told) = player.told();
        project.write("progress.txt", &progress);
        assert_eq!(
            grade,
            Some(FindingGrade::Differs),
            "{kind} {says}: {told:?}"
        );
        let record = |told: &String| -> usize {
            let rest = told
                .strip_prefix(JOURNAL)
                .and_then(|rest| rest[1..].split_once(':'));
            rest.map_or(usize::MAX, |(number, _)| number.parse().unwrap())
        };
        let named = told
            .iter()
            .find(|told| told.contains(says))
            .unwrap_or_else(|| panic!("{kind} {says}: {told:?}"));
        let far = if *says == "should be" { 3 } else { 0 };
        assert!(
            (at + 1..=at + 1 + far).contains(&record(named)),
            "{kind} at {}: {told:?}",
            at + 1
        );
    }
    // A change in the journal alone no longer fits progress.txt.
    let mut forged = all.clone();
    forged[1]["at"] = "2020-01-01T00:00:00Z".into();
    rechain(&project, &forged);
    project.write("progress.txt", &progress);
    let (grade, told) = player.told();
    assert!(
        grade == Some(FindingGrade::Differs) && told[0].contains("No record matches"),
        "{told:?}"
    );
}

/// A file, a change of its text, and the text of the finding.
type FileForgery<'a> = (&'a str, &'a dyn Fn(&str) -> String, &'a str);

#[test]
fn files_that_were_changed_are_named_with_their_line() {
    let project = ran();
    let mut player = Player::of(&project);
    let iteration = project
        .entries()
        .iter()
        .find(|entry| entry.task == "1.LINT")
        .unwrap()
        .iteration;
    let gate = format!(".ralph/state/iter-{iteration}/gate");
    let left = project
        .files()
        .into_keys()
        .find(|path| path.starts_with(project.path(&gate)))
        .unwrap();
    let log = left
        .strip_prefix(project.path(""))
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let entry = project
        .read("progress.txt")
        .lines()
        .position(|line| line == "ACCEPTED")
        .unwrap()
        + 1;
    let changes: &[FileForgery<'_>] = &[
        (
            "tasks.md",
            &|text| text.replacen("[x] 2.", "[ ] 2.", 1),
            "tasks.md:5: task 2 is open, and a record ticks it.",
        ),
        (
            "tasks.md",
            &|text| text.to_owned() + "- [x] 3. forged\n",
            "tasks.md:7: task 3 is ticked, and no record ticks it.",
        ),
        (
            "progress.txt",
            &|text| text.replacen("ACCEPTED", "REJECTED", 1),
            &format!(
                "progress.txt:{entry}: The entry of iteration 1 was changed; here it says: ACCEPTED"
            ),
        ),
        (
            "progress.txt",
            &|text| text[text[1..].find("## ").unwrap() + 1..].to_owned(),
            ": The entry of iteration 1 is not in progress.txt.",
        ),
        (
            "progress.txt",
            &|text| {
                text.to_owned() + "## 2099-01-01T00:00:00Z iteration 9 · 2. · 01234567\nACCEPTED\n"
            },
            "No record matches this entry.",
        ),
        (&log, &|text| text.to_owned() + "more\n", "were changed."),
    ];
    for (file, change, says) in changes {
        let text = project.read(file);
        project.write(file, change(&text));
        let (grade, told) = player.told();
        project.write(file, &text);
        assert_eq!(grade, Some(FindingGrade::Differs), "{file} {says}");
        assert!(
            told.iter().any(|told| told.contains(says)),
            "{says}: {told:?}"
        );
    }
    // Notes and added lines of agents and users are allowed.
    let (tasks, progress) = (project.read("tasks.md"), project.read("progress.txt"));
    project.write("tasks.md", format!("{tasks}- [ ] 4. new\n"));
    project.write("progress.txt", format!("hello\n{progress}bye\n"));
    assert_eq!(player.told(), (None, Vec::new()));
}

#[test]
fn views_of_heads_and_diffs_that_were_changed_are_named_with_their_line() {
    let project = ran();
    let mut player = Player::of(&project);
    for (file, change) in [
        (
            "iter-2-before.txt",
            "app:0000000000000000000000000000000000000000\n",
        ),
        ("latest-task-diff.txt", "app/src/main/9.txt\n"),
        ("latest-task-diff.json", "{}\n"),
    ] {
        let file = format!(".ralph/state/{file}");
        let text = project.read(&file);
        assert_ne!(text, change);
        project.write(&file, change);
        let (grade, told) = player.told();
        assert_eq!(
            (grade, told.len()),
            (Some(FindingGrade::Differs), 1),
            "{file}: {told:?}"
        );
        assert!(
            told[0].starts_with(&format!("{file}:1: The view differs")),
            "{told:?}"
        );
        // Removing it gives no finding.
        fs_err::remove_file(project.path(&file)).unwrap();
        assert_eq!(player.told(), (None, Vec::new()));
        project.write(&file, text);
    }
}

#[test]
fn kinds_of_files_are_those_of_the_run_whatever_the_configuration_says_today() {
    let project = ran();
    assert_eq!(Player::of(&project).told(), (None, Vec::new()));
    project.config(&format!(
        "{GATE}files: {{production: ['lib/**'], test: ['**/src/main/**']}}\n"
    ));
    assert_eq!(Player::of(&project).told(), (None, Vec::new()));
    // Earlier journals do not record the patterns, and an invalid pattern decides nothing.
    let all = records(&project);
    let start = find(&all, "run-started");
    for (files, grade, says) in [
        (
            serde_json::json!([[], [], []]),
            FindingGrade::Differs,
            "kind is \"test\"",
        ),
        (
            serde_json::json!([["a["], [], []]),
            FindingGrade::Unknown,
            "A pattern for kinds of files is invalid: ",
        ),
    ] {
        let mut forged = all.clone();
        forged[start]["e"]["policy"]["files"] = files;
        let progress = project.read("progress.txt");
        rechain(&project, &forged);
        let found = Player::of(&project).play();
        project.write("progress.txt", progress);
        let told: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
        assert!(
            found
                .findings
                .iter()
                .any(|it| it.kind == grade && it.what.contains(says)),
            "{told:?}"
        );
    }
}

#[test]
fn words_of_another_build_are_a_remark_and_its_decisions_are_compared() {
    // A run whose only work is words: nothing was ever committed.
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent("1./*) as_usual ;;\n2./*) true ;;");
    project.ralph(&["run"]).code(1);
    let (mut player, all, progress) = (
        Player::of(&project),
        records(&project),
        project.read("progress.txt"),
    );
    let mut play = |version: &str, reasons: Option<&str>, (was, is): (&str, &str)| {
        let mut forged = all.clone();
        let (start, end) = (find(&all, "run-started"), find(&all, "run-stopped"));
        forged[start]["e"]["version"] = version.into();
        if let Some(reason) = reasons {
            forged[end]["e"]["stop"]["reasons"][0] = reason.into();
        }
        rechain(&project, &forged);
        assert!(was.is_empty() || progress.contains(was), "{progress}");
        project.write(
            "progress.txt",
            project.read("progress.txt").replacen(was, is, 1),
        );
        let found = player.play();
        project.write("progress.txt", &progress);
        let told: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
        (
            found.worst_grade(),
            told.join("\n"),
            found.unchecked.join("\n"),
        )
    };
    let none = ("", "");
    assert_eq!(
        play("0.0.1", None, none),
        (None, String::new(), String::new())
    );
    // Words.
    for (reasons, words, says) in [
        (
            None,
            ("Evidence", "What was seen"),
            "with other words than this build of ralph writes: 1;",
        ),
        (Some("Worded otherwise."), none, "Worded otherwise."),
    ] {
        let (grade, told, unchecked) = play("0.0.1", reasons, words);
        assert!(
            grade.is_none() && unchecked.contains(says),
            "{told} {unchecked}"
        );
        // Builds of the same version, before and since builds are distinguished.
        for build in [
            env!("CARGO_PKG_VERSION"),
            concat!(env!("CARGO_PKG_VERSION"), "+0123456789abcdef"),
        ] {
            let (grade, told, unchecked) = play(build, reasons, words);
            assert!(
                grade.is_none() && unchecked.contains(says),
                "{told} {unchecked}"
            );
        }
        let (grade, told, _) = play(BUILD, reasons, words);
        assert!(
            grade == Some(FindingGrade::Differs) && told.contains("Worded") == reasons.is_some(),
            "{told}"
        );
    }
    // Decisions.
    for words in [
        ("ACCEPTED", "REJECTED"),
        ("(attempt 1", "(attempt 2"),
        ("ticked 1.", "ticked 2."),
        (
            "REJECTED (attempt 1 of 3)\n",
            "REJECTED (attempt 1 of 3)\n- boxes: ticked 2.\n",
        ),
    ] {
        let (grade, told, _) = play("0.0.1", None, words);
        assert!(
            grade == Some(FindingGrade::Differs) && told.contains("was changed"),
            "{words:?}: {told}"
        );
    }
    let mut forged = all.clone();
    let end = find(&all, "run-stopped");
    forged[find(&all, "run-started")]["e"]["version"] = "0.0.1".into();
    forged[end]["e"]["stop"] = serde_json::json!({"stop": "all-done"});
    rechain(&project, &forged);
    let (grade, told) = player.told();
    assert!(
        grade == Some(FindingGrade::Differs) && told[0].contains("should be the end"),
        "{told:?}"
    );
}

#[test]
fn an_anchor_and_an_earlier_copy_tell_of_records_cut_off_at_the_end() {
    let project = ran();
    let journal = project.read(JOURNAL);
    let head = journal.lines().last().unwrap()[6..70].to_owned();
    let done = project.ralph(&["run"]).code(0);
    let printed = project.read(JOURNAL).lines().last().unwrap()[6..70].to_owned();
    assert!(
        done.err.contains(&format!("chain: {printed}\n")),
        "{}",
        done.err
    );
    assert_eq!(
        project.ralph(&["run", "--json"]).json().last().unwrap()["head"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    project.write(JOURNAL, &journal);
    project.write("earlier.jsonl", &journal[..journal.len() / 2]);
    project
        .ralph(&[
            "replay",
            "--require-anchor",
            &head,
            "--since",
            "earlier.jsonl",
        ])
        .code(0);
    let short = &journal[..=journal.trim_end().rfind('\n').unwrap()];
    project.write(JOURNAL, short);
    let done = project.ralph(&["replay"]).code(0);
    assert!(
        done.out
            .contains("not re-checked: Nothing says that no record was cut off"),
        "{}",
        done.out
    );
    let done = project
        .ralph(&["replay", "--require-anchor", &head])
        .code(1);
    assert!(
        done.err.contains("has the anchored hash") && done.err.contains("hint: "),
        "{}",
        done.err
    );
    project.write("earlier.jsonl", &journal);
    let done = project
        .ralph(&["replay", "--since", "earlier.jsonl"])
        .code(1);
    let last = journal.lines().count();
    assert!(
        done.err.contains(&format!(
            "journal.jsonl:{last}: The journal does not begin with"
        )),
        "{}",
        done.err
    );
}

#[test]
fn the_head_is_handed_to_a_command_and_one_that_does_not_take_it_is_said() {
    let project = Project::new("- [ ] 1. One\n");
    let anchor = |argv: &str| project.config(&format!("hooks: {{anchor: [{argv}]}}\n"));
    anchor("git, -C, src/app, notes, --ref=ralph, add, -f, -m, '{head}'");
    let done = project.ralph(&["run"]).code(0);
    let note = project.git("src/app", &["notes", "--ref=ralph", "show"]);
    assert!(
        done.err.contains(&format!("chain: {}\n", note.trim())),
        "{}",
        done.err
    );
    project
        .ralph(&["replay", "--require-anchor", &note])
        .code(0);
    assert_eq!(
        project.ralph(&["run", "--json"]).json().last().unwrap()["anchored"],
        true
    );
    for (argv, says) in [
        (
            "cp, /dev/stdin, /nowhere/head",
            "hooks.anchor exited with code 1, so the chain's head",
        ),
        ("no-such-program, '{head}'", "could not be started"),
    ] {
        anchor(argv);
        let done = project.ralph(&["run", "--json"]).code(0);
        let end = done.json().remove(done.json().len() - 1);
        assert_eq!(end["anchored"], false);
        assert!(
            done.err.contains(says) && done.err.contains(end["head"].as_str().unwrap()),
            "{}",
            done.err
        );
        assert!(
            project
                .read(".ralph/state/on/anchor.json")
                .contains(end["head"].as_str().unwrap())
        );
    }
}

#[test]
fn what_is_missing_is_said_and_is_never_equal() {
    // Squashed: the commits of the run are in no branch of this clone. Shallow: their ancestors are missing.
    for (clone, says) in [
        (&["clone", "--quiet"][..], "are not in its repository"),
        (&["clone", "--quiet", "--depth", "1"], "unshallow"),
    ] {
        let project = ran();
        fs_err::rename(project.path("src/app"), project.path("elsewhere")).unwrap();
        if says.contains("not in") {
            project.git("elsewhere", &["reset", "--quiet", "--soft", "HEAD~2"]);
            project.git("elsewhere", &["commit", "--quiet", "--message", "squashed"]);
        }
        let from = format!("file://{}", project.path("elsewhere").display());
        project.git("", &[clone, &[from.as_str(), "src/app"]].concat());
        let done = project.ralph(&["replay"]).code(3);
        assert!(
            done.err.contains(says) && done.err.contains("journal.jsonl:"),
            "{}",
            done.err
        );
        assert!(done.out.contains("Undetermined in"), "{}", done.out);
    }
    // Another name is another package.
    let project = ran();
    fs_err::rename(project.path("src/app"), project.path("src/renamed")).unwrap();
    let done = project.ralph(&["replay"]).code(3);
    assert!(done.err.contains("no package called app"), "{}", done.err);
    // Without repositories the decisions are nevertheless made again.
    fs_err::remove_dir_all(project.path("src")).unwrap();
    let done = project.ralph(&["replay"]).code(3);
    assert!(done.out.contains("re-checked: decision"), "{}", done.out);
    fs_err::remove_file(project.path(JOURNAL)).unwrap();
    let done = project.ralph(&["replay"]).code(3);
    assert!(done.err.contains("nothing to replay"), "{}", done.err);
}

/// Returns an archive with these entries, each of this type.
fn archive(entries: &[(&str, tar::EntryType)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, kind) in entries {
        let mut header = tar::Header::new_gnu();
        // Written by hand: the library refuses such names.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_link_name("/etc/passwd").unwrap();
        header.set_size(0);
        header.set_cksum();
        archive.append(&header, &[][..]).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn a_bundle_replays_in_an_empty_folder_with_its_gates_and_gives_the_same_bytes_each_time() {
    let project = ran();
    project.ralph(&["bundle", "run.tar"]).code(0);
    project.ralph(&["bundle", "again.tar"]).code(0);
    assert!(
        project.bytes("run.tar") == project.bytes("again.tar"),
        "the same run, the same bytes"
    );
    // Neither a branch nor the workspace is needed.
    let elsewhere = Project::empty();
    elsewhere.write("run.tar", project.bytes("run.tar"));
    drop(project);
    let done = elsewhere.ralph(&["replay", "--bundle", "run.tar"]).code(0);
    assert!(
        done.out
            .contains("re-checked: changes, report; as recorded: verdict"),
        "{}",
        done.out
    );
    let done = elsewhere
        .ralph(&["replay", "--bundle", "run.tar", "--rerun-gates"])
        .code(0);
    assert!(
        done.out.contains("re-checked: changes, report, verdict"),
        "{}",
        done.out
    );
    let mut left: Vec<_> = elsewhere.files().into_keys().collect();
    left.retain(|path| !path.ends_with("run.tar"));
    assert!(left.is_empty(), "{left:?}");

    // Joined parts, a missing part, and a part of another run.
    let whole = elsewhere
        .ralph(&["replay", "--bundle", "run.tar", "--rerun-gates", "--json"])
        .json()
        .remove(0);
    for part in ["1/2", "2/2"] {
        let done = elsewhere.ralph(&[
            "replay",
            "--bundle",
            "run.tar",
            "--rerun-gates",
            "--shard",
            part,
            "--json",
        ]);
        elsewhere.write(&format!("parts/{}.json", &part[..1]), done.code(0).out);
    }
    let merge = [
        "replay", "--bundle", "run.tar", "--merge", "parts", "--json",
    ];
    assert_eq!(elsewhere.ralph(&merge).code(0).json().remove(0), whole);
    let part = elsewhere.read("parts/2.json");
    fs_err::remove_file(elsewhere.path("parts/2.json")).unwrap();
    let facts = elsewhere.ralph(&merge).code(3).json().remove(0);
    assert!(
        facts["findings"][0]["what"]
            .as_str()
            .unwrap()
            .starts_with("Part 2/2 is missing"),
        "{facts}"
    );
    // A part with another verdict, one of another split, and a duplicate one.
    let judged = |part: &str| part.contains("\"again\":\"FAIL\"");
    let first = elsewhere.read("parts/1.json");
    let (file, mine, other) = if judged(&part) {
        ("parts/2.json", &part, &first)
    } else {
        ("parts/1.json", &first, &part)
    };
    assert!(
        judged(mine) && !judged(other),
        "one gate ran, so one part has it"
    );
    elsewhere.write("parts/2.json", &part);
    elsewhere.write(
        file,
        mine.replace("\"again\":\"FAIL\"", "\"again\":\"PASS\""),
    );
    let facts = elsewhere.ralph(&merge).code(1).json().remove(0);
    assert_eq!(facts["findings"][0]["what"], "1.LINT: FAIL then, PASS now.");
    // The other part does not mention that gate.
    let (_, claims) = mine.split_once("\"gates\":").unwrap();
    let (kept, rest) = other.split_once("\"gates\":").unwrap();
    let (gates, after) = (
        claims.split_once("],\"head\"").unwrap().0,
        rest.split_once("],\"head\"").unwrap().1,
    );
    let swapped = if file == "parts/2.json" {
        "parts/1.json"
    } else {
        "parts/2.json"
    };
    elsewhere.write(swapped, format!("{kept}\"gates\":{gates}],\"head\"{after}"));
    elsewhere.write(file, mine.replace("\"again\":\"FAIL\"", "\"again\":null"));
    let facts = elsewhere.ralph(&merge).code(3).json().remove(0);
    let what = facts["findings"][0]["what"].as_str().unwrap();
    assert!(
        what.starts_with("No part holds the gates of the records"),
        "{what}"
    );
    elsewhere.write(file, mine);
    elsewhere.write(swapped, other);
    for (name, why) in [
        (
            "2/3",
            "is part 2/3, of another split than the files before it.",
        ),
        ("1/2", "is part 1/2 again."),
    ] {
        elsewhere.write(
            "parts/3.json",
            first.replace("\"shard\":\"1/2\"", &format!("\"shard\":\"{name}\"")),
        );
        let facts = elsewhere.ralph(&merge).code(3).json().remove(0);
        assert_eq!(facts["findings"][0]["what"], format!("parts/3.json {why}"));
    }
    fs_err::remove_file(elsewhere.path("parts/3.json")).unwrap();
    elsewhere.write("parts/2.json", part.replace("\"head\":\"", "\"head\":\"0"));
    assert_eq!(
        elsewhere.ralph(&merge).code(3).json()[0]["findings"][0]["what"],
        "parts/2.json is no part of this replay."
    );
    let parts = elsewhere
        .ralph(&[
            "replay", "--bundle", "run.tar", "--matrix", "github", "--shards", "2",
        ])
        .code(0);
    assert_eq!(parts.json()[0]["shard"], serde_json::json!(["1/2", "2/2"]));
}

#[test]
fn a_gate_that_judges_otherwise_when_it_is_run_again_is_named() {
    let project = ran();
    let record = 1 + find(&records(&project), "gate-ended");
    project.config(&GATE.replace("-gt 1", "-gt 0"));
    let done = project.ralph(&["replay", "--rerun-gates"]).code(1);
    assert!(
        done.err
            .contains(&format!("{JOURNAL}:{record}: 1.LINT: FAIL then, PASS now.")),
        "{}",
        done.err
    );
    project.config("checks: {green: [sh, -c, 'exit 0']}\n");
    let done = project.ralph(&["replay", "--rerun-gates"]).code(3);
    assert!(done.err.contains("not configured"), "{}", done.err);
}

#[test]
fn a_bundle_holds_no_secret_and_one_of_somebody_else_leads_nowhere() {
    let project = ran();
    project.write("requirements.md", "# Login\n\nUse hunter2-hunter2.\n");
    let mut command = project.command(&["bundle", "run.tar"]);
    command.env("LOGIN_PASSWORD", "hunter2-hunter2");
    let done = Project::finish(command).code(2);
    assert!(
        done.err.contains("requirements.md:3: ") && !done.err.contains("hunter2"),
        "{}",
        done.err
    );
    assert!(!project.has("run.tar"));
    let file = tar::EntryType::Regular;
    for entries in [
        &[("workspace/../../escaped", file)][..],
        &[("/escaped", file)],
        &[("elsewhere/escaped", file)],
        &[("workspace/.git/config", file)],
        &[("git/src/app/.GIT/hooks", file)],
        &[("git/../repository.bundle", file)],
        &[("git/src/app/repository.bundle", tar::EntryType::Symlink)],
        &[("workspace/link", tar::EntryType::Symlink)],
        &[("workspace/pipe", tar::EntryType::Fifo)],
        &[("git/src/app/repository.bundle", file)],
        &[("workspace/tasks.md", file)],
    ] {
        project.write("hostile.tar", archive(entries));
        let done = project.ralph(&["replay", "--bundle", "hostile.tar"]);
        assert_eq!(done.code, 3, "{entries:?}: {}", done.err);
        assert!(done.err.contains("hint: "), "{entries:?}: {}", done.err);
    }
    for bytes in [&b""[..], b"not a tar", &[0xff; 2_000]] {
        project.write("hostile.tar", bytes);
        project
            .ralph(&["replay", "--bundle", "hostile.tar"])
            .code(3);
    }
}

#[test]
fn a_value_that_stands_in_a_commit_which_goes_into_a_bundle_is_refused_with_its_place() {
    let project = Project::new(STAGED);
    project.config(GATE);
    project.agent("1./1) tick_all; as_usual ;;");
    project.write("src/app/conf/login.properties", "password=swordfish-1\n");
    project.git("src/app", &["add", "-A"]);
    project.git("src/app", &["commit", "-qm", "a file"]);
    let commit = project.head();
    project.git("src/app", &["rm", "-q", "conf/login.properties"]);
    project.git(
        "src/app",
        &["commit", "-qm", "no more; the key was opensesame-2"],
    );
    let said = project.head();
    project.ralph(&["run"]).code(0);

    for (name, value, place) in [
        (
            "DB_PASSWORD",
            "swordfish-1",
            format!("src/app {}:conf/login.properties: ", &commit[..10]),
        ),
        (
            "API_TOKEN",
            "opensesame-2",
            format!("src/app {}: ", &said[..10]),
        ),
    ] {
        let mut command = project.command(&["bundle", "run.tar"]);
        command.env(name, value);
        let done = Project::finish(command).code(2);
        let what = format!("{place}A commit of the bundle contains the value of {name}.");
        assert!(
            done.err.contains(&what) && !done.err.contains(value),
            "{}",
            done.err
        );
    }
    assert!(!project.has("run.tar"));
    project.ralph(&["bundle", "run.tar"]).code(0);
}

#[test]
fn a_run_can_be_read_record_by_record() {
    let project = Project::empty();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/demo.tar");
    let done = project
        .ralph(&["replay", "--step", "--bundle", demo])
        .code(0);
    let records = project
        .ralph(&["replay", "--bundle", demo, "--json"])
        .json()[0]["records"]
        .as_u64()
        .unwrap();
    let titles: Vec<&str> = done
        .out
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert_eq!(titles.len() as u64, records);
    for (at, title) in titles.iter().enumerate() {
        assert!(
            title.starts_with(&format!("record {} of {records} · ", at + 1)),
            "{title}"
        );
    }
    let failed = done
        .out
        .split("record ")
        .find(|frame| frame.contains("PITEST FAIL"))
        .unwrap();
    assert!(
        failed.contains(
            " · 2.PITEST · GateEnded\n  saw      2.PITEST FAIL — The mutation score of class "
        ),
        "{failed}"
    );
    assert!(
        failed.contains("           write boxes: task 2 [ ]\n"),
        "{failed}"
    );
    let written = done
        .out
        .split("record ")
        .find(|frame| frame.contains("unticked task 2"))
        .unwrap();
    assert!(
        written.contains(" · 2.PITEST · ProgressAppended\n  wrote    progress.txt:\n"),
        "{written}"
    );
    let frames = project
        .ralph(&["replay", "--step", "--bundle", demo, "--json"])
        .code(0)
        .json();
    assert_eq!(frames.len() as u64, records);
    let silent = frames.iter().find(|frame| {
        ["saw", "wrote"]
            .iter()
            .all(|part| frame[part].as_array().unwrap().is_empty())
    });
    assert_eq!(silent, None, "a record without content");
    let done = project.ralph(&["replay", "--step"]).code(2);
    assert!(done.err.contains("hint: "), "{}", done.err);
}

/// Bundles of earlier versions: a version that reads a journal in another way fails here.
#[test]
fn a_bundle_of_every_format_replays_equal_with_its_gates() {
    let project = Project::empty();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/demo.tar");
    let done = project.ralph(&["replay", "--bundle", demo]).code(0);
    assert!(
        done.out.contains("[x] 2.PITEST") && done.out.contains("93 records"),
        "{}",
        done.out
    );
    let bundle = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bundle-1.tar");
    let done = project
        .ralph(&["replay", "--bundle", bundle, "--rerun-gates"])
        .code(0);
    assert!(
        done.out.contains("[x] 2.LINT") && done.out.contains("Equal"),
        "{}",
        done.out
    );
}

#[test]
fn people_kills_wide_gates_and_virtual_stages_replay_equal() {
    // Manual changes: a box ticked in the file, one accepted, one reopened.
    let project = Project::new("- [x] 1. One\n- [ ] 2. Two\n- [ ] G1.LINT g\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    project.ralph(&["run", "--once"]).code(5);
    project.ralph(&["reopen", "1.", "--reason", "no"]).code(0);
    project.ralph(&["accept", "1.", "--reason", "yes"]).code(0);
    project.ralph(&["run"]).code(0);
    let done = project.ralph(&["replay"]).code(0);
    assert!(done.out.contains("[x] task 1   person"), "{}", done.out);
    assert!(done.out.contains("a person's word"), "{}", done.out);

    // Killed during an attempt, and during a gate.
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT g\n");
    project.config(
        "gates:\n  LINT: {run: [sh, -c, 'test -e ../../go || { touch ../../judging; sleep 600; }']}\n",
    );
    project.agent("1./1) touch started; test -e go1 || sleep 600; as_usual ;;");
    for (mark, go) in [("started", "go1"), ("judging", "go")] {
        let mut child = project.start(&["run"]);
        wait_for(mark, || project.has(mark));
        signal(i32::try_from(child.id()).unwrap(), "KILL");
        child.wait().unwrap();
        project.write(go, "");
        project.ralph(&["replay"]).code(0);
    }
    project.ralph(&["run"]).code(0);
    project.ralph(&["replay"]).code(0);

    // Stages without lines.
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.config(
        "stages: virtual\nplacement: {LINT: each}\ngates:\n  LINT: {run: [sh, -c, 'exit 0']}\n",
    );
    project.agent("1./1) commit app src/main/1.txt; tick_all ;;");
    project.ralph(&["run"]);
    let done = project.ralph(&["replay"]).code(0);
    assert!(done.out.contains("1.TEST-FIRST"), "{}", done.out);

    // Rejected, restored, blocked: commits that are in no branch.
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR r\n");
    project.agent("1.PRE-CR/*) commit app src/main/x.txt; verdict PASS ok ;;");
    project.ralph(&["run"]).code(1);
    project.ralph(&["replay"]).code(0);
}
