//! One source set of a module, production code or tests: its folders, the arguments that Maven compiles it with,
//! and which files are compiled. The classes of before are kept in a temporary folder on the same disk while new ones are
//! compiled.

use super::super::project::Resource;
use super::super::recipe::CompilerCall;
use crate::gate::java::classes::{self, read};
use memchr::memmem;
use std::collections::BTreeSet;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// Services by which classes take part in compiling others.
const COMPILER_SERVICES: [&str; 2] = [
    "META-INF/services/javax.annotation.processing.Processor",
    "META-INF/services/com.sun.source.util.Plugin",
];

/// Beginnings of the names of encodings of which each byte below 128 is a character of ASCII.
const ASCII_COMPATIBLE: [&str; 7] = [
    "utf-8",
    "utf8",
    "us-ascii",
    "iso-8859",
    "iso8859",
    "windows-125",
    "cp125",
];

/// Production code or tests.
pub(super) struct SourceSet<'a> {
    pub(super) call: &'a CompilerCall,
    pub(super) sources: &'a Path,
    pub(super) classes: &'a Path,
    pub(super) resources: &'a [Resource],
}

impl SourceSet<'_> {
    /// True if its sources lie in that folder and its arguments name its folder of classes.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        let [option, classes, ..] = &self.call.arguments[..] else {
            return false;
        };
        option == "-d" && Path::new(classes) == self.classes && self.sources == folder
    }

    /// True if its arguments name annotation processors or plugins of the compiler: they may be the module's own.
    pub(super) fn names_processors(&self) -> bool {
        let options = ["-processor", "--processor", "-Xplugin"];
        self.call
            .arguments
            .iter()
            .any(|word| options.iter().any(|start| word.starts_with(start)))
    }

    /// True if its own classes are annotation processors or plugins of the compiler.
    pub(super) fn offers_processors(&self) -> bool {
        offers(self.classes, &COMPILER_SERVICES)
    }

    /// True if each source is compiled on its own: nothing takes part in compiling but the compiler, which finds the
    /// set's own classes, and the names in a source can be read.
    pub(super) fn can_be_compiled_in_part(&self) -> bool {
        let is_off = self.call.arguments.iter().any(|word| word == "-proc:none");
        let services = &COMPILER_SERVICES[usize::from(is_off)..];
        let mut entries = self
            .argument("-classpath")
            .unwrap_or_default()
            .split(':')
            .map(Path::new);
        let own = entries.clone().any(|entry| entry == self.classes);
        let encoding = self.argument("-encoding").unwrap_or("UTF-8").to_lowercase();
        let is_read = ASCII_COMPATIBLE
            .iter()
            .any(|start| encoding.starts_with(start));
        own && is_read && !self.names_processors() && !entries.any(|entry| offers(entry, services))
    }

    /// The value of an option.
    pub(super) fn argument(&self, option: &str) -> Option<&str> {
        let at = self.call.arguments.iter().position(|word| word == option)?;
        self.call.arguments.get(at + 1).map(String::as_str)
    }

    /// The Java files that are compiled, by their path below the folder of sources: all, or those that Maven
    /// picks of them; `None` if there may be others.
    pub(super) fn files_to_compile(&self) -> Option<BTreeSet<PathBuf>> {
        let roots = self
            .argument("-sourcepath")
            .unwrap_or_default()
            .split(':')
            .map(Path::new);
        for root in roots.filter(|root| !root.as_os_str().is_empty() && *root != self.sources) {
            if !java_files(root).ok()?.is_empty() {
                return None;
            }
        }
        let there = java_files(self.sources).ok()?;
        let java = match &self.call.selection {
            Some(selection) => selection.apply(there)?,
            None => there,
        };
        java.iter()
            .all(|file| is_compiled_by_default(file))
            .then_some(java)
    }

    /// True for a file that Maven copied from a folder of resources.
    pub(super) fn is_resource(&self, inside: &Path) -> bool {
        let from = |resource: &Resource| {
            let below = inside
                .strip_prefix(resource.target.trim_start_matches('/'))
                .ok();
            below.is_some_and(|below| Path::new(&resource.folder).join(below).is_file())
        };
        !is_java(inside) && !is_class(inside) && self.resources.iter().any(from)
    }
}

