//! Outlines of Python, JavaScript, TypeScript or Rust sources: their tests and other code, parsed by a grammar.
//!
//! Promises: comments, layout, imports and the order of members do not count. A test that no runner would run is not
//! a test: under a condition that is never true, after an early end, bound again further down, or in a string. A
//! source that the grammar cannot read has no outline.

mod imports;
mod javascript;
mod python;
mod rust;
mod syntax;
#[cfg(test)]
mod tests;

pub use imports::{Loads, file_words, is_for_tests_alone, path_words};

use super::lines::{how_often, take};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use syntax::GrammarLanguage;

/// A source by its members.
#[derive(Clone, Debug, Default)]
pub struct SourceOutline {
    members: Vec<OutlineMember>,
    tests: Vec<TestUnit>,
    /// Rust modules in files of their own, with their conditions.
    modules: BTreeSet<String>,
}

/// A top-level statement of a source, or of a class, suite or module in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutlineMember {
    /// The heads of the classes, suites and modules around it.
    scope: String,
    words: String,
    role: MemberRole,
    /// The names that it binds in its scope.
    binds: Vec<String>,
    /// The names that it reads.
    uses: Vec<String>,
}

impl OutlineMember {
    fn key(&self) -> (&str, &str) {
        (&self.scope, &self.words)
    }
}

/// The effect of a member on the tests next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberRole {
    Import,
    Test,
    /// It only binds names.
    Declaration,
    /// It runs when the file is loaded.
    Statement,
    /// It runs before or after each test, and may end it.
    Switch,
}

/// A test that a runner would run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestUnit {
    /// Its name with those of the scopes around it.
    path: String,
    /// Conditions under which alone it runs.
    guards: BTreeSet<String>,
}

/// The properties of all members of a class, suite or module.
#[derive(Clone, Debug, Default)]
struct MemberScope {
    words: String,
    path: String,
    is_off: bool,
    guards: BTreeSet<String>,
    depth: u32,
}

/// Maximum nesting of classes, suites and modules. Honest code is less deep.
const MAX_DEPTH: u32 = 40;

impl MemberScope {
    /// Returns a scope inside this one.
    fn inner(&self, head: &str, name: &str) -> Self {
        let words = format!("{}{head}\n", self.words);
        Self {
            words,
            path: self.path_of(name),
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    fn guarded(&self, guards: impl IntoIterator<Item = String>) -> Self {
        let mut scope = self.clone();
        scope.guards.extend(guards);
        scope
    }
}

/// True for a file that [`SourceOutline::of`] can read, by its name.
pub fn has_outline(path: &[u8]) -> bool {
    GrammarLanguage::of(path).is_some()
}

impl SourceOutline {
    /// Reads a source. `None` for other languages, for invalid syntax, and for more than 1 MiB.
    pub fn of(path: &[u8], source: &[u8]) -> Option<Self> {
        let language = GrammarLanguage::of(path)?;
        let tree = language.parse(source)?;
        match language {
            GrammarLanguage::Python => python::outline(&tree, source),
            GrammarLanguage::TypeScript | GrammarLanguage::Tsx => {
                javascript::outline(&tree, source)
            }
            GrammarLanguage::Rust => rust::outline(&tree, source),
        }
    }

    /// True for a source that holds only comments.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Counts the tests that may run.
    pub fn tests(&self) -> u64 {
        self.tests.len() as u64
    }

    /// Counts the tests that run in all cases in which they ran `before`: a new condition is assumed false.
    pub fn tests_since(&self, before: &Self) -> u64 {
        let known: BTreeMap<&str, &BTreeSet<String>> = before
            .tests
            .iter()
            .map(|test| (test.path.as_str(), &test.guards))
            .collect();
        self.tests
            .iter()
            .filter(|test| {
                let guards = known.get(test.path.as_str());
                test.guards.is_empty() || guards.is_some_and(|guards| test.guards.is_subset(guards))
            })
            .count() as u64
    }

    /// Returns Rust modules in own files that `other` declares differently or not at all.
    pub fn modules_beyond(&self, other: &Self) -> Vec<String> {
        let names = self.modules.difference(&other.modules);
        names
            .filter_map(|module| module.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the members of `written` that `now` lost: their number, and the first.
    ///
    /// A member that an addition affects is lost too.
    ///
    /// A test that `base` already had may change, but nothing else may. `None` if nothing is lost.
    pub fn lost(base: Option<&Self>, written: &Self, now: &Self) -> Option<(u64, String)> {
        let mut present = how_often(now.code().map(OutlineMember::key));
        let mut before = how_often(
            base.into_iter()
                .flat_map(Self::code)
                .map(OutlineMember::key),
        );
        let (mut lost, mut held) = (Vec::new(), Vec::new());
        for member in written.code() {
            let may_go = take(&mut before, &member.key()) && member.role == MemberRole::Test;
            if take(&mut present, &member.key()) {
                held.push(member);
            } else if !may_go {
                lost.push(member.words.clone());
            }
        }
        let scopes: HashSet<&str> = written
            .members
            .iter()
            .map(|member| member.scope.as_str())
            .collect();
        for member in &now.members {
            let is_new = member.role == MemberRole::Import || take(&mut present, &member.key());
            if is_new && scopes.contains(member.scope.as_str()) {
                lost.extend(interference(member, &held));
            }
        }
        let first = super::text::line(lost.first()?, 120);
        Some((lost.len() as u64, first))
    }

    /// Returns all members but imports.
    fn code(&self) -> impl Iterator<Item = &OutlineMember> {
        self.members
            .iter()
            .filter(|member| member.role != MemberRole::Import)
    }

    fn add_test(&mut self, scope: &MemberScope, name: &str) {
        if !scope.is_off {
            self.tests.push(TestUnit {
                path: scope.path_of(name),
                guards: scope.guards.clone(),
            });
        }
    }
}

/// Describes the effect of a new member on the existing ones, if it has one.
fn interference(new: &OutlineMember, held: &[&OutlineMember]) -> Option<String> {
    match new.role {
        MemberRole::Statement => Some(format!("new code that runs first: {}", new.words)),
        MemberRole::Switch => Some(format!("a new fixture that may end tests: {}", new.words)),
        _ => new
            .binds
            .iter()
            .find(|name| {
                let is_bound = held
                    .iter()
                    .any(|member| member.scope == new.scope && member.binds.contains(name));
                let is_used = new.role != MemberRole::Import
                    && held.iter().any(|member| {
                        member.scope.starts_with(&new.scope) && member.uses.contains(name)
                    });
                is_bound || is_used
            })
            .map(|name| format!("another {name}: {}", new.words)),
    }
}
