//! The share of a usage limit that an agent's program reports while its provider still answers.
//!
//! Of the known programs only Claude Code prints it, in `rate_limit_event` lines and for a subscription login only.

use super::event::{QuotaWindow, TurnEvent};
use crate::source::text::line;
use std::collections::BTreeMap;

/// Windows of which a transcript may report.
const WINDOWS: usize = 16;
/// Characters of a window's name.
const NAME: usize = 40;
/// A share above this is not a share. A login that uses paid extra can report a little more than everything.
const LARGEST: f64 = 2.0;

/// Returns the window with this share, 1.0 for everything; `None` for a number that is not a share.
pub(super) fn window_of(name: &str, share: f64, resets_at: Option<i64>) -> Option<QuotaWindow> {
    if !(0.0..=LARGEST).contains(&share) {
        return None;
    }
    // 0.29 × 100 is 28.999…; through decimal text, since a cast could truncate.
    let percent = format!("{:.0}", (share.min(1.0) * 100.0 + 1e-6).floor());
    Some(QuotaWindow {
        name: line(name, NAME),
        percent: percent.parse().ok()?,
        resets_at,
    })
}

/// The last report of each window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quota(BTreeMap<String, QuotaWindow>);

impl Quota {
    /// Takes the next event of a transcript.
    pub fn take_event(&mut self, event: &TurnEvent) {
        if let TurnEvent::Quota(window) = event
            && (self.0.len() < WINDOWS || self.0.contains_key(&window.name))
        {
            self.0.insert(window.name.clone(), window.clone());
        }
    }

    /// The windows, sorted by name.
    pub fn windows(&self) -> impl Iterator<Item = &QuotaWindow> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::{TranscriptFormat, read};

    fn reported(lines: &str) -> Vec<(String, u8, Option<i64>)> {
        let mut quota = Quota::default();
        read(TranscriptFormat::Claude, lines.as_bytes(), |event| {
            quota.take_event(&event);
        })
        .unwrap();
        quota
            .windows()
            .map(|window| (window.name.clone(), window.percent, window.resets_at))
            .collect()
    }

    fn event(info: &str) -> String {
        format!(
            "{{\"type\":\"rate_limit_event\",\"rate_limit_info\":{info},\"session_id\":\"s\"}}\n"
        )
    }

    #[test]
    fn the_shares_that_claude_prints_are_read_in_both_shapes() {
        // 2.1.330 with a subscription login.
        let now = r#"{"status":"allowed","resetsAt":1795301737,"rateLimitType":"five_hour","isUsingOverage":false,"unifiedWindows":{"five_hour":{"utilization":0.93,"resetsAt":1795301737,"status":"allowed_warning"},"seven_day":{"utilization":0.29,"resetsAt":1795400000}}}"#;
        assert_eq!(
            reported(&event(now)),
            [
                ("five_hour".to_owned(), 93, Some(1_795_301_737)),
                ("seven_day".to_owned(), 29, Some(1_795_400_000)),
            ]
        );
        // Older builds.
        let older = r#"{"status":"allowed_warning","resetsAt":1788965700,"rateLimitType":"five_hour","utilization":0.8999}"#;
        assert_eq!(
            reported(&event(older)),
            [("five_hour".to_owned(), 89, Some(1_788_965_700))]
        );
        let unnamed = r#"{"status":"allowed_warning","utilization":0.62,"resetsAt":1790000000}"#;
        assert_eq!(
            reported(&event(unnamed)),
            [("usage".to_owned(), 62, Some(1_790_000_000))]
        );
    }

    #[test]
    fn what_is_not_a_share_is_not_reported() {
        for info in [
            r#"{"status":"allowed","isUsingOverage":false}"#,
            r#"{"status":"allowed","resetsAt":1784979600,"rateLimitType":"five_hour"}"#,
            r#"{"status":"allowed","utilization":"0.99"}"#,
            r#"{"status":"allowed","utilization":93}"#,
            r#"{"status":"allowed","utilization":-1}"#,
            r#"{"status":"allowed","unifiedWindows":{"five_hour":{"utilization":null}}}"#,
            r#"{"status":"allowed","unifiedWindows":["five_hour"]}"#,
        ] {
            assert_eq!(reported(&event(info)), [], "{info}");
        }
    }

    #[test]
    fn the_last_report_counts_and_their_number_is_bounded() {
        let share = |name: &str, share: f64| {
            event(&format!(
                r#"{{"unifiedWindows":{{"{name}":{{"utilization":{share}}}}}}}"#
            ))
        };
        let lines = share("five_hour", 0.5) + &share("five_hour", 1.04);
        assert_eq!(reported(&lines), [("five_hour".to_owned(), 100, None)]);
        let many: String = (0..100)
            .map(|at| share(&format!("w{at:03}{}", "x".repeat(90)), 0.1))
            .collect();
        let windows = reported(&many);
        assert_eq!(windows.len(), WINDOWS);
        assert!(
            windows
                .iter()
                .all(|(name, ..)| name.chars().count() <= NAME)
        );
    }
}
