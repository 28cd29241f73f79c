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

mod evidence;
mod modules;

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

#[test]
fn a_class_file_that_does_not_come_from_the_source_of_its_target_is_not_judged() {
    let bed = Bed::new();
    let source = b"\0\x01\0\x03\0\0\0\x02\0\x04".as_slice();
    for (name, file, from) in [
        ("Foo", "Bar.java", "Foo in Bar.java"),
        ("a/Foo", "Foo.java", "a.Foo in Foo.java"),
    ] {
        bed.write_class(name, source, file);
        let why = format!("Foo was made from the class {from}, not from p/src/main/java/Foo.java.");
        assert!(is_fail(&bed.verdict(Vec::new()), &why), "{why}");
    }
    for attributes in [b"\0\0", &source[..7]] {
        bed.write_class("Foo", attributes, "Foo.java");
        let why = "makes no class file for Foo that names its source file.";
        assert!(is_error(&bed.verdict(Vec::new()), why, false));
    }
}

#[test]
fn pit_runs_on_the_jdk_of_mavens_toolchains_unless_that_is_too_old_for_it_or_in_the_package() {
    let runs_on = |home: &str, version: &str| {
        let bed = Bed::new();
        let home = bed.folder.path().join(home);
        fs_err::create_dir(&home).unwrap();
        fs_err::write(
            home.join("release"),
            format!("JAVA_VERSION=\"{version}\"\n"),
        )
        .unwrap();
        let told = format!(
            "[INFO] Toolchain in maven-compiler-plugin: JDK[{}]\n",
            home.display()
        );
        fs_err::create_dir(home.join("bin")).unwrap();
        fs_err::write(home.join("bin/java"), "").unwrap();
        fs_err::write(bed.folder.path().join("p/maven.log"), told).unwrap();
        let (report, commands) = bed.play(vec![pit(OK, "", Some(&report(&["KILLED"])))]);
        assert_eq!(report.verdict, Verdict::Pass);
        let ran = Path::new(&commands[0][0])
            .strip_prefix(bed.folder.path())
            .unwrap()
            .display()
            .to_string();
        let told = report
            .remarks
            .iter()
            .filter(|remark| remark.contains("PIT does not get in p: jvm ("))
            .count();
        (ran, told)
    };
    assert_eq!(runs_on("jdk", "25.0.1"), ("jdk/bin/java".to_owned(), 0));
    for (home, version) in [("jdk", "1.8.0_392"), ("p/jdk", "25.0.1")] {
        assert_eq!(runs_on(home, version), ("bin/java".to_owned(), 1), "{home}");
    }
}

#[test]
fn a_class_file_that_pits_jvm_does_not_know_is_no_verdict_and_no_familys_fault() {
    let bed = Bed::new();
    let judged_on = |version: &str, script| {
        fs_err::write(
            bed.folder.path().join("release"),
            format!("JAVA_VERSION=\"{version}\"\n"),
        )
        .unwrap();
        bed.verdict(script)
    };
    let killed = || vec![pit(OK, "", Some(&report(&["KILLED"])))];
    let why = "Foo is compiled for Java 17, and PIT runs on JDK 11.0.2.";
    assert!(is_error(&judged_on("11.0.2", Vec::new()), why, false));
    assert_eq!(judged_on("17", killed()), Verdict::Pass);
    assert_eq!(judged_on("25.0.1", killed()), Verdict::Pass);
}

#[test]
fn tests_of_junit_3_or_an_old_junit_5_are_no_verdict_that_says_so() {
    for (jar, which) in [
        ("junit-3.8.2.jar", "JUnit 3, which PIT cannot run alone"),
        (
            "junit-platform-engine-1.4.2.jar",
            "a JUnit 5 before 5.5, which PIT cannot run",
        ),
    ] {
        let bed = Bed::new();
        let package = bed.folder.path().join("p");
        fs_err::rename(package.join("junit-4.13.2.jar"), package.join(jar)).unwrap();
        let Verdict::Error { why, transient, .. } = bed.verdict(Vec::new()) else {
            panic!("{jar}")
        };
        assert_eq!(
            (why, transient),
            (format!("Package p tests with {which}."), false)
        );
    }
}

