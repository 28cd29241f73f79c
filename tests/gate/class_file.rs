//! What counts as a class's interface, told by the real javac's class files.

use crate::support::needs::tests;
use proptest::prelude::*;
use ralph::gate::class_file::{bodies, interface, origin};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

/// What is done, and the sources before and after; the package is added.
type Row = (&'static str, &'static str, &'static str);

/// What other classes cannot see.
const UNSEEN: &[Row] = &[
    ("another body", "class A { int f() { return 1; } }", "class A { int f() { int x = 3; return x * x; } }"),
    (
        "a comment that moves",
        "class A { int f() { return 1; } }",
        "/* this\n is */ class A { int f() {\n return 1; } }",
    ),
    (
        "another string in a body, another constant pool",
        "class A { String f() { return \"x\"; } static final String S = \"s\"; void g() {} long h = 5L; }",
        "class A { String f() { return \"\" + h + S.trim() + \"y\"; } static final String S = \"s\"; void g() { f(); } long h = 5L; }",
    ),
    (
        "a lambda in a body",
        "class A { Runnable f() { return null; } int g; }",
        "class A { Runnable f() { int x = g; return () -> g = x; } int g; }",
    ),
    (
        "a private synthetic accessor",
        "class A { class I { String s() { return null; } } }",
        "class A { class I { String s() { return A.super.toString(); } } }",
    ),
    (
        "a synthetic field",
        "class A { class I { int f() { return 1; } static int x = 0; } static int y; static { y = 1; } }",
        "class A { class I { int f() { return 1; } static int x = 0; } static int y; static { y = 1; assert y > 0; } }",
    ),
    (
        "another class's nested class in a body",
        "class A { Object f(Object o) { return o; } }",
        "class A { Object f(Object o) { return o instanceof java.util.Map.Entry<?, ?> e ? e.getKey() : null; } }",
    ),
    (
        "members used in another order",
        "class A { class B {} class C {} Object f() { return new B(); } Object g() { return new C(); } }",
        "class A { class B {} class C {} Object f() { return new C(); } Object g() { return new B(); } }",
    ),
    (
        "an annotation that stays in the source",
        "class A { int f() { return 1; } }",
        "class A {\n@SuppressWarnings(\"x\") int f() { return 1; } }",
    ),
    (
        "an annotated local variable",
        "class A { int f() { return 1; } } @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface T {}",
        "class A { int f() { @T int x = 2; return x; } } @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface T {}",
    ),
    (
        "another value of what is no constant",
        "class A { final int x = f(); static int f() { return 1; } int y = 1; }",
        "class A { final int x = 1 + f(); static int f() { return 1; } int y = 2; }",
    ),
    (
        "a bridge's body",
        "class A implements Comparable<A> { public int compareTo(A a) { return 1; } }",
        "class A implements Comparable<A> { public int compareTo(A a) { return hashCode(); } }",
    ),
    (
        "the body of a record's constructor",
        "record A(@Deprecated int x, java.util.List<String> y) { A {} }",
        "record A(@Deprecated int x, java.util.List<String> y) { A { if (x < 0) throw new IllegalArgumentException(); } }",
    ),
];

/// What other classes can see.
const SEEN: &[Row] = &[
    ("a method more", "class A { void f() {} }", "class A { void f() {} void g() {} }"),
    ("a method less", "class A { void f() {} void g() {} }", "class A { void f() {} }"),
    ("a method's name", "class A { void f() {} }", "class A { void g() {} }"),
    ("a private method", "class A { void f() {} }", "class A { void f() {} private void g() {} }"),
    ("the order of methods", "class A { void f() {} void g() {} }", "class A { void g() {} void f() {} }"),
    ("a parameter's type", "class A { void f(int x) {} }", "class A { void f(long x) {} }"),
    ("a parameter's name", "class A { void f(int x) {} }", "class A { void f(int y) {} }"),
    ("a parameter's modifier", "class A { void f(int x) {} }", "class A { void f(final int x) {} }"),
    ("a result's type", "class A { Object f() { return null; } }", "class A { String f() { return null; } }"),
    ("throws", "class A { void f() {} }", "class A { void f() throws Exception {} }"),
    ("other throws", "class A { void f() throws Error {} }", "class A { void f() throws Exception {} }"),
    ("variable arity", "class A { void f(int[] x) {} }", "class A { void f(int... x) {} }"),
    (
        "a bridge",
        "class A { public int compareTo(A a) { return 1; } }",
        "class A implements Comparable<A> { public int compareTo(A a) { return 1; } }",
    ),
    ("an int constant", "class A { static final int X = 1; }", "class A { static final int X = 2; }"),
    ("a long constant", "class A { static final long X = 1; }", "class A { static final long X = 2; }"),
    (
        "a float constant",
        "class A { static final float X = 0.0f; }",
        "class A { static final float X = -0.0f; }",
    ),
    (
        "a double constant",
        "class A { static final double X = 0.0; }",
        "class A { static final double X = -0.0; }",
    ),
    (
        "a string constant",
        "class A { static final String X = \"\\ud800\"; }",
        "class A { static final String X = \"\\ud801\"; }",
    ),
    (
        "a constant no longer",
        "class A { static final int X = 1; }",
        "class A { static final int X; static { X = 1; } }",
    ),
    ("a signature", "class A { java.util.List<String> f; }", "class A { java.util.List<Integer> f; }"),
    (
        "a method's signature",
        "class A { void f(java.util.List<String> x) {} }",
        "class A { void f(java.util.List<Integer> x) {} }",
    ),
    ("a type parameter's bound", "class A<T> {}", "class A<T extends Object & Runnable> {}"),
    ("a method's modifier", "class A { void f() {} }", "class A { public void f() {} }"),
    ("a field's modifier", "class A { int f; }", "class A { volatile int f; }"),
    ("a class's modifier", "class A {}", "final class A {}"),
    ("a member class's modifier", "class A { class B {} }", "class A { protected static class B {} }"),
    ("a member class more", "class A { class B {} }", "class A { class B {} class C {} }"),
    ("a private field", "class A { }", "class A { private int f; }"),
    ("a field's type", "class A { int f; }", "class A { long f; }"),
    ("the order of fields", "class A { int f; int g; }", "class A { int g; int f; }"),
    ("a superclass", "class A {}", "class A extends Thread {}"),
    ("an interface", "class A {}", "class A implements Cloneable {}"),
    (
        "the order of interfaces",
        "abstract class A implements Runnable, Cloneable {}",
        "abstract class A implements Cloneable, Runnable {}",
    ),
    ("a record's component", "record A(int x) {}", "record A(int x, int y) {}"),
    ("a component's annotation", "record A(int x) {}", "record A(@Deprecated int x) {}"),
    (
        "permits",
        "sealed class A permits B, C {} final class B extends A {} final class C extends A {}",
        "sealed class A permits C, B {} final class B extends A {} final class C extends A {}",
    ),
    (
        "no longer sealed",
        "sealed class A permits B {} final class B extends A {}",
        "class A {} final class B extends A {}",
    ),
    ("an enum's constant", "enum A { X }", "enum A { X, Y }"),
    ("the order of an enum's constants", "enum A { X, Y }", "enum A { Y, X }"),
    ("an annotation", "class A { void f() {} }", "class A { @Deprecated void f() {} }"),
    (
        "an annotation's value",
        "@Deprecated(since = \"1\") class A {}",
        "@Deprecated(since = \"2\") class A {}",
    ),
    (
        "an annotation in the class file alone",
        "@C(1) class A {} @interface C { int value(); }",
        "@C(2) class A {} @interface C { int value(); }",
    ),
    (
        "a class as a value",
        "@C(int.class) class A {} @interface C { Class<?> value(); }",
        "@C(A.class) class A {} @interface C { Class<?> value(); }",
    ),
    (
        "an array as a value",
        "@C({1, 2}) class A {} @interface C { long[] value(); }",
        "@C({2, 1}) class A {} @interface C { long[] value(); }",
    ),
    (
        "an enum's constant as a value",
        "@C(E.X) class A {} @interface C { E value(); } enum E { X, Y }",
        "@C(E.Y) class A {} @interface C { E value(); } enum E { X, Y }",
    ),
    (
        "an annotation as a value",
        "@C(@D('x')) class A {} @interface C { D[] value(); } @interface D { char value(); }",
        "@C(@D('y')) class A {} @interface C { D[] value(); } @interface D { char value(); }",
    ),
    (
        "a parameter's annotation",
        "class A { void f(int x, int y) {} }",
        "class A { void f(int x, @Deprecated int y) {} }",
    ),
    (
        "the place of a type's annotation",
        "class A<K extends @T Object, L> extends @T Thread { @T String f; <M> int @T [] g(java.util.Map<@T String, String> x) throws @T Exception { return null; } } @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface T {}",
        "class A<K extends @T Object, L> extends @T Thread { @T String f; <M> int @T [] g(java.util.Map<String, @T String> x) throws @T Exception { return null; } } @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface T {}",
    ),
    (
        "an annotation's default",
        "@interface A { String[] value() default {\"x\"}; }",
        "@interface A { String[] value() default {\"y\"}; }",
    ),
    ("no default", "@interface A { byte value() default 1; }", "@interface A { byte value(); }"),
    (
        "deprecated by a comment",
        "class A { void f() {} }",
        "class A { /** @deprecated never */ void f() {} }",
    ),
    (
        "the method that encloses a class",
        "class A { void f() { class L {} } void g() {} }",
        "class A { void f() {} void g() { class L {} } }",
    ),
];

/// Class files by their paths.
type Classes = BTreeMap<String, Vec<u8>>;

/// The classes before and after, of all rows and of [`CODE`] (`c0` and so on), for all tests of this process.
fn compiled() -> &'static (Classes, Classes) {
    static COMPILED: OnceLock<(Classes, Classes)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let sources = |pick: &dyn Fn(&Row) -> &'static str| -> Vec<(String, String)> {
            let rows = UNSEEN.iter().chain(SEEN).enumerate();
            let rows = rows.map(|(number, row)| (format!("p{number}"), pick(row).to_owned()));
            let bodies = CODE.iter().enumerate().map(|(number, (was, is, _))| {
                (format!("c{number}"), format!("class A {{ {} }}", pick(&("", was, is))))
            });
            rows.chain(bodies).collect()
        };
        let mut before = sources(&|row| row.1);
        before.push(("kotlin".to_owned(), "public @interface Metadata {}".to_owned()));
        before.push(("k".to_owned(), "@kotlin.Metadata class K {}".to_owned()));
        (javac(&before), javac(&sources(&|row| row.2)))
    })
}

