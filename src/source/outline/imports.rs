//! The files that a source loads by its imports, and by paths in strings (`require`, `import_module`, `include!`).
//!
//! Promises: nothing is read from the disk. A source that no grammar can read loads each file whose name it mentions.
//! A path that is built at run time is unknown.

use super::syntax::{GrammarLanguage, WalkStep, field, parts, parts_of_kind, text, walk, words};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use tree_sitter::{Node, Tree};

/// Directories that hold only tests.
const TEST_FOLDERS: [&str; 4] = ["test", "tests", "__tests__", "spec"];
/// Files that represent their directory.
const FOLDER_FILES: [&str; 3] = ["__init__", "index", "mod"];
/// Files whose modules are in their own directory.
const CRATE_ROOTS: [&str; 3] = ["lib", "main", "mod"];

/// A way in which a source names another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reference {
    /// The path of a file without its extension, or of its directory (`__init__`, `index`, `mod`).
    Module(String),
    /// The end of such a path: settings decide the directories in which modules are searched.
    ModuleEnd(String),
    /// A path with or without its extension. It may also name a directory.
    File(String),
    /// The end of such a path.
    FileEnd(String),
}

/// The files that a source loads.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    references: BTreeSet<Reference>,
    /// All words of a source that its grammar cannot read.
    words: BTreeSet<String>,
}

impl Loads {
    /// Reads a source. `path` starts at the same directory as the paths given to [`Loads::has`].
    pub fn of(path: &str, source: &[u8]) -> Self {
        let mut loads = Self::default();
        let Some(language) = GrammarLanguage::of(path.as_bytes()) else {
            return loads;
        };
        let Some(tree) = language.parse(source) else {
            let all = String::from_utf8_lossy(source);
            loads.words = path_words(&all).map(str::to_owned).collect();
            return loads;
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match language {
            GrammarLanguage::Python => loads.python(&tree, source, folder),
            GrammarLanguage::TypeScript | GrammarLanguage::Tsx => {
                loads.strings(tree.root_node(), source, folder);
            }
            GrammarLanguage::Rust => loads.rust(tree.root_node(), source, path),
        }
        loads
    }

    /// True if it loads the file.
    pub fn has(&self, file: &str) -> bool {
        let stem = without_ending(file);
        let module = module_of(file);
        self.references.iter().any(|reference| match reference {
            Reference::Module(name) => module == name,
            Reference::ModuleEnd(name) => ends_with(module, name),
            Reference::File(name) => {
                [file, stem, module].contains(&name.as_str()) || stem == without_ending(name)
            }
            Reference::FileEnd(name) => [file, stem, module]
                .iter()
                .any(|path| ends_with(path, name)),
        }) || !self.words.is_empty() && file_words(file).all(|word| self.words.contains(word))
    }

    fn python(&mut self, tree: &Tree, source: &[u8], folder: &str) {
        let root = tree.root_node();
        let nodes = RefCell::new(Vec::new());
        walk(
            root,
            |WalkStep { node, .. }| {
                let is_import = matches!(node.kind(), "import_statement" | "import_from_statement");
                if is_import {
                    nodes.borrow_mut().push(node);
                }
                !is_import
            },
            |_| {},
        );
        for import in nodes.into_inner() {
            let from = import.child_by_field_name("module_name");
            let names: Vec<&str> = parts(import)
                .into_iter()
                .filter(|part| Some(*part) != from)
                .map(|part| match part.kind() {
                    "aliased_import" => field(part, "name", source),
                    _ => text(part, source),
                })
                .collect();
            let Some(from) = from else {
                for name in names {
                    self.module(name, folder);
                }
                continue;
            };
            let from = text(from, source);
            self.module(from, folder);
            for name in names {
                let dot = if from.ends_with('.') { "" } else { "." };
                self.module(&format!("{from}{dot}{name}"), folder);
            }
        }
        self.strings(root, source, folder);
    }

    /// Adds a dotted name of Python with the packages above it. Leading dots count from the directory of the source.
    fn module(&mut self, dotted: &str, folder: &str) {
        let dotted: String = dotted.split_whitespace().collect();
        let name = dotted.trim_start_matches('.');
        let level = dotted.len() - name.len();
        let parts: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
        let mut at: Vec<&str> = Vec::new();
        if level > 0 {
            at = folder.split('/').filter(|part| !part.is_empty()).collect();
            at.truncate((at.len() + 1).saturating_sub(level));
        }
        for part in parts {
            at.push(part);
            let path = at.join("/");
            self.references.insert(if level > 0 {
                Reference::Module(path)
            } else {
                Reference::ModuleEnd(path)
            });
        }
    }

    /// Adds the strings below a node that may be paths or dotted names.
    fn strings(&mut self, root: Node<'_>, source: &[u8], folder: &str) {
        let all = RefCell::new(BTreeSet::new());
        walk(
            root,
            |WalkStep { node, .. }| {
                let is_string = matches!(
                    node.kind(),
                    "string" | "template_string" | "string_literal" | "raw_string_literal"
                );
                if is_string {
                    all.borrow_mut().insert(text(node, source).to_owned());
                }
                !is_string
            },
            |_| {},
        );
        for literal in all.into_inner() {
            let inner = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '#');
            let inner = inner.trim_matches(['"', '\'', '`', '#']);
            if !inner.is_empty() && inner.len() < 300 && !inner.contains(char::is_whitespace) {
                self.path(inner, folder);
            }
        }
    }

