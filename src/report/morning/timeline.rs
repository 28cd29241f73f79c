//! The timeline of a page: a row per task, a bar per iteration, with long idle times cut short.

use crate::report::board;
use crate::report::story::IterationStory;
use crate::source::text::{count, duration};
use crate::task::spoken_id;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::collections::BTreeMap;

/// Parts of the width: positions are whole numbers of these.
const WIDTH: i64 = 10_000;
/// Seconds that are never cut short.
const SHORT: i64 = 60;

/// Iterations by task and time. Positions and widths are per cent of the width, with two decimals.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    /// One row for each task with iterations.
    pub rows: Vec<TimelineRow>,
    /// Idle times that are drawn shorter than they were.
    pub breaks: Vec<TimelineBar>,
    /// Local time of the first record.
    pub from: String,
    /// Local time of the last record.
    pub to: String,
    /// Time between both.
    pub length: String,
}

/// A task on the timeline.
#[derive(Clone, Debug, Serialize)]
pub struct TimelineRow {
    /// Name of the task.
    pub name: String,
    /// Anchor of its history on the page.
    pub anchor: String,
    /// The bars in words: `7 iterations, 12 s: 6 ticked, 1 unticked`.
    pub words: String,
    /// One bar for each iteration.
    pub bars: Vec<TimelineBar>,
}

/// A rectangle on the timeline.
#[derive(Clone, Debug, Serialize)]
pub struct TimelineBar {
    /// Left edge, per cent.
    pub left: String,
    /// Width, per cent.
    pub width: String,
    /// The class of its iteration; empty for an idle time.
    pub class: &'static str,
    /// Text that is shown on hover.
    pub title: String,
}

/// A task and its iterations.
pub(super) struct TimedTask<'a> {
    pub name: &'a str,
    pub anchor: &'a str,
    pub told: &'a [&'a IterationStory],
}

impl Timeline {
    /// Draws the tasks that have iterations.
    pub(super) fn new(tasks: &[TimedTask<'_>], zone: Option<&TimeZone>) -> Self {
        let spans: Vec<(i64, i64)> = tasks
            .iter()
            .flat_map(|task| task.told.iter().map(|told| told.span))
            .collect();
        let Some(scale) = Scale::new(&spans) else {
            return Self::default();
        };
        let mut rows = Vec::new();
        for task in tasks.iter().filter(|task| !task.told.is_empty()) {
            let bars = task.told.iter().map(|told| {
                let title = format!(
                    "Iteration {}, {}: {} ({})",
                    told.happened.iteration,
                    spoken_id(&told.happened.task),
                    told.happened.headline,
                    duration(told.iteration_seconds())
                );
                scale.bar(told.span, told.happened.class, title)
            });
            rows.push(TimelineRow {
                name: task.name.to_owned(),
                anchor: task.anchor.to_owned(),
                words: words(task.told),
                bars: bars.collect(),
            });
        }
        let breaks = scale.pieces.iter().filter(|piece| piece.is_cut);
        let breaks = breaks.map(|piece| {
            let idle = duration(u64::try_from(piece.to - piece.from).unwrap_or(0));
            scale.bar((piece.from, piece.to), "", format!("{idle} without work"))
        });
        let (from, to) = scale.ends();
        Self {
            rows,
            breaks: breaks.collect(),
            from: board::display_time(from, zone),
            to: board::display_time(to, zone),
            length: duration(u64::try_from(to - from).unwrap_or(0)),
        }
    }
}

fn words(told: &[&IterationStory]) -> String {
    let mut many: BTreeMap<&str, u64> = BTreeMap::new();
    for told in told {
        *many.entry(told.happened.class).or_default() += 1;
    }
    let kinds = [
        ("good", "ticked"),
        ("bad", "unticked"),
        ("person", "manual"),
        ("plain", "without a change of boxes"),
    ];
    let kinds = kinds.map(|(class, word)| (many.get(class).copied().unwrap_or(0), word));
    let kinds = kinds.iter().filter(|(many, _)| *many > 0);
    let kinds: Vec<String> = kinds.map(|(many, word)| format!("{many} {word}")).collect();
    format!(
        "{}, {}: {}",
        count(told.len() as u64, "iteration"),
        duration(told.iter().map(|told| told.iteration_seconds()).sum()),
        kinds.join(", ")
    )
}

/// A stretch of time, and its length as drawn.
struct Piece {
    from: i64,
    to: i64,
    /// Start in drawn seconds.
    start: i64,
    /// Drawn seconds.
    drawn: i64,
    is_cut: bool,
}

/// Maps times to positions.
struct Scale {
    pieces: Vec<Piece>,
    total: i64,
}

impl Scale {
    /// Returns the scale of these spans, seconds since 1970; `None` without spans.
    fn new(spans: &[(i64, i64)]) -> Option<Self> {
        let mut spans = spans.to_vec();
        spans.sort_unstable();
        let mut busy: Vec<(i64, i64)> = Vec::new();
        for (from, to) in spans {
            match busy.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => busy.push((from, to.max(from))),
            }
        }
        let mut worked: i64 = busy.iter().map(|(from, to)| to - from).sum();
        let limit = (worked / 10).max(SHORT);
        let gaps = busy.iter().zip(busy.iter().skip(1));
        let (idle, cuts): (Vec<i64>, Vec<i64>) = gaps
            .map(|(one, next)| next.0 - one.1)
            .partition(|gap| *gap <= limit);
        worked += idle.iter().sum::<i64>();
        // All breaks together take at most half of the width.
        let cuts = i64::try_from(cuts.len()).unwrap_or(i64::MAX);
        let drawn_cut = (worked / 20).min(worked / cuts.max(1)).max(1);
        let mut scale = Self {
            pieces: Vec::new(),
            total: 0,
        };
        let mut end = None;
        for (from, to) in busy {
            if let Some(end) = end {
                let is_cut = from - end > limit;
                let drawn = if is_cut { drawn_cut } else { from - end };
                scale.push(end, from, drawn, is_cut);
            }
            scale.push(from, to, to - from, false);
            end = Some(to);
        }
        (!scale.pieces.is_empty()).then_some(scale)
    }

