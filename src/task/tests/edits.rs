//! Tests of the one-byte edit, and of the text without marks and its restoration.

use super::{key, parse};
use crate::task::{Edit, Mark, Refused, digest, with_marks};

fn flipped(text: &str, name: &str, to: Mark) -> String {
    let file = parse(text);
    let edit = file.flip_box(&key(name), to).unwrap();
    let bytes = edit.map_or(file.file_bytes().to_vec(), |edit| {
        edit.apply_to(file.file_bytes()).unwrap()
    });
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_flip_changes_one_byte_and_keeps_the_rest() {
    assert_eq!(
        flipped("- [ ] 1. a\r\n\t- [X] 2. b", "1.", Mark::DONE),
        "- [X] 1. a\r\n\t- [X] 2. b"
    );
    assert_eq!(
        flipped("- [ ] 1. a\n- [X] 2. b\n- [x] 3. c\n", "1.", Mark::DONE),
        "- [x] 1. a\n- [X] 2. b\n- [x] 3. c\n"
    );
    assert_eq!(flipped("- [ ] 1. a\n", "1.", Mark::DONE), "- [x] 1. a\n");
    assert_eq!(flipped("- [ ] 1. a\n", "1.", Mark('X')), "- [X] 1. a\n");
    assert_eq!(
        flipped("- [x]* 1.PITEST a\n", "1.PITEST", Mark::OPEN),
        "- [ ]* 1.PITEST a\n"
    );
    assert_eq!(flipped("- [-] 1. a\n", "1.", Mark::DONE), "- [x] 1. a\n");
    assert_eq!(flipped("- [ ] 1. a\n", "1.", Mark('-')), "- [-] 1. a\n");
}

#[test]
fn a_box_that_has_the_state_needs_no_edit() {
    for (text, to) in [
        ("- [\t] 1. a", Mark::OPEN),
        ("- [X] 1. a", Mark::DONE),
        ("- [x] 1. a", Mark('X')),
        ("- [-] 1. a", Mark('-')),
    ] {
        let file = parse(text);
        let edit = file.flip_box(&key("1."), to).unwrap();
        assert_eq!(edit, None);
    }
}

#[test]
fn a_flip_that_cannot_be_says_why() {
    let file = parse("- [✅] 1. a\n- [ ] 2. b\n- [ ] 2.PITEST\n- [ ] 2.PITEST\n");
    let say = |name: &str, to| file.flip_box(&key(name), to).unwrap_err().to_string();
    insta::assert_snapshot!(say("7.", Mark::DONE), @"The task file has no task 7.");
    insta::assert_snapshot!(say("2.PITEST", Mark::DONE), @"The task file has more than one 2.PITEST.");
    insta::assert_snapshot!(say("1.", Mark::DONE), @"The box of task 1 holds `✅`, which takes more than one byte, and ralph changes single bytes only.");
    insta::assert_snapshot!(say("2.", Mark('\n')), @r"`\n` cannot mark a box.");
    for to in ['P', '1', '✅', '[', ']', '\\', '\r'] {
        assert_eq!(
            file.flip_box(&key("2."), Mark(to)).unwrap_err().kind,
            Refused::NoFlip,
            "{to}"
        );
    }
}

#[test]
fn an_edit_fits_only_the_bytes_it_was_made_for() {
    let text = b"- [ ] 1. a\n";
    let edit = Edit {
        offset: 3,
        expected: b' ',
        replacement: b'x',
    };
    assert_eq!(edit.apply_to(text).unwrap(), b"- [x] 1. a\n");
    for other in [
        Edit {
            expected: b'x',
            ..edit
        },
        Edit { offset: 99, ..edit },
        Edit {
            replacement: b'P',
            ..edit
        },
        Edit { offset: 5, ..edit },
        Edit {
            replacement: b' ',
            ..edit
        },
        Edit {
            offset: 9,
            expected: b'a',
            replacement: b'b',
        },
    ] {
        assert_eq!(other.apply_to(text), None, "{other:?}");
    }
}

#[test]
fn the_text_without_marks_and_the_rows_give_the_bytes_back() {
    let text = "\u{feff}- [x] 1. a\r\n- [\t] 2. b\n- [X] c\n- [-] d\n- [✅] e";
    let file = parse(text);
    assert_eq!(
        file.text_without_marks(),
        "\u{feff}- [ ] 1. a\r\n- [ ] 2. b\n- [ ] c\n- [-] d\n- [✅] e".as_bytes()
    );
    assert_eq!(
        with_marks(&file.text_without_marks(), &file.box_rows()).unwrap(),
        text.as_bytes()
    );
}

#[test]
fn rows_of_another_file_are_refused() {
    let file = parse("- [x] 1. a\n- [-] 2. b\n");
    let rows = file.box_rows();
    for other in [
        "- [ ] 1. a\n",
        "- [ ] 1. a\n- [ ] 2. b\n",
        "- [ ] 3. a\n- [-] 2. b\n",
    ] {
        assert_eq!(with_marks(other.as_bytes(), &rows), None, "{other}");
    }
}

#[test]
fn a_digest_is_the_sha256() {
    assert_eq!(
        digest(b"abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}
