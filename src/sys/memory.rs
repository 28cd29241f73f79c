//! A limit on the memory of this process while a library reads hostile bytes.
//!
//! Promises: the process gets its former limit back, and a library that reports a failed allocation ends no more than its call.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;

/// The former limit, restored when dropped.
struct FormerLimit {
    soft: u64,
    hard: u64,
}

impl Drop for FormerLimit {
    fn drop(&mut self) {
        // A soft limit can always be raised up to the hard one.
        let _ = setrlimit(Resource::RLIMIT_DATA, self.soft, self.hard);
    }
}

/// Runs `act` while this process can have at most so many bytes of memory of its own. A lower limit of the user stays.
///
/// For one library call: all threads of the process share the limit.
pub fn with_memory_limit<T>(bytes: u64, act: impl FnOnce() -> T) -> io::Result<T> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_DATA)?;
    setrlimit(Resource::RLIMIT_DATA, bytes.min(soft), hard)?;
    let _former = FormerLimit { soft, hard };
    Ok(act())
}

#[cfg(test)]
mod tests {
    use super::with_memory_limit;
    use nix::sys::resource::{Resource, getrlimit};

    #[test]
    fn the_limit_holds_for_one_call() {
        // Other tests run meanwhile, and need less.
        let limit = 1 << 45;
        let before = getrlimit(Resource::RLIMIT_DATA).unwrap();
        let inside = with_memory_limit(limit, || getrlimit(Resource::RLIMIT_DATA).unwrap());
        assert_eq!(inside.unwrap(), (limit.min(before.0), before.1));
        assert_eq!(getrlimit(Resource::RLIMIT_DATA).unwrap(), before);
    }
}
