//! ralph's own cached facts, which may be lost at any time: one JSON file each, read completely or not at all.
//!
//! A process next to others that may write there trusts only its own facts.

use super::Disk as _;
use super::disk::{RealDisk, read_beginning};
use super::poison::ignore_poison;
use crate::source::digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// Maximum size of a file that ralph wrote.
const LONGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct CachedValue<T> {
    /// The owner of the fact increases it when the meaning changes.
    version: u32,
    fact: T,
}

/// The digests of the facts that this process stored, by file. Unset if every file is trusted.
static OWN: OnceLock<Mutex<BTreeMap<PathBuf, String>>> = OnceLock::new();

/// Trusts from now on only facts that this process stores after this call.
pub fn believe_own_only() {
    let _ = OWN.set(Mutex::default());
}

/// Returns the fact in the file; `None` if it is missing, untrusted, or of another version or type.
pub fn load<T: DeserializeOwned>(file: &Path, version: u32) -> Option<T> {
    let bytes = read_beginning(file, LONGEST).ok()??;
    OWN.get()
        .is_none_or(|own| ignore_poison(own.lock()).get(file) == Some(&digest(&bytes)))
        .then_some(())?;
    let kept: CachedValue<T> = serde_json::from_slice(&bytes).ok()?;
    (kept.version == version).then_some(kept.fact)
}

/// Replaces the fact. Readers see the old one or the new one. It may be lost in a power failure.
pub fn store<T: Serialize>(file: &Path, version: u32, fact: T) -> io::Result<()> {
    let bytes = serde_json::to_vec(&CachedValue { version, fact })?;
    if let Some(own) = OWN.get() {
        ignore_poison(own.lock()).insert(file.to_owned(), digest(&bytes));
    }
    RealDisk::new().write(file, &bytes)
}

#[cfg(test)]
mod tests {
    use super::{load, store};

    #[test]
    fn a_fact_comes_back_and_anything_else_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below/fact.json");
        assert_eq!(load::<u64>(&file, 1), None);
        store(&file, 1, 7_u64).unwrap();
        assert_eq!(
            (
                load(&file, 1),
                load::<u64>(&file, 2),
                load::<String>(&file, 1)
            ),
            (Some(7_u64), None, None)
        );
        let bytes = fs_err::read(&file).unwrap();
        fs_err::write(&file, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(load::<u64>(&file, 1), None);
        fs_err::remove_file(&file).unwrap();
        fs_err::create_dir(&file).unwrap();
        assert_eq!(load::<u64>(&file, 1), None);
    }
}
