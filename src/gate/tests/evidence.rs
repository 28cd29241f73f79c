//! Verdicts that no text of a test or a build, no foreign cause and no gap in what ran may change.

use super::*;
use crate::gate::{Build, OutputState};
use crate::mutation::NoCoverage;
use std::collections::BTreeSet;

#[test]
fn nothing_to_mutate_is_believed_of_the_plugin_alone() {
    let bed = Bed::new();
    let words = "Exception in thread \"main\" org.pitest.help.PitHelpError: No mutations found. This probably";
    let weak = report(&["SURVIVED"]);
    let weak = bed.verdict(vec![pit(OK, words, Some(&weak))]);
    assert!(is_fail(&weak, "is 0% (0/1)"), "{weak:?}");
    let bare = bed.verdict(vec![pit(OK, words, None)]);
    assert!(
        is_error(&bare, "there is no results.json", false),
        "{bare:?}"
    );
    let bad = bed.verdict(vec![pit(BAD, words, None)]);
    assert!(is_error(&bad, "No mutations found", false), "{bad:?}");
    let nothing = bed.verdict(vec![pit(OK, "", Some(""))]);
    assert!(
        matches!(&nothing, Verdict::Skip { why } if why.contains("nothing to mutate in Foo")),
        "{nothing:?}"
    );
}

#[test]
fn mutants_that_the_jvm_refuses_have_no_verdict_and_are_no_way_to_a_skip_or_a_pass() {
    let bed = Bed::new();
    let (killed, refused) = ("KILLED", "NON_VIABLE");
    let all = || pit(OK, "", Some(&report(&[refused, refused, refused])));
    let verdict = bed.verdict(vec![all(), all()]);
    assert!(
        is_error(
            &verdict,
            "Most mutants of class Foo of package p have no verdict",
            false
        ),
        "{verdict:?}"
    );
    let half = || {
        pit(
            OK,
            "",
            Some(&report(&[
                killed, killed, killed, refused, refused, refused,
            ])),
        )
    };
    let verdict = bed.verdict(vec![half(), half()]);
    assert!(is_fail(&verdict, "too many for a pass"), "{verdict:?}");
    let few = || pit(OK, "", Some(&report(&[killed, killed, killed, refused])));
    let (few, _) = bed.play(vec![few(), few()]);
    assert_eq!(few.verdict, Verdict::Pass);
    assert!(
        few.remarks
            .iter()
            .any(|remark| remark.starts_with("Mutants of Foo that ended in an error of the JVM")),
        "{:?}",
        few.remarks
    );
}

#[test]
fn a_refused_mutant_costs_its_class_its_verdict_and_an_agent_is_blamed_only_where_none_took_its_place()
 {
    let bed = Bed::new();
    let words = "stderr  : java.lang.UnsupportedOperationException: class redefinition failed: attempted to add a method";
    let run = |statuses: &[&str]| pit(OK, words, Some(&report(statuses)));
    let none = bed.verdict(vec![run(&["RUN_ERROR", "RUN_ERROR"])]);
    assert!(
        is_error(&none, "an agent in the JVM of the tests", false),
        "{none:?}"
    );
    let most = ["KILLED", "KILLED", "KILLED", "RUN_ERROR"];
    assert_eq!(bed.verdict(vec![run(&most), run(&most)]), Verdict::Pass);
}

#[test]
fn changed_tests_count_by_their_class_files_and_not_by_words_of_their_sources() {
    let bed = Bed::new();
    let package = bed.folder.path().join("p");
    let mut request = bed.request();
    let change = &mut request.packages[0].changes[0];
    (change.path, change.kind) = (RepoPath::parse("src/test/java/ShapeTest.java"), Kind::Test);
    fs_err::write(
        package.join("src/test/java/ShapeTest.java"),
        "// no abstract class",
    )
    .unwrap();
    let class = |name: &str, access, words: &str| {
        let file = package.join(format!("target/test-classes/{name}.class"));
        fs_err::write(file, class_file(name, access, b"\0\0", words)).unwrap();
    };
    let told = |log: &str| {
        fs_err::write(package.join("maven.log"), log).unwrap();
        bed.play_request(&request, &settings(), Vec::new())
            .0
            .verdict
    };
    let red = "[INFO] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n";
    let none = "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n";
    // All of its tests are inherited.
    class("ShapeContract", 0x0420, "Lorg/junit/jupiter/api/Test;");
    class("ShapeTest", 0x20, "LShapeContract;");
    assert!(is_fail(&told(red), "Changed tests of p fail."));
    assert!(is_error(
        &told(none),
        "ran none of the changed test classes",
        false
    ));
    // A helper that is named like a test, and a base class that nothing runs.
    class("ShapeTest", 0x20, "LHelper;");
    assert!(
        matches!(told(none), Verdict::Skip { .. }),
        "{:?}",
        told(none)
    );
    assert!(is_fail(&told(red), "Changed tests of p fail."));
    class("ShapeTest", 0x0420, "LShapeContract;");
    assert!(matches!(told(red), Verdict::Skip { .. }));
}

