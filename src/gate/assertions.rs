//! A sign that a score may mean little: no test of the judged code holds a word of an assertion. Mutants then die by exceptions
//! and time-outs alone, which code that checks itself can throw.

use super::GateRequest;
use super::commands::read_text;
use super::scope::GateScope;
use super::verdict::MAX_SOURCE;
use crate::source::text;
use std::collections::BTreeSet;

/// Beginnings of words by which tests of all judged languages assert, in lower case.
const WORDS: [&str; 12] = [
    "assert", "expect", "verif", "should", "must", "check", "fail", "raises", "throws", "snapshot",
    "match", "panic",
];
/// Files that are named to people.
const NAMED: usize = 3;

/// Names the tests of the judged code if none of them asserts anything.
pub(super) fn assertion_remark(request: &GateRequest, scope: &GateScope) -> Option<String> {
    let (mut names, mut asserts) = (BTreeSet::new(), false);
    for module in scope
        .modules
        .iter()
        .filter(|module| !module.targets.is_empty())
    {
        let root = &request.packages.get(module.package)?.root;
        let own = module.targets.iter().flat_map(|target| &target.tests);
        for test in own.chain(&module.changed_tests) {
            let source = read_text(&root.join(test), MAX_SOURCE).to_lowercase();
            asserts |= WORDS.iter().any(|word| source.contains(word));
            names.insert(test.clone());
        }
    }
    (!asserts && !names.is_empty()).then(|| {
        let names = text::names(&names, NAMED);
        format!("No assertion was found in the tests of what is judged: {names}. Exceptions and time-outs alone kill its mutants.")
    })
}
