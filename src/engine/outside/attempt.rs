//! One attempt of an agent in the real world (prompt, process, claim), and the checks after it.

use super::edits::TurnLog;
use super::template::own_template;
use super::test_reports::TestReports;
use super::transcript::{Audience, Transcript, read_tail};
use super::{AFTER_RESULT, GRACE, LOG_CAP, Outside, OutsideParts};
use crate::agent::{
    CallFacts, PrintedOutput, PromptFacts, PromptPackage, VerdictLine, agent_call, last_words,
    names_token, render, trouble,
};
use crate::config::{AgentSettings, CommitBy, Preset, Role, Verifier, role_of};
use crate::engine::{Fault, Readings};
use crate::machine::effect::AgentOrder;
use crate::machine::event::{AgentEnd, Check, CheckResult, Event};
use crate::machine::facts::ProcessEnd;
use crate::source::RepoPath;
use crate::source::text::line;
use crate::sys::disk::{RealDisk, if_there};
use crate::sys::{Disk as _, FinishedProcess, ProcessId, ProcessSpec, Running, Spawn as _, clock};
use crate::task::TaskText;
use crate::turn::{self, TranscriptFormat, TurnEvent, Usage};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time in which a CLI prints a session.
const EXPORT: Duration = Duration::from_secs(120);

/// The tree without entries, against which git compares where nothing was before.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// An agent that runs.
pub(super) struct RunningAgent {
    running: Box<dyn Running>,
    agent: AgentSettings,
    output: Transcript,
    stderr: PathBuf,
    /// Prints the session of a CLI whose standard output is no transcript, with `{session}` for its name.
    export: Option<ProcessSpec>,
}

impl Outside {
    pub(super) fn start_agent(
        &mut self,
        order: &AgentOrder,
        readings: &Readings,
    ) -> Result<ProcessId, Fault> {
        let role = role_of(&order.key.stage)
            .ok_or_else(|| Fault::internal_fault(format!("{} has no role.", order.key)))?;
        let supervisor = self
            .parts
            .supervisor
            .ready(&self.iteration_tag(order.iteration))?;
        self.parts.repositories.pin_heads()?;
        let folder = self.iteration_folder(order.iteration)?;
        let prompt = folder.join("prompt.md");
        let own = own_template(&self.parts.places, role)?;
        let verdict = VerdictLine::draw(own.as_deref().is_some_and(|own| !names_token(own)));
        let text = render(
            own.as_deref(),
            role,
            &self.prompt_facts(order, readings, &verdict.token)?,
        )?;
        // The file is replaced: it may be a link that an attempt left, which must not be followed.
        RealDisk::new().write(&prompt, text.as_bytes())?;
        let agent = self
            .parts
            .settings
            .agents
            .get(&order.agent)
            .ok_or_else(|| no_agent(role))?;
        let task = order.key.written_name(order.line);
        let facts = CallFacts {
            prompt: &text,
            prompt_file: &prompt.to_string_lossy(),
            task: &task,
            task_text: &order.text,
            stage: order.key.stage.stage_word(),
            role,
            workspace: &self.parts.places.workspace.to_string_lossy(),
            iteration: order.iteration,
            attempt: order.attempt,
            verdict_token: &verdict.token,
        };
        let call = agent_call(agent, &facts, &self.parts.environment);
        if let Some(size) = call.too_long() {
            let what = format!(
                "An argument of the agent would have {size} bytes, and Linux takes less than 128 KiB."
            );
            let hint =
                "let its `command:` read standard input or {prompt_file} in place of {prompt}";
            return Err(Fault::setup_fault(what, hint));
        }
        let spec = ProcessSpec {
            argv: call.argv,
            env: call.env,
            cwd: self.parts.places.workspace.clone(),
            stdin: call.reads_prompt.then(|| prompt.clone().into()),
            stdout: folder.join("agent.out"),
            stderr: folder.join("agent.err"),
            log_cap: LOG_CAP,
            wall: Some(self.parts.settings.limits.attempt.min(self.wall_left())),
            // If the CLI reports a call only at its end, silence may be a running tool.
            idle: self
                .parts
                .settings
                .limits
                .idle
                .filter(|_| agent.format.tells_starts()),
            after_result: Some(AFTER_RESULT),
            transcript: agent.format,
            most: order.most,
            grace: GRACE,
            tag: self.iteration_tag(order.iteration),
        };
        let (format, stdout, stderr) = (agent.format, spec.stdout.clone(), spec.stderr.clone());
        let is_verified =
            format != TranscriptFormat::Text && self.parts.settings.verifier != Verifier::Off;
        self.turn_log = is_verified.then_some(TurnLog {
            format,
            stdout,
            stderr,
            session: None,
        });
        let export =
            Preset::printing(format).filter(|preset| is_verified && !preset.transcript.is_empty());
        let export = export.map(|preset| export_of(preset, &spec, &folder));
        let running = self.parts.supervisor.start_by(supervisor, &spec)?;
        let id = running.id();
        let reviews = order.key.stage.is_review();
        let output = Transcript {
            format: agent.format,
            verdict,
            reviews,
            stdout: spec.stdout,
        };
        self.running = Some(RunningAgent {
            running,
            agent: agent.clone(),
            output,
            stderr: spec.stderr,
            export,
        });
        Ok(id)
    }

