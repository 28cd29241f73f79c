//! Errors before a run: exit 2, a whole sentence, and a next action.

use super::project::{Done, Project};

const TWO: &str = "- [ ] 1. One\n- [ ] 2. Two\n";

#[track_caller]
fn refused(project: &Project, args: &[&str]) -> String {
    let Done { out, err, .. } = project.ralph(args).code(2);
    assert_eq!(out, "");
    assert!(err.lines().any(|line| line.starts_with("hint: ")), "{err}");
    assert_eq!(project.story(), [""; 0], "nothing began");
    project.redacted(&err)
}

#[test]
fn no_workspace() {
    let project = Project::empty();
    insta::assert_snapshot!(refused(&project, &["run"]), @"
    error: There is no .ralph/ in <ws>, and none with a config.yaml or a state/ above it.
    hint: `ralph init` makes one; `--root DIR` names one elsewhere
    ");
}

#[test]
fn a_root_that_is_missing_or_a_file() {
    let project = Project::new(TWO);
    insta::assert_snapshot!(refused(&project, &["--root", "gone", "run"]), @r"
    error: --root: There is no folder `gone`.
    hint: name an existing folder
    ");
    insta::assert_snapshot!(refused(&project, &["--root", "tasks.md", "run"]), @r"
    error: --root: There is no folder `tasks.md`.
    hint: name an existing folder
    ");
    let before = project.files();
    insta::assert_snapshot!(refused(&project, &["--root", "src", "run"]), @r"
    error: --root: There is no .ralph/ in <ws>/src.
    hint: `ralph --root DIR init` makes one
    ");
    assert!(project.files() == before);
}

#[test]
fn a_task_file_that_cannot_be_run() {
    let project = Project::new("# only words\n");
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: tasks.md:1: The file has no box `- [ ] …`, so there is nothing to do.
    hint: fix the file; `ralph check` lists everything that is wrong
    ");
    fs_err::remove_file(project.path("tasks.md")).unwrap();
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: tasks.md: There is no such file.
    hint: fix the file; `ralph check` lists everything that is wrong
    ");
    project.write(
        "tasks.md",
        "- [ ] 1. One\n- [ ] 1.PRE-CR a\n- [ ] 1.PRE-CR b\n- [ ] 2.REQ-CHECK a\n",
    );
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: tasks.md:3: `1.PRE-CR` is on line 2 and again on line 3.
    error: tasks.md:4: `2.REQ-CHECK` is a stage of task 2, which has no box in this file.
    hint: fix the file; `ralph check` lists everything that is wrong
    ");
    for verb in [
        &["accept", "1.", "--reason", "x"][..],
        &["snapshot", "1."],
        &["gate", "1.PITEST"],
    ] {
        let err = refused(&project, verb);
        assert!(
            err.contains("error: tasks.md:3: `1.PRE-CR` is on line 2"),
            "{verb:?}: {err}"
        );
    }
}

#[test]
fn a_configuration_with_a_mistake() {
    let project = Project::new(TWO);
    project.write(".ralph/config.yaml", "spec: .\nlimits: {attempts: many}\n");
    insta::assert_snapshot!(refused(&project, &["run"]), @r#"
    error: .ralph/config.yaml:2: `limits.attempts` must be a whole number from 1 to 1000, not "many". (Write the number alone, without quotes or a unit.)
    hint: fix .ralph/config.yaml, then `ralph check`
    "#);
    project.write(".ralph/config.yaml", "agents: [\n");
    assert!(refused(&project, &["run"]).contains("config.yaml:"));
    project.write(".ralph/config.yaml", b"\xff\xfe\x00");
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: .ralph/config.yaml:1: The file is not UTF-8 text. (Save it as UTF-8.)
    hint: fix .ralph/config.yaml, then `ralph check`
    ");
}

#[test]
fn a_task_file_in_utf_16() {
    let project = Project::new(TWO);
    let text = "\u{feff}- [ ] 1. One\n".encode_utf16();
    let bytes: Vec<u8> = text.flat_map(u16::to_le_bytes).collect();
    project.write("tasks.md", bytes);
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: tasks.md:1: The file is encoded as UTF-16, in which no box `- [ ] …` can be found.
    hint: fix the file; `ralph check` lists everything that is wrong
    ");
}

#[test]
fn a_dirty_start() {
    let project = Project::new(TWO);
    project.write("src/app/README.md", "a person's\n");
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    stopped: There are uncommitted changes that no attempt left: app/README.md.
    hint: commit, stash or remove them; if `git status` shows none of them, a filter of git changes them: see docs/troubleshooting.md
    ");
    assert_eq!(project.read("src/app/README.md"), "a person's\n");
}

#[test]
fn the_way_out_of_a_filter_lets_the_run_begin() {
    let project = Project::new(TWO);
    let git = |args: &[&str]| project.git("src/app", args);
    git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    git(&["config", "filter.up.smudge", "tr A-Z a-z"]);
    project.write(
        "src/app/.gitattributes",
        "*.up filter=up\n*.wide working-tree-encoding=UTF-16LE\n",
    );
    project.write("src/app/a.up", "text");
    project.write("src/app/b.wide", "t\0e\0");
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "filtered"]);
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert!(refused(&project, &["run"]).contains(": app/a.up, app/b.wide."));
    let off = "a.up -filter -working-tree-encoding\nb.wide -filter -working-tree-encoding\n";
    project.write("src/app/.git/info/attributes", off);
    for file in ["a.up", "b.wide"] {
        fs_err::remove_file(project.path("src/app").join(file)).unwrap();
        git(&["checkout", "--", file]);
    }
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_persons_change_between_runs_is_dirt_and_not_a_leftover() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    project.write("src/app/README.md", "a person's\n");
    let done = project.ralph(&["run"]).code(2);
    assert!(done.err.contains("app/README.md"), "{}", done.err);
    assert_eq!(project.read("src/app/README.md"), "a person's\n");
    project.git("src/app", &["checkout", "--quiet", "README.md"]);
    project.ralph(&["run"]).code(0);
}

#[test]
fn packages_that_cannot_be_used() {
    let project = Project::new(TWO);
    project.package("lib/app");
    project.config("packages: [\"src/*\", \"lib/*\"]\n");
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: Two packages are called app: <ws>/lib/app and <ws>/src/app.
    hint: Rename one of the folders, or narrow packages: in .ralph/config.yaml.
    ");
    let project = Project::new(TWO);
    fs_err::remove_dir_all(project.path("src")).unwrap();
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: No folder that packages: names in <ws> holds a git repository.
    hint: Set packages: in .ralph/config.yaml, run `git init` in a package, or give --root.
    ");
    fs_err::create_dir_all(project.path("src/new")).unwrap();
    project.git("src/new", &["init", "--quiet", "--object-format=sha256"]);
    insta::assert_snapshot!(refused(&project, &["run"]), @r"
    error: Package new: The repository in <ws>/src/new names its objects by SHA-256, which ralph cannot read.
    hint: Use a repository with SHA-1 object names (`git init --object-format=sha1`).
    ");
}

#[test]
fn an_agent_that_is_not_named_or_not_there() {
    let project = Project::new(TWO);
    project.write(".ralph/config.yaml", "");
    insta::assert_snapshot!(refused(&project, &["run"]).split(" (").next().unwrap().to_owned(), @r"
    error: No agent is configured for the role worker.
    hint: name one under `agents:` in .ralph/config.yaml
    ");
    project.write(
        ".ralph/config.yaml",
        "agents:\n  default: {command: [no-such-agent]}\n",
    );
    assert!(
        refused(&project, &["run"]).starts_with(
            "error: The program `no-such-agent` of the agent `default` was not found."
        )
    );
    assert!(refused(&project, &["run", "--dry-run"]).contains("no-such-agent"));
}

#[test]
fn ids_and_reasons_that_mean_nothing() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PITEST P\n");
    for verb in [
        &["accept", "9.", "--reason", "x"][..],
        &["reopen", "9.", "--reason", "x"],
        &["gate", "9.PITEST"],
        &["snapshot", "9."],
        &["diff", "9."],
        &["run", "--retry", "9."],
        &["run", "--dry-run", "--retry", "9."],
    ] {
        let err = refused(&project, verb);
        assert!(
            err.starts_with("error: There is no box `9."),
            "{verb:?}: {err}"
        );
    }
    assert!(refused(&project, &["gate", "NOPE"]).contains("`NOPE`"));
    assert!(refused(&project, &["gate", "1."]).starts_with("error: task 1 is not a gate."));
    assert!(refused(&project, &["gate", "PITEST"]).contains("--since"));
    for reason in ["", " \t"] {
        assert!(
            refused(&project, &["accept", "1.", "--reason", reason])
                .starts_with("error: The reason is empty.")
        );
    }
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n- [ ] 1.PITEST P\n");
    for usage in [
        &["accept", "1."][..],
        &["nonsense"],
        &[],
        &["run", "--max-iterations", "many"],
        &["gate", "PITEST", "--since", "a", "--diff", "b"],
    ] {
        assert!(!project.ralph(usage).code(2).err.is_empty());
    }
}

#[test]
fn files_and_hashes_that_were_typed_wrong() {
    let project = Project::new(TWO);
    insta::assert_snapshot!(refused(&project, &["lanes", "take", "no.tar"]), @r"
    error: There is no file no.tar.
    hint: name bundles; `ralph bundle run.tar` writes one
    ");
    let anchor = ["replay", "--require-anchor", "xyz"];
    insta::assert_snapshot!(project.ralph(&anchor).code(2).err, @r"
    error: invalid value 'xyz' for '--require-anchor <HASH>': it is not a hash of 64 hex digits

    For more information, try '--help'.
    ");
}

#[test]
fn an_own_prompt_that_names_what_is_not_there() {
    let project = Project::new(TWO);
    project.write(".ralph/prompts/worker.md", "{{ nonsense }}\n");
    let done = project.ralph(&["run"]).code(2);
    assert!(
        done.err.contains("worker") && done.err.contains("nonsense") && done.err.contains("hint: "),
        "{}",
        done.err
    );
    project.write(".ralph/prompts/worker.md", "Do {{ task_text }}\n");
    project.ralph(&["run"]).code(0);
}

#[test]
fn a_part_that_cannot_be_read_is_said_for_what_it_is_and_stops_no_other() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.PRE-CR a\n- [ ] 1.PRE-CR b\n");
    let rules = |project: &Project| -> Vec<(String, String)> {
        let word = |found: &serde_json::Value, name: &str| {
            found[name].as_str().unwrap_or_default().to_owned()
        };
        let found = project.ralph(&["check", "--json"]).code(1).json();
        let mut found: Vec<_> = found
            .iter()
            .map(|one| (word(one, "rule"), word(one, "file")))
            .collect();
        found.retain(|(rule, _)| !rule.is_empty());
        found
    };
    let pair = |rule: &str, file: &str| (rule.to_owned(), file.to_owned());
    let config = project.path(".ralph/config.yaml");
    let mistakes = |odd: &dyn Fn()| {
        let kept = project.bytes(".ralph/config.yaml");
        fs_err::remove_file(&config).unwrap();
        odd();
        let found = rules(&project);
        assert_eq!(
            found,
            [
                pair("config-error", ".ralph/config.yaml"),
                pair("doubled-stage", "tasks.md")
            ]
        );
        for asked in ["status", "run"] {
            assert!(
                project
                    .ralph(&[asked])
                    .code(2)
                    .err
                    .contains(".ralph/config.yaml"),
                "{asked}"
            );
        }
        assert!(
            project
                .ralph(&["check", "--config"])
                .code(1)
                .out
                .contains("error: .ralph/config.yaml")
        );
        if config.is_dir() {
            fs_err::remove_dir(&config).unwrap();
        } else {
            fs_err::remove_file(&config).unwrap();
        }
        fs_err::write(&config, kept).unwrap();
    };
    mistakes(&|| fs_err::create_dir(&config).unwrap());
    mistakes(&|| fs_err::write(&config, b"# a\nspec: \xff\n").unwrap());
    mistakes(&|| fs_err::os::unix::fs::symlink("config.yaml", &config).unwrap());
    mistakes(&|| nix::unistd::mkfifo(&config, nix::sys::stat::Mode::S_IRWXU).unwrap());

    let tasks = project.path("tasks.md");
    let odd = |odd: &dyn Fn()| {
        fs_err::remove_file(&tasks).unwrap();
        odd();
        let found = rules(&project);
        assert_eq!(found, [pair("no-task-file", "tasks.md")]);
        project.ralph(&["check", "--explain"]).code(1);
        if tasks.is_dir() {
            fs_err::remove_dir(&tasks).unwrap();
        } else {
            fs_err::remove_file(&tasks).unwrap();
        }
        fs_err::write(&tasks, "- [ ] 1. One\n").unwrap();
    };
    odd(&|| fs_err::create_dir(&tasks).unwrap());
    odd(&|| fs_err::os::unix::fs::symlink("tasks.md", &tasks).unwrap());
    let fifo = || nix::unistd::mkfifo(&tasks, nix::sys::stat::Mode::S_IRWXU).unwrap();
    odd(&fifo);
    fs_err::remove_file(&tasks).unwrap();
    fifo();
    for verb in ["status", "next", "run"] {
        let done = project.ralph(&[verb]);
        assert!(
            done.code != 0 && done.err.contains("regular files only"),
            "{verb}: {}",
            done.err
        );
    }
}

#[test]
fn each_mistake_of_a_hurried_user_names_what_to_type() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT g\n");
    project.write(
        ".ralph/config.yaml",
        "spec: specs/b\nagents:\n  default: {preset: claude}\ngates: {LINT: {run: [\"true\"]}}\n",
    );
    project.write("specs/b/tasks.md", "- [ ] 1. One\n- [ ] 1.LINT g\n");
    project.write("day.html", "<!doctype html><title>day</title>");
    let mut told = Vec::new();
    for line in [
        "run 1.1",
        "run --task 1",
        "run --threshold 80",
        "gate LINT",
        "gate lint",
        "gate LINTT",
        "gate MUTMUT",
        "gate 1.lint",
        "run",
        "check --tasks spec/b/tasks.md",
        "--spec specs/c check",
        "replay --bundle day.html",
        "replay --bundle no.tar",
        "report --bundle day.html",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let Done { code, out, err, .. } = project.ralph(&words);
        let said = [out, err].concat();
        let kept = said.lines().map(str::trim).filter(|line| {
            let starts = ["error: ", "hint: ", "tip: "];
            starts.iter().any(|start| line.starts_with(start))
        });
        let kept: Vec<&str> = kept.collect();
        told.push(format!("$ ralph {line}  ({code})\n{}\n", kept.join("\n")));
    }
    insta::assert_snapshot!(project.redacted(&told.concat()), @"
    $ ralph run 1.1  (2)
    error: unexpected argument '1.1' found
    tip: `ralph run --only 1.1` takes this task alone, `ralph next` shows the next one
    $ ralph run --task 1  (2)
    error: unexpected argument '--task' found
    tip: `ralph run --only ID` takes one task alone
    $ ralph run --threshold 80  (2)
    error: unexpected argument '--threshold' found
    tip: `--set gates.PITEST.threshold=80` sets it for one call
    $ ralph gate LINT  (2)
    error: The gate LINT needs the changes that it judges.
    hint: `ralph gate LINT --since HEAD~1` judges the last commit, `ralph gate LINT --diff FILE` the files that FILE lists
    $ ralph gate lint  (2)
    error: The gate `lint` is not configured.
    hint: did you mean `LINT`?
    $ ralph gate LINTT  (2)
    error: The gate `LINTT` is not configured.
    hint: did you mean `LINT`?
    $ ralph gate MUTMUT  (2)
    error: The gate `MUTMUT` is not configured.
    hint: add it under `gates:` in .ralph/config.yaml: `MUTMUT: {}`
    $ ralph gate 1.lint  (2)
    error: There is no box `1.lint` in specs/b/tasks.md.
    hint: did you mean `1.LINT`?
    $ ralph run  (2)
    error: The program `claude` of the agent `default` was not found.
    hint: install `claude` or put its directory on PATH, or name one under `agents:` in .ralph/config.yaml (no agent CLI that ralph knows is on PATH)
    $ ralph check --tasks spec/b/tasks.md  (1)
    error: spec/b/tasks.md: There is no such file. [no-task-file]
    hint: check the path; `ralph check --tasks specs/b/tasks.md` reads the one of this workspace
    $ ralph --spec specs/c check  (1)
    error: specs/c/tasks.md: There is no such file. [no-task-file]
    hint: set `spec: specs/b` in .ralph/config.yaml, or type `--spec specs/b`
    $ ralph replay --bundle day.html  (3)
    error: day.html: This is not a bundle that `ralph bundle` wrote: it is not a tar archive.
    hint: in the workspace of the run, `ralph bundle run.tar` writes one
    $ ralph replay --bundle no.tar  (2)
    error: There is no file no.tar.
    hint: name a bundle; `ralph bundle run.tar` writes one
    $ ralph report --bundle day.html  (3)
    error: day.html: This is not a bundle that `ralph bundle` wrote: it is not a tar archive.
    hint: in the workspace of the run, `ralph bundle run.tar` writes one
    ");
}
