//! Properties of every turn.

use super::*;
use proptest::prelude::*;

/// Generates turns of calls on four files, some without an end, with commands and words between.
fn turns() -> impl Strategy<Value = Vec<TurnEvent>> {
    let call = (0..4_usize, 0..4_usize);
    prop::collection::vec(call, 0..12).prop_map(|calls| {
        let call = |(at, (file, end)): (usize, &(usize, usize))| {
            let end = ["done", "fail", "deny"]
                .get(*end)
                .map(|end| format!("{end} {at} error {at}"));
            format!("edit {at} f{file}\n{}\n", end.unwrap_or_default())
        };
        events(&calls.iter().enumerate().map(call).collect::<String>())
    })
}

fn verdicts(events: &[TurnEvent], changed: [bool; 4]) -> Vec<EditFinding> {
    let mut calls = Calls::default();
    for event in events {
        calls.hear(event);
    }
    let content = |at: usize| if changed[at] { "new" } else { "old" };
    let files: Vec<(&str, &str, &str)> = ["f0", "f1", "f2", "f3"]
        .into_iter()
        .enumerate()
        .map(|(at, name)| (name, "old", content(at)))
        .collect();
    calls.judge(&places(&calls, &files))
}

proptest! {
    #[test]
    fn a_turn_that_is_told_twice_is_the_same_turn(events in turns(), changed: [bool; 4]) {
        let twice: Vec<TurnEvent> = events.iter().chain(&events).cloned().collect();
        prop_assert_eq!(verdicts(&events, changed), verdicts(&twice, changed));
    }

    #[test]
    fn lines_that_nobody_understands_change_nothing(events in turns(), changed: [bool; 4], at: prop::sample::Index) {
        let mut noisy = events.clone();
        noisy.insert(at.index(events.len() + 1), TurnEvent::Unread { line: "done 0".to_owned() });
        prop_assert_eq!(verdicts(&events, changed), verdicts(&noisy, changed));
    }

    #[test]
    fn the_order_of_parallel_results_on_several_files_changes_nothing(
        outcomes: [bool; 4], changed: [bool; 4], order in Just([0, 1, 2, 3]).prop_shuffle(),
    ) {
        let turn = |order: &[usize]| {
            let end = |at: &usize| format!("{} {at} why", if outcomes[*at] { "done" } else { "fail" });
            let starts = (0..4).map(|at| format!("edit {at} f{at}"));
            events(&starts.chain(order.iter().map(end)).collect::<Vec<_>>().join("
"))
        };
        prop_assert_eq!(verdicts(&turn(&[0, 1, 2, 3]), changed), verdicts(&turn(&order), changed));
    }

    /// A file that git shows unchanged is never accepted because the transcript ended early.
    #[test]
    fn a_cut_lets_nothing_land_that_git_does_not_show(events in turns(), cut: prop::sample::Index) {
        let cut = &events[..cut.index(events.len() + 1)];
        let found = verdicts(cut, [false; 4]);
        let mut calls = Calls::default();
        for event in cut {
            calls.hear(event);
        }
        prop_assert_eq!(found.len(), calls.targets().count());
    }

    #[test]
    fn a_footer_is_bounded_and_shows_nothing_hidden(
        paths in prop::collection::vec(any::<String>(), 0..14), error: String, tool: String,
    ) {
        let all: Vec<EditFinding> = paths.iter().map(|path| EditFinding {
            path: path.clone(), tool: tool.clone(), tries: 1, first: error.clone(), ..EditFinding::default()
        }).collect();
        let lines = footer(&all);
        prop_assert!(lines.len() <= 13);
        for line in &lines {
            prop_assert!(!line.contains(crate::source::text::is_hidden), "{line:?}");
            prop_assert!(line.chars().count() < 500);
        }
        for entry in lines.iter().skip(1).take(all.len().min(10)) {
            let rest = entry.strip_prefix('`').unwrap_or_default();
            prop_assert!(rest.split_once("` failed").is_some_and(|(path, _)| !path.contains('`')), "{entry:?}");
        }
    }
}
