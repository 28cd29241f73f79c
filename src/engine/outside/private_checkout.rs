//! The private checkouts of one gate: of the judged commits, and of those before the family's work.
//!
//! Promises: what is not committed cannot count; a checkout that was changed while the gate ran gives no verdict; no
//! message names the private folder.

mod cache_folder;
mod contents;
mod outputs;
#[cfg(test)]
mod tests;

pub use cache_folder::CacheFolder;
pub(super) use contents::{CheckoutSources, SourcePackage};

use super::artifacts;
use crate::engine::{Fault, FaultKind};
use crate::gate::{Build, Checkouts, GateRequest, OutputState};
use crate::git::{Checkout, CheckoutPart, add_to_copy};
use crate::machine::facts::Oid;
use crate::mutation::{GateReport, TracePhase, Verdict};
use crate::source::text::names;
use crate::source::{RepoPath, digest_parts};
use crate::sys::clock::Stopwatch;
use crate::sys::poison::ignore_poison;
use contents::Which;
use outputs::Outputs;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Differences that are named.
const NAMED: usize = 5;

/// The private checkouts of one gate.
pub(super) struct PrivateCheckout<'a> {
    sources: &'a CheckoutSources,
    cache: &'a CacheFolder,
    state: Mutex<CheckoutState>,
}

struct CheckoutState {
    head: CheckoutTree,
    /// Checked out on first use.
    base: Option<CheckoutTree>,
    phases: Vec<TracePhase>,
}

/// One checkout, with what builds left in it.
struct CheckoutTree {
    /// The folder that represents the workspace.
    folder: PathBuf,
    checkout: Checkout,
    /// Paths that were touched before a build ended, and sources of production code.
    ///
    /// Each has the process that touched it.
    touched: BTreeSet<String>,
    /// Paths that tests or mutants wrote after that, without harm to a verdict.
    written: BTreeSet<RepoPath>,
    outputs: Outputs,
}

impl CheckoutTree {
    /// Checks the commits out, and returns the checkout with a phase for the trace.
    fn check_out(
        sources: &CheckoutSources,
        which: Which,
        cache: &CacheFolder,
    ) -> Result<(Self, TracePhase), Fault> {
        let watch = Stopwatch::start();
        let (name, before) = match which {
            Which::Head => ("tree", ""),
            Which::Base => ("base", "before the task: "),
        };
        let (folder, manifest) = (cache.path_of(name), cache.path_of(&format!("{name}.json")));
        let mut checkout = sources.make_checkout(which)?;
        let written = checkout.write_folder(&folder)?;
        let module = match sources.read_poms(&checkout)?.as_slice() {
            [pom] => pom
                .strip_suffix(b"pom.xml")
                .and_then(|at| std::str::from_utf8(at).ok())
                .map(str::to_owned),
            _ => None,
        };
        let marks = checkout.content_marks();
        let changes = written.wrong.len() + written.extra.len();
        let outputs = Outputs::take_outputs(manifest, written.outputs, &marks, module.as_deref())?;
        let note = format!(
            "{before}{} files, {changes} of them written or removed; {}",
            marks.len(),
            outputs.reuse_note()
        );
        let (touched, written) = Default::default();
        Ok((
            Self {
                folder,
                checkout,
                touched,
                written,
                outputs,
            },
            trace_phase("checkout", &watch, &note),
        ))
    }

    /// Returns the folder of a package in the checkout.
    fn package_folder(&self, sources: &CheckoutSources, root: &Path) -> Result<PathBuf, Fault> {
        let inside = sources.path_inside(root)?;
        let root = if inside.is_empty() {
            None
        } else {
            Some(self.folder.join(OsStr::from_bytes(&inside)))
        };
        Ok(root.unwrap_or_else(|| self.folder.clone()))
    }

    /// True for a folder in a part of it.
    fn is_in(&self, folder: &Path, part: &CheckoutPart) -> bool {
        folder
            .strip_prefix(&self.folder)
            .is_ok_and(|inside| part.holds_path(inside.as_os_str().as_bytes()))
    }

