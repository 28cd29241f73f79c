//! This process: its program, its open files, its signals, and its secrecy.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;

pub(in crate::sys) use system::{OPEN_FILES, is_ignored, is_unchanged};
pub use system::{SYSTEM, close_to_others, own_program};

/// Texts for users about the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemWords {
    /// The process table.
    pub table: &'static str,
    /// The advice if the process table cannot be read.
    pub table_hint: &'static str,
    /// The advice if processes cannot be supervised.
    pub supervision_hint: &'static str,
}
