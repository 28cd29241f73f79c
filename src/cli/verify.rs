//! `ralph verify`: compares the edits in an agent's transcript with git.
//!
//! It serves any loop, and hooks of agents that a person talks to. It changes nothing.

use super::{Exit, Fault, FaultKind, Invocation, base_environment, ensure_that, ui};
use crate::config::{Preset, Verifier};
use crate::engine::{JudgedTranscript, verify_without_git};
use crate::git::is_repository;
use crate::source::Secrets;
use crate::source::text::count;
use crate::turn::TranscriptFormat;
use crate::turn::verify::{EditOutcome, footer, footer_for_people};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, IsTerminal as _, Read};
use std::path::PathBuf;

/// Flags of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The preset of the CLI that printed the transcript, or its format: claude, codex, gemini, opencode …
    #[arg(long, value_name = "PRESET", value_parser = parse_format)]
    pub from: TranscriptFormat,
    /// The revision at which the turn began; `git stash create` makes one of uncommitted work
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub before: String,
    /// The standard error of the CLI, where codex reports patches that do not fit
    #[arg(long, value_name = "FILE")]
    pub errors: Option<PathBuf>,
    /// The reader of the answer; people get none if nothing failed, or if the verifier is off
    #[arg(long = "for", value_name = "READER", value_enum, default_value_t = FooterReader::Model)]
    pub reader: FooterReader,
}

/// Reader of a footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FooterReader {
    /// The next prompt of an agent.
    Model,
    /// A person at a prompt: what hooks show.
    People,
}

/// Hermes's own switch, which holds for the footer of people too.
const SWITCH: &str = "HERMES_FILE_MUTATION_VERIFIER";

fn parse_format(name: &str) -> Result<TranscriptFormat, String> {
    let known =
        TranscriptFormat::named(name).or_else(|| Preset::named(name).map(|preset| preset.format));
    known
        .filter(|format| *format != TranscriptFormat::Text)
        .ok_or_else(|| {
            format!(
                "its transcript is not known; {} are",
                TranscriptFormat::NAMES[1..].join(", ")
            )
        })
}

pub(super) fn run_verify(call: &Invocation, args: &VerifyArgs) -> Result<Exit, Fault> {
    let hint = "pipe what the agent printed: `ralph verify --from claude < agent.out`";
    ensure_that(
        !io::stdin().is_terminal(),
        "There is no transcript on standard input.",
        hint,
    )?;
    let here = call.start_folder()?;
    let root = call.find_workspace().ok().or_else(|| {
        here.ancestors()
            .find(|folder| is_repository(folder))
            .map(ToOwned::to_owned)
    });
    let workspace = call
        .read_settings(root.clone().unwrap_or_else(|| here.clone()))?
        .into_sound()?;
    let variables = base_environment();
    if args.reader == FooterReader::People
        && (workspace.settings.verifier == Verifier::Off || is_off(&variables))
    {
        return Ok(Exit::Done);
    }
    let errors: Box<dyn Read> = match &args.errors {
        Some(file) => Box::new(fs_err::File::open(file).map_err(|error| {
            Fault::setup_fault(
                format!("{error}."),
                "name what the agent printed on standard error",
            )
            .caused_by(error)
        })?),
        None => Box::new(io::empty()),
    };
    let transcript = (args.from, io::stdin().lock(), errors);
    let judged = if root.is_some() {
        workspace
            .open_outside()
            .map_err(|fault: Fault| Fault {
                kind: FaultKind::Unknown,
                ..fault
            })?
            .verify_transcript(transcript, &args.before, &here)?
    } else {
        let secrets = Secrets::of(variables.iter().map(|(name, value)| (name, value)));
        verify_without_git(transcript, &here, |text| secrets.redact(text))?
    };
    show_findings(call.json, args.reader, &judged);
    conclude(&judged, root.is_some(), args.reader)
}

/// Returns the exit of the verb. Without an unresolved edit it is a yes only if the whole turn could be judged.
fn conclude(judged: &JudgedTranscript, has_git: bool, reader: FooterReader) -> Result<Exit, Fault> {
    let has = |holds: fn(EditOutcome) -> bool| {
        let mut verdicts = judged.findings.iter().map(|finding| finding.verdict);
        verdicts.any(holds)
    };
    if has(EditOutcome::blocks) {
        return Ok(Exit::WorkLeft);
    }
    let (what, hint) = if judged.is_cut {
        (
            "The transcript has no end, so later edits are unknown.",
            "pipe all that the agent printed, up to its exit",
        )
    } else if !has_git {
        (
            "There is no git repository here, so only the transcript was read.",
            "run it in a repository",
        )
    } else if has(|verdict| verdict == EditOutcome::Unreadable) {
        return Ok(Exit::NoVerdict);
    } else {
        return Ok(Exit::Done);
    };
    match reader {
        FooterReader::People => Ok(Exit::NoVerdict),
        FooterReader::Model => Err(Fault::new(FaultKind::Unknown, what, hint)),
    }
}

/// Hermes's variable, read as Hermes reads it.
fn is_off(variables: &[(String, String)]) -> bool {
    let value = variables
        .iter()
        .find(|(name, _)| name == SWITCH)
        .map(|(_, value)| value.trim().to_lowercase());
    value.is_some_and(|value| matches!(value.as_str(), "0" | "false" | "no" | "off"))
}

fn show_findings(json: bool, reader: FooterReader, judged: &JudgedTranscript) {
    let JudgedTranscript {
        findings: found,
        edits,
        files,
        is_cut,
    } = judged;
    let unresolved = found
        .iter()
        .filter(|finding| finding.verdict.blocks())
        .count();
    let lines = footer(found);
    if reader == FooterReader::People && !json {
        for line in footer_for_people(found) {
            ui::print_line(&line);
        }
    } else if json {
        let facts = json!({
            "edits": edits, "files": files, "unresolved": unresolved, "findings": found, "footer": lines,
        });
        ui::print_json(&facts);
    } else if let [head, entries @ .., last] = lines.as_slice() {
        ui::print_line(head);
        for entry in entries {
            ui::print_line(&format!("- {entry}"));
        }
        ui::print_line(last);
    } else if !is_cut {
        let (edits, files) = (count(*edits as u64, "edit"), count(*files as u64, "file"));
        ui::print_note(&format!(
            "Verifier: {edits} of {files}, nothing unresolved."
        ));
    }
}
