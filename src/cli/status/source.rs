//! Where the board comes from: journal, task file, lock, transcripts.
//!
//! Owns: the order in which they are read.
//!
//! Promises: reads only what is new of the journal and of the transcripts; writes nothing, takes no lock.
//!
//! Refuses to know: what is shown.

use super::super::workspace::Workspace;
use super::agent_log::{self, AgentLog};
use crate::agent::reported_cost;
use crate::engine::{Fault, FaultKind, Follow, Places};
use crate::machine::state::State;
use crate::report::board::{Beside, Board, Cost};
use crate::report::spent::Spent;
use crate::sys::disk::RealDisk;
use crate::sys::{Disk as _, clock, lock};
use std::collections::BTreeMap;

/// Bytes at the end of a transcript in which a cost is looked for.
const COST_TAIL: u64 = 256 << 10;

/// A workspace that is looked at.
pub(super) struct Source {
    places: Places,
    disk: RealDisk,
    follow: Follow,
    /// What each attempt said that it cost, once it was over.
    costs: BTreeMap<u64, Option<u64>>,
}

impl Source {
    /// Reads the journal; a task file without boxes has no answer.
    pub(super) fn open(workspace: &Workspace) -> Result<Self, Fault> {
        let places = workspace.places.clone();
        let follow = Follow::new(places.clone(), workspace.grammar.clone());
        let mut source = Self { places, disk: RealDisk::new(), follow, costs: BTreeMap::new() };
        source.follow.read(&source.disk)?;
        let there = match source.places.tasks().exists() {
            false => "is no such file",
            true if source.board()?.boxes == 0 => "are no boxes in it",
            true => return Ok(source),
        };
        let what = format!("{}: There {there}.", source.places.spec_name());
        Err(Fault::new(FaultKind::Setup, what, "`ralph check` lists everything that is wrong"))
    }

    /// The board as things stand, after what is new was read.
    pub(super) fn board(&mut self) -> Result<Board, Fault> {
        self.look(|_, board| board)
    }

    /// The same, beside the state that it was made of.
    pub(super) fn look<T>(&mut self, look: impl FnOnce(&State, Board) -> T) -> Result<T, Fault> {
        self.follow.read(&self.disk)?;
        Ok(self.made(look))
    }

    /// The board after this one: made anew only when something in it can have changed.
    pub(super) fn board_after(&mut self, board: Board) -> Result<Board, Fault> {
        let is_new = self.follow.read(&self.disk)?;
        if is_new || board.holder != lock::held_by(&self.places.lock()) {
            return Ok(self.made(|_, board| board));
        }
        Ok(board.at(self.follow.spent(), clock::now().as_second()))
    }

    fn made<T>(&mut self, look: impl FnOnce(&State, Board) -> T) -> T {
        let (holder, now) = (lock::held_by(&self.places.lock()), clock::now().as_second());
        let Self { places, disk, follow, costs } = self;
        follow.look(|state, spent| {
            let cost = cost(places, disk, costs, spent, &state.spec);
            look(state, Board::new(state, spent, Beside { holder, now, cost }))
        })
    }

    /// The end of the newest log of an iteration.
    pub(super) fn log(&self, iteration: u64) -> AgentLog {
        agent_log::newest(&self.places.iteration(iteration), &self.disk)
    }

    /// What cannot be shown, and why.
    pub(super) fn trouble(&self) -> Option<String> {
        let newer = self.follow.newer()?;
        Some(format!(
            "The journal goes on with what a newer ralph wrote ({newer}); this is the state before it."
        ))
    }
}

/// What the attempts on a task file say that they cost. A transcript is read once, when its attempt is over.
fn cost(
    places: &Places,
    disk: &RealDisk,
    costs: &mut BTreeMap<u64, Option<u64>>,
    spent: &Spent,
    spec: &str,
) -> Cost {
    let iterations = spent.on(spec, None).iterations;
    let mut cost = Cost { attempts: iterations.len(), ..Cost::default() };
    for iteration in iterations {
        let said = *costs.entry(iteration).or_insert_with(|| {
            // What cannot be read reports nothing.
            let end = disk.tail(&places.iteration(iteration).join("agent.out"), COST_TAIL).ok().flatten();
            end.and_then(|(bytes, _)| reported_cost(&bytes))
        });
        if let Some(micros) = said {
            cost.micros += micros;
            cost.reported += 1;
        }
    }
    cost
}
