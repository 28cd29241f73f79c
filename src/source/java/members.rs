//! The members of a Java source, for comparing two versions by what the compiler reads.
//!
//! Comments, white space, imports and the order of members do not count. The text before the body of a method or type
//! decides if a test runner runs it.

use super::lexer::{Lexer, OF_A_NAME, Token, unescaped};
use crate::source::digest_parts;
use crate::source::lines::{how_often, take};
use std::iter::{Copied, Peekable};
use std::slice::Iter;

/// A field, method, initialiser, or the header of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct JavaMember {
    /// The digest of the headers of the types around it.
    headers: String,
    pub(super) words: String,
    is_enabled_test: bool,
    /// True for a test under a condition (`@DisabledIf`, `@EnabledOnOs`).
    is_conditional: bool,
}

/// Returns the number of enabled test methods in a source.
///
/// They are annotated with `@Test`, `@ParameterizedTest`, `@RepeatedTest`, `@TestFactory` or `@TestTemplate` (also
/// fully qualified), or are `JUnit` 3's `public void testX()` in a class that extends `TestCase`. Neither the method
/// nor a class around it has `@Disabled`, `@Ignore` or `TestNG`'s `enabled = false`. A test that only an inherited or
/// composed annotation makes is not recognised.
pub(in crate::source) fn enabled_tests(source: &[u8]) -> u64 {
    members(source)
        .iter()
        .filter(|member| member.is_enabled_test)
        .count() as u64
}

/// Counts the enabled tests that run only under a condition.
pub(in crate::source) fn conditional_tests(source: &[u8]) -> u64 {
    members(source)
        .iter()
        .filter(|member| member.is_enabled_test && member.is_conditional)
        .count() as u64
}

/// Code that disables the checks of a test, in the form of [`Member::words`].
///
/// It ends a test before it checks anything, or never checks it.
const DEAD: [&str; 8] = [
    "if(true)return;",
    "if(true){return;",
    "if(false)",
    "if(!true)",
    "while(false)",
    "assumeTrue(false",
    "assumeFalse(true",
    "Assumptions.abort(",
];

/// Returns the members of `written` that `now` lost: their number, and the first.
///
/// A changed member is lost too.
///
/// A member that `base` already had may change if it is a test. Code that tests rely on may not. `None` if nothing is
/// lost.
pub(in crate::source) fn lost_members(
    base: Option<&[u8]>,
    written: &[u8],
    now: Option<&[u8]>,
) -> Option<(u64, String)> {
    let mut present = how_often(members(now.unwrap_or_default()));
    let mut before = how_often(members(base.unwrap_or_default()));
    let mut lost = members(written).into_iter().filter(|member| {
        let was_there = take(&mut before, member);
        let may_go = was_there && is_test(member);
        !take(&mut present, member) && !may_go
    });
    let first = crate::source::text::line(&lost.next()?.words, 120);
    Some((1 + lost.count() as u64, first))
}

fn is_test(member: &JavaMember) -> bool {
    let words = &member.words;
    words.contains("void test") || TESTS.iter().any(|test| words.contains(&format!("@{test}")))
}

/// The properties that a type gives to its members.
#[derive(Default)]
struct Type {
    headers: String,
    is_off: bool,
    is_conditional: bool,
    is_test_case: bool,
}

/// The current declaration.
#[derive(Default)]
struct Declaration<'a> {
    words: String,
    /// Its tokens before its body.
    head: Vec<Token<'a>>,
    /// Number of open parentheses.
    depth: u32,
    is_type: bool,
    /// True if it has a `=` outside an annotation's parentheses.
    is_value: bool,
}

impl<'a> Declaration<'a> {
    fn add(&mut self, token: Token<'a>, next: Option<&Token<'_>>) {
        match token {
            Token::Mark(b'(') => self.depth += 1,
            Token::Mark(b')') => self.depth = self.depth.saturating_sub(1),
            Token::Mark(b'=') => self.is_value |= self.depth == 0,
            // A method may have this name.
            Token::Word(b"record") if !matches!(next, Some(Token::Word(_))) => {}
            Token::Word(b"class" | b"interface" | b"enum" | b"record") if self.depth == 0 => {
                // Neither `A.class` nor a class within a value.
                self.is_type |= !self.words.ends_with('.') && !self.is_value;
            }
            _ => {}
        }
        self.head.push(token);
        self.say(token);
    }

