//! Task files run to their end, after which they differ from the start only in ticks.

use super::project::Project;
use ralph::task::{Grammar, Mark, TaskFile};

/// Runs the tasks and returns the number of ticked boxes.
pub(crate) fn run_to_the_end(bytes: &[u8]) -> usize {
    run(bytes, "")
}

/// Runs the tasks through all stages.
pub(crate) fn run_to_the_end_without_lines_for_stages(bytes: &[u8]) -> usize {
    run(bytes, "stages: virtual\n")
}

fn run(before: &[u8], config: &str) -> usize {
    let (expected, count) = ticked(before);
    let project = Project::new(before);
    project.config(config);
    let mut command = project.command(&["run"]);
    command.stdin(std::process::Stdio::null());
    let done = Project::finish_within(command, 300).code(0);
    assert!(
        done.out.ends_with("All required boxes are ticked.\n"),
        "{}",
        done.out
    );
    assert_eq!(
        String::from_utf8_lossy(&project.bytes("tasks.md")),
        String::from_utf8_lossy(&expected)
    );
    count
}

/// Returns the bytes with each required open box ticked, and the number of these.
fn ticked(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut ticked = bytes.to_vec();
    let mut count = 0;
    let file = TaskFile::parse(bytes, &Grammar::default());
    for (row, at) in file.box_rows().iter().zip(file.mark_offsets()) {
        if !row.optional && row.mark == Mark::OPEN {
            ticked[at] = b'x';
            count += 1;
        }
    }
    (ticked, count)
}
