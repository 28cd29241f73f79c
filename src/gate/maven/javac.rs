//! The JDK's compiler in Maven's place.
//!
//! Owns: its call with the very arguments that Maven gave to it, and the proof that it makes Maven's classes.
//!
//! Promises: a build is proven when every class file of both sides came out byte for byte as Maven left it,
//! nothing else came out, and nothing lies beside them but copies of resources and `package-info.class`, which
//! Maven makes itself. Each side is compiled whole, into an empty folder. What is in doubt is `false`; outputs are
//! then not to be used any more, unless they were only looked at for the proof. What came to no end leaves none.
//!
//! Refuses to know: why sources changed, when a proof is due, who builds instead.

use super::super::calls::{Calls, disk};
use super::super::{Stale, Stop, class_file, classes};
use super::Project;
use super::compiling::Resource;
use super::recipe::{Call, Recipe};
use crate::gate::jvm;
use crate::sys::disk::read_beginning;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// Files of one side that are looked at.
const MAX_FILES: usize = 100_000;
/// Bytes of one of them.
const MAX_BYTES: u64 = 64 << 20;
/// Services by which classes take part in compiling others.
const COMPILER_SERVICES: [&str; 2] = [
    "META-INF/services/javax.annotation.processing.Processor",
    "META-INF/services/com.sun.source.util.Plugin",
];

/// The compiler for one module.
pub(super) struct Javac<'a> {
    calls: &'a Calls<'a>,
    program: PathBuf,
    home: PathBuf,
    main: Side<'a>,
    tests: Option<Side<'a>>,
    test_classes: &'a Path,
}

/// Production code or tests.
struct Side<'a> {
    call: &'a Call,
    sources: &'a Path,
    classes: &'a Path,
    resources: &'a [Resource],
}

impl<'a> Javac<'a> {
    /// The compiler as the recipe calls it; nothing when that is not about the folders that every module has.
    pub(super) fn new(
        calls: &'a Calls<'a>,
        program: PathBuf,
        home: PathBuf,
        project: &'a Project,
        recipe: &'a Recipe,
    ) -> Option<Self> {
        let main = Side {
            call: &recipe.main,
            sources: Path::new(&project.sources),
            classes: Path::new(&project.classes),
            resources: &project.compiling.resources,
        };
        let tests = recipe.tests.as_ref().map(|call| Side {
            call,
            sources: Path::new(&project.test_sources),
            classes: Path::new(&project.test_classes),
            resources: &project.compiling.test_resources,
        });
        let usual = project.compiling.is_usual
            && main.is_at(&home.join("src/main/java"))
            && tests.as_ref().is_none_or(|tests| tests.is_at(&home.join("src/test/java")));
        let test_classes = Path::new(&project.test_classes);
        usual.then_some(Self { calls, program, home, main, tests, test_classes })
    }

    /// True when it makes the classes that stand there, which Maven made of the same sources. They stand there
    /// again afterwards.
    pub(super) fn proves(&self) -> Result<bool, Stop> {
        for side in [Some(&self.main), self.tests.as_ref()].into_iter().flatten() {
            let aside = Aside::take(side.classes).map_err(|error| disk(&error))?;
            let same = self.call(side, &aside)? && aside.is_made_again(side).unwrap_or(false);
            aside.restore(side.classes).map_err(|error| disk(&error))?;
            if !same {
                return Ok(false);
            }
        }
        let untested = || files(self.test_classes).map(|files| files.iter().all(|file| !is_class(file)));
        Ok(self.tests.is_some() || untested().unwrap_or(false))
    }

    /// Compiles the sides that changed, and the tests when what they can see of the production code changed.
    pub(super) fn remake(&self, stale: Stale) -> Result<bool, Stop> {
        if stale.infos {
            return Ok(false);
        }
        let mut tests = stale.tests;
        if stale.main {
            let Some(aside) = self.remake_side(&self.main)? else { return Ok(false) };
            let helped = self.tests.as_ref().is_some_and(Side::is_helped);
            tests |= helped || !aside.looks_like(self.main.classes);
        }
        match &self.tests {
            Some(side) if tests => Ok(self.remake_side(side)?.is_some()),
            // Without tests there is nothing that could have to be compiled again.
            None => Ok(!stale.tests),
            Some(_) => Ok(true),
        }
    }

    /// The classes of before, when those of now stand in their place with all that belongs beside them.
    fn remake_side(&self, side: &Side<'_>) -> Result<Option<Aside>, Stop> {
        let aside = Aside::take(side.classes).map_err(|error| disk(&error))?;
        let made = self.call(side, &aside)? && aside.carry(side).unwrap_or(false);
        Ok(made.then_some(aside))
    }

