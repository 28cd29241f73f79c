//! The loops of lanes as processes: this program, or the command of `lanes.command`.

use super::offers::has_work;
use super::records::Records;
use super::{LANE, LANE_OF, MAX_RUNS, Outside};
use crate::config::ROOT_VARIABLE;
use crate::engine::Fault;
use crate::engine::outside::{AFTER_RESULT, GRACE, LOG_CAP};
use crate::machine::effect::LaneOrder;
use crate::machine::facts::ProcessEnd;
use crate::source::text::line;
use crate::sys::itself::own_program;
use crate::sys::lock::Lock;
use crate::sys::{ProcessSpec, Spawn as _};
use std::thread;

/// Exit codes from here on are no end of a loop: another process holds the lane, the disk failed, a signal.
const BUSY: i32 = 70;
/// The variable that names the task file.
const SPEC: &str = "RALPH_SPEC";
/// Lines of its log that a lane without work shows.
const LINES: usize = 5;

/// The end of a lane's processes.
pub(super) enum LaneEnd {
    /// `lanes.setup` failed, and nothing else ran.
    NotSetUp(ProcessEnd),
    /// Its loop ended.
    Loop(ProcessEnd),
}

impl Outside {
    /// Notes which lanes have ended.
    pub(super) fn reap_lanes(&mut self, records: &mut Records) -> Result<(), Fault> {
        let ended: Vec<u32> = self
            .lanes
            .running
            .iter()
            .filter(|(_, thread)| thread.is_finished())
            .map(|(number, _)| *number)
            .collect();
        ended
            .into_iter()
            .try_for_each(|number| self.join_lane(number, records))
    }

    /// Stops the loops of lanes that still run, and returns after the last of their processes. The next run continues them.
    pub(in crate::engine::outside) fn stop_lanes(&mut self) -> Result<(), Fault> {
        let numbers: Vec<u32> = self.lanes.running.keys().copied().collect();
        if numbers.is_empty() {
            return Ok(());
        }
        for (number, thread) in &self.lanes.running {
            if !thread.is_finished() {
                (self.parts.said)(&format!("lane {number} stops; the next run continues it"));
            }
        }
        // A second interrupt would kill them.
        if self.parts.interrupts.first().is_none() {
            self.parts.interrupts.interrupt();
        }
        let mut records = Records::open(&self.lanes_folder())?;
        numbers
            .into_iter()
            .try_for_each(|number| self.join_lane(number, &mut records))
    }

