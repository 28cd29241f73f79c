use super::*;
use crate::config::ScopeKind;
use crate::machine::facts::{FileStatus, Oid};
use crate::source::RepoPath;

const POM: &str = "pom.xml";
const FOO: &str = "src/main/java/com/acme/Foo.java";

fn change(path: &str, kind: Kind, status: FileStatus) -> FileChange {
    let blob = Some(Oid("1".repeat(40)));
    FileChange {
        package: "p".to_owned(),
        path: RepoPath::from_bytes(path.as_bytes()),
        status,
        kind,
        old: blob.clone(),
        new: blob,
    }
}

fn kind_of(path: &str) -> Kind {
    match path {
        p if p.contains("src/test/") => Kind::Test,
        p if p.ends_with(POM) => Kind::Build,
        p if p.contains("src/main/") => Kind::Production,
        _ => Kind::Other,
    }
}

/// A package `p` in which `changed` paths exist beside the files of `others`.
struct Case {
    request: GateRequest,
    listing: Listing,
    by_command: bool,
}

impl Case {
    fn new(others: &[&str], changed: &[&str]) -> Self {
        let family = changed
            .iter()
            .map(|path| change(path, kind_of(path), FileStatus::Modified))
            .collect();
        let mut listing = Listing::default();
        for path in others.iter().chain(changed) {
            if path.ends_with(POM) || path.contains("build.gradle") {
                listing.builds.insert(path.into());
            } else if JavaPath::parse_path(path).is_some() {
                listing.sources.insert((*path).to_owned());
            }
        }
        listing.entries = changed
            .iter()
            .map(|path| ((*path).to_owned(), PathEntry::File))
            .collect();
        let package = GatePackage {
            name: "p".to_owned(),
            root: "/nowhere".into(),
            home: "/nowhere".into(),
            changes: family,
            ..GatePackage::default()
        };
        let request = GateRequest {
            name: "PITEST".to_owned(),
            packages: vec![package],
            folder: "/nowhere".into(),
            cache: "/nowhere".into(),
            env: Vec::new(),
            ..GateRequest::default()
        };
        Self {
            request,
            listing,
            by_command: false,
        }
    }

    fn scope(&self) -> GateScope {
        self.scope_of(ScopeKind::Class)
    }

    fn scope_of(&self, kind: ScopeKind) -> GateScope {
        let names = ["{}Test", "Test{}", "{}Tests", "{}TestCase", "{}Spec"].map(str::to_owned);
        let settings = GateSettings {
            test_names: names.to_vec(),
            scope: kind,
            classpath_command: self.by_command.then(Vec::new),
            ..crate::gate::tests::settings()
        };
        let mut scope = GateScope::default();
        sort_changes(&self.request, &settings, 0, &self.listing, &mut scope);
        scope
    }

    /// The changed class was another one before.
    fn moved(mut self, now: &str, before: &str) -> Self {
        let old = change(before, Kind::Production, FileStatus::Deleted);
        self.listing
            .entries
            .insert(before.to_owned(), PathEntry::Absent);
        self.request.packages[0].changes.push(old.clone());
        self.request.packages[0]
            .moved
            .insert(RepoPath::parse(now), old);
        self
    }

    /// A test that is still there, or not, checks less.
    fn weakened(mut self, test: &str) -> Self {
        self.request.packages[0]
            .weakened
            .insert(RepoPath::parse(test));
        self
    }

    /// The second line of a file was changed.
    fn changed_line(mut self, file: &str) -> Self {
        let lines = ChangedLines::Ranges(vec![(2, 2)]);
        let package = &mut self.request.packages[0];
        package.lines.insert(RepoPath::parse(file), lines);
        self
    }

    fn targets(&self) -> Vec<String> {
        let targets = self.scope().modules.into_iter().flat_map(|module| {
            let dir = module.dir.clone();
            module
                .targets
                .into_iter()
                .map(move |target| format!("{dir}:{}", target.class))
        });
        targets.collect()
    }

