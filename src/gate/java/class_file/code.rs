//! The code of a class's methods (Java Virtual Machine Specification §4.7.3), wherever in the constant pool its operands
//! stand.
//!
//! Total over any bytes, of bounded depth and size; equal digests are equal code.

use super::{ClassFile, Cursor, Pool};
use crate::task;
use std::collections::BTreeMap;

/// How deep constants may lead to constants.
const MAX_DEPTH: u8 = 16;
/// Bytes of one method's code with all that it names.
const MAX_ENCODED: usize = 16 << 20;

/// A digest of each method's code by its name and descriptor (`sum(I)V`); `None` if one of them cannot be read.
pub fn bodies(bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    let ClassFile { pool, mut rest, .. } = ClassFile::open(bytes)?;
    rest.take(6)?;
    rest.list()?;
    rest.skip_members()?;
    let (mut codes, mut bootstraps) = (Vec::new(), Vec::new());
    for _ in 0..rest.u16()? {
        rest.take(2)?;
        let name = [pool.utf8(rest.u16()?)?, pool.utf8(rest.u16()?)?].concat();
        for _ in 0..rest.u16()? {
            let (attribute, content) = rest.attribute()?;
            if pool.utf8(attribute)? == b"Code" {
                codes.push((String::from_utf8_lossy(&name).into_owned(), content));
            }
        }
    }
    for _ in 0..rest.u16()? {
        let (attribute, mut content) = rest.attribute()?;
        if pool.utf8(attribute)? == b"BootstrapMethods" {
            for _ in 0..content.u16()? {
                bootstraps.push((content.u16()?, content.list()?));
            }
        }
    }
    let digest = |(name, content)| {
        let mut encoder = Encoder { pool: &pool, bootstraps: &bootstraps, encoded: Vec::new() };
        encoder.code(content)?;
        Some((name, task::digest(&encoder.encoded)))
    };
    codes.into_iter().map(digest).collect()
}

struct Encoder<'a> {
    pool: &'a Pool<'a>,
    /// The entries of `BootstrapMethods`: a method and its arguments.
    bootstraps: &'a [(u16, Vec<u16>)],
    encoded: Vec<u8>,
}

impl Encoder<'_> {
    /// The instructions, then the table of exceptions as it stands.
    fn code(&mut self, mut content: Cursor<'_>) -> Option<()> {
        content.take(4)?;
        let length = usize::try_from(content.u32()?).ok()?;
        let mut code = Cursor { bytes: content.take(length)? };
        while let Some(opcode) = code.u8() {
            self.encoded.push(opcode);
            let (index, more) = operands(opcode, length - code.bytes.len(), &code)?;
            match index {
                0 => {}
                1 => self.constant(code.u8()?.into(), MAX_DEPTH)?,
                _ => self.constant(code.u16()?, MAX_DEPTH)?,
            }
            self.encoded.extend(code.take(more)?);
        }
        let handlers = content.u16()?;
        self.encoded.extend(content.take(8 * usize::from(handlers))?);
        Some(())
    }

    /// What an index leads to, with all that this names.
    fn constant(&mut self, index: u16, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let (tag, bytes) = self.pool.at(index)?;
        let mut from = Cursor { bytes };
        // A text, a number, the kind of a handle; then indexes. What is made when it runs begins with the method that makes it.
        let plain = from.take(if matches!(tag, 1 | 3..=6) { bytes.len() } else { usize::from(tag == 15) })?;
        let mut named: Vec<u16> = Vec::new();
        if matches!(tag, 17 | 18) {
            let (method, arguments) = self.bootstraps.get(usize::from(from.u16()?))?;
            named.extend(std::iter::once(method).chain(arguments));
        }
        named.extend(std::iter::from_fn(|| from.u16()));
        self.encoded.extend([tag, u8::try_from(named.len()).unwrap_or(u8::MAX)]);
        self.encoded.extend(plain.len().to_be_bytes());
        self.encoded.extend(plain);
        named.into_iter().try_for_each(|index| self.constant(index, depth))?;
        (self.encoded.len() < MAX_ENCODED).then_some(())
    }
}

/// Of the instruction at `at - 1` (JVMS §6.5): the bytes of its index into the pool, and of what follows that.
fn operands(opcode: u8, at: usize, code: &Cursor<'_>) -> Option<(usize, usize)> {
    let word = |at: usize| Some(u32::from_be_bytes(*code.bytes.get(at..)?.first_chunk()?));
    let padding = at.next_multiple_of(4) - at;
    Some(match opcode {
        18 => (1, 0),
        19 | 20 | 178..=184 | 187 | 189 | 192 | 193 => (2, 0),
        185 | 186 => (2, 2),
        197 => (2, 1),
        16 | 21..=25 | 54..=58 | 169 | 188 => (0, 1),
        17 | 132 | 153..=168 | 198 | 199 => (0, 2),
        200 | 201 => (0, 4),
        170 => {
            let most = word(padding + 8)?.wrapping_sub(word(padding + 4)?);
            (0, padding + 16 + 4 * usize::try_from(most).ok()?)
        }
        171 => (0, padding + 8 + 8 * usize::try_from(word(padding + 4)?).ok()?),
        196 => (0, if code.bytes.first() == Some(&132) { 5 } else { 3 }),
        0..=201 => (0, 0),
        _ => return None,
    })
}
