//! Runs the fuzz targets over task files.

use super::drive;
use std::path::PathBuf;

/// Size in bytes from which a file takes an unoptimised build too long.
const LONG: usize = 10_000;

/// Runs each target with each of these files.
pub(crate) fn are_read_and_edited(paths: &[PathBuf]) {
    for (number, path) in (0..=u8::MAX).cycle().zip(paths) {
        let choices = [
            number,
            number.wrapping_mul(7),
            number.wrapping_mul(31),
            number.wrapping_mul(113),
        ];
        let data = [&choices[..], &fs_err::read(path).unwrap()].concat();
        drive::parse(&data);
        // The tests of `taskfiles` edit long files, box by box.
        if data.len() < LONG {
            drive::edit(&data);
            drive::place(&data);
        }
    }
}
