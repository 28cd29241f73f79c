//! The gate in a clean checkout, through the program: real git and PIT, with Maven where it is the subject.

use super::project::{JUnit, Pom};
use super::workspace::{Workspace, phases, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;
use assert_cmd::Command;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

fn what_is_not_committed_cannot_count_and_nothing_shows_in_the_repository() {
    let workspace = Workspace::new();
    // A stronger test, compiled to the directory that Maven reads, with its source changed and untracked.
    let other = tempfile::tempdir().unwrap();
    workspace.class(&test_file("CalcTest"), &strong()).class(
        &test_file("MoreCalcTest"),
        &strong().replace("CalcTest", "MoreCalcTest"),
    );
    let mut javac = Command::new("javac");
    let junit = format!(
        "{}/.m2/repository/junit/junit/4.13.2/junit-4.13.2.jar",
        std::env::vars().find(|(name, _)| name == "HOME").unwrap().1
    );
    javac.args(["-d", other.path().to_str().unwrap(), "-cp", &junit]);
    let sources = [
        main_file("Calc"),
        test_file("CalcTest"),
        test_file("MoreCalcTest"),
    ]
    .map(|file| workspace.path("ws/src/p").join(file));
    javac.args(sources).assert().success();
    for class in ["CalcTest", "MoreCalcTest"] {
        let to = workspace.path(&format!(
            "ws/src/p/target/test-classes/com/acme/{class}.class"
        ));
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        fs_err::copy(other.path().join(format!("com/acme/{class}.class")), to).unwrap();
    }
    workspace.write(
        "ws/src/p/.git/hooks/post-checkout",
        "#!/bin/sh\ntouch hooked\n",
    );
    let git = |workspace: &Workspace| {
        let listed = [
            "status --porcelain=v2 --branch --ignored",
            "for-each-ref",
            "worktree list",
            "count-objects -v",
            "config --list --local",
            "stash list",
        ];
        listed.map(|args| workspace.git(&args.split(' ').collect::<Vec<_>>()))
    };
    let before = git(&workspace);
    let report = workspace.gate("HEAD~1");
    assert_eq!(
        verdict(&report),
        "fail 2/4",
        "{report}\n{:?}",
        workspace.logs()
    );
    assert!(
        report["remarks"].to_string().contains(
            "What is not committed does not count: p/src/test/java/com/acme/CalcTest.java"
        ),
        "{report}"
    );
    assert_eq!(git(&workspace), before);
    let site = workspace.site();
    assert_eq!(
        fs_err::metadata(&site).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert!(site.file_name().unwrap().len() >= 20, "{site:?}");
    assert!(
        !site
            .join("tree/src/p")
            .join(test_file("MoreCalcTest"))
            .exists()
    );
    assert!(!fs_err::read_dir(&site).unwrap().any(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("run-")
    }));
}

fn a_listed_file_that_is_not_committed_gives_no_verdict() {
    let workspace = Workspace::new();
    workspace.class(&main_file("Fresh"), "public class Fresh { }");
    workspace.write("ws/list", &format!("p/{}\n", main_file("Fresh")));
    let report = workspace.judge("--diff", "list");
    assert_eq!(report["verdict"], "error", "{report}");
    assert!(
        report["why"]
            .to_string()
            .contains("p/src/main/java/com/acme/Fresh.java is to be judged, and is not committed"),
        "{report}"
    );
}

fn no_committed_setting_that_skips_tests_or_mutants_changes_the_verdict() {
    let workspace = Workspace::new();
    let mut pom = Pom::new("clean", JUnit::Four);
    // The parent is one directory up, in no repository.
    pom.head = "<parent><groupId>com.acme</groupId><artifactId>up</artifactId><version>7</version></parent>";
    let up = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>up</artifactId>\
        <version>7</version><packaging>pom</packaging></project>";
    pom.surefire = "<skip>true</skip><skipTests>true</skipTests>";
    pom.plugins = "<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.25.9</version><configuration><skip>true</skip>\
        <excludedMethods><param>sub</param></excludedMethods><skipFailingTests>true</skipFailingTests><targetClasses><param>no.such.*</param></targetClasses></configuration></plugin>";
    workspace
        .write("ws/src/pom.xml", up)
        .write("ws/src/p/pom.xml", &pom.text())
        .write(
            "ws/src/p/.mvn/maven.config",
            "-Dmaven.test.skip=true\n-DskipTests=true\n",
        );
    workspace.commit();
    let report = workspace.gate("HEAD~2");
    assert_eq!(
        verdict(&report),
        "fail 2/4",
        "{report}\n{:?}",
        workspace.logs()
    );
}

fn a_base_that_never_compiled_is_no_fail_and_kept_files_or_in_place_let_it_be_judged() {
    let workspace = Workspace::scripted();
    // A source that git ignores.
    workspace
        .write("ws/src/p/.gitignore", "out/\nGen.java\n")
        .class(
            &main_file("Gen"),
            "public class Gen { public static int one() { return 1; } }",
        );
    workspace.class(
        &main_file("Base"),
        "public class Base { public int a() { return Gen.one(); } }",
    );
    workspace.commit();
    workspace.class(&test_file("CalcTest"), &strong());
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(report["verdict"], "error", "{report}");
    assert!(
        report["why"].to_string().contains("does not build either")
            && report["hint"].to_string().contains("where: in-place"),
        "{report}"
    );
    assert_eq!(report["transient"], false);
    assert!(
        report["why"]
            .to_string()
            .contains(" src/main/java/com/acme/Base.java:2:"),
        "paths are those of the package: {report}"
    );

    workspace.set_scripted("keep: ['**/Gen.java']");
    let kept = workspace.gate("HEAD~3");
    assert_eq!(verdict(&kept), "pass 4/4", "{kept}\n{:?}", workspace.logs());
    workspace.set_scripted("where: in-place");
    let in_place = workspace.gate("HEAD~3");
    assert_eq!(verdict(&in_place), "pass 4/4", "{in_place}");
}

fn a_checkout_that_is_changed_while_the_gate_runs_gives_no_verdict() {
    let file = "src/main/java/com/acme/Calc.java";
    let workspace = Workspace::scripted();
    let writes = format!(
        "@Test public void all() throws Exception {{ \
         java.nio.file.Files.writeString(java.nio.file.Path.of(\"{file}\"), \"class X {{ }}\");"
    );
    workspace.class(
        &test_file("CalcTest"),
        &strong().replace("@Test public void all() {", &writes),
    );
    workspace.commit();
    let report = workspace.gate("HEAD~2");
    assert_eq!(
        (&report["verdict"], &report["transient"]),
        (&Value::from("error"), &Value::from(false)),
        "{report}"
    );
    let word = format!("Files of the gate's checkout were changed while it ran: src/p/{file}");
    assert!(report["why"].to_string().contains(&word), "{report}");

    // This one does not compile, and so ends before PIT.
    workspace.class(&test_file("CalcTest"), "class CalcTest { int }");
    workspace.commit();
    let again = workspace.gate("HEAD~3");
    assert!(
        phases(&again)[0]
            .1
            .contains("no outputs of an earlier gate"),
        "nothing of it is kept: {again}"
    );
}

fn what_tests_write_is_put_right_and_what_then_makes_tests_red_gives_no_verdict() {
    let data = "src/test/resources/sum.txt";
    let test = |more: &str| {
        let all = strong();
        let body = format!(
            "static final java.nio.file.Path DATA = java.nio.file.Path.of(\"{data}\");\n\
             static void put(String file, String text) {{ try {{ java.nio.file.Files.writeString(java.nio.file.Path.of(file), text); }}\n\
             catch (java.io.IOException e) {{ throw new java.io.UncheckedIOException(e); }} }}\n{more} @Test public void all() {{"
        );
        all.replace("@Test public void all() {", &body)
    };
    let workspace = Workspace::new();
    workspace.write(&format!("ws/src/p/{data}"), "5").class(
        &test_file("CalcTest"),
        &test("@Test public void approves() { put(\"pom.xml\", \"x\"); put(\"src/test/resources/got.txt\", \"y\"); }"),
    );
    workspace.commit();
    let told = Value::from(
        "Tests or mutants wrote files of the checkout. The tests passed with them, and they were restored: \
         src/p/pom.xml, src/p/src/test/resources/got.txt.",
    );
    let passes = workspace.gate("HEAD~2");
    assert_eq!(
        verdict(&passes),
        "pass 4/4",
        "{passes}\n{:?}",
        workspace.logs()
    );
    assert!(
        passes["remarks"].as_array().unwrap().contains(&told),
        "{passes}"
    );

    // A mutant of `add` damages the file for all later tests.
    let spoils = "@Test public void spoils() throws Exception { if (new Calc().add(2, 3) != 5) put(DATA.toString(), \"bad\"); \
        new Calc().sub(3, 2); assertEquals(\"5\", java.nio.file.Files.readString(DATA)); }";
    workspace.class(&test_file("CalcTest"), &test(spoils));
    workspace.commit();
    let bad = workspace.gate("HEAD~3");
    assert_eq!(
        (&bad["verdict"], &bad["transient"]),
        (&Value::from("error"), &Value::from(false)),
        "{bad}"
    );
    let why = bad["why"].to_string();
    assert!(
        why.contains("tests then failed without any mutation") && why.contains(data),
        "{why}"
    );
}

fn a_test_that_hangs_fails_after_a_tenth_of_the_limit() {
    let workspace = Workspace::scripted();
    workspace.set_scripted("limit: 150s");
    let hangs = "@Test public void hangs() throws Exception { new java.util.concurrent.CountDownLatch(1).await(); } @Test public void all() {";
    workspace.class(
        &test_file("CalcTest"),
        &strong().replace("@Test public void all() {", hangs),
    );
    workspace.commit();
    let report = workspace.gate("HEAD~2");
    let reasons = report["reasons"].to_string();
    assert!(
        reasons.contains("The test class com.acme.CalcTest does not end without any mutation."),
        "{report}"
    );
    assert!(report["millis"].as_u64().unwrap() < 90_000, "{report}");
}

fn what_others_wrote_into_the_cache_is_made_anew_or_not_believed() {
    let workspace = Workspace::scripted();
    // This one compiles its own plugin, which is changed below.
    fs_err::remove_dir_all(workspace.path("cache/ralph/facts")).unwrap();
    assert_eq!(verdict(&workspace.gate("HEAD~1")), "fail 2/4");
    let below = |folder: &str| -> Vec<PathBuf> {
        let entries = fs_err::read_dir(workspace.path(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let plugin = below("cache/ralph")
        .into_iter()
        .find(|path| path.display().to_string().contains("pit-plugin-"));
    for class in fs_err::read_dir(plugin.unwrap().join("classes/ralph/pit")).unwrap() {
        fs_err::write(class.unwrap().path(), "not what was compiled").unwrap();
    }

    // Another program's PIT jars: a gate alone trusts the record, a run does not.
    for fact in below("cache/ralph/facts/tools") {
        let mut tools: Value =
            serde_json::from_str(&fs_err::read_to_string(&fact).unwrap()).unwrap();
        tools["fact"] = serde_json::json!([tools["fact"][0]]);
        fs_err::write(fact, tools.to_string()).unwrap();
    }
    assert_eq!(workspace.gate("HEAD~1")["verdict"], "error");
    let agent = "cat > /dev/null; cd src/p && echo '// more' >> src/main/java/com/acme/Calc.java && \
        git -c user.name=a -c user.email=a@example.org commit --quiet --all --message more";
    let config = workspace.path("ws/.ralph/config.yaml");
    let gates = fs_err::read_to_string(&config).unwrap();
    fs_err::write(
        config,
        format!("agents: {{default: {{command: [sh, agent.sh]}}}}\n{gates}"),
    )
    .unwrap();
    workspace
        .write("ws/tasks.md", "- [ ] 1. Work\n- [ ] 1.PITEST Judge\n")
        .write("ws/agent.sh", agent);
    let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
    ralph
        .args(["run", "--max-iterations", "2"])
        .current_dir(workspace.path("ws"));
    let output = ralph
        .env("XDG_CACHE_HOME", workspace.path("cache"))
        .write_stdin("")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        out.contains("50% (2/4)"),
        "{out}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

tests! {
    maven deep: [
        what_is_not_committed_cannot_count_and_nothing_shows_in_the_repository,
        what_others_wrote_into_the_cache_is_made_anew_or_not_believed,
        no_committed_setting_that_skips_tests_or_mutants_changes_the_verdict,
        a_base_that_never_compiled_is_no_fail_and_kept_files_or_in_place_let_it_be_judged,
        a_checkout_that_is_changed_while_the_gate_runs_gives_no_verdict,
        what_tests_write_is_put_right_and_what_then_makes_tests_red_gives_no_verdict,
        a_test_that_hangs_fails_after_a_tenth_of_the_limit,
        a_listed_file_that_is_not_committed_gives_no_verdict,
    ]
}
