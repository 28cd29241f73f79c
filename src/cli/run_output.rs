//! A run, shown as it happens: a line when something begins, its outcome when it ends; or the events as JSON lines.

use super::ui;
use super::ui::StatusLine;
use crate::config::role_of;
use crate::machine::effect::Entry;
use crate::machine::event::Event;
use crate::machine::facts::full_path;
use crate::machine::fallback::stand_in;
use crate::machine::state::{Phase, State};
use crate::report::board::time;
use crate::report::progress::entry_lines;
use crate::sys::clock;
use crate::task::TaskKey;
use serde_json::json;

#[derive(Debug)]
pub(super) struct RunOutput {
    json: bool,
    pub(super) line: StatusLine,
    last_shown: u64,
}

impl RunOutput {
    /// Lines for people, or JSON lines.
    pub(super) fn new(json: bool) -> Self {
        Self {
            json,
            line: StatusLine::new(json),
            last_shown: 0,
        }
    }

    /// A fact and the state after it.
    pub(super) fn tell(&mut self, event: &Event, state: &State) {
        if self.json {
            ui::json(&json!({ "iteration": state.iteration, "event": event }));
            return;
        }
        match &state.phase {
            Phase::Playing { key, .. }
            | Phase::Attempting {
                key, process: None, ..
            } => self.begin(state, key),
            Phase::Looking { key, .. } => {
                let title = state.spec_state().title(key);
                self.line.set(&format!("{title} waits for its lane"));
            }
            Phase::Judging { order } => self.begin(state, &order.key),
            Phase::Checking { check, .. } => {
                self.line
                    .set(&format!("[{}] checks.{check:?}", state.iteration).to_lowercase());
            }
            Phase::Applying {
                entry: Some(entry), ..
            } => self.end(entry),
            Phase::Waiting { seconds, .. } if !matches!(event, Event::StopRequested { .. }) => {
                let until = clock::now().as_second().saturating_add_unsigned(*seconds);
                self.line.set("");
                ui::line(&format!(
                    "      waiting until {}",
                    time(until, clock::zone().as_ref())
                ));
            }
            Phase::OverBudget { why, .. } if matches!(event, Event::Surveyed { .. }) => {
                self.line.set("");
                ui::line(&format!("paused: {why}"));
            }
            _ => {}
        }
        aside(event);
    }

    fn begin(&mut self, state: &State, key: &TaskKey) {
        let who = role_of(&key.stage).map_or("gate", crate::config::Role::word);
        let stand_in = stand_in(state, key)
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let title = state.spec_state().title(key);
        self.line
            .set(&format!("[{}] {title} {who}{stand_in}", state.iteration));
    }

    /// The outcome of an iteration, once.
    fn end(&mut self, entry: &Entry) {
        if self.last_shown == entry.iteration {
            return;
        }
        self.last_shown = entry.iteration;
        self.line.set("");
        let mut lines = entry_lines(entry).into_iter();
        let headline = lines.next().unwrap_or_default();
        ui::line(&format!(
            "[{}] {:<13} {headline}",
            entry.iteration, entry.task
        ));
        for line in lines {
            ui::line(&format!("      {line}"));
        }
    }
}

impl Drop for RunOutput {
    fn drop(&mut self) {
        self.line.set("");
    }
}

/// Prints events that are not part of the outcome.
fn aside(event: &Event) {
    match event {
        Event::BudgetAllowed { more } if !more.is_none() => {
            ui::line(&format!("{more} more is allowed"));
        }
        Event::Paused { begins: true } => {
            ui::line("paused: no attempt begins until `ralph resume`");
        }
        Event::Paused { begins: false } => ui::line("the pause is over"),
        Event::LeftoversKept { kept, .. } | Event::WorkPutBack { kept, .. } => {
            for kept in kept {
                ui::line(&format!(
                    "      kept: {} under {}",
                    kept.package, kept.reference
                ));
                for path in &kept.unrestored {
                    ui::line(&format!(
                        "      not put back: {}",
                        full_path(&kept.package, path)
                    ));
                }
            }
        }
        Event::TasksRestored { kept, tasks, .. } if !kept.is_empty() => {
            let but = if tasks.rows.is_some() {
                ", but for the tasks that were added"
            } else {
                ""
            };
            ui::line(&format!(
                "      tasks.md was put back{but}; the other version is {kept}"
            ));
        }
        Event::AgentEnded(agent) if agent.leftover_processes > 0 => {
            ui::line(&format!(
                "      {} processes left behind were ended",
                agent.leftover_processes
            ));
        }
        _ => {}
    }
}
