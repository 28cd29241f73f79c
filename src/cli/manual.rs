//! `ralph generate`: the schema and the manual pages, made from what the program itself reads by. Every page has
//! examples, exit codes, variables and files.

use super::args::{Generated, build_command};
use super::{Exit, Fault, completions, settings, ui};
use crate::config;
use crate::source::text::count;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::path::Path;

/// Files that ralph reads and writes.
const FILES: [(&str, &str); 6] = [
    (
        "tasks.md",
        "the tasks; only ralph and people tick its boxes",
    ),
    ("progress.txt", "an entry for each iteration"),
    ("validation-report.md", "what FINAL found"),
    (
        ".ralph/config.yaml",
        "the configuration; `ralph generate schema` describes it",
    ),
    (
        ".ralph/prompts/<role>.md",
        "prompts that replace the built-in ones",
    ),
    (".ralph/state/", "the journal, and what each iteration left"),
];

/// `ralph generate`.
pub(super) fn generate(what: &Generated, json: bool) -> Result<Exit, Fault> {
    match what {
        Generated::Schema => Ok(print_schema(json)),
        Generated::Man { into } => write_pages(into.as_deref()),
        Generated::Completions { shell } => Ok(completions::print_script(*shell)?),
    }
}

/// `ralph generate schema`: the same with `--json`, only on one line.
fn print_schema(json: bool) -> Exit {
    let schema = config::schema();
    ui::print_answer(json, &schema, &format!("{schema:#}"));
    Exit::Done
}

/// `ralph generate man`: ralph(1), or with `into` a page for each verb, `ralph-run.1` and so on. Existing pages are
/// replaced.
fn write_pages(into: Option<&Path>) -> Result<Exit, Fault> {
    let Some(folder) = into else {
        ui::print_line(String::from_utf8_lossy(&render_page(&build_command())?).trim_end());
        return Ok(Exit::Done);
    };
    fs_err::create_dir_all(folder)?;
    let mut ralph = build_command().disable_help_subcommand(true);
    ralph.build();
    let all: Vec<&Command> = std::iter::once(&ralph)
        .chain(ralph.get_subcommands())
        .collect();
    for command in &all {
        let man = Man::new((*command).clone());
        fs_err::write(folder.join(man.get_filename()), render_page(command)?)?;
    }
    ui::print_line(&format!(
        "wrote {} into {}",
        count(all.len() as u64, "page"),
        folder.display()
    ));
    Ok(Exit::Done)
}

/// Renders one page; the help text below the flags becomes sections of its own.
fn render_page(command: &Command) -> Result<Vec<u8>, Fault> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (mut examples, mut codes, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for part in help.split("\n\n").filter(|part| !part.is_empty()) {
        if part.starts_with("Example") {
            examples.extend(part.lines().skip(1).map(str::trim));
        } else if let Some(listed) = part.strip_prefix("Exit codes: ") {
            codes.extend(listed.split(" · "));
        } else if !part.starts_with("Settings from the environment") {
            notes.push(part.replace('\n', " "));
        }
    }
    let mut roff = Roff::default();
    let first = vec!["ralph init", "ralph run", "ralph status"];
    add_section(
        &mut roff,
        "EXAMPLES",
        if examples.is_empty() { first } else { examples },
    );
    add_section(&mut roff, "NOTES", notes);
    add_section(&mut roff, "EXIT STATUS", codes);
    add_section(
        &mut roff,
        "ENVIRONMENT",
        settings::settings_help().lines().skip(1).map(str::trim),
    );
    add_section(
        &mut roff,
        "FILES",
        FILES.map(|(file, what)| format!("{file}: {what}")),
    );
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// A section with a paragraph for each line; none without lines.
fn add_section(roff: &mut Roff, title: &str, lines: impl IntoIterator<Item: Into<String>>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        roff.control("SH", [title]);
    }
    for line in lines {
        roff.text([roman(line)]).control("br", []);
    }
}
