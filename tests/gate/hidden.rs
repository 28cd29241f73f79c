//! Code that hides from PIT, false kills and false passes, and similar honest code.

use super::project::{JUnit, Pom, Project, error, reasons};
use super::{main_file, scores, test_file};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use ralph::mutation::Verdict;

/// Returns a project that a script builds, with these classes and their tests, all changed.
fn project(classes: &[(&str, &str, &str)]) -> Project {
    with_classes(Project::scripted(JUnit::Five), classes)
}

/// Returns the same project built by Maven, with these dependencies.
fn maven_project(dependencies: &'static str, classes: &[(&str, &str, &str)]) -> Project {
    let project = Project::new();
    project.write(
        "pom.xml",
        &Pom {
            dependencies,
            ..Pom::new("hidden", JUnit::Five)
        }
        .text(),
    );
    with_classes(project, classes)
}

fn with_classes(mut project: Project, classes: &[(&str, &str, &str)]) -> Project {
    let import = "import static org.junit.jupiter.api.Assertions.*; import static org.junit.jupiter.api.Assumptions.*; import org.junit.jupiter.api.*;";
    for (name, code, test) in classes {
        let test_name = format!("{name}Test");
        project.class(&main_file(name), code).class(
            &test_file(&test_name),
            &format!("{import} class {test_name} {{ {test} }}"),
        );
    }
    let paths: Vec<String> = classes
        .iter()
        .flat_map(|(name, ..)| [main_file(name), test_file(&format!("{name}Test"))])
        .collect();
    project.changed(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    project
}

fn names(project: &Project, classes: &[&str]) -> Vec<String> {
    let name = &project.request.packages[0].name;
    classes
        .iter()
        .map(|class| format!("{name}/{}", main_file(class)))
        .collect()
}

fn written_code_is_judged_whatever_filter_of_pit_would_hide_it() {
    let project = project(&[
        (
            "Sly",
            "public class Sly {\n int one() { return 1; }\n\
            @Generated int price(int q, int c) { return q * c + 1; } }",
            "@Test void one() { assertEquals(1, new Sly().one()); new Sly().price(1, 2); }",
        ),
        (
            "Logged",
            "public class Logged {\n static final java.util.logging.Logger LOG = java.util.logging.Logger.getLogger(\"x\");\n\
            int price(int q, int c) { LOG.fine(\"priced\"); return q * c; } }",
            "@Test void runs() { new Logged().price(1, 2); }",
        ),
        (
            "Table",
            "import java.util.*; import java.util.function.*; public class Table {\n\
            interface Rule { int price(int q, int c); }\n static final Map<String, Rule> RULES = new HashMap<>();\n\
            static { RULES.put(\"std\", (q, c) -> {\n return q * c; }); }\n int price(int q, int c) { return RULES.get(\"std\").price(q, c); } }",
            "@Test void runs() { new Table().price(1, 2); }",
        ),
        (
            "Initial",
            "public class Initial {\n static final int BASE = base(6, 7);\n\
            private static int base(int q, int c) { return q * c + q - c * 3; }\n boolean is() { return true; } }",
            "@Test void runs() { assertTrue(new Initial().is()); }",
        ),
        (
            "OneLine",
            "public record OneLine(int q, int c) { int total() { return q * c; } }",
            "@Test void runs() { new OneLine(1, 2).total(); }",
        ),
        // The name of the lambda's method holds a dollar.
        (
            "Signs",
            "public class Signs {\n int one() { return 1; }\n @Generated int cents$of(int q) {\n\
            java.util.function.IntSupplier all = () -> {\n return q * 7 + 1; };\n return all.getAsInt(); } }",
            "@Test void one() { assertEquals(1, new Signs().one()); new Signs().cents$of(2); }",
        ),
        // A class next to its target with an escaped declaration, and with the name of a class in another file.
        (
            "Price",
            "public class Price { int of(int q) { return Aux$Sums.of(q); } }\ncl\\u0061ss Aux$Sums { static int of(int q) { return q * 7 + 1; } }",
            "@Test void of() { new Price().of(2); }",
        ),
    ]);
    project.class(&main_file("Aux"), "public class Aux { }");
    project.class(
        &main_file("Generated"),
        "import java.lang.annotation.*; @Retention(RetentionPolicy.CLASS) public @interface Generated { }",
    );
    let report = project.run();
    let all = [
        "Initial", "Logged", "OneLine", "Price", "Signs", "Sly", "Table",
    ];
    assert_eq!(
        report.failing,
        names(&project, &all),
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    assert_eq!(
        scores(&report),
        [
            "com.acme.Initial 100% (1/1)",
            "com.acme.Logged 0% (0/2)",
            "com.acme.OneLine 0% (0/2)",
            "com.acme.Price 0% (0/4)",
            "com.acme.Signs 20% (1/5)",
            "com.acme.Sly 25% (1/4)",
            "com.acme.Table 0% (0/1)"
        ],
    );
}

fn honest_code_of_the_same_kinds_and_honest_tests_with_state_pass() {
    let project = project(&[
        (
            "Logged",
            "import java.util.logging.*; public class Logged {\n static final Logger LOG = Logger.getLogger(\"x\");\n\
            int price(int q, int c) {\n LOG.fine(\"priced\");\n if (LOG.isLoggable(Level.FINE)) {\n LOG.log(Level.FINE, \"{0}\", q);\n }\n return q * c; } }",
            "@Test void price() { assertEquals(6, new Logged().price(2, 3)); }",
        ),
        (
            "Table",
            "import java.util.*; import java.util.function.*; public class Table {\n\
            static final Map<String, IntBinaryOperator> RULES = new HashMap<>();\n\
            static final IntUnaryOperator TWICE = n -> n * 2;\n\
            static { RULES.put(\"std\", (q, c) -> q * c);\n RULES.put(\"sum\", (q, c) -> q + c); }\n\
            int price(String rule, int q, int c) { return RULES.get(rule).applyAsInt(q, c); } }",
            "@Test void std() { assertEquals(6, new Table().price(\"std\", 2, 3)); }\n\
          @Test void sum() { assertEquals(5, new Table().price(\"sum\", 2, 3)); }\n\
          @Test void twice() { assertEquals(6, Table.TWICE.applyAsInt(3)); }",
        ),
        (
            "Initial",
            "public class Initial {\n static final int BASE = base(6, 7);\n\
            private static int base(int q, int c) {\n return Math.max(q, c); }\n\
            int plus(int n) { return BASE + n; }\n int less(int n) { return BASE - n; } }",
            "@Test void first() { new Initial().plus(0); }\n @Test void second() { assertEquals(8, new Initial().plus(1)); assertEquals(6, new Initial().less(1)); }",
        ),
        (
            "Op",
            "import java.util.function.*; public enum Op {\n ADD((a, b) -> a + b, 1),\n SUB((a, b) -> a - b, 2);\n\
            private final IntBinaryOperator f;\n private final int rank;\n\
            Op(IntBinaryOperator f, int rank) { this.f = f; this.rank = rank * 10; }\n\
            int of(int a, int b) { return f.applyAsInt(a, b); }\n int rank() { return rank; }\n\
            static int pick(Op op) { return switch (op) { case ADD -> 7; case SUB -> 8; }; } }",
            "@Test void add() { assertEquals(5, Op.ADD.of(2, 3)); }\n @Test void sub() { assertEquals(1, Op.SUB.of(3, 2)); }\n\
          @Test void rank() { assertEquals(20, Op.SUB.rank()); }\n @Test void pick() { assertEquals(7, Op.pick(Op.ADD)); assertEquals(8, Op.pick(Op.SUB)); }",
        ),
        (
            "Pair",
            "public record Pair(int a, int b) {\n public Pair {\n if (a > b) throw new IllegalArgumentException();\n }\n int sum() { return a + b; } }",
            "@Test void sum() { assertEquals(5, new Pair(2, 3).sum()); assertEquals(4, new Pair(2, 2).sum()); assertThrows(IllegalArgumentException.class, () -> new Pair(3, 2)); }",
        ),
        // The JVM compares such annotations by their bytes when a mutant takes the place of its class.
        (
            "Range",
            "import java.lang.annotation.*; public record Range(@Range.Maybe Integer start, int end) { @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface Maybe { }\n\
            int days() { return start == null ? end : end - start + 1; } }",
            "@Test void days() { assertEquals(3, new Range(1, 3).days()); assertEquals(4, new Range(null, 4).days()); }",
        ),
        (
            "Reader",
            "import java.io.*; public class Reader {\n int first(byte[] bytes) throws IOException {\n\
            try (InputStream in = new ByteArrayInputStream(bytes)) {\n return in.read();\n } } }",
            "@Test void first() throws Exception { assertEquals(7, new Reader().first(new byte[] {7})); }",
        ),
        (
            "Code",
            "import java.util.*; import java.util.stream.*; public enum Code {\n A(\"a\"), B(\"b\");\n\
            private static final Map<String, Code> BY =\n Stream.of(values()).collect(Collectors.toMap(c -> c.code, c -> c));\n\
            private final String code;\n Code(String code) { this.code = code; }\n\
            static Code of(String code) { return BY.get(code); } }",
            "@Test void of() { assertSame(Code.B, Code.of(\"b\")); }",
        ),
        // Its tests have a temporary directory, a counter, a context that starts once and a cache that they clear.
        (
            "Store",
            "import java.nio.file.*; public class Store {\n private static final java.util.Map<String, Integer> CACHE = new java.util.HashMap<>();\n\
            int cached(String key, int value) { return CACHE.computeIfAbsent(key, k -> value * 2); }\n\
            void clear() { CACHE.clear(); }\n\
            int count(Path folder) throws java.io.IOException { try (var all = Files.list(folder)) { return (int) all.count() + 1; } } }",
            "@org.junit.jupiter.api.io.TempDir java.nio.file.Path folder;\n static int runs;\n\
            static final java.util.Properties CONTEXT = new java.util.Properties();\n\
            static { CONTEXT.setProperty(\"started\", String.valueOf(System.nanoTime())); System.setProperty(\"store.context\", \"up\"); }\n\
            @BeforeAll static void up() { assertEquals(\"up\", System.getProperty(\"store.context\")); }\n\
            @AfterEach void down() { new Store().clear(); }\n\
            @Test void caches() { runs++; var store = new Store(); assertEquals(4, store.cached(\"k\" + runs, 2)); assertEquals(4, store.cached(\"k\" + runs, 9)); }\n\
            @Test void clears() { var store = new Store(); store.cached(\"same\", 1); store.clear(); assertEquals(6, store.cached(\"same\", 3)); }\n\
            @Test void counts() throws Exception { java.nio.file.Files.writeString(folder.resolve(\"a\"), CONTEXT.getProperty(\"started\")); assertEquals(2, new Store().count(folder)); }",
        ),
    ]);
    let report = project.run();
    assert_eq!(
        report.verdict,
        Verdict::Pass,
        "{:?}\n{}",
        report.survivors,
        project.logs()
    );
    assert!(
        scores(&report).iter().all(|score| score.contains(" 100% ")),
        "{:?}",
        scores(&report)
    );
    assert_eq!(report.classes.len(), 9);
}

fn time_outs_alone_are_no_kills_and_errors_of_the_jvm_leave_no_pass() {
    let sleepy = format!(
        "{IS_MUTATED} @Test void runs() throws Exception {{ new Sleepy().price(1); if (isMutated()) Thread.sleep(60_000); }}"
    );
    let halting = format!(
        "{IS_MUTATED} @Test void price() {{ assertEquals(6, new Halting().price(2, 3)); }}\n\
         @Test void slow() throws Exception {{ Thread.sleep(200); new Halting().less(1); new Halting().price(1, 2); if (isMutated()) Runtime.getRuntime().halt(3); }}"
    );
    let mut project = project(&[
        (
            "Sleepy",
            "public class Sleepy { int price(int q) { return q; } }",
            &sleepy,
        ),
        (
            "Halting",
            "public class Halting {\n int price(int q, int c) { return q * c; }\n\
                 int less(int q) { return q; } }",
            &halting,
        ),
    ]);
    // Further tiers would sleep and end JVMs again, with the same result.
    project.settings.tests = TestTiers::Own;
    let report = project.run();
    let text = reasons(&report);
    assert_eq!(
        report.failing,
        names(&project, &["Halting", "Sleepy"]),
        "{text}\n{}",
        project.logs()
    );
    assert!(
        text.contains(
            "No test kills a mutant of class com.acme.Sleepy of package p: its only kill is a time-out."
        ),
        "{text}"
    );
    assert!(
        text.contains("1 mutant of class com.acme.Halting of package p without a verdict"),
        "{text}"
    );
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.contains("Halting.java:4")),
        "{:?}",
        report.remarks
    );
}

