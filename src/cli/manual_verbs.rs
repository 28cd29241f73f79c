//! `ralph accept`, `reopen` and `snapshot`: what people and other loops do by hand. Nothing in an agent's process
//! tree can tick a box through them.

use super::task_ids::key_of;
use super::{Exit, Fault, Invocation, RealDisk, ensure_that, ui};
use crate::config::Amount;
use crate::machine::budget::Allowance;
use crate::machine::event::Event;
use crate::machine::state::Phase;
use crate::source::text::count;
use crate::sys::process::{become_agent, is_inside_agent};
use crate::sys::{Disk as _, lock};
use crate::task::Mark;
use clap::Args;
use serde_json::json;

/// Flags of `accept` and `reopen`.
#[derive(Debug, Args)]
pub struct ByHand {
    /// The box: `2.`, `2.PITEST`, `FINAL`; without an id by its line: `tasks.md:12`, `tasks.md:12.PITEST`
    pub id: String,
    /// Why; written to the journal and to progress.txt
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Flags of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// US dollars that may be used in addition
    #[arg(long, value_name = "USD")]
    pub cost: Option<f64>,
    /// Tokens that may be used in addition
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
}

/// A larger number is a slip of the finger: US dollars, and tokens.
const MOST_DOLLARS: f64 = 100_000.0;
const MOST_TOKENS: u64 = 1_000_000_000_000;

impl ResumeArgs {
    fn read_allowance(&self) -> Result<Allowance, Fault> {
        let cost = self.cost.unwrap_or(0.0);
        ensure_that(
            cost.is_finite() && (0.0..=MOST_DOLLARS).contains(&cost),
            "--cost must be a number of US dollars from 0 to 100000.",
            "for example `ralph resume --cost 5`",
        )?;
        ensure_that(
            self.tokens.is_none_or(|tokens| tokens <= MOST_TOKENS),
            "--tokens must be at most 1000000000000.",
            "for example `ralph resume --tokens 500000`",
        )?;
        Ok(Allowance {
            micros: Amount::from(cost).0,
            tokens: self.tokens.unwrap_or(0),
        })
    }
}

/// Flags of `snapshot`.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The task: `2.`
    pub id: String,
    /// Then become the command after `--`: an agent, whose `ralph accept`, `reopen`, `place` and `stage` are refused
    #[arg(long, requires = "command")]
    pub exec: bool,
    /// The agent and its arguments
    #[arg(last = true, requires = "exec", value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `ralph accept` ticks a box, `ralph reopen` opens it.
pub(super) fn flip_box(call: &Invocation, by_hand: &ByHand, tick: bool) -> Result<Exit, Fault> {
    let what = "An agent asked for a box to be changed by hand; only a person may.";
    ensure_that(
        !is_inside_agent()?,
        what,
        "an agent gives a verdict or commits; ralph ticks the boxes",
    )?;
    ensure_that(
        !by_hand.reason.trim().is_empty(),
        "The reason is empty.",
        "give a reason: --reason 'text'",
    )?;
    let workspace = call.open_workspace()?;
    workspace.as_a_verb(|engine| {
        let key = key_of(engine.current_state(), &by_hand.id)?;
        let book = engine.current_state().spec_state();
        let name = book.written_name(&key);
        let title = book.title(&key);
        let mark = book.row(&key).map_or(Mark::OPEN, |row| row.mark);
        let reason = by_hand.reason.clone();
        let what = format!(
            "{title} holds `[{}]`, which is not ralph's to change.",
            mark.0
        );
        ensure_that(
            mark.is_open() || mark.is_done(),
            what,
            "write `[ ]` there first",
        )?;
        if mark.is_done() == tick {
            let word = if tick { "ticked" } else { "open" };
            let facts = json!({ "task": name, "mark": mark, "changed": false });
            ui::print_answer(call.json, &facts, &format!("{title} is {word} already."));
            return Ok(Exit::Done);
        }
        let fact = if tick {
            Event::BoxAccepted {
                key,
                reason,
                snapshot: engine.world_port().take_snapshot()?,
            }
        } else {
            Event::BoxReopened { key, reason }
        };
        engine.drive_effects(vec![fact])?;
        Ok(Exit::Done)
    })
}

