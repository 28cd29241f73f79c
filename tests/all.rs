//! The one test binary: behaviour that needs the real program, real processes or a real disk.

#[cfg(test)]
mod sys;
