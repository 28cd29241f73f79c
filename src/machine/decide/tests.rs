//! Every row of the evidence table, enumerated, against an oracle that is a list of rules.

use super::*;
use crate::machine::facts::{Dirt, FileChange, Observation, Oid, PackageChange, Snapshot};
use crate::source::RepoPath;
use crate::task::BoxClaim;

/// One situation in plain flags; the evidence is built from it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, enumerated"
)]
struct Case {
    stage: usize,
    end: usize,
    claim: usize,
    committed: usize,
    left: bool,
    lost_production: bool,
    lost_frozen: bool,
    breach: bool,
    owed: bool,
    check: usize,
    context: Context,
    report: bool,
    boxes: usize,
}

const STAGES: [Stage; 6] = [
    Stage::TestFirst,
    Stage::Implementation,
    Stage::Integ,
    Stage::ReqCheck,
    Stage::PreCr,
    Stage::Final,
];
const TEST_FIRST: usize = 0;
const WORK: usize = 1;
const INTEG: usize = 2;

impl Case {
    fn is_work(&self) -> bool {
        self.stage == WORK || self.stage == INTEG
    }
    fn is_review(&self) -> bool {
        self.stage == 3 || self.stage == 4
    }
    fn is_final(&self) -> bool {
        self.stage == 5
    }
    fn says_nothing_to_do(&self) -> bool {
        self.claim == 3 && self.committed == 0 && !self.left
    }
    fn touched(&self) -> bool {
        self.committed > 0 || self.left
    }
    fn green(&self, passes: bool) -> bool {
        if passes {
            self.check == 1
        } else {
            matches!(self.check, 2 | 5)
        }
    }
}

type Rule = (&'static str, fn(&Case) -> bool, &'static str);

/// First match wins. As in docs/design.md "Evidence" and docs/design.md "Nothing to commit".
const RULES: &[Rule] = &[
    (
        "ralph's own end is not counted",
        |c| c.end == 3,
        "uncounted",
    ),
    (
        "a limit, an outage, a missing login are neither progress nor failure",
        |c| matches!(c.end, 4..=6),
        "uncounted",
    ),
    ("rewritten history is rejected", |c| c.breach, "retry"),
    ("the agent must have exited 0", |c| c.end != 0, "retry"),
    (
        "the agent says that it cannot continue",
        |c| c.claim == 5,
        "blocked",
    ),
    (
        "a reviewer or validator that changed something",
        |c| (c.is_review() || c.is_final()) && c.touched(),
        "retry",
    ),
    (
        "a reviewer says PASS",
        |c| c.is_review() && c.claim == 1,
        "accept",
    ),
    (
        "a reviewer says FAIL",
        |c| c.is_review() && c.claim == 2,
        "rework",
    ),
    (
        "NOTHING-TO-DO is no verdict",
        |c| c.is_review() && c.claim == 3,
        "retry",
    ),
    (
        "an unclear verdict does not count, for any boxes",
        |c| c.is_review() && c.claim == 4,
        "retry",
    ),
    (
        "an older prompt: implementation opened",
        |c| c.is_review() && c.boxes == 2,
        "rework",
    ),
    (
        "an older prompt: own box ticked",
        |c| c.is_review() && c.boxes == 1,
        "accept",
    ),
    ("a reviewer without verdict", Case::is_review, "retry"),
    (
        "FINAL without a report",
        |c| c.is_final() && !c.report,
        "retry",
    ),
    ("FINAL with a report", Case::is_final, "report"),
    (
        "TEST-FIRST has nothing to do and a gate follows",
        |c| c.stage == TEST_FIRST && c.says_nothing_to_do() && c.context.gate_follows,
        "accept",
    ),
    (
        "TEST-FIRST has nothing to do",
        |c| c.stage == TEST_FIRST && c.says_nothing_to_do(),
        "blocked",
    ),
    (
        "TEST-FIRST without a test file",
        |c| c.stage == TEST_FIRST && c.committed != 1,
        "retry",
    ),
    (
        "TEST-FIRST left fewer enabled tests",
        |c| c.stage == TEST_FIRST && c.owed,
        "retry",
    ),
    (
        "TEST-FIRST changed production lines",
        |c| c.stage == TEST_FIRST && c.lost_production,
        "retry",
    ),
    (
        "TEST-FIRST: checks.red runs",
        |c| c.stage == TEST_FIRST && c.check == 0 && c.context.ask_red,
        "check-red",
    ),
    (
        "TEST-FIRST: red is not red",
        |c| c.stage == TEST_FIRST && c.check == 4,
        "retry",
    ),
    ("TEST-FIRST is done", |c| c.stage == TEST_FIRST, "accept"),
    (
        "nothing to do in INTEG",
        |c| c.stage == INTEG && c.says_nothing_to_do(),
        "blocked",
    ),
    (
        "nothing to do, no checkpoint",
        |c| c.says_nothing_to_do() && !c.context.checkpoint,
        "blocked",
    ),
    (
        "a checkpoint without checks.green",
        |c| c.says_nothing_to_do() && !c.context.ask_green,
        "blocked",
    ),
    (
        "a green checkpoint",
        |c| c.says_nothing_to_do() && c.green(true),
        "accept",
    ),
    (
        "a red checkpoint",
        |c| c.says_nothing_to_do() && c.green(false),
        "blocked",
    ),
    (
        "a checkpoint asks everywhere",
        Case::says_nothing_to_do,
        "check-green-everywhere",
    ),
    ("work without a commit", |c| c.committed == 0, "retry"),
    ("work left uncommitted", |c| c.left, "retry"),
    ("fewer enabled tests", |c| c.owed, "retry"),
    (
        "frozen lines are gone",
        |c| c.lost_frozen && c.context.frozen,
        "retry-frozen",
    ),
    (
        "work: checks.green runs",
        |c| c.check == 0 && c.context.ask_green,
        "check-green",
    ),
    ("work: green is not green", |c| c.green(false), "retry"),
    ("work is done", Case::is_work, "accept"),
];

