//! Tests of tasks, their headings and their parents.

use super::{boxes, rows};

#[test]
fn boxes_of_every_dialect_are_tasks() {
    for (text, expected) in [
        ("- [ ] 1. a", "1. ' '"),
        ("* [x] 1. a", "1. 'x'"),
        ("+ [X] 1. a", "1. 'X'"),
        ("5. [ ] 1. a", "1. ' '"),
        ("5)  [ ] 1. a", "1. ' '"),
        ("-\t[\t]\t1. a", "1. '\\t'"),
        ("- [ ]* 1. a", "1. ' '"),
        ("- [x]\\* 1. a", "1. 'x'"),
        ("- [-] 1. a", "1. '-'"),
        ("- [~]* 1. a", "1. '~'"),
        ("- [✅] 1. a", "1. '✅'"),
        ("- [ ]", "- ' '"),
        ("- [ ]\u{b}a", "- ' '"),
        ("- - [ ] 1. a", "1. ' '"),
        ("1. - [ ] 1. a", "1. ' '"),
        ("        - [ ] 1. indented code", "1. ' '"),
        ("-       [ ] 1. wide gap", "1. ' '"),
        ("<details>\n- [ ] 1. a\n</details>", "1. ' '"),
        ("\u{feff}- [ ] 1. a", "1. ' '"),
        ("text\n2. [ ] 1. a", "1. ' '"),
    ] {
        assert_eq!(boxes(text), [expected], "{text}");
    }
    assert_eq!(
        boxes(b"- [ ] 1. \xff\xfe\r- [x] 2. b\r\n- [ ] 3. c".as_slice()),
        ["1. ' '", "2. 'x'", "3. ' '"]
    );
}

#[test]
fn what_is_no_box_is_no_task() {
    for text in [
        "",
        "- [P] T001 x",
        "- [1] x",
        "- [blocked] x",
        "- []",
        "- [ x ]",
        "- [ ]Foo",
        "-[ ] a",
        "- [x](url)",
        "- [x][ref]",
        "- [x]: url",
        "- [ ]**a**",
        "- [ ]*a*",
        "- \\[ ] a",
        "- **[ ] a**",
        "[ ] a",
        "| [ ] |",
        "> - [ ] a",
        "- > - [ ] a",
        "# [ ] a",
        "1234567890. [ ] a",
        "- a\n[ ] b",
        "```\n- [ ] a\n```",
        "~~~\n- [ ] a",
        "- x\n  ```\n  - [ ] a\n  ```",
        "<!--\n- [ ] a\n-->",
        "<!-- - [ ] a -->",
        "---\n- [ ] a\n---\n",
        "\u{feff}---\n- [ ] a\n...\n",
    ] {
        assert_eq!(boxes(text), [""; 0], "{text}");
    }
    assert_eq!(boxes(b"- [\xff] a".as_slice()), [""; 0]);
}

#[test]
fn only_true_fences_and_comments_hide_tasks() {
    let fenced = "- [ ] 1. a\n  ```\n  unbalanced in its item\n- [ ] 2. b\n";
    assert_eq!(boxes(fenced), ["1. ' '", "2. ' '"]);
    assert_eq!(
        boxes("text `<!--` x\n- [ ] 1. <!-- x\n- [ ] 2. b\n"),
        ["1. ' '", "2. ' '"]
    );
    assert_eq!(boxes("- [ ] 1. ```\n- [ ] 2. b\n"), ["1. ' '", "2. ' '"]);
    assert_eq!(
        boxes("text\n---\n- [ ] 1. a\n---\n"),
        ["1. ' '"],
        "front matter begins at byte 0 only"
    );
    assert_eq!(
        boxes("--- \n- [ ] 1. a\n---\n"),
        ["1. ' '"],
        "its first line is exactly `---`"
    );
    assert_eq!(boxes("---\n- [ ] 1. a\n"), ["1. ' '"], "and it has an end");
    assert_eq!(boxes("<!-- a\n- [ ] 1. - x -->\n- [ ] 2. b\n"), ["2. ' '"]);
    assert_eq!(
        boxes("```a *b*\n- [ ] 1. a\n``` \n- [ ] 2. b\n"),
        ["2. ' '"]
    );
}

#[test]
fn fences_are_found_the_same_whatever_is_ticked() {
    for open in [
        "- [ ] 1. a\n- [ ]: /url\n- [ ]\n  ```\n  - [ ] 2. b\n",
        "- [ ]\n\n  ```\n- [ ] 2. b\n",
        "- [ ] <a\n\n  ```\n- [ ] 2. b\n",
    ] {
        let ticked = open.replace("[ ]", "[x]");
        let dashed = open.replace("[ ]", "[-]");
        let names = |text: &str| {
            rows(text)
                .into_iter()
                .map(|row| (row.key, row.line))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(open), names(&ticked));
        assert_eq!(names(open), names(&dashed));
    }
}

