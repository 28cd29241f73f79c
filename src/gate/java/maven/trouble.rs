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
    pub(crate) cause: &'static Cause,
    /// The compiler's first messages, else the first message of Maven; paths are relative to the package.
    messages: Vec<String>,
}

/// A cause of a failed build, by the words that name it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The part of a verdict that callers branch on.
    pub(crate) kind: TroubleKind,
    words: &'static [&'static str],
    /// The end of `Module … `.
    what: &'static str,
    /// The next action.
    hint: &'static str,
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
    /// Wrong arguments, settings or POM, no JDK, a JDK that is too old.
    Setup,
    /// Anything else.
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
/// It is true even where the compiler has said more.
const NO_COMPILER: &str = "No compiler is provided in this environment";
/// Words of Maven about its tools and its settings.
const TOOLS: [Cause; 5] = [
    Cause {
        kind: TroubleKind::Setup,
        words: &[
            NO_COMPILER,
            "The JAVA_HOME environment variable is not defined",
            "JAVA_HOME is not defined correctly",
            "JAVA_HOME is set to an invalid directory",
        ],
        what: "finds no JDK",
        hint: "Install a JDK that fits the project and set JAVA_HOME.",
    },
    Cause {
        kind: TroubleKind::Setup,
        words: &[
            "error: release version",
            "invalid target release",
            "invalid source release",
        ],
        what: "is compiled for a Java that Maven's JDK does not know",
        hint: "Set JAVA_HOME to a JDK that knows it (mostly: a newer one), or correct the release in the POM.",
    },
    Cause {
        kind: TroubleKind::Setup,
        words: &["[ERROR] Source option ", "[ERROR] Target option "],
        what: "is compiled for a Java that Maven's JDK no longer supports",
        hint: "Set JAVA_HOME to an older JDK, or raise the release in the POM.",
    },
    Cause {
        kind: TroubleKind::Setup,
        words: &["No toolchain found", "Cannot find matching toolchain"],
        what: "asks for a toolchain that is not there",
        hint: "Name this JDK in ~/.m2/toolchains.xml of the user that ralph runs as.",
    },
    Cause {
        kind: TroubleKind::Setup,
        words: &[
            "settings file does not exist",
            "toolchains file does not exist",
            "Unable to parse maven.config",
            "Unable to parse command line options",
            "Unrecognized option",
        ],
        what: "has settings that Maven or its JVM cannot use",
        hint: "Correct gates.<NAME>.maven_args, MAVEN_OPTS, and the committed files in .mvn: maven.config has one option a line, quotes are not taken away, and paths begin at the folder of the build.",
    },
];

/// Words of Maven and Gradle for a build whose tools and code may be right.
const CAUSES: [Cause; 2] = [
    Cause {
        kind: TroubleKind::Transient,
        words: &NETWORK_OR_DISK,
        what: "could not be built",
        hint: "Check the network and the space on the disk.",
    },
    Cause {
        kind: TroubleKind::Unresolved,
        words: &UNRESOLVED,
        what: "lacks dependencies or plugins",
        hint: "Check the network and the repositories in the settings of Maven or Gradle.",
    },
];
const OTHER: Cause = Cause {
    kind: TroubleKind::Other,
    words: &[],
    what: "does not build",
    hint: "Run mvn test-compile (or the classpath_command) by hand; put flags that Maven needs into gates.<NAME>.maven_args.",
};
const COMPILE: Cause = Cause {
    kind: TroubleKind::Compile,
    words: &[],
    what: "does not compile",
    hint: "",
};

/// Beginnings of messages of Maven that give no reason.
const EMPTY_ERRORS: [&str; 2] = ["Some problems were encountered", "Error executing Maven"];

/// True when a call without the network failed for want of it (Maven 3.6 to 3.9), before any test or mutant
/// ran: those are not given a second chance.
pub(super) fn lacks_network(output: &str) -> bool {
    let began = has_words(output, &["COMPILATION ERROR", "Tests run:", " PIT >> "]);
    !began && (output.contains(" in offline mode") || has_words(output, &UNRESOLVED))
}

