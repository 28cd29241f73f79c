//! The scores of classes over time, by week, and where one fell.
//!
//! Promise: scores are compared as counts, and only where one engine in one version counted a whole class both times.

use super::width::pad_text;
use crate::machine::event::Event;
use crate::machine::state::{Phase, State};
use crate::mutation::{Coverage, NoCoverage};
use crate::source::text::{count, line};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Measurements of one class that are kept, the newest.
const MOST: usize = 1_000;
/// Weeks that a line shows, the newest.
const WEEKS: usize = 26;
/// Columns of a name, and characters of one.
const COLUMNS: usize = 60;
const CHARS: usize = 300;
/// From no killed mutant to all. A week without a measurement has the last sign.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const NOTHING: char = '·';

/// One score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// When, seconds since 1970.
    pub at: i64,
    /// The measured unit: `orders a.Foo`; the target of a `mutation-test`.
    pub unit: String,
    /// The caller: `2.PITEST`, `mutation-test (pit)`.
    pub by: String,
    /// The engine with its version, as far as known; scores of another one are no comparison.
    #[serde(default)]
    pub engine: String,
    /// The package's commit; empty for files that were not committed.
    pub commit: String,
    /// Killed and all, mutants that no test reaches among the survivors.
    pub score: Coverage,
    /// Only mutants on changed lines count, so that it compares with no other score.
    pub is_part: bool,
}

impl Measurement {
    /// The engine and its version; what it runs on changes no count. Older records name only who asked.
    fn counted_by(&self) -> &str {
        let engine = if self.engine.is_empty() {
            &self.by
        } else {
            &self.engine
        };
        engine
            .split_once(" on ")
            .map_or(engine, |(engine, _)| engine)
    }
}

/// The scores of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    units: BTreeMap<String, Vec<Measurement>>,
}

impl History {
    /// Takes one record, with the state before it. `by_lines` are the gates whose scope is changed lines.
    pub fn note_record(
        &mut self,
        at: &str,
        event: &Event,
        before: &State,
        by_lines: &BTreeSet<String>,
    ) {
        let (Event::GateEnded { report, heads, .. }, Phase::Judging { order }) =
            (event, &before.phase)
        else {
            return;
        };
        let by = before.spec_state().written_name(&order.key);
        let engine = match report.engines() {
            unknown if unknown.is_empty() => order.name().to_owned(),
            engine => engine,
        };
        for class in &report.classes {
            let whole = class.floor.map_or(class.tally, |floor| floor.whole);
            self.add_measurement(Measurement {
                at: at.parse::<Timestamp>().map_or(0, Timestamp::as_second),
                unit: format!("{} {}", class.package, class.class),
                by: by.clone(),
                engine: engine.clone(),
                commit: heads
                    .get(&class.package)
                    .map(|head| head.0.clone())
                    .unwrap_or_default(),
                score: whole.coverage(NoCoverage::Survived),
                is_part: class.floor.is_none() && by_lines.contains(order.name()),
            });
        }
    }

    /// Adds one; where nothing was measured there is no score.
    pub fn add_measurement(&mut self, mut measured: Measurement) {
        if measured.score.total == 0 {
            return;
        }
        for text in [
            &mut measured.unit,
            &mut measured.by,
            &mut measured.engine,
            &mut measured.commit,
        ] {
            *text = line(text, CHARS);
        }
        let all = self.units.entry(measured.unit.clone()).or_default();
        // Those of the journal and of the cache come one after the other.
        let place = all.partition_point(|one| one.at <= measured.at);
        all.insert(place, measured);
        if all.len() > MOST {
            all.remove(0);
        }
    }

    /// The same with those units only whose name holds this.
    #[must_use]
    pub fn of_name(mut self, name: &str) -> Self {
        self.units.retain(|unit, _| unit.contains(name));
        self
    }

    /// True if nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Each score that is below the one before it of the same engine and version.
    pub fn find_falls(&self) -> Vec<(&Measurement, &Measurement)> {
        let mut falls = Vec::new();
        for all in self.units.values() {
            let mut last: BTreeMap<&str, &Measurement> = BTreeMap::new();
            for is in all.iter().filter(|one| !one.is_part) {
                let was = last.insert(is.counted_by(), is);
                falls.extend(
                    was.filter(|was| is.score.is_below(was.score))
                        .map(|was| (was, is)),
                );
            }
        }
        falls
    }

