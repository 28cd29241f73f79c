//! A disk that stops at the n-th write, and a world whose git and agent live in memory.

use crate::engine::{Fault, Readings, World};
use crate::machine::effect::{AgentOrder, Effect, GateOrder};
use crate::machine::event::{AgentEnd, Event, StopRequest, Trespass};
use crate::machine::facts::*;
use crate::machine::state::State;
use crate::mutation::{ClassScore, Coverage, GateReport, Tally, Verdict};
use crate::source::{Kind, RepoPath};
use crate::sys::{Disk, ProcessId, Swap, end_of};
use crate::task::Stage;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// State that outlives a crash.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) files: BTreeMap<PathBuf, Vec<u8>>,
    /// True if tasks.md had a line for its gate at first.
    pub(super) has_gate_line: bool,
    /// Length of each file that is surely on the disk.
    pub(super) synced: BTreeMap<PathBuf, usize>,
    /// Former contents of folders that were not synced.
    old: BTreeMap<PathBuf, Vec<u8>>,
    /// Contents of a replaced file since its last sync, the oldest first.
    unsynced: BTreeMap<PathBuf, Vec<Vec<u8>>>,
    /// The time of the last change of tasks.md, if a person changed it.
    pub(super) changed_at: Option<i64>,
    /// The number of power failures: another boot of the machine after each.
    pub(super) boots: u32,
    /// Contents of the package: path → content.
    pub(super) tree: BTreeMap<&'static str, u32>,
    pub(super) head: u32,
    /// Checkouts of earlier commits, by number.
    commits: BTreeMap<u32, BTreeMap<&'static str, u32>>,
    /// The iterations that an agent was started in, in order.
    pub(super) started: Vec<u64>,
    pub(super) running: Option<AgentOrder>,
}

/// When the disk dies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Death {
    /// At which write, from 0.
    pub(super) at: usize,
    /// The number of bytes of it (of an append) that reach the disk.
    ///
    /// Any other write reaches the disk if the number is above 0.
    pub(super) bytes: usize,
    /// The power fails, and data that was not synced has this fate; `None` for a killed process.
    pub(super) power: Option<Fate>,
    /// The switch that reported success until then, and did nothing.
    pub(super) lies: Option<Lie>,
}

/// The remains of unsynced data after a power failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fate {
    pub(super) replaced: Replaced,
    /// Appended bytes that stay, but no more than there are.
    pub(super) appended: usize,
}

/// The remains of a file that was replaced without a sync.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Replaced {
    /// The newest content.
    Newest,
    /// The content before the last so many replacements, but none from before the last sync.
    Before(usize),
    /// So many first bytes.
    Torn(usize),
    /// Zeros from this byte on.
    Zeros(usize),
    /// No file.
    Gone,
}

impl Fate {
    /// All that was not synced is lost.
    pub(super) const LOST: Self = Self {
        replaced: Replaced::Before(usize::MAX),
        appended: 0,
    };
}

/// A switch of durability that is turned off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lie {
    /// Data that is appended to this file is not synced.
    Sync(&'static str),
    /// The new content of a file that is replaced is not synced before the rename.
    Content,
    /// The folder is not synced after the rename.
    Folder,
}

/// A disk in memory that can die.
pub(super) struct CrashDisk {
    pub(super) shared: Rc<RefCell<Shared>>,
    pub(super) death: Option<Death>,
    /// The length of each write so far; 1 for those that happen as a whole.
    pub(super) writes: Vec<usize>,
    dead: bool,
    /// No write succeeds from this one on: the disk is full.
    pub(super) full_from: Option<usize>,
}

impl CrashDisk {
    pub(super) fn new(shared: &Rc<RefCell<Shared>>, death: Option<Death>) -> Self {
        Self {
            shared: Rc::clone(shared),
            death,
            writes: Vec::new(),
            dead: false,
            full_from: None,
        }
    }

    /// Counts a write; how much of it happens, or the end.
    fn write_of(&mut self, len: usize) -> io::Result<Option<usize>> {
        if self.dead {
            return Err(io::Error::other("dead"));
        }
        let number = self.writes.len();
        if self.full_from.is_some_and(|from| number >= from) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.writes.push(len);
        match self.death {
            Some(death) if death.at == number => {
                self.dead = true;
                Ok(Some(death.bytes.min(len)))
            }
            _ => Ok(None),
        }
    }

