//! Compiling a part comes to the same as compiling the whole, told by the real javac.

use super::super::super::compiling::Resource;
use super::super::super::recipe::{Call, Processed};
use super::super::side::files;
use super::super::{Javac, Side};
use crate::gate::calls::Calls;
use crate::gate::{Foreground, Hands, NoTrees, Stale};
use crate::machine::facts::ProcessEnd;
use crate::sys::{Ended, ProcessId, ProcessSpec, Running, Spawn};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Every side of a module, with what its files need of each other.
const MODULE: &[(&str, &str)] = &[
    ("main/a/Base.java", "package a; public class Base { public int one() { return 1; } }"),
    ("main/a/Limit.java", "package a; public class Limit { public static final int MAX = 3; }"),
    (
        "main/a/Child.java",
        "package a; public class Child extends Base { public Long two(long x) { return x; } }",
    ),
    (
        "main/b/User.java",
        "package b; import a.*; public class User { public Base get() { return new Child(); } }",
    ),
    (
        "main/b/Far.java",
        "package b; public class Far { long f(User user) { return user.get().one(); } enum E { X, Y } \
         int g(E e) { switch (e) { case X: return 1; default: return 2; } } Runnable r() { return () -> f(null); } }",
    ),
    ("main/b/Stars.java", "package b; import static a.Limit.*; class Stars { int f() { return MAX; } }"),
    ("main/b/Two.java", "package b; class Two { } class Beside { class In { } }"),
    ("main/b/Alone.java", "package b; class Alone { int f() { return 7; } }"),
    ("main/c/Escaped.java", "package c; class Escaped { int f() { return a.\\u004cimit.MAX; } }"),
    ("main/c/Rest.java", "package c; class Rest { java.util.List<String> l; }"),
    ("main/c/More.java", "package c; class More { }"),
    ("main/c/Most.java", "package c; class Most { }"),
    ("main/c/Last.java", "package c; class Last { String s = \"of Alone\"; }"),
    ("test/a/BaseTest.java", "package a; public class BaseTest { long f() { return new Base().one(); } }"),
    (
        "test/b/UserTest.java",
        "package b; public class UserTest { long f() { return new User().get().one(); } }",
    ),
    ("test/b/AloneTest.java", "package b; public class AloneTest { int f() { return new Alone().f(); } }"),
    ("test/b/Abstract.java", "package b; abstract class Abstract { int limit() { return a.Limit.MAX; } }"),
    ("test/b/LimitTest.java", "package b; class LimitTest extends Abstract { int f() { return limit(); } }"),
    ("test/c/OneTest.java", "package c; class OneTest { int f() { return new Rest().l.size(); } }"),
    ("test/c/TwoTest.java", "package c; class TwoTest { }"),
    ("test/c/ThreeTest.java", "package c; class ThreeTest { }"),
    ("test/c/FourTest.java", "package c; class FourTest { }"),
    ("test/c/FiveTest.java", "package c; class FiveTest { }"),
];

/// A file, and what stands in it then; nothing when it goes.
type Edit = (&'static str, Option<&'static str>);

