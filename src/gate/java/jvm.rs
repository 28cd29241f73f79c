//! Options for JVMs that live for seconds: never a compiler setting over the project's.

use crate::gate::commands::Commands;
use crate::source::text::line;
use crate::sys::disk::read_beginning;
use std::path::Path;

/// C1 only: starts fast, peaks lower.
const COMPILER: &str = "-XX:TieredStopAtLevel=1";

/// Bytes of a JDK's file `release`.
const MAX_RELEASE: u64 = 64 << 10;

/// The option that may be added to the project's `own`.
pub(crate) fn quick_option<'a>(own: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let is_chosen = own.into_iter().any(|option| {
        option.contains("Tiered") || ["-Xint", "-Xcomp", "-server", "-client"].contains(&option)
    });
    (!is_chosen).then_some(COMPILER)
}

/// The value of a variable with options of a JVM, and these in addition.
pub(crate) fn quick_options(commands: &Commands<'_>, variable: &str, more: &str) -> String {
    let own = commands.variable_value(variable).unwrap_or_default();
    let quick = quick_option(own.split_whitespace()).unwrap_or_default();
    [own, quick, more].join(" ")
}

/// The version of the JDK of this `java`, as the JDK's file `release` says it; `None` if it does not.
pub(crate) fn jdk_version(java: &Path) -> Option<String> {
    let java = fs_err::canonicalize(java).ok()?;
    let bytes = read_beginning(&java.parent()?.parent()?.join("release"), MAX_RELEASE).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let version = text
        .lines()
        .find_map(|found| found.strip_prefix("JAVA_VERSION="))?;
    Some(line(version.trim().trim_matches('"'), 40))
}

/// The text of an argument file for `java` or `javac` (`@argfiles`): the only way to hand PIT's children a space.
pub(crate) fn argument_file(arguments: &[String]) -> String {
    let quoted = arguments.iter().map(|argument| {
        let escaped = argument
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\r', "");
        format!("\"{escaped}\"\n")
    });
    quoted.collect()
}

#[cfg(test)]
mod tests {
    use super::{argument_file, jdk_version, quick_option};

    #[test]
    fn a_jdk_says_its_version_in_a_file_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let java = home.path().join("bin/java");
        fs_err::create_dir(home.path().join("bin")).unwrap();
        fs_err::write(&java, "").unwrap();
        assert_eq!(jdk_version(&java), None);
        fs_err::write(
            home.path().join("release"),
            "OS=\"x\"\nJAVA_VERSION=\"21.0.2\"\n",
        )
        .unwrap();
        assert_eq!(jdk_version(&java).as_deref(), Some("21.0.2"));
    }

    #[test]
    fn words_of_an_argument_file_are_quoted() {
        let words = [r#"a b\c"d"#, "e\r\n"].map(str::to_owned);
        assert_eq!(argument_file(&words), "\"a b\\\\c\\\"d\"\n\"e\\n\"\n");
    }

    #[test]
    fn the_projects_own_choice_wins() {
        for (own, ours) in [
            (
                &["-Xmx300m", "-XX:+UseG1GC"][..],
                Some("-XX:TieredStopAtLevel=1"),
            ),
            (&["-XX:TieredStopAtLevel=3"], None),
            (&["-Xint", "-XX:+UseZGC"], None),
        ] {
            assert_eq!(quick_option(own.iter().copied()), ours, "{own:?}");
        }
    }
}
