//! `ralph generate`: schema, completions and manual pages, generated from the program's own definitions for other programs.

use super::project::Project;

#[test]
fn the_schema_is_json_with_every_section_and_needs_no_workspace() {
    let project = Project::empty();
    let schema: serde_json::Value =
        serde_json::from_str(&project.ralph(&["generate", "schema"]).code(0).out).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    for key in ["spec", "packages", "agents", "gates", "limits"] {
        assert!(
            schema["properties"][key]["description"].is_string(),
            "{key}"
        );
    }
    assert_eq!(
        project
            .ralph(&["generate", "schema", "--json"])
            .code(0)
            .json(),
        [schema]
    );
    assert!(project.files().is_empty());
}

#[test]
fn completions_know_verbs_tasks_gates_and_agents() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT g\n- [ ] 2.1 Two\n");
    project.write(
        ".ralph/config.yaml",
        "agents: {night: {command: [a]}, default: {command: [b]}}\ngates: {LINT: {run: [c]}}\n",
    );
    project.write(
        "ralph.bash",
        project
            .ralph(&["generate", "completions", "bash"])
            .code(0)
            .out,
    );
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.tool("ralph", &format!("exec {ralph} \"$@\""));
    let complete = |words: &str| {
        let script = format!(
            ". ./ralph.bash; COMP_WORDS=(ralph {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _clap_complete_ralph ralph \"${{COMP_WORDS[-1]}}\" x; echo \"${{COMPREPLY[*]}}\""
        );
        let mut bash = project.program("bash");
        bash.args(["-c", &script]).current_dir(project.path(""));
        Project::finish(bash)
            .code(0)
            .out
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(complete("gen"), ["generate"]);
    assert_eq!(complete("generate comp"), ["completions"]);
    assert_eq!(complete("accept 1"), ["1.", "1.LINT"]);
    assert_eq!(complete("accept ''")[..3], ["1.", "1.LINT", "2.1."]);
    assert_eq!(complete("gate L"), ["LINT"]);
    assert_eq!(complete("gate 1.L"), ["1.LINT"]);
    assert_eq!(complete("run --retry 2"), ["2.1."]);
    assert_eq!(complete("run --agent n"), ["night"]);
    project.write(".ralph/config.yaml", "nothing: [");
    assert_eq!(complete("accept 1"), [""; 0], "no message, no candidate");
    let mut command = project.command(&[]);
    command.env("RALPH_COMPLETE", "no-shell");
    assert!(Project::finish(command).code(2).err.contains("no-shell"));
}

#[test]
fn each_shell_gets_completions_of_every_verb() {
    let project = Project::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project
            .ralph(&["generate", "completions", shell])
            .code(0)
            .out;
        assert!(script.contains("RALPH_COMPLETE"), "{shell}: {script}");
    }
    assert!(
        project
            .ralph(&["generate", "completions", "tcsh"])
            .code(2)
            .err
            .contains("bash")
    );
}

#[test]
fn there_is_a_page_for_ralph_and_one_for_each_verb() {
    let project = Project::empty();
    let page = project.ralph(&["generate", "man"]).code(0).out;
    assert!(
        page.contains(".TH ralph 1") && page.contains("Exit codes: "),
        "{page}"
    );
    assert!(project.files().is_empty());
    let wrote = project
        .ralph(&["generate", "man", "--into", "pages/man1"])
        .code(0)
        .out;
    assert!(wrote.ends_with(" into pages/man1\n"), "{wrote}");
    let pages = project.files();
    assert!(pages.len() > 20, "{}", pages.len());
    for path in pages.keys() {
        let page = project.read(path.to_str().unwrap());
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        if let Some(verb) = name.strip_prefix("ralph-") {
            for text in [page, project.ralph(&[verb, "--help"]).code(0).out] {
                assert!(
                    text.contains("Example") && text.contains("Exit codes: "),
                    "{name}: {text}"
                );
            }
        }
    }
    assert!(
        project
            .files()
            .keys()
            .all(|path| path.extension().is_some_and(|extension| extension == "1"))
    );
}
