//! Sources of the board: configuration, journal, task file, lock, transcripts.
//!
//! Only new parts of the journal and the transcripts are read. Nothing is written, no lock is
//! taken.

use super::super::environment::{cache_folder, read_config, unsound_settings};
use super::super::workspace::has_boxes;
use super::agent_log::{self, AgentLog};
use super::{Board, Fault, Invocation, Opened, Workspace, ensure_that};
use crate::engine::{Follow, LaneStatus, Places, lanes_of};
use crate::machine::state::State;
use crate::report::board::Beside;
use crate::report::morning::commit_pages;
use crate::sys::disk::RealDisk;
use crate::sys::{clock, lock};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A workspace under observation.
pub(in crate::cli) struct ViewedWorkspace {
    workspace: Workspace,
    places: Places,
    /// The text of the configuration that it was opened with.
    config: String,
    /// A run of this configuration continues with other families when one is blocked.
    goes_on: bool,
    disk: RealDisk,
    pub(in crate::cli) follow: Follow,
}

impl ViewedWorkspace {
    /// Reads configuration and journal; a task file without boxes has no answer.
    pub(in crate::cli) fn open_workspace(call: &Invocation) -> Result<Self, Fault> {
        Self::open_at(call, call.find_workspace()?, false)
    }

    /// Opens the source of the workspace in that folder, and keeps the story on request.
    pub(in crate::cli) fn open_at(
        call: &Invocation,
        workspace: PathBuf,
        keeps_story: bool,
    ) -> Result<Self, Fault> {
        let mut source = Self::of_opened(call.read_settings(workspace)?)?;
        source.follow.keeps_story = keeps_story;
        let boxes = source.read_board()?.boxes;
        has_boxes(&source.places, boxes).map(|()| source)
    }

    fn of_opened(opened: Opened) -> Result<Self, Fault> {
        let config = opened.text.clone();
        let workspace = opened.into_sound()?;
        let places = workspace.places.clone();
        let follow = Follow::new(places.clone(), workspace.rules.clone());
        let goes_on = workspace.run_policy().go_on_when_blocked;
        Ok(Self {
            workspace,
            places,
            config,
            goes_on,
            disk: RealDisk::new(),
            follow,
        })
    }

    /// Starts over if the configuration has changed. A configuration that cannot be read is an error, and so is a
    /// workspace that is gone.
    pub(super) fn renew_settings(&mut self, call: &Invocation) -> Result<(), Fault> {
        let root = self.places.workspace.clone();
        let what = format!("There is no .ralph/ in {} any more.", root.display());
        ensure_that(
            root.join(".ralph").is_dir(),
            what,
            "restore it, or leave the view",
        )?;
        let config = read_config(&root).map_err(|error| unsound_settings(&error))?;
        if config != self.config {
            *self = Self::of_opened(call.read_settings(root)?)?;
        }
        Ok(())
    }

    /// The board, after what is new was read.
    pub(in crate::cli) fn read_board(&mut self) -> Result<Board, Fault> {
        self.look_at_state(|_, board| board)
    }

    /// Returns the lanes of the workspace, each with the second since 1970 at which its wait ends.
    pub(super) fn lanes(&self) -> Result<Vec<(LaneStatus, Option<i64>)>, Fault> {
        // Without a cache folder no run can have made one.
        let Ok(cache) = cache_folder() else {
            return Ok(Vec::new());
        };
        let lanes = lanes_of(&cache, &self.places.workspace)?;
        Ok(lanes.into_iter().map(with_wait).collect())
    }

    /// Passes the state and its board to `look`.
    pub(super) fn look_at_state<T>(
        &mut self,
        look: impl FnOnce(&State, Board) -> T,
    ) -> Result<T, Fault> {
        self.follow.read_news(&self.disk)?;
        Ok(self.make_board(look))
    }

    /// Returns the next board: built again only when something in it can have changed.
    pub(super) fn board_after(&mut self, board: Board) -> Result<Board, Fault> {
        let is_new = self.follow.read_news(&self.disk)?;
        let is_new =
            is_new || self.places.pause_file().is_file() != board.phase.starts_with("paus");
        if is_new || board.holder != lock::held_by(&self.places.lock_file()) {
            return Ok(self.make_board(|_, board| board));
        }
        Ok(board.at_time(self.follow.time_spent(), clock::now().as_second()))
    }

    fn make_board<T>(&mut self, look: impl FnOnce(&State, Board) -> T) -> T {
        let (holder, now) = (
            lock::held_by(&self.places.lock_file()),
            clock::now().as_second(),
        );
        let zone = clock::zone();
        let (goes_on, is_paused) = (self.goes_on, self.places.pause_file().is_file());
        self.follow.look_at_state(|state, spent| {
            let mut board = Board::new(
                state,
                spent,
                Beside {
                    holder,
                    now,
                    zone,
                    goes_on,
                },
            );
            if is_paused {
                board.phase = if board.current.is_some() {
                    "pausing"
                } else {
                    "paused"
                };
                board.why = Some("no attempt begins until `ralph resume`".to_owned());
            }
            look(state, board)
        })
    }

    /// The end of the newest log of an iteration.
    pub(super) fn newest_log(&self, iteration: u64) -> AgentLog {
        agent_log::newest_log(
            &self.places.iteration_folder(iteration),
            &self.places.workspace,
            &self.disk,
        )
    }

    /// The gates whose tick describes another commit than HEAD, a sentence each.
    pub(in crate::cli) fn older_gates(&self) -> Vec<String> {
        self.follow
            .look_at_state(|state, _| self.workspace.older_gates(state))
    }

    /// The workspace.
    pub(in crate::cli) fn root(&self) -> PathBuf {
        self.places.workspace.clone()
    }

    /// The address in front of a commit's id, by package; a package without a known forge has none.
    pub(in crate::cli) fn commit_pages(&self) -> BTreeMap<String, String> {
        let mut pages = BTreeMap::new();
        let Ok(mut repositories) = self.workspace.find_repositories() else {
            return pages;
        };
        for package in repositories.current_heads().into_keys() {
            let remote = repositories.remote_address(&package).ok().flatten();
            if let Some(address) = remote.and_then(|remote| commit_pages(&remote)) {
                pages.insert(package, address);
            }
        }
        pages
    }

    /// Returns the parts of a board that cannot be shown, with the reason.
    pub(in crate::cli) fn find_trouble(&self, board: &Board) -> Option<String> {
        if let Some(why) = self.follow.unread_record() {
            return Some(format!(
                "The journal was not read to its end. {why}. This is the state before it."
            ));
        }
        if self.follow.is_lost() {
            let journal = self.places.display_path(&self.places.journal_file());
            return Some(format!(
                "{journal} is gone: what ralph did is not known any more."
            ));
        }
        has_boxes(&self.places, board.boxes)
            .err()
            .map(|fault| fault.what)
    }
}

/// A lane with the end of its wait, if it runs and waits.
fn with_wait(lane: LaneStatus) -> (LaneStatus, Option<i64>) {
    if lane.standing != "runs" {
        return (lane, None);
    }
    let wait = Follow::wait_of_loop(Places {
        workspace: lane.folder.clone(),
        spec: lane.folder.clone(),
    });
    (lane, wait)
}
