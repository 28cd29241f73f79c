//! The patterns of `tasks.sections`, which select the headings that have tasks below them.
//!
//! A pattern that matches a heading matches the headings below it too. `exclude` takes precedence over `include`.

use super::scan::clean_line;
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::sync::Arc;

/// The sections that hold tasks. The default is all.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    // Shared: each parsed file keeps its grammar, and a copied matcher begins with empty caches.
    include: Arc<[SectionPattern]>,
    exclude: Arc<[SectionPattern]>,
}

/// A pattern as written, and its matcher.
#[derive(Clone, Debug)]
struct SectionPattern {
    given: String,
    matcher: GlobMatcher,
}

/// The reason why the boxes of a section are not tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionExclusion {
    /// This pattern of `exclude` matches the heading or one above it.
    Excluded(String),
    /// `include` has patterns, and none matches.
    NotIncluded,
}

impl Sections {
    /// Selects sections by the patterns of `include` and `exclude`, which are globs over the words of headings.
    ///
    /// Fails with the first invalid pattern and its parse error.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, (String, String)> {
        Ok(Self {
            include: parse_patterns(include)?,
            exclude: parse_patterns(exclude)?,
        })
    }

    /// True if every section holds tasks.
    pub fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Returns the patterns that match none of these headings, each with its key.
    pub(super) fn unused_patterns(&self, titles: &[Title]) -> Vec<(&'static str, String)> {
        let include = self.include.iter().map(|pattern| ("include", pattern));
        let all = include.chain(self.exclude.iter().map(|pattern| ("exclude", pattern)));
        let unused =
            all.filter(|(_, pattern)| !titles.iter().any(|title| pattern.matches_title(title)));
        unused
            .map(|(key, pattern)| (key, pattern.given.clone()))
            .collect()
    }
}

fn parse_patterns(given: &[String]) -> Result<Arc<[SectionPattern]>, (String, String)> {
    given
        .iter()
        .map(|given| SectionPattern::new(given))
        .collect()
}

impl SectionPattern {
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

    fn matches_title(&self, title: &Title) -> bool {
        title.iter().any(|form| self.matcher.is_match(form))
    }
}

/// The words of a heading in lower case, in each form that a pattern may match.
pub(super) type Title = Vec<String>;

/// Returns the forms of the whole text, and of the text after an id.
///
/// Emphasis, closing hashes and a final colon are removed.
pub(super) fn title_forms(text: &[u8], without_id: Option<&[u8]>) -> Title {
    let mut forms: Title = std::iter::once(text)
        .chain(without_id)
        .map(|bytes| {
            let text = clean_line("", bytes).to_lowercase();
            text.trim_end_matches('#')
                .trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ':' | '：'))
                .to_owned()
        })
        .collect();
    forms.dedup();
    forms
}

/// A heading, and the patterns that match it alone.
#[derive(Debug)]
struct SectionHeading {
    level: u8,
    /// Its column if it is part of a list item, otherwise 0.
    column: u32,
    /// The pattern of `exclude` that matches.
    excluded: Option<String>,
    included: bool,
}

/// The headings above the current line.
#[derive(Debug, Default)]
pub(super) struct HeadingsAbove {
    open: Vec<SectionHeading>,
}

impl HeadingsAbove {
    /// Begins a heading, which closes those of its level and deeper ones.
    pub(super) fn enter_heading(
        &mut self,
        level: u8,
        column: u32,
        title: &Title,
        sections: &Sections,
    ) {
        self.leave_items(column);
        self.open
            .retain(|above| above.level < level || above.column < column);
        let excluded = sections
            .exclude
            .iter()
            .find(|pattern| pattern.matches_title(title));
        let excluded = excluded.map(|pattern| pattern.given.clone());
        let included = sections
            .include
            .iter()
            .any(|pattern| pattern.matches_title(title));
        self.open.push(SectionHeading {
            level,
            column,
            excluded,
            included,
        });
    }

    /// Begins a list item in that column, which closes the headings inside closed items.
    pub(super) fn leave_items(&mut self, column: u32) {
        self.open.retain(|above| above.column <= column);
    }

    /// Returns why boxes here are not tasks; `None` if they are.
    pub(super) fn left_out(&self, sections: &Sections) -> Option<SectionExclusion> {
        let excluded = self
            .open
            .iter()
            .find_map(|above| above.excluded.clone())
            .map(SectionExclusion::Excluded);
        let included = sections.include.is_empty() || self.open.iter().any(|above| above.included);
        excluded.or((!included).then_some(SectionExclusion::NotIncluded))
    }
}
