//! The page of an audit: the same that `ralph report` makes of a run.

use super::audit::{Audit, PastBox};
use super::morning::{Page, Score, Shown, Task, scores};
use super::story::Happened;

fn task(gate: &str, iteration: u64, it: &PastBox) -> Task {
    let (_, class, standing) = it.words();
    let words = it.verdict.clone().unwrap_or_default();
    Task {
        name: it.task.clone(),
        text: it.text.clone(),
        boxes: vec![Shown {
            stage: gate.to_owned(),
            words,
            standing,
        }],
        time: it
            .percent
            .map(|percent| format!("{percent}%"))
            .unwrap_or_default(),
        iterations: vec![Happened {
            iteration,
            task: it.task.clone(),
            when: format!(
                "{} {}",
                it.commit.get(..10).unwrap_or(&it.commit),
                it.when()
            ),
            said: it.subject.clone(),
            seen: it.changed.clone(),
            headline: it.headline.clone(),
            lines: it.lines.clone(),
            class,
            ..Happened::default()
        }],
        ..Task::default()
    }
}

impl From<&Audit> for Page {
    /// The boxes are its tasks, and what the gate said of each is what happened.
    fn from(audit: &Audit) -> Self {
        let numbered = || (1_u64..).zip(&audit.boxes);
        let score = |(at, it): (u64, &PastBox)| -> Option<Score> {
            Some((
                it.percent?,
                format!("{at} {}: {}", it.task, it.headline),
                it.words().1,
            ))
        };
        let mut totals = vec![format!(
            "The gates took {}; HEAD is {}.",
            audit.took(),
            audit.head
        )];
        totals.extend(
            audit
                .remarks
                .iter()
                .map(|what| format!("Not audited: {what}")),
        );
        let untrue = audit.boxes.iter().filter(|it| it.words().1 == "bad");
        Self {
            headline: audit.headline(),
            totals,
            open: untrue
                .map(|it| format!("{} {}: {}", it.task, it.text, it.headline))
                .collect(),
            tasks: numbered()
                .map(|(at, it)| task(&audit.gate, at, it))
                .collect(),
            past: true,
            scores: scores(numbered().filter_map(score).collect()),
            ..Self::default()
        }
    }
}
