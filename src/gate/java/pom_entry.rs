//! What a POM itself says about pitest-maven, for people who wonder why the gate does otherwise.
//!
//! Every entry of the file with its line; a text that is no POM is `None`, never a POM without
//! entries.

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
/// Items of a list that are kept.
const ITEMS: usize = 20;

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

/// An entry of pitest-maven, wherever it stands in the POM.
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
    /// Its text, or its items with commas between them; properties of the same POM are filled in.
    pub value: String,
    /// It is written as a list of elements: Maven prefers `-D` to such a one, and a text to `-D`.
    pub is_list: bool,
}

/// Reads a POM; `None` for a text that is none.
pub fn pom_pit(text: &str) -> Option<PomPit> {
    let root = read(text).filter(|root| root.name == "project")?;
    let name = |way: &[&str]| root.text_at(way).map(str::to_owned);
    let mut entries = Vec::new();
    let mut open = vec![&root];
    while let Some(node) = open.pop() {
        if node.name == "plugin" && is_pitest(node) {
            entries.push(entry(node, &root));
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

fn entry(plugin: &Node, root: &Node) -> PitEntry {
    let version = plugin.child("version").map(|version| setting(version, root));
    // A goal that is called by name has the plugin's own configuration and that of `default-cli`.
    let executions = plugin.all(&["executions"]).iter();
    let by_name = executions.filter(|execution| execution.text_at(&["id"]) == Some("default-cli"));
    let holders = std::iter::once(plugin).chain(by_name);
    let nodes = holders.flat_map(|holder| holder.all(&["configuration"]));
    let known = nodes.filter(|node| SETTINGS.contains(&node.name.as_str()));
    let settings = version.into_iter().chain(known.map(|node| setting(node, root)));
    PitEntry { line: plugin.line, settings: settings.filter(|setting| !setting.value.is_empty()).collect() }
}

fn setting(node: &Node, root: &Node) -> PitSetting {
    let items: Vec<String> = node.children.iter().take(ITEMS).map(|item| filled(&item.text, root)).collect();
    let value = if items.is_empty() { filled(&node.text, root) } else { items.join(", ") };
    PitSetting { name: node.name.clone(), value, is_list: !items.is_empty() }
}

/// The value of `${name}` where the POM itself has that property; any other text as it is.
fn filled(text: &str, root: &Node) -> String {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.and_then(|name| root.text_at(&["properties", name])).unwrap_or(text).to_owned()
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
                    .map(|s| format!("{}{}={}", s.name, if s.is_list { "[]" } else { "" }, s.value))
                    .collect();
                format!("{}: {}", entry.line, settings.join("; "))
            })
            .collect();
        assert_eq!(
            told,
            ["8: version=1.20.0", "12: excludedClasses[]=a.B, a.C*; mutators=STRONGER; timeoutConstant=${t}"]
        );
    }

    #[test]
    fn what_is_no_pom_is_none() {
        for text in ["", "<project>", "<settings/>", "<!DOCTYPE x><project/>", "no"] {
            assert_eq!(pom_pit(text), None, "{text}");
        }
        assert_eq!(pom_pit("<project/>").expect("a POM").entries, []);
    }
}
