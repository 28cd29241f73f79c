//! Which sources of a set must be compiled if some changed: these, and all that name a class of one that must.
//!
//! Java code can depend on a class of the set only by naming it, or a class whose own source does (Java Language
//! Specification, chapter 6; inherited members and the types of expressions come by classes that are named). Every word
//! of a source counts as a name, in comments too. There is no answer where a class file does not tell its source, where a
//! name is not ASCII, or where more than half of the set would be compiled.

use super::source_set::{SourceSet, files, is_class};
use crate::gate::java::class_file;
use crate::gate::java::classes::read;
use crate::source::unescaped;
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
    pub(super) fn by(
        set: &SourceSet<'_>,
        changed: &BTreeSet<PathBuf>,
        mut names: Names,
    ) -> Option<Self> {
        if !set.can_be_compiled_in_part() {
            return None;
        }
        let sources = set.files_to_compile()?;
        let mut made: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for file in files(set.classes)
            .ok()?
            .into_iter()
            .filter(|file| is_class(file))
        {
            let source = source_of(&file, &read(&set.classes.join(&file)).ok()?)?;
            made.entry(source).or_default().push(file);
        }
        // What a removed source was compiled to must be known, as must be where each class file comes from.
        let is_told =
            |source: &PathBuf| made.contains_key(source) || set.sources.join(source).is_file();
        if !made
            .keys()
            .all(|source| sources.contains(source) || changed.contains(source))
            || !changed.iter().all(is_told)
        {
            return None;
        }
        let text = |source: &PathBuf| {
            Some((
                source.clone(),
                spelled(&read(&set.sources.join(source)).ok()?),
            ))
        };
        let texts: BTreeMap<PathBuf, String> = sources.iter().map(text).collect::<Option<_>>()?;
        let (mut new, mut reached) = (changed.clone(), BTreeSet::new());
        loop {
            let classes = new
                .iter()
                .flat_map(|source| made.get(source).into_iter().flatten().chain([source]));
            names.extend(classes.map(|file| top_level(file)));
            reached.append(&mut new);
            let others = texts
                .iter()
                .filter(|(source, text)| !reached.contains(*source) && is_named(text, &names));
            new.extend(others.map(|(source, _)| source.clone()));
            if new.is_empty() {
                break;
            }
        }
        let classes = reached
            .iter()
            .filter_map(|source| made.remove(source))
            .flatten()
            .collect();
        let reached = Self {
            sources: &reached & &sources,
            classes,
            names,
        };
        let is_info = |source: &PathBuf| source.ends_with("package-info.java");
        let is_known = reached.names.iter().all(|name| name.is_ascii())
            && !reached.sources.iter().any(is_info);
        (is_known && 2 * reached.sources.len() <= sources.len()).then_some(reached)
    }

    /// True for a class file that could be expected of these sources.
    pub(super) fn explains(&self, file: &Path, bytes: &[u8]) -> bool {
        let is_of =
            |source| self.sources.contains(&source) && self.names.contains(&top_level(file));
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

/// A source as the compiler reads its names: Unicode escapes are what they stand for, and characters that an identifier may hold
/// without being another one (§3.8) are left out, with all others that are neither ASCII nor letters or digits, and all such escapes.
fn spelled(text: &[u8]) -> String {
    let mut spelled = String::from_utf8_lossy(&unescaped(text, b"")).into_owned();
    let is_kept = |c: char| {
        if c.is_ascii() {
            !c.is_control() || c.is_whitespace()
        } else {
            c.is_alphanumeric()
        }
    };
    spelled.retain(is_kept);
    spelled
}

/// True if a word of the text is one of the names.
fn is_named(text: &str, names: &Names) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_the_source_as_the_compiler_spells_it() {
        let names = Names::from(["Foo".to_owned()]);
        for (text, named) in [
            (&b"new Foo();"[..], true),
            (b"import static a.Foo.*;", true),
            (b"// Foo", true),
            (b"Foo$Bar x;", true),
            (b"a.Foo.Bar x;", true),
            (b"FooTest f; xFoo(); Foo_ y;", false),
            ("Foo\u{e9} z;".as_bytes(), false),
            (br"new \u0046oo();", true),
            (br"new F\uuu006fo();", true),
            (br"new\u0020Foo\u0028);", true),
            (br#"String dash = "\u2013\u00e9\u000a";"#, false),
            (br"\u", false),
            (br"\u00", false),
            // Ignorable: a control character, a soft hyphen (in UTF-8, in Latin 1, escaped), a tag outside of the first plane.
            (b"new F\x01oo();", true),
            ("new F\u{ad}oo();".as_bytes(), true),
            (b"new F\xadoo();", true),
            (br"new F\u00adoo();", true),
            (br"new F\udb40\udc01oo();", true),
        ] {
            assert_eq!(
                is_named(&spelled(text), &names),
                named,
                "{}",
                text.escape_ascii()
            );
        }
    }
}
