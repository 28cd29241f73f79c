//! Trees of tree-sitter: the grammar for a file, and the tokens of a node.
//!
//! The walks do not recurse: a source may have any nesting depth.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use tree_sitter::{Node, Parser, Tree};

/// Maximum size of a parsed source: no test class is longer.
const MAX_BYTES: usize = 1 << 20;
/// Maximum depth of trees: a reader may search a branch once for each node above it.
const MAX_DEPTH: u32 = 1_000;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrammarLanguage {
    Python,
    TypeScript,
    /// Also JavaScript: the grammar for JSX with types reads all of it.
    Tsx,
    Rust,
}

impl GrammarLanguage {
    /// Returns the language by the extension of a file.
    pub(super) fn of(path: &[u8]) -> Option<Self> {
        let dot = path.iter().rposition(|&byte| byte == b'.')?;
        match &path[dot + 1..] {
            b"py" => Some(Self::Python),
            b"ts" | b"mts" | b"cts" => Some(Self::TypeScript),
            b"js" | b"jsx" | b"mjs" | b"cjs" | b"tsx" => Some(Self::Tsx),
            b"rs" => Some(Self::Rust),
            _ => None,
        }
    }

    /// Returns the tree of a source without a syntax error.
    pub(super) fn parse(self, source: &[u8]) -> Option<Tree> {
        if source.len() > MAX_BYTES {
            return None;
        }
        let language = match self {
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::Rust => tree_sitter_rust::LANGUAGE,
        };
        let mut parser = Parser::new();
        parser.set_language(&language.into()).ok()?;
        parser
            .parse(source, None)
            .filter(|tree| !tree.root_node().has_error() && is_shallow(tree.root_node()))
    }
}

fn is_shallow(root: Node<'_>) -> bool {
    let depth = Cell::new(0);
    let mut deepest = 0;
    walk(
        root,
        |_| {
            depth.set(depth.get() + 1);
            deepest = deepest.max(depth.get());
            deepest <= MAX_DEPTH
        },
        |_| depth.set(depth.get() - 1),
    );
    deepest <= MAX_DEPTH
}

/// Returns the text of a node.
pub(super) fn text<'a>(node: Node<'_>, source: &'a [u8]) -> &'a str {
    source
        .get(node.byte_range())
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default()
}

/// Returns the text of a node's field; empty if it has none.
pub(super) fn field<'a>(node: Node<'_>, name: &str, source: &'a [u8]) -> &'a str {
    node.child_by_field_name(name)
        .map_or("", |child| text(child, source))
}

/// Returns the children except punctuation and comments.
pub(super) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| !child.is_extra())
        .collect()
}

/// Returns the children of a kind.
pub(super) fn parts_of_kind<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    parts(node)
        .into_iter()
        .filter(|child| child.kind() == kind)
        .collect()
}

/// A node on a walk.
#[derive(Clone, Copy)]
pub(super) struct WalkStep<'t> {
    pub(super) node: Node<'t>,
    /// Its field in its parent.
    pub(super) field: Option<&'static str>,
    /// The kind of its parent, empty for the root of the walk. (A node finds its parent only from the top.)
    pub(super) parent: &'static str,
}

/// Visits a node and its descendants. `enter` returns true to visit the children.
pub(super) fn walk<'t>(
    root: Node<'t>,
    mut enter: impl FnMut(WalkStep<'t>) -> bool,
    mut leave: impl FnMut(WalkStep<'t>),
) {
    let mut cursor = root.walk();
    let mut parents = Vec::new();
    loop {
        let parent = parents.last().copied().unwrap_or("");
        let step = WalkStep {
            node: cursor.node(),
            field: cursor.field_name(),
            parent,
        };
        if enter(step) && cursor.goto_first_child() {
            parents.push(step.node.kind());
            continue;
        }
        leave(step);
        while !cursor.goto_next_sibling() {
            parents.pop();
            if !cursor.goto_parent() {
                return;
            }
            let parent = parents.last().copied().unwrap_or("");
            leave(WalkStep {
                node: cursor.node(),
                field: cursor.field_name(),
                parent,
            });
        }
    }
}

/// True if a node contains a matching one.
pub(super) fn holds<'t>(root: Node<'t>, mut is_meant: impl FnMut(Node<'t>) -> bool) -> bool {
    let mut found = false;
    walk(
        root,
        |step| {
            found = found || is_meant(step.node);
            !found
        },
        |_| {},
    );
    found
}

/// Returns the names that a node reads, without those of attributes and arguments.
pub(super) fn uses(root: Node<'_>, source: &[u8]) -> Vec<String> {
    let mut names = BTreeSet::new();
    walk(
        root,
        |WalkStep {
             node,
             field,
             parent,
         }| {
            let is_name = matches!(node.kind(), "identifier" | "type_identifier");
            let is_label = field == Some("attribute")
                || (parent == "keyword_argument" && field == Some("name"));
            if is_name && !is_label {
                names.insert(text(node, source).to_owned());
            }
            true
        },
        |_| {},
    );
    names.into_iter().collect()
}

/// Nodes whose text is one token.
const LITERALS: [&str; 8] = [
    "string",
    "template_string",
    "regex",
    "string_literal",
    "raw_string_literal",
    "char_literal",
    "jsx_text",
    "escape_sequence",
];
/// Nodes whose children are statements.
pub(super) const BLOCKS: [&str; 7] = [
    "block",
    "statement_block",
    "class_body",
    "module",
    "program",
    "source_file",
    "declaration_list",
];

/// Returns the tokens of nodes as words separated by one space.
///
/// Comments, layout, semicolons, trailing commas and the quotes of plain strings do not count.
pub(super) fn words<'t>(nodes: impl IntoIterator<Item = Node<'t>>, source: &[u8]) -> String {
    let mut tokens = TokenList::default();
    for root in nodes {
        let out = RefCell::new(&mut tokens);
        walk(
            root,
            |step| {
                if step.node.is_extra() {
                    return false;
                }
                let mut out = out.borrow_mut();
                if step.node.kind() == "block" {
                    out.push("{");
                }
                let is_token = step.node.child_count() == 0 || LITERALS.contains(&step.node.kind());
                if is_token {
                    out.token(step, source);
                }
                !is_token
            },
            |WalkStep { node, parent, .. }| {
                let mut out = out.borrow_mut();
                if node.kind() == "block" {
                    out.push("}");
                }
                if node.is_named() && !node.is_extra() && BLOCKS.contains(&parent) {
                    out.push(";");
                }
            },
        );
    }
    tokens.0.join(" ")
}