fn oracle(case: &Case) -> (usize, &'static str) {
    RULES
        .iter()
        .enumerate()
        .find(|(_, (_, applies, _))| applies(case))
        .map(|(at, (_, _, outcome))| (at, *outcome))
        .expect("the rules are total")
}

fn told(decision: &Decision) -> &'static str {
    match decision {
        Decision::Accept => "accept",
        Decision::Rework(_) => "rework",
        Decision::Retry {
            frozen_only: true, ..
        } => "retry-frozen",
        Decision::Retry { .. } => "retry",
        Decision::NeedsCheck {
            check: Check::Red, ..
        } => "check-red",
        Decision::NeedsCheck {
            check: Check::Green,
            everywhere: true,
        } => "check-green-everywhere",
        Decision::NeedsCheck {
            check: Check::Green,
            everywhere: false,
        } => "check-green",
        Decision::Blocked(_) => "blocked",
        Decision::Uncounted => "uncounted",
        Decision::Report(_) => "report",
    }
}

fn end(number: usize) -> ProcessEnd {
    match number {
        0 => ProcessEnd::Exited { code: 0 },
        1 => ProcessEnd::Exited { code: 1 },
        2 => ProcessEnd::TimedOut { seconds: 60 },
        3 => ProcessEnd::Interrupted,
        4 => ProcessEnd::Limited {
            why: "limit".into(),
            reset: None,
        },
        5 => ProcessEnd::Outage {
            why: "no network".into(),
        },
        6 => ProcessEnd::NotSetUp {
            why: "no login".into(),
            hint: "log in".into(),
        },
        _ => ProcessEnd::Refused {
            why: "policy".into(),
        },
    }
}

fn lost() -> LostLines {
    LostLines {
        package: "p".into(),
        path: RepoPath::from_bytes(b"src/x.java"),
        count: 1,
        first: "a();".into(),
    }
}

fn observation(case: &Case) -> Observation {
    let kind = if case.committed == 1 {
        Kind::Test
    } else {
        Kind::Production
    };
    let changes: Vec<FileChange> = (case.committed > 0)
        .then(|| FileChange {
            package: "p".into(),
            path: RepoPath::from_bytes(b"src/x.java"),
            status: FileStatus::Modified,
            kind,
            old: Some(Oid::zero()),
            new: Some(Oid("1".repeat(40))),
        })
        .into_iter()
        .collect();
    let dirt = case.left.then(|| Dirt {
        path: RepoPath::from_bytes(b"src/y.java"),
        blob: None,
        untracked: false,
    });
    let package = PackageChange {
        name: "p".into(),
        rewritten: case.breach,
        changes: changes.clone(),
        dirt: dirt.into_iter().collect(),
        ..PackageChange::default()
    };
    Observation {
        packages: vec![package],
        family: changes.clone(),
        stage: changes,
        lost_production: case.lost_production.then(lost).into_iter().collect(),
        lost_frozen: case.lost_frozen.then(lost).into_iter().collect(),
        ..Observation::default()
    }
}

