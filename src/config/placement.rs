//! `placement:`: where the boxes of each gate were chosen to stand.
//!
//! Owns: the form of the choices.
//!
//! Promises: a gate that is not configured and a choice that is none are errors, each with its line.
//!
//! Refuses to know: task files, which tasks exist.

use super::document::Node;
use super::read::{Field, Reader};
use super::{GateSettings, Placement};
use std::collections::BTreeMap;

/// The choices that are one word.
const WORDS: &[(&str, u8)] = &[("each", 0), ("groups", 1), ("end", 2), ("none", 3)];

/// The choices of a map gate → choice.
pub(super) fn placement(
    read: &mut Reader,
    field: &Field,
    gates: &BTreeMap<String, GateSettings>,
) -> BTreeMap<String, Placement> {
    let mut found = BTreeMap::new();
    for (gate, field) in read.entries(field) {
        if !gates.contains_key(gate) {
            let names: Vec<&str> = gates.keys().map(String::as_str).collect();
            let hint = format!("Configured gates are: {}.", names.join(", "));
            read.wrong_key(&field, "is no configured gate", hint);
        } else if let Some(choice) = choice(read, &field) {
            found.insert(gate.to_owned(), choice);
        }
    }
    found
}

fn choice(read: &mut Reader, field: &Field) -> Option<Placement> {
    if !matches!(field.node, Node::Map(_)) {
        return Some(match read.word(field, WORDS)? {
            0 => Placement::Each,
            1 => Placement::Groups,
            2 => Placement::End,
            _ => Placement::None,
        });
    }
    let fields = read.fields(field, &["after"]);
    let Some(after) = fields.get("after") else {
        read.wrong(field, "names no tasks", "Write `{after: [\"2\", \"5\"]}`, or each, groups, end or none.");
        return None;
    };
    let ids = read.texts(after)?;
    if ids.is_empty() {
        read.wrong(after, "names no tasks", "Write the ids of tasks, or choose `none`.");
        return None;
    }
    Some(Placement::After(ids))
}
