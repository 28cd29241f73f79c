//! The call of an agent: arguments and environment of one attempt (docs/design.md "The agent's environment").
//!
//! Promises: an inserted value is never searched for placeholders, never split, never passed to a shell. No `GIT_…`
//! variable is inherited.

use crate::config::{AgentSettings, Role};
use std::collections::BTreeMap;

/// Size from which Linux refuses an argument, with its NUL (`MAX_ARG_STRLEN`), in bytes.
const LONGEST_ARGUMENT: usize = 128 << 10;

/// Data for the agent about its attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFacts<'a> {
    pub prompt: &'a str,
    /// The file that holds it, absolute.
    pub prompt_file: &'a str,
    /// The box as `tasks.md` names it (`2.`, `2.TEST-FIRST`); empty without an id.
    pub task: &'a str,
    pub task_text: &'a str,
    /// The word of the stage, `IMPLEMENT` for the implementation.
    pub stage: &'a str,
    pub role: Role,
    /// The workspace, absolute.
    pub workspace: &'a str,
    pub iteration: u64,
    /// The attempt in a row for this stage, from 1.
    pub attempt: u32,
    /// The token of its verdict line.
    pub verdict_token: &'a str,
}

/// A program to start; its working directory is the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// True if the prompt is its standard input, so no argument holds it.
    pub reads_prompt: bool,
    /// The whole environment, sorted by name, each name once.
    pub env: Vec<(String, String)>,
}

/// Builds the call of an agent.
///
/// `base` is the initial environment. The agent's own `env:` and then the `RALPH_…` variables override it.
pub fn agent_call(
    agent: &AgentSettings,
    facts: &CallFacts<'_>,
    base: &[(String, String)],
) -> AgentCall {
    let argv = agent.command.iter().map(|arg| fill(arg, facts)).collect();
    let reads_prompt = !agent.command.iter().any(|arg| arg.contains("{prompt}"));
    let inherited = base
        .iter()
        .filter(|(name, _)| !name.starts_with("GIT_"))
        .cloned();
    let mut env: BTreeMap<String, String> = inherited.collect();
    env.extend(
        agent
            .env
            .iter()
            .map(|(name, value)| (name.clone(), value.replace("{workspace}", facts.workspace))),
    );
    let own = [
        ("RALPH_WORKSPACE", facts.workspace.to_owned()),
        ("RALPH_TASK", facts.task.to_owned()),
        ("RALPH_TASK_TEXT", facts.task_text.to_owned()),
        ("RALPH_STAGE", facts.stage.to_owned()),
        ("RALPH_ROLE", facts.role.word().to_owned()),
        ("RALPH_ITERATION", facts.iteration.to_string()),
        ("RALPH_ATTEMPT", facts.attempt.to_string()),
        ("RALPH_PROMPT_FILE", facts.prompt_file.to_owned()),
        ("RALPH_VERDICT_TOKEN", facts.verdict_token.to_owned()),
    ];
    // An environment cannot hold a NUL, and the task's text may.
    env.extend(own.map(|(name, value)| (name.to_owned(), value.replace('\0', ""))));
    AgentCall {
        argv,
        reads_prompt,
        env: env.into_iter().collect(),
    }
}

impl AgentCall {
    /// Returns the size of the longest argument in bytes, if the system refuses that size.
    pub fn too_long(&self) -> Option<usize> {
        let longest = self.argv.iter().map(String::len).max()?;
        (longest >= LONGEST_ARGUMENT).then_some(longest)
    }
}

