//! Tests that can run only where something is there, and the list of them that the second test binary runs.

use libtest_mimic::{Completion, Failed, Trial};
use std::path::Path;

/// Why a test cannot run here; `None` where it can.
pub(crate) type Need = fn() -> Option<String>;

/// Maven, Java and its compiler.
pub(crate) fn maven() -> Option<String> {
    programs(&["mvn", "java", "javac"])
}

/// No more than every test needs.
pub(crate) fn nothing() -> Option<String> {
    None
}

fn programs(names: &[&str]) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |name: &str| std::env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file());
    let missing: Vec<&str> = names.iter().copied().filter(|name| !is_there(name)).collect();
    (!missing.is_empty()).then(|| format!("not on the PATH: {}", missing.join(", ")))
}

/// The test; where it cannot run it counts as ignored, and in CI as failed.
pub(crate) fn trial(need: Need, module: &str, name: &str, test: fn()) -> Trial {
    let (_, module) = module.split_once("::").unwrap();
    Trial::ignorable_test(format!("{module}::{name}"), move || match need() {
        None => {
            test();
            Ok(Completion::Completed)
        }
        Some(why) if std::env::var_os("CI").is_some_and(|value| value == "true") => Err(Failed::from(why)),
        Some(why) => Ok(Completion::ignored_with(why)),
    })
}

/// The tests of a module, with what they need. A test that is not listed is dead code, which the lints refuse.
macro_rules! tests {
    ($($need:ident: [$($test:ident,)+])+) => {
        /// The tests of this module.
        pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
            use $crate::support::needs;
            vec![$($(needs::trial(needs::$need, module_path!(), stringify!($test), $test),)+)+]
        }
    };
}
pub(crate) use tests;
