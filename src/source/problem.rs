//! The form of errors that adapters report: the event, its location, and a hint.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A problem that prevents a part of ralph's work.
#[derive(Clone, Debug)]
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
    /// The error below it, with its type. `what` already includes its text.
    ///
    /// The box makes the pointer thin: a wide one would make every `Result` of the configuration too large.
    pub cause: Option<Arc<Box<dyn Error + Send + Sync>>>,
}

/// Two problems are equal if users cannot distinguish them.
impl<K: PartialEq> PartialEq for Problem<K> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && (&self.place, self.line) == (&other.place, other.line)
            && (&self.what, &self.hint) == (&other.what, &other.hint)
    }
}

impl<K: Eq> Eq for Problem<K> {}

impl<K> Problem<K> {
    /// Builds a problem without a location.
    pub fn new(kind: K, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            place: String::new(),
            line: None,
            what: what.into(),
            hint: hint.into(),
            cause: None,
        }
    }

    /// Sets the cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(Box::new(cause)));
        self
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

impl<K: fmt::Debug> Error for Problem<K> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause
            .as_ref()
            .map(|cause| &***cause as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;
    use std::error::Error as _;

    #[test]
    fn a_problem_keeps_the_type_of_its_cause() {
        let cause = std::io::Error::from_raw_os_error(28);
        let problem = Problem::new((), format!("It failed: {cause}."), "").caused_by(cause);
        let source = problem.source().unwrap();
        let cause: &std::io::Error = source.downcast_ref().unwrap();
        assert_eq!(cause.raw_os_error(), Some(28));
        let without = Problem {
            cause: None,
            ..problem.clone()
        };
        assert_eq!(problem, without, "users see no difference");
        assert_ne!(problem, problem.clone().at("a.md", None));
    }

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
