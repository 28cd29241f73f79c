//! The question of `ralph init` for the placement of the gate.

use crate::cli::ask::{ask_words, one_of};
use crate::cli::edit_tasks::GATE;
use crate::cli::place::tidy_id;
use crate::cli::ui;
use crate::report::width::cut_text;
use crate::task::{Placement, Stage, TaskFile};

/// Lists the tasks before the question for the place of gates.
pub(super) fn list_tasks(file: &TaskFile) {
    for row in file
        .box_rows()
        .iter()
        .filter(|row| row.key.has_id() && row.key.stage == Stage::Implementation)
    {
        let done = if row.mark.is_done() { "x" } else { " " };
        ui::print_line(&format!(
            "[{done}] {:<8} {}",
            row.key.typed_name(row.line),
            cut_text(&row.text, 60)
        ));
    }
}

/// Asks for the placement of the gate.
pub(super) fn ask_placement() -> anyhow::Result<Placement> {
    let options = [
        "each: after every task that is still to be done (recommended)".to_owned(),
        "tested: only those with TEST-FIRST, as the gate's author does it".to_owned(),
        "after: after the tasks that I name".to_owned(),
        format!("groups: at the end of each heading: G1.{GATE}, G2.{GATE}, …"),
        format!("end: once, after the last task: END.{GATE}"),
        "none: nowhere".to_owned(),
    ];
    Ok(match one_of(&format!("Where {GATE} goes"), &options, 0)? {
        0 => Placement::Each,
        1 => Placement::Tested,
        2 => {
            let ids = ask_words("After which tasks (as in 2,5,7)")?;
            Placement::After(ids.iter().filter_map(|id| tidy_id(id)).collect())
        }
        3 => ask_groups()?,
        4 => Placement::End,
        _ => Placement::None,
    })
}

fn ask_groups() -> anyhow::Result<Placement> {
    let mut levels = vec!["all".to_owned()];
    levels.extend((1..=5).map(|level| format!("those down to {}", "#".repeat(level))));
    let level = one_of("Which headings are groups", &levels, 0)?;
    Ok(match u8::try_from(level) {
        Ok(groups @ 1..) => Placement::GroupsOf { groups },
        _ => Placement::Groups,
    })
}
