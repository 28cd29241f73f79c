//! `placement:`: where the boxes of each gate stand.
//!
//! Owns: the words of that key (`each`, `groups`, `end`, `none`, `{after: ["2"]}`).
//!
//! Promises: a gate that is not configured and a choice that is none are errors with their line.
//!
//! Refuses to know: which boxes a choice leads to (see `task`), whether the task file agrees with it.

use super::error::either;
use super::read::{Field, Reader};
use crate::task::Placement;
use std::collections::BTreeMap;

/// The choice of each gate that the key names.
pub(super) fn placement(read: &mut Reader, field: &Field, gates: &[&str]) -> BTreeMap<String, Placement> {
    let mut found = BTreeMap::new();
    for (gate, field) in read.fields(field, gates) {
        if let Some(choice) = choice(read, &field) {
            found.insert(gate.to_owned(), choice);
        }
    }
    found
}

fn choice(read: &mut Reader, field: &Field) -> Option<Placement> {
    if field.keys().is_empty() {
        let words = [("each", 0), ("groups", 1), ("end", 2), ("none", 3)];
        let options = [Placement::Each, Placement::Groups, Placement::End, Placement::None];
        return read.word(field, &words).and_then(|at| options.into_iter().nth(at));
    }
    let fields = read.fields(field, &["after"]);
    let after = fields.get("after")?;
    let ids = read.texts(after)?;
    if ids.is_empty() {
        let hint = format!("Name tasks, or write {}.", either(&["each", "groups", "end", "none"]));
        read.wrong(after, "must not be empty", hint);
        return None;
    }
    Some(Placement::After(ids))
}