    pub(super) fn await_agent(&mut self) -> Result<AgentEnd, Fault> {
        let RunningAgent {
            running,
            agent,
            output,
            stderr,
            export,
        } = self
            .running
            .take()
            .ok_or_else(|| Fault::internal_fault("There is no agent to wait for."))?;
        let OutsideParts { said, places, .. } = &self.parts;
        let audience = Audience {
            said,
            secrets: &self.secrets,
            workspace: &places.workspace,
        };
        let ended = output.shown_while(&audience, || end_of(running))?;
        let mut told = output.read_transcript()?;
        if let Some(spec) = export {
            told.used = self.export_session(spec, &stderr)?;
        }
        // Errors that the CLI recovered from do not count. An error that the CLI ends with may be
        // printed before its agent's last words.
        let since = if ended.end.is_at_time_limit() {
            ended.errors_before
        } else {
            0
        };
        let (stdout, stderr) = (read_tail(&output.stdout, 0), read_tail(&stderr, since));
        let mut used = told.used;
        let printed = if output.format.prints_events() {
            PrintedOutput {
                errors: told.errors,
                plain: &[],
                stderr: &stderr,
            }
        } else {
            let (printed, guessed) = PrintedOutput::guessed(&stdout, &stderr);
            if used == Usage::default() {
                used = guessed;
            }
            printed
        };
        let trouble = trouble(
            &ended.end,
            agent.preset.as_deref().and_then(Preset::named),
            &printed,
            clock::now(),
            clock::zone().as_ref(),
        );
        let own_words =
            Some(told.last_words).filter(|words| ended.end.is_success() && !words.is_empty());
        let last_words = own_words.unwrap_or_else(|| last_words(&ended.end, &printed));
        let end = self.secrets.of_end(trouble.unwrap_or(ended.end));
        let (end, quota) = self.note_limits(&agent, end, &told.quota);
        Ok(AgentEnd {
            claim: told.claim.map(|claim| self.secrets.of_claim(claim)),
            used: Some(used).filter(|used| *used != Usage::default()),
            last_words: self.secrets.redact(&last_words),
            only_talked: told.only_talked,
            end,
            quota,
            leftover_processes: ended.leftover_processes,
            millis: ended.millis,
        })
    }

    /// Has the CLI print the session that it named at its end. What was used in it.
    fn export_session(&mut self, mut spec: ProcessSpec, stderr: &Path) -> Result<Usage, Fault> {
        let mut used = Usage::default();
        let Some(session) = session_in(&String::from_utf8_lossy(&read_tail(stderr, 0))) else {
            return Ok(used);
        };
        for arg in &mut spec.argv {
            *arg = arg.replace("{session}", &session);
        }
        let ended = end_of(self.parts.supervisor.start(&spec)?)?;
        let mut is_told = false;
        if let Some(file) = if_there(fs_err::File::open(&spec.stdout))? {
            turn::read(spec.transcript, file, |event| {
                is_told |= matches!(event, TurnEvent::Session { .. });
                used.tell(&event);
            })?;
        }
        if is_told {
            self.turn_log
                .iter_mut()
                .for_each(|log| log.session = Some(spec.stdout.clone()));
        } else {
            let why = format!(
                "Its session could not be exported ({}): only its own footer reports failed edits.",
                ended.end
            );
            (self.parts.said)(&why);
        }
        Ok(used)
    }

    /// Returns the prompt that an agent would get, with a token that is not valid.
    pub fn preview_prompt(
        &self,
        order: &AgentOrder,
        role: Role,
        readings: &Readings,
    ) -> Result<String, Fault> {
        let own = own_template(&self.parts.places, role)?;
        Ok(render(
            own.as_deref(),
            role,
            &self.prompt_facts(order, readings, "0000")?,
        )?)
    }

