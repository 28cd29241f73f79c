use super::*;
use crate::config::ScopeKind;
use crate::machine::facts::Oid;
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
}

impl Case {
    fn new(others: &[&str], changed: &[&str]) -> Self {
        let family = changed.iter().map(|path| change(path, kind_of(path), FileStatus::Modified)).collect();
        let mut listing = Listing::default();
        for path in others.iter().chain(changed) {
            if path.ends_with(POM) || path.contains("build.gradle") {
                listing.builds.insert((*path).to_owned());
            } else if path.contains("src/test/") {
                listing.tests.insert((*path).to_owned());
            }
        }
        listing.entries = changed.iter().map(|path| ((*path).to_owned(), Entry::File)).collect();
        let package = GatePackage {
            name: "p".to_owned(),
            root: "/nowhere".into(),
            changes: family,
            lines: BTreeMap::new(),
            tests_at_base: Vec::new(),
            dirt: Vec::new(),
            commits: (None, Oid::zero()),
        };
        let request = GateRequest {
            name: "PITEST".to_owned(),
            family: "2.".to_owned(),
            packages: vec![package],
            former_targets: BTreeSet::new(),
            changed_since_fail: BTreeSet::new(),
            no_tests_written: false,
            folder: "/nowhere".into(),
            cache: "/nowhere".into(),
            tag: String::new(),
            env: Vec::new(),
        };
        Self { request, listing }
    }

    fn scope(&self) -> Scope {
        let names = ["{}Test", "Test{}", "{}Tests", "{}TestCase", "{}Spec"].map(str::to_owned);
        scope(&self.request, &TestNames::new(&names), ScopeKind::Class, std::slice::from_ref(&self.listing))
    }

    fn targets(&self) -> Vec<String> {
        let targets = self.scope().modules.into_iter().flat_map(|module| {
            let dir = module.dir.clone();
            module.targets.into_iter().map(move |target| format!("{dir}:{}", target.class))
        });
        targets.collect()
    }

