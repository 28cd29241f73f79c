//! Checks that recorded events answer the pending effects in order.
//!
//! A journal holds facts, and each fact answers an effect of the machine, or comes from outside. So the order of the
//! records is a decision that can be made again, and so is what a fact repeats of the effect that it answers:
//!
//! | recorded | evidence, believed here | decision, made again here |
//! |---|---|---|
//! | `RunStarted`, `StopRequested`, `BoxAccepted` … | all of it | when a verb may say it |
//! | `Surveyed`, `LaneSeen`, `AgentEnded`, `Waited`, `BudgetAllowed` | the result | that the effect was pending |
//! | `AgentSpawned` | its process | which agent |
//! | `Observed` | the state of git | that the effect was pending, the validator's report only for FINAL |
//! | `TasksRestored` | lines that were added | no box is ticked by it |
//! | `Checked` | how the commands ended | which check, in which packages |
//! | `GateEnded` | the verdict | the commits, the changes where they were given |
//! | `BoxesFlipped` | which lines were still there | the boxes and their marks |
//! | `RunStopped` | its words | which end |

use super::boxes::edited;
use super::effect::Effect;
use super::event::{AgentEnd, Event, Mode, TasksSeen};
use super::facts::ProcessEnd;
use super::state::{Phase, State};
use crate::task::on_file;
use std::collections::VecDeque;
use std::mem::discriminant;

/// Pending effects, the next one first.
#[derive(Debug, Default)]
pub struct Asked {
    effects: VecDeque<Effect>,
    /// The last fact was the start of a process.
    has_started: bool,
}

/// A recorded fact against the effect that it answers.
#[derive(Debug)]
pub struct EffectAnswer {
    /// The effect; `None` for what comes from outside.
    pub effect: Option<Effect>,
    /// Phrase for the expected event, if the recorded one differs.
    pub should: Option<String>,
}

impl EffectAnswer {
    /// Returns the answer to an event from outside.
    fn from_outside(should: Option<&str>) -> Self {
        Self {
            effect: None,
            should: should.map(str::to_owned),
        }
    }
}

impl Asked {
    /// Takes the next fact, before it is folded into this state.
    pub fn answer(&mut self, state: &State, event: &Event) -> EffectAnswer {
        let has_started = std::mem::take(&mut self.has_started);
        let is_at_rest = matches!(state.phase, Phase::Idle | Phase::Stopped(_));
        match event {
            Event::RunStarted { .. } => {
                self.effects.clear();
                self.has_started = true;
                return EffectAnswer::from_outside(None);
            }
            Event::Resumed if has_started => return EffectAnswer::from_outside(None),
            Event::Resumed => {
                return EffectAnswer::from_outside(Some(
                    "no `Resumed`, which follows on the start of a run only",
                ));
            }
            Event::StopRequested { .. } | Event::Paused { .. } => {
                return EffectAnswer::from_outside(None);
            }
            Event::FamilyPinned { .. }
            | Event::GateRequested { .. }
            | Event::BoxAccepted { .. }
            | Event::BoxReopened { .. }
            | Event::Surveyed { .. }
                if self.effects.is_empty() && is_at_rest && state.mode == Mode::Verb =>
            {
                return EffectAnswer::from_outside(None);
            }
            _ => {}
        }
        let Some(effect) = self.effects.pop_front() else {
            return EffectAnswer::from_outside(Some("nothing: the process had nothing left to do"));
        };
        let should = mismatch(&effect, state, event);
        EffectAnswer {
            effect: Some(effect),
            should,
        }
    }

    /// Takes what the fact led to.
    pub fn ask(&mut self, effects: Vec<Effect>) {
        self.effects.extend(
            effects
                .into_iter()
                .filter(|effect| expected(effect).is_some()),
        );
    }
}

/// The fact that an effect leads to; `None` if it leads to none.
fn expected(effect: &Effect) -> Option<&'static str> {
    Some(match effect {
        Effect::Survey => "Surveyed",
        Effect::KeepLeftovers { .. } => "LeftoversKept",
        Effect::LookAtLane(_) => "LaneSeen",
        Effect::StartAgent(_) => "AgentSpawned",
        Effect::Play(_) | Effect::AwaitAgent | Effect::ReapAgent { .. } => "AgentEnded",
        Effect::CommitLeft { .. } => "LeftCommitted",
        Effect::Observe { .. } => "Observed",
        Effect::RestoreTasks { .. } => "TasksRestored",
        Effect::PutBack { .. } => "WorkPutBack",
        Effect::RunCheck { .. } => "Checked",
        Effect::RunGate(_) => "GateEnded",
        Effect::FlipBoxes { .. } => "BoxesFlipped",
        Effect::AppendProgress { .. } => "ProgressAppended",
        Effect::Wait { .. } => "Waited",
        Effect::AskForBudget => "BudgetAllowed",
        Effect::Finish(_) => "RunStopped",
        Effect::WriteBefore { .. }
        | Effect::WriteDiff { .. }
        | Effect::SetReportAside { .. }
        | Effect::Notify { .. } => return None,
    })
}

