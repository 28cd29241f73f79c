//! Tests of ids, stages, optional tasks and texts.

use super::{boxes, parse, rows};
use crate::task::{Grammar, Placement, Stage, TaskFile};
use regex_lite::Regex;

/// Returns `key|text`, with `*` after the key of an optional task.
fn shown(task: &str) -> String {
    let rows = rows(format!("- [ ] {task}\n"));
    let row = rows.first().expect("a task");
    let name = if row.key.has_id() {
        row.key.written_id()
    } else {
        "-".to_owned()
    };
    format!("{name}{}|{}", if row.optional { "*" } else { "" }, row.text)
}

#[test]
fn the_stages_of_an_optional_task_are_optional() {
    let file = rows(
        "- [ ] 1.TEST-FIRST\n- [ ]* 1. a\n- [ ] 1.PITEST\n- [ ] 2. b\n- [ ]* 2.REQ-CHECK\n- [ ] 2.PRE-CR\n",
    );
    let optional: Vec<String> = file
        .iter()
        .filter(|row| row.optional)
        .map(|row| row.key.written_id())
        .collect();
    assert_eq!(optional, ["1.TEST-FIRST", "1.", "1.PITEST", "2.REQ-CHECK"]);
}

#[test]
fn ids_of_every_shape_are_read_and_wrappers_are_stripped() {
    for (task, expected) in [
        ("2. impl foo", "2.|impl foo"),
        ("2.", "2.|"),
        ("2 foo", "2.|foo"),
        ("2.1 foo", "2.1.|foo"),
        ("2.1. foo", "2.1.|foo"),
        ("1.1.4.1 Detect", "1.1.4.1.|Detect"),
        ("7.3.5b Re-baseline", "7.3.5b.|Re-baseline"),
        ("10.2: Detect", "10.2.|Detect"),
        ("10.2：检测", "10.2.|检测"),
        ("T001 [P] [US1] x", "T001.|[P] [US1] x"),
        ("T001a x", "T001a.|x"),
        ("T040: Token retry", "T040.|Token retry"),
        ("**T011** Run T009", "T011.|Run T009"),
        ("**11.5 Verification**: x", "11.5.|**Verification**: x"),
        ("**CORE-3: PDCA Core**", "CORE-3.|**PDCA Core**"),
        ("FR-018 (no back-compat)", "FR-018.|(no back-compat)"),
        ("ABC-1.2 x", "ABC-1.2.|x"),
        ("WP03 x", "WP03.|x"),
        ("V4 Create PR", "V4.|Create PR"),
        ("VE1 [VERIFY] x", "VE1.|[VERIFY] x"),
        ("T003A x", "T003A.|x"),
        ("TIDY-1a x", "TIDY-1a.|x"),
        ("1.1 - Title", "1.1.|Title"),
        ("T001 — Title", "T001.|Title"),
        ("1.1 - 2 tests", "1.1.|2 tests"),
        ("1.1 to do x", "1.1.|to do x"),
        ("1.1 tools", "1.1.|tools"),
        ("Task 1: x", "1.|x"),
        ("**Task 1:** x", "1.|x"),
        ("[T001] x", "T001.|x"),
        ("~~7.3 [PBT] x~~ [removed]", "7.3.*|~~[PBT] x~~ [removed]"),
        ("1\\. Parent", "1.|Parent"),
        ("1\\.TEST-FIRST write", "1.TEST-FIRST|write"),
        ("7.9* (P) x", "7.9.*|(P) x"),
        ("7.9\\* x", "7.9.*|x"),
        ("**7.9*** x", "7.9.*|x"),
    ] {
        assert_eq!(shown(task), expected, "{task}");
    }
}

#[test]
fn what_only_looks_like_an_id_is_none() {
    for task in [
        "78/78 tests pasan",
        "1.Register Customers",
        "1.R1",
        "1.O",
        "2.test-first x",
        "2.PITESTS x",
        "1st thing",
        "16:9 layout",
        "2025-01-01 x",
        "T023, T024, T025",
        "[US1] x",
        "[T001 x] y",
        "V4b Create PR",
        "E2E tests",
        "P0 x",
        "2.1–2.5 x",
        "2.1 – 2.5 x",
        "T001 - T004 x",
        "AC-1..10 x",
        "AC-1 - AC-10 x",
        "3.1 to 3.5 x",
        "T001 to T004: x",
        "#48 - Shell escaping",
        "G2.TEST-FIRST x",
        "G2 x",
        "ENDING.PITEST x",
        "FINALLY x",
        "`pnpm test`",
        "",
    ] {
        assert_eq!(shown(task), format!("-|{task}"), "{task}");
    }
    let long = "1".repeat(65);
    assert_eq!(shown(&long), format!("-|{long}"));
}