    fn left_out(&self) -> Vec<String> {
        self.scope()
            .left_out
            .into_iter()
            .map(|left| left.why)
            .collect()
    }
}

#[test]
fn a_changed_class_is_a_target_exactly_when_a_test_class_stands_for_it() {
    let table = [
        ("src/test/java/com/acme/FooTest.java", true),
        ("src/test/java/com/acme/TestFoo.java", true),
        ("src/test/java/com/acme/FooTests.java", true),
        ("src/test/java/com/acme/FooTestCase.java", true),
        ("src/test/java/elsewhere/FooTest.java", true),
        ("other/src/test/java/com/acme/FooTest.java", true),
        ("src/test/java/FooTest.java", true),
        ("src/test/java/com/acme/FooIT.java", false),
        ("src/test/java/com/acme/FooBarTest.java", false),
        ("src/test/java/com/acme/fooTest.java", false),
        ("src/test/java/com/acme/Foo.java", false),
        ("src/test/kotlin/com/acme/FooTest.kt", true),
        ("src/test/java/com/acme/FooTest.kt", true),
        ("other/src/test/groovy/com/acme/FooSpec.groovy", true),
        ("src/test/scala/com/acme/FooTest.scala", true),
        ("src/test/kotlin/com/acme/FooTest.kts", false),
        ("src/test/kotlin/com/acme/Foo.kt", false),
        ("src/test/python/com/acme/FooTest.kt", false),
        ("src/test/resources/com/acme/FooTest.java", false),
        (
            "src/test/resources/src/test/java/com/acme/FooTest.java",
            false,
        ),
        (
            "src/main/resources/src/test/java/com/acme/FooTest.java",
            false,
        ),
        ("src/it/java/com/acme/FooTest.java", false),
    ];
    for (test, expected) in table {
        let case = Case::new(&[POM, test], &[FOO]);
        assert_eq!(case.targets() == [":com.acme.Foo"], expected, "{test}");
        assert_eq!(case.left_out().is_empty(), expected, "{test}");
    }
}

#[test]
fn each_of_the_four_rules_lets_a_class_count_without_a_test() {
    let plain = || Case::new(&[POM], &[FOO]);
    assert_eq!(plain().targets(), [] as [String; 0]);
    let mut former = plain();
    former.request.former_targets.insert(format!("p/{FOO}"));
    let mut since_fail = plain();
    since_fail
        .request
        .changed_since_fail
        .get_or_insert_default()
        .insert(format!("p/{FOO}"));
    let mut untested = plain();
    untested.request.no_tests_written = true;
    let mut at_base = plain();
    at_base.request.packages[0]
        .tests_at_base
        .push(RepoPath::parse("src/test/java/x/TestFoo.java"));
    for (name, case) in [
        ("former", former),
        ("since", since_fail),
        ("untested", untested),
        ("base", at_base),
    ] {
        assert_eq!(case.targets(), [":com.acme.Foo"], "{name}");
    }
    let mut other = plain();
    other.request.former_targets.insert(format!("q/{FOO}"));
    other.request.packages[0]
        .tests_at_base
        .push(RepoPath::parse("src/test/java/x/BarTest.java"));
    assert_eq!(other.targets(), [] as [String; 0]);
}

#[test]
fn the_module_is_the_nearest_folder_upward_with_a_build_file() {
    let foo = "a/b/src/main/java/Foo.java";
    let test = "a/b/src/test/java/FooTest.java";
    for (poms, dir) in [
        (&["pom.xml", "a/pom.xml", "a/b/pom.xml"][..], "a/b"),
        (&["pom.xml", "a/pom.xml"][..], "a"),
        (&["pom.xml"][..], ""),
        (&["pom.xml", "a/b/c/pom.xml"][..], ""),
    ] {
        let others: Vec<&str> = poms.iter().copied().chain([test]).collect();
        assert_eq!(
            Case::new(&others, &[foo]).targets(),
            [format!("{dir}:Foo")],
            "{poms:?}"
        );
    }
    let gradle = Case::new(&["pom.xml", "a/b/build.gradle.kts", test], &[foo]);
    assert_eq!(gradle.scope().modules[0].tool, BuildTool::Gradle);
}

