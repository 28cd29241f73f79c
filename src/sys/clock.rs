//! The only calls of the wall clock and of the monotonic clock.
//!
//! The first is for users, the second measures limits.

use super::poison::ignore_poison;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The total time for which this process, or its supervised one, was stopped.
static STOPPED: Mutex<Duration> = Mutex::new(Duration::ZERO);

/// Maximum size of a time zone file, in bytes.
const MAX_ZONE: u64 = 1 << 20;

/// Returns the wall time, to the second, for users: order never depends on it.
pub fn now() -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// Returns the wall time as RFC 3339 in UTC, to the second: `2026-11-22T00:57:51Z`.
pub fn stamp() -> String {
    now().to_string()
}

/// Returns the wall time in UTC, to the millisecond, for lines of a log: `2026-11-22T00:57:51.042Z`.
pub(super) fn precise_stamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Returns the time zone of the machine, if known.
pub fn zone() -> Option<jiff::tz::TimeZone> {
    let name = std::env::var_os("TZ").unwrap_or_default();
    let name = name.as_encoded_bytes();
    let path = Path::new(OsStr::from_bytes(name.strip_prefix(b":").unwrap_or(name)));
    // The library would read a device without end.
    let is_odd =
        std::fs::metadata(path).is_ok_and(|found| !found.is_file() || found.len() > MAX_ZONE);
    if path.is_absolute() && is_odd {
        None
    } else {
        jiff::tz::TimeZone::try_system().ok()
    }
}

/// Returns the monotonic time, for deadlines. It does not advance while ralph is stopped (Ctrl-Z).
pub fn monotonic() -> Instant {
    without(*ignore_poison(STOPPED.lock()))
}

#[expect(clippy::disallowed_methods, reason = "this is the owner of the clock")]
fn without(stopped: Duration) -> Instant {
    let now = Instant::now();
    now.checked_sub(stopped).unwrap_or(now)
}

/// Excludes the time since `since` from all stopwatches. Overlapping calls are counted once.
pub(super) fn leave_out(since: Instant) {
    let mut stopped = ignore_poison(STOPPED.lock());
    let time = without(*stopped).saturating_duration_since(since);
    *stopped += time;
}

/// Measures a duration on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    began: Instant,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        Self { began: monotonic() }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        monotonic().saturating_duration_since(self.began)
    }

    /// Returns the time since the start in whole milliseconds.
    pub fn millis(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{leave_out, monotonic, now, stamp};
    use std::time::Duration;

    #[test]
    fn a_stamp_is_rfc_3339_in_utc_to_the_second() {
        let text = stamp();
        assert_eq!(text.len(), "2026-11-22T00:57:51Z".len(), "{text}");
        assert!(text.ends_with('Z'), "{text}");
        let read: jiff::Timestamp = text.parse().unwrap();
        assert!(now() >= read);
        assert_eq!(now().subsec_nanosecond(), 0);
    }

    #[test]
    fn time_that_was_spent_stopped_counts_once_whoever_says_it() {
        let since = monotonic();
        while monotonic() < since + Duration::from_millis(20) {}
        let seen = [0; 4].map(|_| {
            leave_out(since);
            monotonic()
        });
        assert!(
            seen.iter()
                .all(|now| *now >= since && *now < since + Duration::from_millis(20)),
            "{seen:?}"
        );
    }
}