#[test]
fn test_classes_that_surefire_does_not_run_are_named_and_run_only_by_name() {
    let bed = Bed::new();
    // A class and an abstract one (JVMS 4.1).
    for (name, access) in [("FooIT", 0x20), ("BaseIT", 0x0420_u16)] {
        let package = bed.folder.path().join("p");
        fs_err::write(package.join(format!("src/test/java/{name}.java")), "").unwrap();
        let class = class_file(name, access, b"\0\0", "Foo.java");
        fs_err::write(
            package.join(format!("target/test-classes/{name}.class")),
            class,
        )
        .unwrap();
    }
    let weak = || vec![pit(OK, "", Some(&report(&["SURVIVED"])))];
    let (without, commands) = bed.play(weak());
    assert!(is_fail(&without.verdict, "is 0% (0/1)"), "{without:?}");
    assert_eq!(asked(&commands), "FooTest,OtherTest");
    let remark = "Surefire does not run these test classes of p, so they were not asked: FooIT; \
                  gates.PITEST.tests_include names those that are to be asked.";
    assert_eq!(without.remarks, [remark]);
    let named = GateSettings {
        tests_include: vec!["*IT".to_owned()],
        ..settings()
    };
    let (with, commands) = bed.play_with(&named, vec![pit(OK, "", Some(&report(&["KILLED"])))]);
    assert_eq!(
        (&with.verdict, with.remarks.len()),
        (&Verdict::Pass, 0),
        "{with:?}"
    );
    assert_eq!(asked(&commands), "BaseIT,FooIT,FooTest,OtherTest");
}

#[test]
fn changed_tests_must_be_seen_to_run_whatever_language_they_are_in() {
    let bed = Bed::new();
    let package = bed.folder.path().join("p");
    let spec = "class FooSpec extends spock.lang.Specification { }";
    fs_err::create_dir_all(package.join("src/test/groovy")).unwrap();
    fs_err::write(package.join("src/test/groovy/FooSpec.groovy"), spec).unwrap();
    fs_err::write(package.join("target/test-classes/FooSpec.class"), "").unwrap();
    let mut request = bed.request();
    let change = &mut request.packages[0].changes[0];
    (change.path, change.kind) = (
        RepoPath::parse("src/test/groovy/FooSpec.groovy"),
        Kind::Test,
    );
    // Maven exits with 0 each time.
    let told = |log: &str| {
        fs_err::write(package.join("maven.log"), log).unwrap();
        bed.play_request(&request, &settings(), Vec::new())
            .0
            .verdict
    };
    // A POM may hide tests from Surefire. Then none was seen to pass.
    let none = "The build ran none of the changed test classes of p: FooSpec.";
    assert!(is_error(&told("[INFO] Tests are skipped.\n"), none, false));
    let passed = told("[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n");
    assert!(matches!(passed, Verdict::Skip { .. }), "{passed:?}");
    let red = told("[INFO] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n");
    assert!(is_fail(&red, "Changed tests of p fail."), "{red:?}");
    let skipped = told("[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2\n");
    assert!(
        is_fail(&skipped, "prove nothing: all 2 were skipped"),
        "{skipped:?}"
    );
}

