//! Lines of text between tasks that say to stop and wait for approval.
//!
//! Each becomes a box without a mark in the file, so `ralph accept tasks.md:<line>` lets the run continue.

use super::family::text_digest;
use super::file::TaskFile;
use super::meaning::is_stop;
use super::row::{Mark, Row};
use super::scan::{ReadAs, clean_line, measure_indent};
use super::stage::{Stage, TaskKey};
use std::collections::HashMap;

impl TaskFile {
    /// Returns the boxes with one more for each line that stops the run, at its position.
    ///
    /// A line that a ticked task follows counts as accepted.
    pub(super) fn with_stops(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let last_done = rows
            .iter()
            .filter(|row| row.mark.is_done())
            .map(|row| row.line)
            .max()
            .unwrap_or(0);
        rows.extend(self.stop_rows().into_iter().map(|stop| {
            let is_accepted = stop.line < last_done;
            let mark = if is_accepted { Mark::DONE } else { Mark::OPEN };
            Row { mark, ..stop }
        }));
        rows.sort_by_key(|row| row.line);
        rows
    }

    fn stop_rows(&self) -> Vec<Row> {
        let (first, last) = (line_of(self.tasks.first()), line_of(self.tasks.last()));
        let (mut group, mut found) = (0, Vec::new());
        let mut seen: HashMap<String, u32> = HashMap::new();
        for line in self.read_lines() {
            if let ReadAs::Heading(at) = line.read {
                group = u32::try_from(at + 1).unwrap_or(u32::MAX);
            }
            let is_between =
                (first..last).contains(&line.number) && measure_indent(line.text, 0).0 == 0;
            if !is_between || !matches!(line.read, ReadAs::Text | ReadAs::Heading(_)) {
                continue;
            }
            let text = clean_line("", line.text);
            if !is_stop(&text) {
                continue;
            }
            let digest = text_digest(line.text);
            let occurrence = seen
                .entry(digest.clone())
                .and_modify(|n| *n += 1)
                .or_insert(1);
            let family = format!("~{digest}#stop{occurrence}");
            found.push(Row {
                key: TaskKey {
                    family,
                    stage: Stage::Implementation,
                },
                line: line.number,
                mark: Mark::OPEN,
                optional: false,
                parent: None,
                group,
                text,
                digest,
                under: None,
                struck: false,
                approval: true,
                checkpoint: true,
                needs: None,
                work_package: None,
                is_virtual: true,
            });
        }
        found
    }
}

/// Returns the line of a task; 0 without one.
fn line_of(task: Option<&super::family::NamedBox>) -> u32 {
    task.map_or(0, |task| task.found.line)
}
