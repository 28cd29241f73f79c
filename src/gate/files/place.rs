//! Where a mutant is, as engines tell it, and its change in words.

use serde::Deserialize;

/// Characters that are shown of what was replaced.
const SHOWN: usize = 100;

/// From the start to behind the end.
#[derive(Deserialize)]
pub(crate) struct Place {
    pub(crate) start: Position,
    end: Position,
}

/// Both count from 1.
#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Place {
    /// What the mutant did to the file of these lines.
    pub(crate) fn change(&self, lines: &[impl AsRef<str>], new: &str) -> String {
        match self.replaced(lines) {
            old if new.is_empty() => format!("removed `{old}`"),
            old => format!("replaced `{old}` by `{}`", short(new)),
        }
    }

    /// What stands in its place in the source; of several lines the first, and `…`.
    fn replaced(&self, lines: &[impl AsRef<str>]) -> String {
        let Self { start, end } = self;
        let line =
            (start.line as usize).checked_sub(1).and_then(|index| lines.get(index)).map_or("", AsRef::as_ref);
        let from = line.chars().skip((start.column as usize).saturating_sub(1));
        if start.line == end.line {
            short(&from.take(end.column.saturating_sub(start.column) as usize).collect::<String>())
        } else {
            format!("{} …", short(&from.collect::<String>()))
        }
    }
}

fn short(code: &str) -> String {
    let one = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if one.chars().count() > SHOWN { one.chars().take(SHOWN).chain("…".chars()).collect() } else { one }
}