#[test]
fn a_whole_report_passes_and_in_place_pit_gets_only_tests_that_have_a_source() {
    let bed = Bed::new();
    let deleted = "p/target/test-classes/DeletedTest.class";
    fs_err::write(bed.folder.path().join(deleted), "").unwrap();
    let whole = || {
        let statuses = ["KILLED", "KILLED", "KILLED", "TIMED_OUT", "EQUIVALENT"];
        vec![pit(OK, "", Some(&report(&statuses)))]
    };
    let (_, commands) = bed.play(whole());
    let all = "DeletedTest,FooTest,OtherTest";
    assert_eq!(asked(&commands), all, "a clean build has made it");
    let in_place = GateSettings {
        folder: GateFolder::InPlace,
        ..settings()
    };
    let (report, commands) = bed.play_with(&in_place, whole());
    assert_eq!(
        (&report.verdict, report.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (4/4)")
    );
    assert_eq!(asked(&commands), "FooTest,OtherTest");
    assert_eq!(option(&commands[0], "targetClasses"), Some("Foo,Foo$*"));
    assert_eq!(
        option(&commands[0], "includeLaunchClasspath"),
        Some("false")
    );
    assert_eq!(option(&commands[0], "skipFailingTests"), Some("true"));
}

#[test]
fn no_report_a_cut_one_and_a_bad_exit_are_errors_whatever_pit_prints() {
    let bed = Bed::new();
    let whole = report(&["KILLED"]);
    let play = |end: ProcessEnd, output: &str| pit(end, output, Some(&whole));
    let none = pit(OK, ">> Generated 9 mutations Killed 9 (100%)", None);
    assert!(is_error(
        &bed.verdict(vec![none]),
        "there is no results.json",
        false
    ));
    let spoilt: [Spoil; 4] = [
        |file| file[..file.len() - 1].to_owned(),
        |_| String::new(),
        |file| file.replace("SURVIVED", "KILLED"),
        |file| file + "M",
    ];
    let why = "results.json is not whole, or PIT's own process did not write it";
    for spoil in spoilt {
        let run = Pit {
            spoil,
            ..pit(OK, "", Some(&report(&["SURVIVED"])))
        };
        let verdict = bed.verdict(vec![run]);
        assert!(is_error(&verdict, why, false), "{why}: {verdict:?}");
    }
    let half = Pit {
        stage: "mutants",
        ..play(OK, "")
    };
    assert!(is_error(
        &bed.verdict(vec![half]),
        "it did not finish",
        false
    ));
    let thrown = Pit {
        failure: "x.Y: boom",
        ..play(BAD, "Exception in thread \"main\" x.Z: printed by a test")
    };
    assert!(is_error(&bed.verdict(vec![thrown]), ": x.Y: boom.", false));
    let full = Pit {
        failure: "java.io.IOException: No space left on device",
        ..play(BAD, "")
    };
    assert!(is_error(
        &bed.verdict(vec![full]),
        "No space left on device",
        true
    ));
    let early = pit(BAD, ">>>> zzz is not a recognized option", None);
    assert!(is_error(
        &bed.verdict(vec![early]),
        "zzz is not a recognized option.",
        false
    ));
    let killed = play(ProcessEnd::Signalled { signal: 9 }, "");
    assert!(is_error(&bed.verdict(vec![killed]), "signal 9", false));
    let interrupted = play(ProcessEnd::Interrupted, "");
    assert!(is_error(
        &bed.verdict(vec![interrupted]),
        "interrupted",
        true
    ));
}

/// A run that ended among the tests, while PIT's log names `class` as the last.
fn among_tests(end: ProcessEnd, class: &str) -> Pit {
    let log = format!(
        "PIT >> INFO : MINION : Gathering coverage for test Description [testClass={class}, name=x]\n"
    );
    Pit {
        stage: "tests",
        ..pit(end, &log, Some(""))
    }
}

/// The JVM of the tests died.
fn dead(class: &str) -> Pit {
    Pit {
        failure: "x: Coverage generation minion exited abnormally! (X)",
        ..among_tests(BAD, class)
    }
}

#[test]
fn a_hanging_or_deadly_test_fails_the_gate_when_it_is_the_targets_own() {
    let bed = Bed::new();
    let timeout = || ProcessEnd::TimedOut { seconds: 600 };
    let hung = |class| bed.verdict(vec![among_tests(timeout(), class)]);
    assert!(is_fail(&hung("FooTest"), "FooTest does not end"));
    assert!(is_error(
        &hung("OtherTest"),
        "still running without any mutation in OtherTest",
        true
    ));
    let later = Pit {
        stage: "mutants",
        ..among_tests(timeout(), "FooTest")
    };
    assert!(is_error(
        &bed.verdict(vec![later]),
        "over its limit of",
        true
    ));
    let lost = Pit {
        mutants: None,
        ..among_tests(timeout(), "FooTest")
    };
    assert!(is_error(
        &bed.verdict(vec![lost]),
        "over its limit of",
        true
    ));
    let silent = among_tests(ProcessEnd::Idle { seconds: 60 }, "FooTest");
    assert!(is_fail(&bed.verdict(vec![silent]), "FooTest does not end"));
    assert!(is_fail(
        &bed.verdict(vec![dead("FooTest")]),
        "FooTest kills its JVM"
    ));

    assert!(is_error(
        &bed.verdict(vec![dead("OtherTest")]),
        "the JVM of the tests died without any mutation in OtherTest",
        false
    ));
}

#[test]
fn tests_and_mutants_without_memory_are_told_where_more_can_be_asked_for() {
    let bed = Bed::new();
    let Verdict::Error {
        why,
        hint,
        transient,
    } = bed.verdict(vec![dead("OtherTest")])
    else {
        panic!()
    };
    assert!(
        why.contains("died without any mutation") && hint.contains("jvm_args") && !transient,
        "{why} {hint}"
    );
    let starved = || pit(OK, "", Some(&report(&["MEMORY_ERROR"])));
    let (none, commands) = bed.play(vec![starved(), starved()]);
    let Verdict::Error { hint, .. } = &none.verdict else {
        panic!("{none:?}")
    };
    assert!(
        hint.contains("jvm_args") && !hint.contains("System.exit"),
        "{hint}"
    );
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1"]);
}

#[test]
fn tests_that_take_longer_than_a_minute_get_a_jvm_without_options_of_ralphs_from_then_on() {
    let bed = Bed::new();
    let took = |seconds: u64| {
        let (_, commands) = bed.play(vec![Pit {
            tests: format!(r#"["FooTest","a()",true,{seconds}000,[]]"#),
            ..pit(OK, "", Some(&report(&["KILLED"])))
        }]);
        told_jvms(&commands)
    };
    assert_eq!(
        [took(60), took(61), took(30), took(30)].concat(),
        ["quick 2", "quick 2", "plain 2", "plain 2"]
    );
}

#[test]
fn red_tests_elsewhere_are_left_out_and_told_and_own_ones_fail() {
    let bed = Bed::new();
    let own = vec![red(&["FooTest"])];
    assert!(is_fail(
        &bed.verdict(own),
        "The test FooTest.red fails without any mutation."
    ));
    let both = bed.verdict(vec![without(&["FooTest", "OtherTest"], &["KILLED"])]);
    assert!(is_fail(&both, "The test FooTest.red fails") && !is_fail(&both, "OtherTest"));
    let printed = "1:00:00 AM PIT >> SEVERE : Tests failing without mutation: \n\
        Description [testClass=FooTest, name=red(FooTest)]\n";
    let run = pit(OK, printed, Some(&report(&["KILLED"])));
    assert_eq!(
        bed.verdict(vec![run]),
        Verdict::Pass,
        "text of a test is no failure"
    );
}

#[test]
fn mutants_without_a_verdict_get_one_run_alone_and_then_stay_outside_the_score() {
    let bed = Bed::new();
    let first = report(&["KILLED", "RUN_ERROR", "MEMORY_ERROR"]);
    let (better, commands) = bed.play(vec![
        pit(OK, "", Some(&first)),
        pit(
            OK,
            "",
            Some(&report(&["KILLED", "SURVIVED", "MEMORY_ERROR"])),
        ),
    ]);
    assert!(is_fail(&better.verdict, "is 50% (1/2)"), "{better:?}");
    assert!(
        better
            .remarks
            .iter()
            .any(|remark| remark
                .ends_with("in an error of the JVM stay outside the score: Foo.java:2.")),
        "{:?}",
        better.remarks
    );
    assert_eq!(
        (
            option(&commands[0], "mutationUnitSize"),
            option(&commands[1], "mutationUnitSize")
        ),
        (Some("0"), Some("1"))
    );
    let [killed, error] = ["KILLED", "RUN_ERROR"];
    let most = || {
        pit(
            OK,
            "",
            Some(&report(&[killed, killed, error, error, error, error])),
        )
    };
    let why = "Most mutants of class Foo of package p have no verdict: 4 mutants ended in an error of the process that ran \
        the tests, and 2 did not.";
    assert!(is_error(&bed.verdict(vec![most(), most()]), why, false));
    let only_errors = || pit(OK, "", Some(&report(&["RUN_ERROR"])));
    assert!(is_error(
        &bed.verdict(vec![only_errors(), only_errors()]),
        " have no verdict: ",
        false
    ));
}

#[test]
fn a_target_without_mutants_is_no_target_since_no_filter_hides_what_is_written() {
    let bed = Bed::new();
    let empty = || pit(OK, "", Some(&report(&[])));
    let (skip, commands) = bed.play(vec![empty()]);
    assert!(matches!(skip.verdict, Verdict::Skip { .. }), "{skip:?}");
    let off = option(&commands[0], "features").unwrap_or_default();
    assert!(
        ["-FANN", "-FRECORD", "-FLOGCALL", "-FSTATI"]
            .iter()
            .all(|filter| off.contains(filter)),
        "{off}"
    );
}

#[test]
fn a_build_without_class_files_or_test_classes_is_no_skip() {
    let bed = Bed::new();
    fs_err::remove_dir_all(bed.folder.path().join("p/target/test-classes")).unwrap();
    assert!(is_error(
        &bed.verdict(Vec::new()),
        "makes no test classes although it has test sources",
        false
    ));
    fs_err::remove_dir_all(bed.folder.path().join("p/target/classes")).unwrap();
    assert!(is_error(
        &bed.verdict(Vec::new()),
        "makes no class file for Foo",
        false
    ));
}

#[test]
fn a_link_in_place_of_a_class_is_refused_before_anything_runs() {
    let bed = Bed::new();
    let file = bed.folder.path().join("p/src/main/java/Foo.java");
    fs_err::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    assert!(is_fail(
        &bed.verdict(Vec::new()),
        "p/src/main/java/Foo.java is a symbolic link"
    ));
    assert!(!bed.folder.path().join("cache").exists());
}

fn own_first() -> GateSettings {
    GateSettings {
        tests: TestTiers::OwnFirst,
        ..settings()
    }
}

#[test]
fn own_tests_that_suffice_are_the_only_ones_that_run() {
    let bed = Bed::new();
    let script = vec![pit(
        OK,
        "",
        Some(&report(&["KILLED", "KILLED", "KILLED", "NO_COVERAGE"])),
    )];
    let (good, commands) = bed.play_with(&own_first(), script);
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "75% (3/4)")
    );
    assert_eq!(asked(&commands), "FooTest");
    assert_eq!(option(&commands[0], "kept"), Some("C\tFoo\n"));
    assert_eq!(
        (good.trace.tiers.len(), good.trace.tiers[0].name.as_str()),
        (1, "own")
    );
}