    fn prompt_facts(
        &self,
        order: &AgentOrder,
        readings: &Readings,
        token: &str,
    ) -> Result<PromptFacts, Fault> {
        let OutsideParts {
            places, settings, ..
        } = &self.parts;
        let TaskText { above, own, work } = readings.task.clone();
        // A line without text, as in stages that ralph wrote, represents the work.
        let (task_text, implementation) = if own.is_empty() {
            (work, String::new())
        } else {
            (own, work)
        };
        let paths = |files: &[String]| files.iter().map(|file| self.real_path(file)).collect();
        let gate = settings.gates.get("PITEST");
        let mutating = settings.gates.values().filter(|gate| gate.run.is_none());
        Ok(PromptFacts {
            task: order.key.written_name(order.line),
            id: if order.key.has_id() {
                order.key.family.clone()
            } else {
                String::new()
            },
            task_text: if task_text.is_empty() {
                order.text.clone()
            } else {
                task_text
            },
            implementation,
            parents: above,
            stage: order.key.stage.stage_word().to_owned(),
            iteration: order.iteration,
            attempt: order.attempt,
            workspace: places.workspace.display().to_string(),
            spec: places.spec.display().to_string(),
            tasks_file: places.spec_name(),
            progress_file: places.display_path(&places.progress_file()),
            spec_files: self.spec_texts()?,
            reasons: order.reasons.clone(),
            findings: order.findings.clone(),
            may_change_tests: order.may_change_tests,
            // Agents write into it as they like.
            progress: self
                .secrets
                .redact(&String::from_utf8_lossy(&readings.progress)),
            progress_before: readings.progress_before,
            leftovers: paths(&order.leftovers),
            packages: self.prompt_packages(order),
            commit_by_ralph: settings.commit == CommitBy::Ralph,
            diff_file: places.diff_file().display().to_string(),
            changes: paths(&order.changes),
            build_settings: paths(&order.build_settings),
            verdict_wanted: order.key.stage.is_review(),
            verdict_token: token.to_owned(),
            validation_report: places.validation_file().display().to_string(),
            threshold: mutating.map(|gate| gate.threshold).max().unwrap_or(70),
            test_names: gate.map(|gate| gate.test_names.clone()).unwrap_or_default(),
        })
    }

    fn prompt_packages(&self, order: &AgentOrder) -> Vec<PromptPackage> {
        self.parts
            .repositories
            .package_names()
            .into_iter()
            .map(|name: String| {
                let base = match order.bases.get(&name) {
                    Some(base) if base.is_zero() => EMPTY_TREE.to_owned(),
                    base => base.map(ToString::to_string).unwrap_or_default(),
                };
                PromptPackage {
                    path: self.package_folder(&name),
                    name,
                    base,
                }
            })
            .collect()
    }

    /// A package's folder, from the agent's working directory.
    fn package_folder(&self, package: &str) -> String {
        let root = self.parts.repositories.package_root(package);
        let path = root
            .map(|root| self.parts.places.display_path(root))
            .unwrap_or_default();
        if path.is_empty() {
            ".".to_owned()
        } else {
            path
        }
    }

    /// Returns `<package>/<path>` as a path from the agent's working directory.
    ///
    /// It is quoted if the argument was.
    fn real_path(&self, file: &str) -> String {
        let (quote, bare) = file
            .strip_prefix('"')
            .map_or(("", file), |bare| ("\"", bare));
        let names = self.parts.repositories.package_names();
        let inside = names
            .iter()
            .find_map(|name| Some((name, bare.strip_prefix(name)?.strip_prefix('/')?)));
        match inside.map(|(name, path)| (self.package_folder(name), path)) {
            Some((folder, path)) if folder == "." => format!("{quote}{path}"),
            Some((folder, path)) => format!("{quote}{folder}/{path}"),
            None => file.to_owned(),
        }
    }

