//! The sources of a set that must be compiled if some changed: these, and all that name a class of one that must.
//!
//! Java code can depend on a class of the set only by naming it, or a class whose own source does (Java Language
//! Specification, chapter 6; inherited members and the types of expressions come by classes that are named). Every word
//! of a source counts as a name, in comments too. All sources are compiled where a name is not ASCII, or where more than the
//! compiler takes part in compiling. There is no answer where a class file does not name its source.

use super::source_set::{SourceSet, is_package_info};
use crate::gate::java::class_file::source_of;
use crate::gate::java::classes::{counted_files, is_class, read_file};
use crate::source::unescaped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Simple names of top-level classes, each up to its first dollar sign.
pub(super) type ClassNames = BTreeSet<String>;

/// The sources and classes that a change of some sources reaches.
pub(super) struct ReachedSources {
    /// The sources to compile, by their path below the folder of sources.
    pub(super) sources: BTreeSet<PathBuf>,
    /// The class files that these and removed ones were compiled to, by their path below the folder of classes.
    pub(super) classes: Vec<PathBuf>,
    /// The classes of these sources; `None` if all sources are reached.
    pub(super) names: Option<ClassNames>,
}

impl ReachedSources {
    /// Follows the change of these sources, and that of classes of these names in another set (`None`: of all); `None` if what
    /// it reaches is unknown.
    pub(super) fn reached_by(
        set: &SourceSet<'_>,
        changed: &BTreeSet<PathBuf>,
        names: Option<ClassNames>,
    ) -> Option<Self> {
        let sources = set.files_to_compile()?;
        let mut made = sources_by_class(set.classes)?;
        // A removed source must have been compiled and must not have been the last of its package (javac accepts an import of
        // the empty folder that Maven refuses), each class file must come from a source of the set, and Maven alone makes
        // the class of a package.
        if changed.iter().any(|source| {
            source.ends_with("package-info.java")
                || !(sources.contains(source)
                    || made.contains_key(source)
                        && sources
                            .iter()
                            .any(|other| other.parent() == source.parent()))
        }) || !made
            .keys()
            .all(|source| sources.contains(source) || changed.contains(source))
        {
            return None;
        }
        let mut reached = changed.clone();
        let names = names
            .filter(|_| set.can_be_compiled_in_part())
            .and_then(|names| follow_names(set, &sources, &made, &mut reached, names));
        if names.is_none() {
            reached.extend(sources.iter().cloned());
        }
        let classes = reached.iter().filter_map(|source| made.remove(source));
        Some(Self {
            classes: classes
                .flatten()
                .filter(|file| !is_package_info(file))
                .collect(),
            sources: &reached & &sources,
            names,
        })
    }

    /// True for a class file that could be expected of these sources.
    pub(super) fn explains_class(&self, file: &Path, bytes: &[u8]) -> bool {
        is_class(file)
            && source_of(file, bytes).is_some_and(|source| self.sources.contains(&source))
            && self
                .names
                .as_ref()
                .is_none_or(|names| names.contains(&top_level(file)))
    }
}

/// Adds the sources that name one of `names`, or a class of a source that is `reached`, and returns all these names; `None` where
/// names decide nothing.
fn follow_names(
    set: &SourceSet<'_>,
    sources: &BTreeSet<PathBuf>,
    made: &BTreeMap<PathBuf, Vec<PathBuf>>,
    reached: &mut BTreeSet<PathBuf>,
    mut names: ClassNames,
) -> Option<ClassNames> {
    let mut texts: BTreeMap<&PathBuf, String> = BTreeMap::new();
    for source in sources {
        let text = read_file(&set.sources.join(source)).ok()?;
        texts.insert(source, decode_spelling(&text));
    }
    loop {
        for source in reached.iter() {
            let classes = made.get(source).into_iter().flatten().chain([source]);
            names.extend(classes.map(|file| top_level(file)));
            texts.remove(source);
        }
        let named = texts.iter().filter(|(_, text)| is_named(text, &names));
        let named: Vec<PathBuf> = named.map(|(source, _)| (*source).clone()).collect();
        if named.is_empty() {
            return names.iter().all(|name| name.is_ascii()).then_some(names);
        }
        reached.extend(named);
    }
}

/// The class files in a folder by the source that each names, both by their path in their folder; `None` if one names none.
fn sources_by_class(classes: &Path) -> Option<BTreeMap<PathBuf, Vec<PathBuf>>> {
    let mut made: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in counted_files(classes, &is_class).ok()? {
        let source = source_of(&file, &read_file(&classes.join(&file)).ok()?)?;
        made.entry(source).or_default().push(file);
    }
    Some(made)
}

fn top_level(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.split('$').next().unwrap_or_default().to_owned()
}

/// A source as the compiler reads its names: Unicode escapes are decoded. Characters that an identifier ignores (§3.8) are left out,
/// with all others that are neither ASCII nor letters or digits, and all such escapes.
fn decode_spelling(text: &[u8]) -> String {
    let mut spelled = String::from_utf8_lossy(&unescaped(text, b"")).into_owned();
    spelled.retain(|c: char| {
        if c.is_ascii() {
            !c.is_control() || c.is_whitespace()
        } else {
            c.is_alphanumeric()
        }
    });
    spelled
}

/// True if a word of the text is one of the names.
fn is_named(text: &str, names: &ClassNames) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_the_source_as_the_compiler_spells_it() {
        let names = ClassNames::from(["Foo".to_owned()]);
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
                is_named(&decode_spelling(text), &names),
                named,
                "{}",
                text.escape_ascii()
            );
        }
    }
}
