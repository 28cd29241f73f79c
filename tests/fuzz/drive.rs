//! Properties for any bytes: the functions of the fuzz targets and of the test `fuzz`.
//!
//! Owns: the conversion of arbitrary bytes into a task file and an agent's changes to it.
//!
//! Promises: a panic is a defect of the program.
//!
//! Refuses to know: the source of the bytes.

use ralph::task::{
    Edit, Grammar, Mark, Placement, ReadAs, Row, Sections, Stages, TaskFile, TaskRules,
    TaskSelection, reconcile_files, with_marks, written_rows,
};
use std::sync::LazyLock;

/// Number of bytes before the text that choose the operation.
const CHOICES: usize = 4;

/// Returns the choices of the first bytes, the text, and the chosen grammar.
fn split(data: &[u8]) -> ([u8; CHOICES], &[u8], &'static Grammar) {
    let mut choices = [0; CHOICES];
    let given = data.len().min(CHOICES);
    choices[..given].copy_from_slice(&data[..given]);
    let text = &data[given..];
    let grammar = GRAMMARS
        .get(usize::from(choices[0] & 3))
        .unwrap_or(&GRAMMARS[0]);
    (choices, text, grammar)
}

/// All sections, some excluded, some included. Built once: patterns take longer to build than a file to read.
static GRAMMARS: LazyLock<[Grammar; 3]> = LazyLock::new(|| {
    let patterns = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let of = |include: &[&str], exclude: &[&str]| {
        let sections = Sections::new(&patterns(include), &patterns(exclude));
        Grammar::default().with_sections(sections.expect("these are patterns"))
    };
    [
        Grammar::default(),
        of(&[], &["done*", "2*"]),
        of(&["plan", "*a*"], &["done"]),
    ]
});

/// Runs parser, remarks, problems, lines and requirements.
pub(super) fn parse(data: &[u8]) {
    let (_, text, grammar) = split(data);
    let file = TaskFile::parse(text, grammar);
    assert_eq!(file.file_bytes(), text);
    let (rows, lines) = (
        file.box_rows(),
        u32::try_from(text.len() + 1).unwrap_or(u32::MAX),
    );
    assert_eq!(rows.len(), file.len());
    assert_eq!(file.named_requirements().len(), file.len());
    let clear = |text: &str| !text.chars().any(char::is_control);
    for row in &rows {
        assert!(
            (1..=lines).contains(&row.line) && clear(&row.text) && row.text.chars().count() <= 500
        );
    }
    for remark in file.find_remarks() {
        assert!(
            (1..=lines).contains(&remark.line) && clear(&remark.message) && clear(&remark.hint)
        );
    }
    for problem in file.find_problems() {
        assert!(
            (1..=lines).contains(&problem.line) && clear(&problem.message) && clear(&problem.hint)
        );
    }
    let numbers = file.read_lines().map(|line| line.number);
    assert!(
        numbers.zip(1..).all(|(line, number)| line == number),
        "each line once, in order"
    );
    let tasks = file
        .read_lines()
        .filter(|line| matches!(line.read, ReadAs::Task(_)))
        .count();
    assert_eq!(tasks, file.len());
    for (requirements, row) in file.named_requirements().iter().zip(&rows) {
        assert!(
            requirements
                .iter()
                .all(|word| clear(word) && !word.is_empty() && word.len() <= 200)
        );
        assert!(
            file.text_of(&row.key).above.len() <= file.len(),
            "no task is its own parent"
        );
        if rows.len() > 8 {
            break;
        }
    }
    let _ = file.unused_sections();
}

/// Runs flips, the removal and restoration of ticks, and an agent's changes.
pub(super) fn edit(data: &[u8]) {
    let (choices, text, grammar) = split(data);
    let file = TaskFile::parse(text, grammar);
    let rows = file.box_rows();
    assert_eq!(
        with_marks(&file.text_without_marks(), &rows).as_deref(),
        Some(text)
    );
    if let Some(row) = rows.get(usize::from(choices[1]) % rows.len().max(1)) {
        flip(&file, row, &rows, grammar);
    }
    let after = agents(&file, choices);
    let result = reconcile_files(text, &after, grammar);
    let again = TaskFile::parse(result.bytes.as_slice(), grammar);
    // Text below an added task is among the lines that were added.
    assert!((rows.len()..=rows.len() + result.added.len()).contains(&again.len()));
    assert_eq!(again.find_problems().len(), file.find_problems().len());
    assert!(
        is_subsequence(text, &result.bytes),
        "nothing of the file before is lost"
    );
    assert_eq!(
        reconcile_files(&result.bytes, &result.bytes, grammar).bytes,
        result.bytes
    );
}

