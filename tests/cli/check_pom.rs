//! `ralph check`: which settings of pitest-maven in POMs the gate does not use.

use super::project::Project;

const ENTRY: &str = "  <build><plugins>
    <plugin>
      <groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.9.0</version>
      <configuration>
        <targetClasses><param>com.acme.*</param></targetClasses>
        <excludedClasses>com.acme.gen.*</excludedClasses>
        <mutationThreshold>85</mutationThreshold>
        <skip>true</skip><threads>4</threads>
      </configuration>
    </plugin>
  </plugins></build>
";

fn project(config: &str, poms: &[(&str, &str)]) -> Project {
    let project = Project::new("- [ ] 1. Mend OrderService\n- [ ] 1.PITEST\n");
    project.config(config);
    for (folder, inside) in poms {
        let pom = format!("<project>\n  <artifactId>a</artifactId>\n{inside}</project>\n");
        project.write(&format!("src/app/{folder}pom.xml"), pom);
    }
    project.git("src/app", &["add", "--all"]);
    project.git("src/app", &["commit", "--quiet", "--message", "poms"]);
    project
}

/// Findings about POMs and about the engine `maven`.
fn told(project: &Project) -> String {
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let all = project.ralph(&["check", "--json"]).json();
    let about = all
        .iter()
        .filter(|finding| finding["rule"] == "pit-in-pom" || finding["key"] == "gates.PITEST.engine");
    let lines = about
        .map(|f| format!("{} {}:{} {}", word(&f["rule"]), word(&f["file"]), f["line"], word(&f["what"])));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn settings_of_a_poms_entry_that_the_gate_does_not_use_are_named_with_its_line() {
    let direct = project("", &[("", ENTRY), ("module/", "")]);
    insta::assert_snapshot!(told(&direct), @"pit-in-pom app/pom.xml:4 Gate PITEST runs PIT itself and does not use these settings of the entry: `version`, `targetClasses`, `excludedClasses`, `mutationThreshold`, `skip`.");
    direct.write("tasks.md", "- [ ] 1. Mend OrderService\n- [x] 1.PITEST\n");
    assert_eq!(told(&direct), "", "no gate is open");
    let start = ENTRY.find("<version>").unwrap();
    let end = ENTRY.find("    </plugin>").unwrap();
    assert_eq!(
        told(&project("", &[("", &[&ENTRY[..start], &ENTRY[end..]].concat())])),
        "",
        "it sets nothing"
    );
    // Beside a name of another plugin, and where the text is no XML, nothing is said.
    let poms = [("", ENTRY.replace("pitest-maven", "other")), ("b/", format!("{ENTRY}<"))];
    assert_eq!(told(&project("", &[("", &poms[0].1), ("b/", &poms[1].1)])), "");
}

#[test]
fn the_engine_maven_ignores_only_what_an_argument_overrides() {
    let maven = project("gates: {PITEST: {engine: maven}}\n", &[("module/", ENTRY)]);
    insta::assert_snapshot!(told(&maven), @"pit-in-pom app/module/pom.xml:4 Gate PITEST runs this plugin with arguments of its own (`engine: maven`) and does not use these settings of the entry: `targetClasses`, `mutationThreshold`.");
}

#[test]
fn the_engine_maven_needs_the_plugin() {
    let engine = "gates:\n  PITEST:\n    engine: maven\n";
    insta::assert_snapshot!(told(&project(engine, &[("", "")])), @"missing-engine .ralph/config.yaml:5 Gate PITEST runs the POM's own pitest-maven (`engine: maven`), and no POM of package app declares it: the gate would end with ERROR.");
    // A parent from elsewhere may declare it; one that stands here does not.
    let parent = |name: &str| format!("<parent><artifactId>{name}</artifactId></parent>");
    assert_eq!(told(&project(engine, &[("", &parent("corporate"))])), "");
    assert_ne!(told(&project(engine, &[("", ""), ("m/", &parent("a"))])), "");
    assert_eq!(told(&project("", &[("", "")])), "", "the direct engine needs no entry");
}
