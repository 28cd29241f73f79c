//! Annotations in class files (Java Virtual Machine Specification §4.7.16 to §4.7.22).
//!
//! Total over any bytes, of bounded depth.

use super::Cursor;
use super::interface::{Encoder, Tag};

/// Values within values: Java's own are arrays of annotations of arrays …, a few deep.
const MAX_DEPTH: u8 = 32;

/// The annotation on each class that Kotlin's compiler makes. It copies the bodies of inline functions into
/// the classes that call them: there code is part of what a compiler sees.
const KOTLIN: &[u8] = b"Lkotlin/Metadata;";

impl<'a> Encoder<'a> {
    /// What an attribute of this name holds; `None` when it is none of these.
    pub(super) fn annotation_attribute(&mut self, name: &[u8], from: &mut Cursor<'a>) -> Option<()> {
        match name {
            b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" => self.annotations(from),
            b"RuntimeVisibleParameterAnnotations" | b"RuntimeInvisibleParameterAnnotations" => {
                let parameters = from.u8()?;
                self.part(Tag::Plain, &[parameters])?;
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
        if self.utf8(from)? == KOTLIN {
            return None;
        }
        self.list(from, |encoder, from| {
            encoder.utf8(from)?;
            encoder.value(from, depth)
        })
    }

    /// §4.7.16.1: a value, so many levels deep at most.
    fn value(&mut self, from: &mut Cursor<'a>, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let kind = from.u8()?;
        self.part(Tag::Plain, &[kind])?;
        match kind {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => self.constant(from),
            b's' | b'c' => self.utf8(from).map(drop),
            b'e' => {
                self.utf8(from)?;
                self.utf8(from).map(drop)
            }
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
        self.part(Tag::Plain, &[kind])?;
        self.plain(from, length)?;
        let steps = from.u8()?;
        self.plain(from, 2 * usize::from(steps))
    }
}
