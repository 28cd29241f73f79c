//! How long a task file of 10 MB with 100,000 tasks takes: `cargo bench --bench parse`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

use ralph::task::{Grammar, Mark, TaskFile, reconcile_files, with_marks};
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// 100,000 tasks in families of five stages, about 100 bytes each.
fn plan(with_fences: bool) -> String {
    const STAGES: [&str; 5] = [".TEST-FIRST", ".", ".REQ-CHECK", ".PITEST", ".PRE-CR"];
    let mut text = String::from("# Plan\n\n");
    for family in 0..20_000 {
        if family % 100 == 0 {
            let _ = writeln!(text, "\n## {}. Group\n", family / 100);
        }
        for stage in STAGES {
            let name = format!("{}.{}{stage}", family / 100, family % 100);
            let _ = writeln!(
                text,
                "- [ ] {name:<20} → implement `Foo{family}` with *care* and [a link](x) so that [R1.{family}]"
            );
        }
        if with_fences && family % 50 == 0 {
            text += "\n```sh\n- [ ] not a task\n```\n\n";
        }
    }
    text
}

/// 100,000 tasks without ids.
fn prose() -> String {
    let line = |n: usize| {
        format!(
            "{}- [x] Describe what the {n}. part does, _why_ it does so, and `how` to see that it is so.....\n",
            "  ".repeat(n % 3)
        )
    };
    (0..100_000).map(line).collect()
}

fn best(mut work: impl FnMut()) -> Duration {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..7).map(|_| time(&mut work)).min().unwrap_or_default()
}

fn measure(name: &str, text: &str) -> Option<()> {
    let grammar = Grammar::default();
    let file = TaskFile::parse(text, &grammar);
    let rows = file.box_rows();
    println!("{name}: {} bytes, {} tasks", text.len(), file.len());
    let show =
        |what: &str, time: Duration| println!("  {what:<12} {:>8.1} ms", time.as_secs_f64() * 1e3);
    show(
        "parse",
        best(|| drop(black_box(TaskFile::parse(black_box(text), &grammar)))),
    );
    show("rows", best(|| drop(black_box(file.box_rows()))));
    show("problems", best(|| drop(black_box(file.find_problems()))));
    show("remarks", best(|| drop(black_box(file.find_remarks()))));
    let key = &rows.last()?.key;
    let to = if rows.last()?.mark.is_done() {
        Mark::OPEN
    } else {
        Mark::DONE
    };
    let Ok(Some(edit)) = file.flip_box(key, to) else {
        return None;
    };
    show(
        "apply",
        best(|| drop(black_box(edit.apply_to(text.as_bytes())))),
    );
    let skeleton = file.text_without_marks();
    show(
        "with_marks",
        best(|| drop(black_box(with_marks(&skeleton, &rows)))),
    );
    let after = format!("{text}- [ ] 99999. new\nedited\n");
    show(
        "reconcile",
        best(|| {
            drop(black_box(reconcile_files(
                text.as_bytes(),
                after.as_bytes(),
                &grammar,
            )));
        }),
    );
    Some(())
}

fn main() {
    for (name, text) in [
        ("stages", plan(false)),
        ("stages, fences", plan(true)),
        ("no ids", prose()),
    ] {
        if measure(name, &text).is_none() {
            println!("{name}: nothing to flip");
        }
    }
}
