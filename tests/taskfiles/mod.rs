//! Task files of all dialects, in `tests/fixtures/tasks`: read, edited and run.

mod files;
mod flips;
mod placements;

use crate::cli::real_files::{run_to_the_end, run_to_the_end_without_lines_for_stages};
use crate::fuzz::files::are_read_and_edited;
use std::path::{Path, PathBuf};

/// A directory of fixtures for each form.
const DIALECTS: [&str; 8] = [
    "kiro",
    "cc-sdd",
    "spec-kit",
    "spec-kitty",
    "openspec",
    "smart-ralph",
    "stages",
    "plain",
];

fn of(dialect: &str) -> Vec<PathBuf> {
    files::below(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/tasks")
            .join(dialect),
    )
}

fn all() -> Vec<PathBuf> {
    DIALECTS.iter().flat_map(|folder| of(folder)).collect()
}

#[test]
fn every_file_is_read_flipped_and_restored() {
    flips::are_read_flipped_and_restored(&all());
}

#[test]
fn every_file_takes_every_placement_and_gives_its_bytes_back() {
    placements::are_taken_away_to_the_byte(&all());
}

#[test]
fn every_file_is_read_and_edited_as_the_fuzz_targets_do() {
    are_read_and_edited(&all());
}

#[test]
fn a_file_of_each_dialect_runs_to_its_end_with_and_without_all_stages() {
    for folder in DIALECTS {
        let files = of(folder)
            .into_iter()
            .map(|path| fs_err::read(path).unwrap());
        let shortest = files.min_by_key(Vec::len).unwrap();
        assert!(run_to_the_end(&shortest) > 0, "{folder} has nothing to do");
        if folder != "stages" {
            run_to_the_end_without_lines_for_stages(&shortest);
        }
    }
}
