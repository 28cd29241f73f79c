//! `ralph check --config`: every setting, its value and where it came from.

use crate::cli::environment::read_config;
use crate::cli::settings::{may_be_given, strays};
use crate::cli::{Exit, Fault, Invocation, ui};
use crate::config::{self, Explained, ROOT_VARIABLE, Source};
use serde_json::json;

/// Shows the settings; 1 if something is wrong with one.
pub(super) fn show(call: &Invocation) -> Result<Exit, Fault> {
    let root = call.find()?;
    may_be_given(&call.given)?;
    let text = read_config(&root);
    let text = text.as_ref().map(String::as_str).map_err(Clone::clone);
    let mut settings = config::explain(text, &root, &call.given);
    let (value, from) = (json!(root), workspace_from(call));
    settings.insert(
        0,
        Explained {
            key: "workspace".to_owned(),
            value,
            from,
            problem: None,
            hint: None,
        },
    );
    if call.json {
        settings.iter().for_each(ui::json);
    } else {
        people(&settings);
    }
    for stray in strays() {
        ui::note(&stray);
    }
    let is_wrong = settings.iter().any(|setting| setting.problem.is_some());
    Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
}

fn workspace_from(call: &Invocation) -> Source {
    match (&call.root, call.root_by) {
        (None, _) => Source::Default,
        (Some(_), ROOT_VARIABLE) => Source::Environment {
            name: ROOT_VARIABLE,
        },
        (Some(_), name) => Source::Flag { name },
    }
}

fn people(settings: &[Explained]) {
    let wide = |column: &dyn Fn(&Explained) -> String| {
        settings
            .iter()
            .map(|setting| column(setting).chars().count())
            .max()
            .unwrap_or(0)
    };
    let (first, second) = (
        wide(&|setting| setting.key.clone()),
        wide(&|setting| origin(&setting.from)),
    );
    for Explained {
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
            ui::line(format!("{key:<first$}  {:<second$}  {value}", origin(from)).trim_end());
        }
        if let (Some(problem), Some(hint)) = (problem, hint) {
            let indent = if key.is_empty() { "" } else { "  " };
            ui::line(&format!("{indent}error: {problem} ({hint})"));
        }
    }
}

fn origin(from: &Source) -> String {
    match from {
        Source::Default => "default".to_owned(),
        Source::File { line: Some(line) } => format!(".ralph/config.yaml:{line}"),
        Source::File { line: None } => ".ralph/config.yaml".to_owned(),
        Source::Environment { name } | Source::Flag { name } => (*name).to_owned(),
    }
}
