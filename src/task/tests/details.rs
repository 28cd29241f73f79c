//! What stands about a task, and whose habits a file follows.

use super::parse;
use crate::task::{Detail, Dialect, dialect};

fn details(text: &str) -> Vec<Detail> {
    parse(text).details()
}

fn requirements(text: &str) -> Vec<String> {
    details(text).into_iter().next().unwrap().requirements
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
        ("- _Requirements: All backend requirements_", "All backend requirements"),
        ("- _Requirements: FR-1, AC-1.2_", "FR-1 AC-1.2"),
        ("- _Requirements:_", ""),
        ("- **验证**: Requirement 1, 2", "1 2"),
        ("- **Verifies**: Requirements 3", "3"),
        ("- **验证**: npm test 3", ""),
        ("- Verifies: 4 of 5", ""),
        ("- _Design: 1.1_", ""),
        ("- Do: 1.1", ""),
    ] {
        assert_eq!(requirements(&format!("- [ ] 1. a\n  {line}\n")).join(" "), expected, "{line}");
    }
}

#[test]
fn requirements_that_are_named_twice_are_kept_once() {
    let text = "- [ ] 1. a\n  - **Validates: Requirements 1.2, 3.2**\n  - _Requirements: 1.2, 3.2_\n";
    assert_eq!(requirements(text), ["1.2", "3.2"]);
    assert_eq!(requirements("- [ ] 1. a\n  - _Requirements: all_\n  - _Requirements: all_\n"), ["all"]);
}

#[test]
fn requirements_belong_to_the_task_whose_item_holds_them() {
    let text = "- [ ] 1. a\n  - [ ] 1.1 b\n    - _Requirements: 1.1_\n  - _Requirements: 2_\n- [ ] 2. c\n\n  text\n\n  - _Requirements: 3_\n\n_Requirements: 4_\n## H\n  - _Requirements: 5_\n";
    let found: Vec<String> = details(text).iter().map(|detail| detail.requirements.join(" ")).collect();
    assert_eq!(found, ["2", "1.1", "3"]);
    let hidden = "- [ ] 1. a\n\n  ```\n  - _Requirements: 3_\n  ```\n";
    assert_eq!(requirements(hidden).len(), 0);
}

