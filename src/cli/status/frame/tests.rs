//! Frames as they are drawn, and keys.

use super::*;
use crate::report::board::tests::{NOW, board, working};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn view(held: bool) -> View {
    let (state, spent) = working();
    let mut view = View::new(board(&state, &spent, held), true);
    view.now = NOW;
    view.log = AgentLog {
        name: "agent.out".into(),
        lines: (1..=40)
            .map(|n| format!("line {n} of the agent, 数字"))
            .collect(),
    };
    view
}

fn drawn(view: &View, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw_view(view, frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_frame_of_the_usual_size() {
    insta::assert_snapshot!(drawn(&view(true), 80, 24), @r#"
    "tasks.md: 8 of 15 boxes ticked, 12 iterations, attempting                       "
    "now: task 2 agent, iteration 12, after 1 rejected, for 7 s                      "
    "next: task 2: Discounts by quantity, rounded half up, never below zero          "
    "gates: PITEST: 1 PASS, 1 FAIL                                                   "
    "time: runs 20 min 7 s, agents 0 s, gates 0 s; cost: not reported                "
    " tasks 1-5 of 7 ────────────────────────────────────────────────────────────────"
    "TASK   TEXT            TEST-FIRST  IMPLEMENT    REQ-CHECK  PITEST  PRE-CR  FINAL"
    "1      Sum the lines…  done        done         PASS       PASS    PASS         "
    "2      Discounts by…   done        running      open       FAIL    open         "
    "3      数字を数える                person                                       " Hidden by multi-width symbols: [(8, " "), (10, " "), (12, " "), (14, " "), (16, " "), (18, " ")]
    "4      Write the man…              commit only                                  "
    "5      Somebody's                  [-]                                          "
    " why task 2 ────────────────────────────────────────────────────────────────────"
    "task 2 is open:                                                                 "
    "  - The mutation score of class a.B is 50% (1/2).                               "
    "  - survivor B.java:7                                                           "
    " log of iteration 12: agent.out ────────────────────────────────────────────────"
    "line 35 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 36 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 37 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 38 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 39 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 40 of the agent, 数字                                                      " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "q quit · j/k or arrows scroll · g/G first/last · f follow what runs             "
    "#);
}

#[test]
fn a_large_frame() {
    insta::assert_snapshot!(drawn(&view(true), 120, 40), @r#"
    "tasks.md: 8 of 15 boxes ticked, 12 iterations, attempting                                                               "
    "now: task 2 agent, iteration 12, after 1 rejected, for 7 s                                                              "
    "next: task 2: Discounts by quantity, rounded half up, never below zero                                                  "
    "gates: PITEST: 1 PASS, 1 FAIL                                                                                           "
    "time: runs 20 min 7 s, agents 0 s, gates 0 s; cost: not reported                                                        "
    " tasks 1-7 of 7 ────────────────────────────────────────────────────────────────────────────────────────────────────────"
    "TASK   TEXT                                                    TEST-FIRST  IMPLEMENT    REQ-CHECK  PITEST  PRE-CR  FINAL"
    "1      Sum the lines of an order                               done        done         PASS       PASS    PASS         "
    "2      Discounts by quantity, rounded half up, never below z…  done        running      open       FAIL    open         "
    "3      数字を数える                                                        person                                       " Hidden by multi-width symbols: [(8, " "), (10, " "), (12, " "), (14, " "), (16, " "), (18, " ")]
    "4      Write the manual                                                    commit only                                  "
    "5      Somebody's                                                          [-]                                          "
    "6      Nice to have                                                        optional                                     "
    "FINAL  Validate                                                                                                    open "
    " why task 2 ────────────────────────────────────────────────────────────────────────────────────────────────────────────"
    "task 2 is open:                                                                                                         "
    "  - The mutation score of class a.B is 50% (1/2).                                                                       "
    "  - survivor B.java:7                                                                                                   "
    " log of iteration 12: agent.out ────────────────────────────────────────────────────────────────────────────────────────"
    "line 21 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 22 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 23 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 24 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 25 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 26 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 27 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 28 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 29 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 30 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 31 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 32 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 33 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 34 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 35 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 36 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 37 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 38 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 39 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "line 40 of the agent, 数字                                                                                              " Hidden by multi-width symbols: [(23, " "), (25, " ")]
    "q quit · j/k or arrows scroll · g/G first/last · f follow what runs                                                     "
    "#);
}

#[test]
fn a_tiny_frame_keeps_what_runs_and_its_row() {
    insta::assert_snapshot!(drawn(&view(true), 20, 5), @r#"
    "tasks.md: 8 of 15 b…"
    "now: task 2 agent,… "
    "TASK   TEST  IMPL  …"
    "1      done  done   "
    "2      done  run    "
    "#);
}

#[test]
fn without_a_run_the_frame_says_so() {
    let mut view = view(false);
    view.trouble = Some("journal.jsonl:3: the journal was changed by another hand.".into());
    let text = drawn(&view, 80, 24);
    assert!(text.contains("no run is active"), "{text}");
    assert!(text.contains("trouble: journal.jsonl:3"), "{text}");
    assert!(!text.contains("running"), "{text}");
}

#[test]
fn no_size_makes_it_panic_and_the_marked_row_is_always_there() {
    let mut view = view(true);
    for columns in [1, 2, 5, 14, 20, 33, 79, 80, 120] {
        for rows in (1..30).chain([45]) {
            view.take_action(KeyAction::Follow);
            let text = drawn(&view, columns, rows);
            if rows >= 4 && columns >= 14 {
                assert!(text.contains("\"2 "), "{columns}×{rows}:\n{text}");
            }
            view.take_action(KeyAction::End(true));
            drawn(&view, columns, rows);
        }
    }
}

#[test]
fn keys_move_the_mark_within_the_table_and_f_follows_again() {
    let mut view = view(true);
    assert_eq!(view.marked_row(), 1, "what runs");
    view.take_action(KeyAction::Move(1));
    assert_eq!(view.marked_row(), 2);
    view.take_action(KeyAction::Move(-10));
    assert_eq!(view.marked_row(), 0);
    view.take_action(KeyAction::Move(100));
    assert_eq!(view.marked_row(), view.board.families.len() - 1);
    view.take_action(KeyAction::End(false));
    assert_eq!(view.marked_row(), 0);
    view.take_action(KeyAction::Follow);
    assert_eq!(view.marked_row(), 1);
    view.board.families.clear();
    view.take_action(KeyAction::Move(1));
    assert_eq!(view.marked_row(), 0);
    drawn(&view, 80, 24);
}

#[test]
fn without_colours_nothing_is_coloured() {
    let mut view = view(true);
    view.color = false;
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    terminal.draw(|frame| draw_view(&view, frame)).unwrap();
    let cells = terminal.backend().buffer().content();
    assert!(
        cells
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
    view.color = true;
    terminal.draw(|frame| draw_view(&view, frame)).unwrap();
    assert!(
        terminal
            .backend()
            .buffer()
            .content()
            .iter()
            .any(|cell| cell.fg == Color::Green)
    );
}

#[test]
fn each_key_has_its_meaning_and_others_have_none() {
    let none = KeyModifiers::NONE;
    let control = KeyModifiers::CONTROL;
    for (code, modifiers, expected) in [
        (KeyCode::Char('q'), none, Some(KeyAction::Quit)),
        (KeyCode::Esc, none, Some(KeyAction::Quit)),
        (KeyCode::Char('c'), control, Some(KeyAction::Quit)),
        (KeyCode::Char('c'), none, None),
        (KeyCode::Char('q'), control, None),
        (KeyCode::Char('l'), control, Some(KeyAction::Redraw)),
        (KeyCode::Char('j'), none, Some(KeyAction::Move(1))),
        (KeyCode::Down, none, Some(KeyAction::Move(1))),
        (KeyCode::Char('k'), none, Some(KeyAction::Move(-1))),
        (KeyCode::Up, none, Some(KeyAction::Move(-1))),
        (KeyCode::PageDown, none, Some(KeyAction::Move(10))),
        (KeyCode::PageUp, none, Some(KeyAction::Move(-10))),
        (KeyCode::Home, none, Some(KeyAction::End(false))),
        (
            KeyCode::Char('G'),
            KeyModifiers::SHIFT,
            Some(KeyAction::End(true)),
        ),
        (KeyCode::Char('f'), none, Some(KeyAction::Follow)),
        (KeyCode::Enter, none, None),
        (KeyCode::Char('x'), none, None),
    ] {
        assert_eq!(
            read_action(&Event::Key(KeyEvent::new(code, modifiers))),
            expected,
            "{code:?} {modifiers:?}"
        );
    }
    assert_eq!(read_action(&Event::Resize(1, 1)), Some(KeyAction::Redraw));
    assert_eq!(read_action(&Event::FocusGained), None);
    let released = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
    assert_eq!(read_action(&Event::Key(released)), None);
}

#[test]
fn a_tall_frame_has_a_row_for_each_lane() {
    let mut view = view(true);
    view.lanes = (1..=9)
        .map(|n| format!("lane {n}: task {n} runs, iteration 4"))
        .collect();
    let tall = drawn(&view, 80, 40);
    assert!(
        tall.contains("lane 6: task 6 runs, iteration 4") && !tall.contains("lane 7"),
        "{tall}"
    );
    assert!(!drawn(&view, 80, 16).contains("lane 1"));
}
