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

const ACC_BRIDGE: u16 = 0x0040;
const ACC_SYNTHETIC: u16 = 0x1000;

/// What a part of the encoding is. Every part is its tag, its length in four bytes, its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tag {
    /// The end of a list whose length is not stored before it.
    End,
    /// An index that is 0, where that means: there is none.
    Absent,
    /// Bytes that refer to nothing: versions, flags, counts, kinds.
    Plain,
    /// A text's bytes.
    Utf8,
    /// A class's name.
    Class,
    /// A string constant's bytes.
    String,
    /// A number's bits, after its kind: integer, float, long or double.
    Number,
    /// A member begins: its flags.
    Member,
    /// An attribute begins: its name.
    Attribute,
}

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
    encoder.part(Tag::Plain, version)?;
    encoder.class_file(&mut from)?;
    from.bytes.is_empty().then_some(encoder.encoded)
}

/// Reads from a cursor and appends what it read to the encoding.
pub(super) struct Encoder<'a> {
    pool: Pool<'a>,
    /// The class's own name.
    this: &'a [u8],
    encoded: Vec<u8>,
}

impl<'a> Encoder<'a> {
    pub(super) fn part(&mut self, tag: Tag, bytes: &[u8]) -> Option<()> {
        self.encoded.push(tag as u8);
        self.encoded.extend(u32::try_from(bytes.len()).ok()?.to_be_bytes());
        self.encoded.extend_from_slice(bytes);
        (self.encoded.len() <= MAX_ENCODED).then_some(())
    }

    /// Bytes that refer to nothing.
    pub(super) fn plain(&mut self, from: &mut Cursor<'a>, count: usize) -> Option<()> {
        self.part(Tag::Plain, from.take(count)?)
    }

    /// The text of an index, also as the answer.
    pub(super) fn utf8(&mut self, from: &mut Cursor<'a>) -> Option<&'a [u8]> {
        let text = self.pool.utf8(from.u16()?)?;
        self.part(Tag::Utf8, text)?;
        Some(text)
    }

    /// The name of the class of an index, also as the answer.
    fn class(&mut self, from: &mut Cursor<'a>) -> Option<&'a [u8]> {
        let name = self.pool.class(from.u16()?)?;
        self.part(Tag::Class, name)?;
        Some(name)
    }

    /// The number or string of an index.
    pub(super) fn constant(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let index = from.u16()?;
        match self.pool.at(index)? {
            (kind @ 3..=6, bits) => {
                self.part(Tag::Plain, &[kind])?;
                self.part(Tag::Number, bits)
            }
            (8, _) => self.part(Tag::String, self.pool.named(8, index)?),
            _ => None,
        }
    }

    /// A count in two bytes, and so many of what `each` reads.
    pub(super) fn list(
        &mut self,
        from: &mut Cursor<'a>,
        each: impl Fn(&mut Self, &mut Cursor<'a>) -> Option<()>,
    ) -> Option<()> {
        let count = from.u16()?;
        self.part(Tag::Plain, &count.to_be_bytes())?;
        (0..count).try_for_each(|_| each(self, from))
    }

    /// What an index leads to that may be 0.
    fn optional(
        &self,
        from: &mut Cursor<'a>,
        tag: Tag,
        find: impl Fn(&Pool<'a>, u16) -> Option<&'a [u8]>,
    ) -> Option<(Tag, &'a [u8])> {
        match from.u16()? {
            0 => Some((Tag::Absent, &[])),
            index => Some((tag, find(&self.pool, index)?)),
        }
    }

    fn classes(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.list(from, |encoder, from| encoder.class(from).map(drop))
    }

    /// All that follows the constant pool (§4.1).
    fn class_file(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.plain(from, 2)?;
        self.this = self.class(from)?;
        // `Object` and module descriptors have no superclass.
        let (tag, superclass) = self.optional(from, Tag::Class, Pool::class)?;
        self.part(tag, superclass)?;
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
            self.part(Tag::Member, &flags.to_be_bytes())?;
            self.utf8(from)?;
            self.utf8(from)?;
            self.attributes(from, holder)?;
        }
        self.part(Tag::End, &[])
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
                self.part(Tag::Attribute, name)?;
                self.content(name, &mut content, holder)?;
            }
            if !content.bytes.is_empty() {
                return None;
            }
        }
        self.part(Tag::End, &[])
    }

    /// What an attribute holds; `None` when it is not known. A record within a record component is not: depth
    /// stays bounded.
    fn content(&mut self, name: &[u8], from: &mut Cursor<'a>, holder: Holder) -> Option<()> {
        match name {
            b"Deprecated" | b"Synthetic" => Some(()),
            b"ConstantValue" => self.constant(from),
            b"Signature" | b"SourceFile" => self.utf8(from).map(drop),
            b"NestHost" => self.class(from).map(drop),
            b"Exceptions" | b"NestMembers" | b"PermittedSubclasses" => self.classes(from),
            b"EnclosingMethod" => self.enclosing_method(from),
            b"MethodParameters" => self.method_parameters(from),
            b"Record" if holder == Holder::Class => self.list(from, |encoder, from| {
                encoder.utf8(from)?;
                encoder.utf8(from)?;
                encoder.attributes(from, Holder::Component)
            }),
            _ => self.annotation_attribute(name, from),
        }
    }

    /// §4.7.6: the entries that concern this class, in an order of their own; nothing when there are none.
    fn inner_classes(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let mut entries = Vec::new();
        for _ in 0..from.u16()? {
            let inner = self.pool.class(from.u16()?)?;
            let outer = self.optional(from, Tag::Class, Pool::class)?;
            let name = self.optional(from, Tag::Utf8, Pool::utf8)?;
            let flags = from.u16()?;
            if inner == self.this || outer == (Tag::Class, self.this) {
                entries.push((inner, outer, name, flags));
            }
        }
        entries.sort_unstable();
        if entries.is_empty() {
            return Some(());
        }
        self.part(Tag::Attribute, b"InnerClasses")?;
        for (inner, outer, name, flags) in entries {
            self.part(Tag::Class, inner)?;
            self.part(outer.0, outer.1)?;
            self.part(name.0, name.1)?;
            self.part(Tag::Plain, &flags.to_be_bytes())?;
        }
        self.part(Tag::End, &[])
    }

    /// §4.7.7: a class, and a method's name and descriptor where it stands in one.
    fn enclosing_method(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        self.class(from)?;
        let index = from.u16()?;
        if index == 0 {
            return self.part(Tag::Absent, &[]);
        }
        let (12, bytes) = self.pool.at(index)? else { return None };
        let mut both = Cursor { bytes };
        self.utf8(&mut both)?;
        self.utf8(&mut both).map(drop)
    }

    /// §4.7.24: names and flags.
    fn method_parameters(&mut self, from: &mut Cursor<'a>) -> Option<()> {
        let count = from.u8()?;
        self.part(Tag::Plain, &[count])?;
        for _ in 0..count {
            let (tag, name) = self.optional(from, Tag::Utf8, Pool::utf8)?;
            self.part(tag, name)?;
            self.plain(from, 2)?;
        }
        Some(())
    }
}
