//! Tasks that other Markdown tools do not see.
//!
//! Owns: the comparison of the tasks with the list items of `CommonMark`.
//!
//! Promises: one remark for tasks that follow each other; nothing is taken from them.
//!
//! Refuses to know: why `CommonMark` reads a line as it does.

use super::{Remark, RemarkKind};
use crate::task::TaskFile;
use crate::task::exclude::list_items;
use crate::task::walk::{Stands, walk};

/// The remarks on tasks that begin no list item.
pub(super) fn remarks(file: &TaskFile) -> Vec<Remark> {
    let items = list_items(file.bytes());
    let mut remarks = Vec::new();
    // The first line and the number of the tasks that follow each other.
    let mut run: Option<(u32, u32)> = None;
    for walked in walk(file).filter(|walked| matches!(walked.stands, Stands::Task(_))) {
        if items.contains(&walked.line.start) {
            remarks.extend(run.take().map(remark));
        } else {
            let (first, count) = run.unwrap_or((walked.number, 0));
            run = Some((first, count + 1));
        }
    }
    remarks.extend(run.map(remark));
    remarks
}

fn remark((line, count): (u32, u32)) -> Remark {
    let what = match count {
        1 => format!(
            "The box on line {line} is a task for ralph; other Markdown tools read it as code or text."
        ),
        _ => format!(
            "Line {line} is the first of {count} boxes that are tasks for ralph; other Markdown tools read them as code or text."
        ),
    };
    let hint = "Indent it less (or below the item that it belongs to), and leave a blank line above; put it in a fence when it is no task.";
    Remark::new(line, RemarkKind::UnlistedBox, what, hint)
}
