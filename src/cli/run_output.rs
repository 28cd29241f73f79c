//! A run, shown as it happens: a line when something begins, its outcome when it ends; or the events as JSON lines.

use super::ui;
use super::ui::StatusLine;
use crate::config::role_of;
use crate::machine::effect::ProgressEntry;
use crate::machine::event::Event;
use crate::machine::facts::full_path;
use crate::machine::fallback::stand_in;
use crate::machine::state::{Phase, State};
use crate::report::board::display_time;
use crate::report::progress::entry_lines;
use crate::sys::clock;
use crate::task::{TaskKey, spoken_id};
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
    pub(super) fn tell_event(&mut self, event: &Event, state: &State) {
        if self.json {
            ui::print_json(&json!({ "iteration": state.iteration, "event": event }));
            return;
        }
        match &state.phase {
            Phase::Playing { key, .. }
            | Phase::Attempting {
                key, process: None, ..
            } => self.begin_attempt(state, key),
            Phase::Looking { key, .. } => {
                let title = state.spec_state().title(key);
                self.line.set_text(&format!("{title} waits for its lane"));
            }
            Phase::Judging { order } => self.begin_attempt(state, &order.key),
            Phase::Checking { check, .. } => {
                self.line
                    .set_text(&format!("[{}] checks.{check:?}", state.iteration).to_lowercase());
            }
            Phase::Applying {
                entry: Some(entry), ..
            } => self.end_iteration(entry),
            Phase::Waiting { seconds, why, .. }
                if !matches!(event, Event::StopRequested { .. }) =>
            {
                let until = clock::now().as_second().saturating_add_unsigned(*seconds);
                self.line.set_text("");
                // After an attempt its entry has the reason.
                let why = match event {
                    Event::Surveyed { .. } => format!(": {why}"),
                    _ => String::new(),
                };
                ui::print_line(&format!(
                    "      waiting until {}{why}",
                    display_time(until, clock::zone().as_ref())
                ));
            }
            Phase::OverBudget { why, .. } if matches!(event, Event::Surveyed { .. }) => {
                self.line.set_text("");
                ui::print_line(&format!("paused: {why}"));
            }
            _ => {}
        }
        tell_aside(event);
    }

    fn begin_attempt(&mut self, state: &State, key: &TaskKey) {
        let who = role_of(&key.stage).map_or("gate", crate::config::Role::word);
        let stand_in = stand_in(state, key)
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let title = state.spec_state().title(key);
        self.line
            .set_text(&format!("[{}] {title} {who}{stand_in}", state.iteration));
    }

    /// The outcome of an iteration, once.
    fn end_iteration(&mut self, entry: &ProgressEntry) {
        if self.last_shown == entry.iteration {
            return;
        }
        self.last_shown = entry.iteration;
        self.line.set_text("");
        let mut lines = entry_lines(entry).into_iter();
        let headline = lines.next().unwrap_or_default();
        ui::print_line(&format!(
            "[{}] {:<13} {headline}",
            entry.iteration,
            spoken_id(&entry.task)
        ));
        for line in lines {
            ui::print_line(&format!("      {line}"));
        }
    }
}

impl Drop for RunOutput {
    fn drop(&mut self) {
        self.line.set_text("");
    }
}

/// Prints events that are not part of the outcome.
fn tell_aside(event: &Event) {
    match event {
        Event::BudgetAllowed { more } if !more.is_none() => {
            ui::print_line(&format!("{more} more is allowed"));
        }
        Event::Paused { begins: true } => {
            ui::print_line("paused: no attempt begins until `ralph resume`");
        }
        Event::Paused { begins: false } => ui::print_line("the pause is over"),
        Event::LeftoversKept { kept, .. } | Event::WorkPutBack { kept, .. } => {
            for kept in kept {
                ui::print_line(&format!(
                    "      kept: {} under {}",
                    kept.package, kept.reference
                ));
                for path in &kept.unrestored {
                    ui::print_line(&format!(
                        "      not restored: {}",
                        full_path(&kept.package, path)
                    ));
                }
            }
        }
        Event::TasksRestored { kept, tasks, .. } if !kept.is_empty() => {
            let but = if tasks.rows.is_some() {
                ", except for the tasks that were added"
            } else {
                ""
            };
            ui::print_line(&format!(
                "      tasks.md was restored{but}; the other version is {kept}"
            ));
        }
        Event::AgentEnded(agent) if agent.leftover_processes > 0 => {
            ui::print_line(&format!(
                "      {} processes left behind were ended",
                agent.leftover_processes
            ));
        }
        _ => {}
    }
}