const IS_MUTATED: &str = "static boolean isMutated() {\n\
    for (StackTraceElement e : Thread.currentThread().getStackTrace()) if (e.getClassName().endsWith(\"MutationTestWorker\")) return true;\n\
    return false; }";
const UNFIT: &str = "fails in PIT's worker on unmutated code: it detects mutation testing, or passes only once or in one JVM.";
const PRICE: &str = "public class Price {\n int of(int q, int c) { return q * c; }\n int off(int q) { return q - 1; } }";

fn a_test_that_fails_because_it_is_mutated_or_runs_again_kills_nothing() {
    let mark = tempfile::tempdir().unwrap();
    let file = mark.path().join("pid");
    let ways = [
        format!(
            "{IS_MUTATED} @BeforeEach void once() {{ assertFalse(isMutated()); }} @Test void runs() {{ @CALL@ }}"
        ),
        format!(
            "@Test void runs() throws Exception {{ @CALL@ var pid = \"\" + ProcessHandle.current().pid(); var file = java.nio.file.Path.of(\"{}\");\n\
             if (!java.nio.file.Files.exists(file)) java.nio.file.Files.writeString(file, pid);\n\
             assertEquals(pid, java.nio.file.Files.readString(file)); }}",
            file.display()
        ),
        "static int runs; @Test void runs() { @CALL@ assertEquals(1, ++runs); }".to_owned(),
    ];
    // Each JVM after the second, with several workers.
    let many = several_workers("Late");
    let call = |n| format!("new Late().f{n}(1, 2); new Late().f{n}(20, 2);");
    let calls = (0..12).map(call).collect::<Vec<_>>().concat();
    let late = format!(
        "static long jvms() {{ try {{ var folder = java.nio.file.Path.of(\"{}\"); java.nio.file.Files.createTempFile(folder, \"jvm\", \"\");\n\
         try (var all = java.nio.file.Files.list(folder)) {{ return all.filter(f -> f.toString().contains(\"jvm\")).count(); }} }}\n\
         catch (java.io.IOException e) {{ throw new java.io.UncheckedIOException(e); }} }}\n\
         static final long JVM = jvms();\n\
         @Test void runs() {{ {calls} assertTrue(JVM <= 2); }}",
        mark.path().display()
    );
    let codes = ["Looks", "Leaves", "Counts"].map(|name| (name, PRICE.replace("Price", name)));
    let tests =
        ways.map(|test| test.replace("@CALL@", "new @CLASS@().of(1, 2); new @CLASS@().off(3);"));
    let mut classes: Vec<(&str, String, String)> = codes
        .into_iter()
        .zip(tests)
        .map(|((name, code), test)| (name, code, test.replace("@CLASS@", name)))
        .collect();
    classes.push(("Late", many, late));
    let classes: Vec<(&str, &str, &str)> = classes
        .iter()
        .map(|(name, code, test)| (*name, code.as_str(), test.as_str()))
        .collect();
    let mut project = project(&classes);
    project.settings.jobs = 2;
    let report = project.run();
    let text = reasons(&report);
    for (name, ..) in classes {
        let told = format!("The test com.acme.{name}Test.runs {UNFIT}");
        assert!(text.contains(&told), "{name}: {text}\n{}", project.logs());
    }
    assert_eq!(
        report.failing,
        names(&project, &["Counts", "Late", "Leaves", "Looks"])
    );
}

