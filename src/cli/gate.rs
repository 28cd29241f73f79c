//! `ralph gate`: a gate's box with all its consequences, or a gate alone, which changes nothing.

use super::gate_parts::{merge_reports, refuse_undivided, subject_digest};
use super::output::Format;
use super::task_ids::key_of;
use super::{CONFIG, Exit, Fault, FaultKind, Invocation, Workspace, ui};
use crate::config::{GateSettings, nearest};
use crate::engine::{AloneChoice, Outside, World as _};
use crate::git::is_repository;
use crate::machine::event::{Event, StopRequest};
use crate::machine::facts::{FileChange, FileStatus, Oid};
use crate::machine::hierarchy::covered_changes;
use crate::mutation::{GateReport, Verdict};
use crate::report::annotations::{Folders, ReportView, github, gitlab, junit, sarif};
use crate::report::{explain_report, human};
use crate::source::text::names;
use crate::source::{RepoPath, Shard};
use crate::task::Stage;
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Flags of `gate`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct GateArgs {
    /// A gate's box (`2.PITEST`) or a gate's name (`PITEST`)
    #[arg(required_unless_present_any = ["stop_hook", "push"])]
    pub gate: Option<String>,
    /// Judge what changed since HEAD left this revision (their merge base, as `git diff REV...HEAD`)
    #[arg(long, value_name = "REV", conflicts_with = "diff")]
    pub since: Option<String>,
    /// Judge the files listed here, `<package>/<path>` a line
    #[arg(long, value_name = "FILE")]
    pub diff: Option<PathBuf>,
    /// Ask all tests where the map of who touches what is outdated, and make a new one (docs/gate.md)
    #[arg(long)]
    pub map: bool,
    /// Judge only this part of the classes: `1/3` (a job of CI for each part)
    #[arg(long, value_name = "K/N", requires = "since", conflicts_with_all = ["map", "fail_on_skip"])]
    pub shard: Option<Shard>,
    /// Join the results of all parts, as `--json` printed them into files `*.json` of this folder
    #[arg(long, value_name = "DIR", requires = "since", conflicts_with_all = ["shard", "map"])]
    pub merge: Option<PathBuf>,
    /// Say how the verdict came to be: scope, tests asked, mutants, time per phase, what was kept
    #[arg(long)]
    pub explain: bool,
    /// End with 1 when there was nothing to judge
    #[arg(long)]
    pub fail_on_skip: bool,
    /// With --since: take the configuration of the branch, not that of its base
    #[arg(long, requires = "since")]
    pub trust: bool,
    /// Answer the hooks of an agent's turn, whose JSON is on standard input: block its end on a FAIL
    #[arg(long, conflicts_with_all = ["push", "diff", "shard", "merge", "map", "explain", "format", "fail_on_skip"])]
    pub stop_hook: bool,
    /// Judge the commits of a push, which git's pre-push hook gets on standard input
    #[arg(long, conflicts_with_all = ["diff", "shard", "merge", "map", "explain", "format", "fail_on_skip"])]
    pub push: bool,
}

impl GateArgs {
    /// Returns the gate or its box; empty if none was named.
    pub(super) fn name(&self) -> &str {
        self.gate.as_deref().unwrap_or_default()
    }

    /// True for a gate that several jobs share out.
    fn is_in_parts(&self) -> bool {
        self.shard.is_some() || self.merge.is_some()
    }
}

/// `ralph gate`.
pub(super) fn run_gate(call: &Invocation, args: &GateArgs) -> Result<Exit, Fault> {
    let format = call.format;
    let root = call.find_anywhere()?;
    let mut workspace = match &args.since {
        Some(revision) if !args.trust => call.read_at_base(root, revision)?,
        _ => call.read_settings(root)?.into_sound()?,
    };
    if workspace.settings.gates.contains_key(args.name()) {
        return GateCall {
            workspace: &workspace,
            args,
            format,
        }
        .judge_alone();
    }
    // A box is one of a workspace.
    call.find_workspace()?;
    refuse_unknown_gate(&workspace, args.name())?;
    if args.is_in_parts() {
        let what = format!(
            "{} is a box, and only a gate alone is judged in parts.",
            args.name()
        );
        return Err(Fault::setup_fault(
            what,
            "name the gate: `ralph gate PITEST --since REV --shard 1/3`",
        ));
    }
    workspace.shows_events = matches!(format, Format::Human | Format::Json);
    GateCall {
        workspace: &workspace,
        args,
        format,
    }
    .of_a_task()
}

