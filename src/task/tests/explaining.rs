//! What each line was read as.

use crate::task::{Grammar, ReadAs, Sections, TaskFile};

#[test]
fn every_line_is_explained() {
    let text = "---\ntitle: x\n---\n# Plan\n\n- [ ] 1. Parent [P1]\n  - [x]* 1.1 Child [US1]\n    - _Requirements: 2.1_\n\n```\n- [ ] no\n```\n<!--\nx\n-->\nDone when\n---------\n- [ ] dod\n# Gates\n- [ ] 1.PITEST\n- [-] Checkpoint\n- [ ] 2. a\n- [ ] 2. b\n";
    let sections = Sections::new(&[], &["done*".to_owned()]).unwrap();
    let file = TaskFile::parse(text, &Grammar::default().with_sections(sections));
    let lines = file.explain();
    assert_eq!(lines.len(), text.lines().count());
    let shown: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    {"line":1,"read":"front-matter"}
    {"line":2,"read":"front-matter"}
    {"line":3,"read":"front-matter"}
    {"line":4,"read":"heading","level":1,"group":1,"text":"Plan"}
    {"line":5,"read":"blank"}
    {"line":6,"read":"task","id":"1","stage":"IMPLEMENT","mark":" ","group":1,"text":"Parent [P1]","priority":1}
    {"line":7,"read":"task","id":"1.1","stage":"IMPLEMENT","mark":"x","optional":true,"parent":6,"parent_name":"1.","group":1,"text":"Child [US1]","requirements":["US1","2.1"]}
    {"line":8,"read":"text","requirements_of":7}
    {"line":9,"read":"blank"}
    {"line":10,"read":"fence"}
    {"line":11,"read":"fence"}
    {"line":12,"read":"fence"}
    {"line":13,"read":"comment"}
    {"line":14,"read":"comment"}
    {"line":15,"read":"comment"}
    {"line":16,"read":"heading","level":2,"group":2,"text":"Done when"}
    {"line":17,"read":"text"}
    {"line":18,"read":"left-out","pattern":"done*","text":"- [ ] dod"}
    {"line":19,"read":"heading","level":1,"group":3,"text":"Gates"}
    {"line":20,"read":"task","id":"1","stage":"PITEST","mark":" ","group":3,"text":""}
    {"line":21,"read":"task","stage":"IMPLEMENT","mark":"-","checkpoint":true,"group":3,"text":"Checkpoint"}
    {"line":22,"read":"task","id":"2","id_stands_twice":true,"stage":"IMPLEMENT","mark":" ","group":3,"text":"a"}
    {"line":23,"read":"task","id":"2","id_stands_twice":true,"stage":"IMPLEMENT","mark":" ","group":3,"text":"b"}
    "#);
    let tasks = lines.iter().filter(|line| matches!(line.read, ReadAs::Task(_))).count();
    assert_eq!(tasks, file.len());
}