/// Returns a class with enough mutants for two JVMs.
fn several_workers(class: &str) -> String {
    let methods =
        (0..12).map(|n| format!("int f{n}(int a, int b) {{ return a > {n} ? a * b : b; }}\n"));
    format!(
        "public class {class} {{\n{} }}",
        methods.collect::<String>()
    )
}

fn a_port_or_a_file_that_one_jvm_can_have_kills_nothing_and_blames_nobody() {
    // Below the ports that the system assigns on request, which another test could get meanwhile.
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (20_000..30_000).find(is_free).unwrap();
    let marks = tempfile::tempdir().unwrap();
    // The JVM that holds it waits in its first test until another one has requested it. That test takes as long without
    // mutation, where nothing else requests it, so PIT waits for it too.
    let up = |name: &str, take: &str| {
        let mark = format!(
            "java.nio.file.Path.of(\"{}\")",
            marks.path().join(name).display()
        );
        format!(
            "static AutoCloseable it;\n\
             static void up() throws Exception {{ if (it != null) return;\n\
             try {{ it = {take}; }} catch (java.io.IOException e) {{ }}\n\
             if (it == null) {{ java.nio.file.Files.writeString({mark}, \"\"); throw new java.io.IOException(\"another has it\"); }}\n\
             for (int n = 0; n < 600 && !java.nio.file.Files.exists({mark}); n++) Thread.sleep(10); }}\n"
        )
    };
    let port = up(
        "port",
        &format!("new java.net.ServerSocket({port}, 1, java.net.InetAddress.getLoopbackAddress())"),
    );
    let file = marks.path().join("lock");
    let lock = up(
        "locked",
        &format!(
            "java.nio.channels.FileChannel.open(java.nio.file.Path.of(\"{}\"), java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.WRITE).tryLock()",
            file.display()
        ),
    );
    let calls =
        |of: &dyn Fn(String) -> String| (0..12).map(|n| of(n.to_string())).collect::<String>();
    let strong = calls(&|n| {
        format!(
            "assertEquals(42, new Price().f{n}(21, 2)); assertEquals(2, new Price().f{n}({n}, 2)); "
        )
    });
    let weak = calls(&|n| format!("new Price().f{n}(21, 2); "));
    // In a test, and before all tests, where PIT has no test to name.
    for (test, named, score) in [
        (
            format!("{port} @Test void runs() throws Exception {{ up(); {weak} }}"),
            "com.acme.PriceTest.runs",
            "com.acme.Price 0% (0/48)",
        ),
        (
            format!(
                "{lock} @BeforeAll static void all() throws Exception {{ up(); }}\n@Test void runs() {{ {strong} }}"
            ),
            "what sets them up",
            "com.acme.Price 97% (47/48)",
        ),
    ] {
        let mut project = project(&[("Price", &several_workers("Price"), &test)]);
        project.settings.jobs = 2;
        let report = project.run();
        let told = report
            .remarks
            .iter()
            .filter(|remark| remark.contains("while another JVM runs") && remark.contains(named));
        assert_eq!(
            told.count(),
            1,
            "{:?} {:?}\n{}",
            report.verdict,
            report.remarks,
            project.logs()
        );
        assert_eq!(
            scores(&report),
            [score],
            "{:?}\n{}",
            report.verdict,
            project.logs()
        );
        assert_eq!(
            report.verdict == Verdict::Pass,
            named == "what sets them up",
            "{:?}",
            report.verdict
        );
    }
}

