//! The journal as a film.

use super::crash::{TASKS, fresh, places, process};
use super::double::Pace;
use crate::engine::film::Film;

#[test]
fn a_state_is_the_same_from_a_kept_one_as_from_the_first_record() {
    let shared = fresh(TASKS);
    process(&shared, Pace::Slow, None).1.unwrap();
    let journal = shared.borrow().files[&places().journal_file()].clone();
    let whole = Film::of_journal(journal.clone(), u64::MAX).unwrap();
    let film = Film::of_journal(journal, 7).unwrap();
    let records = film.frames.len() as u64;
    assert!(records > 30, "{records}");
    for record in (0..=records).rev() {
        let (state, spent) = film.state_after(record).unwrap();
        let (expected, spent_then) = whole.state_after(record).unwrap();
        assert!(state == expected && spent == spent_then, "{record}");
    }
}