    /// Returns the paths of a part that differ from the commits and are no sources.
    ///
    /// Restores a part that was judged. The engine still reads sources of production code.
    fn written_files(&mut self, part: &CheckoutPart, judged: bool) -> Result<Vec<RepoPath>, Fault> {
        let mut touched = self.checkout.touched_files(&self.folder);
        touched.retain(|path| part.holds_path(&path.to_bytes()));
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let differing = self.checkout.inspect_part(&self.folder, part)?;
        let written: Vec<RepoPath> = self
            .checkout
            .read_by_builds(&differing)
            .filter(|path| !is_source(path))
            .collect();
        if judged {
            let sources = touched.iter().filter(|path| is_source(path));
            self.touched
                .extend(sources.map(|path| format!("{path} (by tests or mutants)")));
            self.written.extend(written.iter().cloned());
            self.checkout.put_right(&self.folder, part)?;
        }
        Ok(written)
    }

    /// Looks at it again. Outputs are kept for the next gate if `keep` and no verdict is harmed.
    fn close_tree(mut self, keep: bool) -> Result<BTreeSet<RepoPath>, Fault> {
        let found = self
            .checkout
            .inspect_part(&self.folder, &CheckoutPart::default())?;
        let touched = self
            .checkout
            .touched_files(&self.folder)
            .into_iter()
            .filter(is_source);
        let touched = touched.chain(self.checkout.read_by_builds(&found));
        self.touched.extend(touched.map(|path| path.to_string()));
        if !self.touched.is_empty() {
            let named = names(self.touched.iter().map(String::as_str), NAMED);
            return Err(Fault::setup_fault(
                format!("Files of the gate's checkout were changed while it ran: {named}."),
                "see what writes there: a test can work on copies in a temporary folder; for a build that writes into its own sources, set gates.<NAME>.where: in-place",
            ));
        }
        if keep {
            self.outputs
                .keep_outputs(&found.outputs, self.checkout.content_marks())?;
        }
        Ok(self.written)
    }
}

impl<'a> PrivateCheckout<'a> {
    /// Checks the commits out.
    pub(super) fn enter_checkout(
        cache: &'a CacheFolder,
        sources: &'a CheckoutSources,
    ) -> Result<Self, Fault> {
        let (head, phase) = CheckoutTree::check_out(sources, Which::Head, cache)?;
        Ok(Self {
            sources,
            cache,
            state: Mutex::new(CheckoutState {
                head,
                base: None,
                phases: vec![phase],
            }),
        })
    }

