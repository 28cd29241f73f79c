//! The waves of Kiro's task dependency graph: a fence with `{"waves": [{"id": 0, "tasks": ["1.1", "2.1"]}, …]}`.
//!
//! A task needs the tasks of the wave before its own, and the nearest required task above it that no wave names. Kiro lists
//! no checkpoints, and does them last (kirodotdev/Kiro#9602).

use super::file::TaskFile;
use super::remark_kind::{Remark, RemarkKind};
use super::scan::{ReadAs, scan_lines};
use crate::source::text::line;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Tasks that the waves of a file may name. Each of them is recorded with the names of the wave before.
const MOST: usize = 500;

#[derive(Deserialize)]
struct DependencyGraph {
    waves: Vec<Wave>,
}

#[derive(Deserialize)]
struct Wave {
    tasks: Vec<WaveTask>,
}

/// Kiro writes `"1.1"`, and `1` for a task without a dot.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a task is a text such as \"1.1\", or a whole number"
)]
enum WaveTask {
    Number(u32),
    Id(String),
}

/// The waves of a file, each with the ids of its tasks.
pub(super) struct Waves {
    /// 1-based line of the fence.
    line: u32,
    waves: Vec<Vec<String>>,
}

impl TaskFile {
    /// Returns the needs of the tasks that the waves name, by family.
    pub(super) fn needs_by_wave(&self) -> HashMap<&str, Vec<String>> {
        let mut needs = HashMap::new();
        let Ok(Some(Waves { waves, .. })) = self.read_waves() else {
            return needs;
        };
        let mut wave_of: HashMap<&str, usize> = HashMap::new();
        for (at, wave) in waves.iter().enumerate() {
            for id in wave {
                wave_of.entry(id).or_insert(at);
            }
        }
        let known = self.work_families();
        let parents: HashSet<usize> = (0..self.len())
            .filter_map(|at| self.parent_of(at))
            .collect();
        let mut unnamed_above = None;
        for (at, task) in self.tasks.iter().enumerate() {
            let family = task.key.family.as_str();
            if !task.is_implementation() {
                continue;
            }
            if let Some(wave) = wave_of.get(family) {
                let before = wave.checked_sub(1).and_then(|before| waves.get(before));
                let before = before.into_iter().flatten().map(String::as_str);
                let before = before.filter(|id| known.contains(id));
                let all = before.chain(unnamed_above).map(str::to_owned);
                needs.insert(family, all.collect());
            } else if !parents.contains(&at)
                && !task.optional
                && !task.struck
                && !self.is_in_wave(at, &wave_of)
            {
                unnamed_above = Some(family);
            }
        }
        needs
    }

    /// Adds a remark if the waves cannot be read, or name what is no task.
    pub(super) fn remark_waves(&self, remarks: &mut Vec<Remark>) {
        let waves = match self.read_waves() {
            Ok(waves) => waves,
            Err((at, reason)) => {
                remarks.push(Remark::new(at, RemarkKind::UnreadWaves, &[&reason]));
                None
            }
        };
        let Some(Waves { line: at, waves }) = waves else {
            return;
        };
        let known = self.work_families();
        let mut ids = waves.iter().flatten();
        if let Some(id) = ids.find(|id| !known.contains(id.as_str())) {
            let id = line(id, 40);
            remarks.push(Remark::new(at, RemarkKind::UnknownWaveTask, &[&id]));
        }
    }

    fn work_families(&self) -> HashSet<&str> {
        let works = self.tasks.iter().filter(|task| task.is_implementation());
        works.map(|task| task.key.family.as_str()).collect()
    }

    /// Returns the waves of the only fence that has some; `None` without such a fence.
    ///
    /// # Errors
    ///
    /// The line of a fence that is no list of waves, or a second one, with the reason.
    fn read_waves(&self) -> Result<Option<Waves>, (u32, String)> {
        let mut found: Option<Waves> = None;
        let fences = self
            .excluded
            .iter()
            .filter(|part| part.read == ReadAs::Fence);
        for fence in fences {
            let text = self.bytes.get(fence.range.clone()).unwrap_or_default();
            let Some(object) = json_object(text) else {
                continue;
            };
            let at = self.line_at(fence.range.start);
            let waves = read_graph(object).map_err(|reason| (at, reason))?;
            if let Some(first) = &found {
                let reason = format!("line {} has others", first.line);
                return Err((at, reason));
            }
            found = Some(Waves { line: at, waves });
        }
        Ok(found)
    }

    /// True if the waves name the task or one above it.
    fn is_in_wave(&self, at: usize, wave_of: &HashMap<&str, usize>) -> bool {
        let above = std::iter::successors(Some(at), |at| self.parent_of(*at));
        let mut tasks = above.filter_map(|at| self.tasks.get(at));
        tasks.any(|task| wave_of.contains_key(task.key.family.as_str()))
    }
}

/// Returns the text of a fence between its marks if it looks like a JSON object with waves.
fn json_object(fence: &[u8]) -> Option<&[u8]> {
    memchr::memmem::find(fence, b"\"waves\"")?;
    let start = scan_lines(fence, 0).next()?.next;
    let body = fence.get(start..)?.trim_ascii_start();
    if body.first() != Some(&b'{') {
        return None;
    }
    let end = memchr::memrchr(b'}', body)?;
    body.get(..=end)
}

