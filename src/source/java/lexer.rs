//! Splits Java into words, marks and literals, without comments.
//!
//! An unclosed literal ends with its line, an unclosed comment or text block with the file.

use std::borrow::Cow;

/// The replacement for an escaped character outside ASCII, which may be part of a name.
pub(super) const OF_A_NAME: &[u8] = b"x";

/// A piece of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier, keyword or number.
    Word(&'a [u8]),
    /// One character of punctuation.
    Mark(u8),
    /// A string, character or text block, quotes included.
    Literal(&'a [u8]),
}

impl Token<'_> {
    /// Returns the text as written.
    pub(super) fn text(self) -> String {
        match self {
            Self::Word(bytes) | Self::Literal(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Mark(byte) => char::from(byte).to_string(),
        }
    }
}

/// Decodes `\uXXXX`, and replaces a character outside ASCII by `other`.
///
/// Java decodes it before everything else, so `\u002f*` opens a comment (Java Language Specification §3.3).
pub fn unescaped<'a>(source: &'a [u8], other: &[u8]) -> Cow<'a, [u8]> {
    if !source.windows(2).any(|pair| pair == b"\\u") {
        return Cow::Borrowed(source);
    }
    let mut out = Vec::with_capacity(source.len());
    let mut rest = source;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            out.push(byte);
        } else if let Some((decoded, after)) = unicode_escape(tail) {
            out.extend_from_slice(decoded.as_ref().map_or(other, std::slice::from_ref));
            rest = after;
        } else {
            // A backslash consumes the next character: in `\\u0041` the `u` begins no escape.
            out.push(byte);
            if let Some((&next, after)) = tail.split_first() {
                out.push(next);
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

/// Reads `uXXXX`, with any number of `u`. The inner `None` is a character outside ASCII.
fn unicode_escape(tail: &[u8]) -> Option<(Option<u8>, &[u8])> {
    let letters = tail.iter().take_while(|&&byte| byte == b'u').count();
    let digits = tail.get(letters..letters + 4)?;
    if letters == 0 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let value = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((
        u8::try_from(value).ok().filter(u8::is_ascii),
        &tail[letters + 4..],
    ))
}

/// Returns the text without comments and indentation, line for line.
///
/// A text with `\uXXXX` is returned unchanged: an escape may end a comment.
pub fn code_lines(source: &[u8]) -> Cow<'_, [u8]> {
    if matches!(unescaped(source, OF_A_NAME), Cow::Owned(_)) {
        return Cow::Borrowed(source);
    }
    let (mut lexer, mut out, mut done) = (Lexer { rest: source }, Vec::new(), 0);
    while let Some(token) = lexer.next() {
        let end = source.len() - lexer.rest.len();
        let code = match token {
            Token::Mark(_) => &source[end - 1..end],
            Token::Word(bytes) | Token::Literal(bytes) => bytes,
        };
        out.extend([&line_ends(&source[done..end - code.len()]), code, b" "].concat());
        done = end;
    }
    out.extend(line_ends(&source[done..]));
    Cow::Owned(out)
}

/// Returns the line ends of a text.
fn line_ends(gap: &[u8]) -> Vec<u8> {
    gap.iter()
        .copied()
        .filter(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
}

/// Reads tokens one by one.
pub(super) struct Lexer<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (&byte, tail) = self.rest.split_first()?;
            match byte {
                b'/' if tail.first() == Some(&b'/') => {
                    self.skip_to(|rest| rest[0] == b'\n' || rest[0] == b'\r', 0);
                }
                b'/' if tail.first() == Some(&b'*') => {
                    self.rest = &tail[1..];
                    self.skip_to(|rest| rest.starts_with(b"*/"), 2);
                }
                b'"' if tail.starts_with(b"\"\"") => {
                    return Some(self.literal(b"\"\"\"", true));
                }
                b'"' | b'\'' => {
                    return Some(self.literal(if byte == b'"' { b"\"" } else { b"'" }, false));
                }
                _ if is_word(byte) => {
                    let end = self
                        .rest
                        .iter()
                        .position(|&b| !is_word(b))
                        .unwrap_or(self.rest.len());
                    let (word, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    return Some(Token::Word(word));
                }
                _ => {
                    self.rest = tail;
                    if !byte.is_ascii_whitespace() && byte > 0x20 {
                        return Some(Token::Mark(byte));
                    }
                }
            }
        }
    }
}

impl<'a> Lexer<'a> {
    /// Reads a literal that begins with its quotes.
    fn literal(&mut self, quotes: &[u8], lines: bool) -> Token<'a> {
        let (from, mut end) = (self.rest, quotes.len());
        while let Some(&byte) = from.get(end) {
            if from[end..].starts_with(quotes) {
                end += quotes.len();
                break;
            }
            if matches!(byte, b'\n' | b'\r') && !lines {
                break;
            }
            end += if byte == b'\\' { 2 } else { 1 };
        }
        let (literal, rest) = from.split_at(end.min(from.len()));
        self.rest = rest;
        Token::Literal(literal)
    }

    fn skip_to(&mut self, is_end: impl Fn(&[u8]) -> bool, past: usize) {
        while !self.rest.is_empty() && !is_end(self.rest) {
            self.rest = &self.rest[1..];
        }
        self.rest = self.rest.get(past..).unwrap_or_default();
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::code_lines;

    #[test]
    fn the_code_of_each_line_stays_on_its_line() {
        let of = |text: &str| String::from_utf8(code_lines(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(
            of("  int a; // why\n/* x\n y */ b( );\n"),
            "int a ; \n\nb ( ) ; \n"
        );
        assert_eq!(of("s = \"// no comment\";\n"), "s = \"// no comment\" ; \n");
        assert_eq!(
            of("s = \"\"\"\n  /* text\n  \"\"\";"),
            "s = \"\"\"\n  /* text\n  \"\"\" ; "
        );
        let escaped = "/* \\u002a/ a(); /* */";
        assert_eq!(of(escaped), escaped);
        for text in ["", "\n\n", "/*\n", "\"\n", "\"\"\"\n", "//", "\\"] {
            assert_eq!(
                of(text).matches('\n').count(),
                text.matches('\n').count(),
                "{text}"
            );
        }
    }
}