#[test]
fn what_own_tests_leave_goes_to_the_others_and_the_counts_add_up() {
    let bed = Bed::new();
    let first = report(&["KILLED", "SURVIVED", "NO_COVERAGE", "EQUIVALENT"]);
    let others = |statuses: &[&str]| {
        let rows: Vec<&str> = ["SKIP"].iter().chain(statuses).copied().collect();
        report(&rows)
    };
    let kept = "C\tFoo\nM\tFoo\ta\t()V\tx.MathMutator\t1\nM\tFoo\ta\t()V\tx.MathMutator\t2\n";
    let script = || {
        vec![
            pit(OK, "", Some(&first)),
            pit(OK, "", Some(&others(&["KILLED", "SURVIVED"]))),
        ]
    };
    let (last, commands) = bed.play_last(&own_first(), script());
    assert!(is_fail(&last.verdict, "is 66% (2/3)"), "{last:?}");
    assert_eq!(
        asked(&commands),
        "FooTest | FooTest,OtherTest",
        "the last word is all tests' in one run"
    );
    let (weak, commands) = bed.play_with(&own_first(), script());
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    assert_eq!(asked(&commands), "FooTest | FooTest,OtherTest");
    assert_eq!(option(&commands[1], "kept"), Some(kept));
    assert_eq!(
        (weak.survivors_total, weak.survivors[0].mutant.line),
        (1, 2)
    );
    let both = || pit(OK, "", Some(&others(&["KILLED", "KILLED"])));
    let (good, commands) = bed.play_with(
        &own_first(),
        vec![pit(OK, "", Some(&first)), both(), both()],
    );
    let is_search = |argv: &Vec<String>| option(argv, "options") == Some("O\tsearch\nO\tmutants\n");
    assert_eq!(
        commands.iter().map(is_search).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(
        option(&commands[2], "kept"),
        Some(kept),
        "what the search killed meets controls"
    );
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (3/3)")
    );
    let script = vec![
        pit(OK, "", Some(&first)),
        pit(OK, "", Some(&others(&["KILLED"]))),
    ];
    // A mutant that a later run loses stays alive.
    let (lost, _) = bed.play_with(&own_first(), script);
    assert!(is_fail(&lost.verdict, "is 66% (2/3)"), "{lost:?}");
    let own = GateSettings {
        tests: TestTiers::Own,
        ..settings()
    };
    let (own, _) = bed.play_with(&own, vec![pit(OK, "", Some(&first))]);
    assert!(is_fail(&own.verdict, "is 33% (1/3)"), "{own:?}");
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

#[test]
fn red_tests_of_others_are_left_out_of_every_run_and_told_once() {
    let bed = Bed::new();
    let all = || without(&["OtherTest", "NowhereTest"], &["KILLED"]);
    let (good, commands) = bed.play_with(
        &own_first(),
        vec![without(&[], &["SURVIVED"]), all(), all()],
    );
    assert_eq!(
        asked(&commands),
        "FooTest | FooTest,OtherTest | FooTest,OtherTest",
        "a search, and its controls"
    );
    assert_eq!(good.verdict, Verdict::Pass);
    let told = "Unrelated tests of p fail even without mutation and were \
        excluded: NowhereTest.red, OtherTest.red.";
    assert_eq!(good.remarks, [told]);
}

#[test]
fn an_own_test_that_is_red_in_company_alone_fails() {
    let bed = Bed::new();
    let script = vec![without(&[], &["SURVIVED"]), red(&["FooTest", "OtherTest"])];
    let (bad, commands) = bed.play_last(&own_first(), script);
    assert_eq!(asked(&commands), "FooTest | FooTest,OtherTest");
    assert!(
        is_fail(&bad.verdict, "The test FooTest.red fails"),
        "{bad:?}"
    );
}

#[test]
fn time_outs_that_decide_are_run_again_alone_when_nothing_else_runs() {
    let bed = Bed::new();
    let first = || pit(OK, "", Some(&report(&["KILLED", "TIMED_OUT", "TIMED_OUT"])));
    let alone = |statuses: &[&str]| pit(OK, "", Some(&report(&[&["SKIP"], statuses].concat())));
    let (good, commands) = bed.play(vec![first(), alone(&["TIMED_OUT", "KILLED"])]);
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (3/3)")
    );
    let told = |argv: &[String]| {
        ["timeoutConst", "mutationUnitSize", "threads"]
            .map(|name| option(argv, name).unwrap_or("").to_owned())
    };
    assert_eq!(
        (told(&commands[0]), told(&commands[1])),
        (
            ["1000", "0", "2"].map(String::from),
            ["4000", "1", "1"].map(String::from)
        )
    );
    let (weak, _) = bed.play(vec![first(), alone(&["SURVIVED", "TIMED_OUT"])]);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    let sure = vec![pit(
        OK,
        "",
        Some(&report(&["KILLED", "KILLED", "KILLED", "TIMED_OUT"])),
    )];
    assert_eq!(
        bed.verdict(sure),
        Verdict::Pass,
        "a time-out that does not decide is not run again"
    );
}

