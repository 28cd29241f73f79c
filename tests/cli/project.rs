//! A workspace in its own directory: packages, tasks, a scripted agent, and calls of ralph in it.
//!
//! Owns: the environment in which ralph runs (cleared: no user's git settings, no CI's variables) and the queries of
//! tests about the files afterwards.
//!
//! Promises: no sleep; every wait is for a condition and has a deadline; nothing outlives the project.
//!
//! Refuses to know: the expected answers of ralph.

use assert_cmd::Command as Assert;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::Duration;
use tempfile::TempDir;

/// The functions that every scripted agent has, before its cases.
const PRELUDE: &str = r#"set -eu
cd "$RALPH_WORKSPACE"
cat > /dev/null
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=a@example.org
change() {   # package, file: changes it, does not commit
    case $2 in */*) mkdir -p "src/$1/${2%/*}" ;; esac
    echo "${RALPH_TASK:-$RALPH_STAGE} $RALPH_ITERATION" >> "src/$1/$2"
}
commit() {   # package, file
    change "$1" "$2"
    git -C "src/$1" add --all
    git -C "src/$1" commit --quiet --message "${RALPH_TASK:-$RALPH_STAGE} $RALPH_ITERATION"
}
verdict() {   # PASS, FAIL why, NOTHING-TO-DO why
    echo "RALPH-VERDICT $RALPH_VERDICT_TOKEN: $*"
}
tick_all() {
    sed 's/\[ \]/[x]/' tasks.md > tasks.new && mv tasks.new tasks.md
}
as_usual() {
    case $RALPH_STAGE in
    TEST-FIRST) commit app "src/test/${RALPH_TASK%%.*}.txt" ;;
    REQ-CHECK|PRE-CR) verdict PASS it is good ;;
    FINAL) printf '| R | Status |\n|---|---|\n| 1 | PASS |\n' > validation-report.md ;;
    *) commit app "src/main/${RALPH_TASK:-0}txt" ;;
    esac
}
# what the test wants of TASK/ATTEMPT, else what a good agent does
case ${RALPH_TASK:-$RALPH_STAGE}/$RALPH_ATTEMPT in
"#;

/// The result of a call of ralph.
pub(crate) struct Done {
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Done {
    /// Checks the exit code. On a mismatch the test fails and shows everything.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(
            self.code, expected,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }

    /// Returns standard output as JSON lines.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.out
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

/// Creates new temporary directories in memory if there is enough room, and programs may run there.
///
/// Tests create and remove many small files, which takes twice as much of the system's time on a disk.
pub(crate) fn use_memory() {
    static MEMORY: Once = Once::new();
    MEMORY.call_once(|| {
        let memory = Path::new("/dev/shm");
        if has_room(memory) {
            tempfile::env::override_temp_dir(memory).unwrap();
        }
    });
}

#[cfg(target_os = "linux")]
fn has_room(memory: &Path) -> bool {
    use nix::sys::statvfs::{FsFlags, statvfs};
    statvfs(memory).is_ok_and(|found| {
        let free = found.blocks_available() * found.fragment_size();
        free >= 8 << 30 && !found.flags().contains(FsFlags::ST_NOEXEC)
    })
}

/// Other systems have no file system in memory at this path.
#[cfg(not(target_os = "linux"))]
fn has_room(_: &Path) -> bool {
    false
}

/// A workspace.
pub(crate) struct Project(TempDir);

impl Project {
    /// Returns a package `app` with one commit, these tasks, and an agent that does everything right.
    pub(crate) fn new(tasks: impl AsRef<[u8]>) -> Self {
        let project = Self::empty();
        project.package("src/app");
        project.write("tasks.md", tasks);
        project.config("");
        project.agent("");
        project
    }

    /// Returns an empty directory.
    pub(crate) fn empty() -> Self {
        use_memory();
        let project = Self(TempDir::with_prefix("ralph-cli-").unwrap());
        fs_err::create_dir_all(project.path("")).unwrap();
        fs_err::create_dir_all(project.home()).unwrap();
        project
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// Returns a path in the workspace.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.path().join("ws").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Returns the bytes of a file.
    #[track_caller]
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs_err::read(self.path(path)).unwrap()
    }

    /// Returns the text of a file.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// True if the path exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// Creates a repository with one commit.
    pub(crate) fn package(&self, folder: &str) {
        self.write(&format!("{folder}/README.md"), "a package\n");
        self.git(folder, &["init", "--quiet", "--initial-branch", "main"]);
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--message", "start"]);
    }

    /// Writes the configuration: the scripted agent, and this text.
    pub(crate) fn config(&self, more: &str) {
        let agent = "agents:\n  default: {command: [sh, agent.sh]}\n";
        self.write(".ralph/config.yaml", format!("{agent}{more}"));
    }

    /// Writes the agent as cases of `TASK/ATTEMPT` (`1./1) tick_all ;;`). Everything else is as usual.
    pub(crate) fn agent(&self, cases: &str) {
        self.write(
            "agent.sh",
            format!("{PRELUDE}{cases}\n*) as_usual ;;\nesac\n"),
        );
    }

    /// Writes a user's program that is first on the PATH: a shell script, with the workspace in `$ws`.
    pub(crate) fn tool(&self, name: &str, script: &str) {
        let bin = self.home().join("bin");
        fs_err::create_dir_all(&bin).unwrap();
        let ws = self.path("");
        fs_err::write(
            bin.join(name),
            format!("#!/bin/sh\nws={}\n{script}\n", ws.display()),
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(bin.join(name), mode).unwrap();
    }

    /// Builds a call of ralph in the workspace, with a cleared environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_ralph"));
        command.args(args).current_dir(self.path(""));
        command
    }

    /// Builds a call of a program with a cleared environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests start programs, with an environment of their own"
    )]
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.home());
        let own = self.home().join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).unwrap();
        // As root Claude Code needs it, and the tests may run as root.
        command
            .env("TMPDIR", self.home())
            .env("PATH", path)
            .env("IS_SANDBOX", "1");
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Test")
                .env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        command
    }

    /// Returns the screen of a verb at a terminal after these keys.
    pub(crate) fn at_terminal(&self, verb: &str, keys: &str) -> String {
        // `script` gives the program a terminal, whose keys come through its standard input.
        let mut script = self.program("script");
        script.args([
            "-qec",
            &format!("{} {verb}", env!("CARGO_BIN_EXE_ralph")),
            "/dev/null",
        ]);
        script.current_dir(self.path(""));
        let mut assert = assert_cmd::Command::from_std(script);
        let output = assert
            .write_stdin(keys)
            .timeout(Duration::from_secs(30))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Calls ralph and waits at most a minute for its end.
    #[track_caller]
    pub(crate) fn ralph(&self, args: &[&str]) -> Done {
        Self::finish(self.command(args))
    }

    /// Waits at most a minute for a program's end.
    #[track_caller]
    pub(crate) fn finish(command: Command) -> Done {
        Self::finish_within(command, 60)
    }

    /// Waits at most `seconds` for a program's end.
    #[track_caller]
    pub(crate) fn finish_within(command: Command, seconds: u64) -> Done {
        let output = Assert::from_std(command)
            .timeout(Duration::from_secs(seconds))
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        Done {
            code: output.status.code().unwrap_or(-1),
            out,
            err,
        }
    }

    /// Starts ralph without waiting, and discards its output.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Returns the standard output of git, without the line end.
    #[track_caller]
    pub(crate) fn git(&self, folder: &str, args: &[&str]) -> String {
        let mut git = self.program("git");
        git.args(args).current_dir(self.path(folder));
        let done = Self::finish(git);
        assert_eq!(done.code, 0, "git {args:?}: {}", done.err);
        done.out.trim_end().to_owned()
    }

    /// Returns HEAD of `app`.
    pub(crate) fn head(&self) -> String {
        self.git("src/app", &["rev-parse", "HEAD"])
    }

    /// Returns ralph's entries in progress.txt.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        if self.has("progress.txt") {
            entries(&self.read("progress.txt"))
        } else {
            Vec::new()
        }
    }

    /// Returns the entry of an iteration, which must exist exactly once.
    #[track_caller]
    pub(crate) fn entry(&self, iteration: u64) -> Entry {
        let found: Vec<_> = self
            .entries()
            .into_iter()
            .filter(|entry| entry.iteration == iteration)
            .collect();
        assert_eq!(found.len(), 1, "{}", self.read("progress.txt"));
        found.into_iter().next().unwrap()
    }

    /// Returns the result of each iteration in order: `1.=ACCEPTED` and so on.
    pub(crate) fn story(&self) -> Vec<String> {
        self.entries()
            .iter()
            .map(|entry| format!("{}={}", entry.task, entry.headline))
            .collect()
    }

    /// Returns living processes that ralph started in this workspace, or that run in it.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = self.0.path().to_str().unwrap().to_owned().into_bytes();
        let mut found = Vec::new();
        for entry in fs_err::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let environment = fs_err::read(entry.path().join("environ")).unwrap_or_default();
            if environment.windows(mark.len()).any(|window| window == mark) {
                found.push(pid);
            }
        }
        found
    }

    /// Returns the complete lines of the journal.
    pub(crate) fn journal(&self) -> Vec<String> {
        let path = ".ralph/state/journal.jsonl";
        if !self.has(path) {
            return Vec::new();
        }
        let mut bytes = self.bytes(path);
        // A line that crosses a page of memory appears in two parts, and a process that is killed between them leaves the first.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Returns every file below the workspace with its bytes, without git's directories.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut open = vec![self.path("")];
        let mut found = BTreeMap::new();
        while let Some(folder) = open.pop() {
            for entry in fs_err::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.insert(path.clone(), fs_err::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// Returns a text without this project's directories and times, for snapshots.
    pub(crate) fn redacted(&self, text: &str) -> String {
        text.replace(
            self.path("").to_str().unwrap().trim_end_matches('/'),
            "<ws>",
        )
        .replace(self.0.path().to_str().unwrap(), "<dir>")
    }
}

impl Drop for Project {
    /// Kills the processes of a failed test.
    fn drop(&mut self) {
        for pid in self.processes() {
            signal(pid, "KILL");
        }
    }
}

/// ralph's entry in progress.txt.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) iteration: u64,
    pub(crate) task: String,
    /// The first 8 digits of a record's hash.
    pub(crate) tag: String,
    /// The line after the heading.
    pub(crate) headline: String,
    /// The lines after that.
    pub(crate) lines: String,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for line in text.lines() {
        let heading = line
            .strip_prefix("## ")
            .and_then(|rest| rest.split_once(" iteration "));
        if let Some((_, rest)) = heading {
            let mut parts = rest.split(" · ");
            let mut next = || parts.next().unwrap().to_owned();
            let iteration = next().parse().unwrap();
            let (task, tag) = (next(), next());
            found.push(Entry {
                iteration,
                task,
                tag,
                headline: String::new(),
                lines: String::new(),
            });
        } else if let Some(entry) = found.last_mut() {
            if entry.headline.is_empty() {
                line.clone_into(&mut entry.headline);
            } else {
                entry.lines.push_str(line);
                entry.lines.push('\n');
            }
        }
    }
    found
}

/// Waits for a condition, or fails.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let watch = ralph::sys::clock::Stopwatch::start();
    while !is_so() {
        assert!(
            watch.elapsed() < Duration::from_secs(45),
            "waited in vain: {what}"
        );
        std::thread::park_timeout(Duration::from_millis(3));
    }
}

/// Sends a signal; false without such a process.
pub(crate) fn signal(pid: i32, name: &str) -> bool {
    let name: nix::sys::signal::Signal = format!("SIG{name}").parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), name).is_ok()
}