fn a_test_of_others_that_fails_in_a_control_is_left_out_and_the_others_decide() {
    let own = "@Test void of() { assertEquals(6, new Price().of(2, 3)); }";
    let price = PRICE.replace("int off", "int up(int q) { return q + 1; }\n int off");
    let mut project = project(&[("Price", &price, own)]);
    let import =
        "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.*;";
    let far = |name: &str, body: &str| format!("{import} class {name} {{ {body} }}");
    let bad = format!(
        "{IS_MUTATED} @Test void bad() {{ new Price().off(3); new Price().up(3); assertFalse(isMutated()); }}"
    );
    project
        .class(&test_file("BadTest"), &far("BadTest", &bad))
        .class(
            &test_file("GoodTest"),
            &far(
                "GoodTest",
                "@Test void off() { assertEquals(2, new Price().off(3)); }",
            ),
        );
    project.settings.tests = TestTiers::All;
    project.settings.threshold = 60;
    let report = project.run();
    assert_eq!(report.verdict, Verdict::Pass, "{}", project.logs());
    assert_eq!(scores(&report), ["com.acme.Price 66% (4/6)"]);
    let told = report
        .remarks
        .iter()
        .filter(|remark| remark.contains("com.acme.BadTest.bad"))
        .count();
    assert_eq!(told, 1, "{:?}", report.remarks);
}