#[test]
fn what_is_no_target_is_left_out_with_its_reason() {
    let table = [
        ("src/main/kotlin/Foo.kt", Some("not measured (kotlin)")),
        ("src/main/kotlin/Foo.kts", Some("not measured (kotlin)")),
        ("src/main/java/Foo.scala", Some("not measured (scala)")),
        ("src/main/clojure/foo.clj", Some("not measured (clojure)")),
        (
            "src/main/java/com/acme/Alone.java",
            Some(
                "no test class belongs to it (AloneTest, TestAlone, AloneTests, AloneTestCase, AloneSpec)",
            ),
        ),
        ("src/main/java/com/acme/package-info.java", None),
        ("src/main/java/module-info.java", None),
        ("src/main/resources/x.txt", None),
        ("README.md", None),
        ("scripts/Tool.java", Some("not below src/main/java")),
        (
            "src/main/resources/src/main/java/Foo.java",
            Some("not below src/main/java"),
        ),
        (
            "src/main/kotlin/src/main/java/Foo.java",
            Some("not below src/main/java"),
        ),
    ];
    for (path, why) in table {
        let case = Case::new(&[POM, "src/test/java/FooTest.java"], &[path]);
        assert_eq!(case.targets(), [] as [String; 0], "{path}");
        assert_eq!(case.left_out().first().map(String::as_str), why, "{path}");
        assert_eq!(case.scope().aborts, [], "{path}");
    }
}

#[test]
fn production_code_whose_path_names_no_class_is_an_error_that_names_it_and_every_java_name_is_one()
{
    for path in [
        "com/acme/Foo*.java",
        "com/acme/1Foo.java",
        "p-core/Foo.java",
        "com/.ralph/Foo.java",
    ] {
        let path = format!("src/main/java/{path}");
        let case = Case::new(&[POM, "src/test/java/FooTest.java"], &[&path]);
        let aborts = case.scope().aborts;
        let [
            GateAbort::Error {
                why,
                transient: false,
                ..
            },
        ] = &aborts[..]
        else {
            panic!("{path}: {aborts:?}")
        };
        assert!(
            why.contains(&path) && why.contains("its path names no Java class"),
            "{why}"
        );
    }
    for name in ["Rate€", "Größe", "_Foo", "Foo$Bar", "A‿B"] {
        let (class, test) = (
            format!("src/main/java/{name}.java"),
            format!("src/test/java/{name}Test.java"),
        );
        assert_eq!(
            Case::new(&[POM, &test], &[&class]).targets(),
            [format!(":{name}")],
            "{name}"
        );
    }
}

#[test]
fn a_deleted_class_is_no_target_even_when_its_test_stays() {
    let mut case = Case::new(&[POM, "src/test/java/FooTest.java"], &[FOO]);
    case.listing
        .entries
        .insert(FOO.to_owned(), PathEntry::Absent);
    case.request.former_targets.insert(format!("p/{FOO}"));
    assert_eq!(
        (case.targets(), case.left_out()),
        (vec![], vec!["it no longer exists".to_owned()])
    );
    assert_eq!(
        case.scope().modules.len(),
        1,
        "the module must still compile"
    );
}

#[test]
fn links_fail_and_paths_that_escape_are_errors() {
    let mut case = Case::new(&[POM, "src/test/java/FooTest.java"], &[FOO]);
    case.listing.entries.insert(FOO.to_owned(), PathEntry::Link);
    assert!(matches!(&case.scope().aborts[..], [GateAbort::Fail { .. }]));
    case.listing.entries.insert(FOO.to_owned(), PathEntry::Odd);
    assert!(matches!(
        &case.scope().aborts[..],
        [GateAbort::Error {
            transient: false,
            ..
        }]
    ));
    assert_eq!(case.targets(), [] as [String; 0]);
}

