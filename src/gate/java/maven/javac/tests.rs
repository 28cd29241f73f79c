//! What lies beside classes, and which files are compiled.

use super::super::project::Resource;
use super::super::recipe::CompilerCall;
use super::quoted;
use super::source_set::PreviousClasses;
use super::source_set::{SourceSet, files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Folders {
    home: tempfile::TempDir,
    resources: Vec<Resource>,
}

impl Folders {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let resource = |folder: &str, target: &str| {
            Resource::new(home.path().join(folder).display().to_string(), target)
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
        call: &'a CompilerCall,
        sources: &'a Path,
        classes: &'a Path,
    ) -> SourceSet<'a> {
        SourceSet {
            call,
            sources,
            classes,
            resources: &self.resources,
        }
    }
}

fn call(arguments: &[String]) -> CompilerCall {
    CompilerCall {
        arguments: arguments.to_vec(),
        selection: None,
    }
}

#[test]
fn what_lies_beside_classes_is_carried_over_when_it_is_known() {
    for (stray, known) in [
        ("words.txt", true),
        ("META-INF/LICENSE", true),
        ("a/package-info.class", true),
        ("a/Gone.class", true),
        ("LICENSE", false),
        ("generated.txt", false),
        ("a/Copied.java", false),
    ] {
        let folders = Folders::new();
        for file in [
            "resources/words.txt",
            "legal/LICENSE",
            "resources/a/Copied.java",
        ] {
            folders.write(file, "");
        }
        folders.write("target/classes/a/A.class", "old");
        folders.write(&format!("target/classes/{stray}"), "kept");
        let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
        let previous = PreviousClasses::move_away(&classes).unwrap();
        assert!(files(&classes).unwrap().is_empty());
        folders.write("target/classes/a/A.class", "new");
        assert_eq!(
            previous
                .carry_over(&folders.side(&call(&[]), &sources, &classes))
                .unwrap(),
            known,
            "{stray}"
        );
        let stays = known && stray != "a/Gone.class";
        assert_eq!(classes.join(stray).exists(), stays, "{stray}");
        assert_eq!(
            fs_err::read_to_string(classes.join("a/A.class")).unwrap(),
            "new"
        );
    }
}

#[test]
fn classes_are_made_again_when_each_has_the_same_bytes_and_the_rest_is_not_the_compilers() {
    for (stray, made, same) in [
        ("words.txt", "old", true),
        ("a/package-info.class", "old", true),
        ("words.txt", "new", false),
        ("a/Other.class", "old", false),
        ("generated.txt", "old", false),
    ] {
        let folders = Folders::new();
        folders.write("resources/words.txt", "");
        folders.write("target/classes/a/A.class", "old");
        folders.write(&format!("target/classes/{stray}"), "kept");
        let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
        let previous = PreviousClasses::move_away(&classes).unwrap();
        folders.write("target/classes/a/A.class", made);
        let again = previous
            .equal_those_in(&folders.side(&call(&[]), &sources, &classes))
            .unwrap();
        assert_eq!(again, same, "{stray} {made}");
        previous.put_back(&classes).unwrap();
        drop(previous);
        assert_eq!(
            fs_err::read_to_string(classes.join("a/A.class")).unwrap(),
            "old"
        );
        assert_eq!(
            fs_err::read_dir(folders.at("target")).unwrap().count(),
            1,
            "nothing is left beside"
        );
    }
}

#[test]
fn only_a_folder_of_plain_java_files_is_compiled() {
    let folders = Folders::new();
    let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
    folders.write("src/a/A.java", "");
    folders.write("src/a/notes.txt", "");
    let list = |words: &[String]| {
        folders
            .side(&call(words), &sources, &classes)
            .files_to_compile()
    };
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
fn words_of_an_argument_file_are_quoted() {
    assert_eq!(quoted(r#"a b\c"d"#), r#""a b\\c\"d""#);
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
        (&[own, "processor.jar"], &["-proc:none"], true),
        (&[own, "folder"], &[], false),
        (&[own, "plugin.jar"], &["-proc:none"], false),
        (&[own], &["-processorpath", "p.jar"], false),
        (&[own], &["-Xplugin:Lint"], false),
        (&[own], &["-encoding", "ISO-8859-1"], true),
        (&[own], &["-encoding", "UTF-16"], false),
        (&[own], &["-encoding", "Cp037"], false),
    ] {
        let path: Vec<String> = entries
            .iter()
            .map(|entry| folders.at(entry).display().to_string())
            .collect();
        let mut words = vec!["-classpath".to_owned(), path.join(":")];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let call = call(&words);
        assert_eq!(
            folders
                .side(&call, &sources, &classes)
                .can_be_compiled_in_part(),
            may,
            "{entries:?} {more:?}"
        );
    }
}
