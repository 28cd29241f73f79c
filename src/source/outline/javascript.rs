//! Finds tests in JavaScript and TypeScript as Jest, Vitest, Mocha, Jasmine, Playwright, node's runner and Deno do.

use super::syntax::{
    WalkStep, field, has_end, holds, is_always, is_dead, is_never, parts, text, uses, walk, words,
};
use super::{MAX_DEPTH, MemberRole, MemberScope, OutlineMember, SourceOutline};
use tree_sitter::{Node, Tree};

const SUITES: [&str; 8] = [
    "describe",
    "suite",
    "context",
    "fdescribe",
    "xdescribe",
    "xcontext",
    "ddescribe",
    "xsuite",
];
const TESTS: [&str; 9] = [
    "it", "test", "specify", "fit", "iit", "xit", "xtest", "xspecify", "ftest",
];
/// Objects whose `test` is a test function.
const RUNNERS: [&str; 5] = ["Deno", "QUnit", "tap", "t", "suite"];
const FIXTURES: [&str; 8] = [
    "before",
    "after",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "setup",
    "teardown",
];
/// Parts of a callee, and keys of its options, that disable a test.
const OFF: [&str; 8] = [
    "skip", "todo", "fixme", "fails", "failing", "fail", "ignore", "skipIf",
];
/// Names that a test file has without binding them.
const GLOBALS: [&str; 4] = ["expect", "assert", "globalThis", "window"];

/// Reads a file; `None` if its suites are nested too deeply.
pub(super) fn outline(tree: &Tree, source: &[u8]) -> Option<SourceOutline> {
    let mut reader = JavascriptReader {
        source,
        outline: SourceOutline::default(),
        only: Vec::new(),
    };
    reader.statements(tree.root_node(), &MemberScope::default())?;
    // If some have `.only`, no other one runs.
    if !reader.only.is_empty() {
        let only = reader.only;
        reader.outline.tests.retain(|test| {
            only.iter()
                .any(|meant| test.path.starts_with(meant.as_str()))
        });
    }
    Some(reader.outline)
}

struct JavascriptReader<'s> {
    source: &'s [u8],
    outline: SourceOutline,
    /// The paths of tests and suites with `.only`.
    only: Vec<String>,
}

/// A call of the test framework.
struct FrameworkCall<'t> {
    /// The callee, for example `["it", "only"]`.
    callee: Vec<String>,
    /// Arguments within the callee, for example the condition of `skipIf`.
    conditions: Vec<Node<'t>>,
    arguments: Vec<Node<'t>>,
}

impl<'t> FrameworkCall<'t> {
    fn of(node: Node<'t>, source: &[u8]) -> Option<Self> {
        let node = if node.kind() == "await_expression" {
            parts(node).into_iter().next()?
        } else {
            node
        };
        if node.kind() != "call_expression" {
            return None;
        }
        let arguments = node
            .child_by_field_name("arguments")
            .map(parts)
            .unwrap_or_default();
        let (mut callee, mut conditions) = (Vec::new(), Vec::new());
        let mut at = node.child_by_field_name("function")?;
        loop {
            match at.kind() {
                "identifier" => {
                    callee.push(text(at, source).to_owned());
                    break;
                }
                "member_expression" => {
                    callee.push(field(at, "property", source).to_owned());
                    at = at.child_by_field_name("object")?;
                }
                "call_expression" => {
                    conditions.extend(
                        at.child_by_field_name("arguments")
                            .map(parts)
                            .unwrap_or_default(),
                    );
                    at = at.child_by_field_name("function")?;
                }
                _ => return None,
            }
        }
        callee.reverse();
        Some(Self {
            callee,
            conditions,
            arguments,
        })
    }

    fn has(&self, names: &[&str]) -> bool {
        self.callee
            .iter()
            .any(|part| names.contains(&part.as_str()))
    }

