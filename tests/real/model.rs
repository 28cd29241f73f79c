//! A model that follows a script, for real CLIs of agents: an HTTP server on 127.0.0.1.
//!
//! It speaks Anthropic's Messages, `OpenAI`'s Responses and Chat Completions, and Gemini, as far as the CLIs need it.
//! The numbers of tool results and of blocks by the Stop gate in a request decide the next step, so that a repeated request is harmless.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The next action of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// It runs a command.
    Shell(&'static str),
    /// It calls a tool of the server `ralph` with these arguments, which are JSON.
    Tool(&'static str, &'static str),
    /// It calls these tools at once, with arguments that are JSON, only in Chat Completions.
    Batch(&'static [(&'static str, &'static str)]),
    /// It edits a line that README.md does not hold.
    Edit,
    /// It writes this text. `TOKEN` is that of the prompt.
    Say(&'static str),
    /// It repeats the output of its last tool, with the token of the prompt in place of `TOKEN`.
    Repeat,
    /// The provider refuses the request with this status.
    Status(u16),
    /// A usage limit that ends in an hour.
    Limit,
    /// The connection ends in the middle of the answer.
    Cut,
    /// No answer ever comes.
    Hang,
    /// From now on connections are refused.
    Gone,
}

/// The server, until it is dropped.
pub(crate) struct Model {
    port: u16,
    is_over: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Model {
    /// Starts it. The last step is repeated.
    pub(crate) fn start(steps: &'static [Step]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (over, kept) = (over.clone(), kept.clone());
                // A CLI that hangs up meanwhile needs no more.
                std::thread::spawn(move || _ = answer(stream, steps, &kept, &|| end(&over, port)));
            }
        });
        Self {
            port,
            is_over,
            asked,
        }
    }

    /// Returns the requests with tools so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns `http://127.0.0.1:…`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        end(&self.is_over, self.port);
    }
}

/// Closes the listener.
fn end(is_over: &AtomicBool, port: u16) {
    is_over.store(true, Ordering::Relaxed);
    let _ = TcpStream::connect(("127.0.0.1", port));
}

/// The APIs.
#[derive(Clone, Copy, PartialEq)]
enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

fn answer(
    stream: TcpStream,
    steps: &[Step],
    asked: &Mutex<Vec<String>>,
    go: &dyn Fn(),
) -> std::io::Result<()> {
    let (path, body) = request(&stream)?;
    let path = path.split('?').next().unwrap();
    let api = match path {
        path if path.ends_with("/messages") => Api::Messages,
        path if path.ends_with("/responses") => Api::Responses,
        path if path.ends_with("/chat/completions") => Api::Chat,
        path if path.contains("enerateContent") => Api::Gemini,
        path if path.ends_with("/count_tokens") => {
            return reply(stream, 200, "", &json!({"input_tokens": 9}));
        }
        _ => return reply(stream, 404, "", &json!({"error": {"message": "not found"}})),
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let results = results(api, &body);
    let done = rounds(api, &body, results.len()) + blocks(&body);
    let step = steps[done.min(steps.len() - 1)];
    // A request without tools is for a title or similar.
    let has_tools = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    if has_tools {
        asked.lock().unwrap().push(body.to_string());
    }
    let text = |text: &str| Content::Text(text.replace("TOKEN", &token(&body)));
    let content = match step {
        _ if !has_tools => Content::Text("A title".to_owned()),
        Step::Status(status) => return reply(stream, status, "", &refusal(api, status)),
        Step::Limit => return limit(stream, api),
        Step::Gone => {
            go();
            return Ok(());
        }
        Step::Hang => return stream.take_error().map(|_| hang(&stream)),
        Step::Cut => {
            let mut stream = stream;
            stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: x\ndata: {\"ty",
            )?;
            return stream.shutdown(Shutdown::Both);
        }
        Step::Say(words) => text(words),
        Step::Repeat => text(results.last().map_or("", String::as_str)),
        Step::Tool(tool, args) => Content::Call(
            format!("mcp__ralph__{tool}"),
            serde_json::from_str(args).unwrap(),
        ),
        Step::Batch(calls) => Content::Calls(
            calls
                .iter()
                .map(|(tool, args)| ((*tool).to_owned(), serde_json::from_str(args).unwrap()))
                .collect(),
        ),
        Step::Shell(_) | Step::Edit => call(&body.to_string(), step),
    };
    let is_stream = body["stream"] == true || path.contains("stream");
    say(stream, api, is_stream, &content, results.len())
}

/// A part of each reason with which the Stop gate blocks. It follows an answer of the model, so it counts as a step.
const BLOCK: &str = "The gate ran on the files of this turn.";

/// Counts the blocks in a request. Claude Code repeats each of them for its log in a message of the system.
pub(crate) fn blocks(body: &Value) -> usize {
    let messages = ["messages", "input"].map(|key| body[key].as_array());
    let messages = messages.into_iter().flatten().flatten();
    let read = messages.filter(|message| message["role"] != "system");
    read.map(|message| message.to_string().matches(BLOCK).count())
        .sum()
}

/// Waits until the other side hangs up.
fn hang(mut stream: &TcpStream) {
    while matches!(stream.read(&mut [0; 64]), Ok(count) if count > 0) {}
}

fn request(stream: &TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).map(|_| line.trim().to_owned())
    };
    let path = line()?.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let header = line()?.to_ascii_lowercase();
        match header.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => is_chunked = value == "chunked",
            None if header.is_empty() => break,
            _ => {}
        }
    }
    let mut body = Vec::new();
    if !is_chunked {
        reader.take(length).read_to_end(&mut body)?;
        return Ok((path, body));
    }
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
        reader.by_ref().take(size).read_to_end(&mut body)?;
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok((path, body));
        }
    }
}

