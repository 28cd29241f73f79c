//! Packages that `classpath_command` builds: by a script around javac, and by a real Gradle.

use super::project::{JUnit, Project, error, reasons};
use super::scripted::{jars, script};
use super::workspace::{TESTS, Workspace, phases, strong, verdict};
use super::{main_file, scores, test_file};
use crate::support::needs::tests;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use ralph::mutation::Verdict;
use serde_json::{Value, json};
use std::time::Duration;

fn command(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|argument| (*argument).to_owned()).collect()
}

/// Returns `Calc` with a weak test, an interface with a test, and `build.sh`.
fn scripted() -> Project {
    let mut project = Project::new();
    // Its own cache, so that no other test has downloaded the jars already.
    project.request.cache = project.workspace().join("cache");
    project.settings.classpath_command = Some(command(&["sh", "build.sh"]));
    project
        .write("build.gradle", "")
        .write("build.sh", &script(JUnit::Four));
    project
        .class(&main_file("Calc"), "public class Calc { public int add(int a, int b) { return a + b; }\npublic int sub(int a, int b) { return a - b; } }")
        .class(&test_file("CalcTest"), &strong().replace("assertEquals(1, new Calc().sub(3, 2));", ""))
        .class(&main_file("Shape"), "public interface Shape { int area(); }")
        .class(&test_file("ShapeTest"), &format!("{TESTS} public class ShapeTest {{ @Test public void one() {{ Shape s = () -> 1; assertEquals(1, s.area()); }} }}"));
    project.changed(&[&main_file("Calc")]);
    project
}

fn a_package_that_a_command_builds_gets_every_verdict_without_maven() {
    let mut project = scripted();
    let failed = project.run();
    assert_eq!(
        scores(&failed),
        ["com.acme.Calc 50% (2/4)"],
        "{:?}\n{}",
        failed.verdict,
        project.logs()
    );
    assert!(reasons(&failed).contains("below the threshold"));
    assert_eq!(
        failed.trace.phases[0].note,
        "classpath_command compiled it and named its class path"
    );
    let logs = project.logs();
    assert!(
        logs.contains("-command-artifacts.log") && !logs.contains("maven"),
        "{logs}"
    );

    // Nothing to mutate: the command runs the changed tests.
    project.changed(&[&main_file("Shape"), &test_file("ShapeTest")]);
    assert!(
        matches!(project.run().verdict, Verdict::Skip { .. }),
        "{}",
        project.logs()
    );
    project.changed(&[&test_file("ShapeTest")]);
    let shape = fs_err::read_to_string(project.root().join(test_file("ShapeTest"))).unwrap();
    project.write(
        &test_file("ShapeTest"),
        &shape.replace("assertEquals(1", "assertEquals(2"),
    );
    let red = reasons(&project.run());
    assert_eq!(
        red,
        "Changed tests of p fail.\none(com.acme.ShapeTest)",
        "{}",
        project.logs()
    );
    project.write(
        "build.sh",
        &script(JUnit::Four)
            .replace("JUnitCore $RALPH_TESTS", "JUnitCore")
            .replace("Tests run", "Ran"),
    );
    let (why, _) = error(&project.run());
    assert!(
        why.contains("The build ran none of the changed test classes of p: com.acme.ShapeTest"),
        "{why}"
    );

    project.write("build.sh", &script(JUnit::Four));
    project.changed(&[&main_file("Calc")]);
    project.class(&main_file("Calc"), "public class Calc {\nint x(\n}");
    let broken = reasons(&project.run());
    assert!(
        broken.starts_with(
            "Package p does not compile.\nsrc/main/java/com/acme/Calc.java:4: error: "
        ),
        "{broken}"
    );
    project.write("build.sh", "echo oh; exit 3");
    let (why, transient) = error(&project.run());
    assert!(why.ends_with("does not build: oh.") && !transient, "{why}");
    project.changed(&[&main_file("Calc"), "build.gradle"]);
    assert!(reasons(&project.run()).contains("does not build after a build file was changed: oh."));
    project.settings.classpath_command = None;
    let (why, _) = error(&project.run());
    assert_eq!(
        why,
        "Package p is built by Gradle, and gates.PITEST.classpath_command does not say how."
    );
}

