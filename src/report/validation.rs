//! Reads `validation-report.md` (docs/design.md "Final gate"): nothing but a cell that says PASS counts as one.

use crate::machine::event::Validation;
use crate::source::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The most gaps that are kept by their text.
pub const MAX_GAPS: usize = 50;

/// The longest text of one gap, in characters.
const GAP_CHARS: usize = 300;

/// The longest report that is read, in bytes; a longer one counts one UNKNOWN.
const LONGEST: usize = 4 * 1024 * 1024;

fn add_gap(report: &mut Validation, text: &str) {
    if report.gaps.len() < MAX_GAPS {
        report.gaps.push(text::line(text, GAP_CHARS));
    }
}

/// A report without content, which is no pass.
fn unreadable_report(why: &str) -> Validation {
    let mut report = Validation {
        unknown: 1,
        ..Validation::default()
    };
    add_gap(&mut report, why);
    report
}

/// Counts the cells of every table column headed Status, Result or Verdict (any case, markup ignored).
pub fn read_validation(markdown: &[u8]) -> Validation {
    let mut report = Validation::default();
    if markdown.len() > LONGEST {
        return unreadable_report(&format!(
            "validation-report.md is longer than {LONGEST} bytes and was not read."
        ));
    }
    let text = String::from_utf8_lossy(markdown);
    let mut table = Table::default();
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        table.take_event(event, &mut report);
    }
    if report.pass == 0 && report.fail == 0 && report.unknown == 0 {
        return unreadable_report(
            "validation-report.md has no table with a cell under Status, Result or Verdict.",
        );
    }
    report
}

/// The table that is being read.
#[derive(Default)]
struct Table {
    judging: Vec<usize>,
    row: Vec<TableCell>,
    in_cell: bool,
}

/// The text of a cell; `odd` when it holds what a reader sees otherwise than as this text (HTML, images).
#[derive(Default)]
struct TableCell {
    text: String,
    odd: bool,
}

impl Table {
    fn take_event(&mut self, event: Event<'_>, report: &mut Validation) {
        match event {
            Event::Start(Tag::Table(_)) => *self = Self::default(),
            Event::Start(Tag::TableHead | Tag::TableRow) => self.row.clear(),
            Event::Start(Tag::TableCell) => {
                self.row.push(TableCell::default());
                self.in_cell = true;
            }
            Event::End(TagEnd::TableCell) => self.in_cell = false,
            Event::End(TagEnd::TableHead) => self.read_head(),
            Event::End(TagEnd::TableRow) => self.read_row(report),
            event => self.fill_cell(event),
        }
    }

    fn fill_cell(&mut self, event: Event<'_>) {
        if !self.in_cell {
            return;
        }
        let Some(cell) = self.row.last_mut() else {
            return;
        };
        match event {
            Event::Text(text) | Event::Code(text) => cell.text.push_str(&text),
            Event::SoftBreak | Event::HardBreak => cell.text.push(' '),
            Event::InlineHtml(_) | Event::Html(_) | Event::Start(Tag::Image { .. }) => {
                cell.odd = true;
            }
            _ => {}
        }
    }

    fn read_head(&mut self) {
        let columns = self.row.iter().enumerate().filter(|(_, cell)| {
            let word = cell.text.trim_matches(|c: char| !c.is_alphanumeric());
            ["status", "result", "verdict"]
                .iter()
                .any(|head| word.eq_ignore_ascii_case(head))
        });
        self.judging = columns.map(|(column, _)| column).collect();
    }

    fn read_row(&mut self, report: &mut Validation) {
        let mut clean = true;
        for &column in &self.judging {
            let passes = self.row.get(column).and_then(read_cell);
            clean &= passes == Some(true);
            let count = match passes {
                Some(true) => &mut report.pass,
                Some(false) => &mut report.fail,
                None => &mut report.unknown,
            };
            *count = count.saturating_add(1);
        }
        if !clean {
            let cells: Vec<&str> = self.row.iter().map(|cell| cell.text.trim()).collect();
            add_gap(report, &cells.join(" | "));
        }
    }
}