    fn is_suite(&self) -> bool {
        self.has(&SUITES)
            && !self.is_fixture()
            && self.callee.last().is_some_and(|last| last != "test")
    }

    fn is_test(&self) -> bool {
        let first = self.callee.first().map_or("", String::as_str);
        let second = self.callee.get(1).map_or("", String::as_str);
        TESTS.contains(&first) || (RUNNERS.contains(&first) && second == "test")
    }

    fn is_fixture(&self) -> bool {
        self.callee
            .last()
            .is_some_and(|last| FIXTURES.contains(&last.as_str()))
    }

    /// Returns the function among its arguments.
    fn callback(&self) -> Option<Node<'t>> {
        self.arguments
            .iter()
            .find(|node| {
                matches!(
                    node.kind(),
                    "arrow_function" | "function_expression" | "function" | "generator_function"
                )
            })
            .copied()
    }

    fn is_alone(&self) -> bool {
        self.has(&["only", "fit", "iit", "ftest", "fdescribe", "ddescribe"])
    }

    fn is_off(&self, source: &[u8]) -> bool {
        let by_option = self
            .arguments
            .iter()
            .filter(|node| node.kind() == "object")
            .any(|node| {
                parts(*node).into_iter().any(|node| {
                    node.kind() == "pair"
                        && OFF.contains(&field(node, "key", source).trim_matches(['"', '\'']))
                        && !is_never(field(node, "value", source))
                })
            });
        let condition = self
            .conditions
            .first()
            .map_or("", |condition| text(*condition, source));
        let by_name = self.callee.iter().any(|part| match part.as_str() {
            "skipIf" => is_always(condition),
            "runIf" => is_never(condition),
            part => {
                OFF.contains(&part)
                    || (part.starts_with('x') && (TESTS.contains(&part) || SUITES.contains(&part)))
            }
        });
        by_option || by_name
    }

    /// Returns the conditions under which alone it runs.
    fn guards(&self, source: &[u8]) -> Vec<String> {
        let is_guarded = self.has(&["skipIf", "runIf"]);
        self.conditions
            .iter()
            .filter(|_| is_guarded)
            .map(|node| words([*node], source))
            .collect()
    }
}

