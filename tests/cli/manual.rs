//! `schema`, `completions` and `man`: made from what the program reads by, for programs that read them.

use super::project::Project;

#[test]
fn the_schema_is_json_with_every_section_and_needs_no_workspace() {
    let project = Project::empty();
    let schema: serde_json::Value = serde_json::from_str(&project.ralph(&["schema"]).code(0).out).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for key in ["spec", "packages", "agents", "gates", "limits"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}");
    }
    assert_eq!(project.ralph(&["schema", "--json"]).code(0).json(), [schema]);
    assert!(project.files().is_empty());
}

#[test]
fn each_shell_gets_completions_of_every_verb() {
    let project = Project::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project.ralph(&["completions", shell]).code(0).out;
        for verb in ["run", "gate", "init", "completions"] {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
        if shell == "bash" {
            project.write("ralph.bash", &script);
            let mut bash = project.program("bash");
            bash.args(["-c", ". ./ralph.bash; COMP_WORDS=(ralph comp); COMP_CWORD=1; _ralph ralph comp ralph; echo ${COMPREPLY[*]}"]);
            bash.current_dir(project.path(""));
            assert_eq!(Project::finish(bash).code(0).out, "completions\n");
        }
    }
    assert!(project.ralph(&["completions", "tcsh"]).code(2).err.contains("bash"));
}

#[test]
fn there_is_a_page_for_ralph_and_one_for_each_verb() {
    let project = Project::empty();
    let page = project.ralph(&["man"]).code(0).out;
    assert!(page.contains(".TH ralph 1") && page.contains("EXIT STATUS"), "{page}");
    assert!(project.files().is_empty());
    let wrote = project.ralph(&["man", "--into", "pages/man1"]).code(0).out;
    assert!(wrote.ends_with(" into pages/man1\n"), "{wrote}");
    let pages = project.files();
    assert!(pages.len() > 20, "{}", pages.len());
    for path in pages.keys() {
        let page = project.read(path.to_str().unwrap());
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        let sections =
            page.split(".SH ").skip(1).filter_map(|part| part.split_once('\n')).collect::<Vec<_>>();
        for wanted in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"] {
            let found = sections.iter().find(|(title, _)| title.trim_matches('"') == wanted);
            let (_, text) = found.unwrap_or_else(|| panic!("{name}: {wanted}"));
            assert!(text.lines().any(|line| !line.starts_with('.')), "{name}: {wanted}");
        }
        let help = name.strip_prefix("ralph-").map(|verb| project.ralph(&[verb, "--help"]).code(0).out);
        let is_whole = |help: &String| help.contains("Example") && help.contains("Exit codes: ");
        assert!(help.as_ref().is_none_or(is_whole), "{name}: {help:?}");
    }
    assert!(project.files().keys().all(|path| path.extension().is_some_and(|extension| extension == "1")));
}
