//! The form of errors that adapters report: the event, its location, and a hint.

use std::fmt;

/// A problem that prevents a part of ralph's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem<K> {
    /// The kind, on which callers branch.
    pub kind: K,
    /// A file or a package; empty if the problem has no location.
    pub place: String,
    /// 1-based line in that file.
    pub line: Option<usize>,
    /// The event as a whole sentence, without the location.
    pub what: String,
    /// The next action; may be empty.
    pub hint: String,
}

impl<K> Problem<K> {
    /// Builds a problem without a location.
    pub fn new(kind: K, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            place: String::new(),
            line: None,
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Sets the location, unless there is one.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>, line: Option<usize>) -> Self {
        if self.place.is_empty() {
            (self.place, self.line) = (place.into(), line);
        }
        self
    }
}

impl<K> fmt::Display for Problem<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.place.as_str(), self.line) {
            ("", _) => f.write_str(&self.what),
            (place, None) => write!(f, "{place}: {}", self.what),
            (place, Some(line)) => write!(f, "{place}:{line}: {}", self.what),
        }
    }
}

impl<K: fmt::Debug> std::error::Error for Problem<K> {}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn a_problem_names_its_first_place() {
        let problem = Problem::new((), "The file is empty.", "Write something.");
        assert_eq!(problem.to_string(), "The file is empty.");
        assert_eq!(
            problem.clone().at("Package core", None).to_string(),
            "Package core: The file is empty."
        );
        let placed = problem.at("a.md", Some(3)).at("b.md", None);
        assert_eq!(placed.to_string(), "a.md:3: The file is empty.");
    }
}
