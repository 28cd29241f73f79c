//! Tests of the boxes that a version ticked.

use super::parse;
use crate::task::ticked_since;

/// Returns the texts of the lines that `after` ticked.
fn ticked(before: &str, after: &str) -> Vec<String> {
    ticked_since(&parse(before), &parse(after))
        .into_iter()
        .map(|row| row.text)
        .collect()
}

#[test]
fn open_then_ticked_is_a_tick_and_nothing_else_that_changes() {
    let before = "- [ ] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n";
    assert_eq!(ticked(before, before), [""; 0]);
    assert_eq!(
        ticked(before, "- [x] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n"),
        ["One"]
    );
    assert_eq!(
        ticked(before, "- [ ] 1. One\n- [ ] 2. Two\n- [X] 3. Three\n"),
        ["Three"]
    );
    assert_eq!(
        ticked(before, ""),
        [""; 0],
        "a file that went ticks nothing"
    );
}

#[test]
fn a_task_that_is_renumbered_moved_or_worded_anew_is_known_again() {
    let before = "- [x] 1. One\n- [ ] 2. Two\n";
    assert_eq!(
        ticked(before, "- [ ] 1. New\n- [x] 2. One\n- [ ] 3. Two\n"),
        [""; 0],
        "renumbered"
    );
    assert_eq!(
        ticked(before, "- [ ] 2. Two\n- [x] 1. One\n"),
        [""; 0],
        "moved"
    );
    assert_eq!(
        ticked(before, "- [x] 1. One, with care\n- [ ] 2. Two\n"),
        [""; 0],
        "worded anew"
    );
    assert_eq!(
        ticked(
            "- [x] Write\n- [ ] Read\n",
            "- [x] Write it\n- [x] Read it\n"
        ),
        ["Read it"],
        "without ids"
    );
}

#[test]
fn a_task_that_came_ticked_is_a_tick_each_time() {
    assert_eq!(
        ticked("- [ ] 1. One\n", "- [ ] 1. One\n- [x] 2. Two\n"),
        ["Two"]
    );
    assert_eq!(
        ticked("- [x] Same\n", "- [x] Same\n- [x] Same\n"),
        ["Same"],
        "the second line of that text"
    );
    assert_eq!(
        ticked("", "- [x] 1. One\n- [x] 1.PITEST Judge\n"),
        ["One", "Judge"],
        "stages are boxes"
    );
}
