//! The source file that a class file was made of (Java Virtual Machine Specification §4.7.10).
//!
//! Owns: the way to the one attribute that names it.
//!
//! Promises: total over any bytes; an answer only where the whole file could be walked, and from one attribute
//! of the class itself.
//!
//! Refuses to know: where sources lie. The name is text of the class file: nobody may open it.

use super::{ClassFile, Cursor};

/// The name of the source file, without a folder; `None` where the class file tells none.
pub(super) fn source_file(bytes: &[u8]) -> Option<&str> {
    let ClassFile { pool, rest: mut from, .. } = ClassFile::open(bytes)?;
    // Access flags, the class, its superclass.
    from.take(6)?;
    let interfaces = usize::from(from.u16()?);
    from.take(2 * interfaces)?;
    for _fields_then_methods in 0..2 {
        for _ in 0..from.u16()? {
            from.take(2)?;
            from.skip_member()?;
        }
    }
    let mut source = None;
    for _ in 0..from.u16()? {
        let name = pool.utf8(from.u16()?)?;
        let length = usize::try_from(from.u32()?).ok()?;
        let mut content = Cursor { bytes: from.take(length)? };
        if name == b"SourceFile" {
            let told = pool.utf8(content.u16()?)?;
            if !content.bytes.is_empty() || source.replace(told).is_some() {
                return None;
            }
        }
    }
    std::str::from_utf8(source?).ok().filter(|_| from.bytes.is_empty())
}
