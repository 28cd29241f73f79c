//! Who compiles when only Java files changed: real git, real Maven, real javac, real PIT.

use super::project::{JUnit, Pom};
use super::workspace::{TESTS, Workspace, phases, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Bodies of `sub` with the same two mutants as `return a - b;`.
const OTHER: &str = "int c = a - b; return c;";
const THIRD: &str = "int c = b; return a - c;";
const PROVEN: &str = "the class path was known; javac was seen to make the same classes";
const BY_JAVAC: &str = "javac compiled what had changed: Maven was not called";

fn how(report: &Value) -> String {
    let all = phases(report);
    let found = all.iter().find(|(name, _)| name == "compile" || name == "resolve");
    let (name, note) = found.unwrap_or_else(|| panic!("{report}"));
    format!("{name}: {note}")
}

/// Every file below a folder with its bytes.
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
    /// `Calc` with a method `sub` of this body and with these members more.
    fn calc(&self, sub: &str, more: &str) -> &Self {
        self.class(
            &main_file("Calc"),
            &format!("public class Calc {{ public int add(int a, int b) {{ return a + b; }}\npublic int sub(int a, int b) {{ {sub} }}\n{more} }}"),
        );
        self
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

    /// When each class of the tests was written, by its simple name.
    fn test_stamps(&self) -> BTreeMap<String, std::time::SystemTime> {
        let folder = self.site().join("tree/src/p/target/test-classes");
        let stamp = |file: String| {
            let name = file.strip_prefix("com/acme/")?.strip_suffix(".class")?.to_owned();
            Some((name, fs_err::metadata(folder.join(&file)).unwrap().modified().unwrap()))
        };
        self.test_classes().into_keys().filter_map(stamp).collect()
    }

    /// Makes the gate ready to do without Maven: one build with the proof.
    fn proven(&self) -> &Self {
        self.class(&test_file("CalcTest"), &strong())
            .write("ws/src/p/src/main/java/com/acme/package-info.java", "/** Sums. */\npackage com.acme;\n")
            .write("ws/src/p/src/main/resources/words/hello.txt", "hello\n")
            .write("ws/src/p/src/test/resources/data.csv", "1,2\n");
        self.calc(OTHER, "");
        let first = how(&self.judged());
        assert!(
            first.starts_with("resolve: ") && first.ends_with("javac was seen to make the same classes"),
            "{first}"
        );
        self
    }

    /// The classes and tests of the kept checkout are those that a new one gets.
    fn is_as_maven_builds(&self) {
        let kept = (self.classes(), self.test_classes());
        fs_err::remove_dir_all(self.path("cache/ralph/sites")).unwrap();
        let cold = self.gate("HEAD~1");
        assert!(how(&cold).contains("the class path") || how(&cold).contains("resolved"), "{cold}");
        let names = |all: &BTreeMap<String, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
        let maven = (self.classes(), self.test_classes());
        assert_eq!((names(&kept.0), names(&kept.1)), (names(&maven.0), names(&maven.1)));
        assert!(kept == maven, "the same bytes");
    }
}

fn changed_bodies_are_compiled_without_maven_and_the_tests_only_when_they_could_see_it() {
    let workspace = Workspace::new();
    workspace.proven();
    let stamp = |class: &str| {
        let file = workspace.site().join("tree/src/p/target").join(class);
        fs_err::metadata(file).unwrap().modified().unwrap()
    };
    let tests = "test-classes/com/acme/CalcTest.class";
    workspace
        .class(&test_file("CalcTest"), &strong().replace("{ @Test", "{ @Test public void none() { } @Test"));
    let rework = workspace.judged();
    assert_eq!(
        (how(&rework), verdict(&rework)),
        (format!("compile: {BY_JAVAC}"), "skip 0/0".to_owned()),
        "{rework}"
    );
    let before = stamp(tests);

    workspace.calc(THIRD, "");
    let body = workspace.judged();
    assert_eq!(
        (how(&body), verdict(&body)),
        (format!("compile: {BY_JAVAC}"), "pass 4/4".to_owned()),
        "{body}"
    );
    assert!(workspace.logs().keys().all(|name| !name.contains("maven")), "{:?}", workspace.logs().keys());
    assert_eq!(stamp(tests), before, "what the tests see did not change");

    // A wrong body is red by the same tests.
    workspace.calc("int c = a + b; return c;", "");
    let wrong = workspace.judged();
    assert_eq!(how(&wrong), format!("compile: {BY_JAVAC}"));
    assert_eq!(wrong["verdict"], "fail", "{wrong}");
    assert!(wrong["reasons"].to_string().contains("CalcTest"), "{wrong}");

    workspace.calc("return a - b;", "public static final int LIMIT = 7;");
    let seen = workspace.judged();
    assert_eq!(
        (how(&seen), verdict(&seen)),
        (format!("compile: {BY_JAVAC}"), "pass 4/4".to_owned()),
        "{seen}"
    );
    assert_ne!(stamp(tests), before, "what the tests see changed");

    // The tests change with the class, one goes, and so does a class.
    let uses =
        strong().replace("{ @Test", "{ @Test public void limit() { assertEquals(8, Calc.LIMIT); } @Test");
    workspace
        .calc("return a - b;", "public static final int LIMIT = 8;")
        .class(&test_file("CalcTest"), &uses);
    workspace.git(&["rm", "--quiet", &main_file("Base")]);
    let both = workspace.judged();
    assert_eq!(
        (how(&both), verdict(&both)),
        (format!("compile: {BY_JAVAC}"), "pass 4/4".to_owned()),
        "{both}"
    );
    assert!(!workspace.classes().contains_key("com/acme/Base.class"));
    workspace.is_as_maven_builds();
}

fn what_maven_would_refuse_is_refused() {
    let workspace = Workspace::new();
    workspace.class(&main_file("Used"), "class Used { static int one() { return 1; } }");
    workspace.proven();
    let refused = |why: &str| {
        let report = workspace.judged();
        assert_eq!(report["verdict"], "fail", "{why}: {report}");
        assert!(report["reasons"].to_string().contains("does not compile"), "{why}: {report}");
        // Nothing of a build that failed is used again; the next one is Maven's, and proven again.
        workspace.calc("return a - b;", "");
        let fixed = workspace.judged();
        assert_eq!(
            (how(&fixed), verdict(&fixed)),
            (format!("compile: {PROVEN}"), "pass 4/4".to_owned()),
            "{why}: {fixed}"
        );
        workspace.calc(OTHER, "");
        assert_eq!(how(&workspace.judged()), format!("compile: {BY_JAVAC}"), "{why}");
    };
    workspace.calc("return a - c;", "");
    refused("a name that nobody knows");
    workspace.calc("org.junit.Assert.assertTrue(true); return a - b;", "");
    refused("a test's dependency in production code");
    workspace.calc("Used.one(); return a - b;", "");
    assert_eq!(verdict(&workspace.judged()), "pass 4/4");
    workspace.git(&["rm", "--quiet", &main_file("Used")]);
    refused("a class that is gone and whose class file was there");
}

fn what_is_not_java_and_goals_that_nobody_knows_are_mavens() {
    let workspace = Workspace::new();
    workspace.proven();
    workspace.write("ws/src/p/src/main/resources/words/hello.txt", "good day\n");
    workspace.calc(THIRD, "");
    // The proof was of other files, so this one is made anew.
    assert_eq!(how(&workspace.judged()), format!("compile: {PROVEN}"));
    assert_eq!(workspace.classes()["words/hello.txt"], b"good day\n");
    workspace.calc("return a - b;", "");
    let next = workspace.judged();
    assert_eq!(how(&next), format!("compile: {BY_JAVAC}"), "{next}");

    // Somebody else's goal, which might look at sources.
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.plugins = "<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version><executions><execution><id>more</id><phase>process-classes</phase>\
        <goals><goal>copy-resources</goal></goals><configuration><outputDirectory>${project.build.directory}/more</outputDirectory>\
        <resources><resource><directory>src/main/java</directory></resource></resources></configuration></execution></executions></plugin>";
    workspace.write("ws/src/p/pom.xml", &pom.text());
    let by_maven = |bodies: [&str; 3], told: &str| {
        let mut last = String::new();
        for body in bodies {
            workspace.calc(body, "");
            last = how(&workspace.judged());
        }
        assert_eq!(last, told);
    };
    let bodies = [OTHER, THIRD, "return a - b;"];
    by_maven(bodies, "compile: the class path was known");
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {recompile: javac}\n");
    by_maven(bodies, &format!("compile: {BY_JAVAC}"));
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {recompile: maven}\n");
    let same = workspace.gate("HEAD~1");
    assert_eq!(
        how(&same),
        "compile: the class path was known",
        "the other goals have not seen this commit: {same}"
    );
    by_maven(bodies, "compile: the class path was known");
}

fn what_names_nothing_that_changed_is_not_compiled_and_what_does_is() {
    let workspace = Workspace::new();
    let test = |name: &str, body: &str| {
        let all = format!("{TESTS} public class {name} {{ @Test public void one() {{ {body} }} }}");
        workspace.class(&test_file(name), &all);
    };
    let limits = |body: &str| {
        workspace.class(
            &test_file("Limits"),
            &format!("class Limits {{ {body} static int two() {{ return 2; }} }}"),
        );
    };
    let helper = "static class Gone {} } class Helper { static int one() { return 1; } } class Rest {";
    limits(&format!("static final int MAX = 5; {helper}"));
    workspace.class(&test_file("More"), "class More extends Limits {}");
    test("MoreTest", "assertTrue(More.MAX > 4);");
    test("HelperTest", "assertEquals(1, Helper.one());");
    test("EscapeTest", r"assertEquals(2, \u0052est.two());");
    test("BaseTest", "assertTrue(Base.LIMIT > 1);");
    for number in 1..7 {
        test(&format!("Idle{number}Test"), "");
    }
    let base = |limit: u8| {
        let text = format!("public class Base {{ public static final int LIMIT = {limit}; }}");
        workspace.class(&main_file("Base"), &text);
    };
    base(2);
    workspace.proven();
    // The classes of tests that were written anew.
    let compiled = |before: &BTreeMap<String, std::time::SystemTime>| {
        let report = workspace.judged();
        assert_eq!(how(&report), format!("compile: {BY_JAVAC}"), "{report}");
        let after = workspace.test_stamps();
        let new = after.iter().filter(|(name, stamp)| before.get(*name) != Some(stamp));
        (new.map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" "), after)
    };
    test("Idle1Test", "int a = 0;");
    let (one, stamps) = compiled(&workspace.test_stamps());
    assert_eq!(one, "Idle1Test");
    // A constant that others have by inheritance, a class that goes.
    limits(&format!("static final int MAX = 6; {}", helper.replace("static class Gone {}", "")));
    let (named, stamps) = compiled(&stamps);
    assert_eq!(named, "EscapeTest Helper HelperTest Limits More MoreTest Rest");
    assert!(!workspace.test_classes().contains_key("com/acme/Limits$Gone.class"));
    workspace.class(&test_file("Fresh"), "class Fresh {}");
    workspace.git(&["rm", "--quiet", &test_file("Idle6Test")]);
    let (came, stamps) = compiled(&stamps);
    assert_eq!(came, "Fresh");
    // Production code that tests see, and that none of them sees.
    base(3);
    let (seen, stamps) = compiled(&stamps);
    assert_eq!(seen, "BaseTest");
    workspace.calc(THIRD, "");
    assert_eq!(compiled(&stamps).0, "");
    workspace.is_as_maven_builds();

    limits("static final int MAX = 6;");
    let gone = workspace.judged();
    assert!(
        gone["reasons"].to_string().contains("does not compile"),
        "a class that others name is gone: {gone}"
    );
}