const OWN_FAILED: &str = r#"["Foo","KILLED",["FooTest","a(FooTest)"]]"#;
const OTHER_FAILED: &str = r#"["Foo","KILLED",["OtherTest","a(OtherTest)"]]"#;
const TIMED_OUT: &str = r#"["Foo","TIMED_OUT",["",""]]"#;
const PASSED: &str = r#"["Foo","SURVIVED",["",""]]"#;
const ENDED: &str = r#"["Foo","RUN_ERROR",["",""]]"#;

#[test]
fn a_test_that_fails_in_a_control_is_blamed_or_left_out_where_its_kills_decide() {
    let bed = Bed::new();
    let own = bed.verdict(vec![
        beside(OWN_FAILED, &["KILLED"]),
        beside(OWN_FAILED, &["KILLED"]),
    ]);
    assert!(
        is_fail(
            &own,
            "The test FooTest.a fails in PIT's worker on unmutated code"
        ),
        "{own:?}"
    );

    let first = || beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]);
    let rest = |control, statuses: &[&str]| beside(control, &[&["SKIP"], statuses].concat());
    let red = || rest(OTHER_FAILED, &["KILLED", "KILLED"]);
    for file in [
        "src/test/java/LaterTest.java",
        "target/test-classes/LaterTest.class",
    ] {
        fs_err::write(bed.folder.path().join("p").join(file), "").unwrap();
    }
    // The search, its controls, these in one JVM at a time, the search without the one that failed.
    let script = vec![
        first(),
        red(),
        red(),
        red(),
        rest(PASSED, &["KILLED", "SURVIVED"]),
    ];
    let (weak, commands) = bed.play_with(&own_first(), script);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    let all = "FooTest,LaterTest,OtherTest";
    assert_eq!(
        asked(&commands),
        format!("FooTest | {all} | {all} | {all} | FooTest,LaterTest")
    );
    assert_eq!(
        told_jvms(&commands),
        ["quick 2", "quick 2", "quick 2", "quick 1", "quick 2"]
    );
    let kept = "C\tFoo\nM\tFoo\ta\t()V\tx.MathMutator\t1\nM\tFoo\ta\t()V\tx.MathMutator\t2\n";
    assert_eq!(option(&commands[4], "kept"), Some(kept));
    let told = "Unrelated tests of p fail in PIT's worker on unmutated code, \
        so their classes were excluded: OtherTest.a.";
    assert_eq!(weak.remarks, [told]);

    let (stays, _) = bed.play_with(
        &own_first(),
        vec![first(), red(), red(), red(), red(), red(), red()],
    );
    assert!(
        is_error(
            &stays.verdict,
            "OtherTest ran although it was to be left out",
            false
        ),
        "{stays:?}"
    );
}

