//! The scores of mutation tests that no loop asked for, kept in ralph's cache for `ralph report --weeks`: a file for each folder.

use crate::mutation::NoCoverage;
use crate::report::history::Measurement;
use crate::report::mutation_test::TargetMeasurement;
use crate::source::digest;
use crate::sys::cache_file;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Scores of one folder, the newest.
const MOST: usize = 1_000;
/// Raised when a score changes its meaning.
const VERSION: u32 = 1;

fn scores_file(cache: &Path, folder: &Path) -> PathBuf {
    cache
        .join("scores")
        .join(digest(folder.as_os_str().as_bytes()) + ".json")
}

/// Those that were kept of a folder, the oldest first.
pub fn kept_scores(cache: &Path, folder: &Path) -> Vec<Measurement> {
    cache_file::load(&scores_file(cache, folder), VERSION).unwrap_or_default()
}

/// Keeps one. Of two at the same time one may be lost.
pub fn keep_score(
    cache: &Path,
    folder: &Path,
    measured: &TargetMeasurement,
    at: i64,
) -> io::Result<()> {
    let mut all = kept_scores(cache, folder);
    all.drain(..all.len().saturating_sub(MOST - 1));
    all.push(Measurement {
        at,
        unit: measured.target.clone(),
        by: format!("mutation-test ({})", measured.engine),
        engine: if measured.version.is_empty() {
            measured.engine.to_owned()
        } else {
            measured.version.clone()
        },
        commit: String::new(),
        score: measured.tally.coverage(NoCoverage::Survived),
        is_part: false,
    });
    cache_file::store(&scores_file(cache, folder), VERSION, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Tally;

    #[test]
    fn the_newest_scores_of_a_folder_are_kept_apart_from_those_of_others() {
        let cache = tempfile::tempdir().unwrap();
        let tally = Tally {
            killed: 2,
            no_coverage: 1,
            ..Tally::default()
        };
        let measured = TargetMeasurement {
            target: "src/a.py".into(),
            engine: "mutmut",
            tally,
            ..TargetMeasurement::default()
        };
        let keep = |at| keep_score(cache.path(), Path::new("/a"), &measured, at).unwrap();
        let kept = || kept_scores(cache.path(), Path::new("/a"));
        keep(0);
        let first = kept().remove(0);
        let full: Vec<Measurement> = (0..1_000)
            .map(|at| Measurement {
                at,
                ..first.clone()
            })
            .collect();
        cache_file::store(&scores_file(cache.path(), Path::new("/a")), VERSION, &full).unwrap();
        keep(1_000);
        keep(1_001);
        let kept = kept();
        assert_eq!((kept.len(), kept[0].at, kept[999].at), (MOST, 2, 1_001));
        assert_eq!((kept[0].score.killed, kept[0].score.total), (2, 3));
        assert_eq!(kept[0].by, "mutation-test (mutmut)");
        assert_eq!(kept_scores(cache.path(), Path::new("/b")), []);
    }
}
