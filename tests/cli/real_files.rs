//! Real task files of Kiro, spec-kit and `OpenSpec`, run to their end: they differ from the start in ticks alone.

use super::project::Project;
use crate::taskfiles::corpus;
use ralph::task::{Grammar, Mark, TaskFile};

/// A file of the corpus, whose form it has, and how many of its boxes are open and required.
type Real = (&'static str, &'static str, usize);

const FILES: [Real; 3] = [
    ("FouadABT+kiroween-dashtact-004.md", "Kiro", 67),
    ("joesh+jve-spec-kit-claude-007.md", "spec-kit", 26),
    ("Fission-AI+OpenSpec-004.md", "OpenSpec", 22),
];

/// The same forms with less to do: each task has five stages.
const SMALLER: [Real; 3] = [
    ("FouadABT+kiroween-dashtact-020.md", "Kiro", 5),
    ("joesh+jve-spec-kit-claude-007.md", "spec-kit", 26),
    ("Fission-AI+OpenSpec-004.md", "OpenSpec", 22),
];

/// The bytes with each required open box ticked.
fn ticked(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut ticked = bytes.to_vec();
    let mut count = 0;
    let file = TaskFile::parse(bytes, &Grammar::default());
    for (row, at) in file.rows().iter().zip(file.mark_offsets()) {
        if !row.optional && row.mark == Mark::OPEN {
            ticked[at] = b'x';
            count += 1;
        }
    }
    (ticked, count)
}

fn run_to_the_end(files: &[Real], config: &str) {
    let folder = match corpus() {
        Ok(folder) => folder,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    for &(name, form, open) in files {
        let before = fs_err::read(folder.join(name)).unwrap();
        let (expected, count) = ticked(&before);
        assert_eq!(count, open, "{form}");
        let project = Project::new(&before);
        project.config(config);
        let mut command = project.command(&["run"]);
        command.stdin(std::process::Stdio::null());
        let done = Project::finish_within(command, 300).code(0);
        assert!(done.out.ends_with("All required boxes are ticked.\n"), "{form}: {}", done.out);
        assert_eq!(
            String::from_utf8_lossy(&project.bytes("tasks.md")),
            String::from_utf8_lossy(&expected),
            "{form}"
        );
    }
}

#[test]
fn they_run_to_the_end_as_they_are() {
    run_to_the_end(&FILES, "");
}

#[test]
fn they_run_through_all_stages_without_a_line_for_them() {
    run_to_the_end(&SMALLER, "stages: virtual\n");
}