#[test]
fn what_fails_in_a_control_beside_another_jvm_and_not_alone_is_run_in_one_from_then_on() {
    let bed = Bed::new();
    let first = || beside(OWN_FAILED, &["KILLED", "KILLED", "KILLED"]);
    let script = vec![
        first(),
        beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]),
        beside(PASSED, &["SKIP", "KILLED", "SURVIVED"]),
    ];
    let (weak, commands) = bed.play_with(&own_first(), script);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1", "quick 1"]);
    let told = "Tests of p fail while another JVM runs and pass alone, so mutants ran in one JVM at a time: FooTest.a. Look for a \
        fixed port, file or database; gates.PITEST.jobs: 1 saves the first run.";
    assert_eq!(weak.remarks, [told]);
    let ended = beside(ENDED, &["KILLED", "RUN_ERROR", "RUN_ERROR"]);
    let (weak, commands) = bed.play(vec![
        ended,
        beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]),
    ]);
    assert!(is_fail(&weak.verdict, "is 33% (1/3)"), "{weak:?}");
    assert_eq!(
        (told_jvms(&commands).join(", "), weak.remarks.len()),
        ("quick 2, quick 1".to_owned(), 1)
    );
    // With one job no JVM ran next to it, so the test itself is to blame.
    let alone = GateSettings {
        jobs: 1,
        ..own_first()
    };
    let (blamed, _) = bed.play_with(&alone, vec![first()]);
    assert!(
        is_fail(&blamed.verdict, "The test FooTest.a fails in PIT's worker"),
        "{blamed:?}"
    );
    // A second run that is red clears no test.
    let blamed = bed.verdict(vec![first(), red(&["FooTest"])]);
    assert!(
        is_fail(&blamed, "The test FooTest.a fails in PIT's worker"),
        "{blamed:?}"
    );
}