fn read_graph(object: &[u8]) -> Result<Vec<Vec<String>>, String> {
    let graph: DependencyGraph = serde_json::from_slice(object).map_err(|error| {
        // The place that follows is counted in the fence, not in the file.
        let text = error.to_string();
        line(text.split(" at line ").next().unwrap_or_default(), 80)
    })?;
    let waves = graph.waves.into_iter().map(|wave| {
        let ids = wave.tasks.into_iter().map(|task| match task {
            WaveTask::Number(number) => number.to_string(),
            WaveTask::Id(id) => id.trim().trim_end_matches('.').to_owned(),
        });
        ids.collect::<Vec<String>>()
    });
    let waves: Vec<Vec<String>> = waves.filter(|wave| !wave.is_empty()).collect();
    let named: usize = waves.iter().map(Vec::len).sum();
    if named > MOST {
        return Err(format!("they name {named} tasks, and {MOST} is the limit"));
    }
    Ok(waves)
}

#[cfg(test)]
mod tests {
    use super::super::{Grammar, TaskFile};

    const TASKS: &str = "- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n  - [ ]* 1.3 c\n- [ ] 2. Checkpoint\n- [ ] 3. B\n  \
        - [ ] 3.1 d\n    - _Depends: none_\n  - [ ] 3.2 e\n- [ ] 4. C\n";

    fn file_with(fence: &str) -> TaskFile {
        let text = format!("{TASKS}\n## Task Dependency Graph\n\n{fence}\n");
        TaskFile::parse(text, &Grammar::default())
    }

    fn needs_with(fence: &str) -> String {
        let rows = file_with(fence).box_rows();
        let needs = rows.iter().filter_map(|row| {
            let needs = row.needs.as_ref()?;
            Some(format!("{}<{}", row.key.family, needs.join(",")))
        });
        needs.collect::<Vec<_>>().join(" ")
    }

    fn remarks_of(fence: &str) -> Vec<String> {
        let remarks = file_with(fence).find_remarks().into_iter();
        let about = remarks.filter(|remark| remark.message.contains("waves"));
        about
            .map(|remark| format!("{}: {}", remark.line, remark.message))
            .collect()
    }

    #[test]
    fn a_task_needs_the_wave_before_its_own_and_a_task_above_that_has_no_wave() {
        let kiros = "```json\n{\n  \"waves\": [\n    { \"id\": 0, \"tasks\": [\"1.1\", \"3.2\"] },\n    \
            { \"id\": 1, \"tasks\": [\"1.2\", \"1.3\", \"3.1\"] },\n    { \"wave\": 2, \"tasks\": [4] }\n  ]\n}\n```";
        // 3.1 names its needs itself. 2 has no wave, so it comes before the tasks below it.
        let needs = "1.1< 1.2<1.1,3.2 1.3<1.1,3.2 3.1< 3.2<2 4<1.2,1.3,3.1,2";
        assert_eq!(needs_with(kiros), needs);
        assert!(remarks_of(kiros).is_empty());
        // A wave of parents names their children with them.
        let parents = "```\n{\"waves\": [{\"tasks\": [1]}, {\"tasks\": [\"3.\"]}, {\"tasks\": []}, {\"tasks\": [4]}]}\n```";
        assert_eq!(needs_with(parents), "1< 3<1,2 3.1< 4<3,2");
    }

    #[test]
    fn waves_that_cannot_be_followed_give_a_remark_and_no_needs() {
        let one = "```json\n{\"waves\": [{\"tasks\": [\"1.1\"]}]}\n```";
        let many = format!("[{}]", ["\"1.1\""; 501].join(","));
        for (fence, remark) in [
            (
                format!("{one}\n{one}"),
                "17: ralph does not follow the waves of this fence: line 14 has others. Its tasks keep their order.",
            ),
            (
                one.replace("{\"tasks", "{\"steps"),
                "14: ralph does not follow the waves of this fence: missing field `tasks`. Its tasks keep their order.",
            ),
            (
                one.replace("[\"1.1\"]", &many),
                "14: ralph does not follow the waves of this fence: they name 501 tasks, and 500 is the limit. Its tasks keep their order.",
            ),
            (
                one.replace("\"1.1\"", "1.1"),
                "14: ralph does not follow the waves of this fence: a task is a text such as \"1.1\", or a whole number. Its tasks keep their order.",
            ),
        ] {
            assert_eq!(needs_with(&fence), "3.1<", "{fence}");
            assert_eq!(remarks_of(&fence), [remark]);
        }
        // An id that is no task is left out.
        let unknown = one.replace("\"1.1\"]", "\"9.9\"]}, {\"tasks\": [4]");
        assert_eq!(needs_with(&unknown), "3.1< 4<3.2");
        let remark =
            "14: The waves name `9.9`, which is no task of this file, so no task waits for it.";
        assert_eq!(remarks_of(&unknown), [remark]);
        for other in [
            "    {\"waves\": [{\"tasks\": [4]}]}",
            "```js\nplay({\"waves\": 3})\n```",
            "```\n",
        ] {
            assert_eq!(needs_with(other), "3.1<");
            assert!(remarks_of(other).is_empty());
        }
    }
}
