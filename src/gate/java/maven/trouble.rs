//! The cause of a failed build, read from what it printed.
//!
//! An unknown cause is an error, never a pass and never the family's fault.

use crate::gate::GateAbort;
use crate::source::text;
use std::path::Path;

/// The compiler's messages that become reasons.
const MESSAGES: usize = 5;

/// Words of Gradle and of Maven for what a repository did not give (Maven 3.6 to 3.9).
const UNRESOLVED: [&str; 6] = [
    "Could not resolve",
    "ResolutionException",
    "Non-resolvable",
    "Could not transfer artifact",
    "Could not find artifact",
    "Failed to collect dependencies",
];
/// Words of the JVM and of Maven for a network or a disk that gave up.
pub(crate) const NETWORK_OR_DISK: [&str; 10] = [
    "No space left on device",
    "Unknown host",
    "UnknownHostException",
    "Temporary failure in name resolution",
    "Connection refused",
    "Connection reset",
    "Network is unreachable",
    "connect timed out",
    "Connect timed out",
    "Read timed out",
];
/// Beginnings of messages of Maven that give no reason.
const EMPTY_ERRORS: [&str; 3] = [
    "Some problems were encountered",
    "Error executing Maven",
    "COMPILATION ERROR",
];

/// True when a call without the network failed for want of it (Maven 3.6 to 3.9), before any test ran: a red test is not
/// given a second chance.
pub(super) fn lacks_network(output: &str) -> bool {
    let began = has_words(output, &["COMPILATION ERROR", "Tests run:"]);
    !began && (output.contains(" in offline mode") || has_words(output, &UNRESOLVED))
}

/// The abort that the output of a failed call of Maven, or of the command in its place, means. `module` begins a sentence, and
/// `root` is the package's folder.
pub(super) fn read_abort(
    output: &str,
    root: &Path,
    module: &str,
    build_changed: bool,
) -> GateAbort {
    let mut reasons = vec![format!("{module} does not compile.")];
    for message in compiler_messages(output) {
        let message = shorten_message(message, root);
        if reasons.len() <= MESSAGES && !reasons.contains(&message) {
            reasons.push(message);
        }
    }
    if reasons.len() > 1 {
        return GateAbort::Fail { reasons };
    }
    let why = find_reason(output, root);
    if has_words(output, &NETWORK_OR_DISK) {
        return GateAbort::transient(
            format!("{module} could not be built: {why}"),
            "Check the network and the space on the disk.",
        );
    }
    if build_changed {
        return GateAbort::fail(format!(
            "{module} does not build after a build file was changed: {why}"
        ));
    }
    if has_words(output, &UNRESOLVED) {
        return GateAbort::transient(
            format!("{module} lacks dependencies or plugins: {why}"),
            "Check the network and the repositories in the settings of Maven or Gradle.",
        );
    }
    GateAbort::setup(
        format!("{module} does not build: {why}"),
        "Run mvn test-compile (or the classpath_command) by hand. Set JAVA_HOME to a JDK that knows the Java of the project, and put flags that Maven needs into gates.<NAME>.maven_args.",
    )
}

/// The messages about code that does not compile: those after Maven's heading, else all lines of a compiler's form.
fn compiler_messages(output: &str) -> Vec<&str> {
    // A compiler that names no source file refuses its options, or is not there.
    if let Some((_, block)) = output.split_once("COMPILATION ERROR")
        && output.contains(".java:[")
    {
        return error_lines(block)
            .take_while(|text| !text.starts_with("Failed to execute goal"))
            .collect();
    }
    let messages = output.lines().filter(|line| {
        line.contains(".java:") && line.contains(": error: ") || line.starts_with("e: ")
    });
    messages.collect()
}

/// The line that gives the reason, as a sentence: Gradle's follows a heading, Maven's is an error, and others are mostly
/// the last one.
pub(super) fn find_reason(output: &str, root: &Path) -> String {
    let mut heading = output
        .lines()
        .skip_while(|line| *line != "* What went wrong:");
    let error = error_lines(output)
        .find(|text| text.len() > 3 && !EMPTY_ERRORS.iter().any(|words| text.starts_with(words)));
    let mut plain = output.lines().filter(|line| {
        !line.trim().is_empty() && !line.starts_with("[INFO]") && !line.starts_with("[DEBUG]")
    });
    // Maven's usage follows the reason why it refuses its arguments.
    let other = if output.contains("usage: mvn") {
        plain.next()
    } else {
        plain.next_back()
    };
    let reason = heading.nth(1).or(error).or(other);
    let reason = shorten_message(reason.unwrap_or("it printed nothing"), root);
    format!("{}.", reason.trim_end_matches('.'))
}

/// A message as one line with paths from the package's folder.
fn shorten_message(text: &str, root: &Path) -> String {
    let text = text.replace(&format!("{}/", root.display()), "");
    text::line(text.replace("-> [Help 1]", "").trim(), 400)
}

/// The texts of the lines by which Maven tells an error.
fn error_lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let text = line
            .strip_prefix("[ERROR] ")
            .or(line.strip_prefix("[FATAL] "))?;
        Some(text.trim_start_matches("[ERROR] "))
    })
}

