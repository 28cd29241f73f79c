//! The binary: everything stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ralph::cli::run())
}
