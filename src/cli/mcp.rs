//! `ralph mcp`: ralph's questions as tools of the Model Context Protocol, on standard input and output.
//!
//! Promises: no tool writes anything into the workspace; a tool that cannot work here is not listed; a call that is cancelled,
//! or whose caller is gone, leaves no process; so many calls are answered at once and no more.

use super::mutation_test::{Caller, MutationTestArgs, installed_engines};
use super::task_ids::{key_of, next_key};
use super::{
    Exit, Fault, FaultKind, Invocation, RealDisk, State, Workspace, base_environment, ensure_that,
    status,
};
use crate::agent::blocked_line;
use crate::config;
use crate::engine::{World as _, read_for_prompt};
use crate::gate::mutation_test::MutationEngine;
use crate::machine::{agent_order, gate_order};
use crate::report::mutation_test::{Envelope, SURVIVORS, TIMEOUT};
use crate::sys::itself::close_to_others;
use crate::sys::process::is_inside_agent;
use crate::sys::signals::Interrupts;
use crate::task::TaskKey;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{QuitReason, RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::unbounded_channel;

/// Time between two signs of life of a call.
const BEAT: Duration = Duration::from_secs(5);

/// Calls that are answered at once. Each opens git and the journal, and may start an engine.
const MOST_CALLS: usize = 4;

/// The message of a call that waits for a permit.
const WAITING: &str = "Waiting for other calls to end";

/// Shared state of all calls.
#[derive(Clone)]
struct Server {
    invocation: Invocation,
    inside_agent: bool,
    /// A permit for each call that is answered.
    calls: Arc<Semaphore>,
}

/// Ends a call with all its processes, when the client cancels it or disconnects.
struct CallEnd(Interrupts);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

pub(super) fn serve_mcp(call: &Invocation) -> Result<Exit, Fault> {
    let inside_agent = is_inside_agent()?;
    close_to_others()?;
    call.start_folder()?;
    let server = Server {
        invocation: call.clone(),
        inside_agent,
        calls: Arc::new(Semaphore::new(MOST_CALLS)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = match server
            .serve((tokio::io::stdin(), tokio::io::stdout()))
            .await
        {
            // The caller went away before it said anything: there is nothing to serve.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(QuitReason::Closed),
            served => served.map_err(|error| server_fault(&error))?,
        };
        let ended = service.waiting().await;
        ended.map_err(|error| server_fault(&error))
    })?;
    Ok(Exit::Done)
}

fn server_fault(error: &dyn std::fmt::Display) -> Fault {
    let what = format!("The server stopped: {error}.");
    Fault::new(FaultKind::Internal, what, "please report this")
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new("ralph", env!("CARGO_PKG_VERSION"));
        config
    }

    /// The tools that can work here.
    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let workspace = self.invocation.open_workspace().ok();
        let scores =
            !self.inside_agent || workspace.as_ref().is_some_and(|it| it.settings.mcp.scores);
        let folder = self.invocation.start_folder().ok();
        let measures =
            scores && folder.is_some_and(|folder| !installed_engines(&folder).is_empty());
        Ok(ListToolsResult::with_all_items(
            all_tools()
                .into_iter()
                .filter(|tool| {
                    if tool.name == "mutation_test" {
                        measures
                    } else {
                        workspace.is_some()
                    }
                })
                .collect(),
        ))
    }

    /// Answers on a thread of its own; tells the caller how far it is, and listens to whether it still wants to know.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(ask) = serde_json::from_value(request.name.as_ref().into()) else {
            return Err(ErrorData::invalid_params("There is no such tool.", None));
        };
        let (say, mut said) = unbounded_channel::<String>();
        let waits = say.clone();
        let ending = CallEnd(Interrupts::by_hand());
        let (server, interrupts) = (self.clone(), ending.0.clone());
        let answer = move || {
            let arguments = request.arguments.unwrap_or_default();
            let caller = Caller {
                call: &server.invocation,
                inside_agent: server.inside_agent,
                interrupts,
                progress: &|text: &str| drop(say.send(text.to_owned())),
            };
            ToolCall { caller, arguments }.answer_call(ask)
        };
        let calls = self.calls.clone();
        let mut work = tokio::spawn(async move {
            if calls.available_permits() == 0 {
                drop(waits.send(WAITING.to_owned()));
            }
            // The semaphore is never closed. A call that is cancelled meanwhile ends as soon as it begins.
            let _permit = calls.acquire_owned().await;
            tokio::task::spawn_blocking(answer).await
        });
        let token = context.meta.get_progress_token();
        let mut beat = tokio::time::interval(BEAT);
        let (mut text, mut count, mut cancelled) = ("Starting".to_owned(), 0_u32, false);
        let answer = loop {
            tokio::select! {
                done = &mut work => break done,
                () = context.ct.cancelled(), if !cancelled => {
                    cancelled = true;
                    ending.0.interrupt();
                }
                Some(next) = said.recv() => text = next,
                _ = beat.tick() => {}
            }
            if let Some(token) = &token {
                count += 1;
                let told = ProgressNotificationParam::new(token.clone(), f64::from(count))
                    .with_message(text.clone());
                // A caller that is gone is noticed by the service.
                let _ = context.peer.notify_progress(told).await;
            }
        };
        let (is_answer, value, text) = answer.flatten().unwrap_or_else(|error| {
            let (_, value) = failure_answer(
                &format!("The call ended early: {error}."),
                "Please report this.",
            );
            (false, value.clone(), value.to_string())
        });
        let text = vec![ContentBlock::text(text)];
        let mut result = if is_answer {
            CallToolResult::success(text)
        } else {
            CallToolResult::error(text)
        };
        result.structured_content = Some(value);
        Ok(result.into())
    }
}

