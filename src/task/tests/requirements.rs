//! Tests of the requirements that a task names.

use super::parse;

fn requirements(text: &str) -> Vec<String> {
    parse(text).named_requirements().into_iter().next().unwrap()
}

#[test]
fn requirements_are_read_in_every_form() {
    for (line, expected) in [
        ("_Requirements: 1.1, 2.3_", "1.1 2.3"),
        ("- _Requirements: 1.1, 2.3_", "1.1 2.3"),
        ("- *Requirements: 1.1*", "1.1"),
        ("- \\_Requirements: 1.1\\_", "1.1"),
        ("- **Requirements**: FR-001, C-2.", "FR-001 C-2"),
        ("- **Requirement Refs**: FR-1, NFR-2", "FR-1 NFR-2"),
        ("- **Validates: Requirements 1.2 (Mode A), 2.1**", "1.2 2.1"),
        ("- _Requirements: 1.1-1.5, 3_", "1.1-1.5 3"),
        ("- _Requisitos: 1, 7_", "1 7"),
        ("- _需求：1.1、2.2_", "1.1 2.2"),
        ("- _要求：1.1, 1.2_", "1.1 1.2"),
        ("- _Требования: 4.2_", "4.2"),
        (
            "- _Requirements: All backend requirements_",
            "All backend requirements",
        ),
        ("- _Requirements: FR-1, AC-1.2_", "FR-1 AC-1.2"),
        ("- _Requirements:_", ""),
        ("- **验证**: Requirement 1, 2", "1 2"),
        ("- **Verifies**: Requirements 3", "3"),
        ("- **验证**: npm test 3", ""),
        ("- Verifies: 4 of 5", ""),
        ("- _Design: 1.1_", ""),
        ("- Do: 1.1", ""),
    ] {
        assert_eq!(
            requirements(&format!("- [ ] 1. a\n  {line}\n")).join(" "),
            expected,
            "{line}"
        );
    }
}

#[test]
fn requirements_that_are_named_twice_are_kept_once() {
    let text =
        "- [ ] 1. a\n  - **Validates: Requirements 1.2, 3.2**\n  - _Requirements: 1.2, 3.2_\n";
    assert_eq!(requirements(text), ["1.2", "3.2"]);
    assert_eq!(
        requirements("- [ ] 1. a\n  - _Requirements: all_\n  - _Requirements: all_\n"),
        ["all"]
    );
}

#[test]
fn requirements_belong_to_the_task_whose_item_holds_them() {
    let text = "- [ ] 1. a\n  - [ ] 1.1 b\n    - _Requirements: 1.1_\n  - _Requirements: 2_\n- [ ] 2. c\n\n  text\n\n  - _Requirements: 3_\n\n_Requirements: 4_\n## H\n  - _Requirements: 5_\n";
    let found: Vec<String> = parse(text)
        .named_requirements()
        .iter()
        .map(|own| own.join(" "))
        .collect();
    assert_eq!(found, ["2", "1.1", "3"]);
    let hidden = "- [ ] 1. a\n\n  ```\n  - _Requirements: 3_\n  ```\n";
    assert_eq!(requirements(hidden).len(), 0);
}

#[test]
fn references_in_the_words_are_read() {
    for (text, expected) in [
        (
            "T012 [P] [US1] Write FR-018, see AC-1.2.",
            "US1 FR-018 AC-1.2",
        ),
        ("2.1 (P) a (US2), US3 and [US4] too", "US2 US4"),
        (
            "read [P](x), [US1x], FR-1x, FR-x and the README (USA) here",
            "",
        ),
        ("add `GET /api/FR-1/x` for xFR-1 and $FR-2", ""),
        ("see [FR-001](x) and NFR-2.", "FR-001 NFR-2"),
    ] {
        assert_eq!(
            requirements(&format!("- [ ] {text}\n")).join(" "),
            expected,
            "{text}"
        );
    }
}

#[test]
fn the_lines_of_a_task_are_those_of_its_list_item() {
    let text =
        "# H\n- [ ] 1. a\n  b\n  - [ ] 1.1 c\n    ```\n    d\n    ```\n    e\n  f\ng\n- [ ] 2. h\n";
    let file = parse(text);
    let shown: Vec<String> = file
        .task_lines()
        .iter()
        .map(|lines| {
            lines
                .iter()
                .map(|line| String::from_utf8_lossy(line).trim().to_owned())
                .collect::<Vec<_>>()
        })
        .map(|lines| lines.join("|"))
        .collect();
    assert_eq!(shown, ["a|b|f", "c|```|e", "h"]);
}

#[test]
fn what_is_kept_is_bounded() {
    let many: Vec<String> = (0..500).map(|n| format!("1.{n}")).collect();
    let text = format!(
        "- [ ] 1. a\n  - _Requirements: {}_\n  - _Requirements: {}_\n",
        many.join(", "),
        "é".repeat(300)
    );
    let found = requirements(&text);
    assert!(
        found.len() <= 64 && found.iter().all(|word| word.len() <= 80),
        "{found:?}"
    );
}