/// It knows the path of the results, and would seal them if it could still read the key.
const FORGED: &str = r#"@Test void forges() throws Exception {
    java.util.List<String> call = java.util.List.of(ProcessHandle.current().parent().get().info().arguments().get());
    java.nio.file.Path folder = java.nio.file.Path.of(call.get(call.indexOf("--reportDir") + 1));
    String input = call.stream().filter(word -> word.startsWith("-Dralph.input=")).findFirst().get().substring(14);
    assertFalse(java.nio.file.Files.exists(java.nio.file.Path.of(input)));
    String forged = "[\"done\",\"\",[],[],[[[\"com.acme.Price\",\"of\",\"(II)I\",\"x.Math\",[1]],\"Price.java\",3,\"KILLED\",[\"x\",\"y\"],\"d\",false,0,[]]]]" + "0".repeat(64);
    java.nio.file.Files.writeString(folder.resolve("results.json"), forged);
    System.out.print(forged); System.err.print(forged);
    new Price().of(2, 3); new Price().off(2); }"#;

fn a_test_that_writes_or_prints_results_of_its_own_kills_nothing() {
    let report = project(&[("Price", PRICE, FORGED)]).run();
    assert_eq!(scores(&report), ["com.acme.Price 0% (0/4)"], "{report:?}");
}

