//! The agents that open boxes need: the preflight of a run.

use super::{CONFIG, InspectionFinding, Level, State, Workspace, base_environment};
use crate::agent::{CallFacts, PromptError, agent_call, detect, names_token, try_out};
use crate::config::{AgentSettings, Preset, Role, role_of};
use crate::engine::own_template;
use crate::machine::choice::is_required_open;
use crate::source::text::line;
use crate::sys::programs::{is_program, is_root};
use crate::turn::TranscriptFormat;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The roles of required open boxes.
pub(crate) fn needed_roles(state: &State) -> BTreeSet<Role> {
    let open = state
        .spec_state()
        .rows
        .iter()
        .filter(|row| is_required_open(row));
    open.filter_map(|row| role_of(&row.key.stage)).collect()
}

/// The roles without an agent that could be started, each agent once.
pub(super) fn missing_agents(
    workspace: &Workspace,
    roles: &BTreeSet<Role>,
) -> Vec<InspectionFinding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = match detect(&path.to_string_lossy()).join(", ") {
        none if none.is_empty() => "no agent CLI that ralph knows is on PATH".to_owned(),
        names => format!("on PATH are: {names}"),
    };
    let name_one = format!("name one under `agents:` in {CONFIG} ({on_path})");
    let environment = base_environment();
    let mut told = BTreeSet::new();
    let lacks = roles
        .iter()
        .flat_map(|role| agent_lacks(workspace, *role, &environment));
    let lacks = lacks.filter(|lack| told.insert(lack.what.clone()));
    lacks
        .map(|lack| {
            let hint = match lack.install {
                Some(install) => format!("{install}, or {name_one}"),
                None => name_one.clone(),
            };
            InspectionFinding::new_error("missing-agent", CONFIG, lack.what, hint)
                .with_key(lack.key)
        })
        .collect()
}

/// Returns the agents on which `limits.quota` has no effect, since their CLI does not report its share.
pub(super) fn agents_without_quota(
    workspace: &Workspace,
    roles: &BTreeSet<Role>,
) -> Vec<InspectionFinding> {
    if workspace.settings.limits.quota.stop_at.is_none() {
        return Vec::new();
    }
    let environment = base_environment();
    let agents = roles
        .iter()
        .flat_map(|role| workspace.settings.agents_for(*role));
    let by_name: BTreeMap<&str, &AgentSettings> = agents.collect();
    let mut findings = Vec::new();
    for (name, agent) in by_name {
        let Some(why) = reports_no_quota(agent, &environment) else {
            continue;
        };
        let what = format!("`limits.quota` has no effect on the agent `{name}`: {why}.");
        let hint = "limit this agent with limits.cost or limits.tokens";
        let found = InspectionFinding::new_error("quota-without-report", CONFIG, what, hint);
        findings.push(found.with_key("limits.quota.stop_at").into_warning());
    }
    findings
}

/// Returns why an agent's CLI does not report its share of a usage limit; `None` if it does.
fn reports_no_quota(agent: &AgentSettings, environment: &[(String, String)]) -> Option<String> {
    let Some(preset) = agent.preset.as_deref().and_then(Preset::named) else {
        return (agent.format != TranscriptFormat::Claude)
            .then(|| "ralph reads a share only from `format: claude`".to_owned());
    };
    if !preset.reports_quota {
        return Some(format!(
            "`{}` does not report its share of a usage limit",
            preset.name
        ));
    }
    let own = agent.env.iter();
    let inherited = environment.iter().map(|(name, value)| (name, value));
    let has_key = own
        .chain(inherited)
        .find(|(name, _)| *name == "ANTHROPIC_API_KEY")
        .is_some_and(|(_, value)| !value.is_empty());
    has_key.then(|| {
        format!(
            "with ANTHROPIC_API_KEY `{}` reports no share; a subscription login does",
            preset.name
        )
    })
}

/// An agent that cannot be started.
struct MissingAgent {
    what: String,
    /// The key of the configuration that names the agent, or should.
    key: String,
    /// The step to take before another agent is named.
    install: Option<String>,
}

