//! Small facts of ralph's own that may be lost at any time: one JSON file each, read whole or not at all.

use super::Disk as _;
use super::disk::{RealDisk, read_beginning};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// A longer file was not written by ralph.
const LONGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    /// Raised by the owner of the fact when it changes its meaning.
    version: u32,
    fact: T,
}

/// The fact in the file; `None` if there is none of this version and type.
pub fn load<T: DeserializeOwned>(file: &Path, version: u32) -> Option<T> {
    let bytes = read_beginning(file, LONGEST).ok()??;
    let kept: Kept<T> = serde_json::from_slice(&bytes).ok()?;
    (kept.version == version).then_some(kept.fact)
}

/// Replaces the fact: readers see the old one or the new one. It may be lost in a power failure.
pub fn store<T: Serialize>(file: &Path, version: u32, fact: T) -> io::Result<()> {
    RealDisk::new().write(file, &serde_json::to_vec(&Kept { version, fact })?)
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
            (load(&file, 1), load::<u64>(&file, 2), load::<String>(&file, 1)),
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
