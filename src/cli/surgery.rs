//! A task file that is given lines or relieved of them: what `ralph place` and `ralph stage` share.
//!
//! Owns: which file is meant, the diff that is shown, how the bytes reach the disk.
//!
//! Promises: what somebody saves at the same time is never lost; in a workspace nothing is written beside a
//! run; with `--check` and `--dry-run` nothing is written at all.
//!
//! Refuses to know: which lines.

use super::ui;
use super::workspace::{Place, Workspace};
use crate::config::StagesFrom;
use crate::engine::{Fault, FaultKind};
use crate::machine::decide::count;
use crate::machine::state::Phase;
use crate::sys::disk::RealDisk;
use crate::sys::lock::Lock;
use crate::sys::process::is_inside_agent;
use crate::sys::{Disk, Swap};
use crate::task::{Grammar, Placement, Stages, Surgery, SurgeryError, TaskFile, TaskKey};
use similar::TextDiff;
use std::path::{Path, PathBuf};

/// How often a write is tried again because somebody saved the file at the same time.
const TRIES: u32 = 20;

/// What a verb does with the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Writes it.
    Write,
    /// Shows the diff.
    DryRun,
    /// Shows the diff and says whether there is one.
    Check,
}

impl How {
    /// As the flags `--check` and `--dry-run` say.
    pub(super) fn of(check: bool, dry_run: bool) -> Self {
        match (check, dry_run) {
            (true, _) => Self::Check,
            (_, true) => Self::DryRun,
            _ => Self::Write,
        }
    }
}

/// The task file that is meant.
pub(super) struct Target {
    path: PathBuf,
    /// As it is named to people.
    pub(super) shown: String,
    /// The words of its stages.
    pub(super) grammar: Grammar,
    /// The workspace, when the file is that of one.
    pub(super) workspace: Option<Workspace>,
    /// The gates that go with the stages of a task, and where they stand.
    pub(super) gates: Vec<(String, Placement)>,
}

/// What became of the file.
pub(super) struct Change {
    /// The lines put in and taken away.
    pub(super) surgery: Surgery,
    /// The change as a unified diff; empty when there is none.
    pub(super) diff: String,
    /// The file as it stands now: with the change when that was written.
    pub(super) now: TaskFile,
}

impl Target {
    /// The file that `--tasks` names, else that of the workspace. The gates and sections of the workspace
    /// around a named file hold for it, else those of the workspace where the verb was called. `gates` are
    /// the stage words of a file outside any workspace.
    pub(super) fn find(place: &Place<'_>, tasks: Option<&Path>, gates: Vec<String>) -> Result<Self, Fault> {
        let Some(named) = tasks else { return Ok(Self::of(place.open()?)) };
        let path = fs_err::canonicalize(named).map_err(|error| {
            let what = format!("--tasks: {} cannot be read: {}.", named.display(), error.kind());
            Fault::new(FaultKind::Setup, what, "name an existing task file")
        })?;
        let around = match place.open_around(&path)? {
            Some(workspace) => Some(workspace),
            None => place.find().is_ok().then(|| place.open()).transpose()?,
        };
        let shown = named.display().to_string();
        let Some(workspace) = around else {
            let grammar = Grammar { gates, ..Grammar::default() };
            let gates = vec![("PITEST".to_owned(), Placement::Each)];
            return Ok(Self { path, shown, grammar, workspace: None, gates });
        };
        // The task file of a workspace is guarded as such, however it is named.
        if fs_err::canonicalize(workspace.places.tasks()).is_ok_and(|own| own == path) {
            return Ok(Self::of(workspace));
        }
        // Lines are asked for in this very file, whatever `stages:` says of the workspace's own.
        let grammar = workspace.grammar.clone().with_stages(Stages::File);
        Ok(Self { path, shown, grammar, workspace: None, gates: workspace.settings.placed() })
    }

    fn of(workspace: Workspace) -> Self {
        let path = workspace.places.tasks();
        let shown = workspace.places.shown(&path);
        let (grammar, gates) = (workspace.grammar.clone(), workspace.settings.placed());
        Self { path, shown, grammar, workspace: Some(workspace), gates }
    }

