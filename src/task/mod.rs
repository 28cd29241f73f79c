//! The task file: tasks, ids, stages, and every change that ralph makes to its bytes.
//!
//! Parsing accepts any bytes. A flip changes exactly one byte. Insertions and removals are whole lines. No other byte
//! is ever rewritten, in any encoding, line ends or dialect.

mod command_text;
mod edit;
mod exclude;
mod family;
mod file;
mod grammar;
mod heading_needs;
mod hierarchy;
mod insert_lines;
mod meaning;
mod needs;
mod odd_line;
mod outline;
mod plan;
mod problems;
mod reconcile;
mod refusal;
mod remark_kind;
mod remarks;
mod requirements;
mod row;
mod scan;
mod sections;
mod stage;
mod stops;
mod test_task;
mod ticks;
mod under;
mod virtual_stages;
mod waves;

#[cfg(test)]
mod tests;

pub use crate::source::digest;
pub use edit::{Edit, with_marks};
pub use file::{ReadLine, TaskFile};
pub use grammar::Grammar;
pub use hierarchy::{Families, Rows, parent_families};
pub use insert_lines::LinesEdited;
pub use plan::{
    Placement, PlannedBox, RowPosition, TaskSelection, plan_gate, plan_stages,
    tasks_of_tests_alone, tasks_without_gate, tasks_without_stages,
};
pub use problems::{ProblemKind, TaskFileFinding, TaskFileProblem};
pub use reconcile::{BoxClaim, Reconciled, reconcile_files};
pub use refusal::{EditRefusal, Refused};
pub use remark_kind::{Remark, RemarkKind};
pub use row::{Mark, Row};
pub use scan::ReadAs;
pub use sections::{SectionExclusion, Sections};
pub use stage::{Stage, TaskKey, spoken_id, spoken_ids, typed_id};
pub use ticks::ticked_since;
pub use under::TaskText;
pub use virtual_stages::{Stages, TaskRules, on_file, written_rows};
