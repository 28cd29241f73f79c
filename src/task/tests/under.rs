//! Tests of the text below a task.

use super::parse;
use crate::task::{Stage, TaskKey, TaskText};

const FILE: &str = "\
# Payments

Read this first.

## Phase 1
- [ ] 1. Take money
  for the whole team
  - [ ] 1.1.TEST-FIRST Tests for **each** case
    - the empty cart
  - [ ] 1.1 Sum a cart
    - empty carts cost nothing
      - even with a voucher

    ```java
    - [ ] no task
    assert 0 == sum();
    ```
    _Requirements: 1.2_
<!-- hidden -->
  - [ ] 1.1.REQ-CHECK
  - [ ] 1.2 Round
- [ ] 2. Send it
```
curl -d @cart
```
- [ ] 2.PITEST

**Checkpoint**: it can be sold.

## Notes
Nobody's text.
";

fn text_of(text: &str, family: &str, stage: Stage) -> TaskText {
    parse(text).text_of(&TaskKey {
        family: family.to_owned(),
        stage,
    })
}

#[test]
fn all_that_stands_under_a_task_until_the_next_one_is_its_text() {
    let task = text_of(FILE, "1.1", Stage::Implementation);
    assert_eq!(task.above, ["Phase 1", "Take money"]);
    assert_eq!(task.work, "");
    let lines: Vec<&str> = task.own.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "Sum a cart",
            "- empty carts cost nothing",
            "- even with a voucher",
            "",
            "```java",
            "- [ ] no task",
            "assert 0 == sum();",
            "```",
            "_Requirements: 1.2_"
        ]
    );
    assert!(
        text_of(FILE, "1", Stage::Implementation)
            .own
            .ends_with("\n  for the whole team")
    );
    assert_eq!(text_of(FILE, "1.2", Stage::Implementation).own, "Round");
    assert_eq!(
        text_of(FILE, "2", Stage::Implementation).own,
        "Send it\n```\ncurl -d @cart\n```\n**Checkpoint**: it can be sold.",
        "a line without indentation is its own too, even after a line for a stage"
    );
    assert_eq!(
        text_of(FILE, "9", Stage::Implementation),
        TaskText::default()
    );
}

#[test]
fn a_stage_has_its_own_words_and_those_of_its_work() {
    let tests = text_of(FILE, "1.1", Stage::TestFirst);
    assert_eq!(tests.own, "Tests for **each** case\n    - the empty cart");
    assert!(
        tests.work.starts_with("Sum a cart\n") && tests.work.contains("voucher"),
        "{tests:?}"
    );
    let review = text_of(FILE, "1.1", Stage::ReqCheck);
    assert_eq!((review.own.as_str(), &review.work), ("", &tests.work));
    assert_eq!(review.above, ["Phase 1", "Take money"]);
    let all = parse(FILE).family_text("1.1");
    assert!(
        all.contains("the empty cart") && all.contains("voucher") && !all.contains("Round"),
        "{all}"
    );
}

#[test]
fn a_row_knows_whether_what_is_indented_below_it_changed() {
    let under = |text: &str, at: usize| parse(text).box_rows()[at].under.clone().expect("a digest");
    assert_eq!(under(FILE, 4), "", "nothing is indented below 1.2");
    for (from, to, differs) in [
        ("empty carts", "no carts", true),
        ("sum();", "total();", true),
        ("      - even", "    - even", false),
        ("hidden", "seen", false),
        ("Checkpoint", "Milestone", false),
        ("the empty cart", "a cart", false),
        ("1.1.REQ-CHECK", "1.1.PRE-CR", false),
    ] {
        let changed = FILE.replace(from, to);
        assert_eq!(under(&changed, 2) != under(FILE, 2), differs, "{from}");
    }
}
