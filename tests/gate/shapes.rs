//! Shapes of Maven projects that companies have, each judged as a plain one would be.

use super::project::{JUnit, Pom, Project, reasons};
use super::{main_file, scores, test_file};
use crate::support::needs::tests;

const IMPORTS: &str = "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.Test;";
const JACOCO: &str = "<plugin><groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId><version>0.8.12</version>\
    <executions><execution><goals><goal>prepare-agent</goal></goals></execution></executions></plugin>";
const MOCKITO: &str = "<plugin><artifactId>maven-dependency-plugin</artifactId><version>3.7.0</version>\
    <executions><execution><goals><goal>properties</goal></goals></execution></executions></plugin>";

/// A project with one class that its test kills all mutants of.
fn one_class(pom: &Pom) -> Project {
    let mut project = Project::new();
    project.changed(&[&main_file("Sum")]);
    let sum = "public class Sum { public int of(java.util.List<Integer> all) { return all.size() + 2; } }";
    project.write("pom.xml", &pom.text()).class(&main_file("Sum"), sum);
    project
}

pub(crate) fn the_agent_of_jacoco_stays_out_and_other_agents_stay_in() {
    let mut pom = Pom::new("agents", JUnit::Five);
    pom.dependencies = "<dependency><groupId>org.mockito</groupId><artifactId>mockito-core</artifactId><version>5.14.2</version><scope>test</scope></dependency>";
    pom.surefire = "<argLine>@{argLine} -javaagent:${org.mockito:mockito-core:jar}</argLine>";
    let plugins = [JACOCO, MOCKITO].concat();
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
    let report = project.run();
    assert_eq!(scores(&report), ["com.acme.Sum 100% (2/2)"], "{}\n{}", reasons(&report), project.logs());
}

tests! {
    maven: [
        the_agent_of_jacoco_stays_out_and_other_agents_stay_in,
    ]
}
