//! The plugin for Claude Code, and its equivalents for Codex and opencode, in the real CLIs: what the Stop gate does to a
//! model that claims to be done.

use super::model::{self, Model, Step};
use super::{CLAUDE, CODEX, Cli, OPENCODE, modules, project};
use crate::cli::project::{Done, Project};
use crate::support::needs::tests;
use std::path::{Path, PathBuf};
use std::process::Stdio;

tests! {
    npm deep: [
        the_plugin_is_valid_for_claude,
        claude_cannot_end_a_turn_until_the_gate_passes,
        codex_cannot_end_a_turn_until_the_gate_passes,
        codex_offers_the_skills,
    ]
    asked_for: [
        opencode_goes_on_until_the_gate_passes,
        opencode_offers_the_skills_and_the_server,
    ]
}

const LINT: &str =
    "gates:\n  LINT: {where: clean, run: [sh, -c, 'test -e good || { echo bad line; exit 1; }']}\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/claude-plugin")
}

fn the_plugin_is_valid_for_claude() {
    let project = Project::empty();
    let mut claude = project.program(modules(&CLAUDE).join(CLAUDE.program).to_str().unwrap());
    claude.args(["plugin", "validate"]).arg(folder());
    let done = Project::finish(claude).code(0);
    for part in [
        "hooks: Stop",
        "mcpServers: ralph",
        "skills: ralph:write-a-spec-with-gates",
        "skills: ralph:kill-survivors-honestly",
    ] {
        assert!(
            done.out.contains(part),
            "{part} is missing in\n{}",
            done.out
        );
    }
}

/// Installs the skills where Codex and opencode look for them, and returns the output of this call.
fn with_skills(cli: &Cli, call: &str) -> String {
    let project = project(cli, "- [ ] 1. One\n", "http://127.0.0.1:9", "");
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.tool("ralph", &format!("exec {ralph} \"$@\""));
    let skills = folder().join("skills");
    let script = format!(
        "mkdir -p ~/.agents\ncp -r '{}' ~/.agents/skills\n{call}",
        skills.display()
    );
    let mut sh = project.program("sh");
    sh.args(["-euc", &script]).current_dir(project.path(""));
    let done = Project::finish_within(sh, 60).code(0);
    format!("{}{}", done.out, done.err)
}

const SKILLS: [&str; 2] = ["write-a-spec-with-gates", "kill-survivors-honestly"];

fn codex_offers_the_skills() {
    let prompt = with_skills(&CODEX, "codex debug prompt-input hello");
    for skill in SKILLS {
        assert!(prompt.contains(skill), "{skill} is missing in\n{prompt}");
    }
}

fn opencode_offers_the_skills_and_the_server() {
    let server = r#"echo '{"mcp": {"ralph": {"type": "local", "command": ["ralph", "mcp"]}}}' > ~/.config/opencode/opencode.json"#;
    let call = format!("{server}\nopencode debug skill\nopencode mcp list");
    let offered = with_skills(&OPENCODE, &call);
    for part in SKILLS.into_iter().chain(["ralph \u{1b}[90mconnected"]) {
        assert!(offered.contains(part), "{part} is missing in\n{offered}");
    }
}

const BAD: Step = Step::Shell("echo 1 >> src/app/main.txt");
const DONE: Step = Step::Say("All is done, and the tests pass.");

/// A session in which the model does this; what the CLI printed, and the requests that the model got.
fn session(cli: &Cli, steps: &'static [Step], call: &str) -> (Project, Done, Vec<String>) {
    let model = Model::start(steps);
    let project = project(cli, "- [ ] 1. One\n", &model.url(), LINT);
    let ralph = env!("CARGO_BIN_EXE_ralph");
    project.tool("ralph", &format!("exec {ralph} \"$@\""));
    project.tool(
        "turn",
        &call
            .replace("@MODEL@", &model.url())
            .replace("@PLUGIN@", folder().to_str().unwrap()),
    );
    let mut turn = project.program("turn");
    turn.current_dir(project.path("")).stdin(Stdio::null());
    let done = Project::finish_within(turn, 120);
    (project, done, model.asked())
}

