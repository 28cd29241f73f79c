//! The names in a class file's constant pool (Java Virtual Machine Specification §4.4).
//!
//! Total over any bytes; every class that the file could refer to by name is among the answers,
//! others may be.

use super::{ClassFile, Cursor};
use std::collections::BTreeSet;

/// Internal names (`a/b/Foo$Bar`) of the classes that the pool names: as class references, or within a
/// descriptor or signature. Empty for what is no class file.
pub(crate) fn names(bytes: &[u8]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Some(ClassFile { pool, .. }) = ClassFile::open(bytes) else { return names };
    for (tag, bytes) in pool.constants.iter().flatten() {
        match tag {
            // The JVM's own UTF-8 differs for characters that no class name in use holds.
            1 => in_descriptors(&String::from_utf8_lossy(bytes), &mut names),
            7 => {
                let name = Cursor { bytes }.u16().and_then(|index| pool.utf8(index));
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

    #[test]
    fn a_wide_number_at_the_last_index_of_the_largest_pool_is_no_overflow() {
        let four: &[u8] = &[3, 0, 0, 0, 0];
        let mut constants = vec![four; 65_533];
        constants.push(&[5, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert!(names(&class(&constants, 0)).is_empty());
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