    fn left_out(&self) -> Vec<String> {
        self.scope().left_out.into_iter().map(|left| left.why).collect()
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
        ("src/test/resources/src/test/java/com/acme/FooTest.java", false),
        ("src/main/resources/src/test/java/com/acme/FooTest.java", false),
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
    since_fail.request.changed_since_fail.insert(format!("p/{FOO}"));
    let mut untested = plain();
    untested.request.no_tests_written = true;
    let mut at_base = plain();
    at_base.request.packages[0].tests_at_base.push(RepoPath::parse("src/test/java/x/TestFoo.java"));
    for (name, case) in [("former", former), ("since", since_fail), ("untested", untested), ("base", at_base)]
    {
        assert_eq!(case.targets(), [":com.acme.Foo"], "{name}");
    }
    let mut other = plain();
    other.request.former_targets.insert(format!("q/{FOO}"));
    other.request.packages[0].tests_at_base.push(RepoPath::parse("src/test/java/x/BarTest.java"));
    assert_eq!(other.targets(), [] as [String; 0]);
}

#[test]
fn the_module_is_the_nearest_folder_upward_with_a_build_file() {
    let foo = "a/b/src/main/java/Foo.java";
    let test = "src/test/java/FooTest.java";
    for (poms, dir) in [
        (&["pom.xml", "a/pom.xml", "a/b/pom.xml"][..], "a/b"),
        (&["pom.xml", "a/pom.xml"][..], "a"),
        (&["pom.xml"][..], ""),
        (&["pom.xml", "a/b/c/pom.xml"][..], ""),
    ] {
        let others: Vec<&str> = poms.iter().copied().chain([test]).collect();
        assert_eq!(Case::new(&others, &[foo]).targets(), [format!("{dir}:Foo")], "{poms:?}");
    }
    let gradle = Case::new(&["pom.xml", "a/b/build.gradle.kts", test], &[foo]);
    assert_eq!(gradle.scope().modules[0].tool, BuildTool::Gradle);
}

#[test]
fn what_is_no_target_is_left_out_with_its_reason() {
    let table = [
        ("src/main/kotlin/Foo.kt", Some("not measured (kotlin)")),
        ("src/main/java/Foo.scala", Some("not measured (scala)")),
        ("src/main/java/com/acme/Foo*.java", Some("its path names no Java class")),
        ("src/main/java/com/acme/1Foo.java", Some("its path names no Java class")),
        (
            "src/main/java/com/acme/Alone.java",
            Some("no test class belongs to it (AloneTest, TestAlone, AloneTests, AloneTestCase, AloneSpec)"),
        ),
        ("src/main/java/com/acme/package-info.java", None),
        ("src/main/java/module-info.java", None),
        ("src/main/resources/x.txt", None),
        ("README.md", None),
        ("scripts/Tool.java", Some("not below src/main/java")),
        ("src/main/resources/src/main/java/Foo.java", Some("not below src/main/java")),
        ("src/main/kotlin/src/main/java/Foo.java", Some("not below src/main/java")),
    ];
    for (path, why) in table {
        let case = Case::new(&[POM, "src/test/java/FooTest.java"], &[path]);
        assert_eq!(case.targets(), [] as [String; 0], "{path}");
        assert_eq!(case.left_out().first().map(String::as_str), why, "{path}");
        assert_eq!(case.scope().aborts, [], "{path}");
    }
}

#[test]
fn a_deleted_class_is_no_target_even_when_its_test_stays() {
    let mut case = Case::new(&[POM, "src/test/java/FooTest.java"], &[FOO]);
    case.listing.entries.insert(FOO.to_owned(), Entry::Absent);
    case.request.former_targets.insert(format!("p/{FOO}"));
    assert_eq!((case.targets(), case.left_out()), (vec![], vec!["it no longer exists".to_owned()]));
    assert_eq!(case.scope().modules.len(), 1, "the module must still compile");
}

#[test]
fn links_fail_and_paths_that_escape_are_errors() {
    let mut case = Case::new(&[POM, "src/test/java/FooTest.java"], &[FOO]);
    case.listing.entries.insert(FOO.to_owned(), Entry::Link);
    assert!(matches!(&case.scope().aborts[..], [GateAbort::Fail { .. }]));
    case.listing.entries.insert(FOO.to_owned(), Entry::Odd);
    assert!(matches!(&case.scope().aborts[..], [GateAbort::Error { transient: false, .. }]));
    assert_eq!(case.targets(), [] as [String; 0]);
}

#[test]
fn java_without_a_build_file_stops_only_when_a_test_is_concerned() {
    let test = "src/test/java/FooTest.java";
    assert!(matches!(&Case::new(&[], &[test]).scope().aborts[..], [GateAbort::Error { .. }]));
    assert!(matches!(&Case::new(&[test], &[FOO]).scope().aborts[..], [GateAbort::Error { .. }]));
    let untested = Case::new(&[], &[FOO]);
    assert_eq!(
        (untested.scope().aborts, untested.left_out()),
        (vec![], vec!["there is no build file above it".to_owned()])
    );
}

#[test]
fn changed_tests_that_exist_belong_to_their_module() {
    let tests =
        ["src/test/java/a/FooTest.java", "src/test/java/a/Helper.java", "m/src/test/java/BarTest.java"];
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
        .map(|module| (module.dir.as_str(), module.changed_tests.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(found, [("", vec![tests[0]]), ("m", vec![tests[2]])]);
    assert!(!scope.has_targets() && scope.left_out.is_empty());
}

#[test]
fn a_changed_test_in_another_language_is_run_where_maven_builds_it() {
    let tests = ["src/test/kotlin/FooTest.kt", "src/test/groovy/FooSpec.groovy", "src/test/kotlin/Helper.kt"];
    let scope = Case::new(&[POM], &tests).scope();
    let found: Vec<&str> = scope.modules[0].changed_tests.iter().map(String::as_str).collect();
    assert_eq!(found, [tests[1], tests[0]]);
    for build in [&["build.gradle.kts"][..], &[]] {
        let scope = Case::new(build, &tests).scope();
        assert!(scope.modules.is_empty() && scope.aborts.is_empty(), "{build:?}");
    }
}

#[test]
fn a_file_of_a_test_resource_that_looks_like_production_is_a_test() {
    let case =
        Case::new(&[POM, "src/test/java/FooTest.java"], &["src/test/resources/x/src/main/java/Foo.java"]);
    assert_eq!((case.targets(), case.left_out()), (vec![], vec![]));
}

#[test]
fn a_build_change_of_the_family_is_remembered() {
    assert!(Case::new(&[], &[POM, FOO]).scope().modules[0].build_changed);
    assert!(!Case::new(&[POM], &[FOO]).scope().modules[0].build_changed);
}