    fn push(&mut self, from: i64, to: i64, drawn: i64, is_cut: bool) {
        let start = self.total;
        self.total += drawn;
        self.pieces.push(Piece {
            from,
            to,
            start,
            drawn,
            is_cut,
        });
    }

    /// The first and the last second.
    fn ends(&self) -> (i64, i64) {
        let from = self.pieces.first().map_or(0, |piece| piece.from);
        (from, self.pieces.last().map_or(0, |piece| piece.to))
    }

    /// Returns the position of a time, in parts of the width.
    fn place(&self, at: i64) -> i64 {
        let next = self.pieces.partition_point(|piece| piece.from <= at);
        let piece = next.checked_sub(1).and_then(|last| self.pieces.get(last));
        let Some(piece) = piece else { return 0 };
        let length = i128::from(piece.to - piece.from).max(1);
        let inside = i128::from((at - piece.from).clamp(0, piece.to - piece.from));
        let drawn = i128::from(piece.start) + inside * i128::from(piece.drawn) / length;
        let place = drawn * i128::from(WIDTH) / i128::from(self.total.max(1));
        i64::try_from(place).unwrap_or(WIDTH)
    }

    fn bar(&self, (from, to): (i64, i64), class: &'static str, title: String) -> TimelineBar {
        let (left, right) = (self.place(from), self.place(to));
        let [left, width] =
            [left, right - left].map(|parts| format!("{}.{:02}", parts / 100, parts % 100));
        TimelineBar {
            left,
            width,
            class,
            title,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_night_without_work_does_not_squeeze_the_bars() {
        // An hour of work, a day of rest, an hour of work.
        let (hour, day) = (3_600, 86_400);
        let scale = Scale::new(&[(0, hour), (hour + day, 2 * hour + day)]).unwrap();
        assert_eq!(
            scale.pieces.iter().filter(|piece| piece.is_cut).count(),
            1,
            "the day is cut"
        );
        assert_eq!(
            [0, hour, hour + day, 2 * hour + day].map(|at| scale.place(at)),
            [0, 4_761, 5_238, 10_000]
        );
    }

    #[test]
    fn a_short_pause_is_drawn_as_long_as_it_was() {
        let scale = Scale::new(&[(0, 100), (150, 250)]).unwrap();
        assert!(scale.pieces.iter().all(|piece| !piece.is_cut));
        assert_eq!(scale.place(150), 6_000);
        assert!(Scale::new(&[]).is_none());
        assert_eq!(
            Scale::new(&[(7, 7)]).unwrap().place(7),
            0,
            "nothing to divide"
        );
    }

    proptest! {
        #[test]
        fn every_time_is_inside_and_later_is_never_further_left(
            spans in prop::collection::vec((0i64..1 << 40, 0i64..100_000), 1..60),
        ) {
            let spans: Vec<(i64, i64)> = spans.into_iter().map(|(at, long)| (at, at + long)).collect();
            let scale = Scale::new(&spans).unwrap();
            let mut times: Vec<i64> = spans.iter().flat_map(|(from, to)| [*from, *to]).collect();
            times.sort_unstable();
            let places: Vec<i64> = times.iter().map(|at| scale.place(*at)).collect();
            prop_assert!(places.is_sorted());
            prop_assert!(places.iter().all(|place| (0..=WIDTH).contains(place)));
        }
    }
}