/// Lists each row as `key < parent @group`.
fn tree(text: &str) -> String {
    let name = |family: &str| {
        if family.starts_with('~') {
            "text".to_owned()
        } else {
            family.to_owned()
        }
    };
    let line = |row: crate::task::Row| {
        let parent = row
            .parent
            .map_or_else(|| "-".to_owned(), |parent| name(&parent));
        let stage = if row.key.has_id() {
            row.key.written_id()
        } else {
            row.text
        };
        format!("{stage} < {parent} @{}\n", row.group)
    };
    rows(text).into_iter().map(line).collect()
}

#[test]
fn a_parent_is_found_by_id_wherever_it_stands() {
    insta::assert_snapshot!(tree("- [ ] 1.2 late parent\n- [ ] 1. a\n- [ ] 1.1 same indent\n  - [ ] 1.1.1.1 deep\n- [ ] CORE-3 a\n- [ ] CORE-3.1 b\n"), @r"
    1.2. < 1 @0
    1. < - @0
    1.1. < 1 @0
    1.1.1.1. < 1.1 @0
    CORE-3. < - @0
    CORE-3.1. < CORE-3 @0
    ");
}

#[test]
fn stages_have_the_parent_of_their_implementation_and_wider_gates_none() {
    insta::assert_snapshot!(tree("- [ ] 1. top\n  - [ ] 1.1.TEST-FIRST t\n  - [ ] 1.1. a\n    - [ ] 1.1.PITEST nested\n- [ ] 1.9.INTEG x\n  - [ ] G1.PITEST g\n  - [ ] FINAL f\n"), @r"
    1. < - @0
    1.1.TEST-FIRST < 1 @0
    1.1. < 1 @0
    1.1.PITEST < 1 @0
    1.9.INTEG < 1 @0
    G1.PITEST < - @0
    FINAL < - @0
    ");
}

#[test]
fn a_numbered_heading_is_a_parent_without_a_box() {
    insta::assert_snapshot!(tree("# Plan\n## 1. Set-up\n- [ ] A\n  - [ ] 1.1 a\n\n### Sub\n- [ ] B\n  - [ ] 2.1 b\n"), @r"
    A < - @2
    1.1. < - @2
    B < - @3
    2.1. < text @3
    ");
}

#[test]
fn without_ids_indentation_tells_the_parent() {
    insta::assert_snapshot!(tree("- [ ] A\n  - plain\n    - [ ] B\n  - [ ] C\n\n  text of A\n\n  - [ ] D\n\ntext ends the list\n\n  - [ ] E\n- [ ] F\n## H\n  - [ ] G\n1. [ ] I\n\t- [ ] J\n"), @r"
    A < - @0
    B < text @0
    C < text @0
    D < text @0
    E < - @0
    F < - @0
    G < - @1
    I < - @1
    J < text @1
    ");
}

#[test]
fn of_doubled_ids_the_nearest_above_is_the_parent() {
    let rows = rows("# A\n- [ ] 1. first\n- [ ] 1.1 a\n# B\n- [ ] 1. second\n- [ ] 1.2 b\n");
    assert_eq!(rows[1].parent.as_ref(), Some(&rows[0].key.family));
    assert_eq!(rows[3].parent.as_ref(), Some(&rows[2].key.family));
}

#[test]
fn an_id_that_a_section_has_twice_names_no_parent() {
    insta::assert_snapshot!(tree("- [ ] 2. a\n- [ ] 2. b\n- [ ] 2.1 c\n- [ ] 2. d\n  - [ ] 2.2 e\n# B\n- [ ] 2. f\n- [ ] 2.3 g\n"), @r"
    a < - @0
    b < - @0
    2.1. < - @0
    d < - @0
    2.2. < text @0
    f < - @1
    2.3. < text @1
    ");
}

#[test]
fn no_task_is_its_own_ancestor() {
    insta::assert_snapshot!(tree("- [ ] 1.1 a\n  - [ ] x\n    - [ ] 1. b\n"), @r"
    1.1. < 1 @0
    x < - @0
    1. < text @0
    ");
    insta::assert_snapshot!(tree("- [ ] 2.TEST-FIRST a\n  - [ ] 2. b\n    - [ ] 2.PITEST c\n"), @r"
    2.TEST-FIRST < - @0
    2. < - @0
    2.PITEST < - @0
    ");
}

#[test]
fn groups_count_headings_of_every_kind() {
    let groups = |text: &str| rows(text).iter().map(|row| row.group).collect::<Vec<_>>();
    assert_eq!(
        groups("- [ ] a\n# H\n- [ ] b\n####### no\n#no\n    # no\n- [ ] c\n## H\n#\n- [ ] d\n"),
        [0, 1, 1, 3]
    );
    assert_eq!(
        groups("Title\n=====\n- [ ] a\n\n---\n- [ ] b\n\nSub\n---\n- [ ] c\n---\n- [ ] d\n"),
        [1, 1, 2, 2]
    );
    assert_eq!(
        groups("```\n# no\n```\n- [ ] a\n<!--\n# no\n-->\n- [ ] b\n"),
        [0, 0]
    );
}