    /// Waits for the end of a lane's loop, and notes it.
    fn join_lane(&mut self, number: u32, records: &mut Records) -> Result<(), Fault> {
        let Some(thread) = self.lanes.running.remove(&number) else {
            return Ok(());
        };
        let end = thread
            .join()
            .map_err(|_| Fault::internal_fault("The thread of a lane panicked."))?;
        match end {
            Ok(LaneEnd::NotSetUp(end)) if end != ProcessEnd::Interrupted => {
                return Err(self.setup_fault(number, &end, &records.log(number)));
            }
            Ok(LaneEnd::Loop(ProcessEnd::NotStarted { why })) => {
                return Err(Fault::setup_fault(
                    format!(
                        "{} does not start: {why}",
                        self.shown_command(number, records)
                    ),
                    "fix lanes.command in .ralph/config.yaml, or remove it to run lanes on this machine",
                ));
            }
            Ok(LaneEnd::Loop(end)) if end != ProcessEnd::Interrupted => {
                // One that was killed is started again, so often.
                let is_over = matches!(end, ProcessEnd::Exited { code } if code < BUSY)
                    || records.lane(number).runs >= MAX_RUNS;
                if is_over {
                    self.say_end(number, &end, records);
                    records.note_end(number)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports a lane that did not end well. Main does what it did not.
    fn say_end(&self, number: u32, end: &ProcessEnd, records: &Records) {
        let spec = self.parts.places.spec_name();
        let is_elsewhere = self.parts.settings.lanes.command.is_some();
        let has_work = has_work(&records.folder(number), &spec);
        if end.is_success() && (has_work || !is_elsewhere) {
            return;
        }
        let log = records.log(number);
        let why = self.secrets.last_lines(&log, LINES);
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(" Its last lines: {why}")
        };
        let what = if has_work {
            format!(
                "lane {number} did not finish: {} {end}.",
                self.shown_command(number, records)
            )
        } else {
            format!(
                "lane {number} has no accepted work: {} {end}.",
                self.shown_command(number, records)
            )
        };
        (self.parts.said)(&format!("{what}{why}"));
    }

    /// The command of a lane for a message.
    fn shown_command(&self, number: u32, records: &Records) -> String {
        let ids = records.lane(number).names.join(",");
        let folder = records.folder(number);
        let lanes = &self.parts.settings.lanes;
        match lanes.command_of(number, &folder.to_string_lossy(), &ids) {
            Some(argv) => {
                let command = self.secrets.redact(&argv.join(" "));
                format!("lanes.command: `{}`", line(&command, 400))
            }
            None => format!("`ralph run --only {ids}`"),
        }
    }

    /// Starts the loop of a lane, under supervision like every process.
    pub(super) fn start_lane(
        &mut self,
        number: u32,
        order: &LaneOrder,
        records: &mut Records,
    ) -> Result<(), Fault> {
        let folder = records.folder(number);
        let places = &self.parts.places;
        let mut spec_folder = places.display_path(&places.spec);
        if spec_folder.is_empty() {
            ".".clone_into(&mut spec_folder);
        }
        let log = records.log(number);
        let ids = records.lane(number).names.join(",");
        let shown_folder = folder.to_string_lossy().into_owned();
        let lanes = &self.parts.settings.lanes;
        let command = lanes.command_of(number, &shown_folder, &ids);
        let mut own = vec![
            (LANE, number.to_string()),
            (LANE_OF, places.workspace.to_string_lossy().into_owned()),
        ];
        if command.is_some() {
            // Those of main would lead the loop into main.
            own.extend([
                (ROOT_VARIABLE, shown_folder.clone()),
                (SPEC, spec_folder.clone()),
            ]);
        }
        let argv = command.unwrap_or_else(|| {
            let program = own_program();
            let own = [
                &program.to_string_lossy(),
                "--root",
                &shown_folder,
                "--spec",
                &spec_folder,
                "run",
                "--only",
                &ids,
            ];
            own.map(str::to_owned).to_vec()
        });
        let mut env = self.parts.environment.clone();
        env.retain(|(variable, _)| own.iter().all(|(name, _)| variable != name));
        env.extend(
            own.into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        if let Some(micros) = order.most.micros {
            let dollars = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            env.push(("RALPH_LIMITS_COST_RUN".to_owned(), dollars));
        }
        if let Some(tokens) = order.most.tokens {
            env.push(("RALPH_LIMITS_TOKENS_RUN".to_owned(), tokens.to_string()));
        }
        let spec = ProcessSpec {
            argv,
            env,
            cwd: folder,
            stdout: log.clone(),
            stderr: log,
            log_cap: LOG_CAP,
            wall: Some(self.wall_left()),
            grace: GRACE + AFTER_RESULT,
            tag: format!("{}-lane-{number}", self.tag),
            ..ProcessSpec::default()
        };
        let setup = self.setup_of(number, &spec);
        records.note_start(number)?;
        let supervisor = self.parts.supervisor.clone();
        let held = records.lock(number);
        let running = thread::spawn(move || {
            // `ralph lanes` sees this lock of main also if the loop is on another machine.
            let _held = Lock::try_take(&held)?;
            if let Some(setup) = setup {
                let end = supervisor.run(&setup)?.end;
                if !end.is_success() {
                    return Ok(LaneEnd::NotSetUp(end));
                }
            }
            Ok(LaneEnd::Loop(supervisor.run(&spec)?.end))
        });
        self.lanes.has_started = true;
        self.lanes.running.insert(number, running);
        Ok(())
    }
}