fn a_class_beside_the_tests_and_a_class_of_another_source_fail_as_with_maven() {
    let project = scripted();
    project.class(&test_file("Calc"), "public class Calc { public int add(int a, int b) { return 5; } public int sub(int a, int b) { return 1; } }");
    let double = reasons(&project.run());
    assert!(
        double
            .contains("names of production classes, so that nothing can be judged: com.acme.Calc."),
        "{double}\n{}",
        project.logs()
    );
    fs_err::remove_file(project.root().join(test_file("Calc"))).unwrap();
    project.write(
        "build.sh",
        &script(JUnit::Four).replace("find src/main -name '*.java'", "find lib -name '*.java'"),
    );
    project.write("lib/Other.java", "package com.acme; class Calc { public int add(int a, int b) { return 5; } public int sub(int a, int b) { return 1; } } interface Shape { int area(); }");
    let foreign = reasons(&project.run());
    assert!(
        foreign.contains(
            "The class file of com.acme.Calc was made from the class com.acme.Calc in Other.java"
        ),
        "{foreign}\n{}",
        project.logs()
    );
}

/// Changes of a credible answer, each with the text of the error.
fn lies(outside: &str) -> Vec<(&'static str, Value, &'static str)> {
    let (folder, jar) = (
        "which is no folder of the package.",
        "which is no jar or folder of the package.",
    );
    vec![
        ("classes", json!(outside), folder),
        ("classes", json!("/usr/lib"), folder),
        ("classes", json!("link"), folder),
        ("classes", json!("../../usr/lib"), folder),
        (
            "classes",
            json!("out/none"),
            "names `out/none`, which is no folder of the package.",
        ),
        (
            "classes",
            json!("a.jar"),
            "names `a.jar`, which is no folder of the package.",
        ),
        ("classes", json!(""), folder),
        ("classes", json!("out/main\u{0}"), folder),
        (
            "classes",
            json!("out/test"),
            "names one folder of classes in the other",
        ),
        (
            "classes",
            json!("out"),
            "names one folder of classes in the other",
        ),
        (
            "classes",
            json!("."),
            "names one folder of classes in the other",
        ),
        (
            "test_classes",
            json!("out/main/x"),
            "names one folder of classes in the other",
        ),
        ("test_classes", json!(null), "invalid type: null"),
        ("sources", json!("/usr/lib"), folder),
        ("classpath", json!(["/usr/lib"]), jar),
        (
            "classpath",
            json!(["/no/x.jar"]),
            "names `/no/x.jar`, which is no jar or folder of the package.",
        ),
        ("classpath", json!(["a.jar:b.jar"]), jar),
        ("classpath", json!(["out\nx"]), jar),
        ("classpath", json!([format!("{outside}/x.jar")]), jar),
        ("classpath", json!(["../../home/out/main/x.jar"]), jar),
        (
            "path",
            json!("core"),
            "names 1 modules, and not once this one",
        ),
        ("tests", json!({"more": 1}), "unknown field `more`"),
        ("more", json!(1), "unknown field `more`"),
    ]
}

fn an_answer_that_cannot_be_believed_is_an_error_that_says_why() {
    let mut project = Project::new();
    // The package's own directory, next to the judged checkout.
    let home = project.workspace().join("home");
    for folder in ["out/main/x", "out/test"] {
        fs_err::create_dir_all(project.root().join(folder)).unwrap();
        fs_err::create_dir_all(home.join(folder)).unwrap();
    }
    fs_err::write(home.join("out/main/x.jar"), "").unwrap();
    std::os::unix::fs::symlink("/usr/lib", project.root().join("link")).unwrap();
    project.request.packages[0].home.clone_from(&home);
    project.settings.classpath_command = Some(command(&["cat", "answer"]));
    project
        .write("a.jar", "")
        .class(&main_file("Foo"), "class Foo { int a() { return 1; } }");
    project.class(&test_file("FooTest"), "class FooTest { }");
    project.changed(&[&main_file("Foo")]);
    let told = |answer: &str| {
        project.write("answer", answer);
        error(&project.run())
    };
    let good = json!({"path": "", "classes": "out/main", "test_classes": "out/test", "classpath": ["a.jar", "out"]});
    let answer = |module: &Value| format!("ralph-classpath: {}\n", json!({ "modules": [module] }));
    // The answer is accepted, and then the class is missing.
    let (why, _) = told(&answer(&good));
    assert_eq!(
        why,
        "The build of p makes no class file for com.acme.Foo that names its source file.",
        "{}",
        project.logs()
    );
    for (key, value, expected) in lies(home.join("out/main").to_str().unwrap()) {
        let mut module = good.clone();
        module[key] = value;
        let (why, transient) = told(&answer(&module));
        assert!(
            why.starts_with("gates.PITEST.classpath_command for p ") && why.ends_with('.'),
            "{why}"
        );
        assert!(why.contains(expected) && !transient, "{module}: {why}");
    }
    let twice = format!("ralph-classpath: {}\n", json!({ "modules": [good, good] }));
    assert!(
        told(&twice)
            .0
            .contains("names 2 modules, and not once this one")
    );
    assert!(
        told("{}")
            .0
            .contains("did not print one line that begins with `ralph-classpath:`")
    );

    // PIT itself comes from outside the package, as requested. Nothing else compiles again.
    let project = scripted();
    let pit = format!(
        "[{}]",
        serde_json::to_string(&jars(JUnit::Four).pit)
            .unwrap()
            .trim_matches(['[', ']'])
    );
    for (named, expected) in [
        (
            "[]",
            "names no jar of org.pitest:pitest-command-line:1.25.9.",
        ),
        (
            r#"["build.sh"]"#,
            "names `build.sh`, which is no jar outside of the package.",
        ),
        (
            r#"["/usr/lib"]"#,
            "names `/usr/lib`, which is no jar outside of the package.",
        ),
    ] {
        project.write("build.sh", &script(JUnit::Four).replace(&pit, named));
        let (why, _) = error(&project.run());
        assert!(why.contains(expected), "{why}");
    }
}

