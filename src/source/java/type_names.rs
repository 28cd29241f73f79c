//! The top-level types of a Java source, and the code that runs when one is loaded.

use super::lexer::{Lexer, OF_A_NAME, Token, unescaped};
use super::members::members;
use crate::source::lines::{how_often, take};

/// Returns the full names of the types in a source, separated by `/`.
pub fn top_types(source: &[u8]) -> Vec<String> {
    let bytes = unescaped(source, OF_A_NAME);
    let mut tokens = Lexer { rest: &bytes }.peekable();
    let (mut package, mut types, mut depth) = (String::new(), Vec::new(), 0_u64);
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark(b'{' | b'(') => depth += 1,
            Token::Mark(b'}' | b')') => depth = depth.saturating_sub(1),
            Token::Word(b"package") if depth == 0 => {
                while let Some(part) = tokens.next_if(|token| *token != Token::Mark(b';')) {
                    package += &if part == Token::Mark(b'.') {
                        "/".to_owned()
                    } else {
                        part.text()
                    };
                }
                package.push('/');
            }
            Token::Word(b"class" | b"interface" | b"enum" | b"record") if depth == 0 => {
                if let Some(Token::Word(_)) = tokens.peek()
                    && let Some(name) = tokens.next()
                {
                    types.push(package.clone() + &name.text());
                }
            }
            _ => {}
        }
    }
    types
}

/// Returns blocks that only the new version of a class runs on loading or creation.
pub(in crate::source) fn adds_initialiser(before: &[u8], now: &[u8]) -> Option<(u64, String)> {
    let mut known = how_often(initialiser_blocks(before));
    let mut new = initialiser_blocks(now)
        .into_iter()
        .filter(|block| !take(&mut known, block));
    let first = crate::source::text::line(&new.next()?, 120);
    Some((1 + new.count() as u64, first))
}

/// Returns the initialiser blocks of a source.
fn initialiser_blocks(source: &[u8]) -> Vec<String> {
    let members = members(source).into_iter().map(|member| member.words);
    members
        .filter(|words| words.starts_with('{') || words.starts_with("static{"))
        .collect::<Vec<_>>()
}
