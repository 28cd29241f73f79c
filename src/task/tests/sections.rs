//! Tests of sections without tasks.

use crate::task::{
    Grammar, Mark, RemarkKind, SectionExclusion, Sections, TaskFile, reconcile_files, with_marks,
};

fn grammar(include: &[&str], exclude: &[&str]) -> Grammar {
    let all = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    Grammar::default().with_sections(Sections::new(&all(include), &all(exclude)).unwrap())
}

/// Returns the texts of the tasks.
fn tasks(text: &str, grammar: &Grammar) -> Vec<String> {
    TaskFile::parse(text, grammar)
        .box_rows()
        .into_iter()
        .map(|row| row.text)
        .collect()
}

const PLAN: &str = "- [ ] top\n\n# Plan\n\n## 1. Build\n- [ ] 1.1 a\n  - [ ] sub\n\n### Definition of Done\n- [ ] dod\n\n## Success Criteria:\n- [x] sc\n\n#### Deep\n- [ ] deep\n\nChecks\n------\n- [ ] check\n";

#[test]
fn a_pattern_matches_a_heading_and_all_below_it() {
    for (include, exclude, expected) in [
        (&[][..], &[][..], "top a sub dod sc deep check"),
        (&[], &["success criteria"], "top a sub dod check"),
        (&[], &["Success*", "definition of done"], "top a sub check"),
        (&[], &["SUCCESS CRITERIA:", "checks"], "top a sub dod"),
        (&[], &["build"], "top sc deep check"),
        (&[], &["1. Build"], "top sc deep check"),
        (&[], &["plan"], "top"),
        (&[], &["deep"], "top a sub dod sc check"),
        (&["build"], &[], "a sub dod"),
        (&["build"], &["definition of *"], "a sub"),
        (&["plan"], &["success*"], "a sub dod check"),
        (&["deep", "checks"], &[], "deep check"),
        (&["nothing of the kind"], &[], ""),
        (&[], &["uccess"], "top a sub dod sc deep check"),
        (&[], &["{checks,build}"], "top sc deep"),
    ] {
        assert_eq!(
            tasks(PLAN, &grammar(include, exclude)).join(" "),
            expected,
            "{include:?} {exclude:?}"
        );
    }
}

#[test]
fn a_heading_in_a_list_item_ends_with_the_item() {
    for (text, expected) in [
        ("- [ ] 1. a\n  ## Done\n  - [ ] b\n- [ ] 2. c\n", "a c"),
        (
            "- [ ] 1. a\n  ## Done\n  - [ ] b\n    ### More\n  - [ ] c\n- [ ] 2. d\n",
            "a d",
        ),
        (
            "## Done\n- [ ] a\n  ## Next\n  - [ ] b\n- [ ] c\n## Next\n- [ ] d\n",
            "d",
        ),
        ("- [ ] 1. a\n\n ## Done\n- [ ] 2. b\n", "a"),
    ] {
        assert_eq!(
            tasks(text, &grammar(&[], &["done"])).join(" "),
            expected,
            "{text}"
        );
    }
}

#[test]
fn the_words_of_a_heading_are_matched_whatever_is_around_them() {
    for heading in [
        "## **Done**",
        "# Done ##",
        "### done:",
        "## 3. Done",
        "## T001 DONE",
        "Done\n===",
        "## ~~4~~ done",
    ] {
        let text = format!("{heading}\n- [ ] a\n");
        assert_eq!(tasks(&text, &grammar(&[], &["Done"])), [""; 0], "{heading}");
        assert_eq!(tasks(&text, &grammar(&["done"], &[])), ["a"], "{heading}");
    }
    assert_eq!(
        tasks("## Критерии\n- [ ] a\n", &grammar(&[], &["критерии"])),
        [""; 0]
    );
    assert_eq!(
        tasks("## 完了の定義\n- [ ] a\n", &grammar(&[], &["完了*"])),
        [""; 0]
    );
    assert_eq!(
        tasks("```\n## done\n```\n- [ ] a\n", &grammar(&[], &["done"])),
        ["a"]
    );
}

#[test]
fn a_pattern_that_is_none_is_named() {
    assert_eq!(
        Sections::new(&["a".to_owned()], &["[b".to_owned()])
            .unwrap_err()
            .0,
        "[b"
    );
    assert!(Sections::default().is_everything());
}

#[test]
fn patterns_without_a_heading_are_told() {
    let file = TaskFile::parse(PLAN, &grammar(&["build", "bild"], &["success*", "failure"]));
    assert_eq!(
        file.unused_sections(),
        [
            ("include", "bild".to_owned()),
            ("exclude", "failure".to_owned())
        ]
    );
}

