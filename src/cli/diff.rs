//! Unified diffs of files in which whole lines were inserted, removed or replaced.

use std::collections::HashMap;
use std::fmt::Write as _;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The change of a file; empty if there is none. Linear: a line counts as inserted unless it follows later in
/// the file before, so that the diff is always right, though of moved lines not always the shortest.
pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let changes = changes(before, after);
    let is_near = |at: usize| {
        let near = changes.get(at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(changes.len()));
        near.is_some_and(|near| near.iter().any(|(tag, _)| *tag != ' '))
    };
    let mut diff = format!("--- {name}\n+++ {name}\n");
    let (mut old_line, mut new_line) = (1, 1);
    let mut rest = changes.as_slice();
    let mut at = 0;
    while !rest.is_empty() {
        let is_hunk = is_near(at);
        let length = (at..changes.len()).take_while(|at| is_near(*at) == is_hunk).count();
        let (hunk, others) = rest.split_at(length);
        let old = hunk.iter().filter(|(tag, _)| *tag != '+').count();
        let new = hunk.iter().filter(|(tag, _)| *tag != '-').count();
        if is_hunk {
            let _ = writeln!(diff, "@@ -{} +{} @@", range(old_line, old), range(new_line, new));
            for (tag, line) in hunk {
                let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
                let _ = write!(diff, "{tag}{line}{end}");
            }
        }
        (old_line, new_line, at, rest) = (old_line + old, new_line + new, at + length, others);
    }
    diff
}

fn range(start: usize, length: usize) -> String {
    match length {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        _ => format!("{start},{length}"),
    }
}

/// The lines of both files in order: ` ` in both, `-` in the file before, `+` in the file after.
fn changes<'a>(before: &'a str, after: &'a str) -> Vec<(char, &'a str)> {
    let mut later: HashMap<&str, usize> = HashMap::new();
    for line in before.split_inclusive('\n') {
        *later.entry(line).or_default() += 1;
    }
    let mut old = before.split_inclusive('\n').peekable();
    let mut new = after.split_inclusive('\n').peekable();
    let mut changes = Vec::new();
    loop {
        let tag = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(old), Some(new)) if old == new => ' ',
            (Some(_), Some(new)) if later.get(new).is_some_and(|count| *count > 0) => '-',
            (Some(_), None) => '-',
            (_, Some(_)) => '+',
        };
        let from_old = old.next_if(|_| tag != '+').inspect(|line| {
            later.entry(line).and_modify(|count| *count -= 1);
        });
        let from_new = new.next_if(|_| tag != '-');
        changes.extend(from_new.or(from_old).map(|line| (tag, line)));
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn inserted_removed_and_replaced_lines_are_shown_with_three_lines_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let after = "a\nb\nc\nd\nX\ne\nf\ng\nh\ni\n";
        insta::assert_snapshot!(unified("t", before, after), @r"
        --- t
        +++ t
        @@ -2,9 +2,9 @@
         b
         c
         d
        +X
         e
         f
         g
         h
         i
        -j
        ");
        assert_eq!(unified("t", before, before), "");
        assert_eq!(unified("t", "", "a\n"), "--- t\n+++ t\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(
            unified("t", "a\nb", "a\nc\n"),
            "--- t\n+++ t\n@@ -1,2 +1,2 @@\n a\n+c\n-b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("t", "a\nz\nb\n", "a\nb\nz\n"), "--- t\n+++ t\n@@ -1,3 +1,3 @@\n a\n-z\n b\n+z\n");
    }

    #[test]
    fn applying_a_diff_gives_the_file_after() {
        for (before, after) in [
            ("a\na\nb\n", "b\na\na\n"),
            ("x\ny\nx\ny\n", "y\nx\nz\ny\nx\n"),
            ("a\n", ""),
            ("a\nb\nc\n", "c\nb\na"),
        ] {
            let diff = unified("t", before, after).replace("\n\\ No newline at end of file\n", "\u{0}");
            let side = |drop: char| -> String {
                let lines = diff.split_inclusive(['\n', '\u{0}']).skip(2);
                let kept = lines.filter(|line| !line.starts_with("@@") && !line.starts_with(drop));
                kept.map(|line| line[1..].trim_end_matches('\u{0}')).collect()
            };
            assert_eq!((side('+'), side('-')), (before.to_owned(), after.to_owned()), "{diff}");
        }
    }
}
