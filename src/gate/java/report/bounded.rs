//! A reader that gives up where an event of a report grows too long: an error, not memory.

use super::MAX_EVENT;
use std::io::{self, BufRead, BufReader, Read};

const CHUNK: usize = 64 << 10;

/// Counts what is read of one event.
pub(super) struct Bounded<R> {
    source: BufReader<R>,
    event: u64,
}

impl<R: Read> Bounded<R> {
    /// Reads about [`MAX_EVENT`] bytes between two calls of [`Bounded::next_event`].
    pub(super) fn new(source: R) -> Self {
        Self {
            source: BufReader::with_capacity(CHUNK, source),
            event: 0,
        }
    }

    /// A new event begins.
    pub(super) fn next_event(&mut self) {
        self.event = 0;
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event > MAX_EVENT {
            return Err(io::Error::other("one of its elements is longer than 1 MiB"));
        }
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.source.consume(amount);
        self.event += amount as u64;
    }
}
