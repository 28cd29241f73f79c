//! The binary. All code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before any file is opened or flag is read: the supervisor closes inherited files.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|verb| verb == ralph::sys::process::VERB)
    {
        let code = ralph::sys::process::supervise_main();
        return ExitCode::from(u8::try_from(code).unwrap_or(70));
    }
    ExitCode::from(ralph::cli::run_cli())
}
