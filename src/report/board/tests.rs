//! Status of each box, and the board as text in different widths.

use super::*;
use crate::machine::effect::GateOrder;
use crate::machine::event::{Event, Mode};
use crate::machine::facts::{Accumulated, Snapshot};
use crate::machine::policy::Policy;
use crate::machine::state::{OutOfQuota, RestCause};
use crate::machine::stop::StopReason;
use crate::mutation::{ExcludedFile, GateReport, Verdict};
use crate::report::table::{self, Grid};
use crate::report::width::text_width;
use crate::task::{Grammar, Mark, TaskFile};

const TASKS: &str = "\
# Orders
- [x] 1.TEST-FIRST Tests for sums
- [x] 1. Sum the lines of an order
- [x] 1.REQ-CHECK Look
- [x] 1.PITEST Mutate
- [x] 1.PRE-CR Look again
- [x] 2.TEST-FIRST Tests for discounts
- [ ] 2. Discounts by quantity, rounded half up, never below zero
- [ ] 2.REQ-CHECK Look
- [ ] 2.PITEST Mutate
- [ ] 2.PRE-CR Look again
- [x] 3. 数字を数える
- [x] 4. Write the manual
- [-] 5. Somebody's
- [ ]* 6. Nice to have
- [ ] FINAL Validate
";

/// A state with this task file.
pub(crate) fn state(tasks: &str) -> State {
    let grammar = Grammar::new(vec!["PITEST".into(), "LINT".into()], None);
    let rows = TaskFile::parse(tasks, &grammar).box_rows();
    let spec = "tasks.md".to_owned();
    let specs = BTreeMap::from([(
        spec.clone(),
        SpecState {
            rows: rows.into(),
            ..SpecState::default()
        },
    )]);
    State {
        spec,
        specs,
        ..State::default()
    }
}

pub(crate) fn key(family: &str, stage: &str) -> TaskKey {
    TaskKey {
        family: family.into(),
        stage: Stage::from(stage.to_owned()),
    }
}

fn change(state: &mut State, family: &str, act: impl FnOnce(&mut crate::machine::state::Family)) {
    let book = state.specs.get_mut("tasks.md").unwrap();
    act(book.families.entry(family.into()).or_default());
}

fn note(state: &mut State, family: &str, stage: &str, act: impl FnOnce(&mut StageState)) {
    change(state, family, |known| {
        act(known
            .stages
            .entry(Stage::from(stage.to_owned()))
            .or_default());
    });
}

fn ticked(by: TickedBy, verdict: Option<&'static str>) -> impl FnOnce(&mut StageState) {
    move |known| (known.ticked_by, known.verdict) = (Some(by), verdict)
}

/// A loop in the middle of its work: 2. is on rework, an agent works on it.
pub(crate) fn working() -> (State, Spent) {
    let mut state = state(TASKS);
    state.iteration = 12;
    for (stage, verdict) in [
        ("TEST-FIRST", None),
        ("IMPLEMENT", None),
        ("REQ-CHECK", Some("PASS")),
        ("PITEST", Some("PASS")),
        ("PRE-CR", Some("PASS")),
    ] {
        note(&mut state, "1", stage, ticked(TickedBy::Ralph, verdict));
    }
    note(&mut state, "2", "TEST-FIRST", ticked(TickedBy::Ralph, None));
    note(&mut state, "2", "IMPLEMENT", |known| {
        known.attempts = 1;
        known.reasons = vec![
            "The mutation score of class a.B is 50% (1/2).".into(),
            "survivor B.java:7".into(),
        ];
    });
    note(&mut state, "2", "PITEST", |known| {
        known.verdict = Some("FAIL");
    });
    change(&mut state, "2", |known| {
        (known.reworks, known.opened_by) = (1, Some(key("2", "PITEST")));
    });
    note(&mut state, "3", "IMPLEMENT", ticked(TickedBy::Person, None));
    note(&mut state, "4", "IMPLEMENT", ticked(TickedBy::Ralph, None));
    let mut spent = Spent::default();
    let start = Event::RunStarted {
        spec: "tasks.md".into(),
        policy: Policy::default(),
        mode: Mode::Loop,
        retry: Vec::new(),
        version: String::new(),
    };
    spent.note_record("2026-11-22T10:00:00Z", &start, &state);
    state.phase = Phase::Attempting {
        key: key("2", "IMPLEMENT"),
        before: Snapshot::default(),
        process: Some((1, 1)),
    };
    let spawned = Event::AgentSpawned {
        pid: 1,
        started: 1,
        agent: String::new(),
    };
    spent.note_record("2026-11-22T10:20:00Z", &spawned, &state);
    (state, spent)
}

