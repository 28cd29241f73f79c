//! From what was typed to an open workspace: the search for `.ralph/`, its configuration, its lock.

use super::environment::{CONFIG, read_config, unsound_settings};
use super::output::Format;
use super::run_output::RunOutput;
use super::settings::{self, GlobalFlags};
use super::{Fault, FaultKind, RealDisk, base_environment, cache_folder, ensure_that, ui};
use crate::config::{self, ConfigError, Override, ROOT_VARIABLE, Role, Settings};
use crate::engine::{Engine, Outside, OutsideParts, Places};
use crate::git::{AtBase, GitErrorKind, Repositories, at_base};
use crate::machine::event::{BUILD, Event, Mode};
use crate::machine::policy::{Budget, FRUITLESS_REWORKS, IDLE_ITERATIONS, MOST_WAITS, Policy};
use crate::machine::state::{Phase, State};
use crate::machine::stop::StopReason;
use crate::source::Classifier;
use crate::sys::itself::{close_to_others, own_program};
use crate::sys::lock::{self, Lock};
use crate::sys::process::Supervisor;
use crate::sys::signals::Interrupts;
use crate::task::{Grammar, Sections, Stages, TaskRules};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A process that ralph was starting when it was killed has its files open until it is another program: so
/// often, and so long, is waited for that.
const BLINKS: u32 = 10;
const BLINK: Duration = Duration::from_millis(20);

/// The call of a verb.
#[derive(Clone)]
pub(super) struct Invocation {
    /// The workspace, if it was named.
    pub(super) root: Option<PathBuf>,
    /// The source of the root: `--root` or a variable.
    pub(super) root_by: &'static str,
    /// Settings from flags and environment.
    pub(super) given: Vec<Override>,
    /// The format of the answer.
    pub(super) format: Format,
    /// It is JSON.
    pub(super) json: bool,
}

/// A workspace whose configuration was read.
pub(super) struct Workspace {
    pub(super) places: Places,
    pub(super) settings: Settings,
    /// The words of its task file.
    pub(super) rules: TaskRules,
    json: bool,
    /// Events are shown as they happen; progress is shown on standard error anyway.
    pub(super) shows_events: bool,
}

/// A workspace, and the first mistake in its configuration.
///
/// Defaults apply if there is one.
pub(super) struct Opened {
    pub(super) workspace: Workspace,
    /// The first mistake in its configuration; its settings are the defaults then.
    pub(super) error: Option<ConfigError>,
    /// The text of the configuration; empty if it does not exist or cannot be read.
    pub(super) text: String,
}

impl Opened {
    /// The workspace, unless its configuration has a mistake.
    pub(super) fn into_sound(self) -> Result<Workspace, Fault> {
        self.error
            .map_or(Ok(self.workspace), |error| Err(unsound_settings(&error)))
    }
}

impl Invocation {
    /// Returns the values of flags and variables.
    pub(super) fn of_flags(flags: &GlobalFlags, format: Format) -> Result<Self, Fault> {
        let (root, root_by) = match (&flags.root, settings::variable_value(ROOT_VARIABLE)?) {
            (None, Some(root)) => (Some(PathBuf::from(root)), ROOT_VARIABLE),
            (root, _) => (root.clone(), "--root"),
        };
        if let Some(spec) = &flags.spec {
            ui::name_spec(spec);
        }
        Ok(Self {
            root,
            root_by,
            given: settings::given_overrides(flags)?,
            format,
            json: format == Format::Json,
        })
    }

    /// The workspace with the configuration that it had where HEAD left a revision: a branch does not bring the judge of
    /// its own changes. What no commit has is no part of a branch, and is read from the disk.
    pub(super) fn read_at_base(&self, root: PathBuf, revision: &str) -> Result<Workspace, Fault> {
        let cap = config::LONGEST_TEXT as u64;
        let was = match at_base(&root, &root.join(CONFIG), revision, cap) {
            Ok(AtBase::Was(was)) => was,
            Ok(AtBase::Untracked) => return self.read_settings(root)?.into_sound(),
            // The packages are repositories of their own: the gate reports a revision that they do not know.
            Err(error) if error.kind == GitErrorKind::NotFound => {
                return self.read_settings(root)?.into_sound();
            }
            Err(error) => return Err(error.into()),
        };
        settings::may_be_given(&self.given)?;
        let is_new = was.is_none();
        let text = String::from_utf8_lossy(&was.unwrap_or_default()).into_owned();
        if read_config(&root).ok().as_ref() == Some(&text) {
            return self.read_settings(root)?.into_sound();
        }
        let by = if is_new {
            "the defaults judge"
        } else {
            "its version there judges"
        };
        ui::print_note(&format!(
            "note: {CONFIG} is not the one that {revision} has: {by}.\n  hint: look at the change; `--trust` takes the branch's own"
        ));
        let settings =
            config::parse(&text, &root, &self.given).map_err(|error| unsound_settings(&error))?;
        Ok(Workspace::with_settings(root, settings, self.json))
    }

