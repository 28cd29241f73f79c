//! Joins the reports of several engines, or of several parts, over the same changes.
//!
//! ERROR takes precedence over FAIL, FAIL over PASS, PASS over SKIP. No content of a report is lost.

use super::{ExcludedFile, GateReport, Verdict, rank};
use std::collections::BTreeSet;

impl GateReport {
    /// Joins the reports of all parts of the same changes; `None` without a part.
    ///
    /// A text that several parts have is kept once. A file that one part judged was not left out.
    pub fn join_parts(parts: Vec<Self>) -> Option<Self> {
        let left_out: Vec<BTreeSet<ExcludedFile>> = parts
            .iter()
            .map(|part| part.left_out.iter().cloned().collect())
            .collect();
        let mut whole = parts.into_iter().reduce(|mut whole, part| {
            whole.join(part);
            whole
        })?;
        let left_out = left_out.into_iter().reduce(|all, more| &all & &more);
        whole.left_out = left_out.unwrap_or_default().into_iter().collect();
        keep_first(&mut whole.remarks);
        if let Verdict::Fail { reasons } = &mut whole.verdict {
            keep_first(reasons);
        }
        Some(whole)
    }

    /// Adds the report of another engine.
    pub fn join(&mut self, other: Self) {
        self.verdict = std::mem::take(&mut self.verdict).joined(other.verdict);
        self.classes.extend(other.classes);
        self.coverage.killed += other.coverage.killed;
        self.coverage.total += other.coverage.total;
        self.survivors = rank(
            std::mem::take(&mut self.survivors)
                .into_iter()
                .chain(other.survivors),
        );
        self.survivors_total += other.survivors_total;
        self.left_out.extend(other.left_out);
        self.remarks.extend(other.remarks);
        self.reports.extend(other.reports);
        self.failing.extend(other.failing);
        self.millis += other.millis;
        self.trace.phases.extend(other.trace.phases);
        self.trace.tiers.extend(other.trace.tiers);
    }
}

/// Keeps the first of equal texts.
fn keep_first(texts: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
}

impl Verdict {
    fn joined(self, other: Self) -> Self {
        use Verdict::{Error, Fail, Pass, Skip};
        match (self, other) {
            (one, other) if one == other => one,
            (
                Error {
                    why,
                    hint,
                    transient,
                },
                Error {
                    why: more,
                    hint: other,
                    transient: also,
                },
            ) => Error {
                why: format!("{why} {more}"),
                hint: if transient { other } else { hint },
                transient: transient && also,
            },
            (error @ Error { .. }, _) | (_, error @ Error { .. }) => error,
            (Fail { mut reasons }, Fail { reasons: more }) => {
                reasons.extend(more);
                Fail { reasons }
            }
            (fail @ Fail { .. }, _) | (_, fail @ Fail { .. }) => fail,
            (Pass, _) | (_, Pass) => Pass,
            (Skip { why }, Skip { why: more }) => Skip {
                why: format!("{why} {more}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Coverage;

    #[test]
    fn parts_leave_out_what_none_judged_and_tell_equal_texts_once() {
        let part = |others: &[&str], more: &str| {
            let left = |file: &&str| ExcludedFile {
                file: (*file).to_owned(),
                why: "why".to_owned(),
            };
            GateReport {
                left_out: others.iter().map(left).collect(),
                remarks: vec!["same".to_owned(), more.to_owned()],
                ..GateReport::from(Verdict::Fail {
                    reasons: vec![more.to_owned(), "advice".to_owned()],
                })
            }
        };
        let parts = vec![part(&["a", "x"], "1"), part(&["b", "x"], "2")];
        let whole = GateReport::join_parts(parts).unwrap();
        let files: Vec<_> = whole.left_out.iter().map(|left| &left.file).collect();
        assert_eq!(files, ["x"]);
        assert_eq!(whole.remarks, ["same", "1", "2"]);
        let reasons = ["1", "advice", "2"].map(str::to_owned).to_vec();
        assert_eq!(whole.verdict, Verdict::Fail { reasons });
        assert_eq!(GateReport::join_parts(Vec::new()), None);
        let skip = GateReport::from(Verdict::Skip { why: "A.".into() });
        let both = GateReport::join_parts(vec![skip.clone(), skip.clone()]);
        assert_eq!(both.unwrap().verdict, skip.verdict);
    }

    #[test]
    fn the_worse_verdict_stands_and_both_are_told() {
        let skip = |why: &str| Verdict::Skip {
            why: why.to_owned(),
        };
        let fail = |why: &str| Verdict::Fail {
            reasons: vec![why.to_owned()],
        };
        let error = |why: &str, transient| {
            let (why, hint) = (why.to_owned(), format!("Fix {why}"));
            Verdict::Error {
                why,
                hint,
                transient,
            }
        };
        let joined = |one: &Verdict, other: &Verdict| {
            let mut report = GateReport::from(one.clone());
            report.coverage = Coverage {
                killed: 1,
                total: 2,
            };
            let coverage = Coverage {
                killed: 3,
                total: 4,
            };
            report.join(GateReport {
                coverage,
                ..GateReport::from(other.clone())
            });
            assert_eq!(
                report.coverage,
                Coverage {
                    killed: 4,
                    total: 6
                }
            );
            report.verdict
        };
        let rising = [skip("a"), Verdict::Pass, fail("b"), error("c", true)];
        for (at, one) in rising.iter().enumerate() {
            for other in rising.iter().skip(at + 1) {
                assert_eq!(joined(one, other), *other);
                assert_eq!(joined(other, one), *other);
            }
        }
        assert_eq!(joined(&skip("A."), &skip("B.")), skip("A. B."));
        assert_eq!(joined(&Verdict::Pass, &Verdict::Pass), Verdict::Pass);
        let Verdict::Fail { reasons } = joined(&fail("a"), &fail("b")) else {
            panic!("no FAIL")
        };
        assert_eq!(reasons, ["a", "b"]);
        let both = joined(&error("a", true), &error("b", false));
        assert_eq!(
            both,
            Verdict::Error {
                why: "a b".into(),
                hint: "Fix b".into(),
                transient: false
            }
        );
    }
}
