//! Reads a person's own prompt templates: regular files only, bounded.

use crate::agent::PromptError;
use crate::config::Role;
use crate::engine::{Fault, Places};
use crate::source::text::line;
use crate::sys::disk::read_beginning;
use std::io::ErrorKind;

/// The longest template that is read, bytes.
const LONGEST: u64 = 1 << 20;

/// Returns the workspace's own template for a role; `None` if it has none.
///
/// # Errors
/// It is not a text file of at most 1 MiB.
pub fn own_template(places: &Places, role: Role) -> Result<Option<String>, PromptError> {
    let path = places.template_file(role.word());
    let (what, hint) = match read_beginning(&path, LONGEST + 1) {
        Ok(None) => return Ok(None),
        Ok(Some(bytes)) if bytes.len() as u64 > LONGEST => (
            "The template is longer than 1 MiB.".to_owned(),
            "Shorten it, or name the long texts as files to read.",
        ),
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(Some(text)),
            Err(_) => (
                "The template is not UTF-8 text.".to_owned(),
                "Save it as UTF-8.",
            ),
        },
        Err(error) if error.kind() == ErrorKind::InvalidInput => (
            "The template is not a regular file.".to_owned(),
            "Put a text file there, or remove it to use the template that comes with ralph.",
        ),
        Err(error) => {
            let why = line(&error.to_string(), 300);
            let why = why.trim_end_matches('.');
            let what = format!("The template cannot be read: {why}.");
            (what, "Check its permissions.")
        }
    };
    Err(PromptError::new((), what, hint).at(places.display_path(&path), None))
}

impl From<PromptError> for Fault {
    fn from(error: PromptError) -> Self {
        Self::setup_fault(error.to_string(), error.hint)
    }
}
