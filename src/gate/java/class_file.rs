//! Java class files (Java Virtual Machine Specification, chapter 4).
//!
//! Total over any bytes, without a panic; other bytes are not taken for a class file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The tag of a text in the constant pool (§4.4.7).
const UTF8: u8 = 1;
/// The tag of a class reference (§4.4.1).
const CLASS: u8 = 7;

/// A class file, as far as the gate reads it.
pub(crate) struct ClassFile<'a> {
    /// The Java that it is for (its major version, §4.1: 61 is 17).
    pub(crate) java: u32,
    /// There is no instance of it (`ACC_ABSTRACT`, §4.1); true for an interface too.
    is_abstract: bool,
    /// The class's internal name (`a/b/Foo$Bar`).
    pub(crate) class: String,
    /// The bare name of the source file (`SourceFile`, §4.7.10); `None` if the compiler left it out.
    pub(crate) source: Option<String>,
    pool: Pool<'a>,
}

impl<'a> ClassFile<'a> {
    /// Reads a whole file; `None` for other bytes.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"\xCA\xFE\xBA\xBE")?;
        let _minor = take_u16(&mut rest)?;
        let java = u32::from(take_u16(&mut rest)?).saturating_sub(44);
        let pool = Pool::take_pool(&mut rest)?;
        let is_abstract = take_u16(&mut rest)? & 0x0400 != 0;
        let class = take_u16(&mut pool.constant(CLASS, take_u16(&mut rest)?)?)?;
        let class = decode_name(pool.constant(UTF8, class)?);
        let _superclass = take_u16(&mut rest)?;
        let interfaces = take_u16(&mut rest)?;
        rest.split_off(..2 * usize::from(interfaces))?;
        // Fields, then methods.
        skip_members(&mut rest)?;
        skip_members(&mut rest)?;
        let mut source = None;
        for (name, mut content) in take_attributes(&mut rest)? {
            if pool.constant(UTF8, name)? == b"SourceFile" {
                source = Some(decode_name(pool.constant(UTF8, take_u16(&mut content)?)?));
            }
        }
        Some(Self {
            java,
            is_abstract,
            class,
            source,
            pool,
        })
    }
}

/// The source that a class file names, in the same folder; `None` if it names none.
pub(crate) fn source_of(file: &Path, bytes: &[u8]) -> Option<PathBuf> {
    Some(file.with_file_name(ClassFile::parse(bytes)?.source?))
}

/// True for a class of which there is no instance, interfaces too.
pub(crate) fn is_abstract(bytes: &[u8]) -> bool {
    ClassFile::parse(bytes).is_some_and(|file| file.is_abstract)
}

/// Internal names (`a/b/Foo$Bar`) of the classes that the pool names: as class references, or within a
/// descriptor or signature. Every class that the file could refer to by name is among them, others may be. Empty for what is
/// no class file.
pub(crate) fn named_classes(bytes: &[u8]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Some(ClassFile { pool, .. }) = ClassFile::parse(bytes) else {
        return names;
    };
    for &(tag, mut content) in pool.constants.iter().flatten() {
        if tag == UTF8 {
            add_described_names(&decode_name(content), &mut names);
        } else if tag == CLASS
            && let Some(index) = take_u16(&mut content)
            && let Some(name) = pool.constant(UTF8, index)
        {
            names.insert(decode_name(name).trim_start_matches('[').to_owned());
        }
    }
    names
}

/// Adds every `Lname;` or `Lname<`, at any place of the text.
fn add_described_names(text: &str, names: &mut BTreeSet<String>) {
    for (at, _) in text.match_indices('L') {
        let rest = &text[at + 1..];
        if let Some(end) = rest.find([';', '<']).filter(|end| (1..500).contains(end)) {
            names.insert(rest[..end].to_owned());
        }
    }
}

fn decode_name(bytes: &[u8]) -> String {
    // The JVM's own UTF-8 differs for characters that no class name in use holds.
    String::from_utf8_lossy(bytes).into_owned()
}

