//! Whose files the corpus holds, and what is read from them besides boxes.

use ralph::task::{Dialect, Grammar, TaskFile, dialect};
use std::collections::BTreeMap;
use std::path::Path;

/// The dialect that the corpus names for a file, where it names one.
fn named(class: &str, path: &str) -> Option<Dialect> {
    match class {
        "kiro" => Some(Dialect::Kiro),
        "openspec" => Some(Dialect::OpenSpec),
        "speckitty" | "speckitty-wp" => Some(Dialect::SpecKitty),
        // kiro-spec-engine's own files: some in Kiro's form, some plain lists.
        "specs-tasks" if path.contains(".sce/specs") => None,
        "specs-tasks" => Some(Dialect::SpecKit),
        _ => None,
    }
}

/// Compares what is found with what the index beside the folder says.
pub(crate) fn are_known(folder: &Path) {
    let index = fs_err::read_to_string(folder.join("../index.tsv")).unwrap();
    let mut known: BTreeMap<Dialect, (u32, u32, u32)> = BTreeMap::new();
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, _, path, _, _, class, ..] = columns[..] else { continue };
        let Some(expected) = named(class, path) else { continue };
        let file = TaskFile::parse(fs_err::read(folder.join(name)).unwrap(), &Grammar::default());
        if file.len() < 5 {
            continue;
        }
        let (alone, with_path) = (dialect(&file, ""), dialect(&file, path));
        let count = known.entry(expected).or_default();
        count.0 += 1;
        // A file of spec-kitty that names no work package is one of spec-kit, as far as can be seen.
        let near = expected == Dialect::SpecKitty && alone.dialect == Dialect::SpecKit;
        count.1 += u32::from(alone.dialect == expected || near);
        count.2 += u32::from(with_path.dialect == expected);
    }
    assert!(!known.is_empty());
    for (dialect, (all, alone, with_path)) in known {
        assert!(with_path * 100 >= all * 95, "{dialect}: {with_path} of {all} with their path");
        assert!(alone * 100 >= all * 60, "{dialect}: {alone} of {all} without it");
    }
}
