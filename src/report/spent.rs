//! Time and attempts as the records of the journal give them; a clock that was set back makes no time negative.

use crate::machine::event::{Event, Mode};
use crate::machine::fallback::stand_in;
use crate::machine::state::{Phase, State};
use crate::mutation::GateReport;
use crate::task::TaskKey;
use std::collections::BTreeMap;

/// Expenses in a workspace, by task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    specs: BTreeMap<String, SpecSpent>,
    run: Option<OpenRun>,
    now: Option<Now>,
    /// Since when a run waits, and until when.
    pub(super) wait: Option<(i64, i64)>,
}

/// Expenses for one task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpecSpent {
    /// Seconds of runs that are over, or that no record has come from since.
    pub runs: u64,
    /// Milliseconds that agents worked.
    pub agents: u64,
    /// Milliseconds that gates worked.
    pub gates: u64,
    /// Milliseconds of each time that a gate judged, by its name.
    pub judged: BTreeMap<String, Vec<u64>>,
    /// Waits for limits, outages and gates that are over.
    pub waits: u64,
    /// Their seconds.
    pub waited: u64,
    /// Milliseconds by family: agents, gates.
    pub families: BTreeMap<String, (u64, u64)>,
    /// Agent processes by box.
    pub attempts: BTreeMap<TaskKey, u32>,
    /// The iterations in which an agent ran, in order.
    pub iterations: Vec<u64>,
    /// Changed files that gates did not judge, the last time that they looked, by box.
    pub left_out: BTreeMap<TaskKey, Vec<String>>,
}

/// A run of which no end was recorded yet.
#[derive(Clone, Debug, PartialEq)]
struct OpenRun {
    spec: String,
    began: i64,
    last: i64,
}

/// Current activity and its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Now {
    /// The box.
    pub key: TaskKey,
    /// Activity for it.
    pub doing: Activity,
    pub iteration: u64,
    /// The agent, if it replaces another.
    pub stand_in: Option<String>,
    /// Seconds since 1970, of the record that began it.
    pub since: i64,
}

/// Activity for a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// An agent works.
    Agent,
    /// A gate judges.
    Gate,
    /// A check runs.
    Check,
    /// ralph observes the work, and restores protected files.
    Evidence,
}

impl Activity {
    /// One word, for people.
    pub fn activity_word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Gate => "gate",
            Self::Check => "check",
            Self::Evidence => "evidence",
        }
    }
}

impl Spent {
    /// Returns the second at which the current wait ends; `None` without a wait.
    pub fn wait_end(&self) -> Option<i64> {
        self.wait.map(|(_, until)| until)
    }

    /// Takes one record: when it was written, its fact, and the state after it.
    pub fn note_record(&mut self, at: &str, event: &Event, after: &State) {
        let last = self.run.as_ref().map_or(0, |run| run.last);
        let at = parse_seconds(at).unwrap_or(last);
        match event {
            Event::RunStarted { spec, mode, .. } => {
                self.close_activity();
                let spec = spec.clone();
                self.run = (*mode == Mode::Loop).then_some(OpenRun {
                    spec,
                    began: at,
                    last: at,
                });
            }
            Event::AgentEnded(agent) => self.add_agent(agent.millis, after),
            Event::GateEnded { report, .. } => self.add_gate(report, after),
            _ => {}
        }
        if let Some(run) = &mut self.run {
            run.last = run.last.max(at);
        }
        if matches!(event, Event::RunStopped { .. }) {
            self.close_activity();
        }
        let waited = self.wait.take();
        if let Phase::Waiting { seconds, .. } = after.phase {
            self.wait = waited.or(Some((at, at.saturating_add_unsigned(seconds))));
        } else if let Some((since, _)) = waited {
            let spent = self.specs.entry(after.spec.clone()).or_default();
            spent.waits += 1;
            spent.waited += millis_between(since, at);
        }
        self.now = find_activity(after).map(|(key, doing)| match self.now.take() {
            Some(now)
                if now.key == *key && now.doing == doing && now.iteration == after.iteration =>
            {
                now
            }
            _ => Now {
                key: key.clone(),
                doing,
                iteration: after.iteration,
                stand_in: stand_in(after, key).map(str::to_owned),
                since: at,
            },
        });
    }

