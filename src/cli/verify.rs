//! `ralph verify`: the edits that an agent's transcript tells of, held against git; for any loop, and for hooks of
//! agents that a person talks to. It changes nothing.

use super::{Exit, Fault, FaultKind, Invocation, ensure, ui};
use crate::config::Preset;
use crate::git::is_repository;
use crate::source::text::count;
use crate::turn::Format;
use crate::turn::verify::footer;
use clap::Args;
use serde_json::json;
use std::io::{self, IsTerminal as _, Read};
use std::path::PathBuf;

/// Flags of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The preset of the CLI that printed the transcript, or its format: claude, codex, gemini, opencode …
    #[arg(long, value_name = "PRESET", value_parser = format)]
    pub format: Format,
    /// The revision at which the turn began; `git stash create` makes one of uncommitted work
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub before: String,
    /// What the CLI printed on standard error: only there does codex tell of patches that do not fit
    #[arg(long, value_name = "FILE")]
    pub errors: Option<PathBuf>,
}

fn format(name: &str) -> Result<Format, String> {
    let known = Format::named(name).or_else(|| Preset::named(name).map(|preset| preset.format));
    known
        .filter(|format| *format != Format::Text)
        .ok_or_else(|| format!("its transcript is not known; {} are", Format::NAMES[1..].join(", ")))
}

/// `ralph verify`.
pub(super) fn verify(call: &Invocation, args: &VerifyArgs) -> Result<Exit, Fault> {
    let hint = "pipe what the agent printed: `ralph verify --format claude < agent.out`";
    ensure(!io::stdin().is_terminal(), "There is no transcript on standard input.", hint)?;
    let root = call.find().or_else(|_| {
        let here = call.folder()?;
        Ok::<_, Fault>(here.ancestors().find(|folder| is_repository(folder)).unwrap_or(&here).to_owned())
    })?;
    let workspace = call.read(root)?.sound()?;
    let untold = |fault: Fault| Fault { kind: FaultKind::Unknown, ..fault };
    let mut outside = workspace.outside().map_err(untold)?;
    let errors: Box<dyn Read> = match &args.errors {
        Some(file) => Box::new(fs_err::File::open(file).map_err(|error| {
            Fault::setup(format!("{error}."), "name what the agent printed on standard error")
        })?),
        None => Box::new(io::empty()),
    };
    let (found, (edits, files)) = outside.verify((args.format, io::stdin().lock(), errors), &args.before)?;
    let unresolved = found.iter().filter(|finding| finding.verdict.blocks()).count();
    let lines = footer(&found);
    if call.json {
        let facts = json!({
            "edits": edits, "files": files, "unresolved": unresolved, "findings": found, "footer": lines,
        });
        ui::json(&facts);
    } else if let [head, entries @ .., last] = lines.as_slice() {
        ui::line(head);
        for entry in entries {
            ui::line(&format!("- {entry}"));
        }
        ui::line(last);
    } else {
        let (edits, files) = (count(edits as u64, "edit"), count(files as u64, "file"));
        ui::note(&format!("Verifier: {edits} of {files}, nothing unresolved."));
    }
    Ok(if unresolved > 0 { Exit::WorkLeft } else { Exit::Done })
}
