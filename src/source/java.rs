//! How many enabled test methods a Java source holds, without recursion; a test that only an inherited or composed
//! annotation makes is not seen.

mod lexer;
mod members;
mod statements;

pub use lexer::code_lines;
pub use members::lost_members;
pub use statements::{Statements, is_weakened};

use lexer::{Lexer, Token, unescaped};
use std::iter::Peekable;

/// Annotations that make a method a test: those of `JUnit` 4 and 5 and of `TestNG`.
const TESTS: [&str; 5] = ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"];
/// Annotations that switch a test off.
const OFF: [&str; 2] = ["Disabled", "Ignore"];

/// Enabled test methods: annotated with `@Test`, `@ParameterizedTest`, `@RepeatedTest`, `@TestFactory` or
/// `@TestTemplate` (also fully qualified), or `JUnit` 3's `public void testX()` in a class that extends
/// `TestCase`; without `@Disabled` or `@Ignore` on the method or a class around it, and without `TestNG`'s
/// `enabled = false`.
pub fn enabled_tests(source: &[u8]) -> u64 {
    let bytes = unescaped(source);
    let mut reader = Reader {
        tokens: Lexer { rest: &bytes }.peekable(),
        scopes: Vec::new(),
        member: Member::default(),
        found: 0,
    };
    while let Some(token) = reader.tokens.next() {
        reader.read(token);
    }
    reader.found
}

/// What a pair of braces is.
#[derive(Clone, Copy)]
enum Scope {
    /// The body of a type.
    Type { off: bool, junit3: bool },
    /// Anything else: a method's body, an initialiser, an enum constant's body.
    Code,
}

/// The declaration that is being read.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing about a declaration; all combinations occur"
)]
struct Member<'a> {
    test: bool,
    off: bool,
    public: bool,
    void: bool,
    /// Inside a type's header.
    is_type: bool,
    /// Open `<` of the type parameters.
    angles: i64,
    junit3: bool,
    /// The name of the method whose parameters were seen, and whether it had any.
    method: Option<(&'a [u8], bool)>,
    previous: Option<Token<'a>>,
}

struct Reader<'a> {
    tokens: Peekable<Lexer<'a>>,
    scopes: Vec<Scope>,
    member: Member<'a>,
    found: u64,
}

impl<'a> Reader<'a> {
    fn read(&mut self, token: Token<'a>) {
        if let Some(Scope::Code) = self.scopes.last() {
            match token {
                Token::Mark(b'{') => self.scopes.push(Scope::Code),
                Token::Mark(b'}') => self.close(),
                _ => {}
            }
            return;
        }
        match token {
            Token::Mark(b'@') => self.annotation(),
            Token::Mark(b'{') => self.open(),
            Token::Mark(b'}') => self.close(),
            Token::Mark(b';') => self.member = Member::default(),
            Token::Mark(b'(') => {
                let empty = self.skip_parentheses().is_empty();
                if let (Some(Token::Word(name)), false) = (self.member.previous, self.member.is_type) {
                    self.member.method = Some((name, empty));
                }
            }
            Token::Mark(b'=') => self.skip_initialiser(),
            Token::Word(word) => self.word(word),
            Token::Mark(b'<') => self.member.angles += 1,
            Token::Mark(b'>') => self.member.angles -= 1,
            Token::Mark(_) | Token::Literal(_) => {}
        }
        self.member.previous = Some(token);
    }

    fn word(&mut self, word: &'a [u8]) {
        match word {
            b"public" => self.member.public = true,
            b"void" => self.member.void = true,
            b"class" | b"interface" | b"enum" => self.member.is_type = true,
            b"record" if matches!(self.tokens.peek(), Some(Token::Word(_))) => self.member.is_type = true,
            b"extends" if self.member.is_type && self.member.angles == 0 => {
                self.member.junit3 |= self.qualified_name().ends_with(b"TestCase");
            }
            _ => {}
        }
    }

    /// `@a.b.Name(…)`; `@interface` begins a type.
    fn annotation(&mut self) {
        if self.tokens.peek() == Some(&Token::Word(b"interface")) {
            return;
        }
        let name = self.qualified_name();
        let mut switched_off = false;
        if self.tokens.peek() == Some(&Token::Mark(b'(')) {
            self.tokens.next();
            let words = self.skip_parentheses();
            switched_off = words.windows(2).any(|pair| pair[0] == b"enabled" && pair[1] == b"false");
        }
        self.member.test |= TESTS.iter().any(|test| test.as_bytes() == name) && !switched_off;
        self.member.off |= OFF.iter().any(|off| off.as_bytes() == name);
    }

    /// Reads `a.b.Name`; the last part.
    fn qualified_name(&mut self) -> &'a [u8] {
        let mut last: &[u8] = b"";
        while let Some(&Token::Word(word)) = self.tokens.peek() {
            last = word;
            self.tokens.next();
            if self.tokens.peek() != Some(&Token::Mark(b'.')) {
                break;
            }
            self.tokens.next();
        }
        last
    }

    fn open(&mut self) {
        let (off, junit3) = match self.scopes.last() {
            Some(Scope::Type { off, junit3 }) => (*off, *junit3),
            _ => (false, false),
        };
        let member = std::mem::take(&mut self.member);
        if member.is_type {
            self.scopes.push(Scope::Type { off: off || member.off, junit3: member.junit3 });
            return;
        }
        if let (Some((name, no_parameters)), false) = (member.method, off || member.off) {
            let by_name =
                junit3 && member.public && member.void && no_parameters && name.starts_with(b"test");
            self.found += u64::from(member.test || by_name);
        }
        self.scopes.push(Scope::Code);
    }

    fn close(&mut self) {
        self.scopes.pop();
        self.member = Member::default();
    }

    /// Reads to the `)` that closes; the words on the way.
    fn skip_parentheses(&mut self) -> Vec<&'a [u8]> {
        let mut depth = 1_u64;
        let mut words = Vec::new();
        while depth > 0 {
            match self.tokens.next() {
                Some(Token::Mark(b'(')) => depth += 1,
                Some(Token::Mark(b')')) => depth -= 1,
                Some(Token::Word(word)) => words.push(word),
                Some(Token::Mark(_) | Token::Literal(_)) => {}
                None => break,
            }
        }
        words
    }

    /// Reads a field's value up to its `;`, whatever braces it holds.
    fn skip_initialiser(&mut self) {
        let mut depth = 0_i64;
        for token in self.tokens.by_ref() {
            match token {
                Token::Mark(b'{' | b'(' | b'[') => depth += 1,
                Token::Mark(b'}' | b')' | b']') => depth -= 1,
                Token::Mark(b';') if depth <= 0 => break,
                _ => {}
            }
        }
        self.member = Member::default();
    }
}

#[cfg(test)]
mod tests;