/// True if this entry of a class path may hold one of the services. A jar has the names of its files in plain text.
fn offers(entry: &Path, services: &[&str]) -> bool {
    let holds = |jar: Vec<u8>| {
        services
            .iter()
            .any(|service| memmem::find(&jar, service.as_bytes()).is_some())
    };
    if entry.is_file() {
        return read(entry).map_or(true, holds);
    }
    services.iter().any(|service| entry.join(service).exists())
}

/// True for a path of Java identifiers (or `package-info.java`), none of which Maven leaves out by default
/// (plexus-utils' `AbstractScanner.DEFAULTEXCLUDES`: files of editors and of version control).
fn is_compiled_by_default(file: &Path) -> bool {
    const LEFT_OUT: [&str; 5] = ["CVS", "RCS", "SCCS", "BitKeeper", "ChangeSet"];
    let name = |part: &str| {
        let starts = part.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        starts
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    };
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let folders = file.parent().into_iter().flat_map(Path::iter);
    stem.is_some_and(|stem| stem == "package-info" || name(stem))
        && folders
            .map(|part| part.to_str())
            .all(|part| part.is_some_and(|part| name(part) && !LEFT_OUT.contains(&part)))
}

/// The Java files below a folder, by their path in it.
pub(in super::super) fn java_files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    Ok(files(folder)?
        .into_iter()
        .filter(|file| is_java(file))
        .collect())
}

fn is_java(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "java")
}

pub(super) fn is_class(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "class")
}

pub(super) fn is_package_info(file: &Path) -> bool {
    file.file_name()
        .is_some_and(|name| name == "package-info.class")
}

/// The files below a folder, by their path in it; none if there is no such folder. Links are errors: their
/// targets may change unseen.
pub(super) fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let plain = |inside: &Path, kind: FileType| {
        let why = || {
            io::Error::other(format!(
                "{} is not a regular file",
                folder.join(inside).display()
            ))
        };
        if kind.is_file() { Ok(true) } else { Err(why()) }
    };
    Ok(classes::files(folder, &plain)?.into_iter().collect())
}

/// Classes of before; they are removed at the end unless they were put back.
pub(super) struct PreviousClasses {
    folder: tempfile::TempDir,
}

impl PreviousClasses {
    /// Moves the classes away and leaves an empty folder in their place.
    pub(super) fn move_away(classes: &Path) -> io::Result<Self> {
        let beside = classes
            .parent()
            .ok_or_else(|| io::Error::other("classes have no folder"))?;
        fs_err::create_dir_all(classes)?;
        let previous = Self {
            folder: tempfile::Builder::new()
                .prefix(".previous-")
                .tempdir_in(beside)?,
        };
        fs_err::rename(classes, previous.classes())?;
        fs_err::create_dir(classes)?;
        Ok(previous)
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    pub(super) fn put_back(&self, classes: &Path) -> io::Result<()> {
        fs_err::remove_dir_all(classes)?;
        fs_err::rename(self.classes(), classes)
    }

    /// True if the compiler made every class again, and the other files are not the compiler's.
    pub(super) fn equal_those_in(&self, set: &SourceSet<'_>) -> io::Result<bool> {
        let made = files(set.classes)?;
        for file in &made {
            let before = self.classes().join(file);
            // A processor that writes other files might have read what Maven had put there before.
            if !is_class(file)
                || !before.is_file()
                || read(&before)? != read(&set.classes.join(file))?
            {
                return Ok(false);
            }
        }
        let mut others = files(&self.classes())?
            .into_iter()
            .filter(|file| !made.contains(file));
        Ok(others.all(|file| is_package_info(&file) || set.is_resource(&file)))
    }

    /// Copies what the compiler does not make to the new classes; false if there is a file of unknown origin.
    pub(super) fn carry_over(&self, set: &SourceSet<'_>) -> io::Result<bool> {
        let made = files(set.classes)?;
        if !made.iter().all(|file| is_class(file)) {
            return Ok(false);
        }
        for file in files(&self.classes())?
            .into_iter()
            .filter(|file| !made.contains(file))
        {
            if is_package_info(&file) || set.is_resource(&file) {
                let to = set.classes.join(&file);
                fs_err::create_dir_all(to.parent().unwrap_or(set.classes))?;
                fs_err::copy(self.classes().join(&file), to)?;
            } else if !is_class(&file) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
