//! Some hundred real task files outside the repository.
//!
//! `RALPH_CORPUS` names their directory. Without it they are expected next to the repository.

use super::{files, flips, placements};
use crate::cli::real_files::{run_to_the_end, run_to_the_end_without_lines_for_stages};
use crate::fuzz::files::are_read_and_edited;
use crate::support::needs::{corpus_folder, tests};
use std::path::PathBuf;

/// Returns all files of the folder that `RALPH_CORPUS` names, or every sixth file of the folder next to the repository.
fn all() -> Vec<PathBuf> {
    let step = if std::env::var_os("RALPH_CORPUS").is_some() {
        1
    } else {
        6
    };
    files::below(&corpus_folder())
        .into_iter()
        .step_by(step)
        .collect()
}

fn every_file_is_read_flipped_and_restored() {
    flips::are_read_flipped_and_restored(&all());
}

fn every_file_takes_every_placement_and_gives_its_bytes_back() {
    placements::are_taken_away_to_the_byte(&all());
}

fn every_file_is_read_and_edited_as_the_fuzz_targets_do() {
    are_read_and_edited(&all());
}

fn bytes(name: &str) -> Vec<u8> {
    fs_err::read(corpus_folder().join(name)).unwrap()
}

fn files_of_three_tools_run_to_their_end() {
    assert_eq!(
        run_to_the_end(&bytes("FouadABT+kiroween-dashtact-004.md")),
        67
    );
    assert_eq!(
        run_to_the_end(&bytes("joesh+jve-spec-kit-claude-007.md")),
        26
    );
    assert_eq!(run_to_the_end(&bytes("Fission-AI+OpenSpec-004.md")), 22);
}

fn files_of_three_tools_run_through_all_stages_without_a_line_for_them() {
    assert_eq!(
        run_to_the_end_without_lines_for_stages(&bytes("FouadABT+kiroween-dashtact-020.md")),
        5
    );
    assert_eq!(
        run_to_the_end_without_lines_for_stages(&bytes("joesh+jve-spec-kit-claude-007.md")),
        26
    );
    assert_eq!(
        run_to_the_end_without_lines_for_stages(&bytes("Fission-AI+OpenSpec-004.md")),
        22
    );
}

tests! {
    corpus deep: [
        every_file_is_read_flipped_and_restored,
        every_file_takes_every_placement_and_gives_its_bytes_back,
        every_file_is_read_and_edited_as_the_fuzz_targets_do,
        files_of_three_tools_run_to_their_end,
        files_of_three_tools_run_through_all_stages_without_a_line_for_them,
    ]
}