    /// Finds the workspace and reads its configuration.
    pub(super) fn open_workspace(&self) -> Result<Workspace, Fault> {
        self.read_settings(self.find_workspace()?)?.into_sound()
    }

    /// Reads the configuration of a folder; what is wrong with it is in the result.
    pub(super) fn read_settings(&self, root: PathBuf) -> Result<Opened, Fault> {
        settings::may_be_given(&self.given)?;
        let text = read_config(&root);
        let parsed = text
            .clone()
            .and_then(|text| config::parse(&text, &root, &self.given));
        let (settings, error) = match parsed {
            Ok(settings) => (settings, None),
            Err(error) => (
                config::parse("", &root, &[]).map_err(|error| unsound_settings(&error))?,
                Some(error),
            ),
        };
        let workspace = Workspace::with_settings(root, settings, self.json);
        Ok(Opened {
            workspace,
            error,
            text: text.unwrap_or_default(),
        })
    }

    /// Returns the workspace's folder; without one, the named or the current folder.
    pub(super) fn find_anywhere(&self) -> Result<PathBuf, Fault> {
        self.find_workspace().or_else(|_| self.start_folder())
    }

    /// The named folder, else the current one.
    pub(super) fn start_folder(&self) -> Result<PathBuf, Fault> {
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        fs_err::canonicalize(root)
            .ok()
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| {
                let what = format!("{}: There is no folder `{}`.", self.root_by, root.display());
                Fault::setup_fault(what, "name an existing folder")
            })
    }

    /// The workspace whose folder holds this absolute path, if there is one.
    pub(super) fn open_around(&self, path: &Path) -> Result<Option<Workspace>, Fault> {
        let root = path.ancestors().skip(1).find(|folder| is_workspace(folder));
        root.map(|root| self.read_settings(root.to_owned())?.into_sound())
            .transpose()
    }

    /// The workspace's folder; its configuration may be unsound.
    pub(super) fn find_workspace(&self) -> Result<PathBuf, Fault> {
        if self.root.is_some() {
            let folder = self.start_folder()?;
            let what = format!(
                "{}: There is no .ralph/ in {}.",
                self.root_by,
                folder.display()
            );
            ensure_that(
                folder.join(".ralph").is_dir(),
                what,
                "`ralph --root DIR init` makes one",
            )?;
            return Ok(folder);
        }
        let here = std::env::current_dir()?;
        let own = here.join(".ralph").is_dir();
        let found = here
            .ancestors()
            .find(|folder| (own && **folder == here) || is_workspace(folder));
        found.map(Path::to_owned).ok_or_else(|| {
            let here = here.display();
            let what = format!(
                "There is no .ralph/ in {here}, and none with a config.yaml or a state/ above it."
            );
            Fault::setup_fault(
                what,
                "`ralph init` makes one; `--root DIR` names one elsewhere",
            )
        })
    }
}

/// A budget in units of so many millionths.
fn scale_budget(budget: config::BudgetSettings, unit: u64) -> Budget {
    let [run, task, attempt] = [budget.run, budget.task, budget.attempt]
        .map(|amount| amount.map(|amount| (amount.0 / unit).max(1)));
    Budget { run, task, attempt }
}

impl Workspace {
    /// One with these settings; its files may not be there yet.
    pub(super) fn with_settings(root: PathBuf, settings: Settings, json: bool) -> Self {
        let places = Places {
            workspace: root,
            spec: settings.spec.clone(),
        };
        let rules = rules_of(&settings);
        Self {
            places,
            settings,
            rules,
            json,
            shows_events: true,
        }
    }

