//! Files next to classes, and files that are compiled.

use super::reached::{ClassNames, ReachedSources};
use super::source_set::SourceSet;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Folders {
    home: tempfile::TempDir,
    resources: Vec<(String, String)>,
}

impl Folders {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let resource = |folder: &str, target: &str| {
            let folder = home.path().join(folder).display().to_string();
            (folder, target.to_owned())
        };
        let resources = vec![resource("resources", ""), resource("legal", "META-INF")];
        Self { home, resources }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs_err::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs_err::write(self.at(path), text).unwrap();
    }

    fn side<'a>(
        &'a self,
        arguments: &'a [String],
        sources: &'a Path,
        classes: &'a Path,
    ) -> SourceSet<'a> {
        SourceSet {
            arguments,
            sources,
            classes,
            resources: &self.resources,
        }
    }
}

/// A class file of this name from this source.
fn class_file(name: &str, source: &str) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 55, 0, 5];
    for text in [name, source, "SourceFile"] {
        bytes.extend([1, 0, u8::try_from(text.len()).unwrap()]);
        bytes.extend(text.as_bytes());
    }
    // A class, its flags, name, parent, no interfaces, fields or methods, and one attribute.
    bytes.extend([7, 0, 1, 0, 32, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 1, 0, 3, 0, 0, 0, 2, 0, 2]);
    bytes
}

#[test]
fn classes_are_made_again_when_each_has_the_same_bytes_and_the_rest_is_not_the_compilers() {
    for (stray, made, same) in [
        ("words.txt", "old", true),
        ("META-INF/LICENSE", "old", true),
        ("a/package-info.class", "old", true),
        ("words.txt", "new", false),
        ("a/Other.class", "old", false),
        ("generated.txt", "old", false),
        ("LICENSE", "old", false),
        ("a/Copied.java", "old", false),
    ] {
        let folders = Folders::new();
        folders.write("resources/words.txt", "");
        folders.write("resources/a/Copied.java", "");
        folders.write("legal/LICENSE", "");
        folders.write("target/classes/a/A.class", "old");
        folders.write(&format!("target/classes/{stray}"), "kept");
        folders.write("made/a/A.class", made);
        let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
        let set = folders.side(&[], &sources, &classes);
        let again = set.has_classes(&folders.at("made")).unwrap();
        assert_eq!(again, same, "{stray} {made}");
        folders.write("made/more.txt", "");
        assert!(!set.has_classes(&folders.at("made")).unwrap());
    }
}

#[test]
fn a_change_reaches_the_sources_that_name_it_and_a_class_without_a_source_is_unknown() {
    let folders = Folders::new();
    let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
    for (name, text) in [("A", ""), ("B", "A a;"), ("C", "")] {
        folders.write(&format!("src/{name}.java"), text);
    }
    fs_err::create_dir_all(&classes).unwrap();
    for name in ["A", "B", "C", "Gone"] {
        let bytes = class_file(name, &format!("{name}.java"));
        fs_err::write(classes.join(format!("{name}.class")), bytes).unwrap();
    }
    let files = |names: &[&str]| -> BTreeSet<PathBuf> {
        let file = |name: &&str| PathBuf::from(format!("{name}.java"));
        names.iter().map(file).collect()
    };
    let words = ["-classpath".to_owned(), classes.display().to_string()];
    let set = folders.side(&words, &sources, &classes);
    let by = |changed: &[&str], names| ReachedSources::reached_by(&set, &files(changed), names);
    let reached = by(&["A", "Gone"], Some(ClassNames::new())).unwrap();
    assert_eq!(reached.sources, files(&["A", "B"]), "B names A");
    assert_eq!(reached.classes.len(), 3);
    let reached = by(&["B", "Gone"], Some(ClassNames::new())).unwrap();
    assert_eq!(reached.sources, files(&["B"]));
    let reached = by(&["B", "Gone"], None).unwrap();
    assert_eq!(reached.sources, files(&["A", "B", "C"]), "all");
    for unknown in [&["A"][..], &["Lost", "Gone"]] {
        assert!(
            by(unknown, Some(ClassNames::new())).is_none(),
            "{unknown:?}"
        );
    }
    // Maven alone refuses an import of a package that lost its last class.
    fs_err::remove_file(classes.join("Gone.class")).unwrap();
    fs_err::create_dir(classes.join("far")).unwrap();
    let last = class_file("far/Last", "Last.java");
    fs_err::write(classes.join("far/Last.class"), last).unwrap();
    let follows = || by(&["far/Last"], Some(ClassNames::new())).is_some();
    assert!(!follows());
    folders.write("src/far/Other.java", "");
    assert!(follows());
}

#[test]
fn only_a_folder_of_plain_java_files_is_compiled() {
    let folders = Folders::new();
    let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
    folders.write("src/a/A.java", "");
    folders.write("src/a/notes.txt", "");
    let list = |words: &[String]| folders.side(words, &sources, &classes).files_to_compile();
    assert_eq!(
        list(&[]).unwrap(),
        BTreeSet::from([PathBuf::from("a/A.java")])
    );
    folders.write("generated/B.java", "");
    let roots = format!(
        "{}:{}:",
        sources.display(),
        folders.at("generated").display()
    );
    assert_eq!(
        list(&["-sourcepath".to_owned(), roots]),
        None,
        "sources that somebody generated"
    );
    for odd in [
        "module-info.java",
        "a/RCS/B.java",
        ".git/B.java",
        "a/.#B.java",
        "a/B-1.java",
        "a/B\n-x\nC.java",
    ] {
        folders.write(&format!("src/{odd}"), "");
        assert_eq!(list(&[]), None, "{odd}");
        fs_err::remove_file(sources.join(odd)).unwrap();
        assert!(list(&[]).is_some());
    }
    fs_err::os::unix::fs::symlink("/nowhere", sources.join("Link.java")).unwrap();
    assert_eq!(list(&[]), None, "links");
}

#[test]
fn a_part_is_compiled_where_only_the_compiler_takes_part_and_names_can_be_read() {
    let folders = Folders::new();
    let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
    folders.write("plain.jar", "PK a/B.class");
    folders.write(
        "processor.jar",
        "PK META-INF/services/javax.annotation.processing.Processor",
    );
    folders.write(
        "plugin.jar",
        "PK META-INF/services/com.sun.source.util.Plugin",
    );
    folders.write(
        "folder/META-INF/services/javax.annotation.processing.Processor",
        "a.P",
    );
    let own = "target/classes";
    for (entries, more, may) in [
        (&[own, "plain.jar", "gone.jar"][..], &[][..], true),
        (&["plain.jar"], &[], false),
        (&[own, "processor.jar"], &[], false),
        (&[own, "folder"], &[], false),
        (&[own, "plugin.jar"], &["-proc:none"], false),
        (&[own], &["-processorpath", "p.jar"], false),
        (&[own], &["-Xplugin:Lint"], false),
        (&[own], &["-encoding", "utf-8"], true),
        (&[own], &["-encoding", "UTF-16"], false),
    ] {
        let path: Vec<String> = entries
            .iter()
            .map(|entry| folders.at(entry).display().to_string())
            .collect();
        let mut words = vec!["-classpath".to_owned(), path.join(":")];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            folders
                .side(&words, &sources, &classes)
                .can_be_compiled_in_part(),
            may,
            "{entries:?} {more:?}"
        );
    }
}
