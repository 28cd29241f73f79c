//! What stands before the body of a Java method or type, as far as it says whether a test runner runs it.

use super::lexer::Token;
use std::iter::{Copied, Peekable};
use std::slice::Iter;

/// Annotations that make a method a test: those of `JUnit` 4 and 5 and of `TestNG`.
pub(super) const TESTS: [&str; 5] =
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"];
/// Annotations that switch a test off.
const OFF: [&str; 2] = ["Disabled", "Ignore"];

type Tokens<'t, 'a> = Peekable<Copied<Iter<'t, Token<'a>>>>;

#[derive(Default)]
pub(super) struct Head {
    is_annotated: bool,
    pub(super) is_off: bool,
    pub(super) extends_test_case: bool,
    /// Of a method: it is `public void testX()`.
    method: Option<bool>,
}

impl Head {
    pub(super) fn of<'a>(tokens: &[Token<'a>]) -> Self {
        let (mut head, mut previous, mut angles) = (Self::default(), None, 0_i64);
        let (mut is_public, mut is_void) = (false, false);
        let mut tokens: Tokens<'_, 'a> = tokens.iter().copied().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Mark(b'@') => head.annotation(&mut tokens),
                Token::Mark(b'(') => {
                    let is_empty = parenthesised(&mut tokens).is_empty();
                    if let Some(Token::Word(name)) = previous {
                        head.method = Some(is_public && is_void && is_empty && name.starts_with(b"test"));
                    }
                }
                // A field: whatever its value holds, it is no test.
                Token::Mark(b'=') => return Self::default(),
                Token::Mark(b'<') => angles += 1,
                Token::Mark(b'>') => angles -= 1,
                Token::Word(b"public") => is_public = true,
                Token::Word(b"void") => is_void = true,
                Token::Word(b"extends") if angles == 0 => {
                    head.extends_test_case |= qualified_name(&mut tokens).ends_with(b"TestCase");
                }
                _ => {}
            }
            previous = Some(token);
        }
        head
    }

    /// True for a method that is a test by its annotations, or in a `JUnit` 3 class by its name.
    pub(super) fn is_test(&self, in_test_case: bool) -> bool {
        self.method.is_some_and(|by_name| self.is_annotated || in_test_case && by_name)
    }

    /// `@a.b.Name(…)`.
    fn annotation(&mut self, tokens: &mut Tokens<'_, '_>) {
        let name = qualified_name(tokens);
        let arguments = tokens.next_if_eq(&Token::Mark(b'(')).map(|_| parenthesised(tokens));
        let arguments = arguments.unwrap_or_default();
        let is_disabled = arguments.windows(2).any(|pair| pair[0] == b"enabled" && pair[1] == b"false");
        self.is_annotated |= TESTS.iter().any(|test| test.as_bytes() == name) && !is_disabled;
        self.is_off |= OFF.iter().any(|off| off.as_bytes() == name);
    }
}

/// Reads `a.b.Name`; the last part.
fn qualified_name<'a>(tokens: &mut Tokens<'_, 'a>) -> &'a [u8] {
    let mut last: &[u8] = b"";
    while let Some(&Token::Word(word)) = tokens.peek() {
        last = word;
        tokens.next();
        if tokens.next_if_eq(&Token::Mark(b'.')).is_none() {
            break;
        }
    }
    last
}

/// Reads to the `)` that closes; the words on the way.
fn parenthesised<'a>(tokens: &mut Tokens<'_, 'a>) -> Vec<&'a [u8]> {
    let mut depth = 1_u64;
    let mut words = Vec::new();
    while depth > 0 {
        match tokens.next() {
            Some(Token::Mark(b'(')) => depth += 1,
            Some(Token::Mark(b')')) => depth -= 1,
            Some(Token::Word(word)) => words.push(word),
            Some(Token::Mark(_) | Token::Literal(_)) => {}
            None => break,
        }
    }
    words
}
