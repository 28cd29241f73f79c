//! The only calls of the wall clock, which is for people, and of the monotonic clock, on which limits are measured.

use std::time::{Duration, Instant};

/// The wall time, to the second. For people: order never depends on it.
pub fn now() -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The wall time as RFC 3339 in UTC, to the second: `2026-11-22T00:57:51Z`.
pub fn stamp() -> String {
    now().to_string()
}

/// The time zone of the machine, if it is known.
pub fn zone() -> Option<jiff::tz::TimeZone> {
    jiff::tz::TimeZone::try_system().ok()
}

/// The monotonic time, for deadlines.
#[expect(clippy::disallowed_methods, reason = "this is the owner of the clock")]
pub fn monotonic() -> Instant {
    Instant::now()
}

/// Measures how long something took, on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    began: Instant,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        Self { began: monotonic() }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        monotonic().saturating_duration_since(self.began)
    }

    /// The time since the start in whole milliseconds.
    pub fn millis(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{now, stamp};

    #[test]
    fn a_stamp_is_rfc_3339_in_utc_to_the_second() {
        let text = stamp();
        assert_eq!(text.len(), "2026-11-22T00:57:51Z".len(), "{text}");
        assert!(text.ends_with('Z'), "{text}");
        let read: jiff::Timestamp = text.parse().unwrap();
        assert!(now() >= read);
        assert_eq!(now().subsec_nanosecond(), 0);
    }
}
