//! The files of a new workspace, none of which overwrites another: the commented template of `.ralph/config.yaml` with what
//! was chosen in it; and the gate lines of its task file.

use crate::cli::place::{settle_placement, tidy_id};
use crate::cli::{Fault, Invocation};
use crate::config::{self, TEMPLATE, placement_line, placement_word};
use crate::engine::Places;
use crate::task::Placement;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ChosenSettings {
    /// The folder of the task file, `.` for the workspace.
    pub(super) spec: String,
    /// Patterns, if the default does not do.
    pub(super) packages: Option<Vec<String>>,
    /// A preset.
    pub(super) agent: Option<String>,
    pub(super) placement: Option<Placement>,
    /// `file` or `virtual`.
    pub(super) stages: Option<String>,
    /// Headings whose boxes are no tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) exclude: Vec<String>,
}

/// The text.
pub(super) fn config_text(chosen: &ChosenSettings) -> String {
    let mut text = TEMPLATE.to_owned();
    let spec = serde_yaml::to_string(&chosen.spec).unwrap_or_default();
    if let Some(spec) = Some(spec.trim_end()).filter(|spec| *spec != ".") {
        text = text.replacen("\nspec: .\n", &format!("\nspec: {spec}\n"), 1);
    }
    if let Some(packages) = &chosen.packages {
        let line = format!("\npackages: [{}]\n", quote_texts(packages));
        text = text.replacen("\n# packages: [\"src/*\"]\n", &line, 1);
    }
    if let Some(agent) = &chosen.agent {
        // After the comment at the top: its first line names the schema for editors.
        let at = text.find("\n\n").map_or(0, |at| at + 2);
        text.insert_str(at, &format!("agents:\n  default: {{preset: {agent}}}\n\n"));
    }
    if let Some(stages) = &chosen.stages {
        // The comment after the value keeps its column.
        let line = format!("\nstages: {stages:<28}#");
        text = text.replacen(&format!("\nstages: {:<28}#", "file"), &line, 1);
    }
    if !chosen.exclude.is_empty() {
        let titles = quote_texts(&chosen.exclude);
        let line = format!("\ntasks: {{sections: {{exclude: [{titles}]}}}}\n# tasks:");
        text = text.replacen("\n# tasks:", &line, 1);
    }
    if let Some(placement) = &chosen.placement {
        let line = placement_line(&BTreeMap::from([("PITEST".to_owned(), placement.clone())]));
        let at = text
            .find("\n# placement:")
            .and_then(|at| text[at + 1..].find('\n').map(|end| at + 1 + end + 1));
        text.insert_str(at.unwrap_or(text.len()), &(line + "\n"));
    }
    text
}

/// The choice as the arguments of `ralph place`.
fn placement_words(placement: &Placement) -> String {
    match placement {
        Placement::After(ids) => format!("after {}", ids.join(",")),
        Placement::GroupsOf { groups } => format!("groups --level {groups}"),
        plain => placement_word(plain),
    }
}

/// `each`, `tested`, `groups`, `groups:2`, `end`, `none` or `after:2,5,7`.
pub(super) fn parse_placement(word: &str) -> Result<Placement, String> {
    let mut plain = [
        Placement::Each,
        Placement::Tested,
        Placement::Groups,
        Placement::End,
        Placement::None,
    ]
    .into_iter();
    if let Some(known) = plain.find(|placement| placement_words(placement) == word) {
        return Ok(known);
    }
    if let Some(ids) = word.strip_prefix("after:") {
        let ids: Vec<String> = ids.split([',', ' ']).filter_map(tidy_id).collect();
        if !ids.is_empty() {
            return Ok(Placement::After(ids));
        }
    }
    if let Some(Ok(groups)) = word.strip_prefix("groups:").map(str::parse)
        && (1..=6).contains(&groups)
    {
        return Ok(Placement::GroupsOf { groups });
    }
    Err("write each, tested, groups, groups:2, end, none or after:2,5,7".to_owned())
}

/// Texts in double quotes: JSON's are YAML's.
fn quote_texts(texts: &[String]) -> String {
    let quoted = texts
        .iter()
        .map(|text| serde_json::Value::from(text.as_str()).to_string());
    quoted.collect::<Vec<_>>().join(", ")
}

/// Writes what is not there yet; each file, and whether it is new.
pub(super) fn write_files(folder: &Path, config_text: &str) -> Result<Vec<(String, bool)>, Fault> {
    let schema = format!("{:#}\n", config::schema());
    let files = [
        ("config.yaml", config_text),
        (config::SCHEMA_FILE, &*schema),
        (".gitignore", "state/\n"),
    ];
    fs_err::create_dir_all(folder)?;
    files
        .into_iter()
        .map(|(name, text)| {
            let is_new = write_new(&folder.join(name), text)?;
            Ok((format!(".ralph/{name}"), is_new))
        })
        .collect()
}