    /// Compiles a side into its folder, which is empty.
    fn call(&self, side: &Side<'_>, aside: &Aside) -> Result<bool, Stop> {
        let Some(sources) = side.files_to_compile() else { return Ok(false) };
        if let Some(folder) = side.argument("-s") {
            fs_err::create_dir_all(folder).map_err(|error| disk(&error))?;
        }
        let words = side.call.arguments.iter().chain(&sources).map(|word| quoted(word));
        let file = aside.folder.path().join("arguments");
        fs_err::write(&file, words.collect::<Vec<_>>().join("\n")).map_err(|error| disk(&error))?;
        let mut argv = vec![self.program.display().to_string()];
        argv.extend(jvm::quick([]).iter().map(|option| format!("-J{option}")));
        argv.push("-J-Dfile.encoding=UTF-8".to_owned());
        argv.push(format!("@{}", file.display()));
        // Options for every javac are nobody's business here: Maven's did not read them.
        let extra = [("JDK_JAVAC_OPTIONS".to_owned(), String::new())];
        Ok(self.calls.run("recompile", argv, &self.home, &extra)?.end.is_success())
    }
}

impl Side<'_> {
    /// True when its sources stand in that folder and its arguments are about its classes.
    fn is_at(&self, folder: &Path) -> bool {
        let told = self
            .call
            .arguments
            .get(..2)
            .is_some_and(|told| told[0] == "-d" && Path::new(&told[1]) == self.classes);
        told && self.sources == folder
    }

    /// True when its arguments name classes that take part in compiling: they may be the module's own.
    fn is_helped(&self) -> bool {
        let helps = ["-processor", "--processor", "-Xplugin"];
        self.call.arguments.iter().any(|word| helps.iter().any(|start| word.starts_with(start)))
    }

    /// The value of an option.
    fn argument(&self, option: &str) -> Option<&str> {
        let at = self.call.arguments.iter().position(|word| word == option)?;
        self.call.arguments.get(at + 1).map(String::as_str)
    }

    /// The Java files below the folder of sources, or those that Maven picks of them; nothing when there are
    /// others, or what this cannot tell.
    fn files_to_compile(&self) -> Option<Vec<String>> {
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
        let mut sources = Vec::new();
        for file in java {
            if !is_compiled_by_default(&file) {
                return None;
            }
            sources.push(self.sources.join(file).to_str()?.to_owned());
        }
        let plain = |word: &String| !word.contains(char::is_control);
        (sources.iter().all(plain) && self.call.arguments.iter().all(plain)).then_some(sources)
    }

    /// True for a file that Maven copied from where resources stand.
    fn is_resource(&self, inside: &Path) -> bool {
        let from = |resource: &Resource| {
            let below = inside.strip_prefix(resource.target.trim_start_matches('/')).ok();
            below.is_some_and(|below| Path::new(&resource.folder).join(below).is_file())
        };
        !is_java(inside) && !is_class(inside) && self.resources.iter().any(from)
    }
}

/// Classes of before, on the same disk.
struct Aside {
    folder: tempfile::TempDir,
}

impl Aside {
    /// Leaves an empty folder in the classes' place.
    fn take(classes: &Path) -> io::Result<Self> {
        let beside = classes.parent().ok_or_else(|| io::Error::other("classes have no folder"))?;
        fs_err::create_dir_all(classes)?;
        let folder = tempfile::Builder::new().prefix(".aside-").tempdir_in(beside)?;
        let aside = Self { folder };
        fs_err::rename(classes, aside.classes())?;
        fs_err::create_dir(classes)?;
        Ok(aside)
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    fn restore(&self, classes: &Path) -> io::Result<()> {
        fs_err::remove_dir_all(classes)?;
        fs_err::rename(self.classes(), classes)
    }

    /// True when every class stands there again, and what does not has nothing to do with the compiler.
    fn is_made_again(&self, side: &Side<'_>) -> io::Result<bool> {
        let made = files(side.classes)?;
        for file in &made {
            let before = self.classes().join(file);
            // A processor that writes other files might have read what Maven had put there before.
            if !is_class(file) || !before.is_file() || read(&before)? != read(&side.classes.join(file))? {
                return Ok(false);
            }
        }
        let mut others = files(&self.classes())?.into_iter().filter(|file| !made.contains(file));
        Ok(others.all(|file| is_package_info(&file) || side.is_resource(&file)))
    }

    /// Brings what the compiler does not make to the new classes; false when something there is unknown.
    fn carry(&self, side: &Side<'_>) -> io::Result<bool> {
        let made = files(side.classes)?;
        if !made.iter().all(|file| is_class(file)) {
            return Ok(false);
        }
        for file in files(&self.classes())?.into_iter().filter(|file| !made.contains(file)) {
            if is_package_info(&file) || side.is_resource(&file) {
                let to = side.classes.join(&file);
                fs_err::create_dir_all(to.parent().unwrap_or(side.classes))?;
                fs_err::copy(self.classes().join(&file), to)?;
            } else if !is_class(&file) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True when a compiler sees the same in both.
    fn looks_like(&self, classes: &Path) -> bool {
        let before = interfaces(&self.classes());
        let takes_part = COMPILER_SERVICES.iter().any(|service| classes.join(service).exists());
        !takes_part && before.is_some() && before == interfaces(classes)
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

/// What a compiler sees of the classes in a folder; nothing where that cannot be told of each.
fn interfaces(folder: &Path) -> Option<BTreeMap<PathBuf, String>> {
    let seen = |file: PathBuf| {
        let interface = class_file::interface(&read(&folder.join(&file)).ok()?)?;
        Some((file, interface))
    };
    files(folder).ok()?.into_iter().filter(|file| is_class(file)).map(seen).collect()
}

/// The Java files below a folder, by their path in it.
pub(super) fn java_files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    Ok(files(folder)?.into_iter().filter(|file| is_java(file)).collect())
}

fn is_java(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "java")
}

fn is_class(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "class")
}

fn is_package_info(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "package-info.class")
}

/// The files below a folder, by their path in it; one that is not there holds none. Links are errors: what
/// they lead to may change unseen.
fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
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

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let whole = read_beginning(file, MAX_BYTES + 1)?.filter(|bytes| bytes.len() as u64 <= MAX_BYTES);
    whole.ok_or_else(|| io::Error::other(format!("{} is too large, or no file", file.display())))
}

