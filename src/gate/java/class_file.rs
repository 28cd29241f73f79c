//! Java class files (Java Virtual Machine Specification, chapter 4).
//!
//! Total over any bytes, without a panic; other bytes are not taken for a class file.

mod annotations;
mod interface;
mod names;

pub(crate) use names::names;

use crate::task;

/// The digest (SHA-256, 64 hex digits) of what a Java compiler that compiles other classes against this class
/// can see of it: everything in the class file (JVMS §4.1 to §4.7) but code, what only code and debuggers need,
/// and synthetic members. What exactly is left out, `class_file/interface.rs` says.
///
/// Where the digests are equal, other classes compile against the one file as against the other. Every index
/// into the constant pool stands for its value, so the order of the pool changes nothing.
///
/// `None` if it is unknown, and the class is to be treated as changed: not a class file, a truncated one,
/// bytes after its end, an index that leads to the wrong kind of constant, an attribute that is not known (its
/// indexes could not be followed; so module descriptors too), values nested too deep, a class that Kotlin made.
pub fn interface(bytes: &[u8]) -> Option<String> {
    interface::encoded(bytes).map(|encoded| task::digest(&encoded))
}

/// What a class file says of where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The class's internal name (`a/b/Foo$Bar`).
    pub class: String,
    /// The bare name of the source file (`SourceFile`, §4.7.10); `None` if the compiler was told to leave it out.
    pub source: Option<String>,
}

/// Where a class comes from by its own word; `None` if the bytes are no class file as far as that is read.
pub fn origin(bytes: &[u8]) -> Option<Origin> {
    let ClassFile { pool, mut rest, .. } = ClassFile::open(bytes)?;
    // The JVM's own UTF-8 differs for characters that no class name in use holds.
    let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    rest.take(2)?;
    let class = text(pool.class(rest.u16()?)?);
    rest.take(2)?;
    let interfaces = rest.u16()?;
    rest.take(2 * usize::from(interfaces))?;
    // Fields, then methods.
    for _ in 0..2 {
        for _ in 0..rest.u16()? {
            rest.take(2)?;
            rest.skip_member()?;
        }
    }
    let mut source = None;
    for _ in 0..rest.u16()? {
        let (name, mut content) = rest.attribute()?;
        if pool.utf8(name)? == b"SourceFile" {
            source = Some(text(pool.utf8(content.u16()?)?));
        }
    }
    Some(Origin { class, source })
}

/// A class file up to its constant pool.
struct ClassFile<'a> {
    /// Minor and major version, as four bytes.
    version: &'a [u8],
    pool: Pool<'a>,
    /// All that follows the pool.
    rest: Cursor<'a>,
}

impl<'a> ClassFile<'a> {
    /// `None` when the bytes do not begin with the magic number, versions and a whole pool (§4.1).
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Cursor { bytes };
        if rest.u32()? != 0xCAFE_BABE {
            return None;
        }
        let version = rest.take(4)?;
        let pool = Pool::read(&mut rest)?;
        Some(Self { version, pool, rest })
    }
}

/// An entry of the constant pool (§4.4); an index is not checked before it is followed.
enum Constant<'a> {
    /// Index 0, and the index after a number of eight bytes.
    Unusable,
    /// Bytes in the JVM's own UTF-8.
    Utf8(&'a [u8]),
    /// An integer (tag 3), float (4), long (5) or double (6): the tag and its bits.
    Number(u8, &'a [u8]),
    /// The index of its name.
    Class(u16),
    /// The index of its text.
    String(u16),
    /// The indexes of a name and a descriptor.
    NameAndType(u16, u16),
    /// What only code and module descriptors refer to.
    Other,
}

/// The constant pool.
struct Pool<'a> {
    constants: Vec<Constant<'a>>,
}

impl<'a> Pool<'a> {
    /// Reads `constant_pool_count` and the entries.
    fn read(from: &mut Cursor<'a>) -> Option<Self> {
        let count = usize::from(from.u16()?);
        let mut constants = vec![Constant::Unusable];
        while constants.len() < count {
            let tag = from.u8()?;
            constants.push(match tag {
                1 => {
                    let length = from.u16()?;
                    Constant::Utf8(from.take(usize::from(length))?)
                }
                3 | 4 => Constant::Number(tag, from.take(4)?),
                5 | 6 => Constant::Number(tag, from.take(8)?),
                7 => Constant::Class(from.u16()?),
                8 => Constant::String(from.u16()?),
                12 => Constant::NameAndType(from.u16()?, from.u16()?),
                15 => from.take(3).map(|_| Constant::Other)?,
                16 | 19 | 20 => from.take(2).map(|_| Constant::Other)?,
                9..=11 | 17 | 18 => from.take(4).map(|_| Constant::Other)?,
                _ => return None,
            });
            if matches!(tag, 5 | 6) {
                constants.push(Constant::Unusable);
            }
        }
        Some(Self { constants })
    }

    fn at(&self, index: u16) -> Option<&Constant<'a>> {
        self.constants.get(usize::from(index))
    }

    /// The bytes of a text; `None` when the index leads to anything else.
    fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        match *self.at(index)? {
            Constant::Utf8(text) => Some(text),
            _ => None,
        }
    }

    /// The internal name of a class, or an array's descriptor; `None` when the index leads to anything else.
    fn class(&self, index: u16) -> Option<&'a [u8]> {
        match *self.at(index)? {
            Constant::Class(name) => self.utf8(name),
            _ => None,
        }
    }
}

/// Bytes that are read from the front, big-endian.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// The index of an attribute's name, and what it holds (§4.7).
    fn attribute(&mut self) -> Option<(u16, Self)> {
        let name = self.u16()?;
        let length = usize::try_from(self.u32()?).ok()?;
        Some((name, Self { bytes: self.take(length)? }))
    }

    /// Passes over a field or a method (§4.5, §4.6) after its flags.
    fn skip_member(&mut self) -> Option<()> {
        self.take(4)?;
        for _ in 0..self.u16()? {
            self.attribute()?;
        }
        Some(())
    }
}
