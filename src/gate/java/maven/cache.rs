//! What depends only on the POMs, kept between runs.
//!
//! An entry whose jars are gone, or that cannot be read, does not exist; a key covers every POM
//! of the package, their parents on the disk, `.mvn` and the settings of the user.

use super::{Project, pom_links};
use crate::gate::GateAbort;
use crate::gate::commands::disk;
use crate::sys::cache_file;
use crate::sys::walk::{DirEntry, walk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// POMs whose parents are followed.
const MAX_POMS: usize = 10_000;
/// How deep POMs are searched.
const DEPTH: usize = 13;
/// Raised when what is kept changes its meaning.
const VERSION: u32 = 5;

#[derive(Serialize, Deserialize)]
struct Kept {
    classpath: Vec<String>,
    project: Option<Project>,
}

/// The key of a module: 32 hex digits.
pub(super) fn key(root: &Path, dir: &str, program: &Path, args: &[String], home: Option<&str>) -> String {
    let mut parts: Vec<Vec<u8>> = vec![
        root.display().to_string().into_bytes(),
        dir.as_bytes().to_vec(),
        program.display().to_string().into_bytes(),
        args.join("\0").into_bytes(),
    ];
    let mut files = poms(root);
    parents(&mut files);
    files.sort();
    let dot =
        ["maven.config", "jvm.config", "extensions.xml", "settings.xml", "wrapper/maven-wrapper.properties"];
    files.extend(dot.map(|name| root.join(".mvn").join(name)));
    let user = [".m2/settings.xml", ".m2/toolchains.xml"];
    files.extend(home.iter().flat_map(|home| user.map(|name| Path::new(home).join(name))));
    for file in files {
        parts.push(file.display().to_string().into_bytes());
        parts.push(fs_err::read(&file).unwrap_or_default());
    }
    digest(parts.iter().map(Vec::as_slice))
}

/// The key of a module's outputs: the module's own, the JDK, options (of Maven's JVM, of the build), and every
/// jar as it is.
pub(super) fn build_key(module: &str, jdk: &Path, options: &[&str], classpath: &[String]) -> String {
    let javac = fs_err::canonicalize(jdk).unwrap_or_default();
    let release = javac.ancestors().nth(2).map(|home| home.join("release"));
    let mut parts: Vec<Vec<u8>> = vec![
        module.as_bytes().to_vec(),
        javac.display().to_string().into_bytes(),
        release.and_then(|file| fs_err::read(file).ok()).unwrap_or_default(),
        options.join("\0").into_bytes(),
    ];
    for entry in classpath {
        parts.push(entry.as_bytes().to_vec());
        // A folder of the reactor may not be there before the build: it counts by its name alone.
        let jar = fs_err::metadata(entry).ok().filter(std::fs::Metadata::is_file);
        let jar = jar.map(|data| format!("{:?}", (data.len(), data.modified().ok())));
        parts.push(jar.unwrap_or_default().into_bytes());
    }
    digest(parts.iter().map(Vec::as_slice))
}

/// A digest of some byte strings: 32 hex digits.
pub(crate) fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut digest = crate::source::digest_parts(parts);
    digest.truncate(32);
    digest
}

/// The POMs below a folder, outputs and hidden folders left out.
fn poms(root: &Path) -> Vec<PathBuf> {
    let found =
        walk(root, DEPTH, usize::MAX, |folder| !skipped(&folder.file_name().to_string_lossy())).flatten();
    found
        .filter(|entry| entry.file_type().is_file() && entry.file_name() == "pom.xml")
        .map(DirEntry::into_path)
        .collect()
}

/// Adds the POMs that these have as parents, upward, wherever they are.
fn parents(found: &mut Vec<PathBuf>) {
    let mut seen: BTreeSet<PathBuf> = found.iter().cloned().collect();
    let mut at = 0;
    while let Some(pom) = found.get(at).cloned().filter(|_| at < MAX_POMS) {
        at += 1;
        let parent = fs_err::read(&pom).ok().and_then(|text| pom_links(&text).parent);
        let Some(parent) = parent.and_then(|path| fs_err::canonicalize(pom.parent()?.join(path)).ok()) else {
            continue;
        };
        let parent = if parent.is_dir() { parent.join("pom.xml") } else { parent };
        if seen.insert(parent.clone()) {
            found.push(parent);
        }
    }
}

fn skipped(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "target" | "src" | "node_modules")
}

/// What is kept of a module: its class path, and what its POM says.
pub(super) fn load(file: &Path) -> Option<(Vec<String>, Project)> {
    let kept = read(file)?;
    Some((kept.classpath, kept.project?))
}

/// Keeps a module.
pub(super) fn store(file: &Path, classpath: &[String], project: &Project) -> Result<(), GateAbort> {
    keep(file, &Kept { classpath: classpath.to_vec(), project: Some(project.clone()) })
}

/// Kept paths.
pub(super) fn load_paths(file: &Path) -> Option<Vec<String>> {
    read(file).map(|kept| kept.classpath).filter(|paths| !paths.is_empty())
}

/// Keeps paths.
pub(super) fn store_paths(file: &Path, paths: &[String]) -> Result<(), GateAbort> {
    keep(file, &Kept { classpath: paths.to_vec(), project: None })
}

fn keep(file: &Path, kept: &Kept) -> Result<(), GateAbort> {
    cache_file::store(file, VERSION, kept).map_err(|error| disk(&error))
}

fn read(file: &Path) -> Option<Kept> {
    let kept: Kept = cache_file::load(file, VERSION)?;
    kept.classpath.iter().all(|entry| is_there(entry)).then_some(kept)
}

/// A jar must exist; a folder of the reactor is made by the build that follows.
fn is_there(entry: &str) -> bool {
    Path::new(entry).extension().is_none_or(|extension| extension != "jar") || Path::new(entry).is_file()
}

#[cfg(test)]
mod tests {
    use super::build_key;
    use std::path::Path;

    #[test]
    fn a_jar_that_changes_makes_another_build_and_a_folder_that_the_build_makes_does_not() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        let classpath = [at("a.jar"), at("sibling/target/classes")];
        let key = || build_key("m", Path::new("/absent"), &[], &classpath);
        fs_err::write(&classpath[0], "1").unwrap();
        let before = key();
        fs_err::create_dir_all(&classpath[1]).unwrap();
        assert_eq!(key(), before);
        fs_err::write(&classpath[0], "22").unwrap();
        assert_ne!(key(), before);
    }
}
