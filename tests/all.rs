//! The one test binary of the whole program: a module for each area.

#[cfg(test)]
mod example;