fn decided(case: &Case) -> Decision {
    let key = TaskKey {
        family: "2".into(),
        stage: STAGES[case.stage].clone(),
    };
    let work = TaskKey {
        family: "2".into(),
        stage: Stage::Implementation,
    };
    let claim = match case.claim {
        0 => None,
        1 => Some(Claim::Pass),
        2 => Some(Claim::Fail {
            why: "no test".into(),
        }),
        3 => Some(Claim::NothingToDo {
            why: "done before".into(),
        }),
        4 => Some(Claim::Unclear {
            why: "it printed none".into(),
        }),
        _ => Some(Claim::Blocked {
            why: "R2 and R3\ncontradict each other".into(),
        }),
    };
    let (open, done) = (crate::task::Mark::OPEN, crate::task::Mark::DONE);
    let claims = match case.boxes {
        0 => vec![],
        1 => vec![BoxClaim {
            key: key.clone(),
            from: open,
            to: done,
        }],
        2 => vec![BoxClaim {
            key: work,
            from: done,
            to: open,
        }],
        _ => vec![
            BoxClaim {
                key: key.clone(),
                from: open,
                to: done,
            },
            BoxClaim {
                key: TaskKey {
                    family: "3".into(),
                    ..work
                },
                from: open,
                to: done,
            },
        ],
    };
    let result = CheckResult {
        package: "p".into(),
        end: ProcessEnd::Exited {
            code: i32::from(matches!(case.check, 2 | 3)),
        },
        tail: String::new(),
        beside: Vec::new(),
        tests: (case.check == 5).then_some(ReportedTests::Passed(12)),
    };
    let check = match case.check {
        0 => None,
        1 | 2 | 5 => Some((Check::Green, vec![result])),
        _ => Some((Check::Red, vec![result])),
    };
    let left = if case.left {
        vec!["p/src/y.java".to_owned()]
    } else {
        vec![]
    };
    decide(&Evidence {
        attempt: &Attempt {
            key,
            before: Snapshot::default(),
            end: end(case.end),
            claim,
            last_words: String::new(),
            only_talked: false,
        },
        seen: &Findings {
            observation: observation(case),
            claims,
            validation: case.report.then(Validation::default),
            check,
            ..Findings::default()
        },
        left: &left,
        passed_before: &BTreeMap::from([("p".to_owned(), 14)])
            .into_iter()
            .filter(|_| case.check == 5)
            .collect(),
        reported: &BTreeSet::new(),
        context: case.context,
    })
}

fn bit(number: usize, at: usize) -> bool {
    number >> at & 1 == 1
}

/// Decides every `step`-th combination of evidence.
fn decide_combinations(step: usize) {
    let mut number = 0_usize;
    let mut hits = vec![0u32; RULES.len()];
    for stage in 0..STAGES.len() {
        for (end, claim, committed) in (0..90).map(|n| (n % 5, n / 5 % 6, n / 30)) {
            for flags in 0..32 {
                for (check, boxes) in (0..20).map(|n| (n % 5, n / 5)) {
                    if !matches!(stage, 3 | 4) && boxes > 0 || stage > 2 && check > 0 {
                        continue;
                    }
                    for rules in 0..32 {
                        if stage > 2 && rules > 1 {
                            continue;
                        }
                        number += 1;
                        if !number.is_multiple_of(step) {
                            continue;
                        }
                        let case = Case {
                            stage,
                            end,
                            claim,
                            committed,
                            left: bit(flags, 0),
                            lost_production: bit(flags, 1),
                            lost_frozen: bit(flags, 2),
                            breach: bit(flags, 3),
                            owed: bit(flags, 4),
                            check: if stage == 0 && check > 0 {
                                3 + check % 2
                            } else {
                                [0, 1, 2, 5, 5][check]
                            },
                            context: Context {
                                checkpoint: bit(rules, 1),
                                gate_follows: bit(rules, 2),
                                frozen: bit(rules, 3),
                                ask_red: bit(rules, 4),
                                ask_green: bit(rules, 4),
                                edits_block: true,
                                tests_owed: i64::from(bit(flags, 4)),
                            },
                            report: bit(rules, 0),
                            boxes,
                        };
                        let (rule, expected) = oracle(&case);
                        hits[rule] += 1;
                        assert_eq!(
                            told(&decided(&case)),
                            expected,
                            "{}: {case:?}",
                            RULES[rule].0
                        );
                    }
                }
            }
        }
    }
    for (rule, hits) in RULES.iter().zip(hits) {
        assert!(hits > 0, "no combination reaches the rule `{}`", rule.0);
    }
}

/// 7 divides no number of values, so each value meets each other one.
#[test]
fn combinations_of_evidence_are_decided_as_the_rules_say() {
    decide_combinations(7);
}

