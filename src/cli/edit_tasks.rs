//! Edits of a task file by `ralph place` and `ralph stage`.
//!
//! It selects the file, takes its lock, and shows the change.
//!
//! Text that another program saves at the same time is never lost. With `--check` and `--dry-run`
//! nothing is written.

use super::workspace::is_writable;
use super::{Fault, FaultKind, Invocation, RealDisk, Workspace, ensure_that, ui};
use crate::config::StagesFrom;
use crate::machine::state::Phase;
use crate::source::text::{count, names};
use crate::sys::lock::Lock;
use crate::sys::process::is_inside_agent;
use crate::sys::{Disk, Swap};
use crate::task::{EditRefusal, Grammar, LinesEdited, Placement, Row, TaskFile};
use clap::Args;
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::PathBuf;
use std::time::Duration;

/// The gate that is meant when none is named.
pub(super) const GATE: &str = "PITEST";

/// Most retries of a write because another program saved the file at the same time.
const TRIES: u32 = 20;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Time limit for the shortest diff; a later diff is longer but correct.
const PATIENCE: Duration = Duration::from_secs(1);

/// Flags of the verbs that edit a task file.
#[derive(Debug, Default, Args)]
pub struct EditArgs {
    /// A task file, in a workspace or not
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Show the change as a unified diff, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show the change as a unified diff and end with 1 if there is one; write nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

/// The task file to edit.
pub(super) struct TasksTarget {
    path: PathBuf,
    /// As it is named to people.
    pub(super) shown: String,
    pub(super) grammar: Grammar,
    /// The workspace whose task file it is.
    pub(super) workspace: Option<Workspace>,
    /// The gates that go with the stages of a task, and their placement.
    pub(super) gates: Vec<(String, Placement)>,
    /// The outcome is written, not only shown.
    pub(super) writes: bool,
}

/// Result of an edit.
pub(super) struct TasksEdit<'t> {
    target: &'t TasksTarget,
    edited: LinesEdited,
    /// The change as a unified diff; empty without a change.
    diff: String,
    /// The rows of the file as it is now.
    pub(super) now: Vec<Row>,
}

impl TasksTarget {
    /// The file that `--tasks` names, else that of the workspace. The gates and sections of the workspace
    /// around a named file apply to it, else those of the workspace where the verb was called. `gate` is a
    /// stage word of a file outside any workspace.
    pub(super) fn find_target(
        call: &Invocation,
        args: &EditArgs,
        gate: &str,
    ) -> Result<Self, Fault> {
        let writes = !args.check && !args.dry_run;
        let Some(named) = &args.tasks else {
            return Ok(Self::of_workspace(call.open_workspace()?, writes));
        };
        let path = fs_err::canonicalize(named).map_err(|error| {
            let what = format!(
                "--tasks: {} cannot be read: {}.",
                named.display(),
                error.kind()
            );
            Fault::setup_fault(what, "name an existing task file")
        })?;
        let around = match call.open_around(&path)? {
            None if call.find_workspace().is_ok() => Some(call.open_workspace()?),
            around => around,
        };
        let (grammar, gates) = match around {
            // The task file of a workspace is guarded as such, however it is named.
            Some(known)
                if fs_err::canonicalize(known.places.tasks_file()).is_ok_and(|own| own == path) =>
            {
                return Ok(Self::of_workspace(known, writes));
            }
            Some(known) => (known.rules.grammar, known.settings.placed()),
            None => {
                let gates = vec![GATE.to_owned(), gate.to_owned()];
                let grammar = Grammar {
                    gates,
                    ..Grammar::default()
                };
                (grammar, vec![(GATE.to_owned(), Placement::Each)])
            }
        };
        Ok(Self {
            path,
            shown: named.display().to_string(),
            grammar,
            workspace: None,
            gates,
            writes,
        })
    }

    /// The task file of a workspace.
    pub(super) fn of_workspace(workspace: Workspace, writes: bool) -> Self {
        let path = workspace.places.tasks_file();
        let shown = workspace.places.display_path(&path);
        let (grammar, gates) = (workspace.rules.grammar.clone(), workspace.settings.placed());
        Self {
            path,
            shown,
            grammar,
            workspace: Some(workspace),
            gates,
            writes,
        }
    }

    /// The same with the groups that a gate is to judge. Those of other gates must be the same.
    pub(super) fn with_groups(mut self, gate: &str, choice: &Placement) -> Result<Self, Fault> {
        let Some(level) = choice.group_level() else {
            return Ok(self);
        };
        let known = self
            .workspace
            .iter()
            .flat_map(|known| &known.settings.placement);
        if let Some((other, _)) = known
            .filter(|(name, _)| *name != gate)
            .find(|(_, other)| other.group_level().is_some_and(|other| other != level))
        {
            let what =
                format!("{gate}: The groups of {other} are others, and a task is in one group.");
            let hint =
                "place both with the same `--level`; `ralph check --config` shows what is chosen";
            return Err(Fault::setup_fault(what, hint));
        }
        self.grammar = self.grammar.with_groups([choice]);
        Ok(self)
    }

