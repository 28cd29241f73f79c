//! Counts the sentences that docs/style.md forbids, for each directory, against ceilings.
//!
//! `prose-ceilings.txt` has a line for each directory: its name, the blocks of text with a forbidden phrase, and
//! the comments that begin with a question word. A count above its ceiling fails. `RALPH_WRITE_DOCS=1` lowers
//! ceilings to the counts and never raises one.

use super::root;
use fs_err as fs;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Phrases: words with a space between them, alternatives of a word with a bar. Case does not matter.
const PHRASES: &[&str] = &[
    "beside|besides",
    "stand|stands|stood",
    "nobody|somebody|whoever|whatever|wherever|anew",
    "is|are|was|were|be|been|being asked|told|said|heard",
    "is|are|was|were|be|been|being put back",
    "is|are|was|were|be|been|being looked at|after|for",
    "is|are|was|were|be|been|being spoken",
    "is|are|was|were|be|been|being taken over",
    "asks the|all|its|tests",
    "asks for all",
    "tell|tells|told of|how|what|which|whether|for|apart",
    "tell|tells|told the reason|reasons",
    "say|says|said so|nothing|what|which|how|whether|why",
    "put|puts back",
    "made good",
    "get|gets|got over",
    "goes|go on",
    "come|comes to its|a|an|nothing",
    "came of",
    "of which|these|those|them one|none|each|all|the",
    "that is none",
    "is|are none",
    "if it is none",
    "as it was",
    "as they were",
    "all the same",
    "such as can",
    "at all times",
    "of then|today",
    "what is left",
    "what came",
    "what it|they|he|she|one is|are|has|have|was|were|want|wants|need|needs|give|gives|say|says|tell|tells",
    "what it|they|he|she|one know|knows|saw|see|sees|make|makes|left|leave|leaves",
    "to the letter",
    "in the place of",
    "once more",
    "mend|mends|mended",
    "at the latest",
    "that is to be|say",
];

/// Words that no comment begins with.
const QUESTIONS: &[&str] = &[
    "What", "Which", "Whose", "How", "Whether", "Why", "Where", "Who", "That", "Of", "Beside",
];

/// Texts of other authors, and this file.
const SKIPPED: &[&str] = &[
    "tests/fixtures",
    "tests/taskfiles/files",
    "tests/docs/prose.rs",
];

#[derive(PartialEq, Eq)]
enum Kind {
    Comment,
    Text,
}

/// A word in lower case, and whether exactly one space is before it.
fn words(block: &str) -> Vec<(String, bool)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut between): (Vec<(String, bool)>, String) = (Vec::new(), String::new());
    let mut is_inside = false;
    for c in block.chars() {
        if is_word(c) {
            if !is_inside {
                words.push((String::new(), between == " "));
                between.clear();
            }
            words.last_mut().unwrap().0.extend(c.to_lowercase());
        } else {
            between.push(c);
        }
        is_inside = is_word(c);
    }
    words
}

/// A block without the text of its code spans.
fn without_code(block: &str) -> String {
    let mut parts = block.split('`');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> = parts.collect();
    for pair in rest.chunks(2) {
        match pair {
            [_, after] => write!(plain, "`x`{after}").unwrap(),
            _ => write!(plain, "`{}", pair[0]).unwrap(),
        }
    }
    plain
}

/// The first forbidden phrase of a block.
fn forbidden(block: &str) -> Option<&'static str> {
    let words = words(&without_code(block));
    PHRASES.iter().copied().find(|phrase| {
        let parts: Vec<Vec<&str>> = phrase
            .split(' ')
            .map(|part| part.split('|').collect())
            .collect();
        words.windows(parts.len()).any(|window| {
            window
                .iter()
                .zip(&parts)
                .enumerate()
                .all(|(place, ((word, is_close), part))| {
                    (place == 0 || *is_close) && part.contains(&word.as_str())
                })
        })
    })
}

fn begins_with_a_question(block: &str) -> bool {
    let first = block.split(|c: char| !c.is_alphanumeric()).next();
    first.is_some_and(|word| QUESTIONS.contains(&word))
}

/// The string literals of a line that have four words or more.
fn literals(line: &str) -> Vec<String> {
    let (mut found, mut open): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (&mut open, c) {
            (Some(text), '\\') => {
                text.push(c);
                text.extend(characters.next());
            }
            (Some(_), '"') => found.extend(open.take()),
            (Some(text), _) => text.push(c),
            (None, '"') => open = Some(String::new()),
            (None, _) => {}
        }
    }
    let is_long = |word: &&str| word.chars().filter(char::is_ascii_alphabetic).count() > 1;
    found.retain(|text| {
        let words = text.split(|c: char| !c.is_ascii_alphabetic());
        words.filter(is_long).count() >= 4
    });
    found
}

