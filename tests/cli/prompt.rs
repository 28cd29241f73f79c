//! `ralph prompt`, and the content of prompts.

use super::project::Project;

const TASKS: &str = "# Orders\n\n- [ ] 1. Sum a cart\n  - an empty cart costs nothing\n- [ ] 1.REQ-CHECK Is each requirement met?\n- [ ] 1.LINT\n";

#[test]
fn it_shows_what_an_agent_would_get_and_changes_nothing() {
    let project = Project::new(TASKS);
    project.config("gates: {LINT: {run: [\"true\"]}}\n");
    project.write("requirements.md", "R1: carts have a sum.\n");
    project.write("specs/cart/spec.md", "A cart holds articles.\n");
    project.write("specs/cart/picture.svg", "<svg/>\n");
    let before = project.files();
    let next = project.ralph(&["prompt"]).code(0).out;
    for wanted in [
        "stage IMPLEMENT",
        "Orders",
        "Sum a cart\n  - an empty cart costs nothing",
        "R1: carts have a sum.",
        "=== DATA",
        ": specs/cart/spec.md ===\nA cart holds articles.",
        "`app` in `src/app`",
        "`progress.txt`",
    ] {
        assert!(next.contains(wanted), "{wanted}\n{next}");
    }
    assert!(!next.contains("svg"), "{next}");
    let review = &project
        .ralph(&["prompt", "1.REQ-CHECK", "--json"])
        .code(0)
        .json()[0];
    assert_eq!(
        (review["role"].as_str(), review["attempt"].as_u64()),
        (Some("req-reviewer"), Some(1))
    );
    let review = review["prompt"].as_str().unwrap();
    assert!(
        review.contains("Is each requirement met?") && review.contains("Nothing was changed"),
        "{review}"
    );
    assert!(
        review.contains("  - an empty cart costs nothing"),
        "{review}"
    );
    let gate = project.ralph(&["prompt", "1.LINT"]).code(2).err;
    assert!(
        gate.contains("1.LINT is a gate") && gate.contains("`ralph gate 1.LINT`"),
        "{gate}"
    );
    assert!(project.files() == before);

    let template = project
        .ralph(&["prompt", "--template", "worker"])
        .code(0)
        .out;
    project.write(".ralph/prompts/worker.md", format!("{template}Be quick.\n"));
    assert!(
        project
            .ralph(&["prompt", "1."])
            .code(0)
            .out
            .ends_with("Be quick.\n")
    );
    assert!(!project.ralph(&["check"]).out.contains("prompts"));
}

#[test]
fn a_review_is_told_what_was_changed_since_when_and_where() {
    let project = Project::new("- [ ] 1. Sum a cart\n- [ ] 1.REQ-CHECK\n");
    let base = project.head();
    project.ralph(&["run", "--once"]).code(5);
    let prompt = project.ralph(&["prompt"]).code(0).out;
    assert!(prompt.contains("Sum a cart"), "{prompt}");
    assert!(
        prompt.contains("\nsrc/app/src/main/1.txt\n"),
        "from the working directory: {prompt}"
    );
    let command = format!("git -C src/app diff {base}..HEAD");
    assert!(prompt.contains(&format!("    {command}\n")), "{prompt}");
    let words: Vec<&str> = command.split(' ').collect();
    let mut git = project.program(words[0]);
    git.args(&words[1..]).current_dir(project.path(""));
    assert!(Project::finish(git).code(0).out.contains("src/main/1.txt"));
}
