//! Unified diffs of files in which whole lines were inserted, removed or replaced.

use similar::TextDiff;
use std::time::Duration;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// After this time a diff is no longer the shortest; it is right all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// The change of a file; empty if there is none.
pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).header(name, name).to_string()
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
            "--- t\n+++ t\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
        );
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
