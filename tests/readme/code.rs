//! The code in the README: spans, blocks, commands of ralph in them.

/// Returns text between single backticks, and the lines of fenced blocks.
pub(super) fn code(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_fence = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_fence = !in_fence;
        } else if in_fence {
            found.push(line.to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// Returns the commands of ralph in a piece of code, each from the word after `ralph` to a comment, pipe or end.
pub(super) fn commands(code: &str) -> Vec<Vec<String>> {
    let code = code.split(" #").next().unwrap_or_default();
    let mut found: Vec<Vec<String>> = Vec::new();
    for part in code.split(['|', ';', '&']) {
        let mut words = part.trim().trim_start_matches("$ ").split_whitespace();
        if words.next() == Some("ralph") {
            found.push(words.map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn spans_and_blocks_are_code_and_comments_are_not() {
    let pieces = code(
        "Ask `ralph next --json`.\n```sh\nralph run   # ralph stop\na && ralph gate 2.\n```\nralph no\n",
    );
    assert_eq!(
        pieces,
        [
            "ralph next --json",
            "ralph run   # ralph stop",
            "a && ralph gate 2."
        ]
    );
    let all: Vec<Vec<String>> = pieces.iter().flat_map(|piece| commands(piece)).collect();
    assert_eq!(
        all,
        [vec!["next", "--json"], vec!["run"], vec!["gate", "2."]]
    );
}
