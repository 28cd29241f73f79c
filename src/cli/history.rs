//! `ralph history`: the scores of gates and of mutation tests over the weeks. It writes nothing.

use super::mutation_test::scores_may_be_told;
use super::{Exit, Fault, Invocation, Opened, RealDisk, cache_folder, ui};
use crate::config::ScopeKind;
use crate::engine::history;
use crate::gate::mutation_test::scores;
use crate::sys::process::is_inside_agent;

/// `ralph history`.
pub(super) fn show(call: &Invocation, name: Option<&str>) -> Result<Exit, Fault> {
    let workspace = call.read(call.find_anywhere()?).and_then(Opened::sound)?;
    scores_may_be_told(is_inside_agent()?, &workspace)?;
    let gates = workspace.settings.gates.iter();
    let by_lines = gates
        .filter(|(_, gate)| gate.scope == ScopeKind::Lines)
        .map(|(name, _)| name.clone());
    let mut all = history(&RealDisk::new(), &workspace.places, &by_lines.collect())?;
    for measured in scores(&cache_folder()?, &workspace.places.workspace) {
        all.add(measured);
    }
    let all = name
        .into_iter()
        .fold(all, crate::report::history::History::of);
    if call.json {
        ui::json(&all.facts());
    } else if all.is_empty() {
        ui::note(match name {
            Some(_) => "No score was recorded of a class or target whose name holds that.",
            None => {
                "No score was recorded yet: a gate that measures one, or `ralph mutation-test`, makes the first."
            }
        });
    } else {
        all.lines().iter().for_each(|line| ui::line(line));
    }
    Ok(Exit::Done)
}