/// Writes a new file; false if the path exists already.
fn write_new(path: &Path, text: &str) -> Result<bool, Fault> {
    match fs_err::File::create_new(path) {
        Ok(mut file) => Ok(file.write_all(text.as_bytes()).map(|()| true)?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Places the gate if there is a task file, and describes the change.
pub(super) fn place_gate(
    call: &Invocation,
    places: &Places,
    chosen: &ChosenSettings,
) -> Result<Option<String>, Fault> {
    let Some(placement) = &chosen.placement else {
        return Ok(None);
    };
    if !places.tasks_file().exists() {
        return Ok(Some(format!(
            "when there is a tasks.md: `ralph place {}`",
            placement_words(placement)
        )));
    }
    settle_placement(call, placement).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use proptest::prelude::*;

    #[test]
    fn nothing_chosen_is_the_template() {
        assert_eq!(
            config_text(&ChosenSettings {
                spec: ".".to_owned(),
                ..ChosenSettings::default()
            }),
            TEMPLATE
        );
    }

    #[test]
    fn what_was_chosen_stands_in_the_template() {
        let chosen = ChosenSettings {
            spec: ".kiro/specs/login".to_owned(),
            packages: Some(vec!["services/*".to_owned(), "web".to_owned()]),
            agent: Some("codex".to_owned()),
            placement: Some(Placement::After(vec!["2".to_owned(), "T07".to_owned()])),
            stages: Some("virtual".to_owned()),
            exclude: vec!["Done \"when\"".to_owned()],
        };
        let text = config_text(&chosen);
        let settings = parse(&text, Path::new("/w"), &[]).unwrap();
        assert_eq!(settings.spec, Path::new("/w/.kiro/specs/login"));
        assert_eq!(settings.packages, ["services/*", "web"]);
        assert_eq!(settings.agents["default"].preset.as_deref(), Some("codex"));
        assert_eq!(settings.tasks.sections.exclude, ["Done \"when\""]);
        assert_eq!(
            settings.placement["PITEST"],
            Placement::After(vec!["2".to_owned(), "T07".to_owned()])
        );
        assert_eq!(settings.stages, config::StagesFrom::Virtual);
        let lost: Vec<&str> = TEMPLATE
            .lines()
            .filter(|line| !text.lines().any(|other| other == *line))
            .collect();
        assert_eq!(lost.len(), 3, "{lost:?}");
        assert_eq!(lost[..2], ["spec: .", "# packages: [\"src/*\"]"]);
        assert!(
            text.contains("\nstages: virtual                     # or virtual: no line"),
            "{text}"
        );
        assert!(
            text.contains("\nplacement: {PITEST: {after: [\"2\", \"T07\"]}}\n"),
            "{text}"
        );
    }

    #[test]
    fn the_words_of_the_flag_are_those_of_the_configuration() {
        let after =
            |ids: &[&str]| Placement::After(ids.iter().map(|id| (*id).to_owned()).collect());
        for (word, choice) in [
            ("each", Placement::Each),
            ("groups", Placement::Groups),
            ("groups:2", Placement::GroupsOf { groups: 2 }),
            ("end", Placement::End),
            ("none", Placement::None),
            ("after:2,5.,T07", after(&["2", "5", "T07"])),
        ] {
            assert_eq!(parse_placement(word), Ok(choice.clone()));
            assert_eq!(
                placement_words(&choice)
                    .replace(" --level", "")
                    .replace(' ', ":"),
                word.replace('.', "")
            );
        }
        for word in [
            "", "after", "after:", "after:,", "Each", "all", "groups:", "groups:0", "groups:7",
            "groups:x",
        ] {
            assert!(parse_placement(word).is_err(), "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_folder_is_read_back(folder in "[a-zA-Z0-9 :#'\"{}*&!%@é\\\\~-]{1,12}(/[a-z.]{1,4})?") {
            prop_assume!(!folder.contains("//") && folder.trim_end_matches('.') == folder && !folder.contains("/./") && !folder.contains("/.."));
            let text = config_text(&ChosenSettings { spec: folder.clone(), ..ChosenSettings::default() });
            let settings = parse(&text, Path::new("/w"), &[]);
            prop_assert_eq!(settings.map(|settings| settings.spec), Ok(Path::new("/w").join(&folder)), "{}", text);
        }
    }
}
