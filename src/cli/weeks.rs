//! `ralph report --weeks`: the mutation scores of gates and of mutation tests over the weeks. It writes nothing.

use super::mutation_test::scores_may_be_told;
use super::output::Format;
use super::{Exit, Fault, Invocation, Opened, RealDisk, cache_folder, ensure_that, ui};
use crate::config::ScopeKind;
use crate::engine::read_history;
use crate::gate::mutation_test::kept_scores;
use crate::sys::process::is_inside_agent;

/// Shows the scores of classes and targets whose name contains `name`.
pub(super) fn show(call: &Invocation, name: &str) -> Result<Exit, Fault> {
    let workspace = call
        .read_settings(call.find_anywhere()?)
        .and_then(Opened::into_sound)?;
    scores_may_be_told(is_inside_agent()?, &workspace)?;
    let gates = workspace.settings.gates.iter();
    let by_lines = gates
        .filter(|(_, gate)| gate.scope == ScopeKind::Lines)
        .map(|(name, _)| name.clone());
    let mut all = read_history(&RealDisk::new(), &workspace.places, &by_lines.collect())?;
    for measured in kept_scores(&cache_folder()?, &workspace.places.workspace) {
        all.add_measurement(measured);
    }
    ensure_that(
        call.format != Format::Html,
        "The scores by week have no HTML page.",
        "leave --format out, or take `--format json`",
    )?;
    let all = if name.is_empty() {
        all
    } else {
        all.of_name(name)
    };
    if call.json {
        ui::print_json(&all.history_facts());
    } else if all.is_empty() {
        ui::print_note(match name {
            "" => {
                "No score was recorded yet: a gate that measures one, or `ralph mutation-test`, records the first."
            }
            _ => "No score was recorded for a class or target whose name contains that.",
        });
    } else {
        all.history_lines()
            .iter()
            .for_each(|line| ui::print_line(line));
    }
    Ok(Exit::Done)
}
