//! Small facts that gates remember between runs, in ralph's cache folder.
//!
//! A fact is remembered under a key made from everything it depends on; what cannot be read
//! is not remembered; readers see a whole file; the number of facts is bounded.

use crate::gate::GateAbort;
use crate::sys::cache_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Facts of one kind.
const MOST: usize = 500;
/// Raised when a fact changes its meaning.
const VERSION: u32 = 4;

/// The facts of one kind, a file each.
pub(crate) struct DiskCache {
    folder: PathBuf,
}

impl DiskCache {
    /// Those of this kind; `cache` is ralph's cache folder.
    pub(crate) fn of_kind(cache: &Path, kind: &str) -> Self {
        Self {
            folder: cache.join("facts").join(kind),
        }
    }

    /// Returns the value that is stored under a key.
    pub(crate) fn recall<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        cache_file::load(&self.entry_file(key), VERSION)
    }

    /// Remembers something; forgets all the rest of its kind when there is too much.
    pub(crate) fn remember<T: Serialize>(&self, key: &str, fact: &T) -> Result<(), GateAbort> {
        let kept = fs_err::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let kept: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
        if kept.len() >= MOST {
            for file in kept
                .iter()
                .filter(|file| file.extension().is_some_and(|end| end == "json"))
            {
                // Another gate may have removed it.
                let _ = fs_err::remove_file(file);
            }
        }
        Ok(cache_file::store(&self.entry_file(key), VERSION, fact)?)
    }

    fn entry_file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::{DiskCache, MOST};

    #[test]
    fn facts_are_kept_by_kind_and_key_and_bounded_and_garbage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (slow, base) = (
            DiskCache::of_kind(folder.path(), "slow"),
            DiskCache::of_kind(folder.path(), "base"),
        );
        assert_eq!(slow.recall::<u64>("a"), None);
        slow.remember("a", &7_u64).unwrap();
        slow.remember("b", &8_u64).unwrap();
        assert_eq!(
            (slow.recall("a"), slow.recall("b"), base.recall("a")),
            (Some(7_u64), Some(8_u64), None::<u64>)
        );
        assert_eq!(
            slow.recall::<String>("a"),
            None,
            "another type is not what was kept"
        );
        fs_err::write(folder.path().join("facts/slow/a.json"), "[").unwrap();
        assert_eq!(slow.recall::<u64>("a"), None);
        for number in 0..=MOST {
            slow.remember(&number.to_string(), &number).unwrap();
        }
        assert_eq!(
            (slow.recall::<usize>("0"), slow.recall(&MOST.to_string())),
            (None, Some(MOST))
        );
    }
}