/// What is done, the edits, and which files javac is called for, call by call.
type Row = (&'static str, &'static [Edit], &'static [&'static [&'static str]]);

const EDITS: &[Row] = &[
    (
        "a body",
        &[("main/a/Base.java", Some("package a; public class Base { public int one() { return 1 + 0; } }"))],
        &[&["Base"]],
    ),
    (
        "a new class and its test",
        &[
            (
                "main/c/New.java",
                Some("package c; public class New { public int x() { return a.Limit.MAX; } }"),
            ),
            ("test/c/NewTest.java", Some("package c; class NewTest { int f() { return new New().x(); } }")),
        ],
        &[&["New"], &["NewTest"]],
    ),
    (
        "a constant, through a static import, an escape and a test's superclass",
        &[("main/a/Limit.java", Some("package a; public class Limit { public static final int MAX = 4; }"))],
        &[&["Limit"], &["Limit", "Stars", "Escaped"], &["Abstract", "LimitTest"]],
    ),
    (
        "a better method, seen by way of a class that only returns the type",
        &[(
            "main/a/Child.java",
            Some(
                "package a; public class Child extends Base { public Long two(long x) { return x; } public long one(int... x) { return 2; } }",
            ),
        )],
        &[&["Child"], &["Child", "User", "Far"], &["UserTest"]],
    ),
    (
        "a test alone",
        &[(
            "test/b/AloneTest.java",
            Some(
                "package b; public class AloneTest { int f() { return new Alone().f(); } int g() { return 1; } }",
            ),
        )],
        &[&["AloneTest"]],
    ),
    ("a class that goes", &[("main/c/More.java", None)], &[]),
    (
        "a class beside another goes with what is in it",
        &[("main/b/Two.java", Some("package b; class Two { int x; }"))],
        &[&["Two"]],
    ),
    (
        "a class that hides one of another package",
        &[
            (
                "main/b/Base.java",
                Some("package b; public class Base extends a.Base { public int one() { return 5; } }"),
            ),
            (
                "main/b/User.java",
                Some("package b; import a.*; public class User { public Base get() { return new Base(); } }"),
            ),
        ],
        &[&["Base", "User"], &["Child", "Base", "User", "Far"], &["BaseTest", "UserTest"]],
    ),
    (
        "words in a comment count",
        &[("main/b/Alone.java", Some("package b; class Alone { int f() { return 7; } int g; }"))],
        &[&["Alone"], &["Alone", "Last"], &["AloneTest"]],
    ),
    (
        "a test's class that hides one of production code, which another test uses unnamed",
        &[("test/a/Base.java", Some("package a; public class Base { public long one() { return 1; } }"))],
        &[&["Base"], &["Base", "BaseTest", "UserTest"]],
    ),
    (
        "what most files see is compiled whole",
        &[
            (
                "main/c/Rest.java",
                Some(
                    "package c; class Rest { java.util.List<String> l; a.Base Limit, Far, Two, Child, More, Most, Alone; }",
                ),
            ),
            ("main/c/More.java", Some("package c; class More { int Base, Rest, Limit; }")),
            (
                "main/a/Base.java",
                Some("package a; public class Base { public int one() { return 1; } Object Last; }"),
            ),
            (
                "main/a/Limit.java",
                Some("package a; public class Limit { public static final int MAX = 3; public Base Alone; }"),
            ),
        ],
        &[],
    ),
];

/// Runs the real compiler, and remembers which classes it was called for.
#[derive(Default)]
struct Compiler {
    calls: Mutex<Vec<BTreeSet<String>>>,
}

struct Done(ProcessEnd);

impl Running for Done {
    fn id(&self) -> ProcessId {
        ProcessId { pid: 0, started: 0 }
    }

    fn wait(self: Box<Self>) -> io::Result<Ended> {
        Ok(Ended { end: self.0, leftover_processes: 0, millis: 0 })
    }
}

impl Spawn for Compiler {
    #[expect(clippy::disallowed_methods, reason = "a test double of the owner of processes")]
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>> {
        let file = spec.argv.iter().find_map(|word| word.strip_prefix('@')).unwrap();
        let words = fs_err::read_to_string(file)?;
        let sources = words.lines().filter_map(|word| word.trim_matches('"').strip_suffix(".java"));
        let names = sources.map(|path| path.rsplit('/').next().unwrap().to_owned()).collect();
        self.calls.lock().unwrap().push(names);
        let done = std::process::Command::new(&spec.argv[0]).args(&spec.argv[1..]).output()?;
        let printed = [done.stdout, done.stderr].concat();
        if !done.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&printed));
        }
        fs_err::write(&spec.stdout, printed)?;
        Ok(Box::new(Done(ProcessEnd::Exited { code: done.status.code().unwrap() })))
    }
}

/// A module's folders.
struct Module {
    home: tempfile::TempDir,
    arguments: [Call; 2],
}