    /// A line for each unit, then the falls.
    pub fn history_lines(&self) -> Vec<String> {
        let all: BTreeSet<Week> = self
            .units
            .values()
            .flatten()
            .map(|one| week_of(one.at))
            .collect();
        let shown: Vec<Week> = all.iter().rev().take(WEEKS).rev().copied().collect();
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            return Vec::new();
        };
        let (weeks, from, to) = (
            count(shown.len() as u64, "week"),
            week_name(*first),
            week_name(*last),
        );
        let mut lines = vec![if from == to {
            format!("Week {from}.")
        } else {
            format!("{weeks} from {from} to {to}, those in which something was measured.")
        }];
        let columns = self
            .units
            .keys()
            .map(|unit| super::width::text_width(unit))
            .max()
            .unwrap_or(0)
            .min(COLUMNS);
        for (unit, measured) in &self.units {
            let weeks = by_week(measured);
            let bars: String = shown
                .iter()
                .map(|week| weeks.get(week).map_or(NOTHING, |one| score_bar(one.score)))
                .collect();
            let Some(last) = measured.last() else {
                continue;
            };
            let part = if last.is_part {
                " of the changed lines"
            } else {
                ""
            };
            let times = count(measured.len() as u64, "measurement");
            lines.push(format!(
                "{}  {bars}  {}{part}, {times}",
                pad_text(unit, columns),
                last.score
            ));
        }
        lines.extend(
            self.find_falls()
                .into_iter()
                .map(|(was, is): (&_, &Measurement)| {
                    format!(
                        "fell: {}: {} then {}",
                        is.unit,
                        measurement_text(was),
                        measurement_text(is)
                    )
                }),
        );
        lines
    }

    /// `{"classes": [{"unit", "weeks": [{"week", "killed", "total", "percent", "measurements"}]}], "falls": [{"unit", "was",
    /// "is"}]}`; a measurement has `at` (RFC 3339), `by`, `engine`, `commit`, `killed`, `total`, `percent`, `changed_lines`.
    pub fn history_facts(&self) -> Value {
        let classes = self.units.iter().map(|(unit, measured)| {
            let weeks = by_week(measured).into_iter().map(|(at, last)| {
                let times = measured.iter().filter(|one| week_of(one.at) == at).count();
                let Coverage { killed, total } = last.score;
                let percent = last.score.percent_floor();
                json!({"week": week_name(at), "killed": killed, "total": total, "percent": percent, "measurements": times})
            });
            let all = measured.iter().map(measurement_fact);
            json!({"unit": unit, "weeks": weeks.collect::<Vec<_>>(), "measurements": all.collect::<Vec<_>>()})
        });
        let falls = self.find_falls().into_iter().map(|(was, is): (_, &Measurement)| json!({"unit": is.unit, "was": measurement_fact(was), "is": measurement_fact(is)}));
        json!({"classes": classes.collect::<Vec<_>>(), "falls": falls.collect::<Vec<_>>()})
    }
}

/// A week of ISO 8601: its year and number.
type Week = (i16, i8);

fn week_of(second: i64) -> Week {
    let day = Timestamp::from_second(second)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC)
        .date();
    let week = day.iso_week_date();
    (week.year(), week.week())
}

fn week_name((year, number): Week) -> String {
    format!("{year}-W{number:02}")
}

/// The last measurement of each week.
fn by_week(measured: &[Measurement]) -> BTreeMap<Week, &Measurement> {
    measured.iter().map(|one| (week_of(one.at), one)).collect()
}

fn score_bar(score: Coverage) -> char {
    let step = score.percent_floor() * (BARS.len() as u64 - 1) / 100;
    usize::try_from(step)
        .ok()
        .and_then(|step| BARS.get(step))
        .copied()
        .unwrap_or(NOTHING)
}

/// `100% (18/18) by 2.PITEST on 2026-11-24 (a70f8c4940)`.
fn measurement_text(one: &Measurement) -> String {
    let day = Timestamp::from_second(one.at)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC)
        .date();
    let commit: String = one.commit.chars().take(10).collect();
    let commit = if commit.is_empty() {
        String::new()
    } else {
        format!(" ({commit})")
    };
    format!("{} by {} on {day}{commit}", one.score, one.by)
}

