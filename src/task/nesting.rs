//! The headings above a line, while lines are read.
//!
//! Owns: which headings are still open where another one begins.
//!
//! Promises: at most one heading of each level is open.
//!
//! Refuses to know: what is kept of a heading.

/// What is kept of each open heading.
#[derive(Debug)]
pub(super) struct OpenHeadings<T> {
    open: Vec<(u8, T)>,
}

impl<T> Default for OpenHeadings<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> OpenHeadings<T> {
    /// A heading begins; it closes those of its level and deeper ones.
    pub(super) fn begin(&mut self, level: u8, kept: T) {
        while self.open.last().is_some_and(|(at, _)| *at >= level) {
            self.open.pop();
        }
        self.open.push((level, kept));
    }

    /// What is kept, the outermost first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.open.iter().map(|(_, kept)| kept)
    }
}

#[cfg(test)]
mod tests {
    use super::OpenHeadings;

    #[test]
    fn a_heading_closes_those_of_its_level_and_deeper_ones() {
        let mut open = OpenHeadings::default();
        for (level, kept) in [(2, "a"), (4, "b"), (3, "c"), (3, "d"), (6, "e")] {
            open.begin(level, kept);
        }
        assert_eq!(open.iter().copied().collect::<Vec<_>>(), ["a", "d", "e"]);
        open.begin(1, "f");
        assert_eq!(open.iter().copied().collect::<Vec<_>>(), ["f"]);
    }
}
