//! Small facts that gates remember between runs, in ralph's cache folder.
//!
//! A fact is remembered under a key made from everything it depends on; what cannot be read
//! is not remembered; readers see a whole file; the number of facts is bounded.

use crate::gate::GateAbort;
use crate::gate::commands::disk;
use crate::sys::cache_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Facts of one kind.
const MOST: usize = 500;
/// Raised when a fact changes its meaning.
const VERSION: u32 = 1;

/// The facts of one kind.
pub(crate) struct DiskCache {
    file: PathBuf,
}

impl DiskCache {
    /// Those of this kind; `cache` is ralph's cache folder.
    pub(crate) fn of(cache: &Path, kind: &str) -> Self {
        Self { file: cache.join(format!("{kind}.json")) }
    }

    /// What is remembered under a key.
    pub(crate) fn recall<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.all().remove(key).and_then(|value| serde_json::from_value(value).ok())
    }

    /// Remembers something; forgets all the rest when there is too much. Of two gates that remember at the
    /// same time one may be forgotten: that costs time, nothing else.
    pub(crate) fn keep<T: Serialize>(&self, key: &str, fact: &T) -> Result<(), GateAbort> {
        let mut all = self.all();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key.to_owned(), serde_json::to_value(fact).map_err(|error| unwritable(&error))?);
        cache_file::store(&self.file, VERSION, &all).map_err(|error| disk(&error))
    }

    fn all(&self) -> BTreeMap<String, Value> {
        cache_file::load(&self.file, VERSION).unwrap_or_default()
    }
}

fn unwritable(error: &serde_json::Error) -> GateAbort {
    GateAbort::setup(format!("A fact cannot be remembered: {error}."), "Please report this.")
}

#[cfg(test)]
mod tests {
    use super::{DiskCache, MOST};

    #[test]
    fn facts_are_kept_by_kind_and_key_and_bounded_and_garbage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (slow, base) = (DiskCache::of(folder.path(), "slow"), DiskCache::of(folder.path(), "base"));
        assert_eq!(slow.recall::<u64>("a"), None);
        slow.keep("a", &7_u64).unwrap();
        slow.keep("b", &8_u64).unwrap();
        assert_eq!(
            (slow.recall("a"), slow.recall("b"), base.recall("a")),
            (Some(7_u64), Some(8_u64), None::<u64>)
        );
        assert_eq!(slow.recall::<String>("a"), None, "another type is not what was kept");
        fs_err::write(folder.path().join("slow.json"), "[").unwrap();
        assert_eq!(slow.recall::<u64>("a"), None);
        for number in 0..=MOST {
            slow.keep(&number.to_string(), &number).unwrap();
        }
        assert_eq!((slow.recall::<usize>("0"), slow.recall(&MOST.to_string())), (None, Some(MOST)));
    }
}
