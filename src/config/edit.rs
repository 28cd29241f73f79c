//! Sets one key of `.ralph/config.yaml` without a YAML writer.
//!
//! Every comment and every other line stays.

use super::{ConfigError, FILE, Placement, parse};
use crate::source::Problem;
use std::collections::BTreeMap;
use std::path::Path;

const KEY: &str = "placement:";

/// The error for a valid text that cannot be edited.
const UNUSUAL: &str = "No single key can be set in this file: its `placement:` is more than one line, its keys are in braces, or it has an end mark `...`.";

/// Returns the line with the positions of gates, without line end: `placement: {PITEST: each}`.
pub fn placement_line(placement: &BTreeMap<String, Placement>) -> String {
    let entries = placement.iter().map(|(gate, choice)| match choice {
        Placement::After(ids) => {
            let ids: Vec<String> = ids
                .iter()
                .map(|id| serde_json::Value::from(id.as_str()).to_string())
                .collect();
            format!("{gate}: {{after: [{}]}}", ids.join(", "))
        }
        Placement::GroupsOf { groups } => format!("{gate}: {{groups: {groups}}}"),
        plain => format!("{gate}: {}", placement_word(plain)),
    });
    format!("{KEY} {{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// Returns the word of a placement; empty for one that is written with a value.
pub fn placement_word(placement: &Placement) -> String {
    let word = serde_json::to_value(placement).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

/// Returns the text of `.ralph/config.yaml` with this placement and no other change.
///
/// `workspace` is the absolute directory that holds `.ralph/`.
pub fn with_placement(
    text: &str,
    placement: &BTreeMap<String, Placement>,
    workspace: &Path,
) -> Result<String, ConfigError> {
    let mut wanted = parse(text, workspace, &[])?;
    if wanted.placement == *placement {
        return Ok(text.to_owned());
    }
    let line = placement_line(placement);
    let edited = edited(text, &line);
    wanted.placement.clone_from(placement);
    match parse(&edited, workspace, &[]) {
        Ok(settings) if settings == wanted => Ok(edited),
        _ => {
            let hint = format!("Write `{line}` into it by hand.");
            Err(Problem::new("placement".to_owned(), UNUSUAL, hint).at(FILE, None))
        }
    }
}

/// True for the line of the key, at the root of the document.
fn is_key(line: &str) -> bool {
    line.trim_start_matches('\u{feff}').starts_with(KEY)
}

fn edited(text: &str, line: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = if lines.first().is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    if let Some(old) = lines.iter_mut().find(|line| is_key(line)) {
        let mark = if old.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
        let comment = old
            .find(" #")
            .and_then(|at| old.get(at..))
            .unwrap_or_default()
            .trim_end();
        let new = format!("{mark}{line}{comment}{end}");
        *old = &new;
        return lines.concat();
    }
    // After its own comment, as in the template, otherwise at the end.
    let at = lines.iter().rposition(|line| {
        line.starts_with('#') && line.trim_start_matches(['#', ' ']).starts_with(KEY)
    });
    let at = at.map_or(lines.len(), |at| at + 1);
    let open_end = at == lines.len()
        && lines
            .last()
            .is_some_and(|last| !last.ends_with('\n') && *last != "\u{feff}");
    let line = if open_end {
        format!("{end}{line}{end}")
    } else {
        format!("{line}{end}")
    };
    lines.insert(at, &line);
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, choices: &[(&str, Placement)]) -> Result<String, String> {
        let placement = choices
            .iter()
            .map(|(gate, choice)| ((*gate).to_owned(), choice.clone()))
            .collect();
        with_placement(text, &placement, Path::new("/w")).map_err(|error| error.what)
    }

    fn each(text: &str) -> String {
        set(text, &[("PITEST", Placement::Each)]).unwrap()
    }

    #[test]
    fn the_line_is_put_behind_its_comment_or_at_the_end() {
        assert_eq!(each(""), "placement: {PITEST: each}\n");
        assert_eq!(each("\u{feff}"), "\u{feff}placement: {PITEST: each}\n");
        assert_eq!(
            each("\u{feff}spec: a\n"),
            "\u{feff}spec: a\nplacement: {PITEST: each}\n"
        );
        assert_eq!(
            each("\u{feff}spec: a\nlimits: {attempts: 2}\n"),
            "\u{feff}spec: a\nlimits: {attempts: 2}\nplacement: {PITEST: each}\n"
        );
        assert_eq!(
            each("spec: a # b"),
            "spec: a # b\nplacement: {PITEST: each}\n"
        );
        assert_eq!(
            each("spec: a\r\n"),
            "spec: a\r\nplacement: {PITEST: each}\r\n"
        );
        assert_eq!(
            each("# placement: {X: end}\nspec: a\n"),
            "# placement: {X: end}\nplacement: {PITEST: each}\nspec: a\n"
        );
        let template = each(crate::config::TEMPLATE);
        let added = "placement: {PITEST: each}\n";
        assert_eq!(
            template.replace(&format!("\n{added}"), "\n"),
            crate::config::TEMPLATE
        );
        assert_eq!(
            template.lines().count(),
            crate::config::TEMPLATE.lines().count() + 1
        );
    }

    #[test]
    fn what_stood_there_is_replaced_and_its_comments_stay() {
        let after = Placement::After(vec!["2".to_owned(), "T01".to_owned()]);
        let groups = Placement::GroupsOf { groups: 2 };
        assert_eq!(
            set("", &[("PITEST", groups)]).unwrap(),
            "placement: {PITEST: {groups: 2}}\n"
        );
        let choices = [("LINT", Placement::End), ("PITEST", after)];
        let text =
            "gates: {LINT: {run: [lint]}} # '\nplacement: {PITEST: \"each\"}   # why\nspec: a\n";
        assert_eq!(
            set(text, &choices).unwrap(),
            "gates: {LINT: {run: [lint]}} # '\nplacement: {LINT: end, PITEST: {after: [\"2\", \"T01\"]}} # why\nspec: a\n"
        );
        assert_eq!(
            each("placement:\nspec: a"),
            "placement: {PITEST: each}\nspec: a"
        );
        assert_eq!(
            each("placement: {PITEST: each} # kept as it is"),
            "placement: {PITEST: each} # kept as it is"
        );
    }

    #[test]
    fn a_form_that_cannot_be_edited_line_by_line_is_refused() {
        let end = [("PITEST", Placement::End)];
        for text in [
            "spec: a\nplacement: { # why\n  PITEST: each\n}\n",
            "placement: # all\n  PITEST: none\nspec: a\n",
            "spec: a\n...\n",
        ] {
            assert_eq!(set(text, &end), Err(UNUSUAL.to_owned()), "{text}");
        }
        let before_end = "placement: {PITEST: each}\n...\n";
        assert_eq!(
            set(before_end, &end).unwrap(),
            "placement: {PITEST: end}\n...\n"
        );
    }

    #[test]
    fn what_would_say_something_else_is_refused() {
        assert_eq!(
            set("{spec: a}", &[("PITEST", Placement::End)]),
            Err(UNUSUAL.to_owned())
        );
        assert_eq!(
            set(
                "\"placement\": {PITEST: each}\n",
                &[("PITEST", Placement::End)]
            ),
            Err(UNUSUAL.to_owned())
        );
        assert_eq!(
            set("", &[("NONE", Placement::End)]),
            Err(UNUSUAL.to_owned()),
            "no such gate"
        );
        assert!(set("spec: [", &[("PITEST", Placement::End)]).is_err());
    }
}