    /// Runs a check in these packages, in all if the list is empty.
    ///
    /// `None` when ralph's end cut it short.
    pub(super) fn run_check(
        &mut self,
        iteration: u64,
        check: Check,
        packages: &[String],
        since: u64,
    ) -> Result<Option<Event>, Fault> {
        let checks = &self.parts.settings.checks;
        let (argv, word) = (
            if check == Check::Red {
                &checks.red
            } else {
                &checks.green
            },
            check.word(),
        );
        let Some(argv) = argv else {
            let what = format!("The journal requires checks.{word}, which is not configured.");
            return Err(Fault::setup_fault(what, "restore it in .ralph/config.yaml"));
        };
        let argv = argv.clone();
        let Some(_slot) = self.take_heavy_slot()? else {
            return Ok(None);
        };
        let before = self.parts.repositories.take_snapshot()?;
        let names = if packages.is_empty() {
            self.parts.repositories.package_names()
        } else {
            packages.to_vec()
        };
        let names = names
            .into_iter()
            .map(|name| Ok((self.changed_beside(&name, since)?, name)));
        let names = names.collect::<Result<Vec<_>, Fault>>()?;
        let aside = self.iteration_folder(iteration)?.join("inputs");
        let (results, trespass) = self.run_guarded(&before, &aside, iteration, |world| {
            world.check_each(iteration, check, &argv, names)
        })?;
        Ok(results.map(|results| Event::Checked {
            check,
            results,
            tasks_changed: false,
            trespass,
        }))
    }

    /// The result of a check in each of these packages; `None` when ralph's end cut it short.
    fn check_each(
        &self,
        iteration: u64,
        check: Check,
        argv: &[String],
        packages: Vec<(Vec<RepoPath>, String)>,
    ) -> Result<Option<Vec<CheckResult>>, Fault> {
        let (checks, word) = (&self.parts.settings.checks, check.word());
        let folder = self.iteration_folder(iteration)?;
        let mut results = Vec::new();
        for (beside, package) in packages {
            let Some(root) = self.parts.repositories.package_root(&package) else {
                continue;
            };
            let log = folder.join(format!("check-{word}-{}.log", package.replace('/', "_")));
            let spec = ProcessSpec {
                argv: argv.to_vec(),
                env: self.command_environment(&checks.env),
                cwd: root.to_owned(),
                stdout: log.clone(),
                stderr: log.clone(),
                log_cap: LOG_CAP,
                wall: Some(self.parts.settings.limits.check),
                grace: GRACE,
                tag: self.iteration_tag(iteration),
                ..ProcessSpec::default()
            };
            let reports = TestReports::look_before(root, &checks.reports)?;
            let ended = end_of(self.parts.supervisor.start(&spec)?)?;
            if ended.end == ProcessEnd::Interrupted {
                return Ok(None);
            }
            let tail = self.secrets.last_lines(&log, 5);
            let end = self.secrets.of_end(ended.end);
            results.push(CheckResult {
                package,
                end,
                tail,
                tests: reports.read_written(),
                beside,
            });
        }
        Ok(Some(results))
    }
}

/// The call that prints an agent's session, in the agent's environment.
fn export_of(preset: &Preset, agent: &ProcessSpec, folder: &Path) -> ProcessSpec {
    let own = agent
        .argv
        .first()
        .filter(|program| program.rsplit('/').next() == Some(&preset.name));
    let program = own.cloned().unwrap_or_else(|| preset.name.clone());
    ProcessSpec {
        argv: [&[program], preset.transcript.as_slice()].concat(),
        env: agent.env.clone(),
        cwd: agent.cwd.clone(),
        stdout: folder.join("agent.session"),
        stderr: folder.join("agent.session.err"),
        log_cap: LOG_CAP,
        wall: Some(EXPORT),
        transcript: agent.transcript,
        grace: GRACE,
        tag: agent.tag.clone(),
        ..ProcessSpec::default()
    }
}

/// The name in the last line `session_id: …`.
fn session_in(stderr: &str) -> Option<String> {
    let name = stderr
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("session_id: "))?
        .trim();
    let has_only_safe = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let begins_safe = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (name.len() <= 100 && begins_safe && has_only_safe).then(|| name.to_owned())
}

/// Waits for an agent or a check; it may have killed its supervisor.
fn end_of(running: Box<dyn Running>) -> io::Result<FinishedProcess> {
    match running.wait() {
        // The disk and the like have kinds of their own; this one is a supervisor that was killed.
        Err(error) if error.kind() == ErrorKind::Other => {
            let end = ProcessEnd::Unsupervised {
                why: line(&error.to_string(), 400),
            };
            Ok(FinishedProcess::at_once(end))
        }
        ended => ended,
    }
}

fn no_agent(role: Role) -> Fault {
    Fault::setup_fault(
        format!("No agent is configured for the role {}.", role.word()),
        "name one under `agents:` in .ralph/config.yaml, for instance `default: {preset: claude}`",
    )
}