    /// True if the stages of this file have no lines (`stages: virtual`).
    pub(super) fn is_virtual(&self) -> bool {
        self.workspace
            .as_ref()
            .is_some_and(|workspace| workspace.settings.stages == StagesFrom::Virtual)
    }

    /// The gates that go with stages: none of the default where the file has a wider one already.
    pub(super) fn gates_of(&self, file: &TaskFile) -> Vec<(String, Placement)> {
        let rows = file.box_rows();
        let wider: Vec<&str> = rows
            .iter()
            .filter(|row| row.key.is_wider_gate())
            .map(|row| row.key.stage.stage_word())
            .collect();
        self.gates
            .iter()
            .filter(|(gate, _)| self.is_chosen(gate) || !wider.contains(&gate.as_str()))
            .cloned()
            .collect()
    }

    /// True if a person chose where this gate goes.
    pub(super) fn is_chosen(&self, gate: &str) -> bool {
        self.workspace
            .as_ref()
            .is_some_and(|known| known.settings.placement.contains_key(gate))
    }

    /// Keeps runs away while something is written; finishes first what an earlier run still owes.
    pub(super) fn hold_lock(&self) -> Result<Option<Lock>, Fault> {
        if self.writes {
            is_writable(&self.path, &self.shown)?;
        }
        let Some(workspace) = self.workspace.as_ref().filter(|_| self.writes) else {
            return Ok(None);
        };
        let what =
            "An agent that ralph runs asked for lines in the task file; only a person may do that.";
        ensure_that(
            !is_inside_agent()?,
            what,
            "place gates before the run, or after it",
        )?;
        match workspace.read_state()?.phase {
            Phase::Idle | Phase::Stopped(_) | Phase::Waiting { .. } => {}
            _ => workspace.as_a_verb(|_| Ok(()))?,
        }
        workspace.take_lock().map(Some)
    }

    /// Edits the file as `plan` says. The lock of [`Target::hold`] must be held.
    pub(super) fn change_file(
        &self,
        plan: impl Fn(&TaskFile) -> Result<LinesEdited, EditRefusal>,
    ) -> Result<TasksEdit<'_>, Fault> {
        let mut disk = RealDisk::new();
        for _ in 0..TRIES {
            let before = self.read_bytes(&disk)?;
            let file = TaskFile::parse(before.clone(), &self.grammar);
            let edited = plan(&file).map_err(|refusal| self.refuse_edit(refusal))?;
            let is_written = self.writes && edited.bytes != before;
            if is_written && disk.swap(&self.path, &before, &edited.bytes)? != Swap::Done {
                continue;
            }
            let [from, to] = [&before, &edited.bytes].map(|bytes| String::from_utf8_lossy(bytes));
            let diff = unified_diff(&self.shown, &from, &to);
            let now = if is_written {
                TaskFile::parse(edited.bytes.clone(), &self.grammar)
            } else {
                file
            };
            return Ok(TasksEdit {
                target: self,
                edited,
                diff,
                now: now.box_rows(),
            });
        }
        let what = format!(
            "{}: Another program keeps writing to it; nothing was changed.",
            self.shown
        );
        Err(Fault::new(
            FaultKind::Changed,
            what,
            "try again when the file is left alone",
        ))
    }

    /// Returns the error for an edit that the file does not allow.
    pub(super) fn refuse_edit(&self, refusal: EditRefusal) -> Fault {
        Fault::setup_fault(format!("{}: {}", self.shown, refusal.what), refusal.hint)
    }

    /// The file as it is.
    pub(super) fn read_file(&self) -> Result<TaskFile, Fault> {
        Ok(TaskFile::parse(
            self.read_bytes(&RealDisk::new())?,
            &self.grammar,
        ))
    }

    fn read_bytes(&self, disk: &RealDisk) -> Result<Vec<u8>, Fault> {
        let refused =
            |what: &str, hint: &str| Fault::setup_fault(format!("{}: {what}", self.shown), hint);
        if disk.is_odd(&self.path)? {
            let what = "This is a link or a folder, and ralph writes regular files only.";
            return Err(refused(what, "name the file itself"));
        }
        disk.read(&self.path)?.ok_or_else(|| {
            refused(
                "There is no such file.",
                "`ralph check` lists everything that is wrong",
            )
        })
    }
}