    /// The rules for the machine.
    pub(super) fn run_policy(&self) -> Policy {
        let settings = &self.settings;
        let agents = Role::all().into_iter().map(|role| {
            let agents = settings.agents_for(role);
            let names = agents.map(|(name, _)| name.to_owned()).collect();
            (role.stage(), names)
        });
        Policy {
            attempts: settings.limits.attempts,
            rework: settings.limits.rework,
            iterations: settings.limits.iterations,
            idle_iterations: IDLE_ITERATIONS,
            go_on_when_blocked: settings.on_blocked == config::OnBlocked::Next,
            keep_reviews: settings.rework == config::ReworkReviews::KeepReviews,
            ralph_commits: settings.commit == config::CommitBy::Ralph,
            edits_block: settings.verifier == config::Verifier::Block,
            red: settings.checks.red.is_some(),
            green: settings.checks.green.is_some(),
            agents: agents
                .filter(|(_, names): &(_, Vec<_>)| !names.is_empty())
                .collect(),
            watched: true,
            outage_hands_over: true,
            waits: Some(MOST_WAITS),
            fruitless: Some(FRUITLESS_REWORKS),
            quota: settings.limits.quota.stop_at.map(|share| share.0),
            budget_asks: settings.on_budget == config::OnBudget::Pause,
            files: [
                &settings.files.test,
                &settings.files.production,
                &settings.files.build,
            ]
            .map(Clone::clone),
            take: settings.lanes.take,
            cost: scale_budget(settings.limits.cost, 1),
            tokens: scale_budget(settings.limits.tokens, 1_000_000),
            ..Policy::default()
        }
    }

    /// True if a flag or a variable named another task file than the configuration does.
    pub(super) fn has_other_spec(&self) -> bool {
        let root = &self.places.workspace;
        let own = read_config(root).and_then(|text| config::parse(&text, root, &[]));
        own.is_ok_and(|own| own.spec != self.settings.spec)
    }

    /// Returns the classifier of test, production and build files.
    pub(super) fn file_classifier(&self) -> Result<Classifier, Fault> {
        let files = &self.settings.files;
        Classifier::new(&files.test, &files.production, &files.build).map_err(|error| {
            Fault::setup_fault(
                format!("files: {error}."),
                "fix the pattern in .ralph/config.yaml",
            )
        })
    }

    /// The packages, each opened and checked.
    pub(super) fn open_repositories(&self) -> Result<Repositories, Fault> {
        Ok(self.find_repositories()?.checked()?)
    }

    /// The packages, none of them opened yet.
    pub(super) fn find_repositories(&self) -> Result<Repositories, Fault> {
        Ok(Repositories::find_packages(
            &self.places.workspace,
            &self.places.spec,
            &self.settings.packages,
            self.settings.packages_given,
            self.file_classifier()?,
        )?)
    }

    /// The gates whose tick describes another commit than HEAD, a sentence each; git is read only if a gate is ticked.
    pub(super) fn older_gates(&self, state: &State) -> Vec<String> {
        let spec = state.spec_state();
        let mut rows = spec.rows.iter();
        if !rows.any(|row| row.key.stage.is_gate() && row.mark.is_done()) {
            return Vec::new();
        }
        let Ok(mut repositories) = self.find_repositories() else {
            return Vec::new();
        };
        let heads = repositories.current_heads();
        crate::engine::older_gates(spec, &heads, Some(&mut repositories))
    }

    /// Takes the lock of the workspace, or says who holds it.
    pub(super) fn take_lock(&self) -> Result<Lock, Fault> {
        let tasks = self.places.tasks_file();
        is_writable(&tasks, &self.places.display_path(&tasks))?;
        let path = self.places.lock_file();
        if let Some(folder) = path.parent() {
            crate::engine::private_folder(folder)?;
        }
        for _ in 0..=BLINKS {
            if let Some(lock) = Lock::try_take(&path)? {
                return Ok(lock);
            }
            std::thread::sleep(BLINK);
        }
        let holder = lock::holder(&path)
            .map(|holder| format!(" ({holder})"))
            .unwrap_or_default();
        let what = format!("Another ralph holds this workspace{holder}.");
        Err(Fault::new(
            FaultKind::Busy,
            what,
            "wait for it, or end it; `ralph status` works at any time",
        ))
    }

    /// The real world of this workspace.
    pub(super) fn open_outside(&self) -> Result<Outside, Fault> {
        // ralph's own environment stays out of reach of its child processes.
        close_to_others()?;
        self.outside_until(Interrupts::install()?)
    }