/// The blocks in the last request.
fn blocks(asked: &[String]) -> usize {
    model::blocks(&serde_json::from_str(asked.last().unwrap()).unwrap())
}

/// In all these sessions the model claims to be done.
fn cannot_end_until_the_gate_passes(cli: &Cli, call: &str) {
    // Calls of the Stop gate: for the prompt, for each block, and for the end.
    let call = |blocks: usize| call.replace("@CALLS@", &(blocks + 2).to_string());
    let repaired = &[BAD, DONE, Step::Shell("touch src/app/good"), DONE];
    let (project, done, asked) = session(cli, repaired, &call(1));
    assert_eq!(
        (asked.len(), blocks(&asked)),
        (4, 1),
        "{}\n{}",
        done.out,
        done.err
    );
    assert!(asked[2].contains("bad line"), "{}", asked[2]);
    assert!(project.has("src/app/good"), "{}", done.out);

    let unchanged = &[BAD, DONE];
    let (_, done, asked) = session(cli, unchanged, &call(1));
    assert_eq!(
        (asked.len(), blocks(&asked)),
        (3, 1),
        "{}\n{}",
        done.out,
        done.err
    );

    let stubborn = &[BAD, DONE, BAD, DONE, BAD, DONE, BAD, DONE];
    let (_, done, asked) = session(cli, stubborn, &call(3));
    assert_eq!(
        (asked.len(), blocks(&asked)),
        (8, 3),
        "{}\n{}",
        done.out,
        done.err
    );
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
}

fn claude_cannot_end_a_turn_until_the_gate_passes() {
    let call = "export ANTHROPIC_BASE_URL=@MODEL@ CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test DISABLE_AUTOUPDATER=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
exec claude -p --dangerously-skip-permissions --output-format stream-json --verbose --plugin-dir @PLUGIN@ 'Go on.'";
    cannot_end_until_the_gate_passes(&CLAUDE, call);
}

fn codex_cannot_end_a_turn_until_the_gate_passes() {
    let call = r#"export MOCK_KEY=sk-test
mkdir -p ~/.codex
sed "s|/path/to|@PLUGIN@/scripts|" @PLUGIN@/../hooks/codex-hooks.json > ~/.codex/hooks.json
exec codex exec -m gpt-5.5 -c 'model_provider="mock"' -c 'model_providers.mock={name="mock",base_url="@MODEL@/v1",wire_api="responses",env_key="MOCK_KEY"}' \
 -c analytics.enabled=false --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust 'Go on.'"#;
    cannot_end_until_the_gate_passes(&CODEX, call);
}

/// `opencode run` ends with the turn, so this is a session on its server.
fn opencode_goes_on_until_the_gate_passes() {
    let call = r#"export OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 OPENCODE_DISABLE_DEFAULT_PLUGINS=1 OPENCODE_DISABLE_AUTOUPDATE=1
mkdir -p ~/.config/opencode/plugin ~/counting
cp @PLUGIN@/../opencode/ralph-gate.js ~/.config/opencode/plugin/
printf '%s\n' '#!/bin/sh' "$(command -v ralph) \"\$@\"" 'echo >> ~/calls' > ~/counting/ralph
chmod +x ~/counting/ralph
PATH=~/counting:$PATH opencode serve --port 0 > ~/log 2>&1 &
until url=$(grep -o 'http://127.0.0.1:[0-9]*' ~/log); do sleep 0.05; done
opencode run --attach $url --auto -m mock/mock-model 'Go on.'
until [ "$(wc -l < ~/calls)" = @CALLS@ ]; do sleep 0.05; done
kill $!
wait"#;
    cannot_end_until_the_gate_passes(&OPENCODE, call);
}