#[test]
fn a_box_outside_is_no_task_and_its_bytes_are_kept() {
    let grammar = grammar(&[], &["success criteria", "definition of done"]);
    let file = TaskFile::parse(PLAN, &grammar);
    assert!(file.find_problems().is_empty());
    let skeleton = file.text_without_marks();
    assert!(
        String::from_utf8(skeleton.clone())
            .unwrap()
            .contains("- [x] sc"),
        "a text as any other"
    );
    assert_eq!(
        with_marks(&skeleton, &file.box_rows()).unwrap(),
        PLAN.as_bytes()
    );
    // A change by an agent is restored.
    let claimed = PLAN
        .replace("- [ ] dod", "- [x] dod")
        .replace("- [ ] 1.1 a", "- [x] 1.1 a");
    let result = reconcile_files(PLAN.as_bytes(), claimed.as_bytes(), &grammar);
    assert_eq!(result.bytes, PLAN.as_bytes());
    assert_eq!(result.claims.len(), 1);
    // A line that an agent adds there is not a task, and a renamed heading creates none.
    for (from, to) in [
        ("- [x] sc", "- [x] sc\n- [ ] 9. new"),
        ("## Success Criteria:", "## Tasks"),
        ("## 1. Build", "## Success criteria"),
    ] {
        let result = reconcile_files(PLAN.as_bytes(), PLAN.replace(from, to).as_bytes(), &grammar);
        assert_eq!(result.bytes, PLAN.as_bytes(), "{from}");
        assert!(result.added.is_empty(), "{from}");
    }
}

#[test]
fn marks_are_found_again_when_the_sections_or_gates_were_changed_in_between() {
    let ticked = PLAN
        .replace("- [ ] 1.1 a", "- [x] 1.1 a")
        .replace("- [ ] dod", "- [X] dod");
    let before = grammar(&[], &["checks"]);
    let file = TaskFile::parse(ticked.as_str(), &before);
    // The grammar does not matter: the rows give the line of each mark.
    assert_eq!(
        with_marks(&file.text_without_marks(), &file.box_rows()).unwrap(),
        ticked.as_bytes()
    );
    let mut other = file.box_rows();
    other[1].digest = "0".repeat(16);
    assert!(with_marks(&file.text_without_marks(), &other).is_none());
}

#[test]
fn boxes_outside_are_neither_remarked_nor_missed() {
    let remarks = |text: &str| {
        let file = TaskFile::parse(text, &grammar(&[], &["done"]));
        file.find_remarks()
            .iter()
            .map(|remark| remark.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        remarks("- [ ] 1. a\n# Done\n- [ ] 1. b\n- [-] c\n- [x] T1 · [ ] T2\n"),
        []
    );
    assert_eq!(remarks("# Done\n- [ ] 1. b\n"), [RemarkKind::OnlyLeftOut]);
    let file = TaskFile::parse("# Done\n- [ ] 1. b\n", &grammar(&[], &["done"]));
    assert!(
        file.find_remarks()[0].message.contains("sections"),
        "{:?}",
        file.find_remarks()
    );
    assert_eq!(
        SectionExclusion::Excluded("done".to_owned()),
        SectionExclusion::Excluded("done".to_owned())
    );
}

#[test]
fn a_task_outside_is_nobodys_parent() {
    let file = TaskFile::parse(
        "# Done\n- [x] 1. b\n# Plan\n- [ ] 1.1 c\n- [ ] 2. d\n",
        &grammar(&[], &["done"]),
    );
    assert!(
        file.box_rows()
            .iter()
            .all(|row| row.parent.is_none() && row.mark == Mark::OPEN)
    );
}

#[test]
fn checklists_are_told_from_tasks_by_their_headings() {
    let text = "# Tasks\n- [ ] 1. a\n## ✅ 2. Definition of Done:\n- [x] used\n- [ ] liked\n## Acceptance Criteria\n- [ ] AC-1 works\n\
                ## Acceptance\n- [ ] 3. accept it\n## Prerequisites\nnone\n## Done when\n- [ ] SC-1 sold\n";
    let found = TaskFile::parse(text, &Grammar::default()).checklist_headings();
    let found: Vec<_> = found
        .iter()
        .map(|(title, line)| (title.as_str(), *line))
        .collect();
    assert_eq!(
        found,
        [
            ("Acceptance Criteria", 7),
            ("Done when", 13),
            ("✅ 2. Definition of Done:", 4)
        ]
    );
    let exclude: Vec<String> = found.iter().map(|(title, _)| (*title).to_owned()).collect();
    let sections = Sections::new(&[], &exclude).unwrap();
    let grammar = Grammar::default().with_sections(sections);
    let left: Vec<u32> = TaskFile::parse(text, &grammar)
        .box_rows()
        .iter()
        .map(|row| row.line)
        .collect();
    assert_eq!(left, [2, 9], "the proposed patterns leave them out");
}