    /// Adds the words of a token, with a space where two would merge.
    fn say(&mut self, token: Token<'_>) {
        let text = token.text();
        if self.words.ends_with(is_part) && text.starts_with(is_part) {
            self.words.push(' ');
        }
        self.words.push_str(&text);
    }
}

/// Returns the members of a source, in linear time and without recursion for any depth of types.
pub(super) fn members(source: &[u8]) -> Vec<JavaMember> {
    let bytes = unescaped(source, OF_A_NAME);
    let mut tokens = Lexer { rest: &bytes }.peekable();
    let (mut types, mut found) = (Vec::<Type>::new(), Vec::new());
    let mut declaration = Declaration::default();
    while let Some(token) = tokens.next() {
        let has_body =
            token == Token::Mark(b'{') && (!declaration.is_type || declaration.depth > 0);
        if has_body {
            declaration.say(token);
            body(&mut tokens, &mut declaration);
        }
        let ends = match token {
            // Text in parentheses is a value.
            Token::Mark(b';' | b'{') => declaration.depth == 0,
            Token::Mark(b'}') => true,
            _ => {
                declaration.add(token, tokens.peek());
                false
            }
        };
        if !ends {
            continue;
        }
        let Declaration {
            words,
            head,
            is_type,
            ..
        } = std::mem::take(&mut declaration);
        let (head, root) = (MemberHead::of(&head), Type::default());
        let around = types.last().unwrap_or(&root);
        let is_off = head.is_off || around.is_off;
        let is_conditional = head.is_conditional || around.is_conditional;
        let brings_names = words.starts_with("import ") || words.starts_with("package ");
        if !words.is_empty() && !brings_names {
            let is_dead = DEAD.iter().any(|dead| words.contains(dead));
            let is_enabled_test =
                has_body && !is_off && !is_dead && head.is_test(around.is_test_case);
            let (headers, words) = (around.headers.clone(), words.clone());
            found.push(JavaMember {
                headers,
                words,
                is_enabled_test,
                is_conditional,
            });
        }
        if is_type && token == Token::Mark(b'{') {
            let headers = digest_parts([&around.headers, &words]);
            types.push(Type {
                headers,
                is_off,
                is_conditional,
                is_test_case: head.extends_test_case,
            });
        } else if token == Token::Mark(b'}') {
            types.pop();
        }
    }
    found
}

/// Reads to the closing brace.
fn body<'a>(tokens: &mut Peekable<Lexer<'a>>, declaration: &mut Declaration<'a>) {
    let mut depth = 1_u64;
    while depth > 0 {
        let Some(token) = tokens.next() else { return };
        match token {
            Token::Mark(b'{') => depth += 1,
            Token::Mark(b'}') => depth -= 1,
            _ => {}
        }
        declaration.say(token);
    }
}

pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Annotations that make a method a test: those of `JUnit` 4 and 5 and of `TestNG`.
pub(super) const TESTS: [&str; 5] = [
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
];
/// Annotations that switch a test off.
const OFF: [&str; 2] = ["Disabled", "Ignore"];

type JavaTokens<'t, 'a> = Peekable<Copied<Iter<'t, Token<'a>>>>;

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own meaning"
)]
pub(super) struct MemberHead {
    is_annotated: bool,
    pub(super) is_off: bool,
    is_conditional: bool,
    pub(super) extends_test_case: bool,
    /// For a method, true if it is `public void testX()`.
    method: Option<bool>,
}

impl MemberHead {
    pub(super) fn of<'a>(tokens: &[Token<'a>]) -> Self {
        let (mut head, mut previous, mut angles) = (Self::default(), None, 0_i64);
        let (mut is_public, mut is_void) = (false, false);
        let mut tokens: JavaTokens<'_, 'a> = tokens.iter().copied().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Mark(b'@') => head.annotation(&mut tokens),
                Token::Mark(b'(') => {
                    let is_empty = parenthesised(&mut tokens).is_empty();
                    if let Some(Token::Word(name)) = previous {
                        head.method =
                            Some(is_public && is_void && is_empty && name.starts_with(b"test"));
                    }
                }
                // A field is no test, whichever value it has.
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

    /// True for a test method by its annotations, or by its name in a `JUnit` 3 class.
    pub(super) fn is_test(&self, in_test_case: bool) -> bool {
        self.method
            .is_some_and(|by_name| self.is_annotated || in_test_case && by_name)
    }

    /// Reads `@a.b.Name(…)`.
    fn annotation(&mut self, tokens: &mut JavaTokens<'_, '_>) {
        let name = qualified_name(tokens);
        let arguments = tokens
            .next_if_eq(&Token::Mark(b'('))
            .map(|_| parenthesised(tokens));
        let arguments = arguments.unwrap_or_default();
        let is_disabled = arguments
            .windows(2)
            .any(|pair| pair[0] == b"enabled" && pair[1] == b"false");
        self.is_annotated |= TESTS.iter().any(|test| test.as_bytes() == name) && !is_disabled;
        let is_off = OFF.iter().any(|off| off.as_bytes() == name);
        self.is_off |= is_off;
        self.is_conditional |=
            !is_off && (name.starts_with(b"Disabled") || name.starts_with(b"Enabled"));
    }
}