#[test]
fn a_control_without_a_verdict_is_run_again_with_patience_and_then_forbids_a_pass() {
    let bed = Bed::new();
    let (good, commands) = bed.play(vec![
        beside(TIMED_OUT, &["KILLED"]),
        beside(PASSED, &["KILLED"]),
    ]);
    assert_eq!(
        (&good.verdict, good.remarks.len()),
        (&Verdict::Pass, 0),
        "{good:?}"
    );
    let told = |argv: &[String]| {
        ["timeoutConst", "mutationUnitSize"].map(|name| option(argv, name).unwrap_or("").to_owned())
    };
    assert_eq!(
        (told(&commands[0]), told(&commands[1])),
        (
            ["1000", "0"].map(String::from),
            ["4000", "0"].map(String::from)
        )
    );
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1"]);
    for control in [TIMED_OUT, ENDED, r#"["Other","SURVIVED",["",""]]"#, ""] {
        let (unclear, _) = bed.play(vec![
            beside(control, &["KILLED"]),
            beside(control, &["KILLED"]),
        ]);
        assert!(
            is_error(&unclear.verdict, "although nothing was mutated", false),
            "{control}: {unclear:?}"
        );
        let weak = || beside(control, &["TIMED_OUT", "SURVIVED"]);
        assert!(
            is_fail(&bed.verdict(vec![weak(), weak()]), "is 50% (1/2)"),
            "{control}"
        );
    }
}

