//! The scopes of a class whose lines changed, and its base.

use super::*;

#[test]
fn a_scope_of_lines_keeps_the_mutants_on_changed_lines_and_nothing_on_none() {
    let bed = Bed::new();
    let lines = GateSettings {
        scope: ScopeKind::Lines,
        ..settings()
    };
    let script = vec![pit(OK, "", Some(&report(&["KILLED"])))];
    let (good, commands) = bed.play_with(&lines, script);
    assert_eq!(good.verdict, Verdict::Pass);
    assert_eq!(
        option(&commands[0], "kept"),
        Some("C\tFoo\nL\tFoo.java\t3-4\nL\tFoo.java\t9-9\n")
    );
    let empty = || pit(OK, "", Some(&report(&[])));
    let (skip, _) = bed.play_with(&lines, vec![empty()]);
    let why = "There is nothing to mutate in the changed lines of Foo.".to_owned();
    assert_eq!(skip.verdict, Verdict::Skip { why });
}

#[test]
fn a_file_of_the_base_that_cannot_be_read_gives_no_verdict_and_without_a_base_classes_are_judged_whole()
 {
    let (bed, base) = (Bed::new(), Bed::new());
    let auto = GateSettings {
        scope: ScopeKind::Auto,
        ..settings()
    };
    // The statuses are those of lines 0 to 4, of which 3 and 4 are changed.
    let strong_in_the_change = report(&["SURVIVED", "SURVIVED", "SURVIVED", "KILLED", "KILLED"]);
    let pit = || pit(OK, "", Some(&strong_in_the_change));
    let mut request = bed.request();
    request.packages[0].changes[0].old = Some(Oid::zero());
    let (whole, _) = bed.play_request(&request, &auto, vec![pit()]);
    assert!(is_fail(&whole.verdict, "is 40% (2/5)"), "{whole:?}");
    assert!(
        whole.remarks[0].contains("its classes are judged whole: there is none."),
        "{whole:?}"
    );

    let root = base.folder.path().join("p");
    std::os::unix::fs::symlink("/nowhere", root.join("target/test-classes/messages.txt")).unwrap();
    let (unread, _) = bed.play_in(&Base(root), &request, &auto, vec![pit()]);
    assert!(is_error(&unread.verdict, "I/O error", true), "{unread:?}");
    assert!(
        is_error(&unread.verdict, "messages.txt", true),
        "{unread:?}"
    );
}

#[test]
fn the_score_to_keep_is_that_of_own_tests_where_only_these_are_asked() {
    let (bed, base) = (Bed::new(), Bed::new());
    let own = GateSettings {
        scope: ScopeKind::Auto,
        tests: TestTiers::Own,
        ..settings()
    };
    let mut request = bed.request();
    request.packages[0].changes[0].old = Some(Oid::zero());
    let base = Base(base.folder.path().join("p"));
    let killed = || pit(OK, "", Some(&report(&["KILLED"; 5])));
    let (_, commands) = bed.play_in(&base, &request, &own, vec![killed(), killed()]);
    assert_eq!(asked(&commands), "FooTest | FooTest");
}