/// Returns the outputs of the tools in this conversation.
fn results(api: Api, body: &Value) -> Vec<String> {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match api {
        Api::Messages => list("messages")
            .iter()
            .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default())
            .filter(|part| part["type"] == "tool_result")
            .map(|part| {
                text(
                    part["content"]
                        .pointer("/0/text")
                        .unwrap_or(&part["content"]),
                )
            })
            .collect(),
        Api::Responses => list("input")
            .iter()
            .filter(|item| {
                item["type"]
                    .as_str()
                    .is_some_and(|kind| kind.ends_with("_output"))
            })
            .map(|item| text(&item["output"]))
            .collect(),
        Api::Chat => list("messages")
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| {
                text(
                    message["content"]
                        .pointer("/0/text")
                        .unwrap_or(&message["content"]),
                )
            })
            .collect(),
        Api::Gemini => list("contents")
            .iter()
            .flat_map(|content| content["parts"].as_array().cloned().unwrap_or_default())
            .filter_map(|part| Some(text(part.pointer("/functionResponse/response/output")?)))
            .collect(),
    }
}

/// Returns the number of finished steps. Several calls at once are one.
fn rounds(api: Api, body: &Value, results: usize) -> usize {
    let messages = body["messages"].as_array().filter(|_| api == Api::Chat);
    let has_calls = |message: &&Value| {
        message["tool_calls"]
            .as_array()
            .is_some_and(|calls| !calls.is_empty())
    };
    messages.map_or(results, |messages| {
        messages.iter().filter(has_calls).count()
    })
}

/// Returns the token in the prompt.
fn token(body: &Value) -> String {
    let body = body.to_string();
    let (_, rest) = body
        .split_once("The token of a verdict line is `")
        .unwrap_or_default();
    rest.chars().take_while(char::is_ascii_hexdigit).collect()
}

/// An answer of the model.
enum Content {
    Text(String),
    /// A tool and its arguments, or a text if the tool takes one.
    Call(String, Value),
    /// Several of them.
    Calls(Vec<(String, Value)>),
}

