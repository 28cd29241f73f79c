//! The compiler for changes of Java files alone: real git, Maven and javac.
//!
//! A class `Twin` among the tests, in place of one of the production code, ends most gates here before PIT: they test
//! only the build. Random edits are those of `benches/recompile.py`.

use super::project::{JUnit, Pom};
use super::workspace::{TESTS, Workspace, phases, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// Bodies of `sub` with the same two mutants as `return a - b;`.
const OTHER: &str = "int c = a - b; return c;";
const THIRD: &str = "int c = b; return a - c;";
const PROVEN: &str = "resolve: compiled and resolved; javac was seen to make the same classes";
const BY_JAVAC: &str = "compile: javac compiled what had changed: Maven was not called";
const BY_MAVEN: &str = "resolve: compiled and resolved";

fn how(report: &Value) -> String {
    let all = phases(report);
    let found = all
        .iter()
        .find(|(name, _)| name == "compile" || name == "resolve");
    let (name, note) = found.unwrap_or_else(|| panic!("{report}"));
    format!("{name}: {note}")
}

/// Returns every file below a directory with its bytes.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs_err::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let inside = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(inside, fs_err::read(&path).unwrap());
            }
        }
    }
    found
}

impl Workspace {
    /// Writes `Calc` with a method `sub` of this body and with these further members.
    fn calc(&self, sub: &str, more: &str) -> &Self {
        self.class(
            &main_file("Calc"),
            &format!("public class Calc {{ public int add(int a, int b) {{ return a + b; }}\npublic int sub(int a, int b) {{ {sub} }}\n{more} }}"),
        );
        self
    }

    /// Writes a test of this name with this body.
    fn test(&self, name: &str, body: &str) -> &Self {
        let all = format!("{TESTS} public class {name} {{ @Test public void one() {{ {body} }} }}");
        self.class(&test_file(name), &all)
    }

    /// Makes every gate fail after the build and before PIT.
    fn build_alone(&self) -> &Self {
        self.class(&main_file("Twin"), "class Twin { }")
            .class(&test_file("Twin"), "class Twin { }")
    }

    fn judged(&self) -> Value {
        self.commit();
        self.gate("HEAD~1")
    }

    fn classes(&self) -> BTreeMap<String, Vec<u8>> {
        content(&self.site().join("tree/src/p/target/classes"))
    }

    fn test_classes(&self) -> BTreeMap<String, Vec<u8>> {
        content(&self.site().join("tree/src/p/target/test-classes"))
    }

    /// Returns the time of each class of the tests, by its simple name.
    fn test_stamps(&self) -> BTreeMap<String, SystemTime> {
        let folder = self.site().join("tree/src/p/target/test-classes");
        let stamp = |file: String| {
            let name = file
                .strip_prefix("com/acme/")?
                .strip_suffix(".class")?
                .to_owned();
            Some((
                name,
                fs_err::metadata(folder.join(&file))
                    .unwrap()
                    .modified()
                    .unwrap(),
            ))
        };
        self.test_classes().into_keys().filter_map(stamp).collect()
    }