/// Comments of Rust, each as one block, and long string literals.
fn rust_blocks(text: &str) -> Vec<(Kind, String)> {
    let (mut blocks, mut comment): (Vec<(Kind, String)>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in text.lines().chain([""]) {
        if let Some(rest) = line.trim_start().strip_prefix("//") {
            let rest = rest.strip_prefix(['/', '!']).unwrap_or(rest);
            comment.push(rest.strip_prefix(' ').unwrap_or(rest));
            continue;
        }
        if !comment.is_empty() {
            blocks.push((Kind::Comment, std::mem::take(&mut comment).join(" ")));
        }
        blocks.extend(literals(line).into_iter().map(|text| (Kind::Text, text)));
    }
    blocks
}

/// Paragraphs, list items and rows of tables, without fences.
fn markdown_blocks(text: &str) -> Vec<(Kind, String)> {
    let (mut blocks, mut block): (Vec<(Kind, String)>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut in_fence = false;
    for line in text.lines().map(str::trim).chain([""]) {
        let is_mark = line.starts_with("```") || line.starts_with("~~~");
        in_fence ^= is_mark;
        let is_item = line.starts_with(['-', '*', '|'])
            || line
                .split_once('.')
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let is_end = is_mark || in_fence || line.is_empty();
        if (is_end || is_item) && !block.is_empty() {
            blocks.push((Kind::Text, std::mem::take(&mut block).join(" ")));
        }
        if !is_end {
            block.push(line);
        }
    }
    blocks
}

/// The directory that a file counts for: the modules of `src` apart, all else by its first part.
fn directory(path: &str) -> String {
    let mut parts = path.split('/');
    let first = parts.next().unwrap_or_default();
    match (first, parts.next(), parts.next()) {
        ("src", Some(module), Some(_)) => format!("src/{module}"),
        (_, None, _) => ".".to_owned(),
        _ => first.to_owned(),
    }
}

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = ["src", "tests", "benches", "templates", "docs"]
        .map(PathBuf::from)
        .into();
    open.extend(["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md"].map(PathBuf::from));
    while let Some(path) = open.pop() {
        let full = root().join(&path);
        if SKIPPED.iter().any(|skipped| path == Path::new(skipped)) {
            continue;
        }
        if full.is_dir() {
            open.extend(
                fs::read_dir(full)
                    .unwrap()
                    .map(|entry| path.join(entry.unwrap().file_name())),
            );
        } else if path
            .extension()
            .is_some_and(|end| end == "md" || end == "rs")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_directory_has_more_forbidden_phrases_than_its_ceiling() {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let name = path.display().to_string();
        let is_rust = path.extension().is_some_and(|end| end == "rs");
        let blocks = if is_rust {
            rust_blocks(&text)
        } else {
            markdown_blocks(&text)
        };
        let folder = directory(&name);
        let count = counts.entry(folder.clone()).or_default();
        for (kind, block) in blocks {
            let phrase = forbidden(&block);
            let is_question = kind == Kind::Comment && begins_with_a_question(&block);
            count[0] += usize::from(phrase.is_some());
            count[1] += usize::from(is_question);
            if phrase.is_some() || is_question {
                let place = format!("{name}: {}: {block:.100}", phrase.unwrap_or("question"));
                places.entry(folder.clone()).or_default().push(place);
            }
        }
    }
    let path = root().join("tests/docs/prose-ceilings.txt");
    let mut ceilings: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in fs::read_to_string(&path).unwrap_or_default().lines() {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [folder, phrases, questions] = parts[..] else {
            panic!("{line}")
        };
        ceilings.insert(
            folder.to_owned(),
            [phrases, questions].map(|number| number.parse().unwrap()),
        );
    }
    if std::env::var_os("RALPH_WRITE_DOCS").is_some() {
        let mut text = String::new();
        for (folder, [phrases, questions]) in &counts {
            let most = ceilings
                .get(folder)
                .copied()
                .unwrap_or([*phrases, *questions]);
            writeln!(
                text,
                "{folder} {} {}",
                most[0].min(*phrases),
                most[1].min(*questions)
            )
            .unwrap();
        }
        fs::write(&path, text).unwrap();
        return;
    }
    for (folder, count) in &counts {
        let most = ceilings.get(folder).copied().unwrap_or_default();
        assert!(
            count[0] <= most[0] && count[1] <= most[1],
            "{folder}: {count:?} phrases and questions, the ceilings are {most:?}; rewrite yours by docs/style.md: {:#?}",
            places[folder]
        );
    }
}

#[test]
fn the_rules_see_phrases_in_each_kind_of_text() {
    assert_eq!(
        forbidden("It asks the tests."),
        Some("asks the|all|its|tests")
    );
    assert_eq!(forbidden("Nobody can."), forbidden("Whoever comes"));
    assert_eq!(forbidden("The `nobody` user runs it."), None);
    assert_eq!(forbidden("It is, none the less, run."), None);
    assert_eq!(forbidden("ralph restores the file."), None);
    let blocks = rust_blocks(
        "/// What it is.\n/// More.\nlet a = \"put it back to work\"; // x\nlet b = \"a b\";\n",
    );
    let texts: Vec<&str> = blocks.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["What it is. More.", "put it back to work"]);
    assert!(begins_with_a_question(texts[0]) && !begins_with_a_question("Returns"));
    let blocks = markdown_blocks("# A\nb\n- c\n  d\n```\nwhatever\n```\n1. e\n");
    let texts: Vec<&str> = blocks.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["# A b", "- c d", "1. e"]);
}