#[test]
fn a_class_file_of_the_task_fails_where_a_build_may_take_it_for_its_own() {
    let file = "src/test/resources/com/acme/FooTest.class";
    let mut case = Case::new(&[POM], &[FOO, file]);
    let aborts = case.scope().aborts;
    let [GateAbort::Fail { reasons }] = &aborts[..] else {
        panic!("{aborts:?}")
    };
    let told =
        format!("p/{file} is a class file, which cannot be reviewed; let the build make it.");
    assert_eq!(reasons[..], [told]);
    case.listing
        .entries
        .insert(file.to_owned(), PathEntry::Absent);
    assert!(case.scope().aborts.is_empty(), "it is gone");
    let elsewhere = Case::new(&[], &[file]);
    assert!(elsewhere.scope().aborts.is_empty(), "nothing builds it");
}

#[test]
fn java_without_a_build_file_stops_only_when_a_test_is_concerned() {
    let test = "src/test/java/FooTest.java";
    assert!(matches!(
        &Case::new(&[], &[test]).scope().aborts[..],
        [GateAbort::Error { .. }]
    ));
    assert!(matches!(
        &Case::new(&[test], &[FOO]).scope().aborts[..],
        [GateAbort::Error { .. }]
    ));
    let untested = Case::new(&[], &[FOO]);
    assert_eq!(
        (untested.scope().aborts, untested.left_out()),
        (
            vec![],
            vec![
                "no test class belongs to it (FooTest, TestFoo, FooTests, FooTestCase, FooSpec)"
                    .to_owned()
            ]
        )
    );
}