#[test]
fn stages_are_a_closed_set_of_capitals() {
    for (task, expected) in [
        (
            "2.TEST-FIRST  → ralph-test-writer writes",
            "2.TEST-FIRST|ralph-test-writer writes",
        ),
        (
            "2.            → ralph-worker makes",
            "2.|ralph-worker makes",
        ),
        ("2.REQ-CHECK   → x", "2.REQ-CHECK|x"),
        ("2.PITEST", "2.PITEST|"),
        ("2.PRE-CR: x", "2.PRE-CR|x"),
        ("29.INTEG contracts", "29.INTEG|contracts"),
        ("T012.TEST-FIRST x", "T012.TEST-FIRST|x"),
        ("CORE-3.PITEST x", "CORE-3.PITEST|x"),
        ("**2.PITEST** x", "2.PITEST|x"),
        ("[2.PITEST] x", "2.PITEST|x"),
        ("2.PITEST* x", "2.PITEST*|x"),
        ("FINAL validate", "FINAL|validate"),
        ("**FINAL**: validate", "FINAL|validate"),
        ("3.FINAL x", "3.FINAL|x"),
        ("G2.PITEST x", "G2.PITEST|x"),
        ("END.PITEST", "END.PITEST|"),
    ] {
        assert_eq!(shown(task), expected, "{task}");
    }
}

#[test]
fn gates_of_the_configuration_are_stage_words_and_others_are_not() {
    let grammar = Grammar::new(vec!["CARGO-MUTANTS".to_owned()], None);
    let file = TaskFile::parse(
        "- [ ] 2.CARGO-MUTANTS x\n- [ ] 2.PITEST x\n- [ ] a checkpoint\n",
        &grammar,
    );
    let rows = file.box_rows();
    assert_eq!(rows[0].key.stage, Stage::Gate("CARGO-MUTANTS".to_owned()));
    assert!(!rows[1].key.has_id());
    assert!(!rows[2].checkpoint, "no pattern, no checkpoints");
}

#[test]
fn checkpoints_are_found_by_the_pattern() {
    let check = |pattern: &str, text: &str| {
        let grammar = Grammar::new(Vec::new(), Some(Regex::new(pattern).unwrap()));
        TaskFile::parse(format!("- [ ] {text}"), &grammar).box_rows()[0].checkpoint
    };
    let default = r"(?i)\bcheckpoint\b|\[verify\]";
    assert!(check(default, "5. CheckPoint - all tests pass"));
    assert!(!check(default, "5. checkpoints are many"));
    assert!(!check(default, "5. write"));
    assert!(check("^Stop", "5. Stop here"));
    assert!(rows("- [ ] 3. Checkpoint\n")[0].checkpoint);
}

#[test]
fn a_line_without_a_usable_id_is_known_by_its_text_and_occurrence() {
    let rows = rows("- [ ] Save  draft\n- [x] Save draft\n- [ ] Other\n");
    let families: Vec<_> = rows.iter().map(|row| row.key.family.as_str()).collect();
    insta::assert_snapshot!(families.join("\n"), @r"
    ~3de100106dd4e52e#1
    ~3de100106dd4e52e#2
    ~f97e9da0e3b879f0#1
    ");
    assert_eq!(rows[0].digest, rows[1].digest, "white space is folded");
    assert!(families[0].contains(&rows[0].digest));
}

#[test]
fn an_id_whose_implementation_stands_twice_names_nobody() {
    assert_eq!(
        boxes("- [ ] 1. a\n- [ ] 1 b\n- [ ] 2. c\n- [ ] 3.INTEG d\n- [ ] 3. e\n"),
        ["- ' '", "- ' '", "2. ' '", "3.INTEG ' '", "3. ' '"]
    );
}

#[test]
fn texts_are_bounded_and_have_no_control_characters() {
    let rows = rows(format!(
        "- [ ] 1. a\u{1b}[31m\u{7}b\u{202e}c {}\n",
        "é".repeat(600)
    ));
    assert!(rows[0].text.starts_with("abc é"));
    assert!(rows[0].text.chars().count() <= 500);
}

#[test]
fn a_row_is_stored_with_few_words_and_comes_back() {
    let rows = parse("# A\n- [x]* 1.1 Checkpoint\n- [ ] 1. top\n").box_rows();
    let text = serde_json::to_string(&rows[0]).unwrap();
    insta::assert_snapshot!(text, @r#"{"key":{"family":"1.1","stage":"IMPLEMENT"},"line":2,"mark":"x","optional":true,"parent":"1","group":1,"text":"Checkpoint","digest":"51ddcddb4acee45a","under":"","checkpoint":true}"#);
    assert_eq!(
        serde_json::from_str::<crate::task::Row>(&text).unwrap(),
        rows[0]
    );
}

#[test]
fn a_box_keeps_the_id_of_its_heading_whatever_gates_come_beside_it() {
    let text = "## 1.1 First\n- [ ] one\n## 1.2 Second\n- [ ] two\n";
    assert_eq!(boxes(text), ["1.1. ' '", "1.2. ' '"]);
    for placement in [Placement::Each, Placement::Groups, Placement::End] {
        let with_gates = parse(text)
            .place_gates("PITEST", &placement, false)
            .unwrap();
        assert!(!with_gates.inserted.is_empty(), "{placement:?}");
        let rows = parse(with_gates.bytes).box_rows();
        let work = rows
            .iter()
            .filter(|row| !row.key.stage.is_gate())
            .map(|row| row.key.written_id());
        assert_eq!(work.collect::<Vec<_>>(), ["1.1.", "1.2."], "{placement:?}");
    }
}
