//! A build by a script around javac, for tests whose subject is PIT or the gate and not Maven.

use super::project::{JUnit, Pom, Project};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A script for a `classpath_command`. `@JUNIT@` and `@PIT@` are jars. `@KNOWN@` is a directory: sources that were compiled
/// before are not compiled again, because most tests here begin with the same classes.
const BUILD: &str = r#"#!/bin/sh
set -e
junit='@JUNIT@'
if [ -n "$RALPH_ARTIFACTS" ]; then
    echo 'ralph-classpath: {"artifacts": [@PIT@]}'
    exit
fi
compile() { # output, class path, sources
    output=$1 path=$2
    shift 2
    key=$({ echo "$key $path"; sha256sum "$@"; } | sha256sum | cut -c1-64)
    if [ -d "@KNOWN@/$key" ]; then
        cp -R "@KNOWN@/$key/." "$output"
        return
    fi
    javac -proc:none -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -d "$output" -cp "$path" "$@"
    cp -R "$output" "@KNOWN@/$key.$$"
    mv -T "@KNOWN@/$key.$$" "@KNOWN@/$key" || true # another test has compiled the same
}
rm -rf out
mkdir -p out/main out/test
compile out/main "" $(find src/main -name '*.java' | sort)
compile out/test "out/main:$junit" $(find src/test -name '*.java' | sort)
if [ -z "$RALPH_TESTS" ]; then
    echo 'ralph-classpath: {"modules": [{"path": "", "classes": "out/main", "test_classes": "out/test", "classpath": [@JARS@]}]}'
elif java -cp "out/main:out/test:$junit" org.junit.runner.JUnitCore $RALPH_TESTS >out/log 2>&1; then
    echo "Tests run: $(sed -n 's/^OK (\([0-9]*\) .*/\1/p' out/log), Failures: 0, Errors: 0, Skipped: 0"
else
    echo "[ERROR] Failures:"
    sed -n 's/^[0-9]*) /[ERROR]   /p' out/log
    echo "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0"
    exit 1
fi
"#;

/// Dependencies that Maven resolves to jars for a script.
///
/// They are PIT, and its plugin for the JUnit platform, which JUnit 5 needs with its launcher.
const PIT: &str = "<dependency><groupId>org.pitest</groupId><artifactId>pitest-command-line</artifactId><version>1.25.9</version></dependency>";
const PLATFORM: &str = "<dependency><groupId>org.pitest</groupId><artifactId>pitest-junit5-plugin</artifactId><version>1.2.3</version></dependency>\
    <dependency><groupId>org.junit.platform</groupId><artifactId>junit-platform-launcher</artifactId><version>1.10.2</version></dependency>";

/// Jars by their purpose.
pub(super) struct Jars {
    pub(super) pit: Vec<String>,
    /// Those of the tests' framework.
    pub(super) junit: Vec<String>,
}

/// Returns the jars for JUnit 4 or 5, resolved once by Maven.
pub(super) fn jars(junit: JUnit) -> &'static Jars {
    static FOUR: OnceLock<Jars> = OnceLock::new();
    static FIVE: OnceLock<Jars> = OnceLock::new();
    match junit {
        JUnit::Four => FOUR.get_or_init(|| resolve(junit, PIT)),
        JUnit::Five => FIVE.get_or_init(|| resolve(junit, [PIT, PLATFORM].concat().leak())),
        JUnit::Six | JUnit::TestNg => panic!("no script builds with it"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test resolves jars with the real Maven"
)]
fn resolve(junit: JUnit, dependencies: &'static str) -> Jars {
    let folder = tempfile::tempdir().unwrap();
    let mut pom = Pom::new("jars", junit);
    pom.dependencies = dependencies;
    fs_err::write(folder.path().join("pom.xml"), pom.text()).unwrap();
    let (goal, to) = (
        "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath",
        folder.path().join("jars"),
    );
    let output = format!("-Dmdep.outputFile={}", to.display());
    let mut maven = Command::new("mvn");
    let done = maven
        .args(["-q", "-B", goal, &output])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stdout)
    );
    let all = fs_err::read_to_string(to).unwrap();
    let is_pit = |jar: &&str| {
        ["/pitest", "/commons-"]
            .iter()
            .any(|part| jar.contains(part))
    };
    let (pit, junit): (Vec<&str>, Vec<&str>) = all.trim().split(':').partition(is_pit);
    let [pit, junit] = [pit, junit].map(|jars| jars.into_iter().map(str::to_owned).collect());
    Jars { pit, junit }
}

/// Returns the directory of compiled sources, which all tests of this process share.
fn known() -> &'static Path {
    static KNOWN: OnceLock<TempDir> = OnceLock::new();
    KNOWN.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

/// Returns the text of the script.
pub(super) fn script(junit: JUnit) -> String {
    let quoted = |jars: &[String]| {
        serde_json::to_string(jars)
            .unwrap()
            .trim_matches(['[', ']'])
            .to_owned()
    };
    let Jars { pit, junit } = jars(junit);
    BUILD
        .replace("@JUNIT@", &junit.join(":"))
        .replace("@PIT@", &quoted(pit))
        .replace("@KNOWN@", &known().display().to_string())
        .replace("@JARS@", &quoted(junit))
}

/// Returns a file with the script, which is in no package.
pub(super) fn script_file(junit: JUnit) -> PathBuf {
    static FOUR: OnceLock<TempDir> = OnceLock::new();
    static FIVE: OnceLock<TempDir> = OnceLock::new();
    let folder = if matches!(junit, JUnit::Four) {
        &FOUR
    } else {
        &FIVE
    };
    let folder = folder.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("build"), script(junit)).unwrap();
        folder
    });
    folder.path().join("build")
}

/// Returns the command that runs a script.
pub(super) fn command(script: &Path) -> Vec<String> {
    vec!["sh".to_owned(), script.display().to_string()]
}

impl Project {
    /// Returns a package that the script builds.
    pub(super) fn scripted(junit: JUnit) -> Self {
        let mut project = Self::new();
        project.settings.classpath_command = Some(command(&script_file(junit)));
        project.write("build.gradle", "");
        project
    }
}