fn files_that_the_build_leaves_out_stay_out_and_new_ones_are_mavens_to_pick() {
    let workspace = Workspace::new();
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.compiler = "<configuration><testExcludes><testExclude>**/*Bench.java</testExclude></testExcludes></configuration>";
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .class(&test_file("CalcBench"), "public class CalcBench { no.such.Library library; }");
    workspace.proven();
    workspace.calc(THIRD, "");
    let body = workspace.judged();
    assert_eq!(
        (how(&body), verdict(&body)),
        (format!("compile: {BY_JAVAC}"), "pass 4/4".to_owned()),
        "{body}"
    );
    // This one compiles, and would kill what the own test leaves: Maven does not pick it.
    let alone = strong().replace("public class CalcTest", "public class CalcOtherBench");
    workspace.calc("return a - b;", "").class(&test_file("CalcOtherBench"), &alone);
    let more = workspace.judged();
    assert_eq!(how(&more), format!("compile: {PROVEN}"), "{more}");
    workspace.calc(OTHER, "");
    assert_eq!(how(&workspace.judged()), format!("compile: {BY_JAVAC}"));
    assert!(workspace.test_classes().keys().all(|name| !name.contains("Bench")));
    workspace.is_as_maven_builds();
}

fn a_class_that_javac_does_not_make_again_is_mavens() {
    let workspace = Workspace::new();
    // A class file among the resources: nobody compiles it.
    workspace.write("ws/src/p/src/main/resources/odd/Odd.class", "no class file\n");
    workspace.class(&test_file("CalcTest"), &format!("{TESTS} public class CalcTest {{ @Test public void all() {{ assertEquals(5, new Calc().add(2, 3)); assertEquals(1, new Calc().sub(3, 2)); }} }}"));
    let mut tried = Vec::new();
    for body in ["return a - b;", OTHER, THIRD, "return a - b;", OTHER] {
        workspace.calc(body, "");
        let report = workspace.judged();
        assert!(!how(&report).contains("javac"), "{report}");
        assert_eq!(verdict(&report), "pass 4/4", "{report}");
        tried.push(workspace.logs().keys().any(|name| name.contains("recompile")));
    }
    assert_eq!(tried, [true, true, true, false, false], "three proofs that fail are enough");
}

tests! {
    maven: [
        changed_bodies_are_compiled_without_maven_and_the_tests_only_when_they_could_see_it,
        what_maven_would_refuse_is_refused,
        what_names_nothing_that_changed_is_not_compiled_and_what_does_is,
        what_is_not_java_and_goals_that_nobody_knows_are_mavens,
        files_that_the_build_leaves_out_stay_out_and_new_ones_are_mavens_to_pick,
        a_class_that_javac_does_not_make_again_is_mavens,
    ]
}