impl JavascriptReader<'_> {
    fn statements(&mut self, block: Node<'_>, scope: &MemberScope) -> Option<()> {
        if scope.depth > MAX_DEPTH {
            return None;
        }
        let mut scope = scope.clone();
        for statement in parts(block) {
            self.statement(statement, &scope)?;
            // Nothing after it is declared.
            scope.is_off |= self.ends(statement);
        }
        Some(())
    }

    fn ends(&self, statement: Node<'_>) -> bool {
        let call = parts(statement)
            .into_iter()
            .next()
            .and_then(|inner| FrameworkCall::of(inner, self.source));
        match statement.kind() {
            "return_statement" | "throw_statement" => true,
            "expression_statement" => {
                call.is_some_and(|call| call.callee.last().is_some_and(|last| last == "exit"))
            }
            "if_statement" => {
                let body = statement.child_by_field_name("consequence");
                is_always(field(statement, "condition", self.source))
                    && body.is_some_and(|body| {
                        holds(body, |node| {
                            matches!(node.kind(), "return_statement" | "throw_statement")
                        })
                    })
            }
            _ => false,
        }
    }

    fn statement(&mut self, statement: Node<'_>, scope: &MemberScope) -> Option<()> {
        match statement.kind() {
            "import_statement" => self.add(statement, scope, MemberRole::Import),
            "empty_statement" | "hash_bang_line" => {}
            "expression_statement" => return self.expression(statement, scope),
            "export_statement" => match statement.child_by_field_name("declaration") {
                Some(declaration) => return self.statement(declaration, scope),
                None => self.add(statement, scope, MemberRole::Declaration),
            },
            "lexical_declaration" | "variable_declaration" => {
                let role = if self.is_required(statement) {
                    MemberRole::Import
                } else {
                    MemberRole::Declaration
                };
                self.add(statement, scope, role);
                self.rebound(statement);
            }
            kind if kind.ends_with("_declaration") || kind == "ambient_declaration" => {
                self.add(statement, scope, MemberRole::Declaration);
                self.rebound(statement);
            }
            _ => {
                self.add(statement, scope, MemberRole::Statement);
                self.compound(statement, scope)?;
            }
        }
        Some(())
    }

    /// True for `const { a } = require("b")`, which is an import.
    fn is_required(&self, statement: Node<'_>) -> bool {
        parts(statement).iter().all(|declarator| {
            let value = declarator.child_by_field_name("value");
            let call = value.and_then(|value| FrameworkCall::of(value, self.source));
            call.is_some_and(|call| call.callee[..] == ["require"])
        })
    }

    /// Handles a rebound name. A file that declares `it` itself has no tests, unless it extends the runner's `it`.
    fn rebound(&mut self, statement: Node<'_>) {
        let names = self.bound(statement);
        let is_function = statement.kind().contains("function")
            || parts(statement).iter().any(|declarator| {
                declarator
                    .child_by_field_name("value")
                    .is_some_and(|value| {
                        matches!(
                            value.kind(),
                            "arrow_function" | "function_expression" | "function"
                        )
                    })
            });
        if is_function
            && names
                .iter()
                .any(|name| TESTS.contains(&name.as_str()) || SUITES.contains(&name.as_str()))
        {
            self.only.push("(none)".to_owned());
        }
    }

    fn expression(&mut self, statement: Node<'_>, scope: &MemberScope) -> Option<()> {
        let Some(inner) = parts(statement).into_iter().next() else {
            return Some(());
        };
        match FrameworkCall::of(inner, self.source) {
            Some(call) if call.is_suite() => return self.suite(&call, statement, scope),
            Some(call) if call.is_fixture() => {
                let role = if has_end(statement, self.source) {
                    MemberRole::Switch
                } else {
                    MemberRole::Declaration
                };
                self.add(statement, scope, role);
            }
            Some(call) if call.is_test() => {
                self.add(statement, scope, MemberRole::Test);
                self.test(&call, scope);
            }
            // For example `"use strict"`.
            None if inner.kind() == "string" => {}
            _ => {
                self.add(statement, scope, MemberRole::Statement);
                self.compound(statement, scope)?;
            }
        }
        Some(())
    }

    fn suite(
        &mut self,
        call: &FrameworkCall<'_>,
        statement: Node<'_>,
        scope: &MemberScope,
    ) -> Option<()> {
        let Some(callback) = call.callback() else {
            self.add(statement, scope, MemberRole::Statement);
            return Some(());
        };
        let head: Vec<Node<'_>> = call
            .conditions
            .iter()
            .chain(&call.arguments)
            .filter(|node| **node != callback)
            .copied()
            .collect();
        let title = words(head.iter().copied(), self.source);
        let head = format!("{} {title}", call.callee.join("."));
        let (words, binds) = (head.clone(), Vec::new());
        self.outline.members.push(OutlineMember {
            scope: scope.words.clone(),
            words,
            role: MemberRole::Declaration,
            binds,
            uses: Vec::new(),
        });
        let mut inner = scope.guarded(call.guards(self.source)).inner(&head, &title);
        inner.is_off |= call.is_off(self.source);
        if call.is_alone() {
            self.only.push(format!("{}/", inner.path));
        }
        let Some(body) = callback.child_by_field_name("body") else {
            return Some(());
        };
        if body.kind() == "statement_block" {
            self.statements(body, &inner)
        } else {
            self.compound(callback, &inner)
        }
    }

    fn test(&mut self, call: &FrameworkCall<'_>, scope: &MemberScope) {
        let title = call
            .arguments
            .first()
            .map(|title| words([*title], self.source))
            .unwrap_or_default();
        let mut scope = scope.guarded(call.guards(self.source));
        let body = call
            .callback()
            .and_then(|callback| callback.child_by_field_name("body"));
        let is_dead =
            body.is_some_and(|body| body.kind() == "statement_block" && is_dead(body, self.source));
        scope.is_off |=
            call.is_off(self.source) || is_dead || call.arguments.len() < 2 && !self.is_short(call);
        if call.is_alone() {
            self.only.push(scope.path_of(&title));
        }
        self.outline.add_test(&scope, &title);
    }

    /// True for a test of node's runner that is only a function.
    fn is_short(&self, call: &FrameworkCall<'_>) -> bool {
        call.callback().is_some()
            || call.arguments.iter().any(|node| {
                node.kind() == "object"
                    && holds(*node, |node| {
                        field(node, "key", self.source) == "fn"
                            || field(node, "name", self.source) == "fn"
                    })
            })
    }

    /// Finds tests in loops, conditions and callbacks.
    fn compound(&mut self, root: Node<'_>, scope: &MemberScope) -> Option<()> {
        let mut pending = vec![(root, scope.clone())];
        while let Some((node, scope)) = pending.pop() {
            for child in parts(node).into_iter().rev() {
                let mut inner = scope.clone();
                if let Some(condition) = node.child_by_field_name("condition") {
                    let condition = text(condition, self.source);
                    let is_else = child.kind() == "else_clause";
                    inner.is_off |= if is_else {
                        is_always(condition)
                    } else {
                        is_never(condition)
                    };
                    let guard = condition.split_whitespace().collect::<Vec<_>>().join(" ");
                    inner.guards.insert(if is_else {
                        format!("not {guard}")
                    } else {
                        guard
                    });
                }
                inner.is_off |= parts(node).into_iter().any(|part| {
                    is_empty_array(part)
                        || part
                            .child_by_field_name("object")
                            .is_some_and(is_empty_array)
                });
                match child.kind() {
                    "statement_block" => {
                        let known = self.outline.members.len();
                        inner.depth += 1;
                        self.statements(child, &inner)?;
                        self.outline.members.truncate(known);
                    }
                    "expression_statement" if FrameworkCall::of(child, self.source).is_some() => {}
                    "call_expression" => {
                        let call = FrameworkCall::of(child, self.source);
                        match call {
                            Some(call) if call.is_test() => self.test(&call, &inner),
                            _ => pending.push((child, inner)),
                        }
                    }
                    _ => pending.push((child, inner)),
                }
            }
        }
        Some(())
    }

    /// Returns the names that a declaration binds.
    fn bound(&self, statement: Node<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let own = field(statement, "name", self.source);
        if !own.is_empty() {
            names.push(own.to_owned());
        }
        for declarator in parts(statement) {
            let Some(target) = declarator
                .child_by_field_name("name")
                .filter(|_| own.is_empty())
            else {
                continue;
            };
            walk(
                target,
                |WalkStep { node, .. }| {
                    if matches!(
                        node.kind(),
                        "identifier" | "shorthand_property_identifier_pattern"
                    ) {
                        names.push(text(node, self.source).to_owned());
                    }
                    true
                },
                |_| {},
            );
        }
        names
    }

    fn add(&mut self, node: Node<'_>, scope: &MemberScope, role: MemberRole) {
        let (words, mut uses) = (words([node], self.source), uses(node, self.source));
        if role == MemberRole::Test {
            uses.extend(
                GLOBALS
                    .iter()
                    .chain(&TESTS)
                    .chain(&SUITES)
                    .map(|name| (*name).to_owned()),
            );
        }
        let binds = self.bound(node);
        self.outline.members.push(OutlineMember {
            scope: scope.words.clone(),
            words,
            role,
            binds,
            uses,
        });
    }
}

/// True for `[]`.
fn is_empty_array(node: Node<'_>) -> bool {
    node.kind() == "array" && parts(node).is_empty()
}
