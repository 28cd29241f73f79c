//! The keys under which modules and their outputs are remembered.
//!
//! A module's covers all files of the package that are not Java, `.mvn` there and above, and the settings of the user. POMs outside
//! of the package are in its checkout, and outputs are used only while no file of that but Java changes.

use super::super::jvm::jdk_version;
use super::{Maven, digest_parts};
use crate::source::digest;
use memchr::memmem;
use std::path::{Path, PathBuf};

impl Maven<'_> {
    /// The key of the module.
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
        parts.extend(self.context.ports.checkouts.other_files(root));
        let dot = ["maven.config", "jvm.config", "extensions.xml"];
        let mut files: Vec<PathBuf> = root
            .ancestors()
            .flat_map(|at| dot.map(|name| at.join(".mvn").join(name)))
            .collect();
        let user = [".m2/settings.xml", ".m2/toolchains.xml"];
        let home = environment.get("HOME").map(Path::new);
        files.extend(
            home.iter()
                .flat_map(|home| user.map(|name| home.join(name))),
        );
        for file in files {
            let content = fs_err::read(&file).unwrap_or_default();
            parts.extend([file.display().to_string(), digest(&content)]);
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

/// A compiler and the version of its JDK.
pub(super) fn jdk_state(javac: &Path) -> String {
    let place = fs_err::canonicalize(javac).unwrap_or_default();
    let version = jdk_version(javac).unwrap_or_default();
    format!("{}\0{version}", place.display())
}

/// The mark at the end of a jar (APPNOTE 4.3.16).
const END_OF_JAR: &[u8] = b"PK\x05\x06";

/// True unless the entry is a jar whose end is missing: a download or a disk may have cut it off.
pub(super) fn is_whole(jar: &str) -> bool {
    let jar = Path::new(jar);
    jar.extension().is_none_or(|extension| extension != "jar")
        || fs_err::read(jar).is_ok_and(|bytes| memmem::rfind(&bytes, END_OF_JAR).is_some())
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
