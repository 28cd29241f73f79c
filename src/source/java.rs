//! Reads Java sources without recursion.

mod lexer;
mod members;
mod statements;
mod type_names;

pub use lexer::{code_lines, unescaped};
pub(super) use members::{conditional_tests, enabled_tests, lost_members};
pub use statements::{Statements, is_weakened};
pub(super) use type_names::adds_initialiser;
pub use type_names::top_types;

#[cfg(test)]
mod tests;
