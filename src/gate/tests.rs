//! The gate over a scripted Maven and PIT: the ends that real ones seldom come to.

use crate::config::{GateFolder, GateSettings, ScopeKind, TestTiers};
use crate::gate::java::SealKey;
use crate::gate::{Checkouts, GatePackage, GatePorts, GateRequest, NoCheckouts, run_gate};
use crate::machine::facts::{FileChange, FileStatus, Oid, ProcessEnd};
use crate::mutation::{GateReport, Verdict};
use crate::source::{ChangedLines, Kind, RepoPath};
use crate::sys::{FinishedProcess, ProcessId, ProcessSpec, Running, Spawn};
use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// The default settings of PITEST, but for the order of tests.
pub(super) fn settings() -> GateSettings {
    let gate = crate::config::parse("", Path::new("/w"), &[])
        .expect("the defaults")
        .gates
        .remove("PITEST")
        .expect("PITEST has defaults");
    GateSettings {
        jobs: 2,
        tests: TestTiers::All,
        limit: Duration::from_secs(600),
        ..gate
    }
}

/// One run of PIT: how it ends, what it prints, what results it leaves.
struct Pit {
    end: ProcessEnd,
    output: String,
    /// Rows of tests and of mutants; no file without the latter.
    tests: String,
    mutants: Option<String>,
    /// The row of the control of class `Foo`.
    control: &'static str,
    /// PIT's own words for why it gave up.
    failure: &'static str,
    stage: &'static str,
    /// Another process changes the file.
    spoil: Spoil,
}

/// A change of a results file.
type Spoil = fn(String) -> String;

mod base;
mod build;
mod controls;
mod ends;
mod evidence;
mod modules;
mod tiers;

const OK: ProcessEnd = ProcessEnd::Exited { code: 0 };
const BAD: ProcessEnd = ProcessEnd::Exited { code: 1 };

fn pit(end: ProcessEnd, output: &str, mutants: Option<&str>) -> Pit {
    Pit {
        end,
        output: output.to_owned(),
        tests: String::new(),
        mutants: mutants.map(str::to_owned),
        control: PASSED,
        failure: "",
        stage: "done",
        spoil: |file| file,
    }
}

