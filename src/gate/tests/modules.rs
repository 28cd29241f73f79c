//! Verdicts on what several modules of a package have to do with.

use super::*;
use crate::mutation::{NoCoverage, Per};

/// Returns a package whose `Foo` is in one module and has a test of its own in each of two others.
fn in_modules() -> Bed {
    let bed = Bed::new();
    let package = bed.folder.path().join("p");
    for module in ["core", "it", "unit"] {
        for folder in ["src/test/java", "target/classes", "target/test-classes"] {
            fs_err::create_dir_all(package.join(module).join(folder)).unwrap();
        }
        fs_err::write(package.join(module).join("pom.xml"), "<project/>").unwrap();
        if module != "core" {
            fs_err::write(package.join(module).join("src/test/java/FooTest.java"), "").unwrap();
            fs_err::write(
                package
                    .join(module)
                    .join("target/test-classes/FooTest.class"),
                "",
            )
            .unwrap();
        }
    }
    fs_err::create_dir_all(package.join("core/src/main/java")).unwrap();
    fs_err::rename(
        package.join("src/main/java/Foo.java"),
        package.join("core/src/main/java/Foo.java"),
    )
    .unwrap();
    fs_err::rename(
        package.join("target/classes/Foo.class"),
        package.join("core/target/classes/Foo.class"),
    )
    .unwrap();
    for gone in ["src", "target"] {
        fs_err::remove_dir_all(package.join(gone)).unwrap();
    }
    bed
}

/// A request that changed `Foo`, and the settings of `scope: auto`; the second bed is the base.
fn changed_in_core(bed: &Bed, base: &Bed) -> (GateRequest, GateSettings) {
    let [package, base] = [bed, base].map(|bed| bed.folder.path().join("p"));
    let classes = [&package, &base].map(|root| root.join("core/target/classes"));
    let classes = classes.map(|classes| format!(":{}", classes.display()));
    fs_err::write(package.join("more.classpath"), classes.concat()).unwrap();
    let mut request = bed.request();
    let file = RepoPath::parse("core/src/main/java/Foo.java");
    let change = &mut request.packages[0].changes[0];
    (change.path, change.old) = (file.clone(), Some(Oid::zero()));
    let lines = ChangedLines::Ranges(vec![(3, 4)]);
    request.packages[0].lines.insert(file, lines);
    let auto = GateSettings {
        scope: ScopeKind::Auto,
        ..settings()
    };
    (request, auto)
}

/// Adds a test class to a module.
fn add_test(bed: &Bed, module: &str, name: &str) {
    for file in [
        format!("src/test/java/{name}.java"),
        format!("target/test-classes/{name}.class"),
    ] {
        let file = bed.folder.path().join("p").join(module).join(file);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, "").unwrap();
    }
}

/// One run of PIT for each row of statuses.
fn runs(rows: &[&[&str]]) -> Vec<Pit> {
    let rows = rows.iter();
    rows.map(|statuses| pit(OK, "", Some(&report(statuses))))
        .collect()
}

#[test]
fn a_class_with_tests_of_its_own_in_several_modules_is_judged_by_the_kills_of_all() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    let play = |rows: &[&[&str]]| bed.play_request(&request, &settings(), runs(rows)).0;
    // Neither module's tests suffice alone.
    let both = play(&[
        &["SURVIVED", "SURVIVED", "KILLED"],
        &["KILLED", "KILLED", "NO_COVERAGE"],
    ]);
    assert_eq!(
        (&both.verdict, both.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (3/3)"),
        "{both:?}"
    );
    assert_eq!(both.classes.len(), 1, "{:?}", both.classes);
    let weak = play(&[
        &["SURVIVED", "SURVIVED", "KILLED"],
        &["SURVIVED", "SURVIVED", "KILLED"],
    ]);
    assert!(
        is_fail(&weak.verdict, "is 33% (1/3)") && weak.classes.len() == 1,
        "{weak:?}"
    );
    let first = play(&[
        &["KILLED", "KILLED", "KILLED"],
        &["SURVIVED", "SURVIVED", "SURVIVED"],
    ]);
    assert_eq!(first.verdict, Verdict::Pass, "{first:?}");

    // At the base the tests of the first module killed all.
    let changed = ["SURVIVED", "SURVIVED", "SURVIVED", "KILLED", "KILLED"];
    let script = runs(&[&changed, &["KILLED"; 5], &changed, &changed]);
    let base = Base(base.folder.path().join("p"));
    let (lost, _) = bed.play_in(&base, &request, &auto, script);
    let told = "as a whole is 40% (2/5); it was 100% (5/5) before";
    assert!(is_fail(&lost.verdict, told), "{lost:?}");
}