fn a_class_of_the_tests_in_the_place_of_a_production_class_fails() {
    let project = project(&[(
        "Price",
        "public class Price { int of(int q, int c) { return 0; } }",
        "@Test void of() { assertEquals(6, new Price().of(2, 3)); }",
    )]);
    project.class(
        &test_file("Price"),
        "public class Price { int of(int q, int c) { return q * c; } }",
    );
    let report = project.run();
    let text = reasons(&report);
    assert!(
        text.ends_with(
            "names of production classes, so that nothing can be judged: com.acme.Price."
        ),
        "{text}\n{}",
        project.logs()
    );
    assert_eq!(report.failing, names(&project, &["Price"]));
}

/// With JUnit 4: the constructor of the test class fails under some mutants.
fn tests_of_junit_3_whose_class_cannot_be_made_have_killed() {
    let mut project = Project::scripted(JUnit::Four);
    project
        .class(&main_file("Table"), "public class Table { final int[] rows; Table(int n) { rows = new int[n]; } int size() { return rows.length; } static int start() { return 3; } }")
        .class(&test_file("TableTest"), "public class TableTest extends junit.framework.TestCase {\n\
            private final Table table = new Table(Table.start());\n\
            public TableTest() { if (table.size() != 3) throw new IllegalStateException(); }\n\
            public void testMade() { assertNotNull(table); } }");
    project.changed(&[&main_file("Table")]);
    let report = project.run();
    assert_eq!(
        scores(&report),
        ["com.acme.Table 100% (2/2)"],
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
}

fn a_class_that_was_made_from_another_source_than_its_own_fails() {
    let project = maven_project(
        "",
        &[
            (
                "Price",
                PRICE,
                "@Test void of() { assertEquals(7, new Price().of(2, 3)); }",
            ),
            (
                "Sum",
                "class Sums { static int of(int q, int c) { return 0; } }",
                "@Test void is() { assertTrue(new Sum().is()); }",
            ),
        ],
    );
    // The build does not compile one of the sources, and compiles the other from a file of another name.
    let real = |name: &str| format!("src/real/java/com/acme/{name}.java");
    project
        .class(
            &real("Price"),
            "public class Price { int of(int q, int c) { return 7; } }",
        )
        .class(
            &real("Bar"),
            "public class Bar { }\nclass Sum { boolean is() { return true; } }",
        );
    let pom = Pom::new("hidden", JUnit::Five).text();
    let elsewhere = pom.replace(
        "<build>",
        "<build><sourceDirectory>src/real/java</sourceDirectory>",
    );
    project.write("pom.xml", &elsewhere);
    let report = project.run();
    // The first one that was found is named.
    let told = format!(
        "The class file of com.acme.Price was made from {}, not from p/{}.",
        real("Price"),
        main_file("Price")
    );
    assert_eq!(reasons(&report), told, "{}", project.logs());
    assert_eq!(report.failing, names(&project, &["Price", "Sum"]));
}

fn a_test_that_asks_pit_which_mutant_runs_fails() {
    let asking = "@Test void runs() throws Exception { new Price().of(1, 2); new Price().off(3);\n\
        var field = Class.forName(\"org.pitest.mutationtest.execute.CatchNewClassLoadersTransformer\").getDeclaredField(\"currentMutant\");\n\
        field.setAccessible(true); var now = (byte[]) field.get(null);\n\
        try (var file = Price.class.getResourceAsStream(\"Price.class\")) { assertTrue(now == null || java.util.Arrays.equals(now, file.readAllBytes())); } }";
    let project = project(&[("Price", PRICE, asking)]);
    let report = project.run();
    let why =
        "com.acme.PriceTest names PIT (org.pitest): it could ask whether it is being mutated.";
    assert_eq!(reasons(&report), why, "{}", project.logs());
    assert_eq!(report.failing, names(&project, &["Price"]));

    // In a class that is not a test of the task, the task is not responsible.
    project.class(&test_file("PriceTest"), "class PriceTest { }");
    project.class(
        &test_file("Spy"),
        "class Spy { Object pit = \"org.pitest.testapi.TestUnit\"; }",
    );
    let why = why.replace("PriceTest", "Spy");
    assert_eq!(error(&project.run()), (why, false));
}

/// Returns dependencies on annotation processors, and on a PIT that must not be the judging one.
fn processors() -> String {
    let artifact = |group: &str, name: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version><scope>provided</scope></dependency>"
        )
    };
    [
        artifact("org.projectlombok", "lombok", "1.18.42"),
        artifact("org.immutables", "value", "2.10.1"),
        artifact("com.google.auto.value", "auto-value-annotations", "1.11.0"),
        artifact("com.google.auto.value", "auto-value", "1.11.0"),
        artifact("org.mapstruct", "mapstruct", "1.6.3"),
        artifact("org.mapstruct", "mapstruct-processor", "1.6.3"),
        artifact("org.pitest", "pitest", "1.6.9"),
    ]
    .concat()
}

