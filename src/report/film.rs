//! A run as a film: of each record of the journal what ralph saw, what it wrote, and what it decided to do next.
//!
//! Promise: every record is one frame; what comes from outside is cleaned and bounded.

use super::progress::{entry_lines, gate_lines};
use super::spent::find_activity;
use super::story::{agent_words, committed_text};
use crate::machine::effect::Effect;
use crate::machine::event::{AgentEnd, Event, KeptWork, Mode, StopRequest, TasksSeen};
use crate::machine::facts::Snapshot;
use crate::machine::state::{Phase, State};
use crate::source::text::{count, line, names};
use crate::task::{Mark, TaskKey, spoken_id};
use serde::Serialize;

/// Lines of each part, and characters of each line.
const LINES: usize = 40;
const CHARS: usize = 400;
/// Characters of a commit.
const COMMIT: usize = 10;

/// One record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Its number, from 1.
    pub record: u64,
    /// When it was written, RFC 3339.
    pub at: String,
    /// Its kind, as the journal names it: `AgentEnded`.
    pub event: String,
    /// The iteration; 0 before the first.
    pub iteration: u64,
    /// The box that ralph was at: `2.PITEST`; empty between two.
    pub task: String,
    /// Observations outside of ralph.
    pub saw: Vec<String>,
    /// Writes to files and repositories.
    pub wrote: Vec<String>,
    /// The next steps.
    pub decided: Vec<String>,
}

impl Frame {
    /// A record before it is folded: its own content.
    pub fn new(record: u64, at: &str, event: &Event, before: &State) -> Self {
        let task = box_of(before);
        let (saw, wrote) = record_facts(event, before, &task);
        let at = line(at, CHARS);
        Self {
            record,
            at,
            event: event.name(),
            task,
            saw,
            wrote,
            ..Self::default()
        }
    }

    /// The same once it is folded: the state after it, and what it led to.
    #[must_use]
    pub fn with_effects(mut self, after: &State, effects: &[Effect]) -> Self {
        self.iteration = after.iteration;
        if self.task.is_empty() {
            self.task = box_of(after);
        }
        self.decided = effects
            .iter()
            .map(|effect| decision_text(effect, after))
            .collect();
        for part in [&mut self.saw, &mut self.wrote, &mut self.decided] {
            let more = part.len().saturating_sub(LINES);
            part.truncate(LINES);
            for text in part.iter_mut() {
                *text = line(text, CHARS);
            }
            part.extend((more > 0).then(|| format!("… and {more} more")));
        }
        self
    }

    /// `record 12 of 40 · 2026-11-24T02:00:00Z · iteration 3 · 2.PITEST · GateEnded`.
    pub fn frame_title(&self, of: usize) -> String {
        let mut parts = vec![format!("record {} of {of}", self.record), self.at.clone()];
        parts.extend((self.iteration > 0).then(|| format!("iteration {}", self.iteration)));
        parts.extend((!self.task.is_empty()).then(|| spoken_id(&self.task)));
        parts.push(self.event.clone());
        parts.join(" · ")
    }

    /// The three parts, each line behind its word.
    pub fn frame_lines(&self) -> Vec<String> {
        let parts = [
            ("saw", &self.saw),
            ("wrote", &self.wrote),
            ("decided", &self.decided),
        ];
        let told = parts.into_iter().flat_map(|(word, part)| {
            part.iter().enumerate().map(move |(at, text)| {
                let word = if at == 0 { word } else { "" };
                format!("{word:<8} {text}")
            })
        });
        told.collect()
    }
}

fn box_of(state: &State) -> String {
    match (&state.phase, find_activity(state)) {
        (
            Phase::Applying {
                entry: Some(entry), ..
            },
            _,
        ) => line(&entry.task, CHARS),
        (_, Some((key, _))) => state.spec_state().written_name(key),
        (_, None) => String::new(),
    }
}