/// The constant pool (§4.4).
struct Pool<'a> {
    /// The tag of each entry and its bytes, without the length of a text; `None` at index 0 and after a number of eight
    /// bytes. An index in them is not checked before it is followed.
    constants: Vec<Option<(u8, &'a [u8])>>,
}

impl<'a> Pool<'a> {
    /// Takes `constant_pool_count` and the entries.
    fn take_pool(rest: &mut &'a [u8]) -> Option<Self> {
        let count = usize::from(take_u16(rest)?);
        let mut constants = vec![None];
        while constants.len() < count {
            let tag = *rest.split_off_first()?;
            let length = match tag {
                UTF8 => take_u16(rest)?,
                CLASS | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => 8,
                _ => return None,
            };
            constants.push(Some((tag, rest.split_off(..usize::from(length))?)));
            if matches!(tag, 5 | 6) {
                constants.push(None);
            }
        }
        Some(Self { constants })
    }

    /// The bytes of a constant; `None` when the index leads to one with another tag, or nowhere.
    fn constant(&self, wanted: u8, index: u16) -> Option<&'a [u8]> {
        let (tag, content) = (*self.constants.get(usize::from(index))?)?;
        (tag == wanted).then_some(content)
    }
}

fn take_u16(rest: &mut &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(rest.split_off(..2)?.try_into().ok()?))
}

/// Takes the attributes of a class, field or method (§4.7): the index of each name, and what it holds.
fn take_attributes<'a>(rest: &mut &'a [u8]) -> Option<Vec<(u16, &'a [u8])>> {
    let mut attributes = Vec::new();
    for _ in 0..take_u16(rest)? {
        let name = take_u16(rest)?;
        let length = u32::from_be_bytes(rest.split_off(..4)?.try_into().ok()?);
        attributes.push((name, rest.split_off(..usize::try_from(length).ok()?)?));
    }
    Some(attributes)
}

/// Skips all fields, or all methods (§4.5, §4.6).
fn skip_members(rest: &mut &[u8]) -> Option<()> {
    for _ in 0..take_u16(rest)? {
        rest.split_off(..6)?;
        take_attributes(rest)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::named_classes;
    use proptest::prelude::*;

    /// A class with these constants, the second of which is its name.
    fn class(constants: &[&[u8]], wide: u16) -> Vec<u8> {
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 55];
        let count = u16::try_from(constants.len()).unwrap() + 1 + wide;
        bytes.extend(count.to_be_bytes());
        for constant in constants {
            bytes.extend_from_slice(constant);
        }
        bytes.extend([0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    fn utf8(text: &str) -> Vec<u8> {
        let mut bytes = vec![1];
        bytes.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn classes_arrays_descriptors_and_signatures_are_names() {
        let bytes = class(
            &[
                &utf8("a/Foo"),
                &[7, 0, 1],
                &[5, 0, 0, 0, 0, 0, 0, 0, 9],
                &utf8("[La/Bar;"),
                &[7, 0, 5],
                &utf8("(ILa/Arg;[La/List<La/Item;>;)La/Ret;"),
                &utf8("not a name"),
            ],
            1,
        );
        let found = named_classes(&bytes);
        for name in ["a/Foo", "a/Bar", "a/Arg", "a/List", "a/Item", "a/Ret"] {
            assert!(found.contains(name), "{name} of {found:?}");
        }
        assert!(!found.contains("not a name"));
        assert!(
            named_classes(&bytes[..bytes.len() - 1]).is_empty()
                && named_classes(b"PK\x03\x04").is_empty()
        );
    }

    #[test]
    fn a_wide_number_at_the_last_index_of_the_largest_pool_is_no_overflow() {
        let four: &[u8] = &[3, 0, 0, 0, 0];
        let mut constants = vec![four; 65_533];
        constants.push(&[5, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert!(named_classes(&class(&constants, 0)).is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = vec![0xCA, 0xFE, 0xBA, 0xBE];
            whole.extend(bytes);
            named_classes(&whole);
        }
    }
}