impl Pit {
    /// The results file as the plugin writes it.
    fn results(&self, key: &SealKey) -> Option<String> {
        let (stage, failure) = (self.stage, self.failure);
        let (tests, control, mutants) = (&self.tests, self.control, self.mutants.as_deref()?);
        let document = format!(r#"["{stage}","{failure}",[{tests}],[{control}],[{mutants}]]"#);
        Some((self.spoil)(key.seal_document(&document)))
    }
}

/// Returns a run with these statuses and this control.
fn beside(control: &'static str, statuses: &[&str]) -> Pit {
    Pit {
        control,
        ..pit(OK, "", Some(&report(statuses)))
    }
}

/// Rows of mutants with these statuses, all of class `Foo`; `SKIP` leaves a mutant out.
fn report(statuses: &[&str]) -> String {
    let rows: Vec<String> = statuses
        .iter()
        .enumerate()
        .filter(|(_, status)| **status != "SKIP")
        .map(|(index, status)| {
            format!(
                r#"[["Foo","a","()V","x.MathMutator",[{index}]],"Foo.java",{index},"{status}",["",""],"d",false,0,[]]"#
            )
        })
        .collect();
    rows.join(",")
}

/// Rows of tests that fail.
fn red_tests(classes: &[&str]) -> String {
    let row = |class: &&str| format!(r#"["{class}","red({class})",false,1,[]]"#);
    classes.iter().map(row).collect::<Vec<_>>().join(",")
}

/// Maven always succeeds, and prints the package's `maven.log`; PIT plays its script. Keeps every command line.
struct Script {
    root: PathBuf,
    pit: Mutex<VecDeque<Pit>>,
    commands: Mutex<Vec<Vec<String>>>,
}

struct Played(ProcessEnd);

impl Running for Played {
    fn id(&self) -> ProcessId {
        ProcessId { pid: 0, started: 0 }
    }

    fn wait(self: Box<Self>) -> std::io::Result<FinishedProcess> {
        Ok(FinishedProcess {
            millis: 1_000,
            ..FinishedProcess::at_once(self.0)
        })
    }
}

impl Spawn for Script {
    fn start(&self, spec: &ProcessSpec) -> std::io::Result<Box<dyn Running>> {
        let mut argv = spec.argv.clone();
        let input = argv
            .iter()
            .find_map(|arg| arg.strip_prefix("-Dralph.input="));
        let input = input.map_or(Ok(String::new()), fs_err::read_to_string)?;
        let lines = |kinds: &[char]| -> String {
            let lines = input.split_inclusive('\n');
            lines.filter(|line| line.starts_with(kinds)).collect()
        };
        argv.extend(["--options".to_owned(), lines(&['O'])]);
        argv.extend(["--kept".to_owned(), lines(&['C', 'L', 'M'])]);
        if let Some(file) = argv.iter().find_map(|arg| arg.strip_prefix('@')) {
            let own = fs_err::read_to_string(file)?;
            argv.extend(["--jvm".to_owned(), own]);
        }
        self.commands.lock().unwrap().push(argv);
        let after = |name: &str| spec.argv.iter().find_map(|arg| arg.strip_prefix(name));
        if let Some(file) = after("-Dmdep.outputFile=") {
            let files = fs_err::read_dir(&self.root)?
                .flatten()
                .map(|entry| entry.path());
            let jar = files
                .into_iter()
                .find(|path| path.extension().is_some_and(|end| end == "jar"));
            let jar = jar.expect("a jar of the tests").display().to_string();
            let more = fs_err::read_to_string(self.root.join("more.classpath")).unwrap_or_default();
            fs_err::write(file, format!("{jar}{more}"))?;
        }
        if let Some(file) = after("-Doutput=") {
            let home = spec.cwd.display();
            let more = fs_err::read_to_string(self.root.join("more.plugins")).unwrap_or_default();
            let pom = format!(
                "<project><build>{more}<sourceDirectory>{home}/src/main/java</sourceDirectory><testSourceDirectory>{home}/src/test/java\
                 </testSourceDirectory><outputDirectory>{home}/target/classes</outputDirectory>\
                 <testOutputDirectory>{home}/target/test-classes</testOutputDirectory></build></project>"
            );
            fs_err::write(file, pom)?;
        }
        if let Some(at) = spec.argv.iter().position(|arg| arg == "-d") {
            let classes = Path::new(&spec.argv[at + 1]).join("ralph/pit");
            fs_err::create_dir_all(&classes)?;
            fs_err::write(classes.join("RalphPlugin.class"), "")?;
        }
        let Some(at) = spec.argv.iter().position(|arg| arg == "--reportDir") else {
            let told = fs_err::read(self.root.join("maven.log")).unwrap_or_default();
            fs_err::write(&spec.stdout, told)?;
            let is_red = after("-Dtest=").is_some() && self.root.join("maven.red").exists();
            let is_broken = spec.cwd.join("maven.broken").exists();
            return Ok(Box::new(Played(if is_red || is_broken { BAD } else { OK })));
        };
        let next = self
            .pit
            .lock()
            .unwrap()
            .pop_front()
            .expect("a run of PIT that the test did not expect");
        fs_err::write(&spec.stdout, &next.output)?;
        let key = SealKey::for_test(lines(&['K']).trim_start_matches("K\t").trim_end());
        if let Some(results) = next.results(&key) {
            fs_err::write(Path::new(&spec.argv[at + 1]).join("results.json"), results)?;
        }
        Ok(Box::new(Played(next.end)))
    }
}

/// A class of this name with these flags and attributes (JVMS 4.7).
///
/// The name `SourceFile` is number 3 of the constants, `source` number 4.
fn class_file(name: &str, access: u16, attributes: &[u8], source: &str) -> Vec<u8> {
    let utf8 = |text: &str| [&[1, 0, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let head = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, 5];
    let constants = [utf8(name), vec![7, 0, 1], utf8("SourceFile"), utf8(source)].concat();
    let body = [&access.to_be_bytes()[..], &[0, 2, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    [&head[..], &constants, &body, attributes].concat()
}

/// A package with `Foo`, `FooTest` and `OtherTest`, compiled.
struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for file in [
            "p/pom.xml",
            "p/junit-4.13.2.jar",
            "p/src/main/java/Foo.java",
            "p/src/test/java/FooTest.java",
            "p/src/test/java/OtherTest.java",
            "p/target/classes/Foo.class",
            "p/target/test-classes/FooTest.class",
            "p/target/test-classes/OtherTest.class",
            "bin/mvn",
            "bin/java",
        ] {
            let path = bed.folder.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            // Tests without a word of an assertion have a remark.
            let text = if path.ends_with("FooTest.java") {
                "assert"
            } else if path.ends_with("Foo.java") {
                "class Foo { }"
            } else {
                "<project/>"
            };
            fs_err::write(&path, text).unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs_err::write(bed.folder.path().join("p/junit-4.13.2.jar"), b"PK\x05\x06").unwrap();
        bed.write_class("Foo", b"\0\x01\0\x03\0\0\0\x02\0\x04", "Foo.java");
        bed
    }

    /// Writes Foo.class; see [`class_file`].
    fn write_class(&self, name: &str, attributes: &[u8], source: &str) {
        let class = class_file(name, 0x20, attributes, source);
        fs_err::write(self.folder.path().join("p/target/classes/Foo.class"), class).unwrap();
    }

    fn request(&self) -> GateRequest {
        let change = FileChange {
            package: "p".to_owned(),
            path: RepoPath::parse("src/main/java/Foo.java"),
            status: FileStatus::Modified,
            kind: Kind::Production,
            old: None,
            new: Some(Oid::zero()),
        };
        let package = GatePackage {
            name: "p".to_owned(),
            root: self.folder.path().join("p"),
            home: self.folder.path().join("p"),
            changes: vec![change],
            lines: BTreeMap::from([(
                RepoPath::parse("src/main/java/Foo.java"),
                ChangedLines::Ranges(vec![(3, 4), (9, 9)]),
            )]),
            ..GatePackage::default()
        };
        GateRequest {
            name: "PITEST".to_owned(),
            packages: vec![package],
            folder: self.folder.path().join(".ralph/state/iter-1/gate"),
            cache: self.folder.path().join("cache"),
            env: vec![(
                "PATH".to_owned(),
                self.folder.path().join("bin").display().to_string(),
            )],
            ..GateRequest::default()
        }
    }

    /// Plays the script; the gate's report and the command lines of PIT.
    fn play(&self, script: Vec<Pit>) -> (GateReport, Vec<Vec<String>>) {
        self.play_with(&settings(), script)
    }

    fn play_with(
        &self,
        settings: &GateSettings,
        script: Vec<Pit>,
    ) -> (GateReport, Vec<Vec<String>>) {
        self.play_request(&self.request(), settings, script)
    }

    /// A FAIL would block the family.
    fn play_last(
        &self,
        settings: &GateSettings,
        script: Vec<Pit>,
    ) -> (GateReport, Vec<Vec<String>>) {
        self.play_request(
            &GateRequest {
                confirms: true,
                ..self.request()
            },
            settings,
            script,
        )
    }

    fn play_request(
        &self,
        request: &GateRequest,
        settings: &GateSettings,
        script: Vec<Pit>,
    ) -> (GateReport, Vec<Vec<String>>) {
        self.play_in(&NoCheckouts, request, settings, script)
    }

    fn play_in(
        &self,
        checkouts: &dyn Checkouts,
        request: &GateRequest,
        settings: &GateSettings,
        script: Vec<Pit>,
    ) -> (GateReport, Vec<Vec<String>>) {
        let spawn = Script {
            root: self.folder.path().join("p"),
            pit: Mutex::new(script.into()),
            commands: Mutex::default(),
        };
        let ports = GatePorts {
            spawn: &spawn,
            progress: &|_| {},
            checkouts,
        };
        let report = run_gate(request, settings, &ports);
        assert!(
            spawn.pit.lock().unwrap().is_empty(),
            "runs of PIT that were expected did not come: {report:?}"
        );
        let commands = spawn.commands.into_inner().unwrap();
        (
            report,
            commands
                .into_iter()
                .filter(|argv| argv.iter().any(|arg| arg == "--reportDir"))
                .collect(),
        )
    }

    fn verdict(&self, script: Vec<Pit>) -> Verdict {
        self.play(script).0.verdict
    }
}

fn option<'a>(argv: &'a [String], name: &str) -> Option<&'a str> {
    let at = argv.iter().position(|arg| *arg == format!("--{name}"))?;
    argv.get(at + 1).map(String::as_str)
}

fn is_error(verdict: &Verdict, words: &str, expected: bool) -> bool {
    matches!(verdict, Verdict::Error { why, transient, .. } if why.contains(words) && *transient == expected)
}

/// Runs whose JVM has ralph's own options, and how many threads each has: `quick 2`.
fn told_jvms(commands: &[Vec<String>]) -> Vec<String> {
    let kind = |argv: &Vec<String>| {
        let is_quick = option(argv, "jvm").unwrap().contains("TieredStopAtLevel");
        format!(
            "{} {}",
            if is_quick { "quick" } else { "plain" },
            option(argv, "threads").unwrap()
        )
    };
    commands.iter().map(kind).collect()
}

fn is_fail(verdict: &Verdict, words: &str) -> bool {
    matches!(verdict, Verdict::Fail { reasons } if reasons.join("\n").contains(words))
}

#[test]
fn packages_are_judged_side_by_side() {
    let bed = Bed::new();
    let mut request = bed.request();
    request.packages.push(GatePackage {
        name: "q".to_owned(),
        ..request.packages[0].clone()
    });
    let script = || pit(OK, "", Some(&report(&["KILLED"])));
    let spawn = Script {
        root: bed.folder.path().join("p"),
        pit: Mutex::new([script(), script()].into()),
        commands: Mutex::default(),
    };
    let (begun, more) = (Mutex::new(0), Condvar::new());
    let ports = GatePorts {
        spawn: &spawn,
        progress: &|what| {
            if what.starts_with("Compiling") {
                let mut begun = begun.lock().unwrap();
                *begun += 1;
                more.notify_all();
                let most = Duration::from_secs(20);
                let end = more.wait_timeout_while(begun, most, |begun| *begun < 2);
                assert!(!end.unwrap().1.timed_out(), "one waits for the other");
            }
        },
        checkouts: &NoCheckouts,
    };
    let report = run_gate(&request, &settings(), &ports);
    assert_eq!(report.verdict, Verdict::Pass, "{report:?}");
}

fn own_first() -> GateSettings {
    GateSettings {
        tests: TestTiers::OwnFirst,
        ..settings()
    }
}

/// A run that a red test of the targets ended.
fn red(classes: &[&str]) -> Pit {
    Pit {
        tests: red_tests(classes),
        failure: "ralph: a test of the changed classes fails without any mutation",
        stage: "mutants",
        ..pit(BAD, "", Some(""))
    }
}

/// A run that left these tests out.
fn without(classes: &[&str], statuses: &[&str]) -> Pit {
    Pit {
        tests: red_tests(classes),
        ..pit(OK, "", Some(&report(statuses)))
    }
}

/// The test classes of each run of PIT.
fn asked(commands: &[Vec<String>]) -> String {
    let told = |argv: &Vec<String>| {
        let pairs = argv.windows(2).filter(|pair| pair[0] == "--targetTests");
        let tests: Vec<&str> = pairs.map(|pair| pair[1].as_str()).collect();
        tests.join(",")
    };
    commands.iter().map(told).collect::<Vec<_>>().join(" | ")
}

const OTHER_FAILED: &str = r#"["Foo","KILLED",["OtherTest","a(OtherTest)"]]"#;

const PASSED: &str = r#"["Foo","SURVIVED",["",""]]"#;

/// A checkout of the base of the family.
struct Base(PathBuf);

impl Checkouts for Base {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(Some(self.0.clone()))
    }
}
