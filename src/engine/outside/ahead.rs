//! A gate ahead of need: on a thread of its own, with processes of low priority.
//!
//! Owns: the thread, the word to it that its turn has come, and its end.
//!
//! Promises: dropped at any moment, nothing of it is left: its processes are killed, its thread is joined,
//! its checkout is gone; what cannot be started is an end without verdict, never a guess.
//!
//! Refuses to know: which gate runs ahead, and whether its verdict is used.

use super::Outside;
use super::judge::Preparation;
use crate::engine::{Awaited, Fault, FaultKind, Judged, JudgedAhead};
use crate::gate::Pace;
use crate::machine::effect::{AheadOrder, GateOrder};
use crate::machine::facts::{Basis, FileChange, Oid};
use crate::mutation::{GateReport, Verdict};
use crate::report::plain::line;
use crate::sys::poison::whole;
use crate::sys::process::raise;
use crate::sys::signals::Interrupts;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// A gate that runs ahead, or has ended and was not asked for yet.
pub(super) struct RunningAhead {
    basis: Basis,
    heads: BTreeMap<String, Oid>,
    changes: Vec<FileChange>,
    turn: Arc<Turn>,
    /// What its processes carry.
    tag: String,
    interrupts: Interrupts,
    /// `None` once it was asked for.
    work: Option<Work>,
}

/// What there is of the report.
enum Work {
    /// A thread works on it.
    Running(JoinHandle<GateReport>),
    /// It is there.
    Done(Box<GateReport>),
}

impl Work {
    fn is_over(&self) -> bool {
        match self {
            Self::Running(thread) => thread.is_finished(),
            Self::Done(_) => true,
        }
    }
}

/// What the loop says to a gate that runs ahead.
#[derive(Debug, Default)]
struct Turn {
    word: Mutex<Word>,
    said: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Word {
    /// Others work: go on at low priority.
    #[default]
    Beside,
    /// The loop waits for it.
    Arrived,
    /// Nobody wants it any more.
    Cancelled,
}

impl Turn {
    fn lock(&self) -> MutexGuard<'_, Word> {
        whole(self.word.lock())
    }

    fn say(&self, word: Word) {
        *self.lock() = word;
        self.said.notify_all();
    }
}

impl Pace for Turn {
    fn is_ahead(&self) -> bool {
        *self.lock() != Word::Arrived
    }

    fn await_turn(&self) -> bool {
        let word = self.said.wait_while(self.lock(), |word| *word == Word::Beside);
        *whole(word) == Word::Arrived
    }
}

impl Drop for RunningAhead {
    fn drop(&mut self) {
        self.interrupts.cancel();
        self.turn.say(Word::Cancelled);
        if let Some(Work::Running(thread)) = self.work.take() {
            // What it came to, a panic included, is nobody's any more.
            let _ = thread.join();
        }
    }
}

impl RunningAhead {
    fn finish(mut self) -> JudgedAhead {
        let report = match self.work.take() {
            Some(Work::Done(report)) => Some(*report),
            Some(Work::Running(thread)) => thread.join().ok(),
            None => None,
        };
        let report = report.unwrap_or_else(|| no_verdict("its thread ended by a fault of ralph's own."));
        let (basis, changes) = (self.basis.clone(), std::mem::take(&mut self.changes));
        JudgedAhead { basis, report, changes }
    }
}

impl Outside {
    pub(super) fn begin_ahead(&mut self, order: &AheadOrder) {
        self.ahead = None;
        let turn: Arc<Turn> = Arc::default();
        let interrupts = self.interrupts.branch();
        let (heads, changes, work) = self.work_ahead(order, &turn, &interrupts).unwrap_or_else(|fault| {
            let report = Box::new(no_verdict(&fault.what));
            (order.basis.heads.clone(), Vec::new(), Work::Done(report))
        });
        let (basis, tag) = (order.basis.clone(), self.gate_tag(&order.order));
        self.ahead = Some(RunningAhead { basis, heads, changes, turn, tag, interrupts, work: Some(work) });
    }