#[test]
fn red_changed_tests_fail_whatever_they_print_about_networks_and_compilers() {
    let bed = Bed::new();
    let package = bed.folder.path().join("p");
    let mut request = bed.request();
    let change = &mut request.packages[0].changes[0];
    (change.path, change.kind) = (RepoPath::parse("src/test/java/FooTest.java"), Kind::Test);
    fs_err::write(package.join("src/test/java/FooTest.java"), "@Test").unwrap();
    fs_err::write(package.join("maven.red"), "").unwrap();
    for words in [
        "java.net.UnknownHostException: x",
        "[ERROR] COMPILATION ERROR :",
    ] {
        let log = format!("{words}\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n");
        fs_err::write(package.join("maven.log"), log).unwrap();
        let verdict = bed
            .play_request(&request, &settings(), Vec::new())
            .0
            .verdict;
        assert!(
            is_fail(&verdict, "Changed tests of p fail."),
            "{words}: {verdict:?}"
        );
    }
}

#[test]
fn the_score_at_the_base_is_measured_without_tests_that_fail_in_a_control_as_the_task_is() {
    let (bed, base) = (Bed::new(), Bed::new());
    let auto = GateSettings {
        scope: ScopeKind::Auto,
        jobs: 1,
        ..settings()
    };
    let mut request = bed.request();
    request.packages[0].changes[0].old = Some(Oid::zero());
    let now = || {
        pit(
            OK,
            "",
            Some(&report(&[
                "SURVIVED", "SURVIVED", "SURVIVED", "KILLED", "KILLED",
            ])),
        )
    };
    let all = ["KILLED"; 5];
    // At the base a test of others fails in a control; without it all mutants are killed nevertheless.
    let script = vec![now(), beside(OTHER_FAILED, &all), beside(PASSED, &all)];
    let root = base.folder.path().join("p");
    let (fallen, _) = bed.play_in(&Base(root), &request, &auto, script);
    assert!(
        is_fail(
            &fallen.verdict,
            "as a whole is 40% (2/5); it was 100% (5/5)"
        ),
        "{fallen:?}"
    );
}

/// The outputs of each build that was noted are there.
#[derive(Default)]
struct KeptOutputs(Mutex<BTreeSet<String>>);

impl Checkouts for KeptOutputs {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn output_state(&self, key: &str) -> OutputState {
        if self.0.lock().unwrap().contains(key) {
            OutputState::Current
        } else {
            OutputState::Nothing
        }
    }

    fn note_build(&self, build: &Build) {
        self.0.lock().unwrap().insert(build.key.clone());
    }
}

#[test]
fn a_variable_of_the_builds_environment_is_part_of_what_a_known_module_depends_on() {
    let bed = Bed::new();
    let kept = KeptOutputs::default();
    let calls = |mode: &str| {
        let mut request = bed.request();
        request.env.push(("MODE".to_owned(), mode.to_owned()));
        let spawn = Script {
            root: bed.folder.path().join("p"),
            pit: Mutex::new(VecDeque::from([pit(OK, "", Some(&report(&["KILLED"])))])),
            commands: Mutex::default(),
        };
        let ports = GatePorts {
            spawn: &spawn,
            progress: &|_| {},
            checkouts: &kept,
        };
        assert_eq!(
            run_gate(&request, &settings(), &ports).verdict,
            Verdict::Pass
        );
        let commands = spawn.commands.into_inner().unwrap();
        commands
            .iter()
            .any(|argv| argv.iter().any(|arg| arg.contains("effective-pom")))
    };
    assert_eq!(
        [calls("strict"), calls("strict"), calls("lax")],
        [true, false, true]
    );
}

#[test]
fn a_jar_of_pits_that_was_cut_off_is_named_with_what_to_do() {
    let bed = Bed::new();
    let whole = || vec![pit(OK, "", Some(&report(&["KILLED"])))];
    assert_eq!(bed.verdict(whole()), Verdict::Pass);
    fs_err::write(bed.folder.path().join("p/junit-4.13.2.jar"), "PK").unwrap();
    let Verdict::Error {
        why,
        hint,
        transient: false,
    } = bed.verdict(Vec::new())
    else {
        panic!()
    };
    assert!(
        why.contains("junit-4.13.2.jar cannot be read to its end.") && hint.contains("Remove it"),
        "{why}"
    );
    fs_err::write(bed.folder.path().join("p/junit-4.13.2.jar"), b"PK\x05\x06").unwrap();
    assert_eq!(bed.verdict(whole()), Verdict::Pass, "got again");
}

#[test]
fn a_time_out_whose_tests_were_left_out_of_its_second_run_kills_nothing() {
    let bed = Bed::new();
    let first = pit(OK, "", Some(&report(&["KILLED", "TIMED_OUT", "TIMED_OUT"])));
    let alone = pit(OK, "", Some(&report(&["SKIP", "NO_COVERAGE", "TIMED_OUT"])));
    let verdict = bed.verdict(vec![first, alone]);
    assert!(is_fail(&verdict, "is 66% (2/3)"), "{verdict:?}");
}

