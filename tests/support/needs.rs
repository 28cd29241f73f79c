//! Tests that need programs or files, and the list of them that the second test binary runs.
//!
//! A test is in the quick tier, or with `deep` in the deep one: `cargo test` skips it, `--include-ignored` runs both
//! tiers, and `--ignored` the deep one alone.

use libtest_mimic::{Completion, Failed, Trial};
use ralph::sys::clock::Stopwatch;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Returns why a test cannot run here; `None` if it can.
pub(crate) type Need = fn() -> Option<Missing>;

/// A missing requirement.
pub(crate) enum Missing {
    /// Programs that can be installed, so that CI has them.
    Programs(String),
    /// A requirement that no installation can satisfy.
    Other(&'static str),
}

/// Needs Maven, Java and its compiler.
pub(crate) fn maven() -> Option<Missing> {
    programs(&["mvn", "java", "javac"])
}

/// Needs the same, and Gradle.
pub(crate) fn gradle() -> Option<Missing> {
    programs(&["gradle", "mvn", "java", "javac"])
}

/// Needs the programs of `benches/shapes.sh`.
pub(crate) fn shapes() -> Option<Missing> {
    programs(&["mvn", "java", "javac", "bash", "git", "python3"])
}

/// Needs Python and Node with their package installers.
pub(crate) fn scripts() -> Option<Missing> {
    programs(&["python3", "node", "npm"])
}

/// Needs what runs workflows of CI on this machine: their installers, and rsync.
pub(crate) fn runners() -> Option<Missing> {
    if !cfg!(target_arch = "x86_64") {
        return Some(Missing::Other("the runner of workflows is one for x86_64"));
    }
    programs(&["python3", "node", "npm", "rsync"])
}

/// Needs cargo-mutants, which takes minutes to build: CI builds it if it is missing.
pub(crate) fn cargo_mutants() -> Option<Missing> {
    let is_there = super::tools::is_installed(crate::gate::files::CARGO_MUTANTS)
        || std::env::var_os("CI").is_some_and(|ci| ci == "true");
    (!is_there).then_some(Missing::Other(
        "CI=true builds cargo-mutants for the tests, which takes minutes",
    ))
}

/// Needs the installer for CLIs of agents, which are programs for this processor.
pub(crate) fn npm() -> Option<Missing> {
    if !cfg!(target_arch = "x86_64") {
        return Some(Missing::Other("the CLIs are those for x86_64"));
    }
    programs(&["npm", "node"])
}

/// Needs the same, and a terminal.
pub(crate) fn npm_and_tmux() -> Option<Missing> {
    npm().or_else(tmux)
}

/// Needs the daemons of Slurm, which are below `/usr/sbin`, and its client.
pub(crate) fn slurm() -> Option<Missing> {
    let daemons = ["slurmctld", "slurmd"].map(|name| Path::new("/usr/sbin").join(name));
    if daemons.iter().all(|daemon| daemon.is_file()) {
        return programs(&["srun"]);
    }
    Some(Missing::Programs(
        "not in /usr/sbin: slurmctld, slurmd".to_owned(),
    ))
}

/// Needs names of CLIs from the user, as `benches/agents.sh` sets them.
pub(crate) fn asked_for() -> Option<Missing> {
    match std::env::var_os("RALPH_CLIS") {
        None => Some(Missing::Other(
            "RALPH_CLIS names no CLI (benches/agents.sh)",
        )),
        Some(_) => npm(),
    }
}

/// Needs a compiler for C, and glibc.
pub(crate) fn compiler() -> Option<Missing> {
    if !cfg!(target_env = "gnu") {
        return Some(Missing::Other("the library that kills is one for glibc"));
    }
    programs(&["cc"])
}

/// Needs the client that sends messages over HTTP.
pub(crate) fn curl() -> Option<Missing> {
    programs(&["curl"])
}

/// Needs a terminal that can be scripted.
pub(crate) fn tmux() -> Option<Missing> {
    programs(&["tmux"])
}

/// Needs the right to change a file's owner.
pub(crate) fn root() -> Option<Missing> {
    (!nix::unistd::geteuid().is_root())
        .then_some(Missing::Other("only root can give a folder away"))
}

/// Needs real task files; see `tests/taskfiles/corpus.rs`.
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

/// Returns the directory in `RALPH_CORPUS`, otherwise the one next to this repository.
pub(crate) fn corpus_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/taskfiles");
    std::env::var_os(CORPUS).map_or_else(beside, PathBuf::from)
}

/// Needs no more than every test.
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

/// The duration of each finished test.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// Prints the ten slowest tests.
pub(crate) fn print_slowest() {
    let mut times = std::mem::take(&mut *TIMES.lock().unwrap());
    times.sort_unstable();
    for (time, name) in times.iter().rev().take(10) {
        println!("{:7.1} s  {name}", time.as_secs_f64());
    }
}

/// Returns the test. If it cannot run it counts as ignored, or fails in CI if the requirement can be installed.
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

/// The tests of a module, with their needs, and `deep` for those of the deep tier.
///
/// A test that is not listed is dead code, which the lints refuse.
macro_rules! tests {
    (@is_deep) => { false };
    (@is_deep deep) => { true };
    ($($need:ident $($deep:ident)?: [$($test:ident,)+])+) => {
        /// Returns the tests of this module.
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
