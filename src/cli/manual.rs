//! `ralph generate`: the schema and the manual pages, made from what the program itself reads by.

use super::args::{Generated, build_command};
use super::{Exit, Fault, completions, ui};
use crate::config;
use crate::source::text::count;
use clap::Command;
use clap_mangen::Man;
use std::io;
use std::path::Path;

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
        let page = render_page(&Man::new(build_command()))?;
        ui::print_line(String::from_utf8_lossy(&page).trim_end());
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
        fs_err::write(folder.join(man.get_filename()), render_page(&man)?)?;
    }
    ui::print_line(&format!(
        "wrote {} into {}",
        count(all.len() as u64, "page"),
        folder.display()
    ));
    Ok(Exit::Done)
}

fn render_page(man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(page)
}