/// Returns the step as a call of a tool that the request offers.
fn call(body: &str, step: Step) -> Content {
    let offers = |tool: &str| body.contains(&format!("\"name\":\"{tool}\""));
    let Step::Shell(command) = step else {
        let path = "src/app/README.md";
        let edit = |file: &str, old: &str, new: &str| json!({file: path, old: "no such line", new: "a better line"});
        return if offers("Edit") {
            Content::Call(
                "Edit".to_owned(),
                edit("file_path", "old_string", "new_string"),
            )
        } else if offers("replace") {
            let mut args = edit("file_path", "old_string", "new_string");
            args["instruction"] = json!("Improve the line.");
            Content::Call("replace".to_owned(), args)
        } else if offers("edit") {
            let of = |old: &str| body.contains(&format!("\"{old}\""));
            let [file, old, new] = match () {
                () if of("old_str") => ["path", "old_str", "new_str"],
                () if of("oldText") => ["path", "oldText", "newText"],
                () => ["filePath", "oldString", "newString"],
            };
            Content::Call("edit".to_owned(), edit(file, old, new))
        } else {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {path}\n@@\n-no such line\n+a better line\n*** End Patch\n"
            );
            Content::Call("apply_patch".to_owned(), json!(patch))
        };
    };
    let tools = [
        ("Bash", "command"),
        ("run_shell_command", "command"),
        ("bash", "command"),
        ("exec_command", "cmd"),
        ("terminal", "command"),
    ];
    let (tool, key) = tools
        .into_iter()
        .find(|(tool, _)| offers(tool))
        .unwrap_or(tools[0]);
    let mut args = json!({key: command});
    if tool == "bash" {
        args["description"] = json!("Does it");
    }
    Content::Call(tool.to_owned(), args)
}

fn reply(mut stream: TcpStream, status: u16, headers: &str, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn refusal(api: Api, status: u16) -> Value {
    let (kind, message) = match (api, status) {
        (Api::Messages, 401) => ("authentication_error", "invalid x-api-key"),
        (Api::Messages, 429) => (
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        (Api::Messages, _) => ("overloaded_error", "Overloaded"),
        (Api::Gemini, 401) => (
            "UNAUTHENTICATED",
            "API key not valid. Please pass a valid API key.",
        ),
        (Api::Gemini, 429) => (
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        ),
        (Api::Gemini, _) => ("INTERNAL", "An internal error has occurred."),
        (_, 401) => (
            "invalid_request_error",
            "Incorrect API key provided: sk-test.",
        ),
        (_, 429) => (
            "tokens",
            "Rate limit reached for gpt-5 on tokens per min (TPM). Please try again in 1s.",
        ),
        _ => (
            "server_error",
            "The server had an error while processing your request.",
        ),
    };
    match api {
        Api::Gemini => json!({"error": {"code": status, "message": message, "status": kind}}),
        _ => json!({"type": "error", "error": {"type": kind, "message": message}}),
    }
}

fn limit(stream: TcpStream, api: Api) -> std::io::Result<()> {
    // Some CLIs tell the time in minutes: in a text of hours, that changes nothing.
    let reset = jiff::Timestamp::now().as_second() + 5_400;
    let headers = format!(
        "x-should-retry: false\r\nanthropic-ratelimit-unified-status: rejected\r\nanthropic-ratelimit-unified-reset: {reset}\r\n\
         anthropic-ratelimit-unified-representative-claim: five_hour\r\nanthropic-ratelimit-unified-5h-status: rejected\r\n\
         anthropic-ratelimit-unified-5h-reset: {reset}\r\nanthropic-ratelimit-unified-overage-status: rejected\r\n"
    );
    let body = match api {
        Api::Messages => {
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "You have reached your usage limit."}})
        }
        Api::Gemini => {
            json!({"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50"}]}]}})
        }
        _ => {
            json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
            "resets_at": reset, "code": "usage_limit_reached"}})
        }
    };
    reply(stream, 429, &headers, &body)
}