    /// The tag of a gate's processes: beside an agent it is not the agent's, whose leftovers are killed.
    pub(super) fn gate_tag(&self, order: &GateOrder) -> String {
        let tag = self.tag(order.iteration);
        if order.ahead { format!("{tag}-ahead") } else { tag }
    }

    /// Prepares the gate, which reads git, and leaves the rest to a thread.
    fn work_ahead(&mut self, order: &AheadOrder, turn: &Arc<Turn>, interrupts: &Interrupts) -> Begun {
        let prepared = match self.prepare(&order.order)? {
            Preparation::Ready(prepared) => prepared,
            Preparation::Known(judged) => {
                let Judged { report, heads, changes } = *judged;
                return Ok((heads, changes, Work::Done(Box::new(report))));
            }
        };
        let (heads, changes) = (prepared.heads.clone(), prepared.changes.clone());
        let supervisor = self.supervisor.under(interrupts.clone());
        let (turn, progress) = (Arc::clone(turn), Arc::clone(&self.progress));
        let run = move || {
            // While others work, the line that says what runs now is theirs.
            let told = |text: &str| {
                if !turn.is_ahead() {
                    progress(text);
                }
            };
            prepared.run(&supervisor, &told, &*turn)
        };
        let thread = std::thread::Builder::new().name("gate ahead".to_owned()).spawn(run)?;
        Ok((heads, changes, Work::Running(thread)))
    }

    pub(super) fn poll_ahead(&mut self) -> Option<JudgedAhead> {
        let is_over = |ahead: &mut RunningAhead| ahead.work.as_ref().is_none_or(Work::is_over);
        let ahead = self.ahead.take_if(is_over)?;
        // What a signal cut short has no end to be told of.
        self.interrupts.first().is_none().then(|| ahead.finish())
    }

    pub(super) fn join_ahead(&mut self) -> Result<Awaited, Fault> {
        let ahead = self.ahead.take().ok_or_else(|| {
            let what = "There is no gate ahead to wait for.";
            Fault::new(FaultKind::Internal, what, "please report this with the journal")
        })?;
        ahead.turn.say(Word::Arrived);
        // What it starts from now on is as any other; what already runs is no longer behind others either.
        raise(&ahead.tag);
        let heads = ahead.heads.clone();
        let mut judged = ahead.finish();
        if self.interrupts.first().is_some() {
            return Ok(Awaited::CutShort);
        }
        self.unless_moved(&heads, &mut judged.report)?;
        Ok(Awaited::Ended(Box::new(judged)))
    }
}

/// Commits, changes, and what there is of the report on them.
type Begun = Result<(BTreeMap<String, Oid>, Vec<FileChange>, Work), Fault>;

/// The end of a gate that came to nothing ahead of need: it runs again when its turn has come.
fn no_verdict(why: &str) -> GateReport {
    GateReport::from(Verdict::Error {
        why: format!("Nothing came of the gate ahead of need: {}", line(why, 400)),
        hint: "none: the gate runs again when its turn has come".to_owned(),
        transient: true,
    })
}

#[cfg(test)]
mod tests {
    use super::{Pace as _, Turn, Word};
    use std::sync::{Arc, mpsc::channel};
    use std::time::Duration;

    #[test]
    fn a_gate_that_needs_to_be_alone_waits_for_its_turn_or_its_end() {
        for (word, is_its_turn) in [(Word::Arrived, true), (Word::Cancelled, false)] {
            let turn: Arc<Turn> = Arc::default();
            assert!(turn.is_ahead());
            let (tell, told) = channel();
            let waiting = Arc::clone(&turn);
            let thread = std::thread::spawn(move || tell.send(waiting.await_turn()));
            assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "others still work");
            turn.say(word);
            assert_eq!(told.recv(), Ok(is_its_turn));
            assert!(thread.join().is_ok_and(|sent| sent.is_ok()));
            assert_eq!(turn.is_ahead(), !is_its_turn);
            assert_eq!(turn.await_turn(), is_its_turn, "asked again, it says the same");
        }
    }
}
