//! The mutation gate with real Maven and real PIT on small projects.

pub(crate) mod clean;
mod direct_spawn;
pub(crate) mod engines;
pub(crate) mod evidence;
pub(crate) mod files;
pub(crate) mod gradle;
pub(crate) mod hidden;
pub(crate) mod map;
pub(crate) mod mutation_test;
pub(crate) mod project;
pub(crate) mod recompile;
pub(crate) mod results;
mod scripted;
pub(crate) mod shapes;
pub(crate) mod targets;
pub(crate) mod tiers;
mod workspace;

use crate::support::needs::tests;
use project::{JUnit, Pom, Project, error, reasons};
use ralph::config::TestTiers;
use ralph::mutation::{GateReport, NoCoverage, Verdict};

const MAIN: &str = "src/main/java/com/acme";
const TEST: &str = "src/test/java/com/acme";

/// A class for tests that each kill one method's mutants, and none of the last method's.
const SUM: &str = "public class Sum {\n\
    public int add(int a, int b) { return a + b; }\n\
    public int twice(int a) { return a * 2; }\n\
    public int less(int a) { return a - 7; }\n\
    public boolean none(int a) { return a > 3; }\n}";

fn main_file(class: &str) -> String {
    format!("{MAIN}/{class}.java")
}

fn test_file(class: &str) -> String {
    format!("{TEST}/{class}.java")
}

/// Returns `class killed/total` of each judged class.
fn scores(report: &GateReport) -> Vec<String> {
    let coverage = |class: &ralph::mutation::ClassScore| class.tally.coverage(NoCoverage::Survived);
    report
        .classes
        .iter()
        .map(|class| format!("{} {}", class.class, coverage(class)))
        .collect()
}

/// Returns a project of many classes.
///
/// It has JUnit 5, a Surefire that sets properties and environment, JVMs with a collector of the user's choice, and
/// settings that skip all tests.
fn many() -> Project {
    let mut project = Project::new();
    project.settings.jvm_args.clear();
    project
        .request
        .env
        .push(("MAVEN_OPTS".to_owned(), "-XX:+UseG1GC".to_owned()));
    let mut pom = Pom::new("many", JUnit::Five);
    pom.surefire = "<argLine>@{late} -Xmx300m -XX:+UseParallelGC</argLine><systemPropertyVariables><greeting>good day</greeting></systemPropertyVariables>\
        <environmentVariables><HOUSE>blue</HOUSE></environmentVariables>";
    pom.head = "<profiles><profile><id>skip</id><activation><activeByDefault>true</activeByDefault></activation>\
        <properties><maven.test.skip>true</maven.test.skip><skipTests>true</skipTests></properties></profile></profiles>";
    project
        .write("pom.xml", &pom.text())
        .write(".mvn/maven.config", "-Dmaven.test.skip=true");
    let import =
        "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.Test;";
    project
        .class(&main_file("Strong"), "public class Strong { public int add(int a, int b) { return a + b; } \
            static class Inner { int less(int a) { return a - 1; } } }\nclass Beside { int more(int a) { return a + 1; } }")
        .class(&test_file("StrongTest"), &format!("{import} class StrongTest {{ @Test void all() {{ assertEquals(5, new Strong().add(2, 3)); \
            assertEquals(1, new Strong.Inner().less(2)); assertEquals(3, new Beside().more(2)); \
            assertEquals(\"good day\", System.getProperty(\"greeting\")); assertEquals(\"blue\", System.getenv(\"HOUSE\")); assertEquals(\"yes\", System.getProperty(\"late\")); }} }}"))
        .class(&main_file("Weak"), "public class Weak { public int add(int a, int b) { return a + b; }\n\
            public boolean big(int a) { return a > 10; } }")
        .class(&test_file("WeakTest"), &format!("{import} class WeakTest {{ @Test void runs() {{ new Weak().add(2, 3); new Weak().big(3); }} }}"))
        .class(&main_file("Half"), "public class Half { public int seen(int a) { return a + 2; }\n\
            public int unseen(int a) { return a - 2; } }")
        .class(&test_file("TestHalf"), &format!("{import} class TestHalf {{ @Test void seen() {{ assertEquals(4, new Half().seen(2)); }} }}"))
        .class(&main_file("Shape"), "public interface Shape { int area(); }")
        .class(&test_file("ShapeTest"), &format!("{import} class ShapeTest {{ @Test void one() {{ Shape s = () -> 1; assertEquals(1, s.area()); }} }}"))
        .class(&main_file("Point"), "public record Point(int x, int y) { }")
        .class(&test_file("PointTest"), &format!("{import} class PointTest {{ @Test void x() {{ assertEquals(1, new Point(1, 2).x()); }} }}"))
        .class(&main_file("Limits"), "public final class Limits { public static final int MAX = 5; private Limits() { } }")
        .class(&test_file("LimitsTest"), &format!("{import} class LimitsTest {{ @Test void max() {{ assertEquals(5, Limits.MAX); }} }}"))
        .class(&main_file("Generated"), "import java.lang.annotation.*; @Retention(RetentionPolicy.CLASS) public @interface Generated { }")
        .class(&main_file("Sly"), "@Generated public class Sly { public int add(int a, int b) { return a + b; } }")
        .class(&test_file("SlyTest"), &format!("{import} class SlyTest {{ @Test void runs() {{ new Sly().add(1, 2); }} }}"))
        .class(&main_file("Untested"), "public class Untested { int a() { return 1; } }");
    project
}