/// The variable that holds an attempt's token.
const TOKEN: &str = "RALPH_VERDICT_TOKEN";

/// The tools as callers see them.
const TOOLS: &str = include_str!("../../templates/mcp.yaml");

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    MutationTest,
    GatePreview,
    Status,
    Task,
    Blocked,
}

/// Inputs of an answer.
struct ToolCall<'a> {
    caller: Caller<'a>,
    arguments: JsonObject,
}

/// All tools as callers see them, `mutation_test` first.
fn all_tools() -> Vec<Tool> {
    let mut tools: Vec<Value> = serde_yaml::from_str(TOOLS).unwrap_or_default();
    if let Some(measures) = tools.first_mut() {
        measures["outputSchema"] = json!(schemars::schema_for!(Envelope));
        config::drop_integer_formats(&mut measures["outputSchema"]);
        let arguments = &mut measures["inputSchema"]["properties"];
        for (name, range) in [("timeout", TIMEOUT), ("max_survivors_reported", SURVIVORS)] {
            arguments[name]["minimum"] = json!(range.start());
            arguments[name]["maximum"] = json!(range.end());
        }
        for name in ["engine", "backend"] {
            arguments[name]["enum"] = json!(MutationEngine::ALL.map(MutationEngine::caller_name));
        }
    }
    tools
        .into_iter()
        .filter_map(|tool| serde_json::from_value(tool).ok())
        .collect()
}

/// No answer.
fn failure_answer(error: &str, remediation: &str) -> (bool, Value) {
    (
        false,
        json!({ "success": false, "error": error, "remediation": remediation }),
    )
}