/// What javac makes of the sources of some packages.
#[expect(clippy::disallowed_methods, reason = "the test compares with the real javac")]
fn javac(sources: &[(String, String)]) -> Classes {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    let mut command = std::process::Command::new("javac");
    command
        .args(["--release", "17", "-g", "-parameters", "-proc:none", "-encoding", "UTF-8", "-d"])
        .arg(&out);
    for (package, text) in sources {
        // A public class lies in a file of its name.
        let file = home.path().join(package).join("Metadata.java");
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, format!("package {package}; {text}\n")).unwrap();
        command.arg(file);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut classes = Classes::new();
    collect(&out, &out, &mut classes);
    classes
}

fn collect(root: &Path, folder: &Path, classes: &mut Classes) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, classes);
        } else {
            let inside = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            classes.insert(inside, fs_err::read(&path).unwrap());
        }
    }
}

/// The classes of one package.
fn of(classes: &Classes, package: &str) -> Classes {
    let inside = |path: &&String| path.starts_with(&format!("{package}/"));
    classes.keys().filter(inside).map(|path| (path.clone(), classes[path].clone())).collect()
}

fn interfaces(classes: &Classes) -> BTreeMap<&str, String> {
    classes
        .iter()
        .map(|(path, bytes)| {
            (path.as_str(), interface(bytes).unwrap_or_else(|| panic!("{path} is not read")))
        })
        .collect()
}