    /// Returns the expenses for a task file. A run that is not over lasts until `now`, seconds since 1970;
    /// without it, until its last record.
    pub fn spent_on(&self, spec: &str, now: Option<i64>) -> SpecSpent {
        let mut spent = self.specs.get(spec).cloned().unwrap_or_default();
        if let Some(run) = self.run.as_ref().filter(|run| run.spec == spec) {
            spent.runs += millis_between(run.began, now.unwrap_or(run.last).max(run.last));
        }
        spent
    }

    /// Returns the current activity, if its process still lives.
    pub fn current_activity(&self) -> Option<&Now> {
        self.now.as_ref()
    }

    fn close_activity(&mut self) {
        if let Some(run) = self.run.take() {
            self.specs.entry(run.spec).or_default().runs += millis_between(run.began, run.last);
        }
    }

    fn add_agent(&mut self, millis: u64, after: &State) {
        let (Phase::Committing(attempt) | Phase::Observing(attempt)) = &after.phase else {
            return;
        };
        let spent = self.specs.entry(after.spec.clone()).or_default();
        spent.agents += millis;
        spent
            .families
            .entry(attempt.key.family.clone())
            .or_default()
            .0 += millis;
        *spent.attempts.entry(attempt.key.clone()).or_default() += 1;
        spent.iterations.push(after.iteration);
    }

    fn add_gate(&mut self, report: &GateReport, after: &State) {
        let spent = self.specs.entry(after.spec.clone()).or_default();
        spent.gates += report.millis;
        if let Some(now) = self.now.as_ref().filter(|now| now.doing == Activity::Gate) {
            spent.families.entry(now.key.family.clone()).or_default().1 += report.millis;
            spent
                .judged
                .entry(now.key.stage.stage_word().to_owned())
                .or_default()
                .push(report.millis);
            let left_out = report
                .left_out
                .iter()
                .map(|left| left.file.clone())
                .collect();
            spent.left_out.insert(now.key.clone(), left_out);
        }
    }
}

impl SpecSpent {
    /// Returns the milliseconds that agents and gates worked on a task with its stages.
    pub fn millis_of(&self, family: &str) -> (u64, u64) {
        self.families.get(family).copied().unwrap_or_default()
    }

    /// Milliseconds of the middle one of a gate's verdicts, and how many there are.
    pub fn median_millis(&self, gate: &str) -> Option<(u64, usize)> {
        let mut times = self.judged.get(gate)?.clone();
        times.sort_unstable();
        Some((*times.get(times.len() / 2)?, times.len()))
    }
}

/// The box that something is done for, and what.
pub(super) fn find_activity(state: &State) -> Option<(&TaskKey, Activity)> {
    match &state.phase {
        Phase::Attempting { key, .. } | Phase::Playing { key, .. } => Some((key, Activity::Agent)),
        Phase::Judging { order } => Some((&order.key, Activity::Gate)),
        Phase::Checking { attempt, .. } => Some((&attempt.key, Activity::Check)),
        Phase::Committing(attempt)
        | Phase::Observing(attempt)
        | Phase::Restoring { attempt, .. } => Some((&attempt.key, Activity::Evidence)),
        _ => None,
    }
}

/// Seconds since 1970 of an RFC 3339 time.
pub(super) fn parse_seconds(at: &str) -> Option<i64> {
    at.parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_second)
}

