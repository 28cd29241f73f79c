//! Mutexes that a panic left behind.
//!
//! Owns: the answer to a poisoned lock.
//!
//! Promises: what a mutex holds is given out although a holder of it panicked: to be used only where a
//! panic leaves no half value.
//!
//! Refuses to know: what the mutex guards.

use std::sync::{LockResult, PoisonError};

/// The value, poisoned or not.
pub fn whole<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}