impl ToolCall<'_> {
    /// Returns the answer, true if it is a success, and its text.
    ///
    /// A failure holds the error and the next step.
    fn answer_call(&self, ask: Ask) -> (bool, Value, String) {
        let answer = match ask {
            Ask::MutationTest => return self.mutation_test(),
            Ask::GatePreview => self.gate_preview(),
            Ask::Status => status::current_status(self.caller.call).map(|(facts, _)| facts),
            Ask::Task => self.task_answer(),
            Ask::Blocked => self.blocked_answer(),
        };
        let (is_answer, value) = answer.map_or_else(
            |fault| failure_answer(&fault.to_string(), &fault.hint),
            |value| (true, value),
        );
        let text = value.to_string();
        (is_answer, value, text)
    }

    fn text_argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// Its text has the score first and the engine's output last, so that a host that cuts long results cuts that.
    fn mutation_test(&self) -> (bool, Value, String) {
        let [engine, backend] = ["engine", "backend"]
            .map(|name| self.arguments.get(name).filter(|value| !value.is_null()));
        let asked = MutationTestArgs {
            target: self
                .text_argument("target_module")
                .unwrap_or_default()
                .to_owned(),
            timeout: self.arguments.get("timeout").cloned(),
            max_survivors: self.arguments.get("max_survivors_reported").cloned(),
            engine: engine.or(backend).map(|engine| {
                engine
                    .as_str()
                    .map_or_else(|| engine.to_string(), str::to_owned)
            }),
            ..MutationTestArgs::default()
        };
        let (answer, most) = asked.answer_request(&self.caller);
        let envelope = Envelope::of(&answer, most);
        let text = serde_json::to_string(&envelope).unwrap_or_default();
        (
            answer.is_ok(),
            serde_json::to_value(envelope).unwrap_or_default(),
            text,
        )
    }

    /// The workspace, its boxes, and the box that is named, else the one at which a run is, else the next one.
    fn find_box(&self, named: &str) -> Result<(Workspace, State, TaskKey), Fault> {
        let workspace = self.caller.call.open_workspace()?;
        let state = workspace.read_boxes()?;
        let key = match self.text_argument(named) {
            Some(named) => key_of(&state, named)?,
            None => match status::current_status(self.caller.call)? {
                (_, Some(current)) => current,
                (_, None) => next_key(&state, &workspace.run_policy(), "name one, such as `2.`")?,
            },
        };
        Ok((workspace, state, key))
    }

    fn task_answer(&self) -> Result<Value, Fault> {
        let (workspace, state, key) = self.find_box("id")?;
        let order = agent_order(&state, &key, state.iteration, Vec::new());
        let read = read_for_prompt(
            &RealDisk::new(),
            &workspace.places,
            &workspace.rules,
            None,
            &key,
        )?;
        Ok(json!({
            "task": state.spec_state().written_name(&key), "line": order.line, "text": read.task.own, "work": read.task.work,
            "above": read.task.above, "attempt": order.attempt, "reasons": order.reasons,
            "findings": order.findings, "changes": order.changes,
        }))
    }

    fn gate_preview(&self) -> Result<Value, Fault> {
        let (workspace, state, mut key) = self.find_box("gate")?;
        if !key.stage.is_gate() {
            let mut own = state
                .spec_state()
                .family_rows(&key.family)
                .map(|row| &row.key.stage);
            let gate = own.find(|stage| stage.is_gate()).cloned();
            key.stage = gate.ok_or_else(|| {
                let what = format!("{} has no gate of its own.", state.spec_state().title(&key));
                Fault::setup_fault(what, "name one, such as `G1.PITEST`")
            })?;
        }
        let mut outside = workspace.outside_until(self.caller.interrupts.clone())?;
        let order = gate_order(&state, &key, &outside.take_snapshot()?, None);
        let preview = outside.preview_gate(&order)?;
        Ok(json!({
            "gate": state.spec_state().written_name(&key), "targets": preview.targets, "left_out": preview.left_out,
            "refused": preview.refused, "note": "It judges what is committed since the task began.",
        }))
    }

    fn blocked_answer(&self) -> Result<Value, Fault> {
        let why = self.text_argument("why").unwrap_or_default();
        let hint = "say in `why` what a person has to decide or repair";
        ensure_that(!why.trim().is_empty(), "There is no reason.", hint)?;
        let Some((_, token)) = base_environment()
            .into_iter()
            .find(|(name, _)| name == TOKEN)
        else {
            let what = format!("{TOKEN} is not set here, so the attempt's token is not known.");
            let line = blocked_line("<token>", why);
            return Err(Fault::setup_fault(
                what,
                format!("print this, with the token of the prompt: {line}"),
            ));
        };
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
        let tools = all_tools();
        let asks = tools
            .iter()
            .map(|tool| serde_json::from_value(tool.name.as_ref().into()).unwrap());
        let expected = [
            Ask::MutationTest,
            Ask::GatePreview,
            Ask::Status,
            Ask::Task,
            Ask::Blocked,
        ];
        assert_eq!(asks.collect::<Vec<Ask>>(), expected);
        assert!(
            tools.iter().all(|tool| tool.output_schema.is_some()),
            "{tools:#?}"
        );
        assert_eq!(
            tools[0].input_schema["properties"]["timeout"]["maximum"],
            *TIMEOUT.end()
        );
    }
}
