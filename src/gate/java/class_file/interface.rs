//! What a compiler that compiles other classes against a class can see of it (Java Virtual Machine
//! Specification, chapter 4; javac's `ClassReader`).
//!
//! Total over any bytes, of bounded depth and size; different contents never share an encoding;
//! what could hold an index into the constant pool and is not understood makes the whole file unreadable.
//!
//! Counted are: versions, access flags, the class, its superclass and interfaces in order; its fields and
//! methods in order, private ones too (resolution and annotation processors see them), with flags, name,
//! descriptor and attributes; the attributes of the class.
//!
//! Left out are:
//!
//! - the code of methods (§4.7.3) with all in it. Names of parameters count where `MethodParameters` holds
//!   them; those in the debugging tables of code, which javac shows to annotation processors under
//!   `-parameters` alone, do not.
//! - `BootstrapMethods`, which only code needs, and `SourceDebugExtension`. `SourceFile` counts: javac warns of a
//!   class that is used outside of the file that it is declared in.
//! - synthetic fields and methods other than bridges: javac enters no others. It does enter `lambda$…` methods,
//!   to find the position of classes within them, which no other class can name; these are left out too.
//! - of `InnerClasses` (§4.7.6), the entries of classes that are neither this one nor its members, and the
//!   order. Code alone decides both: every nested class that it uses gets an entry (a lambda brings
//!   `MethodHandles$Lookup`), as it is used. Such an entry repeats what the class's own file says.

use super::{ClassFile, Cursor, Pool};

/// Bytes of an encoding: a hostile file names one long text very often.
const MAX_ENCODED: usize = 64 << 20;

/// Values within values: Java's own are arrays of annotations of arrays …, a few deep.
const MAX_DEPTH: u8 = 32;

/// The annotation on each class that Kotlin's compiler makes. It copies the bodies of inline functions into
/// the classes that call them: there code is part of what a compiler sees.
const KOTLIN: &[u8] = b"Lkotlin/Metadata;";

const ACC_BRIDGE: u16 = 0x0040;
const ACC_SYNTHETIC: u16 = 0x1000;

/// What a part of the encoding is: a constant by its kind (§4.4), or one of these.
const ABSENT: u8 = 0;
const TEXT: u8 = 1;
const CLASS: u8 = 7;
/// Bytes that refer to nothing: versions, flags, counts, kinds.
const PLAIN: u8 = 0xfc;
/// A member begins: its flags. An attribute begins: its name. The end of a list whose length is not stored before it.
const MEMBER: u8 = 0xfd;
const ATTRIBUTE: u8 = 0xfe;
const END: u8 = 0xff;
/// Numbers of four and eight bytes, and strings.
const CONSTANTS: [u8; 5] = [3, 4, 5, 6, 8];

/// What an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Class,
    Field,
    Method,
    Component,
}

impl Holder {
    /// True for the attributes that a compiler has no use for.
    fn leaves_out(self, attribute: &[u8]) -> bool {
        match self {
            Self::Class => matches!(attribute, b"BootstrapMethods" | b"SourceDebugExtension"),
            Self::Method => attribute == b"Code",
            Self::Field | Self::Component => false,
        }
    }

    /// True for a member that javac does not enter. The bit of a bridge means `volatile` in a field's flags.
    fn is_hidden(self, flags: u16) -> bool {
        flags & ACC_SYNTHETIC != 0 && (self == Self::Field || flags & ACC_BRIDGE == 0)
    }
}

/// The encoding of what counts; `None` if it is unknown.
pub(super) fn encoded(bytes: &[u8]) -> Option<Vec<u8>> {
    let ClassFile { version, pool, rest: mut from } = ClassFile::open(bytes)?;
    let mut encoder = Encoder { pool, this: &[], encoded: Vec::new() };
    encoder.part(PLAIN, version)?;
    encoder.class_file(&mut from)?;
    from.bytes.is_empty().then_some(encoder.encoded)
}

