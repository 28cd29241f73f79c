//! `ralph status --watch` in a real terminal, driven by tmux.

use super::project::{Done, Project, signal, wait_for};
use crate::support::needs::tests;
use ralph::sys::clock::Stopwatch;
use std::time::Duration;

/// A terminal with a shell in it, in the workspace.
pub(crate) struct Terminal<'a>(&'a Project);

impl<'a> Terminal<'a> {
    /// 100 columns, 30 rows.
    pub(crate) fn open(project: &'a Project) -> Self {
        let terminal = Self(project);
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            "env",
            "PS1=prompt> ",
            "sh",
        ]);
        terminal.waits_for("the prompt", |pane| pane.contains("prompt>"));
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Done {
        let mut tmux = self.0.program("tmux");
        tmux.env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.0.path(""));
        tmux.args(["-u", "-S", self.0.path("../tmux").to_str().unwrap()])
            .args(args);
        Project::finish(tmux).code(0)
    }

    fn pane(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).out
    }

    /// Returns the process for which the pane's shell waits.
    fn view(&self) -> i32 {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]).out;
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        fs_err::read_to_string(children)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    /// Resizes the window, and waits until the terminal has the new size.
    fn resizes(&self, columns: u16, rows: u16) {
        self.tmux(&[
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ]);
        let tty = self.tmux(&["display-message", "-p", "#{pane_tty}"]).out;
        wait_for("the size of the terminal", || {
            let mut stty = self.0.program("stty");
            stty.args(["-F", tty.trim(), "size"]);
            Project::finish(stty).code(0).out.trim() == format!("{rows} {columns}")
        });
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Types a command, and prints its exit code after `word`.
    pub(crate) fn runs(&self, command: &str, word: &str) {
        self.types(&format!("{command}; echo {word} $?"));
        self.tmux(&["send-keys", "Enter"]);
    }

    pub(crate) fn waits_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let watch = Stopwatch::start();
        loop {
            let pane = self.pane();
            if is_so(&pane) {
                return pane;
            }
            assert!(
                watch.elapsed() < Duration::from_secs(45),
                "waited in vain: {what}\n{pane}"
            );
        }
    }

    pub(crate) fn starts_watching(&self, word: &str) {
        self.runs(
            &format!("{} status --watch", env!("CARGO_BIN_EXE_ralph")),
            word,
        );
        self.waits_for("the view", |pane| pane.contains("q quit"));
    }

    /// Checks that the screen of the shell, with its cursor and its settings, is restored.
    fn is_as_it_was(&self, ended: &str, settings: &str) {
        let pane = self.waits_for("the prompt after the view", |pane| {
            pane.contains(ended) && pane.trim_end().ends_with("prompt>")
        });
        assert!(!pane.contains("q quit"), "{pane}");
        let flags = self.tmux(&[
            "display-message",
            "-p",
            "#{alternate_on} #{cursor_flag} #{mouse_any_flag}",
        ]);
        assert_eq!(flags.out, "0 1 0\n");
        assert_eq!(
            self.settings(ended.trim_end_matches(char::is_numeric).trim_end()),
            settings
        );
    }

    /// Returns the output of `stty` for the terminal.
    fn settings(&self, name: &str) -> String {
        let file = format!("stty-{name}");
        self.runs(&format!("stty -a > {file}"), "");
        wait_for("stty", || {
            self.0.has(&file) && self.0.read(&file).contains("echoke")
        });
        self.0.read(&file)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// An agent that waits in each task for the test.
const WAITS: &str = "1./1) echo 'hello from \u{1b}[31mone'; mkfifo go-1; touch started-1; cat go-1 > seen-1; as_usual ;;\n\
2./1) echo 'hello from two'; mkfifo go-2; touch started-2; cat go-2 > seen-2; as_usual ;;";

fn lets_go(project: &Project, task: u32) {
    wait_for("the agent waits", || {
        project.has(&format!("started-{task}"))
    });
    project.write(&format!("go-{task}"), "on\n");
}

fn a_running_loop_is_seen_live_and_the_terminal_is_given_back() {
    let project = Project::new("- [ ] 1. One\n- [ ] 1.LINT Judge\n- [ ] 2. Two\n");
    project.config(
        "gates:\n  LINT: {run: [sh, -c, 'until [ -e ../../judge ]; do sleep 0.05; done']}\n",
    );
    project.agent(WAITS);
    let terminal = Terminal::open(&project);
    let settings = terminal.settings("before");
    let mut run = project.start(&["run"]);
    // The shell must leave a view alone that is stopped below.
    terminal.runs("set +m", "");
    terminal.starts_watching("ended");
    let row = |pane: &str, id: &str, word: &str| {
        pane.lines()
            .any(|line| line.starts_with(id) && line.contains(word))
    };
    let pane = terminal.waits_for("the first stage runs", |pane| {
        row(pane, "1", "running")
            && pane.contains("hello from one")
            && pane.contains("now: task 1 agent, iteration 1")
    });
    assert!(pane.contains("gates: LINT: 1 open"), "{pane}");
    assert!(pane.contains("log of iteration 1: agent.out"), "{pane}");
    terminal.tmux(&["resize-window", "-x", "40", "-y", "10"]);
    terminal.waits_for("a small window", |pane| {
        !pane.contains("q quit") && row(pane, "1", "running")
    });
    terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.waits_for("the large window again", |pane| pane.contains("q quit"));
    // Text cut off meanwhile is lost, though the size is the same at the next look of the view.
    let view = terminal.view();
    assert!(signal(view, "STOP"));
    terminal.resizes(40, 10);
    terminal.resizes(100, 30);
    assert!(signal(view, "CONT"));
    terminal.waits_for("the window that was small for a moment", |pane| {
        pane.contains("q quit") && row(pane, "1", "running")
    });
    lets_go(&project, 1);
    let pane = terminal.waits_for("the gate's step", |pane| {
        pane.contains("log of iteration 2: gate.log")
    });
    assert!(pane.contains("Running LINT in app"), "{pane}");
    project.write("judge", "");
    let pane = terminal.waits_for("the tick, and the next stage", |pane| {
        row(pane, "1", "done") && row(pane, "1", "PASS") && row(pane, "2", "running")
    });
    assert!(
        pane.contains("2 of 3 boxes ticked") && pane.contains("gates: LINT: 1 PASS"),
        "{pane}"
    );
    lets_go(&project, 2);
    terminal.waits_for("the end of the run", |pane| {
        pane.contains("no run is active") && pane.contains("3 of 3 boxes ticked")
    });
    assert_eq!(run.wait().unwrap().code(), Some(0), "the run never noticed");
    terminal.types("q");
    terminal.is_as_it_was("ended 0", &settings);
}

fn a_signal_ends_the_view_and_gives_the_terminal_back() {
    let project = Project::new("- [ ] 1. One\n");
    let terminal = Terminal::open(&project);
    let settings = terminal.settings("before");
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        terminal.starts_watching(name);
        let is_watch = |pid: &i32| {
            let arguments = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            arguments.ends_with(b"status\0--watch\0")
        };
        let watch = project.processes().into_iter().find(is_watch).unwrap();
        assert!(signal(watch, name));
        terminal.is_as_it_was(&format!("{name} {code}"), &settings);
    }
    for key in ["Escape", "C-c"] {
        terminal.starts_watching(key);
        terminal.tmux(&["send-keys", key]);
        terminal.is_as_it_was(&format!("{key} 0"), &settings);
    }
    assert!(
        !project.has(".ralph/state"),
        "a look writes nothing, takes no lock"
    );
}