    fn die(&mut self) -> io::Result<()> {
        if let Some(fate) = self.death.and_then(|death| death.power) {
            let mut shared = self.shared.borrow_mut();
            shared.boots += 1;
            let old = std::mem::take(&mut shared.old);
            shared.files.extend(old);
            let unsynced = std::mem::take(&mut shared.unsynced);
            let synced = shared.synced.clone();
            for (path, bytes) in &mut shared.files {
                let surely = synced.get(path).copied().unwrap_or(0);
                bytes.truncate(surely.saturating_add(fate.appended).min(bytes.len()));
            }
            for (path, earlier) in unsynced {
                let newest = shared.files.remove(&path).unwrap_or_default();
                if let Some(left) = fate.replaced.of(&earlier, newest) {
                    shared.synced.insert(path.clone(), left.len());
                    shared.files.insert(path, left);
                }
            }
        }
        Err(io::Error::other("the machine stopped"))
    }

    fn put(&mut self, path: &Path, bytes: &[u8]) {
        let mut shared = self.shared.borrow_mut();
        let before = shared
            .files
            .insert(path.to_owned(), bytes.to_vec())
            .unwrap_or_default();
        shared.unsynced.remove(path);
        let lies = self.death.and_then(|death| death.lies);
        if lies == Some(Lie::Folder) {
            shared.old.entry(path.to_owned()).or_insert(before);
        } else {
            let surely = if lies == Some(Lie::Content) {
                0
            } else {
                bytes.len()
            };
            shared.synced.insert(path.to_owned(), surely);
        }
    }
}

impl Replaced {
    /// The content after the power failure.
    fn of(self, earlier: &[Vec<u8>], mut newest: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Newest => {}
            Self::Before(steps) => {
                return Some(earlier[earlier.len().saturating_sub(steps)].clone());
            }
            Self::Torn(bytes) => newest.truncate(bytes),
            Self::Zeros(from) => newest.iter_mut().skip(from).for_each(|byte| *byte = 0),
            Self::Gone => return None,
        }
        Some(newest)
    }
}

impl Disk for CrashDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if self.dead {
            return Err(io::Error::other("dead"));
        }
        Ok(self.shared.borrow().files.get(path).cloned())
    }
    fn is_odd(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
    fn tail(&self, path: &Path, cap: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        Ok(self.read(path)?.map(|bytes| end_of(bytes, cap)))
    }
    fn create_shared(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        Ok(self.read(path)?.map(|bytes| bytes.len() as u64))
    }
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let cut = self.write_of(bytes.len())?;
        let part = cut.map_or(bytes, |cut| &bytes[..cut]);
        self.shared
            .borrow_mut()
            .files
            .entry(path.to_owned())
            .or_default()
            .extend_from_slice(part);
        if cut.is_some() { self.die() } else { Ok(()) }
    }
    fn sync(&mut self, path: &Path) -> io::Result<()> {
        let cut = self.write_of(1)?;
        let lies = self.death.and_then(|death| death.lies);
        if cut != Some(0) && !matches!(lies, Some(Lie::Sync(name)) if path.ends_with(name)) {
            let mut shared = self.shared.borrow_mut();
            let len = shared.files.get(path).map_or(0, Vec::len);
            shared.synced.insert(path.to_owned(), len);
        }
        if cut.is_some() { self.die() } else { Ok(()) }
    }
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()> {
        let cut = self.write_of(1)?;
        if cut != Some(0) {
            let bytes = self
                .shared
                .borrow()
                .files
                .get(path)
                .cloned()
                .unwrap_or_default();
            self.put(path, &bytes[..usize::try_from(len).unwrap()]);
        }
        if cut.is_some() { self.die() } else { Ok(()) }
    }
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let cut = self.write_of(1)?;
        if cut != Some(0) {
            self.put(path, bytes);
        }
        if cut.is_some() { self.die() } else { Ok(()) }
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes)
    }
    fn swap(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap> {
        let now = self.read(path)?.unwrap_or_default();
        if now != expected && now != new {
            return Ok(Swap::Changed);
        }
        self.replace(path, new)?;
        Ok(Swap::Done)
    }
    fn swap_unsynced(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap> {
        let now = self.read(path)?.unwrap_or_default();
        if now != expected && now != new {
            return Ok(Swap::Changed);
        }
        let cut = self.write_of(1)?;
        if cut != Some(0) {
            let mut shared = self.shared.borrow_mut();
            let before = shared.files.insert(path.to_owned(), new.to_vec());
            let earlier = shared.unsynced.entry(path.to_owned()).or_default();
            earlier.push(before.unwrap_or_default());
            shared.synced.insert(path.to_owned(), new.len());
        }
        if cut.is_some() {
            self.die()?;
        }
        Ok(Swap::Done)
    }
    fn changed_at(&self, _: &Path) -> io::Result<Option<i64>> {
        Ok(self.shared.borrow().changed_at)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let Some(bytes) = self.read(from)? else {
            return Ok(());
        };
        self.replace(to, &bytes)?;
        self.shared.borrow_mut().files.remove(from);
        Ok(())
    }
}

/// Timing of the simulated agent's work relative to ralph's death.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// It has done nothing when ralph dies while it runs.
    Slow,
    /// It has done everything.
    Fast,
}