#[derive(Default)]
struct TokenList(Vec<String>);

impl TokenList {
    fn push(&mut self, token: &str) {
        self.0.push(token.to_owned());
    }

    fn token(
        &mut self,
        WalkStep {
            node,
            field,
            parent,
        }: WalkStep<'_>,
        source: &[u8],
    ) {
        match text(node, source) {
            "" => {}
            // Formatters add them.
            ";" if parent != "for_statement" => {}
            closer @ (")" | "]" | "}") => {
                // `(1,)` and `(1)` are different values.
                if !parent.starts_with("tuple") && self.0.last().is_some_and(|last| last == ",") {
                    self.0.pop();
                }
                self.push(closer);
            }
            name if parent == "arrow_function" && field == Some("parameter") => {
                self.0.extend(["(", name, ")"].map(str::to_owned));
            }
            literal if node.kind() == "string" => self.push(&plain(literal)),
            token => self.push(token),
        }
    }
}

/// Returns a string with double quotes if both kinds are valid.
fn plain(literal: &str) -> String {
    let inner = literal
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    match inner {
        Some(inner) if !inner.contains(['\'', '"', '\\']) => format!("\"{inner}\""),
        _ => literal.to_owned(),
    }
}

/// True for a constant expression that is false.
pub(super) fn is_never(condition: &str) -> bool {
    let condition = bare(condition);
    let negated = condition
        .strip_prefix("not ")
        .or_else(|| condition.strip_prefix('!'));
    matches!(
        condition,
        "False" | "false" | "None" | "null" | "undefined" | "0" | "\"\"" | "''" | "TYPE_CHECKING"
    ) || negated.is_some_and(|rest| matches!(bare(rest), "True" | "true" | "1"))
}

/// True for a constant expression that is true.
pub(super) fn is_always(condition: &str) -> bool {
    let condition = bare(condition);
    let negated = condition
        .strip_prefix("not ")
        .or_else(|| condition.strip_prefix('!'));
    matches!(condition, "True" | "true" | "1") || negated.is_some_and(is_never)
}

fn bare(condition: &str) -> &str {
    condition.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
}

/// Calls that end a test, or the program, and let it pass.
const ENDS: [&str; 9] = [
    "skip",
    "skipTest",
    "SkipTest",
    "Skip",
    "xfail",
    "importorskip",
    "exit",
    "_exit",
    "abort",
];

/// True for code in which a call may end a test.
pub(super) fn has_end(node: Node<'_>, source: &[u8]) -> bool {
    holds(node, |node| {
        let is_name = node.child_count() == 0 && node.kind().ends_with("identifier");
        is_name && ENDS.contains(&text(node, source))
    })
}

/// True if a block holds no code, or code that never runs.
///
/// Such code follows an early end at the top of the block, or a constant condition.
pub(super) fn is_dead(block: Node<'_>, source: &[u8]) -> bool {
    let statements = parts(block);
    if statements.iter().all(|node| {
        matches!(node.kind(), "pass_statement" | "empty_statement")
            || (node.kind() == "expression_statement"
                && parts(*node)
                    .iter()
                    .all(|inner| matches!(inner.kind(), "string" | "ellipsis")))
    }) {
        return true;
    }
    let ends_early = statements.iter().enumerate().any(|(at, statement)| {
        let inner = if statement.kind() == "expression_statement" {
            parts(*statement)
        } else {
            vec![*statement]
        };
        inner.first().is_some_and(|inner| match inner.kind() {
            "return_statement" | "return_expression" | "throw_statement" => {
                at + 1 < statements.len()
            }
            "raise_statement" => at + 1 < statements.len() || has_end(*inner, source),
            // A helper may have such a name: only the call itself counts.
            "call" | "call_expression" => inner
                .child_by_field_name("function")
                .is_some_and(|function| ENDS.contains(&last_name(text(function, source)))),
            _ => false,
        })
    });
    ends_early || holds(block, |node| is_constant_branch(node, source))
}

/// Returns the name at the end of `a.b.name` or `a::b::name`.
pub(super) fn last_name(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or_default().trim()
}

/// True for a condition that is never true, or one that is always true before an end.
fn is_constant_branch(node: Node<'_>, source: &[u8]) -> bool {
    if !matches!(
        node.kind(),
        "if_statement" | "if_expression" | "while_statement" | "while_expression" | "elif_clause"
    ) {
        return false;
    }
    let condition = field(node, "condition", source);
    let body = node
        .child_by_field_name("consequence")
        .or_else(|| node.child_by_field_name("body"));
    is_never(condition)
        || (is_always(condition)
            && body.is_some_and(|body| {
                holds(body, |node| {
                    matches!(
                        node.kind(),
                        "return_statement"
                            | "return_expression"
                            | "raise_statement"
                            | "throw_statement"
                    )
                }) || has_end(body, source)
            }))
}
