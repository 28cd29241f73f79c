//! ralph's own files for a prompt: the task of tasks.md, the end of progress.txt.
//!
//! Read only.

use super::{Fault, Places};
use crate::sys::Disk;
use crate::task::{TaskKey, TaskRules, TaskText};

/// Bytes of the end of progress.txt that are read for a prompt, which shows a part of them.
const PROMPT_TAIL: u64 = 64 * 1024;

/// The texts of a prompt in addition to the order, as the engine read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// The task as tasks.md has it; empty if that is not there.
    pub task: TaskText,
    /// The end of progress.txt.
    pub progress: Vec<u8>,
    /// Bytes of progress.txt before that.
    pub progress_before: u64,
}

/// Reads what the prompt of a box needs; `tasks` are the bytes of tasks.md where they are known.
pub fn read_for_prompt(
    disk: &dyn Disk,
    places: &Places,
    rules: &TaskRules,
    tasks: Option<Vec<u8>>,
    key: &TaskKey,
) -> Result<Readings, Fault> {
    let tasks = match tasks {
        Some(bytes) => bytes,
        None => disk.read(&places.tasks_file())?.unwrap_or_default(),
    };
    let path = places.progress_file();
    let tail = if disk.is_odd(&path)? {
        None
    } else {
        disk.tail(&path, PROMPT_TAIL)?
    };
    let (progress, progress_before) = from_line_start(tail.unwrap_or_default());
    Ok(Readings {
        task: rules.parse(tasks).text_of(key),
        progress,
        progress_before,
    })
}

/// The end of a file and how many bytes come before it, without the line that was cut, if a whole one begins behind that.
pub(super) fn from_line_start((mut bytes, mut before): (Vec<u8>, u64)) -> (Vec<u8>, u64) {
    if before > 0
        && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
    {
        bytes.drain(..=end);
        before += end as u64 + 1;
    }
    (bytes, before)
}