#[test]
#[ignore = "deep tier"]
fn every_combination_of_evidence_is_decided_as_the_rules_say() {
    decide_combinations(1);
}

#[test]
fn a_rejection_says_what_where_and_how_much() {
    let case = Case {
        stage: WORK,
        end: 0,
        claim: 0,
        committed: 2,
        left: true,
        lost_production: false,
        lost_frozen: true,
        breach: false,
        owed: true,
        check: 0,
        context: Context {
            frozen: true,
            tests_owed: 2,
            ..Context::default()
        },
        report: false,
        boxes: 0,
    };
    let Decision::Retry {
        reasons,
        frozen_only: false,
    } = decided(&case)
    else {
        panic!("no retry")
    };
    assert_eq!(
        reasons,
        [
            "Changes were left uncommitted: p/src/y.java.",
            "There are 2 fewer enabled tests than before the attempt.",
            "p/src/x.java: test code of TEST-FIRST was changed (1 place; the first: `a();`).",
        ]
    );
}

#[test]
fn who_only_talked_is_named_so_and_a_pass_without_a_look_is_none() {
    let decided = |stage: &Stage, claim: Option<Claim>| {
        let key = TaskKey {
            family: "1.".to_owned(),
            stage: stage.clone(),
        };
        let (end, last_words) = (ProcessEnd::Exited { code: 0 }, String::new());
        let before = Snapshot::default();
        decide(&Evidence {
            attempt: &Attempt {
                key,
                before,
                end,
                claim,
                last_words,
                only_talked: true,
            },
            seen: &Findings::default(),
            left: &[],
            passed_before: &BTreeMap::new(),
            reported: &BTreeSet::new(),
            context: Context::default(),
        })
    };
    let why = || "x".to_owned();
    for (stage, first) in [
        (Stage::TestFirst, "No test file was committed."),
        (Stage::Implementation, "Nothing was committed."),
        (Stage::Integ, "Nothing was committed."),
    ] {
        let Decision::Retry { reasons, .. } = decided(&stage, None) else {
            panic!("{stage:?}")
        };
        assert_eq!(
            reasons,
            [
                first,
                "The agent only talked: its transcript holds no use of a tool."
            ]
        );
        assert!(matches!(
            decided(&stage, Some(Claim::Blocked { why: why() })),
            Decision::Blocked(_)
        ));
    }
    for stage in [Stage::ReqCheck, Stage::PreCr] {
        let Decision::Retry { reasons, .. } = decided(&stage, Some(Claim::Pass)) else {
            panic!("{stage:?}")
        };
        assert!(
            reasons.len() == 1 && reasons[0].contains("had looked at nothing"),
            "{reasons:?}"
        );
        assert!(matches!(
            decided(&stage, Some(Claim::Fail { why: why() })),
            Decision::Rework(_)
        ));
    }
}

#[test]
fn edits_that_failed_reject_work_and_nobody_elses() {
    use crate::turn::verify::{EditFinding, EditOutcome};
    let decided = |stage: Stage, verdict, edits_block, claim, committed: bool| {
        let finding = EditFinding {
            path: "p/a".to_owned(),
            verdict,
            tool: "Edit".to_owned(),
            ..EditFinding::default()
        };
        let change = FileChange {
            package: "p".to_owned(),
            path: RepoPath::from_bytes(b"src/x.java"),
            status: FileStatus::Added,
            kind: Kind::Production,
            old: None,
            new: Some(Oid::zero()),
        };
        let stage_changes = if committed { vec![change] } else { Vec::new() };
        let observation = Observation {
            edits: vec![finding],
            stage: stage_changes,
            ..Observation::default()
        };
        let end = ProcessEnd::Exited { code: 0 };
        let key = TaskKey {
            family: "1.".to_owned(),
            stage,
        };
        decide(&Evidence {
            attempt: &Attempt {
                key,
                before: Snapshot::default(),
                end,
                claim,
                last_words: String::new(),
                only_talked: false,
            },
            seen: &Findings {
                observation,
                ..Findings::default()
            },
            left: &[],
            passed_before: &BTreeMap::new(),
            reported: &BTreeSet::new(),
            context: Context {
                edits_block,
                ask_green: true,
                ..Context::default()
            },
        })
    };
    let reasons = |decision| match decision {
        Decision::Retry { reasons, .. } => reasons.join(" | "),
        other => panic!("{other:?}"),
    };
    for verdict in [
        EditOutcome::Failed,
        EditOutcome::Denied,
        EditOutcome::Unfinished,
        EditOutcome::Claimed,
    ] {
        // A rejected attempt gets no check.
        let told = reasons(decided(Stage::Implementation, verdict, true, None, true));
        assert!(
            told.starts_with("Verifier: 1 file edit is unresolved."),
            "{told}"
        );
        assert!(matches!(
            decided(Stage::Implementation, verdict, false, None, true),
            Decision::NeedsCheck {
                check: Check::Green,
                ..
            }
        ));
    }
    // An attempt that is rejected for another reason reports the edits too.
    let told = reasons(decided(
        Stage::Implementation,
        EditOutcome::Failed,
        false,
        None,
        false,
    ));
    assert!(
        told.starts_with("Nothing was committed. | Verifier: 1 file edit is unresolved."),
        "{told}"
    );
    let blocked = Claim::Blocked {
        why: "no tool".to_owned(),
    };
    let honest = decided(
        Stage::Implementation,
        EditOutcome::Failed,
        true,
        Some(blocked),
        false,
    );
    assert!(matches!(honest, Decision::Blocked(_)), "{honest:?}");
    assert_eq!(
        decided(
            Stage::PreCr,
            EditOutcome::Failed,
            true,
            Some(Claim::Pass),
            false
        ),
        Decision::Accept
    );
    let remark = decided(
        Stage::Implementation,
        EditOutcome::ChangedOtherwise,
        true,
        None,
        true,
    );
    assert!(matches!(remark, Decision::NeedsCheck { .. }), "{remark:?}");
}