/// Reads the output of a call of Maven that failed.
pub(super) fn read_trouble(output: &str, root: &Path) -> MavenTrouble {
    if output.contains("COMPILATION ERROR") && !output.contains(NO_COMPILER) && !is_too_old(output)
    {
        return MavenTrouble {
            cause: &COMPILE,
            messages: compiler_messages(output, root),
        };
    }
    MavenTrouble {
        cause: cause_of(output, TOOLS.iter().chain(&CAUSES)),
        messages: vec![first_error(output, root)],
    }
}

/// True if the compiler refuses the options of the POM, and therefore says no word about a file.
fn is_too_old(output: &str) -> bool {
    output.lines().any(|line| {
        let option = line
            .strip_prefix("[ERROR] Source option ")
            .or(line.strip_prefix("[ERROR] Target option "));
        option.is_some_and(|rest| rest.contains(" is no longer supported."))
    }) && !output.lines().any(|line| line.contains(".java:["))
}

/// Reads the output of a `classpath_command` that failed. Code that does not compile shows by the form of compilers' messages.
pub(super) fn read_command(output: &str, root: &Path) -> MavenTrouble {
    let mut lines: Vec<&str> = output
        .lines()
        .filter(|line| {
            line.contains(".java:") && line.contains(": error: ") || line.starts_with("e: ")
        })
        .take(MESSAGES)
        .collect();
    let cause = if lines.is_empty() {
        // Gradle gives its reason after a heading, others mostly in their last line.
        let mut heading = output
            .lines()
            .skip_while(|line| *line != "* What went wrong:");
        lines.extend(
            heading
                .nth(1)
                .or_else(|| output.lines().rev().find(|line| !line.trim().is_empty())),
        );
        cause_of(output, CAUSES.iter())
    } else {
        &COMPILE
    };
    let mut messages: Vec<String> = lines
        .into_iter()
        .map(|line| text::line(&relative_text(line.trim(), root), 400))
        .collect();
    messages.dedup();
    MavenTrouble { cause, messages }
}