#[test]
fn changed_tests_that_exist_belong_to_their_module() {
    let tests = [
        "src/test/java/a/FooTest.java",
        "src/test/java/a/Helper.java",
        "m/src/test/java/BarTest.java",
    ];
    let mut case = Case::new(&[POM, "m/pom.xml"], &tests);
    case.request.packages[0].changes.push(change(
        "m/src/test/java/GoneTest.java",
        Kind::Test,
        FileStatus::Deleted,
    ));
    let scope = case.scope();
    let found: Vec<(&str, Vec<&str>)> = scope
        .modules
        .iter()
        .map(|module| {
            (
                module.dir.as_str(),
                module.changed_tests.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    assert_eq!(found, [("", vec![tests[0]]), ("m", vec![tests[2]])]);
    assert!(!scope.has_targets() && scope.left_out.is_empty());
}

#[test]
fn a_changed_test_in_another_language_is_run_where_maven_builds_it() {
    let tests = [
        "src/test/kotlin/FooTest.kt",
        "src/test/groovy/FooSpec.groovy",
        "src/test/kotlin/Helper.kt",
    ];
    let scope = Case::new(&[POM], &tests).scope();
    let found: Vec<&str> = scope.modules[0]
        .changed_tests
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(found, [tests[1], tests[0]]);
    for build in [&["build.gradle.kts"][..], &[]] {
        let scope = Case::new(build, &tests).scope();
        assert!(
            scope.modules.is_empty() && scope.aborts.is_empty(),
            "{build:?}"
        );
    }
}

#[test]
fn a_file_of_a_test_resource_that_looks_like_production_is_a_test() {
    let case = Case::new(
        &[POM, "src/test/java/FooTest.java"],
        &["src/test/resources/x/src/main/java/Foo.java"],
    );
    assert_eq!((case.targets(), case.left_out()), (vec![], vec![]));
}

#[test]
fn a_build_change_of_the_family_is_remembered() {
    assert!(Case::new(&[], &[POM, FOO]).scope().modules[0].build_changed);
    assert!(!Case::new(&[POM], &[FOO]).scope().modules[0].build_changed);
}

#[test]
fn a_class_that_was_moved_or_renamed_counts_as_the_one_that_it_was() {
    let bar = "src/main/java/com/acme/Bar.java";
    let case = |others: &[&str]| Case::new(&[&[POM], others].concat(), &[bar]).moved(bar, FOO);
    assert_eq!(
        case(&[]).targets(),
        [] as [String; 0],
        "it had no test either"
    );
    let mut at_base = case(&[]);
    at_base.request.packages[0]
        .tests_at_base
        .push(RepoPath::parse("src/test/java/com/acme/FooTest.java"));
    let mut former = case(&[]);
    former.request.former_targets.insert(format!("p/{FOO}"));
    let kept = case(&["src/test/java/com/acme/FooTest.java"]);
    for case in [at_base, former, kept] {
        assert_eq!(case.targets(), [":com.acme.Bar"]);
    }
    let mut case = case(&["src/test/java/com/acme/FooTest.java"]).changed_line(bar);
    case.request.packages[0].changes[0].old = None;
    let extent = |kind| {
        case.scope_of(kind)
            .modules
            .remove(0)
            .targets
            .remove(0)
            .extent
    };
    assert_eq!(
        extent(ScopeKind::Lines),
        MutationExtent::Lines(vec![(2, 2)])
    );
    assert_eq!(
        extent(ScopeKind::Auto),
        MutationExtent::Class,
        "its score had another name"
    );
}

#[test]
fn a_class_whose_test_was_weakened_counts_without_a_change_of_its_own() {
    let test = "src/test/java/com/acme/FooTest.java";
    let case = Case::new(&[POM, FOO, test], &[test]).weakened(test);
    assert_eq!(case.targets(), [":com.acme.Foo"]);
    let extent = |kind| {
        case.scope_of(kind)
            .modules
            .remove(0)
            .targets
            .remove(0)
            .extent
    };
    assert_eq!(extent(ScopeKind::Class), MutationExtent::Class);
    for kind in [ScopeKind::Lines, ScopeKind::Auto] {
        let kept = MutationExtent::Change(Vec::new());
        assert_eq!(extent(kind), kept, "it must keep its score");
    }
    assert_eq!(
        Case::new(&[POM, FOO], &[]).weakened(test).targets(),
        [":com.acme.Foo"],
        "the test is gone"
    );
    let bar = [
        "src/main/java/com/acme/Bar.java",
        "src/test/java/com/acme/BarTest.java",
    ];
    let beside = Case::new(&[POM, FOO, test, bar[1]], &[test, bar[0]]).weakened(test);
    assert_eq!(
        beside.targets(),
        [":com.acme.Bar"],
        "tests may change with the code"
    );
    let mut comment = beside;
    let nothing = ChangedLines::Ranges(Vec::new());
    comment.request.packages[0]
        .lines
        .insert(RepoPath::parse(bar[0]), nothing);
    assert_eq!(
        comment.targets(),
        [":com.acme.Bar", ":com.acme.Foo"],
        "a comment hides nothing"
    );
    let untested = Case::new(&[POM, FOO, test], &[test, bar[0]]).weakened(test);
    assert_eq!(
        untested.targets(),
        [":com.acme.Foo"],
        "nothing else would be judged"
    );
    assert_eq!(
        Case::new(&[POM, test], &[test, FOO])
            .weakened(test)
            .targets(),
        [":com.acme.Foo"],
        "once"
    );
    let both = Case::new(&[POM, test], &[test, FOO])
        .weakened(test)
        .changed_line(FOO);
    let targets = both.scope_of(ScopeKind::Lines).modules.remove(0).targets;
    assert_eq!(
        targets[0].extent,
        MutationExtent::Change(vec![(2, 2)]),
        "its other lines keep their score"
    );
}

#[test]
fn sources_of_the_commit_are_seen_in_a_folder_that_is_named_like_an_output() {
    let home = tempfile::tempdir().unwrap();
    let file = "out/src/main/java/Foo.java";
    for path in [file, "build/src/main/java/Made.java"] {
        let path = home.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "").unwrap();
    }
    let changes = vec![change(file, Kind::Production, FileStatus::Modified)];
    let package = GatePackage {
        root: home.path().to_owned(),
        changes,
        ..GatePackage::default()
    };
    let sources = list_package(&package).unwrap().sources;
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), [file]);
}

