//! One side of a module: production code or tests.
//!
//! Owns: its folders, the arguments that Maven compiles it with, and what the files in them are.
//!
//! Promises: source files are told only where ralph knows that Maven compiles just these; links, and folders
//! that are too large, are errors and not nothing.
//!
//! Refuses to know: when it is compiled, what of it changed.

use super::super::compiling::Resource;
use super::super::recipe::Call;
use super::COMPILER_SERVICES;
use crate::gate::{class_file, classes};
use crate::sys::disk::read_beginning;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// Files of one side that are looked at.
const MAX_FILES: usize = 100_000;
/// Bytes of one of them.
const MAX_BYTES: u64 = 64 << 20;

/// Production code or tests.
pub(super) struct Side<'a> {
    pub(super) call: &'a Call,
    pub(super) sources: &'a Path,
    pub(super) classes: &'a Path,
    pub(super) resources: &'a [Resource],
}

impl Side<'_> {
    /// True when its sources stand in that folder and its arguments are about its classes.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        let told = self
            .call
            .arguments
            .get(..2)
            .is_some_and(|told| told[0] == "-d" && Path::new(&told[1]) == self.classes);
        told && self.sources == folder
    }

    /// True when its arguments name classes that take part in compiling: they may be the module's own.
    pub(super) fn is_helped(&self) -> bool {
        let helps = ["-processor", "--processor", "-Xplugin"];
        self.call.arguments.iter().any(|word| helps.iter().any(|start| word.starts_with(start)))
    }

    /// True when its own classes are for taking part in compiling others.
    pub(super) fn takes_part(&self) -> bool {
        COMPILER_SERVICES.iter().any(|service| self.classes.join(service).exists())
    }

    /// The value of an option.
    pub(super) fn argument(&self, option: &str) -> Option<&str> {
        let at = self.call.arguments.iter().position(|word| word == option)?;
        self.call.arguments.get(at + 1).map(String::as_str)
    }

    /// The arguments for some files: classes go to a folder of their own, and sources that are not
    /// named are not looked for. Nothing where sources could be found in another way.
    pub(super) fn arguments_for_part(&self, classes: &Path, no_sources: &Path) -> Option<Vec<String>> {
        let (classes, no_sources) = (classes.to_str()?, no_sources.to_str()?);
        let mut words = self.call.arguments.clone();
        let others = ["--source-path", "--module-source-path"];
        if words.iter().any(|word| others.iter().any(|start| word.starts_with(start))) {
            return None;
        }
        classes.clone_into(words.get_mut(1)?);
        let told: Vec<usize> = (0..words.len()).filter(|at| words[*at] == "-sourcepath").collect();
        for at in &told {
            no_sources.clone_into(words.get_mut(at + 1)?);
        }
        if told.is_empty() {
            words.extend(["-sourcepath", no_sources].map(str::to_owned));
        }
        Some(words)
    }

    /// The Java files that are compiled, by their path below the folder of sources: all, or those that Maven
    /// picks of them; nothing when there are others, or what this cannot tell.
    pub(super) fn files_to_compile(&self) -> Option<BTreeSet<PathBuf>> {
        let roots = self.argument("-sourcepath").unwrap_or_default().split(':').map(Path::new);
        for root in roots.filter(|root| !root.as_os_str().is_empty() && *root != self.sources) {
            if !java_files(root).ok()?.is_empty() {
                return None;
            }
        }
        let there = java_files(self.sources).ok()?;
        let java = match &self.call.chosen {
            Some(chosen) => chosen.of(there)?,
            None => there,
        };
        java.iter().all(|file| is_compiled_by_default(file)).then_some(java)
    }

    /// True for a file that Maven copied from where resources stand.
    pub(super) fn is_resource(&self, inside: &Path) -> bool {
        let from = |resource: &Resource| {
            let below = inside.strip_prefix(resource.target.trim_start_matches('/')).ok();
            below.is_some_and(|below| Path::new(&resource.folder).join(below).is_file())
        };
        !is_java(inside) && !is_class(inside) && self.resources.iter().any(from)
    }
}

/// True for a path of names that Java knows, none of which Maven leaves out by itself (plexus-utils'
/// `AbstractScanner.DEFAULTEXCLUDES`: files of editors and of version control), and no module's.
fn is_compiled_by_default(file: &Path) -> bool {
    const LEFT_OUT: [&str; 5] = ["CVS", "RCS", "SCCS", "BitKeeper", "ChangeSet"];
    let name = |part: &str| {
        let starts = part.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        starts && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    };
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let folders = file.parent().into_iter().flat_map(Path::iter);
    stem.is_some_and(|stem| stem == "package-info" || name(stem))
        && folders
            .map(|part| part.to_str())
            .all(|part| part.is_some_and(|part| name(part) && !LEFT_OUT.contains(&part)))
}

/// What a compiler sees of some classes in a folder, and the source that each names; nothing where the first
/// cannot be told of each.
pub(super) fn interfaces(
    folder: &Path,
    classes: impl IntoIterator<Item = PathBuf>,
) -> Option<BTreeMap<PathBuf, (String, Option<String>)>> {
    let seen = |file: PathBuf| {
        let bytes = read(&folder.join(&file)).ok()?;
        // javac warns of a class that is used outside of the file that it stands in.
        let source = class_file::source_file(&bytes).map(str::to_owned);
        Some((file, (class_file::interface(&bytes)?, source)))
    };
    classes.into_iter().map(seen).collect()
}

/// The Java files below a folder, by their path in it.
pub(in super::super) fn java_files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    Ok(files(folder)?.into_iter().filter(|file| is_java(file)).collect())
}

fn is_java(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "java")
}

pub(super) fn is_class(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "class")
}

pub(super) fn is_package_info(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "package-info.class")
}

/// The files below a folder, by their path in it; one that is not there holds none. Links are errors: what
/// they lead to may change unseen.
pub(super) fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let plain = |inside: &Path, kind: FileType| {
        let why = || io::Error::other(format!("{} is no plain file", folder.join(inside).display()));
        if kind.is_file() { Ok(true) } else { Err(why()) }
    };
    let found = classes::files(folder, &plain)?;
    if found.len() > MAX_FILES {
        return Err(io::Error::other(format!("{} holds too many files", folder.display())));
    }
    Ok(found.into_iter().collect())
}

pub(super) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let whole = read_beginning(file, MAX_BYTES + 1)?.filter(|bytes| bytes.len() as u64 <= MAX_BYTES);
    whole.ok_or_else(|| io::Error::other(format!("{} is too large, or no file", file.display())))
}
