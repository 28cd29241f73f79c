//! A package that belongs to another user.

use super::project::Project;
use crate::support::needs::tests;

fn a_package_of_another_user_is_refused_with_what_to_do() {
    let project = Project::new("- [ ] 1. One\n");
    for path in ["src/app", "src/app/.git"] {
        std::os::unix::fs::chown(project.path(path), Some(12345), None).unwrap();
    }
    let done = project.ralph(&["run"]).code(2);
    assert!(
        done.err.contains("app") && done.err.contains("belongs to another user"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains("hint: ") && done.err.contains("safe.directory"),
        "{}",
        done.err
    );
    assert!(
        !project.has(".ralph/state/journal.jsonl"),
        "nothing was begun"
    );
}

tests! {
    root: [
        a_package_of_another_user_is_refused_with_what_to_do,
    ]
}