impl Module {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path).display().to_string();
        let call = |classes: &str, path: String| {
            let words = ["-d", &at(classes), "-classpath", &path, "-sourcepath", "", "-g"].map(str::to_owned);
            Call { arguments: words.to_vec(), chosen: None, processed: false }
        };
        // The last folder is for those that want to bring something along.
        let main = call("out/classes", format!("{}:{}", at("out/classes"), at("library")));
        let tests = call(
            "out/test-classes",
            format!("{}:{}:{}", at("out/test-classes"), at("out/classes"), at("library")),
        );
        let module = Self { arguments: [main, tests], home };
        for (file, text) in MODULE {
            module.edit(&[(file, Some(text))]);
        }
        module
    }

    fn edit(&self, edits: &[Edit]) {
        for (file, text) in edits {
            let path = self.home.path().join(file);
            match text {
                Some(text) => {
                    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                    fs_err::write(path, text).unwrap();
                }
                None => fs_err::remove_file(path).unwrap(),
            }
        }
    }

    /// Says something to the compiler of this module; and which classes it was called for.
    fn with<T>(&self, ask: impl FnOnce(&Javac<'_>) -> T) -> (T, Vec<BTreeSet<String>>) {
        let compiler = Compiler::default();
        let hands = Hands { spawn: &compiler, progress: &|_| (), trees: &NoTrees, pace: &Foreground };
        let logs = self.home.path().join("logs");
        let calls = Calls::new(&hands, &[], logs, "tag", Duration::from_secs(600));
        let paths =
            ["main", "test", "out/classes", "out/test-classes"].map(|path| self.home.path().join(path));
        let none: [Resource; 0] = [];
        let [main, tests] = [0, 1].map(|side| Side {
            call: &self.arguments[side],
            sources: &paths[side],
            classes: &paths[side + 2],
            resources: &none,
        });
        let home = self.home.path().to_owned();
        let javac = Javac {
            calls: &calls,
            program: "javac".into(),
            home,
            main,
            tests: Some(tests),
            test_classes: &paths[3],
        };
        let answer = ask(&javac);
        drop(javac);
        (answer, compiler.calls.into_inner().unwrap())
    }

    fn compile_whole(&self) {
        for folder in ["out/classes", "out/test-classes"] {
            let _ = fs_err::remove_dir_all(self.home.path().join(folder));
            fs_err::create_dir_all(self.home.path().join(folder)).unwrap();
        }
        let (done, _) = self.with(|javac| {
            let sides = [Some(&javac.main), javac.tests.as_ref()];
            sides.into_iter().flatten().all(|side| matches!(javac.compile_whole(side), Ok(Some(_))))
        });
        assert!(done, "the module of this test compiles");
    }

    fn classes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let out = self.home.path().join("out");
        let all = files(&out).unwrap();
        all.into_iter().map(|file| (file.clone(), fs_err::read(out.join(file)).unwrap())).collect()
    }

    /// Puts the classes of the module as it is at first in their place.
    fn has_classes(&self) {
        static FIRST: OnceLock<BTreeMap<PathBuf, Vec<u8>>> = OnceLock::new();
        let first = FIRST.get_or_init(|| {
            let module = Self::new();
            module.compile_whole();
            module.classes()
        });
        for (file, bytes) in first {
            let path = self.home.path().join("out").join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, bytes).unwrap();
        }
    }

    /// Makes the edits and compiles what they call for; what came of it, and for which classes the compiler was
    /// called, call by call.
    fn remade(&self, edits: &[Edit]) -> (Option<bool>, Vec<BTreeSet<String>>) {
        self.edit(edits);
        let below = |side: &str| -> BTreeSet<PathBuf> {
            edits.iter().filter_map(|(file, _)| file.strip_prefix(side)).map(PathBuf::from).collect()
        };
        let stale = Stale { main: below("main/"), tests: below("test/"), infos: false };
        self.with(|javac| javac.remake(&stale).ok())
    }

    /// Compares what [`Module::remade`] leaves with everything compiled; which classes were compiled.
    fn is_made_again(&self, edits: &[Edit]) -> Vec<BTreeSet<String>> {
        let (made, calls) = self.remade(edits);
        assert_eq!(made, Some(true), "{edits:?}");
        let part = self.classes();
        self.compile_whole();
        let whole = self.classes();
        assert_eq!(part.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "{edits:?}");
        assert!(part == whole, "the same bytes: {edits:?}");
        calls
    }

    /// The module with its classes, of these sources more.
    fn with_more(more: &[Edit]) -> Self {
        let module = Self::new();
        module.edit(more);
        module.compile_whole();
        module
    }

    /// A library that the module is compiled with, made of these sources; some of its class files are taken
    /// away again.
    #[expect(clippy::disallowed_methods, reason = "the test makes a library with the real javac")]
    fn library(&self, sources: &[(&str, &str)], not_in_it: &[&str]) {
        let library = self.home.path().join("library");
        let mut javac = std::process::Command::new("javac");
        javac.args(["-proc:none", "-d"]).arg(&library);
        for (file, text) in sources {
            let path = self.home.path().join("library-sources").join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, text).unwrap();
            javac.arg(path);
        }
        assert!(javac.status().unwrap().success());
        for file in not_in_it {
            fs_err::remove_file(library.join(file)).unwrap();
        }
    }
}

fn sizes(calls: &[BTreeSet<String>]) -> Vec<usize> {
    calls.iter().map(BTreeSet::len).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test looks for the real javac")]
fn has_javac() -> bool {
    let found = std::process::Command::new("javac").arg("-version").output().is_ok();
    if !found {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "skipped: javac not on the PATH");
        eprintln!("skipped: javac not on the PATH");
    }
    found
}