/// 2026-11-22T10:20:07Z.
pub(crate) const NOW: i64 = 1_795_342_807;

pub(crate) fn board(state: &State, spent: &Spent, held: bool) -> Board {
    let holder = held.then(|| "process 7 (start time 8) since 2026-11-22T10:00:00Z".to_owned());
    Board::new(
        state,
        spent,
        Beside {
            holder,
            now: NOW,
            ..Beside::default()
        },
    )
}

#[test]
fn who_is_out_of_quota_and_who_stands_in_is_told_while_it_is_so() {
    let (mut state, _) = working();
    let out = |until: i64| OutOfQuota {
        until: until.unsigned_abs(),
        exact: true,
        times: 1,
        cause: RestCause::Own,
    };
    state.run.out_of_quota = [
        ("a".to_owned(), out(NOW + 3600)),
        ("b".to_owned(), out(NOW)),
    ]
    .into();
    state.run.agent = "c".to_owned();
    state.policy.agents = [(Stage::Implementation, vec!["a".to_owned(), "c".to_owned()])].into();
    let mut spent = Spent::default();
    spent.note_record(
        "2026-11-22T10:20:00Z",
        &Event::AgentSpawned {
            pid: 1,
            started: 1,
            agent: "c".into(),
        },
        &state,
    );
    insta::assert_snapshot!(table::status_lines(&board(&state, &spent, true), 100)[1..3].join("\n"), @"
    now: task 2 agent (c), iteration 12, after 1 rejected
    The agent a is out of quota or reach until 2026-11-22 11:20 UTC.
    ");
    assert_eq!(
        board(&state, &spent, false).out_of_quota,
        [""; 0],
        "the next run asks it"
    );
    state.phase = Phase::Waiting {
        seconds: 9,
        exact: true,
        why: "Every agent is out.".to_owned(),
    };
    assert_eq!(
        board(&state, &spent, true).out_of_quota,
        [""; 0],
        "the wait says it"
    );
}

#[test]
fn a_working_loop_in_a_terminal_of_the_usual_width() {
    let (state, spent) = working();
    let board = board(&state, &spent, true);
    insta::assert_snapshot!(table::status_lines(&board, 100).join("\n"), @r#"
    tasks.md: 8 of 15 boxes ticked, 12 iterations, attempting
    now: task 2 agent, iteration 12, after 1 rejected

    TASK   TEXT                                TEST-FIRST  IMPLEMENT    REQ-CHECK  PITEST  PRE-CR  FINAL
    1      Sum the lines of an order           done        done         PASS       PASS    PASS
    2      Discounts by quantity, rounded ha…  done        running      open       FAIL    open
    3      数字を数える                                    person
    4      Write the manual                                commit only
    5      Somebody's                                      [-]
    6      Nice to have                                    optional
    FINAL  Validate                                                                                open

    task 2 is open:
      - The mutation score of class a.B is 50% (1/2).
      - survivor B.java:7
    next: task 2: Discounts by quantity, rounded half up, never below zero
    gate PITEST: 1 PASS, 1 FAIL
    time: runs 20 min 7 s, agents 0 s, gates 0 s; cost: not reported
    run: active (process 7 (start time 8) since 2026-11-22T10:00:00Z)
    "#);
    insta::assert_snapshot!(table::status_lines(&board, 60).join("\n"), @r#"
    tasks.md: 8 of 15 boxes ticked, 12 iterations, attempting
    now: task 2 agent, iteration 12, after 1 rejected

    TASK   TEXT             TEST  IMPL  REQ   PITEST  CR    FIN
    1      Sum the lines…   done  done  PASS  PASS    PASS
    2      Discounts by q…  done  run   open  FAIL    open
    3      数字を数える           pers
    4      Write the manu…        cmt
    5      Somebody's             [-]
    6      Nice to have           opt
    FINAL  Validate                                         open

    task 2 is open:
      - The mutation score of class a.B is 50% (1/2).
      - survivor B.java:7
    next: task 2: Discounts by quantity, rounded half up, never below zero
    gate PITEST: 1 PASS, 1 FAIL
    time: runs 20 min 7 s, agents 0 s, gates 0 s; cost: not reported
    run: active (process 7 (start time 8) since 2026-11-22T10:00:00Z)
    "#);
    insta::assert_snapshot!(table::status_lines(&board, 20).join("\n"), @r#"
    tasks.md: 8 of 15 boxes ticked, 12 iterations, attempting
    now: task 2 agent, iteration 12, after 1 rejected

    TASK   TEST  IMPL  …
    1      done  done
    2      done  run
    3            pers
    4            cmt
    5            [-]
    6            opt
    FINAL

    task 2 is open:
      - The mutation score of class a.B is 50% (1/2).
      - survivor B.java:7
    next: task 2: Discounts by quantity, rounded half up, never below zero
    gate PITEST: 1 PASS, 1 FAIL
    time: runs 20 min 7 s, agents 0 s, gates 0 s; cost: not reported
    run: active (process 7 (start time 8) since 2026-11-22T10:00:00Z)
    "#);
}

#[test]
fn where_nobody_holds_the_lock_nothing_runs() {
    let (state, spent) = working();
    let board = board(&state, &spent, false);
    assert_eq!(board.current, None);
    let lines = table::status_lines(&board, 100);
    assert!(
        lines.contains(&"run: none is active".to_owned()),
        "{lines:#?}"
    );
    assert!(
        !lines
            .iter()
            .any(|line| line.contains("now:") || line.contains("running")),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("time: runs 20 min,")),
        "until the last record: {lines:#?}"
    );
}

#[test]
fn no_line_of_the_table_is_wider_than_asked() {
    let (state, spent) = working();
    let board = board(&state, &spent, true);
    for columns in 0..200 {
        let grid = Grid::fit_columns(&board, columns);
        let lines = table::status_lines(&board, columns);
        let table = lines
            .iter()
            .skip_while(|line| !line.is_empty())
            .skip(1)
            .take(board.families.len() + 1);
        for line in table {
            assert!(text_width(line) <= columns, "{columns}: {line}");
        }
        for row in &grid.rows {
            for (cell, room) in row.iter().zip(&grid.widths) {
                assert!(text_width(&cell.text) <= *room, "{columns}: {cell:?}");
            }
        }
    }
}

/// Status of the only box of a file.
fn status(tasks: &str, act: impl FnOnce(&mut State)) -> BoxStatus {
    let mut state = state(tasks);
    act(&mut state);
    let board = board(&state, &Spent::default(), true);
    let line = board.families.last().unwrap();
    line.cells.values().last().unwrap().status
}

#[test]
fn what_a_box_is_said_to_be() {
    let work =
        |act: fn(&mut StageState)| move |state: &mut State| note(state, "1", "IMPLEMENT", act);
    let gate = |act: fn(&mut StageState)| move |state: &mut State| note(state, "1", "PITEST", act);
    let open = "- [ ] 1. A\n";
    assert_eq!(status(open, |_| ()), BoxStatus::Open);
    assert_eq!(status("- [ ]* 1. A\n", |_| ()), BoxStatus::Optional);
    assert_eq!(status("- [-] 1. A\n", |_| ()), BoxStatus::Marked('-'));
    assert_eq!(status("- [x] 1. A\n", |_| ()), BoxStatus::Unrecorded);
    assert_eq!(
        status(open, work(|known| known.attempts = 2)),
        BoxStatus::Rejected(2)
    );
    let by_ralph = |known: &mut StageState| known.ticked_by = Some(TickedBy::Ralph);
    assert_eq!(
        status("- [x] 1. A\n", work(by_ralph)),
        BoxStatus::CommitOnly
    );
    let by_person = |known: &mut StageState| known.ticked_by = Some(TickedBy::Person);
    assert_eq!(status("- [x] 1. A\n", work(by_person)), BoxStatus::ByPerson);
    let green =
        |known: &mut StageState| (known.ticked_by, known.green) = (Some(TickedBy::Ralph), true);
    assert_eq!(status("- [x] 1. A\n", work(green)), BoxStatus::Done);
    let rework = |state: &mut State| {
        change(state, "1", |known| {
            (known.reworks, known.opened_by) = (3, Some(key("1", "PITEST")));
        });
    };
    assert_eq!(status(open, rework), BoxStatus::Rework(3));
    let blocked =
        |state: &mut State| change(state, "1", |known| known.blocked = Some("why".into()));
    assert_eq!(status(open, blocked), BoxStatus::Blocked);

    let gates = "- [x] 1. A\n- [ ] 1.PITEST G\n";
    assert_eq!(status(gates, |_| ()), BoxStatus::Open);
    assert_eq!(
        status(gates, gate(|known| known.verdict = Some("FAIL"))),
        BoxStatus::Failed("FAIL")
    );
    assert_eq!(
        status(gates, gate(|known| known.verdict = Some("ERROR"))),
        BoxStatus::Failed("ERROR")
    );
    assert_eq!(
        status(gates, gate(|known| known.verdict = Some("PASS"))),
        BoxStatus::Open,
        "opened since"
    );
    assert_eq!(status(gates, blocked), BoxStatus::Open, "the work says it");
    let gates = gates.replace("[ ]", "[x]");
    let ralph = |verdict| {
        move |state: &mut State| note(state, "1", "PITEST", ticked(TickedBy::Ralph, Some(verdict)))
    };
    assert_eq!(status(&gates, ralph("SKIP")), BoxStatus::Passed("SKIP"));
    let person =
        |state: &mut State| note(state, "1", "PITEST", ticked(TickedBy::Person, Some("FAIL")));
    assert_eq!(status(&gates, person), BoxStatus::ByPerson);
    let unknown = gate(|known| known.verdict = Some("FAIL"));
    assert_eq!(
        status(&gates, unknown),
        BoxStatus::Unrecorded,
        "ticked in the file, not in the journal"
    );
}

#[test]
fn words_and_short_words_stay_within_their_columns() {
    for status in [
        BoxStatus::Running,
        BoxStatus::CommitOnly,
        BoxStatus::ByPerson,
        BoxStatus::Passed("PASS"),
        BoxStatus::Done,
        BoxStatus::Unrecorded,
        BoxStatus::Blocked,
        BoxStatus::Marked('~'),
        BoxStatus::Rejected(u32::MAX),
        BoxStatus::Failed("ERROR"),
        BoxStatus::Rework(u32::MAX),
        BoxStatus::Optional,
        BoxStatus::Open,
    ] {
        assert!(
            text_width(&status.status_words()) <= 12 && text_width(&status.short_words()) <= 5,
            "{status:?}"
        );
    }
    assert_eq!(BoxStatus::of_mark(Mark('\u{1b}')), BoxStatus::Marked('?'));
    assert_eq!(BoxStatus::of_mark(Mark('数')), BoxStatus::Marked('?'));
}

#[test]
fn gates_are_counted_by_what_they_say() {
    let mut state = state(
        "- [x] 1. A\n- [x] 1.LINT L\n- [x] 1.PITEST G\n- [ ] 2. B\n- [x] 2.PITEST G\n- [ ] 3. C\n- [ ] 3.PITEST G\n- [ ] 4.D\n- [ ] END.PITEST G\n",
    );
    note(
        &mut state,
        "1",
        "LINT",
        ticked(TickedBy::Ralph, Some("PASS")),
    );
    note(
        &mut state,
        "1",
        "PITEST",
        ticked(TickedBy::Ralph, Some("PASS")),
    );
    note(
        &mut state,
        "2",
        "PITEST",
        ticked(TickedBy::Ralph, Some("SKIP")),
    );
    note(&mut state, "3", "PITEST", |known| {
        known.verdict = Some("FAIL");
    });
    let board = board(&state, &Spent::default(), false);
    let said: Vec<String> = board
        .gates
        .iter()
        .map(|gate| format!("{}: {}", gate.name, table::gate_counts_text(gate)))
        .collect();
    assert_eq!(
        said,
        ["LINT: 1 PASS", "PITEST: 1 PASS, 1 SKIP, 1 FAIL, 1 open"]
    );
}

#[test]
fn columns_stand_in_the_order_of_a_familys_way() {
    let board = |tasks: &str| {
        let board = board(&state(tasks), &Spent::default(), false);
        board
            .stages
            .iter()
            .map(|stage| stage.stage_word().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        board(
            "- [ ] FINAL F\n- [ ] 1.PRE-CR C\n- [ ] 1.PITEST P\n- [ ] 1.REQ-CHECK R\n- [ ] 2. B\n- [ ] 2.LINT L\n- [ ] 3.INTEG I\n- [ ] 1. A\n- [ ] 2.TEST-FIRST T\n"
        ),
        [
            "TEST-FIRST",
            "IMPLEMENT",
            "REQ-CHECK",
            "PITEST",
            "LINT",
            "PRE-CR",
            "INTEG",
            "FINAL"
        ]
    );
}

#[test]
fn what_was_used_is_said_with_who_reported_it_and_nothing_is_not_zero() {
    let mut state = state("- [x] 1. A\n- [x] 2. B\n");
    let spent = Spent::default();
    let last = |state: &State| table::end_summary(&board(state, &spent, true));
    assert!(
        last(&state)[0].ends_with("cost: not reported"),
        "{:?}",
        last(&state)
    );
    change(&mut state, "2", |known| {
        known.used = Used {
            tokens: 1,
            micros: 310_001,
            priced: 2,
        }
    });
    change(&mut state, "1", |known| {
        known.used = Used {
            tokens: 900,
            micros: 0,
            priced: 0,
        }
    });
    let lines = last(&state);
    assert!(
        lines[0].ends_with("cost: $0.32 as 2 of 0 attempts reported"),
        "{lines:?}"
    );
    assert_eq!(
        lines[1..4],
        [
            "0 attempts, 0 reworks",
            "  task 2: $0.32, 1 token",
            "  task 1: 900 tokens"
        ]
    );
}

#[test]
fn what_stands_for_less_is_listed_with_what_a_gate_passed_without_judging_it() {
    let mut state = state("- [x] 1. A\n- [x] 1.PITEST G\n- [x] 2. B\n- [x] 2.PITEST G\n");
    let mut spent = Spent::default();
    for (family, file) in [("1", "app/src/main/Left.java"), ("2", "")] {
        note(
            &mut state,
            family,
            "IMPLEMENT",
            ticked(TickedBy::Ralph, None),
        );
        note(
            &mut state,
            family,
            "PITEST",
            ticked(TickedBy::Ralph, Some("PASS")),
        );
        let (why, key) = (
            "no test class belongs to it".to_owned(),
            key(family, "PITEST"),
        );
        let left_out = [ExcludedFile {
            file: file.to_owned(),
            why,
        }]
        .into_iter()
        .filter(|left| !left.file.is_empty());
        let report = GateReport {
            left_out: left_out.collect(),
            ..GateReport::from(Verdict::Pass)
        };
        let order = GateOrder {
            key,
            ..GateOrder::alone("PITEST", Snapshot::default(), Accumulated::default())
        };
        state.phase = Phase::Judging {
            order: Box::new(order),
        };
        spent.note_record("2026-11-22T10:20:00Z", &Event::Resumed, &state);
        state.phase = Phase::Idle;
        let ended = Event::GateEnded {
            report: Box::new(report),
            heads: BTreeMap::new(),
            changes: Vec::new(),
            left: String::new(),
            tasks_changed: false,
            trespass: crate::machine::event::Trespass::default(),
        };
        spent.note_record("2026-11-22T10:21:00Z", &ended, &state);
    }
    assert_eq!(
        table::end_summary(&board(&state, &spent, true))
            .last()
            .unwrap(),
        "weakly verified: 1.PITEST (not judged: app/src/main/Left.java)"
    );
}

#[test]
fn hostile_texts_are_one_bounded_line() {
    let mut state = state("- [ ] 1. A\u{202e} b\n- [ ] Plain \u{9b}31m text\n");
    note(&mut state, "1", "IMPLEMENT", |known| {
        known.reasons = (0..100)
            .map(|n| format!("{n}\u{1b}[31m\nred {}", "x".repeat(5_000)))
            .collect();
    });
    change(&mut state, "1", |known| {
        known.blocked = Some("a\r\nb\u{7}".into());
    });
    state.phase = Phase::Stopped(StopReason::Blocked {
        reasons: vec!["\u{1b}]0;t\u{7}".into()],
    });
    let lines = table::status_lines(&board(&state, &Spent::default(), true), 80);
    assert!(
        lines
            .iter()
            .all(|line| !line.contains(|c: char| c.is_control())),
        "{lines:#?}"
    );
    assert!(
        lines.len() < 60 && lines.iter().all(|line| line.chars().count() < 1_200),
        "{}",
        lines.len()
    );
    assert!(
        lines.contains(&"  - … and 75 more".to_owned()),
        "{lines:#?}"
    );
}
