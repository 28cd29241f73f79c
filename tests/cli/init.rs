//! `ralph init`: its findings, choices and questions. It never overwrites a file.

use super::project::{Done, Project};

const KIRO: &str =
    "# Implementation Plan\n\n- [x] 1. One\n  - _Requirements: 1.1_\n- [ ] 1.1 Two\n";

/// Returns a directory with the files of several tools, and a package of each kind.
fn many() -> Project {
    let project = Project::empty();
    project.package("src/orders");
    project.write("src/orders/pom.xml", "<project/>");
    project.write(".kiro/specs/login/tasks.md", KIRO);
    project
}

/// Runs `init` with only these programs on PATH.
fn init(project: &Project, programs: &[&str], args: &[&str]) -> Done {
    for program in programs {
        project.tool(program, "exit 1");
    }
    let mut command = project.command(&[&["init"], args].concat());
    command.env("PATH", project.path("../home/bin"));
    Project::finish(command)
}

#[test]
fn it_shows_what_it_found_and_writes_what_was_clear() {
    let project = many();
    let done = init(&project, &["claude", "goose"], &["--yes"]).code(0);
    insta::assert_snapshot!(done.out, @r"
    specs      .kiro/specs/login/tasks.md (2 boxes, 1 ticked)
    packages   src/orders (Java; mvn)
    agents     claude
               goose
    wrote .ralph/config.yaml
    wrote .ralph/config.schema.json
    wrote .ralph/.gitignore
    next: `ralph check`, then `ralph run`
    ");
    let config = project.read(".ralph/config.yaml");
    assert!(
        config.contains("\nspec: .kiro/specs/login\n") && config.contains("{preset: claude}"),
        "{config}"
    );
    assert!(config.contains("# Settings of ralph."), "the comments stay");
    assert_eq!(
        project.ralph(&["next"]).code(0).out,
        "task 1.1  Two  (.kiro/specs/login/tasks.md:5)\n"
    );
    let before = project.files();
    assert!(
        !init(&project, &[], &["--yes"])
            .code(0)
            .out
            .contains("wrote")
    );
    assert!(project.files() == before);
}

#[test]
fn it_names_the_engines_for_the_languages_and_what_to_install() {
    let project = many();
    project.write("src/orders/price.py", "");
    project.write("src/orders/rate.rs", "");
    project.package("src/bills");
    project.write("src/bills/build.gradle", "");
    let done = init(&project, &["mutmut"], &[]).code(0);
    let engines: Vec<&str> = done
        .out
        .lines()
        .skip_while(|line| !line.starts_with("engines"))
        .take(3)
        .collect();
    insta::assert_snapshot!(engines.join("\n"), @r#"
    engines    pit for src/bills (PITEST): built by Gradle. Write `classpath_command: [gradle, --init-script, "{init_script}", --quiet, ralphClasspath]` below gates.PITEST.
               mutmut for src/orders (MUTMUT): on the PATH; there is no .venv
               cargo-mutants for src/orders (CARGO-MUTANTS): cargo is not on the PATH. Install Rust (https://rustup.rs).
    "#);
    let engine =
        &init(&project, &[], &["--json"]).code(0).json()[0]["found"]["packages"][1]["engines"][1];
    assert_eq!(
        (&engine["engine"], &engine["gate"], &engine["found"]),
        (
            &"cargo-mutants".into(),
            &"CARGO-MUTANTS".into(),
            &false.into()
        )
    );
}

#[test]
fn one_gate_is_proposed_for_a_workspace_of_several_languages() {
    let proposal = "gate       one gate judges all these languages: `gates: {MUTATION: {}}` in .ralph/config.yaml, `ralph place each --gate MUTATION`";
    let project = Project::empty();
    let proposes = || {
        let done = init(&project, &[], &[]).code(0);
        fs_err::remove_dir_all(project.path(".ralph")).unwrap();
        done.out.lines().any(|line| line == proposal)
    };
    project.write("tasks.md", "- [ ] 1. a\n");
    project.package("src/orders");
    project.write("src/orders/pom.xml", "<project/>");
    assert!(!proposes(), "Java alone has PITEST");
    project.package("src/web");
    project.write("src/web/price.ts", "");
    assert!(proposes(), "Java and TypeScript in two packages");
    fs_err::remove_file(project.path("src/orders/pom.xml")).unwrap();
    assert!(!proposes(), "TypeScript alone has STRYKER");
    project.write("src/web/price.py", "");
    assert!(proposes(), "two languages in one package");
}

#[test]
fn an_agent_is_chosen_only_when_asked_for() {
    let project = many();
    init(&project, &["claude", "codex"], &[]).code(0);
    assert!(!project.read(".ralph/config.yaml").contains("\nagents:"));
}

#[test]
fn of_several_task_files_one_must_be_named_where_nobody_can_be_asked() {
    let project = many();
    project.write(
        "specs/001-shop/tasks.md",
        "## Phase 1: Setup\n\n- [ ] T001 [P] [US1] Make src/a\n- [X] T002 [US1] Do\n",
    );
    let done = init(&project, &[], &["--yes"]).code(2);
    insta::assert_snapshot!(done.err, @r"
    error: There are 2 task files. Which task file?
      --spec .kiro/specs/login
      --spec specs/001-shop
    hint: name one with --spec
    ");
    assert!(!project.has(".ralph"));
    for (flag, line) in [
        ("specs/001-shop", "spec: specs/001-shop"),
        ("./.kiro/specs/login/tasks.md", "spec: .kiro/specs/login"),
    ] {
        init(&project, &[], &["--spec", flag]).code(0);
        assert!(
            project
                .read(".ralph/config.yaml")
                .contains(&format!("\n{line}\n"))
        );
        fs_err::remove_dir_all(project.path(".ralph")).unwrap();
    }
    let wrong = init(&project, &[], &["--spec", "nowhere"]).code(2).err;
    assert!(
        wrong.contains("--spec: There is no tasks.md in `nowhere`."),
        "{wrong}"
    );
    assert!(!project.has(".ralph"));
}

#[test]
fn packages_elsewhere_are_named_and_those_of_a_flag_are_taken() {
    let project = Project::empty();
    for package in ["services/a", "services/b", "web"] {
        project.package(package);
    }
    init(&project, &[], &[]).code(0);
    assert!(
        project
            .read(".ralph/config.yaml")
            .contains("\npackages: [\"web\", \"services/*\"]\n")
    );
    fs_err::remove_dir_all(project.path(".ralph")).unwrap();
    init(&project, &[], &["--packages", "services/a,web"]).code(0);
    assert!(
        project
            .read(".ralph/config.yaml")
            .contains("\npackages: [\"services/a\", \"web\"]\n")
    );
    fs_err::remove_dir_all(project.path(".ralph")).unwrap();
    let wrong = init(&project, &[], &["--packages", "../x"]).code(2).err;
    assert!(
        wrong.contains("`packages` (item 1) must be a pattern for paths below the folder"),
        "{wrong}"
    );
    assert!(!project.has(".ralph"));
}

#[test]
fn placement_and_stages_are_written_where_they_are_named() {
    let project = many();
    let done = init(
        &project,
        &[],
        &["--placement", "groups", "--stages", "virtual"],
    )
    .code(0);
    assert_eq!(
        project.read(".kiro/specs/login/tasks.md"),
        KIRO,
        "stages without lines: {}",
        done.out
    );
    let config = project.read(".ralph/config.yaml");
    assert!(
        config.contains("\nplacement: {PITEST: groups}\n") && config.contains("\nstages: virtual "),
        "{config}"
    );
    let again = init(&project, &[], &["--placement", "each"]).code(2).err;
    assert!(
        again.contains("--placement: There is a .ralph/config.yaml already"),
        "{again}"
    );
    assert_eq!(project.read(".ralph/config.yaml"), config);
    let wrong = init(&project, &[], &["--placement", "all"]).code(2).err;
    assert!(
        wrong.contains("write each, tested, groups, groups:2, end, none or after:2,5,7"),
        "{wrong}"
    );
}

#[test]
fn a_gate_that_is_placed_stands_in_the_task_file() {
    let project = many();
    let done = init(&project, &[], &["--placement", "end"]).code(0);
    let tasks = project.read(".kiro/specs/login/tasks.md");
    assert!(tasks.contains("\n- [ ] END.PITEST"), "{tasks}");
    assert!(
        done.out.contains(".kiro/specs/login/tasks.md"),
        "{}",
        done.out
    );
    assert_eq!(
        done.err,
        "1 gate of PITEST to run; 0 open tasks without one.\n"
    );
    assert_eq!(project.ralph(&["place", "--check"]).code(0).err, "");
    let project = Project::empty();
    project.package("src/orders");
    let done = init(&project, &[], &["--placement", "each"]).code(0);
    assert!(
        done.out
            .contains("\nwhen there is a tasks.md: `ralph place each`\n"),
        "{}",
        done.out
    );
}

#[test]
fn json_says_what_was_found_chosen_and_written() {
    let project = many();
    let done = init(&project, &["codex"], &["--yes", "--json"]).code(0);
    let [facts] = &done.json()[..] else {
        panic!("{}", done.out)
    };
    assert_eq!(
        facts["found"]["packages"][0]["languages"],
        serde_json::json!(["Java"])
    );
    assert_eq!(facts["chosen"]["agent"], "codex");
    assert_eq!(facts["wrote"][0], ".ralph/config.yaml");
    assert_eq!(facts["wrote"].as_array().unwrap().len(), 3);
}

/// Runs `init` at a terminal with codex as the only agent. Returns its exit code and its output.
fn typed(project: &Project, keys: &str) -> (i32, String) {
    project.tool("codex", "exit 1");
    // `script` gives the program a terminal, whose keys come through its standard input.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let script = std::env::split_paths(&path)
        .map(|folder| folder.join("script"))
        .find(|file| file.is_file());
    let mut script = project.program(script.expect("script(1) of util-linux").to_str().unwrap());
    script.args([
        "-qec",
        &format!("{} init", env!("CARGO_BIN_EXE_ralph")),
        "/dev/null",
    ]);
    script
        .current_dir(project.path(""))
        .env("PATH", project.path("../home/bin"));
    let mut assert = assert_cmd::Command::from_std(script);
    let output = assert
        .write_stdin(keys)
        .timeout(std::time::Duration::from_secs(30))
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn on_a_terminal_it_shows_the_tasks_the_change_and_its_price_before_it_writes() {
    let project = many();
    let (down, before) = ("\u{1b}[B", project.files());
    // The agent, `each`, stages in the file, not written.
    let keys = format!("\r\r{down}\r{down}\r");
    let (code, shown) = typed(&project, &keys);
    let at = |words: &str| {
        shown
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {shown}"))
    };
    let order = [
        at("[x] 1        One"),
        at("Where PITEST goes"),
        at("+- [ ] 1.1.PITEST"),
        at("1 gate of PITEST to run; 0 open tasks without one."),
        at("Write this?"),
        at("Nothing was chosen; nothing was changed."),
    ];
    assert!(order.is_sorted() && code == 1, "{code}: {shown}");
    assert!(project.files() == before, "no was said");
    // The agent, `groups` down to `##`, stages in the file, yes.
    let groups = format!("{}\r{}\r", down.repeat(3), down.repeat(2));
    assert_eq!(typed(&project, &format!("\r{groups}{down}\r\r")).0, 0);
    assert_eq!(
        project.read(".kiro/specs/login/tasks.md"),
        format!("{KIRO}- [ ] G1.PITEST\n")
    );
    let config = project.read(".ralph/config.yaml");
    assert!(
        config.contains("\nplacement: {PITEST: {groups: 2}}\n"),
        "{config}"
    );
}

#[test]
fn on_a_terminal_it_asks_and_elsewhere_never() {
    let project = many();
    project.write("tasks.md", "- [ ] 1. One\n");
    let login = project.read(".kiro/specs/login/tasks.md");
    project.write(
        ".kiro/specs/login/tasks.md",
        format!("{login}\n## Definition of Done\n- [ ] it is used\n"),
    );
    // The second task file, the first agent, `after` with its tasks, the first source of stages, the checklist, yes.
    let (code, shown) = typed(&project, "\u{1b}[B\r\r\u{1b}[B\u{1b}[B\r1.1\r\r\r\r");
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("Which task file?") && shown.contains("Where PITEST goes"),
        "{shown}"
    );
    assert!(
        shown.contains("the file gets no line: PITEST runs after task 1.1."),
        "{shown}"
    );
    assert!(
        shown.contains("1 gate of PITEST to run; 0 open tasks without one."),
        "{shown}"
    );
    let config = project.read(".ralph/config.yaml");
    assert!(
        config.contains("\nspec: .kiro/specs/login\n") && config.contains("{preset: codex}"),
        "{config}"
    );
    assert!(
        config.contains("\nplacement: {PITEST: {after: [\"1.1\"]}}\n"),
        "{config}"
    );
    assert!(config.contains("\nstages: virtual "), "{config}");
    assert!(
        config.contains("\ntasks: {sections: {exclude: [\"Definition of Done\"]}}\n"),
        "{config}"
    );
}

#[test]
fn a_choice_that_cannot_be_leaves_nothing_behind() {
    let project = many();
    let refused = init(&project, &[], &["--yes", "--placement", "after:9"]).code(2);
    insta::assert_snapshot!(refused.err, @r"
    error: --placement: .kiro/specs/login/tasks.md: The task file has no task, or more than one, with the id `9`.
    hint: name tasks by ids that are used once, as in `2` or `T012`; nothing was written
    ");
    assert!(!project.has(".ralph"), "nothing was written");
    init(&project, &[], &["--yes", "--placement", "each"]).code(0);
    assert!(project.read(".ralph/config.yaml").contains("PITEST: each"));
}

#[test]
fn patterns_that_name_no_package_are_said() {
    let project = many();
    let done = init(&project, &[], &["--yes", "--packages", "nope/*"]).code(0);
    assert_eq!(
        done.err, "",
        "`ralph check`, which it names as next, says it"
    );
    let said = project.ralph(&["check"]).code(1).out;
    assert!(said.contains("[no-packages]"), "{said}");
}

#[test]
fn inside_of_a_workspace_none_is_made_by_the_way() {
    let project = many();
    init(&project, &[], &["--yes"]).code(0);
    let inside = |args: &[&str]| {
        let mut command = project.command(&[&["init", "--yes"], args].concat());
        command.current_dir(project.path("src/orders"));
        Project::finish(command)
    };
    let refused = inside(&[]).code(2);
    assert!(
        refused.err.contains("inside the workspace") && refused.err.contains("hint: "),
        "{}",
        refused.err
    );
    assert!(!project.has("src/orders/.ralph"));
    inside(&["--root", "."]).code(0);
    assert!(project.has("src/orders/.ralph/config.yaml"));
}