fn measurement_fact(one: &Measurement) -> Value {
    let at = Timestamp::from_second(one.at)
        .unwrap_or_default()
        .to_string();
    json!({
        "at": at, "by": one.by, "engine": one.engine, "commit": one.commit, "killed": one.score.killed, "total": one.score.total,
        "percent": one.score.percent_floor(), "changed_lines": one.is_part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const MONDAY: i64 = 20_780 * DAY;

    fn measured(unit: &str, day: i64, killed: u64, total: u64) -> Measurement {
        Measurement {
            at: MONDAY + day * DAY,
            unit: unit.to_owned(),
            by: "2.PITEST".to_owned(),
            engine: "PIT 1.25.9 on JDK 17".to_owned(),
            commit: "0123456789abcdef".to_owned(),
            score: Coverage { killed, total },
            is_part: false,
        }
    }

    fn history(all: impl IntoIterator<Item = Measurement>) -> History {
        let mut history = History::default();
        all.into_iter().for_each(|one| history.add_measurement(one));
        history
    }

    #[test]
    fn a_unit_has_a_line_with_a_bar_a_week_and_each_fall_is_told() {
        let history = history([
            measured("app a.Foo", 0, 10, 10),
            measured("app a.Foo", 1, 9, 10),
            measured("app a.Foo", 8, 10, 10),
            measured("app b.Longer", 15, 0, 7),
        ]);
        insta::assert_snapshot!(history.history_lines().join("\n"), @r"
        3 weeks from 2026-W48 to 2026-W50, those in which something was measured.
        app a.Foo     ▇█·  100% (10/10), 3 measurements
        app b.Longer  ··▁  0% (0/7), 1 measurement
        fell: app a.Foo: 100% (10/10) by 2.PITEST on 2026-11-23 (0123456789) then 90% (9/10) by 2.PITEST on 2026-11-24 (0123456789)
        ");
        assert_eq!(history.clone().of_name("b.L").history_lines().len(), 2);
        assert!(history.of_name("c").is_empty());
    }

    #[test]
    fn a_fall_is_one_of_whole_classes_in_the_order_of_time() {
        let part = Measurement {
            is_part: true,
            ..measured("a", 1, 1, 10)
        };
        assert_eq!(
            history([measured("a", 0, 9, 10), part, measured("a", 2, 90, 100)]).find_falls(),
            []
        );
        let by = |engine: &str, one: Measurement| Measurement {
            engine: engine.to_owned(),
            ..one
        };
        let engines = history([
            by("cosmic-ray 8.7.0", measured("a", 0, 58, 70)),
            by("mutmut 3.8.1", measured("a", 1, 8, 16)),
            by("PIT 1.25.9 on JDK 21", measured("a", 2, 7, 10)),
            by("mutmut 3.9.0", measured("a", 3, 7, 16)),
            by("PIT 1.25.9 on JDK 17", measured("a", 4, 6, 10)),
        ]);
        let falls: Vec<u64> = engines
            .find_falls()
            .iter()
            .map(|(was, is)| was.score.killed - is.score.killed)
            .collect();
        assert_eq!(falls, [1], "of one engine in one version alone");
        let late_first = history([
            measured("a", 2, 5, 10),
            measured("a", 0, 6, 10),
            measured("a", 1, 7, 10),
        ]);
        let falls: Vec<(u64, u64)> = late_first
            .find_falls()
            .iter()
            .map(|(was, is)| (was.score.killed, is.score.killed))
            .collect();
        assert_eq!(falls, [(7, 5)]);
    }

    #[test]
    fn nothing_measured_is_no_score_and_a_unit_is_bounded() {
        assert!(history([measured("a", 0, 0, 0)]).is_empty());
        let many = history((0..1_100).map(|day| measured("a\u{1b}[31m", day, 1, 2)));
        assert_eq!(many.units.values().next().unwrap().len(), MOST);
        assert!(
            many.history_lines()
                .iter()
                .all(|line| !line.contains('\u{1b}'))
        );
        assert_eq!(
            score_bar(Coverage {
                killed: 1,
                total: 1
            }),
            '█'
        );
    }

    #[test]
    fn the_facts_hold_weeks_measurements_and_falls() {
        let facts = history([measured("a", 0, 2, 2), measured("a", 1, 1, 2)]).history_facts();
        assert_eq!(
            facts["classes"][0]["weeks"],
            json!([
                {"week": "2026-W48", "killed": 1, "total": 2, "percent": 50, "measurements": 2}
            ])
        );
        assert_eq!(facts["falls"][0]["was"]["percent"], 100);
        assert_eq!(facts["falls"][0]["is"]["at"], "2026-11-24T00:00:00Z");
    }
}