fn what_processors_make_counts_nowhere_and_another_pit_is_not_asked() {
    let mut project = maven_project(
        processors().leak(),
        &[
            (
                "Bean",
                "@lombok.Data @lombok.Builder public class Bean {\n private int weight;\n\
            @lombok.Generated int twice() { return weight * 2; } }",
                "@Test void twice() { assertEquals(6, Bean.builder().weight(3).build().twice()); }",
            ),
            (
                "Data",
                "@lombok.Data public class Data { private int weight; }",
                "@Test void is() { new Data(); }",
            ),
            (
                "Item",
                "@org.immutables.value.Value.Immutable public interface Item { int a(); String b(); }",
                "@Test void a() { assertEquals(3, ImmutableItem.builder().a(3).b(\"\").build().a()); }",
            ),
            (
                "Point",
                "public record Point(int a, int b) { }",
                "@Test void a() { assertEquals(1, new Point(1, 2).a()); }",
            ),
            (
                "Mapper",
                "@org.mapstruct.Mapper public interface Mapper { Text text(Point point); class Text { public String a; } }",
                "@Test void text() { assertEquals(\"1\", new MapperImpl().text(new Point(1, 2)).a); }",
            ),
            (
                "Order",
                "@org.immutables.value.Value.Immutable public abstract class Order { public abstract int a();\n\
             public int twice() { return a() * 2; } }",
                "@Test void twice() { assertEquals(6, ImmutableOrder.builder().a(3).build().twice()); }",
            ),
            (
                "Money",
                "@com.google.auto.value.AutoValue public abstract class Money { public abstract int cents();\n\
             public static Money of(int cents) { return new AutoValue_Money(cents); } }",
                "@Test void of() { assertEquals(3, Money.of(3).cents()); }",
            ),
            (
                "Span",
                "public record Span(int from, int to) {\n int length() { return to - from; } }",
                "@Test void length() { assertEquals(3, new Span(2, 5).length()); }",
            ),
            (
                "Scale",
                "@org.mapstruct.Mapper public interface Scale { Mapper.Text text(Point point);\n\
             default String text(int n) { return String.valueOf(n * 2); } }",
                "@Test void text() { assertEquals(\"2\", new ScaleImpl().text(new Point(1, 2)).a); }",
            ),
        ],
    );
    project.write(
        "lombok.config",
        "lombok.addLombokGeneratedAnnotation = true\n",
    );
    let report = project.run();
    assert_eq!(
        report.verdict,
        Verdict::Pass,
        "{:?}\n{}",
        report.survivors,
        project.logs()
    );
    let written = [
        "com.acme.Bean 100% (2/2)",
        "com.acme.Money 100% (1/1)",
        "com.acme.Order 100% (2/2)",
        "com.acme.Scale 100% (2/2)",
        "com.acme.Span 100% (2/2)",
    ];
    assert_eq!(scores(&report), written);
    project.changed(
        &["Data", "Item", "Mapper", "Point"]
            .map(main_file)
            .each_ref()
            .map(String::as_str),
    );
    let why = "There is nothing to mutate in com.acme.Data, \
        com.acme.Item, com.acme.Mapper, com.acme.Point."
        .to_owned();
    assert_eq!(project.run().verdict, Verdict::Skip { why });
}

