//! The keys under which modules and their outputs are remembered.
//!
//! A module's covers every POM of the package, their parents on the disk, `.mvn` there and above, and the settings of the user.

use super::{Maven, pom_links};
use crate::source::digest;
use crate::sys::walk::{DirEntry, walk};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// POMs whose parents are followed.
const MAX_POMS: usize = 10_000;
/// Levels of directories in which POMs are searched.
const DEPTH: usize = 13;

/// Words of a POM by which a profile depends on files.
const BY_FILE: [&str; 2] = ["<exists>", "<missing>"];

impl Maven<'_> {
    /// The key of the module: 32 hex digits.
    pub(super) fn module_key(&self) -> String {
        let (root, environment) = (&self.root, self.context.commands.child_environment());
        let mut parts = vec![
            root.display().to_string(),
            self.dir.to_owned(),
            self.program.display().to_string(),
            self.context.settings.maven_args.join("\0"),
            jdk_state(&self.javac_path()),
        ];
        parts.extend(
            environment
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        let mut files = find_poms(root);
        add_parents(&mut files);
        files.sort();
        let dot = [
            "maven.config",
            "jvm.config",
            "extensions.xml",
            "settings.xml",
            "wrapper/maven-wrapper.properties",
        ];
        files.extend(
            root.ancestors()
                .flat_map(|at| dot.map(|name| at.join(".mvn").join(name))),
        );
        let user = [".m2/settings.xml", ".m2/toolchains.xml"];
        let home = environment.get("HOME").map(Path::new);
        files.extend(
            home.iter()
                .flat_map(|home| user.map(|name| home.join(name))),
        );
        let mut is_by_file = false;
        for file in files {
            let content = fs_err::read(&file).unwrap_or_default();
            is_by_file |= BY_FILE
                .iter()
                .any(|words| memchr::memmem::find(&content, words.as_bytes()).is_some());
            parts.extend([file.display().to_string(), digest(&content)]);
        }
        if is_by_file {
            parts.extend(self.context.ports.checkouts.other_files(root));
        }
        digest_parts(parts)
    }
}

/// The key of a module's outputs: the module's own, options (of Maven's JVM, of the build), and every jar as it is.
pub(super) fn build_key(module: &str, options: &[&str], classpath: &[String]) -> String {
    let mut parts = vec![module.to_owned(), options.join("\0")];
    for entry in classpath {
        parts.push(entry.clone());
        // A folder of the reactor may not be there before the build: it counts by its name alone.
        let jar = fs_err::metadata(entry)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let jar = jar.map(|data| format!("{:?}", (data.len(), data.modified().ok())));
        parts.push(jar.unwrap_or_default());
    }
    digest_parts(parts)
}

/// A compiler and the file `release` of its JDK.
pub(super) fn jdk_state(javac: &Path) -> String {
    let javac = fs_err::canonicalize(javac).unwrap_or_default();
    let file = javac.ancestors().nth(2).map(|home| home.join("release"));
    let release = file.and_then(|file| fs_err::read_to_string(file).ok());
    format!("{}\0{}", javac.display(), release.unwrap_or_default())
}

/// A digest of some byte strings: 32 hex digits.
pub(crate) fn digest_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut digest = crate::source::digest_parts(parts);
    digest.truncate(32);
    digest
}

/// The POMs below a folder, outputs and hidden folders left out.
fn find_poms(root: &Path) -> Vec<PathBuf> {
    walk(root, DEPTH, usize::MAX, |folder: &DirEntry| {
        let name = folder.file_name().to_string_lossy();
        !name.starts_with('.') && !matches!(&*name, "target" | "src" | "node_modules")
    })
    .flatten()
    .filter(|entry| entry.file_type().is_file() && entry.file_name() == "pom.xml")
    .map(DirEntry::into_path)
    .collect()
}

/// Adds the parents of these POMs, and their parents, in any directory.
fn add_parents(found: &mut Vec<PathBuf>) {
    let mut seen: BTreeSet<PathBuf> = found.iter().cloned().collect();
    let mut at = 0;
    while let Some(pom) = found.get(at).cloned().filter(|_| at < MAX_POMS) {
        at += 1;
        let parent = fs_err::read(&pom)
            .ok()
            .and_then(|text| pom_links(&text).parent);
        let Some(parent) =
            parent.and_then(|path| fs_err::canonicalize(pom.parent()?.join(path)).ok())
        else {
            continue;
        };
        let parent = if parent.is_dir() {
            parent.join("pom.xml")
        } else {
            parent
        };
        if seen.insert(parent.clone()) {
            found.push(parent);
        }
    }
}

/// True while the jars among the entries of a class path exist; a folder of the reactor is made by the build that
/// follows.
pub(super) fn has_jars(classpath: &[String]) -> bool {
    let mut entries = classpath.iter().map(Path::new);
    entries.all(|entry| {
        entry.extension().is_none_or(|extension| extension != "jar") || entry.is_file()
    })
}

/// The mark at the end of a jar, before a comment of at most 64 KiB (APPNOTE 4.3.16).
const END_OF_JAR: &[u8] = b"PK\x05\x06";
const LONGEST_END: u64 = 22 + (64 << 10);

/// True unless the entry is a jar whose end is missing: a download or a disk may have cut it off.
pub(super) fn is_whole(jar: &Path) -> bool {
    let is_jar = jar.extension().is_some_and(|extension| extension == "jar");
    !is_jar || read_end(jar).is_ok_and(|bytes| memchr::memmem::rfind(&bytes, END_OF_JAR).is_some())
}

/// Reads the last bytes of a file, at most [`LONGEST_END`].
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_END)))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_END).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::build_key;

    #[test]
    fn a_jar_that_changes_makes_another_build_and_a_folder_that_the_build_makes_does_not() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        let classpath = [at("a.jar"), at("sibling/target/classes")];
        let key = || build_key("m", &[], &classpath);
        fs_err::write(&classpath[0], "1").unwrap();
        let before = key();
        fs_err::create_dir_all(&classpath[1]).unwrap();
        assert_eq!(key(), before);
        fs_err::write(&classpath[0], "22").unwrap();
        assert_ne!(key(), before);
    }
}
