//! A small `Spawn` directly over `std::process`: no supervision beyond a process group and a wall limit.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use ralph::machine::facts::ProcessEnd;
use ralph::sys::{FinishedProcess, ProcessId, ProcessSpec, Running, Spawn};
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

pub(crate) struct DirectSpawn;

struct Direct {
    child: Result<Child, String>,
    wall: Option<Duration>,
    began: Instant,
}

impl Spawn for DirectSpawn {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test double of the owner of processes and clocks"
    )]
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>> {
        let log = File::create(&spec.stdout)?;
        let mut command = Command::new(&spec.argv[0]);
        command
            .args(&spec.argv[1..])
            .env_clear()
            .envs(spec.env.iter().cloned())
            .env("RALPH_TAG", &spec.tag)
            .current_dir(&spec.cwd)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        let child = command.spawn().map_err(|error| error.to_string());
        Ok(Box::new(Direct {
            child,
            wall: spec.wall,
            began: Instant::now(),
        }))
    }
}

impl Running for Direct {
    fn id(&self) -> ProcessId {
        let pid = self
            .child
            .as_ref()
            .map_or(0, |child| i32::try_from(child.id()).unwrap());
        ProcessId { pid, started: 0 }
    }

    fn wait(self: Box<Self>) -> io::Result<FinishedProcess> {
        let Self { child, wall, began } = *self;
        let ended = |end| FinishedProcess {
            millis: u64::try_from(began.elapsed().as_millis()).unwrap(),
            ..FinishedProcess::at_once(end)
        };
        let mut child = match child {
            Ok(child) => child,
            Err(why) => return Ok(ended(ProcessEnd::NotStarted { why })),
        };
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let (done, over) = channel::<()>();
        let watch = std::thread::spawn(move || {
            let wall = wall.unwrap_or(Duration::from_secs(3_600));
            let timed_out = over.recv_timeout(wall).is_err();
            if timed_out {
                let _ = killpg(group, Signal::SIGKILL);
            }
            timed_out
        });
        let status = child.wait()?;
        let _ = done.send(());
        let timed_out = watch.join().unwrap();
        let _ = killpg(group, Signal::SIGKILL);
        Ok(ended(match (timed_out, status.code(), status.signal()) {
            (true, ..) => ProcessEnd::TimedOut {
                seconds: wall.unwrap_or_default().as_secs(),
            },
            (false, Some(code), _) => ProcessEnd::Exited { code },
            (false, None, signal) => ProcessEnd::Signalled {
                signal: signal.unwrap_or(0),
            },
        }))
    }
}
