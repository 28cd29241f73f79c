//! What a Java source holds, without recursion.

mod lexer;
mod members;
mod statements;

pub use lexer::{code_lines, unescaped};
pub use members::{enabled_tests, lost_members};
pub use statements::{Statements, is_weakened};

#[cfg(test)]
mod tests;
