//! The paths of a workspace (docs/design.md "Files").

use std::path::{Path, PathBuf};

/// The folders of a workspace, absolute.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder that holds `.ralph/`.
    pub workspace: PathBuf,
    /// The folder of `tasks.md`.
    pub spec: PathBuf,
}

impl Places {
    /// `tasks.md`.
    pub fn tasks_file(&self) -> PathBuf {
        self.spec.join("tasks.md")
    }

    /// `progress.txt`.
    pub fn progress_file(&self) -> PathBuf {
        self.spec.join("progress.txt")
    }

    /// `validation-report.md`.
    pub fn validation_file(&self) -> PathBuf {
        self.spec.join("validation-report.md")
    }

    /// `.ralph/prompts/worker.md`, of the role with that word.
    pub fn template_file(&self, role: &str) -> PathBuf {
        self.workspace.join(format!(".ralph/prompts/{role}.md"))
    }

    /// `.ralph/state`.
    pub fn state_folder(&self) -> PathBuf {
        self.workspace.join(".ralph/state")
    }

    pub fn journal_file(&self) -> PathBuf {
        self.state_folder().join("journal.jsonl")
    }

    /// The lock of the workspace.
    pub fn lock_file(&self) -> PathBuf {
        self.state_folder().join("lock")
    }

    /// The boot of the machine in which ralph last looked for lost writes.
    pub fn boot_file(&self) -> PathBuf {
        self.state_folder().join("boot")
    }

    /// `iter-N/`: prompt, logs, reports, work that ralph replaced.
    pub fn iteration_folder(&self, number: u64) -> PathBuf {
        self.state_folder().join(format!("iter-{number}"))
    }

    /// `iter-N/tasks-of-the-agent.md`: tasks.md before ralph restored it.
    pub fn edited_tasks(&self, number: u64) -> PathBuf {
        self.iteration_folder(number).join("tasks-of-the-agent.md")
    }

    /// `iter-N-before.txt`.
    pub fn before_file(&self, number: u64) -> PathBuf {
        self.state_folder()
            .join(format!("iter-{number}-before.txt"))
    }

    /// The answer of a person (`ralph resume --cost`) to a run that asks for a larger budget.
    pub fn allowance_file(&self) -> PathBuf {
        self.state_folder().join("allowed.json")
    }

    /// There while a person wants no attempt to begin (`ralph pause`).
    pub fn pause_file(&self) -> PathBuf {
        self.state_folder().join("paused")
    }

    /// The same file of another workspace.
    pub fn paused_of(workspace: &Path) -> PathBuf {
        workspace.join(".ralph/state/paused")
    }

    /// `latest-task-diff.txt`.
    pub fn diff_file(&self) -> PathBuf {
        self.state_folder().join("latest-task-diff.txt")
    }

    /// `latest-task-diff.json`.
    pub fn diff_json(&self) -> PathBuf {
        self.state_folder().join("latest-task-diff.json")
    }

    /// tasks.md with every box emptied, kept under its digest.
    ///
    /// Ralph restores the file from it after an agent's edits.
    pub fn skeleton_file(&self, digest: &str) -> PathBuf {
        self.state_folder()
            .join(format!("tasks-{}.md", digest.get(..16).unwrap_or(digest)))
    }

    /// A path as people see it: relative to the workspace.
    pub fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace)
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// The places of the task file with this name in the journal.
    pub(super) fn of_spec(&self, name: &str) -> Self {
        let mut spec = self.workspace.join(name);
        spec.pop();
        Self {
            workspace: self.workspace.clone(),
            spec,
        }
    }

    /// The task file's name in the journal.
    pub fn spec_name(&self) -> String {
        self.display_path(&self.tasks_file())
    }
}
