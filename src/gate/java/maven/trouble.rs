//! Why a call of Maven failed, read from what it printed.
//!
//! An unknown cause is an error, never a pass and never the family's fault.

use crate::gate::GateAbort;
use crate::source::text;
use std::path::Path;

/// The compiler's messages that become reasons.
const MESSAGES: usize = 5;

/// A failed call of Maven or of the command in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MavenTrouble {
    pub(crate) kind: TroubleKind,
    /// The compiler's first messages, else one of the build; paths are relative to the package.
    messages: Vec<String>,
}

/// The fault of a failed build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// The module does not compile.
    Compile,
    /// A network or disk failure; retrying may help.
    Transient,
    /// A repository did not give something. Retrying may help unless a build file was changed.
    Unresolved,
    /// Anything else: settings, tools, a goal that fails.
    Other,
}

/// Words of Gradle, then of Maven, for what a repository did not give (Maven 3.6 to 3.9).
const UNRESOLVED: [&str; 10] = [
    "Could not resolve all",
    "Could not resolve dependencies",
    "DependencyResolutionException",
    "PluginResolutionException",
    "Non-resolvable parent POM",
    "Non-resolvable import POM",
    "Could not transfer artifact",
    "Could not find artifact",
    "PluginVersionResolutionException",
    "Failed to collect dependencies",
];
/// Words of the JVM and of Maven for a network or a disk that gave up.
pub(crate) const NETWORK_OR_DISK: [&str; 8] = [
    "No space left on device",
    "Unknown host",
    "UnknownHostException",
    "Temporary failure in name resolution",
    "Connection refused",
    "Connection reset",
    "Network is unreachable",
    "connect timed out",
];
/// Words of compilers and of Maven about a Java that the JDK does not know.
const OTHER_JAVA: [&str; 4] = [
    "is no longer supported",
    "release version",
    "invalid target release",
    "invalid source release",
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

/// Reads the output of a call of Maven that failed. A compiler that names no source file refuses its options, or is not there.
pub(super) fn read_trouble(output: &str, root: &Path) -> MavenTrouble {
    let block = output.split_once("COMPILATION ERROR");
    let block = block.filter(|_| output.contains(".java:["));
    let errors = block.into_iter().flat_map(|(_, block)| error_lines(block));
    let errors = errors.take_while(|text| !text.starts_with("Failed to execute goal"));
    let reason = error_lines(output)
        .find(|text| text.len() > 3 && !EMPTY_ERRORS.iter().any(|words| text.starts_with(words)));
    let mut plain = output.lines().filter(|line| {
        !line.is_empty() && !line.starts_with("[INFO]") && !line.starts_with("[DEBUG]")
    });
    MavenTrouble::new(output, root, errors, reason.or_else(|| plain.next()))
}

/// Reads the output of a `classpath_command` that failed. Code that does not compile shows by the form of compilers' messages.
pub(super) fn read_command(output: &str, root: &Path) -> MavenTrouble {
    let errors = output.lines().filter(|line| {
        line.contains(".java:") && line.contains(": error: ") || line.starts_with("e: ")
    });
    // Gradle gives its reason after a heading, others mostly in their last line.
    let mut heading = output
        .lines()
        .skip_while(|line| *line != "* What went wrong:");
    let last = output.lines().rev().find(|line| !line.trim().is_empty());
    MavenTrouble::new(output, root, errors, heading.nth(1).or(last))
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

impl MavenTrouble {
    /// The trouble that a compiler's messages tell, else the one that words of the output tell, for that `reason`.
    fn new<'o>(
        output: &str,
        root: &Path,
        compiler: impl Iterator<Item = &'o str>,
        reason: Option<&'o str>,
    ) -> Self {
        let root = format!("{}/", root.display());
        let mut messages: Vec<String> = Vec::new();
        let mut tell = |text: &str| {
            let text = text.replace(&root, "").replace("-> [Help 1]", "");
            let text = text::line(text.trim(), 400);
            if messages.len() < MESSAGES && !messages.contains(&text) {
                messages.push(text);
            }
        };
        let mut compiler = compiler.peekable();
        let kind = match () {
            () if compiler.peek().is_some() => TroubleKind::Compile,
            () if has_words(output, &NETWORK_OR_DISK) => TroubleKind::Transient,
            () if has_words(output, &UNRESOLVED) => TroubleKind::Unresolved,
            () => TroubleKind::Other,
        };
        compiler.for_each(&mut tell);
        if kind != TroubleKind::Compile {
            tell(reason.unwrap_or("it printed nothing"));
        }
        Self { kind, messages }
    }

    /// The first message, as a sentence.
    pub(crate) fn first_sentence(&self) -> String {
        format!("{}.", self.messages[0].trim_end_matches('.'))
    }

    /// The abort that it means for a module.
    pub(crate) fn into_abort(self, package: &str, dir: &str, build_changed: bool) -> GateAbort {
        let module = text::module_subject(package, dir);
        let text = self.first_sentence();
        let (what, hint) = match self.kind {
            TroubleKind::Compile => {
                let mut reasons = vec![format!("{module} does not compile.")];
                reasons.extend(self.messages);
                return GateAbort::Fail { reasons };
            }
            TroubleKind::Transient => (
                "could not be built",
                "Check the network and the space on the disk.",
            ),
            _ if build_changed => {
                return GateAbort::fail(format!(
                    "{module} does not build after a build file was changed: {text}"
                ));
            }
            TroubleKind::Unresolved => (
                "lacks dependencies or plugins",
                "Check the network and the repositories in the settings of Maven or Gradle.",
            ),
            TroubleKind::Other if has_words(&text, &OTHER_JAVA) => (
                "does not build",
                "Set JAVA_HOME to a JDK that knows the Java of the project, or correct it in the build file.",
            ),
            TroubleKind::Other => (
                "does not build",
                "Run mvn test-compile (or the classpath_command) by hand; put flags that Maven needs into gates.<NAME>.maven_args.",
            ),
        };
        let why = format!("{module} {what}: {text}");
        match self.kind {
            TroubleKind::Other => GateAbort::setup(why, hint),
            _ => GateAbort::transient(why, hint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MavenTrouble, TroubleKind, lacks_network, read_trouble};
    use crate::gate::GateAbort;
    use std::path::Path;

    fn trouble(output: &str) -> MavenTrouble {
        read_trouble(output, Path::new("/w/p"))
    }

    #[test]
    fn an_error_that_says_nothing_gives_way_to_what_was_printed_before_it() {
        let bad = trouble(
            "Unable to parse maven.config: Unrecognized maven.config entries: [b\"]\n\nusage: mvn\n[ERROR] Error executing Maven.\n",
        );
        assert_eq!(bad.kind, TroubleKind::Other);
        assert_eq!(
            bad.first_sentence(),
            "Unable to parse maven.config: Unrecognized maven.config entries: [b\"]."
        );
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
            let GateAbort::Error { why, hint: next, transient: false } = trouble(&output).into_abort("p", "", false) else {
                panic!("{output}")
            };
            // A task that changed the build file answers for what the build then says.
            let own = trouble(&output).into_abort("p", "", true);
            assert!(matches!(&own, GateAbort::Fail { .. }), "{own:?}");
            assert!(why.starts_with(&format!("Package p does not build: {what}")), "{why}");
            assert!(next.contains(hint), "{next}");
        }
    }

    #[test]
    fn the_compilers_first_messages_are_told_with_relative_paths() {
        let output = "[ERROR] COMPILATION ERROR : \n[ERROR] /w/p/src/main/java/Foo.java:[4,1] illegal start\u{1b}[0m of type\n\
            [INFO] 1 error\n[ERROR] Failed to execute goal x: Compilation failure\n[ERROR] /w/p/src/main/java/Foo.java:[4,1] again";
        let expected = vec!["src/main/java/Foo.java:[4,1] illegal start of type".to_owned()];
        assert_eq!(
            trouble(output),
            MavenTrouble {
                kind: TroubleKind::Compile,
                messages: expected,
            }
        );
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
                "[ERROR] Failed to execute goal x: No space left on device",
                "transient",
                "transient",
            ),
            ("", "setup", "fail"),
        ];
        for (output, plain, changed) in table {
            for (expected, build_changed) in [(plain, false), (changed, true)] {
                let abort = trouble(output).into_abort("p", "", build_changed);
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
