//! One source set of a module, production code or tests: its folders, the arguments that Maven compiles it with, and the files
//! that are compiled.

use crate::gate::java::classes::{counted_files, is_class, is_java, read_file};
use crate::gate::java::scope::is_identifier;
use memchr::memmem;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Options that name annotation processors or plugins of the compiler.
const HELPERS: [&str; 3] = ["-processor", "--processor", "-Xplugin"];
/// Services by which classes take part in compiling others.
const COMPILER_SERVICES: [&str; 2] = [
    "META-INF/services/javax.annotation.processing.Processor",
    "META-INF/services/com.sun.source.util.Plugin",
];

/// Production code or tests.
pub(super) struct SourceSet<'a> {
    pub(super) arguments: &'a [String],
    pub(super) sources: &'a Path,
    pub(super) classes: &'a Path,
    /// Folders of resources, each with its place below that of classes.
    pub(super) resources: &'a [(String, String)],
}

impl SourceSet<'_> {
    /// True if each source is compiled on its own: nothing takes part in compiling but the compiler, which finds the
    /// set's own classes, and the names in a source can be read.
    pub(super) fn can_be_compiled_in_part(&self) -> bool {
        let classpath = self.argument_value("-classpath").unwrap_or_default();
        let mut entries = classpath.split(':').map(Path::new);
        let encoding = self.argument_value("-encoding").unwrap_or("UTF-8");
        encoding.eq_ignore_ascii_case("UTF-8")
            && !self
                .arguments
                .iter()
                .any(|word| HELPERS.iter().any(|option| word.starts_with(option)))
            && entries.clone().any(|entry| entry == self.classes)
            && !entries.any(offers_helpers)
    }

    /// The value of an option.
    pub(super) fn argument_value(&self, option: &str) -> Option<&str> {
        let mut pairs = self.arguments.windows(2);
        Some(&pairs.find(|pair| pair[0] == option)?[1])
    }

    /// The Java files of the folder, all of which are compiled, by their path in it; `None` if there may be others, or fewer.
    pub(super) fn files_to_compile(&self) -> Option<BTreeSet<PathBuf>> {
        let roots = self
            .argument_value("-sourcepath")
            .unwrap_or_default()
            .split(':')
            .map(Path::new);
        for root in roots.filter(|root| !root.as_os_str().is_empty() && *root != self.sources) {
            if !counted_files(root, &is_java).ok()?.is_empty() {
                return None;
            }
        }
        let java = counted_files(self.sources, &is_java).ok()?;
        java.iter()
            .all(|file| is_compiled_by_default(file))
            .then_some(java)
    }

    /// True if these classes are all of the set, byte for byte, and the compiler made none of the other files in its folder.
    pub(super) fn has_classes(&self, made: &Path) -> io::Result<bool> {
        let mut others = counted_files(self.classes, &|_| true)?;
        for file in counted_files(made, &|_| true)? {
            // A processor that writes other files might have read what Maven had put there before.
            let is_same = is_class(&file)
                && others.remove(&file)
                && read_file(&made.join(&file))? == read_file(&self.classes.join(&file))?;
            if !is_same {
                return Ok(false);
            }
        }
        Ok(others
            .iter()
            .all(|file| is_package_info(file) || self.is_resource(file)))
    }

    /// True for a file that Maven copied from a folder of resources.
    fn is_resource(&self, inside: &Path) -> bool {
        !is_java(inside)
            && !is_class(inside)
            && self.resources.iter().any(|(folder, target)| {
                let below = inside.strip_prefix(target.trim_start_matches('/'));
                below.is_ok_and(|below| Path::new(folder).join(below).is_file())
            })
    }
}

/// True if this entry of a class path may help in compiling others. A jar has the names of its files in plain text.
fn offers_helpers(entry: &Path) -> bool {
    let mut services = COMPILER_SERVICES.iter();
    if !entry.is_file() {
        return services.any(|service| entry.join(service).exists());
    }
    let jar = read_file(entry);
    jar.map_or(true, |jar| {
        services.any(|service| memmem::find(&jar, service.as_bytes()).is_some())
    })
}

/// True for a path of Java identifiers (or `package-info.java`), none of which Maven leaves out by default
/// (plexus-utils' `AbstractScanner.DEFAULTEXCLUDES`: files of editors and of version control).
fn is_compiled_by_default(file: &Path) -> bool {
    const LEFT_OUT: [&str; 5] = ["CVS", "RCS", "SCCS", "BitKeeper", "ChangeSet"];
    file.with_extension("").iter().all(|part| {
        let part = part.to_str().unwrap_or_default();
        (part == "package-info" || is_identifier(part)) && !LEFT_OUT.contains(&part)
    })
}

pub(super) fn is_package_info(file: &Path) -> bool {
    file.file_name()
        .is_some_and(|name| name == "package-info.class")
}
