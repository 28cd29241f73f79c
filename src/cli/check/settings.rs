//! `ralph check --config`: every setting, its value and where it came from.

use crate::cli::environment::read_config;
use crate::cli::settings::{may_be_given, stray_variables};
use crate::cli::{Exit, Fault, Invocation, ui};
use crate::config::{self, ExplainedSetting, ROOT_VARIABLE, ValueSource};
use serde_json::json;

/// Shows the settings; 1 if something is wrong with one.
pub(super) fn show_settings(call: &Invocation) -> Result<Exit, Fault> {
    let root = call.find_workspace()?;
    may_be_given(&call.given)?;
    let text = read_config(&root);
    let text = text.as_ref().map(String::as_str).map_err(Clone::clone);
    let mut settings = config::explain(text, &root, &call.given);
    let (value, from) = (json!(root), workspace_from(call));
    settings.insert(
        0,
        ExplainedSetting {
            key: "workspace".to_owned(),
            value,
            from,
            problem: None,
            hint: None,
        },
    );
    if call.json {
        settings.iter().for_each(ui::print_json);
    } else {
        print_settings(&settings);
    }
    for stray in stray_variables() {
        ui::print_note(&stray);
    }
    let is_wrong = settings.iter().any(|setting| setting.problem.is_some());
    Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
}

fn workspace_from(call: &Invocation) -> ValueSource {
    match (&call.root, call.root_by) {
        (None, _) => ValueSource::Default,
        (Some(_), ROOT_VARIABLE) => ValueSource::Environment {
            name: ROOT_VARIABLE,
        },
        (Some(_), name) => ValueSource::Flag { name },
    }
}

fn print_settings(settings: &[ExplainedSetting]) {
    let (mut first, mut second) = (0, 0);
    for setting in settings {
        first = first.max(setting.key.chars().count());
        second = second.max(origin_text(&setting.from).chars().count());
    }
    for ExplainedSetting {
        key,
        value,
        from,
        problem,
        hint,
    } in settings
    {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        // An error of the file as a whole has no key.
        if !key.is_empty() {
            ui::print_line(
                format!("{key:<first$}  {:<second$}  {value}", origin_text(from)).trim_end(),
            );
        }
        if let (Some(problem), Some(hint)) = (problem, hint) {
            let indent = if key.is_empty() { "" } else { "  " };
            ui::print_line(&format!("{indent}error: {problem} ({hint})"));
        }
    }
}

fn origin_text(from: &ValueSource) -> String {
    match from {
        ValueSource::Default => "default".to_owned(),
        ValueSource::File { line: Some(line) } => format!(".ralph/config.yaml:{line}"),
        ValueSource::File { line: None } => ".ralph/config.yaml".to_owned(),
        ValueSource::Environment { name } | ValueSource::Flag { name } => (*name).to_owned(),
    }
}