#[test]
fn marks_in_the_words_are_read() {
    for (text, expected) in [
        ("T012 [P] [US1] Write FR-018, see AC-1.2.", "US1 FR-018 AC-1.2||true|"),
        ("2.1 (P) a", "||true|"),
        ("T044 Extend (WP08) [P]", "||true|WP08"),
        ("1.1 [VERIFY] Quality check", "|||VERIFY"),
        ("1.2 [RED] [P1] a", "|1||RED"),
        ("#25 - Guide (P3)", "|3||"),
        ("P0: mend", "|0||"),
        ("do it (Priority: P2)", "|2||"),
        ("**Priority**: P4", "|4||"),
        ("read [P](x), [US1x], PP1, P1x and the README (USA) here", "|||"),
        ("add `GET /api/events/[ID]/x` for xFR-1", "|||"),
        ("see [FR-001](x) and NFR-2.", "FR-001 NFR-2|||"),
    ] {
        let detail = details(&format!("- [ ] {text}\n")).remove(0);
        let priority = detail.priority.map(|p| p.to_string()).unwrap_or_default();
        let parallel = if detail.parallel { "true" } else { "" };
        let shown =
            format!("{}|{priority}|{parallel}|{}", detail.requirements.join(" "), detail.tags.join(" "));
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn a_heading_gives_its_tasks_their_priority() {
    let text = "## Phase 3: User Story 1 (Priority: P1)\n- [ ] T001 a\n- [ ] T002 [P0] b\n## Phase 4\n- [ ] T003 c\n";
    let found: Vec<_> = details(text).iter().map(|detail| detail.priority).collect();
    assert_eq!(found, [Some(1), Some(0), None]);
}

#[test]
fn a_heading_without_a_priority_leaves_that_of_the_heading_above_it() {
    let text = "## US 1 (Priority: P1)\n### Impl\n- [ ] T001 a\n### Odd (P3)\n#### Deep\n- [ ] T002 b\n### Tests\n- [ ] T003 c\n## US 2\n- [ ] T004 d\n### Impl\n- [ ] T005 e\n";
    let found: Vec<_> = details(text).iter().map(|detail| detail.priority).collect();
    assert_eq!(found, [Some(1), Some(3), Some(1), None, None]);
}

#[test]
fn the_requirements_of_a_stage_are_those_of_its_family() {
    let file = parse(
        "- [ ] 2.TEST-FIRST a\n  - _Requirements: 9_\n- [ ] 2. b\n  - _Requirements: 1.1, 9_\n- [ ] 3. c\n",
    );
    assert_eq!(file.requirements_of(&super::key("2.TEST-FIRST")), ["9", "1.1"]);
    assert_eq!(file.requirements_of(&super::key("2.")), ["1.1", "9"]);
    assert_eq!(file.requirements_of(&super::key("3.")), [] as [&str; 0]);
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
    assert!(found.len() <= 64 && found.iter().all(|word| word.len() <= 80), "{found:?}");
}

#[test]
fn each_dialect_is_known_by_its_signs() {
    let of = |text: &str, path: &str| dialect(&parse(text), path).dialect;
    for (text, path, expected) in [
        ("- [ ] 1. a\n- [x] 1.1 b\n  - _Requirements: 1.1_\n- [ ]* 1.2 c\n", "", Dialect::Kiro),
        ("- [ ] 1. a\n  - [-] 1.1 b\n", ".kiro/specs/x/tasks.md", Dialect::Kiro),
        (
            "- [ ] 1. a\n- [ ] 1.1 (P) b\n  - _Requirements: 1.1_\n- [ ] 7.9* c\n",
            ".kiro/specs/x/tasks.md",
            Dialect::CcSdd,
        ),
        ("## Phase 1: Setup\n- [ ] T001 a\n- [X] T002 [P] [US1] b\n", "", Dialect::SpecKit),
        ("## WP01\n- [ ] T001 a (WP01)\n- [ ] T002 b (WP01) [P]\n", "", Dialect::SpecKitty),
        ("## 1. Setup\n- [ ] 1.1 a\n- [ ] 1.2 b\n", "", Dialect::OpenSpec),
        (
            "## Phase 1: Make it work\n- [ ] 1.1 a\n  - **Do**: x\n  - **Files**: y\n  - **Done when**: z\n  - **Verify**: v\n  - **Commit**: c\n  - _Requirements: FR-1, AC-1.1_\n- [ ] 1.2 [VERIFY] b\n",
            "specs/x/tasks.md",
            Dialect::SmartRalph,
        ),
        ("- [ ] 2.TEST-FIRST a\n- [ ] 2. b\n- [ ] 2.PITEST\n", "", Dialect::Stages),
        ("- [ ] 1. a\n- [ ] 1.1 b\n  - _Requirements: 1.1_\n- [ ] 1.1.PITEST\n", "", Dialect::Kiro),
        ("- [ ] a\n- [ ] b\n", "", Dialect::Plain),
        ("- [ ] a\n  - Requirements: see below\n- [ ] b\n", "", Dialect::Plain),
        ("- [ ] 1. a\n- [ ] 2. b\n\n**Requirements:**\n\n- words\n", "", Dialect::Plain),
        ("- [ ] 1. a\n- [ ] 2. b\n", "", Dialect::Plain),
        ("# none\n", ".kiro/specs/x/tasks.md", Dialect::Plain),
    ] {
        assert_eq!(of(text, path), expected, "{text}");
    }
    let found = dialect(&parse("## 1. A\n- [ ] 1.1 a\n"), "openspec/changes/x/tasks.md");
    insta::assert_snapshot!(found.reasons.join("\n"), @"
    it stands in `openspec/`
    most tasks are `1.1` under headings like `## 1.`
    ");
}