#[test]
fn a_test_file_in_the_place_of_production_code_and_a_green_check_without_a_report_are_rejected() {
    let decided = |stage: Stage,
                   shadows: Vec<Shadow>,
                   misplaced: Option<Vec<Misplaced>>,
                   reported: &BTreeSet<String>| {
        let path = |text: &str| RepoPath::from_bytes(text.as_bytes());
        let change = FileChange {
            package: "p".to_owned(),
            path: path("src/test/java/x/Price.java"),
            status: FileStatus::Added,
            kind: Kind::Test,
            old: None,
            new: Some(Oid::zero()),
        };
        let observation = Observation {
            stage: vec![change],
            shadows,
            misplaced,
            ..Observation::default()
        };
        let green = CheckResult {
            package: "p".to_owned(),
            end: ProcessEnd::Exited { code: 0 },
            tail: String::new(),
            tests: None,
            beside: Vec::new(),
        };
        let (key, end) = (
            TaskKey {
                family: "1.".to_owned(),
                stage,
            },
            ProcessEnd::Exited { code: 0 },
        );
        let (before, last_words) = (Snapshot::default(), String::new());
        let check = Some((Check::Green, vec![green]));
        decide(&Evidence {
            attempt: &Attempt {
                key,
                before,
                end,
                claim: None,
                last_words,
                only_talked: false,
            },
            seen: &Findings {
                observation,
                check,
                ..Findings::default()
            },
            left: &[],
            passed_before: &BTreeMap::new(),
            reported,
            context: Context {
                ask_green: true,
                ..Context::default()
            },
        })
    };
    let shadow = Shadow {
        package: "p".to_owned(),
        path: RepoPath::from_bytes(b"src/test/java/x/Price.java"),
        production: RepoPath::from_bytes(b"src/main/java/x/Price.java"),
    };
    let (none, reported) = (BTreeSet::new(), BTreeSet::from(["p".to_owned()]));
    let misplaced = Misplaced {
        package: "p".to_owned(),
        path: RepoPath::from_bytes(b"tests/tax.py"),
        test: RepoPath::from_bytes(b"tests/test_tax.py"),
    };
    for stage in [Stage::TestFirst, Stage::Implementation, Stage::Integ] {
        let Decision::Retry {
            reasons,
            frozen_only: false,
        } = decided(
            stage,
            vec![shadow.clone()],
            Some(vec![misplaced.clone()]),
            &none,
        )
        else {
            panic!("not rejected")
        };
        assert_eq!(
            reasons,
            [
                "p/src/test/java/x/Price.java takes the place of p/src/main/java/x/Price.java, which the tests would run no more; give it another name.",
                "p/tests/tax.py is the code that p/tests/test_tax.py tests, and it is among the tests, where no gate judges it; move it to the production code."
            ]
        );
    }
    assert_eq!(
        decided(Stage::Implementation, Vec::new(), None, &none),
        Decision::Accept
    );
    let Decision::Retry { reasons, .. } =
        decided(Stage::Implementation, Vec::new(), None, &reported)
    else {
        panic!("not rejected")
    };
    assert_eq!(
        reasons,
        ["checks.green in p left no test report, and checks.red did: no test ran."]
    );
}