/// A world with one package and an agent that plays all roles, weakly at first.
pub(super) struct Double {
    pub(super) shared: Rc<RefCell<Shared>>,
    pub(super) pace: Pace,
    pub(super) tasks: PathBuf,
    pub(super) progress: PathBuf,
}

impl Double {
    /// The end of a gate whose target is strong enough, or is not.
    pub(super) fn judge(&self, order: &GateOrder, strong: bool) -> Event {
        let verdict = if strong {
            Verdict::Pass
        } else {
            Verdict::Fail {
                reasons: vec!["A has 50%, the threshold is 70%.".into()],
            }
        };
        let class = ClassScore {
            package: "p".into(),
            path: RepoPath::from_bytes(b"src/main/A"),
            class: "A".into(),
            tally: Tally::default(),
            floor: None,
        };
        let report = GateReport {
            classes: vec![class],
            coverage: Coverage {
                killed: 9,
                total: 10,
            },
            failing: vec!["p/src/main/A".into()],
            ..GateReport::from(verdict)
        };
        let changes = self.summed(&order.accumulated, &[], 0);
        let (report, heads) = (Box::new(report), self.snapshot_now().heads());
        Event::GateEnded {
            report,
            heads,
            changes,
            left: String::new(),
            tasks_changed: false,
            trespass: Trespass::default(),
        }
    }

    /// Ticks every box, as a hostile process would.
    pub(super) fn tick_all(&self) {
        let mut shared = self.shared.borrow_mut();
        let text = String::from_utf8(shared.files[&self.tasks].clone())
            .unwrap()
            .replace("[ ]", "[x]");
        shared.files.insert(self.tasks.clone(), text.into_bytes());
    }

    fn work(&mut self, order: &AgentOrder) {
        let mut shared = self.shared.borrow_mut();
        let rework = !order.reasons.is_empty();
        match order.key.stage {
            Stage::TestFirst => shared.commit("src/test/A", 1),
            Stage::Implementation if rework => shared.commit("src/test/A", 2),
            Stage::Implementation => shared.commit("src/main/A", 1),
            Stage::Final => {
                let report = b"| R | Status |\n|---|---|\n| 1 | PASS |\n".to_vec();
                shared
                    .files
                    .insert(self.tasks.with_file_name("validation-report.md"), report);
            }
            _ => {}
        }
        drop(shared);
        // A hostile agent: ticks everything, writes into progress.txt.
        self.tick_all();
        let mut shared = self.shared.borrow_mut();
        let progress = shared.files.entry(self.progress.clone()).or_default();
        progress.extend_from_slice(b"the agent's own note\n");
        let len = progress.len();
        shared.synced.insert(self.progress.clone(), len);
    }

    fn snapshot_now(&self) -> Snapshot {
        let head = Oid(format!("{:0>40}", self.shared.borrow().head));
        Snapshot {
            packages: vec![PackageState {
                name: "p".into(),
                head,
                branch: None,
                dirt: vec![],
                untracked: vec![],
            }],
        }
    }

    fn changes_between(&self, base: u32, paths: Option<&BTreeSet<RepoPath>>) -> Vec<FileChange> {
        let shared = self.shared.borrow();
        let before = shared.commits.get(&base).cloned().unwrap_or_default();
        shared
            .tree
            .iter()
            .filter(|(path, content)| before.get(*path) != Some(content))
            .map(|(path, content)| (RepoPath::from_bytes(path.as_bytes()), *content, *path))
            .filter(|(path, _, _)| paths.is_none_or(|paths| paths.contains(path)))
            .map(|(path, content, text)| FileChange {
                package: "p".into(),
                path,
                status: FileStatus::Modified,
                kind: if text.contains("test") {
                    Kind::Test
                } else {
                    Kind::Production
                },
                old: None,
                new: Some(Oid(format!("{content:0>40}"))),
            })
            .collect()
    }

