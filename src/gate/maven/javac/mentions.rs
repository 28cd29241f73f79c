//! Which source files could see that a class changed: told by the words in them.
//!
//! Owns: the words of a Java source, and the chains of mentions between files.
//!
//! Promises: a file that a compiler could read differently because of a class is among the answers. Source code
//! gets at a class by its name or by way of another class (Java Language Specification §6.5, §6.5.5: a type is
//! found from identifiers), so a chain of files that spell names leads from it to the class; that holds for
//! constants, static imports and imports on demand too, and for a class that is new. Others may be among the
//! answers: words in comments and strings count like any other.
//!
//! Refuses to know: class files, folders, compilers.

use crate::source::unescaped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Source files, with the names that each declares and spells.
pub(super) struct Mentions {
    /// Names of top-level classes; of one that holds a `$` each beginning that could be one.
    pub(super) declared: BTreeMap<PathBuf, BTreeSet<String>>,
    /// See [`spelled`].
    pub(super) spelled: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Mentions {
    /// The files from which a chain of mentions leads to one of these names.
    pub(super) fn leading_to(&self, names: &BTreeSet<String>) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = names.clone();
        while !open.is_empty() {
            let sees = |(_, spelled): &(&PathBuf, &BTreeSet<String>)| !spelled.is_disjoint(&open);
            let next: Vec<&PathBuf> = self.spelled.iter().filter(sees).map(|(file, _)| file).collect();
            let new: Vec<&PathBuf> = next.into_iter().filter(|file| found.insert((*file).clone())).collect();
            open = self.names_of(new);
        }
        found
    }

    /// The names that these files declare.
    pub(super) fn names_of<'a>(&self, files: impl IntoIterator<Item = &'a PathBuf>) -> BTreeSet<String> {
        files.into_iter().filter_map(|file| self.declared.get(file)).flatten().cloned().collect()
    }
}

/// Those of the `known` names (ASCII) that a Java source spells: words of letters, digits, `_` and `$`, Unicode
/// escapes read (§3.3). ASCII letters have to be bytes of their own.
pub(super) fn spelled(text: &[u8], known: &BTreeSet<String>) -> BTreeSet<String> {
    // What an escape stands for is dropped with its like, where it is not ASCII.
    let plain = unescaped(text, 0x80);
    // javac drops characters that can be ignored in a name (§3.8), all of them control characters or not ASCII.
    let dropped: Vec<u8> = plain.iter().copied().filter(|byte| !is_ignored(*byte)).collect();
    let mut found = BTreeSet::new();
    for text in [&*plain, &dropped] {
        let words = text.split(|byte| !is_part(*byte)).filter_map(|word| std::str::from_utf8(word).ok());
        found.extend(words.filter_map(|word| known.get(word)).cloned());
    }
    found
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

fn is_ignored(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::{Mentions, spelled};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_are_whole_words_wherever_they_stand() {
        let known = names(&["Foo", "A$B", "Bar"]);
        for (text, found) in [
            ("import a.Foo;", &["Foo"][..]),
            ("import static a.Foo.*;", &["Foo"]),
            ("x=Foo<Bar>(1)", &["Foo", "Bar"]),
            ("FooBar Foo1 _Foo foo", &[]),
            ("new A$B()", &["A$B"]),
            ("/* of Foo */ \"Bar\"", &["Foo", "Bar"]),
            (r"\u0046oo", &["Foo"]),
            (r"F\uuu006Fo x", &["Foo"]),
            (r"x\u0020Foo", &["Foo"]),
            (r"x\u00e9Foo", &["Foo"]),
            (r"\u00zzFoo", &[]),
            ("F\u{200b}oo", &["Foo"]),
            ("F\u{ad}o\u{7f}o", &["Foo"]),
            (r"F\u200bo\u0001o", &["Foo"]),
            ("F\0oo \"\0\" Bar", &["Foo", "Bar"]),
            ("Foo\u{e9}Bar", &["Foo", "Bar"]),
            (r"'\u", &[]),
            ("é Foo", &["Foo"]),
        ] {
            assert_eq!(spelled(text.as_bytes(), &known), names(found), "{text}");
        }
    }

    #[test]
    fn chains_are_followed_through_files_that_did_not_change() {
        let files = |all: &[(&str, &[&str])]| -> BTreeMap<PathBuf, BTreeSet<String>> {
            all.iter().map(|(file, words)| (PathBuf::from(file), names(words))).collect()
        };
        let mentions = Mentions {
            declared: files(&[
                ("A", &["A"]),
                ("B", &["B", "Beside"]),
                ("C", &["C"]),
                ("D", &["D"]),
                ("E", &["E"]),
            ]),
            spelled: files(&[
                ("A", &["A"]),
                ("B", &["B", "Beside", "A"]),
                ("C", &["C", "Beside"]),
                ("D", &["D", "C", "E"]),
                ("E", &["E", "D"]),
                ("F", &["E"]),
                ("G", &[]),
            ]),
        };
        let found = |of: &[&str]| -> Vec<String> {
            mentions.leading_to(&names(of)).iter().map(|file| file.display().to_string()).collect()
        };
        assert_eq!(found(&["A"]), ["A", "B", "C", "D", "E", "F"]);
        assert_eq!(found(&["D"]), ["D", "E", "F"]);
        assert!(found(&["New"]).is_empty() && found(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_name_between_any_other_characters_is_found(
            before in "[^A-Za-z0-9_$]{0,8}", after in "([^A-Za-z0-9_$].{0,8})?", name in "[A-Z][a-z0-9_$]{0,6}",
        ) {
            // Escapes could take letters of the name, or give it more.
            prop_assume!(!before.ends_with('\\') && !before.contains("\\u") && !after.contains("\\u"));
            let text = format!("{before}{name}{after}");
            prop_assert_eq!(spelled(text.as_bytes(), &names(&[name.as_str()])), names(&[name.as_str()]));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            spelled(&text, &names(&["A"]));
        }
    }
}
