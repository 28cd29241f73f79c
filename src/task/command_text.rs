//! Finds the text of commands in a task's steps that continues on further lines.
//!
//! Such text is a heredoc, or a quoted argument in inline code that is still open at the end of its line. It belongs
//! to the command, even if it looks like a task. A text without an end within [`MAX_LINES`] lines is ignored, so a
//! stray mark hides nothing. Runs in linear time.

use super::scan::{FileLine, read_box, read_heading, scan_lines};
use std::ops::Range;

/// Maximum length of a command's text, in lines.
const MAX_LINES: usize = 200;

/// Returns the texts of commands below tasks in ascending order. A line inside `parts` begins no text.
pub(super) fn command_texts(
    bytes: &[u8],
    from: usize,
    parts: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut parts = parts.iter().peekable();
    let mut is_in_task = false;
    let mut rest = scan_lines(bytes, from);
    while let Some(line) = rest.next() {
        while parts.next_if(|part| part.end <= line.start).is_some() {}
        if parts.peek().is_some_and(|part| part.start <= line.start) {
            continue;
        }
        let text = bytes.get(line.start..line.end).unwrap_or_default();
        let boxed = read_box(text).and_then(|(found, content)| content.get(found.text..));
        is_in_task = boxed.is_some() || is_in_task && read_heading(text).is_none();
        let Some(open) = open_at_end(boxed.unwrap_or(text)).filter(|_| is_in_task) else {
            continue;
        };
        if let Some(last) = last_line(bytes, line.next, &open) {
            found.push(line.next..last.next);
            rest = scan_lines(bytes, last.next);
        }
    }
    found
}

/// An unclosed heredoc or quotation at the end of a line.
#[derive(Debug, PartialEq, Eq)]
struct Open<'a> {
    /// The word that ends a heredoc.
    heredoc: Option<&'a [u8]>,
    /// The quotation mark, and the number of backticks that close the inline code around it.
    quote: Option<(u8, usize)>,
}

/// Returns the heredoc, or the quoted argument in unclosed inline code, that a line leaves open.
fn open_at_end(text: &[u8]) -> Option<Open<'_>> {
    // The number of unclosed backticks, and the quotation that was open before them.
    let mut code: Option<(usize, Option<&[u8]>)> = None;
    let (mut heredoc, mut quote) = (None, None);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        // A run counts only for these two, which step over it: a count for each byte would be quadratic.
        let run = match byte {
            b'`' | b'<' => rest.iter().take_while(|next| *next == byte).count(),
            _ => 1,
        };
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        let begins_argument = matches!(before, Some(b' ' | b'\t' | b'=' | b'('));
        match byte {
            b'`' => {
                code = match code {
                    None => Some((run, heredoc)),
                    Some((open, outside)) if open == run => {
                        (heredoc, quote) = (outside, None);
                        None
                    }
                    open => open,
                };
                at += run;
                continue;
            }
            b'<' if run == 2 => {
                if let Some((word, length)) = read_delimiter(rest) {
                    heredoc = Some(word);
                    at += length;
                    continue;
                }
            }
            b'\\' => at += 1,
            b'"' | b'\'' if quote == Some(*byte) => quote = None,
            b'"' | b'\'' if code.is_some() && quote.is_none() && begins_argument => {
                quote = Some(*byte);
            }
            _ => {}
        }
        at += run;
    }
    let quote = quote.zip(code.map(|(run, _)| run));
    (heredoc.is_some() || quote.is_some()).then_some(Open { heredoc, quote })
}

/// Returns the word of `<<EOF`, `<<-EOF`, `<<'EOF'` or `<< "EOF"`, and the length of the whole text.
fn read_delimiter(text: &[u8]) -> Option<(&[u8], usize)> {
    let rest = text.strip_prefix(b"<<")?;
    let rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
    let quote = rest.first().filter(|byte| matches!(byte, b'"' | b'\''));
    let rest = rest.get(usize::from(quote.is_some())..)?;
    let length = rest.iter().take_while(|byte| is_word(**byte)).count();
    let (word, rest) = rest
        .split_at_checked(length)
        .filter(|(word, _)| !word.is_empty())?;
    if quote.is_some() && rest.first() != quote {
        return None;
    }
    Some((word, text.len() - rest.len() + usize::from(quote.is_some())))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the line that ends the text; `None` if no line does.
fn last_line(bytes: &[u8], from: usize, open: &Open<'_>) -> Option<FileLine> {
    let mut rest = scan_lines(bytes, from).take(MAX_LINES);
    let heredoc = open.heredoc.and_then(|_| {
        rest.find(|line| {
            open.heredoc
                .is_some_and(|word| after_word(line.text_in(bytes), word).is_some())
        })
    });
    if open.heredoc.is_some() && heredoc.is_none() {
        return None;
    }
    let Some((quote, run)) = open.quote else {
        return heredoc;
    };
    let ends_quote = |line: &FileLine| {
        let text = line.text_in(bytes);
        let start = text.iter().position(|byte| *byte == quote);
        let after = start.and_then(|start| text.get(start..));
        after.is_some_and(|after| {
            after
                .windows(run)
                .any(|part| part.iter().all(|byte| *byte == b'`'))
        })
    };
    heredoc
        .filter(ends_quote)
        .or_else(|| rest.find(ends_quote))
        .or(heredoc)
}

/// Returns the text after the word that ends a heredoc, if the line begins with that word.
fn after_word<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    text.trim_ascii_start()
        .strip_prefix(word)
        .filter(|rest| !rest.first().is_some_and(|next| is_word(*next)))
}

#[cfg(test)]
mod tests {
    use super::open_at_end;

    #[test]
    fn what_a_line_leaves_open() {
        let open = |text: &'static str| {
            let open = open_at_end(text.as_bytes())?;
            let word = open
                .heredoc
                .map(|word| String::from_utf8_lossy(word).into_owned());
            Some((
                word.unwrap_or_default(),
                open.quote.map(|(quote, run)| (char::from(quote), run)),
            ))
        };
        let heredoc = |word: &str| Some((word.to_owned(), None));
        assert_eq!(open("Run `cat > a.md <<'EOF'"), heredoc("EOF"));
        assert_eq!(open("Run cat > a.md <<-END"), heredoc("END"));
        assert_eq!(
            open("`git commit -m \"fix: a"),
            Some((String::new(), Some(('"', 1))))
        );
        assert_eq!(
            open("``git commit -m 'fix `a`"),
            Some((String::new(), Some(('\'', 2))))
        );
        let both = Some(("EOF".to_owned(), Some(('"', 1))));
        assert_eq!(open("`git commit -m \"$(cat <<'EOF'"), both);
        for closed in [
            "Use `<<'EOF'` and \"quotes\"",
            "`git commit -m \"fix: a\"`",
            "a stray ` and don't",
            "a stray ` and 5\" of it",
            "cat <<<EOF",
            "say \"hello",
            "1 << 'x",
            "`a \\\" b",
        ] {
            assert_eq!(open(closed), None, "{closed}");
        }
    }
}
