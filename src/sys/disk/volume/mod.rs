//! File systems: the case of names, and the sync of a whole one for files that a library wrote without a sync.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;

pub use system::{NAMES_MAY_IGNORE_CASE, sync_volume};
