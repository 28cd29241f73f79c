//! The one test binary: what needs the real binary, real tools or real files; a module for each area.

#[cfg(test)]
mod git;
