//! Java class files (Java Virtual Machine Specification, chapter 4).
//!
//! Total over any bytes, without a panic; other bytes are not taken for a class file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The origin that a class file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The class's internal name (`a/b/Foo$Bar`).
    pub(crate) class: String,
    /// The bare name of the source file (`SourceFile`, §4.7.10); `None` if the compiler was told to leave it out.
    pub(crate) source: Option<String>,
    /// The Java that it is for (its major version, §4.1: 61 is 17).
    pub(crate) java: u32,
}

/// Reads the origin of a class; `None` if the bytes are no class file as far as that is read.
pub(crate) fn read_origin(bytes: &[u8]) -> Option<Origin> {
    let ClassFile {
        version,
        pool,
        mut rest,
    } = ClassFile::read_header(bytes)?;
    let java = u32::from(version[3]).saturating_sub(44);
    rest.take_bytes(2)?;
    let class = decode_name(pool.class_name(rest.take_u16()?)?);
    rest.take_bytes(2)?;
    let interfaces = rest.take_u16()?;
    rest.take_bytes(2 * usize::from(interfaces))?;
    rest.skip_members()?;
    rest.skip_members()?;
    let mut source = None;
    for _ in 0..rest.take_u16()? {
        let (name, mut content) = rest.take_attribute()?;
        if pool.utf8_text(name)? == b"SourceFile" {
            source = Some(decode_name(pool.utf8_text(content.take_u16()?)?));
        }
    }
    Some(Origin {
        class,
        source,
        java,
    })
}

/// The source that a class file names, in the same folder; `None` if it names none.
pub(crate) fn source_of(file: &Path, bytes: &[u8]) -> Option<PathBuf> {
    Some(file.with_file_name(read_origin(bytes)?.source?))
}

fn decode_name(bytes: &[u8]) -> String {
    // The JVM's own UTF-8 differs for characters that no class name in use holds.
    String::from_utf8_lossy(bytes).into_owned()
}

/// True for a class of which there is no instance (`ACC_ABSTRACT`, §4.1), interfaces too.
pub(crate) fn is_abstract(bytes: &[u8]) -> bool {
    ClassFile::read_header(bytes)
        .and_then(|mut file| file.rest.take_u16())
        .is_some_and(|flags| flags & 0x0400 != 0)
}

/// A class file up to its constant pool.
struct ClassFile<'a> {
    /// Minor and major version, as four bytes.
    version: &'a [u8],
    pool: Pool<'a>,
    /// All that follows the pool.
    rest: ByteCursor<'a>,
}

impl<'a> ClassFile<'a> {
    /// `None` when the bytes do not begin with the magic number, versions and a whole pool (§4.1).
    fn read_header(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = ByteCursor { bytes };
        if rest.take_u32()? != 0xCAFE_BABE {
            return None;
        }
        let version = rest.take_bytes(4)?;
        let pool = Pool::read_pool(&mut rest)?;
        Some(Self {
            version,
            pool,
            rest,
        })
    }
}

/// The constant pool (§4.4).
struct Pool<'a> {
    /// The tag of each entry and its bytes, without the length of a text; `None` at index 0 and after a number of eight
    /// bytes. An index in them is not checked before it is followed.
    constants: Vec<Option<(u8, &'a [u8])>>,
}

impl<'a> Pool<'a> {
    /// Reads `constant_pool_count` and the entries.
    fn read_pool(from: &mut ByteCursor<'a>) -> Option<Self> {
        let count = usize::from(from.take_u16()?);
        let mut constants = vec![None];
        while constants.len() < count {
            let tag = from.take_u8()?;
            let length = match tag {
                1 => from.take_u16()?,
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => 8,
                _ => return None,
            };
            constants.push(Some((tag, from.take_bytes(usize::from(length))?)));
            if matches!(tag, 5 | 6) {
                constants.push(None);
            }
        }
        Some(Self { constants })
    }

    fn pool_entry(&self, index: u16) -> Option<(u8, &'a [u8])> {
        *self.constants.get(usize::from(index))?
    }

    /// The bytes of a text in the JVM's own UTF-8; `None` when the index leads to anything else.
    fn utf8_text(&self, index: u16) -> Option<&'a [u8]> {
        self.pool_entry(index)
            .filter(|(tag, _)| *tag == 1)
            .map(|(_, text)| text)
    }

    /// A class's internal name, or an array's descriptor.
    fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        let (_, bytes) = self.pool_entry(index).filter(|(tag, _)| *tag == 7)?;
        self.utf8_text(ByteCursor { bytes }.take_u16()?)
    }
}

/// Bytes that are read from the front, big-endian.
struct ByteCursor<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteCursor<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn take_array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    fn take_u8(&mut self) -> Option<u8> {
        self.take_array().map(u8::from_be_bytes)
    }

    fn take_u16(&mut self) -> Option<u16> {
        self.take_array().map(u16::from_be_bytes)
    }

    fn take_u32(&mut self) -> Option<u32> {
        self.take_array().map(u32::from_be_bytes)
    }

    /// The index of an attribute's name, and what it holds (§4.7).
    fn take_attribute(&mut self) -> Option<(u16, Self)> {
        let name = self.take_u16()?;
        let length = usize::try_from(self.take_u32()?).ok()?;
        let bytes = self.take_bytes(length)?;
        Some((name, Self { bytes }))
    }

    /// Skips all fields, or all methods (§4.5, §4.6).
    fn skip_members(&mut self) -> Option<()> {
        for _ in 0..self.take_u16()? {
            self.take_bytes(6)?;
            for _ in 0..self.take_u16()? {
                self.take_attribute()?;
            }
        }
        Some(())
    }
}

/// Internal names (`a/b/Foo$Bar`) of the classes that the pool names: as class references, or within a
/// descriptor or signature. Every class that the file could refer to by name is among them, others may be. Empty for what is
/// no class file.
pub(crate) fn named_classes(bytes: &[u8]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Some(ClassFile { pool, .. }) = ClassFile::read_header(bytes) else {
        return names;
    };
    for (tag, bytes) in pool.constants.iter().flatten() {
        match tag {
            // The JVM's own UTF-8 differs for characters that no class name in use holds.
            1 => in_descriptors(&String::from_utf8_lossy(bytes), &mut names),
            7 => {
                let name = ByteCursor { bytes }
                    .take_u16()
                    .and_then(|index| pool.utf8_text(index));
                let name = name.map(String::from_utf8_lossy);
                names.extend(name.map(|name| name.trim_start_matches('[').to_owned()));
            }
            _ => {}
        }
    }
    names
}

/// Every `Lname;` or `Lname<`, wherever it may begin.
fn in_descriptors(text: &str, names: &mut BTreeSet<String>) {
    for (at, _) in text.match_indices('L') {
        let rest = &text[at + 1..];
        if let Some(end) = rest.find([';', '<']).filter(|end| (1..500).contains(end)) {
            names.insert(rest[..end].to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::named_classes;
    use proptest::prelude::*;

    /// A class file's head with these constants.
    fn class(constants: &[&[u8]], wide: u16) -> Vec<u8> {
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 55];
        let count = u16::try_from(constants.len()).unwrap() + 1 + wide;
        bytes.extend(count.to_be_bytes());
        for constant in constants {
            bytes.extend_from_slice(constant);
        }
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