fn what_javac_makes_of_a_change_is_another_interface_where_other_classes_can_see_it() {
    let (before, after) = compiled();
    let mut wrong = String::new();
    for (number, (what, ..)) in UNSEEN.iter().chain(SEEN).enumerate() {
        let package = format!("p{number}");
        let (before, after) = (of(before, &package), of(after, &package));
        assert!(!before.is_empty() && before != after, "{what}: nothing changed in the class files");
        let same = interfaces(&before) == interfaces(&after);
        if same != (number < UNSEEN.len()) {
            writeln!(wrong, "{what}: {}", if same { "not seen" } else { "seen" }).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn every_class_has_an_interface_of_its_own() {
    let (before, _) = compiled();
    let mut before = before.clone();
    before.retain(|path, _| !path.starts_with("k/"));
    let all = interfaces(&before);
    let digests: std::collections::BTreeSet<&String> = all.values().collect();
    assert_eq!(digests.len(), all.len());
}

fn what_is_cut_off_or_goes_on_cannot_be_told() {
    let (before, _) = compiled();
    for (path, bytes) in before {
        for end in 0..bytes.len() {
            assert_eq!(interface(&bytes[..end]), None, "{path} up to {end}");
        }
        let more = [bytes, &[0][..]].concat();
        assert_eq!(interface(&more), None, "{path} and more");
    }
}

fn the_name_of_the_source_counts() {
    let (before, _) = compiled();
    for (path, bytes) in before.iter().filter(|(path, _)| !path.starts_with("k/")) {
        assert_ne!(interface(&with(bytes, "Metadata.java", "Elsewhere.jav")), interface(bytes), "{path}");
    }
}

/// The bytes with another text in place of each one of its length.
fn with(bytes: &[u8], text: &str, other: &str) -> Vec<u8> {
    assert_eq!(text.len(), other.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(text.as_bytes())).collect();
    assert!(!places.is_empty(), "{text}");
    for at in places {
        bytes[at..at + text.len()].copy_from_slice(other.as_bytes());
    }
    bytes
}

fn an_attribute_that_is_not_known_and_a_class_that_kotlin_made_cannot_be_told() {
    let (before, _) = compiled();
    let place = |what: &str| UNSEEN.iter().chain(SEEN).position(|row| row.0 == what).unwrap();
    let bytes = &before[&format!("p{}/A.class", place("the body of a record's constructor"))];
    assert!(interface(bytes).is_some());
    for (known, unknown) in [("Signature", "Signaturf"), ("SourceFile", "SourceFild"), ("Record", "Recorf")] {
        assert_eq!(interface(&with(bytes, known, unknown)), None, "{unknown}");
    }
    assert_eq!(interface(&with(bytes, "Code", "Cope")), None);
    assert_eq!(interface(&before["k/K.class"]), None);
    assert!(interface(&before["kotlin/Metadata.class"]).is_some());
}

fn a_class_file_says_of_which_class_and_source_it_is() {
    let (before, _) = compiled();
    for (path, bytes) in before {
        let of = origin(bytes).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(format!("{}.class", of.class), *path);
        assert!(of.source.is_some_and(|source| source.split_once('.').is_some_and(|(_, end)| end == "java")));
    }
}

/// Code before and after, and the methods of `A` whose code is another one.
const CODE: &[(&str, &str, &str)] = &[
    (
        "int f() { return 1; } static final String S = \"s\".trim(); static int g(String s) { return 7; }",
        "int f() { return S.length() + \"more\".hashCode(); } static final String S = \"s\".trim(); static int g(String s) { return 7; }",
        "f()I",
    ),
    ("static long x = 5L << 40; void f() {}", "static long x = 6L << 40; void f() {}", "<clinit>()V"),
    (
        "static Runnable r = () -> {}; static java.util.function.Supplier<String> s = \"a\"::trim; void f() {}",
        "static Runnable r = () -> {}; static java.util.function.Supplier<String> s = \"a\"::toString; void f() {}",
        "<clinit>()V",
    ),
    (
        "static Runnable r = () -> {}; String f() { return \"\"; }",
        "static Runnable r = () -> {}; String f() { return \"a\" + hashCode() + r; }",
        "f()Ljava/lang/String;",
    ),
    (
        "static String s = 1 + \"a\" + hash(); static int hash() { return 1; }",
        "static String s = 1 + \"b\" + hash(); static int hash() { return 1; }",
        "<clinit>()V",
    ),
    (
        "int f(int x) { switch (x) { case 1: return 1; case 2: return 4; case 3: return 9; default: return 0; } } int g(String s) { switch (s) { case \"a\": return 1; case \"bb\": return 2; default: return x(3); } } int x(int n) { int i = n; for (;;) { i += 1000; if (i > 70000) { return i; } } }",
        "int f(int x) { switch (x) { case 1: return 1; case 2: return 4; case 3: return 9; default: return 0; } } int g(String s) { switch (s) { case \"a\": return 1; case \"cc\": return 2; default: return x(3); } } int x(int n) { int i = n; for (;;) { i += 1001; if (i > 70000) { return i; } } }",
        "g(Ljava/lang/String;)I x(I)I",
    ),
    (
        "int[][] f() { return new int[2][3]; } Object g(Object o) { return (String) o; }",
        "int[][] f() { return new int[2][3]; } Object g(Object o) { return (Long) o; }",
        "g(Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    ("// moved\nint f() { return 1; }", "\n\nint f() { return 1; }", ""),
];

fn which_methods_have_other_code_is_told_wherever_their_constants_stand() {
    let (before, after) = compiled();
    for (number, (was, _, differing)) in CODE.iter().enumerate() {
        let of = |classes: &Classes| bodies(&classes[&format!("c{number}/A.class")]).unwrap();
        let (before, after) = (of(before), of(after));
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{was}");
        let found: Vec<&str> = before
            .iter()
            .filter(|(method, body)| after[*method] != **body)
            .map(|(method, _)| method.as_str())
            .collect();
        assert_eq!(found.join(" "), *differing, "{was}");
        assert!(before.len() > 1 || differing.is_empty(), "{was}");
    }
    for (path, bytes) in before {
        assert!(bodies(bytes).is_some(), "{path}");
        assert!((0..bytes.len()).all(|end| bodies(&bytes[..end]).is_none()), "{path}");
    }
}

/// A class `A` without a superclass or members, whose pool is `constants` and whose one attribute has the name
/// of index `name`.
fn bare(constants: &[&[u8]], this: u8, name: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61];
    bytes.extend(u16::try_from(constants.len() + 1).unwrap().to_be_bytes());
    bytes.extend(constants.concat());
    bytes.extend([0, 0x20, 0, this, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, name]);
    bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(content);
    bytes
}

fn the_order_of_the_constant_pool_changes_nothing_and_wrong_indexes_cannot_be_told() {
    let name: &[u8] = b"\x01\0\x01A";
    let signature: &[u8] = b"\x01\0\x09Signature";
    let one = bare(&[name, signature, &[7, 0, 1]], 3, 2, &[0, 1]);
    let other = bare(&[&[7, 0, 3], signature, name], 1, 2, &[0, 3]);
    assert!(interface(&one).is_some());
    assert_eq!(interface(&one), interface(&other));
    for wrong in [
        bare(&[name, signature, &[7, 0, 9]], 3, 2, &[0, 1]),
        bare(&[name, signature, &[7, 0, 3]], 3, 2, &[0, 1]),
        bare(&[name, signature, &[7, 0, 1]], 1, 2, &[0, 1]),
        bare(&[name, signature, &[7, 0, 1]], 0, 2, &[0, 1]),
        bare(&[name, signature, &[7, 0, 1]], 3, 0, &[0, 1]),
        bare(&[name, signature, &[7, 0, 1]], 3, 2, &[0, 0]),
        bare(&[name, signature, &[7, 0, 1]], 3, 2, &[0, 3]),
        bare(&[name, signature, &[7, 0, 1]], 3, 2, &[0, 1, 0]),
        bare(&[name, signature, &[7, 0, 1]], 3, 2, &[0]),
    ] {
        assert_eq!(interface(&wrong), None, "{wrong:?}");
    }
    let attribute = |text: &[u8]| interface(&bare(&[name, text, &[7, 0, 1]], 3, 2, &[]));
    assert!(attribute(b"\x01\0\x14SourceDebugExtension").is_some(), "nothing of it is read");
    assert_eq!(attribute(b"\x01\0\x04Code"), None, "a class has no code");
}

fn values_nest_a_few_levels_and_no_text_is_repeated_without_end() {
    let nested = |depth: usize| {
        let content = [b"[\0\x01".repeat(depth), b"s\0\x01".to_vec()].concat();
        bare(&[b"\x01\0\x01A", &[7, 0, 1], b"\x01\0\x11AnnotationDefault"], 2, 3, &content)
    };
    assert!(interface(&nested(31)).is_some());
    assert_eq!(interface(&nested(32)), None);
    assert_eq!(interface(&nested(1_000_000)), None);
    let long = [&[1, 0xFF, 0xFF][..], &b"x".repeat(65_535)].concat();
    let many = |count: u16| {
        let content = [&count.to_be_bytes()[..], &[0, 4].repeat(usize::from(count))].concat();
        let pool: [&[u8]; 5] = [b"\x01\0\x01A", &[7, 0, 1], b"\x01\0\x0bNestMembers", &[7, 0, 5], &long];
        bare(&pool, 2, 3, &content)
    };
    assert!(interface(&many(1_000)).is_some());
    assert_eq!(interface(&many(1_100)), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (interface(&bytes), origin(&bytes), bodies(&bytes));
        let whole = [&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61], &bytes[..]].concat();
        let _ = (interface(&whole), origin(&whole), bodies(&whole));
    }

    fn a_class_file_with_other_bytes_is_read_without_a_panic(
        which in any::<prop::sample::Index>(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let classes: Vec<&Vec<u8>> = compiled().0.values().collect();
        let mut bytes = (*which.get(&classes)).clone();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = (interface(&bytes), origin(&bytes), bodies(&bytes));
    }
}

tests! {
    maven deep: [
        what_javac_makes_of_a_change_is_another_interface_where_other_classes_can_see_it,
        every_class_has_an_interface_of_its_own,
        what_is_cut_off_or_goes_on_cannot_be_told,
        the_name_of_the_source_counts,
        an_attribute_that_is_not_known_and_a_class_that_kotlin_made_cannot_be_told,
        a_class_file_says_of_which_class_and_source_it_is,
        a_class_file_with_other_bytes_is_read_without_a_panic,
        which_methods_have_other_code_is_told_wherever_their_constants_stand,
    ]
    nothing: [
        the_order_of_the_constant_pool_changes_nothing_and_wrong_indexes_cannot_be_told,
        values_nest_a_few_levels_and_no_text_is_repeated_without_end,
        any_bytes_are_read_without_a_panic,
    ]
}
