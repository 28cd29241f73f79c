//! Flags over environment over file, `check --config`, and settings that an agent may not change.

use super::project::{Done, Project};

const ONE: &str = "- [ ] 1. One\n";

fn with(project: &Project, variables: &[(&str, &str)], args: &[&str]) -> Done {
    let mut command = project.command(args);
    command.envs(variables.iter().copied());
    Project::finish(command)
}

/// Returns the lines of `check --config` that do not come from a default.
fn told(project: &Project, variables: &[(&str, &str)], args: &[&str]) -> String {
    let out = with(project, variables, &[&["check", "--config"], args].concat())
        .code(0)
        .out;
    let kept = out.lines().filter(|line| !line.contains("  default  "));
    kept.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn each_setting_is_shown_with_the_place_that_it_comes_from() {
    let project = Project::new(ONE);
    project.config("limits:\n  attempts: 2\n  wall: 1h\n");
    let variables = [
        ("RALPH_THRESHOLD", "80"),
        ("RALPH_LIMITS_ATTEMPTS", "4"),
        ("RALPH_LIMITS_IDLE", ""),
    ];
    insta::assert_snapshot!(told(&project, &variables, &["--set", "limits.attempts=5", "--set", "limits.check=1m"]), @r#"
    agents.default.command .ralph/config.yaml:2 ["sh","agent.sh"]
    gates.PITEST.threshold RALPH_THRESHOLD 80
    limits.attempts --set 5
    limits.wall .ralph/config.yaml:5 1h
    limits.check --set 1m
    "#);
    let json = with(&project, &variables, &["check", "--config", "--json"])
        .code(0)
        .json();
    let line = |key: &str| json.iter().find(|line| line["key"] == key).unwrap().clone();
    assert_eq!(
        line("gates.PITEST.threshold")["from"],
        serde_json::json!({ "kind": "environment", "name": "RALPH_THRESHOLD" })
    );
    assert_eq!(
        line("limits.wall")["from"],
        serde_json::json!({ "kind": "file", "line": 5 })
    );
    assert_eq!(line("commit")["from"]["kind"], "default");
    assert_eq!(
        line("workspace")["value"],
        project.path("").to_str().unwrap().trim_end_matches('/')
    );
}

#[test]
fn what_is_given_is_obeyed_by_a_run() {
    let project = Project::new(ONE);
    project.agent("1./*) exit 1 ;;");
    let rejected = |variables: &[(&str, &str)], args: &[&str], count: usize| {
        let before = project.story().len();
        with(
            &project,
            variables,
            &[&["run", "--retry", "1."], args].concat(),
        )
        .code(1);
        assert_eq!(
            project.story().len() - before,
            count,
            "{variables:?} {args:?}"
        );
    };
    rejected(&[("RALPH_LIMITS_ATTEMPTS", "1")], &[], 1);
    rejected(
        &[("RALPH_LIMITS_ATTEMPTS", "1")],
        &["--set", "limits.attempts=2"],
        2,
    );
    rejected(&[], &[], 3);
}

#[test]
fn root_and_spec_are_named_by_variable_or_flag() {
    let project = Project::new(ONE);
    project.write("other/tasks.md", "- [ ] 7. Other\n");
    let next = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = project.command(&[&["next"], args].concat());
        command
            .envs(variables.iter().copied())
            .current_dir(project.path(".."));
        Project::finish(command)
    };
    let ws = project.path("");
    let root = ("RALPH_ROOT", ws.to_str().unwrap());
    assert_eq!(
        next(&[root], &[]).code(0).out,
        "task 1  One  (tasks.md:1)\n"
    );
    assert_eq!(
        next(&[root, ("RALPH_SPEC", "other")], &[]).code(0).out,
        "task 7  Other  (other/tasks.md:1)\n"
    );
    assert_eq!(
        next(&[root, ("RALPH_SPEC", "nowhere")], &["--spec", "other"])
            .code(0)
            .out,
        "task 7  Other  (other/tasks.md:1)\n"
    );
    assert_eq!(
        next(&[("RALPH_ROOT", "/nowhere")], &["--root", "ws"])
            .code(0)
            .out,
        "task 1  One  (tasks.md:1)\n"
    );
    let wrong = next(&[("RALPH_ROOT", "/nowhere")], &[]).code(2).err;
    assert!(wrong.contains("RALPH_ROOT: There is no folder"), "{wrong}");
}

#[test]
fn what_is_wrong_names_its_variable_or_flag() {
    let project = Project::new(ONE);
    let wrong = |variables: &[(&str, &str)], args: &[&str]| {
        project.redacted(
            &with(&project, variables, &[&["status"], args].concat())
                .code(2)
                .err,
        )
    };
    insta::assert_snapshot!(wrong(&[("RALPH_THRESHOLD", "70%"), ("RALPH_AGENT", "default")], &["--set", "limits.wall=soon"]), @r#"
    error: RALPH_THRESHOLD: `gates.PITEST.threshold` must be a whole number from 0 to 100, not "70%". (Write the number alone, without quotes or a unit.)
    hint: fix or unset what is named; `ralph check --config` shows where each setting comes from
    "#);
    insta::assert_snapshot!(wrong(&[], &["--agent", "nobody"]), @r#"
    error: --agent: "nobody" is neither an agent of `agents:` nor a preset. (Name `default`, `claude`, `codex`, `gemini`, `opencode`, `kiro-cli`, `copilot`, `amp`, `goose`, `aider`, `qwen`, `hermes`, `cursor-agent` or `pi`.)
    hint: fix or unset what is named; `ralph check --config` shows where each setting comes from
    "#);
    for flag in [
        ["--agent", "claude"],
        ["--spec", "."],
        ["--set", "limits.attempts=5"],
        ["--root", "."],
    ] {
        let refused = project
            .ralph(&[&["demo", "--into", "example"][..], &flag].concat())
            .code(2)
            .err;
        let what = format!(
            "error: {}: The demo runs its own example with its own agent and settings.\n",
            flag[0]
        );
        assert!(refused.starts_with(&what), "{refused}");
        assert!(!project.path("example").exists());
    }
    assert!(
        wrong(&[], &["--set", "limits"]).contains("error: --set: `limits` is not KEY=VALUE.\n")
    );
    assert!(
        wrong(&[], &["--set", "gates.PITEST.engine=maven"])
            .contains("is not a key that can be given here.\nhint: what can be set so: ")
    );
}

#[test]
fn what_ralph_tells_agents_is_no_setting_and_strays_are_named() {
    let project = Project::new(ONE);
    let facts = [
        ("RALPH_STAGE", "virtual"),
        ("RALPH_TASK", "2."),
        ("RALPH_WORKSPACE", "/nowhere"),
        ("RALPH_ATTEMPT", "9m"),
        ("RALPH_TRESHOLD", "1"),
    ];
    let done = with(&project, &facts, &["check", "--config"]).code(0);
    assert!(!done.out.contains("RALPH_"), "{}", done.out);
    assert_eq!(
        done.err,
        "note: RALPH_TRESHOLD is set, but is not a setting of this ralph.\n"
    );
}

#[test]
fn an_agent_is_given_no_settings_and_may_set_nothing_that_judges() {
    let project = Project::new(ONE);
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.agent(&format!(
        "1./1) env | grep ^RALPH_ | cut -d= -f1 | sort > names; \
         for given in RALPH_THRESHOLD=0 RALPH_AGENT=codex RALPH_LIMITS_ATTEMPTS=9 RALPH_SPEC=.; do \
         code=0; env -u RALPH_TAG $given {ralph} status >> said 2>&1 || code=$?; echo \"$given: $code\" >> codes; done; \
         code=0; {ralph} status --set gates.PITEST.threshold=0 >> said 2>&1 || code=$?; echo \"--set: $code\" >> codes; as_usual ;;"
    ));
    with(
        &project,
        &[("RALPH_LIMITS_ATTEMPTS", "2"), ("RALPH_SPEC", ".")],
        &["run"],
    )
    .code(0);
    let names = project.read("names");
    assert!(
        names.contains("RALPH_TASK\n") && !names.contains("LIMITS") && !names.contains("SPEC"),
        "{names}"
    );
    assert_eq!(
        project.read("codes"),
        "RALPH_THRESHOLD=0: 2\nRALPH_AGENT=codex: 2\nRALPH_LIMITS_ATTEMPTS=9: 2\nRALPH_SPEC=.: 0\n--set: 2\n",
        "{}",
        project.read("said")
    );
    assert!(
        project
            .read("said")
            .contains("error: RALPH_THRESHOLD is set inside an agent's process tree")
    );
}

#[test]
fn the_help_of_check_lists_every_variable() {
    let project = Project::empty();
    let help = project.ralph(&["check", "--help"]).code(0).out;
    for name in [
        "RALPH_ROOT (--root)",
        "RALPH_SPEC (--spec)",
        "RALPH_AGENT (--agent)",
        "RALPH_LIMITS_WALL (--set limits.wall)",
    ] {
        assert!(help.contains(name), "{help}");
    }
}

#[test]
fn what_is_wrong_stands_beside_its_value_and_hides_no_other() {
    let project = Project::new(ONE);
    let check = |given: &[(&str, &str)]| with(&project, given, &["check", "--config"]).code(1).out;
    let below = |out: &str, start: &str| {
        let lines: Vec<&str> = out.lines().collect();
        let at = lines
            .iter()
            .position(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("{out}"));
        (
            lines[at]
                .split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" "),
            lines[at + 1].to_owned(),
        )
    };
    project.write(
        ".ralph/config.yaml",
        "agents: {default: {command: [x]}}\nlimits: {attempts: many, rework: 2}\n",
    );
    let out = check(&[]);
    let (value, wrong) = below(&out, "limits.attempts ");
    assert_eq!(value, ".ralph/config.yaml:2 many");
    assert!(
        wrong.starts_with("  error: .ralph/config.yaml:2: `limits.attempts` must be"),
        "{out}"
    );
    let (value, wrong) = below(&out, "limits.rework ");
    assert!(
        value == ".ralph/config.yaml:2 2" && !wrong.contains("error"),
        "{out}"
    );
    let json = with(&project, &[], &["check", "--config", "--json"])
        .code(1)
        .json();
    let of = |key: &str| json.iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!(
        (
            &of("limits.attempts")["value"],
            &of("limits.rework")["value"]
        ),
        (&"many".into(), &2.into())
    );
    assert!(
        of("limits.attempts")["problem"].is_string() && of("limits.rework")["problem"].is_null()
    );

    project.write(".ralph/config.yaml", "agentz: 1\n");
    let (value, wrong) = below(&check(&[]), "agentz ");
    assert_eq!(value, ".ralph/config.yaml:1 1");
    assert!(
        wrong.contains("`agentz` is not a known key. (Did you mean `agents`?)"),
        "{wrong}"
    );
    project.write(".ralph/config.yaml", "");
    let (value, wrong) = below(
        &check(&[("RALPH_THRESHOLD", "abc")]),
        "gates.PITEST.threshold ",
    );
    assert!(
        value == "RALPH_THRESHOLD abc" && wrong.starts_with("  error: RALPH_THRESHOLD: "),
        "{wrong}"
    );
    let out = check(&[("RALPH_AGENT", "nobody")]);
    assert!(
        below(&out, "roles ")
            .1
            .contains("RALPH_AGENT: \"nobody\" is neither an agent"),
        "{out}"
    );

    project.write(".ralph/config.yaml", "limits: [\n");
    let out = check(&[("RALPH_THRESHOLD", "80")]);
    assert!(
        out.contains("\ngates.PITEST.threshold  RALPH_THRESHOLD") && !out.contains("limits"),
        "{out}"
    );
    assert!(
        out.contains("\nerror: .ralph/config.yaml:2: The file cannot be read"),
        "{out}"
    );
}
