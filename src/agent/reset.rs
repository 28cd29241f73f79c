//! Reads the end of a usage limit, in the forms in which known CLIs print it.
//!
//! A time in the past, more than eight days away, or in an unknown time zone is ignored.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{RoundMode, Span, SpanRound, Timestamp, ToSpan, Unit, Zoned};
use regex_lite::Regex;
use std::sync::LazyLock;

/// Maximum wait: no known limit lasts longer than a week.
pub const LONGEST: u64 = 8 * 24 * 3600;

/// Seconds during which a past time of day means now, not tomorrow.
const JUST_NOW: i64 = 600;

/// Returns the seconds from `now` until the reset time in `text`.
///
/// `zone` is the time zone of the machine's clock, in which CLIs print a time of day without a zone. Without it such
/// a time is ignored.
pub(super) fn seconds_until(text: &str, now: Timestamp, zone: Option<&TimeZone>) -> Option<u64> {
    let text = text.to_lowercase();
    let seconds = epoch(&text, now)
        .or_else(|| length(&text))
        .or_else(|| time_of_day(&text, now, zone))?;
    u64::try_from(seconds)
        .ok()
        .filter(|seconds| (1..=LONGEST).contains(seconds))
}

/// A pattern that is compiled on first use.
type LazyPattern = LazyLock<Option<Regex>>;

/// `"resetsAt":1795301742` (Claude Code), `resets_at\": 1795301790` (opencode), `reached|1788965700`.
static EPOCH: LazyPattern = LazyLock::new(|| {
    Regex::new(r#"(?:resets?_?at|limit reached)[\\": |]{1,6}(\d{10})(?:\d{3})?(?:\D|$)"#).ok()
});

/// `retry-after: 20`, `x-codex-primary-reset-after-seconds":"3600"`.
static SECONDS: LazyPattern = LazyLock::new(|| {
    Regex::new(
        r#"(?:retry[-_ ]after(?:-seconds)?|reset-after-seconds)[\\": ]{1,6}(\d{1,9})(?:\D|$)"#,
    )
    .ok()
});

/// `try again in 2 days 17 hours` (Codex), `retry in 33.5s` and `retryDelay: "33s"` (Gemini).
static LENGTH: LazyPattern = LazyLock::new(|| {
    let unit = r"\d{1,6}(?:\.\d+)? ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b";
    let lead =
        r#"(?:try again in|retry in|retry after|resets? (?:in|after)|retrydelay[\\": ]{1,6})"#;
    Regex::new(&format!(
        r"{lead} ?((?:{unit}[, ]*(?:and )?|\d{{1,6}}[dhm])+(?:{unit})?)"
    ))
    .ok()
});

/// `try again at 10:46 PM.`, `try again at Nov 25th, 2026 10:46 PM` (Codex), `resets 3pm`,
/// `resets 10:55pm (UTC)`, `resets Nov 25, 3pm (Europe/Berlin)` (Claude Code).
static TIME: LazyPattern = LazyLock::new(|| {
    Regex::new(r"(?:try again at|resets?(?: at| on)?:?) (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}),?)?(?: at)? )?(\d{1,2})(?::(\d{2}))? ?([ap]m)?\b(?: ?\(([a-z0-9_/+-]+)\))?").ok()
});

fn epoch(text: &str, now: Timestamp) -> Option<i64> {
    let found = EPOCH.as_ref()?.captures(text)?;
    found[1]
        .parse::<i64>()
        .ok()
        .map(|second| second - now.as_second())
}

fn length(text: &str) -> Option<i64> {
    if let Some(found) = SECONDS.as_ref()?.captures(text) {
        return found[1].parse().ok();
    }
    let found = LENGTH.as_ref()?.captures(text)?;
    let length: Span = found[1]
        .replace("and ", "")
        .trim_end_matches([' ', ','])
        .parse()
        .ok()?;
    // A fraction of a second counts as a whole one, so that the wait is never too short.
    let whole = SpanRound::new()
        .largest(Unit::Second)
        .smallest(Unit::Second)
        .mode(RoundMode::Ceil);
    Some(length.round(whole.days_are_24_hours()).ok()?.get_seconds())
}

fn time_of_day(text: &str, now: Timestamp, zone: Option<&TimeZone>) -> Option<i64> {
    let found = TIME.as_ref()?.captures(text)?;
    let zone = match found.get(7).map(|name| name.as_str()) {
        None => zone?.clone(),
        Some("utc" | "gmt") => TimeZone::UTC,
        Some(name) => TimeZone::get(name).ok()?,
    };
    let time = clock_time(
        &found[4],
        found.get(5).map(|m| m.as_str()),
        found.get(6).map(|m| m.as_str()),
    )?;
    let now = now.to_zoned(zone.clone());
    let at = match (found.get(1), found.get(2)) {
        (Some(month), Some(day)) => dated(
            month.as_str(),
            day.as_str(),
            found.get(3).map(|m| m.as_str()),
            time,
            &now,
        )?,
        _ => undated(time, &now)?,
    };
    Some(at.timestamp().as_second() - now.timestamp().as_second())
}

/// Returns the next such time of day.
fn undated(time: Time, now: &Zoned) -> Option<Zoned> {
    let today = zoned_time(now.date(), time, now)?;
    let ago = now.timestamp().as_second() - today.timestamp().as_second();
    if ago <= JUST_NOW {
        Some(today)
    } else {
        zoned_time(now.date().tomorrow().ok()?, time, now)
    }
}

/// Returns a time of day on a date, in the time zone of `now`.
fn zoned_time(date: Date, time: Time, now: &Zoned) -> Option<Zoned> {
    date.to_datetime(time)
        .to_zoned(now.time_zone().clone())
        .ok()
}

/// Returns that day of this year, or of the next one if it passed long ago.
fn dated(month: &str, day: &str, year: Option<&str>, time: Time, now: &Zoned) -> Option<Zoned> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let at = MONTHS.find(month).filter(|at| at % 3 == 0)?;
    let month = i8::try_from(at / 3 + 1).ok()?;
    let year = year.map_or(Some(now.year()), |year| year.parse().ok())?;
    let date = Date::new(year, month, day.parse().ok()?).ok()?;
    let at = date
        .to_datetime(time)
        .to_zoned(now.time_zone().clone())
        .ok()?;
    let long_ago = at < now.checked_sub(30.days()).ok()?;
    if long_ago {
        at.checked_add(1.year()).ok()
    } else {
        Some(at)
    }
}