#[test]
fn a_class_is_judged_once_where_other_modules_with_tests_of_its_name_do_not_use_it() {
    let bed = in_modules();
    add_test(&bed, "core", "FooTest");
    let mut request = bed.request();
    request.packages[0].changes[0].path = RepoPath::parse("core/src/main/java/Foo.java");
    let (none, commands) = bed.play_request(&request, &settings(), runs(&[&[]]));
    let why = "There is nothing to mutate in Foo.".to_owned();
    assert_eq!((none.verdict, commands.len()), (Verdict::Skip { why }, 1));
    let (judged, commands) = bed.play_request(&request, &settings(), runs(&[&["KILLED"]]));
    assert_eq!(judged.verdict, Verdict::Pass, "{judged:?}");
    assert_eq!(commands.len(), 1);
    for module in ["it", "unit"] {
        let told =
            format!("The tests of Foo are in another module (p/{module}) and do not run for it.");
        assert!(judged.remarks.contains(&told), "{judged:?}");
    }
}

/// A request that changed `Foo`, and also this new file in a module `b`.
fn changed_in_another_module(bed: &Bed, file: &str, kind: Kind) -> GateRequest {
    let package = bed.folder.path().join("p");
    for folder in ["b/target/classes", "b/target/test-classes"] {
        fs_err::create_dir_all(package.join(folder)).unwrap();
    }
    fs_err::write(package.join("b/pom.xml"), "<project/>").unwrap();
    fs_err::create_dir_all(package.join(file).parent().unwrap()).unwrap();
    fs_err::write(package.join(file), "").unwrap();
    let mut request = bed.request();
    let changes = &mut request.packages[0].changes;
    changes.push(FileChange {
        path: RepoPath::parse(file),
        kind,
        ..changes[0].clone()
    });
    request
}

#[test]
fn changed_tests_of_a_module_run_where_another_module_has_the_targets() {
    let bed = Bed::new();
    let request = changed_in_another_module(&bed, "b/src/test/java/BarTest.java", Kind::Test);
    let package = bed.folder.path().join("p");
    fs_err::write(package.join("b/target/test-classes/BarTest.class"), "").unwrap();
    fs_err::write(package.join("maven.red"), "").unwrap();
    let red = "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n";
    fs_err::write(package.join("maven.log"), red).unwrap();
    let (report, _) = bed.play_request(&request, &settings(), runs(&[&["KILLED"]]));
    assert!(
        is_fail(&report.verdict, "Changed tests of p/b fail."),
        "{report:?}"
    );
}

#[test]
fn the_score_to_keep_is_that_of_the_tests_of_all_modules_together() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    let base = Base(base.folder.path().join("p"));
    let (k, s) = ("KILLED", "SURVIVED");
    let script = runs(&[
        &[s, k, s, s, k],
        &[k, k, s, s, s],
        &[s, s, s, k, s],
        &[s, s, k, k, k],
    ]);
    let (lost, _) = bed.play_in(&base, &request, &auto, script);
    let told = "as a whole is 60% (3/5); it was 100% (5/5) before";
    assert!(is_fail(&lost.verdict, told), "{lost:?}");
}

#[test]
fn a_new_module_with_a_test_of_a_class_does_not_free_it_from_the_score_that_it_had() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    let base = base.folder.path().join("p");
    fs_err::remove_dir_all(base.join("unit")).unwrap();
    let (k, s) = ("KILLED", "SURVIVED");
    let changed = [s, k, k, k, k];
    let script = runs(&[&changed, &[k; 5], &changed]);
    let (lost, _) = bed.play_in(&Base(base), &request, &auto, script);
    let told = "as a whole is 80% (4/5); it was 100% (5/5) before";
    assert!(is_fail(&lost.verdict, told), "{lost:?}");
}

