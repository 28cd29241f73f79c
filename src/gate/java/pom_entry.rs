//! What a POM itself says about pitest-maven, for people who wonder why the gate does otherwise: every entry of the file
//! with its line.

use super::xml::{Node, read};

/// The settings that change what is measured or when that is enough.
const SETTINGS: &[&str] = &[
    "excludedClasses",
    "excludedMethods",
    "excludedTestClasses",
    "mutationThreshold",
    "mutators",
    "skip",
    "skipFailingTests",
    "targetClasses",
    "targetTests",
    "timeoutConstant",
];

/// What a POM says about the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PomPit {
    /// `artifactId` of the project.
    pub artifact: String,
    /// `artifactId` of its parent, if it has one.
    pub parent: Option<String>,
    /// The entries of pitest-maven, in the order of the file.
    pub entries: Vec<PitEntry>,
}

/// An entry of pitest-maven, anywhere in the POM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PitEntry {
    /// 1-based line of its `<plugin>`.
    pub line: u32,
    /// What it sets, the version first.
    pub settings: Vec<PitSetting>,
}

/// A setting of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PitSetting {
    /// The element's name.
    pub name: String,
    /// It is written as a list of elements: Maven prefers `-D` to such a one, and a text to `-D`.
    pub is_list: bool,
}

/// Reads a POM; `None` if the text is not one.
pub fn pom_pit(text: &str) -> Option<PomPit> {
    let root = read(text).filter(|root| root.name == "project")?;
    let name = |way: &[&str]| root.text_at(way).map(str::to_owned);
    let mut entries = Vec::new();
    let mut open = vec![&root];
    while let Some(node) = open.pop() {
        if node.name == "plugin" && is_pitest(node) {
            entries.push(entry(node));
        }
        open.extend(node.children.iter().rev());
    }
    Some(PomPit {
        artifact: name(&["artifactId"]).unwrap_or_default(),
        parent: root
            .child("parent")
            .map(|parent| parent.text_at(&["artifactId"]).unwrap_or_default().to_owned()),
        entries,
    })
}

fn is_pitest(plugin: &Node) -> bool {
    plugin.text_at(&["groupId"]) == Some("org.pitest")
        && plugin.text_at(&["artifactId"]) == Some("pitest-maven")
}

fn entry(plugin: &Node) -> PitEntry {
    // A goal that is called by name has the plugin's own configuration and that of `default-cli`.
    let executions = plugin.all(&["executions"]).iter();
    let by_name = executions.filter(|execution| execution.text_at(&["id"]) == Some("default-cli"));
    let holders = std::iter::once(plugin).chain(by_name);
    let nodes = holders.flat_map(|holder| holder.all(&["configuration"]));
    let known = nodes.filter(|node| SETTINGS.contains(&node.name.as_str()));
    let set = plugin
        .child("version")
        .into_iter()
        .chain(known)
        .filter(|node| !node.children.is_empty() || !node.text.is_empty());
    let setting = |node: &Node| PitSetting { name: node.name.clone(), is_list: !node.children.is_empty() };
    PitEntry { line: plugin.line, settings: set.map(setting).collect() }
}

#[cfg(test)]
mod tests {
    use super::pom_pit;

    const POM: &str = "<?xml version='1.0'?>
<project xmlns='u'>
  <parent><artifactId>above</artifactId></parent>
  <artifactId>app</artifactId>
  <properties><pit>1.20.0</pit></properties>
  <build>
    <pluginManagement><plugins>
      <plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>${pit}</version></plugin>
    </plugins></pluginManagement>
    <plugins>
      <plugin><artifactId>pitest-maven</artifactId><version>9</version></plugin>
      <plugin>
        <groupId>org.pitest</groupId>
        <artifactId>pitest-maven</artifactId>
        <executions>
          <execution><id>verify</id><configuration><skip>true</skip></configuration></execution>
          <execution><id>default-cli</id><configuration><timeoutConstant>${t}</timeoutConstant></configuration></execution>
        </executions>
        <configuration>
          <excludedClasses><param>a.B</param><param>a.C*</param></excludedClasses>
          <mutators>STRONGER</mutators><threads>4</threads><targetTests/>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>";

    #[test]
    fn every_entry_is_found_with_its_line_and_what_it_sets() {
        let pom = pom_pit(POM).expect("a POM");
        assert_eq!((pom.artifact.as_str(), pom.parent.as_deref()), ("app", Some("above")));
        let told: Vec<String> = pom
            .entries
            .iter()
            .map(|entry| {
                let settings: Vec<String> = entry
                    .settings
                    .iter()
                    .map(|s| format!("{}{}", s.name, if s.is_list { "[]" } else { "" }))
                    .collect();
                format!("{}: {}", entry.line, settings.join("; "))
            })
            .collect();
        assert_eq!(told, ["8: version", "12: excludedClasses[]; mutators; timeoutConstant"]);
    }

    #[test]
    fn what_is_no_pom_is_none() {
        for text in ["", "<project>", "<settings/>", "<!DOCTYPE x><project/>", "no"] {
            assert_eq!(pom_pit(text), None, "{text}");
        }
        assert_eq!(pom_pit("<project/>").expect("a POM").entries, []);
    }
}