fn classes_are_judged_one_by_one_and_a_red_test_elsewhere_is_a_remark() {
    let mut project = many();
    let import =
        "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.Test;";
    project.class(
        &test_file("ForeignTest"),
        &format!("{import} class ForeignTest {{ @Test void red() {{ fail(); }} }}"),
    );
    let paths: Vec<String> = [
        "Strong", "Weak", "Half", "Shape", "Point", "Sly", "Untested",
    ]
    .map(main_file)
    .into_iter()
    .chain([test_file("WeakTest")])
    .collect();
    project.changed(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    // A report of an earlier run is in the path of the new one.
    let stale = project.request.folder.join("report/p");
    fs_err::create_dir_all(&stale).unwrap();
    fs_err::write(stale.join("results.json"), "[\"done\",\"\",[],[],[]]").unwrap();

    let report = project.run();
    let logs = project.logs();
    assert_eq!(
        scores(&report),
        [
            "com.acme.Half 50% (2/4)",
            "com.acme.Sly 0% (0/2)",
            "com.acme.Strong 100% (6/6)",
            "com.acme.Weak 0% (0/5)"
        ],
        "{:?}\n{logs}",
        report.verdict
    );
    let reasons = reasons(&report);
    assert!(
        reasons
            .contains("com.acme.Half of package p is 50% (2/4); 100% (2/2) without the 2 mutants"),
        "{reasons}"
    );
    assert!(
        reasons.contains("com.acme.Weak of package p is 0% (0/5), below the threshold of 70%"),
        "{reasons}"
    );
    assert!(!reasons.contains("Strong"), "{reasons}");
    let failing = ["Half", "Sly", "Weak"].map(|class| format!("p/{}", main_file(class)));
    assert_eq!(
        report.failing, failing,
        "an annotation of one's own named `Generated` hides nothing"
    );
    assert_eq!(
        (report.survivors_total, report.survivors.len()),
        (9, 4),
        "one of each line is reported"
    );
    assert!(
        report
            .survivors
            .iter()
            .all(|s| s.mutant.line == 2 || s.mutant.line == 3),
        "{:?}",
        report.survivors
    );
    assert!(
        report
            .remarks
            .iter()
            .any(|r| r.contains("com.acme.ForeignTest.red")),
        "{:?}",
        report.remarks
    );
    assert_eq!(report.left_out.len(), 1);
    let gate = ".ralph/state/iter-1/gate";
    assert_eq!(
        report.reports,
        [
            format!("{gate}/mutation.html"),
            format!("{gate}/report/p/all/index.html")
        ]
    );
    assert!(
        report
            .reports
            .iter()
            .all(|page| project.workspace().join(page).is_file())
    );
}

fn interfaces_records_and_constants_are_skipped_while_their_changed_tests_pass() {
    let mut project = many();
    let paths = [
        main_file("Shape"),
        main_file("Point"),
        main_file("Limits"),
        test_file("PointTest"),
    ];
    project.changed(&paths.each_ref().map(String::as_str));
    let report = project.run();
    let Verdict::Skip { why } = &report.verdict else {
        panic!("{:?}\n{}", report.verdict, project.logs())
    };
    assert_eq!(
        why,
        "There is nothing to mutate in com.acme.Limits, com.acme.Point, com.acme.Shape."
    );

    let red = "import org.junit.jupiter.api.*; class PointTest { @Test void x() { Assertions.assertEquals(9, new Point(1, 2).x()); } }";
    project.class(&test_file("PointTest"), red);
    project.changed(&[&test_file("PointTest")]);
    let report = project.run();
    assert!(
        reasons(&report).contains("PointTest.x"),
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
}

fn a_module_of_a_reactor_is_built_with_its_siblings_and_judged_alone() {
    let mut project = Project::new();
    let parent = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId>\
        <artifactId>all</artifactId><version>1</version><packaging>pom</packaging><modules><module>base</module><module>app</module></modules></project>";
    let mut app = Pom::new("app", JUnit::Six);
    app.dependencies = "<dependency><groupId>com.acme</groupId><artifactId>base</artifactId><version>1</version></dependency>";
    project
        .write("pom.xml", parent)
        .write("base/pom.xml", &Pom::new("base", JUnit::Six).text())
        .write("app/pom.xml", &app.text());
    project
        .class(
            &format!("base/{}", main_file("Base")),
            "public class Base { public int one() { return 1; } public int two() { return 2; } }",
        )
        .class(
            &format!("app/{}", main_file("App")),
            "public class App { public int two() { return new Base().one() + 1; } }",
        )
        .class(
            &format!("app/{}", test_file("AppTest")),
            "import org.junit.jupiter.api.*; class AppTest { \
            @Test void two() { Assertions.assertEquals(2, new App().two()); } }",
        );
    // The tests of Base are in the module that uses it, so they run there and kill in base. Those of Lone are in a
    // module that does not use it and does not have it on its class path.
    let test = |class: &str, body: &str| {
        format!("import org.junit.jupiter.api.*; class {class} {{ @Test void one() {{ {body} }} }}")
    };
    project
        .class(
            &format!("app/{}", test_file("BaseTest")),
            &test(
                "BaseTest",
                "Assertions.assertEquals(1, new Base().one()); new Base().two();",
            ),
        )
        .class(
            &format!("app/{}", main_file("Lone")),
            "public class Lone { public int one() { return 1; } }",
        )
        .class(
            &format!("base/{}", test_file("LoneTest")),
            &test("LoneTest", "Assertions.assertEquals(1, new Base().one());"),
        );
    let [app, base, lone] = ["app/App", "base/Base", "app/Lone"]
        .map(|class| class.split_once('/').unwrap())
        .map(|(module, class)| format!("{module}/{}", main_file(class)));
    project.changed(&[&app, &base, &lone]);
    project.settings.tests = TestTiers::Own;
    let report = project.run();
    assert_eq!(
        scores(&report),
        [
            "com.acme.App 100% (2/2)",
            "com.acme.Base 50% (1/2)",
            "com.acme.Lone 0% (0/1)"
        ],
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    assert_eq!(report.failing, [lone, base].map(|file| format!("p/{file}")));
    for module in ["app", "base_in_app"] {
        let page = format!(".ralph/state/iter-1/gate/report/p/{module}/own/index.html");
        assert!(report.reports.contains(&page), "{:?}", report.reports);
    }
    let remarks = report.remarks.join(" ");
    assert!(
        remarks.contains(
            "The tests of com.acme.Lone are in another module (p/base) and do not run for it."
        ),
        "{remarks}"
    );
}

fn what_does_not_compile_fails_with_the_compilers_words_and_no_older_report_counts() {
    let mut project = Project::new();
    project.write("pom.xml", &Pom::new("broken", JUnit::Five).text());
    project
        .class(&main_file("Foo"), "public class Foo {\n int x( \n}")
        .class(&test_file("FooTest"), "class FooTest { }");
    project.changed(&[&main_file("Foo")]);
    let report = project.run();
    let text = reasons(&report);
    assert!(
        text.starts_with("Package p does not compile.\nsrc/main/java/com/acme/Foo.java:[4,1]"),
        "{text}"
    );
    assert_eq!(report.failing, [format!("p/{}", main_file("Foo"))]);

    let missing = "<dependency><groupId>com.acme.none</groupId><artifactId>nothing</artifactId><version>9</version></dependency>";
    let mut pom = Pom::new("broken", JUnit::Five);
    pom.dependencies = missing;
    project.write("pom.xml", &pom.text());
    let (why, transient) = error(&project.run());
    assert!(why.contains("com.acme.none:nothing") && transient, "{why}");
    project.changed(&[&main_file("Foo"), "pom.xml"]);
    assert!(reasons(&project.run()).contains("does not build after a build file was changed"));
}

fn without_maven_or_with_dirty_targets_there_is_no_verdict() {
    let mut project = Project::new();
    project
        .write("pom.xml", "<project/>")
        .class(&main_file("Foo"), "class Foo { }")
        .class(&test_file("FooTest"), "class FooTest { }");
    project.changed(&[&main_file("Foo")]);
    project.request.env = vec![("PATH".to_owned(), "/nowhere".to_owned())];
    let (why, transient) = error(&project.run());
    assert!(
        why.starts_with("Maven was not found") && !transient,
        "{why}"
    );
    project.request.packages[0].dirt = vec![ralph::source::RepoPath::parse(&main_file("Foo"))];
    let (why, _) = error(&project.run());
    assert_eq!(
        why,
        format!(
            "Files of package p that are to be judged differ from HEAD: {}.",
            main_file("Foo")
        )
    );
}

fn nothing_runs_when_no_java_was_changed() {
    let mut project = Project::new();
    project
        .write("pom.xml", "<project/>")
        .write("README.md", "x");
    project.changed(&["README.md"]);
    project.request.env.clear();
    let why = "No production code that this gate judges was changed.".to_owned();
    assert_eq!(project.run().verdict, Verdict::Skip { why });
    assert!(!project.request.folder.exists());
}

fn a_command_says_its_verdict_by_its_exit_code() {
    let mut project = Project::new();
    project.changed(&[&main_file("Foo")]);
    let mut verdict = |script: &str| {
        project.settings.run = Some(vec![
            "/bin/sh".to_owned(),
            "-c".to_owned(),
            script.to_owned(),
        ]);
        project.run().verdict
    };
    assert_eq!(verdict("exit 0"), Verdict::Pass);
    assert_eq!(
        verdict("echo not here; exit 77"),
        Verdict::Skip {
            why: "In package p: not here.".to_owned()
        }
    );
    let reasons = vec![
        "The gate PITEST fails in package p.".to_owned(),
        "red".to_owned(),
    ];
    assert_eq!(
        verdict("printf '\\033[1mred\\033[0m\\n'; exit 1"),
        Verdict::Fail { reasons }
    );
    assert!(matches!(
        verdict("exit 2"),
        Verdict::Error {
            transient: false,
            ..
        }
    ));
    assert!(matches!(
        verdict("kill -9 $$"),
        Verdict::Error {
            transient: false,
            ..
        }
    ));
    project.settings.limit = std::time::Duration::from_millis(200);
    project.settings.run = Some(vec!["/bin/sleep".to_owned(), "60".to_owned()]);
    assert!(matches!(
        project.run().verdict,
        Verdict::Error {
            transient: true,
            ..
        }
    ));
    project.settings.run = Some(vec!["/no/such/program".to_owned()]);
    assert!(matches!(
        project.run().verdict,
        Verdict::Error {
            transient: false,
            ..
        }
    ));
}

fn tests_in_another_language_are_tests_of_a_java_class() {
    let mut project = Project::new();
    let mut pom = Pom::new("spec", JUnit::Four);
    pom.dependencies = "<dependency><groupId>org.spockframework</groupId><artifactId>spock-core</artifactId><version>2.3-groovy-4.0</version><scope>test</scope></dependency>\
        <dependency><groupId>org.apache.groovy</groupId><artifactId>groovy</artifactId><version>4.0.6</version><scope>test</scope></dependency>";
    pom.plugins = "<plugin><groupId>org.codehaus.gmavenplus</groupId><artifactId>gmavenplus-plugin</artifactId><version>3.0.2</version>\
        <executions><execution><goals><goal>addTestSources</goal><goal>compileTests</goal></goals></execution></executions></plugin>";
    let (main, test) = (
        main_file("Calc"),
        "src/test/groovy/com/acme/CalcSpec.groovy",
    );
    let spec = "class CalcSpec extends spock.lang.Specification {\n def \"adds\"() { expect: new Calc().add(2, 3) == 5 }\n}";
    project
        .write("pom.xml", &pom.text())
        .class(&main, "public class Calc { int add(int a, int b) { return a + b; }\n int sub(int a, int b) { return a - b; } }")
        .class(test, spec);
    project.changed(&[&main]);
    let report = project.run();
    assert_eq!(
        scores(&report),
        ["com.acme.Calc 50% (2/4)"],
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    assert_eq!(report.trace.tiers[0].tests, ["com.acme.CalcSpec"]);
}

tests! {
    maven deep: [
        classes_are_judged_one_by_one_and_a_red_test_elsewhere_is_a_remark,
        tests_in_another_language_are_tests_of_a_java_class,
        interfaces_records_and_constants_are_skipped_while_their_changed_tests_pass,
        a_module_of_a_reactor_is_built_with_its_siblings_and_judged_alone,
        what_does_not_compile_fails_with_the_compilers_words_and_no_older_report_counts,
    ]
    nothing: [
        without_maven_or_with_dirty_targets_there_is_no_verdict,
        nothing_runs_when_no_java_was_changed,
        a_command_says_its_verdict_by_its_exit_code,
    ]
}
