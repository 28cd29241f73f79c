//! Shapes of Maven projects in companies, each judged like a plain one.

use super::project::{JUnit, Pom, Project, error, reasons};
use super::scripted::{command, script};
use super::workspace::{Workspace, verdict};
use super::{main_file, scores, test_file};
use crate::support::needs::tests;
use std::path::Path;

const IMPORTS: &str =
    "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.Test;";
const TOOLCHAIN: &str = "<plugin><artifactId>maven-toolchains-plugin</artifactId><version>3.1.0</version><executions><execution>\
    <goals><goal>toolchain</goal></goals></execution></executions><configuration><toolchains><jdk><version>99</version></jdk>\
    </toolchains></configuration></plugin>";
const JACOCO: &str = "<plugin><groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId><version>0.8.12</version>\
    <executions><execution><goals><goal>prepare-agent</goal></goals></execution></executions></plugin>";
const MOCKITO: &str = "<plugin><artifactId>maven-dependency-plugin</artifactId><version>3.7.0</version>\
    <executions><execution><goals><goal>properties</goal></goals></execution></executions></plugin>";

/// Returns a project with one class whose mutants its test kills.
fn one_class(pom: &Pom) -> Project {
    let mut project = Project::new();
    project.changed(&[&main_file("Sum")]);
    let sum = "public class Sum { public int of(java.util.List<Integer> all) { return all.size() + 2; } }";
    project
        .write("pom.xml", &pom.text())
        .class(&main_file("Sum"), sum);
    project
}

