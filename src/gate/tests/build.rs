//! Classes of a build that are not judged, tests that are not asked, and the JDK.

use super::*;

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