#[test]
fn a_class_is_judged_whole_where_the_base_of_one_of_its_modules_does_not_build() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    let base = base.folder.path().join("p");
    fs_err::write(base.join("it/maven.broken"), "").unwrap();
    let (k, s) = ("KILLED", "SURVIVED");
    let changed = [s, s, s, k, k];
    let script = runs(&[&changed, &changed, &[s; 5]]);
    let (weak, _) = bed.play_in(&Base(base), &request, &auto, script);
    assert!(is_fail(&weak.verdict, "is 40% (2/5), below"), "{weak:?}");
    let told =
        "The base of p/it cannot be measured, so its classes are judged whole: it does not build.";
    assert!(weak.remarks.iter().any(|remark| remark == told), "{weak:?}");
}

/// A request that changed `Foo` and took it off the class path of both modules with tests of it, by a file of this kind.
fn without_dependency(bed: &Bed, base: &Bed, kind: Kind) -> (GateRequest, GateSettings) {
    let (mut request, auto) = changed_in_core(bed, base);
    let changes = &mut request.packages[0].changes;
    changes.push(FileChange {
        path: RepoPath::parse("it/pom.xml"),
        kind,
        ..changes[0].clone()
    });
    // Only the base has the dependency.
    let classes = base.folder.path().join("p/core/target/classes");
    fs_err::write(
        bed.folder.path().join("p/more.classpath"),
        format!(":{}", classes.display()),
    )
    .unwrap();
    (request, auto)
}

#[test]
fn what_tests_killed_at_the_base_is_to_be_kept_though_they_no_longer_run_for_the_class() {
    let (k, s) = ("KILLED", "SURVIVED");
    let changed = [s, s, s, k, k];
    let keeps = "as a whole is 40% (2/5); it was 100% (5/5) before";
    // By the tests of `it` at the base, those of `core` now and then, and those of `unit` at the base.
    for (rows, why) in [
        ([[k; 5], changed, [s; 5], [s; 5]], keeps),
        ([[s; 5], changed, [s; 5], [k; 5]], keeps),
        ([[s; 5], changed, [s; 5], [s; 5]], ""),
    ] {
        let (bed, base) = (in_modules(), in_modules());
        // A file that is no build file by its name may take a dependency away.
        let (request, auto) = without_dependency(&bed, &base, Kind::Other);
        let rows = rows.each_ref().map(<[_; 5]>::as_slice);
        let base = Base(base.folder.path().join("p"));
        let (report, _) = bed.play_in(&base, &request, &auto, runs(&rows));
        if why.is_empty() {
            assert_eq!(report.verdict, Verdict::Pass, "{report:?}");
        } else {
            assert!(is_fail(&report.verdict, why), "{report:?}");
        }
        let told = "The tests of Foo are in another module (p/it) and do not run for it.";
        assert!(report.remarks.contains(&told.to_owned()), "{report:?}");
    }
    let (bed, base) = (in_modules(), in_modules());
    let (mut request, auto) = without_dependency(&bed, &base, Kind::Build);
    let base = base.folder.path().join("p");
    fs_err::write(base.join("unit/maven.broken"), "").unwrap();
    let rows = runs(&[&[s; 5], &changed, &[s; 5]]);
    let (whole, _) = bed.play_in(&Base(base.clone()), &request, &auto, rows);
    assert!(is_fail(&whole.verdict, "is 40% (2/5), below"), "{whole:?}");

    // Java alone takes no dependency away: they never ran for it.
    request.packages[0].changes.truncate(1);
    let rows = runs(&[&changed]);
    let (passed, _) = bed.play_in(&Base(base), &request, &auto, rows);
    assert_eq!(passed.verdict, Verdict::Pass, "{passed:?}");
}

#[test]
fn a_base_that_does_not_build_takes_no_score_away_that_others_made() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = without_dependency(&bed, &base, Kind::Other);
    for bed in [&bed, &base] {
        add_test(bed, "core", "FooTest");
    }
    let base = base.folder.path().join("p");
    for module in ["it", "unit"] {
        fs_err::write(base.join(module).join("maven.broken"), "").unwrap();
    }
    let (k, s) = ("KILLED", "SURVIVED");
    let rows = runs(&[&[k, k, k, k, s], &[k; 5]]);
    let (lost, _) = bed.play_in(&Base(base), &request, &auto, rows);
    let told = "as a whole is 80% (4/5); it was 100% (5/5) before";
    assert!(is_fail(&lost.verdict, told), "{lost:?}");
}