    /// Commits and judges without Maven. Returns the classes of tests that javac wrote.
    fn compiled_tests(&self) -> String {
        let before = self.test_stamps();
        let report = self.judged();
        assert_eq!(how(&report), BY_JAVAC, "{report}");
        let logs = self.logs();
        assert!(
            logs.keys().all(|name| !name.contains("maven")),
            "{:?}",
            logs.keys()
        );
        let after = self.test_stamps();
        let new = after
            .iter()
            .filter(|(name, stamp)| before.get(*name) != Some(stamp));
        new.map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn limits(&self, body: &str) -> &Self {
        let text = format!("class Limits {{ {body} static int two() {{ return 2; }} }}");
        self.class(&test_file("Limits"), &text)
    }

    fn base(&self, limit: u8) -> &Self {
        let text = format!("public class Base {{ public static final int LIMIT = {limit}; }}");
        self.class(&main_file("Base"), &text)
    }
}

/// Returns a package with a proven repeatable build by javac, and its resources.
fn proven() -> Workspace {
    let workspace = Workspace::new();
    workspace
        .class(&test_file("CalcTest"), &strong())
        .write(
            "ws/src/p/src/main/java/com/acme/package-info.java",
            "/** Sums. */\npackage com.acme;\n",
        )
        .write("ws/src/p/src/main/resources/words/hello.txt", "hello\n")
        .write("ws/src/p/src/test/resources/data.csv", "1,2\n")
        .class(
            &main_file("Used"),
            "class Used { static int one() { return 1; } }",
        )
        .class(
            &main_file("User"),
            "class User { int two() { return Used.one() + 1; } }",
        )
        .class(&main_file("Idle"), "class Idle { }")
        .limits(&format!(
            "static final int MAX = 5; static class Gone {{}} {HELPER}"
        ))
        .class(&test_file("More"), "class More extends Limits {}")
        .test("MoreTest", "assertTrue(More.MAX > 4);")
        .test("HelperTest", "assertEquals(1, Helper.one());")
        .test("EscapeTest", r"assertEquals(2, \u0052est.two());")
        .test("BaseTest", "assertTrue(Base.LIMIT > 1);")
        .base(2);
    for number in 1..7 {
        workspace.test(&format!("Idle{number}Test"), "");
    }
    workspace.build_alone().calc(OTHER, "");
    let first = how(&workspace.judged());
    assert!(
        first.starts_with("resolve: ")
            && first.ends_with("javac was seen to make the same classes"),
        "{first}"
    );
    workspace
}

/// Two further classes in the file of `Limits`, which use its closing brace.
const HELPER: &str = "} class Helper { static int one() { return 1; } } class Rest {";

fn what_names_nothing_that_changed_is_not_compiled_and_what_does_is() {
    let workspace = proven();
    let again = workspace.gate("HEAD~1");
    assert_eq!(
        how(&again),
        "compile: nothing had changed: Maven was not called",
        "{again}"
    );
    assert!(workspace.logs().is_empty(), "{:?}", workspace.logs().keys());

    workspace.calc(THIRD, "");
    assert_eq!(
        workspace.compiled_tests(),
        "CalcTest",
        "of the tests those that name what changed"
    );

    let calc = workspace
        .site()
        .join("tree/src/p/target/classes/com/acme/Calc.class");
    let stamp = || fs_err::metadata(&calc).unwrap().modified().unwrap();
    let before = stamp();
    // A test, a constant that others inherit, a removed class.
    workspace
        .test("Idle1Test", "int a = 0;")
        .limits(&format!("static final int MAX = 6; {HELPER}"));
    assert_eq!(
        workspace.compiled_tests(),
        "EscapeTest Helper HelperTest Idle1Test Limits More MoreTest Rest"
    );
    assert!(
        !workspace
            .test_classes()
            .contains_key("com/acme/Limits$Gone.class")
    );
    assert_eq!(stamp(), before, "the production classes were kept");

    // A new class, a removed test, and a change of production code that tests see.
    workspace.git(&["rm", "--quiet", &test_file("Idle6Test")]);
    workspace
        .class(&test_file("Fresh"), "class Fresh {}")
        .base(3);
    workspace.calc("return a - b;", "public static final int LIMIT = 7;");
    assert_eq!(workspace.compiled_tests(), "BaseTest CalcTest Fresh");
    assert!(
        !workspace
            .test_classes()
            .contains_key("com/acme/Idle6Test.class")
    );

    // A test changes with its class, and a production class is removed.
    let limit = "{ @Test public void limit() { assertEquals(8, Calc.LIMIT); } @Test";
    workspace.class(&test_file("CalcTest"), &strong().replace("{ @Test", limit));
    workspace.git(&["rm", "--quiet", &main_file("Idle")]);
    workspace.calc("return a - b;", "public static final int LIMIT = 8;");
    assert_eq!(workspace.compiled_tests(), "CalcTest");
    assert!(!workspace.classes().contains_key("com/acme/Idle.class"));

    is_as_maven_builds(&workspace);
    what_maven_refuses_is_refused(&workspace);

    // PIT judges the classes of javac.
    workspace.git(&["rm", "--quiet", &test_file("Twin")]);
    workspace.calc(
        "int c = a + b; return c;",
        "public static final int LIMIT = 8;",
    );
    let wrong = workspace.judged();
    assert_eq!(
        (how(&wrong), &wrong["verdict"]),
        (BY_JAVAC.to_owned(), &Value::from("fail")),
        "{wrong}"
    );
    assert!(wrong["reasons"].to_string().contains("CalcTest"), "{wrong}");
    workspace.calc(OTHER, "public static final int LIMIT = 8;");
    let right = workspace.judged();
    assert_eq!(
        (how(&right), verdict(&right)),
        (BY_JAVAC.to_owned(), "pass 4/4".to_owned()),
        "{right}"
    );
}

/// Checks that Maven builds everything after a change of a resource, and makes the same bytes.
fn is_as_maven_builds(workspace: &Workspace) {
    let mut by_javac = (workspace.classes(), workspace.test_classes());
    workspace.write("ws/src/p/src/main/resources/words/hello.txt", "good day\n");
    workspace.commit();
    // The proof was for other files, so there is a new one.
    assert_eq!(how(&workspace.gate("HEAD~2")), PROVEN);
    let by_maven = (workspace.classes(), workspace.test_classes());
    by_javac
        .0
        .insert("words/hello.txt".to_owned(), b"good day\n".to_vec());
    let names = |all: &BTreeMap<String, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        (names(&by_javac.0), names(&by_javac.1)),
        (names(&by_maven.0), names(&by_maven.1))
    );
    assert!(by_javac == by_maven, "the same bytes");
}