/// Returns the observations and the writes of a record.
fn record_facts(event: &Event, before: &State, task: &str) -> (Vec<String>, Vec<String>) {
    let (mut saw, mut wrote) = (Vec::new(), Vec::new());
    match event {
        Event::RunStarted { version, mode, .. } => {
            let what = if *mode == Mode::Loop {
                "a run began"
            } else {
                "a verb"
            };
            saw.push(format!("ralph {version}: {what}"));
        }
        Event::Resumed => saw.push("the state, as the journal has it".to_owned()),
        Event::Surveyed {
            tasks, snapshot, ..
        } => {
            saw.extend(tasks_seen(tasks));
            saw.extend(head_lines(snapshot));
        }
        Event::LeftoversKept { kept, .. } | Event::WorkPutBack { kept, .. } => {
            wrote.extend(put_back(kept));
        }
        Event::LaneSeen { offer, why_not, .. } => {
            let offered = match offer {
                Some(offer) => format!("lane {} offers work", offer.lane),
                None => "no lane offers work".to_owned(),
            };
            saw.extend(std::iter::once(offered).chain(why_not.clone()));
        }
        Event::AgentSpawned { agent, .. } if agent.is_empty() => {
            saw.push("the agent runs".to_owned());
        }
        Event::AgentSpawned { agent, .. } => saw.push(format!("the agent {agent} runs")),
        Event::AgentEnded(AgentEnd {
            end,
            claim,
            last_words,
            millis,
            ..
        }) => {
            saw.push(format!("the agent {end}, after {} s", millis / 1_000));
            let said = agent_words(claim.as_ref(), last_words);
            saw.extend((!said.is_empty()).then(|| format!("it said: {said}")));
        }
        Event::LeftCommitted { commits } => {
            wrote.extend(
                commits
                    .iter()
                    .map(|(package, commit)| format!("a commit in {package}: {commit}")),
            );
        }
        Event::Observed { .. } => saw.extend(observed(event, before)),
        Event::TasksRestored { kept, .. } => {
            let other = if kept.is_empty() {
                String::new()
            } else {
                format!("; the other version is {kept}")
            };
            wrote.push(format!("tasks.md, restored{other}"));
        }
        Event::Checked { check, results, .. } => {
            let word = check.word();
            saw.extend(
                results
                    .iter()
                    .map(|it| format!("checks.{word} in {}: it {}", it.package, it.end)),
            );
        }
        Event::GateEnded { report, .. } => saw.extend(gate_lines(task, report)),
        Event::BoxesFlipped { flips } => {
            wrote.push(format!("tasks.md: {}", box_text(flips, before)));
        }
        Event::ProgressAppended => {
            wrote.push("progress.txt:".to_owned());
            if let Phase::Applying {
                entry: Some(entry), ..
            } = &before.phase
            {
                wrote.extend(entry_lines(entry));
            }
        }
        Event::Waited => saw.push("the wait is over".to_owned()),
        Event::StopRequested { .. }
        | Event::BudgetAllowed { .. }
        | Event::Paused { .. }
        | Event::RunStopped { .. }
        | Event::FamilyPinned { .. }
        | Event::GateRequested { .. }
        | Event::BoxAccepted { .. }
        | Event::BoxReopened { .. } => saw.extend(request(event, before)),
    }
    (saw, wrote)
}

/// Returns the lines of an event that comes from outside of the loop: a person, a signal, a limit.
fn request(event: &Event, before: &State) -> Vec<String> {
    let name = |key: &TaskKey| before.spec_state().title(key);
    let words = match event {
        Event::StopRequested {
            why: StopRequest::Signal { signal },
        } => format!("signal {signal}"),
        Event::StopRequested {
            why: StopRequest::Wall,
        } => "limits.wall is used up".to_owned(),
        Event::BudgetAllowed { more } if more.is_none() => {
            "no larger budget was allowed".to_owned()
        }
        Event::BudgetAllowed { more } => format!("a person allowed {more} more"),
        Event::Paused { begins: true } => "a person paused the run".to_owned(),
        Event::Paused { begins: false } => "a person resumed the run".to_owned(),
        Event::RunStopped { stop } => format!("the end: {stop}"),
        Event::FamilyPinned { family, snapshot } => {
            let pinned = format!("the base of the task {family} was pinned");
            return std::iter::once(pinned)
                .chain(head_lines(snapshot))
                .collect();
        }
        Event::GateRequested { key, .. } => format!("somebody asked for {}", name(key)),
        Event::BoxAccepted { key, reason, .. } => {
            format!("a person ticked {}: {reason}", name(key))
        }
        Event::BoxReopened { key, reason } => {
            format!("a person opened {}: {reason}", name(key))
        }
        _ => return Vec::new(),
    };
    vec![words]
}

