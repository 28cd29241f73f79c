//! Finds tests in Rust as cargo does.

use super::syntax::{field, is_dead, last_name, parts, text, uses, words};
use super::{MAX_DEPTH, MemberRole, MemberScope, OutlineMember, SourceOutline};
use tree_sitter::{Node, Tree};

/// Attributes that make a function a test, by the last name of their path.
const TESTS: [&str; 6] = [
    "test",
    "rstest",
    "test_case",
    "case",
    "quickcheck",
    "wasm_bindgen_test",
];
/// Macros around items, which bind no names that a test may read by mistake.
const WRAPPERS: [&str; 4] = ["proptest", "quickcheck", "thread_local", "lazy_static"];

/// Reads a file; `None` if its modules are nested too deeply.
pub(super) fn outline(tree: &Tree, source: &[u8]) -> Option<SourceOutline> {
    let mut reader = RustReader {
        source,
        outline: SourceOutline::default(),
    };
    reader.items(tree.root_node(), &MemberScope::default())?;
    Some(reader.outline)
}

struct RustReader<'s> {
    source: &'s [u8],
    outline: SourceOutline,
}

impl RustReader<'_> {
    fn items(&mut self, list: Node<'_>, scope: &MemberScope) -> Option<()> {
        if scope.depth > MAX_DEPTH {
            return None;
        }
        let mut scope = scope.clone();
        let mut attributes = Vec::new();
        for item in parts(list) {
            match item.kind() {
                "attribute_item" => {
                    attributes.push(item);
                    continue;
                }
                "inner_attribute_item" => {
                    self.attribute(item, &mut scope);
                    let is_lint = matches!(
                        self.attribute_path(item),
                        "allow" | "expect" | "warn" | "deny"
                    );
                    if !is_lint {
                        self.add(&[item], &scope, MemberRole::Statement, "");
                    }
                    continue;
                }
                "empty_statement" => continue,
                _ => {}
            }
            self.item(item, &attributes, &scope)?;
            attributes.clear();
        }
        Some(())
    }

    fn item(&mut self, item: Node<'_>, attributes: &[Node<'_>], scope: &MemberScope) -> Option<()> {
        let name = field(item, "name", self.source);
        let mut inner = scope.clone();
        for attribute in attributes {
            self.attribute(*attribute, &mut inner);
        }
        let mut whole: Vec<Node<'_>> = attributes.to_vec();
        whole.push(item);
        match item.kind() {
            "use_declaration" | "extern_crate_declaration" => {
                self.add(&whole, scope, MemberRole::Import, "");
            }
            "function_item" => self.function(item, attributes, (scope, &inner)),
            "mod_item" => self.module(item, &whole, (scope, &inner))?,
            "macro_invocation" | "expression_statement" => self.macros(item, &whole, &inner),
            _ => self.add(&whole, scope, MemberRole::Declaration, name),
        }
        Some(())
    }

    fn module(
        &mut self,
        item: Node<'_>,
        whole: &[Node<'_>],
        (scope, inner): (&MemberScope, &MemberScope),
    ) -> Option<()> {
        let name = field(item, "name", self.source);
        let Some(body) = item.child_by_field_name("body") else {
            let guards: Vec<&str> = inner.guards.iter().map(String::as_str).collect();
            if !inner.is_off {
                self.outline
                    .modules
                    .insert(format!("{}{name} {}", scope.path, guards.join(" ")));
            }
            self.add(whole, scope, MemberRole::Declaration, name);
            return Some(());
        };
        let attributes = whole.iter().filter(|node| **node != item).copied();
        let head = format!("mod {name} {}", words(attributes, self.source));
        self.outline.members.push(OutlineMember {
            scope: scope.words.clone(),
            words: head.clone(),
            role: MemberRole::Declaration,
            binds: vec![name.to_owned()],
            uses: Vec::new(),
        });
        self.items(body, &inner.inner(&head, name))
    }

    fn function(
        &mut self,
        item: Node<'_>,
        attributes: &[Node<'_>],
        (scope, inner): (&MemberScope, &MemberScope),
    ) {
        let name = field(item, "name", self.source);
        let is_test = attributes
            .iter()
            .any(|attribute| TESTS.contains(&last_name(self.attribute_path(*attribute))));
        let mut whole = attributes.to_vec();
        whole.push(item);
        self.add(
            &whole,
            scope,
            if is_test {
                MemberRole::Test
            } else {
                MemberRole::Declaration
            },
            name,
        );
        let body = item.child_by_field_name("body");
        if is_test && body.is_some_and(|body| !is_dead(body, self.source)) {
            self.outline.add_test(inner, name);
        }
    }

    /// Reads a macro in the position of an item. The tests in `proptest!` are tests.
    fn macros(&mut self, item: Node<'_>, whole: &[Node<'_>], scope: &MemberScope) {
        let call = if item.kind() == "macro_invocation" {
            Some(item)
        } else {
            parts(item).into_iter().next()
        };
        let name = call.map_or("", |call| last_name(field(call, "macro", self.source)));
        let role = if WRAPPERS.contains(&name) {
            MemberRole::Declaration
        } else {
            MemberRole::Statement
        };
        self.add(whole, scope, role, "");
        if matches!(name, "proptest" | "quickcheck") {
            let words = words([item], self.source);
            let mut tests = words.split("# [ test ]");
            tests.next();
            for test in tests.filter(|test| !test.trim_start().starts_with("# [ ignore")) {
                let name = test
                    .split_whitespace()
                    .skip_while(|word| *word != "fn")
                    .nth(1);
                self.outline.add_test(scope, name.unwrap_or_default());
            }
        }
    }

    /// Adds the effect of an attribute on the tests after it.
    fn attribute(&self, attribute: Node<'_>, scope: &mut MemberScope) {
        let words = words([attribute], self.source);
        let words = words
            .trim_start_matches(['#', '!', ' ', '['])
            .trim_end_matches([' ', ']', ';']);
        match self.attribute_path(attribute) {
            "ignore" => scope.is_off = true,
            "cfg" if matches!(words, "cfg ( test )" | "cfg ( all ( ) )") => {}
            "cfg" => {
                scope.is_off |= matches!(
                    words,
                    "cfg ( any ( ) )" | "cfg ( not ( test ) )" | "cfg ( false )"
                );
                scope.guards.insert(words.to_owned());
            }
            "cfg_attr" => {
                scope.is_off |= words.starts_with("cfg_attr ( all ( )") && words.contains("ignore");
                scope.is_off |= words.starts_with("cfg_attr ( test") && words.contains("ignore");
                scope.guards.insert(words.to_owned());
            }
            _ => {}
        }
    }

    /// Returns the path of an attribute: `tokio::test`.
    fn attribute_path(&self, item: Node<'_>) -> &str {
        let attribute = parts(item).into_iter().next();
        let path = attribute.and_then(|attribute| parts(attribute).into_iter().next());
        path.map_or("", |path| text(path, self.source))
    }

    fn add(&mut self, nodes: &[Node<'_>], scope: &MemberScope, role: MemberRole, name: &str) {
        let words = words(nodes.iter().copied(), self.source);
        let uses = nodes
            .iter()
            .flat_map(|node| uses(*node, self.source))
            .collect();
        let binds = if name.is_empty() {
            Vec::new()
        } else {
            vec![name.to_owned()]
        };
        self.outline.members.push(OutlineMember {
            scope: scope.words.clone(),
            words,
            role,
            binds,
            uses,
        });
    }
}
