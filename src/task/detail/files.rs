//! The files that the words of a task name.
//!
//! Owns: which words are names of files: those that end in a known extension.
//!
//! Promises: total over any bytes, linear in their number; nothing is looked for on a disk.
//!
//! Refuses to know: whether a file exists, and what a task does with it.

use super::keep;
use crate::task::scan::is_blank;

/// Longest name, bytes.
const MAX_NAME: usize = 120;

/// Extensions of sources, settings and documents.
const EXTENSIONS: &[&str] = &[
    "java",
    "kt",
    "kts",
    "groovy",
    "scala",
    "py",
    "js",
    "jsx",
    "ts",
    "tsx",
    "mjs",
    "cjs",
    "vue",
    "svelte",
    "rs",
    "go",
    "rb",
    "php",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "swift",
    "lua",
    "sql",
    "sh",
    "bash",
    "ps1",
    "css",
    "scss",
    "html",
    "md",
    "mdx",
    "adoc",
    "rst",
    "txt",
    "json",
    "jsonc",
    "yaml",
    "yml",
    "toml",
    "xml",
    "properties",
    "gradle",
    "ini",
    "env",
    "tf",
    "proto",
    "graphql",
    "prisma",
    "csv",
    "svg",
    "png",
    "lock",
];

/// Adds the files that stand in a text.
pub(super) fn read(text: &[u8], list: &mut Vec<String>) {
    let ends = |b: &u8| {
        is_blank(*b)
            || matches!(b, b'`' | b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b',' | b';' | b'<' | b'>' | b'|')
    };
    for word in text.split(ends).filter(|word| word.contains(&b'.') && word.len() <= MAX_NAME) {
        let Ok(word) = std::str::from_utf8(word) else { continue };
        let word =
            word.trim_matches(|c: char| matches!(c, '*' | '_' | ':' | '!' | '?')).trim_end_matches('.');
        // `a.md:12` and `a.md::test` name a place in the file.
        let name = word.split(':').next().unwrap_or(word);
        let is_link = word.contains("://");
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        let is_name = !stem.is_empty() && !stem.ends_with('/') && !stem.chars().any(char::is_control);
        if is_name && !is_link && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) {
            keep(list, name.to_owned());
        }
    }
}
