//! `ralph mcp`: ralph's questions as tools of the Model Context Protocol, on standard input and output.
//!
//! Promises: no tool writes anything into the workspace; a tool that cannot work here is not listed; a call that is cancelled,
//! or whose caller is gone, leaves no process.

mod tools;

use super::mutation_test::engines;
use super::{Exit, Fault, FaultKind, Invocation};
use crate::sys::process::{close_to_others, is_inside_agent};
use crate::sys::signals::Interrupts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tools::{Ask, Call, failure};

/// Time between two signs of life of a call.
const BEAT: Duration = Duration::from_secs(5);

/// What all calls share.
#[derive(Clone)]
struct Server {
    invocation: Invocation,
    inside_agent: bool,
}

/// Ends a call with all that it started, at the latest when nobody waits for it any more.
struct Ending(Interrupts);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

/// `ralph mcp`.
pub(super) fn mcp(call: &Invocation) -> Result<Exit, Fault> {
    let internal = |error: &dyn std::fmt::Display| {
        Fault::new(FaultKind::Internal, format!("The server cannot go on: {error}."), "please report this")
    };
    let inside_agent = is_inside_agent()?;
    close_to_others()?;
    call.folder()?;
    let server = Server { invocation: call.clone(), inside_agent };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let service = server.serve(rmcp::transport::stdio()).await.map_err(|error| internal(&error))?;
        service.waiting().await.map_err(|error| internal(&error))
    })?;
    Ok(Exit::Done)
}

impl Server {
    /// The tools that can work here.
    fn tools(&self) -> Vec<Tool> {
        let workspace = self.invocation.open().ok();
        let scores = !self.inside_agent || workspace.as_ref().is_some_and(|it| it.settings.mcp.scores);
        let folder = self.invocation.folder().ok();
        let measures = scores && folder.is_some_and(|folder| !engines(&folder).is_empty());
        let can_work =
            |tool: &Tool| if tool.name == "mutation_test" { measures } else { workspace.is_some() };
        tools::all().into_iter().filter(can_work).collect()
    }

    /// Answers on a thread of its own; tells the caller how far it is, and listens to whether it still wants to know.
    async fn answer(
        &self,
        ask: Ask,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> (bool, serde_json::Value) {
        let (say, mut said) = unbounded_channel::<String>();
        let ending = Ending(Interrupts::by_hand());
        let (server, interrupts) = (self.clone(), ending.0.clone());
        let mut work = tokio::task::spawn_blocking(move || {
            let progress = |text: &str| drop(say.send(text.to_owned()));
            let arguments = request.arguments.unwrap_or_default();
            let Server { invocation, inside_agent } = &server;
            let inside_agent = *inside_agent;
            Call { invocation, inside_agent, arguments, interrupts, progress: &progress }.answer(ask)
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
        answer.unwrap_or_else(|error| {
            failure(&format!("The call ended early: {error}."), "Please report this.")
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new("ralph", env!("CARGO_PKG_VERSION"));
        config
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(ask) = serde_json::from_value(request.name.as_ref().into()) else {
            return Err(ErrorData::invalid_params("There is no such tool.", None));
        };
        let (is_answer, value) = self.answer(ask, request, context).await;
        let text = vec![ContentBlock::text(value.to_string())];
        let mut result = if is_answer { CallToolResult::success(text) } else { CallToolResult::error(text) };
        result.structured_content = Some(value);
        Ok(result.into())
    }
}
