//! The names in a class file's constant pool (Java Virtual Machine Specification §4.4).
//!
//! Owns: that part of the format.
//!
//! Promises: total over any bytes; every class that the file could refer to by name is among the answers,
//! others may be.
//!
//! Refuses to know: code, attributes, what a reference is for.

use std::collections::BTreeSet;

/// Internal names (`a/b/Foo$Bar`) of the classes that the pool names: as class references, or within a
/// descriptor or signature. Empty for what is no class file.
pub(super) fn names(bytes: &[u8]) -> BTreeSet<String> {
    read(bytes).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let mut cursor = Cursor { bytes };
    if cursor.u32()? != 0xCAFE_BABE {
        return None;
    }
    cursor.skip(4)?;
    let count = cursor.u16()?;
    let mut texts: Vec<Option<String>> = vec![None; usize::from(count)];
    let mut classes: Vec<u16> = Vec::new();
    let mut index = 1;
    while index < count {
        match cursor.u8()? {
            1 => {
                let length = cursor.u16()?;
                let text = cursor.take(usize::from(length))?;
                // The JVM's own UTF-8 differs for characters that no class name in use holds.
                texts[usize::from(index)] = Some(String::from_utf8_lossy(text).into_owned());
            }
            7 => classes.push(cursor.u16()?),
            8 | 16 | 19 | 20 => cursor.skip(2)?,
            15 => cursor.skip(3)?,
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => cursor.skip(4)?,
            5 | 6 => {
                cursor.skip(8)?;
                index += 1;
            }
            _ => return None,
        }
        index += 1;
    }
    let mut names = BTreeSet::new();
    for class in classes {
        if let Some(Some(text)) = texts.get(usize::from(class)) {
            names.insert(text.trim_start_matches('[').to_owned());
        }
    }
    for text in texts.iter().flatten() {
        in_descriptors(text, &mut names);
    }
    Some(names)
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

struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(drop)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

#[cfg(test)]
mod tests {
    use super::names;
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
        let found = names(&bytes);
        for name in ["a/Foo", "a/Bar", "a/Arg", "a/List", "a/Item", "a/Ret"] {
            assert!(found.contains(name), "{name} of {found:?}");
        }
        assert!(!found.contains("not a name"));
        assert!(names(&bytes[..bytes.len() - 1]).is_empty() && names(b"PK\x03\x04").is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = vec![0xCA, 0xFE, 0xBA, 0xBE];
            whole.extend(bytes);
            names(&whole);
        }
    }
}