#[test]
fn a_part_comes_out_as_of_the_whole_and_no_more_is_compiled_than_sees_the_change() {
    if !has_javac() {
        return;
    }
    for (what, edits, expected) in EDITS {
        let module = Module::new();
        module.has_classes();
        let calls = module.is_made_again(edits);
        if *what == "what most files see is compiled whole" {
            assert_eq!(calls.last().unwrap().len(), 10, "{what}: {calls:?}");
            continue;
        }
        let expected: Vec<BTreeSet<String>> =
            expected.iter().map(|call| call.iter().map(|name| (*name).to_owned()).collect()).collect();
        assert_eq!(calls, expected, "{what}");
    }
}

/// A processor that is for nothing, and looks at every file.
const PROCESSOR: &str = "package p; import javax.annotation.processing.*; import javax.lang.model.element.*;
    @SupportedAnnotationTypes(\"*\") public class Looks extends AbstractProcessor {
    public boolean process(java.util.Set<? extends TypeElement> a, RoundEnvironment r) { return false; } }";

/// A plugin that starts without being asked for.
const PLUGIN: &str = "package p; public class Starts implements com.sun.source.util.Plugin {
    public String getName() { return \"Starts\"; } public boolean autoStart() { return true; }
    public void init(com.sun.source.util.JavacTask task, String... arguments) { } }";

#[test]
fn where_others_take_part_in_compiling_the_side_is_compiled_whole() {
    if !has_javac() {
        return;
    }
    let mut module = Module::new();
    module.has_classes();
    module.library(&[("p/Looks.java", PROCESSOR), ("p/Starts.java", PLUGIN)], &[]);
    let services = module.home.path().join("library/META-INF/services");
    fs_err::create_dir_all(&services).unwrap();
    fs_err::write(services.join("javax.annotation.processing.Processor"), "p.Looks\n").unwrap();
    assert_eq!(sizes(&module.is_made_again(EDITS[0].1)), [1, 13]);
    let (proven, _) = module.with(|javac| javac.proves().ok());
    assert_eq!(proven, Some(Some(Processed { main: true, tests: true })));
    // Where the proof saw it, no part is tried.
    module.arguments[0].processed = true;
    let (file, text) = MODULE[0];
    assert_eq!(sizes(&module.is_made_again(&[(file, Some(text))])), [13]);

    fs_err::remove_file(services.join("javax.annotation.processing.Processor")).unwrap();
    let (proven, _) = module.with(|javac| javac.proves().ok());
    assert_eq!(proven, Some(Some(Processed::default())));
    fs_err::write(services.join("com.sun.source.util.Plugin"), "p.Starts\n").unwrap();
    let (proven, _) = module.with(|javac| javac.proves().ok());
    assert_eq!(proven, Some(Some(Processed { main: true, tests: true })), "a plugin may start by itself");
}

#[test]
fn a_class_that_tells_no_source_or_comes_of_another_one_is_not_made_alone() {
    if !has_javac() {
        return;
    }
    // `javac -g:none` names no source.
    let mut module = Module::new();
    for call in &mut module.arguments {
        *call.arguments.last_mut().unwrap() = "-g:none".to_owned();
    }
    module.compile_whole();
    let (made, calls) = module.remade(EDITS[0].1);
    assert_eq!((made, sizes(&calls)), (Some(true), vec![13]), "{calls:?}");

    // A source may stand elsewhere than its package says.
    let astray = ("main/b/Astray.java", Some("package c; class Astray { int x; }"));
    let module = Module::new();
    module.has_classes();
    assert_eq!(sizes(&module.is_made_again(&[astray])), [1, 14, 10]);
    // So that its classes seem to be those of another one.
    let hidden = ("main/b/Rest.java", Some("package c; class Astray { int x; }"));
    for gone in [None, Some("// nothing")] {
        let module = Module::with_more(&[hidden]);
        let calls = module.is_made_again(&[(hidden.0, gone)]);
        assert_eq!(calls.last().unwrap().len(), 10, "{calls:?}");
        assert!(!module.classes().contains_key(Path::new("classes/c/Astray.class")));
    }
}