fn flip(file: &TaskFile, row: &Row, rows: &[Row], grammar: &Grammar) {
    let to = if row.mark.is_done() {
        Mark::OPEN
    } else {
        Mark::DONE
    };
    let Ok(Some(edit)) = file.flip_box(&row.key, to) else {
        return;
    };
    let after = edit
        .apply_to(file.file_bytes())
        .expect("an edit that was offered fits");
    let differ = after
        .iter()
        .zip(file.file_bytes())
        .filter(|(new, old)| new != old)
        .count();
    assert!(
        after.len() == file.file_bytes().len() && differ == 1,
        "one byte"
    );
    let back = Edit {
        expected: edit.replacement,
        replacement: edit.expected,
        ..edit
    };
    assert_eq!(back.apply_to(&after).as_deref(), Some(file.file_bytes()));
    let read = TaskFile::parse(after, grammar).box_rows();
    let same = read
        .iter()
        .zip(rows)
        .all(|(now, then)| now.is_same_box(then));
    assert!(read.len() == rows.len() && same, "no other box is touched");
}

/// Returns the file as an agent might write it.
fn agents(file: &TaskFile, choices: [u8; CHOICES]) -> Vec<u8> {
    let text = file.file_bytes();
    let place = |choice: u8| text.len() * usize::from(choice) / 256;
    let (from, to) = (
        place(choices[2].min(choices[3])),
        place(choices[2].max(choices[3])),
    );
    let mut after = text.to_vec();
    match (choices[0] >> 2) & 3 {
        0 => {
            for (at, mark) in file.mark_offsets().zip(choices.iter().cycle()) {
                if text[at].is_ascii() {
                    after[at] = b" xX-"[usize::from(mark & 3)];
                }
            }
        }
        1 => {
            after.drain(from..to);
        }
        2 => {
            let piece = text[from..to].to_vec();
            let at = place(choices[1]);
            after.splice(at..at, piece);
        }
        _ => {
            after = [&text[to..], &b"\n- [ ] 9. new\n"[..], &text[..from]].concat();
        }
    }
    after
}

fn is_subsequence(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|other| other == byte))
}

/// Inserts gates and stages twice, in lines and without, and removes them.
pub(super) fn place(data: &[u8]) {
    let (choices, text, grammar) = split(data);
    let file = TaskFile::parse(text, grammar);
    let rows = file.box_rows();
    let named = rows
        .get(usize::from(choices[2]) % rows.len().max(1))
        .map(|row| row.key.family.clone());
    let placement = match choices[1] % 5 {
        0 => Placement::Each,
        1 => Placement::After(named.into_iter().collect()),
        2 => Placement::Groups,
        3 => Placement::End,
        _ => Placement::None,
    };
    let bare = |file: &TaskFile| {
        file.place_gates("PITEST", &Placement::None, false)
            .ok()
            .map(|surgery| surgery.bytes)
    };
    if let Ok(there) = file.place_gates("PITEST", &placement, false) {
        let read = TaskFile::parse(there.bytes.clone(), grammar);
        let again = read
            .place_gates("PITEST", &placement, false)
            .expect("what was placed is placed again");
        assert_eq!(again.bytes, there.bytes, "placing twice changes nothing");
        assert_eq!(bare(&read), bare(&file), "what was put in is taken away");
        let moved = there
            .inserted
            .iter()
            .chain(&there.removed)
            .map(|(key, _)| key)
            .collect::<Vec<_>>();
        let others = |rows: Vec<Row>| {
            let kept = rows.into_iter().filter(|row| !moved.contains(&&row.key));
            kept.map(|row| (row.key, row.mark, row.parent, row.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            others(read.box_rows()),
            others(rows.clone()),
            "every other box is unchanged"
        );
    }
    let gates = vec![("PITEST".to_owned(), placement)];
    if let Ok(there) = file.add_stages(TaskSelection::Plain, &gates, |_| true) {
        let read = TaskFile::parse(there.bytes.clone(), grammar);
        let again = read
            .add_stages(TaskSelection::Plain, &gates, |_| true)
            .expect("what was staged is staged again");
        assert_eq!(again.bytes, there.bytes, "staging twice changes nothing");
    }
    let rules = TaskRules {
        grammar: grammar.clone(),
        stages: Stages::Virtual { gates },
    };
    if rules.find_problems(&file).is_empty() {
        let boxes = rules.ordered_boxes(&file, &[]);
        assert_eq!(
            rules.ordered_boxes(&file, &boxes),
            boxes,
            "what was seen is seen again"
        );
        assert_eq!(
            written_rows(&boxes),
            rows,
            "stages without a line change no box that has one"
        );
    }
}
