//! Everything that writes to a task file.
#![no_main]

#[path = "../drive.rs"]
#[expect(dead_code, reason = "the targets share one file")]
mod drive;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drive::edit(data));
