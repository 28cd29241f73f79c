//! Bytes made UTF-8 on the way, within limits.
//!
//! What comes out is UTF-8, each wrong byte sequence one U+FFFD; too long an event or file is an
//! error, not memory.

use std::io::{self, BufRead, Read};

const CHUNK: usize = 64 << 10;

/// A reader that repairs UTF-8 and counts.
pub(super) struct Lossy<R> {
    source: R,
    raw: Vec<u8>,
    clean: Vec<u8>,
    at: usize,
    ended: bool,
    event: u64,
    max_event: u64,
    left: u64,
}

impl<R: Read> Lossy<R> {
    /// Reads at most `max_bytes` in all and `max_event` between two calls of [`Lossy::next_event`].
    pub(super) fn new(source: R, max_event: u64, max_bytes: u64) -> Self {
        Self {
            source,
            raw: Vec::new(),
            clean: Vec::new(),
            at: 0,
            ended: false,
            event: 0,
            max_event,
            left: max_bytes,
        }
    }

    /// A new event begins.
    pub(super) fn next_event(&mut self) {
        self.event = 0;
    }

    fn refill(&mut self) -> io::Result<()> {
        self.clean.clear();
        self.at = 0;
        while self.clean.is_empty() && !self.ended {
            let start = self.raw.len();
            self.raw.resize(start + CHUNK, 0);
            let read = self.source.read(&mut self.raw[start..])?;
            self.raw.truncate(start + read);
            self.ended = read == 0;
            self.left = self
                .left
                .checked_sub(read as u64)
                .ok_or_else(|| io::Error::other("it is larger than the limit of 4 GiB"))?;
            self.repair();
        }
        Ok(())
    }

    /// Moves what is certain from `raw` to `clean`; a sequence that may go on stays.
    fn repair(&mut self) {
        let keep = if self.ended { 0 } else { unfinished(&self.raw) };
        let certain = self.raw.len() - keep;
        for chunk in self.raw[..certain].utf8_chunks() {
            self.clean.extend_from_slice(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.clean.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        self.raw.drain(..certain);
    }
}

/// How many bytes at the end begin a character that is not complete.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let width = match bytes[bytes.len() - back] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => 0,
        };
        return if width > back { back } else { 0 };
    }
    0
}

impl<R: Read> Read for Lossy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Lossy<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event > self.max_event {
            return Err(io::Error::other("one of its elements is longer than 1 MiB"));
        }
        if self.at == self.clean.len() {
            self.refill()?;
        }
        Ok(&self.clean[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.clean.len());
        self.event += amount as u64;
    }
}
