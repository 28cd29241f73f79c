//! The expected cost of the open tasks, from the cost of finished tasks in this workspace.
//!
//! An agent's own figures are all that is known, so this is a hint before a run and never a limit.

use crate::machine::budget::dollars;
use crate::machine::choice::is_required_open;
use crate::machine::state::{SpecState, State, Used};
use crate::source::text::count;
use crate::task::Stage;
use serde::Serialize;
use std::collections::BTreeSet;

/// Finished tasks that an estimate needs: one task tells nothing of the next.
const LEAST: usize = 3;

/// The expected cost of the open tasks in the current task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Tasks with required boxes that are not ticked.
    pub open_tasks: usize,
    /// Finished tasks whose cost is known, in all task files of the workspace.
    pub from_tasks: usize,
    /// Millionths of a US dollar that one finished task took: the middle one, and the dearest.
    pub usd_micros_median: u64,
    /// The dearest.
    pub usd_micros_most: u64,
    /// Millionths of a US dollar for all open tasks, at the mean of the finished ones, less what the open ones took already.
    pub usd_micros: u64,
}

impl Estimate {
    /// Returns the estimate; `None` without open tasks or with too little history.
    pub fn of_state(state: &State) -> Option<Self> {
        let mut costs: Vec<u64> = state.specs.values().flat_map(finished_costs).collect();
        costs.sort_unstable();
        let from_tasks = costs.len();
        if from_tasks < LEAST {
            return None;
        }
        let spec = state.spec_state();
        let open = open_families(spec);
        let mean = costs
            .iter()
            .fold(0_u64, |sum, cost| sum.saturating_add(*cost))
            / from_tasks as u64;
        let usd_micros = open
            .iter()
            .map(|name| {
                let spent = spec.family(name).map_or(0, |family| family.used.micros);
                mean.saturating_sub(spent)
            })
            .fold(0, u64::saturating_add);
        (!open.is_empty()).then_some(Self {
            open_tasks: open.len(),
            from_tasks,
            usd_micros_median: costs.get(from_tasks / 2).copied().unwrap_or_default(),
            usd_micros_most: costs.last().copied().unwrap_or_default(),
            usd_micros,
        })
    }

    /// Returns one line; `limit` is `limits.cost.run`, millionths of a US dollar.
    pub fn estimate_line(&self, limit: Option<u64>) -> String {
        let more = limit
            .filter(|limit| *limit < self.usd_micros)
            .map(|limit| format!("; limits.cost.run is {}", dollars(limit)))
            .unwrap_or_default();
        format!(
            "estimate: {} for {} ({} took {} each, {} at most){more}",
            dollars(self.usd_micros),
            count(self.open_tasks as u64, "open task"),
            count(self.from_tasks as u64, "finished task"),
            dollars(self.usd_micros_median),
            dollars(self.usd_micros_most),
        )
    }
}

/// The families with required boxes that are not ticked. A parent's box is ticked with its last child and costs nothing.
fn open_families(spec: &SpecState) -> BTreeSet<&str> {
    let families = spec.rows.by_family();
    let rows = spec.rows.iter().filter(|row| {
        let works = row.key.stage != Stage::Implementation || !families.is_parent(&row.key.family);
        is_required_open(row) && works
    });
    rows.map(|row| row.key.family.as_str()).collect()
}

/// Returns the cost of each finished family that reported it.
fn finished_costs(spec: &SpecState) -> Vec<u64> {
    let open = open_families(spec);
    spec.families
        .iter()
        .filter(|(name, family)| {
            let used = &family.used;
            used.priced > 0 && *used != Used::default() && !open.contains(name.as_str())
        })
        .map(|(_, family)| family.used.micros)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::state::Family;
    use crate::task::{Grammar, TaskFile};

    fn state(text: &str, costs: &[(&str, u64)]) -> State {
        let mut state = State {
            spec: "tasks.md".to_owned(),
            ..State::default()
        };
        let mut spec = SpecState {
            rows: TaskFile::parse(text, &Grammar::default()).box_rows().into(),
            ..SpecState::default()
        };
        for (name, micros) in costs {
            let used = Used {
                micros: *micros,
                tokens: 1,
                priced: 1,
            };
            let family = Family {
                used,
                ..Family::default()
            };
            spec.families.insert((*name).to_owned(), family);
        }
        state.specs.insert("tasks.md".to_owned(), spec);
        state
    }

    #[test]
    fn open_tasks_cost_what_finished_ones_did() {
        let text = "- [x] 1. a\n- [x] 2. b\n- [x] 3. c\n- [ ] 4. d\n- [ ] 5. e\n- [ ]* 6. f\n- [ ] 7. g\n  - [ ] 7.1 h\n";
        let costs = [
            ("1", 1_000_000),
            ("2", 2_000_000),
            ("3", 6_000_000),
            ("4", 500_000),
        ];
        let estimate = Estimate::of_state(&state(text, &costs)).unwrap();
        assert_eq!(
            estimate.estimate_line(Some(5_000_000)),
            "estimate: $8.50 for 3 open tasks (3 finished tasks took $2.00 each, $6.00 at most); limits.cost.run is $5.00"
        );
        assert!(
            estimate
                .estimate_line(Some(9_000_000))
                .ends_with("at most)")
        );
    }

    #[test]
    fn too_little_history_and_no_open_task_are_no_estimate() {
        let two = [("1", 1), ("2", 1)];
        assert_eq!(
            Estimate::of_state(&state("- [x] 1. a\n- [x] 2. b\n- [ ] 3. c\n", &two)),
            None
        );
        let three = [("1", 1), ("2", 1), ("3", 1)];
        assert_eq!(
            Estimate::of_state(&state("- [x] 1. a\n- [x] 2. b\n- [x] 3. c\n", &three)),
            None
        );
        let most = [("1", u64::MAX), ("2", u64::MAX), ("3", u64::MAX)];
        assert!(
            Estimate::of_state(&state(
                "- [x] 1. a\n- [x] 2. b\n- [x] 3. c\n- [ ] 4. d\n",
                &most
            ))
            .is_some()
        );
    }
}
