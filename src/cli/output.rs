//! The flags `--format` and `--output`: one definition for every command that writes a format.

use super::Fault;
use crate::source::text::names;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgMatches, Command, ValueEnum, value_parser};
use std::path::{Path, PathBuf};

/// A format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Lines to read
    #[default]
    Human,
    /// JSON, one object per line
    Json,
    /// Workflow commands of GitHub Actions
    Github,
    /// A Code Quality report for GitLab
    Gitlab,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Markdown
    Markdown,
    /// One HTML file that needs no other
    Html,
}

use Format::{Github, Gitlab, Html, Human, Json, Junit, Markdown, Sarif};

/// The formats of each command, the default first.
const FORMATS: [(&str, &[Format]); 12] = [
    ("gate", &[Human, Json, Github, Gitlab, Junit, Sarif]),
    ("check", &[Human, Json]),
    ("replay", &[Human, Json, Github, Junit]),
    ("report", &[Markdown, Html, Json]),
    ("audit", &[Human, Json, Markdown, Html]),
    ("mutation-test", &[Human, Json]),
    ("verify", &[Human, Json]),
    ("status", &[Human, Json]),
    ("next", &[Human, Json]),
    ("diff", &[Human, Json]),
    ("prompt", &[Human, Json]),
    ("doctor", &[Human, Json]),
];

impl Format {
    fn word(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the format that a file name ends with.
    fn of_file(file: &Path) -> Option<Self> {
        Some(match file.extension()?.to_str()? {
            "json" | "jsonl" => Json,
            "xml" => Junit,
            "sarif" => Sarif,
            "md" => Markdown,
            "html" => Html,
            _ => return None,
        })
    }
}

/// The formats of a command, the default first.
fn formats(verb: &str) -> &'static [Format] {
    FORMATS
        .iter()
        .find(|(name, _)| *name == verb)
        .map_or(&[Human, Json], |(_, formats)| *formats)
}

/// Adds `--format` and `--output` to a command that has more than one format.
pub(super) fn with_output(verb: Command) -> Command {
    if FORMATS.iter().all(|(name, _)| *name != verb.get_name()) {
        return verb;
    }
    let all = formats(verb.get_name());
    let values = all.iter().filter_map(Format::to_possible_value);
    let parser = PossibleValuesParser::new(values)
        .try_map(|word| <Format as ValueEnum>::from_str(&word, false));
    let named = all.iter().skip(1).map(|format| format.word());
    let format = Arg::new("format")
        .long("format")
        .value_name("NAME")
        .value_parser(parser)
        .hide_possible_values(true)
        .help(format!(
            "The format of the answer: {}, {} [default: by the name of --output, else {0}]",
            all.first().copied().unwrap_or_default().word(),
            names(named, all.len())
        ));
    let output = Arg::new("output")
        .long("output")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Write the answer to this file, which is replaced");
    verb.arg(format).arg(output)
}

/// Returns the file of `--output`.
pub(super) fn named_file(typed: &ArgMatches) -> Option<&PathBuf> {
    let (_, typed) = typed.subcommand()?;
    typed.try_get_one("output").ok().flatten()
}

/// Returns the format that the command line names.
pub(super) fn chosen(typed: &ArgMatches, has_json: bool) -> Result<Format, Fault> {
    let file = named_file(typed);
    let Some((verb, typed)) = typed.subcommand() else {
        return Ok(Human);
    };
    let all = formats(verb);
    let default = all.first().copied().unwrap_or_default();
    let named = typed
        .try_get_one::<Format>("format")
        .ok()
        .flatten()
        .copied();
    let of_file = file
        .and_then(|file| Format::of_file(file))
        .filter(|format| all.contains(format));
    match (named, has_json) {
        (None | Some(Json), true) => Ok(Json),
        (Some(format), true) => {
            let what = format!("--json and --format {} exclude each other.", format.word());
            Err(Fault::setup_fault(what, "leave one of them out"))
        }
        (named, false) => Ok(named.or(of_file).unwrap_or(default)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    fn format_of(line: &str) -> Result<Format, String> {
        let verbs = FORMATS.map(|(name, _)| with_output(Command::new(name)));
        let json = Arg::new("json")
            .long("json")
            .global(true)
            .action(ArgAction::SetTrue);
        let typed = Command::new("ralph")
            .arg(json)
            .subcommands(verbs)
            .subcommand(Command::new("init"))
            .try_get_matches_from(line.split(' '))
            .map_err(|error| error.kind().to_string())?;
        let has_json = typed.get_flag("json");
        chosen(&typed, has_json).map_err(|fault| fault.what)
    }

    #[test]
    fn a_format_is_named_once_and_is_one_of_the_command() {
        assert_eq!(format_of("ralph gate"), Ok(Human));
        assert_eq!(format_of("ralph report"), Ok(Markdown));
        assert_eq!(format_of("ralph report --json"), Ok(Json));
        assert_eq!(format_of("ralph gate --format sarif"), Ok(Sarif));
        assert_eq!(format_of("ralph gate --format json --json"), Ok(Json));
        assert_eq!(format_of("ralph init --json"), Ok(Json));
        assert!(format_of("ralph gate --format junit --json").is_err());
        assert!(format_of("ralph gate --format html").is_err());
        assert!(format_of("ralph init --format json").is_err());
    }

    #[test]
    fn the_name_of_a_file_chooses_the_format_where_the_command_has_it() {
        for (file, format) in [
            ("a.html", Some(Html)),
            ("a.md", Some(Markdown)),
            ("a.xml", Some(Junit)),
            ("a.sarif", Some(Sarif)),
            ("a.json", Some(Json)),
            ("a.txt", None),
            ("html", None),
        ] {
            assert_eq!(Format::of_file(Path::new(file)), format, "{file}");
        }
    }
}