/// Wraps the `java` and `javac` of the PATH in another directory, each of which records its arguments.
fn recording_jdk(home: &Path) {
    let path = std::env::var_os("PATH").unwrap();
    let javac = std::env::split_paths(&path)
        .map(|folder| folder.join("javac"))
        .find(|javac| javac.is_file());
    let javac = fs_err::canonicalize(javac.unwrap()).unwrap();
    let real = javac.ancestors().nth(2).unwrap();
    fs_err::create_dir_all(home.join("bin")).unwrap();
    fs_err::copy(real.join("release"), home.join("release")).unwrap();
    for program in ["java", "javac"] {
        let to = home.join("bin").join(program);
        let text = format!(
            "#!/bin/sh\necho \"$@\" >>'{0}.ran'\nexec '{1}/bin/{program}' \"$@\"\n",
            to.display(),
            real.display()
        );
        fs_err::write(&to, text).unwrap();
        fs_err::set_permissions(&to, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

pub(crate) fn the_jdk_of_a_toolchain_runs_the_tests_without_the_agent_of_jacoco_and_with_others() {
    let mut pom = Pom::new("agents", JUnit::Five);
    pom.dependencies = "<dependency><groupId>org.mockito</groupId><artifactId>mockito-core</artifactId><version>5.14.2</version><scope>test</scope></dependency>";
    pom.surefire = "<argLine>@{argLine} -javaagent:${org.mockito:mockito-core:jar}</argLine>";
    let plugins = [TOOLCHAIN, JACOCO, MOCKITO].concat();
    pom.plugins = plugins.leak();
    let project = one_class(&pom);
    project.class(
        &test_file("SumTest"),
        &format!(
            "{IMPORTS} class SumTest {{ @SuppressWarnings(\"unchecked\") @Test void sums() {{\n\
             boolean given = java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().stream()\
             .anyMatch(a -> a.startsWith(\"-javaagent:\") && a.contains(\"mockito-core\")); assertTrue(given);\n\
             var all = org.mockito.Mockito.mock(java.util.List.class); org.mockito.Mockito.when(all.size()).thenReturn(3);\n\
             assertEquals(5, new Sum().of(all)); }} }}"
        ),
    );
    let (why, transient) = error(&project.run());
    assert!(
        why.contains("does not build: ") && why.contains("toolchain") && !transient,
        "{why}"
    );

    let home = project.workspace().join("jdk 99");
    recording_jdk(&home);
    let toolchain = format!(
        "<toolchains><toolchain><type>jdk</type><provides><version>99</version></provides><configuration><jdkHome>{}</jdkHome>\
         </configuration></toolchain></toolchains>",
        home.display()
    );
    project
        .write(".mvn/maven.config", "-t .mvn/toolchains.xml")
        .write(".mvn/toolchains.xml", &toolchain);
    let report = project.run();
    assert_eq!(
        scores(&report),
        ["com.acme.Sum 100% (2/2)"],
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    let ran = fs_err::read_to_string(home.join("bin/java.ran")).unwrap();
    assert!(ran.contains("--targetClasses com.acme.Sum"), "{ran}");

    // The same agent under another name. Without coverage there is no verdict, as without a replaced class.
    let home = std::env::vars().find(|(name, _)| name == "HOME").unwrap().1;
    let mut project = Project::scripted(JUnit::Five);
    let agent = project.workspace().join("coverage.jar");
    let jar = "org/jacoco/org.jacoco.agent/0.8.12/org.jacoco.agent-0.8.12-runtime.jar";
    fs_err::copy(format!("{home}/.m2/repository/{jar}"), &agent).unwrap();
    let exec = agent.with_file_name("coverage.exec");
    let argument = format!("-javaagent:{}=destfile={}", agent.display(), exec.display());
    let answer = format!("\"tests\": {{\"jvm_args\": [\"{argument}\"]}}, \"classpath\"");
    let build = project.workspace().join("build.sh");
    fs_err::write(
        &build,
        script(JUnit::Five).replace("\"classpath\"", &answer),
    )
    .unwrap();
    project.settings.classpath_command = Some(command(&build));
    let two = "public class Sum { public int of(java.util.List<Integer> all) { return all.size() + 2; }\n\
        int off(int n) { return n - 1; } }";
    let test = "assertEquals(3, new Sum().of(java.util.List.of(1)));";
    project.changed(&[&main_file("Sum")]);
    project.class(&main_file("Sum"), two).class(
        &test_file("SumTest"),
        &format!("{IMPORTS} class SumTest {{ @Test void sums() {{ {test} }} }}"),
    );
    let why = "No mutant can take its place in p: an agent in the JVM of the tests changes classes as they load (class redefinition failed).";
    assert_eq!(
        error(&project.run()),
        (why.to_owned(), false),
        "{}",
        project.logs()
    );
}

pub(crate) fn builds_that_ask_git_for_a_version_get_that_of_the_judged_commit() {
    let workspace = Workspace::new();
    let mut pom = Pom::new("versioned", JUnit::Four);
    pom.plugins = "<plugin><groupId>io.github.git-commit-id</groupId><artifactId>git-commit-id-maven-plugin</artifactId><version>9.0.1</version>\
        <executions><execution><goals><goal>revision</goal></goals></execution></executions>\
        <configuration><generateGitPropertiesFile>true</generateGitPropertiesFile></configuration></plugin>";
    pom.surefire =
        "<systemPropertyVariables><made>${project.version}</made></systemPropertyVariables>";
    let extension = |group: &str, artifact: &str, version: &str| {
        format!(
            "<extensions><extension><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></extension></extensions>"
        )
    };
    let by_tag = "<configuration xmlns=\"https://github.com/qoomon/maven-git-versioning-extension\"><refs><ref type=\"tag\">\
        <pattern>(?&lt;version&gt;.+)</pattern><version>${ref.version}</version></ref></refs><rev><version>no-tag</version></rev></configuration>";
    workspace
        .write("ws/src/p/pom.xml", &pom.text())
        .write(
            "ws/src/p/.mvn/extensions.xml",
            &extension("fr.brouillard.oss", "jgitver-maven-plugin", "1.9.0"),
        )
        .write("ws/src/p/.mvn/maven-git-versioning-extension.xml", by_tag)
        .git(&["remote", "add", "origin", "https://example.org/x.git"]);
    let commit = |version: &str| {
        let test = format!(
            "import java.util.Properties; import static org.junit.Assert.*; import org.junit.Test;\n\
             public class CalcTest {{ @Test public void all() throws Exception {{ assertEquals(5, new Calc().add(2, 3)); assertEquals(1, new Calc().sub(3, 2));\n\
             Properties git = new Properties(); git.load(CalcTest.class.getResourceAsStream(\"/git.properties\"));\n\
             assertEquals(\"{version}\", git.getProperty(\"git.tags\")); assertEquals(\"https://example.org/x.git\", git.getProperty(\"git.remote.origin.url\"));\n\
             assertEquals(\"false\", git.getProperty(\"git.dirty\")); assertEquals(\"{version}\", System.getProperty(\"made\")); }} }}"
        );
        workspace.class(&test_file("CalcTest"), &test);
        workspace.commit();
        workspace.git(&["tag", "--annotate", "--message", "x", version]);
    };
    // Surefire alone runs a changed test without changed code.
    commit("7.0.0");
    let report = workspace.gate("HEAD~1");
    assert_eq!(
        report["verdict"],
        "skip",
        "{report}\n{:?}",
        workspace.logs()
    );

    let qoomon = extension("me.qoomon", "maven-git-versioning-extension", "9.11.0");
    workspace.write("ws/src/p/.mvn/extensions.xml", &qoomon);
    // The next commit has another one, though no POM differs.
    for (version, since) in [("7.1.0", "HEAD~3"), ("7.2.0", "HEAD~4")] {
        commit(version);
        let report = workspace.gate(since);
        assert_eq!(
            verdict(&report),
            "pass 4/4",
            "{report}\n{:?}",
            workspace.logs()
        );
    }
}

pub(crate) fn tests_of_testng_kill_and_fail() {
    let project = one_class(&Pom::new("testng", JUnit::TestNg));
    let two = "public class Sum { public int of(java.util.List<Integer> all) { return all.size() + 2; }\n\
        int off(int n) { return n - 1; } }";
    let test = |body: &str| {
        format!(
            "import org.testng.annotations.Test; public class SumTest {{ @Test public void sums() {{ {body} }} }}"
        )
    };
    let sums =
        "org.testng.Assert.assertEquals(new Sum().of(java.util.List.of(1)), 3); new Sum().off(1);";
    project
        .class(&main_file("Sum"), two)
        .class(&test_file("SumTest"), &test(sums));
    let report = project.run();
    assert_eq!(
        scores(&report),
        ["com.acme.Sum 50% (2/4)"],
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    assert_eq!(
        report.survivors[0].source,
        "int off(int n) { return n - 1; } }"
    );
    project.class(&test_file("SumTest"), &test("org.testng.Assert.fail();"));
    let report = project.run();
    assert_eq!(
        reasons(&report),
        "The test com.acme.SumTest fails without any mutation.",
        "{}",
        project.logs()
    );
}

/// The shapes of `benches/shapes.sh` that no other test covers. The others run only by hand.
const SHAPES: &str = "jpms-filtered,spring-boot";

pub(crate) fn common_shapes_are_judged_by_what_their_tests_assert() {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/shapes.sh");
    let mut shapes = assert_cmd::Command::new("bash");
    shapes.args([script, "--shape", SHAPES, "--together", "--without-literal"]);
    shapes
        .args(["--ralph", env!("CARGO_BIN_EXE_ralph")])
        .arg("--into")
        .arg(folder.path());
    let output = shapes.output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}");
}

pub(crate) fn a_wrapper_that_cannot_run_is_told_what_to_do() {
    let mut project = one_class(&Pom::new("wrapped", JUnit::Five));
    project.class(
        &test_file("SumTest"),
        &format!("{IMPORTS} class SumTest {{ @Test void none() {{ }} }}"),
    );
    project.write("mvnw", "#!/bin/sh\r\nexec mvn \"$@\"\r\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(project.root().join("mvnw"), executable).unwrap();
    let (why, transient) = error(&project.run());
    assert!(
        why.starts_with("The build could not be started: ") && !transient,
        "{why}"
    );

    let plain = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs_err::set_permissions(project.root().join("mvnw"), plain).unwrap();
    project.write("pom.xml", "<project>");
    let passed_over = project.run();
    assert!(error(&passed_over).0.contains("POM"), "{passed_over:?}");
    let remark = "mvnw of package p is not executable, so `mvn` from PATH was used: commit `git update-index --chmod=+x mvnw`, or delete it.";
    assert_eq!(passed_over.remarks, [remark]);
    project.request.env.retain(|(name, _)| name != "PATH");
    let what =
        "Maven was not found: mvn is not on the PATH, and there is no mvnw of package p that is executable."
            .to_owned();
    assert_eq!(error(&project.run()), (what, false));
}

tests! {
    maven deep: [
        the_jdk_of_a_toolchain_runs_the_tests_without_the_agent_of_jacoco_and_with_others,
        a_wrapper_that_cannot_run_is_told_what_to_do,
        tests_of_testng_kill_and_fail,
        builds_that_ask_git_for_a_version_get_that_of_the_judged_commit,
    ]
    shapes deep: [
        common_shapes_are_judged_by_what_their_tests_assert,
    ]
}