/// Writes the answer in the form of the API, whole or as events.
fn say(
    stream: TcpStream,
    api: Api,
    is_stream: bool,
    content: &Content,
    at: usize,
) -> std::io::Result<()> {
    let whole = match api {
        Api::Messages => messages(content, at),
        Api::Responses => responses(content, at),
        Api::Chat => chat(content, at, if is_stream { "delta" } else { "message" }),
        Api::Gemini => gemini(content),
    };
    if !is_stream {
        let (_, whole) = whole.into_iter().next_back().unwrap();
        return reply(stream, 200, "", &whole);
    }
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    )?;
    for (event, data) in whole {
        if !event.is_empty() {
            writeln!(stream, "event: {event}")?;
        }
        write!(stream, "data: {data}\n\n")?;
    }
    if api == Api::Chat {
        write!(stream, "data: [DONE]\n\n")
    } else {
        Ok(())
    }
}

type Events = Vec<(&'static str, Value)>;

fn messages(content: &Content, at: usize) -> Events {
    let (empty, delta, stop) = match content {
        Content::Text(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Content::Calls(_) => unreachable!("a batch is for Chat Completions"),
        Content::Call(tool, args) => (
            json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": tool, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": args.to_string()}),
            "tool_use",
        ),
    };
    let start = json!({"id": format!("msg_{at}"), "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": null, "usage": {"input_tokens": 120, "output_tokens": 1}});
    vec![
        (
            "message_start",
            json!({"type": "message_start", "message": start}),
        ),
        (
            "content_block_start",
            json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        ),
        (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        ),
        (
            "content_block_stop",
            json!({"type": "content_block_stop", "index": 0}),
        ),
        (
            "message_delta",
            json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 30}}),
        ),
        ("message_stop", json!({"type": "message_stop"})),
    ]
}

fn responses(content: &Content, at: usize) -> Events {
    let call = format!("call_{at}");
    let item = match content {
        Content::Text(text) => {
            json!({"type": "message", "id": format!("msg_{at}"), "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        Content::Calls(_) => unreachable!("a batch is for Chat Completions"),
        Content::Call(tool, Value::String(input)) => {
            json!({"type": "custom_tool_call", "call_id": call, "name": tool, "input": input, "status": "completed"})
        }
        Content::Call(tool, args) => {
            let (server, name) = tool
                .rsplit_once("__")
                .map_or((None, tool.as_str()), |(server, name)| (Some(server), name));
            json!({"type": "function_call", "call_id": call, "namespace": server, "name": name,
                "arguments": args.to_string(), "status": "completed"})
        }
    };
    let usage = json!({"input_tokens": 120, "output_tokens": 30, "total_tokens": 150});
    vec![
        (
            "response.output_item.done",
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        ),
        (
            "response.completed",
            json!({"type": "response.completed", "response": {"id": format!("resp_{at}"), "usage": usage}}),
        ),
    ]
}

fn chat(content: &Content, at: usize, part: &str) -> Events {
    let (said, finish) = match content {
        Content::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Content::Call(tool, args) => (of_calls(&[(tool.clone(), args.clone())], at), "tool_calls"),
        Content::Calls(calls) => (of_calls(calls, at), "tool_calls"),
    };
    let usage = json!({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150});
    let choices = json!([{"index": 0, part: said, "finish_reason": finish}]);
    vec![(
        "",
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": choices, "usage": usage}),
    )]
}

fn of_calls(calls: &[(String, Value)], at: usize) -> Value {
    let call = |(number, (tool, args)): (usize, &(String, Value))| {
        let function = json!({"name": tool, "arguments": args.to_string()});
        json!({"index": number, "id": format!("call_{at}_{number}"), "type": "function", "function": function})
    };
    json!({"role": "assistant", "tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>()})
}

fn gemini(content: &Content) -> Events {
    let part = match content {
        Content::Text(text) => json!({"text": text}),
        Content::Calls(_) => unreachable!("a batch is for Chat Completions"),
        Content::Call(tool, args) => json!({"functionCall": {"name": tool, "args": args}}),
    };
    let usage =
        json!({"promptTokenCount": 120, "candidatesTokenCount": 30, "totalTokenCount": 150});
    let candidate =
        json!({"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0});
    vec![(
        "",
        json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}),
    )]
}
