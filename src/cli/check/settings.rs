//! `ralph check --config`: every setting, its value and where it came from.

use crate::cli::environment::read_config;
use crate::cli::exit::Exit;
use crate::cli::settings::{may_be_given, strays};
use crate::cli::ui;
use crate::cli::workspace::Place;
use crate::config::{self, Explained, ROOT_VARIABLE, Source};
use crate::engine::Fault;
use serde_json::{Value, json};

/// Shows the settings; 1 if something is wrong with one.
pub(super) fn show(place: &Place) -> Result<Exit, Fault> {
    let root = place.find()?;
    may_be_given(&place.given)?;
    let text = read_config(&root);
    let text = text.as_ref().map(String::as_str).map_err(Clone::clone);
    let settings = config::explain(text, &root, &place.given);
    if place.json {
        ui::json(&json!({ "key": "workspace", "value": root, "from": workspace_from(place) }));
        for setting in &settings {
            ui::json(setting);
        }
    } else {
        let mut rows =
            vec![["workspace".to_owned(), origin(&workspace_from(place)), root.display().to_string()]];
        rows.extend(settings.iter().map(row));
        // The workspace comes first, and nothing is wrong with it.
        let mut problems = vec![None];
        problems.extend(settings.iter().map(|setting| setting.problem.as_ref().zip(setting.hint.as_ref())));
        let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second) = (wide(0), wide(1));
        for ([key, origin, value], problem) in rows.iter().zip(problems) {
            // What is wrong with the file as a whole has no key.
            if !key.is_empty() {
                ui::line(format!("{key:<first$}  {origin:<second$}  {value}").trim_end());
            }
            if let Some((problem, hint)) = problem {
                let indent = if key.is_empty() { "" } else { "  " };
                ui::line(&format!("{indent}error: {problem} ({hint})"));
            }
        }
    }
    for stray in strays() {
        ui::note(&stray);
    }
    let is_wrong = settings.iter().any(|setting| setting.problem.is_some());
    Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
}

fn workspace_from(place: &Place) -> Source {
    match (&place.root, place.root_by) {
        (None, _) => Source::Default,
        (Some(_), ROOT_VARIABLE) => Source::Environment { name: ROOT_VARIABLE },
        (Some(_), name) => Source::Flag { name },
    }
}

fn row(setting: &Explained) -> [String; 3] {
    let value = match &setting.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    [setting.key.clone(), origin(&setting.from), value]
}

fn origin(from: &Source) -> String {
    match from {
        Source::Default => "default".to_owned(),
        Source::File { line: Some(line) } => format!(".ralph/config.yaml:{line}"),
        Source::File { line: None } => ".ralph/config.yaml".to_owned(),
        Source::Environment { name } | Source::Flag { name } => (*name).to_owned(),
    }
}
