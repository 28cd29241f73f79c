//! `ralph prompt`: what an agent would get now. It starts nothing, changes nothing and takes no lock.

use super::task_ids::{key_of, next_key};
use super::{Exit, Fault, Invocation, RealDisk, ui};
use crate::agent::builtin;
use crate::config::{Role, role_of};
use crate::engine::{own_template, read_for_prompt};
use crate::machine::agent_order;
use crate::machine::facts::dirt_names;
use clap::Args;
use serde_json::json;

/// Flags of `prompt`.
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// The box: `2.`, `2.REQ-CHECK`, `FINAL`; the next one when left out
    pub id: Option<String>,
    /// Print the template that comes with ralph for a role, to copy and change
    #[arg(long, value_name = "ROLE", conflicts_with = "id", value_parser = Role::all().map(Role::word))]
    pub template: Option<String>,
}

/// Prints a prompt or a template.
pub(super) fn print_prompt(call: &Invocation, args: &PromptArgs) -> Result<Exit, Fault> {
    if let Some(role) = Role::all()
        .into_iter()
        .find(|role| Some(role.word()) == args.template.as_deref())
    {
        let template = builtin(role);
        ui::print_answer(
            call.json,
            &json!({ "role": role, "template": template }),
            template.trim_end(),
        );
        return Ok(Exit::Done);
    }
    let workspace = call.open_workspace()?;
    // As a run would begin now: an earlier run's rules and agents are not those of the configuration.
    let mut state = workspace.read_boxes()?;
    state.policy = workspace.run_policy();
    let book = state.spec_state();
    let key = match &args.id {
        Some(id) => key_of(&state, id)?,
        None => next_key(&state, &state.policy, "name one: `ralph prompt 2`")?,
    };
    let name = book.written_name(&key);
    let role = role_of(&key.stage).ok_or_else(|| {
        let hint = format!("`ralph gate {}` runs it", book.typed_name(&key));
        Fault::setup_fault(
            format!("{key} is a gate: ralph runs it itself, and no agent gets a prompt."),
            hint,
        )
    })?;
    let left = state
        .leftovers
        .as_ref()
        .filter(|left| left.key == key)
        .map(|left| dirt_names(&left.dirt));
    let order = agent_order(&state, &key, state.iteration + 1, left.unwrap_or_default());
    let places = &workspace.places;
    let read = read_for_prompt(&RealDisk::new(), places, &workspace.rules, None, &key)?;
    let text = workspace
        .open_outside()?
        .preview_prompt(&order, role, &read)?;
    let own = own_template(places, role)?
        .map(|_| places.display_path(&places.template_file(role.word())));
    let facts = json!({
        "task": name, "stage": key.stage, "role": role, "agent": order.agent, "attempt": order.attempt,
        "template": own, "prompt": text,
    });
    ui::print_answer(call.json, &facts, text.trim_end());
    Ok(Exit::Done)
}