/// True for PASS and false for FAIL, alone in the cell, in any case, signs beside them ignored; but a sign beside
/// PASS that does not mean the same (`❌ PASS`, `PASS?`) makes it unknown.
fn read_cell(cell: &TableCell) -> Option<bool> {
    let word = cell
        .text
        .trim_matches(|c: char| c.is_whitespace() || !(c.is_ascii() || c.is_alphanumeric()));
    let passes = word.eq_ignore_ascii_case("PASS")
        && cell.text.chars().all(|c: char| {
            let is_tick = matches!(c, '✅' | '✔' | '✓' | '☑' | '🟢' | '👍' | '\u{fe0f}');
            c.is_ascii() || c.is_whitespace() || is_tick
        });
    (!cell.odd && (passes || word.eq_ignore_ascii_case("FAIL"))).then_some(passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(markdown: &str) -> (u32, u32, u32) {
        let report = read_validation(markdown.as_bytes());
        (report.pass, report.fail, report.unknown)
    }

    /// Every cell says PASS, and there is one.
    fn is_clean(report: &Validation) -> bool {
        report.pass > 0 && report.fail == 0 && report.unknown == 0
    }

    fn cell(cell: &str) -> (u32, u32, u32) {
        counts(&format!(
            "| Requirement | Status |\n|---|---|\n| R1 | {cell} |\n"
        ))
    }

    #[test]
    fn cells_under_the_three_headings_are_counted_and_gaps_named() {
        let report = read_validation(
            b"# Report\n\n| Req | **Status** | Note |\n|--|:-:|--|\n| R1 | PASS | |\n| R2 | FAIL | no `test` |\n\
              | R3 | maybe | \x1b[31m |\n\ntext\n\n| Part | Verdict |\n|-|-|\n| a | **PASS** |\n\n| x | Score |\n|-|-|\n| y | FAIL |\n",
        );
        assert_eq!((report.pass, report.fail, report.unknown), (2, 1, 1));
        assert_eq!(report.gaps, ["R2 | FAIL | no test", "R3 | maybe |"]);
        assert!(!is_clean(&report));
        assert!(is_clean(&read_validation(b"|status|\n|-|\n|pass|\n")));
    }

    #[test]
    fn signs_and_markup_around_the_word_are_ignored() {
        for pass in [
            "PASS",
            "pass",
            " **PASS** ",
            "✅ PASS",
            "PASS ✔️",
            "`PASS`",
            "[PASS](#r1)",
            "_Pass_",
        ] {
            assert_eq!(cell(pass), (1, 0, 0), "{pass}");
        }
        for fail in ["FAIL", "❌ FAIL", "**Fail**", "✅ FAIL", "FAIL ⚠️"] {
            assert_eq!(cell(fail), (0, 1, 0), "{fail}");
        }
    }

    #[test]
    fn anything_else_is_unknown() {
        for unknown in [
            "",
            "UNKNOWN",
            "PASS?",
            "❌ PASS",
            "PASS ⚠️",
            "✅",
            "PASSED",
            "PASS (partly)",
            "not PASS",
            "~~PASS~~",
            "<!-- x -->PASS",
            "<s>PASS</s>",
            "PASS / FAIL",
            "N/A",
            "ＰＡＳＳ",
            "PASS äh",
        ] {
            assert_eq!(cell(unknown), (0, 0, 1), "{unknown}");
        }
    }

    #[test]
    fn a_report_without_a_cell_counts_one_unknown() {
        for empty in [
            "",
            "All PASS.",
            "| Status |\n|---|\n",
            "```\n| Status |\n|---|\n| PASS |\n```\n",
            "<table><tr><th>Status</th></tr><tr><td>PASS</td></tr></table>",
            "| State |\n|---|\n| PASS |\n",
        ] {
            assert_eq!(counts(empty), (0, 0, 1), "{empty}");
        }
        assert_eq!(read_validation(b"").gaps.len(), 1);
        assert_eq!(read_validation(&vec![b'a'; LONGEST + 1]).unknown, 1);
    }

    #[test]
    fn a_short_row_is_unknown_and_gaps_are_bounded() {
        assert_eq!(counts("| Req | Status |\n|-|-|\n| R1 |\n"), (0, 0, 1));
        let long = format!(
            "| Req | Status |\n|-|-|\n{}",
            format!("| {} | FAIL |\n", "r".repeat(999)).repeat(60)
        );
        let report = read_validation(long.as_bytes());
        assert_eq!((report.fail, report.gaps.len()), (60, MAX_GAPS));
        assert!(
            report
                .gaps
                .iter()
                .all(|gap| gap.chars().count() <= GAP_CHARS)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_give_at_least_one_cell(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let report = read_validation(&bytes);
            prop_assert!(report.pass + report.fail + report.unknown > 0);
            prop_assert!(report.gaps.iter().all(|gap| !gap.contains(char::is_control)));
            prop_assert_eq!(report.gaps.is_empty(), is_clean(&report));
        }

        #[test]
        fn every_row_is_counted_once(cells in proptest::collection::vec("(PASS|FAIL|UNKNOWN|[a-z]{0,4})", 1..20)) {
            let rows: Vec<String> = cells.iter().map(|cell| format!("| R | {cell} |")).collect();
            let report = read_validation(format!("| Req | Result |\n|-|-|\n{}\n", rows.join("\n")).as_bytes());
            let said = |word: &str| cells.iter().filter(|cell| cell.eq_ignore_ascii_case(word)).count();
            let all = u32::try_from(cells.len()).expect("few");
            prop_assert_eq!(usize::try_from(report.pass).expect("few"), said("PASS"));
            prop_assert_eq!(usize::try_from(report.fail).expect("few"), said("FAIL"));
            prop_assert_eq!(report.pass + report.fail + report.unknown, all);
        }
    }
}
