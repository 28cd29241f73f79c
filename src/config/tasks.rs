//! `tasks:`: which sections of the task file hold tasks.
//!
//! Owns: the keys below it.
//!
//! Promises: a pattern that could never be used is an error with its line.
//!
//! Refuses to know: what headings the task file has.

use super::TaskSections;
use super::error::quoted;
use super::read::{Field, Reader};
use crate::task::Sections;

/// Reads `tasks:`.
pub(super) fn tasks(read: &mut Reader, field: &Field, sections: &mut TaskSections) {
    let fields = read.fields(field, &["sections"]);
    let Some(field) = fields.get("sections") else { return };
    let fields = read.fields(field, &["include", "exclude"]);
    let mut patterns =
        |key: &str| fields.get(key).and_then(|field| headings(read, field)).unwrap_or_default();
    *sections = TaskSections { include: patterns("include"), exclude: patterns("exclude") };
}

/// Texts of headings, which may hold `*`, `?`, `[ab]` and `{a,b}`.
fn headings(read: &mut Reader, field: &Field) -> Option<Vec<String>> {
    let patterns = read.texts(field)?;
    for pattern in &patterns {
        if let Err((pattern, why)) = Sections::new(std::slice::from_ref(pattern), &[]) {
            let what = format!("names {}, which is no pattern for headings: {why}", quoted(&pattern));
            read.wrong(field, &what, "Mend the pattern; `*`, `?`, `[ab]` and `{a,b}` may be used, `\\` before a character takes it as it is.");
            return None;
        }
    }
    Some(patterns)
}