fn a_terminal_that_is_gone_ends_the_view() {
    let project = Project::new("- [ ] 1. One\n");
    let terminal = Terminal::open(&project);
    // A shell that outlives its terminal records the end. It ignores the signal, and so does the view.
    let watch = format!(
        "trap \"\" HUP; {} status --watch; echo $? > ended",
        env!("CARGO_BIN_EXE_ralph")
    );
    terminal.types(&format!("exec sh -c '{watch}'"));
    terminal.tmux(&["send-keys", "Enter"]);
    terminal.waits_for("the view", |pane| pane.contains("q quit"));
    drop(terminal);
    wait_for("the end of the view", || {
        project.has("ended") && project.read("ended") == "129\n"
    });
}

fn what_is_gone_or_wrong_is_said_as_long_as_it_is_so() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.ralph(&["run", "--once"]).code(5);
    let terminal = Terminal::open(&project);
    terminal.starts_watching("ended");
    let calm = |pane: &str| pane.contains("1 of 2 boxes ticked") && !pane.contains("trouble: ");
    terminal.waits_for("the board", calm);
    let moved = |what: &str, said: &str| {
        fs_err::rename(project.path(what), project.path("aside")).unwrap();
        terminal.waits_for(said, |pane| {
            pane.contains("trouble: ") && pane.contains(said)
        });
        fs_err::rename(project.path("aside"), project.path(what)).unwrap();
        terminal.waits_for("the board again", calm);
    };
    moved("tasks.md", "tasks.md: There is no such file.");
    moved(".ralph/state", "journal.jsonl is gone");
    moved(".ralph", "There is no .ralph/ in");
    let config = project.read(".ralph/config.yaml");
    project.write(".ralph/config.yaml", format!("{config}nonsense: 1\n"));
    terminal.waits_for("a wrong key", |pane| {
        pane.contains("trouble: ") && pane.contains("nonsense")
    });
    project.write(".ralph/config.yaml", format!("{config}on_blocked: next\n"));
    terminal.waits_for("the board again", calm);
    terminal.types("q");
}