#[test]
fn a_test_stands_for_the_class_in_its_own_package_where_several_have_the_name() {
    let (a, b) = ("src/main/java/a/Price.java", "src/main/java/b/Price.java");
    let (own, far) = (
        "src/test/java/b/PriceTest.java",
        "src/test/java/c/PriceTest.java",
    );
    assert_eq!(Case::new(&[POM, own, a], &[b]).targets(), [":b.Price"]);
    assert_eq!(Case::new(&[POM, own, b], &[a]).targets(), [] as [String; 0]);
    assert_eq!(Case::new(&[POM, own], &[a]).targets(), [":a.Price"]);
    assert_eq!(Case::new(&[POM, far, b], &[a]).targets(), [":a.Price"]);
    let mut new = Case::new(&[POM, own], &[a, b]);
    new.request.packages[0].changes[1].old = None;
    assert_eq!(new.targets(), [":b.Price"], "the test may be as new");
    let package = &mut new.request.packages[0];
    package.tests_at_base.push(RepoPath::parse(own));
    assert_eq!(new.targets(), [":a.Price", ":b.Price"], "the test is older");
    let before = "old/src/main/java/b/Price.java";
    new.listing
        .entries
        .insert(before.to_owned(), PathEntry::Absent);
    assert_eq!(
        new.targets(),
        [":b.Price"],
        "the class was in another module"
    );
    let mut gone = Case::new(&[POM, own], &[a]);
    gone.listing.entries.insert(b.to_owned(), PathEntry::Absent);
    assert_eq!(
        gone.targets(),
        [] as [String; 0],
        "the class of that test is gone"
    );
}

#[test]
fn a_class_is_judged_in_the_module_of_its_tests_if_its_own_has_none() {
    let foo = "core/src/main/java/Foo.java";
    let (own, other) = (
        "core/src/test/java/FooTest.java",
        "it/src/test/java/FooTest.java",
    );
    for (tests, judged) in [
        (&[own, other][..], [("core", "core"), ("core", "core")]),
        (&[other], [("core", "core"), ("it", "core")]),
        (&["FooTest.java"], [("core", "core"), ("core", "core")]),
    ] {
        let mut case = Case::new(&[&["core/pom.xml", "it/pom.xml"], tests].concat(), &[foo]);
        case.request.no_tests_written = true;
        let modules = case.scope().modules;
        let found = |module: &Module| (module.dir.clone(), module.code.clone());
        let with = modules
            .iter()
            .find(|module| !module.targets.is_empty())
            .unwrap();
        let [built, judged] = judged.map(|(dir, code)| (dir.to_owned(), code.to_owned()));
        assert_eq!(
            (found(&modules[0]), found(with)),
            (built, judged),
            "{tests:?}"
        );
    }
    let gradle = Case::new(&["core/pom.xml", "it/build.gradle", other], &[foo]);
    assert_eq!(gradle.targets(), ["core:Foo"]);
    let helper = "it/src/test/java/Helper.java";
    let moved = Case::new(&["core/pom.xml", "it/pom.xml", own, helper], &[foo]).weakened(other);
    assert_eq!(moved.targets(), ["core:Foo", "it:Foo"], "the score of both");
    let targets = moved.scope().modules.remove(1).targets;
    assert_eq!(targets[0].tests, BTreeSet::from([own.to_owned()]));
    let mut whole = Case::new(&["core/pom.xml", "it/pom.xml", own, helper], &[foo]);
    let at_base = &mut whole.request.packages[0].tests_at_base;
    at_base.push(RepoPath::parse(other));
    assert_eq!(
        whole.targets(),
        moved.targets(),
        "also without a weaker test"
    );
}