    /// True when the stages of this file have no lines (`stages: virtual`).
    pub(super) fn is_virtual(&self) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| workspace.settings.stages == StagesFrom::Virtual)
    }

    /// What a choice means for the lines of the file. Where stages have no lines, neither have gates: the
    /// configuration alone says where they stand; the tasks that it names must be there all the same.
    pub(super) fn placed(
        &self,
        file: &TaskFile,
        gate: &str,
        choice: &Placement,
    ) -> Result<Surgery, SurgeryError> {
        match file.placed(gate, choice) {
            Err(error @ SurgeryError::Ids { .. }) => Err(error),
            _ if self.is_virtual() => file.placed(gate, &Placement::None),
            placed => placed,
        }
    }

    /// Keeps runs away while something is written; finishes first what an earlier run still owes.
    pub(super) fn hold(&self, how: How) -> Result<Option<Lock>, Fault> {
        let Some(workspace) = self.workspace.as_ref().filter(|_| how == How::Write) else { return Ok(None) };
        if is_inside_agent()? {
            let what = "An agent that ralph runs asked for lines in the task file; only a person may.";
            return Err(Fault::new(FaultKind::Setup, what, "place gates before the run, or after it"));
        }
        let is_settled =
            |phase: &Phase| matches!(phase, Phase::Idle | Phase::Stopped(_) | Phase::Waiting { .. });
        if !is_settled(&workspace.read_state()?.phase) {
            workspace.as_a_verb(|_| Ok(()))?;
        }
        workspace.lock().map(Some)
    }

    /// Changes the file as `plan` says. The lock of [`Target::hold`] must be held.
    pub(super) fn change(
        &self,
        how: How,
        plan: impl Fn(&TaskFile) -> Result<Surgery, SurgeryError>,
    ) -> Result<Change, Fault> {
        let mut disk = RealDisk::new();
        for _ in 0..TRIES {
            let before = self.read(&disk)?;
            let file = TaskFile::parse(before.clone(), &self.grammar);
            let surgery = plan(&file).map_err(|error| self.refused(&error))?;
            let is_done = how != How::Write
                || surgery.bytes == before
                || disk.swap(&self.path, &before, &surgery.bytes)? == Swap::Done;
            if is_done {
                let diff = diff(&self.shown, &before, &surgery.bytes);
                let now = match how {
                    How::Write => TaskFile::parse(surgery.bytes.clone(), &self.grammar),
                    How::DryRun | How::Check => file,
                };
                return Ok(Change { surgery, diff, now });
            }
        }
        let what = format!("{}: Somebody else keeps writing to it; nothing was changed.", self.shown);
        Err(Fault::new(FaultKind::Changed, what, "call it again when the file is left alone"))
    }

    /// The task file's bytes.
    pub(super) fn read(&self, disk: &RealDisk) -> Result<Vec<u8>, Fault> {
        let refused = |what: &str, hint: &str| {
            Err(Fault::new(FaultKind::Setup, format!("{}: {what}", self.shown), hint))
        };
        if disk.is_odd(&self.path)? {
            return refused(
                "This is a link or a folder, and ralph writes regular files only.",
                "name the file itself",
            );
        }
        match disk.read(&self.path)? {
            Some(bytes) => Ok(bytes),
            None => refused("There is no such file.", "`ralph check` lists everything that is wrong"),
        }
    }

    fn refused(&self, error: &SurgeryError) -> Fault {
        let hint = match error {
            SurgeryError::Ids { .. } => "name tasks by ids that stand once, as in `2` or `T012`",
            SurgeryError::DoesNotFit { .. } => "write the line by hand, or give the list a simpler form",
        };
        Fault::new(FaultKind::Setup, format!("{}: {error}", self.shown), hint)
    }
}

/// The change of a file as a unified diff; empty when there is none.
pub(super) fn diff(name: &str, before: &[u8], after: &[u8]) -> String {
    if before == after {
        return String::new();
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    TextDiff::from_lines(&before, &after).unified_diff().header(name, name).to_string()
}

/// Shows a diff; the line ends of Windows are not shown as what they are.
pub(super) fn show_diff(diff: &str) {
    if !diff.is_empty() {
        ui::line(diff.replace("\r\n", "\n").trim_end_matches('\n'));
    }
}

/// `tasks.md: 2 lines put in (1.PITEST, 2.PITEST), none taken away.`
pub(super) fn told(shown: &str, surgery: &Surgery) -> String {
    let part = |boxes: &[(TaskKey, u32)], what: &str| match boxes {
        [] => format!("none {what}"),
        boxes => {
            let names: Vec<String> = boxes.iter().take(5).map(|(key, _)| key.to_string()).collect();
            let more = if boxes.len() > names.len() { ", …" } else { "" };
            format!("{} {what} ({}{more})", count(boxes.len() as u64, "line"), names.join(", "))
        }
    };
    format!("{shown}: {}, {}.", part(&surgery.inserted, "put in"), part(&surgery.removed, "taken away"))
}

/// Says which tasks were passed over for want of an id of their own; nothing when there are none.
pub(super) fn tell_passed_over(lines: &[u32], what: &str, hint: &str) {
    let Some(first) = lines.first() else { return };
    let (tasks, has, at) = match lines.len() {
        1 => ("1 task".to_owned(), "has no id of its own", format!("line {first}")),
        many => (format!("{many} tasks"), "have no id of their own", format!("the first on line {first}")),
    };
    ui::note(&format!("note: {tasks} ({at}) {has}, or one that stands twice, and so {what}."));
    ui::note(&format!("hint: {hint}"));
}

/// The same for JSON.
pub(super) fn passed_over(lines: &[u32]) -> serde_json::Value {
    serde_json::json!({ "count": lines.len(), "first_line": lines.first() })
}

/// Boxes with their lines, for JSON.
pub(super) fn facts(boxes: &[(TaskKey, u32)]) -> Vec<serde_json::Value> {
    boxes.iter().map(|(key, line)| serde_json::json!({ "task": key.to_string(), "line": line })).collect()
}
