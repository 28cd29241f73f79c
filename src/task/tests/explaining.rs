//! Tests of the reading of each line.

use crate::task::{Grammar, ReadAs, SectionExclusion, Sections, TaskFile};

#[test]
fn every_line_is_read_once_and_named() {
    let text = "---\ntitle: x\n---\n# Plan\n\n- [ ] 1. Parent\n  - [x]* 1.1 Child\n    text\n\n```\n- [ ] no\n```\n<!--\nx\n-->\nDone when\n---------\n- [ ] dod\n# Gates\n- [ ] 1.PITEST\n- [-] Checkpoint\n- [ ] 2. a\n- [ ] 2. b\n";
    let sections = Sections::new(&[], &["done*".to_owned()]).unwrap();
    let file = TaskFile::parse(text, &Grammar::default().with_sections(sections));
    let shown: Vec<String> = file
        .read_lines()
        .map(|line| format!("{} {:?}", line.number, line.read))
        .collect();
    assert_eq!(shown.len(), text.lines().count());
    insta::assert_snapshot!(shown.join("\n"), @r"
    1 FrontMatter
    2 FrontMatter
    3 FrontMatter
    4 Heading(0)
    5 Blank
    6 Task(0)
    7 Task(1)
    8 Text
    9 Blank
    10 Fence
    11 Fence
    12 Fence
    13 Comment
    14 Comment
    15 Comment
    16 Heading(1)
    17 Text
    18 LeftOut(0)
    19 Heading(2)
    20 Task(2)
    21 Task(3)
    22 Task(4)
    23 Task(5)
    ");
    assert_eq!(file.heading_words(1), Some((2, "Done when".to_owned())));
    assert_eq!(
        file.left_out(0),
        Some(&SectionExclusion::Excluded("done*".to_owned()))
    );
    assert_eq!((file.parent_of(1), file.parent_of(0)), (Some(0), None));
    let ids: Vec<_> = (0..file.len()).map(|at| file.shown_id(at)).collect();
    let once = |id| Some((id, false));
    assert_eq!(
        ids,
        [
            once("1"),
            once("1.1"),
            once("1"),
            None,
            Some(("2", true)),
            Some(("2", true))
        ]
    );
    let tasks = file
        .read_lines()
        .filter(|line| matches!(line.read, ReadAs::Task(_)))
        .count();
    assert_eq!(tasks, file.len());
}
