//! Lock results whose poisoning is ignored.

use std::sync::{LockResult, PoisonError};

/// Returns the value, poisoned or not: for values that a panic cannot leave half changed.
pub fn ignore_poison<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}
