//! Finds tests in Python as pytest and unittest do.

use super::syntax::{
    WalkStep, field, has_end, holds, is_always, is_dead, is_never, last_name, parts, parts_of_kind,
    text, uses, walk, words,
};
use super::{MAX_DEPTH, MemberRole, MemberScope, OutlineMember, SourceOutline};
use tree_sitter::{Node, Tree};

/// Names that select for a runner the tests of a module or class.
const SWITCHES: [&str; 11] = [
    "pytestmark",
    "__test__",
    "__init__",
    "__new__",
    "__getattr__",
    "__getattribute__",
    "run",
    "load_tests",
    "collect_ignore",
    "collect_ignore_glob",
    "pytest_plugins",
];
/// Calls that access names without mentioning them.
const REFLECTION: [&str; 8] = [
    "globals",
    "vars",
    "setattr",
    "delattr",
    "exec",
    "eval",
    "__import__",
    "__dict__",
];

/// Reads a module; `None` if its classes are nested too deeply.
pub(super) fn outline(tree: &Tree, source: &[u8]) -> Option<SourceOutline> {
    let mut reader = PythonReader {
        source,
        outline: SourceOutline::default(),
    };
    reader.body(tree.root_node(), &MemberScope::default(), true)?;
    Some(reader.outline)
}

struct PythonReader<'s> {
    source: &'s [u8],
    outline: SourceOutline,
}

/// A definition without its decorators.
struct Definition<'t> {
    node: Node<'t>,
    whole: Node<'t>,
}

