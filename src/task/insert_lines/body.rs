//! The lines that belong to a list item: deeper items, text and fences in it; the same answer as in `outline`.

use crate::task::file::TaskFile;
use crate::task::scan::{Line, heading, indent, item};

/// Index of the line after the last one that belongs to the item on the line `at`; blank lines at its end
/// do not.
pub(super) fn end(file: &TaskFile, all: &[Line], at: usize) -> usize {
    let text = |line: &Line| file.bytes.get(line.start..line.end).unwrap_or_default();
    let own = all.get(at).and_then(|line| Some((line, item(text(line))?.column)));
    let Some((own, column)) = own else { return at + 1 };
    let first = file.excluded.partition_point(|part| part.range.end <= own.start);
    let mut excluded = file.excluded.iter().skip(first).map(|part| &part.range).peekable();
    let mut end = at + 1;
    // The text above goes on in a line without indentation.
    let mut goes_on = true;
    // End of a part without tasks that belongs to the item, whatever the indentation of its lines.
    let mut inside = excluded.peek().filter(|part| part.start < own.next).map_or(0, |part| part.end);
    for (number, line) in all.iter().enumerate().skip(at + 1) {
        while excluded.next_if(|part| part.end <= line.start).is_some() {}
        let hidden = excluded.peek().filter(|part| part.start <= line.start);
        let text = text(line);
        let (gap, reached) = indent(text, 0);
        let belongs = match hidden {
            Some(part) if part.end == inside || reached > column => {
                // Text right behind it would go on what is put there.
                goes_on = true;
                true
            }
            Some(_) => false,
            None if gap == text.len() => {
                goes_on = false;
                continue;
            }
            None if heading(text).is_some() => false,
            None => {
                let lazy = goes_on && !opens_block(text.get(gap..).unwrap_or_default());
                goes_on = true;
                item(text).map_or(lazy || reached > column, |item| item.column > column)
            }
        };
        if !belongs {
            return end;
        }
        end = number + 1;
        if let Some(part) = excluded.peek().filter(|part| part.start < line.next) {
            inside = part.end;
        }
    }
    end
}

/// True for what ends a paragraph without a blank line: a quote, a fence, a table row, HTML, a rule.
fn opens_block(text: &[u8]) -> bool {
    let rule = |mark: u8| {
        let is_part = |byte: &u8| *byte == mark || byte.is_ascii_whitespace();
        text.iter().all(is_part) && text.split(|byte| *byte == mark).count() > 3
    };
    matches!(text.first(), Some(b'>' | b'|' | b'<'))
        || text.starts_with(b"```")
        || text.starts_with(b"~~~")
        || [b'-', b'*', b'_'].into_iter().any(rule)
}
