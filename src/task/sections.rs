//! The patterns of `tasks.sections`: which headings have tasks below them.
//!
//! A pattern that matches a heading matches the headings below it too; `exclude` wins over `include`.

use super::scan::clean;
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
        let all = |given: &[String]| {
            given
                .iter()
                .map(|given| Pattern::new(given))
                .collect::<Result<Arc<[_]>, _>>()
        };
        Ok(Self {
            include: all(include)?,
            exclude: all(exclude)?,
        })
    }

    /// True when every section holds tasks.
    pub fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// The patterns that match none of these headings, each with its key.
    pub(super) fn unused(&self, titles: &[Title]) -> Vec<(&'static str, String)> {
        let include = self.include.iter().map(|pattern| ("include", pattern));
        let all = include.chain(self.exclude.iter().map(|pattern| ("exclude", pattern)));
        let unused = all.filter(|(_, pattern)| !titles.iter().any(|title| pattern.matches(title)));
        unused
            .map(|(key, pattern)| (key, pattern.given.clone()))
            .collect()
    }
}

impl Pattern {
    fn new(given: &str) -> Result<Self, (String, String)> {
        let folded = given.trim().trim_end_matches([':', '：']).to_lowercase();
        let glob: Result<Glob, _> = GlobBuilder::new(&folded).backslash_escape(true).build();
        match glob {
            Ok(glob) => Ok(Self {
                given: given.to_owned(),
                matcher: glob.compile_matcher(),
            }),
            Err(error) => Err((given.to_owned(), error.kind().to_string())),
        }
    }

    fn matches(&self, title: &Title) -> bool {
        title.iter().any(|form| self.matcher.is_match(form))
    }
}

/// The words of a heading in the forms in which a pattern may mean them, lower case.
pub(super) type Title = Vec<String>;

/// The forms of the whole text and, where it begins with an id, of what follows that. Emphasis, closing hashes and a
/// last colon are left out.
pub(super) fn title(text: &[u8], without_id: Option<&[u8]>) -> Title {
    let tidy = |bytes: &[u8]| {
        let text = clean("", bytes).to_lowercase();
        let is_mark = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':' | '：');
        text.trim_end_matches('#').trim_matches(is_mark).to_owned()
    };
    let mut forms: Title = std::iter::once(text).chain(without_id).map(tidy).collect();
    forms.dedup();
    forms
}

/// A heading, and what the patterns say about it alone.
#[derive(Debug)]
struct Heading {
    level: u8,
    /// Its column if it is part of a list item, else 0.
    column: u32,
    /// The pattern of `exclude` that matches.
    excluded: Option<String>,
    included: bool,
}

/// The headings above a line, while lines are read.
#[derive(Debug, Default)]
pub(super) struct Above {
    open: Vec<Heading>,
}

impl Above {
    /// A heading begins; it closes those of its level and deeper ones.
    pub(super) fn heading(&mut self, level: u8, column: u32, title: &Title, sections: &Sections) {
        self.leave(column);
        self.open
            .retain(|above| above.level < level || above.column < column);
        let excluded = sections
            .exclude
            .iter()
            .find(|pattern| pattern.matches(title));
        let excluded = excluded.map(|pattern| pattern.given.clone());
        let included = sections
            .include
            .iter()
            .any(|pattern| pattern.matches(title));
        self.open.push(Heading {
            level,
            column,
            excluded,
            included,
        });
    }

    /// A list item begins in that column: headings inside of items that it closes end.
    pub(super) fn leave(&mut self, column: u32) {
        self.open.retain(|above| above.column <= column);
    }

    /// Why boxes here are no tasks; `None` where they are.
    pub(super) fn left_out(&self, sections: &Sections) -> Option<LeftOut> {
        let excluded = self
            .open
            .iter()
            .find_map(|above| above.excluded.clone())
            .map(LeftOut::Excluded);
        let included = sections.include.is_empty() || self.open.iter().any(|above| above.included);
        excluded.or((!included).then_some(LeftOut::NotIncluded))
    }
}