/// Returns the expected event as a phrase, or `None` if the event answers the effect.
fn mismatch(effect: &Effect, state: &State, event: &Event) -> Option<String> {
    match (effect, event) {
        (Effect::LookAtLane(_), Event::Waited)
        | (
            Effect::StartAgent(_),
            Event::AgentEnded(AgentEnd {
                end: ProcessEnd::NotStarted { .. },
                ..
            }),
        )
        | (
            Effect::StartAgent(_) | Effect::ReapAgent { .. },
            Event::AgentEnded(AgentEnd {
                end: ProcessEnd::Interrupted,
                claim: None,
                used: None,
                ..
            }),
        ) => None,
        (Effect::StartAgent(order), Event::AgentSpawned { agent, .. }) => {
            (*agent != order.agent).then(|| format!("the agent {:?}", order.agent))
        }
        (
            Effect::Observe { validation, .. },
            Event::Observed {
                validation: found, ..
            },
        ) => (found.is_some() && !validation)
            .then(|| "no validator's report: FINAL was not tried".to_owned()),
        (Effect::RestoreTasks { .. }, Event::TasksRestored { tasks, .. }) => {
            ticks_nothing(state, tasks)
        }
        (
            Effect::RunCheck {
                check: asked,
                packages,
                ..
            },
            Event::Checked { check, results, .. },
        ) => {
            let there = state.last_heads();
            let mut wanted: Vec<&String> = if packages.is_empty() {
                there.keys().collect()
            } else {
                packages.iter().collect()
            };
            wanted.retain(|name| there.contains_key(*name));
            let found = results.iter().map(|result| &result.package);
            let is_it = check == asked && found.eq(wanted.iter().copied());
            (!is_it).then(|| format!("checks.{} in {}", asked.word(), words(wanted)))
        }
        (Effect::RunGate(order), Event::GateEnded { heads, changes, .. }) => {
            let wanted = order.snapshot.heads();
            if *heads != wanted {
                let shown = wanted.iter().map(|(name, head)| format!("{name} {head}"));
                return Some(format!("a verdict on {}", words(shown)));
            }
            let given = order
                .changes
                .as_ref()
                .filter(|given| *given != changes && !changes.is_empty());
            given.map(|given| format!("a verdict on the {} changes that were given", given.len()))
        }
        (Effect::FlipBoxes { flips }, Event::BoxesFlipped { flips: found }) => {
            // Boxes, and what the file shows of virtual stages.
            let may = [flips.as_slice(), &on_file(&state.spec_state().rows, flips)].concat();
            (!found.iter().all(|flip| may.contains(flip))).then(|| {
                words(
                    flips
                        .iter()
                        .map(|(key, mark)| format!("{key} [{}]", mark.0)),
                )
            })
        }
        (Effect::Finish(stop), Event::RunStopped { stop: found }) => {
            (discriminant(stop) != discriminant(found)).then(|| format!("the end: {stop}"))
        }
        (Effect::ReapAgent { .. }, Event::AgentEnded(_)) => {
            Some("the end of an attempt that ralph's own end cut short".to_owned())
        }
        _ => expected(effect)
            .filter(|name| *name != event.name())
            .map(|name| format!("`{name}`")),
    }
}

/// Checks that a restored tasks.md holds no tick that was not there before.
fn ticks_nothing(state: &State, tasks: &TasksSeen) -> Option<String> {
    let edited = edited(state.spec_state(), tasks)
        .into_iter()
        .filter(|(_, mark)| mark.is_done());
    let ticked: Vec<String> = edited.map(|(key, _)| key.to_string()).collect();
    (!ticked.is_empty()).then(|| format!("{} open, as before the attempt", words(ticked)))
}

fn words<T: AsRef<str>>(all: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| one.as_ref().to_owned()).collect();
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}