    fn path(&mut self, path: &str, folder: &str) {
        // A query or a fragment behind it does not change the loaded file.
        let path = path.split(['?', '#']).next().unwrap_or_default();
        if path.starts_with("./") || path.starts_with("../") || path == "." || path == ".." {
            self.references
                .extend(joined(folder, path).map(Reference::File));
            return;
        }
        // After an alias for a directory (`@/`, `src/`) the rest is the end of a path.
        let rest = path.split_once('/').map_or(path, |(_, rest)| rest);
        for end in [path, rest] {
            let dotted = end.replace('.', "/");
            for end in [end, dotted.as_str()] {
                let end = end.trim_matches('/');
                if is_of_tests(end) {
                    self.references.insert(Reference::FileEnd(end.to_owned()));
                }
            }
        }
    }

    fn rust(&mut self, root: Node<'_>, source: &[u8], path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = without_ending(name);
        let own = if CRATE_ROOTS.contains(&stem) {
            folder.to_owned()
        } else {
            join(folder, stem)
        };
        // A file of `src/bin` is the root of a crate too.
        let mut lists = vec![(root, vec![own, folder.to_owned()])];
        while let Some((list, folders)) = lists.pop() {
            let mut attributes: Vec<Node<'_>> = Vec::new();
            for item in parts(list) {
                if item.kind() == "attribute_item" {
                    attributes.push(item);
                    continue;
                }
                let is_of_tests = attributes.iter().any(|node| is_for_tests(*node, source));
                if !is_of_tests {
                    for attribute in &attributes {
                        for folder in &folders {
                            self.strings(*attribute, source, folder);
                            self.named_files(*attribute, source, folder);
                        }
                    }
                    let name = field(item, "name", source);
                    match (item.kind(), item.child_by_field_name("body")) {
                        ("mod_item", None) => self.references.extend(
                            folders
                                .iter()
                                .map(|folder| Reference::Module(join(folder, name))),
                        ),
                        ("mod_item", Some(body)) => {
                            let inside = folders.iter().map(|folder| join(folder, name));
                            lists.push((body, inside.collect()));
                        }
                        _ => {
                            self.strings(item, source, folder);
                            self.named_files(item, source, folder);
                        }
                    }
                }
                attributes.clear();
            }
        }
    }

    /// Adds Rust's paths of files, which are relative without a leading dot.
    fn named_files(&mut self, node: Node<'_>, source: &[u8], folder: &str) {
        let all = words([node], source);
        let paths = all.split('"').filter(|part| {
            Path::new(part)
                .extension()
                .is_some_and(|ending| ending == "rs")
        });
        self.references.extend(
            paths
                .filter_map(|path| joined(folder, path))
                .map(Reference::File),
        );
    }
}

/// True for a Rust source whose head compiles it for tests alone.
pub fn is_for_tests_alone(path: &str, source: &[u8]) -> bool {
    let Some(tree) = GrammarLanguage::of(path.as_bytes())
        .filter(|language| *language == GrammarLanguage::Rust)
        .and_then(|language| language.parse(source))
    else {
        return false;
    };
    parts_of_kind(tree.root_node(), "inner_attribute_item")
        .into_iter()
        .any(|attribute| is_for_tests(attribute, source))
}

/// True for `cfg(test)`, alone or as one of several conditions that must all be true.
fn is_for_tests(attribute: Node<'_>, source: &[u8]) -> bool {
    let words = words([attribute], source);
    let is_all = words.contains("cfg ( all ( test ") && !words.contains("any (");
    words.contains("cfg ( test )") || is_all && !words.contains("not (")
}

/// Returns the words by which a source can mention a file. An `__init__.py` has those of its directory.
pub fn file_words(file: &str) -> impl Iterator<Item = &str> {
    path_words(module_of(file).rsplit('/').next().unwrap_or_default())
}

/// Returns the words of a text or a path: letters, digits and `_`.
pub fn path_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

fn without_ending(file: &str) -> &str {
    let name = file.rfind('/').map_or(0, |at| at + 1);
    file[name..]
        .rfind('.')
        .filter(|at| *at > 0)
        .map_or(file, |at| &file[..name + at])
}

/// Returns a file's path without its extension. An `__init__.py` has that of its directory.
fn module_of(file: &str) -> &str {
    let stem = without_ending(file);
    match stem.rsplit_once('/') {
        Some((folder, name)) if FOLDER_FILES.contains(&name) => folder,
        _ => stem,
    }
}

fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// True for a path that only tests would have.
fn is_of_tests(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path_words(name).any(|word| {
        word.split('_').any(|word| {
            let bare = word.trim_end_matches('s');
            matches!(bare, "test" | "spec" | "conftest")
        })
    }) || path
        .split('/')
        .rev()
        .skip(1)
        .any(|folder| TEST_FOLDERS.contains(&folder))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Returns a relative path from a directory; `None` if it leads out of the package.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut at: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                at.pop()?;
            }
            part => at.push(part),
        }
    }
    Some(at.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(path: &str, source: &str, file: &str) -> bool {
        Loads::of(path, source.as_bytes()).has(file)
    }

    #[test]
    fn imports_of_python_name_files_in_all_their_forms() {
        for source in [
            "from shop.price_test import cents\n",
            "from .price_test import *\n",
            "from . import price_test\n",
            "from . import (other,\n    price_test as p)\n",
            "from shop import price_test\n",
            "import shop.price_test as p\n",
            "def f():\n    from .price_test import cents\n    return cents\n",
            "import importlib\np = importlib.import_module('shop.price_test')\n",
            "p = __import__(\"shop.price_test\")\n",
            "exec(open('shop/price_test.py').read())\n",
            "p = load(name=f'price_test.py')\n",
            "this is = no python, price_test\n",
        ] {
            assert!(
                has("src/shop/price.py", source, "src/shop/price_test.py"),
                "{source}"
            );
        }
        for source in [
            "from shop.price import cents\n",
            "# from shop.price_test import cents\n",
            "from .deep.price_test import cents\n",
            "from ..price_test import cents\n",
            "price_test = 1\n",
            "\"\"\"See shop.price_test for its tests.\"\"\"\n",
        ] {
            assert!(
                !has("src/shop/price.py", source, "src/shop/price_test.py"),
                "{source}"
            );
        }
        assert!(has(
            "shop/a.py",
            "from .tests import logic\n",
            "shop/tests/__init__.py"
        ));
        assert!(has(
            "shop/a.py",
            "from shop.tests.logic import x\n",
            "shop/tests/__init__.py"
        ));
        assert!(has(
            "shop/a.py",
            "from tests import logic\n",
            "tests/logic.py"
        ));
        assert!(!has(
            "shop/a.py",
            "from django.db import models\n",
            "tests/models.py"
        ));
    }

    #[test]
    fn strings_of_javascript_are_paths_from_their_file() {
        for source in [
            "export { cents } from './impl.spec.js'\n",
            "import { cents } from './impl.spec'\n",
            "import './impl.spec.js?raw'\n",
            "const { cents } = require(\"./impl.spec\")\n",
            "const p = await import(`../src/impl.spec.js`)\n",
            "import { cents } from '@/impl.spec'\n",
            "new Worker(new URL('./impl.spec.js', import.meta.url))\n",
        ] {
            assert!(has("src/price.js", source, "src/impl.spec.ts"), "{source}");
        }
        for source in [
            "import { cents } from './impl'\n",
            "// import './impl.spec.js'\n",
            "import { cents } from '../impl.spec.js'\n",
        ] {
            assert!(!has("src/price.js", source, "src/impl.spec.ts"), "{source}");
        }
        assert!(!has(
            "src/index.js",
            "import './price.js'\n",
            "tests/price.js"
        ));
        assert!(!has(
            "src/index.js",
            "import map from 'lodash/map'\n",
            "tests/map.js"
        ));
        assert!(has(
            "src/index.js",
            "import '../tests/price.js'\n",
            "tests/price.js"
        ));
        assert!(has(
            "src/index.js",
            "import './__tests__'\n",
            "src/__tests__/index.ts"
        ));
    }

    #[test]
    fn modules_of_rust_are_loaded_unless_they_are_for_tests() {
        let file = "src/tests/logic.rs";
        for source in [
            "#[path = \"tests/logic.rs\"]\nmod logic;\n",
            "mod tests { pub mod logic; }\n",
            "include!(\"tests/logic.rs\");\n",
            "#[cfg(any(test, not(test)))]\n#[path = \"tests/logic.rs\"]\nmod logic;\n",
        ] {
            assert!(has("src/lib.rs", source, file), "{source}");
        }
        assert!(has("src/lib.rs", "mod tests;\n", "src/tests/mod.rs"));
        assert!(has("src/price.rs", "mod tests;\n", "src/price/tests.rs"));
        for source in [
            "#[cfg(test)]\nmod tests { pub mod logic; }\n",
            "#[cfg(all(test, unix))]\n#[path = \"tests/logic.rs\"]\nmod logic;\n",
            "// mod tests { mod logic; }\n",
        ] {
            assert!(!has("src/lib.rs", source, file), "{source}");
        }
        assert!(is_for_tests_alone(
            "src/tests/logic.rs",
            b"#![cfg(test)]\nfn f() {}\n"
        ));
        assert!(!is_for_tests_alone(
            "src/tests/logic.rs",
            b"#![allow(dead_code)]\nfn f() {}\n"
        ));
    }
}