    fn lock_state(&self) -> MutexGuard<'_, CheckoutState> {
        ignore_poison(self.state.lock())
    }

    /// The package that is checked out in a folder, and its commit there.
    fn package_at(&self, folder: &Path) -> Option<(&SourcePackage, &Oid)> {
        let state = self.lock_state();
        let is_head = folder.starts_with(&state.head.folder);
        let tree = if is_head {
            Some(&state.head)
        } else {
            state.base.as_ref()
        }?;
        let package = self.sources.packages.values().find(|package| {
            tree.package_folder(self.sources, &package.root)
                .is_ok_and(|place| place == folder)
        })?;
        Some((
            package,
            if is_head {
                &package.head
            } else {
                package.base.as_ref()?
            },
        ))
    }

    /// The request with each package where it is checked out; a changed file that no commit holds is a
    /// fault.
    pub(super) fn checked_out_request(&self, request: &GateRequest) -> Result<GateRequest, Fault> {
        let mut request = request.clone();
        let CheckoutState { head, .. } = &*self.lock_state();
        for package in &mut request.packages {
            let place = head.package_folder(self.sources, &package.root)?;
            for change in package.changes.iter().filter(|change| change.new.is_some()) {
                let file = place.join(OsStr::from_bytes(&change.path.to_bytes()));
                let inside = file
                    .strip_prefix(&head.folder)
                    .unwrap_or(&file)
                    .as_os_str()
                    .as_bytes();
                if !head.checkout.holds_file(inside) && !head.checkout.holds_folder(inside) {
                    let what = format!(
                        "{} is to be judged, and is not committed.",
                        change.full_path()
                    );
                    return Err(Fault::setup_fault(
                        what,
                        "commit it, then run the gate again",
                    ));
                }
            }
            package.root = place;
            package.dirt = Vec::new();
        }
        Ok(request)
    }

    /// Looks at the checkouts again, and completes the report.
    pub(super) fn leave_checkout(self, report: &mut GateReport) {
        let watch = Stopwatch::start();
        let keep = !self.cache.is_temporary() && !matches!(report.verdict, Verdict::Error { .. });
        let CheckoutState {
            head,
            base,
            mut phases,
        } = ignore_poison(self.state.into_inner());
        for tree in [&head].into_iter().chain(&base) {
            artifacts::replace_path(report, &tree.folder, "");
        }
        for tree in [head].into_iter().chain(base) {
            match tree.close_tree(keep) {
                Ok(written) if written.is_empty() => {}
                Ok(written) => report.remarks.push(format!(
                    "Tests or mutants wrote files of the checkout. The tests passed with them, and they were restored: {}.",
                    names(written.iter().map(RepoPath::as_str), NAMED)
                )),
                Err(_) if matches!(report.verdict, Verdict::Error { .. }) => {}
                Err(fault) => report.verdict = no_verdict(fault),
            }
        }
        phases.append(&mut report.trace.phases);
        phases.push(trace_phase(
            "verify",
            &watch,
            "the checkout was verified again",
        ));
        report.trace.phases = phases;
    }
}

impl CheckoutState {
    /// The checkout that a folder is in.
    fn tree_of(&mut self, folder: &Path) -> Option<&mut CheckoutTree> {
        [&mut self.head]
            .into_iter()
            .chain(&mut self.base)
            .find(|tree| folder.starts_with(&tree.folder))
    }
}

/// The packages where they are, for a gate that judges them there.
pub(super) struct InPlace<'a>(pub(super) &'a CheckoutSources);

impl Checkouts for InPlace<'_> {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn in_repository(&self, root: &Path) -> PathBuf {
        self.0
            .packages
            .values()
            .find(|package| package.root == root)
            .map(in_repository)
            .unwrap_or_default()
    }

    fn add_repository(&self, root: &Path, copy: &Path) -> io::Result<()> {
        let package = self
            .0
            .packages
            .values()
            .find(|package| package.root == root);
        package.map_or(Ok(()), |package| {
            add_to_copy(copy, &package.repository, &package.head).map_err(io::Error::other)
        })
    }
}

fn in_repository(package: &SourcePackage) -> PathBuf {
    package
        .root
        .strip_prefix(&package.repository)
        .map(Path::to_owned)
        .unwrap_or_default()
}