/// Reads from a cursor and appends what it read to the encoding.
struct Encoder<'a> {
    pool: Pool<'a>,
    /// The class's own name.
    this: &'a [u8],
    encoded: Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// A part is its kind, its length in four bytes, its bytes.
    fn part(&mut self, kind: u8, bytes: &[u8]) -> Option<()> {
        self.encoded.push(kind);
        self.encoded.extend(u32::try_from(bytes.len()).ok()?.to_be_bytes());
        self.encoded.extend_from_slice(bytes);
        (self.encoded.len() <= MAX_ENCODED).then_some(())
    }

    /// Bytes that refer to nothing.
    fn plain(&mut self, from: &mut Cursor<'a>, count: usize) -> Option<()> {
        self.part(PLAIN, from.take(count)?)
    }

    /// What an index leads to, which is of one of these kinds: the text, or the bits of a number, are the answer.
    fn index(&mut self, from: &mut Cursor<'a>, kinds: &[u8]) -> Option<&'a [u8]> {
        let (kind, bytes) = match from.u16()? {
            0 => (ABSENT, &[][..]),
            index => self.pool.at(index)?,
        };
        // The name of a class and the text of a string stand elsewhere in the pool.
        let bytes = if matches!(kind, 7 | 8) { self.pool.utf8(Cursor { bytes }.u16()?)? } else { bytes };
        self.part(kind, bytes)?;
        kinds.contains(&kind).then_some(bytes)
    }

    /// So many texts.
    fn texts(&mut self, from: &mut Cursor<'a>, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.index(from, &[TEXT]).map(drop))
    }

    /// A count in two bytes, and so many of what `each` reads.
    fn list(
        &mut self,
        from: &mut Cursor<'a>,
        each: impl Fn(&mut Self, &mut Cursor<'a>) -> Option<()>,
    ) -> Option<()> {
        let count = from.u16()?;
        self.part(PLAIN, &count.to_be_bytes())?;
        (0..count).try_for_each(|_| each(self, from))
    }

    fn classes(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.list(from, |encoder, from| encoder.index(from, &[CLASS]).map(drop))
    }

    /// All that follows the constant pool (§4.1).
    fn class_file(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.plain(from, 2)?;
        self.this = self.index(from, &[CLASS])?;
        // `Object` and module descriptors have no superclass.
        self.index(from, &[CLASS, ABSENT])?;
        self.classes(from)?;
        self.members(from, Holder::Field)?;
        self.members(from, Holder::Method)?;
        self.attributes(from, Holder::Class)
    }

    /// Fields (§4.5) or methods (§4.6).
    fn members(&mut self, from: &mut Cursor<'a>, holder: Holder) -> Option<()> {
        for _ in 0..from.u16()? {
            let flags = from.u16()?;
            if holder.is_hidden(flags) {
                from.skip_member()?;
                continue;
            }
            self.part(MEMBER, &flags.to_be_bytes())?;
            self.texts(from, 2)?;
            self.attributes(from, holder)?;
        }
        self.part(END, &[])
    }

    /// A list of attributes (§4.7).
    fn attributes(&mut self, from: &mut Cursor<'a>, holder: Holder) -> Option<()> {
        for _ in 0..from.u16()? {
            let (name, mut content) = from.attribute()?;
            let name = self.pool.utf8(name)?;
            if holder.leaves_out(name) {
                continue;
            }
            if name == b"InnerClasses" {
                self.inner_classes(&mut content)?;
            } else {
                self.part(ATTRIBUTE, name)?;
                self.content(name, &mut content, holder)?;
            }
            if !content.bytes.is_empty() {
                return None;
            }
        }
        self.part(END, &[])
    }

    /// What an attribute holds; `None` when it is not known. A record within a record component is not: depth
    /// stays bounded.
    fn content(&mut self, name: &[u8], from: &mut Cursor<'a>, holder: Holder) -> Option<()> {
        match name {
            b"Deprecated" | b"Synthetic" => Some(()),
            b"ConstantValue" => self.index(from, &CONSTANTS).map(drop),
            b"Signature" | b"SourceFile" => self.texts(from, 1),
            b"NestHost" => self.index(from, &[CLASS]).map(drop),
            b"Exceptions" | b"NestMembers" | b"PermittedSubclasses" => self.classes(from),
            b"EnclosingMethod" => self.enclosing_method(from),
            b"MethodParameters" => self.method_parameters(from),
            b"Record" if holder == Holder::Class => self.list(from, |encoder, from| {
                encoder.texts(from, 2)?;
                encoder.attributes(from, Holder::Component)
            }),
            _ => self.annotation_attribute(name, from),
        }
    }

    /// §4.7.6: the entries that concern this class, in an order of their own; nothing when there are none.
    fn inner_classes(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let (mut entries, mut room) = (Vec::new(), MAX_ENCODED);
        for _ in 0..from.u16()? {
            let start = self.encoded.len();
            let classes = [self.index(from, &[CLASS])?, self.index(from, &[CLASS, ABSENT])?];
            self.index(from, &[TEXT, ABSENT])?;
            self.plain(from, 2)?;
            let entry = self.encoded.split_off(start);
            if classes.contains(&self.this) {
                room = room.checked_sub(entry.len())?;
                entries.push(entry);
            }
        }
        entries.sort_unstable();
        if entries.is_empty() {
            return Some(());
        }
        self.part(ATTRIBUTE, b"InnerClasses")?;
        self.encoded.extend(entries.concat());
        self.part(END, &[])
    }

    /// §4.7.7: a class, and a method's name and descriptor where it stands in one.
    fn enclosing_method(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.index(from, &[CLASS])?;
        let index = from.u16()?;
        if index == 0 {
            return self.part(ABSENT, &[]);
        }
        let (12, bytes) = self.pool.at(index)? else { return None };
        let mut both = Cursor { bytes };
        self.texts(&mut both, 2)
    }

    /// §4.7.24: names and flags.
    fn method_parameters(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let count = from.u8()?;
        self.part(PLAIN, &[count])?;
        for _ in 0..count {
            self.index(from, &[TEXT, ABSENT])?;
            self.plain(from, 2)?;
        }
        Some(())
    }

    /// What an attribute of this name holds; `None` when it is none of these.
    fn annotation_attribute(&mut self, name: &[u8], from: &mut Cursor<'a>) -> Option<()> {
        match name {
            b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" => self.annotations(from),
            b"RuntimeVisibleParameterAnnotations" | b"RuntimeInvisibleParameterAnnotations" => {
                let parameters = from.u8()?;
                self.part(PLAIN, &[parameters])?;
                (0..parameters).try_for_each(|_| self.annotations(from))
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                self.list(from, |encoder, from| {
                    encoder.target(from)?;
                    encoder.annotation(from, MAX_DEPTH)
                })
            }
            b"AnnotationDefault" => self.value(from, MAX_DEPTH),
            _ => None,
        }
    }

    fn annotations(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.list(from, |encoder, from| encoder.annotation(from, MAX_DEPTH))
    }

    /// §4.7.16: a type and pairs of names and values.
    fn annotation(&mut self, from: &mut Cursor<'a>, depth: u8) -> Option<()> {
        if self.index(from, &[TEXT])? == KOTLIN {
            return None;
        }
        self.list(from, |encoder, from| {
            encoder.texts(from, 1)?;
            encoder.value(from, depth)
        })
    }

    /// §4.7.16.1: a value, so many levels deep at most.
    fn value(&mut self, from: &mut Cursor<'a>, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let kind = from.u8()?;
        self.part(PLAIN, &[kind])?;
        match kind {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => self.index(from, &CONSTANTS).map(drop),
            b's' | b'c' => self.texts(from, 1),
            b'e' => self.texts(from, 2),
            b'@' => self.annotation(from, depth),
            b'[' => self.list(from, |encoder, from| encoder.value(from, depth)),
            _ => None,
        }
    }

    /// The place of a type annotation (§4.7.20.1, §4.7.20.2): none of its numbers leads into the constant
    /// pool. `None` for a place within code.
    fn target(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let kind = from.u8()?;
        let length = match kind {
            0x00 | 0x01 | 0x16 => 1,
            0x10 | 0x11 | 0x12 | 0x17 => 2,
            0x13..=0x15 => 0,
            _ => return None,
        };
        self.part(PLAIN, &[kind])?;
        self.plain(from, length)?;
        let steps = from.u8()?;
        self.plain(from, 2 * usize::from(steps))
    }
}