/// Returns a time on the clock. An hour alone needs `am` or `pm`.
fn clock_time(hour: &str, minute: Option<&str>, half: Option<&str>) -> Option<Time> {
    let hour: i8 = hour.parse().ok()?;
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("pm") => hour % 12 + 12,
        Some(_) => hour % 12,
        None if minute.is_none() => return None,
        None => hour,
    };
    Time::new(hour, minute.map_or(Ok(0), str::parse).ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::Offset;
    use proptest::prelude::*;

    /// Returns 2026-11-22 21:46:00 UTC.
    fn now() -> Timestamp {
        "2026-11-22T21:46:00Z".parse().expect("a time")
    }

    fn utc(text: &str) -> Option<u64> {
        seconds_until(text, now(), Some(&TimeZone::UTC))
    }

    #[test]
    fn the_forms_of_known_clis_are_read() {
        for (text, seconds) in [
            (
                r#""resetsAt":1795387560,"rateLimitType":"five_hour""#,
                3_600,
            ),
            (r#"\"resets_at\": 1795387560, \"code\""#, 3_600),
            ("Claude AI usage limit reached|1795387560", 3_600),
            ("Claude AI usage limit reached|1795387560000", 3_600),
            (r#""x-codex-primary-reset-after-seconds":"3600""#, 3_600),
            ("retry-after: 20", 20),
            ("or try again in 2 days 17 hours.", 2 * 86_400 + 17 * 3_600),
            ("try again in 3 hours and 5 minutes", 3 * 3_600 + 300),
            ("Please try again in 1.898s. Visit", 2),
            ("Please retry in 33s", 33),
            ("quota will reset after 2h5m10s.", 2 * 3_600 + 310),
            (r#""retryDelay": "57s""#, 57),
            ("try again at 10:46 PM.", 3_600),
            ("try again at 9:40 AM.", 12 * 3_600 - 360),
            ("You've hit your limit · resets 10:55pm (UTC)", 69 * 60),
            ("resets 11pm", 74 * 60),
            ("resets 12am", 134 * 60),
            ("resets at 23:46", 2 * 3_600),
            ("try again at Nov 25th, 2026 9:46 PM.", 3 * 86_400),
            ("resets Nov 23, 9:46pm (UTC)", 86_400),
            (
                "You've hit your limit · resets 11:55pm (Europe/Berlin)",
                69 * 60,
            ),
            ("resets Nov 23, 4:46pm (America/New_York)", 86_400),
        ] {
            assert_eq!(utc(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_names_no_usable_time_is_none() {
        for text in [
            "",
            "try again later",
            "resets 3",
            "resets at 25:00",
            "resets 13pm",
            "try again at 9:44 PM.",
            "limit reached|1795000000",
            "limit reached|9999999999",
            "try again in 30 days",
            "try again in 0s",
            "resets Feb 30, 3pm",
            "resets Foo 3, 3pm",
            "try again at Nov 20th, 2026 9:46 PM.",
            "resets 11pm (Mars/Base)",
        ] {
            assert_eq!(utc(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_of_day_needs_a_known_zone() {
        assert_eq!(seconds_until("try again at 10:46 PM.", now(), None), None);
        assert_eq!(
            seconds_until("resets 10:55pm (UTC)", now(), None),
            Some(69 * 60)
        );
        let plus_one = TimeZone::fixed(Offset::constant(1));
        assert_eq!(
            seconds_until("try again at 11:46 PM.", now(), Some(&plus_one)),
            Some(3_600)
        );
        assert_eq!(
            seconds_until("try again at 12:16 AM.", now(), Some(&plus_one)),
            Some(5_400)
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_a_bounded_time_or_none(
            text in "(try again (in|at)|resets?( at)?|retry-after:|limit reached\\|) ?[0-9]{0,12}[:. ]?[0-9]{0,3} ?(s|m|h|days|pm|am|\\(utc\\))?.{0,10}"
        ) {
            if let Some(seconds) = utc(&text) {
                prop_assert!((1..=LONGEST).contains(&seconds));
            }
        }
    }
}