/// Reads `a.b.Name` and returns the last part.
fn qualified_name<'a>(tokens: &mut JavaTokens<'_, 'a>) -> &'a [u8] {
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

/// Reads to the closing `)` and returns the words before it.
fn parenthesised<'a>(tokens: &mut JavaTokens<'_, 'a>) -> Vec<&'a [u8]> {
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

#[cfg(test)]
mod tests {
    use super::lost_members;

    const WRITTEN: &str = r#"package p;
import org.junit.jupiter.api.Test;
@ExtendWith(Mocks.class)
class PriceTest extends Base {
    private final Price price = new Price() { int rate() { return 2; } };
    @BeforeEach void start() { price.open("a"); }
    @Test void adds() { assertEquals(6, price.of("six", 3)); }
    @Nested class Deep { @Test void none() { assertNull(price.of(null, 0)); } }
}
"#;

    fn lost(now: &str) -> Option<(u64, String)> {
        lost_members(None, WRITTEN.as_bytes(), Some(now.as_bytes()))
    }

    #[test]
    fn comments_imports_order_format_and_new_methods_are_free() {
        assert_eq!(lost(WRITTEN), None);
        let now = WRITTEN
            .replace("import org", "import java.util.List;\nimport org")
            .replace("{ ", "{\n\t// why\n");
        assert_eq!(lost(&now), None);
        let more = WRITTEN.replace(
            "    @BeforeEach",
            "    /* more */ @Test void more() { }\n    @BeforeEach",
        );
        assert_eq!(lost(&more), None);
    }

    #[test]
    fn what_a_test_says_its_fixture_and_its_class_stay() {
        for (from, to) in [
            ("assertEquals(6", "if (true) return; assertEquals(6"),
            ("\"six\"", "\"seven\""),
            ("@Test void adds", "@Disabled @Test void adds"),
            ("@Test void adds", "void adds"),
            ("price.open(\"a\");", ""),
            ("return 2", "return 3"),
            ("extends Base", "extends Other"),
            ("@ExtendWith(Mocks.class)\nclass", "@Disabled\nclass"),
            ("@Nested class Deep", "class Deep"),
            ("@Test void adds", "/* @Test void adds"),
        ] {
            let now = WRITTEN.replace(from, to);
            assert_ne!(now, WRITTEN);
            assert!(lost(&now).is_some(), "{from} → {to}");
        }
        assert_eq!(lost_members(None, WRITTEN.as_bytes(), None).unwrap().0, 6);
    }

    #[test]
    fn a_test_that_was_there_before_may_change_and_what_it_relies_on_may_not() {
        let base = WRITTEN.replace(
            "    @Nested class Deep { @Test void none() { assertNull(price.of(null, 0)); } }\n",
            "",
        );
        let lost = |now: String| {
            lost_members(
                Some(base.as_bytes()),
                WRITTEN.as_bytes(),
                Some(now.as_bytes()),
            )
        };
        assert_eq!(
            lost(WRITTEN.replace("assertEquals(6", "assertEquals(7")),
            None
        );
        assert!(lost(WRITTEN.replace("return 2", "return 3")).is_some());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic() {
        for text in [
            "",
            "}}}",
            "class {",
            "@",
            "class A { int[] a = {1, {2}}; ;;",
            "(((",
            "\"",
            "/*",
            "\\u007b",
        ] {
            assert_eq!(
                lost_members(None, text.as_bytes(), Some(text.as_bytes())),
                None,
                "{text}"
            );
        }
    }
}
