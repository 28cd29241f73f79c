//! Price of a placement: its gates, their time by the journal, and tasks without a gate.

use super::GatePlacement;
use crate::cli::status::ViewedWorkspace;
use crate::cli::{Fault, Invocation, ui};
use crate::machine::choice::is_required_open;
use crate::source::text::{count, duration};
use crate::task::{Families, Row, Stage, Stages, TaskFile, TaskRules};
use std::collections::HashSet;

impl GatePlacement<'_> {
    /// Prints the time of the open gates, and the open tasks without a gate.
    ///
    /// The time comes from the gates in the journal.
    ///
    /// Nothing is printed for a file whose lines stay unchanged, unless its gates have no lines.
    pub(super) fn tell_price(&self, call: &Invocation) -> Result<(), Fault> {
        let Self {
            target,
            gate,
            choice,
            ..
        } = *self;
        let file = target.read_file()?;
        let edited = self
            .place_in(&file)
            .map_err(|refusal| target.refuse_edit(refusal))?;
        let is_news = !call.json && (target.is_virtual() || !edited.inserted.is_empty());
        let rows = if target.is_virtual() {
            let mut gates = target.gates.clone();
            gates.retain(|(name, _)| name != gate);
            gates.push((gate.to_owned(), choice.clone()));
            let rules = TaskRules {
                grammar: target.grammar.clone(),
                stages: Stages::Virtual { gates },
            };
            rules.ordered_boxes(&file, &[])
        } else {
            TaskFile::parse(edited.bytes, &target.grammar).box_rows()
        };
        self.price_line(call, &rows)
            .filter(|_| is_news)
            .iter()
            .for_each(|price| ui::print_note(price));
        Ok(())
    }

    /// `3 gates of PITEST to run, about 6m together (2m each, the middle of 4); 1 open task without one.`; `None` if no gate is open.
    fn price_line(&self, call: &Invocation, rows: &[Row]) -> Option<String> {
        let gate = self.gate;
        let open: Vec<&Row> = rows
            .iter()
            .filter(|row| row.key.stage.stage_word() == gate && !row.mark.is_done())
            .collect();
        let judged: HashSet<&str> = open.iter().map(|row| row.key.family.as_str()).collect();
        let is_wide = open.iter().any(|row| row.key.is_wider_gate());
        let families = Families::new(rows);
        let without = rows
            .iter()
            .filter(|row| {
                row.key.stage == Stage::Implementation
                    && is_required_open(row)
                    && !row.checkpoint
                    && !families.is_parent(&row.key.family)
            })
            .filter(|row| !is_wide && !judged.contains(row.key.family.as_str()))
            .count() as u64;
        let gates = Some(open.len() as u64).filter(|gates| *gates > 0)?;
        let source = self
            .target
            .workspace
            .as_ref()
            .and_then(|_| ViewedWorkspace::open_workspace(call).ok());
        let spent = source
            .and_then(|mut source| source.read_board().ok())
            .map(|board| board.spent);
        let known = spent.and_then(|spent| spent.median_millis(gate));
        let time = known.map(|(millis, known)| {
            let (all, each) = (duration(millis * gates / 1000), duration(millis / 1000));
            format!(", about {all} together ({each} each, the middle of {known})")
        });
        let (time, gates, without) = (
            time.unwrap_or_default(),
            count(gates, "gate"),
            count(without, "open task"),
        );
        Some(format!(
            "{gates} of {gate} to run{time}; {without} without one."
        ))
    }
}
