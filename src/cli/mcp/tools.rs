//! The tools of `ralph mcp`: what callers are told of them, and their answers. None of them changes anything.

use super::super::mutation_test::Question;
use super::super::task_ids::{key_of, next_key};
use crate::agent::blocked_line;
use crate::cli::{Fault, Invocation, Workspace, environment, status};
use crate::engine::{World as _, readings};
use crate::gate::mutation_test::Engine;
use crate::machine::state::State;
use crate::machine::{agent_order, gate_order};
use crate::report::mutation_test::{Envelope, SURVIVORS, TIMEOUT};
use crate::sys::disk::RealDisk;
use crate::sys::signals::Interrupts;
use crate::task::TaskKey;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The variable in which an attempt's token stands.
const TOKEN: &str = "RALPH_VERDICT_TOKEN";

/// The tools as callers see them.
const TOOLS: &str = include_str!("../../../templates/mcp.yaml");

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    MutationTest,
    GatePreview,
    Status,
    Task,
    Blocked,
}

/// What an answer is made of.
pub(super) struct Call<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) inside_agent: bool,
    pub(super) arguments: JsonObject,
    pub(super) interrupts: Interrupts,
    pub(super) progress: &'a (dyn Fn(&str) + Sync),
}

/// All tools as callers see them, `mutation_test` first.
pub(super) fn all() -> Vec<Tool> {
    let mut tools: Vec<Value> = serde_yaml::from_str(TOOLS).unwrap_or_default();
    if let Some(measures) = tools.first_mut() {
        measures["outputSchema"] = json!(schemars::schema_for!(Envelope));
        let arguments = &mut measures["inputSchema"]["properties"];
        for (name, range) in [("timeout", TIMEOUT), ("max_survivors_reported", SURVIVORS)] {
            arguments[name]["minimum"] = json!(range.start());
            arguments[name]["maximum"] = json!(range.end());
        }
        for name in ["engine", "backend"] {
            arguments[name]["enum"] = json!(Engine::ALL.map(Engine::name));
        }
    }
    tools.into_iter().filter_map(|tool| serde_json::from_value(tool).ok()).collect()
}

/// No answer.
pub(super) fn failure(error: &str, remediation: &str) -> (bool, Value) {
    (false, json!({ "success": false, "error": error, "remediation": remediation }))
}

impl Call<'_> {
    /// The answer, and whether it is one: a failure tells what happened and what to do.
    pub(super) fn answer(&self, ask: Ask) -> (bool, Value) {
        let answer = match ask {
            Ask::MutationTest => return self.mutation_test(),
            Ask::GatePreview => self.gate_preview(),
            Ask::Status => status::current(self.invocation).map(|(facts, _)| facts),
            Ask::Task => self.task(),
            Ask::Blocked => self.blocked(),
        };
        answer.map_or_else(|fault| failure(&fault.to_string(), &fault.hint), |value| (true, value))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    fn mutation_test(&self) -> (bool, Value) {
        let named = |name| self.arguments.get(name).filter(|value| !value.is_null());
        let engine = named("engine").or(named("backend"));
        let question = Question {
            target: self.text("target_module").unwrap_or_default().to_owned(),
            timeout: self.arguments.get("timeout").cloned(),
            survivors: self.arguments.get("max_survivors_reported").cloned(),
            engine: engine.map(|engine| engine.as_str().map_or_else(|| engine.to_string(), str::to_owned)),
            report: None,
            is_kept: true,
        };
        let (answer, most) =
            question.answer(self.invocation, self.inside_agent, &self.interrupts, self.progress);
        (answer.is_ok(), serde_json::to_value(Envelope::of(&answer, most)).unwrap_or_default())
    }

    /// The workspace, its boxes, and the box that is named, else the one at which a run is, else the next one.
    fn at(&self, named: &str) -> Result<(Workspace, State, TaskKey), Fault> {
        let workspace = self.invocation.open()?;
        let state = workspace.read_boxes()?;
        let key = match self.text(named) {
            Some(named) => key_of(&state, named)?,
            None => match status::current(self.invocation)? {
                (_, Some(current)) => current,
                (_, None) => next_key(&state, &workspace.policy(), "name one, such as `2.`")?,
            },
        };
        Ok((workspace, state, key))
    }

    fn task(&self) -> Result<Value, Fault> {
        let (workspace, state, key) = self.at("id")?;
        let order = agent_order(&state, &key, state.iteration, Vec::new());
        let read = readings(&RealDisk::new(), &workspace.places, &workspace.rules, None, &key)?;
        Ok(json!({
            "task": state.spec_state().name(&key), "line": order.line, "text": read.task.own, "work": read.task.work,
            "above": read.task.above, "attempt": order.attempt, "reasons": order.reasons,
            "findings": order.findings, "changes": order.changes,
        }))
    }

    fn gate_preview(&self) -> Result<Value, Fault> {
        let (workspace, state, mut key) = self.at("gate")?;
        if !key.stage.is_gate() {
            let mut own = state.spec_state().family_rows(&key.family).map(|row| &row.key.stage);
            let gate = own.find(|stage| stage.is_gate()).cloned();
            let none = || {
                Fault::setup(
                    format!("{} has no gate of its own.", state.spec_state().name(&key)),
                    "name one, such as `G1.PITEST`",
                )
            };
            key.stage = gate.ok_or_else(none)?;
        }
        let mut outside = workspace.outside_until(self.interrupts.clone())?;
        let order = gate_order(&state, &key, &outside.snapshot()?, None);
        let preview = outside.preview(&order)?;
        Ok(json!({
            "gate": state.spec_state().name(&key), "targets": preview.targets, "left_out": preview.left_out,
            "refused": preview.refused, "note": "It judges what is committed since the task began.",
        }))
    }

    fn blocked(&self) -> Result<Value, Fault> {
        let why = self.text("why").unwrap_or_default();
        if why.trim().is_empty() {
            return Err(Fault::setup(
                "There is no reason.",
                "say in `why` what a person has to decide or repair",
            ));
        }
        let token = environment().into_iter().find(|(name, _)| name == TOKEN).map(|(_, token)| token);
        let token = token.ok_or_else(|| {
            let what = format!("{TOKEN} is not set here, so the attempt's token is not known.");
            Fault::setup(
                what,
                format!("print this, with the token of the prompt: {}", blocked_line("<token>", why)),
            )
        })?;
        Ok(json!({
            "line": blocked_line(&token, why),
            "note": "Print this line alone on a line of the answer, and stop. Nothing was recorded.",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_is_described_and_can_be_asked() {
        let tools = all();
        let asks = tools.iter().map(|tool| serde_json::from_value(tool.name.as_ref().into()).unwrap());
        let expected = [Ask::MutationTest, Ask::GatePreview, Ask::Status, Ask::Task, Ask::Blocked];
        assert_eq!(asks.collect::<Vec<Ask>>(), expected);
        assert!(tools.iter().all(|tool| tool.output_schema.is_some()), "{tools:#?}");
        assert_eq!(tools[0].input_schema["properties"]["timeout"]["maximum"], *TIMEOUT.end());
    }
}
