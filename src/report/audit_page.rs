//! The page of an audit, with the template of `ralph report`.

use super::audit::{Audit, PastBox};
use super::board;
use super::morning::{LegendEntry, OpenEntry, Page, PageBox, PageFact, PageTask};
use super::story::Happened;
use crate::source::text::line;
use crate::task::spoken_id;
use jiff::tz::TimeZone;

/// Characters of the commit's id that are shown.
const SHORT_ID: usize = 10;

/// Makes the page of an audit. Its boxes are the tasks, with the gate's verdict as their history.
pub fn audit_page(audit: &Audit, zone: Option<&TimeZone>) -> Page {
    let numbered = (1_u64..).zip(&audit.boxes);
    let untrue = numbered
        .clone()
        .filter(|(_, it)| it.verdict_words().1 == "bad");
    let facts = [
        ("Gate", audit.gate.clone()),
        ("Time", format!("{} in gates", audit.gate_time())),
        ("HEAD", line(&audit.head, 64)),
    ];
    Page {
        headline: audit.headline_text(),
        class: match (audit.count_verdict("FAIL"), audit.count_verdict("ERROR")) {
            (0, 0) => "good",
            (0, _) => "plain",
            _ => "bad",
        },
        facts: facts
            .map(|(label, words)| PageFact {
                label: label.to_owned(),
                words,
            })
            .into(),
        notes: audit
            .remarks
            .iter()
            .map(|what| format!("Not audited: {what}"))
            .collect(),
        open: untrue
            .map(|(number, it)| OpenEntry {
                what: format!("{} {}", spoken_id(&it.task), it.text),
                anchor: format!("task-{number}"),
                reasons: vec![it.headline.clone()],
            })
            .collect(),
        legend: legend(audit),
        tasks: numbered
            .map(|(number, it)| audited_task(&audit.gate, number, it, zone))
            .collect(),
        past: true,
        ..Page::default()
    }
}

fn legend(audit: &Audit) -> Vec<LegendEntry> {
    let kinds = [
        (
            "PASS",
            "passed",
            "true: the gate passes the commits behind the box",
        ),
        (
            "FAIL",
            "failed",
            "untrue: the gate fails the commits behind the box",
        ),
        (
            "SKIP",
            "open",
            "the commits change nothing that the gate judges",
        ),
        ("ERROR", "open", "unknown: the gate has no verdict"),
    ];
    let present = kinds
        .into_iter()
        .filter(|(word, ..)| audit.count_verdict(word) > 0);
    present
        .map(|(word, standing, words)| LegendEntry {
            sample: word.to_owned(),
            standing,
            words,
        })
        .collect()
}

fn audited_task(gate: &str, number: u64, it: &PastBox, zone: Option<&TimeZone>) -> PageTask {
    let (_, class, standing) = it.verdict_words();
    let (headline, detail) = match it.headline.split_once(" — ") {
        Some((headline, detail)) => (headline, detail),
        None => (it.headline.as_str(), ""),
    };
    let commit = it.commit.get(..SHORT_ID).unwrap_or(&it.commit);
    PageTask {
        name: it.task.clone(),
        text: it.text.clone(),
        anchor: format!("task-{number}"),
        boxes: vec![PageBox {
            stage: gate.to_owned(),
            words: it.verdict.clone().unwrap_or_default(),
            standing,
        }],
        score: it.percent.map_or_else(String::new, |it| format!("{it}%")),
        is_open: class == "bad",
        iterations: vec![Happened {
            iteration: number,
            task: it.task.clone(),
            when: format!("{commit} {}", board::display_time(it.at, zone)),
            said: it.subject.clone(),
            seen: it.changed.clone(),
            headline: headline.to_owned(),
            detail: detail.to_owned(),
            lines: it
                .lines
                .iter()
                .map(|line| line.trim_start_matches("- ").to_owned())
                .collect(),
            class,
            ..Happened::default()
        }],
        ..PageTask::default()
    }
}
