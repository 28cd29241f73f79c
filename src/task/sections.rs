//! The patterns of `tasks.sections`: which headings have tasks below them.
//!
//! A pattern that matches a heading matches the headings below it too; `exclude` wins over `include`.

use super::text::clean;
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::sync::Arc;

/// Which sections hold tasks. The default: all.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    // Shared: each parsed file keeps its grammar, and a copy of a matcher begins with cold caches.
    include: Arc<[Pattern]>,
    exclude: Arc<[Pattern]>,
}

/// A pattern as it was written, and ready for use.
#[derive(Clone, Debug)]
struct Pattern {
    given: String,
    matcher: GlobMatcher,
}

/// Why the boxes of a section are no tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// This pattern of `exclude` matches the heading or one above it.
    Excluded(String),
    /// There are patterns under `include`, and none matches.
    NotIncluded,
}

impl Sections {
    /// Sections by the patterns of `include` and `exclude`: globs over the words of headings. `Err`: the
    /// first invalid pattern and its parse error.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, (String, String)> {
        let all =
            |given: &[String]| given.iter().map(|given| Pattern::new(given)).collect::<Result<Arc<[_]>, _>>();
        Ok(Self { include: all(include)?, exclude: all(exclude)? })
    }

    /// True when every section holds tasks.
    pub fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// The patterns that match none of these headings, each with its key.
    pub(super) fn unused(&self, titles: &[Title]) -> Vec<(&'static str, String)> {
        let include = self.include.iter().map(|pattern| ("include", pattern));
        let all = include.chain(self.exclude.iter().map(|pattern| ("exclude", pattern)));
        all.filter(|(_, pattern)| !titles.iter().any(|title| pattern.matches(title)))
            .map(|(key, pattern)| (key, pattern.given.clone()))
            .collect()
    }

    /// What is said about a section by the words of its heading, those of the headings above apart.
    fn said(&self, title: &Title) -> Said {
        let matching = |patterns: &[Pattern]| patterns.iter().position(|pattern| pattern.matches(title));
        Said { excluded: matching(&self.exclude), included: matching(&self.include).is_some() }
    }
}

impl Pattern {
    fn new(given: &str) -> Result<Self, (String, String)> {
        let folded = given.trim().trim_end_matches([':', '：']).to_lowercase();
        let glob: Result<Glob, _> = GlobBuilder::new(&folded).backslash_escape(true).build();
        match glob {
            Ok(glob) => Ok(Self { given: given.to_owned(), matcher: glob.compile_matcher() }),
            Err(error) => Err((given.to_owned(), error.kind().to_string())),
        }
    }

    fn matches(&self, title: &Title) -> bool {
        title.forms.iter().any(|form| self.matcher.is_match(form))
    }
}

/// The words of a heading in the forms in which a pattern may mean them, lower case.
#[derive(Clone, Debug)]
pub(super) struct Title {
    forms: Vec<String>,
}

impl Title {
    /// The forms of the whole text and, where it begins with an id, of what follows that. Emphasis, closing
    /// hashes and a last colon are left out.
    pub(super) fn new(text: &[u8], without_id: Option<&[u8]>) -> Self {
        let tidy = |bytes: &[u8]| {
            let text = clean("", bytes).to_lowercase();
            text.trim_end_matches('#')
                .trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':' | '：'))
                .to_owned()
        };
        let mut forms: Vec<String> = [Some(text), without_id].into_iter().flatten().map(tidy).collect();
        forms.dedup();
        Self { forms }
    }
}

/// What the patterns say about one heading alone.
#[derive(Clone, Copy, Debug)]
struct Said {
    /// The pattern of `exclude` that matches.
    excluded: Option<usize>,
    included: bool,
}

/// The headings above a line, while lines are read.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The level of each, its column if it is part of a list item (else 0), and what is said about it.
    open: Vec<(u8, u32, Said)>,
}

impl Above {
    /// A heading begins; it closes those of its level and deeper ones.
    pub(super) fn heading(&mut self, level: u8, column: u32, title: &Title, sections: &Sections) {
        self.leave(column);
        self.open.retain(|(above, inside, _)| *above < level || *inside < column);
        self.open.push((level, column, sections.said(title)));
    }

    /// A list item begins in that column: headings inside of items that it closes end.
    pub(super) fn leave(&mut self, column: u32) {
        self.open.retain(|(_, inside, _)| *inside <= column);
    }

    /// Why boxes here are no tasks; `None` where they are.
    pub(super) fn left_out(&self, sections: &Sections) -> Option<LeftOut> {
        let mut all = self.open.iter().map(|(_, _, said)| said);
        if let Some(pattern) = all.find_map(|said| sections.exclude.get(said.excluded?)) {
            return Some(LeftOut::Excluded(pattern.given.clone()));
        }
        let included = sections.include.is_empty() || self.open.iter().any(|(_, _, said)| said.included);
        (!included).then_some(LeftOut::NotIncluded)
    }
}
