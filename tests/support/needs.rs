//! Tests that can run only where something is there, and the list of them that the second test binary runs.
//!
//! A test is in the quick tier, or with `deep` in the deep one: `cargo test` skips it, `--include-ignored` runs both tiers,
//! and `--ignored` the deep one alone.

use libtest_mimic::{Completion, Failed, Trial};
use ralph::sys::clock::Stopwatch;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Why a test cannot run here; `None` where it can.
pub(crate) type Need = fn() -> Option<Missing>;

/// What is missing.
pub(crate) enum Missing {
    /// Programs that can be installed, so that CI has them.
    Programs(String),
    /// What no installation gives.
    Other(&'static str),
}

/// Maven, Java and its compiler.
pub(crate) fn maven() -> Option<Missing> {
    programs(&["mvn", "java", "javac"])
}

/// The same, and Gradle.
pub(crate) fn gradle() -> Option<Missing> {
    programs(&["gradle", "mvn", "java", "javac"])
}

/// What `benches/shapes.sh` calls.
pub(crate) fn shapes() -> Option<Missing> {
    programs(&["mvn", "java", "javac", "bash", "git", "python3"])
}

/// Python and Node, with what installs packages for them.
pub(crate) fn scripts() -> Option<Missing> {
    programs(&["python3", "node", "npm"])
}

/// cargo-mutants, which takes minutes to build: CI does it where it is absent.
pub(crate) fn cargo_mutants() -> Option<Missing> {
    let is_there = super::tools::is_installed(crate::gate::files::CARGO_MUTANTS)
        || std::env::var_os("CI").is_some_and(|ci| ci == "true");
    (!is_there).then_some(Missing::Other(
        "CI=true builds cargo-mutants for the tests, which takes minutes",
    ))
}

/// What installs the CLIs of agents, which are programs for this processor.
pub(crate) fn npm() -> Option<Missing> {
    if !cfg!(target_arch = "x86_64") {
        return Some(Missing::Other("the CLIs are those for x86_64"));
    }
    programs(&["npm", "node"])
}

/// The same, and a terminal.
pub(crate) fn npm_and_tmux() -> Option<Missing> {
    npm().or_else(tmux)
}

/// A person names the CLIs, as `benches/agents.sh` does.
pub(crate) fn asked_for() -> Option<Missing> {
    match std::env::var_os("RALPH_CLIS") {
        None => Some(Missing::Other(
            "RALPH_CLIS names no CLI (benches/agents.sh)",
        )),
        Some(_) => npm(),
    }
}

/// A compiler for C, and glibc.
pub(crate) fn compiler() -> Option<Missing> {
    if !cfg!(target_env = "gnu") {
        return Some(Missing::Other("the library that kills is one for glibc"));
    }
    programs(&["cc"])
}

/// The server that git brings along.
pub(crate) fn git_daemon() -> Option<Missing> {
    let folder = assert_cmd::Command::new("git")
        .arg("--exec-path")
        .output()
        .unwrap()
        .stdout;
    let daemon = Path::new(String::from_utf8(folder).unwrap().trim()).join("git-daemon");
    (!daemon.is_file()).then(|| Missing::Programs("git has no git-daemon here".to_owned()))
}

/// The client that sends messages over HTTP.
pub(crate) fn curl() -> Option<Missing> {
    programs(&["curl"])
}

/// A terminal that can be scripted.
pub(crate) fn tmux() -> Option<Missing> {
    programs(&["tmux"])
}

/// The right to give a file away.
pub(crate) fn root() -> Option<Missing> {
    (!nix::unistd::geteuid().is_root())
        .then_some(Missing::Other("only root can give a folder away"))
}

/// Real task files; see `tests/taskfiles/corpus.rs`.
pub(crate) fn corpus() -> Option<Missing> {
    let is_there = corpus_folder().is_dir();
    assert!(
        is_there || std::env::var_os(CORPUS).is_none(),
        "RALPH_CORPUS names no folder"
    );
    (!is_there).then_some(Missing::Other(
        "RALPH_CORPUS names no folder of real task files",
    ))
}

const CORPUS: &str = "RALPH_CORPUS";

/// The folder that `RALPH_CORPUS` names, else the one beside this repository.
pub(crate) fn corpus_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/taskfiles");
    std::env::var_os(CORPUS).map_or_else(beside, PathBuf::from)
}

/// No more than every test needs.
pub(crate) fn nothing() -> Option<Missing> {
    None
}

fn programs(names: &[&str]) -> Option<Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| {
        std::env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file())
    };
    let missing: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !is_there(name))
        .collect();
    (!missing.is_empty())
        .then(|| Missing::Programs(format!("not on the PATH: {}", missing.join(", "))))
}

/// How long each test took that came to its end.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// Prints the ten slowest tests.
pub(crate) fn print_slowest() {
    let mut times = std::mem::take(&mut *TIMES.lock().unwrap());
    times.sort_unstable();
    for (time, name) in times.iter().rev().take(10) {
        println!("{:7.1} s  {name}", time.as_secs_f64());
    }
}

/// The test; where it cannot run it counts as ignored, or fails in CI when what is missing can be installed.
pub(crate) fn trial(need: Need, is_deep: bool, module: &str, name: &str, test: fn()) -> Trial {
    let (_, module) = module.split_once("::").unwrap();
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    let name = format!("{module}::{name}");
    Trial::ignorable_test(name.clone(), move || match need() {
        None => {
            let watch = Stopwatch::start();
            test();
            TIMES.lock().unwrap().push((watch.elapsed(), name));
            Ok(Completion::Completed)
        }
        Some(Missing::Programs(why)) if in_ci => Err(Failed::from(why)),
        Some(Missing::Programs(why)) => Ok(Completion::ignored_with(why)),
        Some(Missing::Other(why)) => Ok(Completion::ignored_with(why)),
    })
    .with_ignored_flag(is_deep)
}

/// The tests of a module, with what they need, and `deep` for those of the deep tier. A test that is not listed is dead
/// code, which the lints refuse.
macro_rules! tests {
    (@is_deep) => { false };
    (@is_deep deep) => { true };
    ($($need:ident $($deep:ident)?: [$($test:ident,)+])+) => {
        /// The tests of this module.
        pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
            use $crate::support::needs;
            let mut all = Vec::new();
            $(
                let is_deep = needs::tests!(@is_deep $($deep)?);
                all.extend([
                    $(needs::trial(needs::$need, is_deep, module_path!(), stringify!($test), $test),)+
                ]);
            )+
            all
        }
    };
}
pub(crate) use tests;