#[test]
fn a_confirmed_time_out_is_run_again_once_a_test_was_left_out() {
    let bed = Bed::new();
    let (k, s, t, skip) = ("KILLED", "SURVIVED", "TIMED_OUT", "SKIP");
    let skip5 = [skip; 5];
    let after5 =
        |control, statuses: [&'static str; 5]| beside(control, &[skip5, statuses].concat());
    let red = || after5(OTHER_FAILED, [skip, s, k, s, s]);
    let script = |again| {
        vec![
            beside(PASSED, &[[k; 5], [t, t, s, s, s]].concat()),
            after5(PASSED, [t, s, skip, skip, skip]),
            // The search, its controls, these in one JVM at a time, the search without the test that failed, and its controls.
            red(),
            red(),
            red(),
            after5(PASSED, [skip, s, k, s, s]),
            after5(PASSED, [skip, skip, k, skip, skip]),
            after5(PASSED, [again, skip, skip, skip, skip]),
        ]
    };
    let (weak, _) = bed.play_with(&own_first(), script(s));
    assert!(is_fail(&weak.verdict, "is 60% (6/10)"), "{weak:?}");
    let (good, _) = bed.play_with(&own_first(), script(t));
    assert_eq!(good.verdict, Verdict::Pass, "{good:?}");
}

#[test]
fn more_tests_could_lower_a_score_without_the_mutants_that_none_reaches_so_all_run_at_once() {
    let bed = Bed::new();
    let ignoring = GateSettings {
        no_coverage: NoCoverage::Ignore,
        ..own_first()
    };
    let all = pit(OK, "", Some(&report(&["KILLED", "SURVIVED", "SURVIVED"])));
    let (weak, commands) = bed.play_with(&ignoring, vec![all]);
    assert!(is_fail(&weak.verdict, "is 33% (1/3)"), "{weak:?}");
    assert_eq!(asked(&commands), "FooTest,OtherTest");
}

#[test]
fn a_class_in_another_place_with_the_name_of_the_target_is_not_judged_in_its_stead() {
    let bed = Bed::new();
    let file = bed.folder.path().join("p/src/main/java/Foo.java");
    fs_err::write(file, "package elsewhere; class Foo { }").unwrap();
    let verdict = bed.verdict(Vec::new());
    let told = "was made from the class Foo in Foo.java, not from p/src/main/java/Foo.java.";
    assert!(is_fail(&verdict, told), "{verdict:?}");
}

#[test]
fn a_pom_that_lets_code_pass_which_does_not_compile_is_refused() {
    let bed = Bed::new();
    let plugins = "<plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration>\
        <failOnError>false</failOnError></configuration></plugin></plugins>";
    fs_err::write(bed.folder.path().join("p/more.plugins"), plugins).unwrap();
    let verdict = bed.verdict(Vec::new());
    let told = "The POM of p lets code pass that does not compile.";
    assert!(is_error(&verdict, told, false), "{verdict:?}");
}

#[test]
fn the_gate_of_all_languages_runs_changed_tests_in_another_language_of_the_jvm() {
    let bed = Bed::new();
    let package = bed.folder.path().join("p");
    fs_err::create_dir_all(package.join("src/test/groovy")).unwrap();
    fs_err::write(
        package.join("src/test/groovy/FooSpec.groovy"),
        "class FooSpec { }",
    )
    .unwrap();
    fs_err::write(package.join("target/test-classes/FooSpec.class"), "").unwrap();
    let mut request = bed.request();
    request.name = "MUTATION".to_owned();
    let change = &mut request.packages[0].changes[0];
    (change.path, change.kind) = (
        RepoPath::parse("src/test/groovy/FooSpec.groovy"),
        Kind::Test,
    );
    let red = "[INFO] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n";
    fs_err::write(package.join("maven.log"), red).unwrap();
    let verdict = bed
        .play_request(&request, &settings(), Vec::new())
        .0
        .verdict;
    assert!(is_fail(&verdict, "Changed tests of p fail."), "{verdict:?}");
}

#[test]
fn a_build_file_that_the_task_changed_is_not_to_blame_for_its_base() {
    let (bed, base) = (Bed::new(), Bed::new());
    let auto = GateSettings {
        scope: ScopeKind::Auto,
        ..settings()
    };
    let root = base.folder.path().join("p");
    fs_err::remove_dir_all(root.join("target/test-classes")).unwrap();
    let mut request = bed.request();
    request.packages[0].changes[0].old = Some(Oid::zero());
    let mut build = request.packages[0].changes[0].clone();
    (build.path, build.kind) = (RepoPath::parse("pom.xml"), Kind::Build);
    request.packages[0].changes.push(build);
    let now = pit(OK, "", Some(&report(&["KILLED"; 5])));
    let (report, _) = bed.play_in(&Base(root), &request, &auto, vec![now]);
    let told = "makes no test classes although it has test sources";
    assert!(is_error(&report.verdict, told, false), "{report:?}");
}