fn has_words(output: &str, words: &[&str]) -> bool {
    words.iter().any(|word| output.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{lacks_network, read_abort};
    use crate::gate::GateAbort;
    use std::path::Path;

    fn abort(output: &str, build_changed: bool) -> GateAbort {
        read_abort(output, Path::new("/w/p"), "Package p", build_changed)
    }

    #[test]
    fn an_error_that_says_nothing_gives_way_to_what_was_printed_before_it() {
        let bad = abort(
            "Unable to parse maven.config: Unrecognized maven.config entries: [b\"]\n\nusage: mvn\n[ERROR] Error executing Maven.\n",
            true,
        );
        let why = "Package p does not build after a build file was changed: \
            Unable to parse maven.config: Unrecognized maven.config entries: [b\"].";
        assert_eq!(bad, GateAbort::fail(why.to_owned()));
    }

    #[test]
    fn what_is_wrong_with_tools_is_no_fail_and_says_what_the_tool_says() {
        let refused = "[ERROR] COMPILATION ERROR : \n[ERROR] Source option 5 is no longer supported. Use 7 or later.\n";
        for (output, what, hint) in [
            (
                format!("{refused}[ERROR] Target option 5 is no longer supported. Use 7 or later."),
                "Source option 5 is no longer supported.",
                "JAVA_HOME",
            ),
            (
                "[ERROR] Failed to execute goal x: Fatal error compiling: error: release version 99 not supported -> [Help 1]".to_owned(),
                "Failed to execute goal x: Fatal error compiling: error: release version 99 not supported.",
                "JAVA_HOME",
            ),
            (
                "[ERROR] No toolchain found for type jdk\n[ERROR] Failed to execute goal x:".to_owned(),
                "No toolchain found for type jdk.",
                "gates.<NAME>.maven_args",
            ),
            (
                "[ERROR] Error executing Maven.\n[ERROR] The specified user settings file does not exist: /w/p/\"a b.xml\"".to_owned(),
                "The specified user settings file does not exist: \"a b.xml\".",
                "gates.<NAME>.maven_args",
            ),
        ] {
            let GateAbort::Error { why, hint: next, transient: false } = abort(&output, false) else {
                panic!("{output}")
            };
            // A task that changed the build file answers for what the build then says.
            let own = abort(&output, true);
            assert!(matches!(&own, GateAbort::Fail { .. }), "{own:?}");
            assert!(why.starts_with(&format!("Package p does not build: {what}")), "{why}");
            assert!(next.contains(hint), "{next}");
        }
    }

    #[test]
    fn the_compilers_first_messages_are_told_with_relative_paths() {
        let output = "[ERROR] COMPILATION ERROR : \n[ERROR] /w/p/src/main/java/Foo.java:[4,1] illegal start\u{1b}[0m of type\n\
            [INFO] 1 error\n[ERROR] Failed to execute goal x: Compilation failure\n[ERROR] /w/p/src/main/java/Foo.java:[4,1] again";
        let reasons = [
            "Package p does not compile.",
            "src/main/java/Foo.java:[4,1] illegal start of type",
        ];
        let reasons = reasons.map(str::to_owned).to_vec();
        assert_eq!(abort(output, false), GateAbort::Fail { reasons });
    }

    #[test]
    fn the_network_is_asked_for_only_before_anything_ran() {
        let lacking = "[ERROR] Plugin x or one of its dependencies could not be resolved: Cannot access central \
            (https://repo.maven.apache.org/maven2) in offline mode and the artifact x has not been downloaded";
        assert!(lacks_network(lacking));
        assert!(!lacks_network("[ERROR] COMPILATION ERROR :"));
        assert!(
            !lacks_network(&format!("Tests run: 1, Failures: 1\n{lacking}")),
            "a red test has no second chance"
        );
    }

    #[test]
    fn each_text_of_maven_has_its_outcome() {
        let table = [
            (
                "[ERROR] Failed to execute goal on project p5: Could not resolve dependencies for project x: Could not find artifact y -> [Help 1]",
                "transient",
                "fail",
            ),
            (
                "[ERROR] Plugin org.x:y or one of its dependencies could not be resolved: [Help 1] http://x/PluginResolutionException",
                "transient",
                "fail",
            ),
            (
                "[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n[FATAL] Non-readable POM /w/p/pom.xml: no more data",
                "setup",
                "fail",
            ),
            (
                "Unable to parse command line options: Unrecognized option: --bogus",
                "setup",
                "fail",
            ),
            (
                "[ERROR] Rule failed: JAVA_HOME must be set in CI -> [Help 1]",
                "setup",
                "fail",
            ),
            (
                "[ERROR] COMPILATION ERROR :\n[ERROR] No compiler is provided in this environment. Perhaps you are running on a JRE rather than a JDK?",
                "setup",
                "fail",
            ),
            (
                "[ERROR] Failed to execute goal c: Fatal error compiling: error: release version 99 not supported -> [Help 1]",
                "setup",
                "fail",
            ),
            (
                "[ERROR] Failed to execute goal checkstyle: You have 1 violation -> [Help 1]",
                "setup",
                "fail",
            ),
            (
                "[ERROR] Could not resolve dependencies: Could not transfer artifact x: repo.maven.apache.org: Unknown host -> [Help 1]",
                "transient",
                "transient",
            ),
            (
                "[ERROR] Could not resolve dependencies: Could not transfer artifact x from/to central (https://r): Connect timed out -> [Help 1]",
                "transient",
                "transient",
            ),
            (
                "[ERROR] Failed to execute goal x: No space left on device",
                "transient",
                "transient",
            ),
            ("", "setup", "fail"),
        ];
        for (output, plain, changed) in table {
            for (expected, build_changed) in [(plain, false), (changed, true)] {
                let abort = abort(output, build_changed);
                let kind = match &abort {
                    GateAbort::Fail { .. } => "fail",
                    GateAbort::Error {
                        transient: true, ..
                    } => "transient",
                    GateAbort::Error { .. } => "setup",
                };
                assert_eq!(kind, expected, "{abort:?}");
            }
        }
    }
}