#[test]
fn tests_of_another_module_find_the_production_code_of_their_own() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, _) = changed_in_core(&bed, &base);
    let (_, commands) = bed.play_request(&request, &settings(), runs(&[&["KILLED"][..]; 2]));
    for (command, module) in commands.iter().zip(["it", "unit"]) {
        let file = option(command, "classPathFile").unwrap();
        let classpath = fs_err::read_to_string(file).unwrap();
        let own = format!("p/{module}/target/classes");
        assert!(
            classpath.lines().any(|entry| entry.ends_with(&own)),
            "{classpath}"
        );
    }
}

#[test]
fn all_tests_of_each_module_run_where_a_class_must_keep_a_score_that_several_modules_made() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    for module in ["it", "unit"] {
        add_test(&bed, module, "OtherTest");
    }
    let base = Base(base.folder.path().join("p"));
    let auto = GateSettings {
        tests: TestTiers::OwnFirst,
        ..auto
    };
    let (all, commands) = bed.play_in(&base, &request, &auto, runs(&[&["KILLED"; 5][..]; 4]));
    assert_eq!(all.verdict, Verdict::Pass);
    assert_eq!(
        asked(&commands),
        "FooTest,OtherTest | FooTest | FooTest,OtherTest | FooTest"
    );
}

/// Returns a package with a `Foo` and a test of its own in each of two modules, and a request that changed both.
fn two_of_one_name() -> (Bed, GateRequest) {
    let bed = in_modules();
    let package = bed.folder.path().join("p");
    for file in ["src/main/java/Foo.java", "target/classes/Foo.class"] {
        let copy = package.join("it").join(file);
        fs_err::create_dir_all(copy.parent().unwrap()).unwrap();
        fs_err::copy(package.join("core").join(file), copy).unwrap();
    }
    fs_err::create_dir_all(package.join("core/src/test/java")).unwrap();
    for file in [
        "src/test/java/FooTest.java",
        "target/test-classes/FooTest.class",
    ] {
        fs_err::rename(
            package.join("unit").join(file),
            package.join("core").join(file),
        )
        .unwrap();
    }
    let mut request = bed.request();
    let changes = &mut request.packages[0].changes;
    let mut other = changes[0].clone();
    other.path = RepoPath::parse("it/src/main/java/Foo.java");
    changes[0].path = RepoPath::parse("core/src/main/java/Foo.java");
    changes.push(other);
    (bed, request)
}

#[test]
fn time_outs_of_a_module_that_decide_about_several_are_run_again_alone() {
    let (bed, request) = two_of_one_name();
    let (k, s, t) = ("KILLED", "SURVIVED", "TIMED_OUT");
    let first: &[&str] = &[k, k, k, k, k, k, k, t, t, t];
    let alone: &[&str] = &[
        "SKIP", "SKIP", "SKIP", "SKIP", "SKIP", "SKIP", "SKIP", s, s, s,
    ];
    let second: &[&str] = &[k, k, k, k, k, k, s, s, s, s];
    let by_task = GateSettings {
        per: Per::Task,
        ..settings()
    };
    let (weak, _) = bed.play_request(&request, &by_task, runs(&[first, alone, second]));
    assert!(is_fail(&weak.verdict, "is 65% (13/20)"), "{weak:?}");
    // Each module's class is a unit of its own, though both have one name.
    let (weak, _) = bed.play_request(&request, &settings(), runs(&[&[k, s], &[k; 9]]));
    assert!(is_fail(&weak.verdict, "is 50% (1/2)"), "{weak:?}");
}