impl Checkouts for PrivateCheckout<'_> {
    fn in_repository(&self, root: &Path) -> PathBuf {
        self.package_at(root)
            .map(|(package, _)| in_repository(package))
            .unwrap_or_default()
    }

    fn add_repository(&self, root: &Path, copy: &Path) -> io::Result<()> {
        let Some((package, commit)) = self.package_at(root) else {
            return Ok(());
        };
        add_to_copy(copy, &package.repository, commit).map_err(io::Error::other)
    }

    fn check_out_base(&self, package: &str) -> Result<Option<PathBuf>, String> {
        let Some(package) = self.sources.packages.get(package) else {
            return Ok(None);
        };
        if package.base.as_ref().is_none_or(Oid::is_zero) {
            return Ok(None);
        }
        let mut state = self.lock_state();
        if state.base.is_none() {
            let (base, phase) = CheckoutTree::check_out(self.sources, Which::Base, self.cache)
                .map_err(|fault| fault.to_string())?;
            state.base = Some(base);
            state.phases.push(phase);
        }
        let tree = state.base.as_ref().unwrap_or(&state.head);
        let place = tree
            .package_folder(self.sources, &package.root)
            .map_err(|fault| fault.to_string())?;
        Ok(Some(place).filter(|place| place.is_dir()))
    }

    fn output_state(&self, key: &str) -> OutputState {
        let CheckoutState { head, base, .. } = &*self.lock_state();
        let checkouts = [head].into_iter().chain(base);
        let mut standings = checkouts.map(|tree| tree.outputs.output_state(key));
        standings
            .find(|standing| *standing != OutputState::Nothing)
            .unwrap_or(OutputState::Nothing)
    }

    fn keeps_java_outputs(&self) -> bool {
        self.lock_state().head.outputs.of_one_module
    }

    fn other_files(&self, root: &Path) -> Option<String> {
        let mut state = self.lock_state();
        let CheckoutTree {
            folder, checkout, ..
        } = state.tree_of(root)?;
        let inside = root.strip_prefix(folder).ok()?;
        let marks = checkout.content_marks();
        let files = marks
            .keys()
            .filter(|path| {
                Path::new(path)
                    .strip_prefix(inside)
                    .is_ok_and(is_read_by_tests)
            })
            .flat_map(|path| [Some(path), marks.get(path)])
            .flatten();
        Some(digest_parts(files))
    }

    fn clear_outputs(&self, root: &Path) -> io::Result<()> {
        self.lock_state()
            .tree_of(root)
            .map_or(Ok(()), |tree| tree.outputs.clear_outputs(root))
    }

    fn written_files(&self, root: &Path, judged: bool) -> io::Result<Vec<RepoPath>> {
        let mut state = self.lock_state();
        let Some(tree) = state.tree_of(root) else {
            return Ok(Vec::new());
        };
        // Packages that are judged side by side build, and run tests, elsewhere in it.
        let part = self
            .sources
            .judged_parts()
            .into_iter()
            .find(|part| tree.is_in(root, part));
        part.map_or(Ok(Vec::new()), |part| tree.written_files(&part, judged))
            .map_err(io::Error::other)
    }

    fn note_build(&self, build: &Build) {
        let mut state = self.lock_state();
        if let Some(tree) = build
            .folders
            .first()
            .and_then(|folder| state.tree_of(folder))
            && build
                .folders
                .iter()
                .all(|folder| folder.starts_with(&tree.folder))
        {
            let mut others = self.sources.judged_parts();
            others.retain(|part| !tree.is_in(&build.folders[0], part));
            let touched = tree.checkout.touched_files(&tree.folder).into_iter();
            let touched =
                touched.filter(|path| !others.iter().any(|part| part.holds_path(&path.to_bytes())));
            tree.touched
                .extend(touched.map(|path| format!("{path} (by a build)")));
            tree.outputs.note_build(build);
        }
    }
}

/// False for Java, which tests read as class files, and for what ralph writes.
fn is_read_by_tests(path: &Path) -> bool {
    let is_java = path
        .extension()
        .is_some_and(|extension| extension == "java");
    !(is_java
        || path.ends_with("tasks.md")
        || path.ends_with("progress.txt")
        || path.starts_with(".ralph"))
}

/// True for a source of production code, and for a folder of them: there is `src/main/<language>` in its path, and neither
/// `src/main/resources` nor `src/test` before that.
fn is_source(path: &RepoPath) -> bool {
    let path = format!("/{}", path.to_text());
    path.split_once("/src/main/")
        .is_some_and(|(before, inside)| {
            !before.contains("/src/test/") && inside.split('/').next() != Some("resources")
        })
}

/// The verdict of a gate that could not do its work.
pub(super) fn no_verdict(fault: Fault) -> Verdict {
    Verdict::Error {
        why: fault.what,
        hint: fault.hint,
        transient: fault.kind == FaultKind::Io,
    }
}

fn trace_phase(name: &str, watch: &Stopwatch, note: &str) -> TracePhase {
    TracePhase {
        module: String::new(),
        name: name.to_owned(),
        millis: watch.millis(),
        note: note.to_owned(),
    }
}