#[test]
fn what_only_the_whole_side_shows_is_not_overlooked() {
    if !has_javac() {
        return;
    }
    for (what, more, edits) in [
        (
            "the last class of a package goes, which a file imports",
            &[
                ("main/d/Only.java", Some("package d; class Only { }")),
                ("main/b/Imports.java", Some("package b; import d.*; class Imports { }")),
            ][..],
            &[("main/d/Only.java", None)][..],
        ),
        (
            "the same in a test",
            &[
                ("main/d/Only.java", Some("package d; class Only { }")),
                ("test/b/Imports.java", Some("package b; import d.*; class Imports { }")),
            ],
            &[("main/d/Only.java", None)],
        ),
        (
            "a nested class by the name of its file",
            &[("main/b/Out.java", Some("package b; class Out { static class In { } }"))],
            &[(
                "main/b/Alone.java",
                Some("package b; class Alone { int f() { return new Out$In().hashCode(); } }"),
            )],
        ),
        (
            "a class for the second time",
            &[],
            &[(
                "main/b/Twice.java",
                Some("package b; class Twice { } class Alone { int f() { return 1; } }"),
            )],
        ),
        (
            "a class for the second time, its name with a character that counts for nothing",
            &[("main/b/Odd.java", Some("package b; class Odd { } class Bes\u{200b}ides { }"))],
            &[("main/b/Besides.java", Some("package b; class Besides { }"))],
        ),
    ] {
        let module = Module::with_more(more);
        assert_eq!(module.remade(edits).0, Some(false), "{what}");
    }
}

#[test]
fn chains_of_mentions_are_followed_through_libraries_and_odd_characters() {
    if !has_javac() {
        return;
    }
    let thing =
        |kind: &str| format!("package m; public class Thing {{ public {kind} value() {{ return 1; }} }}");
    let module = Module::new();
    let maker = "package lib; public class Maker { public static m.Thing make() { return new m.Thing(); } }";
    module.library(&[("m/Thing.java", &thing("int")), ("lib/Maker.java", maker)], &["m/Thing.class"]);
    let (before, after) = (thing("int").leak(), thing("long").leak());
    module.edit(&[
        ("main/m/Thing.java", Some(before)),
        (
            "main/b/ByMaker.java",
            Some("package b; class ByMaker { long f() { return lib.Maker.make().value(); } }"),
        ),
        (
            "test/b/ByMakerTest.java",
            Some("package b; class ByMakerTest { long f() { return lib.Maker.make().value(); } }"),
        ),
    ]);
    module.compile_whole();
    let calls = module.is_made_again(&[("main/m/Thing.java", Some(after))]);
    assert_eq!(sizes(&calls), [1, 2, 1], "{calls:?}");

    let odd = ("main/b/Odd.java", Some("package b; class Odd { int f() { return a.Li\u{200b}mit.MAX; } }"));
    let module = Module::with_more(&[odd]);
    let limit =
        ("main/a/Limit.java", Some("package a; public class Limit { public static final int MAX = 4; }"));
    let calls = module.is_made_again(&[limit]);
    assert!(calls[1].contains("Odd"), "{calls:?}");
}

#[test]
fn a_source_that_the_build_leaves_out_is_not_found_for_a_part() {
    if !has_javac() {
        return;
    }
    let mut module = Module::new();
    module.has_classes();
    let compiled: Vec<&str> = MODULE.iter().filter_map(|(file, _)| file.strip_prefix("main/")).collect();
    let chosen = serde_json::json!({ "compiled": compiled, "left_out": ["c/LeftOut.java"] });
    module.arguments[0].chosen = Some(serde_json::from_value(chosen).unwrap());
    module.edit(&[("main/c/LeftOut.java", Some("not even Java"))]);
    assert_eq!(sizes(&module.is_made_again(EDITS[0].1)), [1]);
    let spells =
        [("main/b/Alone.java", Some("package b; class Alone { int f() { return 8; } /* LeftOut */ }"))];
    assert_eq!(sizes(&module.is_made_again(&spells)), [13]);
}

#[test]
fn a_class_that_moves_to_another_file_is_seen() {
    if !has_javac() {
        return;
    }
    let mut module = Module::new();
    module.has_classes();
    module.arguments[0].processed = true;
    let moved = [
        ("main/b/Two.java", Some("package b; class Two { }")),
        ("main/b/Beside.java", Some("package b; class Beside { class In { } }")),
    ];
    assert_eq!(sizes(&module.is_made_again(&moved)), [14, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn any_edits_together_come_out_as_of_the_whole(rows in proptest::sample::subsequence((0..EDITS.len()).collect::<Vec<_>>(), 1..4)) {
        if has_javac() {
            let mut edits: BTreeMap<&str, Option<&'static str>> = BTreeMap::new();
            for row in rows {
                edits.extend(EDITS[row].1.iter().copied());
            }
            let edits: Vec<Edit> = edits.into_iter().collect();
            let module = Module::new();
            module.has_classes();
            module.is_made_again(&edits);
        }
    }
}
