//! The gate in a clean checkout, through the program: real git, real Maven, real PIT.

use super::project::{JUnit, Pom};
use super::workspace::{TESTS, Workspace, phases, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;
use assert_cmd::Command;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

fn what_is_not_committed_cannot_count_and_nothing_shows_in_the_repository() {
    let workspace = Workspace::new();
    let first = workspace.gate("HEAD~1");
    assert_eq!(verdict(&first), "fail 2/4", "{first}\n{:?}", workspace.logs());

    // A stronger test, compiled where Maven would find it; its source, changed and untracked.
    let other = tempfile::tempdir().unwrap();
    workspace
        .class(&test_file("CalcTest"), &strong())
        .class(&test_file("MoreCalcTest"), &strong().replace("CalcTest", "MoreCalcTest"));
    let mut javac = Command::new("javac");
    let junit = format!(
        "{}/.m2/repository/junit/junit/4.13.2/junit-4.13.2.jar",
        std::env::vars().find(|(name, _)| name == "HOME").unwrap().1
    );
    javac.args(["-d", other.path().to_str().unwrap(), "-cp", &junit]);
    let sources = [main_file("Calc"), test_file("CalcTest"), test_file("MoreCalcTest")]
        .map(|file| workspace.path("ws/src/p").join(file));
    javac.args(sources).assert().success();
    for class in ["CalcTest", "MoreCalcTest"] {
        let to = workspace.path(&format!("ws/src/p/target/test-classes/com/acme/{class}.class"));
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        fs_err::copy(other.path().join(format!("com/acme/{class}.class")), to).unwrap();
    }
    workspace.write("ws/src/p/.git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
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
    let second = workspace.gate("HEAD~1");
    assert_eq!(verdict(&second), "fail 2/4", "{second}");
    assert!(
        second["remarks"]
            .to_string()
            .contains("What is not committed does not count: p/src/test/java/com/acme/CalcTest.java"),
        "{second}"
    );
    assert_eq!(git(&workspace), before);
    let site = workspace.site();
    assert_eq!(fs_err::metadata(&site).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(site.file_name().unwrap().len() >= 20, "{site:?}");
    assert!(!site.join("tree/src/p").join(test_file("MoreCalcTest")).exists());
    assert!(
        !fs_err::read_dir(&site).unwrap().any(|entry| entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("run-"))
    );

    // The same planted in the checkout itself, between two gates.
    fs_err::copy(
        other.path().join("com/acme/CalcTest.class"),
        site.join("tree/src/p/target/test-classes/com/acme/CalcTest.class"),
    )
    .unwrap();
    let third = workspace.gate("HEAD~1");
    assert_eq!(verdict(&third), "fail 2/4", "{third}");
    assert!(phases(&third)[0].1.contains("no outputs of an earlier gate"), "{third}");
    workspace.commit();
    assert_eq!(verdict(&workspace.gate("HEAD~2")), "pass 4/4");
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

fn a_second_gate_on_a_commit_calls_no_maven_and_a_test_that_went_leaves_no_class() {
    let workspace = Workspace::new();
    workspace.class(&test_file("ExtraCalcTest"), &strong().replace("CalcTest", "ExtraCalcTest"));
    workspace.commit();
    let first = workspace.gate("HEAD~2");
    assert_eq!(verdict(&first), "pass 4/4", "{first}\n{:?}", workspace.logs());
    let target = workspace.site().join("tree/src/p/target");
    let class = |name: &str| fs_err::metadata(target.join(name)).and_then(|data| data.modified()).ok();
    let (main, extra) = (class("classes/com/acme/Calc.class"), "test-classes/com/acme/ExtraCalcTest.class");
    assert!(class(extra).is_some());

    let again = workspace.gate("HEAD~2");
    assert_eq!(verdict(&again), "pass 4/4");
    assert!(
        phases(&again)
            .contains(&("compile".to_owned(), "nothing had changed: Maven was not called".to_owned())),
        "{again}"
    );
    assert!(workspace.logs().keys().all(|name| !name.contains("maven")), "{:?}", workspace.logs().keys());

    // A test goes: its class goes too, and with it what it killed; the rest is not compiled again.
    workspace.git(&["rm", "--quiet", &test_file("ExtraCalcTest")]);
    workspace.commit();
    let less = workspace.gate("HEAD~3");
    assert_eq!(verdict(&less), "fail 2/4", "{less}");
    assert_eq!(class(extra), None);
    assert_eq!(class("classes/com/acme/Calc.class"), main, "the main classes were kept");

    // A class goes that no other names.
    workspace.git(&["rm", "--quiet", &main_file("Base")]);
    workspace.commit();
    assert_eq!(verdict(&workspace.gate("HEAD~4")), "fail 2/4");
    assert!(class("classes/com/acme/Base.class").is_none() && class("classes/com/acme/Calc.class") == main);
}

fn no_committed_setting_that_skips_tests_or_mutants_changes_the_verdict() {
    let workspace = Workspace::new();
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.surefire = "<skip>true</skip><skipTests>true</skipTests>";
    pom.plugins = "<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.25.9</version><configuration><skip>true</skip>\
        <excludedMethods><param>sub</param></excludedMethods><skipFailingTests>true</skipFailingTests><targetClasses><param>no.such.*</param></targetClasses></configuration></plugin>";
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .write("ws/src/p/.mvn/maven.config", "-Dmaven.test.skip=true\n-DskipTests=true\n");
    workspace.commit();
    let report = workspace.gate("HEAD~2");
    assert_eq!(verdict(&report), "fail 2/4", "{report}\n{:?}", workspace.logs());
}

fn a_parent_pom_one_folder_up_and_kept_files_are_there() {
    let workspace = Workspace::new();
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.head = "<parent><groupId>com.acme</groupId><artifactId>up</artifactId><version>7</version></parent>";
    let up = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>up</artifactId>\
        <version>7</version><packaging>pom</packaging></project>";
    // Two files that git ignores: a source, and the same in a folder that nobody keeps.
    let ignored = "public class Gen { public static int one() { return 1; } }";
    let test = format!(
        "{TESTS} public class CalcTest {{ @Test public void all() {{ assertEquals(5, new Calc().add(2, 3)); assertEquals(Gen.one(), new Calc().sub(3, 2)); }} }}"
    );
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .write("ws/src/pom.xml", up)
        .class(&test_file("CalcTest"), &test);
    workspace.write("ws/src/p/.gitignore", "target/\nGen.java\n").class(&main_file("Gen"), ignored);
    workspace.commit();
    // The parent that builds above is not seen by the base of the first commit: it compiles all the same.
    let report = workspace.gate("HEAD~2");
    assert_eq!(report["verdict"], "fail", "{report}");
    assert!(
        report["reasons"].to_string().contains("CalcTest.java")
            && report["reasons"].to_string().contains("does not compile"),
        "{report}"
    );

    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {keep: ['**/Gen.java']}\n");
    let report = workspace.gate("HEAD~2");
    assert_eq!(verdict(&report), "pass 4/4", "{report}\n{:?}", workspace.logs());
}

fn a_base_that_never_compiled_is_no_fail_and_in_place_judges_it() {
    let workspace = Workspace::new();
    workspace
        .write("ws/src/p/.gitignore", "target/\nGen.java\n")
        .class(&main_file("Gen"), "public class Gen { public static int one() { return 1; } }");
    workspace.class(&main_file("Base"), "public class Base { public int a() { return Gen.one(); } }");
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
        report["why"].to_string().contains("src/main/java/com/acme/Base.java:[2,"),
        "paths are those of the package: {report}"
    );

    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {where: in-place}\n");
    let report = workspace.gate("HEAD~3");
    assert_eq!(verdict(&report), "pass 4/4", "{report}");
    let compilers = workspace.logs().into_keys().filter(|name| name.contains("recompile"));
    assert_eq!(compilers.count(), 0, "only Maven compiles in people's folders");
}

fn a_checkout_that_is_changed_while_the_gate_runs_gives_no_verdict() {
    for (file, word) in [
        (
            "src/main/java/com/acme/Calc.java",
            "Files of the gate's checkout were changed while it ran: src/p/src/main/java/com/acme/Calc.java",
        ),
        ("target/classes/com/acme/Planted.class", "Class files of p/. were changed while they were judged"),
    ] {
        let workspace = Workspace::new();
        let test = strong().replace("@Test public void all() {", &format!("@Test public void all() throws Exception {{ java.nio.file.Files.writeString(java.nio.file.Path.of(\"{file}\"), \"class X {{ }}\");"));
        workspace.class(&test_file("CalcTest"), &test);
        workspace.commit();
        let report = workspace.gate("HEAD~2");
        assert_eq!(
            (&report["verdict"], &report["transient"]),
            (&Value::from("error"), &Value::from(false)),
            "{report}"
        );
        assert!(report["why"].to_string().contains(word), "{report}");
        let again = workspace.gate("HEAD~2");
        assert!(
            phases(&again)[0].1.contains("no outputs of an earlier gate"),
            "nothing of it is kept: {again}"
        );
    }
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
    let mut pom = Pom::new("clean", JUnit::Four);
    pom.plugins = "<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.25.9</version></plugin>";
    workspace.write("ws/src/p/pom.xml", &pom.text());
    workspace.commit();
    // Beside a second package, which does the same, and by the POM's own plugin.
    let told = |more: &str| {
        Value::from(format!(
            "Tests or mutants wrote files of the checkout; the tests passed beside them, and they were put right: \
            src/p/pom.xml, src/p/src/test/resources/got.txt{more}."
        ))
    };
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {engine: maven}\n");
    let by_goal = workspace.gate("HEAD~2");
    assert_eq!(verdict(&by_goal), "pass 4/4", "{by_goal}\n{:?}", workspace.logs());
    assert!(by_goal["remarks"].as_array().unwrap().contains(&told("")), "{by_goal}");
    workspace.write("ws/.ralph/config.yaml", "");
    Command::new("cp").args(["-r", "p", "q"]).current_dir(workspace.path("ws/src")).assert().success();
    let good = workspace.gate("HEAD~2");
    assert_eq!(verdict(&good), "pass 8/8", "{good}\n{:?}", workspace.logs());
    let both = told(", src/q/pom.xml, src/q/src/test/resources/got.txt");
    assert!(good["remarks"].as_array().unwrap().contains(&both), "{good}");
    fs_err::remove_dir_all(workspace.path("ws/src/q")).unwrap();

    // A mutant of `add` spoils the file for all that run after it.
    let spoils = "@Test public void spoils() throws Exception { if (new Calc().add(2, 3) != 5) put(DATA.toString(), \"bad\"); \
        new Calc().sub(3, 2); assertEquals(\"5\", java.nio.file.Files.readString(DATA)); }";
    workspace.class(&test_file("CalcTest"), &test(spoils));
    workspace.commit();
    let bad = workspace.gate("HEAD~3");
    assert_eq!((&bad["verdict"], &bad["transient"]), (&Value::from("error"), &Value::from(false)), "{bad}");
    let why = bad["why"].to_string();
    assert!(why.contains("tests then failed without any mutation") && why.contains(data), "{why}");
}

fn a_test_that_hangs_fails_after_a_tenth_of_the_limit() {
    let workspace = Workspace::new();
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {limit: 150s}\n");
    let hangs = "@Test public void hangs() throws Exception { new java.util.concurrent.CountDownLatch(1).await(); } @Test public void all() {";
    workspace.class(&test_file("CalcTest"), &strong().replace("@Test public void all() {", hangs));
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
    let workspace = Workspace::new();
    assert_eq!(verdict(&workspace.gate("HEAD~1")), "fail 2/4");
    let below = |folder: &str| -> Vec<PathBuf> {
        let entries = fs_err::read_dir(workspace.path(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let plugin =
        below("cache/ralph").into_iter().find(|path| path.display().to_string().contains("pit-plugin-"));
    for class in fs_err::read_dir(plugin.unwrap().join("ralph/pit")).unwrap() {
        fs_err::write(class.unwrap().path(), "not what was compiled").unwrap();
    }
    assert_eq!(verdict(&workspace.gate("HEAD~1")), "fail 2/4");

    // PIT's jars as somebody else would have them: a gate alone believes it, a run does not.
    for fact in below("cache/ralph/facts/tools") {
        let mut tools: Value = serde_json::from_str(&fs_err::read_to_string(&fact).unwrap()).unwrap();
        tools["fact"] = Value::Array(vec![tools["fact"][0].clone()]);
        fs_err::write(fact, tools.to_string()).unwrap();
    }
    assert_eq!(workspace.gate("HEAD~1")["verdict"], "error");
    let agent = "cat > /dev/null; cd src/p && echo '// more' >> src/main/java/com/acme/Calc.java && \
        git -c user.name=a -c user.email=a@example.org commit --quiet --all --message more";
    workspace
        .write("ws/.ralph/config.yaml", "agents: {default: {command: [sh, agent.sh]}}\n")
        .write("ws/tasks.md", "- [ ] 1. Work\n- [ ] 1.PITEST Judge\n")
        .write("ws/agent.sh", agent);
    let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
    ralph.args(["run", "--max-iterations", "2"]).current_dir(workspace.path("ws"));
    let output = ralph.env("XDG_CACHE_HOME", workspace.path("cache")).write_stdin("").output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("50% (2/4)"), "{out}\n{}", String::from_utf8_lossy(&output.stderr));
}

tests! {
    maven: [
        what_others_wrote_into_the_cache_is_made_anew_or_not_believed,
        what_is_not_committed_cannot_count_and_nothing_shows_in_the_repository,
        a_second_gate_on_a_commit_calls_no_maven_and_a_test_that_went_leaves_no_class,
        no_committed_setting_that_skips_tests_or_mutants_changes_the_verdict,
        a_parent_pom_one_folder_up_and_kept_files_are_there,
        a_base_that_never_compiled_is_no_fail_and_in_place_judges_it,
        a_checkout_that_is_changed_while_the_gate_runs_gives_no_verdict,
        what_tests_write_is_put_right_and_what_then_makes_tests_red_gives_no_verdict,
        a_test_that_hangs_fails_after_a_tenth_of_the_limit,
    ]
    nothing: [
        a_listed_file_that_is_not_committed_gives_no_verdict,
    ]
}