/// Checks that javac and Maven refuse each of three faults, and that nothing of a failed build is reused.
fn what_maven_refuses_is_refused(workspace: &Workspace) {
    let faults = [
        ("Calc.java", "an unknown name"),
        ("Asserts.java", "a test's dependency in production code"),
        (
            "User.java",
            "a class that is gone and whose class file was there",
        ),
    ];
    workspace
        .calc("return a - c;", "public static final int LIMIT = 8;")
        .class(
            &main_file("Asserts"),
            "class Asserts { void all() { org.junit.Assert.assertTrue(true); } }",
        );
    workspace.git(&["rm", "--quiet", &main_file("Used")]);
    let refused = workspace.judged();
    assert_eq!(refused["verdict"], "fail", "{refused}");
    let reasons = refused["reasons"].to_string();
    assert!(reasons.contains("does not compile"), "{refused}");
    let logs = workspace.logs();
    let (_, by_javac) = logs
        .iter()
        .find(|(name, _)| name.contains("recompile"))
        .unwrap();
    for (file, why) in faults {
        assert!(by_javac.contains(&format!("{file}:")), "{why}: {by_javac}");
        assert!(reasons.contains(&format!("{file}:")), "{why}: {refused}");
    }

    workspace.git(&[
        "rm",
        "--quiet",
        "--cached",
        &main_file("Asserts"),
        &main_file("User"),
    ]);
    for class in ["Asserts", "User"] {
        fs_err::remove_file(workspace.path("ws/src/p").join(main_file(class))).unwrap();
    }
    workspace.calc(THIRD, "public static final int LIMIT = 8;");
    assert_eq!(
        how(&workspace.judged()),
        PROVEN,
        "the next one is Maven's, and proven again"
    );
}

fn goals_that_nobody_knows_left_out_files_and_what_javac_does_not_make_are_mavens() {
    let workspace = Workspace::new();
    // A goal that might read sources.
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.plugins = "<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version><executions><execution><id>more</id><phase>process-classes</phase>\
        <goals><goal>copy-resources</goal></goals><configuration><outputDirectory>${project.build.directory}/more</outputDirectory>\
        <resources><resource><directory>src/main/java</directory></resource></resources></configuration></execution></executions></plugin>";
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .class(&test_file("CalcTest"), &strong())
        .build_alone();
    workspace.calc(OTHER, "");
    assert_eq!(how(&workspace.judged()), BY_MAVEN, "not proven");

    let set = |mode: &str| {
        workspace.set_gate(&format!("recompile: {mode}"));
    };
    set("javac");
    workspace.calc(THIRD, "");
    assert_eq!(how(&workspace.judged()), PROVEN);
    workspace.calc("return a - b;", "");
    assert_eq!(how(&workspace.judged()), BY_JAVAC);

    set("maven");
    let same = workspace.gate("HEAD~1");
    assert_eq!(
        how(&same),
        BY_MAVEN,
        "the other goals have not seen this commit: {same}"
    );

    // A class file among the resources, which no compiler makes, and which is no part of the task.
    set("javac");
    let odd = workspace.path("ws/src/p/src/main/resources/odd/Odd.class");
    fs_err::create_dir_all(odd.parent().unwrap()).unwrap();
    fs_err::write(odd, &workspace.classes()["com/acme/Calc.class"]).unwrap();
    workspace.commit();
    let mut tried = Vec::new();
    for body in [OTHER, THIRD, "return a - b;", OTHER] {
        workspace.calc(body, "");
        assert_eq!(how(&workspace.judged()), BY_MAVEN);
        tried.push(
            workspace
                .logs()
                .keys()
                .any(|name| name.contains("recompile")),
        );
    }
    assert_eq!(
        tried,
        [true, false, false, false],
        "one proof that fails is enough"
    );

    // The build leaves out a test that would kill the mutants which the own test does not, so only Maven compiles.
    let odd = "src/main/resources/odd/Odd.class";
    workspace.git(&["rm", "--quiet", odd]);
    pom.compiler = "<configuration><testExcludes><testExclude>**/*Bench.java</testExclude></testExcludes></configuration>";
    let alone = strong().replace("public class CalcTest", "public class CalcBench");
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .class(&test_file("CalcBench"), &alone);
    for body in [THIRD, OTHER] {
        workspace.calc(body, "");
        assert_eq!(how(&workspace.judged()), BY_MAVEN);
        assert!(
            workspace
                .test_classes()
                .keys()
                .all(|name| !name.contains("Bench"))
        );
    }

    workspace.set_gate("recompile: javac, where: in-place");
    let in_place = workspace.gate("HEAD~1");
    assert_eq!(how(&in_place), BY_MAVEN, "{in_place}");
    let logs = workspace.logs();
    assert!(
        logs.keys().all(|name| !name.contains("recompile")),
        "only Maven compiles in your own folders"
    );
}

tests! {
    maven deep: [
        what_names_nothing_that_changed_is_not_compiled_and_what_does_is,
        goals_that_nobody_knows_left_out_files_and_what_javac_does_not_make_are_mavens,
    ]
}
