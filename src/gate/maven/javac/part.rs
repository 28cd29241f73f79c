//! Some files of a side, compiled against the classes of the others.
//!
//! Owns: which files these are, and when the classes that come out may stand beside the rest.
//!
//! Promises: what stands in the end is what compiling the whole side makes. Compiled are the files that changed
//! and, where a compiler sees a difference in their classes, every file from which a chain of mentions leads to
//! one of these: no other can come out otherwise. Nothing is compiled in part where a class does not tell its
//! source, where other classes take part in compiling (they may look at all files at once), or where most files
//! would be compiled anyway. Classes are put in place only when all of them are made; those of before are
//! gone then.
//!
//! Refuses to know: why files changed, how javac is called.

use super::mentions::{Mentions, spelled};
use super::origins::Origins;
use super::side::{Side, files, interfaces, is_class, read};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Beginnings of the names of encodings whose ASCII letters are bytes of their own.
const ENCODINGS: [&str; 4] = ["utf-8", "us-ascii", "iso-8859-", "windows-125"];

/// The files of a side that are compiled, beside the classes of the others.
pub(super) struct Part<'a> {
    side: &'a Side<'a>,
    /// All source files of the side.
    there: BTreeSet<PathBuf>,
    /// What stood among the classes at first.
    before: Origins,
    /// Those that are compiled, or gone.
    taken: BTreeSet<PathBuf>,
    room: tempfile::TempDir,
}

/// What compiling it came to.
pub(super) enum Outcome {
    /// No other file comes out otherwise; these are all the names by which one elsewhere could see a difference.
    Whole(BTreeSet<String>),
    /// These files see a difference, and are to be compiled with it.
    Lacks(BTreeSet<PathBuf>),
}

impl<'a> Part<'a> {
    /// Begins with the files that `changed`; nothing where the side is to be compiled whole.
    pub(super) fn of(side: &'a Side<'a>, changed: &BTreeSet<PathBuf>) -> Option<Self> {
        let is_plain =
            |name: &str| ENCODINGS.iter().any(|start| name.to_ascii_lowercase().starts_with(start));
        if side.call.processed || side.is_helped() || !side.argument("-encoding").is_none_or(is_plain) {
            return None;
        }
        let there = side.files_to_compile()?;
        let before = Origins::read(side.classes)?;
        // A class whose source is nowhere may be another file's that stands elsewhere than its package says.
        if !before.sources().all(|source| there.contains(source) || changed.contains(source)) {
            return None;
        }
        let beside = side.classes.parent()?;
        let room = tempfile::Builder::new().prefix(".part-").tempdir_in(beside).ok()?;
        let part = Self { side, there, before, taken: BTreeSet::new(), room };
        for folder in [part.old_classes(), part.new_classes(), part.no_sources()] {
            fs_err::create_dir(folder).ok()?;
        }
        Some(part)
    }

    fn old_classes(&self) -> PathBuf {
        self.room.path().join("old")
    }

    /// Where the compiler puts classes.
    pub(super) fn new_classes(&self) -> PathBuf {
        self.room.path().join("new")
    }

    /// An empty folder: no source is found but those that are named.
    pub(super) fn no_sources(&self) -> PathBuf {
        self.room.path().join("none")
    }

    /// The files to compile; nothing where it is no use to compile them alone.
    pub(super) fn to_compile(&self) -> Option<BTreeSet<PathBuf>> {
        let files: BTreeSet<PathBuf> = self.taken.intersection(&self.there).cloned().collect();
        (2 * files.len() <= self.there.len()).then_some(files)
    }

    /// Adds files: their classes are moved out of the others' sight, and nothing is made yet.
    pub(super) fn add(&mut self, files: BTreeSet<PathBuf>) -> io::Result<()> {
        for file in files {
            for class in self.before.classes(&file).filter(|_| !self.taken.contains(&file)) {
                put(&self.side.classes.join(class), &self.old_classes().join(class))?;
            }
            self.taken.insert(file);
        }
        fs_err::remove_dir_all(self.new_classes())?;
        fs_err::create_dir(self.new_classes())
    }

    /// The files that see one of these names.
    pub(super) fn seeing(&self, names: &BTreeSet<String>) -> Option<BTreeSet<PathBuf>> {
        Some(self.mentions(names, None)?.leading_to(names))
    }

    /// What the classes that the compiler made come to; nothing where they are not such as can stand beside the
    /// others. `seen` are names by which the files see a difference elsewhere.
    pub(super) fn outcome(&self, seen: &BTreeSet<String>) -> Option<Outcome> {
        let made = Origins::read(&self.new_classes())?;
        let others = files(&self.new_classes()).ok()?.iter().any(|file| !is_class(file));
        if others || !made.sources().all(|source| self.taken.contains(source)) {
            return None;
        }
        let mut names = seen.clone();
        for source in &self.taken {
            if !self.looks_as_before(source, &made) {
                names.extend(self.before.names(source)?);
                names.extend(made.names(source)?);
            }
        }
        if names.is_empty() {
            return Some(Outcome::Whole(names));
        }
        let mentions = self.mentions(&names, Some(&made))?;
        let seeing = mentions.leading_to(&names);
        if seeing.is_subset(&self.taken) {
            names.extend(mentions.names_of(&seeing));
            return Some(Outcome::Whole(names));
        }
        Some(Outcome::Lacks(seeing))
    }

    /// Puts the classes of before back: the side is compiled whole instead.
    pub(super) fn undo(&self) -> io::Result<()> {
        let old = files(&self.old_classes())?;
        old.iter().try_for_each(|class| put(&self.old_classes().join(class), &self.side.classes.join(class)))
    }

    /// Puts the new classes beside the others.
    pub(super) fn settle(&self) -> io::Result<()> {
        files(&self.new_classes())?
            .iter()
            .try_for_each(|class| put(&self.new_classes().join(class), &self.side.classes.join(class)))
    }

    /// True when a compiler sees the same in the classes of a source as before.
    fn looks_as_before(&self, source: &Path, made: &Origins) -> bool {
        let old = interfaces(&self.old_classes(), self.before.classes(source).cloned());
        old.is_some() && old == interfaces(&self.new_classes(), made.classes(source).cloned())
    }

    /// The mentions of `names`, and of every name that a file declares; nothing where one is not ASCII.
    fn mentions(&self, names: &BTreeSet<String>, made: Option<&Origins>) -> Option<Mentions> {
        let mut declared: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for source in self.there.iter().chain(&self.taken) {
            let mut all = self.before.names(source)?;
            if let Some(made) = made {
                all.extend(made.names(source)?);
            }
            declared.insert(source.clone(), all);
        }
        let known = declared.values().flatten().chain(names).cloned().collect();
        let read = |source: &PathBuf| {
            let text = read(&self.side.sources.join(source)).ok()?;
            Some((source.clone(), spelled(&text, &known)))
        };
        let spelled = self.there.iter().map(read).collect::<Option<_>>()?;
        Some(Mentions { declared, spelled })
    }
}

/// Moves a file to a folder that may have to be made.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::rename(from, to)
}
