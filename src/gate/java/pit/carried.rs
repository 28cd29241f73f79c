//! Kills of an earlier gate that stand in the runs of this one.
//!
//! Of the kills that stand by the files, the plugin takes over those whose test is green in the run and reaches the mutant,
//! and has the control run that test. Of each test class and mutated class one is run again: where it lives, none is believed.

use super::super::context::ModuleContext;
use super::super::kills::Ground;
use super::super::module_state::CompiledModule;
use super::super::report::{Kill, PitReport};
use super::{Aim, Mapping, PitRun, PitSession};
use crate::gate::GateAbort;
use crate::gate::verdict::ModuleResult;
use crate::mutation::MutantStatus;
use crate::source::text;
use std::collections::BTreeSet;

impl PitSession<'_> {
    /// Finds the kills of this gate's last record that stand; `all` are the test classes that may be asked.
    pub(crate) fn take_kills(&mut self, all: &BTreeSet<String>) -> Result<(), GateAbort> {
        let ModuleContext { context, .. } = *self.module;
        let Some(recorded) = &context.request.kills else { return Ok(()) };
        let Some(CompiledModule { state, references, .. }) = self.state()? else { return Ok(()) };
        let mut settings = vec![format!("{:?}", context.settings), self.plugin.display().to_string()];
        settings.extend(context.request.env.iter().map(|(name, value)| format!("{name}={value}")));
        let ground = Ground::new(state, references, all, settings);
        let modules = recorded.modules.iter();
        self.shown.standing = modules.flat_map(|kills| ground.standing(kills)).collect::<Vec<_>>().into();
        self.ground = Some(ground);
        Ok(())
    }

    /// Keeps the kills for the journal, and says how many were taken over.
    pub(crate) fn record_kills(&self, merged: &PitReport, result: &mut ModuleResult) {
        let (label, told) = (self.module.label(), self.with_carried("", merged));
        if !told.is_empty() {
            let why = "Their tests are green, and nothing that they depend on has changed.";
            result.remarks.push(format!("In {label} were {told}. {why}"));
        }
        result.kills.extend(self.ground.as_ref().and_then(|ground| ground.record(&merged.kills)));
    }

    /// A note, and how many kills were taken over, if any was.
    pub(super) fn with_carried(&self, note: &str, report: &PitReport) -> String {
        if report.carried == 0 {
            return note.to_owned();
        }
        let (kills, between) = (text::count(report.carried, "kill"), if note.is_empty() { "" } else { "; " });
        format!("{note}{between}taken over from the record of iteration {}: {kills}", self.recorded_in())
    }

    fn recorded_in(&self) -> u64 {
        self.module.context.request.kills.as_ref().map_or(0, |kills| kills.iteration)
    }

    /// The plugin's input for a run: mutant and test of each kill that stands; `None` if there is none.
    pub(super) fn carried_text(&self, run: &PitRun<'_>) -> Option<String> {
        let may_carry = run.aim != Aim::Count && !run.alone && run.mapping != Mapping::Reversed;
        let standing = self.shown.standing.borrow();
        let kills = standing.iter().filter(|(class, _)| may_carry && run.tests.contains(class));
        let rows = kills.map(|(_, kill)| {
            let [class, method, descriptor, mutator, test] = kill.names();
            [class, method, descriptor, mutator, &kill.id.indexes.join(","), test].join("\t") + "\n"
        });
        Some(rows.collect::<String>()).filter(|text| !text.is_empty())
    }

    /// True if a mutant lives that was killed by the record: then no kill of it is believed any more.
    pub(super) fn is_refuted(&self, run: &PitRun<'_>, report: &PitReport, result: &mut ModuleResult) -> bool {
        let mut standing = self.shown.standing.borrow_mut();
        let lives = |(class, kill): &&(String, Kill)| {
            let status = report.statuses.get(&kill.id.identity());
            run.tests.contains(class)
                && !report.left_out.iter().any(|test| test.class == *class)
                && matches!(status, Some(MutantStatus::Survived | MutantStatus::NoCoverage))
        };
        let Some((_, kill)) = standing.iter().find(lives).filter(|_| report.unfit.is_empty()) else {
            return false;
        };
        let (class, test, iteration) = (&kill.id.class, text::line(&kill.test, 200), self.recorded_in());
        result.remarks.push(format!(
            "A mutant in {class} lives that iteration {iteration} recorded as killed by {test}, so all kills were repeated."
        ));
        standing.clear();
        true
    }
}