fn millis_between(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::event::AgentEnd;
    use crate::machine::facts::{ProcessEnd, Snapshot};
    use crate::machine::policy::Policy;
    use crate::machine::state::Attempt;
    use crate::machine::stop::StopReason;
    use crate::task::Stage;

    fn key(family: &str, stage: Stage) -> TaskKey {
        TaskKey {
            family: family.into(),
            stage,
        }
    }

    fn started(mode: Mode) -> Event {
        let (spec, version) = ("tasks.md".to_owned(), String::new());
        Event::RunStarted {
            spec,
            policy: Policy::default(),
            mode,
            retry: Vec::new(),
            version,
        }
    }

    fn state(iteration: u64, phase: Phase) -> State {
        State {
            spec: "tasks.md".into(),
            iteration,
            phase,
            ..State::default()
        }
    }

    fn agent_ended(millis: u64) -> Event {
        Event::AgentEnded(AgentEnd {
            millis,
            ..ProcessEnd::Exited { code: 0 }.into()
        })
    }

    fn attempting() -> Phase {
        let (key, before) = (key("2", Stage::Implementation), Snapshot::default());
        Phase::Attempting {
            key,
            before,
            process: None,
        }
    }

    fn observing() -> Phase {
        let (key, before) = (key("2", Stage::Implementation), Snapshot::default());
        Phase::Observing(Attempt {
            key,
            before,
            end: ProcessEnd::Exited { code: 0 },
            claim: None,
            last_words: String::new(),
            only_talked: false,
        })
    }

    fn stopped() -> Event {
        Event::RunStopped {
            stop: StopReason::AllDone,
        }
    }

    #[test]
    fn runs_agents_and_attempts_are_summed_and_verbs_and_pauses_are_not() {
        let mut spent = Spent::default();
        let idle = state(0, Phase::Idle);
        spent.note_record("2026-11-22T00:00:00Z", &started(Mode::Loop), &idle);
        spent.note_record(
            "2026-11-22T00:00:05Z",
            &Event::Resumed,
            &state(1, attempting()),
        );
        assert_eq!(spent.spent_on("tasks.md", None).runs, 5);
        spent.note_record(
            "2026-11-22T00:01:00Z",
            &agent_ended(54_321),
            &state(1, observing()),
        );
        assert_eq!(
            spent
                .spent_on(
                    "tasks.md",
                    Some(parse_seconds("2026-11-22T00:02:00Z").unwrap())
                )
                .runs,
            120
        );
        // Killed here; a verb an hour later, and another run.
        spent.note_record("2026-11-22T01:00:00Z", &started(Mode::Verb), &idle);
        spent.note_record("2026-11-22T01:10:00Z", &Event::Resumed, &idle);
        spent.note_record("2026-11-22T02:00:00Z", &started(Mode::Loop), &idle);
        spent.note_record("2026-11-22T02:00:10Z", &stopped(), &idle);
        let all = spent.spent_on("tasks.md", Some(i64::MAX));
        assert_eq!((all.runs, all.agents, all.gates), (70, 54_321, 0));
        assert_eq!(all.families["2"], (54_321, 0));
        assert_eq!(all.attempts[&key("2", Stage::Implementation)], 1);
        assert_eq!(all.iterations, [1]);
        assert_eq!(spent.spent_on("other/tasks.md", None), SpecSpent::default());
    }

    #[test]
    fn what_is_being_done_counts_from_the_record_that_began_it() {
        let mut spent = Spent::default();
        spent.note_record(
            "2026-11-22T00:00:00Z",
            &started(Mode::Loop),
            &state(0, Phase::Idle),
        );
        assert_eq!(spent.current_activity(), None);
        spent.note_record(
            "2026-11-22T00:00:05Z",
            &Event::Resumed,
            &state(1, attempting()),
        );
        spent.note_record(
            "2026-11-22T00:00:06Z",
            &Event::Waited,
            &state(1, attempting()),
        );
        let now = spent.current_activity().unwrap();
        assert_eq!(
            (now.doing, now.since),
            (
                Activity::Agent,
                parse_seconds("2026-11-22T00:00:05Z").unwrap()
            )
        );
        spent.note_record(
            "2026-11-22T00:00:09Z",
            &agent_ended(3),
            &state(1, observing()),
        );
        assert_eq!(
            spent.current_activity().map(|now| now.doing),
            Some(Activity::Evidence)
        );
        spent.note_record(
            "2026-11-22T00:00:10Z",
            &Event::Resumed,
            &state(2, attempting()),
        );
        assert_eq!(
            spent.current_activity().unwrap().since,
            parse_seconds("2026-11-22T00:00:10Z").unwrap()
        );
    }

    #[test]
    fn a_clock_that_was_set_back_or_a_time_that_is_none_makes_nothing_negative() {
        let mut spent = Spent::default();
        let idle = state(0, Phase::Idle);
        spent.note_record("2026-11-22T12:00:00Z", &started(Mode::Loop), &idle);
        spent.note_record("2026-11-22T11:00:00Z", &Event::Resumed, &idle);
        spent.note_record("yesterday", &Event::Resumed, &idle);
        assert_eq!(spent.spent_on("tasks.md", Some(0)).runs, 0);
        spent.note_record("", &stopped(), &idle);
        assert_eq!(spent.spent_on("tasks.md", Some(i64::MIN)).runs, 0);
    }
}