/// `ralph pause` and its end: a file that each run looks for before an attempt, so that it outlives them.
pub(super) fn pause_runs(call: &Invocation, pauses: bool) -> Result<Exit, Fault> {
    let what = "An agent asked for a pause, or for its end; only a person may.";
    ensure_that(
        !is_inside_agent()?,
        what,
        "a person pauses a run, and resumes it",
    )?;
    let path = call.open_workspace()?.places.pause_file();
    if pauses {
        RealDisk::new().write(&path, b"")?;
    } else if let Err(error) = fs_err::remove_file(&path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(error.into());
    }
    let words = if pauses {
        "No attempt begins until `ralph resume`."
    } else {
        "Attempts begin again."
    };
    ui::print_answer(call.json, &json!({ "paused": pauses }), words);
    Ok(Exit::Done)
}

/// `ralph resume`: ends a pause, and answers a run that asks for a larger budget.
pub(super) fn resume_runs(call: &Invocation, args: &ResumeArgs) -> Result<Exit, Fault> {
    let more = args.read_allowance()?;
    ensure_that(
        more.is_none() || !is_inside_agent()?,
        "An agent asked for a larger budget; only a person may.",
        "a person allows more with `ralph resume`",
    )?;
    let workspace = call.open_workspace()?;
    // The run forgets what was allowed before it asked, so an answer without a question would be lost.
    let asks = matches!(workspace.read_state()?.phase, Phase::OverBudget { .. })
        && lock::held_by(&workspace.places.lock_file()).is_some();
    if more.is_none() {
        let ended = pause_runs(call, false);
        if asks {
            ui::print_note(
                "note: the run still waits for a larger budget: `ralph resume --cost USD`",
            );
        }
        return ended;
    }
    ensure_that(
        asks,
        "No run waits for a larger budget.",
        "raise `limits.cost` or `limits.tokens` for the next run; `ralph status` shows what a run waits for",
    )?;
    let answer = json!(more).to_string();
    RealDisk::new().write(&workspace.places.allowance_file(), answer.as_bytes())?;
    let facts = json!({ "usd_micros": more.micros, "tokens": more.tokens });
    ui::print_answer(call.json, &facts, &format!("{more} more is allowed."));
    Ok(Exit::Done)
}

/// `ralph snapshot`. Standard output is the agent's if there is one.
pub(super) fn run_snapshot(call: &Invocation, args: &SnapshotArgs) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    workspace.as_a_verb(|engine| {
        let key = key_of(engine.current_state(), &args.id)?;
        let snapshot = engine.world_port().take_snapshot()?;
        let heads = snapshot.heads();
        let title = engine.current_state().spec_state().title(&key);
        let family = key.family.clone();
        engine.drive_effects(vec![Event::FamilyPinned {
            family: family.clone(),
            snapshot,
        }])?;
        let bases = engine
            .current_state()
            .spec_state()
            .family(&family)
            .map(|known| known.changes.bases.clone());
        let iteration = engine.current_state().iteration;
        if call.json {
            ui::print_json(
                &json!({ "task": family, "iteration": iteration, "heads": heads, "bases": bases }),
            );
        } else {
            let say = if args.exec {
                ui::print_note
            } else {
                ui::print_line
            };
            say(&format!(
                "[{iteration}] {title} is pinned in {}.",
                count(heads.len() as u64, "package")
            ));
        }
        Ok(())
    })?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Ok(Exit::Done);
    };
    let error = become_agent(program, arguments);
    Err(Fault::setup_fault(
        format!("`{program}` cannot be started: {error}."),
        "name a program that is there",
    )
    .caused_by(error))
}
