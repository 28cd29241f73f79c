//! Which sources of a set must be compiled if some changed: these, and all that name a class of one that must.
//!
//! Java code can depend on a class of the set only by naming it, or a class whose own source does (Java Language
//! Specification, chapter 6; inherited members and the types of expressions come by classes that are named). Every word
//! of a source counts as a name, in comments too. A source that spells part of a name by a Unicode escape (§3.3) may name
//! any class. There is no answer where a class file does not tell its source, where a name is not ASCII, or where more
//! than half of the set would be compiled.

use super::source_set::{SourceSet, files, is_class};
use crate::gate::java::class_file;
use crate::gate::java::classes::read;
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Simple names of top-level classes, each up to its first dollar sign.
pub(super) type Names = BTreeSet<String>;

/// What a change of some sources reaches.
pub(super) struct Reached {
    /// The sources to compile, by their path below the folder of sources.
    pub(super) sources: BTreeSet<PathBuf>,
    /// The class files that these and removed ones were compiled to, by their path below the folder of classes.
    pub(super) classes: Vec<PathBuf>,
    /// The classes of these sources.
    pub(super) names: Names,
}

impl Reached {
    /// What the change of these sources reaches, and that of classes of these names in another set; `None` if that is not
    /// known.
    pub(super) fn by(set: &SourceSet<'_>, changed: &BTreeSet<PathBuf>, mut names: Names) -> Option<Self> {
        if !set.can_be_compiled_in_part() {
            return None;
        }
        let sources = set.files_to_compile()?;
        let mut made: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for file in files(set.classes).ok()?.into_iter().filter(|file| is_class(file)) {
            let source = source_of(&file, &read(&set.classes.join(&file)).ok()?)?;
            made.entry(source).or_default().push(file);
        }
        // What a removed source was compiled to must be known, as must be where each class file comes from.
        let is_told = |source: &PathBuf| made.contains_key(source) || set.sources.join(source).is_file();
        if !made.keys().all(|source| sources.contains(source) || changed.contains(source))
            || !changed.iter().all(is_told)
        {
            return None;
        }
        let text = |source: &PathBuf| Some((source.clone(), read(&set.sources.join(source)).ok()?));
        let texts: BTreeMap<PathBuf, Vec<u8>> = sources.iter().map(text).collect::<Option<_>>()?;
        let (mut new, mut reached) = (changed.clone(), BTreeSet::new());
        loop {
            let classes =
                new.iter().flat_map(|source| made.get(source).into_iter().flatten().chain([source]));
            names.extend(classes.map(|file| top_level(file)));
            reached.append(&mut new);
            let others =
                texts.iter().filter(|(source, text)| !reached.contains(*source) && may_name(text, &names));
            new.extend(others.map(|(source, _)| source.clone()));
            if new.is_empty() {
                break;
            }
        }
        let classes = reached.iter().filter_map(|source| made.remove(source)).flatten().collect();
        let reached = Self { sources: &reached & &sources, classes, names };
        let is_info = |source: &PathBuf| source.ends_with("package-info.java");
        let is_known =
            reached.names.iter().all(|name| name.is_ascii()) && !reached.sources.iter().any(is_info);
        (is_known && 2 * reached.sources.len() <= sources.len()).then_some(reached)
    }

    /// True for a class file that could be expected of these sources.
    pub(super) fn explains(&self, file: &Path, bytes: &[u8]) -> bool {
        let is_of = |source| self.sources.contains(&source) && self.names.contains(&top_level(file));
        is_class(file) && source_of(file, bytes).is_some_and(is_of)
    }
}

/// The source of a class file by its own word, if it lies in the folder of its package.
fn source_of(file: &Path, bytes: &[u8]) -> Option<PathBuf> {
    Some(file.parent()?.join(class_file::origin(bytes)?.source?))
}

fn top_level(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.split('$').next().unwrap_or_default().to_owned()
}

/// True if a word of the text is one of the names, or may be one.
fn may_name(text: &[u8], names: &Names) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let is_named = |word: &[u8]| str::from_utf8(word).is_ok_and(|word| names.contains(word));
    text.split(|byte| !is_of_name(byte)).any(is_named)
        || memmem::find_iter(text, br"\u").any(|at| {
            let digits: Vec<u8> =
                text[at + 2..].iter().copied().skip_while(|byte| *byte == b'u').take(3).collect();
            digits.starts_with(b"00") && matches!(digits[2..], [b'2'..=b'7'])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_the_text_or_hides_in_an_escape() {
        let names = Names::from(["Foo".to_owned()]);
        for (text, named) in [
            ("new Foo();", true),
            ("import static a.Foo.*;", true),
            ("// Foo", true),
            ("Foo$Bar x;", true),
            ("a.Foo.Bar x;", true),
            ("FooTest f; xFoo(); Foo_ y; Fooé z;", false),
            (r"new \u0046oo();", true),
            (r"new F\uuu006fo();", true),
            (r#"String dash = "\u2013\u00e9\u000a";"#, false),
            (r"\u", false),
            (r"\u00", false),
        ] {
            assert_eq!(may_name(text.as_bytes(), &names), named, "{text}");
        }
    }
}
