//! Requirements that tasks name and the spec's own list does not have.
//!
//! Only numbers are compared, and only with a list that has numbers of that kind: in doubt nothing is said.

use super::{ends, is_reference, single};
use crate::task::file::TaskFile;
use crate::task::scan::heading;
use std::collections::HashSet;

impl TaskFile {
    /// The references to requirements that the text of requirements.md does not have, each with the line of the first
    /// task that names it.
    pub fn unknown_requirements(&self, text: &str) -> Vec<(u32, String)> {
        let known = Known::read(text);
        let mut seen = HashSet::new();
        let named = self.tasks.iter().zip(self.requirements());
        let named = named.flat_map(|(task, own)| own.into_iter().map(move |name| (task.found.line, name)));
        named
            .filter(|(_, name)| {
                ends(name).into_iter().any(|end| known.lacks(end)) && seen.insert(name.clone())
            })
            .collect()
    }
}

/// The numbers in a list of requirements, each with the letters before it.
#[derive(Default)]
struct Known(HashSet<(String, String)>);

impl Known {
    /// Numbers in headings, those of list items below such a heading (`1.2` is the second one below `Requirement 1`),
    /// and whatever else looks like a reference and not like any number.
    fn read(text: &str) -> Self {
        let mut known = Self::default();
        let mut section = None;
        for line in text.lines() {
            let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '–' | '~');
            let words = || line.split(|c| !is_inside(c)).map(|word| word.trim_matches(['.', '-']));
            let title = heading(line.as_bytes()).is_some();
            let number = words().find_map(single).filter(|_| title);
            if let Some((_, number)) = number {
                section = Some(number);
                known.add(("", number));
            }
            let item = line.trim_start().split_once(['.', ')']).map(|(number, _)| number);
            if let (Some(section), Some(item)) = (section, item.and_then(single)) {
                known.add(("", &format!("{section}.{}", item.1)));
            }
            let references = words().filter(|word| is_reference(word)).flat_map(ends);
            references
                .filter(|(letters, number)| !letters.is_empty() || number.contains('.'))
                .for_each(|end| known.add(end));
        }
        known
    }

    fn add(&mut self, (letters, number): (&str, &str)) {
        self.0.insert((letters.to_owned(), plain(number).to_owned()));
    }

    /// A number with letters may be in another file, if none with them is here.
    fn lacks(&self, (letters, number): (&str, &str)) -> bool {
        let is_kind = |own: &str| own == letters || letters.is_empty();
        let mut of_kind = self.0.iter().filter(|(own, _)| is_kind(own)).peekable();
        let has = |letters: &str| self.0.contains(&(letters.to_owned(), plain(number).to_owned()));
        of_kind.peek().is_some() && !has("") && of_kind.all(|(_, own)| own != plain(number))
    }
}

fn plain(number: &str) -> &str {
    number.trim_start_matches('0')
}