#[test]
fn a_scope_of_lines_keeps_the_mutants_on_changed_lines_and_nothing_on_none() {
    let bed = Bed::new();
    let lines = GateSettings {
        scope: ScopeKind::Lines,
        ..settings()
    };
    let script = vec![pit(OK, "", Some(&report(&["KILLED"])))];
    let (good, commands) = bed.play_with(&lines, script);
    assert_eq!(good.verdict, Verdict::Pass);
    assert_eq!(
        option(&commands[0], "kept"),
        Some("C\tFoo\nL\tFoo.java\t3-4\nL\tFoo.java\t9-9\n")
    );
    let empty = || pit(OK, "", Some(&report(&[])));
    let (skip, _) = bed.play_with(&lines, vec![empty()]);
    let why = "There is nothing to mutate in the changed lines of Foo.".to_owned();
    assert_eq!(skip.verdict, Verdict::Skip { why });
}

/// A checkout of the base of the family.
struct Base(PathBuf);

impl Checkouts for Base {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(Some(self.0.clone()))
    }
}

/// A script whose tests write a class file while PIT runs.
struct Planting(Script);

impl Spawn for Planting {
    fn start(&self, spec: &ProcessSpec) -> std::io::Result<Box<dyn Running>> {
        if spec.argv.iter().any(|arg| arg == "--reportDir") {
            fs_err::write(self.0.root.join("target/classes/Planted.class"), "x")?;
        }
        self.0.start(spec)
    }
}

#[test]
fn a_file_of_the_base_that_cannot_be_read_gives_no_verdict_and_without_a_base_classes_are_judged_whole()
 {
    let (bed, base) = (Bed::new(), Bed::new());
    let auto = GateSettings {
        scope: ScopeKind::Auto,
        ..settings()
    };
    // The statuses are those of lines 0 to 4, of which 3 and 4 are changed.
    let strong_in_the_change = report(&["SURVIVED", "SURVIVED", "SURVIVED", "KILLED", "KILLED"]);
    let pit = || pit(OK, "", Some(&strong_in_the_change));
    let mut request = bed.request();
    request.packages[0].changes[0].old = Some(Oid::zero());
    let (whole, _) = bed.play_request(&request, &auto, vec![pit()]);
    assert!(is_fail(&whole.verdict, "is 40% (2/5)"), "{whole:?}");
    assert!(
        whole.remarks[0].contains("there is none. A class without a score there is judged whole."),
        "{whole:?}"
    );

    let root = base.folder.path().join("p");
    std::os::unix::fs::symlink("/nowhere", root.join("target/test-classes/messages.txt")).unwrap();
    let (unread, _) = bed.play_in(&Base(root), &request, &auto, vec![pit()]);
    assert!(is_error(&unread.verdict, "I/O error", true), "{unread:?}");
    assert!(
        is_error(&unread.verdict, "messages.txt", true),
        "{unread:?}"
    );
}

#[test]
fn a_class_of_others_that_names_pit_gives_no_verdict() {
    let bed = Bed::new();
    let file = bed
        .folder
        .path()
        .join("p/target/test-classes/OtherTest.class");
    fs_err::write(file, "org.pitest.testapi.TestUnit").unwrap();
    let why = "OtherTest names PIT (org.pitest): it could ask whether it is being mutated.";
    assert!(is_error(&bed.verdict(Vec::new()), why, false));
}

#[test]
fn class_files_that_are_written_while_they_are_judged_give_no_verdict() {
    let bed = Bed::new();
    let whole = pit(OK, "", Some(&report(&["KILLED"])));
    let script = Script {
        root: bed.folder.path().join("p"),
        pit: Mutex::new(VecDeque::from([whole])),
        commands: Mutex::default(),
    };
    let spawn = Planting(script);
    let ports = GatePorts {
        spawn: &spawn,
        progress: &|_| {},
        checkouts: &NoCheckouts,
    };
    let verdict = run_gate(&bed.request(), &settings(), &ports).verdict;
    assert!(
        is_error(
            &verdict,
            "Class files of p were changed while they were judged.",
            false
        ),
        "{verdict:?}"
    );
}