/// Returns the lines of what git and tasks.md show after an attempt.
fn observed(event: &Event, before: &State) -> Vec<String> {
    let Event::Observed {
        observation,
        claims,
        tasks_changed,
        validation,
    } = event
    else {
        return Vec::new();
    };
    let packages = observation.packages.iter();
    let mut lines = vec![committed_text(
        packages.flat_map(|package| &package.changes),
    )];
    let claims: Vec<_> = claims
        .iter()
        .map(|claim| (claim.key.clone(), claim.to))
        .collect();
    if !claims.is_empty() {
        lines.push(format!(
            "the agent's own marks: {}",
            box_text(&claims, before)
        ));
    }
    if *tasks_changed {
        lines.push("tasks.md differs from its text before the attempt".to_owned());
    }
    if let Some(validation) = validation {
        lines.push(format!(
            "validation-report.md: {} PASS, {} FAIL, {} unknown",
            validation.pass, validation.fail, validation.unknown
        ));
    }
    lines
}

fn tasks_seen(tasks: &TasksSeen) -> Vec<String> {
    let told = match (&tasks.rows, tasks.marks.len() as u64) {
        (Some(rows), _) => {
            let boxes = count(rows.len() as u64, "box");
            format!("tasks.md: {boxes}, in a text not seen before")
        }
        (None, 0) => "tasks.md, as expected".to_owned(),
        (None, marks) => {
            let boxes = count(marks, "box");
            format!("tasks.md: {boxes} ticked or unticked by another program")
        }
    };
    std::iter::once(told)
        .chain(tasks.problems.iter().cloned())
        .collect()
}

fn head_lines(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .heads()
        .iter()
        .map(|(package, head)| format!("{package} at {:.COMMIT$}", head.0))
        .collect()
}

fn put_back(kept: &[KeptWork]) -> Vec<String> {
    kept.iter()
        .map(|kept| {
            format!(
                "{} restored; its former content is {}",
                kept.package, kept.reference
            )
        })
        .collect()
}

fn box_text(flips: &[(TaskKey, Mark)], state: &State) -> String {
    let names: Vec<String> = flips
        .iter()
        .map(|(key, mark)| format!("{} [{}]", state.spec_state().title(key), mark.0))
        .collect();
    if names.is_empty() {
        "nothing that was still there".to_owned()
    } else {
        names.join(", ")
    }
}

/// Describes the next step.
fn decision_text(effect: &Effect, state: &State) -> String {
    let name = |key: &TaskKey| state.spec_state().title(key);
    match effect {
        Effect::Survey => "look at tasks.md and the packages".to_owned(),
        Effect::KeepLeftovers { leftovers, .. } => {
            format!(
                "keep what is uncommitted in {}",
                names(leftovers.keys(), LINES)
            )
        }
        Effect::WriteBefore { .. } => "write down each package's HEAD".to_owned(),
        Effect::WriteDiff { changes, .. } => {
            format!(
                "write latest-task-diff.txt: {}",
                count(changes.len() as u64, "change")
            )
        }
        Effect::SetReportAside { .. } => "set an old validation-report.md aside".to_owned(),
        Effect::StartAgent(order) => {
            let agent = if order.agent.is_empty() {
                "the agent"
            } else {
                &order.agent
            };
            format!(
                "start {agent} for {}, attempt {}",
                name(&order.key),
                order.attempt
            )
        }
        Effect::LookAtLane(order) => format!("look for a lane that did {}", name(&order.key)),
        Effect::Play(play) => format!("take the work of lane {}", play.offer.lane),
        Effect::AwaitAgent => "wait for the agent".to_owned(),
        Effect::ReapAgent { .. } => "end what an earlier attempt left running".to_owned(),
        Effect::CommitLeft { .. } => "commit what the agent left".to_owned(),
        Effect::Observe { .. } => "look at git and tasks.md".to_owned(),
        Effect::RestoreTasks { .. } => "put tasks.md back".to_owned(),
        Effect::PutBack { .. } => "keep the work aside and put the packages back".to_owned(),
        Effect::RunCheck { check, .. } => format!("run checks.{}", check.word()),
        Effect::RunGate(order) => format!("run the gate {} for {}", order.name(), name(&order.key)),
        Effect::FlipBoxes { flips } => format!("write boxes: {}", box_text(flips, state)),
        Effect::AppendProgress { entry } => {
            format!(
                "write to progress.txt: {}",
                entry_lines(entry).into_iter().next().unwrap_or_default()
            )
        }
        Effect::Wait { seconds, .. } => format!("wait {seconds} s"),
        Effect::AskForBudget => "wait for a larger budget".to_owned(),
        Effect::Notify { event, why, .. } => format!("tell people ({event}): {why}"),
        Effect::Finish(stop) => format!("end the run: {stop}"),
    }
}
