//! The needs of the tasks under a heading with an id, as in spec-kitty: `### WP02: Callback` and `**Dependencies**: WP01`.
//!
//! Each of its tasks needs all tasks of those headings. Lanes do its own tasks in their order.

use super::file::TaskFile;
use super::needs::{TaskNeeds, is_id, on_line};
use super::remark_kind::{Remark, RemarkKind};
use super::scan::ReadAs;
use std::collections::HashMap;

/// Ids that the needs of all tasks may have in sum. Each task is recorded with all of its own.
const MOST: usize = 100_000;
/// Words that may come before the id of a heading.
const TITLES: [&str; 2] = ["Work Package ", "Task "];

impl TaskFile {
    /// Returns the needs by family. A heading that names none is not in it.
    ///
    /// # Errors
    ///
    /// The number of ids in all needs, above [`MOST`].
    pub(super) fn needs_by_heading(&self) -> Result<HashMap<&str, TaskNeeds>, usize> {
        let sections = self.sections_with_ids();
        let lists = self.needs_of_sections(&sections);
        let mut needs = HashMap::new();
        if lists.is_empty() {
            return Ok(needs);
        }
        let mut tasks_of: HashMap<&str, Vec<&str>> = HashMap::new();
        for task in self.tasks.iter().filter(|task| task.is_implementation()) {
            if let Some(Some(id)) = sections.get(task.found.group as usize) {
                tasks_of.entry(id).or_default().push(&task.key.family);
            }
        }
        let count_of = |id: &str| tasks_of.get(id).map_or(0, Vec::len);
        let mut total: usize = 0;
        for (id, list) in &lists {
            let ids: usize = list.iter().map(|need| count_of(need).max(1)).sum();
            total = total.saturating_add(ids.saturating_mul(count_of(id)));
        }
        if total > MOST {
            return Err(total);
        }
        for (id, list) in &lists {
            let mut all: Vec<String> = Vec::new();
            for need in list {
                match tasks_of.get(need.as_str()) {
                    Some(tasks) => all.extend(tasks.iter().map(|task| (*task).to_owned())),
                    None => all.push(need.clone()),
                }
            }
            let of_heading = TaskNeeds {
                ids: Some(all),
                work_package: Some((*id).to_owned()),
            };
            for task in tasks_of.get(id).into_iter().flatten().copied() {
                needs.insert(task, of_heading.clone());
            }
        }
        Ok(needs)
    }

    /// Adds a remark if the headings name too many needs.
    pub(super) fn remark_headings(&self, remarks: &mut Vec<Remark>) {
        if let Err(total) = self.needs_by_heading() {
            let total = total.to_string();
            let most = MOST.to_string();
            remarks.push(Remark::new(1, RemarkKind::TooManyNeeds, &[&total, &most]));
        }
    }

    /// Returns the id of the heading with an id that is nearest above, for each number of headings above.
    fn sections_with_ids(&self) -> Vec<Option<String>> {
        let mut sections = vec![None];
        let mut above: Vec<(u8, Option<String>)> = Vec::new();
        for (level, title) in (0..self.headings.len()).filter_map(|at| self.heading_words(at)) {
            above.retain(|(own, _)| *own < level);
            above.push((level, heading_id(&title)));
            sections.push(above.iter().rev().find_map(|(_, id)| id.clone()));
        }
        sections
    }

    /// Returns the first list of needs in each section: on a line that belongs to no task.
    fn needs_of_sections<'a>(
        &self,
        sections: &'a [Option<String>],
    ) -> HashMap<&'a str, Vec<String>> {
        let mut lists = HashMap::new();
        let mut id = None;
        for line in self.read_lines() {
            match line.read {
                ReadAs::Heading(at) => id = sections.get(at + 1).and_then(Option::as_deref),
                ReadAs::Text if !line.text.starts_with(b" ") && !line.text.starts_with(b"\t") => {
                    if let (Some(id), Some(list)) = (id, on_line(line.text)) {
                        lists.entry(id).or_insert(list);
                    }
                }
                _ => {}
            }
        }
        lists
    }
}

/// Returns the id at the start of a heading: `WP01` of `Work Package WP01: Setup`.
fn heading_id(title: &str) -> Option<String> {
    let rest = TITLES.iter().find_map(|word| title.strip_prefix(word));
    let word = rest.unwrap_or(title).split_whitespace().next()?;
    let word = word.trim_matches(|c: char| "*_`[].:".contains(c));
    is_id(word).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{Grammar, TaskFile};
    use std::fmt::Write as _;

    fn needs_of(text: &str) -> String {
        let rows = TaskFile::parse(text, &Grammar::default()).box_rows();
        let needs = rows.iter().filter_map(|row| {
            let needs = row.needs.as_ref()?;
            Some(format!("{}<{}", row.key.family, needs.join(",")))
        });
        needs.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_tasks_of_a_work_package_need_those_of_the_packages_that_it_names() {
        let kittys = "# Tasks\n\n**Dependencies**: T001\n\n## WP01: Store\n\n- [ ] T001 a\n- [ ] T002 b\n\n\
            **Dependencies**: none, this is the root\n\n## Work Package WP02 \u{2014} Callback\n- **Dependencies**: WP01 (uses errors)\n\
            ### Subtasks\n- [ ] T003 c\n  - Depends on: T001\n- [ ] T004 d\n\n### WP03: Poll\n**Dependencies**: WP01, T003, WP09\n- [ ] T005 e\n\
            ## WP04\n- [ ] T006 f\n";
        assert_eq!(
            needs_of(kittys),
            "T001< T002< T003<T001 T004<T001,T002 T005<T001,T002,T003,WP09"
        );
        let file = TaskFile::parse(kittys, &Grammar::default());
        let unknown: Vec<_> = file
            .find_remarks()
            .into_iter()
            .filter(|remark| remark.message.contains("depends on"))
            .map(|remark| (remark.line, remark.message))
            .collect();
        let message =
            "The task depends on `WP09`, which is no task of this file, so no lane does it ahead.";
        assert_eq!(unknown, [(21, message.to_owned())]);
        let [first, second] = ["A", "B"].map(|letter| {
            let mut tasks = String::new();
            for number in 1..=400 {
                writeln!(tasks, "- [ ] {letter}{number} x").unwrap();
            }
            tasks
        });
        let many = format!("## WP01\n{first}## WP02\nDependencies: WP01\n{second}");
        assert_eq!(needs_of(&many), "");
        let remarks = TaskFile::parse(many, &Grammar::default()).find_remarks();
        let message = "The dependencies of headings name 160000 tasks in sum, and 100000 is the limit. The tasks keep their order.";
        assert!(
            remarks.iter().any(|remark| remark.message == message),
            "{remarks:?}"
        );
        // A heading without an id has no needs, and none are taken from a step of a task.
        assert_eq!(
            needs_of("## Phase 2\n**Dependencies**: 1\n- [ ] 1. a\n"),
            ""
        );
        assert_eq!(
            needs_of("## WP01\n- [ ] 1. a\n    Dependencies: 2\n"),
            "1<2"
        );
    }
}