    fn summed(&self, sum: &Accumulated, attempt: &[FileChange], before: u32) -> Vec<FileChange> {
        let base = sum.bases.get("p").map_or(before, number);
        let mut paths = sum.touched.get("p").cloned().unwrap_or_default();
        paths.extend(attempt.iter().map(|change| change.path.clone()));
        self.changes_between(base, Some(&paths))
    }
}

fn number(oid: &Oid) -> u32 {
    oid.0.trim_start_matches('0').parse().unwrap_or(0)
}

impl Shared {
    pub(super) fn commit(&mut self, path: &'static str, content: u32) {
        if self.tree.get(path) == Some(&content) {
            return;
        }
        self.tree.insert(path, content);
        self.head += 1;
        self.commits.insert(self.head, self.tree.clone());
    }
}

impl World for Double {
    fn current_time(&mut self) -> String {
        "2026-11-22T00:00:00Z".into()
    }
    fn boot_id(&self) -> String {
        format!("boot {}", self.shared.borrow().boots)
    }
    fn stop_request(&mut self) -> Option<StopRequest> {
        None
    }
    fn take_snapshot(&mut self) -> Result<Snapshot, Fault> {
        Ok(self.snapshot_now())
    }
    fn start_agent(&mut self, order: &AgentOrder, _: &Readings) -> Result<ProcessId, Fault> {
        self.shared.borrow_mut().started.push(order.iteration);
        if self.pace == Pace::Fast {
            self.work(order);
        }
        self.shared.borrow_mut().running = Some(order.clone());
        Ok(ProcessId { pid: 7, started: 7 })
    }
    fn observe_attempt(&mut self, request: &ObserveRequest) -> Result<Observation, Fault> {
        let before = request
            .before
            .packages
            .first()
            .map_or(0, |package| number(&package.head));
        let changes = self.changes_between(before, None);
        Ok(Observation {
            after: self.snapshot_now(),
            family: self.summed(&request.family, &changes, before),
            stage: self.summed(&request.stage, &changes, before),
            packages: vec![PackageChange {
                name: "p".into(),
                changes,
                ..PackageChange::default()
            }],
            ..Observation::default()
        })
    }
    fn abandon_agent(&mut self) {
        self.shared.borrow_mut().running = None;
    }
    fn perform_effect(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(Some(match effect {
            Effect::KeepLeftovers { .. } => Event::LeftoversKept {
                kept: vec![],
                snapshot: self.snapshot_now(),
            },
            Effect::AwaitAgent => {
                let order = self
                    .shared
                    .borrow_mut()
                    .running
                    .take()
                    .expect("an agent was started");
                if self.pace == Pace::Slow {
                    self.work(&order);
                }
                let claim = order.key.stage.is_review().then_some(Claim::Pass);
                Event::AgentEnded(AgentEnd {
                    claim,
                    millis: 1,
                    ..ProcessEnd::Exited { code: 0 }.into()
                })
            }
            Effect::ReapAgent { .. } => {
                let leftover_processes =
                    u32::from(self.shared.borrow_mut().running.take().is_some());
                Event::AgentEnded(AgentEnd {
                    leftover_processes,
                    ..ProcessEnd::Interrupted.into()
                })
            }
            Effect::CommitLeft { .. } => Event::LeftCommitted {
                commits: BTreeMap::new(),
            },
            Effect::PutBack { .. } => Event::WorkPutBack {
                kept: vec![],
                snapshot: self.snapshot_now(),
            },
            Effect::RunCheck { check, .. } => Event::Checked {
                check,
                results: vec![],
                tasks_changed: false,
                trespass: Trespass::default(),
            },
            Effect::RunGate(order) => {
                if self.pace == Pace::Fast {
                    // A hostile test that the gate runs.
                    self.tick_all();
                }
                let strong = self.shared.borrow().tree.get("src/test/A") == Some(&2);
                self.judge(&order, strong)
            }
            Effect::Wait { .. } => Event::Waited,
            _ => return Ok(None),
        }))
    }
    fn wait_seconds(&mut self, _: u64, _: bool) {}
    fn redact_text(&self, text: &str) -> String {
        text.to_owned()
    }

    fn tell_event(&mut self, _: &Event, _: &State) {}
}
