//! Some files of a side, compiled against the classes of the others.
//!
//! Owns: which files these are, and when the classes that come out may stand beside the rest.
//!
//! Promises: what stands in the end runs and looks to compilers as what compiling the whole side makes. It has
//! the same bytes but for names in debugging tables: javac calls the parameters of an anonymous class's constructor
//! as the superclass's source does, and class files do not tell. Compiled are the files that changed and, where a
//! compiler sees a difference in their classes, every file from which a chain of mentions leads to one of these, by
//! the words in sources and the names in class files. Nothing is compiled in part where most files would be
//! compiled anyway, or where that would not be all:
//!
//! - a class does not tell its source, or a source stands elsewhere than its package says;
//! - processors or plugins take part in compiling: they may look at all files at once;
//! - a package is gone: files that import all of it no longer compile;
//! - a source spells the name of a nested class's file, which would be found beside the other classes, or the
//!   name of a source that the build leaves out, which javac would find for the whole.
//!
//! A chain that leads through a library that was built on the module's own classes is followed where class files
//! name them, which constants do not. Classes are put in place only when all of them are made; those of before are
//! gone then.
//!
//! Refuses to know: why files changed, how javac is called.

use super::super::chosen::Chosen;
use super::mentions::{Mentions, spelled};
use super::origins::{Origins, beginnings};
use super::side::{Side, files, interfaces, is_class, read};
use crate::gate::class_file;
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
        let by_others = side.call.processed || side.is_helped() || side.takes_part();
        if by_others || !side.argument("-encoding").is_none_or(is_plain) {
            return None;
        }
        let there = side.files_to_compile()?;
        let before = Origins::read(side.classes)?;
        // A class whose source is nowhere may be another file's that stands elsewhere than its package says.
        let gone = |source: &PathBuf| changed.contains(source) && !side.sources.join(source).exists();
        if !before.sources().all(|source| there.contains(source) || gone(source)) {
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

    /// The files to compile; nothing where it is no use to compile them alone, or where that is not the same.
    pub(super) fn to_compile(&self) -> Option<BTreeSet<PathBuf>> {
        let files: BTreeSet<PathBuf> = self.taken.intersection(&self.there).cloned().collect();
        if 2 * files.len() > self.there.len() {
            return None;
        }
        let left_out = self.side.call.chosen.iter().flat_map(Chosen::left_out);
        let left_out = left_out.filter_map(|file| file.file_stem()?.to_str());
        let odd: BTreeSet<String> = self.before.nested().chain(left_out).map(str::to_owned).collect();
        let is_plain = |file: &PathBuf| {
            read(&self.side.sources.join(file)).is_ok_and(|text| spelled(&text, &odd).is_empty())
        };
        files.iter().all(is_plain).then_some(files)
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
        if others || !made.sources().all(|source| self.taken.contains(source)) || self.lacks_package(&made) {
            return None;
        }
        let mut names = seen.clone();
        for source in self.taken.iter().filter(|source| !source.ends_with("package-info.java")) {
            // Its classes may be those that another source seems to have.
            self.before.classes(source).chain(made.classes(source)).next()?;
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

    /// True when a package has no class any more.
    fn lacks_package(&self, made: &Origins) -> bool {
        let kept = self.before.sources().filter(|source| !self.taken.contains(*source));
        let mut now: BTreeSet<&Path> = kept.filter_map(|source| source.parent()).collect();
        now.extend(made.packages());
        !self.before.packages().is_subset(&now)
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
        let of_source = |source: &PathBuf| {
            let text = read(&self.side.sources.join(source)).ok()?;
            let mut all = spelled(&text, &known);
            all.extend(self.named_in_classes(source, made, &known)?);
            Some((source.clone(), all))
        };
        let spelled = self.there.iter().map(of_source).collect::<Option<_>>()?;
        Some(Mentions { declared, spelled })
    }

    /// Those of the names that the class files of a source name, whatever the source spells.
    fn named_in_classes(
        &self,
        source: &Path,
        made: Option<&Origins>,
        known: &BTreeSet<String>,
    ) -> Option<BTreeSet<String>> {
        let (folder, origins) = match made {
            Some(made) if self.taken.contains(source) => (self.new_classes(), made),
            _ => (self.side.classes.to_owned(), &self.before),
        };
        let mut names = BTreeSet::new();
        for class in origins.classes(source) {
            for name in class_file::names(&read(&folder.join(class)).ok()?) {
                let stem = name.rsplit('/').next().unwrap_or_default();
                names.extend(beginnings(stem).filter_map(|name| known.get(name)).cloned());
            }
        }
        Some(names)
    }
}

/// Moves a file to a folder that may have to be made.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::rename(from, to)
}
