//! The JVM that Maven runs in.
//!
//! Owns: its options, and an archive of Maven's own classes in ralph's cache (class data sharing, JEP 350;
//! Java 13 and later), which takes a fifth off each call (docs/measured.md).
//!
//! Promises: the archive is one JVM's and one Maven's; a JVM that does not take it runs without. Failing to
//! write it costs nothing but time. Options that the caller set himself stay in front.
//!
//! Refuses to know: what Maven is asked for.

use super::super::calls::{Calls, is_executable};
use super::cache::digest;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Options that take a third off the start of Maven (measured).
const OPTIONS: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dfile.encoding=UTF-8";
/// The first Java that writes such an archive.
const FIRST: u32 = 13;
/// Archives kept: one for each pair of a JVM and a Maven.
const KEPT: usize = 4;

/// The options of Maven's JVM.
pub(super) struct Jvm {
    /// What does not change between calls: part of a build's key.
    pub(super) options: String,
    archive: Option<PathBuf>,
}

impl Jvm {
    /// The JVM that the program will start, as far as that can be told.
    pub(super) fn find(calls: &Calls<'_>, program: &Path, cache: &Path) -> Self {
        let own = calls.variable("MAVEN_OPTS");
        let options = own.map_or_else(|| OPTIONS.to_owned(), |own| format!("{own} {OPTIONS}"));
        let shares = own.is_some_and(|own| own.contains("Archive") || own.contains("-Xshare"));
        let key = if shares { None } else { key(calls, program, &options) };
        Self { options, archive: key.map(|key| cache.join(format!("maven-{key}.jsa"))) }
    }

    /// The options of one call; with `record`, the file that it writes when there is no archive yet.
    pub(super) fn call(&self, record: bool) -> (String, Option<PathBuf>) {
        let Some(archive) = &self.archive else { return (self.options.clone(), None) };
        // Maven's start script splits the options at spaces.
        if archive
            .to_str()
            .is_none_or(|path| path.contains(|c: char| c.is_whitespace() || "'\"\\$`*?[".contains(c)))
        {
            return (self.options.clone(), None);
        }
        let with = |option: &str, file: &Path| {
            format!("{} -XX:+IgnoreUnrecognizedVMOptions -XX:{option}={}", self.options, file.display())
        };
        if archive.is_file() {
            return (with("SharedArchiveFile", archive), None);
        }
        if !record {
            return (self.options.clone(), None);
        }
        let new = archive.with_extension(format!("{}.new", std::process::id()));
        (with("ArchiveClassesAtExit", &new), Some(new))
    }

    /// Takes what a call recorded.
    pub(super) fn recorded(&self, new: &Path, is_whole: bool) {
        // An archive that is not there is written another time.
        let _ = match &self.archive {
            Some(archive) if is_whole && new.is_file() => fs_err::rename(new, archive),
            _ => fs_err::remove_file(new),
        };
        if let Some(cache) = new.parent() {
            sweep(cache);
        }
    }
}

/// Which JVM and which Maven; `None` when the JVM writes no archives.
fn key(calls: &Calls<'_>, program: &Path, options: &str) -> Option<String> {
    let java = match calls.variable("JAVA_HOME") {
        Some(home) => Path::new(home).join("bin/java"),
        None => calls.find("java")?,
    };
    let java = fs_err::canonicalize(java).ok().filter(|java| is_executable(java))?;
    let release = fs_err::read_to_string(java.ancestors().nth(2)?.join("release")).ok()?;
    if version(&release)? < FIRST {
        return None;
    }
    let maven = fs_err::canonicalize(program).ok()?;
    let stamp = fs_err::metadata(&maven)
        .ok()
        .map(|data| format!("{} {} {}", data.ino(), data.len(), data.mtime()))?;
    let parts = [java.display().to_string(), release, maven.display().to_string(), stamp, options.to_owned()];
    Some(digest(parts.iter().map(String::as_bytes)))
}

/// The major version in a JDK's `release` file: `JAVA_VERSION="17.0.15"`, `"1.8.0_402"`.
fn version(release: &str) -> Option<u32> {
    let text = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Removes the oldest archives beyond the number kept.
fn sweep(cache: &Path) {
    let Ok(entries) = fs_err::read_dir(cache) else { return };
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("maven-") && name.contains(".jsa")
    };
    let mut all: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(is_archive)
        .filter_map(|path| Some((fs_err::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    all.sort();
    for (_, path) in all.iter().take(all.len().saturating_sub(KEPT)) {
        let _ = fs_err::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::{Jvm, version};

    #[test]
    fn the_first_call_records_and_later_ones_use_it() {
        let cache = tempfile::tempdir().unwrap();
        let archive = cache.path().join("maven-1.jsa");
        let jvm = Jvm { options: "-Xa".to_owned(), archive: Some(archive.clone()) };
        assert_eq!(jvm.call(false), ("-Xa".to_owned(), None));
        let (options, new) = jvm.call(true);
        let new = new.unwrap();
        assert!(options.ends_with(&format!("-XX:ArchiveClassesAtExit={}", new.display())), "{options}");
        fs_err::write(&new, "half").unwrap();
        jvm.recorded(&new, false);
        assert!(!new.exists() && !archive.exists(), "what a failed call left is no archive");
        fs_err::write(&new, "whole").unwrap();
        jvm.recorded(&new, true);
        let (options, again) = jvm.call(true);
        assert!(options.ends_with(&format!("-XX:SharedArchiveFile={}", archive.display())), "{options}");
        assert_eq!(again, None);

        let odd = Jvm { options: "-Xa".to_owned(), archive: Some(cache.path().join("a b.jsa")) };
        assert_eq!(odd.call(true), ("-Xa".to_owned(), None));
    }

    #[test]
    fn the_version_is_read() {
        assert_eq!(version("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n"), Some(17));
        assert_eq!(version("JAVA_VERSION=\"1.8.0_402\""), Some(1));
        assert_eq!(version("JAVA_VERSION=\"21\""), Some(21));
        assert_eq!(version(""), None);
    }
}
