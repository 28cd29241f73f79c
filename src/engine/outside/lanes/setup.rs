//! The variables of a lane, and `lanes.setup`: the command that prepares a new one.

use super::records::MAX_LANES;
use super::{LANE, LANE_OF};
use crate::engine::Fault;
use crate::engine::outside::{Outside, OutsideParts};
use crate::machine::facts::ProcessEnd;
use crate::source::environment_for;
use crate::sys::ProcessSpec;
use std::path::Path;

/// Lines of its log that a failed setup shows.
const LINES: usize = 5;

/// The variables that this workspace has as a lane: its number, and `lanes.env`. None in main.
pub(in crate::engine::outside) fn own_variables(parts: &OutsideParts) -> Vec<(String, String)> {
    let value = |wanted: &str| {
        let mut all = parts.environment.iter();
        all.find(|(name, _)| name == wanted).map(|(_, value)| value)
    };
    let number = value(LANE).and_then(|number| number.parse().ok());
    match number.filter(|number| value(LANE_OF).is_some() && (1..=MAX_LANES).contains(number)) {
        Some(number) => variables_of(parts, number, &parts.places.workspace),
        None => Vec::new(),
    }
}

fn variables_of(parts: &OutsideParts, number: u32, lane: &Path) -> Vec<(String, String)> {
    let mut all = parts
        .settings
        .lanes
        .variables_of(number, &lane.to_string_lossy());
    all.push((LANE.to_owned(), number.to_string()));
    all
}

impl Outside {
    /// True if a lane needs no setup, or its loop has begun, which it does only after the setup.
    pub(super) fn is_set_up(&self, lane: &Path) -> bool {
        self.parts.settings.lanes.setup.is_none()
            || lane.join(".ralph/state/journal.jsonl").is_file()
    }

    /// The call of `lanes.setup` before the loop of a new lane.
    pub(super) fn setup_of(&self, number: u32, lane: &ProcessSpec) -> Option<ProcessSpec> {
        let argv = self.parts.settings.lanes.setup.clone()?;
        if self.is_set_up(&lane.cwd) {
            return None;
        }
        let named = [LANE_OF.to_owned()];
        let named = [&named[..], &self.parts.settings.checks.env].concat();
        let own = variables_of(&self.parts, number, &lane.cwd);
        let mut env = environment_for(&lane.env, &named);
        env.retain(|(name, _)| own.iter().all(|(variable, _)| variable != name));
        env.extend(own);
        Some(ProcessSpec {
            argv,
            env,
            wall: Some(self.parts.settings.limits.check.min(self.wall_left())),
            ..lane.clone()
        })
    }

    /// The error for a setup that failed: no lane works without what it prepares.
    pub(super) fn setup_fault(&self, number: u32, end: &ProcessEnd, log: &Path) -> Fault {
        let argv = self.parts.settings.lanes.setup.as_deref();
        let command = self.secrets.redact(&argv.unwrap_or_default().join(" "));
        let command = crate::source::text::line(&command, 200);
        let last = self.secrets.last_lines(log, LINES);
        let last = if last.is_empty() {
            String::new()
        } else {
            format!(" Its last lines: {last}")
        };
        Fault::setup_fault(
            format!("lanes.setup: `{command}` {end} in lane {number}.{last}"),
            format!("run it in a clone, or see {}", log.display()),
        )
    }
}