    /// The same, with a stop signal from the caller.
    pub(super) fn outside_until(&self, interrupts: Interrupts) -> Result<Outside, Fault> {
        let mut output = RunOutput::new(self.json);
        let (line, above) = (output.line.clone(), output.line.clone());
        let shows_events = self.shows_events;
        Ok(Outside::new(OutsideParts {
            places: self.places.clone(),
            settings: self.settings.clone(),
            repositories: self.open_repositories()?,
            supervisor: Supervisor::new(own_program(), Some(interrupts.clone())),
            interrupts,
            environment: base_environment(),
            listener: Box::new(move |event, state| {
                if shows_events {
                    output.tell_event(event, state);
                }
            }),
            progress: Box::new(move |text| line.set_text(text)),
            said: Box::new(move |text| above.say_above(&format!("      {text}"))),
            cache: cache_folder()?,
        }))
    }

    /// The fact with which a process of ralph begins.
    pub(super) fn start_event(&self, mode: Mode, policy: Policy, retry: Vec<String>) -> Event {
        Event::RunStarted {
            spec: self.places.spec_name(),
            policy,
            mode,
            retry,
            version: BUILD.to_owned(),
        }
    }

    /// The state as the journal alone tells it.
    pub(super) fn read_journal(&self) -> Result<State, Fault> {
        crate::engine::read_journal(&RealDisk::new(), &self.places)
    }

    /// The state according to the journal and the task file, read only; a torn last line is ignored.
    pub(super) fn read_state(&self) -> Result<State, Fault> {
        crate::engine::read_state(&RealDisk::new(), &self.places, &self.rules)
    }

    /// The same, for questions about boxes: a file without any has no answer.
    pub(super) fn read_boxes(&self) -> Result<State, Fault> {
        let state = self.read_state()?;
        has_boxes(&self.places, state.spec_state().rows.len()).map(|()| state)
    }

    /// Opens the engine, and does what one verb asks for: what an earlier run still owes first, then a
    /// look at tasks.md and the packages, then the verb's own fact.
    pub(super) fn as_a_verb<T>(
        &self,
        act: impl FnOnce(&mut Engine<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let _lock = self.take_lock()?;
        let mut outside = self.open_outside()?;
        let mut disk = RealDisk::new();
        let mut engine = Engine::open_journal(
            &mut disk,
            &mut outside,
            self.places.clone(),
            self.rules.clone(),
        )?;
        engine.drive_effects(vec![
            self.start_event(Mode::Verb, self.run_policy(), Vec::new()),
            Event::Resumed,
        ])?;
        engine.look_around()?;
        if let Phase::Stopped(stop @ StopReason::Refused { .. }) = &engine.current_state().phase {
            return Err(Fault::setup_fault(stop.to_string(), stop.hint()));
        }
        act(&mut engine)
    }
}

/// Refuses a task file that its owner made read-only: a rename would write it nevertheless.
pub(super) fn is_writable(path: &Path, shown: &str) -> Result<(), Fault> {
    let is_read_only = fs_err::metadata(path).is_ok_and(|found| found.permissions().readonly());
    let what = format!("{shown}: The file is read-only, and ralph has to write its boxes.");
    ensure_that(!is_read_only, what, "`chmod u+w` makes it writable")
}

/// Refuses a task file that is missing or without boxes.
pub(super) fn has_boxes(places: &Places, boxes: usize) -> Result<(), Fault> {
    let there = match places.tasks_file().exists() {
        false => "is no such file",
        true if boxes == 0 => "are no boxes in it",
        true => return Ok(()),
    };
    let what = format!("{}: There {there}.", places.spec_name());
    Err(Fault::setup_fault(
        what,
        "`ralph check` lists everything that is wrong",
    ))
}

/// A `.ralph/` above the current folder makes a workspace when it holds a configuration or what a run left
/// (in the current folder it always does). Any other folder of that name on the way up is ignored. The search
/// does not end at the root of a repository: packages are repositories below their workspace.
pub(super) fn is_workspace(folder: &Path) -> bool {
    let ralph = folder.join(".ralph");
    ralph.join("config.yaml").is_file() || ralph.join("state").is_dir()
}

/// The words and sections of the task file.
fn rules_of(settings: &Settings) -> TaskRules {
    let checkpoint = regex_lite::Regex::new(&settings.checkpoints).ok();
    // Both were tried when the configuration was read.
    let sections = &settings.tasks.sections;
    let sections = Sections::new(&sections.include, &sections.exclude).unwrap_or_default();
    let stages = match settings.stages {
        config::StagesFrom::File => Stages::File,
        config::StagesFrom::Virtual => Stages::Virtual {
            gates: settings.placed(),
        },
    };
    let gates = settings.gates.keys().cloned().collect();
    let grammar = Grammar::new(gates, checkpoint).with_sections(sections);
    TaskRules {
        grammar: grammar.with_groups(settings.placement.values()),
        stages,
    }
}
