//! Tries a template with the facts of two made-up attempts, a first one and a later one.

use super::{PromptError, PromptFacts, PromptPackage, render};
use crate::config::Role;

/// Fills a user's template with made-up facts, once with few and once with many of them.
///
/// Both sides of `{% if reasons %}` are tried. A part that depends on one value alone (`{% if attempt == 3 %}`) may
/// not be reached.
///
/// # Errors
/// The template is malformed, or uses a variable that does not exist.
pub fn try_out(given: &str, role: Role) -> Result<(), PromptError> {
    for facts in [first_attempt(), later_attempt()] {
        render(Some(given), role, &facts)?;
    }
    Ok(())
}

/// Returns the first attempt at a task without an id.
fn first_attempt() -> PromptFacts {
    PromptFacts {
        task: "do this".to_owned(),
        task_text: "Do this".to_owned(),
        stage: "IMPLEMENT".to_owned(),
        iteration: 1,
        attempt: 1,
        workspace: "/workspace".to_owned(),
        spec: "/workspace".to_owned(),
        tasks_file: "tasks.md".to_owned(),
        progress_file: "progress.txt".to_owned(),
        packages: packages(&["app"]),
        validation_report: "/workspace/validation-report.md".to_owned(),
        threshold: 70,
        verdict_token: "0000".to_owned(),
        ..PromptFacts::default()
    }
}

/// Returns an attempt after a rejected one, with every fact set.
fn later_attempt() -> PromptFacts {
    PromptFacts {
        task: text("2.1."),
        id: text("2.1"),
        implementation: text("Do this\n- A step"),
        parents: vec![text("A part")],
        iteration: 7,
        attempt: 2,
        spec_files: vec![
            (text("requirements.md"), text("A requirement")),
            (text("design.md"), text("A design")),
        ],
        findings: vec![text("A finding")],
        may_change_tests: true,
        reasons: vec![text("A reason"), text("Another reason")],
        progress: text("An entry"),
        leftovers: vec![text("app/a.txt"), text("lib/b.txt")],
        packages: packages(&["app", "lib"]),
        commit_by_ralph: true,
        diff_file: text("/workspace/.ralph/state/latest-task-diff.txt"),
        changes: vec![text("app/a.txt"), text("lib/b.txt")],
        build_settings: vec![text("app/pom.xml")],
        verdict_wanted: true,
        test_names: vec![text("{}Test")],
        ..first_attempt()
    }
}

/// Returns an owned text.
fn text(text: &str) -> String {
    text.to_owned()
}

fn packages(names: &[&str]) -> Vec<PromptPackage> {
    names
        .iter()
        .map(|name| PromptPackage {
            name: (*name).to_owned(),
            path: format!("src/{name}"),
            base: "4b825dc".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::try_out;
    use crate::agent::builtin;
    use crate::config::Role;

    #[test]
    fn the_templates_that_come_with_ralph_can_be_filled() {
        for role in Role::all() {
            assert_eq!(try_out(builtin(role), role), Ok(()), "{role:?}");
        }
    }

    #[test]
    fn both_sides_of_a_condition_are_read() {
        for name in [
            "reasons",
            "leftovers",
            "verdict_wanted",
            "commit_by_ralph",
            "requirements",
            "id",
        ] {
            for template in [
                format!("{{% if {name} %}}\n{{{{ nope }}}}\n{{% endif %}}"),
                format!("{{% if not {name} %}}\n{{{{ nope }}}}\n{{% endif %}}"),
            ] {
                let error = try_out(&template, Role::Worker).expect_err(&template);
                assert_eq!(
                    (error.line, error.what.contains("does not exist")),
                    (Some(2), true),
                    "{template}"
                );
            }
        }
    }
}
