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
    let wrong = |what: &str, hint: &str| {
        Err(PromptError::new((), what, hint).at(places.display_path(&path), None))
    };
    match read_beginning(&path, LONGEST + 1) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) if bytes.len() as u64 > LONGEST => wrong(
            "The template is longer than 1 MiB.",
            "Shorten it, or name the long texts as files to read.",
        ),
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => wrong("The template is not UTF-8 text.", "Save it as UTF-8."),
        },
        Err(error) if error.kind() == ErrorKind::InvalidInput => wrong(
            "The template is not a regular file.",
            "Put a text file there, or remove it to use the template that comes with ralph.",
        ),
        Err(error) => {
            let why = line(&error.to_string(), 300);
            wrong(
                &format!(
                    "The template cannot be read: {}.",
                    why.trim_end_matches('.')
                ),
                "Check its permissions.",
            )
        }
    }
}

impl From<PromptError> for Fault {
    fn from(error: PromptError) -> Self {
        Self::setup_fault(error.to_string(), error.hint)
    }
}