fn changed_tests_that_are_all_skipped_have_not_passed() {
    let project = maven_project(
        "",
        &[(
            "Shape",
            "public interface Shape { int area(); }",
            "@Test void away() { assumeTrue(false); }\n @Disabled @Test void off() { }",
        )],
    );
    let text = reasons(&project.run());
    assert_eq!(
        text,
        "The changed tests of p prove nothing: all 2 were skipped, disabled or assumed away.",
        "{}",
        project.logs()
    );
}

tests! {
    maven deep: [
        written_code_is_judged_whatever_filter_of_pit_would_hide_it,
        honest_code_of_the_same_kinds_and_honest_tests_with_state_pass,
        time_outs_alone_are_no_kills_and_errors_of_the_jvm_leave_no_pass,
        a_test_that_fails_because_it_is_mutated_or_runs_again_kills_nothing,
        a_port_or_a_file_that_one_jvm_can_have_kills_nothing_and_blames_nobody,
        a_test_of_others_that_fails_in_a_control_is_left_out_and_the_others_decide,
        a_test_that_writes_or_prints_results_of_its_own_kills_nothing,
        a_class_of_the_tests_in_the_place_of_a_production_class_fails,
        a_class_that_was_made_from_another_source_than_its_own_fails,
        tests_of_junit_3_whose_class_cannot_be_made_have_killed,
        changed_tests_that_are_all_skipped_have_not_passed,
        a_test_that_asks_pit_which_mutant_runs_fails,
        what_processors_make_counts_nowhere_and_another_pit_is_not_asked,
    ]
}