/// Plays a module in which a control takes the two kills of a nested class away, then a second module. Without them the first
/// passes and the whole does not.
fn assert_sought_again(
    bed: &Bed,
    request: &GateRequest,
    settings: &GateSettings,
    (module, first): (&str, &[&str]),
    second: &[&str],
) {
    add_test(bed, module, "OtherTest");
    let nested = report(&["KILLED"; 2]).replace(r#"["Foo","#, r#"["Foo$In","#);
    let outer = report(first);
    let controls = r#"["Foo","SURVIVED",["",""]],["Foo$In","KILLED",["OtherTest","a(OtherTest)"]]"#;
    let red = || Pit {
        control: controls,
        ..pit(OK, "", Some(&format!("{outer},{nested}")))
    };
    let again = Pit {
        control: r#"["Foo$In","SURVIVED",["",""]]"#,
        ..pit(OK, "", Some(&nested))
    };
    let script = vec![red(), red(), again, beside(PASSED, second)];
    let settings = GateSettings {
        threshold: 80,
        ..settings.clone()
    };
    let (passed, commands) = bed.play_request(request, &settings, script);
    assert_eq!(passed.verdict, Verdict::Pass, "{passed:?}");
    let kept = option(&commands[2], "kept").unwrap();
    assert_eq!(kept.matches("M\tFoo$In\t").count(), 2, "{kept}");
    assert_eq!(
        option(&commands[2], "options"),
        Some("O\tmutants\n"),
        "no search: what it kills may decide with the kills of others"
    );
}

#[test]
fn kills_that_a_failed_control_took_from_a_module_that_passes_are_sought_again_for_the_others() {
    let (k, s, n) = ("KILLED", "SURVIVED", "NO_COVERAGE");
    let by_task = GateSettings {
        per: Per::Task,
        ..settings()
    };
    let (bed, request) = two_of_one_name();
    let weak = [k, k, k, k, k, k, s, s, s, s];
    assert_sought_again(&bed, &request, &by_task, ("core", &[k; 8]), &weak);

    let of_reached = GateSettings {
        no_coverage: NoCoverage::Ignore,
        ..settings()
    };
    let bed = in_modules();
    let (request, _) = changed_in_core(&bed, &bed);
    let reaches_less = [k, k, k, k, k, k, k, k, n, n];
    assert_sought_again(&bed, &request, &of_reached, ("it", &reaches_less), &[s; 10]);
}

#[test]
fn a_time_out_that_a_module_has_confirmed_counts_in_the_modules_after_it() {
    let (bed, base) = (in_modules(), in_modules());
    let (request, auto) = changed_in_core(&bed, &base);
    let (k, s, t) = ("KILLED", "SURVIVED", "TIMED_OUT");
    let confirm = |status| ["SKIP", "SKIP", status, "SKIP", "SKIP"];
    for settings in [settings(), auto] {
        let play = |status| {
            let script = runs(&[&[k, k, t, s, s], &confirm(status), &[s, s, s, k, s]]);
            bed.play_request(&request, &settings, script).0
        };
        let passed = play(t);
        assert_eq!(passed.verdict, Verdict::Pass, "{passed:?}");
        let weak = play(s);
        assert!(is_fail(&weak.verdict, "is 60% (3/5)"), "{weak:?}");
    }
    // A test that fails in a control of the second module has confirmed nothing in the first.
    add_test(&bed, "unit", "OtherTest");
    let red = || beside(OTHER_FAILED, &[s, s, s, k, s]);
    let again = || beside(PASSED, &["SKIP", "SKIP", "SKIP", k, s]);
    let mut script = runs(&[&[k, k, t, s, s], &confirm(t)]);
    script.extend([red(), red(), again(), again()]);
    let (passed, _) = bed.play_request(&request, &settings(), script);
    assert_eq!(passed.verdict, Verdict::Pass, "{passed:?}");
}

#[test]
fn a_module_with_changed_code_is_built_where_another_module_has_the_targets() {
    let bed = Bed::new();
    let untested = "b/src/main/java/Untested.java";
    let request = changed_in_another_module(&bed, untested, Kind::Production);
    let (report, _) = bed.play_request(&request, &settings(), runs(&[&["KILLED"]]));
    assert_eq!(report.verdict, Verdict::Pass);
    let built = report
        .trace
        .phases
        .iter()
        .map(|phase| phase.module.as_str());
    assert_eq!(built.collect::<Vec<_>>(), ["p", "p/b"]);
}