/// Replaces each placeholder once, from left to right. Other braces stay.
fn fill(arg: &str, facts: &CallFacts<'_>) -> String {
    let values = [
        ("{prompt}", facts.prompt),
        ("{prompt_file}", facts.prompt_file),
        ("{task}", facts.task),
        ("{stage}", facts.stage),
        ("{role}", facts.role.word()),
        ("{workspace}", facts.workspace),
    ];
    let mut filled = String::with_capacity(arg.len());
    let mut rest = arg;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, value) = values
            .iter()
            .find(|(name, _)| rest.starts_with(name))
            .map_or((1, "{"), |(name, value)| (name.len(), *value));
        filled.push_str(value);
        rest = &rest[taken..];
    }
    filled.push_str(rest);
    filled.replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> CallFacts<'static> {
        CallFacts {
            prompt: "Do {task}.",
            prompt_file: "/w/.ralph/state/iter-7/prompt.md",
            task: "2.TEST-FIRST",
            task_text: "parse {stage} dates",
            stage: "TEST-FIRST",
            role: Role::TestWriter,
            workspace: "/w",
            iteration: 7,
            attempt: 2,
            verdict_token: "3f9a",
        }
    }

    fn agent(command: &[&str], env: &[(&str, &str)]) -> AgentSettings {
        AgentSettings {
            command: command.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..AgentSettings::default()
        }
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let command = [
            "x",
            "{prompt_file}",
            "{task}:{stage}:{role}",
            "{{workspace}",
            "{\"a\": {b}}",
            "{task",
            "é{role}é",
            "",
        ];
        let call = agent_call(&agent(&command, &[]), &facts(), &[]);
        assert_eq!(
            call.argv,
            [
                "x",
                "/w/.ralph/state/iter-7/prompt.md",
                "2.TEST-FIRST:TEST-FIRST:test-writer",
                "{/w",
                "{\"a\": {b}}",
                "{task",
                "étest-writeré",
                ""
            ]
        );
        let nested = CallFacts {
            task: "{workspace}",
            ..facts()
        };
        assert_eq!(
            agent_call(&agent(&["{task}"], &[]), &nested, &[]).argv,
            ["{workspace}"]
        );
    }

    #[test]
    fn a_prompt_that_is_an_argument_is_not_standard_input_and_must_fit() {
        let call = agent_call(&agent(&["x", "-p={prompt}"], &[]), &facts(), &[]);
        assert_eq!(
            (call.argv[1].as_str(), call.reads_prompt),
            ("-p=Do {task}.", false)
        );
        assert!(agent_call(&agent(&["x", "{prompt_file}"], &[]), &facts(), &[]).reads_prompt);
        let of_length = |length: usize| {
            let prompt = "x".repeat(length);
            agent_call(
                &agent(&["x", "{prompt}"], &[]),
                &CallFacts {
                    prompt: &prompt,
                    ..facts()
                },
                &[],
            )
            .too_long()
        };
        assert_eq!(
            (of_length(131_071), of_length(131_072)),
            (None, Some(131_072))
        );
    }

    #[test]
    fn the_environment_is_base_then_agent_then_ralph() {
        let base = [
            ("PATH", "/bin"),
            ("GIT_DIR", "/x"),
            ("RALPH_ROLE", "boss"),
            ("A", "1"),
            ("A", "2"),
            ("B", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let call = agent_call(
            &agent(
                &["x"],
                &[("B", "{workspace}/{task}"), ("GIT_AUTHOR_NAME", "me")],
            ),
            &facts(),
            &base,
        );
        let env: Vec<String> = call
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            env,
            [
                "A=2",
                "B=/w/{task}",
                "GIT_AUTHOR_NAME=me",
                "PATH=/bin",
                "RALPH_ATTEMPT=2",
                "RALPH_ITERATION=7",
                "RALPH_PROMPT_FILE=/w/.ralph/state/iter-7/prompt.md",
                "RALPH_ROLE=test-writer",
                "RALPH_STAGE=TEST-FIRST",
                "RALPH_TASK=2.TEST-FIRST",
                "RALPH_TASK_TEXT=parse {stage} dates",
                "RALPH_VERDICT_TOKEN=3f9a",
                "RALPH_WORKSPACE=/w",
            ]
        );
    }

    proptest! {
        #[test]
        fn an_argument_without_placeholders_stays_as_it_is(arg in "[a-z{}$ \"é]{0,30}") {
            let known = ["{prompt}", "{prompt_file}", "{task}", "{stage}", "{role}", "{workspace}"];
            prop_assume!(!known.iter().any(|name| arg.contains(name)));
            let argv = agent_call(&agent(&[&arg], &[]), &facts(), &[]).argv;
            prop_assert_eq!(argv, vec![arg]);
        }
    }
}