#[test]
fn a_class_whose_tests_were_in_a_module_without_sources_is_judged_whole() {
    let foo = "core/src/main/java/Foo.java";
    let own = "core/src/test/java/FooTest.java";
    let other = "it/src/test/java/FooTest.java";
    let extent_of = |case: Case| {
        let module = case.scope_of(ScopeKind::Auto).modules.remove(0);
        (module.targets[0].extent.clone(), module.remarks.concat())
    };
    let judged = |others: &[&str], by_command| {
        let mut case = Case::new(others, &[foo]).weakened(other).changed_line(foo);
        case.by_command = by_command;
        assert_eq!(case.targets(), ["core:Foo"], "{others:?}");
        extent_of(case)
    };
    let told = format!(
        "Foo is judged whole, because the module of its test {other} has no sources or no build file any more."
    );
    let whole = (MutationExtent::Class, told);
    let emptied = ["pom.xml", "core/pom.xml", "it/pom.xml", own];
    assert_eq!(judged(&emptied, false), whole);
    assert_eq!(judged(&["pom.xml", "core/pom.xml", own], false), whole);
    let mut left = Case::new(&["pom.xml", "core/pom.xml", own, other], &[foo]).changed_line(foo);
    left.listing
        .entries
        .insert("it/pom.xml".to_owned(), PathEntry::Absent);
    assert_eq!(extent_of(left), whole, "no build file for it");
    let around = ["build.gradle", own, "src/main/java/Root.java"];
    assert_eq!(
        judged(&around, true),
        whole,
        "a module above it is another one"
    );

    let [deep, gone] = [
        "src/core/src/main/java/Foo.java",
        "src/it/src/test/java/FooTest.java",
    ];
    let case = Case::new(&["pom.xml", "src/core/pom.xml"], &[deep])
        .weakened(gone)
        .changed_line(deep);
    assert_eq!(
        extent_of(case).0,
        MutationExtent::Class,
        "modules below a folder `src`"
    );

    let below = [
        "app/src/main/java/Foo.java",
        "app/src/test/java/FooTest.java",
    ];
    let odd = Case::new(&[POM], &below[..1])
        .weakened(below[1])
        .changed_line(below[0]);
    assert_eq!(
        extent_of(odd).0,
        MutationExtent::Change(vec![(2, 2)]),
        "its sources are elsewhere"
    );
}

#[test]
fn what_a_command_builds_are_modules_by_their_sources_whether_they_have_a_build_file_or_none() {
    let test = "core/src/test/java/com/acme/FooTest.java";
    let (core, soak) = (
        "core/src/main/java/com/acme/Foo.java",
        "core/src/soak/java/com/acme/Soak.java",
    );
    let told = |others: &[&str]| {
        let mut case = Case::new(
            &[others, &[test]].concat(),
            &[core, soak, "settings.gradle"],
        );
        case.by_command = true;
        let scope = case.scope();
        assert_eq!(scope.aborts, [], "{others:?}");
        let modules = scope
            .modules
            .iter()
            .map(|module| format!("{} {:?}", module.dir, module.tool));
        let left = scope.left_out.into_iter().map(|left| left.why);
        modules.chain(left).collect::<Vec<_>>()
    };
    let left = "not below src/main/java";
    for builds in [
        &["build.gradle"][..],
        &["pom.xml", "core/build.gradle.kts"],
        &[],
    ] {
        assert_eq!(told(builds), ["core Gradle", left], "{builds:?}");
    }
    assert_eq!(
        told(&["pom.xml"])[0],
        " Maven",
        "Maven's packages stay Maven's"
    );
}
