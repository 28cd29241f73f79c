//! Compares `docs/llms.txt` with the book, and the skills of the plugin with the program. `RALPH_WRITE_DOCS=1` writes
//! the file again.

use super::reference::verbs;
use super::root;
use fs_err as fs;
use regex_lite::Regex;

/// Returns the list of pages in the form of <https://llmstxt.org>: title, summary, a heading for each part.
fn list_of_pages() -> String {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let description = env!("CARGO_PKG_DESCRIPTION");
    let mut text = format!("# ralph\n\n> {description}.\n");
    for line in summary.lines().skip(1).filter(|line| !line.is_empty()) {
        let line = line.trim_start();
        let line = match line.strip_prefix("# ") {
            Some(part) => format!("\n## {part}\n\n"),
            None if line.starts_with('[') => format!("\n- {line}\n"),
            None => format!("{line}\n"),
        };
        text.push_str(&line);
    }
    text
}

#[test]
fn the_list_for_language_models_has_the_pages_of_the_book() {
    let path = root().join("docs/llms.txt");
    let wanted = list_of_pages();
    if std::env::var_os("RALPH_WRITE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap();
    assert!(
        found == wanted,
        "docs/llms.txt is out of date: run this test with RALPH_WRITE_DOCS=1"
    );
    let links = Regex::new(r"\]\(([^)]+)\)").unwrap();
    let pages: Vec<&str> = links
        .captures_iter(&wanted)
        .map(|link| link.get(1).unwrap().as_str())
        .collect();
    assert!(pages.len() > 30, "{pages:?}");
    for page in pages {
        assert!(root().join("docs").join(page).is_file(), "{page}");
    }
}

#[test]
fn the_skills_of_the_plugin_name_commands_that_exist() {
    let call = Regex::new("`ralph ([a-z-]+)").unwrap();
    let verbs = verbs();
    let mut seen = 0;
    for skill in ["write-a-spec-with-gates", "kill-survivors-honestly"] {
        let path = format!("templates/claude-plugin/skills/{skill}/SKILL.md");
        let text = fs::read_to_string(root().join(path)).unwrap();
        assert!(text.starts_with(&format!("---\nname: {skill}\ndescription: ")));
        for found in call.captures_iter(&text) {
            assert!(verbs.iter().any(|verb| *verb == found[1]), "{}", &found[1]);
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}