/// Returns the agents of a role that cannot be started.
fn agent_lacks(
    workspace: &Workspace,
    role: Role,
    environment: &[(String, String)],
) -> Vec<MissingAgent> {
    let mut agents = workspace.settings.agents_for(role).peekable();
    if agents.peek().is_none() {
        let what = format!("No agent is configured for the role {}.", role.word());
        return vec![MissingAgent {
            what,
            key: format!("roles.{}", role.word()),
            install: None,
        }];
    }
    let folder = &workspace.places.workspace;
    // Facts of its call that are known before an attempt.
    let facts = CallFacts {
        role,
        workspace: &folder.to_string_lossy(),
        ..CallFacts::default()
    };
    let mut lacks = Vec::new();
    for (name, agent) in agents {
        let call = agent_call(agent, &facts, environment);
        let program = call.argv.first().map(String::as_str).unwrap_or_default();
        let key = if agent.preset.is_some() {
            "preset"
        } else {
            "command"
        };
        let key = format!("agents.{name}.{key}");
        if let Some(why) = not_startable(program, &call.env, folder) {
            let shown = line(program, 400);
            let install = (agent.preset.is_some() && !program.contains('/'))
                .then(|| format!("install `{shown}` or put its directory on PATH"));
            lacks.push(MissingAgent {
                what: format!("The program `{shown}` of the agent `{name}` {why}."),
                key,
                install,
            });
        } else if let Some(preset) = agent.preset.as_deref().and_then(Preset::named)
            && let Some(variable) = lacks_as_root(preset, &call.env)
        {
            lacks.push(MissingAgent {
                what: as_root(&preset.name, variable),
                key,
                install: None,
            });
        }
    }
    lacks
}

/// The variable that a person must set before the preset's CLI starts as root, if it is not set.
pub(crate) fn lacks_as_root<'p>(
    preset: &'p Preset,
    environment: &[(String, String)],
) -> Option<&'p str> {
    let variable = preset.root.as_deref().filter(|_| is_root())?;
    environment
        .iter()
        .all(|(name, _)| name != variable)
        .then_some(variable)
}

/// Describes the decision that a person makes about it.
pub(crate) fn as_root(preset: &str, variable: &str) -> String {
    format!(
        "As root `{preset}` refuses to start unless {variable}=1 says that this machine is a sandbox: if it is, write \
         `{{preset: {preset}, env: {{{variable}: \"1\"}}}}`."
    )
}

/// Returns why a program cannot be started in the workspace with this environment.
///
/// `None` if it can. Relative paths, also those in `PATH`, are relative to the workspace.
fn not_startable(
    program: &str,
    environment: &[(String, String)],
    workspace: &Path,
) -> Option<&'static str> {
    let files: Vec<PathBuf> = if program.contains('/') {
        vec![workspace.join(program)]
    } else {
        let path = environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, path)| path.as_str());
        let folders = std::env::split_paths(path.unwrap_or_default());
        folders
            .map(|folder| workspace.join(folder).join(program))
            .collect()
    };
    if program.is_empty() {
        return Some("is not named");
    }
    if files.iter().any(|file| is_program(file)) {
        return None;
    }
    let is_there = files.iter().any(|file| file.exists());
    Some(if is_there {
        "is not a file that may be executed"
    } else {
        "was not found"
    })
}

/// Templates of the workspace's own that do not name the token of a verdict, or that cannot be used: an error if an
/// open box needs the role. Every role may be needed if the open boxes are not known.
pub(super) fn check_templates(
    workspace: &Workspace,
    needed: Option<&BTreeSet<Role>>,
) -> Vec<InspectionFinding> {
    let roles = Role::all().into_iter();
    let findings = roles.filter_map(|role| match try_template(workspace, role) {
        Ok(template) => without_token(workspace, role, &template?),
        Err(error) => {
            let is_needed = needed.is_none_or(|needed| needed.contains(&role));
            let found = InspectionFinding::new_error(
                "prompt-template",
                &error.place,
                &error.what,
                &error.hint,
            );
            let level = if is_needed {
                Level::Error
            } else {
                Level::Warning
            };
            Some(InspectionFinding {
                line: error.line,
                ..found.with_level(level)
            })
        }
    });
    findings.collect()
}

/// The workspace's own template, tried.
fn try_template(workspace: &Workspace, role: Role) -> Result<Option<String>, PromptError> {
    let own = own_template(&workspace.places, role)?;
    own.as_deref().map_or(Ok(()), |text| try_out(text, role))?;
    Ok(own)
}

/// A reviewer's template of a person's own that does not name the token.
fn without_token(workspace: &Workspace, role: Role, template: &str) -> Option<InspectionFinding> {
    let reviews = matches!(role, Role::ReqReviewer | Role::QualityReviewer);
    (reviews && !names_token(template)).then(|| {
        let file = workspace.places.display_path(&workspace.places.template_file(role.word()));
        InspectionFinding::new_error(
            "verdict-token",
            file,
            "The template does not name the token of the verdict line. A verdict that a file or commit message holds, \
             and that the reviewer shows, counts as the reviewer's own.",
            "let the template ask for the line `RALPH-VERDICT {{ verdict_token }}: PASS` (or `FAIL` and why)",
        )
        .into_warning()
    })
}
