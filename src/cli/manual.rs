//! `ralph schema`, `completions` and `man`: made from what the program itself reads by.

use super::args::Cli;
use super::exit::Exit;
use super::ui;
use crate::config;
use crate::engine::Fault;
use crate::source::text::count;
use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;

/// `ralph schema`: the same with `--json`, only on one line.
pub(super) fn schema(json: bool) -> Exit {
    let schema = config::schema();
    ui::answer(json, &schema, &format!("{schema:#}"));
    Exit::Done
}

/// `ralph completions`.
pub(super) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ralph", &mut script);
    ui::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Done
}

/// `ralph man`: ralph(1), or with `into` a page for each verb, `ralph-run.1` and so on; pages that are there
/// already are written anew.
pub(super) fn man(into: Option<&Path>) -> Result<Exit, Fault> {
    let Some(folder) = into else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page)?;
        ui::line(String::from_utf8_lossy(&page).trim_end());
        return Ok(Exit::Done);
    };
    fs_err::create_dir_all(folder)?;
    let command = Cli::command();
    let pages = 1 + command.get_subcommands().count() as u64;
    clap_mangen::generate_to(command, folder)?;
    ui::line(&format!("wrote {} into {}", count(pages, "page"), folder.display()));
    Ok(Exit::Done)
}