fn a_command_that_hangs_or_cannot_be_started_is_an_error() {
    let mut project = scripted();
    project.settings.limit = Duration::from_secs(2);
    project.settings.classpath_command = Some(command(&["sleep", "600"]));
    let (why, transient) = error(&project.run());
    assert!(
        why.contains("The gate ran over its limit of 2 s.") && transient,
        "{why}"
    );
    project.settings.classpath_command = Some(command(&["./gradlew", "x"]));
    let (why, transient) = error(&project.run());
    assert!(
        why.starts_with("The build could not be started:") && !transient,
        "{why}"
    );
}

/// Returns a workspace whose package a command builds.
fn workspace(settings: &str, files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new();
    workspace.set_gate(settings);
    workspace.git(&["rm", "--quiet", "pom.xml"]);
    workspace.write("ws/src/p/build.gradle", "");
    for (file, text) in files {
        workspace.write(&format!("ws/src/p/{file}"), text);
    }
    workspace.commit();
    workspace
}

/// The command leaves a program running, prints a lot, and answers meanwhile.
fn in_a_checkout_noise_is_passed_over_what_is_left_behind_ends_and_files_that_tests_write_are_put_right()
 {
    let spoken = "i=0; while [ $i -lt 30000 ]; do echo \"$i ....................................\"; i=$((i+1)); done\n";
    let left = "setsid sleep 3600 >/dev/null 2>&1 & echo $! >\"$HOME/left\"\n";
    let script = script(JUnit::Four)
        .replace("rm -rf out\n", &format!("{spoken}{left}rm -rf out\n"))
        + spoken;
    let writes = strong().replace("assertEquals(1, new", "try { java.nio.file.Files.writeString(java.nio.file.Path.of(\"golden.txt\"), \"y\"); } catch (Exception e) { throw new Error(e); } assertEquals(1, new");
    let workspace = workspace(
        "classpath_command: [sh, build.sh], threshold: 60, scope: auto",
        &[("build.sh", &script), ("golden.txt", "x")],
    );
    let home = workspace.path("home");
    fs_err::create_dir_all(&home).unwrap();
    let judge =
        |since: &str| workspace.judge_with("--since", since, &[("HOME", home.to_str().unwrap())]);
    workspace.class(&test_file("CalcTest"), &writes);
    workspace.commit();
    let passed = judge("HEAD~3");
    assert_eq!(
        verdict(&passed),
        "pass 4/4",
        "{passed}\n{:?}",
        workspace.logs()
    );
    assert!(
        passed["remarks"]
            .to_string()
            .contains("they were restored: src/p/golden.txt"),
        "{passed}"
    );
    assert!(
        phases(&passed)
            .iter()
            .any(|(_, note)| note.starts_with("classpath_command compiled it"))
    );
    let left = fs_err::read_to_string(home.join("left"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(
        kill(Pid::from_raw(left), None).is_err(),
        "what the command left behind has ended"
    );

    // A change of an old class must not lower its earlier score, which a second checkout gives.
    workspace.class(&main_file("Calc"), "public class Calc { public int add(int a, int b) { return a + b; }\npublic int sub(int a, int b) { return a - b - 0; } }");
    workspace.class(
        &test_file("CalcTest"),
        &strong().replace("assertEquals(5, new Calc().add(2, 3));", ""),
    );
    workspace.commit();
    let lower = judge("HEAD~1");
    assert_eq!(lower["verdict"], "fail", "{lower}");
    assert!(lower["reasons"].to_string().contains("100%"), "{lower}");
}

/// Two projects with JUnit 5 and JUnit 4, a resource, a system property, and a request for a daemon.
const SETTINGS: &str = "include 'core', 'app'\n";
const GRADLE: &str = "subprojects {\n    apply plugin: 'java'\n    repositories { mavenCentral() }\n    test { systemProperty 'greeting', 'good day' }\n}\n\
    project(':core') { dependencies { testCompile 'org.junit.jupiter:junit-jupiter:5.10.2' } }\n\
    project(':app') {\n    dependencies { compile project(':core'); testCompile 'junit:junit:4.13.2' }\n}\n";
const CORE: &str = "public class Core { public int size() { return getClass().getResource(\"/core.txt\") == null ? 0 : 3; } }";
const CORE_TEST: &str = "import org.junit.jupiter.api.*; class CoreTest { @Test void size() { Assertions.assertEquals(3, new Core().size()); } }";
const APP: &str = "public class App { public int two() { return new Core().size() - 1; } }";

fn a_real_gradle_builds_two_projects_and_leaves_no_daemon() {
    let gradle =
        r#"classpath_command: [gradle, --init-script, "{init_script}", --quiet, ralphClasspath]"#;
    let app_test = |asserts: &str| {
        format!(
            "package com.acme; {TESTS} public class AppTest {{ @Test public void two() {{ new App().two(); \
            assertEquals(\"good day\", System.getProperty(\"greeting\")); {asserts} }} }}\n"
        )
    };
    let class = |text: &str| format!("package com.acme;\n{text}\n");
    let [core, core_test, app] = [CORE, CORE_TEST, APP].map(class);
    let place = format!("app/{}", test_file("AppTest"));
    let broken = format!("core/{}", main_file("Core"));
    let files = [
        ("settings.gradle", SETTINGS),
        ("build.gradle", GRADLE),
        ("gradle.properties", "org.gradle.daemon=true\n"),
        ("core/src/main/resources/core.txt", "3"),
        (&broken, &core),
        (&format!("core/{}", test_file("CoreTest")), &core_test),
        (&format!("app/{}", main_file("App")), &app),
        (&place, &app_test("assertEquals(2, new App().two());")),
    ];
    let workspace = workspace(gradle, &files);
    workspace.git(&["rm", "-r", "--quiet", "src"]);
    workspace.commit();
    let passed = workspace.gate("HEAD~2");
    assert_eq!(
        verdict(&passed),
        "pass 4/4",
        "{passed}\n{:?}",
        workspace.logs()
    );
    assert!(
        workspace.logs().keys().all(|name| !name.contains("maven")),
        "{:?}",
        workspace.logs().keys()
    );
    // No process of the workspace keeps running.
    let place_told = format!("XDG_CACHE_HOME={}", workspace.path("cache").display());
    let processes = fs_err::read_dir("/proc").unwrap().flatten();
    let told = processes.filter_map(|process| fs_err::read(process.path().join("environ")).ok());
    let mut daemons = told.filter(|env| {
        env.windows(place_told.len())
            .any(|part| part == place_told.as_bytes())
    });
    assert!(daemons.next().is_none(), "a process of the build runs on");

    workspace.write(
        &format!("ws/src/p/{place}"),
        &app_test("assertEquals(2, new App().two()); assertTrue(new App().two() > 1);"),
    );
    workspace.commit();
    let tests = workspace.gate("HEAD~1");
    assert_eq!(
        tests["verdict"],
        "skip",
        "Gradle ran the changed test: {tests}\n{:?}",
        workspace.logs()
    );

    workspace.write(
        &format!("ws/src/p/{broken}"),
        "package com.acme;\npublic class Core {\nint x(\n}\n",
    );
    workspace.commit();
    let broken = workspace.gate("HEAD~1")["reasons"].to_string();
    assert!(
        broken.contains("core/src/main/java/com/acme/Core.java:4: error: "),
        "{broken}"
    );
}

tests! {
    maven deep: [
        a_package_that_a_command_builds_gets_every_verdict_without_maven,
        a_class_beside_the_tests_and_a_class_of_another_source_fail_as_with_maven,
        an_answer_that_cannot_be_believed_is_an_error_that_says_why,
        a_command_that_hangs_or_cannot_be_started_is_an_error,
        in_a_checkout_noise_is_passed_over_what_is_left_behind_ends_and_files_that_tests_write_are_put_right,
    ]
    gradle deep: [
        a_real_gradle_builds_two_projects_and_leaves_no_daemon,
    ]
}