/// Refuses a word without a task's id that is no configured gate: `MUTMUT`, `pitest`, `PITTEST`.
pub(super) fn refuse_unknown_gate(workspace: &Workspace, name: &str) -> Result<(), Fault> {
    let is_name = name != Stage::Final.stage_word()
        && name.contains(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    if is_name {
        return Err(unknown_gate(workspace, name));
    }
    Ok(())
}

/// The fault of a name that is no configured gate.
pub(super) fn unknown_gate(workspace: &Workspace, name: &str) -> Fault {
    let gates = workspace.settings.gates.keys();
    let gates: Vec<&str> = gates.map(String::as_str).collect();
    let hint = nearest(name, &gates).map_or_else(
        || {
            format!(
                "add it under `gates:` in {CONFIG}: `{}: {{}}`",
                name.to_uppercase()
            )
        },
        |gate| format!("did you mean `{gate}`?"),
    );
    Fault::setup_fault(format!("The gate `{name}` is not configured."), hint)
}

/// A gate to run: its workspace, its arguments and the output format.
struct GateCall<'a> {
    workspace: &'a Workspace,
    args: &'a GateArgs,
    format: Format,
}

type ChangesAndBases = (Vec<FileChange>, BTreeMap<String, Oid>);

impl GateCall<'_> {
    /// Judges and reports, changes nothing.
    fn judge_alone(&self) -> Result<Exit, Fault> {
        let Self {
            workspace,
            args,
            format,
        } = *self;
        let mut outside = workspace.open_outside()?;
        let Some((changes, bases)) = self.named_changes(&mut outside)? else {
            let gate = args.name();
            return Err(Fault::setup_fault(
                format!("The gate {gate} needs the changes that it judges."),
                format!(
                    "`ralph gate {gate} --since HEAD~1` judges the last commit, `ralph gate {gate} --diff FILE` the files \
                     that FILE lists"
                ),
            ));
        };
        if let (Some(file), true) = (&args.diff, changes.is_empty()) {
            let what = format!(
                "{} names no file, so {} can judge nothing.",
                file.display(),
                args.name()
            );
            return Err(Fault::new(
                FaultKind::Unknown,
                what,
                "check how the list was made",
            ));
        }
        if args.is_in_parts() {
            refuse_undivided(args.name(), self.settings())?;
        }
        if let Some(folder) = &args.merge {
            let report = merge_reports(folder, &self.subject(&changes, &bases))?;
            return self.show_result(args.name(), &report, false);
        }
        let folder = outside.folder_alone()?;
        let choice = AloneChoice {
            makes_map: args.map,
            shard: args.shard,
        };
        let mut report =
            outside.judge_alone(args.name(), &changes, &bases, folder.clone(), choice)?;
        if args.since.is_some() {
            report.remarks.extend(self.own_judges(&changes));
        }
        if let Some(StopRequest::Signal { signal }) = outside.stop_request() {
            return Ok(Exit::Signal(signal));
        }
        if format == Format::Human {
            let seconds = std::time::Duration::from_millis(report.millis).as_secs_f64();
            ui::print_note(&format!("logs and reports: {}", folder.display()));
            ui::print_note(&format!("{} took {seconds:.1} s", args.name()));
        }
        if let (Some(shard), Format::Json) = (args.shard, format) {
            let subject = self.subject(&changes, &bases);
            ui::print_json(&json!({
                "gate": args.name(), "shard": shard.to_string(), "head": subject, "report": report
            }));
            return Ok(Exit::from(&report.verdict));
        }
        self.show_result(args.name(), &report, false)
    }

    fn settings(&self) -> &GateSettings {
        &self.workspace.settings.gates[self.args.name()]
    }

    /// The digest that all parts of the gate must share.
    fn subject(&self, changes: &[FileChange], bases: &BTreeMap<String, Oid>) -> String {
        subject_digest(self.args.name(), self.settings(), changes, bases)
    }

    /// Shows a report, and what follows the verdict in every form: how it came to be, and that a SKIP fails.
    fn show_result(&self, gate: &str, report: &GateReport, is_shown: bool) -> Result<Exit, Fault> {
        let Self {
            workspace,
            args,
            format,
        } = *self;
        let folders = package_folders(workspace)?;
        let shown = &ReportView {
            gate,
            report,
            folders: &folders,
            fail_on_skip: args.fail_on_skip,
        };
        match format {
            _ if is_shown => {}
            Format::Human | Format::Markdown | Format::Html => {
                for line in human::report_lines(shown) {
                    ui::print_line(&line);
                }
            }
            Format::Json => ui::print_json(&json!({ "gate": gate, "report": report })),
            Format::Github => ui::print_line(&github::render_github(shown)),
            Format::Gitlab => ui::print_line(&gitlab::render_gitlab(shown)),
            Format::Junit => ui::print_line(&junit::render_junit(shown)?),
            Format::Sarif => ui::print_line(&sarif::render_sarif(shown)),
        }
        if args.explain {
            let say = if format == Format::Human {
                ui::print_line
            } else {
                ui::print_note
            };
            for line in explain_report(gate, report) {
                say(&line);
            }
        }
        if args.fail_on_skip && matches!(report.verdict, Verdict::Skip { .. }) {
            ui::print_note(&format!(
                "{gate} judged nothing, which --fail-on-skip counts as a failure."
            ));
            return Ok(Exit::WorkLeft);
        }
        Ok(Exit::from(&report.verdict))
    }

    /// The whole contract, in anybody's loop.
    fn of_a_task(&self) -> Result<Exit, Fault> {
        let Self {
            workspace,
            args,
            format,
        } = *self;
        let named = self
            .named_changes(&mut workspace.open_outside()?)?
            .map(|(changes, _)| changes);
        workspace.as_a_verb(|engine| {
            let key = key_of(engine.current_state(), args.name())?;
            let Stage::Gate(gate) = key.stage.clone() else {
                let hint = "name a gate's box such as `2.PITEST`, or a gate such as `PITEST`";
                let name = engine.current_state().spec_state().title(&key);
                return Err(Fault::setup_fault(format!("{name} is not a gate."), hint));
            };
            let list = workspace.places.diff_file();
            let changes = match named {
                Some(changes) => Some(changes),
                None if !covered_changes(engine.current_state().spec_state(), &key).is_empty() => {
                    None
                }
                None if list.is_file() => Some(self.listed_changes(&list)?),
                None => Some(Vec::new()),
            };
            let snapshot = engine.world_port().take_snapshot()?;
            engine.drive_effects(vec![Event::GateRequested {
                key: key.clone(),
                snapshot,
                changes,
            }])?;
            // The book may hold the verdict of an earlier call: only this call's counts.
            let Some(report) = engine.last_report() else {
                // Ralph's own end cut the gate short.
                return Ok(match engine.current_state().stopping {
                    Some(StopRequest::Signal { signal }) => Exit::Signal(signal),
                    _ => Exit::NoVerdict,
                });
            };
            if format != Format::Json
                && let Verdict::Error { hint, .. } = &report.verdict
            {
                ui::print_note(&format!("hint: {hint}"));
            }
            // A run's own output has shown it to people and as JSON.
            let is_shown = matches!(format, Format::Human | Format::Json);
            self.show_result(&gate, report, is_shown)
        })
    }

    /// Returns the changed files that the gate's command names: the branch judges itself with them.
    fn own_judges(&self, changes: &[FileChange]) -> Option<String> {
        let gate = self.workspace.settings.gates.get(self.args.name())?;
        let words = [&gate.run, &gate.classpath_command]
            .into_iter()
            .flatten()
            .flatten();
        let words: Vec<&str> = words
            .flat_map(|word| word.split(|c: char| !c.is_alphanumeric() && !"/._-".contains(c)))
            .collect();
        let named = names(
            changes
                .iter()
                .filter(|change| {
                    let path = change.path.to_text();
                    words.iter().any(|word| {
                        let word = word.trim_start_matches("./").trim_start_matches("../");
                        !word.is_empty() && (path == word || word.ends_with(&format!("/{path}")))
                    })
                })
                .map(FileChange::full_path),
            10,
        );
        (!named.is_empty()).then(|| {
            format!(
                "The branch changed what the command of {} runs: {named}.",
                self.args.name()
            )
        })
    }

    /// The changes that `--since` or `--diff` names, and where they begin.
    fn named_changes(&self, outside: &mut Outside) -> Result<Option<ChangesAndBases>, Fault> {
        match (&self.args.since, &self.args.diff) {
            (Some(revision), _) => outside.changes_since(revision).map(Some),
            (None, Some(file)) => Ok(Some((self.listed_changes(file)?, BTreeMap::new()))),
            (None, None) => Ok(None),
        }
    }

    /// The changes that a list of `<package>/<path>` lines names.
    fn listed_changes(&self, file: &Path) -> Result<Vec<FileChange>, Fault> {
        let text = fs_err::read(file).map_err(|error| {
            let what = format!("The list of changed files cannot be read: {error}.");
            Fault::setup_fault(what, "name another file").caused_by(error)
        })?;
        let text = String::from_utf8(text).map_err(|_| {
            let what = format!("{} is not UTF-8.", file.display());
            Fault::new(FaultKind::Unknown, what, "write one path a line")
        })?;
        let classifier = self.workspace.file_classifier()?;
        let repositories = self.workspace.open_repositories()?;
        let mut changes = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() {
                continue;
            }
            let bad = |why: &str| {
                let what = format!("{}:{}: {why}.", file.display(), number + 1);
                let hint = "a line is `<package>/<path in package>`, as git quotes it";
                Fault::new(FaultKind::Unknown, what, hint)
            };
            let whole = RepoPath::parse(line).to_bytes();
            let found = repositories
                .package_names()
                .into_iter()
                .find_map(|name: String| {
                    let prefix = if name == "." {
                        String::new()
                    } else {
                        format!("{name}/")
                    };
                    let rest = whole.strip_prefix(prefix.as_bytes())?;
                    Some((name, rest.strip_prefix(b"./").unwrap_or(rest).to_vec()))
                });
            let (package, path) = found.ok_or_else(|| bad("no package of that name is known"))?;
            let escapes =
                path.split(|b| *b == b'/').any(|part| part == b"..") || path.first() == Some(&b'/');
            if escapes || path.is_empty() || path.contains(&0) {
                return Err(bad("the path leaves its package"));
            }
            let path = RepoPath::from_bytes(&path);
            let kind = classifier.kind(&path);
            let there = repositories
                .package_root(&package)
                .is_some_and(|root| root.join(path.to_text()).is_file());
            let status = if there {
                FileStatus::Modified
            } else {
                FileStatus::Deleted
            };
            let new = there.then(Oid::zero);
            changes.push(FileChange {
                package,
                path,
                status,
                kind,
                old: Some(Oid::zero()),
                new,
            });
        }
        Ok(changes)
    }
}

/// Returns the folders of the packages in a CI checkout.
///
/// The checkout is the git repository that holds the workspace, else the workspace itself.
pub(super) fn package_folders(workspace: &Workspace) -> Result<Folders, Fault> {
    let root = &workspace.places.workspace;
    let checkout = root
        .ancestors()
        .find(|folder| is_repository(folder))
        .unwrap_or(root);
    let repositories = workspace.open_repositories()?;
    Ok(Folders(
        repositories
            .package_names()
            .into_iter()
            .filter_map(|name: String| {
                let inside = repositories
                    .package_root(&name)?
                    .strip_prefix(checkout)
                    .ok()?;
                let folder = RepoPath::from_bytes(inside.as_os_str().as_bytes());
                Some((name, folder))
            })
            .collect(),
    ))
}
