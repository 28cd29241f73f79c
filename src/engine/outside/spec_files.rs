//! The spec's other files (`spec_files:`), next to tasks.md.
//!
//! Prompts carry them, and no attempt may write them.

use super::Outside;
use crate::engine::Fault;
use crate::source::digest_of;
use crate::sys::disk::{open_regular, read_beginning};
use crate::sys::walk::walk;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Files that are named, entries that the search for them looks at, folders that it goes down.
const MAX_FILES: usize = 64;
const MAX_ENTRIES: usize = 2_000;
const MAX_DEPTH: usize = 5;
/// Bytes that are read of one; a prompt shows a part of them.
const MAX_BYTES: u64 = 128 << 10;
/// Bytes of one that its digest covers.
const MAX_DIGESTED: u64 = 64 << 20;

impl Outside {
    /// Their paths below the spec folder, in the order of `spec_files:`; those that are named without a pattern may
    /// not be there.
    pub(super) fn spec_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let spec = &self.parts.places.spec;
        let mut found: Vec<PathBuf> = Vec::new();
        let patterns = &self.compiled_patterns()?.spec_files;
        for (pattern, matching) in self.parts.settings.spec_files.iter().zip(patterns) {
            let folder: PathBuf = pattern
                .split('/')
                .take_while(|part| !part.contains(['*', '?', '[', '{']))
                .collect();
            if folder == Path::new(pattern) {
                found.push(folder);
                continue;
            }
            let depth = if pattern.contains('/') { MAX_DEPTH } else { 1 };
            let folder = spec.join(folder);
            let entries = walk(&folder, depth, MAX_ENTRIES, |_| true).filter_map(Result::ok);
            let files = entries.filter(|entry| !entry.file_type().is_dir());
            let inside =
                files.filter_map(|file| Some(file.path().strip_prefix(spec).ok()?.to_owned()));
            found.extend(inside.filter(|path| matching.is_match(path)));
        }
        let own = ["tasks.md", "progress.txt", "validation-report.md"].map(Path::new);
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|path| !own.contains(&path.as_path()) && seen.insert(path.clone()));
        found.truncate(MAX_FILES);
        Ok(found)
    }

    /// The digest of each, by its path below the spec folder; empty for one that is not there, or is no file.
    pub(super) fn spec_digests(&self) -> Result<BTreeMap<String, String>, Fault> {
        let mut digests = BTreeMap::new();
        for path in self.spec_files()? {
            let digest = digest_of_file(&self.parts.places.spec.join(&path));
            digests.insert(path.display().to_string(), digest);
        }
        Ok(digests)
    }

    /// The text of each that is there, by its path below the spec folder.
    pub(super) fn spec_texts(&self) -> Result<Vec<(String, String)>, Fault> {
        let mut texts = Vec::new();
        for path in self.spec_files()? {
            if let Some(bytes) = read_beginning(&self.parts.places.spec.join(&path), MAX_BYTES)? {
                texts.push((
                    path.display().to_string(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                ));
            }
        }
        Ok(texts)
    }
}

/// Returns the digest of a file; empty if it is not there or cannot be read.
pub(in crate::engine) fn digest_of_file(path: &Path) -> String {
    let opened = open_regular(path).ok().flatten();
    opened
        .and_then(|(file, _)| digest_of(file.take(MAX_DIGESTED)).ok())
        .unwrap_or_default()
}
