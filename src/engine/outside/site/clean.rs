//! A gate in a private checkout of the commits that it judges.
//!
//! Owns: the checkouts of one gate (the commits, and what was there before the family's work), and the
//! proof that nobody changed them meanwhile.
//!
//! Promises: what is not committed cannot count; a checkout that was changed while the gate ran gives no
//! verdict; no message names the private folder.
//!
//! Refuses to know: what the gate does in it.

use super::mirror::{Sources, Which};
use super::room::Room;
use super::{Site, keeping};
use crate::engine::{Fault, FaultKind};
use crate::gate::{Build, GateRequest, Standing, Trees};
use crate::mutation::{GateReport, TracePhase, Verdict};
use crate::sys::clock::Stopwatch;
use crate::sys::poison::ignore_poison as whole;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The checkouts of one gate.
pub(in super::super) struct Clean<'a> {
    sources: &'a Sources,
    site: &'a Site,
    head: Mutex<Room>,
    base: Mutex<Option<Room>>,
    phases: Mutex<Vec<TracePhase>>,
}

impl<'a> Clean<'a> {
    /// Checks the commits out.
    pub(in super::super) fn enter(site: &'a Site, sources: &'a Sources) -> Result<Self, Fault> {
        let watch = Stopwatch::start();
        let head = Room::make(sources, Which::Head, site.at("tree"), site.at("tree.json"))?;
        let phases = vec![phase("checkout", &watch, &head.note)];
        let base = Mutex::new(None);
        Ok(Self { sources, site, head: Mutex::new(head), base, phases: Mutex::new(phases) })
    }

    /// The request with each package where it is checked out; a changed file that no commit holds is a
    /// fault.
    pub(in super::super) fn request(&self, request: &GateRequest) -> Result<GateRequest, Fault> {
        let mut request = request.clone();
        let head = whole(self.head.lock());
        for package in &mut request.packages {
            for change in package.changes.iter().filter(|change| change.new.is_some()) {
                if !head.holds(self.sources, &package.root, &change.path)? {
                    let what = format!("{} is to be judged, and is not committed.", change.full_path());
                    return Err(Fault::new(FaultKind::Setup, what, "commit it, then run the gate again"));
                }
            }
            package.root = head.place(self.sources, &package.root)?;
            package.dirt = Vec::new();
        }
        Ok(request)
    }

    /// Looks at the checkouts again, and completes the report.
    pub(in super::super) fn leave(self, report: &mut GateReport) {
        let watch = Stopwatch::start();
        let keep = !self.site.is_temporary() && !matches!(report.verdict, Verdict::Error { .. });
        let rooms: Vec<Room> = [Some(whole(self.head.into_inner())), whole(self.base.into_inner())]
            .into_iter()
            .flatten()
            .collect();
        for room in &rooms {
            keeping::relate(report, &room.folder, "");
        }
        for room in &rooms {
            match room.close(keep) {
                Ok(None) => {}
                Ok(Some(names)) => {
                    report.verdict = Verdict::Error {
                        why: format!("Files of the gate's checkout were changed while it ran: {names}."),
                        hint: "see what writes there; for a build that writes into its own sources, set gates.<NAME>.where: in-place".to_owned(),
                        transient: true,
                    };
                }
                Err(fault) => report.verdict = no_verdict(fault),
            }
        }
        let mut phases = whole(self.phases.into_inner());
        phases.append(&mut report.trace.phases);
        phases.push(phase("verify", &watch, "the checkout was looked at again"));
        report.trace.phases = phases;
    }
}

impl Trees for Clean<'_> {
    fn base(&self, package: &str) -> Result<Option<PathBuf>, String> {
        let Some(unit) = self.sources.units.get(package) else { return Ok(None) };
        if unit.base.as_ref().is_none_or(crate::machine::facts::Oid::is_zero) {
            return Ok(None);
        }
        let mut base = whole(self.base.lock());
        let room = match &mut *base {
            Some(room) => room,
            none => {
                let watch = Stopwatch::start();
                let room =
                    Room::make(self.sources, Which::Base, self.site.at("base"), self.site.at("base.json"));
                let room = room.map_err(|fault| fault.to_string())?;
                whole(self.phases.lock()).push(phase(
                    "checkout",
                    &watch,
                    &format!("before the task: {}", room.note),
                ));
                none.insert(room)
            }
        };
        let place = room.place(self.sources, &unit.root).map_err(|fault| fault.to_string())?;
        Ok(Some(place).filter(|place| place.is_dir()))
    }

    fn standing(&self, key: &str) -> Standing {
        match whole(self.head.lock()).standing(key) {
            Standing::Nothing => {
                whole(self.base.lock()).as_ref().map_or(Standing::Nothing, |room| room.standing(key))
            }
            standing => standing,
        }
    }

    fn clear(&self, root: &Path, key: Option<&str>) -> io::Result<()> {
        whole(self.head.lock()).clear(root, key)?;
        whole(self.base.lock()).as_mut().map_or(Ok(()), |room| room.clear(root, key))
    }

    fn built(&self, build: &Build) {
        whole(self.head.lock()).built(build);
        if let Some(room) = &mut *whole(self.base.lock()) {
            room.built(build);
        }
    }
}

/// The verdict of a gate that could not do its work.
pub(in super::super) fn no_verdict(fault: Fault) -> Verdict {
    Verdict::Error { why: fault.what, hint: fault.hint, transient: fault.kind == FaultKind::Io }
}

fn phase(name: &str, watch: &Stopwatch, note: &str) -> TracePhase {
    TracePhase { module: String::new(), name: name.to_owned(), millis: watch.millis(), note: note.to_owned() }
}