/// A word of a file of arguments (the documentation of javac, "Command-Line Argument Files").
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::{Aside, Call, Resource, Side, files, quoted};
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

        fn side<'a>(&'a self, call: &'a Call, sources: &'a Path, classes: &'a Path) -> Side<'a> {
            Side { call, sources, classes, resources: &self.resources }
        }
    }

    fn call(arguments: &[String]) -> Call {
        Call { arguments: arguments.to_vec(), chosen: None }
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
            for file in ["resources/words.txt", "legal/LICENSE", "resources/a/Copied.java"] {
                folders.write(file, "");
            }
            folders.write("target/classes/a/A.class", "old");
            folders.write(&format!("target/classes/{stray}"), "kept");
            let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
            let aside = Aside::take(&classes).unwrap();
            assert!(files(&classes).unwrap().is_empty());
            folders.write("target/classes/a/A.class", "new");
            assert_eq!(aside.carry(&folders.side(&call(&[]), &sources, &classes)).unwrap(), known, "{stray}");
            let stays = known && stray != "a/Gone.class";
            assert_eq!(classes.join(stray).exists(), stays, "{stray}");
            assert_eq!(fs_err::read_to_string(classes.join("a/A.class")).unwrap(), "new");
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
            let aside = Aside::take(&classes).unwrap();
            folders.write("target/classes/a/A.class", made);
            let again = aside.is_made_again(&folders.side(&call(&[]), &sources, &classes)).unwrap();
            assert_eq!(again, same, "{stray} {made}");
            aside.restore(&classes).unwrap();
            drop(aside);
            assert_eq!(fs_err::read_to_string(classes.join("a/A.class")).unwrap(), "old");
            assert_eq!(fs_err::read_dir(folders.at("target")).unwrap().count(), 1, "nothing is left beside");
        }
    }

    #[test]
    fn only_a_folder_of_plain_java_files_is_compiled() {
        let folders = Folders::new();
        let (sources, classes) = (folders.at("src"), folders.at("target/classes"));
        folders.write("src/a/A.java", "");
        folders.write("src/a/notes.txt", "");
        let list = |words: &[String]| folders.side(&call(words), &sources, &classes).files_to_compile();
        assert_eq!(list(&[]).unwrap(), [folders.at("src/a/A.java").display().to_string()]);
        folders.write("generated/B.java", "");
        let roots = format!("{}:{}:", sources.display(), folders.at("generated").display());
        assert_eq!(list(&["-sourcepath".to_owned(), roots]), None, "sources that somebody generated");
        for odd in
            ["module-info.java", "a/RCS/B.java", ".git/B.java", "a/.#B.java", "a/B-1.java", "a/B\n-x\nC.java"]
        {
            folders.write(&format!("src/{odd}"), "");
            assert_eq!(list(&[]), None, "{odd}");
            fs_err::remove_file(sources.join(odd)).unwrap();
            assert!(list(&[]).is_some());
        }
        assert_eq!(list(&["-d\r".to_owned()]), None, "a word that ends within itself");
        fs_err::os::unix::fs::symlink("/nowhere", sources.join("Link.java")).unwrap();
        assert_eq!(list(&[]), None, "links");
    }

    #[test]
    fn words_of_an_argument_file_are_quoted() {
        assert_eq!(quoted(r#"a b\c"d"#), r#""a b\\c\"d""#);
    }
}