impl TasksEdit<'_> {
    /// True if the file was, or would be, edited.
    pub(super) fn is_any(&self) -> bool {
        !self.diff.is_empty()
    }

    /// `tasks.md: 2 lines inserted (1.PITEST, 2.PITEST), none removed.`
    pub(super) fn summarize_edit(&self) -> String {
        let edited = &self.edited;
        let [inserted, removed] = [(&edited.inserted, "inserted"), (&edited.removed, "removed")]
            .map(|(boxes, what)| {
                let keys: Vec<String> = boxes.iter().map(|(key, _)| key.to_string()).collect();
                let shown = names(&keys, 5);
                match keys.len() as u64 {
                    0 => format!("none {what}"),
                    lines => format!("{} {what} ({shown})", count(lines, "line")),
                }
            });
        format!("{}: {inserted}, {removed}.", self.target.shown)
    }

    /// Shows what was, or would be, edited.
    pub(super) fn show_edit(&self) {
        if self.target.writes {
            ui::print_line(&self.summarize_edit());
        } else {
            show_diff(&self.diff);
        }
    }

    /// The facts for programs; `without_id` as in [`note_without_id`].
    pub(super) fn edit_facts(&self, without_id: &[u32]) -> Value {
        let [inserted, removed] = [&self.edited.inserted, &self.edited.removed].map(|boxes| {
            let boxes = boxes.iter();
            boxes
                .map(|(key, line)| json!({ "task": key.written_id(), "line": line }))
                .collect::<Vec<Value>>()
        });
        json!({
            "file": self.target.shown, "changed": self.is_any(), "written": self.is_any() && self.target.writes,
            "inserted": inserted, "removed": removed, "diff": self.diff,
            "without_id": { "count": without_id.len(), "first_line": without_id.first() },
        })
    }
}

/// Shows a diff, with the line ends of the terminal.
pub(super) fn show_diff(diff: &str) {
    if !diff.is_empty() {
        ui::print_line(diff.replace("\r\n", "\n").trim_end_matches('\n'));
    }
}

/// Prints a note on tasks that were skipped for lack of an id.
pub(super) fn note_without_id(lines: &[u32], what: &str, hint: &str) {
    let Some(first) = lines.first() else { return };
    let tasks = count(lines.len() as u64, "task");
    ui::print_note(&format!(
        "note: {what} for {tasks} without an id, or with one that is used twice (the first is on line {first})."
    ));
    ui::print_note(&format!("hint: {hint}"));
}

/// Names the tasks that get no gate because they only write tests.
pub(super) fn note_tests_alone(gate: &str, tasks: &[String]) {
    const SHOWN: usize = 5;
    if tasks.is_empty() {
        return;
    }
    let mut names = tasks
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if tasks.len() > SHOWN {
        names.push_str(", …");
    }
    ui::print_note(&format!(
        "note: no {gate} behind {names}: only tests are written there, and a gate needs the code."
    ));
}

/// Returns the change of a file as a unified diff; empty without a change.
pub(super) fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    diff.unified_diff()
        .context_radius(CONTEXT)
        .header(name, name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::unified_diff;

    #[test]
    fn inserted_removed_and_replaced_lines_are_shown_with_three_lines_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let after = "a\nb\nc\nd\nX\ne\nf\ng\nh\ni\n";
        insta::assert_snapshot!(unified_diff("t", before, after), @r"
        --- t
        +++ t
        @@ -2,9 +2,9 @@
         b
         c
         d
        +X
         e
         f
         g
         h
         i
        -j
        ");
        assert_eq!(unified_diff("t", before, before), "");
        assert_eq!(
            unified_diff("t", "", "a\n"),
            "--- t\n+++ t\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            unified_diff("t", "a\nb", "a\nc\n"),
            "--- t\n+++ t\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
        );
    }

    #[test]
    fn applying_a_diff_gives_the_file_after() {
        for (before, after) in [
            ("a\na\nb\n", "b\na\na\n"),
            ("x\ny\nx\ny\n", "y\nx\nz\ny\nx\n"),
            ("a\n", ""),
            ("a\nb\nc\n", "c\nb\na"),
        ] {
            let diff = unified_diff("t", before, after)
                .replace("\n\\ No newline at end of file\n", "\u{0}");
            let side = |drop: char| -> String {
                let lines = diff.split_inclusive(['\n', '\u{0}']).skip(2);
                let kept = lines.filter(|line| !line.starts_with("@@") && !line.starts_with(drop));
                kept.map(|line| line[1..].trim_end_matches('\u{0}'))
                    .collect()
            };
            assert_eq!(
                (side('+'), side('-')),
                (before.to_owned(), after.to_owned()),
                "{diff}"
            );
        }
    }
}