/// The first of the causes whose words the output holds.
fn cause_of(output: &str, mut causes: impl Iterator<Item = &'static Cause>) -> &'static Cause {
    causes
        .find(|cause| has_words(output, cause.words))
        .unwrap_or(&OTHER)
}

fn has_words(output: &str, words: &[&str]) -> bool {
    words.iter().any(|word| output.contains(word))
}

impl MavenTrouble {
    /// The first message, as a sentence.
    pub(crate) fn first_sentence(&self) -> String {
        let message = self
            .messages
            .first()
            .map_or("it printed nothing", String::as_str);
        format!("{}.", message.trim_end_matches('.'))
    }

    /// The abort that it means for a module.
    pub(crate) fn into_abort(self, package: &str, dir: &str, build_changed: bool) -> GateAbort {
        use TroubleKind::{Compile, Other, Setup, Transient, Unresolved};
        let Cause {
            kind, what, hint, ..
        } = self.cause;
        let module = text::module_subject(package, dir);
        let text = self.first_sentence();
        match kind {
            Compile => {
                let mut reasons = vec![format!("{module} {what}.")];
                reasons.extend(self.messages);
                GateAbort::Fail { reasons }
            }
            Setup | Unresolved | Other if build_changed => GateAbort::fail(format!(
                "{module} does not build after a build file was changed: {text}"
            )),
            Transient | Unresolved => {
                GateAbort::transient(format!("{module} {what}: {text}"), *hint)
            }
            Setup | Other => GateAbort::setup(format!("{module} {what}: {text}"), *hint),
        }
    }
}

/// The first `[ERROR]` line that gives a reason, else the first line that is not about a goal.
fn first_error(output: &str, root: &Path) -> String {
    let lines = || output.lines().map(|line| text::line(line, 2_000));
    let text = lines()
        .find_map(|line: String| {
            let marks = ["[ERROR] ", "[FATAL] "];
            let text = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
            let text = text.trim_start_matches("[ERROR] ");
            let is_empty =
                text.len() <= 3 || EMPTY_ERRORS.iter().any(|words| text.starts_with(words));
            (!is_empty).then(|| text.to_owned())
        })
        .or_else(|| {
            lines().find(|line| {
                let is_of_goal = line.starts_with("[INFO]") || line.starts_with("[DEBUG]");
                !line.is_empty() && !is_of_goal
            })
        })
        .unwrap_or_else(|| "it printed nothing".to_owned());
    text::line(&relative_text(&text, root).replace("-> [Help 1]", ""), 400)
}

/// The lines after `COMPILATION ERROR`, up to the end of their block.
fn compiler_messages(output: &str, root: &Path) -> Vec<String> {
    let block = output
        .lines()
        .skip_while(|line| !line.contains("COMPILATION ERROR"))
        .map(|line| text::line(line, 1_000));
    let errors = block
        .skip(1)
        .filter_map(|line| line.strip_prefix("[ERROR] ").map(str::to_owned));
    let mut messages: Vec<String> = Vec::new();
    for text in errors.take_while(|text| !text.starts_with("Failed to execute goal")) {
        let text = text::line(&relative_text(&text, root), 400);
        if messages.len() < MESSAGES && !messages.contains(&text) {
            messages.push(text);
        }
    }
    if messages.is_empty() {
        messages.push("The compiler gave no message.".to_owned());
    }
    messages
}

fn relative_text(text: &str, root: &Path) -> String {
    text.replace(&format!("{}/", root.display()), "")
}

#[cfg(test)]
mod tests {
    use super::{COMPILE, MavenTrouble, TroubleKind, lacks_network, read_trouble};
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
        assert_eq!(bad.cause.kind, TroubleKind::Setup);
        assert_eq!(
            bad.first_sentence(),
            "Unable to parse maven.config: Unrecognized maven.config entries: [b\"]."
        );
    }

    #[test]
    fn what_is_wrong_with_tools_and_settings_has_its_own_sentence_and_next_action() {
        let failed = "[ERROR] Failed to execute goal x:";
        for (output, what, hint) in [
            (
                format!("{failed} Fatal error compiling: error: release version 99 not supported -> [Help 1]"),
                "is compiled for a Java that Maven's JDK does not know: Failed",
                "Set JAVA_HOME to a JDK that knows it",
            ),
            (
                format!("[ERROR] No toolchain found for type jdk\n{failed} Cannot find matching toolchain definitions"),
                "asks for a toolchain that is not there: No toolchain found for type jdk.",
                "~/.m2/toolchains.xml",
            ),
            (
                "[ERROR] Error executing Maven.\n[ERROR] The specified user settings file does not exist: /w/p/\"a b.xml\"".to_owned(),
                "has settings that Maven or its JVM cannot use: The specified user settings file does not exist: \"a b.xml\".",
                "quotes are not taken away",
            ),
            (
                "Unable to parse maven.config: Unrecognized maven.config entries: [b\"]\nusage: mvn".to_owned(),
                "has settings that Maven or its JVM cannot use: ",
                "one option a line",
            ),
            (
                "[ERROR] COMPILATION ERROR : \n[ERROR] Source option 5 is no longer supported. Use 7 or later.\n[ERROR] Target option 5 is no longer supported. Use 7 or later.".to_owned(),
                "is compiled for a Java that Maven's JDK no longer supports: ",
                "older JDK",
            ),
            ("Unrecognized option: -Xbad\nError: Could not create the JVM".to_owned(), "has settings", "MAVEN_OPTS"),
        ] {
            let GateAbort::Error { why, hint: next, transient: false } = trouble(&output).into_abort("p", "", false) else {
                panic!("{output}")
            };
            // A task that changed the build file answers for what the build then says.
            let own = trouble(&output).into_abort("p", "", true);
            assert!(matches!(&own, GateAbort::Fail { .. }), "{own:?}");
            assert!(why.starts_with(&format!("Package p {what}")), "{why}");
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
                cause: &COMPILE,
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