fn a_run_is_gone_through_forth_and_back() {
    let project = Project::empty();
    let terminal = Terminal::open(&project);
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/demo.tar");
    terminal.runs(
        &format!(
            "{} replay --step --bundle {demo}",
            env!("CARGO_BIN_EXE_ralph")
        ),
        "ended",
    );
    terminal.waits_for("the first record", |pane| {
        pane.contains(" record 1 of ") && pane.contains("q quit")
    });
    terminal.types("n");
    terminal.waits_for("the second", |pane| {
        pane.contains(" record 2 of ") && pane.contains("decided  look at")
    });
    terminal.types("b");
    terminal.waits_for("the first again", |pane| pane.contains(" record 1 of "));
    terminal.types("/2.PITEST");
    terminal.waits_for("what is typed", |pane| pane.contains("task: 2.PITEST_"));
    terminal.tmux(&["send-keys", "Enter"]);
    terminal.waits_for("the gate", |pane| {
        pane.contains(" · 2.PITEST · ") && pane.contains("1 running")
    });
    terminal.types("q");
    terminal.waits_for("its end", |pane| pane.contains("ended 0"));
}

/// Returns the state of a process from `/proc`: `T` if stopped.
fn state(pid: i32) -> char {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().chars().next().unwrap()
}

fn ctrl_z_stops_all_that_an_agent_started_and_that_time_counts_nowhere() {
    let project = Project::new("- [ ] 1. One\n");
    let ralph = env!("CARGO_BIN_EXE_ralph");
    // A busy machine gets more time to begin and to stop.
    let watch = Stopwatch::start();
    let terminal = Terminal::open(&project);
    terminal.runs(&format!("{ralph} --version"), "said");
    terminal.waits_for("the version", |pane| pane.contains("said 0"));
    let attempt = 12 + 6 * watch.elapsed().as_secs().min(4);
    let wall = attempt + 2;
    project.config(&format!("limits: {{attempt: {attempt}s, wall: {wall}s}}\n"));
    project.agent(
        "1./1) setsid sh -c 'echo $$ > apart; exec sleep 1000' & echo $$ > own; until [ -e go ]; do sleep 0.05; done; as_usual ;;",
    );
    terminal.runs(&format!("{ralph} run --json"), "ended");
    let pid = |file: &str| project.read(file).trim().parse::<i32>().unwrap();
    wait_for("the agent", || {
        ["apart", "own"]
            .iter()
            .all(|file| project.has(file) && project.read(file).ends_with('\n'))
    });
    let (run, tree) = (terminal.view(), [pid("apart"), pid("own")]);
    terminal.tmux(&["send-keys", "C-z"]);
    wait_for("all of them to be stopped", || {
        [run, tree[0], tree[1]].iter().all(|pid| state(*pid) == 'T')
    });
    // Longer than both limits.
    let watch = Stopwatch::start();
    wait_for("the limits to be over", || {
        watch.elapsed() > Duration::from_secs(wall + 2)
    });
    assert_eq!(tree.map(state), ['T', 'T']);
    terminal.runs("fg", "went");
    wait_for("all of them to continue", || {
        tree.iter().all(|pid| state(*pid) != 'T')
    });
    project.write("go", "");
    terminal.waits_for("the end of the run", |pane| pane.contains("went 0"));
    assert_eq!(project.story(), ["1.=ACCEPTED"]);
    let ended = project
        .journal()
        .into_iter()
        .find(|line| line.contains("\"agent-ended\""))
        .unwrap();
    let ended: serde_json::Value = serde_json::from_str(&ended).unwrap();
    assert!(
        ended["r"]["e"]["millis"].as_u64().unwrap() < 1_000 * attempt,
        "{ended}"
    );
}

tests! {
    tmux: [
        ctrl_z_stops_all_that_an_agent_started_and_that_time_counts_nowhere,
        a_running_loop_is_seen_live_and_the_terminal_is_given_back,
        a_run_is_gone_through_forth_and_back,
        a_signal_ends_the_view_and_gives_the_terminal_back,
        a_terminal_that_is_gone_ends_the_view,
        what_is_gone_or_wrong_is_said_as_long_as_it_is_so,
    ]
}
