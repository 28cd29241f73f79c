//! The guard around checks, gates and hooks: they run a task's code, so what no attempt may write they may not either.
//!
//! Promise: inputs, settings and hooks of git, and HEADs are compared before and after. What changed is saved, restored and
//! named. An agent's attempt is compared in the same way when it is observed.

use super::{Outside, inputs::Inputs};
use crate::engine::Fault;
use crate::git::RestoreExtent;
use crate::machine::event::{KeptWork, Trespass};
use crate::machine::facts::{ObserveRequest, Snapshot};
use crate::mutation::{GateReport, Verdict};
use std::path::Path;

impl Outside {
    /// Runs programs that may not move these HEADs. `aside` is where files are kept that they changed; the reference of
    /// commits has the iteration's number.
    pub(super) fn run_guarded<T>(
        &mut self,
        before: &Snapshot,
        aside: &Path,
        iteration: u64,
        run: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<(T, Trespass), Fault> {
        let inputs = self.inputs_now()?;
        let ran = run(self);
        // An error of the programs does not keep what they changed.
        let mut trespass = self.restore_guarded(&inputs, aside)?;
        (trespass.moved, trespass.kept) = self.restore_heads(before, iteration)?;
        Ok((ran?, trespass))
    }

    /// Restores what differs from these inputs.
    fn restore_guarded(&mut self, inputs: &Inputs, aside: &Path) -> Result<Trespass, Fault> {
        let changed = self.restore_from(inputs, aside)?;
        let (git_settings, inputs) = changed
            .into_iter()
            .partition(|path| self.is_git_setting(path));
        Ok(Trespass {
            inputs,
            git_settings,
            ..Trespass::default()
        })
    }

    /// Moves HEADs back to where they were; returns the packages whose HEAD was another, and what is kept of them.
    fn restore_heads(
        &mut self,
        before: &Snapshot,
        iteration: u64,
    ) -> Result<(Vec<String>, Vec<KeptWork>), Fault> {
        let now = self.parts.repositories.read_heads();
        let is_same = now.is_ok_and(|now| {
            before
                .packages
                .iter()
                .all(|was| now.get(&was.name) == Some(&(was.head.clone(), was.branch.clone())))
        });
        if is_same {
            return Ok(Default::default());
        }
        let request = ObserveRequest {
            iteration,
            before: before.clone(),
            ..ObserveRequest::default()
        };
        let observation = self.look_at_packages(&request)?;
        let moved: Vec<String> = observation
            .packages
            .iter()
            .filter(|package| package.is_breach() || package.head_moved)
            .map(|package| package.name.clone())
            .collect();
        let (kept, _) = self.put_back(iteration, before, &observation, RestoreExtent::Moved)?;
        Ok((moved, kept))
    }

    /// Runs a hook. The terminal shows protected files that it changed.
    pub(super) fn guard_hook<T>(
        &mut self,
        name: &str,
        run: impl FnOnce(&Self) -> T,
    ) -> Result<T, Fault> {
        let inputs = self.inputs_now()?;
        let ran = run(self);
        let aside = self.parts.places.state_folder().join("on/inputs");
        let trespass = self.restore_guarded(&inputs, &aside)?;
        for sentence in trespass.sentences(
            &format!("hooks.{name}"),
            &self.parts.places.display_path(&aside),
        ) {
            (self.parts.progress)(&sentence);
        }
        Ok(ran)
    }
}

/// Makes a gate fail that changed protected files or moved HEAD, also if it said PASS.
pub(super) fn weigh_trespass(
    report: &mut GateReport,
    name: &str,
    trespass: &Trespass,
    aside: &str,
) {
    let mut sentences = trespass.sentences(&format!("The gate {name}"), aside);
    if trespass.rejects() {
        if let Verdict::Fail { reasons } = &report.verdict {
            sentences.extend(reasons.iter().cloned());
        }
        report.verdict = Verdict::Fail { reasons: sentences };
    } else {
        report.remarks.extend(sentences);
    }
}