impl PythonReader<'_> {
    /// Reads the statements of a module or class. In a class without tests no method is a test.
    fn body(&mut self, block: Node<'_>, scope: &MemberScope, has_tests: bool) -> Option<()> {
        if scope.depth > MAX_DEPTH {
            return None;
        }
        let first = self.outline.tests.len();
        let statements = parts(block);
        let is_off = statements
            .iter()
            .any(|statement| self.switches_off(*statement));
        let scope = MemberScope {
            is_off: scope.is_off || is_off,
            ..scope.clone()
        };
        for statement in statements {
            self.forget(&self.bound(statement), &scope, first);
            self.statement(statement, &scope, has_tests)?;
        }
        Some(())
    }

    fn statement(
        &mut self,
        statement: Node<'_>,
        scope: &MemberScope,
        has_tests: bool,
    ) -> Option<()> {
        match statement.kind() {
            "class_definition" | "function_definition" | "decorated_definition" => {
                let node = statement
                    .child_by_field_name("definition")
                    .unwrap_or(statement);
                let definition = Definition {
                    node,
                    whole: statement,
                };
                if node.kind() == "class_definition" {
                    return self.class(&definition, scope, has_tests);
                }
                self.function(&definition, scope, has_tests);
            }
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                self.add(statement, scope, MemberRole::Import);
            }
            "pass_statement" => {}
            "expression_statement" => self.expression(statement, scope),
            // It runs only if the file is started as a program, which no runner does.
            "if_statement" if is_main(field(statement, "condition", self.source)) => {}
            _ => {
                self.add(statement, scope, MemberRole::Statement);
                self.compound(statement, scope, has_tests)?;
            }
        }
        Some(())
    }

    fn expression(&mut self, statement: Node<'_>, scope: &MemberScope) {
        let Some(inner) = parts(statement).into_iter().next() else {
            return;
        };
        let left = inner.child_by_field_name("left");
        let binds_names = inner.kind() == "assignment"
            && left.is_some_and(|left| {
                !holds(left, |node| {
                    matches!(node.kind(), "attribute" | "subscript")
                })
            })
            && !holds(inner, |node| {
                node.kind() == "named_expression" || self.is_reflection(node)
            });
        match inner.kind() {
            // A string between statements is a comment.
            "string" | "concatenated_string" | "ellipsis" => {}
            "assignment" if binds_names && !self.is_switch(statement) => {
                self.add(statement, scope, MemberRole::Declaration);
            }
            _ => self.add(statement, scope, MemberRole::Statement),
        }
    }

    fn is_reflection(&self, node: Node<'_>) -> bool {
        node.kind() == "identifier" && REFLECTION.contains(&text(node, self.source))
    }

    fn is_switch(&self, statement: Node<'_>) -> bool {
        self.bound(statement)
            .iter()
            .any(|name| SWITCHES.contains(&name.as_str()) || name.starts_with("pytest_"))
    }

    fn class(
        &mut self,
        class: &Definition<'_>,
        scope: &MemberScope,
        has_tests: bool,
    ) -> Option<()> {
        let Some(body) = class.node.child_by_field_name("body") else {
            return Some(());
        };
        let name = field(class.node, "name", self.source);
        let bases = class.node.child_by_field_name("superclasses");
        let mut head = parts_of_kind(class.whole, "decorator");
        head.extend(bases);
        let words = format!("class {name} {}", words(head.iter().copied(), self.source));
        let mut inner = scope.inner(&words, name);
        let uses = head
            .iter()
            .flat_map(|node| uses(*node, self.source))
            .collect();
        let binds = vec![name.to_owned()];
        self.outline.members.push(OutlineMember {
            scope: scope.words.clone(),
            words,
            role: MemberRole::Declaration,
            binds,
            uses,
        });
        self.decorators(class, &mut inner);
        let is_collected =
            name.starts_with("Test") || bases.is_some_and(|bases| !parts(bases).is_empty());
        self.body(body, &inner, has_tests && is_collected)
    }

    fn function(&mut self, function: &Definition<'_>, scope: &MemberScope, has_tests: bool) {
        let name = field(function.node, "name", self.source);
        let is_test = has_tests && name.starts_with("test");
        let role = if is_test {
            MemberRole::Test
        } else if self.is_switch(function.whole) {
            MemberRole::Statement
        } else if has_end(function.whole, self.source) {
            MemberRole::Switch
        } else {
            MemberRole::Declaration
        };
        self.add(function.whole, scope, role);
        let mut guarded = scope.clone();
        self.decorators(function, &mut guarded);
        let body = function.node.child_by_field_name("body");
        if is_test && body.is_some_and(|body| !is_dead(body, self.source)) {
            self.outline.add_test(&guarded, name);
        }
    }

    /// Adds the conditions in a definition's decorators to its tests.
    fn decorators(&self, definition: &Definition<'_>, scope: &mut MemberScope) {
        for decorator in parts_of_kind(definition.whole, "decorator") {
            let Some(expression) = parts(decorator).into_iter().next() else {
                continue;
            };
            let callee = expression
                .child_by_field_name("function")
                .unwrap_or(expression);
            match last_name(text(callee, self.source)) {
                "skip" | "xfail" | "expectedFailure" | "fixture" => scope.is_off = true,
                "skipif" | "skipIf" => self.condition(expression, scope, is_always),
                "skipUnless" => self.condition(expression, scope, is_never),
                name if self.outline.members.iter().any(|member| {
                    member.role == MemberRole::Declaration
                        && member.binds.iter().any(|bound| bound == name)
                }) =>
                {
                    // The file's own decorator may return anything.
                    scope.guards.insert(words([expression], self.source));
                }
                _ => {}
            }
        }
    }

    fn condition(&self, call: Node<'_>, scope: &mut MemberScope, is_off: fn(&str) -> bool) {
        let arguments = call.child_by_field_name("arguments");
        let first = arguments.and_then(|arguments| parts(arguments).into_iter().next());
        scope.is_off |= first.is_none_or(|first| is_off(text(first, self.source)));
        scope.guards.insert(words([call], self.source));
    }

    /// Finds tests in the blocks of a statement.
    fn compound(
        &mut self,
        statement: Node<'_>,
        scope: &MemberScope,
        has_tests: bool,
    ) -> Option<()> {
        let mut pending = vec![(statement, scope.clone())];
        while let Some((node, scope)) = pending.pop() {
            for child in parts(node) {
                let condition = field(node, "condition", self.source);
                let is_else = matches!(child.kind(), "else_clause" | "elif_clause");
                let is_off = if is_else {
                    is_always(condition)
                } else {
                    is_never(condition)
                };
                let rounds = if node.kind() == "for_statement" {
                    field(node, "right", self.source)
                } else {
                    ""
                };
                let guard = format!("{condition} {rounds}")
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                let guards = (!guard.is_empty()).then(|| {
                    if is_else {
                        format!("not {guard}")
                    } else {
                        guard
                    }
                });
                let mut inner = scope.guarded(guards);
                inner.is_off |= is_off;
                inner.depth += 1;
                match child.kind() {
                    "block" => self.blocks_tests(child, &inner, has_tests)?,
                    kind if kind.ends_with("_clause") => pending.push((child, inner)),
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Reads the tests of a block that is no class, without adding its statements as members.
    fn blocks_tests(
        &mut self,
        block: Node<'_>,
        scope: &MemberScope,
        has_tests: bool,
    ) -> Option<()> {
        let known = self.outline.members.len();
        self.body(block, scope, has_tests)?;
        self.outline.members.truncate(known);
        Some(())
    }

    /// True for a statement that disables the module or class around it.
    fn switches_off(&self, statement: Node<'_>) -> bool {
        let Some(inner) = parts(statement).into_iter().next() else {
            return false;
        };
        match statement.kind() {
            "raise_statement" => true,
            "expression_statement" if inner.kind() == "assignment" => {
                let right = inner.child_by_field_name("right");
                match field(inner, "left", self.source) {
                    "pytestmark" => right.is_some_and(|right| has_end(right, self.source)),
                    "__test__" => right.is_none_or(|right| !is_always(text(right, self.source))),
                    _ => false,
                }
            }
            "expression_statement" if inner.kind() == "call" => {
                let name = last_name(field(inner, "function", self.source));
                matches!(name, "skip" | "exit" | "_exit" | "abort")
            }
            "if_statement" => {
                let body = statement.child_by_field_name("consequence");
                is_always(field(statement, "condition", self.source))
                    && body.is_some_and(|body| {
                        parts(body).iter().any(|inner| self.switches_off(*inner))
                    })
            }
            _ => false,
        }
    }

    /// Removes the tests of a scope that are bound again.
    fn forget(&mut self, names: &[String], scope: &MemberScope, first: usize) {
        let own: Vec<_> = names.iter().map(|name| scope.path_of(name)).collect();
        let later = self
            .outline
            .tests
            .split_off(first.min(self.outline.tests.len()));
        self.outline.tests.extend(later.into_iter().filter(|test| {
            !own.iter().any(|own| {
                let rest = test.path.strip_prefix(own.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        }));
    }

    /// Returns the names that a statement binds, deletes, or changes so that they are no longer tests.
    fn bound(&self, statement: Node<'_>) -> Vec<String> {
        let mut names = Vec::new();
        walk(
            statement,
            |WalkStep {
                 node,
                 field: field_name,
                 parent,
             }| {
                match node.kind() {
                    "function_definition" | "class_definition" => {
                        names.push(field(node, "name", self.source).to_owned());
                        return false;
                    }
                    "assignment" | "augmented_assignment" | "for_statement" => {
                        self.targets(node.child_by_field_name("left"), &mut names);
                    }
                    "named_expression" => names.push(field(node, "name", self.source).to_owned()),
                    "as_pattern_target" | "delete_statement" => {
                        self.targets(Some(node), &mut names);
                    }
                    "dotted_name" if field_name == Some("name") && parent.starts_with("import") => {
                        let first = text(node, self.source)
                            .split('.')
                            .next()
                            .unwrap_or_default();
                        names.push(first.trim().to_owned());
                    }
                    "aliased_import" => {
                        names.push(field(node, "alias", self.source).to_owned());
                        return false;
                    }
                    _ => {}
                }
                true
            },
            |_| {},
        );
        names
    }

    fn targets(&self, target: Option<Node<'_>>, names: &mut Vec<String>) {
        let Some(target) = target else { return };
        walk(
            target,
            |WalkStep { node, .. }| {
                if node.kind() == "attribute" {
                    let attribute = field(node, "attribute", self.source);
                    if matches!(attribute, "__test__" | "pytestmark" | "__unittest_skip__") {
                        names.push(field(node, "object", self.source).to_owned());
                    } else if attribute.starts_with("test") {
                        names.push(field(node, "object", self.source).to_owned() + "/" + attribute);
                    }
                    return false;
                }
                if node.kind() == "identifier" {
                    names.push(text(node, self.source).to_owned());
                }
                node.kind() != "subscript"
            },
            |_| {},
        );
    }

    fn add(&mut self, node: Node<'_>, scope: &MemberScope, role: MemberRole) {
        let (words, uses) = (words([node], self.source), uses(node, self.source));
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

fn is_main(condition: &str) -> bool {
    let words: Vec<&str> = condition.split_whitespace().collect();
    words[..] == ["__name__", "==", "'__main__'"] || words[..] == ["__name__", "==", "\"__main__\""]
}
