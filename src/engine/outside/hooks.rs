//! Hooks: the commands of `hooks:`, which ralph calls with a message as their input.

use super::Outside;
use crate::engine::Fault;
use crate::machine::facts::ProcessEnd;
use crate::sys::disk::RealDisk;
use crate::sys::{Disk as _, ProcessSpec, Spawn as _};
use std::io;
use std::time::Duration;

impl Outside {
    /// Passes the head of the journal's chain to `hooks.anchor`; false without such a hook.
    ///
    /// Errors: the command did not accept it.
    pub fn anchor_head(&mut self, head: &str) -> Result<bool, Fault> {
        let message = serde_json::json!({ "event": "anchor", "head": head });
        let end = match self.guard_hook("anchor", |world: &Self| {
            world.call_hook("anchor", &message, |argument| {
                argument.replace("{head}", head)
            })
        })? {
            None => return Ok(false),
            Some(Ok(end)) if end.is_success() => return Ok(true),
            Some(Ok(end)) => end.to_string(),
            Some(Err(error)) => format!("could not be called: {error}"),
        };
        let what = format!(
            "The command of hooks.anchor {end}, so the chain's head {head} was saved nowhere else."
        );
        Err(Fault::setup_fault(
            what,
            "see .ralph/state/on/anchor.log; the next run hands on its own head",
        ))
    }

    /// Runs the command of an event with a message as its input.
    ///
    /// `fill` makes each argument. `None` if no command is configured.
    pub(super) fn call_hook(
        &self,
        event: &str,
        message: &serde_json::Value,
        fill: impl Fn(&String) -> String,
    ) -> Option<io::Result<ProcessEnd>> {
        let hooks = &self.parts.settings.hooks;
        let mut commands = hooks.commands().filter(|_| self.lane_of().is_none());
        let (_, argv) = commands.find(|(name, _)| *name == event)?;
        let argv = argv.iter().map(fill).collect();
        Some(self.run_hook(event, argv, message))
    }

    fn run_hook(
        &self,
        event: &str,
        argv: Vec<String>,
        message: &serde_json::Value,
    ) -> io::Result<ProcessEnd> {
        let folder = self.own_folder(self.parts.places.state_folder().join("on"))?;
        let input = folder.join(format!("{event}.json"));
        RealDisk::new().write(&input, format!("{message}\n").as_bytes())?;
        let spec = ProcessSpec {
            argv,
            env: self.command_environment(&self.parts.settings.hooks.env),
            cwd: self.parts.places.workspace.clone(),
            stdin: Some(input.into()),
            stdout: folder.join(format!("{event}.log")),
            stderr: folder.join(format!("{event}.log")),
            log_cap: 1 << 20,
            wall: Some(Duration::from_secs(30)),
            grace: Duration::from_secs(1),
            tag: format!("{}-on", self.tag),
            ..ProcessSpec::default()
        };
        Ok(self.parts.supervisor.run(&spec)?.end)
    }
}
